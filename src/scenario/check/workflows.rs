//! Workflows: their shape and their estimates, and who takes their tasks.

use super::Check;
use crate::scenario::document::Path;
use crate::scenario::file::{Model, TaskEstimates, Underestimate, Workflows, Workload};
use crate::scenario::quantity::{Share, TimeSpan};

impl Check<'_> {
    pub(super) fn check_workflows(&mut self, path: &Path, workload: &Workload, it: &Workflows) {
        let at = path.key("workflows");
        if !workload.steps.is_empty() && is_workflows(workload) {
            self.report(
                &path.key("step"),
                "a step would part tasks from their workflows".to_owned(),
                "not for workflows",
                "remove the steps".to_owned(),
            );
        }
        if it.width_max.is_some_and(|max| max < it.width) {
            self.report(
                &at.key("width-max"),
                format!("`width-max` is less than `width`, {}", it.width),
                "no width is both",
                "the smaller one is `width`".to_owned(),
            );
        }
        if it.hours.as_ref().is_some_and(|hours| hours.iter().sum::<f64>() <= 0.0) {
            self.report(
                &at.key("hours"),
                "a workflow comes at some hour".to_owned(),
                "all are 0",
                "write a number above 0 for at least one hour".to_owned(),
            );
        }
        if it.work == TimeSpan::ZERO {
            self.report(
                &at.key("work"),
                "a task takes some time".to_owned(),
                "no time",
                "write a length of time above zero, such as \"1h\"".to_owned(),
            );
        }
        let Some(progress) = it.progress else { return };
        let at = at.key("progress");
        if progress.amplitude_max < progress.amplitude {
            self.report(
                &at.key("amplitude-max"),
                format!("the largest amplitude is less than `amplitude`, {}", progress.amplitude),
                "no amplitude is both",
                "the smaller one is `amplitude`".to_owned(),
            );
        }
        if progress.step == Share::ZERO {
            self.report(
                &at.key("step"),
                "between two reports a task gets on".to_owned(),
                "nothing",
                "write a share above zero, such as \"0.5%\"".to_owned(),
            );
        }
        let under = matches!(progress.estimates, TaskEstimates::Under | TaskEstimates::Mixed);
        if progress.under != Underestimate::default() && !under {
            self.report(
                &at.key("under"),
                "no task underestimates itself".to_owned(),
                "not used",
                "remove it, or set `estimates` to \"under\" or \"mixed\"".to_owned(),
            );
        }
    }

    /// Tasks wait for one another at a grid's scheduler only, and where jobs can wait.
    pub(super) fn check_tasks(&mut self) {
        let scenario = self.scenario;
        for (index, user) in scenario.users.iter().enumerate() {
            let workload = scenario.workloads.iter().find(|it| it.name == user.workload);
            let parts = |it: &Workload| {
                let merged = it.merge.iter().flatten();
                let mut merged = merged
                    .filter_map(|name| scenario.workloads.iter().find(|other| other.name == *name));
                is_workflows(it) || merged.any(is_workflows)
            };
            if !workload.is_some_and(parts) {
                continue;
            }
            let path = Path::root().key("user").index(index);
            let grid = scenario.grid.as_ref();
            if grid.is_none_or(|grid| grid.policy.takes_sessions()) {
                self.report(
                    &path.key("submits-to"),
                    format!("\"{}\" takes no tasks of workflows", user.submits_to),
                    "does not take them",
                    "submit to a grid whose jobs can wait, such as one with `policy = \"workflow\"`"
                        .to_owned(),
                );
            }
            if workload.is_some_and(|it| it.merge.is_some() && !it.steps.is_empty()) {
                self.report(
                    &path.key("workload"),
                    "a step behind a merger would part tasks from their workflows".to_owned(),
                    "not for workflows",
                    "remove the steps".to_owned(),
                );
            }
        }
    }
}

/// Whether the jobs of a workload are tasks of workflows.
fn is_workflows(workload: &Workload) -> bool {
    workload.model == Some(Model::Workflows)
}
