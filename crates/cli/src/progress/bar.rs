//! A progress bar.

/// Columns between the brackets of a whole bar.
pub(super) const WIDTH: usize = 38;
/// Columns it keeps on the narrowest terminal.
pub(super) const WIDTH_MIN: usize = 8;

/// `[==>----]` for a terminal, `[  33% ]` else.
pub(super) fn bar(fraction: f64, terminal: Option<Drawn>) -> String {
    let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
    let Some(Drawn { width, color }) = terminal else {
        return format!("[ {:3.0}% ]", fraction * 100.0);
    };
    // The casts are exact: widths are small.
    let filled = (fraction * width as f64) as usize;
    let done = match filled {
        0 => String::new(),
        _ if fraction < 1.0 => format!("{}>", "=".repeat(filled - 1)),
        _ => "=".repeat(width),
    };
    let left = "-".repeat(width - filled);
    if color { format!("[{done}\x1b[2m{left}\x1b[22m]") } else { format!("[{done}{left}]") }
}

/// ` 33%`, where there is no room for a bar.
pub(super) fn percent(fraction: f64) -> String {
    let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
    format!("{:3.0}%", fraction * 100.0)
}

/// How a bar is drawn on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Drawn {
    /// Columns between the brackets.
    pub(super) width: usize,
    /// The part to come is dimmed.
    pub(super) color: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fraction: f64, width: Option<usize>, expect: &str) {
        assert_eq!(bar(fraction, width.map(|width| Drawn { width, color: false })), expect);
    }

    /// The texts were printed by k6 1.8.1.
    #[test]
    fn bars_look_as_in_k6() {
        check(0.1 / 3.0, Some(WIDTH), "[>-------------------------------------]");
        check(0.4 / 3.0, Some(WIDTH), "[====>---------------------------------]");
        check(2.9 / 3.0, Some(WIDTH), "[===================================>--]");
        check(1.0, Some(WIDTH), "[======================================]");
        check(0.0, Some(WIDTH), "[--------------------------------------]");
        check(0.67, None, "[  67% ]");
        check(1.0, None, "[ 100% ]");
        check(f64::NAN, None, "[   0% ]");
        check(7.0, Some(4), "[====]");
    }
}
