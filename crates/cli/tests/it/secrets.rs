//! `k6/secrets` and `--secret-source`: values reach the script, and no log line shows them.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    time::Duration,
};

use onrush_testkit::{CertificateAuthority, GoodServer, Reply};

use crate::program::Program;

const SCRIPT: &str = "
    import secrets from 'k6/secrets';
    import http from 'k6/http';
    export const options = { iterations: 1 };
    export default async function () {
        const [a, b] = [await secrets.get('a'), await secrets.get('b')];
        console.log(`lengths ${a.length} ${b.length}`);
        console.warn('plain', a, b, { nested: [a] }, JSON.stringify({ v: b }));
        http.get(`http://127.0.0.1:1/?token=${encodeURIComponent(b)}`);
        try { await secrets.get('c'); } catch (e) { console.log(`caught ${e.message}`); }
        try { secrets.source('two'); } catch (e) { console.log(`caught ${e.message}`); }
        throw new Error('boom ' + b);
    }";

/// Fails if any of the values shows up anywhere.
fn expect_hidden(done: &crate::program::Done, values: &[&str]) {
    for value in values {
        assert!(!done.stderr.contains(value), "{value:?} in\n{}", done.stderr);
    }
    assert!(done.stderr.contains("***SECRET_REDACTED***"), "{}", done.stderr);
}

#[test]
fn values_reach_the_script_and_no_log() {
    let file = "a=secret1\nb=secret1 \"2\"\n";
    let done = Program::script(&["-q", "--no-summary", "--secret-source=file=s.txt"], SCRIPT).file("s.txt", file).run();
    let done = done.expect(0).expect_log("lengths 7 11").expect_log("caught no value");
    let done = done.expect_log("caught no secret source with name \\\"two\\\" is configured");
    expect_hidden(&done, &["secret1", "\"2\"", "\\\"2", "%222"]);
    let json = Program::script(&["-q", "--no-summary", "--log-format=json"], SCRIPT)
        .env("K6_SECRET_SOURCE", "mock=a=secret1,b=xyzzy")
        .run()
        .expect(0);
    expect_hidden(&json, &["secret1", "xyzzy"]);
    let flags = [
        "-q",
        "--no-summary",
        "--console-output=c.txt",
        "--log-output=file=l.txt",
        "--secret-source=mock=a=secret1,b=e",
    ];
    let files = Program::script(&flags, SCRIPT).run().expect(0);
    for name in ["c.txt", "l.txt"] {
        let text = files.text(name);
        assert!(!text.contains("secret1") && text.contains("***SECRET_REDACTED***"), "{text}");
    }
}

/// Bodies are shown in part: no part of a secret is left where they are cut.
#[test]
fn bodies_are_cut_without_secrets() {
    let server = GoodServer::start(|_| Reply::text("-".repeat((64 << 10) - 3) + "hunter2hunter3 and more"));
    let script =
        format!("import http from 'k6/http'; export default function () {{ http.get('{}'); }}", server.url("/"));
    let flags = ["-q", "--no-summary", "--http-debug=full", "--secret-source=mock=key=hunter2hunter3"];
    let done = Program::script(&flags, &script).run().expect(0).expect_log("--***… and 20 bytes more");
    assert!(!done.stderr.contains("hun"), "a part of the secret is shown");
}

#[test]
fn without_a_source_there_is_no_secret() {
    let script = "import secrets from 'k6/secrets'; export default async function () { await secrets.get('a'); }";
    let done = Program::script(&["-q"], script).run().expect(0);
    done.expect_log("no secret sources are configured").expect_log("--secret-source=file=secrets.txt");
}

#[test]
fn init_code_may_wait_for_a_secret() {
    let script = "
        import secrets from 'k6/secrets';
        const value = await secrets.get('a');
        export default function () { console.log(value.length); }";
    let done = Program::script(&["-q", "--secret-source=mock=a=hunter2"], script).run().expect(0);
    done.expect_log("msg=7 source=console");
}

#[test]
fn a_service_is_asked_once_and_again_after_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    let server = std::thread::spawn(move || {
        let mut heads = Vec::new();
        let answers = [
            "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: /moved\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 29\r\nConnection: close\r\n\r\n{\"data\":{\"value\":\"topsecre\"}}",
        ];
        for (answer, stream) in answers.into_iter().zip(listener.incoming().flatten()) {
            let mut stream = stream;
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).expect("a request") > 0 {}
            stream.write_all(answer.as_bytes()).expect("it reads");
            heads.push(head);
        }
        heads
    });
    let source = format!(
        "--secret-source=url=urlTemplate=http://{address}/v/{{key}},headers.X-Token=t0ken,responsePath=data.value,retryBackoff=1ms"
    );
    let script = "
        import secrets from 'k6/secrets';
        export const options = { vus: 3, iterations: 3 };
        export default async function () { const v = await secrets.get('team/a b'); console.log('got', v.length, v); }";
    let done = Program::script(&["-q", "--no-summary", &source], script).run().expect(0);
    let heads = server.join().expect("no panic");
    // k6: a key with slashes is a path, and redirects are followed.
    assert!(heads[1].starts_with("GET /v/team/a%20b HTTP/1.1\r\n"), "{heads:?}");
    assert!(heads[2].starts_with("GET /moved HTTP/1.1\r\n") && heads[2].contains("X-Token: t0ken\r\n"), "{heads:?}");
    assert_eq!(done.stderr.matches("got 8 ***SECRET_REDACTED***").count(), 3, "{}", done.stderr);
}

/// What a service says, over HTTPS, and what becomes of it. The texts are k6's, of 1.8.1.
#[test]
fn a_service_is_asked_over_https() {
    let script = "
        import secrets from 'k6/secrets';
        export default async function () {
            try { const v = await secrets.get(__ENV.KEY); console.log('got', v.length); } catch (e) { console.log('failed:', e.message); }
        }";
    let authority = CertificateAuthority::new();
    let server =
        GoodServer::start_tls(authority.identity(&["127.0.0.1"]).server(), |request| match request.target.as_str() {
            "/status/204" => Reply::status(204),
            "/status/404" => Reply::status(404),
            "/status/500" => Reply::status(500),
            "/slow" => Reply::text("late").after(Duration::from_secs(5)),
            "/text" => Reply::text("0123456789"),
            _ => Reply::text(format!(
                r#"{{"token": "{}", "object": {{}}}}"#,
                request.header("Authorization").unwrap_or("none")
            )),
        });
    let ask = |key: &str, more: &str, expect: &str| {
        let source = format!("--secret-source=url=urlTemplate={}{more}", server.url("/{key}"));
        let flags = ["-q", "--no-summary", "-e", &format!("KEY={key}"), &source];
        let program = Program::script(&flags, script).file("authority.pem", authority.pem());
        program.env("SSL_CERT_FILE", "authority.pem").run().expect(0).expect_log(expect);
    };
    ask("text", "", "got 10");
    ask("status/204", "", "failed: status code 204: failed to get secret");
    ask("status/404", "", "failed: status code 404: failed to get secret");
    ask("status/500", ",maxRetries=1,retryBackoff=1ms", "failed: status code 500: failed to get secret");
    ask("slow", ",timeout=100ms,maxRetries=0", "failed: request timeout: failed to get secret");
    ask("json", ",responsePath=token,headers.Authorization=Bearer abc", "got 10");
    ask("json", ",responsePath=nowhere", "path \\\"nowhere\\\" not found in response");
    ask("json", ",responsePath=object", "secret value at path \\\"object\\\" is not a string (got JSON)");
}

#[test]
fn sources_that_cannot_be_are_told() {
    let check = |source: &str, text: &str| {
        let done = Program::script(&["-q", "--secret-source", source], SCRIPT).run().expect(255).expect_log(text);
        assert!(!done.stderr.contains("hunter2"), "{}", done.stderr);
    };
    check("mokc=a=hunter2", "no secret source for type \\\"mokc\\\"");
    check("file=nowhere", "couldn't read the secrets in nowhere");
    check("url=urlTemplate=http://h/{key},tiemout=1s", "unknown configuration key: \\\"tiemout\\\"");
}
