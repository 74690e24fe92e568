//! `haggle new`: a commented scenario to start from.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use super::log_options::Reading;
use super::replay::machine_size;
use super::{Error, example, print};
use crate::exit::Exit;
use crate::scenario::quantity::EstimateRule;

/// The scenarios to start from; the tests validate and run them.
const PROVIDERS: &str = include_str!("new/template.toml");
const LOG: &str = include_str!("new/log.toml");
const OFFERS: &str = include_str!("new/offers.toml");
const FAILURES: &str = include_str!("new/failures.toml");
const SWEEP: &str = include_str!("new/sweep.toml");
const GRID: &str = include_str!("new/grid.toml");
const SIDE_BY_SIDE: &str = include_str!("../../scenarios/side-by-side.toml");
const ONE_WORLD: &str = include_str!("../../scenarios/one-world.toml");

/// Write a commented scenario to start from
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle new mine.toml
  haggle new disclosure.toml --offers   # then: haggle sweep disclosure.toml
  haggle new loads.toml --log log.swf.gz --processors 64
  haggle new requests.toml --log log.swf.gz --estimates uniform:5
  haggle new site.toml --log jobs.txt --time-zone Europe/Berlin --processors 64
  haggle new again.toml --example quickstart
  haggle new - --grid | less")]
pub(crate) struct Args {
    /// File to write; `-` is standard output
    #[arg(value_name = "FILE", default_value = "scenario.toml")]
    file: PathBuf,
    #[command(flatten)]
    template: Template,
    /// Processors of the machine of `--log`, if the log does not contain the number
    #[arg(long, value_name = "N", requires = "log")]
    processors: Option<NonZeroU32>,
    /// Requested times of the jobs of `--log`: exact, no-limit, factor:2, over:50%, uniform:5, precision:+20
    #[arg(long, value_name = "RULE", default_value = "trace", requires = "log")]
    estimates: EstimateRule,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Template to start from; without it, two providers and a metascheduler.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Template {
    /// A log under two policies and several loads
    #[arg(long, value_name = "LOG")]
    log: Option<PathBuf>,
    /// Five providers and a broker: benefit of more disclosure for bags of tasks
    #[arg(long)]
    offers: bool,
    /// A cluster whose nodes fail: the best checkpoint interval
    #[arg(long)]
    failures: bool,
    /// A cluster under three policies and several loads, with confidence intervals
    #[arg(long)]
    sweep: bool,
    /// A grid of time-shared resources that fail, instead of providers with processors
    #[arg(long)]
    grid: bool,
    /// Providers, a grid, and clusters that plan, side by side
    #[arg(long)]
    side_by_side: bool,
    /// Providers and a grid, and a metascheduler that places jobs on both
    #[arg(long)]
    one_world: bool,
    /// An example as it is: `haggle list examples`
    #[arg(long, value_name = "NAME", value_parser = example::names(), hide_possible_values = true)]
    example: Option<String>,
}

/// The text of the scenario.
fn text(args: &Args) -> Result<Cow<'static, str>, Error> {
    let text = match &args.template {
        // The template of a log has further places to fill.
        Template { log: Some(log), .. } => return of_log(log, args).map(Cow::Owned),
        Template { example: Some(name), .. } => example::text(name),
        Template { offers: true, .. } => OFFERS,
        Template { failures: true, .. } => FAILURES,
        Template { sweep: true, .. } => SWEEP,
        Template { grid: true, .. } => GRID,
        Template { side_by_side: true, .. } => SIDE_BY_SIDE,
        Template { one_world: true, .. } => ONE_WORLD,
        _ => PROVIDERS,
    };
    // The first comment of the text has the command for this file.
    Ok(match args.file.to_str() {
        Some("-") | None => Cow::Borrowed(text),
        Some(file) => Cow::Owned(text.replacen(" FILE\n", &format!(" {file}\n"), 1)),
    })
}

/// The place in the scenario of a log where requests are replaced.
const REQUESTS: &str = "# [[workload.step]]\n# kind = \"estimates\"\n# rule = \"uniform:5\"\n";

/// The step that replaces the requests of a log.
fn estimates(rule: EstimateRule) -> String {
    format!("[[workload.step]]\nkind = \"estimates\"\nrule = \"{rule}\"\n")
}

/// A path in a scenario, which starts from its folder. It must be absolute in another folder.
fn from_scenario(path: &Path, args: &Args) -> String {
    let from_there = match args.file.parent() {
        Some(folder) if folder != Path::new("") => {
            fs::canonicalize(path).unwrap_or(path.to_owned())
        }
        _ => path.to_owned(),
    };
    from_there.display().to_string()
}

/// The key `reading` of the log, as a line; empty without its options.
fn reading(args: &Args) -> String {
    let mut reading = args.reading.log().clone();
    reading.mapping = reading.mapping.map(|path| from_scenario(Path::new(&path), args));
    match toml::Value::try_from(&reading) {
        Ok(value) if !reading.is_empty() => format!("\nreading = {value}"),
        _ => String::new(),
    }
}

/// The scenario that replays a log on a machine of its size.
fn of_log(log: &Path, args: &Args) -> Result<String, Error> {
    let options = args.reading.options()?;
    let processors = match args.processors {
        Some(processors) => processors.get(),
        None => machine_size(log, &options)?,
    };
    // As a value of TOML, because the path may have quotes or backslashes.
    let path = toml::Value::String(from_scenario(log, args)).to_string();
    let file = args.file.display().to_string();
    let rules = match args.reading.malformed() {
        Some(_) => "preset = \"careful\", malformed = \"skip\"",
        None => "preset = \"careful\"",
    };
    // Each is replaced only once, because a path may contain these words itself.
    let text = LOG.replacen("FILE", &file, 1).replacen("preset = \"careful\"", rules, 1);
    let text = text.replacen("\"LOG\"", &format!("{path}{}", reading(args)), 1);
    let text = text.replacen("processors = 64", &format!("processors = {processors}"), 1);
    Ok(match args.estimates {
        EstimateRule::Trace => text,
        rule => text.replacen(REQUESTS, &estimates(rule), 1),
    })
}

/// Writes the scenario.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if args.template.log.is_none() && args.reading.is_given() {
        return Err(Error::Unfit {
            message: "options for the format of a log are given, but no log".to_owned(),
            hint: "name the log with --log, or remove them".to_owned(),
        });
    }
    let text = text(args)?;
    if args.file == Path::new("-") {
        print(&text)?;
        return Ok(Exit::Success);
    }
    let written = match args.force {
        true => fs::write(&args.file, text.as_bytes()),
        // Not checked beforehand: another command might create the file in between.
        false => File::create_new(&args.file).and_then(|mut file| file.write_all(text.as_bytes())),
    };
    match written {
        Ok(()) => Ok(Exit::Success),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Exists(args.file.clone()))
        }
        Err(error) => Err(Error::Write { path: args.file.clone(), error }),
    }
}
