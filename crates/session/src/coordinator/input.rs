//! All that ever came into a coordinator, so that another one can become what it was: the same inputs at the same times give
//! the same coordinator and the same orders.
//!
//! Whoever keeps a run for the case that its coordinator ends gives it a [`Journal`], and makes each input last before anything
//! that follows from it leaves the process: orders, and word to an agent that its report has come.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};

use super::function::Function;
use crate::{
    Steer, Stop,
    protocol::{AgentId, Relayed, Report, Time},
};

/// Something that changes a coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input<'a> {
    /// [`start`](super::Coordinator::start).
    Start(Cow<'a, [u8]>),
    /// [`handle`](super::Coordinator::handle).
    Report {
        /// Who reports.
        from: AgentId,
        /// What.
        report: Cow<'a, Report>,
    },
    /// [`tick`](super::Coordinator::tick).
    Tick,
    /// [`lost`](super::Coordinator::lost) and [`silent`](super::Coordinator::silent).
    Lost {
        /// Who.
        agent: AgentId,
        /// Why.
        why: Cow<'a, str>,
        /// It may still make load.
        may_run: bool,
    },
    /// [`abort`](super::Coordinator::abort).
    Abort(Cow<'a, Stop>),
    /// [`call`](super::Coordinator::call).
    Call(Function, u64),
    /// [`set_setup_data`](super::Coordinator::set_setup_data).
    SetupData(Option<Cow<'a, str>>),
    /// [`steer`](super::Coordinator::steer).
    Steer(Cow<'a, Steer>),
    /// [`pause`](super::Coordinator::pause).
    Pause {
        /// Or resume.
        is_paused: bool,
        /// Who wants it.
        source: Cow<'a, str>,
    },
    /// [`stop_clock`](super::Coordinator::stop_clock).
    StopClock,
    /// [`close`](super::Coordinator::close).
    Close,
    /// [`outputs_lack`](super::Coordinator::outputs_lack).
    OutputsLack(u64),
    /// [`summarize`](super::Coordinator::summarize).
    Summarize(Cow<'a, str>),
    /// [`stop_agents`](super::Coordinator::stop_agents).
    StopAgents,
    /// [`resume`](super::Coordinator::resume).
    Resume {
        /// How long nobody was there.
        away: Duration,
    },
    /// [`join`](super::Coordinator::join).
    Join {
        /// Who.
        agent: AgentId,
        /// How much it is to bear.
        weight: u64,
    },
    /// [`relayed`](super::Coordinator::relayed).
    Relayed(Cow<'a, Relayed>),
    /// [`receiver_lacks`](super::Coordinator::receiver_lacks).
    ReceiverLacks(Cow<'a, str>),
}

/// Takes every input before the coordinator does.
pub trait Journal: Send {
    /// Notes an input, and when it came.
    fn note(&mut self, input: &Input<'_>, now: Time);
}
