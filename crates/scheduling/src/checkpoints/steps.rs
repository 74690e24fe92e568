//! Checkpoints of an attempt of a rigid job under an adaptive rule, one after the other.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::history::{FailureHistory, MeanFailure};
use super::interval::{Expiry, IntervalRule, IntervalState, Situation, progress};

/// Failures that the nodes under a job have seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Seen {
    /// The next failure is always near, so the job saves as often as it may.
    Always,
    /// The failures before the attempt started.
    Before {
        /// Time at which it started to compute or to recover.
        start: Time,
        history: FailureHistory,
        mean_failure: MeanFailure,
    },
}

/// A checkpoint of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Time from the start of the attempt to the begin of the checkpoint.
    pub(super) begins: Span,
    /// Time that the attempt has computed by then.
    pub(super) computed: Span,
}

/// The checkpoints of an attempt, if it is not lost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Steps {
    rule: IntervalRule,
    /// E, if known.
    execution: Option<Span>,
    /// Time that the job had computed before.
    saved: Span,
    seen: Seen,
    cost: Span,
    /// Time that the attempt will compute.
    computing: Span,
    elapsed: Span,
    computed: Span,
    /// State of the rule, and the time until its timer expires; `None` before the first call.
    timer: Option<(IntervalState, Span)>,
}

impl Steps {
    pub(super) fn new(
        rule: IntervalRule,
        execution: Option<Span>,
        saved: Span,
        seen: Seen,
        cost: Span,
        computing: Span,
    ) -> Steps {
        let (elapsed, computed, timer) = (Span::ZERO, Span::ZERO, None);
        Steps { rule, execution, saved, seen, cost, computing, elapsed, computed, timer }
    }

    /// Shortest interval: a queue plans for the largest number of checkpoints, so an optimum has a lower
    /// bound.
    fn least(&self) -> Span {
        match self.rule {
            IntervalRule::Young { .. } | IntervalRule::Daly { .. } => progress(self.cost),
            _ => Span::ZERO,
        }
    }

    fn situation(&self) -> Situation {
        let execution = self.execution.unwrap_or(Span::FOREVER);
        let remaining = (execution - self.saved - self.computed).max(Span::ZERO);
        let (now, last_failure, mean_failure) = match self.seen {
            Seen::Always => (Time::ZERO, Time::ZERO, Span::ZERO),
            Seen::Before { start, history, mean_failure } => {
                let now = start + self.elapsed;
                (now, history.last_failure(), history.mean_failure(now, mean_failure))
            }
        };
        Situation { now, execution, remaining, last_failure, mean_failure, cost: self.cost }
    }

    /// The next checkpoint, up to which the attempt computes.
    pub(super) fn due(&mut self) -> Option<Step> {
        let (mut state, mut timer) =
            self.timer.unwrap_or_else(|| self.rule.start(&self.situation()));
        timer = timer.max(self.least());
        loop {
            // No checkpoint is written at the end of the attempt.
            if self.computed + timer >= self.computing || self.elapsed + timer >= Span::FOREVER {
                return None;
            }
            self.computed += timer;
            self.elapsed += timer;
            match self.rule.expire(&mut state, &self.situation()) {
                Expiry::Omit(again) => timer = again,
                Expiry::Write => {
                    // `stood` sets the timer again.
                    self.timer = Some((state, Span::ZERO));
                    return Some(Step { begins: self.elapsed, computed: self.computed });
                }
            }
        }
    }

    /// The attempt stood still for `took`: it recovered before the first checkpoint, or it has written the
    /// last due one.
    pub(super) fn stood(&mut self, took: Span) {
        self.elapsed += took;
        if let Some((mut state, _)) = self.timer {
            let before = state.interval;
            let mut again = self.rule.written(&mut state, &self.situation());
            // An attempt may keep a first interval below the minimum, so a plan never lengthens one.
            if matches!(self.seen, Seen::Always) {
                state.interval = state.interval.min(before);
                again = again.min(before);
            }
            self.timer = Some((state, again));
        }
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.due()?;
        self.stood(self.cost);
        Some(step)
    }
}
