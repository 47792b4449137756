//! Answers to servers that ask who is there: digest and NTLM. Basic is a header and needs nothing of this.
//!
//! Pure: challenges come in as header values, answers go out as values of `Authorization`. Who asks again, over which
//! connection and how that is counted is the caller's.

pub mod digest;
pub mod ntlm;

use base64::Engine;

/// A user name and a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// As it was given: for NTLM with or without a domain.
    pub user: String,
    /// In the clear.
    pub password: String,
}

impl Credentials {
    /// Those of a URL's userinfo; bytes that are not UTF-8 become U+FFFD.
    pub fn of_url(url: &crate::Url) -> Option<Self> {
        let (user, password) = url.credentials()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Some(Self { user: text(user), password: text(password) })
    }

    /// Those of an `Authorization: Basic` header.
    pub fn of_basic(value: &str) -> Option<Self> {
        let (scheme, encoded) = value.split_once(' ')?;
        let decoded = base64::engine::general_purpose::STANDARD.decode(encoded.trim()).ok()?;
        let decoded = String::from_utf8_lossy(&decoded);
        let (user, password) = decoded.split_once(':').filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
        Some(Self { user: user.to_owned(), password: password.to_owned() })
    }
}

/// No password in logs.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

fn base64_of(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Feeds arbitrary bytes to both schemes: the first line is the user's name, the second the password, each further one
/// a value of `WWW-Authenticate`. The entry of the fuzz target.
///
/// Panics are findings; so are answers that break out of their header, that name another realm, nonce or user than the
/// one asked for, and messages whose parts are not where they say.
pub fn fuzz(data: &[u8]) {
    let mut lines = data.split(|&byte| byte == b'\n');
    let mut text = || String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let credentials = Credentials { user: text(), password: text() };
    if !credentials.user.contains(':') {
        let pair = format!("{}:{}", credentials.user, credentials.password);
        let again = Credentials::of_basic(&format!("Basic {}", base64_of(pair.as_bytes())));
        assert_eq!(again.as_ref(), Some(&credentials));
    }
    let values: Vec<&[u8]> = lines.collect();
    digest::fuzz(&values, &credentials);
    ntlm::fuzz(&values, &credentials);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials() {
        let check = |value: &str, expect: Option<(&str, &str)>| {
            let found = Credentials::of_basic(value).map(|found| (found.user, found.password));
            assert_eq!(found, expect.map(|(user, password)| (user.to_owned(), password.to_owned())), "{value}");
        };
        check("Basic dXNlcjpwYXNz", Some(("user", "pass")));
        check("basic dXNlcjo=", Some(("user", "")));
        check("Bearer dXNlcjpwYXNz", None);
        check("Basic dXNlcg==", None);
        check("Basic ???", None);
        check("", None);
        let url = crate::Url::parse("http://DOM%5Cme:p%40ss@h/").unwrap();
        let found = Credentials::of_url(&url).unwrap();
        assert_eq!((found.user.as_str(), found.password.as_str()), ("DOM\\me", "p@ss"));
        assert!(!format!("{found:?}").contains("p@ss"));
    }
}
