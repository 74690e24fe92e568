//! `haggle replay`: one log under one policy or several, without a scenario file.

mod text;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::experiment::{self, Conduct, Destination, Figures, Keep, Outcome};
use crate::scenario::file::{Compression, Overrun, Passes, TableFormat};
use crate::scenario::quantity::EstimateRule;
use crate::scenario::vocabulary::parser;
use crate::scenario::{Experiment, Logs, Scenario, Source, file};
use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use haggle_results::Existing;
use haggle_results::metrics::AsRecorded;
use haggle_workloads::logs;
use haggle_workloads::swf::Malformed;
use serde::Serialize;

use super::log_options::Reading;
use super::run::{DriverName, say_cleared, say_reports, say_too_wide, told};
use super::{Error, is_pipe, print, print_json, say_waiting, seeds};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::progress::{OneRun, Show};
use crate::report::{say, warn_of};
use text::{as_text, side_by_side};

/// Replay a log on one machine, under one policy or several
///
/// Reads the log as scenarios do, by the rules "careful" unless --rules is given. Jobs that never ran are left out, a
/// missing request is the run time, and a run longer than its request is cut to it. Published comparisons use `--rules
/// canonical`: processors are those allocated, and jobs without a run time or a request are left out.
///
/// A row "as recorded", beside the policies, has the values of these jobs in the log itself, by its waiting times
/// (field 3).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle replay CTC-SP2-1996-3.1-cln.swf.gz --processors 338 --policy easy
  haggle replay CTC-SP2-1996-3.1-cln.swf.gz --policy easy --rules canonical
  haggle replay log.swf --policy fcfs,easy,conservative -o results  # one folder each
  haggle replay log.swf --policy conservative --compression job-by-job --json
  haggle replay log.swf --queue 1,2 --user 7
  haggle replay log.swf --policy easy --estimates exact --first 10000 -o exact
  haggle replay log.swf --policy easy --overrun extend  # jobs run as long as in the log
  zcat log.swf.gz | haggle replay - --processors 128 --policy fcfs")]
pub(crate) struct Args {
    /// Log in Standard Workload Format or another one: plain, .gz or .zst; - for standard input
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Processors of the machine; without it, as the log's header says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    processors: Option<u32>,
    /// Policy of the machine; several, with commas between them, are compared
    #[arg(long, value_name = "POLICY", value_delimiter = ',', default_value = "easy", value_parser = PolicyParser)]
    policy: Vec<Policy>,
    /// Order in which waiting jobs are considered
    #[arg(long, value_name = "ORDER", default_value = "arrival", value_parser = parser::<file::Order>())]
    order: file::Order,
    /// Treatment of reservations by conservative backfilling when a job ends; by-start if not given
    #[arg(long, value_name = "RULE", value_parser = parser::<Compression>())]
    compression: Option<Compression>,
    /// Requested times: trace, exact, no-limit, factor:2, over:50%, uniform:5, precision:+20
    #[arg(long, value_name = "RULE", default_value = "trace")]
    estimates: EstimateRule,
    /// Read only the first N job lines of the log
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    first: Option<u64>,
    /// Only jobs of these users, by their numbers in the log
    #[arg(long, value_name = "N", value_delimiter = ',', allow_hyphen_values = true)]
    user: Vec<i32>,
    /// Only jobs of these groups
    #[arg(long, value_name = "N", value_delimiter = ',', allow_hyphen_values = true)]
    group: Vec<i32>,
    /// Only jobs of these queues
    #[arg(long, value_name = "N", value_delimiter = ',', allow_hyphen_values = true)]
    queue: Vec<i32>,
    /// Only jobs of these partitions
    #[arg(long, value_name = "N", value_delimiter = ',', allow_hyphen_values = true)]
    partition: Vec<i32>,
    /// Rules for gaps and contradictions of the log
    #[arg(long, value_name = "SET", default_value = "careful", value_parser = parser::<file::Preset>())]
    rules: file::Preset,
    #[command(flatten)]
    reading: Reading,
    /// Treatment of jobs that run past their requested time; without it, their run time in the log is cut to the
    /// request
    #[arg(long, value_name = "RULE", value_parser = parser::<Overrun>())]
    overrun: Option<Overrun>,
    /// Occasions on which the scheduler decides which jobs start
    #[arg(long, value_name = "RULE", default_value = "instant", value_parser = parser::<Passes>())]
    passes: Passes,
    /// Seed of drawn estimates
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = seeds())]
    seed: u64,
    /// Write the tables into this folder; of several policies, into one of its own for each
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace existing results
    #[arg(long, requires = "output")]
    force: bool,
    /// Format of the tables
    #[arg(long, value_name = "FORMAT", default_value = "parquet", value_parser = parser::<TableFormat>())]
    format: TableFormat,
    /// Delivery of messages to actors; the results are the same
    #[arg(long, value_name = "DRIVER", default_value = "sequential")]
    driver: DriverName,
    /// Check that no processor holds two jobs, no job is lost, and the tables agree with each other
    #[arg(long)]
    check: bool,
    /// Print an object instead of a table
    #[arg(long)]
    json: bool,
    /// Print no progress, and only errors on standard error
    #[arg(short, long)]
    quiet: bool,
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
    /// A job starts when the log says, or later if its processors are not free then
    Recorded,
}

/// Reads a policy. If the word is an order of the queue, the error names the option for it.
#[derive(Clone)]
struct PolicyParser;

impl TypedValueParser for PolicyParser {
    type Value = Policy;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Policy, clap::Error> {
        let known = EnumValueParser::<Policy>::new().parse_ref(command, arg, value);
        // Orders of the queue are often taken for policies.
        known.map_err(|error| match order_of(&value.to_string_lossy()) {
            None => error,
            Some(order) => clap::Error::raw(
                clap::error::ErrorKind::InvalidValue,
                format!(
                    "{value:?} is an order of the queue, and no policy: write `--order {order}` beside \
                     `--policy fcfs`, `easy` or `conservative`\n"
                ),
            )
            .with_cmd(command),
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = Policy::value_variants().iter();
        Some(Box::new(values.filter_map(|policy| policy.to_possible_value())))
    }
}

/// The order of the queue to which a name of a policy in the literature refers.
fn order_of(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "sjf" | "sjbf" | "spt" | "shortest" | "shortest-job-first" => "shortest",
        "largest" | "largest-job-first" | "widest" => "largest",
        _ => return None,
    })
}

impl Policy {
    /// The policy with the keys from the options.
    fn in_file(self, args: &Args) -> file::Policy {
        let order = args.order.clone();
        match self {
            Policy::Fcfs => file::Policy::Fcfs { order },
            Policy::Easy => file::Policy::Easy { order, depth: None },
            Policy::Conservative => {
                let compression = args.compression.unwrap_or_default();
                file::Policy::Conservative { order, compression, depth: None, window: None }
            }
            Policy::Recorded => file::Policy::recorded(),
        }
    }

    /// The policy as a word of the command line.
    fn word(self) -> &'static str {
        match self {
            Policy::Fcfs => "fcfs",
            Policy::Easy => "easy",
            Policy::Conservative => "conservative",
            Policy::Recorded => "recorded",
        }
    }
}

/// Replays the log, under each policy.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let policies = &args.policy;
    if let Some(policy) = repeated(policies) {
        let message = format!("policy \"{}\" is there twice", policy.word());
        return Err(Error::Unfit { message, hint: "name each policy once".to_owned() });
    }
    // Each policy reads the log again.
    if policies.len() > 1 && (args.log == Path::new("-") || is_pipe(&args.log)) {
        return Err(Error::Unfit {
            message: "a log that comes through a pipe can be read only once".to_owned(),
            hint: "write it into a file, or name one policy".to_owned(),
        });
    }
    let options = args.reading.options()?;
    let scenarios: Vec<Scenario> = policies
        .iter()
        .map(|&policy| scenario(args, &options, policy))
        .collect::<Result<_, _>>()?;
    say_waiting(&args.log);
    let mut warnings = without_effect(&scenarios);
    if args.compression.is_some() && !policies.contains(&Policy::Conservative) {
        warnings.push(
            "`--compression` has no effect: only policy \"conservative\" reads it".to_owned(),
        );
    }
    if args.order != file::Order::default() && policies == &[Policy::Recorded] {
        warnings.push(
            "`--order` has no effect: policy \"recorded\" starts jobs as in the log".to_owned(),
        );
    }
    if args.overrun.is_some() && fits_all_jobs(args.estimates) {
        warnings.push(
            "`--overrun` has no effect: with these `--estimates` no job runs past its request"
                .to_owned(),
        );
    }
    let mut outcomes = Vec::new();
    for (scenario, &policy) in scenarios.iter().zip(policies) {
        let outcome = replay(args, policy, scenario, &warnings)?;
        if !args.quiet {
            // Mistakes of a log are the same under every policy.
            if outcomes.is_empty() {
                say_reports(&outcome);
                say_too_wide(&outcome);
                warn_of(&outcome.summary.warnings);
                if outcome.stats.jobs == 0 && filter(args).is_some() {
                    warn_of(
                        &["no job is of these users, groups, queues and partitions".to_owned()],
                    );
                }
            }
            say_cleared(&outcome);
        }
        outcomes.push((scenario, outcome));
    }
    // The same for every policy, because the jobs are the same.
    let recorded =
        outcomes.first().and_then(|(_, outcome)| outcome.summary.all.as_recorded.clone());
    if recorded.is_none() && !args.quiet {
        say("note: the log has no waiting times (field 3) to compare with\n");
    }
    if args.json {
        return print_told(policies, &outcomes, recorded.as_deref());
    }
    print(&match (outcomes.as_slice(), recorded.as_deref()) {
        ([(scenario, outcome)], None) => as_text(args, scenario, outcome),
        (several, recorded) => side_by_side(args, several, recorded),
    })?;
    Ok(Exit::Success)
}

/// Output as JSON, and beside it the recorded figures of the log.
#[derive(Serialize)]
struct Beside<'r, T> {
    #[serde(flatten)]
    told: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_recorded: Option<&'r AsRecorded>,
}

/// Prints the results as JSON; several policies each under their name.
fn print_told(
    policies: &[Policy],
    outcomes: &[(&Scenario, Outcome)],
    as_recorded: Option<&AsRecorded>,
) -> Result<Exit, Error> {
    match outcomes {
        [(scenario, outcome)] => print_json(&Beside { told: told(scenario, outcome), as_recorded }),
        several => {
            let several = policies.iter().zip(several);
            let told: BTreeMap<_, _> = several
                .map(|(policy, (scenario, outcome))| (policy.word(), told(scenario, outcome)))
                .collect();
            print_json(&Beside { told, as_recorded })
        }
    }?;
    Ok(Exit::Success)
}

/// Replays the log under one policy.
fn replay(
    args: &Args,
    policy: Policy,
    scenario: &Scenario,
    warnings: &[String],
) -> Result<Outcome, Error> {
    let several = args.policy.len() > 1;
    let destination = args.output.as_ref().map(|folder| Destination {
        folder: if several { folder.join(policy.word()) } else { folder.clone() },
        end: None,
        keep: Keep::Tables,
        existing: if args.force { Existing::Replace } else { Existing::Keep },
        figures: Figures::Skip,
    });
    let watch = OneRun::new(Show::unless(args.quiet || args.json));
    let conduct = Conduct {
        driver: args.driver.driver(),
        stop: &STOP,
        watch: &watch,
        check: args.check,
        warnings,
    };
    // The bar ends with `watch`, before any output.
    Ok(experiment::run(scenario, Path::new(""), destination.as_ref(), &conduct)?)
}

/// The first policy that is named twice.
fn repeated(policies: &[Policy]) -> Option<Policy> {
    let named = policies.iter().enumerate();
    named.filter(|&(place, policy)| policies[..place].contains(policy)).map(|it| *it.1).next()
}

/// The scenario with the meaning of the options.
fn scenario(args: &Args, options: &logs::Options, policy: Policy) -> Result<Scenario, Error> {
    let processors = match args.processors {
        Some(processors) => processors,
        None => machine_size(&args.log, options)?,
    };
    let name = file::Name::like(&stem(&args.log));
    let header =
        file::Header { name: Some(name.clone()), seed: args.seed, ..file::Header::default() };
    let mut scenario = Scenario { scenario: header, ..Scenario::default() };
    // Single messages between a machine and its own users are of little interest.
    scenario.results.messages = file::Messages::Counts;
    scenario.results.format = args.format;
    let exact = args.estimates == EstimateRule::Exact;
    let mut workload = file::Workload::named(name);
    workload.log = Some(args.log.to_string_lossy().into_owned());
    let rules = file::Rules {
        preset: Some(args.rules),
        lines: args.first,
        machine_size: Some(processors),
        // With exact estimates, the requested times of the log do not matter.
        missing_requested_time: exact.then_some(file::MissingRequest::UseRunTime),
        // A cut run could not exceed its request.
        over_requested_time: args.overrun.map(|_| file::OverRequest::Keep),
        ..file::Rules::default()
    };
    args.reading.set(&mut workload, rules);
    workload.steps.extend(filter(args));
    if args.estimates != EstimateRule::Trace {
        workload.steps.push(file::Step::Estimates {
            rule: Some(args.estimates),
            factor: None,
            over: None,
            of: None,
        });
    }
    let machine = || file::Name::like("machine");
    let users = file::Name::like("users");
    scenario.users.push(file::User::named(users, workload.name.clone(), machine()));
    scenario.workloads.push(workload);
    scenario.providers.push(file::Provider {
        policy: policy.in_file(args),
        passes: args.passes,
        overrun: args.overrun.unwrap_or(Overrun::Kill),
        ..file::Provider::named(machine(), processors)
    });
    Ok(scenario)
}

/// True if no job runs past its request by this rule.
fn fits_all_jobs(estimates: EstimateRule) -> bool {
    !matches!(estimates, EstimateRule::Trace | EstimateRule::RaisedPrecision(_))
}

/// The step that removes jobs, if an option requests it.
fn filter(args: &Args) -> Option<file::Step> {
    let some = |numbers: &[i32]| (!numbers.is_empty()).then(|| numbers.to_vec());
    let lists = [&args.user, &args.group, &args.queue, &args.partition].map(|it| some(it));
    let [users, groups, queues, partitions] = lists;
    let any = [&users, &groups, &queues, &partitions].into_iter().any(Option::is_some);
    any.then_some(file::Step::Filter {
        processors_min: None,
        processors_max: None,
        run_min: None,
        run_max: None,
        requested_min: None,
        requested_max: None,
        users,
        groups,
        queues,
        partitions,
    })
}

/// Options without effect under all policies.
fn without_effect(scenarios: &[Scenario]) -> Vec<String> {
    let of = |scenario: &Scenario| -> Vec<String> {
        let read = Experiment::read(Source::new("replay.toml", scenario.to_toml()), Logs::Ignore);
        let variants = read.into_iter().flat_map(|experiment| experiment.variants);
        variants.flat_map(|variant| variant.warnings).collect()
    };
    // Only warnings that hold under all policies: an option that one of them uses has an effect.
    let mut each = scenarios.iter().map(of);
    let first = each.next().unwrap_or_default();
    each.fold(first, |both, other| both.into_iter().filter(|it| other.contains(it)).collect())
}

/// The name of a log without the extensions of format and packing. Other parts after a dot, such as
/// a version, distinguish logs and stay.
fn stem(log: &Path) -> String {
    let name = log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let without = |name: String, endings: &[&str]| {
        let rest = endings.iter().find_map(|ending| name.strip_suffix(ending));
        rest.map(str::to_owned).unwrap_or(name)
    };
    // From the outside in, because the packing is the last extension.
    without(without(name, &[".gz", ".zst"]), &[".swf"])
}

/// Number of processors of a log's machine, from its header.
pub(crate) fn machine_size(log: &Path, options: &logs::Options) -> Result<u32, Error> {
    // A pipe can be read only once, and the run needs the whole log.
    if log == Path::new("-") || is_pipe(log) {
        return Err(Error::NoMachineSize { log: log.to_owned() });
    }
    let open = logs::open(log, options, Malformed::Refuse)?;
    open.header().machine_size().ok_or_else(|| Error::NoMachineSize { log: log.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_called_as_their_files() {
        let stem = |path: &str| stem(Path::new(path));
        assert_eq!(stem("logs/HPC2N-2002-2.1-cln.swf.gz"), "HPC2N-2002-2.1-cln");
        assert_eq!(stem("HPC2N-2002-2.2.swf.zst"), "HPC2N-2002-2.2");
        assert_eq!([stem("a.swf"), stem("a.b"), stem("a"), stem("-")], ["a", "a.b", "a", "-"]);
    }
}
