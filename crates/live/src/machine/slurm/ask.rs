//! Slurm's commands.

use std::process::{Command, Output, Stdio};

use super::super::MachineError;

/// The output of a command.
///
/// # Errors
/// If it does not exist, or fails.
pub(super) fn ask<W: AsRef<str>>(program: &str, arguments: &[W]) -> Result<String, MachineError> {
    let output = output(program, arguments)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The output and the error output of a command: `sbatch --test-only` answers on the second one.
///
/// # Errors
/// If it does not exist, or fails.
pub(super) fn both<W: AsRef<str>>(program: &str, arguments: &[W]) -> Result<String, MachineError> {
    let Output { stdout, stderr, .. } = output(program, arguments)?;
    Ok(String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

fn output<W: AsRef<str>>(program: &str, arguments: &[W]) -> Result<Output, MachineError> {
    let mut command = Command::new(program);
    // Times as seconds since 1970, whatever the time zone is.
    let words = Vec::from_iter(arguments.iter().map(AsRef::as_ref));
    command.args(&words).env("SLURM_TIME_FORMAT", "%s").stdin(Stdio::null());
    let output = command.output();
    let failed = |error| MachineError::NoProgram { program: program.to_owned(), error };
    let output = output.map_err(failed)?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().map(str::trim).collect::<Vec<_>>().join("; ");
    Err(MachineError::Command { command: format!("{program} {}", words.join(" ")), said })
}

/// A word for a shell.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
