//! A view of all clusters, from their answers in a round.

use std::collections::BTreeMap;

use haggle_model::Span;
use haggle_planning::multi::GridView;
use haggle_planning::{Interval, IntervalOracle};

use crate::protocol::planning::Times;

/// Answers of the clusters.
#[derive(Debug)]
pub(super) struct View(Vec<Option<Told>>);

/// Answer of a cluster about the requested intervals.
#[derive(Debug)]
pub(super) struct Told {
    phases: usize,
    /// Time of each interval, on the best machines and on the machines of the last interval.
    times: BTreeMap<Interval, (Span, Option<Span>)>,
    moving: Span,
}

impl View {
    pub(super) fn new(
        phases: usize,
        intervals: &[Interval],
        answers: &[Option<Option<Times>>],
    ) -> View {
        let told = |times: &Times| {
            // The list is empty if the last machines are not free, and then no interval has a time of a stay.
            let stay = times.stay.iter().map(|&it| Some(it)).chain(std::iter::repeat(None));
            let both = times.least.iter().copied().zip(stay);
            Told {
                phases,
                times: intervals.iter().copied().zip(both).collect(),
                moving: times.moving,
            }
        };
        View(answers.iter().map(|answer| answer.as_ref()?.as_ref().map(told)).collect())
    }

    /// True if a cluster has machines for the application.
    pub(super) fn is_able(&self, cluster: usize) -> bool {
        self.oracle(cluster).is_some()
    }

    fn moving(&self, cluster: usize) -> Span {
        self.oracle(cluster).map_or(Span::ZERO, |told| told.moving)
    }
}

impl Told {
    fn time(&self, interval: Interval) -> (Span, Option<Span>) {
        // An interval without times must not be chosen.
        self.times.get(&interval).copied().unwrap_or((Span::FOREVER, None))
    }
}

impl IntervalOracle for Told {
    /// The last machines of an application, or else the best ones. Only the cluster knows which
    /// these are.
    type Schedule = ();

    fn phases(&self) -> usize {
        self.phases
    }

    fn least_time(&self, interval: Interval) -> Span {
        self.time(interval).0
    }

    fn best_schedule(&self, _: Interval) {}

    fn time_on(&self, (): &(), interval: Interval) -> Span {
        self.time(interval).1.unwrap_or(Span::FOREVER)
    }
}

impl GridView for View {
    type Oracle = Told;

    fn clusters(&self) -> usize {
        self.0.len()
    }

    fn oracle(&self, cluster: usize) -> Option<&Told> {
        self.0.get(cluster)?.as_ref()
    }

    fn within(&self, cluster: usize) -> Span {
        self.moving(cluster)
    }

    fn between(&self, _: usize, to: usize) -> Span {
        self.moving(to)
    }

    fn may_stay(&self, cluster: usize, (): &()) -> bool {
        let told = self.oracle(cluster);
        told.is_some_and(|told| told.times.values().any(|(_, stay)| stay.is_some()))
    }
}
