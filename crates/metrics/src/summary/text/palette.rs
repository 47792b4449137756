//! The colours of the summary.

/// ANSI codes by meaning; an empty one leaves text as it is.
pub(super) struct Palette {
    /// Titles.
    pub(super) bold: Paint,
    /// Passed.
    pub(super) good: Paint,
    /// Failed.
    pub(super) bad: Paint,
    /// Doubtful.
    pub(super) warn: Paint,
    /// Text of thresholds.
    pub(super) source: Paint,
    /// Main values.
    pub(super) value: Paint,
    /// Dots between names and values.
    pub(super) dots: Paint,
    /// Further values.
    pub(super) extra: Paint,
}

/// The parameters of one SGR escape sequence.
#[derive(Clone, Copy)]
pub(super) struct Paint(&'static str);

impl Palette {
    pub(super) const PLAIN: Self = {
        let none = Paint("");
        Self { bold: none, good: none, bad: none, warn: none, source: none, value: none, dots: none, extra: none }
    };
    pub(super) const COLOR: Self = Self {
        bold: Paint("1"),
        good: Paint("32"),
        bad: Paint("31"),
        warn: Paint("33"),
        source: Paint("37"),
        value: Paint("36"),
        dots: Paint("2;37"),
        extra: Paint("2;36"),
    };
    /// k6: the older layout orders and chooses some codes differently.
    pub(super) const LEGACY: Self = Self { dots: Paint("2"), extra: Paint("36;2"), ..Self::COLOR };
}

impl Paint {
    pub(super) fn on(self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { format!("\x1b[{}m{text}\x1b[0m", self.0) }
    }
}
