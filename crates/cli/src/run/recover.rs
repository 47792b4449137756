//! `onrush result recover JOURNAL [FILE…]`: the summary of a run whose coordinator is gone for good, from its journal and from what
//! its agents kept of what the coordinator may not have had.

use std::{collections::BTreeMap, fs::File, io::BufReader, path::Path, time::Duration};

use onrush_cluster::Unheard;
use onrush_session::{
    Coordinator, ExitCode, Replay, RunPhase,
    protocol::{AgentId, Report, Time},
};

use super::{
    agents, begin,
    config_file::ConfigFile,
    journal::{Before, Damage},
    ready,
    summary::{Results, judgement},
};
use crate::{cluster::ClusterArgs, context::Context, failure::Failure, flags::Command};

/// Shows the summary of the run.
///
/// # Errors
/// 255 for files that cannot be used.
pub(crate) fn recover(cx: &Context, journal: &str, files: &[&str]) -> Result<ExitCode, Failure> {
    let mut before = Before::open(Path::new(journal))?;
    let (bundle, flags) = before.settings(&cx.flags)?;
    let mut args = bundle.args(&flags)?;
    args.cluster = ClusterArgs::new(&flags, Command::Coordinator, &mut |_| {})?;
    if let Some(file) = cx.flags.text("summary-export") {
        args.summary_export = Some(file);
    }
    let cx = &Context { flags, logger: cx.logger.clone(), terminal: cx.terminal.clone(), look: cx.look };
    let prepared = ready(cx, ConfigFile::default(), &args)?.prepared;
    let head = before.head();
    let ids = (0_u32..).zip(&head.agents).map(|(number, _)| AgentId(number)).collect::<Vec<_>>();
    let sessions: Vec<_> = head.agents.iter().map(onrush_cluster::JournalAgent::session).collect();
    let names: BTreeMap<AgentId, String> =
        ids.iter().copied().zip(head.agents.iter().map(|agent| agent.name.clone())).collect();
    let mut coordinator = begin::coordinator(&args, &prepared, Replay::default(), ids.clone(), head.weights.clone());
    let repeated = before.repeat(&mut coordinator, Damage::Ends)?;
    if let Some(damage) = &repeated.damage {
        cx.logger.warn(format!("{journal}: {damage}; what was noted behind that is missing"));
    }
    let mut at = repeated.at;
    let mut known = vec![false; ids.len()];
    for file in files {
        let failed = |why: String| Failure::other(format!("failed to read {file}: {why}"));
        let bytes = BufReader::new(File::open(file).map_err(|error| failed(error.to_string()))?);
        let unheard = Unheard::read(bytes).map_err(|error| failed(error.to_string()))?;
        let agent = sessions.iter().position(|session| *session == unheard.session);
        let agent = agent.ok_or_else(|| failed("it is of an agent of another run".to_owned()))?;
        if std::mem::replace(&mut known[agent], true) {
            return Err(failed(format!("agent {agent} has another file")));
        }
        let reports = unheard.after(repeated.reports[agent]).map_err(|error| failed(error.to_string()))?;
        let count = reports.len();
        for report in reports {
            at = at.max(until(&coordinator, &report));
            coordinator.handle(ids[agent], report, at);
        }
        cx.logger.debug(format!("{file}: {count} reports of agent {agent}"));
    }
    end(&mut coordinator, &ids, &known, at);
    let notices = repeated.notices.into_iter().chain(coordinator.notices());
    let mut last_error = None;
    notices.for_each(|notice| {
        if let onrush_session::Notice::Error(message) = notice {
            cx.logger.error(message.clone());
            last_error = Some(message);
        }
    });
    let agents = Some(agents::info(&coordinator, &names));
    let results = Results::new(cx, &args, &prepared, &coordinator, agents, at);
    let is_exported = results.show(None);
    let Some(outcome) = coordinator.outcome().cloned() else { return Ok(ExitCode::AgentLost) };
    let why = outcome.message().filter(|message| last_error.as_ref() != Some(message));
    why.into_iter().for_each(|message| cx.logger.error(message));
    cx.logger.debug(format!("the measurement is {}", judgement(&coordinator).verdict.as_str()));
    let code = outcome.exit_code();
    Ok(if code == ExitCode::Success && !is_exported { ExitCode::Other } else { code })
}

/// Up to when an agent measured what it reports.
fn until(coordinator: &Coordinator, report: &Report) -> Time {
    match report {
        Report::OfShare { report, .. } => until(coordinator, report),
        Report::Delta(part) => {
            let until = part.span.zip(coordinator.scenarios_at());
            until.map_or(Time(0), |(span, began)| began + Duration::from_nanos(span.until_ns))
        }
        _ => Time(0),
    }
}

/// Nobody is there any more.
fn end(coordinator: &mut Coordinator, ids: &[AgentId], known: &[bool], at: Time) {
    for (id, is_known) in ids.iter().zip(known) {
        let why = match is_known {
            true => "its coordinator was gone; what it kept was added",
            false => "its coordinator was gone, and what it kept was not given",
        };
        coordinator.lost(*id, why, at);
    }
    if coordinator.phase() == RunPhase::Done {
        coordinator.close(at);
    }
}
