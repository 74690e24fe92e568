//! `haggle explain`: stories that can be checked by hand.

use std::fs;

use crate::command::{Folder, json_of, stdout_of, unwrapped};
use crate::small_runs::runs;

#[test]
fn a_job_that_waited_for_processors_and_was_overtaken() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "local!2"]), @"
    exit code: 0
    ----- stdout -----
    job 2 of the run, local!2: local, 4 processors, at most 60 s

       10 s         submitted by natives to north
       10 s         queued at north
      100 s  1 min  started at north, 90 s after its submission
      150 s  2 min  completed after running 50 s

      where its time went      waiting, s         running, s
      too few processors free          90  1 min
      computing                                           50
      all                              90  1 min          50

    It was in the queue of north (easy, arrival order, 4 processors) for 90 s
      On arrival, no job was ahead of it.
      It needs 4 processors; from 0 to 1 were free, 0.6667 on average.
      There never were enough free.
      At the instant it started, job 0 gave back 3 processors.

    2 jobs held 300 processor-seconds meanwhile:
      job           processors  from, s  to, s  processor-seconds     %
        0  local!1           3        0    100                270  90.0
        3  local!3           1       20     50                 30  10.0

    1 job queued later started before this one started:
      job           processors  limit, s  queued, s  started, s
        3  local!3           1        40         20          20
    ----- stderr -----
    ");
}

#[test]
fn a_job_that_waited_for_its_turn() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "fcfs", "3"]), @"
    exit code: 0
    ----- stdout -----
    job 3 of the run, local!3: local, 1 processor, at most 40 s

       20 s         submitted by natives to north
       20 s         queued at north
      150 s  2 min  started at north, 130 s (2 min) after its submission
      180 s  3 min  completed after running 30 s

      where its time went                            waiting, s         running, s
      too few processors free                                50
      enough free: order of the queue, reservations          80  1 min
      computing                                                                 30
      all                                                   130  2 min          30

    It was in the queue of north (fcfs, arrival order, 4 processors) for 130 s (2 min)
      On arrival, job 2 was ahead of it.
      It needs 1 processor; from 0 to 1 were free, 0.6154 on average.
      Enough were free for 80 s of that time, at longest from 20 s to 100 s:
      job 2 (local!2), which needed 4 processors, stood before it, and under fcfs no job passes another one.
      At the instant it started, job 2 gave back 4 processors.

    2 jobs held 440 processor-seconds meanwhile:
      job           processors  from, s  to, s  processor-seconds     %
        0  local!1           3        0    100                240  54.5
        2  local!2           4      100    150                200  45.5

    No job that was queued later started before this one started.
    ----- stderr -----
    ");
}

#[test]
fn a_job_that_was_refused() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "local!4"]), @r#"
    exit code: 0
    ----- stdout -----
    job 4 of the run, local!4: local, 8 processors, at most 10 s

      30 s  submitted by natives to north
      30 s  north refused, to natives
      30 s  rejected: too wide

    It was never queued. It needs 8 processors; north has 4, south has 2.
    ----- stderr -----
    "#);
}

#[test]
fn a_job_that_was_placed_by_a_metascheduler() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "external!1"]), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, external!1: external, 2 processors, at most 20 s

       0 s  submitted by guests to grid
       0 s  north disclosed to grid the job's start and end there
       0 s  south disclosed to grid the job's start and end there
       0 s  queued at south
       0 s  started at south, 0 s after its submission
      10 s  completed after running 10 s

      where its time went  waiting, s    running, s
      computing                                  10

    It did not wait: it started as soon as it was submitted.
    ----- stderr -----
    "#);
}

#[test]
fn messages_are_listed_on_request() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "external!1", "--messages"]), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, external!1: external, 2 processors, at most 20 s

       0 s  submitted by guests to grid
       0 s  north disclosed to grid the job's start and end there
       0 s  south disclosed to grid the job's start and end there
       0 s  queued at south
       0 s  started at south, 0 s after its submission
      10 s  completed after running 10 s

      where its time went  waiting, s    running, s
      computing                                  10

    It did not wait: it started as soon as it was submitted.

      messages  from    to      kind
           0 s  guests  grid    submit
           0 s  grid    north   estimate_request
           0 s  grid    south   estimate_request
           0 s  north   grid    estimate
           0 s  south   grid    estimate
           0 s  grid    south   submit
           0 s  south   grid    accepted
           0 s  grid    guests  accepted
           0 s  south   grid    started
           0 s  grid    guests  started
          10 s  south   grid    finished
          10 s  grid    guests  finished
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["explain", "silent", "external!1", "--messages"]), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, external!1: external, 2 processors, at most 20 s

       0 s  submitted by guests to grid
       0 s  north disclosed to grid the job's start and end there
       0 s  south disclosed to grid the job's start and end there
       0 s  queued at south
       0 s  started at south, 0 s after its submission
      10 s  completed after running 10 s

      where its time went  waiting, s    running, s
      computing                                  10

    It did not wait: it started as soon as it was submitted.

    The run kept no messages: set `messages = "all"` under [results].
    ----- stderr -----
    "#);
}

/// Output of the command for a job, after a run of the scenario.
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
    insta::assert_snapshot!(told(MAINTENANCE, "0"), @"
    exit code: 0
    ----- stdout -----
    job 0 of the run, jobs!1: local, 8 processors, at most 21600 s (6 h 0 min)

          0 s             submitted by users to north
          0 s             queued at north
          0 s             attempt 1 started at north
       7200 s  2 h 0 min  attempt 1 failed at north after 7200 s (2 h 0 min): processors down until 10800 s
      10800 s  3 h 0 min  attempt 2 started at north
      28800 s  8 h 0 min  completed after running 18000 s (5 h 0 min)

      where its time went  waiting, s             running, s
      processors down            3600  1 h 0 min
      wasted computing           7200  2 h 0 min
      computing                                        18000  5 h 0 min
      all                       10800  3 h 0 min       18000  5 h 0 min

    It was in the queue of north (easy, arrival order, 8 processors) for 3600 s (1 h 0 min)
      On arrival, no job was ahead of it.
      It needs 8 processors; from 0 to 0 were free, 0 on average.
      There never were enough free.

    No job held processors there meanwhile.

    No job that was queued later started before this one started.
    ----- stderr -----
    ");
}

#[test]
fn a_job_that_went_on_from_a_checkpoint_paid_for_it() {
    let resume = "policy = \"easy\"\non-failure = \"resume\"\n\
        checkpoints = { interval = \"30min\", cost = \"1min\", recovery = \"2min\" }";
    insta::assert_snapshot!(told(&MAINTENANCE.replace("policy = \"easy\"", resume), "0"), @"
    exit code: 0
    ----- stdout -----
    job 0 of the run, jobs!1: local, 8 processors, at most 21600 s (6 h 0 min)

          0 s              submitted by users to north
          0 s              queued at north
          0 s              attempt 1 started at north
       7200 s   2 h 0 min  attempt 1 failed at north after 7200 s (2 h 0 min), of which checkpoints saved 5400 s (1 h 30 min): processors down until 10800 s
      10800 s   3 h 0 min  attempt 2 started at north
      23880 s  6 h 38 min  completed after running 18480 s (5 h 8 min)

      where its time went  waiting, s              running, s
      processors down            3600   1 h 0 min
      wasted computing           1620      27 min
      checkpoints                 180       3 min         480      8 min
      computing                                         18000  5 h 0 min
      all                        5400  1 h 30 min       18480  5 h 8 min

    It was in the queue of north (easy, arrival order, 8 processors) for 3600 s (1 h 0 min)
      On arrival, no job was ahead of it.
      It needs 8 processors; from 0 to 0 were free, 0 on average.
      There never were enough free.

    No job held processors there meanwhile.

    No job that was queued later started before this one started.
    ----- stderr -----
    ");
}

#[test]
fn a_job_that_was_given_up() {
    let fail = "policy = \"easy\"\non-failure = \"fail\"";
    insta::assert_snapshot!(told(&MAINTENANCE.replace("policy = \"easy\"", fail), "0"), @r#"
    exit code: 0
    ----- stdout -----
    job 0 of the run, jobs!1: local, 8 processors, at most 21600 s (6 h 0 min)

         0 s             submitted by users to north
         0 s             queued at north
         0 s             started at north, 0 s after its submission
      7200 s  2 h 0 min  its attempt failed at north after 7200 s (2 h 0 min): processors down
      7200 s  2 h 0 min  given up: it is not started again

      where its time went  waiting, s             running, s
      wasted computing           7200  2 h 0 min

    It waited 7200 s (2 h 0 min) and no attempt came to its end.
    ----- stderr -----
    "#);
}

#[test]
fn a_job_that_waits_for_its_machine_when_the_run_stops() {
    let stops = format!("[scenario]\nhorizon = \"150min\"\n{MAINTENANCE}");
    insta::assert_snapshot!(told(&stops, "0"), @"
    exit code: 0
    ----- stdout -----
    job 0 of the run, jobs!1: local, 8 processors, at most 21600 s (6 h 0 min)

         0 s              submitted by users to north
         0 s              queued at north
         0 s              attempt 1 started at north
      7200 s   2 h 0 min  attempt 1 failed at north after 7200 s (2 h 0 min): processors down
      9000 s  2 h 30 min  still waiting when the run stopped

      where its time went  waiting, s              running, s
      processors down            1800      30 min
      wasted computing           7200   2 h 0 min
      all                        9000  2 h 30 min

    It waited 9000 s (2 h 30 min) and no attempt came to its end.

    It was in the queue of north (easy, arrival order, 8 processors) for 1800 s (30 min)
      On arrival, no job was ahead of it.
      It needs 8 processors; from 0 to 0 were free, 0 on average.
      There never were enough free.

    No job held processors there meanwhile.

    No job that was queued later started before this one left.
    ----- stderr -----
    ");
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
    insta::assert_snapshot!(told(&impatient, "0"), @r#"
    exit code: 0
    ----- stdout -----
    job 0 of the run, jobs!1: local, 8 processors, at most 21600 s (6 h 0 min)

          0 s             submitted by users to north
          0 s             queued at north
          0 s             started at north, 0 s after its submission
      21600 s  6 h 0 min  stopped at its limit after running 21600 s (6 h 0 min)

      where its time went  waiting, s    running, s
      computing                               21600  6 h 0 min

    It did not wait: it started as soon as it was submitted.
    ----- stderr -----
    "#);
    insta::assert_snapshot!(told(&impatient, "1"), @"
    exit code: 0
    ----- stdout -----
    job 1 of the run, jobs!2: local, 1 processor, at most 3600 s (1 h 0 min)

         0 s             submitted by users to north
         0 s             queued at north
      3600 s  1 h 0 min  withdrawn by its user while it waited

      where its time went      waiting, s             running, s
      too few processors free        3600  1 h 0 min

    It waited 3600 s (1 h 0 min) and never started.

    It was in the queue of north (easy, arrival order, 8 processors) for 3600 s (1 h 0 min)
      On arrival, no job was ahead of it.
      It needs 1 processor; from 0 to 0 were free, 0 on average.
      There never were enough free.

    1 job held 28800 processor-seconds meanwhile:
      job          processors  from, s  to, s  processor-seconds      %
        0  jobs!1           8        0  21600              28800  100.0

    No job that was queued later started before this one left.
    ----- stderr -----
    ");
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
    insta::assert_snapshot!(told(BAG, "bags!1"), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, bags!1: external, 4 tasks, at most 40 s

      10 s         submitted by guests to broker
      10 s         8 offers made by north, south
      10 s         placed, in 2 shares, with a promised completion at 90 s
      10 s         first task started, 0 s after the submission
      20 s         1 task failed at south: processors down until 30 s
      90 s  1 min  completed after running 80 s, as promised

      where its time went  waiting, s    running, s
      computing                                  80  1 min

    It did not wait: it started as soon as it was submitted.

    8 offers made:
             made, s  tasks  completion, s  taken up
      north       10      1             50
      north       10      2             90         2
      north       10      3            100
      north       10      4            130
      south       10      1             50
      south       10      2             90         2
      south       10      3            130
      south       10      4            170

      share at  tasks  queued, s  first start, s  last end, s  promised, s  promise
      north         2         10              10           70           90  kept
      south         2         10              30           90           90  kept
    ----- stderr -----
    "#);
}

#[test]
fn a_bag_on_one_provider() {
    let one =
        BAG.replace("processors = 4, requested = \"40s\"", "processors = 1, requested = \"40s\"");
    insta::assert_snapshot!(told(&one, "bags!1"), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, bags!1: external, 1 task, at most 40 s

      10 s  submitted by guests to broker
      10 s  2 offers made by north, south
      10 s  placed, in 1 share, with a promised completion at 50 s
      10 s  first task started, 0 s after the submission
      40 s  completed after running 30 s, 10 s earlier than promised

      where its time went  waiting, s    running, s
      computing                                  30

    It did not wait: it started as soon as it was submitted.

    2 offers made:
             made, s  tasks  completion, s  taken up
      north       10      1             50         1
      south       10      1             50

      share at  tasks  queued, s  first start, s  last end, s  promised, s  promise
      north         1         10              10           40           50  kept
    ----- stderr -----
    "#);
}

/// Two resources with one slot each. The first is down for 20 minutes.
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

/// Makes the jobs of [`GRID`] write checkpoints.
pub(crate) const SAVING: &str =
    "checkpoints = { rule = \"periodic\", interval = \"30min\", cost = \"1min\" }\n";

#[test]
fn a_job_of_a_grid_that_was_tried_twice() {
    insta::assert_snapshot!(told(GRID, "0"), @r#"
    exit code: 0
    ----- stdout -----
    job 0 of the run, jobs!1: external, 1 processor, at most 7200 s (2 h 0 min)

         0 s              submitted by users to grid
         0 s              attempt 1 sent to alpha-1
        60 s       1 min  attempt 1 began to compute at alpha-1, after 60 s for data
      3600 s   1 h 0 min  attempt 1 at alpha-1 failed after computing 3480 s (58 min): resource down until 4800 s; a checkpoint holds 1800 MI
      4200 s  1 h 10 min  attempt 2 sent to beta-1, from a checkpoint of attempt 1 with 1800 MI
      4320 s  1 h 12 min  attempt 2 began to compute at beta-1, after 120 s (2 min) for data
      9840 s  2 h 44 min  attempt 2 at beta-1 computed; its output is sent
      9900 s  2 h 45 min  completed after running 9840 s (2 h 44 min)

      where its time went                          waiting, s         running, s
      slot free: until the scheduler's next round                            180       3 min
      resources down                                                         420       7 min
      data transfers                                       60  1 min         180       3 min
      wasted computing                                                      1680      28 min
      checkpoints                                                            180       3 min
      computing                                                             7200   2 h 0 min
      all                                                  60  1 min        9840  2 h 44 min
    ----- stderr -----
    "#);
}

#[test]
fn a_job_of_a_grid_that_waited_for_a_slot_and_for_repair() {
    insta::assert_snapshot!(told(GRID, "2"), @r#"
    exit code: 0
    ----- stdout -----
    job 2 of the run, jobs!3: external, 1 processor, at most 1800 s (30 min)

       120 s       2 min  submitted by users to grid
      4800 s  1 h 20 min  attempt 1 sent to alpha-1
      4860 s  1 h 21 min  attempt 1 began to compute at alpha-1, after 60 s for data
      6660 s  1 h 51 min  attempt 1 at alpha-1 computed; its output is sent
      6720 s  1 h 52 min  completed after running 1860 s (31 min)

      where its time went                          waiting, s              running, s
      all slots taken                                    3300      55 min
      slot free: until the scheduler's next round         360       6 min
      resources down                                     1020      17 min
      data transfers                                       60       1 min          60   1 min
      computing                                                                  1800  30 min
      all                                                4740  1 h 19 min        1860  31 min
    ----- stderr -----
    "#);
}

#[test]
fn a_task_that_waited_for_its_parents() {
    let flows = r#"
[[workload]]
name = "flows"
model = "workflows"

[workload.workflows]
count = 1
width = 2
work = "20min"

[[user]]
name = "users"
workload = "flows"
submits-to = "grid"

[grid]
policy = "workflow"

[[grid.site]]
name = "alpha"
resources = 3
mips = 1
"#;
    insta::assert_snapshot!(told(flows, "3"), @"
    exit code: 0
    ----- stdout -----
    job 3 of the run, flows!4: external, 1 processor, at most 600 s (10 min)

      63378 s  17 h 36 min  submitted by users to grid
      65400 s  18 h 10 min  may start from now on: its parents are done
      65400 s  18 h 10 min  attempt 1 sent to alpha-1
      65400 s  18 h 10 min  attempt 1 began to compute at alpha-1
      66000 s  18 h 20 min  attempt 1 at alpha-1 computed; its output is sent
      66000 s  18 h 20 min  completed after running 600 s (10 min)

      where its time went           waiting, s          running, s
      before its parents were done        2022  33 min
      computing                                                600  10 min
      all                                 2022  33 min         600  10 min

    The way to it, task 3 of workflow 0 of flows: each task waited for the one above it, the last of its parents to be done.

      task  job      may start, s  waiting, s  data, s  computing, s  done, s
         0  flows!1         63378       222.1        0           600    64200
         1  flows!2         64200           0        0          1200    65400
         3  flows!4         65400           0        0           600    66000
       all                              222.1        0          2400

    It was the last task of the workflow: this is the actual critical path.
    ----- stderr -----
    ");
}

#[test]
fn a_job_of_a_grid_that_was_copied() {
    let copies = "policy = { name = \"unconditional-rep\", replicas = { max = 2 } }";
    let copied = GRID.replace("policy = \"migration\"", copies).replace(SAVING, "");
    insta::assert_snapshot!(told(&copied, "1"), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, jobs!2: external, 1 processor, at most 3600 s (1 h 0 min)

        60 s       1 min  submitted by users to grid
      4800 s  1 h 20 min  attempt 1 sent to alpha-1
      4860 s  1 h 21 min  attempt 1 began to compute at alpha-1, after 60 s for data
      7500 s   2 h 5 min  attempt 2 sent to beta-1
      7560 s   2 h 6 min  attempt 2 began to compute at beta-1, after 60 s for data
      8460 s  2 h 21 min  attempt 1 at alpha-1 computed; its output is sent
      8520 s  2 h 22 min  attempt 2 at beta-1 cancelled after computing 960 s (16 min): another attempt was enough
      8520 s  2 h 22 min  completed after running 3660 s (1 h 1 min)

      where its time went  waiting, s              running, s
      all slots taken            3540      59 min
      resources down             1200      20 min
      data transfers               60       1 min          60      1 min
      computing                                          3600  1 h 0 min
      all                        4800  1 h 20 min        3660  1 h 1 min
    ----- stderr -----
    "#);
}

#[test]
fn a_session_that_no_resource_had_room_for() {
    let sessions = GRID
        .replace(
            "policy = \"migration\"\nperiod = \"5min\"",
            "policy = \"full-fill\"\nperiod = \"0s\"",
        )
        .replace(SAVING, "")
        .replace("slots = 1", "sharing = \"reserved\"")
        .replace("name = \"jobs\"\n", "name = \"jobs\"\nshare = \"60%\"\n");
    insta::assert_snapshot!(told(&sessions, "2"), @r#"
    exit code: 0
    ----- stdout -----
    job 2 of the run, jobs!3: external, 1 processor, at most 1800 s (30 min)

      120 s  2 min  submitted by users to grid
      120 s  2 min  grid refused, to users
      120 s  2 min  rejected: no room

    It was never queued. No resource had room for its share when it arrived, and sessions do not wait.
    ----- stderr -----
    "#);
}

#[test]
fn unknown_jobs_are_named_with_those_that_exist() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "9"]), @"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the run `easy` has no job 9

    hint: the 5 jobs of the run are numbered from 0 to 4; the number in a workload is written WORKLOAD!NUMBER
    ");
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "local!9"]), @"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the run `easy` has no job local!9

    hint: the 4 jobs of local are numbered from 1 to 4
    ");
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "locals!1"]), @"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the run `easy` has no job locals!1

    hint: the run's workloads are external, local
    ");
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "seven"]), @"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'seven' for '[JOB]...': write a number, or WORKLOAD!NUMBER

    For more information, try '--help'.
    ");
}

#[test]
fn errors_of_runs_side_by_side_name_the_run() {
    let folder = runs();
    let one = "[[workload]]\nname = \"local\"\njobs = [{ submit = \"0s\", processors = 1, run = \"1s\" }]\n\
               [[user]]\nname = \"users\"\nworkload = \"local\"\nsubmits-to = \"north\"\n\
               [[provider]]\nname = \"north\"\nprocessors = 4\n";
    fs::write(folder.path().join("one.toml"), one).expect("it can be written");
    folder.haggle(&["run", "one.toml", "-o", "one"]);
    let beside = |run: &str| {
        let shown = folder.haggle(&["explain", "easy", "local!2", "--beside", run]);
        assert!(!shown.starts_with("exit code: 0"), "{shown}");
        unwrapped(&shown)
    };
    assert!(beside("one").contains("the run `one` has no job local!2"), "{}", beside("one"));
    for table in ["jobs.parquet", "jobs.csv"] {
        let path = folder.path().join("one").join(table);
        if path.exists() {
            fs::write(path, "").expect("it can be written");
        }
    }
    assert!(beside("one").contains("`one/jobs."), "{}", beside("one"));
    fs::write(folder.path().join("one/provenance.json"), "{").expect("it can be written");
    assert!(beside("one").contains("`one"), "{}", beside("one"));
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

/// North's scheduler is down when the first of its jobs ends, so the second starts when it is back.
/// The third arrives meanwhile, over a network.
const CRASHED: &str = r#"
[[workload]]
name = "own"
jobs = [
    { submit = "0s", processors = 4, run = "61s", requested = "100s" },
    { submit = "20s", processors = 4, run = "30s", requested = "50s" },
]

[[workload]]
name = "others"
jobs = [{ submit = "70s", processors = 4, run = "20s", requested = "50s" }]

[[provider]]
name = "north"
processors = 4

[[metascheduler]]
name = "broker"
placement = "random"

[[user]]
name = "owners"
workload = "own"
submits-to = "north"

[[user]]
name = "guests"
workload = "others"
submits-to = "broker"

[network]
latency = "1s"
transport = "reliable"
retransmission-timeout = "3s"

[[failures]]
actors = ["north"]
outages = [["30s", "100s"]]
"#;

#[test]
fn time_in_which_a_scheduler_is_down_has_a_word() {
    let folder = Folder::with(&[("crashed.toml", CRASHED)]);
    let shown = folder.haggle(&["run", "crashed.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let parts = |job: &str| {
        let said = folder.haggle(&["explain", "out", job, "--json"]);
        let story = json_of(&said);
        let row = |it: &serde_json::Value| {
            let part = it["part"].as_str().expect("a word").to_owned();
            (part, it["waiting"].as_f64().expect("a number"))
        };
        story["parts"].as_array().expect("a list").iter().map(row).collect::<Vec<_>>()
    };
    let spent = |expected: &[(&str, f64)]| {
        expected.iter().map(|&(part, time)| (part.to_owned(), time)).collect::<Vec<_>>()
    };
    let second = [("busy", 41.0), ("scheduler_down", 39.0), ("computing", 0.0)];
    assert_eq!(parts("own!2"), spent(&second));
    // It arrives at 116 s, resent at 73, 79, 91 and 115 s, and waits for the second.
    let third = [("placing", 16.0), ("busy", 14.0), ("scheduler_down", 30.0), ("computing", 0.0)];
    assert_eq!(parts("others!1"), spent(&third));
    let said = folder.haggle(&["explain", "out", "own!2"]);
    assert!(said.contains("scheduler down"), "{said}");
}

/// Eight processors and four: a job on six of them moves to one provider when the first job there ends early.
#[test]
fn a_job_on_several_providers_tells_what_moved_it() {
    let local = |name: &str, run: &str, asked: &str| {
        format!(
            "[[workload]]\nname = \"{name}-jobs\"\njobs = [{{ submit = \"0s\", processors = 4, run = \"{run}\", requested = \"{asked}\" }}]\n\
             [[user]]\nname = \"{name}-users\"\nworkload = \"{name}-jobs\"\nsubmits-to = \"{name}\"\n"
        )
    };
    let provider = |name: &str, size: u32| {
        format!(
            "[[provider]]\nname = \"{name}\"\nprocessors = {size}\npolicy = \"conservative\"\ndisclosure = \"slots\"\n"
        )
    };
    let wide = "[[workload]]\nname = \"wide\"\njobs = [{ submit = \"1s\", processors = 6, run = \"10s\", requested = \"10s\" }]\n\
        [[user]]\nname = \"wide-users\"\nworkload = \"wide\"\nsubmits-to = \"broker\"\n\
        [[metascheduler]]\nname = \"broker\"\n[metascheduler.coallocation]\npolicy = \"shift-remap\"\n\
        overhead = { law = \"constant\", value = 20 }\n";
    let scenario = [
        "[results]\nformat = \"csv\"\n".to_owned(),
        provider("a", 8),
        provider("b", 4),
        local("a", "5s", "20s"),
        local("b", "10s", "10s"),
        wide.to_owned(),
    ];
    let folder = Folder::with(&[("scenario.toml", &scenario.concat())]);
    folder.haggle(&["run", "scenario.toml", "-o", "out", "--no-figures", "--check"]);
    insta::assert_snapshot!(folder.haggle(&["explain", "out", "wide!1"]), @"
    exit code: 0
    ----- stdout -----
    job 2 of the run, wide!1: external, 6 processors, at most 10 s

       1 s  submitted by wide-users to broker
       1 s  placed; it runs in 1 part, with a promised completion at 22 s
       1 s  booked at a (4), b (2), from 10 s
       5 s  remapped to a (6), as a asked: starts at 5 s, 5 s earlier, and ends 7 s earlier
       5 s  all parts started, 4 s after the submission
      15 s  completed after running 10 s, 7 s earlier than promised

      where its time went      waiting, s    running, s
      too few processors free           4
      computing                                      10
      all                               4            10

      part at  processors  queued, s  first start, s  last end, s  promised, s  promise
      a                 6          1               5           15           22  kept

    Its providers reported 1 time that their plans had changed; it moved 1 time.
    ----- stderr -----
    ");
    insta::assert_snapshot!(folder.read("out/bookings.csv"), @"
    job,number,time,asked_by,holder,processors,planned_starting_time,planned_finish_time
    2,1,1.0,,a,4,10.0,22.0
    2,1,1.0,,b,2,10.0,22.0
    2,2,5.0,a,a,6,5.0,15.0
    ");
}

/// Jobs of one provider of 4 processors: submitted, processors, requested, run; s.
fn of_four(provider: &str, jobs: &[[u32; 4]]) -> String {
    let job = |[submit, processors, requested, run]: &[u32; 4]| {
        format!(
            "{{ submit = \"{submit}s\", processors = {processors}, requested = \"{requested}s\", run = \"{run}s\" }}"
        )
    };
    let jobs = jobs.iter().map(job).collect::<Vec<_>>().join(", ");
    format!(
        r#"
[[workload]]
name = "jobs"
jobs = [{jobs}]

[[provider]]
name = "north"
processors = 4
{provider}

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#
    )
}

/// Job 1 is the head of the queue from 10 s on, and can start at 100 s.
const BACKFILLED: [[u32; 4]; 4] =
    [[0, 3, 100, 100], [10, 4, 60, 50], [20, 1, 40, 30], [30, 1, 100, 20]];

#[test]
fn a_job_that_was_backfilled() {
    let told = told(&of_four("policy = \"easy\"", &BACKFILLED), "2");
    assert!(told.contains("It did not wait"), "{told}");
    assert!(
        told.contains(
            "It was backfilled: job 1 (jobs!2), which needs 4 processors, stood before it.\n  By the limits of the \
             running jobs, job 1 could start at 100 s; this one ends before that, by its own limit.\n"
        ),
        "{told}"
    );
    // The head leaves one processor.
    let room = [[0, 3, 100, 100], [10, 3, 60, 50], [20, 1, 500, 400]];
    let told = crate::cli_explain::told(&of_four("policy = \"easy\"", &room), "2");
    assert!(
        told.contains(
            "job 1 could start at 100 s, and leaves 1 processor free; this one needs 1 processor.\n"
        ),
        "{told}"
    );
}

#[test]
fn a_job_that_was_not_backfilled() {
    let told = told(&of_four("policy = \"easy\"", &BACKFILLED), "3");
    for line in [
        "On arrival, job 1 was ahead of it.",
        "Enough were free for 50 s of that time, at longest from 50 s to 100 s:",
        "it would have delayed job 1 (jobs!2), the head of the queue, which needed 4 processors and could start",
        "at 100 s by the limits of the running jobs.",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
}

#[test]
fn a_job_whose_booking_was_displaced() {
    let conservative = "policy = \"conservative\"\noverrun = \"extend\"";
    let told = told(&of_four(conservative, &[[0, 4, 50, 100], [10, 4, 60, 50]]), "1");
    assert!(
        told.contains(
            "Its provider had booked it at 50 s; it was displaced, and started 50 s later.\n  At that instant job 0 \
             (jobs!1), which ran past its limit, held 4 processors.\n"
        ),
        "{told}"
    );
    // A job that ends early lets the next one start earlier.
    let told = crate::cli_explain::told(
        &of_four("policy = \"conservative\"", &[[0, 4, 50, 20], [10, 4, 60, 50]]),
        "1",
    );
    assert!(told.contains("Its provider had booked it at 50 s; it started 30 s earlier"), "{told}");
}

/// Under `replan`, job 2 is placed before job 1 when job 0 ends. All jobs end exactly as planned.
#[test]
fn a_booking_that_moved_although_no_job_ended_early() {
    let replan =
        r#"policy = { name = "conservative", order = "shortest", compression = "replan" }"#;
    let world = of_four(replan, &[[0, 4, 10, 10], [1, 4, 5, 5], [2, 4, 3, 3]]);
    let earlier = told(&world, "2");
    assert!(
        earlier.contains(
            "Its provider had booked it at 15 s; its reservation was moved when the plan was made anew,\nand it \
             started 5 s earlier.\n"
        ),
        "{earlier}"
    );
    let later = told(&world, "1");
    assert!(
        later.contains(
            "Its provider had booked it at 10 s; it was displaced, and started 3 s later.\n  At that instant \
             job 2 (jobs!3), which was queued later, held 4 processors.\n"
        ),
        "{later}"
    );
    // With compression by start, an end on time moves nothing.
    let by_start = told(&world.replace("replan", "by-start"), "2");
    assert!(
        by_start.contains("It started when its provider had booked it: at 15 s.\n"),
        "{by_start}"
    );
}

/// Job 1 ends 8 s early, and job 2 stays at the start that was booked after it.
#[test]
fn a_job_that_waited_for_its_own_booking() {
    let none = r#"policy = { name = "conservative", order = "largest", compression = "none" }"#;
    let world = of_four(none, &[[0, 1, 1, 1], [1, 4, 12, 4], [2, 1, 2, 1]]);
    let waited = told(&world, "2");
    for line in [
        "On arrival, no job was ahead of it.",
        "Enough were free for 8 s of that time, at longest from 5 s to 13 s:",
        "it waited for its own booking at 13 s, as no reservation moves under this compression.",
        "It started when its provider had booked it: at 13 s.",
    ] {
        assert!(waited.contains(line), "{line}: {waited}");
    }
    assert!(!waited.contains("reservations for others"), "{waited}");
}

#[test]
fn several_jobs_and_all_starts() {
    let folder = runs();
    let both = folder.haggle(&["explain", "easy", "2", "local!3"]);
    assert!(both.contains("job 2 of the run, local!2"), "{both}");
    assert!(both.contains("job 3 of the run, local!3"), "{both}");
    let json = json_of(&folder.haggle(&["explain", "easy", "2", "3", "--json"]));
    assert_eq!(json.as_array().map(Vec::len), Some(2));
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "--starts"]), @"
    exit code: 0
    ----- stdout -----
      start, s  job              processors  provider  submitted, s  waited, s  reason
             0    0  local!1              3  north                0          0  at once
             0    1  external!1           2  south                0          0  at once
            20    3  local!3              1  north               20          0  backfilled: ends before job 2 can start, at 100 s
           100    2  local!2              4  north               10         90  job 0 ends
             -    4  local!4              8                      30          0  too wide
    ----- stderr -----
    ");
    insta::assert_snapshot!(folder.haggle(&["explain", "fcfs", "--starts"]), @"
    exit code: 0
    ----- stdout -----
      start, s  job              processors  provider  submitted, s  waited, s  reason
             0    0  local!1              3  north                0          0  at once
             0    1  external!1           2  south                0          0  at once
           100    2  local!2              4  north               10         90  job 0 ends
           150    3  local!3              1  north               20        130  job 2 ends
             -    4  local!4              8                      30          0  too wide
    ----- stderr -----
    ");
    let none = folder.haggle(&["explain", "easy"]);
    assert!(none.starts_with("exit code: 2\n"), "{none}");
}

/// At 1 s, job 1 runs for no time. Job 4 passes job 2 first; job 2 then starts in the place of job
/// 1. At 2 s, job 5 runs for no time, after job 3 has started.
#[test]
fn jobs_that_run_for_no_time_are_no_causes() {
    let jobs = [[0, 1, 2, 2], [1, 2, 1, 0], [1, 2, 1, 1], [1, 2, 5, 5], [1, 1, 1, 1], [1, 1, 1, 0]];
    let world = of_four(r#"policy = { name = "easy", order = "largest" }"#, &jobs);
    let folder = Folder::with(&[("s.toml", &world)]);
    folder.haggle(&["run", "s.toml", "-o", "out", "--quiet"]);
    let shown = folder.haggle(&["explain", "out", "--starts"]);
    for (job, reason) in
        [("jobs!3", "  at once"), ("jobs!5", "  at once"), ("jobs!4", "  jobs 0, 2, 4 end")]
    {
        let line = shown.lines().find(|line| line.contains(job)).expect("its row");
        assert!(line.ends_with(reason), "{job}: {shown}");
    }
}

/// Job 0 is lost at 5 s with one of its processors, which returns at 9 s.
#[test]
fn all_starts_have_those_of_attempts_that_were_lost() {
    let starts = |on_failure: &str| {
        let policy = format!("policy = \"fcfs\"\non-failure = \"{on_failure}\"");
        let world = of_four(&policy, &[[0, 4, 10, 10], [1, 2, 10, 10]]);
        let world = format!("{world}\n[[failures]]\nnodes = 1\noutages = [[\"5s\", \"9s\"]]\n");
        let folder = Folder::with(&[("s.toml", &world)]);
        let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--quiet", "--check"]);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
        let shown = folder.haggle(&["explain", "out", "--starts"]);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        stdout_of(&shown).lines().skip(1).map(words).collect::<Vec<_>>()
    };
    let again = [
        "0 0 jobs!1 1 4 north 0 0 at once",
        "9 0 jobs!1 2 4 north 0 4 waited: processors down",
        "19 1 jobs!2 1 2 north 1 18 job 0 ends",
    ];
    assert_eq!(starts("restart"), again);
    let given_up = ["0 0 jobs!1 4 north 0 0 at once", "5 1 jobs!2 2 north 1 4 job 0 ends"];
    assert_eq!(starts("fail"), given_up);
}

#[test]
fn a_sweep_is_no_run() {
    let folder = Folder::with(&[]);
    let sweep = folder.path().join("sweep");
    std::fs::create_dir(&sweep).expect("a folder");
    std::fs::write(sweep.join("scenario.toml"), "").expect("a file");
    let said = folder.haggle(&["explain", "sweep", "1"]);
    assert!(said.contains("`sweep` is the folder of a sweep"), "{said}");
    assert!(said.contains("haggle show --runs sweep/scenario.toml"), "{said}");
}

/// Two tasks begin at 63,388 s and are lost 100 s later. Their resources work again at 63,788 s,
/// which the scheduler learns at 63,900 s.
const STATIC: &str = r#"
[scenario]
horizon = "1d"

[[workload]]
name = "flows"
model = "workflows"

[workload.workflows]
count = 1
files = ["fork.json"]
recorded-mips = 1

[[user]]
name = "users"
workload = "flows"
submits-to = "grid"

[grid]
policy = { name = "static-workflow", algorithm = "heft" }
period = "0s"
information = { mode = "periodic", delay = "5min" }
network = { model = "constant", bandwidth = "8 Gbit/s", latency = "0s" }

[[grid.site]]
name = "alpha"
resources = 2
mips = 1
slots = 1

[[failures]]
outages = [["63488s", "63788s"]]
"#;

const FORK: &str = r#"{
  "name": "fork", "schemaVersion": "1.4",
  "workflow": { "tasks": [
    {"name": "a", "type": "compute", "runtimeInSeconds": 10, "parents": [], "files": []},
    {"name": "b", "type": "compute", "runtimeInSeconds": 200, "parents": ["a"], "files": []},
    {"name": "c", "type": "compute", "runtimeInSeconds": 200, "parents": ["a"], "files": []},
    {"name": "d", "type": "compute", "runtimeInSeconds": 50, "parents": ["b", "c"], "files": []}
  ] }
}"#;

#[test]
fn a_task_whose_resource_was_down_or_believed_down() {
    let folder = Folder::with(&[("it.toml", STATIC), ("fork.json", FORK)]);
    let said =
        folder.haggle(&["run", "it.toml", "-o", "out", "--quiet", "--no-figures", "--check"]);
    assert!(said.starts_with("exit code: 0\n"), "{said}");
    insta::assert_snapshot!(folder.haggle(&["explain", "out", "1"]), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, flows!2: task "b", external, 1 processor, at most 200 s (3 min)

      63378 s  17 h 36 min  submitted by users to grid
      63388 s  17 h 36 min  may start from now on: its parents are done
      63388 s  17 h 36 min  attempt 1 sent to alpha-1
      63388 s  17 h 36 min  attempt 1 began to compute at alpha-1
      63488 s  17 h 38 min  attempt 1 at alpha-1 failed after computing 100.1 s: resource down until 63788 s; no checkpoint of it can be used
      63900 s  17 h 45 min  attempt 2 sent to alpha-1
      63900 s  17 h 45 min  attempt 2 began to compute at alpha-1
      64100 s  17 h 48 min  attempt 2 at alpha-1 computed; its output is sent
      64100 s  17 h 48 min  completed after running 200 s (3 min)

      where its time went            waiting, s         running, s
      before its parents were done           10
      resource of the schedule down         300  5 min
      repair not known yet                  112  1 min
      wasted computing                    100.1  1 min
      computing                                                200  3 min
      all                                 522.1  8 min         200  3 min

    The schedule had it on alpha-1, which was down from 63488 s to 63788 s. It worked again, and the scheduler was not notified of that, from 63788 s to 63900 s.

    The way to it, task 1 of workflow 0 of flows: each task waited for the one above it, the last of its parents to be done.

      task  job      may start, s  waiting, s  data, s  computing, s  wasted, s  done, s
         0  flows!1         63378           0        0            10          0    63388
         1  flows!2         63388         412        0           200      100.1    64100
       all                                412        0           210      100.1

    The workflow was done at 64150 s, by task 3; the explanation of flows!4 has its actual critical path.
    ----- stderr -----
    "#);
}
