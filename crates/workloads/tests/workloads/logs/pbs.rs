//! Accounting of PBS and Torque: each trap.

use haggle_model::Time;
use haggle_workloads::logs::Options;

use super::{fields, read_all, read_leniently, read_with, refused, utc};

/// A record of PBS Pro.
const PRO: &str = "01/31/2024 11:01:00;E;7.srv;user=ann group=phys project=_p jobname=train queue=workq ctime=1706695200 \
                   qtime=1706695200 etime=1706695200 start=1706695260 exec_host=n1/0*8+n2/0*8 \
                   Resource_List.select=2:ncpus=8:mem=8gb Resource_List.ncpus=16 Resource_List.mem=16gb \
                   Resource_List.walltime=02:00:00 session=1 end=1706698860 Exit_status=0 \
                   resources_used.cput=08:00:00 resources_used.mem=1600000kb resources_used.walltime=01:00:00";

/// A record of Torque.
const TORQUE: &str = "01/31/2024 11:01:00;E;8.srv;user=bob group=chem account=my big grant jobname=b queue=batch \
                      ctime=1706695205 qtime=1706695206 etime=1706695206 start=1706695265 exec_host=n1/0+n1/1+n2/0-1 \
                      Resource_List.neednodes=2:ppn=2 Resource_List.nodes=2:ppn=2 Resource_List.walltime=36000 \
                      session=2 end=1706695325 Exit_status=271";

#[test]
fn records_of_both_programs() {
    let log = read_all(&format!("{PRO}\n{TORQUE}\n"));
    assert_eq!(log.records[0].submit, Time::from_secs(1_706_695_200));
    assert_eq!(
        fields(&log.records[0]),
        "7 60 3600 16 1800 100000 16 7200 1048576 1 1 1 -1 1 -1 -1 -1"
    );
    assert_eq!(fields(&log.records[1]), "8 60 60 4 -1 -1 4 36000 -1 0 2 2 -1 2 -1 -1 -1");
    assert_eq!(log.names, ["Queue: 1 workq", "Queue: 2 batch"]);
    assert!(
        log.notes.iter().any(|note| note == "dropped: key jobname (lines 1, 2)"),
        "{:?}",
        log.notes
    );
}

#[test]
fn only_ends_are_complete() {
    let other = |kind: &str| PRO.replacen(";E;", &format!(";{kind};"), 1);
    let log = read_all(&format!("{}\n{}\n{PRO}\n{}\n", other("Q"), other("S"), other("S")));
    assert_eq!(log.records.len(), 1);
    assert_eq!(
        log.notes[..2],
        ["dropped: record of type Q (line 1)", "dropped: record of type S (lines 2, 4)"]
    );
}

#[test]
fn arrays_have_records_for_the_whole_and_for_each_task() {
    let id = |id: &str| PRO.replacen("7.srv", id, 1);
    let log = read_all(&[id("5[].srv"), id("5[3].srv"), id("5-4.srv")].join("\n"));
    assert_eq!(
        log.records.iter().map(|it| it.number).collect::<Vec<_>>(),
        [50_000_003, 50_000_004]
    );
    assert_eq!(
        log.notes[0],
        "dropped: record of a whole array, whose tasks have their own (line 1)"
    );
    assert!(
        log.notes
            .iter()
            .any(|note| note == "changed: task of an array: a job of its own (lines 2, 3)")
    );
}

#[test]
fn values_may_have_spaces_and_look_like_keys() {
    let keep = Options { keep: vec!["jobname".to_owned()], ..utc() };
    let log = read_with(&PRO.replace("jobname=train", "jobname=a  start=5 b"), &keep)
        .expect("a good record");
    // The last value of a key is that of PBS.
    assert_eq!(fields(&log.records[0]).split(' ').nth(1), Some("60"));
    assert_eq!(log.further, [["a"]]);
    let log = read_with(&PRO.replace("jobname=train", "jobname=two words"), &keep)
        .expect("a good record");
    assert_eq!(log.further, [["two words"]]);
}

#[test]
fn damage_is_named_and_can_be_skipped() {
    let bad = |from: &str, to: &str| format!("{PRO}\n{}\n", PRO.replacen(from, to, 1));
    assert_eq!(
        refused(&bad("start=1706695260", "start=soon")),
        "a.log:2: start: expected seconds since 1970, found \"soon\""
    );
    assert_eq!(
        refused(&bad("7.srv", "srv")),
        "a.log:2: job: expected a job such as 123.server or 123[4].server, found \"srv\""
    );
    let error = refused(&format!("{PRO}\nhello\n"));
    assert!(error.starts_with("a.log:2: expected `date;type;job;values`"), "{error}");
    let read = read_leniently(&format!("{PRO}\nhello\n"));
    assert_eq!((read.records.len(), read.skipped.len()), (1, 1));
}
