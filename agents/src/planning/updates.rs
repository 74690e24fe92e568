//! Resource updates: an actor that notifies clusters of their loads.

use std::fmt;
use std::sync::Arc;

use dyn_clone::DynClone;
use haggle_model::random::stream;
use haggle_model::{ActorId, Span, Time};
use haggle_planning::PlanLinks;
use haggle_planning::synthetic::{GridLoads, SyntheticGrid, symmetric};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::glimpse::{Fact, FactKind, Glimpse};
use crate::protocol::planning::{ClusterLoads, LinkLoads};
use crate::protocol::{Message, PlanningMessage, RunMessage, Timer};
use crate::{Actor, Outbox};

/// A source of loads.
#[typetag::serde]
pub trait LoadSource: DynClone + fmt::Debug + Send {
    /// Availability of each cluster in an epoch; epoch 0 is the start of the run.
    fn at(&mut self, epoch: usize) -> Vec<ClusterLoads>;
}

dyn_clone::clone_trait_object!(LoadSource);

/// Drawn loads. The loads of a cluster in an epoch depend only on the seed, its name and the epoch.
/// So they are the same for all planners, and other clusters do not affect them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnLoads {
    /// The run's seed.
    pub seed: u64,
    /// The clusters.
    pub clusters: Vec<LoadRanges>,
    /// Kind of the links between machines.
    pub links: PlanLinks,
    /// Availability of the links between clusters.
    pub ways: DrawnWays,
}

/// Ranges of the loads of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadRanges {
    /// The cluster's name.
    pub name: String,
    /// Number of its machines.
    pub machines: u32,
    /// Available part of a processor, from and to.
    pub cpu: (f64, f64),
    /// Available part of a link, from and to.
    pub links: (f64, f64),
}

/// Availability of the links between clusters, drawn from the seed, the names of both and the
/// epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnWays {
    /// The run's seed.
    pub seed: u64,
    /// The names of the clusters.
    pub clusters: Vec<String>,
    /// The available part, from and to.
    pub range: (f64, f64),
}

impl DrawnWays {
    /// The available part of the link from each cluster to each, in an epoch; 1 on the diagonal.
    pub(super) fn at(&self, epoch: usize) -> Vec<Vec<f64>> {
        let purpose = format!("loads {epoch}");
        symmetric(self.clusters.len(), |one, other| {
            let names = format!("{} {}", self.clusters[one], self.clusters[other]);
            stream(self.seed, &names, &purpose).random_range(self.range.0..=self.range.1)
        })
    }
}

#[typetag::serde]
impl LoadSource for DrawnLoads {
    fn at(&mut self, epoch: usize) -> Vec<ClusterLoads> {
        let purpose = format!("loads {epoch}");
        let all = self.clusters.iter().zip(self.ways.at(epoch));
        let all = all.map(|(LoadRanges { name, machines, cpu, links }, ways)| {
            // A stream for each cluster and epoch, so that no other cluster affects these draws.
            let mut draws = stream(self.seed, name, &purpose);
            let mut part = |(low, high): (f64, f64)| draws.random_range(low..=high);
            let cpu = (0..*machines).map(|_| part(*cpu)).collect();
            let links = match self.links {
                PlanLinks::Uplinks => {
                    LinkLoads::Uplinks((0..*machines).map(|_| part(*links)).collect())
                }
                PlanLinks::Pairs => {
                    LinkLoads::Pairs(symmetric(*machines as usize, |_, _| part(*links)))
                }
            };
            ClusterLoads { cpu, links, ways }
        });
        all.collect()
    }
}

#[typetag::serde]
impl LoadSource for SyntheticGrid {
    fn at(&mut self, epoch: usize) -> Vec<ClusterLoads> {
        let GridLoads { clusters, between } = self.loads(epoch);
        let loads = clusters.into_iter().zip(between);
        let loads = loads.map(|((cpu, uplinks), ways)| ClusterLoads {
            cpu,
            links: LinkLoads::Uplinks(uplinks),
            ways,
        });
        loads.collect()
    }
}

/// Times at which loads change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Updates {
    /// When an interval is over, or a phase of an application that is not rescheduled.
    AfterInterval,
    /// Periodically.
    Every(Span),
    /// At these instants, ascending: the n-th of them begins epoch n, from 1.
    At(Vec<Time>),
}

/// Notifies clusters of their loads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResourceUpdates {
    clusters: Vec<ActorId>,
    updates: Updates,
    source: Box<dyn LoadSource>,
    epoch: usize,
}

impl ResourceUpdates {
    /// The number of changes so far.
    pub(crate) fn glimpse(&self) -> Glimpse {
        Glimpse::of_facts(vec![Fact::own(FactKind::Changes, self.epoch as f64)])
    }
}

impl ResourceUpdates {
    /// Updates for these clusters, which know the loads of epoch 0. The driver must set the first
    /// timer, see [`ResourceUpdates::first`].
    pub fn new(
        clusters: Vec<ActorId>,
        updates: Updates,
        source: Box<dyn LoadSource>,
    ) -> ResourceUpdates {
        ResourceUpdates { clusters, updates, source, epoch: 0 }
    }

    /// Time of the first wake-up for [`Timer::LoadsChange`].
    pub fn first(updates: &Updates) -> Option<Time> {
        ResourceUpdates::next(updates, Time::ZERO, 0)
    }

    /// Time of the next change of loads after `now`, the beginning of an epoch.
    fn next(updates: &Updates, now: Time, epoch: usize) -> Option<Time> {
        match updates {
            Updates::AfterInterval => None,
            Updates::Every(period) => Some(now + *period),
            Updates::At(instants) => instants.get(epoch).copied(),
        }
    }

    fn change(&mut self, out: &mut Outbox) {
        self.epoch += 1;
        let loads = self.source.at(self.epoch);
        for (&cluster, loads) in self.clusters.iter().zip(loads) {
            out.send(cluster, PlanningMessage::Loads(Arc::new(loads)));
        }
    }
}

impl Actor for ResourceUpdates {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            // Each rule of changes has its own messages, and those of the other rule are refused.
            Message::Wake(Timer::LoadsChange) if self.updates != Updates::AfterInterval => {
                self.change(out);
                // After `change`, which begins the epoch whose end is looked up here.
                if let Some(next) = ResourceUpdates::next(&self.updates, now, self.epoch) {
                    out.wake(next, Timer::LoadsChange);
                }
            }
            Message::Planning(PlanningMessage::Redraw)
                if self.updates == Updates::AfterInterval =>
            {
                self.change(out);
                // After the loads, so that clusters have them when the rescheduler asks for the next plan.
                out.send(from, PlanningMessage::Redrawn);
            }
            // This actor has no jobs to record.
            Message::Run(RunMessage::RunOver) => {}
            _ => out.refuse(from),
        }
    }
}
