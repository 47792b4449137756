//! Imports from servers: runs, archives, `deps --lock`, `--offline`, and what is said when something is wrong.

use std::sync::{Arc, Mutex};

use onrush_testkit::{CertificateAuthority, GoodServer, Reply};
use tempfile::TempDir;

use crate::program::Program;

/// A server with modules, and the folders of those who use them.
struct Modules {
    server: GoodServer,
    authority: String,
    answer: Arc<Mutex<String>>,
    cache: TempDir,
}

impl Modules {
    fn start() -> Self {
        let authority = CertificateAuthority::new();
        let answer = Arc::new(Mutex::new("export const answer = 42;".to_owned()));
        let served = Arc::clone(&answer);
        let server = GoodServer::start_tls(authority.identity(&["127.0.0.1"]).server(), move |request| {
            let path = request.target.split('?').next().unwrap_or_default();
            match path {
                "/lib/index.js" => Reply::text(
                    "import { answer } from './answer.js'; import { half } from '/half.ts'; let calls = 0;
                     export function sum() { calls += 1; return answer + half + calls; }
                     export function fail() { throw new Error('boom'); }",
                ),
                "/lib/answer.js" => Reply::text(served.lock().expect("no panic").clone()),
                "/half.ts" => Reply::text("export const half: number = 0.5;"),
                "/common.js" => Reply::text("exports.name = 'common'; exports.two = require('./half.ts').half * 4"),
                "/main.js" => Reply::text(
                    "import { answer } from './lib/answer.js';
                     export const options = { iterations: 2 };
                     export default function () { console.log('main', answer); }",
                ),
                "/utils.js" => {
                    Reply::text("exports.randomItem = (list) => list[Math.floor(Math.random() * list.length)];")
                }
                "/page" => Reply::text("<!DOCTYPE html><html></html>"),
                _ => Reply::status(404),
            }
        });
        let cache = tempfile::tempdir().expect("a folder");
        Self { server, authority: authority.pem().to_owned(), answer, cache }
    }

    fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// A program that trusts the server; the script, if there is one, is `t/script.js` with `{S}` as the server.
    fn program(&self, args: &[&str], script: &str) -> Program {
        Program::new(args)
            .file("ca.pem", &self.authority)
            .file("t/script.js", &script.replace("{S}", &self.url("")))
            .env("ONRUSH_IMPORT_CA", "ca.pem")
            .env("XDG_CACHE_HOME", &self.cache.path().display().to_string())
    }

    fn script(&self, flags: &[&str], script: &str) -> Program {
        let args: Vec<&str> = ["run", "-q"].iter().chain(flags).copied().chain(["t/script.js"]).collect();
        self.program(&args, script)
    }
}

const SCRIPT: &str = "import { sum, fail } from '{S}/lib/index.js';
    import common, { two } from '{S}/common.js';
    export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2 } } };
    export default function () {
        console.log('got', sum(), common.name, two, import.meta.resolve('{S}/x/../y.js'));
        try { fail() } catch (e) { console.log(e.stack) }
    }";

#[test]
fn a_script_runs_with_modules_from_a_server_in_both_layouts() {
    let modules = Modules::start();
    for layout in ["dense", "isolated"] {
        let flags = [&*format!("--vu-isolation={layout}"), "--no-summary"];
        let done = modules.script(&flags, SCRIPT).run().expect(0);
        // Each VU has its own instance: its first call.
        let calls = done.stderr.matches("got 43.5 common 2 ").count();
        assert_eq!(calls, 2, "{layout}: {}", done.stderr);
        let done = done.expect_log(&modules.url("/y.js"));
        done.expect_log(&format!("at fail ({}:3:", modules.url("/lib/index.js")));
    }
}

#[test]
fn the_script_itself_may_be_on_a_server() {
    let modules = Modules::start();
    let main = modules.url("/main.js");
    modules.program(&["run", "-q", "--no-summary", &main], "").run().expect(0).expect_log("main 42");
    modules.program(&["inspect", &main], "").run().expect(0).expect_output("\"iterations\": 2");
    modules.program(&["check", &main], "").run().expect(0).expect_output("can run");
    let gone = modules.url("/gone.js");
    let said = format!("Error : \\\"not found: {gone}\\\"");
    modules.program(&["run", "-q", &gone], "").run().expect(255).expect_log(&said);
    let plain = "http://127.0.0.1:1/main.js";
    let said = "only supported schemes for imports are file and https, http://127.0.0.1:1/main.js has `http`";
    modules.program(&["run", "-q", plain], "").run().expect(255).expect_log(said);
}

#[test]
fn an_archive_holds_modules_of_servers() {
    let modules = Modules::start();
    let args = ["archive", "-O", "a.tar", "t/script.js"];
    let done = modules.program(&args, SCRIPT).run().expect(0);
    let archive = std::fs::read(done.path("a.tar")).expect("an archive");
    let mut names: Vec<String> = tar::Archive::new(archive.as_slice())
        .entries()
        .expect("a tar")
        .map(|entry| entry.expect("whole").path().expect("a path").display().to_string())
        .filter(|name| name.starts_with("https/") && name.ends_with("s"))
        .collect();
    names.sort();
    let host = format!("https/{}", modules.server.addr());
    let expect = ["common.js", "half.ts", "lib/answer.js", "lib/index.js"].map(|name| format!("{host}/{name}"));
    assert_eq!(names, expect);
    let asked = modules.server.requests();
    let run = Program::new(&["run", "-q", "-i", "1", "--no-summary", "a.tar"]).bytes("a.tar", &archive);
    run.run().expect(0).expect_log("got 43.5 common 2 ");
    assert_eq!(modules.server.requests(), asked, "running an archive asks nobody");
}

#[test]
fn a_locked_module_that_changed_is_refused() {
    let modules = Modules::start();
    let script =
        "import { answer } from '{S}/lib/answer.js'; export default function () { console.log('got', answer); }";
    let done = modules.program(&["deps", "--lock", "t/script.js"], script).run().expect(0);
    let done = done.expect_output("onrush.lock has the hashes of 1 remote module of this script");
    let lock = std::fs::read_to_string(done.path("t/onrush.lock")).expect("a lock file");
    assert!(lock.contains(&format!("\"{}\": \"sha256:", modules.url("/lib/answer.js"))), "{lock}");
    "export const answer = 'evil';".clone_into(&mut modules.answer.lock().expect("no panic"));
    // The cache has what was locked: it is used, whatever the server says now.
    let run = |flags: &[&str]| modules.script(flags, script).file("t/onrush.lock", &lock);
    run(&["--no-summary"]).run().expect(0).expect_log("got 42");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let done = run(&[]).env("XDG_CACHE_HOME", &elsewhere.path().display().to_string()).run().expect(107);
    let done =
        done.expect_log("its content has changed: onrush.lock has sha256:").expect_log(", the server sent sha256:");
    let done = done.expect_log("/t/script.js:1:24: ").expect_log("onrush deps --lock SCRIPT");
    drop(done);
    // Locking again takes the new content, and says so.
    let again =
        modules.program(&["deps", "--lock", "t/script.js"], script).file("t/onrush.lock", &lock).run().expect(0);
    let again = again.expect_output("changed: https://");
    assert_ne!(std::fs::read_to_string(again.path("t/onrush.lock")).expect("a lock file"), lock);
    // A module that is not in the file is worth a warning; a broken file is an error.
    let other = modules.script(&["--no-summary"], "import '{S}/half.ts'; export default function () {}");
    let warning = format!("t/onrush.lock: {}; add what the script imports", modules.url("/half.ts"));
    other.file("t/onrush.lock", &lock).run().expect(0).expect_log(&warning);
    run(&[]).file("t/onrush.lock", "{").run().expect(255).expect_log("onrush.lock: it is not JSON: ");
}

#[test]
fn offline_needs_no_server() {
    let modules = Modules::start();
    let script =
        "import { answer } from '{S}/lib/answer.js'; export default function () { console.log('got', answer); }";
    let offline = || modules.script(&["--offline", "--no-summary"], script);
    offline().run().expect(107).expect_log("it is not in the cache, and --offline forbids to fetch it");
    modules.script(&["--no-summary"], script).run().expect(0);
    let asked = modules.server.requests();
    offline().run().expect(0).expect_log("got 42");
    assert_eq!(modules.server.requests(), asked);
    modules.program(&["deps", "--lock", "--offline", "t/script.js"], script).run().expect(255);
}

#[test]
fn deps_lists_modules_of_servers() {
    let modules = Modules::start();
    let script = "import '{S}/lib/index.js'; import 'k6/http';";
    let done = modules.program(&["deps", "--json", "t/script.js"], script).run().expect(0);
    let json: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let imports: Vec<&str> =
        json["imports"].as_array().expect("a list").iter().filter_map(|name| name.as_str()).collect();
    let urls = ["/half.ts", "/lib/answer.js", "/lib/index.js"].map(|path| modules.url(path));
    assert_eq!(imports[1..], [&urls[0], &urls[1], &urls[2], "k6/http"]);
    assert!(json["hashes"][&urls[0]].as_str().is_some_and(|hash| hash.starts_with("sha256:")), "{json}");
}

#[test]
fn what_is_wrong_names_the_import() {
    let modules = Modules::start();
    let check = |script: &str, code: i32, expect: &[&str]| {
        let mut done = modules.script(&[], script).run().expect(code);
        for part in expect {
            done = done.expect_log(&part.replace("{S}", &modules.url("")));
        }
    };
    check(
        "\nimport '{S}/page';",
        107,
        &[
            "/t/script.js:2:8: The moduleSpecifier",
            "the server sent a page (HTML or XML) and no JavaScript",
            "open the URL in a browser",
        ],
    );
    check("import 'k6/x/nope'; export default function () {}", 107, &["unknown modules [", "extensions written in Go"]);
    // What is not needed may be missing.
    let script = "let m; try { require('{S}/gone.js') } catch (e) { m = e.message }
        export default function () { console.log(m) }";
    check(script, 0, &["couldn't be retrieved from the resolved url", "not found: {S}/gone.js"]);
    let untrusting = modules.script(&[], "import '{S}/half.ts';").env("ONRUSH_IMPORT_CA", "");
    untrusting.run().expect(107).expect_log("x509: certificate signed by unknown authority").expect_log("--import-ca");
    let trusting = modules.script(&["--no-summary"], "import '{S}/half.ts'; export default function () {}");
    trusting.env("ONRUSH_IMPORT_CA", "").env("SSL_CERT_FILE", "ca.pem").run().expect(0);
    modules.script(&["--import-timeout=0s"], "").run().expect(255).expect_log("it must be greater than 0");
    modules.script(&["--import-ca=gone.pem"], "").run().expect(255).expect_log("failed to read --import-ca 'gone.pem'");
}

/// The example of the guide, with the library of this server.
#[test]
fn the_guides_example_runs() {
    let guide = include_str!("../../../../docs/guide/imports.md");
    let library = "https://jslib.k6.io/k6-utils/1.4.0/index.js";
    let mut examples = guide.split("```js\n").skip(1).filter_map(|rest| rest.split("```").next());
    let example = examples.find(|example| example.contains(library)).expect("an example");
    let modules = Modules::start();
    let script = example.replace(library, &modules.url("/utils.js"));
    let done = modules.script(&["--no-summary"], &script).run().expect(0);
    assert!(done.stderr.contains("msg=a ") || done.stderr.contains("msg=b "), "{}", done.stderr);
}
