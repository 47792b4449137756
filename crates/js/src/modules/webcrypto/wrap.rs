//! `subtle.wrapKey()` and `subtle.unwrapKey()`, which k6 does not have.

use onrush_crypto::web::{Exported, ImportFormat, KeyData, WebError};
use serde_json::{Map, Value};

use super::{
    Refusal, Step,
    algorithm::Operation,
    cipher::Cipher,
    data::data,
    export::exported,
    import::{KEY_BYTES_MAX, Target, Wanted, format},
    work::{Answer, Work, promise},
};
use crate::embed::{Args, Ctx, Handle, JsResult};

pub(super) fn wrap_key(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        let format = format(ctx, args.at(0))?;
        let cipher = Cipher::read(ctx, args.at(3), args.at(2), Operation::WrapKey)?;
        let plain = match exported(args.at(1), format.name())? {
            (Exported::Bytes(bytes), _) => bytes,
            (Exported::Jwk(jwk), usages) => {
                let mut members: Map<String, Value> =
                    jwk.members().iter().map(|(name, text)| ((*name).to_owned(), text.as_str().into())).collect();
                if let Some(usages) = usages {
                    members.insert("ext".to_owned(), true.into());
                    members.insert("key_ops".to_owned(), usages.into());
                }
                Value::Object(members).to_string().into_bytes()
            }
        };
        Ok(Work::Done(cipher.run(&plain).map(Answer::Bytes)))
    })
}

pub(super) fn unwrap_key(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        let target = Target::read_usages(ctx, args.at(5), args.at(6), 6)?;
        let format = format(ctx, args.at(0))?;
        data(ctx, args.at(1))?;
        let cipher = Cipher::read(ctx, args.at(3), args.at(2), Operation::UnwrapKey)?;
        let wanted = Wanted::read(ctx, args.at(4))?;
        let is_long = cipher.is_long();
        let bytes = data(ctx, args.at(1))?;
        checked_length(bytes)?;
        Work::on(bytes, is_long, move |bytes| {
            let plain = cipher.run(bytes)?;
            let key = if format == ImportFormat::Jwk {
                let text = std::str::from_utf8(&plain)
                    .map_err(|_| WebError::data("what was unwrapped is not a JSON Web Key: it is no text"))?;
                target.key(&wanted, KeyData::Jwk(text))?
            } else {
                target.key(&wanted, KeyData::Bytes(format, &plain))?
            };
            Ok(Answer::Key(Box::new(key)))
        })
    })
}

fn checked_length(bytes: &[u8]) -> Step<()> {
    if bytes.len() <= KEY_BYTES_MAX {
        return Ok(());
    }
    Err(Refusal::from(WebError::data(format!(
        "the wrapped key has {} bytes, at most {KEY_BYTES_MAX} are read",
        bytes.len()
    ))))
}
