//! `onrush target`, and a run against it.

use rustix::process::Signal;

use crate::program::Program;

#[test]
fn it_serves_until_it_is_told_to_stop() {
    let mut target = Program::new(&[
        "target",
        "--listen",
        "127.0.0.1:0",
        "--tls-listen",
        "127.0.0.1:0",
        "--certificate-out",
        "cert.pem",
    ])
    .start();
    let line = target.wait_for("target: http://");
    let url = line.trim().trim_start_matches("target: ").to_owned();
    target.wait_for("certificate in cert.pem");
    let script = "import http from 'k6/http'; export default function () { console.log(http.get(__ENV.URL + '/status/204').status); }";
    Program::script(&["-e", &format!("URL={url}")], script).run().expect(0).expect_log("msg=204");
    target.signal(Signal::INT);
    let done = target.wait().expect(0);
    assert!(done.text("cert.pem").starts_with("-----BEGIN CERTIFICATE-----"));
}

#[test]
fn it_stays_on_loopback_unless_told_otherwise() {
    Program::new(&["target", "--listen", "0.0.0.0:0"])
        .run()
        .expect(255)
        .expect_log("hint=\"allow it with --allow-non-loopback\"");
    Program::new(&["target", "--listen", "nowhere"])
        .run()
        .expect(255)
        .expect_log("invalid address \\\"nowhere\\\" for --listen");
    Program::new(&["target", "--delay", "5"])
        .run()
        .expect(255)
        .expect_log("invalid argument \\\"5\\\" for \\\"--delay\\\" flag");
    Program::new(&["target", "--certificate-out", "x"]).run().expect(255).expect_log("needs --tls-listen");
    Program::new(&["target", "x"]).run().expect(255).expect_log("accepts 0 arg(s), received 1");
}
