//! The machine of a provider: its processors, and the attempts that run on them.
//!
//! ```text
//!            start                    end
//!   free ───────────▶ an attempt ───────────▶ free
//!    │ ▲                  │ lose: its processors fail
//!    │ └── restore ── down ◀──┘
//!    └─ close ─▶ closed ─ open ─▶ free
//! ```
//!
//! It knows processors and times, but no job, plan or message. Each kind of work that runs here, whether a rigid job,
//! tasks of a share, a part of a co-allocated job or a booking, runs as an [`Attempt`].

use haggle_model::{JobOutcome, LostRun, Nodes, ProcessorSet, ProviderId, Span, TaskRun, Time};
use haggle_scheduling::checkpoints::FailureHistory;
use haggle_scheduling::{Killed, Overrun, Slot};
use serde::{Deserialize, Serialize};

use super::seen::SeenByNodes;
use crate::glimpse;

/// Work on some processors of a machine, from its start until it ends or is lost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Attempt {
    pub(in crate::provider) start: Time,
    /// Its end unless its processors fail; [`Time::FOREVER`] while that is unknown.
    pub(in crate::provider) end: Time,
    /// The end of its plan.
    pub(in crate::provider) planned_end: Time,
    /// Its outcome if it reaches its end.
    pub(in crate::provider) outcome: JobOutcome,
    pub(in crate::provider) processors: ProcessorSet,
}

impl Attempt {
    /// Number of its processors.
    pub(in crate::provider) fn count(&self) -> u32 {
        self.processors.count()
    }

    /// True if it ends by now, and has one of these processors.
    pub(in crate::provider) fn ends_on(&self, now: Time, processors: &ProcessorSet) -> bool {
        self.end <= now && self.processors.intersects(processors)
    }

    /// True if its plan has ended but the attempt goes on.
    pub(in crate::provider) fn is_late(&self, now: Time) -> bool {
        self.planned_end <= now && self.end > now
    }

    /// The data by which a scheduler forgets it.
    pub(in crate::provider) fn killed(&self, slot: Slot) -> Killed {
        Killed { slot, processors: self.count(), planned_end: self.planned_end }
    }

    /// Its record, if its processors fail now and nothing of it was saved.
    pub(in crate::provider) fn lost(self, provider: ProviderId, now: Time) -> LostRun {
        LostRun {
            provider,
            start: self.start,
            end: now,
            stopped_for: None,
            cancelled: false,
            processors: self.processors,
            saved: Span::ZERO,
            checkpointing: Span::ZERO,
            checkpoints: Vec::new(),
        }
    }

    /// Its record, if it stops now.
    pub(in crate::provider) fn stopped(self, now: Time, outcome: JobOutcome) -> TaskRun {
        TaskRun { start: self.start, end: now, outcome, processors: self.processors }
    }

    /// Its record, if it has reached its end.
    pub(in crate::provider) fn ended(self, now: Time) -> TaskRun {
        let outcome = self.outcome;
        self.stopped(now, outcome)
    }
}

/// Run time and outcome of work that takes `run_time`. Work that may not run over its limit is
/// stopped there.
pub(in crate::provider) fn limited(
    run_time: Span,
    limit: Option<Span>,
    overrun: Overrun,
) -> (Span, JobOutcome) {
    match limit.filter(|&limit| overrun == Overrun::Kill && run_time > limit) {
        Some(limit) => (limit, JobOutcome::WalltimeReached),
        None => (run_time, JobOutcome::Completed),
    }
}

/// The processors of a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Machine {
    /// Number of its processors.
    size: u32,
    /// Processors that are up, open, and without work.
    free: ProcessorSet,
    /// Processors that have failed.
    down: ProcessorSet,
    /// Processors that fail when their work ends, one set for each failure.
    draining: Vec<ProcessorSet>,
    /// Processors that were drained and are down, one set for each time at which some went down.
    drained: Vec<ProcessorSet>,
    /// Processors that are closed for maintenance.
    closed: ProcessorSet,
    seen: SeenByNodes,
    running: Running,
    /// Number of starts and ends of attempts.
    changes: u64,
}

/// The planned work that runs: the sum of processors x planned end, less processors x now.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Running {
    ends: i128,
    processors: i128,
}

impl Running {
    fn add(&mut self, processors: u32, planned_end: Time) {
        self.ends += i128::from(planned_end.as_micros()) * i128::from(processors);
        self.processors += i128::from(processors);
    }

    fn remove(&mut self, processors: u32, planned_end: Time) {
        self.ends -= i128::from(planned_end.as_micros()) * i128::from(processors);
        self.processors -= i128::from(processors);
    }
}

impl Machine {
    /// A machine of `size` idle processors. Failures are counted by nodes of `node` processors, if
    /// a rule needs that.
    pub(in crate::provider) fn new(size: u32, node: Option<u32>) -> Machine {
        Machine {
            size,
            free: ProcessorSet::range(0, size),
            down: ProcessorSet::new(),
            draining: Vec::new(),
            drained: Vec::new(),
            closed: ProcessorSet::new(),
            seen: SeenByNodes::new(size, node),
            running: Running::default(),
            changes: 0,
        }
    }

    /// Number of starts and ends of attempts.
    pub(in crate::provider) fn changes(&self) -> u64 {
        self.changes
    }

    /// Number of its processors, failed ones included.
    pub(in crate::provider) fn size(&self) -> u32 {
        self.size
    }

    /// The numbers of its processors by state.
    pub(in crate::provider) fn glimpse(&self) -> glimpse::Machine {
        let (free, failed, closed) = (self.free(), self.down.count(), self.closed.count());
        glimpse::Machine { processors: self.size, free, failed, closed }
    }

    /// Processors that can start work now.
    pub(in crate::provider) fn free(&self) -> u32 {
        self.free.count()
    }

    /// Starts work on the lowest free processors. The scheduler's plan guarantees that there are
    /// enough of them. The end of the attempt is unknown yet.
    pub(in crate::provider) fn start(
        &mut self,
        now: Time,
        processors: u32,
        planned_end: Time,
    ) -> Attempt {
        let taken = self.free.take_lowest(processors);
        let processors = taken.expect("the scheduler starts work only if its processors are free");
        self.begin(now, processors, planned_end)
    }

    /// As [`Machine::start`], on the lowest free processors of some nodes: so many of each.
    pub(in crate::provider) fn start_on(
        &mut self,
        now: Time,
        nodes: &Nodes,
        places: &[(u32, u32)],
        planned_end: Time,
    ) -> Attempt {
        let mut processors = ProcessorSet::new();
        for &(node, count) in places {
            let mut free = self.free.intersection(&nodes.processors_of(node));
            let taken = free.take_lowest(count);
            let taken = taken.expect("the scheduler starts work only if its nodes are free");
            self.free.remove_all(&taken);
            processors.insert_all(&taken);
        }
        self.begin(now, processors, planned_end)
    }

    fn begin(&mut self, now: Time, processors: ProcessorSet, planned_end: Time) -> Attempt {
        self.running.add(processors.count(), planned_end);
        self.changes += 1;
        let (end, outcome) = (Time::FOREVER, JobOutcome::Completed);
        Attempt { start: now, end, planned_end, outcome, processors }
    }

    /// An attempt is over: its processors are free again.
    pub(in crate::provider) fn end(&mut self, attempt: &Attempt) {
        self.free.insert_all(&attempt.processors);
        self.running.remove(attempt.count(), attempt.planned_end);
        self.changes += 1;
    }

    /// An attempt is planned to end at another time.
    pub(in crate::provider) fn replan(&mut self, attempt: &mut Attempt, planned_end: Time) {
        self.running.remove(attempt.count(), attempt.planned_end);
        self.running.add(attempt.count(), planned_end);
        attempt.planned_end = planned_end;
    }

    /// Splits the work on failed processors off an attempt, as an attempt of its own that is over.
    /// If all of its processors have failed, nothing is left of the attempt.
    pub(in crate::provider) fn lose(
        &mut self,
        attempt: &mut Option<Attempt>,
        failed: &ProcessorSet,
    ) -> Option<Attempt> {
        let whole = attempt.as_mut()?;
        let processors = whole.processors.intersection(failed);
        if processors.is_empty() {
            return None;
        }
        let &mut Attempt { start, end, planned_end, outcome, .. } = whole;
        whole.processors.remove_all(&processors);
        if whole.processors.is_empty() {
            *attempt = None;
        }
        let lost = Attempt { start, end, planned_end, outcome, processors };
        self.end(&lost);
        Some(lost)
    }

    /// Marks `processors` as failed, and returns the ones that were up before. They stay with their
    /// attempts, or free, until [`Machine::take_down`].
    pub(in crate::provider) fn fail(&mut self, mut processors: ProcessorSet) -> ProcessorSet {
        let down = processors.intersection(&self.down);
        processors.remove_all(&down);
        self.down.insert_all(&processors);
        processors
    }

    /// Marks processors that fail when their work ends.
    pub(in crate::provider) fn drain(&mut self, processors: ProcessorSet) {
        if !processors.is_empty() {
            self.draining.push(processors);
        }
    }

    /// Unmarks the processors among `ending` that fail now, and returns those of each failure.
    pub(in crate::provider) fn end_drains(&mut self, ending: &ProcessorSet) -> Vec<ProcessorSet> {
        take_common(&mut self.draining, ending)
    }

    /// Failed processors went down together. They are restored as one, too.
    pub(in crate::provider) fn went_down(&mut self, failed: &ProcessorSet) {
        self.drained.push(failed.clone());
    }

    /// The restored processors in the sets in which they went down.
    pub(in crate::provider) fn as_they_went_down(
        &mut self,
        restored: &ProcessorSet,
    ) -> Vec<ProcessorSet> {
        let mut sets = take_common(&mut self.drained, restored);
        let mut others = restored.clone();
        sets.iter().for_each(|set| others.remove_all(set));
        if !others.is_empty() {
            sets.push(others);
        }
        sets
    }

    /// Failed processors, which no attempt has, start nothing any more. Returns the ones of them
    /// that are not closed. Closed processors run nothing, and count as failed when they would be
    /// opened. All of `failed` are counted by their nodes.
    pub(in crate::provider) fn take_down(
        &mut self,
        now: Time,
        failed: &ProcessorSet,
    ) -> ProcessorSet {
        self.seen.failed(now, failed);
        let open = without(failed, &self.closed);
        self.free.remove_all(&open);
        open
    }

    /// Failed processors are up again, and drained ones do not fail. Returns the failed ones, and the ones of them that are not closed.
    pub(in crate::provider) fn restore(
        &mut self,
        processors: &ProcessorSet,
    ) -> (ProcessorSet, ProcessorSet) {
        take_common(&mut self.draining, processors);
        let restored = self.down.intersection(processors);
        self.down.remove_all(&restored);
        let open = without(&restored, &self.closed);
        self.free.insert_all(&open);
        (restored, open)
    }

    /// Closes so many free processors, the lowest ones; none if fewer are free.
    pub(in crate::provider) fn close(&mut self, processors: u32) -> ProcessorSet {
        let closed = self.free.take_lowest(processors).unwrap_or_default();
        self.closed.insert_all(&closed);
        closed
    }

    /// Opens closed processors, except the failed ones, which it returns.
    pub(in crate::provider) fn open(&mut self, closed: &ProcessorSet) -> ProcessorSet {
        self.closed.remove_all(closed);
        self.free.insert_all(&without(closed, &self.down));
        closed.intersection(&self.down)
    }

    /// Number of processors that have failed or are closed.
    pub(in crate::provider) fn unavailable(&self) -> u32 {
        let mut unavailable = self.down.clone();
        unavailable.insert_all(&self.closed);
        unavailable.count()
    }

    /// The failures that the nodes under an attempt have seen.
    pub(in crate::provider) fn seen(&self, processors: &ProcessorSet) -> FailureHistory {
        self.seen.under(processors)
    }

    /// Planned work that is left of what runs, in processor-microseconds; negative if work runs over its plan.
    pub(in crate::provider) fn work(&self, now: Time) -> i128 {
        self.running.ends - self.running.processors * i128::from(now.as_micros())
    }
}

/// Takes the processors of `wanted` out of each of the sets, and returns them in sets of their own.
fn take_common(sets: &mut Vec<ProcessorSet>, wanted: &ProcessorSet) -> Vec<ProcessorSet> {
    let mut taken = Vec::new();
    sets.retain_mut(|set| {
        let common = set.intersection(wanted);
        if !common.is_empty() {
            set.remove_all(&common);
            taken.push(common);
        }
        !set.is_empty()
    });
    taken
}

/// The processors of one set that are not in the other.
fn without(processors: &ProcessorSet, others: &ProcessorSet) -> ProcessorSet {
    let mut left = processors.clone();
    left.remove_all(&processors.intersection(others));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_secs(seconds)
    }

    fn set(first: u32, count: u32) -> ProcessorSet {
        ProcessorSet::range(first, count)
    }

    const SECOND: i128 = 1_000_000;

    #[test]
    fn an_attempt_has_the_lowest_free_processors_until_it_ends() {
        let mut machine = Machine::new(8, None);
        let first = machine.start(at(0), 3, at(10));
        let second = machine.start(at(0), 4, at(20));
        assert_eq!((&first.processors, &second.processors), (&set(0, 3), &set(3, 4)));
        assert_eq!(machine.free(), 1);
        assert_eq!(machine.work(at(5)), (3 * 5 + 4 * 15) * SECOND);
        machine.end(&first);
        assert_eq!((machine.free(), machine.work(at(5))), (4, 4 * 15 * SECOND));
        machine.end(&second);
        assert_eq!((machine.free(), machine.work(at(5))), (8, 0));
    }

    #[test]
    fn work_follows_the_plan_of_an_attempt() {
        let mut machine = Machine::new(4, None);
        let mut attempt = machine.start(at(0), 2, Time::FOREVER);
        machine.replan(&mut attempt, at(30));
        assert_eq!((attempt.planned_end, machine.work(at(10))), (at(30), 2 * 20 * SECOND));
        assert_eq!(machine.work(at(40)), -2 * 10 * SECOND, "it runs over its plan");
        machine.end(&attempt);
        assert_eq!(machine.work(at(40)), 0);
    }

    #[test]
    fn tasks_on_failed_processors_are_lost_and_the_others_go_on() {
        let mut machine = Machine::new(8, None);
        let mut running = Some(machine.start(at(0), 6, at(10)));
        let failed = machine.fail(set(4, 4));
        let lost = machine.lose(&mut running, &failed).expect("two of them");
        assert_eq!(machine.take_down(at(3), &failed), failed);
        assert_eq!(lost.processors, set(4, 2));
        assert_eq!(running.as_ref().map(Attempt::count), Some(4));
        assert_eq!((machine.free(), machine.work(at(5))), (0, 4 * 5 * SECOND));
        let failed = machine.fail(set(0, 8));
        assert_eq!(failed, set(0, 4), "the others have failed before");
        assert_eq!(machine.lose(&mut running, &failed).map(|it| it.count()), Some(4));
        assert!(running.is_none());
        assert!(machine.lose(&mut running, &failed).is_none());
    }

    #[test]
    fn failed_and_closed_processors_start_nothing() {
        let mut machine = Machine::new(4, None);
        let closed = machine.close(2);
        assert_eq!((&closed, machine.free()), (&set(0, 2), 2));
        assert!(machine.close(3).is_empty(), "there are only two");
        // One that is closed fails, and one that is not.
        let failed = machine.fail(set(1, 2));
        assert_eq!(machine.take_down(at(1), &failed), set(2, 1), "the other one is closed");
        assert_eq!(machine.free(), 1);
        assert_eq!(machine.clone().open(&closed), set(1, 1), "it is still down");
        assert_eq!(machine.restore(&set(0, 4)), (set(1, 2), set(2, 1)), "the others were up");
        assert_eq!(machine.free(), 2);
        assert!(machine.open(&closed).is_empty());
        assert_eq!(machine.free(), 4);
    }

    #[test]
    fn work_stops_at_its_limit_unless_it_may_run_over_it() {
        let (short, long) = (Span::from_secs(5), Span::from_secs(9));
        let (done, stopped) = (JobOutcome::Completed, JobOutcome::WalltimeReached);
        assert_eq!(limited(short, Some(long), Overrun::Kill), (short, done));
        assert_eq!(limited(long, Some(long), Overrun::Kill), (long, done));
        assert_eq!(limited(long, Some(short), Overrun::Kill), (short, stopped));
        assert_eq!(limited(long, Some(short), Overrun::Extend), (long, done));
        assert_eq!(limited(long, None, Overrun::Kill), (long, done));
    }
}
