//! Start states: one list or table of jobs, one law, and jobs that can be there.

use std::collections::BTreeSet;

use haggle_model::law::Law;

use super::Check;
use super::names::Names;
use super::rule::{Refusal, item, refuse};
use crate::file::{Grid, GridPolicy, Provider};
use crate::initial::{
    AGE_MAX, StateProblem, grid_state_problems, initial_name, start_state_problems,
};
use crate::quantity::TimeSpan;
use crate::resolve::copies;
use haggle_config::document::Path;

#[rustfmt::skip] // a table
const SOURCES: &[Refusal<Provider>] = &[
    refuse("initial-file", |it, ()| it.initial.is_some() && it.initial_file.is_some(), "provider \"{name}\" has two start states: `initial` and `initial-file`",
        "a second one", "keep one of them"),
    refuse("initial-use", |it, ()| it.initial_run.is_some() && it.initial_use.is_some(), "provider \"{name}\" has two laws of run times: `initial-run` and `initial-use`",
        "a second one", "keep one of them"),
    refuse("initial-run", |it, ()| it.initial_run.is_some() && !it.has_start_state(), "`initial-run` goes with `initial` or `initial-file`, which are not there",
        "not used", "remove it, or add a start state"),
    refuse("initial-use", |it, ()| it.initial_use.is_some() && !it.has_start_state(), "`initial-use` goes with `initial` or `initial-file`, which are not there",
        "not used", "remove it, or add a start state"),
];

#[rustfmt::skip] // a table
const GRIDS: &[Refusal<Grid>] = &[
    refuse("initial", |it, ()| it.initial.is_some() && it.policy.takes_sessions(),
        "the policy of grid \"{name}\" takes sessions, which reserve a share or are rejected when they come; a start state has no sessions",
        "no sessions", "remove it, or choose another policy (`haggle list grid-policies`)"),
    refuse("initial", |it, ()| it.initial.is_some() && plans_workflows(&it.policy),
        "the policy of grid \"{name}\" schedules workflows, and jobs of a start state are no tasks of workflows",
        "no workflows", "remove it, or choose another policy (`haggle list grid-policies`)"),
    refuse("initial-run", |it, ()| it.initial_run.is_some() && it.initial.is_none(), "`initial-run` goes with `initial`, which is not there",
        "not used", "remove it, or add a start state"),
];

fn plans_workflows(policy: &GridPolicy) -> bool {
    matches!(
        policy,
        GridPolicy::Workflow {}
            | GridPolicy::BalancedWorkflow(_)
            | GridPolicy::StaticWorkflow { .. }
    )
}

impl Check<'_> {
    pub(super) fn check_start_state_of_grid(&mut self, names: &Names) {
        let Some(grid) = &self.scenario.grid else { return };
        let path = Path::root().key("grid");
        self.refuse(GRIDS, &path, (grid, &()), &[("name", &grid.name)]);
        if let Some(law) = &grid.initial_run {
            self.check_initial_law(&path.key("initial-run"), law.weights(), &law.to_model());
        }
        let Some(jobs) = &grid.initial else { return };
        let draws = jobs.is_empty() || jobs.iter().any(|job| job.run.is_none());
        let owner = format!("grid \"{}\"", grid.name);
        let why = "every initial job has a run time";
        let help = "remove it, or the `run` of a job";
        self.uses(&path.key("initial-run"), draws, &owner, why, help);
        self.check_initial_name(&path, "grid", grid.name.as_str(), names);
        let path = path.key("initial");
        let ages = jobs.iter().map(|job| (job.submitted_ago, job.started_ago));
        self.check_ages(&path, ages);
        self.report_states(&path, grid_state_problems(jobs, grid));
    }

    pub(super) fn check_start_states(&mut self, names: &Names) {
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let path = item("provider", index);
            self.refuse(SOURCES, &path, (provider, &()), &[("name", &provider.name)]);
            if let Some(law) = &provider.initial_run {
                self.check_initial_law(&path.key("initial-run"), law.weights(), &law.to_model());
            }
            self.check_initial_use(&path.key("initial-use"), provider);
            if !provider.has_start_state() {
                continue;
            }
            // A table is read later, and an empty list may be filled.
            let jobs = provider.initial.as_deref().unwrap_or_default();
            let draws = jobs.is_empty() || jobs.iter().any(|job| job.run.is_none());
            let owner = format!("provider \"{}\"", provider.name);
            for key in ["initial-run", "initial-use"] {
                let why = "every initial job has a run time";
                self.uses(&path.key(key), draws, &owner, why, "remove it, or the `run` of a job");
            }
            self.check_initial_names(&path, provider, names);
            match (&provider.initial, &provider.initial_file) {
                (Some(_), _) => self.check_initial_jobs(&path, provider),
                (None, Some(file)) => {
                    self.check_file(&path.key("initial-file"), "start state", file)
                }
                (None, None) => {}
            }
        }
    }

    fn check_initial_use(&mut self, path: &Path, provider: &Provider) {
        let laws = provider.initial_use.as_deref().unwrap_or_default();
        if provider.initial_use.is_some() && laws.is_empty() && !self.has_replaced(path) {
            self.report(
                path,
                "`initial-use` has no law".to_owned(),
                "no law",
                "add one, or remove it",
            );
        }
        let mut from = BTreeSet::new();
        for (index, it) in laws.iter().enumerate() {
            let path = path.index(index);
            self.check_initial_law(&path.key("law"), it.law.weights(), &it.law.to_model());
            if !from.insert(it.requested_from) {
                let message =
                    format!("two laws hold for requested times from {} on", it.requested_from);
                self.report(
                    &path,
                    message,
                    "a second law",
                    "write another `requested-from`, or remove one law",
                );
            }
        }
    }

    fn check_initial_law(&mut self, path: &Path, weights: Option<(usize, usize)>, law: &Law) {
        if self.has_replaced(path) {
            return;
        }
        self.weights(path, weights);
        if weights.is_none_or(|(needed, given)| needed == given)
            && let Err(problem) = law.validate()
        {
            self.report(
                path,
                problem.to_string(),
                "no law",
                "see docs/scenario.md for its parameters",
            );
        }
    }

    /// The jobs of a start state have users and a workload of their own.
    fn check_initial_names(&mut self, path: &Path, provider: &Provider, names: &Names) {
        for copy in copies(provider) {
            self.check_initial_name(path, "provider", &copy, names);
        }
    }

    fn check_initial_name(&mut self, path: &Path, kind: &str, owner: &str, names: &Names) {
        let name = initial_name(owner);
        let taken = if names.workloads.contains(&name) {
            "a workload"
        } else if self.scenario.users.iter().any(|it| it.name.as_str() == name)
            || names.takes_jobs(&name)
        {
            "an actor"
        } else {
            return;
        };
        let message =
            format!("the initial jobs of {kind} \"{owner}\" are called \"{name}\", as {taken} is");
        let help = "give one of them another name";
        self.report(&path.key("name"), message, "a name twice", help);
    }

    fn check_initial_jobs(&mut self, path: &Path, provider: &Provider) {
        let path = path.key("initial");
        let jobs = provider.initial.as_deref().unwrap_or_default();
        let ages = jobs.iter().map(|job| (job.submitted_ago, job.started_ago));
        self.check_ages(&path, ages);
        self.report_states(&path, start_state_problems(jobs, provider));
    }

    /// Checks the times of jobs, of the submission and of the start, before time zero.
    fn check_ages(
        &mut self,
        path: &Path,
        jobs: impl Iterator<Item = (Option<TimeSpan>, Option<TimeSpan>)>,
    ) {
        for (index, (submitted, started)) in jobs.enumerate() {
            for (key, ago) in [("submitted-ago", submitted), ("started-ago", started)] {
                if let Some(ago) = ago.filter(|it| it.0 > AGE_MAX) {
                    let message = format!("{ago} before time zero is over a century ago");
                    let at = path.index(index).key(key);
                    self.report(&at, message, "too long ago", "write a shorter time");
                }
            }
        }
    }

    fn report_states(&mut self, path: &Path, problems: Vec<StateProblem>) {
        for problem in problems {
            let job = path.index(problem.job);
            let at = if problem.key.is_empty() { job.clone() } else { job.key(problem.key) };
            // A value that is wrong by itself has been reported already.
            if !self.has_replaced(&job) {
                self.report(&at, problem.message, problem.label, problem.help);
            }
        }
    }
}
