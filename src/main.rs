//! The command `haggle`, with no rules but its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    haggle::command::main()
}
