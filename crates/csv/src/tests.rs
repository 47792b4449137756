//! Records, errors and tables. Expectations are k6's, recorded by running it on the same bytes.

use proptest::prelude::*;

use super::*;

/// All records of a file, a record's fields joined by `|`; errors begin with `!`.
fn records(data: &[u8], delimiter: Delimiter) -> Vec<String> {
    let (mut cursor, mut fields, mut records) = (Cursor::new(delimiter), Vec::new(), Vec::new());
    while let Some(record) = cursor.read(data, &mut fields, &mut |_| true) {
        records.push(match record {
            Ok(()) => fields.iter().map(|field| field.text(data)).collect::<Vec<_>>().join("|"),
            Err(error) => format!("!{error}"),
        });
    }
    records
}

#[track_caller]
fn check(data: &str, expect: &[&str]) {
    assert_eq!(records(data.as_bytes(), Delimiter::COMMA), expect, "{data:?}");
}

#[test]
fn records_are_gos() {
    check("", &[]);
    check("\n\n\r\n\n", &[]);
    check("a,b\r\n\r\n1,2\r\n3,4", &["a|b", "1|2", "3|4"]);
    check("a,b,\n1,2,\n", &["a|b|", "1|2|"]);
    check(" \n \n\t\n", &[" ", " ", "\t"]);
    check("a,b\rc\n1,2\r", &["a|b\rc", "1|2"]);
    check("\"a \"\"q\"\" b\",\"\"\n\" x \",\"y\"\r\n\"z\",\"\"\"\"", &["a \"q\" b|", " x |y", "z|\""]);
    check("a,b\r\n\"x\r\ny\",2\r\n", &["a|b", "x\ny|2"]);
    check("\"x\ry\r\n\",2", &["x\ry\n|2"]);
    check("\u{feff}a,\0\n", &["\u{feff}a|\0"]);
    check("a\n\r", &["a"]);
}

#[test]
fn errors_are_gos_and_the_next_line_is_read() {
    let quote = |place: &str| format!("!{place}: extraneous or missing \" in quoted-field");
    let bare = |place: &str| format!("!{place}: bare \" in non-quoted-field");
    check("a,b\n1,2\n3\n4,5\n", &["a|b", "1|2", "!record on line 3: wrong number of fields", "4|5"]);
    check("a,b\nx,y\"z\n1,2\n", &["a|b", &bare("parse error on line 2, column 4"), "1|2"]);
    check("a,b\n\"x\"y,2\n1,2\n", &["a|b", &quote("parse error on line 2, column 3"), "1|2"]);
    check("a,b\n\n1,\"x\ny\"z,2\n3,4\n", &["a|b", &quote("record on line 3; parse error on line 4, column 2"), "3|4"]);
    check("a,b\n1,\"x\ny\n", &["a|b", &quote("record on line 2; parse error on line 3, column 3")]);
    check("a,\"b\r", &[&quote("parse error on line 1, column 5")]);
    check("a\"b,c\n1,2\n", &[&bare("parse error on line 1, column 2"), "1|2"]);
    assert_eq!(RecordError::FieldCount { line: 3 }.place(), Some((3, 3, 1)));
}

#[test]
fn a_delimiter_is_a_byte_that_separates() {
    assert_eq!(records(b"a;b,c\n", Delimiter::new(b';')), ["a|b,c"]);
    for byte in [0, b'"', b'\r', b'\n', 0x80] {
        let data = b"a";
        let mut cursor = Cursor::new(Delimiter::new(byte));
        assert_eq!(cursor.skip(data, &mut |_| true), Some(Err(RecordError::Delimiter)), "{byte}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced() {
    assert_eq!(records(b"caf\xe9,\"\"\"\xff\"\n", Delimiter::COMMA), ["caf\u{fffd}|\"\u{fffd}"]);
}

#[track_caller]
fn check_table(data: &str, selection: Selection, expect: Result<&[&str], &str>) {
    let data = data.as_bytes();
    let table = Table::read(data, 0, Delimiter::COMMA, &selection, &mut |_| true);
    let found = table.map_err(|error| error.to_string()).map(|table| {
        let mut fields = Vec::new();
        (0..table.len())
            .map(|index| {
                table.record(data, index, &mut fields, &mut |_| true).expect("there is one").expect("it was checked");
                fields.iter().map(|field| field.text(data)).collect::<Vec<_>>().join("|")
            })
            .collect::<Vec<_>>()
    });
    match (found, expect) {
        (Ok(found), Ok(expect)) => assert_eq!(found, expect, "{selection:?}"),
        (Err(found), Err(expect)) => assert_eq!(found, expect, "{selection:?}"),
        (found, expect) => panic!("{selection:?}: {found:?} and not {expect:?}"),
    }
}

#[test]
fn a_selection_counts_records_from_0_the_header_included() {
    let data = "h\n1\n\n2\n3\n";
    let all = Selection::default();
    check_table(data, all, Ok(&["h", "1", "2", "3"]));
    check_table(data, Selection { skips_first: true, ..all }, Ok(&["1", "2", "3"]));
    check_table(data, Selection { skips_first: true, from: 2, ..all }, Ok(&["2", "3"]));
    check_table(data, Selection { from: 1, to: 2, ..all }, Ok(&["1", "2"]));
    check_table(data, Selection { has_header: true, to: 1, ..all }, Ok(&["1"]));
    check_table(data, Selection { to: 99, ..all }, Ok(&["h", "1", "2", "3"]));
    check_table(data, Selection { from: 4, ..all }, Ok(&[]));
    let failed = "failed to create a new parser; reason: ";
    let text = format!("{failed}failed to skip lines until line 5; reason: EOF");
    check_table(data, Selection { from: 5, ..all }, Err(&text));
    check_table("", all, Ok(&[]));
    let text = format!("{failed}failed to read the first line; reason: EOF");
    check_table("\n", Selection { has_header: true, ..all }, Err(&text));
    let text = format!(
        "{failed}failed to skip the first line; reason: parse error on line 1, column 2: bare \" in non-quoted-field"
    );
    check_table("a\"\n", Selection { skips_first: true, ..all }, Err(&text));
    let text = "failed to read record; reason: record on line 2: wrong number of fields";
    check_table("a,b\nc\n", all, Err(text));
    check_table("a,b\nc,d\ne\n", Selection { to: 1, ..all }, Ok(&["a|b", "c|d"]));
}

#[test]
fn any_of_many_records_is_found() {
    let data: String = (0..1000).map(|row| format!("{row},\"x\n{row}\"\n\n")).collect();
    let table = Table::read(data.as_bytes(), 0, Delimiter::COMMA, &Selection::default(), &mut |_| true);
    let table = table.expect("a good file");
    assert_eq!((table.len(), table.bytes()), (1000, 500));
    let mut fields = Vec::new();
    for index in [0, 1, 7, 8, 9, 500, 999] {
        table.record(data.as_bytes(), index, &mut fields, &mut |_| true).expect("there is one").expect("it is good");
        assert_eq!(fields[1].text(data.as_bytes()), format!("x\n{index}"));
    }
    assert!(table.record(data.as_bytes(), 1000, &mut fields, &mut |_| true).is_none());
}

#[test]
fn a_long_field_and_many_fields_pause_and_can_be_stopped() {
    let one_field = vec![b'x'; 5 << 20];
    let many_fields = b"abcdefgh,".repeat(5 << 17);
    let quoted: Vec<u8> = [b"\"".as_slice(), &one_field].concat();
    for data in [&one_field, &many_fields, &quoted] {
        let mut pauses = 0;
        let mut cursor = Cursor::new(Delimiter::COMMA);
        let _ = cursor.skip(data, &mut |_| {
            pauses += 1;
            true
        });
        assert!(pauses >= 4, "{pauses}");
        let mut cursor = Cursor::new(Delimiter::COMMA);
        assert_eq!(cursor.skip(data, &mut |_| false), Some(Err(RecordError::Stopped)));
    }
    let lines = b"1,2,3\n".repeat(1 << 20);
    let table = Table::read(&lines, 0, Delimiter::COMMA, &Selection::default(), &mut |_| false);
    assert!(table.is_err_and(|error| error.is_stopped()));
}

#[test]
fn a_record_has_at_most_a_million_fields() {
    let commas = vec![b','; FIELDS_MAX];
    let data = [&commas[1..], b"\n", &commas, b"\n\n"].concat();
    let found = records(&data, Delimiter::COMMA);
    assert_eq!((found.len(), found[1].as_str()), (2, "!record on line 2: more than 1000000 fields"));
}

proptest! {
    #[test]
    fn what_is_written_is_read(rows in prop::collection::vec(prop::collection::vec("[a,\"\n; ]{0,4}", 3), 0..20)) {
        let written: String = rows
            .iter()
            .map(|row| row.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect::<Vec<_>>().join(",") + "\n")
            .collect();
        let expect: Vec<String> = rows.iter().map(|row| row.join("|")).collect();
        prop_assert_eq!(records(written.as_bytes(), Delimiter::COMMA), expect);
    }

    #[test]
    fn any_bytes_are_read(input in prop::collection::vec(prop::sample::select(b",;\"\r\nab\0\x01\xff".to_vec()), 0..60)) {
        fuzz(&input);
        let comma: Vec<u8> = [b",".as_slice(), &input].concat();
        fuzz(&comma);
    }
}
