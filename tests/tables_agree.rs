//! The tables of a run agree with each other and with its summary, and disagreements are found.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use haggle::audit::audit;
use haggle_results::RunReader;

use crate::command::Folder;

/// Rigid jobs and bags on providers that fail, over a network with latency.
const BAGS: &str = r#"
[scenario]
horizon = "20d"

[[workload]]
name = "rigid"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 16, load = 0.7 }

[[workload]]
name = "bags"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 32, load = 0.5 }

[[workload.step]]
kind = "bags"

[[provider]]
name = "north"
processors = 16
policy = "bags"
disclosure = "queue"

[[provider]]
name = "south"
processors = 24
speed = 1.5
policy = "bags"
disclosure = "queue"

[[metascheduler]]
name = "broker"
composition = "free-time-slots"

[network]
latency = "1h"
jitter = "10min"

[[user]]
name = "north-users"
workload = "rigid"
submits-to = "north"

[[user]]
name = "bag-users"
workload = "bags"
submits-to = "broker"
"#;

const FAIL: &str = r#"
[[failures]]
law = { up = { law = "exponential", mean = "30h" }, down = { law = "exponential", mean = "2h" } }
"#;

/// Copies, checkpoints, and jobs that continue on other resources.
const GRID: &str = r#"
[scenario]
horizon = "2d"

[[workload]]
name = "jobs"
model = "independent-jobs"
data = { input = "200 MB", output = "20 MB", checkpoint = "100 MB" }
independent-jobs = { jobs = 120, between = { law = "exponential", mean = "16min" }, run = { law = "uniform", low = "1h", high = "6h" } }

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"

[grid]
policy = { name = "combined-ft", replicas = { max = 2, room = 10 } }
period = "10min"
checkpoints = { rule = "mean-failure", interval = "30min" }

[[grid.site]]
name = "alpha"
resources = 8
slots = 2

[[failures]]
law = { up = { law = "weibull", shape = 0.75, scale = "8h" }, down = { law = "exponential", mean = "1h" } }
"#;

/// Workflows whose tasks move, on resources that fail.
const WORKFLOWS: &str = r#"
[scenario]
horizon = "4h"

[[workload]]
name = "flows"
model = "workflows"
data = { input = "20 MB", output = "10 MB", checkpoint = "30 MB" }

[workload.workflows]
count = 12
hours = [3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
width = 2
width-max = 5
work = "40min"
progress = { estimates = "mixed" }

[[user]]
name = "users"
workload = "flows"
submits-to = "grid"

[grid]
policy = "balanced-workflow"
period = "5min"

[[grid.site]]
name = "alpha"
resources = 5
mips = 0.5
mips-max = 4

[[failures]]
law = { up = { law = "exponential", mean = "3h" }, down = { law = "exponential", mean = "20min" } }
"#;

fn run(folder: &Folder, arguments: &[&str]) {
    let all = [&["run", "world.toml", "--check", "--quiet", "-o", "out"], arguments].concat();
    let shown = folder.haggle(&all);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn tables_of_bags_and_failures_agree() {
    let offers = BAGS.replace("free-time-slots", "offers-plb");
    for text in [BAGS.to_owned(), format!("{BAGS}{FAIL}"), offers] {
        let folder = Folder::with(&[("world.toml", &text)]);
        run(&folder, &["--no-figures", "--format", "csv"]);
        assert!(folder.read("out/attempts.csv").lines().count() > 120);
    }
}

#[test]
fn tables_of_grids_agree() {
    for change in ["migration\"", "rescheduling\""] {
        let copies = "combined-ft\"\nreplicas = { max = 2, room = 10 }";
        let folder = Folder::with(&[("world.toml", &GRID.replace(copies, change))]);
        run(&folder, &["--no-figures"]);
    }
    let folder = Folder::with(&[("world.toml", GRID)]);
    run(&folder, &["--no-figures", "--driver", "actix"]);
}

/// Changes a table of a run in `folder`, and returns the findings.
fn found_after(folder: &Path, table: &str, change: impl Fn(&str) -> String) -> String {
    let text = fs::read_to_string(folder.join(table)).expect("the table is there");
    let changed = change(&text);
    assert_ne!(changed, text, "{table}");
    let found = found_with(folder, table, &changed);
    assert!(!found.is_empty(), "{table} was changed:\n{changed}");
    found
}

/// Findings if a table has this text; the table is restored afterwards.
fn found_with(folder: &Path, table: &str, changed: &str) -> String {
    let path = folder.join(table);
    let text = fs::read_to_string(&path).expect("the table is there");
    fs::write(&path, changed).expect("there is room");
    let found = audit(folder).err().unwrap_or_default();
    fs::write(&path, text).expect("there is room");
    found.iter().map(|it| it.rule).collect::<Vec<_>>().join("; ")
}

/// A row of a table, by the names of its columns.
type Cells = BTreeMap<String, String>;

trait Change {
    fn set(&mut self, column: &str, to: &str);
    fn add(&mut self, column: &str, more: f64);
}

impl Change for Cells {
    fn set(&mut self, column: &str, to: &str) {
        self.insert(column.to_owned(), to.to_owned()).expect("a column of the table");
    }

    fn add(&mut self, column: &str, more: f64) {
        let value: f64 = self[column].parse().expect("a number");
        self.set(column, &(value + more).to_string());
    }
}

/// Findings if a part is planned for the time of the next one at the same provider, for each part
/// in turn.
fn found_two_at_a_time(folder: &Path, table: &str) -> String {
    let text = fs::read_to_string(folder.join(table)).expect("the table is there");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|it| *it == name).expect("a column");
    let holder = column("holder");
    let times = ["planned_starting_time", "planned_finish_time"].map(column);
    let next = |at: usize| (at + 1..rows.len()).find(|&it| rows[it][holder] == rows[at][holder]);
    let pairs = (1..rows.len()).filter_map(|at| Some((at, next(at)?)));
    let others = pairs.filter(|&(at, next)| times.iter().any(|&it| rows[at][it] != rows[next][it]));
    let found = others.take(40).map(|(at, next)| {
        let mut rows = rows.clone();
        times.iter().for_each(|&it| rows[at][it] = rows[next][it]);
        let changed: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        found_with(folder, table, &changed)
    });
    found.collect::<Vec<_>>().join("; ")
}

fn without_last_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[..lines.len() - 1].join("\n") + "\n"
}

#[test]
fn what_is_wrong_with_workflows_is_found() {
    let folder = Folder::with(&[("world.toml", WORKFLOWS)]);
    run(&folder, &["--no-figures", "--format", "csv"]);
    let out = folder.path().join("out");
    let text = folder.read("out/workflows.csv");
    let complete = text.lines().filter(|line| line.split(',').nth(4) == Some("1")).count();
    assert!((1..12).contains(&complete), "{text}");
    let changed = |column: usize, change: fn(&str) -> String| {
        found_after(&out, "workflows.csv", |text| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let row = lines.iter_mut().find(|line| line.split(',').nth(4) == Some("1"));
            let row = row.expect("one is complete");
            let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
            cells[column] = change(&cells[column]);
            *row = cells.join(",");
            lines.join("\n") + "\n"
        })
    };
    let more = |cell: &str| (cell.parse::<i64>().expect("a number") + 1).to_string();
    let later = |cell: &str| (cell.parse::<f64>().expect("a time") + 1.0).to_string();
    assert!(changed(2, more).contains("`workflows` counts tasks and their attempts"));
    assert!(changed(5, later).contains("submitted together"));
    assert!(changed(6, later).contains("starts with the first attempt"));
    assert!(changed(7, later).contains("ends with its last task"));
    assert!(changed(8, later).contains("agree with its times"));
    let bound = "no makespan is below the bound of its critical path";
    assert!(changed(12, |_| "0.9".to_owned()).contains(bound));
    assert!(changed(15, more).contains("`workflows` counts tasks and their attempts"));
    let missing = found_after(&out, "workflows.csv", without_last_line);
    assert!(missing.contains("each workflow has a row"), "{missing}");
}

#[test]
fn what_is_wrong_with_bookings_is_found() {
    let world = include_str!("../scenarios/coallocation.toml");
    let folder = Folder::with(&[("world.toml", world)]);
    run(&folder, &["--no-figures", "--format", "csv"]);
    let out = folder.path().join("out");
    // The last booking of a job that stays on several providers.
    let changed = |column: usize, change: fn(&str) -> String| {
        found_after(&out, "bookings.csv", |text| {
            let mut rows: Vec<Vec<String>> =
                text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
            let moved = |at: usize| {
                let (row, before) = (&rows[at], &rows[at - 1]);
                row[0] == before[0]
                    && row[1] == before[1]
                    && row[1] != "1"
                    && rows.get(at + 1).is_none_or(|next| next[0] != row[0])
            };
            let at = (2..rows.len()).find(|&at| moved(at)).expect("one has moved");
            rows[at][column] = change(&rows[at][column]);
            rows.iter().map(|row| row.join(",") + "\n").collect()
        })
    };
    let more = |cell: &str| (cell.parse::<i64>().expect("a number") + 1).to_string();
    let later = |cell: &str| (cell.parse::<f64>().expect("a time") + 1e6).to_string();
    assert!(changed(0, |_| "99999".to_owned()).contains("a booked job is in `jobs`"));
    assert!(changed(1, |_| "99".to_owned()).contains("places of a job are numbered in order"));
    assert!(changed(3, |_| String::new()).contains("each place except the first was requested"));
    assert!(changed(5, more).contains("parts add up to the requested processors"));
    assert!(changed(6, later).contains("parts are booked for one time"));
    let missing = found_after(&out, "bookings.csv", without_last_line);
    assert!(missing.contains("parts"), "{missing}");
    let twice = found_two_at_a_time(&out, "bookings.csv");
    assert!(twice.contains("no processor is booked for two parts at a time"), "{twice}");
    let postponed = found_after(&out, "bookings.csv", |text| {
        let place = |line: &str| line.split(',').take(2).map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<&str> = text.lines().collect();
        let last = place(lines[lines.len() - 1]);
        let put_off = |line: &&str| {
            let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            if place(line) == last {
                cells[6] = (cells[6].parse::<f64>().expect("a time") + 1e6).to_string();
            }
            cells.join(",") + "\n"
        };
        lines.iter().map(put_off).collect()
    });
    assert!(
        postponed.contains("moves to a place with a gain") || postponed.contains("booked"),
        "{postponed}"
    );
}

/// Jobs are spread over three providers by a protocol, and messages are lost.
const TRANSACTIONS: &str = r#"
[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 20, processors = 12, load = 0.9 }

[[provider]]
name = "site"
count = 3
processors = 6
policy = "conservative"

[[metascheduler]]
name = "broker"
coallocation = { policy = "rigid", protocol = "two-phase", trials = 50, retry = "500ms" }

[network]
latency = "50ms"
loss = "2%"

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"
"#;

#[test]
fn what_is_wrong_with_parts_that_were_agreed_on_is_found() {
    for protocol in ["two-phase", "one-phase", "polling", "paxos", "ordered", "watch", "probing"] {
        let world = TRANSACTIONS.replace("two-phase", protocol);
        let folder = Folder::with(&[("world.toml", &world)]);
        run(&folder, &["--no-figures", "--format", "csv"]);
        let out = folder.path().join("out");
        assert_eq!(audit(&out), Ok(()), "{protocol}");
        let changed = |table: &str, column: &str, from: &str, to: &str| {
            found_after(&out, table, |text| with_all(text, column, from, to))
        };
        let failed = changed("transactions.csv", "outcome", "agreed", "failed");
        assert!(failed.contains("a done job was agreed on"), "{protocol}: {failed}");
        let asked = changed("transactions.csv", "parts", "", "0");
        assert!(asked.contains("no more parts ran than were requested"), "{protocol}: {asked}");
        let elsewhere = changed("attempts.csv", "provider", "", "site-1");
        assert!(elsewhere.contains("each part has a provider"), "{protocol}: {elsewhere}");
        let missing = found_after(&out, "attempts.csv", without_last_line);
        assert!(missing.contains("add up to the requested processors"), "{protocol}: {missing}");
        let early = changed("transactions.csv", "opening_time", "", "9e9");
        assert!(early.contains("no part starts before its try"), "{protocol}: {early}");
    }
}

/// Faults of each kind that protocols survive.
const TROUBLE: [&str; 3] = [
    "",
    r#"
[[failures]]
actors = ["broker", "site-2"]
law = { up = { law = "exponential", mean = "20min" }, down = { law = "exponential", mean = "30s" } }
"#,
    r#"
[[network.partition]]
between = [["broker"], ["site-1"]]
from = "10min"
until = "12min"

[[network.partition]]
between = [["broker"], ["site-2", "site-3"]]
from = "40min"
until = "45min"
"#,
];

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

/// A world of parts beside own jobs of the providers, so that a part may find no room.
fn contended(protocol: &str, trouble: &str) -> String {
    let own = r#"
[[workload]]
name = "own"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 6, load = 0.5 }

[[user]]
name = "owners"
workload = "own"
submits-to = "site-1"
"#;
    format!("{}{own}{trouble}", TRANSACTIONS.replace("two-phase", protocol))
}

#[test]
fn what_is_held_for_parts_agrees_whatever_fails() {
    let mut given_up = 0;
    for protocol in PROTOCOLS {
        for trouble in TROUBLE {
            let folder = Folder::with(&[("world.toml", &contended(protocol, trouble))]);
            run(&folder, &["--no-figures", "--format", "csv"]);
            given_up += folder.read("out/holds.csv").matches("given_up").count();
        }
    }
    assert!(given_up > 100, "{given_up}");
}

#[test]
fn what_is_wrong_with_what_was_held_is_found() {
    for protocol in PROTOCOLS {
        let folder = Folder::with(&[("world.toml", &contended(protocol, ""))]);
        run(&folder, &["--no-figures", "--format", "csv"]);
        let out = folder.path().join("out");
        // The first row with this outcome, or with any value in that column.
        let changed = |(column, is): (&str, &str), change: &dyn Fn(&mut Cells)| {
            found_after(&out, "holds.csv", |text| {
                let mut rows = text.lines().map(|line| line.split(',').map(str::to_owned));
                let names: Vec<String> = rows.next().expect("a header").collect();
                let mut rows: Vec<Cells> =
                    rows.map(|row| names.iter().cloned().zip(row).collect()).collect();
                let fits = |row: &&mut Cells| match is {
                    "" => !row[column].is_empty(),
                    _ => row[column] == is,
                };
                let row = rows.iter_mut().find(fits);
                change(row.unwrap_or_else(|| panic!("{protocol}: {column} {is}\n{text}")));
                let line = |row: &Cells| {
                    names.iter().map(|name| row[name].as_str()).collect::<Vec<_>>().join(",")
                };
                let lines: Vec<String> = rows.iter().map(line).collect();
                format!("{}\n{}\n", names.join(","), lines.join("\n"))
            })
        };
        let expect = |found: String, rule: &str| {
            assert!(found.contains(rule), "{protocol}: {rule}: {found}");
        };
        let wider = changed(("outcome", "over"), &|row| row.add("processors", 1e6));
        expect(wider.clone(), "no processor is held for two parts at a time; ");
        expect(wider.clone(), "no processor is held for two parts at a time to come");
        expect(wider, "each part that ran was held");
        let early = changed(("outcome", "over"), &|row| row.add("planned_starting_time", -0.5));
        expect(early, "a part has its processors from its planned start on");
        let short = changed(("outcome", "over"), &|row| row.add("end_time", -0.001));
        expect(short, "each part that ran was held, from its begin to its end");
        let missing = found_after(&out, "holds.csv", without_last_line);
        expect(missing, "each part that ran was held");
        let other = changed(("outcome", "over"), &|row| row.add("agreement", 1e6));
        expect(other, "a part is held for a try in `transactions`");
        // Not every protocol has something to give up in this world, and not all have leases.
        let text = folder.read("out/holds.csv");
        if text.contains("given_up") {
            let kept = changed(("outcome", "given_up"), &|row| {
                row.set("end_time", "");
                row.set("outcome", "open");
            });
            expect(kept.clone(), "wasted holds are those of parts given up");
            // Under these a part may be given up of what is agreed on later.
            if !["negotiation", "claiming"].contains(&protocol) {
                expect(kept, "a held part without agreement is given back");
            }
            let longer = changed(("outcome", "given_up"), &|row| row.add("end_time", 1.0));
            expect(longer, "wasted holds are those of parts given up");
        }
        if has_leases(protocol) {
            let lapsed = changed(("lease_end_time", ""), &|row| {
                let since = row["holding_time"].clone();
                row.set("lease_end_time", &since);
            });
            expect(lapsed, "a lease ends at its stated end");
        }
    }
}

/// True if parts are held only for a limited time.
fn has_leases(protocol: &str) -> bool {
    ["two-phase", "polling", "probing"].contains(&protocol)
}

/// The table with these cells of a column changed, or with all if `from` is empty.
fn with_all(text: &str, column: &str, from: &str, to: &str) -> String {
    let mut rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let at = rows[0].iter().position(|it| *it == column).expect("a column of the table");
    for row in rows.iter_mut().skip(1).filter(|row| from.is_empty() || row[at] == from) {
        row[at] = to;
    }
    rows.iter().map(|row| row.join(",") + "\n").collect()
}

#[test]
fn what_does_not_agree_is_found() {
    let offers = BAGS.replace("free-time-slots", "offers-plb");
    let folder = Folder::with(&[("world.toml", &format!("{offers}{FAIL}"))]);
    run(&folder, &["--no-figures", "--format", "csv"]);
    let out = folder.path().join("out");
    assert_eq!(audit(&out), Ok(()));
    let missing = |table| found_after(&out, table, without_last_line);
    assert!(missing("jobs.csv").contains("a job with attempts is in `jobs`"));
    assert!(missing("attempts.csv").contains("`jobs` counts the rows in `attempts`"));
    assert!(missing("placements.csv").contains("busy_time is the sum of placements"));
    assert!(missing("disclosures.csv").contains("`disclosures` adds up to the summary's"));
    assert!(missing("offers.csv").contains("`offers` has a row for each offer disclosed"));
    assert!(missing("outages.csv").contains("a failure is in `outages`"));
    let reversed = |text: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1..].reverse();
        lines.join("\n") + "\n"
    };
    let found = found_after(&out, "jobs.csv", reversed);
    assert!(found.contains("`jobs` is in order of left_time"), "{found}");
    let found = found_after(&out, "jobs.csv", |text| {
        let row = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut rows: Vec<Vec<String>> = text.lines().map(row).collect();
        let at = |name: &str| rows[0].iter().position(|it| it == name).expect("a column");
        let [outcome, finish, promised] =
            ["outcome", "finish_time", "promised_finish_time"].map(at);
        let kept = |row: &&mut Vec<String>| {
            let time = |column: usize| row[column].parse::<f64>().ok();
            row[outcome] == "completed" && time(promised).is_some_and(|it| time(finish) <= Some(it))
        };
        rows.iter_mut().find(kept).expect("a promise")[promised] = "0.0".to_owned();
        rows.into_iter().map(|row| row.join(",") + "\n").collect()
    });
    assert!(found.contains("a promise is broken if its job is completed later"), "{found}");
    let doubled = |text: &str| format!("{text}{}\n", text.lines().last().expect("a row"));
    assert!(found_after(&out, "jobs.csv", doubled).contains("each job is in `jobs` once"));
    assert!(found_after(&out, "placements.csv", doubled).contains("no processor holds two jobs"));
}

#[test]
fn work_lost_with_outages_of_a_grid_is_what_its_books_have() {
    let folder = Folder::with(&[("world.toml", GRID)]);
    run(&folder, &["--no-figures", "--format", "csv"]);
    let outages = folder.read("out/outages.csv");
    let lost: f64 = outages
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().and_then(|it| it.parse::<f64>().ok()).expect("work"))
        .sum();
    let summary = folder.summary("out");
    let work = &summary["grid"]["work"];
    let booked = work["lost_by_failure"].as_f64().expect("a number");
    assert!(lost > 0.0 && (lost - booked).abs() < 1e-6 * booked, "{lost} and {booked}");
    let none = |text: &str| {
        let zero = |(at, line): (usize, &str)| match (at, line.rsplit_once(',')) {
            (0, _) | (_, None) => line.to_owned(),
            (_, Some((rest, _))) => format!("{rest},0.0"),
        };
        text.lines().enumerate().map(zero).collect::<Vec<_>>().join("\n") + "\n"
    };
    let found = found_after(&folder.path().join("out"), "outages.csv", none);
    assert!(found.contains("the work that a grid lost by failures"), "{found}");
}

/// A job that has saved a part of its work and waits for ever: the part is in both tables.
const SAVED: &str = r#"
[[workload]]
name = "jobs"
[[workload.jobs]]
submit = "0s"
processors = 2
run = "20s"
requested = "1min"
[[provider]]
name = "north"
processors = 2
on-failure = "resume"
checkpoints = { interval = "1s" }
[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
[[failures]]
of = ["north"]
outages = [["10s"]]
"#;

#[test]
fn what_is_saved_of_a_job_that_waits_again_is_used_time() {
    let folder = Folder::with(&[("world.toml", SAVED)]);
    run(&folder, &[]);
    let run = RunReader::open(&folder.path().join("out")).expect("the folder is there");
    // Two processors for ten seconds, and all of this work is saved.
    let [north] = &run.resources().expect("it can be read")[..] else { panic!("one provider") };
    assert_eq!(north.busy_time, 20.0, "{north:?}");
}

/// After some thousand years, a table distinguishes instants only by tens of microseconds. Jobs of
/// a batch wait for less than a second.
const MILLENNIA: &str = r#"
[[workload]]
name = "w53"
model = "independent-jobs"
[workload.independent-jobs]
days = 3
batch = { law = "weibull", scale = 2.0, shape = 0.5 }
per-day = { law = "normal", mean = 2.0, standard-deviation = 1.0 }
run = { law = "uniform", low = "0s", high = "1s" }
[[workload.step]]
kind = "scale-gaps"
factor = 1000000.0
[[provider]]
name = "p11"
processors = 1
[[user]]
name = "u52"
workload = "w53"
submits-to = "p11"
"#;

#[test]
fn tables_of_millennia_agree() {
    let folder = Folder::with(&[("world.toml", MILLENNIA)]);
    run(&folder, &[]);
}
