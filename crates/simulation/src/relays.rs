//! Relays between agents and coordinator: which way an agent takes, and what comes over it.

use std::collections::BTreeMap;

use onrush_metrics::{Sink, builtin};
use onrush_session::{
    link::Frame,
    protocol::{Accepted, AgentId, Command, Relayed, Report, Time},
    relay::{Relay, Taken},
};

use crate::world::{HasNoted, Mistake, Packet, World};

/// What goes from and to a relay.
pub(crate) enum RelayPacket {
    /// From an agent.
    In(usize, usize, Frame<Report>),
    /// To the coordinator, over a connection that is known by its number.
    Up(usize, u64, Upward),
    /// From the coordinator, for an agent.
    Down(usize, u64, usize, Frame<Command>),
}

/// What a relay tells the coordinator.
pub(crate) enum Upward {
    Frame(usize, Frame<Report>),
    Sum(Box<Relayed>),
}

/// All relays of a run.
#[derive(Default)]
pub(crate) struct Relays {
    relays: Vec<SimRelay>,
    /// The relay that each agent reports over.
    ways: Vec<Option<usize>>,
    /// What the coordinator knows of the agents' metrics.
    accepted: BTreeMap<usize, Accepted>,
    /// Sums that counted, and the reports in them.
    pub(crate) sums: u64,
    pub(crate) parts: u64,
    /// Sums that did not count, because a part of them had come another way.
    pub(crate) refused: u64,
}

#[derive(Default)]
struct SimRelay {
    relay: Relay,
    /// Of its connection with the coordinator.
    connection: u64,
    was_there: bool,
}

impl Relays {
    pub(crate) fn new(relays: usize, agents: usize) -> Self {
        let relays = (0..relays).map(|_| SimRelay::default()).collect();
        Self { relays, ways: vec![None; agents], ..Self::default() }
    }

    /// One more agent, which takes the direct way at first.
    pub(crate) fn add_agent(&mut self) {
        self.ways.push(None);
    }

    /// The relay that an agent reports over.
    pub(crate) fn of(&self, number: usize) -> Option<usize> {
        self.ways.get(number).copied().flatten()
    }

    /// The coordinator has a report.
    pub(crate) fn note(&mut self, number: usize, report: &Report) {
        if let Report::Accepted(accepted) = report {
            self.accepted.insert(number, Accepted::clone(accepted));
        }
    }

    /// Another connection of a relay with the coordinator: it knows of nothing, and its agents join anew.
    fn reconnect(&mut self, relay: usize) {
        let own = &mut self.relays[relay];
        own.connection += 1;
        own.relay.restart();
        for number in (0..self.ways.len()).filter(|number| self.ways[*number] == Some(relay)) {
            own.relay.joined(id(number), self.accepted.get(&number));
        }
    }
}

impl World {
    /// Agents whose relay is gone take the direct way, and come back when it is there again.
    pub(crate) fn choose_ways(&mut self, now: Time) {
        for relay in 0..self.relays.relays.len() {
            let is_there = self.faults.has_relay(relay, now);
            let own = &mut self.relays.relays[relay];
            if !std::mem::replace(&mut own.was_there, is_there) && is_there {
                // The process is another one. What the one before had sent may still come.
                own.relay = Relay::default();
            }
        }
        for number in 0..self.hosts.len() {
            let way = self.faults.relay_of(number, now);
            let before = std::mem::replace(&mut self.relays.ways[number], way);
            if way == before {
                continue;
            }
            self.hosts[number].link.restart();
            self.down[number].restart();
            if let Some(relay) = before {
                self.relays.relays[relay].relay.left(id(number));
            }
            if let Some(relay) = way {
                let accepted = self.relays.accepted.get(&number);
                self.relays.relays[relay].relay.joined(id(number), accepted);
            }
        }
    }

    /// The coordinator is gone, and with it all connections.
    pub(crate) fn break_relays(&mut self) {
        (0..self.relays.relays.len()).for_each(|relay| self.relays.reconnect(relay));
    }

    /// Sends what relays have held for long enough.
    pub(crate) fn look_at_relays(&mut self, now: Time) {
        for relay in 0..self.relays.relays.len() {
            self.send_sum(relay, now);
        }
    }

    fn send_sum(&mut self, relay: usize, now: Time) {
        let own = &mut self.relays.relays[relay];
        let connection = own.connection;
        if self.faults.has_relay(relay, now)
            && let Some(sum) = own.relay.due(now)
        {
            self.stream(RelayPacket::Up(relay, connection, Upward::Sum(Box::new(sum))), now);
        }
    }

    /// What the coordinator has for an agent behind a relay.
    pub(crate) fn send_down(&mut self, relay: usize, number: usize, frame: Frame<Command>, now: Time) {
        let connection = self.relays.relays[relay].connection;
        self.stream(RelayPacket::Down(relay, connection, number, frame), now);
    }

    pub(crate) fn relay_packet(&mut self, packet: RelayPacket, now: Time) {
        match packet {
            RelayPacket::In(relay, number, frame) => {
                if !self.faults.has_relay(relay, now) || self.away.is_some() {
                    return;
                }
                let own = &mut self.relays.relays[relay];
                let numbers = (frame.number, frame.acknowledged);
                let connection = own.connection;
                if own.relay.take(id(number), numbers, frame.message.as_ref(), now) == Taken::Passes {
                    self.stream(RelayPacket::Up(relay, connection, Upward::Frame(number, frame)), now);
                }
                self.send_sum(relay, now);
            }
            RelayPacket::Down(relay, connection, number, frame) => {
                let own = &mut self.relays.relays[relay];
                if !self.faults.has_relay(relay, now) || own.connection != connection {
                    return;
                }
                own.relay.acknowledged(id(number), frame.acknowledged);
                if self.relays.of(number) == Some(relay) {
                    self.launch(false, number, || Packet::Down(number, frame.clone()), now);
                }
            }
            RelayPacket::Up(relay, connection, _) if self.relays.relays[relay].connection != connection => {}
            RelayPacket::Up(_, _, Upward::Frame(number, frame)) => self.arrive(number, frame, now),
            RelayPacket::Up(relay, _, Upward::Sum(sum)) => self.sum(relay, *sum, now),
        }
    }

    /// A sum reaches the coordinator: it counts as a whole or not at all.
    fn sum(&mut self, relay: usize, sum: Relayed, now: Time) {
        if self.away.is_some() {
            return;
        }
        if !self.may_count(&sum) && self.mistake.take_if(|mistake| *mistake == Mistake::CountedAgain).is_none() {
            self.relays.refused += 1;
            return self.relays.reconnect(relay);
        }
        let ends = self.ends(now);
        if ends == Some(HasNoted(false)) {
            return self.crash(now);
        }
        // Whatever comes after a part in its agent's order comes after the sum.
        let mut later = Vec::new();
        for part in &sum.parts {
            let number = part.agent.0 as usize;
            let numbers = self.hosts[number].arrived(None, part.thread);
            numbers.into_iter().for_each(|number| *self.counted.entry(number).or_default() += 1);
            let before = self.down[number].received();
            let frame = Frame { number: part.number, acknowledged: part.acknowledged, message: Some(Report::Ready) };
            let reports = self.down[number].receive(frame, now).into_iter().zip(before + 1..);
            let reports: Vec<_> = reports.filter(|(_, number)| *number != part.number).collect();
            later.push((number, part.number, reports));
        }
        let count = sum.sums.iter().flat_map(|sum| &sum.delta.series).filter(|of| of.metric == builtin::ITERATIONS);
        self.delivered += count.filter_map(|series| Sink::counter(&series.sink)).sum::<f64>() as u64;
        self.relays.sums += 1;
        self.relays.parts += sum.parts.len() as u64;
        let orders = self.coordinator.relayed(sum, now);
        if ends.is_some() {
            return self.crash(now);
        }
        self.send(orders, now);
        for (number, number_of_report, reports) in later {
            self.down[number].confirm(number_of_report);
            self.take(number, reports, now);
            if self.away.is_some() {
                return;
            }
        }
    }

    /// Each part of it is the next of its agent, and none is of an agent that is lost.
    fn may_count(&self, sum: &Relayed) -> bool {
        let mut by_agent: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        sum.parts.iter().for_each(|part| by_agent.entry(part.agent.0 as usize).or_default().push(part.number));
        by_agent
            .into_iter()
            .all(|(number, numbers)| !self.lost.contains_key(&number) && self.down[number].continues(numbers))
    }
}

fn id(number: usize) -> AgentId {
    AgentId(number as u32)
}
