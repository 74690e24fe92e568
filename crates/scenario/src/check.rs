//! Checks that a schema cannot express: names exist, sizes fit together, files exist. Each file here checks one
//! concern and reports all problems that it finds.

use std::collections::BTreeSet;

use haggle_model::Span;

use super::quantity::TimeSpan;
use super::{Directory, Lines, Problem, Scenario, Source};
use haggle_config::document::{Node, Path};
use haggle_config::nearest;
use names::Known;

/// Shortest period of anything that recurs by itself.
const SHORTEST: TimeSpan = TimeSpan(haggle_scheduling::checkpoints::SHORTEST);

/// Largest number of resources of grids, of nodes that fail, and of windows of maintenance. Each is simulated by
/// itself and takes up to some kilobytes.
const EACH_MAX: u64 = 2_000_000;

mod actors;
mod changes;
mod channel;
mod checkpoints;
mod coallocation;
mod crashes;
mod dependencies;
mod effect;
mod exclusions;
mod failures;
mod faults;
mod figures;
mod grid;
mod initial;
mod maintenance;
mod mapping;
mod models;
mod names;
mod nodes;
mod overflow;
mod own;
mod page;
mod plans;
mod preemption;
mod protocol;
mod rule;
mod sessions;
mod site;
mod sizes;
mod targets;
mod uses;
mod workflows;
mod workloads;

pub(super) use changes::changes_fit;
pub use page::exclusions_page;
pub(super) use uses::Uses;

/// Treatment of the logs that a scenario names, and of its rules of one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logs {
    /// A missing log is a problem: for validating and running.
    MustExist,
    /// Logs are not looked for: for showing a scenario.
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
    /// Document from which the scenario was read; it gives the places of problems.
    pub(super) root: &'a Node,
    /// Values replaced there by stand-ins; no further problem is reported about them.
    pub(super) replaced: &'a [Path],
    pub(super) logs: Logs,
    /// True for the settings at time zero, false for those after a change.
    pub(super) is_start: bool,
    /// Number of tables of failures, from the end, that changes have added.
    pub(super) added_failures: usize,
    pub(super) problems: Vec<Problem>,
    /// Errors of environment variables in paths of logs; each is reported once.
    pub(super) unset: BTreeSet<String>,
    /// Values that are read, and values that have no effect.
    pub(super) uses: Uses,
}

impl Check<'_> {
    /// Runs every check. Values without effect are looked for only if there is no problem.
    pub(super) fn run(mut self) -> (Vec<Problem>, Uses) {
        let names = names::Names::of(&mut self);
        self.check_workloads(&names);
        self.check_actors(&names);
        self.check_placing_on_nodes(&names);
        self.check_channel(&names);
        self.check_failures(&names);
        self.check_maintenance(&names);
        // The jobs of a start state are those of time zero, and were checked with the settings of that time.
        if self.is_start {
            self.check_start_states(&names);
            self.check_start_state_of_grid(&names);
        }
        self.check_grid();
        self.check_sessions();
        self.check_plans();
        self.check_places();
        self.check_targets(&names);
        self.check_figures(&names);
        self.check_own();
        if self.problems.is_empty() {
            self.check_sizes(&names);
        }
        // Effects follow mergers of workloads, which would not end in a circle of mergers.
        if self.problems.is_empty() {
            self.check_effects(&names);
        }
        (self.problems, self.uses)
    }

    /// Reports a problem at `path`, unless the value there is a stand-in.
    fn report(
        &mut self,
        path: &Path,
        message: impl Into<String>,
        label: &str,
        help: impl Into<String>,
    ) {
        self.report_problem(path, message.into(), label, Some(help.into()));
    }

    /// As [`Check::report`], with or without help.
    fn report_problem(&mut self, path: &Path, message: String, label: &str, help: Option<String>) {
        // The mistake behind a stand-in has been reported already.
        if self.is_replaced(path) {
            return;
        }
        let span = self.root.place(path);
        self.problems.push(Problem { message, span, label: label.into(), help });
    }

    /// Reports a period below [`SHORTEST`]: it would make events without end in almost no time.
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

    /// True if the value at `path` is a stand-in for a wrong or missing one.
    fn is_replaced(&self, path: &Path) -> bool {
        self.replaced.iter().any(|replaced| replaced.contains(path))
    }

    /// True if a part of the value at `path` is a stand-in, so that the whole cannot be judged.
    fn has_replaced(&self, path: &Path) -> bool {
        self.replaced.iter().any(|replaced| path.contains(replaced))
    }

    /// The line of the text in which the value at `path` begins.
    fn line(&self, path: &Path) -> usize {
        self.lines.line(self.root.place(path).start)
    }

    /// Reports a name at `path` that is not in `known`, and suggests the name that was probably meant.
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

/// True if a time is too short for an event that recurs during the whole run.
fn recurs_all_the_time(time: TimeSpan) -> bool {
    Span::ZERO < time.0 && time.0 < SHORTEST.0
}

/// List of names for a line of help; a long list is cut.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
