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
            // Studies are verified as sweeps; a scenario may use files beside it.
            if path.extension().is_none_or(|ending| ending != "toml") {
                continue;
            }
            texts.push(fs::read_to_string(path).expect("a scenario can be read"));
        }
    }
    assert!(texts.len() >= 5);
    for text in texts {
        let once = read(&text);
        let mut twice = read(&once.scenario.to_toml());
        // Warnings are not compared: copies have other names, and places in the other text differ.
        let warns = |experiment: &Experiment| !experiment.warnings.found.is_empty();
        assert_eq!(warns(&once), warns(&twice), "{text}");
        twice.warnings = once.warnings.clone();
        for (twice, once) in twice.variants.iter_mut().zip(&once.variants) {
            twice.warnings = once.warnings.clone();
        }
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

/// Every key of the format, each with a value other than its default.
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
preset = "canonical"
lines = 5000
malformed = "skip"
missing-submit = "as-previous"
partial = "drop"
cancelled = "drop"
processors-from = "requested"
machine-size = 338
too-wide = "clamp"
missing-run-time = "one-second"
zero-run-time = "keep"
missing-requested-time = "no-limit"
over-requested-time = "raise-request"
order = "sort"
origin = "log"
[[workload.step]]
kind = "window"
from = "1d"
until = "30d"
start = "first-job-is-zero"
[[workload.step]]
kind = "filter"
processors-min = 2
processors-max = 64
run-min = "1s"
run-max = "2d"
requested-min = "1min"
requested-max = "3d"
users = [1, 2]
[[workload.step]]
kind = "first"
jobs = 1000
[[workload.step]]
kind = "scale-times"
factor = 1.2
[[workload.step]]
kind = "scale-gaps"
factor = 0.5
[[workload.step]]
kind = "fill-window"
from = "1h"
length = "20d"
load = 1.5
[[workload.step]]
kind = "estimates"
rule = "over:50%"
[[workload.step]]
kind = "estimates"
factor = { law = "lognormal", mu = 0.5, sigma = 1 }
of = "requested-time"
[[workload.step]]
kind = "deadlines"
factor = { law = "poisson", mean = 3 }
least = 2
of = "run-time"
[[workload.step]]
kind = "deadlines"
slack = { law = "choice", values = ["1h", "1d"], weights = [3, 1] }
[[workload.step]]
kind = "ready-times"
delay = { law = "exponential", mean = "2h" }
[[workload.step]]
kind = "ready-times"
lead = { law = "lognormal", median = "2h", sigma = 0.5 }
[[workload.step]]
kind = "split"
by = "job"
part = 1
count = 1
parts = 2
pool = "shared"
[[workload.step]]
kind = "key"
by = "processors"
order = "large-first"

[[workload]]
name = "model"
model = "lublin-feitelson"
[workload.lublin]
jobs = 10
processors = 128
job-types = "batch-and-interactive"
load = 0.7
start-hour = 8
run-time-exponent-max = 11
gap-exponent-max = 12
batch = { serial = 0.3, power-of-two = 0.6, size-low = 1, size-medium = 4.5, size-high = 7, size-low-probability = 0.8 }
[workload.lublin.interactive]
run-time-first = { shape = 4, scale = 0.6 }
run-time-second = { shape = 7, scale = 0.7 }
mixing-slope = -0.01
mixing-intercept = 0.9
gap = { shape = 6.5, scale = 0.65 }
cycle = { shape = 9, scale = 3.6 }
rush-factor = 0.98

[[workload]]
name = "independent"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "histogram", edges = ["0s", "1min", "1h"], weights = [1, 3.5] }
jobs = 1000
length = "2d"
batch = { law = "histogram", edges = [0.5, 2.5, 9], weights = [2, 1] }
processors = { law = "choice", values = [1, 2] }
run = { law = "normal", mean = "10min", standard-deviation = "2min" }
run-min = "1min"

[[workload]]
name = "by-hours"
model = "independent-jobs"
[workload.independent-jobs]
hours = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]
jobs = 10
days = 7
run = { law = "constant", value = "1h" }

[[workload]]
name = "by-day"
model = "independent-jobs"
independent-jobs = { per-day = { law = "poisson", mean = 2 }, days = 7, run = { law = "constant", value = "1h" } }

[[workload]]
name = "both"
merge = ["log", "model"]

[[workload]]
name = "list"
jobs = [{ submit = "1s", processors = 2, run = "9s", requested = "10s", ready = "2s", deadline = "1min", key = -3, user = 4 }]

[[provider]]
name = "site"
processors = 64
speed = 1.25
policy = { name = "conservative", order = "key", compression = "replan" }
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
against = { placement = "random" }

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
