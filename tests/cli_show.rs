//! `haggle show`: a scenario with every default, and the runs it expands into.

use crate::command::{Folder, VALID};

#[test]
fn every_default_is_written_out() {
    let folder = Folder::with(&[("small.toml", VALID)]);
    insta::assert_snapshot!(folder.haggle(&["show", "small.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    [scenario]
    name = "small"
    seed = 1
    events-order = "submissions-first"

    [[workload]]
    name = "jobs"

    [[workload.jobs]]
    submit = "0s"
    processors = 4
    run = "80s"
    requested = "100s"

    [[provider]]
    name = "north"
    processors = 8
    speed = 1.0
    passes = "instant"
    overrun = "kill"
    disclosure = "offers"

    [provider.policy]
    name = "easy"
    order = "arrival"

    [[user]]
    name = "users"
    workload = "jobs"
    submits-to = "north"

    [network]
    latency = "0s"
    jitter = "0s"

    [results]
    warm-up = "0s"
    cool-down = "0s"
    bounded-slowdown-threshold = "10s"
    format = "parquet"
    messages = "all"
    ----- stderr -----
    "#);
}

#[test]
fn a_sweep_lists_its_runs() {
    let sweep = format!(
        "{VALID}\n[sweep]\nreplications = 2\n[[sweep.axis]]\npath = \"provider.*.policy\"\nvalues = [\"fcfs\", \"easy\"]\n\
         [[sweep.axis]]\nname = \"speed\"\npath = \"provider.north.speed\"\nvalues = [1, 2.5]\n"
    );
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    insta::assert_snapshot!(folder.haggle(&["show", "--runs", "sweep.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    run	seed	folder	policy	speed
    0	1	policy=fcfs/speed=1/seed=1	fcfs	1
    1	2	policy=fcfs/speed=1/seed=2	fcfs	1
    2	1	policy=fcfs/speed=2.5/seed=1	fcfs	2.5
    3	2	policy=fcfs/speed=2.5/seed=2	fcfs	2.5
    4	1	policy=easy/speed=1/seed=1	easy	1
    5	2	policy=easy/speed=1/seed=2	easy	1
    6	1	policy=easy/speed=2.5/seed=1	easy	2.5
    7	2	policy=easy/speed=2.5/seed=2	easy	2.5
    ----- stderr -----
    "#);
    let run = folder.haggle(&["show", "--run", "7", "sweep.toml"]);
    for line in ["seed = 2", "[provider.policy]\nname = \"easy\"", "speed = 2.5"] {
        assert!(run.contains(line), "{line} is not in {run}");
    }
    insta::assert_snapshot!(folder.haggle(&["show", "--run", "8", "sweep.toml"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: there is no run 8: the scenario has 8, numbered from 0

    hint: `haggle show --runs SCENARIO` lists them
    "#);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::with(&[("small.toml", VALID)]);
    let script = format!(
        "{} schema | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_haggle")
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path())
        .output();
    let output = output.expect("bash is there");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
