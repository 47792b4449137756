//! Why `h2` could not read a header block, asked only when that has happened.
//!
//! `h2` says the same of a block that is not HPACK and of one that holds a field no message may have; Go
//! ends the connection for the first and the stream for the second. This walks the representations (RFC 7541,
//! section 6) without decoding them.

/// Fields of the static table, and the most that fit a dynamic table of the default size.
const INDEX_MAX: usize = 61 + 4096 / 32;
const TABLE_BYTES_MAX: usize = 4096;
/// More than this many bytes of an integer are an attack.
const INTEGER_BYTES_MAX: usize = 5;

/// Whether a block could be HPACK. Huffman-coded strings are taken for good.
pub(super) fn is_hpack(mut block: &[u8]) -> bool {
    let mut has_field = false;
    while let Some(&first) = block.first() {
        let walked = match first {
            0x80.. => integer(&mut block, 7).filter(|&index| (1..=INDEX_MAX).contains(&index)).map(|_| ()),
            0x40..=0x7f => literal(&mut block, 6),
            0x20..=0x3f => integer(&mut block, 5).filter(|&size| size <= TABLE_BYTES_MAX && !has_field).map(|_| ()),
            _ => literal(&mut block, 4),
        };
        if walked.is_none() {
            return false;
        }
        has_field |= !matches!(first, 0x20..=0x3f);
    }
    true
}

/// A name (indexed or not) and a value.
fn literal(block: &mut &[u8], prefix_bits: u32) -> Option<()> {
    let index = integer(block, prefix_bits).filter(|&index| index <= INDEX_MAX)?;
    if index == 0 {
        string(block)?;
    }
    string(block)
}

fn string(block: &mut &[u8]) -> Option<()> {
    let length = integer(block, 7)?;
    *block = block.get(length..)?;
    Some(())
}

/// An integer behind a prefix.
fn integer(block: &mut &[u8], prefix_bits: u32) -> Option<usize> {
    let (&first, mut rest) = block.split_first()?;
    let max = (1_usize << prefix_bits) - 1;
    let mut value = usize::from(first) & max;
    if value == max {
        for at in 0..INTEGER_BYTES_MAX {
            let (&next, after) = rest.split_first()?;
            rest = after;
            value += usize::from(next & 127) << (7 * at);
            if next < 128 {
                *block = rest;
                return Some(value);
            }
        }
        return None;
    }
    *block = rest;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks() {
        let check = |block: &[u8], expect: bool| assert_eq!(is_hpack(block), expect, "{block:x?}");
        check(&[0x88], true);
        check(&[0x80], false);
        check(&[0xff, 0x0a], true);
        check(&[0xff, 0x80, 0x01], false);
        check(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], false);
        check(&[0x40, 1, b'a', 1, b'b'], true);
        check(&[0x40, 1, b'a', 9, b'b'], false);
        check(&[0x40], false);
        check(&[0x3f, 0xe1, 0x1f, 0x88], true);
        check(&[0x3f, 0xe2, 0x1f, 0x88], false);
        check(&[0x88, 0x20], false);
        check(&[0, 1, b'A', 0], true);
    }

    proptest! {
        #[test]
        fn never_panics(block in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = is_hpack(&block);
        }
    }
}
