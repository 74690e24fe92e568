//! Every scenario of the project is valid and deterministic.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

use crate::command::Folder;

/// All scenarios of the repository, in order.
pub(crate) fn scenarios() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if ["figures.toml", "claims.toml"].iter().any(|name| path.ends_with(name)) {
                // Files about scenarios, but no scenarios.
            } else if path.extension().is_some_and(|ending| ending == "toml") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

/// True if the scenario reads logs that may be missing.
pub(crate) fn needs_logs(scenario: &Path) -> bool {
    let text = fs::read_to_string(scenario).expect("it can be read");
    text.contains("$HAGGLE_TRACES") || extended(scenario).is_some_and(|base| needs_logs(&base))
}

/// The scenario that this one extends.
pub(crate) fn extended(scenario: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(scenario).expect("it can be read");
    let table: toml::Table = text.parse().expect("it is TOML");
    let name = table.get("scenario")?.get("extends")?.as_str()?;
    Some(scenario.with_file_name(name))
}

/// Output of the command, which must succeed.
pub(crate) fn haggle(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("haggle").expect("cargo builds the command for its tests");
    let output = command.args(arguments).output().expect("the command can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("what is printed is UTF-8")
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("the paths of the repository are UTF-8")
}

#[test]
fn they_are_valid() {
    for scenario in scenarios() {
        haggle(&["validate", "--ignore-logs", text(&scenario)]);
    }
}

#[test]
fn those_that_are_generated_give_the_same_each_time() {
    // Scenarios that read logs take minutes here, and one that extends another is similar to it.
    // The gate tests all of them, optimised and at full length.
    let alone = |it: &PathBuf| !needs_logs(it) && extended(it).is_none();
    let generated: Vec<_> = scenarios().into_iter().filter(alone).collect();
    assert!(!generated.is_empty());
    for scenario in generated {
        let folder = shortened(scenario.parent().expect("it lies in a folder"));
        let name = scenario.file_name().expect("it has a name");
        verified(&folder.path().join(name));
    }
}

/// A copy of the scenarios of a folder, and of their files, with two days in place of five weeks,
/// and six hours in place of one week.
pub(crate) fn shortened(folder: &Path) -> Folder {
    let copy = Folder::with(&[]);
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry can be read").path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let text = fs::read_to_string(&path).expect("it can be read");
            let text = text.replace("horizon = \"35d\"", "horizon = \"2d\"");
            let text = text.replace("horizon = \"7d\"", "horizon = \"6h\"");
            let name = path.file_name().expect("it has a name");
            fs::write(copy.path().join(name), text).expect("it can be written");
        } else if path.is_file() {
            let name = path.file_name().expect("it has a name");
            fs::copy(&path, copy.path().join(name)).expect("it can be written");
        }
    }
    copy
}

/// One variant of a sweep suffices, since the variants differ only in numbers.
fn verified(scenario: &Path) {
    let verdict = haggle(&["verify", text(scenario), "--variants", "1"]);
    for line in verdict.lines() {
        assert!(
            line.contains(" lines in all three runs (sequential twice, actix once)"),
            "{}: {line}",
            scenario.display()
        );
        assert!(!line.contains(": same 0 lines"), "{}: nothing happens", scenario.display());
    }
    assert!(!verdict.is_empty(), "{}: nothing was verified", scenario.display());
}

/// The recorded digest may change only together with the quickstart or its behaviour.
#[test]
fn the_quickstart_gives_the_digest_on_record() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenario = root.join("scenarios/quickstart.toml");
    let scratch = Folder::with(&[]);
    let digest = |name: &str, driver: &str| {
        let output = scratch.path().join(name);
        let arguments = ["run", text(&scenario), "--check", "--json", "--driver", driver];
        let more = ["--no-figures", "-o", text(&output)];
        let object: Value =
            serde_json::from_str(&haggle(&[&arguments[..], &more].concat())).expect("an object");
        object["digest"].as_str().expect("a text").to_owned()
    };
    let on_record =
        fs::read_to_string(root.join("tests/quickstart.digest")).expect("it is on record");
    assert_eq!(digest("sequential", "sequential"), on_record.trim());
    assert_eq!(digest("actix", "actix"), on_record.trim());
}

#[test]
fn the_template_of_new_scenarios_runs() {
    let folder = Folder::with(&[]);
    let steps: [&[&str]; 4] = [
        &["new", "mine.toml"],
        &["validate", "mine.toml"],
        &["run", "mine.toml", "--check", "-o", "out"],
        &["verify", "mine.toml"],
    ];
    for step in steps {
        let shown = folder.haggle(step);
        assert!(shown.starts_with("exit code: 0\n"), "{step:?}: {shown}");
        assert!(!shown.contains("warning"), "{step:?}: {shown}");
    }
}
