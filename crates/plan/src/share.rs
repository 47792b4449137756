//! Splitting one instance's work over its threads by local index.
//!
//! Work number `k` of a scenario (a VU handle, an arrival event) belongs to thread `(k + offset) % threads`, where the
//! offset is the scenario's own, so that several small scenarios do not all land on thread 0.

/// The thread that owns local index `k`. `threads` of 0 counts as 1.
#[must_use]
pub fn thread_of(k: u64, threads: u64, offset: u64) -> u64 {
    let threads = threads.max(1);
    add_mod(k % threads, offset % threads, threads)
}

/// The first local index `thread` owns; its others follow every `threads`.
#[must_use]
pub fn first_for(thread: u64, threads: u64, offset: u64) -> u64 {
    let threads = threads.max(1);
    add_mod(thread % threads, threads - offset % threads, threads)
}

/// How many of the local indexes `0..n` belong to `thread`.
#[must_use]
pub fn count_for(n: u64, thread: u64, threads: u64, offset: u64) -> u64 {
    let threads = threads.max(1);
    let first = first_for(thread, threads, offset);
    if n <= first { 0 } else { (n - first - 1) / threads + 1 }
}

/// `(a + b) % modulus` without overflow.
fn add_mod(a: u64, b: u64, modulus: u64) -> u64 {
    // The remainder is below `modulus`, so it fits 64 bits again.
    ((u128::from(a) + u128::from(b)) % u128::from(modulus)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_match_the_owners(n in 0u64..200, threads in 1u64..9, offset: u64) {
            for thread in 0..threads {
                let owned: Vec<u64> = (0..n).filter(|&k| thread_of(k, threads, offset) == thread).collect();
                prop_assert_eq!(owned.len() as u64, count_for(n, thread, threads, offset));
                if let Some(&first) = owned.first() {
                    prop_assert_eq!(first, first_for(thread, threads, offset));
                }
            }
        }

        #[test]
        fn extremes_do_not_panic(n: u64, thread: u64, threads: u64, offset: u64) {
            let _ = count_for(n, thread, threads, offset);
            let _ = thread_of(n, threads, offset);
        }
    }
}
