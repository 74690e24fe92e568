//! Checkpoints of rigid jobs, by which they go on after their processors have failed.
//!
//! A job stands still while one is written, so that what it has done at any instant
//! follows from when it started: nobody has to be woken up for a checkpoint. Adaptive rules go by
//! what its nodes have seen before it starts, and a queue plans for as many checkpoints as there can be.
//!
//! ```text
//!  start                                                      end
//!    |recovery|  interval  |cost|  interval  |cost|  the rest  |
//!                               ^ saved: 1x       ^ 2x interval; none is written at the end
//! ```

use haggle_model::work::span_of;
use haggle_model::{Span, Time};

use super::history::{FailureHistory, MeanFailure};
use super::interval::{IntervalRule, progress};
use super::optimum::{SHORTEST, daly, young};
use super::steps::{Seen, Steps};
use crate::own::Own;

/// The rule by which rigid jobs write checkpoints, and what these take, in time of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointRule {
    /// For how long a job computes before each.
    pub every: Every,
    /// For how long it stops to write one.
    pub cost: Span,
    /// For how long it reads one before it goes on.
    pub recovery: Span,
    /// What is written and read, if it takes time beside these: more for wide jobs.
    pub volume: Option<Volume>,
}

/// The data of checkpoints, on their way to a storage that all processors of a job share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// What each processor has, bytes.
    pub bytes: u64,
    /// How long the first of them is under way.
    pub latency: Span,
    /// How fast the storage takes them from a job that has it for itself, bit/s; above zero.
    pub bandwidth: u64,
    /// What may come on top, because whoever moves them rounds.
    pub rounding: Span,
}

impl Volume {
    /// What so many processors have together, bytes.
    pub fn of(self, processors: u32) -> u64 {
        self.bytes.saturating_mul(u64::from(processors))
    }

    /// How long the data of so many processors take by themselves, rounded up to the next microsecond.
    fn transfer(self, processors: u32) -> Span {
        let bits = u128::from(self.bytes) * 8 * u128::from(processors);
        if bits == 0 {
            return Span::ZERO;
        }
        let flowing = span_of((bits * 1_000_000).div_ceil(u128::from(self.bandwidth)));
        self.latency + flowing + self.rounding
    }
}

/// For how long a job computes before each checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// So long, above zero.
    Interval(Span),
    /// √(2·C·M), the first-order optimum (Young, Communications of the ACM 17(9), 1974).
    Young(Nodes),
    /// √(2·C·M)·(1 + ⅓·√(C/2M) + ⅑·C/2M) − C, or M where C ≥ 2·M, the higher-order optimum
    /// (Daly, Future Generation Computer Systems 22(3), 2006).
    Daly(Nodes),
    /// A rule from outside; what it gives is at least a millisecond.
    Own(Nodes, Own<fn(&JobSituation) -> Span>),
    /// As on a grid, by what the nodes under the job have seen of failures (Chtepen 2011, section 4.3). E, how
    /// long the job takes as a whole, is what was requested: nobody knows more. A job without a request
    /// saves its progress as if the next failure were always near.
    Adaptive {
        /// [`IntervalRule::LastFailure`], [`IntervalRule::MeanFailure`], or one of the optima by what the nodes have seen,
        /// which are no shorter here than the job needs to get on.
        rule: IntervalRule,
        /// Processors of a node, at least 1.
        node: u32,
        /// How nodes estimate their mean time between failures.
        mean_failure: MeanFailure,
    },
}

/// A job, as far as its checkpoints go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigidJob {
    /// Processors that it needs.
    pub processors: u32,
    /// What was requested, in time of the machine, if anything was.
    pub limit: Option<Span>,
    /// Computing that it need not do again.
    pub saved: Span,
}

/// What the interval of a job may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSituation {
    /// Processors that it holds.
    pub processors: u32,
    /// Nodes that they are on.
    pub nodes: u32,
    /// Mean time between failures of one node; [`Span::FOREVER`] if the scenario does not say.
    pub mtbf: Span,
    /// C: for how long a checkpoint stops it.
    pub cost: Span,
}

/// What fails under a job: M of a job on n nodes is that of a node, divided by n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Mean time between failures of one node.
    pub mtbf: Span,
    /// Processors of a node, at least 1.
    pub processors: u32,
}

impl CheckpointRule {
    /// None are ever written.
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

    /// Checkpoints as they are planned for: no attempt writes more.
    pub fn planned(&self, job: RigidJob) -> Checkpoints {
        self.of(job, Seen::Always)
    }

    /// The checkpoints of an attempt that computes, or recovers, from `start` on, on nodes that have seen so much.
    pub fn attempt(&self, job: RigidJob, start: Time, history: FailureHistory) -> Checkpoints {
        let mean_failure = match self.every {
            Every::Adaptive { mean_failure, .. } => mean_failure,
            _ => MeanFailure::default(),
        };
        self.of(job, Seen::Before { start, history, mean_failure })
    }

    /// How many processors of a node fail together, if the rule goes by what nodes have seen.
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
            // It can omit none then.
            Every::Adaptive { rule: IntervalRule::LastFailure { interval, .. }, .. }
                if seen == Seen::Always =>
            {
                Times::Steady(interval)
            }
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
    /// M of a job on so many processors.
    fn mtbf_under(&self, processors: u32) -> Span {
        let nodes = i64::from(self.under(processors));
        Span::from_micros(self.mtbf.as_micros() / nodes).max(Span::TICK)
    }

    /// How many there are under a job on so many processors.
    fn under(&self, processors: u32) -> u32 {
        processors.div_ceil(self.processors).max(1)
    }
}

/// When a rigid job writes checkpoints, and what these take, in time of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    times: Times,
    cost: Span,
    recovery: Span,
}

/// For how long a job computes before each checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    /// Always so long, above zero.
    Steady(Span),
    /// As a rule says that is asked each time.
    Adaptive { rule: IntervalRule, execution: Option<Span>, saved: Span, seen: Seen },
}

/// How far an attempt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Progress {
    /// Computing that need not be done again.
    pub saved: Span,
    /// Time in which it did not compute, but recovered or wrote checkpoints.
    pub overhead: Span,
}

impl Checkpoints {
    /// The same time between all of them, above zero.
    pub const fn every(interval: Span, cost: Span, recovery: Span) -> Checkpoints {
        Checkpoints { times: Times::Steady(interval), cost, recovery }
    }

    /// For how long the job computes before each, if that is always the same.
    pub fn interval(&self) -> Option<Span> {
        match self.times {
            Times::Steady(interval) => Some(interval),
            Times::Adaptive { .. } => None,
        }
    }

    /// For how long the job stops to write one.
    pub fn cost(&self) -> Span {
        self.cost
    }

    /// For how long it reads one before it goes on.
    pub fn recovery(&self) -> Span {
        self.recovery
    }

    fn recovers(&self, resumed: bool) -> Span {
        if resumed { self.recovery } else { Span::ZERO }
    }

    /// Those of an attempt that computes for so long, one after the other.
    fn steps(&self, computing: Span, resumed: bool) -> Option<Steps> {
        let Pace::Adaptive(mut steps) = self.pace(computing) else { return None };
        steps.stood(self.recovers(resumed));
        Some(steps)
    }

    /// The same one by one, for who sees how long each takes.
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

    /// How long an attempt takes that computes for so long, and goes on from a
    /// checkpoint or not.
    pub fn lasts(&self, computing: Span, resumed: bool) -> Span {
        let written = match self.times {
            Times::Steady(interval) => count(computing, interval),
            Times::Adaptive { .. } => {
                self.steps(computing, resumed).map_or(0, |steps| steps.count() as i64)
            }
        };
        let micros = i128::from(computing.as_micros())
            + i128::from(self.recovers(resumed).as_micros())
            + i128::from(written) * i128::from(self.cost.as_micros());
        i64::try_from(micros).map_or(Span::FOREVER, Span::from_micros).min(Span::FOREVER)
    }

    /// How far an attempt that is to compute for so long has come after `elapsed`.
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
        let last = written == most;
        let writing = if last { Span::ZERO } else { (rest - interval).max(Span::ZERO) };
        Progress { saved: interval * written, overhead: recovery + self.cost * written + writing }
    }
}

/// The checkpoints of an attempt one after the other, each of which takes as long as it takes.
#[derive(Clone, Debug)]
pub struct Course {
    pace: Pace,
    /// What the attempt is to compute.
    computing: Span,
    /// What it has computed up to the last checkpoint that was due.
    computed: Span,
}

#[derive(Clone, Debug)]
enum Pace {
    Steady(Span),
    Adaptive(Steps),
}

impl Course {
    /// For how long the attempt computes until it stops for the next checkpoint; none is written before its end if there
    /// is no next one.
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

    /// It stood still for so long: it recovered before it computed, or the last checkpoint that was due is written.
    pub fn stood(&mut self, took: Span) {
        if let Pace::Adaptive(steps) = &mut self.pace {
            steps.stood(took);
        }
    }
}

/// How many an attempt writes that computes for so long: none at its end.
fn count(computing: Span, interval: Span) -> i64 {
    (computing - Span::TICK).max(Span::ZERO).as_micros() / interval.as_micros()
}
