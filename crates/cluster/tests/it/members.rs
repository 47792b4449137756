//! Coordinators and agents that know each other by certificates of one authority: who is let in, and what others are told.

use std::{path::Path, time::Duration};

use onrush_certificates::{Authority, Member, Role};
use onrush_cluster::{Access, Credential, Event, HubConfig, JoinConfig};
use onrush_fiber::Clock;
use tempfile::TempDir;

use crate::support::{self, TestHub, agent_config, destination, hub, join};

/// An authority whose members are valid from so many days ago, for a year.
struct Cluster(TempDir);

fn now() -> Duration {
    Duration::from_nanos(u64::try_from(Clock::unix_nanos(Clock::now())).expect("after 1970"))
}

fn days(days: u32) -> Duration {
    Duration::from_secs(24 * 3_600) * days
}

impl Cluster {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let authority = Authority::init(dir.path(), now() - days(800)).expect("a new one");
        let here = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let add = |name: &str, role, hosts: &[String], since| {
            authority.add(name, role, hosts, since, 365).expect("a new member");
        };
        add("host", Role::Coordinator, &here, now());
        add("elsewhere", Role::Coordinator, &["elsewhere".to_owned()], now());
        add("old-host", Role::Coordinator, &here, now() - days(400));
        add("load", Role::Agent, &[], now());
        add("old-load", Role::Agent, &[], now() - days(400));
        add("ann", Role::User, &[], now());
        Self(dir)
    }

    fn member(&self, name: &str) -> Member {
        Member::read(&self.0.path().join(Path::new(name))).expect("it was issued")
    }

    fn hub(&self, name: &str) -> TestHub {
        let access = Access::members(&self.member(name)).expect("a certificate and its key");
        hub(HubConfig { access, ..support::config(1) })
    }

    /// An agent that would wait for ever, if that could help.
    fn agent(&self, name: &str, test: &TestHub) -> JoinConfig {
        let credential = Credential::member(&self.member(name)).expect("a certificate and its key");
        JoinConfig { to: destination(test.hub.address, credential), wait: Duration::MAX, ..agent_config() }
    }
}

/// What an agent is told, and what the coordinator is.
fn refused(test: &TestHub, config: JoinConfig, agent: &str, coordinator: Option<&str>) {
    let told = join(config).err().expect("it is refused").to_string();
    assert!(told.contains(agent), "the agent is told: {told}");
    if let Some(expect) = coordinator {
        let Event::Refused { why, .. } = test.event() else { panic!("somebody was refused") };
        assert!(why.contains(expect), "the coordinator is told: {why}");
    }
}

#[test]
fn members_of_one_authority_find_each_other() {
    let cluster = Cluster::new();
    let test = cluster.hub("host");
    assert!(test.hub.token().is_none());
    let agent = join(cluster.agent("load", &test)).expect("it is let in");
    assert!(matches!(test.event(), Event::Joined { agent: number, .. } if number == agent.connection.agent));
    test.hub.begin();
    agent.connection.reporter().report(&support::line(1));
    assert_eq!(test.report().1, support::line(1));
}

#[test]
fn another_authority() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    let test = cluster.hub("host");
    let agent = "the coordinator's certificate was issued by another authority";
    refused(&test, other.agent("load", &test), agent, Some("it refuses this coordinator's certificate"));
}

#[test]
fn certificates_that_have_expired() {
    let cluster = Cluster::new();
    let test = cluster.hub("host");
    let agent = "the coordinator refuses this certificate: it has expired: renew it";
    refused(&test, cluster.agent("old-load", &test), agent, Some("its certificate expired on 20"));
    let test = cluster.hub("old-host");
    let agent = "the coordinator's certificate expired on 20";
    refused(&test, cluster.agent("load", &test), agent, Some("it has expired"));
}

#[test]
fn a_coordinator_by_another_name() {
    let cluster = Cluster::new();
    let test = cluster.hub("elsewhere");
    let agent = "the coordinator's certificate is not for \"127.0.0.1\" but for elsewhere";
    refused(&test, cluster.agent("load", &test), agent, None);
}

#[test]
fn roles_are_not_interchangeable() {
    let cluster = Cluster::new();
    let test = cluster.hub("host");
    let user = "a user's credential does not let an agent in";
    refused(&test, cluster.agent("ann", &test), user, Some(user));
    // A coordinator's certificate is none of somebody who dials, and the other way round.
    refused(&test, cluster.agent("host", &test), "the coordinator refuses this certificate", Some("another purpose"));
    let false_host = cluster.hub("load");
    refused(
        &false_host,
        cluster.agent("load", &false_host),
        "the coordinator's certificate is for another purpose",
        None,
    );
}
