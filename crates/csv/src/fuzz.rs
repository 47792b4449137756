//! The entry of the fuzz target.

use crate::{Cursor, Delimiter, RecordError, Selection, Table, TableError};

/// Reads any bytes: the first is the delimiter, the second says which records are wanted.
///
/// # Panics
///
/// If a table and a cursor find different records, a field lies outside the file, or reading does not advance.
pub fn fuzz(input: &[u8]) {
    let [delimiter, selected, data @ ..] = input else { return };
    let delimiter = Delimiter::new(*delimiter);
    let selection = Selection {
        has_header: selected & 1 != 0,
        skips_first: selected & 2 != 0,
        from: u64::from(selected >> 2 & 3),
        to: u64::from(selected >> 4),
    };
    let go_on = &mut |_: usize| true;
    let table = Table::read(data, 0, delimiter, &selection, go_on);
    let (mut cursor, mut fields, mut records, mut failed) =
        (Cursor::new(delimiter), Vec::new(), Vec::<Vec<_>>::new(), None);
    let mut record = match selection.begin(&mut cursor, data, &mut fields, go_on) {
        Ok(record) => record,
        Err(error) => {
            assert_eq!(table.err(), Some(error));
            return;
        }
    };
    while failed.is_none() && !selection.is_past(record) {
        let before = cursor.offset();
        match cursor.read(data, &mut fields, go_on) {
            None => break,
            Some(Ok(())) => {
                assert!(cursor.offset() > before, "a record has a line");
                records.push(fields.iter().map(|field| field.bytes(data).into_owned()).collect());
            }
            Some(Err(error)) => {
                assert!(error == RecordError::Delimiter || cursor.offset() > before, "an error is passed");
                failed = Some(TableError::Record(error));
            }
        }
        record += 1;
    }
    match (table, failed) {
        (Err(found), Some(expected)) => assert_eq!(found, expected),
        (Ok(table), None) => {
            assert_eq!(table.len(), records.len());
            for (index, expected) in records.iter().enumerate() {
                let result = table.record(data, index, &mut fields, go_on);
                assert_eq!(result, Some(Ok(())));
                assert!(fields.iter().map(|field| field.bytes(data)).eq(expected.iter().map(Vec::as_slice)));
            }
            assert_eq!(table.record(data, table.len(), &mut fields, go_on), None);
        }
        (table, failed) => panic!("the table gives {table:?}, the cursor {failed:?}"),
    }
}
