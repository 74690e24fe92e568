//! The scenarios that hold after the changes of a run.
//!
//! A change is read as a scenario that extends the one before it. Its values, its failures and its seed are put into it,
//! and the result is checked as any scenario. Keys that cannot change are refused.

use std::collections::BTreeSet;
use std::ops::Range;

use haggle_config::Findings;
use haggle_config::document::{Entry, Node, Path, Step, Value};
use serde::Deserialize;

use super::axis::{self, Put};
use super::{Reading, drift};
use crate::changing::changes;
use crate::check::{Check, Uses, changes_fit};
use crate::file::{Change, SEED_MAX, seed_after};
use crate::schema::conform;
use crate::{Problem, Scenario, Warning};

impl Scenario {
    /// Sets the seed. Seeds of changes keep their distance to it, so that replications differ after a change, too.
    pub fn reseed(&mut self, seed: u64) {
        let before = std::mem::replace(&mut self.scenario.seed, seed);
        // Backwards by `before` is forwards by the rest of the ring of seeds.
        let moved = |other: u64| seed_after(seed_after(seed, other), SEED_MAX + 1 - before);
        for change in &mut self.changes {
            change.seed = change.seed.map(moved);
            if let Some(later) = &mut change.scenario {
                later.scenario.seed = moved(later.scenario.seed);
            }
        }
    }
}

impl Reading<'_> {
    /// The scenario after each change of a variant without problems. Problems of later scenarios are reported at the
    /// changes.
    pub(super) fn later(
        &self,
        root: &Node,
        scenario: &Scenario,
        problems: &mut Vec<Problem>,
        doubts: &mut Vec<Warning>,
    ) -> Vec<Scenario> {
        let mut document = without_changes(root);
        let mut before = Scenario {
            changes: Vec::new(),
            branches: Vec::new(),
            sweep: None,
            figures: Vec::new(),
            ..scenario.clone()
        };
        let (mut all, mut added) = (Vec::new(), 0);
        for (index, change) in scenario.changes.iter().enumerate() {
            let at = Path::root().key("change").index(index);
            let mut findings = Findings::default();
            let settings = root.at(&at.key("set"));
            let puts = settings.map(|it| axis::puts(&document, it, &mut findings));
            let puts = puts.unwrap_or_default();
            findings.problems.extend(puts.iter().filter_map(fixed));
            axis::put_all(puts.iter(), &mut document);
            add(&mut document, root, &at);
            added += change.failures.len();
            let found = conform(&mut document);
            findings.problems.extend(found.problems);
            let later = match Scenario::deserialize(document.to_toml()) {
                Ok(later) => Scenario { own: self.own.clone(), ..later.count_processors() },
                Err(error) => {
                    problems.push(drift(&error));
                    return all;
                }
            };
            if findings.problems.is_empty() {
                findings.problems.extend(self.problems(&later, &document, added));
            }
            if findings.problems.is_empty() {
                let past = index.checked_sub(1).map(|past| &scenario.changes[past]);
                let place = |path: &str| root.place(&path.split('.').fold(at.clone(), step));
                findings.problems.extend(changes_fit((&before, &later), (past, change), place));
            }
            if findings.problems.is_empty() && change.submit.is_empty() && later == before {
                doubts.push(Self::unchanged(change, root.place(&at)));
            }
            let after = format!("after the change at {}: ", change.at);
            problems.extend(
                findings
                    .problems
                    .into_iter()
                    .map(|it| Problem { message: format!("{after}{}", it.message), ..it }),
            );
            before = later.clone();
            all.push(later);
        }
        all
    }

    /// Problems of a scenario, given with its document and the number of tables of failures that changes have added.
    fn problems(&self, scenario: &Scenario, root: &Node, added_failures: usize) -> Vec<Problem> {
        let Reading { source, lines, logs, .. } = *self;
        let check = Check {
            scenario,
            directory: &scenario.directory(),
            source,
            lines,
            root,
            replaced: &[],
            logs,
            is_start: false,
            added_failures,
            problems: Vec::new(),
            unset: BTreeSet::new(),
            uses: Uses::default(),
        };
        check.run().0
    }

    /// Warning about a change without effect.
    fn unchanged(change: &Change, span: Range<usize>) -> Warning {
        Warning {
            message: format!("the change at {} changes nothing", change.at),
            span,
            label: "as before".to_owned(),
            help: Some("set another value, or remove the change".to_owned()),
        }
    }
}

/// A problem, if a value cannot change while a run goes on.
fn fixed(put: &Put) -> Option<Problem> {
    let keys = put.path.0.iter().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    let way = keys.collect::<Vec<_>>().join(".");
    let reason = changes(&way).err()?;
    Some(Problem {
        message: format!("`{way}` cannot change while a run goes on: {reason}"),
        span: put.span.clone(),
        label: "fixed".into(),
        help: Some("set it for the whole run, in a scenario of its own".into()),
    })
}

fn step(at: Path, key: &str) -> Path {
    match key.parse() {
        Ok(index) => at.index(index),
        Err(_) => at.key(key),
    }
}

/// A document without its changes, branches, sweep and figures, which are about the run as a whole.
fn without_changes(root: &Node) -> Node {
    let mut document = root.clone();
    if let Value::Table(entries) = &mut document.value {
        let whole = ["change", "branch", "sweep", "figure"];
        entries.retain(|entry| !whole.contains(&entry.key.as_str()));
    }
    document
}

/// Puts the seed and the failures of a change into a document.
fn add(document: &mut Node, root: &Node, at: &Path) {
    if let Some(seed) = root.at(&at.key("seed")) {
        let path = Path::root().key("scenario").key("seed");
        let put = Put { path, value: seed.clone(), span: seed.span.clone() };
        axis::put_all([&put].into_iter(), document);
    }
    let Some(failures) = root.at(&at.key("failures")) else { return };
    let Value::Table(entries) = &mut document.value else { return };
    match entries.iter_mut().find(|entry| entry.key == "failures") {
        Some(Entry { node: Node { value: Value::Array(all), .. }, .. }) => {
            if let Value::Array(more) = &failures.value {
                all.extend(more.iter().cloned());
            }
        }
        _ => {
            let key_span = failures.span.clone();
            entries.push(Entry { key: "failures".into(), key_span, node: failures.clone() });
        }
    }
}
