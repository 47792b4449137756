//! Folded samples: postcard, and Zstandard where that makes them smaller.

use serde::{Serialize, de::DeserializeOwned};

use super::WireError;
use crate::messages::Folded;

/// Smaller ones stay as they are.
const COMPRESSED_FROM_BYTES: usize = 512;
/// What one message may unfold to.
const UNFOLDED_BYTES_MAX: usize = 256 << 20;
/// Deltas are small and come every second: speed counts.
const LEVEL: i32 = 1;

pub(crate) fn fold<T: Serialize>(value: &T) -> Folded {
    // Plain data in memory: it can only fail for want of memory, which aborts.
    let data = postcard::to_allocvec(value).expect("samples are plain data");
    if (COMPRESSED_FROM_BYTES..=UNFOLDED_BYTES_MAX).contains(&data.len())
        && let Ok(smaller) = zstd::bulk::compress(&data, LEVEL)
        && smaller.len() < data.len()
    {
        return Folded { data: smaller, is_compressed: true };
    }
    Folded { data, is_compressed: false }
}

pub(crate) fn unfold<T: DeserializeOwned>(folded: &Folded) -> Result<T, WireError> {
    let wrong = |error: String| WireError::new(format!("folded samples: {error}"));
    let plain;
    let data = if folded.is_compressed {
        let size = zstd::zstd_safe::get_frame_content_size(&folded.data).ok().flatten();
        let size = size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= UNFOLDED_BYTES_MAX);
        let size = size.ok_or_else(|| wrong(format!("more than {UNFOLDED_BYTES_MAX} bytes")))?;
        plain = zstd::bulk::decompress(&folded.data, size).map_err(|error| wrong(error.to_string()))?;
        &plain
    } else {
        &folded.data
    };
    postcard::from_bytes(data).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_ones_are_compressed_and_all_come_back() {
        for count in [0_u64, 10, 10_000] {
            let values: Vec<u64> = (0..count).map(|value| value % 50).collect();
            let folded = fold(&values);
            assert_eq!(folded.is_compressed, count == 10_000);
            assert_eq!(unfold::<Vec<u64>>(&folded), Ok(values));
        }
    }

    #[test]
    fn what_is_no_sample_or_too_much_is_refused() {
        assert!(unfold::<String>(&Folded { data: vec![200], is_compressed: false }).is_err());
        assert!(unfold::<String>(&Folded { data: b"garbage".to_vec(), is_compressed: true }).is_err());
        // A megabyte of zeros is a bomb for whoever believes it; its head says how large it is.
        let bomb = zstd::bulk::compress(&vec![0; UNFOLDED_BYTES_MAX + 1], 1).expect("it can be compressed");
        let error = unfold::<Vec<u8>>(&Folded { data: bomb, is_compressed: true }).expect_err("too large");
        assert!(error.to_string().contains("more than"), "{error}");
    }
}
