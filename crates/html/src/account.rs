//! What documents and selections of one owner hold, in bytes.

use std::{cell::Cell, rc::Rc};

/// A sum of bytes that several documents and selections add to while they live.
///
/// Clones share the sum.
#[derive(Debug, Clone, Default)]
pub struct Account(Rc<Cell<usize>>);

impl Account {
    /// Bytes held now.
    pub fn bytes(&self) -> usize {
        self.0.get()
    }

    /// Adds `bytes` until the charge is dropped.
    pub(crate) fn charge(&self, bytes: usize) -> Charge {
        self.0.set(self.0.get().saturating_add(bytes));
        Charge { account: self.clone(), bytes }
    }
}

/// A part of an account, given back on drop.
#[derive(Debug)]
pub(crate) struct Charge {
    account: Account,
    bytes: usize,
}

impl Charge {
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.0.set(self.account.0.get().saturating_sub(self.bytes));
    }
}
