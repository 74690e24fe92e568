//! Turns: jobs are placed or moved one after the other, with the answers that providers give in the turn.

use haggle_model::{ActorId, JobId, JobOutcome, Refusal, Time};
use haggle_scheduling::coallocation::{
    Allocation, CoallocationPolicy, Demand, FreeTimes, RequestOrder, Search, Stretch,
    earliest_common_start, improve,
};
use haggle_scheduling::promise;
use serde::{Deserialize, Serialize};

use super::{Coallocator, Stage, Traits};
use crate::Outbox;
use crate::desk::Entry;
use crate::protocol::{CoallocationMessage, Submission, Timer};

/// The job that is being placed or moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Turn {
    job: JobId,
    /// Provider that requests the move; `None` for the first place.
    pub(super) asked_by: Option<ActorId>,
    /// Number of trials in vain before this one.
    pub(super) trial: u32,
    /// Places of the providers that have a part of it, with their free times without the part.
    own: Vec<(usize, Stretch)>,
    /// Earliest time that each provider is asked for, by its place. [`Time::FOREVER`] excludes a provider.
    pub(super) not_before: Vec<Time>,
    /// Places of the providers that have not answered.
    awaited: Vec<usize>,
    /// Number and place of the current agreement.
    pub(super) agreeing: Option<(u64, Allocation)>,
    /// Provider that has broken its part before all others have carried out the agreement.
    pub(super) broken_by: Option<ActorId>,
}

impl Turn {
    pub(super) fn job(&self) -> JobId {
        self.job
    }

    pub(super) fn is_of(&self, job: JobId) -> bool {
        self.job == job
    }
}

impl Coallocator {
    /// Queues a job that must be placed or, if `asked_by` is set, moved.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        job: JobId,
        asked_by: Option<ActorId>,
        out: &mut Outbox,
    ) {
        self.waiting.push(job, asked_by);
        self.go_on(now, out);
    }

    /// Takes up the next job, as soon as the order of the requests decides which one that is.
    fn go_on(&mut self, now: Time, out: &mut Outbox) {
        match self.config.requests {
            // A turn may end at once, for example for a job that has ended, so the loop goes on to the next.
            RequestOrder::InTurns => while self.take_up_next(now, out) {},
            // A provider that was just answered sends its next request at this instant or not at all. The timer waits
            // for it.
            RequestOrder::ByProvider if self.turn.is_none() => out.set(now, Timer::NextTurn),
            RequestOrder::ByProvider => {}
        }
    }

    /// Takes up a job after all earlier messages of this instant.
    pub(super) fn on_next_turn(&mut self, now: Time, out: &mut Outbox) {
        if self.take_up_next(now, out) {
            self.go_on(now, out);
        }
    }

    /// Returns whether there was a job to take up.
    fn take_up_next(&mut self, now: Time, out: &mut Outbox) -> bool {
        if self.turn.is_some() {
            return false;
        }
        let Some((job, asked_by)) = self.waiting.next() else { return false };
        let not_before = vec![Time::ZERO; self.config.providers.len()];
        self.take_up(now, (job, asked_by), 0, not_before, out);
        true
    }

    /// Requests free times: for a job that may only shift, of the providers with a part, else of all.
    fn take_up(
        &mut self,
        now: Time,
        (job, asked_by): (JobId, Option<ActorId>),
        trial: u32,
        not_before: Vec<Time>,
        out: &mut Outbox,
    ) {
        let providers = self.config.providers.len();
        let mut awaited: Vec<usize> = match self.desk.get(job).map(|entry| &entry.stage) {
            Some(Stage::Open(..)) if asked_by.is_none() => (0..providers).collect(),
            Some(Stage::Placed(placed)) if asked_by.is_some() && self.may_move(placed, now) => {
                match placed.traits.moves {
                    CoallocationPolicy::Rigid => Vec::new(),
                    CoallocationPolicy::Shift => {
                        placed.allocation.parts.iter().map(|part| part.0).collect()
                    }
                    CoallocationPolicy::ShiftRemap => (0..providers).collect(),
                }
            }
            // The job is over, has started, or was moved or placed before its turn came.
            _ => Vec::new(),
        };
        // A provider that refused the job for good is not asked again.
        awaited.retain(|&place| not_before[place] < Time::FOREVER);
        if awaited.is_empty() {
            // A job that was withdrawn in the meantime is not on the desk any more.
            return match asked_by {
                Some(provider) => answer(provider, job, false, out),
                None => self.drop_job(now, job, Refusal::NoProvider, out),
            };
        }
        for &place in &awaited {
            let question = self.question(now, job, not_before[place]);
            out.send(self.config.providers[place], question);
        }
        let own = Vec::new();
        self.turn = Some(Turn {
            job,
            asked_by,
            trial,
            own,
            not_before,
            awaited,
            agreeing: None,
            broken_by: None,
        });
    }

    /// Handles the requested changes of a provider's free times.
    pub(super) fn on_slots(
        &mut self,
        now: Time,
        place: usize,
        job: JobId,
        (changed, own): (&Stretch, Stretch),
        out: &mut Outbox,
    ) -> bool {
        let Some(turn) = self.awaits(place, job) else { return false };
        // Own parts are kept apart from the known free times, which hold for all jobs.
        turn.own.extend((!own.is_empty()).then_some((place, own)));
        // The question of another job may overtake the notice of a job that awaits room.
        if self.known.hear(place, changed) {
            self.try_stranded(now, out);
        }
        self.choose_when_all_have_answered(now, out);
        true
    }

    /// Handles the complete requested free times of a provider.
    pub(super) fn on_free_times(
        &mut self,
        now: Time,
        place: usize,
        job: JobId,
        free: FreeTimes,
        out: &mut Outbox,
    ) -> bool {
        let is_expected = self.awaits(place, job).is_some();
        if is_expected {
            self.known.hear(place, &free.whole());
            self.choose_when_all_have_answered(now, out);
        }
        is_expected
    }

    /// Notes that a provider has answered. Returns the turn, or `None` if it does not wait for this answer.
    fn awaits(&mut self, place: usize, job: JobId) -> Option<&mut Turn> {
        let turn = self.turn.as_mut().filter(|turn| turn.job == job)?;
        let at = turn.awaited.iter().position(|&it| it == place)?;
        turn.awaited.swap_remove(at);
        Some(turn)
    }

    fn choose_when_all_have_answered(&mut self, now: Time, out: &mut Outbox) {
        let Some(turn) = self.turn.as_ref().filter(|turn| turn.awaited.is_empty()) else { return };
        let job = turn.job;
        // An agreement takes four messages in sequence, and the last one must be in time.
        let soonest = now + self.reach() * 4;
        let found = match self.desk.get(job) {
            // The job ended while its answers were under way.
            None => None,
            Some(Entry { stage: Stage::Open(..), withdrawn: true, .. }) => {
                self.desk.cancel(now, job, out);
                None
            }
            Some(Entry { stage: Stage::Placed(_), .. }) if self.mapper.is_none() => {
                self.better(job, soonest)
            }
            Some(_) => self.choose(now, job, soonest, out),
        };
        match found {
            Some(allocation) => self.agree(now, job, allocation, out),
            None => self.end_turn(now, false, out),
        }
    }

    /// A better place for a job that is placed.
    fn better(&mut self, job: JobId, soonest: Time) -> Option<Allocation> {
        let (turn, entry) = self.turn.as_ref().zip(self.desk.get_mut(job))?;
        let Stage::Placed(placed) = &mut entry.stage else { return None };
        let traits = placed.traits;
        // The promised completion is no later than the deadline.
        let demand = Demand { deadline: None, ..demand(&entry.submission, &traits) };
        let what = (&demand, &placed.allocation);
        let (heard, changed) =
            self.known.news(placed.no_improvement.as_ref().map(|&(heard, _)| heard));
        let no_improvement =
            placed.no_improvement.as_ref().map(|(_, no_improvement)| no_improvement);
        // Without a change near its place, another search would fail, too.
        if no_improvement.is_some_and(|no_improvement| no_improvement.holds(what, changed, soonest))
        {
            return None;
        }
        let Traits { moves, first, .. } = traits;
        let search = Search { moves, first, fill: self.config.fill, choice: self.config.choice };
        let found = self.known.see(soonest, &turn.own, |free| {
            improve(search, free, what, no_improvement.zip(changed), soonest)
        });
        placed.no_improvement =
            found.as_ref().err().map(|no_improvement| (heard, no_improvement.clone()));
        found.ok()
    }

    /// A place for a job without one; the job is refused if none is found. For an application, also a place that
    /// replaces its own.
    fn choose(
        &mut self,
        now: Time,
        job: JobId,
        soonest: Time,
        out: &mut Outbox,
    ) -> Option<Allocation> {
        let found = self.find(job, soonest, true);
        let is_open = |entry: &Entry<Stage>| matches!(entry.stage, Stage::Open(..));
        if found.is_none() && self.desk.get(job).is_some_and(is_open) {
            let late = self.find(job, soonest, false);
            if late.is_none() && self.waits_for_repairs(job) {
                self.await_room(job, out);
                return None;
            }
            // A place after the deadline shows that the deadline was the reason.
            let reason = late.map_or(Refusal::NoProvider, |_| Refusal::NoWindow);
            self.drop_job(now, job, reason, out);
        }
        found
    }

    /// The earliest place for a job, before its deadline if `in_time`. A placed application must gain by it.
    fn find(&mut self, job: JobId, soonest: Time, in_time: bool) -> Option<Allocation> {
        let (turn, entry) = self.turn.as_ref().zip(self.desk.get(job))?;
        let (own, not_before) = (&turn.own, &turn.not_before);
        let description = &entry.submission.job;
        let deadline = description.deadline.filter(|_| in_time);
        match (&self.mapper, &entry.stage) {
            (Some(mapper), stage) => self.known.see_lists(soonest, own, not_before, |free| {
                mapper.find(free, not_before, description, soonest, |it| match stage {
                    Stage::Open(..) => deadline.is_none_or(|deadline| it.completion() <= deadline),
                    Stage::Placed(placed) => placed.gains(it),
                })
            }),
            (None, Stage::Open(traits, _)) => self.known.see(soonest, own, |free| {
                // With the deadline of this search: a second search without one only finds the reason of a refusal.
                let demand = Demand { deadline, ..demand(&entry.submission, traits) };
                let found =
                    earliest_common_start(free, &demand, traits.first, self.config.fill, soonest);
                // A start behind a job without a limit is none, unless the job can move up from there.
                let moves = traits.moves > CoallocationPolicy::Rigid;
                found.filter(|it| moves || promise(it.start).is_some())
            }),
            // Rigid jobs with a place are moved by `better`.
            (None, Stage::Placed(_)) => None,
        }
    }

    /// Handles an agreement that failed because other jobs took the room. A job without a place is tried again, and
    /// so is an application that moves.
    pub(super) fn on_failed_trial(&mut self, now: Time, out: &mut Outbox) {
        let tries_again = |turn: &Turn| turn.asked_by.is_none() || self.mapper.is_some();
        let Some(turn) = self.turn.as_ref().filter(|turn| tries_again(turn)) else {
            return self.end_turn(now, false, out);
        };
        let (job, asked_by, trial) = (turn.job, turn.asked_by, turn.trial);
        // A placed job that moves keeps its place, so only a job without one is cancelled here.
        let withdrawn = self.desk.get(job).is_some_and(|entry| entry.withdrawn);
        if asked_by.is_none() && withdrawn {
            self.desk.cancel(now, job, out);
        } else if trial + 1 < self.config.trials {
            let not_before = turn.not_before.clone();
            return self.try_again(now, (job, asked_by), trial + 1, not_before, out);
        } else if asked_by.is_none() {
            self.drop_job(now, job, Refusal::NoAgreement, out);
        }
        self.end_turn(now, false, out);
    }

    /// A job is tried again when a provider reports more room.
    fn await_room(&mut self, job: JobId, out: &mut Outbox) {
        self.stranded.push(job);
        for &provider in &self.config.providers {
            out.send(provider, CoallocationMessage::AwaitRoom { job });
        }
    }

    /// Tries again to place the jobs that found no room.
    pub(super) fn try_stranded(&mut self, now: Time, out: &mut Outbox) {
        for job in std::mem::take(&mut self.stranded) {
            self.enqueue(now, job, None, out);
        }
    }

    /// Returns whether a job would find room if no processor was down.
    fn waits_for_repairs(&self, job: JobId) -> bool {
        let entry = self.desk.get(job).filter(|_| self.config.may_break && self.mapper.is_none());
        let Some(Entry { submission, stage: Stage::Open(traits, _), .. }) = entry else {
            return false;
        };
        let demand = Demand { deadline: None, ..demand(submission, traits) };
        let (free, fill) = (self.known.without_failures(), self.config.fill);
        earliest_common_start(&free, &demand, traits.first, fill, Time::ZERO).is_some()
    }

    /// A job finds no place: it is refused, or has failed if it was agreed on before.
    fn drop_job(&mut self, now: Time, job: JobId, reason: Refusal, out: &mut Outbox) {
        let was_agreed = |entry: &Entry<Stage>| match &entry.stage {
            Stage::Open(traits, _) => traits.past.is_some(),
            Stage::Placed(_) => true,
        };
        if self.desk.get(job).is_some_and(was_agreed) {
            self.desk.finish_whole(now, job, JobOutcome::Failed, out);
        } else {
            self.desk.refuse(job, reason, out);
        }
    }

    /// Repeats a turn. It ends if no provider is left to ask.
    fn try_again(
        &mut self,
        now: Time,
        whose: (JobId, Option<ActorId>),
        trial: u32,
        not_before: Vec<Time>,
        out: &mut Outbox,
    ) {
        // Before `take_up`, which sets the turn again if a provider is asked.
        self.turn = None;
        self.take_up(now, whose, trial, not_before, out);
        self.go_on(now, out);
    }

    /// Answers the provider that requested the move, and takes up the next job.
    pub(super) fn end_turn(&mut self, now: Time, moved: bool, out: &mut Outbox) {
        if let Some(Turn { job, asked_by: Some(provider), .. }) = self.turn.take() {
            answer(provider, job, moved, out);
        }
        self.go_on(now, out);
    }
}

fn answer(to: ActorId, job: JobId, moved: bool, out: &mut Outbox) {
    out.send(to, CoallocationMessage::Rescheduled { job, moved });
}

fn demand(submission: &Submission, traits: &Traits) -> Demand {
    let job = &submission.job;
    Demand {
        processors: job.processors,
        span: traits.span,
        overhead: traits.overhead,
        part_min: traits.part_min,
        parts: traits.parts,
        earliest: job.ready.unwrap_or(job.submit),
        deadline: job.deadline,
    }
}
