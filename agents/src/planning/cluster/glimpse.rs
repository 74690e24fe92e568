//! The knowledge of a cluster: its machines, the intervals on them, and its monitor's last report.

use haggle_model::ActorId;

use super::Cluster;
use crate::glimpse::{Fact, FactKind, Glimpse, Machine, Stage, Work};

impl Cluster {
    /// Its machines, their work, and the reported availability.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let count = |is_it: &dyn Fn(usize) -> bool| {
            (0..self.holders.len()).filter(|&machine| is_it(machine)).count() as u32
        };
        let machine = Machine {
            processors: self.holders.len() as u32,
            free: count(&|it| self.holders[it].is_none() && !self.down[it]),
            failed: count(&|it| self.down[it]),
            closed: 0,
        };
        let jobs = self.running.iter().map(|(&job, running)| {
            let record = &running.record;
            let stage = if record.start.is_some() { Stage::Running } else { Stage::Occupying };
            let end = record.start.map(|start| start + record.predicted);
            let (start, since) = (record.start, Some(record.ordered));
            let machines = running.machines.numbers().len() as u32;
            let held = record.machines.clone();
            Work { held, since, start, end, ..Work::new(job, stage, machines, running.owner) }
        });
        // The monitor's report, and not the present availability, which the cluster does not know yet.
        let facts = vec![Fact::own(FactKind::AvailablePart, self.seen.mean_available())];
        let waiting = |&actor: &ActorId| Fact::about(actor, FactKind::Awaited, 1.0);
        let facts = facts.into_iter().chain(self.waiting.iter().map(waiting)).collect();
        Glimpse { machine: Some(machine), jobs: jobs.collect(), promises: Vec::new(), facts }
    }
}
