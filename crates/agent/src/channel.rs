//! The way commands reach an agent, and its engine's events beside them.

use std::{
    sync::mpsc::{Receiver, Sender, channel as queue},
    time::Duration,
};

use onrush_engine::Event;
use onrush_session::protocol::Command;

/// Something an agent has to look at.
#[derive(Debug)]
pub(crate) enum Input {
    /// The coordinator wants something.
    Command(Command),
    /// The engine did something.
    Engine(Event),
    /// The coordinator is gone: nobody will say `Stop`.
    Gone,
}

/// The coordinator's end. Dropping it ends the agent's work.
#[derive(Debug)]
pub struct Commander(Sender<Input>);

/// The agent's end.
#[derive(Debug)]
pub struct Inbox {
    inputs: Receiver<Input>,
    /// For the engine's events.
    sender: Sender<Input>,
}

/// A way to an agent in this process.
pub fn channel() -> (Commander, Inbox) {
    let (sender, inputs) = queue();
    (Commander(sender.clone()), Inbox { inputs, sender })
}

impl Commander {
    /// Sends a command. An agent that has ended does not miss it.
    pub fn send(&self, command: Command) {
        let _ = self.0.send(Input::Command(command));
    }
}

impl Drop for Commander {
    fn drop(&mut self) {
        let _ = self.0.send(Input::Gone);
    }
}

impl Inbox {
    /// What comes next, if it comes in time.
    pub(crate) fn next(&self, patience: Duration) -> Option<Input> {
        // It holds a sender itself, so the only failure is that time is up.
        self.inputs.recv_timeout(patience).ok()
    }

    /// What is there already.
    pub(crate) fn more(&self) -> Option<Input> {
        self.inputs.try_recv().ok()
    }

    /// For the engine.
    pub(crate) fn events(&self) -> impl Fn(Event) + Send + Sync + 'static {
        let sender = self.sender.clone();
        move |event| {
            // The agent only goes away when its run is over.
            let _ = sender.send(Input::Engine(event));
        }
    }
}
