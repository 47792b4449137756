//! What a tool can, and why it cannot do a job.

use crate::lab::job::{Job, Protocol};

/// What a tool has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Has {
    pub(super) http2: bool,
    /// Requests at a rate, whether answers come or not.
    pub(super) rates: bool,
    /// More than one address, forms, checks of answers.
    pub(super) scripts: bool,
}

impl Has {
    /// Whether that is enough for a job.
    pub(super) fn enough_for(self, job: &Job) -> Result<(), &'static str> {
        match job.protocol {
            Protocol::Http2 if !self.http2 => Err("does not speak HTTP/2"),
            _ if job.load.rate().is_some() && !self.rates => Err("has no rates, only users"),
            _ if !job.is_plain() && !self.scripts => Err("asks for one address only, without checks"),
            _ => Ok(()),
        }
    }
}
