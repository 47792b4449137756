//! Why many tools cannot do a job.

pub(super) const PLAIN_ONLY: &str = "asks for one address only, without checks";
pub(super) const NO_RATE: &str = "has no rates, only users";
pub(super) const NO_HTTP2: &str = "does not speak HTTP/2";
