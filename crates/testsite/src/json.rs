//! A JSON writer for the echo endpoints: text is escaped straight into the response's body, without building a tree
//! first.

/// Writes one JSON document. Keys and values must be called in order; the writer only takes care of commas and escapes.
pub(crate) struct Json {
    out: Vec<u8>,
    comma: bool,
}

/// First guess of an echo's size: a browser-like request gives about 400 bytes.
const CAPACITY: usize = 512;

impl Json {
    pub(crate) fn new() -> Self {
        Self { out: Vec::with_capacity(CAPACITY), comma: false }
    }

    fn separate(&mut self) {
        if self.comma {
            self.out.push(b',');
        }
        self.comma = true;
    }

    pub(crate) fn open(&mut self) {
        self.separate();
        self.out.push(b'{');
        self.comma = false;
    }

    pub(crate) fn close(&mut self) {
        self.out.push(b'}');
        self.comma = true;
    }

    pub(crate) fn open_list(&mut self) {
        self.separate();
        self.out.push(b'[');
        self.comma = false;
    }

    pub(crate) fn close_list(&mut self) {
        self.out.push(b']');
        self.comma = true;
    }

    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.separate();
        self.quote(name);
        self.out.push(b':');
        self.comma = false;
        self
    }

    pub(crate) fn string(&mut self, text: &str) {
        self.separate();
        self.quote(text);
    }

    pub(crate) fn number(&mut self, value: u64) {
        self.raw(value.to_string().as_bytes());
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    pub(crate) fn null(&mut self) {
        self.raw(b"null");
    }

    /// Writes bytes that are JSON already.
    pub(crate) fn raw(&mut self, json: &[u8]) {
        self.separate();
        self.out.extend_from_slice(json);
    }

    /// The document, with a final newline as httpbin has it.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.push(b'\n');
        self.out
    }

    fn quote(&mut self, text: &str) {
        self.out.push(b'"');
        let bytes = text.as_bytes();
        let mut copied = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            let escape = match byte {
                b'"' => b'"',
                b'\\' => b'\\',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                0..0x20 | 0x7f => 0,
                _ => continue,
            };
            self.out.extend_from_slice(&bytes[copied..at]);
            copied = at + 1;
            if escape == 0 {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                self.out.extend_from_slice(b"\\u00");
                self.out.push(HEX[usize::from(byte >> 4)]);
                self.out.push(HEX[usize::from(byte & 15)]);
            } else {
                self.out.extend_from_slice(&[b'\\', escape]);
            }
        }
        self.out.extend_from_slice(&bytes[copied..]);
        self.out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commas_and_nesting() {
        let mut json = Json::new();
        json.open();
        json.key("a").number(1);
        json.key("b").open_list();
        json.string("x");
        json.null();
        json.open();
        json.close();
        json.close_list();
        json.key("c").boolean(true);
        json.close();
        assert_eq!(json.finish(), b"{\"a\":1,\"b\":[\"x\",null,{}],\"c\":true}\n");
    }

    proptest! {
        #[test]
        fn strings_read_back(text in any::<String>()) {
            let mut json = Json::new();
            json.string(&text);
            let back: String = serde_json::from_slice(&json.finish()).unwrap();
            prop_assert_eq!(back, text);
        }
    }
}
