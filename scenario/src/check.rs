//! What a schema cannot say: names that exist, sizes that go together, files
//! that are there. Each file here checks one concern and reports all it finds.

use std::collections::BTreeSet;

use haggle_model::Span;

use super::quantity::TimeSpan;
use super::{Directory, Lines, Problem, Scenario, Source};
use haggle_config::document::{Node, Path};
use haggle_config::nearest;
use names::Known;

/// The shortest time after which anything may recur by itself.
const SHORTEST: TimeSpan = TimeSpan(haggle_scheduling::checkpoints::SHORTEST);

/// How many resources of grids, nodes that fail, or windows of maintenance a scenario may have: each is simulated by
/// itself, and takes up to some kilobytes.
const EACH_MAX: u64 = 2_000_000;

mod actors;
mod channel;
mod checkpoints;
mod coallocation;
mod crashes;
mod effect;
mod failures;
mod figures;
mod grid;
mod maintenance;
mod mapping;
mod models;
mod names;
mod overflow;
mod own;
mod plans;
mod protocol;
mod reservations;
mod sessions;
mod sizes;
mod uses;
mod workflows;
mod workloads;

pub(super) use uses::Uses;

/// Whether the logs that a scenario names have to be there, and so the rules of one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logs {
    /// One that is missing is a problem: for validating and running.
    MustExist,
    /// They are not looked for: for showing what a scenario says.
    Ignore,
}

/// A scenario while it is checked.
pub(super) struct Check<'a> {
    pub(super) scenario: &'a Scenario,
    /// Its tables by name.
    pub(super) directory: &'a Directory<'a>,
    pub(super) source: &'a Source,
    /// The lines of its text, counted once for all variants.
    pub(super) lines: &'a Lines<'a>,
    /// The document the scenario was read from, for the places of problems.
    pub(super) root: &'a Node,
    /// What has been replaced there; nothing more is said about it.
    pub(super) replaced: &'a [Path],
    pub(super) logs: Logs,
    pub(super) problems: Vec<Problem>,
    /// What was wrong with the variables that logs are found by.
    pub(super) unset: BTreeSet<String>,
    /// Which values are read, and which are written in vain.
    pub(super) uses: Uses,
}

impl Check<'_> {
    /// Runs every check; what has no effect is looked for where nothing is wrong.
    pub(super) fn run(mut self) -> (Vec<Problem>, Uses) {
        let names = names::Names::of(&mut self);
        self.check_workloads(&names);
        self.check_actors(&names);
        self.check_channel(&names);
        self.check_failures(&names);
        self.check_maintenance(&names);
        self.check_grid();
        self.check_sessions();
        self.check_plans();
        self.check_mapped();
        self.check_tasks();
        self.check_figures(&names);
        self.check_own();
        if self.problems.is_empty() {
            self.check_sizes(&names);
        }
        if self.problems.is_empty() {
            self.check_effects(&names);
        }
        (self.problems, self.uses)
    }

    /// Reports a problem at `path`, unless what stands there has been replaced.
    fn report(
        &mut self,
        path: &Path,
        message: String,
        label: &str,
        help: impl Into<Option<String>>,
    ) {
        if self.is_replaced(path) {
            return;
        }
        let span = self.root.place(path);
        self.problems.push(Problem { message, span, label: label.into(), help: help.into() });
    }

    /// Reports what would recur all the time: work without end for less than a blink of the model.
    fn check_recurring(&mut self, path: &Path, time: TimeSpan) {
        if recurs_all_the_time(time) {
            self.report(
                path,
                format!("{time} is too short for an event that recurs during the whole run"),
                &format!("less than {SHORTEST}"),
                format!("write at least \"{SHORTEST}\""),
            );
        }
    }

    /// Whether the value at `path` is a stand-in for one that was wrong or missing.
    fn is_replaced(&self, path: &Path) -> bool {
        self.replaced.iter().any(|replaced| replaced.contains(path))
    }

    /// Whether a part of what is at `path` is a stand-in, so that the whole cannot be judged.
    fn has_replaced(&self, path: &Path) -> bool {
        self.replaced.iter().any(|replaced| path.contains(replaced))
    }

    /// The line of the text in which the value at `path` begins.
    fn line(&self, path: &Path) -> usize {
        self.lines.line(self.root.place(path).start)
    }

    /// Reports a name at `path` that is none of `known`, saying which was probably meant.
    fn unknown_name(&mut self, path: &Path, what: &str, name: &str, known: &Known<'_>) {
        let known = known.list();
        let help = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None if known.is_empty() => format!("the scenario has no {what}"),
            None => format!("the scenario has {}", list(known)),
        };
        self.report(
            path,
            format!("no {what} is called \"{name}\""),
            &format!("no such {what}"),
            help,
        );
    }
}

/// Whether a time is too short for an event that recurs during the whole run.
fn recurs_all_the_time(time: TimeSpan) -> bool {
    Span::ZERO < time.0 && time.0 < SHORTEST.0
}

/// A list of names for a line of help, cut where it gets long.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
