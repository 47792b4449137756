//! Asking leaders for messages.

use std::{collections::VecDeque, rc::Rc};

use super::{Consumer, MEASUREMENTS_MAX, Position, queue::Fetched};
use crate::{
    Address, KafkaError, World,
    broker::Api,
    code,
    error::checked,
    wire::{Put, Reader},
};

/// What a partition answered besides messages.
type Problem = (Rc<str>, i32, KafkaError);

impl<W: World> Consumer<W> {
    /// Asks all leaders once: first it asks each, then it waits for each.
    pub(super) fn fetch(&mut self, deadline_ns: u64) -> Result<(), KafkaError> {
        let mut leaders: Vec<(Address, Vec<Position>)> = Vec::new();
        let mut unled = None;
        for position in &self.positions {
            let dial_deadline_ns = self.cluster.short_deadline();
            match self.cluster.leader(&position.topic, position.partition, dial_deadline_ns) {
                Ok(address) => match leaders.iter_mut().find(|(known, _)| *known == address) {
                    Some((_, positions)) => positions.push(position.clone()),
                    None => leaders.push((address, vec![position.clone()])),
                },
                Err(error) if error.is_passing() => {
                    self.cluster.forget(&position.topic);
                    unled = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if leaders.is_empty() {
            return match unled {
                Some(error) => Err(error),
                // A member of a group that is assigned nothing waits for better times.
                None => self.cluster.world.sleep(self.wait_ns(deadline_ns)),
            };
        }
        let start = self.cluster.world.now_ns();
        let wait_ns = self.wait_ns(deadline_ns);
        // So much later than agreed an answer may come.
        let late_ns = self.cluster.request_ns() / 2;
        let late_ns = self.cluster.deadline(wait_ns.saturating_add(late_ns));
        let mut asked = Vec::new();
        for (address, positions) in leaders {
            let request = self.request(&positions, wait_ns);
            let dial_ns = self.cluster.short_deadline();
            let sent = self.cluster.take(&address, dial_ns).and_then(|mut broker| {
                broker.send(Api::Fetch, &request, late_ns)?;
                Ok(broker)
            });
            match sent {
                Ok(broker) => asked.push((address, broker, positions)),
                Err(error) => {
                    positions.iter().for_each(|position| self.cluster.forget(&position.topic));
                    if !error.is_passing() {
                        return Err(error);
                    }
                    unled = Some(error);
                }
            }
            self.progress.fetches += 1;
        }
        let mut held = 0;
        let mut problems = Vec::new();
        for (address, mut broker, positions) in asked {
            let late_ns = late_ns.max(self.cluster.deadline(self.cluster.request_ns() / 2));
            match broker.receive(&mut self.cluster.world, held, late_ns) {
                Ok(mut answer) => {
                    held += answer.left();
                    self.cluster.put_back(address, broker);
                    self.read_answer(&mut answer, &positions, &mut problems)?;
                }
                Err(error) if error.is_passing() => {
                    positions.iter().for_each(|position| self.cluster.forget(&position.topic));
                    unled = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if self.progress.read_ns.len() < MEASUREMENTS_MAX {
            self.progress.read_ns.push(self.cluster.world.now_ns().saturating_sub(start));
        }
        self.progress.fetched_bytes += held as u64;
        for (topic, partition, error) in problems {
            self.refused(&topic, partition, error, &mut unled)?;
        }
        match unled {
            Some(error) if self.queue.len() == 0 => Err(error),
            None if self.queue.len() == 0 => self.calm_down(start, wait_ns),
            _ => Ok(()),
        }
    }

    /// A broker that says at once that there is nothing is not asked again at once.
    fn calm_down(&mut self, start_ns: u64, wait_ns: u64) -> Result<(), KafkaError> {
        let took_ns = self.cluster.world.now_ns().saturating_sub(start_ns);
        if took_ns < wait_ns / 2 { self.cluster.world.sleep(wait_ns.min(super::BACKOFF_LEAST_NS)) } else { Ok(()) }
    }

    /// How long a broker may wait for messages: a group wants to hear from us meanwhile.
    fn wait_ns(&self, deadline_ns: u64) -> u64 {
        let left_ns = deadline_ns.saturating_sub(self.cluster.world.now_ns());
        let heartbeat_ns = self.group.as_ref().map_or(u64::MAX, super::Group::heartbeat_ns);
        left_ns.min(self.options.max_wait_ns).min(heartbeat_ns).min(WAIT_MAX_NS)
    }

    fn request(&self, positions: &[Position], wait_ns: u64) -> Vec<u8> {
        let mut request = Vec::new();
        // No replica.
        request.put_i32(-1);
        request.put_i32(i32::try_from(wait_ns / 1_000_000).unwrap_or(i32::MAX));
        request.put_i32(self.options.min_bytes);
        request.put_i32(self.options.max_bytes);
        request.put_i8(i8::from(self.options.is_committed_only));
        // No session.
        request.put_i32(0);
        request.put_i32(-1);
        request.put_count(positions.len());
        for position in positions {
            request.put_text(&position.topic);
            request.put_count(1);
            request.put_i32(position.partition);
            request.put_i32(-1);
            request.put_i64(position.fetch.unwrap_or(0));
            request.put_i64(-1);
            request.put_i32(self.options.max_bytes);
        }
        request.put_count(0);
        request
    }

    fn read_answer(
        &mut self,
        answer: &mut Reader,
        asked: &[Position],
        problems: &mut Vec<Problem>,
    ) -> Result<(), KafkaError> {
        answer.skip(4)?;
        checked(answer.i16()?)?;
        answer.skip(4)?;
        for _ in 0..answer.count(2 + 4)? {
            let topic = answer.text()?;
            for _ in 0..answer.count(4 + 2 + 8 + 8 + 8 + 4 + 4)? {
                self.cluster.world.pause()?;
                let (partition, code) = (answer.i32()?, answer.i16()?);
                let high_watermark = answer.i64()?;
                answer.skip(8 + 8)?;
                let mut aborted = VecDeque::new();
                for _ in 0..answer.count(8 + 8)? {
                    aborted.push_back((answer.i64()?, answer.i64()?));
                }
                aborted.make_contiguous().sort_by_key(|&(_, first)| first);
                let records = Reader::new(answer.bytes()?);
                let is_asked = |position: &&Position| *position.topic == *topic && position.partition == partition;
                // What was not asked for is not looked at.
                let Some(position) = asked.iter().find(is_asked) else { continue };
                if let Err(error) = checked(code) {
                    problems.push((Rc::clone(&position.topic), partition, error));
                    continue;
                }
                if !self.options.is_committed_only {
                    aborted.clear();
                }
                let topic = Rc::clone(&position.topic);
                let fetched = Fetched { topic, partition, high_watermark, aborted, records };
                if let Some(end) = fetched.end() {
                    if end <= position.fetch.unwrap_or(0) {
                        return Err(KafkaError::malformed("the records are older than what was asked for"));
                    }
                    if let Some(position) = self.position_of(&fetched.topic, partition) {
                        position.fetch = Some(end);
                    }
                    self.queue.push(fetched);
                }
            }
        }
        Ok(())
    }

    fn refused(
        &mut self,
        topic: &str,
        partition: i32,
        error: KafkaError,
        unled: &mut Option<KafkaError>,
    ) -> Result<(), KafkaError> {
        if error.code() == Some(code::OFFSET_OUT_OF_RANGE) {
            // The messages are gone: it goes on where a new reader would begin.
            if let Some(position) = self.position_of(topic, partition) {
                position.fetch = None;
            }
        } else if !error.is_passing() {
            return Err(error);
        }
        self.cluster.forget(topic);
        *unled = Some(if error.is_passing() { error } else { KafkaError::broken(error.to_string()) });
        Ok(())
    }
}

/// A broker is asked again after that long: connections that nothing comes over may be dead.
const WAIT_MAX_NS: u64 = 10_000_000_000;
