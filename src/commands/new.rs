//! `haggle new`: a commented scenario to start from.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Error, print};
use crate::exit::Exit;

/// The scenarios to start from; the tests validate and run them.
const PROVIDERS: &str = include_str!("new/template.toml");
const GRID: &str = include_str!("new/grid.toml");
const SIDE_BY_SIDE: &str = include_str!("../../scenarios/side-by-side.toml");

/// Write a commented scenario to start from
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle new mine.toml
  haggle new failing.toml --grid
  haggle new worlds.toml --side-by-side
  haggle new - | less")]
pub(crate) struct Args {
    /// File to write; `-` is standard output
    #[arg(value_name = "FILE", default_value = "scenario.toml")]
    file: PathBuf,
    /// A grid of time-shared resources that fail, instead of providers with processors
    #[arg(long)]
    grid: bool,
    /// Providers, a grid, and clusters that plan, side by side
    #[arg(long, conflicts_with = "grid")]
    side_by_side: bool,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

/// Writes the scenario.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let template = match (args.grid, args.side_by_side) {
        (true, _) => GRID,
        (_, true) => SIDE_BY_SIDE,
        _ => PROVIDERS,
    };
    if args.file == Path::new("-") {
        print(template)?;
        return Ok(Exit::Success);
    }
    let written = match args.force {
        true => fs::write(&args.file, template),
        false => {
            File::create_new(&args.file).and_then(|mut file| file.write_all(template.as_bytes()))
        }
    };
    match written {
        Ok(()) => Ok(Exit::Success),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Exists(args.file.clone()))
        }
        Err(error) => Err(Error::Write { path: args.file.clone(), error }),
    }
}
