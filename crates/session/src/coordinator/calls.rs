//! `setup()` and `teardown()` that a client of the run asks for, and what it wants changed.

use std::{borrow::Cow, sync::Arc};

use super::{Coordinator, Function, Input, Notice, Orders, RunPhase};
use crate::{
    Moment, Steer, SteerError,
    protocol::{Command, Time},
};

/// A function that runs for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClientCall {
    number: u64,
    function: Function,
}

impl Coordinator {
    /// Runs a function for a client, if nothing else of the kind runs; [`Notice::CallDone`] follows. What the run would
    /// do next of its own waits for it.
    ///
    /// # Errors
    /// Why not now.
    pub fn call(&mut self, function: Function, number: u64, now: Time) -> Result<Orders, &'static str> {
        self.note(&Input::Call(function, number), now);
        match self.phase {
            RunPhase::Initializing => return Err("the VUs are still being initialised"),
            RunPhase::Setup => return Err("setup() is running"),
            RunPhase::Teardown => return Err("teardown() is running"),
            RunPhase::Paused | RunPhase::Running if self.call.is_some() => {
                return Err("setup() or teardown() is running for another client");
            }
            RunPhase::Paused | RunPhase::Running => {}
            RunPhase::Done | RunPhase::Closing | RunPhase::Closed => return Err("the test is over"),
        }
        self.call = Some(ClientCall { number, function });
        self.run_on_one(match function {
            Function::Setup => Command::Setup,
            Function::Teardown => Command::Teardown(self.setup_data.clone()),
        });
        Ok(self.take())
    }

    /// The client's function has ended, or its agent is lost.
    pub(super) fn call_done(&mut self, result: Result<Option<Arc<str>>, String>, now: Time) {
        let Some(ClientCall { number, function }) = self.call.take() else { return };
        if let (Function::Setup, Ok(data)) = (function, &result) {
            self.replace_setup_data(data.clone());
        }
        self.notices.push(Notice::CallDone { call: number, result });
        if let Some(step) = self.deferred.take() {
            self.step(step, now);
        }
    }

    /// Replaces what `setup()` returned.
    pub fn set_setup_data(&mut self, data: Option<Arc<str>>, now: Time) -> Orders {
        self.note(&Input::SetupData(data.as_deref().map(Cow::Borrowed)), now);
        self.replace_setup_data(data);
        self.take()
    }

    fn replace_setup_data(&mut self, data: Option<Arc<str>>) {
        self.setup_data = data.clone();
        self.tell_all(&Command::SetupData(data));
    }

    /// Changes the target of a scenario, also before it runs.
    ///
    /// # Errors
    /// Why not; then nothing is changed.
    pub fn steer(&mut self, steer: Steer, now: Time) -> Result<Orders, SteerError> {
        self.note(&Input::Steer(Cow::Borrowed(&steer)), now);
        let moment = self.clock.moment(now);
        self.steer_at(steer, moment)?;
        Ok(self.take())
    }

    pub(super) fn steer_at(&mut self, steer: Steer, moment: Moment) -> Result<(), SteerError> {
        if self.phase > RunPhase::Running || self.stop.is_some() {
            return Err(SteerError::AllOver);
        }
        let changes = self.steering.steer(steer.clone(), moment)?;
        if changes.is_empty() {
            self.divide_anew(&steer, moment);
        }
        for (scenario, change) in changes {
            self.tell_target(scenario, change);
        }
        Ok(())
    }

    /// Pauses or resumes the run: before its start always, later only what can stand still.
    ///
    /// # Errors
    /// In k6's words.
    pub fn pause(&mut self, is_paused: bool, source: String, now: Time) -> Result<Orders, SteerError> {
        self.note(&Input::Pause { is_paused, source: Cow::Borrowed(&source) }, now);
        let moment = self.clock.moment(now);
        if self.phase > RunPhase::Paused {
            self.steering.pause(is_paused, source, moment)?;
            if is_paused {
                self.clock.stop(now);
            } else {
                let stood = self.clock.go_on(now);
                self.deadline = self.deadline.map(|deadline| deadline + stood);
            }
            self.tell_all(&Command::Pause { is_paused, at: now });
            return Ok(self.take());
        }
        match (self.settings.starts_paused, is_paused) {
            (true, true) => Err(SteerError::PausedBeforeStart),
            (false, false) => Err(SteerError::NotPaused),
            _ => {
                self.steering.note_pause(is_paused, source, moment)?;
                self.settings.starts_paused = is_paused;
                if self.phase == RunPhase::Paused {
                    self.begin(now);
                }
                Ok(self.take())
            }
        }
    }
}
