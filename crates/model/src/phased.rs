//! Applications of many phases, each with its own computation and communication: the facts known before
//! they run (Sanjay and Vadhiyar 2011, section 3).

use serde::{Deserialize, Serialize};

use crate::{JobId, ProcessorSet, ProviderId, Span, Time};

/// The available parts of machines that an application shares with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The least available part of a processor, in (0, 1]; 1 = idle.
    pub cpu: f64,
    /// The least available part of a link between them, in (0, 1].
    pub bandwidth: f64,
}

/// Speedup of a time on n processors: the function of n by which the time is divided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Speedup {
    /// n to this power: 1 = perfect, 0 = none, negative = more processors are slower.
    Power(f64),
    /// 1 / log2 n, as for communication along a tree. On one processor the time is zero.
    InverseLog,
    /// 1 / (n - 1), as for communication with one processor after the other.
    InverseOthers,
}

impl Speedup {
    /// Factor of a time on `processors`, at least one.
    pub fn inverse(self, processors: u32) -> f64 {
        let n = f64::from(processors);
        match self {
            Speedup::Power(exponent) => n.powf(-exponent),
            Speedup::InverseLog => n.log2(),
            Speedup::InverseOthers => n - 1.0,
        }
    }
}

/// One addend of equation 1: `coefficient` · N^`size` / (share^`load` · `speedup`(n)), in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Seconds for a problem of size 1 on one idle processor; at least 0.
    pub coefficient: f64,
    /// The exponent of the problem size.
    pub size: f64,
    /// The exponent of the share, at least 0. With 1, half of a processor takes twice as long.
    pub load: f64,
    /// Effect of more processors.
    pub speedup: Speedup,
}

impl Term {
    /// Seconds for a problem of `size` on one idle machine.
    pub fn work(&self, size: f64) -> f64 {
        self.coefficient * size.powf(self.size)
    }
}

/// Factor of a time where only this share is available.
pub fn inverse_share(load: f64, share: f64) -> f64 {
    // Nearly every model has the exponent 1, and a division is exact to the last bit.
    if load == 1.0 { 1.0 / share } else { share.powf(-load) }
}

/// A phase: computation and communication.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// The first addend; its share is that of a processor.
    pub computation: Term,
    /// The second addend; its share is that of a link. It is left out on one processor.
    pub communication: Term,
}

impl Phase {
    /// Seconds on `processors` under such loads, on processors of speed 1.
    pub fn seconds(&self, size: f64, shares: Shares, processors: u32) -> f64 {
        let term = |term: &Term, share| {
            term.work(size) * inverse_share(term.load, share) * term.speedup.inverse(processors)
        };
        let computation = term(&self.computation, shares.cpu);
        // A single machine communicates with no other.
        if processors == 1 {
            computation
        } else {
            computation + term(&self.communication, shares.bandwidth)
        }
    }
}

/// Known facts of an application of many phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Phased {
    /// A model of each phase.
    Modelled {
        /// The phases, in order.
        phases: Vec<Phase>,
        /// N: the problem size.
        size: f64,
        /// Number of consecutive phases that are merged into one; the last merged phase may have fewer.
        merged: u32,
    },
    /// Measured times.
    Measured(Vec<Measured>),
}

/// Times of all phases on `machines` idle machines of one cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// The cluster.
    pub cluster: ProviderId,
    /// Machines, at least one.
    pub machines: u32,
    /// The time of each phase. All rows of an application have the same number of phases.
    pub times: Vec<Span>,
}

impl Phased {
    /// Number of phases; merged phases count as one.
    pub fn phases(&self) -> usize {
        match self {
            Phased::Modelled { phases, merged, .. } => {
                phases.len().div_ceil((*merged).max(1) as usize)
            }
            Phased::Measured(rows) => rows.first().map_or(0, |row| row.times.len()),
        }
    }
}

/// The move of an application to the machines of its next interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Move {
    /// No move: it is the first interval.
    Start,
    /// The same machines as before.
    Stay,
    /// To other machines of the same cluster.
    Within,
    /// To another cluster.
    Between,
}

impl Move {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Move::Start => "start",
            Move::Stay => "stay",
            Move::Within => "within",
            Move::Between => "between",
        }
    }
}

/// End of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IntervalEnd {
    /// All of its phases are over.
    Done,
    /// A machine failed; its phases are run again from its beginning.
    Lost,
    /// The run ended before.
    Open,
}

impl IntervalEnd {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            IntervalEnd::Done => "done",
            IntervalEnd::Lost => "lost",
            IntervalEnd::Open => "open",
        }
    }
}

/// Phases that an application ran one after the other on one set of machines, observed when the interval is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// The application.
    pub job: JobId,
    /// Number of the interval in order of beginnings, lost ones included, from 1.
    pub number: u32,
    /// Its first phase, from 1.
    pub first: u32,
    /// Its last phase.
    pub last: u32,
    /// Cluster on which it ran.
    pub cluster: ProviderId,
    /// The cluster's own numbers of the machines.
    pub machines: ProcessorSet,
    /// Move by which the application came there.
    pub how: Move,
    /// The cluster that it left; `None` if it stayed.
    pub from: Option<ProviderId>,
    /// Time at which the machines were taken and its checkpoint began to move.
    pub ordered: Time,
    /// Time at which it began to compute; `None` if it never did.
    pub start: Option<Time>,
    /// End of the interval.
    pub end: Time,
    /// Predicted duration of the move.
    pub predicted_move: Span,
    /// Predicted duration of the phases.
    pub predicted: Span,
    /// End of the interval: done, lost or open.
    pub ending: IntervalEnd,
}

impl IntervalRecord {
    /// Time for which the application was moved.
    pub fn moving(&self) -> Span {
        self.start.unwrap_or(self.end) - self.ordered
    }

    /// Time for which it computed and communicated.
    pub fn time(&self) -> Span {
        self.start.map_or(Span::ZERO, |start| self.end - start)
    }
}
