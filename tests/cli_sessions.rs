//! Sessions on a grid: placed at their arrival on resources that reserve shares, or rejected.

use serde_json::Value;

use crate::command::{Folder, stdout_of};

/// Three resources of 10 MIPS. Every session computes for 100 s on the reference processor.
fn placed(grid: &str) -> String {
    format!(
        r#"
[scenario]
name = "placed"

[[workload]]
name = "light"
share = "30%"
jobs = [{{ submit = "0s", processors = 1, run = "100s", user = 2 }}, {{ submit = "2s", processors = 1, run = "100s", user = 1 }}]

[[workload]]
name = "heavy"
share = "80%"
jobs = [
    {{ submit = "0s", processors = 1, run = "100s", user = 1 }},
    {{ submit = "1s", processors = 1, run = "100s", user = 1 }},
    {{ submit = "3s", processors = 1, run = "100s", user = 1 }},
    {{ submit = "40s", processors = 1, run = "100s", user = 1 }},
]

[[user]]
name = "light-users"
workload = "light"
submits-to = "grid"

[[user]]
name = "heavy-users"
workload = "heavy"
submits-to = "grid"

[grid]
{grid}
period = "0s"
information = {{ mode = "immediate" }}

[[grid.site]]
name = "hosts"
resources = 3
mips = 10
sharing = "reserved"

[results]
format = "csv"
messages = "counts"
"#
    )
}

#[test]
fn a_session_has_its_share_to_itself_or_is_rejected() {
    let folder = Folder::with(&[("placed.toml", &placed("policy = \"full-fill\""))]);
    insta::assert_snapshot!(folder.haggle(&["run", "placed.toml", "-o", "out", "--check"]), @r"
    exit code: 0
    ----- stdout -----
    6 jobs on 3 resources of a grid
      5 completed, 1 rejected (1 no room)
      makespan 52 s (0.0 days)
      0 failures, availability 100.00 %, busy 46.24 %; 5 attempts, 0 jobs lost
      of all work 100.00 % useful, 0.00 % lost, 0.00 % duplicate, 0.00 % in progress
      83.33 % of sessions accepted; 31.75 % of resources reserved, 0.66 sessions on each

                                      mean         std      median        95 %         max
    waiting time, s                   0.00        0.00        0.00        0.00        0.00
    turnaround time, s               20.83       11.41       12.50       33.33       33.33
    slowdown                          1.00        0.00        1.00        1.00        1.00
    bounded slowdown (10 s)           1.00        0.00        1.00        1.00        1.00

                                                                        waiting time, s  mean bounded
    workload               jobs  completed  rejected  utilisation       mean       95 %      slowdown
    light                     2          2         0            -       0.00       0.00          1.00
    heavy                     4          3         1            -       0.00       0.00          1.00

    results  out
    digest   862f12f8c3f138b0230a38c5c09981f162e7ebd8561d3cf7310a15b7bc91cc50
    ----- stderr -----
    ");
    insta::assert_snapshot!(folder.read("out/attempts.csv"), @"
    job,job_id,workload_name,attempt,provider,submission_time,queued_time,starting_time,finish_time,requested_number_of_resources,allocated_resources,outcome,promised_finish_time,saved_time,checkpointing_time,parent,slot_left_time,work_at_start,work_at_end,computing_time,data_time,checkpoints,checkpoints_omitted,stopped_for
    1,1,heavy,1,hosts-2,0.0,0.0,0.0,12.5,1,1,completed,,,0.0,,12.5,0.0,100.0,12.5,0.0,0,0,
    2,2,heavy,1,hosts-3,1.0,1.0,1.0,13.5,1,2,completed,,,0.0,,13.5,0.0,100.0,12.5,0.0,0,0,
    0,1,light,1,hosts-1,0.0,0.0,0.0,33.333334,1,0,completed,,,0.0,,33.333334,0.0,100.0,33.333334,0.0,0,0,
    3,2,light,1,hosts-1,2.0,2.0,2.0,35.333334,1,0,completed,,,0.0,,35.333334,0.0,100.0,33.333334,0.0,0,0,
    5,4,heavy,1,hosts-1,40.0,40.0,40.0,52.5,1,0,completed,,,0.0,,52.5,0.0,100.0,12.5,0.0,0,0,
    ");
    let summary = folder.summary("out");
    insta::assert_snapshot!(format!("{:#}", summary["grid"]["sessions"]), @r#"
    {
      "accepted": 5,
      "accepted_percent": 83.33333333333333,
      "mean_share": 0.6,
      "per_resource": 0.6613756698412698,
      "rejected": 1,
      "reserved": 0.31746032
    }
    "#);
    let outcomes = |place: usize| summary["workloads"][place]["outcomes"]["rejected"].as_u64();
    assert_eq!((outcomes(0), outcomes(1)), (Some(0), Some(1)));
}

/// Light and heavy sessions of several users for a day, on resources that fail.
fn failing(grid: &str) -> String {
    format!(
        r#"
[scenario]
name = "failing"
horizon = "2d"

[[workload]]
name = "light"
model = "independent-jobs"
share = "5%"
data = {{ input = "1 MB", output = "2 MB" }}
independent-jobs = {{ between = {{ law = "exponential", mean = "90s" }}, length = "1d", run = {{ law = "exponential", mean = "3min" }}, users = 4 }}

[[workload]]
name = "heavy"
model = "independent-jobs"
share = "40%"
independent-jobs = {{ between = {{ law = "exponential", mean = "6min" }}, length = "1d", run = {{ law = "exponential", mean = "24min" }}, users = 4 }}

[[workload]]
name = "both"
merge = ["light", "heavy"]

[[user]]
name = "users"
workload = "both"
submits-to = "grid"

[grid]
{grid}
period = "0s"
information = {{ mode = "delayed", delay = "5min" }}

[[grid.site]]
name = "hosts"
resources = 6
sharing = "reserved"
slots = 12

[[failures]]
nominal = 95
"#
    )
}

#[test]
fn every_policy_balances_its_books_on_both_drivers() {
    for grid in [
        "policy = \"user-clustering\"",
        "policy = \"full-fill\"",
        "policy = \"full-fill-round-robin\"",
        "policy = { name = \"with-limit\", limit = \"39%\" }",
        "policy = { name = \"with-dynamic-limit\", light = \"5%\", between = \"1h\", holding = \"1min\" }",
    ] {
        let folder = Folder::with(&[("failing.toml", &failing(grid))]);
        stdout_of(&folder.haggle(&["run", "failing.toml", "-o", "out", "--check"]));
        stdout_of(&folder.haggle(&["run", "failing.toml", "-o", "two", "--driver", "actix"]));
        assert_eq!(folder.read("out/summary.json"), folder.read("two/summary.json"), "{grid}");
        let summary = folder.summary("out");
        let grid = &summary["grid"];
        let count = |key: &str| grid[key].as_u64().expect("a number");
        let of_sessions = |key: &str| grid["sessions"][key].as_u64().expect("a number");
        assert_eq!(of_sessions("accepted") + of_sessions("rejected"), count("jobs"));
        assert_eq!(count("done") + count("lost") + count("active"), of_sessions("accepted"));
        assert!(count("lost") > 0 && count("rejected") > 0, "{grid}");
        let share = |value: &Value| value.as_f64().expect("a share");
        assert!(share(&grid["sessions"]["reserved"]) <= share(&grid["availability"]));
    }
}

#[test]
fn what_does_not_go_together_is_refused_with_its_place() {
    let sessions = r#"
[scenario]
name = "wrong"

[[workload]]
name = "light"
share = "0.001%"
jobs = []

[[workload]]
name = "heavy"
jobs = []

[[workload]]
name = "huge"
share = "120%"
jobs = []

[[user]]
name = "users"
workload = "light"
submits-to = "grid"

[grid]
policy = { name = "with-dynamic-limit", limit = "50%", light = "5%", blocking = "0%", between = "0s" }
replicas = { max = 2 }
checkpoints = { rule = "periodic", interval = "1h" }
gain = "5%"
prepare = "1s"
schedule = "2s"

[[grid.site]]
name = "alpha"
resources = 2
load = { initial-max = "20%" }

[[grid.site]]
name = "beta"
resources = 2
sharing = "reserved"
load = { initial-max = "20%" }
"#;
    let folder = Folder::with(&[("wrong.toml", sessions)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "wrong.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × a share is 0.01% or more
       ╭─[wrong.toml:7:9]
     7 │ share = "0.001%"
       ·         ────┬───
       ·             ╰── too small
       ╰────
      help: write percent of a resource, such as "10%"

      × the share of a resource that these sessions request is missing
        ╭─[wrong.toml:10:1]
     10 │ [[workload]]
        · ──────┬─────
        ·       ╰── `share` is missing here
        ╰────
      help: add a share, such as `share = "10%"`

      × `120%` is not a share
        ╭─[wrong.toml:16:9]
     16 │ share = "120%"
        ·         ───┬──
        ·            ╰── cannot be read
        ╰────
      help: write percent from 0% to 100%, such as "5%"

      × sessions are placed when they arrive, not in rounds
        ╭─[wrong.toml:24:1]
     24 │ [grid]
        · ───┬──
        ·    ╰── `period` is not zero
        ╰────
      help: write `period = "0s"` under [grid]

      × [grid.policy] has no `holding`
        ╭─[wrong.toml:25:10]
     25 │ policy = { name = "with-dynamic-limit", limit = "50%", light = "5%", blocking = "0%", between = "0s" }
        ·          ──────────────────────────────────────────────┬──────────────────────────────────────────────
        ·                                                        ╰── `holding` is missing here
        ╰────
      help: add `holding`: Mean duration of a light session, assumed until 30 of them have ended

      × [grid.policy] with `name = "with-dynamic-limit"` has no key `limit`
        ╭─[wrong.toml:25:41]
     25 │ policy = { name = "with-dynamic-limit", limit = "50%", light = "5%", blocking = "0%", between = "0s" }
        ·                                         ──┬──
        ·                                           ╰── unknown key
        ╰────
      help: it is a key of "with-limit"; with `name = "with-dynamic-limit"` there are `between`,
            `blocking`, `holding`, `light`, `name`, `share`

      × some sessions are blocked, however much room is kept for them
        ╭─[wrong.toml:25:81]
     25 │ policy = { name = "with-dynamic-limit", limit = "50%", light = "5%", blocking = "0%", between = "0s" }
        ·                                                                                 ──┬─
        ·                                                                                   ╰── too few
        ╰────
      help: write 0.01% or more, such as "5%"

      × the time between sessions must be above zero
        ╭─[wrong.toml:25:97]
     25 │ policy = { name = "with-dynamic-limit", limit = "50%", light = "5%", blocking = "0%", between = "0s" }
        ·                                                                                                 ──┬─
        ·                                                                                                   ╰── no time
        ╰────
      help: write a length of time above zero, such as "5min"

      × [grid] has no key `replicas`
        ╭─[wrong.toml:26:1]
     26 │ replicas = { max = 2 }
        · ────┬───
        ·     ╰── unknown key
        ╰────
      help: it belongs to `policy`: write `policy = { name = "unconditional-rep", replicas = … }`

      × no job writes checkpoints under this policy
        ╭─[wrong.toml:27:15]
     27 │ checkpoints = { rule = "periodic", interval = "1h" }
        ·               ───────────────────┬──────────────────
        ·                                  ╰── not used
        ╰────
      help: remove it, or set `policy` to "migration", "rescheduling", "combined-ft" or "workflow"

      × [grid] has no key `gain`
        ╭─[wrong.toml:28:1]
     28 │ gain = "5%"
        · ──┬─
        ·   ╰── unknown key
        ╰────
      help: it belongs to `policy`: write `policy = { name = "rescheduling", gain = … }`

      × sessions do not wait: they are placed when they arrive
        ╭─[wrong.toml:30:12]
     30 │ schedule = "2s"
        ·            ──┬─
        ·              ╰── `schedule` is not zero
        ╰────
      help: remove it; `prepare` is the wait of a session on its resource

      × sessions reserve shares, and this site divides its resources equally
        ╭─[wrong.toml:32:1]
     32 │ [[grid.site]]
        · ──────┬──────
        ·       ╰── shares are equal
        ╰────
      help: write `sharing = "reserved"`, or choose a policy for jobs that share equally (`haggle list
            grid-policies`)

      × jobs outside the grid would compute on reserved shares
        ╭─[wrong.toml:41:8]
     41 │ load = { initial-max = "20%" }
        ·        ───────────┬───────────
        ·                   ╰── no room for it
        ╰────
      help: remove it; resources that reserve shares have no other load

    error: wrong.toml has 14 problems
    "#);
}

#[test]
fn shares_are_for_sessions_only() {
    let jobs = placed("policy = { name = \"fjbcr\", limit = \"50%\" }");
    let folder = Folder::with(&[("jobs.toml", &jobs)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "jobs.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × only sessions ask for a share of a resource
       ╭─[jobs.toml:7:9]
     7 │ share = "30%"
       ·         ──┬──
       ·           ╰── not used
       ╰────
      help: remove it, or choose a policy of a [grid] for sessions, such as "full-fill"

      × only sessions ask for a share of a resource
        ╭─[jobs.toml:12:9]
     12 │ share = "80%"
        ·         ──┬──
        ·           ╰── not used
        ╰────
      help: remove it, or choose a policy of a [grid] for sessions, such as "full-fill"

      × [grid.policy] with `name = "fjbcr"` has no key `limit`
        ╭─[jobs.toml:31:28]
     31 │ policy = { name = "fjbcr", limit = "50%" }
        ·                            ──┬──
        ·                              ╰── unknown key
        ╰────
      help: it is a key of "with-limit"; with `name = "fjbcr"` there are `name`, `prefers`

      × no job asks for a share under this policy
        ╭─[jobs.toml:39:11]
     39 │ sharing = "reserved"
        ·           ─────┬────
        ·                ╰── shares are reserved
        ╰────
      help: remove it, or choose a policy for sessions, such as "full-fill"

    error: jobs.toml has 4 problems
    "#);
}
