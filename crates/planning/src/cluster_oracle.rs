//! An oracle for an application on a cluster: performance models, and a search for machines.

use std::cell::Cell;
use std::sync::Arc;

use haggle_model::Span;

use crate::cluster::Cluster;
use haggle_model::phased::Shares;
use serde::{Deserialize, Serialize};

use crate::performance::Application;
use crate::search::{Found, PlanSearch, Space, Work};
use crate::{Interval, IntervalOracle, Machines};

/// Predictions for an application on a cluster under its present loads.
///
/// Each interval is searched once, at its first query. Times are rounded up to the microsecond.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClusterOracle {
    application: Arc<Application>,
    cluster: Arc<Cluster>,
    space: Space,
    search: PlanSearch,
    /// Results for intervals, by last and then by first phase.
    found: Vec<Cell<Option<Found>>>,
    effort: Cell<Effort>,
}

/// Effort of an oracle so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Intervals for which machines were searched.
    pub searches: u64,
    /// Sets of machines that were priced in all searches.
    pub priced: u64,
}

impl ClusterOracle {
    /// The oracle for all machines of a cluster; `None` if there are none.
    pub fn new(
        application: &Arc<Application>,
        cluster: &Arc<Cluster>,
        search: PlanSearch,
    ) -> Option<ClusterOracle> {
        ClusterOracle::among(application, cluster, search, |_| true)
    }

    /// The oracle for the usable machines of a cluster; `None` if there are none.
    pub fn among(
        application: &Arc<Application>,
        cluster: &Arc<Cluster>,
        search: PlanSearch,
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

    /// The effort so far.
    pub fn effort(&self) -> Effort {
        self.effort.get()
    }

    /// The least available parts of these machines and of the links between them.
    pub fn shares(&self, machines: &Machines) -> Shares {
        self.cluster.shares(machines)
    }

    fn work(&self, interval: Interval) -> Work {
        Work::of(&self.application, interval, self.cluster.speed())
    }

    fn found(&self, interval: Interval) -> Found {
        let Interval { first, last } = interval;
        // A triangle row by row: an interval that ends with phase n has n possible first phases.
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
        // Only the point of the best set is kept for each interval; its machines are determined again.
        Machines::new(self.space.machines(self.found(interval).asked))
    }

    fn time_on(&self, schedule: &Machines, interval: Interval) -> Span {
        self.application.time_on(&self.cluster, schedule, interval)
    }
}
