//! Failures: each table has one reason, and no processor is in two tables.

use std::collections::BTreeMap;
use std::ops::Range;

use haggle_model::Time;
use haggle_workloads::failures::{
    Cause, FailureError, Failures as Model, NOMINAL_ROWS, NominalRow, OutageList, OutageListError,
    Resource,
};

use super::exclusions::SPREADING_FAILURES;
use super::names::Names;
use super::rule::{Refusal, Sources, item, refuse};
use super::{Check, EACH_MAX};
use crate::file::{FailureLaw, Failures, Provider, Scenario};
use crate::quantity::{Name, TimeSpan};
use haggle_config::document::Path;

#[rustfmt::skip] // a table
const HORIZON: &[Refusal<Scenario>] = &[
    refuse("scenario.horizon", |it, ()| it.scenario.horizon == Some(TimeSpan::ZERO), "`horizon` is 0s, needs more", "no job would run",
        "remove `horizon` to run until every job is over"),
];

#[rustfmt::skip] // a table
const NOMINAL: &[Refusal<Failures>] = &[
    refuse("nominal", |it, ()| it.nominal.is_some_and(|row| NominalRow::named(row).is_none()), "Table 3.1 of Chtepen 2011 has no row {row}",
        "no such row", "its rows are {rows}; others can be had with `law`"),
];

const REASONS: Sources = Sources {
    none: "these failures have no source",
    add: "add one of `law`, `nominal`, `recorded` and `outages`",
    two: "these failures have two sources, `{first}` and `{second}`",
    keep: "keep one of them, or make two [[failures]] of different providers",
};

impl Check<'_> {
    pub(super) fn check_failures(&mut self, names: &Names) {
        self.refuse(HORIZON, &Path::root(), (self.scenario, &()), &[]);
        let known = names.owner_list();
        let mut failing = BTreeMap::new();
        let mut crashing = BTreeMap::new();
        let mut total = 0;
        for (index, failures) in self.scenario.failures.iter().enumerate() {
            let path = item("failures", index);
            let owners = self.scenario.owners_are();
            self.check_provider_list(&path.key("of"), &failures.of, &known, owners);
            self.check_reason(&path, failures);
            if let Some(actors) = &failures.actors {
                self.check_crashes(&path, failures, names);
                self.check_twice(&path.key("actors"), actors, &mut crashing);
                continue;
            }
            self.refuse(SPREADING_FAILURES, &path, (failures, &()), &[]);
            self.check_nodes(&path, failures, names);
            let before = total;
            total += self.failing_nodes(failures, names);
            // Only the table with which the sum exceeds the limit is reported.
            if total > EACH_MAX && before <= EACH_MAX {
                let message = format!(
                    "{total} nodes may fail, and at most {EACH_MAX} can, for each takes some kilobytes"
                );
                let help = "let fewer `nodes` fail, or more `processors-per-node` as one";
                self.report(&path, message, "one too many from here on", help);
            }
            // Failures of a change may come beside those of the scenario.
            if index + self.added_failures < self.scenario.failures.len() {
                self.check_owners(&path, failures, names, &mut failing);
            }
        }
    }

    /// No processor may be in two tables; `before` has the processors of each owner in the tables before, with their lines.
    fn check_owners(
        &mut self,
        path: &Path,
        failures: &Failures,
        names: &Names,
        before: &mut BTreeMap<String, Vec<(Range<u32>, usize)>>,
    ) {
        let line = self.line(path);
        let mut twice = None;
        for name in names.copies_meant(&failures.of) {
            let failing = self.failing_members(failures, &name, names);
            let others = before.entry(name.clone()).or_default();
            let shared = |it: &Range<u32>| it.start < failing.end && failing.start < it.end;
            if twice.is_none() {
                twice = others.iter().find(|it| shared(&it.0)).map(|it| (it.1, name));
            }
            others.push((failing, line));
        }
        let Some((line, name)) = twice else { return };
        let (what, help) = match names.providers.contains_key(&name) {
            true => (
                "provider",
                "name it in one of them, or let other nodes fail by `first-node` and `nodes`",
            ),
            false => (self.scenario.owners_of(&name), "name it in one of them"),
        };
        let message = format!("{what} \"{name}\" has failures in two tables");
        let help = format!("the table on line {line} is about it too; {help}");
        self.report(&path.key("of"), message, "again", help);
    }

    /// The members of an owner that a table lets fail, from the first to the last one.
    fn failing_members(&self, failures: &Failures, name: &str, names: &Names) -> Range<u32> {
        let Some(&place) = names.providers.get(name) else { return 0..u32::MAX };
        let provider = &self.scenario.providers[place];
        let mut nodes = failures.nodes_among(provider.processors, &provider.nodes);
        let first = nodes.next().unwrap_or(0..0);
        let end = nodes.last().map_or(first.end, |last| last.end);
        first.start..end
    }

    /// No actor may be named twice; `lines` are the lines of the actors named so far.
    fn check_twice(&mut self, path: &Path, actors: &[Name], lines: &mut BTreeMap<String, usize>) {
        let line = self.line(path);
        for (index, actor) in actors.iter().enumerate() {
            if let Some(before) = lines.insert(actor.to_string(), line) {
                let message = format!("the crashes of \"{actor}\" are named twice");
                let help = format!("line {before} is about it too; name it once");
                self.report(&path.index(index), message, "again", help);
            }
        }
    }

    fn check_reason(&mut self, path: &Path, failures: &Failures) {
        let reasons = [
            ("law", failures.law.is_some()),
            ("nominal", failures.nominal.is_some()),
            ("recorded", failures.recorded.is_some()),
            ("outages", failures.outages.is_some()),
        ];
        self.one_source(REASONS, path, &reasons, &[]);
        if let Some(law) = &failures.law {
            self.check_failure_law(&path.key("law"), law);
        }
        let row = failures.nominal.unwrap_or_default();
        let rows = NOMINAL_ROWS.map(|row| row.percent.to_string()).join(", ");
        self.refuse(NOMINAL, path, (failures, &()), &[("row", &row), ("rows", &rows)]);
        if let Some(recorded) = &failures.recorded {
            self.check_file(&path.key("recorded").key("log"), "log", &recorded.log);
        }
        if let Some(Err(error)) = failures.listed().map(OutageList::new) {
            self.report_outages(path, &error);
        }
    }

    fn report_outages(&mut self, path: &Path, error: &OutageListError) {
        let (OutageListError::Empty { number, .. } | OutageListError::Overlap { number, .. }) =
            error;
        let message = match error {
            OutageListError::Overlap { fail, restored: Time::FOREVER, .. } => {
                format!(
                    "outage {number} starts at {fail} s, and the one before it is never restored"
                )
            }
            _ => error.to_string(),
        };
        let help =
            "write [failure, restoration] in order of time; only the last may have no restoration";
        let at = path.key("outages").index(number - 1);
        self.report(&at, message, "not after the one before", help);
    }

    fn check_failure_law(&mut self, path: &Path, law: &FailureLaw) {
        let mut all_is_well = true;
        for (key, times) in [("up", &law.up), ("down", &law.down)] {
            let weights = times.weights();
            all_is_well &= weights.is_none_or(|(values, weights)| values == weights);
            self.weights(&path.key(key), weights);
        }
        if !all_is_well {
            return;
        }
        let resource = Resource { name: String::new(), cause: Cause::Law(law.to_model()) };
        let failures = Model { resources: vec![resource], ..Model::default() };
        let (which, problem) = match failures.outages().err() {
            Some(FailureError::Law { which, problem, .. }) => (which, problem.to_string()),
            Some(FailureError::NotATime { which, law, .. }) => {
                let problem = format!("the {law} law has values below 0 or no finite mean above 0");
                (which, problem)
            }
            _ => return,
        };
        self.report(
            &path.key(which),
            problem.replace('_', "-"),
            "no law of a time up or down",
            "constant, uniform, choice, exponential, lognormal, weibull and gamma can be used, with values from 0 on and \
             a finite mean above 0",
        );
    }

    /// Number of nodes, over all owners, that a table lets fail.
    pub(super) fn failing_nodes(&self, failures: &Failures, names: &Names) -> u64 {
        let nodes = |name: String| {
            let count = match names.providers.get(&name) {
                Some(&place) => {
                    let provider = &self.scenario.providers[place];
                    failures.count_nodes(provider.processors, &provider.nodes)
                }
                None => failures.count_nodes(names.members.get(&name).copied().unwrap_or(0), &[]),
            };
            u64::from(count)
        };
        names.copies_meant(&failures.of).into_iter().map(nodes).sum()
    }

    fn check_nodes(&mut self, path: &Path, failures: &Failures, names: &Names) {
        let wanted = failures.nodes.unwrap_or(0);
        let providers = names.providers_meant(&failures.of).into_iter();
        let providers = providers.map(|place| &self.scenario.providers[place]);
        let all = Failures { nodes: None, ..failures.clone() };
        let nodes = |it: &Provider| all.count_nodes(it.processors, &it.nodes);
        if let Some(first) = failures.first_node {
            let mut providers = providers.clone();
            if let Some(it) = providers.find(|it| nodes(it) == 0) {
                let message = format!("provider \"{}\" has no node {first}", it.name);
                self.report(&path.key("first-node"), message, "too many", "write a smaller number");
                return;
            }
        }
        let few = providers.map(|it| (&it.name, nodes(it))).find(|(_, nodes)| wanted > *nodes);
        if let Some((name, nodes)) = few {
            let message = format!("provider \"{name}\" has {nodes} nodes, not {wanted}");
            self.report(&path.key("nodes"), message, "too many", "remove `nodes` to let all fail");
        }
    }
}
