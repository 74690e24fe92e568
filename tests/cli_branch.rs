//! Settings, jobs and failures that change while a run goes on, and branches of runs.

use std::collections::BTreeMap;

use crate::command::{Folder, refused, succeeds};

/// Two queues with their own users, and a metascheduler with random placement.
const BASE: &str = r#"
[scenario]
name = "base"

[[workload]]
name = "local"
model = "lublin-feitelson"
lublin = { jobs = 300, processors = 32, load = 0.9 }

[[workload.step]]
kind = "estimates"
rule = "uniform:5"

[[workload]]
name = "external"
model = "lublin-feitelson"
lublin = { jobs = 300, processors = 32, load = 0.5 }

[[user]]
name = "residents"
workload = "local"
submits-to = "north"

[[user]]
name = "guests"
workload = "external"
submits-to = "broker"

[[provider]]
name = "north"
processors = 32
policy = "fcfs"

[[provider]]
name = "south"
processors = 32
policy = "conservative"

[[metascheduler]]
name = "broker"
placement = "minimum-completion-time"

[results]
format = "csv"
messages = "all"
"#;

/// Four jobs for four processors. Under "fcfs", the narrow job waits for the wide one.
const SMALL: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 3, run = "100s", requested = "100s" },
    { submit = "1s", processors = 4, run = "50s", requested = "50s" },
    { submit = "2s", processors = 1, run = "30s", requested = "30s" },
]

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[provider]]
name = "north"
processors = 4
policy = "fcfs"

[results]
format = "csv"
"#;

/// All tables of a run.
fn tables(folder: &Folder, run: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = folder.tree(run);
    files.retain(|name, _| name.ends_with(".csv"));
    assert!(files.len() > 3, "{run}");
    files
}

/// The starts of the jobs of a run, in order of their numbers.
fn starts(folder: &Folder, run: &str) -> Vec<f64> {
    let text = folder.read(&format!("{run}/jobs.csv"));
    let mut lines = text.lines();
    let columns = Vec::from_iter(lines.next().expect("a header").split(','));
    let place = |name: &str| columns.iter().position(|column| *column == name).expect("a column");
    let (job, start) = (place("job"), place("starting_time"));
    let row = |line: &str| {
        let value = |place| line.split(',').nth(place).expect("a value");
        (value(job).parse::<u32>().expect("a number"), value(start).parse::<f64>().expect("a time"))
    };
    BTreeMap::from_iter(lines.map(row)).into_values().collect()
}

/// The messages of a run before an instant.
fn messages(folder: &Folder, run: &str, before: f64) -> Vec<String> {
    let text = folder.read(&format!("{run}/messages.csv"));
    let is_before = |line: &&str| {
        line.split(',')
            .next()
            .and_then(|time| time.parse().ok())
            .is_some_and(|time: f64| time < before)
    };
    text.lines().skip(1).filter(is_before).map(str::to_owned).collect()
}

#[test]
fn a_policy_that_changes_plans_the_queue_anew() {
    let folder = Folder::with(&[("small.toml", SMALL)]);
    succeeds(&folder, &["run", "small.toml", "-o", "base"]);
    assert_eq!(starts(&folder, "base"), [0.0, 100.0, 150.0]);
    for policy in ["easy", "conservative"] {
        let set = format!("provider.north.policy={policy}");
        let branch = ["branch", "base", "--at", "10s", "--set", &set, "-o", policy, "--check"];
        succeeds(&folder, &branch);
        // The narrow job passes the wide one at the instant of the change.
        assert_eq!(starts(&folder, policy), [0.0, 100.0, 10.0], "{policy}");
    }
    let late =
        ["branch", "base", "--at", "80s", "--set", "provider.north.policy=easy", "-o", "late"];
    succeeds(&folder, &late);
    assert_eq!(starts(&folder, "late"), [0.0, 100.0, 150.0], "it would delay the wide job");
}

#[test]
fn jobs_and_failures_join_from_an_instant_on() {
    let submit = "[[submit]]\nuser = \"users\"\njobs = [{ submit = \"20s\", processors = 4, run = \"10s\" }]\n";
    let folder = Folder::with(&[("small.toml", SMALL), ("more.toml", submit)]);
    succeeds(&folder, &["run", "small.toml", "-o", "base"]);
    let more = ["branch", "base", "--at", "20s", "--submit", "more.toml", "-o", "more", "--check"];
    succeeds(&folder, &more);
    assert_eq!(starts(&folder, "more"), [0.0, 100.0, 150.0, 180.0]);
    let fail =
        ["branch", "base", "--at", "20s", "--fail", "north:1@30s..120s", "-o", "fail", "--check"];
    succeeds(&folder, &fail);
    // The first job is lost at 30 s and goes ahead of all others; three processors are left for it.
    assert_eq!(starts(&folder, "fail"), [30.0, 130.0, 180.0]);
    let text = folder.read("fail/jobs.csv");
    assert!(text.contains("completed"), "{text}");
}

#[test]
fn failures_of_a_branch_come_beside_those_of_the_run() {
    let failing = format!(
        "{SMALL}[[failures]]\nof = [\"north\"]\nnodes = 2\noutages = [[\"40s\", \"60s\"]]\n"
    );
    let folder = Folder::with(&[("failing.toml", &failing)]);
    succeeds(&folder, &["run", "failing.toml", "-o", "base", "--check"]);
    // Two processors are down from 40 to 60 s. The first job is lost, and needs three of them again.
    assert_eq!(starts(&folder, "base"), [60.0, 160.0, 210.0]);
    let fail =
        ["branch", "base", "--at", "45s", "--fail", "north:3@50s..90s", "-o", "both", "--check"];
    succeeds(&folder, &fail);
    // The first two processors are down from 40 to 90 s, the third one from 50 s on.
    assert_eq!(starts(&folder, "both"), [90.0, 190.0, 240.0]);
}

#[test]
fn a_branch_is_the_run_itself_before_its_instant() {
    let folder = Folder::with(&[("base.toml", BASE)]);
    succeeds(&folder, &["run", "base.toml", "-o", "base", "--no-figures"]);
    let day = 86_400.0;
    let before = messages(&folder, "base", day);
    assert!(before.len() > 500, "only {}", before.len());
    for (number, change) in [
        &["--set", "provider.north.policy=easy"][..],
        &["--set", "provider.*.policy=fcfs", "--set", "metascheduler.broker.placement=random"],
        &["--set", "workload.external.lublin.load=0.9"],
        &["--set", "network.latency=1s", "--set", "user.*.patience=1h"],
        &[
            "--set",
            "provider.*.disclosure=load",
            "--set",
            "metascheduler.broker.placement=least-loaded",
        ],
        &["--set", "scenario.horizon=3d"],
        &["--set", "scenario.until=2d"],
        &["--fail", "north:16@1d..2d", "--fail", "south:1@30h"],
        &["--seed", "9"],
    ]
    .iter()
    .enumerate()
    {
        let results = format!("branch-{number}");
        let branch = ["branch", "base", "--at", "1d", "-o", &results, "--check", "--no-figures"];
        succeeds(&folder, &[&branch[..], change].concat());
        assert_eq!(messages(&folder, &results, day), before, "{change:?}");
        assert_ne!(tables(&folder, &results), tables(&folder, "base"), "{change:?}");
        // The results name the scenario that gives them again, on any driver and in parts.
        let scenario = format!("{results}/scenario.toml");
        for how in [&["--driver", "actix"][..], &["--snapshot-every", "5h"]] {
            let again = ["run", &scenario, "-o", "again", "--force", "--no-figures"];
            succeeds(&folder, &[&again[..], how].concat());
            assert_eq!(tables(&folder, "again"), tables(&folder, &results), "{change:?} {how:?}");
        }
    }
}

#[test]
fn a_change_to_the_same_value_changes_nothing_and_is_warned_about() {
    let folder = Folder::with(&[("base.toml", BASE)]);
    succeeds(&folder, &["run", "base.toml", "-o", "base", "--no-figures"]);
    let same =
        ["branch", "base", "--at", "1d", "--set", "provider.north.policy=fcfs", "-o", "same"];
    let shown = succeeds(&folder, &same);
    assert!(shown.contains("the change at 1d changes nothing"), "{shown}");
    assert_eq!(tables(&folder, "same"), tables(&folder, "base"));
}

#[test]
fn branches_of_a_sweep_share_their_beginning_and_have_the_results_of_single_runs() {
    let branches = r#"
[sweep]
replications = 2

[[branch]]
name = "easy"
at = "1d"
set = { "provider.north.policy" = "easy" }

[[branch]]
name = "outage"
at = "2d"

[[branch.failures]]
of = ["north"]
processors-per-node = 16
nodes = 1
outages = [["50h", "60h"]]

[[branch]]
name = "other"
at = "1d"
seed = 20
"#;
    let folder = Folder::with(&[("sweep.toml", &format!("{BASE}{branches}"))]);
    succeeds(&folder, &["sweep", "sweep.toml", "-o", "sweep"]);
    assert!(
        !folder.path().join("sweep/.sweep/trunks").exists(),
        "journals of a sweep that is over"
    );
    for branch in ["base", "easy", "outage", "other"] {
        let run = format!("sweep/branch={branch}/seed=2");
        let scenario = format!("{run}/scenario.toml");
        succeeds(&folder, &["run", &scenario, "-o", "alone", "--force", "--no-figures"]);
        assert_eq!(tables(&folder, "alone"), tables(&folder, &run), "{branch}");
    }
    let shown = succeeds(&folder, &["compare", "sweep", "--against", "branch=base"]);
    assert!(shown.contains("outage"), "{shown}");
    // A sweep that lost a run makes only this one again.
    let lost = folder.path().join("sweep/branch=other/seed=1");
    std::fs::remove_dir_all(&lost).expect("removed");
    let shown = succeeds(&folder, &["sweep", "sweep.toml", "-o", "sweep"]);
    assert!(shown.contains("7 of 8 runs are done already"), "{shown}");
    assert!(lost.exists());
}

/// The branch submits jobs, which are a workload of their own beside those of the start state.
#[test]
fn branches_share_their_beginning_with_a_start_state() {
    let state = r#"
[[provider.initial]]
processors = 2
run = "300s"
requested = "300s"
started-ago = "100s"
"#;
    let branch = r#"
[[branch]]
name = "more"
at = "50s"

[[branch.submit]]
user = "users"
jobs = [{ submit = "60s", processors = 1, run = "10s" }]
"#;
    let text = SMALL.replace("[results]", &format!("{state}\n[results]"));
    let folder = Folder::with(&[("sweep.toml", &format!("{text}{branch}"))]);
    let shown = succeeds(&folder, &["sweep", "sweep.toml", "-o", "sweep"]);
    // The user of the further jobs has other jobs, too; these are no second run.
    let more = shown.lines().find(|line| line.trim_start().starts_with("more "));
    assert_eq!(more.and_then(|line| line.split_whitespace().nth(1)), Some("1"), "{shown}");
    let run = "sweep/branch=more/seed=1";
    let scenario = format!("{run}/scenario.toml");
    succeeds(&folder, &["run", &scenario, "-o", "alone", "--check"]);
    assert_eq!(tables(&folder, "alone"), tables(&folder, run));
}

#[test]
fn futures_differ_only_after_the_instant() {
    let folder = Folder::with(&[("base.toml", BASE)]);
    succeeds(&folder, &["run", "base.toml", "-o", "base", "--no-figures"]);
    let shown =
        succeeds(&folder, &["branch", "base", "--at", "1d", "--runs", "3", "-o", "futures"]);
    assert!(shown.contains("3 runs"), "{shown}");
    let of = |future: u32| messages(&folder, &format!("futures/future={future}/seed=1"), f64::MAX);
    assert_ne!(of(2), of(3));
    let before = messages(&folder, "base", 86_400.0);
    assert_eq!(messages(&folder, "futures/future=4/seed=1", 86_400.0), before);
}

#[test]
fn a_branch_of_a_branch_has_both_changes() {
    let folder = Folder::with(&[("small.toml", SMALL)]);
    succeeds(&folder, &["run", "small.toml", "-o", "base"]);
    succeeds(&folder, &["branch", "base", "--at", "5s", "--fail", "north:1@90s", "-o", "one"]);
    let two = ["branch", "one", "--at", "10s", "--set", "provider.north.policy=easy", "-o", "two"];
    succeeds(&folder, &two);
    let scenario = folder.read("two/scenario.toml");
    assert_eq!(scenario.matches("[[change]]").count(), 2, "{scenario}");
    let earlier =
        ["branch", "two", "--at", "7s", "--set", "provider.north.policy=fcfs", "-o", "no"];
    let shown = refused(&folder, &earlier);
    assert!(shown.contains("the change before it is not earlier"), "{shown}");
}

/// One copy of a provider has a name in the folder of a run, and none in a file with `count`.
#[test]
fn a_copy_of_a_provider_changes_in_a_folder() {
    let copied = BASE.replace(
        "processors = 32\npolicy = \"fcfs\"",
        "processors = 32\npolicy = \"fcfs\"\ncount = 2",
    );
    let copied = copied.replace("submits-to = \"north\"", "submits-to = \"broker\"");
    let folder = Folder::with(&[("copied.toml", &copied)]);
    let set = "provider.north-2.policy=easy";
    let shown = refused(&folder, &["branch", "copied.toml", "--at", "1d", "--set", set]);
    assert!(shown.contains("\"north-2\" is one of the 2 copies of \"north\""), "{shown}");
    succeeds(&folder, &["run", "copied.toml", "-o", "base"]);
    succeeds(&folder, &["branch", "base", "--at", "1d", "--set", set, "-o", "one"]);
    let scenario = folder.read("one/scenario.toml");
    assert!(scenario.contains("\"provider.north-2.policy\" = \"easy\""), "{scenario}");
}

/// The running job would be stopped before time zero under the rule that holds from 20 s on.
#[test]
fn a_start_state_is_that_of_the_settings_at_time_zero() {
    let jobs =
        "initial = [{ processors = 1, run = \"9h\", requested = \"1h\", started-ago = \"2h\" }]";
    let list = SMALL
        .replace("policy = \"fcfs\"", &format!("policy = \"fcfs\"\noverrun = \"extend\"\n{jobs}"));
    let table = list.replace(jobs, "initial-file = \"jobs.csv\"");
    let csv = "processors,run,requested,started-ago\n1,9h,1h,2h\n";
    let folder = Folder::with(&[("list.toml", &list), ("table.toml", &table), ("jobs.csv", csv)]);
    for name in ["list", "table"] {
        let set = "provider.north.overrun=kill";
        let file = format!("{name}.toml");
        succeeds(&folder, &["branch", &file, "--at", "20s", "--set", set, "-o", name, "--check"]);
        assert_eq!(starts(&folder, name)[0], -7200.0, "{name}");
    }
    assert_eq!(folder.read("list/jobs.csv"), folder.read("table/jobs.csv"));
}

#[test]
fn figures_over_time_mark_changes() {
    let folder = Folder::with(&[("small.toml", SMALL)]);
    succeeds(&folder, &["run", "small.toml", "-o", "base"]);
    let set = "provider.north.policy=easy";
    succeeds(&folder, &["branch", "base", "--at", "10s", "--set", set, "-o", "easy"]);
    std::fs::remove_file(folder.path().join("easy/scenario.toml")).expect("it is there");
    for kind in ["gantt", "queue-length", "utilisation"] {
        let drawn = |runs: &[&str], more: &[&str]| {
            let options = ["--kind", kind, "-o", "figure.svg", "--force"];
            succeeds(&folder, &[&["plot"], runs, &options, more].concat());
            folder.read("figure.svg").lines().any(|line| line.trim() == "change")
        };
        assert!(drawn(&["base", "easy"], &[]), "{kind}");
        assert!(!drawn(&["base"], &[]), "{kind}");
        assert!(!drawn(&["base", "easy"], &["--from", "20s"]), "{kind}: it is outside");
    }
}

#[test]
fn changes_that_cannot_be_are_refused_with_the_reason() {
    let folder = Folder::with(&[
        ("small.toml", SMALL),
        ("empty.toml", ""),
        ("bad.toml", "[[submit]]\nuser = \"users\njobs = []\n"),
        ("other.toml", "jobs = []\n[[submit]]\nuser = \"users\"\njobs = []\n"),
    ]);
    succeeds(&folder, &["run", "small.toml", "-o", "base"]);
    for (change, reason) in [
        (&["--at", "5s", "--set", "provider.north.speed=2"][..], "`provider.speed` cannot change"),
        (&["--at", "5s", "--set", "provider.north.policy=edf"], "holds more than rigid jobs"),
        (
            &["--at", "5s", "--set", "results.format=parquet"],
            "results are about the run as a whole",
        ),
        (&["--at", "5s", "--set", "provider.none.policy=easy"], "matches no key"),
        (&["--at", "5s", "--set", "provider.north.policy=esay"], "easy"),
        (
            &["--at", "0s", "--set", "provider.north.policy=easy"],
            "a change at the start is no change",
        ),
        (&["--at", "5s"], "the branch changes nothing"),
        (&["--at", "5s", "--fail", "north:1@4s"], "an outage begins before the change"),
        (&["--at", "5s", "--fail", "north:1@9s..8s"], "before"),
        (&["--at", "5s", "--fail", "north@9s"], "write NAME:COUNT@FROM..UNTIL"),
        (&["--at", "5s", "--fail", "north:0@9s"], "write NAME:COUNT@FROM..UNTIL"),
        (&["--at", "5s", "--fail", "elsewhere:1@9s"], "no provider is called"),
        (
            &["--at", "5s", "--set", "scenario.until=4s"],
            "`scenario.until` would be before the change",
        ),
        (&["--at", "5s", "--set", "scenario.horizon=4s"], "`scenario.horizon` would be before"),
        (&["--at", "5s", "--submit", "empty.toml"], "the file has no [[submit]]"),
        (&["--at", "5s", "--submit", "bad.toml"], "bad.toml:2:1"),
        (&["--at", "5s", "--submit", "other.toml"], "other.toml:1:1"),
        (&["--at", "5s", "--submit", "none.toml"], "none.toml"),
        (&["--at", "5s", "--seed", "2", "--runs", "2"], "cannot be used with"),
        (&["--at", "5s", "--seed", "2", "-o", "base"], "would replace its base"),
    ] {
        let shown = refused(&folder, &[&["branch", "base"][..], change].concat());
        assert!(shown.contains(reason), "{change:?}: {shown}");
        assert!(!folder.path().join("base-at-5s").exists(), "{change:?}");
    }
}
