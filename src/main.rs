//! The command `haggle`: parses what was typed, carries it out, prints what came of it.

use std::process::ExitCode;
use std::thread;

use clap::Parser;

mod cli;
mod commands;
mod exit;
mod interrupt;
mod progress;
mod report;
mod slurm;

/// How deep calls may be nested, whatever the shell allows its commands.
const STACK_BYTES: usize = 16 * 1024 * 1024;

fn main() -> ExitCode {
    interrupt::listen();
    let main = thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn(work);
    match main {
        // Who panics has said so.
        Ok(main) => main.join().unwrap_or(ExitCode::from(101)),
        Err(error) => {
            report::say(&format!("error: no thread can be started: {error}\n"));
            exit::Exit::InvalidInput.into()
        }
    }
}

fn work() -> ExitCode {
    let cli = cli::Cli::parse();
    match cli.command.run() {
        Ok(exit) => exit.into(),
        Err(error) => report::report(&error).into(),
    }
}
