//! Clusters on which applications of many phases are rescheduled: what goes together, and what has no
//! effect.

use super::Check;
use super::mapping::is_iterative;
use crate::scenario::document::Path;
use crate::scenario::file::{EventsOrder, Model, PlanMethod, Plans, Workload};
use crate::scenario::quantity::{Name, Share, TimeSpan};

/// The smallest part of a machine or link that may be available, in percent.
const LEAST: f64 = 0.01;

impl Check<'_> {
    pub(super) fn check_plans(&mut self) {
        self.check_who_reschedules();
        let Some(plans) = &self.scenario.plans else { return };
        let scenario = self.scenario;
        let path = Path::root().key("plans");
        if !scenario.providers.is_empty()
            || !scenario.metaschedulers.is_empty()
            || scenario.grid.is_some()
        {
            self.report(
                &path,
                "a scenario has either providers, a grid or plans".to_owned(),
                "plans",
                "remove the [[provider]]s, [[metascheduler]]s and [grid], or [plans]".to_owned(),
            );
        }
        if let Some(period) = plans.period {
            self.check_recurring(&path.key("period"), period);
            if period == TimeSpan::ZERO {
                self.report(
                    &path.key("period"),
                    "between changes of loads there must be some time".to_owned(),
                    "no time",
                    "write a length of time above zero, or remove it: loads change when an interval \
                     is over then"
                        .to_owned(),
                );
            }
        }
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
        let network = &scenario.network;
        let at = Path::root().key("network");
        for (key, takes_time) in [
            ("latency", network.latency > TimeSpan::ZERO),
            ("jitter", network.jitter > TimeSpan::ZERO),
            ("link", !network.links.is_empty()),
        ] {
            if takes_time {
                self.report(
                    &at.key(key),
                    "messages between clusters and their metascheduler take no time".to_owned(),
                    "not used",
                    "remove it; what checkpoints take is in [plans]".to_owned(),
                );
            }
        }
        if scenario.scenario.events_order != EventsOrder::default() {
            self.report(
                &Path::root().key("scenario").key("events-order"),
                "with plans nothing depends on whether ends come before submissions".to_owned(),
                "not used",
                "remove it; only providers can have either order".to_owned(),
            );
        }
    }

    /// Something of everything is available, and at most all of it.
    fn check_parts(&mut self, path: &Path, min: (&str, Share), max: (&str, Share)) {
        let ((low, least), (high, most)) = (min, max);
        if least.fraction() * 100.0 < LEAST {
            self.report(
                &path.key(low),
                format!("`{low}` is {least}, needs at least {LEAST}%"),
                "too little to get anywhere",
                None,
            );
        } else if most.fraction() > 1.0 {
            self.report(
                &path.key(high),
                format!("`{high}` is {most}, more than there is"),
                "at most 100%",
                None,
            );
        } else if least.fraction() > most.fraction() {
            self.report(
                path,
                format!("`{low}` is {least}, more than `{high}`, {most}"),
                "no part is both",
                "the smaller one is the minimum".to_owned(),
            );
        }
    }

    /// Applications are submitted to who reschedules them, and nothing else is.
    fn check_who_reschedules(&mut self) {
        let scenario = self.scenario;
        let name = scenario.plans.as_ref().map(|plans| &plans.name);
        for (index, workload) in scenario.workloads.iter().enumerate() {
            let path = Path::root().key("workload").index(index);
            if is_given_whole(workload) && !workload.steps.is_empty() {
                self.report(
                    &path.key("step"),
                    "applications are as their model says: no step changes them".to_owned(),
                    "not used",
                    "remove the steps".to_owned(),
                );
            }
            let mut merged = workload.merge.iter().flatten();
            let applications = |name: &Name| {
                scenario.workloads.iter().any(|it| it.name == *name && is_given_whole(it))
            };
            if let Some(part) = merged.position(applications) {
                self.report(
                    &path.key("merge").index(part),
                    "workloads of applications are not merged".to_owned(),
                    "applications",
                    "let a user of their own submit them".to_owned(),
                );
            }
        }
        for (index, user) in scenario.users.iter().enumerate() {
            let Some(workload) = scenario.workloads.iter().find(|it| it.name == user.workload)
            else {
                continue;
            };
            let path = Path::root().key("user").index(index);
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

    pub(super) fn plan_effects(&mut self) {
        let Some(plans) = &self.scenario.plans else { return };
        let path = Path::root().key("plans");
        let reschedules = plans.method != PlanMethod::None;
        let moves = reschedules && plans.clusters.len() > 1;
        let changes = draws(plans);
        let sends = reschedules && plans.checkpoint.0 > 0;
        let why_not = "without rescheduling no application moves";
        let why_one = "no application moves to another cluster";
        let rows = [
            ("threshold", reschedules, "without rescheduling there is one interval"),
            ("within", reschedules, why_not),
            ("checkpoint", reschedules, why_not),
            ("monitor-delay", reschedules && changes, "no plan is made after loads have changed"),
            ("period", changes, "loads do not change: what is available has one value only"),
            ("between", moves, why_one),
            ("bandwidth", moves && sends, "no checkpoint moves to another cluster"),
            ("available-min", moves && sends, "no checkpoint moves to another cluster"),
            ("available-max", moves && sends, "no checkpoint moves to another cluster"),
        ];
        for (key, read, why) in rows {
            self.uses(&path.key(key), read, "plans", why, "remove it");
        }
        for (index, cluster) in plans.clusters.iter().enumerate() {
            let at = path.key("cluster").index(index);
            let owner = format!("cluster \"{}\"", cluster.name);
            let why = "no checkpoint moves here";
            self.uses(&at.key("bandwidth"), sends, &owner, why, "remove it");
            let why = "one machine alone has nobody to communicate with";
            for key in ["link-min", "link-max"] {
                self.uses(&at.key(key), cluster.machines > 1, &owner, why, "remove it");
            }
        }
    }
}

/// Whether the jobs of a workload are applications of phases.
pub(super) fn is_of_applications(workload: &Workload) -> bool {
    workload.model == Some(Model::Applications)
}

/// Whether the jobs of a workload are as their model says, whatever they are submitted to.
fn is_given_whole(workload: &Workload) -> bool {
    is_of_applications(workload) || is_iterative(workload)
}

/// Whether any load is drawn from more than one value.
pub(in crate::scenario::check) fn draws(plans: &Plans) -> bool {
    let ways = plans.clusters.len() > 1 && plans.available_min != plans.available_max;
    ways || plans
        .clusters
        .iter()
        .any(|it| it.cpu_min != it.cpu_max || it.link_min != it.link_max && it.machines > 1)
}
