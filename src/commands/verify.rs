//! `haggle verify`: does a scenario always give the same, and are results as they were written?

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use haggle::experiment::compare::changed_tables;
use haggle::experiment::verify::{Difference, Verdict, verify};
use haggle::scenario::{Experiment, Logs, Source};

use super::{Error, open_run, print};
use crate::exit::Exit;
use crate::interrupt::STOP;

/// Run a scenario twice and on both drivers, and report the first line that differs
///
/// Of a sweep, the first run of every variant is verified. Of a run's folder, the tables are
/// held against the digest that was written with them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle verify scenarios/quickstart.toml
  haggle verify scenarios/netto-offers/policies.toml --variants 2
  haggle verify runs/quickstart")]
pub(crate) struct Args {
    /// Scenario file (TOML), or the folder of a run
    #[arg(value_name = "SCENARIO|DIR")]
    scenario: PathBuf,
    /// Of a sweep, verify so many variants, spread evenly; without it, all
    #[arg(long, value_name = "N")]
    variants: Option<NonZeroUsize>,
}

/// Verifies the scenario.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if args.scenario.is_dir() {
        return verify_folder(&args.scenario, args.variants.is_some());
    }
    let source = Source::read(&args.scenario)?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read(source, Logs::MustExist)?;
    let scratch =
        tempfile::tempdir().map_err(|error| Error::Write { path: std::env::temp_dir(), error })?;
    let mut exit = Exit::Success;
    let all = experiment.variants.len();
    let some = args.variants.map_or(all, NonZeroUsize::get).min(all);
    for place in 0..some {
        let variant = &experiment.variants[place * all / some];
        match verify(&variant.scenario, &folder, scratch.path(), &STOP)? {
            Verdict::Same { lines } => {
                print(&format!("{}: same {lines} lines in all three runs\n", variant.label))?;
            }
            Verdict::Differs(difference) => {
                exit = Exit::Differs;
                print(&format!("{}: {}", variant.label, describe(&difference)))?;
            }
        }
    }
    Ok(exit)
}

/// Are the tables of a run's folder as they were written?
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
    let changed = changed_tables(&open_run(folder)?)?;
    let name = folder.display();
    if changed.is_empty() {
        print(&format!("{name}: all tables are as they were written\n"))?;
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
