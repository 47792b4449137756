//! The entry of the fuzz target.

use super::{Agreement, Decoder, Step};

/// Feeds arbitrary bytes to the decoder whole and in pieces that depend on the bytes. Panics are findings; so are any
/// disagreement between the two, an error that is not the last word, and memory beyond the limit.
pub fn fuzz(data: &[u8]) {
    let Some((&control, stream)) = data.split_first() else { return };
    let step = usize::from(control & 31) + 1;
    let agreement = (control & 32 != 0)
        .then_some(Agreement { server_keeps_context: control & 64 != 0, client_keeps_context: false });
    assert_eq!(run(agreement, stream.chunks(step)), run(agreement, std::iter::once(stream)));
}

fn run<'a>(agreement: Option<Agreement>, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    const LIMIT: usize = 1 << 16;
    let mut decoder = Decoder::new(agreement).with_limit(LIMIT);
    let mut seen = Vec::new();
    for piece in pieces {
        decoder.input().extend_from_slice(piece);
        loop {
            match decoder.step() {
                Ok(Step::Hungry) => break,
                Ok(Step::Busy) => {}
                Ok(Step::Event(event)) => seen.push(format!("{event:?}")),
                Err(error) => {
                    seen.push(error.to_string());
                    assert_eq!(decoder.step(), Ok(Step::Hungry), "nothing comes after an error");
                    return seen;
                }
            }
        }
    }
    seen
}
