//! What ended a stream before its time, and what that means: k6's error, and whether another connection may do better.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use h2::{RecvStream, client::ResponseFuture};

use crate::{error::NetError, http1::Limits};

use super::{
    fault::Fault,
    guard::reason,
    message::list_bytes,
    session::{Ended, Session},
};

/// What ended it.
pub(super) enum Broken {
    /// `h2` says.
    Stream(h2::Error),
    Fault(Fault),
    Because(NetError),
}

impl Broken {
    /// The code with which the server reset the stream, if it did.
    pub(super) fn reset_by_peer(&self) -> Option<u32> {
        match self {
            Self::Stream(error) if error.is_reset() && error.is_remote() => error.reason().map(u32::from),
            Self::Fault(Fault::Stream { code, from_peer: true, .. }) => Some(*code),
            _ => None,
        }
    }
}

impl Session {
    /// What the end of the session means for a stream.
    #[cold]
    pub(super) fn ending(&self) -> Broken {
        // As Go: after a GOAWAY it does not matter how the connection ended.
        match (self.ended(), self.goaway()) {
            (Some(Ended::Fault(fault)), _) => Broken::Fault(fault),
            (_, Some(goaway)) => Broken::Because(goaway.closed_error()),
            (Some(Ended::Broken(error)), None) => Broken::Because(error),
            (Some(Ended::Eof) | None, None) => Broken::Because(NetError::unexpected_eof()),
        }
    }

    /// k6's error, and whether Go would send the request again. `mismatch` has what is wrong with the length of the body,
    /// should we have ended the stream because of it.
    #[cold]
    pub(super) fn judge(
        &self,
        stream: u32,
        broke: Broken,
        mismatch: impl FnOnce() -> Option<NetError>,
    ) -> (NetError, bool) {
        let error = match broke {
            Broken::Because(error) => return (error, false),
            Broken::Fault(fault) => return (fault.to_net_error(), fault.is_retried()),
            Broken::Stream(error) => error,
        };
        if error.is_reset() {
            let code = error.reason().map_or(reason::PROTOCOL_ERROR, u32::from);
            let from_peer = error.is_remote();
            if !from_peer && let Some(mismatch) = mismatch() {
                return (mismatch, false);
            }
            let fault = Fault::Stream { stream, code, from_peer };
            return (fault.to_net_error(), fault.is_retried());
        }
        if error.is_go_away() && error.is_remote() {
            let Some(goaway) = self.goaway() else { return (NetError::unexpected_eof(), false) };
            if goaway.last_stream < stream {
                return (goaway.unprocessed_error(stream), goaway.is_retried(stream));
            }
            return (goaway.closed_error(), false);
        }
        if error.is_go_away() && self.ended().is_none() {
            return (self.library_fault(&error).to_net_error(), false);
        }
        match self.ending() {
            Broken::Because(error) => (error, false),
            Broken::Fault(fault) => (fault.to_net_error(), fault.is_retried()),
            Broken::Stream(_) => (NetError::unexpected_eof(), false),
        }
    }

    /// Whether a reset says no more than that the server has answered in full and wants nothing further.
    pub(super) fn is_satisfied(&self, stream: u32, error: &h2::Error) -> bool {
        error.is_reset()
            && error.is_remote()
            && error.reason() == Some(h2::Reason::NO_ERROR)
            && self.pipe.borrow().guard.has_ended(stream)
    }
}

/// Polls for a response's head, past interim responses.
pub(super) fn poll_response(
    response: &mut ResponseFuture,
    interim_bytes: &mut usize,
    limits: &Limits,
    stream: u32,
    context: &mut Context<'_>,
) -> Poll<Result<http::Response<RecvStream>, Broken>> {
    while let Poll::Ready(Some(interim)) = response.poll_informational(context) {
        let interim = interim.map_err(Broken::Stream)?;
        *interim_bytes += list_bytes(interim.headers());
        if *interim_bytes > limits.head_bytes_max {
            // Go: more interim responses than header fields would be taken.
            let code = reason::PROTOCOL_ERROR;
            return Poll::Ready(Err(Broken::Fault(Fault::Stream { stream, code, from_peer: false })));
        }
    }
    Pin::new(response).poll(context).map_err(Broken::Stream)
}
