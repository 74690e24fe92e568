//! Files: what is read, what is refused, and that what is written is read back.

use haggle_model::Span;
use haggle_workflows::files::{parse_bytes, write};
use haggle_workflows::{TaskId, Workflow};
use proptest::prelude::*;

use crate::strategies::workflows;

/// a and b read a file from storage; c reads what both make, and makes one that nobody reads.
pub(crate) const NEW: &str = r#"{
  "name": "small", "schemaVersion": "1.5",
  "workflow": {
    "specification": {
      "tasks": [
        {"name": "a", "id": "a", "parents": [], "children": ["c"],
         "inputFiles": ["raw"], "outputFiles": ["a1", "a2"]},
        {"name": "split", "id": "b", "parents": [], "children": ["c"],
         "inputFiles": ["raw", "raw"], "outputFiles": ["b1"]},
        {"name": "c", "id": "c", "parents": ["a", "b"], "children": [],
         "inputFiles": ["a1", "a2", "b1"], "outputFiles": ["end"]}
      ],
      "files": [
        {"id": "raw", "sizeInBytes": 100}, {"id": "a1", "sizeInBytes": 5},
        {"id": "a2", "sizeInBytes": 6}, {"id": "b1", "sizeInBytes": 7},
        {"id": "end", "sizeInBytes": 9}
      ]
    },
    "execution": {
      "makespanInSeconds": 4, "executedAt": "2024-01-01T00:00:00Z",
      "tasks": [
        {"id": "a", "runtimeInSeconds": 1.5, "command": {"program": "cut"}},
        {"id": "b", "runtimeInSeconds": 2, "coreCount": 1.5},
        {"id": "c", "runtimeInSeconds": 0.0000014}
      ]
    }
  }
}"#;

/// The same workflow in 1.4, which names parents.
pub(crate) const OLD: &str = r#"{
  "name": "small", "schemaVersion": "1.4",
  "workflow": {
    "makespanInSeconds": 4, "executedAt": "2024-01-01T00:00:00Z",
    "tasks": [
      {"name": "task a", "id": "a", "category": "cut", "type": "compute",
       "runtimeInSeconds": 1.5, "parents": [],
       "files": [{"link": "input", "name": "raw", "sizeInBytes": 100},
                 {"link": "output", "name": "a1", "sizeInBytes": 5},
                 {"link": "output", "name": "a2", "sizeInBytes": 6}]},
      {"name": "task b", "id": "b", "category": "split", "type": "compute", "cores": 1.5,
       "runtimeInSeconds": 2, "parents": [],
       "files": [{"link": "input", "name": "raw", "sizeInBytes": 100},
                 {"link": "output", "name": "b1", "sizeInBytes": 7}]},
      {"name": "task c", "id": "c", "type": "compute",
       "runtimeInSeconds": 0.0000014, "parents": ["task a", "b"],
       "files": [{"link": "input", "name": "a1", "sizeInBytes": 5},
                 {"link": "input", "name": "a2", "sizeInBytes": 6},
                 {"link": "input", "name": "b1", "sizeInBytes": 7},
                 {"link": "output", "name": "end", "sizeInBytes": 9}]}
    ]
  }
}"#;

/// The same workflow as a DAX; its jobs have one processor.
pub(crate) const DAX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="small" jobCount="3">
  <job id="a" name="cut" runtime="1.5">
    <uses file="raw" link="input" size="100"/>
    <uses file="a1" link="output" size="5"/>
    <uses file="a2" link="output" size="6"/>
  </job>
  <job id="b" name="split" runtime="2">
    <uses file="raw" link="input" size="100"/>
    <uses file="b1" link="output" size="7"></uses>
  </job>
  <job id="c" runtime="0.0000014">
    <uses file="a1" link="input" size="5"/>
    <uses file="a2" link="input" size="6"/>
    <uses name="b1" link="input" size="7"/>
    <uses file="end" link="output" size="9"/>
    <uses file="program" link="none"/>
  </job>
  <child ref="c"><parent ref="a"/><parent ref="b"/></child>
</adag>
"#;

fn parsed(text: &str) -> Workflow {
    parse_bytes(text.as_bytes()).expect("a good file")
}

#[test]
fn three_formats_of_one_workflow() {
    let new = parsed(NEW);
    assert_eq!((new.name(), new.tasks().len(), new.edge_count()), ("small", 3, 2));
    let tasks: Vec<_> = new
        .tasks()
        .iter()
        .map(|task| (&*task.name, task.kind.as_deref(), task.work, task.input, task.output))
        .collect();
    let micros = Span::from_micros;
    let expected = [
        ("a", Some("cut"), micros(1_500_000), 100, 0),
        ("b", Some("split"), micros(2_000_000), 100, 0),
        ("c", None, micros(1), 0, 9),
    ];
    assert_eq!(tasks, expected);
    assert_eq!(new.task(TaskId(1)).processors, 2);
    let edges: Vec<_> = new.edges().map(|edge| (edge.parent.0, edge.child.0, edge.bytes)).collect();
    assert_eq!(edges, [(0, 2, 11), (1, 2, 7)]);
    assert_eq!(parsed(OLD), new);
    // 1.3 differs in the names of numbers.
    let older = OLD.replace("\"1.4\"", "\"1.3\"").replace("sizeInBytes", "size");
    assert_eq!(parsed(&older.replace("runtimeInSeconds", "runtime")), new);
    let cores = OLD.replace("\"cores\": 1.5,", "");
    assert_eq!(parsed(DAX), parsed(&cores));
}

/// A reader of a file comes after its writer, and a file that is changed in place is read first.
#[test]
fn what_is_not_said_of_files() {
    let unlisted = NEW.replace("[\"a\", \"b\"]", "[\"b\"]").replacen("[\"c\"]", "[]", 1);
    assert_eq!(parsed(&unlisted), parsed(NEW));
    let in_place = NEW.replace("\"outputFiles\": [\"a1\", ", "\"outputFiles\": [\"raw\", \"a1\", ");
    let workflow = parsed(&in_place);
    // Now b needs what a makes of it.
    assert_eq!(workflow.edge_count(), 3);
    let a = workflow.task(TaskId(0));
    assert_eq!((a.input, a.output, workflow.task(TaskId(1)).input), (100, 0, 0));
}

#[test]
fn what_is_no_file_of_a_workflow_is_refused() {
    let message = |text: &str| parse_bytes(text.as_bytes()).expect_err("bad").to_string();
    let changed = |from: &str, to: &str| {
        assert!(NEW.contains(from) != DAX.contains(from), "{from}");
        if NEW.contains(from) { NEW.replacen(from, to, 1) } else { DAX.replacen(from, to, 1) }
    };
    let cases = [
        ("".to_owned(), "begins neither with { nor with <; expected WfFormat (JSON) or DAX (XML)"),
        (
            "[1]".to_owned(),
            "begins neither with { nor with <; expected WfFormat (JSON) or DAX (XML)",
        ),
        ("{}".to_owned(), "1: not WfFormat: missing field `workflow`"),
        (NEW[..700].to_owned(), "16: not WfFormat: EOF while parsing a string"),
        (
            changed("\"schemaVersion\": \"1.5\"", "\"schemaVersion\": \"1.2\""),
            "WfFormat \"1.2\"; versions 1.3, 1.4 and 1.5 are read, so convert it",
        ),
        (
            changed("\"schemaVersion\": \"1.5\"", "\"schemaVersion\": \"1.4\""),
            "not WfFormat: there is no workflow.tasks",
        ),
        (
            changed("\"parents\": [\"a\", \"b\"]", "\"parents\": [\"a\", \"x\"]"),
            "task \"c\" names \"x\", but there is no such task",
        ),
        (
            changed("\"parents\": []", "\"parents\": [\"c\"]"),
            "cycle: \"a\" -> \"c\" -> \"a\"; remove one of these edges",
        ),
        (
            changed("\"runtimeInSeconds\": 1.5", "\"runtimeInSeconds\": -1"),
            "task \"a\": run time is negative; expected seconds, at least 0",
        ),
        (
            changed("\"runtimeInSeconds\": 1.5", "\"runtimeInSeconds\": 1e300"),
            "task \"a\": run time is above 1e12 s; expected seconds",
        ),
        (
            changed("\"runtimeInSeconds\": 1.5", "\"runtimeInSeconds\": 1e999"),
            "22: not WfFormat: number out of range",
        ),
        (
            changed("\"sizeInBytes\": 100", "\"sizeInBytes\": -1"),
            "14: not WfFormat: invalid value: integer `-1`, expected u64",
        ),
        (
            changed("\"sizeInBytes\": 100", "\"sizeInBytes\": 99999999999999999999"),
            "14: not WfFormat: invalid type: floating point `1e+20`, expected u64",
        ),
        (
            changed("\"sizeInBytes\": 5}", "\"sizeInBytes\": 18446744073709551615}"),
            "task \"c\": with it, the workflow has more data than 4.6e18 bytes",
        ),
        (
            changed("{\"id\": \"b1\", \"sizeInBytes\": 7},", ""),
            "task \"b\": file \"b1\" has no size; add it to the files",
        ),
        (
            changed("\"outputFiles\": [\"b1\"]", "\"outputFiles\": [\"b1\", \"a1\"]"),
            "tasks \"a\" and \"b\" both write file \"a1\"; one task writes each file",
        ),
        (
            changed("\"id\": \"b\", \"parents\"", "\"id\": \"a\", \"parents\""),
            "task \"a\": no run time; add it to workflow.execution.tasks",
        ),
        (
            changed("\"coreCount\": 1.5", "\"coreCount\": 0"),
            "task \"b\": number of cores is out of range; expected at least 1",
        ),
        (
            changed(
                "{\"id\": \"a\", \"runtimeInSeconds\": 1.5, \"command\": {\"program\": \"cut\"}},",
                "",
            ),
            "task \"a\": no run time; add it to workflow.execution.tasks",
        ),
        (
            changed(
                "\"name\": \"small\"",
                &format!("\"x\": {}{}", "[".repeat(10_000), "]".repeat(10_000)),
            ),
            "",
        ),
        (changed("<adag", "<dag"), "2: not a DAX: the root is <dag>; expected <adag>"),
        (changed("</adag>", ""), "21: not a DAX: ends within an element"),
        (
            changed("</adag>", "</dag>"),
            "20: not a DAX: ill-formed document: expected `</adag>`, but `</dag>` was found",
        ),
        (
            changed("<job id=\"b\"", "<job id=\"a\""),
            "8: task \"a\" exists already; names are unique",
        ),
        (changed(" runtime=\"2\"", ""), "8: task \"b\": no run time; add runtime"),
        (
            changed("runtime=\"2\"", "runtime=\"-2\""),
            "8: task \"b\": run time is negative; expected seconds, at least 0",
        ),
        (
            changed("runtime=\"2\"", "runtime=\"NaN\""),
            "8: task \"b\": run time is not finite; expected seconds",
        ),
        (
            changed("runtime=\"2\"", "runtime=\"two\""),
            "8: task \"b\": run time is no number of seconds",
        ),
        (
            changed("link=\"output\" size=\"7\"", "link=\"output\" size=\"-7\""),
            "10: task \"b\": size of a file is no whole number of bytes",
        ),
        (
            changed("link=\"output\" size=\"7\"", "link=\"output\""),
            "10: task \"b\": file \"b1\" has no size; add it to the files",
        ),
        (
            changed("<parent ref=\"b\"/>", "<parent ref=\"x\"/>"),
            "19: task \"c\" names \"x\", but there is no such task",
        ),
        (
            changed(
                "<job id=\"c\" runtime=\"0.0000014\">",
                "<dax id=\"c\"/><job id=\"c\" runtime=\"1\">",
            ),
            "12: not a DAX: <dax> is a workflow in a workflow; put its jobs here",
        ),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        if expected.is_empty() {
            // What is not known is passed over, however deep it is.
            assert!(parse_bytes(text.as_bytes()).is_ok());
            continue;
        }
        let blank =
            if expected.starts_with(|first: char| first.is_ascii_digit()) { "" } else { " " };
        let (found, expected) = (message(&text), format!("<memory>:{blank}{expected}"));
        if found != expected {
            wrong.push(format!("found    {found}\nexpected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let deep = format!("{{\"workflow\":{}", "[".repeat(10_000));
    assert!(message(&deep).starts_with("<memory>:1: not WfFormat: "), "{}", message(&deep));
    let deep = format!("<adag>{}", "<x>".repeat(10_000));
    assert_eq!(message(&deep), "<memory>:1: not a DAX: ends within an element");
    assert!(parse_bytes(&[b'{', 0xff]).expect_err("bad").to_string().contains("UTF-8"));
}

proptest! {
    #[test]
    fn written_and_read_back(workflow in workflows(12)) {
        let mut bytes = Vec::new();
        write(&workflow, "a test", &mut bytes).expect("memory takes it");
        let read = parse_bytes(&bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read, workflow);
    }
}
