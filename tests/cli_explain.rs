//! `haggle explain`: stories that can be checked by hand.

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
    insta::assert_snapshot!(folder.haggle(&["explain", "easy", "external!1"]), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, external!1: external, 2 processors, at most 20 s

       0 s  submitted by guests to grid
       0 s  guests sent it to grid
       0 s  grid asked north when it would end there
       0 s  grid asked south when it would end there
       0 s  north told grid when it would end
       0 s  south told grid when it would end
       0 s  grid sent it to south
       0 s  south told grid that it is queued
       0 s  south told grid that it started
       0 s  grid told guests that it is queued
       0 s  grid told guests that it started
       0 s  queued at south
       0 s  started at south, 0 s after its submission
      10 s  south told grid that it is over
      10 s  grid told guests that it is over
      10 s  completed after running 10 s

    Which times were answered is in no table.

    It did not wait: it started as soon as it was queued.
    ----- stderr -----
    "#);
}

#[test]
fn without_messages_it_says_what_cannot_be_told() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["explain", "silent", "external!1"]), @r#"
    exit code: 0
    ----- stdout -----
    job 1 of the run, external!1: external, 2 processors, at most 20 s

       0 s  submitted by guests to grid
       0 s  north told when it would run the job, to grid
       0 s  south told when it would run the job, to grid
       0 s  queued at south
       0 s  started at south, 0 s after its submission
      10 s  completed after running 10 s

    The run kept no messages: who was asked, and who refused, is told only as far as
    something was disclosed. Set `messages = "all"` under [results] to keep them.

    It did not wait: it started as soon as it was queued.
    ----- stderr -----
    "#);
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
        ["\"free_max\": 1", "\"held\": 270.0", "\"longest_enough\": null", "\"kind\": \"accepted\""]
    {
        assert!(said.contains(fact), "{fact} is not in {said}");
    }
}
