//! Jobs that follow others: in a list, by the fields of a log, by sessions and one at a time.

use crate::command::{Folder, refused, stderr_of, succeeds, unwrapped};

/// Submission, start and end of each job, by its number, and the reason of a rejection.
fn times(folder: &Folder) -> Vec<String> {
    let text = folder.read("out/jobs.csv");
    let mut lines = text.lines();
    let header = Vec::from_iter(lines.next().expect("a header").split(','));
    let wanted = ["job_id", "submission_time", "starting_time", "finish_time", "refusal"];
    let places = wanted.map(|it| header.iter().position(|name| *name == it).expect("a column"));
    let row = |line: &str| {
        let cells = Vec::from_iter(line.split(','));
        let cells = places.map(|place| cells[place].trim_end_matches(".0"));
        cells.join(" ").trim_end().to_owned()
    };
    let mut rows = Vec::from_iter(lines.map(row));
    rows.sort_by_key(|row| row.split(' ').next().and_then(|it| it.parse::<i64>().ok()));
    rows
}

fn ran(workload: &str, user: &str, log: &str) -> Vec<String> {
    let scenario = format!(
        "[[workload]]\nname = \"jobs\"\n{workload}\n\
         [[provider]]\nname = \"north\"\nprocessors = 4\npolicy = \"fcfs\"\n\
         [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"north\"\n{user}\n\
         [results]\nformat = \"csv\"\n"
    );
    let folder = Folder::with(&[("jobs.toml", &scenario), ("jobs.swf", log)]);
    succeeds(&folder, &["run", "jobs.toml", "-o", "out", "--check"]);
    succeeds(&folder, &["verify", "jobs.toml"]);
    times(&folder)
}

/// Four processors. Job 1 ends at 10, job 2 at 25 (it waits for processors). Job 3 follows both, after 5 s. Job 4 follows
/// job 3 and is ready 20 s after its submission in the list.
#[test]
fn listed_jobs_follow_others() {
    let jobs = r#"jobs = [
        { submit = "0s", processors = 3, run = "10s" },
        { submit = "1s", processors = 2, run = "15s" },
        { submit = "2s", processors = 4, run = "10s", after = [1, 2], think = "5s" },
        { submit = "3s", processors = 1, run = "10s", after = [3], ready = "23s" },
        { submit = "50s", processors = 1, run = "10s", after = [1] },
    ]"#;
    assert_eq!(
        ran(jobs, "", ""),
        ["1 0 0 10", "2 1 10 25", "3 30 30 40", "4 40 60 70", "5 50 50 60"]
    );
}

/// Job 1 is too wide, so it is rejected at once. Job 2 wants its failure, job 3 its completion, job 4 the end of job 3, job 5
/// the completion of job 2.
#[test]
fn ends_that_do_not_count_bar_jobs() {
    let jobs = r#"jobs = [
        { submit = "0s", processors = 9, run = "10s" },
        { submit = "0s", processors = 4, run = "10s", after = [1], on = "failure" },
        { submit = "0s", processors = 4, run = "10s", after = [1], on = "completion", think = "3s" },
        { submit = "0s", processors = 4, run = "10s", after = [3], on = "end" },
        { submit = "0s", processors = 4, run = "10s", after = [2], on = "completion" },
        { submit = "1s", processors = 4, run = "10s", after = [3, 2], on = "completion" },
    ]"#;
    let times = ran(jobs, "", "");
    assert_eq!(
        times,
        [
            "1 0   too_wide",
            "2 0 0 10",
            "3 0   parent_failed",
            "4 0 10 20",
            "5 10 20 30",
            "6 1   parent_failed"
        ]
    );
}

/// A user that withdraws a job lets its followers come.
#[test]
fn a_withdrawn_job_has_ended() {
    let jobs = r#"jobs = [
        { submit = "0s", processors = 4, run = "100s" },
        { submit = "0s", processors = 4, run = "10s" },
        { submit = "0s", processors = 4, run = "10s", after = [2], think = "1s" },
    ]"#;
    let times = ran(jobs, "patience = \"20s\"", "");
    assert_eq!(times[2], "3 21  41", "it is submitted at 21 s, and withdrawn at 41 s");
}

/// In the log, job 1 waited for 50 s. Here it starts at once, so the others come 50 s earlier.
#[test]
fn jobs_of_a_log_follow_others() {
    let log = "; MaxProcs: 4\n\
               1 0 50 100 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n\
               2 160 0 20 4 -1 -1 4 20 -1 1 1 1 1 1 1 1 10\n\
               3 170 0 20 1 -1 -1 1 20 -1 1 1 1 2 1 1 1 -1\n\
               4 400 0 20 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n";
    let step = |from: &str| {
        let step =
            format!("log = \"jobs.swf\"\n[[workload.step]]\nkind = \"dependencies\"\n{from}");
        ran(&step, "", log)
    };
    let by_log = step("from = \"log\"");
    assert_eq!(by_log, ["1 0 0 100", "2 110 110 130", "3 170 170 190", "4 400 400 420"]);
    let sessions = step("from = \"sessions\"\ngap = \"1min\"");
    assert_eq!(sessions, ["1 0 0 100", "2 110 110 130", "3 120 130 150", "4 400 400 420"]);
    // Jobs 1, 2 and 4 are of one application.
    let singles = step("from = \"singleton\"");
    assert_eq!(singles, ["1 0 0 100", "2 160 160 180", "3 170 180 200", "4 400 400 420"]);
}

#[test]
fn mistakes_in_dependencies_are_named() {
    let jobs = |job: &str| {
        format!(
            "jobs = [{{ submit = \"5s\", processors = 1, run = \"1s\" }}, {{ {job}, processors = 1, run = \"1s\" }}]"
        )
    };
    let step = |rest: &str| {
        format!("log = \"jobs.swf\"\n[[workload.step]]\nkind = \"dependencies\"\n{rest}")
    };
    for (workload, told) in [
        (jobs("submit = \"9s\", after = [3]"), "`after` names job 3, and there are jobs 1 to 2"),
        (jobs("submit = \"9s\", after = [0]"), "`after` names job 0"),
        (
            jobs("submit = \"1s\", after = [1]"),
            "job 2 follows job 1, which is not submitted before it",
        ),
        (jobs("submit = \"9s\", after = [2]"), "job 2 follows job 2"),
        (jobs("submit = \"9s\", after = [1, 1]"), "job 1 is named twice"),
        (jobs("submit = \"9s\", think = \"1s\""), "`think` is about the jobs in `after`"),
        (
            jobs("submit = \"9s\", after = [1]")
                + "\n[[workload.step]]\nkind = \"first\"\njobs = 1",
            "the step may drop or move jobs that others follow",
        ),
        (
            step("from = \"log\"\n[[workload.step]]\nkind = \"first\"\njobs = 1"),
            "behind `dependencies`",
        ),
    ] {
        let scenario = format!(
            "[[workload]]\nname = \"jobs\"\n{workload}\n[[provider]]\nname = \"north\"\nprocessors = 4\n\
             [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"north\"\n"
        );
        let folder = Folder::with(&[("jobs.toml", &scenario), ("jobs.swf", "; MaxProcs: 4\n")]);
        let shown = refused(&folder, &["validate", "jobs.toml"]);
        assert!(stderr_of(&shown).contains(told), "{told}: {shown}");
    }
}

const FIELDS: &str = "; MaxProcs: 4\n\
    1 0 50 100 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n\
    2 160 0 20 4 -1 -1 4 20 -1 1 1 1 1 1 1 1 10\n\
    3 170 0 20 1 -1 -1 1 20 -1 1 1 1 1 1 1 7 -1\n\
    4 400 0 20 1 -1 -1 1 20 -1 1 1 1 1 1 1 5 -1\n\
    5 500 0 20 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n";

fn of_log(step: &str, rest: &str) -> String {
    format!(
        "[[workload]]\nname = \"jobs\"\nlog = \"jobs.swf\"\n\
         [[workload.step]]\nkind = \"dependencies\"\n{step}\n\
         [[provider]]\nname = \"north\"\nprocessors = 4\npolicy = \"fcfs\"\n\
         [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"north\"\n\
         [results]\nformat = \"csv\"\n{rest}"
    )
}

/// Job 3 names a job that the log does not have, and job 4 one that comes later.
#[test]
fn preceding_jobs_that_are_not_found_are_warned_about() {
    let folder =
        Folder::with(&[("jobs.toml", &of_log("from = \"log\"", "")), ("jobs.swf", FIELDS)]);
    let shown = succeeds(&folder, &["run", "jobs.toml", "-o", "out", "--check"]);
    let text = "step 1 (\"dependencies\") of workload \"jobs\": 2 jobs name a preceding job that the workload does \
                not have before it, and follow none (job 3 after 7, 4 after 5)";
    assert!(unwrapped(&shown).contains(text), "{shown}");
    assert_eq!(folder.summary("out")["following"], serde_json::json!({ "jobs": 1, "held": 0 }));
}

/// An axis may have sources that do not read `gap`. Without an axis, there is a warning.
#[test]
fn a_sweep_varies_the_source() {
    let step = "from = \"sessions\"\ngap = \"1min\"";
    let axis = "[[sweep.axis]]\npath = \"workload.jobs.step.1.from\"\n\
                values = [\"log\", \"sessions\", \"singleton\"]\n";
    let alone = of_log(&step.replace("sessions", "singleton"), "");
    let folder = Folder::with(&[
        ("sweep.toml", &of_log(step, axis)),
        ("alone.toml", &alone),
        ("jobs.swf", FIELDS),
    ]);
    let shown = succeeds(&folder, &["validate", "sweep.toml"]);
    assert!(!shown.contains("gap"), "{shown}");
    succeeds(&folder, &["sweep", "sweep.toml", "-o", "sweep"]);
    let second = |from: &str| {
        let jobs = folder.read(&format!("sweep/from={from}/seed=1/jobs.csv"));
        let row = jobs.lines().find(|line| line.starts_with("2,")).expect("job 2").to_owned();
        row.split(',').nth(3).map(str::to_owned)
    };
    let at = |time: &str| Some(time.to_owned());
    assert_eq!(
        ["log", "sessions", "singleton"].map(second),
        [at("110.0"), at("110.0"), at("160.0")]
    );
    let shown = unwrapped(&succeeds(&folder, &["validate", "alone.toml"]));
    let text = "`gap` of step \"dependencies\" of workload \"jobs\" has no effect: only sessions have a longest think time";
    assert!(shown.contains(text), "{shown}");
}

/// Job 1 ends at 10 s. Job 2 follows it and runs at the horizon, 60 s, so job 3 is held. Job 4 follows job 1 after a think
/// time that is not over then. Job 5 wants the failure of job 1, so it is never submitted.
#[test]
fn preceding_jobs_are_explained() {
    let text = "[scenario]\nhorizon = \"60s\"\n[[workload]]\nname = \"jobs\"\njobs = [\n\
        { submit = \"0s\", processors = 4, run = \"10s\" },\n\
        { submit = \"1s\", processors = 1, run = \"90s\", after = [1], think = \"5s\" },\n\
        { submit = \"2s\", processors = 1, run = \"10s\", after = [1, 2] },\n\
        { submit = \"3s\", processors = 1, run = \"10s\", after = [1], think = \"2min\" },\n\
        { submit = \"4s\", processors = 1, run = \"10s\", after = [1], on = \"failure\" },\n]\n\
        [[provider]]\nname = \"north\"\nprocessors = 4\n\
        [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"north\"\n[results]\nformat = \"csv\"\n";
    let folder = Folder::with(&[("jobs.toml", text)]);
    let shown = succeeds(&folder, &["run", "jobs.toml", "-o", "out", "--check"]);
    let held = "2 jobs were not submitted when the run stopped: jobs that they follow had not ended, or think times were not \
                over";
    assert!(unwrapped(&shown).contains(held), "{shown}");
    succeeds(&folder, &["verify", "jobs.toml"]);
    assert_eq!(folder.summary("out")["following"], serde_json::json!({ "jobs": 4, "held": 2 }));
    let explained = |job: &str| succeeds(&folder, &["explain", "out", job]);
    let second = explained("jobs!2");
    assert!(second.contains("submitted by users to north after the end of job 1"), "{second}");
    let third = explained("jobs!3");
    assert!(third.contains("follows job 2 of its workload"), "{third}");
    assert!(
        third.contains("still held by its user when the run stopped: not submitted"),
        "{third}"
    );
    assert!(third.contains("held by its user: it follows another job"), "{third}");
    let fourth = explained("jobs!4");
    assert!(fourth.contains("follows job 1 of its workload"), "{fourth}");
    let fifth = explained("jobs!5");
    assert!(fifth.contains("follows job 1 of its workload"), "{fifth}");
    let barred = "Job 1, which it follows, ended otherwise than its `on` asks for.";
    assert!(fifth.contains(barred), "{fifth}");
    let first = explained("jobs!1");
    assert!(!first.contains("follows"), "{first}");
}

/// A grid with one resource. Jobs 2 and 3 follow job 1; job 3 has no slot when the run stops, but it was submitted.
#[test]
fn a_job_that_waits_for_a_slot_is_not_held() {
    let text = "[scenario]\nhorizon = \"60s\"\n[[workload]]\nname = \"jobs\"\njobs = [\n\
        { submit = \"0s\", processors = 1, run = \"10s\" },\n\
        { submit = \"1s\", processors = 1, run = \"90s\", after = [1] },\n\
        { submit = \"2s\", processors = 1, run = \"90s\", after = [1] },\n]\n\
        [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"grid\"\n\
        [grid]\npolicy = \"fjbcr\"\nperiod = \"0s\"\ninformation = { mode = \"immediate\" }\n\
        [[grid.site]]\nname = \"alpha\"\nresources = 1\n[results]\nformat = \"csv\"\n";
    let folder = Folder::with(&[("jobs.toml", text)]);
    succeeds(&folder, &["run", "jobs.toml", "-o", "out", "--check"]);
    assert_eq!(folder.summary("out")["following"], serde_json::json!({ "jobs": 2, "held": 0 }));
    let third = succeeds(&folder, &["explain", "out", "jobs!3"]);
    assert!(third.contains("submitted by users to grid after the end of job 1"), "{third}");
    assert!(!third.contains("held"), "{third}");
}
