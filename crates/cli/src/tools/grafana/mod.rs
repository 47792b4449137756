//! `onrush grafana export`: a dashboard for Grafana. What it shows is described once (`panels`), and each kind of database says how
//! it is asked for it (`prometheus`, `influxdb`), with the names that the outputs use.

mod dashboard;
mod figure;
mod influxdb;
mod panels;
mod prometheus;

use onrush_session::ExitCode;

pub(super) use self::figure::Database;
use crate::{context::Context, failure::Failure, flags::Command};

/// Prints a dashboard.
///
/// # Errors
/// 255 for words that are none of its commands, and for a database there is no dashboard for.
pub(crate) fn grafana(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Grafana)?;
    let words: Vec<&str> = files.iter().map(String::as_str).collect();
    if words != ["export"] {
        return Err(Failure::other("onrush grafana needs to know what to do: export")
            .hint("onrush help grafana shows examples"));
    }
    let name = cx.flags.text("for").unwrap_or_else(|| Database::ALL[0].name().to_owned());
    let Some(database) = Database::ALL.into_iter().find(|database| database.name() == name) else {
        let known = Database::ALL.map(Database::name).join(", ");
        return Err(Failure::other(format!("there is no dashboard for '{name}'")).hint(format!("use one of {known}")));
    };
    let text = serde_json::to_string_pretty(&dashboard::dashboard(database)).unwrap_or_default();
    cx.terminal.stdout(text + "\n");
    Ok(ExitCode::Success)
}
