//! The workloads of a scenario, ready to be opened by name.
//!
//! ```text
//! log, model, list ── steps ──┐
//! log, model, list ── steps ──┴─ merge ── steps ── until ──> jobs
//! ```
//!
//! The random numbers of a job depend on (seed, name of the workload, purpose, number of the job).
//! So neither the other workloads nor the order in which they are opened matters.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use haggle_model::Time;
use haggle_workloads as model;
use haggle_workloads::steps::Draws;
use haggle_workloads::{
    JobStream, OpenWorkload, Source, StreamItem, WallClock, WatchedStep, merge, number_jobs,
};

use super::start_state::{StartStateError, start_state, start_state_of_grid, table_of};
use super::workflows::run_by;
use haggle_scenario::file::{Model, Scenario, Workload};
use haggle_scenario::quantity::Name;
use haggle_scenario::{LogPathError, initial_name, listed_jobs, log_path};
use haggle_scenario::{RunBy, WorkflowModel, WorkflowsError};

/// Reason why a workload cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The scenario has no workload of this name.
    #[error("no workload is called \"{0}\"")]
    Unknown(String),
    /// The path of a log cannot be resolved.
    #[error("workload \"{workload}\": log `{log}` cannot be found: {error}")]
    LogPath {
        /// Name of the workload.
        workload: String,
        /// The path as written.
        log: String,
        /// Why.
        #[source]
        error: LogPathError,
    },
    /// A workload has no source of jobs.
    #[error("workload \"{0}\" has no source of jobs")]
    NoSource(String),
    /// Workloads are merged into each other.
    #[error("workload \"{0}\" would contain itself")]
    Cycle(String),
    /// The workflows cannot be built.
    #[error("workload \"{workload}\": {error}")]
    Workflows {
        /// Name of the workload.
        workload: String,
        /// Why.
        #[source]
        error: Box<WorkflowsError>,
    },
    /// The start state of a provider cannot be used.
    #[error("workload \"{workload}\": {error}")]
    StartState {
        /// Name of its workload.
        workload: String,
        /// Why.
        #[source]
        error: Box<StartStateError>,
    },
    /// The log, the model or a step reports an error.
    #[error("workload \"{workload}\": {error}")]
    Open {
        /// Name of the workload.
        workload: String,
        /// Why.
        #[source]
        error: Box<model::WorkloadError>,
    },
}

/// The workloads of a scenario under one seed.
#[derive(Clone, Debug)]
pub struct Workloads {
    /// By name.
    parts: BTreeMap<String, Part>,
    /// The logs that the scenario's users need, as written and as found, in the scenario's order.
    inputs: Vec<(String, PathBuf)>,
    /// Time from which no jobs are submitted.
    until: Option<Time>,
    seed: u64,
    /// Remarks on start states.
    warnings: Vec<String>,
}

#[derive(Clone, Debug)]
enum Part {
    /// A source with its steps.
    Single(model::Workload),
    /// Other workloads by name, and the steps after their merger.
    Merged { parts: Vec<String>, steps: Vec<model::Step> },
}

impl Workloads {
    /// The workloads of a checked scenario that lies in `folder`, under `seed`.
    ///
    /// No file is opened yet.
    ///
    /// # Errors
    /// If the path of a log names a variable that is not set.
    pub fn new(scenario: &Scenario, folder: &Path, seed: u64) -> Result<Workloads, WorkloadError> {
        let clusters = scenario.plans.iter().flat_map(|plans| &plans.clusters);
        let clusters = Vec::from_iter(clusters.map(|cluster| cluster.name.clone()));
        let directory = scenario.directory();
        let mut parts = BTreeMap::new();
        for (index, workload) in scenario.workloads.iter().enumerate() {
            // Workloads beyond 65,536 share a number, which only labels rows of results.
            let index = u16::try_from(index).unwrap_or(u16::MAX);
            let run_by = run_by(scenario, &directory, index);
            let part = part(workload, index, folder, seed, (&clusters, run_by))?;
            parts.insert(workload.name.to_string(), part);
        }
        let mut workloads = Workloads {
            parts,
            inputs: Vec::new(),
            until: scenario.scenario.until.map(|until| Time::ZERO + until.0),
            seed,
            warnings: Vec::new(),
        };
        workloads.inputs = workloads.inputs_of(scenario, folder);
        workloads.add_start_states(scenario, folder)?;
        Ok(workloads)
    }

    /// Adds a workload for each start state, behind those of the scenario.
    fn add_start_states(
        &mut self,
        scenario: &Scenario,
        folder: &Path,
    ) -> Result<(), WorkloadError> {
        let first = scenario.workloads.len();
        for (place, provider) in (first..).zip(scenario.start_states()) {
            let name = initial_name(provider.name.as_str());
            let failed = |error: StartStateError| WorkloadError::StartState {
                workload: name.clone(),
                error: Box::new(error),
            };
            let state = start_state(provider, folder, self.seed).map_err(failed)?;
            let table = table_of(provider, folder).map_err(failed)?;
            if let Some(input) = provider.initial_file.clone().zip(table)
                && !self.inputs.contains(&input)
            {
                self.inputs.push(input);
            }
            if state.beyond_law > 0 {
                let owner = format!("provider \"{}\"", provider.name);
                self.warnings.push(beyond_law(&owner, state.beyond_law));
            }
            let workload = model::Workload {
                index: u16::try_from(place).unwrap_or(u16::MAX),
                seed: self.seed,
                ..model::Workload::new(name.clone(), Source::Jobs(state.jobs))
            };
            self.parts.insert(name, Part::Single(workload));
        }
        self.add_start_state_of_grid(scenario, first + scenario.start_states().count())
    }

    /// Adds the workload with this number for the start state of the grid.
    fn add_start_state_of_grid(
        &mut self,
        scenario: &Scenario,
        place: usize,
    ) -> Result<(), WorkloadError> {
        let Some(grid) = scenario.grid_with_start_state() else { return Ok(()) };
        let name = initial_name(grid.name.as_str());
        let state = start_state_of_grid(grid, self.seed).map_err(|error| {
            WorkloadError::StartState { workload: name.clone(), error: Box::new(error) }
        })?;
        if state.beyond_law > 0 {
            let owner = format!("grid \"{}\"", grid.name);
            self.warnings.push(beyond_law(&owner, state.beyond_law));
        }
        let workload = model::Workload {
            index: u16::try_from(place).unwrap_or(u16::MAX),
            seed: self.seed,
            ..model::Workload::new(name.clone(), Source::Jobs(state.jobs))
        };
        self.parts.insert(name, Part::Single(workload));
        Ok(())
    }

    /// Remarks for the user.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Opens the workload called `name`: its jobs after all steps, with dense ids from 0, up to the
    /// scenario's `until`. The workload of a job is the index in the scenario of its source, also
    /// after a merger.
    ///
    /// The header and the cleaning report are those of the log; a merger has neither of its own.
    ///
    /// # Errors
    /// If no workload has this name, its log cannot be opened, or a step or a model refuses its
    /// parameters.
    pub fn open(&self, name: &str) -> Result<OpenWorkload, WorkloadError> {
        let mut open = self.open_part(name, &mut Vec::new())?;
        if let Some(until) = self.until {
            let arrives =
                move |job: &StreamItem| job.as_ref().map_or(true, |job| job.submit < until);
            // After all steps and mergers, which may move jobs. An error is passed on, so that it is not cut off.
            open.jobs = Box::new(open.jobs.take_while(arrives));
        }
        Ok(open)
    }

    /// The logs that the scenario's users need: the path as written, and the file.
    pub fn inputs(&self) -> Vec<(String, PathBuf)> {
        self.inputs.clone()
    }

    /// `outer` holds the mergers around this workload, so that a cycle is found.
    fn open_part(
        &self,
        name: &str,
        outer: &mut Vec<String>,
    ) -> Result<OpenWorkload, WorkloadError> {
        let failed =
            |error| WorkloadError::Open { workload: name.to_owned(), error: Box::new(error) };
        match self.parts.get(name) {
            None => Err(WorkloadError::Unknown(name.to_owned())),
            Some(Part::Single(workload)) => workload.open().map_err(failed),
            Some(Part::Merged { parts, steps }) => {
                if outer.iter().any(|merger| merger == name) {
                    return Err(WorkloadError::Cycle(name.to_owned()));
                }
                outer.push(name.to_owned());
                // An error is kept until the name is removed from `outer` again.
                let parts: Result<Vec<OpenWorkload>, _> =
                    parts.iter().map(|part| self.open_part(part, outer)).collect();
                // Removed again, since a workload may be merged twice without a cycle.
                outer.pop();
                let mut open = nothing().map_err(failed)?;
                let mut streams: Vec<JobStream> = Vec::new();
                for part in parts? {
                    streams.push(part.jobs);
                    open.effects.extend(part.effects);
                    open.logs.extend(part.logs);
                    // Steps after the merger may shift the time of all logs.
                    let behind = |clock: Option<WallClock>| clock?.behind(steps);
                    open.clocks.extend(part.clocks.into_iter().map(behind));
                }
                let draws = Draws::new(self.seed, name);
                let (jobs, effects) =
                    model::Step::apply_all(steps, merge(streams), &draws).map_err(failed)?;
                open.effects.extend(WatchedStep::all(name, steps, effects));
                // Numbers are dense in the merged workload, which the parts know nothing of.
                open.jobs = number_jobs(jobs);
                Ok(open)
            }
        }
    }

    /// The logs and workflows of all workloads that users submit, also through mergers.
    fn inputs_of(&self, scenario: &Scenario, folder: &Path) -> Vec<(String, PathBuf)> {
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> =
            scenario.users.iter().map(|user| user.workload.as_str()).collect();
        while let Some(name) = open.pop() {
            // Several mergers may share a workload, which is followed once.
            if needed.insert(name)
                && let Some(Part::Merged { parts, .. }) = self.parts.get(name)
            {
                open.extend(parts.iter().map(String::as_str));
            }
        }
        let mut inputs = Vec::new();
        for workload in scenario.workloads.iter().filter(|it| needed.contains(it.name.as_str())) {
            let files = workload.workflows.iter().filter_map(|it| it.files.as_ref()).flatten();
            let files = files.chain(&workload.reading.mapping);
            for file in files {
                // A path that cannot be resolved was refused when the file was read.
                let Ok(path) = log_path(file, folder) else { continue };
                let input = (file.clone(), path);
                if !inputs.contains(&input) {
                    inputs.push(input);
                }
            }
            let Some(log) = &workload.log else {
                continue;
            };
            if let Some(Part::Single(single)) = self.parts.get(workload.name.as_str())
                && let Source::Log { path, .. } = &single.source
            {
                let input = (log.clone(), path.clone());
                if !inputs.contains(&input) {
                    inputs.push(input);
                }
            }
        }
        inputs
    }
}

fn beyond_law(owner: &str, jobs: usize) -> String {
    let (jobs, run) = match jobs {
        1 => ("1 job".to_owned(), "runs"),
        jobs => (format!("{jobs} jobs"), "run"),
    };
    format!(
        "{owner}: {jobs} of the start state had run for longer than the law of run times permits; such a job {run} to \
         the end of its requested time, or ends at once"
    )
}

fn part(
    workload: &Workload,
    index: u16,
    folder: &Path,
    seed: u64,
    resources: (&[Name], RunBy),
) -> Result<Part, WorkloadError> {
    let steps = workload.steps.iter().map(|step| step.to_model()).collect();
    // A merger has no source of its own.
    if let Some(parts) = &workload.merge {
        return Ok(Part::Merged { parts: parts.iter().map(ToString::to_string).collect(), steps });
    }
    let source = source(workload, folder, seed, resources)?;
    Ok(Part::Single(model::Workload {
        name: workload.name.to_string(),
        index,
        seed,
        source,
        steps,
    }))
}

fn source(
    workload: &Workload,
    folder: &Path,
    seed: u64,
    (clusters, run_by): (&[Name], RunBy),
) -> Result<Source, WorkloadError> {
    if let Some(log) = &workload.log {
        let found = |file: &String| {
            log_path(file, folder).map_err(|error| WorkloadError::LogPath {
                workload: workload.name.to_string(),
                log: file.clone(),
                error,
            })
        };
        let mapping = workload.reading.mapping.as_ref().map(found).transpose()?;
        let options = workload.reading.to_model(mapping.as_deref()).map_err(|error| {
            let workload = workload.name.to_string();
            WorkloadError::Open { workload, error: Box::new(error.into()) }
        })?;
        let (path, options) = (found(log)?, Box::new(options));
        return Ok(Source::Log { path, options, rules: workload.rules.to_model() });
    }
    // The model must ask for them: a table of another model has no effect.
    if let (Some(Model::Workflows), Some(workflows)) = (workload.model, &workload.workflows) {
        let name = workload.name.as_str();
        let checkpoint = workload.data.unwrap_or_default().checkpoint.0;
        let model = WorkflowModel::new(workflows, folder, name, seed, run_by);
        let jobs = model.and_then(|model| model.jobs(checkpoint));
        return jobs.map(Source::Jobs).map_err(|error| WorkloadError::Workflows {
            workload: name.to_owned(),
            error: Box::new(error),
        });
    }
    if let (Some(Model::Applications), Some(applications)) =
        (workload.model, &workload.applications)
    {
        let name = workload.name.as_str();
        let jobs = applications.to_jobs(clusters, name, seed);
        return jobs.map(Source::Jobs).map_err(|error| WorkloadError::Workflows {
            workload: name.to_owned(),
            error: Box::new(error),
        });
    }
    let generated = workload.model.and_then(|model| match model {
        Model::LublinFeitelson => {
            workload.lublin.as_ref().map(|it| Source::Lublin(Box::new(it.to_model())))
        }
        Model::IndependentJobs => {
            let jobs = workload.independent_jobs.as_ref();
            jobs.map(|it| Source::IndependentJobs(Box::new(it.to_model())))
        }
        Model::SyntheticMonth => {
            let month = workload.synthetic_month.as_ref();
            month.map(|it| Source::SyntheticMonth(Box::new(it.to_model())))
        }
        Model::Iterative => workload.iterative.as_ref().map(|it| Source::Jobs(it.to_jobs())),
        // They may be drawn in vain, so they were handled above.
        Model::Workflows | Model::Applications => None,
    });
    if let Some(source) = generated {
        return Ok(source);
    }
    let Some(jobs) = &workload.jobs else {
        return Err(WorkloadError::NoSource(workload.name.to_string()));
    };
    Ok(Source::Jobs(listed_jobs(jobs, 1)))
}

/// A workload without jobs, header and report, to which the jobs of a merger are added.
fn nothing() -> Result<OpenWorkload, model::WorkloadError> {
    model::Workload::new("", Source::Jobs(Vec::new())).open()
}
