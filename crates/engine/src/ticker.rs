//! Once a second: what the thread folded goes out.

use std::{rc::Rc, sync::atomic::Ordering, time::Duration};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_metrics::{Histogram, builtin};

use crate::{Event, ThreadSample, worker::Worker};

/// The interval of deltas, and of the `vus` gauges as in k6.
const INTERVAL: Duration = Duration::from_secs(1);
/// The gauges are read so long before the delta they go into: tests last whole seconds, and at their very end VUs are
/// already gone.
const GAUGE_LEAD: Duration = Duration::from_millis(20);

pub(crate) fn start(worker: &Rc<Worker>) {
    let own = worker.clone();
    let fiber = onrush_fiber::spawn(None, move || {
        let mut next = Clock::now() + INTERVAL;
        // The gauges are the instance's, so one thread emits them.
        let mut is_gauge_due = own.thread == 0;
        while !own.is_shut_down.get() {
            let at = if is_gauge_due { Nanos(next.0.saturating_sub(GAUGE_LEAD.as_nanos() as u64)) } else { next };
            if onrush_fiber::sleep_until(at) == Woke::Cancelled {
                onrush_fiber::clear_cancel();
                continue;
            }
            if std::mem::take(&mut is_gauge_due) {
                let state = &own.common.config.run.state;
                own.js.add_sample(builtin::VUS, state.vus_active.get() as f64);
                own.js.add_sample(builtin::VUS_MAX, state.vus_initialized.load(Ordering::Relaxed) as f64);
                continue;
            }
            let due = aligned(next, own.scenarios_at.get());
            let interval = Duration::from_nanos(due.0.saturating_sub(next.0));
            next = due;
            is_gauge_due = own.thread == 0 && interval == INTERVAL;
            send_sample(&own, None);
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

/// The tick after `previous`: at whole seconds of the scenarios once they run, so that deltas of all threads cover the
/// same time and windows of thresholds, which are whole seconds long, can be put together from them.
fn aligned(previous: Nanos, scenarios_at: Option<Nanos>) -> Nanos {
    let next = previous + INTERVAL;
    let second = INTERVAL.as_nanos() as u64;
    match scenarios_at {
        Some(at) if next > at => Nanos(next.0 - (next.0 - at.0) % second),
        _ => next,
    }
}

/// Sends what was folded since the last sample. `flush`: who asks for it.
pub(crate) fn send_sample(worker: &Rc<Worker>, flush: Option<u64>) {
    worker.js.hand_over();
    let stats = onrush_fiber::stats().unwrap_or_default();
    let at = Clock::now();
    let mut delta = worker.js.drain();
    delta.stamp(worker.common.config.run.state.elapsed(at).0);
    let mut ended = vec![0; worker.common.scenarios.len()];
    for run in worker.runs.borrow().iter() {
        ended[run.index] = run.ended.take();
    }
    let sample = ThreadSample {
        thread: worker.thread,
        delta,
        ended,
        at,
        flush,
        in_scenarios: worker.scenarios_at.get().is_some(),
        loop_lag: stats.loop_lag,
        start_lag: worker.start_lag.replace(Histogram::new()),
        own_delays: worker.js.take_own_delays(),
        stack_bytes_max: stats.max_saved_bytes,
        panics: stats.panics,
        trapped_writes: worker.js.trapped_writes(),
    };
    worker.common.send(Event::Sample(Box::new(sample)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_move_to_whole_seconds_of_the_scenarios() {
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        let check = |previous, at: Option<u64>, expect| {
            assert_eq!(aligned(ms(previous), at.map(ms)), ms(expect), "{previous} {at:?}");
        };
        check(300, None, 1_300);
        check(1_300, Some(500), 1_500);
        check(1_500, Some(500), 2_500);
        check(2_500, Some(500), 3_500);
        // The scenarios start after the next tick, which a thread learns only then.
        check(300, Some(1_400), 1_300);
        check(400, Some(1_400), 1_400);
    }
}
