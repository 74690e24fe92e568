//! The command `haggle` without own rules.

use std::process::ExitCode;

fn main() -> ExitCode {
    haggle::command::main()
}
