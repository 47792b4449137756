//! Tag sets as an output writes them: made once, used for every sample that has the set.

/// By thread and number of the set.
#[derive(Default)]
pub(super) struct Rendered {
    threads: Vec<Vec<Option<Box<[u8]>>>>,
    len: usize,
}

impl Rendered {
    /// Texts that are kept, a few hundred bytes each. Beyond it all are made anew: tests with so many tag sets use
    /// each of them seldom.
    const LEN_MAX: usize = 65_536;

    /// The text of a set, made by `render` at its first use.
    pub(super) fn of(&mut self, thread: usize, set: u32, render: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        if self.len >= Self::LEN_MAX {
            *self = Self::default();
        }
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Vec::new);
        }
        let sets = &mut self.threads[thread];
        let set = set as usize;
        if sets.len() <= set {
            sets.resize_with(set + 1, || None);
        }
        if sets[set].is_none() {
            self.len += 1;
        }
        sets[set].get_or_insert_with(|| {
            let mut text = Vec::new();
            render(&mut text);
            text.into_boxed_slice()
        })
    }
}
