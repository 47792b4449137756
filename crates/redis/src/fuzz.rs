//! The entry of the fuzz target.

use crate::{Decoder, Malformed, Reply};

/// Decodes any bytes; the first says how they are cut into pieces.
///
/// # Panics
///
/// If they give other replies in pieces than in one go.
pub fn fuzz(input: &[u8]) {
    let Some((pieces, data)) = input.split_first() else { return };
    let decode = |size: usize| -> (Vec<Reply>, Option<Malformed>) {
        let (mut decoder, mut replies) = (Decoder::default(), Vec::new());
        for piece in data.chunks(size.max(1)) {
            decoder.buffer().extend_from_slice(piece);
            loop {
                match decoder.reply() {
                    Ok(Some(reply)) => replies.push(reply),
                    Ok(None) => break,
                    Err(error) => return (replies, Some(error)),
                }
            }
        }
        (replies, None)
    };
    let (whole, cut) = (decode(data.len()), decode(usize::from(*pieces) + 1));
    assert_eq!(format!("{whole:?}"), format!("{cut:?}"));
}
