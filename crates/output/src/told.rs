//! What an output that sends has to say about itself: once when nothing arrives any more, once when it does again.

use std::time::Duration;

use onrush_fiber::Clock;

use crate::post::Refused;

/// News of an output that sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The first request that failed, or one that failed for another reason.
    Failed(String),
    /// A request arrived, after so many that did not.
    Again {
        /// Requests that failed.
        failed: u64,
    },
}

/// How requests fare.
pub(crate) struct Trouble {
    failed: u64,
    why: String,
    tell: Box<dyn Fn(Told) + Send>,
}

impl Trouble {
    pub(crate) fn new(tell: impl Fn(Told) + Send + 'static) -> Self {
        Self { failed: 0, why: String::new(), tell: Box::new(tell) }
    }

    /// Tells what is new about this.
    pub(crate) fn note<R>(&mut self, result: &Result<R, Refused>) {
        match result {
            Ok(_) if self.failed == 0 => {}
            Ok(_) => {
                (self.tell)(Told::Again { failed: std::mem::take(&mut self.failed) });
                self.why.clear();
            }
            Err(refused) => {
                self.failed += 1;
                if self.why != refused.why {
                    self.why.clone_from(&refused.why);
                    (self.tell)(Told::Failed(refused.why.clone()));
                }
            }
        }
    }
}

/// How often what is left at the end is sent, with a second more between each.
const LAST_TRIES: u32 = 4;
/// After so long nothing is tried again.
const LAST_TRIES_WITHIN: Duration = Duration::from_secs(30);

/// Sends what is left at the end: `send` is given how long it waits first.
///
/// # Errors
/// Why it was not taken the last time.
pub(crate) fn last_tries(mut send: impl FnMut(Duration) -> Result<(), Refused>) -> Result<(), String> {
    let until = Clock::now() + LAST_TRIES_WITHIN;
    let mut tries = 0;
    loop {
        match send(Duration::from_secs(1) * tries) {
            Ok(()) => return Ok(()),
            Err(refused) => {
                tries += 1;
                if tries == LAST_TRIES || !refused.may_be_taken_later || Clock::now() >= until {
                    return Err(refused.why);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn each_reason_is_told_once() {
        let (tell, told) = channel();
        let mut trouble = Trouble::new(move |news| tell.send(news).expect("somebody listens"));
        let refused = |why: &str| Err(Refused { why: why.to_owned(), may_be_taken_later: true });
        for result in [Ok(()), refused("a"), refused("a"), refused("b"), refused("b"), Ok(()), Ok(()), refused("a")] {
            trouble.note(&result);
        }
        drop(trouble);
        let failed = |why: &str| Told::Failed(why.to_owned());
        let expect = [failed("a"), failed("b"), Told::Again { failed: 4 }, failed("a")];
        assert_eq!(told.iter().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn what_will_not_pass_is_not_tried_again() {
        let mut waits = Vec::new();
        let refuse = |may_be_taken_later| Err(Refused { why: "no".to_owned(), may_be_taken_later });
        let result = last_tries(|after| {
            waits.push(after.as_secs());
            refuse(waits.len() < 3)
        });
        assert_eq!((result, waits), (Err("no".to_owned()), vec![0, 1, 2]));
        let mut waits = Vec::new();
        let result = last_tries(|after| {
            waits.push(after.as_secs());
            refuse(true)
        });
        assert_eq!((result, waits), (Err("no".to_owned()), vec![0, 1, 2, 3]));
    }
}
