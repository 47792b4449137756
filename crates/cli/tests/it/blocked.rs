//! Places that take nothing: pipes nobody reads, terminals that were stopped, full disks. Nothing of that stops a VU, a
//! signal or the end of the program.

use std::{
    fs::File,
    io::{PipeReader, PipeWriter, Read as _, Write as _},
    os::fd::AsFd as _,
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, mknodat},
    process::Signal,
};

use crate::program::Program;

/// Logs more than a pipe and all queues behind it hold, each line another one, and says how far it came.
const FLOOD: &str = "
    import { Counter } from 'k6/metrics';
    export const options = { vus: 2, iterations: 2000, summaryTrendStats: ['count'] };
    const pad = 'x'.repeat(64 * 1024);
    export default function () { console.log(`${__VU} ${__ITER} ${pad}`); }";

/// A pipe that is full.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let flags = fcntl_getfl(&writer).expect("flags");
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).expect("flags");
    while writer.write(&[b'x'; 4096]).is_ok() {}
    // The program gets a pipe like any other.
    fcntl_setfl(&writer, flags).expect("flags");
    (reader, writer)
}

fn fifo(program: &Program, name: &str) -> File {
    let path = program.path(name);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    // Open both ways: there is a reader, and it does not read.
    File::options().read(true).write(true).open(path).expect("a pipe")
}

#[test]
fn a_log_nobody_reads_stops_no_vu() {
    let (reader, writer) = full_pipe();
    let done = Program::script(&["-q"], FLOOD).stderr(writer).run().expect(0);
    done.expect_output("iterations...........: 2000");
    drop(reader);
}

/// Once somebody reads again, what is missing is told.
#[test]
fn lines_that_were_dropped_are_counted() {
    let (mut reader, writer) = full_pipe();
    let script = format!("{FLOOD} export function handleSummary() {{ return {{ stdout: 'over\\n' }}; }}");
    let mut running = Program::script(&["-q"], &script).stderr(writer).start();
    running.wait_for("over");
    let log = std::thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("UTF-8");
        text
    });
    running.wait().expect(0);
    let text = log.join().expect("no panic");
    let told = text
        .lines()
        .find(|line| line.contains("they came faster than they could be written"))
        .expect("a line that tells it");
    let dropped: usize = told
        .split_once("msg=\"")
        .and_then(|(_, rest)| rest.split_once(' '))
        .and_then(|(count, _)| count.parse().ok())
        .expect("a number");
    // All that was logged but that line: what the script said, and the verdict on the measurement.
    let shown = text.lines().filter(|line| *line != told).count();
    assert_eq!(shown + dropped, 2000 + 1, "{told}");
}

#[test]
fn signals_need_no_reader() {
    let script = "
        import { sleep } from 'k6';
        export const options = { vus: 2, duration: '60s' };
        export default function () { console.log('x'.repeat(64 * 1024) + __ITER); sleep(0.01); }
        export function teardown() { sleep(50); }";
    let (reader, writer) = full_pipe();
    let mut running = Program::script(&[], script).stderr(writer).start();
    running.wait_for("running (0m0");
    running.signal(Signal::INT);
    running.wait_for("2 interrupted iterations");
    running.signal(Signal::INT);
    running.wait().expect(105);
    // The same with nothing read at all.
    let (out_reader, out) = full_pipe();
    let (_err_reader, err) = full_pipe();
    let running = Program::script(&["--verbose"], script).stdout(out).stderr(err).start();
    running.signal_until_it_ends(Signal::INT).expect(105);
    drop((reader, out_reader));
}

/// Log files, `--out` and `--summary-export` may be named pipes.
#[test]
fn named_pipes_nobody_reads_stop_nothing() {
    let check = |flags: &[&str], script: &str, told: &str| {
        let program = Program::script(flags, script);
        let reader = fifo(&program, "pipe");
        let done = program.run().expect(0).expect_log(told);
        done.expect_output("iterations...........: 2000");
        drop(reader);
    };
    check(&["-q", "--log-output=file=pipe"], FLOOD, "the log file 'pipe' could not be written to its end");
    check(&["-q", "--console-output=pipe"], FLOOD, "the log file 'pipe' could not be written to its end");
    let quiet = "export const options = { vus: 2, iterations: 2000 };
        export default function () {}";
    check(&["-q", "--out=json=pipe"], quiet, "took nothing for 30 s and were given up: they lack the last");
    let program = Program::script(&["-q", "--summary-export=pipe"], quiet);
    mknodat(CWD, program.path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    program.run().expect(255).expect_log("could not save 'pipe': it takes nothing; does anybody read it?");
}

/// Everybody who shares a pipe can make it non-blocking, node.js for one.
#[test]
fn a_pipe_that_is_non_blocking_gets_everything() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let flags = fcntl_getfl(writer.as_fd()).expect("flags");
    fcntl_setfl(writer.as_fd(), flags | OFlags::NONBLOCK).expect("flags");
    let script = "
        export default function () {}
        export function handleSummary() { return { stdout: 'x'.repeat(1 << 20) }; }";
    let running = Program::script(&["-q"], script).stdout(writer).start();
    let text = std::thread::spawn(move || std::io::read_to_string(reader).expect("UTF-8"));
    running.wait().expect(0);
    assert_eq!(text.join().expect("no panic").len(), 1 << 20);
}

#[test]
fn a_flood_of_one_line_is_folded() {
    let script = "
        export const options = { vus: 2, iterations: 3000 };
        export default function () { console.warn('the same'); console.log(`another ${__VU} ${__ITER}`); }";
    let done = Program::script(&["-q", "--no-summary"], script).run().expect(0);
    let same = done.stderr.lines().filter(|line| line.contains("msg=\"the same\"")).count();
    assert_eq!(done.stderr.lines().filter(|line| line.contains("another")).count(), 3000);
    // One interval is over sooner or later on a busy machine; each has its own count.
    let more: usize = done
        .stderr
        .lines()
        .filter_map(|line| line.split_once("… and ")?.1.split_once(" more like this: the same"))
        .map(|(count, _)| count.replace(',', "").parse::<usize>().expect("a number"))
        .sum();
    assert_eq!((same + more, same >= 10, same < 100), (3000, true, true), "{same} {more}");
    let all = Program::script(&["-q", "--no-summary", "--verbose"], script).run().expect(0);
    assert_eq!(all.stderr.matches("msg=\"the same\"").count(), 3000);
    let raw = Program::script(&["-q", "--no-summary", "--log-format=raw"], script).run().expect(0);
    assert_eq!(raw.stderr.matches("the same").count(), 3000);
}
