//! The summary as text, in the layouts of k6: compact, full and legacy.
//!
//! A layout decides what is shown and where; how metrics line up in columns is
//! [`table`]'s business and how numbers look is `number`'s.

mod columns;
mod endpoints;
mod footer;
mod legacy;
mod outcomes;
mod palette;
mod sections;
mod table;

use super::endpoint::Endpoint;
use super::footer::Footer;
use super::model::SummaryModel;
use crate::outcome::Outcomes;
use palette::Palette;

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

/// How to write the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions<'a> {
    /// The layout.
    pub mode: SummaryMode,
    /// Whether to colour it with ANSI escapes.
    pub color: bool,
    /// Lines after k6's; `None` for exactly what k6 prints.
    pub footer: Option<&'a Footer>,
    /// What became of requests, shown where some failed; `None` for exactly what k6 prints.
    pub outcomes: Option<&'a Outcomes>,
    /// Requests by `name`.
    pub endpoints: &'a [Endpoint],
}

/// The text of the summary. [`to_stdout`] adds what k6 puts around it.
pub fn render(model: &SummaryModel, options: &TextOptions<'_>) -> String {
    let legacy = options.mode == SummaryMode::Legacy;
    let palette = match (options.color, legacy) {
        (false, _) => Palette::PLAIN,
        (true, false) => Palette::COLOR,
        (true, true) => Palette::LEGACY,
    };
    let mut text = match options.mode {
        SummaryMode::Compact | SummaryMode::Full => {
            sections::render(model, options.mode, options.footer.is_none(), &palette)
        }
        SummaryMode::Legacy => legacy::render(model, &palette),
        SummaryMode::Disabled => return String::new(),
    };
    if !legacy {
        text.push_str(&endpoints::render(options.endpoints, model.time_unit, &palette));
        if let Some(outcomes) = options.outcomes {
            text.push_str(&outcomes::render(outcomes, options.mode, &palette));
        }
    }
    if let Some(footer) = options.footer {
        let block = if legacy { footer::legacy } else { footer::section };
        text.push_str(&block(footer, model.has_trends(), &palette));
    }
    text
}

/// What goes to stdout for a text of [`render`], or for one that a script's `textSummary()` made.
/// Nothing for an empty one.
pub fn to_stdout(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n{text}\n\n") }
}
