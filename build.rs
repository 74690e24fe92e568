//! Notes the commit of a release build, for `haggle --version`.

use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A debug build is made of what is being written, so no commit describes it; and a new commit need not build it anew.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = is_release.then(commit).flatten().unwrap_or_default();
    println!("cargo::rustc-env=HAGGLE_COMMIT={commit}");
}

/// Such as ` (5cc291d4, 2026-11-27)`; nothing if this is no checkout, or git is missing.
fn commit() -> Option<String> {
    // A copy within the repository of another project has the commits of that project.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(top).ok()? != fs::canonicalize(".").ok()? {
        return None;
    }
    // The log of HEAD grows with each commit, and HEAD itself changes with the branch.
    for file in ["HEAD", "logs/HEAD"] {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", file])?);
    }
    let commit = git(&["log", "-1", "--abbrev=8", "--format=%h, %cs"])?;
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(format!(" ({commit}{})", if is_changed { ", with changes" } else { "" }))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
