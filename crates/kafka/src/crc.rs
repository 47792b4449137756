//! CRC-32 and CRC-32C, eight bytes at a time: records have the one as checksum, a balancer spreads keys by the other.

/// A checksum of bytes that come in pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crc(u32);

impl Crc {
    pub(crate) const fn new() -> Self {
        Self(!0)
    }

    /// Takes more bytes, with the tables of a polynomial.
    pub(crate) fn take(&mut self, tables: &[[u32; 256]; 8], bytes: &[u8]) {
        let mut crc = self.0;
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            let low = crc ^ u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            let [a, b, c, d] = low.to_le_bytes();
            crc = tables[7][usize::from(a)]
                ^ tables[6][usize::from(b)]
                ^ tables[5][usize::from(c)]
                ^ tables[4][usize::from(d)]
                ^ tables[3][usize::from(word[4])]
                ^ tables[2][usize::from(word[5])]
                ^ tables[1][usize::from(word[6])]
                ^ tables[0][usize::from(word[7])];
        }
        for &byte in rest {
            crc = crc >> 8 ^ tables[0][usize::from(crc as u8 ^ byte)];
        }
        self.0 = crc;
    }

    pub(crate) const fn finish(self) -> u32 {
        !self.0
    }
}

pub(crate) static CASTAGNOLI: [[u32; 256]; 8] = tables(0x82F6_3B78);
pub(crate) static IEEE: [[u32; 256]; 8] = tables(0xEDB8_8320);

const fn tables(polynomial: u32) -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ polynomial } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standards() {
        let of = |tables, bytes: &[u8]| {
            let mut crc = Crc::new();
            crc.take(tables, bytes);
            crc.finish()
        };
        // RFC 3720, section B.4, and the check values of both polynomials.
        assert_eq!(of(&CASTAGNOLI, &[0; 32]), 0x8A91_36AA);
        assert_eq!(of(&CASTAGNOLI, b"123456789"), 0xE306_9283);
        assert_eq!(of(&IEEE, b"123456789"), 0xCBF4_3926);
        let mut pieces = Crc::new();
        pieces.take(&CASTAGNOLI, b"1234567");
        pieces.take(&CASTAGNOLI, b"89");
        assert_eq!(pieces.finish(), 0xE306_9283);
    }
}
