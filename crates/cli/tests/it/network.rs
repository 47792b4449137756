//! Options that concern connections reach them.

use onrush_testkit::{Behaviour, CertificateAuthority, GoodServer, HostileServer, Reply};
use onrush_testsite::{TargetOptions, start};

use crate::program::Program;

#[test]
fn hosts_lead_anywhere() {
    let target =
        start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() }).expect("it starts");
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ hosts: {{ 'quickpizza.example': '{}' }} }};
        export default function () {{ console.log(http.get('http://quickpizza.example/status/418').status); }}",
        target.addr
    );
    Program::script(&[], &script).run().expect(0).expect_log("msg=418");
}

#[test]
fn blocked_names_and_addresses() {
    let script = "import http from 'k6/http'; export default function () { const r = http.get('http://127.0.0.1:1/'); console.log('code', r.error_code); }";
    Program::script(&[], script).run().expect(0).expect_log("code 1212").expect_log("msg=\"Request Failed\"");
    Program::script(&["--blacklist-ip=127.0.0.0/8"], script).run().expect(0).expect_log("code 1110");
    Program::script(&["--block-hostnames=127.*"], script)
        .run()
        .expect(255)
        .expect_log("invalid hostname pattern '127.*'");
    Program::script(&["--block-hostnames=*.0.0.1"], script).run().expect(0).expect_log("code 1111");
    let throws = Program::script(&["--throw"], script).run().expect(0);
    assert!(throws.stderr.contains("source=stacktrace"), "{}", throws.stderr);
}

#[test]
fn certificates_are_verified_unless_told_otherwise() {
    let authority = CertificateAuthority::new();
    let server = GoodServer::start_tls(authority.identity(&["127.0.0.1"]).server(), |_| Reply::text("secret"));
    let script = format!(
        "import http from 'k6/http'; export default function () {{ const r = http.get('{}'); console.log('got', r.body, r.error_code); }}",
        server.url("/")
    );
    Program::script(&[], &script).run().expect(0).expect_log("got null 1310");
    Program::script(&["--insecure-skip-tls-verify"], &script).run().expect(0).expect_log("got secret 0");
}

#[test]
fn request_options_reach_requests() {
    let server = GoodServer::start(|request| {
        Reply::text(format!(
            "{}|{}",
            request.header("user-agent").unwrap_or("none"),
            request.header("connection").unwrap_or("kept")
        ))
    });
    let script = format!(
        "import http from 'k6/http'; export default function () {{ console.log(http.get('{}').body); }}",
        server.url("/")
    );
    Program::script(&[], &script).run().expect(0).expect_log("Onrush/");
    Program::script(&["--user-agent=Me/1"], &script).run().expect(0).expect_log("Me/1|kept");
    Program::script(&[], &script).env("K6_NO_CONNECTION_REUSE", "true").run().expect(0).expect_log("|close");
    Program::script(&["--discard-response-bodies"], &script).run().expect(0).expect_log("msg=null");
}

#[test]
fn a_hostile_server_does_not_stop_the_run() {
    let server = HostileServer::start(Behaviour::ResetAtOnce);
    let script = format!(
        "import http from 'k6/http'; export const options = {{ vus: 3, iterations: 9 }};
        export default function () {{ http.get('{}', {{ timeout: '500ms' }}); }}",
        server.url("/")
    );
    Program::script(&[], &script)
        .run()
        .expect(0)
        .expect_output("9 complete and 0 interrupted iterations")
        .expect_output("http_req_failed......: 100.00% 9 out of 9");
}

#[test]
fn response_bodies_have_a_limit() {
    let target =
        start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() }).expect("it starts");
    let script = format!(
        "import http from 'k6/http';
        const code = (path, params) => http.get(`http://{}${{path}}`, params).error_code;
        export default function () {{
          const none = {{ responseType: 'none' }};
          console.log('plain', code('/bytes/5000'), code('/stream-bytes/5000'), code('/bytes/5000', none));
          for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'gzip,br']) {{
            console.log(coding, code(`/encoded/${{coding}}/5000?zeros=1`), code(`/encoded/${{coding}}/5000?zeros=1`, none));
          }}
          console.log('small', code('/bytes/4096'), code('/encoded/gzip/4096?zeros=1'));
        }}",
        target.addr
    );
    let done = Program::script(&["--response-body-limit=4KiB"], &script).run().expect(0);
    for line in ["plain 1000 1000 0", "gzip 1701 0", "deflate 1701 0", "br 1701 0", "zstd 1701 0", "gzip,br 1701 0"] {
        assert!(done.stderr.contains(line), "{line}: {}", done.stderr);
    }
    done.expect_log("small 0 0");
    Program::script(&["--response-body-limit=x"], &script).run().expect(255).expect_log("invalid response body limit");
}

#[test]
fn http_debug_shows_the_wire_without_secrets() {
    let server = GoodServer::start(|_| Reply::text("the answer"));
    let script = format!(
        "import http from 'k6/http';
        export default function () {{
          http.post('{}', 'the body', {{ headers: {{ Authorization: 'Bearer hidden1' }}, cookies: {{ a: 'hidden2' }}, responseType: 'none' }});
        }}",
        server.url("/x")
    );
    let full = Program::script(&["--http-debug=full"], &script).run().expect(0);
    for text in [
        "POST /x HTTP/1.1\\n",
        "Authorization: ***REDACTED***\\n",
        "\\n\\nthe body\\n",
        "Response:\\nHTTP/1.1 200",
        "\\n\\nthe answer\\n",
        "source=http-debug",
    ] {
        assert!(full.stderr.contains(text), "{text}: {}", full.stderr);
    }
    assert!(!full.stderr.contains("hidden"), "{}", full.stderr);
    let heads = Program::script(&["--http-debug"], &script).run().expect(0);
    assert!(heads.stderr.contains("Response:\\n") && !heads.stderr.contains("the answer"), "{}", heads.stderr);
    let off = Program::script(&[], &script).run().expect(0);
    assert!(!off.stderr.contains("http-debug"), "{}", off.stderr);
}

/// k6: what `--http-debug` shows has the tags and metadata of the request's samples.
#[test]
fn http_debug_has_the_tags_of_the_request() {
    let server = GoodServer::start(|_| Reply::text("the answer"));
    let script = format!(
        "import http from 'k6/http';
        import exec from 'k6/execution';
        export const options = {{ scenarios: {{ a: {{ executor: 'shared-iterations', tags: {{ of_scenario: 's' }} }} }} }};
        export default function () {{
          exec.vu.metrics.tags.of_vu = 'v';
          exec.vu.metrics.metadata.meta = 'm';
          http.get('{}', {{ tags: {{ name: 'n 1', empty: '' }} }});
        }}",
        server.url("/x")
    );
    let run = |format: &str| {
        Program::script(&["--http-debug", "--tag", "of_run=r", "--log-format", format], &script).run().expect(0)
    };
    for line in run("text").stderr.lines().filter(|line| line.contains("source=http-debug")) {
        for fields in [
            " empty= group= iter=0 meta=m name=\"n 1\" of_run=r of_scenario=s of_vu=v request_id=",
            " scenario=a source=http-debug vu=1",
        ] {
            assert!(line.contains(fields), "{line}");
        }
    }
    for line in run("json").stderr.lines().filter(|line| line.contains("\"http-debug\"")) {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&line["vu"], &line["iter"], &line["of_vu"]), (&1.into(), &0.into(), &"v".into()), "{line}");
    }
}

#[test]
fn proxies_of_the_environment() {
    let server = GoodServer::start(|request| Reply::text(request.target.clone()));
    let proxy = onrush_testkit::GoodProxy::start(server.addr());
    let script = "import http from 'k6/http';
        export default function () {
            const r = http.get('http://made.up.invalid/x');
            console.log('got', r.body, r.remote_port, r.error_code, r.error);
        }";
    let at = proxy.addr();
    let run = Program::script(&[], script).env("HTTP_PROXY", &at.to_string()).run().expect(0);
    run.expect_log(&format!("got http://made.up.invalid/x {} 0", at.port()));
    let run = Program::script(&[], script).env("HTTP_PROXY", "127.0.0.1:1").run().expect(0);
    run.expect_log("got null 0 1200 proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused");
    let run = Program::script(&[], script).env("HTTPS_PROXY", "socks4://127.0.0.1:1").run().expect(104);
    run.expect_log("HTTPS_PROXY: invalid proxy address");
}

#[test]
fn vus_connect_from_their_addresses() {
    let server = GoodServer::start(|_| Reply::text("hi"));
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ s: {{ executor: 'per-vu-iterations', vus: 3, iterations: 1 }} }} }};
        export default function () {{ console.log('vu', __VU, http.get('{}').error_code); }}",
        server.url("/")
    );
    // The second is no address of this machine.
    let run = Program::script(&["--local-ips=127.0.0.2,192.0.2.1"], &script).run().expect(0);
    let run =
        run.expect_log("vu 1 0").expect_log("vu 2 1213").expect_log("vu 3 0").expect_log("of localIPs is no address");
    run.expect_log("192.0.2.1 (localIPs) is no address of this machine");
    Program::script(&["--local-ips=nonsense"], &script)
        .run()
        .expect_log("nonsense is not a valid IP, IP range or CIDR");
}

#[test]
fn hosts_lead_to_unix_sockets() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("bound");
    let thread = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.read(&mut [0; 4096]);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").expect("it is read");
    });
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ hosts: {{ 'app.local': 'unix:{}' }} }};
        export default function () {{
            const r = http.get('http://app.local/');
            console.log('got', r.body, '<' + r.remote_ip + '>', r.remote_port);
        }}",
        path.display()
    );
    Program::script(&[], &script).run().expect(0).expect_log("got hi <> 0");
    thread.join().expect("no panic");
    let script = "export const options = { hosts: { a: 'unix:b' } }; export default function () {}";
    Program::script(&[], script).run().expect(104).expect_log("the path of a Unix domain socket must be absolute");
}
