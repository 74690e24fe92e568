//! The workloads of a scenario, opened by name: sources, steps, mergers, draws.

use std::path::{Path, PathBuf};

use haggle::experiment::workload::Workloads;
use haggle::scenario::{Experiment, Logs, Source};
use haggle_model::Job;

use crate::command::Folder;

/// Jobs 1 to 4 of users 1 and 2, one each ten seconds from 100 s on.
const LOG: &str = "; MaxProcs: 8
1 100 -1 60 2 -1 -1 2 90 -1 1 1 -1 -1 -1 -1 -1 -1
2 110 -1 60 4 -1 -1 4 90 -1 1 2 -1 -1 -1 -1 -1 -1
3 120 -1 0 8 -1 -1 8 90 -1 1 1 -1 -1 -1 -1 -1 -1
4 130 -1 60 1 -1 -1 1 90 -1 1 2 -1 -1 -1 -1 -1 -1
";

const ACTORS: &str = r#"
[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

fn workloads(folder: &Path, text: &str, seed: u64) -> Workloads {
    let source = Source::new(folder.join("test.toml"), format!("{text}{ACTORS}"));
    let experiment = Experiment::read(source, Logs::MustExist).unwrap_or_else(|e| panic!("{e}"));
    Workloads::new(&experiment.scenario, folder, seed).unwrap_or_else(|e| panic!("{e}"))
}

fn jobs(workloads: &Workloads, name: &str) -> Vec<Job> {
    let open = workloads.open(name).unwrap_or_else(|e| panic!("{e}"));
    open.jobs.map(|job| job.expect("the log is sound")).collect()
}

/// The jobs as (place of the workload in the scenario, number, submission in seconds).
fn check(text: &str, expected: &[(u16, i64, i64)]) {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let jobs = jobs(&workloads(folder.path(), text, 1), "jobs");
    let found: Vec<_> = jobs
        .iter()
        .map(|job| (job.workload, job.number, job.submit.as_micros() / 1_000_000))
        .collect();
    assert_eq!(found, expected);
    let ids: Vec<usize> = jobs.iter().map(|job| job.id.0 as usize).collect();
    assert_eq!(ids, (0..jobs.len()).collect::<Vec<_>>());
}

#[test]
fn a_log_starts_at_its_first_job() {
    check(
        "[[workload]]\nname = \"jobs\"\nlog = \"log.swf\"\n",
        &[(0, 1, 0), (0, 2, 10), (0, 3, 20), (0, 4, 30)],
    );
}

#[test]
fn rules_differ_from_their_preset_where_they_say_so() {
    let text = "[[workload]]\nname = \"jobs\"\nlog = \"log.swf\"\n\
                rules = { preset = \"canonical\", origin = \"log\" }\n";
    check(text, &[(0, 1, 100), (0, 2, 110), (0, 4, 130)]);
}

#[test]
fn steps_are_done_in_order() {
    let steps = |steps: [&str; 2]| {
        format!(
            "[[workload]]\nname = \"jobs\"\nlog = \"log.swf\"\nstep = [{}, {}]\n",
            steps[0], steps[1]
        )
    };
    let first = "{ kind = \"first\", jobs = 2 }";
    let filter = "{ kind = \"filter\", users = [2] }";
    check(&steps([first, filter]), &[(0, 2, 10)]);
    check(&steps([filter, first]), &[(0, 2, 10), (0, 4, 30)]);
}

#[test]
fn a_list_may_be_written_in_any_order() {
    let text = r#"
[[workload]]
name = "jobs"
jobs = [
  { submit = "9s", processors = 1, run = "1s" },
  { submit = "2s", processors = 1, run = "1s" },
]
"#;
    check(text, &[(0, 2, 2), (0, 1, 9)]);
}

#[test]
fn a_merger_keeps_where_jobs_came_from_and_stops_in_time() {
    let text = r#"
[scenario]
until = "20s"

[[workload]]
name = "jobs"
merge = ["late", "log"]
step = [{ kind = "filter", processors-max = 4 }]

[[workload]]
name = "log"
log = "log.swf"

[[workload]]
name = "late"
jobs = [
  { submit = "10s", processors = 1, run = "1s" },
  { submit = "19s", processors = 5, run = "1s" },
  { submit = "20s", processors = 1, run = "1s" },
]
"#;
    check(text, &[(1, 1, 0), (2, 1, 10), (1, 2, 10)]);
}

#[test]
fn logs_that_users_need_are_inputs() {
    let folder = Folder::with(&[("log.swf", LOG), ("other.swf", LOG)]);
    let text = r#"
workload = [
  { name = "jobs", merge = ["a", "b"] },
  { name = "a", log = "log.swf" },
  { name = "b", log = "log.swf" },
  { name = "unused", log = "other.swf" },
]
"#;
    let expected: Vec<(String, PathBuf)> =
        vec![("log.swf".to_owned(), folder.path().join("log.swf"))];
    assert_eq!(workloads(folder.path(), text, 1).inputs(), expected);
}

const DRAWN: &str = r#"
[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 50, processors = 8 }
step = [{ kind = "estimates", rule = "uniform:5" }]
"#;

#[test]
fn independent_jobs_come_as_their_laws_say() {
    let text = r#"
[[workload]]
name = "jobs"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "constant", value = "1min" }
jobs = 5
length = "3min"
batch = { law = "constant", value = 2 }
run = { law = "constant", value = "1h" }
"#;
    check(text, &[(0, 1, 60), (0, 2, 60), (0, 3, 120), (0, 4, 120)]);
    let fewer = text.replace("jobs = 5", "jobs = 3");
    check(&fewer, &[(0, 1, 60), (0, 2, 60), (0, 3, 120)]);
}

#[test]
fn draws_depend_on_seed_and_name_only() {
    let folder = Folder::with(&[]);
    let drawn = |text: &str, seed| jobs(&workloads(folder.path(), text, seed), "jobs");
    let reference = drawn(DRAWN, 7);
    assert_eq!(drawn(DRAWN, 7), reference);
    assert_ne!(drawn(DRAWN, 8), reference);
    let other = DRAWN.replace("\"jobs\"\nmodel", "\"other\"\nmodel");
    assert_eq!(drawn(&format!("{DRAWN}{other}"), 7), reference);
    let workloads = workloads(folder.path(), &format!("{DRAWN}{other}"), 7);
    assert_ne!(jobs(&workloads, "other"), reference);
}

#[test]
fn errors_name_the_workload() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let text = "[[workload]]\nname = \"jobs\"\nlog = \"log.swf\"\n";
    let workloads = workloads(folder.path(), text, 1);
    let refusal = |name| workloads.open(name).err().map(|error| error.to_string());
    assert_eq!(refusal("others").as_deref(), Some("no workload is called \"others\""));
    std::fs::remove_file(folder.path().join("log.swf")).expect("the log was there");
    let expected = format!(
        "workload \"jobs\": {}: cannot open the log: No such file or directory (os error 2)",
        folder.path().join("log.swf").display()
    );
    assert_eq!(refusal("jobs"), Some(expected));
}
