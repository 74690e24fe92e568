//! Claims of papers that can be tested in seconds: figures that need no simulation.
//! `haggle reproduce all` tests the others.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

use crate::command::Folder;

/// The claims about these figures with their verdicts, one a line, and the exit code.
pub(crate) fn verdicts(figures: &[&str]) -> String {
    let folder = Folder::with(&[]);
    let mut command = Command::cargo_bin("haggle").expect("cargo builds the command for its tests");
    command.current_dir(folder.path()).arg("reproduce").args(figures).args(["--json", "--quiet"]);
    let output = command.output().expect("the command can be started");
    let tested: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let claims = tested["claims"].as_array().expect("a list of claims");
    let word = |claim: &Value, key: &str| claim[key].as_str().expect("a text").to_owned();
    let line = |claim: &Value| format!("{} {}\n", word(claim, "id"), word(claim, "verdict"));
    let lines: String = claims.iter().map(line).collect();
    let code = output.status.code().expect("it was not killed");
    format!("exit code: {code}\n{lines}")
}

#[test]
fn offers_are_composed_as_in_the_published_example() {
    insta::assert_snapshot!(verdicts(&["netto-t6.1"]), @r"
    exit code: 0
    OF-T6.1-a untestable
    OF-T6.1-b untestable
    OF-T6.1-c untestable
    OF-T6.1-d held
    OF-T6.1-e held
    ");
}

#[test]
fn estimates_and_the_limit_of_backfilling_are_as_published() {
    let figures = ["netto-t7.1", "netto-7.6", "netto-7.7", "netto-7.8", "netto-7.10", "netto-7.12"];
    insta::assert_snapshot!(verdicts(&figures), @r"
    exit code: 0
    CR-T7.1-a held
    CR-T7.1-b held
    CR-T7.1-c held
    CR-T7.1-d held
    CR-T7.1-e held
    CR-T7.1-f held
    CR-T7.1-g held
    CR-T7.1-h held
    CR-T7.1-i held
    CR-CFG-c held
    CR-7.6-a held
    CR-7.6-b held
    CR-7.6-c held
    CR-7.7-a held
    CR-7.8-a held
    CR-7.8-b held
    CR-7.10-a held
    CR-7.12-a held
    CR-WL-a held
    ");
}

#[test]
fn worked_examples_and_what_comes_into_the_grid_are_as_published() {
    let figures = ["recovery", "4.2", "4.3", "4.4", "4.7", "4.8"].map(|it| format!("chtepen-{it}"));
    let figures: Vec<&str> = figures.iter().map(String::as_str).collect();
    insta::assert_snapshot!(verdicts(&figures), @r"
    exit code: 0
    FT-4.3-a held
    FT-4.4-a held
    FT-4.4-b held
    ");
}

/// One claim is missed: merging, which is not described in full, would explain it.
#[test]
fn iterative_applications_take_what_was_published() {
    let figures =
        ["t5.1", "t5.2", "t5.3", "5.3", "t5.4", "5.10", "5.11"].map(|it| format!("netto-{it}"));
    let figures: Vec<&str> = figures.iter().map(String::as_str).collect();
    insta::assert_snapshot!(verdicts(&figures), @r"
    exit code: 1
    IM-5.1-a held
    IM-5.2-a held
    IM-S-a held
    IM-5.3-a held
    IM-5.3-b held
    IM-5.3-c held
    IM-5.3-d held
    IM-5.4-a held
    IM-5.4-b held
    IM-5.4-c held
    IM-5.10-a held
    IM-5.10-b reported
    IM-5.10-c reported
    IM-5.10-d reported
    IM-5.10-e reported
    IM-5.10-f reported
    IM-C-a reported
    IM-5.11-a missed
    IM-5.11-b held
    IM-5.11-c held
    IM-5.11-d held
    IM-5.11-e held
    ");
}

#[test]
fn workflows_and_what_their_tasks_say_are_as_published() {
    let figures = ["5.2", "5.5", "5.6", "t5.2", "6.1", "6.3", "6.5", "6.6", "t6.1"];
    let figures = figures.map(|it| format!("chtepen-{it}"));
    let figures: Vec<&str> = figures.iter().map(String::as_str).collect();
    insta::assert_snapshot!(verdicts(&figures), @r"
    exit code: 0
    DW-5-ps held
    DW-5-arr held
    ");
}

/// The page of all claims matches the output of the kept reproductions.
#[test]
fn the_page_of_claims_is_what_was_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = fs::read_dir(root.join("docs/claims")).expect("the folder is there");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let mut command = Command::cargo_bin("haggle").expect("cargo builds the command for its tests");
    let output = command.args(["reproduce", "--page"]).args(files).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = root.join("docs/claims.md");
    if std::env::var_os("UPDATE_MANUAL").is_some() {
        fs::write(&page, &output.stdout).expect("docs/ can be written");
    }
    let written = fs::read(&page).expect("the page is there");
    assert!(written == output.stdout, "docs/claims.md is stale: set UPDATE_MANUAL=1 to renew it");
}
