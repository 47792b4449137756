//! Reading status codes that requests ask for.

/// A final status code. Those below 200 are not final, so a response cannot have one.
pub(crate) fn code_in(text: &str) -> Option<u16> {
    let code = text.trim().parse().ok()?;
    (200..=599).contains(&code).then_some(code)
}
