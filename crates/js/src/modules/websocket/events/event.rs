//! Kinds of events, and the objects that handlers get.

use onrush_fiber::Clock;

use crate::embed::{Ctx, Handle, JsResult, Val};

/// What a handler is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Message,
    Error,
    Close,
    Ping,
    Pong,
}

/// All of them, in the order of k6's properties.
pub(super) const KINDS: [Kind; 6] = [Kind::Message, Kind::Error, Kind::Open, Kind::Close, Kind::Ping, Kind::Pong];

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Message => "message",
            Self::Error => "error",
            Self::Close => "close",
            Self::Ping => "ping",
            Self::Pong => "pong",
        }
    }

    /// The property that holds one handler.
    pub(super) fn property(self) -> &'static str {
        match self {
            Self::Open => "onopen",
            Self::Message => "onmessage",
            Self::Error => "onerror",
            Self::Close => "onclose",
            Self::Ping => "onping",
            Self::Pong => "onpong",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.name() == name)
    }
}

/// An event object, without what only its kind has.
pub(super) fn event(ctx: Ctx, kind: Kind, target: &Handle) -> JsResult {
    let event = ctx.object()?;
    event.define(ctx, "type", Val::string(ctx, kind.name())?)?;
    event.define(ctx, "target", target.dup())?;
    event.define(ctx, "timestamp", Val::number(Clock::unix_ms(Clock::now())))?;
    Ok(event)
}
