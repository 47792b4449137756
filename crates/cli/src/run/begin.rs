//! What a run begins with: its agents, in this process or in others, the coordinator over them, and its journal.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, Sender},
    },
    time::Duration,
};

use onrush_agent::Test;
use onrush_engine::{EngineConfig, Tracers};
use onrush_output::Outputs;
use onrush_plan::SegmentSequence;
use onrush_session::{Coordinator, LossPolicy, Patience, Replay, Settings, protocol::AgentId};

use super::{
    cluster::{Agents, ClusterAgents, Start},
    journal::{self, Before, Damage, JournalFile, Kept, Repeated},
    local::{AGENT, Input, LocalAgent, now},
    outputs::raw,
    prepare::Prepared,
    raw_samples::{Intake, RawSamples},
    secret_answers::SecretAnswers,
};
use crate::{args::RunArgs, cluster::ClusterArgs, context::Context, failure::Failure, signals::Watch};

/// What a command may take to reach all agents.
const START_IN: Duration = Duration::from_millis(200);

/// What is known before there are agents.
pub(super) struct Begin<'a> {
    pub(super) cx: &'a Context,
    pub(super) args: &'a RunArgs,
    pub(super) prepared: &'a Prepared,
    pub(super) signals: &'a Arc<Watch>,
    /// Outputs of single samples.
    pub(super) outputs: Option<Outputs>,
    /// Adds who wants to know what is measured.
    pub(super) subscribe: &'a dyn Fn(&mut Coordinator),
    /// What agents report comes here.
    pub(super) queue: (&'a Sender<Input>, &'a Receiver<Input>),
    /// Changes of an earlier run that are made again.
    pub(super) replay: Replay,
}

/// The parts of a run, none of which has done anything yet.
pub(super) struct Begun {
    pub(super) agents: Agents,
    pub(super) coordinator: Coordinator,
    /// Outputs that get the samples of agents in other processes.
    pub(super) collected: Option<Outputs>,
    pub(super) journal: Option<JournalFile>,
    /// The run was begun by a coordinator that is gone.
    pub(super) before: Option<(Box<Before>, Repeated)>,
}

impl Begin<'_> {
    /// This process is the agent.
    ///
    /// # Errors
    /// When its thread cannot be started.
    pub(super) fn here(self, tracers: Option<Tracers>) -> Result<Begun, Failure> {
        let coordinator = self.coordinator(vec![AGENT], Vec::new(), self.replay.clone());
        let Self { cx, prepared, signals, outputs, queue: (sender, _), .. } = self;
        let engine = EngineConfig { tracers, ..prepared.engine(outputs.as_ref().map(Outputs::taps)) };
        let (logger, watch) = (cx.logger.clone(), signals.clone());
        let finish_outputs = outputs.map(|outputs| -> Box<dyn FnOnce() -> u64 + Send> {
            Box::new(move || raw::finish(outputs, &logger, Some(&watch)))
        });
        let watch = signals.clone();
        let stops: Box<dyn Fn() -> u64 + Send> = Box::new(move || watch.resumed());
        let scenarios = prepared.test.scenarios.clone().into();
        let agent = LocalAgent::start(Test { engine, scenarios, finish_outputs, stops: Some(stops) }, sender.clone())
            .map_err(|error| Failure::other(format!("failed to start the agent's thread: {error}")))?;
        Ok(Begun { agents: Agents::Local(agent), coordinator, collected: None, journal: None, before: None })
    }

    /// So many agents in other processes.
    ///
    /// # Errors
    /// When they cannot be started, do not come, or a journal cannot be read or written.
    pub(super) fn elsewhere(
        self,
        cluster: &ClusterArgs,
        count: u32,
        raw: RawSamples,
        kept: Kept,
    ) -> Result<Begun, Failure> {
        let Self { cx, args, prepared, queue: (sender, inputs), .. } = self;
        let orders = sender.clone();
        let secrets = SecretAnswers::start(&prepared.run.script.secrets, move |agent, command| {
            // The loop only goes away when the process is about to end.
            let _ = orders.send(Input::Order(agent, command));
        })?;
        let intake = Intake::new(self.outputs.as_ref(), &prepared.run.registry, secrets);
        let (mut journal, mut before) = (None, None);
        let (agents, coordinator) = match kept {
            Kept::Before(mut own) => {
                let ids = (0_u32..).zip(&own.head().agents).map(|(number, _)| AgentId(number)).collect();
                let mut coordinator = self.coordinator(ids, own.head().weights.clone(), self.replay.clone());
                let mut repeated = own.repeat(&mut coordinator, Damage::Refused)?;
                own.check_lease(&repeated, cluster.patience.lease, now())?;
                let seats = journal::seats(own.head(), &mut repeated, &coordinator.lost_agents());
                let agents = ClusterAgents::resume(cluster, &own, seats, intake, sender.clone())?;
                before = Some((own, repeated));
                (agents, coordinator)
            }
            Kept::Nothing | Kept::Anew(_) => {
                let has_journal = matches!(kept, Kept::Anew(_));
                let start = Start { count, raw, intake, has_journal };
                let agents = ClusterAgents::start(cx, args, cluster, prepared, start, self.signals, (sender, inputs))?;
                let mut coordinator = self.coordinator(agents.ids(), agents.weights.clone(), self.replay.clone());
                if let Kept::Anew(path) = kept
                    && let Some((head, test)) = agents.for_journal(cx, cluster)
                {
                    let file = JournalFile::begin(cx, &path, &head, &test)?;
                    coordinator.keep(Box::new(file.clone()));
                    journal = Some(file);
                }
                (agents, coordinator)
            }
        };
        let agents = Agents::Cluster(Box::new(agents));
        Ok(Begun { agents, coordinator, collected: self.outputs, journal, before })
    }

    fn coordinator(&self, ids: Vec<AgentId>, weights: Vec<u64>, replay: Replay) -> Coordinator {
        let mut coordinator = coordinator(self.args, self.prepared, replay, ids, weights);
        (self.subscribe)(&mut coordinator);
        coordinator
    }
}

/// The coordinator of a run over these agents, which knows nothing yet.
pub(super) fn coordinator(
    args: &RunArgs,
    prepared: &Prepared,
    replay: Replay,
    ids: Vec<AgentId>,
    weights: Vec<u64>,
) -> Coordinator {
    let start_in = if args.cluster.is_some() { START_IN } else { Duration::ZERO };
    let options = &prepared.test.settings;
    let settings = Settings {
        has_setup: prepared.lifecycle.setup,
        has_teardown: prepared.lifecycle.teardown,
        evaluates_thresholds: !args.no_thresholds,
        starts_paused: options.paused,
        patience: Patience {
            setup: options.setup_timeout,
            teardown: options.teardown_timeout,
            summary: options.handle_summary_timeout,
            lingers: args.cluster.as_ref().map_or(Duration::ZERO, |cluster| cluster.patience.lingers()),
            ..Patience::default()
        },
        on_loss: args.cluster.as_ref().map_or_else(LossPolicy::default, |cluster| cluster.on_loss),
        start_in,
        series_max: options.cardinality_limit,
        rps: options.rps,
    };
    let coordinator =
        Coordinator::new(settings, ids, &prepared.plan, &prepared.run.registry, prepared.thresholds.clone())
            .replaying(replay)
            .weighted(weights);
    let options = &prepared.test.options;
    let Some(segment) = options.execution_segment else { return coordinator };
    let sequence = options.execution_segment_sequence.clone().map(SegmentSequence::filled);
    coordinator.within(segment, sequence.unwrap_or_else(|| SegmentSequence::around(segment)))
}
