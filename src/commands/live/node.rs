//! `haggle live node`: one node, in a process of its own.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};
use std::path::{PathBuf, absolute};
use std::sync::atomic::Ordering;
use std::time::Duration;

use haggle_live::ending::Progress;
use haggle_live::keys::Identity;
use haggle_live::machine::{ProgramsError, Settings};
use haggle_live::parts::PartId;
use haggle_live::process::{Place, run_node};
use haggle_live::run::Ended;
use haggle_model::Time;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use super::super::run::quoted;
use super::super::{Error, print};
use super::LiveError;
use super::folder::{LiveFolder, NODE, NodeSettings, parse};
use crate::exit::Exit;
use crate::interrupt::{STOP, interrupted};

/// Run one node of a live run, made by `haggle live init`
///
/// The node begins when all nodes of the run have been started, and ends when all agree that the run is over. Ctrl-C or
/// SIGTERM stop it: its promises are in its journal, and the same command continues it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  # after haggle live init: haggle live node nodes/north
  # as a service: haggle live node nodes/north --log json 2>> north.jsonl")]
pub(crate) struct Args {
    /// Folder of the node; live.toml and scenario.toml of the run stand above it
    #[arg(value_name = "DIR/NODE")]
    folder: PathBuf,
    /// Form of the log on standard error
    #[arg(long, value_name = "FORM", default_value = "text")]
    log: Form,
    /// Least important events that are logged
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    level: LevelFilter,
    /// Stop when standard input ends, so that no node outlives the process that started it
    #[arg(long, hide = true)]
    with_parent: bool,
}

/// Form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Lines for people
    Text,
    /// A JSON object in each line
    Json,
}

/// Real time between two lines about progress.
const EVERY: Duration = Duration::from_secs(30);

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let path = absolute(&args.folder)
        .map_err(|error| LiveError::Read { path: args.folder.clone(), error })?;
    let of_run = path.parent().unwrap_or(&path);
    let folder = LiveFolder::open(of_run)?;
    let (plan, _) = folder.plan()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(part) = LiveFolder::part_of(&plan, &name) else {
        let all = plan.run.nodes.iter().map(ToString::to_string).collect();
        return Err(LiveError::NoNode { name, all }.into());
    };
    if folder.facts.nodes.is_empty() {
        return Err(LiveError::Threads(folder.path).into());
    }
    let settings: NodeSettings = parse(&path.join(NODE))?;
    let addresses = addresses(&folder, &settings.addresses)?;
    let all = settings.status.iter().chain([&settings.listen]).chain(addresses.values());
    if let Some(wrong) = all.into_iter().find(|it| !has_port(it)) {
        return Err(LiveError::Address { path: path.join(NODE), address: wrong.clone() }.into());
    }
    let of_machine = |error: ProgramsError| LiveError::Facts {
        path: path.join(NODE),
        error: format!("[machine]: {error}"),
    };
    let machine = settings.machine.map(|it| {
        let programs = it.programs().map_err(of_machine)?.below(&path);
        // Programs for Slurm are on other machines.
        let here = matches!(it, Settings::Command { .. });
        match programs.missing().filter(|_| here) {
            Some(program) => {
                Err(LiveError::NoProgram { path: path.join(NODE), program: program.to_owned() })
            }
            None => Ok((it, programs)),
        }
    });
    let place = Place {
        identity: Identity::load(&path)?,
        listen: settings.listen,
        addresses,
        status: settings.status,
        snapshot_every: settings.snapshot_every,
        machine: machine.transpose()?,
        supervisor: own_command(&["live", "work"])?,
    };
    log(args.log, args.level);
    if args.with_parent {
        std::thread::spawn(|| {
            // An error is an end as well.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            STOP.store(true, Ordering::Release);
        });
    }
    let ticks = Cell::new(0_u32);
    let watch = |now: Time, Progress { jobs, over, .. }: Progress| {
        // It is called ten times a second.
        ticks.set(ticks.get() + 1);
        if ticks.get().is_multiple_of(10 * EVERY.as_secs() as u32) {
            tracing::info!(time = %now, jobs, over, "running");
        }
    };
    match run_node(&plan, part, place, &STOP, watch).map_err(LiveError::from)? {
        Ended::Complete | Ended::Unconfirmed => {
            let results = quoted(of_run);
            print(&format!("the run is over; with all journals: haggle live results {results}\n"))?;
            Ok(Exit::Success)
        }
        Ended::Stopped => Ok(interrupted()),
    }
}

/// A command of this program.
pub(super) fn own_command(words: &[&str]) -> Result<Vec<String>, LiveError> {
    let program = std::env::current_exe()
        .map_err(|error| LiveError::Read { path: PathBuf::from("haggle"), error })?;
    let program = program.to_string_lossy().into_owned();
    Ok(std::iter::once(program).chain(words.iter().map(|it| (*it).to_owned())).collect())
}

/// True if an address has a host and a port.
fn has_port(address: &str) -> bool {
    address
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

/// Addresses of all nodes, as one of them reaches them.
fn addresses(
    folder: &LiveFolder,
    own: &BTreeMap<String, String>,
) -> Result<BTreeMap<PartId, String>, LiveError> {
    let names = || folder.facts.nodes.iter().map(|it| it.name.clone());
    if let Some(name) = own.keys().find(|it| !names().any(|name| name == **it)) {
        return Err(LiveError::NoNode { name: name.clone(), all: names().collect() });
    }
    let nodes = (0..).zip(&folder.facts.nodes);
    let address = |name: &str, given: &String| own.get(name).unwrap_or(given).clone();
    Ok(nodes.map(|(part, it)| (part, address(&it.name, &it.address))).collect())
}

/// Writes events to standard error.
fn log(form: Form, level: LevelFilter) {
    // The server of the status is no part of the run.
    let quiet = level.min(LevelFilter::WARN);
    let targets = Targets::new().with_default(level).with_target("actix_server", quiet);
    let lines = layer().with_writer(std::io::stderr);
    let lines = match form {
        Form::Text => lines.with_target(false).with_ansi(std::io::stderr().is_terminal()).boxed(),
        Form::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(targets)).init();
}
