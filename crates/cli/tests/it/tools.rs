//! `inspect`, `new`, `deps`, `completion`.

use serde_json::json;

use crate::program::Program;

const SCRIPT: &str = "import http from 'k6/http';
    export const options = { vus: 3, duration: '10s', thresholds: { http_reqs: ['count>0'] }, rps: 5 };
    export default function () { http.get(''); }";

fn json(args: &[&str], script: &str) -> serde_json::Value {
    let done = Program::new(args).file("script.js", script).run().expect(0);
    serde_json::from_str(&done.stdout).expect("JSON")
}

#[test]
fn inspect_prints_what_the_script_exports() {
    let options = json(&["inspect", "script.js"], SCRIPT);
    assert_eq!((&options["vus"], &options["duration"]), (&json!(3), &json!("10s")));
    assert_eq!(options["thresholds"], json!({"http_reqs": ["count>0"]}));
    assert_eq!(options["dns"], json!({"ttl": null, "select": null, "policy": null}));
    assert_eq!((&options["summaryTrendStats"], &options["scenarios"]), (&json!(null), &json!(null)));
    let keys: Vec<&str> = options.as_object().expect("an object").keys().map(String::as_str).collect();
    // As k6 1.8.1 prints them.
    assert_eq!(
        keys.join(" "),
        "paused vus duration iterations stages scenarios executionSegment executionSegmentSequence noSetup setupTimeout \
         noTeardown teardownTimeout rps dns maxRedirects userAgent batch batchPerHost httpDebug insecureSkipTLSVerify \
         tlsCipherSuites tlsVersion tlsAuth throw thresholds blacklistIPs blockHostnames hosts noConnectionReuse \
         noVUConnectionReuse minIterationDuration ext summaryTrendStats summaryTimeUnit systemTags tags \
         metricSamplesBufferSize noCookiesReset discardResponseBodies"
    );
}

#[test]
fn inspect_tells_what_a_test_needs() {
    let options = json(&["inspect", "--execution-requirements", "script.js"], SCRIPT);
    assert_eq!((&options["maxVUs"], &options["totalDuration"]), (&json!(3), &json!("40s")));
    assert_eq!(
        options["scenarios"]["default"],
        json!({"executor": "constant-vus", "startTime": null, "gracefulStop": null, "env": null, "exec": null,
            "tags": null, "vus": 3, "duration": "10s"})
    );
    let arrival = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 5,
        duration: '1m30s', preAllocatedVUs: 2, maxVUs: 9 } } }; export default function () {}";
    let options = json(&["inspect", "--execution-requirements", "script.js"], arrival);
    assert_eq!((&options["maxVUs"], &options["totalDuration"]), (&json!(9), &json!("2m0s")));
}

#[test]
fn deps_lists_imports_and_versions() {
    let program = |args: &[&str]| {
        Program::new(args)
            .file(
                "d.js",
                "\"use k6 >= 1.2\";\n'use k6 with k6/x/kubernetes >= 0.4';\nimport http from 'k6/http';
                import kubernetes from 'k6/x/kubernetes'; import x from './sub/c.cjs'; const e = require('./e.js');
                export default function () { http.get(kubernetes, x, e); }",
            )
            .file("sub/c.cjs", "module.exports = 1;")
            .file("e.js", "export const e = 1;")
            .run()
            .expect(0)
    };
    let done = program(&["deps", "--json", "d.js"]);
    let dir = done.path("").canonicalize().expect("a folder").display().to_string();
    let deps: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!(
        deps,
        json!({
            "buildDependencies": {"k6": ">=1.2", "k6/x/kubernetes": ">=0.4"},
            "imports": [format!("file://{dir}/d.js"), format!("file://{dir}/sub/c.cjs"), "k6/http", "k6/x/kubernetes"],
            "customBuildRequired": true,
        })
    );
    let text = program(&["deps", "d.js"]);
    let text = text.stdout.replace(&text.path("").canonicalize().expect("a folder").display().to_string(), "");
    assert_eq!(
        text,
        "Build Dependencies:\n  k6: >=1.2\n  k6/x/kubernetes: >=0.4\n\nImports:\n  file:///d.js\n  file:///sub/c.cjs\n  \
         k6/http\n  k6/x/kubernetes\n\nCustom Build Required: yes\n"
    );
}

#[test]
fn new_writes_scripts_that_run() {
    for template in ["minimal", "protocol"] {
        let done = Program::new(&["new", "--template", template, "--project-id", "4711"]).run().expect(0);
        assert_eq!(done.stdout, format!("New script created: script.js ({template} template).\n"));
        let options = json(&["inspect", "script.js"], &done.text("script.js"));
        assert_eq!(options["cloud"]["projectID"], 4711);
    }
    Program::new(&["new"])
        .file("script.js", "mine")
        .run()
        .expect(255)
        .expect_log("script.js already exists. Use the `--force` flag to overwrite it");
    let done = Program::new(&["new", "-f"]).file("script.js", "mine").run().expect(0);
    assert!(done.text("script.js").contains("k6/http"));
    let done = Program::new(&["new", "--template", "./mine.js", "a.js"]).file("mine.js", "// {{ .ScriptName }}").run();
    assert_eq!(done.expect(0).text("a.js"), "// a.js");
    Program::new(&["new", "--template", "nope"]).run().expect(255).expect_log("invalid template type \\\"nope\\\"");
    Program::new(&["new", "a", "b"]).run().expect(255).expect_log("accepts at most 1 arg(s), received 2");
}

#[test]
fn completion_knows_commands_flags_and_values() {
    for shell in ["bash", "fish", "powershell", "zsh"] {
        let script = Program::new(&["completion", shell]).run().expect(0).stdout;
        for text in ["archive", "summary-mode", "legacy", "discard-response-bodies"] {
            assert!(script.contains(text), "{shell}: {text}");
        }
    }
    let script = |shell: &str| Program::new(&["completion", shell]).run().expect(0).stdout;
    // What the two commands take that know all of it; and a switch is not followed by a value.
    assert!(script("bash").contains("bash fish powershell zsh"));
    let fish = script("fish");
    assert!(fish.contains("using_subcommand completion\" -f -a \"bash fish powershell zsh\"\n"), "{fish}");
    assert!(!fish.contains("-l quiet -d 'No banner, no progress' -r"), "{fish}");
    Program::new(&["completion", "tcsh"]).run().expect(255).expect_log("no completion for the shell 'tcsh'");
    Program::new(&["completion"]).run().expect(255).expect_log("one of bash, fish, powershell, zsh");
}

/// Texts and rules as k6 1.8.1 has them.
#[test]
fn directives_and_the_manifest_are_constraints() {
    let deps = |script: &str, manifest: &str| {
        Program::new(&["deps", "--json", "s.js"])
            .file("s.js", &format!("{script}\nexport default function () {{}}"))
            .env("K6_DEPENDENCIES_MANIFEST", manifest)
            .run()
    };
    let check = |script: &str, manifest: &str, expect: serde_json::Value| {
        let deps: serde_json::Value = serde_json::from_str(&deps(script, manifest).expect(0).stdout).expect("JSON");
        assert_eq!((&deps["buildDependencies"], &deps["customBuildRequired"]), (&expect[0], &expect[1]), "{script}");
    };
    check("'use k6 >= 1.2, < 99'", "", json!([{"k6": ">=1.2 <99"}, false]));
    check("'use k6 > 98'", "", json!([{"k6": ">98"}, true]));
    check(
        "'use k6 with k6/x/redis > 2'; 'use k6 with k6/x/redis'",
        "",
        json!([{"k6": "*", "k6/x/redis": ">2"}, false]),
    );
    check("'use k6 with k6/x/kubernetes'", "", json!([{"k6": "*", "k6/x/kubernetes": "*"}, true]));
    let manifest = r#"{"k6/x/redis": "v0.4.4", "k6/x/sql": ">=1", "k6": ">=1.2"}"#;
    check("import 'k6/x/redis'", manifest, json!([{"k6": ">=1.2", "k6/x/redis": "v0.4.4"}, false]));
    check("'use k6 with k6/x/redis > 2'", manifest, json!([{"k6": ">=1.2", "k6/x/redis": ">2"}, false]));
    let refused = |script: &str, manifest: &str, text: &str| {
        deps(script, manifest).expect(255).expect_log(text);
    };
    refused("'use k6 >= banana'", "", "improper constraint: >= banana");
    refused("'use k6 > 1'; 'use k6 < 3'", "", "already have constraint for \\\"k6\\\", when parsing \\\"<3\\\"");
    refused("", "{bad", "invalid dependencies manifest");
    refused("import 'k6/x/redis'", r#"{"k6/x/redis": "banana"}"#, "improper constraint: banana");
}

#[test]
fn what_a_script_asks_for_has_to_be_there() {
    let run = |directive: &str| {
        Program::new(&["run", "-q", "s.js"]).file("s.js", &format!("'{directive}'; export default function () {{}}"))
    };
    run("use k6 with k6/x/redis > 99").run().expect(0);
    run("use k6 > 98")
        .run()
        .expect(0)
        .expect_log("the script asks for k6 >98; this version of Onrush runs scripts as k6");
    let asks = "use k6 with k6/x/kubernetes";
    run(asks)
        .run()
        .expect(255)
        .expect_log("the script asks for extensions that are not in this version of Onrush: k6/x/kubernetes");
    run(asks).env("K6_AUTO_EXTENSION_RESOLUTION", "false").run().expect(0);
}
