//! Workloads: one source each, logs that exist, and valid steps.

use std::collections::BTreeSet;

use super::names::{Known, Names};
use super::{Check, Logs};
use crate::file::{Step, Workload};
use crate::log_path;
use crate::quantity::TimeSpan;
use crate::workload::step_problem;
use haggle_config::document::Path;

impl Check<'_> {
    pub(super) fn check_workloads(&mut self, names: &Names) {
        let known = names.workload_list();
        // Only workloads that may be in a circle are searched for one, because the search follows all mergers.
        let circles = self.before_circles();
        for (index, workload) in self.scenario.workloads.iter().enumerate() {
            let path = Path::root().key("workload").index(index);
            self.check_source(&path, workload);
            self.check_model(&path, workload);
            self.check_jobs(&path, workload);
            self.check_merge(&path, workload, &known, circles.contains(&index));
            self.check_rules(&path, workload);
            if let Some(log) = &workload.log {
                self.check_file(&path.key("log"), "log", log);
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
                "a source is missing",
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

    fn check_rules(&mut self, path: &Path, workload: &Workload) {
        if workload.log.is_none() && !workload.rules.is_empty() {
            self.report(
                &path.key("rules"),
                format!("workload \"{}\" has rules for a log, but no log", workload.name),
                "not used",
                "remove them, or put them under the workload that reads the log".to_owned(),
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
            if job.key == Some(i64::MIN) {
                self.report(
                    &path.key("jobs").index(index).key("key"),
                    format!("`key` is {}, which stands for a missing value in tables", i64::MIN),
                    "too low",
                    format!("write {} or more", i64::MIN + 1),
                );
            }
        }
    }

    fn check_merge(
        &mut self,
        path: &Path,
        workload: &Workload,
        known: &Known<'_>,
        may_be_in_circle: bool,
    ) {
        let mut seen = BTreeSet::new();
        let parts = workload.merge.as_deref().unwrap_or_default();
        for (index, part) in parts.iter().enumerate() {
            let path = path.key("merge").index(index);
            if !known.contains(part.as_str()) {
                self.unknown_name(&path, "workload", part.as_str(), known);
            } else if !seen.insert(part) {
                self.report(
                    &path,
                    format!("workload \"{part}\" is listed twice"),
                    "again",
                    "remove one of them, or make a second workload of the same source".to_owned(),
                );
            } else if may_be_in_circle && self.leads_to(part.as_str(), workload.name.as_str()) {
                self.report(
                    &path,
                    format!("workload \"{}\" would contain itself", workload.name),
                    "leads back to it",
                    "merge only workloads that do not merge this one".to_owned(),
                );
            }
        }
    }

    /// True if `target` is `from`, or is merged into it.
    fn leads_to(&self, from: &str, target: &str) -> bool {
        let target = self.directory.workload_place(target);
        target.is_some_and(|target| self.directory.sources(from).contains(&target))
    }

    /// Places of the workloads that are in a circle of mergers, or that merge workloads of one. A workload is
    /// removed as soon as all its parts are; these are left.
    fn before_circles(&self) -> BTreeSet<usize> {
        let workloads = &self.scenario.workloads;
        let mut mergers = vec![Vec::new(); workloads.len()];
        let mut parts = vec![0_usize; workloads.len()];
        for (place, workload) in workloads.iter().enumerate() {
            for part in workload.merge.iter().flatten() {
                if let Some(part) = self.directory.workload_place(part.as_str()) {
                    mergers[part].push(place);
                    parts[place] += 1;
                }
            }
        }
        let mut left: BTreeSet<usize> = (0..workloads.len()).collect();
        let mut free = Vec::from_iter((0..workloads.len()).filter(|&place| parts[place] == 0));
        while let Some(place) = free.pop() {
            left.remove(&place);
            for &merger in &mergers[place] {
                parts[merger] -= 1;
                if parts[merger] == 0 {
                    free.push(merger);
                }
            }
        }
        left
    }

    /// Checks that a log, record or workflow is a file that exists.
    pub(super) fn check_file(&mut self, path: &Path, what: &str, log: &str) {
        if self.logs == Logs::Ignore {
            return;
        }
        match log_path(log, self.source.folder()) {
            // A variable that is not set is reported once, for all logs whose paths use it.
            Err(error) if self.unset.contains(&error.to_string()) => {}
            Err(error) => {
                self.unset.insert(error.to_string());
                self.report(
                    path,
                    format!("{what} `{log}` cannot be found: {error}"),
                    "no such variable",
                    "set it to the folder that holds the logs, such as HAGGLE_TRACES=~/traces"
                        .to_owned(),
                );
            }
            Ok(file) if file.is_dir() => self.report(
                path,
                format!("{what} `{}` is a folder", file.display()),
                "a folder",
                "name a file in it".to_owned(),
            ),
            Ok(file) if file.exists() && !file.is_file() => self.report(
                path,
                format!("{what} `{}` is a pipe or a device", file.display()),
                "can be read only once",
                "write it into a file: the files of a scenario are read once for each run, and \
                 again for their hash; `haggle replay` reads a pipe"
                    .to_owned(),
            ),
            Ok(file) if !file.is_file() => self.report(
                path,
                format!("{what} `{}` is not there", file.display()),
                "no such file",
                match what {
                    "log" => {
                        "paths start from the scenario's folder; the README lists sources of \
                              logs"
                    }
                    _ => "paths start from the scenario's folder",
                }
                .to_owned(),
            ),
            Ok(_) => {}
        }
    }

    fn check_step(&mut self, path: &Path, step: &Step) {
        if let Step::Window { from, until: Some(until), .. } = step
            && until <= from
        {
            self.report(
                &path.key("until"),
                format!("the window ends at {until}, but starts at {from}"),
                "not after `from`",
                "the smaller one comes first".to_owned(),
            );
        } else if let Step::RandomWindow { length, from, until: Some(until), .. } = step
            && until.0 - from.0 < length.0
        {
            self.report(
                &path.key("length"),
                format!("no window of {length} fits between {from} and {until}"),
                "too long",
                "shorten `length`, or move `until`".to_owned(),
            );
        } else if let Step::Filter { .. } = step {
            self.check_filter(path, step);
        } else if let Step::Split { part, count, parts, .. } = step
            && part < parts
            && *count > parts - part
        {
            self.report(
                &path.key("count"),
                format!("there are no {count} parts from part {part} of {parts} on"),
                "too many",
                format!("write a count from 1 to {}", parts - part),
            );
        } else if let Step::Split { part, parts, .. } = step
            && part >= parts
        {
            self.report(
                &path.key("part"),
                format!("there is no part {part} of {parts}"),
                "parts count from 0",
                format!("write a part from 0 to {}", parts.saturating_sub(1)),
            );
        } else if self.check_choices(path, step)
            && !self.has_replaced(path)
            && let Some(problem) = step_problem(step)
        {
            self.report(path, problem.to_string(), "out of range", None);
        }
    }

    fn check_filter(&mut self, path: &Path, step: &Step) {
        let Step::Filter {
            processors_min,
            processors_max,
            run_min,
            run_max,
            requested_min,
            requested_max,
            ..
        } = step
        else {
            return;
        };
        let text = |span: &TimeSpan| span.to_string();
        let count = |count: &u32| count.to_string();
        let bounds = [
            (
                "processors",
                processors_min > processors_max,
                processors_min.as_ref().map(count),
                processors_max.as_ref().map(count),
            ),
            ("run", run_min > run_max, run_min.as_ref().map(text), run_max.as_ref().map(text)),
            (
                "requested",
                requested_min > requested_max,
                requested_min.as_ref().map(text),
                requested_max.as_ref().map(text),
            ),
        ];
        for (name, crossed, least, most) in bounds {
            if let (true, Some(least), Some(most)) = (crossed, least, most) {
                self.report(
                    &path.key(&format!("{name}-max")),
                    format!("`{name}-max` is {most}, less than `{name}-min`, {least}"),
                    &format!("less than `{name}-min`"),
                    "no job would be kept; the smaller one is the minimum".to_owned(),
                );
            }
        }
    }

    /// Reports steps with none or both of two keys of which they need exactly one, keys that go with the other
    /// one, and lists of weights of wrong length. Returns `true` if there is no problem.
    fn check_choices(&mut self, path: &Path, step: &Step) -> bool {
        let before = self.problems.len();
        match step {
            Step::Estimates { rule, factor, over, of } => {
                let given = [
                    ("rule", rule.is_some()),
                    ("factor", factor.is_some()),
                    ("over", over.is_some()),
                ];
                self.one_of(path, "step", given, "steps");
                if of.is_some() && factor.is_none() {
                    self.without(path, "of", "factor");
                }
                self.weights(&path.key("factor"), factor.as_ref().and_then(|law| law.weights()));
            }
            Step::Deadlines { factor, least, slack, one_of, stream, .. } => {
                let given = [
                    ("factor", factor.is_some()),
                    ("slack", slack.is_some()),
                    ("one-of", one_of.is_some()),
                ];
                self.one_of(path, "step", given, "steps");
                if stream.is_some() && one_of.is_none() {
                    self.without(path, "stream", "one-of");
                }
                if least.is_some() && factor.is_none() {
                    self.without(path, "least", "factor");
                }
                self.weights(&path.key("factor"), factor.as_ref().and_then(|law| law.weights()));
                self.weights(&path.key("slack"), slack.as_ref().and_then(|law| law.weights()));
            }
            Step::ReadyTimes { delay, lead } => {
                let given = [("delay", delay.is_some()), ("lead", lead.is_some())];
                self.one_of(path, "step", given, "steps");
                self.weights(&path.key("delay"), delay.as_ref().and_then(|law| law.weights()));
                self.weights(&path.key("lead"), lead.as_ref().and_then(|law| law.weights()));
            }
            Step::Reservations { lead, flexibility, .. } => {
                for (key, law) in [("lead", lead), ("flexibility", flexibility)] {
                    self.weights(&path.key(key), law.as_ref().and_then(|law| law.weights()));
                }
            }
            Step::RunTimes { percent } => self.weights(&path.key("percent"), percent.weights()),
            Step::Moldable { parallel: None, limit: Some(_), .. } => {
                self.without(path, "limit", "parallel");
            }
            _ => {}
        }
        self.problems.len() == before
    }

    /// Reports two of several `keys` of `what`, or none; `several` names the things to make two of.
    pub(super) fn one_of<const N: usize>(
        &mut self,
        path: &Path,
        what: &str,
        keys: [(&str, bool); N],
        several: &str,
    ) {
        // A key that was given but wrong has been reported already.
        let given = |&&(key, given): &&(&str, bool)| given || self.is_replaced(&path.key(key));
        let found: Vec<&str> = keys.iter().filter(given).map(|(key, _)| *key).collect();
        match found[..] {
            [] => {
                let keys = keys.map(|(key, _)| format!("`{key}`"));
                self.report(
                    path,
                    format!("the {what} has neither {}", keys.join(" nor ")),
                    "one of them is missing here",
                    format!("add {}", keys.join(" or ")),
                );
            }
            [first, second, ..] => self.report(
                &path.key(second),
                format!("the {what} has both `{first}` and `{second}`"),
                "the second one",
                format!("keep one of them, or make two {several}"),
            ),
            [_] => {}
        }
    }

    fn without(&mut self, path: &Path, key: &str, needed: &str) {
        if !self.is_replaced(&path.key(needed)) {
            self.report(
                &path.key(key),
                format!("`{key}` goes with `{needed}`, which is not there"),
                "not used",
                format!("remove it, or add `{needed}`"),
            );
        }
    }

    pub(super) fn weights(&mut self, law: &Path, lengths: Option<(usize, usize)>) {
        if let Some((needed, given)) = lengths.filter(|(needed, given)| needed != given) {
            self.report(
                &law.key("weights"),
                format!("the law has {given} weights, needs {needed}"),
                "not one for each value or bin",
                "give each value, or each bin between two edges, a weight, in the same order"
                    .to_owned(),
            );
        }
    }
}
