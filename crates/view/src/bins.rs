//! Seconds of a run that become fewer and longer, as its steps do.

use onrush_metrics::{Span, Steps};

/// What parts are added up to.
pub(crate) trait Sum: Default {
    /// What is added.
    type Part;

    /// Adds a part.
    fn add(&mut self, part: &Self::Part);
}

/// A longer part of the run.
#[derive(Debug, Clone)]
pub(crate) struct Bin<S> {
    /// Its time.
    pub(crate) span: Span,
    /// What was in it.
    pub(crate) sum: S,
    /// The parts it is made of, by the numbers they were added with.
    pub(crate) parts: Vec<u64>,
}

/// Makes bins of parts that come in their order.
#[derive(Debug, Clone)]
pub(crate) struct Bins<S>(Option<Bin<S>>);

impl<S> Default for Bins<S> {
    fn default() -> Self {
        Self(None)
    }
}

impl<S: Sum> Bins<S> {
    /// Adds a part. Gives the bin that is over by that, if it has more than one part.
    pub(crate) fn add(&mut self, span: Span, part: &S::Part, number: u64) -> Option<Bin<S>> {
        let kept = Steps::kept_around(span.from_ns);
        let over = self.0.take_if(|bin| bin.span.from_ns != kept.from_ns);
        let bin = self.0.get_or_insert_with(|| Bin { span: kept, sum: S::default(), parts: Vec::new() });
        // A part may be longer than it should, where whoever makes them was slow.
        bin.span.until_ns = bin.span.until_ns.max(span.until_ns);
        bin.sum.add(part);
        bin.parts.push(number);
        over.filter(|bin| bin.parts.len() > 1)
    }

    /// What is left at the end.
    pub(crate) fn rest(&mut self) -> Option<Bin<S>> {
        self.0.take().filter(|bin| bin.parts.len() > 1)
    }
}
