//! NTLM, version 2, as clients speak it over HTTP: a first message that says nothing, the server's challenge, and the
//! answer to it, all three on one connection (MS-NLMP).
//!
//! No signing, no sealing, no session key: HTTP uses none of them.

use base64::Engine;
use md4::Md4;
use md5::{Digest, Md5};

use super::{Credentials, base64_of};
use crate::error::NetError;

/// The scheme that a server offers, NTLM itself if it can be chosen. `None` where it offers neither.
pub fn scheme_offered<'a>(challenges: impl Iterator<Item = &'a [u8]> + Clone) -> Option<&'static str> {
    let offers = |word: &str| {
        challenges.clone().any(|value| {
            let scheme = value.split(|byte| *byte == b' ').next().unwrap_or_default();
            scheme.eq_ignore_ascii_case(word.as_bytes())
        })
    };
    ["NTLM", "Negotiate"].into_iter().find(|word| offers(word))
}

/// The value of `Authorization` that opens a handshake.
pub fn negotiate(scheme: &str) -> String {
    format!("{scheme} {}", base64_of(&NEGOTIATE))
}

/// The challenge in the values of `WWW-Authenticate`; `None` where there is none.
pub fn challenge<'a>(mut values: impl Iterator<Item = &'a [u8]>, scheme: &str) -> Option<&'a [u8]> {
    values.find_map(|value| {
        let (word, rest) = value.split_at_checked(scheme.len())?;
        let token = rest.trim_ascii();
        (word.eq_ignore_ascii_case(scheme.as_bytes()) && !token.is_empty()).then_some(token)
    })
}

/// What makes one answer differ from the next.
#[derive(Debug, Clone, Copy)]
pub struct Fresh {
    /// Random bytes.
    pub client_challenge: [u8; 8],
    /// Milliseconds since 1970, used where the server does not say what time it is.
    pub now_ms: u64,
}

/// The value of `Authorization` that answers a challenge.
///
/// # Errors
/// Code 1000: the challenge is no NTLM message, or asks for what only version 1 or a session key can give.
pub fn authenticate(
    scheme: &str,
    challenge: &[u8],
    credentials: &Credentials,
    fresh: Fresh,
) -> Result<String, NetError> {
    let message = base64::engine::general_purpose::STANDARD
        .decode(challenge)
        .map_err(|_| NetError::generic("NTLM challenge is not valid base64"))?;
    let answer = Challenge::parse(&message)?.answer(credentials, fresh)?;
    Ok(format!("{scheme} {}", base64_of(&answer)))
}

/// The first message: Unicode, version 2, no domain and no workstation, as k6's library sends it.
const NEGOTIATE: [u8; 40] = [
    b'N', b'T', b'L', b'M', b'S', b'S', b'P', 0, 1, 0, 0, 0, 0x01, 0x82, 0x88, 0xa0, 0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0,
    0, 40, 0, 0, 0, 6, 1, 0xb1, 0x1d, 0, 0, 0, 15,
];
const SIGNATURE: &[u8] = b"NTLMSSP\0";
const FLAG_UNICODE: u32 = 1;
const FLAG_LM_KEY: u32 = 0x80;
const FLAG_VERSION: u32 = 0x0200_0000;
const FLAG_KEY_EXCHANGE: u32 = 0x4000_0000;
const ATTRIBUTE_TIMESTAMP: u16 = 7;
/// Length of the last message's fixed part.
const HEADER_BYTES: usize = 64;

/// The server's message.
struct Challenge<'a> {
    flags: u32,
    nonce: [u8; 8],
    target_info: &'a [u8],
}

impl<'a> Challenge<'a> {
    fn parse(message: &'a [u8]) -> Result<Self, NetError> {
        let broken = || NetError::generic("NTLM challenge is not a valid message");
        let word = |at: usize| message.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        if !message.starts_with(SIGNATURE) || word(8) != Some(2) {
            return Err(broken());
        }
        let flags = word(20).ok_or_else(broken)?;
        let nonce = message.get(24..32).and_then(|bytes| bytes.try_into().ok()).ok_or_else(broken)?;
        if flags & FLAG_LM_KEY != 0 {
            return Err(NetError::generic(
                "Only NTLM v2 is supported, but server requested v1 (NTLMSSP_NEGOTIATE_LM_KEY)",
            ));
        }
        if flags & FLAG_KEY_EXCHANGE != 0 {
            return Err(NetError::generic("Key exchange requested but not supported (NTLMSSP_NEGOTIATE_KEY_EXCH)"));
        }
        if flags & FLAG_UNICODE == 0 {
            return Err(NetError::generic("NTLM challenge without Unicode is not supported"));
        }
        let target_info = match (message.get(40..42), word(44)) {
            (Some(&[low, high]), Some(offset)) => {
                let (start, length) = (offset as usize, usize::from(u16::from_le_bytes([low, high])));
                message.get(start..start.saturating_add(length)).ok_or_else(broken)?
            }
            _ => &[],
        };
        Ok(Self { flags, nonce, target_info })
    }

    fn answer(&self, credentials: &Credentials, fresh: Fresh) -> Result<Vec<u8>, NetError> {
        let (domain, user) = credentials.user.split_once('\\').unwrap_or(("", &credentials.user));
        let key = hmac_md5(
            &Md4::digest(utf16(&credentials.password)),
            &[&utf16(&format!("{}{domain}", user.to_uppercase()))],
        );
        let server_time = timestamp(self.target_info);
        let time = server_time.unwrap_or_else(|| file_time(fresh.now_ms).to_le_bytes());
        let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
        blob.extend_from_slice(&time);
        blob.extend_from_slice(&fresh.client_challenge);
        blob.extend_from_slice(&[0; 4]);
        blob.extend_from_slice(self.target_info);
        blob.extend_from_slice(&[0; 4]);
        let proof = hmac_md5(&key, &[&self.nonce, &blob]);
        let answer = [&proof[..], &blob].concat();
        // With a time of the server's the older answer is left out.
        let older = match server_time {
            Some(_) => Vec::new(),
            None => {
                let proof = hmac_md5(&key, &[&self.nonce, &fresh.client_challenge]);
                [&proof[..], &fresh.client_challenge].concat()
            }
        };
        self.message([&older, &answer, &utf16(domain), &utf16(user), &[]])
    }

    /// The message around its parts: both answers, domain, user, workstation.
    fn message(&self, parts: [&[u8]; 5]) -> Result<Vec<u8>, NetError> {
        let too_long = || NetError::generic(format!("NTLM answer has a part of more than {} bytes", u16::MAX));
        let mut out = [SIGNATURE, &[3, 0, 0, 0]].concat();
        let mut offset = HEADER_BYTES;
        for part in parts {
            let length = u16::try_from(part.len()).map_err(|_| too_long())?.to_le_bytes();
            out.extend_from_slice(&length);
            out.extend_from_slice(&length);
            out.extend_from_slice(&u32::try_from(offset).map_err(|_| too_long())?.to_le_bytes());
            offset += part.len();
        }
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&(self.flags & !FLAG_VERSION).to_le_bytes());
        for part in parts {
            out.extend_from_slice(part);
        }
        Ok(out)
    }
}

/// The server's time among the attributes of its challenge.
fn timestamp(mut attributes: &[u8]) -> Option<[u8; 8]> {
    loop {
        let (&[id_low, id_high, length_low, length_high], rest) = attributes.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([length_low, length_high])))?;
        match u16::from_le_bytes([id_low, id_high]) {
            0 => return None,
            ATTRIBUTE_TIMESTAMP => return value.try_into().ok(),
            _ => attributes = rest,
        }
    }
}

/// Tenths of microseconds since 1601.
fn file_time(unix_ms: u64) -> u64 {
    const MS_FROM_1601_TO_1970: u64 = 11_644_473_600_000;
    (unix_ms + MS_FROM_1601_TO_1970) * 10_000
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// RFC 2104 with MD5, whose block is 64 bytes; keys here are 16 bytes.
fn hmac_md5(key: &[u8], pieces: &[&[u8]]) -> [u8; 16] {
    let padded = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let mut inner = Md5::new();
    inner.update(padded(0x36));
    pieces.iter().for_each(|piece| inner.update(piece));
    let mut outer = Md5::new();
    outer.update(padded(0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

/// Answers a challenge, in base64 or as it is, and reads the answer's table of contents.
pub(super) fn fuzz(values: &[&[u8]], credentials: &Credentials) {
    let fresh = Fresh { client_challenge: [7; 8], now_ms: 1_790_000_000_000 };
    let Some(scheme) = scheme_offered(values.iter().copied()) else { return };
    let Some(token) = challenge(values.iter().copied(), scheme) else { return };
    assert!(token.trim_ascii() == token && !token.is_empty(), "{}", token.escape_ascii());
    for token in [token, base64_of(token).as_bytes()] {
        let Ok(header) = authenticate(scheme, token, credentials, fresh) else { continue };
        let (word, encoded) = header.split_once(' ').unwrap_or_default();
        assert_eq!(word, scheme);
        let message = base64::engine::general_purpose::STANDARD.decode(encoded).expect("it was just encoded");
        let number = |at: usize, bytes: usize| {
            message[at..at + bytes].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
        };
        assert!(message.starts_with(SIGNATURE) && number(8, 4) == 3, "{}", message.escape_ascii());
        let mut end = HEADER_BYTES;
        for field in (12..52).step_by(8) {
            assert_eq!(number(field + 4, 4), end, "the part at {field} begins where the one before it ends");
            assert_eq!(number(field, 2), number(field + 2, 2));
            end += number(field, 2);
        }
        assert_eq!(end, message.len(), "the parts are all there is");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        hexadecimal
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    /// A challenge of a server that says what time it is.
    fn challenge_message() -> Vec<u8> {
        bytes(
            "4e544c4d5353500002000000060006003800000005828 9a20123456789abcdef0000000000000000240024003e0000000601b11d0000000f44004f004d000200060044004f004d00010006005300520056000700080001020304050607080000 0000"
                .replace(' ', "")
                .as_str(),
        )
    }

    /// The messages k6 v1.8.1 sent to that server.
    #[test]
    fn messages_as_k6_sends_them() {
        assert_eq!(negotiate("NTLM"), "NTLM TlRMTVNTUAABAAAAAYKIoAAAAAAoAAAAAAAAACgAAAAGAbEdAAAADw==");
        let check = |user: &str, client_challenge: &str, expect: &str| {
            let credentials = Credentials { user: user.to_owned(), password: "pass".to_owned() };
            let fresh = Fresh { client_challenge: bytes(client_challenge).try_into().unwrap(), now_ms: 0 };
            let challenge = base64_of(&challenge_message());
            let answer = authenticate("NTLM", challenge.as_bytes(), &credentials, fresh).unwrap();
            assert_eq!(answer, format!("NTLM {}", base64_of(&bytes(expect))), "{user}");
        };
        check(
            "DOM\\user",
            "df34b26db3e3f6df",
            "4e544c4d5353500003000000000000004000000054005400400000000600060094000000080008009a00000000000000a20000000000000000000000058289a0d9c5590d56c3e6513c51f115bc7b8fe101010000000000000102030405060708df34b26db3e3f6df000000000200060044004f004d0001000600530052005600070008000102030405060708000000000000000044004f004d007500730065007200",
        );
        check(
            "user",
            "ecabeefbffd7f3d3",
            "4e544c4d53535000030000000000000040000000540054004000000000000000940000000800080094000000000000009c0000000000000000000000058289a0ab8a0fafe0dd9da006eb699baed86d8201010000000000000102030405060708ecabeefbffd7f3d3000000000200060044004f004d000100060053005200560007000800010203040506070800000000000000007500730065007200",
        );
        check(
            "user@dom",
            "3f0a56f14fd73ed0",
            "4e544c4d5353500003000000000000004000000054005400400000000000000094000000100010009400000000000000a40000000000000000000000058289a0449f995ffb82ddfd0453f71e62bc5c18010100000000000001020304050607083f0a56f14fd73ed0000000000200060044004f004d000100060053005200560007000800010203040506070800000000000000007500730065007200400064006f006d00",
        );
    }

    #[test]
    fn offers_and_challenges() {
        let scheme = |values: &[&'static str]| scheme_offered(values.iter().map(|value| value.as_bytes()));
        assert_eq!(scheme(&["Negotiate", "NTLM"]), Some("NTLM"));
        assert_eq!(scheme(&["Basic realm=x", "negotiate"]), Some("Negotiate"));
        assert_eq!(scheme(&["NTLMish", "Basic realm=x"]), None);
        let token = |value: &'static str| challenge([value.as_bytes()].into_iter(), "NTLM");
        assert_eq!(token("ntlm AAA="), Some(&b"AAA="[..]));
        assert_eq!(token("NTLM"), None);
    }

    #[test]
    fn challenges_that_cannot_be_answered() {
        let check = |change: fn(&mut Vec<u8>), expect: &str| {
            let mut message = challenge_message();
            change(&mut message);
            let error = Challenge::parse(&message).err().unwrap();
            assert!(error.message.contains(expect), "{}", error.message);
        };
        check(|message| message.truncate(30), "not a valid message");
        check(|message| message[8] = 3, "not a valid message");
        check(|message| message[40] = 255, "not a valid message");
        check(|message| message[20] |= 0x80, "v1");
        check(|message| message[23] |= 0x40, "Key exchange");
        check(|message| message[20] &= 0xfe, "Unicode");
        assert!(
            authenticate(
                "NTLM",
                b"???",
                &Credentials { user: String::new(), password: String::new() },
                Fresh { client_challenge: [0; 8], now_ms: 0 }
            )
            .is_err()
        );
    }

    #[test]
    fn without_a_time_of_the_server_both_answers_are_given() {
        let mut message = challenge_message();
        message[40] = 0;
        let challenge = Challenge::parse(&message).unwrap();
        let credentials = Credentials { user: "u".to_owned(), password: "p".to_owned() };
        let answer =
            challenge.answer(&credentials, Fresh { client_challenge: [1; 8], now_ms: 1_700_000_000_000 }).unwrap();
        assert_eq!(answer[12], 24);
        assert_eq!(answer[64 + 16..64 + 24], [1; 8]);
    }

    #[test]
    fn what_has_no_room_in_an_answer_is_told() {
        let mut message = challenge_message();
        message.truncate(56);
        message[40..48].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 56, 0, 0, 0]);
        message.resize(56 + 0xffff, 0);
        let credentials = Credentials { user: "u".to_owned(), password: "p".to_owned() };
        let fresh = Fresh { client_challenge: [1; 8], now_ms: 0 };
        let error = authenticate("NTLM", base64_of(&message).as_bytes(), &credentials, fresh).unwrap_err();
        assert_eq!(error.message, "NTLM answer has a part of more than 65535 bytes");
    }

    proptest! {
        #[test]
        fn no_challenge_panics(tail in proptest::collection::vec(any::<u8>(), 0..100)) {
            let message = [SIGNATURE, &[2, 0, 0, 0], &tail].concat();
            let credentials = Credentials { user: "u".to_owned(), password: String::new() };
            let _ = authenticate("NTLM", base64_of(&message).as_bytes(), &credentials, Fresh { client_challenge: [0; 8], now_ms: 0 });
        }
    }
}
