//! Pieces of data source names.

/// The names and values behind a question mark, decoded.
pub(crate) fn query_pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name, true), decoded(value, true))
        })
        .collect()
}

/// Text with `%41` for a byte; a plus is a blank where `is_query`.
pub(crate) fn decoded(text: &str, is_query: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        let hex = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        rest = after;
        match (byte, hex.and_then(|pair| u8::from_str_radix(pair, 16).ok())) {
            (b'%', Some(value)) => {
                out.push(value);
                rest = &after[2..];
            }
            (b'+', _) if is_query => out.push(b' '),
            _ => out.push(*byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// `host:port`, `[::1]:port`, or a host alone.
pub(crate) fn host_and_port(text: &str, default_port: u16) -> Option<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':').unwrap_or(rest))
        }
        None => text.rsplit_once(':').unwrap_or((text, "")),
    };
    Some((host.to_owned(), if port.is_empty() { default_port } else { port.parse().ok()? }))
}
