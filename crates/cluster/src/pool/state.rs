//! Who is there and what is to be run: agents that wait, runs that wait for them, and which gets which.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Duration,
};

use onrush_session::protocol::Time;

use super::{RunOrder, RunRequest, log::RunLog};
use crate::{Capacity, agents_text};

/// All agents and runs.
pub(super) struct State {
    members: BTreeMap<u64, Member>,
    pub(super) runs: BTreeMap<u64, Run>,
    last_member: u64,
    last_run: u64,
    /// Tests that are on their way here.
    arriving: usize,
    runs_waiting_max: usize,
    runs_kept_max: usize,
}

/// An agent that stays.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) capacity: Capacity,
    pub(super) job: Job,
    heard_at: Time,
}

/// What an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    /// It waits.
    Free,
    /// It is kept for a run that is about to begin.
    Reserved(u64),
    /// It was told to take part; what it says of itself may be older.
    Told(u64),
    /// It takes part.
    Busy(u64),
}

impl Job {
    /// The run it is about.
    pub(super) fn run(self) -> Option<u64> {
        match self {
            Self::Free => None,
            Self::Reserved(run) | Self::Told(run) | Self::Busy(run) => Some(run),
        }
    }
}

/// A run, from its submission until it is forgotten.
pub(super) struct Run {
    pub(super) request: RunRequest,
    pub(super) phase: Phase,
    pub(super) since: Time,
    pub(super) log: RunLog,
    /// Where its coordinator takes agents and questions.
    pub(super) place: Option<Place>,
}

/// Where the coordinator of a run is.
#[derive(Debug, Clone)]
pub struct Place {
    /// For agents.
    pub hub: SocketAddr,
    /// What lets them in.
    pub secret: String,
    /// Its REST API, and the token for it.
    pub api: Option<(SocketAddr, String)>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its agents are not free yet.
    Waiting {
        until: Time,
    },
    /// Its coordinator has been started.
    Starting,
    Running,
    Ended {
        code: u8,
    },
}

impl Phase {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Waiting { .. } => "waiting",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Ended { .. } => "ended",
        }
    }
}

/// An agent says nothing for so long: it is gone.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

impl State {
    pub(super) fn new(runs_waiting_max: usize, runs_kept_max: usize) -> Self {
        Self {
            members: BTreeMap::new(),
            runs: BTreeMap::new(),
            last_member: 0,
            last_run: 0,
            arriving: 0,
            runs_waiting_max,
            runs_kept_max,
        }
    }

    /// An agent that wants to stay; with the run it still has a part in, where it comes back.
    pub(super) fn join(
        &mut self,
        name: String,
        labels: BTreeMap<String, String>,
        capacity: Capacity,
        run: Option<u64>,
        now: Time,
    ) -> u64 {
        self.last_member += 1;
        let number = self.last_member;
        let job = run.map_or(Job::Free, Job::Busy);
        self.members.insert(number, Member { name, labels, capacity, job, heard_at: now });
        number
    }

    /// What an agent says of itself. Returns whether it has become free.
    pub(super) fn hear(&mut self, member: u64, run: Option<u64>, now: Time) -> bool {
        let Some(member) = self.members.get_mut(&member) else { return false };
        member.heard_at = now;
        match (member.job, run) {
            (_, Some(run)) => member.job = Job::Busy(run),
            (Job::Busy(_), None) => {
                member.job = Job::Free;
                return true;
            }
            // It may not have heard of its run yet.
            (Job::Free | Job::Reserved(_) | Job::Told(_), None) => {}
        }
        false
    }

    pub(super) fn leave(&mut self, member: u64) -> Option<Member> {
        self.members.remove(&member)
    }

    /// Agents that have said nothing for too long.
    pub(super) fn silent(&mut self, now: Time) -> Vec<Member> {
        let gone: Vec<u64> = self
            .members
            .iter()
            .filter(|(_, member)| now.since(member.heard_at) > SILENCE)
            .map(|(number, _)| *number)
            .collect();
        gone.into_iter().filter_map(|number| self.members.remove(&number)).collect()
    }

    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.values()
    }

    /// A run is about to come: gives it a number.
    ///
    /// # Errors
    /// Why it may not.
    pub(super) fn announce(&mut self) -> Result<u64, String> {
        let waiting = self.runs.values().filter(|run| matches!(run.phase, Phase::Waiting { .. })).count();
        let waiting = waiting + self.arriving;
        if waiting >= self.runs_waiting_max {
            return Err(format!("{waiting} runs wait already, which is the limit: try again when some have ended"));
        }
        self.arriving += 1;
        self.last_run += 1;
        Ok(self.last_run)
    }

    /// An announced run does not come.
    pub(super) fn abandon(&mut self) {
        self.arriving -= 1;
    }

    /// An announced run is here, and waits.
    pub(super) fn submit(&mut self, number: u64, request: RunRequest, log_bytes: usize, now: Time) {
        self.arriving -= 1;
        let phase = Phase::Waiting { until: now + request.wait };
        self.runs.insert(number, Run { request, phase, since: now, log: RunLog::new(log_bytes), place: None });
    }

    /// The runs that can begin now, in the order they came. One that waits for agents keeps those it could use from
    /// those behind it.
    pub(super) fn schedule(&mut self, now: Time) -> Vec<RunOrder> {
        let mut free: BTreeSet<u64> =
            self.members.iter().filter(|(_, member)| member.job == Job::Free).map(|(number, _)| *number).collect();
        let mut orders = Vec::new();
        for (number, run) in &mut self.runs {
            if !matches!(run.phase, Phase::Waiting { .. }) {
                continue;
            }
            let eligible: BTreeSet<u64> =
                free.iter().copied().filter(|member| can_serve(&run.request, &self.members[member])).collect();
            match chosen(&run.request, &eligible, &self.members) {
                Some(members) => {
                    for member in members {
                        free.remove(&member);
                        if let Some(member) = self.members.get_mut(&member) {
                            member.job = Job::Reserved(*number);
                        }
                    }
                    run.phase = Phase::Starting;
                    run.since = now;
                    orders.push(RunOrder { run: *number, request: run.request.clone() });
                }
                None => free.retain(|member| !eligible.contains(member)),
            }
        }
        orders
    }

    /// The coordinator of a run takes agents: returns who is to be told.
    pub(super) fn begin(&mut self, run: u64, place: Place, now: Time) -> Vec<u64> {
        let Some(this) = self.runs.get_mut(&run).filter(|this| this.phase == Phase::Starting) else {
            return Vec::new();
        };
        this.phase = Phase::Running;
        this.since = now;
        this.place = Some(place);
        let mut told = Vec::new();
        for (number, member) in self.members.iter_mut().filter(|(_, member)| member.job == Job::Reserved(run)) {
            member.job = Job::Told(run);
            told.push(*number);
        }
        told
    }

    /// A run is over. Returns runs that are to be forgotten, with all they left behind.
    pub(super) fn end(&mut self, run: u64, code: u8, now: Time) -> Vec<u64> {
        if let Some(this) = self.runs.get_mut(&run) {
            this.phase = Phase::Ended { code };
            this.since = now;
            this.place = None;
        }
        for member in self.members.values_mut().filter(|member| member.job == Job::Reserved(run)) {
            member.job = Job::Free;
        }
        let ended: Vec<u64> = self
            .runs
            .iter()
            .filter(|(_, run)| matches!(run.phase, Phase::Ended { .. }))
            .map(|(number, _)| *number)
            .collect();
        let forgotten = ended[..ended.len().saturating_sub(self.runs_kept_max)].to_vec();
        forgotten.iter().for_each(|run| drop(self.runs.remove(run)));
        forgotten
    }

    /// Runs that have waited for longer than they wanted, with what is said of it.
    pub(super) fn expired(&self, now: Time) -> Vec<(u64, String)> {
        let is_over = |run: &Run| matches!(run.phase, Phase::Waiting { until } if now >= until);
        let expired = self.runs.iter().filter(|(_, run)| is_over(run));
        expired.map(|(number, run)| (*number, self.lack(&run.request))).collect()
    }

    fn lack(&self, request: &RunRequest) -> String {
        let serves = |member: &&Member| can_serve(request, member);
        let there = self.members.values().filter(serves).count();
        let free = self.members.values().filter(serves).filter(|member| member.job == Job::Free).count();
        let zones = request.zones.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let of_zones = if zones.is_empty() { String::new() } else { format!(" of the zones {zones}") };
        format!(
            "no test was run: it needs {}{of_zones}, and within {} s there were never as many free; {there} are there, {free} of them free",
            agents_text(request.agents),
            request.wait.as_secs_f64()
        )
    }
}

/// The label that zones are about.
const ZONE: &str = "zone";

fn can_serve(request: &RunRequest, member: &Member) -> bool {
    request.zones.is_empty()
        || member.labels.get(ZONE).is_some_and(|zone| request.zones.iter().any(|(name, _)| name == zone))
}

/// The agents a run gets: the strongest, as many of each zone as its weight says; `None` while some are missing.
fn chosen(request: &RunRequest, eligible: &BTreeSet<u64>, members: &BTreeMap<u64, Member>) -> Option<Vec<u64>> {
    let strongest = |zone: Option<&str>, count: usize| {
        let mut all: Vec<u64> = eligible
            .iter()
            .copied()
            .filter(|member| zone.is_none_or(|zone| members[member].labels.get(ZONE).is_some_and(|own| own == zone)))
            .collect();
        all.sort_by(|a, b| members[b].capacity.cores.total_cmp(&members[a].capacity.cores));
        all.truncate(count);
        (all.len() == count).then_some(all)
    };
    if request.zones.is_empty() {
        return strongest(None, request.agents as usize);
    }
    let counts = divided(request.agents, &request.zones.iter().map(|(_, weight)| *weight).collect::<Vec<_>>());
    let groups = request.zones.iter().zip(counts).map(|((zone, _), count)| strongest(Some(zone), count as usize));
    groups.collect::<Option<Vec<_>>>().map(|groups| groups.concat())
}

/// `count` divided by weights: none gets nothing, and the largest remainders get what is left. There are as many as weights
/// at least.
fn divided(count: u32, weights: &[u32]) -> Vec<u32> {
    let sum: u64 = weights.iter().map(|weight| u64::from(*weight)).sum::<u64>().max(1);
    let ideal = |weight: u32| u64::from(count) * u64::from(weight);
    let mut parts: Vec<u32> =
        weights.iter().map(|weight| u32::try_from(ideal(*weight) / sum).unwrap_or(u32::MAX).max(1)).collect();
    loop {
        let given: u64 = parts.iter().map(|part| u64::from(*part)).sum();
        // Whoever is furthest below its ideal gets one more, whoever is furthest above one less.
        let surplus = |index: &usize| i128::from(parts[*index]) * i128::from(sum) - i128::from(ideal(weights[*index]));
        let next = match given.cmp(&u64::from(count)) {
            std::cmp::Ordering::Equal => return parts,
            std::cmp::Ordering::Less => (0..parts.len()).min_by_key(surplus).map(|index| (index, true)),
            std::cmp::Ordering::Greater => {
                (0..parts.len()).filter(|index| parts[*index] > 1).max_by_key(surplus).map(|index| (index, false))
            }
        };
        let Some((index, is_more)) = next else { return parts };
        if is_more { parts[index] += 1 } else { parts[index] -= 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time(seconds * 1_000_000_000)
    }

    fn request(agents: u32, zones: &[(&str, u32)]) -> RunRequest {
        let zones = zones.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        RunRequest { agents, zones, wait: Duration::from_secs(60), ..RunRequest::default() }
    }

    fn agent(state: &mut State, zone: &str, cores: f64) -> u64 {
        let labels = [("zone".to_owned(), zone.to_owned())].into();
        state.join("agent".to_owned(), labels, Capacity { cores, ..Capacity::default() }, None, at(0))
    }

    fn submitted(state: &mut State, request: RunRequest, now: Time) -> u64 {
        let number = state.announce().expect("there is room");
        state.submit(number, request, 1_000, now);
        number
    }

    fn place() -> Place {
        Place { hub: ([127, 0, 0, 1], 1).into(), secret: String::new(), api: None }
    }

    fn started(state: &mut State) -> Vec<u64> {
        state.schedule(at(1)).into_iter().map(|order| order.run).collect()
    }

    #[test]
    fn runs_get_agents_of_their_own() {
        let mut state = State::new(8, 8);
        let agents: Vec<u64> = (0..3).map(|_| agent(&mut state, "eu", 1.0)).collect();
        let first = submitted(&mut state, request(2, &[]), at(0));
        let second = submitted(&mut state, request(2, &[]), at(0));
        let third = submitted(&mut state, request(1, &[]), at(0));
        // The third could begin, but the second, which came first, waits for that agent.
        assert_eq!(started(&mut state), [first]);
        assert_eq!(state.begin(first, place(), at(1)), agents[..2]);
        // What an agent said before it heard of its run makes it no freer.
        assert!(!state.hear(agents[0], None, at(2)));
        assert!(!state.hear(agents[0], Some(first), at(2)) && !state.hear(agents[1], Some(first), at(2)));
        assert_eq!(started(&mut state), [0; 0]);
        state.end(first, 0, at(3));
        assert!(state.hear(agents[0], None, at(3)));
        assert_eq!(started(&mut state), [second]);
        // It ends before its agents were told.
        state.end(second, 120, at(4));
        assert_eq!(started(&mut state), [third]);
    }

    #[test]
    fn zones_have_agents_of_their_label() {
        let mut state = State::new(8, 8);
        for (zone, cores) in [("eu", 1.0), ("eu", 4.0), ("us", 2.0), ("asia", 8.0), ("eu", 2.0)] {
            agent(&mut state, zone, cores);
        }
        let run = submitted(&mut state, request(3, &[("eu", 70), ("us", 30)]), at(0));
        let beside = submitted(&mut state, request(1, &[("asia", 1)]), at(0));
        assert_eq!(started(&mut state), [run, beside]);
        let cores = |run| {
            let own = state.members.values().filter(|member| member.job == Job::Reserved(run));
            own.map(|member| member.capacity.cores).collect::<Vec<_>>()
        };
        assert_eq!((cores(run), cores(beside)), (vec![4.0, 2.0, 2.0], vec![8.0]));
        let lost = submitted(&mut state, request(2, &[("mars", 1)]), at(0));
        assert_eq!(started(&mut state), [0; 0]);
        assert!(state.expired(at(59)).is_empty());
        let (number, why) = state.expired(at(60)).pop().expect("it waited long enough");
        assert_eq!(number, lost);
        assert!(why.contains("needs 2 agents of the zones mars") && why.contains("0 are there"), "{why}");
    }

    #[test]
    fn counts_follow_weights() {
        let check = |count, weights: &[u32], expect: &[u32]| assert_eq!(divided(count, weights), expect);
        check(10, &[70, 30], &[7, 3]);
        check(3, &[70, 30], &[2, 1]);
        check(2, &[99, 1], &[1, 1]);
        check(10, &[98, 1, 1], &[8, 1, 1]);
        check(4, &[1, 1, 1], &[2, 1, 1]);
    }

    #[test]
    fn the_queue_and_the_past_are_bounded() {
        let mut state = State::new(2, 1);
        let runs = [submitted(&mut state, request(1, &[]), at(0)), state.announce().expect("there is room")];
        assert!(state.announce().is_err_and(|why| why.starts_with("2 runs wait already")));
        // One that never came makes room.
        state.abandon();
        state.announce().expect("there is room again");
        state.submit(runs[1], request(1, &[]), 1_000, at(0));
        assert_eq!(state.end(runs[0], 0, at(1)), [0; 0]);
        assert_eq!(state.end(runs[1], 0, at(1)), [runs[0]]);
        assert!(!state.runs.contains_key(&runs[0]));
    }

    #[test]
    fn who_is_silent_is_gone() {
        let mut state = State::new(2, 1);
        let (first, _second) = (agent(&mut state, "eu", 1.0), agent(&mut state, "eu", 1.0));
        state.hear(first, None, at(3));
        assert_eq!(state.silent(at(5)).len(), 0);
        assert_eq!(state.silent(at(6)).len(), 1);
        assert_eq!(state.members().count(), 1);
        // One that comes back in the middle of a run is not free.
        state.join("again".to_owned(), BTreeMap::new(), Capacity::default(), Some(7), at(6));
        submitted(&mut state, request(2, &[]), at(6));
        assert_eq!(started(&mut state), [0; 0]);
    }
}
