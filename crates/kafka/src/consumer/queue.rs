//! What was fetched and not yet given away. Batches are unpacked when it is their turn.

use std::{collections::VecDeque, rc::Rc};

use super::Message;
use crate::{
    KafkaError, World,
    record::{Batch, is_abort},
    wire::Reader,
};

/// What a partition gave.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) topic: Rc<str>,
    pub(super) partition: i32,
    pub(super) high_watermark: i64,
    /// Producers and the first offsets of their transactions that were aborted, by offset.
    pub(super) aborted: VecDeque<(i64, i64)>,
    pub(super) records: Reader,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    fetched: VecDeque<Fetched>,
    open: Option<Batch>,
    /// Producers whose transaction at this place was aborted.
    aborting: Vec<i64>,
}

impl Queue {
    pub(super) fn push(&mut self, fetched: Fetched) {
        self.fetched.push_back(fetched);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn len(&self) -> usize {
        self.fetched.len()
    }

    pub(super) fn drop_partition(&mut self, partition: i32) {
        if self.fetched.front().is_some_and(|fetched| fetched.partition == partition) {
            self.open = None;
            self.aborting.clear();
        }
        self.fetched.retain(|fetched| fetched.partition != partition);
    }

    fn bytes(&self) -> usize {
        self.fetched.iter().map(|fetched| fetched.records.left()).sum::<usize>()
    }

    /// Lets go of what the partition whose turn it is gave: which one.
    pub(super) fn drop_first(&mut self) -> Option<(Rc<str>, i32)> {
        self.open = None;
        self.aborting.clear();
        self.fetched.pop_front().map(|fetched| (fetched.topic, fetched.partition))
    }

    /// The next message. Whoever gets an error has to drop what it came from.
    pub(super) fn next<W: World>(&mut self, world: &mut W) -> Result<Option<Message>, KafkaError> {
        loop {
            let held = self.bytes();
            let Some(fetched) = self.fetched.front_mut() else {
                world.hold(0)?;
                return Ok(None);
            };
            if let Some(batch) = &mut self.open {
                if let Some(record) = batch.next()? {
                    world.pause()?;
                    return Ok(Some(Message {
                        topic: Rc::clone(&fetched.topic),
                        partition: fetched.partition,
                        offset: record.offset,
                        high_watermark: fetched.high_watermark,
                        time_ms: record.time_ms,
                        key: record.key,
                        value: record.value,
                        headers: record.headers,
                    }));
                }
                self.open = None;
            }
            let Some(mut batch) = Batch::read(world, &mut fetched.records, held)? else {
                self.fetched.pop_front();
                self.aborting.clear();
                continue;
            };
            world.hold(held + batch.bytes())?;
            while let Some(&(producer, first)) = fetched.aborted.front()
                && first <= batch.last_offset
            {
                self.aborting.push(producer);
                fetched.aborted.pop_front();
            }
            if batch.is_control() {
                if batch.next()?.is_some_and(|record| is_abort(&record)) {
                    self.aborting.retain(|producer| *producer != batch.producer);
                }
            } else if !(batch.is_transactional() && self.aborting.contains(&batch.producer)) {
                self.open = Some(batch);
            }
        }
    }
}

impl Fetched {
    /// The offset behind the last batch that is whole.
    pub(super) fn end(&self) -> Option<i64> {
        let mut reader = self.records.clone();
        let mut end = None;
        while let Some(next) = skip_batch(&mut reader) {
            end = Some(next);
        }
        end
    }
}

/// Passes by a batch; gives the offset behind it.
fn skip_batch(reader: &mut Reader) -> Option<i64> {
    let base = reader.i64().ok()?;
    let length = usize::try_from(reader.i32().ok()?).ok()?;
    let mut batch = Reader::new(reader.slice(length).ok()?);
    // The epoch, the format, the checksum, the attributes.
    batch.skip(4 + 1 + 4 + 2).ok()?;
    let last = batch.i32().ok()?.max(0);
    Some(base.saturating_add(i64::from(last)).saturating_add(1))
}
