//! The knowledge of a resource of a grid: its slots, and the jobs in them. The length of a job is not known there.

use haggle_grids::Sharing;
use haggle_model::Time;

use super::{GridResource, Stage};
use crate::glimpse::{self, Fact, FactKind, Glimpse, Machine, Work};
use crate::{Outbox, Phase};

impl GridResource {
    /// Its slots and its jobs.
    pub(crate) fn glimpse(&self, now: Time) -> Glimpse {
        // Events on its own agenda that are due have happened, even if no message has come since.
        let mut caught_up = self.clone();
        caught_up.catch_up(now, Phase::FIRST, &mut Outbox::default());
        caught_up.present_state()
    }

    fn present_state(&self) -> Glimpse {
        let used = self.machine.holders();
        let slots = slots(self.machine.sharing(), used);
        let is_up = self.machine.is_up();
        let (free, failed) = if is_up { (slots.saturating_sub(used), 0) } else { (0, slots) };
        let machine = Machine { processors: slots, free, failed, closed: 0 };
        let jobs = self.replicas.iter().map(|(&job, replica)| {
            let stage = match replica.stage {
                Stage::Waiting | Stage::Expected => glimpse::Stage::Expected,
                Stage::Computing | Stage::Writing(_) => glimpse::Stage::Running,
                Stage::Leaving(_) | Stage::Output => glimpse::Stage::Sent,
            };
            let (since, start) = (Some(replica.dispatched), replica.started);
            let work = Work::new(job, stage, 1, self.rules.home.dispatcher);
            Work { since, start, ..work }
        });
        let speed = Fact::own(FactKind::Speed, self.machine.avail().as_mips_f64());
        let mut jobs = Vec::from_iter(jobs);
        jobs.sort_by_key(|work| (work.stage, work.start, work.job));
        Glimpse { machine: Some(machine), jobs, promises: Vec::new(), facts: vec![speed] }
    }
}

/// Number of jobs that may hold a slot at a time; as many as do, if any number may.
fn slots(sharing: Sharing, used: u32) -> u32 {
    match sharing {
        Sharing::Equal { slots } => slots,
        Sharing::Reserved { slots } => slots.unwrap_or(used),
    }
}
