//! Servers that answer anything: each case ends in an error, or in what the protocol says it means.

use crate::{Done, Outcome, RESULT_BYTES_MAX, SqlError, Stream, Value, Wanted, mysql, postgres};

/// A server that has said all it will say.
struct Said {
    bytes: Vec<u8>,
    at: usize,
    /// How much it says at a time, of what is left.
    piece: fn(&[u8]) -> usize,
}

impl Stream for Said {
    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool, SqlError> {
        let end = (self.at + (self.piece)(&self.bytes[self.at..])).min(self.bytes.len());
        out.extend_from_slice(&self.bytes[self.at..end]);
        let has_read = end > self.at;
        self.at = end;
        Ok(has_read)
    }

    fn write(&mut self, _: &[u8]) -> Result<(), SqlError> {
        Ok(())
    }

    fn secure(&mut self) -> Result<(), SqlError> {
        Err(SqlError::Broken("no TLS here".to_owned()))
    }

    fn is_secure(&self) -> bool {
        false
    }

    fn pause(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, SqlError> {
        Ok(work())
    }

    fn encrypt(&mut self, key_pem: &str, _: &[u8]) -> Result<Vec<u8>, SqlError> {
        Err(SqlError::Broken(format!("not a key: {key_pem:?}")))
    }
}

/// A message of PostgreSQL's.
fn pg(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

/// A packet of MySQL's.
fn my(number: u8, body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..3], &[number], body].concat()
}

fn ask_postgres(parts: &[&[u8]]) -> Result<Outcome, SqlError> {
    let target = postgres::Target::parse("postgres://u:p@h/d?sslmode=disable").expect("valid");
    let mut stream = Said { bytes: parts.concat(), at: 0, piece: |_| 10_000 };
    postgres::Connection::open(&mut stream, &target)?.run(&mut stream, "SELECT 1", &[], Wanted::Rows)
}

fn ask_mysql(parts: &[&[u8]], arguments: &[Value]) -> Result<Outcome, SqlError> {
    let target = mysql::Target::parse("u:p@/").expect("valid");
    // A packet at a time: this server waits for what it is sent.
    let piece = |left: &[u8]| match left {
        [low, middle, high, ..] => 4 + (usize::from(*low) | usize::from(*middle) << 8 | usize::from(*high) << 16),
        _ => left.len(),
    };
    let mut stream = Said { bytes: parts.concat(), at: 0, piece };
    mysql::Connection::open(&mut stream, &target)?.run(&mut stream, "SELECT 1", arguments, Wanted::Rows)
}

fn check(answer: Result<Outcome, SqlError>, expect: &str, case: usize) {
    let error = answer.expect_err(expect);
    assert_eq!(error.to_string(), expect, "case {case}");
}

const TOO_LARGE: &str = "a result is larger than 64 MiB: select fewer rows or columns";
const OUT_OF_SYNC: &str = "commands out of sync. You can't run this command now";

/// A description of one column of that type.
fn described(columns: &[(&str, u32)]) -> Vec<u8> {
    let mut body = (columns.len() as u16).to_be_bytes().to_vec();
    for (name, kind) in columns {
        body.extend([name.as_bytes(), &[0; 7], &kind.to_be_bytes(), &[0; 8]].concat());
    }
    pg(b'T', &body)
}

fn row(texts: &[&[u8]]) -> Vec<u8> {
    let mut body = (texts.len() as u16).to_be_bytes().to_vec();
    for text in texts {
        body.extend([&(text.len() as u32).to_be_bytes()[..], text].concat());
    }
    pg(b'D', &body)
}

#[test]
fn a_postgres_that_keeps_to_the_protocol_gives_rows() {
    let answer = ask_postgres(&[
        &pg(b'R', &[0, 0, 0, 0]),
        &pg(b'S', b"server_version\x0015\0"),
        &pg(b'Z', b"I"),
        &described(&[("i", 23), ("b", 16), ("f", 701), ("y", 17), ("s", 25), ("t", 1184), ("n", 1700)]),
        &row(&[b"7", b"t", b"1.5", b"\\x00ff", "ü".as_bytes(), b"1970-01-01 01:00:00+01", b"12.50"]),
        &pg(b'N', b"SNOTICE\0\0"),
        &pg(b'C', b"SELECT 1\0"),
        &pg(b'Z', b"I"),
    ])
    .expect("a row");
    let expect = [
        Value::Integer(7),
        Value::Boolean(true),
        Value::Float(1.5),
        Value::Bytes(vec![0, 255]),
        Value::Text("ü".to_owned()),
        Value::Time(0.0),
        Value::Bytes(b"12.50".to_vec()),
    ];
    assert_eq!(answer.rows.iter().collect::<Vec<_>>(), [&expect[..]]);
    assert_eq!(answer.done, Done { last_insert_id: None, rows_affected: 1 });
}

#[test]
fn hostile_postgres_servers() {
    let (ok, ready) = (pg(b'R', &[0, 0, 0, 0]), pg(b'Z', b"I"));
    let column = described(&[("a", 25)]);
    let after = |messages: &[&[u8]]| [&[&ok[..], &ready], messages].concat().concat();
    let sasl = |step: u8, text: &[u8]| pg(b'R', &[&[0, 0, 0, step], text].concat());
    let scram = |first: &[u8]| [sasl(10, b"SCRAM-SHA-256\0\0"), sasl(11, first)].concat();
    let cases: &[(Vec<u8>, &str)] = &[
        (Vec::new(), "unexpected EOF"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), TOO_LARGE),
        (b"R\0\0\0\x03".to_vec(), "pq: malformed message: invalid message length: header length < 4"),
        (b"R\xff\xff\xff\xff".to_vec(), "pq: malformed message: invalid message length: header length < 4"),
        (b"R\0\0\0\x08\0".to_vec(), "unexpected EOF"),
        (pg(b'R', &[0, 0, 0, 99]), "pq: malformed message: unknown authentication tag `99`"),
        (pg(b'R', &[0, 0, 0, 7]), "pq: the server asks for a way to log in that is not supported"),
        (sasl(10, b"NOPE\0\0"), "pq: the server does not offer SCRAM-SHA-256"),
        (sasl(11, b"r=x"), "pq: a message of the login came out of turn"),
        (scram(b"r=evil,s=AAAA,i=4096"), "pq: malformed message: invalid nonce"),
        (pg(b'E', b"SFATAL\0Mno such user\0\0"), "pq: no such user"),
        (pg(b'Z', b""), "pq: malformed message: failed to fill whole buffer"),
        (after(&[b"D\x7f\xff\xff\xff"]), TOO_LARGE),
        (after(&[&pg(b'T', &[0x7F, 0xFF])]), "pq: malformed message: unexpected EOF"),
        (after(&[&column, &pg(b'D', &[0, 0])]), "pq: a row has too few columns"),
        (after(&[&column, &pg(b'D', &[0, 1, 0x7F, 0xFF, 0xFF, 0xFF])]), "pq: malformed message: unexpected EOF"),
        (after(&[&ok]), "pq: unexpected message of the server"),
        (after(&[&pg(b'!', b"")]), "pq: malformed message: unknown message tag `33`"),
        (after(&[&pg(b'E', b"SERROR\0Mno\0\0"), &ready]), "pq: no"),
        (after(&[&column, &pg(b'C', b"SELECT 0\0")]), "unexpected EOF"),
    ];
    for (case, (bytes, expect)) in cases.iter().enumerate() {
        check(ask_postgres(&[bytes]), expect, case);
    }
}

#[test]
fn a_flood_of_rows_ends_at_the_limit() {
    let (ok, ready, column) = (pg(b'R', &[0, 0, 0, 0]), pg(b'Z', b"I"), described(&[("a", 25)]));
    let row = row(&[&vec![b'x'; 1 << 20]]);
    let mut parts: Vec<&[u8]> = vec![&ok, &ready, &column];
    parts.extend(std::iter::repeat_n(&row[..], (RESULT_BYTES_MAX >> 20) + 1));
    check(ask_postgres(&parts), TOO_LARGE, 0);
}

fn greeting() -> Vec<u8> {
    let body: [&[u8]; 8] = [
        b"\x0A8.0\0\x01\0\0\0abcdefgh\0",
        &[0xFF, 0xFF],
        &[45, 2, 0],
        &[0xFF, 0xFF],
        &[21],
        &[0; 10],
        b"ijklmnopqrst\0",
        b"mysql_native_password\0",
    ];
    my(0, &body.concat())
}

fn column(number: u8, name: &[u8], kind: u8) -> Vec<u8> {
    let head: &[u8] = &[3, b'd', b'e', b'f', 0, 0, 0, name.len() as u8];
    my(number, &[head, name, &[0, 12, 45, 0, 0, 0, 0, 0, kind, 0, 0, 0, 0, 0]].concat())
}

fn end(number: u8) -> Vec<u8> {
    my(number, &[0xFE, 0, 0, 2, 0])
}

fn ok(number: u8) -> Vec<u8> {
    my(number, &[0, 0, 0, 2, 0, 0, 0])
}

#[test]
fn a_mysql_that_keeps_to_the_protocol_gives_rows() {
    let head = [greeting(), ok(2), my(1, &[2]), column(2, b"i", 8), column(3, b"s", 253), end(4)].concat();
    let rows = [my(5, b"\x017\x03abc"), my(6, b"\xFB\x00"), end(7)].concat();
    let answer = ask_mysql(&[&head, &rows], &[]).expect("rows");
    assert_eq!(answer.rows.columns(), ["i", "s"]);
    let expect = [[Value::Integer(7), Value::Bytes(b"abc".to_vec())], [Value::Null, Value::Bytes(Vec::new())]];
    assert_eq!(answer.rows.iter().collect::<Vec<_>>(), expect);
}

#[test]
fn a_prepared_statement_is_read_as_bytes() {
    let prepared = [greeting(), ok(2), my(1, b"\0\x07\0\0\0\x03\0\x01\0\0\0\0"), column(2, b"?", 253), end(3)].concat();
    let columns = [column(4, b"i", 3), column(5, b"f", 5), column(6, b"d", 12), end(7)].concat();
    let head = [my(1, &[3]), column(2, b"i", 3), column(3, b"f", 5), column(4, b"d", 12), end(5)].concat();
    let row = [&[0, 0][..], &(-5_i32).to_le_bytes(), &1.5_f64.to_le_bytes(), &[7, 0xE8, 7, 2, 29, 23, 59, 8]].concat();
    let rows = [my(6, &row), my(7, &[0, 0b11100]), end(8)].concat();
    let answer = ask_mysql(&[&prepared, &columns, &head, &rows], &[Value::Null]).expect("rows");
    let values: Vec<_> = answer.rows.iter().collect();
    let date = Value::Bytes(b"2024-02-29 23:59:08".to_vec());
    assert_eq!(values, [[Value::Integer(-5), Value::Float(1.5), date], [Value::Null, Value::Null, Value::Null]]);
    let many = [Value::Null, Value::Null];
    check(ask_mysql(&[&prepared, &columns], &many), "sql: expected 1 arguments, got 2", 0);
}

#[test]
fn hostile_mysql_servers() {
    let after = |packets: &[Vec<u8>]| [greeting(), ok(2), packets.concat()].concat();
    let switch = |plugin: &[u8]| [greeting(), my(2, &[&[0xFE], plugin, b"\0abcdefghijklmnopqrst\0"].concat())].concat();
    let sha2 = switch(b"caching_sha2_password");
    let back_and_forth: Vec<Vec<u8>> =
        (0..20).map(|round| my(2 + 2 * round, b"\xFEmysql_native_password\0abcdefghijklmnopqrst\0")).collect();
    let cases: &[(Vec<u8>, &str)] = &[
        (Vec::new(), "unexpected EOF"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), OUT_OF_SYNC),
        (my(0, &[9, b'4', 0]), "unsupported protocol version 9. Version 10 or higher is required"),
        (my(0, &[10, b'8']), "malformed packet"),
        (my(0, b""), "malformed packet"),
        (my(0, b"\xFF\x10\x04Too many connections"), "Error 1040: Too many connections"),
        (b"\xff\xff\xff\x00abc".to_vec(), "unexpected EOF"),
        ([greeting(), my(5, &[0])].concat(), OUT_OF_SYNC),
        ([greeting(), my(2, b"\xFF\x15\x04#28000Access denied")].concat(), "Error 1045 (28000): Access denied"),
        (switch(b"nope"), "this authentication plugin is not supported: nope"),
        (
            switch(b"mysql_clear_password"),
            "this user's password is sent as it is: add tls=true to the data source name",
        ),
        ([sha2.clone(), my(4, &[1, 4]), my(6, b"\x01junk")].concat(), "not a key: \"junk\""),
        ([sha2, my(4, &[1, 9])].concat(), "malformed packet"),
        ([greeting(), back_and_forth.concat()].concat(), "the server does not finish the login"),
        (after(&[my(1, b"")]), "malformed packet"),
        (after(&[my(1, b"\xFF\x7A\x04#42S02no table")]), "Error 1146 (42S02): no table"),
        (after(&[my(1, b"\xFF")]), "malformed packet"),
        (after(&[my(1, &[0xFE, 255, 255, 255, 255, 255, 255, 255, 255])]), "malformed packet"),
        (after(&[my(1, &[1]), my(2, &[200, 1])]), "malformed packet"),
        (after(&[my(1, &[1]), column(2, b"a", 253), end(3), my(4, &[0xFD, 255, 255, 255])]), "malformed packet"),
        (after(&[my(1, &[1]), column(2, b"a", 253), my(3, &[0])]), "malformed packet"),
        (after(&[my(1, b"\xFB/etc/passwd"), my(3, &[0])]), "LOAD DATA LOCAL INFILE is not available to scripts"),
    ];
    for (case, (bytes, expect)) in cases.iter().enumerate() {
        check(ask_mysql(&[bytes], &[]), expect, case);
    }
}
