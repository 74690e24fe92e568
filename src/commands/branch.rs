//! `haggle branch`: another future of a run, from an instant on.

use std::path::{Path, PathBuf};

use crate::scenario::file::seed_after;
use crate::scenario::quantity::TimeSpan;
use toml::{Table, Value};

use super::example::setting;
use super::run::{How, into_folder};
use super::{Error, compare, complete, open_run, read_scenario, sweep};
use crate::exit::Exit;
use crate::experiment::branches::{Branch, Failure, InvalidBranch, changes_of};
use crate::experiment::run::BUILD;
use crate::report::{say, warn_of};

/// Run a run's scenario again with other settings, jobs or failures from an instant on
///
/// Up to the instant, the branch is the run itself: the same jobs, failures and random numbers. The results are those of
/// an ordinary run, whose scenario has a `[[change]]`; `haggle run` gives them again. Keys that may change while a run
/// goes on are marked in docs/scenario.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle run --example quickstart -o base
  haggle branch base --at 3d --set provider.north.policy=easy -o other
  haggle branch base --at 3d --fail north:64@3d..4d -o outage
  haggle branch base --at 3d --runs 5 -o futures  # other random numbers from then on
  haggle plot base other outage --kind queue-length --output queues.png")]
pub(crate) struct Args {
    /// Folder of a run, or a scenario file
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Instant from which the branch differs, from the start of the run, such as 3d
    #[arg(long, value_name = "TIME")]
    at: TimeSpan,
    /// Change a value, such as provider.north.policy=easy; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = complete::settings(setting),
        hide_possible_values = true)]
    settings: Vec<(String, String)>,
    /// Let processors fail: NAME:COUNT@FROM..UNTIL, such as north:8@3d..4d; NAME:COUNT@FROM is for ever; may be given several
    /// times
    #[arg(long, value_name = "FAILURE")]
    fail: Vec<Failure>,
    /// Submit further jobs: a TOML file of `[[submit]]` tables, each with a `user` and its `jobs`
    #[arg(long, value_name = "FILE")]
    submit: Option<PathBuf>,
    /// Seed of all randomness from the instant on
    #[arg(long, value_name = "NUMBER", value_parser = super::seeds(), conflicts_with = "runs")]
    seed: Option<u64>,
    /// Run this many futures, which differ in their random numbers, as a sweep
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: Option<u32>,
    /// Folder of the results; without it, the name of the run followed by the instant
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace existing results
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: How,
}

/// Runs the branch, and compares it with the run.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let is_run = args.run.is_dir();
    let file = if is_run { args.run.join("scenario.toml") } else { args.run.clone() };
    let source = read_scenario(&file)?;
    let mut tables = Table::new();
    if let Some(runs) = args.runs {
        // A file with mistakes has no table here: its mistakes are reported when it is read.
        let scenario: Table = source.text.parse().unwrap_or_default();
        tables.insert("sweep".to_owned(), futures(&scenario, runs).into());
    }
    let output = args.output();
    if is_run && same(&args.run, &output) {
        return Err(Error::Unfit {
            message: format!("the branch would replace its base `{}`", output.display()),
            hint: "name another folder with -o".to_owned(),
        });
    }
    if is_run && !args.how.quiet {
        warn_of(&other_build(&args.run)?);
    }
    let branched = args.branch()?.extend(source, tables)?;
    if args.runs.is_some() {
        return sweep::of_source(branched, &output, args.force, &args.how);
    }
    let exit = into_folder(branched, output.clone(), args.force, &args.how)?;
    if is_run && !args.how.quiet && !args.how.json {
        say(&format!(
            "compare with its base: haggle compare {}\n",
            compare::words(&args.run, &output)
        ));
    }
    Ok(exit)
}

impl From<InvalidBranch> for Error {
    fn from(error: InvalidBranch) -> Error {
        match error {
            InvalidBranch::Change { message, hint } => Error::Unfit { message, hint },
            InvalidBranch::Jobs(invalid) => (*invalid).into(),
        }
    }
}

impl Args {
    fn output(&self) -> PathBuf {
        let instant: String = self.at.to_string().split_whitespace().collect();
        let base = self.run.with_extension("");
        let name = base.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = format!("{}-at-{instant}", name.unwrap_or_else(|| "run".to_owned()));
        self.output.clone().unwrap_or_else(|| self.run.with_file_name(name))
    }

    /// The changes.
    fn branch(&self) -> Result<Branch, Error> {
        let submit = self.submit.as_ref().map(|path| read_scenario(path));
        Ok(Branch {
            at: self.at,
            settings: self.settings.clone(),
            failures: self.fail.clone(),
            submit: submit.transpose()?,
            seed: self.seed,
        })
    }
}

/// A sweep over the seed of the last change.
fn futures(scenario: &Table, runs: u32) -> Table {
    let change = changes_of(scenario).len() + 1;
    let header = scenario.get("scenario").and_then(Value::as_table);
    let seed = header.and_then(|it| u64::try_from(it.get("seed")?.as_integer()?).ok()).unwrap_or(1);
    let seeds = (1..=u64::from(runs)).filter_map(|it| i64::try_from(seed_after(seed, it)).ok());
    let axis = Table::from_iter([
        ("name".to_owned(), "future".into()),
        ("path".to_owned(), format!("change.{change}.seed").into()),
        ("values".to_owned(), Value::Array(seeds.map(Value::Integer).collect())),
    ]);
    Table::from_iter([
        ("max-runs".to_owned(), i64::from(runs.max(1_000)).into()),
        ("axis".to_owned(), vec![Value::Table(axis)].into()),
    ])
}

/// A warning if another build made the run: its beginning may differ from that of the branch.
fn other_build(run: &Path) -> Result<Vec<String>, Error> {
    let made = open_run(run)?.provenance()?.build;
    let differs = made != BUILD;
    Ok(Vec::from_iter(differs.then(|| {
        format!(
            "`{}` was made by another build of haggle, so it may differ from the branch before the instant, too",
            run.display()
        )
    })))
}

/// True if two paths lead to the same folder.
fn same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    whole(one).is_some_and(|one| whole(other) == Some(one))
}
