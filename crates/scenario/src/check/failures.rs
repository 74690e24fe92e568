//! Failures: each table has one reason, and no provider is in two tables.

use std::collections::BTreeMap;

use haggle_model::Time;
use haggle_workloads::failures::{
    Cause, FailureError, Failures as Model, NOMINAL_ROWS, NominalRow, OutageList, OutageListError,
    Resource,
};

use super::names::Names;
use super::{Check, EACH_MAX};
use crate::file::{FailureLaw, Failures};
use crate::quantity::{Name, TimeSpan};
use haggle_config::document::Path;

impl Check<'_> {
    pub(super) fn check_failures(&mut self, names: &Names) {
        if self.scenario.scenario.horizon == Some(TimeSpan::ZERO) {
            self.report(
                &Path::root().key("scenario").key("horizon"),
                "`horizon` is 0s, needs more".to_owned(),
                "no job would run",
                "remove `horizon` to run until every job is over".to_owned(),
            );
        }
        let known = names.owner_list();
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        let mut crashing = BTreeMap::new();
        let mut total = 0;
        for (index, failures) in self.scenario.failures.iter().enumerate() {
            let path = Path::root().key("failures").index(index);
            let owners = self.scenario.owners_are();
            self.check_provider_list(&path.key("of"), &failures.of, &known, owners);
            self.check_reason(&path, failures);
            if let Some(actors) = &failures.actors {
                self.check_crashes(&path, failures, names);
                self.check_twice(&path.key("actors"), actors, &mut crashing);
                continue;
            }
            self.check_spreading(&path, failures);
            self.check_nodes(&path, failures, names);
            let before = total;
            total += self.failing_nodes(failures, names);
            // Only the table with which the sum exceeds the limit is reported.
            if total > EACH_MAX && before <= EACH_MAX {
                self.report(
                    &path,
                    format!(
                        "{total} nodes may fail, and at most {EACH_MAX} can, for each takes some \
                         kilobytes"
                    ),
                    "one too many from here on",
                    "let fewer `nodes` fail, or more `processors-per-node` as one".to_owned(),
                );
            }
            let line = self.line(&path);
            for name in names.copies_meant(&failures.of) {
                let Some(line) = lines.insert(name.clone(), line) else { continue };
                let what = match names.providers.contains_key(&name) {
                    true => "provider",
                    false => self.scenario.owners_of(&name),
                };
                self.report(
                    &path.key("of"),
                    format!("{what} \"{name}\" has failures in two tables"),
                    "again",
                    format!("the table on line {line} is about it too; name it in one of them"),
                );
                break;
            }
        }
    }

    /// No actor may be named twice; `lines` are the lines of the actors named so far.
    fn check_twice(&mut self, path: &Path, actors: &[Name], lines: &mut BTreeMap<String, usize>) {
        let line = self.line(path);
        for (index, actor) in actors.iter().enumerate() {
            if let Some(before) = lines.insert(actor.to_string(), line) {
                self.report(
                    &path.index(index),
                    format!("the crashes of \"{actor}\" are named twice"),
                    "again",
                    format!("line {before} is about it too; name it once"),
                );
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
        // A reason that was given but wrong has been reported already.
        let given = |&&(key, given): &&(&str, bool)| given || self.is_replaced(&path.key(key));
        let given: Vec<&str> = reasons.iter().filter(given).map(|(key, _)| *key).collect();
        match given[..] {
            [_] => {}
            [] => self.report(
                path,
                "these failures have no source".to_owned(),
                "a source is missing",
                "add one of `law`, `nominal`, `recorded` and `outages`".to_owned(),
            ),
            [first, second, ..] => self.report(
                &path.key(second),
                format!("these failures have two sources, `{first}` and `{second}`"),
                "a second source",
                "keep one of them, or make two [[failures]] of different providers".to_owned(),
            ),
        }
        if let Some(law) = &failures.law {
            self.check_failure_law(&path.key("law"), law);
        }
        if let Some(row) = failures.nominal.filter(|&row| NominalRow::named(row).is_none()) {
            let rows = NOMINAL_ROWS.map(|row| row.percent.to_string()).join(", ");
            self.report(
                &path.key("nominal"),
                format!("Table 3.1 of Chtepen 2011 has no row {row}"),
                "no such row",
                format!("its rows are {rows}; others can be had with `law`"),
            );
        }
        if let Some(recorded) = &failures.recorded {
            self.check_file(&path.key("recorded").key("log"), "log", &recorded.log);
        }
        if let Some(Err(error)) = failures.listed().map(OutageList::new) {
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
            self.report(
                &path.key("outages").index(number - 1),
                message,
                "not after the one before",
                "write [failure, restoration] in order of time; only the last may have no restoration"
                    .to_owned(),
            );
        }
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
            "constant, uniform, choice, exponential, lognormal, weibull and gamma can be used, \
             with values from 0 on and a finite mean above 0"
                .to_owned(),
        );
    }

    /// Only failures that are drawn can be correlated.
    fn check_spreading(&mut self, path: &Path, failures: &Failures) {
        let drawn = failures.recorded.is_none() && failures.outages.is_none();
        if failures.correlation.is_some() && !drawn {
            self.report(
                &path.key("correlation"),
                "recorded and listed failures do not spread".to_owned(),
                "not used",
                "remove it, or let the nodes fail by `law` or `nominal`".to_owned(),
            );
        }
    }

    /// Number of nodes, over all owners, that a table lets fail.
    pub(super) fn failing_nodes(&self, failures: &Failures, names: &Names) -> u64 {
        let nodes = |members: u32| {
            let nodes = members.div_ceil(failures.processors_per_node.max(1));
            u64::from(nodes.min(failures.nodes.unwrap_or(u32::MAX)))
        };
        let members = |name: String| match names.providers.get(&name) {
            Some(&place) => self.scenario.providers[place].processors,
            None => names.members.get(&name).copied().unwrap_or(0),
        };
        names.copies_meant(&failures.of).into_iter().map(|name| nodes(members(name))).sum()
    }

    fn check_nodes(&mut self, path: &Path, failures: &Failures, names: &Names) {
        for place in names.providers_meant(&failures.of) {
            let provider = &self.scenario.providers[place];
            let nodes = provider.processors.div_ceil(failures.processors_per_node.max(1));
            let wanted = failures.nodes.unwrap_or(0);
            if wanted > nodes {
                let name = &provider.name;
                self.report(
                    &path.key("nodes"),
                    format!("provider \"{name}\" has {nodes} nodes, not {wanted}"),
                    "too many",
                    "remove `nodes` to let all fail".to_owned(),
                );
                break;
            }
        }
    }
}
