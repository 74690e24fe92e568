//! Jobs whose parts are asked for or agreed on: how the parts fare, and how the job ends.

use std::collections::BTreeMap;

use haggle_agreements::protocol::Verdict;
use haggle_model::{
    ActorId, AgreementEvent, AgreementId, BagRecord, Coallocated, JobId, JobOutcome, JobRecord,
    Observation, Time,
};

use super::{Stage, Transactor};
use crate::Outbox;
use crate::desk::Entry;
use crate::protocol::transaction::Room;
use crate::protocol::{Submission, SubmissionMessage, Timer, TransactionMessage};
use crate::provider::worse;
use crate::transaction::Acts;
use haggle_scheduling::coallocation::with_overhead;

/// A job that is being tried, or whose parts are agreed on.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) number: u64,
    opened: Time,
    /// The start that was asked for, then the latest that was agreed on.
    start: Time,
    /// Who was asked; once it is agreed, who has a part.
    parts: Vec<ActorId>,
    agreed: bool,
    begun: Vec<ActorId>,
    /// Whose part is over: of short jobs some are before all have agreed.
    over: BTreeMap<ActorId, JobOutcome>,
}

impl Placed {
    pub(super) fn new(number: u64, opened: Time, start: Time, parts: Vec<ActorId>) -> Placed {
        let (begun, over) = (Vec::new(), BTreeMap::new());
        Placed { number, opened, start, parts, agreed: false, begun, over }
    }

    pub(super) fn is_agreed(&self) -> bool {
        self.agreed
    }
}

impl Transactor {
    /// All have agreed; after a crash that is said again.
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
        let Some(placed) = entry.stage.place.as_mut().filter(|it| it.number == number) else {
            return;
        };
        if std::mem::replace(&mut placed.agreed, true) {
            return;
        }
        // Of candidates, those that were selected.
        placed.parts.retain(|who| terms.is_empty() || terms.contains_key(who));
        placed.start = terms.values().copied().max().unwrap_or(placed.start);
        let event = AgreementEvent::Agreed { parts: placed.parts.clone() };
        self.observe(number, job, event, out);
        out.send(submitter, SubmissionMessage::Accepted { job });
        if self.config.transaction.traits().closes {
            self.begin(now, job, out);
        }
        self.close_if_over(now, job, acts, out);
    }

    /// Parts that are held until they are given back are told to begin, again until all have.
    pub(super) fn begin(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(placed) = self.desk.get(job).and_then(|entry| entry.stage.place.as_ref()) else {
            return;
        };
        if !placed.agreed {
            return;
        }
        let id = AgreementId { coordinator: self.config.me, number: placed.number };
        let is_silent = |who: &&ActorId| !placed.begun.contains(who);
        let silent: Vec<ActorId> = placed.parts.iter().filter(is_silent).copied().collect();
        if let Some(retry) = self.config.transaction.retry().filter(|_| !silent.is_empty()) {
            out.set(now + retry, Timer::BeginAgain { job });
        }
        for who in silent {
            out.send(who, TransactionMessage::Begin { job, id });
        }
    }

    /// A part has begun; the news may be late.
    pub(super) fn on_part_begun(
        &mut self,
        from: ActorId,
        job: JobId,
        id: AgreementId,
        out: &mut Outbox,
    ) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let submitter = entry.submitter;
        let Some(placed) = entry.stage.place.as_mut() else { return };
        if placed.number != id.number || placed.begun.contains(&from) {
            return;
        }
        placed.begun.push(from);
        if placed.begun.len() == 1 {
            out.send(submitter, SubmissionMessage::Started { job });
        }
    }

    /// A part is over; that of a try which failed is nobody's any more.
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
            out.send(from, TransactionMessage::Heard { job, id });
        }
        self.on_part_begun(from, job, id, out);
        let place = self.desk.get_mut(job).and_then(|entry| entry.stage.place.as_mut());
        if let Some(placed) = place.filter(|it| it.number == id.number) {
            placed.over.insert(from, outcome);
            let mut acts = Acts::new();
            self.close_if_over(now, job, &mut acts, out);
            self.carry_out(now, job, acts, out);
        }
        true
    }

    /// When all parts are over, so is the job.
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
        if !placed.agreed || placed.parts.iter().any(|who| !placed.over.contains_key(who)) {
            return;
        }
        let ended = placed.over.values().copied();
        let outcome = ended.fold(JobOutcome::Completed, worse);
        let number = placed.number;
        out.stop(Timer::BeginAgain { job });
        if self.config.transaction.traits().closes {
            self.seat.close(now, number, acts);
        }
        if let Some(entry) = self.desk.finish(job, outcome, out) {
            out.observe(over(self.config.me, entry, outcome, now));
        }
        self.jobs.remove(&number);
    }

    /// Jobs at providers are unfinished; the others are on their users' desks, too.
    pub(super) fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        for job in self.desk.jobs() {
            let Some(entry) = self.desk.close(job) else { continue };
            if entry.stage.place.as_ref().is_some_and(|placed| placed.agreed) {
                out.observe(over(self.config.me, entry, JobOutcome::Unfinished, now));
            }
        }
    }
}

/// The story of a job that is over in this way.
fn over(me: ActorId, entry: Entry<Stage>, outcome: JobOutcome, now: Time) -> Observation {
    let Submission { job, class, .. } = entry.submission;
    let requested = job.requested_time;
    let record = JobRecord::never_queued(job, class, outcome, now);
    let Stage { overhead, tries, place: Some(placed), .. } = entry.stage else {
        return Observation::JobOver(Box::new(record));
    };
    let parts = placed.parts.len() as u32;
    let first = Coallocated {
        first_start: placed.start,
        first_providers: parts,
        moves: 0,
        overhead,
        agreement: Some(AgreementId { coordinator: me, number: placed.number }),
    };
    let bag = BagRecord {
        parts,
        recompositions: tries.saturating_sub(1),
        coallocated: Some(first),
        ..BagRecord::default()
    };
    let overhead = if parts > 1 { overhead } else { 0 };
    let walltime = requested.map(|time| with_overhead(time, overhead));
    let (queued, bag) = (Some(placed.opened), Some(Box::new(bag)));
    Observation::JobOver(Box::new(JobRecord { queued, walltime, bag, ..record }))
}
