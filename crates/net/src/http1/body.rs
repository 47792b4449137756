//! Request bodies: pieces of memory that are shared, never copied, until they go to the socket.
//!
//! A file that thousands of VUs upload exists once in the process; a multipart body is that file between a few small
//! pieces of its own. Cloning a body clones references.

use std::sync::Arc;

use bytes::Bytes;

/// A request body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Body {
    /// No body at all: `POST`, `PUT` and `PATCH` say `Content-Length: 0`, others nothing.
    #[default]
    None,
    /// These bytes. k6: an empty body (`http.post(url, "")`) is sent as an empty chunked body, as Go does with a reader
    /// of unknown length, except for methods that usually have none.
    Bytes(Bytes),
    /// Several pieces, one after the other; none is empty.
    Pieces(Arc<[Bytes]>),
}

impl Body {
    /// A body of pieces; empty ones are left out.
    pub fn from_pieces(mut pieces: Vec<Bytes>) -> Self {
        pieces.retain(|piece| !piece.is_empty());
        match pieces.len() {
            0 => Self::Bytes(Bytes::new()),
            1 => Self::Bytes(pieces.remove(0)),
            _ => Self::Pieces(pieces.into()),
        }
    }

    /// The pieces in the order they are sent; none where there is no body.
    pub fn pieces(&self) -> &[Bytes] {
        match self {
            Self::None => &[],
            Self::Bytes(bytes) => std::slice::from_ref(bytes),
            Self::Pieces(pieces) => pieces,
        }
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.pieces().iter().map(Bytes::len).sum()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.pieces().iter().all(Bytes::is_empty)
    }

    /// All of it in one piece: copied only where it is not in one piece already.
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Self::None => Bytes::new(),
            Self::Bytes(bytes) => bytes.clone(),
            Self::Pieces(pieces) => pieces.concat().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        let check = |given: &[&'static str], whole: &str, count: usize| {
            let body = Body::from_pieces(given.iter().map(|text| Bytes::from_static(text.as_bytes())).collect());
            assert_eq!((body.len(), body.pieces().len(), &body.to_bytes()[..]), (whole.len(), count, whole.as_bytes()));
        };
        check(&[], "", 1);
        check(&["", ""], "", 1);
        check(&["", "ab"], "ab", 1);
        check(&["a", "", "bc"], "abc", 2);
        assert_eq!((Body::None.len(), Body::None.pieces().len(), Body::None.is_empty()), (0, 0, true));
        let shared = Bytes::from_static(b"shared");
        let body = Body::from_pieces(vec!["a".into(), shared.clone()]);
        assert_eq!(body.clone().pieces()[1].as_ptr(), shared.as_ptr());
    }
}
