//! A streaming reader of `multipart/form-data`: keeps small fields, counts files, holds no more than a line or a
//! boundary of either.

use memchr::memmem::Finder;

use crate::{body::starts_with_ignore_case, head::Refusal};

/// Parts of one body; RFC 7578 names no limit, forms have far fewer.
const PARTS_MAX: usize = 1024;
/// Bytes of one part's headers.
const PART_HEAD_BYTES_MAX: usize = 16 * 1024;
/// RFC 2046 allows 70 bytes.
const BOUNDARY_BYTES_MAX: usize = 70;

const UNFINISHED: Refusal = Refusal::new(400, "multipart body ended before its closing boundary");
const BAD_PART: Refusal = Refusal::new(400, "invalid part in multipart body");

/// One field or file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Present when the part is a file.
    pub(crate) file_name: Option<String>,
    pub(crate) content_type: String,
    pub(crate) bytes: u64,
    /// A field's value; empty for files.
    pub(crate) value: Vec<u8>,
}

/// Reads one multipart body.
#[derive(Debug)]
pub(crate) struct Multipart {
    state: State,
    /// Finds `\r\n--boundary`.
    delimiter: Finder<'static>,
    /// Bytes that cannot be judged without the ones that follow.
    carry: Vec<u8>,
    parts: Vec<Part>,
    /// Room left for parts' names and fields' values.
    kept_bytes_left: usize,
    kept_bytes_max: usize,
    truncated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first boundary. The body is read as if it began with a line end.
    Preamble,
    /// Right after a boundary.
    Boundary,
    PartHead,
    PartBody,
    Epilogue,
}

/// What one look at the data achieved.
enum Step {
    /// So many bytes are dealt with; look again.
    Used(usize),
    /// More data is needed to go on, beginning with the byte at this index.
    Wait(usize),
}

impl Multipart {
    /// A reader for the boundary a `Content-Type` names; keeps up to
    /// `kept_bytes_max` bytes of names and values.
    ///
    /// # Errors
    /// 400 without a usable boundary.
    pub(crate) fn new(content_type: &[u8], kept_bytes_max: usize) -> Result<Self, Refusal> {
        let boundary = parameter(content_type, b"boundary")
            .filter(|boundary| !boundary.is_empty() && boundary.len() <= BOUNDARY_BYTES_MAX)
            // A carriage return in it would look like the beginning of a delimiter.
            .filter(|boundary| !boundary.iter().any(u8::is_ascii_control))
            .ok_or(Refusal::new(400, "multipart body without a boundary"))?;
        let needle = [b"\r\n--".as_slice(), &boundary].concat();
        Ok(Self {
            state: State::Preamble,
            delimiter: Finder::new(&needle).into_owned(),
            carry: b"\r\n".to_vec(),
            parts: Vec::new(),
            kept_bytes_left: kept_bytes_max,
            kept_bytes_max,
            truncated: false,
        })
    }

    /// Reads the next piece of the body.
    ///
    /// # Errors
    /// 400 for a malformed part, 413 for too many or too large ones.
    pub(crate) fn feed(&mut self, data: &[u8]) -> Result<(), Refusal> {
        if self.carry.is_empty() {
            let used = self.read(data)?;
            self.carry.extend_from_slice(&data[used..]);
        } else {
            let mut joined = std::mem::take(&mut self.carry);
            joined.extend_from_slice(data);
            let used = self.read(&joined)?;
            joined.drain(..used);
            self.carry = joined;
        }
        Ok(())
    }

    /// Checks that the closing boundary has been seen.
    ///
    /// # Errors
    /// 400 when it has not.
    pub(crate) fn finish(&self) -> Result<(), Refusal> {
        if self.state == State::Epilogue { Ok(()) } else { Err(UNFINISHED) }
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Bytes of memory the reader holds.
    pub(crate) fn held_bytes(&self) -> usize {
        let kept_bytes = self.kept_bytes_max - self.kept_bytes_left;
        kept_bytes + self.carry.capacity() + self.parts.capacity() * size_of::<Part>()
    }

    /// Whether a field's value was longer than what is kept.
    pub(crate) fn truncated(&self) -> bool {
        self.truncated
    }

    fn read(&mut self, data: &[u8]) -> Result<usize, Refusal> {
        let mut at = 0;
        loop {
            match self.step(&data[at..])? {
                Step::Used(bytes) => at += bytes,
                Step::Wait(bytes) => return Ok(at + bytes),
            }
        }
    }

    fn step(&mut self, data: &[u8]) -> Result<Step, Refusal> {
        let delimiter_bytes = self.delimiter.needle().len();
        Ok(match self.state {
            State::Preamble | State::PartBody => {
                let Some(found) = self.delimiter.find(data) else {
                    // Keep only a tail that may be the start of a boundary.
                    let safe = data.len() - tail_match(data, self.delimiter.needle());
                    self.part_bytes(&data[..safe]);
                    return Ok(Step::Wait(safe));
                };
                self.part_bytes(&data[..found]);
                self.state = State::Boundary;
                Step::Used(found + delimiter_bytes)
            }
            State::Boundary => {
                // Blanks may follow a boundary; then its line ends, or two dashes say that it was the last.
                if data.starts_with(b"--") {
                    self.state = State::Epilogue;
                    return Ok(Step::Used(2));
                }
                match data.iter().position(|&byte| byte != b' ' && byte != b'\t') {
                    Some(at) if data[at..].starts_with(b"\r\n") => {
                        if self.parts.len() == PARTS_MAX {
                            return Err(Refusal::new(413, "too many parts in multipart body"));
                        }
                        self.state = State::PartHead;
                        // The line end stays: an empty head is one line end more.
                        Step::Used(at)
                    }
                    // The dashes may follow blanks, too.
                    Some(at) if data[at..].starts_with(b"--") => {
                        self.state = State::Epilogue;
                        Step::Used(at + 2)
                    }
                    _ if data.len() < 2 => Step::Wait(0),
                    Some(at) if data.len() == at + 1 && matches!(data[at], b'\r' | b'-') => Step::Wait(at),
                    None => Step::Wait(data.len()),
                    Some(_) => return Err(BAD_PART),
                }
            }
            State::PartHead => match memchr::memmem::find(data, b"\r\n\r\n") {
                Some(end) if end <= PART_HEAD_BYTES_MAX => {
                    let part = part(&data[..end])?;
                    // Names are needed whole: without room for them it ends here.
                    self.kept_bytes_left =
                        self.kept_bytes_left.checked_sub(end).ok_or(Refusal::new(413, "multipart heads too large"))?;
                    self.parts.push(part);
                    self.state = State::PartBody;
                    Step::Used(end + 4)
                }
                None if data.len() <= PART_HEAD_BYTES_MAX => Step::Wait(0),
                _ => return Err(BAD_PART),
            },
            State::Epilogue => Step::Wait(data.len()),
        })
    }

    fn part_bytes(&mut self, data: &[u8]) {
        if self.state != State::PartBody {
            return;
        }
        let Some(part) = self.parts.last_mut() else {
            return;
        };
        part.bytes += data.len() as u64;
        if part.file_name.is_none() {
            let kept = data.len().min(self.kept_bytes_left);
            self.truncated |= kept < data.len();
            self.kept_bytes_left -= kept;
            part.value.extend_from_slice(&data[..kept]);
        }
    }
}

/// Length of the longest end of `data` that is a proper start of `needle`.
fn tail_match(data: &[u8], needle: &[u8]) -> usize {
    let longest = data.len().min(needle.len() - 1);
    let tail = &data[data.len() - longest..];
    // The needle starts with its only carriage return, so the last one decides.
    match memchr::memrchr(b'\r', tail) {
        Some(at) if needle.starts_with(&tail[at..]) => tail.len() - at,
        _ => 0,
    }
}

/// Reads a part's header lines.
fn part(head: &[u8]) -> Result<Part, Refusal> {
    let mut part = Part { content_type: "text/plain".to_owned(), ..Part::default() };
    let mut disposed = false;
    for line in head.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        if starts_with_ignore_case(line, b"content-disposition:") {
            let name = parameter(line, b"name").ok_or(BAD_PART)?;
            part.name = String::from_utf8_lossy(&name).into_owned();
            part.file_name = parameter(line, b"filename").map(|name| String::from_utf8_lossy(&name).into_owned());
            disposed = true;
        } else if starts_with_ignore_case(line, b"content-type:") {
            let value = line[b"content-type:".len()..].trim_ascii();
            part.content_type = String::from_utf8_lossy(value).into_owned();
        }
    }
    if disposed { Ok(part) } else { Err(BAD_PART) }
}

/// The value of a header's parameter: a token, or a quoted string with backslash escapes.
fn parameter(header: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let mut at = memchr::memchr(b';', header)? + 1;
    loop {
        let rest = &header[at..];
        let equals = memchr::memchr(b'=', rest)?;
        let key = rest[..equals].trim_ascii();
        at += equals + 1;
        let mut value = Vec::new();
        if header.get(at) == Some(&b'"') {
            at += 1;
            loop {
                match header.get(at)? {
                    b'"' => break,
                    b'\\' => {
                        at += 1;
                        value.push(*header.get(at)?);
                    }
                    byte => value.push(*byte),
                }
                at += 1;
            }
        } else {
            let rest = &header[at..];
            let end = memchr::memchr(b';', rest).unwrap_or(rest.len());
            value.extend_from_slice(rest[..end].trim_ascii());
        }
        if key.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        at += memchr::memchr(b';', &header[at..])? + 1;
    }
}

/// Feeds arbitrary bytes to the reader, whole and in pieces: the entry of the fuzz target. The first byte is the size
/// of pieces, the first line the boundary. Panics are findings; so is another outcome in pieces than in one go.
pub(crate) fn fuzz(data: &[u8]) {
    /// Little, so that limits are met.
    const KEPT_BYTES_MAX: usize = 256;
    let Some((&control, rest)) = data.split_first() else { return };
    let line = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let (boundary, body) = (&rest[..line], rest.get(line + 1..).unwrap_or_default());
    let content_type = [b"multipart/form-data; boundary=".as_slice(), boundary].concat();
    let run = |step: usize| {
        let mut reader = Multipart::new(&content_type, KEPT_BYTES_MAX)?;
        for piece in body.chunks(step) {
            reader.feed(piece)?;
            assert!(reader.carry.len() <= PART_HEAD_BYTES_MAX + 2 * BOUNDARY_BYTES_MAX + step);
        }
        reader.finish()?;
        Ok::<_, Refusal>((reader.parts, reader.truncated))
    };
    let step = usize::from(control) + 1;
    assert_eq!(run(body.len().max(1)).ok(), run(step).ok(), "in pieces of {step}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TYPE: &[u8] = b"multipart/form-data; boundary=XX";

    fn read(body: &[u8], step: usize) -> Result<Vec<Part>, Refusal> {
        let mut reader = Multipart::new(TYPE, 100_000)?;
        for piece in body.chunks(step.max(1)) {
            reader.feed(piece)?;
            assert!(reader.carry.len() <= PART_HEAD_BYTES_MAX + piece.len() + BOUNDARY_BYTES_MAX);
        }
        reader.finish()?;
        Ok(reader.parts)
    }

    #[test]
    fn a_boundary_holds_no_line_ends() {
        assert!(Multipart::new(b"multipart/form-data; boundary=\"a\rb\"", 100).is_err());
    }

    fn check(body: &str, expect: Result<&str, u16>) {
        for step in [1, 2, 7, 10_000] {
            let shown = read(body.as_bytes(), step)
                .map(|parts| {
                    let show = |part: &Part| {
                        let value = String::from_utf8_lossy(&part.value).into_owned();
                        format!("{}:{:?}:{}:{value}", part.name, part.file_name, part.bytes)
                    };
                    parts.iter().map(show).collect::<Vec<_>>().join("|")
                })
                .map_err(|refusal| refusal.status);
            assert_eq!(shown, expect.map(str::to_owned), "{body:?} in steps of {step}");
        }
    }

    #[test]
    fn fields_and_files() {
        let field = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n";
        let file = "--XX\r\ncontent-disposition: form-data; name=\"f\"; filename=\"x; \\\"y\\\".zip\"\r\n\
                    Content-Type: application/zip\r\n\r\n\r\n--X\r\n\r\n--\r\n";
        check(&format!("{field}--XX--\r\n"), Ok("a:None:5:value"));
        check(&format!("{field}{file}--XX--"), Ok("a:None:5:value|f:Some(\"x; \\\"y\\\".zip\"):11:"));
        check(&format!("ignored\r\n{field}--XX--\r\nignored"), Ok("a:None:5:value"));
        check("--XX--\r\n", Ok(""));
    }

    #[test]
    fn broken_bodies() {
        check("", Err(400));
        check("--XX\r\n", Err(400));
        check("--XX\r\n\r\nvalue\r\n--XX--\r\n", Err(400));
        check("--XX\r\nContent-Disposition: form-data\r\n\r\nvalue\r\n--XX--\r\n", Err(400));
        check("--XXgarbage", Err(400));
        check(&format!("--XX\r\nA: {}", "b".repeat(20_000)), Err(400));
        let part = "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n";
        check(&part.repeat(PARTS_MAX + 1), Err(413));
    }

    #[test]
    fn boundaries() {
        let boundary = |text: &str| parameter(text.as_bytes(), b"boundary");
        assert_eq!(boundary("multipart/form-data; boundary=abc"), Some(b"abc".to_vec()));
        assert_eq!(boundary("multipart/form-data; a=b;Boundary=\"a b\""), Some(b"a b".to_vec()));
        assert_eq!(boundary("multipart/form-data"), None);
        assert!(Multipart::new(b"multipart/form-data; boundary=", 0).is_err());
        assert!(Multipart::new(&[b"a; boundary=".as_slice(), &[b'x'; 71]].concat(), 0).is_err());
    }

    proptest! {
        #[test]
        fn a_file_of_any_bytes_is_counted(
            file in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'-'), Just(b'X'), any::<u8>()], 0..300),
            step in 1..100_usize,
        ) {
            prop_assume!(memchr::memmem::find(&file, b"\r\n--XX").is_none());
            let mut body = b"--XX\r\nContent-Disposition: form-data; name=f; filename=n\r\n\r\n".to_vec();
            body.extend_from_slice(&file);
            body.extend_from_slice(b"\r\n--XX--\r\n");
            // A file may end in bytes that make an earlier boundary with ours.
            if memchr::memmem::find(&body[4..], b"\r\n--XX").is_some_and(|at| at + 4 == body.len() - 10) {
                let parts = read(&body, step).unwrap();
                prop_assert_eq!(parts[0].bytes, file.len() as u64);
            }
        }

        #[test]
        fn no_bytes_panic(data in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'-'), Just(b'X'), any::<u8>()], 0..300), step in 1..50_usize) {
            let _ = read(&data, step);
            let _ = parameter(&data, b"name");
        }
    }
}
