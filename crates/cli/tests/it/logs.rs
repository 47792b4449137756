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

/// A Loki for one program: hands out each request it gets, after answering it or not.
fn loki(answers: bool) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/loki/api/v1/push", listener.local_addr().expect("bound"));
    let (sender, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || serve(stream, answers, &sender));
        }
    });
    (url, requests)
}

fn serve(
    stream: std::net::TcpStream,
    answers: bool,
    requests: &std::sync::mpsc::Sender<String>,
) -> std::io::Result<()> {
    use std::io::{BufRead as _, Read as _, Write as _};
    let mut reader = std::io::BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line)? > 2 {
            head.push_str(&line);
            line.clear();
        }
        if head.is_empty() {
            return Ok(());
        }
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let _ = requests.send(format!("{head}\n{}", String::from_utf8_lossy(&body)));
        if answers {
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
        }
    }
}

const CHATTY: &str = "
    export default function () { console.log('one'); console.debug('no'); for (let i = 0; i < 10; i++) console.error('x'.repeat(20) + i); throw new Error('boom'); }";

#[test]
fn logs_go_to_loki() {
    let (url, requests) = loki(true);
    let output =
        format!("--log-output=loki={url},limit=3,pushPeriod=1h,label.foo=bar,header.X-Scope-OrgID=me,msgMaxSize=10");
    let done = Program::script(&["-q", "--no-summary", &output], CHATTY).run().expect(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let all: Vec<String> = requests.try_iter().collect();
    let text = all.concat();
    assert!(
        text.starts_with("POST /loki/api/v1/push HTTP/1.1\r\n") && text.contains("X-Scope-Orgid: me\r\n"),
        "{text}"
    );
    assert!(text.contains(r#"{"stream":{"foo":"bar","level":"info","source":"console"},"values":[["#), "{text}");
    assert!(text.contains("Onrus... omitting "), "{text}");
    assert!(!text.contains("xxxx9"), "{text}");
}

#[test]
fn a_loki_that_never_answers_holds_nothing_up() {
    let (url, requests) = loki(false);
    let output = format!("--log-output=loki={url},pushPeriod=10ms");
    let done = Program::script(&["-q", "--no-summary", &output], CHATTY).run().expect(0);
    assert!(requests.try_iter().count() > 0);
    let done = done.expect_log("failed to push ").expect_log(" log lines did not reach Loki");
    assert!(!done.stderr.contains("xxx"), "{}", done.stderr);
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
    check("--log-output=syslog", "use stderr, stdout, none, file=PATH or loki=URL");
    check("--log-output=file=/", "failed to open the log file '/'");
    check("--console-output=nowhere/x", "failed to open the log file 'nowhere/x'");
}
