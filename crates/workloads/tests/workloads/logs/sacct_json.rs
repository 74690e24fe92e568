//! JSON of `sacct`: the shapes of all versions, and each trap.

use haggle_model::{Span, Time};
use haggle_workloads::logs::Options;

use super::{fields, read_all, read_leniently, read_with, refused, utc};

/// 10:00 on 2024-01-31.
const TEN: i64 = 1_706_695_200;

/// A job as older versions write it: plain numbers, a state that is a text.
const OLD: &str = r#"{
  "account": "phys", "association": {"account": "phys", "user": "ann", "cluster": "c", "partition": null},
  "array": {"job_id": 0, "task_id": null}, "het": {"job_id": 0, "job_offset": null},
  "job_id": 7, "name": "train one", "nodes": "n[1-2]", "partition": "main", "qos": "normal", "group": "phys", "user": "ann",
  "required": {"CPUs": 16, "memory": 4096},
  "state": {"current": "COMPLETED", "reason": "None"}, "steps": [],
  "time": {"elapsed": 3600, "eligible": 1706695200, "end": 1706698860, "start": 1706695260, "submission": 1706695200,
           "suspended": 0, "limit": 120, "total": {"seconds": 1600, "microseconds": 500000}},
  "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 16}, {"type": "node", "name": "", "id": 4, "count": 2}],
           "requested": [{"type": "cpu", "name": "", "id": 1, "count": 16}]}
}"#;

/// The same as newer versions write it: numbers that may not be set, a state that is a list.
fn new() -> String {
    let set = |number: i64| format!(r#"{{"set": true, "infinite": false, "number": {number}}}"#);
    OLD.replace("\"limit\": 120", &format!("\"limit\": {}", set(120)))
        .replace("\"memory\": 4096", &format!(r#""memory_per_cpu": {{"set": false, "infinite": false, "number": 0}}, "memory_per_node": {}"#, set(4096)))
        .replace("\"COMPLETED\"", "[\"COMPLETED\"]")
        .replace("\"task_id\": null", &format!("\"task_id\": {}", set(0)))
        .replace("\"job_offset\": null", &format!("\"job_offset\": {}", set(0)))
}

fn log(jobs: &[&str]) -> String {
    format!(
        "{{\"meta\": {{\"Slurm\": {{}}}}, \"errors\": [], \"jobs\": [\n{}\n]}}\n",
        jobs.join(",\n")
    )
}

fn changed(from: &str, to: &str) -> super::Read {
    let job = new();
    assert!(job.contains(from), "{from}");
    read_all(&log(&[&job.replace(from, to)]))
}

fn seconds(span: Span) -> i64 {
    span.as_micros() / 1_000_000
}

const FIELDS: &str = "7 60 3600 16 100.03125 -1 16 7200 524288 1 1 1 -1 1 1 -1 -1";

#[test]
fn shapes_of_old_and_new_versions_give_the_same_record() {
    for job in [OLD, &new()] {
        let read = read_all(&log(&[job]));
        assert_eq!(fields(&read.records[0]), FIELDS);
        assert_eq!(read.records[0].submit, Time::from_secs(TEN));
        assert_eq!(read.names, ["Queue: 1 normal", "Partition: 1 main"]);
        let facts = [
            "changed: name of a user: a number, in the order of appearance (line 2)",
            "changed: name of a group: a number, in the order of appearance (line 2)",
            "dropped: member account (line 2)",
            "dropped: member name (line 2)",
            "dropped: member nodes (line 2)",
        ];
        assert_eq!(read.notes, facts);
    }
    // The jobs may come before the facts about the file.
    let last = format!(
        "{{\"jobs\": [{OLD}], \"meta\": {{\"slurm\": {{\"version\": {{\"major\": \"23\"}}}}}}}}"
    );
    assert_eq!(fields(&read_all(&last).records[0]), FIELDS);
}

#[test]
fn limits_are_in_minutes_and_may_be_missing() {
    let limit = |to: &str| {
        let read = changed("{\"set\": true, \"infinite\": false, \"number\": 120}", to);
        (seconds(read.records[0].requested_time), read.notes[0].clone())
    };
    assert_eq!(limit("90").0, 5_400);
    let unlimited = "changed: time limit UNLIMITED: requested time unknown (line 2)";
    for text in [r#"{"set": false, "infinite": true, "number": 0}"#, "4294967295"] {
        assert_eq!(limit(text), (-1, unlimited.to_owned()), "{text}");
    }
    for text in [r#"{"set": false, "infinite": false, "number": 0}"#, "4294967294", "null"] {
        assert_eq!(limit(text).0, -1, "{text}");
    }
}

#[test]
fn jobs_that_have_not_ended() {
    let running =
        log(&[&new().replace("COMPLETED", "RUNNING").replace("\"end\": 1706698860", "\"end\": 0")]);
    let running = read_all(&running);
    assert_eq!((seconds(running.records[0].run_time), seconds(running.records[0].wait)), (-1, 60));
    assert_eq!(running.notes[0], "changed: job that had not ended: run time unknown (line 2)");
    let waiting = log(&[&new()
        .replace("[\"COMPLETED\"]", "[\"PENDING\", \"REQUEUED\"]")
        .replace("\"start\": 1706695260", "\"start\": 0")]);
    let waiting = read_all(&waiting);
    assert_eq!((seconds(waiting.records[0].run_time), seconds(waiting.records[0].wait)), (-1, -1));
    let cancelled = changed("[\"COMPLETED\"]", "[\"CANCELLED\"]");
    assert_eq!((cancelled.records[0].status, seconds(cancelled.records[0].run_time)), (5, 3_600));
}

#[test]
fn arrays_parts_and_steps() {
    let task = changed("\"array\": {\"job_id\": 0", "\"array\": {\"job_id\": 5");
    assert_eq!(task.notes[0], "changed: task of an array: a job of its own (line 2)");
    let part = changed("\"het\": {\"job_id\": 0", "\"het\": {\"job_id\": 6");
    assert_eq!(part.notes[0], "changed: part of a heterogeneous job: a job of its own (line 2)");
    let steps = changed("\"steps\": []", "\"steps\": [{\"step\": {\"id\": \"7.batch\"}}]");
    assert_eq!(
        (steps.records.len(), steps.notes[0].as_str()),
        (1, "dropped: steps of a job (line 2)")
    );
}

#[test]
fn suspended_time_is_no_run_time() {
    let read = changed("\"suspended\": 0", "\"suspended\": 600");
    assert_eq!(
        read.notes[0],
        "changed: job that was suspended: its run time is without that time (line 2)"
    );
}

#[test]
fn memory_of_a_processor_is_a_bit_in_old_versions() {
    for flagged in ["9223372036854777008", "-9223372036854774608"] {
        let read = read_all(&log(&[&OLD.replace("4096", flagged)]));
        assert_eq!(read.records[0].requested_memory, 1_200 * 1_024);
        assert!(read.notes[0].starts_with("changed: requested memory with a flag of Slurm"));
    }
}

#[test]
fn members_can_be_kept() {
    let keep = Options { keep: vec!["name".to_owned(), "array".to_owned()], ..utc() };
    let read = read_with(&log(&[&new(), OLD]), &keep).expect("good members");
    assert_eq!(read.further[0][0], "train one");
    assert!(!read.notes.iter().any(|note| note.contains("member name")));
    let wrong = Options { keep: vec!["Name2".to_owned()], ..utc() };
    let error = read_with(&log(&[OLD]), &wrong).map(|_| ()).expect_err("no such member");
    assert!(
        error.starts_with(
            "a.log:2:1: no column \"Name2\" to keep; the log has account, association"
        ),
        "{error}"
    );
}

#[test]
fn damaged_jobs_are_named_and_can_be_skipped() {
    let bad = |from: &str, to: &str| log(&[OLD, &OLD.replace(from, to)]);
    assert_eq!(
        refused(&bad("\"job_id\": 7", "\"job_id\": \"x\"")),
        "a.log:13:1: job_id: expected a number, found \"x\""
    );
    assert_eq!(
        refused(&bad("COMPLETED", "DONE")),
        "a.log:13:1: state.current: expected a state of a job, found \"DONE\""
    );
    assert_eq!(refused(&bad("\"name\": ", "\"name\" ")), "a.log:16:23: expected `:`");
    let read = read_leniently(&bad("COMPLETED", "DONE"));
    assert_eq!((read.records.len(), read.skipped.len()), (1, 1));
    let cut = log(&[OLD]);
    let error = refused(&cut[..cut.len() - 4]);
    assert!(error.contains("is the file complete?"), "{error}");
}
