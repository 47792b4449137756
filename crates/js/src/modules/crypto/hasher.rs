//! What `createHash()` and `createHMAC()` return.

use std::cell::RefCell;

use onrush_crypto::{Digest, Hmac};

use super::{bytes::Input, output::Encoding};
use crate::embed::{Charge, Ctx, HostClass, HostObject, JsResult, Throw, Val};

/// A hash or an HMAC that is under way.
#[expect(clippy::large_enum_variant, reason = "there is one for each hasher of a script, and most are plain")]
pub(super) enum Hasher {
    Plain(onrush_crypto::Hasher),
    Keyed(Box<Hmac>),
}

/// Empty while a call of `update()` is under way. Its state is the library's, outside of the script's heap.
struct Running(RefCell<Option<Hasher>>, #[expect(dead_code, reason = "gives back what was charged")] Charge);

impl HostObject for Running {
    const NAME: &'static str = "Hasher";
}

impl Hasher {
    pub(super) fn create(ctx: Ctx, hasher: Self) -> JsResult {
        let bytes = match hasher {
            Self::Plain(_) => PLAIN_BYTES,
            Self::Keyed(_) => KEYED_BYTES,
        };
        let charge = Charge::take(bytes)?;
        HostClass::create(ctx, Running(RefCell::new(Some(hasher)), charge))
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Plain(hasher) => hasher.update(bytes),
            Self::Keyed(hmac) => hmac.update(bytes),
        }
    }

    fn digest(&self) -> Digest {
        match self {
            Self::Plain(hasher) => hasher.digest(),
            Self::Keyed(hmac) => hmac.digest(),
        }
    }
}

pub(in crate::modules) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "update", 1, |ctx, this, args| {
        let running = HostClass::<Running>::expect(this)?;
        let input = Input::of(ctx, args.at(0))?;
        // Others may run between the pieces: nothing is borrowed meanwhile.
        let mut hasher = running.0.take().ok_or_else(busy)?;
        let result = input.each_piece(ctx, |piece| hasher.update(piece));
        running.0.replace(Some(hasher));
        result.map(|()| Val::undefined())
    })?;
    prototype.method(ctx, "digest", 1, |ctx, this, args| {
        let running = HostClass::<Running>::expect(this)?;
        let encoding = Encoding::of(ctx, args.at(0))?;
        // k6: what was hashed stays, and more may follow.
        let digest = running.0.borrow().as_ref().map(Hasher::digest).ok_or_else(busy)?;
        encoding.value(ctx, &digest)
    })?;
    HostClass::<Running>::set_prototype(ctx, prototype);
    Ok(())
}

/// About what the state of a hash takes, the largest of them.
const PLAIN_BYTES: usize = 1 << 10;
/// An HMAC has two of them, and the key's.
const KEYED_BYTES: usize = 3 << 10;

fn busy() -> Throw {
    Throw::error("the hasher is in use by a call that has not returned yet")
}
