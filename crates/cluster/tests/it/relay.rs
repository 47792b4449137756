//! Agents behind a relay: their coordinator knows each of them, and gets what they measured in one piece, once.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use onrush_cluster::{Access, Credential, Event, HubConfig, Identity, Relay, RelayConfig, RelayEvent, Token};
use onrush_metrics::{Delta, ExactSum, Registry, Sink, Span, TagPairs, builtin};
use onrush_session::protocol::{Accepted, AgentId, Command, MetricName, Report, ThreadDelta, VERSION};

use crate::support::{self, PATIENCE, PROGRAM, TestAgent, TestHub, hub, join, join_config, line};

struct TestRelay {
    relay: Relay,
    events: Receiver<RelayEvent>,
}

/// A relay to a hub that lets in whoever it is told to, and is connected.
fn relay(test: &TestHub, listen: SocketAddr, access: Access) -> TestRelay {
    let (sender, events) = channel();
    let to = support::destination(test.hub.address, Credential::token(&test.token()));
    let config = RelayConfig { listen, access, to, name: "a relay".to_owned(), program: PROGRAM.to_owned() };
    let relay = Relay::listen(config, move |event| drop(sender.send(event))).expect("a free port");
    let test = TestRelay { relay, events };
    assert!(matches!(test.event(), RelayEvent::Connected));
    test
}

fn anywhere() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

impl TestRelay {
    fn event(&self) -> RelayEvent {
        self.events.recv_timeout(PATIENCE).expect("something happens")
    }

    fn agents(&self, test: &TestHub, count: usize) -> Vec<TestAgent> {
        let token = self.relay.token().expect("it has one").clone();
        let agents = (0..count).map(|_| {
            let agent = join(join_config(self.relay.address, &token)).expect("it is let in");
            assert!(matches!(test.event(), Event::Joined { agent: number, .. } if number == agent.connection.agent));
            agent
        });
        agents.collect()
    }
}

fn accepted() -> Report {
    let metric = |metric: &onrush_metrics::Metric| MetricName {
        name: metric.name.to_string(),
        kind: metric.kind,
        contains: metric.contains,
    };
    let metrics = Registry::new().iter().map(metric).collect();
    Report::Accepted(Box::new(Accepted { version: VERSION, metrics, scenarios: Vec::new(), threads: 1 }))
}

fn delta(second: u64, requests: u32) -> Report {
    let mut sum = ExactSum::default();
    sum.add(f64::from(requests));
    let mut delta = Delta::default();
    delta.push(builtin::HTTP_REQS, TagPairs::default(), Sink::Counter { sum });
    let span = Some(Span { from_ns: (second - 1) * 1_000_000_000, until_ns: second * 1_000_000_000 });
    Report::Delta(Box::new(ThreadDelta { thread: 0, span, delta, ended: vec![] }))
}

/// Requests of all agents, and in how many messages they came, until so many deltas have come.
fn collect(test: &TestHub, deltas: usize) -> (f64, usize) {
    let (mut requests, mut messages, mut came) = (0.0, 0, 0);
    let count = |delta: &Delta| delta.series.iter().filter_map(|series| series.sink.counter()).sum::<f64>();
    while came < deltas {
        match test.event() {
            Event::Relayed { relayed, tickets } => {
                assert_eq!(tickets.len(), relayed.parts.len());
                came += relayed.parts.len();
                requests += relayed.sums.iter().map(|sum| count(&sum.delta)).sum::<f64>();
            }
            Event::Report { report: Report::Delta(part), .. } => {
                came += 1;
                requests += count(&part.delta);
            }
            other => panic!("{other:?}"),
        }
        messages += 1;
    }
    assert_eq!(came, deltas);
    (requests, messages)
}

fn talk(config: HubConfig, access: Access) {
    let test = hub(config);
    let content: Arc<[u8]> = vec![7; 1 << 20].into();
    let hash = test.hub.offer(content.clone());
    let relay = relay(&test, anywhere(), access);
    let agents = relay.agents(&test, 3);
    test.hub.begin();
    for (agent, number) in agents.iter().zip(0..) {
        assert_eq!(agent.connection.agent, AgentId(number));
        assert_eq!(agent.connection.fetch(hash).as_deref(), Ok(&*content));
        test.hub.send(AgentId(number), &Command::Summary(number.to_string()));
        assert_eq!(agent.command(), Command::Summary(number.to_string()));
        agent.connection.reporter().report(&accepted());
        assert_eq!(test.report(), (AgentId(number), accepted()));
    }
    for agent in &agents {
        agent.connection.reporter().report(&delta(1, 10));
        agent.connection.reporter().report(&line(u64::from(agent.connection.agent.0)));
    }
    // What comes after a delta comes after the sum that it is in.
    assert_eq!(collect(&test, 3), (30.0, 1));
    let mut lines: Vec<_> = (0..3).map(|_| test.report()).collect();
    lines.sort_by_key(|(from, _)| *from);
    assert_eq!(lines, (0..3).map(|number| (AgentId(number), line(u64::from(number)))).collect::<Vec<_>>());
    // The coordinator's acknowledgement reaches them.
    agents.iter().for_each(|agent| agent.connection.settle(PATIENCE));
    let mut agents = agents.into_iter();
    drop(agents.next());
    assert_eq!(test.lost(), (AgentId(0), "it left the run".to_owned()));
}

#[test]
fn a_coordinator_knows_each_agent_and_gets_one_delta_of_all() {
    talk(support::config(3), Access::plain(Token::random(), None));
    let identity = Identity::made_now().expect("random numbers");
    talk(support::with_tls(3), Access::encrypted(Token::random(), None, identity));
}

#[test]
fn a_relay_that_is_restarted_loses_nothing_and_adds_nothing_twice() {
    let test = hub(support::config(3));
    let access = Access::plain(Token::random(), None);
    let mut first = relay(&test, anywhere(), access.clone());
    let address = first.relay.address;
    let agents = first.agents(&test, 3);
    test.hub.begin();
    for agent in &agents {
        agent.connection.reporter().report(&accepted());
        test.report();
    }
    const ROUNDS: u64 = 4;
    for round in 0..ROUNDS {
        let report =
            |second: u64| agents.iter().for_each(|agent| agent.connection.reporter().report(&delta(second, 1)));
        report(2 * round + 1);
        // It ends with deltas that nobody has acknowledged: held, under way, or counted already.
        std::thread::sleep(Duration::from_millis(2 * round));
        drop(first);
        report(2 * round + 2);
        first = relay(&test, address, access.clone());
        let (requests, _) = collect(&test, 6);
        assert!((requests - 6.0).abs() < f64::EPSILON, "{requests} in round {round}");
    }
    // Whoever was not told the agents' metrics knows them all the same.
    agents.iter().for_each(|agent| agent.connection.settle(PATIENCE));
    agents.iter().for_each(|agent| agent.connection.reporter().report(&delta(100, 1)));
    let (requests, messages) = collect(&test, 3);
    assert!((requests - 3.0).abs() < f64::EPSILON && messages < 3, "{requests} in {messages} messages");
}

#[test]
fn strangers_are_refused_and_the_coordinator_says_who_is_too_many() {
    let test = hub(support::config(1));
    let relay = relay(&test, anywhere(), Access::plain(Token::random(), None));
    let error = join(join_config(relay.relay.address, &Token::random())).err().expect("a wrong token").to_string();
    assert!(error.contains("the token is wrong"), "{error}");
    assert!(matches!(relay.event(), RelayEvent::Refused { .. }));
    let _agents = relay.agents(&test, 1);
    let token = relay.relay.token().expect("it has one").clone();
    let error = join(join_config(relay.relay.address, &token)).err().expect("one too many").to_string();
    assert!(error.contains("the run has all of its 1 agents"), "{error}");
}
