//! `onrush archive` and running archives: what goes in, what comes out, what is refused.

use std::collections::BTreeMap;

use tar::EntryType;

use crate::program::{Done, Program};

const SCRIPT: &str = "import { add } from '../lib/é lib.ts';
    const common = require('./common.cjs');
    const data = JSON.parse(open('../lib/data ü.json'));
    const bytes = new Uint8Array(open('./b.bin', 'b'));
    export const options: object = { vus: 3, iterations: 6, tags: { a: '<&>' } };
    export default function (): void {
        console.log('sum', add(common.x, data.a), bytes.length, __ENV.A, __ENV.B);
    }";

fn project(args: &[&str]) -> Program {
    Program::new(args)
        .file("sub/script.ts", SCRIPT)
        .file("lib/é lib.ts", "export function add(a: number, b: number): number { return a + b; }")
        .file("sub/common.cjs", "module.exports = { x: 4 };")
        .file("lib/data ü.json", r#"{"a": 1}"#)
        .file("sub/b.bin", "\u{0}\u{1}")
}

/// The archive a command wrote.
fn written(done: &Done) -> Vec<u8> {
    std::fs::read(done.path("archive.tar")).expect("an archive")
}

/// Names, kinds and contents of its entries, the folder of the test cut off.
fn entries(bytes: &[u8], dir: &str) -> BTreeMap<String, (EntryType, String)> {
    let mut archive = tar::Archive::new(bytes);
    let entries = archive.entries().expect("a tar").map(|entry| {
        let mut entry = entry.expect("whole");
        let name = String::from_utf8(entry.path_bytes().into_owned()).expect("UTF-8").replace(&dir[1..], "~");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut entry, &mut text).expect("text");
        (name, (entry.header().entry_type(), text))
    });
    entries.collect()
}

fn run(archive: &[u8], flags: &[&str]) -> Program {
    let args: Vec<&str> = ["run", "-q"].iter().chain(flags).copied().chain(["a.tar"]).collect();
    Program::new(&args).bytes("a.tar", archive)
}

#[test]
fn an_archive_holds_all_a_script_needs() {
    let done = project(&["archive", "-e", "A=1", "sub/script.ts"]).run().expect(0);
    let dir = done.path("").canonicalize().expect("a folder").display().to_string();
    let bytes = written(&done);
    let entries = entries(&bytes, &dir);
    let names: Vec<&str> = entries.keys().map(String::as_str).filter(|name| name.contains('~')).collect();
    assert_eq!(
        names,
        [
            "file/~",
            "file/~/lib",
            "file/~/lib/data ü.json",
            "file/~/lib/é lib.ts",
            "file/~/sub",
            "file/~/sub/b.bin",
            "file/~/sub/common.cjs",
            "file/~/sub/script.ts",
        ]
    );
    assert_eq!(entries["data"].1, SCRIPT, "TypeScript stays as it was written");
    assert!(entries["file/~/lib/é lib.ts"].1.contains("a: number"));
    assert_eq!(entries["file/~/sub/script.ts"].0, EntryType::Link);
    let metadata: serde_json::Value = serde_json::from_str(&entries["metadata.json"].1).expect("JSON");
    let keys: Vec<&str> = metadata.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["type", "options", "filename", "pwd", "env", "compatibilityMode", "k6version", "goos", "dependencies"]
    );
    assert_eq!(metadata["options"]["vus"], 3);
    assert_eq!(metadata["options"]["scenarios"], serde_json::Value::Null, "shortcuts stay shortcuts");
    assert_eq!(metadata["options"]["summaryTrendStats"][5], "p(95)");
    assert_eq!(metadata["env"], serde_json::json!({"A": "1"}));
    assert_eq!(metadata["filename"], format!("file://{dir}/sub/script.ts"));
    assert_eq!(metadata["pwd"], format!("file://{dir}/sub"));
    assert_eq!(metadata["dependencies"], serde_json::json!({"k6": "*"}));
    assert_eq!(written(&project(&["archive", "-e", "A=1", "sub/script.ts"]).run()).len(), bytes.len());
    // It runs where none of its files are; flags and variables come on top of what it brings.
    drop(done);
    let again = run(&bytes, &["-e", "B=2", "-i", "4"]).run().expect(0).expect_log("sum 5 2 1 2");
    assert_eq!(again.stderr.matches("sum 5").count(), 4);
}

#[test]
fn modules_with_computed_names_are_loaded_and_archived() {
    let script =
        "console.log('init'); const conf = require(`./conf/${__ENV.TARGET}.js`); console.log('got', conf.name);
        export const options = { iterations: 1 }; export default function () { console.log('run', conf.name); }";
    let with_files = |args: &[&str]| {
        let program = Program::new(args).file("t/main.js", script);
        let program = program.file("t/conf/a.js", "exports.name = require('./' + 'b' + '.js').name;");
        program.file("t/conf/b.js", "exports.name = 'from b';")
    };
    let plain = with_files(&["inspect", "-e", "TARGET=a", "t/main.js"]).run().expect(0);
    assert_eq!(plain.stderr.matches("msg=init").count(), 1, "{}", plain.stderr);
    assert_eq!(plain.stderr.matches("got from b").count(), 1, "{}", plain.stderr);
    for layout in ["--vu-isolation=dense", "--vu-isolation=isolated"] {
        with_files(&["run", "-q", layout, "-e", "TARGET=a", "t/main.js"]).run().expect(0).expect_log("run from b");
    }
    let done = with_files(&["archive", "-e", "TARGET=a", "t/main.js"]).run().expect(0);
    let bytes = written(&done);
    drop(done);
    run(&bytes, &[]).run().expect(0).expect_log("run from b");
    with_files(&["run", "-q", "-e", "TARGET=none", "t/main.js"]).run().expect(107).expect_log("couldn't be found");
}

#[test]
fn options_of_all_places_are_stored() {
    let done = Program::new(&["archive", "-u", "5", "--exclude-env-vars", "-e", "A=1", "-O", "-", "s.js"])
        .env("K6_ITERATIONS", "7")
        .file("s.js", "export const options = { vus: 1, duration: '1s' }; export default function () {}")
        .run()
        .expect(0);
    let metadata = &entries(done.stdout.as_bytes(), "/nowhere")["metadata.json"].1;
    let metadata: serde_json::Value = serde_json::from_str(metadata).expect("JSON");
    assert_eq!(metadata["env"], serde_json::Value::Null);
    assert_eq!(metadata["options"]["vus"], 5);
    assert_eq!(metadata["options"]["iterations"], 7);
    assert_eq!(metadata["options"]["duration"], serde_json::Value::Null);
}

#[test]
fn an_archive_of_an_archive_is_the_same() {
    let first = written(&project(&["archive", "-e", "A=1", "sub/script.ts"]).run().expect(0));
    let second = written(&Program::new(&["archive", "a.tar"]).bytes("a.tar", &first).run().expect(0));
    assert!(first == second);
}

#[test]
fn standard_input_is_recognised() {
    let source = "export const options = { iterations: 2 }; export default function () { console.log('hello') }";
    let archive = written(&Program::new(&["archive", "-"]).stdin(source).run().expect(0));
    let done = Program::new(&["run", "-q", "-"]).stdin_bytes(&archive).run().expect(0);
    assert_eq!(done.stderr.matches("hello").count(), 2);
    Program::new(&["inspect", "-"]).stdin_bytes(&archive).run().expect(0).expect_output("\"iterations\": 2");
    // Other pipes, such as a shell's `<(command)`, can be read but once as well.
    Program::new(&["run", "-q", "/dev/stdin"]).stdin(source).run().expect(0).expect_output("iterations");
    Program::new(&["run", "-q", "/dev/stdin"]).stdin_bytes(&archive).run().expect(0).expect_output("iterations");
}

/// A tar like k6's, with these entries beside the usual ones.
fn by_hand(script: &str, metadata: &str, extra: &[(&str, EntryType, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |name: &str, kind: EntryType, content: &str| {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(if kind.is_file() { content.len() as u64 } else { 0 });
        if !kind.is_file() {
            header.set_link_name_literal(content).expect("short");
        }
        header.set_cksum();
        builder.append(&header, if kind.is_file() { content.as_bytes() } else { &[] }).expect("memory");
    };
    add("metadata.json", EntryType::Regular, metadata);
    add("data", EntryType::Regular, script);
    extra.iter().for_each(|(name, kind, content)| add(name, *kind, content));
    builder.into_inner().expect("memory")
}

const METADATA: &str = r#"{"type": "js", "options": {"iterations": 1}, "filename": "file:///t/m.js", "pwd": "file:///t", "env": {}, "compatibilityMode": "extended", "k6version": "1.8.1", "goos": "linux"}"#;

/// k6 fetches modules over https and stores them; there they are found without a network.
#[test]
fn remote_modules_of_an_archive_are_found() {
    let script = "import { a } from 'https://jslib.k6.io/x/1.0/index.js';
        export default function () { console.log('got', a); }";
    let archive = by_hand(
        script,
        METADATA,
        &[
            ("file/t/m.js", EntryType::Link, "data"),
            (
                "https/jslib.k6.io/x/1.0/index.js",
                EntryType::Regular,
                "export * from './lib/b.js'; export * from '/y.js';",
            ),
            ("https/jslib.k6.io/x/1.0/lib/b.js", EntryType::Regular, "export const a = 5;"),
            ("https/jslib.k6.io/y.js", EntryType::Regular, "export const z = 5;"),
        ],
    );
    run(&archive, &[]).run().expect(0).expect_log("got 5");
    run(&by_hand(script, METADATA, &[]), &[]).run().expect(107).expect_log("the archive does not contain it");
}

/// What is outside an archive does not exist for its script.
#[test]
fn nothing_outside_is_read() {
    run(&by_hand("open('/etc/hostname'); export default function () {}", METADATA, &[]), &[])
        .run()
        .expect(107)
        .expect_log("stat /etc/hostname: no such file or directory: the archive does not contain it");
    run(&by_hand("import '/etc/hostname.js'; export default function () {}", METADATA, &[]), &[])
        .run()
        .expect(107)
        .expect_log("the archive does not contain it");
}

#[test]
fn broken_archives_are_refused() {
    let check = |archive: &[u8], expect: &str| {
        let intro = "could not load test archive bundle";
        run(archive, &[]).run().expect(255).expect_log(intro).expect_log(expect);
    };
    let script = "export default function () {}";
    let with = |extra: &[(&str, EntryType, &str)]| by_hand(script, METADATA, extra);
    let whole = with(&[]);
    check(&whole[..600], "unexpected EOF: the archive is cut off");
    check(&whole[..whole.len() - 1024], "unexpected EOF: the archive is cut off");
    check(&with(&[("file/../../x", EntryType::Regular, "x")]), "the entry name 'file/../../x' is not allowed");
    check(&with(&[("file/x", EntryType::Symlink, "/etc/passwd")]), "the entry 'file/x' is neither a file nor a folder");
    check(&by_hand(script, "{", &[]), "metadata.json: EOF while parsing an object at line 1 column 1");
    check(&by_hand(script, &METADATA.replace("\"js\"", "\"har\""), &[]), "unsupported test type 'har', use js");
    check(
        &by_hand(script, &METADATA.replace("1}", "\\\"x\\\"}").replace('\\', ""), &[]),
        "iterations: \\\"x\\\" is not a whole number",
    );
    check(&by_hand(script, &METADATA.replace("file:///t/m.js", "gopher://x"), &[]), "'gopher://x' is no file URL");
    // k6: what has no scheme is a file.
    run(&by_hand(script, &METADATA.replace("file://", ""), &[]), &[]).run().expect(0);
    let packed = Program::new(&["run", "a.tar.gz"]).bytes("a.tar.gz", &[0x1f, 0x8b, 8, 0]).run().expect(255);
    packed.expect_log("it is compressed with gzip").expect_log("gunzip --stdout a.tar.gz | onrush run -");
    Program::new(&["run", "."]).run().expect(255).expect_log("is a directory");
    run(&with(&[]), &["-t", "js"]).run().expect(107);
    Program::new(&["run", "-t", "archive", "s.js"])
        .file("s.js", script)
        .run()
        .expect(255)
        .expect_log("unexpected EOF: the archive is cut off");
    Program::new(&["run", "-t", "archive", "s.js"]).run().expect(255).expect_log("could not load test archive bundle");
}
