//! Grids: keys that fit together, and runs that end.

use super::{Check, EACH_MAX};
use crate::file::{Grid, GridPolicy, NetworkModel, Storage};
use crate::quantity::{Bytes, TimeSpan};
use haggle_config::document::Path;

impl Check<'_> {
    pub(super) fn check_grid(&mut self) {
        let Some(grid) = &self.scenario.grid else { return };
        let path = Path::root().key("grid");
        self.check_recurring(&path.key("period"), grid.period);
        self.check_replicas(&path, grid);
        self.check_saving(&path, grid);
        self.check_static(&path, grid);
        self.check_loads(&path, grid);
        self.check_resources(&path, grid);
        self.check_end(&path);
        self.refuse_times_of_messages("times of transfers are in [grid.network]");
        self.refuse_order_of_events(
            "in a grid, ends come before arrivals and failures, and a round comes last",
        );
        self.check_room(&path, grid);
        self.check_latencies(&path, grid);
        if grid.network.model == NetworkModel::Constant && grid.network.service_bandwidth.is_some()
        {
            self.report(
                &path.key("network").key("service-bandwidth"),
                "a constant network has no links to services".to_owned(),
                "not used",
                "remove it, or set `model = \"stars\"`".to_owned(),
            );
        }
    }

    fn check_latencies(&mut self, path: &Path, grid: &Grid) {
        let (at, law) = (path.key("network").key("wan-latency"), &grid.network.wan_latency);
        let weights = law.weights();
        self.weights(&at, weights);
        if grid.network.model == NetworkModel::Stars
            && weights.is_none_or(|(values, weights)| values == weights)
            && let Err(problem) = law.to_model().validate()
        {
            self.report(
                &at,
                problem.to_string().replace('_', "-"),
                "no law of a latency",
                "the smaller time comes first, and no mean is zero".to_owned(),
            );
        }
    }

    fn check_replicas(&mut self, path: &Path, grid: &Grid) {
        let at = path.key("policy").key("replicas");
        let replicas = match &grid.policy {
            GridPolicy::LoadDependentRep(it) | GridPolicy::FailureDependentRep(it) => it.replicas,
            GridPolicy::CombinedFt(it) => it.replicas.replicas(),
            _ => return,
        };
        if replicas.min > replicas.max {
            self.report(
                &at,
                format!("`min` is {}, more than `max`, {}", replicas.min, replicas.max),
                "the two contradict each other",
                "the smaller one is the minimum; they are 1 and 2 if not given".to_owned(),
            );
        }
    }

    fn check_saving(&mut self, path: &Path, grid: &Grid) {
        let at = path.key("checkpoints");
        let Some(checkpoints) = &grid.checkpoints else {
            if matches!(grid.policy, GridPolicy::CombinedFt(_)) {
                self.report(
                    &path.key("policy"),
                    "policy \"combined-ft\" writes checkpoints, but [grid.checkpoints] is \
                     missing"
                        .to_owned(),
                    "needs checkpoints",
                    "add [grid.checkpoints] with a `rule`".to_owned(),
                );
            }
            return;
        };
        if !grid.policy.takes_checkpoints(&self.scenario.own) {
            self.report(
                &at,
                "no job writes checkpoints under this policy".to_owned(),
                "not used",
                "remove it, or set `policy` to \"migration\", \"rescheduling\", \"combined-ft\" or \
                 \"workflow\""
                    .to_owned(),
            );
        }
        self.check_grid_rule(&at, checkpoints);
    }

    /// A static schedule needs workflows whose users estimate their tasks in advance.
    fn check_static(&mut self, path: &Path, grid: &Grid) {
        let is_static = matches!(grid.policy, GridPolicy::StaticWorkflow { .. });
        if !is_static || self.is_replaced(&path.key("policy")) {
            return;
        }
        let scenario = self.scenario;
        let own = scenario.workloads.iter().enumerate();
        let own = Vec::from_iter(own.filter(|(_, it)| self.directory.may_run_on_grid(it)));
        let (mut jobs, mut flows) = (false, false);
        for (index, workload) in own {
            jobs = true;
            let Some(workflows) = &workload.workflows else { continue };
            flows = true;
            if workflows.progress.is_some_and(|progress| !progress.a_priori) {
                let at = Path::root().key("workload").index(index).key("workflows");
                self.report(
                    &at.key("progress").key("a-priori"),
                    "static schedules are made from task lengths that users state in advance"
                        .to_owned(),
                    "no lengths are stated",
                    "remove it, or choose a policy that decides in rounds, such as \"workflow\""
                        .to_owned(),
                );
            }
        }
        if jobs && !flows {
            self.report(
                &path.key("policy"),
                "static schedules need workflows, and no workload of this grid has any"
                    .to_owned(),
                "no workflows",
                "add a workload with `model = \"workflows\"`, or choose another policy (`haggle list \
                 grid-policies`)"
                    .to_owned(),
            );
        }
    }

    fn check_loads(&mut self, path: &Path, grid: &Grid) {
        for (index, site) in grid.sites.iter().enumerate() {
            let Some(load) = site.load else { continue };
            let at = path.key("site").index(index).key("load");
            for (key, low, high) in [
                ("initial-min", load.initial_min, load.initial_max),
                ("change-min", load.change_min, load.change_max),
            ] {
                if low > high {
                    self.report(
                        &at.key(key),
                        format!("`{key}` is {low}, more than the largest, {high}"),
                        "the two contradict each other",
                        "the smaller one is the minimum".to_owned(),
                    );
                }
            }
            match load.period {
                Some(TimeSpan::ZERO) => self.report(
                    &at.key("period"),
                    "a load cannot change all the time".to_owned(),
                    "no time",
                    "write a length of time above zero, or remove it".to_owned(),
                ),
                Some(period) => self.check_recurring(&at.key("period"), period),
                None => {}
            }
        }
    }

    fn check_resources(&mut self, path: &Path, grid: &Grid) {
        let mut total = 0;
        for (index, site) in grid.sites.iter().enumerate() {
            total += u64::from(site.resources);
            if site.mips_max.is_some_and(|max| max < site.mips) {
                self.report(
                    &path.key("site").index(index).key("mips-max"),
                    format!("the fastest resource has less than `mips`, {}", site.mips),
                    "the two contradict each other",
                    "the smaller one is `mips`".to_owned(),
                );
            }
            if total > EACH_MAX {
                self.report(
                    &path.key("site").index(index).key("resources"),
                    format!(
                        "a grid has at most {EACH_MAX} resources, for each takes some kilobytes"
                    ),
                    "one too many from here on",
                    "lower `resources`".to_owned(),
                );
                return;
            }
        }
    }

    /// Failures and changing loads of a grid never end, so the run needs a horizon.
    fn check_end(&mut self, path: &Path) {
        let endless = !self.scenario.failures.is_empty() || self.has_endless_loads();
        if endless && self.scenario.scenario.horizon.is_none() {
            self.report(
                path,
                "resources of this grid never stop changing, and the end of the run is missing"
                    .to_owned(),
                "when?",
                "add `horizon` to [scenario], such as `horizon = \"7d\"`".to_owned(),
            );
        }
    }

    fn has_endless_loads(&self) -> bool {
        let sites = self.scenario.grid.iter().flat_map(|grid| &grid.sites);
        sites.filter_map(|site| site.load).any(|load| load.period.is_some())
    }

    /// Warns if all outputs together exceed a storage that keeps them for ever. Only listed jobs are counted: the
    /// number of jobs of a log or a model is not known here.
    fn doubt_storage(&mut self, path: &Path, storage: Storage) {
        let outputs = self.scenario.users.iter().filter_map(|user| {
            let workload = self.directory.workload(user.workload.as_str())?;
            let jobs = workload.jobs.as_ref()?.len() as u64;
            Some(jobs.saturating_mul(workload.data?.output.0))
        });
        let all = outputs.fold(0, u64::saturating_add);
        if storage.kept.is_none() && all > storage.capacity.0 {
            self.doubt(
                &path.key("storage"),
                format!(
                    "the storage holds {} and keeps all outputs, but those of all listed jobs are \
                     {}",
                    storage.capacity,
                    Bytes(all)
                ),
                "full before all outputs have room",
                "make `capacity` larger, or limit by `kept` how long an output stays".to_owned(),
            );
        }
    }

    /// Refuses an output that is larger than the empty storage: it would wait for ever.
    fn check_room(&mut self, path: &Path, grid: &Grid) {
        let Some(storage) = grid.storage else { return };
        self.doubt_storage(path, storage);
        let largest = self.scenario.workloads.iter().filter_map(|it| it.data).map(|it| it.output);
        if let Some(output) = largest.max().filter(|&output| output > storage.capacity) {
            self.report(
                &path.key("storage").key("capacity"),
                format!("the storage holds {}, and an output is {output}", storage.capacity),
                "too small",
                "make it larger, or the outputs smaller".to_owned(),
            );
        }
    }
}
