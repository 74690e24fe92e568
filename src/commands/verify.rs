//! `haggle verify`: checks that a scenario always gives the same results, that results were not
//! changed, and that the rules for scenarios hold for random ones.

mod child;
mod coverage;
mod histories;
mod random;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::leftovers::Scratch;
use crate::scenario::{Experiment, Logs};
use crate::trial::verify::{Difference, Verdict, verify};

use super::{Error, is_results, open_run, print, read_scenario};
use crate::exit::Exit;
use crate::interrupt;
use crate::interrupt::{STOP, while_waiting};
use crate::report::{warn, warn_of};

/// Run a scenario twice and on both drivers, and report the first line that differs
///
/// Event logs of two runs on the sequential driver and of one on actix are compared. A fourth run writes
/// tables, which are checked. Of a sweep, the first run of every variant is verified. Of a run's folder, the tables are
/// checked against the digest that was written with them.
///
/// With --histories, the histories of small worlds are searched: all orders of messages within an instant, losses of
/// messages and crashes of actors, up to some number of deviations. The first history that violates an invariant is
/// printed, and is one of the smallest.
///
/// With --random, whole scenarios are drawn over all keys. Each runs twice and on both drivers with every check, its
/// jobs are explained and its figures drawn. The same is done with the scenario as the base of an extension, and as a
/// sweep that is resumed. Work and memory are bounded. A scenario that fails is written to a file, and reduced as far
/// as it still fails.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("searches").args(["random", "histories"])))]
#[command(after_help = "Examples:
  haggle verify scenarios/quickstart.toml
  haggle verify scenarios/sweep.toml --variants 2
  haggle verify runs/first
  haggle verify --histories --deviations 2  # the built-in worlds, one for each protocol
  haggle verify --histories --protocol paxos --deviations 1
  haggle verify --histories --protocol two-phase --history lose@7
  haggle verify --random --cases 20 --seed 7
  haggle verify --random --seed 7 --case 12  # one of these again
  haggle verify --random --minutes 10 --seed 7")]
pub(crate) struct Args {
    /// Scenario file (TOML), or the folder of a run
    #[arg(value_name = "SCENARIO|DIR", required_unless_present_any = ["random", "judge", "histories"])]
    scenario: Option<PathBuf>,
    /// Number of variants of a sweep to verify, spread evenly; without it, all
    #[arg(long, value_name = "N")]
    variants: Option<NonZeroUsize>,
    /// Print the counts of --random or --histories as JSON
    #[arg(long, requires = "searches")]
    json: bool,
    #[command(flatten)]
    histories: histories::Args,
    #[command(flatten)]
    random: random::Args,
    #[command(flatten)]
    child: child::Args,
}

/// Verifies the scenario, or random ones.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match (&args.child.judge, &args.scenario) {
        // First: a judging process may have the arguments of random cases as well.
        (Some(path), _) => child::run(path, &args.random),
        (None, scenario) if args.histories.is_on() => {
            histories::run(&args.histories, scenario.as_deref(), args.json)
        }
        (None, Some(folder)) if is_results(folder) => {
            verify_folder(folder, args.variants.is_some())
        }
        (None, Some(scenario)) => verify_file(args, scenario),
        (None, None) => random::run(&args.random, args.json),
    }
}

fn verify_file(args: &Args, scenario: &Path) -> Result<Exit, Error> {
    let source = while_waiting(|| read_scenario(scenario))?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    warn(&experiment.warnings);
    let scratch =
        Scratch::create().map_err(|error| Error::Write { path: std::env::temp_dir(), error })?;
    let mut exit = Exit::Success;
    let all = experiment.variants.len();
    let some = args.variants.map_or(all, NonZeroUsize::get).min(all);
    for place in 0..some {
        // Spread evenly, and the first variant is always among them.
        let variant = &experiment.variants[place * all / some];
        let (verdict, warnings) = verify(&variant.scenario, &folder, scratch.path(), &STOP)?;
        warn_of(&warnings);
        match verdict {
            Verdict::Same { lines } => {
                print(&format!(
                    "{}: same {lines} lines in all three runs (sequential twice, actix once); \
                     tables checked in a fourth\n",
                    variant.label
                ))?;
            }
            // The other variants are verified all the same.
            Verdict::Differs(difference) => {
                exit = Exit::Differs;
                print(&format!("{}: {}", variant.label, describe(&difference)))?;
            }
        }
    }
    Ok(exit)
}

/// Checks that the tables of a run's folder are unchanged.
fn verify_folder(folder: &Path, has_variants: bool) -> Result<Exit, Error> {
    if has_variants {
        return Err(Error::Unfit {
            message: format!(
                "`{}` is a folder of results, which has no variants",
                folder.display()
            ),
            hint: "remove --variants, or name a scenario".to_owned(),
        });
    }
    // Reading has no results to keep, and does not examine the flag.
    interrupt::end_at_once(true);
    let run = open_run(folder)?;
    if run.provenance()?.has_summary_only() {
        return Err(Error::Unfit {
            message: format!("`{}` has no tables: only its summary was kept", folder.display()),
            hint: "verify its scenario".to_owned(),
        });
    }
    let changed = run.changed_files()?;
    let name = folder.display();
    if changed.is_empty() {
        print(&format!("{name}: all tables are unchanged\n"))?;
        return Ok(Exit::Success);
    }
    print(&format!("{name}: changed after its run: {}\n", changed.join(", ")))?;
    Ok(Exit::Differs)
}

fn describe(difference: &Difference) -> String {
    let said = |line: &Option<String>| line.clone().unwrap_or_else(|| "(it has ended)".to_owned());
    format!(
        "{} differs from the first run in line {}\n  first  {}\n  other  {}\n",
        difference.run,
        difference.line,
        said(&difference.first),
        said(&difference.other)
    )
}
