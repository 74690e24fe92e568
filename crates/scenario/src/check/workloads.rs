//! Workloads: one source each, logs that exist, and valid steps.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::names::{Known, Names};
use super::rule::{Refusal, Sources, Words, item, refuse};
use super::{Check, Logs};
use crate::file::{InlineJob, Law, LogFormat, LogNames, LogReading, Step, TimeLaw, Workload};
use crate::log_path;
use crate::quantity::TimeSpan;
use crate::workload::step_problem;
use haggle_config::document::Path;

const SOURCES: Sources = Sources {
    none: "workload \"{name}\" has no source of jobs",
    add: "add one of `log`, `model`, `jobs` and `merge`",
    two: "workload \"{name}\" has two sources of jobs, `{first}` and `{second}`",
    keep: "make two workloads and a third that has both under `merge`",
};

#[rustfmt::skip] // a table
const RULES: &[Refusal<Workload>] = &[
    refuse("rules", |it, ()| it.log.is_none() && !it.rules.is_empty(), "workload \"{name}\" has rules for a log, but no log", "not used",
        "remove them, or put them under the workload that reads the log"),
    refuse("reading", |it, ()| it.log.is_none() && !it.reading.is_empty(), "workload \"{name}\" has `reading`, but no log", "not used",
        "remove it, or put it under the workload that reads the log"),
];

/// How a log is read.
#[rustfmt::skip] // a table
const READING: &[Refusal<LogReading>] = &[
    refuse("time-zone", |it, ()| it.time_zone.is_some() && it.format == Some(LogFormat::Swf),
        "times of a log in Standard Workload Format have no zone", "not used", "remove it; steps by time of day read `TimeZone` of the log"),
    refuse("columns", |it, ()| !it.columns.is_empty() && it.format != Some(LogFormat::Sacct),
        "`columns` names the fields of a log of sacct without a line of names", "not used", "add `format = \"sacct\"`, or remove `columns`"),
    refuse("mapping", |it, ()| it.mapping.is_some() && it.format.is_some_and(|format| ![LogFormat::Csv, LogFormat::Parquet].contains(&format)),
        "`mapping` is for tables of jobs", "not used", "remove it, or write `format = \"csv\"` or `\"parquet\"`"),
    refuse("names", |it, ()| it.names != LogNames::default() && matches!(it.format, Some(LogFormat::Swf | LogFormat::Batsim)),
        "a log of this format has numbers, and no names", "not used", "remove `names`"),
    refuse("demands", |it, ()| !it.demands.is_empty() && !matches!(it.format, None | Some(LogFormat::Sacct | LogFormat::SacctJson)),
        "jobs of a log of this format state no nodes and accelerators", "not read", "remove it, or add a step `demand` with `memory-from`"),
    refuse("format", |it, ()| it.mapping.is_none() && matches!(it.format, Some(LogFormat::Csv | LogFormat::Parquet)),
        "a table of jobs needs a mapping of its columns", "without `mapping`", "add `mapping`, a file that docs/formats.md describes"),
];

/// Jobs that a workload lists.
#[rustfmt::skip] // a table
const JOBS: &[Refusal<InlineJob>] = &[
    refuse("requested", |it, ()| it.requested == Some(TimeSpan::ZERO), "`requested` is 0s, needs more", "no time to run",
        "remove `requested` for a job without a limit"),
    refuse("key", |it, ()| it.key == Some(i64::MIN), "`key` is -9223372036854775808, which stands for a missing value in tables", "too low",
        "write -9223372036854775807 or more"),
];

/// Files that a scenario names; the fact is true for logs.
#[rustfmt::skip] // a table
const FILES: &[Refusal<std::path::Path, bool>] = &[
    refuse("", |it, _| it.is_dir(), "{what} `{file}` is a folder", "a folder", "name a file in it"),
    refuse("", |it, _| it.exists() && !it.is_file(), "{what} `{file}` is a pipe or a device", "can be read only once",
        "write it into a file: the files of a scenario are read once for each run, and again for their hash; `haggle replay` reads a pipe"),
    refuse("", |it, &is_log| is_log && !it.is_file(), "{what} `{file}` is not there", "no such file",
        "paths start from the scenario's folder; the README lists sources of logs"),
    refuse("", |it, &is_log| !is_log && !it.is_file(), "{what} `{file}` is not there", "no such file",
        "paths start from the scenario's folder"),
];

/// Steps with two keys that contradict each other.
#[rustfmt::skip] // a table
const STEPS: &[Refusal<Step>] = &[
    refuse("until", |it, ()| matches!(it, Step::Window { from, until: Some(until), .. } if until <= from),
        "the window ends at {until}, but starts at {from}", "not after `from`", "the smaller one comes first"),
    refuse("length", |it, ()| matches!(it, Step::RandomWindow { length, from, until: Some(until), .. } if until.0 - from.0 < length.0),
        "no window of {length} fits between {from} and {until}", "too long", "shorten `length`, or move `until`"),
    refuse("count", |it, ()| matches!(it, Step::Split { part, count, parts, .. } if part < parts && *count > parts - part),
        "there are no {count} parts from part {part} of {parts} on", "too many", "write a count from 1 to {left}"),
    refuse("part", |it, ()| matches!(it, Step::Split { part, parts, .. } if part >= parts), "there is no part {part} of {parts}",
        "parts count from 0", "write a part from 0 to {last}"),
];

impl Check<'_> {
    pub(super) fn check_workloads(&mut self, names: &Names) {
        let known = names.workload_list();
        // Only workloads that may be in a circle are searched for one, because the search follows all mergers.
        let circles = self.before_circles();
        for (index, workload) in self.scenario.workloads.iter().enumerate() {
            let path = item("workload", index);
            self.check_source(&path, workload);
            self.check_model(&path, workload);
            for (index, job) in workload.jobs.iter().flatten().enumerate() {
                self.refuse(JOBS, &path.key("jobs").index(index), (job, &()), &[]);
            }
            if let Some(jobs) = &workload.jobs {
                self.check_followers(&path.key("jobs"), jobs);
            }
            self.check_steps_of_followers(&path, workload);
            self.check_merge(&path, workload, &known, circles.contains(&index));
            self.refuse(RULES, &path, (workload, &()), &[("name", &workload.name)]);
            if let Some(log) = &workload.log {
                self.check_file(&path.key("log"), "log", log);
                let path = path.key("reading");
                self.refuse(READING, &path, (&workload.reading, &()), &[]);
                if let Some(mapping) = &workload.reading.mapping {
                    self.check_file(&path.key("mapping"), "mapping", mapping);
                }
                self.check_listed_names(&path.key("names"), &workload.reading.names);
            }
            for (index, step) in workload.steps.iter().enumerate() {
                self.check_step(&path.key("step").index(index), step);
            }
        }
    }

    /// A name has one number.
    fn check_listed_names(&mut self, path: &Path, names: &LogNames) {
        for (key, list) in names.lists() {
            let mut known = BTreeSet::new();
            for (index, name) in list.iter().enumerate() {
                if !known.insert(name) {
                    let path = path.key(key).index(index);
                    let message = format!("\"{name}\" stands twice in `{key}`");
                    self.report(&path, message, "a second time", "list each name once");
                }
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
        self.one_source(SOURCES, path, &sources, &[("name", &workload.name)]);
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
                let help = "remove one of them, or make a second workload of the same source";
                let message = format!("workload \"{part}\" is listed twice");
                self.report(&path, message, "again", help);
            } else if may_be_in_circle && self.leads_to(part.as_str(), workload.name.as_str()) {
                let help = "merge only workloads that do not merge this one";
                let message = format!("workload \"{}\" would contain itself", workload.name);
                self.report(&path, message, "leads back to it", help);
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
            Err(error) => {
                if self.unset.insert(error.to_string()) {
                    let message = format!("{what} `{log}` cannot be found: {error}");
                    let help =
                        "set it to the folder that holds the logs, such as HAGGLE_TRACES=~/traces";
                    self.report(path, message, "no such variable", help);
                }
            }
            Ok(file) => {
                let words: Words<'_> = &[("what", &what), ("file", &file.display())];
                self.refuse_first(FILES, path, (file.as_path(), &(what == "log")), words);
            }
        }
    }

    fn check_step(&mut self, path: &Path, step: &Step) {
        if self.check_bounds_of_step(path, step)
            && self.check_choices(path, step)
            && !self.has_replaced(path)
            && let Some(problem) = step_problem(step)
        {
            self.report_problem(path, problem.to_string(), "out of range", None);
        }
    }

    /// Reports bounds of a step that contradict each other. Returns `true` if its values may be judged one by one.
    fn check_bounds_of_step(&mut self, path: &Path, step: &Step) -> bool {
        match step {
            Step::Window { from, until: Some(until), .. } => {
                let words: Words<'_> = &[("from", from), ("until", until)];
                !self.refuse_first(STEPS, path, (step, &()), words)
            }
            Step::RandomWindow { length, from, until: Some(until), .. } => {
                let words: Words<'_> = &[("length", length), ("from", from), ("until", until)];
                !self.refuse_first(STEPS, path, (step, &()), words)
            }
            Step::Split { part, count, parts, .. } => {
                let (left, last) = (parts.saturating_sub(*part), parts.saturating_sub(1));
                let words: Words<'_> = &[
                    ("part", part),
                    ("count", count),
                    ("parts", parts),
                    ("left", &left),
                    ("last", &last),
                ];
                !self.refuse_first(STEPS, path, (step, &()), words)
            }
            Step::Filter { .. } => {
                self.check_filter(path, step);
                false
            }
            _ => true,
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
        self.check_ends(path, "processors", processors_min.as_ref(), processors_max.as_ref());
        self.check_ends(path, "run", run_min.as_ref(), run_max.as_ref());
        self.check_ends(path, "requested", requested_min.as_ref(), requested_max.as_ref());
    }

    /// Reports a minimum above the maximum of a filter.
    fn check_ends<T: PartialOrd + Display>(
        &mut self,
        path: &Path,
        name: &str,
        least: Option<&T>,
        most: Option<&T>,
    ) {
        if let (Some(least), Some(most)) = (least, most)
            && least > most
        {
            self.report(
                &path.key(&format!("{name}-max")),
                format!("`{name}-max` is {most}, less than `{name}-min`, {least}"),
                &format!("less than `{name}-min`"),
                "no job would be kept; the smaller one is the minimum",
            );
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
                self.goes_with(path, ("of", of.is_some()), ("factor", factor.is_some()));
                self.weights(&path.key("factor"), factor.as_ref().and_then(Law::weights));
            }
            Step::Deadlines { factor, least, slack, one_of, stream, .. } => {
                let given = [
                    ("factor", factor.is_some()),
                    ("slack", slack.is_some()),
                    ("one-of", one_of.is_some()),
                ];
                self.one_of(path, "step", given, "steps");
                self.goes_with(path, ("stream", stream.is_some()), ("one-of", one_of.is_some()));
                self.goes_with(path, ("least", least.is_some()), ("factor", factor.is_some()));
                self.weights(&path.key("factor"), factor.as_ref().and_then(Law::weights));
                self.weights(&path.key("slack"), slack.as_ref().and_then(TimeLaw::weights));
            }
            Step::ReadyTimes { delay, lead } => {
                let given = [("delay", delay.is_some()), ("lead", lead.is_some())];
                self.one_of(path, "step", given, "steps");
                self.weights(&path.key("delay"), delay.as_ref().and_then(TimeLaw::weights));
                self.weights(&path.key("lead"), lead.as_ref().and_then(TimeLaw::weights));
            }
            Step::Reservations { lead, flexibility, .. } => {
                self.weights(&path.key("lead"), lead.as_ref().and_then(Law::weights));
                self.weights(&path.key("flexibility"), flexibility.as_ref().and_then(Law::weights));
            }
            Step::RunTimes { percent } => self.weights(&path.key("percent"), percent.weights()),
            Step::Moldable { parallel, limit, .. } => {
                self.goes_with(path, ("limit", limit.is_some()), ("parallel", parallel.is_some()));
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
        match self.given(path, &keys)[..] {
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

    /// Reports a key that goes with another one, without that.
    fn goes_with(
        &mut self,
        path: &Path,
        (key, given): (&str, bool),
        (needed, is_there): (&str, bool),
    ) {
        if given && !is_there && !self.is_replaced(&path.key(needed)) {
            let message = format!("`{key}` goes with `{needed}`, which is not there");
            self.report(
                &path.key(key),
                message,
                "not used",
                format!("remove it, or add `{needed}`"),
            );
        }
    }

    /// Checks that a law has as many weights as it needs.
    pub(super) fn weights(&mut self, law: &Path, lengths: Option<(usize, usize)>) {
        if let Some((needed, given)) = lengths.filter(|(needed, given)| needed != given) {
            let message = format!("the law has {given} weights, needs {needed}");
            let help =
                "give each value, or each bin between two edges, a weight, in the same order";
            self.report(&law.key("weights"), message, "not one for each value or bin", help);
        }
    }
}
