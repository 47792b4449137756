//! SQLite: statements run on threads of their own while the VU waits.

use std::sync::Arc;

use onrush_fiber::{Clock, Nanos, Woke, sleep_until};
use onrush_sql::{
    Outcome, SqlError, Value, Wanted,
    sqlite::{Connection, Interrupter, Target},
};

use super::{POOL, session::closed};
use crate::offload::{Task, Waited};

/// An open file, which is closed on another thread.
pub(super) struct File(Option<Connection>);

impl Drop for File {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            POOL.discard(connection);
        }
    }
}

impl File {
    pub(super) fn open(target: &Arc<Target>, deadline: Option<Nanos>) -> Result<Self, SqlError> {
        let until = busy_until(target);
        let mut tries = 0;
        loop {
            let target = Arc::clone(target);
            let task = POOL.begin(move || Connection::open(&target));
            match finish(&task, None, deadline)? {
                Ok(connection) => return Ok(Self(Some(connection))),
                Err(SqlError::Locked) => wait_for_turn(&mut tries, until, deadline)?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether no thread still has it, for nobody.
    pub(super) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Runs a statement, again and again where others use the file.
    pub(super) fn run(
        &mut self,
        target: &Target,
        query: &str,
        arguments: Vec<Value>,
        wanted: Wanted,
        deadline: Option<Nanos>,
    ) -> Result<Outcome, SqlError> {
        let until = busy_until(target);
        let mut tries = 0;
        let mut statement = (query.to_owned(), arguments);
        loop {
            let Some(mut connection) = self.0.take() else { return Err(closed()) };
            let interrupter = connection.interrupter();
            let task = POOL.begin(move || {
                let result = connection.run(&statement.0, &statement.1, wanted);
                (connection, statement, result)
            });
            let (connection, back, result) = finish(&task, Some(&interrupter), deadline)?;
            connection.resume();
            self.0 = Some(connection);
            statement = back;
            match result {
                Err(SqlError::Locked) => wait_for_turn(&mut tries, until, deadline)?,
                result => return result,
            }
        }
    }
}

/// Waits for work of a thread. When its time is over it is ended, and what came of it is waited for all the same: the
/// connection comes back with it.
fn finish<T>(task: &Task<T>, interrupter: Option<&Interrupter>, deadline: Option<Nanos>) -> Result<T, SqlError> {
    let mut until = deadline;
    loop {
        match task.wait(until) {
            Waited::Done(done) => return Ok(done),
            Waited::Panicked => {
                return Err(SqlError::Broken("internal error in Onrush (please report it): panic".to_owned()));
            }
            Waited::Timeout => {
                if let Some(interrupter) = interrupter {
                    interrupter.interrupt();
                }
                until = None;
            }
            Waited::Cancelled => {
                if let Some(interrupter) = interrupter {
                    interrupter.interrupt();
                }
                return Err(SqlError::Cancelled);
            }
        }
    }
}

/// Sleeps before the next try, a little longer each time; an error where the time for tries is over.
fn wait_for_turn(tries: &mut u32, until: Nanos, deadline: Option<Nanos>) -> Result<(), SqlError> {
    let now = Clock::now();
    if deadline.is_some_and(|deadline| deadline <= now) {
        return Err(SqlError::Timeout);
    }
    if now >= until {
        return Err(SqlError::Locked);
    }
    let pause = (PAUSE_NS << (*tries).min(6)).min(until.0 - now.0);
    *tries += 1;
    match sleep_until(Nanos(now.0 + pause)) {
        Woke::Cancelled => Err(SqlError::Cancelled),
        _ => Ok(()),
    }
}

fn busy_until(target: &Target) -> Nanos {
    Nanos(Clock::now().0.saturating_add(target.busy_ms.saturating_mul(1_000_000)))
}

/// The first pause; the longest is 64 times as long.
const PAUSE_NS: u64 = 1_000_000;
