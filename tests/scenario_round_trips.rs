//! A resolved scenario, printed, reads back as the same scenario.

use std::fs;
use std::path::Path;

use haggle::scenario::{Experiment, Logs, Source};

use crate::command::VALID;

#[test]
fn resolved_scenarios_read_back_the_same() {
    let mut texts: Vec<String> = vec![VALID.into(), EVERYTHING.into()];
    for folder in ["scenarios", "src/commands/new"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in fs::read_dir(folder).expect("the repository has the folder") {
            let path = entry.expect("an entry can be read").path();
            texts.push(fs::read_to_string(path).expect("a scenario can be read"));
        }
    }
    assert!(texts.len() >= 5);
    for text in texts {
        let once = read(&text);
        let twice = read(&once.scenario.to_toml());
        assert_eq!(once, twice, "{text}");
        for variant in &once.variants {
            let again = read(&variant.scenario.to_toml());
            assert_eq!(again.scenario, variant.scenario);
            assert_eq!(again.variants[0].scenario, variant.scenario);
        }
    }
}

fn read(text: &str) -> Experiment {
    Experiment::read(Source::new("scenario.toml", text), Logs::Ignore)
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Every key of the format, none at its default.
pub(crate) const EVERYTHING: &str = r#"
[scenario]
name = "everything"
description = "Every key, none at its default"
seed = 7
until = "1h 30min"
events-order = "completions-first"

[[workload]]
name = "log"
log = "logs/x.swf.gz"
[workload.rules]
processors = "allocated-else-requested"
missing-requested-time = "drop"
zero-run-time = "one-second"
over-requested-time = "cut-run-time"
[[workload.step]]
kind = "window"
from = "1d"
until = "30d"
[[workload.step]]
kind = "filter"
processors-min = 2
processors-max = 64
run-min = "1s"
run-max = "2d"
users = [1, 2]
queues = [0]
partitions = [3]
[[workload.step]]
kind = "first"
jobs = 1000
[[workload.step]]
kind = "stretch"
factor = 0.5
[[workload.step]]
kind = "densify"
factor = 1.5
[[workload.step]]
kind = "estimates"
rule = "over:50%"
[[workload.step]]
kind = "deadlines"
share = "20%"
factor-min = 1.5
factor-max = 4
[[workload.step]]
kind = "split"
by = "user"
part = 1
parts = 2
[[workload.step]]
kind = "key"
by = "area"

[[workload]]
name = "model"
model = "lublin-feitelson"
[workload.lublin]
jobs = 10
processors = 128
job-types = "one"
load = 0.7
u-low = 0.8
u-med = 4.5
u-prob = 0.86

[[workload]]
name = "both"
merge = ["log", "model"]

[[workload]]
name = "list"
jobs = [{ submit = "1s", processors = 2, run = "9s", requested = "10s", ready = "2s", deadline = "1min", key = -3 }]

[[provider]]
name = "site"
processors = 64
speed = 1.25
policy = "conservative"
order = "key"
compression = "replan"
overrun = "extend"
disclosure = "load"
count = 3

[[metascheduler]]
name = "grid"
placement = "least-loaded"
providers = ["site-1", "site-3"]

[[user]]
name = "local"
workload = "list"
submits-to = "site-2"
patience = "2d"

[[user]]
name = "external"
workload = "both"
submits-to = "grid"

[network]
latency = "1ms"
[[network.link]]
between = ["grid", "site-1"]
latency = "20ms"

[results]
warm-up = "2d"
cool-down = "2.5%"
bounded-slowdown-threshold = "60s"
format = "both"
messages = "all"

[[figure]]
kind = "gantt"
name = "first-day"
format = "svg"
title = "The first day"
providers = ["site"]
from = "1h"
until = "1d"

[[figure]]
kind = "lines"
metric = "mean-waiting-time"
x = "load"
group-by = "placement"

[sweep]
replications = 3
max-runs = 100
[[sweep.axis]]
name = "load"
path = "workload.model.lublin.load"
values = [0.5, 0.7, 0.9]
[[sweep.axis]]
path = "metascheduler.*.placement"
values = ["least-loaded", "random"]
"#;
