//! Masks: what a client's payloads are combined with, so that nobody can choose the bytes on the wire.

use std::{
    cell::Cell,
    hash::{BuildHasher as _, RandomState},
};

thread_local! {
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0_u8) | 1);
}

/// A new mask.
pub(super) fn random() -> [u8; 4] {
    bits().to_ne_bytes()[..4].try_into().unwrap_or_default()
}

/// 64 bits that the script cannot foresee.
pub(super) fn bits() -> u64 {
    // xorshift64*, from a random state.
    let mut state = STATE.get();
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    STATE.set(state);
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

/// Combines `data` with the mask, beginning with its first byte; eight bytes at a time.
pub(super) fn apply(mask: [u8; 4], data: &mut [u8]) {
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let mut words = data.chunks_exact_mut(8);
    for word in &mut words {
        if let Ok(bytes) = <[u8; 8]>::try_from(&*word) {
            word.copy_from_slice(&(u64::from_ne_bytes(bytes) ^ wide).to_ne_bytes());
        }
    }
    for (byte, mask) in words.into_remainder().iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes_give_the_same() {
        let mask = [0x37, 0xfa, 0x21, 0x3d];
        for length in 0..70 {
            let data: Vec<u8> = (0..length).collect();
            let mut masked = data.clone();
            apply(mask, &mut masked);
            let expect: Vec<u8> = data.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
            assert_eq!(masked, expect);
        }
    }

    #[test]
    fn masks_differ() {
        assert_ne!((random(), random(), random()), (random(), random(), random()));
    }
}
