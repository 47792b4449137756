//! All records of a run, for readers that come at any time and read at any pace.
//!
//! Records are numbered. A reader has a [`Cursor`] and is given what follows it, so nothing waits for a slow one and nothing is
//! kept for it. Seconds that are some minutes old are replaced by longer steps; a reader that has some of these seconds and
//! not the others begins anew.

use std::collections::{BTreeMap, VecDeque};

use onrush_metrics::{Delta, DeltaSum, Step};
use rustc_hash::FxHashMap;

use crate::{
    Head, LineRow, State,
    bins::{Bin, Bins, Sum},
    head::Mode,
    health::{HealthStep, HealthSum},
    length::StepLength,
    record::{Body, Event, Record},
    state::End,
    table::Table,
};

/// Seconds stay as they are for so long.
const RECENT_NS: u64 = 300_000_000_000;

/// The records of a run.
#[derive(Debug, Clone)]
pub struct History {
    head: Head,
    /// What tells this run's numbers from another's.
    run: String,
    table: Table,
    entries: BTreeMap<u64, Entry>,
    /// The number of the last record.
    last: u64,
    steps: Bins<DeltaSum>,
    health: Bins<HealthSum>,
    /// What will replace seconds when they are old.
    ready: VecDeque<Ready>,
    /// Steps whose JSON is kept: their ends and numbers.
    recent: VecDeque<(u64, u64)>,
    /// Where each log line's record is.
    lines: FxHashMap<u64, u64>,
    /// What only the latest counts of.
    open: Latest,
    state: Latest,
    is_over: bool,
}

/// A record that was kept, with the numbers of those it stands for.
#[derive(Debug, Clone)]
struct Entry {
    first: u64,
    event: Event,
    body: Body,
}

/// A longer step, and the seconds it stands for.
#[derive(Debug, Clone)]
struct Ready {
    until_ns: u64,
    parts: Vec<u64>,
    event: Event,
    body: Body,
}

/// A record of which only the latest counts.
#[derive(Debug, Clone, Default)]
struct Latest {
    version: u64,
    body: Option<Body>,
}

/// How far a reader is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The last record it has; `None` before `head`.
    after: Option<u64>,
    /// The last of the steps, and of the health, that it has: a longer one that begins before has some of it twice.
    step: u64,
    health: u64,
    open: u64,
    state: u64,
}

impl Cursor {
    /// Whether some of this record was given to it as shorter ones.
    fn has_part(self, entry: &Entry) -> bool {
        match entry.event {
            Event::Step => entry.first <= self.step,
            Event::Health => entry.first <= self.health,
            _ => false,
        }
    }
}

/// What a reader is given.
#[derive(Debug, Default)]
pub struct Batch {
    records: Vec<Record>,
    /// What the numbers of the records begin with.
    run: String,
    /// Nothing follows.
    pub is_over: bool,
}

impl Batch {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// As server-sent events.
    pub fn to_events(&self) -> String {
        let mut text = String::new();
        for record in &self.records {
            record.push_event(&mut text, &self.run);
        }
        text
    }

    /// As lines of JSON.
    pub fn to_lines(&self) -> String {
        let mut text = String::new();
        self.records.iter().for_each(|record| record.push_line(&mut text));
        text
    }
}

impl Sum for DeltaSum {
    type Part = Delta;

    fn add(&mut self, part: &Delta) {
        self.add(part);
    }
}

impl History {
    /// The history of a run that begins. `run` tells it from others that were served at the same place.
    pub fn new(head: Head, run: impl Into<String>) -> Self {
        Self {
            head,
            run: run.into(),
            table: Table::default(),
            entries: BTreeMap::new(),
            last: 0,
            steps: Bins::default(),
            health: Bins::default(),
            ready: VecDeque::new(),
            recent: VecDeque::new(),
            lines: FxHashMap::default(),
            open: Latest::default(),
            state: Latest::default(),
            is_over: false,
        }
    }

    /// What the run is.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Adds what was measured in a part of the run that is over.
    pub fn step(&mut self, step: &Step) {
        let numbered = self.table.numbered(&step.delta);
        self.tell_series();
        let number = self.push(Event::Step, Body::step(step.span, &numbered, true));
        self.open = Latest { version: self.open.version + 1, body: None };
        let Some(span) = step.span else { return };
        self.recent.push_back((span.until_ns, number));
        if let Some(bin) = self.steps.add(span, &numbered, number) {
            self.longer_step(bin);
        }
        self.replace_older_than(span.until_ns.saturating_sub(RECENT_NS));
    }

    /// What was measured since the last step.
    pub fn open(&mut self, step: &Step) {
        let numbered = self.table.numbered(&step.delta);
        self.tell_series();
        let body = Some(Body::step(step.span, &numbered, true));
        self.open = Latest { version: self.open.version + 1, body };
    }

    /// Adds how the generators fared.
    pub fn health(&mut self, step: &HealthStep) {
        let number = self.push(Event::Health, Body::new(step.to_json()));
        if let Some(bin) = self.health.add(step.span(), step, number) {
            self.longer_health(bin);
        }
    }

    /// How the run stands now.
    pub fn state(&mut self, state: &State) {
        self.state = Latest { version: self.state.version + 1, body: Some(Body::new(json(state))) };
    }

    /// What was logged: replaces what was known of the same line.
    pub fn log(&mut self, row: &LineRow) {
        let before = self.lines.insert(row.line, self.last + 1);
        before.and_then(|number| self.entries.remove(&number));
        self.push(Event::Log, Body::new(json(row)));
    }

    /// The run is over.
    pub fn end(&mut self, end: &End) {
        self.push(Event::End, Body::new(json(end)));
        self.is_over = true;
    }

    /// Makes longer steps of all seconds that become one sooner or later: for what is kept.
    pub fn settle(&mut self) {
        let (step, health) = (self.steps.rest(), self.health.rest());
        step.into_iter().for_each(|bin| self.longer_step(bin));
        health.into_iter().for_each(|bin| self.longer_health(bin));
        self.replace_older_than(u64::MAX);
    }

    /// Where a reader begins: behind the record with this number, if that is one of this run.
    pub fn cursor(&self, last_id: Option<&str>) -> Cursor {
        let number = last_id.and_then(|id| id.rsplit_once('-')).filter(|(run, _)| *run == self.run);
        let number = number.and_then(|(_, number)| number.parse().ok()).filter(|number| *number <= self.last);
        let last = number.unwrap_or(0);
        Cursor { after: number, step: last, health: last, ..Cursor::default() }
    }

    /// What follows a cursor, which is moved: some records of at most about so many bytes, and the latest of those of which only
    /// that counts once there are no others.
    pub fn read(&self, cursor: &mut Cursor, bytes_max: usize) -> Batch {
        let mut batch = Batch { run: self.run.clone(), ..Batch::default() };
        if cursor.after.is_some_and(|after| self.entries.range(after + 1..).any(|(_, entry)| cursor.has_part(entry))) {
            *cursor = Cursor::default();
        }
        if cursor.after.is_none() {
            batch.records.push(Record { event: Event::Head, number: 0, body: Body::new(json(&self.head)) });
            *cursor = Cursor { after: Some(0), ..Cursor::default() };
        }
        let (mut after, mut bytes) = (cursor.after.unwrap_or(0), 0);
        for (number, entry) in self.entries.range(after + 1..) {
            if bytes >= bytes_max.max(1) {
                cursor.after = Some(after);
                return batch;
            }
            bytes += entry.body.len();
            after = *number;
            match entry.event {
                Event::Step => cursor.step = after,
                Event::Health => cursor.health = after,
                _ => {}
            }
            batch.records.push(Record { event: entry.event, number: after, body: entry.body.clone() });
        }
        cursor.after = Some(after);
        for (latest, known, event) in
            [(&self.open, &mut cursor.open, Event::Open), (&self.state, &mut cursor.state, Event::State)]
        {
            if std::mem::replace(known, latest.version) != latest.version
                && let Some(body) = &latest.body
            {
                batch.records.push(Record { event, number: after, body: body.clone() });
            }
        }
        // The end is the last.
        batch.records.sort_by_key(|record| record.event == Event::End);
        batch.is_over = self.is_over;
        batch
    }

    /// All of it, as a report has it: as lines of JSON, in steps of at least this length. What is not over yet is a step, too.
    pub fn lines(&self, length: StepLength) -> String {
        let head = Head { mode: Mode::Report, can_steer: false, ..self.head.clone() };
        let record = |event: Event, body: &Body| Record { event, number: 0, body: body.clone() };
        let of =
            |wanted: Event| self.entries.values().filter(move |entry| entry.event == wanted).map(|entry| &entry.body);
        let mut batch = Batch::default();
        batch.records.push(record(Event::Head, &Body::new(json(&head))));
        batch.records.extend(of(Event::Series).map(|body| record(Event::Series, body)));
        let steps = of(Event::Step).chain(&self.open.body);
        batch.records.extend(length.steps(steps).iter().map(|body| record(Event::Step, body)));
        batch.records.extend(length.health(of(Event::Health)).iter().map(|body| record(Event::Health, body)));
        batch.records.extend(of(Event::Log).map(|body| record(Event::Log, body)));
        batch.records.extend(self.state.body.iter().map(|body| record(Event::State, body)));
        batch.records.extend(of(Event::End).map(|body| record(Event::End, body)));
        batch.to_lines()
    }

    /// The lengths that steps of a report of this run may have, the shortest first.
    pub fn step_lengths(&self) -> Vec<StepLength> {
        let steps = self.entries.values().filter(|entry| entry.event == Event::Step);
        StepLength::for_starts(steps.filter_map(|entry| Some(entry.body.span()?.from_ns)))
    }

    /// Bytes of all that is kept.
    pub fn kept_bytes(&self) -> usize {
        let entries: usize = self.entries.values().map(|entry| entry.body.len()).sum();
        entries + self.ready.iter().map(|ready| ready.body.len()).sum::<usize>()
    }

    fn push(&mut self, event: Event, body: Body) -> u64 {
        self.last += 1;
        self.entries.insert(self.last, Entry { first: self.last, event, body });
        self.last
    }

    fn tell_series(&mut self) {
        if let Some(news) = self.table.take_news() {
            self.push(Event::Series, Body::new(news));
        }
    }

    fn longer_step(&mut self, bin: Bin<DeltaSum>) {
        let Bin { span, sum, parts } = bin;
        let body = Body::step(Some(span), &sum.into_delta(), false);
        self.ready.push_back(Ready { until_ns: span.until_ns, parts, event: Event::Step, body });
    }

    fn longer_health(&mut self, bin: Bin<HealthSum>) {
        let parts = bin.parts.clone();
        let step = bin.into_step();
        let body = Body::new(step.to_json());
        self.ready.push_back(Ready { until_ns: step.span().until_ns, parts, event: Event::Health, body });
    }

    fn replace_older_than(&mut self, ns: u64) {
        while let Some((_, number)) = self.recent.pop_front_if(|(until_ns, _)| *until_ns <= ns) {
            if let Some(entry) = self.entries.get_mut(&number) {
                entry.body.drop_text();
            }
        }
        while let Some(ready) = self.ready.pop_front_if(|ready| ready.until_ns <= ns) {
            for number in &ready.parts {
                self.entries.remove(number);
            }
            if let (Some(first), Some(last)) = (ready.parts.first(), ready.parts.last()) {
                self.entries.insert(*last, Entry { first: *first, event: ready.event, body: ready.body });
            }
        }
    }
}

fn json(value: &impl serde::Serialize) -> String {
    // Texts and numbers always become JSON.
    serde_json::to_string(value).unwrap_or_default()
}
