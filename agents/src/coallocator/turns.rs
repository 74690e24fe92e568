//! Turns: one job after the other is placed or moved, by what providers answer then.

use haggle_model::{ActorId, JobId, Refusal, Span, Time};
use haggle_scheduling::coallocation::{
    Allocation, Demand, FreeTimes, Moves, earliest_common_start, improve,
};

use super::{Coallocator, Stage, Traits};
use crate::Outbox;
use crate::protocol::{CoallocationMessage, Submission};

/// The job that is being placed or moved.
#[derive(Debug)]
pub(super) struct Turn {
    job: JobId,
    /// Who asks for a move; nobody for the first place.
    pub(super) asked_by: Option<ActorId>,
    /// Times it was looked for a place in vain.
    pub(super) trial: u32,
    /// By the providers' places; nothing is known of who is not asked.
    free: Vec<FreeTimes>,
    /// By the providers' places: who said that it has no room before is not asked for any.
    pub(super) not_before: Vec<Time>,
    /// Places of those who have not answered.
    awaited: Vec<usize>,
    /// What is being agreed on, under which number.
    pub(super) agreeing: Option<(u64, Allocation)>,
}

impl Turn {
    pub(super) fn is_of(&self, job: JobId) -> bool {
        self.job == job
    }
}

impl Coallocator {
    /// A job is to be placed or, if somebody asks for that, to be moved.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        job: JobId,
        asked_by: Option<ActorId>,
        out: &mut Outbox,
    ) {
        self.queue.push_back((job, asked_by));
        self.take_up_next(now, out);
    }

    fn take_up_next(&mut self, now: Time, out: &mut Outbox) {
        while self.turn.is_none() {
            let Some((job, asked_by)) = self.queue.pop_front() else { return };
            let not_before = vec![Time::ZERO; self.config.providers.len()];
            self.take_up(now, (job, asked_by), 0, not_before, out);
        }
    }

    /// Asks for free times: a job that only shifts, those that have it.
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
            Some(Stage::Open(_)) if asked_by.is_none() => (0..providers).collect(),
            Some(Stage::Placed(placed)) if asked_by.is_some() && self.may_move(placed, now) => {
                match placed.traits.moves {
                    Moves::Rigid => Vec::new(),
                    Moves::Shift => placed.allocation.parts.iter().map(|part| part.0).collect(),
                    Moves::ShiftRemap => (0..providers).collect(),
                }
            }
            _ => Vec::new(),
        };
        awaited.retain(|&place| not_before[place] < Time::FOREVER);
        if awaited.is_empty() {
            // One that was withdrawn meanwhile is not there any more.
            return match asked_by {
                Some(provider) => answer(provider, job, false, out),
                None => self.desk.refuse(job, Refusal::NoProvider, out),
            };
        }
        for &place in &awaited {
            let question = self.question(now, job, not_before[place]);
            out.send(self.config.providers[place], question);
        }
        let free = vec![FreeTimes::none(); providers];
        self.turn = Some(Turn { job, asked_by, trial, free, not_before, awaited, agreeing: None });
    }

    /// When a provider is free, which it was asked for.
    pub(super) fn on_slots(
        &mut self,
        now: Time,
        place: usize,
        job: JobId,
        free: FreeTimes,
        out: &mut Outbox,
    ) -> bool {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.job == job) else { return false };
        let Some(at) = turn.awaited.iter().position(|&it| it == place) else { return false };
        turn.awaited.swap_remove(at);
        turn.free[place] = free;
        if turn.awaited.is_empty() {
            self.choose(now, out);
        }
        true
    }

    /// All answers are in.
    fn choose(&mut self, now: Time, out: &mut Outbox) {
        let Some(turn) = &self.turn else { return };
        let job = turn.job;
        let Some(entry) = self.desk.get(job) else { return self.end_turn(now, false, out) };
        // It takes four messages to agree, one after the other; the last one is to be in time.
        let soonest = now + self.config.latency_max * 4;
        let (fill, choice) = (self.config.fill, self.config.choice);
        let found = match (&entry.stage, &self.mapper) {
            (Stage::Open(_), _) if entry.withdrawn => {
                self.desk.cancel(now, job, out);
                return self.end_turn(now, false, out);
            }
            (Stage::Open(_), Some(mapper)) => {
                let job = &entry.submission.job;
                let in_time = |it: &Allocation| {
                    job.deadline.is_none_or(|deadline| it.completion() <= deadline)
                };
                mapper.find(&turn.free, &turn.not_before, job, soonest, in_time)
            }
            (Stage::Placed(placed), Some(mapper)) => {
                let gains = |it: &Allocation| placed.gains(it);
                let job = &entry.submission.job;
                mapper.find(&turn.free, &turn.not_before, job, soonest, gains)
            }
            (Stage::Open(traits), None) => {
                let demand = demand(&entry.submission, traits);
                earliest_common_start(&turn.free, &demand, traits.first, fill, soonest)
            }
            (Stage::Placed(placed), None) => {
                let demand = demand(&entry.submission, &placed.traits);
                // What has been promised is no later than its deadline.
                let demand = Demand { deadline: None, ..demand };
                let what = (&demand, &placed.allocation);
                let how = (placed.traits.first, fill, choice);
                improve(placed.traits.moves, &turn.free, what, how, soonest)
            }
        };
        match found {
            Some(allocation) => self.agree(now, job, allocation, out),
            None => {
                if let Stage::Open(traits) = &entry.stage {
                    let late = match &self.mapper {
                        Some(mapper) => {
                            let job = &entry.submission.job;
                            mapper.find(&turn.free, &turn.not_before, job, soonest, |_| true)
                        }
                        None => {
                            let demand = demand(&entry.submission, traits);
                            let demand = Demand { deadline: None, ..demand };
                            earliest_common_start(&turn.free, &demand, traits.first, fill, soonest)
                        }
                    };
                    let reason = late.map_or(Refusal::NoProvider, |_| Refusal::NoWindow);
                    self.desk.refuse(job, reason, out);
                }
                self.end_turn(now, false, out);
            }
        }
    }

    /// What was looked for has gone to others: a job that has no place yet is tried again, and so is an
    /// application that is to move.
    pub(super) fn in_vain(&mut self, now: Time, out: &mut Outbox) {
        let tries_again = |turn: &Turn| turn.asked_by.is_none() || self.mapper.is_some();
        let Some(turn) = self.turn.as_ref().filter(|turn| tries_again(turn)) else {
            return self.end_turn(now, false, out);
        };
        let (job, asked_by, trial) = (turn.job, turn.asked_by, turn.trial);
        let withdrawn = self.desk.get(job).is_some_and(|entry| entry.withdrawn);
        if asked_by.is_none() && withdrawn {
            self.desk.cancel(now, job, out);
        } else if trial + 1 < self.config.trials {
            let not_before = turn.not_before.clone();
            return self.try_again(now, (job, asked_by), trial + 1, not_before, out);
        } else if asked_by.is_none() {
            self.desk.refuse(job, Refusal::NoAgreement, out);
        }
        self.end_turn(now, false, out);
    }

    /// The same turn once more; over, if there is nobody left to ask.
    fn try_again(
        &mut self,
        now: Time,
        whose: (JobId, Option<ActorId>),
        trial: u32,
        not_before: Vec<Time>,
        out: &mut Outbox,
    ) {
        self.turn = None;
        self.take_up(now, whose, trial, not_before, out);
        self.take_up_next(now, out);
    }

    /// Whoever asked is answered, and the next job is taken up.
    pub(super) fn end_turn(&mut self, now: Time, moved: bool, out: &mut Outbox) {
        if let Some(Turn { job, asked_by: Some(provider), .. }) = self.turn.take() {
            answer(provider, job, moved, out);
        }
        self.take_up_next(now, out);
    }
}

fn answer(to: ActorId, job: JobId, moved: bool, out: &mut Outbox) {
    out.send(to, CoallocationMessage::Rescheduled { job, moved });
}

fn demand(submission: &Submission, traits: &Traits) -> Demand {
    let job = &submission.job;
    Demand {
        processors: job.processors,
        span: job.requested_time.unwrap_or(Span::FOREVER).max(Span::TICK),
        overhead: traits.overhead,
        part_min: traits.part_min,
        earliest: job.ready.unwrap_or(job.submit),
        deadline: job.deadline,
    }
}
