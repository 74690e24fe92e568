//! Every job of every kind of run has a story, and its parts add up to its times, to the
//! microsecond. The tables of every kind of run match their digest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use haggle::experiment::explain::{Chronicle, Part, Story};
use haggle::experiment::run::{Conduct, Destination, Figures, Keep, Unwatched, run};
use haggle::scenario::{Experiment, Logs, Source};
use haggle_results::{Existing, RunReader};
use haggle_runtime::Driver;

use crate::command::Folder;
use crate::scenarios_in_the_repository::{extended, needs_logs, scenarios, shortened};

fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

/// Runs the first run of a scenario into a folder.
pub(crate) fn ran(scenario: &Path, output: &Path) -> PathBuf {
    let source = Source::read(scenario).expect("it can be read");
    let folder = source.folder().to_owned();
    let experiment = Experiment::read(source, Logs::MustExist).expect("it has no mistakes");
    let first = experiment.runs().next().expect("there is one");
    let destination = Destination {
        folder: output.to_owned(),
        end: None,
        keep: Keep::Tables,
        existing: Existing::Replace,
        figures: Figures::Skip,
    };
    let stop = AtomicBool::new(false);
    let conduct = Conduct {
        driver: Driver::Sequential,
        stop: &stop,
        watch: &Unwatched,
        check: true,
        warnings: &[],
    };
    run(&first.scenario(), &folder, Some(&destination), &conduct).expect("it comes to its end");
    output.to_owned()
}

/// Tells the stories of all jobs of a run; returns the kinds of jobs and parts that occurred.
fn adds_up(folder: &Path) -> BTreeSet<String> {
    let run = RunReader::open(folder).expect("the folder is there");
    let digest = run.digest().expect("its tables can be read");
    assert_eq!(digest, run.provenance().expect("it is there").digest, "{}", folder.display());
    let all = Chronicle::read(&run).expect("its tables can be read");
    let mut met = BTreeSet::new();
    // A large run is sampled: some hundred of its jobs.
    let step = 1 + all.jobs().len() / 500;
    for (place, job) in all.jobs().iter().step_by(step).enumerate() {
        let story = all.story(job);
        if place % 16 == 0 {
            let alone = Chronicle::of(&run, std::slice::from_ref(job), true).expect("its rows");
            assert_eq!(alone.story(job), story, "read alone, of {}", folder.display());
        }
        let (waiting, running) = (micros(story.waiting()), micros(story.running()));
        let of = format!("{} of {}: {:?}", job.job, folder.display(), story.parts);
        let spent = micros(job.left) - micros(job.submit);
        assert_eq!(waiting + running, spent, "time of job {of}");
        if let Some(expected) = job.waiting_time {
            assert_eq!(waiting, micros(expected), "waiting time of job {of}");
        }
        assert!(story.parts.iter().all(|it| it.waiting >= 0.0 && it.running >= 0.0), "{of}");
        if let Some(it) = story.workflow.as_ref().filter(|it| !it.path.is_empty()) {
            // The path covers the time from the submission of the workflow without a gap.
            let mut told = micros(job.submit);
            for step in &it.path {
                assert_eq!(micros(step.ready), told, "the way to job {of}");
                told += step.parts.iter().map(|it| micros(it.waiting + it.running)).sum::<i64>();
                assert_eq!(micros(step.left), told, "the way to job {of}");
            }
            met.extend((it.path.len() > 2).then(|| "way".to_owned()));
        }
        met.extend(kinds(&story));
    }
    met
}

fn kinds(story: &Story) -> Vec<String> {
    let mut kinds = vec![format!("{} {}", story.shape, story.outcome)];
    kinds.extend(story.parts.iter().map(|it| format!("{:?}", it.part)));
    kinds.extend((story.attempts.len() > 1).then(|| "attempts".to_owned()));
    kinds.extend((story.is_on_grid() && story.attempts.len() > 1).then(|| "attempts".to_owned()));
    kinds.extend((story.shares.len() > 1).then(|| "shares".to_owned()));
    kinds.extend((!story.lost_tasks.is_empty()).then(|| "lost tasks".to_owned()));
    kinds
}

/// The command prints the story of one job of each kind.
fn is_told(folder: &Folder, name: &str) {
    let run = RunReader::open(&folder.path().join(name)).expect("the folder is there");
    let all = Chronicle::read(&run).expect("its tables can be read");
    let mut met = BTreeSet::new();
    for job in all.jobs() {
        if met.insert((&job.shape, &job.outcome, job.attempts > 1, job.providers_used > 1)) {
            let number = job.job.to_string();
            let said = folder.haggle(&["explain", name, &number, "--messages"]);
            assert!(said.starts_with("exit code: 0\n"), "job {number} of {name}: {said}");
            assert!(said.ends_with("----- stderr -----\n"), "job {number} of {name}: {said}");
        }
    }
}

#[test]
fn in_every_scenario_that_needs_no_logs() {
    // A scenario that extends another one is similar to it, so it is skipped.
    let alone = |it: &&PathBuf| !needs_logs(it) && extended(it).is_none();
    for scenario in scenarios().iter().filter(alone) {
        let folder = shortened(scenario.parent().expect("it lies in a folder"));
        let name = scenario.file_name().expect("it has a name");
        let met = adds_up(&ran(&folder.path().join(name), &folder.path().join("out")));
        assert!(met.contains("Computing"), "{}: {met:?}", scenario.display());
        is_told(&folder, "out");
    }
}

/// Schedulers that are down for a part of the time.
const CRASHES: &str = r#"transport = "reliable"
retransmission-timeout = "10s"

[[failures]]
actors = ["north", "broker", "guests"]
law = { up = { law = "exponential", mean = "2h" }, down = { law = "exponential", mean = "10min" } }
"#;

/// Rigid jobs at providers that fail; the seed chooses the options.
fn providers(seed: usize) -> String {
    let pick = |of: &[&'static str]| of[seed % of.len()];
    let on_failure = pick(&[
        "on-failure = \"restart\"",
        "on-failure = \"requeue\"",
        "on-failure = \"resume\"\ncheckpoints = { interval = \"10min\", cost = \"20s\", recovery = \"30s\" }",
        "on-failure = \"fail\"",
        "on-failure = \"restart\"\nmax-attempts = 2",
    ]);
    let policy = pick(&["easy", "conservative", "fcfs"]);
    let latency = pick(&["0s", "3s"]);
    let patience = pick(&["", "patience = \"2h\"", ""]);
    let horizon = pick(&["horizon = \"2d\"", "horizon = \"8h\""]);
    let crashes = pick(&["", CRASHES, CRASHES]);
    format!(
        r#"
[scenario]
seed = {seed}
{horizon}

[[workload]]
name = "own"
model = "lublin-feitelson"
lublin = {{ jobs = 60, processors = 16, load = 0.9 }}

[[workload]]
name = "others"
model = "lublin-feitelson"
lublin = {{ jobs = 60, processors = 32, load = 0.8 }}

[[provider]]
name = "north"
processors = 16
policy = "{policy}"
{on_failure}

[[provider]]
name = "south"
processors = 24
speed = 1.5
policy = "easy"

[[metascheduler]]
name = "broker"
placement = "minimum-completion-time"

[[user]]
name = "owners"
workload = "own"
submits-to = "north"
{patience}

[[user]]
name = "guests"
workload = "others"
submits-to = "broker"

[network]
latency = "{latency}"
{crashes}

[[failures]]
of = ["north", "south"]
processors-per-node = 4
law = {{ up = {{ law = "weibull", shape = 0.8, scale = "3h" }}, down = {{ law = "exponential", mean = "20min" }} }}

[results]
messages = "none"
"#
    )
}

/// Bags at providers that fail.
fn bags(seed: usize) -> String {
    let pick = |of: &[&'static str]| of[seed % of.len()];
    let policy = pick(&["edf", "bags", "edf"]);
    let composition = pick(&["offers-plb", "offers-no-lb"]);
    let horizon = pick(&["", "horizon = \"10h\""]);
    let attempts = pick(&["", "max-attempts = 2", ""]);
    format!(
        r#"
[scenario]
seed = {seed}
{horizon}

[[workload]]
name = "bags"
model = "lublin-feitelson"
lublin = {{ jobs = 40, processors = 24, load = 0.7 }}

[[workload.step]]
kind = "deadlines"
of = "requested-time"
one-of = ["1h", "1d"]

[[workload.step]]
kind = "bags"

[[provider]]
name = "north"
processors = 16
policy = "{policy}"
disclosure = "offers"
{attempts}

[[provider]]
name = "south"
processors = 8
policy = "{policy}"
disclosure = "offers"

[[metascheduler]]
name = "broker"
composition = "{composition}"

[[user]]
name = "guests"
workload = "bags"
submits-to = "broker"

[[failures]]
of = ["north"]
processors-per-node = 4
law = {{ up = {{ law = "exponential", mean = "4h" }}, down = {{ law = "exponential", mean = "30min" }} }}
"#
    )
}

/// A grid that fails, under one of its policies.
fn grid(seed: usize) -> String {
    let policies = [
        "policy = \"fjbcr\"",
        "policy = \"migration\"\ncheckpoints = { rule = \"periodic\", interval = \"20min\", cost = \"30s\" }",
        "policy = { name = \"combined-ft\", replicas = { max = 3, room = 4 } }\ncheckpoints = { rule = \"mean-failure\", interval = \"20min\" }",
        "policy = \"rescheduling\"\ncheckpoints = { rule = \"periodic\", interval = \"20min\" }",
        "policy = { name = \"load-dependent-rep\", replicas = { max = 3, room = 4 } }",
    ];
    let policy = policies[seed % policies.len()];
    let horizon = ["1d", "6h"][seed / 2 % 2];
    format!(
        r#"
[scenario]
seed = {seed}
horizon = "{horizon}"

[[workload]]
name = "jobs"
model = "independent-jobs"
data = {{ input = "50 MB", output = "20 MB", checkpoint = "30 MB" }}

[workload.independent-jobs]
between = {{ law = "exponential", mean = "10min" }}
length = "1d"
run = {{ law = "uniform", low = "10min", high = "3h" }}

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"
patience = "5h"

[grid]
period = "5min"
information = {{ mode = "delayed", delay = "2min" }}
{policy}

[[grid.site]]
name = "alpha"
resources = 4

[[grid.site]]
name = "beta"
resources = 2
mips = 2

[[failures]]
law = {{ up = {{ law = "exponential", mean = "4h" }}, down = {{ law = "exponential", mean = "40min" }}, start = "stationary" }}
"#
    )
}

/// A grid that fails, with workflows whose tasks wait for their parents.
fn workflows(seed: usize) -> String {
    let policy = ["workflow", "balanced-workflow", "static-workflow"][seed % 3];
    let horizon = ["1d", "6h"][seed / 3 % 2];
    format!(
        r#"
[scenario]
seed = {seed}
horizon = "{horizon}"

[[workload]]
name = "flows"
model = "workflows"

[workload.workflows]
count = 6
width = 4
work = "2h"

[[user]]
name = "users"
workload = "flows"
submits-to = "grid"
patience = "5h"

[grid]
policy = "{policy}"

[[grid.site]]
name = "alpha"
resources = 5
mips = 1

[[failures]]
law = {{ up = {{ law = "exponential", mean = "4h" }}, down = {{ law = "exponential", mean = "40min" }} }}
"#
    )
}

/// Providers that fail, with workflows whose data move between them.
fn flows(seed: usize) -> String {
    let on_failure = ["restart", "requeue", "fail"][seed % 3];
    let horizon = ["5d", "20h"][seed / 3 % 2];
    let sharing = ["", "sharing = \"max-min\""][seed % 2];
    format!(
        r#"
[scenario]
seed = {seed}
horizon = "{horizon}"

[network]
latency = "2s"
bandwidth = "1 Mbit/s"
{sharing}
transport = "reliable"

[[workload]]
name = "flows"
model = "workflows"
workflows = {{ count = 4, shape = "montage", tasks = 20, recorded-mips = 100, processors-max = 5 }}

[[user]]
name = "users"
workload = "flows"
submits-to = "broker"
patience = "9h"

[[metascheduler]]
name = "broker"
placement = "round-robin"

[[provider]]
name = "north"
processors = 4
policy = "easy"
on-failure = "{on_failure}"

[[provider]]
name = "south"
processors = 6
policy = "conservative"
on-failure = "{on_failure}"

[[failures]]
law = {{ up = {{ law = "exponential", mean = "6h" }}, down = {{ law = "exponential", mean = "40min" }} }}

[[failures]]
actors = ["users", "broker", "north"]
law = {{ up = {{ law = "exponential", mean = "8h" }}, down = {{ law = "exponential", mean = "20min" }} }}
"#
    )
}

/// Runs a scenario for each seed; all `expected` kinds must occur.
fn random(scenario: impl Fn(usize) -> String, expected: &[&str]) {
    let mut met = BTreeSet::new();
    for seed in 0..15 {
        let folder = Folder::with(&[("it.toml", &scenario(seed))]);
        let path = folder.path();
        met.extend(adds_up(&ran(&path.join("it.toml"), &path.join("out"))));
        is_told(&folder, "out");
    }
    for kind in expected {
        assert!(met.contains(*kind), "{kind} is not in {met:?}");
    }
}

#[test]
fn of_rigid_jobs_in_random_runs() {
    let parts =
        ["Placing", "Busy", "Order", "Down", "SchedulerDown", "Lost", "Checkpoints", "Computing"];
    let outcomes = ["rigid completed", "rigid cancelled", "rigid failed", "rigid unfinished"];
    random(providers, &[&parts[..], &outcomes, &["attempts"]].concat());
}

#[test]
fn of_bags_in_random_runs() {
    random(bags, &["bag completed", "bag unfinished", "Order", "Lost", "shares", "lost tasks"]);
}

#[test]
fn of_jobs_of_grids_in_random_runs() {
    let parts = ["Busy", "Round", "Transfers", "Lost", "Checkpoints", "Computing", "attempts"];
    random(grid, &[&parts[..], &["rigid completed", "rigid unfinished"]].concat());
}

#[test]
fn of_tasks_in_random_runs() {
    let parts = ["NotReady", "Busy", "Round", "Lost", "Computing", "attempts", "way"];
    random(workflows, &[&parts[..], &["rigid completed", "rigid unfinished"]].concat());
}

#[test]
fn of_tasks_of_providers_in_random_runs() {
    let parts = ["Placing", "NotReady", "Busy", "Order", "Down", "SchedulerDown", "Transfers"];
    let others = ["Lost", "Computing", "attempts", "way", "rigid rejected", "rigid failed"];
    random(flows, &[&parts[..], &others, &["rigid completed", "rigid unfinished"]].concat());
}

#[test]
fn parts_have_one_word_each() {
    let words = [Part::NotReady, Part::Busy].map(|part| serde_json::json!(part));
    assert_eq!(words, ["not_ready", "busy"]);
}
