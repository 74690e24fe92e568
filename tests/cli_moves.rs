//! Moves of jobs on several providers: their kinds, their direction, and the number of providers.

use std::collections::BTreeMap;

use crate::command::{Folder, stdout_of, unwrapped};

/// The last job is booked at two providers, and moves to a later start at one of them, where it
/// ends earlier.
const REMAPPED: &str = r#"
[[provider]]
name = "p1"
processors = 7
policy = { name = "conservative", compression = "job-by-job" }
disclosure = "queue"
[[provider]]
name = "p2"
processors = 10
policy = "conservative"
disclosure = "queue"
[[metascheduler]]
name = "m1"
[metascheduler.coallocation]
policy = { name = "shift-remap", remap = "earliest-completion", remappable = "34%" }
[[workload]]
name = "g1"
jobs = [
    { submit = "1681s", processors = 5, run = "379s", requested = "1118840067us", user = 4 },
    { submit = "1613271ms", processors = 6, run = "704810ms", requested = "2455603588us", user = 2, key = 8 },
    { submit = "129231113us", processors = 3, run = "826s", requested = "2856630101us", key = 6 },
    { submit = "1966s", processors = 6, run = "465s", requested = "998651399us" },
    { submit = "2937s", processors = 1, run = "112s", requested = "337832643us" },
    { submit = "2286s", processors = 6, run = "545s", requested = "545s" },
    { submit = "1940s", processors = 8, run = "708070ms", requested = "2406726251us" },
    { submit = "1544s", processors = 10, run = "802571992us", requested = "1423874680us", user = 5, key = -2 },
    { submit = "996871ms", processors = 2, run = "102s", requested = "61883631us", key = 4 },
]
[[user]]
name = "u1"
workload = "g1"
submits-to = "m1"
"#;

/// The last application has two places: one starts earlier, and the other ends earlier.
const MAPPED: &str = r#"
[[provider]]
name = "p0"
processors = 4
policy = { name = "conservative", compression = "by-start" }
disclosure = "slots"
publishes = "53%"
[[workload]]
name = "l0"
jobs = [
    { submit = "1307276us", processors = 1, run = "24s", requested = "78190119us", user = 5 },
]
[[user]]
name = "v0"
workload = "l0"
submits-to = "p0"
[[provider]]
name = "p1"
processors = 4
policy = "conservative"
disclosure = "slots"
[[workload]]
name = "l1"
jobs = [
    { submit = "0s", processors = 1, run = "2553ms", requested = "4641642us" },
    { submit = "0s", processors = 1, run = "1s", requested = "3222093us" },
    { submit = "0s", processors = 1, run = "1s", requested = "1026721us" },
    { submit = "0s", processors = 1, run = "3s", requested = "3560182us", user = 1 },
    { submit = "0s", processors = 1, run = "1625975us", requested = "4693899us", user = 4 },
    { submit = "0s", processors = 1, run = "3s", requested = "4056436us", key = 8 },
    { submit = "0s", processors = 3, run = "1s", requested = "2577499us" },
    { submit = "0s", processors = 1, run = "1s", requested = "1s", key = 3 },
    { submit = "0s", processors = 4, run = "1567454us", requested = "2266899us", user = 5, key = 8 },
]
[[user]]
name = "v1"
workload = "l1"
submits-to = "p1"
[[metascheduler]]
name = "m0"
[metascheduler.mapping]
asks-for = "slots"
profiling = true
[[workload]]
name = "g0"
model = "iterative"
[workload.iterative]
cores = 3
processes = [7, 13, 5]
iterations = 105
machine = [{ name = "p0", throughputs = [5.40, 9.59, 5.67] }, { name = "p1", throughputs = [9.47, 0.78, 2.08] }]
[[user]]
name = "u0"
workload = "g0"
submits-to = "m0"
[[workload]]
name = "g1"
model = "iterative"
[workload.iterative]
cores = 7
processes = [12]
iterations = 245
machine = [{ name = "p0", throughputs = [10.05] }, { name = "p1", throughputs = [5.46] }]
"#;

/// The bookings of each job: its places in order, each with its end, its start and its processors by provider.
type Bookings = BTreeMap<String, Vec<(f64, f64, Vec<u32>)>>;

fn bookings(folder: &Folder) -> Bookings {
    let table = folder.read("out/bookings.csv");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("a header");
    let column = |name: &str| names.iter().position(|it| *it == name).expect("a column");
    let (job, number) = (column("job"), column("number"));
    let (start, end) = (column("planned_starting_time"), column("planned_finish_time"));
    let processors = column("processors");
    let mut bookings = Bookings::new();
    for cells in lines {
        let places = bookings.entry(cells[job].to_owned()).or_default();
        let number: usize = cells[number].parse().expect("a number");
        if places.len() < number {
            let time = |at: usize| cells[at].parse::<f64>().expect("a time");
            places.push((time(end), time(start), Vec::new()));
        }
        places[number - 1].2.push(cells[processors].parse().expect("a number"));
    }
    bookings
}

fn ran(text: &str) -> Folder {
    let folder = Folder::with(&[("moves.toml", text)]);
    let flags = ["run", "moves.toml", "--check", "--no-figures", "--format", "csv", "-o", "out"];
    let shown = folder.haggle(&flags);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    folder
}

/// `--check` compares each move with the gain of the job.
#[test]
fn a_later_start_is_no_loss_where_a_job_is_done_earlier() {
    let moves = bookings(&ran(REMAPPED));
    let pairs = moves.values().flat_map(|places| places.windows(2));
    let later = pairs.filter(|pair| pair[0].1 < pair[1].1).collect::<Vec<_>>();
    assert!(!later.is_empty(), "{moves:?}");
    assert!(later.iter().all(|pair| pair[1].0 < pair[0].0), "{moves:?}");
}

/// With any number of requests to move, each move ends earlier, or equally early from an earlier
/// start.
#[test]
fn an_application_never_moves_to_and_fro() {
    let moves = bookings(&ran(MAPPED));
    let mut moved = 0;
    for places in moves.values() {
        for pair in places.windows(2) {
            moved += 1;
            assert!((pair[1].0, pair[1].1) < (pair[0].0, pair[0].1), "{places:?}");
        }
    }
    assert!(moved > 0, "{moves:?}");
}

/// Jobs of up to eight processors, on three providers of eight that have own jobs which end early.
const DIVIDED: &str = r#"
[[workload]]
name = "wide"
model = "independent-jobs"
independent-jobs = { jobs = 40, between = { law = "constant", value = "2min" }, run = { law = "uniform", low = "10min", high = "1h" }, processors = { law = "uniform", low = 2, high = 8 } }

[[workload]]
name = "own"
model = "independent-jobs"
independent-jobs = { jobs = 60, between = { law = "constant", value = "2min" }, run = { law = "uniform", low = "10min", high = "1h" }, processors = { law = "uniform", low = 1, high = 4 } }

[[workload.step]]
kind = "estimates"
rule = "uniform:5"

[[provider]]
name = "north"
processors = 8
policy = "conservative"
disclosure = "slots"

[[provider]]
name = "south"
processors = 8
policy = "conservative"
disclosure = "slots"

[[provider]]
name = "east"
processors = 8
policy = "conservative"
disclosure = "slots"

[[metascheduler]]
name = "broker"

[metascheduler.coallocation]
policy = "shift-remap"
parts = 2

[[user]]
name = "guests"
workload = "wide"
submits-to = "broker"

[[user]]
name = "owners"
workload = "own"
submits-to = "north"
"#;

#[test]
fn a_job_is_divided_over_exactly_so_many_providers_wherever_it_moves() {
    let parts_of = |text: &str| {
        let moves = bookings(&ran(text));
        let moved = moves.values().any(|places| places.len() > 1);
        let parts = moves.into_values().flatten().map(|place| place.2).collect::<Vec<_>>();
        (moved, parts)
    };
    let (moved, parts) = parts_of(DIVIDED);
    assert!(parts.len() > 40, "all 40 are spread, and some move: {parts:?}");
    assert!(moved && parts.iter().all(|it| it.len() == 2), "{parts:?}");
    assert!(parts.iter().any(|it| it[0] == it[1]) && parts.iter().any(|it| it[0] != it[1]));
    // Without the key, most of them run at one provider, and the table leaves those out.
    let (_, parts) = parts_of(&DIVIDED.replace("parts = 2\n", ""));
    assert!(parts.len() < 40, "{parts:?}");
}

/// A job on one processor cannot be divided.
#[test]
fn a_job_that_is_too_narrow_for_its_parts_is_refused() {
    let narrow = DIVIDED.replace("low = 2, high = 8", "low = 1, high = 1");
    let folder = ran(&narrow);
    let rejected = folder.read("out/jobs.csv").matches(",too_narrow,").count();
    assert_eq!(rejected, 40);
    let said = stdout_of(&folder.haggle(&["explain", "out", "wide!1"])).to_owned();
    let reason = "It needs 1 processor, fewer than its parts take";
    assert!(said.contains(reason), "{said}");
}

/// For listed jobs, it is known before the run.
#[test]
fn a_listed_job_that_is_too_narrow_for_its_parts_is_shown() {
    let provider = |name: &str| {
        format!(
            "[[provider]]\nname = \"{name}\"\nprocessors = 8\npolicy = \"conservative\"\n\
             disclosure = \"slots\"\n"
        )
    };
    let scenario = |processors: u32| {
        format!(
            "[[workload]]\nname = \"jobs\"\n\
             jobs = [{{ submit = \"0s\", processors = {processors}, requested = \"9s\", run = \"9s\" }}]\n{}{}{}\
             [[metascheduler]]\nname = \"broker\"\n[metascheduler.coallocation]\nparts = 3\n\
             policy = \"rigid\"\n\
             [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"broker\"\n",
            provider("north"),
            provider("south"),
            provider("east"),
        )
    };
    let folder = Folder::with(&[("two.toml", &scenario(2)), ("three.toml", &scenario(3))]);
    let said = unwrapped(&folder.haggle(&["validate", "two.toml"]));
    let text = "a job of workload \"jobs\" needs 2 processors, and the parts into which metascheduler \"broker\" \
                divides it take 3: it will be rejected";
    assert!(said.contains(text), "{said}");
    let said = unwrapped(&folder.haggle(&["validate", "three.toml"]));
    assert!(!said.contains("rejected"), "{said}");
    let said = folder.haggle(&["run", "two.toml", "-o", "out"]);
    assert!(said.contains("note: 1 job needs fewer processors than its parts take"), "{said}");
    assert!(!said.contains("more processors than"), "{said}");
}

#[test]
fn a_number_of_parts_that_means_nothing_is_named() {
    let said = |from: &str, to: &str| {
        assert!(DIVIDED.contains(from), "{from}");
        let folder = Folder::with(&[("moves.toml", &DIVIDED.replace(from, to))]);
        folder.haggle(&["validate", "moves.toml"])
    };
    let many = said("parts = 2", "parts = 4");
    assert!(many.starts_with("exit code: 3\n"), "{many}");
    assert!(many.contains("divides jobs over 4 providers, but has 3"), "{many}");
    let one = said("parts = 2", "parts = 1");
    assert!(one.starts_with("exit code: 3\n"), "{one}");
    let alone = "policy = { name = \"shift-remap\", remap = \"earliest-completion\" }";
    let alone = said("policy = \"shift-remap\"", alone);
    assert!(alone.contains("`remap` of the co-allocation"), "{alone}");
    let protocol = "policy = \"rigid\"\nprotocol = \"two-phase\"";
    let protocol = said("policy = \"shift-remap\"", protocol);
    assert!(protocol.contains("`parts` of the co-allocation"), "{protocol}");
}

/// The world of `requests_for_moves_are_served_in_turns_or_by_provider` in
/// `crates/runtime/tests/it/coallocation.rs`, which derives its starts by hand.
const TWO_IDLE: &str = include_str!("every_key/requests.toml");

fn starts(text: &str) -> Vec<(String, String)> {
    let folder = ran(text);
    let table = folder.read("out/jobs.csv");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("a header");
    let column = |name: &str| names.iter().position(|it| *it == name).expect("a column");
    let (job, start) = (column("job"), column("starting_time"));
    let rows = lines.map(|cells| (cells[job].to_owned(), cells[start].to_owned()));
    let mut rows = rows.collect::<Vec<_>>();
    rows.sort();
    rows
}

#[test]
fn the_order_of_requests_decides_who_gets_a_hole() {
    let by_provider = starts(TWO_IDLE);
    let in_turns = starts(&TWO_IDLE.replace("by-provider", "in-turns"));
    let default = starts(&TWO_IDLE.replace("requests = \"by-provider\"\n", ""));
    assert_eq!(in_turns, default);
    let of = |starts: &[(String, String)]| {
        starts.iter().map(|(job, start)| format!("{job} {start}")).collect::<Vec<_>>().join(", ")
    };
    let (in_turns, by_provider) = (of(&in_turns), of(&by_provider));
    insta::assert_snapshot!(in_turns, @"0 0.0, 1 0.0, 2 30.0, 3 10.0, 4 50.0, 5 50.0");
    insta::assert_snapshot!(by_provider, @"0 0.0, 1 0.0, 2 120.0, 3 10.0, 4 140.0, 5 30.0");
}

#[test]
fn all_drivers_serve_requests_by_provider() {
    let folder = Folder::with(&[("moves.toml", TWO_IDLE)]);
    let shown = folder.haggle(&["verify", "moves.toml"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn an_order_of_requests_that_cannot_be_kept_is_refused_and_one_without_effect_is_named() {
    let said = |from: &str, to: &str| {
        assert!(TWO_IDLE.contains(from), "{from}");
        let folder = Folder::with(&[("moves.toml", &TWO_IDLE.replace(from, to))]);
        folder.haggle(&["validate", "moves.toml"])
    };
    let policy = "policy = \"shift\"";
    let network = |table: &str| format!("[network]\n{table}\n[[metascheduler]]");
    let fine = said(policy, policy);
    assert!(fine.starts_with("exit code: 0\n") && !fine.contains("requests"), "{fine}");
    let to_b = "link = [{ between = [\"broker\", \"b\"], latency = \"1ms\" }]";
    for (table, provider, remedy) in [
        ("latency = \"1ms\"", "a", "set `latency = \"0s\"` in [network]"),
        ("jitter = \"1ms\"", "a", "set `jitter = \"0s\"` in [network]"),
        (to_b, "b", "set the `latency` of their link"),
    ] {
        let late = said("[[metascheduler]]", &network(table));
        assert!(late.starts_with("exit code: 3\n"), "{late}");
        let between =
            format!("between metascheduler \"broker\" and provider \"{provider}\" take time");
        let said = late.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&between) && said.contains(remedy), "{late}");
    }
    // Providers exchange no messages with each other.
    let apart = "link = [{ between = [\"a\", \"b\"], latency = \"1ms\" }]";
    let apart = said("[[metascheduler]]", &network(apart));
    assert!(apart.starts_with("exit code: 0\n"), "{apart}");
    let protocol = "policy = \"rigid\"\nprotocol = \"two-phase\"";
    for (from, to) in [
        (policy, "policy = \"rigid\""),
        (policy, protocol),
        ("name = \"broker\"", "name = \"broker\"\nproviders = [\"b\"]"),
    ] {
        let still = said(from, to);
        assert!(still.contains("`requests` of the co-allocation"), "{to}: {still}");
    }
}
