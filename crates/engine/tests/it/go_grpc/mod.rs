//! `k6/net/grpc` against Go's own library, which shares no code with ours or with the built-in target. Where Go is missing, or
//! cannot fetch the library, nothing is tested, and the test says so.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use onrush_testkit::{CertificateAuthority, GoProgram, built_with_go};
use tempfile::TempDir;

use crate::harness::case;

/// A server, which ends with its standard input.
struct Peer {
    process: Child,
    address: String,
    _folder: TempDir,
}

impl Peer {
    fn start(reflection: &str, files: &[(&str, &str)]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let mut command = Command::new(program()?);
        let descriptors =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../testsite/assets/grpc/target.binpb").display().to_string();
        command.env("DESCRIPTORS", descriptors).env("REFLECTION", reflection);
        for (variable, text) in files {
            let path = folder.path().join(variable);
            std::fs::write(&path, text).expect("a file can be written");
            command.env(variable, path);
        }
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("what was built can be run");
        let mut address = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut address).expect("it says where it is");
        assert!(!address.is_empty(), "the peer did not start");
        Some(Self { process, address: address.trim().to_owned(), _folder: folder })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The server's program, built once.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/go_grpc/peer");
            let what = GoProgram::of_folder("the peer", &source);
            built_with_go(&what, Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-grpc-peer"))
        })
        .as_deref()
}

const CALLS: &str = r"
import grpc from 'k6/net/grpc';
const client = new grpc.Client();
const show = (...what) => console.log(what.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))).join(' '));
function stream(method, messages) {
  return new Promise((resolve) => {
    const seen = [];
    const s = new grpc.Stream(client, method);
    s.on('data', (m) => seen.push(m.value ?? m.text));
    s.on('error', (e) => seen.push([e.code, e.message]));
    s.on('end', () => resolve(seen));
    messages.forEach((message) => s.write(message));
    s.end();
  });
}
export default async function () {
  client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true });
  const metadata = { 'head-one': 'h', 'trail-one': 't', 'trail-two-bin': new Uint8Array([1, 2, 3]) };
  const said = client.invoke('target.Echo/Say', { text: 'hello' }, { metadata });
  show(said.status === grpc.StatusOK, said.message, said.headers['head-one'], said.trailers['trail-one'], said.trailers['trail-two-bin']);
  const zipped = client.invoke('target.Echo/Long', { value: 100000 }, { metadata: { 'use-gzip': '1' } });
  show(zipped.status, zipped.message.text.length);
  const all = client.invoke('target.Echo/All', { anInt64: '9007199254740993', someBytes: 'AQI=', aColor: 'GREEN', numbers: [1, -2], byName: { a: 1 }, at: '2020-01-02T03:04:05.6Z', took: '1.500s', object: { a: [1, null, 'b'] } }).message;
  show(all.anInt64, all.someBytes, all.aColor, all.numbers, all.byName, all.at, all.took, all.object);
  const failed = client.invoke('target.Echo/Fail', { code: 5, message: 'no such ü' });
  show(failed.status, failed.error);
  show(client.invoke('target.Echo/Wait', { milliseconds: 2000 }, { timeout: '100ms' }).status, client.invoke('target.Echo/Missing', {}).status);
  show((await client.asyncInvoke('target.Echo/Say', { text: 'later' })).message);
  show(await stream('target.Flow/Count', [{ from: 1, to: 5 }]));
  show(await stream('target.Flow/Count', [{ from: 1, to: 2, code: 9 }]));
  show(await stream('target.Flow/Sum', [{ value: 1 }, { value: 2 }, { value: 39 }]));
  show(await stream('target.Flow/Mirror', [{ text: 'a' }, { text: 'b' }, { text: 'fail' }]));
  show((await stream('target.Flow/Count', [{ from: 1, to: 3000 }])).length);
  client.close();
}
";

/// As k6 1.8.1 says of the same server.
const SAID: &[&str] = &[
    r#"true {"text":"hello"} ["h"] ["t"] ["\u0001\u0002\u0003"]"#,
    "0 100000",
    r#"9007199254740993 AQI= GREEN [1,-2] {"a":1} 2020-01-02T03:04:05.600Z 1.500s {"a":[1,null,"b"]}"#,
    r#"5 {"code":5,"message":"no such ü","details":[]}"#,
    "4 12",
    r#"{"text":"later"}"#,
    r#"["1","2","3","4","5"]"#,
    r#"["1","2",[9,"the count is over"]]"#,
    r#"["42"]"#,
    r#"["a","b",[10,"asked to fail"]]"#,
    "3000",
];

#[test]
fn calls_and_streams_with_both_kinds_of_reflection() {
    for reflection in ["v1", "v1alpha"] {
        let Some(peer) = Peer::start(reflection, &[]) else { return };
        case(CALLS).env("ADDRESS", &peer.address).both(|report| {
            report.assert_clean();
            assert_eq!(report.said(), SAID, "reflection {reflection}");
        });
    }
}

#[test]
fn a_server_that_wants_certificates() {
    let (authority, stranger) = (CertificateAuthority::new(), CertificateAuthority::new());
    let (server, client) = (authority.identity(&["127.0.0.1"]), authority.identity(&["client"]));
    let other = stranger.identity(&["client"]);
    let files = [("CERT", &*server.cert_pem), ("KEY", &server.key_pem), ("CA", authority.pem())];
    let Some(peer) = Peer::start("v1", &files) else { return };
    case(
        "import grpc from 'k6/net/grpc';
         const { CA, STRANGER, CERT, KEY, OTHER_CERT, OTHER_KEY } = __ENV;
         export default function () {
           for (const tls of [{ cacerts: CA, cert: CERT, key: KEY }, { cacerts: [STRANGER, CA], cert: CERT, key: KEY }, { cacerts: STRANGER, cert: CERT, key: KEY }, { cacerts: CA }, { cacerts: CA, cert: OTHER_CERT, key: OTHER_KEY }]) {
             const client = new grpc.Client();
             try {
               client.connect(__ENV.ADDRESS, { tls, reflect: true, timeout: '3s' });
               console.log(JSON.stringify(client.invoke('target.Echo/Say', { text: 'hello' }).message));
             } catch (error) { console.log('refused'); }
             client.close();
           }
         }",
    )
    .env("ADDRESS", &peer.address)
    .env("CA", authority.pem())
    .env("STRANGER", stranger.pem())
    .env("CERT", &client.cert_pem)
    .env("KEY", &client.key_pem)
    .env("OTHER_CERT", &other.cert_pem)
    .env("OTHER_KEY", &other.key_pem)
    .both(|report| {
        report.assert_clean();
        let hello = "{\"text\":\"hello\"}";
        assert_eq!(report.said(), [hello, hello, "refused", "refused", "refused"]);
    });
}
