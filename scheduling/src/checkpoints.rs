//! Checkpoints of rigid jobs, by which they go on after their processors have failed.
//!
//! A job stands still while one is written, so that what it has done at any instant
//! follows from when it started: nobody has to be woken up for a checkpoint.
//!
//! ```text
//!  start                                                      end
//!    |recovery|  interval  |cost|  interval  |cost|  the rest  |
//!                               ^ saved: 1x       ^ 2x interval; none is written at the end
//! ```

pub(crate) mod optimum;

use haggle_model::Span;
use haggle_model::work::span_of;

pub use self::optimum::SHORTEST;
use self::optimum::{daly, young};
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

/// The data of checkpoints, on their way to a storage that all processors of a job share; jobs do not slow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// What each processor has, bytes.
    pub bytes: u64,
    /// How fast the storage takes them from a job, bit/s; above zero.
    pub bandwidth: u64,
}

impl Volume {
    /// How long the data of so many processors take, rounded up to the next microsecond.
    fn transfer(self, processors: u32) -> Span {
        let bits = u128::from(self.bytes) * 8 * u128::from(processors);
        span_of((bits * 1_000_000).div_ceil(u128::from(self.bandwidth)))
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

    /// The checkpoints of a job on so many processors.
    pub fn of(&self, processors: u32) -> Checkpoints {
        let CheckpointRule { every, volume, .. } = *self;
        let transfer = volume.map_or(Span::ZERO, |volume| volume.transfer(processors));
        let (cost, recovery) = (self.cost + transfer, self.recovery + transfer);
        let interval = match every {
            Every::Interval(interval) => interval,
            Every::Young(nodes) => young(cost, nodes.mtbf_under(processors)),
            Every::Daly(nodes) => daly(cost, nodes.mtbf_under(processors)),
            Every::Own(nodes, own) => {
                let (mtbf, nodes) = (nodes.mtbf, nodes.under(processors));
                (own.rule)(&JobSituation { processors, nodes, mtbf, cost }).max(SHORTEST)
            }
        };
        Checkpoints { interval, cost, recovery }
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

/// The same for jobs of all sizes.
impl From<Checkpoints> for CheckpointRule {
    fn from(all: Checkpoints) -> CheckpointRule {
        let Checkpoints { interval, cost, recovery } = all;
        CheckpointRule { every: Every::Interval(interval), cost, recovery, volume: None }
    }
}

/// When a rigid job writes checkpoints, and what these take, in time of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    /// For how long a job computes before each, above zero.
    pub interval: Span,
    /// For how long it stops to write one.
    pub cost: Span,
    /// For how long it reads one before it goes on.
    pub recovery: Span,
}

/// How far an attempt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Computing that need not be done again.
    pub saved: Span,
    /// Time in which it did not compute, but recovered or wrote checkpoints.
    pub overhead: Span,
}

impl Checkpoints {
    /// How many an attempt writes that computes for so long.
    fn count(&self, computing: Span) -> i64 {
        (computing - Span::TICK).max(Span::ZERO).as_micros() / self.interval.as_micros()
    }

    fn recovery(&self, resumed: bool) -> Span {
        if resumed { self.recovery } else { Span::ZERO }
    }

    /// How long an attempt takes that computes for so long, and goes on from a
    /// checkpoint or not.
    pub fn lasts(&self, computing: Span, resumed: bool) -> Span {
        let micros = i128::from(computing.as_micros())
            + i128::from(self.recovery(resumed).as_micros())
            + i128::from(self.count(computing)) * i128::from(self.cost.as_micros());
        i64::try_from(micros).map_or(Span::FOREVER, Span::from_micros).min(Span::FOREVER)
    }

    /// How far an attempt that is to compute for so long has come after `elapsed`.
    pub fn progress(&self, elapsed: Span, computing: Span, resumed: bool) -> Progress {
        let recovery = self.recovery(resumed).min(elapsed);
        let (since, round) = (elapsed - recovery, self.interval + self.cost);
        let written = self.count(computing).min(since.as_micros() / round.as_micros());
        let rest = since - round * written;
        let last = written == self.count(computing);
        let writing = if last { Span::ZERO } else { (rest - self.interval).max(Span::ZERO) };
        Progress {
            saved: self.interval * written,
            overhead: recovery + self.cost * written + writing,
        }
    }
}
