//! The knowledge of a dispatcher: its jobs, and the state of resources as it was reported, possibly outdated.

use super::Dispatcher;
use crate::glimpse::{Fact, FactKind, Glimpse, Stage};

impl Dispatcher {
    /// Its jobs with the resources that compute them, and the reported state of all resources.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let actor = |id: haggle_grids::ResourceId| self.config.resources[id.0 as usize].actor;
        let jobs = self.desk.glimpse(|job, entry| {
            let at: Vec<_> = entry.stage.alive.iter().map(|&(id, _)| actor(id)).collect();
            let stage = match at.is_empty() {
                _ if entry.at.is_some() => Stage::Placed,
                false => Stage::Placed,
                true if self.ledger.is_blocked(job) => Stage::Blocked,
                true => Stage::Waiting,
            };
            (stage, at)
        });
        let facts = (0..).zip(&self.config.resources).flat_map(|(number, known)| {
            let resource = self.view.resources().get(haggle_grids::ResourceId(number));
            let about = |kind, value| Fact::about(known.actor, kind, value);
            [
                about(FactKind::Up, f64::from(u8::from(resource.up))),
                about(FactKind::Speed, resource.avail.as_mips_f64()),
                about(FactKind::Processors, f64::from(resource.slots)),
                about(FactKind::UsedSlots, f64::from(resource.held)),
            ]
        });
        Glimpse { jobs, facts: facts.collect(), ..Glimpse::default() }
    }
}
