//! The verbs of the command line, each with its options in its own file.

use clap::{Parser, Subcommand};

#[cfg(feature = "live")]
use crate::commands::live;
#[cfg(feature = "view")]
use crate::commands::view;
use crate::commands::{
    self, branch, calibrate, compare, completions, explain, export, failures, forecast, help,
    import, jobs, list, new, plot, replay, reproduce, run, schema, show, sweep, validate, verify,
    workflow, workload,
};
use crate::exit::{self, Exit};
use crate::interrupt;

/// The version; a release build adds its commit and the day.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("HAGGLE_COMMIT"));

/// Simulates autonomous resource providers that bargain over work.
///
/// A scenario, one TOML file, describes providers with their processors, users with their jobs, and figures. Start with
/// `haggle run --example quickstart`; write your own with `haggle new`.
#[derive(Debug, Parser)]
#[command(name = "haggle", version = VERSION, after_help = exit::HELP, max_term_width = 100)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands. A new one is a file in `commands` and a line in each list here.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Args),
    Branch(branch::Args),
    Replay(replay::Args),
    Sweep(sweep::Args),
    Verify(verify::Args),
    Validate(validate::Args),
    Show(show::Args),
    Plot(plot::Args),
    Compare(compare::Args),
    Reproduce(reproduce::Args),
    Explain(explain::Args),
    Export(export::Args),
    #[cfg(feature = "view")]
    View(view::Args),
    #[cfg(feature = "live")]
    Live(live::Args),
    Forecast(forecast::Args),
    Calibrate(calibrate::Args),
    Jobs(jobs::Args),
    New(new::Args),
    Import(import::Args),
    Workload(workload::Args),
    Workflow(workflow::Args),
    Failures(failures::Args),
    List(list::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Help(help::Args),
}

impl Command {
    /// True if the command writes no file, so that nothing is lost if it ends early.
    fn only_tells(&self) -> bool {
        matches!(
            self,
            Command::Validate(_)
                | Command::Show(_)
                | Command::Compare(_)
                | Command::Explain(_)
                | Command::Jobs(_)
                | Command::List(_)
                | Command::Schema(_)
                | Command::Completions(_)
                | Command::Help(_)
        )
    }

    /// Carries out the command.
    pub(crate) fn run(&self) -> Result<Exit, commands::Error> {
        // Other commands decide for themselves until when they have no results to keep.
        interrupt::end_at_once(self.only_tells());
        match self {
            Command::Run(args) => run::run(args),
            Command::Branch(args) => branch::run(args),
            Command::Replay(args) => replay::run(args),
            Command::Sweep(args) => sweep::run(args),
            Command::Verify(args) => verify::run(args),
            Command::Validate(args) => validate::run(args),
            Command::Show(args) => show::run(args),
            Command::Plot(args) => plot::run(args),
            Command::Compare(args) => compare::run(args),
            Command::Reproduce(args) => reproduce::run(args),
            Command::Explain(args) => explain::run(args),
            Command::Export(args) => export::run(args),
            #[cfg(feature = "view")]
            Command::View(args) => view::run(args),
            #[cfg(feature = "live")]
            Command::Live(args) => live::run(args),
            Command::Forecast(args) => forecast::run(args),
            Command::Calibrate(args) => calibrate::run(args),
            Command::Jobs(args) => jobs::run(args),
            Command::New(args) => new::run(args),
            Command::Import(args) => import::run(args),
            Command::Workload(args) => workload::run(args),
            Command::Workflow(args) => workflow::run(args),
            Command::Failures(args) => failures::run(args),
            Command::List(args) => list::run(args),
            Command::Schema(args) => schema::run(args),
            Command::Completions(args) => completions::run(args),
            Command::Help(args) => help::run(args),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn a_list_of_jobs_ends_at_the_first_signal() {
        let ends = |arguments: &[&str]| {
            Cli::try_parse_from(arguments).is_ok_and(|it| it.command.only_tells())
        };
        assert!(ends(&["haggle", "jobs", "runs/one"]));
        assert!(!ends(&["haggle", "run", "one.toml"]));
    }

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
