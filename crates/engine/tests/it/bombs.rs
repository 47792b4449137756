//! Files that are no tables, or very large ones: docs/reference/hostile-data.md has them beside k6.

use crate::harness::case;

/// A file, options, and what `csv.parse()` makes of it.
type Row = (&'static str, String, &'static str, &'static str);

fn rows() -> Vec<Row> {
    let quote = |line, column| match (line, column) {
        (2, 2_000_002) => "parse error on line 2, column 2000002: extraneous or missing \" in quoted-field",
        (1, 1_000_002) => "parse error on line 1, column 1000002: extraneous or missing \" in quoted-field",
        (1, 3) => "parse error on line 1, column 3: extraneous or missing \" in quoted-field",
        _ => "parse error on line 2, column 3: extraneous or missing \" in quoted-field",
    };
    let objects = "{ asObjects: true }";
    vec![
        ("empty", String::new(), "", "0"),
        ("line ends", "\n".repeat(1_000_000), "", "0"),
        ("open quote", format!("a,b\n\"{}", "x".repeat(2_000_000)), "", quote(2, 2_000_002)),
        ("quotes", "\"".repeat(1_000_000), "", "1"),
        ("odd quotes", "\"".repeat(1_000_001), "", quote(1, 1_000_002)),
        ("bare quote", "a\"b,c\n".to_owned(), "", "parse error on line 1, column 2: bare \" in non-quoted-field"),
        ("text after a quote", "\"a\"b,c\n".to_owned(), "", quote(1, 3)),
        ("commas", ",".repeat(1_000_000), "", "record on line 1: more than 1000000 fields"),
        ("more commas", ",".repeat(2_000_000), "", "record on line 1: more than 1000000 fields"),
        ("one field", "x".repeat(20_000_000), "", "1"),
        ("one field of line ends", format!("\"{}\"", "\n".repeat(20_000_000)), "", "1"),
        ("shorter", "a,b\nc\n".to_owned(), "", "record on line 2: wrong number of fields"),
        ("longer", "a\nb,c\n".to_owned(), "", "record on line 2: wrong number of fields"),
        ("zeros", format!("{},\0\n", "\0".repeat(1000)), "", "1"),
        ("zero as delimiter", "a\0b\n".to_owned(), "{ delimiter: '\\0' }", "1"),
        ("mark", "\u{feff}a,b\nc,d\n".to_owned(), "", "2"),
        ("carriage returns", "a,b\rc,d\r".to_owned(), "", "1"),
        ("last carriage return", "a,b\r\nc,d\r".to_owned(), "", "2"),
        ("half a field", "a,b\n\"c".to_owned(), "", quote(2, 3)),
        ("doubled quotes", format!("\"{}\"\n", "\"\"".repeat(500_000)), "", "1"),
        ("records", "1\n".repeat(2_000_000), "", "2000000"),
        ("equal names", format!("{}n\n{}1\n", "n,".repeat(99_999), "1,".repeat(99_999)), objects, "1"),
        ("header only", "a,b\n".to_owned(), objects, "0"),
        ("__proto__", "__proto__,constructor\nx,y\n".to_owned(), objects, "1"),
        ("formula", "=1+1,@SUM(A1)\n\"=cmd|' /C calc'!A0\",x\n".to_owned(), "", "2"),
    ]
}

#[test]
fn files_that_are_no_tables_are_told_and_cost_little() {
    let rows = rows();
    let tables: String = rows
        .iter()
        .enumerate()
        .map(|(number, (_, _, options, _))| {
            format!("await read('{number}.csv'{}{options});\n", if options.is_empty() { "" } else { ", " })
        })
        .collect();
    let script = format!(
        "import csv from 'k6/experimental/csv'; import fs from 'k6/experimental/fs';
         const said = [];
         async function read(name, options) {{
           const file = await fs.open(name);
           const table = await csv.parse(file, options).catch((error) => String(error.message).replace('failed to read record; reason: ', ''));
           // What is made of a row: one that is not too large for the limit.
           if (table.length && typeof table !== 'string') JSON.stringify(table[table.length - 1]);
           said.push(typeof table === 'string' ? table : String(table.length));
         }}
         {tables}
         export default function () {{ said.forEach((text) => console.log(text)); }}"
    );
    let mut one = case(&script).memory_limit(400 << 20);
    for (number, (_, text, ..)) in rows.iter().enumerate() {
        one = one.file(&format!("{number}.csv"), text);
    }
    one.both(|report| {
        report.assert_clean();
        for ((name, _, _, expect), said) in rows.iter().zip(report.said()) {
            assert_eq!(said, *expect, "{name}");
        }
        assert_eq!(report.said().len(), rows.len());
    });
}
