//! Applications of many phases on clusters: what scenarios say of them, and what becomes of them.

use std::fs;

use serde_json::Value;

use crate::command::{Folder, stdout_of};

/// Two clusters whose loads never change, and an application whose phases suit one and then the other.
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
    let summary = fs::read_to_string(folder.path().join("out/summary.json")).expect("a summary");
    let summary = serde_json::from_str(&summary).expect("JSON");
    (folder, summary)
}

/// 2,000 s of work on four machines take 500 s, which is not more than the threshold: all of it
/// in one interval takes 2,500 s on the fast machine, and more on the others.
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
    let story: Value =
        serde_json::from_str(stdout_of(&folder.haggle(&["explain", "out", "0", "--json"])))
            .expect("JSON");
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
    let provider = "[[provider]]\nname = \"north\"\nprocessors = 4\n\n[[user]]";
    refused("[[user]]", provider, "a scenario has either providers, a grid or plans");
    refused(
        "model = \"applications\"\n",
        "jobs = []\n",
        "has parameters for a model, but no model",
    );
    refused("cpu-min = \"100%\"", "cpu-min = \"0%\"", "`cpu-min` is 0%, needs at least 0.01%");
    refused("cpu-min = \"100%\"", "cpu-max = \"5%\"", "`cpu-min` is 10%, more than `cpu-max`, 5%");
    refused("phases = [", "like = \"md\"\nphases = [", "either `like` a published one or of given");
    refused("name = \"fast\"", "name = \"wide\"", "wide");
    let failing = "[[failures]]\nof = [\"slow\"]\nnominal = 80\n\n[[user]]";
    refused("[[user]]", failing, "no cluster is called \"slow\"");
    let link = "[network]\nlatency = \"1s\"\n\n[[user]]";
    refused("[[user]]", link, "messages between clusters and their metascheduler take no time");
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

/// A machine fails while the second interval runs on it: it begins again where there are others.
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
