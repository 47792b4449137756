//! Protobuf as it is on the wire: numbers and values, and nothing that is not there.

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// The fields of a message in their order.
pub(super) fn fields(mut bytes: &[u8]) -> Result<Vec<(u64, Value<'_>)>, String> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut bytes)?),
            1 => Value::Fixed64(u64::from_le_bytes(chunk(&mut bytes)?)),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).map_err(|error| error.to_string())?;
                let (value, rest) = bytes.split_at_checked(length).ok_or("a field longer than its message")?;
                bytes = rest;
                Value::Bytes(value)
            }
            5 => Value::Fixed32(u32::from_le_bytes(chunk(&mut bytes)?)),
            kind => return Err(format!("wire type {kind}")),
        };
        fields.push((key >> 3, value));
    }
    Ok(fields)
}

/// Several numbers of a varying length.
pub(super) fn varints(mut bytes: &[u8]) -> Result<Vec<u64>, String> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(varint(&mut bytes)?);
    }
    Ok(all)
}

/// Several numbers of eight bytes.
pub(super) fn fixed64s(mut bytes: &[u8]) -> Result<Vec<u64>, String> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(u64::from_le_bytes(chunk(&mut bytes)?));
    }
    Ok(all)
}

/// A number with a sign.
pub(super) fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn chunk<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], String> {
    let (value, rest) = bytes.split_first_chunk().ok_or("a message that ends in a number")?;
    *bytes = rest;
    Ok(*value)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let [byte] = chunk(bytes)?;
        value |= u64::from(byte & 0x7f) << shift.min(63);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number without an end".to_owned())
}
