//! `haggle workflow`: looks at graphs of tasks, generates and schedules them.

use std::io::Write;
use std::path::Path;

use haggle_plots::{Figure, PlotError, Size};
use haggle_workflows::{Workflow, files};

use super::output::{self, Output, failed};
use super::{Error, say_waiting};
use crate::exit::Exit;
use crate::interrupt;

mod generate;
mod inspect;
mod kinds;
mod schedule;

/// Look at workflows, generate and schedule them
///
/// Workflows are graphs of tasks in WfFormat 1.3 to 1.5 of WfCommons, or in DAX of Pegasus, plain or
/// packed with gzip or zstd.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Generate(generate::Args),
    Inspect(inspect::Args),
    Schedule(schedule::Args),
}

/// Carries out what was typed.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    interrupt::end_at_once(true);
    match &args.command {
        Command::Inspect(args) => inspect::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Schedule(args) => schedule::run(args),
    }
}

/// The workflow in a file.
fn read(path: &Path) -> Result<Workflow, Error> {
    say_waiting(path);
    Ok(files::read(path)?)
}

/// The file as results name it.
fn named(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Whether a figure can be drawn into `path`; asked before anything is read.
fn check_figure(path: &Path, force: bool) -> Result<(), Error> {
    match ending(path) {
        Some("png" | "svg") => output::check_free(path, force),
        _ => Err(PlotError::UnknownEnding { path: path.to_owned() }.into()),
    }
}

fn draw(figure: &Figure, size: Size, path: &Path, force: bool) -> Result<(), Error> {
    let bytes = match ending(path) {
        Some("svg") => figure.svg(size)?.into_bytes(),
        _ => figure.png(size)?,
    };
    let mut out = Output::create(path, force)?;
    out.write_all(&bytes).map_err(|error| failed(path, error))?;
    out.finish()
}

fn ending(path: &Path) -> Option<&str> {
    path.extension().and_then(|ending| ending.to_str())
}
