//! Values that are valid and have no effect, because nothing here asks for them or needs them; and values whose
//! effect is hardly meant.
//!
//! All of these are warnings: a value may be read in some variants of a sweep only.

mod admission;
mod checkpoints;
mod coallocation;
mod flow;
mod grid;
mod impossible;
mod interval;
mod large;
mod maintenance;
mod metaschedulers;
mod network;
mod plans;
mod providers;
mod reservations;
mod round_trip;
mod seed;

use super::Check;
use super::names::Names;
use super::rule::{Effect, effect, item};
use crate::file::{DependenciesFrom, Metascheduler, Order, Passes, Provider, Step, Workload};
use flow::{Flow, Serves};
use haggle_config::document::Path;

/// Data of workloads; the fact is true if jobs may run on a grid.
#[rustfmt::skip] // a table
const DATA: &[Effect<Workload, bool>] = &[
    effect("data", |it, _| it.merge.is_none(), "a merger's jobs bring the data of the workloads they are from", "remove it"),
    effect("data", |_, &on_grid| on_grid, "only jobs of a grid bring data along", "remove it"),
];

/// True if its protocol reads the keys of jobs as their urgency.
fn has_urgent_jobs(metascheduler: &Metascheduler) -> bool {
    metascheduler.transaction().is_some_and(|(protocol, _)| protocol.urgent().is_some())
}

/// True if jobs of a workload may have keys by which they are sorted.
fn sets_keys(workload: &Workload) -> bool {
    let in_lists = workload.jobs.iter().flatten().any(|job| job.key.is_some());
    in_lists || workload.steps.iter().any(|step| matches!(step, Step::Key { .. }))
}

impl Check<'_> {
    pub(super) fn check_effects(&mut self, names: &Names) {
        let scenario = self.scenario;
        let flow = Flow::of(scenario, names, self.directory);
        let has_keys = scenario.workloads.iter().any(sets_keys);
        for (index, provider) in scenario.providers.iter().enumerate() {
            let path = item("provider", index);
            self.check_interval(&path, provider, flow.serves[index]);
            self.provider_effects(&path, provider, flow.serves[index]);
            self.order_effects(&path.key("policy").key("order"), provider, has_keys);
        }
        for (index, metascheduler) in scenario.metaschedulers.iter().enumerate() {
            self.metascheduler_effects(&item("metascheduler", index), metascheduler, names);
        }
        let sorts = scenario
            .providers
            .iter()
            .any(|it| matches!(it.policy.order(), Some(Order::Key | Order::Own(_))))
            || scenario.metaschedulers.iter().any(has_urgent_jobs);
        for index in 0..scenario.workloads.len() {
            self.workload_effects(index, sorts, &flow);
        }
        self.events_order_effects(&flow);
        self.impossible_jobs(names);
        self.jobs_not_admitted();
        self.node_effects(names);
        self.rules_effects();
        self.figures_of_transactions();
        self.unused_actors(&flow);
        self.idle_crashes(&flow, names);
        self.maintenance_effects(&flow, names);
        self.message_effects(&flow, names);
        self.grid_effects();
        self.checkpoint_row_effects();
        self.plan_effects();
        self.mapping_effects(names);
        self.seed_effects();
        self.large_workloads();
    }

    /// The order of submissions and completions of an instant has no effect if each decision knows all of them.
    fn events_order_effects(&mut self, flow: &Flow) {
        let differs = |(provider, serves): (&Provider, &Serves)| {
            // Offers for bags are made message by message, and failed jobs wait in the order of messages.
            let Serves { fails, crashes, .. } = *serves;
            provider.passes == Passes::Event || provider.policy.bargains() || fails || crashes
        };
        let read = self.scenario.providers.iter().zip(&flow.serves).any(differs);
        let why = "each provider decides at the end of an instant, after all its submissions and \
                   completions";
        let remedy = "remove it, or set `passes = \"event\"` for a provider";
        let at = Path::root().key("scenario").key("events-order");
        self.uses(&at, read, "the scenario", why, remedy);
    }

    fn workload_effects(&mut self, place: usize, sorts: bool, flow: &Flow) {
        let (path, workload) = (item("workload", place), &self.scenario.workloads[place]);
        let owner = format!("workload \"{}\"", workload.name);
        let on_grid = self.directory.may_run_on_grid(workload);
        self.effects(DATA, &path, (workload, &on_grid), &owner, &[]);
        if let Some(grid) = self.scenario.grid.as_ref().filter(|_| on_grid) {
            let at = path.key("data").key("checkpoint");
            let why = "no job of this grid writes checkpoints";
            self.uses(&at, grid.saves(), &format!("the data of {owner}"), why, "remove it");
        }
        let why = "no provider has `order = \"key\"`, and no metascheduler jobs that are `urgent`";
        let remedy = "remove it, or set `order = \"key\"` for a provider";
        for (index, _) in workload.jobs.iter().flatten().enumerate() {
            let at = path.key("jobs").index(index).key("key");
            self.uses(&at, sorts, &format!("the jobs of {owner}"), why, remedy);
        }
        for (index, step) in workload.steps.iter().enumerate() {
            if let Step::Reservations { .. } = step {
                let at = path.key("step").index(index);
                self.reserving_effects(&at, step, place, flow);
            }
            if let Step::Moldable { .. } = step {
                let at = path.key("step").index(index).key("kind");
                let why = "no metascheduler with `reallocation` gets its jobs, no reservation \
                           leaves their sizes open, and their receivers take them as rigid";
                let remedy = "remove the step, submit to a metascheduler with `reallocation`, or add \
                              `narrowest` or `widest` to a step \"reservations\"";
                let what = format!("step \"moldable\" of {owner}");
                let read = flow.molded[place] || flow.leave_sizes[place];
                self.has_effect(&at, read, &what, why, remedy);
            }
            if let Step::Dependencies { from, .. } = step {
                let at = path.key("step").index(index).key("gap");
                let read = *from == DependenciesFrom::Sessions;
                let why = "only sessions have a longest think time";
                let remedy = "remove it, or write from = \"sessions\"";
                self.uses(&at, read, &format!("step \"dependencies\" of {owner}"), why, remedy);
            }
            if let Step::Key { .. } = step {
                let at = path.key("step").index(index).key("by");
                self.uses(&at, sorts, &format!("step \"key\" of {owner}"), why, remedy);
            }
        }
    }

    /// Figures of transactions show nothing if there are no transactions.
    fn figures_of_transactions(&mut self) {
        let any = self.scenario.metaschedulers.iter().any(|it| it.transaction().is_some());
        for (index, figure) in self.scenario.figures.iter().enumerate() {
            if figure.kind.needs_transactions() {
                let at = item("figure", index).key("kind");
                let what = &format!("figure \"{}\"", figure.kind.name());
                let why = "no metascheduler gets parts of jobs by a `protocol`";
                self.has_effect(&at, any, what, why, "remove it, or choose a `protocol`");
            }
        }
    }

    /// Crashes have no effect on actors to which no job comes.
    fn idle_crashes(&mut self, flow: &Flow, names: &Names) {
        let scenario = self.scenario;
        let tables = scenario.failures.iter().enumerate();
        for (table, actors) in tables.filter_map(|(index, it)| Some((index, it.actors.as_ref()?))) {
            for (index, actor) in actors.iter().enumerate() {
                let name = actor.as_str();
                let place = self.directory.metascheduler_place(name);
                let used = match names.providers.get(name) {
                    Some(&provider) => flow.serves[provider].is_used(),
                    None => place.is_none_or(|place| flow.metaschedulers[place]),
                };
                let at = item("failures", table).key("actors").index(index);
                let what = format!("crashing \"{name}\"");
                let why = "no job comes to it";
                let remedy = "remove it, or let a user or a metascheduler submit to it";
                self.has_effect(&at, used, &what, why, remedy);
            }
        }
    }

    /// Workloads, metaschedulers, a grid or plans that no user names.
    fn unused_actors(&mut self, flow: &Flow) {
        let scenario = self.scenario;
        let mut users = scenario.users.iter();
        let mut metaschedulers = scenario.metaschedulers.iter().zip(&flow.metaschedulers);
        let grid = scenario.grid.is_none()
            || scenario.grid_with_start_state().is_some()
            || users.any(|user| scenario.submits_to_grid(user))
            || metaschedulers.any(|(it, &used)| used && scenario.uses_grid(it));
        let mut users = scenario.users.iter();
        let plans = scenario.plans.is_none() || users.any(|user| scenario.submits_to_plans(user));
        for (key, used) in [("grid", grid), ("plans", plans)] {
            let (at, what) = (Path::root().key(key), format!("[{key}]"));
            let remedy = "remove it, or name it in a [[user]]";
            self.has_effect(&at, used, &what, "no user names it as `submits-to`", remedy);
        }
        let metaschedulers = scenario.metaschedulers.iter().map(|it| &it.name);
        let workloads = scenario.workloads.iter().map(|it| &it.name);
        let kinds = [
            ("workload", workloads.collect::<Vec<_>>(), &flow.workloads),
            ("metascheduler", metaschedulers.collect(), &flow.metaschedulers),
        ];
        for (kind, names, used) in kinds {
            for (index, (name, &used)) in names.iter().zip(used).enumerate() {
                let at = item(kind, index).key("name");
                let key = if kind == "workload" { "workload" } else { "submits-to" };
                let why = format!("no user names it as `{key}`");
                let what = format!("{kind} \"{name}\"");
                self.has_effect(&at, used, &what, &why, "remove it, or name it in a [[user]]");
            }
        }
    }
}
