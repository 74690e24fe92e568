//! Times at which a job saves its progress (Chtepen 2011, section 4.3, and the optimal intervals of Young
//! 1974 and Daly 2006 as references).
//!
//! When a job starts to compute, [`IntervalRule::start`] sets its timer. When the timer expires,
//! [`IntervalRule::expire`] decides whether a checkpoint is written or omitted. Writing takes C and makes
//! the job pause. When the checkpoint is written, [`IntervalRule::written`] sets the timer again. A timer
//! that expires at or after the job's end has no effect. A job that starts again elsewhere starts with a
//! new state.

use haggle_model::work::Fraction;
use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::optimum::{SHORTEST, daly, young};
use crate::own::Own;

/// Inputs of a rule, at the instant of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The present.
    pub now: Time,
    /// E: time that the whole job takes here at its present share.
    pub execution: Span,
    /// RE: time that the rest of the job takes here at its present share.
    pub remaining: Span,
    /// LF: time of this resource's last failure; the start of the run if it has not failed.
    pub last_failure: Time,
    /// MF: mean time between failures of this resource.
    pub mean_failure: Span,
    /// C: time for which a checkpoint stops the job.
    pub cost: Span,
}

/// The rule for the time between checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntervalRule {
    /// Always the same (PeriodicCP).
    Periodic {
        /// The interval I.
        interval: Span,
    },
    /// Always the same. A checkpoint is omitted if the last failure is longer ago than the job takes, t −
    /// LF > E (LastFailureCP, section 4.3.2).
    LastFailure {
        /// The interval I.
        interval: Span,
        /// Most checkpoints omitted in a row; `None` = any number.
        max_omit: Option<u32>,
    },
    /// Longer by a step if the job should end before the next failure, RE < MF; otherwise shorter by a step
    /// (MeanFailureCP, section 4.3.3).
    MeanFailure {
        /// The first interval I.
        interval: Span,
        /// I_min: shortest interval; at least 1.001·C, for a job must make progress.
        minimum: Length,
        /// Step by which it changes; I in the publication.
        step: Length,
        /// α: an interval of α·E or longer does not grow, in (0, 1].
        limit: Fraction,
        /// t_i: time of the first checkpoint after the start.
        first: Span,
    },
    /// √(2·C·MTBF), the first-order optimum (Young, Communications of the ACM 17(9), 1974).
    Young {
        /// The mean time between failures; `None` = the observed MF.
        mtbf: Option<Span>,
    },
    /// √(2·C·M)·(1 + ⅓·√(C/2M) + ⅑·C/2M) − C, or M where C ≥ 2·M, the
    /// higher-order optimum (Daly, Future Generation Computer Systems 22(3), 2006).
    Daly {
        /// The mean time between failures M; `None` = the observed MF.
        mtbf: Option<Span>,
    },
    /// A rule from outside: the time until the next checkpoint, at least a millisecond. It is called when a
    /// job starts to compute and after each checkpoint.
    Own(Own<fn(&Situation) -> Span>),
}

/// A length of time, or a part of the execution time of the job (E).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Length {
    /// A fixed time.
    Fixed(Span),
    /// A fraction of E.
    OfExecution(Fraction),
}

/// State of a rule for a job on its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalState {
    /// I_J: the job's own interval.
    pub(super) interval: Span,
    /// Checkpoints omitted in a row.
    omitted: u32,
}

/// Action when the timer has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// A checkpoint is written.
    Write,
    /// No checkpoint is written; the timer expires again after this time.
    Omit(Span),
}

/// The repeated action of a rule until something else happens to the job or its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routine {
    /// True if a checkpoint is written when the timer expires, false if it is omitted.
    pub writes: bool,
    /// Time until it expires again, counted from the end of a written checkpoint.
    pub interval: Span,
    /// The last instant at which the action is still the same.
    pub until: Time,
}

impl IntervalRule {
    /// The interval of a rule that may repeat one action.
    pub fn constant_interval(&self) -> Option<Span> {
        match *self {
            // With a largest number of omissions the action does not stay the same.
            IntervalRule::Periodic { interval }
            | IntervalRule::LastFailure { interval, max_omit: None } => Some(interval),
            _ => None,
        }
    }

    /// The action when a timer expires at `due`, if it repeats while the last failure and E, the execution
    /// time of the whole job, stay the same.
    pub fn routine(&self, due: Time, last_failure: Time, execution: Span) -> Option<Routine> {
        let interval = self.constant_interval()?;
        let (writes, until) = match self {
            IntervalRule::LastFailure { .. } if due - last_failure > execution => {
                (false, Time::FOREVER)
            }
            // Up to then the last failure is no longer ago than the job takes.
            IntervalRule::LastFailure { .. } => (true, last_failure + execution),
            _ => (true, Time::FOREVER),
        };
        Some(Routine { writes, interval, until })
    }

    /// A job starts or continues to compute on a resource: its state there, and the time until its timer
    /// expires.
    pub fn start(&self, situation: &Situation) -> (IntervalState, Span) {
        let state = |interval| IntervalState { interval, omitted: 0 };
        match *self {
            IntervalRule::Periodic { interval } | IntervalRule::LastFailure { interval, .. } => {
                (state(interval), interval)
            }
            IntervalRule::MeanFailure { interval, first, .. } => (state(interval), first),
            IntervalRule::Young { mtbf } => {
                let interval = young(situation.cost, mtbf.unwrap_or(situation.mean_failure));
                (state(interval), interval)
            }
            IntervalRule::Daly { mtbf } => {
                let interval = daly(situation.cost, mtbf.unwrap_or(situation.mean_failure));
                (state(interval), interval)
            }
            IntervalRule::Own(own) => {
                let interval = (own.rule)(situation).max(SHORTEST);
                (state(interval), interval)
            }
        }
    }

    /// A lower bound of a job's intervals while its resource neither fails nor changes the job's share; E
    /// is `execution`, C is `cost`.
    pub fn least(&self, state: &IntervalState, execution: Span, cost: Span) -> Span {
        match *self {
            IntervalRule::MeanFailure { minimum, .. } => shortest(minimum, execution, cost),
            IntervalRule::Own(_) => SHORTEST,
            _ => state.interval,
        }
    }

    /// The timer has expired.
    pub fn expire(&self, state: &mut IntervalState, situation: &Situation) -> Expiry {
        if let IntervalRule::LastFailure { interval, max_omit } = *self {
            let safe = situation.now - situation.last_failure > situation.execution;
            if safe && max_omit.is_none_or(|most| state.omitted < most) {
                state.omitted += 1;
                return Expiry::Omit(interval);
            }
        }
        // Only omissions in a row count.
        state.omitted = 0;
        Expiry::Write
    }

    /// A checkpoint has been written: the time until the timer expires again.
    pub fn written(&self, state: &mut IntervalState, situation: &Situation) -> Span {
        match *self {
            IntervalRule::Periodic { .. } | IntervalRule::LastFailure { .. } => {}
            IntervalRule::MeanFailure { minimum, step, limit, .. } => {
                let least = shortest(minimum, situation.execution, situation.cost);
                let step = step.given(situation.execution);
                let growing = situation.remaining < situation.mean_failure
                    && state.interval < limit.of(situation.execution);
                state.interval = match growing {
                    true => state.interval + step,
                    false => (state.interval - step).max(least),
                };
            }
            IntervalRule::Young { .. } | IntervalRule::Daly { .. } | IntervalRule::Own(_) => {
                state.interval = self.start(situation).1;
            }
        }
        state.interval
    }
}

impl Length {
    fn given(self, execution: Span) -> Span {
        match self {
            Length::Fixed(span) => span,
            Length::OfExecution(fraction) => fraction.of(execution),
        }
    }
}

/// The shortest interval of MeanFailure: I_min, but a job must make progress.
fn shortest(minimum: Length, execution: Span, cost: Span) -> Span {
    minimum.given(execution).max(progress(cost))
}

/// The shortest interval with which a job makes progress: longer than a checkpoint takes.
pub(super) fn progress(cost: Span) -> Span {
    (cost + Fraction::from_ppm(1_000).of(cost)).max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use haggle_testing::secs;

    use super::*;

    const HOUR: Span = Span::from_secs(3_600);

    fn situation(cost: Span, mean_failure: Span) -> Situation {
        Situation {
            now: Time::from_secs(50_000),
            execution: secs(10_000),
            remaining: secs(5_000),
            last_failure: Time::ZERO,
            mean_failure,
            cost,
        }
    }

    #[test]
    fn young_and_daly_are_the_published_formulas() {
        for (cost, mtbf) in [(10.0, 86_400.0), (300.0, 3_600.0), (0.1, 7_200.0)] {
            let span = Span::from_secs_f64;
            let seen = situation(span(cost), span(mtbf));
            let first = |rule: IntervalRule| rule.start(&seen).1.as_secs_f64();
            let root = (2.0 * cost * mtbf).sqrt();
            let ratio = cost / (2.0 * mtbf);
            let expected = root * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - cost;
            assert!((first(IntervalRule::Young { mtbf: None }) - root).abs() < 1e-5);
            assert!((first(IntervalRule::Daly { mtbf: None }) - expected).abs() < 1e-5);
            let known = IntervalRule::Young { mtbf: Some(HOUR) };
            assert!((first(known) - (2.0 * cost * 3_600.0).sqrt()).abs() < 1e-5);
        }
        let hopeless = situation(HOUR * 2, HOUR);
        assert_eq!(IntervalRule::Daly { mtbf: None }.start(&hopeless).1, HOUR);
        let free = situation(Span::ZERO, Span::FOREVER);
        assert_eq!(IntervalRule::Young { mtbf: None }.start(&free).1, SHORTEST);
        assert_eq!(IntervalRule::Daly { mtbf: None }.start(&free).1, SHORTEST);
    }

    #[test]
    fn no_interval_is_as_short_as_the_checkpoint_takes() {
        let rule = IntervalRule::MeanFailure {
            interval: secs(60),
            minimum: Length::Fixed(secs(1)),
            step: Length::Fixed(secs(60)),
            limit: Fraction::ONE,
            first: secs(120),
        };
        let seen = situation(secs(10), Span::ZERO);
        let (mut state, first) = rule.start(&seen);
        assert_eq!(first, secs(120));
        assert_eq!(rule.written(&mut state, &seen), Span::from_micros(10_010_000));
    }

    #[test]
    fn a_step_may_be_a_fraction_of_the_execution_time() {
        let rule = IntervalRule::MeanFailure {
            interval: secs(60),
            minimum: Length::OfExecution(Fraction::from_percent(1)),
            step: Length::OfExecution(Fraction::from_percent(5)),
            limit: Fraction::ONE,
            first: secs(120),
        };
        let (mut state, _) = rule.start(&situation(Span::ZERO, Span::FOREVER));
        let mut next = |mean| rule.written(&mut state, &situation(Span::ZERO, mean));
        assert_eq!(next(Span::FOREVER), secs(560));
        assert_eq!(next(secs(1)), secs(100));
    }
}
