//! Exit codes and their meanings. They are part of the interface, because scripts read them.

use std::process::ExitCode;

/// End of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Success = 0,
    /// Two results differ, a check failed, or a published claim was missed.
    Differs = 1,
    /// The arguments do not fit the input; clap uses the same code.
    Usage = 2,
    /// The input cannot be used: a scenario or a log has mistakes, or does not exist.
    InvalidInput = 3,
    /// A result could not be written, or would have overwritten another.
    CannotWrite = 4,
    /// The terminal was closed (SIGHUP). Complete results are kept.
    HungUp = 129,
    /// Ctrl-C. Complete results are kept.
    Interrupted = 130,
    /// SIGTERM. Complete results are kept.
    Terminated = 143,
}

/// Text of `haggle --help` about them.
pub(crate) const HELP: &str = "\
Exit codes:
  0    done
  1    a check failed, a claim was missed, or two results differ
  2    wrong usage: unknown option, missing argument, option that does not fit the input
  3    invalid input: a scenario or a log with mistakes
  4    output cannot be written, or exists already
  129  stopped by SIGHUP, as of a terminal that is closed
  130  interrupted by Ctrl-C
  143  stopped by SIGTERM";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
