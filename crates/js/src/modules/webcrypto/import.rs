//! `subtle.importKey()`.

use onrush_crypto::web::{Algorithm, ImportFormat, Key, KeyData, Parameters, WebError, import};

use super::{
    Refusal, Step,
    algorithm::{Operation, algorithm, hash_member, missing, optional_integer, rsa_hash_member},
    data::data,
    key::{NewKey, Usages, outside, usages},
    work::{Answer, Work, promise},
};
use crate::embed::{Args, Ctx, Handle, JsResult};

pub(super) fn import_key(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        let target = Target::read_usages(ctx, args.at(3), args.at(4), 4)?;
        let format = format(ctx, args.at(0))?;
        let value = args.at(1);
        if format == ImportFormat::Jwk {
            let text = if value.is_set() { ctx.stringify(value)? } else { None };
            let wanted = Wanted::read(ctx, args.at(2))?;
            let text = text.unwrap_or_else(|| "null".to_owned());
            return Ok(Work::Done(target.key(&wanted, KeyData::Jwk(&text)).map(|key| Answer::Key(Box::new(key)))));
        }
        data(ctx, value)?;
        let wanted = Wanted::read(ctx, args.at(2))?;
        let bytes = data(ctx, value)?;
        if bytes.len() > KEY_BYTES_MAX {
            return Err(
                WebError::data(format!("the key has {} bytes, at most {KEY_BYTES_MAX} are read", bytes.len())).into()
            );
        }
        let key = target.key(&wanted, KeyData::Bytes(format, bytes));
        Ok(Work::Done(key.map(|key| Answer::Key(Box::new(key)))))
    })
}

/// The longest key that is read: no DER of a key comes near, and secrets to derive from are shorter, too.
pub(super) const KEY_BYTES_MAX: usize = 1 << 20;

/// The format a script names.
pub(super) fn format(ctx: Ctx, value: &Handle) -> Step<ImportFormat> {
    let name = if value.is_set() { value.to_text(ctx)? } else { String::new() };
    ImportFormat::named(&name)
        .ok_or_else(|| Refusal::named("ImplementationError", format!("unsupported format {name}")))
}

/// What the script will have of the key.
pub(super) struct Target {
    pub(super) extractable: bool,
    pub(super) usages: Usages,
}

/// The algorithm the key is for.
pub(super) struct Wanted {
    pub(super) algorithm: Algorithm,
    pub(super) parameters: Parameters,
}

impl Wanted {
    pub(super) fn read(ctx: Ctx, value: &Handle) -> Step<Self> {
        let algorithm = algorithm(ctx, value, Operation::ImportKey)?;
        let mut parameters = Parameters::default();
        if algorithm == Algorithm::Hmac {
            // k6: its error names the operation it normalizes hash functions for.
            parameters.hash = Some(hash_member(ctx, value, Operation::GenerateKey)?);
            parameters.bits = optional_integer(ctx, value, "length")?.filter(|_| value.is_object());
        } else if algorithm.is_rsa() {
            parameters.hash = Some(rsa_hash_member(ctx, value)?);
        } else if algorithm.is_ec() {
            let curve = value.get(ctx, "namedCurve")?;
            if !curve.is_set() {
                return Err(missing("namedCurve"));
            }
            parameters.curve = curve.to_text(ctx)?;
        }
        Ok(Self { algorithm, parameters })
    }
}

impl Target {
    /// `place` is that of the usages among the arguments.
    pub(super) fn read_usages(ctx: Ctx, extractable: &Handle, listed: &Handle, place: usize) -> Step<Self> {
        Ok(Self { usages: usages(ctx, listed, place)?, extractable: extractable.truthy(ctx) })
    }

    /// Reads the key.
    pub(super) fn key(self, wanted: &Wanted, data: KeyData<'_>) -> Result<NewKey, WebError> {
        let algorithm = wanted.algorithm;
        let derives = matches!(algorithm, Algorithm::Pbkdf2 | Algorithm::Hkdf);
        // k6: usages of RSA and EC keys are not looked at.
        if !algorithm.is_rsa() && !algorithm.is_ec() {
            let (own, public) = algorithm.usages();
            if let Some(usage) = outside(&self.usages, &[own, public].concat()) {
                return Err(WebError::syntax(format!("invalid key usage: {usage}")));
            }
        }
        if derives && self.extractable {
            return Err(WebError::syntax("invalid value for param extractable "));
        }
        self.of(import(algorithm, data, &wanted.parameters)?)
    }

    fn of(self, key: Key) -> Result<NewKey, WebError> {
        NewKey { key, extractable: self.extractable, usages: self.usages }.usable()
    }
}
