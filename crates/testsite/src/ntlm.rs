//! The server's side of NTLMv2, as far as HTTP authentication needs it.
//!
//! A handshake is bound to its connection: the challenge is kept there, and so is the success. Signing, sealing and key
//! exchange are not offered. The layout of messages is that of Microsoft's MS-NLMP.

use md4::Md4;
use md5::{Digest, Md5};

/// How far a connection's handshake is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody has asked.
    #[default]
    Start,
    /// This challenge was sent.
    Challenged([u8; CHALLENGE_BYTES]),
    /// It was answered well: the connection is authenticated.
    Done,
}

/// What a client's message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Type 1: asks for a challenge.
    Negotiate,
    /// Type 3: answers one.
    Authenticate,
}

pub(crate) const CHALLENGE_BYTES: usize = 8;

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";
/// Longest message read: responses are some hundred bytes, names are short.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;
const PROOF_BYTES: usize = 16;
/// What the server says its names are.
const DOMAIN: &str = "ONRUSH";
const COMPUTER: &str = "TARGET";

/// Unicode, target requested, NTLM, always sign, target is a server, extended session security, target info present,
/// 128 bits. Neither LM keys nor key exchange.
const FLAGS: u32 = 0x2000_0000 | 0x0080_0000 | 0x0008_0000 | 0x0002_0000 | 0x8000 | 0x0200 | 0x0004 | 0x0001;

/// Tells what a message is; `None` when it is none of a client's.
pub(crate) fn kind(message: &[u8]) -> Option<Message> {
    if message.len() > MESSAGE_BYTES_MAX || !message.starts_with(SIGNATURE) {
        return None;
    }
    match u32_at(message, 8)? {
        1 => Some(Message::Negotiate),
        3 => Some(Message::Authenticate),
        _ => None,
    }
}

/// The type 2 message for a challenge. `filetime` is the time in 100 ns since 1601.
pub(crate) fn challenge_message(challenge: [u8; CHALLENGE_BYTES], filetime: u64) -> Vec<u8> {
    /// Bytes before the names.
    const FIXED: u32 = 56;
    let domain = utf16(DOMAIN);
    let computer = utf16(COMPUTER);
    let mut info = Vec::new();
    let stamp = filetime.to_le_bytes();
    // 2 is the domain's NetBIOS name, 1 the computer's, 7 the time, 0 the end.
    for (id, value) in [(2_u16, domain.as_slice()), (1, &computer), (7, &stamp), (0, &[])] {
        info.extend_from_slice(&id.to_le_bytes());
        info.extend_from_slice(&(value.len() as u16).to_le_bytes());
        info.extend_from_slice(value);
    }
    let mut message = SIGNATURE.to_vec();
    let field = |message: &mut Vec<u8>, bytes: usize, at: u32| {
        let length = (bytes as u16).to_le_bytes();
        message.extend_from_slice(&length);
        message.extend_from_slice(&length);
        message.extend_from_slice(&at.to_le_bytes());
    };
    message.extend_from_slice(&2_u32.to_le_bytes());
    field(&mut message, domain.len(), FIXED);
    message.extend_from_slice(&FLAGS.to_le_bytes());
    message.extend_from_slice(&challenge);
    message.extend_from_slice(&[0; 8]);
    field(&mut message, info.len(), FIXED + domain.len() as u32);
    // A version: it is read by nobody but has to be there.
    message.extend_from_slice(&[10, 0, 0, 0, 0, 0, 0, 15]);
    message.extend_from_slice(&domain);
    message.extend_from_slice(&info);
    message
}

/// Checks a type 3 message against what was asked; gives the domain it names.
pub(crate) fn verify(
    message: &[u8],
    challenge: [u8; CHALLENGE_BYTES],
    user: &str,
    password: &str,
) -> Result<String, &'static str> {
    const INCOMPLETE: &str = "the NTLM message is incomplete";
    let response = field_at(message, 20).ok_or(INCOMPLETE)?;
    let domain = field_at(message, 28).ok_or(INCOMPLETE)?;
    let name = field_at(message, 36).ok_or(INCOMPLETE)?;
    let flags = u32_at(message, 60).ok_or(INCOMPLETE)?;
    if flags & 1 == 0 {
        return Err("the NTLM message is not in Unicode");
    }
    if response.len() <= PROOF_BYTES + CHALLENGE_BYTES {
        return Err("the answer is not NTLMv2");
    }
    let (domain, name) = (text(domain), text(name));
    if name != user {
        return Err("unknown user");
    }
    let (proof, blob) = response.split_at(PROOF_BYTES);
    let identity = utf16(&format!("{}{domain}", name.to_uppercase()));
    let key = hmac_md5(&Md4::digest(utf16(password)), &[&identity]);
    if hmac_md5(&key, &[&challenge, blob]) != proof {
        return Err("wrong password, or an answer to another challenge");
    }
    Ok(domain)
}

fn u32_at(message: &[u8], at: usize) -> Option<u32> {
    let bytes = message.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// What a field's length and offset point to.
fn field_at(message: &[u8], at: usize) -> Option<&[u8]> {
    let length = usize::from(u16::from_le_bytes(message.get(at..at + 2)?.try_into().ok()?));
    let start = usize::try_from(u32_at(message, at + 4)?).ok()?;
    message.get(start..start.checked_add(length)?)
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn text(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

/// RFC 2104 with MD5; keys here are never longer than its block.
fn hmac_md5(key: &[u8], parts: &[&[u8]]) -> [u8; PROOF_BYTES] {
    const BLOCK_BYTES: usize = 64;
    let mut block = [0; BLOCK_BYTES];
    block[..key.len()].copy_from_slice(key);
    let mut inner = Md5::new();
    inner.update(block.map(|byte| byte ^ 0x36));
    for part in parts {
        inner.update(part);
    }
    let mut outer = Md5::new();
    outer.update(block.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of MS-NLMP 4.2.4: NTLMv2 with user "User", password "Password", domain "Domain" and the challenge
    /// 0123456789abcdef.
    #[test]
    fn the_published_example_is_accepted() {
        let challenge = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
        let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
        blob.extend_from_slice(&[0; 8]);
        blob.extend_from_slice(&[0xaa; 8]);
        blob.extend_from_slice(&[0; 4]);
        for (id, name) in [(2_u16, "Domain"), (1, "Server")] {
            let name = utf16(name);
            blob.extend_from_slice(&id.to_le_bytes());
            blob.extend_from_slice(&(name.len() as u16).to_le_bytes());
            blob.extend_from_slice(&name);
        }
        blob.extend_from_slice(&[0; 8]);
        let proof = [0x68, 0xcd, 0x0a, 0xb8, 0x51, 0xe5, 0x1c, 0x96, 0xaa, 0xbc, 0x92, 0x7b, 0xeb, 0xef, 0x6a, 0x1c];
        let answer = [proof.as_slice(), &blob].concat();
        let message = authenticate("User", "Domain", &answer);
        assert_eq!(kind(&message), Some(Message::Authenticate));
        assert_eq!(verify(&message, challenge, "User", "Password"), Ok("Domain".to_owned()));
        assert!(verify(&message, challenge, "User", "password").is_err());
        assert!(verify(&message, challenge, "user", "Password").is_err());
        assert!(verify(&message, [0; 8], "User", "Password").is_err());
    }

    fn authenticate(user: &str, domain: &str, answer: &[u8]) -> Vec<u8> {
        let (user, domain) = (utf16(user), utf16(domain));
        let mut message = SIGNATURE.to_vec();
        message.extend_from_slice(&3_u32.to_le_bytes());
        let mut at = 64;
        for bytes in [0, answer.len(), domain.len(), user.len(), 0, 0] {
            let length = (bytes as u16).to_le_bytes();
            message.extend_from_slice(&length);
            message.extend_from_slice(&length);
            message.extend_from_slice(&(at as u32).to_le_bytes());
            at += bytes;
        }
        message.extend_from_slice(&FLAGS.to_le_bytes());
        message.extend_from_slice(&[answer, &domain, &user].concat());
        message
    }

    #[test]
    fn challenges_say_where_their_names_are() {
        let message = challenge_message([7; 8], 5);
        assert_eq!(u32_at(&message, 8), Some(2));
        assert_eq!(field_at(&message, 12).map(text), Some(DOMAIN.to_owned()));
        assert_eq!(message[24..32], [7; 8]);
        assert!(field_at(&message, 40).unwrap().ends_with(&[0; 4]));
        assert_eq!(kind(&message), None);
    }

    proptest! {
        #[test]
        fn no_message_panics(message in proptest::collection::vec(any::<u8>(), 0..120)) {
            let message = [SIGNATURE.as_slice(), &3_u32.to_le_bytes(), &message].concat();
            let _ = kind(&message);
            let _ = verify(&message, [0; 8], "u", "p");
        }
    }
}
