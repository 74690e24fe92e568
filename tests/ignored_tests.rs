//! Tests that need logs of real machines report themselves as ignored, and the gate runs them where it has the logs.

use std::fs;
use std::path::{Path, PathBuf};

const IGNORED: &str = "#[ignore = \"needs the logs of HAGGLE_TRACES\"]";

/// Sources of all tests, with their paths from the root.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("an entry can be read").path();
            let below = path.strip_prefix(root).expect("it lies below the root").to_owned();
            let built = below.starts_with("target") || below.starts_with(".git");
            if path.is_dir() && !built {
                open.push(path);
            } else if below.components().any(|part| part.as_os_str() == "tests")
                && below.extension().is_some_and(|ending| ending == "rs")
            {
                found.push((below, fs::read_to_string(path).expect("it is UTF-8")));
            }
        }
    }
    found
}

fn is_of_logs(path: &Path) -> bool {
    path.components().any(|part| Path::new(&part).file_stem().is_some_and(|it| it == "real_logs"))
}

#[test]
fn each_test_that_needs_a_log_is_ignored_and_named_after_it() {
    let mut of_logs = 0;
    for (path, text) in sources() {
        if path == Path::new("tests/ignored_tests.rs") {
            continue;
        }
        let place = path.display();
        let needs = ["real_log(", "var_os(\"HAGGLE_TRACES", "var(\"HAGGLE_TRACES"];
        if !is_of_logs(&path) {
            assert!(!needs.iter().any(|it| text.contains(it)), "{place}: not in `real_logs`");
            assert!(!text.contains(IGNORED), "{place}: not in `real_logs`");
            continue;
        }
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[test]") {
            assert_eq!(pair[1], IGNORED, "{place}");
            of_logs += 1;
        }
    }
    assert!(of_logs > 0);
}

#[test]
fn the_gate_and_the_guide_have_the_command_that_runs_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in [".ci/run", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root.join(file)).expect("it is there");
        let command = "cargo test --workspace --tests -- --ignored real_logs::";
        assert!(text.contains(command), "{file} lacks `{command}`");
    }
}
