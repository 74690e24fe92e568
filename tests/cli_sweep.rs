//! `haggle sweep`: many runs, in any order and after any number of stops.

use std::collections::BTreeMap;
use std::fs;

use crate::cli_run::wait_for;
use crate::command::{Folder, VALID, ended, stderr_of, stdout_of, unwrapped};

/// Three policies under three seeds each.
pub(crate) fn scenario(jobs: u32) -> String {
    format!(
        r#"
[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = {{ jobs = {jobs}, processors = 64, load = 0.8 }}

[[provider]]
name = "north"
processors = 64

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[sweep]
replications = 3

[[sweep.axis]]
path = "provider.north.policy"
values = ["fcfs", "easy", "conservative"]
"#
    )
}

pub(crate) const FIRST_RUN: &str = "out/policy=fcfs/seed=1";

/// All files except those with durations.
pub(crate) fn results(folder: &Folder, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut tree = folder.tree(name);
    tree.retain(|name, _| !name.ends_with("timing.json"));
    tree
}

/// Names of files that differ or are in only one of both; shorter to print than the files.
pub(crate) fn differing(
    a: &BTreeMap<String, Vec<u8>>,
    b: &BTreeMap<String, Vec<u8>>,
) -> Vec<String> {
    let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
    names.filter(|name| a.get(*name) != b.get(*name)).cloned().collect()
}

/// The run folders with their final names, each of which must be complete.
pub(crate) fn finished(folder: &Folder) -> usize {
    let tree = folder.tree("out");
    let mut runs = 0;
    let names = tree.keys().filter(|name| !name.contains(".partial/"));
    for name in names.filter(|name| !name.starts_with(".sweep/")) {
        if let Some(run) = name.strip_suffix("/timing.json") {
            runs += 1;
            for file in ["jobs.parquet", "summary.json", "provenance.json", "scenario.toml"] {
                assert!(tree.contains_key(&format!("{run}/{file}")), "{run} lacks {file}");
            }
        } else if let Some((run, _)) = name.rsplit_once('/') {
            let last = format!("{run}/timing.json");
            assert!(tree.contains_key(&last), "{run} has its name but is not whole");
        }
    }
    runs
}

#[test]
fn a_sweep_is_summed_up() {
    let folder = Folder::with(&[("sweep.toml", &scenario(30))]);
    insta::assert_snapshot!(folder.haggle(&["sweep", "sweep.toml", "-o", "out"]), @r#"
    exit code: 0
    ----- stdout -----
    9 runs

    mean of the runs at each point, ± half its 95 % confidence interval
      policy        runs  mean_waiting_time  mean_bounded_slowdown      utilisation
      fcfs             3              0 ± 0                  1 ± 0  0.1887 ± 0.0900
      easy             3              0 ± 0                  1 ± 0  0.1887 ± 0.0900
      conservative     3              0 ± 0                  1 ± 0  0.1887 ± 0.0900

    runs       out/runs.csv
    aggregate  out/aggregate.csv
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.names_in("out").join("\n"), @r#"
    aggregate.csv
    policy=conservative
    policy=easy
    policy=fcfs
    runs.csv
    scenario.toml
    "#);
    let runs = folder.read("out/runs.csv");
    assert!(runs.starts_with("run,seed,policy,makespan,"), "{runs}");
    let rows: Vec<String> = runs
        .lines()
        .skip(1)
        .map(|row| row.split(',').take(3).collect::<Vec<_>>().join(","))
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    0,1,fcfs
    1,2,fcfs
    2,3,fcfs
    3,1,easy
    4,2,easy
    5,3,easy
    6,1,conservative
    7,2,conservative
    8,3,conservative
    "#);
    let aggregate = folder.read("out/aggregate.csv");
    let rows: Vec<&str> =
        aggregate.lines().filter(|row| row.contains("policy") || row.ends_with(",,jobs")).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    policy,metric,n,mean,std,ci95,group_kind,group,quantity
    fcfs,jobs,3,30.0,0.0,0.0,,,jobs
    easy,jobs,3,30.0,0.0,0.0,,,jobs
    conservative,jobs,3,30.0,0.0,0.0,,,jobs
    "#);
    let json = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--json", "--quiet"]);
    insta::assert_snapshot!(json, @r#"
    exit code: 0
    ----- stdout -----
    {
      "aggregate_csv": "out/aggregate.csv",
      "failed": [],
      "figures": [],
      "folder": "out",
      "runs": 9,
      "runs_csv": "out/runs.csv",
      "warnings": []
    }
    ----- stderr -----
    "#);
}

#[test]
fn a_table_of_means_has_groups_unless_there_are_very_many() {
    let providers = |count: u32| {
        let text = scenario(20).replace("[[user]]", &format!("count = {count}\n\n[[user]]"));
        let broker = "[[metascheduler]]\nname = \"broker\"\nplacement = \"random\"\n\n[[user]]";
        let text = text.replace("submits-to = \"north\"", "submits-to = \"broker\"");
        let text =
            text.replace("[[user]]", broker).replace("provider.north.policy", "provider.*.policy");
        let folder = Folder::with(&[("many.toml", &text)]);
        let shown = folder.haggle(&["sweep", "many.toml", "-o", "out", "--quiet"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        let table = folder.read("out/aggregate.csv");
        let of = |group: &str| table.lines().filter(|line| line.contains(group)).count();
        assert_eq!(of(",user,"), 0, "a user has the values of its workload");
        (of(",provider,"), of(",class,"), of(",mean_waiting_time,"))
    };
    let (of_two, of_classes, of_all) = providers(2);
    assert!(of_two > 0 && of_classes > 0);
    assert_eq!(of_all, 3, "a row for each policy");
    assert_eq!(providers(65), (0, of_classes, 3));
}

/// Axes name a provider as it is written, and not its copies.
#[test]
fn a_sweep_of_a_provider_with_copies_is_read_from_its_folder() {
    let broker = "[[metascheduler]]\nname = \"broker\"\nplacement = \"random\"\n\n[[user]]";
    let copied = scenario(20)
        .replace("[[user]]", &format!("count = 2\n\n{broker}"))
        .replace("submits-to = \"north\"", "submits-to = \"broker\"")
        .replace("replications = 3", "replications = 2");
    let counted = copied
        .replace("north.policy", "north.count")
        .replace("[\"fcfs\", \"easy\", \"conservative\"]", "[1, 3]");
    let failures =
        "\n[[failures]]\nnodes = 2\nprocessors-per-node = 1\noutages = [[\"1h\", \"2h\"]]\n";
    let failing = format!("{copied}{failures}");
    let branches = format!(
        "{}\n[[branch]]\nname = \"other\"\nat = \"1h\"\nset = {{ \"provider.north.policy\" = \"easy\" }}\n",
        copied.split("[sweep]").next().expect("a scenario")
    );
    let folder = Folder::with(&[
        ("policy.toml", &copied),
        ("count.toml", &counted),
        ("failing.toml", &failing),
        ("branches.toml", &branches),
    ]);
    for (name, against) in [
        ("policy", "policy=easy"),
        ("count", "count=1"),
        ("failing", "policy=easy"),
        ("branches", "branch=base"),
    ] {
        let succeeds = |arguments: &[&str]| {
            let shown = folder.haggle(arguments);
            assert!(shown.starts_with("exit code: 0"), "{name} {arguments:?}: {shown}");
            shown
        };
        succeeds(&["sweep", &format!("{name}.toml"), "-o", name, "-q"]);
        succeeds(&["compare", name, "--against", against]);
        let figure = format!("{name}.svg");
        succeeds(&["plot", name, "--kind", "bars", "--metric", "mean-waiting-time", "-o", &figure]);
        let scenario = format!("{name}/scenario.toml");
        let resumed = succeeds(&["sweep", &scenario, "-o", name]);
        assert!(stderr_of(&resumed).contains("runs are done already"), "{name}: {resumed}");
    }
    // Each variant has as many copies as its value, and each copy fails.
    let run = folder.read("count/count=3/seed=1/scenario.toml");
    assert!(run.contains("name = \"north-3\"") && !run.contains("count = "), "{run}");
    let outages = folder.read("failing/policy=fcfs/seed=1/scenario.toml");
    assert!(outages.contains("\"north-1\",\n    \"north-2\""), "{outages}");
    // One copy cannot be named, and the error has the way out.
    let one = copied.replace("provider.north.policy", "provider.north-2.policy");
    let folder = Folder::with(&[("one.toml", &one)]);
    let shown = unwrapped(&folder.haggle(&["sweep", "one.toml", "-o", "one"]));
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("\"north-2\" is one of the 2 copies of \"north\""), "{shown}");
    assert!(shown.contains("without `count`"), "{shown}");
}

#[test]
fn workers_do_not_change_results() {
    let folder = Folder::with(&[("sweep.toml", &scenario(200))]);
    for jobs in ["1", "4"] {
        let shown = folder.haggle(&["sweep", "sweep.toml", "-o", jobs, "--jobs", jobs]);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    }
    let (one, four) = (results(&folder, "1"), results(&folder, "4"));
    assert_eq!(differing(&one, &four), [""; 0]);
    assert!(one.len() > 9 * 5, "{:?}", one.keys());
}

#[test]
fn only_what_is_missing_is_run() {
    let folder = Folder::with(&[("sweep.toml", &scenario(100))]);
    let sweep = ["sweep", "sweep.toml", "-o", "out"];
    folder.haggle(&sweep);
    let before = folder.tree("out");
    assert_eq!(finished(&folder), 9);
    fs::remove_dir_all(folder.path().join(FIRST_RUN)).expect("the run is there");
    fs::remove_file(folder.path().join("out/runs.csv")).expect("the table is there");
    let shown = folder.haggle(&sweep);
    assert_eq!(stderr_of(&shown), "8 of 9 runs are done already\n");
    let after = folder.tree("out");
    let (kept, redone): (Vec<_>, Vec<_>) =
        differing(&before, &after).into_iter().partition(|name| !name.ends_with("timing.json"));
    assert_eq!(kept, [""; 0]);
    // Only the run that was made again has another duration.
    assert!(redone.iter().all(|name| format!("out/{name}").starts_with(FIRST_RUN)), "{redone:?}");
    let shown = folder.haggle(&[&sweep[..], &["--quiet"]].concat());
    assert_eq!(stderr_of(&shown), "");
    assert_eq!(differing(&after, &folder.tree("out")), [""; 0]);
}

/// Ends a sweep by `end` after its first run, and examines the remains and the result of the same
/// command.
fn stopped(end: impl FnOnce(std::process::Child) -> Option<String>) {
    let folder = Folder::with(&[("sweep.toml", &scenario(10_000))]);
    let sweep = ["sweep", "sweep.toml", "--jobs", "2", "-o", "out"];
    let child = folder.start(&sweep);
    // All runs of a variant share a folder, which exists before its first run ends.
    let variant = folder.path().join("out/policy=fcfs");
    wait_for(|| (1..=3).any(|seed| variant.join(format!("seed={seed}")).is_dir()));
    let said = end(child);
    let done = finished(&folder);
    assert!((1..9).contains(&done), "{done} runs were done before the sweep could be stopped");
    assert!(!folder.path().join("out/runs.csv").exists());
    if let Some(said) = said {
        insta::assert_snapshot!(said, @r#"
        exit code: 130
        ----- stdout -----
        ----- stderr -----

        stopping; press Ctrl-C again to stop at once
        interrupted: finished runs are kept

        hint: the same command continues with the others
        "#);
        let partial = folder.tree("out").into_keys().find(|name| name.contains(".partial"));
        assert_eq!(partial, None);
    }
    let shown = folder.haggle(&sweep);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert_eq!(stderr_of(&shown), format!("{done} of 9 runs are done already\n"));
    let whole = folder.haggle(&["sweep", "sweep.toml", "-o", "whole"]);
    assert!(whole.starts_with("exit code: 0\n"), "{whole}");
    assert_eq!(differing(&results(&folder, "out"), &results(&folder, "whole")), [""; 0]);
}

#[test]
#[cfg(unix)]
fn a_sweep_that_is_interrupted_goes_on() {
    stopped(|child| {
        crate::command::interrupt(&child);
        Some(ended(child))
    });
}

#[test]
fn a_sweep_that_is_killed_goes_on() {
    stopped(|mut child| {
        child.kill().expect("it runs");
        child.wait().expect("it has ended");
        None
    });
}

#[test]
fn results_of_something_else_are_kept() {
    let folder = Folder::with(&[("sweep.toml", &scenario(30))]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    let before = folder.tree("out");
    fs::write(folder.path().join("sweep.toml"), scenario(31)).expect("it can be written");
    insta::assert_snapshot!(folder.haggle(&["sweep", "sweep.toml", "-o", "out"]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `out/policy=fcfs/seed=1` holds results of another scenario, seed or version

    hint: name another folder with -o, or remove this one; `haggle sweep` does such runs again with --force
    "#);
    assert_eq!(differing(&before, &folder.tree("out")), [""; 0]);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--force"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    assert!(shown.contains("9 runs that were there are done again"), "{shown}");
    folder.haggle(&["sweep", "sweep.toml", "-o", "fresh"]);
    assert_eq!(folder.read("out/runs.csv"), folder.read("fresh/runs.csv"));
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--force"]);
    assert!(shown.contains("9 of 9 runs are done already"), "{shown}");
    fs::remove_file(folder.path().join("out/policy=fcfs/seed=1/provenance.json"))
        .expect("it can be removed");
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--force"]);
    assert!(shown.contains("is in the way: it does not hold a run"), "{shown}");
}

/// An axis loses a value: readers of all tables would still read its runs.
#[test]
fn runs_that_a_sweep_has_lost_are_removed_on_request() {
    let (three, two) = (scenario(30), scenario(30).replace("\"fcfs\", ", ""));
    let folder = Folder::with(&[("sweep.toml", &three)]);
    let path = |name: &str| folder.path().join(name);
    let sweep = ["sweep", "sweep.toml", "-o", "out"];
    folder.haggle(&sweep);
    fs::write(path("out/policy=fcfs/seed=2/notes.txt"), "mine").expect("it can be written");
    // A folder that looks like a run and is none.
    fs::create_dir_all(path("out/mine=1/seed=1")).expect("it can be made");
    fs::write(path("out/mine=1/seed=1/jobs.parquet"), "mine").expect("it can be written");
    fs::write(path("sweep.toml"), two).expect("it can be written");
    let shown = unwrapped(&folder.haggle(&sweep));
    let warning = "warning: `out` has 2 folders of runs that this sweep does not have, such as `policy=fcfs/seed=1`";
    assert!(shown.starts_with("exit code: 0") && shown.contains(warning), "{shown}");
    assert!(path(FIRST_RUN).exists(), "they are kept without --force");

    let forced = [&sweep[..], &["--force"]].concat();
    let shown = folder.haggle(&forced);
    let removed = "2 folders of runs that this sweep does not have removed: policy=fcfs/seed=1\n";
    assert!(shown.starts_with("exit code: 0") && shown.contains(removed), "{shown}");
    let kept = "`out/policy=fcfs/seed=2` is not a run of this sweep, and is kept because haggle did not write `notes.txt`";
    assert!(shown.contains(kept), "{shown}");
    assert_eq!(folder.names_in("out/policy=fcfs"), ["seed=2"]);
    assert_eq!(folder.names_in("out/policy=easy").len(), 3);
    assert_eq!(folder.read("out/mine=1/seed=1/jobs.parquet"), "mine");

    fs::remove_file(path("out/policy=fcfs/seed=2/notes.txt")).expect("it is there");
    let shown = folder.haggle(&forced);
    assert!(shown.contains("1 folder of runs"), "{shown}");
    assert!(!path("out/policy=fcfs").exists(), "the folder of the value is empty");
    let shown = folder.haggle(&forced);
    assert!(!stderr_of(&shown).contains("does not have"), "{shown}");
}

#[test]
fn packs_that_a_sweep_has_lost_are_removed_on_request() {
    let (three, two) = (scenario(30), scenario(30).replace(", \"conservative\"", ""));
    let folder = Folder::with(&[("sweep.toml", &three)]);
    let packed = ["sweep", "sweep.toml", "-o", "out", "--pack", "4"];
    folder.haggle(&packed);
    fs::write(folder.path().join("sweep.toml"), two).expect("it can be written");
    let shown = folder.haggle(&[&packed[..], &["--force"]].concat());
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    assert!(shown.contains("2 folders of runs that this sweep does not have removed"), "{shown}");
    let packs = folder.names_in("out").into_iter().filter(|name| name.starts_with("pack="));
    assert_eq!(packs.collect::<Vec<_>>(), ["pack=0", "pack=4"]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "fresh", "--pack", "4"]);
    assert_eq!(differing(&results(&folder, "out"), &results(&folder, "fresh")), [""; 0]);
}

#[test]
fn a_run_with_a_damaged_table_does_not_count_as_done() {
    let folder = Folder::with(&[("sweep.toml", &scenario(30))]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    let before = folder.tree("out");
    let table = folder.path().join(FIRST_RUN).join("jobs.parquet");
    let bytes = fs::read(&table).expect("it is there");
    fs::write(&table, &bytes[..bytes.len() / 2]).expect("it can be written");
    insta::assert_snapshot!(folder.haggle(&["sweep", "sweep.toml", "-o", "out"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `out/policy=fcfs/seed=1/jobs.parquet` is damaged: it is missing, or its size is another one than the run wrote

    hint: remove its folder, and the same command makes that run again
    "#);
    fs::remove_dir_all(folder.path().join(FIRST_RUN)).expect("it can be removed");
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let mut differing = differing(&before, &folder.tree("out"));
    differing.retain(|file| !file.ends_with("timing.json"));
    assert_eq!(differing, [""; 0]);
}

#[test]
fn a_folder_that_holds_no_run_is_in_the_way() {
    let folder = Folder::with(&[("sweep.toml", &scenario(30))]);
    fs::create_dir_all(folder.path().join(FIRST_RUN)).expect("it can be made");
    fs::write(folder.path().join(FIRST_RUN).join("notes"), "precious").expect("room for it");
    insta::assert_snapshot!(folder.haggle(&["sweep", "sweep.toml", "-o", "out"]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `out/policy=fcfs/seed=1` is in the way: it does not hold a run (no provenance.json in it)

    hint: name another folder with -o, or remove this one
    "#);
    assert_eq!(folder.tree("out").into_keys().count(), 1);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Folder::with(&[("sweep.toml", &scenario(30)), ("file", "")]);
    let sweep = ["sweep", "sweep.toml", "--jobs", "1", "-o", "file"];
    insta::assert_snapshot!(folder.haggle(&sweep), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: cannot write `file`: File exists (os error 17)
    "#);
    assert_eq!(folder.names(), ["file", "sweep.toml"]);
}

#[test]
fn a_run_that_fails_is_named() {
    let broken = VALID.replace("jobs = [{", "log = \"log.swf\"\n# [{");
    let sweep = format!("{broken}\n[sweep]\nreplications = 1\n");
    let folder = Folder::with(&[("sweep.toml", &sweep), ("log.swf", "1 2 3\n")]);
    insta::assert_snapshot!(folder.haggle(&["sweep", "sweep.toml", "-o", "out"]), @r#"
    exit code: 3
    ----- stdout -----
    1 run
    runs       out/runs.csv
    aggregate  out/aggregate.csv
    failed     out/failed.csv
    ----- stderr -----

    1 of 1 run failed:
      run 0 (seed=1): log.swf:1: expected 18 fields, found 3

    hint: the tables contain the other runs; the same command tries these again
    "#);
    let names = Vec::from_iter(folder.tree("out").into_keys());
    let left = [".sweep/failed/0.json", "aggregate.csv", "failed.csv", "runs.csv", "scenario.toml"];
    assert_eq!(names, left);
}

#[test]
fn a_scenario_without_axes_is_a_sweep_of_one() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    let shown = folder.haggle(&["sweep", "valid.toml", "-o", "out"]);
    assert!(stdout_of(&shown).starts_with("1 run\n"), "{shown}");
}

/// Without any job that ran there is nothing to draw, but the sweep still has its results.
#[test]
fn a_figure_without_data_is_left_out() {
    let too_wide = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 2, run = "1h" }]

[[provider]]
name = "north"
processors = 1

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[sweep.axis]]
path = "provider.north.policy"
values = ["fcfs", "easy"]

[[figure]]
kind = "lines"
metric = "mean-waiting-time"
x = "policy"
"#;
    let folder = Folder::with(&[("sweep.toml", too_wide)]);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let reason = "figure left out: lines.png: no run has \"mean_waiting_time\"";
    assert!(stderr_of(&shown).contains(reason), "{shown}");
    assert_eq!(folder.read("out/runs.csv").lines().count(), 3, "{shown}");
}

/// Figures of single runs belong into the folders of the runs. A note tells users to request them.
#[test]
fn figures_of_single_runs_are_drawn_when_asked_for() {
    let sweep = format!("{VALID}\n[[figure]]\nkind = \"gantt\"\n[sweep]\nreplications = 2\n");
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let reason = "figure left out: gantt.png shows one run: add --figures, or draw it from a \
                  run's folder\n";
    assert!(stderr_of(&shown).contains(reason), "{shown}");
    insta::assert_snapshot!(folder.haggle(&["plot", "out"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the scenario's figures show one run each

    hint: name the folder of a run, or a kind of figure, such as --kind lines
    "#);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "drawn", "--figures"]);
    assert!(!stderr_of(&shown).contains("left out"), "{shown}");
    assert!(folder.path().join("drawn/seed=1/gantt.png").exists(), "{shown}");
}

#[test]
fn figures_of_runs_that_cannot_be_drawn_are_named() {
    let figure = "[[figure]]\nkind = \"gantt\"\njobs = [\"jobs!9\"]\n";
    let sweep = format!("{VALID}\n{figure}[sweep]\nreplications = 2\n");
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    let reason =
        "figure left out: gantt.png: the run has no job jobs!9 (2 runs, the first is seed=1)\n";
    // The second time, the runs exist but their figures do not.
    for _ in 0..2 {
        let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--figures", "-q"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        assert_eq!(stderr_of(&shown), reason);
    }
    let part = ["sweep", "sweep.toml", "-o", "part", "--figures", "-q", "--part", "1/2"];
    let shown = folder.haggle(&part);
    let reason = "figure left out: gantt.png: the run has no job jobs!9 (run seed=1)\n";
    assert_eq!(stderr_of(&shown), reason);
}

#[test]
fn no_axis_has_the_name_of_another_column() {
    let axis = |name: &str, value: &str| {
        format!(
            "[[sweep.axis]]\nname = \"{name}\"\npath = \"workload.jobs.jobs.1.{value}\"\n\
             values = [\"80s\", \"81s\"]\n"
        )
    };
    let axes = [("makespan", "run"), ("mean", "requested"), ("message", "submit")];
    let axes: String = axes.iter().map(|(name, value)| axis(name, value)).collect();
    let folder = Folder::with(&[("sweep.toml", &format!("{VALID}\n[sweep]\n{axes}"))]);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "-q"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let first = "axis.makespan=80s/axis.mean=80s/axis.message=80s/seed=1/jobs.parquet";
    assert!(folder.path().join("out").join(first).exists());
    for (table, start) in [
        ("out/runs.csv", "run,seed,axis.makespan,axis.mean,axis.message,makespan,"),
        ("out/aggregate.csv", "axis.makespan,axis.mean,axis.message,metric,n,mean,"),
    ] {
        let text = folder.read(table);
        assert!(text.starts_with(start), "{text}");
        let columns: Vec<&str> = text.lines().next().expect("a head").split(',').collect();
        let different: std::collections::BTreeSet<&&str> = columns.iter().collect();
        assert_eq!(different.len(), columns.len(), "{columns:?}");
    }
}

/// The results do not show which of two axes sets a value that both set.
#[test]
fn axes_that_override_each_other_are_told() {
    let south = "[[provider]]\nname = \"south\"\nprocessors = 8\n";
    let said = |axes: &[(&str, &str)]| {
        let axis = |(number, (path, values)): (usize, &(&str, &str))| match values.is_empty() {
            true => format!("[[sweep.axis]]\nname = \"a{number}\"\n{path}\n"),
            false => format!(
                "[[sweep.axis]]\nname = \"a{number}\"\npath = \"{path}\"\nvalues = {values}\n"
            ),
        };
        let axes: String = axes.iter().enumerate().map(axis).collect();
        let text = format!("{VALID}\n{south}\n[sweep]\n{axes}");
        let folder = Folder::with(&[("sweep.toml", &text)]);
        folder.haggle(&["validate", "sweep.toml"])
    };
    let (all, north) = ("provider.*.speed", "provider.north.speed");
    let none = "axis \"a0\" has no effect: axis \"a1\" sets the same values";
    let some = "axis \"a1\" overrides a part of axis \"a0\": both set `provider.north.speed`";
    for axes in [
        &[(all, "[1.0, 2.0]"), (all, "[3.0, 4.0]")][..],
        &[(north, "[1.0, 2.0]"), (all, "[3.0, 4.0]")],
        &[
            ("provider.north.policy", "[{ name = \"easy\" }, { name = \"fcfs\" }]"),
            ("provider.north.policy.name", "[\"easy\", \"fcfs\"]"),
        ],
        &[
            (north, "[1.0, 2.0]"),
            (
                "variant = [{ name = \"b\", set = { \"provider.north.speed\" = 3.0 } }, \
                 { name = \"c\", set = { \"provider.*.speed\" = 4.0 } }]",
                "",
            ),
        ],
    ] {
        let shown = said(axes);
        assert!(shown.starts_with("exit code: 3\n") && shown.contains(none), "{shown}");
    }
    for axes in [
        &[(all, "[1.0, 2.0]"), (north, "[3.0, 4.0]")][..],
        &[
            (north, "[1.0, 2.0]"),
            (
                "variant = [{ name = \"b\" }, { name = \"c\", set = { \"provider.*.speed\" = 4.0 } }]",
                "",
            ),
        ],
    ] {
        let shown = said(axes);
        assert!(shown.starts_with("exit code: 0\n") && unwrapped(&shown).contains(some), "{shown}");
    }
    // Neither axis overrides the other.
    let apart = said(&[("provider.north.policy", "[\"easy\", \"fcfs\"]"), (all, "[1.0, 2.0]")]);
    assert!(!apart.contains("axis \""), "{apart}");
}

/// Figures are also drawn for runs that were done without them, and existing ones are not drawn
/// again.
#[test]
fn figures_of_runs_that_are_done_are_drawn_when_asked_for() {
    let sweep = format!("{VALID}\n[[figure]]\nkind = \"gantt\"\n[sweep]\nreplications = 2\n");
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    let with_figures = ["sweep", "sweep.toml", "-o", "out", "--figures"];
    folder.haggle(&with_figures[..4]);
    let without = results(&folder, "out");
    let shown = folder.haggle(&with_figures);
    let said = "2 of 2 runs are done already; figures that they lack are drawn\n";
    assert!(stderr_of(&shown).contains(said), "{shown}");
    let drawn = results(&folder, "out");
    let new = ["seed=1/gantt.png", "seed=2/gantt.png"];
    assert_eq!(differing(&without, &drawn), new, "{shown}");
    // A picture of the user stays.
    fs::write(folder.path().join("out/seed=1/gantt.png"), "mine").expect("it can be written");
    folder.haggle(&with_figures);
    assert_eq!(folder.read("out/seed=1/gantt.png"), "mine");
}

/// The summary of a run reports only settings without effect in this run, not in the sweep around
/// it.
#[test]
fn a_run_says_nothing_of_replications() {
    let listed = ONE_LOG_DAMAGED.replace("\"damaged.swf\", ", "");
    let folder = Folder::with(&[("sweep.toml", &listed), ("whole.swf", WHOLE_LOG)]);
    let sweep = ["sweep", "sweep.toml", "-o", "out"];
    let shown = folder.haggle(&sweep);
    let vain = "`replications` of the sweep has no effect";
    assert!(stderr_of(&shown).contains(vain), "{shown}");
    let told = folder.tree("out");
    let summaries = told.iter().filter(|(name, _)| name.ends_with("summary.json"));
    let summaries = Vec::from_iter(summaries.map(|it| String::from_utf8_lossy(it.1)));
    assert_eq!(summaries.len(), 2, "{shown}");
    assert!(summaries.iter().all(|text| !text.contains("replications")), "{summaries:?}");
}

/// The replications differ only by the latencies between two sites: milliseconds in minutes.
#[test]
fn intervals_that_say_nothing_are_warned_about() {
    let grid = r#"
[[workload]]
name = "flows"
model = "workflows"
workflows = { count = 1, files = ["one.json"] }

[[user]]
name = "users"
workload = "flows"
submits-to = "grid"

[grid]
policy = "workflow"
period = "0s"

[[grid.site]]
name = "alpha"
resources = 2
mips = 2

[[grid.site]]
name = "beta"
resources = 2
mips = 2

[[figure]]
kind = "bars"
metric = "makespan"
x = "prepare"

[sweep]
replications = 3

[[sweep.axis]]
name = "prepare"
path = "grid.prepare"
values = ["0s", "1s"]
"#;
    let task = r#"{"name": "one", "schemaVersion": "1.4", "workflow": {"tasks": [
        {"name": "a", "type": "compute", "runtimeInSeconds": 1000, "parents": [],
         "files": [{"link": "input", "name": "raw", "sizeInBytes": 100000000}]}]}}"#;
    let folder = Folder::with(&[("sweep.toml", grid), ("one.json", task)]);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    let warned = "the confidence intervals are below a thousandth of the means at 2 of 2 points";
    assert!(stderr_of(&shown).contains(warned), "{shown}");
    // The table has the metric of the figure.
    assert!(stdout_of(&shown).contains("makespan"), "{shown}");
}

#[test]
fn status_says_what_is_there_of_a_sweep_that_nobody_submitted() {
    let folder = Folder::with(&[("sweep.toml", &scenario(10))]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--part", "1/3"]);
    fs::create_dir_all(folder.path().join("out/policy=easy/.seed=2.partial")).expect("made");
    let status = ["sweep", "status", "out"];
    insta::assert_snapshot!(folder.haggle(&status), @r#"
    exit code: 0
    ----- stdout -----
    9 runs, not submitted to Slurm
      done            3
      failed          0
      begun           1  another command carries them out, or was stopped while doing so
      missing         5
    `haggle sweep SCENARIO -o DIR` carries out the others and sums up, with `--part K/N` a part of them
    ----- stderr -----
    "#);
    folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--pack", "4"]);
    insta::assert_snapshot!(stdout_of(&folder.haggle(&status)), @r#"
    9 runs, not submitted to Slurm
      done            9  in 3 packs
      failed          0
      begun           0
      missing         0
    summed up in runs.csv and aggregate.csv
    "#);
    let json = folder.haggle(&["sweep", "status", "out", "--json"]);
    assert!(json.contains("\"missing\": 0") && json.contains("\"summed_up\": true"), "{json}");
    let none = folder.haggle(&["sweep", "status", "sweep.toml"]);
    assert!(stderr_of(&none).contains("`sweep.toml` is not the folder of a sweep"), "{none}");
}

/// An axis may have the name of a grouping of one run's jobs.
#[test]
fn a_figure_of_one_run_is_none_of_a_sweep_whatever_its_axes_are_called() {
    let figure = "[[figure]]\nkind = \"waiting-ecdf\"\ngroup-by = \"workload\"\n";
    let axis = "[[sweep.axis]]\nname = \"workload\"\npath = \"scenario.seed\"\nvalues = [1, 2]\n";
    let folder = Folder::with(&[("sweep.toml", &format!("{VALID}\n{figure}\n{axis}"))]);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let reason = "figure left out: waiting-ecdf.png shows one run: add --figures";
    assert!(stderr_of(&shown).contains(reason), "{shown}");
}

/// One of two points has a damaged log.
pub(crate) const ONE_LOG_DAMAGED: &str = r#"
[[workload]]
name = "jobs"
log = "whole.swf"

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[sweep]
replications = 2

[[sweep.axis]]
name = "log"
path = "workload.jobs.log"
values = ["damaged.swf", "whole.swf"]
"#;

pub(crate) const WHOLE_LOG: &str =
    "; MaxProcs: 8\n1 0 -1 80 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n";

#[test]
fn a_run_that_fails_keeps_no_other_from_its_end() {
    let files =
        [("sweep.toml", ONE_LOG_DAMAGED), ("damaged.swf", "1 2 3\n"), ("whole.swf", WHOLE_LOG)];
    let folder = Folder::with(&files);
    let sweep = ["sweep", "sweep.toml", "-o", "out"];
    let shown = folder.haggle(&sweep);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    insta::assert_snapshot!(stderr_of(&shown), @r#"
      ⚠ `replications` of the sweep has no effect: no value is drawn, so all seeds give the same run
        ╭─[sweep.toml:16:16]
     16 │ replications = 2
        ·                ┬
        ·                ╰── not used
        ╰────
      help: remove it: all runs of a point would be copies of one

    sweep.toml: 1 warning
    warning: the replications are copies of one run at 1 of 1 points: the seed has no effect there, so no confidence interval is given; the workload steps `random-window`, `resample` and `shake` make others of a log

    2 of 4 runs failed:
      run 0 (log=damaged.swf/seed=1): damaged.swf:1: expected 18 fields, found 3
      run 1 (log=damaged.swf/seed=2): damaged.swf:1: expected 18 fields, found 3

    hint: the tables contain the other runs; the same command tries these again
    "#);
    insta::assert_snapshot!(folder.read("out/failed.csv"), @r#"
    run,seed,log,message
    0,1,damaged.swf,"damaged.swf:1: expected 18 fields, found 3"
    1,2,damaged.swf,"damaged.swf:1: expected 18 fields, found 3"
    "#);
    assert_eq!(folder.read("out/runs.csv").lines().count(), 3);
    assert!(folder.read("out/aggregate.csv").contains("whole.swf,jobs,2,1.0,"));
    let json = folder.haggle(&[&sweep[..], &["--json", "--quiet"]].concat());
    assert!(stdout_of(&json).contains("\"message\": \"damaged.swf:1: expected 18"), "{json}");
    // After the log is repaired, the same command completes all runs, and no trace of the error is
    // left.
    fs::write(folder.path().join("damaged.swf"), WHOLE_LOG).expect("it can be written");
    let shown = folder.haggle(&sweep);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert_eq!(folder.read("out/runs.csv").lines().count(), 5);
    let left: Vec<String> =
        folder.tree("out").into_keys().filter(|name| name.contains("failed")).collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn parts_and_their_merge_leave_what_one_machine_leaves() {
    let figure = "[[figure]]\nkind = \"lines\"\nmetric = \"mean-waiting-time\"\nx = \"policy\"\n";
    let folder = Folder::with(&[("sweep.toml", &format!("{}\n{figure}", scenario(100)))]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "whole"]);
    let part = |part: &str| folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--part", part]);
    insta::assert_snapshot!(part("2/4"), @r#"
    exit code: 0
    ----- stdout -----
    part 2/4: 2 runs of 9
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--merge"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: 7 of 9 runs are not there yet: the sweep is not summed up

    hint: `haggle sweep SCENARIO -o DIR` carries them out and sums up, without the runs of other commands
    "#);
    for other in ["1/4", "3/4", "4/4", "2/4"] {
        let shown = part(other);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    }
    let merges = [(); 2].map(|()| folder.start(&["sweep", "sweep.toml", "-o", "out", "--merge"]));
    for merge in merges {
        let shown = ended(merge);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    }
    assert_eq!(differing(&results(&folder, "out"), &results(&folder, "whole")), [""; 0]);
    insta::assert_snapshot!(part("5/4"), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value '5/4' for '--part <K/N>': write K/N, such as 3/10: part 3 of 10

    For more information, try '--help'.
    "#);
}
