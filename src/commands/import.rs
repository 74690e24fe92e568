//! `haggle import`: a scenario of a site, made of the records of its scheduler.

use std::path::{Path, PathBuf, absolute};

use clap::Subcommand;
use haggle_import::ImportError;
use haggle_import::slurm::{self, Dump, SCRIPT};

use super::forecast::write;
use super::output;
use super::{Error, print};
use crate::exit::Exit;
use crate::report::say;
use crate::scenario::quantity::TimeZone;
use crate::scenario::relative;
use crate::visible::visible;

/// Make a scenario of a site from the records of its scheduler
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    source: From,
}

#[derive(Debug, Subcommand)]
enum From {
    Slurm(Slurm),
    Script(Script),
}

/// Make a scenario from the dump of a Slurm site
///
/// The dump is a folder that the script of `haggle import script` writes at the site. Its nodes, partitions, QOS, accounts,
/// limits, priorities and down times become one provider, and its jobs become a workload. Settings without a place in a
/// scenario are listed at its beginning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle import script > slurm-dump.sh  # then, at the site: sh slurm-dump.sh dump
  haggle import slurm scenarios/site-dump -o imported.toml
  haggle run imported.toml -o results/site
  haggle compare results/site --recorded")]
struct Slurm {
    /// Folder of the dump
    #[arg(value_name = "DUMP")]
    dump: PathBuf,
    /// Scenario to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "site.toml")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Time zone of the jobs' times, if they are dates and not seconds since 1970
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<TimeZone>,
}

/// Print the script that takes the dump of a Slurm site
///
/// It asks Slurm by `sacct`, `scontrol show` and `sacctmgr show`, changes nothing, and removes names of persons.
#[derive(Debug, clap::Args)]
struct Script {}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.source {
        From::Script(Script {}) => print(SCRIPT)?,
        From::Slurm(args) => import(args)?,
    }
    Ok(Exit::Success)
}

fn import(args: &Slurm) -> Result<(), Error> {
    let to_output = args.output == Path::new("-");
    if !to_output {
        output::check_free(&args.output, args.force)?;
    }
    if !args.dump.is_dir() {
        return Err(Error::Unfit {
            message: format!("`{}` is not a folder", args.dump.display()),
            hint:
                "name the folder of a dump; `haggle import script` prints the script that takes one"
                    .to_owned(),
        });
    }
    let dump = Dump {
        folder: args.dump.clone(),
        from_scenario: from_scenario(args).map_err(|error| output::failed(&args.dump, error))?,
        zone: args.time_zone.clone(),
    };
    let imported = slurm::import(&dump)?;
    for remark in imported.remarks.lines() {
        say(&format!("note: {}\n", visible(&remark)));
    }
    if to_output {
        return print(&imported.text);
    }
    write(&imported.text, &args.output, args.force)?;
    let counts = imported.counts;
    say(&format!(
        "{}: {} nodes with {} processors, {} partitions, {} QOS, {} accounts, {} jobs, {} down times\n",
        visible(&args.output.display().to_string()),
        counts.nodes,
        counts.processors,
        counts.partitions,
        counts.qualities,
        counts.accounts,
        counts.jobs,
        counts.down_times,
    ));
    Ok(())
}

/// The path of the dump from the folder of the scenario. A scenario on standard output starts from the working folder.
fn from_scenario(args: &Slurm) -> std::io::Result<PathBuf> {
    if args.dump.is_absolute() {
        return Ok(args.dump.clone());
    }
    let folder = args.output.parent().unwrap_or(Path::new(""));
    Ok(relative(&absolute(&args.dump)?, &absolute(Path::new(".").join(folder))?))
}

impl std::convert::From<ImportError> for Error {
    fn from(error: ImportError) -> Error {
        match error {
            ImportError::Jobs(error) => Error::Workload(error),
            error => Error::Unfit {
                message: error.to_string(),
                hint: "take the dump again with the script of `haggle import script`".to_owned(),
            },
        }
    }
}
