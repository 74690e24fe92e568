//! How long a phase takes on so many processors under such loads (Sanjay and Vadhiyar 2011, section
//! 3, equation 1), and phases together.

use std::ops::Range;

use haggle_model::Span;
use haggle_model::phased::{Phase, Shares, Speedup, Term, inverse_share};
use thiserror::Error;

use crate::search::Work;
use crate::{Cluster, Interval, Machines};

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

    /// How long an interval takes on machines of a cluster under its loads, rounded up to the
    /// microsecond.
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
        let alone = processors < 2;
        Span::from_secs_f64(if alone { computation } else { computation + communication })
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
    fn of(term: &Term) -> Class {
        Class { load: term.load, speedup: term.speedup }
    }

    /// What a time is multiplied by where only this share is available.
    pub(crate) fn inverse_share(self, share: f64) -> f64 {
        inverse_share(self.load, share)
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
