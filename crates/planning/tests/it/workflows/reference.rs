//! A workflow without actors and messages: the decisions about its applications, with the machines of all clusters
//! in one set. Actors must come to the same intervals.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use haggle_model::Span;
use haggle_model::random::stream;
use haggle_planning::multi::{GridView, Placed, Terms, next_interval};
use haggle_planning::{Application, Cluster, ClusterOracle, Machines, PlanSearch};

/// A machine: the number of its cluster and its own there.
pub(super) type MachineId = (usize, u32);

/// The next interval that an application proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposal<T> {
    /// The predicted time to the end of the application; the longest is granted first.
    pub(super) remaining: Span,
    /// The machines of its next interval.
    pub(super) machines: Vec<MachineId>,
    /// The time to the end of the interval, a move before it included.
    pub(super) time: Span,
    /// True if the interval is the last one of the application.
    pub(super) last: bool,
    /// Additional data of the caller.
    pub(super) what: T,
}

impl Proposal<Placed<Machines>> {
    /// The result of a round of planning among the free machines, for an application of `phases` phases.
    pub(super) fn new(placed: Placed<Machines>, phases: usize) -> Proposal<Placed<Machines>> {
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

/// Grants machines to the applications in `pending`, which are between two intervals. The longest
/// remaining time is first; of equal ones, the first in `pending`. `propose` gives the proposal of an
/// application for a set of free machines. It returns `None` if the application can use none of them;
/// such an application waits.
///
/// Granted machines are removed from `free`. The proposals are returned in the order of granting.
pub(super) fn grant<T>(
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
        // `Reverse` gives ties to the application that is first in `pending`.
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

/// The applications of a level while they run, with the machines that each one holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    free: BTreeSet<MachineId>,
    /// Applications between two intervals, by number.
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
    /// A level before its start.
    pub(super) fn new(
        applications: impl IntoIterator<Item = usize>,
        machines: impl IntoIterator<Item = MachineId>,
    ) -> Level {
        Level {
            free: machines.into_iter().collect(),
            pending: applications.into_iter().collect(),
            running: BTreeMap::new(),
        }
    }

    /// The earliest end of a running interval.
    pub(super) fn next_end(&self) -> Option<Span> {
        self.running.values().map(|running| running.until).min()
    }

    /// True if all applications are over.
    pub(super) fn is_over(&self) -> bool {
        self.pending.is_empty() && self.running.is_empty()
    }

    /// The decisions of an instant: intervals that have ended release their machines, and all
    /// applications between two intervals propose. Returns the proposals that were granted.
    pub(super) fn decide<T>(
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

/// The applications of a workflow.
pub(super) trait Applications {
    /// Additional data of a proposal.
    type What;

    /// The proposal of an application at `now`; `None` if it can use none of the free machines.
    fn propose(
        &mut self,
        now: Span,
        application: usize,
        free: &BTreeSet<MachineId>,
    ) -> Option<Proposal<Self::What>>;

    /// An application starts the interval that it proposed.
    fn granted(&mut self, now: Span, application: usize, proposal: &Proposal<Self::What>);
}

/// Runs the levels one after the other, each after all of the previous one; returns the end of each.
/// `None` if an application can use none of the machines although all are free.
pub(super) fn run_levels<A: Applications>(
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

/// Clusters of which some machines are free, for one application.
struct Free<'a>(Vec<Option<ClusterOracle>>, &'a BTreeSet<MachineId>);

impl GridView for Free<'_> {
    type Oracle = ClusterOracle;

    fn clusters(&self) -> usize {
        self.0.len()
    }

    fn oracle(&self, cluster: usize) -> Option<&ClusterOracle> {
        self.0[cluster].as_ref()
    }

    fn within(&self, _: usize) -> Span {
        Span::from_secs(60)
    }

    fn between(&self, _: usize, _: usize) -> Span {
        Span::from_secs(300)
    }

    fn may_stay(&self, cluster: usize, schedule: &Machines) -> bool {
        schedule.numbers().iter().all(|&machine| self.1.contains(&(cluster, machine)))
    }
}

/// A workflow on clusters without other applications and with constant loads. A move within a cluster takes 60 s, and
/// one between clusters 300 s.
pub(super) struct Workflow {
    applications: Vec<Arc<Application>>,
    clusters: Vec<Arc<Cluster>>,
    terms: Terms,
    /// The last interval of each application.
    pub(super) before: Vec<Option<Placed<Machines>>>,
    /// All intervals with their starts and applications.
    pub(super) started: Vec<(Span, usize, Placed<Machines>)>,
}

impl Workflow {
    pub(super) fn new(
        applications: Vec<Arc<Application>>,
        clusters: Vec<Arc<Cluster>>,
        terms: Terms,
    ) -> Workflow {
        let before = vec![None; applications.len()];
        Workflow { applications, clusters, terms, before, started: Vec::new() }
    }

    pub(super) fn machines(&self) -> BTreeSet<MachineId> {
        let of = |(number, cluster): (usize, &Arc<Cluster>)| {
            (0..cluster.machines() as u32).map(move |machine| (number, machine))
        };
        self.clusters.iter().enumerate().flat_map(of).collect()
    }
}

impl Applications for Workflow {
    type What = Placed<Machines>;

    fn propose(
        &mut self,
        _: Span,
        number: usize,
        free: &BTreeSet<MachineId>,
    ) -> Option<Proposal<Placed<Machines>>> {
        let application = &self.applications[number];
        let mut oracles = Vec::new();
        for (cluster, at) in self.clusters.iter().enumerate() {
            let is_free = |machine| free.contains(&(cluster, machine));
            oracles.push(ClusterOracle::among(application, at, PlanSearch::Hulls, is_free));
        }
        let view = Free(oracles, free);
        let before = self.before[number].as_ref();
        let first = before.map_or(1, |before| before.interval.last + 1);
        let random = &mut stream(1, "workflow", "plans");
        let placed = next_interval(&view, &self.terms, first, before, random)?;
        Some(Proposal::new(placed, application.phases()))
    }

    fn granted(&mut self, now: Span, number: usize, proposal: &Proposal<Placed<Machines>>) {
        self.before[number] = Some(proposal.what.clone());
        self.started.push((now, number, proposal.what.clone()));
    }
}
