//! Wrong input of every kind: each is told what was wrong, where, and what there is; none panics, none is ignored.
//!
//! Exit codes are those of k6 1.8.1 for the same input. Where k6 ends with another one, the row says which and the list
//! of differences says why.

mod options;

use self::options::OPTIONS;
use crate::program::{Done, Program};

/// Input, exit code, what the log says.
type Row = (&'static str, i32, &'static str);

const EMPTY: &str = "export default function () {}";

#[track_caller]
fn check(rows: &[Row], program: impl Fn(&str) -> Program) {
    let mut wrong = String::new();
    for (input, code, message) in rows {
        let done: Done = program(input).run();
        if done.code != *code || !done.stderr.contains(message) || done.stderr.contains("panicked") {
            wrong.push_str(&format!(
                "{input}\n  expected {code} and {message}\n  got {} and {}\n",
                done.code, done.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Options that run, with a word about what they do not do.
const WARNINGS: &[Row] = &[
    ("{ foo: 1 }", 0, r#"json: unknown field \"foo\""#),
    ("{ iteration: 1 }", 0, r#"did you mean \"iterations\" instead of \"iteration\"?"#),
    (
        "{ stages: [{ target: 1 }] }",
        0,
        "`stages` was explicitly set to an empty value, running the script with 1 iteration in 1 VU",
    ),
    (
        "{ scenarios: {} }",
        0,
        "`scenarios` was explicitly set to an empty value, running the script with 1 iteration in 1 VU",
    ),
    (
        r#"{ thresholds: { http_reqs: [{ threshold: "count>=0", abrtOnFail: true }] } }"#,
        0,
        "thresholds.http_reqs[0]: 'abrtOnFail' is no field of a threshold and is ignored; there are threshold, abortOnFail, delayAbortEval, over, for, after",
    ),
    (r#"{ systemTags: ["urll"] }"#, 0, r#"json: unknown field \"systemTags.urll\""#),
];

/// Flags, separated by spaces.
const FLAGS: &[Row] = &[
    ("--nope", 255, "unknown flag: --nope"),
    ("-Z", 255, "unknown shorthand flag: 'Z' in -Z"),
    (
        "--vus",
        255,
        r#"invalid argument \"script.js\" for \"-u, --vus\" flag: strconv.ParseInt: parsing \"script.js\": invalid syntax"#,
    ),
    (
        "--vus x",
        255,
        r#"invalid argument \"x\" for \"-u, --vus\" flag: strconv.ParseInt: parsing \"x\": invalid syntax"#,
    ),
    (
        "-u 1.5",
        255,
        r#"invalid argument \"1.5\" for \"-u, --vus\" flag: strconv.ParseInt: parsing \"1.5\": invalid syntax"#,
    ),
    (
        "--vus 99999999999999999999",
        255,
        r#"invalid argument \"99999999999999999999\" for \"-u, --vus\" flag: strconv.ParseInt: parsing \"99999999999999999999\": invalid syntax"#,
    ),
    ("-d 10", 255, r#"invalid argument \"10\" for \"-d, --duration\" flag: time: missing unit in duration \"10\""#),
    ("-d abc", 255, r#"invalid argument \"abc\" for \"-d, --duration\" flag: time: invalid duration \"abc\""#),
    (
        "-d -1s",
        104,
        "`duration` option should be more than 0, for infinite duration use the externally-controlled executor",
    ),
    (
        "-i 0",
        104,
        "scenario default has configuration errors: the number of iterations (0) can't be less than the number of VUs (1)",
    ),
    ("-s x", 255, r#"error for stage 0: time: invalid duration \"x\""#),
    ("-s 10s:x", 255, r#"error for stage 0: \"x\" is not a whole number"#),
    ("-s :5", 255, "stage 0 doesn't have a specified duration"),
    ("--tag a", 255, "error parsing tag 'a': invalid tag, empty value"),
    ("--tag =b", 255, "error parsing tag '=b': invalid tag, empty name"),
    ("--tag a=", 255, "error parsing tag 'a=': invalid tag, empty value"),
    ("--blacklist-ip x", 255, "error parsing blacklist-ip 'x': failed to parse CIDR 'x': invalid CIDR address: x"),
    ("--block-hostnames a*b", 255, "invalid hostname pattern 'a*b'"),
    ("--dns foo=1", 255, "unknown DNS configuration field: foo"),
    ("--dns ttl", 255, "no value for key ttl"),
    ("--summary-time-unit h", 255, "invalid summary time unit 'h', use 's', 'ms' or 'us'"),
    // k6: 255.
    ("--summary-trend-stats x", 104, "invalid trend stat 'x', unknown format"),
    ("--execution-segment x", 255, "'x' is not a valid percentage, decimal, fraction or interval value"),
    (
        "--execution-segment 1/2 --execution-segment-sequence 0,1/3,1",
        104,
        "provided segment 0:1/2 can't be found in sequence 0,1/3,1",
    ),
    (
        "--quiet=maybe",
        255,
        r#"invalid argument \"maybe\" for \"-q, --quiet\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax"#,
    ),
    ("--summary-mode x", 255, "invalid summary mode"),
    (
        "--compatibility-mode x",
        255,
        r#"invalid compatibility mode \"x\". Use: \"extended\", \"base\", \"experimental_enhanced\""#,
    ),
    ("--type x", 255, "could not initialize 'script.js': unknown or unspecified test type 'x'"),
    ("-t archive", 255, "unexpected EOF: the archive is cut off"),
    ("-e 1a=b", 255, "invalid environment variable name '1a'"),
    ("--vu-isolation x", 255, r#"invalid VU layout \"x\". Use: \"auto\", \"dense\", \"isolated\""#),
    ("--vu-memory-limit 1", 255, r#"invalid VU memory limit \"1\", use a size of at least 256KiB such as 64MiB"#),
    ("--http-debug=half", 255, r#"--http-debug: \"half\" is not a mode: use full or headers"#),
    ("--threads 1000000", 255, r#"invalid number of threads \"1000000\", use 1 to "#),
    ("--threads 0", 255, r#"invalid number of threads \"0\", use 1 to "#),
    ("--out x", 255, "invalid output type 'x', available types are: "),
    (
        "--out json=/nonexistent/x.json",
        255,
        "could not create the 'json' output: open /nonexistent/x.json: no such file or directory",
    ),
    (
        "--out csv=a.csv,foo=1",
        255,
        r#"could not create the 'csv' output: couldn't parse \"a.csv,foo=1\" as argument for csv output"#,
    ),
    ("--secret-source x", 255, r#"no secret source for type \"x\""#),
    (
        "--secret-source file=/nonexistent",
        255,
        "couldn't read the secrets in /nonexistent: No such file or directory (os error 2)",
    ),
    ("--secret-source mock=x", 255, "entry 1 of the mock secret source needs ="),
    ("--secret-source url=foo=1", 255, r#"missing or invalid config: unknown configuration key: \"foo\""#),
    ("--log-output x", 255, "unsupported log output 'x'"),
    ("--log-output file=a.log,foo=1", 255, "unknown logfile config key foo"),
    (
        "--log-output file=/nonexistent/a.log",
        255,
        "failed to open the log file '/nonexistent/a.log': No such file or directory (os error 2)",
    ),
    ("--log-output loki=http://127.0.0.1:1,foo=1", 255, "unknown loki config key foo"),
    ("--log-format x", 0, "there is no log format 'x', so it is text: use text, json or raw"),
    (
        "--console-output /nonexistent/x",
        255,
        "failed to open the log file '/nonexistent/x': No such file or directory (os error 2)",
    ),
    (
        "--config /nonexistent.json",
        104,
        r#"couldn't load the configuration from \"/nonexistent.json\": No such file or directory (os error 2)"#,
    ),
    ("--config .", 104, r#"couldn't load the configuration from \".\": Is a directory (os error 21)"#),
    (
        "--summary-export /nonexistent/x.json",
        255,
        "cannot write --summary-export '/nonexistent/x.json': the folder '/nonexistent' does not exist",
    ),
    // k6: waits for ever.
    ("--paused --address <>", 104, "a run that starts paused is resumed over the REST API, which is switched off"),
    (
        "--address nope",
        106,
        r#"the REST API cannot be served: invalid address \"nope\", use HOST:PORT such as localhost:6565"#,
    ),
    // k6: 0.
    (
        "--address 127.0.0.1:99999",
        106,
        r#"the REST API cannot be served: invalid address \"127.0.0.1:99999\", use HOST:PORT such as localhost:6565"#,
    ),
];

/// Variables.
const VARIABLES: &[Row] = &[
    ("K6_NO_USAGE_REPORT=maybe", 104, "env var 'K6_NO_USAGE_REPORT' is not a valid boolean value"),
    ("K6_FEATURES=nope", 104, "unknown feature flag 'nope', use native-histograms, merge-run-tags, freeze-env"),
    ("K6_FEATURES=freezeenv", 104, "unknown feature flag 'freezeenv', did you mean freeze-env?"),
    ("K6_ITERATION=5", 0, "unknown variable K6_ITERATION ignored; did you mean K6_ITERATIONS?"),
    ("K6_HTTP_DEBUG=half", 104, r#"K6_HTTP_DEBUG: \"half\" is not a mode: use full or headers"#),
    ("K6_VUS=x", 104, r#"K6_VUS: \"x\" is not a whole number"#),
    ("K6_DURATION=x", 104, r#"K6_DURATION: time: invalid duration \"x\""#),
    (
        "K6_ITERATIONS=-1",
        104,
        "scenario default has configuration errors: the number of iterations (-1) can't be less than the number of VUs (1)",
    ),
    ("K6_STAGES=x:y", 104, r#"K6_STAGES: time: invalid duration \"x\""#),
    ("K6_PAUSED=maybe", 104, r#"K6_PAUSED: \"maybe\" is not a valid boolean value: use true or false"#),
    ("K6_NO_SETUP=2", 104, r#"K6_NO_SETUP: \"2\" is not a valid boolean value: use true or false"#),
    // k6: 255.
    ("K6_DNS=ttl=x", 104, "K6_DNS: invalid DNS TTL: x"),
    ("K6_BLACKLIST_IPS=x", 104, "K6_BLACKLIST_IPS: failed to parse CIDR 'x': invalid CIDR address: x"),
    // k6: 0.
    ("K6_HOSTS=x", 104, "K6_HOSTS: expected value at line 1 column 1"),
    ("K6_THRESHOLDS={", 104, "K6_THRESHOLDS: EOF while parsing an object at line 1 column 1"),
    ("K6_TAGS=a", 104, r#"K6_TAGS: invalid map item: \"a\""#),
    // k6: 255.
    ("K6_TLSAUTH=x", 104, "K6_TLSAUTH: expected value at line 1 column 1"),
    ("K6_TLS_CIPHER_SUITES=x", 104, "K6_TLS_CIPHER_SUITES: unknown cipher suite 'x'"),
    ("K6_SUMMARY_MODE=x", 255, "invalid summary mode"),
    // k6: 0.
    ("K6_SUMMARY_TIME_UNIT=h", 104, "K6_SUMMARY_TIME_UNIT: invalid summary time unit 'h', use 's', 'ms' or 'us'"),
    (
        "K6_COMPATIBILITY_MODE=x",
        255,
        r#"invalid compatibility mode \"x\". Use: \"extended\", \"base\", \"experimental_enhanced\""#,
    ),
    ("K6_TYPE=x", 255, "could not initialize 'script.js': unknown or unspecified test type 'x'"),
    ("K6_OUT=x", 255, "invalid output type 'x', available types are: "),
    ("K6_LOG_OUTPUT=x", 255, "unsupported log output 'x'"),
    // k6: 104.
    (
        "K6_LINGER=maybe",
        104,
        r#"env var 'K6_LINGER' is not a valid boolean value: strconv.ParseBool: parsing \"maybe\": invalid syntax"#,
    ),
    (
        "K6_INCLUDE_SYSTEM_ENV_VARS=maybe",
        255,
        r#"env var 'K6_INCLUDE_SYSTEM_ENV_VARS' is not a valid boolean value: strconv.ParseBool: parsing \"maybe\": invalid syntax"#,
    ),
    ("K6_SETUP_TIMEOUT=x", 104, r#"K6_SETUP_TIMEOUT: time: invalid duration \"x\""#),
    (
        "K6_CONFIG=/nonexistent.json",
        104,
        r#"couldn't load the configuration from \"/nonexistent.json\": No such file or directory (os error 2)"#,
    ),
    // k6: 0.
    ("ONRUSH_THREADS=x", 255, r#"invalid number of threads \"x\", use 1 to "#),
];

/// Config files.
const CONFIG_FILES: &[Row] = &[
    ("{", 104, r#"couldn't parse the configuration from \"c.json\": EOF while parsing an object at line 1 column 1"#),
    ("", 104, r#"couldn't parse the configuration from \"c.json\": EOF while parsing a value at line 1 column 0"#),
    ("5", 104, r#"couldn't parse the configuration from \"c.json\": options: expected an object, got 5"#),
    (r#"{"vus": "x"}"#, 104, r#"couldn't parse the configuration from \"c.json\": vus: \"x\" is not a whole number"#),
    (
        r#"{"scenarios": {"a": {}}}"#,
        104,
        r#"couldn't parse the configuration from \"c.json\": scenario 'a' doesn't have a specified executor type"#,
    ),
    (
        r#"{"duration": "x"}"#,
        104,
        r#"couldn't parse the configuration from \"c.json\": duration: time: invalid duration \"x\""#,
    ),
    (r#"{"nope": 1, "iterations": 1}"#, 0, "the configuration file c.json has unknown fields: nope"),
];

/// Scripts.
const SCRIPTS: &[Row] = &[
    ("", 255, "no exported functions in script"),
    ("export default", 107, "script.js:1:15: Unexpected token"),
    ("let a = ;", 107, "script.js:1:9: Unexpected token"),
    ("export default function () {", 107, "script.js:1:29: Expected `}` but found `EOF`"),
    (r#"throw new Error("boom")"#, 107, "Error: boom"),
    ("undefinedFunction(); export default function () {}", 107, "ReferenceError: undefinedFunction is not defined"),
    ("export const x = 1;", 255, "no exported functions in script"),
    ("export default 5;", 255, "no exported functions in script"),
    (
        "import './nope.js'; export default function () {}",
        107,
        r#"script.js:1:8: The moduleSpecifier \"./nope.js\" couldn't be found on local disk. Make sure that you've specified the right path to the file. If you'r"#,
    ),
    (
        "import x from 'lodash'; export default function () {}",
        107,
        r#"script.js:1:15: The moduleSpecifier \"lodash\" couldn't be recognised as something k6 supports."#,
    ),
    (
        "import http from 'k6/htp'; export default function () {}",
        107,
        r#"script.js:1:18: unknown modules [\"k6/htp\"] were tried to be loaded, but couldn't - this likely means automatic extension resolution is required or a"#,
    ),
    // k6: 0, as it compiles the expression when it is first reached.
    ("export default function () { return /[b-a]/ }", 107, "script.js:1:37: invalid class range"),
    ("class A { accessor x = 1 } export default function () {}", 107, "script.js:1:20: expecting ';'"),
    // k6: 0.
    (
        "import { nope } from 'k6/http'; export default function () {}",
        107,
        r#"SyntaxError: The requested module \"k6/http\" does not provide an export named \"nope\"\n\tat file:///"#,
    ),
    (
        "import x from 'http://h/a.js'; export default function () {}",
        107,
        "script.js:1:15: only supported schemes for imports are file and https, http://h/a.js has `http`",
    ),
    ("open('nope.txt'); export default function () {}", 107, "GoError: stat"),
    ("open('.'); export default function () {}", 107, r#"GoError: open() can't be used with directories, path: \""#),
    ("open(''); export default function () {}", 107, "GoError: open() can't be used with an empty filename"),
    ("export function setup() { throw new Error('boom') } export default function () {}", 107, "Error: boom"),
    ("export const setup = 5; export default function () {}", 255, "exported 'setup' must be a function"),
    ("export const teardown = 'x'; export default function () {}", 255, "exported 'teardown' must be a function"),
    (
        "export const options = { vus: 1, vus: 2, }; export default function () {} export default function () {}",
        107,
        "script.js:1:52: A module cannot have multiple default exports.",
    ),
    (
        "import { Counter } from 'k6/metrics'; new Counter('a b'); export default function () {}",
        107,
        "GoError: Invalid metric name: 'a b'. Metric names must only include up to 128 ASCII letters, numbers, or underscores and start with a letter or an und",
    ),
    (
        "import { Counter, Trend } from 'k6/metrics'; new Counter('mine'); new Trend('mine'); export default function () {}",
        107,
        "GoError: metric 'mine' already exists but with type counter, instead of trend",
    ),
    // k6: 255.
    (
        "const a = {}; a.a = a; export const options = a; export default function () {}",
        107,
        "TypeError: circular reference",
    ),
    (
        "import { SharedArray } from 'k6/data'; new SharedArray('a', () => 5); export default function () {}",
        107,
        "GoError: only arrays can be made into SharedArray",
    ),
    (
        "module.exports = 5; import 'k6';",
        107,
        r#"script.js:1:1: you are trying to access identifier \"module\", this likely is due to mixing ECMAScript Modules (ESM) and CommonJS syntax. This isn't s"#,
    ),
];

#[test]
fn options() {
    let script = |options: &str| Program::script(&["-q"], &format!("export const options = {options}; {EMPTY}"));
    check(OPTIONS, script);
    check(WARNINGS, script);
}

#[test]
fn flags() {
    check(FLAGS, |flags| {
        // An empty value is written <>.
        let flags: Vec<&str> = flags.split(' ').map(|flag| if flag == "<>" { "" } else { flag }).collect();
        Program::script(&flags, EMPTY)
    });
}

#[test]
fn variables() {
    check(VARIABLES, |variable| {
        let (name, value) = variable.split_once('=').expect("NAME=VALUE");
        Program::script(&["-q"], EMPTY).env(name, value)
    });
}

#[test]
fn config_files() {
    check(CONFIG_FILES, |text| Program::script(&["-q", "--config", "c.json"], EMPTY).file("c.json", text));
}

#[test]
fn scripts() {
    check(SCRIPTS, |script| Program::script(&["-q"], script));
}

#[test]
fn files() {
    let check = |program: Program, code: i32, message: &str| {
        program.run().expect(code).expect_log(message);
    };
    let run = |args: &[&str]| Program::new(&[&["run"], args].concat());
    check(run(&["nope.js"]), 255, "couldn't be found on local disk");
    check(run(&[]), 255, "accepts 1 arg(s), received 0");
    check(run(&["a.js", "b.js"]), 255, "accepts 1 arg(s), received 2");
    check(run(&["folder"]).file("folder/a.js", EMPTY), 255, "is a directory");
    check(run(&["a.js"]).bytes("a.js", b"// \xff\n"), 107, "is not valid UTF-8 (line 1)");
    check(run(&["-"]).stdin_bytes(b"\n\n\xff"), 255, "it is not valid UTF-8 (line 3)");
    check(run(&["-"]).stdin("let"), 107, "Unexpected");
    check(
        run(&["--config", "c.json", "a.js"]).file("a.js", EMPTY).bytes("c.json", b"\xff"),
        104,
        "couldn't load the configuration",
    );
    check(
        Program::new(&["archive", "-O", "no/where.tar", "a.js"]).file("a.js", EMPTY),
        255,
        "failed to write the archive to 'no/where.tar'",
    );
    check(
        Program::new(&["archive", "a.js"]).file("a.js", "export const options = { vus: 'x' };"),
        255,
        "no exported functions",
    );
    check(Program::new(&["inspect", "nope.js"]), 255, "couldn't be found on local disk");
    check(
        Program::new(&["deps", "a.js"]).file("a.js", "import './b.js'"),
        107,
        "\\\"./b.js\\\" couldn't be found on local disk",
    );
    check(Program::new(&["new", "no/where.js"]), 255, "failed to write 'no/where.js'");
    check(Program::new(&["new", "--template", "./nope.js"]), 255, "failed to read the template './nope.js'");
    check(Program::new(&["frobnicate"]), 255, "unknown command \\\"frobnicate\\\" for \\\"onrush\\\"");
    check(Program::new(&["cloud"]), 255, "the command \\\"cloud\\\" of k6 is not available yet");
}

/// The point of the table.
#[test]
fn there_are_enough_of_them() {
    let tables = [OPTIONS, WARNINGS, FLAGS, VARIABLES, CONFIG_FILES, SCRIPTS];
    assert!(tables.iter().map(|rows| rows.len()).sum::<usize>() >= 180);
}
