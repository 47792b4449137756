//! Requests to nginx, a server that is not ours: HTTP/1.1, HTTP/2, TLS of both versions, client certificates.

use std::{
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use onrush_testkit::CertificateAuthority;
use tempfile::TempDir;

use crate::program::Program;

/// A running nginx; dropping it ends it.
struct Nginx {
    child: Child,
    _folder: TempDir,
    authority: CertificateAuthority,
    addresses: [String; 4],
}

/// What the addresses are called in the configuration, and by scripts.
const NAMES: [&str; 4] = ["PLAIN", "TLS", "HTTP2", "CLIENTS"];

impl Nginx {
    fn start() -> Self {
        let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
            .into_iter()
            .find(|path| Path::new(path).exists());
        let program = program.expect("nginx is missing; `make test` installs it: apt-get install nginx");
        let folder = tempfile::tempdir().expect("a temporary directory");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
        let authority = CertificateAuthority::new();
        let identity = authority.identity(&["localhost", "127.0.0.1"]);
        // Held until all are known, so that no two are the same.
        let sockets = NAMES.map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let addresses = sockets.each_ref().map(|socket| socket.local_addr().expect("bound").to_string());
        let mut configuration = include_str!("nginx/nginx.conf").replace("@FOLDER@", &folder.path().to_string_lossy());
        for (name, address) in NAMES.iter().zip(&addresses) {
            configuration = configuration.replace(&format!("@{name}@"), address);
        }
        write("nginx.conf", &configuration);
        write("cert.pem", &identity.cert_pem);
        write("key.pem", &identity.key_pem);
        write("ca.pem", authority.pem());
        write("users", "ann:{PLAIN}secret\n");
        std::fs::create_dir(folder.path().join("html")).expect("a directory");
        write("html/small.txt", "small\n");
        write("html/big.txt", &format!("{}end\n", "0123456789".repeat(20_000).split_at(199_996).0));
        write("html/trickled.txt", &"drop by drop\n".repeat(6_000)[..75_000]);
        drop(sockets);
        let child = Command::new(program)
            .arg("-p")
            .arg(folder.path())
            .args(["-c", "nginx.conf", "-e", "stderr"])
            .stdin(Stdio::null())
            .spawn()
            .expect("nginx starts");
        let mut nginx = Self { child, _folder: folder, authority, addresses };
        while TcpStream::connect(&nginx.addresses[0]).is_err() {
            if let Some(status) = nginx.child.try_wait().expect("a child") {
                panic!("nginx ended: {status}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        nginx
    }

    fn flags(&self) -> Vec<String> {
        let pairs = NAMES.iter().zip(&self.addresses);
        pairs.flat_map(|(name, address)| ["--env".to_owned(), format!("{name}={address}")]).collect()
    }

    fn run(&self, flags: &[&str], script: &str) -> Program {
        let own = self.flags();
        let flags: Vec<&str> = own.iter().map(String::as_str).chain(flags.iter().copied()).collect();
        Program::script(&flags, script)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn requests() {
    let nginx = Nginx::start();
    let script = include_str!("nginx/requests.js");
    let done = nginx.run(&["--vus", "2", "--iterations", "2"], script).run();
    let failed: Vec<&str> = done.stdout.lines().filter(|line| line.contains('✗')).collect();
    assert!(done.code == 0, "{}\n{}", failed.join("\n"), done.stderr);
}

#[test]
fn client_certificates() {
    let nginx = Nginx::start();
    let script = "import http from 'k6/http';
        const { CLIENTS } = __ENV;
        export const options = {
            insecureSkipTLSVerify: true,
            tlsAuth: __ENV.WITHOUT ? [] : [{ cert: open('./client.pem'), key: open('./client.key') }],
        };
        export default function () {
            const res = http.get(`https://${CLIENTS}/`);
            console.log(`${res.status}: ${res.body} ${res.tls_version} ${res.tls_cipher_suite}`);
        }";
    let identity = nginx.authority.identity(&["client"]);
    nginx
        .run(&[], script)
        .file("client.pem", &identity.cert_pem)
        .file("client.key", &identity.key_pem)
        .run()
        .expect(0)
        .expect_log("200: SUCCESS ECDHE-ECDSA-AES128-GCM-SHA256 tls1.2 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
    nginx
        .run(&["-e", "WITHOUT=1"], script)
        .file("client.pem", "")
        .file("client.key", "")
        .run()
        .expect(0)
        .expect_log("400: ");
    // Of somebody else's authority.
    let foreign = CertificateAuthority::new().identity(&["client"]);
    nginx
        .run(&[], script)
        .file("client.pem", &foreign.cert_pem)
        .file("client.key", &foreign.key_pem)
        .run()
        .expect(0)
        .expect_log("400: ");
}
