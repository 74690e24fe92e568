//! Workflows of applications: a directed graph, run level by level (Sanjay and Vadhiyar 2011,
//! section 8, of which no experiment is published).
//!
//! The applications of a [`Level`] run side by side and compete for machines. Whenever some of them are
//! between two intervals, each proposes what it would run next if all machines that are free were its
//! own. The critical one, which has most left to run, gets what it proposed. Those that wanted some
//! of the same machines propose again, and so on ([`grant`]).

mod levels;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use haggle_model::Span;

use crate::Machines;
use crate::multi::Placed;

pub use levels::{LevelRule, WorkflowError, levels};

/// A machine: the number of its cluster and its own there.
pub type MachineId = (usize, u32);

/// What an application would do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal<T> {
    /// How long it would take to the end of the application: the longest goes first.
    pub remaining: Span,
    /// The machines of its next interval.
    pub machines: Vec<MachineId>,
    /// How long it takes until it is between two intervals again.
    pub time: Span,
    /// Whether that is the end of the application.
    pub last: bool,
    /// Whatever else belongs to it.
    pub what: T,
}

impl Proposal<Placed<Machines>> {
    /// What an application of so many phases would do by a round of its own, among the machines that
    /// are free.
    pub fn new(placed: Placed<Machines>, phases: usize) -> Proposal<Placed<Machines>> {
        let numbers = placed.schedule.numbers().iter();
        Proposal {
            remaining: placed.remaining,
            machines: numbers.map(|&machine| (placed.cluster, machine)).collect(),
            time: placed.moving + placed.time,
            last: placed.interval.last == phases,
            what: placed,
        }
    }
}

/// Gives machines to applications that are between two intervals: who would run longest gets what
/// it proposes, of those that tie the first in `pending`. `propose` is asked what one would do with the
/// machines that are free, and has none for who would have no machines at all; such an
/// application waits.
///
/// What is granted is taken from `free`, and comes in the order in which it was.
pub fn grant<T>(
    pending: &[usize],
    free: &mut BTreeSet<MachineId>,
    mut propose: impl FnMut(usize, &BTreeSet<MachineId>) -> Option<Proposal<T>>,
) -> Vec<(usize, Proposal<T>)> {
    let mut proposals: Vec<(usize, Proposal<T>)> = pending
        .iter()
        .filter_map(|&application| Some((application, propose(application, free)?)))
        .collect();
    let mut granted: Vec<(usize, Proposal<T>)> = Vec::new();
    let critical = |proposals: &[(usize, Proposal<T>)]| {
        (0..proposals.len()).max_by_key(|&place| (proposals[place].1.remaining, Reverse(place)))
    };
    while let Some(place) = critical(&proposals) {
        let (application, proposal) = proposals.remove(place);
        let taken: BTreeSet<MachineId> = proposal.machines.iter().copied().collect();
        free.retain(|machine| !taken.contains(machine));
        granted.push((application, proposal));
        let wants_taken = |proposal: &Proposal<T>| {
            proposal.machines.iter().any(|machine| taken.contains(machine))
        };
        proposals = proposals
            .into_iter()
            .filter_map(|(application, proposal)| {
                let again = wants_taken(&proposal);
                let proposal = if again { propose(application, free)? } else { proposal };
                Some((application, proposal))
            })
            .collect();
    }
    granted
}

/// The applications of a level while they run: who holds which machines, and until when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    free: BTreeSet<MachineId>,
    /// Between two intervals, by number.
    pending: BTreeSet<usize>,
    running: BTreeMap<usize, Running>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Running {
    until: Span,
    last: bool,
    machines: Vec<MachineId>,
}

impl Level {
    /// A level before its begin: none of its applications has run.
    pub fn new(
        applications: impl IntoIterator<Item = usize>,
        machines: impl IntoIterator<Item = MachineId>,
    ) -> Level {
        Level {
            free: machines.into_iter().collect(),
            pending: applications.into_iter().collect(),
            running: BTreeMap::new(),
        }
    }

    /// When somebody is next between two intervals, or at his end.
    pub fn next_end(&self) -> Option<Span> {
        self.running.values().map(|running| running.until).min()
    }

    /// Whether all applications are over.
    pub fn is_over(&self) -> bool {
        self.pending.is_empty() && self.running.is_empty()
    }

    /// Machines that nobody holds.
    pub fn free(&self) -> &BTreeSet<MachineId> {
        &self.free
    }

    /// What is decided at an instant: intervals that end by then give back their machines, and all
    /// applications that are not over propose and are granted what they run next.
    pub fn decide<T>(
        &mut self,
        now: Span,
        propose: impl FnMut(usize, &BTreeSet<MachineId>) -> Option<Proposal<T>>,
    ) -> Vec<(usize, Proposal<T>)> {
        let ended: Vec<usize> = self
            .running
            .iter()
            .filter(|(_, running)| running.until <= now)
            .map(|(&application, _)| application)
            .collect();
        for application in ended {
            if let Some(Running { last, machines, .. }) = self.running.remove(&application) {
                self.free.extend(machines);
                if !last {
                    self.pending.insert(application);
                }
            }
        }
        let pending: Vec<usize> = self.pending.iter().copied().collect();
        let granted = grant(&pending, &mut self.free, propose);
        for (application, proposal) in &granted {
            self.pending.remove(application);
            let Proposal { time, last, ref machines, .. } = *proposal;
            let running = Running { until: now + time, last, machines: machines.clone() };
            self.running.insert(*application, running);
        }
        granted
    }
}

/// The applications of a workflow, as whoever runs it asks them.
pub trait Applications {
    /// What belongs to a proposal beside machines and times.
    type What;

    /// What an application would do from `now` on with the machines that are free; `None` without any.
    fn propose(
        &mut self,
        now: Span,
        application: usize,
        free: &BTreeSet<MachineId>,
    ) -> Option<Proposal<Self::What>>;

    /// An application does what it proposed.
    fn granted(&mut self, now: Span, application: usize, proposal: &Proposal<Self::What>);
}

/// Runs levels one after the other, each when all of the one before is over; when each was. `None`
/// if an application has no machines although nobody holds any.
pub fn run_levels<A: Applications>(
    levels: &[Vec<usize>],
    machines: &BTreeSet<MachineId>,
    applications: &mut A,
) -> Option<Vec<Span>> {
    let mut now = Span::ZERO;
    let mut ends = Vec::new();
    for numbers in levels {
        let mut level = Level::new(numbers.iter().copied(), machines.iter().copied());
        while !level.is_over() {
            let propose = |number, free: &BTreeSet<_>| applications.propose(now, number, free);
            for (number, proposal) in &level.decide(now, propose) {
                applications.granted(now, *number, proposal);
            }
            if !level.is_over() {
                now = level.next_end()?;
            }
        }
        ends.push(now);
    }
    Some(ends)
}
