//! On a terminal: progress that is drawn over itself, log lines above it, colours unless unwanted.

use std::{
    fs::{File, OpenOptions},
    io::Read as _,
    process::{Command, Stdio},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

/// Runs a script on a terminal of 100 columns and returns what came out, and what the terminal shows at the end.
fn run(script: &str, env: &[(&str, &str)]) -> (String, Vec<String>) {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("script.js"), script).expect("a file");
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal");
    let name = ptsname(&master, Vec::new()).expect("a terminal").into_string().expect("a path");
    let slave = || OpenOptions::new().read(true).write(true).open(&name).expect("a terminal");
    let first = slave();
    tcsetwinsize(&first, Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).expect("a terminal");
    let mut child = Command::new(env!("CARGO_BIN_EXE_onrush"))
        .args(["run", "script.js"])
        .current_dir(dir.path())
        .env_clear()
        .env("TERM", "xterm")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .stdout(slave())
        .stderr(slave())
        .spawn()
        .expect("it starts");
    drop(first);
    let mut bytes = Vec::new();
    let mut master = File::from(master);
    let mut piece = [0; 4096];
    // The last process to close the terminal ends this with an error.
    while let Ok(count @ 1..) = master.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    assert!(child.wait().expect("it ends").success());
    let text = String::from_utf8(bytes).expect("UTF-8");
    let screen = screen(&text);
    (text, screen)
}

/// What stays on the terminal: knows lines that are written over, cursor up, erase to the end of line and screen.
fn screen(text: &str) -> Vec<String> {
    let mut rows: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0, 0);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if row == rows.len() {
            rows.push(Vec::new());
        }
        match char {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                column = 0;
            }
            '\x1b' => {
                let sequence: String =
                    std::iter::from_fn(|| chars.next_if(|char| !char.is_ascii_alphabetic())).collect();
                match chars.next() {
                    Some('A') => row -= sequence.trim_start_matches('[').parse::<usize>().expect("lines up"),
                    Some('J') => {
                        // Some terminals keep what is erased from the top on, and fill their history with it.
                        assert!(row > 0, "erased from the top");
                        rows[row].truncate(column);
                        rows.truncate(row + 1);
                    }
                    Some('K') => rows[row].truncate(column),
                    _ => {}
                }
            }
            other => {
                if column < rows[row].len() {
                    rows[row][column] = other;
                } else {
                    rows[row].push(other);
                }
                column += 1;
            }
        }
    }
    rows.into_iter().map(|row| row.into_iter().collect()).collect()
}

const SCRIPT: &str = "
    import { sleep } from 'k6';
    export const options = { vus: 2, duration: '1s' };
    export default function () { console.log('line ' + __ITER); sleep(0.4); }";

#[test]
fn progress_is_drawn_over_itself() {
    let (text, screen) = run(SCRIPT, &[]);
    let drawn = text.matches("running (").count();
    assert!(drawn >= 3, "{text}");
    // Of all that was drawn, one block stays, below everything else.
    let running: Vec<&String> = screen.iter().filter(|line| line.starts_with("running (")).collect();
    assert_eq!(running.len(), 1, "{screen:#?}");
    let last: Vec<&String> = screen.iter().filter(|line| !line.is_empty()).rev().take(2).collect();
    assert!(last[1].starts_with("running (0") && last[0].starts_with("default ✓ [ 100% ] 2 VUs  1s"), "{screen:#?}");
    // Log lines are all there, each whole, in their columns.
    let logged: Vec<&String> = screen.iter().filter(|line| line.starts_with("INFO[00")).collect();
    // Two VUs and three iterations each, unless the machine is busy.
    assert!((2..=6).contains(&logged.len()), "{screen:#?}");
    assert_eq!(logged.len(), text.matches("] line ").count(), "{screen:#?}");
    assert!(logged.iter().all(|line| line.contains("] line ") && line.ends_with(" source=console")), "{screen:#?}");
    assert!(text.contains("\x1b[36mINFO\x1b[0m[00") && text.contains("[=") && text.contains(">\x1b[2m-"), "{text}");
}

#[test]
fn colours_can_be_unwanted() {
    let (text, screen) = run("export default function () {}", &[("NO_COLOR", "")]);
    assert!(!text.contains("\x1b[3") && !text.contains("\x1b[1m") && !text.contains("\x1b[2m"), "{text}");
    assert!(screen.iter().any(|line| line.contains("vu layout: dense (default)")), "{screen:#?}");
    assert!(screen.iter().any(|line| line.contains("iterations...........: 1")), "{screen:#?}");
}
