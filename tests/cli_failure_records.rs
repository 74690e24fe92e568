//! `haggle failures`: inspects records of failures.

use crate::command::{Folder, json_of};

/// Two nodes of a site for two weeks, one of which is down twice, and a node of another site for
/// one week.
const RECORD: &str = "\
# event_id component_id node_id platform_id node_name event_type start stop reason
0\t0\t1\t1\tG1/north/c1/n1\t1\t0\t302400\tNULL
1\t0\t1\t1\tG1/north/c1/n1\t0\t302400\t907200\tNULL
2\t0\t1\t1\tG1/north/c1/n1\t1\t907200\t1000000\tNULL
3\t0\t1\t1\tG1/north/c1/n1\t0\t1000000\t1003600\tNULL
4\t0\t1\t1\tG1/north/c1/n1\t1\t1003600\t1209600\tNULL
5\t0\t2\t1\tG1/north/c1/n2\t1\t0\t1209600\tNULL
6\t0\t3\t1\tG1/south/c1/n1\t1\t0\t604800\tNULL
";

fn folder() -> Folder {
    Folder::with(&[("event_trace.tab", RECORD)])
}

#[test]
fn a_record_is_described() {
    insta::assert_snapshot!(folder().haggle(&["failures", "inspect", "event_trace.tab"]), @r#"
    exit code: 0
    ----- stdout -----
    record             event_trace.tab
    nodes              3
    span               1970-01-01 to 1970-01-15, 1209600 s (14 d 0 h)
    observed           3 nodes in the fullest week
    outages            2
    availability       79.88 %
    in the worst week  74.70 %
    MTBF of a node     1207800 s (13 d 23 h)
    MTTR               304200 s (3 d 12 h)

    Sites:
      site   nodes  outages  availability  MTBF, h  MTTR, h
      north      2        2       74.85 %   251.50    84.50
      south      1        0      100.00 %        -        -
    ----- stderr -----
    "#);
}

#[test]
fn weeks_are_told_and_drawn() {
    let folder = folder();
    let args = ["failures", "inspect", "event_trace.tab", "--json", "--figure", "weeks.svg"];
    let printed = json_of(&folder.haggle(&args));
    assert_eq!(printed["weeks"][0]["nodes"], 3.0);
    assert_eq!(printed["weeks"][1]["nodes"], 2.0);
    assert_eq!(printed["weeks"][0]["availability"], 5.0 / 6.0);
    assert_eq!(printed["weeks"][1]["outages"], 1);
    assert_eq!(printed["sites"]["south"]["outages"], 0);
    assert!(printed["sites"]["south"]["mtbf_s"].is_null(), "nothing failed there");
    let drawn = folder.read("weeks.svg");
    for text in ["event_trace.tab: availability by week", "week from 1970-01-01 on"] {
        assert!(drawn.contains(text), "{text}");
    }
}

#[test]
fn what_is_no_record_is_refused_with_its_place() {
    let folder = folder();
    insta::assert_snapshot!(folder.haggle(&["failures", "inspect", "none.tab"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: none.tab: cannot open the file: No such file or directory (os error 2)
    "#);
    insta::assert_snapshot!(
        folder.haggle(&["failures", "inspect", "event_trace.tab", "--format", "lanl"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: event_trace.tab:1: no column "System" in the line of column names; expected the columns of LA-UR-05-7318

    hint: check --format; --lenient leaves out lines that are not records
    "#
    );
    insta::assert_snapshot!(
        folder.haggle(&["failures", "inspect", "event_trace.tab", "--figure", "weeks.jpg"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `weeks.jpg` is no name of a figure: it must end in .png, .svg or .pdf
    "#
    );
}

/// Two failures of one node, and one whose end equals its start.
const OUTAGES: &str = "\
node,start,end,cause
rack1/n1,2024-01-01 00:00,2024-01-01 06:00,power
rack1/n2,2024-01-01 12:00,2024-01-01 12:00,reset
rack1/n1,2024-01-08T00:00:00Z,2024-01-08T01:00:00+01:00,reset
rack1/n1,2024-01-10,2024-01-11,fan
";

#[test]
fn a_plain_table_is_described_without_a_format() {
    let folder = Folder::with(&[("outages.csv", OUTAGES)]);
    insta::assert_snapshot!(folder.haggle(&["failures", "inspect", "outages.csv"]), @r#"
    exit code: 0
    ----- stdout -----
    record             outages.csv
    nodes              2
    span               2024-01-01 to 2024-01-11, 864000 s (10 d 0 h)
    observed           not recorded: all nodes count as up from first to last
    outages            4
    availability       93.75 %
    in the worst week  83.33 %
    MTBF of a node     405000 s (4 d 16 h)
    MTTR               27000 s (7 h 30 min)

    Sites:
      site        nodes  outages  availability  MTBF, h  MTTR, h
      (not said)      2        4       93.75 %   112.50     7.50
    ----- stderr -----
    "#);
    let told = folder.haggle(&["failures", "inspect", "outages.csv", "--json"]);
    let told = json_of(&told);
    // The record ends on the fourth day of its second week, in which both nodes are observed.
    assert_eq!((&told["weeks"][1]["days"], &told["weeks"][1]["nodes"]), (&3.0.into(), &2.0.into()));
}

#[test]
fn a_log_of_jobs_is_no_record_of_failures() {
    let log = "; MaxProcs: 4\n1 0 -1 60 4 -1 -1 4 90 -1 1 1 1 1 1 1 -1 -1\n";
    let folder = Folder::with(&[("log.swf", log)]);
    insta::assert_snapshot!(folder.haggle(&["failures", "inspect", "log.swf"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf:1: no record of failures: this looks like a log of jobs; `haggle workload inspect` reads it
    "#);
}

/// A job of 1000 s on a node that fails at 500 s and returns at once.
#[test]
fn a_failure_of_no_length_costs_what_was_computed() {
    let scenario = |format: &str, log: &str| {
        format!(
            "[[workload]]\nname = \"jobs\"\n\
             jobs = [{{ submit = \"0s\", processors = 1, requested = \"2h\", run = \"1000s\" }}]\n\
             [[provider]]\nname = \"north\"\nprocessors = 1\npolicy = \"fcfs\"\n\
             [[user]]\nname = \"u\"\nworkload = \"jobs\"\nsubmits-to = \"north\"\n\
             [[failures]]\nof = [\"north\"]\nrecorded = {{ format = \"{format}\", log = \"{log}\" }}\n"
        )
    };
    let fta = "0\t0\t1\t1\tn1\t1\t1000\t1500\tNULL\n1\t0\t1\t1\tn1\t0\t1500\t1500\tNULL\n\
               2\t0\t1\t1\tn1\t1\t1500\t9000\tNULL\n";
    // A plain table begins with its first failure.
    let csv = "node,start,end\nn0,1000,1000\nn1,1500,1500\nn0,9000,9000\n";
    let folder = Folder::with(&[
        ("fta.toml", &scenario("fta", "record.tab")),
        (
            "csv.toml",
            &scenario("csv", "record.csv")
                .replace("log = \"record.csv\"", "log = \"record.csv\", sites = [\"b\"]"),
        ),
        ("record.tab", fta),
        ("record.csv", &csv.replace("n0", "a/a/n0").replace("n1", "b/b/n1")),
    ]);
    for name in ["fta.toml", "csv.toml"] {
        for driver in ["sequential", "actix"] {
            let out = format!("{name}-{driver}");
            let told =
                folder.haggle(&["run", name, "-o", &out, "--check", "--json", "--driver", driver]);
            assert!(told.starts_with("exit code: 0\n"), "{told}");
            let told = json_of(&told);
            assert_eq!(told["makespan"], 1500.0, "{name}");
            assert_eq!(told["failures"]["outages"], 1, "{name}");
        }
    }
}
