//! The places of a run's agents: who has which, what is under way to and from them, when they were heard last.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use onrush_session::{
    link::{Frame, Link},
    protocol::{Accepted, AgentId, Command, Relayed, Time},
};
use tokio::sync::{Mutex as TurnMutex, Notify, Semaphore, watch};

use super::{Event, Seat, Session};
use crate::{Patience, content::Contents, convert, pulse::Pulse, token};

pub(crate) struct State {
    places: BTreeMap<AgentId, Place>,
    agents: u32,
    patience: Patience,
    pub(super) contents: Contents,
    pub(super) has_begun: bool,
    /// Why nobody may join any more; `None` where agents may that were not there from the start.
    pub(super) full: Option<String>,
    has_journal: bool,
    looked_at: Time,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

/// Reports of one agent that wait to be dealt with.
const REPORTS_MAX: usize = 1_024;
/// A hub that did not look for so long was not there itself: the silence was its own.
const OWN_GAP_MAX: Duration = Duration::from_secs(1);

struct Place {
    session: Session,
    link: Link<Bytes, Bytes>,
    heard_at: Time,
    /// Of its connection.
    pulse: Pulse,
    /// When it was heard last, if people were told that it is silent since.
    suspected_since: Option<Time>,
    /// Its reports wait for the coordinator, so its silence is ours.
    is_held_up: bool,
    /// Why its last connection broke.
    broke: Option<String>,
    /// What it was told last is that the run is over.
    is_stopping: bool,
    is_lost: bool,
    /// What it said of its metrics: a relay must know.
    accepted: Option<Arc<Accepted>>,
    connection: Connection,
}

impl Place {
    fn new(session: Session, link: Link<Bytes, Bytes>, connection: Connection, now: Time) -> Self {
        Self {
            session,
            link,
            heard_at: now,
            pulse: Pulse::default(),
            suspected_since: None,
            is_held_up: false,
            broke: None,
            is_stopping: false,
            is_lost: false,
            accepted: None,
            connection,
        }
    }
}

/// What the tasks of a connection need of their place.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) agent: AgentId,
    /// Which of the agent's connections it is.
    number: u64,
    newest: watch::Sender<u64>,
    /// There is something to send.
    pub(crate) wake: Arc<Notify>,
    /// Whose turn it is to hand on reports: what an old connection took from the link comes first.
    pub(crate) turn: Arc<TurnMutex<()>>,
    pub(crate) reports: Arc<Semaphore>,
}

impl Connection {
    fn new(agent: AgentId) -> Self {
        Self {
            agent,
            number: 1,
            newest: watch::Sender::new(1),
            wake: Arc::default(),
            turn: Arc::default(),
            reports: Arc::new(Semaphore::new(REPORTS_MAX)),
        }
    }

    /// The agent has said farewell.
    pub(crate) fn end(&self) {
        self.newest.send_replace(u64::MAX);
    }

    /// Until the agent has another connection, or wants none any more.
    pub(crate) async fn replaced(&self) {
        let mut newest = self.newest.subscribe();
        // The sender is ours, so it does not go away.
        let _ = newest.wait_for(|newest| *newest != self.number).await;
    }
}

impl State {
    pub(super) fn new(agents: u32, patience: Patience, has_journal: bool, now: Time) -> Self {
        Self {
            places: BTreeMap::new(),
            agents,
            patience,
            contents: Contents::default(),
            has_begun: false,
            full: Some(format!("the run has all of its {agents} agents")),
            has_journal,
            looked_at: now,
        }
    }

    /// Gives an agent of a run that goes on the place it had.
    pub(super) fn resume(&mut self, seat: Seat, now: Time) {
        let commands = seat.commands.iter().map(convert::encode_command);
        let link = self.link(now, |link| link.resumed(seat.reports, commands));
        let mut place = Place::new(seat.session, link, Connection::new(seat.agent), now);
        place.is_lost = seat.is_lost;
        place.is_stopping = seat.commands.last() == Some(&Command::Stop);
        place.broke = Some("the coordinator was restarted".to_owned());
        self.places.insert(seat.agent, place);
    }

    fn link(&self, now: Time, begun: impl FnOnce(Link<Bytes, Bytes>) -> Link<Bytes, Bytes>) -> Link<Bytes, Bytes> {
        let link = begun(Link::over_stream(now));
        if self.has_journal { link.confirming() } else { link }
    }

    /// Gives a new agent a place: that of its number among the processes the coordinator started, a free one, or one more.
    ///
    /// # Errors
    /// Why it cannot take part.
    pub(super) fn join(&mut self, child: Option<u32>, now: Time) -> Result<(Session, Connection), String> {
        let is_free = |number: &u32| !self.places.contains_key(&AgentId(*number));
        let number = match child {
            Some(number) if number < self.agents => Some(number).filter(is_free),
            Some(_) => None,
            None if self.has_begun => None,
            None => (0..self.agents).find(is_free),
        };
        let number = match (number, &self.full) {
            (Some(number), _) => number,
            (None, Some(why)) => return Err(why.clone()),
            (None, None) => self.next_number(),
        };
        let agent = AgentId(number);
        let connection = Connection::new(agent);
        let session = Session(token::random());
        let link = self.link(now, |link| link);
        self.places.insert(agent, Place::new(session, link, connection.clone(), now));
        Ok((session, connection))
    }

    /// The number of an agent that was not there from the start.
    fn next_number(&self) -> u32 {
        let last = self.places.last_key_value().map_or(0, |(AgentId(last), _)| last.saturating_add(1));
        last.max(self.agents)
    }

    /// An agent whose connection broke is back.
    ///
    /// # Errors
    /// Why it cannot go on.
    pub(super) fn rejoin(&mut self, session: &[u8], now: Time) -> Result<(Session, Connection), String> {
        let place = self.places.values_mut().find(|place| place.session.0 == session);
        let place = place.ok_or("the run this agent took part in is over")?;
        if place.is_lost {
            return Err(format!(
                "the run goes on without this agent: it said nothing for more than {} s",
                self.patience.silence.as_secs_f64()
            ));
        }
        place.link.restart();
        place.heard_at = now;
        place.broke = None;
        place.connection.number += 1;
        place.connection.newest.send_replace(place.connection.number);
        Ok((place.session, place.connection.clone()))
    }

    /// Bytes of the connection are signs of life from now on.
    pub(super) fn feel(&mut self, connection: &Connection, pulse: Pulse) {
        if let Some(place) = self.places.get_mut(&connection.agent) {
            place.pulse = pulse;
        }
    }

    /// What is to go over a connection now; `None` when it is no more the agent's.
    pub(super) fn frames(&mut self, connection: &Connection, now: Time) -> Option<Vec<Frame<Bytes>>> {
        let place = self.places.get_mut(&connection.agent)?;
        (place.connection.number == connection.number).then(|| place.link.frames(now))
    }

    /// Takes what came over a connection; returns the messages whose turn it is, with their numbers.
    pub(super) fn receive(&mut self, connection: &Connection, frame: Frame<Bytes>, now: Time) -> Vec<(u64, Bytes)> {
        let Some(place) = self.places.get_mut(&connection.agent) else { return Vec::new() };
        if place.connection.number != connection.number {
            return Vec::new();
        }
        place.heard_at = now;
        let before = place.link.received();
        let messages = place.link.receive(frame, now);
        if !messages.is_empty() {
            place.connection.wake.notify_one();
        }
        (before + 1..).zip(messages).collect()
    }

    /// Takes what a relay added up of agents that came over it, as a whole or not at all: where a part of it came another way, or
    /// an agent is lost. Returns what comes after it of its agents, with their numbers.
    ///
    /// # Errors
    /// Why it does not count.
    pub(super) fn receive_sum(
        &mut self,
        relayed: &Relayed,
        connections: &BTreeMap<AgentId, Connection>,
        now: Time,
    ) -> Result<Vec<(Connection, u64, Bytes)>, String> {
        let mut numbers: BTreeMap<AgentId, Vec<u64>> = BTreeMap::new();
        relayed.parts.iter().for_each(|part| numbers.entry(part.agent).or_default().push(part.number));
        for (agent, numbers) in numbers {
            let place = self.places.get(&agent).filter(|place| !place.is_lost && connections.contains_key(&agent));
            let place = place.ok_or_else(|| format!("agent {} is none of this relay's", agent.0))?;
            if !place.link.continues(numbers) {
                return Err(format!("a report of agent {} in it came another way", agent.0));
            }
        }
        let mut later = Vec::new();
        for part in &relayed.parts {
            let (Some(place), Some(connection)) = (self.places.get_mut(&part.agent), connections.get(&part.agent))
            else {
                continue;
            };
            place.heard_at = now;
            // Nobody reads it: what it stands for is in the sum.
            let frame = Frame { number: part.number, acknowledged: part.acknowledged, message: Some(Bytes::new()) };
            let messages = place.link.receive(frame, now).into_iter().zip(part.number..).skip(1);
            later.extend(messages.map(|(message, number)| (connection.clone(), number, message)));
            place.connection.wake.notify_one();
        }
        Ok(later)
    }

    /// Notes what an agent said of its metrics.
    pub(super) fn accepted(&mut self, agent: AgentId, accepted: &Accepted) {
        // Agents of a run say the same, mostly.
        let same = self.places.values().filter_map(|place| place.accepted.as_ref()).next();
        let known = same.filter(|same| ***same == *accepted).cloned();
        if let Some(place) = self.places.get_mut(&agent) {
            place.accepted = Some(known.unwrap_or_else(|| Arc::new(accepted.clone())));
        }
    }

    /// What an agent said of its metrics, if it has.
    pub(super) fn accepted_by(&self, agent: AgentId) -> Option<Arc<Accepted>> {
        self.places.get(&agent)?.accepted.clone()
    }

    /// A report was dealt with.
    pub(super) fn confirm(&mut self, agent: AgentId, number: u64) {
        if let Some(place) = self.places.get_mut(&agent) {
            place.link.confirm(number);
            place.connection.wake.notify_one();
        }
    }

    /// A sign of life that is no message.
    pub(super) fn hear(&mut self, connection: &Connection, now: Time) {
        self.hold_up(connection, false, now);
    }

    /// The agent's reports wait for the coordinator, or no longer.
    pub(super) fn hold_up(&mut self, connection: &Connection, is_held_up: bool, now: Time) {
        if let Some(place) = self.places.get_mut(&connection.agent) {
            place.is_held_up = is_held_up;
            place.heard_at = now;
        }
    }

    /// A connection broke.
    pub(super) fn broke(&mut self, connection: &Connection, why: String) {
        if let Some(place) = self.places.get_mut(&connection.agent)
            && place.connection.number == connection.number
        {
            place.broke = Some(why);
        }
    }

    pub(super) fn send(&mut self, agent: AgentId, message: Bytes, is_last: bool) {
        if let Some(place) = self.places.get_mut(&agent) {
            place.link.send(message);
            place.is_stopping |= is_last;
            place.connection.wake.notify_one();
        }
    }

    /// Gives up an agent; `may_run`: nobody knows whether it still makes load.
    pub(super) fn lose(&mut self, agent: AgentId, why: &str, may_run: bool) -> Option<Event> {
        if !self.has_begun {
            self.places.remove(&agent)?;
            return Some(Event::Left { agent, why: why.to_owned() });
        }
        let place = self.places.get_mut(&agent).filter(|place| !place.is_lost && !place.is_stopping)?;
        place.is_lost = true;
        Some(Event::Lost { agent, why: why.to_owned(), may_run })
    }

    /// Finds out who is silent.
    pub(super) fn look(&mut self, now: Time) -> Vec<Event> {
        let gap = now.since(std::mem::replace(&mut self.looked_at, now));
        if gap > OWN_GAP_MAX {
            self.places.values_mut().for_each(|place| place.heard_at = now);
        }
        for place in self.places.values_mut() {
            place.heard_at = place.heard_at.max(place.pulse.last());
        }
        let mut events = self.suspect(now);
        let silence = self.patience.silence;
        let silent = self.places.iter().filter(|(_, place)| {
            !place.is_lost && !place.is_stopping && !place.is_held_up && now.since(place.heard_at) > silence
        });
        let silent: Vec<(AgentId, String)> = silent
            .map(|(agent, place)| {
                let seconds = silence.as_secs_f64();
                let why = match &place.broke {
                    Some(why) => format!("its connection broke ({why}) and it was not back within {seconds} s"),
                    None => format!("it said nothing for {seconds} s"),
                };
                (*agent, why)
            })
            .collect();
        events.extend(silent.into_iter().filter_map(|(agent, why)| self.lose(agent, &why, true)));
        events
    }

    /// Finds out of whom nothing was heard for a while, and who is back.
    fn suspect(&mut self, now: Time) -> Vec<Event> {
        let mut events = Vec::new();
        let is_watched = |place: &Place| !place.is_lost && !place.is_stopping && !place.is_held_up;
        let places = self.places.iter_mut().filter(|(_, place)| self.has_begun && is_watched(place));
        for (agent, place) in places {
            let silent = now.since(place.heard_at);
            match place.suspected_since {
                None if silent > self.patience.suspect => {
                    place.suspected_since = Some(place.heard_at);
                    events.push(Event::Suspected { agent: *agent, silent });
                }
                Some(since) if silent <= self.patience.suspect => {
                    place.suspected_since = None;
                    events.push(Event::Back { agent: *agent, silent: place.heard_at.since(since) });
                }
                _ => {}
            }
        }
        events
    }

    /// Whether somebody who is there lacks something he was sent.
    pub(super) fn has_unsent(&self) -> bool {
        let lacks = |place: &Place| !place.is_lost && place.broke.is_none() && place.link.waiting() > 0;
        self.places.values().any(lacks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    fn state(agents: u32) -> State {
        State::new(agents, Patience::default(), false, at(0))
    }

    /// Looks every 100 ms, as the hub does.
    fn look_until(state: &mut State, from: u64, to: u64) -> Vec<(u64, String)> {
        let mut lost = Vec::new();
        for ms in (from..=to).step_by(100) {
            for event in state.look(at(ms)) {
                match event {
                    Event::Lost { why, .. } | Event::Left { why, .. } => lost.push((ms, why)),
                    Event::Suspected { .. } | Event::Back { .. } => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        lost
    }

    #[test]
    fn places_are_given_once() {
        let mut state = state(3);
        assert_eq!(state.join(Some(2), at(0)).expect("free").1.agent, AgentId(2));
        assert_eq!(state.join(None, at(0)).expect("free").1.agent, AgentId(0));
        assert!(state.join(Some(2), at(0)).is_err() && state.join(Some(3), at(0)).is_err());
        assert_eq!(state.join(None, at(0)).expect("free").1.agent, AgentId(1));
        assert_eq!(state.join(None, at(0)).err().as_deref(), Some("the run has all of its 3 agents"));
        // Before the run begins a place can be had again.
        assert!(matches!(state.lose(AgentId(1), "gone", false), Some(Event::Left { agent: AgentId(1), .. })));
        assert_eq!(state.join(None, at(0)).expect("free").1.agent, AgentId(1));
    }

    #[test]
    fn agents_join_a_run_under_way_where_it_lets_them() {
        let mut state = state(2);
        (0..2).for_each(|_| _ = state.join(None, at(0)).expect("free"));
        state.has_begun = true;
        assert_eq!(state.join(None, at(1)).err().as_deref(), Some("the run has all of its 2 agents"));
        state.full = None;
        assert_eq!(state.join(None, at(1)).expect("one more").1.agent, AgentId(2));
        assert!(matches!(state.lose(AgentId(2), "gone", false), Some(Event::Lost { agent: AgentId(2), .. })));
        assert_eq!(state.join(None, at(2)).expect("one more").1.agent, AgentId(3), "a number is not given twice");
        state.full = Some("it is over".to_owned());
        assert_eq!(state.join(None, at(3)).err().as_deref(), Some("it is over"));
    }

    #[test]
    fn who_is_silent_is_lost_once_and_does_not_come_back() {
        let mut state = state(2);
        let (session, first) = state.join(None, at(0)).expect("free");
        state.has_begun = true;
        let heartbeat = || Frame { number: 0, acknowledged: 0, message: None };
        state.receive(&first, heartbeat(), at(1_000));
        assert_eq!(look_until(&mut state, 100, 10_000), [(4_100, "it said nothing for 3 s".to_owned())]);
        let error = state.rejoin(&session.0, at(10_000)).err().expect("lost");
        assert!(error.contains("the run goes on without this agent"), "{error}");
        assert!(state.rejoin(b"nobody", at(0)).is_err());
    }

    #[test]
    fn silence_is_told_before_it_is_a_loss() {
        let mut state = state(1);
        let (_, connection) = state.join(None, at(0)).expect("free");
        assert!(state.look(at(900)).is_empty());
        state.has_begun = true;
        let mut told = Vec::new();
        for ms in (1_000..=6_000).step_by(100) {
            if ms == 2_500 {
                state.receive(&connection, Frame { number: 0, acknowledged: 0, message: None }, at(2_450));
            }
            told.extend(state.look(at(ms)).into_iter().map(|event| match event {
                Event::Suspected { agent: AgentId(0), silent } => (ms, "suspected", silent.as_millis()),
                Event::Back { agent: AgentId(0), silent } => (ms, "back", silent.as_millis()),
                Event::Lost { agent: AgentId(0), may_run: true, .. } => (ms, "lost", 0),
                other => panic!("{other:?}"),
            }));
        }
        let expected =
            [(1_100, "suspected", 1_100), (2_500, "back", 2_450), (3_500, "suspected", 1_050), (5_500, "lost", 0)];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_broken_connection_can_be_made_again() {
        let mut state = state(1);
        let (session, first) = state.join(None, at(0)).expect("free");
        state.has_begun = true;
        state.send(AgentId(0), Bytes::from_static(b"a"), false);
        assert_eq!(state.frames(&first, at(1)).map(|frames| frames.len()), Some(1));
        state.broke(&first, "reset".to_owned());
        let (_, second) = state.rejoin(&session.0, at(2_000)).expect("it is back");
        // The old one has nothing to say any more, the new one sends again.
        assert!(state.frames(&first, at(2_001)).is_none());
        assert!(
            state
                .receive(&first, Frame { number: 1, acknowledged: 0, message: Some(Bytes::new()) }, at(2_001))
                .is_empty()
        );
        assert_eq!(state.frames(&second, at(2_001)).map(|frames| frames.len()), Some(1));
        state.broke(&second, "reset by peer".to_owned());
        let lost = look_until(&mut state, 100, 9_000);
        assert_eq!(lost, [(5_100, "its connection broke (reset by peer) and it was not back within 3 s".to_owned())]);
    }

    #[test]
    fn silence_that_is_our_own_costs_nobody_his_place() {
        let mut state = state(1);
        let (_, connection) = state.join(None, at(0)).expect("free");
        state.has_begun = true;
        // The coordinator's process was stopped for a minute.
        assert!(state.look(at(60_000)).is_empty());
        // What it reports waits for the coordinator.
        state.hold_up(&connection, true, at(60_100));
        assert!(look_until(&mut state, 60_200, 90_000).is_empty());
        state.hold_up(&connection, false, at(90_000));
        assert_eq!(look_until(&mut state, 90_100, 99_000).len(), 1);
    }
}
