//! What an output that pushes says about itself: the first failure, others only where they differ from those before, and when it is over.

use crate::post::Refused;

/// What it has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The first push that failed, or one that failed for another reason.
    Failed(String),
    /// What was pushed was refused for good, and is lost.
    Lost(String),
    /// The receiver does not know the newer protocol, and gets the older one from now on.
    Older(String),
    /// A push arrived, after so many that did not.
    Again {
        /// Pushes that failed.
        failed: u64,
    },
}

/// Says it once.
pub(crate) struct Teller {
    failed: u64,
    /// What was told since a push arrived last.
    reasons: Vec<String>,
    tell: Box<dyn Fn(Told) + Send>,
}

impl Teller {
    pub(crate) fn new(tell: impl Fn(Told) + Send + 'static) -> Self {
        Self { failed: 0, reasons: Vec::new(), tell: Box::new(tell) }
    }

    /// Says something in any case.
    pub(crate) fn say(&self, told: Told) {
        (self.tell)(told);
    }

    /// A push arrived or failed; what it had comes with a later one.
    pub(crate) fn note<R>(&mut self, result: &Result<R, Refused>) {
        match result {
            Ok(_) => self.arrived(),
            Err(refused) => self.failed(refused),
        }
    }

    /// A push arrived.
    pub(crate) fn arrived(&mut self) {
        if self.failed > 0 {
            (self.tell)(Told::Again { failed: std::mem::take(&mut self.failed) });
            self.reasons.clear();
        }
    }

    /// A push failed; what it had comes with a later one.
    pub(crate) fn failed(&mut self, refused: &Refused) {
        self.failed += 1;
        self.tell_new(&refused.why, Told::Failed);
    }

    /// A push was refused for good.
    pub(crate) fn lost(&mut self, refused: &Refused) {
        self.failed += 1;
        self.tell_new(&refused.why, Told::Lost);
    }

    fn tell_new(&mut self, why: &str, told: fn(String) -> Told) {
        /// A receiver that is away has a few reasons. One whose every answer is another, by a number in it, is not quoted each time.
        const REASONS_MAX: usize = 3;
        if self.reasons.len() < REASONS_MAX && !self.reasons.iter().any(|known| known == why) {
            self.reasons.push(why.to_owned());
            (self.tell)(told(why.to_owned()));
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
        let mut teller = Teller::new(move |news| tell.send(news).expect("somebody listens"));
        let refused = |why: &str| Err(Refused::for_now(why.to_owned()));
        for why in ["", "a", "a", "b", "a", "b", "c", "d", "e", "", "", "a"] {
            teller.note(&if why.is_empty() { Ok(()) } else { refused(why) });
        }
        drop(teller);
        let failed = |why: &str| Told::Failed(why.to_owned());
        let expect = [failed("a"), failed("b"), failed("c"), Told::Again { failed: 8 }, failed("a")];
        assert_eq!(told.iter().collect::<Vec<_>>(), expect);
    }
}
