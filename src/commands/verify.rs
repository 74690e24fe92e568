//! `haggle verify`: does a scenario always give the same?

use std::num::NonZeroUsize;
use std::path::PathBuf;

use haggle::experiment::verify::{Difference, Verdict, verify};
use haggle::scenario::{Experiment, Logs, Source};

use super::{Error, print};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::report::{warn, warn_of};

/// Run a scenario twice and on both drivers, and report the first line that differs
///
/// Of a sweep, the first run of every variant is verified.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle verify scenarios/quickstart.toml
  haggle verify scenarios/netto-offers/policies.toml --variants 2")]
pub(crate) struct Args {
    /// Scenario file (TOML)
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// Of a sweep, verify so many variants, spread evenly; without it, all
    #[arg(long, value_name = "N")]
    variants: Option<NonZeroUsize>,
}

/// Verifies the scenario.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let source = Source::read(&args.scenario)?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read(source, Logs::MustExist)?;
    warn(&experiment.warnings);
    let scratch =
        tempfile::tempdir().map_err(|error| Error::Write { path: std::env::temp_dir(), error })?;
    let mut exit = Exit::Success;
    let all = experiment.variants.len();
    let some = args.variants.map_or(all, NonZeroUsize::get).min(all);
    for place in 0..some {
        let variant = &experiment.variants[place * all / some];
        let (verdict, warnings) = verify(&variant.scenario, &folder, scratch.path(), &STOP)?;
        warn_of(&warnings);
        match verdict {
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
