//! `haggle compare`: what differs between two runs.

use crate::small_runs::runs;

#[test]
fn a_run_is_identical_with_itself() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "easy"]), @r#"
    exit code: 0
    ----- stdout -----
    A  easy
    B  easy

    identical: all tables and the summary are the same

    the scenarios are the same
    ----- stderr -----
    "#);
}

#[test]
fn messages_that_only_one_run_kept_are_no_difference() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "silent"]), @r#"
    exit code: 0
    ----- stdout -----
    A  easy
    B  silent

    identical: the tables that both have and the summary are the same
    only one has messages

      scenario          A       B
      results.messages  "all"   "none"
      scenario.name     "easy"  "silent"
    ----- stderr -----
    "#);
}

#[test]
fn another_policy_moves_jobs() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "fcfs", "--jobs", "1"]), @r#"
    exit code: 1
    ----- stdout -----
    A  easy
    B  fcfs

    different: attempts, jobs, messages, placements, resources

      scenario               A       B
      provider.north.policy  "easy"  "fcfs"
      scenario.name          "easy"  "fcfs"

      metric                               A       B    B - A        %
      makespan                           150     180      +30   +20.00
      utilisation                     0.6111  0.5093  -0.1019   -16.67
      utilisation_in_window           0.6111  0.5093  -0.1019   -16.67
      average_weighted_response_time  107.45  114.55    +7.09    +6.60
      mean_waiting_time                22.50      55   +32.50  +144.44
      median_waiting_time                  0      45      +45        -
      p95_waiting_time                 76.50     124   +47.50   +62.09
      max_waiting_time                    90     130      +40   +44.44
      mean_turnaround_time                70  102.50   +32.50   +46.43
      median_turnaround_time              65     120      +55   +84.62
      p95_turnaround_time                134     157      +23   +17.16
      max_turnaround_time                140     160      +20   +14.29
      mean_slowdown                     1.45    2.53    +1.08   +74.71
      median_slowdown                      1    1.90  +0.9000   +90.00
      p95_slowdown                      2.53    4.95    +2.42   +95.78
      max_slowdown                      2.80    5.33    +2.53   +90.48
      mean_bounded_slowdown             1.45    2.53    +1.08   +74.71
      median_bounded_slowdown              1    1.90  +0.9000   +90.00
      p95_bounded_slowdown              2.53    4.95    +2.42   +95.78
      max_bounded_slowdown              2.80    5.33    +2.53   +90.48
      jobs                                 5       5        0        0
      completed_jobs                       4       4        0        0
      walltime_reached_jobs                0       0        0        -
      cancelled_jobs                       0       0        0        -
      failed_jobs                          0       0        0        -
      rejected_jobs                        1       1        0        0
      unfinished_jobs                      0       0        0        -
      promises_broken                      0       0        0        -

    5 jobs in both: 0 start earlier in B, 1 later, 3 at the same time
    1 of them started in neither

      largest differences  processors  start in A, s  start in B, s  B - A, s  provider
      local!3                       1             20            150      +130  north
    ----- stderr -----
    "#);
}

#[test]
fn a_comparison_as_json_has_the_same_facts() {
    let folder = runs();
    let said = folder.haggle(&["compare", "easy", "fcfs", "--json"]);
    for fact in ["exit code: 1", "\"identical\": false", "\"later\": 1", "\"start_b\": 150.0"] {
        assert!(said.contains(fact), "{fact} is not in {said}");
    }
}

#[test]
fn folders_that_are_no_runs_are_refused() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "."]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `.` holds no results: there is no provenance.json in it

    hint: `haggle run SCENARIO -o DIR` makes such a folder
    "#);
    insta::assert_snapshot!(folder.haggle(&["compare", "nowhere", "easy"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cannot read `nowhere`: No such file or directory (os error 2)
    "#);
}
