//! Agreements on places: all providers hold, move or give up their parts, or none does.

use std::collections::BTreeMap;

use haggle_agreements::seat::{self, Act, Keeps};
use haggle_agreements::{
    Answer, Coordinator, InDoubt, Progress, Rules, ToCoordinator, ToParticipant, Vote,
};
use haggle_model::{ActorId, JobId, Span, Time};
use haggle_scheduling::coallocation::{Allocation, CoallocationPolicy};

use super::turns::Turn;
use super::{Coallocator, Stage};
use crate::Outbox;
use crate::desk::Entry;
use crate::protocol::coallocation::{Parts, Place, Program, Want};
use crate::protocol::{CoallocationMessage, Timer};

/// The coordinator of a metascheduler, in its seat.
pub(super) type Seat = seat::Seat<Coordinator<Parts>>;

/// Number of losses of a message for which an agreement provides time.
const REPETITIONS: i64 = 4;

type Acts = seat::Acts<ToParticipant<Parts>, Progress<Parts>>;

/// The seat of a metascheduler at its start.
pub(super) fn seat(me: ActorId, retry: Option<Span>) -> Seat {
    let keeps = if retry.is_some() { Keeps::All } else { Keeps::Nothing };
    let mut seat = Seat::new(me, (), keeps);
    seat.start(Time::ZERO, &mut Acts::new());
    seat
}

impl Coallocator {
    /// Requests all providers that have or will get a part to prepare for the new place.
    pub(super) fn agree(
        &mut self,
        now: Time,
        job: JobId,
        allocation: Allocation,
        out: &mut Outbox,
    ) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let traits = match &entry.stage {
            Stage::Open(traits, _) => *traits,
            Stage::Placed(placed) => placed.traits,
        };
        let description = &entry.submission.job;
        let program = Program {
            overhead: traits.overhead,
            key: description.key,
            moves: self.config.moves > CoallocationPolicy::Rigid,
            negotiates: self.mapper.is_some(),
            may_break: self.config.may_break,
        };
        let mapped = self.mapper.as_ref();
        let run_time = mapped.and_then(|it| it.hidden_run_time(description, &allocation));
        let run_time = run_time.unwrap_or(description.run_time);
        let present = entry.placed().map(|placed| placed.allocation.parts.as_slice());
        let mut wanted = BTreeMap::new();
        for &(place, _) in present.unwrap_or_default() {
            // A provider that also gets a part of the new place reconfigures instead, see below.
            wanted.insert(self.config.providers[place], Want::Leave);
        }
        let Allocation { start, span, .. } = allocation;
        for &(place, processors) in &allocation.parts {
            // The run time of an application depends on its place, so no queue may move it alone.
            let alone = self.mapper.is_none() && !allocation.is_spread();
            let to = Place { start, span, processors, alone, run_time };
            let want = wanted.entry(self.config.providers[place]);
            want.and_modify(|it| *it = Want::Reconfigure(to)).or_insert(Want::Reserve(to, program));
        }
        // If no message is lost, each ready provider receives the decision before the first lease ends. Otherwise a hold
        // may end before the coordinator knows of it, so the lease is requested until the start.
        let retry = self.config.retry;
        let rules = Rules {
            lease: retry.map_or(Span::FOREVER, |_| start - now),
            margin: self.reach(),
            in_doubt: InDoubt::Release,
            retry: retry.filter(|_| self.config.resends),
            hears_all: true,
        };
        let mut acts = Acts::new();
        let number = self.seat.with(&mut acts, |coordinator, out| {
            // The number is the present time, so it does not disclose how many agreements there were.
            coordinator.skip_to(now.as_micros().unsigned_abs());
            coordinator.open(now, wanted, rules, out)
        });
        if let Some(turn) = &mut self.turn {
            turn.agreeing = number.map(|number| (number, allocation));
        }
        self.carry_out(now, job, acts, out);
    }

    /// Handles the vote of a provider, or its report that it has carried out the agreement.
    pub(super) fn on_vote(
        &mut self,
        now: Time,
        job: JobId,
        from: ActorId,
        message: ToCoordinator<Parts>,
        out: &mut Outbox,
    ) -> bool {
        let its_turn = self.turn.as_ref().filter(|turn| turn.is_of(job));
        let agreeing = its_turn.and_then(|turn| turn.agreeing.as_ref());
        let is_expected = message.id.coordinator == self.config.me
            && agreeing.is_some_and(|&(number, _)| number == message.id.number)
            && matches!(
                message.answer,
                Answer::Ready { .. } | Answer::NotReady(_) | Answer::Committed(_)
            );
        let is_own = message.id.coordinator == self.config.me;
        let is_vote =
            is_own && matches!(message.answer, Answer::Ready { .. } | Answer::NotReady(_));
        let given = message.id.number;
        // The report of a provider may cross the answer of another one, by which the agreement is undone.
        let is_broken = self.config.may_break
            && is_own
            && given <= now.as_micros().unsigned_abs()
            && matches!(message.answer, Answer::Committed(_) | Answer::Expired | Answer::Undone);
        // A repeated answer is for the coordinator, which drops it or repeats its decision.
        let repeats = self.config.retry.is_some() && is_own;
        if is_expected || is_broken || repeats {
            let mut acts = Acts::new();
            self.seat.hear(now, from, message, &mut acts);
            self.carry_out(now, job, acts, out);
        }
        // A vote may cross the end of its agreement; the end was sent to the provider, so the vote is ignored.
        let is_late = is_vote && given <= now.as_micros().unsigned_abs();
        is_expected || is_late || is_broken || repeats
    }

    /// Time in which a message reaches a provider, some losses included.
    pub(super) fn reach(&self) -> Span {
        let repetitions = self.config.retry.map_or(Span::ZERO, |retry| retry * REPETITIONS);
        self.config.latency_max + repetitions
    }

    /// Wakes the coordinator for all timers that are due. Turns never overlap, so all are about the job of the turn.
    pub(super) fn on_agreement_due(&mut self, now: Time, out: &mut Outbox) {
        let mut acts = Acts::new();
        while self.seat.wake(now, &mut acts) {
            let job = self.turn.as_ref().map(Turn::job).unwrap_or_default();
            self.carry_out(now, job, std::mem::take(&mut acts), out);
        }
    }

    /// The coordinator starts again from its records. An agreement that it forgot was not decided, so its job is tried
    /// again.
    pub(super) fn on_restarted(&mut self, now: Time, out: &mut Outbox) {
        let job = self.turn.as_ref().map(Turn::job).unwrap_or_default();
        let mut acts = Acts::new();
        self.seat.start(now, &mut acts);
        self.carry_out(now, job, acts, out);
        let agreeing = self.turn.as_ref().and_then(|turn| turn.agreeing.as_ref());
        let Some(&(number, _)) = agreeing else { return };
        let knows = |it: &Coordinator<Parts>| it.states().any(|(open, _)| open == number);
        if !self.seat.machine().is_none_or(knows) {
            self.on_failed_trial(now, out);
        }
    }

    pub(super) fn set_agreement_timer(&self, now: Time, out: &mut Outbox) {
        match self.seat.next_wake() {
            Some(at) => out.set(at.max(now), Timer::AgreementDue),
            None => out.stop(Timer::AgreementDue),
        }
    }

    /// Carries out the acts of the coordinator about a job.
    fn carry_out(&mut self, now: Time, job: JobId, acts: Acts, out: &mut Outbox) {
        seat::carry_out(acts, |act, _| match act {
            Act::Send { to, message } => {
                let message = Box::new(message);
                out.send(to, CoallocationMessage::Instruct { job, message });
            }
            Act::Tell(Progress::AllReady { number, .. }) => self.decide(now, job, number, out),
            Act::Tell(Progress::Aborted { votes, .. }) => {
                // Before the next trial, which takes over the times that providers have named.
                self.hear_refusals(&votes);
                self.on_failed_trial(now, out);
            }
            Act::Tell(Progress::Broken { .. }) => {
                // The job was recorded at its place when the agreement was decided.
                self.take_back(job, false);
                self.on_failed_trial(now, out);
            }
            Act::Tell(Progress::Committed { .. }) => self.on_agreed(now, job, out),
        });
    }

    /// Records when providers that refused a part would have room. None is asked for an earlier time.
    fn hear_refusals(&mut self, votes: &BTreeMap<ActorId, Vote<Parts>>) {
        let Some(turn) = self.turn.as_mut().filter(|_| self.mapper.is_some()) else { return };
        for (provider, vote) in votes {
            if let (Vote::NotReady(next), Some(&place)) = (vote, self.places.get(provider)) {
                turn.not_before[place] = next.unwrap_or(Time::FOREVER);
            }
        }
    }

    /// Commits an agreement for which all providers are ready.
    fn decide(&mut self, now: Time, job: JobId, number: u64, out: &mut Outbox) {
        let is_open = |entry: &Entry<Stage>| matches!(entry.stage, Stage::Open(..));
        // A withdrawn job without a place must not get one.
        let dropped = self.desk.get(job).is_none_or(|it| it.withdrawn && is_open(it));
        let mut acts = Acts::new();
        let committed = self.seat.with(&mut acts, |coordinator, out| {
            let commits = !dropped && coordinator.commit(now, number, |_, _| (), out);
            if !commits {
                coordinator.abort(number, out);
            }
            commits
        });
        if committed == Some(true)
            && let Some(turn) = &self.turn
            && let Some((_, allocation)) = &turn.agreeing
        {
            let (allocation, trial) = (allocation.clone(), turn.trial);
            self.place(now, job, allocation, trial, out);
        }
        self.carry_out(now, job, acts, out);
    }

    /// Ends the turn: all providers have carried out the agreement.
    fn on_agreed(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let broken_by = self.turn.as_ref().and_then(|turn| turn.broken_by);
        self.promise(job, out);
        if let Some(provider) = broken_by {
            self.give_up(now, job, provider, out);
        }
        self.end_turn(now, true, out);
    }
}
