//! The layouts of the summary, and what each leaves out.

/// Which layout the summary has (option `--summary-mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryMode {
    /// Thresholds and totals.
    #[default]
    Compact,
    /// Also each group, each scenario and all phases of requests.
    Full,
    /// One alphabetical list, as k6 printed before 1.0.
    Legacy,
    /// Nothing; no `handleSummary()` either.
    Disabled,
}

/// Why a summary mode is refused. The text is k6's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid summary mode")]
pub struct SummaryModeError;

impl SummaryMode {
    /// Parses the option.
    ///
    /// # Errors
    /// If there is no such mode.
    pub fn parse(text: &str) -> Result<Self, SummaryModeError> {
        match text {
            "compact" => Ok(Self::Compact),
            "full" => Ok(Self::Full),
            // k6: gone from 2.0, kept here for those who parse it.
            "legacy" => Ok(Self::Legacy),
            "disabled" => Ok(Self::Disabled),
            _ => Err(SummaryModeError),
        }
    }

    /// The option's text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Full => "full",
            Self::Legacy => "legacy",
            Self::Disabled => "disabled",
        }
    }

    /// Whether a metric or sub-metric of this name is left out.
    ///
    /// k6: by prefix, so a custom metric called `checks_mine` is hidden as well.
    pub(super) fn hides(self, name: &str) -> bool {
        const DETAILS: [&str; 2] = ["checks", "group_duration"];
        const PHASES: [&str; 6] = [
            "http_req_blocked",
            "http_req_connecting",
            "http_req_receiving",
            "http_req_sending",
            "http_req_tls_handshaking",
            "http_req_waiting",
        ];
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        match self {
            Self::Compact => starts(&DETAILS) || starts(&PHASES),
            Self::Full => starts(&DETAILS),
            Self::Legacy => false,
            Self::Disabled => true,
        }
    }
}
