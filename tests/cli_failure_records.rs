//! `haggle failures`: looking at records of failures.

use crate::command::{Folder, stdout_of};

/// Two nodes of a site for two weeks, one of which is down twice; and a node of another site for one.
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
    let printed: serde_json::Value =
        serde_json::from_str(stdout_of(&folder.haggle(&args))).expect("an object");
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
