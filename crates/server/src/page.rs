//! Pages for browsers, as they are and compressed.

use std::io::Write as _;

use axum::{
    body::Bytes,
    http::{HeaderMap, header},
};
use flate2::{Compression, write::GzEncoder};

/// A file that a browser asks for.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Its path.
    pub path: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// What is in it.
    pub content: &'static [u8],
}

/// A page that is served.
pub(crate) struct Served {
    pub(crate) page: Page,
    /// With gzip: most of a page's time is that on the way.
    pub(crate) packed: Bytes,
}

impl Served {
    pub(crate) fn new(page: Page) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        // Memory takes everything.
        let packed = encoder.write_all(page.content).and_then(|()| encoder.finish());
        Self { page, packed: packed.unwrap_or_default().into() }
    }
}

/// Whether a client takes gzip.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = parameters.trim().strip_prefix("q=").map(str::trim);
        let is_refused = weight.is_some_and(|weight| weight.parse::<f32>().is_ok_and(|weight| weight == 0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn what_clients_take() {
        let check = |value: &'static str, expect: bool| {
            let headers = [(header::ACCEPT_ENCODING, HeaderValue::from_static(value))].into_iter().collect();
            assert_eq!(takes_gzip(&headers), expect, "{value}");
        };
        check("gzip, deflate, br, zstd", true);
        check("br;q=1.0, GZIP;q=0.5", true);
        check("gzip; q=0", false);
        check("gzip;q=0.000", false);
        check("identity", false);
        check("xgzip", false);
        check("", false);
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
