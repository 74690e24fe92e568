//! One run: from a resolved scenario to a summary and, if requested, a folder of results.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use haggle_agents::AnyActor;
use haggle_model::{Cast, Time};
use haggle_recording::check::{Check, Violation};
use haggle_recording::{Books, JournalError, Listener, Listeners, TooWide};
use haggle_results::provenance::FORMAT;
use haggle_results::{
    About, Cut, Existing, Extent, FinishedRun, Format, Input, Metrics, MetricsOptions, OwnRule,
    Provenance, ResultsError, RunDigest, RunReader, RunWriter, SnapshotCost, Summary, Timing,
    WriteOptions, sha256,
};
use haggle_runtime::{Driver, OtherWorld, OutsideError, RunError, RunStats, Simulation, World};
use haggle_scheduling::own::{Kind, NoSuchRule};
use haggle_workloads as model;
use haggle_workloads::CleaningReport;

use super::about::about;
use super::cost::Stopwatch;
use super::figures::{Drawn, draw_all};
use super::networks::networks;
use super::no_effect::{Windows, without_effect};
use super::snapshots::{self, Cadence, SnapshotError, Snapshots};
use super::trunk::{Maker, Trunk};
use super::workflows;
use super::world::{Stage, StageError, notable};
use haggle_audit::{Disagreement, audit};
use haggle_scenario::quantity::TimeOrShare;
use haggle_scenario::{Scenario, file};

/// Hash of the sources, which tells builds of one version apart.
pub const BUILD: &str = env!("HAGGLE_BUILD");

/// Destination of the results.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The folder, by its final name.
    pub folder: PathBuf,
    /// Final path of the folder, if that differs: the paths in `scenario.toml` become relative to
    /// it.
    pub end: Option<PathBuf>,
    /// Action if the folder exists.
    pub existing: Existing,
    /// Extent of the results that are kept.
    pub keep: Keep,
    /// Draws the scenario's figures, or none.
    pub figures: Figures,
}

/// Extent of the results that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All tables.
    Tables,
    /// The summary, and only the digests of the tables.
    Summary,
}

/// Treatment of the scenario's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// Draws each figure into the folder of the results.
    Draw,
    /// Draws none.
    Skip,
}

/// Receives the progress of a run.
pub trait Watch {
    /// `jobs` are over, `messages` have been delivered, and the clock shows `now`.
    fn progress(&self, jobs: u64, messages: u64, now: Time);
}

/// Messages between two reports of progress. They are counted in messages because a run may go on
/// for long without the end of a job.
const INTERVAL: u64 = 8_192;

/// Ignores progress.
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&self, _jobs: u64, _messages: u64, _now: Time) {}
}

/// How a run is carried out; nothing here changes its results.
pub struct Conduct<'a> {
    /// Method by which messages reach actors.
    pub driver: Driver,
    /// Raised to stop the run.
    pub stop: &'a AtomicBool,
    /// Receives the progress.
    pub watch: &'a dyn Watch,
    /// True if each job is checked against those that held its processors before, and the tables
    /// against each other.
    pub check: bool,
    /// Settings without effect that are known before the run; the summary repeats them.
    pub warnings: &'a [String],
}

/// Result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The metrics.
    pub summary: Summary,
    /// Counts of messages and jobs.
    pub stats: RunStats,
    /// Jobs rejected because they are wider than every provider that received them. Jobs outside
    /// the window of the metrics count too.
    pub too_wide: u64,
    /// Jobs rejected because they need fewer processors than their parts take.
    pub too_narrow: u64,
    /// Changes that the cleaning rules made to the workloads' logs.
    pub reports: Vec<(String, CleaningReport)>,
    /// Settings without effect that building the world or the run showed; the summary repeats them.
    pub warnings: Vec<String>,
    /// The folder and the digest of its contents.
    pub written: Option<Written>,
    /// Real time and memory that the run took.
    pub timing: Timing,
}

/// A folder of results.
#[derive(Debug)]
pub struct Written {
    /// Final path of the folder.
    pub folder: PathBuf,
    /// The digest of its tables.
    pub digest: RunDigest,
    /// The figures drawn, by file name.
    pub figures: Vec<String>,
    /// Reasons why other figures were not drawn: they had no data.
    pub figures_left_out: Vec<String>,
    /// Remains of a killed run of the same destination, which were removed.
    pub cleared: Option<PathBuf>,
}

/// Reason why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A workload or recorded failures cannot be opened.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A workload cannot be read to its end, or is not in order.
    #[error(transparent)]
    Jobs(Box<model::WorkloadError>),
    /// Results cannot be written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A figure cannot be drawn.
    #[error("figure \"{figure}\": {error}")]
    Figure {
        /// Its name.
        figure: String,
        /// Why.
        #[source]
        error: haggle_plots::PlotError,
    },
    /// The run did not reach its end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A check failed: a bug of ours.
    #[error("{0}: please report this scenario as a bug")]
    Violation(Violation),
    /// Tables disagree: a bug of ours.
    #[error(
        "the tables disagree: please report this scenario as a bug\n  {}",
        .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")
    )]
    Disagreement(Vec<Disagreement>),
    /// Snapshots cannot be written, or the run cannot continue from them.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A snapshot does not fit the scenario: a bug of ours.
    #[error("{0}: please report this scenario as a bug")]
    OtherWorld(#[from] OtherWorld),
    /// Jobs went missing: a bug of ours.
    #[error(
        "{submitted} jobs were submitted and {over} came to an end: please report this scenario \
         as a bug"
    )]
    JobsMissing {
        /// Jobs that the workloads submitted.
        submitted: u64,
        /// Jobs that ended in any way, or are unfinished.
        over: u64,
    },
}

/// Runs `scenario`, whose relative paths start from `folder`.
///
/// # Errors
/// See [`ExperimentError`]; a destination is then left without a folder of its final name.
pub fn run(
    scenario: &Scenario,
    folder: &Path,
    destination: Option<&Destination>,
    conduct: &Conduct<'_>,
) -> Result<Outcome, ExperimentError> {
    carry_out(scenario, folder, destination, conduct, Aid::None, |_| ())
}

/// As [`run`], in a world that `prepare` has changed, such as one that repeats a live run.
///
/// # Errors
/// As [`run`].
pub fn run_prepared(
    scenario: &Scenario,
    folder: &Path,
    destination: Option<&Destination>,
    conduct: &Conduct<'_>,
    prepare: impl FnOnce(&mut World),
) -> Result<Outcome, ExperimentError> {
    carry_out(scenario, folder, destination, conduct, Aid::None, prepare)
}

/// As [`run`], for a run that shares its beginning with others. The results are the same.
///
/// # Errors
/// As [`run`].
pub(super) fn run_with_trunk(
    scenario: &Scenario,
    folder: &Path,
    destination: &Destination,
    conduct: &Conduct<'_>,
    sharing: Sharing<'_>,
) -> Result<Outcome, ExperimentError> {
    let aid = match sharing {
        Sharing::Nothing => Aid::None,
        Sharing::Makes(maker) => Aid::Maker(maker),
        Sharing::Uses(trunk) => Aid::Trunk(trunk),
    };
    carry_out(scenario, folder, Some(destination), conduct, aid, |_| ())
}

/// The part of a run that it shares with others.
pub(super) enum Sharing<'a> {
    /// None.
    Nothing,
    /// It makes the trunk.
    Makes(&'a mut Maker),
    /// It goes on from the trunk.
    Uses(&'a Trunk),
}

/// As [`run`], with snapshots, from the last of which it continues.
///
/// # Errors
/// As [`run`], and if a snapshot cannot be written or does not fit.
pub fn run_with_snapshots(
    scenario: &Scenario,
    folder: &Path,
    destination: &Destination,
    conduct: &Conduct<'_>,
    snapshots: Snapshots,
) -> Result<Outcome, ExperimentError> {
    let aid = Aid::Snapshots(Box::new(snapshots));
    carry_out(scenario, folder, Some(destination), conduct, aid, |_| ())
}

/// States that a run saves, or from which it continues.
enum Aid<'a> {
    None,
    Snapshots(Box<Snapshots>),
    Maker(&'a mut Maker),
    Trunk(&'a Trunk),
}

/// Runs a scenario in a world that `prepare` has changed.
fn carry_out(
    scenario: &Scenario,
    folder: &Path,
    destination: Option<&Destination>,
    conduct: &Conduct<'_>,
    mut aid: Aid<'_>,
    prepare: impl FnOnce(&mut World),
) -> Result<Outcome, ExperimentError> {
    let stopwatch = Stopwatch::start();
    // Before the folder is created: an unknown rule leaves nothing behind.
    let own_rules = own_rules(scenario).map_err(StageError::from)?;
    let stage = Stage::set(scenario, folder)?;
    let Stage { mut world, mut cast, reports, inputs, steps, clocks, mut warnings, named } = stage;
    prepare(&mut world);
    let horizon = world.horizon;
    for (actor, provider) in world.actors.iter().zip(&mut cast.providers) {
        // The first actors are the providers. A real machine may lose work without failures in the scenario.
        let is_real = matches!(actor, AnyActor::Provider(provider) if provider.is_real());
        provider.may_fail |= is_real;
    }
    let cast = Arc::new(cast);
    let metrics = metrics_options(scenario);
    let may_fail = scenario.all_processor_failures().next().is_some();
    // After the world is built, so that a scenario without a world leaves no folder.
    let writer = destination
        .map(|destination| {
            let options = write_options(&scenario.results, destination, metrics);
            RunWriter::create(&destination.folder, Arc::clone(&cast), options)
        })
        .transpose()?;
    let cleared = writer.as_ref().and_then(RunWriter::cleared).map(Path::to_owned);
    let mut record = Record {
        metrics: Metrics::new(Arc::clone(&cast), metrics),
        too_wide: TooWide::new(own_rules.iter().any(chooses)),
        check: conduct.check.then(|| Check::new(&cast)),
        writer,
    };
    if let Aid::Snapshots(snapshots) = &mut aid {
        // After the folder of results is locked: no other process may write snapshots of it.
        snapshots.open(&inputs, &own_rules)?;
    }
    let stats = record.take_down(world, &cast, conduct, scenario, &mut aid)?;
    let Record { metrics, too_wide, writer, .. } = record;
    let mut summary = metrics.summarise();
    let windows = Windows::by(stats.end, &scenario.maintenance);
    warnings.extend(without_effect(&steps, &reports, &summary, may_fail, windows));
    summary.cut_off = stats.cut_off;
    summary.network = networks(scenario);
    summary.warnings = conduct.warnings.iter().chain(&warnings).cloned().collect();
    let (written, timing) = match (writer, destination) {
        (Some(mut writer), Some(destination)) => {
            // These tables are known only after the last event, so they are written at the end.
            writer.transactions(&metrics.transactions())?;
            writer.workflows(&metrics.workflows())?;
            writer.tasks(workflows::names(&named))?;
            writer.counted(&metrics.counted())?;
            let finished = writer.finish()?;
            let rest = Rest {
                scenario,
                folder,
                destination,
                summary: &summary,
                inputs: &inputs,
                own_rules: &own_rules,
                horizon,
                clock: model::local_clock(&clocks),
                messages: stats.messages,
                stopwatch: &stopwatch,
                check: conduct.check,
                cleared,
                snapshots: match &aid {
                    Aid::Snapshots(snapshots) => Some(snapshots.cost()),
                    Aid::None | Aid::Maker(_) | Aid::Trunk(_) => None,
                },
            };
            let written = rest.write(finished)?;
            // Also those of an earlier run: these results are complete.
            snapshots::remove_of(&destination.folder)?;
            (Some(written), stopwatch.timing(stats.messages))
        }
        _ => (None, stopwatch.timing(stats.messages)),
    };
    Ok(Outcome {
        summary,
        stats,
        too_wide: too_wide.jobs,
        too_narrow: too_wide.narrow,
        reports: notable(&reports),
        warnings,
        written,
        timing,
    })
}

/// Records of a run in memory and, if requested, on disk.
struct Record {
    metrics: Metrics,
    too_wide: TooWide,
    check: Option<Check>,
    writer: Option<RunWriter>,
}

impl Record {
    /// Runs `world` and records its events.
    fn take_down(
        &mut self,
        world: World,
        cast: &Cast,
        conduct: &Conduct<'_>,
        scenario: &Scenario,
        aid: &mut Aid<'_>,
    ) -> Result<RunStats, ExperimentError> {
        let mut listeners: Vec<&mut dyn Listener> = vec![&mut self.metrics, &mut self.too_wide];
        listeners.extend(self.check.as_mut().map(|check| check as &mut dyn Listener));
        listeners.extend(self.writer.as_mut().map(|writer| writer as &mut dyn Listener));
        let books = Books::new(cast, Listeners::new(listeners));
        let stats = match aid {
            Aid::None => {
                let simulation = Simulation::new(world, conduct.driver);
                run_to_end(simulation.map_err(unwrap_run_error)?, books, conduct)?
            }
            Aid::Maker(maker) => run_as_trunk(world, books, conduct, maker)?,
            Aid::Trunk(trunk) => run_from_trunk(world, books, conduct, trunk)?,
            Aid::Snapshots(snapshots) => run_in_parts(world, books, conduct, scenario, snapshots)?,
        };
        if stats.jobs != stats.jobs_over {
            let RunStats { jobs, jobs_over, .. } = stats;
            return Err(ExperimentError::JobsMissing { submitted: jobs, over: jobs_over });
        }
        let balance = self.check.iter().map(|check| check.run_over(self.metrics.work()));
        balance.collect::<Result<(), _>>().map_err(ExperimentError::Violation)?;
        Ok(stats)
    }
}

/// Runs a world to its end.
fn run_to_end<'a>(
    mut simulation: Simulation<'a>,
    books: Books<Listeners<'a>>,
    conduct: &Conduct<'a>,
) -> Result<RunStats, ExperimentError> {
    simulation.listen(books);
    simulation.stop_on(conduct.stop);
    go_on(&mut simulation, conduct)?;
    Ok(simulation.stats())
}

/// Delivers messages as long as the run neither pauses nor is over.
fn go_on(simulation: &mut Simulation<'_>, conduct: &Conduct<'_>) -> Result<(), ExperimentError> {
    while simulation.advance(INTERVAL).map_err(unwrap_run_error)? {
        watch(simulation, conduct);
    }
    Ok(())
}

/// Runs a world, and keeps its states for other runs that share its beginning.
fn run_as_trunk<'a>(
    world: World,
    mut books: Books<Listeners<'a>>,
    conduct: &Conduct<'a>,
    maker: &mut Maker,
) -> Result<RunStats, ExperimentError> {
    let first = world.changes.first().map(|change| change.at);
    books.journal(maker.begin(&world.actors).map_err(SnapshotError::from)?);
    let mut simulation = Simulation::new(world, conduct.driver).map_err(unwrap_run_error)?;
    simulation.listen(books);
    simulation.stop_on(conduct.stop);
    while let Some(next) = maker.next().filter(|&next| first.is_none_or(|first| next <= first)) {
        simulation.pause(Some(next));
        go_on(&mut simulation, conduct)?;
        maker.save(next, &simulation).map_err(SnapshotError::from)?;
    }
    simulation.pause(None);
    go_on(&mut simulation, conduct)?;
    Ok(simulation.stats())
}

/// Runs a world from the last state of the trunk that it shares with other runs, if there is one.
fn run_from_trunk<'a>(
    world: World,
    mut books: Books<Listeners<'a>>,
    conduct: &Conduct<'a>,
    trunk: &Trunk,
) -> Result<RunStats, ExperimentError> {
    let first = world.changes.first().map(|change| change.at);
    let simulation = match trunk.state(&world.actors, first) {
        Some((snapshot, length)) => {
            books.repeat(trunk.path(), length).map_err(recorded)?;
            let mut simulation = Simulation::restore(world, conduct.driver, snapshot)?;
            simulation.pause(None);
            simulation
        }
        None => Simulation::new(world, conduct.driver).map_err(unwrap_run_error)?,
    };
    run_to_end(simulation, books, conduct)
}

/// Reports the progress of a run.
fn watch(simulation: &Simulation<'_>, conduct: &Conduct<'_>) {
    let RunStats { jobs_over, messages, end, .. } = simulation.stats();
    conduct.watch.progress(jobs_over, messages, end);
}

/// Runs a world from its last snapshot on, and writes snapshots.
fn run_in_parts(
    world: World,
    mut books: Books<Listeners<'_>>,
    conduct: &Conduct<'_>,
    scenario: &Scenario,
    snapshots: &mut Snapshots,
) -> Result<RunStats, ExperimentError> {
    // Before it is read: a damaged journal must not reach the books.
    let journal = snapshots.journal()?;
    if let Some((events, length)) = snapshots.past() {
        books.repeat(&events, length).map_err(recorded)?;
    }
    books.journal(journal.clone());
    let mut simulation = match snapshots.take(scenario)? {
        Some(snapshot) => Simulation::restore(world, conduct.driver, snapshot)?,
        None => Simulation::new(world, conduct.driver).map_err(unwrap_run_error)?,
    };
    simulation.listen(books);
    simulation.stop_on(conduct.stop);
    // The first snapshot is of the start, so that a run can continue from then on.
    while let Some(next) = simulation.peek().map_err(unwrap_run_error)? {
        let length = journal.sync().map_err(|error| recorded(Box::new(error)))?;
        snapshots.save(&simulation, length)?;
        let cadence = Cadence::new(snapshots.begun().every, next);
        loop {
            simulation.advance_until(cadence.at(), INTERVAL).map_err(unwrap_run_error)?;
            watch(&simulation, conduct);
            match simulation.peek().map_err(unwrap_run_error)? {
                Some(next) if !cadence.is_due(next) => {}
                _ => break,
            }
        }
    }
    Ok(simulation.stats())
}

/// Contents of the folder besides the tables.
struct Rest<'a> {
    scenario: &'a Scenario,
    folder: &'a Path,
    destination: &'a Destination,
    summary: &'a Summary,
    inputs: &'a [(String, PathBuf)],
    own_rules: &'a [OwnRule],
    /// Time at which the world stopped at the latest: a live run may have another one than its scenario.
    horizon: Option<Time>,
    clock: Option<i64>,
    messages: u64,
    stopwatch: &'a Stopwatch,
    check: bool,
    cleared: Option<PathBuf>,
    snapshots: Option<SnapshotCost>,
}

impl Rest<'_> {
    /// Writes these files, then gives the folder its final name.
    fn write(self, finished: FinishedRun) -> Result<Written, ExperimentError> {
        // Cloned, because `publish` consumes the folder.
        let digest = finished.digest().clone();
        finished.write_summary(self.summary)?;
        // The file moves to another folder, so its relative paths must start from there.
        let end = self.destination.end.as_ref().unwrap_or(&self.destination.folder);
        let mut resolved = self.scenario.clone();
        resolved
            .relocate(self.folder, end)
            .map_err(|error| ResultsError::write(&self.destination.folder, error))?;
        finished.write("scenario.toml", resolved.to_toml().as_bytes())?;
        finished.write_provenance(&Provenance {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: BUILD.to_owned(),
            scenario_sha256: sha256(self.scenario.to_toml().as_bytes()),
            seed: self.scenario.scenario.seed,
            inputs: self
                .inputs
                .iter()
                // Standard input and other pipes cannot be read again, so they have no hash.
                .filter(|(written, path)| written != "-" && path.is_file())
                .map(|(written, path)| Input::of_file(path, written))
                .collect::<Result<_, _>>()?,
            own_rules: self.own_rules.to_vec(),
            local_time_at_zero: self.clock,
            about: About {
                horizon: self.horizon.map(|it| (it - Time::ZERO).as_secs_f64()),
                ..about(self.scenario)
            },
            digest: digest.clone(),
            tables: finished.table_sizes()?,
        })?;
        // The audit precedes `publish`: tables that disagree never get the final name of the
        // folder.
        if self.check {
            audit(finished.folder()).map_err(ExperimentError::Disagreement)?;
        }
        let mut drawn = Drawn::default();
        if self.destination.figures == Figures::Draw {
            let reader = RunReader::open(finished.folder())?;
            drawn = draw_all(&self.scenario.figures, &reader, finished.folder())?;
        }
        // Measured last, so that it includes the audit and the figures.
        let timing = self.stopwatch.timing(self.messages);
        finished.write_timing(&Timing { snapshots: self.snapshots, ..timing })?;
        Ok(Written {
            folder: finished.publish()?,
            digest,
            figures: drawn.files,
            figures_left_out: drawn.left_out,
            cleared: self.cleared,
        })
    }
}

/// Own rules that a scenario names, in the form of provenance.
///
/// # Errors
/// If a rule is unknown.
pub(super) fn own_rules(scenario: &Scenario) -> Result<Vec<OwnRule>, NoSuchRule> {
    let named = scenario.own_rules()?.into_iter();
    let named = named.map(|(kind, name, version)| OwnRule {
        kind: kind.name().to_owned(),
        name: name.to_owned(),
        version,
    });
    Ok(named.collect())
}

/// True if a rule may reject a job that a provider could run.
fn chooses(rule: &OwnRule) -> bool {
    [Kind::Placement, Kind::Composition].iter().any(|kind| rule.kind == kind.name())
}

/// Converts errors of workloads and sinks into their own kinds.
pub fn unwrap_run_error(error: RunError) -> ExperimentError {
    match error {
        RunError::Workload(error) => match error.downcast::<model::WorkloadError>() {
            Ok(error) => ExperimentError::Jobs(error),
            Err(error) => ExperimentError::Run(RunError::Workload(error)),
        },
        RunError::Record(error) => recorded(error),
        error => ExperimentError::Run(error),
    }
}

/// Error of a sink that ended a run.
fn recorded(error: OutsideError) -> ExperimentError {
    // One kind after the other, because a failed downcast gives the error back.
    let error = match error.downcast::<ResultsError>() {
        Ok(error) => return ExperimentError::Results(*error),
        Err(error) => error,
    };
    let error = match error.downcast::<Violation>() {
        Ok(violation) => return ExperimentError::Violation(*violation),
        Err(error) => error,
    };
    let error = match error.downcast::<JournalError>() {
        Ok(error) => return SnapshotError::from(*error).into(),
        Err(error) => error,
    };
    match error.downcast::<ExperimentError>() {
        Ok(error) => *error,
        Err(error) => ExperimentError::Run(RunError::Record(error)),
    }
}

/// Most attempts at an agreement for a job; `None` if no metascheduler uses a protocol.
fn trials(scenario: &Scenario) -> Option<u32> {
    scenario.metaschedulers.iter().filter_map(|it| Some(it.transaction()?.1.trials)).max()
}

fn metrics_options(scenario: &Scenario) -> MetricsOptions {
    let results = &scenario.results;
    MetricsOptions {
        bounded_slowdown_threshold: results.bounded_slowdown_threshold.0,
        window: results.window.map(|window| (Time::ZERO, Time::ZERO + window.0)),
        transactions: trials(scenario),
        horizon: scenario.scenario.horizon.map(|horizon| Time::ZERO + horizon.0),
        cut: cut(results),
    }
}

/// The jobs that metrics leave out.
pub fn cut(results: &file::Results) -> Cut {
    Cut { warm_up: extent(results.warm_up), cool_down: extent(results.cool_down) }
}

fn extent(part: TimeOrShare) -> Extent {
    match part {
        TimeOrShare::ZERO => Extent::Nothing,
        TimeOrShare::Time(time) => Extent::Seconds(time.0.as_secs_f64()),
        TimeOrShare::Share(share) => Extent::Share(share.fraction()),
    }
}

fn write_options(
    results: &file::Results,
    destination: &Destination,
    metrics: MetricsOptions,
) -> WriteOptions {
    WriteOptions {
        format: match (destination.keep, results.format) {
            (Keep::Summary, _) => Format::Neither,
            (Keep::Tables, file::TableFormat::Parquet) => Format::Parquet,
            (Keep::Tables, file::TableFormat::Csv) => Format::Csv,
            (Keep::Tables, file::TableFormat::Both) => Format::Both,
        },
        messages: results.messages,
        existing: destination.existing,
        metrics,
    }
}
