//! Objects of lists, as k6 shows headers and cookies: `{name: [value, …]}`.
//!
//! Names come from servers: they are collected here, since an object would find `constructor` and its like on its
//! prototype.

use rustc_hash::FxHashMap;

use crate::embed::{Ctx, JsResult, Val};

/// Lists in the order of their first entries.
#[derive(Default)]
pub(super) struct Lists<'a> {
    lists: Vec<(&'a str, Vec<Val>)>,
    places: FxHashMap<&'a str, usize>,
}

impl<'a> Lists<'a> {
    pub(super) fn push(&mut self, name: &'a str, value: Val) {
        let place = *self.places.entry(name).or_insert(self.lists.len());
        if place == self.lists.len() {
            self.lists.push((name, Vec::new()));
        }
        self.lists[place].1.push(value);
    }

    pub(super) fn object(self, ctx: Ctx) -> JsResult {
        let object = ctx.object()?;
        for (name, values) in self.lists {
            let list = ctx.array()?;
            for (index, value) in (0..).zip(values) {
                list.define_index(ctx, index, value)?;
            }
            object.define(ctx, name, list)?;
        }
        Ok(object)
    }
}
