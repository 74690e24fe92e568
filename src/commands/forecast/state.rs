//! `haggle forecast state`: the state of a log's machine at an instant, as a scenario.

use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::forecast::Schedule;
use crate::scenario::file::{self, Overrun, Preset};
use crate::scenario::quantity::TimeSpan;
use crate::scenario::vocabulary::parser;
use crate::scenario::{Experiment, Logs, Scenario, Source};
use haggle_model::Time;

use super::super::log_options::Reading;
use super::super::output;
use super::super::replay::machine_size;
use super::{Error, write};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::report::say;

/// Write the state of a log at an instant as a scenario
///
/// Jobs that ran then are running, and jobs that had been submitted and not started wait, by the log's waiting times
/// (field 3). A log without waiting times is simulated under the policy. Their run times are unknown: their laws are those of the jobs that had ended before, as parts of
/// the requested time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle forecast state log.swf.gz --at 30d -o state.toml
  haggle forecast state log.swf.gz --at 30d --policy conservative --processors 128 -o later.toml")]
pub(super) struct Args {
    #[command(flatten)]
    machine: Machine,
    /// Instant of the log, from its time zero (by the rules "careful", the first submission)
    #[arg(long, value_name = "TIME")]
    at: TimeSpan,
    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// A machine with the jobs of a log.
#[derive(Debug, clap::Args)]
pub(super) struct Machine {
    /// Log in Standard Workload Format or another one: plain, .gz or .zst
    #[arg(value_name = "LOG")]
    pub(super) log: PathBuf,
    /// Processors of the machine; without it, as the log's header says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    processors: Option<u32>,
    /// Policy of the machine
    #[arg(long, value_name = "POLICY", default_value = "easy")]
    policy: Policy,
    /// Rules for gaps and contradictions of the log
    #[arg(long, value_name = "SET", default_value = "careful", value_parser = parser::<Preset>())]
    rules: Preset,
    /// Classes of requested times, with about equally many jobs; each has a law of run times of its own
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(super) classes: u32,
    #[command(flatten)]
    reading: Reading,
}

/// Policy of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Policy {
    /// First come, first served
    Fcfs,
    /// A job may pass others if it does not delay the first one
    Easy,
    /// A job may pass others if it delays none
    Conservative,
}

impl Machine {
    /// The machine with the whole log as its workload, checked.
    pub(super) fn scenario(&self, seed: u64) -> Result<Scenario, Error> {
        let options = self.reading.options()?;
        let processors = match self.processors {
            Some(processors) => processors,
            None => machine_size(&self.log, &options)?,
        };
        let name = |text: &str| file::Name::like(text);
        let header = file::Header { name: Some(name("forecast")), seed, ..file::Header::default() };
        let mut workload = file::Workload::named(name("log"));
        workload.log = Some(self.log.to_string_lossy().into_owned());
        let rules = file::Rules {
            preset: Some(self.rules),
            machine_size: Some(processors),
            ..file::Rules::default()
        };
        self.reading.set(&mut workload, rules);
        let order = file::Order::default();
        let policy = match self.policy {
            Policy::Fcfs => file::Policy::Fcfs { order },
            Policy::Easy => file::Policy::Easy { order, depth: None },
            Policy::Conservative => file::Policy::Conservative {
                order,
                compression: file::Compression::default(),
                depth: None,
                window: None,
            },
        };
        let scenario = Scenario {
            scenario: header,
            users: vec![file::User::named(name("users"), name("log"), name("machine"))],
            workloads: vec![workload],
            providers: vec![file::Provider {
                policy,
                ..file::Provider::named(name("machine"), processors)
            }],
            ..Scenario::default()
        };
        checked(&scenario)
    }
}

/// A scenario with its defaults, after all checks.
fn checked(scenario: &Scenario) -> Result<Scenario, Error> {
    let source = Source::new("forecast.toml", scenario.to_toml());
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    let first = experiment.runs().next().map(|run| run.scenario());
    first.ok_or(Error::NoSuchRun { number: 0, runs: 0 })
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    output::check_free(&args.output, args.force)?;
    let mut scenario = args.machine.scenario(1)?;
    let now = Time::ZERO + args.at.0;
    let mut schedule = Schedule::recorded(&scenario, Path::new(""))?;
    if schedule.jobs.is_empty() {
        say(
            "note: the log has no waiting times (field 3): its jobs are scheduled under the policy\n",
        );
        schedule = Schedule::simulated(&scenario, Path::new(""), &STOP)?;
    }
    let state = schedule.at(now, args.machine.classes as usize);
    let Some(laws) = state.laws else {
        return Err(Error::Unfit {
            message: format!("too few jobs of the log had ended {} after its beginning", args.at),
            hint: "name a later instant with --at: the law of run times needs 20 jobs".to_owned(),
        });
    };
    if state.jobs.is_empty() {
        say(&format!("note: no job of the log runs or waits {} after its beginning\n", args.at));
    }
    scenario.workloads.clear();
    scenario.users.clear();
    for provider in &mut scenario.providers {
        if state.busy > u64::from(provider.processors) {
            return Err(Error::Unfit {
                message: format!(
                    "the jobs that run then have {} processors in the log, and the machine has {}",
                    state.busy, provider.processors
                ),
                hint: "name the size of the machine with --processors".to_owned(),
            });
        }
        provider.initial = Some(state.jobs.clone());
        provider.initial_use = Some(laws.clone());
        // As on the machine of the log, where jobs may run past their requests.
        provider.overrun = Overrun::Extend;
    }
    // A list that cannot be a start state is found here, and not by the next command.
    let scenario = checked(&scenario)?;
    let head = format!(
        "# The state of {} {} after its beginning. Run times are unknown: `initial-use` has the laws of the used part\n\
         # of requests, from the jobs that had ended before.\n\n",
        shown(&args.machine.log),
        args.at
    );
    write(&format!("{head}{}", scenario.to_toml()), &args.output, args.force)?;
    Ok(Exit::Success)
}

/// The name of a log in a comment: one line.
fn shown(log: &Path) -> String {
    let name = log.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    name.chars().map(|it| if it.is_control() { '?' } else { it }).collect()
}
