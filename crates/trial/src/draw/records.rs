//! Logs and records for drawn scenarios: few lines, with gaps and contradictions.

use super::dice::Dice;

/// Number of logs of jobs.
pub(super) const LOGS: usize = 6;

/// Sites and clusters in the records of failures.
pub(super) const SITES: [&str; 3] = ["north", "south", "north/a"];

/// Name of a log of jobs.
pub(super) fn log(number: usize) -> String {
    format!("random-{number}.swf")
}

/// Name of a record of failures in the format that a scenario calls `format`.
pub(super) fn record(format: &str) -> String {
    format!("random-{format}.txt")
}

/// Files that a scenario names, each with its content.
pub(super) fn named_in(text: &str) -> Vec<(String, String)> {
    let logs = (0..LOGS).map(|number| (log(number), swf(number)));
    let records = [(record("fta"), fta()), (record("lanl"), lanl()), (record("csv"), csv())];
    let loads = (LOADS.to_owned(), loads());
    let state = (START_STATE.to_owned(), START_STATE_TEXT.to_owned());
    let workflows = WORKFLOWS.map(|(name, text)| (name.to_owned(), text.to_owned()));
    logs.chain(records)
        .chain([loads, state])
        .chain(workflows)
        // Any mention counts; a file too many does no harm.
        .filter(|(name, _)| text.contains(name))
        .collect()
}

/// Workflows: a chain beside a task alone, and a diamond.
pub(super) const WORKFLOWS: [(&str, &str); 2] = [
    (
        "random-chain.json",
        r#"{"name": "chain", "schemaVersion": "1.4", "workflow": {"tasks": [
{"name": "a", "type": "compute", "runtimeInSeconds": 60, "cores": 2,
 "files": [{"name": "x", "sizeInBytes": 1000000, "link": "input"}, {"name": "y", "sizeInBytes": 5000000, "link": "output"}]},
{"name": "b", "type": "compute", "parents": ["a"], "runtimeInSeconds": 600,
 "files": [{"name": "y", "sizeInBytes": 5000000, "link": "input"}, {"name": "z", "sizeInBytes": 2000, "link": "output"}]},
{"name": "c", "type": "compute", "parents": ["b"], "runtimeInSeconds": 0, "files": []},
{"name": "alone", "type": "compute", "runtimeInSeconds": 3600}
]}}
"#,
    ),
    (
        "random-diamond.dax",
        r#"<adag name="diamond">
<job id="a" name="split" runtime="30"/>
<job id="b" name="work" runtime="900"><uses file="in" link="input" size="3000000"/></job>
<job id="c" name="work" runtime="1200"/>
<job id="d" name="join" runtime="60"/>
<child ref="b"><parent ref="a"/></child>
<child ref="c"><parent ref="a"/></child>
<child ref="d"><parent ref="b"/><parent ref="c"/></child>
</adag>
"#,
    ),
];

/// A table of jobs that run or wait at time zero.
pub(super) const START_STATE: &str = "random-state.csv";

/// Narrow jobs that wait, so that they fit every provider of any speed. Jobs that run are in lists.
const START_STATE_TEXT: &str = "\
number,processors,requested,run,submitted-ago,started-ago,key
3,1,100,90,50,,
7,1,2h,1h,30,,1
9,1,,600,20,,2
11,1,300,30,10,,
12,1,50,70,,,
";

/// A record of loads of all clusters.
pub(super) const LOADS: &str = "loads.txt";

fn loads() -> String {
    // Always the same draws: a case that is judged again must find the same file.
    let mut dice = Dice::new(0, 20);
    let mut text = String::from("# seconds cluster machines processor link\n");
    let mut at = 0;
    for _ in 0..40 {
        let machines = *dice.pick(&["*", "0", "1", "0-2", "2-7"]);
        let mut part = || *dice.pick(&["0.1", "0.25", "0.5", "0.9", "1"]);
        text.push_str(&format!("{at} * {machines} {} {}\n", part(), part()));
        at += dice.pick(&[0, 1, 60, 600, 3600]);
    }
    text
}

/// A log in Standard Workload Format. Logs with an odd number lack values, as real logs do.
fn swf(number: usize) -> String {
    let mut dice = Dice::new(number as u64, 18);
    let gaps = number % 2 == 1;
    let mut text = String::from("; MaxProcs: 8\n; MaxNodes: 8\n");
    let mut submit = 0;
    for job in 1..=dice.between(1, 20) {
        submit += dice.pick(&[0, 0, 1, 30, 60, 600, 3600]);
        let mut missing = |value: usize| match gaps && dice.chance(12) {
            true => -1,
            false => value as i64,
        };
        let run = missing([0, 1, 60, 61, 600, 3600][job % 6]);
        let allocated = missing(1 + job * 5 % 9);
        let wanted = missing(1 + job * 5 % 9);
        let requested = missing([60, 60, 900, 600, 7200][job % 5]);
        // Only logs with gaps have jobs that failed or were cancelled.
        let status = [1, 1, 0, 5, 1, 2][if gaps { job % 6 } else { 0 }];
        let user = missing(1 + job % 3);
        text.push_str(&format!(
            "{job} {submit} -1 {run} {allocated} -1 -1 {wanted} {requested} -1 {status} {user} 1 {} 1 1 -1 -1\n",
            1 + job % 2
        ));
    }
    text
}

/// An event table of the Failure Trace Archive: two sites with six nodes.
fn fta() -> String {
    let mut text = String::from("# event trace\n");
    let mut event = 0;
    for node in 0..6 {
        let site = ["north", "south"][node % 2];
        let cluster = ["a", "b"][node / 2 % 2];
        // Shifted from node to node, so that outages overlap only in part.
        let mut time = 1_000_000_000 + 500 * node;
        for period in 0..5 {
            let length = [3600, 90, 7200, 60, 600 * (node + 1)][period];
            text.push_str(&format!(
                "{event}\t{node}\t{node}\t1\tG1/{site}/{cluster}/node{node}\t{}\t{time}\t{}\t0\n",
                (period % 2) ^ 1,
                time + length
            ));
            time += length;
            event += 1;
        }
    }
    text
}

/// A plain table: two sites with four nodes, one of which is restored at once.
fn csv() -> String {
    let mut text = String::from("node,start,end\n");
    for (node, start, end) in [
        ("G1/north/a/node0", "1000000000", "1000000000"),
        ("G1/south/a/node1", "1000000600", "1000004200"),
        ("G1/north/b/node2", "2001-09-09 02:00", "2001-09-09 02:10:30"),
        ("G1/north/a/node0", "2001-09-09T02:05:00", "2001-09-09T02:05:00"),
        ("G1/south/b/node3", "2001-09-09T06:00:00+02:00", "2001-09-09T05:00:00Z"),
        ("G1/north/a/node0", "1000020000", "1000086400.5"),
    ] {
        text.push_str(&format!("{node},{start},{end}\n"));
    }
    text
}

/// Records as Los Alamos National Laboratory published them: two systems.
fn lanl() -> String {
    let mut text = String::from("System,nodenumz,Prob Started,Prob Fixed\n");
    for (system, node, started, fixed) in [
        (2, 0, "01/02/2004 10:00", "01/02/2004 10:30"),
        (2, 1, "01/02/2004 10:10", "01/02/2004 14:00"),
        (20, 0, "01/02/2004 11:00", "01/02/2004 11:01"),
        (2, 0, "01/02/2004 13:00", "01/02/2004 13:05"),
        (20, 3, "01/03/2004 00:00", "01/03/2004 06:00"),
        (2, 2, "01/03/2004 01:00", "01/04/2004 01:00"),
    ] {
        text.push_str(&format!("{system},{node},{started},{fixed}\n"));
    }
    text
}
