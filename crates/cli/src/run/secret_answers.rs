//! Agents ask the coordinator for secrets: only it has the sources, and what it answers stays in memory on both sides.

use std::sync::{
    Arc, Mutex, PoisonError,
    mpsc::{Receiver, SyncSender, sync_channel},
};

use onrush_fiber::{Reactor, ReactorConfig};
use onrush_secrets::Secrets;
use onrush_session::protocol::{AgentId, Command, SecretAnswer, SecretWanted};

use crate::failure::Failure;

/// Answers on threads of its own: a source may be a slow service.
pub(super) struct SecretAnswers {
    queue: SyncSender<(AgentId, SecretWanted)>,
    answer: Arc<dyn Fn(AgentId, Command) + Send + Sync>,
}

/// Services that are asked at once.
const THREADS: usize = 4;
/// Questions that wait. An agent asks for each key once.
const QUEUE_MAX: usize = 4_096;

impl SecretAnswers {
    /// Starts the threads. Answers go to `answer`.
    ///
    /// # Errors
    /// 255 when they cannot be had.
    pub(super) fn start(
        secrets: &Arc<Secrets>,
        answer: impl Fn(AgentId, Command) + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::other(format!("failed to start the secrets' thread: {error}"));
        let (queue, questions) = sync_channel(QUEUE_MAX);
        let (questions, answer) = (Arc::new(Mutex::new(questions)), Arc::new(answer));
        for number in 0..THREADS {
            let (secrets, questions, answer) = (Arc::clone(secrets), Arc::clone(&questions), Arc::clone(&answer));
            let body = move || {
                // Without a reactor there is no fiber: another of the threads may have one, or agents wait in vain and say so.
                let Ok(reactor) = Reactor::new(ReactorConfig::default()) else { return };
                // Nothing else runs on this thread: the fiber may wait for questions as a thread would.
                onrush_fiber::spawn(None, move || serve(&secrets, &questions, &*answer));
                reactor.run();
            };
            std::thread::Builder::new().name(format!("secrets-{number}")).spawn(body).map_err(failed)?;
        }
        Ok(Self { queue, answer })
    }

    /// Takes a question. Never waits.
    pub(super) fn take(&self, from: AgentId, wanted: SecretWanted) {
        if let Err(error) = self.queue.try_send((from, wanted)) {
            let (std::sync::mpsc::TrySendError::Full((from, wanted))
            | std::sync::mpsc::TrySendError::Disconnected((from, wanted))) = error;
            let SecretWanted { source, key } = wanted;
            let result = Err(format!("more than {QUEUE_MAX} secrets are asked for at once"));
            (self.answer)(from, Command::Secret(Box::new(SecretAnswer { source, key, result })));
        }
    }
}

fn serve(
    secrets: &Secrets,
    questions: &Mutex<Receiver<(AgentId, SecretWanted)>>,
    answer: &(dyn Fn(AgentId, Command) + Send + Sync),
) {
    loop {
        let next = questions.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((from, SecretWanted { source, key })) = next else { return };
        let result = secrets.source(Some(&source)).and_then(|id| secrets.get(id, &key));
        let result = result.map_err(|error| error.to_string());
        answer(from, Command::Secret(Box::new(SecretAnswer { source, key, result })));
    }
}
