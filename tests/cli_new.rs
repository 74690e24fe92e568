//! `haggle new`, `schema`, `completions`, `list`: commands that need no run.

use crate::command::{Folder, json_of, stdout_of};

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

/// Results of a sweep of a new scenario: the values of a metric in `aggregate.csv`. Also checks its
/// figures.
fn swept(folder: &Folder, flags: &[&str], runs: u32, metric: &str) -> Vec<f64> {
    let shown = folder.haggle(&[&["new", "mine.toml"], flags].concat());
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let text = folder.read("mine.toml");
    let command = text.lines().find(|line| line.contains("haggle sweep"));
    assert_eq!(command, Some("#   haggle sweep mine.toml"));
    let shown = folder.haggle(&["validate", "mine.toml"]);
    assert!(shown.contains(&format!(" {runs} runs\n")), "{shown}");
    assert!(!shown.contains("warning"), "{shown}");
    let shown = folder.haggle(&["sweep", "mine.toml"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(!shown.contains("warning"), "{shown}");
    assert!(folder.names_in("runs/mine").iter().any(|name| name.ends_with(".png")), "{shown}");
    let table = folder.read("runs/mine/aggregate.csv");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let place = |name: &str| header.iter().position(|&cell| cell == name).expect("a column");
    let (at, mean) = (place("metric"), place("mean"));
    rows.filter(|row| row[at] == metric).map(|row| row[mean].parse().expect("a number")).collect()
}

#[test]
fn the_template_of_offers_shows_what_disclosure_buys() {
    let means = swept(&Folder::with(&[]), &["--offers"], 40, "mean_turnaround_time");
    // In the order of the levels: more disclosure gives an earlier completion.
    assert!(means.len() == 4 && means.is_sorted_by(|less, more| less > more), "{means:?}");
}

#[test]
fn the_template_of_failures_has_a_best_interval() {
    let means = swept(&Folder::with(&[]), &["--failures"], 80, "mean_turnaround_time");
    let best = means.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(means.len() == 8 && best < means[0] && best < means[7], "{means:?}");
}

#[test]
fn the_template_of_a_sweep_shows_that_backfilling_pays() {
    let means = swept(&Folder::with(&[]), &["--sweep"], 150, "mean_bounded_slowdown");
    let (fcfs, backfilling) = means.split_at(5);
    assert_eq!(backfilling.len(), 10);
    for (at, mean) in backfilling.iter().enumerate() {
        assert!(mean < &fcfs[at % 5], "{means:?}");
    }
}

#[test]
fn the_template_of_a_log_replays_it() {
    let folder = Folder::with(&[]);
    let generated = ["workload", "generate", "--jobs", "400", "--processors", "64", "my.swf.gz"];
    folder.haggle(&generated);
    let means = swept(&folder, &["--log", "my.swf.gz"], 8, "mean_bounded_slowdown");
    // From the largest gaps to the smallest, under both policies.
    assert_eq!(means.len(), 8);
    assert!(means[0] < means[3] && means[4] < means[7], "{means:?}");
    assert!(folder.read("mine.toml").contains("processors = 64\n"));
}

/// The sweep of a log asks for the same as its replay.
#[test]
fn the_template_of_a_log_takes_estimates() {
    let folder = Folder::with(&[]);
    folder.haggle(&["workload", "generate", "--jobs", "400", "--processors", "64", "my.swf.gz"]);
    // Drawn requests would depend on the name of the workload.
    let estimates = ["--estimates", "factor:3"];
    folder.haggle(&[&["new", "mine.toml", "--log", "my.swf.gz"][..], &estimates].concat());
    let text = folder.read("mine.toml");
    assert!(
        text.contains("\n[[workload.step]]\nkind = \"estimates\"\nrule = \"factor:3\"\n"),
        "{text}"
    );
    assert!(!folder.haggle(&["validate", "mine.toml"]).contains("warning"), "{text}");
    let one = text
        .split("[[sweep.axis]]")
        .next()
        .expect("a part")
        .replace("factor = 0.9", "factor = 1.0");
    let one = one.replace("warm-up = \"5%\"", "").replace("cool-down = \"5%\"", "");
    std::fs::write(folder.path().join("one.toml"), one).expect("it can be written");
    let mean = |command: &[&str]| {
        let shown = folder.haggle(&[command, &["--json", "--quiet"]].concat());
        let object = json_of(&shown);
        object["mean_waiting_time"].as_f64().expect("a number")
    };
    let replay = [&["replay", "my.swf.gz", "--policy", "easy"][..], &estimates].concat();
    assert_eq!(mean(&replay), mean(&["run", "one.toml", "-o", "one"]));
    let shown = folder.haggle(&["new", "other.toml", "--estimates", "exact"]);
    assert!(shown.starts_with("exit code: 2\n"), "{shown}");
}

#[test]
fn a_log_that_does_not_say_how_large_its_machine_is_needs_processors() {
    let log = "1 0 0 10 1 10 -1 1 10 -1 1 1 1 1 -1 -1 -1 -1\n";
    let folder = Folder::with(&[("my.swf", log)]);
    insta::assert_snapshot!(folder.haggle(&["new", "mine.toml", "--log", "my.swf"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `my.swf` does not contain the number of processors of its machine

    hint: add --processors N
    "#);
    let shown = folder.haggle(&["new", "mine.toml", "--log", "my.swf", "--processors", "8"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(folder.read("mine.toml").contains("processors = 8\n"));
}

#[test]
fn every_example_is_listed_and_runs_without_a_file() {
    let folder = Folder::with(&[]);
    let listed = folder.haggle(&["list", "examples"]);
    let lines: Vec<&str> = stdout_of(&listed).lines().collect();
    assert!(lines.len() > 10, "{listed}");
    for line in lines {
        let (name, about) = line.split_once("  ").expect("a name and what it shows");
        let verb = if about.ends_with("(`haggle sweep`)") { "sweep" } else { "run" };
        let shown = folder.haggle(&[verb, "--example", name, "-q"]);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
        assert!(shown.contains(" runs/"), "{shown}");
        let file = format!("{name}.toml");
        folder.haggle(&["new", &file, "--example", name]);
        assert!(folder.haggle(&["validate", &file]).contains(": valid, "), "{name}");
    }
}

#[test]
fn an_unknown_example_gets_the_nearest_one_suggested() {
    let folder = Folder::with(&[]);
    let shown = folder.haggle(&["run", "--example", "quikstart"]);
    assert!(shown.starts_with("exit code: 2\n"), "{shown}");
    assert!(shown.contains("a similar value exists: 'quickstart'"), "{shown}");
    let shown = folder.haggle(&["run"]);
    assert!(shown.contains("<SCENARIO|--example <NAME>|--continue <DIR>>"), "{shown}");
}

#[test]
fn a_missing_file_with_the_name_of_an_example_is_hinted_at() {
    let folder = Folder::with(&[]);
    insta::assert_snapshot!(folder.haggle(&["run", "scenarios/quickstart.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cannot read `scenarios/quickstart.toml`: No such file or directory (os error 2)

    hint: `--example quickstart` in place of the file is the example of this name
    "#);
    let other = folder.haggle(&["sweep", "scenarios/mine.toml"]);
    assert!(!other.contains("hint"), "{other}");
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
    examples          Scenarios that are part of the program, for `haggle run --example NAME`
    policies          Policies of a provider, by which jobs start (`policy`)
    ");
    for line in stdout_of(&shown).lines() {
        let (what, meaning) = line.split_once("  ").expect("a word and what it is");
        assert!(!meaning.trim().is_empty(), "{line}");
        let listed = folder.haggle(&["list", what]);
        assert!(listed.starts_with("exit code: 0\n"), "{listed}");
    }
    let json = json_of(&folder.haggle(&["list", "--json"]));
    assert_eq!(json[1]["word"], "policies");
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
    reservations  Advance reservations with windows, in which waiting reservations may move; jobs without a reservation are moved aside for them
    recorded      As recorded: each job starts at the time that its log has recorded, or later if its processors are not free then
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
fn help_explains_commands_keys_and_words() {
    let folder = Folder::with(&[]);
    insta::assert_snapshot!(folder.haggle(&["help", "scenario.seed"]), @r#"
    exit code: 0
    ----- stdout -----
    scenario.seed
      Master seed of all randomness; replication n uses seed + n.
      type     whole number ≥ 0, ≤ 9000000000000000
      default  1
      change   cannot change while a run goes on: a change has a key `seed` of its own
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["help", "fit-load"]), @r#"
    exit code: 0
    ----- stdout -----
    workload.step.fit-load
      Takes as many jobs into a period, by shrinking all gaps, as make a given load.
      form     kind = "fit-load"
        length      Length of the period, from time zero; later jobs are dropped.
        load        Run time x processors of the jobs over processors x length.
        processors  Processors to which the load is relative.
        overshoot   Treatment of a job that makes the load too large.
        tolerance   Largest difference from the load; upwards, if the job that exceeds it is taken.
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["help", "easy"]), @r#"
    exit code: 0
    ----- stdout -----
    provider.policy.easy
      EASY backfilling: a job may pass others if it does not delay the first one in the queue.
      form     name = "easy"
        depth  Number of waiting jobs behind the first one that a pass examines, in this order; without it, all.
        order  Order in which waiting jobs are considered.
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["help", "provider.polcy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: there is no command and no key `provider.polcy`

    hint: did you mean `provider.policy`?
    "#);
    for command in [&["verify"][..], &["workload", "scale"]] {
        let help = folder.haggle(&[&["help"], command].concat());
        assert_eq!(help, folder.haggle(&[command, &["--help"]].concat()));
    }
    // If a key and a command have one name, the command is explained, with a hint to the key.
    let shown = folder.haggle(&["help", "workload"]);
    assert!(shown.contains("`haggle help '[[workload]]'`"), "{shown}");
    assert!(folder.haggle(&["help", "[[workload]]"]).contains("Sources of jobs."));
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
