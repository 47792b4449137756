//! Digest authentication (RFC 7616, RFC 2617).

use std::fmt::Write;

use aws_lc_rs::digest::{SHA256, SHA512, SHA512_256, digest};
use bytes::Bytes;
use md5::{Digest, Md5};

use super::Credentials;

/// What is answered: a request, and what the answer needs besides the challenge.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The request's method.
    pub method: &'a str,
    /// Path and query as they are in the request line.
    pub target: &'a str,
    /// The pieces of the body; only `qop=auth-int` looks at them.
    pub body: &'a [Bytes],
    /// A text nobody else has chosen.
    pub client_nonce: &'a str,
}

/// The value of `Authorization` that answers the values of `WWW-Authenticate`.
///
/// k6: every answer is the first to its nonce (`nc=00000001`), and a challenge that is missing or asks for something
/// else is answered as well, with what it has. Beyond k6, which always hashes with MD5 and takes the first challenge
/// there is, the algorithm is the one asked for and the challenge the first for digest.
pub fn answer<'a>(
    challenges: impl Iterator<Item = &'a [u8]> + Clone,
    credentials: &Credentials,
    question: &Question<'_>,
) -> String {
    let is_digest = |value: &&[u8]| value.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"digest"));
    let value = challenges.clone().find(is_digest).or_else(|| challenges.clone().next()).unwrap_or_default();
    let challenge = Challenge::parse(&String::from_utf8_lossy(value));
    let response = challenge.response(credentials, question);
    let mut out = String::from("Digest ");
    let quoted = |out: &mut String, name: &str, value: &str| {
        let _ = write!(out, "{name}=\"{}\", ", value.replace('\\', "\\\\").replace('"', "\\\""));
    };
    quoted(&mut out, "username", &credentials.user);
    for (name, value) in [("realm", &challenge.realm), ("nonce", &challenge.nonce)] {
        if !value.is_empty() {
            quoted(&mut out, name, value);
        }
    }
    quoted(&mut out, "uri", question.target);
    if !challenge.opaque.is_empty() {
        quoted(&mut out, "opaque", &challenge.opaque);
    }
    if !challenge.algorithm.is_empty() {
        // RFC 7616 wants the token bare; k6 quotes it, and servers take both.
        quoted(&mut out, "algorithm", &challenge.algorithm);
    }
    if let Some(qop) = challenge.qop() {
        let _ = write!(out, "qop={qop}, ");
    }
    let _ = write!(out, "nc={NONCE_COUNT}, ");
    quoted(&mut out, "cnonce", question.client_nonce);
    quoted(&mut out, "response", &response);
    out.truncate(out.len() - ", ".len());
    // A server's words cannot end the header line.
    out.retain(|letter| !letter.is_control());
    out
}

/// Each answer is the first to its nonce.
const NONCE_COUNT: &str = "00000001";

/// The parameters of a challenge; those that are missing are empty.
#[derive(Debug, Default, PartialEq, Eq)]
struct Challenge {
    realm: String,
    nonce: String,
    opaque: String,
    algorithm: String,
    qop: String,
}

impl Challenge {
    fn parse(value: &str) -> Self {
        let mut challenge = Self::default();
        let mut rest = value.trim_start().split_once([' ', '\t']).map_or("", |(_, rest)| rest);
        while let Some((name, after)) = rest.split_once('=') {
            let name = name.trim_matches([' ', '\t', ',']);
            let (value, after) = parameter(after.trim_start());
            rest = after;
            let place = match name.to_ascii_lowercase().as_str() {
                "realm" => &mut challenge.realm,
                "nonce" => &mut challenge.nonce,
                "opaque" => &mut challenge.opaque,
                "algorithm" => &mut challenge.algorithm,
                "qop" => &mut challenge.qop,
                _ => continue,
            };
            *place = value;
        }
        challenge
    }

    /// Which quality of protection is answered: `auth` where it is offered.
    fn qop(&self) -> Option<&'static str> {
        let offers = |word: &str| self.qop.split(',').any(|offer| offer.trim().eq_ignore_ascii_case(word));
        ["auth", "auth-int"].into_iter().find(|word| offers(word))
    }

    fn response(&self, credentials: &Credentials, question: &Question<'_>) -> String {
        let (hash, is_session) = self.hash();
        let client_nonce = question.client_nonce;
        let mut secret = hash.of(&[&format!("{}:{}:{}", credentials.user, self.realm, credentials.password)]);
        if is_session {
            secret = hash.of(&[&format!("{secret}:{}:{client_nonce}", self.nonce)]);
        }
        let mut request = format!("{}:{}", question.method, question.target);
        if self.qop() == Some("auth-int") {
            request = format!("{request}:{}", hash.of(question.body));
        }
        let request = hash.of(&[&request]);
        let nonce = &self.nonce;
        match self.qop() {
            Some(qop) => hash.of(&[&format!("{secret}:{nonce}:{NONCE_COUNT}:{client_nonce}:{qop}:{request}")]),
            None => hash.of(&[&format!("{secret}:{nonce}:{request}")]),
        }
    }

    /// The algorithm, and whether it is a `-sess` one. k6: what is unknown is MD5.
    fn hash(&self) -> (Hash, bool) {
        let name = self.algorithm.to_ascii_lowercase();
        let (name, is_session) = name.strip_suffix("-sess").map_or((name.as_str(), false), |name| (name, true));
        let hash = match name {
            "sha-256" => Hash::Sha256,
            "sha-512-256" => Hash::Sha512Half,
            // In no standard, but servers exist.
            "sha-512" => Hash::Sha512,
            _ => Hash::Md5,
        };
        (hash, is_session)
    }
}

/// A parameter's value, and what follows it.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(',').unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            _ => value.push(letter),
        }
    }
    (value, "")
}

#[derive(Clone, Copy)]
enum Hash {
    Md5,
    Sha256,
    Sha512Half,
    Sha512,
}

impl Hash {
    /// The hash of the pieces, one after the other, in hexadecimal digits.
    fn of(self, pieces: &[impl AsRef<[u8]>]) -> String {
        let of_sha = |algorithm| {
            let mut context = aws_lc_rs::digest::Context::new(algorithm);
            pieces.iter().for_each(|piece| context.update(piece.as_ref()));
            hexadecimal(context.finish().as_ref())
        };
        match self {
            Self::Md5 => {
                let mut hash = Md5::new();
                pieces.iter().for_each(|piece| hash.update(piece));
                hexadecimal(&hash.finalize())
            }
            Self::Sha256 => of_sha(&SHA256),
            Self::Sha512Half => of_sha(&SHA512_256),
            Self::Sha512 => of_sha(&SHA512),
        }
    }
}

/// Lower-case hexadecimal digits.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// A client nonce from 16 random bytes.
pub fn client_nonce(random: [u64; 2]) -> String {
    let hash = digest(&SHA256, &[random[0].to_le_bytes(), random[1].to_le_bytes()].concat());
    hexadecimal(&hash.as_ref()[..16])
}

/// Answers challenges and reads the answer like one: what was asked for must be in it.
pub(super) fn fuzz(values: &[&[u8]], credentials: &Credentials) {
    let question = Question { method: "POST", target: "/a?b=\"c\"", body: &[], client_nonce: "c\\d" };
    let header = answer(values.iter().copied(), credentials, &question);
    assert!(header.starts_with("Digest "), "{header}");
    assert!(!header.chars().any(char::is_control), "{header:?}");
    let is_digest = |value: &&&[u8]| value.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"digest"));
    let value = values.iter().find(is_digest).or_else(|| values.first()).copied().unwrap_or_default();
    let asked = Challenge::parse(&String::from_utf8_lossy(value));
    let told = Challenge::parse(&header);
    let plain = |text: &str| text.replace(char::is_control, "");
    assert_eq!(told.realm, plain(&asked.realm), "{header}");
    assert_eq!(told.nonce, plain(&asked.nonce), "{header}");
    assert_eq!(told.opaque, plain(&asked.opaque), "{header}");
    assert_eq!(told.algorithm, plain(&asked.algorithm), "{header}");
    assert_eq!(told.qop(), asked.qop(), "{header}");
    let (name, _) = parameter(header.strip_prefix("Digest username=").unwrap_or_default());
    assert_eq!(name, plain(&credentials.user), "{header}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn respond(challenge: &str, user: &str, password: &str, target: &str, nonce: &str, body: &'static str) -> String {
        let credentials = Credentials { user: user.to_owned(), password: password.to_owned() };
        let body = [Bytes::from_static(body.as_bytes())];
        let question = Question { method: "GET", target, body: &body, client_nonce: nonce };
        answer([challenge.as_bytes()].into_iter(), &credentials, &question)
    }

    /// The examples of RFC 2617 3.5 and RFC 7616 3.9.1 and 3.9.2.
    #[test]
    fn examples_of_the_standards() {
        let check = |challenge: &str, user: &str, password: &str, target: &str, nonce: &str, expect: &str| {
            let header = respond(challenge, user, password, target, nonce, "");
            assert!(header.ends_with(&format!("response=\"{expect}\"")), "{header}");
        };
        check(
            "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"",
            "Mufasa",
            "Circle Of Life",
            "/dir/index.html",
            "0a4f113b",
            "6629fae49393a05397450978507c4ef1",
        );
        let newer = "realm=\"http-auth@example.org\", qop=\"auth, auth-int\", nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"";
        for (algorithm, expect) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let challenge = format!("Digest {newer}, algorithm={algorithm}");
            let nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
            check(&challenge, "Mufasa", "Circle of Life", "/dir/index.html", nonce, expect);
        }
    }

    /// What k6 v1.8.1 answered.
    #[test]
    fn answers_as_k6_gives_them() {
        let header = respond(
            "Digest realm=\"r\", nonce=\"n1\", opaque=\"op\", algorithm=MD5, qop=\"auth\"",
            "user",
            "pa ss",
            "/digest/MD5/auth",
            "08076197178d49976f7ffa869f00fe69",
            "",
        );
        assert_eq!(
            header,
            "Digest username=\"user\", realm=\"r\", nonce=\"n1\", uri=\"/digest/MD5/auth\", opaque=\"op\", algorithm=\"MD5\", qop=auth, nc=00000001, cnonce=\"08076197178d49976f7ffa869f00fe69\", response=\"ed7df74917dc2e68eb8dc09c30f36a0c\""
        );
        let header = respond(
            "Digest realm=\"r\", nonce=\"n1\", opaque=\"op\"",
            "user",
            "pa ss",
            "/digest/none/none",
            "6ab568db0780401a5883c155d9933502",
            "",
        );
        assert!(header.ends_with("response=\"4d057eecb25bc8ae0cdf9186a409cdbb\""), "{header}");
        assert_eq!(
            respond("", "user", "pass", "/noauthhdr", "c", ""),
            "Digest username=\"user\", uri=\"/noauthhdr\", nc=00000001, cnonce=\"c\", response=\"086be8c774269031b962970608b1ae70\""
        );
    }

    #[test]
    fn challenges() {
        let check = |value: &str, expect: [&str; 5]| {
            let found = Challenge::parse(value);
            let found = [&found.realm, &found.nonce, &found.opaque, &found.algorithm, &found.qop].map(String::as_str);
            assert_eq!(found, expect, "{value}");
        };
        check("Digest realm=\"a, \\\"b\\\"\",nonce = x , OPAQUE=\"\"", ["a, \"b\"", "x", "", "", ""]);
        check("digest domain=\"/ /b\", algorithm=SHA-256, qop=auth", ["", "", "", "SHA-256", "auth"]);
        check("Digest realm=\"unfinished", ["unfinished", "", "", "", ""]);
        check("Digest", ["", "", "", "", ""]);
        check("Digest =,=\"\\", ["", "", "", "", ""]);
    }

    #[test]
    fn the_digest_challenge_is_answered() {
        let values = [&b"Basic realm=\"b\""[..], b"Digest realm=\"r\", nonce=\"n\", qop=\"auth-int,auth\""];
        let credentials = Credentials { user: "u".to_owned(), password: "p".to_owned() };
        let question = Question { method: "GET", target: "/", body: &[], client_nonce: "c" };
        let header = answer(values.into_iter(), &credentials, &question);
        assert!(header.contains("realm=\"r\"") && header.contains("qop=auth,"), "{header}");
    }

    #[test]
    fn bodies_are_part_of_auth_int() {
        let challenge = "Digest realm=\"r\", nonce=\"n1\", algorithm=MD5-sess, qop=\"auth-int\"";
        let (one, other) = (respond(challenge, "u", "p", "/", "c", "a"), respond(challenge, "u", "p", "/", "c", "b"));
        assert!(one.contains("qop=auth-int") && one != other, "{one}");
    }

    proptest! {
        #[test]
        fn no_challenge_breaks_out_of_its_header(value in proptest::collection::vec(any::<u8>(), 0..120)) {
            let credentials = Credentials { user: "u\r\n".to_owned(), password: String::new() };
            let question = Question { method: "GET", target: "/", body: &[], client_nonce: "c" };
            let header = answer([&value[..]].into_iter(), &credentials, &question);
            prop_assert!(header.starts_with("Digest ") && !header.contains(['\r', '\n', '\0']));
        }
    }
}
