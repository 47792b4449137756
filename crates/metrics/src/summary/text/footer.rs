//! The lines after k6's, in the manner of either layout.

use super::{palette::Palette, sections::title};
use crate::summary::footer::{Footer, Verdict};

/// As a section of its own; nothing if there is nothing to say.
pub(super) fn section(footer: &Footer, has_trends: bool, palette: &Palette) -> String {
    let lines = lines(footer, has_trends, palette);
    if lines.is_empty() {
        return String::new();
    }
    let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("{}{body}\n", title("MEASUREMENT", palette))
}

/// Below the list, which has no line end.
pub(super) fn legacy(footer: &Footer, has_trends: bool, palette: &Palette) -> String {
    let lines = lines(footer, has_trends, palette);
    let body: String = lines.iter().map(|line| format!("\n     {line}")).collect();
    if body.is_empty() { body } else { format!("\n{body}") }
}

fn lines(footer: &Footer, has_trends: bool, palette: &Palette) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(verdict) = footer.verdict {
        let (mark, paint) = match verdict {
            Verdict::Valid => ("✓", palette.good),
            Verdict::Suspect => ("!", palette.warn),
            Verdict::Invalid => ("✗", palette.bad),
        };
        lines.push(paint.on(&format!("{mark} measurement {}", verdict.as_str())));
        lines.extend(footer.reason_lines().map(|reason| format!("  ↳ {reason}")));
    }
    lines.extend(footer.note_lines());
    if has_trends {
        lines.extend(footer.percentile_line());
    }
    lines
}
