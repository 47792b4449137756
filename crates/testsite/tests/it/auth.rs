//! Digest and NTLM, with a client written for these tests.

use aws_lc_rs::digest::{SHA256, SHA512_256, digest};
use base64::{Engine, engine::general_purpose::STANDARD};
use md5::{Digest, Md5};

use crate::client::{Client, Response, connect, target};

fn hash(algorithm: &str, text: &str) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match algorithm {
        "MD5" => hex(&Md5::digest(text)),
        "SHA-256" => hex(digest(&SHA256, text.as_bytes()).as_ref()),
        _ => hex(digest(&SHA512_256, text.as_bytes()).as_ref()),
    }
}

/// One parameter of the challenge.
fn parameter(response: &Response, name: &str) -> String {
    let challenge = response.header("www-authenticate").unwrap();
    let (_, rest) = challenge.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{name} in {challenge}"));
    rest.trim_start_matches('"').split(['"', ',']).next().unwrap().to_owned()
}

/// The answer to a challenge.
fn answer(challenge: &Response, method: &str, uri: &str, qop: &str, count: u32, password: &str, body: &str) -> String {
    let algorithm = parameter(challenge, "algorithm");
    let base = algorithm.trim_end_matches("-sess").to_owned();
    let h = |text: String| hash(&base, &text);
    let (realm, nonce) = (parameter(challenge, "realm"), parameter(challenge, "nonce"));
    let mut first = h(format!("user:{realm}:{password}"));
    if algorithm.ends_with("-sess") {
        first = h(format!("{first}:{nonce}:own"));
    }
    let second = match qop {
        "auth-int" => h(format!("{method}:{uri}:{}", h(body.to_owned()))),
        _ => h(format!("{method}:{uri}")),
    };
    let (whole, chosen) = match qop {
        "" => (format!("{first}:{nonce}:{second}"), String::new()),
        _ => (
            format!("{first}:{nonce}:{count:08x}:own:{qop}:{second}"),
            format!(", qop={qop}, nc={count:08x}, cnonce=\"own\""),
        ),
    };
    format!(
        "Authorization: Digest username=\"user\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{uri}\", \
         algorithm={algorithm}, opaque=\"{}\", response=\"{}\"{chosen}",
        parameter(challenge, "opaque"),
        h(whole),
    )
}

#[test]
fn digest_with_every_algorithm_and_qop() {
    let target = target();
    let mut client = connect(target.addr);
    for algorithm in ["MD5", "SHA-256", "SHA-512-256", "MD5-sess", "SHA-256-sess"] {
        for (offered, qop) in [("auth", "auth"), ("auth-int", "auth-int"), ("both", "auth-int"), ("none", "")] {
            if qop.is_empty() && algorithm.ends_with("-sess") {
                // Without a qop there is no nonce of the client's to make a session of.
                continue;
            }
            let uri = format!("/digest-auth/{offered}/user/secret/{algorithm}?a=1");
            let challenge = client.request("POST", &uri, "", b"body");
            assert_eq!((challenge.status, parameter(&challenge, "stale").as_str()), (401, "FALSE"));
            let good = answer(&challenge, "POST", &uri, qop, 1, "secret", "body");
            let response = client.request("POST", &uri, &good, b"body");
            assert_eq!(response.status, 200, "{algorithm} {qop}: {}", response.text());
            assert_eq!((&response.json()["user"], &response.json()["qop"]), (&"user".into(), &qop.into()));
            let bad = answer(&challenge, "POST", &uri, qop, 1, "wrong", "body");
            assert_eq!(client.request("POST", &uri, &bad, b"body").status, 401);
            if qop == "auth-int" {
                assert_eq!(client.request("POST", &uri, &good, b"other").status, 401);
            }
        }
    }
    for bad in ["/digest-auth/auth/user", "/digest-auth/auth/a/b/MD5/1/2"] {
        assert_eq!(client.get(bad).status, 404, "{bad}");
    }
    for bad in ["/digest-auth/x/user/p", "/digest-auth/auth/user/p/CRC", "/digest-auth/auth/user/p/MD5/x"] {
        assert_eq!(client.get(bad).status, 400, "{bad}");
    }
}

#[test]
fn stale_nonces() {
    let target = target();
    let mut client = connect(target.addr);
    let uri = "/digest-auth/auth/user/secret/MD5/2";
    let challenge = client.get(uri);
    for (count, status) in [(1, 200), (2, 200), (3, 401)] {
        let given = answer(&challenge, "GET", uri, "auth", count, "secret", "");
        assert_eq!(client.request("GET", uri, &given, b"").status, status);
    }
    let uri = "/digest-auth/auth/user/secret?stale=1";
    let first = client.get(uri);
    let second = client.request("GET", uri, &answer(&first, "GET", uri, "auth", 1, "secret", ""), b"");
    assert_eq!((second.status, parameter(&second, "stale").as_str()), (401, "TRUE"));
    let third = client.request("GET", uri, &answer(&second, "GET", uri, "auth", 1, "secret", ""), b"");
    assert_eq!(third.status, 200);
    let foreign = answer(&third_party(&first), "GET", uri, "auth", 1, "secret", "");
    let refused = client.request("GET", uri, &foreign, b"");
    assert_eq!((refused.status, parameter(&refused, "stale").as_str()), (401, "TRUE"));
}

/// A challenge whose nonce the target never made.
fn third_party(challenge: &Response) -> Response {
    let value = challenge.header("www-authenticate").unwrap().to_owned();
    let value = value.replace(&parameter(challenge, "nonce"), &"0".repeat(33));
    Response { status: 401, headers: vec![("www-authenticate".to_owned(), value)], body: Vec::new() }
}

#[test]
fn ntlm_is_bound_to_its_connection() {
    let target = target();
    let path = "/ntlm/user/secret";
    let mut client = connect(target.addr);
    let asked = client.get(path);
    assert_eq!((asked.status, asked.header("www-authenticate")), (401, Some("NTLM")));
    let challenge = negotiate(&mut client, path);
    let good = authenticate("user", "secret", &challenge);
    // On another connection nobody was challenged.
    assert_eq!(connect(target.addr).request("GET", path, &good, b"").status, 401);
    let response = client.request("GET", path, &good, b"");
    assert_eq!((response.status, &response.json()["domain"]), (200, &"HOME".into()));
    assert_eq!(client.get(path).status, 200, "the connection stays authenticated");

    let challenge = negotiate(&mut client, path);
    let wrong = authenticate("user", "wrong", &challenge);
    assert_eq!(client.request("GET", path, &wrong, b"").status, 401);
    assert_eq!(client.get(path).status, 401);
    assert_eq!(client.request("GET", path, "Authorization: NTLM !!!", b"").status, 401);
}

fn negotiate(client: &mut Client, path: &str) -> [u8; 8] {
    let message = [b"NTLMSSP\0".as_slice(), &1_u32.to_le_bytes(), &[0; 24]].concat();
    let given = format!("Authorization: NTLM {}", STANDARD.encode(message));
    let response = client.request("GET", path, &given, b"");
    assert_eq!(response.status, 401);
    let answer = response.header("www-authenticate").unwrap().strip_prefix("NTLM ").unwrap();
    STANDARD.decode(answer).unwrap()[24..32].try_into().unwrap()
}

fn authenticate(user: &str, password: &str, challenge: &[u8; 8]) -> String {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let hmac = |key: &[u8], data: &[u8]| -> [u8; 16] {
        let pad = |with: u8| (0..64).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect::<Vec<u8>>();
        let inner = Md5::digest([pad(0x36).as_slice(), data].concat());
        Md5::digest([pad(0x5c).as_slice(), &inner].concat()).into()
    };
    let (name, domain) = (utf16(user), utf16("HOME"));
    let key = hmac(&md4::Md4::digest(utf16(password)), &[utf16(&user.to_uppercase()), domain.clone()].concat());
    let blob = [1; 32];
    let response = [hmac(&key, &[challenge.as_slice(), &blob].concat()).as_slice(), &blob].concat();
    let mut message = [b"NTLMSSP\0".as_slice(), &3_u32.to_le_bytes()].concat();
    let mut at = 64;
    for bytes in [0, response.len(), domain.len(), name.len(), 0, 0] {
        message.extend_from_slice(&[(bytes as u16).to_le_bytes(), (bytes as u16).to_le_bytes()].concat());
        message.extend_from_slice(&(at as u32).to_le_bytes());
        at += bytes;
    }
    message.extend_from_slice(&1_u32.to_le_bytes());
    message.extend_from_slice(&[response, domain, name].concat());
    format!("Authorization: NTLM {}", STANDARD.encode(message))
}
