//! Servers that must not be trusted, one case a row: what loading a script says, and what k6 1.8.1 says.
//!
//! k6's column was read from its output. `K6=/path/to/k6 cargo test -p onrush-imports --test hostile` runs it again.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use onrush_imports::{ImportOptions, Imports};
use onrush_script::{CompatibilityMode, Entry, LoadOptions, load};
use onrush_testkit::{Behaviour, CertificateAuthority, GoodServer, HostileServer, Incoming, Reply};

/// The largest module of these tests.
const BYTES_MAX: u64 = 1 << 20;
/// Cases that wait for this limit, and no others, take so long.
const TIMEOUT: Duration = Duration::from_millis(700);

/// The script imports `{S}/PATH`, or a whole URL: `{S}` is the server, `{H}` the same without encryption, `{O}` one whose
/// certificate is for another name, `{E}` one whose certificate expired, `{U}` one of an authority
/// nobody trusts, `{P}` one that answers with text, `{R}` one that resets connections.
struct Case {
    import: &'static str,
    /// Part of what we say, or "" if the module runs.
    ours: &'static str,
    /// Part of what k6 says, "" if the module runs, "-" if k6 is not asked because it waits for minutes or takes all
    /// memory.
    k6: &'static str,
}

const fn case(import: &'static str, ours: &'static str, k6: &'static str) -> Case {
    Case { import, ours, k6 }
}

const CASES: &[Case] = &[
    // Redirects.
    case("{S}/redirect/3", "", ""),
    case("{S}/redirect/9", "", ""),
    case("{S}/redirect/10", "stopped after 10 redirects", "stopped after 10 redirects"),
    case("{S}/forever", "/forever\": stopped after 10 redirects", "/forever\": stopped after 10 redirects"),
    case("{S}/to-http", "which is not encrypted", ""),
    case(
        "{S}/to-file",
        "Get \"file:///etc/passwd\": unsupported protocol scheme \"file\"",
        "Get \"file:///etc/passwd\": unsupported protocol scheme \"file\"",
    ),
    case("{S}/to-data", "unsupported protocol scheme \"data\"", "unsupported protocol scheme \"data\""),
    case("{S}/to-private", "unsupported protocol scheme \"k6\"", "unsupported protocol scheme \"k6\""),
    case(
        "{S}/to-nowhere",
        "wrong status code (302) for: {S}/to-nowhere",
        "wrong status code (302) for: {S}/to-nowhere",
    ),
    case("{S}/to-nonsense", "failed to parse Location header", "failed to parse Location header"),
    // Statuses.
    case("{S}/status/404", "not found: {S}/status/404", "not found: {S}/status/404"),
    case(
        "{S}/status/403",
        "wrong status code (403) for: {S}/status/403",
        "wrong status code (403) for: {S}/status/403",
    ),
    case("{S}/status/500", "wrong status code (500)", "wrong status code (500)"),
    case("{S}/status/204", "wrong status code (204)", "wrong status code (204)"),
    case("{S}/status/206", "wrong status code (206)", "wrong status code (206)"),
    case("{S}/status/304", "wrong status code (304)", "wrong status code (304)"),
    case("{S}/unmarked-only", "", ""),
    // Contents.
    case("{S}/page", "the server sent a page (HTML or XML) and no JavaScript", "Unexpected token <"),
    case("{S}/xml", "the server sent a page", "Unexpected token <"),
    case("{S}/json", "/json:1:5: ", "Unexpected token :"),
    case("{S}/binary", "it is not valid UTF-8 (line 2)", "Unexpected token ILLEGAL"),
    case("{S}/latin1", "it is not valid UTF-8 (line 2)", "Invalid UTF-8 character"),
    case("{S}/empty", "", ""),
    case("{S}/mark", "", ""),
    case("{S}/half", "/half:1:", "Unexpected end of input"),
    case("{S}/gzip", "", ""),
    case("{S}/no-gzip", "gzip: invalid header", "gzip: invalid header"),
    case("{S}/cut-gzip", "unexpected EOF", "unexpected EOF"),
    case("{S}/bomb", "1048576 bytes", "-"),
    case("{S}/large", "1048576", "-"),
    case("{S}/gigabyte", "1048576", "-"),
    // Time.
    case("{S}/cut", "unexpected EOF", "unexpected EOF"),
    case("{S}/stall", "no complete response within 0.7s", "-"),
    case("{S}/silent", "no complete response within 0.7s", "-"),
    // TLS.
    case("{O}/ok", "certificate", "failed to verify certificate"),
    case("{E}/ok", "expired", "certificate has expired or is not yet valid"),
    case("{U}/ok", "certificate signed by unknown authority", "certificate signed by unknown authority"),
    case("{P}/ok", "server gave HTTP response to HTTPS client", "server gave HTTP response to HTTPS client"),
    case("{R}/ok", "connection reset by peer", "connection reset by peer"),
    case(
        "https://127.0.0.1:1/ok",
        "dial tcp 127.0.0.1:1: connect: connection refused",
        "dial tcp 127.0.0.1:1: connect: connection refused",
    ),
    case("https://nobody.invalid/ok", "nobody.invalid", "nobody.invalid"),
    case("https://127.0.0.1:99999/ok", "invalid port", "invalid port"),
    // What modules import.
    case(
        "{S}/wants-file",
        "origin ({S}/) not allowed to load local file: file:///etc/passwd",
        "origin ({S}/) not allowed to load local file: file:///etc/passwd",
    ),
    case("{S}/wants-path", "resolved url \"{S}/etc/passwd\"", "resolved url \"{S}/etc/passwd\""),
    case(
        "{S}/wants-http",
        "only supported schemes for imports are file and https",
        "only supported schemes for imports are file and https",
    ),
    case("{S}/wants-data", "data:text/javascript,1", "data:text/javascript,1"),
    case(
        "{S}/wants-package",
        "The moduleSpecifier \"lodash\" couldn't be recognised",
        "The moduleSpecifier \"lodash\" couldn't be recognised",
    ),
    case("{S}/wants-itself", "", ""),
    case("{S}/deep/0", "more than 1000 modules import one another", "-"),
    case(
        "{H}/ok",
        "only supported schemes for imports are file and https",
        "only supported schemes for imports are file and https",
    ),
];

fn answer(request: &Incoming, plain: &str) -> Reply {
    let path = request.target.split('?').next().unwrap_or_default();
    let module = "export const a = 1;";
    let gzipped = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text).expect("memory takes everything");
        encoder.finish().expect("memory takes everything")
    };
    let number = |prefix: &str| path.strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
    if let Some(left) = number("/redirect/") {
        return if left == 0 { Reply::text(module) } else { Reply::redirect(302, &format!("/redirect/{}", left - 1)) };
    }
    if let Some(number) = number("/deep/") {
        return Reply::text(format!("import './{}';", number + 1));
    }
    if let Some(status) = number("/status/") {
        let status = Reply::status(u16::try_from(status).expect("a status"));
        return if status.status == 206 { Reply { body: module.into(), ..status } } else { status };
    }
    match path {
        "/ok" => Reply::text(module),
        "/forever" => Reply::redirect(301, "/forever"),
        "/to-http" => Reply::redirect(302, plain),
        "/to-file" => Reply::redirect(302, "file:///etc/passwd"),
        "/to-data" => Reply::redirect(302, "data:text/javascript,1"),
        "/to-private" => Reply::redirect(302, "k6://http"),
        "/to-nowhere" => Reply::status(302),
        "/to-nonsense" => Reply::redirect(302, "https://[::1"),
        "/unmarked-only" if request.target.contains("_k6=1") => Reply::status(500),
        "/unmarked-only" => Reply::text(module),
        "/page" => Reply::text("<!DOCTYPE html>\n<html><body>429 Too Many Requests</body></html>"),
        "/xml" => Reply::text("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"),
        "/json" => Reply::text("{\"a\":1}").header("Content-Type", "application/json"),
        "/binary" => Reply::text((0..=255).collect::<Vec<u8>>()),
        "/latin1" => Reply::text(b"// comment\nexport const a = '\xe9';".as_slice()),
        "/empty" => Reply::text(""),
        "/mark" => Reply::text("\u{feff}export const a = 1;"),
        "/half" => Reply::text("export const a = () => {"),
        "/gzip" => Reply::text(gzipped(module.as_bytes())).header("Content-Encoding", "gzip"),
        "/no-gzip" => Reply::text(module).header("Content-Encoding", "gzip"),
        "/cut-gzip" => {
            let mut bytes = gzipped(module.as_bytes());
            bytes.truncate(bytes.len() - 12);
            Reply::text(bytes).header("Content-Encoding", "gzip")
        }
        "/bomb" => Reply::text(gzipped(&vec![b' '; 4 << 20])).header("Content-Encoding", "gzip"),
        "/large" => Reply::text(vec![b' '; BYTES_MAX as usize + 1]).chunked(1 << 16),
        "/gigabyte" => Reply::text(vec![b' '; 1000]).announcing(1 << 30),
        "/cut" => Reply::text(module).announcing(100_000).closing(),
        "/stall" => Reply::text(module).announcing(100_000),
        "/silent" => Reply::text(module).after(Duration::from_secs(30)),
        "/wants-file" => Reply::text("import 'file:///etc/passwd';"),
        "/wants-path" => Reply::text("import '/etc/passwd';"),
        "/wants-http" => Reply::text(format!("import '{plain}';")),
        "/wants-data" => Reply::text("import 'data:text/javascript,1';"),
        "/wants-package" => Reply::text("import 'lodash';"),
        "/wants-itself" => Reply::text("import * as me from './wants-itself'; export const a = 1; export { me };"),
        _ => Reply::status(404),
    }
}

/// The servers and their names in cases.
struct Lab {
    _servers: (Vec<GoodServer>, Vec<HostileServer>),
    names: Vec<(&'static str, String)>,
    authority: CertificateAuthority,
}

impl Lab {
    fn start() -> Self {
        let (authority, stranger) = (CertificateAuthority::new(), CertificateAuthority::new());
        let plain = GoodServer::start(|request| answer(request, ""));
        let plain_url = plain.url("/ok");
        let start = |identity: onrush_testkit::Identity| {
            let plain = plain_url.clone();
            GoodServer::start_tls(identity.server(), move |request| answer(request, &plain))
        };
        let good = start(authority.identity(&["127.0.0.1"]));
        let other = start(authority.identity(&["other.test"]));
        let expired = start(authority.expired_identity(&["127.0.0.1"]));
        let unknown = start(stranger.identity(&["127.0.0.1"]));
        let text = HostileServer::start(Behaviour::TlsPlainText);
        let reset = HostileServer::start(Behaviour::ResetAtOnce);
        let names = vec![
            ("{S}", good.url("")),
            ("{H}", plain.url("")),
            ("{O}", other.url("")),
            ("{E}", expired.url("")),
            ("{U}", unknown.url("")),
            ("{P}", text.https_url("")),
            ("{R}", reset.https_url("")),
        ];
        Self { _servers: (vec![good, plain, other, expired, unknown], vec![text, reset]), names, authority }
    }

    fn named(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, url)| text.replace(name, url))
    }

    /// What loading says; empty if the script can be loaded.
    fn ours(&self, script: String) -> String {
        let imports = Imports::new(ImportOptions {
            extra_roots_pem: Some(self.authority.pem().to_owned()),
            timeout: TIMEOUT,
            module_bytes_max: BYTES_MAX,
            ..ImportOptions::default()
        });
        let options = LoadOptions {
            working_dir: std::env::temp_dir(),
            compatibility_mode: CompatibilityMode::Extended,
            builtins: &["k6"],
            source_bytes_max: 64 << 20,
            archived: None,
            remote: Some(Arc::new(imports)),
        };
        load(Entry::Stdin(script), &options).err().map(|error| error.render()).unwrap_or_default()
    }

    fn k6(&self, program: &str, script: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let authority = folder.path().join("authority.pem");
        std::fs::write(&authority, self.authority.pem()).expect("a file");
        let mut child = Command::new(program)
            .args(["run", "--quiet", "--no-usage-report", "--summary-mode=disabled", "--address=", "-"])
            .env("SSL_CERT_FILE", &authority)
            .env("SSL_CERT_DIR", "/nonexistent")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("k6 starts");
        child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("k6 reads");
        let done = child.wait_with_output().expect("k6 ends");
        String::from_utf8_lossy(&done.stderr).replace("\\\"", "\"")
    }
}

#[test]
fn every_server_comes_to_an_end_and_is_explained() {
    let lab = Lab::start();
    let k6 = std::env::var("K6").ok();
    let mut wrong = Vec::new();
    for Case { import, ours, k6: expect_of_k6 } in CASES {
        let script = format!("import * as m from '{}'; export default function () {{}}", lab.named(import));
        let mut check = |who: &str, got: String, expect: &str| {
            let expect = lab.named(expect);
            let is_right = if expect.is_empty() {
                !got.contains("level=error") && (who == "k6" || got.is_empty())
            } else {
                got.contains(&expect)
            };
            if !is_right {
                wrong.push(format!("{import}: {who} should say {expect:?}:\n{got}"));
            }
        };
        if let Some(k6) = k6.as_ref().filter(|_| *expect_of_k6 != "-") {
            check("k6", lab.k6(k6, &script), expect_of_k6);
        }
        check("we", lab.ours(script), ours);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
