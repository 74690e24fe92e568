//! Checkpoints of rigid jobs, from which they continue after their processors have failed.
//!
//! A job stands still while it writes a checkpoint. So its progress at any instant follows from its start,
//! and no event is needed for a checkpoint. Adaptive rules use the failures that the job's nodes have seen
//! before its start. A queue plans for the largest possible number of checkpoints.
//!
//! ```text
//!  start                                                      end
//!    |recovery|  interval  |cost|  interval  |cost|  the rest  |
//!                               ^ saved: 1x       ^ 2x interval; none is written at the end
//! ```

use haggle_model::work::span_of;
use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::history::{FailureHistory, MeanFailure};
use super::interval::{IntervalRule, progress};
use super::optimum::{SHORTEST, daly, young};
use super::steps::{Seen, Steps};
use crate::own::Own;

/// The rule by which rigid jobs write checkpoints, and the time that these take, on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRule {
    /// Time that a job computes before each checkpoint.
    pub every: Every,
    /// Time that it stops to write one.
    pub cost: Span,
    /// Time that it reads one before it continues.
    pub recovery: Span,
    /// Data written and read, if they take additional time: more for wide jobs.
    pub volume: Option<Volume>,
}

/// The data of checkpoints, in transit to a storage that all processors of a job share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Data of each processor, bytes.
    pub bytes: u64,
    /// Time until the first byte arrives.
    pub latency: Span,
    /// Speed of the storage for a single job, bit/s; above zero.
    pub bandwidth: u64,
    /// Additional time that rounding of transfers may take.
    pub rounding: Span,
}

impl Volume {
    /// Data of this many processors together, bytes.
    pub fn of(self, processors: u32) -> u64 {
        self.bytes.saturating_mul(u64::from(processors))
    }

    /// Transfer time of the data of this many processors without other load, rounded up to the next
    /// microsecond.
    fn transfer(self, processors: u32) -> Span {
        let bits = u128::from(self.bytes) * 8 * u128::from(processors);
        if bits == 0 {
            return Span::ZERO;
        }
        let flowing = span_of((bits * 1_000_000).div_ceil(u128::from(self.bandwidth)));
        self.latency + flowing + self.rounding
    }
}

/// Time that a job computes before each checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Every {
    /// A fixed time, above zero.
    Interval(Span),
    /// √(2·C·M), the first-order optimum (Young, Communications of the ACM 17(9), 1974).
    Young(Nodes),
    /// √(2·C·M)·(1 + ⅓·√(C/2M) + ⅑·C/2M) − C, or M where C ≥ 2·M, the higher-order optimum
    /// (Daly, Future Generation Computer Systems 22(3), 2006).
    Daly(Nodes),
    /// A rule from outside; its result is at least a millisecond.
    Own(Nodes, Own<fn(&JobSituation) -> Span>),
    /// As on a grid, from the failures that the nodes under the job have seen (Chtepen 2011, section 4.3).
    /// E, the execution time of the whole job, is its requested time, because no better value is known. A
    /// job without a request saves its progress as if the next failure were always near.
    Adaptive {
        /// [`IntervalRule::LastFailure`], [`IntervalRule::MeanFailure`], or one of the optima with the
        /// observed failures. Here the optima are no shorter than the job needs to make progress.
        rule: IntervalRule,
        /// Processors of a node, at least 1.
        node: u32,
        /// How nodes estimate their mean time between failures.
        mean_failure: MeanFailure,
    },
}

/// The properties of a job that determine its checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigidJob {
    /// Processors that it needs.
    pub processors: u32,
    /// Requested time on the machine, if any.
    pub limit: Option<Span>,
    /// Computing that it need not do again.
    pub saved: Span,
}

/// Inputs of the rule for the interval of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSituation {
    /// Processors that it holds.
    pub processors: u32,
    /// Nodes that they are on.
    pub nodes: u32,
    /// Mean time between failures of one node; [`Span::FOREVER`] if the scenario has none.
    pub mtbf: Span,
    /// C: time for which a checkpoint stops it.
    pub cost: Span,
}

/// Failures under a job: M of a job on n nodes is that of one node, divided by n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// Mean time between failures of one node.
    pub mtbf: Span,
    /// Processors of a node, at least 1.
    pub processors: u32,
}

impl CheckpointRule {
    /// No checkpoints.
    pub const NEVER: CheckpointRule = CheckpointRule {
        every: Every::Interval(Span::FOREVER),
        cost: Span::ZERO,
        recovery: Span::ZERO,
        volume: None,
    };

    /// The same time between all checkpoints of all jobs, above zero.
    pub const fn every(interval: Span, cost: Span, recovery: Span) -> CheckpointRule {
        CheckpointRule { every: Every::Interval(interval), cost, recovery, volume: None }
    }

    /// Planned checkpoints: no attempt writes more.
    pub fn planned(&self, job: RigidJob) -> Checkpoints {
        self.of(job, Seen::Always)
    }

    /// The checkpoints of an attempt that computes, or recovers, from `start` on. `history` has the
    /// failures of its nodes.
    pub fn attempt(&self, job: RigidJob, start: Time, history: FailureHistory) -> Checkpoints {
        let mean_failure = match self.every {
            Every::Adaptive { mean_failure, .. } => mean_failure,
            _ => MeanFailure::default(),
        };
        self.of(job, Seen::Before { start, history, mean_failure })
    }

    /// Processors of a node, which fail together, if the rule uses the failures of nodes.
    pub fn learns_of_nodes(&self) -> Option<u32> {
        match self.every {
            Every::Adaptive { node, .. } => Some(node),
            _ => None,
        }
    }

    fn of(&self, job: RigidJob, seen: Seen) -> Checkpoints {
        let CheckpointRule { every, volume, .. } = *self;
        let processors = job.processors;
        let transfer = volume.map_or(Span::ZERO, |volume| volume.transfer(processors));
        let (cost, recovery) = (self.cost + transfer, self.recovery + transfer);
        let times = match every {
            Every::Interval(interval) => Times::Steady(interval),
            Every::Young(nodes) => Times::Steady(young(cost, nodes.mtbf_under(processors))),
            Every::Daly(nodes) => Times::Steady(daly(cost, nodes.mtbf_under(processors))),
            Every::Own(nodes, own) => {
                let (mtbf, nodes) = (nodes.mtbf, nodes.under(processors));
                let situation = JobSituation { processors, nodes, mtbf, cost };
                Times::Steady((own.rule)(&situation).max(SHORTEST))
            }
            // Planned as if it omitted no checkpoint.
            Every::Adaptive { rule: IntervalRule::LastFailure { interval, .. }, .. }
                if seen == Seen::Always =>
            {
                Times::Steady(interval)
            }
            // Failures to come are unknown, so it is planned with the shortest interval that makes
            // progress.
            Every::Adaptive {
                rule: IntervalRule::Young { .. } | IntervalRule::Daly { .. },
                ..
            } if seen == Seen::Always => Times::Steady(progress(cost)),
            Every::Adaptive { rule, .. } => {
                Times::Adaptive { rule, execution: job.limit, saved: job.saved, seen }
            }
        };
        Checkpoints { times, cost, recovery }
    }
}

impl Nodes {
    /// M of a job on this many processors.
    fn mtbf_under(&self, processors: u32) -> Span {
        let nodes = i64::from(self.under(processors));
        Span::from_micros(self.mtbf.as_micros() / nodes).max(Span::TICK)
    }

    /// Number of nodes under a job on this many processors.
    fn under(&self, processors: u32) -> u32 {
        processors.div_ceil(self.processors).max(1)
    }
}

/// The checkpoints of a rigid job, and the time that these take, on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    times: Times,
    cost: Span,
    recovery: Span,
}

/// Time that a job computes before each checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    /// A fixed time, above zero.
    Steady(Span),
    /// The result of a rule that is called each time.
    Adaptive { rule: IntervalRule, execution: Option<Span>, saved: Span, seen: Seen },
}

/// Progress of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Progress {
    /// Computing that need not be done again.
    pub saved: Span,
    /// Time in which it recovered or wrote checkpoints.
    pub overhead: Span,
}

impl Checkpoints {
    /// The same time between all checkpoints, above zero.
    pub const fn every(interval: Span, cost: Span, recovery: Span) -> Checkpoints {
        Checkpoints { times: Times::Steady(interval), cost, recovery }
    }

    /// Time that the job computes before each checkpoint, if it is fixed.
    pub fn interval(&self) -> Option<Span> {
        match self.times {
            Times::Steady(interval) => Some(interval),
            Times::Adaptive { .. } => None,
        }
    }

    /// Time that the job stops to write one.
    pub fn cost(&self) -> Span {
        self.cost
    }

    /// Time that it reads one before it continues.
    pub fn recovery(&self) -> Span {
        self.recovery
    }

    fn recovers(&self, resumed: bool) -> Span {
        if resumed { self.recovery } else { Span::ZERO }
    }

    /// Checkpoints of an attempt that computes for `computing`, one after the other.
    fn steps(&self, computing: Span, resumed: bool) -> Option<Steps> {
        let Pace::Adaptive(mut steps) = self.pace(computing) else { return None };
        steps.stood(self.recovers(resumed));
        Some(steps)
    }

    /// The same checkpoints one by one, for a caller that measures how long each takes.
    pub fn course(&self, computing: Span) -> Course {
        Course { pace: self.pace(computing), computing, computed: Span::ZERO }
    }

    fn pace(&self, computing: Span) -> Pace {
        match self.times {
            Times::Steady(interval) => Pace::Steady(interval),
            Times::Adaptive { rule, execution, saved, seen } => {
                Pace::Adaptive(Steps::new(rule, execution, saved, seen, self.cost, computing))
            }
        }
    }

    /// Length of an attempt that computes for `computing`; `resumed` if it continues from a checkpoint.
    pub fn lasts(&self, computing: Span, resumed: bool) -> Span {
        let written = match self.times {
            Times::Steady(interval) => count(computing, interval),
            Times::Adaptive { .. } => {
                self.steps(computing, resumed).map_or(0, |steps| steps.count() as i64)
            }
        };
        // The sum may exceed all time.
        let micros = i128::from(computing.as_micros())
            + i128::from(self.recovers(resumed).as_micros())
            + i128::from(written) * i128::from(self.cost.as_micros());
        i64::try_from(micros).map_or(Span::FOREVER, Span::from_micros).min(Span::FOREVER)
    }

    /// Progress, after `elapsed`, of an attempt that will compute for `computing`.
    pub fn progress(&self, elapsed: Span, computing: Span, resumed: bool) -> Progress {
        let recovery = self.recovers(resumed).min(elapsed);
        let Times::Steady(interval) = self.times else {
            let mut progress = Progress { saved: Span::ZERO, overhead: recovery };
            for it in self.steps(computing, resumed).into_iter().flatten() {
                let spent = (elapsed - it.begins).max(Span::ZERO).min(self.cost);
                progress.overhead += spent;
                if it.begins + self.cost > elapsed {
                    break;
                }
                progress.saved = it.computed;
            }
            return progress;
        };
        let (since, round) = (elapsed - recovery, interval + self.cost);
        let most = count(computing, interval);
        let written = most.min(since.as_micros() / round.as_micros());
        let rest = since - round * written;
        // After the last checkpoint the attempt only computes.
        let last = written == most;
        let writing = if last { Span::ZERO } else { (rest - interval).max(Span::ZERO) };
        Progress { saved: interval * written, overhead: recovery + self.cost * written + writing }
    }
}

/// The checkpoints of an attempt one after the other, each with a measured duration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Course {
    pace: Pace,
    /// Time that the attempt will compute.
    computing: Span,
    /// Time that it has computed up to the last due checkpoint.
    computed: Span,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Pace {
    Steady(Span),
    Adaptive(Steps),
}

impl Course {
    /// Time that the attempt computes until it stops for the next checkpoint; `None` if no further one is
    /// written.
    pub fn until_next(&mut self) -> Option<Span> {
        let computed = match &mut self.pace {
            Pace::Steady(interval) => {
                Some(self.computed + *interval).filter(|&it| it < self.computing)
            }
            Pace::Adaptive(steps) => steps.due().map(|step| step.computed),
        }?;
        let computes = computed - self.computed;
        self.computed = computed;
        Some(computes)
    }

    /// The attempt stood still for `took`: it recovered before it computed, or it has written the last due
    /// checkpoint.
    pub fn stood(&mut self, took: Span) {
        if let Pace::Adaptive(steps) = &mut self.pace {
            steps.stood(took);
        }
    }
}

/// Number of checkpoints that an attempt writes in `computing`: none at its end.
fn count(computing: Span, interval: Span) -> i64 {
    (computing - Span::TICK).max(Span::ZERO).as_micros() / interval.as_micros()
}
