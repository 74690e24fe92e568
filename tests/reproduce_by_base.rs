//! Bags on one provider and on several, distinguished by another run: `value` with a base.

use serde_json::Value;

use crate::cli_reproduce::{reproduce, study, write};
use crate::command::json_of;

/// Bags over three clusters, which reschedule waiting jobs or not.
const BAGS: &str = r#"
[[workload]]
name = "bags"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 24, load = 2.0 }

[[workload.step]]
kind = "estimates"
over = 150

[[workload.step]]
kind = "bags"

[[user]]
name = "users"
workload = "bags"
submits-to = "grid"

[[provider]]
name = "a"
processors = 8
policy = { name = "bags", rescheduling = { rule = "none" } }

[[provider]]
name = "b"
processors = 8
policy = { name = "bags", rescheduling = { rule = "none" } }

[[provider]]
name = "c"
processors = 8
policy = { name = "bags", rescheduling = { rule = "none" } }

[[metascheduler]]
name = "grid"
composition = "offers-no-lb"

[sweep]
replications = 3

[[sweep.axis]]
name = "rule"
path = "provider.*.policy.rescheduling.rule"
values = ["none", "coordinated"]
"#;

const FIGURES: &str = r#"
functions = '''
fn at(rule) { #{rule: rule} }
fn groups() { ["single-provider", "multi-provider"] }
fn own(m, g, rule) { value(m, g, at(rule)) }
fn by(m, g, rule) { value(m, g, at(rule), at("none")) }
fn count(g) { value("outcomes.jobs", g, at("none")) }
'''

[[figure]]
name = "made-1"
about = "Response times of bags on one cluster"
sweeps = ["base.toml"]

[[figure.draw]]
kind = "bars"
value = 'by("turnaround_time.mean", "single-provider", x)'
label = "response time, s"
x = { axis = "rule" }
"#;

const CLAIMS: &str = r#"
[[claim]]
id = "BB-1"
figures = ["made-1"]
statement = "In the base itself nothing changes"
expected = "each mean is that of the group"
grade = "exact"
check = '''
each(["turnaround_time.mean", "waiting_time.mean", "bounded_slowdown.mean"], |m| each(groups(), |g|
    close(by(m, g, "none") / own(m, g, "none"), 1, 1e-9)))
'''

[[claim]]
id = "BB-2"
figures = ["made-1"]
statement = "The bags of both groups are all bags"
expected = "their means add up to that of all"
grade = "exact"
check = '''
let m = "turnaround_time.mean";
let n = groups().map(|g| count(g));
let sum = n[0] * by(m, "single-provider", "coordinated") + n[1] * by(m, "multi-provider", "coordinated");
close(sum / (n[0] + n[1]) / value(m, at("coordinated")), 1, 1e-9)
'''

[[claim]]
id = "BB-3"
figures = ["made-1"]
statement = "Other bags run on one cluster after rescheduling"
expected = "the means differ"
grade = "trend"
check = '''
let m = "turnaround_time.mean";
not(close(mean(by(m, "single-provider", "coordinated") / own(m, "single-provider", "coordinated")), 1, 1e-6))
'''

[[claim]]
id = "BB-4"
figures = ["made-1"]
statement = "Only means over jobs are asked for"
expected = "a mistake"
grade = "trend"
check = 'at_least(by("utilisation", "single-provider", "none"), 0)'

[[claim]]
id = "BB-5"
figures = ["made-1"]
statement = "Only providers tell jobs apart"
expected = "a mistake"
grade = "trend"
check = 'at_least(by("waiting_time.mean", "local", "none"), 0)'
"#;

#[test]
fn the_same_bags_are_compared_under_both() {
    let folder = study(None);
    for (name, text) in [("base.toml", BAGS), ("figures.toml", FIGURES), ("claims.toml", CLAIMS)] {
        write(&folder, name, text);
    }
    let shown = reproduce(&folder, &["made-1", "--json", "--quiet"]);
    let tested = json_of(&shown);
    let claims = &tested["claims"];
    let verdict = |claim: &Value| format!("{} {}\n", claim["id"], claim["verdict"]);
    let verdicts: String = claims.as_array().expect("a list").iter().map(verdict).collect();
    insta::assert_snapshot!(verdicts.replace('"', ""), @r"
    BB-1 held
    BB-2 held
    BB-3 held
    BB-4 failed
    BB-5 failed
    ");
    let problems = [
        "\"utilisation\" is no mean over jobs: there is turnaround_time.mean, waiting_time.mean, \
         bounded_slowdown.mean",
        "nothing is told apart by \"local\" in another run: there is single-provider, multi-provider, done-in-both",
    ];
    for (claim, problem) in [3, 4].into_iter().zip(problems) {
        let got = claims[claim]["got"].as_str().expect("a text");
        assert!(got.ends_with(problem), "{got}");
    }
}
