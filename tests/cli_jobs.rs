//! `haggle jobs`: lists of jobs by a condition.

use crate::command::{Folder, json_of, stdout_of};
use crate::small_runs::runs;

#[test]
fn jobs_for_which_a_condition_holds() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["jobs", "easy", "--where", "waiting_time > 0"]), @"
    exit code: 0
    ----- stdout -----
      job  workload_name  job_id  requested_number_of_resources  submission_time  starting_time  waiting_time  outcome    provider
        2  local               2                              4               10            100            90  completed  north
    1 job
    ----- stderr -----
    ");
    insta::assert_snapshot!(
        folder.haggle(&[
            "jobs", "easy", "--where", "outcome == \"rejected\" || starting_time == ()", "--columns", "refusal",
        ]),
        @"
        exit code: 0
        ----- stdout -----
          job  refusal   starting_time  outcome
            4  too_wide              -  rejected
        1 job
        ----- stderr -----
        "
    );
    insta::assert_snapshot!(
        folder.haggle(&["jobs", "fcfs", "--sort=-left_time", "--limit", "2", "--columns", "job_id"]),
        @"
        exit code: 0
        ----- stdout -----
          job  job_id  left_time
            3       3        180
            2       2        150
        5 jobs; 3 of them are not listed: --limit 0 lists all
        ----- stderr -----
        "
    );
    let json = folder.haggle(&["jobs", "easy", "--where", "providers_used > 1", "--json"]);
    assert_eq!(stdout_of(&json), "[]\n");
    let json = json_of(&folder.haggle(&["jobs", "easy", "--json"]));
    assert_eq!(json.as_array().map(Vec::len), Some(5));
    assert_eq!(json[0]["workload_name"], "external");
}

#[test]
fn every_column_can_be_asked_for() {
    let folder = runs();
    let columns =
        haggle_results::Table::Jobs.columns().iter().map(|it| format!("{} == ()", it.name));
    let any = columns.collect::<Vec<_>>().join(" || ");
    let shown = folder.haggle(&["jobs", "easy", "--where", &any, "--json"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["jobs", "easy", "--where", "wating_time > 0"]), @"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: --where `wating_time > 0`, column 1: Undefined variable: wating_time

    hint: did you mean `waiting_time`?
    ");
    insta::assert_snapshot!(folder.haggle(&["jobs", "easy", "--where", "waiting_time"]), @"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: --where `waiting_time`: for job 1, it comes to `0.0`, and must come to true or false

    hint: compare its value, as in `waiting_time > 3600`; a column without a value is `()`
    ");
    insta::assert_snapshot!(folder.haggle(&["jobs", "easy", "--where", "waiting_time >"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: --where `waiting_time >`, column 15: Script is incomplete

    hint: write an expression over the columns of `jobs`, such as `waiting_time > 3600 && outcome == "completed"`
    "#);
    for (args, what) in [
        (["--sort", "wait"], "invalid value 'wait'"),
        (["--columns", "job,shap"], "a similar value exists: 'shape'"),
        (["--where", "[1].map(|x| { while true { } }) == []"], "--where"),
    ] {
        let shown = folder.haggle(&[&["jobs", "easy"], &args[..]].concat());
        assert!(!shown.starts_with("exit code: 0\n") && shown.contains(what), "{shown}");
    }
}

/// A workflow of two tasks, in a file that names them.
const FLOW: &str = r#"{"name": "chain", "schemaVersion": "1.4", "workflow": {"tasks": [
  {"name": "project_1", "type": "compute", "runtimeInSeconds": 600, "parents": [], "files": []},
  {"name": "add_2", "type": "compute", "runtimeInSeconds": 900, "parents": ["project_1"], "files": []}
]}}"#;

/// Each command shows the name of a task from its file; a generated workflow has no such names.
#[test]
fn tasks_are_called_as_their_file_calls_them() {
    let scenario = |source: &str| {
        format!(
            "[[workload]]\nname = \"flows\"\nmodel = \"workflows\"\nworkflows = {{ count = 1, {source} }}\n\
             [[provider]]\nname = \"north\"\nprocessors = 4\n\
             [[user]]\nname = \"users\"\nworkload = \"flows\"\nsubmits-to = \"north\"\n"
        )
    };
    let (named, drawn) =
        (scenario("files = [\"flow.json\"]"), scenario("shape = \"montage\", tasks = 20"));
    let files =
        [("named.toml", named.as_str()), ("drawn.toml", drawn.as_str()), ("flow.json", FLOW)];
    let folder = Folder::with(&files);
    for name in ["named", "drawn"] {
        let ran = folder.haggle(&["run", &format!("{name}.toml"), "-o", name]);
        assert!(ran.starts_with("exit code: 0\n"), "{ran}");
    }
    let listed = folder.haggle(&["jobs", "named"]);
    let listed = stdout_of(&listed);
    assert!(
        listed.lines().next().is_some_and(|it| it.trim_end().ends_with("task_name")),
        "{listed}"
    );
    assert!(listed.contains("project_1") && listed.contains("add_2"), "{listed}");
    let json = folder.haggle(&["jobs", "named", "--json"]);
    assert!(json.contains("\"task_name\": \"add_2\""), "{json}");
    let by_name = ["jobs", "named", "--where", "task_name == \"add_2\"", "--columns", "job"];
    let listed = folder.haggle(&by_name);
    assert!(listed.contains("add_2") && listed.contains("\n1 job\n"), "{listed}");
    let sorted = folder.haggle(&["jobs", "named", "--columns", "task_name", "--sort=-task_name"]);
    let place = |name: &str| sorted.find(name).expect("it is listed");
    assert!(place("project_1") < place("add_2"), "{sorted}");
    let none = folder.haggle(&["jobs", "drawn", "--where", "task_name != ()"]);
    assert_eq!(stdout_of(&none), "no job\n");
    let told = folder.haggle(&["explain", "named", "flows!2"]);
    assert!(told.contains("flows!2: task \"add_2\", local"), "{told}");
    let gantt =
        ["plot", "named", "--kind", "gantt", "--labels", "name", "--format", "svg", "--force"];
    assert!(folder.haggle(&gantt).starts_with("exit code: 0\n"));
    assert!(folder.read("named/gantt.svg").contains("add_2"), "the bar of a task has its name");
    for command in [&["jobs", "drawn"][..], &["jobs", "named", "--columns", "job"]] {
        let listed = folder.haggle(command);
        assert!(!listed.contains("task_name"), "{listed}");
    }
    assert!(!folder.names_in("drawn").contains(&"tasks.parquet".to_owned()));
}
