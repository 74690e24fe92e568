//! Clusters and their rescheduler as a whole: from a description to their actors and addresses.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::random::stream;
use haggle_model::{ActorId, ProviderId, Span, Time};
use haggle_planning::multi::Migration;
use haggle_planning::synthetic::SyntheticGrid;
use haggle_planning::{ClusterError, Method, PlanSearch};
use haggle_workflows::Workflow;
use haggle_workflows::ledger::WorkflowId;

use super::{
    Cluster, ClusterConfig, Costs, LoadSource, PredictionErrors, Rescheduler, ReschedulerConfig,
    ResourceUpdates, Updates,
};
use crate::{AnyActor, Message, Seats, Timer};

/// Clusters and their rescheduler before a run.
#[derive(Debug)]
pub struct PlansConfig {
    /// Master seed, for planners that draw.
    pub seed: u64,
    /// The clusters.
    pub clusters: Vec<PlannedCluster>,
    /// Planner of each cluster; `None` = applications are not rescheduled.
    pub method: Option<Method>,
    /// Search for machines in each cluster.
    pub search: PlanSearch,
    /// An interval that takes this long or shorter is not valid.
    pub threshold: Span,
    /// Delay with which monitors report loads.
    pub monitor_delay: Span,
    /// Factors by which phases take longer or shorter than predicted.
    pub errors: PredictionErrors,
    /// Times at which loads change.
    pub updates: Updates,
    /// Source of loads.
    pub loads: Box<dyn LoadSource>,
    /// Workflows whose tasks are applications.
    pub workflows: BTreeMap<WorkflowId, Arc<Workflow>>,
}

/// A cluster before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCluster {
    /// Its name; the random numbers of its planner depend on it.
    pub name: String,
    /// Speed of its processors.
    pub speed: f64,
    /// Costs of moving an application there.
    pub costs: Costs,
}

/// The actors of clusters and their rescheduler, in the order of their numbers.
#[derive(Debug)]
pub struct PlansActors {
    /// The clusters.
    pub places: Vec<AnyActor>,
    /// The rescheduler and the resource updates.
    pub services: Vec<AnyActor>,
    /// The actor to which users submit.
    pub rescheduler: ActorId,
    /// Messages under way at the start of the run.
    pub initial: Vec<(Time, ActorId, Message)>,
}

impl PlansConfig {
    /// The clusters of a synthetic grid, whose loads change after each interval.
    pub fn on(
        grid: &SyntheticGrid,
        migration: Migration,
        method: Option<Method>,
        threshold: Span,
    ) -> PlansConfig {
        let count = grid.clusters().count();
        let fixed = Span::from_secs_f64(migration.fixed);
        let planned = |(number, (_, speed, bandwidth)): (usize, (u32, f64, f64))| {
            let ways = (0..count).map(|from| grid.between(from, number)).collect();
            let checkpoint = migration.volume;
            let costs = Costs { within: fixed, between: fixed, checkpoint, bandwidth, ways };
            PlannedCluster { name: format!("cluster {number}"), speed, costs }
        };
        PlansConfig {
            // The number of the synthetic grid, so that its planners draw differently on each grid.
            seed: grid.number(),
            clusters: grid.clusters().enumerate().map(planned).collect(),
            method,
            search: PlanSearch::default(),
            threshold,
            monitor_delay: Span::ZERO,
            errors: PredictionErrors::NONE,
            updates: Updates::AfterInterval,
            loads: Box::new(grid.clone()),
            workflows: BTreeMap::new(),
        }
    }

    /// The actors, with the addresses of these seats.
    ///
    /// # Errors
    /// If a speed or a load is not valid.
    pub fn actors(mut self, seats: Seats) -> Result<PlansActors, ClusterError> {
        let count = self.clusters.len() as u32;
        let clusters = Vec::from_iter((0..count).map(|number| seats.place(number)));
        let [rescheduler, updates] = [0, 1].map(|number| seats.service(number));
        let mut places = Vec::with_capacity(clusters.len());
        // Epoch 0 before the source goes to the updates, which begin with epoch 1.
        let loads = self.loads.at(0);
        for ((number, planned), loads) in (0..).zip(self.clusters).zip(loads) {
            let draws = stream(self.seed, &planned.name, "plans");
            let config = ClusterConfig {
                id: ProviderId(seats.place(number).0),
                seats,
                speed: planned.speed,
                loads,
                method: self.method,
                search: self.search,
                threshold: self.threshold,
                costs: planned.costs,
                monitor_delay: self.monitor_delay,
                errors: self.errors,
            };
            places.push(AnyActor::Cluster(Box::new(Cluster::new(config, draws)?)));
        }
        let config = ReschedulerConfig {
            clusters: clusters.clone(),
            updates: (self.updates == Updates::AfterInterval).then_some(updates),
            threshold: self.threshold,
            reschedules: self.method.is_some(),
            workflows: self.workflows,
        };
        let metascheduler = AnyActor::Rescheduler(Box::new(Rescheduler::new(config)));
        let first = ResourceUpdates::first(&self.updates);
        let initial = first.map(|at| (at, updates, Message::Wake(Timer::LoadsChange)));
        let initial = initial.into_iter().collect();
        let source = ResourceUpdates::new(clusters, self.updates, self.loads);
        let services = vec![metascheduler, AnyActor::ResourceUpdates(Box::new(source))];
        Ok(PlansActors { places, services, rescheduler, initial })
    }
}
