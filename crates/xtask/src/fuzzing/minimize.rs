//! Makes a failing input smaller.

/// Removes pieces, from halves down to single bytes, as long as what is left still fails.
pub(super) fn minimize(mut input: Vec<u8>, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut attempts = 0;
    let mut piece = input.len().div_ceil(2);
    while piece > 0 {
        let mut from = 0;
        while from < input.len() && attempts < ATTEMPTS_MAX {
            attempts += 1;
            let to = input.len().min(from + piece);
            let candidate = [&input[..from], &input[to..]].concat();
            if fails(&candidate) {
                input = candidate;
            } else {
                from = to;
            }
        }
        piece /= 2;
    }
    input
}

/// A few seconds at most for the parsers we fuzz.
const ATTEMPTS_MAX: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_matters() {
        let input = b"xxxxaxxxxxbxxxxxc".to_vec();
        let is_subsequence = |bytes: &[u8]| {
            let mut bytes = bytes.iter();
            b"abc".iter().all(|wanted| bytes.any(|byte| byte == wanted))
        };
        assert_eq!(minimize(input, is_subsequence), b"abc");
        assert_eq!(minimize(b"anything".to_vec(), |_| true), b"");
        assert_eq!(minimize(b"".to_vec(), |_| true), b"");
    }
}
