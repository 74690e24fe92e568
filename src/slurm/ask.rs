//! Slurm's commands.

use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};

use super::SlurmError;
use crate::shell;

/// Output of a command of Slurm.
pub(super) fn ask<A: AsRef<OsStr>>(program: &str, arguments: &[A]) -> Result<String, SlurmError> {
    let ended = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = ended
        .map_err(|error: io::Error| SlurmError::NoCommand { program: program.to_owned(), error })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(SlurmError::Command {
        command: shell::command(program, arguments),
        said: said.lines().map(str::trim).collect::<Vec<_>>().join("; "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::quoted;

    #[test]
    fn a_command_that_fails_is_shown_with_what_it_said() {
        let error = ask("sh", &["-c", "echo no such account >&2; exit 1"]).expect_err("it fails");
        assert_eq!(
            error.to_string(),
            "`sh -c 'echo no such account >&2; exit 1'` failed: no such account"
        );
        let error = ask("no-such-slurm", &[""; 0]).expect_err("it is not there");
        assert!(error.to_string().starts_with("there is no `no-such-slurm` here"), "{error}");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        for word in ["a b", "it's", "$HOME", "", "a\nb"] {
            let said =
                ask("sh", &["-c", &format!("printf %s {}", quoted(word))]).expect("it prints");
            assert_eq!(said, word);
        }
        assert_eq!(quoted("provider.north.policy=easy"), "provider.north.policy=easy");
    }
}
