//! Many checkpoints at once.
//!
//! A job with a constant interval does the same round for hours: it computes for an interval, stops
//! to write, and sends the checkpoint while it computes on. All of that is counted in whole
//! microseconds and whole parts of work. So a thousand rounds are exactly a thousand times one
//! round, and are passed over in one step.
//!
//! Only transfers of several jobs can meet, on the links of their resource. So the passed time ends
//! with a gap in which no transfer can be under way. At least one round of every job is left to go
//! step by step, because its checkpoint is recorded.
//!
//! ```text
//!          passed over            | gap |  step by step
//!  job 1 ──▂▂────▂▂────▂▂────▂▂───|─────|─▂▂────▂▂──── last
//!  job 2 ▂▂────────▂▂────────▂▂───|─────|───▂▂────────
//! ```

use haggle_grids::Routine;
use haggle_grids::execution;
use haggle_model::{JobId, Span, Time};

use super::{Checkpoints, GridResource};
use crate::protocol::GridTimer;

/// Number of attempts to find a gap between transfers.
const GAPS_TRIED: usize = 32;

/// A job that repeats the same round.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    job: JobId,
    /// Time at which the timer for its next checkpoint runs out.
    due: Time,
    routine: Routine,
    /// C: time for which it stops to write; zero if checkpoints are omitted.
    pause: Span,
    /// Rounds to be passed over.
    passed: i64,
}

impl Rounds {
    /// Time from one checkpoint to the next.
    fn length(&self) -> Span {
        self.pause + self.routine.interval
    }

    /// Time at which the checkpoint of the first round has been written and its transfer begins.
    fn first(&self) -> Time {
        self.due + self.pause
    }

    /// The last time before `end` at which a transfer begins.
    fn last_before(&self, end: Time) -> Option<Time> {
        // A tick less, because a transfer that begins at `end` counts as later.
        let passed = end - Span::TICK - self.first();
        let rounds = passed.as_micros().div_euclid(self.length().as_micros());
        (rounds >= 0).then(|| self.first() + self.length() * rounds)
    }

    /// Number of transfers that begin before `end`.
    fn before(&self, end: Time) -> i64 {
        let last = self.last_before(end).map(|last| last - self.first());
        last.map_or(0, |span| span.as_micros() / self.length().as_micros() + 1)
    }

    /// Time at which the timer runs out after the passed rounds.
    fn next_due(&self) -> Time {
        self.due + self.length() * self.passed
    }
}

impl GridResource {
    /// Passes over checkpoints that leave no trace, if there is only routine before `last`. No job
    /// ends before that.
    pub(super) fn skip_routine(&mut self, last: Time) {
        // Checkpoints that are all recorded must be written one by one.
        let Some(checkpoints) = self.rules.checkpoints.filter(|_| !self.rules.records_all) else {
            return;
        };
        let Some(interval) = checkpoints.rule.constant_interval() else { return };
        let Some(alone) = self.alone.as_ref().filter(|_| self.transfers.is_empty()) else { return };
        // There is too little time to pass over anything.
        if alone.next_due().is_none_or(|next| next + interval * 2 > last) {
            return;
        }
        let Some(mut all) = self.rounds(&checkpoints) else { return };
        // The routine of a job may end before `last`, and all jobs are passed over together.
        let last = all.iter().map(|it| it.routine.until).fold(last, Time::min);
        if self.choose(&mut all, last) {
            self.pass_over(&all);
        }
    }

    /// The rounds of all jobs, if there is nothing else to do.
    fn rounds(&self, checkpoints: &Checkpoints) -> Option<Vec<Rounds>> {
        let rounds = |(due, timer)| {
            // Any other event breaks the routine of all jobs, because they share the resource.
            let GridTimer::CheckpointDue { job } = timer else { return None };
            let replica = &self.replicas[&job];
            let whole = execution(replica.length, self.machine.avail(), self.machine.sharers());
            let routine = checkpoints.rule.routine(due, self.history.last_failure(), whole)?;
            // The arrival of the first checkpoint is recorded.
            if routine.writes && replica.kept.is_none() {
                return None;
            }
            let cost = checkpoints.cost.of(replica.length);
            let pause = if routine.writes { cost } else { Span::ZERO };
            Some(Rounds { job, due, routine, pause, passed: 0 })
        };
        self.alone.as_ref()?.timers().map(rounds).collect()
    }

    /// Chooses how many rounds before `last` are passed over; false if none is.
    fn choose(&self, all: &mut [Rounds], last: Time) -> bool {
        // An omitted checkpoint causes no transfer, so it needs no gap.
        let omitted = |it: &Rounds| if it.routine.writes { 0 } else { it.before(last) };
        all.iter_mut().for_each(|it| it.passed = omitted(it));
        if let Some(end) = self.gap(all, last) {
            let written = all.iter_mut().filter(|it| it.routine.writes);
            written.for_each(|it| it.passed = it.before(end));
        }
        // Checkpoints of a job are counted in 32 bits.
        let countable = |it: &Rounds| {
            let replica = &self.replicas[&it.job];
            it.passed <= i64::from(u32::MAX - replica.requested.max(replica.omitted))
        };
        all.iter().any(|it| it.passed > 0) && all.iter().all(countable)
    }

    /// The end of a time without transfers. Every job has another transfer that arrives after that
    /// and before `last`.
    fn gap(&self, all: &[Rounds], last: Time) -> Option<Time> {
        let alone = self.alone.as_ref()?;
        let writing = || all.iter().filter(|it| it.routine.writes);
        let bytes = writing().map(|it| self.replicas[&it.job].data.checkpoint);
        let to = self.rules.home.checkpoint_node;
        let sent = alone.longest_transfer(to, bytes.max()?, writing().count());
        // A job's transfer ends before its next one begins, so there is never more than one of each.
        if !self.machine.shares_are_whole() || writing().any(|it| it.routine.interval <= sent) {
            return None;
        }
        let mut end = writing().filter_map(|it| it.last_before(last - sent)).min()?;
        for _ in 0..GAPS_TRIED {
            // The last transfer that begins before the end must have arrived by then.
            let start = writing().filter_map(|it| it.last_before(end)).max()?;
            if start + sent < end {
                return Some(end);
            }
            end = start;
        }
        None
    }

    fn pass_over(&mut self, all: &[Rounds]) {
        let (Some(now), Some(next)) =
            (all.iter().map(|it| it.due).min(), all.iter().map(Rounds::next_due).min())
        else {
            return;
        };
        // Many short stops have the same sum as one long stop.
        let mut pauses: Vec<(Span, JobId)> = Vec::new();
        let written = all.iter().filter(|it| it.routine.writes && it.passed > 0);
        pauses.extend(written.map(|it| (it.pause * it.passed, it.job)));
        // In the order of time, because the clock of the machine does not run backwards.
        pauses.sort_unstable();
        // The long stop would last beyond the next checkpoint, so nothing is passed over.
        if pauses.last().is_some_and(|&(longest, _)| now + longest > next) {
            return;
        }
        for &(_, job) in &pauses {
            self.machine.pause(now, job);
        }
        for (pause, job) in pauses {
            self.machine.resume(now + pause, job);
        }
        for it in all.iter().filter(|it| it.passed > 0) {
            let replica = self.replicas.get_mut(&it.job).expect("it goes its rounds here");
            let bytes = replica.data.checkpoint;
            let count = u32::try_from(it.passed).expect("it has been looked at");
            if it.routine.writes {
                replica.computing += it.due - replica.since + it.routine.interval * (it.passed - 1);
                replica.writing += it.pause * it.passed;
                replica.since = it.next_due() - it.routine.interval;
                replica.requested += count;
                replica.written += count;
                replica.available += count;
                replica.moved.checkpoints += u64::from(count) * bytes;
                self.deliveries.checkpoints(u64::from(count), bytes);
            } else {
                replica.omitted += count;
            }
            if let Some(alone) = &mut self.alone {
                alone.put_off(it.job, it.next_due());
            }
        }
    }
}
