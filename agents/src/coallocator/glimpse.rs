//! The knowledge of a co-allocator: its jobs with their places, its open agreement, and the free processors
//! that providers have reported.

use haggle_model::{AgreementId, JobId};
use haggle_scheduling::coallocation::Allocation;

use super::{Coallocator, Stage};
use crate::desk::Entry;
use crate::glimpse::{self, Fact, FactKind, Glimpse, Promise, PromiseKind, known};

impl Coallocator {
    /// Its jobs, their places, and the last reports of providers.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let agreeing =
            self.turn.as_ref().and_then(|turn| Some((turn.job(), turn.agreeing.as_ref()?)));
        let in_turn = self.turn.as_ref().map(|turn| turn.job());
        let mut jobs = self.desk.glimpse(|job, Entry { stage, .. }| match stage {
            _ if agreeing.is_some_and(|(it, _)| it == job) => {
                (glimpse::Stage::Agreeing, Vec::new())
            }
            _ if in_turn == Some(job) => (glimpse::Stage::Asking, Vec::new()),
            Stage::Open(..) => (glimpse::Stage::Waiting, Vec::new()),
            Stage::Placed(placed) => (glimpse::Stage::Placed, placed.left().collect()),
        });
        let mut promises = Vec::new();
        for work in &mut jobs {
            let stage = self.desk.get(work.job).map(|entry| &entry.stage);
            let Some(Stage::Placed(placed)) = stage else { continue };
            (work.start, work.end) =
                (known(placed.allocation.start), known(placed.allocation.completion()));
            work.promised_end = placed.promised_end().and_then(known);
            self.places(PromiseKind::Booking, work.job, None, &placed.allocation, &mut promises);
        }
        if let Some((job, &(number, ref allocation))) = agreeing {
            let id = AgreementId { coordinator: self.config.me, number };
            self.places(PromiseKind::Hold, job, Some(id), allocation, &mut promises);
        }
        let free = self.config.providers.iter().zip(self.known.last());
        let facts = free.map(|(&provider, &free)| {
            Fact::about(provider, FactKind::FreeProcessors, f64::from(free))
        });
        Glimpse { jobs, promises, facts: facts.collect(), ..Glimpse::default() }
    }

    /// The parts of an allocation.
    fn places(
        &self,
        kind: PromiseKind,
        job: JobId,
        agreement: Option<AgreementId>,
        allocation: &Allocation,
        promises: &mut Vec<Promise>,
    ) {
        promises.extend(allocation.parts.iter().map(|&(place, processors)| Promise {
            job: Some(job),
            with: self.config.providers.get(place).copied(),
            agreement,
            start: known(allocation.start),
            end: known(allocation.completion()),
            ..Promise::new(kind, processors)
        }));
    }
}
