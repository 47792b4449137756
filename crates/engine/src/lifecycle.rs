//! `setup`, `teardown` and `handleSummary`: each in a transient VU with id 0, on the first thread, with a time limit.

use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};

use onrush_fiber::{Clock, Woke};
use onrush_js::{ScriptFailure, Vu};

use crate::{Event, LifecycleError, worker::Worker};

/// Which function to call.
pub(crate) enum Call {
    Setup,
    Teardown(Option<Arc<str>>),
    HandleSummary(String),
}

impl Call {
    fn name(&self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Teardown(_) => "teardown",
            Self::HandleSummary(_) => "handleSummary",
        }
    }
}

/// Runs the call on a fiber of its own and sends its event.
pub(crate) fn call(worker: &Rc<Worker>, call: Call) {
    let timeouts = &worker.common.config.timeouts;
    let limit = match call {
        Call::Setup => timeouts.setup,
        Call::Teardown(_) => timeouts.teardown,
        Call::HandleSummary(_) => timeouts.handle_summary,
    };
    let vu = worker.js.new_vu(0, 0);
    let hooks = vu.hooks();
    let timed_out = Rc::new(Cell::new(false));
    let (own, flag, function) = (worker.clone(), timed_out.clone(), call.name());
    let fiber = onrush_fiber::spawn(Some(hooks), move || {
        let event = run(&vu, call, |failure| {
            if flag.get() {
                LifecycleError::Timeout { function, after: limit }
            } else {
                LifecycleError::Script(failure)
            }
        });
        own.lifecycle_fiber.set(None);
        own.common.send(event);
        // The VU's heap is freed with the process: freeing it here would run on its own fiber.
        std::mem::forget(vu);
    });
    worker.lifecycle_fiber.set(Some(fiber));
    watch(fiber, limit, timed_out);
}

fn run(vu: &Rc<Vu>, call: Call, error: impl Fn(ScriptFailure) -> LifecycleError) -> Event {
    let ready = vu.init();
    vu.activate(None);
    match call {
        Call::Setup => {
            let result = ready.and_then(|()| if vu.exports("setup") { vu.setup() } else { Ok(Ok(None)) });
            Event::SetupDone(result.map_err(error).and_then(|data| data.map_err(LifecycleError::Data)))
        }
        Call::Teardown(data) => {
            let result =
                ready.and_then(|()| if vu.exports("teardown") { vu.teardown(data.as_deref()) } else { Ok(()) });
            Event::TeardownDone(result.map_err(error))
        }
        Call::HandleSummary(data) => {
            let result =
                ready.and_then(|()| if vu.exports("handleSummary") { vu.handle_summary(&data) } else { Ok(None) });
            Event::HandleSummaryDone(result.map_err(error))
        }
    }
}

/// Cancels `fiber` when it is still alive after `limit`.
fn watch(fiber: onrush_fiber::FiberId, limit: Duration, timed_out: Rc<Cell<bool>>) {
    onrush_fiber::spawn(None, move || {
        let deadline = Clock::now() + limit;
        // Short waits instead of one: the watcher must not keep the thread alive for a minute after the call returned.
        const STEP: Duration = Duration::from_millis(100);
        while onrush_fiber::is_alive(fiber) {
            let now = Clock::now();
            if now >= deadline {
                timed_out.set(true);
                onrush_fiber::cancel(fiber);
                return;
            }
            if onrush_fiber::sleep_until(deadline.min(now + STEP)) == Woke::Cancelled {
                return;
            }
        }
    });
}
