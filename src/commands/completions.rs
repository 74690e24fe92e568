//! `haggle completions`: lets a shell complete verbs and options.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Error, print};
use crate::cli::Cli;
use crate::exit::Exit;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle completions bash > ~/.local/share/bash-completion/completions/haggle
  haggle completions zsh > ~/.zfunc/_haggle
  haggle completions fish > ~/.config/fish/completions/haggle.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    // The script is made in memory first, since the generator panics if a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "haggle", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
