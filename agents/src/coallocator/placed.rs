//! Jobs that are booked: their promises, the state of their parts, and their end.

use haggle_model::{
    ActorId, AgreementId, BagRecord, Booking, Coallocated, JobId, JobOutcome, JobRecord, Time,
};
use haggle_planning::iterative::is_no_later;
use haggle_scheduling::coallocation::{Allocation, NoImprovement};
use haggle_scheduling::promise;
use serde::{Deserialize, Serialize};

use super::{Coallocator, Past, Stage, Traits};
use crate::Outbox;
use crate::desk::{Entry, InParts, Parts};
use crate::protocol::{CoallocationMessage, SubmissionMessage};

/// A job that is booked at providers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Placed {
    pub(super) traits: Traits,
    /// Its booked place. At a single provider, the queue may have moved it up since.
    pub(super) allocation: Allocation,
    /// Result of the last search that found no better place than this one, and the number of changes that were known
    /// then.
    pub(super) no_improvement: Option<(u64, NoImprovement)>,
    placed: Time,
    first: Coallocated,
    bookings: Vec<Booking>,
    /// Completion promised to the user; `None` until all providers have committed.
    promised_end: Option<Time>,
    /// Number of trials in vain before it was placed.
    trials: u32,
    parts: Parts,
}

impl Placed {
    /// Completion promised to the user.
    pub(super) fn promised_end(&self) -> Option<Time> {
        self.promised_end
    }

    /// Providers whose parts are not over.
    pub(super) fn left(&self) -> impl Iterator<Item = ActorId> {
        self.parts.left()
    }

    /// Returns whether an application gains by another place that is no later than promised (Netto 2009, section
    /// 5.3.3). The application must complete earlier there, or complete at the same time and start earlier. This is a
    /// strict order, so an application never moves back and forth.
    pub(super) fn gains(&self, other: &Allocation) -> bool {
        let promised = self.promised_end.unwrap_or(self.allocation.completion());
        let merit = |it: &Allocation| (it.completion(), it.start);
        merit(other) < merit(&self.allocation) && is_no_later(other.start, other.span, promised)
    }
}

impl Coallocator {
    /// Returns whether a job may be placed elsewhere. It must wait, and must be spread over several providers unless
    /// its run time depends on its place.
    pub(super) fn may_move(&self, placed: &Placed, now: Time) -> bool {
        // The queue of a single provider moves the job by itself.
        let settled = !placed.allocation.is_spread() && self.mapper.is_none();
        !settled && !placed.parts.have_started() && now <= placed.allocation.start
    }

    /// Records the place on which a job is decided.
    pub(super) fn place(
        &mut self,
        now: Time,
        job: JobId,
        allocation: Allocation,
        trials: u32,
        out: &mut Outbox,
    ) {
        let parts = allocation.parts.iter();
        let booking = Booking {
            at: now,
            asked_by: self.turn.as_ref().and_then(|turn| turn.asked_by),
            start: allocation.start,
            completion: allocation.completion(),
            parts: parts.map(|&(place, procs)| (self.config.providers[place], procs)).collect(),
        };
        // An agreement that may be undone has a name in the records.
        let agreeing = self.turn.as_ref().and_then(|turn| turn.agreeing.as_ref());
        let undoes = self.undoes();
        let agreement = agreeing
            .filter(|_| undoes)
            .map(|&(number, _)| AgreementId { coordinator: self.config.me, number });
        let parts = Parts::at(booking.parts.iter().map(|&(holder, _)| holder));
        let mapper = self.mapper.as_ref();
        let Some(entry) = self.desk.get_mut(job) else { return };
        let job_itself = &entry.submission.job;
        let run_time = mapper.and_then(|it| it.hidden_run_time(job_itself, &allocation));
        match &mut entry.stage {
            Stage::Placed(placed) => {
                (placed.allocation, placed.parts) = (allocation, parts);
                // The last search was about the old place.
                placed.no_improvement = None;
                placed.first.moves += 1;
                placed.first.run_time = run_time;
                placed.bookings.push(booking);
            }
            Stage::Open(traits, _) => {
                let traits = *traits;
                let first = Coallocated {
                    first_start: allocation.start,
                    first_providers: allocation.parts.len() as u32,
                    moves: 0,
                    overhead: traits.overhead,
                    run_time,
                    agreement,
                };
                // Otherwise the decision may still be undone, and the user is notified by `promise`.
                if !undoes {
                    out.send(entry.submitter, SubmissionMessage::Accepted { job });
                }
                entry.stage = Stage::Placed(Box::new(Placed {
                    traits,
                    allocation,
                    no_improvement: None,
                    placed: traits.past.map_or(now, |past| past.placed),
                    first,
                    bookings: vec![booking],
                    promised_end: traits.past.and_then(|past| past.promised_end),
                    trials,
                    parts,
                }));
            }
        }
    }

    /// Returns whether a job is placed by this agreement. If no agreement is ever undone, it is.
    pub(super) fn is_placed_by(&self, job: JobId, id: AgreementId) -> bool {
        let placed_by = |entry: &Entry<Stage>| match &entry.stage {
            Stage::Placed(placed) => placed.first.agreement == Some(id),
            Stage::Open(..) => false,
        };
        !self.undoes() || self.desk.get(job).is_some_and(placed_by)
    }

    /// The agreement on a job was undone, so it has no place any more. An agreement that all providers had
    /// carried out was `known` to the user.
    pub(super) fn take_back(&mut self, job: JobId, known: bool) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let Stage::Placed(placed) = &mut entry.stage else { return };
        let mut traits = placed.traits;
        if known {
            let broken = traits.past.map_or(0, |past| past.broken) + 1;
            let Placed { placed, promised_end, .. } = **placed;
            traits.past = Some(Past { broken, placed, promised_end });
        }
        // A job that its user knows as placed keeps a place for its record, in case that it gets no other one.
        let last = std::mem::replace(&mut entry.stage, Stage::Open(traits, None));
        if let Stage::Placed(last) = last
            && traits.past.is_some()
        {
            entry.stage = Stage::Open(traits, Some(last));
        }
    }

    /// A provider has broken its part of a job.
    pub(super) fn on_broken(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        match self.turn.as_mut().filter(|turn| turn.is_of(job)) {
            // The agreement ends first, so that the other providers know what they must give up.
            Some(turn) => turn.broken_by = Some(from),
            None => self.give_up(now, job, from, out),
        }
    }

    /// All parts of a job are given up, because a provider has broken its own. The job is placed again, unless this
    /// has happened too often.
    pub(super) fn give_up(&mut self, now: Time, job: JobId, broken_by: ActorId, out: &mut Outbox) {
        let Some(placed) = self.desk.get_mut(job).and_then(Entry::placed) else { return };
        let Some(id) = placed.first.agreement else { return };
        for provider in placed.parts.left().filter(|&it| it != broken_by) {
            out.send(provider, CoallocationMessage::GiveUp { job, id });
        }
        let broken = placed.traits.past.map_or(0, |past| past.broken) + 1;
        if broken >= self.config.max_attempts {
            return self.desk.finish_whole(now, job, JobOutcome::Failed, out);
        }
        self.take_back(job, true);
        self.enqueue(now, job, None, out);
    }

    /// Promises a completion to the user after all providers have committed. Later moves send no further promise.
    pub(super) fn promise(&mut self, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let submitter = entry.submitter;
        let Some(placed) = entry.placed() else { return };
        // The first promise stays: if it is broken, the record must show that.
        if placed.promised_end.is_some() || placed.traits.past.is_some() {
            return;
        }
        // Without repetitions `place` has notified the user already.
        if placed.first.agreement.is_some() {
            out.send(submitter, SubmissionMessage::Accepted { job });
        }
        if let Some(completion) = promise(placed.allocation.completion()) {
            placed.promised_end = Some(completion);
            out.send(submitter, SubmissionMessage::Promise { job, completion });
        }
    }
}

impl InParts for Stage {
    fn parts(&mut self) -> Option<&mut Parts> {
        match self {
            Stage::Placed(placed) => Some(&mut placed.parts),
            Stage::Open(..) => None,
        }
    }

    fn is_agreed(&self) -> bool {
        matches!(self, Stage::Placed(_))
    }

    fn was_agreed(&self) -> bool {
        matches!(self, Stage::Placed(_) | Stage::Open(_, Some(_)))
    }

    fn complete(self, record: JobRecord) -> JobRecord {
        let (Stage::Placed(placed) | Stage::Open(_, Some(placed))) = self else { return record };
        let bag = BagRecord {
            parts: placed.allocation.parts.len() as u32,
            recompositions: placed.trials,
            coallocated: Some(placed.first),
            bookings: placed.bookings,
            ..BagRecord::default()
        };
        JobRecord {
            queued: Some(placed.placed),
            promised_end: placed.promised_end,
            walltime: Some(placed.allocation.span),
            bag: Some(Box::new(bag)),
            ..record
        }
    }
}
