//! Starting and stopping.

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpStream},
};

use onrush_testsite::{TargetOptions, start};

use crate::client::{connect, get, target, target_with};

fn on(address: &str) -> TargetOptions {
    TargetOptions { listen: address.parse().unwrap(), ..TargetOptions::default() }
}

#[test]
fn the_defaults_stay_on_this_machine() {
    let options = TargetOptions::default();
    assert_eq!(options.listen, "127.0.0.1:8080".parse::<SocketAddr>().unwrap());
    assert!(options.tls_listen.is_none() && !options.allow_remote);
}

#[test]
fn other_machines_must_be_allowed() {
    assert_eq!(start(on("0.0.0.0:0")).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(start(on("[::]:0")).unwrap_err().kind(), ErrorKind::InvalidInput);
    let tls = TargetOptions { tls_listen: Some("0.0.0.0:0".parse().unwrap()), ..on("127.0.0.1:0") };
    assert_eq!(start(tls).unwrap_err().kind(), ErrorKind::InvalidInput);
    let allowed = start(TargetOptions { allow_remote: true, ..on("0.0.0.0:0") }).unwrap();
    assert_ne!(allowed.addr.port(), 0);
}

#[test]
fn a_port_is_not_shared_with_another_target() {
    for threads in [1, 2] {
        let first = target_with(|options| options.threads = threads);
        for others in [1, 2] {
            let second = TargetOptions { threads: others, ..on(&first.addr.to_string()) };
            assert_eq!(start(second).unwrap_err().kind(), ErrorKind::AddrInUse);
        }
    }
}

#[test]
fn threads_share_the_work() {
    let target = target_with(|options| options.threads = 4);
    for _ in 0..40 {
        assert_eq!(get(&target, "/f/10").body.len(), 10);
    }
    assert_eq!(target.requests(), 40);
    let stats: serde_json::Value = serde_json::from_str(&target.stats_json()).unwrap();
    assert_eq!(stats["threads"], 4);
}

#[test]
fn threads_have_a_range() {
    for threads in [0, onrush_testsite::THREADS_MAX + 1] {
        let options = TargetOptions { threads, ..on("127.0.0.1:0") };
        assert_eq!(start(options).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn stopping_closes_everything() {
    let target = target();
    let addr = target.addr;
    let mut client = connect(addr);
    client.get("/f/1");
    let stopper = target.stopper();
    let waiting = std::thread::spawn(move || target.join());
    stopper.stop();
    waiting.join().unwrap().unwrap();
    assert!(client.is_closed());
    assert!(TcpStream::connect(addr).is_err());
}

#[test]
fn dropping_stops() {
    let addr = target().addr;
    assert!(TcpStream::connect(addr).is_err());
}

#[test]
fn ipv6_loopback() {
    // Machines without IPv6 say so; there is nothing to test on them.
    if let Ok(target) = start(on("[::1]:0")) {
        assert_eq!(connect(target.addr).get("/ip").json()["origin"], "::1");
    }
}
