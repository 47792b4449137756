//! `--fail-on`: what ends a run with another exit code although no threshold was crossed, or a comparison although nothing got worse.

use onrush_session::{ExitCode, Judgement, Verdict};

use crate::{failure::Failure, flags::Flags};

const NAMES: &str = "use unjudged, exceptions, unanswered, invalid, suspect, or several with commas";

/// What a run must not be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Gate {
    /// Thresholds that were never judged.
    unjudged: bool,
    /// Iterations that ended in an exception.
    exceptions: bool,
    /// Requests without an answer.
    unanswered: bool,
    /// The best verdict on the measurement that fails.
    verdict: Option<Verdict>,
}

impl Gate {
    /// What the flag or its variable says.
    ///
    /// # Errors
    /// A flag that names nothing, such as one with a variable that is not set: a gate that is open for all is told. Names there
    /// are not.
    pub(crate) fn given(flags: &Flags) -> Result<Self, Failure> {
        let is_empty = |text: &String| text.split(',').all(|name| name.trim().is_empty());
        if flags.values("fail-on").iter().any(is_empty) {
            return Err(Failure::other("--fail-on names nothing").hint(NAMES));
        }
        Self::parse(&flags.text("fail-on").unwrap_or_default())
    }

    /// Reads `unjudged`, `exceptions`, `unanswered`, `invalid` and `suspect`, with commas between them.
    ///
    /// # Errors
    /// Names that are not among these.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let mut gate = Self::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "unjudged" => gate.unjudged = true,
                "exceptions" => gate.exceptions = true,
                "unanswered" => gate.unanswered = true,
                "invalid" => gate.verdict = gate.verdict.or(Some(Verdict::Invalid)),
                "suspect" => gate.verdict = Some(Verdict::Suspect),
                other => {
                    return Err(Failure::other(format!("invalid --fail-on \"{other}\"")).hint(NAMES));
                }
            }
        }
        Ok(gate)
    }

    /// Why the run fails, causes first, and its exit code.
    pub(crate) fn refuses(self, unjudged: &[String], judgement: &Judgement) -> Option<(ExitCode, String)> {
        let mut reasons = Vec::new();
        if self.exceptions && judgement.thrown > 0 {
            reasons.push(format!("{} iterations ended in an exception (--fail-on exceptions)", judgement.thrown));
        }
        if self.unanswered && judgement.lacks_answers {
            reasons.push("too many requests had no answer (--fail-on unanswered)".to_owned());
        }
        if self.unjudged && !unjudged.is_empty() {
            reasons.push(format!("thresholds were never judged (--fail-on unjudged): {}", unjudged.join(", ")));
        }
        let code = if reasons.is_empty() { ExitCode::MeasurementRefused } else { ExitCode::ThresholdsHaveFailed };
        if self.verdict.is_some_and(|least| judgement.verdict >= least) {
            reasons.push(format!("the measurement is {} (--fail-on)", judgement.verdict.as_str()));
        }
        (!reasons.is_empty()).then(|| (code, reasons.join("; ")))
    }

    /// Why a comparison fails although nothing got worse, and its exit code. `runs` are its files with the verdicts on their
    /// measurements. What else a run must not be says nothing here, so that one `ONRUSH_FAIL_ON` is good for a whole pipeline.
    pub(crate) fn refuses_comparison(
        self,
        unjudged: &[String],
        runs: &[(String, Option<String>)],
    ) -> Option<(ExitCode, String)> {
        if self.unjudged && !unjudged.is_empty() {
            let text = format!("could not judge (--fail-on unjudged): {}", unjudged.join(", "));
            return Some((ExitCode::ComparedUnjudged, text));
        }
        let least = self.verdict?;
        runs.iter().find_map(|(file, verdict)| {
            let what = match verdict {
                Some(text) if of_text(text) < least => return None,
                Some(text) => format!("the measurement of {file} is {text}"),
                // Nobody has judged it.
                None => format!("{file} is of a run that was killed"),
            };
            Some((ExitCode::MeasurementRefused, format!("{what} (--fail-on)")))
        })
    }

    /// Whether what could not be judged fails.
    pub(crate) fn has_unjudged(self) -> bool {
        self.unjudged
    }
}

/// The verdict of a result file. One that this version does not know is no good one.
fn of_text(text: &str) -> Verdict {
    let known = [Verdict::Valid, Verdict::Suspect].into_iter().find(|verdict| verdict.as_str() == text);
    known.unwrap_or(Verdict::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{self, Invocation};

    #[test]
    fn what_fails_a_run() {
        let check = |text: &str, unjudged: &[&str], verdict: Verdict, expect: Option<ExitCode>| {
            let unjudged: Vec<String> = unjudged.iter().map(|&text| text.to_owned()).collect();
            let refused = Gate::parse(text).expect("names").refuses(&unjudged, &judged(verdict, 0, false));
            assert_eq!(refused.map(|(code, _)| code), expect, "{text}");
        };
        check("", &["a"], Verdict::Invalid, None);
        check("unjudged", &["a"], Verdict::Valid, Some(ExitCode::ThresholdsHaveFailed));
        check("unjudged,invalid", &[], Verdict::Suspect, None);
        check("invalid", &["a"], Verdict::Invalid, Some(ExitCode::MeasurementRefused));
        check("invalid, suspect", &[], Verdict::Suspect, Some(ExitCode::MeasurementRefused));
        check("suspect", &[], Verdict::Valid, None);
        let all = Gate::parse("unjudged,exceptions,suspect").expect("names");
        let refused = all.refuses(&["a".to_owned()], &judged(Verdict::Suspect, 2, false));
        let expect = "2 iterations ended in an exception (--fail-on exceptions); thresholds were never judged (--fail-on unjudged): a; \
                      the measurement is SUSPECT (--fail-on)";
        assert_eq!(refused, Some((ExitCode::ThresholdsHaveFailed, expect.to_owned())));
        assert!(Gate::parse("loud").is_err());
    }

    #[test]
    fn exceptions_and_missing_answers_fail_a_run_that_asks() {
        let code = |text: &str, judgement: &Judgement| {
            Gate::parse(text).expect("names").refuses(&[], judgement).map(|(code, _)| code)
        };
        let (threw, hung) = (judged(Verdict::Valid, 2, false), judged(Verdict::Suspect, 0, true));
        assert_eq!(code("exceptions", &threw), Some(ExitCode::ThresholdsHaveFailed));
        assert_eq!(code("unanswered,invalid", &threw), None);
        assert_eq!(code("unanswered", &hung), Some(ExitCode::ThresholdsHaveFailed));
        assert_eq!(code("exceptions", &hung), None);
    }

    #[test]
    fn a_flag_that_names_nothing_is_told() {
        let given = |value: &str| {
            let args = ["onrush", "compare", "--fail-on", value, "a", "b"].map(std::ffi::OsString::from);
            let env = [("ONRUSH_FAIL_ON".to_owned(), "suspect".to_owned())].into();
            let Ok(Invocation::Do { flags, .. }) = flags::parse(args, env) else { panic!("{value}: a line") };
            Gate::given(&flags).map_err(|failure| failure.message)
        };
        assert_eq!(given("").map(|_| ()), Err("--fail-on names nothing".to_owned()));
        assert_eq!(given(" ,").map(|_| ()), Err("--fail-on names nothing".to_owned()));
        assert_eq!(given("unjudged"), Ok(Gate { unjudged: true, ..Gate::default() }));
    }

    #[test]
    fn what_fails_a_comparison() {
        let check = |text: &str, unjudged: &[&str], verdicts: [Option<&str>; 2], expect: Option<ExitCode>| {
            let runs = verdicts.map(|verdict| ("a.onrush".to_owned(), verdict.map(str::to_owned)));
            let unjudged: Vec<String> = unjudged.iter().map(|&text| text.to_owned()).collect();
            let refused = Gate::parse(text).expect("names").refuses_comparison(&unjudged, &runs);
            assert_eq!(refused.map(|(code, _)| code), expect, "{text} {verdicts:?}");
        };
        let (valid, suspect, invalid) = (Some("VALID"), Some("SUSPECT"), Some("INVALID"));
        check("", &["a"], [invalid, None], None);
        check("unjudged", &[], [invalid, valid], None);
        check("unjudged,invalid", &["a"], [invalid, valid], Some(ExitCode::ComparedUnjudged));
        check("invalid", &["a"], [valid, suspect], None);
        check("suspect", &[], [valid, suspect], Some(ExitCode::MeasurementRefused));
        check("invalid", &[], [invalid, valid], Some(ExitCode::MeasurementRefused));
        check("invalid", &[], [valid, None], Some(ExitCode::MeasurementRefused));
        // What is of runs alone.
        check("exceptions,unanswered", &["a"], [invalid, valid], None);
    }

    fn judged(verdict: Verdict, thrown: u64, lacks_answers: bool) -> Judgement {
        Judgement {
            verdict,
            reasons: Vec::new(),
            notes: Vec::new(),
            thrown,
            lacks_answers,
            start_lag: None,
            own_delay: None,
            generator: None,
        }
    }
}
