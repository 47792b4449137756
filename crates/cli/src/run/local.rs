//! The one agent of a run on this machine: a thread of this process, and the queue its reports come through.

use std::sync::mpsc::Sender;

use onrush_agent::{Commander, Test, channel, serve};
use onrush_cluster::Event;
use onrush_fiber::Clock;
use onrush_session::{
    Orders,
    protocol::{AgentId, ClockOffset, Command, Report, Time},
};

/// The one agent.
pub(super) const AGENT: AgentId = AgentId(0);

/// What wakes the loop that drives a run.
#[derive(Debug)]
pub(super) enum Input {
    /// The agent has something to say.
    Report(Report),
    /// The REST API has.
    Call,
    /// The agent's thread has ended.
    Gone,
    /// Something happened to agents in other processes.
    Cluster(Event),
    /// Something is to be sent to an agent.
    Order(AgentId, Command),
    /// An agent's process has ended, and how.
    ChildEnded(AgentId, String),
}

/// The way to the agent.
pub(super) struct LocalAgent {
    commander: Commander,
}

impl LocalAgent {
    /// Starts the agent's thread. It has its test already: what travels to other machines as an archive stays in memory.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn start(test: Test, inputs: Sender<Input>) -> std::io::Result<Self> {
        let (commander, inbox) = channel();
        std::thread::Builder::new().name("agent".to_owned()).spawn(move || {
            let _gone = Gone(inputs.clone());
            let report = move |report| {
                // The loop only goes away when the process is about to end.
                let _ = inputs.send(Input::Report(report));
            };
            let engine = serve(&inbox, ClockOffset::default, |_| Ok(test), report);
            // Ending the process ends the threads. Their VUs are not torn down one by one: there may be 100,000 of them.
            std::mem::forget(engine);
        })?;
        Ok(Self { commander })
    }

    /// Sends what the coordinator wants.
    pub(super) fn send(&self, orders: Orders) {
        orders.into_iter().for_each(|(_, command)| self.commander.send(command));
    }
}

/// Says that the agent's thread has ended, however it did: whoever waits for its reports must learn of a panic.
struct Gone(Sender<Input>);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.0.send(Input::Gone);
    }
}

/// The time of the run. In one process there is one clock.
pub(super) fn now() -> Time {
    Time(Clock::now().0)
}
