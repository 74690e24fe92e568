//! Users, their workloads and the actors that receive them: each actor takes some kinds of jobs only.

use std::collections::BTreeSet;

use super::Check;
use super::exclusions::{NoTasks, Runs, SUBMITTING, Submission, WORKLOADS, is_given_whole};
use super::names::Names;
use super::rule::{Words, item};
use crate::file::{GridPolicy, Model, Role, Step, User, Workload};
use crate::quantity::Name;
use haggle_config::document::Path;

impl<'s> Check<'s> {
    /// Checks that the target of each user takes its jobs.
    pub(super) fn check_targets(&mut self, names: &Names) {
        let mut submitted = BTreeSet::new();
        for (index, user) in self.scenario.users.iter().enumerate() {
            let (path, facts) = (item("user", index), self.submission(user, names));
            let words: Words<'_> = &[("workload", &user.workload), ("target", &user.submits_to)];
            self.refuse(SUBMITTING, &path, (user, &facts), words);
            self.check_submitted_once(&path, user, &mut submitted);
        }
    }

    /// Checks workloads together with their steps, mergers and the places where their jobs run.
    pub(super) fn check_places(&mut self) {
        let scenario = self.scenario;
        let grid = scenario.grid.as_ref();
        let policy = Path::root().key("grid").key("policy");
        let is_static = |it: &GridPolicy| matches!(it, GridPolicy::StaticWorkflow { .. });
        let statically =
            grid.is_some_and(|grid| is_static(&grid.policy)) && !self.is_replaced(&policy);
        for (index, workload) in scenario.workloads.iter().enumerate() {
            let path = item("workload", index);
            let is_whole =
                |name: &Name| self.directory.workload(name.as_str()).is_some_and(is_given_whole);
            let part = workload.merge.iter().flatten().position(is_whole);
            let on_grid = self.directory.runs_on_grid(workload);
            let facts = Runs {
                on_grid,
                sessions: on_grid && grid.is_some_and(|grid| grid.policy.takes_sessions()),
                has_providers: !scenario.providers.is_empty(),
                statically: statically && self.directory.may_run_on_grid(workload),
                merges_whole: part.is_some(),
            };
            let words: Words<'_> = &[("part", &part.unwrap_or(0))];
            self.refuse(WORKLOADS, &path, (workload, &facts), words);
        }
    }

    fn submission(&self, user: &User, names: &Names) -> Submission {
        let workload = self.directory.workload(user.workload.as_str());
        let target = user.submits_to.as_str();
        let metascheduler = self.directory.metascheduler(target);
        let bags = |it: &Workload| it.steps.iter().any(|step| matches!(step, Step::Bags {}));
        let model = workload.and_then(|it| it.model);
        let mut tasks = self.directory.workflows_of(user);
        let reserves = self.directory.reserves(user.workload.as_str());
        Submission {
            has_jobs: workload.is_some(),
            has_target: names.takes_jobs(target) || metascheduler.is_some(),
            bags: workload.is_some_and(bags),
            iterative: model == Some(Model::Iterative),
            phases: model == Some(Model::Applications),
            unreserved: reserves && !names.is_provider(target),
            as_recorded: reserves && self.starts_as_recorded(target, names),
            composes: metascheduler.is_some_and(|it| it.composition.is_some()),
            maps: metascheduler.is_some_and(|it| it.mapping.is_some()),
            plans: self.scenario.submits_to_plans(user),
            refuses_tasks: tasks.next().and_then(|_| self.refuses_tasks(user)),
            parts_tasks: self.parts_tasks(user),
        }
    }

    /// True if `target` is a provider whose jobs start as their logs have recorded.
    fn starts_as_recorded(&self, target: &str, names: &Names) -> bool {
        names.providers.get(target).is_some_and(|&place| {
            self.scenario.providers[place].policy.starts_as_recorded()
                && !self.is_replaced(&item("provider", place).key("policy"))
        })
    }

    /// Reason for which the target of a user does not take tasks. Tasks wait for one another at the scheduler of a grid,
    /// or at a user that submits them to providers one by one.
    fn refuses_tasks(&self, user: &User) -> Option<NoTasks> {
        if let Some(grid) = self.directory.grid_of(user) {
            return grid.policy.takes_sessions().then_some(NoTasks::Sessions);
        }
        if self.scenario.submits_to_plans(user) {
            return Some(NoTasks::Plans);
        }
        let name = user.submits_to.as_str();
        // A metascheduler that composes has been reported: it takes no rigid jobs at all.
        match self.directory.metascheduler(name)?.role() {
            Role::Places(_) => self.directory.may_use_grid(name).then_some(NoTasks::UsesGrid),
            Role::Composes(_) => None,
            Role::Spreads(_) | Role::Moves(_) | Role::Maps(_) => Some(NoTasks::OtherRole),
        }
    }

    /// True if a step behind a merger would change tasks of workflows of a user.
    fn parts_tasks(&self, user: &User) -> bool {
        if self.directory.workflows_of(user).next().is_none() {
            return false;
        }
        let workloads = &self.scenario.workloads;
        let parts_tasks = |it: &Workload| {
            let merges = it.merge.is_some() && !it.steps.is_empty();
            let merged = merges.then(|| self.directory.sources(it.name.as_str()));
            merged.into_iter().flatten().any(|place| workloads[place].is_workflows())
        };
        let mut sources = self.directory.sources(user.workload.as_str()).into_iter();
        sources.any(|place| parts_tasks(&workloads[place]))
    }

    /// Workflows depend on each other, so they are submitted once; `submitted` are the workloads before.
    fn check_submitted_once(
        &mut self,
        path: &Path,
        user: &User,
        submitted: &mut BTreeSet<(bool, &'s str)>,
    ) {
        let own = self.directory.workload(user.workload.as_str());
        let own = own.filter(|it| it.applications.as_ref().is_some_and(|it| it.is_workflows()));
        let tasks = self.directory.workflows_of(user).map(|(it, _)| (true, it));
        for (of_tasks, workload) in tasks.chain(own.map(|it| (false, it))) {
            if !submitted.insert((of_tasks, workload.name.as_str())) {
                self.report(
                    &path.key("workload"),
                    format!("the workflows of \"{}\" are submitted twice", workload.name),
                    "again",
                    "give this user a workload of its own, with another name",
                );
            }
        }
    }
}
