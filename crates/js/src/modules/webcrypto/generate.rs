//! `subtle.generateKey()`.

use onrush_crypto::web::{
    Algorithm, Curve, Generated, KeyType, WebError, generate_aes, generate_ec, generate_hmac, generate_okp,
    generate_rsa,
};

use super::{
    Refusal, Step,
    algorithm::{Operation, algorithm, hash_member, integer_member, missing, optional_integer, rsa_hash_member},
    key::{NewKey, Usages, among, outside, usages},
    work::{Answer, Work, promise},
};
use crate::embed::{Args, Ctx, Handle, JsResult};

pub(super) fn generate_key(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        let wanted = usages(ctx, args.at(2), 2)?;
        let extractable = args.at(1).truthy(ctx);
        let value = args.at(0);
        let algorithm = algorithm(ctx, value, Operation::GenerateKey)?;
        match algorithm {
            _ if algorithm.is_aes() => {
                let bits = integer_member(ctx, value, "length")?;
                let generated = generate_aes(algorithm, bits)?;
                allowed(algorithm, &wanted, false)?;
                Ok(done(generated, extractable, &wanted))
            }
            Algorithm::Hmac => {
                let hash = hash_member(ctx, value, Operation::GenerateKey)?;
                let generated = generate_hmac(hash, optional_integer(ctx, value, "length")?)?;
                allowed(algorithm, &wanted, true)?;
                Ok(done(generated, extractable, &wanted))
            }
            _ if algorithm.is_rsa() => {
                let bits = integer_member(ctx, value, "modulusLength")?;
                let exponent = value.get(ctx, "publicExponent")?;
                if !exponent.is_set() {
                    return Err(missing("publicExponent"));
                }
                let hash = rsa_hash_member(ctx, value)?;
                let exponent = exponent
                    .typed_array(ctx)
                    .map(exponent_value)
                    .ok_or_else(|| Refusal::operation("publicExponent is not a byte array"))??;
                not_empty(&wanted)?;
                allowed(algorithm, &wanted, true)?;
                if exponent != 65_537 && bits >= 1024 {
                    return Err(Refusal::operation(
                        "could not validate RSA key pair, check public exponent: crypto/rsa: precomputed values are \
                         inconsistent with the key",
                    ));
                }
                Ok(Work::plain(bits >= 1024, move || {
                    Ok(answer(generate_rsa(algorithm, hash, bits)?, extractable, &wanted))
                }))
            }
            _ if algorithm.is_ec() => {
                let curve = value.get(ctx, "namedCurve")?;
                if !curve.is_set() {
                    return Err(missing("namedCurve"));
                }
                let name = curve.to_text(ctx)?;
                let curve = Curve::named(&name).ok_or_else(|| {
                    Refusal::from(WebError::not_supported(format!("elliptic curve {name} is not supported")))
                })?;
                not_empty(&wanted)?;
                allowed(algorithm, &wanted, false)?;
                Ok(done(generate_ec(algorithm, curve)?, extractable, &wanted))
            }
            _ => {
                not_empty(&wanted)?;
                allowed(algorithm, &wanted, true)?;
                Ok(done(generate_okp(algorithm)?, extractable, &wanted))
            }
        }
    })
}

fn not_empty(wanted: &Usages) -> Step<()> {
    if wanted.is_empty() { Err(Refusal::syntax("key usages cannot be empty")) } else { Ok(()) }
}

/// Refuses usages the algorithm's keys cannot have. k6: some of its errors name the usage.
fn allowed(algorithm: Algorithm, wanted: &[String], is_named: bool) -> Step<()> {
    let (own, public) = algorithm.usages();
    match outside(wanted, &[own, public].concat()) {
        None => Ok(()),
        Some(usage) if is_named => Err(Refusal::syntax(format!("invalid key usage: {usage}"))),
        Some(_) => Err(Refusal::syntax("invalid key usage")),
    }
}

/// A public exponent, big-endian.
fn exponent_value(bytes: &[u8]) -> Step<u64> {
    let invalid = |what: &str| Refusal::operation(format!("invalid public exponent: public exponent {what}"));
    if bytes.last().is_none_or(|last| last % 2 == 0) {
        return Err(invalid("is even"));
    }
    let start = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len());
    let value = bytes[start..]
        .iter()
        .try_fold(0_u64, |value, &byte| value.checked_mul(256).map(|value| value | u64::from(byte)));
    match value {
        Some(0 | 1) => Err(invalid("too small")),
        Some(value) if value <= i32::MAX as u64 => Ok(value),
        _ => Err(invalid("too large")),
    }
}

fn done(generated: Generated, extractable: bool, wanted: &[String]) -> Work {
    let answer = answer(generated, extractable, wanted);
    Work::Done(match answer {
        Answer::Key(key) => key.usable().map(|key| Answer::Key(Box::new(key))),
        pair => Ok(pair),
    })
}

fn answer(generated: Generated, extractable: bool, wanted: &[String]) -> Answer {
    match generated {
        Generated::Key(key) => Answer::Key(Box::new(NewKey { key: *key, extractable, usages: wanted.to_vec() })),
        Generated::Pair(private, public) => {
            let (own, others) = private.algorithm.usages();
            debug_assert_eq!(public.key_type(), KeyType::Public);
            Answer::Pair(
                Box::new(NewKey { key: *private, extractable, usages: among(wanted, own) }),
                // Anybody may have it.
                Box::new(NewKey { key: *public, extractable: true, usages: among(wanted, others) }),
            )
        }
    }
}
