//! The summary as text, in the layouts of k6: compact, full and legacy.
//!
//! A layout decides what is shown and where; how metrics line up in columns is
//! [`table`]'s business and how numbers look is `number`'s.

mod agents;
mod columns;
mod endpoints;
mod footer;
mod legacy;
mod outcomes;
mod palette;
mod sections;
mod table;

use super::{agents::AgentsInfo, endpoint::Endpoint, footer::Footer, mode::SummaryMode, model::SummaryModel};
use crate::outcome::Outcomes;
pub use columns::with_commas;
use palette::Palette;

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
    /// The agents of a run that has several.
    pub agents: Option<&'a AgentsInfo>,
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
        text.push_str(&endpoints::render(options.endpoints, model.run.time_unit, &palette));
        if let Some(outcomes) = options.outcomes {
            text.push_str(&outcomes::render(outcomes, options.mode, &palette));
        }
        if let Some(info) = options.agents {
            text.push_str(&agents::render(info, &palette));
        }
    }
    if let Some(footer) = options.footer {
        let block = if legacy { footer::legacy } else { footer::section };
        text.push_str(&block(footer, model.has_trends(), &palette));
    }
    text
}

/// What goes to stdout for a text of [`render`], or for one that a script's `textSummary()` made. Nothing for an empty
/// one.
pub fn to_stdout(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n{text}\n\n") }
}
