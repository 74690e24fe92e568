//! Jobs that run or wait at time zero, and forecasts of their starts.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use haggle::experiment::forecast::{Schedule, Scheduled};
use haggle::model::{Span, Time};
use haggle::scenario::file::{InlineJob, Lublin, Model, Policy, Workload};
use haggle::scenario::quantity::TimeSpan;
use haggle::scenario::{Builder, Logs, Scenario, Source};
use serde_json::Value;

use crate::command::{Folder, json_of, stdout_of, unwrapped};

/// Six of eight processors run a job that ends at 2 h, and by its request at 3 h. Three jobs wait: by submission, those
/// of 2, 4 and 2 processors. One of 4 processors comes later.
const STATE: &str = r#"
[[provider]]
name = "north"
processors = 8
policy = "fcfs"
initial = [
    { number = 11, processors = 6, run = "3h", requested = "4h", started-ago = "1h" },
    { number = 12, processors = 4, run = "1h", requested = "2h", submitted-ago = "30min" },
    { number = 13, processors = 2, run = "1h", requested = "1h", submitted-ago = "45min" },
    { number = 14, processors = 2, run = "1h", requested = "1h" },
]

[[workload]]
name = "jobs"
jobs = [{ submit = "10min", processors = 4, requested = "2h", run = "90min" }]

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[results]
format = "csv"
"#;

/// Cells of a column, by the names of jobs.
fn column(csv: &str, name: &str) -> Vec<(String, String)> {
    let mut lines = csv.lines().map(|line| Vec::from_iter(line.split(',')));
    let head = lines.next().expect("a line of names");
    let at = |name: &str| head.iter().position(|it| *it == name).expect("the column is there");
    let (job, workload, at) = (at("job_id"), at("workload_name"), at(name));
    let mut cells = Vec::from_iter(
        lines.map(|row| (format!("{} {}", row[workload], row[job]), row[at].to_owned())),
    );
    cells.sort();
    cells
}

#[test]
fn jobs_run_and_wait_at_time_zero() {
    let folder = Folder::with(&[("state.toml", STATE)]);
    for (policy, second, last, late) in
        [("fcfs", "7200.0", "7200.0", "10800.0"), ("easy", "7200.0", "3600.0", "7200.0")]
    {
        let setting = format!("provider.north.policy={policy}");
        let out = folder.haggle(&["run", "state.toml", "-o", policy, "--check", "--set", &setting]);
        assert!(out.starts_with("exit code: 0"), "{out}");
        assert!(stdout_of(&out).contains("4 more jobs of the start state left out"), "{out}");
        let jobs = folder.read(&format!("{policy}/jobs.csv"));
        let cells = |name| Vec::from_iter(column(&jobs, name).into_iter().map(|it| it.1));
        assert_eq!(
            cells("starting_time"),
            [late, "-3600.0", second, "0.0", last],
            "{policy}: {jobs}"
        );
        assert_eq!(
            cells("submission_time"),
            ["600.0", "-3600.0", "-1800.0", "-2700.0", "0.0"],
            "{policy}"
        );
        assert_eq!(cells("counted"), ["1", "0", "0", "0", "0"]);
        assert_eq!(cells("initial"), ["", "running", "waiting", "waiting", "waiting"]);
        let summary = folder.summary(policy);
        assert_eq!((summary["nb_jobs"].as_u64(), summary["jobs_cut"].as_u64()), (Some(1), Some(4)));
        // From time zero to the last end. The running job counts with the two hours of the run.
        let work = f64::from(6 * 2 + 4 + 2 + 2) + 6.0;
        let makespan = if policy == "fcfs" { 4.5 } else { 3.5 };
        let used = summary["utilisation"].as_f64().expect("a share");
        assert!((used - work / (8.0 * makespan)).abs() < 1e-9, "{policy}: {used}");
    }
}

/// Of the time before zero, a run has only the jobs of its start state, so figures begin at zero unless asked otherwise.
#[test]
fn figures_begin_at_time_zero() {
    let folder = Folder::with(&[("state.toml", STATE)]);
    let out = folder.haggle(&["run", "state.toml", "-o", "run"]);
    assert!(out.starts_with("exit code: 0"), "{out}");
    for kind in ["gantt", "utilisation", "queue-length"] {
        let has_negative_tick = |options: &[&str]| {
            let drawn = ["plot", "run", "--kind", kind, "-o", "figure.svg", "--force"];
            let out = folder.haggle(&[&drawn, options].concat());
            assert!(out.starts_with("exit code: 0"), "{kind} {options:?}: {out}");
            let svg = folder.read("figure.svg");
            svg.lines().any(|line| line.trim().parse().is_ok_and(|tick: f64| tick < 0.0))
        };
        assert!(!has_negative_tick(&[]), "{kind}");
        assert!(has_negative_tick(&["--from", "-1h"]), "{kind}");
    }
    let out = folder.haggle(&[
        "plot",
        "run",
        "--kind",
        "gantt",
        "--from",
        "-1d",
        "--until",
        "0s",
        "-o",
        "before.svg",
    ]);
    assert!(out.starts_with("exit code: 0"), "{out}");
    let figure = format!("{STATE}\n[[figure]]\nkind = \"gantt\"\nfrom = \"-1h\"\nuntil = \"2h\"\n");
    let folder = Folder::with(&[("state.toml", &figure)]);
    let out = folder.haggle(&["run", "state.toml", "-o", "run"]);
    assert!(out.starts_with("exit code: 0"), "{out}");
    assert!(folder.read("run/scenario.toml").contains("from = \"-1h\""));
    assert!(folder.path().join("run/gantt.png").exists());
}

#[test]
fn every_driver_and_a_snapshot_give_the_same() {
    let folder = Folder::with(&[("state.toml", STATE)]);
    let tables = |name: &str, options: &[&str]| {
        let out = folder.haggle(&[&["run", "state.toml", "-o", name], options].concat());
        assert!(out.starts_with("exit code: 0"), "{out}");
        ["jobs", "messages", "placements"].map(|it| folder.read(&format!("{name}/{it}.csv")))
    };
    let plain = tables("plain", &[]);
    assert_eq!(tables("actix", &["--driver", "actix"]), plain);
    assert_eq!(tables("snapshots", &["--snapshot-every", "30min"]), plain);
}

#[test]
fn a_table_has_the_same_jobs_as_a_list() {
    let table = "number,processors,run,requested,started-ago,submitted-ago\n\
                 11,6,3h,4h,1h,\n12,4,3600,7200,,1800\n13,2,1h,1h,,45min\n14,2,1h,1h,,\n";
    let of_table = STATE
        .replace("initial = [", "initial-file = \"jobs.csv\"\n#")
        .replace("    {", "#")
        .replace("\n]\n\n[[workload", "\n\n[[workload");
    let folder =
        Folder::with(&[("list.toml", STATE), ("table.toml", &of_table), ("jobs.csv", table)]);
    for name in ["list", "table"] {
        let out = folder.haggle(&["run", &format!("{name}.toml"), "-o", name]);
        assert!(out.starts_with("exit code: 0"), "{out}");
    }
    assert_eq!(folder.read("list/jobs.csv"), folder.read("table/jobs.csv"));
    let inputs = folder.json("table/provenance.json")["inputs"].to_string();
    assert!(inputs.contains("jobs.csv"), "{inputs}");
    for (wrong, message) in [
        (
            "processors,ruN\n1,3\n",
            "column 2: unknown column `ruN`; the columns are number, processors,",
        ),
        ("run\n3\n", "columns: the column `processors` is missing; add it"),
        ("processors,run\n1,-3\n", "row 1: `run` is `-3`; write seconds, or a time such as 2h"),
        ("processors,run\n1,3\n9,3\n", "row 2: job 2 needs 9 processors, provider \"north\" has 8"),
        ("processors,run\n1,\n", "row 1: job 1 has no run time, and no law gives one"),
        ("processors,run,run\n1,1,1\n", "column 3: a second column `run`; keep one"),
        (
            "# a note\nprocessors,run\n1,3\n# another\n\n1,\"3\n1,3\n",
            "the row in line 6 opens a quotation mark and does not close it; close it, or remove it",
        ),
        ("processors,\"run\n1,3\n", "the row in line 1 opens a quotation mark"),
        (
            "processors,run\n1.5,1\n",
            "row 1: `processors` is `1.5`; write a whole number in its range",
        ),
    ] {
        std::fs::write(folder.path().join("jobs.csv"), wrong).expect("a file can be written");
        let out = unwrapped(&folder.haggle(&["run", "table.toml", "-o", "wrong"]));
        assert!(out.starts_with("exit code: 3") && out.contains(message), "{wrong}: {out}");
    }
}

#[test]
fn impossible_start_states_are_refused_at_their_places() {
    let of = |jobs: &str, keys: &str| {
        format!("[[provider]]\nname = \"north\"\nprocessors = 4\n{keys}\ninitial = [{jobs}]\n")
    };
    let law = "initial-use = [{ law = { law = \"constant\", value = 0.5 } }]";
    for (jobs, keys, message) in [
        (
            "{ processors = 5, run = \"1h\" }",
            "",
            "job 1 needs 5 processors, provider \"north\" has 4",
        ),
        (
            "{ processors = 3, run = \"1h\", started-ago = \"1min\" }, { processors = 2, run = \"1h\", started-ago = \"1min\" }",
            "",
            "the jobs that run at time zero need at least 5 processors, provider \"north\" has 4",
        ),
        (
            "{ processors = 1, run = \"1h\", started-ago = \"1h\" }",
            "",
            "job 1 has run for 1h, and its whole run takes 1h",
        ),
        (
            "{ processors = 1, run = \"2h\", started-ago = \"1h\" }",
            "speed = 2",
            "its whole run takes 2h on processors of speed 1; these have the speed 2",
        ),
        (
            "{ processors = 1, run = \"9h\", requested = \"1h\", started-ago = \"2h\" }",
            "",
            "job 1 has run for 2h, and it is stopped after its requested time, 1h",
        ),
        (
            "{ processors = 1, run = \"1h\", started-ago = \"0s\" }",
            "",
            "job 1 would start at time zero, and not before",
        ),
        (
            "{ processors = 1, run = \"1h\", started-ago = \"5min\", submitted-ago = \"1min\" }",
            "",
            "job 1 was submitted 1min ago and started before, 5min ago",
        ),
        (
            "{ processors = 1, requested = \"5min\" }",
            "initial-use = [{ requested-from = \"1h\", law = { law = \"constant\", value = 0.5 } }]",
            "job 1 requests 5min, and no law of `initial-use` holds for that",
        ),
        (
            "{ processors = 1, requested = \"5min\" }",
            "initial-use = [{ law = { law = \"constant\", value = 0.5 } }, { law = { law = \"constant\", value = 0.6 } }]",
            "two laws hold for requested times from 0s on",
        ),
        ("{ processors = 1 }", "", "job 1 has no run time, and no law gives one"),
        (
            "{ processors = 1 }",
            law,
            "job 1 has no requested time, of which `initial-use` could give a part",
        ),
        (
            "{ processors = 1, run = \"1h\", number = 2 }, { processors = 1, run = \"1h\" }",
            "",
            "job 2 is listed twice, also as entry 1",
        ),
        (
            "{ processors = 1, run = \"1h\" }",
            "initial-file = \"a.csv\"",
            "provider \"north\" has two start states: `initial` and `initial-file`",
        ),
        (
            "{ processors = 1, requested = \"1h\" }",
            "initial-use = [{ law = { law = \"constant\", value = 0.5 } }]\ninitial-run = { law = \"constant\", value = \"1h\" }",
            "provider \"north\" has two laws of run times: `initial-run` and `initial-use`",
        ),
        ("{ processors = 1, run = \"1h\", started = \"5min\" }", "", "has no key `started`"),
        (
            "{ processors = 1, run = \"1h\", submitted-ago = \"9999w\" }",
            "",
            "is over a century ago",
        ),
    ] {
        let folder = Folder::with(&[("state.toml", &of(jobs, keys))]);
        let out = unwrapped(&folder.haggle(&["validate", "state.toml"]));
        assert!(out.starts_with("exit code: 3") && out.contains(message), "{jobs} {keys}: {out}");
    }
    let law = "[[provider]]\nname = \"north\"\nprocessors = 4\ninitial-run = { law = \"constant\", value = \"1h\" }\n";
    let folder = Folder::with(&[("law.toml", law)]);
    assert!(
        unwrapped(&folder.haggle(&["validate", "law.toml"]))
            .contains("`initial-run` goes with `initial` or `initial-file`")
    );
}

/// The running job has the law 1, 2 or 3 hours, and has run for 90 minutes: it ends in 30 or in 90 minutes.
const LAW: &str = r#"
[[provider]]
name = "north"
processors = 1
policy = "fcfs"
initial-run = { law = "choice", values = ["1h", "2h", "3h"] }
initial = [
    { number = 1, processors = 1, started-ago = "90min" },
    { number = 2, processors = 1, submitted-ago = "10min", run = "10min" },
    { number = 3, processors = 1 },
]
"#;

#[test]
fn a_running_job_runs_longer_than_it_has_run() {
    let folder = Folder::with(&[("law.toml", LAW)]);
    let of = |options: &[&str]| {
        let out = folder
            .haggle(&[&["forecast", "law.toml", "--json", "--runs", "400"], options].concat());
        assert!(out.starts_with("exit code: 0"), "{out}");
        json_of(&out)
    };
    let one = of(&["--jobs", "1"]);
    assert_eq!(of(&["--jobs", "2"]), one, "the number of threads changes nothing");
    let jobs = one["jobs"].as_array().expect("a list");
    let interval = |job: usize, level: usize| {
        let it = &jobs[job]["intervals"][level];
        (it["from_s"].as_f64(), it["to_s"].as_f64())
    };
    assert_eq!(jobs.len(), 2, "the running job is not forecast");
    assert_eq!((&jobs[0]["job"], &jobs[0]["submitted_s"]), (&Value::from(2), &Value::from(-600.0)));
    assert_eq!(interval(0, 1), (Some(1800.0), Some(5400.0)));
    assert_eq!(interval(1, 0), (Some(2400.0), Some(6000.0)));
    // Both ends are equally likely.
    let text = folder.haggle(&["forecast", "law.toml", "--runs", "400", "--level", "2"]);
    assert!(stdout_of(&text).contains("2 waiting jobs after time zero, over 400 runs"), "{text}");
}

#[test]
fn a_forecast_is_written_and_drawn() {
    let folder = Folder::with(&[("law.toml", LAW)]);
    let options =
        ["--runs", "20", "-o", "starts.csv", "--figure", "starts.svg", "--level", "90,50"];
    let out = folder.haggle(&[&["forecast", "law.toml"][..], &options].concat());
    assert!(out.starts_with("exit code: 0"), "{out}");
    let csv = folder.read("starts.csv");
    assert!(csv.starts_with("provider,job,processors,requested_time,submission_time,runs,never_started,median_start,from_50,to_50,from_90,to_90\nnorth,2,1,,-600,20,0,"), "{csv}");
    assert!(folder.read("starts.svg").contains("50 % (box) and 90 % (whiskers) of 20 runs"));
    let again = folder.haggle(&[&["forecast", "law.toml"][..], &options].concat());
    assert!(again.starts_with("exit code: 4"), "{again}");
    for (arguments, message) in [
        (&["forecast"][..], "a scenario is missing"),
        (&["forecast", "--example", "quickstart"], "the scenario has no start state"),
        (&["forecast", "law.toml", "--level", "0"], "0 is not in 1..=99"),
    ] {
        let out = unwrapped(&folder.haggle(arguments));
        assert!(out.starts_with("exit code: 2") && out.contains(message), "{out}");
    }
}

/// A horizon at an hour: in about half of the runs, the first waiting job does not start.
#[test]
fn jobs_may_not_start_before_the_horizon() {
    let text = format!("[scenario]\nhorizon = \"1h\"\n{LAW}");
    let folder = Folder::with(&[("law.toml", &text)]);
    let out = json_of(&folder.haggle(&["forecast", "law.toml", "--json", "--runs", "100"]));
    let job = &out["jobs"][0];
    let never = job["never_started"].as_f64().expect("a share");
    assert!((0.3..0.7).contains(&never), "{out}");
    assert_eq!(job["intervals"][1]["from_s"], Value::from(1800.0));
    assert_eq!(job["intervals"][1]["to_s"], Value::Null);
}

fn checked(builder: Builder) -> Scenario {
    let experiment = builder.build().expect("a good scenario");
    let run = experiment.runs().next().expect("a run");
    Scenario::clone(&run.scenario())
}

/// Jobs of a model on one machine.
fn busy(policy: Policy, seed: u64) -> Scenario {
    let builder = Builder::new("busy")
        .workload("jobs", |jobs| {
            jobs.model = Some(Model::LublinFeitelson);
            jobs.lublin = Some(Lublin { load: Some(0.95), ..Lublin::of(400, 64) });
            let factor = r#"kind = "estimates"
rule = "uniform:3""#;
            jobs.steps = vec![toml::from_str(factor).expect("a step")];
        })
        .provider("machine", 64, |machine| machine.policy = policy)
        .user("users", "jobs", "machine", |_| {});
    let mut scenario = checked(builder);
    scenario.scenario.seed = seed;
    scenario
}

/// The scenario that begins at an instant of a schedule, with the true run times and all later submissions.
fn from_there(scenario: &Scenario, schedule: &Schedule, now: Time) -> (Scenario, usize) {
    let mut state = schedule.at(now, 1).jobs;
    let ran = |number: i64| {
        let job =
            schedule.jobs.iter().find(|it| it.number == number).expect("a job of the schedule");
        TimeSpan(job.ran)
    };
    for job in &mut state {
        job.run = Some(ran(job.number.expect("a number")));
    }
    let waiting = state.iter().filter(|it| it.started_ago.is_none()).count();
    let later = schedule.jobs.iter().filter(|it| it.submit >= now);
    let later = later.map(|it: &Scheduled| InlineJob {
        requested: it.requested.map(TimeSpan),
        ..InlineJob::new(TimeSpan(it.submit - now), it.processors, TimeSpan(it.ran))
    });
    let mut there = scenario.clone();
    for workload in &mut there.workloads {
        *workload = Workload {
            jobs: Some(later.clone().collect()),
            ..Workload::named(workload.name.clone())
        };
    }
    there.providers[0].initial = Some(state);
    (there, waiting)
}

/// The future of these queues depends only on the jobs that run and wait.
#[test]
fn a_run_that_begins_in_the_middle_of_another_ends_as_that_one() {
    let stop = AtomicBool::new(false);
    let (mut instants, mut waited) = (0, 0);
    for policy in [Policy::fcfs(), Policy::easy()] {
        for seed in 1..4 {
            let whole = busy(policy.clone(), seed);
            let schedule = Schedule::simulated(&whole, Path::new(""), &stop).expect("it runs");
            let last = schedule.jobs.last().expect("a job").submit;
            for part in 1..6 {
                // Between two microseconds nothing happens, so no job is at its very start.
                let now = Time::ZERO + Span::from_micros(last.as_micros() / 6 * part + 1);
                let (there, waiting) = from_there(&whole, &schedule, now);
                let again = Schedule::simulated(&there, Path::new(""), &stop).expect("it runs");
                let ends = |schedule: &Schedule, from: Time| {
                    let mut all =
                        Vec::from_iter(
                            schedule.jobs.iter().filter(|it| it.start + it.ran > from).map(|it| {
                                (it.submit - from, it.start - from, it.ran, it.processors)
                            }),
                        );
                    all.sort_unstable();
                    all
                };
                assert_eq!(
                    ends(&again, Time::ZERO),
                    ends(&schedule, now),
                    "{policy:?} {seed} {part}"
                );
                instants += 1;
                waited += waiting;
            }
        }
    }
    assert!(instants == 30 && waited > 60, "{waited} jobs waited");
}

/// A log of jobs that wait, with run times of half the request.
fn log() -> String {
    let mut text = "; MaxProcs: 4\n".to_owned();
    for number in 1..=60 {
        // Each job has the whole machine for 50 s, so job n starts at 50 (n - 1) s.
        let (submit, run) = (40 * (number - 1), 50);
        let wait = 50 * (number - 1) - submit;
        text.push_str(&format!(
            "{number} {submit} {wait} {run} 4 -1 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n"
        ));
    }
    text
}

#[test]
fn a_state_of_a_log_is_forecast() {
    let folder = Folder::with(&[("log.swf", &log())]);
    // At 1510 s, job 31 runs since 1500 s, and jobs 32 to 38 wait.
    let out = folder.haggle(&["forecast", "state", "log.swf", "--at", "1510s", "-o", "now.toml"]);
    assert!(out.starts_with("exit code: 0"), "{out}");
    let forecast = json_of(&folder.haggle(&["forecast", "now.toml", "--json", "--runs", "10"]));
    let jobs = forecast["jobs"].as_array().expect("a list");
    let starts =
        Vec::from_iter(jobs.iter().map(|it| (it["job"].as_i64(), it["median_s"].as_f64())));
    let expected = (32..=38).map(|it| (Some(it), Some(f64::from(50 * (it as i32 - 1) - 1510))));
    assert_eq!(starts, Vec::from_iter(expected));
    let early = unwrapped(&folder.haggle(&["forecast", "state", "log.swf", "--at", "10s"]));
    assert!(early.contains("too few jobs of the log had ended 10s after its beginning"), "{early}");
    let narrow =
        folder.haggle(&["forecast", "state", "log.swf", "--at", "1510s", "--processors", "3"]);
    assert!(!narrow.starts_with("exit code: 0"), "{narrow}");
}

/// Run times are always half the request, so every forecast is exact.
#[test]
fn coverage_is_whole_if_nothing_is_unknown() {
    let folder = Folder::with(&[("log.swf", &log())]);
    for truth in ["simulated", "recorded"] {
        let options =
            ["--policy", "fcfs", "--instants", "5", "--runs", "5", "--json", "--truth", truth];
        let out = folder.haggle(&[&["forecast", "coverage", "log.swf"][..], &options].concat());
        assert!(out.starts_with("exit code: 0"), "{out}");
        let found = json_of(&out);
        let jobs = found["jobs"].as_u64().expect("a number");
        assert!(jobs > 5, "{found}");
        assert_eq!(found["levels"][0]["inside"].as_u64(), Some(jobs), "{found}");
        assert_eq!(found["levels"][0]["intervals_without_length"].as_u64(), Some(jobs), "{found}");
    }
}

#[test]
fn a_start_state_without_workloads_is_a_scenario() {
    assert!(haggle::Experiment::read(Source::new("law.toml", LAW), Logs::MustExist).is_ok());
    let folder = Folder::with(&[("law.toml", LAW)]);
    let out = folder.haggle(&["run", "law.toml", "-o", "run", "--check"]);
    assert!(out.starts_with("exit code: 0"), "{out}");
}
