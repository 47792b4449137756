//! Heads that come again and again: a server that answers thousands of times a second sends the same bytes until its
//! `Date` changes. Such a head is compared instead of parsed, and its bytes are kept once for all responses.

use std::cell::RefCell;

use super::Head;

/// Heads remembered by a thread, by the length of what arrived with them: different resources rarely have the same.
const SLOTS: usize = 16;

struct Seen {
    head: Head,
    is_head_request: bool,
}

thread_local! {
    static SEEN: RefCell<[Option<Seen>; SLOTS]> = const { RefCell::new([const { None }; SLOTS]) };
}

/// As [`super::scan`], from memory where it can.
pub(super) fn scan(input: &[u8], is_head_request: bool) -> Option<(Head, usize)> {
    SEEN.with_borrow_mut(|seen| {
        let slot = &mut seen[input.len() % SLOTS];
        if let Some(seen) = slot
            && seen.is_head_request == is_head_request
            && let Some(end) = seen.head.headers.repeats(input)
        {
            return Some((seen.head.clone(), end));
        }
        let (head, end) = super::scan(input, is_head_request)?;
        *slot = Some(Seen { head: head.clone(), is_head_request });
        Some((head, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_head_is_taken_from_memory_and_only_then() {
        let check = |input: &str, is_head_request: bool, shares_with: Option<&Head>| -> Head {
            let (head, end) = scan(input.as_bytes(), is_head_request).expect("a plain head");
            let (parsed, parsed_end) = super::super::scan(input.as_bytes(), is_head_request).expect("a plain head");
            assert_eq!((end, format!("{head:?}")), (parsed_end, format!("{parsed:?}")), "{input:?}");
            if let Some(other) = shares_with {
                assert!(head.headers.shares_bytes(&other.headers), "{input:?}");
            }
            head
        };
        let first = check("HTTP/1.1 200 OK\r\nA: 1\r\n\r\nxy", false, None);
        check("HTTP/1.1 200 OK\r\nA: 1\r\n\r\nzz", false, Some(&first));
        // One field more, the same length: the known head is only a part of it.
        check("HTTP/1.1 200 OK\r\nA: 1\r\nB:\r\n\r\n", false, None);
        check("HTTP/1.1 200 OK\r\nA: 2\r\n\r\nxy", false, None);
        // The answer to HEAD has no body, whatever its head says.
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_ne!(check(length, false, None).framing, check(length, true, None).framing);
    }
}
