//! AWS Signature Version 4: who asks, proven for each request and its body.

use std::fmt::Write as _;

use aws_lc_rs::{digest, hmac};
use jiff::Timestamp;
use onrush_net::{RequestHeaders, Url};

/// Who asks, and for what.
#[derive(Clone)]
pub struct SigV4 {
    /// Such as `eu-central-1`.
    pub region: String,
    /// Amazon's name of the service: `aps` is its Prometheus.
    pub service: &'static str,
    /// The key's number.
    pub access_key: String,
    /// The key.
    pub secret_key: String,
    /// What comes with keys that are valid for some hours.
    pub session_token: Option<String>,
}

impl SigV4 {
    /// Adds what proves it to the headers of a request with this body at this time.
    pub(crate) fn sign(&self, headers: &mut RequestHeaders, url: &Url, body: &[u8], unix_s: i64) {
        let time = time_of(unix_s);
        let hash = hex(digest::digest(&digest::SHA256, body).as_ref());
        headers.set("X-Amz-Date", &time);
        headers.set("X-Amz-Content-Sha256", &hash);
        if let Some(token) = &self.session_token {
            headers.set("X-Amz-Security-Token", token);
        }
        let host = headers.get("Host").unwrap_or_else(|| url.authority()).to_owned();
        let own = headers.iter().filter(|(name, _)| is_signed(name));
        let mut signed: Vec<(String, String)> =
            own.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
        signed.push(("host".to_owned(), host));
        let request =
            Canonical { method: "POST", path: url.path(), query: url.query().unwrap_or_default(), headers: signed };
        headers.set("Authorization", &self.authorization(request, &hash, &time));
    }

    fn authorization(&self, request: Canonical<'_>, body_hash: &str, time: &str) -> String {
        let day = &time[..time.len().min(8)];
        let (request, names) = request.text(body_hash);
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let request = hex(digest::digest(&digest::SHA256, request.as_bytes()).as_ref());
        let to_sign = format!("{ALGORITHM}\n{time}\n{scope}\n{request}");
        let mut key = format!("AWS4{}", self.secret_key).into_bytes();
        for part in [day, &self.region, self.service, "aws4_request"] {
            key = mac(&key, part);
        }
        let signature = hex(&mac(&key, &to_sign));
        format!("{ALGORITHM} Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", self.access_key)
    }
}

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Not those that whoever passes a request on may change, and not the signature's own.
fn is_signed(name: &str) -> bool {
    let unsigned = ["authorization", "user-agent", "x-amzn-trace-id", "expect", "host", "connection", "content-length"];
    !unsigned.contains(&name.to_lowercase().as_str())
}

/// What is signed of a request.
struct Canonical<'a> {
    method: &'a str,
    path: &'a str,
    query: &'a str,
    /// Names in lower case.
    headers: Vec<(String, String)>,
}

impl Canonical<'_> {
    /// The text, and the names of its headers.
    fn text(mut self, body_hash: &str) -> (String, String) {
        // Those with one name stay in their order.
        self.headers.sort_by(|one, other| one.0.cmp(&other.0));
        let mut merged: Vec<(String, String)> = Vec::new();
        for (name, value) in self.headers {
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            match merged.last_mut().filter(|(last, _)| *last == name) {
                Some((_, values)) => *values = format!("{values},{value}"),
                None => merged.push((name, value)),
            }
        }
        let path = if self.path.is_empty() { "/" } else { self.path };
        let mut pairs: Vec<(String, String)> = self
            .query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (written(name, false), written(value, false))
            })
            .collect();
        pairs.sort();
        let query = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
        let names = merged.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
        let mut text = format!("{}\n{}\n{query}\n", self.method, written(path, true));
        for (name, value) in &merged {
            // Writing to memory cannot fail.
            let _ = writeln!(text, "{name}:{value}");
        }
        let _ = write!(text, "\n{names}\n{body_hash}");
        (text, names)
    }
}

/// As it is signed. A path is that of the wire, and escaped once more; in a query what is escaped stays so.
fn written(text: &str, is_path: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let is_kept = if is_path { byte == b'/' } else { byte == b'%' };
        if is_kept || byte.is_ascii_alphanumeric() || [b'-', b'_', b'.', b'~'].contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// `20150830T123600Z`.
fn time_of(unix_s: i64) -> String {
    Timestamp::from_second(unix_s).unwrap_or(Timestamp::UNIX_EPOCH).strftime("%Y%m%dT%H%M%SZ").to_string()
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(service: &'static str) -> SigV4 {
        SigV4 {
            region: "us-east-1".to_owned(),
            service,
            access_key: "AKIDEXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: None,
        }
    }

    /// The published test suite of Signature Version 4: its requests were all made at one time.
    fn check(service: &'static str, method: &str, target: &str, headers: &[(&str, &str)], body: &str, expect: &str) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let time = time_of(1_440_938_160);
        assert_eq!(time, "20150830T123600Z");
        let mut all = vec![("x-amz-date".to_owned(), time.clone())];
        all.extend(headers.iter().map(|(name, value)| (name.to_lowercase(), (*value).to_owned())));
        let hash = hex(digest::digest(&digest::SHA256, body.as_bytes()).as_ref());
        let found = keys(service).authorization(Canonical { method, path, query, headers: all }, &hash, &time);
        assert!(found.ends_with(&format!("Signature={expect}")), "{method} {target}: {found}");
        assert!(found.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/"), "{found}");
    }

    #[test]
    fn the_published_vectors() {
        let host = ("Host", "example.amazonaws.com");
        check("service", "GET", "/", &[host], "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
        check("service", "POST", "/", &[host], "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
        check(
            "service",
            "GET",
            "/?Param2=value2&Param1=value1",
            &[host],
            "",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        );
        let form = ("Content-Type", "application/x-www-form-urlencoded");
        check(
            "service",
            "POST",
            "/",
            &[form, host],
            "Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        );
        // The example of the documentation of signing.
        check(
            "iam",
            "GET",
            "/?Action=ListUsers&Version=2010-05-08",
            &[("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"), ("Host", "iam.amazonaws.com")],
            "",
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        );
    }

    #[test]
    fn requests_get_headers() {
        let url = Url::parse("https://aps-workspaces.eu-central-1.amazonaws.com/workspaces/ws-1/api/v1/remote_write");
        let mut headers = RequestHeaders::default();
        headers.set("Content-Encoding", "snappy");
        let keys = SigV4 { session_token: Some("for some hours".to_owned()), ..keys("aps") };
        keys.sign(&mut headers, &url.expect("a URL"), b"body", 1_440_938_160);
        assert_eq!(headers.get("X-Amz-Date"), Some("20150830T123600Z"));
        assert_eq!(headers.get("X-Amz-Security-Token"), Some("for some hours"));
        let found = headers.get("Authorization").expect("a signature");
        let names = "SignedHeaders=content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, ";
        assert!(found.contains(names), "{found}");
        assert!(!found.contains("wJalr"), "{found}");
    }
}
