//! Keys of a grid that have no effect.

use crate::check::Check;
use crate::file::{
    Failures, Grid, GridPolicy, NetworkModel, Prediction, TaskEstimates, TaskProgress,
    Underestimate, Workload,
};
use crate::quantity::Name;
use haggle_config::document::Path;

impl Check<'_> {
    pub(super) fn grid_effects(&mut self) {
        let Some(grid) = &self.scenario.grid else { return };
        let path = Path::root().key("grid");
        self.grid_policy_effects(&path, grid);
        let users = self.scenario.metaschedulers.iter().filter(|it| self.scenario.uses_grid(it));
        let asked = users.map(|it| it.needs(&self.scenario.own)).max();
        let why = match asked {
            None => "no metascheduler uses the grid".to_owned(),
            Some(asked) => {
                format!("its metaschedulers request at most \"{}\"", asked.name())
            }
        };
        let read = asked.is_some_and(|asked| grid.disclosure() <= asked);
        let remedy =
            "remove it, or let a metascheduler with `placement = \"least-loaded\"` use the grid";
        self.uses(&path.key("disclosure"), read, "the grid", &why, remedy);
        let mut own =
            self.scenario.workloads.iter().filter(|it| self.directory.may_run_on_grid(it));
        let jobs = own.any(|it| it.workflows.is_none());
        let why = "all of its jobs are tasks of workflows, which stay";
        self.uses(&path.key("overflow"), jobs, "the grid", why, "remove it");
        if let Some(checkpoints) = &grid.checkpoints {
            self.grid_rule_effects(&path.key("checkpoints"), checkpoints);
        }
        if grid.network.model == NetworkModel::Constant {
            let network = path.key("network");
            for key in ["wan-bandwidth", "wan-latency", "sharing"] {
                self.uses(
                    &network.key(key),
                    false,
                    "the grid's network",
                    "in a constant network every transfer has its own bandwidth and latency",
                    "remove it, or set `model = \"stars\"`",
                );
            }
        }
        for (index, site) in grid.sites.iter().enumerate() {
            self.uses(
                &path.key("site").index(index).key("slots"),
                !matches!(grid.policy, GridPolicy::StaticWorkflow { .. }),
                &format!("site \"{}\"", site.name),
                "under this policy a resource has one task at a time",
                "remove it, or choose another policy (`haggle list grid-policies`)",
            );
            let Some(load) = site.load else { continue };
            for key in ["change-min", "change-max"] {
                self.uses(
                    &path.key("site").index(index).key("load").key(key),
                    load.period.is_some(),
                    &format!("the load of site \"{}\"", site.name),
                    "without a `period` the load does not change",
                    "remove it, or add how often the load changes, such as `period = \"1h\"`",
                );
            }
        }
        let users = self.scenario.users.iter().enumerate();
        for (index, _) in users.filter(|(_, user)| self.scenario.submits_to_grid(user)) {
            let at = Path::root().key("user").index(index).key("patience");
            let why = "sessions do not wait: they are placed when they arrive, or rejected";
            self.uses(&at, !grid.policy.takes_sessions(), "a user of sessions", why, "remove it");
        }
    }

    fn grid_policy_effects(&mut self, path: &Path, grid: &Grid) {
        let saves = grid.saves();
        let remedy = "remove it, or choose another policy (`haggle list grid-policies`)";
        let why = "no job starts from a checkpoint";
        self.uses(&path.key("restart-needs-input"), saves, "the grid", why, remedy);
        let policy = path.key("policy");
        self.uses(
            &policy.key("outages"),
            self.fails(grid),
            "the grid",
            "none of its resources fails",
            "remove it, or add [[failures]] `of` a site",
        );
        let mut own =
            self.scenario.workloads.iter().filter(|it| self.directory.may_run_on_grid(it));
        let moves_tasks = own.clone().any(|it| it.workflows.is_some());
        let told = own.any(|it| progress(it).is_some());
        if let GridPolicy::BalancedWorkflow(rules) = &grid.policy {
            let flows = (
                moves_tasks,
                "no workload has workflows, and other jobs are not moved",
                "remove it, or add a workload with `model = \"workflows\"`",
            );
            let progress = (
                told,
                "no task reports its progress",
                "remove it, or add `progress` to [workload.workflows]",
            );
            let fits = match told {
                true => (
                    rules.prediction == Prediction::CurveFit,
                    "no curve is fitted under this prediction",
                    "remove it, or set `prediction = \"curve-fit\"`",
                ),
                false => progress,
            };
            let costs = (
                grid.checkpoints.is_some(),
                "the grid has no [grid.checkpoints]: neither a checkpoint nor a recovery takes time",
                "remove it, or add [grid.checkpoints]",
            );
            for (key, needs) in [
                ("gain", flows),
                ("floor", flows),
                ("group", flows),
                ("evict", flows),
                ("prediction", progress),
                ("bound", fits),
                ("estimate", progress),
                ("counts-checkpoint", costs),
            ] {
                let (read, why, remedy) = if moves_tasks { needs } else { flows };
                self.uses(&policy.key(key), read, "the grid", why, remedy);
            }
        }
        self.progress_effects(grid);
    }

    /// Keys of the progress that tasks report, if no policy reads the reports.
    fn progress_effects(&mut self, grid: &Grid) {
        let balanced =
            matches!(grid.policy, GridPolicy::BalancedWorkflow(_) | GridPolicy::Own { .. });
        let directory = self.directory;
        let own = |workload: &&Workload| directory.may_run_on_grid(workload);
        // After a failure, the policy places a task using its reports, too.
        let heard = balanced || matches!(grid.policy, GridPolicy::Workflow {}) && self.fails(grid);
        let workloads = self.scenario.workloads.iter().enumerate();
        for (index, workload) in workloads.filter(|(_, it)| own(it)) {
            let Some(progress) = progress(workload) else { continue };
            let at = Path::root().key("workload").index(index).key("workflows").key("progress");
            let owner = format!("the progress of workload \"{}\"", workload.name);
            let remedy = "remove it, or set `policy = \"balanced-workflow\"`";
            for key in ["noise", "step"] {
                let why = "no report of a task is read under this policy";
                self.uses(&at.key(key), heard, &owner, why, remedy);
            }
            let lengthens = progress.under == Underestimate::Longer
                && matches!(progress.estimates, TaskEstimates::Under | TaskEstimates::Mixed);
            for key in ["amplitude", "amplitude-max", "amplitude-of", "floor", "decay"] {
                let why = "no report of a task is read under this policy, and users state no lengths in \
                     advance";
                let read = heard || progress.a_priori || lengthens && key.starts_with("amplitude");
                self.uses(&at.key(key), read, &owner, why, remedy);
            }
        }
    }

    /// True if resources of the grid fail.
    fn fails(&self, grid: &Grid) -> bool {
        let site = |name: &Name| grid.sites.iter().any(|site| site.name == *name);
        let of_grid = |it: &Failures| it.of.is_empty() || it.of.iter().any(site);
        self.scenario.processor_failures().any(of_grid)
    }
}

fn progress(workload: &Workload) -> Option<TaskProgress> {
    workload.workflows.as_ref()?.progress
}
