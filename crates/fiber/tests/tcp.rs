//! Sockets against plain blocking threads on loopback.

use std::{
    cell::Cell,
    io::{IoSlice, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener},
    rc::Rc,
    thread::{self, JoinHandle},
    time::Duration,
};

use onrush_fiber::{
    Clock, IoFailure, Nanos, Reactor, ReactorConfig, TcpStream, block_on, cancel, current, sleep_until, spawn,
    yield_now,
};

/// Runs `client` on a fiber and `server` on a thread, with a listener for both.
fn with_server<T: Send + 'static>(
    server: impl FnOnce(TcpListener) -> T + Send + 'static,
    client: impl FnOnce(SocketAddr) + 'static,
) -> T {
    let (addr, thread) = start(server);
    let reactor = Reactor::new(ReactorConfig::default()).expect("a reactor");
    let done = Rc::new(Cell::new(false));
    let flag = Rc::clone(&done);
    spawn(None, move || {
        client(addr);
        flag.set(true);
    });
    reactor.run();
    assert!(done.get(), "the client panicked");
    thread.join().expect("the server does not panic")
}

fn start<T: Send + 'static>(server: impl FnOnce(TcpListener) -> T + Send + 'static) -> (SocketAddr, JoinHandle<T>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let addr = listener.local_addr().expect("its address");
    (addr, thread::spawn(move || server(listener)))
}

fn accept(listener: &TcpListener) -> std::net::TcpStream {
    listener.accept().expect("a connection").0
}

fn connect(addr: SocketAddr) -> TcpStream {
    TcpStream::connect(addr, None, None).expect("connect")
}

fn read_exact(stream: &TcpStream, mut buf: &mut [u8]) {
    while !buf.is_empty() {
        let count = stream.read(buf, None).expect("read");
        assert_ne!(count, 0, "the stream ended early");
        buf = &mut buf[count..];
    }
}

fn raw_error<T: std::fmt::Debug>(result: Result<T, IoFailure>) -> Option<i32> {
    match result.expect_err("a failure") {
        IoFailure::Io(error) => error.raw_os_error(),
        other => panic!("{other:?}"),
    }
}

/// Waits for what the kernel will report in its own time.
fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..5000 {
        if condition() {
            return;
        }
        let _ = sleep_until(Clock::now() + Duration::from_millis(1));
    }
    panic!("never: {what}");
}

#[test]
fn requests_and_answers() {
    with_server(
        |listener| {
            let mut stream = accept(&listener);
            let mut buf = [0; 64];
            loop {
                let count = stream.read(&mut buf).expect("read");
                if count == 0 {
                    break;
                }
                stream.write_all(&buf[..count]).expect("write");
            }
        },
        |addr| {
            let stream = connect(addr);
            assert_eq!(stream.peer_addr(), addr);
            assert!(stream.local_addr().expect("connected").ip().is_loopback());
            for i in 0..200u8 {
                assert!(!stream.is_closed_by_peer());
                stream.write_all(&[i; 50], None).expect("write");
                let mut answer = [0; 50];
                read_exact(&stream, &mut answer);
                assert_eq!(answer, [i; 50]);
                assert_eq!(stream.try_read(&mut answer).expect("alive"), None);
            }
        },
    );
}

#[test]
fn megabytes_both_ways_at_once_by_two_fibers() {
    const BYTES: usize = 8 << 20;
    let received = with_server(
        |listener| {
            let mut stream = accept(&listener);
            let mut writer = stream.try_clone().expect("dup");
            let writes = thread::spawn(move || {
                let data: Vec<u8> = (0..BYTES).map(|i| (i % 251) as u8).collect();
                writer.write_all(&data).expect("write");
                writer.shutdown(Shutdown::Write).expect("connected");
            });
            let mut data = Vec::new();
            stream.read_to_end(&mut data).expect("read");
            writes.join().expect("no panic");
            data
        },
        |addr| {
            let stream = Rc::new(connect(addr));
            let other = Rc::clone(&stream);
            spawn(None, move || {
                let data: Vec<u8> = (0..BYTES).map(|i| (i % 241) as u8).collect();
                // Uneven pieces, some of them empty.
                for chunk in data.chunks(100_003) {
                    let (a, b) = chunk.split_at(chunk.len() / 3);
                    let empty = IoSlice::new(&[]);
                    let bufs = [empty, IoSlice::new(a), empty, IoSlice::new(b), empty];
                    other.write_vectored_all(&bufs, None).expect("write");
                }
                other.shutdown(Shutdown::Write).expect("connected");
            });
            let mut buf = vec![0; 70_001];
            let mut total = 0;
            loop {
                let count = stream.read(&mut buf, None).expect("read");
                if count == 0 {
                    break;
                }
                let right = (total..).zip(&buf[..count]).all(|(i, &b)| b == (i % 251) as u8);
                assert!(right, "wrong bytes after {total}");
                total += count;
            }
            assert_eq!(total, BYTES);
        },
    );
    assert_eq!(received.len(), BYTES);
    assert!(received.iter().enumerate().all(|(i, &b)| b == (i % 241) as u8));
}

#[test]
fn many_small_buffers_go_out_in_order() {
    let received = with_server(
        |listener| {
            let mut data = Vec::new();
            accept(&listener).read_to_end(&mut data).expect("read");
            data
        },
        |addr| {
            let pieces: Vec<Vec<u8>> = (0..100u8).map(|i| vec![i; usize::from(i % 7)]).collect();
            let bufs: Vec<IoSlice<'_>> = pieces.iter().map(|p| IoSlice::new(p)).collect();
            connect(addr).write_vectored_all(&bufs, None).expect("write");
        },
    );
    let expected: Vec<u8> = (0..100u8).flat_map(|i| vec![i; usize::from(i % 7)]).collect();
    assert_eq!(received, expected);
}

#[test]
fn the_end_and_the_reset_are_seen() {
    with_server(
        |listener| {
            // First: an orderly end after some bytes. Second: a reset.
            accept(&listener).write_all(b"bye").expect("write");
            let mut second = accept(&listener);
            second.read_exact(&mut [0]).expect("the client is connected");
            let linger = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&second, linger).expect("a socket");
        },
        |addr| {
            let first = connect(addr);
            eventually("the close is seen", || first.is_closed_by_peer());
            let mut buf = [0; 10];
            assert_eq!(first.read(&mut buf, None).expect("bytes before the end"), 3);
            assert_eq!(first.read(&mut buf, None).expect("the end"), 0);
            assert_eq!(first.read(&mut buf, None).expect("the end again"), 0);

            let second = connect(addr);
            second.write_all(b"x", None).expect("write");
            eventually("the reset is seen", || second.is_closed_by_peer());
            assert_eq!(raw_error(second.read(&mut buf, None)), Some(libc::ECONNRESET));
            assert_eq!(raw_error(second.write_all(b"x", None)), Some(libc::EPIPE));
        },
    );
}

#[test]
fn unasked_bytes_are_readable_but_not_a_close() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    with_server(
        move |listener| {
            let mut stream = accept(&listener);
            stream.write_all(b"unasked").expect("write");
            let _ = wait.recv();
        },
        |addr| {
            let stream = connect(addr);
            eventually("they arrive", || stream.is_readable());
            assert!(!stream.is_closed_by_peer());
            let mut buf = [0; 7];
            assert_eq!(stream.try_read(&mut buf).expect("alive"), Some(7));
            // The buffer was exactly as large: whether more is there takes one more look.
            assert!(!stream.is_closed_by_peer());
            assert!(!stream.is_readable());
            drop(go);
        },
    );
}

#[test]
fn poll_functions_are_notified() {
    use std::{future::poll_fn, task::Poll};

    const BYTES: usize = 4 << 20;
    let received = with_server(
        |listener| {
            let mut stream = accept(&listener);
            let mut data = vec![0; BYTES];
            stream.read_exact(&mut data).expect("read");
            stream.write_all(b"done").expect("write");
            data
        },
        |addr| {
            let stream = Rc::new(connect(addr));
            let mut sent = 0;
            let mut answer = [0; 8];
            let future = poll_fn(move |_| {
                // Both directions from one poll function, as an HTTP/2 connection does it.
                while sent < BYTES {
                    let part = [sent as u8; 10_007];
                    let part = &part[..part.len().min(BYTES - sent)];
                    match stream.try_write(part).expect("write") {
                        Some(count) => sent += count,
                        None => {
                            stream.notify_writable().expect("nobody else waits");
                            break;
                        }
                    }
                }
                match stream.try_read(&mut answer).expect("read") {
                    Some(count) => Poll::Ready(count),
                    None => {
                        stream.notify_readable().expect("nobody else waits");
                        Poll::Pending
                    }
                }
            });
            assert_eq!(block_on(Box::pin(future), None), Ok(4));
        },
    );
    assert_eq!(received.len(), BYTES);
}

#[test]
fn failures_to_connect_keep_their_number() {
    let (addr, thread) = start(drop);
    thread.join().expect("no panic");
    let reactor = Reactor::new(ReactorConfig::default()).expect("a reactor");
    spawn(None, move || {
        let refused = TcpStream::connect(addr, None, None);
        assert_eq!(raw_error(refused), Some(libc::ECONNREFUSED));
        let foreign = Some(Ipv4Addr::new(192, 0, 2, 1).into());
        let not_ours = TcpStream::connect(addr, foreign, None);
        assert_eq!(raw_error(not_ours), Some(libc::EADDRNOTAVAIL));
        let other_family = Some(Ipv4Addr::LOCALHOST.into());
        let v6: SocketAddr = "[::1]:1".parse().expect("an address");
        assert!(raw_error(TcpStream::connect(v6, other_family, None)).is_some());
    });
    reactor.run();
    assert_eq!(reactor.stats().panics, 0);
}

#[test]
fn the_local_address_is_used() {
    let local = Ipv4Addr::new(127, 0, 0, 7);
    let peer = with_server(
        |listener| listener.accept().expect("a connection").1,
        move |addr| {
            let stream = TcpStream::connect(addr, Some(local.into()), None).expect("connect");
            let mut buf = [0];
            assert_eq!(stream.read(&mut buf, None).expect("the end"), 0);
        },
    );
    assert_eq!(peer.ip(), local);
}

#[test]
fn waits_end_with_the_deadline_or_a_cancel() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    with_server(
        move |listener| {
            let _silent = accept(&listener);
            let _ = wait.recv();
        },
        |addr| {
            let stream = Rc::new(connect(addr));
            let soon = || Some(Clock::now() + Duration::from_millis(2));
            let mut buf = [0; 10];
            let read = stream.read(&mut buf, soon());
            assert!(matches!(read, Err(IoFailure::Timeout)), "{read:?}");
            // The silent peer's window fills up.
            let write = stream.write_all(&vec![0; 64 << 20], soon());
            assert!(matches!(write, Err(IoFailure::Timeout)), "{write:?}");

            let main = current().expect("on a fiber");
            let other = Rc::clone(&stream);
            spawn(None, move || {
                let busy = other.read(&mut [0], None).expect_err("one reader at a time");
                assert!(matches!(
                    busy,
                    IoFailure::Io(e) if e.kind() == std::io::ErrorKind::ResourceBusy
                ));
                cancel(main);
            });
            let read = stream.read(&mut buf, None);
            assert!(matches!(read, Err(IoFailure::Cancelled)), "{read:?}");
            assert!(onrush_fiber::is_cancelled());
            drop(go);
        },
    );
}

#[test]
fn a_flood_does_not_starve_other_fibers() {
    with_server(
        |listener| {
            let mut stream = accept(&listener);
            while stream.write_all(&[1; 65_536]).is_ok() {}
        },
        |addr| {
            let stop = Rc::new(Cell::new(false));
            let flag = Rc::clone(&stop);
            spawn(None, move || {
                for _ in 0..20 {
                    let _ = yield_now();
                }
                flag.set(true);
            });
            let stream = connect(addr);
            // Small reads, so that the socket is never empty.
            let mut buf = [0; 512];
            while !stop.get() {
                assert_ne!(stream.read(&mut buf, None).expect("read"), 0);
            }
            // The deadline is noticed as well.
            let past = Some(Nanos::ZERO);
            let end = loop {
                match stream.read(&mut buf, past) {
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert!(matches!(end, IoFailure::Timeout), "{end:?}");
        },
    );
}

#[test]
fn hundreds_of_connections_come_and_go() {
    // Fewer than the listener's backlog of 128: a dropped SYN is repeated a second later.
    const FIBERS: usize = 100;
    const ROUNDS: usize = 10;
    let (addr, thread) = start(|listener| {
        let mut served = 0;
        for _ in 0..FIBERS * ROUNDS {
            let mut stream = accept(&listener);
            let mut buf = [0; 8];
            stream.read_exact(&mut buf).expect("a request");
            stream.write_all(&buf).expect("write");
            served += 1;
        }
        served
    });
    let reactor = Reactor::new(ReactorConfig::default()).expect("a reactor");
    let done = Rc::new(Cell::new(0));
    for i in 0..FIBERS {
        let done = Rc::clone(&done);
        spawn(None, move || {
            for round in 0..ROUNDS {
                let stream = connect(addr);
                let request = ((i * ROUNDS + round) as u64).to_le_bytes();
                stream.write_all(&request, None).expect("write");
                let mut answer = [0; 8];
                read_exact(&stream, &mut answer);
                assert_eq!(answer, request);
                stream.close();
                done.set(done.get() + 1);
            }
        });
    }
    reactor.run();
    assert_eq!(done.get(), FIBERS * ROUNDS);
    assert_eq!(thread.join().expect("no panic"), FIBERS * ROUNDS);
}
