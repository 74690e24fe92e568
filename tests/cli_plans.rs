//! Applications of many phases on clusters: keys of scenarios, and their runs.

use std::fs;

use serde_json::Value;

use crate::command::{Folder, json_of, stdout_of};

/// Two clusters with constant loads, and an application whose phases suit one, then the other.
const PLANS: &str = r#"
[[workload]]
name = "own"
model = "applications"

[workload.applications]
phases = [
    { computing = "2000s", speedup = 1.0 },
    { computing = "3000s", speedup = 0.0, communicating = "1000s" },
]

[plans]
method = "optimum"
threshold = "500s"
within = "100s"
between = "50s"
checkpoint = "25 MB"
bandwidth = "10 Mbit/s"
available-min = "50%"
available-max = "50%"

[[plans.cluster]]
name = "wide"
machines = 4
cpu-min = "100%"

[[plans.cluster]]
name = "fast"
machines = 1
speed = 2.0
cpu-min = "100%"

[[user]]
name = "users"
workload = "own"
submits-to = "plans"

[results]
format = "csv"
"#;

fn ran(text: &str, flags: &[&str]) -> (Folder, Value) {
    let folder = Folder::with(&[("plans.toml", text)]);
    let shown = folder.haggle(&[&["run", "plans.toml", "--check", "-o", "out"], flags].concat());
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let summary = folder.summary("out");
    (folder, summary)
}

/// 2,000 s of work on four machines take 500 s, which is not more than the threshold. All of it in
/// one interval takes 2,500 s on the fast machine, and more on the others.
#[test]
fn an_application_runs_where_its_plan_says() {
    for driver in ["sequential", "actix"] {
        let (_, summary) = ran(PLANS, &["--driver", driver]);
        assert_eq!(summary["plans"]["intervals"], 1);
        assert_eq!(summary["makespan"], 2500.0);
        // With a lower threshold it moves: 500 s, 50 s and 200 Mbit over 5 Mbit/s, and 1,500 s.
        let (folder, summary) = ran(&PLANS.replace("\"500s\"", "\"400s\""), &["--driver", driver]);
        let plans = &summary["plans"];
        assert_eq!((&plans["intervals"], &plans["between"]), (&2.into(), &1.into()));
        assert_eq!((&plans["time"], &plans["predicted"]), (&2000.0.into(), &2000.0.into()));
        assert_eq!((&plans["moving"], &summary["makespan"]), (&90.0.into(), &2090.0.into()));
        let table = fs::read_to_string(folder.path().join("out/intervals.csv")).expect("a table");
        let rows = Vec::from_iter(table.lines().skip(1));
        assert_eq!(
            rows,
            [
                "0,1,wide,1,1,start,,4,0.0,0.0,500.0,0.0,500.0,done",
                "0,2,fast,2,2,between,wide,1,500.0,590.0,2090.0,90.0,1500.0,done",
            ]
        );
    }
}

#[test]
fn an_application_is_explained() {
    let (folder, _) = ran(&PLANS.replace("\"500s\"", "\"400s\""), &[]);
    let told = folder.haggle(&["explain", "out", "0"]);
    let told = stdout_of(&told);
    assert!(told.contains("an application of phases"), "{told}");
    let line = |begin: &str| told.lines().find(|line| line.trim().starts_with(begin));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let second = words(line("2 ").expect("the second interval"));
    assert_eq!(second, ["2", "fast", "1", "between", "90", "s", "1500", "s", "1500", "s"]);
    let story = json_of(&folder.haggle(&["explain", "out", "0", "--json"]));
    let parts = story["parts"].as_array().expect("parts");
    let of = |part: &str| {
        parts.iter().find(|it| it["part"] == part).map(|it| it["running"].as_f64().expect("s"))
    };
    assert_eq!((of("computing"), of("transfers")), (Some(2000.0), Some(90.0)));
}

#[test]
fn what_goes_not_together_is_refused() {
    let refused = |from: &str, to: &str, says: &str| {
        let text = PLANS.replace(from, to);
        assert_ne!(text, PLANS, "{from}");
        let folder = Folder::with(&[("plans.toml", &text)]);
        let shown = folder.haggle(&["validate", "plans.toml"]);
        assert!(shown.starts_with("exit code: 3\n") && shown.contains(says), "{shown}");
    };
    refused(
        "model = \"applications\"\n",
        "jobs = []\n",
        "has parameters for a model, but no model",
    );
    refused("cpu-min = \"100%\"", "cpu-min = \"0%\"", "`cpu-min` is 0%, needs at least 0.01%");
    refused("cpu-min = \"100%\"", "cpu-max = \"5%\"", "`cpu-min` is 10%, more than `cpu-max`, 5%");
    refused(
        "phases = [",
        "like = \"md\"\nphases = [",
        "are `like` a published one, of given `phases` or",
    );
    refused("name = \"fast\"", "name = \"wide\"", "wide");
    let failing = "[[failures]]\nof = [\"slow\"]\nnominal = 80\n\n[[user]]";
    refused("[[user]]", failing, "no cluster is called \"slow\"");
    let link = "[network]\nlatency = \"1s\"\n\n[[user]]";
    refused("[[user]]", link, "messages between clusters and their metascheduler take no time");
    let parted =
        "[[network.partition]]\nbetween = [[\"wide\"], [\"fast\"]]\nfrom = \"1h\"\n\n[[user]]";
    refused("[[user]]", parted, "no actor is called \"wide\"");
    let order = "[scenario]\nevents-order = \"completions-first\"\n\n[[user]]";
    refused("[[user]]", order, "with plans, the order of ends and submissions has no effect");
}

#[test]
fn what_has_no_effect_is_warned_about() {
    let warned = |text: &str, key: &str| {
        let folder = Folder::with(&[("plans.toml", text)]);
        let shown = folder.haggle(&["validate", "plans.toml"]);
        assert!(shown.contains(&format!("`{key}` of plans has no effect")), "{key}: {shown}");
    };
    let single = PLANS.replace("\"optimum\"", "\"none\"");
    for key in ["threshold", "within", "between", "bandwidth"] {
        warned(&single, key);
    }
    let delayed = single.replace("within =", "monitor-delay = \"1min\"\nwithin =");
    warned(&delayed, "monitor-delay");
}

/// A machine fails while the second interval runs on it. The interval begins again on other
/// machines.
#[test]
fn an_application_survives_its_machines() {
    let failing = "[[failures]]\nof = [\"fast\"]\noutages = [[\"1000s\", \"9h\"]]\n\n[[user]]";
    let text = PLANS.replace("\"500s\"", "\"400s\"").replace("[[user]]", failing);
    let (_, summary) = ran(&text, &[]);
    let plans = &summary["plans"];
    assert_eq!((&plans["lost"], &plans["lost_time"]), (&1.into(), &410.0.into()));
    // 1,000 s, back over 5 Mbit/s, and 3,000 s.
    assert_eq!(summary["makespan"], 1000.0 + 90.0 + 3000.0);
    assert_eq!(summary["failures"]["work_lost"], 410.0);
}

/// Messages of plans do not use the network, so its faults cannot affect them.
#[test]
fn what_befalls_no_message_of_plans_is_warned_about() {
    let network = "[network]\nloss = \"1%\"\nduplication = \"1%\"\nreordering = true\n\
                   transport = \"reliable\"\nretransmission-timeout = \"2s\"\n\n[[user]]";
    let folder = Folder::with(&[("plans.toml", &PLANS.replace("[[user]]", network))]);
    let shown = folder.haggle(&["validate", "plans.toml"]);
    let words = Vec::from_iter(shown.split([' ', '\n', '│']).filter(|word| !word.is_empty()));
    let shown = words.join(" ");
    for key in ["loss", "duplication", "reordering", "transport", "retransmission-timeout"] {
        let says = format!(
            "`{key}` of the network has no effect: messages between clusters and their metascheduler \
             take no time, and each arrives once"
        );
        assert!(shown.contains(&says), "{key}: {shown}");
    }
    assert!(shown.contains("5 warnings"), "{shown}");
}

/// Two machines of one cluster or one of another, with measured times. After 20 minutes, one
/// machine of the first is shared.
const MEASURED: &str = r#"
[[workload]]
name = "own"
model = "applications"

[workload.applications]
measured = [
    { cluster = "wide", machines = 2, times = ["1000s", "1000s"] },
    { cluster = "fast", machines = 1, times = ["1500s", "500s"] },
]

[plans]
method = "optimum"
loads = "machines.loads"

[[plans.cluster]]
name = "wide"
machines = 4

[[plans.cluster]]
name = "fast"
machines = 1

[[user]]
name = "users"
workload = "own"
submits-to = "plans"
"#;

fn with_loads(text: &str, loads: &str) -> Folder {
    Folder::with(&[("plans.toml", text), ("machines.loads", loads)])
}

/// Both clusters would take 2,000 s, and the first one is chosen. When half of one of its machines
/// is lost, 800 s of the second phase are left, which take 1,600 s.
#[test]
fn loads_and_times_can_be_recorded() {
    let loads = "# seconds cluster machines processor link\n0 * * 1 1\n1200 wide 0 0.5 1\n";
    for driver in ["sequential", "actix"] {
        let folder = with_loads(MEASURED, loads);
        let flags = ["run", "plans.toml", "--check", "-o", "out", "--driver", driver];
        let shown = folder.haggle(&flags);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
        let summary = folder.summary("out");
        let plans = &summary["plans"];
        assert_eq!((&plans["intervals"], &plans["predicted"]), (&1.into(), &2000.0.into()));
        assert_eq!((&plans["time"], &summary["makespan"]), (&2800.0.into(), &2800.0.into()));
        // The record is one of the inputs of the run.
        assert!(folder.read("out/provenance.json").contains("machines.loads"));
    }
}

#[test]
fn records_that_say_nothing_are_refused() {
    let refused = |text: &str, loads: &str, says: &str| {
        let shown = with_loads(text, loads).haggle(&["run", "plans.toml", "-o", "out"]);
        assert!(!shown.starts_with("exit code: 0\n") && shown.contains(says), "{says}: {shown}");
    };
    refused(MEASURED, "0 narrow * 1 1\n", "line 1: no cluster is called \"narrow\"");
    refused(MEASURED, "0 wide 7 1 1\n", "line 1: cluster \"wide\" has no machine 7");
    refused(&MEASURED.replace("machines.loads", "no.loads"), "", "no.loads");
    let changed = |from: &str, to: &str| {
        let text = MEASURED.replace(from, to);
        assert_ne!(text, MEASURED, "{from}");
        text
    };
    let method = "method = \"optimum\"\n";
    let every = changed(method, "method = \"optimum\"\nperiod = \"1h\"\n");
    refused(&every, "", "loads change at the times of their record");
    let pairs = changed(method, "method = \"optimum\"\nlinks = \"pairs\"\n");
    refused(&pairs, "", "one link for each machine, not for each pair");
    let row = "{ cluster = \"fast\", machines = 1, times = [\"1500s\", \"500s\"] }";
    let measured = |row_now: &str, says: &str| refused(&changed(row, row_now), "", says);
    measured(&row.replace("fast", "slow"), "no cluster is called \"slow\"");
    measured(
        &row.replace("machines = 1", "machines = 2"),
        "more machines than cluster \"fast\" has, 1",
    );
    measured(
        &row.replace(", \"500s\"", ""),
        "not the times of as many phases as in the first row, 2, but 1",
    );
    measured(&format!("{row}, {row}"), "row 2 is about as many machines of cluster \"fast\"");
}

/// The errors of an application's phases are equal on every cluster.
#[test]
fn predictions_can_be_wrong() {
    let wrong = PLANS.replace("within =", "prediction-error = \"30%\"\nwithin =");
    let moving = wrong.replace("\"500s\"", "\"400s\"");
    let mut seen = Vec::new();
    for driver in ["sequential", "actix"] {
        let (folder, summary) = ran(&moving, &["--driver", driver]);
        let table = fs::read_to_string(folder.path().join("out/intervals.csv")).expect("a table");
        let number = |row: &str, place: usize| -> f64 {
            row.split(',').nth(place).expect("a cell").parse().expect("a number")
        };
        let factor = |row: &str| (number(row, 10) - number(row, 9)) / number(row, 12);
        let factors = Vec::from_iter(table.lines().skip(1).map(factor));
        assert_eq!(factors.len(), 2);
        assert!(factors.iter().all(|factor| (factor - 1.0).abs() > 0.001), "{factors:?}");
        assert!(summary["plans"]["error_percent"].as_f64().expect("a number") > 0.1);
        seen.push(factors);
    }
    assert_eq!(seen[0], seen[1]);
    // All of it on the fast machine: 1,000 s and 1,500 s.
    let (_, summary) = ran(&wrong.replace("\"optimum\"", "\"none\""), &[]);
    let expected = 1000.0 * seen[0][0] + 1500.0 * seen[0][1];
    let makespan = summary["makespan"].as_f64().expect("a number");
    assert!((makespan - expected).abs() < 0.001, "{makespan} {expected}");
}

#[test]
fn how_plans_are_made_is_said_in_a_scenario() {
    let shown = |lines: &str, cluster: &str| {
        let text = PLANS.replace("method = \"optimum\"\n", lines);
        let text = text.replace("machines = 4\n", cluster);
        let folder = Folder::with(&[("plans.toml", &text)]);
        let words = folder.haggle(&["validate", "plans.toml"]);
        let words = words.split([' ', '\n', '│']).filter(|word| !word.is_empty());
        Vec::from_iter(words).join(" ")
    };
    let says = |lines: &str, cluster: &str, says: &str| {
        let shown = shown(lines, cluster);
        assert!(shown.contains(says), "{says}: {shown}");
    };
    let four = "machines = 4\n";
    let genetic = |key: &str| format!("method = \"genetic\"\ngenetic = {{ {key} }}\n");
    says(&genetic("elite = \"100%\""), four, "`elite` is 100%, needs less than 100%");
    says(
        &genetic("generations = 0, elite = \"5%\""),
        four,
        "`elite` of genetic plans has no effect",
    );
    let other = "method = \"division\"\ngenetic = { population = 20 }\n";
    says(
        other,
        four,
        "`population` of genetic plans has no effect: only `method = \"genetic\"` reads it",
    );
    let scan = "method = \"optimum\"\nsearch = \"scan\"\n";
    says(scan, four, "`search` of plans has no effect: with one link for each machine");
    let pairs = "method = \"optimum\"\nlinks = \"pairs\"\n";
    assert!(!shown(pairs, four).contains("effect"));
    let many = "machines = 65\n";
    says(
        pairs,
        many,
        "cluster \"wide\" has 65 machines, and with links of pairs this search can take",
    );
    let within = "method = \"optimum\"\nlinks = \"pairs\"\nsearch = \"boxes-within-budget\"\n";
    assert!(!shown(within, many).contains("effect"));
}

/// A diamond of four applications of 300, 600, 900 and 100 s on one machine.
const DIAMOND: &str = r#"
[[workload]]
name = "own"
model = "applications"

[workload.applications]
measured = [{ cluster = "only", machines = 1, times = ["1000s"] }]
graph = [
    { length = 0.3 },
    { needs = [0], length = 0.6 },
    { needs = [0], length = 0.9 },
    { needs = [1, 2], length = 0.1 },
]

[plans]
method = "division"

[[plans.cluster]]
name = "only"
machines = 1
cpu-min = "100%"

[[user]]
name = "users"
workload = "own"
submits-to = "plans"

[results]
format = "csv"
"#;

/// The longer application of the second level is first: 300 s, 900 s, 600 s, 100 s.
#[test]
fn a_workflow_of_applications_runs_level_by_level() {
    for driver in ["sequential", "actix"] {
        let (folder, summary) = ran(DIAMOND, &["--driver", driver]);
        let flows = &summary["workflows"];
        assert_eq!((&flows["workflows"], &flows["done"]), (&1.into(), &1.into()));
        assert_eq!((&flows["tasks"], &flows["tasks_done"]), (&4.into(), &4.into()));
        assert_eq!(flows["makespan"], 1900.0);
        let table = fs::read_to_string(folder.path().join("out/intervals.csv")).expect("a table");
        let begins = table.lines().skip(1).map(|row| {
            let cells = Vec::from_iter(row.split(','));
            (cells[0].to_owned(), cells[8].to_owned())
        });
        let expected = [("0", "0.0"), ("2", "300.0"), ("1", "1200.0"), ("3", "1800.0")];
        let expected = expected.map(|(job, time)| (job.to_owned(), time.to_owned()));
        assert_eq!(Vec::from_iter(begins), expected, "{table}");
    }
}

#[test]
fn the_wait_for_a_level_is_explained() {
    let (folder, _) = ran(DIAMOND, &[]);
    let told = folder.haggle(&["explain", "out", "1"]);
    let told = stdout_of(&told);
    assert!(told.contains("the level before its own is over"), "{told}");
    assert!(told.contains("before its level began"), "{told}");
    let story = json_of(&folder.haggle(&["explain", "out", "3", "--json"]));
    let waited = |part: &str| {
        let parts = story["parts"].as_array().expect("parts");
        parts.iter().find(|it| it["part"] == part).and_then(|it| it["waiting"].as_f64())
    };
    assert_eq!((waited("not_ready"), waited("busy")), (Some(1800.0), None), "{story}");
    // It waited for task 1, the last of its level, and that one for task 0.
    let path = story["workflow"]["path"].as_array().expect("a path");
    let tasks = Vec::from_iter(path.iter().map(|step| step["task"].as_i64().expect("a task")));
    assert_eq!(tasks, [0, 1, 3]);
}

#[test]
fn wrong_workflows_of_applications_are_refused() {
    let refused = |from: &str, to: &str, says: &str| {
        let text = DIAMOND.replacen(from, to, 1);
        assert_ne!(text, DIAMOND, "{from}");
        let folder = Folder::with(&[("plans.toml", &text)]);
        let shown = folder.haggle(&["validate", "plans.toml"]);
        let words = Vec::from_iter(shown.split([' ', '\n', '│']).filter(|word| !word.is_empty()));
        let shown = words.join(" ");
        assert!(shown.starts_with("exit code: 3 ") && shown.contains(says), "{shown}");
    };
    refused("[1, 2]", "[1, 3]", "application 3 needs application 3, which is not before it");
    refused("[1, 2]", "[1, 1]", "application 3 needs application 1 already");
    let shape = "shape = \"layered\"\ntasks = 5\ngraph = [";
    refused("graph = [", shape, "workflows of applications have a `shape` or a `graph`");
    refused("graph = [", "tasks = 5\ngraph = [", "`tasks` goes with `shape`");
    let without = DIAMOND.split("graph = [").next().expect("its beginning").to_owned();
    let rest = DIAMOND.split_once("]\n\n[plans]").expect("its end").1;
    let drawn = |keys: &str| format!("{without}{keys}\n\n[plans]{rest}");
    let shows = |text: &str, says: &str| {
        let folder = Folder::with(&[("plans.toml", text)]);
        let shown = folder.haggle(&["validate", "plans.toml"]);
        let words = Vec::from_iter(shown.split([' ', '\n', '│']).filter(|word| !word.is_empty()));
        assert!(words.join(" ").contains(says), "{shown}");
    };
    shows(&drawn("shape = \"montage\""), "the number of applications of a workflow is missing");
    let few = "a workflow of shape `montage` has at least 15 tasks";
    shows(&drawn("shape = \"montage\"\ntasks = 4"), few);
    let many = "these workflows have up to 10000000 applications together";
    shows(&drawn("shape = \"layered\"\ntasks = 10000\njobs = 1000"), many);
    let again = "[[user]]\nname = \"more\"\nworkload = \"own\"\nsubmits-to = \"plans\"\n\n[[user]]";
    refused("[[user]]", again, "the workflows of \"own\" are submitted twice");
}

/// Failures of machines, a horizon and impatient users leave the books of drawn workflows balanced.
#[test]
fn drawn_workflows_of_applications_lose_nothing() {
    let drawn = |rest: &str| {
        format!(
            "[scenario]\nhorizon = \"20h\"\n\n[[workload]]\nname = \"own\"\nmodel = \"applications\"\n\
             applications = {{ like = \"lammps\", count = 4, shape = \"layered\", tasks = 9, jobs = 3, \
             between = \"1h\" }}\n\n[plans]\nmethod = \"incremental\"\n\n[[plans.cluster]]\n\
             name = \"one\"\nmachines = 12\n\n[[plans.cluster]]\nname = \"two\"\nmachines = 8\n\n\
             [[failures]]\nof = [\"two\"]\nlaw = {{ up = {{ law = \"exponential\", mean = \"3h\" }}, \
             down = {{ law = \"constant\", value = \"20min\" }} }}\n\n[[user]]\nname = \"users\"\n\
             workload = \"own\"\nsubmits-to = \"plans\"\n{rest}"
        )
    };
    let (_, patient) = ran(&drawn(""), &[]);
    assert_eq!(patient["workflows"]["tasks"], 27);
    let (_, impatient) = ran(&drawn("patience = \"2h\"\n"), &[]);
    assert!(impatient["workflows"]["tasks_barred"].as_u64().expect("a count") > 0, "{impatient}");
    let (_, other) = ran(&drawn(""), &["--driver", "actix"]);
    assert_eq!((&patient["workflows"], &patient["plans"]), (&other["workflows"], &other["plans"]));
}
