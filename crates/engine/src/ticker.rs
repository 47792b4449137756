//! Once a second: what the thread folded goes out.

use std::{rc::Rc, sync::atomic::Ordering, time::Duration};

use onrush_fiber::{Clock, Woke};
use onrush_metrics::{Histogram, builtin};

use crate::{Event, ThreadSample, worker::Worker};

/// The interval of deltas, and of the `vus` gauges as in k6.
const INTERVAL: Duration = Duration::from_secs(1);

pub(crate) fn start(worker: &Rc<Worker>) {
    let own = worker.clone();
    let fiber = onrush_fiber::spawn(None, move || {
        let mut next = Clock::now() + INTERVAL;
        while !own.is_shut_down.get() {
            if onrush_fiber::sleep_until(next) == Woke::Cancelled {
                onrush_fiber::clear_cancel();
                continue;
            }
            next += INTERVAL;
            // The gauges are the instance's, so one thread emits them.
            if own.thread == 0 {
                let state = &own.common.config.run.state;
                own.js.add_sample(builtin::VUS, None, state.vus_active.load(Ordering::Relaxed) as f64);
                own.js.add_sample(builtin::VUS_MAX, None, state.vus_initialized.load(Ordering::Relaxed) as f64);
            }
            send_sample(&own);
        }
    });
    worker.ticker.set(Some(fiber));
    if worker.js.is_tapped() {
        hand_over_often(worker);
    }
}

/// Raw samples leave the thread more often than deltas: a process that is killed loses those it still has.
fn hand_over_often(worker: &Rc<Worker>) {
    const INTERVAL: Duration = Duration::from_millis(200);
    let own = worker.clone();
    let fiber = onrush_fiber::spawn(None, move || {
        while !own.is_shut_down.get() {
            if onrush_fiber::sleep_until(Clock::now() + INTERVAL) == Woke::Cancelled {
                onrush_fiber::clear_cancel();
            }
            own.js.hand_over();
        }
    });
    worker.tap_ticker.set(Some(fiber));
}

/// Sends what was folded since the last sample.
pub(crate) fn send_sample(worker: &Rc<Worker>) {
    worker.js.hand_over();
    let stats = onrush_fiber::stats().unwrap_or_default();
    let sample = ThreadSample {
        thread: worker.thread,
        delta: worker.js.drain(),
        loop_lag: stats.loop_lag,
        start_lag: worker.start_lag.replace(Histogram::new()),
        stack_bytes_max: stats.max_saved_bytes,
        panics: stats.panics,
        trapped_writes: worker.js.trapped_writes(),
    };
    worker.common.send(Event::Sample(Box::new(sample)));
}
