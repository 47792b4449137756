//! Messages come once and in order, whatever becomes of the connection; who is gone is missed, on both sides.

use std::{sync::Arc, time::Duration};

use onrush_cluster::{Event, Hash, HubConfig, Patience};
use onrush_metrics::SampleBatch;
use onrush_session::protocol::{AgentId, Command, Report, ThreadSamples};

use crate::{
    proxy::Proxy,
    support::{self, hub, line},
};

fn number(report: &Report) -> u64 {
    match report {
        Report::Aborted { message } => message.parse().expect("a number"),
        other => panic!("{other:?}"),
    }
}

fn short() -> Patience {
    Patience { silence: Duration::from_millis(1_500), lease: Duration::from_millis(2_500), ..Patience::default() }
}

fn talk(config: HubConfig) {
    let test = hub(config);
    let agents = [test.agent(), test.agent()];
    test.hub.begin();
    for (index, agent) in agents.iter().enumerate() {
        assert_eq!(agent.connection.agent, AgentId(index as u32));
        test.hub.send(agent.connection.agent, &Command::Summary(index.to_string()));
        test.hub.send(agent.connection.agent, &Command::Flush);
    }
    for (index, agent) in agents.iter().enumerate() {
        assert_eq!((agent.command(), agent.command()), (Command::Summary(index.to_string()), Command::Flush));
        agent.connection.reporter().report(&line(index as u64));
        assert_eq!(test.report(), (AgentId(index as u32), line(index as u64)));
    }
}

#[test]
fn both_sides_hear_each_other() {
    talk(support::config(2));
    talk(support::with_tls(2));
}

/// Commands may come before the agent has compared the clocks.
#[test]
fn what_is_sent_at_once_is_not_lost() {
    for _ in 0..20 {
        let test = hub(support::config(1));
        let config = support::join_config(test.hub.address, &test.token());
        let joining = std::thread::spawn(move || support::join(config).expect("it is let in"));
        test.event();
        test.hub.send(AgentId(0), &Command::Setup);
        assert_eq!(joining.join().expect("no panic").command(), Command::Setup);
    }
}

#[test]
fn clocks_are_compared() {
    let test = hub(support::config(1));
    let offset = test.agent().connection.clock.offset();
    // Both are in this process.
    assert!(u128::from(offset.ahead_ns.unsigned_abs()) <= offset.error.as_nanos(), "{offset:?}");
}

#[test]
fn content_comes_whole_and_unknown_content_is_refused() {
    let test = hub(support::with_tls(1));
    let agent = test.agent();
    let content: Arc<[u8]> = (0..3_000_001_u32).map(|index| (index.wrapping_mul(index) >> 7) as u8).collect();
    let hash = test.hub.offer(content.clone());
    assert_eq!(agent.connection.fetch(hash).as_deref(), Ok(&*content));
    let empty = test.hub.offer(Arc::from([]));
    assert_eq!(agent.connection.fetch(empty), Ok(Vec::new()));
    let error = agent.connection.fetch(Hash::of(b"something else")).expect_err("it is not there").to_string();
    assert_eq!(error, "failed to fetch the test from the coordinator: there is no content with this hash");
}

#[test]
fn what_is_said_over_broken_connections_comes_once_and_in_order() {
    let test = hub(support::config(1));
    let proxy = Proxy::to(test.hub.address);
    let agent = test.agent_at(proxy.address);
    test.hub.begin();
    const COUNT: u64 = 3_000;
    let reporter = agent.connection.reporter();
    let reports = std::thread::spawn(move || {
        for number in 0..COUNT {
            reporter.report(&line(number));
            if number % 1_000 == 500 {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    });
    for expected in 0..COUNT {
        let (_, report) = test.report();
        assert_eq!(number(&report), expected);
        if expected % 1_000 == 300 {
            proxy.cut();
            test.hub.send(AgentId(0), &Command::Summary(expected.to_string()));
        }
    }
    reports.join().expect("no panic");
    for expected in [300, 1_300, 2_300] {
        assert_eq!(agent.command(), Command::Summary(expected.to_string()));
    }
}

#[test]
fn content_goes_on_where_it_broke() {
    let test = hub(support::config(1));
    let proxy = Proxy::to(test.hub.address);
    let agent = test.agent_at(proxy.address);
    let content: Arc<[u8]> = vec![7; 64 << 20].into();
    let hash = test.hub.offer(content.clone());
    let came = std::thread::scope(|scope| {
        let fetch = scope.spawn(|| agent.connection.fetch(hash));
        std::thread::sleep(Duration::from_millis(30));
        proxy.cut();
        fetch.join().expect("no panic")
    });
    assert!(came.as_deref() == Ok(&*content));
}

#[test]
fn who_leaves_is_lost_at_once_and_who_vanishes_after_a_while() {
    let test = hub(HubConfig { patience: short(), ..support::config(2) });
    let leaving = test.agent();
    let proxy = Proxy::to(test.hub.address);
    let vanishing = test.agent_at(proxy.address);
    test.hub.begin();
    drop(leaving.connection);
    assert_eq!(test.lost(), (AgentId(0), "it left the run".to_owned()));
    proxy.hold(true);
    assert_eq!(test.lost(), (AgentId(1), "it said nothing for 1.5 s".to_owned()));
    // It notices as well, and by itself.
    assert!(vanishing.gone().starts_with("nothing was heard of the coordinator for 2.5 s"));
}

#[test]
fn a_large_message_over_a_slow_link_is_no_silence() {
    let test = hub(HubConfig { patience: short(), ..support::config(1) });
    let proxy = Proxy::to(test.hub.address);
    let agent = test.agent_at(proxy.address);
    test.hub.begin();
    proxy.slow_down();
    // Five seconds each way.
    let large = "x".repeat((2 << 20) - 100);
    agent.connection.reporter().report(&Report::Aborted { message: large.clone() });
    test.hub.send(AgentId(0), &Command::Summary(large.clone()));
    assert_eq!(test.report(), (AgentId(0), Report::Aborted { message: large.clone() }));
    assert_eq!(agent.command(), Command::Summary(large));
    agent.connection.reporter().report(&line(1));
    assert_eq!(test.report(), (AgentId(0), line(1)));
}

#[test]
fn a_connection_that_stays_broken_costs_the_agent_its_place() {
    let test = hub(HubConfig { patience: short(), ..support::config(1) });
    let proxy = Proxy::to(test.hub.address);
    let agent = test.agent_at(proxy.address);
    test.hub.begin();
    proxy.close();
    let (_, why) = test.lost();
    assert!(why.starts_with("its connection broke (") && why.ends_with("it was not back within 1.5 s"), "{why}");
    assert!(agent.gone().contains("after the connection broke"));
}

#[test]
fn who_was_given_up_is_told_so_when_he_comes_back() {
    let patience = Patience { lease: Duration::from_secs(30), ..short() };
    let test = hub(HubConfig { patience, ..support::config(1) });
    let proxy = Proxy::to(test.hub.address);
    let agent = test.agent_at(proxy.address);
    test.hub.begin();
    proxy.hold(true);
    test.lost();
    // The network is there again, for new connections.
    proxy.cut();
    proxy.hold(false);
    assert_eq!(agent.gone(), "the run goes on without this agent: it said nothing for more than 1.5 s");
}

#[test]
fn agents_end_when_the_coordinator_does() {
    let test = hub(HubConfig { patience: short(), ..support::config(1) });
    let agent = test.agent();
    test.hub.begin();
    drop(test);
    assert!(agent.gone().contains("nothing was heard of the coordinator for 2.5 s"));
    agent.connection.reporter().report(&line(1));
    assert!(agent.connection.fetch(Hash::of(b"")).is_err());
}

#[test]
fn a_run_that_has_not_begun_gives_the_place_to_the_next() {
    let test = hub(HubConfig { patience: short(), ..support::config(1) });
    drop(test.agent());
    match test.event() {
        Event::Left { agent: AgentId(0), why } => assert_eq!(why, "it left the run"),
        other => panic!("{other:?}"),
    }
    test.agent();
}

#[test]
fn an_agent_that_reports_faster_than_the_coordinator_takes_waits_and_stays() {
    let test = hub(HubConfig { patience: short(), ..support::config(1) });
    let agent = test.agent();
    test.hub.begin();
    const COUNT: u64 = 4_000;
    (0..COUNT).for_each(|number| agent.connection.reporter().report(&line(number)));
    // Tickets are kept: the hub stops reading, and does not take the silence for the agent's.
    let mut kept = Vec::new();
    while let Ok(event) = test.events.recv_timeout(short().silence * 2) {
        assert!(matches!(event, Event::Report { .. }), "{event:?}");
        kept.push(event);
    }
    assert_eq!(kept.len(), 1_024);
    kept.clear();
    for _ in kept.len() as u64 + 1_024..COUNT {
        test.report();
    }
}

#[test]
fn raw_samples_come_back_when_the_connection_is_behind() {
    let test = hub(support::config(1));
    let proxy = Proxy::to(test.hub.address);
    let agent = test.agent_at(proxy.address);
    test.hub.begin();
    proxy.hold(true);
    let reporter = agent.connection.reporter();
    let samples = |thread: u32| Box::new(ThreadSamples { thread, batch: SampleBatch::default() });
    let taken: Vec<u32> = (0..2_000).filter(|thread| reporter.offer(samples(*thread)).is_ok()).collect();
    // Some may have got through before the way was closed.
    assert!(taken.len() >= 256 && taken.len() < 2_000, "{}", taken.len());
    // What is not samples is kept all the same.
    reporter.report(&line(7));
    proxy.hold(false);
    for thread in taken {
        assert_eq!(test.report().1, Report::Samples(samples(thread)));
    }
    assert_eq!(test.report().1, line(7));
}

#[test]
fn what_is_too_large_is_an_error_that_names_it() {
    let test = hub(support::config(1));
    let agent = test.agent();
    test.hub.begin();
    agent.connection.reporter().report(&Report::Aborted { message: "x".repeat(3 << 20) });
    match test.report().1 {
        Report::Failed(failure) => {
            assert_eq!(failure.message, "cannot be reported: an agent sent a text of 3145728, the limit is 2097152")
        }
        other => panic!("{other:?}"),
    }
}
