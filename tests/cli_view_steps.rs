//! `haggle view` of scenarios, which are stepped.

use crate::command::{Folder, VALID, stderr_of, stdout_of, unwrapped};

#[test]
fn a_scenario_gets_an_address_and_ends_by_itself() {
    let folder = Folder::with(&[("a.toml", VALID)]);
    let shown = folder.haggle(&["view", "a.toml", "--no-open", "--for", "0s", "--driver", "actix"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(stdout_of(&shown).starts_with("http://127.0.0.1:"), "{shown}");
    assert_eq!(folder.names(), ["a.toml"], "a simulation writes nothing");
}

#[test]
fn a_sweep_is_refused_with_the_way_out() {
    let folder = Folder::with(&[("a.toml", &format!("{VALID}\n[sweep]\nreplications = 3\n"))]);
    let shown = folder.haggle(&["view", "a.toml", "--no-open", "--for", "0s"]);
    assert!(shown.starts_with("exit code: ") && !shown.starts_with("exit code: 0"), "{shown}");
    let error = unwrapped(stderr_of(&shown));
    assert!(error.contains("the scenario is a sweep"), "{error}");
    assert!(error.contains("choose one with --run NUMBER"), "{error}");
}

#[test]
fn settings_of_a_finished_run_are_refused() {
    let folder = Folder::with(&[("a.toml", VALID)]);
    folder.haggle(&["run", "a.toml", "-o", "run", "--no-figures", "--quiet"]);
    let shown = folder.haggle(&["view", "run", "--seed", "3", "--no-open", "--for", "0s"]);
    assert!(!shown.starts_with("exit code: 0"), "{shown}");
    assert!(
        unwrapped(stderr_of(&shown)).contains("--set, --seed and --run are for scenarios"),
        "{shown}"
    );
    let shown =
        folder.haggle(&["view", "run", "a.toml", "--seed", "3", "--no-open", "--for", "0s"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let shown =
        folder.haggle(&["view", "a.toml", "--set", "provider.nobody.policy=easy", "--no-open"]);
    assert!(!shown.starts_with("exit code: 0"), "{shown}");
    assert!(stderr_of(&shown).contains("nobody"), "{shown}");
}
