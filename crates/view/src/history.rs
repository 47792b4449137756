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
    record::{Body, Event, Record},
    state::End,
    step,
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
    open: u64,
    state: u64,
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
        let text = step::record(&mut self.table, step.span, &step.delta);
        self.tell_series();
        let number = self.push(Event::Step, Body::new(text));
        self.open = Latest { version: self.open.version + 1, body: None };
        let Some(span) = step.span else { return };
        if let Some(bin) = self.steps.add(span, &step.delta, number) {
            self.longer_step(bin);
        }
        self.replace_older_than(span.until_ns.saturating_sub(RECENT_NS));
    }

    /// What was measured since the last step.
    pub fn open(&mut self, step: &Step) {
        let text = step::record(&mut self.table, step.span, &step.delta);
        self.tell_series();
        self.open = Latest { version: self.open.version + 1, body: Some(Body::new(text)) };
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
        Cursor { after: number, ..Cursor::default() }
    }

    /// What follows a cursor, which is moved: some records of at most about so many bytes, and the latest of those of which only
    /// that counts once there are no others.
    pub fn read(&self, cursor: &mut Cursor, bytes_max: usize) -> Batch {
        let mut batch = Batch { run: self.run.clone(), ..Batch::default() };
        let next =
            cursor.after.and_then(|after| self.entries.range(after + 1..).next().map(|(_, entry)| (after, entry)));
        if next.is_some_and(|(after, entry)| entry.first <= after) {
            *cursor = Cursor::default();
        }
        if cursor.after.is_none() {
            batch.records.push(Record { event: Event::Head, number: 0, body: Body::new(json(&self.head)) });
            *cursor = Cursor { after: Some(0), ..Cursor::default() };
        }
        let (mut after, mut bytes) = (cursor.after.unwrap_or(0), 0);
        for (number, entry) in self.entries.range(after + 1..) {
            if bytes >= bytes_max {
                cursor.after = Some(after);
                return batch;
            }
            bytes += entry.body.len();
            after = *number;
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

    /// All of it, as a report has it. What is not over yet is a step, too.
    pub fn lines(&self) -> String {
        let head = Head { mode: Mode::Report, can_steer: false, ..self.head.clone() };
        let mut batch = Batch::default();
        batch.records.push(Record { event: Event::Head, number: 0, body: Body::new(json(&head)) });
        let (ends, others): (Vec<_>, Vec<_>) = self.entries.values().partition(|entry| entry.event == Event::End);
        let record = |entry: &Entry| Record { event: entry.event, number: 0, body: entry.body.clone() };
        batch.records.extend(others.into_iter().map(record));
        for (latest, event) in [(&self.open, Event::Step), (&self.state, Event::State)] {
            batch.records.extend(latest.body.iter().map(|body| Record { event, number: 0, body: body.clone() }));
        }
        batch.records.extend(ends.into_iter().map(record));
        batch.to_lines()
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
        // Its seconds had all of its series.
        let text = step::record(&mut self.table, Some(span), &sum.into_delta());
        self.ready.push_back(Ready { until_ns: span.until_ns, parts, event: Event::Step, body: Body::packed(&text) });
    }

    fn longer_health(&mut self, bin: Bin<HealthSum>) {
        let parts = bin.parts.clone();
        let step = bin.into_step();
        let body = Body::packed(&step.to_json());
        self.ready.push_back(Ready { until_ns: step.span().until_ns, parts, event: Event::Health, body });
    }

    fn replace_older_than(&mut self, ns: u64) {
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
