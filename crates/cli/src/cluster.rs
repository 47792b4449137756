//! What the flags say about the agents of a run: where they are, how many, and what happens when one is lost.

use std::{net::SocketAddr, time::Duration};

use onrush_cluster::{Access, HubError, Patience};
use onrush_session::LossPolicy;

use crate::{
    failure::Failure,
    flags::{Command, Flags},
    membership,
    sharing::Sharing,
};

/// Where a coordinator listens unless it is said otherwise.
pub(crate) const PORT: u16 = 6567;
const LISTEN: &str = "0.0.0.0:6567";
/// How long agents and coordinators wait for each other.
const WAIT: Duration = Duration::from_secs(300);
/// More agents than any test was run with.
const AGENTS_MAX: u32 = 1_000;
/// Most processes on this machine.
const CHILDREN_MAX: u32 = 256;

/// The agents of a run, where they are not threads of this process.
#[derive(Debug, Clone)]
pub(crate) struct ClusterArgs {
    pub(crate) place: Place,
    pub(crate) on_loss: LossPolicy,
    /// How agents on other machines share the test.
    pub(crate) sharing: Sharing,
    pub(crate) patience: Patience,
}

/// Where the agents are.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Processes on this machine; `None`: as many as it takes.
    Here(Option<u32>),
    /// They join from anywhere.
    Anywhere { listen: SocketAddr, agents: u32, wait: Duration, access: Box<Access> },
}

impl ClusterArgs {
    /// Reads the flags of `run` and `coordinator`; `None` for a run in this process.
    ///
    /// # Errors
    /// 255 for values that cannot be used.
    pub(crate) fn new(flags: &Flags, command: Command, warn: &mut dyn FnMut(String)) -> Result<Option<Self>, Failure> {
        let on_loss = match flags.text("on-agent-loss").as_deref() {
            None | Some("fail") => LossPolicy::Fail,
            Some("tolerate") => LossPolicy::Tolerate,
            Some("rebalance") => LossPolicy::Rebalance,
            Some(other) => {
                return Err(Failure::other(format!(
                    "invalid --on-agent-loss \"{other}\": use fail, tolerate or rebalance"
                )));
            }
        };
        let patience = patience(flags)?;
        let agents = flags.text("agents");
        if command != Command::Coordinator {
            let place = match agents.as_deref() {
                None => return Ok(None),
                Some("auto") => Place::Here(None),
                Some(text) => Place::Here(Some(number(text, CHILDREN_MAX, " or auto")?)),
            };
            return Ok(Some(Self { place, on_loss, sharing: Sharing::default(), patience }));
        }
        let agents = agents
            .ok_or_else(|| Failure::other("--agents is missing: how many agents must join before the test starts?"))?;
        let listen = listen(flags)?;
        let (agents, wait) = (number(&agents, AGENTS_MAX, "")?, wait(flags)?);
        let access = Box::new(membership::access(flags, listen, false, warn)?);
        let place = Place::Anywhere { listen, agents, wait, access };
        Ok(Some(Self { place, on_loss, sharing: Sharing::new(flags)?, patience }))
    }
}

impl ClusterArgs {
    /// The same for a run that goes on: agents know where, and what lets them in.
    ///
    /// # Errors
    /// 255 for values that cannot be used.
    pub(crate) fn resumed(
        flags: &Flags,
        listen: SocketAddr,
        access: Option<Access>,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self, Failure> {
        let own = Self::new(flags, Command::Coordinator, warn)?;
        let Some(Self { place: Place::Anywhere { agents, wait, access: own_access, .. }, on_loss, sharing, patience }) =
            own
        else {
            return Err(Failure::other("the journal is of no run that can go on"));
        };
        let access = access.map_or(own_access, Box::new);
        Ok(Self { place: Place::Anywhere { listen, agents, wait, access }, on_loss, sharing, patience })
    }
}

/// Why a coordinator serves nobody, and what to do.
pub(crate) fn not_listening(error: &HubError) -> Failure {
    let failure = Failure::other(error.to_string());
    match error {
        HubError::Listen(..) => failure.hint("choose another address with --listen"),
        HubError::Plain(_) => failure,
    }
}

/// What agents and users are to dial, as far as this machine can tell.
pub(crate) fn reachable(address: SocketAddr) -> String {
    if address.ip().is_unspecified() { format!("THIS_HOST:{}", address.port()) } else { address.to_string() }
}

/// `--listen` of a coordinator.
///
/// # Errors
/// 255 for what is no address.
pub(crate) fn listen(flags: &Flags) -> Result<SocketAddr, Failure> {
    let text = flags.text("listen").unwrap_or_else(|| LISTEN.to_owned());
    text.parse().map_err(|_| {
        Failure::other(format!("invalid --listen \"{text}\": use an IP address and a port, such as {LISTEN}"))
    })
}

/// How many agents a run wants that is sent to a coordinator.
///
/// # Errors
/// 255 for what is no number.
pub(crate) fn wanted(flags: &Flags) -> Result<u32, Failure> {
    flags.text("agents").map_or(Ok(1), |text| number(&text, AGENTS_MAX, ""))
}

/// `--wait`.
///
/// # Errors
/// 255 for what is no time.
pub(crate) fn wait(flags: &Flags) -> Result<Duration, Failure> {
    duration(flags, "wait", WAIT)
}

/// How long coordinator and agents wait for each other once they are connected.
fn patience(flags: &Flags) -> Result<Patience, Failure> {
    let default = Patience::default();
    let patience = Patience {
        suspect: duration(flags, "agent-suspect", default.suspect)?,
        silence: duration(flags, "agent-silence", default.silence)?,
        lease: duration(flags, "agent-lease", default.lease)?,
    };
    patience.checked().map_err(|error| {
        Failure::other(error.to_string()).hint(
            "choose --agent-suspect, --agent-silence and --agent-lease so that none is shorter than the one before",
        )
    })
}

fn duration(flags: &Flags, name: &str, default: Duration) -> Result<Duration, Failure> {
    let Some(text) = flags.text(name) else { return Ok(default) };
    match onrush_plan::parse_extended_duration(&text) {
        Ok(time) => Ok(time.as_std()),
        Err(error) => Err(Failure::other(format!("invalid --{name} \"{text}\": {error}"))),
    }
}

fn number(text: &str, max: u32, or: &str) -> Result<u32, Failure> {
    let number = text.parse().ok().filter(|number| (1..=max).contains(number));
    number.ok_or_else(|| Failure::other(format!("invalid --agents \"{text}\": use 1 to {max}{or}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(command: Command, flags: &[(&'static str, &str)]) -> Result<Option<ClusterArgs>, String> {
        let by_name = flags.iter().map(|(name, value)| (*name, vec![(*value).to_owned()])).collect();
        let flags = Flags { by_name, env: std::collections::BTreeMap::new() };
        ClusterArgs::new(&flags, command, &mut |_| {}).map_err(|failure| failure.message)
    }

    #[test]
    fn agents_of_this_machine() {
        assert!(args(Command::Run, &[]).expect("no flag").is_none());
        let place = |text| args(Command::Run, &[("agents", text)]).expect("a number").expect("agents").place;
        assert!(matches!(place("4"), Place::Here(Some(4))) && matches!(place("auto"), Place::Here(None)));
        for bad in ["0", "-1", "257", "many"] {
            let error = args(Command::Run, &[("agents", bad)]).expect_err("no number");
            assert_eq!(error, format!("invalid --agents \"{bad}\": use 1 to 256 or auto"));
        }
    }

    #[test]
    fn agents_of_other_machines() {
        assert!(args(Command::Coordinator, &[]).expect_err("how many").starts_with("--agents is missing"));
        let three = args(Command::Coordinator, &[("agents", "3"), ("on-agent-loss", "tolerate")]);
        let three = three.expect("right").expect("agents");
        assert_eq!(three.on_loss, LossPolicy::Tolerate);
        let Place::Anywhere { listen, agents, wait, .. } = three.place else { panic!("{three:?}") };
        assert_eq!((listen.port(), agents, wait), (PORT, 3, WAIT));
        let waits = [("agents", "3"), ("agent-silence", "7s"), ("agent-lease", "9s")];
        let patience = args(Command::Coordinator, &waits).expect("right").expect("agents").patience;
        let seconds = [patience.suspect, patience.silence, patience.lease].map(|wait| wait.as_secs());
        assert_eq!(seconds, [1, 7, 9]);
        let error = args(Command::Run, &[("agents", "3"), ("agent-silence", "7s")]).expect_err("the lease is shorter");
        assert!(
            error.contains("lease (5 s) cannot be shorter than the silence after which it is lost (7 s)"),
            "{error}"
        );
        for bad in [("listen", "here"), ("join-token", "a b"), ("wait", "long"), ("on-agent-loss", "cry")] {
            args(Command::Coordinator, &[("agents", "3"), bad]).expect_err(bad.0);
        }
    }
}
