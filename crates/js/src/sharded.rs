//! A counter that threads add to without getting in each other's way.

use std::sync::atomic::{AtomicU64, Ordering};

/// Cells of a counter; threads beyond that share them.
const CELLS: usize = 64;

/// A cell with its cache lines for itself: processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Cell(AtomicU64);

/// A sum that every thread adds to in a cell of its own: one million iterations a second on many cores must not fight
/// over one cache line. Relaxed: a statistic, exact once the threads are done.
#[derive(Debug)]
pub struct ShardedCounter(Box<[Cell]>);

impl Default for ShardedCounter {
    fn default() -> Self {
        Self((0..CELLS).map(|_| Cell::default()).collect())
    }
}

impl ShardedCounter {
    /// Adds one. `thread` is any small number that tells threads apart.
    pub fn increment(&self, thread: usize) {
        self.0[thread % CELLS].0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one away; the same thread has added it.
    pub fn decrement(&self, thread: usize) {
        self.0[thread % CELLS].0.fetch_sub(1, Ordering::Relaxed);
    }

    /// The sum over all threads.
    pub fn get(&self) -> u64 {
        self.0.iter().map(|cell| cell.0.load(Ordering::Relaxed)).sum()
    }
}
