//! A cluster of one broker, Apache Kafka itself, which ends with the tests. Its packages come from Maven Central, once.

use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use crate::CertificateAuthority;

const VERSION: &str = "4.1.0";

/// The broker, where its listeners are, and who signed its certificate.
pub struct ApacheKafka {
    /// Its input is closed when this process ends, however it does.
    _process: Child,
    /// Where it takes whoever comes.
    pub plain: String,
    /// Where it wants to know who it is: alice by PLAIN (`secret`), bob by SCRAM (`s3cret`).
    pub sasl: String,
    /// Where it speaks TLS.
    pub tls: String,
    /// Who signed its certificate.
    pub ca_pem: String,
}

impl ApacheKafka {
    /// The one of all tests; nothing where it cannot be had, which is said.
    ///
    /// `folder` is where its packages are kept between runs of the tests.
    ///
    /// # Panics
    /// When it is there and does not start.
    pub fn shared(folder: &Path) -> Option<&'static Self> {
        static SERVER: OnceLock<Option<ApacheKafka>> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(folder)).as_ref()
    }

    fn start(folder: &Path) -> Option<Self> {
        let packages = match packages(folder) {
            Ok(packages) => packages,
            Err(why) => {
                let _ = writeln!(std::io::stderr(), "skipped: Apache Kafka cannot be had: {why}");
                return None;
            }
        };
        let folder = tempfile::tempdir().expect("a temporary directory").keep();
        let authority = CertificateAuthority::new();
        let identity = authority.identity(&["127.0.0.1"]);
        let store = folder.join("store.pem");
        std::fs::write(&store, format!("{}{}", identity.key_pem, identity.cert_pem)).expect("a file");
        let [plain, sasl, tls, controller] = free_ports();
        let config = folder.join("server.properties");
        let text = format!(
            "process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl},TLS://127.0.0.1:{tls},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice=\"secret\";
listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.tls.ssl.keystore.type=PEM
listener.name.tls.ssl.keystore.location={store}
log.dirs={logs}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
",
            store = store.display(),
            logs = folder.join("logs").display(),
        );
        std::fs::write(&config, text).expect("a file");
        let format = java(&packages, "kafka.tools.StorageTool")
            .args(["format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c"])
            .arg(&config)
            .args(["--add-scram", "SCRAM-SHA-256=[name=bob,password=s3cret]"])
            .args(["--add-scram", "SCRAM-SHA-512=[name=bob,password=s3cret]"])
            .output()
            .expect("Java is there");
        assert!(format.status.success(), "{format:?}");
        // The shell's input ends with the tests, however they end, and the broker and its folder with it.
        let inner = java(&packages, "kafka.Kafka");
        let script =
            "folder=$1; shift; \"$@\" < /dev/null & broker=$!; cat > /dev/null; kill -9 $broker; rm -r \"$folder\"";
        let process = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(&folder)
            .arg(inner.get_program())
            .args(inner.get_args())
            .arg(&config)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell is there");
        let at = |port: u16| format!("127.0.0.1:{port}");
        let ca_pem = authority.pem().to_owned();
        let server = Self { _process: process, plain: at(plain), sasl: at(sasl), tls: at(tls), ca_pem };
        let until = Instant::now() + Duration::from_secs(90);
        while [&server.plain, &server.sasl, &server.tls].into_iter().any(|address| TcpStream::connect(address).is_err())
        {
            assert!(Instant::now() < until, "the broker does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(server)
    }
}

fn java(packages: &Path, class: &str) -> Command {
    let mut java = Command::new("java");
    java.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp"]).arg(packages.join("*")).arg(class);
    java
}

fn free_ports<const N: usize>() -> [u16; N] {
    let listeners: Vec<_> = (0..N).map(|_| TcpListener::bind(("127.0.0.1", 0)).expect("a free port")).collect();
    std::array::from_fn(|index| listeners[index].local_addr().expect("it is bound").port())
}

/// The folder with Kafka's packages.
fn packages(kept: &Path) -> Result<PathBuf, String> {
    let folder = kept.join(format!("kafka-{VERSION}"));
    if folder.join("complete").exists() {
        return Ok(folder);
    }
    let version = Command::new("java").arg("-version").output().map_err(|error| format!("java: {error}"))?;
    if !version.status.success() {
        return Err("java does not run".to_owned());
    }
    let project = tempfile::tempdir().map_err(|error| error.to_string())?;
    let pom = project.path().join("pom.xml");
    let text = format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>
<groupId>tests</groupId><artifactId>kafka</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>"
    );
    std::fs::write(&pom, text).map_err(|error| error.to_string())?;
    let fetched = Command::new("mvn")
        .args(["-q", "-B", "-f"])
        .arg(&pom)
        .arg("dependency:copy-dependencies")
        .arg(format!("-DoutputDirectory={}", folder.display()))
        .output()
        .map_err(|error| format!("mvn: {error}"))?;
    if !fetched.status.success() {
        return Err(String::from_utf8_lossy(&fetched.stdout).lines().take(3).collect::<Vec<_>>().join(" "));
    }
    std::fs::write(folder.join("complete"), "").map_err(|error| error.to_string())?;
    Ok(folder)
}
