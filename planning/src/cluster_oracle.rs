//! An oracle for an application on a cluster: performance models, and a search for machines.

use std::cell::Cell;
use std::sync::Arc;

use haggle_model::Span;

use crate::cluster::Cluster;
use crate::performance::{Application, Class, Shares};
use crate::search::{Found, Search, Space, Work};
use crate::{Interval, IntervalOracle};

/// Predictions for an application on a cluster under its present loads.
///
/// Each interval is searched for once, when it is asked for. Times are rounded up to the microsecond.
#[derive(Debug)]
pub struct ClusterOracle {
    application: Arc<Application>,
    cluster: Arc<Cluster>,
    space: Space,
    search: Search,
    /// What was found for an interval, by its last and then by its first phase.
    found: Vec<Cell<Option<Found>>>,
    effort: Cell<Effort>,
}

/// What an oracle has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Intervals for which machines were looked for.
    pub searches: u64,
    /// Sets of machines that were priced in all searches.
    pub priced: u64,
}

/// The machines that run an interval, by their numbers in their cluster, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machines(Vec<u32>);

impl Machines {
    /// These machines.
    pub fn new(mut numbers: Vec<u32>) -> Machines {
        numbers.sort_unstable();
        numbers.dedup();
        Machines(numbers)
    }

    /// Their numbers, ascending.
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }
}

impl ClusterOracle {
    /// The oracle for all machines of a cluster; `None` if there are none.
    pub fn new(
        application: &Arc<Application>,
        cluster: &Arc<Cluster>,
        search: Search,
    ) -> Option<ClusterOracle> {
        ClusterOracle::among(application, cluster, search, |_| true)
    }

    /// The oracle for the usable machines of a cluster; `None` if there are none.
    pub fn among(
        application: &Arc<Application>,
        cluster: &Arc<Cluster>,
        search: Search,
        may_use: impl Fn(u32) -> bool,
    ) -> Option<ClusterOracle> {
        let usable = (0..cluster.machines() as u32).filter(|&machine| may_use(machine)).collect();
        let phases = application.phases();
        Some(ClusterOracle {
            application: Arc::clone(application),
            cluster: Arc::clone(cluster),
            space: Space::new(application, cluster, usable)?,
            search,
            found: vec![Cell::new(None); phases * (phases + 1) / 2],
            effort: Cell::default(),
        })
    }

    /// What was done so far.
    pub fn effort(&self) -> Effort {
        self.effort.get()
    }

    /// The least available parts of these machines and of the links between them.
    pub fn shares(&self, machines: &Machines) -> Shares {
        let cpu = machines.numbers().iter().map(|&machine| self.cluster.cpu(machine));
        let bandwidth = self.cluster.network().least(machines.numbers());
        Shares { cpu: cpu.fold(1.0, f64::min), bandwidth }
    }

    fn work(&self, interval: Interval) -> Work {
        Work::of(&self.application, interval, self.cluster.speed())
    }

    fn found(&self, interval: Interval) -> Found {
        let Interval { first, last } = interval;
        let cell = &self.found[last * (last - 1) / 2 + first - 1];
        cell.get().unwrap_or_else(|| {
            let (found, priced) = self.space.search(self.search, &self.work(interval));
            let Effort { searches, priced: before } = self.effort.get();
            self.effort.set(Effort { searches: searches + 1, priced: before + priced });
            cell.set(Some(found));
            found
        })
    }
}

impl IntervalOracle for ClusterOracle {
    type Schedule = Machines;

    fn phases(&self) -> usize {
        self.application.phases()
    }

    fn least_time(&self, interval: Interval) -> Span {
        Span::from_secs_f64(self.found(interval).seconds)
    }

    fn best_schedule(&self, interval: Interval) -> Machines {
        Machines::new(self.space.machines(self.found(interval).asked))
    }

    fn time_on(&self, schedule: &Machines, interval: Interval) -> Span {
        let Shares { cpu, bandwidth } = self.shares(schedule);
        let processors = schedule.numbers().len() as u32;
        let [computing, communicating] = self.application.classes();
        let seconds = |classes: &[Class], work: &[f64], share| {
            let parts = classes.iter().zip(work).map(|(class, work)| {
                work * class.inverse_share(share) * class.speedup.inverse(processors)
            });
            parts.sum::<f64>()
        };
        let work = self.work(interval);
        let computation = seconds(computing, &work.computation, cpu);
        let communication = seconds(communicating, &work.communication, bandwidth);
        let alone = processors < 2;
        Span::from_secs_f64(if alone { computation } else { computation + communication })
    }
}
