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
    assert!(console.text("console.txt").contains("msg=here"));
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
fn progress_without_a_terminal_comes_every_second() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 3, duration: '1s' }; export default function () { sleep(0.4); }";
    let done = Program::script(&[], script).run().expect(0);
    let done = done.expect_output("     scenarios: (100.00%) 1 scenario, 3 max VUs, 31s max duration (incl. graceful stop):\n              * default: 3 looping VUs for 1s (gracefulStop: 30s)\n");
    let done = done.expect_output("\nrunning (0");
    assert!(done.stdout.ends_with("\ndefault ✓ [ 100% ] 3 VUs  1s\n"), "{}", done.stdout);
}
