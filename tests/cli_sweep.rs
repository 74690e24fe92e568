//! `haggle sweep`: many runs, in whatever order and however often it was stopped.

use std::collections::BTreeMap;
use std::fs;

use crate::cli_run::wait_for;
use crate::command::{Folder, VALID, ended, stderr_of, stdout_of};

/// Three policies under three seeds each.
fn scenario(jobs: u32) -> String {
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

const FIRST_RUN: &str = "out/scenario=policy-fcfs/seed=1";

/// All files but those that say how long it took.
fn results(folder: &Folder, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut tree = folder.tree(name);
    tree.retain(|name, _| !name.ends_with("timing.json"));
    tree
}

/// Names of files that differ or are in one only: less to print than the files.
fn differing(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
    names.filter(|name| a.get(*name) != b.get(*name)).cloned().collect()
}

/// The run folders that have their final name, each of which must be whole.
fn finished(folder: &Folder) -> usize {
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
    runs.csv
    scenario.toml
    scenario=policy-conservative
    scenario=policy-easy
    scenario=policy-fcfs
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
        aggregate.lines().filter(|row| row.contains("policy") || row.contains(",jobs,")).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    policy,metric,n,mean,std,ci95
    fcfs,jobs,3,30.0,0.0,0.0
    easy,jobs,3,30.0,0.0,0.0
    conservative,jobs,3,30.0,0.0,0.0
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
        (of(",provider."), of(",class."), of(",mean_waiting_time,"))
    };
    let (of_two, of_classes, of_all) = providers(2);
    assert!(of_two > 0 && of_classes > 0);
    assert_eq!(of_all, 3, "a row for each policy");
    assert_eq!(providers(65), (0, of_classes, 3));
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
    // How long it took differs in the run that was made again, and in no other.
    assert!(redone.iter().all(|name| format!("out/{name}").starts_with(FIRST_RUN)), "{redone:?}");
    let shown = folder.haggle(&[&sweep[..], &["--quiet"]].concat());
    assert_eq!(stderr_of(&shown), "");
    assert_eq!(differing(&after, &folder.tree("out")), [""; 0]);
}

/// Ends a sweep by `end` once its first run is done, and looks at what is left and what comes
/// of the same command.
fn stopped(end: impl FnOnce(std::process::Child) -> Option<String>) {
    let folder = Folder::with(&[("sweep.toml", &scenario(10_000))]);
    let sweep = ["sweep", "sweep.toml", "--jobs", "2", "-o", "out"];
    let child = folder.start(&sweep);
    // All runs of a variant share a folder, which is there before its first run is done.
    let variant = folder.path().join("out/scenario=policy-fcfs");
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
        interrupted: the runs that are done are kept

        hint: the same command goes on with the others
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
    error: `out/scenario=policy-fcfs/seed=1` holds results of another scenario, seed or version

    hint: name another folder with -o, or remove this one
    "#);
    assert_eq!(differing(&before, &folder.tree("out")), [""; 0]);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--force"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    assert!(shown.contains("9 runs that were there are done again"), "{shown}");
    folder.haggle(&["sweep", "sweep.toml", "-o", "fresh"]);
    assert_eq!(folder.read("out/runs.csv"), folder.read("fresh/runs.csv"));
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--force"]);
    assert!(shown.contains("9 of 9 runs are done already"), "{shown}");
    fs::remove_file(folder.path().join("out/scenario=policy-fcfs/seed=1/provenance.json"))
        .expect("it can be removed");
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--force"]);
    assert!(shown.contains("is in the way: it does not hold a run"), "{shown}");
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
    error: `out/scenario=policy-fcfs/seed=1/jobs.parquet` is damaged: it is missing, or its size is another one than the run wrote

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
    error: `out/scenario=policy-fcfs/seed=1` is in the way: it does not hold a run (no provenance.json in it)

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
    in run 0 (scenario=policy-fcfs/seed=1):
    error: cannot write `file/scenario=policy-fcfs/.seed=1.partial`: Not a directory (os error 20)
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
      run 0 (scenario=sweep/seed=1): log.swf:1: expected 18 fields, found 3

    hint: the tables are of the others; the same command tries these again
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

/// Where nothing ran there is nothing to draw, and the sweep has its results all the same.
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
    let reason = "figure left out: no run has \"mean_waiting_time\"";
    assert!(stderr_of(&shown).contains(reason), "{shown}");
    assert_eq!(folder.read("out/runs.csv").lines().count(), 3, "{shown}");
}

/// They belong into the folders of the runs, and who forgets to ask for them is told.
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

    hint: name the folder of a run, or say what to draw, such as --kind lines
    "#);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "drawn", "--figures"]);
    assert!(!stderr_of(&shown).contains("left out"), "{shown}");
    assert!(folder.path().join("drawn/scenario=sweep/seed=1/gantt.png").exists(), "{shown}");
}

/// An axis may be called as what the jobs of one run are grouped by.
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

/// Of two points, one has a log that is damaged.
const ONE_LOG_DAMAGED: &str = r#"
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

const WHOLE_LOG: &str = "; MaxProcs: 8\n1 0 -1 80 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n";

#[test]
fn a_run_that_fails_keeps_no_other_from_its_end() {
    let files =
        [("sweep.toml", ONE_LOG_DAMAGED), ("damaged.swf", "1 2 3\n"), ("whole.swf", WHOLE_LOG)];
    let folder = Folder::with(&files);
    let sweep = ["sweep", "sweep.toml", "-o", "out"];
    let shown = folder.haggle(&sweep);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    insta::assert_snapshot!(stderr_of(&shown), @r#"
      ⚠ `replications` of the sweep has no effect: nothing here is drawn, so the seed changes nothing
        ╭─[sweep.toml:16:16]
     16 │ replications = 2
        ·                ┬
        ·                ╰── not used
        ╰────
      help: remove it: all runs of a point would be copies of one

    sweep.toml: 1 warning
    warning: the replications are copies of one run at 1 of 1 points: the seed changes nothing there, so no confidence interval is given; the workload steps `random-window`, `resample` and `shake` make others of a log

    2 of 4 runs failed:
      run 0 (scenario=log-damaged.swf/seed=1): damaged.swf:1: expected 18 fields, found 3
      run 1 (scenario=log-damaged.swf/seed=2): damaged.swf:1: expected 18 fields, found 3

    hint: the tables are of the others; the same command tries these again
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
    // Once the log is repaired the same command has all, and no trace is left of what was wrong.
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
    error: 7 of 9 runs are not there yet: nothing is summed up

    hint: `haggle sweep SCENARIO -o DIR` carries them out and sums up; what another command is carrying out it leaves alone
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

#[test]
fn summaries_alone_give_the_same_sums() {
    let folder = Folder::with(&[("sweep.toml", &scenario(100))]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "whole"]);
    let small = ["sweep", "sweep.toml", "-o", "out", "--summaries-only"];
    let shown = folder.haggle(&small);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    for table in ["runs.csv", "aggregate.csv", "scenario=policy-fcfs/seed=1/summary.json"] {
        assert_eq!(folder.read(&format!("out/{table}")), folder.read(&format!("whole/{table}")));
    }
    insta::assert_snapshot!(folder.names_in(FIRST_RUN).join("\n"), @r#"
    provenance.json
    scenario.toml
    summary.json
    timing.json
    "#);
    // By the digests of the tables that are gone the runs are known to be the same.
    let shown = folder.haggle(&["compare", "out", "whole"]);
    assert!(shown.contains("9 runs in both: 9 identical, 0 different"), "{shown}");
    let shown = folder.haggle(&small);
    assert_eq!(stderr_of(&shown), "9 of 9 runs are done already\n");
    insta::assert_snapshot!(folder.haggle(&small[..4]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `out/scenario=policy-fcfs/seed=1` has no tables: only its summary was kept

    hint: name another folder with -o, or remove this one
    "#);
    insta::assert_snapshot!(folder.haggle(&["verify", FIRST_RUN]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `out/scenario=policy-fcfs/seed=1` has no tables: only its summary was kept

    hint: verify its scenario
    "#);
    insta::assert_snapshot!(folder.haggle(&["explain", FIRST_RUN, "1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `out/scenario=policy-fcfs/seed=1` has neither resources.parquet nor resources.csv
    "#);
    let shown = folder.haggle(&[&small[..4], &["--force"]].concat());
    assert!(stderr_of(&shown).contains("9 runs that were there are done again"), "{shown}");
    assert_eq!(differing(&results(&folder, "out"), &results(&folder, "whole")), [""; 0]);
}

#[test]
fn packs_are_read_as_folders_are() {
    let figure = "[[figure]]\nkind = \"lines\"\nmetric = \"messages\"\nx = \"policy\"\n";
    let reference = "[sweep]\nreference = { policy = \"fcfs\" }";
    let text = format!("{}\n{figure}", scenario(300).replace("[sweep]", reference));
    let folder = Folder::with(&[("sweep.toml", &text)]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "whole"]);
    let pack = ["sweep", "sweep.toml", "-o", "packed", "--pack", "4"];
    let shown = folder.haggle(&pack);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let names = folder.names_in("packed");
    insta::assert_snapshot!(names.join("\n"), @r#"
    aggregate.csv
    lines.png
    pack=0
    pack=4
    pack=8
    runs.csv
    scenario.toml
    "#);
    insta::assert_snapshot!(folder.names_in("packed/pack=4").join("\n"), @r#"
    attempts.parquet
    disclosures.parquet
    failures.parquet
    jobs.parquet
    messages.parquet
    offers.parquet
    pack.json
    placements.parquet
    resources.parquet
    runs.parquet
    timing.json
    "#);
    for file in ["runs.csv", "aggregate.csv", "lines.png"] {
        let bytes = |place: &str| fs::read(folder.path().join(place).join(file)).expect("a file");
        assert!(bytes("packed") == bytes("whole"), "{file}");
    }
    let shown = folder.haggle(&pack);
    assert_eq!(stderr_of(&shown), "9 of 9 runs are done already\n");
    let shown = folder.haggle(&["compare", "packed", "whole"]);
    assert!(shown.contains("9 runs in both: 9 identical, 0 different"), "{shown}");
    let within = |place: &str| folder.haggle(&["compare", place, "--against", "policy=fcfs"]);
    assert_eq!(within("packed").replace("packed", "whole"), within("whole"));
    // A run is named as if it had a folder.
    let run = "scenario=policy-easy/seed=3";
    for command in ["show RUN", "explain RUN 7", "verify RUN", "compare RUN RUN", "show --json RUN"]
    {
        let of = |place: &str| {
            let words = command.replace("RUN", &format!("{place}/{run}"));
            folder.haggle(&words.split(' ').collect::<Vec<_>>()).replace(place, "SWEEP")
        };
        assert!(of("packed").starts_with("exit code: 0\n"), "{}", of("packed"));
        assert_eq!(of("packed"), of("whole"), "{command}");
    }
    for place in ["packed", "whole"] {
        let image = format!("{place}.png");
        let run = format!("{place}/{run}");
        let shown = folder.haggle(&["plot", &run, "--kind", "gantt", "--title", "", "-o", &image]);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    }
    let image = |name: &str| fs::read(folder.path().join(name)).expect("it was drawn");
    assert!(image("packed.png") == image("whole.png"));
    let shown = folder.haggle(&["plot", &format!("packed/{run}"), "--kind", "gantt"]);
    assert!(stderr_of(&shown).contains("is in a pack, and has no folder to draw into"), "{shown}");
}

#[test]
fn packs_are_whole_or_made_again() {
    let folder = Folder::with(&[("sweep.toml", &scenario(100))]);
    let whole = |place: &str| folder.haggle(&["sweep", "sweep.toml", "-o", place, "--pack", "4"]);
    whole("whole");
    let part = |part: &str| {
        folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--pack", "4", "--part", part])
    };
    insta::assert_snapshot!(part("2/2"), @r#"
    exit code: 0
    ----- stdout -----
    part 2/2: 4 runs of 9
    ----- stderr -----
    "#);
    assert!(part("1/2").starts_with("exit code: 0\n"));
    assert!(whole("out").starts_with("exit code: 0\n"));
    let of_packs = |place: &str| results(&folder, place);
    assert_eq!(differing(&of_packs("out"), &of_packs("whole")), [""; 0]);
    let table = folder.path().join("out/pack=4/jobs.parquet");
    let bytes = fs::read(&table).expect("it is there");
    fs::write(&table, &bytes[..bytes.len() / 2]).expect("it can be written");
    insta::assert_snapshot!(whole("out"), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `out/pack=4/jobs.parquet` is damaged: it is missing, or its size is another one than the run wrote

    hint: remove its folder, and the same command makes that run again
    "#);
    let again = ["sweep", "sweep.toml", "-o", "out", "--pack", "4", "--force"];
    assert!(folder.haggle(&again).starts_with("exit code: 0\n"));
    assert_eq!(differing(&of_packs("out"), &of_packs("whole")), [""; 0]);
    let other = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--pack", "3"]);
    assert!(stderr_of(&other).contains("has packs of another size (pack=4)"), "{other}");
    let csv = ["sweep", "sweep.toml", "-o", "csv", "--pack", "--set", "results.format=csv"];
    assert!(stderr_of(&folder.haggle(&csv)).contains("packed tables are Parquet"));
    // A run that fails is left out of its pack, and makes it again.
    fs::write(folder.path().join("sweep.toml"), ONE_LOG_DAMAGED).expect("it can be written");
    fs::write(folder.path().join("whole.swf"), WHOLE_LOG).expect("it can be written");
    fs::write(folder.path().join("damaged.swf"), "1 2 3\n").expect("it can be written");
    assert!(whole("logs").starts_with("exit code: 3\n"));
    assert_eq!(folder.read("logs/failed.csv").lines().count(), 3);
    fs::write(folder.path().join("damaged.swf"), WHOLE_LOG).expect("it can be written");
    assert!(whole("logs").starts_with("exit code: 0\n"));
    assert_eq!(folder.read("logs/runs.csv").lines().count(), 5);
    // The path of its log starts from where its folder would be.
    let run = |place: &str| format!("{place}/scenario=log-whole.swf/seed=2");
    folder.haggle(&["sweep", "sweep.toml", "-o", "plain/below"]);
    let shown = folder.haggle(&["compare", &run("logs"), &run("plain/below")]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(shown.contains("the scenarios are the same"), "{shown}");
}

/// A folder with what stands for Slurm's commands: what they were told is in `told`. Tasks are carried out
/// by a real Slurm in `tests/slurm/check.sh`.
#[cfg(unix)]
fn with_slurm(scenario: &str) -> Folder {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&[("sweep.toml", scenario), ("queue", "")]);
    fs::create_dir(folder.path().join("bin")).expect("it can be made");
    let script = |name: &str, text: &str| {
        let path = folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    };
    script(
        "scontrol",
        "case $2 in config) echo 'MaxArraySize = 4'; echo 'MaxJobCount = 8' ;; *) echo NodeHostName=$HOSTS ;; esac",
    );
    script("sbatch", "echo sbatch \"$@\" >>told; wc -l <told");
    script("squeue", "cat queue");
    script("scancel", "echo scancel \"$@\" >>told");
    folder
}

/// `haggle` where Slurm seems to be, and its nodes are these.
#[cfg(unix)]
fn on_site(folder: &Folder, hosts: &str, arguments: &[&str]) -> String {
    folder.haggle_under(&format!("export PATH=$PWD/bin:$PATH HOSTS={hosts}"), arguments)
}

#[test]
#[cfg(unix)]
fn a_sweep_is_submitted_once_and_then_resumed() {
    let folder = with_slurm(&scenario(30));
    let slurm = |more: &[&str]| {
        let sweep = ["sweep", "sweep.toml", "-o", "out", "--slurm"];
        on_site(&folder, "localhost", &[&sweep[..], more].concat())
    };
    insta::assert_snapshot!(slurm(&["--chunk", "1"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the runs would be 9 tasks, and the site takes 7 jobs of yours at once

    hint: give tasks more time with --time, or more runs with --chunk
    "#);
    insta::assert_snapshot!(slurm(&["--chunk", "2", "--time", "90s", "--", "--mem=1G"]), @r#"
    exit code: 0
    ----- stdout -----
    9 runs in 5 tasks: job 1, 2; summed up by job 3
    haggle sweep status out  # how far it is
    ----- stderr -----
    "#);
    let told = folder.read("told").replace(&folder.path().display().to_string(), "PLACE");
    insta::assert_snapshot!(told, @r#"
    sbatch --parsable --array=0-3 --job-name=haggle-sweep --output=PLACE/out/.sweep/slurm/log/%A_%a --requeue --open-mode=append --time=1:30 --mem=1G PLACE/out/.sweep/slurm/1-0.sh
    sbatch --parsable --array=0-0 --job-name=haggle-sweep --output=PLACE/out/.sweep/slurm/log/%A_%a --requeue --open-mode=append --time=1:30 --mem=1G PLACE/out/.sweep/slurm/1-4.sh
    sbatch --parsable --dependency=afterany:1:2 --job-name=haggle-sweep-sum --output=PLACE/out/.sweep/slurm/log/%j --requeue --open-mode=append --time=1:30 --mem=1G PLACE/out/.sweep/slurm/1-sum.sh
    "#);
    let note = folder.read("out/.sweep/slurm/1.json");
    assert!(
        note.contains("\"0-1\",\n    \"2-3\",\n    \"4-5\",\n    \"6-7\",\n    \"8\""),
        "{note}"
    );
    fs::write(folder.path().join("queue"), "1_0|RUNNING\n1_1|PENDING\n1_2|TIMEOUT\n3|PENDING\n")
        .expect("it can be written");
    let first =
        on_site(&folder, "localhost", &["sweep", "sweep.toml", "-o", "out", "--part", "1/9"]);
    assert!(first.starts_with("exit code: 0\n"), "{first}");
    let status = on_site(&folder, "localhost", &["sweep", "status", "out"]);
    let status: Vec<&str> = status.lines().filter(|line| !line.starts_with("about ")).collect();
    insta::assert_snapshot!(status.join("\n"), @r#"
    exit code: 0
    ----- stdout -----
    9 runs
      done            1
      failed          0
      running         1  in 1 task
      pending         2
      left            5  no task will do them (tasks that ended: TIMEOUT 1, forgotten 2)
    summed up by job 3: it waits
    --slurm --resume submits those that are left and those that failed
    ----- stderr -----
    "#);
    insta::assert_snapshot!(slurm(&["--resume"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: jobs of this sweep wait or run: 1, 3

    hint: `haggle sweep status out` says how far it is; `haggle sweep cancel` ends them
    "#);
    insta::assert_snapshot!(on_site(&folder, "localhost", &["sweep", "cancel", "out"]), @r#"
    exit code: 0
    ----- stdout -----
    2 jobs cancelled; the runs that are done are kept
    ----- stderr -----
    "#);
    assert_eq!(folder.read("told").lines().last(), Some("scancel 1 3"));
    fs::write(folder.path().join("queue"), "").expect("it can be written");
    insta::assert_snapshot!(slurm(&[]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: this sweep was submitted before

    hint: `haggle sweep status out` says how far it is; --resume submits what is missing or failed
    "#);
    let shown = slurm(&["--resume"]);
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    8 runs in 1 task: job 5; summed up by job 6
    haggle sweep status out  # how far it is
    ----- stderr -----
    "#);
}

#[test]
#[cfg(unix)]
fn what_cannot_go_to_a_cluster_is_said_before_anything_is_submitted() {
    let folder = with_slurm(&scenario(30));
    let sweep = ["sweep", "sweep.toml", "-o", "/dev/shm/haggle-not-shared", "--slurm"];
    let shown = on_site(&folder, "n1", &sweep);
    let _ = fs::remove_dir_all("/dev/shm/haggle-not-shared");
    assert!(shown.contains("is on `/dev/shm` (tmpfs), which other nodes do not see"), "{shown}");
    let none = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--slurm"]);
    if !none.starts_with("exit code: 0") {
        assert!(none.contains("scontrol"), "{none}");
    }
    let task = ["sweep", "sweep.toml", "-o", "out", "--task", "1/0"];
    let shown = folder.haggle_under("export SLURM_ARRAY_TASK_ID=0", &task);
    assert!(shown.contains("has no such task on this node"), "{shown}");
    assert!(folder.haggle(&task).contains("this is no task of a job array"));
    assert!(!folder.path().join("told").exists());
}

/// What runs on a node is what was submitted, or nothing.
#[test]
#[cfg(unix)]
fn a_task_carries_out_its_chunk_of_what_was_submitted() {
    let folder = with_slurm(&scenario(30));
    let sweep = ["sweep", "sweep.toml", "-o", "out", "--slurm", "--chunk", "5"];
    assert!(on_site(&folder, "localhost", &sweep).starts_with("exit code: 0\n"));
    let task = |number: u32| {
        let task = ["sweep", "sweep.toml", "-o", "out", "--task", "1/0"];
        folder.haggle_under(&format!("export SLURM_ARRAY_TASK_ID={number}"), &task)
    };
    assert_eq!(task(1), "exit code: 0\n----- stdout -----\n----- stderr -----\n");
    assert_eq!(finished(&folder), 4);
    fs::write(folder.path().join("sweep.toml"), scenario(31)).expect("it can be written");
    assert!(task(0).contains("the scenario has changed since the sweep was submitted"));
    fs::write(folder.path().join("sweep.toml"), scenario(30)).expect("it can be written");
    let note = folder.path().join("out/.sweep/slurm/1.json");
    let text = fs::read_to_string(&note).expect("it is there");
    fs::write(&note, text.replacen("\"program\": \"", "\"program\": \"0", 1)).expect("writable");
    assert!(task(0).contains("on this node is not the program that submitted"));
    assert_eq!(finished(&folder), 4);
}
