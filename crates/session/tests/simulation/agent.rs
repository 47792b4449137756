//! An agent without an engine: it does what commands say in virtual time and reports as a real one does.

use std::time::Duration;

use onrush_metrics::Span;
use onrush_plan::{ExecutorPlan, Plan, SegmentSequence, Share, steer::ArrivalCourse};
use onrush_session::protocol::{
    Accepted, Command, Failure, FailureKind, Flushed, Init, MetricName, Progress, Report, ScenarioProgress,
    ThreadDelta, Time, VERSION,
};

use crate::script::{Book, Script, mix};

const THREADS: usize = 2;
const SECOND: u64 = 1_000_000_000;

pub(crate) struct SimAgent {
    script: Script,
    number: usize,
    plan: Option<Plan>,
    books: Vec<Book>,
    ready_at: Option<Time>,
    function_done_at: Option<(Time, Report)>,
    /// Iterations by their end, the last first.
    left: Vec<Iteration>,
    started_at: Option<Time>,
    /// The next whole second of the scenarios.
    next_delta: u64,
    previous_delta: u64,
    progress_at: Time,
    is_running: bool,
    has_aborted: bool,
    pub(crate) is_stopped: bool,
    /// Iterations in deltas so far.
    pub(crate) reported: u64,
    pub(crate) setups: u32,
    pub(crate) teardowns: u32,
    done: u64,
}

#[derive(Clone)]
struct Iteration {
    ends_at: u64,
    scenario: String,
    number: u64,
}

fn is_per_vu(executor: &ExecutorPlan) -> bool {
    matches!(executor, ExecutorPlan::PerVuIterations(_))
}

impl SimAgent {
    pub(crate) fn new(script: Script, number: usize) -> Self {
        Self {
            script,
            number,
            plan: None,
            books: Vec::new(),
            ready_at: None,
            function_done_at: None,
            left: Vec::new(),
            started_at: None,
            next_delta: SECOND,
            previous_delta: 0,
            progress_at: Time(0),
            is_running: false,
            has_aborted: false,
            is_stopped: false,
            reported: 0,
            setups: 0,
            teardowns: 0,
            done: 0,
        }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.started_at.is_some()
    }

    pub(crate) fn is_initializing(&self) -> bool {
        self.plan.is_none() || self.ready_at.is_some()
    }

    pub(crate) fn handle(&mut self, command: Command, now: Time) -> Vec<Report> {
        let later = |ms: u64| now + Duration::from_millis(ms);
        match command {
            Command::Init(init) => {
                self.ready_at = Some(later(mix(self.number as u64) % 3_000));
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
                self.start(at.max(now))
            }
            Command::Interrupt => {
                self.left.clear();
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
                self.is_stopped = true;
                Vec::new()
            }
            Command::StartClock { .. }
            | Command::SetupData(_)
            | Command::Steer { .. }
            | Command::Pause { .. }
            | Command::Summary(_) => Vec::new(),
        }
    }

    fn accept(&mut self, init: &Init) -> Report {
        let sequence: SegmentSequence = init.sequence.parse().expect("a sequence");
        let share = Share::of_sequence(&sequence, init.agent as usize).expect("a segment of it");
        let plan = self.script.plan(&share);
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

    fn start(&mut self, at: Time) -> Vec<Report> {
        self.started_at = Some(at);
        self.is_running = true;
        let plan = self.plan.as_ref().expect("it was initialised");
        let mut left = Vec::new();
        for scenario in plan.scenarios.iter() {
            let name = scenario.name();
            let mut begin = |number: u64, at_ns: u64| {
                let ends_at = scenario.start_ns + at_ns + Script::duration(name, number).as_nanos() as u64;
                left.push(Iteration { ends_at, scenario: name.to_owned(), number });
            };
            match (ArrivalCourse::of(scenario), scenario.total_iterations()) {
                (Some(course), _) => (0..course.events())
                    .filter_map(|j| course.event(j))
                    .for_each(|event| begin(event.global, event.at_ns)),
                (None, Some(total)) if is_per_vu(&scenario.executor) => {
                    // VU by VU: a VU's iterations have its own numbers.
                    let vus = scenario.executor.planned_vus();
                    for (vu, round) in (0..vus).flat_map(|vu| (0..total / vus).map(move |round| (vu, round))) {
                        let number = scenario.vu_id_in_test(vu).unwrap_or(vu) * 1_000 + round;
                        begin(number, mix(number) % (5 * SECOND));
                    }
                }
                (None, Some(total)) => {
                    for j in 0..total {
                        let number = scenario.iteration_in_test(j).unwrap_or(j);
                        begin(number, mix(number) % (5 * SECOND));
                    }
                }
                (None, None) => unreachable!("the script has no other executors"),
            }
        }
        left.sort_by_key(|iteration| std::cmp::Reverse(iteration.ends_at));
        self.left = left;
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
        if let Some(started) = self.started_at.filter(|_| self.is_running) {
            let clock = now.since(started).as_nanos() as u64;
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
            if self.left.is_empty() {
                self.is_running = false;
                reports.push(Report::ScenariosDone);
                // What comes after is not the scenarios'.
                reports.extend(self.deltas_until(clock));
            }
        }
        if now.since(self.progress_at) >= Duration::from_secs(1) {
            self.progress_at = now;
            reports.push(self.progress());
            reports.push(Report::Health(Box::default()));
        }
        reports
    }

    /// Ends what ends by a moment of the scenarios.
    fn iterate(&mut self, clock: u64) {
        while let Some(iteration) = self.left.pop_if(|iteration| iteration.ends_at <= clock) {
            self.done += 1;
            let book = &mut self.books[(iteration.number % THREADS as u64) as usize];
            book.note(&iteration.scenario, iteration.number);
        }
    }

    fn deltas_until(&mut self, until_ns: u64) -> Vec<Report> {
        let span = self.started_at.map(|_| Span { from_ns: self.previous_delta.min(until_ns), until_ns });
        self.previous_delta = until_ns;
        let part = |(thread, book): (usize, &mut Book)| {
            Report::Delta(Box::new(ThreadDelta { thread: thread as u32, span, delta: book.drain() }))
        };
        let reports = self.books.iter_mut().enumerate().map(part).collect();
        self.reported = self.done;
        reports
    }

    fn progress(&self) -> Report {
        let scenarios = self.plan.as_ref().map_or(0, |plan| plan.scenarios.len());
        let scenario =
            ScenarioProgress { started_at: self.started_at, over: self.left.is_empty(), ..Default::default() };
        let progress = Progress { scenarios: vec![scenario; scenarios], complete: self.done, ..Progress::default() };
        Report::Progress(Box::new(progress))
    }
}
