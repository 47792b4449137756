//! What the flags say about who is let in, and what is shown to be let in: `--tls` and `--join-token`.

use std::{net::SocketAddr, path::Path, time::Duration};

use onrush_certificates::{Member, Role};
use onrush_cluster::{Access, Credential, Destination, Identity, Token};
use onrush_fiber::Clock;

use crate::{cluster::PORT, failure::Failure, flags::Flags, host};

/// Whom a coordinator lets in that listens there. `users` are those who send runs, where it takes any.
///
/// # Errors
/// 255 for a token or a certificate that cannot be used.
pub(crate) fn access(
    flags: &Flags,
    listen: SocketAddr,
    takes_users: bool,
    warn: &mut dyn FnMut(String),
) -> Result<Access, Failure> {
    if let Some(access) = of_members(flags, warn)? {
        return Ok(access);
    }
    let token = |flag: &str| match flags.text(flag) {
        None => Ok(Token::random()),
        Some(text) => Token::parse(&text)
            .map_err(|_| Failure::other(format!("invalid --{flag}: use 8 letters, digits, - and _ or more"))),
    };
    let (agents, users) = (token("join-token")?, takes_users.then(|| token("user-token")).transpose()?);
    if users.as_ref() == Some(&agents) {
        return Err(Failure::other(
            "--user-token and --join-token are the same: an agent must not be able to send runs",
        )
        .hint("choose another secret for one of them"));
    }
    if listen.ip().is_loopback() {
        return Ok(Access::plain(agents, users));
    }
    let identity = Identity::made_now().map_err(|error| Failure::other(error.to_string()))?;
    Ok(Access::encrypted(agents, users, identity))
}

/// Whoever has a certificate of the authority is let in, where the flags have one.
///
/// # Errors
/// 255 for a certificate that cannot be used.
pub(crate) fn of_members(flags: &Flags, warn: &mut dyn FnMut(String)) -> Result<Option<Access>, Failure> {
    let member = member(flags, "tls", Role::Coordinator, warn)?;
    let access = member.map(|member| Access::members(&member));
    access.transpose().map_err(|error| Failure::other(error.to_string()))
}

/// A token as it is told to people: a secret they chose does not show.
pub(crate) fn told(flags: &Flags, flag: &str, token: &Token) -> String {
    if flags.text(flag).is_some() { token.without_secret() } else { token.to_string() }
}

/// How to reach the coordinator at `to` in a role.
///
/// # Errors
/// 255 where there is neither certificate nor token, or none that can be used.
pub(crate) fn destination(
    flags: &Flags,
    to: &str,
    role: Role,
    warn: &mut dyn FnMut(String),
) -> Result<Destination, Failure> {
    credential(flags, "tls", role, warn).map(|credential| at(to, credential))
}

/// How a relay reaches the coordinator at `to`: what it shows its agents (`--tls`) is another certificate.
///
/// # Errors
/// 255 where there is neither certificate nor token, or none that can be used.
pub(crate) fn relayed(flags: &Flags, to: &str, warn: &mut dyn FnMut(String)) -> Result<Destination, Failure> {
    credential(flags, "join-tls", Role::Agent, warn).map(|credential| at(to, credential))
}

fn at(to: &str, credential: Credential) -> Destination {
    Destination { coordinator: host::with_port(to, PORT), credential, run: None }
}

fn credential(flags: &Flags, tls: &str, role: Role, warn: &mut dyn FnMut(String)) -> Result<Credential, Failure> {
    Ok(match member(flags, tls, role, warn)? {
        Some(member) => Credential::member(&member).map_err(|error| Failure::other(error.to_string()))?,
        None => {
            let (flag, name, what) = match role {
                Role::User => ("user-token", "ONRUSH_USER_TOKEN", "user token"),
                Role::Agent | Role::Coordinator => ("join-token", "ONRUSH_JOIN_TOKEN", "join token"),
            };
            let token = flags.text(flag).ok_or_else(|| {
                Failure::other(format!("the {what} is missing")).hint(format!(
                    "set {name} to the token that the coordinator prints, or give a certificate with --{tls}"
                ))
            })?;
            Credential::token(&Token::parse(&token).map_err(|error| Failure::other(error.to_string()))?)
        }
    })
}

/// The folder of a flag, checked.
fn member(flags: &Flags, flag: &str, role: Role, warn: &mut dyn FnMut(String)) -> Result<Option<Member>, Failure> {
    let Some(dir) = flags.text(flag) else { return Ok(None) };
    let read = || {
        let member = Member::read(Path::new(&dir))?;
        member.check(role, now()).map(|warnings| (member, warnings))
    };
    let (member, warnings) = read().map_err(|error| Failure::other(format!("--{flag}: {error}")))?;
    warnings.into_iter().for_each(warn);
    Ok(Some(member))
}

/// The time since 1970.
pub(crate) fn now() -> Duration {
    Duration::from_nanos(u64::try_from(Clock::unix_nanos(Clock::now())).unwrap_or_default())
}
