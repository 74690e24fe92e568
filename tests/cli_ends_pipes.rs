//! Signals while a command waits for a pipe, or when the terminal closes.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::cli_run::{LONG, wait_for};
use crate::command::{Folder, ended, signal, stderr_of};

pub(crate) fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
}

/// True if a command already handles signals.
fn listens(child: &std::process::Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let threads = status.unwrap_or_default();
    let threads = threads.lines().find_map(|line| line.strip_prefix("Threads:"));
    threads.and_then(|number| number.trim().parse::<u32>().ok()).is_some_and(|number| number >= 3)
}

#[test]
fn a_command_that_waits_for_a_pipe_can_be_stopped() {
    let folder = Folder::with(&[]);
    make_pipe(&folder.path().join("pipe.toml"));
    for arguments in [&["validate", "pipe.toml"][..], &["run", "pipe.toml", "-o", "out"]] {
        let child = folder.start(arguments);
        wait_for(|| listens(&child));
        signal(&child, "TERM");
        let shown = ended(child);
        assert!(shown.starts_with("exit code: 143\n"), "{shown}");
        assert!(stderr_of(&shown).ends_with("interrupted: no results were written\n"), "{shown}");
    }
}

#[test]
fn a_closed_terminal_stops_a_run_as_sigterm_does() {
    let folder = Folder::with(&[("long.toml", LONG)]);
    let child = folder.start(&["run", "long.toml", "-o", "out"]);
    wait_for(|| folder.path().join(".out.partial/jobs.parquet").exists());
    signal(&child, "HUP");
    let shown = ended(child);
    assert!(shown.starts_with("exit code: 129\n"), "{shown}");
    assert_eq!(folder.names(), ["long.toml"], "it tidies up");
}

#[test]
fn under_nohup_a_run_goes_on() {
    let folder = Folder::with(&[("long.toml", LONG)]);
    let child = Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", "trap '' HUP; exec \"$0\" run long.toml -o out --quiet"])
        .arg(assert_cmd::cargo::cargo_bin!("haggle"))
        .spawn()
        .expect("it can be started");
    wait_for(|| folder.path().join(".out.partial/jobs.parquet").exists());
    signal(&child, "HUP");
    signal(&child, "TERM");
    let shown = ended(child);
    // The first of two signals decides the exit code; here was only one.
    assert!(shown.starts_with("exit code: 143\n"), "{shown}");
}
