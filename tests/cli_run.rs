//! `haggle run`: the results of a run, and the errors of impossible ones.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use haggle_results::{RunReader, Table};

use crate::command::{Folder, VALID, json_of, stderr_of};

/// One job that fits, one that does not, and one that waits for the first.
const THREE_JOBS: &str = r#"
[scenario]
name = "three"

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 4, requested = "100s", run = "80s" },
    { submit = "10s", processors = 9, requested = "100s", run = "80s" },
    { submit = "20s", processors = 8, requested = "100s", run = "50s" },
]

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

/// A scenario that reads `log.swf`.
const OF_A_LOG: &str = r#"
[[workload]]
name = "jobs"
log = "log.swf"

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

const LOG: &str = "\
; MaxProcs: 8
1 0 -1 60 2 -1 -1 2 90 -1 1 1 -1 -1 1 -1 -1 -1
2 10 -1 60 4 -1 -1 4 90 -1 1 2 -1 -1 1 -1 -1 -1
3 20 -1 60 8 -1 -1 8 90 -1 1 2 -1 -1 1 -1 -1 -1
";

/// Runs until it is stopped: minutes, even on a fast machine.
pub(crate) const LONG: &str = r#"
[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 5000000, processors = 64, load = 0.6 }

[[provider]]
name = "north"
processors = 64

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

#[test]
fn a_run_is_summed_up() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    insta::assert_snapshot!(folder.haggle(&["run", "valid.toml", "-o", "out"]), @r"
    exit code: 0
    ----- stdout -----
    1 job on 8 processors of 1 provider
      1 completed
      makespan 80 s (0.0 days), utilisation 50.00 %

                                      mean         std      median        95 %         max
    waiting time, s                   0.00           -        0.00        0.00        0.00
    turnaround time, s               80.00           -       80.00       80.00       80.00
    slowdown                          1.00           -        1.00        1.00        1.00
    bounded slowdown (10 s)           1.00           -        1.00        1.00        1.00
      turnaround, weighted, s        80.00   by processor-seconds

    results  out
    digest   e5f2caf771d5b80149418c696421a1365ae7522a55c861ee23046fdd2f0650d6
    ----- stderr -----
    ");
    insta::assert_snapshot!(folder.names_in("out").join("\n"), @r#"
    attempts.parquet
    disclosures.parquet
    failures.parquet
    jobs.parquet
    messages.parquet
    offers.parquet
    placements.parquet
    provenance.json
    resources.parquet
    scenario.toml
    summary.json
    timing.json
    "#);
    assert_eq!(folder.names(), ["out", "valid.toml"]);
}

#[test]
fn results_go_to_a_folder_of_the_scenarios_name() {
    let folder = Folder::with(&[("three.toml", THREE_JOBS)]);
    let shown = folder.haggle(&["run", "three.toml", "--quiet"]);
    assert!(shown.contains("\nresults  runs/three\n"), "{shown}");
    assert_eq!(folder.names_in("runs"), ["three"]);
}

#[test]
fn a_summary_can_be_json() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    let shown = folder.haggle(&["run", "valid.toml", "--json", "-o", "out"]);
    assert_eq!(stderr_of(&shown), "");
    let json = json_of(&shown);
    let keys: Vec<&str> = json.as_object().expect("an object").keys().map(String::as_str).collect();
    insta::assert_snapshot!(keys.join(" "), @r#"all bounded_slowdown_threshold classes cut cut_off digest folder items_disclosed jobs jobs_cut makespan max_slowdown max_turnaround_time max_waiting_time mean_bounded_slowdown mean_slowdown mean_turnaround_time mean_waiting_time messages nb_computing_machines nb_jobs nb_jobs_finished nb_jobs_killed nb_jobs_rejected nb_jobs_success providers success_rate time_computing time_idle utilisation utilisation_in_window warnings workloads"#);
    assert_eq!(json["jobs"], 1);
    assert_eq!(json["folder"], "out");
    assert_eq!(json["makespan"], 80.0);
    let provenance = folder.json("out/provenance.json");
    assert_eq!(json["digest"], provenance["digest"]["overall"]);
}

#[test]
fn a_job_wider_than_every_provider_is_rejected_and_noted() {
    let folder = Folder::with(&[("three.toml", THREE_JOBS)]);
    insta::assert_snapshot!(folder.haggle(&["run", "three.toml", "-o", "out"]), @r#"
    exit code: 0
    ----- stdout -----
    3 jobs on 8 processors of 1 provider
      2 completed, 1 rejected (1 too wide)
      makespan 130 s (0.0 days), utilisation 69.23 %

                                      mean         std      median        95 %         max
    waiting time, s                  30.00       42.43       30.00       57.00       60.00
    turnaround time, s               95.00       21.21       95.00      108.50      110.00
    slowdown                          1.60        0.85        1.60        2.14        2.20
    bounded slowdown (10 s)           1.60        0.85        1.60        2.14        2.20
      turnaround, weighted, s        96.67   by processor-seconds

    results  out
    digest   6026cad7a5147c9b218426c79a6e34714e234ea47481d562dd2ee2b68e878cf1
    ----- stderr -----
      ⚠ a job of workload "jobs" needs 9 processors, and provider "north" can give it 8: it will be
      │ rejected
       ╭─[three.toml:9:36]
     9 │     { submit = "10s", processors = 9, requested = "100s", run = "80s" },
       ·                                    ┬
       ·                                    ╰── too wide
       ╰────
      help: write 8 at most, or submit it to an actor with more

    three.toml: 1 warning
    note: 1 job needs more processors than its receiver has, and was rejected
    "#);
    let quiet = folder.haggle(&["run", "three.toml", "-o", "quiet", "--quiet"]);
    assert_eq!(stderr_of(&quiet), "");
}

#[test]
fn jobs_that_no_provider_of_a_metascheduler_can_run_are_noted() {
    let scenario = format!(
        "{}\n[[metascheduler]]\nname = \"grid\"\nplacement = \"round-robin\"\n",
        THREE_JOBS.replace("submits-to = \"north\"", "submits-to = \"grid\"").replace(
            "{ submit = \"20s\", processors = 8",
            "{ submit = \"15s\", processors = 10, requested = \"1s\", run = \"1s\" },\n\
             { submit = \"20s\", processors = 8"
        )
    );
    let folder = Folder::with(&[("grid.toml", &scenario)]);
    let shown = folder.haggle(&["run", "grid.toml", "-o", "out"]);
    insta::assert_snapshot!(stderr_of(&shown), @r#"
      ⚠ a job of workload "jobs" needs 9 processors, and metascheduler "grid" can give it 8 at one
      │ provider: it will be rejected, and so will another one
       ╭─[grid.toml:9:36]
     9 │     { submit = "10s", processors = 9, requested = "100s", run = "80s" },
       ·                                    ┬
       ·                                    ╰── too wide
       ╰────
      help: write 8 at most, or submit it to an actor with more

    grid.toml: 1 warning
    note: 2 jobs need more processors than their receivers have, and were rejected
    "#);
    // The metrics leave out the first job, but the note must still count it.
    let cut = format!("{scenario}\n[results]\nwarm-up = \"12s\"\n");
    let folder = Folder::with(&[("cut.toml", &cut)]);
    let shown = folder.haggle(&["run", "cut.toml", "-o", "out"]);
    assert!(stderr_of(&shown).contains("\nnote: 2 jobs need more processors "), "{shown}");
}

#[test]
fn tables_hold_every_job_in_both_formats() {
    let mut read = Vec::new();
    let failures = "[[failures]]\noutages = [[\"110s\", \"120s\"]]\n";
    for (messages, more) in [("all", ""), ("counts", failures)] {
        let scenario = format!("{THREE_JOBS}\n[results]\nmessages = \"{messages}\"\n{more}");
        let folder = Folder::with(&[("three.toml", &scenario)]);
        let open = |format: &str| {
            folder.haggle(&["run", "three.toml", "-o", format, "--format", format]);
            RunReader::open(&folder.path().join(format)).unwrap_or_else(|error| panic!("{error}"))
        };
        let (parquet, csv) = (open("parquet"), open("csv"));
        let jobs = parquet.jobs().expect("readable");
        let outcomes: Vec<&str> = jobs.iter().map(|job| job.outcome.as_str()).collect();
        assert_eq!(outcomes, ["rejected", "completed", "completed"]);
        for table in Table::ALL.into_iter().filter(|&table| parquet.has(table)) {
            let rows = rows(&parquet, table);
            assert_eq!(rows, self::rows(&csv, table), "{}", table.name());
            read.push((table.name(), rows.len()));
        }
    }
    // Only grids have checkpoints and workflows, and move data. In this run no message is lost, no actor crashes, and no
    // job is reserved, spread, moved, named by a file, made of phases, placed on nodes or in need of data.
    let grids = [Table::Checkpoints, Table::Transfers, Table::Workflows];
    let not_here = |table: &Table| {
        let others = [
            Table::MessageFaults,
            Table::Crashes,
            Table::Reservations,
            Table::Displacements,
            Table::Moves,
            Table::Intervals,
            Table::Maintenance,
            Table::Transactions,
            Table::Holds,
            Table::Inputs,
            Table::Bookings,
            Table::Tasks,
            Table::Nodes,
        ];
        grids.contains(table) || others.contains(table)
    };
    for table in Table::ALL.into_iter().filter(|table| !not_here(table)) {
        assert!(
            read.iter().any(|(name, _)| *name == table.name()),
            "{} is never written",
            table.name()
        );
    }
    assert_eq!(read.iter().filter(|read| **read == ("jobs", 3)).count(), 2, "{read:?}");
    assert_eq!(read.iter().filter(|read| **read == ("resources", 1)).count(), 2, "{read:?}");
}

/// A table with each value as a text.
fn rows(reader: &RunReader, table: Table) -> Vec<Vec<String>> {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
    let data = reader.columns(table, &names).unwrap_or_else(|error| panic!("{error}"));
    let value = |row: usize, name: &str| {
        if let Ok(values) = data.real(name) {
            format!("{:?}", values[row])
        } else if let Ok(values) = data.integer(name) {
            format!("{:?}", values[row])
        } else {
            format!("{:?}", data.text(name).expect("there is no other kind").at(row))
        }
    };
    (0..data.rows()).map(|row| names.iter().map(|name| value(row, name)).collect()).collect()
}

#[test]
fn the_table_of_jobs_begins_as_batsims() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    folder.haggle(&["run", "valid.toml", "-o", "out", "--format", "csv"]);
    let batsim = "job_id,workload_name,profile,submission_time,requested_number_of_resources,\
                  requested_time,success,final_state,starting_time,execution_time,finish_time,\
                  waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,\
                  metadata,";
    let table = folder.read("out/jobs.csv");
    assert!(table.starts_with(batsim), "{table}");
    assert_eq!(table.lines().count(), 2);
}

#[test]
fn the_scenario_left_beside_results_gives_them_again() {
    let folder = Folder::with(&[("three.toml", THREE_JOBS)]);
    let digest = |arguments: &[&str]| {
        let shown = folder.haggle(arguments);
        shown.lines().find_map(|line| line.strip_prefix("digest   ")).map(str::to_owned)
    };
    let first = digest(&["run", "three.toml", "-o", "first"]);
    assert!(first.is_some());
    assert_eq!(digest(&["run", "first/scenario.toml", "-o", "again"]), first);
}

#[test]
fn values_can_be_set_on_the_command_line() {
    let folder = Folder::with(&[("three.toml", THREE_JOBS)]);
    let run = |sets: &[&str], place: &str| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let args = ["run", "three.toml", "-o", place].into_iter().chain(sets);
        folder.haggle(&args.collect::<Vec<_>>())
    };
    let wider = run(&["provider.north.processors=9", "scenario.seed=7"], "wider");
    assert!(wider.contains("3 completed"), "{wider}");
    let written = folder.read("wider/scenario.toml");
    assert!(written.contains("name = \"three\"\nseed = 7\n"), "{written}");
    assert!(written.contains("processors = 9\n"), "{written}");
    // A value set by an option is part of the scenario beside the results.
    let again = folder.haggle(&["run", "wider/scenario.toml", "-o", "again"]);
    let digest = |shown: &str| {
        shown.lines().find_map(|line| line.strip_prefix("digest   ")).map(str::to_owned)
    };
    assert!(digest(&wider).is_some());
    assert_eq!(digest(&again), digest(&wider));
    insta::assert_snapshot!(run(&["provider.nort.processors=9"], "none"), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × path "provider.nort.processors" matches no key of the scenario
       ╭─[--set:6:1]
     6 │ "provider.nort.processors" = 9
       · ─────────────┬────────────
       ·              ╰── leads nowhere
       ╰────
      help: did you mean "north"?

    error: --set has 1 problem
    "#);
    insta::assert_snapshot!(run(&["provider.*.policy=eazy"], "none"), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × `policy` cannot be "eazy"
       ╭─[--set:6:23]
     6 │ "provider.*.policy" = "eazy"
       ·                       ───┬──
       ·                          ╰── no such word
       ╰────
      help: did you mean "easy"? `policy` is one of "fcfs", "easy", "conservative", "edf", "bags",
            "reservations" or "recorded"

    error: --set has 1 problem
    "#);
    insta::assert_snapshot!(run(&["sweep.replications=3"], "none"), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × path "sweep.replications" matches no key of the scenario
       ╭─[--set:6:1]
     6 │ "sweep.replications" = 3
       · ──────────┬─────────
       ·           ╰── leads nowhere
       ╰────
      help: sweeps, branches, `set` and `extends` are read before values are set

    error: --set has 1 problem
    "#);
    insta::assert_snapshot!(run(&["provider.north.policy"], "none"), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'provider.north.policy' for '--set <PATH=VALUE>': write a path, `=` and a value, such as provider.north.policy=easy

    For more information, try '--help'.
    "#);
}

#[test]
fn results_that_are_there_are_kept() {
    let folder = Folder::with(&[("valid.toml", VALID), ("three.toml", THREE_JOBS)]);
    folder.haggle(&["run", "valid.toml", "-o", "out"]);
    let before = folder.tree("out");
    insta::assert_snapshot!(folder.haggle(&["run", "three.toml", "-o", "out"]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
      ⚠ a job of workload "jobs" needs 9 processors, and provider "north" can give it 8: it will be
      │ rejected
       ╭─[three.toml:9:36]
     9 │     { submit = "10s", processors = 9, requested = "100s", run = "80s" },
       ·                                    ┬
       ·                                    ╰── too wide
       ╰────
      help: write 8 at most, or submit it to an actor with more

    three.toml: 1 warning
    error: `out` exists already and stays as it is: name another folder, or replace it with --force
    "#);
    assert_eq!(folder.tree("out"), before);
    let forced = folder.haggle(&["run", "three.toml", "-o", "out", "--force"]);
    assert!(forced.starts_with("exit code: 0\n"), "{forced}");
    assert_ne!(folder.tree("out")["jobs.parquet"], before["jobs.parquet"]);
    assert_eq!(folder.names(), ["out", "three.toml", "valid.toml"]);
}

#[test]
fn a_scenario_that_was_edited_runs_again_in_its_own_folder() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    let run = ["run", "valid.toml"];
    let first = folder.haggle(&run);
    assert!(first.contains("results  runs/valid\n"), "{first}");
    let before = folder.tree("runs/valid");
    fs::write(folder.path().join("valid.toml"), VALID.replace("run = \"80s\"", "run = \"70s\""))
        .expect("it can be written");
    // Another path to the same file, and another seed.
    let again = folder.haggle(&["run", "./valid.toml", "--seed", "7"]);
    assert!(again.starts_with("exit code: 0\n"), "{again}");
    assert_ne!(folder.tree("runs/valid")["provenance.json"], before["provenance.json"]);
    assert_eq!(folder.names_in("runs"), ["valid"]);
    // Figures can be drawn again, notes cannot, so only figures may be replaced.
    fs::write(folder.path().join("runs/valid/mine.png"), "").expect("it can be written");
    assert!(folder.haggle(&run).starts_with("exit code: 0\n"));
    assert!(!folder.path().join("runs/valid/mine.png").exists());
    fs::write(folder.path().join("runs/valid/notes.md"), "precious").expect("it can be written");
    insta::assert_snapshot!(folder.haggle(&run), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `runs/valid` stays as it is: its file `notes.md` does not belong to a run

    hint: move it elsewhere, name another folder with -o, or add --force to delete it
    "#);
    assert_eq!(folder.read("runs/valid/notes.md"), "precious");
    fs::remove_file(folder.path().join("runs/valid/notes.md")).expect("it can be removed");
    // A named folder is not replaced without `--force`.
    let named = folder.haggle(&["run", "valid.toml", "-o", "runs/valid"]);
    assert!(named.contains("exists already and stays as it is"), "{named}");
}

#[test]
fn a_folder_of_another_file_is_not_replaced() {
    let name = "[scenario]\nname = \"same\"\n";
    let (a, b) = (format!("{name}{VALID}"), format!("{name}{VALID}"));
    let folder = Folder::with(&[("a.toml", &a), ("b.toml", &b)]);
    assert!(folder.haggle(&["run", "a.toml"]).starts_with("exit code: 0\n"));
    let before = folder.tree("runs/same");
    let refused = "`runs/same` exists already and stays as it is: name another folder";
    for arguments in [&["run", "b.toml"][..], &["run", "a.toml", "-o", "runs/same"]] {
        let shown = folder.haggle(arguments);
        assert!(shown.starts_with("exit code: 4\n") && shown.contains(refused), "{shown}");
    }
    assert_eq!(folder.tree("runs/same"), before);
    // A folder that another command made, such as `replay`, has no note.
    fs::remove_file(folder.path().join("runs/same/.made-from")).expect("it is there");
    let shown = folder.haggle(&["run", "a.toml"]);
    assert!(shown.starts_with("exit code: 4\n") && shown.contains(refused), "{shown}");
}

/// The rows of the table give the numbers of the summary, also if a horizon stops jobs.
#[test]
fn jobs_that_count_have_the_means_of_the_summary() {
    let model = VALID.replace(
        "jobs = [{ submit = \"0s\", processors = 4, requested = \"100s\", run = \"80s\" }]",
        "model = \"lublin-feitelson\"\nlublin = { jobs = 600, processors = 8, load = 0.9 }",
    );
    let results = "[results]\nformat = \"both\"\nwarm-up = \"10%\"\ncool-down = \"5%\"\n";
    let horizon = format!("[scenario]\nhorizon = \"5d\"\n{model}{results}");
    let folder =
        Folder::with(&[("all.toml", &format!("{model}{results}")), ("horizon.toml", &horizon)]);
    for name in ["all", "horizon"] {
        let shown = folder.haggle(&["run", &format!("{name}.toml"), "-o", name, "--check"]);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
        let run = RunReader::open(&folder.path().join(name)).expect("a run");
        let columns = ["counted", "outcome", "waiting_time", "bounded_slowdown"];
        let jobs = run.columns(Table::Jobs, &columns).expect("columns");
        let counted = jobs.integer("counted").expect("integers");
        let outcome = jobs.text("outcome").expect("texts");
        let mean = |column: &str| {
            let values = jobs.real(column).expect("numbers").iter().enumerate();
            let counts =
                |row: usize| counted[row] == Some(1) && outcome.at(row) != Some("unfinished");
            let values: Vec<f64> =
                values.filter(|&(row, _)| counts(row)).filter_map(|it| *it.1).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let summary = run.summary().expect("a summary");
        let near = |a: f64, b: Option<f64>| (a / b.expect("a mean") - 1.0).abs() < 1e-9;
        assert!(near(mean("waiting_time"), summary.mean_waiting_time), "{name}");
        assert!(near(mean("bounded_slowdown"), summary.mean_bounded_slowdown), "{name}");
        let left_out = counted.iter().filter(|it| **it == Some(0)).count();
        assert_eq!(left_out as u64, summary.jobs_cut, "{name}");
        assert!(summary.jobs_cut > 0 && summary.cut_off == (name == "horizon"), "{name}");
    }
}

#[test]
fn force_replaces_runs_only() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    fs::create_dir(folder.path().join("thesis")).expect("it can be made");
    fs::write(folder.path().join("thesis/chapter.tex"), "precious").expect("it can be written");
    let run = ["run", "valid.toml", "--force", "-o"];
    insta::assert_snapshot!(folder.haggle(&[&run[..], &["thesis"]].concat()), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `thesis` does not hold a run (no provenance.json in it), so --force will not replace it: name another folder
    "#);
    assert_eq!(folder.read("thesis/chapter.tex"), "precious");
    // A file is no run either.
    insta::assert_snapshot!(folder.haggle(&[&run[..], &["valid.toml"]].concat()), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `valid.toml` does not hold a run (no provenance.json in it), so --force will not replace it: name another folder
    "#);
    assert_eq!(folder.read("valid.toml"), VALID);
    assert_eq!(folder.names(), ["thesis", "valid.toml"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    insta::assert_snapshot!(folder.haggle(&["run", "valid.toml", "-o", "valid.toml/out"]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: cannot write `valid.toml/.out.partial`: Not a directory (os error 20)
    "#);
    insta::assert_snapshot!(folder.haggle(&["run", "valid.toml", "-o", ".."]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `..` cannot name a folder of results: write a path that ends in a name
    "#);
    assert_eq!(folder.names(), ["valid.toml"]);
}

#[test]
fn a_disk_that_fills_up_leaves_nothing() {
    let folder = Folder::with(&[("log.toml", OF_A_LOG), ("log.swf", &many_jobs())]);
    fs::create_dir(folder.path().join("small")).expect("it can be made");
    let small = folder.path().join("small");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    }
    let run = ["run", "log.toml", "-o", "small/out", "--format", "csv", "--quiet"];
    let shown = folder.haggle(&run);
    let left = folder.names_in("small");
    let unmounted = Command::new("umount").arg(&small).status();
    assert!(unmounted.is_ok_and(|status| status.success()), "{} is left mounted", small.display());
    insta::assert_snapshot!(shown, @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: no space left while writing `small/.out.partial/messages.csv`: free some, or write less (no messages, one format)
    "#);
    assert_eq!(left, [""; 0]);
}

/// A log whose tables are longer than 64 KiB.
fn many_jobs() -> String {
    let line =
        |number: u32| format!("{number} {number} -1 1 1 -1 -1 1 90 -1 1 1 -1 -1 1 -1 -1 -1\n");
    (1..5_000).map(line).collect()
}

#[test]
fn a_log_that_is_missing_is_shown_in_the_scenario() {
    let folder = Folder::with(&[("log.toml", OF_A_LOG)]);
    insta::assert_snapshot!(folder.haggle(&["run", "log.toml", "-o", "out"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × log `log.swf` is not there
       ╭─[log.toml:4:7]
     4 │ log = "log.swf"
       ·       ────┬────
       ·           ╰── no such file
       ╰────
      help: paths start from the scenario's folder; the README lists sources of logs

    error: log.toml has 1 problem
    "#);
    assert_eq!(folder.names(), ["log.toml"]);
}

#[test]
fn logs_that_are_none_leave_nothing() {
    let garbage: Vec<u8> = (0..200_u8).map(|byte| byte.wrapping_mul(37)).collect();
    let cut = LOG.replace("2 10 -1 60 4 -1 -1 4 90 -1 1 2 -1 -1 1 -1 -1 -1", "2 10 -1 60");
    let late = LOG.replace("\n3 20 ", "\n3 5 ");
    let logs: [&[u8]; 5] = [b"", cut.as_bytes(), late.as_bytes(), &garbage, b"; MaxProcs: 8\n"];
    let mut all = String::new();
    for log in logs {
        let folder = Folder::with(&[("log.toml", OF_A_LOG)]);
        fs::write(folder.path().join("log.swf"), log).expect("it can be written");
        all.push_str(&folder.haggle(&["run", "log.toml", "-o", "out"]));
        assert_eq!(folder.names(), ["log.swf", "log.toml"]);
    }
    insta::assert_snapshot!(all, @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf: log holds no jobs
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf:3: expected 18 fields, found 4

    hint: replay with --lenient, or set `malformed = "skip"` in the workload's rules, to leave such lines out and count them
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf:4: job 3 was submitted at 5 s, before the job above it (10 s); set the order rule to sort

    hint: set `order = "sort"` in the workload's rules, or sort the log first: `haggle workload convert --order sort LOG SORTED`
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf:1: expected 18 fields, found 5

    hint: replay with --lenient, or set `malformed = "skip"` in the workload's rules, to leave such lines out and count them
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf: log holds no jobs
    "#);
}

#[test]
fn a_line_cut_short_can_be_left_out() {
    let cut = LOG.replace("2 10 -1 60 4 -1 -1 4 90 -1 1 2 -1 -1 1 -1 -1 -1", "2 10 -1 60");
    let lenient = OF_A_LOG.replace("\"log.swf\"", "\"log.swf\"\nrules = { malformed = \"skip\" }");
    let folder = Folder::with(&[("log.toml", &lenient), ("log.swf", &cut)]);
    let shown = folder.haggle(&["run", "log.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    insta::assert_snapshot!(stderr_of(&shown), @r#"
    workload jobs:
            3  job lines read
            1  malformed line: skipped
               log.swf:3: expected 18 fields, found 4
            2  jobs kept
    "#);
}

#[test]
fn a_sweep_is_no_run() {
    let sweep = format!("{VALID}\n[sweep]\nreplications = 3\n");
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    insta::assert_snapshot!(folder.haggle(&["run", "sweep.toml", "-o", "out"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the scenario is a sweep of 3 runs

    hint: `haggle sweep` in place of `haggle run` carries them all out
    "#);
    assert_eq!(folder.names(), ["sweep.toml"]);
}

#[test]
fn seeds_alone_decide_what_is_drawn() {
    let small = LONG.replace("5000000", "300");
    let folder = Folder::with(&[("small.toml", &small)]);
    let digest = |name: &str, more: &[&str]| {
        let run = ["run", "small.toml", "--check", "--json", "-o", name];
        let shown = folder.haggle(&[&run[..], more].concat());
        let json = json_of(&shown);
        json["digest"].as_str().expect("a text").to_owned()
    };
    let first = digest("first", &["--seed", "7"]);
    assert_eq!(digest("again", &["--seed", "7"]), first);
    assert_eq!(digest("actix", &["--seed", "7", "--driver", "actix"]), first);
    assert_eq!(digest("csv", &["--seed", "7", "--format", "csv"]), first);
    assert_ne!(digest("other", &["--seed", "8"]), first);
}

#[test]
fn a_run_that_is_killed_is_no_run() {
    let folder = Folder::with(&[("long.toml", LONG), ("valid.toml", VALID)]);
    let mut killed = folder.start(&["run", "long.toml", "-o", "out"]);
    wait_for(|| folder.names().contains(&".out.partial".to_owned()));
    killed.kill().expect("it runs");
    killed.wait().expect("it has ended");
    assert_eq!(folder.names(), [".out.partial", "long.toml", "valid.toml"]);
    // The remains do not disturb the next run.
    let shown = folder.haggle(&["run", "valid.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert_eq!(folder.names(), ["long.toml", "out", "valid.toml"]);
}

#[test]
#[cfg(unix)]
fn a_run_that_is_interrupted_leaves_nothing() {
    let folder = Folder::with(&[("long.toml", LONG)]);
    let child = folder.start(&["run", "long.toml", "-o", "out"]);
    wait_for(|| folder.names().contains(&".out.partial".to_owned()));
    crate::command::interrupt(&child);
    insta::assert_snapshot!(crate::command::ended(child), @r#"
    exit code: 130
    ----- stdout -----
    ----- stderr -----

    stopping; press Ctrl-C again to stop at once
    interrupted: no results were written
    "#);
    assert_eq!(folder.names(), ["long.toml"]);
}

/// Waits until the condition holds, for a bounded time.
pub(crate) fn wait_for(holds: impl Fn() -> bool) {
    let interval = Duration::from_millis(5);
    let held = (0..12_000).any(|_| {
        let holds = holds();
        if !holds {
            sleep(interval);
        }
        holds
    });
    assert!(held, "waited for a minute");
}
