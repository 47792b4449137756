//! What is printed where, and how.

use crate::program::Program;

const SCRIPT: &str =
    "export default function () { console.log('one', { a: 1 }); console.debug('two'); console.warn('<three>'); }";

#[test]
fn formats() {
    let done = Program::script(&["-q", "--no-summary"], SCRIPT).run().expect(0);
    assert_eq!(done.stdout, "");
    let done = done
        .expect_log("level=info msg=\"one { a: 1 }\" source=console\n")
        .expect_log("level=warning msg=\"<three>\" source=console\n");
    assert!(!done.stderr.contains("two"), "{}", done.stderr);
    Program::script(&["-q", "-v"], SCRIPT).run().expect_log("level=debug msg=two source=console\n");
    let json = Program::script(&["-q", "--no-summary", "--log-format=json"], SCRIPT).run().expect(0);
    json.expect_log("{\"level\":\"info\",\"msg\":\"one { a: 1 }\",\"source\":\"console\",\"time\":\"")
        .expect_log("\\u003cthree\\u003e");
    let raw = Program::script(&["-q", "--no-summary"], SCRIPT).env("K6_LOG_FORMAT", "raw").run().expect(0);
    assert_eq!(raw.stderr, "one { a: 1 }\n<three>\n");
}

#[test]
fn destinations() {
    let none = Program::script(&["-q", "--no-summary", "--log-output=none"], SCRIPT).run().expect(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", ""));
    let stdout = Program::script(&["-q", "--no-summary", "--log-output=stdout"], SCRIPT).run().expect(0);
    assert_eq!((stdout.stdout.lines().count(), stdout.stderr.as_str()), (2, ""));
    let file = Program::script(&["-q", "--no-summary", "--log-output=file=log.txt,level=warning"], SCRIPT)
        .file("log.txt", "kept\n")
        .run()
        .expect(0);
    assert_eq!(file.stderr, "");
    let text = file.text("log.txt");
    assert!(text.starts_with("kept\n") && text.contains("<three>") && !text.contains("one"), "{text}");
    let console = Program::script(
        &["-q", "--no-summary", "--console-output=console.txt"],
        "export default function () { console.log('here'); throw new Error('there'); }",
    )
    .run();
    let text = console.text("console.txt");
    assert!(text.ends_with("level=info msg=here\n"), "{text}");
    assert!(console.stderr.contains("there") && !console.stderr.contains("here source=console"), "{}", console.stderr);
}

#[test]
fn a_quiet_run_prints_its_summary_alone() {
    let done = Program::script(&["-q"], "export default function () {}").run().expect(0);
    assert!(done.stdout.starts_with("\n\n  █ TOTAL RESULTS"), "{}", done.stdout);
    assert!(!done.stdout.contains("running"), "{}", done.stdout);
    assert!(!done.stdout.contains('\x1b'));
}

#[test]
fn progress_without_a_terminal() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 3, duration: '1s' }; export default function () { sleep(0.4); }";
    let done = Program::script(&[], script).run().expect(0);
    let done = done.expect_output("     scenarios: (100.00%) 1 scenario, 3 max VUs, 31s max duration (incl. graceful stop):\n              * default: 3 looping VUs for 1s (gracefulStop: 30s)\n");
    let done = done.expect_output("\nrunning (0");
    assert!(done.stdout.ends_with("\ndefault ✓ [ 100% ] 3 VUs  1s\n"), "{}", done.stdout);
}

#[test]
fn what_log_outputs_cannot_be_is_told() {
    let check = |flag: &str, text: &str| {
        Program::script(&["-q", flag], SCRIPT).run().expect(255).expect_log(text);
    };
    check(
        "--log-output=loki=http://h,foo=1",
        "the keys are limit, level, pushPeriod, msgMaxSize, profile, allowedLabels, label.NAME and header.NAME",
    );
    check("--log-output=loki=localhost:3100", "couldn't parse the URL of loki \\\"localhost:3100\\\"");
    check("--log-output=file", "write file=PATH");
    check("--log-output=syslog", "use stderr, stdout, none, file=PATH or loki=URL");
    check("--log-output=file=/", "failed to open the log file '/'");
    check("--console-output=nowhere/x", "failed to open the log file 'nowhere/x'");
}

/// An empty path is none, as in k6: scripts that start the program fill it from a variable.
#[test]
fn empty_paths_are_none() {
    let flags = ["-q", "--console-output=", "--summary-export=", "--out="];
    Program::script(&flags, SCRIPT).run().expect(0).expect_log("msg=\"one { a: 1 }\"").expect_output("TOTAL RESULTS");
}

/// Lines reach the file although there is always something else to print, and few lines to fill a buffer.
#[test]
fn a_killed_run_keeps_its_log() {
    let script = "
        import { sleep } from 'k6';
        export const options = { vus: 1, duration: '60s' };
        export default function () { console.log(`line ${__ITER}`); sleep(0.2); }";
    for flag in ["--log-output=file=log.txt", "--console-output=log.txt"] {
        let mut running = Program::script(&[flag], script).start();
        running.wait_for("running (0m10");
        running.signal(rustix::process::Signal::KILL);
        let done = running.wait();
        let text = done.text("log.txt");
        assert!(text.contains("line 5") && text.ends_with('\n'), "{text}");
    }
}

/// Full disks, for every place output goes to: one error that names the place, and how much is missing.
#[test]
fn full_disks_are_told() {
    const MANY: &str = "
        export const options = { vus: 2, iterations: 200 };
        export default function () { console.log('x'.repeat(1000)); }";
    let done = Program::script(&["-q", "--no-summary", "--log-output=file=/dev/full"], MANY).run().expect(0);
    assert_eq!(done.stderr.lines().count(), 2, "{}", done.stderr);
    done.expect_log("failed to write the log file '/dev/full'\" error=\"No space left on device")
        .expect_log("level=warning msg=\"the log file '/dev/full' lacks 200 lines\"");
    let done = Program::script(&["-q", "--no-summary", "--console-output=/dev/full"], MANY).run().expect(0);
    done.expect_log("the log file '/dev/full' lacks 200 lines");
    let done = Program::script(&["-q", "--summary-export=/dev/full"], MANY).run().expect(255);
    done.expect_log("could not save '/dev/full': No space left on device");
}

#[test]
fn a_standard_output_that_cannot_be_written_is_told() {
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("a full device");
    let script = "export default function () {}";
    let lost = "failed to write to the standard output; what belongs there is lost\" error=\"No space left on device";
    let done = Program::script(&["-q"], script).stdout(full()).run().expect(0).expect_log(lost);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    let done = Program::script(&["-q", "--no-summary", "--out=json"], script).stdout(full()).run().expect(0);
    let done = done.expect_log("an output failed and gets no more samples");
    done.expect_log("the output json(stdout) failed: it lacks 4 samples or more");
    // Nobody reads any more: `onrush run … | head`.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    Program::script(&[], script).stdout(writer).run().expect(0).expect_log("error=\"Broken pipe");
}

/// A reader that is there and does not read: the program ends all the same, and says that something is missing.
#[test]
fn a_reader_that_does_not_read_is_told_of() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let script = "
        export default function () {}
        export function handleSummary() { return { stdout: 'x'.repeat(1 << 20) }; }";
    let done = Program::script(&["-q"], script).stdout(writer).run().expect(0);
    done.expect_log("the output could not be printed to its end: nobody reads it");
    drop(reader);
}
