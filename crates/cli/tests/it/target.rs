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
    let tls = |flags: &[&str], text: &str| {
        let all = [&["target", "--listen", "127.0.0.1:0", "--tls-listen", "127.0.0.1:0"], flags].concat();
        Program::new(&all).run().expect(255).expect_log(text);
    };
    tls(&["--tls-version", "1.1"], "unknown TLS version \\\"1.1\\\"");
    tls(&["--tls-cipher-suite", "RC4"], "unknown cipher suite \\\"RC4\\\"");
    tls(&["--tls-client-optional"], "needs --tls-client-ca");
    tls(&["--tls-client-ca", "nowhere.pem"], "failed to read the authority 'nowhere.pem'");
    tls(&["--tls-staple", "perhaps"], "for --tls-staple: it is good, revoked or unknown");
    tls(&["--fault-accept", "explode"], "for --fault-accept: it is reset, close or stall");
    tls(&["--fault-handshake", "close@x"], "for --fault-handshake: what follows the @");
    for flags in [&["--freeze", "2s"][..], &["--freeze-every", "2s"]] {
        let all = [&["target", "--listen", "127.0.0.1:0"], flags].concat();
        Program::new(&all).run().expect(255).expect_log("--freeze and --freeze-every need each other");
    }
    Program::new(&["target", "--freeze", "2s", "--freeze-every", "2s"])
        .run()
        .expect(255)
        .expect_log("--freeze must be more than nothing and less than --freeze-every");
    Program::new(&["target", "--record", "/nowhere/record"])
        .run()
        .expect(255)
        .expect_log("failed to create the record '/nowhere/record'");
    Program::new(&["target", "x"]).run().expect(255).expect_log("accepts 0 arg(s), received 1");
}
