//! A hub and agents in this process, with everything they say in queues.

use std::{
    net::SocketAddr,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use onrush_cluster::{
    Access, Capacity, Connection, Credential, Destination, Event, FromHub, Hub, HubConfig, Identity, JoinConfig,
    JoinError, Patience, Token,
};
use onrush_session::protocol::{AgentId, Command, Report};

/// A test that waits for longer has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const PROGRAM: &str = "1.2.3-test";

pub(crate) struct TestHub {
    pub(crate) hub: Hub,
    pub(crate) events: Receiver<Event>,
}

pub(crate) struct TestAgent {
    pub(crate) connection: Connection,
    pub(crate) from_hub: Receiver<FromHub>,
}

pub(crate) fn config(agents: u32) -> HubConfig {
    HubConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        access: Access::plain(Token::random(), None),
        agents,
        patience: Patience::default(),
        program: PROGRAM.to_owned(),
        has_journal: false,
    }
}

pub(crate) fn with_tls(agents: u32) -> HubConfig {
    let identity = Identity::made_now().expect("random numbers");
    HubConfig { access: Access::encrypted(Token::random(), None, identity), ..config(agents) }
}

pub(crate) fn hub(config: HubConfig) -> TestHub {
    let (sender, events) = channel();
    let hub = Hub::listen(config, move |event| {
        let _ = sender.send(event);
    });
    TestHub { hub: hub.expect("a free port"), events }
}

pub(crate) fn join_config(coordinator: SocketAddr, token: &Token) -> JoinConfig {
    JoinConfig { to: destination(coordinator, Credential::token(token)), ..agent_config() }
}

pub(crate) fn destination(coordinator: impl ToString, credential: Credential) -> Destination {
    Destination { coordinator: coordinator.to_string(), credential, run: None }
}

/// An agent that goes nowhere yet.
pub(crate) fn agent_config() -> JoinConfig {
    JoinConfig {
        to: destination("127.0.0.1:1", Credential::token(&Token::random())),
        name: "an agent".to_owned(),
        labels: [("zone".to_owned(), "here".to_owned())].into(),
        capacity: Capacity { cores: 1.5, memory_bytes: 1 << 30, files: 1_024 },
        child: None,
        program: PROGRAM.to_owned(),
        wait: Duration::ZERO,
    }
}

pub(crate) fn join(config: JoinConfig) -> Result<TestAgent, JoinError> {
    let (sender, from_hub) = channel();
    let connection = Connection::join(config, move |message| {
        let _ = sender.send(message);
    })?;
    Ok(TestAgent { connection, from_hub })
}

impl TestHub {
    pub(crate) fn token(&self) -> Token {
        self.hub.token().expect("it has one").clone()
    }

    pub(crate) fn agent(&self) -> TestAgent {
        self.agent_at(self.hub.address)
    }

    /// An agent that takes another way to the hub.
    pub(crate) fn agent_at(&self, address: SocketAddr) -> TestAgent {
        let agent = join(join_config(address, &self.token())).expect("it is let in");
        match self.event() {
            Event::Joined { agent: number, .. } => assert_eq!(number, agent.connection.agent),
            other => panic!("{other:?}"),
        }
        agent
    }

    /// What happens next, beside silence that is not a loss: a busy machine has its pauses.
    pub(crate) fn event(&self) -> Event {
        loop {
            match self.events.recv_timeout(PATIENCE).expect("something happens") {
                Event::Suspected { .. } | Event::Back { .. } => {}
                event => return event,
            }
        }
    }

    /// The next report, and whose it is.
    pub(crate) fn report(&self) -> (AgentId, Report) {
        match self.event() {
            Event::Report { from, report, .. } => (from, report),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn lost(&self) -> (AgentId, String) {
        loop {
            match self.event() {
                Event::Lost { agent, why, .. } => return (agent, why),
                Event::Report { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

impl TestAgent {
    pub(crate) fn next(&self) -> FromHub {
        self.from_hub.recv_timeout(PATIENCE).expect("something comes")
    }

    pub(crate) fn command(&self) -> Command {
        match self.next() {
            FromHub::Command(command) => command,
            FromHub::Gone { why } => panic!("{why}"),
        }
    }

    pub(crate) fn gone(&self) -> String {
        match self.next() {
            FromHub::Gone { why } => why,
            FromHub::Command(command) => panic!("{command:?}"),
        }
    }
}

/// A report that can be told from others.
pub(crate) fn line(number: u64) -> Report {
    Report::Aborted { message: number.to_string() }
}
