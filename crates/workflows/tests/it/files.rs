//! Files: contents that are read or refused, and that a written workflow is read back.

use haggle_model::Span;
use haggle_workflows::files::{Described, NegativeValues, Rules, parse_bytes, write};
use haggle_workflows::{TaskId, Workflow};
use proptest::prelude::*;

use crate::strategies::workflows;

/// a and b read a file from storage; c reads the files of both, and writes one that no task reads.
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
    // Now b needs the file as a has changed it.
    assert_eq!(workflow.edge_count(), 3);
    let a = workflow.task(TaskId(0));
    assert_eq!((a.input, a.output, workflow.task(TaskId(1)).input), (100, 0, 0));
}

fn described(text: &str) -> Described {
    Rules::default().parse_bytes(text.as_bytes()).expect("a good file")
}

/// Edges by the names of their tasks, with their bytes.
fn edges(workflow: &Workflow) -> Vec<(&str, &str, u64)> {
    let name = |task: TaskId| &*workflow.task(task).name;
    workflow.edges().map(|it| (name(it.parent), name(it.child), it.bytes)).collect()
}

/// Tasks of a second each, with uses such as `<f` (reads f) and `>f:7` (writes 7 bytes of f), and edges.
fn dax(jobs: &[(&str, &str)], edges: &[(&str, &str)]) -> String {
    let mut text = "<adag name=\"w\">\n".to_owned();
    for (id, uses) in jobs {
        text.push_str(&format!("<job id=\"{id}\" runtime=\"1\">\n"));
        for it in uses.split_whitespace() {
            let link = if it.starts_with('<') { "input" } else { "output" };
            let (file, size) = it[1..].split_once(':').unwrap_or((&it[1..], "100"));
            text.push_str(&format!("<uses file=\"{file}\" link=\"{link}\" size=\"{size}\"/>\n"));
        }
        text.push_str("</job>\n");
    }
    for (parent, child) in edges {
        text.push_str(&format!("<child ref=\"{child}\"><parent ref=\"{parent}\"/></child>\n"));
    }
    text + "</adag>\n"
}

/// Each of three fits writes the same file, and the task that joins them reads it once.
#[test]
fn a_file_of_several_writers_comes_from_all_parents() {
    let jobs = [("a", ">f:1 >log:9"), ("b", ">f:2 >log:9"), ("c", ">f:4"), ("d", "<f:1")];
    let Described { workflow, notes, .. } =
        described(&dax(&jobs, &[("a", "d"), ("b", "d"), ("c", "d")]));
    assert_eq!(edges(&workflow), [("a", "d", 1), ("b", "d", 2), ("c", "d", 4)]);
    let stored: Vec<_> = workflow.tasks().iter().map(|task| (task.input, task.output)).collect();
    assert_eq!(stored, [(0, 9), (0, 9), (0, 0), (0, 0)]);
    assert_eq!(
        notes,
        [
            "2 files have several writers, such as \"f\" with 3: a task reads the version of its ancestors"
        ]
    );
}

/// A name that two unrelated parts of a workflow use does not tie them together.
#[test]
fn a_name_that_is_used_again_makes_no_edge() {
    let jobs = [("a1", ">f:1"), ("b1", "<f"), ("a2", ">f:2"), ("b2", "<f"), ("other", "<f:5")];
    let Described { workflow, notes, .. } = described(&dax(&jobs, &[("a1", "b1"), ("a2", "b2")]));
    assert_eq!(edges(&workflow), [("a1", "b1", 1), ("a2", "b2", 2)]);
    assert_eq!(workflow.tasks()[4].input, 5);
    assert_eq!(
        notes[1],
        "1 read of such files comes from storage, because no ancestor writes them, such as that of \"f\" by \"other\""
    );
}

/// The latest version counts, also for a task that is also a child of the first writer, and for one that is no child of a writer.
#[test]
fn a_file_that_is_changed_in_place_comes_from_its_last_writer() {
    let jobs = [("a", ">f:1"), ("b", "<f >f:2"), ("c", "<f >g"), ("d", "<g"), ("e", "<f")];
    let links = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e")];
    let workflow = described(&dax(&jobs, &links)).workflow;
    let expected = [
        ("a", "b", 1),
        ("a", "c", 0),
        ("b", "c", 2),
        ("b", "e", 2),
        ("c", "d", 100),
        ("d", "e", 0),
    ];
    assert_eq!(edges(&workflow), expected);
    assert_eq!(workflow.tasks().iter().map(|task| task.output).sum::<u64>(), 0);
}

/// Every task behind a barrier reads a file of every task before it: so many edges must be a mistake.
#[test]
fn a_file_of_too_many_writers_is_refused() {
    let names: Vec<String> = (0..10_000).map(|number| format!("t{number}")).collect();
    let (before, behind) = names.split_at(5_000);
    let mut jobs = vec![("barrier", "")];
    jobs.extend(before.iter().map(|name| (name.as_str(), ">f")));
    jobs.extend(behind.iter().map(|name| (name.as_str(), "<f")));
    let mut links: Vec<_> = before.iter().map(|name| (name.as_str(), "barrier")).collect();
    links.extend(behind.iter().map(|name| ("barrier", name.as_str())));
    let error = parse_bytes(dax(&jobs, &links).as_bytes()).expect_err("too many").to_string();
    assert!(error.ends_with("give each version a name of its own"), "{error}");
}

#[test]
fn sizes_as_programs_write_them() {
    for size in ["100.0", "1.0E2", "1e2"] {
        assert_eq!(
            parsed(&NEW.replace("\"sizeInBytes\": 100}", &format!("\"sizeInBytes\": {size}}}"))),
            parsed(NEW)
        );
        assert_eq!(parsed(&DAX.replace("\"100\"", &format!("\"{size}\""))), parsed(DAX));
    }
    // Said twice in the same words.
    let twice = "{\"id\": \"raw\", \"sizeInBytes\": 100.0}, {\"id\": \"end\"";
    assert_eq!(parsed(&NEW.replace("{\"id\": \"end\"", twice)), parsed(NEW));
}

#[test]
fn negative_values_count_as_0_if_told_so() {
    let rules = Rules { negative_values: NegativeValues::Zero };
    let text = dax(&[("a", ">f:-65.5"), ("b", "<f:-6585019")], &[("a", "b")]);
    let read = rules.parse_bytes(text.as_bytes()).expect("a good file");
    assert_eq!(edges(&read.workflow), [("a", "b", 0)]);
    assert_eq!(
        read.notes,
        ["2 negative values count as 0, such as the size of file \"f\" (-65.5)"]
    );
    let run_time = rules.parse_bytes(DAX.replace("runtime=\"2\"", "runtime=\"-1.03\"").as_bytes());
    let run_time = run_time.expect("a good file");
    assert_eq!(run_time.workflow.tasks()[1].work, Span::ZERO);
    assert_eq!(
        run_time.notes,
        ["1 negative value counts as 0, such as the run time of task \"b\" (-1.03 s)"]
    );
    let new = NEW.replace("\"sizeInBytes\": 100", "\"sizeInBytes\": -1");
    let read = rules.parse_bytes(new.as_bytes()).expect("a good file");
    assert_eq!(read.workflow.tasks()[0].input, 0);
}

#[test]
fn run_times_of_a_dax_may_be_profiles() {
    let profile = "<profile namespace=\"pegasus\" key=\"runtime\"> 2 </profile>";
    let other = "<profile namespace=\"dagman\" key=\"runtime\">9</profile>";
    let moved = DAX.replace(" runtime=\"2\">", &format!(">{other}{profile}{other}"));
    assert_eq!(parsed(&moved), parsed(DAX));
    let both =
        DAX.replace(" runtime=\"2\">", &format!(" runtime=\"2\">{}", profile.replace('2', "7")));
    assert_eq!(parsed(&both), parsed(DAX));
    let error = |text: String| parse_bytes(text.as_bytes()).expect_err("bad").to_string();
    let wrong = error(moved.replace(" 2 ", "long"));
    assert_eq!(wrong, "<memory>:8: task \"b\": run time is no number of seconds");
}

/// 1.6 adds sums that follow from the rest.
#[test]
fn version_1_6_is_read_as_1_5() {
    let newer = NEW.replace("\"1.5\"", "\"1.6\"");
    let newer = newer.replace("\"files\": [", "\"metrics\": {\"numberOfTasks\": 3}, \"files\": [");
    assert_eq!(parsed(&newer), parsed(NEW));
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
            "WfFormat \"1.2\"; versions 1.3 to 1.6 are read, so convert it",
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
            "task \"a\": run time is -1 s; expected at least 0 s; the option negative-values = \"zero\" counts it as 0",
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
            "task \"a\": size of file \"raw\" is -1; expected bytes, at least 0; \
             the option negative-values = \"zero\" counts it as 0",
        ),
        (
            changed("\"sizeInBytes\": 100", "\"sizeInBytes\": 99999999999999999999"),
            "task \"a\": size of file \"raw\" is 100000000000000000000; expected a whole number of bytes",
        ),
        (
            changed("\"sizeInBytes\": 100", "\"sizeInBytes\": 100.5"),
            "task \"a\": size of file \"raw\" is 100.5; expected a whole number of bytes",
        ),
        (
            changed("\"sizeInBytes\": 100", "\"sizeInBytes\": \"100\""),
            "14: not WfFormat: invalid type: string \"100\", expected a number of bytes",
        ),
        (
            changed("{\"id\": \"end\",", "{\"id\": \"raw\","),
            "file \"raw\" is listed with 100 B and with 9 B; list it once",
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
        (
            changed(" runtime=\"2\"", ""),
            "8: task \"b\": no run time; add runtime, as an attribute or as a profile of namespace pegasus",
        ),
        (
            changed("runtime=\"2\"", "runtime=\"-2\""),
            "8: task \"b\": run time is -2 s; expected at least 0 s; the option negative-values = \"zero\" counts it as 0",
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
            "10: task \"b\": size of file \"b1\" is -7; expected bytes, at least 0; \
             the option negative-values = \"zero\" counts it as 0",
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
            // Unknown elements are skipped, however deep they are.
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
