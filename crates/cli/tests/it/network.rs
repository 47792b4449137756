//! Options that concern connections reach them.

use onrush_target::{TargetOptions, start};
use onrush_testkit::{Behaviour, CertificateAuthority, GoodServer, HostileServer, Reply};

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
