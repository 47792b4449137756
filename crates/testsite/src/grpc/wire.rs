//! As much of protobuf's wire format as the service needs.

/// A field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message; they end where something is wrong.
pub(super) fn fields(mut rest: &[u8]) -> impl Iterator<Item = (u64, Wire<'_>)> {
    std::iter::from_fn(move || {
        let tag = varint(&mut rest)?;
        let value = match tag & 7 {
            0 => Wire::Number(varint(&mut rest)?),
            1 => Wire::Bytes(take(&mut rest, 8)?),
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                Wire::Bytes(take(&mut rest, length)?)
            }
            5 => Wire::Bytes(take(&mut rest, 4)?),
            _ => return None,
        };
        Some((tag >> 3, value))
    })
}

/// The last number with that field's number; 0 without one.
pub(super) fn number(message: &[u8], field: u64) -> i64 {
    let found = fields(message).filter_map(|(number, value)| match value {
        Wire::Number(value) if number == field => Some(value as i64),
        _ => None,
    });
    found.last().unwrap_or_default()
}

/// The last text or bytes with that field's number.
pub(super) fn bytes(message: &[u8], field: u64) -> &[u8] {
    let found = fields(message).filter_map(|(number, value)| match value {
        Wire::Bytes(value) if number == field => Some(value),
        _ => None,
    });
    found.last().unwrap_or_default()
}

pub(super) fn put_number(out: &mut Vec<u8>, field: u64, value: i64) {
    put_varint(out, field << 3);
    put_varint(out, value as u64);
}

pub(super) fn put_bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back() {
        let mut message = Vec::new();
        put_number(&mut message, 1, -1);
        put_bytes(&mut message, 20, b"hi");
        put_number(&mut message, 1, 300);
        assert_eq!((number(&message, 1), bytes(&message, 20)), (300, &b"hi"[..]));
        assert_eq!(fields(&message[..message.len() - 1]).count(), 2, "cut");
        assert_eq!(fields(&[0xff; 20]).count(), 0);
        assert_eq!(fields(&[0x0b]).count(), 0, "groups are not needed");
    }
}
