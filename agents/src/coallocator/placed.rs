//! Jobs that are booked: what is promised of them, how their parts fare, and how they end.

use haggle_model::{
    ActorId, BagRecord, Coallocated, JobId, JobOutcome, JobRecord, Observation, Time,
};
use haggle_scheduling::coallocation::Allocation;
use haggle_scheduling::promise;

use super::{Coallocator, Stage, Traits};
use crate::Outbox;
use crate::desk::Entry;
use crate::protocol::{Submission, SubmissionMessage};
use crate::provider::worse;

/// A job that is booked at providers.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) traits: Traits,
    /// Where it is booked; one that is at a single provider may have moved up since.
    pub(super) allocation: Allocation,
    placed: Time,
    first: Coallocated,
    /// What its user was promised: nothing before all providers have committed.
    promised_end: Option<Time>,
    /// Times it was placed in vain before.
    trials: u32,
    /// Providers that have not finished their part.
    left: Vec<ActorId>,
    started: bool,
    outcome: JobOutcome,
}

impl Placed {
    /// Whether it may be placed elsewhere: it waits, at several providers.
    pub(super) fn may_move(&self, now: Time) -> bool {
        !self.started && self.allocation.is_spread() && now <= self.allocation.start
    }
}

impl Coallocator {
    /// It is decided where a job goes.
    pub(super) fn place(
        &mut self,
        now: Time,
        job: JobId,
        allocation: Allocation,
        trials: u32,
        out: &mut Outbox,
    ) {
        let holders = allocation.parts.iter().map(|&(place, _)| self.config.providers[place]);
        let left = holders.collect();
        let Some(entry) = self.desk.get_mut(job) else { return };
        match &mut entry.stage {
            Stage::Placed(placed) => {
                (placed.allocation, placed.left) = (allocation, left);
                placed.first.moves += 1;
            }
            Stage::Open(traits) => {
                let traits = *traits;
                let first = Coallocated {
                    first_start: allocation.start,
                    first_providers: allocation.parts.len() as u32,
                    moves: 0,
                    overhead: traits.overhead,
                    agreement: None,
                };
                out.send(entry.submitter, SubmissionMessage::Accepted { job });
                entry.stage = Stage::Placed(Box::new(Placed {
                    traits,
                    allocation,
                    placed: now,
                    first,
                    promised_end: None,
                    trials,
                    left,
                    started: false,
                    outcome: JobOutcome::Completed,
                }));
            }
        }
    }

    /// All providers have committed; a user is promised something once.
    pub(super) fn promise(&mut self, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let submitter = entry.submitter;
        let Some(placed) = entry.placed().filter(|placed| placed.promised_end.is_none()) else {
            return;
        };
        if let Some(completion) = promise(placed.allocation.completion()) {
            placed.promised_end = Some(completion);
            out.send(submitter, SubmissionMessage::Promise { job, completion });
        }
    }

    /// It may be late, and the part over.
    pub(super) fn on_part_started(&mut self, from: ActorId, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let submitter = entry.submitter;
        let Some(placed) = entry.placed().filter(|it| it.left.contains(&from)) else { return };
        if !std::mem::replace(&mut placed.started, true) {
            out.send(submitter, SubmissionMessage::Started { job });
        }
    }

    pub(super) fn on_part_finished(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        outcome: JobOutcome,
        out: &mut Outbox,
    ) -> bool {
        let Some(placed) = self.desk.get_mut(job).and_then(Entry::placed) else { return false };
        let Some(place) = placed.left.iter().position(|&it| it == from) else { return false };
        placed.left.swap_remove(place);
        placed.outcome = worse(placed.outcome, outcome);
        let outcome = placed.outcome;
        if placed.left.is_empty()
            && let Some(entry) = self.desk.finish(job, outcome, out)
        {
            out.observe(over(entry, outcome, now));
        }
        true
    }

    /// Jobs at providers are unfinished; the others are on their users' desks, too.
    pub(super) fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        for job in self.desk.jobs() {
            if let Some(entry) = self.desk.close(job)
                && matches!(entry.stage, Stage::Placed(_))
            {
                out.observe(over(entry, JobOutcome::Unfinished, now));
            }
        }
    }
}

/// The story of a job that is over in this way.
fn over(entry: Entry<Stage>, outcome: JobOutcome, now: Time) -> Observation {
    let Submission { job, class, .. } = entry.submission;
    let record = JobRecord::never_queued(job, class, outcome, now);
    let Stage::Placed(placed) = entry.stage else { return Observation::JobOver(Box::new(record)) };
    let bag = BagRecord {
        parts: placed.allocation.parts.len() as u32,
        recompositions: placed.trials,
        coallocated: Some(placed.first),
        ..BagRecord::default()
    };
    Observation::JobOver(Box::new(JobRecord {
        queued: Some(placed.placed),
        promised_end: placed.promised_end,
        walltime: Some(placed.allocation.span),
        bag: Some(Box::new(bag)),
        ..record
    }))
}
