//! Keys of plans that have no effect: no planner reads them, or no load is drawn.

use crate::check::Check;
use crate::check::plans::is_of_applications;
use crate::file::{PlanCluster, PlanLinks, PlanMethod, PlanSearch, Plans, Scenario};
use haggle_config::document::Path;

const RECORDED: &str = "the available parts of machines are in the record `loads`";
const MEASURED: &str = "measured times do not depend on links";

impl Check<'_> {
    pub(super) fn plan_effects(&mut self) {
        let Some(plans) = &self.scenario.plans else { return };
        let path = Path::root().key("plans");
        let reschedules = plans.method != PlanMethod::None;
        let moves = reschedules && plans.clusters.len() > 1;
        let changes = plans.loads.is_some() || draws(plans);
        let sends = reschedules && plans.checkpoint.0 > 0;
        let communicates = has_models(self.scenario);
        let why_not = "without rescheduling no application moves";
        let why_one = "no application moves to another cluster";
        let rows = [
            ("threshold", reschedules, "without rescheduling there is one interval"),
            ("within", reschedules, why_not),
            ("checkpoint", reschedules, why_not),
            ("monitor-delay", reschedules && changes, "no plan is made after loads have changed"),
            ("period", changes, "loads do not change: the available part has one value only"),
            ("between", moves, why_one),
            ("bandwidth", moves && sends, "no checkpoint moves to another cluster"),
            ("available-min", moves && sends, "no checkpoint moves to another cluster"),
            ("available-max", moves && sends, "no checkpoint moves to another cluster"),
        ];
        for (key, read, why) in rows {
            self.uses(&path.key(key), read, "plans", why, "remove it");
        }
        self.search_effects(&path, plans, communicates);
        self.genetic_effects(&path.key("genetic"), plans);
        for (index, cluster) in plans.clusters.iter().enumerate() {
            let at = path.key("cluster").index(index);
            let owner = format!("cluster \"{}\"", cluster.name);
            let why = "no checkpoint moves here";
            self.uses(&at.key("bandwidth"), sends, &owner, why, "remove it");
            let drawn = plans.loads.is_none();
            for key in ["cpu-min", "cpu-max"] {
                self.uses(&at.key(key), drawn, &owner, RECORDED, "remove it");
            }
            let alone = "a single machine does not communicate";
            let why = match (drawn, communicates) {
                (false, _) => RECORDED,
                (true, false) => MEASURED,
                (true, true) => alone,
            };
            for key in ["link-min", "link-max"] {
                let read = drawn && communicates && cluster.machines > 1;
                self.uses(&at.key(key), read, &owner, why, "remove it");
            }
        }
    }

    fn search_effects(&mut self, path: &Path, plans: &Plans, communicates: bool) {
        let search = plans.search;
        let pairs = plans.links == PlanLinks::Pairs;
        let why = match communicates {
            true => {
                "with one link for each machine, all searches except the one within a budget find \
                 the same sets"
            }
            false => "only applications with modelled phases search for machines",
        };
        let differs = pairs || search == PlanSearch::BoxesWithinBudget;
        self.uses(&path.key("search"), communicates && differs, "plans", why, "remove it");
        let drawn = plans.clusters.iter().any(draws_links);
        let why = match communicates {
            true => "the available part of links has one value only",
            false => MEASURED,
        };
        self.uses(&path.key("links"), communicates && drawn, "plans", why, "remove it");
    }

    fn genetic_effects(&mut self, path: &Path, plans: &Plans) {
        let is_genetic = plans.method == PlanMethod::Genetic;
        let breeds = is_genetic && plans.genetic.generations > 0;
        let why = match is_genetic {
            false => "only `method = \"genetic\"` reads it",
            true => "there is no generation after the first population",
        };
        let rows = [
            ("generations", is_genetic),
            ("population", is_genetic),
            ("elite", breeds),
            ("crossover", breeds),
            ("mutation", breeds),
        ];
        for (key, read) in rows {
            self.uses(&path.key(key), read, "genetic plans", why, "remove it");
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
