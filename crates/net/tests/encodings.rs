//! Bodies with several encodings, decoded as they arrive.

use onrush_net::{
    NetError,
    encoding::{Decoder, encode, parse_algorithms},
};

/// What came out, and the code of what went wrong.
fn fed(list: &str, body: &[u8]) -> (usize, Option<u32>) {
    let mut decoder = Decoder::new(list.as_bytes()).unwrap().expect("an encoding");
    let mut count = 0;
    let mut sink = |bytes: &[u8]| {
        count += bytes.len();
        Ok::<_, NetError>(())
    };
    let result = decoder.feed(body, &mut sink).and_then(|()| decoder.finish(&mut sink));
    (count, result.err().map(|error| error.code.into()))
}

#[test]
fn bombs_within_bombs_are_refused() {
    for list in ["gzip, gzip", "deflate, gzip", "gzip, gzip, gzip"] {
        let bomb = encode(&vec![0; 32 << 20], &parse_algorithms(list).unwrap()).unwrap();
        let (count, code) = fed(list, &bomb);
        assert_eq!(code, Some(1701), "{list} of {} bytes gave {count}", bomb.len());
        assert!(count < 32 << 20, "{list}: {count}");
    }
}

#[test]
fn what_unfolds_far_once_is_no_bomb() {
    let zeros = vec![0; 32 << 20];
    for list in ["gzip", "deflate"] {
        let body = encode(&zeros, &parse_algorithms(list).unwrap()).unwrap();
        assert_eq!(fed(list, &body), (zeros.len(), None), "{list}");
    }
}
