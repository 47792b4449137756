//! What `onrush version` prints.

/// Our version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of k6 whose behaviour scripts get.
pub(crate) const K6_VERSION: &str = "2.2.0";

/// One line.
pub(crate) fn text() -> String {
    format!("onrush v{VERSION} (runs k6 v{K6_VERSION} scripts, {}/{})\n", std::env::consts::OS, arch())
}

/// The architecture as Go names it, which is how k6 users know it.
fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
