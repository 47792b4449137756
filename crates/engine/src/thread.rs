//! The body of a worker thread.

use std::sync::{Arc, mpsc::Sender};

use onrush_fiber::{Reactor, ReactorConfig, Remote};
use onrush_js::JsThread;

use crate::{Event, LifecycleError, common::Common, ticker, worker::Worker};

/// Says that a thread has ended, however it did: whoever waits for its events must learn of a panic.
struct Ended(Arc<Common>, usize);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.send(Event::ThreadEnded { thread: self.1 });
    }
}

/// Up to so many VUs of a thread have a stack of their own, so that waiting for a response copies nothing. With more,
/// what counts is memory: sharing one stack, a sleeping VU costs 3 KB of stack, else two pages at least.
const OWN_STACKS_VUS_MAX: usize = 256;
/// Fibers of a thread beside its VUs: executors' drivers, the ticker, parts of batches.
const OWN_STACKS_BESIDE_VUS: usize = 16;

fn own_stacks(vus: usize) -> usize {
    if vus <= OWN_STACKS_VUS_MAX { vus + OWN_STACKS_BESIDE_VUS } else { 0 }
}

/// Runs worker thread number `thread` to its end.
pub(crate) fn run(thread: usize, common: &Arc<Common>, ready: Sender<(usize, Remote)>) {
    let _ended = Ended(common.clone(), thread);
    onrush_fiber::ask_for_short_slices();
    let ids = common.planned_ids(thread);
    let failed = |message: String| common.send(Event::InitFailed(LifecycleError::Engine(message)));
    let reactor = match Reactor::new(ReactorConfig { own_stacks: own_stacks(ids.len()), ..ReactorConfig::default() }) {
        Ok(reactor) => reactor,
        Err(error) => return failed(format!("failed to start worker thread {thread}: {error}")),
    };
    let _ = ready.send((thread, reactor.remote()));
    drop(ready);
    let hold = reactor.remote().hold();
    let js = match JsThread::new(common.config.run.clone()) {
        Ok(js) => js,
        Err(error) => return failed(error.to_string()),
    };
    if let Some(taps) = &common.config.taps {
        js.tap(taps(thread));
    }
    if let Some(tracers) = &common.config.tracers {
        js.trace(tracers(thread));
    }
    let worker = Worker::install(thread, common.clone(), js, hold);
    worker.init_vus(&ids);
    ticker::start(&worker);
    reactor.run();
    ticker::send_sample(&worker, None);
    Worker::uninstall();
    // VUs are not torn down one by one: the process is about to end, and 100,000 heaps take seconds to walk.
    std::mem::forget(worker);
}
