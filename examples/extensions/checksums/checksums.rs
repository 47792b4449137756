//! An extension with checksums that test data needs: CRC-32, and numbers with a Luhn check digit.

mod onrush;

use onrush::{fail, given, random, taken, taken_text};

/// What scripts can call.
const DESCRIPTION: &str = "onrush 1
# Everything a call needs is in its arguments.
state none
crc32(data: bytes) -> u32
luhn(digits: string) -> string
card(prefix: string, length: u32) -> string
";

#[unsafe(no_mangle)]
extern "C" fn onrush_describe() -> u64 {
    (DESCRIPTION.as_ptr() as u64) << 32 | DESCRIPTION.len() as u64
}

#[unsafe(no_mangle)]
unsafe extern "C" fn crc32(data: *mut u8, length: usize) -> u32 {
    // SAFETY: the numbers of one parameter.
    let data = unsafe { taken(data, length) };
    !data.iter().fold(!0, |crc, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8)
}

/// The digits with their check digit behind them.
#[unsafe(no_mangle)]
unsafe extern "C" fn luhn(digits: *mut u8, length: usize) -> u64 {
    // SAFETY: the numbers of one parameter.
    checked(unsafe { taken_text(digits, length) })
}

/// A number of a payment card of that length: the prefix, random digits, and the check digit.
#[unsafe(no_mangle)]
unsafe extern "C" fn card(prefix: *mut u8, prefix_length: usize, length: u32) -> u64 {
    // SAFETY: the numbers of one parameter.
    let mut digits = unsafe { taken_text(prefix, prefix_length) };
    if !(8..=19).contains(&length) || digits.len() >= length as usize {
        fail(&format!("a card has 8 to 19 digits, and more than its prefix; not {length}"));
        return 0;
    }
    let mut bytes = [0; 19];
    random(&mut bytes);
    let missing = length as usize - 1 - digits.len();
    digits.extend(bytes.iter().take(missing).map(|byte| char::from(b'0' + byte % 10)));
    checked(digits)
}

fn checked(mut digits: String) -> u64 {
    if let Some(other) = digits.chars().find(|char| !char.is_ascii_digit()) {
        fail(&format!("{other:?} is not a digit"));
        return 0;
    }
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, byte)| match u32::from(byte - b'0') << (1 - index % 2) {
            double @ 10.. => double - 9,
            digit => digit,
        })
        .sum();
    digits.push(char::from(b'0' + (10 - sum % 10) as u8 % 10));
    given(digits)
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
};
