//! The pages, as `cargo xtask web` builds them: they are in the program, so that it is one file and no machine needs Node to
//! build it.

/// A file that a browser asks for.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its path.
    pub path: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// What is in it.
    pub content: &'static [u8],
}

/// The dashboard.
pub const DASHBOARD: [Asset; 3] = [
    Asset { path: "/", media_type: "text/html; charset=utf-8", content: include_bytes!("../assets/index.html") },
    Asset {
        path: "/app.js",
        media_type: "text/javascript; charset=utf-8",
        content: include_bytes!("../assets/app.js"),
    },
    Asset { path: "/app.css", media_type: "text/css; charset=utf-8", content: include_bytes!("../assets/app.css") },
];

/// What the dashboard may load and reach: its own files and server, and nothing else.
pub const DASHBOARD_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The same for a report that a run's server shows. It has all in it, and its place is none of the server's: whatever it is
/// made of cannot steer the run.
pub const REPORT_POLICY: &str = "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The report's page.
pub(crate) const REPORT: &str = include_str!("../assets/report.html");
