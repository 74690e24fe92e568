//! Keys of plans that have no effect: no planner reads them, or no load is drawn.

use crate::check::Check;
use crate::check::plans::is_of_applications;
use crate::check::rule::{Effect, effect};
use crate::file::{PlanCluster, PlanLinks, PlanMethod, PlanSearch, Plans, Scenario};
use haggle_config::document::Path;

const RECORDED: &str = "the available parts of machines are in the record `loads`";
const MEASURED: &str = "measured times do not depend on links";

/// Facts about plans.
#[derive(Clone, Copy)]
struct Planned {
    /// The available parts of machines or links change.
    changes: bool,
    /// Links of machines have several available parts.
    links_change: bool,
    /// Phases are modelled, and so may communicate.
    communicates: bool,
}

#[rustfmt::skip] // a table
const PLANS: &[Effect<Plans, Planned>] = &[
    effect("threshold", |it, _| reschedules(it), "without rescheduling there is one interval", "remove it"),
    effect("within checkpoint", |it, _| reschedules(it), "without rescheduling no application moves", "remove it"),
    effect("monitor-delay", |it, at| reschedules(it) && at.changes, "no plan is made after loads have changed", "remove it"),
    effect("period", |_, at| at.changes, "loads do not change: the available part has one value only", "remove it"),
    effect("between", |it, _| moves(it), "no application moves to another cluster", "remove it"),
    effect("bandwidth available-min available-max", |it, _| moves(it) && sends(it), "no checkpoint moves to another cluster", "remove it"),
    effect("search", |_, at| at.communicates, "only applications with modelled phases search for machines", "remove it"),
    effect("search", |it, _| it.links == PlanLinks::Pairs || it.search == PlanSearch::BoxesWithinBudget,
        "with one link for each machine, all searches except the one within a budget find the same sets", "remove it"),
    effect("links", |_, at| at.communicates, MEASURED, "remove it"),
    effect("links", |_, at| at.links_change, "the available part of links has one value only", "remove it"),
];

#[rustfmt::skip] // a table
const GENETIC: &[Effect<Plans>] = &[
    effect("generations population elite crossover mutation", |it, ()| it.method == PlanMethod::Genetic,
        "only `method = \"genetic\"` reads it", "remove it"),
    effect("elite crossover mutation", |it, ()| it.genetic.generations > 0, "there is no generation after the first population",
        "remove it"),
];

/// Facts about the plans of a cluster.
struct OfCluster {
    /// Checkpoints move between clusters.
    sends: bool,
    /// Loads are not recorded.
    drawn: bool,
    communicates: bool,
}

#[rustfmt::skip] // a table
const CLUSTERS: &[Effect<PlanCluster, OfCluster>] = &[
    effect("bandwidth", |_, at| at.sends, "no checkpoint moves here", "remove it"),
    effect("cpu-min cpu-max link-min link-max", |_, at| at.drawn, RECORDED, "remove it"),
    effect("link-min link-max", |_, at| at.communicates, MEASURED, "remove it"),
    effect("link-min link-max", |it, _| it.machines > 1, "a single machine does not communicate", "remove it"),
];

fn reschedules(it: &Plans) -> bool {
    it.method != PlanMethod::None
}

fn moves(it: &Plans) -> bool {
    reschedules(it) && it.clusters.len() > 1
}

fn sends(it: &Plans) -> bool {
    reschedules(it) && it.checkpoint.0 > 0
}

impl Check<'_> {
    pub(super) fn plan_effects(&mut self) {
        let Some(plans) = &self.scenario.plans else { return };
        let path = Path::root().key("plans");
        let planned = Planned {
            changes: plans.loads.is_some() || draws(plans),
            links_change: plans.clusters.iter().any(draws_links),
            communicates: has_models(self.scenario),
        };
        self.effects(PLANS, &path, (plans, &planned), "plans", &[]);
        self.effects(GENETIC, &path.key("genetic"), (plans, &()), "genetic plans", &[]);
        let facts = OfCluster {
            sends: sends(plans),
            drawn: plans.loads.is_none(),
            communicates: planned.communicates,
        };
        for (index, cluster) in plans.clusters.iter().enumerate() {
            let at = path.key("cluster").index(index);
            let owner = format!("cluster \"{}\"", cluster.name);
            self.effects(CLUSTERS, &at, (cluster, &facts), &owner, &[]);
        }
    }
}

/// True if any phase is modelled, and so may communicate.
fn has_models(scenario: &Scenario) -> bool {
    let mut applications = scenario.workloads.iter().filter(|it| is_of_applications(it));
    applications.any(|it| it.applications.as_ref().is_none_or(|it| it.measured.is_none()))
}

fn draws_links(cluster: &PlanCluster) -> bool {
    cluster.machines > 1 && cluster.link_min != cluster.link_max
}

/// True if any load is drawn from more than one value.
pub(super) fn draws(plans: &Plans) -> bool {
    let ways = plans.clusters.len() > 1 && plans.available_min != plans.available_max;
    let machines = |it: &PlanCluster| it.cpu_min != it.cpu_max || draws_links(it);
    ways || plans.loads.is_none() && plans.clusters.iter().any(machines)
}
