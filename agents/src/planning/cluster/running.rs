//! An interval that runs, and its progress under changing loads.

use std::ops::Range;

use haggle_model::phased::{IntervalEnd, IntervalRecord};
use haggle_model::{
    ActorId, JobOutcome, LostRun, Observation, ProcessorSet, ProviderId, ShareRecord, Span,
    TaskRun, Time,
};
use haggle_planning::{Cluster, Interval, Machines, Program};
use serde::{Deserialize, Serialize};

use crate::Outbox;
use crate::protocol::Timer;
use crate::protocol::planning::IntervalOrder;

/// An interval on its machines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Running {
    program: Program,
    pub(super) machines: Machines,
    /// Factor by which each phase takes longer than predicted; empty if predictions are exact.
    factors: Vec<f64>,
    /// Receiver of reports.
    pub(super) owner: ActorId,
    /// Its record so far.
    pub(super) record: IntervalRecord,
    /// True if the end of each phase is reported.
    pub(super) reports_phases: bool,
    progress: Progress,
}

/// Progress of an interval at some instant.
///
/// While loads do not change, the remaining phases take exactly the time that a planner would
/// compute. When loads change, the remaining part of the phase under way stays the same part of its
/// new time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Progress {
    at: Time,
    /// The phase under way.
    phase: usize,
    /// Time that remained of it, under the loads at that instant; `None` = all of it.
    left: Option<Span>,
}

impl Running {
    /// An interval whose checkpoint is on its way.
    pub(super) fn new(
        program: Program,
        machines: Machines,
        factors: Vec<f64>,
        order: &IntervalOrder,
        owner: ActorId,
        now: Time,
    ) -> Running {
        let Interval { first, last } = order.interval;
        let record = IntervalRecord {
            job: order.job.id,
            number: order.number,
            first: first as u32,
            last: last as u32,
            cluster: ProviderId(0),
            machines: processors(&machines),
            how: order.how,
            from: None,
            ordered: now,
            start: None,
            end: now,
            predicted_move: Span::ZERO,
            predicted: Span::ZERO,
            ending: IntervalEnd::Open,
        };
        let progress = Progress { at: now, phase: first, left: None };
        Running { program, machines, factors, owner, record, reports_phases: false, progress }
    }

    /// The interval begins to compute.
    pub(super) fn begin(&mut self, now: Time, cluster: &Cluster, out: &mut Outbox) {
        self.record.start = Some(now);
        self.progress.at = now;
        self.go_on(now, cluster, out);
    }

    fn last(&self) -> usize {
        self.record.last as usize
    }

    /// Time of whole phases, zero if there are none.
    fn time(&self, cluster: &Cluster, phases: Range<usize>) -> Span {
        if phases.is_empty() {
            return Span::ZERO;
        }
        // Each phase has a factor of its own, so phases are timed one by one.
        if !self.factors.is_empty() {
            return phases.map(|phase| self.time_of(cluster, phase)).sum();
        }
        let interval = Interval::new(phases.start, phases.end - 1);
        self.program.time_on(cluster, &self.machines, interval)
    }

    /// Time of a phase that takes longer or shorter than predicted.
    fn time_of(&self, cluster: &Cluster, phase: usize) -> Span {
        let predicted = self.program.time_on(cluster, &self.machines, Interval::new(phase, phase));
        Span::from_secs_f64(predicted.as_secs_f64() * self.factors[phase - 1])
    }

    /// Sets the timer for the end of the interval, or of its next phase.
    pub(super) fn go_on(&mut self, now: Time, cluster: &Cluster, out: &mut Outbox) {
        let Progress { phase, left, .. } = self.progress;
        let until = if self.reports_phases { phase } else { self.last() };
        let time = match left {
            Some(left) => left + self.time(cluster, phase + 1..until + 1),
            None => self.time(cluster, phase..until + 1),
        };
        out.set(now + time, Timer::IntervalEnds { job: self.record.job });
    }

    /// The timer has gone off. True if the whole interval is over.
    pub(super) fn ends(&mut self, now: Time) -> bool {
        if self.reports_phases && self.progress.phase < self.last() {
            self.progress = Progress { at: now, phase: self.progress.phase + 1, left: None };
            return false;
        }
        true
    }

    /// Loads change now from `old` to `new`.
    pub(super) fn change(&mut self, now: Time, old: &Cluster, new: &Cluster, out: &mut Outbox) {
        let is_same = old.shares(&self.machines) == new.shares(&self.machines);
        // Before the start, or if only other machines have changed, all times stay the same.
        if self.record.start.is_none() || is_same {
            return;
        }
        let Progress { at, phase, left } = self.progress;
        let mut progress = Progress { at: now, phase, left };
        let mut passed = now - at;
        if let Some(left) = left {
            // The phase under way is not over. Otherwise the rest of the time belongs to later phases.
            if passed < left {
                progress.left = Some(left - passed);
                passed = Span::ZERO;
            } else {
                (progress.phase, progress.left) = (phase + 1, None);
                passed -= left;
            }
        }
        if progress.left.is_none() {
            // Sums up to the end of each phase, as a planner computes them.
            let from = progress.phase;
            let mut before = Span::ZERO;
            for phase in from..=self.last() {
                let until = match self.factors.is_empty() {
                    true => self.time(old, from..phase + 1),
                    false => before + self.time_of(old, phase),
                };
                progress.phase = phase;
                if passed < until {
                    // All of a phase that begins now remains, so it has no rest.
                    progress.left = (passed > before).then_some(until - passed);
                    break;
                }
                before = until;
                progress.phase = phase + 1;
            }
        }
        if progress.phase > self.last() {
            // The interval ends at this instant.
            return;
        }
        if let Some(left) = progress.left {
            let phases = progress.phase..progress.phase + 1;
            let (whole, anew) = (self.time(old, phases.clone()), self.time(new, phases));
            progress.left = Some(rescaled(left, whole, anew));
        }
        self.progress = progress;
        self.go_on(now, new, out);
    }

    /// Records the end of the interval.
    pub(super) fn close(mut self, now: Time, ending: IntervalEnd, out: &mut Outbox) {
        (self.record.end, self.record.ending) = (now, ending);
        let IntervalRecord { job, cluster: provider, ordered, start, end, .. } = self.record;
        let processors = self.record.machines.clone();
        match (start, ending) {
            (Some(start), IntervalEnd::Lost) => {
                let run = LostRun {
                    stopped_for: None,
                    cancelled: false,
                    provider,
                    start,
                    end,
                    processors,
                    saved: Span::ZERO,
                    checkpointing: Span::ZERO,
                    checkpoints: Vec::new(),
                };
                out.observe(Observation::RunLost { job, run });
            }
            (Some(start), IntervalEnd::Done | IntervalEnd::Open) => {
                let outcome = match ending {
                    IntervalEnd::Done => JobOutcome::Completed,
                    _ => JobOutcome::Unfinished,
                };
                let tasks = processors.count();
                let run = TaskRun { start, end, outcome, processors };
                out.observe(Observation::TasksOver { job, provider, run });
                out.observe(Observation::ShareOver(Box::new(ShareRecord {
                    job,
                    provider,
                    tasks,
                    queued: ordered,
                    walltime: self.record.predicted,
                    promised_end: None,
                    agreement: None,
                    runs: Vec::new(),
                })));
            }
            // The interval never computed, so it held no processors for a run.
            (None, _) => {}
        }
        out.observe(Observation::IntervalOver(Box::new(self.record)));
    }
}

/// The remaining time of a phase under other loads, rounded up.
fn rescaled(left: Span, whole: Span, anew: Span) -> Span {
    let [left, whole, anew] = [left, whole, anew].map(|it| i128::from(it.as_micros()));
    // A phase that takes no time leaves nothing.
    if whole <= 0 {
        return Span::ZERO;
    }
    // In 128 bits, because the product of two times may exceed 64.
    let scaled = (left * anew + whole - 1) / whole;
    Span::from_micros(i64::try_from(scaled).unwrap_or(i64::MAX).min(Span::FOREVER.as_micros()))
}

/// Machines as a set.
fn processors(machines: &Machines) -> ProcessorSet {
    let rows = machines.numbers().chunk_by(|one, next| one + 1 == *next);
    let mut all = ProcessorSet::new();
    for row in rows {
        all.insert_all(&ProcessorSet::range(row[0], row.len() as u32));
    }
    all
}
