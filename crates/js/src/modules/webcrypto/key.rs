//! `CryptoKey`: a key as scripts hold it.

use std::sync::Arc;

use onrush_crypto::web::{Key, KeyType, WebError, hash_name};

use super::{Refusal, Step};
use crate::embed::{Charge, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val};

/// What a key may be used for. k6: other words are kept as they are.
pub(super) type Usages = Vec<String>;

/// The most usages a call may name.
const USAGES_MAX: u32 = 64;

/// A key that is about to become an object.
pub(super) struct NewKey {
    pub(super) key: Key,
    pub(super) extractable: bool,
    pub(super) usages: Usages,
}

/// The value behind a `CryptoKey`. What its properties show may be changed by the script; this is what counts.
pub(super) struct CryptoKey {
    pub(super) key: Arc<Key>,
    pub(super) extractable: bool,
    pub(super) usages: Usages,
    _charge: Charge,
}

impl HostObject for CryptoKey {
    const NAME: &'static str = "CryptoKey";
}

impl CryptoKey {
    /// Whether it may be used for that.
    pub(super) fn allows(&self, usage: &str) -> bool {
        self.usages.iter().any(|known| known == usage)
    }
}

impl NewKey {
    /// Refuses secret and private keys that cannot be used for anything.
    pub(super) fn usable(self) -> Result<Self, WebError> {
        if self.usages.is_empty() && self.key.key_type() != KeyType::Public {
            return Err(WebError::syntax("usages cannot not be empty for a secret or private CryptoKey"));
        }
        Ok(self)
    }

    /// The object.
    pub(super) fn into_object(self, ctx: Ctx) -> JsResult {
        let charge = Charge::take(self.key.bytes_held())?;
        let algorithm = algorithm_object(ctx, &self.key)?;
        let usages = usages_array(ctx, &self.usages)?;
        let (kind, extractable) = (self.key.key_type(), self.extractable);
        let value = CryptoKey { key: Arc::new(self.key), extractable, usages: self.usages, _charge: charge };
        let object = HostClass::create(ctx, value)?;
        object.define(ctx, "type", Val::string(ctx, kind.name())?)?;
        object.define(ctx, "extractable", Val::bool(extractable))?;
        object.define(ctx, "algorithm", algorithm)?;
        object.define(ctx, "usages", usages)?;
        Ok(object)
    }
}

fn algorithm_object(ctx: Ctx, key: &Key) -> JsResult {
    let object = ctx.object()?;
    object.define(ctx, "name", Val::string(ctx, key.algorithm.name())?)?;
    let bits = |name: &str| key.bits.map_or(Ok(()), |bits| object.define(ctx, name, Val::number(bits as f64)));
    if key.algorithm.is_rsa() {
        bits("modulusLength")?;
    }
    if let Some(hash) = key.hash {
        let inner = ctx.object()?;
        inner.define(ctx, "name", Val::string(ctx, hash_name(hash))?)?;
        object.define(ctx, "hash", inner)?;
    }
    if !key.algorithm.is_rsa() {
        bits("length")?;
    }
    if let Some(curve) = key.curve {
        object.define(ctx, "namedCurve", Val::string(ctx, curve.name())?)?;
    }
    Ok(object)
}

pub(super) fn usages_array(ctx: Ctx, usages: &[String]) -> JsResult {
    let array = ctx.array()?;
    for (index, usage) in (0..).zip(usages) {
        array.define_index(ctx, index, Val::string(ctx, usage)?)?;
    }
    Ok(array)
}

/// The usages a script lists; the argument's place is for the error.
pub(super) fn usages(ctx: Ctx, value: &Handle, place: usize) -> Step<Usages> {
    if !value.is_set() {
        return Ok(Vec::new());
    }
    if !value.is_array() {
        let shown = value.to_text(ctx)?;
        let what = if value.is_object() {
            format!("cannot convert {shown} to []string: not an array or iterable")
        } else {
            format!("could not convert {shown} to []string")
        };
        return Err(Refusal::Thrown(Throw::type_error(format!(
            "could not convert function call parameter {place}: {what}"
        ))));
    }
    let length = value.length(ctx)?;
    if length > USAGES_MAX {
        return Err(Refusal::syntax(format!("a key has at most {USAGES_MAX} usages, not {length}")));
    }
    let mut usages = Vec::with_capacity(length as usize);
    for index in 0..length {
        let usage = value.get_index(ctx, index)?;
        usages.push(if usage.is_set() { usage.to_text(ctx)? } else { String::new() });
    }
    Ok(usages)
}

/// The usages of a list that a key may have.
pub(super) fn among(usages: &[String], allowed: &[&str]) -> Usages {
    usages.iter().filter(|usage| allowed.contains(&usage.as_str())).cloned().collect()
}

/// The first usage that is none of those.
pub(super) fn outside<'a>(usages: &'a [String], allowed: &[&str]) -> Option<&'a str> {
    usages.iter().map(String::as_str).find(|usage| !allowed.contains(usage))
}

/// A key that is passed to a method. `whose` begins its errors, as in `encrypt's `.
pub(super) fn expect<'a>(ctx: Ctx, value: &'a Handle, whose: &str) -> Step<&'a CryptoKey> {
    if let Some(key) = HostClass::<CryptoKey>::of(value) {
        return Ok(key);
    }
    if value.is_object() && !value.get(ctx, "algorithm")?.is_set() {
        return Err(Refusal::named("TypeError", "field algorithm is null or undefined"));
    }
    Err(Refusal::access(format!("{whose}key argument does hold not a valid CryptoKey object")))
}
