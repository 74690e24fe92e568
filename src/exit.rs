//! Exit codes and what they mean; they are part of the interface, for scripts read them.

use std::process::ExitCode;

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Success = 0,
    /// Two results differ, a check failed, or a published claim was missed.
    Differs = 1,
    /// What was typed does not fit what was given; clap uses the same code.
    Usage = 2,
    /// What was given cannot be used: a scenario or a log with mistakes, or one that is not there.
    InvalidInput = 3,
    /// A result could not be written, or would have overwritten another.
    CannotWrite = 4,
    /// The terminal was closed (SIGHUP); what was complete is kept.
    HungUp = 129,
    /// Ctrl-C; what was complete is kept.
    Interrupted = 130,
    /// The same by SIGTERM.
    Terminated = 143,
}

/// What `haggle --help` says about them.
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
