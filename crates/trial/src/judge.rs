//! Judges one scenario.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use haggle_agents::Message;
use haggle_model::{ActorId, Observation, Span, Time};
use haggle_plots::PlotError;
use haggle_plots::load::Tables;
use haggle_results::{Existing, RunReader};
use haggle_runtime::{Driver, OutsideError, RunError, Sink, run as run_world};

use super::features::{self, Done};
use super::{Failure, FailureKind, Outcome, Verdict};
use crate::draw::{keys_of, split, to_text};
use crate::verify::{self, EventLog};
use haggle_experiment::compare::compare;
use haggle_experiment::explain::Chronicle;
use haggle_experiment::figures::{SweepData, draw, draw_sweep};
use haggle_experiment::plans::LoadsError;
use haggle_experiment::run::unwrap_run_error;
use haggle_experiment::snapshots::{Begun, Every, Snapshots};
use haggle_experiment::start_state::StartStateError;
use haggle_experiment::sweep::{OnFailure, SweepConduct, SweepError, Wanted, sweep};
use haggle_experiment::world::{Stage, StageError};
use haggle_experiment::{
    Conduct, Destination, ExperimentError, Figures, Keep, Unwatched, Watch, failures, run,
    run_with_snapshots, workload,
};
use haggle_scenario::file::{Figure, FigureKind, ImageFormat};
use haggle_scenario::{Experiment, InvalidScenario, Logs, Scenario, Source};

/// Bounds on the cost of a case.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Messages of a run that is examined; a longer run must end within 30 times as many.
    pub messages: u64,
    /// Runs of a sweep.
    pub runs: usize,
}

/// Most jobs of a run that are explained: each explanation searches all tables.
const EXPLAINED: usize = 50;

/// Factor for a run that is only checked for its end. It suffices for dozens of resources with
/// 10,000 failures each, after which a run is stuck.
const LONGER: u64 = 30;

/// A run without progress for this time is complete except for its rounds.
const MONTHS: Span = Span::from_secs(60 * 86_400);

/// The same for this many rounds of a reallocation, if a round has many messages.
const ROUNDS: i64 = 10_000;

/// Judges the scenario in the file at `path`, with folders of results in `scratch`; `stop` is
/// raised to stop the judge.
pub fn judge(path: &Path, scratch: &Path, bounds: Bounds, stop: &AtomicBool) -> Verdict {
    let mut verdict = Verdict {
        outcome: Outcome::Held,
        repairs: 0,
        keys: Default::default(),
        features: Default::default(),
    };
    let experiment = match Source::read(path).map(|it| Experiment::read(it, Logs::MustExist)) {
        Ok(Ok(experiment)) => experiment,
        Ok(Err(invalid)) => {
            // A drift is a document that fits the schema and that the reader refuses: both must agree.
            verdict.outcome = match invalid.is_drift() {
                true => Outcome::Failed(failed(FailureKind::Schema, messages(&invalid))),
                false => Outcome::Refused(invalid.to_string()),
            };
            return verdict;
        }
        Err(error) => {
            verdict.outcome = Outcome::Refused(error.to_string());
            return verdict;
        }
    };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut done = Done::default();
    let judge = Judge { path, folder: &folder, scratch, bounds, stop };
    verdict.outcome = match judge.all(&experiment, &mut done) {
        Ok(outcome) => outcome,
        Err(failure) => Outcome::Failed(failure),
    };
    let document = fs::read_to_string(path).ok().and_then(|text| text.parse().ok());
    verdict.keys = document.map(|document| keys_of(&document)).unwrap_or_default();
    if done.extends {
        verdict.keys.insert("scenario.extends".to_owned());
    }
    verdict.features = features::of(&experiment.scenario, &done);
    verdict
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ended {
    /// It came to its end.
    Over,
    /// It ended with this error, which the manual names.
    Stopped(String),
    /// It was stopped because it had too many messages.
    Beyond,
}

/// Reason why no more variants of a scenario are examined.
type Ending = Result<Outcome, Failure>;

struct Judge<'a> {
    path: &'a Path,
    /// Folder from which relative paths of the scenario start.
    folder: &'a Path,
    scratch: &'a Path,
    bounds: Bounds,
    stop: &'a AtomicBool,
}

/// True if both expand into the same runs. Warnings are ignored: they point into texts, which
/// differ.
fn same_runs(a: &Experiment, b: &Experiment) -> bool {
    a.variants.len() == b.variants.len()
        && a.variants.iter().zip(&b.variants).all(|(a, b)| {
            (&a.label, &a.settings, &a.scenario) == (&b.label, &b.settings, &b.scenario)
        })
}

fn failed(kind: FailureKind, what: impl ToString) -> Failure {
    Failure { kind, what: what.to_string() }
}

impl Judge<'_> {
    fn all(&self, experiment: &Experiment, done: &mut Done) -> Ending {
        self.extends(experiment, done)?;
        let mut outcome = Outcome::Held;
        // The first variants stand for all of a sweep. If one takes long or is stopped, the later
        // ones would too and are skipped.
        for (number, variant) in experiment.variants.iter().take(self.bounds.runs).enumerate() {
            outcome = self.one(&variant.scenario, number, done)?;
            if outcome != Outcome::Held {
                break;
            }
        }
        let Scenario { sweep, branches, .. } = &experiment.scenario;
        if (sweep.is_some() || !branches.is_empty()) && outcome == Outcome::Held {
            return self.sweep(experiment, done);
        }
        Ok(outcome)
    }

    /// Splits the scenario into a base and an extension; joined again, they must give the same
    /// scenario.
    fn extends(&self, experiment: &Experiment, done: &mut Done) -> Result<(), Failure> {
        let trouble = |error: &dyn std::fmt::Display| failed(FailureKind::Extends, error);
        let text = fs::read_to_string(self.path).map_err(|error| trouble(&error))?;
        let document: toml::Table = text.parse().map_err(|error| trouble(&error))?;
        // A scenario that extends another one is split already.
        if document.get("scenario").is_some_and(|it| it.get("extends").is_some()) {
            return Ok(());
        }
        let (base, over) = split(&document, "base.toml", text.len() as u64);
        let (base, over) = (to_text(&base), to_text(&over));
        let failed = |why: &str| {
            let what = format!("{why}\n# base.toml\n{base}\n# the other\n{over}");
            failed(FailureKind::Extends, what)
        };
        let base_path = self.folder.join("base.toml");
        // The file keeps its name, since a scenario without a name is named after its file.
        let read = |path: &Path| {
            let is_base = path == base_path;
            Ok(if is_base { base.clone() } else { over.clone() })
        };
        let source = Source::read_with(self.path, &read).map_err(|error| trouble(&error))?;
        let again = Experiment::read(source, Logs::MustExist);
        let again = again.map_err(|invalid| failed(&messages(&invalid)))?;
        if again.scenario != experiment.scenario || !same_runs(&again, experiment) {
            return Err(failed("a base and its extension are different"));
        }
        done.extends = true;
        Ok(())
    }

    /// Judges a scenario without a sweep.
    fn one(&self, scenario: &Scenario, number: usize, done: &mut Done) -> Ending {
        let (first, other) = (self.scratch.join("first"), self.scratch.join("other"));
        let ended = self.log(scenario, Driver::Sequential, &first)?;
        if ended == Ended::Beyond {
            return self.long(scenario);
        }
        for (run, driver) in
            [("the second run", Driver::Sequential), ("the run over actix", Driver::Actix)]
        {
            let again = self.log(scenario, driver, &other)?;
            // Before the ends are compared, because the first different line shows the reason.
            self.same_lines(run, &first, &other)?;
            if ended != again {
                let what = format!("{ended:?} is how the first run ended, {again:?} {run}");
                return Err(failed(FailureKind::Difference, what));
            }
        }
        done.drivers = true;
        if let Ended::Stopped(why) = ended {
            return Ok(Outcome::Stopped(why));
        }
        self.folders(scenario, number, done)?;
        Ok(Outcome::Held)
    }

    /// Writes the event log of a run to `path`.
    fn log(&self, scenario: &Scenario, driver: Driver, path: &Path) -> Result<Ended, Failure> {
        let outside = |error: std::io::Error| failed(FailureKind::RunError, error);
        let mut log = EventLog(BufWriter::new(File::create(path).map_err(outside)?));
        let ended = self.run(scenario, driver, Some(&mut log), self.bounds.messages)?;
        log.0.flush().map_err(outside)?;
        Ok(ended)
    }

    /// Tests that a run that was too long to be examined ends at all.
    fn long(&self, scenario: &Scenario) -> Ending {
        // Saturating, because the caller may set no bound.
        let most = self.bounds.messages.saturating_mul(LONGER);
        match self.run(scenario, Driver::Sequential, None, most)? {
            Ended::Beyond => {
                Err(failed(FailureKind::TooLong, format!("more than {most} messages")))
            }
            Ended::Over | Ended::Stopped(_) => Ok(Outcome::Long),
        }
    }

    /// Runs for at most `most` messages.
    fn run(
        &self,
        scenario: &Scenario,
        driver: Driver,
        log: Option<&mut EventLog<BufWriter<File>>>,
        most: u64,
    ) -> Result<Ended, Failure> {
        let mut log = Bounded { log, messages: 0, most };
        let ended = Stage::set(scenario, self.folder).map_err(ExperimentError::Stage);
        let ended = ended.and_then(|Stage { mut world, .. }| {
            // Plans without progress of any application are bounded like messages without progress.
            let examined_max = self.bounds.messages.saturating_mul(LONGER) / 2;
            world.examined_max = world.examined_max.min(examined_max);
            // A run that is only checked for its end stops earlier if nothing makes progress.
            if log.log.is_none() {
                world.no_progress_max = world.no_progress_max.min(most / 2);
            }
            run_world(world, driver, &mut log, self.stop).map_err(unwrap_run_error)
        });
        match ended {
            // First, because the sink's own error looks like an error of the run.
            _ if log.messages > most => Ok(Ended::Beyond),
            Ok(_) => Ok(Ended::Over),
            Err(error) if allowed(&error, scenario) => Ok(Ended::Stopped(error.to_string())),
            Err(error) => Err(failed(kind_of(&error), error)),
        }
    }

    fn same_lines(&self, run: &'static str, first: &Path, other: &Path) -> Result<(), Failure> {
        match verify::compare(run, first, other) {
            Ok(verify::Verdict::Same { .. }) => Ok(()),
            Ok(verify::Verdict::Differs(it)) => {
                let what = format!(
                    "{run} differs\nline {}\nfirst {:?}\nother {:?}",
                    it.line, it.first, it.other
                );
                Err(failed(FailureKind::Difference, what))
            }
            Err(error) => Err(failed(FailureKind::Difference, error)),
        }
    }

    /// Writes results, runs the scenario that they contain again, and reads them in every way.
    fn folders(&self, scenario: &Scenario, number: usize, done: &mut Done) -> Result<(), Failure> {
        let folder = self.scratch.join(format!("run-{number}"));
        let (digest, end) = self.write(scenario, self.folder, &folder, Driver::Sequential)?;
        let resolved = |error: &dyn std::fmt::Display| failed(FailureKind::Resolved, error);
        let path = folder.join("scenario.toml");
        let source = Source::read(&path).map_err(|error| resolved(&error))?;
        let again = Experiment::read(source, Logs::MustExist).map_err(|error| resolved(&error))?;
        let [variant] = &again.variants[..] else {
            return Err(resolved(&"a run is a sweep"));
        };
        let twin = self.scratch.join(format!("again-{number}"));
        // From the folder of the run: paths of its scenario are relative to that.
        let in_parts = variant.scenario.scenario.seed % 2 == 1;
        let (over_actix, _) = match in_parts {
            false => self.write(&variant.scenario, &folder, &twin, Driver::Actix)?,
            true => self.write_in_parts(&variant.scenario, &path, &twin, end)?,
        };
        done.snapshot |= in_parts;
        if over_actix != digest {
            let what = "the scenario written by a run has another digest over actix, or in parts";
            return Err(failed(FailureKind::Resolved, what));
        }
        done.tables = true;
        self.compare(&folder, &twin)?;
        done.compare = true;
        self.explain(&folder, done)?;
        self.figures(&folder, scenario, done)
    }

    /// Runs over actix up to a snapshot, and from there sequentially; returns the digest and the end.
    fn write_in_parts(
        &self,
        scenario: &Scenario,
        file: &Path,
        results: &Path,
        end: Time,
    ) -> Result<(String, Time), Failure> {
        let seed = scenario.scenario.seed;
        let begun = Begun {
            scenario: scenario.to_toml(),
            file: file.to_owned(),
            results: results.to_owned(),
            replaces: true,
            draws: true,
            checks: true,
            warnings: Vec::new(),
            made_from: None,
            every: Every::Simulated(Span::from_micros(end.as_micros() / PARTS as i64 + 1)),
        };
        let (stop, reports) = (AtomicBool::new(false), Cell::new(seed / 2 % PARTS));
        let from = file.parent().unwrap_or(self.folder);
        let part = |driver, stop, watch: &dyn Watch, snapshots| {
            let destination = replaced(results);
            let conduct = Conduct { driver, stop, watch, check: true, warnings: &[] };
            let outcome = run_with_snapshots(scenario, from, &destination, &conduct, snapshots);
            outcome.map(|outcome| ended(&outcome))
        };
        let first = part(Driver::Actix, &stop, &Stopping(&stop, reports), Snapshots::begin(begun));
        let whole = match first {
            Err(ExperimentError::Run(RunError::Interrupted)) => Snapshots::of(results)
                .map_err(ExperimentError::from)
                .and_then(|it| part(Driver::Sequential, self.stop, &Unwatched, it)),
            whole => whole,
        };
        whole.map_err(|error| failed(kind_of(&error), error))
    }

    /// Runs with every check; returns the digest and the end.
    fn write(
        &self,
        scenario: &Scenario,
        from: &Path,
        folder: &Path,
        driver: Driver,
    ) -> Result<(String, Time), Failure> {
        let destination = replaced(folder);
        let conduct =
            Conduct { driver, stop: self.stop, watch: &Unwatched, check: true, warnings: &[] };
        let outcome = run(scenario, from, Some(&destination), &conduct)
            .map_err(|error| failed(kind_of(&error), error))?;
        Ok(ended(&outcome))
    }

    fn compare(&self, a: &Path, b: &Path) -> Result<(), Failure> {
        let trouble = |error| failed(FailureKind::Compare, error);
        let (a, b) = (RunReader::open(a).map_err(trouble)?, RunReader::open(b).map_err(trouble)?);
        let comparison = compare(&a, &b, 1).map_err(trouble)?;
        match comparison.identical {
            true => Ok(()),
            false => Err(failed(FailureKind::Compare, "equal runs are not called identical")),
        }
    }

    /// Explains at most [`EXPLAINED`] jobs, evenly over the run.
    fn explain(&self, folder: &Path, done: &mut Done) -> Result<(), Failure> {
        let trouble = |error| failed(FailureKind::Explain, error);
        let run = RunReader::open(folder).map_err(trouble)?;
        let chronicle = Chronicle::read(&run).map_err(trouble)?;
        let step = chronicle.jobs().len().div_ceil(EXPLAINED).max(1);
        for job in chronicle.jobs().iter().step_by(step) {
            let story = chronicle.story(job);
            let told = story.waiting() + story.running();
            let lived = job.left - job.submit;
            // A millisecond for the rounding of sums of seconds.
            if (told - lived).abs() > 1e-3 {
                let what = format!("job {} lived {lived} s, its parts make {told} s", job.job);
                return Err(failed(FailureKind::Explain, what));
            }
            done.explain = true;
        }
        Ok(())
    }

    /// Draws every kind of figure of a run.
    fn figures(&self, folder: &Path, scenario: &Scenario, done: &mut Done) -> Result<(), Failure> {
        let trouble = |error| failed(FailureKind::Figure, error);
        let run = RunReader::open(folder).map_err(trouble)?;
        let tables = Tables::new(&run);
        for kind in FigureKind::ALL {
            if kind.unfit_for(scenario.shown()).is_some() {
                continue;
            }
            let figure = plain_figure(kind);
            let path = folder.join(format!("{}.svg", kind.name()));
            self.drawn(kind, draw(&figure, &tables, &path), done)?;
        }
        Ok(())
    }

    /// Carries out a sweep, then again without one of its runs.
    fn sweep(&self, experiment: &Experiment, done: &mut Done) -> Ending {
        // A large sweep would take most of the time of all cases.
        if experiment.runs().count() > self.bounds.runs {
            return Ok(Outcome::Held);
        }
        let output = self.scratch.join("sweep");
        let swept = match self.swept(experiment, &output, 2) {
            Ok(swept) => swept,
            Err(SweepError::Run { error, .. }) if allowed(&error, &experiment.scenario) => {
                return Ok(Outcome::Stopped(error.to_string()));
            }
            Err(error) => return Err(failed(FailureKind::Sweep, error)),
        };
        done.sweep = true;
        self.lines(experiment, &output, done)?;
        let Some(run) = experiment.runs().last() else { return Ok(Outcome::Held) };
        let trouble = |error: std::io::Error| failed(FailureKind::Sweep, error);
        fs::remove_dir_all(output.join(run.folder())).map_err(trouble)?;
        // With another number of workers, which must not change the tables.
        let again = self.swept(experiment, &output, 1);
        if again.map_err(|error| failed(FailureKind::Sweep, error))? != swept {
            return Err(failed(FailureKind::Sweep, "a sweep that is resumed has other results"));
        }
        done.resume = true;
        Ok(Outcome::Held)
    }

    /// Draws lines over every axis of a sweep.
    fn lines(
        &self,
        experiment: &Experiment,
        output: &Path,
        done: &mut Done,
    ) -> Result<(), Failure> {
        let trouble = |error| failed(FailureKind::Sweep, error);
        let plain = [plain_figure(FigureKind::Lines)];
        let data = SweepData::read(experiment, output, &plain).map_err(trouble)?;
        for x in experiment.scenario.axis_names() {
            let figure = Figure { x: x.parse().ok(), ..plain_figure(FigureKind::Lines) };
            let path = self.scratch.join("lines.svg");
            self.drawn(figure.kind, draw_sweep(&figure, &data, &path), done)?;
        }
        Ok(())
    }

    /// Notes the kind of a drawn figure. A figure without data is no failure.
    fn drawn(
        &self,
        kind: FigureKind,
        drawn: Result<(), ExperimentError>,
        done: &mut Done,
    ) -> Result<(), Failure> {
        match drawn {
            Ok(()) => drop(done.figures.insert(kind.name())),
            // A figure that does not suit the run is refused as it should be.
            Err(ExperimentError::Figure { error: PlotError::Unsuitable(_), .. }) => {}
            Err(ExperimentError::Figure { error, .. }) if error.is_absence() => {}
            Err(error) => return Err(failed(FailureKind::Figure, error)),
        }
        Ok(())
    }

    /// The tables of a sweep.
    fn swept(
        &self,
        experiment: &Experiment,
        output: &Path,
        workers: usize,
    ) -> Result<[String; 2], SweepError> {
        let conduct = SweepConduct {
            output,
            wanted: Wanted { keep: Keep::Tables, any_build: false },
            pack: None,
            workers,
            figures: Figures::Skip,
            on_failure: OnFailure::Stop,
            stop: self.stop,
            on_run: &|| {},
        };
        let swept = sweep(experiment, self.folder, &conduct)?;
        let read = |path: &Path| fs::read_to_string(path).expect("a sweep leaves its tables");
        Ok([read(&swept.runs_csv), read(&swept.aggregate_csv)])
    }
}

/// Most parts of a run that is interrupted once.
const PARTS: u64 = 7;

/// Stops a run at a report of its progress, after so many others.
struct Stopping<'a>(&'a AtomicBool, Cell<u64>);

impl Watch for Stopping<'_> {
    fn progress(&self, _: u64, _: u64, _: Time) {
        let Stopping(stop, reports) = self;
        stop.store(reports.get() == 0, Ordering::Relaxed);
        reports.set(reports.get().saturating_sub(1));
    }
}

fn replaced(folder: &Path) -> Destination {
    Destination {
        folder: folder.to_owned(),
        end: None,
        keep: Keep::Tables,
        existing: Existing::Replace,
        figures: Figures::Draw,
    }
}

/// The digest of the tables of a run, and its end.
fn ended(outcome: &haggle_experiment::Outcome) -> (String, Time) {
    let digest = outcome.written.as_ref().map(|written| written.digest.overall.clone());
    (digest.unwrap_or_default(), outcome.stats.end)
}

/// The mistakes of a scenario, without their places.
fn messages(invalid: &InvalidScenario) -> String {
    let messages = invalid.problems.iter().map(|problem| problem.message.as_str());
    messages.collect::<Vec<_>>().join("; ")
}

/// A figure of this kind with only its required keys.
fn plain_figure(kind: FigureKind) -> Figure {
    let metric = |name: &str| name.parse().expect("a metric");
    let (one, several) = (kind.uses("metric"), kind.uses("metrics"));
    // The parts of one whole: all jobs that left.
    let parts = ["completed_jobs", "walltime_reached_jobs", "failed_jobs", "rejected_jobs"];
    Figure {
        format: ImageFormat::Svg,
        metric: one.then(|| metric("mean_waiting_time")),
        metrics: parts.into_iter().filter(|_| several).map(metric).collect(),
        ..Figure::of_kind(kind)
    }
}

/// Errors that an accepted scenario may cause: they depend on the contents of a log or on events of
/// the run.
fn allowed(error: &ExperimentError, scenario: &Scenario) -> bool {
    match error {
        ExperimentError::Run(
            RunError::Stalled { .. } | RunError::EndOfTime { .. } | RunError::PlannedInVain { .. },
        )
        | ExperimentError::Jobs(_) => true,
        // Only the seed decides the speed of a resource, and so the work done before time zero.
        ExperimentError::Stage(StageError::Workload(workload::WorkloadError::StartState {
            error,
            ..
        })) => matches!(**error, StartStateError::Over { .. }),
        // Rounds without work go on for months, which is allowed; a loop within days is a bug.
        ExperimentError::Run(RunError::NoProgress { time, .. }) => {
            let periods = scenario.metaschedulers.iter().filter_map(|it| it.reallocation);
            let longest = periods.map(|it| it.period.0.as_micros()).max();
            let rounds = longest.map(|period| Span::from_micros(period.saturating_mul(ROUNDS)));
            *time > Time::ZERO + rounds.unwrap_or(MONTHS).min(MONTHS)
        }
        ExperimentError::Stage(StageError::Workload(workload::WorkloadError::Open { .. })) => true,
        ExperimentError::Stage(StageError::Loads(LoadsError::Trace(_))) => true,
        ExperimentError::Stage(StageError::Failures(error)) => matches!(
            error,
            failures::FailuresError::Record(_)
                | failures::FailuresError::Choice(_)
                | failures::FailuresError::TooFew { .. }
        ),
        _ => false,
    }
}

fn kind_of(error: &ExperimentError) -> FailureKind {
    match error {
        ExperimentError::Stage(_) => FailureKind::RefusedAtStart,
        ExperimentError::Figure { .. } => FailureKind::Figure,
        // Errors whose own text says that they are bugs.
        error if error.to_string().contains("report this scenario as a bug") => FailureKind::Check,
        _ => FailureKind::RunError,
    }
}

/// An event log, or none. It ends the run with an error after too many messages.
struct Bounded<'a> {
    log: Option<&'a mut EventLog<BufWriter<File>>>,
    messages: u64,
    most: u64,
}

impl Sink for Bounded<'_> {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        self.messages += 1;
        if self.messages > self.most {
            return Err("too many messages".into());
        }
        self.log.as_mut().map_or(Ok(()), |log| log.delivered(now, from, to, message))
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        self.log.as_mut().map_or(Ok(()), |log| log.observed(now, actor, observation))
    }
}
