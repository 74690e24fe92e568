//! `haggle explain`: stories that can be checked by hand.

use crate::command::Folder;
use crate::small_runs::runs;

#[test]
fn a_job_that_waited_for_processors_and_was_overtaken() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "local!2"]), @r#"
    exit code: 0
    ----- stdout -----
    job 2 of the run, local!2: local, 4 processors, at most 60 s

       10 s  submitted by natives to north
       10 s  natives sent it to north
       10 s  north told natives that it is queued
       10 s  queued at north
      100 s  north told natives that it started
      100 s  started at north, 90 s after its submission
      150 s  north told natives that it is over
      150 s  completed after running 50 s

    Why it waited 90 s at north (easy, arrival order, 4 processors)
      When it came, 0 jobs waited there already; 0 of them still did when it started.
      It needs 4 processors; from 0 to 1 were free, 0.6667 on average.
      Never were enough of them free: it waited for processors.
      At the instant it started, 1 job ended and gave back 3 processors.

    2 jobs held 300 processor-seconds meanwhile:
      job           processors  from, s  to, s  processor-seconds     %
        0  local!1           3        0    100                270  90.0
        3  local!3           1       20     50                 30  10.0

    1 job queued later started before this one started:
      job           processors  limit, s  queued, s  started, s
        3  local!3           1        40         20          20
    ----- stderr -----
    "#);
}

#[test]
fn a_job_that_waited_for_its_turn() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "fcfs", "3"]), @r#"
    exit code: 0
    ----- stdout -----
    job 3 of the run, local!3: local, 1 processor, at most 40 s

       20 s  submitted by natives to north
       20 s  natives sent it to north
       20 s  north told natives that it is queued
       20 s  queued at north
      150 s  north told natives that it started
      150 s  started at north, 130 s (2 min) after its submission
      180 s  north told natives that it is over
      180 s  completed after running 30 s

    Why it waited 130 s (2 min) at north (fcfs, arrival order, 4 processors)
      When it came, 1 job waited there already; 0 of them still did when it started.
      It needs 1 processor; from 0 to 1 were free, 0.6154 on average.
      Enough were free for 80 s of that time, at longest from 20 s to 100 s.
      In that time processors were there and it was not its turn: the order of the
      queue, or reservations for others, held it back. Which of these, no table says.
      At the instant it started, 1 job ended and gave back 4 processors.

    2 jobs held 440 processor-seconds meanwhile:
      job           processors  from, s  to, s  processor-seconds     %
        0  local!1           3        0    100                240  54.5
        2  local!2           4      100    150                200  45.5

    No job that was queued later started before this one started.
    ----- stderr -----
    "#);
}

#[test]
fn a_job_that_was_refused() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "local!4"]), @r#"
    exit code: 0
    ----- stdout -----
    job 4 of the run, local!4: local, 8 processors, at most 10 s

      30 s  submitted by natives to north
      30 s  natives sent it to north
      30 s  north refused it to natives: too wide
      30 s  rejected: too wide

    It was never queued. It needs 8 processors; north has 4, south has 2.
    ----- stderr -----
    "#);
}

#[test]
fn a_job_that_was_placed_by_a_metascheduler() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "external!1"]), @"");
}

#[test]
fn messages_are_listed_on_request() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "external!1", "--messages"]), @"");
    insta::assert_snapshot!(folder.haggle(&["explain", "silent", "external!1", "--messages"]), @"");
}

/// What the command says of a job of a scenario that has been run.
fn told(scenario: &str, job: &str) -> String {
    let folder = Folder::with(&[("it.toml", scenario)]);
    let said =
        folder.haggle(&["run", "it.toml", "-o", "out", "--quiet", "--no-figures", "--check"]);
    assert!(said.starts_with("exit code: 0\n"), "{said}");
    folder.haggle(&["explain", "out", job])
}

/// 5 h on a machine that is down from 2 h to 3 h.
pub(crate) const MAINTENANCE: &str = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 8, requested = "6h", run = "5h" }]

[[provider]]
name = "north"
processors = 8
policy = "easy"

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[failures]]
outages = [["2h", "3h"]]
"#;

#[test]
fn a_job_that_computed_in_vain_and_waited_for_repair() {
    insta::assert_snapshot!(told(MAINTENANCE, "0"), @"");
}

#[test]
fn a_job_that_went_on_from_a_checkpoint_paid_for_it() {
    let resume = "policy = \"easy\"\non-failure = \"resume\"\n\
        checkpoints = { interval = \"30min\", cost = \"1min\", recovery = \"2min\" }";
    insta::assert_snapshot!(told(&MAINTENANCE.replace("policy = \"easy\"", resume), "0"), @"");
}

#[test]
fn a_job_that_was_given_up() {
    let fail = "policy = \"easy\"\non-failure = \"fail\"";
    insta::assert_snapshot!(told(&MAINTENANCE.replace("policy = \"easy\"", fail), "0"), @"");
}

#[test]
fn a_job_that_waits_for_its_machine_when_the_run_stops() {
    let stops = format!("[scenario]\nhorizon = \"150min\"\n{MAINTENANCE}");
    insta::assert_snapshot!(told(&stops, "0"), @"");
}

#[test]
fn a_job_that_was_stopped_at_its_limit_and_one_that_was_withdrawn() {
    let impatient = MAINTENANCE
        .replace(
            "\"5h\" }",
            "\"7h\" }, { submit = \"0s\", processors = 1, requested = \"1h\", run = \"1h\" }",
        )
        .replace("submits-to", "patience = \"1h\"\nsubmits-to")
        .replace("[[\"2h\", \"3h\"]]", "[[\"9h\", \"10h\"]]");
    insta::assert_snapshot!(told(&impatient, "0"), @"");
    insta::assert_snapshot!(told(&impatient, "1"), @"");
}

/// A bag of four tasks at two providers; one task loses its processor.
const BAG: &str = r#"
[[workload]]
name = "own"
jobs = [{ submit = "0s", processors = 1, requested = "60s", run = "60s" }]

[[workload]]
name = "bags"
jobs = [{ submit = "10s", processors = 4, requested = "40s", run = "30s" }]

[[workload.step]]
kind = "bags"

[[provider]]
name = "north"
processors = 2
policy = "edf"
disclosure = "offers"

[[provider]]
name = "south"
processors = 1
policy = "edf"
disclosure = "offers"

[[metascheduler]]
name = "broker"
composition = "offers-no-lb"

[[user]]
name = "owners"
workload = "own"
submits-to = "north"

[[user]]
name = "guests"
workload = "bags"
submits-to = "broker"

[[failures]]
of = ["south"]
outages = [["20s", "30s"]]

[results]
messages = "none"
"#;

#[test]
fn a_bag_with_its_offers_and_shares() {
    insta::assert_snapshot!(told(BAG, "bags!1"), @"");
}

#[test]
fn a_bag_on_one_provider() {
    let one =
        BAG.replace("processors = 4, requested = \"40s\"", "processors = 1, requested = \"40s\"");
    insta::assert_snapshot!(told(&one, "bags!1"), @"");
}

/// Two resources of one slot each, of which the first is down for 20 minutes.
pub(crate) const GRID: &str = r#"
[scenario]
horizon = "5h"

[[workload]]
name = "jobs"
data = { input = "6 MB", output = "6 MB", checkpoint = "6 MB" }
jobs = [
    { submit = "0s", processors = 1, requested = "2h", run = "2h" },
    { submit = "1min", processors = 1, requested = "1h", run = "1h" },
    { submit = "2min", processors = 1, requested = "30min", run = "30min" },
    { submit = "3h", processors = 1, requested = "3h", run = "3h" },
]

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"

[grid]
policy = "migration"
period = "5min"
information = { mode = "immediate" }
network = { model = "constant", bandwidth = "800 kbit/s", latency = "0s" }
checkpoints = { rule = "periodic", interval = "30min", cost = "1min" }

[[grid.site]]
name = "alpha"
resources = 1
slots = 1

[[grid.site]]
name = "beta"
resources = 1
slots = 1

[[failures]]
of = ["alpha"]
outages = [["1h", "1h 20min"]]

[results]
messages = "none"
"#;

#[test]
fn a_job_of_a_grid_that_was_tried_twice() {
    insta::assert_snapshot!(told(GRID, "0"), @"");
}

#[test]
fn a_job_of_a_grid_that_waited_for_a_slot_and_for_repair() {
    insta::assert_snapshot!(told(GRID, "2"), @"");
}

#[test]
fn a_job_of_a_grid_that_was_copied() {
    let copies = "policy = \"unconditional-rep\"\nreplicas = { max = 2 }";
    insta::assert_snapshot!(told(&GRID.replace("policy = \"migration\"", copies), "1"), @"");
}

#[test]
fn a_session_that_no_resource_had_room_for() {
    let sessions = GRID
        .replace(
            "policy = \"migration\"\nperiod = \"5min\"",
            "policy = \"full-fill\"\nperiod = \"0s\"",
        )
        .replace(
            "checkpoints = { rule = \"periodic\", interval = \"30min\", cost = \"1min\" }\n",
            "",
        )
        .replace("slots = 1", "sharing = \"reserved\"")
        .replace("name = \"jobs\"\n", "name = \"jobs\"\nshare = \"60%\"\n");
    insta::assert_snapshot!(told(&sessions, "2"), @"");
}

#[test]
fn unknown_jobs_are_named_with_those_that_exist() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "9"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the run has no job 9

    hint: its jobs are numbered from 0 to 4; the number in a workload is written WORKLOAD!NUMBER
    "#);
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "local!9"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the run has no job local!9

    hint: the jobs of local are numbered from 1 to 4
    "#);
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "locals!1"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the run has no job locals!1

    hint: its workloads are external, local
    "#);
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "seven"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'seven' for '<JOB>': write a number, or WORKLOAD!NUMBER

    For more information, try '--help'.
    "#);
}

#[test]
fn a_story_as_json_has_the_same_facts() {
    let folder = runs();
    let said = folder.haggle(&["explain", "easy", "local!2", "--json"]);
    for fact in
        ["\"free_max\": 1", "\"held\": 270.0", "\"longest_enough\": null", "\"part\": \"busy\""]
    {
        assert!(said.contains(fact), "{fact} is not in {said}");
    }
}
