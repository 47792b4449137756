//! The scripts in the pages about modules, each run as it stands there.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use onrush_testsite::TargetOptions;

use crate::program::Program;

/// The first script of a page.
fn script(page: &str) -> String {
    let path = format!("{}/../../docs/reference/modules/{page}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    let (_, rest) = text.split_once("```js\n").expect("a page has a script");
    rest.split_once("```").expect("a script ends").0.to_owned()
}

#[test]
fn grpc() {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() });
    let target = target.expect("the target starts");
    let folder = tempfile::tempdir().expect("a folder");
    let assets = format!("{}/../testsite/assets/grpc", env!("CARGO_MANIFEST_DIR"));
    let path = folder.path().join("script.js");
    std::fs::write(&path, script("grpc")).expect("it can be written");
    let address = format!("ADDRESS={}", target.addr);
    Program::new(&["run", "-i", "3", "-e", &address, &path.display().to_string()])
        .run()
        .expect(0)
        .expect_output("checks_succeeded...: 100.00%");
    // With files instead of reflection, the same from an archive, which holds them.
    for file in ["target.proto", "everything.proto", "legacy.proto"] {
        std::fs::copy(format!("{assets}/{file}"), folder.path().join(file)).expect(file);
    }
    let with_files = script("grpc")
        .replace("new grpc.Client();", "new grpc.Client();\nclient.load(null, 'target.proto');")
        .replace(", reflect: true", "");
    std::fs::write(&path, with_files).expect("it can be written");
    let archive = folder.path().join("script.tar").display().to_string();
    Program::new(&["archive", "-O", &archive, &path.display().to_string()]).run().expect(0);
    for file in ["target.proto", "everything.proto", "legacy.proto"] {
        std::fs::remove_file(folder.path().join(file)).expect(file);
    }
    Program::new(&["run", "-e", &address, &archive]).run().expect(0).expect_output("checks_succeeded...: 100.00%");
}

#[test]
fn faker() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script.js");
    std::fs::write(&path, script("faker")).expect("it can be written");
    Program::new(&["run", "-i", "3", &path.display().to_string()])
        .run()
        .expect(0)
        .expect_output("checks_succeeded...: 100.00%");
}

/// Runs a page's script against a target and whatever else it is told of.
fn runs_against_target(page: &str, env: &[&str]) {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() });
    let target = target.expect("the target starts");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script.js");
    std::fs::write(&path, script(page)).expect("it can be written");
    let (address, path) = (format!("ADDRESS={}", target.addr), path.display().to_string());
    let mut arguments = vec!["run", "-i", "3", "-e", &address];
    for variable in env {
        arguments.extend(["-e", variable]);
    }
    arguments.push(&path);
    Program::new(&arguments).run().expect(0).expect_output("checks_succeeded...: 100.00%");
}

#[test]
fn websockets() {
    runs_against_target("websockets", &[]);
    runs_against_target("ws", &[]);
}

#[test]
fn redis() {
    let Some(program) = program("redis-server") else { return };
    let port = free_port();
    let mut server = Command::new(program);
    server.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
    runs_beside(&mut server, port, || {
        // It has no checks: it says what it read.
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("script.js");
        std::fs::write(&path, script("redis").replace(":6379", &format!(":{port}"))).expect("it can be written");
        Program::new(&["run", "-e", "REDIS_HOST=127.0.0.1", &path.display().to_string()])
            .run()
            .expect(0)
            .expect_log("hello");
    });
}

#[test]
fn http_stream() {
    runs_against_target("http-stream", &[]);
}

#[test]
fn sse() {
    runs_against_target("sse", &[]);
}

#[test]
fn tcp() {
    runs_against_target("tcp", &[]);
}

#[test]
fn dns() {
    let server = onrush_testkit::DnsServer::start(|_| onrush_testkit::DnsAnswer::addresses(&["10.0.0.1"]));
    runs_against_target("dns", &[&format!("NAMESERVER={}", server.addr())]);
}

#[test]
fn mqtt() {
    let Some(program) = program("mosquitto") else { return };
    let (folder, port) = (tempfile::tempdir().expect("a folder"), free_port());
    let config = folder.path().join("mosquitto.conf");
    std::fs::write(&config, format!("listener {port} 127.0.0.1\nallow_anonymous true\n")).expect("a file");
    let mut broker = Command::new(program);
    broker.arg("-c").arg(&config);
    runs_beside(&mut broker, port, || runs_against_target("mqtt", &[&format!("BROKER=mqtt://127.0.0.1:{port}")]));
}

/// A server's program; where there is none nothing is tested, and the test says so.
#[expect(clippy::print_stderr, reason = "a test that tests nothing must not pass in silence")]
fn program(name: &str) -> Option<PathBuf> {
    let found = ["/usr/bin", "/usr/sbin", "/usr/local/bin"].iter().map(|folder| Path::new(folder).join(name));
    let found = found.into_iter().find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: {name} is not installed; `make test` installs it");
    }
    found
}

fn free_port() -> u16 {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    free.local_addr().expect("it is bound").port()
}

/// Does this while the server runs.
fn runs_beside(server: &mut Command, port: u16, run: impl FnOnce() + std::panic::UnwindSafe) {
    let mut server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let ran = std::panic::catch_unwind(run);
    let _ = server.kill();
    let _ = server.wait();
    ran.expect("the page's script runs");
}

#[test]
fn sql() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script.js");
    let database = folder.path().join("orders.db").display().to_string();
    std::fs::write(&path, script("sql").replace("orders.db", &database)).expect("it can be written");
    Program::new(&["run", "-i", "3", &path.display().to_string()])
        .run()
        .expect(0)
        .expect_output("checks_succeeded...: 100.00%");
}
