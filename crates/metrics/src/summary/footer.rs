//! What Onrush adds to k6's summary: how far its numbers can be trusted.

/// The last lines of the summary. The default one has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footer {
    /// Largest relative error of a percentile, for example 0.00135 ([`crate::RELATIVE_ERROR`]).
    pub percentile_error: Option<f64>,
    /// Whether the generator was fit to measure.
    pub verdict: Option<Verdict>,
    /// Why the verdict is what it is, a sentence each.
    pub reasons: Vec<String>,
    /// What is worth knowing beside them, a sentence each.
    pub notes: Vec<String>,
}

/// Whether a run's numbers can be trusted: the verdict on the measurement, not on the system under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing limited the generator.
    Valid,
    /// Something came close to limiting it, or did so briefly.
    Suspect,
    /// The generator was the bottleneck: latencies include its own delays, rates are its own limits.
    Invalid,
}

impl Verdict {
    /// The word users see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "VALID",
            Self::Suspect => "SUSPECT",
            Self::Invalid => "INVALID",
        }
    }
}

impl Footer {
    /// The line on percentiles.
    pub(super) fn percentile_line(&self) -> Option<String> {
        self.percentile_error.map(|error| {
            // Rounded up: a bound must not be understated.
            let percent = (error * 10_000.0).ceil() / 100.0;
            format!("percentiles are within ±{percent:.2} % (exponential histogram)")
        })
    }

    /// The reasons, each on one line.
    pub(super) fn reason_lines(&self) -> impl Iterator<Item = String> {
        self.reasons.iter().map(|reason| one_line(reason))
    }

    /// The notes, each on one line.
    pub(super) fn note_lines(&self) -> impl Iterator<Item = String> {
        self.notes.iter().map(|note| one_line(note))
    }
}

/// Names in a sentence may be the script's.
fn one_line(text: &str) -> String {
    text.split(char::is_control).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
