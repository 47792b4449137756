//! Samples of an agent on their way to the outputs of its coordinator: a bounded queue, and one thread that sends.

use std::{
    collections::BTreeMap,
    sync::mpsc::{Receiver, sync_channel},
    time::Duration,
};

use onrush_metrics::SampleBatch;

use crate::{
    pump::OutputError,
    queue::{Inlets, Next, Outlet, Taps, Unsent, queue},
    share::Share,
};

/// The way of an agent's samples to its coordinator.
pub struct Forward {
    inlets: Inlets,
    ended: Receiver<()>,
}

impl Forward {
    /// Starts the thread. `share` of the samples are sent; `ahead_ns` says how far the coordinator's clock is ahead of this
    /// process's; `send` takes a thread's batch, or gives it back at once.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        share: Share,
        ahead_ns: impl Fn() -> i64 + Send + 'static,
        send: impl FnMut(usize, SampleBatch) -> Result<(), SampleBatch> + Send + 'static,
    ) -> Result<Self, OutputError> {
        let (inlets, outlet) = queue();
        let (done, ended) = sync_channel(1);
        let mut sender = Sender { share, ahead_ns, send, unsent: BTreeMap::new(), inlets: inlets.clone() };
        let body = move || {
            sender.run(&outlet);
            // Whoever waited may have lost patience.
            let _ = done.send(());
        };
        std::thread::Builder::new().name("samples".to_owned()).spawn(body).map_err(OutputError::Thread)?;
        Ok(Self { inlets, ended })
    }

    /// Makes the taps of worker threads.
    pub fn taps(&self) -> Taps {
        self.inlets.taps()
    }

    /// Waits until everything that was handed over is sent, but not for ever. Returns how many samples were not.
    pub fn finish(self) -> u64 {
        /// Sending only fills a queue.
        const PATIENCE: Duration = Duration::from_secs(5);
        self.inlets.end();
        let is_over = self.ended.recv_timeout(PATIENCE).is_ok();
        self.inlets.lost() + if is_over { 0 } else { self.inlets.pending() }
    }
}

/// What the thread does.
struct Sender<A, S> {
    share: Share,
    ahead_ns: A,
    send: S,
    unsent: BTreeMap<usize, Unsent>,
    inlets: Inlets,
}

impl<A: Fn() -> i64, S: FnMut(usize, SampleBatch) -> Result<(), SampleBatch>> Sender<A, S> {
    const INTERVAL: Duration = Duration::from_millis(100);

    fn run(&mut self, outlet: &Outlet) {
        loop {
            match outlet.next(Self::INTERVAL) {
                Next::Batch { thread, batch } => self.take(outlet, thread, batch),
                Next::Nothing => {}
                Next::End => break,
            }
        }
        outlet.rest().for_each(|(thread, batch)| self.take(outlet, thread, batch));
    }

    fn take(&mut self, outlet: &Outlet, thread: usize, mut batch: SampleBatch) {
        let taken = batch.samples.len() as u64;
        let ahead_ns = (self.ahead_ns)();
        batch.samples.retain_mut(|sample| {
            let is_wanted = self.share.has(thread, sample.time);
            sample.time = sample.time.saturating_add_signed(ahead_ns);
            is_wanted
        });
        let unsent = self.unsent.entry(thread).or_default();
        unsent.join(&mut batch);
        let samples = batch.samples.len() as u64;
        if samples == 0 {
            unsent.keep(batch);
        } else if let Err(batch) = (self.send)(thread, batch) {
            self.inlets.lose(samples);
            unsent.keep(batch);
        }
        outlet.done(taken);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use onrush_metrics::{RawSample, TagPairs, builtin};

    use super::*;

    fn sample(time: u64, tags: u32) -> RawSample {
        RawSample { metric: builtin::HTTP_REQS, tags, metadata: RawSample::NO_METADATA, time, value: 1.0 }
    }

    fn set(value: &str) -> TagPairs {
        [("tag".into(), value.into())].into()
    }

    #[test]
    fn what_finds_no_room_is_counted_and_its_tag_sets_come_with_the_next() {
        let sent: Arc<Mutex<Vec<SampleBatch>>> = Arc::default();
        let (own, mut turn) = (sent.clone(), 0);
        let send = move |_: usize, batch: SampleBatch| {
            turn += 1;
            // The second and the third find the connection behind.
            if turn == 2 || turn == 3 {
                return Err(batch);
            }
            own.lock().expect("no panic").push(batch);
            Ok(())
        };
        let forward = Forward::start(Share::ALL, || -1_000, send).expect("a thread");
        for number in 0..4_u32 {
            let batch = SampleBatch {
                samples: vec![sample(5_000 + u64::from(number), number), sample(6_000, 0)],
                first_tag_set: number,
                tag_sets: vec![set(&number.to_string())],
                metadata: Vec::new(),
            };
            assert!(forward.inlets.put(0, batch).is_ok());
        }
        assert_eq!(forward.finish(), 4);
        let sent = sent.lock().expect("no panic");
        assert_eq!(sent.len(), 2);
        assert_eq!((sent[0].first_tag_set, &sent[0].tag_sets), (0, &vec![set("0")]));
        assert_eq!((sent[1].first_tag_set, &sent[1].tag_sets), (1, &vec![set("1"), set("2"), set("3")]));
        let times: Vec<u64> = sent.iter().flat_map(|batch| batch.samples.iter().map(|sample| sample.time)).collect();
        assert_eq!(times, [4_000, 5_000, 4_003, 5_000]);
    }
}
