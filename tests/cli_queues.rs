//! Queues, accounts and priorities of providers.

use crate::command::{Folder, unwrapped};

/// A machine of 4 processors. The first user has run much, and both users have jobs that wait.
const SHARED: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 4, run = "10min", requested = "10min", user = 1, group = 1 },
    { submit = "10s", processors = 4, run = "5min", requested = "5min", user = 1, group = 1 },
    { submit = "20s", processors = 4, run = "5min", requested = "5min", user = 2, group = 2 },
]

[[provider]]
name = "site"
processors = 4
policy = "easy"

[[provider.account]]
name = "physics"
groups = [1]

[[provider.account]]
name = "biology"
groups = [2]

[provider.priority]
weights = { fair-share = 1000 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"
"#;

/// Cells of a column of the table of jobs, in the order of the jobs.
fn column(folder: &Folder, run: &str, name: &str) -> Vec<String> {
    let table = folder.read(&format!("{run}/jobs.csv"));
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let names = rows.headers().expect("a line of names").clone();
    let place = |name: &str| names.iter().position(|it| it == name).expect("a column");
    let (job, wanted) = (place("job"), place(name));
    let row = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.expect("a row");
        (row[job].parse::<u32>().expect("a number"), row[wanted].to_owned())
    };
    let mut all = Vec::from_iter(rows.records().map(row));
    all.sort();
    all.into_iter().map(|it| it.1).collect()
}

fn run(folder: &Folder, name: &str) {
    let (file, check) = (format!("{name}.toml"), "--check");
    for command in [&["run", &file, "-o", name, check, "--format", "csv"][..], &["verify", &file]] {
        let told = folder.haggle(command);
        assert!(told.starts_with("exit code: 0"), "{told}");
    }
}

#[test]
fn users_with_less_usage_go_first() {
    let plain = SHARED.replace("[provider.priority]\nweights = { fair-share = 1000 }\n", "");
    let replan = r#"policy = { name = "conservative", compression = "replan" }"#;
    let replan = SHARED.replace(r#"policy = "easy""#, replan);
    let folder =
        Folder::with(&[("shared.toml", SHARED), ("plain.toml", &plain), ("replan.toml", &replan)]);
    for name in ["shared", "plain", "replan"] {
        run(&folder, name);
    }
    assert_eq!(column(&folder, "plain", "starting_time"), ["0.0", "600.0", "900.0"]);
    assert_eq!(column(&folder, "shared", "starting_time"), ["0.0", "900.0", "600.0"]);
    assert_eq!(column(&folder, "replan", "starting_time"), ["0.0", "900.0", "600.0"]);
}

/// The queue for short jobs takes one job of each user at a time, and none longer than ten minutes.
const LIMITED: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 1, run = "5min", requested = "10min", user = 1, queue = 2 },
    { submit = "0s", processors = 1, run = "5min", requested = "10min", user = 1, queue = 2 },
    { submit = "0s", processors = 1, run = "5min", requested = "10min", user = 2, queue = 2 },
    { submit = "0s", processors = 1, run = "5min", requested = "11min", user = 3, queue = 2 },
    { submit = "0s", processors = 1, run = "5min", user = 3, queue = 2 },
    { submit = "0s", processors = 1, run = "5min", requested = "1h", user = 3 },
    { submit = "0s", processors = 1, run = "5min", requested = "1h", user = 3, queue = 7 },
]

[[provider]]
name = "site"
processors = 8
policy = "fcfs"

[[provider.queue]]
name = "long"
number = 1

[[provider.queue]]
name = "short"
number = 2
longest = "10min"
user-limits = { running = 1 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"
"#;

#[test]
fn limits_let_jobs_wait_or_refuse_them() {
    let folder = Folder::with(&[("limited.toml", LIMITED)]);
    run(&folder, "limited");
    let starts = column(&folder, "limited", "starting_time");
    assert_eq!(starts, ["0.0", "300.0", "0.0", "", "", "0.0", ""]);
    let refusals = column(&folder, "limited", "refusal");
    assert_eq!(refusals, ["", "", "", "not_permitted", "not_permitted", "", "not_permitted"]);
}

/// Reading of a log of Slurm gives the partition as the partition number, and the quality of service as the queue number.
#[test]
fn queues_may_go_by_the_partition_number() {
    let text = LIMITED
        .replace("number = ", "partition = ")
        .replace("queue = 2", "queue = 9, partition = 2")
        .replace("queue = 7", "partition = 7");
    let folder = Folder::with(&[("partitions.toml", &text)]);
    run(&folder, "partitions");
    let starts = column(&folder, "partitions", "starting_time");
    assert_eq!(starts, ["0.0", "300.0", "0.0", "", "", "0.0", ""]);
}

/// Urgent jobs are first. A user may run one of them at a time, of at most ten minutes.
const URGENT: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 4, run = "1h", requested = "1h", user = 1, queue = 1 },
    { submit = "1min", processors = 4, run = "1h", requested = "1h", user = 2, queue = 1 },
    { submit = "2min", processors = 1, run = "5min", requested = "10min", user = 1, queue = 2 },
    { submit = "3min", processors = 1, run = "5min", requested = "10min", user = 1, queue = 2 },
    { submit = "4min", processors = 1, run = "5min", requested = "2h", user = 2, queue = 2 },
    { submit = "5min", processors = 1, run = "5min", requested = "10min", user = 3, queue = 2 },
    { submit = "6min", processors = 1, run = "5min", requested = "10min", user = 2, queue = 3 },
    { submit = "7min", processors = 1, run = "5min", requested = "10min", user = 2 },
]

[[provider]]
name = "site"
processors = 4
policy = "easy"

[[provider.qos]]
name = "normal"
number = 1
priority = 10

[[provider.qos]]
name = "urgent"
number = 2
priority = 100
users = [1, 2]
longest = "10min"
user-limits = { running = 1 }

[provider.priority]
weights = { qos = 1000 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"
"#;

#[test]
fn qualities_of_service_have_priorities_and_limits() {
    let replan = r#"policy = { name = "conservative", compression = "replan" }"#;
    let replan = URGENT.replace(r#"policy = "easy""#, replan);
    let folder = Folder::with(&[("urgent.toml", URGENT), ("replan.toml", &replan)]);
    for name in ["urgent", "replan"] {
        run(&folder, name);
        let starts = column(&folder, name, "starting_time");
        let last = "4200.0";
        assert_eq!(starts, ["0.0", last, "3600.0", "3900.0", "", "", "", "3600.0"], "{name}");
        let refusals = column(&folder, name, "refusal");
        let no = "not_permitted";
        assert_eq!(refusals, ["", "", "", "", no, no, no, ""], "{name}");
    }
    let told = |job: u32| unwrapped(&folder.haggle(&["explain", "urgent", &format!("jobs!{job}")]));
    assert!(told(4).contains("QOSMaxJobsPerUserLimit from 3600 s to 3900 s."), "{}", told(4));
    assert!(told(5).contains("even alone: QOSMaxWallDurationPerJobLimit."), "{}", told(5));
    let access =
        "The quality of service \"urgent\" of its provider is not open to its user or group.";
    assert!(told(6).contains(access), "{}", told(6));
    assert!(
        told(7).contains("No quality of service of its provider has the number 3."),
        "{}",
        told(7)
    );
}

#[test]
fn explain_names_queues_and_priorities() {
    let folder = Folder::with(&[("urgent.toml", URGENT), ("parts.toml", PARTS)]);
    run(&folder, "urgent");
    run(&folder, "parts");
    let told = |run: &str, job: u32| {
        let text = unwrapped(&folder.haggle(&["explain", run, &format!("jobs!{job}")]));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        column(&folder, "urgent", "priority"),
        ["100", "100", "1000", "1000", "", "", "", "1"]
    );
    let text = told("urgent", 3);
    for expected in [
        "It belongs to quality of service \"urgent\".",
        "Its priority at its start was 1000: 1000 for quality of service.",
        "It was in the queue of site (easy, by priority, 4 processors)",
        "On arrival, job 1 waited there; priorities decide the order. It went before job 1.",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    // The jobs of queue "left" wait for other nodes.
    let text = told("parts", 5);
    for expected in [
        "It belongs to queue \"right\", account \"physics\".",
        "On arrival, job 3 was ahead of it.",
        "No job that was queued later started before this one started.",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// Two queues with nodes of their own.
const PARTS: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 4, run = "1h", requested = "1h", queue = 1 },
    { submit = "1s", processors = 4, run = "1h", requested = "1h", queue = 1 },
    { submit = "2s", processors = 4, run = "2h", requested = "2h", queue = 2 },
    { submit = "2s", processors = 4, run = "2h", requested = "2h", queue = 2 },
    { submit = "4s", processors = 4, run = "1min", requested = "1min", user = 1, group = 1, queue = 2 },
    { submit = "5s", processors = 4, run = "1min", requested = "1min", queue = 1 },
]

[[provider]]
name = "site"
policy = "fcfs"

[[provider.node]]
name = "left"
cores = 4

[[provider.node]]
name = "right"
cores = 4

[[provider.queue]]
name = "left"
number = 1
nodes = ["left"]

[[provider.queue]]
name = "right"
number = 2
nodes = ["right"]

[[provider.account]]
name = "physics"
groups = [1]

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"
"#;

#[test]
fn rules_that_cannot_be_kept_are_refused_at_their_places() {
    let refused = |change: &[(&str, &str)], expected: &str| {
        let mut text = SHARED.to_owned();
        for (from, to) in change {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        let folder = Folder::with(&[("bad.toml", &text)]);
        let told = unwrapped(&folder.haggle(&["validate", "bad.toml"]));
        assert!(told.starts_with("exit code: 3"), "{told}");
        assert!(told.contains(expected), "{expected}: {told}");
    };
    let policy = r#"policy = "easy""#;
    refused(&[(policy, r#"policy = "conservative""#)], r#"compression = "replan""#);
    refused(&[(policy, r#"policy = "edf""#)], "takes no account of them");
    refused(&[("fair-share = 1000", "")], "have no weight");
    let period = "weights = { fair-share = 1000 }\ncalculation-period = \"0s\"";
    refused(&[("weights = { fair-share = 1000 }", period)], "no second between two calculations");
    refused(&[("groups = [2]", "groups = [1]")], "have group 1");
    refused(&[(r#"name = "biology""#, r#"name = "physics""#)], "are called \"physics\"");
    let parent = "groups = [2]\nparent = \"chemistry\"";
    refused(&[("groups = [2]", parent)], "no account \"chemistry\" stands before");
    let change =
        "[[change]]\nat = \"10s\"\nset = { \"provider.site.policy\" = \"fcfs\" }\n\n[[user]]";
    refused(&[("[[user]]", change)], "which no other queue takes over");
    let queue = |keys: &str| format!("groups = [2]\n\n[[provider.queue]]\nname = \"a\"\n{keys}");
    refused(&[("groups = [2]", &queue("number = 1\nnodes = [\"fat\"]"))], "has none of that name");
    let twice = queue("number = 1\n\n[[provider.queue]]\nname = \"b\"\nnumber = 1");
    refused(&[("groups = [2]", &twice)], "have the number 1");
    refused(&[("groups = [2]", &queue("tier = 2"))], "neither a number nor a partition");
    let both = queue("number = 1\npartition = 1");
    refused(&[("groups = [2]", &both)], "has a number and a partition");
    let mixed = queue("number = 1\n\n[[provider.queue]]\nname = \"b\"\npartition = 2");
    refused(&[("groups = [2]", &mixed)], "queue \"b\" goes by partition");
    let mixed = queue("partition = 1\n\n[[provider.queue]]\nname = \"b\"\nnumber = 2");
    refused(&[("groups = [2]", &mixed)], "queue \"b\" goes by number");
    let quality = |keys: &str| format!("[[provider.qos]]\nname = \"c\"\n{keys}");
    let both = queue(&format!("number = 1\n\n{}", quality("number = 2")));
    refused(&[("groups = [2]", &both)], "both go by the queue number of a job");
    let list = |keys: &str| queue(&format!("partition = 1\n{keys}\n\n{}", quality("number = 2")));
    refused(&[("groups = [2]", &list("users = []"))], "no user may use queue \"a\"");
    refused(&[("groups = [2]", &list("groups = [3, 3]"))], "queue \"a\" lists group 3 twice");
    refused(&[("groups = [2]", &list("longest = \"0s\""))], "queue \"a\" admits no job");
    let lists = format!("groups = [2]\n\n{}", quality("number = 2\ngroups = []\nusers = [1, 1]"));
    refused(&[("groups = [2]", &lists)], "no group may use quality of service \"c\"");
    refused(&[("groups = [2]", &lists)], "quality of service \"c\" lists user 1 twice");
    refused(&[("groups = [2]", "groups = [2, 2]")], "account \"biology\" lists group 2 twice");
    let users = "groups = [2]\nusers = [{ user = 1, shares = 2 }, { user = 1, shares = 3 }]";
    refused(&[("groups = [2]", users)], "account \"biology\" lists user 1 twice");
    let twice = format!("groups = [2]\n\n{}\n\n{}", quality("number = 2"), quality("number = 2"));
    refused(
        &[("groups = [2]", &twice)],
        "two qualities of service of provider \"site\" are called",
    );
    refused(&[("groups = [2]", &twice)], "qualities of service \"c\" and \"c\" have the number 2");
}

#[test]
fn listed_jobs_that_are_never_admitted_are_warned_about() {
    let told = |text: &str| {
        let folder = Folder::with(&[("jobs.toml", text)]);
        let told = unwrapped(&folder.haggle(&["validate", "jobs.toml"]));
        assert!(told.starts_with("exit code: 0"), "{told}");
        told
    };
    let expect = |text: &str, expected: &str| {
        let told = told(text);
        assert!(told.contains(expected), "{expected}: {told}");
    };
    expect(
        LIMITED,
        "has queue number 7, and no queue of provider \"site\" has it: it will be rejected",
    );
    let parted = LIMITED.replace("number =", "partition =").replace("queue = 7", "partition = 7");
    expect(&parted, "has partition number 7, and no queue of provider \"site\" has it");
    let own = LIMITED.replace("number = 2", "number = 2\nusers = [1]");
    let access = "belongs to queue \"short\" of provider \"site\", which its user or group may not use: \
                  it will be rejected, and so will 3 others";
    expect(&own, access);
    let access = "has quality of service \"urgent\" of provider \"site\", which its user or group may not use: \
                  it will be rejected, and so will another one";
    expect(URGENT, access);
    let none = SHARED
        .replace("groups = [1]", "groups = [1]\nwidest = 3")
        .replace("groups = [2]", "groups = [2]\nlongest = \"1min\"");
    expect(&none, "exceeds a limit of provider \"site\" even alone (AssocMaxCpuPerJobLimit)");
    let some = SHARED.replace("groups = [1]", "groups = [1]\nwidest = 3");
    assert!(!told(&some).contains("even alone"));
}

#[test]
fn settings_without_effect_are_warned_about() {
    let text = SHARED.replace(
        "weights = { fair-share = 1000 }",
        "weights = { fair-share = 1000, queue = 5 }\nmax-age = \"1d\"\nfavours = \"small\"\ndampening = 2",
    );
    let order =
        text.replace(r#"policy = "easy""#, r#"policy = { name = "easy", order = "shortest" }"#);
    let folder = Folder::with(&[("odd.toml", &order)]);
    let told = unwrapped(&folder.haggle(&["validate", "odd.toml"]));
    for key in ["queue", "max-age", "favours", "dampening", "order"] {
        assert!(told.contains(&format!("`{key}` of provider \"site\"")), "{key}: {told}");
    }
}

/// The processor never comes back, so no job can ever start again, and the run ends.
#[test]
fn a_run_ends_although_priorities_would_be_calculated_for_ever() {
    let text = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 1, run = "100s", requested = "100s" }]

[[provider]]
name = "site"
processors = 1
policy = "easy"

[provider.priority]
weights = { age = 10 }
max-age = "1h"

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"

[[failures]]
of = ["site"]
outages = [["50s"]]
"#;
    let folder = Folder::with(&[("ends.toml", text)]);
    run(&folder, "ends");
    assert_eq!(column(&folder, "ends", "outcome"), ["unfinished"]);
}

/// Jobs that run at time zero keep their processors, although a limit would let only one of them start. They are in no
/// queue, so the queue lets one more job of their user start.
#[test]
fn jobs_of_a_start_state_run_whatever_limits_say() {
    let text = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 1, run = "10s", requested = "10s", user = 1 }]

[[provider]]
name = "site"
processors = 4
policy = "easy"
initial = [
    { processors = 1, run = "100s", requested = "100s", started-ago = "10s", user = 1 },
    { processors = 1, run = "100s", requested = "100s", started-ago = "20s", user = 1 },
]

[[provider.queue]]
name = "only"
number = 1
users = [1]
user-limits = { running = 1 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"
"#;
    let folder = Folder::with(&[("starts.toml", text)]);
    run(&folder, "starts");
    let mut starts = column(&folder, "starts", "starting_time");
    starts.sort();
    assert_eq!(starts, ["-10.0", "-20.0", "0.0"]);
}
