//! Time of a phase on a number of processors under given loads (Sanjay and Vadhiyar 2011, section 3,
//! equation 1), and of several phases together.

use std::ops::Range;

use haggle_model::Span;
use haggle_model::phased::{Phase, Shares, Speedup, Term, inverse_share};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::search::Work;
use crate::{Cluster, Interval, Machines};

/// Reason why an application is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ApplicationError {
    /// It has no phase to plan.
    #[error("an application has at least one phase")]
    NoPhase,
    /// The problem size is invalid.
    #[error("a problem size is a positive number")]
    Size,
    /// A coefficient or an exponent is invalid or unrealistic.
    #[error(
        "phase {phase}: coefficients are numbers of at least 0, exponents from -10 to 10, those of \
         loads from 0"
    )]
    Term {
        /// The number of the phase, from 1.
        phase: usize,
    },
    /// Computation takes longer on more processors. The search for schedules relies on the opposite.
    #[error("phase {phase}: computing takes no longer on more processors")]
    SlowerWithMore {
        /// The number of the phase, from 1.
        phase: usize,
    },
}

/// An application at one problem size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Application {
    computation: Works,
    communication: Works,
    /// Number of modelled phases up to the end of each phase; a merged phase has several.
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

    /// Φ: number of phases.
    pub fn phases(&self) -> usize {
        self.ends.len()
    }

    /// The same application with every `phases` consecutive phases merged into one; the last one may have fewer.
    pub fn merged(mut self, phases: usize) -> Application {
        let last = self.ends.last().copied();
        self.ends =
            self.ends.chunks_exact(phases.max(1)).filter_map(|row| row.last().copied()).collect();
        // `chunks_exact` leaves out the phases of a shorter last part, so their end is added again.
        if self.ends.last().copied() != last {
            self.ends.extend(last);
        }
        self
    }

    /// Time of an interval on machines of a cluster under its loads, rounded up to the microsecond.
    pub fn time_on(&self, cluster: &Cluster, machines: &Machines, interval: Interval) -> Span {
        let Shares { cpu, bandwidth } = cluster.shares(machines);
        let processors = machines.numbers().len() as u32;
        let [computing, communicating] = self.classes();
        let seconds = |classes: &[Class], work: &[f64], share| {
            let parts = classes.iter().zip(work).map(|(class, work)| {
                work * class.inverse_share(share) * class.speedup.inverse(processors)
            });
            parts.sum::<f64>()
        };
        let work = Work::of(self, interval, cluster.speed());
        let computation = seconds(computing, &work.computation, cpu);
        let communication = seconds(communicating, &work.communication, bandwidth);
        // A single machine communicates with no other.
        let alone = processors < 2;
        Span::from_secs_f64(if alone { computation } else { computation + communication })
    }

    /// Seconds of an interval on one idle machine, for each class of computation and of communication.
    pub(crate) fn works(&self, interval: Interval) -> [Vec<f64>; 2] {
        // Phases are numbered from 1, and before the first one no modelled phase ends.
        let before = interval.first.checked_sub(2).map_or(0, |phase| self.ends[phase]);
        let phases = before..self.ends[interval.last - 1];
        [&self.computation, &self.communication].map(|works| works.of(phases.clone()))
    }

    /// The classes of computation and of communication.
    pub(crate) fn classes(&self) -> [&[Class]; 2] {
        [&self.computation.classes, &self.communication.classes]
    }
}

/// True if no time of a term overflows on any cluster: sums with infinite parts cannot be compared.
fn is_sound(term: &Term, size: f64) -> bool {
    let exponent = match term.speedup {
        Speedup::Power(exponent) => exponent,
        Speedup::InverseLog | Speedup::InverseOthers => 0.0,
    };
    let exponents = [term.size, term.load, exponent];
    term.coefficient >= 0.0
        && term.load >= 0.0
        && exponents.iter().all(|exponent| exponent.abs() <= 10.0)
        // A share of 1e-6 to the power of 10 adds a factor of 1e60, and 2^32 processors one of 1e97.
        && term.work(size) <= 1e100
}

/// Terms that differ only by a factor: they have the same exponent of the share and the same speedup.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Class {
    load: f64,
    pub(crate) speedup: Speedup,
}

impl Class {
    fn of(term: &Term) -> Class {
        Class { load: term.load, speedup: term.speedup }
    }

    /// Factor of a time where only this share is available.
    pub(crate) fn inverse_share(self, share: f64) -> f64 {
        inverse_share(self.load, share)
    }
}

/// One of the addends for all phases. Terms of one class add up, so the cost of a prediction grows with
/// the number of classes and not with the length of the interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Works {
    classes: Vec<Class>,
    /// Class and seconds of each phase.
    phases: Vec<(usize, f64)>,
}

impl Works {
    fn new<'t>(terms: impl Iterator<Item = &'t Term>, size: f64) -> Works {
        let mut works = Works { classes: Vec::new(), phases: Vec::new() };
        for term in terms {
            let known = works.classes.iter().position(|&class| class == Class::of(term));
            let class = known.unwrap_or_else(|| {
                works.classes.push(Class::of(term));
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
