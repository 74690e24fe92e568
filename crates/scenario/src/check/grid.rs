//! Grids: keys that fit together, and runs that end.

use super::exclusions::{GRID, Schedules};
use super::rule::{Refusal, Words, refuse};
use super::{Check, EACH_MAX};
use crate::file::{Grid, GridPolicy, Load, NetworkModel, Replicas, Site, Storage};
use crate::quantity::{Bytes, TimeSpan};
use haggle_config::document::Path;

#[rustfmt::skip] // a table
const GRIDS: &[Refusal<Grid>] = &[
    refuse("policy.replicas", |it, ()| replicas(it).is_some_and(|it| it.min > it.max), "`min` is {min}, more than `max`, {max}",
        "the two contradict each other", "the smaller one is the minimum; they are 1 and 2 if not given"),
    refuse("policy", |it, ()| it.checkpoints.is_none() && matches!(it.policy, GridPolicy::CombinedFt(_)),
        "policy \"combined-ft\" writes checkpoints, but [grid.checkpoints] is missing", "needs checkpoints",
        "add [grid.checkpoints] with a `rule`"),
];

/// Loads of sites.
#[rustfmt::skip] // a table
const LOADS: &[Refusal<Load>] = &[
    refuse("initial-min", |it, ()| it.initial_min > it.initial_max, "`initial-min` is {initial-min}, more than the largest, {initial-max}",
        "the two contradict each other", "the smaller one is the minimum"),
    refuse("change-min", |it, ()| it.change_min > it.change_max, "`change-min` is {change-min}, more than the largest, {change-max}",
        "the two contradict each other", "the smaller one is the minimum"),
    refuse("period", |it, ()| it.period == Some(TimeSpan::ZERO), "a load cannot change all the time", "no time",
        "write a length of time above zero, or remove it"),
];

/// Facts about the scenario of a grid.
struct World {
    /// There is a horizon.
    ends: bool,
    /// Failures or loads never end.
    endless: bool,
    /// Some jobs run on the grid.
    jobs: bool,
    /// Some of them are tasks of workflows.
    tasks: bool,
    /// Largest output of a job.
    output: Option<Bytes>,
}

/// Grids and the rest of their scenario.
#[rustfmt::skip] // a table
const WORLDS: &[Refusal<Grid, World>] = &[
    refuse("", |_, at| at.endless && !at.ends, "resources of this grid never stop changing, and the end of the run is missing", "when?",
        "add `horizon` to [scenario], such as `horizon = \"7d\"`"),
    refuse("policy", |it, at| matches!(it.policy, GridPolicy::StaticWorkflow { .. }) && at.jobs && !at.tasks,
        "static schedules need workflows, and no workload of this grid has any", "no workflows",
        "add a workload with `model = \"workflows\"`, or choose another policy (`haggle list grid-policies`)"),
    // A larger output would wait for ever.
    refuse("storage.capacity", |it, at| it.storage.is_some_and(|it| at.output.is_some_and(|output| output > it.capacity)),
        "the storage holds {capacity}, and an output is {output}", "too small", "make it larger, or the outputs smaller"),
];

#[rustfmt::skip] // a table
const SITES: &[Refusal<Site>] = &[
    refuse("mips-max", |it, ()| it.mips_max.is_some_and(|max| max < it.mips), "the fastest resource has less than `mips`, {mips}",
        "the two contradict each other", "the smaller one is `mips`"),
];

fn replicas(grid: &Grid) -> Option<Replicas> {
    match &grid.policy {
        GridPolicy::LoadDependentRep(it) | GridPolicy::FailureDependentRep(it) => Some(it.replicas),
        GridPolicy::CombinedFt(it) => Some(it.replicas.replicas()),
        _ => None,
    }
}

impl Check<'_> {
    pub(super) fn check_grid(&mut self) {
        let Some(grid) = &self.scenario.grid else { return };
        let path = Path::root().key("grid");
        self.check_recurring(&path.key("period"), grid.period);
        self.check_policy(&path, grid);
        if let Some(checkpoints) = &grid.checkpoints {
            self.check_grid_rule(&path.key("checkpoints"), checkpoints);
        }
        self.check_world_of_grid(&path, grid);
        self.check_loads(&path, grid);
        self.check_resources(&path, grid);
        self.doubt_storage(&path, grid);
        self.check_latencies(&path, grid);
    }

    fn check_policy(&mut self, path: &Path, grid: &Grid) {
        let replicas = replicas(grid).unwrap_or_default();
        let words: Words<'_> = &[("min", &replicas.min), ("max", &replicas.max)];
        self.refuse(GRIDS, path, (grid, &()), words);
        let known = !self.is_replaced(&path.key("policy"));
        let facts = Schedules {
            sessions: grid.policy.takes_sessions() && known,
            saves: grid.policy.takes_checkpoints(&self.scenario.own),
        };
        self.refuse(GRID, path, (grid, &facts), &[]);
    }

    /// Checks a grid together with the workloads and failures of its scenario.
    fn check_world_of_grid(&mut self, path: &Path, grid: &Grid) {
        let scenario = self.scenario;
        let mut own = scenario.workloads.iter().filter(|it| self.directory.may_run_on_grid(it));
        let outputs = scenario.workloads.iter().filter_map(|it| Some(it.data?.output));
        let world = World {
            ends: scenario.scenario.horizon.is_some(),
            endless: !scenario.failures.is_empty() || has_endless_loads(grid),
            jobs: own.clone().next().is_some(),
            tasks: own.any(|it| it.workflows.is_some()),
            output: outputs.max(),
        };
        let capacity = grid.storage.map_or(Bytes(0), |it| it.capacity);
        let output = world.output.unwrap_or(Bytes(0));
        let words: Words<'_> = &[("capacity", &capacity), ("output", &output)];
        self.refuse(WORLDS, path, (grid, &world), words);
    }

    fn check_latencies(&mut self, path: &Path, grid: &Grid) {
        let (at, law) = (path.key("network").key("wan-latency"), &grid.network.wan_latency);
        let weights = law.weights();
        self.weights(&at, weights);
        if grid.network.model == NetworkModel::Stars
            && weights.is_none_or(|(values, weights)| values == weights)
            && let Err(problem) = law.to_model().validate()
        {
            let message = problem.to_string().replace('_', "-");
            let help = "the smaller time comes first, and no mean is zero";
            self.report(&at, message, "no law of a latency", help);
        }
    }

    fn check_loads(&mut self, path: &Path, grid: &Grid) {
        for (index, site) in grid.sites.iter().enumerate() {
            let Some(load) = site.load else { continue };
            let at = path.key("site").index(index).key("load");
            let words: Words<'_> = &[
                ("initial-min", &load.initial_min),
                ("initial-max", &load.initial_max),
                ("change-min", &load.change_min),
                ("change-max", &load.change_max),
            ];
            self.refuse(LOADS, &at, (&load, &()), words);
            self.check_recurring(&at.key("period"), load.period.unwrap_or(TimeSpan::ZERO));
        }
    }

    fn check_resources(&mut self, path: &Path, grid: &Grid) {
        let mut total = 0;
        for (index, site) in grid.sites.iter().enumerate() {
            total += u64::from(site.resources);
            let at = path.key("site").index(index);
            self.refuse(SITES, &at, (site, &()), &[("mips", &site.mips)]);
            if total > EACH_MAX {
                let message = format!(
                    "a grid has at most {EACH_MAX} resources, for each takes some kilobytes"
                );
                let label = "one too many from here on";
                return self.report(&at.key("resources"), message, label, "lower `resources`");
            }
        }
    }

    /// Warns if all outputs together exceed a storage that keeps them for ever. Only listed jobs are counted: the
    /// number of jobs of a log or a model is not known here.
    fn doubt_storage(&mut self, path: &Path, grid: &Grid) {
        let Some(Storage { capacity, kept, .. }) = grid.storage else { return };
        let outputs = self.scenario.users.iter().filter_map(|user| {
            let workload = self.directory.workload(user.workload.as_str())?;
            let jobs = workload.jobs.as_ref()?.len() as u64;
            Some(jobs.saturating_mul(workload.data?.output.0))
        });
        let all = outputs.fold(0, u64::saturating_add);
        if kept.is_none() && all > capacity.0 {
            let all = Bytes(all);
            self.doubt(
                &path.key("storage"),
                format!(
                    "the storage holds {capacity} and keeps all outputs, but those of all listed jobs are {all}"
                ),
                "full before all outputs have room",
                "make `capacity` larger, or limit by `kept` how long an output stays".to_owned(),
            );
        }
    }
}

/// True if loads of a grid never stop changing.
fn has_endless_loads(grid: &Grid) -> bool {
    grid.sites.iter().filter_map(|site| site.load).any(|load| load.period.is_some())
}
