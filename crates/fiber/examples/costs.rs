//! Measures what the design page claims: switches, park and unpark, copies, memory per idle fiber, timers, and echo
//! over loopback. `cargo run --release -p onrush-fiber --example costs [what]`
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::{
    cell::Cell,
    hint::black_box,
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    rc::Rc,
    time::Duration,
};

use onrush_fiber::{
    Clock, Nanos, Reactor, ReactorConfig, TcpStream, park, sleep_until, spawn, stats, unpark, yield_now,
};

fn main() {
    let wanted = std::env::args().nth(1);
    let run = |name: &str, f: fn()| {
        let all = wanted.is_none() && name != "idle-shallow";
        if all || wanted.as_deref() == Some(name) {
            f();
        }
    };
    // First, before anything else has used memory.
    run("idle", || idle_memory(1536));
    run("switch", switch_pair);
    run("park", park_unpark);
    run("spawn", spawn_and_end);
    run("many", many_parked);
    run("idle-shallow", || idle_memory(0));
    run("timers", timer_cost);
    run("precision", timer_precision);
    run("echo", echo);
}

fn reactor() -> Reactor {
    Reactor::new(ReactorConfig::default()).expect("a reactor")
}

/// Runs `f` with (at least) `bytes` of the fiber's stack in use.
#[inline(never)]
fn at_depth(bytes: usize, f: &mut dyn FnMut()) {
    const FRAME: usize = 256;
    let mut pad = [0u8; FRAME];
    black_box(&mut pad);
    if bytes > FRAME {
        at_depth(bytes - FRAME, f);
    } else {
        f();
    }
    black_box(&mut pad);
}

/// CPU time: other processes on the machine matter less.
fn per(start: f64, count: u64) -> f64 {
    (cpu_time() - start) / count as f64
}

/// Into a fiber and back, with the smallest stack.
fn switch_pair() {
    const ROUNDS: u64 = 5_000_000;
    let reactor = reactor();
    spawn(None, || {
        let start = cpu_time();
        for _ in 0..ROUNDS {
            let _ = yield_now();
        }
        println!(
            "yield (out, ready queue, clock, in), one shallow fiber: {:.1} ns; saved {} bytes",
            per(start, ROUNDS),
            stats().map_or(0, |s| s.max_saved_bytes),
        );
    });
    reactor.run();
}

/// Two fibers waking each other: per round trip two unparks, two parks, two switch pairs.
fn park_unpark() {
    const ROUNDS: u64 = 1_000_000;
    for depth in [0usize, 1536, 8 << 10, 32 << 10] {
        let reactor = reactor();
        let other = Rc::new(Cell::new(None));
        let ping = {
            let other = Rc::clone(&other);
            spawn(None, move || {
                at_depth(depth, &mut || {
                    let start = cpu_time();
                    for _ in 0..ROUNDS {
                        if let Some(pong) = other.get() {
                            unpark(pong);
                        }
                        let _ = park(None);
                    }
                    println!(
                        "unpark + park + switches and copies: {:.1} ns at {} bytes saved",
                        per(start, 2 * ROUNDS),
                        stats().map_or(0, |s| s.max_saved_bytes),
                    );
                });
            })
        };
        let pong = spawn(None, move || {
            at_depth(depth, &mut || {
                for _ in 0..ROUNDS {
                    let _ = park(None);
                    unpark(ping);
                }
            });
        });
        other.set(Some(pong));
        reactor.run();
    }
}

/// Fibers that never suspend.
fn spawn_and_end() {
    const FIBERS: u64 = 2_000_000;
    let reactor = reactor();
    spawn(None, || {
        let start = cpu_time();
        for i in 0..FIBERS {
            spawn(None, move || {
                black_box(i);
            });
            if i % 64 == 63 {
                let _ = yield_now();
            }
        }
        println!("spawn, run, end: {:.1} ns", per(start, FIBERS));
    });
    reactor.run();
}

/// Many fibers woken in turn: their stacks are not in the caches.
fn many_parked() {
    for fibers in [1_000u64, 10_000, 100_000] {
        let rounds = 2_000_000 / fibers;
        let reactor = reactor();
        let mut ids: Vec<_> = (0..fibers)
            .map(|_| {
                spawn(None, move || {
                    at_depth(1536, &mut || {
                        for _ in 0..=rounds {
                            let _ = park(None);
                        }
                    });
                })
            })
            .collect();
        // In no order the hardware could guess.
        let mut random = 1u64;
        for i in (1..ids.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ids.swap(i, (random >> 33) as usize % (i + 1));
        }
        spawn(None, move || {
            let _ = yield_now();
            let mut start = cpu_time();
            for round in 0..=rounds {
                if round == 1 {
                    start = cpu_time();
                }
                for &id in &ids {
                    unpark(id);
                }
                let _ = yield_now();
            }
            println!(
                "{fibers} fibers in random order: {:.1} ns per wake, {} bytes saved each",
                per(start, fibers * rounds),
                stats().map_or(0, |s| s.max_saved_bytes),
            );
        });
        reactor.run();
    }
}

fn rss_bytes() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: f64 = statm.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("rss");
    pages * 4096.0
}

/// 50,000 sleeping fibers. (One depth a process: freed memory would be reused.)
fn idle_memory(depth: usize) {
    const FIBERS: usize = 50_000;
    let reactor = reactor();
    let before = rss_bytes();
    let until = Clock::now() + Duration::from_secs(2);
    for _ in 0..FIBERS {
        spawn(None, move || {
            at_depth(depth, &mut || {
                let _ = sleep_until(until);
            });
        });
    }
    spawn(None, move || {
        let _ = sleep_until(until - Duration::from_millis(100));
        let bytes = (rss_bytes() - before) / FIBERS as f64;
        let s = stats().expect("on a fiber");
        println!(
            "idle fiber: {bytes:.0} bytes of RSS (saved stack {} bytes, buffer {})",
            s.max_saved_bytes,
            s.saved_bytes_total / FIBERS,
        );
    });
    reactor.run();
}

/// Sleeping fibers that wake all the time.
fn timer_cost() {
    for fibers in [1_000u64, 100_000] {
        let reactor = reactor();
        let woken = Rc::new(Cell::new(0u64));
        let until = Clock::now() + Duration::from_secs(3);
        for i in 0..fibers {
            let woken = Rc::clone(&woken);
            spawn(None, move || {
                let mut at = Clock::now() + Duration::from_micros(i % 1000);
                while at < until {
                    at += Duration::from_micros(500_000 + (i * 7919) % 1_000_000);
                    let _ = sleep_until(at);
                    woken.set(woken.get() + 1);
                }
            });
        }
        let cpu = cpu_time();
        reactor.run();
        println!(
            "{fibers} fibers sleeping 1 s on average: {:.0} ns of CPU per sleep ({} sleeps)",
            (cpu_time() - cpu) / woken.get() as f64,
            woken.get(),
        );
    }
}

fn cpu_time() -> f64 {
    let spec = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    spec.tv_sec as f64 * 1e9 + spec.tv_nsec as f64
}

/// How late a fiber on an idle thread wakes.
fn timer_precision() {
    let reactor = reactor();
    spawn(None, || {
        let mut late = Vec::new();
        for i in 0..2000u64 {
            let at = Clock::now() + Duration::from_micros(300 + i % 700);
            let _ = sleep_until(at);
            late.push((Clock::now() - at).as_millis_f64() * 1000.0);
        }
        late.sort_by(f64::total_cmp);
        println!(
            "sleeps of 0.3 to 1 ms wake late by: median {:.1} us, p99 {:.1} us, max {:.1} us",
            late[1000], late[1980], late[1999]
        );
    });
    reactor.run();
}

/// 100 connections, 100-byte messages, against a thread that answers each with 230 bytes.
fn echo() {
    const CONNECTIONS: usize = 100;
    const SECONDS: u64 = 3;
    let listener = TcpListener::bind("127.0.0.1:18110").expect("port 18110");
    let addr = listener.local_addr().expect("its address");
    let server = std::thread::spawn(move || echo_server(&listener, CONNECTIONS));
    let reactor = reactor();
    let done = Rc::new(Cell::new(0u64));
    let (wall, cpu, ticks) = (Clock::now(), cpu_time(), thread_ticks());
    let until = wall + Duration::from_secs(SECONDS);
    for _ in 0..CONNECTIONS {
        let done = Rc::clone(&done);
        spawn(None, move || echo_client(addr, until, &done));
    }
    reactor.run();
    let s = reactor.stats();
    let us = (cpu_time() - cpu) / 1000.0;
    let (user, sys) = thread_ticks();
    let user_share = (user - ticks.0) / (user - ticks.0 + sys - ticks.1);
    let requests = done.get() as f64;
    println!(
        "echo over loopback, {CONNECTIONS} connections: {:.0} requests/s; client CPU per request \
         {:.2} us, {:.2} of them user (run alone); {:.1} requests per poll",
        requests / (Clock::now() - wall).as_secs_f64(),
        us / requests,
        us / requests * user_share,
        requests / s.polls as f64,
    );
    drop(reactor);
    server.join().expect("the server does not panic");
}

fn echo_client(addr: SocketAddr, until: Nanos, done: &Cell<u64>) {
    let stream = TcpStream::connect(addr, None, None).expect("connect");
    let mut answer = [0u8; 512];
    at_depth(1024, &mut || {
        loop {
            let now = Clock::now();
            if now >= until {
                break;
            }
            let deadline = Some(now + Duration::from_secs(60));
            stream.write_all(&[b'x'; 100], deadline).expect("write");
            let mut count = 0;
            while count < 230 {
                count += stream.read(&mut answer, deadline).expect("read");
            }
            done.set(done.get() + 1);
        }
    });
}

/// A blocking server is no match for a hundred connections, so it is our own reactor again, on its own thread, with
/// plain std sockets for accepting.
fn echo_server(listener: &TcpListener, connections: usize) {
    use std::os::fd::AsFd;
    let epoll = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC).expect("epoll");
    let mut streams = Vec::new();
    for i in 0..connections {
        let (stream, _) = listener.accept().expect("accept");
        stream.set_nodelay(true).expect("nodelay");
        let data = rustix::event::epoll::EventData::new_u64(i as u64);
        let flags = rustix::event::epoll::EventFlags::IN;
        rustix::event::epoll::add(&epoll, stream.as_fd(), data, flags).expect("add");
        streams.push(stream);
    }
    let mut open = connections;
    let mut events = Vec::with_capacity(1024);
    let mut buf = [0u8; 1024];
    while open > 0 {
        events.clear();
        let buffer = rustix::buffer::spare_capacity(&mut events);
        let _ = rustix::event::epoll::wait(&epoll, buffer, None);
        for event in &events {
            let mut stream = &streams[event.data.u64() as usize];
            match stream.read(&mut buf) {
                Ok(0) | Err(_) => {
                    let _ = rustix::event::epoll::delete(&epoll, stream.as_fd());
                    open -= 1;
                }
                Ok(_) => stream.write_all(&[b'y'; 230]).expect("answer"),
            }
        }
    }
}

/// User and system time of this thread in clock ticks. The kernel splits the thread's *whole* time by samples, so the
/// split of one part is right only if there was no other part before.
fn thread_ticks() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("stat");
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let field = |i: usize| rest.split_whitespace().nth(i).and_then(|s| s.parse().ok());
    (field(11).unwrap_or(0.0), field(12).unwrap_or(0.0))
}
