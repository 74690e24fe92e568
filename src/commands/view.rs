//! `haggle view`: schedules of runs in a browser.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::scenario::quantity::TimeSpan;
use haggle_view::results::{RunView, VIEWS_MAX, runs_of};
use haggle_view::server::Server;
use haggle_view::simulation::{self, Simulated};
use haggle_view::{View, Views};

use super::example::setting;
use super::plot::is_sweep;
use super::run::DriverName;
use super::{Error, complete, is_results, open_run, print, read_scenario, runs_below, seeds};
use crate::command::own_rules;
use crate::exit::Exit;
use crate::interrupt::{self, STOP, while_waiting};
use crate::report::{say, warn, warn_of};
use crate::scenario::{Experiment, Logs, Run, Scenario, Setting};

/// View schedules of runs in a browser, or step a simulation
///
/// Prints an address with a random key, and opens it in a browser. The server answers on this machine alone, and needs
/// no network. Ctrl-C ends it. The folder of a sweep gives a view for each run (docs/viewer.md).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle view runs/quickstart
  haggle view runs/first runs/second  # side by side, with differences in colour
  haggle view sweeps/monday --port 8080 --no-open
  haggle view runs/quickstart --no-open --for 0s  # only check all tables
  haggle view scenarios/quickstart.toml --set provider.north.policy=easy  # step a simulation
  haggle view scenarios/sweep.toml --run 7  # step a run of a sweep")]
pub(crate) struct Args {
    /// Folders of runs or sweeps, packed or not, or scenario files, which are stepped
    #[arg(required = true, value_name = "DIR|SCENARIO")]
    folders: Vec<PathBuf>,
    /// Set a value of the scenarios, such as provider.north.policy=easy; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = complete::settings(setting),
        hide_possible_values = true)]
    settings: Vec<(String, String)>,
    /// Master seed of the scenarios
    #[arg(long, value_name = "NUMBER", value_parser = seeds())]
    seed: Option<u64>,
    /// Step the run of a sweep with this number; `haggle show --runs SCENARIO` lists them
    #[arg(long, value_name = "NUMBER")]
    run: Option<usize>,
    /// Delivery of messages to the actors of scenarios; the events are the same
    #[arg(long, value_name = "DRIVER", default_value = "sequential")]
    driver: DriverName,
    /// Port of the address; without it, a free one
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// End after this time, such as 10min; `0s` ends when all tables have been read, and fails if there are problems
    #[arg(long = "for", value_name = "TIME")]
    ends_after: Option<TimeSpan>,
}

/// Serves the views until a signal comes.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let views = Views::new();
    let is_changed = !args.settings.is_empty() || args.seed.is_some() || args.run.is_some();
    if is_changed && !args.folders.iter().any(|path| path.is_file()) {
        return Err(Error::Unfit {
            message: "--set, --seed and --run are for scenarios, and the folders are finished runs"
                .to_owned(),
            hint: "name a scenario file, or leave them out".to_owned(),
        });
    }
    // The views have the order of the arguments; the page shows the first one.
    let mut opened = Vec::new();
    for path in &args.folders {
        if path.is_file() {
            views.add(Arc::new(simulation(path, args)?));
            continue;
        }
        for view in opened_in(path)? {
            views.add(Arc::clone(&view) as Arc<dyn View>);
            opened.push(view);
        }
        if opened.len() > VIEWS_MAX {
            return Err(Error::Unfit {
                message: format!("the folders have more than {VIEWS_MAX} runs"),
                hint: "name the folders of single runs, or of a part of the sweep".to_owned(),
            });
        }
    }
    if let Some(first) = opened.first() {
        first.start();
    }
    let server = Server::bind(Arc::new(views), args.port.unwrap_or(0)).map_err(|error| {
        let port = args.port.map_or_else(String::new, |it| format!(" on port {it}"));
        Error::Unfit {
            message: format!("the viewer cannot answer{port}: {error}"),
            hint: "choose another port, or none for a free one".to_owned(),
        }
    })?;
    let address = server.address();
    print(&format!("{address}\n"))?;
    if !args.no_open {
        open(&address);
    }
    let ends = End::of(args, opened.clone());
    let only_checks = ends.read.is_some();
    server.serve(move || ends.is_now()).map_err(Error::Output)?;
    if !STOP.load(Ordering::Acquire) && only_checks {
        return checked(&opened, &args.folders);
    }
    Ok(match interrupt::interrupted() {
        // Ctrl-C is the usual end.
        Exit::Interrupted => Exit::Success,
        other => other,
    })
}

/// Prints the problems of runs whose tables have been read, the tables that were changed after their run, and the runs
/// of sweeps that are missing.
fn checked(opened: &[Arc<RunView>], folders: &[PathBuf]) -> Result<Exit, Error> {
    let mut exit = Exit::Success;
    for folder in folders.iter().filter(|it| is_whole_sweep(it, opened)) {
        for problem in missing_in(folder) {
            say(&format!("{}: {problem}\n", folder.display()));
            exit = Exit::Differs;
        }
    }
    for view in opened {
        let path = view.identity().path;
        let mut problems = view.problems();
        // Digests of a damaged table have no meaning.
        if problems.is_empty() {
            let changed = open_run(&path)?.changed_files()?.into_iter();
            problems.extend(changed.map(|file| {
                format!("`{file}` was changed after its run: it is not as in provenance.json")
            }));
        }
        for problem in problems {
            say(&format!("{}: {problem}\n", path.display()));
            exit = Exit::Differs;
        }
    }
    Ok(exit)
}

/// True for the folder of a sweep, and false for a run, a scenario, or a folder below that of a sweep.
fn is_whole_sweep(folder: &Path, opened: &[Arc<RunView>]) -> bool {
    let is_run = || opened.iter().any(|it| it.identity().path == folder);
    let is_below = || folder.ancestors().skip(1).any(is_sweep);
    folder.is_dir() && !is_run() && !is_below()
}

/// Most missing runs of a sweep that are named.
const MISSING_MAX: usize = 20;

/// The runs of a sweep that are missing, in words.
fn missing_in(sweep: &Path) -> Vec<String> {
    let runs = match runs_below(sweep) {
        Ok(runs) => runs,
        Err(error) => return vec![format!("its runs are not known: {error}")],
    };
    let missing = Vec::from_iter(runs.iter().filter(|run| !run.is_there));
    let named = missing.iter().take(MISSING_MAX).map(|run| {
        format!("run {} is missing: there is no folder `{}`", run.number, run.folder.display())
    });
    let rest = missing.len().saturating_sub(MISSING_MAX);
    let rest = (rest > 0).then(|| format!("{rest} more runs are missing"));
    named.chain(rest).collect()
}

/// When the command ends.
struct End {
    at: Option<Instant>,
    /// Views whose tables must have been read first; `None` = the time alone counts.
    read: Option<Vec<Arc<RunView>>>,
}

#[expect(clippy::disallowed_methods, reason = "the command ends by real time")]
impl End {
    fn of(args: &Args, opened: Vec<Arc<RunView>>) -> End {
        let after = args.ends_after.map(|it| Duration::from_secs_f64(it.0.as_secs_f64().max(0.0)));
        match after {
            Some(Duration::ZERO) => End { at: None, read: Some(opened) },
            after => End { at: after.map(|it| Instant::now() + it), read: None },
        }
    }

    fn is_now(&self) -> bool {
        let is_read = || self.read.as_ref().is_some_and(|all| all.iter().all(|it| it.is_read()));
        STOP.load(Ordering::Acquire) || self.at.is_some_and(|at| at <= Instant::now()) || is_read()
    }
}

/// A scenario that is stepped.
fn simulation(file: &Path, args: &Args) -> Result<Simulated, Error> {
    let source = while_waiting(|| read_scenario(file))?.with(&args.settings);
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    warn(&experiment.warnings);
    let (mut scenario, without_effect) = chosen(&experiment, args)?;
    warn_of(&without_effect);
    if let Some(seed) = args.seed {
        scenario.reseed(seed);
    }
    simulation::open(scenario, &folder, file, args.driver.driver()).map_err(|error| Error::Unfit {
        message: error.to_string(),
        hint: "`haggle validate` checks a scenario".to_owned(),
    })
}

/// The run that is stepped, and its settings without effect. It is the only one, the one of `--run`, or the one of a sweep
/// with the values of `--set` on its axes. `--seed` gives any replication its seed.
fn chosen(experiment: &Experiment, args: &Args) -> Result<(Scenario, Vec<String>), Error> {
    let found = |run: Run<'_>| (run.scenario(), run.variant.warnings.clone());
    if let Some(number) = args.run {
        let run = experiment.runs().nth(number).map(found);
        let runs = experiment.runs().count();
        return run.ok_or(Error::NoSuchRun { number, runs });
    }
    let axes = experiment.scenario.sweep.iter().flat_map(|it| &it.axes);
    let paths = Vec::from_iter(axes.map(|axis| axis.path.as_deref()));
    let is_given = |path: Option<&str>, value: &Setting| {
        let mut given = args.settings.iter().filter(|it| Some(it.0.as_str()) == path);
        given.all(|it| it.1.trim_matches('"') == value.text())
    };
    let has_all = |run: &Run<'_>| {
        paths.iter().zip(&run.variant.settings).all(|(path, value)| is_given(*path, value))
    };
    let is_first = |run: &Run<'_>| {
        args.seed.is_none() || run.number.is_multiple_of(experiment.replications as usize)
    };
    let mut runs = experiment.runs().filter(|run| has_all(run) && is_first(run));
    match (runs.next().map(found), runs.count()) {
        (Some(run), 0) => Ok(run),
        (_, others) => Err(Error::Unfit {
            message: match others {
                0 => "no run of the sweep has these values".to_owned(),
                others => format!("the scenario is a sweep, and {} runs fit", others + 1),
            },
            hint: "choose one with --run NUMBER: `haggle show --runs SCENARIO` lists them; --set picks values on axes, and \
                   --seed a seed"
                .to_owned(),
        }),
    }
}

/// The views of a folder: its run, or the runs of its sweep.
fn opened_in(folder: &Path) -> Result<Vec<Arc<RunView>>, Error> {
    if !is_results(folder) {
        // The error names the reason.
        open_run(folder)?;
    }
    let view = |(path, name): (PathBuf, String)| {
        let name = match name.as_str() {
            "" => name_of(&path),
            name => format!("{} {name}", name_of(folder)),
        };
        Arc::new(RunView::new(&path, name))
    };
    Ok(runs_of(folder)?.into_iter().map(view).collect())
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Opens a browser, without a shell. A failure is no error, because the address is printed.
fn open(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C in this terminal must not end the browser.
        .process_group(0)
        .spawn();
    match started {
        // The program ends at once or with the browser, and its end must be waited for.
        Ok(mut opened) => {
            let wait = thread::Builder::new().name("browser".to_owned());
            let _ = wait.spawn(move || opened.wait());
        }
        Err(error) => say(&format!("no browser was opened ({program}: {error})\n")),
    }
}
