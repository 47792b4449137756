//! The TLS handshake over a connected link.

use onrush_fiber::Clock;

use super::Dialer;
use crate::{
    error::NetError,
    link::Link,
    tls::{Advance, Alpn, TlsSession},
};

impl Dialer<'_> {
    /// Puts TLS on a link. A function of its own: a plain dial must not carry its stack frame.
    #[inline(never)]
    pub(crate) fn secure(&self, link: &mut Link) -> Result<(), NetError> {
        let host = self.way.server_name.unwrap_or(&link.origin.host);
        let session = match self.way.tls {
            // What was agreed under other settings is not resumed.
            Some(own) => own.settings().connect(host, self.alpn, None)?,
            None => self.shared.tls().connect(host, self.alpn, Some(self.sessions))?,
        };
        self.shake_hands(link, session)
    }

    /// The same with an HTTPS proxy, which is spoken to in HTTP/1.1.
    #[inline(never)]
    pub(super) fn secure_to_proxy(&self, link: &mut Link) -> Result<(), NetError> {
        let session = self.shared.tls().connect(&link.origin.host, Alpn::Http1, None)?;
        self.shake_hands(link, session)
    }

    #[inline(never)]
    fn shake_hands(&self, link: &mut Link, session: Box<TlsSession>) -> Result<(), NetError> {
        link.set_tls(session);
        link.greet()?;
        loop {
            link.flush(self.deadline, self.wire)?;
            link.wait_readable(self.deadline).map_err(|error| *error)?;
            match link.pull_tls(self.wire, |_| {}) {
                Ok(Advance::Open) => return link.flush(self.deadline, self.wire),
                Ok(Advance::Closed) => return Err(NetError::eof()),
                Ok(Advance::Handshaking) => {}
                Err(error) => {
                    // Tell the peer why, if it can be told at once.
                    let _ = link.flush(Some(Clock::now()), self.wire);
                    return Err(error);
                }
            }
            if self.deadline.is_some_and(|deadline| deadline <= Clock::now()) {
                return Err(NetError::timeout());
            }
        }
    }
}
