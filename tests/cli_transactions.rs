//! Parts of jobs that are booked by a protocol: refusals before the run and at the first try, the
//! costs of each try, and reports about jobs that wait for each other.

use haggle_plots::distribution::{Quantity, agreements, compare};
use haggle_plots::load::{Part, Tables};
use haggle_results::RunReader;

use crate::command::{Folder, stderr_of, stdout_of, unwrapped};

/// One job whose part the smaller provider can never hold, and one whose part it can.
const WIDE: &str = r#"
[scenario]
name = "wide"

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 8, run = "10s", requested = "10s" },
    { submit = "1s", processors = 4, run = "10s", requested = "10s" },
]

[[provider]]
name = "north"
processors = 6
policy = "conservative"

[[provider]]
name = "south"
processors = 2
policy = "conservative"

[[metascheduler]]
name = "broker"

[metascheduler.coallocation]
policy = "rigid"
protocol = "two-phase"

[network]
latency = "50ms"

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"

[results]
format = "csv"
"#;

const PROTOCOLS: [&str; 9] = [
    "two-phase",
    "one-phase",
    "polling",
    "paxos",
    "negotiation",
    "claiming",
    "ordered",
    "probing",
    "watch",
];

/// The cells of a column of a table, row by row.
fn column(table: &str, name: &str) -> Vec<String> {
    let mut rows = table.lines().map(|line| line.split(',').map(str::to_owned));
    let place = rows.next().and_then(|mut it| it.position(|cell| cell == name)).expect("a column");
    rows.map(|mut row| row.nth(place).expect("a cell")).collect()
}

#[test]
fn a_part_that_nobody_could_hold_is_refused_at_its_first_try() {
    for protocol in PROTOCOLS {
        let folder = Folder::with(&[("wide.toml", &WIDE.replace("two-phase", protocol))]);
        let shown = folder.haggle(&["run", "wide.toml", "-o", "out", "--check"]);
        assert!(shown.starts_with("exit code: 0"), "{protocol}: {shown}");
        assert!(shown.contains("1 completed, 1 rejected (1 too wide)"), "{protocol}: {shown}");
        let told = "note: 1 job needs more processors than its receiver has";
        assert!(unwrapped(stderr_of(&shown)).contains(told), "{protocol}: {shown}");
        let table = folder.read("out/transactions.csv");
        assert_eq!(column(&table, "job"), ["0", "1"], "{protocol}: {table}");
        assert_eq!(column(&table, "outcome"), ["failed", "agreed"], "{protocol}: {table}");
        let left: Vec<f64> = column(&folder.read("out/jobs.csv"), "left_time")
            .iter()
            .map(|it| it.parse().expect("a time"))
            .collect();
        assert!(left[0] < 1.5, "{protocol}: {left:?}");
        let shown = folder.haggle(&["verify", "out"]);
        assert!(shown.starts_with("exit code: 0"), "{protocol}: {shown}");
    }
}

#[test]
fn a_job_that_is_too_wide_is_warned_about_before_the_run() {
    let said = |text: &str| {
        let folder = Folder::with(&[("wide.toml", text)]);
        folder.haggle(&["validate", "wide.toml"])
    };
    insta::assert_snapshot!(said(WIDE), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
      ⚠ a job of workload "jobs" needs 8 processors, and metascheduler "broker" can give it 5 in equal
      │ parts: it will be rejected
       ╭─[wide.toml:8:35]
     8 │     { submit = "0s", processors = 8, run = "10s", requested = "10s" },
       ·                                   ┬
       ·                                   ╰── too wide
       ╰────
      help: write 5 at most, or submit it to an actor with more

    wide.toml: 1 warning
    wide.toml: valid, 2 providers, 1 workload, 1 run
    "#);
    // By published free times, the job would get all processors of both.
    let slots = WIDE
        .replace("protocol = \"two-phase\"", "overhead-max = 20")
        .replace("policy = \"conservative\"", "policy = \"conservative\"\ndisclosure = \"slots\"");
    assert!(!said(&slots).contains("rejected"), "{}", said(&slots));
    let wider = unwrapped(&said(&slots.replace("processors = 8", "processors = 9")));
    assert!(wider.contains("can give it 8 at all of its providers together"), "{wider}");
    let folder =
        Folder::with(&[("slots.toml", &slots.replace("processors = 8", "processors = 9"))]);
    let shown = folder.haggle(&["run", "slots.toml", "-o", "out", "--check"]);
    assert!(shown.contains("1 completed, 1 rejected (1 no provider)"), "{shown}");
    // A step may remove jobs, so the rejection is not certain.
    let first = WIDE.replace(
        "[[provider]]\nname = \"north\"",
        "[[workload.step]]\nkind = \"first\"\njobs = 1\n\n[[provider]]\nname = \"north\"",
    );
    assert!(!said(&first).contains("rejected"), "{}", said(&first));
}

/// Its earliest possible completion is after the user's deadline.
#[test]
fn a_job_that_is_spread_and_cannot_be_done_in_time_has_no_window() {
    let late = WIDE
        .replace("protocol = \"two-phase\"", "overhead-max = 0")
        .replace("policy = \"conservative\"", "policy = \"conservative\"\ndisclosure = \"slots\"")
        .replace("processors = 4, run", "processors = 4, deadline = \"15s\", run");
    let folder = Folder::with(&[("late.toml", &late)]);
    let shown = folder.haggle(&["run", "late.toml", "-o", "out", "--check"]);
    assert!(shown.contains("1 completed, 1 rejected (1 no window)"), "{shown}");
    let shown = folder.haggle(&["explain", "out", "jobs!2"]);
    assert!(
        shown.contains("Its window, from 1 s to 15 s, had no room for 4 processors"),
        "{shown}"
    );
}

/// Provider p-2 is down when the job has been agreed on, until the end of the run.
const HALF_BEGUN: &str = r#"
[scenario]
horizon = "5s"

[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 4, run = "1s", requested = "1s" }]

[[provider]]
name = "p"
count = 2
processors = 2
policy = "conservative"

[[metascheduler]]
name = "broker"

[metascheduler.coallocation]
policy = "rigid"
protocol = "one-phase"
retry = "500ms"

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"

[network]
latency = "100ms"

[[failures]]
actors = ["p-2"]
outages = [["250ms", "8s"]]

[results]
format = "csv"
"#;

#[test]
fn a_part_may_not_have_begun_at_the_end_of_the_run() {
    let folder = Folder::with(&[("s.toml", HALF_BEGUN)]);
    let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check", "--quiet"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let attempts = folder.read("out/attempts.csv");
    assert_eq!(column(&attempts, "starting_time"), ["0.3", ""]);
    assert_eq!(column(&attempts, "outcome"), ["completed", "unfinished"]);
}

#[test]
fn times_that_are_too_short_for_the_network_are_refused() {
    for (rules, expected) in [
        (
            "protocol = { name = \"two-phase\", lease = \"1s\" }",
            "a part is held for 1s, and votes and a commit may take 1100ms",
        ),
        ("patience = \"90ms\"", "and a message and its answer may take 100ms"),
        ("retry = \"90ms\"", "`retry` is shorter than a message and its answer take, 100ms"),
    ] {
        let told = "protocol = \"two-phase\"";
        let rules = if rules.starts_with("protocol") { rules } else { &format!("{told}\n{rules}") };
        let folder = Folder::with(&[("short.toml", &WIDE.replace(told, rules))]);
        let shown = folder.haggle(&["run", "short.toml", "-o", "out"]);
        assert!(shown.starts_with("exit code: 3"), "{shown}");
        assert!(shown.contains(expected), "{shown}");
        assert_eq!(folder.names(), ["short.toml"]);
    }
}

/// A key of one protocol is refused for others. A key of all protocols causes a warning if there is
/// no protocol.
#[test]
fn keys_of_another_protocol_are_refused_or_warned_about() {
    let slots = WIDE
        .replace("policy = \"conservative\"", "policy = \"conservative\"\ndisclosure = \"slots\"");
    let said = |told: &str| {
        let folder = Folder::with(&[("s.toml", &slots.replace("protocol = \"two-phase\"", told))]);
        unwrapped(&folder.haggle(&["validate", "s.toml"]))
    };
    let other = said("protocol = { name = \"ordered\", lease = \"5s\" }");
    assert!(other.starts_with("exit code: 3"), "{other}");
    assert!(other.contains("with `name = \"ordered\"` has no key `lease`"), "{other}");
    assert!(other.contains("it is a key of \"two-phase\", \"polling\" or \"probing\""), "{other}");
    let claims = said("protocol = \"claiming\"\npatience = \"9s\"");
    assert!(
        claims.contains("`patience` of the co-allocation of metascheduler \"broker\""),
        "{claims}"
    );
    assert!(claims.contains("a claim is made until there is room"), "{claims}");
    let none = said("patience = \"9s\"\nback-off = \"none\"");
    for key in ["patience", "back-off"] {
        assert!(none.contains(&format!("`{key}` of the co-allocation")), "{none}");
    }
    assert!(none.contains("without a `protocol` there is no answer to wait for"), "{none}");
}

/// Each of two jobs holds one provider and waits for the other one.
const CROSSED: &str = r#"
[scenario]
name = "crossed"
horizon = "1h"

[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 8, run = "10s", requested = "10s" }]

[[workload]]
name = "others"
jobs = [{ submit = "0s", processors = 8, run = "10s", requested = "10s" }]

[[provider]]
name = "site"
count = 2
processors = 4
policy = "conservative"

[[metascheduler]]
name = "one"
coallocation = { policy = "rigid", protocol = { name = "ordered", order = "in-turn" } }

[[metascheduler]]
name = "two"
coallocation = { policy = "rigid", protocol = { name = "ordered", order = "in-turn" } }

[network]
latency = "1s"

[[user]]
name = "users"
workload = "jobs"
submits-to = "one"

[[user]]
name = "more-users"
workload = "others"
submits-to = "two"

[results]
format = "csv"

[[figure]]
kind = "agreement-ecdf"
"#;

/// A run that stops at its horizon may end in a deadlock, so the command succeeds. The warning must
/// still be visible.
#[test]
fn a_deadlock_at_the_horizon_is_a_warning() {
    let folder = Folder::with(&[("crossed.toml", CROSSED)]);
    let shown = folder.haggle(&["run", "crossed.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let told =
        "jobs held processors and waited for each other in circles (deadlocks: 1, the first at";
    assert!(stderr_of(&shown).contains(told), "{shown}");
    let summary = folder.summary("out");
    let warnings = summary["warnings"].as_array().expect("a list");
    assert!(
        warnings.iter().any(|it| it.as_str().is_some_and(|it| it.starts_with(told))),
        "{warnings:?}"
    );
    assert_eq!(summary["transactions"]["deadlocks"], 1);
    assert_eq!(summary["transactions"]["first_deadlock"], 3.0);
    let table = folder.read("out/transactions.csv");
    assert_eq!(column(&table, "outcome"), ["open", "open"], "{table}");
    assert!(shown.contains("figure left out"), "{shown}");
    assert!(shown.contains("no parts of a job were agreed on"), "{shown}");
    // In a common order there is no deadlock.
    let folder = Folder::with(&[("crossed.toml", &CROSSED.replace("in-turn", "ascending"))]);
    let shown = folder.haggle(&["run", "crossed.toml", "-o", "out", "--check"]);
    assert!(shown.contains("2 completed"), "{shown}");
    assert!(!stderr_of(&shown).contains("deadlock"), "{shown}");
    assert!(folder.names_in("out").contains(&"agreement-ecdf.png".to_owned()));
}

/// One of two jobs holds all processors for a minute, so the other one gets none in its only try.
const ONE_OF_TWO: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 8, run = "60s", requested = "60s" },
    { submit = "10s", processors = 8, run = "60s", requested = "60s" },
]

[[provider]]
name = "site"
count = 2
processors = 4
policy = "conservative"

[[metascheduler]]
name = "broker"
coallocation = { policy = "rigid", protocol = "two-phase", trials = 1 }

[network]
latency = "50ms"

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"
"#;

#[test]
fn jobs_that_were_tried_in_vain_count_in_the_figure() {
    let folder = Folder::with(&[("s.toml", ONE_OF_TWO)]);
    let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check"]);
    assert!(shown.contains("1 completed, 1 rejected"), "{shown}");
    let run = RunReader::open(&folder.path().join("out")).expect("a run");
    let tables = Tables::new(&run);
    let figure = agreements(&tables, "times", &Part::default()).expect("it can be read");
    let [sample] = &figure.samples[..] else { panic!("{figure:?}") };
    assert_eq!((sample.values.len(), sample.without), (1, 1));
    let runs = [("one".to_owned(), Tables::new(&run))];
    let figure = compare(&runs, "times", &Part::default(), Quantity::TimeToAgreement);
    assert_eq!(figure.expect("it can be read").samples[0].without, 1);
}

#[test]
fn each_transaction_has_a_row_and_the_rows_add_up() {
    let crashing = format!(
        "{}\n[[failures]]\nactors = [\"one\"]\noutages = [[\"1500ms\", \"40s\"]]\n",
        CROSSED
            .replace("horizon = \"1h\"\n", "")
            .replace(
                "name = \"ordered\", order = \"in-turn\"",
                "name = \"two-phase\", lease = \"10s\""
            )
            .replace(
                "policy = \"rigid\"",
                "policy = \"rigid\", trials = 50, retry = \"5s\", patience = \"5s\""
            )
    );
    let folder = Folder::with(&[("s.toml", &crashing)]);
    let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let (sums, table) =
        (&folder.summary("out")["transactions"], folder.read("out/transactions.csv"));
    let sum = |name: &str| -> f64 {
        column(&table, name).iter().filter_map(|it| it.parse::<f64>().ok()).sum()
    };
    for (in_table, in_summary) in [
        ("messages", "messages"),
        ("in_doubt_time", "in_doubt"),
        ("held_in_vain", "held_in_vain"),
        ("partial", "partial"),
    ] {
        let added = sums[in_summary].as_f64().expect("a number");
        assert!((sum(in_table) - added).abs() < 1e-6, "{in_table}: {table}\n{sums:#}");
    }
    assert!(sums["messages"].as_u64() > Some(0) && sums["held_in_vain"].as_f64() > Some(0.0));
    let agreed = column(&table, "outcome").iter().filter(|it| *it == "agreed").count();
    assert_eq!(Some(agreed as u64), sums["agreed"].as_u64(), "{table}");
    assert_eq!(sums["times_to_agreement"]["count"].as_u64(), Some(agreed as u64));
    let shown = folder.haggle(&["plot", "out", "--kind", "agreement-ecdf", "-o", "both.svg"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let drawn = folder.read("both.svg");
    assert!(drawn.contains("one") && drawn.contains("two"), "both metaschedulers have a curve");
    assert!(!stdout_of(&shown).contains("error"));
}

/// A figure without any data causes a warning.
#[test]
fn a_figure_of_agreements_needs_some() {
    let none = CROSSED
        .lines()
        .filter(|line| !line.starts_with("coallocation"))
        .collect::<Vec<_>>()
        .join("\n");
    let folder = Folder::with(&[("none.toml", &none)]);
    let shown = folder.haggle(&["validate", "none.toml"]);
    assert!(shown.contains("figure \"agreement-ecdf\" has no effect"), "{shown}");
}

/// An urgent job preempts the claim of another one that has not started.
#[test]
fn an_urgent_claim_preempts_one_that_waits_for_its_other_part() {
    let text = r#"
[[workload]]
name = "owners"
jobs = [{ submit = "0s", processors = 4, run = "100s", requested = "100s" }]

[[workload]]
name = "jobs"
jobs = [
    { submit = "1s", processors = 8, run = "10s", requested = "10s", key = 2 },
    { submit = "5s", processors = 2, run = "10s", requested = "10s", key = 1 },
]

[[provider]]
name = "site"
count = 2
processors = 4
policy = "conservative"

[[metascheduler]]
name = "broker"
coallocation.policy = "rigid"
coallocation.protocol = { name = "claiming", scan = "2s", claims = 100, urgent = 1 }

[[metascheduler]]
name = "other"
providers = ["site-1"]
coallocation.policy = "rigid"
coallocation.protocol = { name = "claiming", scan = "2s", claims = 100, urgent = 1 }

[[user]]
name = "owners"
workload = "owners"
submits-to = "site-2"

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"

[results]
format = "csv"
"#;
    // The urgent job needs a processor of each provider, or both of the claimed one.
    let text = text.replace(
        "[results]",
        "[[workload]]\nname = \"more\"\njobs = [{ submit = \"6s\", processors = 3, run = \"10s\", \
         requested = \"10s\", key = 1 }]\n\n[[user]]\nname = \"more\"\nworkload = \"more\"\n\
         submits-to = \"other\"\n\n[results]",
    );
    let starts = |text: &str| {
        let folder = Folder::with(&[("s.toml", text)]);
        let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        let jobs = folder.read("out/jobs.csv");
        let start = column(&jobs, "workload_name").into_iter().zip(column(&jobs, "starting_time"));
        let preempted =
            folder.summary("out")["transactions"]["messages_by_kind"]["preempted"].as_u64();
        let find = |name: &str| start.clone().find(|it| it.0 == name).expect("it started").1;
        (find("more"), preempted)
    };
    let (start, preempted) = starts(&text);
    assert_eq!((start.as_str(), preempted), ("6.0", Some(1)));
    let (start, preempted) = starts(&text.replace(", urgent = 1", ""));
    assert_ne!(start, "6.0", "it waits for those that have claimed before");
    assert_eq!(preempted, None);
}
