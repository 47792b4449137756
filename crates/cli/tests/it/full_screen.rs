//! `--ui tui` on a real terminal, which is tmux's: what it shows, what keys do, and that the terminal is what it was in the
//! end, however the run ends. Without tmux the tests say so and pass.

#![expect(clippy::print_stderr, reason = "says what is skipped, and why")]

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::program::Program;

/// A terminal with a shell in it that runs the program once; dropping it ends both.
struct Tmux {
    folder: TempDir,
}

const SCRIPT: &str = "
    import { sleep } from 'k6';
    import { Counter } from 'k6/metrics';
    export const options = { scenarios: { visitors: { executor: __ENV.EXECUTOR || 'constant-vus', vus: 10, duration: __ENV.DURATION || '50s', gracefulStop: __ENV.EXECUTOR ? undefined : '0s' } },
        thresholds: { iterations: ['rate>1'] } };
    export default function () { if (__ITER % 7 == 0) console.log('a\\u001b[31mline \\u202e' + __VU); sleep(0.1); }";

impl Tmux {
    /// A terminal of so many columns and rows.
    fn start(columns: u16, rows: u16, flags: &str) -> Option<Self> {
        if !Path::new("/usr/bin/tmux").exists() {
            eprintln!("skipped: tmux is missing (apt-get install tmux)");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(folder.path().join("script.js"), SCRIPT).expect("a file");
        let onrush = env!("CARGO_BIN_EXE_onrush");
        // Ctrl+C reaches the shell as well, which is to see how the run ends.
        let line = format!(
            "trap : INT; ulimit -c 0; echo before; {onrush} run --address '' --ui tui {flags} script.js; echo \"exit $?\"; stty -a | tr ' ;' '\\n\\n' | grep -x -e '-*icanon' -e '-*echo' -e '-*isig'; echo THE-END; exec sleep 100"
        );
        std::fs::write(folder.path().join("run.sh"), line).expect("a file");
        let tmux = Self { folder };
        let size = [columns.to_string(), rows.to_string()];
        tmux.command(&["-f", "/dev/null", "new-session", "-d", "-x", &size[0], "-y", &size[1], "sh run.sh"]);
        Some(tmux)
    }

    fn command(&self, words: &[&str]) -> String {
        let done = Command::new("/usr/bin/tmux")
            .arg("-S")
            .arg(self.folder.path().join("tmux"))
            .args(words)
            .current_dir(self.folder.path())
            .env_clear()
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .output()
            .expect("tmux starts");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.command(&["capture-pane", "-p"])
    }

    /// Waits until the screen has all of these.
    fn expect(&self, texts: &[&str]) -> String {
        Self::wait_for(texts, || self.screen())
    }

    /// The same with what has scrolled away.
    fn expect_printed(&self, texts: &[&str]) -> String {
        Self::wait_for(texts, || self.command(&["capture-pane", "-p", "-S", "-"]))
    }

    fn wait_for(texts: &[&str], screen: impl Fn() -> String) -> String {
        let until = Instant::now() + Duration::from_secs(40);
        loop {
            let screen = screen();
            if texts.iter().all(|text| screen.contains(text)) {
                return screen;
            }
            assert!(Instant::now() < until, "{texts:?} is not there:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn press(&self, keys: &[&str]) {
        self.command(&[&["send-keys"], keys].concat());
    }

    /// Whether something covers the terminal, and whether it has a cursor.
    fn state(&self) -> String {
        self.command(&["display-message", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}"]).trim().to_owned()
    }

    /// The process of the run.
    fn onrush(&self) -> String {
        let shell = self.command(&["display-message", "-p", "#{pane_pid}"]);
        let path = format!("/proc/{0}/task/{0}/children", shell.trim());
        std::fs::read_to_string(path).expect("a process").trim().to_owned()
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("/bin/kill").args([name, &self.onrush()]).status().expect("kill").success());
    }

    /// The terminal is what it was, and what was printed before is still there.
    fn expect_restored(&self, texts: &[&str]) {
        let screen = self.expect_printed(&[texts, &["THE-END"]].concat());
        assert_eq!(self.state(), "0 1 1", "{screen}");
        for mode in ["icanon", "echo", "isig"] {
            assert!(screen.lines().any(|line| line == mode), "{mode}:\n{screen}");
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.command(&["kill-server"]);
    }
}

#[test]
fn it_shows_the_run_and_steers_it() {
    let Some(tmux) = Tmux::start(80, 24, "") else { return };
    let screen = tmux.expect(&["onrush running", "visitors", "holds: iterations rate>1", "iterations/s"]);
    assert_eq!(tmux.state(), "1 0 0", "{screen}");
    // What the script logs is in the log's panel, without its escapes.
    tmux.expect(&["a·[31mline 1"]);
    tmux.press(&["+"]);
    tmux.expect(&["vus of 'visitors' from 10 to 11 (terminal)", "11 VUs"]);
    tmux.press(&["t"]);
    tmux.expect(&["New target of 'visitors', now 11: _"]);
    tmux.press(&["1", "5", "Enter"]);
    tmux.expect(&["from 11 to 15", "15 VUs"]);
    tmux.press(&["?"]);
    tmux.expect(&["any key closes this"]);
    tmux.press(&["Escape"]);
    tmux.command(&["resize-window", "-x", "160", "-y", "50"]);
    tmux.expect(&["iteration_duration over time", "q leave the view"]);
    let screen = tmux.expect(&["whole run"]);
    assert!(screen.lines().any(|line| line.chars().count() > 120), "{screen}");
    // The ordinary progress goes on, below what was there.
    tmux.press(&["q"]);
    tmux.expect_printed(&["before", "running (", "15/15 VUs"]);
    assert_eq!(tmux.state(), "0 1 1");
    tmux.press(&["C-c"]);
    tmux.expect_restored(&["exit 105"]);
}

#[test]
fn the_run_is_paused_and_goes_on() {
    let Some(tmux) = Tmux::start(80, 24, "--paused --address 127.0.0.1:0") else { return };
    // It waits for somebody to start it.
    tmux.expect(&["onrush paused, p starts it"]);
    tmux.press(&["p"]);
    tmux.expect(&["onrush running", "resumed (terminal)", "a·[31mline"]);
    // What has begun does not stand still: the view says so, and the run goes on.
    tmux.press(&["p"]);
    tmux.expect(&["onrush running", "constant-vus executor 'visitors' doesn't support pause"]);
    tmux.press(&["a", "y"]);
    tmux.expect_restored(&["exit 105"]);
}

#[test]
fn what_is_controlled_from_outside_stands_still() {
    let Some(tmux) = Tmux::start(100, 24, "-e EXECUTOR=externally-controlled") else { return };
    tmux.expect(&["onrush running", "a·[31mline 1"]);
    tmux.press(&["p"]);
    tmux.expect(&["onrush paused"]);
    let standing = |screen: &str| screen.lines().find(|line| line.contains("onrush paused")).map(str::to_owned);
    std::thread::sleep(Duration::from_secs(1));
    let before = standing(&tmux.screen());
    std::thread::sleep(Duration::from_secs(2));
    assert!(before.is_some());
    assert_eq!(standing(&tmux.screen()), before);
    // The other key for the same.
    tmux.press(&["Space"]);
    tmux.expect(&["onrush running"]);
    tmux.press(&["a", "y"]);
    tmux.expect_restored(&["exit 105"]);
}

#[test]
fn an_end_from_within_is_confirmed_and_restores() {
    let Some(tmux) = Tmux::start(80, 60, "") else { return };
    tmux.expect(&["onrush running"]);
    tmux.press(&["a"]);
    tmux.expect(&["End the test now?"]);
    tmux.press(&["n"]);
    tmux.expect(&["onrush running"]);
    tmux.press(&["a", "y"]);
    tmux.expect_restored(&["before", "aborted from the terminal's view", "exit 105"]);
}

#[test]
fn signals_restore_the_terminal() {
    // In order, and at once.
    for (signals, expect) in [(&["-TERM"][..], "exit 105"), (&["-HUP"], "exit 105"), (&["-QUIT"], "exit 131")] {
        let Some(tmux) = Tmux::start(80, 60, "") else { return };
        tmux.expect(&["onrush running"]);
        signals.iter().for_each(|signal| tmux.signal(signal));
        tmux.expect_restored(&["before", expect]);
    }
}

#[test]
fn the_planned_end_restores_the_terminal() {
    let Some(tmux) = Tmux::start(100, 60, "-e DURATION=6s --summary-mode full") else { return };
    tmux.expect(&["onrush running"]);
    tmux.press(&["C-z"]);
    // Nobody could resume it here, so it is not stopped, and the view comes back.
    tmux.expect(&["onrush running"]);
    // The summary, and a picture of how long iterations took; what was held is above.
    tmux.expect_restored(&["DURATIONS: iteration_duration", "exit 0"]);
}

#[test]
fn without_a_terminal_it_says_so() {
    let script = "export default function () {}";
    let done = Program::script(&["--ui", "tui"], script).run().expect(255);
    done.expect_log("--ui tui needs a terminal, and the standard output stream is none");
    Program::script(&["--ui", "tui", "-q"], script).run().expect(255).expect_log("--quiet wants none");
    Program::script(&["--ui", "curses"], script).run().expect(255).expect_log("curses");
}
