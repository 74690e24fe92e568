//! The command `haggle`: parses what was typed, carries it out, prints what came of it.

use std::process::ExitCode;

use clap::Parser;

mod cli;
mod commands;
mod exit;
mod interrupt;
mod progress;
mod report;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    interrupt::listen();
    match cli.command.run() {
        Ok(exit) => exit.into(),
        Err(error) => report::report(&error).into(),
    }
}
