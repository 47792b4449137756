//! Pings under way.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
};

use onrush_fiber::{Clock, Nanos};

/// Numbers pings, and knows when each was sent.
#[derive(Default)]
pub(super) struct Pings {
    next: Cell<u64>,
    /// The oldest first.
    sent: RefCell<VecDeque<(u64, Nanos)>>,
}

/// Pings that wait for a pong; beyond that the oldest are forgotten.
const WAITING_MAX: usize = 1000;

impl Pings {
    /// The payload of the next ping, which is sent now. k6: a counter's decimal digits.
    pub(super) fn begin(&self) -> String {
        let number = self.next.get();
        self.next.set(number + 1);
        let mut sent = self.sent.borrow_mut();
        if sent.len() >= WAITING_MAX {
            sent.pop_front();
        }
        sent.push_back((number, Clock::now()));
        number.to_string()
    }

    /// How long the ping that a pong answers took, in milliseconds; `None` if there is no such ping.
    pub(super) fn end(&self, payload: &[u8]) -> Option<f64> {
        let number: u64 = std::str::from_utf8(payload).ok()?.parse().ok()?;
        let mut sent = self.sent.borrow_mut();
        let at = sent.iter().position(|(known, _)| *known == number)?;
        let (_, start) = sent.remove(at)?;
        if sent.is_empty() {
            sent.shrink_to_fit();
        }
        Some((Clock::now() - start).as_millis_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pongs_answer_pings() {
        let pings = Pings::default();
        assert_eq!((pings.begin(), pings.begin()), ("0".to_owned(), "1".to_owned()));
        assert!(pings.end(b"1").is_some());
        assert_eq!(pings.end(b"1"), None);
        assert_eq!(pings.end(b"x"), None);
        assert!(pings.end(b"0").is_some());
        for _ in 0..2 * WAITING_MAX {
            pings.begin();
        }
        assert_eq!(pings.sent.borrow().len(), WAITING_MAX);
    }
}
