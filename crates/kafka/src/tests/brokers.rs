//! Brokers of the tests: they read requests and answer as a case says.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use crate::wire::Put;

/// What a broker does with a request.
pub(super) enum Reply {
    /// The answer without its length and number.
    Body(Vec<u8>),
    /// These bytes, as they are.
    Raw(Vec<u8>),
    /// Nothing; the connection stays open.
    Silence,
    /// The end.
    Close,
}

/// A broker that answers each request, which comes as its kind and body. Gives its port.
pub(super) fn broker(answer: impl FnMut(u16, i16, &[u8]) -> Reply + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it is bound").port();
    let answer = Arc::new(Mutex::new(answer));
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            // A socket that is silent stays with its thread, which ends with the test.
            thread::spawn(move || {
                serve(socket, port, &answer).map(|socket| {
                    thread::sleep(SILENCE);
                    drop(socket);
                })
            });
        }
    });
    port
}

fn serve(mut socket: TcpStream, port: u16, answer: &Mutex<impl FnMut(u16, i16, &[u8]) -> Reply>) -> Option<TcpStream> {
    loop {
        let mut length = [0; 4];
        socket.read_exact(&mut length).ok()?;
        let mut request = vec![0; u32::from_be_bytes(length) as usize];
        socket.read_exact(&mut request).ok()?;
        let key = i16::from_be_bytes([request[0], request[1]]);
        let name = u16::from_be_bytes([request[8], request[9]]);
        let body = &request[10 + usize::from(name)..];
        let reply = answer.lock().ok()?(port, key, body);
        match reply {
            Reply::Body(body) => {
                let mut out = (body.len() as u32 + 4).to_be_bytes().to_vec();
                out.extend_from_slice(&request[4..8]);
                out.extend(body);
                socket.write_all(&out).ok()?;
            }
            Reply::Raw(bytes) => socket.write_all(&bytes).ok()?,
            Reply::Silence => return Some(socket),
            Reply::Close => return None,
        }
    }
}

/// Longer than any client of the tests waits.
const SILENCE: Duration = Duration::from_secs(5);

pub(super) const PRODUCE: i16 = 0;
pub(super) const FETCH: i16 = 1;
pub(super) const LIST_OFFSETS: i16 = 2;
pub(super) const METADATA: i16 = 3;

/// One broker, one topic `t` with as many partitions as one likes, all led by it.
pub(super) fn metadata(port: u16, partitions: i32) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_i32(0);
    out.put_count(1);
    out.put_i32(1);
    out.put_text("127.0.0.1");
    out.put_i32(i32::from(port));
    out.put_no_text();
    out.put_text("cluster");
    out.put_i32(1);
    out.put_count(1);
    out.put_i16(0);
    out.put_text("t");
    out.put_bool(false);
    out.put_i32(partitions);
    for partition in 0..partitions {
        out.put_i16(0);
        out.put_i32(partition);
        out.put_i32(1);
        out.put_count(1);
        out.put_i32(1);
        out.put_count(1);
        out.put_i32(1);
    }
    out
}

/// What a broker says to messages for partition 0 of `t`.
pub(super) fn produced(code: i16) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_count(1);
    out.put_text("t");
    out.put_count(1);
    out.put_i32(0);
    out.put_i16(code);
    out.put_i64(0);
    out.put_i64(-1);
    out.put_i64(0);
    out.put_i32(0);
    out
}

/// The offset of partition 0 of `t`.
pub(super) fn offset(offset: i64) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_i32(0);
    out.put_count(1);
    out.put_text("t");
    out.put_count(1);
    out.put_i32(0);
    out.put_i16(0);
    out.put_i64(-1);
    out.put_i64(offset);
    out
}

/// Records of partition 0 of `t`.
pub(super) fn fetched(code: i16, records: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_i32(0);
    out.put_i16(0);
    out.put_i32(0);
    out.put_count(1);
    out.put_text("t");
    out.put_count(1);
    out.put_i32(0);
    out.put_i16(code);
    out.put_i64(1_000);
    out.put_i64(1_000);
    out.put_i64(0);
    out.put_count(0);
    out.put_bytes(records);
    out
}
