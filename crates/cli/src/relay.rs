//! `onrush relay`: stands between many agents and their coordinator, so that these many cost it what a few do.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use onrush_cluster::{Access, Identity, Relay, RelayConfig, RelayEvent, Token};
use onrush_session::ExitCode;

use crate::{
    cluster::{self, not_listening, reachable},
    context::Context,
    failure::Failure,
    flags::Command,
    host, membership,
    signals::Watch,
    version,
};

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(100);

/// Relays until a signal comes, or the coordinator refuses.
///
/// # Errors
/// 255 when it cannot listen or is not let in, 105 for a signal.
pub(crate) fn relay(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let flags = &cx.flags;
    flags.refuse_unavailable(Command::Relay)?;
    if let [file, ..] = files {
        return Err(Failure::other(format!("a relay runs no test: remove {file}")));
    }
    let join = flags.text("join").ok_or_else(|| Failure::other("--join is missing: where is the coordinator?"))?;
    let listen = cluster::listen(flags)?;
    let mut warn = |warning| cx.logger.warn(warning);
    let to = membership::relayed(flags, &join, &mut warn)?;
    let access = match membership::of_members(flags, &mut warn)? {
        Some(access) => access,
        // The coordinator's secret stays between the two.
        None if listen.ip().is_loopback() => Access::plain(Token::random(), None),
        None => {
            let identity = Identity::made_now().map_err(|error| Failure::other(error.to_string()))?;
            Access::encrypted(Token::random(), None, identity)
        }
    };
    let signals = Watch::start(cx.logger.clone(), cx.terminal.clone())
        .map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))?;
    signals.set_graceful(true);
    let (sender, events) = channel();
    let name = flags.text("name").unwrap_or_else(host::name);
    let coordinator = to.coordinator.clone();
    let config = RelayConfig { listen, access, to, name, program: version::VERSION.to_owned() };
    // The loop only goes away when the process is about to end.
    let relay = Relay::listen(config, move |event| drop(sender.send(event))).map_err(|error| not_listening(&error))?;
    cx.terminal.stdout(invitation(&relay));
    loop {
        if let Some(signal) = signals.first() {
            let message = format!("the relay ended because Onrush received a '{signal}' signal");
            return Err(Failure::new(ExitCode::ExternalAbort, message));
        }
        match events.recv_timeout(TICK) {
            Ok(RelayEvent::Connected) => cx.logger.info(format!("connected with the coordinator {coordinator}")),
            Ok(RelayEvent::Broke { why }) => {
                cx.logger.warn(format!("no connection with the coordinator {coordinator}: {why}"));
            }
            Ok(RelayEvent::Gone { why }) => {
                return Err(Failure::other(format!("the coordinator {coordinator} refused this relay: {why}")));
            }
            Ok(RelayEvent::Refused { peer, why }) => {
                cx.logger.warn(format!("refused an agent from {}: {why}", peer.ip()))
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}

/// How agents join.
fn invitation(relay: &Relay) -> String {
    let (before, after) = match relay.token() {
        Some(token) => (format!("ONRUSH_JOIN_TOKEN={token} "), ""),
        None => (String::new(), " --tls AGENT_FOLDER"),
    };
    let address = relay.address;
    format!(
        "Relaying on {address}. On each machine:\n\n  {before}onrush agent --join {}{after}\n\n",
        reachable(address)
    )
}
