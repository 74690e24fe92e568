//! Jobs that follow others: in a list, by the fields of a log, by sessions and one at a time.

use crate::command::{Folder, refused, stderr_of, succeeds};

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
        (step("from = \"log\"\ngap = \"1s\""), "`gap` is the longest think time of sessions"),
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
