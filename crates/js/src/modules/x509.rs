//! `k6/crypto/x509`: the parts of a certificate.

use onrush_crypto::x509::{Attribute, Certificate, PublicKey};

use super::{bytes::Input, export::export};
use crate::embed::{Args, Ctx, Handle, JsResult, Throw, Val};

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "getAltNames", 1, |ctx, _, args| texts(ctx, &read(ctx, args)?.alt_names))?;
    export(ctx, &exports, "getIssuer", 1, |ctx, _, args| issuer(ctx, &read(ctx, args)?.issuer))?;
    export(ctx, &exports, "getSubject", 1, |ctx, _, args| subject(ctx, &read(ctx, args)?.subject))?;
    export(ctx, &exports, "parse", 1, |ctx, _, args| whole(ctx, &read(ctx, args)?))?;
    Ok(exports)
}

fn read(ctx: Ctx, args: Args<'_>) -> JsResult<Certificate> {
    let pem = pem(ctx, args.at(0))?;
    Certificate::from_pem(&pem).map_err(|error| Throw::error(error.to_string()))
}

/// The argument as bytes.
fn pem(ctx: Ctx, value: &Handle) -> JsResult<Vec<u8>> {
    let mut pem = Vec::new();
    if value.is_array() {
        // k6: any numbers will do.
        for index in 0..value.length(ctx)?.min(PEM_BYTES_MAX) {
            pem.push(value.get_index(ctx, index)?.to_i64(ctx)? as u8);
        }
    } else if value.is_set() {
        let input = match Input::of(ctx, value) {
            Ok(input) => input,
            Err(Throw::Error(_)) => return Err(not_bytes(ctx, value)?),
            Err(throw) => return Err(throw),
        };
        // Beyond that it is refused.
        input.each_piece(ctx, |piece| {
            if pem.len() <= PEM_BYTES_MAX as usize {
                pem.extend_from_slice(piece);
            }
        })?;
    }
    Ok(pem)
}

fn not_bytes(ctx: Ctx, value: &Handle) -> JsResult<Throw> {
    let text = value.to_text(ctx)?;
    let reason = if value.is_object() {
        format!("cannot convert {text} to []uint8: not an array or iterable")
    } else {
        format!("could not convert {text} to []uint8")
    };
    Ok(Throw::type_error(format!("could not convert function call parameter 0: {reason}")))
}

fn whole(ctx: Ctx, certificate: &Certificate) -> JsResult {
    let key = public_key(ctx, &certificate.public_key)?;
    let fingerprint = ctx.array()?;
    for (index, byte) in certificate.fingerprint.into_iter().enumerate() {
        fingerprint.define_index(ctx, index as u32, Val::int(i32::from(byte)))?;
    }
    object(
        ctx,
        [
            ("subject", subject(ctx, &certificate.subject)?),
            ("issuer", issuer(ctx, &certificate.issuer)?),
            ("notBefore", Val::string(ctx, &certificate.not_before)?),
            ("notAfter", Val::string(ctx, &certificate.not_after)?),
            ("altNames", texts(ctx, &certificate.alt_names)?),
            ("signatureAlgorithm", Val::string(ctx, certificate.signature_algorithm)?),
            ("fingerPrint", fingerprint),
            ("publicKey", key),
        ],
    )
}

fn subject(ctx: Ctx, attributes: &[Attribute]) -> JsResult {
    let units: Vec<&str> = of_kind(attributes, ORGANIZATIONAL_UNIT).collect();
    object(
        ctx,
        [
            ("commonName", common_name(ctx, attributes)?),
            ("country", first(ctx, attributes, COUNTRY)?),
            ("postalCode", first(ctx, attributes, POSTAL_CODE)?),
            ("stateOrProvinceName", first(ctx, attributes, STATE)?),
            ("localityName", first(ctx, attributes, LOCALITY)?),
            ("streetAddress", first(ctx, attributes, STREET)?),
            ("organizationName", first(ctx, attributes, ORGANIZATION)?),
            ("organizationalUnitName", texts(ctx, &units)?),
            ("names", names(ctx, attributes)?),
        ],
    )
}

fn issuer(ctx: Ctx, attributes: &[Attribute]) -> JsResult {
    object(
        ctx,
        [
            ("commonName", common_name(ctx, attributes)?),
            ("country", first(ctx, attributes, COUNTRY)?),
            ("stateOrProvinceName", first(ctx, attributes, STATE)?),
            ("localityName", first(ctx, attributes, LOCALITY)?),
            ("organizationName", first(ctx, attributes, ORGANIZATION)?),
            ("names", names(ctx, attributes)?),
        ],
    )
}

fn of_kind<'a>(attributes: &'a [Attribute], kind: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
    attributes.iter().filter(move |attribute| attribute.kind == kind).map(|attribute| attribute.value.as_str())
}

fn first(ctx: Ctx, attributes: &[Attribute], kind: &str) -> JsResult {
    Val::string(ctx, of_kind(attributes, kind).next().unwrap_or_default())
}

/// k6: of several, the last.
fn common_name(ctx: Ctx, attributes: &[Attribute]) -> JsResult {
    Val::string(ctx, of_kind(attributes, COMMON_NAME).next_back().unwrap_or_default())
}

fn names(ctx: Ctx, attributes: &[Attribute]) -> JsResult {
    let list = ctx.array()?;
    for (index, attribute) in attributes.iter().enumerate() {
        let item = object(
            ctx,
            [("type", Val::string(ctx, &attribute.kind)?), ("value", Val::string(ctx, &attribute.value)?)],
        )?;
        list.define_index(ctx, index as u32, item)?;
    }
    Ok(list)
}

fn public_key(ctx: Ctx, key: &PublicKey) -> JsResult {
    let (algorithm, key) = match key {
        PublicKey::Rsa { n, e } => ("RSA", object(ctx, [("n", ctx.bigint(n)?), ("e", Val::number(*e as f64))])?),
        PublicKey::Ecdsa { x, y } => {
            ("ECDSA", object(ctx, [("curve", ctx.object()?), ("x", ctx.bigint(x)?), ("y", ctx.bigint(y)?)])?)
        }
        PublicKey::Dsa { p, q, g, y } => {
            let (p, q, g) = (ctx.bigint(p)?, ctx.bigint(q)?, ctx.bigint(g)?);
            let parameters = object(ctx, [("p", p.clone()), ("q", q.clone()), ("g", g.clone())])?;
            ("DSA", object(ctx, [("parameters", parameters), ("p", p), ("q", q), ("g", g), ("y", ctx.bigint(y)?)])?)
        }
        PublicKey::Other => return Err(Throw::error("unsupported public key algorithm")),
    };
    object(ctx, [("algorithm", Val::string(ctx, algorithm)?), ("key", key)])
}

fn object<const N: usize>(ctx: Ctx, members: [(&str, Val); N]) -> JsResult {
    let object = ctx.object()?;
    for (name, value) in members {
        object.define(ctx, name, value)?;
    }
    Ok(object)
}

fn texts<T: AsRef<str>>(ctx: Ctx, texts: &[T]) -> JsResult {
    let list = ctx.array()?;
    for (index, text) in texts.iter().enumerate() {
        list.define_index(ctx, index as u32, Val::string(ctx, text.as_ref())?)?;
    }
    Ok(list)
}

const COMMON_NAME: &str = "2.5.4.3";
const COUNTRY: &str = "2.5.4.6";
const LOCALITY: &str = "2.5.4.7";
const STATE: &str = "2.5.4.8";
const STREET: &str = "2.5.4.9";
const ORGANIZATION: &str = "2.5.4.10";
const ORGANIZATIONAL_UNIT: &str = "2.5.4.11";
const POSTAL_CODE: &str = "2.5.4.17";

/// More than is read of a certificate.
const PEM_BYTES_MAX: u32 = 2 << 20;
