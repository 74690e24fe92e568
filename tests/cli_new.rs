//! `haggle new`, `schema`, `completions`, `list`: what is there before any run.

use crate::command::{Folder, stdout_of};

#[test]
fn the_template_is_valid() {
    let folder = Folder::with(&[]);
    insta::assert_snapshot!(folder.haggle(&["new", "mine.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["validate", "mine.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    mine.toml: valid, 2 providers, 2 workloads, 1 run
    "#);
}

#[test]
fn the_template_of_a_grid_is_valid_and_runs() {
    let folder = Folder::with(&[]);
    folder.haggle(&["new", "mine.toml", "--grid"]);
    insta::assert_snapshot!(folder.haggle(&["validate", "mine.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    mine.toml: valid, 8 resources at 2 sites, 1 workload, 1 run
    "#);
    let shown = folder.haggle(&["run", "mine.toml", "--check", "--quiet", "-o", "run"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    for figure in ["run/resource-timeline.png", "run/job-timeline.png"] {
        assert!(shown.contains(figure), "{shown}");
    }
}

#[test]
fn the_template_of_all_worlds_is_valid_and_runs() {
    let folder = Folder::with(&[]);
    folder.haggle(&["new", "mine.toml", "--side-by-side"]);
    insta::assert_snapshot!(folder.haggle(&["validate", "mine.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    mine.toml: valid, 2 providers, 2 clusters, 12 resources at 1 site, 3 workloads, 1 run
    "#);
    let shown = folder.haggle(&["run", "mine.toml", "--check", "--quiet", "-o", "run"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn an_existing_file_is_kept() {
    let folder = Folder::with(&[("mine.toml", "")]);
    insta::assert_snapshot!(folder.haggle(&["new", "mine.toml"]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `mine.toml` exists already

    hint: add --force to overwrite it
    "#);
    insta::assert_snapshot!(folder.haggle(&["new", "--force", "mine.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    "#);
}

#[test]
fn list_by_itself_says_what_can_be_listed() {
    let folder = Folder::with(&[]);
    let shown = folder.haggle(&["list"]);
    let first: Vec<&str> = stdout_of(&shown).lines().take(2).collect();
    insta::assert_snapshot!(first.join("\n"), @"
    policies          How a provider decides which job starts when (`policy`)
    orders            In which order a provider considers jobs (`order`)
    ");
    for line in stdout_of(&shown).lines() {
        let (what, meaning) = line.split_once("  ").expect("a word and what it is");
        assert!(!meaning.trim().is_empty(), "{line}");
        let listed = folder.haggle(&["list", what]);
        assert!(listed.starts_with("exit code: 0\n"), "{listed}");
    }
    let json: serde_json::Value =
        serde_json::from_str(stdout_of(&folder.haggle(&["list", "--json"]))).expect("JSON");
    assert_eq!(json[0]["word"], "policies");
}

#[test]
fn the_words_of_policies_are_listed() {
    let folder = Folder::with(&[]);
    insta::assert_snapshot!(folder.haggle(&["list", "policies"]), @r#"
    exit code: 0
    ----- stdout -----
    fcfs          First come, first served: no job passes one that is before it in the queue
    easy          EASY backfilling: a job may pass others if it does not delay the first one in the queue
    conservative  Conservative backfilling: every job has a reservation, and a job may pass others if it delays none
    edf           Earliest deadline first with promises that are kept; makes offers for bags of tasks
    bags          Conservative backfilling of bags of tasks, moved up when something ends early; makes offers
    reservations  Advance reservations with windows, in which what waits may move; jobs that ask for none go aside for them
    ----- stderr -----
    "#);
    for what in ["orders", "compressions", "disclosures", "placements", "steps", "metrics", "kinds"]
    {
        let listed = folder.haggle(&["list", what]);
        assert!(listed.lines().count() > 5, "{what} lists nothing: {listed}");
    }
}

#[test]
fn the_schema_is_json_and_completions_are_printed() {
    let folder = Folder::with(&[]);
    let schema = folder.haggle(&["schema"]);
    assert!(schema.contains("\"$schema\": \"https://json-schema.org/draft/2020-12/schema\""));
    assert!(folder.haggle(&["completions", "bash"]).contains("complete -F _haggle"));
}

#[test]
fn wrong_usage_exits_with_2() {
    let folder = Folder::with(&[]);
    insta::assert_snapshot!(folder.haggle(&["validate"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the following required arguments were not provided:
      <SCENARIO>...

    Usage: haggle validate <SCENARIO>...

    For more information, try '--help'.
    "#);
}
