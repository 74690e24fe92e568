//! Statements of Chtepen 2011 about its simulator and its output (section 2.2), and statements of
//! its later chapters about runs, as whole commands. The numbers of the sample output are tested
//! beside the code that sums up a grid.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::command::{Folder, stdout_of};

/// Light and heavy sessions for a day on one resource, more than fit.
const SESSIONS: &str = r#"
[scenario]
name = "sessions"
seed = 7
horizon = "24h"

[[workload]]
name = "under-limit"
model = "independent-jobs"
share = "5%"
data = { input = "30 kB" }
independent-jobs = { between = { law = "exponential", mean = "5min" }, length = "24h", run = { law = "exponential", mean = "3min" } }

[[workload]]
name = "above-limit"
model = "independent-jobs"
share = "40%"
data = { input = "30 kB" }
independent-jobs = { between = { law = "exponential", mean = "20min" }, length = "24h", run = { law = "exponential", mean = "24min" } }

[[user]]
name = "light-users"
workload = "under-limit"
submits-to = "grid"

[[user]]
name = "heavy-users"
workload = "above-limit"
submits-to = "grid"

[grid]
policy = "full-fill"
period = "0s"
information = { mode = "immediate" }
network = { model = "constant", bandwidth = "8 Mbit/s", latency = "0s" }

[[grid.site]]
name = "host"
resources = 1
sharing = "reserved"

[results]
format = "csv"
messages = "counts"
"#;

/// The summary of a run of this scenario, in a folder `out`.
fn summary(folder: &Folder, scenario: &str) -> Value {
    let shown = folder.haggle(&["run", scenario, "-o", "out", "--check", "--quiet"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    folder.summary("out")
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a count"))
}

/// Rows of a table of the run, each as its fields by column.
fn rows(folder: &Folder, table: &str) -> Vec<BTreeMap<String, String>> {
    let text = folder.read(table);
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let columns: Vec<String> = lines.next().expect("a header").collect();
    lines.map(|fields| columns.iter().cloned().zip(fields).collect()).collect()
}

/// Every submitted session is accepted or rejected, in each workload. One attempt is sent for each
/// accepted session.
#[test]
fn gm_2_d_and_g_submitted_are_accepted_or_rejected() {
    let folder = Folder::with(&[("sessions.toml", SESSIONS)]);
    let summary = summary(&folder, "sessions.toml");
    let grid = &summary["grid"];
    let [accepted, rejected] = ["accepted", "rejected"].map(|key| count(&grid["sessions"][key]));
    assert!(accepted > 100 && rejected > 50, "{grid:#}");
    assert_eq!(accepted + rejected, count(&grid["jobs"]));
    assert_eq!(rows(&folder, "out/attempts.csv").len() as u64, accepted);
    let jobs = rows(&folder, "out/jobs.csv");
    let refused = jobs.iter().filter(|job| job["outcome"] == "rejected").count();
    assert_eq!((jobs.len() as u64, refused as u64), (accepted + rejected, rejected));
    let groups = summary["workloads"].as_array().expect("two workloads");
    let of_each = |key: &str| groups.iter().map(|it| count(&it["outcomes"][key])).collect();
    let (submitted, turned_away): (Vec<u64>, Vec<u64>) = (of_each("jobs"), of_each("rejected"));
    assert!(turned_away.iter().all(|&it| it > 0), "both are too many: {turned_away:?}");
    assert_eq!(submitted.iter().sum::<u64>(), accepted + rejected);
    let taken: u64 = submitted.iter().zip(&turned_away).map(|(all, not)| all - not).sum();
    assert_eq!(taken, accepted);
}

/// 30 kB at 8 Mbit/s take 30 ms, for each accepted session and no other.
#[test]
fn gm_2_i_every_accepted_session_moves_its_data() {
    let folder = Folder::with(&[("sessions.toml", SESSIONS)]);
    let summary = summary(&folder, "sessions.toml");
    let grid = &summary["grid"];
    let accepted = count(&grid["sessions"]["accepted"]);
    assert_eq!(count(&grid["data"]["total"]), 30_000 * accepted);
    let on_the_one_path = &grid["resources"][0];
    assert_eq!(on_the_one_path["data"]["total"], grid["data"]["total"]);
    assert_eq!(count(&on_the_one_path["attempts"]), accepted);
    let transfers = grid["slot_time"]["transfers"].as_f64().expect("seconds");
    assert!((transfers - 0.03 * accepted as f64).abs() < 1e-6, "{transfers}");
    assert!(rows(&folder, "out/attempts.csv").iter().all(|it| it["data_time"] == "0.03"));
}

/// Four jobs on each of 1,000 resources at a time, for a day and until the end.
#[test]
fn gm_2_n_a_thousand_resources_for_a_day() {
    const CROWD: &str = r#"
[scenario]
name = "crowd"

[[workload]]
name = "jobs"
model = "independent-jobs"
independent-jobs = { between = { law = "constant", value = "0s" }, jobs = 16000, run = { law = "uniform", low = "80min", high = "100min" } }

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"

[grid]
policy = "fjbcr"

[[grid.site]]
name = "nodes"
resources = 1000
slots = 4

[results]
messages = "none"
"#;
    let folder = Folder::with(&[("crowd.toml", CROWD)]);
    let summary = summary(&folder, "crowd.toml");
    let grid = &summary["grid"];
    assert_eq!((count(&grid["jobs"]), count(&grid["done"])), (16_000, 16_000));
    let makespan = summary["makespan"].as_f64().expect("seconds");
    assert!((24.0..26.0).contains(&(makespan / 3_600.0)), "{makespan} s");
    // Resources are not full in the last hours, and for up to a round after each end.
    let [busy, full] = ["busy", "full"].map(|key| grid[key].as_f64().expect("a share"));
    assert!(busy > 0.9 && full > 0.8, "{busy} busy, {full} full");
    let timing = folder.json("out/timing.json");
    let seconds = timing["cpu_seconds"].as_f64().expect("seconds");
    // The run takes a third of a second, even with debug assertions. An algorithm that examines
    // every resource for every job in every round takes minutes.
    assert!(seconds < 10.0, "{seconds} s");
}

/// The runs of a sweep equal single runs with the seeds s, s + 1, ...
#[test]
fn gm_2_o_the_seed_grows_by_one_a_run() {
    let sweep = format!("{SESSIONS}\n[sweep]\nreplications = 3\n");
    let folder = Folder::with(&[("one.toml", SESSIONS), ("sweep.toml", &sweep)]);
    stdout_of(&folder.haggle(&["sweep", "sweep.toml", "-o", "runs"]));
    let digest = |run: &str| {
        let text = folder.read(&format!("{run}/provenance.json"));
        let provenance: Value = serde_json::from_str(&text).expect("JSON");
        provenance["digest"].to_string()
    };
    let mut digests = Vec::new();
    for seed in ["7", "8", "9"] {
        stdout_of(&folder.haggle(&["run", "one.toml", "--seed", seed, "-o", seed, "--quiet"]));
        let in_sweep = digest(&format!("runs/seed={seed}"));
        assert_eq!(in_sweep, digest(seed));
        digests.push(in_sweep);
    }
    digests.dedup();
    assert_eq!(digests.len(), 3, "other seeds, other runs");
}

/// Longer runs depend less on their seed: a run of four times the length by half as much.
#[test]
fn gm_2_p_long_runs_vary_less() {
    let sweep = format!(
        "{SESSIONS}\n[sweep]\nreplications = 30\n\n\
         [[sweep.axis]]\npath = \"scenario.horizon\"\nvalues = [\"6h\", \"24h\"]\n"
    );
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    stdout_of(&folder.haggle(&["sweep", "sweep.toml", "-o", "out"]));
    let variation = |horizon: &str| {
        let rows = rows(&folder, "out/aggregate.csv");
        let row = rows
            .iter()
            .find(|row| row["horizon"] == horizon && row["metric"] == "completed_jobs")
            .expect("it is summed up");
        let number = |key: &str| row[key].parse::<f64>().expect("a number");
        number("std") / number("mean")
    };
    let (short, long) = (variation("6h"), variation("24h"));
    assert!(long < 0.75 * short, "{long} after a day, {short} after 6 h");
}

/// The scenario of the first run of a study's sweep with these values on its axes.
fn first_run(sweep: &str, point: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(sweep);
    let file = file.to_str().expect("a path without odd letters");
    let folder = Folder::with(&[]);
    let shown = folder.haggle(&["show", "--runs", file]);
    let run = stdout_of(&shown).lines().find(|line| line.ends_with(point));
    let number = run.and_then(|line| line.split('\t').next()).expect("the sweep has such a run");
    stdout_of(&folder.haggle(&["show", "--run", number, file])).to_owned()
}

/// Summary of a grid's run, and for each round whether jobs waited in it.
fn waited(scenario: &str, rounds: u32) -> (Value, Vec<bool>) {
    let scenario = scenario.replace("format = \"parquet\"", "format = \"csv\"");
    let folder = Folder::with(&[("week.toml", &scenario)]);
    let summary = summary(&folder, "week.toml");
    let seconds = |text: &str| text.parse::<f64>().expect("a time");
    let mut sent: BTreeMap<String, f64> = BTreeMap::new();
    for it in rows(&folder, "out/attempts.csv") {
        let dispatched = seconds(&it["queued_time"]);
        let first = sent.entry(it["job"].clone()).or_insert(dispatched);
        *first = first.min(dispatched);
    }
    let jobs = rows(&folder, "out/jobs.csv");
    let waits = jobs.iter().map(|job| {
        let sent = sent.get(&job["job"]).copied().unwrap_or(f64::INFINITY);
        seconds(&job["submission_time"])..sent
    });
    let waits: Vec<_> = waits.collect();
    let round = |number| waits.iter().any(|it| it.contains(&(600.0 * f64::from(number))));
    (summary, (0..rounds).map(round).collect())
}

/// Resources are available for 90 % of the time, and jobs save their work.
#[test]
fn ft_4_4_e_a_queue_under_high_load_and_an_idle_grid_under_low_load() {
    const WEEK: u32 = 7 * 24 * 6;
    let run = |load: &str| {
        let scenario = first_run(&format!("chtepen-faults/{load}.toml"), "\tcheckpoints\t2.0");
        let (summary, waits) = waited(&scenario, WEEK);
        let share = waits.iter().filter(|&&it| it).count() as f64 / f64::from(WEEK);
        let turns = waits.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let load = summary["grid"]["busy"].as_f64().expect("a share");
        (share, turns, load)
    };
    let (share, turns, load) = run("high-load");
    assert!(share > 0.3 && turns > 4 && load > 0.5, "{share} of rounds, {turns} turns, {load}");
    let (share, _, load) = run("low-load");
    assert!(share < 0.05 && load < 0.05, "{share} of rounds, load {load}");
}
