//! What an agent measured and its coordinator, which keeps a journal and is gone, may not have: a file in the folder that the agent
//! was started in.

use std::{
    fs::OpenOptions,
    io::{self, BufWriter, Write as _},
    os::unix::fs::OpenOptionsExt as _,
};

use onrush_cluster::Unheard;

/// Names tried where there are such files already.
const NAMES_MAX: u32 = 1_000;

/// Writes the file. Returns what is to be said of it.
pub(crate) fn keep(unheard: &Unheard, agent: u32) -> String {
    if unheard.reports.is_empty() {
        return "the coordinator has all that was measured".to_owned();
    }
    match write(unheard, agent) {
        Ok(name) => format!(
            "what the coordinator may not have is in {name}: where its journal is, onrush result recover JOURNAL {name} adds it"
        ),
        Err(error) => format!("what the coordinator may not have is lost: it cannot be written here ({error})"),
    }
}

fn write(unheard: &Unheard, agent: u32) -> io::Result<String> {
    let mut number = 0;
    loop {
        let name = match number {
            0 => format!("onrush-agent-{agent}.unheard"),
            _ => format!("onrush-agent-{agent}.{number}.unheard"),
        };
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&name) {
            Ok(file) => {
                let mut file = BufWriter::new(file);
                unheard.write(&mut file)?;
                file.flush()?;
                return Ok(name);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => number += 1,
            Err(error) => return Err(error),
        }
    }
}
