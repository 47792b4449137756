//! Tools that are asked about and cannot be measured here: rows with the reason.

use anyhow::{Result, bail};

use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::Job,
    shop::Shop,
};

#[derive(Debug)]
pub(super) struct Missing {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) why: &'static str,
}

impl Adapter for Missing {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn install(&self, _: &Shop) -> Result<Program> {
        bail!("{}", self.why)
    }

    fn run(&self, _: &Program, _: &Job) -> Result<Run, &'static str> {
        Err(self.why)
    }

    fn claim(&self, _: &Job, _: &Output) -> Option<Claim> {
        None
    }
}
