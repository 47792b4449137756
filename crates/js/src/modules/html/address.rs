//! Addresses in a page: resolved against the page's own, and their parts.

use onrush_html::{Document, UrlPart};
use onrush_net::Url;

/// An attribute as an address. k6: what cannot be read is empty; in a page without an address it is left as written.
pub(super) fn absolute(document: &Document, written: Option<String>) -> String {
    match written {
        Some(written) if document.url().is_empty() => written,
        Some(written) => resolve(document, &written).map_or_else(String::new, |url| url.to_text().to_string()),
        None => String::new(),
    }
}

fn resolve(document: &Document, written: &str) -> Option<Url> {
    Url::parse(document.url()).ok()?.join(written).ok()
}

/// A part of a link's address; empty where there is none.
pub(super) fn part(document: &Document, written: Option<&str>, part: UrlPart) -> String {
    let url = written.and_then(|written| resolve(document, written));
    let Some(url) = url else { return if part == UrlPart::Protocol { ":".to_owned() } else { String::new() } };
    let scheme = url.scheme_text().to_ascii_lowercase();
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match part {
        UrlPart::Hash => with_sign('#', url.fragment()),
        UrlPart::Search => with_sign('?', url.query().unwrap_or_default()),
        UrlPart::Hostname => url.host().to_owned(),
        UrlPart::Port => url.port_text().to_owned(),
        // `mailto:` and the like have no path, but a text of their own.
        UrlPart::Pathname if !scheme.is_empty() && !url.path().starts_with('/') => String::new(),
        UrlPart::Pathname => String::from_utf8_lossy(&url.decoded_path()).into_owned(),
        // k6: without the colon, unless that is all there is.
        UrlPart::Protocol => {
            if scheme.is_empty() {
                ":".to_owned()
            } else {
                scheme
            }
        }
        UrlPart::Origin if scheme.is_empty() => String::new(),
        UrlPart::Origin => format!("{scheme}://{}", host_and_port(&url)),
        UrlPart::Host => match (scheme.as_str(), url.port_text()) {
            ("http", "80") | ("https", "443") | ("ftp", "21") => url.host().to_owned(),
            _ => host_and_port(&url),
        },
        UrlPart::Username => url.credentials().map(|(name, _)| lossy(name)).unwrap_or_default(),
        UrlPart::Password => url.credentials().map(|(_, password)| lossy(password)).unwrap_or_default(),
    }
}

fn with_sign(sign: char, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{sign}{text}") }
}

fn host_and_port(url: &Url) -> String {
    let host = if url.host().contains(':') { format!("[{}]", url.host()) } else { url.host().to_owned() };
    if url.port_text().is_empty() { host } else { format!("{host}:{}", url.port_text()) }
}
