//! Plans over several clusters, made interval by interval while loads change (Sanjay and Vadhiyar
//! 2011, section 6).
//!
//! In each round every cluster plans the remaining phases for itself ([`candidate`]). One of the first
//! intervals of these plans is run next ([`choose_interval`]). It runs on the same machines as before,
//! on others of the same cluster, or on the fastest cluster. The option with the least time, cost of
//! moving included, is chosen ([`place`]). [`next_interval`] is such a round, [`multi_cluster_plan`]
//! all of them. A metascheduler that learns of clusters by messages can take the steps of a round one
//! by one.

use haggle_model::Span;
pub use haggle_model::phased::Move;
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::{Interval, IntervalOracle, Method, Problem};

/// All clusters at one instant, and the costs of moves.
pub trait GridView {
    /// Predictions for a cluster.
    type Oracle: IntervalOracle;

    /// Number of clusters; they are numbered from 0.
    fn clusters(&self) -> usize;

    /// Predictions for a cluster; `None` if none of its machines may be used.
    fn oracle(&self, cluster: usize) -> Option<&Self::Oracle>;

    /// Cost of a move to other machines of the same cluster.
    fn within(&self, cluster: usize) -> Span;

    /// Cost of a move to another cluster.
    fn between(&self, from: usize, to: usize) -> Span;

    /// True if an application may stay on its machines; false only if they are withdrawn.
    fn may_stay(&self, _cluster: usize, _schedule: &Schedule<Self>) -> bool {
        true
    }
}

/// The schedules of a grid.
pub type Schedule<V> = <<V as GridView>::Oracle as IntervalOracle>::Schedule;

/// Parameters of all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The planner of each cluster.
    pub method: Method,
    /// An interval is valid only if it takes longer than this.
    pub threshold: Span,
}

/// An interval with its cluster and machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed<S> {
    /// The phases.
    pub interval: Interval,
    /// The cluster.
    pub cluster: usize,
    /// The machines there.
    pub schedule: S,
    /// Time of the phases under the loads at their beginning.
    pub time: Span,
    /// The move before it.
    pub how: Move,
    /// The cost of that move.
    pub moving: Span,
    /// The cost of this cluster's plan for all phases that remained, this interval included.
    pub remaining: Span,
}

/// The least of three times, each with the cost of moving: on the same machines, on others of the same
/// cluster, on another cluster. The first wins a tie; `None` if all three are `None`.
pub fn three_way(stay: Option<Span>, within: Option<Span>, between: Option<Span>) -> Option<Move> {
    let offers = [(stay, Move::Stay), (within, Move::Within), (between, Move::Between)];
    let offered = offers.into_iter().filter_map(|(time, how)| Some((time?, how)));
    offered.min().map(|(_, how)| how)
}

/// The first interval of the plan of a cluster for all remaining phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The cluster.
    pub cluster: usize,
    /// The interval.
    pub interval: Interval,
    /// The cost of the whole plan.
    pub remaining: Span,
}

/// The first interval of the plan that a cluster makes for the phases from `first` on; `None` if it
/// has no machines.
pub fn candidate<V: GridView, R: Rng + ?Sized>(
    view: &V,
    terms: &Terms,
    first: usize,
    cluster: usize,
    random: &mut R,
) -> Option<Candidate> {
    let oracle = view.oracle(cluster)?;
    let rescheduling = view.within(cluster);
    let problem = Problem { oracle, first, rescheduling, threshold: terms.threshold };
    let plan = terms.method.plan(&problem, random);
    Some(Candidate { cluster, interval: plan.parts[0].interval, remaining: plan.cost })
}

/// The shortest of the first intervals, by phases, that is valid on all clusters. Otherwise the longest
/// that is valid on the cluster that planned it. Otherwise all remaining phases. `None` without
/// candidates.
pub fn choose_interval<V: GridView>(
    view: &V,
    candidates: &[Candidate],
    threshold: Span,
) -> Option<Interval> {
    let time = |cluster, interval| Some(view.oracle(cluster)?.least_time(interval));
    // A cluster without usable machines does not restrict the choice.
    let is_valid = |cluster, interval| time(cluster, interval).is_none_or(|time| time > threshold);
    let mut intervals: Vec<Interval> = candidates.iter().map(|one| one.interval).collect();
    // All intervals begin with the same phase, so this is the order of their lengths.
    intervals.sort_unstable();
    intervals.dedup();
    let everywhere =
        |&&interval: &&Interval| (0..view.clusters()).all(|cluster| is_valid(cluster, interval));
    let somewhere = || {
        let valid = candidates.iter().filter(|one| is_valid(one.cluster, one.interval));
        valid.map(|one| one.interval).max()
    };
    let whole = || {
        let one = candidates.first()?;
        Some(Interval::new(one.interval.first, view.oracle(one.cluster)?.phases()))
    };
    intervals.iter().find(everywhere).copied().or_else(somewhere).or_else(whole)
}

/// One round: the next interval, from the phase `first` on, for an application that ran the interval
/// `before`. `None` if no cluster has usable machines.
pub fn next_interval<V: GridView, R: Rng + ?Sized>(
    view: &V,
    terms: &Terms,
    first: usize,
    before: Option<&Placed<Schedule<V>>>,
    random: &mut R,
) -> Option<Placed<Schedule<V>>> {
    let clusters = 0..view.clusters();
    let candidates: Vec<Candidate> =
        clusters.filter_map(|cluster| candidate(view, terms, first, cluster, random)).collect();
    let interval = choose_interval(view, &candidates, terms.threshold)?;
    place(view, &candidates, interval, before)
}

/// Places an interval: after the interval `before` by the least of three times, a first one on the
/// fastest cluster. `None` without candidates, or if no cluster can run it.
pub fn place<V: GridView>(
    view: &V,
    candidates: &[Candidate],
    interval: Interval,
    before: Option<&Placed<Schedule<V>>>,
) -> Option<Placed<Schedule<V>>> {
    let time = |cluster: usize| Some(view.oracle(cluster)?.least_time(interval));
    let times = candidates.iter().filter_map(|one| Some((time(one.cluster)?, one.cluster)));
    // Of equally fast clusters, the one with the lowest number wins.
    let (fastest_time, fastest) = times.min()?;
    let on = |cluster: usize, how, moving| {
        let oracle = view.oracle(cluster)?;
        let (schedule, time) = (oracle.best_schedule(interval), oracle.least_time(interval));
        let plan = candidates.iter().find(|one| one.cluster == cluster)?;
        Some(Placed { interval, cluster, schedule, time, how, moving, remaining: plan.remaining })
    };
    let Some(before) = before else { return on(fastest, Move::Start, Span::ZERO) };
    let home = before.cluster;
    let at_home = view.oracle(home).filter(|_| view.may_stay(home, &before.schedule));
    let stay = at_home.map(|oracle| oracle.time_on(&before.schedule, interval));
    let within = time(home).map(|time| time + view.within(home));
    // The fastest cluster is no alternative if the application is there already.
    let between = (fastest != home).then(|| fastest_time + view.between(home, fastest));
    match three_way(stay, within, between)? {
        Move::Between => on(fastest, Move::Between, view.between(home, fastest)),
        Move::Within => on(home, Move::Within, view.within(home)),
        // `three_way` never returns `Start`, which is only for a first interval.
        how @ (Move::Stay | Move::Start) => {
            let schedule = before.schedule.clone();
            Some(Placed { schedule, time: stay?, ..on(home, how, Span::ZERO)? })
        }
    }
}

/// Instant at which a grid is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Number of intervals placed so far.
    pub epoch: usize,
    /// Time for which the application has run and moved.
    pub elapsed: Span,
}

/// A whole run of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course<S> {
    /// The intervals in the order in which they run.
    pub placed: Vec<Placed<S>>,
    /// Total time of all intervals and moves.
    pub time: Span,
}

impl<S> Course<S> {
    /// Number of moves of this kind.
    pub fn moves(&self, how: Move) -> usize {
        self.placed.iter().filter(|placed| placed.how == how).count()
    }
}

/// All rounds of an application, each on the grid that `look` returns at its beginning. `None` if no
/// cluster has machines in one of them.
pub fn multi_cluster_plan<V: GridView, R: Rng + ?Sized>(
    phases: usize,
    mut look: impl FnMut(Moment) -> V,
    terms: &Terms,
    random: &mut R,
) -> Option<Course<Schedule<V>>> {
    let mut course = Course { placed: Vec::new(), time: Span::ZERO };
    let mut first = 1;
    while first <= phases {
        let view = look(Moment { epoch: course.placed.len(), elapsed: course.time });
        let placed = next_interval(&view, terms, first, course.placed.last(), random)?;
        first = placed.interval.last + 1;
        course.time += placed.moving + placed.time;
        course.placed.push(placed);
    }
    Some(course)
}

/// Time of the same application without rescheduling: on the machines that are best for all of it at
/// the beginning, while loads change before each phase. `None` if there are no machines.
pub fn single_schedule<V: GridView>(
    phases: usize,
    mut look: impl FnMut(Moment) -> V,
) -> Option<Span> {
    let mut elapsed = Span::ZERO;
    let view = look(Moment { epoch: 0, elapsed });
    let whole = Interval::new(1, phases);
    let time = |cluster: usize| Some((view.oracle(cluster)?.least_time(whole), cluster));
    // Of equally fast clusters, the one with the lowest number wins.
    let (_, cluster) = (0..view.clusters()).filter_map(time).min()?;
    let schedule = view.oracle(cluster)?.best_schedule(whole);
    elapsed += view.oracle(cluster)?.time_on(&schedule, Interval::new(1, 1));
    for phase in 2..=phases {
        let view = look(Moment { epoch: phase - 1, elapsed });
        elapsed += view.oracle(cluster)?.time_on(&schedule, Interval::new(phase, phase));
    }
    Some(elapsed)
}

/// Cost of a move of an application: a fixed time to stop and start it, and the transfer of its
/// checkpoint over the network. Bandwidths are in Mbit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Migration {
    /// Seconds without the transfer.
    pub fixed: f64,
    /// The size of a checkpoint in Mbit.
    pub volume: f64,
}

impl Migration {
    /// Cost over a link of `bandwidth` of which `share` is available.
    pub fn over(&self, bandwidth: f64, share: f64) -> Span {
        Span::from_secs_f64(self.fixed + self.volume / (bandwidth * share))
    }
}
