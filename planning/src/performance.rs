//! How long a phase takes on so many processors under such loads (Sanjay and Vadhiyar 2011, section
//! 3, equation 1), and phases together.

use std::ops::Range;

use thiserror::Error;

use crate::Interval;

/// The available parts of machines that an application shares with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The least available part of a processor, in (0, 1]; 1 = idle.
    pub cpu: f64,
    /// The least available part of a link between them, in (0, 1].
    pub bandwidth: f64,
}

/// How a time shrinks with the number n of processors: the function by which it is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speedup {
    /// n to this power: 1 = perfect, 0 = none, negative = the more processors, the slower.
    Power(f64),
    /// 1 / log2 n, as for communication along a tree; one processor takes no time at all.
    InverseLog,
    /// 1 / (n - 1), as for communication with one processor after the other.
    InverseOthers,
}

impl Speedup {
    /// What a time is multiplied by on `processors`, at least one.
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Seconds for a problem of size 1 on one idle processor; at least 0.
    pub coefficient: f64,
    /// The exponent of the problem size.
    pub size: f64,
    /// The exponent of the share, at least 0: 1 where half of a processor takes twice as long.
    pub load: f64,
    /// What more processors do.
    pub speedup: Speedup,
}

impl Term {
    /// Seconds for a problem of `size`, on idle machines as if there were one.
    fn work(&self, size: f64) -> f64 {
        self.coefficient * size.powf(self.size)
    }

    fn class(&self) -> Class {
        Class { load: self.load, speedup: self.speedup }
    }
}

/// A phase: computation and communication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// The first addend; its share is that of a processor.
    pub computation: Term,
    /// The second addend; its share is that of a link. One processor has none.
    pub communication: Term,
}

impl Phase {
    /// Seconds on `processors` under such loads, on processors of speed 1.
    pub fn seconds(&self, size: f64, shares: Shares, processors: u32) -> f64 {
        let term = |term: &Term, share| {
            term.work(size) * term.class().inverse_share(share) * term.speedup.inverse(processors)
        };
        let computation = term(&self.computation, shares.cpu);
        if processors == 1 {
            computation
        } else {
            computation + term(&self.communication, shares.bandwidth)
        }
    }
}

/// Why there is no such application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ApplicationError {
    /// Nothing would have to be planned.
    #[error("an application has at least one phase")]
    NoPhase,
    /// The problem size is none.
    #[error("a problem size is a positive number")]
    Size,
    /// A coefficient or an exponent is none, or far from all that is real.
    #[error(
        "phase {phase}: coefficients are numbers of at least 0, exponents from -10 to 10, those of \
         loads from 0"
    )]
    Term {
        /// The number of the phase, from 1.
        phase: usize,
    },
    /// The search for schedules relies on it that more processors do not compute slower.
    #[error("phase {phase}: computing takes no longer on more processors")]
    SlowerWithMore {
        /// The number of the phase, from 1.
        phase: usize,
    },
}

/// An application at one problem size.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    computation: Works,
    communication: Works,
    /// How many modelled phases there are up to the end of each phase: several where some were merged.
    ends: Vec<usize>,
}

impl Application {
    /// The application with these phases, at the problem size N = `size`.
    pub fn new(phases: &[Phase], size: f64) -> Result<Application, ApplicationError> {
        if phases.is_empty() {
            return Err(ApplicationError::NoPhase);
        }
        if !(size.is_finite() && size > 0.0) {
            return Err(ApplicationError::Size);
        }
        for (number, phase) in (1..).zip(phases) {
            if ![phase.computation, phase.communication].iter().all(|term| is_sound(term, size)) {
                return Err(ApplicationError::Term { phase: number });
            }
            if !matches!(phase.computation.speedup, Speedup::Power(exponent) if exponent >= 0.0) {
                return Err(ApplicationError::SlowerWithMore { phase: number });
            }
        }
        Ok(Application {
            computation: Works::new(phases.iter().map(|phase| &phase.computation), size),
            communication: Works::new(phases.iter().map(|phase| &phase.communication), size),
            ends: (1..=phases.len()).collect(),
        })
    }

    /// Φ: how many phases there are.
    pub fn phases(&self) -> usize {
        self.ends.len()
    }

    /// The same application with each `phases` phases in a row as one; the last one may have fewer.
    pub fn merged(mut self, phases: usize) -> Application {
        let last = self.ends.last().copied();
        self.ends =
            self.ends.chunks_exact(phases.max(1)).filter_map(|row| row.last().copied()).collect();
        if self.ends.last().copied() != last {
            self.ends.extend(last);
        }
        self
    }

    /// Seconds of an interval on idle machines as if there were one, for each class of computation
    /// and of communication.
    pub(crate) fn works(&self, interval: Interval) -> [Vec<f64>; 2] {
        let before = interval.first.checked_sub(2).map_or(0, |phase| self.ends[phase]);
        let phases = before..self.ends[interval.last - 1];
        [&self.computation, &self.communication].map(|works| works.of(phases.clone()))
    }

    /// The classes of computation and of communication.
    pub(crate) fn classes(&self) -> [&[Class]; 2] {
        [&self.computation.classes, &self.communication.classes]
    }
}

/// Whether no time of a term overflows on any cluster: a sum with infinite parts has no order.
fn is_sound(term: &Term, size: f64) -> bool {
    let exponent = match term.speedup {
        Speedup::Power(exponent) => exponent,
        Speedup::InverseLog | Speedup::InverseOthers => 0.0,
    };
    let exponents = [term.size, term.load, exponent];
    term.coefficient >= 0.0
        && term.load >= 0.0
        && exponents.iter().all(|exponent| exponent.abs() <= 10.0)
        && term.work(size) <= 1e100
}

/// Terms that differ by a factor only: the same exponent of the share, and the same speedup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Class {
    load: f64,
    pub(crate) speedup: Speedup,
}

impl Class {
    /// What a time is multiplied by where only this share is available.
    pub(crate) fn inverse_share(self, share: f64) -> f64 {
        // Nearly every model has the exponent 1, and a division is exact to the last bit.
        if self.load == 1.0 { 1.0 / share } else { share.powf(-self.load) }
    }
}

/// One of the addends for all phases. Terms of one class add up, so that an interval is priced as
/// if it had one phase a class, however long it is.
#[derive(Clone, Debug, PartialEq)]
struct Works {
    classes: Vec<Class>,
    /// The class of each phase, and its seconds.
    phases: Vec<(usize, f64)>,
}

impl Works {
    fn new<'t>(terms: impl Iterator<Item = &'t Term>, size: f64) -> Works {
        let mut works = Works { classes: Vec::new(), phases: Vec::new() };
        for term in terms {
            let known = works.classes.iter().position(|&class| class == term.class());
            let class = known.unwrap_or_else(|| {
                works.classes.push(term.class());
                works.classes.len() - 1
            });
            works.phases.push((class, term.work(size)));
        }
        works
    }

    fn of(&self, phases: Range<usize>) -> Vec<f64> {
        let mut works = vec![0.0; self.classes.len()];
        for &(class, work) in &self.phases[phases] {
            works[class] += work;
        }
        works
    }
}
