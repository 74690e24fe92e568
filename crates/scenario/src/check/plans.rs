//! Plans for applications of many phases on clusters: keys that fit together.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::mapping::is_iterative;
use crate::file::{MeasuredTimes, Model, PlanGenetic, PlanLinks, PlanSearch, Plans, Workload};
use crate::quantity::{Name, Share, TimeSpan};
use haggle_config::document::Path;

/// Smallest part of a machine or link that may be available, in percent.
const LEAST: f64 = 0.01;
/// Largest numbers of machines with links of pairs for the searches: within a budget, to the end, and over all
/// sets.
const WITHIN_BUDGET_MAX: u32 = 256;
const PAIRS_MAX: u32 = 64;
const SCANNED_MAX: u32 = 12;

impl Check<'_> {
    pub(super) fn check_plans(&mut self) {
        self.check_who_reschedules();
        let Some(plans) = &self.scenario.plans else { return };
        let path = Path::root().key("plans");
        if let Some(period) = plans.period {
            self.check_recurring(&path.key("period"), period);
            if period == TimeSpan::ZERO {
                self.report(
                    &path.key("period"),
                    "the time between changes of loads must be above zero".to_owned(),
                    "no time",
                    "write a length of time above zero, or remove it: loads then change when an \
                     interval is over"
                        .to_owned(),
                );
            }
        }
        self.check_loads_of_clusters(&path, plans);
        self.check_pairs(&path, plans);
        self.check_genetic(&path.key("genetic"), &plans.genetic);
        self.check_parts(
            &path,
            ("available-min", plans.available_min),
            ("available-max", plans.available_max),
        );
        for (index, cluster) in plans.clusters.iter().enumerate() {
            let path = path.key("cluster").index(index);
            self.check_parts(&path, ("cpu-min", cluster.cpu_min), ("cpu-max", cluster.cpu_max));
            self.check_parts(&path, ("link-min", cluster.link_min), ("link-max", cluster.link_max));
        }
        self.refuse_times_of_messages("times of checkpoints are in [plans]");
        self.refuse_order_of_events("with plans, the order of ends and submissions has no effect");
    }

    /// Recorded loads exclude the keys of drawn ones.
    fn check_loads_of_clusters(&mut self, path: &Path, plans: &Plans) {
        let Some(loads) = &plans.loads else { return };
        self.check_file(&path.key("loads"), "log", loads);
        if plans.period.is_some() {
            self.report(
                &path.key("period"),
                "loads change at the times of their record, not periodically".to_owned(),
                "not used",
                "remove it, or `loads`".to_owned(),
            );
        }
        if plans.links == PlanLinks::Pairs {
            self.report(
                &path.key("links"),
                "a record of loads has one link for each machine, not for each pair".to_owned(),
                "not recorded",
                "remove it, or `loads`".to_owned(),
            );
        }
    }

    /// With a link for each pair of machines, a search builds sets greedily many times, so it can take fewer
    /// machines.
    fn check_pairs(&mut self, path: &Path, plans: &Plans) {
        if plans.links != PlanLinks::Pairs {
            return;
        }
        let most = match plans.search {
            PlanSearch::BoxesWithinBudget => WITHIN_BUDGET_MAX,
            PlanSearch::Hulls | PlanSearch::Boxes => PAIRS_MAX,
            PlanSearch::Scan => SCANNED_MAX,
        };
        for (index, cluster) in plans.clusters.iter().enumerate() {
            if cluster.machines > most {
                self.report(
                    &path.key("cluster").index(index).key("machines"),
                    format!(
                        "cluster \"{}\" has {} machines, and with links of pairs this search can take \
                         at most {most}",
                        cluster.name, cluster.machines
                    ),
                    "too many",
                    "lower it, set `links = \"uplinks\"`, or `search = \"boxes-within-budget\"`"
                        .to_owned(),
                );
            }
        }
    }

    fn check_genetic(&mut self, path: &Path, genetic: &PlanGenetic) {
        if genetic.elite.fraction() >= 1.0 {
            self.report(
                &path.key("elite"),
                format!("`elite` is {}, needs less than 100%", genetic.elite),
                "any plan is that close",
                "lower it, such as `elite = \"10%\"`".to_owned(),
            );
        }
    }

    /// Measured times must name clusters of the scenario, and no more machines than these have.
    fn check_measured(&mut self, path: &Path, rows: &[MeasuredTimes]) {
        let clusters = self.scenario.plans.iter().flat_map(|plans| &plans.clusters);
        let clusters: BTreeMap<&str, u32> =
            clusters.map(|it| (it.name.as_str(), it.machines)).collect();
        let phases = rows.first().map_or(0, |row| row.times.len());
        let mut known = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            let path = path.index(index);
            let name = row.cluster.as_str();
            match clusters.get(name) {
                None => {
                    let names = clusters.keys().copied().collect();
                    self.unknown_name(&path.key("cluster"), "cluster", name, &names);
                }
                Some(&machines) if row.machines > machines => self.report(
                    &path.key("machines"),
                    format!("more machines than cluster \"{name}\" has, {machines}"),
                    "more than there are",
                    "lower it, or give the cluster more machines".to_owned(),
                ),
                Some(_) => {}
            }
            if row.times.len() != phases {
                self.report(
                    &path.key("times"),
                    format!(
                        "not the times of as many phases as in the first row, {phases}, but {}",
                        row.times.len()
                    ),
                    "other phases",
                    "write the times of the same phases in every row".to_owned(),
                );
            }
            if let Some(before) = known.insert((name, row.machines), index + 1) {
                self.report(
                    &path.key("machines"),
                    format!("row {before} is about as many machines of cluster \"{name}\""),
                    "again",
                    "keep one of them".to_owned(),
                );
            }
        }
    }

    /// The available parts must be from [`LEAST`] to 100%, and the minimum must not exceed the maximum.
    fn check_parts(&mut self, path: &Path, min: (&str, Share), max: (&str, Share)) {
        let ((low, least), (high, most)) = (min, max);
        if least.fraction() * 100.0 < LEAST {
            self.report(
                &path.key(low),
                format!("`{low}` is {least}, needs at least {LEAST}%"),
                "too little",
                format!("write at least \"{LEAST}%\""),
            );
        } else if most.fraction() > 1.0 {
            self.report(
                &path.key(high),
                format!("`{high}` is {most}, more than 100%"),
                "at most 100%",
                "write at most \"100%\"".to_owned(),
            );
        } else if least.fraction() > most.fraction() {
            self.report(
                path,
                format!("`{low}` is {least}, more than `{high}`, {most}"),
                "the two contradict each other",
                "the smaller one is the minimum".to_owned(),
            );
        }
    }

    /// Applications must be submitted to plans, and all other jobs must not.
    fn check_who_reschedules(&mut self) {
        let scenario = self.scenario;
        let name = scenario.plans.as_ref().map(|plans| &plans.name);
        for (index, workload) in scenario.workloads.iter().enumerate() {
            let path = Path::root().key("workload").index(index);
            if is_given_whole(workload) && !workload.steps.is_empty() {
                self.report(
                    &path.key("step"),
                    "applications come from their model, and no step can change them".to_owned(),
                    "not used",
                    "remove the steps".to_owned(),
                );
            }
            let measured = workload.applications.as_ref().and_then(|it| it.measured.as_ref());
            if let Some(rows) = measured.filter(|_| scenario.plans.is_some()) {
                self.check_measured(&path.key("applications").key("measured"), rows);
            }
            let mut merged = workload.merge.iter().flatten();
            let applications =
                |name: &Name| self.directory.workload(name.as_str()).is_some_and(is_given_whole);
            if let Some(part) = merged.position(applications) {
                self.report(
                    &path.key("merge").index(part),
                    "workloads of applications are not merged".to_owned(),
                    "applications",
                    "let a user of their own submit them".to_owned(),
                );
            }
        }
        let mut submitted = BTreeSet::new();
        for (index, user) in scenario.users.iter().enumerate() {
            let Some(workload) = self.directory.workload(user.workload.as_str()) else { continue };
            let path = Path::root().key("user").index(index);
            let has_workflows = workload.applications.as_ref().is_some_and(|it| it.is_workflows());
            if has_workflows && !submitted.insert(workload.name.as_str()) {
                self.submitted_again(&path.key("workload"), &workload.name);
            }
            match (is_of_applications(workload), name == Some(&user.submits_to)) {
                (true, false) => self.report(
                    &path.key("workload"),
                    "applications of phases are rescheduled by [plans] alone".to_owned(),
                    "applications",
                    "submit them to [plans]".to_owned(),
                ),
                (false, true) => self.report(
                    &path.key("workload"),
                    "[plans] reschedules applications of phases, and takes no other jobs"
                        .to_owned(),
                    "other jobs",
                    "submit a workload with `model = \"applications\"`".to_owned(),
                ),
                _ => {}
            }
        }
    }
}

/// True if the jobs of a workload are applications of phases.
pub(super) fn is_of_applications(workload: &Workload) -> bool {
    workload.model == Some(Model::Applications)
}

/// True if no step or merger may change the jobs of a workload.
fn is_given_whole(workload: &Workload) -> bool {
    is_of_applications(workload) || is_iterative(workload)
}
