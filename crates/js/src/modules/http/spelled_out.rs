//! Parameters that a script spells out: `{ headers: { Accept: 'text/html' }, tags: { kind: 'page' } }`. Each request makes
//! such an object anew, with the same content every time: they are read once and shared.

use std::{
    cell::{Cell, RefCell},
    hash::BuildHasher,
    rc::Rc,
};

use onrush_metrics::TagNode;
use rustc_hash::FxHashMap;

use super::{
    arguments::{Params, Problem},
    params,
};
use crate::{
    embed::{Ctx, Handle, KeptLiterals, Literals},
    vu::Vu,
};

/// The parameters that a thread's VUs have spelled out.
#[derive(Default)]
pub(super) struct SpelledOut {
    known: RefCell<FxHashMap<KeptLiterals, Known>>,
    /// Hashes of what was seen once, by their last bits. Some objects are different each time, for a number or a time in
    /// them: only what comes again is kept.
    seen: [Cell<u64>; SEEN],
}

struct Known {
    params: Rc<Params>,
    /// The tags of a VU, and what they are with those of the parameters.
    nodes: Cell<(TagNode, TagNode)>,
}

/// Objects remembered; beyond that the table starts again.
const KNOWN_MAX: usize = 256;
const SEEN: usize = 32;

impl SpelledOut {
    /// What [`params::read`] gives for an object with these literals.
    pub(super) fn params(
        &self,
        ctx: Ctx,
        vu: &Vu,
        value: &Handle,
        literals: &Literals,
    ) -> Result<(Rc<Params>, TagNode), Problem> {
        let words = literals.words();
        if let Some(known) = self.known.borrow().get(words) {
            let (own, with_given) = known.nodes.get();
            if own == vu.node.get() {
                return Ok((known.params.clone(), with_given));
            }
        }
        let (mut params, node) = params::read(ctx, vu, value)?;
        let mut known = self.known.borrow_mut();
        let nodes = (vu.node.get(), node);
        if let Some(known) = known.get(words) {
            known.nodes.set(nodes);
            return Ok((known.params.clone(), node));
        }
        let hash = known.hasher().hash_one(words);
        if self.seen[hash as usize % SEEN].replace(hash) == hash {
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            if let Some(own) = Rc::get_mut(&mut params) {
                own.headers.prepare_lines();
            }
            known.insert(literals.keep(), Known { params: params.clone(), nodes: Cell::new(nodes) });
        }
        Ok((params, node))
    }
}
