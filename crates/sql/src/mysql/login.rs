//! The server's greeting, TLS, and the ways to show that one knows the password.

use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::{
    ERROR, OK, Target, complaint,
    packet::{Packets, Reader, malformed},
};
use crate::{SqlError, Stream};

/// What the server's greeting says.
struct Greeting {
    capabilities: u64,
    scramble: Vec<u8>,
    plugin: String,
}

pub(super) fn log_in(packets: &mut Packets, stream: &mut impl Stream, target: &Target) -> Result<(), SqlError> {
    let Greeting { capabilities: offered, scramble, plugin } = greeting(&packets.next(stream)?)?;
    if offered & PROTOCOL_41 == 0 {
        return Err(SqlError::broken("this MySQL server is too old: it does not speak protocol 4.1"));
    }
    let mut capabilities = PROTOCOL_41 | LONG_PASSWORD | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH | MULTI_RESULTS;
    for (is_wanted, flag) in [
        (target.has_multi_statements, MULTI_STATEMENTS),
        (target.counts_found_rows, FOUND_ROWS),
        (!target.database.is_empty(), CONNECT_WITH_DB),
        (target.wants_tls, TLS),
    ] {
        capabilities |= if is_wanted { flag } else { 0 };
    }
    let mut body = client_head(capabilities).to_vec();
    if target.wants_tls {
        if offered & TLS == 0 {
            return Err(SqlError::broken("TLS requested but server does not support TLS"));
        }
        // What came along unasked was not protected, and must not be taken for an answer.
        if packets.has_more() {
            return Err(SqlError::broken("the server sent unencrypted data before TLS"));
        }
        packets.reply(stream, &body)?;
        stream.secure()?;
    }
    let answer = first_answer(&plugin, &target.password, &scramble, stream.is_secure())?;
    body.extend_from_slice(target.user.as_bytes());
    body.push(0);
    // At most 255 bytes: a hash, or a password sent over TLS.
    body.push(u8::try_from(answer.len()).map_err(|_| SqlError::broken("the password is too long"))?);
    body.extend_from_slice(&answer);
    if !target.database.is_empty() {
        body.extend_from_slice(target.database.as_bytes());
        body.push(0);
    }
    body.extend_from_slice(plugin.as_bytes());
    body.push(0);
    packets.reply(stream, &body)?;
    converse(packets, stream, target, plugin, scramble)
}

/// What the server asks for until it is content.
fn converse(
    packets: &mut Packets,
    stream: &mut impl Stream,
    target: &Target,
    mut plugin: String,
    mut scramble: Vec<u8>,
) -> Result<(), SqlError> {
    // A server that switches back and forth comes to an end, too.
    for _ in 0..ROUNDS_MAX {
        let packet = packets.next(stream)?;
        match packet.split_first() {
            Some((&OK, _)) => return Ok(()),
            Some((&ERROR, _)) => return Err(complaint(&packet)),
            Some((&SWITCH, rest)) => {
                let mut reader = Reader::new(rest);
                plugin = String::from_utf8_lossy(reader.until_zero()).into_owned();
                let rest = reader.rest();
                scramble = rest.strip_suffix(&[0]).unwrap_or(rest).to_vec();
                let answer = first_answer(&plugin, &target.password, &scramble, stream.is_secure())?;
                packets.reply(stream, &answer)?;
            }
            Some((&MORE, [FAST_OK])) => {}
            Some((&MORE, [FULL])) if plugin == CACHING_SHA2 => {
                let mut password = [target.password.as_bytes(), &[0]].concat();
                if stream.is_secure() {
                    packets.reply(stream, &password)?;
                    continue;
                }
                packets.reply(stream, &[ASK_FOR_KEY])?;
                let key = packets.next(stream)?;
                let key = key.strip_prefix(&[MORE]).ok_or_else(malformed)?;
                let key = std::str::from_utf8(key).map_err(|_| malformed())?;
                for (byte, with) in password.iter_mut().zip(scramble.iter().cycle()) {
                    *byte ^= with;
                }
                let encrypted = stream.encrypt(key, &password)?;
                packets.reply(stream, &encrypted)?;
            }
            _ => return Err(malformed()),
        }
    }
    Err(SqlError::broken("the server does not finish the login"))
}

fn greeting(packet: &[u8]) -> Result<Greeting, SqlError> {
    let mut reader = Reader::new(packet);
    match reader.byte()? {
        ERROR => return Err(complaint(packet)),
        PROTOCOL_VERSION => {}
        other => {
            let text =
                format!("unsupported protocol version {other}. Version {PROTOCOL_VERSION} or higher is required");
            return Err(SqlError::Broken(text));
        }
    }
    // The server's version and the connection's number.
    reader.until_zero();
    reader.bytes(4)?;
    let mut scramble = reader.bytes(8)?.to_vec();
    reader.byte()?;
    let mut capabilities = reader.number(2)?;
    let mut plugin = NATIVE.to_owned();
    if !reader.rest().is_empty() {
        // Character set and status.
        reader.bytes(3)?;
        capabilities |= reader.number(2)? << 16;
        let length = usize::from(reader.byte()?);
        reader.bytes(10)?;
        let second = reader.bytes(length.saturating_sub(8).max(13).min(reader.rest().len()))?;
        scramble.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
        if capabilities & PLUGIN_AUTH != 0 {
            plugin = String::from_utf8_lossy(reader.until_zero()).into_owned();
        }
    }
    Ok(Greeting { capabilities, scramble, plugin })
}

/// Capabilities, the largest packet, the character set (`utf8mb4`), and what is reserved.
fn client_head(capabilities: u64) -> [u8; 32] {
    let mut head = [0; 32];
    head[..4].copy_from_slice(&(capabilities as u32).to_le_bytes());
    head[4..8].copy_from_slice(&(64_u32 << 20).to_le_bytes());
    head[8] = 45;
    head
}

fn first_answer(plugin: &str, password: &str, scramble: &[u8], is_secure: bool) -> Result<Vec<u8>, SqlError> {
    if password.is_empty() && matches!(plugin, NATIVE | CACHING_SHA2) {
        return Ok(Vec::new());
    }
    match plugin {
        NATIVE => {
            let first = Sha1::digest(password);
            let twice = Sha1::digest(first);
            let second = Sha1::new().chain_update(&scramble[..scramble.len().min(20)]).chain_update(twice);
            Ok(first.iter().zip(second.finalize()).map(|(one, other)| one ^ other).collect())
        }
        CACHING_SHA2 => {
            let first = Sha256::digest(password);
            let twice = Sha256::digest(first);
            let second = Sha256::new().chain_update(twice).chain_update(scramble);
            Ok(first.iter().zip(second.finalize()).map(|(one, other)| one ^ other).collect())
        }
        // The password itself: for nobody else to read.
        CLEAR if is_secure => Ok([password.as_bytes(), &[0]].concat()),
        CLEAR => Err(SqlError::broken("this user's password is sent as it is: add tls=true to the data source name")),
        _ => Err(SqlError::Broken(format!("this authentication plugin is not supported: {plugin}"))),
    }
}

const NATIVE: &str = "mysql_native_password";
const CACHING_SHA2: &str = "caching_sha2_password";
const CLEAR: &str = "mysql_clear_password";

const PROTOCOL_VERSION: u8 = 10;
const SWITCH: u8 = 0xFE;
const MORE: u8 = 1;
const ASK_FOR_KEY: u8 = 2;
const FAST_OK: u8 = 3;
const FULL: u8 = 4;
const ROUNDS_MAX: usize = 10;

const LONG_PASSWORD: u64 = 1;
const FOUND_ROWS: u64 = 1 << 1;
const CONNECT_WITH_DB: u64 = 1 << 3;
const PROTOCOL_41: u64 = 1 << 9;
const TLS: u64 = 1 << 11;
const TRANSACTIONS: u64 = 1 << 13;
const SECURE_CONNECTION: u64 = 1 << 15;
const MULTI_STATEMENTS: u64 = 1 << 16;
const MULTI_RESULTS: u64 = 1 << 17;
const PLUGIN_AUTH: u64 = 1 << 19;
