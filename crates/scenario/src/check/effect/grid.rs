//! Keys of a grid that have no effect.

use crate::check::Check;
use crate::check::exclusions::progress;
use crate::check::rule::{Effect, Words, effect, item};
use crate::file::{
    BalancedWorkflow, Failures, Grid, GridPolicy, Load, NetworkModel, Prediction, Site,
    TaskEstimates, TaskProgress, Underestimate, Workload,
};
use crate::quantity::Name;
use haggle_config::document::Path;
use haggle_model::Disclosure;

/// Facts about the jobs and the resources of a grid.
struct Jobs {
    /// Resources fail.
    fails: bool,
    /// Some jobs are tasks of workflows.
    tasks: bool,
    /// Some jobs are none.
    others: bool,
    /// Some tasks report their progress.
    progress: bool,
    /// The grid has checkpoints.
    saves: bool,
    /// Highest disclosure that a metascheduler asks for.
    asked: Option<Disclosure>,
}

#[rustfmt::skip] // a table
const POLICIES: &[Effect<Grid, Jobs>] = &[
    effect("restart-needs-input", |it, _| it.saves(), "no job starts from a checkpoint", CHOOSE),
    effect("policy.outages", |_, of| of.fails, "none of its resources fails", "remove it, or add [[failures]] `of` a site"),
];

const CHOOSE: &str = "remove it, or choose another policy (`haggle list grid-policies`)";

#[rustfmt::skip] // a table
const BALANCED: &[Effect<BalancedWorkflow, Jobs>] = &[
    effect("gain floor group evict prediction bound estimate counts-checkpoint", |_, of| of.tasks,
        "no workload has workflows, and other jobs are not moved", "remove it, or add a workload with `model = \"workflows\"`"),
    effect("prediction bound estimate", |_, of| of.progress, "no task reports its progress",
        "remove it, or add `progress` to [workload.workflows]"),
    effect("bound", |it, _| it.prediction == Prediction::CurveFit, "no curve is fitted under this prediction",
        "remove it, or set `prediction = \"curve-fit\"`"),
    effect("counts-checkpoint", |_, of| of.saves, "the grid has no [grid.checkpoints]: neither a checkpoint nor a recovery takes time",
        "remove it, or add [grid.checkpoints]"),
];

#[rustfmt::skip] // a table
const GRIDS: &[Effect<Grid, Jobs>] = &[
    effect("disclosure", |_, of| of.asked.is_some(), "no metascheduler uses the grid", USE_GRID),
    effect("disclosure", |it, of| of.asked.is_some_and(|asked| it.disclosure() <= asked), "its metaschedulers request at most \"{asked}\"",
        USE_GRID),
    effect("overflow", |_, of| of.others, "all of its jobs are tasks of workflows, which stay", "remove it"),
];

const USE_GRID: &str =
    "remove it, or let a metascheduler with `placement = \"least-loaded\"` use the grid";

/// Keys of a constant network.
#[rustfmt::skip] // a table
const CONSTANT: &[Effect<Grid>] = &[
    effect("wan-bandwidth wan-latency sharing", |_, ()| false, "in a constant network every transfer has its own bandwidth and latency",
        "remove it, or set `model = \"stars\"`"),
];

/// Sites; the fact is true under a static schedule.
#[rustfmt::skip] // a table
const SITES: &[Effect<Site, bool>] = &[
    effect("slots", |_, &statically| !statically, "under this policy a resource has one task at a time", CHOOSE),
];

#[rustfmt::skip] // a table
const LOADS: &[Effect<Load>] = &[
    effect("change-min change-max", |it, ()| it.period.is_some(), "without a `period` the load does not change",
        "remove it, or add how often the load changes, such as `period = \"1h\"`"),
];

/// Progress of tasks; the fact is true if the policy reads their reports.
#[rustfmt::skip] // a table
const PROGRESS: &[Effect<TaskProgress, bool>] = &[
    effect("noise step", |_, &heard| heard, "no report of a task is read under this policy", BALANCE),
    effect("amplitude amplitude-max amplitude-of", |it, &heard| heard || it.a_priori || lengthens(it), NOT_STATED, BALANCE),
    effect("floor decay", |it, &heard| heard || it.a_priori, NOT_STATED, BALANCE),
];

const BALANCE: &str = "remove it, or set `policy = \"balanced-workflow\"`";
const NOT_STATED: &str =
    "no report of a task is read under this policy, and users state no lengths in advance";

/// True if some tasks take longer than they state.
fn lengthens(it: &TaskProgress) -> bool {
    it.under == Underestimate::Longer
        && matches!(it.estimates, TaskEstimates::Under | TaskEstimates::Mixed)
}

impl Check<'_> {
    pub(super) fn grid_effects(&mut self) {
        let scenario = self.scenario;
        let Some(grid) = &scenario.grid else { return };
        let path = Path::root().key("grid");
        let mut own = scenario.workloads.iter().filter(|it| self.directory.may_run_on_grid(it));
        let users = scenario.metaschedulers.iter().filter(|it| scenario.uses_grid(it));
        let jobs = Jobs {
            fails: self.fails(grid),
            tasks: own.clone().any(|it| it.workflows.is_some()),
            others: own.clone().any(|it| it.workflows.is_none()),
            progress: own.any(|it| progress(it).is_some()),
            saves: grid.checkpoints.is_some(),
            asked: users.map(|it| it.needs(&scenario.own)).max(),
        };
        self.effects(POLICIES, &path, (grid, &jobs), "the grid", &[]);
        if let GridPolicy::BalancedWorkflow(rules) = &grid.policy {
            self.effects(BALANCED, &path.key("policy"), (rules, &jobs), "the grid", &[]);
        }
        self.progress_effects(grid);
        let asked = jobs.asked.map_or("", Disclosure::name);
        let words: Words<'_> = &[("asked", &asked)];
        self.effects(GRIDS, &path, (grid, &jobs), "the grid", words);
        if let Some(checkpoints) = &grid.checkpoints {
            self.grid_rule_effects(&path.key("checkpoints"), checkpoints);
        }
        if grid.network.model == NetworkModel::Constant {
            self.effects(CONSTANT, &path.key("network"), (grid, &()), "the grid's network", &[]);
        }
        self.site_effects(&path, grid);
        let users = scenario.users.iter().enumerate();
        for (index, _) in users.filter(|(_, user)| scenario.submits_to_grid(user)) {
            let at = item("user", index).key("patience");
            let why = "sessions do not wait: they are placed when they arrive, or rejected";
            self.uses(&at, !grid.policy.takes_sessions(), "a user of sessions", why, "remove it");
        }
    }

    fn site_effects(&mut self, path: &Path, grid: &Grid) {
        let statically = matches!(grid.policy, GridPolicy::StaticWorkflow { .. });
        for (index, site) in grid.sites.iter().enumerate() {
            let at = path.key("site").index(index);
            let owner = format!("site \"{}\"", site.name);
            self.effects(SITES, &at, (site, &statically), &owner, &[]);
            if let Some(load) = &site.load {
                let owner = format!("the load of {owner}");
                self.effects(LOADS, &at.key("load"), (load, &()), &owner, &[]);
            }
        }
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
            let at = item("workload", index).key("workflows").key("progress");
            let owner = format!("the progress of workload \"{}\"", workload.name);
            self.effects(PROGRESS, &at, (&progress, &heard), &owner, &[]);
        }
    }

    /// True if resources of the grid fail.
    fn fails(&self, grid: &Grid) -> bool {
        let site = |name: &Name| grid.sites.iter().any(|site| site.name == *name);
        let of_grid = |it: &Failures| it.of.is_empty() || it.of.iter().any(site);
        self.scenario.processor_failures().any(of_grid)
    }
}
