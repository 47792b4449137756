//! Objects that a script spells out, told apart without being read.
#![expect(unsafe_code, reason = "words that stand for values of QuickJS")]

use std::{
    borrow::Borrow,
    ffi::c_int,
    hash::{Hash, Hasher},
};

use onrush_quickjs_sys as sys;

use super::{Handle, runtime_ptr};

/// What more words than these are would take longer to compare than to read.
const WORDS_MAX: usize = 48;

/// What a plain object holds, where all of it is what source text can spell out: words that are the same for two such
/// objects only if these have the same properties, in the same order and with the same values.
///
/// Good until script code runs again: until then nothing frees the names it refers to.
pub(crate) struct Literals {
    words: [u64; WORDS_MAX],
    count: usize,
}

impl Literals {
    pub(crate) fn words(&self) -> &[u64] {
        &self.words[..self.count]
    }

    /// Makes them last: no name they refer to is freed, so that no other object has the same words later.
    pub(crate) fn keep(&self) -> KeptLiterals {
        let kept = KeptLiterals(self.words().into());
        kept.refer(true);
        kept
    }
}

impl Handle {
    /// The words of a plain object of literals; `None` for anything else. Runs no script.
    pub(crate) fn literals(&self) -> Option<Literals> {
        let mut literals = Literals { words: [0; WORDS_MAX], count: 0 };
        // SAFETY: there is room for so many words, and the value is alive.
        let count =
            unsafe { sys::onrush_literals(runtime_ptr(), self.raw(), literals.words.as_mut_ptr(), WORDS_MAX as c_int) };
        literals.count = usize::try_from(count).ok()?;
        Some(literals)
    }
}

/// Literals with a reference to each name in them: a key for tables.
pub(crate) struct KeptLiterals(Box<[u64]>);

impl KeptLiterals {
    fn refer(&self, is_kept: bool) {
        // SAFETY: the words are as QuickJS wrote them. References are taken while the object they came from is alive,
        // and given back once.
        unsafe {
            sys::onrush_refer_literals(runtime_ptr(), self.0.as_ptr(), self.0.len() as c_int, c_int::from(is_kept));
        }
    }
}

impl Drop for KeptLiterals {
    fn drop(&mut self) {
        self.refer(false);
    }
}

impl Borrow<[u64]> for KeptLiterals {
    fn borrow(&self) -> &[u64] {
        &self.0
    }
}

impl PartialEq for KeptLiterals {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for KeptLiterals {}

impl Hash for KeptLiterals {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
