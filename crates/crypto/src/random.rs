//! Random bytes that nobody can predict, from the system. aws-lc-rs has a generator of its own, but the first use of that
//! gathers entropy for more than 100 ms, on the thread of whoever asks first.
//!
//! The salts and the blinding of RSA signatures come from that generator all the same: aws-lc-rs ignores the one it is given,
//! and its trait for generators is sealed.

/// The system gave none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("get random bytes from the system")]
pub struct NoRandom;

/// Fills a buffer.
///
/// # Errors
///
/// The system gives none.
pub fn fill(buffer: &mut [u8]) -> Result<(), NoRandom> {
    getrandom::fill(buffer).map_err(|_| NoRandom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_each_time() {
        let (mut first, mut second) = ([0; 32], [0; 32]);
        assert_eq!((fill(&mut first), fill(&mut second), fill(&mut [])), (Ok(()), Ok(()), Ok(())));
        assert_ne!(first, second);
    }
}
