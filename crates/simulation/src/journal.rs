//! What is left of a coordinator that ended: the inputs it had noted, as bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use onrush_session::{
    Coordinator, Input, Journal, Orders,
    protocol::{AgentId, Time},
};

/// Inputs as bytes, and when they came.
type Entries = Vec<(Time, Vec<u8>)>;

/// Outlives the coordinator that writes it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimJournal(Arc<Mutex<Entries>>);

impl SimJournal {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the last report, as a coordinator would that acknowledges what it has not noted.
    pub(crate) fn lose_last_report(&self) {
        let mut entries = self.entries();
        let is_report = |(_, bytes): &(Time, Vec<u8>)| matches!(read(bytes), Input::Report { .. });
        if let Some(last) = entries.iter().rposition(is_report) {
            entries.remove(last);
        }
    }

    /// Makes a coordinator what the one that wrote this was. Returns all orders it ever gave, and the reports it had from
    /// each of so many agents.
    pub(crate) fn repeat(&self, coordinator: &mut Coordinator, agents: usize) -> (Orders, Vec<u64>) {
        let (mut orders, mut reports) = (Orders::new(), vec![0; agents]);
        for (at, bytes) in self.entries().iter() {
            let input = read(bytes);
            match &input {
                Input::Report { from: AgentId(from), .. } => reports[*from as usize] += 1,
                Input::Relayed(relayed) => relayed.parts.iter().for_each(|part| reports[part.agent.0 as usize] += 1),
                _ => {}
            }
            orders.extend(coordinator.repeat(input, *at));
        }
        (orders, reports)
    }
}

impl Journal for SimJournal {
    fn note(&mut self, input: &Input<'_>, now: Time) {
        let bytes = postcard::to_allocvec(input).expect("plain data");
        self.entries().push((now, bytes));
    }
}

fn read(bytes: &[u8]) -> Input<'static> {
    postcard::from_bytes(bytes).expect("as written")
}
