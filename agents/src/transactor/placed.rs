//! Jobs whose parts are requested or agreed on: the state of the parts, and the end of the job.

use std::collections::BTreeMap;

use haggle_agreements::protocol::Verdict;
use haggle_model::{
    ActorId, AgreementEvent, AgreementId, BagRecord, Coallocated, JobId, JobOutcome, JobRecord,
    Time,
};

use super::{Stage, Transactor};
use crate::Outbox;
use crate::desk::{InParts, Parts};
use crate::glimpse::{Promise, PromiseKind, known};
use crate::protocol::transaction::Room;
use crate::protocol::{SubmissionMessage, Timer, TransactionMessage};
use crate::transaction::Acts;
use haggle_scheduling::coallocation::with_overhead;
use serde::{Deserialize, Serialize};

/// A job that is being tried, or whose parts are agreed on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Placed {
    /// The number of the agreement.
    pub(super) id: AgreementId,
    opened: Time,
    /// Speed of its providers.
    speed: f64,
    /// The requested start, then the latest start that was agreed on.
    start: Time,
    /// Providers that were asked; once it is agreed, providers that have a part.
    providers: Vec<ActorId>,
    pub(super) agreed: bool,
    begun: Vec<ActorId>,
    /// Parts of short jobs may be over before all providers have agreed.
    parts: Parts,
}

impl Placed {
    pub(super) fn new(
        id: AgreementId,
        (opened, start): (Time, Time),
        providers: Vec<ActorId>,
        speed: f64,
    ) -> Placed {
        let parts = Parts::at(providers.iter().copied());
        Placed { id, opened, speed, start, providers, agreed: false, begun: Vec::new(), parts }
    }

    /// Providers that were asked or have a part.
    pub(super) fn providers(&self) -> &[ActorId] {
        &self.providers
    }

    /// The requested start, or the one that was agreed on.
    pub(super) fn start(&self) -> Time {
        self.start
    }

    /// The promises of its providers about `job`.
    pub(super) fn promises(&self, job: JobId) -> impl Iterator<Item = Promise> {
        let kind = if self.agreed { PromiseKind::Booking } else { PromiseKind::Hold };
        self.parts.left().map(move |provider| Promise {
            job: Some(job),
            with: Some(provider),
            agreement: Some(self.id),
            start: known(self.start),
            ..Promise::new(kind, None)
        })
    }
}

impl Transactor {
    /// All providers have agreed. After a crash this verdict is repeated.
    pub(super) fn on_agreed(
        &mut self,
        now: Time,
        number: u64,
        job: JobId,
        terms: &BTreeMap<ActorId, Time>,
        acts: &mut Acts<Verdict<Room>>,
        out: &mut Outbox,
    ) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let submitter = entry.submitter;
        let Some(placed) = entry.stage.place.as_mut().filter(|it| it.id.number == number) else {
            return;
        };
        // The verdict is repeated after a crash, and the user must be notified once.
        if std::mem::replace(&mut placed.agreed, true) {
            return;
        }
        // Of candidates, only the selected ones keep a part.
        let is_selected = |who: &ActorId| terms.is_empty() || terms.contains_key(who);
        placed.providers.retain(is_selected);
        placed.parts.retain(is_selected);
        // Parts begin together, so the latest of the starts that providers can keep.
        placed.start = terms.values().copied().max().unwrap_or(placed.start);
        let event = AgreementEvent::Agreed { parts: placed.providers.clone() };
        self.observe(number, job, event, out);
        out.send(submitter, SubmissionMessage::Accepted { job });
        if self.config.transaction.traits().closes {
            self.begin(now, job, out);
        }
        // Short parts may be over before the verdict has arrived.
        self.close_if_over(now, job, acts, out);
    }

    /// Sends `Begin` to parts that are held until they are given back, again until all have begun.
    pub(super) fn begin(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(placed) = self.desk.get(job).and_then(|entry| entry.stage.place.as_ref()) else {
            return;
        };
        if !placed.agreed {
            return;
        }
        let id = placed.id;
        let is_silent = |who: &&ActorId| !placed.begun.contains(who);
        let silent: Vec<ActorId> = placed.providers.iter().filter(is_silent).copied().collect();
        // Without repetitions no message is ever lost, and one `Begin` is enough.
        if let Some(retry) = self.config.transaction.retry().filter(|_| !silent.is_empty()) {
            out.set(now + retry, Timer::BeginAgain { job });
        }
        for who in silent {
            out.send(who, TransactionMessage::Begin { job, id });
        }
    }

    /// A part has begun. The message may arrive late.
    pub(super) fn on_part_begun(
        &mut self,
        from: ActorId,
        job: JobId,
        id: AgreementId,
        out: &mut Outbox,
    ) {
        if let Some(placed) = self.placed(job, id)
            && !placed.begun.contains(&from)
        {
            placed.begun.push(from);
            self.desk.part_started(from, job, out);
        }
    }

    /// The job, if it is tried or placed by this agreement.
    fn placed(&mut self, job: JobId, id: AgreementId) -> Option<&mut Placed> {
        self.desk.get_mut(job)?.stage.place.as_mut().filter(|placed| placed.id == id)
    }

    /// A part is over. The part of a failed try belongs to no job any more.
    pub(super) fn on_part_over(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        id: AgreementId,
        outcome: JobOutcome,
        out: &mut Outbox,
    ) -> bool {
        if id.coordinator != self.config.me || !self.config.providers.contains(&from) {
            return false;
        }
        if self.config.transaction.retry().is_some() {
            // Also for a part that is unknown here, or its provider would repeat the report forever.
            out.send(from, TransactionMessage::Heard { job, id });
        }
        // The end implies the begin, whose message may arrive later or never.
        self.on_part_begun(from, job, id, out);
        if let Some(placed) = self.placed(job, id) {
            placed.parts.end(from, outcome);
            let mut acts = Acts::new();
            self.close_if_over(now, job, &mut acts, out);
            self.carry_out(now, job, acts, out);
        }
        true
    }

    /// Ends the job if all its parts are over.
    fn close_if_over(
        &mut self,
        now: Time,
        job: JobId,
        acts: &mut Acts<Verdict<Room>>,
        out: &mut Outbox,
    ) {
        let Some(placed) = self.desk.get(job).and_then(|entry| entry.stage.place.as_ref()) else {
            return;
        };
        // Without an agreement the try may still fail, and the job may run elsewhere.
        let Some(outcome) = placed.parts.ended().filter(|_| placed.agreed) else { return };
        let number = placed.id.number;
        out.stop(Timer::BeginAgain { job });
        if self.config.transaction.traits().closes {
            self.seat.close(now, number, acts);
        }
        self.desk.finish_whole(now, job, outcome, out);
        self.jobs.remove(&number);
    }
}

impl InParts for Stage {
    fn parts(&mut self) -> Option<&mut Parts> {
        self.place.as_mut().map(|placed| &mut placed.parts)
    }

    fn is_agreed(&self) -> bool {
        self.place.as_ref().is_some_and(|placed| placed.agreed)
    }

    fn complete(self, record: JobRecord) -> JobRecord {
        let Stage { overhead, tries, place: Some(placed), .. } = self else { return record };
        let parts = placed.providers.len() as u32;
        let first = Coallocated {
            first_start: placed.start,
            first_providers: parts,
            moves: 0,
            overhead,
            run_time: None,
            agreement: Some(placed.id),
        };
        let bag = BagRecord {
            parts,
            recompositions: tries.saturating_sub(1),
            coallocated: Some(first),
            ..BagRecord::default()
        };
        let overhead = if parts > 1 { overhead } else { 0 };
        let walltime = record.job.requested_time;
        let walltime = walltime.map(|time| with_overhead(time.at_speed(placed.speed), overhead));
        let (queued, bag) = (Some(placed.opened), Some(Box::new(bag)));
        JobRecord { queued, walltime, bag, ..record }
    }
}
