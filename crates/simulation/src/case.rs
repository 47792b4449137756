//! A run of a seed.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

use onrush_session::LossPolicy;

use crate::{Ended, Faults, Mistake, Script, World, script::mix};

/// How many agents, what goes wrong, and what becomes of a run that loses an agent: all from a seed.
#[derive(Debug, Clone)]
pub struct Case {
    seed: u64,
    agents: u64,
    on_loss: LossPolicy,
    faults: Faults,
    /// Agents join the run, and its targets are changed.
    is_joined: bool,
    mistake: Option<Mistake>,
}

/// What one agent alone measures, on a good network.
fn whole() -> &'static Ended {
    static WHOLE: OnceLock<Ended> = OnceLock::new();
    WHOLE.get_or_init(|| World::new(&Script::all_kinds(), 1, Faults::none(), LossPolicy::Fail, 0).run())
}

impl Case {
    /// The run of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let agents = 1 + mix(seed ^ 0xa9e7) % 6;
        let network = Faults::network(seed, agents);
        let faults = match mix(seed ^ 0xfa17) % 4 {
            0 => network,
            1 => network.with_death(seed),
            _ => network.with_trouble(seed),
        };
        let faults = if mix(seed ^ 0x0c0d).is_multiple_of(3) { faults.with_restarts(seed) } else { faults };
        let faults = if mix(seed ^ 0x4e1a).is_multiple_of(3) { faults.with_relays(seed) } else { faults };
        let on_loss = match mix(seed ^ 0x1055) % 4 {
            0 => LossPolicy::Fail,
            1 => LossPolicy::Tolerate,
            _ => LossPolicy::Rebalance,
        };
        let is_joined = mix(seed ^ 0x1a7e).is_multiple_of(4);
        // What becomes of shares that are lost other seeds show.
        let on_loss = if is_joined && on_loss == LossPolicy::Rebalance { LossPolicy::Tolerate } else { on_loss };
        Self { seed, agents, on_loss, faults, is_joined, mistake: None }
    }

    /// Whether agents join the run.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.is_joined
    }

    /// With something done wrong on purpose.
    #[must_use]
    pub fn with(mut self, mistake: Mistake) -> Self {
        self.mistake = Some(mistake);
        self
    }

    /// Runs it.
    #[must_use]
    pub fn run(&self) -> Ended {
        self.world().run()
    }

    /// The run before its start.
    #[must_use]
    pub fn world(&self) -> World {
        let script = if self.is_joined { Script::steered() } else { Script::all_kinds() };
        let world = World::new(&script, self.agents, self.faults.clone(), self.on_loss, self.seed);
        let world = if self.is_joined { world.with_late(self.seed) } else { world };
        match self.mistake {
            Some(mistake) => world.with_mistake(mistake, self.seed),
            None => world,
        }
    }

    /// Runs it and judges what came of it.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<Ended, String> {
        let ended = catch_unwind(AssertUnwindSafe(|| self.run())).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            format!("it panicked: {}", text.unwrap_or_default())
        })?;
        let checked = if self.is_joined { ended.check_joined() } else { ended.check(whole(), self.on_loss) };
        match checked {
            Ok(()) => Ok(ended),
            Err(why) => Err(format!("{why} ({} agents, {:?})", self.agents, self.on_loss)),
        }
    }
}
