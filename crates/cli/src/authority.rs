//! `onrush cluster`: an authority made on the spot, and certificates for the members of a cluster.

use std::path::Path;

use onrush_certificates::{Authority, AuthorityError, Issued, Role};
use onrush_session::ExitCode;

use crate::{context::Context, failure::Failure, flags::Command, host, membership::now};

/// Where the authority is unless it is said otherwise.
const DIR: &str = "onrush-cluster";
const DAYS: u32 = 365;
/// The authority itself lasts so long.
const DAYS_MAX: u32 = 3_650;

/// Makes an authority, or issues certificates.
///
/// # Errors
/// 255 for words that are none of its commands, and for what the authority refuses.
pub(crate) fn cluster(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Cluster)?;
    let words: Vec<&str> = files.iter().map(String::as_str).collect();
    let text = match words.as_slice() {
        ["init"] => init(cx, DIR),
        ["init", dir] => init(cx, dir),
        ["add", role, name] => add(cx, role, name, DIR),
        ["add", role, name, dir] => add(cx, role, name, dir),
        ["renew", name] => renew(cx, name, DIR),
        ["renew", name, dir] => renew(cx, name, dir),
        _ => {
            let failure = Failure::other("onrush cluster needs to know what to do: init, add or renew");
            return Err(failure.hint("onrush help cluster shows examples"));
        }
    }?;
    cx.terminal.stdout(text);
    Ok(ExitCode::Success)
}

fn init(cx: &Context, dir: &str) -> Result<String, Failure> {
    let days = days(cx)?;
    let mut hosts = vec![host::name()];
    let others = cx.flags.values("name").into_iter().chain(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    for name in others {
        if !hosts.contains(&name) {
            hosts.push(name);
        }
    }
    let authority = Authority::init(Path::new(dir), now()).map_err(|error| match error {
        AuthorityError::Exists(_) => failed(&error).hint("onrush cluster add issues further certificates"),
        other => failed(&other),
    })?;
    let issue = |name: &str, role: Role| authority.add(name, role, &hosts, now(), days).map_err(|error| failed(&error));
    let members = [issue("coordinator", Role::Coordinator)?, issue("agent", Role::Agent)?, issue("user", Role::User)?];
    let list: String = members.iter().map(described).collect();
    Ok(format!(
        "Made an authority in {dir}/ca, which stays there, and certificates valid for {days} days:\n\n{list}\n\
         Copy each folder to where it is used, as a whole, and name it there:\n\n  \
         onrush coordinator --tls {dir}/coordinator --agents N script.js\n  \
         onrush agent --tls {dir}/agent --join {}\n\n",
        hosts[0]
    ))
}

fn add(cx: &Context, role: &str, name: &str, dir: &str) -> Result<String, Failure> {
    let role = Role::parse(role)
        .ok_or_else(|| Failure::other(format!("invalid role \"{role}\": use coordinator, agent or user")))?;
    let issued = opened(dir)?.add(name, role, &cx.flags.values("name"), now(), days(cx)?);
    issued.map(|issued| described(&issued)).map_err(|error| match error {
        AuthorityError::MemberExists(_) => failed(&error).hint(format!("onrush cluster renew {name} replaces it")),
        AuthorityError::NoHost => failed(&error).hint("name them with --name HOST, which may be repeated"),
        other => failed(&other),
    })
}

fn renew(cx: &Context, name: &str, dir: &str) -> Result<String, Failure> {
    let issued = opened(dir)?.renew(name, &cx.flags.values("name"), now(), days(cx)?);
    let issued = issued.map_err(|error| failed(&error))?;
    Ok(format!("{}\nCopy the folder to where it is used, and restart what uses it.\n", described(&issued)))
}

fn opened(dir: &str) -> Result<Authority, Failure> {
    Authority::open(Path::new(dir))
        .map_err(|error| failed(&error).hint(format!("onrush cluster init {dir} makes an authority")))
}

fn described(issued: &Issued) -> String {
    let (dir, role) = (issued.dir.display(), issued.role);
    match role {
        Role::Coordinator => format!("  {dir}  {role}, reached as {}\n", issued.names.join(", ")),
        Role::Agent | Role::User => format!("  {dir}  {role}\n"),
    }
}

fn days(cx: &Context) -> Result<u32, Failure> {
    let Some(text) = cx.flags.text("days") else { return Ok(DAYS) };
    let days = text.parse().ok().filter(|days| (1..=DAYS_MAX).contains(days));
    days.ok_or_else(|| Failure::other(format!("invalid --days \"{text}\": use 1 to {DAYS_MAX}")))
}

fn failed(error: &AuthorityError) -> Failure {
    Failure::other(error.to_string())
}
