//! What somebody typed, as error messages may quote it: without what may be a user, a password, a key or a token.

/// An address without credentials, query and fragment, whether it is one or not. What is before the last `@` is nobody's business: a
/// password may have any sign that should have been escaped.
pub(crate) fn address(text: &str) -> String {
    let start = text.find("//").map_or(0, |slashes| slashes + 2);
    let (mask, rest) = match text.rfind('@') {
        // Slashes behind it are a part of what is masked.
        Some(at) if at < start => ("****:****", &text[at..]),
        Some(at) => ("****:****", &text[at..]),
        None => ("", &text[start..]),
    };
    let scheme = text.get(..start).filter(|scheme| !scheme.contains('@')).unwrap_or_default();
    match rest.find(['?', '#']) {
        Some(query) => format!("{scheme}{mask}{}****", &rest[..=query]),
        None => format!("{scheme}{mask}{rest}"),
    }
}

/// What looks like the name of a setting at the beginning of a text: a value that follows it, or that stands alone because of a comma in
/// a header, is not quoted.
pub(crate) fn key(text: &str) -> &str {
    if text.contains('@') {
        return "****";
    }
    let end = text.find(|sign: char| !sign.is_ascii_alphanumeric() && !"._-".contains(sign));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_secret_is_left() {
        let check = |text: &str, expect: &str| assert_eq!(address(text), expect, "{text}");
        check("http://h:1/x", "http://h:1/x");
        check("nowhere", "nowhere");
        check("http://us3r:p4ss@h:99999", "http://****:****@h:99999");
        check("us3r:p4ss@h:1", "****:****@h:1");
        check("ftp://us3r@h", "ftp://****:****@h");
        check("http://us3r:p4/ss?#@h/x?key=SECRETXYZ", "http://****:****@h/x?****");
        check("http://us3r:p4ss@x@h", "http://****:****@h");
        check("us3r:p4ss@h//x", "****:****@h//x");
        check("grpc://h:1#SECRETXYZ", "grpc://h:1#****");
        let check = |text: &str, expect: &str| assert_eq!(key(text), expect, "{text}");
        check("header.Authorization:SECRETXYZ", "header.Authorization");
        check("headerX", "headerX");
        check("us3r:p4ss@h", "****");
    }
}
