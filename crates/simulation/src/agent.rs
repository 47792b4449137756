//! A share without an engine: it does what commands say in virtual time and reports as a real agent does.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use onrush_metrics::Span;
use onrush_plan::{
    ExecutorPlan, Plan, ScenarioPlan, TakenUp,
    steer::{ArrivalCourse, VuCourse},
};
use onrush_session::protocol::{
    Accepted, Command, Failure, FailureKind, Flushed, Init, MetricName, Progress, Report, ScenarioProgress, TakeUp,
    TargetChange, ThreadDelta, Time, VERSION,
};

use crate::{
    looping::Looping,
    script::{Book, Script, mix},
};

const THREADS: usize = 2;
const SECOND: u64 = 1_000_000_000;
/// Counted iterations begin within this.
const COUNTED_WITHIN: u64 = 5 * SECOND;

/// An iteration: the scenario's place in the share, and its number in the test.
pub(crate) type Number = (usize, u64);

pub(crate) struct SimAgent {
    script: Script,
    number: usize,
    plan: Option<Plan>,
    books: Vec<Book>,
    ready_at: Option<Time>,
    function_done_at: Option<(Time, Report)>,
    /// Arrivals as steered so far, by place.
    courses: BTreeMap<usize, ArrivalCourse>,
    /// Arrivals that had begun when they were steered last, by place: a lower rate may put them off afterwards.
    arrived: BTreeMap<usize, u64>,
    /// VUs that are wanted, by place.
    vus: BTreeMap<usize, VuCourse>,
    /// Scenarios whose VUs loop, by place, once they run.
    loops: BTreeMap<usize, Looping>,
    /// Iterations by their end, the last first.
    left: Vec<Iteration>,
    /// What the scenarios' clock showed when whatever was left was given up.
    ceased_at: Option<u64>,
    cut: Vec<Iteration>,
    started_at: Option<Time>,
    /// The next whole second of the scenarios.
    next_delta: u64,
    previous_delta: u64,
    progress_at: Time,
    is_running: bool,
    has_aborted: bool,
    pub(crate) is_stopped: bool,
    pub(crate) setups: u32,
    pub(crate) teardowns: u32,
    done: u64,
    /// Iterations in no delta yet, by thread.
    fresh: Vec<Vec<Number>>,
    /// Those of each delta that is on its way, by thread: what the deltas themselves do not tell.
    sent: Vec<VecDeque<Vec<Number>>>,
    /// All that ended.
    ended: Vec<Number>,
}

#[derive(Clone)]
struct Iteration {
    begins_at: u64,
    ends_at: u64,
    number: Number,
}

impl SimAgent {
    pub(crate) fn new(script: Script, number: usize, now: Time) -> Self {
        Self {
            script,
            number,
            plan: None,
            books: Vec::new(),
            ready_at: None,
            function_done_at: None,
            courses: BTreeMap::new(),
            arrived: BTreeMap::new(),
            vus: BTreeMap::new(),
            loops: BTreeMap::new(),
            left: Vec::new(),
            ceased_at: None,
            cut: Vec::new(),
            started_at: None,
            next_delta: SECOND,
            previous_delta: 0,
            progress_at: now,
            is_running: false,
            has_aborted: false,
            is_stopped: false,
            setups: 0,
            teardowns: 0,
            done: 0,
            fresh: vec![Vec::new(); THREADS],
            sent: vec![VecDeque::new(); THREADS],
            ended: Vec::new(),
        }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.started_at.is_some()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.is_running
    }

    pub(crate) fn is_initializing(&self) -> bool {
        self.plan.is_none() || self.ready_at.is_some()
    }

    /// A scenario's name by its place here.
    pub(crate) fn scenario(&self, place: usize) -> &str {
        self.plan.as_ref().map_or("", |plan| plan.scenarios[place].name())
    }

    /// The iterations of the thread's next delta that arrives.
    pub(crate) fn arrived(&mut self, thread: u32) -> Vec<Number> {
        self.sent.get_mut(thread as usize).and_then(VecDeque::pop_front).unwrap_or_default()
    }

    /// All iterations that ever began.
    pub(crate) fn begun(&self) -> impl Iterator<Item = Number> {
        let until = self.ceased_at.unwrap_or(u64::MAX);
        let unfinished = self.left.iter().chain(&self.cut).filter(move |iteration| iteration.begins_at <= until);
        self.ended.iter().copied().chain(unfinished.map(|iteration| iteration.number))
    }

    /// It makes no load any more.
    pub(crate) fn cease(&mut self, now: Time) {
        if self.ceased_at.is_none() && self.is_running {
            let clock = self.clock(now);
            self.ceased_at = Some(clock);
            self.cut = std::mem::take(&mut self.left);
            self.loops.clear();
        }
    }

    fn clock(&self, now: Time) -> u64 {
        self.started_at.map_or(0, |started| now.0.saturating_sub(started.0))
    }

    pub(crate) fn handle(&mut self, command: Command, now: Time) -> Vec<Report> {
        let later = |ms: u64| now + Duration::from_millis(ms);
        match command {
            Command::Init(init) => {
                self.ready_at = Some(later(mix(self.number as u64 ^ now.0) % 3_000));
                vec![self.accept(&init)]
            }
            Command::Setup => {
                self.setups += 1;
                self.function_done_at = Some((later(700), Report::SetupDone(Ok(Some("{\"a\":1}".into())))));
                Vec::new()
            }
            Command::Teardown(_) => {
                self.teardowns += 1;
                self.function_done_at = Some((later(300), Report::TeardownDone(Ok(()))));
                Vec::new()
            }
            Command::Start { at, data } => {
                assert_eq!(data.as_deref(), Some("{\"a\":1}"), "what setup() returned comes with the start");
                self.start(at.max(now), None)
            }
            Command::TakeUp(take_up) => {
                assert_eq!(take_up.data.as_deref(), Some("{\"a\":1}"), "what setup() returned comes with the rest");
                self.start(take_up.at, Some(&take_up))
            }
            Command::Steer { scenario, change } => {
                self.steer(&scenario, change, now);
                Vec::new()
            }
            Command::Interrupt => {
                self.cease(now);
                if let Some((_, report)) = &mut self.function_done_at {
                    let cut = Failure::new(FailureKind::Script, "interrupted");
                    *report = match report {
                        Report::SetupDone(_) => Report::SetupDone(Err(cut)),
                        _ => Report::TeardownDone(Err(cut)),
                    };
                }
                Vec::new()
            }
            Command::Flush => {
                let mut reports = if self.is_running { self.deltas_until(self.previous_delta) } else { Vec::new() };
                reports.push(Report::Flushed(Flushed::default()));
                reports
            }
            Command::Stop => {
                self.cease(now);
                self.is_stopped = true;
                Vec::new()
            }
            Command::StartClock { .. }
            | Command::SetupData(_)
            | Command::Pause { .. }
            | Command::OfShare { .. }
            | Command::Summary(_)
            | Command::Secret(_) => Vec::new(),
        }
    }

    fn accept(&mut self, init: &Init) -> Report {
        let plan = self.script.plan(&init.share().expect("a share of the sequence"));
        let registry = self.script.registry_of(self.number);
        self.books = (0..THREADS).map(|_| Book::new(registry.clone())).collect();
        let metric = |metric: &onrush_metrics::Metric| MetricName {
            name: metric.name.to_string(),
            kind: metric.kind,
            contains: metric.contains,
        };
        let accepted = Accepted {
            version: VERSION,
            metrics: registry.iter().map(metric).collect(),
            scenarios: plan.scenarios.iter().map(|scenario| scenario.name().to_owned()).collect(),
            threads: THREADS as u32,
        };
        self.plan = Some(plan);
        Report::Accepted(Box::new(accepted))
    }

    fn steer(&mut self, name: &str, change: TargetChange, now: Time) {
        let Some(plan) = &self.plan else { return };
        let Some(place) = plan.scenarios.iter().position(|scenario| scenario.name() == name) else { return };
        let scenario = plan.scenarios[place].clone();
        match change {
            TargetChange::MaxVus(_) => {}
            TargetChange::Vus(ramp) => {
                let course = VuCourse::new(&scenario, ramp);
                if let Some(looping) = self.loops.get_mut(&place) {
                    looping.steer(course.clone());
                }
                self.vus.insert(place, course);
            }
            TargetChange::Rate(ramp) => {
                let before = self.courses.remove(&place).or_else(|| ArrivalCourse::of(&scenario));
                let Some(before) = before else { return };
                let course = before.bent(ramp);
                if self.is_running && self.ceased_at.is_none() {
                    let clock = self.clock(now);
                    // What is due by now has begun.
                    let due = before.first_from((clock + 1).saturating_sub(scenario.start_ns));
                    let begun = due.max(self.arrived.get(&place).copied().unwrap_or(0));
                    self.arrived.insert(place, begun);
                    self.left.retain(|iteration| iteration.number.0 != place || iteration.begins_at <= clock);
                    self.arrive(place, &scenario, &course, begun, clock);
                }
                self.courses.insert(place, course);
            }
        }
    }

    /// Arrivals from the one with this number here on, none of which begins before `from`.
    fn arrive(&mut self, place: usize, scenario: &ScenarioPlan, course: &ArrivalCourse, first: u64, from: u64) {
        for j in first..course.events() {
            let (Some(event), Some(number)) = (course.event(j), scenario.iteration_in_test(j)) else { continue };
            self.add((place, number), (scenario.start_ns + event.at_ns).max(from));
        }
    }

    /// An iteration that begins at a moment.
    fn add(&mut self, (place, number): Number, begins_at: u64) {
        let name = self.scenario(place);
        let ends_at = begins_at + Script::duration(name, number).as_nanos() as u64;
        let at = self.left.partition_point(|iteration| iteration.ends_at > ends_at);
        self.left.insert(at, Iteration { begins_at, ends_at, number: (place, number) });
    }

    /// VUs that are free begin their next iteration.
    fn turn(&mut self, clock: u64) {
        let mut begun = Vec::new();
        for (place, looping) in &mut self.loops {
            let name = self.plan.as_ref().map_or("", |plan| plan.scenarios[*place].name());
            let duration = |number| Script::duration(name, number).as_nanos() as u64;
            begun.extend(looping.turn(clock, duration).into_iter().map(|(number, _)| (*place, number)));
        }
        begun.into_iter().for_each(|number| self.add(number, clock));
    }

    /// VUs that loop in a scenario here, and the rate at which its iterations arrive.
    pub(crate) fn load(&self, name: &str, now: Time) -> (u64, f64) {
        let place = self.plan.as_ref().and_then(|plan| plan.scenarios.iter().position(|own| own.name() == name));
        let Some(place) = place else { return (0, 0.0) };
        let vus = self.loops.get(&place).map_or(0, Looping::busy);
        let rate = self.courses.get(&place).map_or(0.0, |course| course.rate_at(self.clock(now)));
        (vus, rate)
    }

    fn start(&mut self, at: Time, take_up: Option<&TakeUp>) -> Vec<Report> {
        self.started_at = Some(at);
        self.is_running = true;
        let from_ns = take_up.map_or(0, |take_up| take_up.from_ns);
        self.previous_delta = from_ns;
        self.next_delta = (from_ns / SECOND + 1) * SECOND;
        let plan = self.plan.clone().expect("it was initialised");
        for (place, scenario) in plan.scenarios.iter().enumerate() {
            let known = take_up.and_then(|take_up| take_up.scenarios.iter().find(|k| k.scenario == scenario.name()));
            let taken = known.map(|known| TakenUp {
                from_ns: from_ns.saturating_sub(scenario.start_ns),
                ended: known.ended,
                begun: known.begun,
            });
            if let Some(mut looping) = Looping::of(scenario, from_ns, taken) {
                self.vus.get(&place).cloned().into_iter().for_each(|course| looping.steer(course));
                self.loops.insert(place, looping);
            } else if let Some(course) = self.courses.get(&place).cloned().or_else(|| ArrivalCourse::of(scenario)) {
                let known = taken.map_or(0, |taken| scenario.first_iteration(taken, Some(&course)));
                // Who joins knows of nothing and begins with what is due then.
                let first = known.max(course.first_from(from_ns.saturating_sub(scenario.start_ns)));
                self.arrive(place, scenario, &course, first, 0);
                self.courses.insert(place, course);
            } else {
                for (number, at_ns) in counted(scenario, taken) {
                    self.add((place, number), scenario.start_ns + at_ns);
                }
            }
        }
        vec![Report::Started { at }]
    }

    pub(crate) fn tick(&mut self, now: Time) -> Vec<Report> {
        let mut reports = Vec::new();
        if self.is_stopped {
            return reports;
        }
        if self.ready_at.take_if(|at| now >= *at).is_some() {
            reports.push(Report::Ready);
        }
        if let Some((_, report)) = self.function_done_at.take_if(|(at, _)| now >= *at) {
            reports.push(report);
        }
        if self.is_running {
            let clock = self.clock(now);
            while self.next_delta <= clock {
                self.iterate(self.next_delta);
                reports.extend(self.deltas_until(self.next_delta));
                self.next_delta += SECOND;
            }
            self.iterate(clock);
            let aborts = self.number == 0 && self.script.abort_at.is_some_and(|at| clock >= at.as_nanos() as u64);
            if aborts && !std::mem::replace(&mut self.has_aborted, true) {
                reports.push(Report::Aborted { message: "test aborted".to_owned() });
            }
            let is_over = self.loops.values().all(|looping| looping.is_over(clock));
            if self.left.is_empty() && is_over && self.previous_delta <= clock {
                self.is_running = false;
                reports.push(Report::ScenariosDone);
                // What comes after is not the scenarios'.
                reports.extend(self.deltas_until(clock));
            }
        }
        if now.since(self.progress_at) >= Duration::from_secs(1) {
            self.progress_at = now;
            reports.push(self.progress(now));
            reports.push(Report::Health(Box::default()));
        }
        reports
    }

    /// Ends what ends by a moment of the scenarios.
    fn iterate(&mut self, clock: u64) {
        while let Some(iteration) = self.left.pop_if(|iteration| iteration.ends_at <= clock) {
            let (place, number) = iteration.number;
            let thread = (number % THREADS as u64) as usize;
            self.done += 1;
            let name = self.plan.as_ref().map_or("", |plan| plan.scenarios[place].name());
            self.books[thread].note(name, number);
            self.fresh[thread].push(iteration.number);
            self.ended.push(iteration.number);
        }
        self.turn(clock);
    }

    fn deltas_until(&mut self, until_ns: u64) -> Vec<Report> {
        let span = self.started_at.map(|_| Span { from_ns: self.previous_delta.min(until_ns), until_ns });
        self.previous_delta = until_ns;
        let scenarios = self.plan.as_ref().map_or(0, |plan| plan.scenarios.len());
        let mut reports = Vec::with_capacity(THREADS);
        for thread in 0..THREADS {
            let fresh = std::mem::take(&mut self.fresh[thread]);
            let mut ended = vec![0; scenarios];
            for (place, _) in &fresh {
                ended[*place] += 1;
            }
            self.sent[thread].push_back(fresh);
            let delta = self.books[thread].drain();
            reports.push(Report::Delta(Box::new(ThreadDelta { thread: thread as u32, span, delta, ended })));
        }
        reports
    }

    fn progress(&self, now: Time) -> Report {
        let scenarios = self.plan.as_ref().map_or(0, |plan| plan.scenarios.len());
        let clock = self.clock(now);
        let mut all =
            vec![
                ScenarioProgress { started_at: self.started_at, over: self.left.is_empty(), ..Default::default() };
                scenarios
            ];
        for iteration in self.left.iter().filter(|iteration| iteration.begins_at <= clock) {
            all[iteration.number.0].running_vus += 1;
            all[iteration.number.0].active_vus += 1;
        }
        let vus_active = all.iter().map(|scenario| scenario.active_vus).sum();
        let progress = Progress { scenarios: all, vus_active, complete: self.done, ..Progress::default() };
        Report::Progress(Box::new(progress))
    }
}

/// The iterations of a share where they are counted: their numbers in the test, and when they begin after the scenario's start.
fn counted(scenario: &ScenarioPlan, taken: Option<TakenUp>) -> Vec<(u64, u64)> {
    let first = taken.map_or(0, |taken| scenario.first_iteration(taken, None));
    let from_ns = taken.map_or(0, |taken| taken.from_ns);
    let begins = |number: u64| from_ns + mix(number) % COUNTED_WITHIN;
    let total = scenario.total_iterations().expect("the script has no other executors");
    let mut numbers = Vec::new();
    if let ExecutorPlan::PerVuIterations(plan) = &scenario.executor {
        // VU by VU: a VU's iterations have its own numbers.
        for vu in 0..plan.vus {
            let before = taken.map_or(0, |taken| scenario.iterations_of_vu_before(vu, taken));
            let id = scenario.vu_id_in_test(vu).unwrap_or(vu);
            numbers.extend((before..plan.iterations).map(|round| id * 1_000 + round));
        }
    } else {
        numbers.extend((first..total).map(|j| scenario.iteration_in_test(j).unwrap_or(j)));
    }
    numbers.into_iter().map(|number| (number, begins(number))).collect()
}
