//! N GETs over M fibers, each with its own connections, and what they cost: the engine without
//! JavaScript and metrics. `get URL [REQUESTS] [FIBERS] [keep|discard] [h2c]`

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use onrush_fiber::{Clock, Reactor, ReactorConfig, raise_fd_limit, spawn};
use onrush_net::{Body, BodyMode, ClientOptions, Connections, Request, TlsOptions, Url};

#[expect(clippy::print_stdout, reason = "an example")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let target = args.next().ok_or("usage: get URL [REQUESTS] [FIBERS] [keep|discard]")?;
    let requests: u64 = args.next().map_or(Ok(100_000), |text| text.parse())?;
    let fibers: u64 = args.next().map_or(Ok(100), |text| text.parse())?;
    let mode = if args.next().as_deref() == Some("discard") { BodyMode::Discard } else { BodyMode::Keep };
    let http2_prior_knowledge = args.next().as_deref() == Some("h2c");

    raise_fd_limit();
    let reactor = Reactor::new(ReactorConfig::default())?;
    let options = ClientOptions {
        tls: TlsOptions { insecure_skip_verify: true, ..TlsOptions::default() },
        http2_prior_knowledge,
        ..ClientOptions::default()
    };
    let shared = options.build_thread()?;
    let left = Rc::new(Cell::new(requests));
    let (failed, bytes) = (Rc::new(Cell::new(0_u64)), Rc::new(Cell::new(0_u64)));
    let resident_before = resident_bytes();
    // They outlive their fibers: what an idle connection costs is measured at the end.
    let idle = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..fibers {
        let idle = Rc::clone(&idle);
        let (shared, left, target) = (Rc::clone(&shared), Rc::clone(&left), target.clone());
        let (failed, bytes) = (Rc::clone(&failed), Rc::clone(&bytes));
        spawn(None, move || {
            let connections = Connections::new(shared);
            let url = Url::parse(&target).expect("the URL was given on the command line");
            let request = Request {
                method: "GET",
                url: &url,
                head: b"",
                host: None,
                body: &Body::None,
                user_agent: Some("onrush"),
                is_http1: false,
            };
            while left.get() > 0 {
                left.set(left.get() - 1);
                let deadline = Clock::now() + std::time::Duration::from_secs(60);
                match connections.exchange(&request, mode, Clock::now(), Some(deadline)) {
                    Ok(response) if response.status == 200 => {
                        bytes.set(bytes.get() + response.body.len() as u64);
                    }
                    _ => failed.set(failed.get() + 1),
                }
            }
            idle.borrow_mut().push(connections);
        });
    }
    let (start, usage_start) = (Clock::now(), usage());
    reactor.run();
    let (seconds, usage_end) = ((Clock::now() - start).as_secs_f64(), usage());
    let each_idle = resident_bytes().saturating_sub(resident_before) / fibers.max(1);
    println!("resident with all connections idle: {each_idle} bytes a fiber");
    let each = |end: f64, start: f64| (end - start) * 1e6 / requests as f64;
    println!("most stack saved of a waiting fiber: {} bytes", reactor.stats().max_saved_bytes);
    println!(
        "{requests} requests, {fibers} fibers: {:.0}/s, user {:.3} us, sys {:.3} us a request; {} failed, {} body bytes",
        requests as f64 / seconds,
        each(usage_end.0, usage_start.0),
        each(usage_end.1, usage_start.1),
        failed.get(),
        bytes.get(),
    );
    Ok(())
}

/// Memory of this process.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
    pages * rustix::param::page_size() as u64
}

/// User and system CPU seconds of this process so far.
fn usage() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let mut fields = after_name.split_whitespace().skip(11).map(|field| field.parse::<f64>().unwrap_or_default());
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let (user, sys) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    (user / ticks, sys / ticks)
}
