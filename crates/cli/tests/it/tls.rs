//! TLS as scripts meet it: keys for Wireshark, resumed sessions, authentication that is bound to a connection.

use onrush_testkit::{CertificateAuthority, GoodServer, Reply};
use onrush_testsite::{TargetHandle, TargetOptions, TlsSettings, start};

use crate::program::Program;

/// The built-in target with HTTPS.
fn target(tls: TlsSettings) -> (TargetHandle, String) {
    let any = ([127, 0, 0, 1], 0).into();
    let target = start(TargetOptions { listen: any, tls_listen: Some(any), tls, ..TargetOptions::default() })
        .expect("it starts");
    let url = format!("https://{}", target.tls_addr.expect("it listens"));
    (target, url)
}

#[test]
fn keys_are_logged_for_both_versions() {
    let authority = CertificateAuthority::new();
    let server = GoodServer::start_tls(authority.identity(&["127.0.0.1"]).server(), |_| Reply::text("hi"));
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ insecureSkipTLSVerify: true, iterations: 2, noConnectionReuse: true }};
        export default function () {{ http.get('{}'); }}",
        server.url("/")
    );
    let check = |version: &str, labels: &[(&str, usize)]| {
        let options = format!(r#"{{"tlsVersion": "{version}"}}"#);
        let done = Program::script(&["-c", "options.json"], &script)
            .file("options.json", &options)
            .file("keys.log", "# what was there\n")
            .env("SSLKEYLOGFILE", "keys.log")
            .run()
            .expect(0)
            .expect_log(
                "level=warning msg=\"SSLKEYLOGFILE was specified, logging TLS connection keys to 'keys.log'...",
            );
        let text = done.text("keys.log");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("# what was there"));
        let mut randoms = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for line in lines {
            let [label, random, secret] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            assert!(random.len() == 64 && is_hex(random) && is_hex(secret), "{line}");
            let (_, length) = labels.iter().find(|(known, _)| *known == label).expect(line);
            assert!(*length == 0 || secret.len() == *length, "{line}");
            seen.push(label);
            randoms.push(random);
        }
        randoms.dedup();
        assert_eq!((seen.len(), randoms.len()), (2 * labels.len(), 2), "{text}");
    };
    check("tls1.2", &[("CLIENT_RANDOM", 96)]);
    // A secret of TLS 1.3 is as long as the suite's hash.
    let labels = ["CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0"];
    let labels = [labels[0], labels[1], labels[2], "SERVER_TRAFFIC_SECRET_0", "EXPORTER_SECRET"];
    check("tls1.3", &labels.map(|label| (label, 0)));
}

#[cfg(unix)]
#[test]
fn a_new_key_log_is_its_owners() {
    use std::os::unix::fs::PermissionsExt as _;

    // k6: it is there even if no TLS is spoken.
    let done = Program::script(&[], "export default function () {}").env("SSLKEYLOGFILE", "new.log").run().expect(0);
    let file = std::fs::metadata(done.path("new.log")).expect("it was made");
    assert_eq!((file.len(), file.permissions().mode() & 0o777), (0, 0o600));
}

#[test]
fn a_key_log_that_cannot_be_written_ends_the_run() {
    let done = Program::script(&[], "export default function () { console.log('ran'); }")
        .env("SSLKEYLOGFILE", "nowhere/keys.log")
        .run()
        .expect(255)
        .expect_log("couldn't open the keylog file 'nowhere/keys.log': No such file or directory");
    assert!(!done.stderr.contains("msg=ran"), "{}", done.stderr);
    // A disk that is full is told once, and the run goes on.
    if std::path::Path::new("/dev/full").exists() {
        let (_target, url) = target(TlsSettings::default());
        let script = format!(
            "import http from 'k6/http';
            export const options = {{ insecureSkipTLSVerify: true }};
            export default function () {{ console.log('got', http.get('{url}/get').status); }}"
        );
        let done =
            Program::script(&[], &script).env("SSLKEYLOGFILE", "/dev/full").run().expect(0).expect_log("got 200");
        assert_eq!(done.stderr.matches("couldn't write to the keylog file '/dev/full'").count(), 1, "{}", done.stderr);
    }
}

#[test]
fn without_the_variable_no_keys_are_logged() {
    let (_target, url) = target(TlsSettings::default());
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ insecureSkipTLSVerify: true }};
        export default function () {{ console.log('got', http.get('{url}/get').status); }}"
    );
    for program in [Program::script(&[], &script), Program::script(&[], &script).env("SSLKEYLOGFILE", "")] {
        let done = program.run().expect(0).expect_log("got 200");
        assert!(!done.stderr.contains("SSLKEYLOGFILE"), "{}", done.stderr);
        let files = std::fs::read_dir(done.path(".")).expect("a folder");
        let names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
        assert_eq!(names, ["script.js"]);
    }
}

#[test]
fn sessions_are_resumed_where_that_is_asked_for() {
    for version in ["1.2", "1.3"] {
        let (_target, url) = target(TlsSettings { versions: vec![version.into()], ..TlsSettings::default() });
        let script = format!(
            "import http from 'k6/http';
            export const options = {{
                insecureSkipTLSVerify: true, noConnectionReuse: true,
                scenarios: {{ default: {{ executor: 'per-vu-iterations', vus: 2, iterations: 2 }} }},
            }};
            export default function () {{
                const resumed = [1, 2].map(() => http.get('{url}/tls').json('resumed'));
                console.log(`iteration ${{__ITER}} of VU ${{__VU}}: ${{resumed}}`);
            }}"
        );
        let check = |program: Program, first: &str, second: &str| {
            let mut done = program.run().expect(0);
            for vu in [1, 2] {
                done = done.expect_log(&format!("iteration 0 of VU {vu}: {first}"));
                done = done.expect_log(&format!("iteration 1 of VU {vu}: {second}"));
            }
        };
        check(Program::script(&[], &script), "false,false", "false,false");
        // Each VU begins with a session of its own.
        check(Program::script(&["--tls-session-resumption"], &script), "false,true", "true,true");
        let by_variable = Program::script(&[], &script).env("ONRUSH_TLS_SESSION_RESUMPTION", "true");
        check(by_variable, "false,true", "true,true");
        let in_script = script.replace("noConnectionReuse", "tlsSessionResumption: true, noConnectionReuse");
        check(Program::script(&[], &in_script), "false,true", "true,true");
    }
}

#[test]
fn ntlm_is_spoken_over_http1() {
    let (_target, url) = target(TlsSettings::default());
    let with_credentials = url.replace("https://", "https://user:secret@");
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ insecureSkipTLSVerify: true }};
        const say = (what, r) => console.log(`${{what}}: ${{r.status}} ${{r.proto}} ${{r.error}}`);
        export default function () {{
            say('before', http.get('{url}/get'));
            say('ntlm', http.get('{with_credentials}/ntlm/user/secret', {{ auth: 'ntlm' }}));
            say('again', http.get('{with_credentials}/ntlm/user/secret', {{ auth: 'ntlm' }}));
            say('after', http.get('{url}/get'));
            say('digest', http.get('{with_credentials}/digest-auth/auth/user/secret', {{ auth: 'digest' }}));
        }}"
    );
    let lines = [
        "before: 200 HTTP/2.0",
        "ntlm: 200 HTTP/1.1",
        "again: 200 HTTP/1.1",
        "after: 200 HTTP/2.0",
        "digest: 200 HTTP/2.0",
    ];
    let done = Program::script(&[], &script).run().expect(0);
    lines.into_iter().fold(done, |done, line| done.expect_log(line));
    // Neither where connections are not kept, so that the three requests of NTLM cannot share one.
    Program::script(&["--no-connection-reuse"], &script).run().expect(0).expect_log("ntlm: 401 HTTP/1.1");
}
