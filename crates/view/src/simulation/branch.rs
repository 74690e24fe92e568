//! Scenarios become simulations: from a file, or as a branch of a simulation at its present time.

use std::path::Path;

use haggle_experiment::branches::{Branch, Failure, InvalidBranch, setting};
use haggle_model::Span;
use haggle_runtime::Driver;
use haggle_scenario::quantity::TimeSpan;
use haggle_scenario::{Experiment, InvalidScenario, Logs, Scenario, Source};
use serde::Deserialize;
use toml::Table;

use super::simulated::{Origin, Simulated};
use super::stepper::{Aim, Phase};
use super::until::Until;
use super::walk::{Script, WalkError};
use crate::Refusal;
use crate::clock::{clamped, elapsed};

/// A simulation of a resolved scenario without a sweep. Its relative paths start from `folder`; `file` is its file for
/// people.
///
/// # Errors
/// If its world cannot be built.
pub fn open(
    scenario: Scenario,
    folder: &Path,
    file: &Path,
    driver: Driver,
) -> Result<Simulated, WalkError> {
    let name =
        scenario.scenario.name.as_ref().map_or("simulation", |name| name.as_str()).to_owned();
    let origin = Origin { path: file.to_owned(), name, branch: None };
    Simulated::start(origin, Script { scenario, folder: folder.to_owned(), driver })
}

/// Changes of a branch as a request has them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BranchRequest {
    set: Vec<String>,
    fail: Vec<String>,
    submit: Option<String>,
    seed: Option<u64>,
}

impl BranchRequest {
    pub(crate) fn read(body: &[u8]) -> Result<BranchRequest, Refusal> {
        serde_json::from_slice(body).map_err(|error| {
            Refusal::wrong(
                format!("the branch cannot be read: {error}"),
                "give set, fail, submit or seed",
            )
        })
    }

    fn is_empty(&self) -> bool {
        let submits = self.submit.as_deref().is_some_and(|it| !it.trim().is_empty());
        self.set.is_empty() && self.fail.is_empty() && !submits && self.seed.is_none()
    }

    fn branch(self, at: TimeSpan) -> Result<Branch, Refusal> {
        let wrong = |what: &str, text: &str, error: String| {
            Refusal::wrong(format!("{what} `{text}`"), &error)
        };
        let settings =
            self.set.iter().map(|it| setting(it).map_err(|error| wrong("set", it, error)));
        let failures =
            self.fail.iter().map(|it| it.parse().map_err(|error| wrong("fail", it, error)));
        Ok(Branch {
            at,
            settings: settings.collect::<Result<_, _>>()?,
            failures: failures.collect::<Result<Vec<Failure>, _>>()?,
            submit: self
                .submit
                .filter(|it| !it.trim().is_empty())
                .map(|text| Source::new("submit", text)),
            seed: self.seed,
        })
    }
}

/// The mistakes of a branch at a time, and the first remedy.
fn mistakes(invalid: &InvalidScenario, at: TimeSpan) -> Refusal {
    // The form names no time: each of its changes is one at the present time.
    let here = format!("after the change at {at}: ");
    let problems = invalid.problems.iter().map(|it| it.message.replace(&here, ""));
    let problems =
        Vec::from_iter(problems.map(|it| it.replace(&at.to_string(), &elapsed(at.0.as_micros()))));
    let help = invalid.problems.iter().find_map(|it| it.help.as_deref());
    Refusal::wrong(problems.join("\n"), help.unwrap_or("see docs/what-if.md"))
}

impl Simulated {
    /// A branch of the simulation, which is view `base`: its events are the same up to the present message, and the change
    /// takes effect after the present instant.
    pub(crate) fn branch(&self, base: usize, request: BranchRequest) -> Result<Simulated, Refusal> {
        let moment = self.stepper.moment();
        if matches!(moment.phase, Phase::Over | Phase::Failed) {
            return Err(Refusal::conflict("the run has no future", "go back before the branch"));
        }
        if request.is_empty() {
            let help = "give a setting, a failure, further jobs or a seed";
            return Err(Refusal::wrong("the branch changes nothing", help));
        }
        let now = moment.now.as_micros().max(0);
        // Messages of the present instant may have been delivered, and a change precedes all messages of its instant.
        let at = Span::from_micros(now.saturating_add(1));
        let at = TimeSpan(at);
        let branch = request.branch(at)?;
        let source = branch.extend(self.source(), Table::new());
        let source = source.map_err(|error| match error {
            InvalidBranch::Change { message, hint } => Refusal::wrong(message, &hint),
            InvalidBranch::Jobs(invalid) => mistakes(&invalid, at),
        })?;
        let rules = &self.script.scenario.own;
        let experiment = Experiment::read_with(source, Logs::MustExist, rules);
        let experiment = experiment.map_err(|invalid| mistakes(&invalid, at))?;
        let mut runs = experiment.runs();
        let scenario = runs.next().map(|run| run.scenario());
        let scenario = scenario.filter(|_| runs.next().is_none()).ok_or_else(|| {
            Refusal::wrong("the branch is a sweep", "remove the tables of a sweep")
        })?;
        let name = format!("{} at {}", self.origin.name, elapsed(now));
        let branch = Some((base, clamped(now)));
        let origin = Origin { path: self.origin.path.clone(), name, branch };
        let script = Script { scenario, ..self.script.clone() };
        let begun = Simulated::start(origin, script);
        let view = begun.map_err(|error| Refusal::wrong(error.to_string(), "change the branch"))?;
        // All messages so far are at the present time or before it, which the change follows.
        let last = moment.past.last_time().unwrap_or(moment.now);
        let state = Until::State { number: moment.number, last, now: moment.now };
        view.stepper.go(|_| Ok(Aim::Forward(state)))?;
        Ok(view)
    }
}
