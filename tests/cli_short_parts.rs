//! Parts that are booked at once and end before their metascheduler is notified. A job runs once at
//! each provider of its agreement, or not at all, and the tables show it.

use std::collections::BTreeSet;

use crate::command::Folder;

/// Jobs of seconds at one provider, and one of a millisecond at both.
const ONE_OF_A_MILLISECOND: &str = r#"
[scenario]
seed = 244540
[network]
latency = "100ms"
loss = "20%"
[[provider]]
name = "p0"
processors = 4
policy = { name = "conservative", compression = "by-start" }
[[provider]]
name = "p1"
processors = 4
policy = { name = "conservative", compression = "none" }
[[metascheduler]]
name = "m1"
[metascheduler.coallocation]
policy = "rigid"
protocol = { name = "negotiation", rounds = 10 }
retry = "300ms"
[[workload]]
name = "g1"
jobs = [
    { submit = "1s", processors = 2, run = "140s", requested = "140s" },
    { submit = "4s", processors = 3, run = "93s", requested = "138776200us" },
    { submit = "4617645us", processors = 3, run = "1ms", requested = "1s" },
    { submit = "2s", processors = 3, run = "138s", requested = "399343847us" },
]
[[user]]
name = "u1"
workload = "g1"
submits-to = "m1"
"#;

/// Jobs of a second, whose messages arrive late.
const OF_A_SECOND: &str = r#"
[scenario]
seed = 384427
[network]
loss = "20%"
transport = "reliable"
[[provider]]
name = "p0"
processors = 8
policy = { name = "conservative", compression = "job-by-job" }
[[provider]]
name = "p1"
processors = 7
policy = "conservative"
[[metascheduler]]
name = "m0"
[metascheduler.coallocation]
policy = "rigid"
protocol = { name = "negotiation", rounds = 6, window = "653s" }
retry = "300ms"
[[workload]]
name = "g0"
jobs = [
    { submit = "1402520us", processors = 4, run = "1s", requested = "1683522us" },
    { submit = "0s", processors = 4, run = "1s", requested = "3106278us" },
    { submit = "386490us", processors = 8, run = "1s", requested = "1s" },
    { submit = "853ms", processors = 2, run = "1s", requested = "1s" },
    { submit = "482790us", processors = 1, run = "1s", requested = "3724514us" },
    { submit = "0s", processors = 4, run = "1s", requested = "3126493us" },
]
[[user]]
name = "u0"
workload = "g0"
submits-to = "m0"
"#;

/// A part is booked again by messages that arrive after the try has failed.
const AFTER_IT_FAILED: &str = r#"
[network]
latency = "100ms"
jitter = "10ms"
[[provider]]
name = "p0"
processors = 5
policy = { name = "conservative", compression = "by-start" }
[[provider]]
name = "p1"
processors = 6
policy = "conservative"
[[workload]]
name = "l1"
jobs = [
    { submit = "0s", processors = 3, run = "1s", requested = "1s" },
    { submit = "0s", processors = 4, run = "1s", requested = "2565145us" },
    { submit = "0s", processors = 6, run = "1s", requested = "2206394us" },
    { submit = "0s", processors = 4, run = "1s", requested = "3269778us" },
    { submit = "0s", processors = 6, run = "1s", requested = "3136635us" },
]
[[user]]
name = "v1"
workload = "l1"
submits-to = "p1"
[[metascheduler]]
name = "m0"
[[metascheduler]]
name = "m1"
[metascheduler.coallocation]
policy = "rigid"
protocol = { name = "watch" }
patience = "5s"
[[workload]]
name = "g1"
jobs = [
    { submit = "122ms", processors = 7, run = "1s", requested = "3883343us" },
    { submit = "239ms", processors = 4, run = "1s", requested = "1480691us" },
    { submit = "553ms", processors = 2, run = "1s", requested = "1s" },
    { submit = "1669905us", processors = 3, run = "1s", requested = "2101097us" },
    { submit = "835451us", processors = 2, run = "1s", requested = "2000536us" },
]
[[user]]
name = "u1"
workload = "g1"
submits-to = "m1"
"#;

/// Parts of four providers; some learn too late that they are not needed.
const AT_FOUR: &str = r#"
[scenario]
seed = 979441
[network]
latency = "100ms"
jitter = "10ms"
loss = "20%"
duplication = "1%"
[[provider]]
name = "p0"
processors = 8
policy = { name = "conservative", compression = "by-start" }
[[provider]]
name = "p1"
processors = 5
policy = "conservative"
[[workload]]
name = "l1"
jobs = [
    { submit = "0s", processors = 1, run = "1828452us", requested = "6000802us" },
    { submit = "0s", processors = 4, run = "1s", requested = "3709227us" },
    { submit = "0s", processors = 1, run = "1524ms", requested = "5307667us" },
    { submit = "0s", processors = 1, run = "1485ms", requested = "5415017us" },
    { submit = "0s", processors = 1, run = "2s", requested = "1s" },
]
[[user]]
name = "v1"
workload = "l1"
submits-to = "p1"
[[provider]]
name = "p2"
processors = 3
policy = "conservative"
[[provider]]
name = "p3"
processors = 8
policy = { name = "conservative", compression = "none" }
[[metascheduler]]
name = "m0"
[metascheduler.coallocation]
policy = "rigid"
protocol = { name = "watch" }
patience = "4s"
retry = "300ms"
[[workload]]
name = "g0"
jobs = [
    { submit = "0s", processors = 4, run = "1818669us", requested = "6409086us" },
    { submit = "0s", processors = 3, run = "2721ms", requested = "2721ms" },
    { submit = "0s", processors = 2, run = "3s", requested = "10697044us" },
    { submit = "0s", processors = 1, run = "2861ms", requested = "9579694us" },
    { submit = "0s", processors = 4, run = "1s", requested = "3090319us" },
    { submit = "0s", processors = 1, run = "1s", requested = "1s" },
]
[[user]]
name = "u0"
workload = "g0"
submits-to = "m0"
"#;

/// The rows of a table, each cell by the name of its column.
fn rows(table: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = table.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().expect("a header").collect();
    lines.map(|cells| header.iter().cloned().zip(cells).collect()).collect()
}

fn cell<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    let named = |it: &&(String, String)| it.0 == name;
    &row.iter().find(named).expect("a column").1
}

#[test]
fn what_is_over_is_not_booked_again_and_the_books_agree() {
    let scenarios = [ONE_OF_A_MILLISECOND, OF_A_SECOND, AFTER_IT_FAILED, AT_FOUR];
    for text in scenarios {
        for protocol in ["negotiation", "watch", "one-phase"] {
            let own = text.lines().find(|line| line.starts_with("protocol")).expect("it has one");
            let text = match own.contains(protocol) {
                true => text.to_owned(),
                false => text.replace(own, &format!("protocol = \"{protocol}\"")),
            };
            check(&text);
        }
    }
}

fn check(text: &str) {
    let folder = Folder::with(&[("s.toml", text)]);
    let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--format", "csv", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{text}\n{shown}");
    let summary = folder.summary("out");
    let transactions = rows(&folder.read("out/transactions.csv"));
    for name in ["orphans", "orphan_work", "partial", "held_in_vain", "messages"] {
        let sum: f64 =
            transactions.iter().map(|row| cell(row, name).parse::<f64>().expect("a number")).sum();
        let told = summary["transactions"][name].as_f64().expect("a number");
        assert!((sum - told).abs() < 1e-6, "{name}: {sum} and {told}\n{text}");
    }
    let mut over = BTreeSet::new();
    for row in rows(&folder.read("out/holds.csv")) {
        let named = ["actor", "agreement", "holder"].map(|name| cell(&row, name).to_owned());
        let is_over = cell(&row, "outcome") == "over";
        assert!(!is_over || over.insert(named), "{row:?}\n{text}");
    }
}
