//! OCSP responses (RFC 6960) for servers to staple: good ones, and what servers must not send.
//!
//! They are about no certificate in particular and carry no true signature: clients that report what was stapled, as
//! load tests do, look at neither. All times are fixed, so that results can be compared byte for byte.

/// All staples by name. The names of good ones say what they are about the certificate; `reason-N` is revoked for that
/// reason.
pub fn staples() -> Vec<(String, Vec<u8>)> {
    let good = || element(0x80, &[]);
    let until = || list(context(0), &[&time("20240101000000Z")]);
    let long = element(OCTETS, &vec![b'x'; LONG_BYTES]);
    let mut all: Vec<(String, Vec<u8>)> = (0..=10)
        .chain([11, 127])
        .map(|reason| {
            let reason = list(context(0), &[&element(ENUMERATED, &[reason])]);
            let status = list(context(1), &[&time("20231111111111Z"), &reason]);
            status_of(&single(&status, THIS_UPDATE, &[&until()]))
        })
        .zip((0..=10).chain([11, 127]))
        .map(|(staple, reason)| (format!("reason-{reason}"), staple))
        .collect();
    let mut add = |name: &str, staple: Vec<u8>| all.push((name.to_owned(), staple));
    let of = |status: &[u8]| single(status, THIS_UPDATE, &[&until()]);

    add("good", status_of(&of(&good())));
    add("unknown", status_of(&of(&element(0x82, &[]))));
    add("revoked", status_of(&of(&list(context(1), &[&time("20231111111111Z")]))));
    add("no-next-update", status_of(&single(&good(), THIS_UPDATE, &[])));
    add("fraction", status_of(&single(&good(), "20231114221320.5Z", &[])));
    add("offset", status_of(&single(&good(), "20231114221320+0100", &[])));
    add("early", status_of(&single(&good(), "19600101000000Z", &[])));
    add("no-time", status_of(&single(&good(), "20231314221320Z", &[])));
    add("extension", status_of(&single(&good(), THIS_UPDATE, &[&extension(false, &element(OCTETS, b"x"))])));
    add("critical", status_of(&single(&good(), THIS_UPDATE, &[&extension(true, &element(OCTETS, b"x"))])));
    add("long", status_of(&single(&good(), THIS_UPDATE, &[&extension(false, &long)])));
    add("other-status", status_of(&of(&element(0x83, &[]))));

    let two = [of(&good()), of(&element(0x82, &[]))].concat();
    add("two", success(&basic(&[&time(PRODUCED_AT), &element(SEQUENCE, &two)])));
    add("none", success(&basic(&[&time(PRODUCED_AT), &element(SEQUENCE, &[])])));
    let responses = element(SEQUENCE, &of(&good()));
    let version = list(context(0), &[&element(INTEGER, &[0])]);
    let data = list(SEQUENCE, &[&version, &responder(), &time(PRODUCED_AT), &responses]);
    add("version", success(&signed(&data, &[])));
    let by_name = list(context(1), &[&element(SEQUENCE, &[])]);
    add("by-name", success(&signed(&list(SEQUENCE, &[&by_name, &time(PRODUCED_AT), &responses]), &[])));
    add("no-responder", success(&signed(&list(SEQUENCE, &[&time(PRODUCED_AT), &responses]), &[])));
    let data = list(SEQUENCE, &[&responder(), &time(PRODUCED_AT), &responses]);
    add("certificates", success(&signed(&data, &list(context(0), &[&list(SEQUENCE, &[&element(SEQUENCE, &[])])]))));

    // Servers that have no answer say why.
    for status in [0, 1, 2, 3, 5, 6, 9] {
        add(&format!("status-{status}"), list(SEQUENCE, &[&element(ENUMERATED, &[status])]));
    }
    let whole = status_of(&of(&good()));
    add(
        "other-type",
        response(&list(SEQUENCE, &[&element(OID, &[0x2a, 3]), &element(OCTETS, &basic_of(&of(&good())))])),
    );
    add("trailing", [whole.as_slice(), b"x"].concat());
    add("truncated", whole[..whole.len() - 10].to_vec());
    add("garbage", b"no staple at all".to_vec());
    add("indefinite", [&[0x30, 0x80], &whole[2..], &[0, 0]].concat());
    all
}

/// The staple of that name.
pub fn staple(name: &str) -> Option<Vec<u8>> {
    staples().into_iter().find(|(of, _)| of == name).map(|(_, staple)| staple)
}

/// A response with one status.
fn status_of(single: &[u8]) -> Vec<u8> {
    success(&basic_of(single))
}

fn basic_of(single: &[u8]) -> Vec<u8> {
    basic(&[&time(PRODUCED_AT), &element(SEQUENCE, single)])
}

fn single(status: &[u8], this_update: &str, rest: &[&[u8]]) -> Vec<u8> {
    let hash = element(OCTETS, &[7; 20]);
    let algorithm = list(SEQUENCE, &[&element(OID, SHA1), &element(0x05, &[])]);
    let certificate_id = list(SEQUENCE, &[&algorithm, &hash, &hash, &element(INTEGER, &[1, 2, 3])]);
    list(SEQUENCE, &[&certificate_id, status, &time(this_update), &rest.concat()])
}

fn extension(is_critical: bool, value: &[u8]) -> Vec<u8> {
    let critical = if is_critical { element(0x01, &[0xff]) } else { Vec::new() };
    let one = list(SEQUENCE, &[&element(OID, &[0x2a, 3]), &critical, value]);
    list(context(1), &[&element(SEQUENCE, &one)])
}

fn basic(data: &[&[u8]]) -> Vec<u8> {
    signed(&list(SEQUENCE, &[&responder(), &data.concat()]), &[])
}

fn responder() -> Vec<u8> {
    list(context(2), &[&element(OCTETS, &[7; 20])])
}

fn signed(data: &[u8], rest: &[u8]) -> Vec<u8> {
    let algorithm = element(SEQUENCE, &element(OID, ECDSA_SHA256));
    list(SEQUENCE, &[data, &algorithm, &element(BIT_STRING, &[0, 1, 2, 3]), rest])
}

fn success(basic: &[u8]) -> Vec<u8> {
    response(&list(SEQUENCE, &[&element(OID, BASIC), &element(OCTETS, basic)]))
}

fn response(bytes: &[u8]) -> Vec<u8> {
    list(SEQUENCE, &[&element(ENUMERATED, &[0]), &list(context(0), &[bytes])])
}

fn time(text: &str) -> Vec<u8> {
    element(GENERALIZED_TIME, text.as_bytes())
}

fn list(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    element(tag, &parts.concat())
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len().to_be_bytes();
    if content.len() < 0x80 {
        out.extend(&length[length.len() - 1..]);
    } else {
        let digits = &length[length.iter().position(|&byte| byte != 0).unwrap_or(0)..];
        out.push(0x80 | digits.len() as u8);
        out.extend(digits);
    }
    out.extend(content);
    out
}

const fn context(number: u8) -> u8 {
    0xa0 | number
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTETS: u8 = 0x04;
const OID: u8 = 0x06;
const ENUMERATED: u8 = 0x0a;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// id-pkix-ocsp-basic.
const BASIC: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1];
/// ecdsa-with-SHA256.
const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const SHA1: &[u8] = &[0x2b, 0x0e, 3, 2, 0x1a];
const PRODUCED_AT: &str = "20231115000000Z";
const THIS_UPDATE: &str = "20231114221320Z";
/// Longer than any that is in use, and short enough for a TLS message.
const LONG_BYTES: usize = 40_000;
