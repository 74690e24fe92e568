//! Workloads: one source each, logs that are there, steps that make sense.

use super::names::Names;
use super::{Check, Logs};
use crate::scenario::document::Path;
use crate::scenario::file::{Step, Workload};
use crate::scenario::log_path;
use crate::scenario::quantity::TimeSpan;

impl Check<'_> {
    pub(super) fn check_workloads(&mut self, names: &Names) {
        for (index, workload) in self.scenario.workloads.iter().enumerate() {
            let path = Path::root().key("workload").index(index);
            self.check_source(&path, workload);
            self.check_lublin(&path, workload);
            self.check_jobs(&path, workload);
            self.check_merge(&path, workload, names);
            if let Some(log) = &workload.log {
                self.check_log(&path.key("log"), log);
            }
            for (index, step) in workload.steps.iter().enumerate() {
                self.check_step(&path.key("step").index(index), step);
            }
        }
    }

    fn check_source(&mut self, path: &Path, workload: &Workload) {
        let sources = [
            ("log", workload.log.is_some()),
            ("model", workload.model.is_some()),
            ("jobs", workload.jobs.is_some()),
            ("merge", workload.merge.is_some()),
        ];
        // A source that was given but wrong has been reported already.
        let replaced = |key| self.is_replaced(&path.key(key));
        let given: Vec<&str> = sources
            .iter()
            .filter(|(key, given)| *given || replaced(key))
            .map(|(key, _)| *key)
            .collect();
        match given[..] {
            [_] => {}
            [] => self.report(
                path,
                format!("workload \"{}\" has no source of jobs", workload.name),
                "where do its jobs come from?",
                "add one of `log`, `model`, `jobs` and `merge`".to_owned(),
            ),
            [first, second, ..] => self.report(
                &path.key(second),
                format!(
                    "workload \"{}\" has two sources of jobs, `{first}` and `{second}`",
                    workload.name
                ),
                "a second source",
                "make two workloads and a third that has both under `merge`".to_owned(),
            ),
        }
    }

    fn check_lublin(&mut self, path: &Path, workload: &Workload) {
        let Some(lublin) = &workload.lublin else {
            if workload.model.is_some() {
                self.report(
                    &path.key("lublin"),
                    format!("workload \"{}\" has no parameters for its model", workload.name),
                    "`lublin` is missing here",
                    "add `lublin = { jobs = 1000, processors = 128 }`".to_owned(),
                );
            }
            return;
        };
        if workload.model.is_none() {
            self.report(
                &path.key("lublin"),
                format!("workload \"{}\" has parameters for a model, but no model", workload.name),
                "not used",
                "add `model = \"lublin-feitelson\"`, or remove `lublin`".to_owned(),
            );
        }
        let largest = f64::from(lublin.processors).log2();
        let sizes = [("u-low", lublin.u_low), ("u-med", lublin.u_med)];
        for (key, size) in sizes {
            if let Some(size) = size.filter(|&size| size > largest) {
                self.report(
                    &path.key("lublin").key(key),
                    format!("`{key}` is {size}, the machine's logarithm only {largest:.2}"),
                    "larger than the machine",
                    format!("write at most {largest:.2}, the logarithm (base 2) of `processors`"),
                );
            }
        }
        if let (Some(low), Some(medium)) = (lublin.u_low, lublin.u_med)
            && low > medium
        {
            self.report(
                &path.key("lublin").key("u-med"),
                format!("`u-med` is {medium}, less than `u-low`, {low}"),
                "less than `u-low`",
                "sizes grow from `u-low` to `u-med`".to_owned(),
            );
        }
    }

    fn check_jobs(&mut self, path: &Path, workload: &Workload) {
        for (index, job) in workload.jobs.iter().flatten().enumerate() {
            if job.requested == Some(TimeSpan::ZERO) {
                self.report(
                    &path.key("jobs").index(index).key("requested"),
                    "`requested` is 0s, needs more".to_owned(),
                    "no time to run",
                    "remove `requested` for a job without a limit".to_owned(),
                );
            }
        }
    }

    fn check_merge(&mut self, path: &Path, workload: &Workload, names: &Names) {
        let known: Vec<&str> = names.workloads.iter().map(String::as_str).collect();
        for (index, part) in workload.merge.iter().flatten().enumerate() {
            let path = path.key("merge").index(index);
            if !known.contains(&part.as_str()) {
                self.unknown_name(&path, "workload", part.as_str(), &known);
            } else if self.leads_to(part.as_str(), workload.name.as_str()) {
                self.report(
                    &path,
                    format!("workload \"{}\" would contain itself", workload.name),
                    "leads back to it",
                    "merge only workloads that do not merge this one".to_owned(),
                );
            }
        }
    }

    /// Whether `target` is `from` or among what is merged into it.
    fn leads_to(&self, from: &str, target: &str) -> bool {
        let mut seen: Vec<&str> = vec![from];
        let mut next = 0;
        while let Some(&name) = seen.get(next) {
            next += 1;
            if name == target {
                return true;
            }
            let workload =
                self.scenario.workloads.iter().find(|workload| workload.name.as_str() == name);
            for part in workload.and_then(|workload| workload.merge.as_ref()).into_iter().flatten()
            {
                if !seen.contains(&part.as_str()) {
                    seen.push(part.as_str());
                }
            }
        }
        false
    }

    fn check_log(&mut self, path: &Path, log: &str) {
        if self.logs == Logs::Ignore {
            return;
        }
        match log_path(log, self.source.folder()) {
            Err(error) => self.report(
                path,
                format!("log `{log}` cannot be found: {error}"),
                "no such variable",
                "set it to the folder that holds the logs, such as HAGGLE_TRACES=~/traces"
                    .to_owned(),
            ),
            Ok(file) if !file.is_file() => self.report(
                path,
                format!("log `{}` is not there", file.display()),
                "no such file",
                "paths start from the scenario's folder; the README says where logs can be had"
                    .to_owned(),
            ),
            Ok(_) => {}
        }
    }

    fn check_step(&mut self, path: &Path, step: &Step) {
        let order = "the smaller one comes first".to_owned();
        match step {
            Step::Window { from, until: Some(until) } if until <= from => self.report(
                &path.key("until"),
                format!("the window ends at {until}, but starts at {from}"),
                "not after `from`",
                order,
            ),
            Step::Filter { processors_min: Some(least), processors_max: Some(most), .. }
                if least > most =>
            {
                self.report(
                    &path.key("processors-max"),
                    format!("no job has at least {least} and at most {most} processors"),
                    "less than `processors-min`",
                    order,
                )
            }
            Step::Filter { run_min: Some(least), run_max: Some(most), .. } if least > most => self
                .report(
                    &path.key("run-max"),
                    format!("no job runs at least {least} and at most {most}"),
                    "less than `run-min`",
                    order,
                ),
            Step::Deadlines { factor_min, factor_max, .. } if factor_min > factor_max => self
                .report(
                    &path.key("factor-max"),
                    format!("`factor-max` is {factor_max}, less than `factor-min`, {factor_min}"),
                    "less than `factor-min`",
                    order,
                ),
            Step::Split { part, parts, .. } if part > parts => self.report(
                &path.key("part"),
                format!("there is no part {part} of {parts}"),
                "parts count from 1",
                format!("write a part from 1 to {parts}"),
            ),
            _ => {}
        }
    }
}
