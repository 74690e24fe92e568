//! Iterative applications on several providers: keys of scenarios, and their runs.

use std::fs;

use serde_json::Value;

use crate::command::{Folder, json_of, stdout_of};

/// Five processes of 12 s on two providers, one of which is busy from 5 to 7 s (case M7 of the
/// specification of the negotiation).
const MAPPED: &str = r#"
[[workload]]
name = "own"
model = "iterative"

[workload.iterative]
cores = 5
processes = [5]
iterations = 12
communication = "asynchronous"
machine = [{ name = "north", throughputs = [1.0] }, { name = "south", throughputs = [1.0] }]

[[workload]]
name = "north-jobs"
jobs = [{ submit = "0s", processors = 2, run = "10s", requested = "10s" }]

[[workload]]
name = "south-jobs"
jobs = [
    { submit = "0s", processors = 2, run = "4s", requested = "4s" },
    { submit = "0s", processors = 1, run = "5s", requested = "5s" },
    { submit = "0s", processors = 3, run = "2s", requested = "2s" },
]

[[provider]]
name = "north"
processors = 5
policy = "conservative"

[[provider]]
name = "south"
processors = 3
policy = "conservative"

[[metascheduler]]
name = "mapper"
mapping = { asks-for = "machines" }

[[user]]
name = "north-users"
workload = "north-jobs"
submits-to = "north"

[[user]]
name = "south-users"
workload = "south-jobs"
submits-to = "south"

[[user]]
name = "scientists"
workload = "own"
submits-to = "mapper"

[results]
format = "csv"
"#;

fn ran(text: &str, flags: &[&str]) -> (Folder, Value) {
    let folder = Folder::with(&[("mapped.toml", text)]);
    let shown = folder.haggle(&[&["run", "mapped.toml", "--check", "-o", "out"], flags].concat());
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let summary = folder.summary("out");
    (folder, summary)
}

#[test]
fn an_application_gets_the_cores_that_are_available_first() {
    for driver in ["sequential", "actix"] {
        let (folder, summary) = ran(MAPPED, &["--driver", driver]);
        assert_eq!(summary["makespan"], 19.0);
        let spread = &summary["all"]["coallocated"];
        assert_eq!((&spread["jobs"], &spread["providers"]), (&1.into(), &2.0.into()));
        let table = fs::read_to_string(folder.path().join("out/jobs.csv")).expect("a table");
        assert!(table.contains(",iterative,"), "{table}");
    }
}

#[test]
fn an_application_runs_beside_the_jobs_of_any_queue() {
    for policy in ["\"fcfs\"", "\"easy\"", "{ name = \"conservative\", compression = \"replan\" }"]
    {
        let text = MAPPED.replace("policy = \"conservative\"", &format!("policy = {policy}"));
        let (_, summary) = ran(&text, &[]);
        assert_eq!(summary["makespan"], 19.0, "{policy}");
    }
}

#[test]
fn an_application_is_explained() {
    let (folder, _) = ran(MAPPED, &["--disclosures"]);
    let told = folder.haggle(&["explain", "out", "own!1"]);
    let told = stdout_of(&told);
    for what in
        ["5 processors", "no time limit", "it runs in 2 parts", "completed after running 12 s"]
    {
        assert!(told.contains(what), "{what}: {told}");
    }
    let story = json_of(&folder.haggle(&["explain", "out", "own!1", "--json"]));
    assert_eq!(story["shape"], "iterative");
    assert_eq!(story["shares"].as_array().map(Vec::len), Some(2));
}

#[test]
fn measuring_comes_before_placing() {
    let text = MAPPED
        .replace("asks-for = \"machines\"", "profiling = true")
        .replace("policy = \"conservative\"", "policy = \"conservative\"\ndisclosure = \"power\"")
        .replace("iterations = 12", "iterations = 200\nstart-up = \"500 ms\"");
    // The steady state comes after 100 iterations. Half a second of start-up precedes them, and
    // also the 200 iterations of a process.
    let (_, summary) = ran(&text, &[]);
    assert_eq!(summary["makespan"], 100.5 + 200.5);
}

#[test]
fn what_goes_not_together_is_refused() {
    let refused = |from: &str, to: &str, says: &str| {
        let text = MAPPED.replace(from, to);
        assert_ne!(text, MAPPED, "{from}");
        let folder = Folder::with(&[("mapped.toml", &text)]);
        let shown = folder.haggle(&["validate", "mapped.toml"]);
        assert!(shown.starts_with("exit code: 3\n") && shown.contains(says), "{says}: {shown}");
    };
    refused("submits-to = \"mapper\"", "submits-to = \"north\"", "does not take them");
    refused("submits-to = \"north\"", "submits-to = \"mapper\"", "does not take them");
    refused("processes = [5]", "processes = [0]", "no process");
    refused("processes = [5]", "processes = [5, 1]", "one for each size");
    refused("{ name = \"south\", th", "{ name = \"north\", th", "is there twice");
    refused("throughputs = [1.0] }, {", "throughputs = [0.0] }, {", "throughputs");
    refused("policy = \"conservative\"", "policy = \"reservations\"", "not for parts of jobs");
    refused("asks-for = \"machines\"", "asks-for = \"slots\"", "needs \"slots\"");
    refused(
        "asks-for = \"machines\"",
        "profiling = true",
        "`profiling` needs disclosure \"power\"",
    );
    refused("\n[results]", "\n[[failures]]\nof = [\"north\"]\nnominal = 80\n\n[results]", "fails");
    refused("\n[results]", "\n[network]\nlatency = \"1s\"\nloss = \"1%\"\n\n[results]", "loss");
    let both = "coallocation = {}\nmapping = { asks-for = \"machines\" }";
    refused("mapping = { asks-for = \"machines\" }", both, "beside `coallocation`");
}

#[test]
fn what_has_no_effect_is_warned_about() {
    let warned = |from: &str, to: &str, says: &str| {
        let text = MAPPED.replace(from, to);
        assert_ne!(text, MAPPED, "{from}");
        let folder = Folder::with(&[("mapped.toml", &text)]);
        let shown = folder.haggle(&["validate", "mapped.toml"]);
        assert!(shown.starts_with("exit code: 0\n") && shown.contains(says), "{says}: {shown}");
    };
    warned("asks-for = \"machines\"", "tolerance = \"5%\"", "`tolerance` of the mapping");
    warned(
        "iterations = 12",
        "iterations = 12\ntransfer = \"1s\"",
        "`transfer` of the applications",
    );
    warned(
        "processors = 3\npolicy",
        "processors = 3\nsite = \"hill\"\npolicy",
        "`site` of provider",
    );
    warned(
        "processors = 3\npolicy",
        "processors = 3\nmachine = \"old\"\npolicy",
        "machines of type \"old\"",
    );
    warned(
        "name = \"mapper\"",
        "name = \"mapper\"\nplacement = \"random\"",
        "`placement` of metascheduler",
    );
    let elsewhere = "machine = [{ name = \"west\", throughputs = [1.0] }, ";
    warned("machine = [", elsewhere, "`name` of machine \"west\"");
}
