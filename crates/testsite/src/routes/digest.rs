//! Digest authentication, RFC 7616 and what it replaced.
//!
//! Nonces carry their own proof, so the server keeps nothing: a number of times they have been renewed, 64 random bits,
//! and a keyed hash of both.

use std::hash::BuildHasher;

use aws_lc_rs::digest::{Algorithm, SHA256, SHA512, SHA512_256, digest};
use md5::{Digest, Md5};

use super::request::{Outcome, Request, bad_request, decode, not_found, number_field};
use crate::{body::Body, context::Context, head::Head, json::Json, reply::Built, routes::auth::credentials};

const REALM: &str = "onrush";
const OPAQUE: &str = "6f6e72757368";
/// Renewals a request can ask for with `?stale=`.
const RENEWALS_MAX: u64 = 9;

/// `rest` is `{qop}/{user}/{password}[/{algorithm}[/{stale_after}]]`.
pub(super) fn digest_auth(request: &Request<'_>, rest: &str, cx: &mut Context) -> Outcome {
    let segments: Vec<String> = rest.split('/').map(decode).collect();
    let (qop, user, password) = match segments.as_slice() {
        [qop, user, password, rest @ ..] if rest.len() <= 2 => (qop.as_str(), user, password),
        _ => return Err(not_found()),
    };
    let algorithm = segments.get(3).map_or("MD5", String::as_str);
    if Hash::of(algorithm).is_none() {
        return Err(bad_request("the algorithm is MD5, SHA-256, SHA-512 or SHA-512-256, with or without -sess"));
    }
    let qops: &[&str] = match qop {
        "auth" => &["auth"],
        "auth-int" => &["auth-int"],
        "both" | "auth,auth-int" => &["auth", "auth-int"],
        "none" => &[],
        _ => return Err(bad_request("the qop is auth, auth-int, both or none")),
    };
    let stale_after = match segments.get(4).map(String::as_str) {
        None | Some("never") => u64::MAX,
        Some(count) => count.parse().map_err(|_| bad_request("stale_after is never or a number of uses"))?,
    };
    let stale = number_field(request.head.query, "stale", 0)?.min(RENEWALS_MAX);
    let expected = Expected { qops, user, password, algorithm };
    let challenge = |renewals: u64, stale: bool, why: &str, cx: &mut Context| {
        let nonce = new_nonce(renewals, cx);
        let mut value = format!("Digest realm=\"{REALM}\", nonce=\"{nonce}\", ");
        if !qops.is_empty() {
            value.push_str(&format!("qop=\"{}\", ", qops.join(", ")));
        }
        value.push_str(&format!(
            "opaque=\"{OPAQUE}\", algorithm={algorithm}, stale={}",
            if stale { "TRUE" } else { "FALSE" }
        ));
        Box::new(Built::explained(401, why).with("WWW-Authenticate", &value))
    };
    let Some(given) = credentials(request.head, b"digest ") else {
        return Err(challenge(0, false, "credentials are needed", cx));
    };
    let given = parameters(&String::from_utf8_lossy(given));
    let Some(renewals) = value(&given, "nonce").and_then(|nonce| renewals_of(nonce, cx)) else {
        return Err(challenge(0, true, "the nonce is not one of this server's", cx));
    };
    if let Err(why) = expected.check(&given, request) {
        return Err(challenge(renewals, false, why, cx));
    }
    let uses = value(&given, "nc").and_then(|count| u64::from_str_radix(count, 16).ok()).unwrap_or(1);
    if renewals < stale || uses > stale_after {
        return Err(challenge(renewals + 1, true, "the nonce is stale", cx));
    }
    let mut json = Json::new();
    json.open();
    json.key("authenticated").boolean(true);
    json.key("user").string(user);
    json.key("qop").string(value(&given, "qop").unwrap_or(""));
    json.key("algorithm").string(algorithm);
    json.close();
    Ok(Built::json(json.finish()))
}

/// What the path says credentials must be.
struct Expected<'a> {
    qops: &'a [&'a str],
    user: &'a str,
    password: &'a str,
    algorithm: &'a str,
}

impl Expected<'_> {
    fn check(&self, given: &[(String, String)], request: &Request<'_>) -> Result<(), &'static str> {
        let get = |name: &str| value(given, name).unwrap_or("");
        let hash = Hash::of(self.algorithm).ok_or("unknown algorithm")?;
        if get("username") != self.user {
            return Err("unknown user");
        }
        if get("realm") != REALM || get("opaque") != OPAQUE {
            return Err("the realm or opaque value is not what was sent");
        }
        if get("uri") != target_of(request.head) {
            return Err("the uri is not the request's");
        }
        if value(given, "algorithm").unwrap_or("MD5") != self.algorithm {
            return Err("the algorithm is not the one that was asked for");
        }
        let qop = get("qop");
        let offered = self.qops.contains(&qop) || self.qops.is_empty() && qop.is_empty();
        if !offered {
            return Err("the qop is not one that was offered");
        }
        let (nonce, count, own) = (get("nonce"), get("nc"), get("cnonce"));
        if !qop.is_empty() && (count.len() != 8 || own.is_empty()) {
            return Err("nc or cnonce is missing");
        }
        let mut first = hash.hex(format!("{}:{REALM}:{}", self.user, self.password).as_bytes());
        if self.algorithm.ends_with("-sess") {
            first = hash.hex(format!("{first}:{nonce}:{own}").as_bytes());
        }
        let mut second = format!("{}:{}", request.head.method, get("uri"));
        if qop == "auth-int" {
            let body = match &request.body {
                Body::Kept { data, total } if *total == data.len() as u64 => *data,
                _ => return Err("the body is too large for auth-int here"),
            };
            second.push_str(&format!(":{}", hash.hex(body)));
        }
        let second = hash.hex(second.as_bytes());
        let whole = match qop {
            "" => format!("{first}:{nonce}:{second}"),
            _ => format!("{first}:{nonce}:{count}:{own}:{qop}:{second}"),
        };
        if get("response") == hash.hex(whole.as_bytes()) { Ok(()) } else { Err("wrong password") }
    }
}

/// The target as the client wrote it, but for an absolute form's beginning.
fn target_of(head: &Head<'_>) -> String {
    if head.query.is_empty() { head.path.to_owned() } else { format!("{}?{}", head.path, head.query) }
}

#[derive(Clone, Copy)]
enum Hash {
    Md5,
    Sha(&'static Algorithm),
}

impl Hash {
    fn of(name: &str) -> Option<Self> {
        Some(match name.strip_suffix("-sess").unwrap_or(name) {
            "MD5" => Self::Md5,
            "SHA-256" => Self::Sha(&SHA256),
            "SHA-512" => Self::Sha(&SHA512),
            "SHA-512-256" => Self::Sha(&SHA512_256),
            _ => return None,
        })
    }

    fn hex(self, data: &[u8]) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self {
            Self::Md5 => hex(&Md5::digest(data)),
            Self::Sha(algorithm) => hex(digest(algorithm, data).as_ref()),
        }
    }
}

fn new_nonce(renewals: u64, cx: &mut Context) -> String {
    let renewals = renewals.min(RENEWALS_MAX);
    let random = cx.random();
    format!("{renewals:x}{random:016x}{:016x}", proof(renewals, random, cx))
}

fn renewals_of(nonce: &str, cx: &Context) -> Option<u64> {
    let number = |from: usize, to: usize| u64::from_str_radix(nonce.get(from..to)?, 16).ok();
    let (renewals, random, given) = (number(0, 1)?, number(1, 17)?, number(17, 33)?);
    (nonce.len() == 33 && proof(renewals, random, cx) == given).then_some(renewals)
}

fn proof(renewals: u64, random: u64, cx: &Context) -> u64 {
    cx.shared.secret.hash_one(("digest", renewals, random))
}

/// Splits `name=value, name="quoted value"`.
fn parameters(text: &str) -> Vec<(String, String)> {
    /// RFC 7616 names a dozen.
    const PARAMETERS_MAX: usize = 32;
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some((name, after)) = rest.split_once('=')
        && found.len() < PARAMETERS_MAX
    {
        let name = name.trim().to_ascii_lowercase();
        let mut value = String::new();
        let after = after.trim_start();
        if let Some(quoted) = after.strip_prefix('"') {
            let mut letters = quoted.char_indices();
            let mut end = quoted.len();
            while let Some((at, letter)) = letters.next() {
                match letter {
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
                    _ => value.push(letter),
                }
            }
            rest = &quoted[end..];
        } else {
            let end = after.find(',').unwrap_or(after.len());
            value.push_str(after[..end].trim());
            rest = &after[end..];
        }
        rest = rest.trim_start().trim_start_matches(',').trim_start();
        found.push((name, value));
    }
    found
}

fn value<'a>(given: &'a [(String, String)], name: &str) -> Option<&'a str> {
    given.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_with_and_without_quotes() {
        let parsed = parameters("username=\"a \\\"b\\\", c\" , qop=auth,nc=00000001, uri=\"/x?a=1,2\", bad");
        let expect = [("username", "a \"b\", c"), ("qop", "auth"), ("nc", "00000001"), ("uri", "/x?a=1,2")];
        assert_eq!(parsed, expect.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(parameters("a=\"open"), [("a".to_owned(), "open".to_owned())]);
        assert_eq!(parameters(""), []);
    }

    #[test]
    fn hashes() {
        let hex = |name: &str| Hash::of(name).unwrap().hex(b"abc");
        assert_eq!(hex("MD5"), "900150983cd24fb0d6963f7d28e17f72");
        assert!(hex("SHA-256-sess").starts_with("ba7816bf"));
        assert!(hex("SHA-512-256").starts_with("53048e26"));
        assert!(Hash::of("md4").is_none());
    }
}
