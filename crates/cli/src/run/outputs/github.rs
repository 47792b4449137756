//! What failed, where GitHub shows it: annotations (workflow commands in the log) and the summary of the job.

use std::{fs::OpenOptions, io::Write as _};

use super::{
    cases::{Suite, model, suites},
    markdown,
    output::Finished,
    place::Place,
};
use crate::{failure::Failure, flags::Flags, terminal::Message};

/// GitHub shows so many of a kind for a step.
const ANNOTATIONS_MAX: usize = 10;

/// Where somebody is told, beside the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Annotations {
    GitHub,
    Off,
}

impl Annotations {
    fn new(flags: &Flags) -> Self {
        let is_action = flags.env.get("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        match flags.text("annotations").as_deref() {
            Some("github") => Self::GitHub,
            Some("off") => Self::Off,
            _ if is_action => Self::GitHub,
            _ => Self::Off,
        }
    }
}

/// Checks the flag.
///
/// # Errors
/// 255 for what it cannot be.
pub(in crate::run) fn check(flags: &Flags) -> Result<(), Failure> {
    match flags.text("annotations").as_deref() {
        None | Some("auto" | "github" | "off") => Ok(()),
        Some(other) => {
            Err(Failure::other(format!("invalid --annotations \"{other}\"")).hint("use auto, github or off"))
        }
    }
}

/// Tells GitHub, where it runs the test.
pub(in crate::run) fn tell(finished: &Finished<'_>) {
    let cx = finished.cx;
    if Annotations::new(&cx.flags) == Annotations::Off {
        return;
    }
    let model = model(finished);
    let commands = commands(&suites(&model, finished), &Place::of(finished));
    // Standard output may be a file with the summary; the log is read as well.
    cx.terminal.send(Message::Stderr(commands.into_bytes()));
    let Some(path) = cx.flags.env.get("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else { return };
    let text = markdown::page(finished, &model);
    let appended =
        OpenOptions::new().append(true).create(true).open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    if let Err(error) = appended {
        cx.logger.warn(format!("could not add to the job summary {path}: {error}"));
    }
}

/// The line for a run that never began.
pub(crate) fn tell_failure(flags: &Flags, message: &str) -> Option<String> {
    let is_told = Annotations::new(flags) == Annotations::GitHub;
    is_told.then(|| format!("::error title=Run failed::{}\n", data(message)))
}

/// A line for each threshold that was crossed, each check that failed, for a measurement that means nothing, and for a run that
/// failed otherwise.
fn commands(suites: &[Suite], place: &Place) -> String {
    let mut text = String::new();
    for suite in suites {
        // Checks fail no run, and a measurement is about this machine.
        let (kind, title) = match suite.name {
            "thresholds" => ("error", "Threshold crossed"),
            "checks" => ("warning", "Check failed"),
            "run" => ("error", "Run failed"),
            _ => ("warning", "Measurement"),
        };
        let failures: Vec<_> = suite.failures().collect();
        let shown = if failures.len() > ANNOTATIONS_MAX { ANNOTATIONS_MAX - 1 } else { failures.len() };
        for (case, why) in &failures[..shown] {
            let said = match suite.name {
                "thresholds" => format!("{}: {why}", case.class),
                "checks" => format!("{}: {why}", case.name),
                _ => (*why).to_owned(),
            };
            // A threshold ends with what it counts.
            let written = case.name.split(" {").next().unwrap_or_default();
            let line = place.line(&case.name).or_else(|| place.line(written));
            let line = line.map_or_else(String::new, |line| format!(",line={line}"));
            let file = property(&place.file);
            text += &format!("::{kind} file={file}{line},title={}::{}\n", property(title), data(&said));
        }
        if shown < failures.len() {
            let more = format!("{} more in {}; the summary has all", failures.len() - shown, suite.name);
            text += &format!("::{kind} title={}::{}\n", property(title), data(&more));
        }
    }
    text
}

/// What a command says: it ends with its line.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command: it ends with a comma, and all of them with colons.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{
        super::cases::{Case, Outcome},
        *,
    };

    fn failed(class: &str, name: &str, why: &str) -> Case {
        Case { class: class.to_owned(), name: name.to_owned(), result: Outcome::Failed(why.to_owned()), observed: None }
    }

    #[test]
    fn nothing_breaks_out_of_a_command() {
        let place = Place::of_text("a,b:c.js", "");
        let thresholds = vec![
            failed("m{a:b}", "p(95)<1", "p(95)<1 was 2"),
            Case { class: String::new(), name: "ok".to_owned(), result: Outcome::Passed, observed: None },
        ];
        let suites = [
            Suite { name: "thresholds", cases: thresholds },
            Suite { name: "checks", cases: vec![failed("checks", "100%\r\n::error::x", "1 of 2 failed")] },
            Suite { name: "measurement", cases: vec![failed("onrush", "the measurement is valid", "INVALID: late")] },
        ];
        let expect = "::error file=a%2Cb%3Ac.js,title=Threshold crossed::m{a:b}: p(95)<1 was 2\n\
                      ::warning file=a%2Cb%3Ac.js,title=Check failed::100%25%0D%0A::error::x: 1 of 2 failed\n\
                      ::warning file=a%2Cb%3Ac.js,title=Measurement::INVALID: late\n";
        assert_eq!(commands(&suites, &place), expect);
    }

    #[test]
    fn no_more_than_are_shown() {
        let place = Place::of_text("s.js", "x\ncheck(r, { 'c 3': f })");
        let cases = (0..25).map(|index| failed("checks", &format!("c {index}"), "1 of 1 failed")).collect();
        let found = commands(&[Suite { name: "checks", cases }], &place);
        assert_eq!(found.lines().count(), ANNOTATIONS_MAX);
        assert_eq!(found.lines().nth(3), Some("::warning file=s.js,line=2,title=Check failed::c 3: 1 of 1 failed"));
        assert_eq!(found.lines().last(), Some("::warning title=Check failed::16 more in checks; the summary has all"));
    }
}
