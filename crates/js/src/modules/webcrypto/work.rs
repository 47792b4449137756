//! Carrying out a call: its answer, its promise, and where the work is done.

use onrush_crypto::web::{Exported, WebError};

use super::{
    Refusal, Step,
    key::{NewKey, Usages, usages_array},
    refusal::error_value,
};
use crate::{
    embed::{Charge, Ctx, Handle, JsResult, Throw, Val},
    offload::{COMPUTE, Waited},
    vu::{
        Vu,
        context::{not_cancelled, vu},
        event_loop,
    },
};

/// Input up to this size is worked on at once: a fifth of a slice at half a gigabyte a second. Longer input is handed
/// over.
const INLINE_BYTES_MAX: usize = 1 << 20;

/// How much is copied before others run: about a millisecond.
const COPIED_BYTES_MAX: usize = 4 << 20;

/// What a call gives.
pub(super) enum Answer {
    Bytes(Vec<u8>),
    Bool(bool),
    Key(Box<NewKey>),
    /// A private key and its public half.
    Pair(Box<NewKey>, Box<NewKey>),
    /// A JSON Web Key; secrets show what they may be used for.
    Exported(Exported, Option<Usages>),
}

/// Work on its way to an answer.
pub(super) enum Work {
    Done(Result<Answer, WebError>),
    /// For the pool: the work, and what its input takes of the VU's memory.
    Long(LongWork, Charge),
}

/// Work for a thread of the pool.
pub(super) type LongWork = Box<dyn FnOnce() -> Result<Answer, WebError> + Send>;

impl Work {
    /// Work on bytes of the script: without a copy where it is short.
    pub(super) fn on(
        bytes: &[u8],
        is_long: bool,
        work: impl FnOnce(&[u8]) -> Result<Answer, WebError> + Send + 'static,
    ) -> Step<Self> {
        if !is_long && bytes.len() <= INLINE_BYTES_MAX {
            return Ok(Self::Done(work(bytes)));
        }
        let charge = Charge::take(bytes.len())?;
        let mut owned = Vec::with_capacity(bytes.len());
        // The caller waits, so nothing changes the bytes; other VUs run between the pieces.
        for piece in bytes.chunks(COPIED_BYTES_MAX) {
            owned.extend_from_slice(piece);
            if owned.len() < bytes.len() {
                not_cancelled(onrush_fiber::yield_now())?;
            }
        }
        Ok(Self::Long(Box::new(move || work(&owned)), charge))
    }

    /// Work without input.
    pub(super) fn plain(is_long: bool, work: impl FnOnce() -> Result<Answer, WebError> + Send + 'static) -> Self {
        if is_long { Self::Long(Box::new(work), Charge::default()) } else { Self::Done(work()) }
    }
}

impl Answer {
    fn into_js(self, ctx: Ctx) -> JsResult {
        match self {
            Self::Bytes(bytes) | Self::Exported(Exported::Bytes(bytes), _) => ctx.array_buffer(&bytes),
            Self::Bool(is_so) => Ok(Val::bool(is_so)),
            Self::Key(key) => key.into_object(ctx),
            Self::Pair(private, public) => {
                let pair = ctx.object()?;
                pair.define(ctx, "privateKey", private.into_object(ctx)?)?;
                pair.define(ctx, "publicKey", public.into_object(ctx)?)?;
                Ok(pair)
            }
            Self::Exported(Exported::Jwk(jwk), usages) => {
                let object = ctx.object()?;
                for (name, text) in jwk.members() {
                    object.define(ctx, *name, Val::string(ctx, text)?)?;
                }
                if let Some(usages) = usages {
                    object.define(ctx, "ext", Val::bool(true))?;
                    object.define(ctx, "key_ops", usages_array(ctx, &usages)?)?;
                }
                Ok(object)
            }
        }
    }
}

/// The promise of a call. It is settled by the event loop, as in k6: what the script does next comes first.
pub(super) fn promise(ctx: Ctx, call: impl FnOnce() -> Step<Work>) -> JsResult {
    let work = match call() {
        Ok(work) => work,
        Err(Refusal::Thrown(throw)) => return Err(throw),
        Err(Refusal::Rejected(error)) => Work::Done(Err(error)),
        Err(Refusal::Exception(throw)) => {
            ctx.raise(throw);
            let reason = ctx.take_exception_value();
            if ctx.is_uncatchable(&reason) {
                return Err(ctx.throw_value(reason));
            }
            let (promise, _, reject) = ctx.promise()?;
            settle_later(reject, reason);
            return Ok(promise);
        }
    };
    match work {
        Work::Done(result) => {
            let outcome = outcome(ctx, result)?;
            let (promise, resolve, reject) = ctx.promise()?;
            match outcome {
                Ok(value) => settle_later(resolve, value),
                Err(reason) => settle_later(reject, reason),
            }
            Ok(promise)
        }
        Work::Long(work, charge) => {
            let (promise, resolve, reject) = ctx.promise()?;
            let wait = |_: &Vu| match COMPUTE.begin(work).wait(None) {
                Waited::Done(result) => Ok(result),
                Waited::Panicked => Ok(Err(WebError::operation("internal error in Onrush (please report it): panic"))),
                Waited::Timeout | Waited::Cancelled => Err(Throw::Interrupted),
            };
            event_loop::start(wait, move |ctx, result| {
                drop(charge);
                let (settle, value) = match outcome(ctx, result?)? {
                    Ok(value) => (resolve, value),
                    Err(reason) => (reject, reason),
                };
                ctx.call(&settle, Handle::UNDEFINED, &[&value]).map(drop)
            });
            Ok(promise)
        }
    }
}

/// What a promise is resolved or rejected with.
fn outcome(ctx: Ctx, result: Result<Answer, WebError>) -> JsResult<Result<Val, Val>> {
    match result {
        Ok(answer) => answer.into_js(ctx).map(Ok),
        Err(error) => error_value(ctx, &error).map(Err),
    }
}

fn settle_later(settle: Val, value: Val) {
    vu().event_loop.defer(Box::new(move |ctx| ctx.call(&settle, Handle::UNDEFINED, &[&value]).map(drop)));
}
