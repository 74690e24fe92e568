//! `haggle workflow`: inspects graphs of tasks, generates and schedules them.

use std::fs;

use crate::command::{Folder, stdout_of};

/// a and b read a file from storage; c reads the outputs of both, and writes one that no task
/// reads.
const SMALL: &str = r#"{
  "name": "small", "schemaVersion": "1.4",
  "workflow": {
    "makespanInSeconds": 4, "executedAt": "2024-01-01T00:00:00Z",
    "tasks": [
      {"name": "a", "category": "cut", "type": "compute", "runtimeInSeconds": 1.5, "parents": [],
       "files": [{"link": "input", "name": "raw", "sizeInBytes": 1000000},
                 {"link": "output", "name": "a1", "sizeInBytes": 500}]},
      {"name": "b", "category": "cut", "type": "compute", "cores": 2, "runtimeInSeconds": 2,
       "parents": [],
       "files": [{"link": "input", "name": "raw", "sizeInBytes": 1000000},
                 {"link": "output", "name": "b1", "sizeInBytes": 700}]},
      {"name": "c", "category": "join", "type": "compute", "runtimeInSeconds": 0.5,
       "parents": ["a", "b"],
       "files": [{"link": "input", "name": "a1", "sizeInBytes": 500},
                 {"link": "input", "name": "b1", "sizeInBytes": 700},
                 {"link": "output", "name": "end", "sizeInBytes": 9}]}
    ]
  }
}"#;

fn small() -> Folder {
    Folder::with(&[("small.json", SMALL)])
}

#[test]
fn a_workflow_is_described() {
    insta::assert_snapshot!(small().haggle(&["workflow", "inspect", "small.json"]), @r#"
    exit code: 0
    ----- stdout -----
    file                 small.json
    name                 small
    tasks                3
    edges                2
    levels               2
    widest level         2 tasks
    roots                2
    final tasks          1
    parent sets          1
    work                 4 s
    critical path        2.5 s
    average parallelism  1.60
    data between tasks   1.20 kB
    data from storage    2.00 MB
    data to storage      9 B

    Kinds of tasks:
      kind  tasks  mean work, s  work, s
      cut       2          1.75     3.50
      join      1        0.5000   0.5000

    Critical path:
      level  task  kind  work, s
          1  b     cut         2
          2  c     join   0.5000
    ----- stderr -----
    "#);
}

#[test]
fn a_description_as_json() {
    insta::assert_snapshot!(small().haggle(&["workflow", "inspect", "small.json", "--json"]), @r#"
    exit code: 0
    ----- stdout -----
    {
      "average_parallelism": 1.6,
      "bytes_between_tasks": 1200,
      "bytes_from_storage": 2000000,
      "bytes_to_storage": 9,
      "critical_path": {
        "seconds": 2.5,
        "tasks": [
          "b",
          "c"
        ]
      },
      "edges": 2,
      "file": "small.json",
      "final_tasks": 1,
      "kinds": [
        {
          "kind": "cut",
          "tasks": 2,
          "work_s": 3.5
        },
        {
          "kind": "join",
          "tasks": 1,
          "work_s": 0.5
        }
      ],
      "levels": [
        2,
        1
      ],
      "name": "small",
      "parent_sets": 1,
      "roots": 2,
      "tasks": 3,
      "widest_level": 2,
      "work_s": 4.0
    }
    ----- stderr -----
    "#);
}

#[test]
fn schedules_are_compared() {
    let folder = small();
    let typed = "workflow schedule small.json --speeds 1,2 --bandwidth 1kbit/s --latency 1s";
    let words: Vec<&str> = typed.split(' ').collect();
    insta::assert_snapshot!(folder.haggle(&words), @r#"
    exit code: 0
    ----- stdout -----
    small: 3 tasks on 2 resources, latency 1 s, 1 kbit/s between them
      policy     makespan, s    SLR  speedup  efficiency
      heft              6.75  5.400    0.296       0.148
      cpop              6.75  5.400    0.296       0.148
      peft                 2  1.600    1.000       0.500
      min-min              2  1.600    1.000       0.500
      max-min           6.75  5.400    0.296       0.148
      sufferage         6.75  5.400    0.296       0.148
      random               2  1.600    1.000       0.500
    ----- stderr -----
    note: of 1 task with several processors, each takes one resource
    "#);
    let heft = [&words[..], &["--policy", "heft", "--json"]].concat();
    insta::assert_snapshot!(folder.haggle(&heft), @r#"
    exit code: 0
    ----- stdout -----
    {
      "file": "small.json",
      "name": "small",
      "resources": 2,
      "schedules": [
        {
          "efficiency": 0.14814814814814814,
          "makespan_s": 6.75,
          "placements": [
            {
              "end_s": 1.5,
              "resource": 0,
              "start_s": 0.0,
              "task": "a"
            },
            {
              "end_s": 1.0,
              "resource": 1,
              "start_s": 0.0,
              "task": "b"
            },
            {
              "end_s": 6.75,
              "resource": 1,
              "start_s": 6.5,
              "task": "c"
            }
          ],
          "policy": "heft",
          "slr": 5.4,
          "speedup": 0.2962962962962963
        }
      ],
      "tasks": 3
    }
    ----- stderr -----
    note: of 1 task with several processors, each takes one resource
    "#);
}

#[test]
fn what_is_generated_is_the_same_each_time_and_read_back() {
    let folder = Folder::with(&[]);
    let shapes =
        ["fork-join", "layered", "montage", "cybershake", "epigenomics", "inspiral", "sipht"];
    for shape in shapes {
        let words = ["workflow", "generate", shape, "--tasks", "61", "--seed", "5"];
        let printed = folder.haggle(&words);
        assert!(printed.starts_with("exit code: 0\n"), "{printed}");
        let file = format!("{shape}.json");
        folder.haggle(&[&words[..], &["-o", &file]].concat());
        assert_eq!(folder.read(&file).trim_end(), stdout_of(&printed).trim_end());
        let inspected = folder.haggle(&["workflow", "inspect", &file]);
        let tasks = if shape == "inspiral" { 60 } else { 61 };
        let line = format!("\ntasks                {tasks}\n");
        assert!(inspected.contains(&line), "{inspected}");
        let packed = format!("{shape}.json.gz");
        folder.haggle(&[&words[..], &["-o", &packed]].concat());
        let unpacked = folder.haggle(&["workflow", "inspect", &packed]);
        assert_eq!(unpacked.replace(&packed, &file), inspected);
    }
    let words = ["workflow", "generate", "inspiral", "--tasks", "61", "-o", "again.json"];
    insta::assert_snapshot!(folder.haggle(&words), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    note: the workflow has 60 tasks: inspiral allows no 61
    "#);
}

#[test]
fn mistakes() {
    let folder = small();
    fs::write(folder.path().join("cycle.json"), SMALL.replacen("[]", "[\"c\"]", 1))
        .expect("written");
    fs::write(folder.path().join("cut.json"), &SMALL[..400]).expect("written");
    fs::write(folder.path().join("log.swf"), "; MaxProcs: 4\n").expect("written");
    fs::write(folder.path().join("there.png"), "").expect("written");
    let typed = [
        "inspect none.json",
        "inspect cycle.json",
        "inspect cut.json",
        "inspect log.swf",
        "inspect small.json --figure small.jpg",
        "inspect small.json --figure there.png",
        "generate montage --tasks 14",
        "generate monatge --tasks 20",
        "generate montage --tasks 20 -o small.json",
        "schedule small.json",
        "schedule small.json --resources 0",
        "schedule small.json --speeds 1,0",
        "schedule small.json --resources 2 --policy hefft",
        "schedule small.json --resources 2 --bandwidth 5",
    ];
    let mut all = String::new();
    for words in typed {
        let words: Vec<&str> = ["workflow"].into_iter().chain(words.split(' ')).collect();
        all.push_str(&format!("$ haggle {}\n{}\n", words.join(" "), folder.haggle(&words)));
    }
    insta::assert_snapshot!(all, @r#"
    $ haggle workflow inspect none.json
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: none.json: cannot open the file: No such file or directory (os error 2)

    $ haggle workflow inspect cycle.json
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cycle.json: cycle: "a" -> "c" -> "a"; remove one of these edges

    $ haggle workflow inspect cut.json
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cut.json:9: not WfFormat: EOF while parsing a string

    $ haggle workflow inspect log.swf
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf: begins neither with { nor with <; expected WfFormat (JSON) or DAX (XML)

    $ haggle workflow inspect small.json --figure small.jpg
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `small.jpg` is no name of a figure: it must end in .png, .svg or .pdf

    $ haggle workflow inspect small.json --figure there.png
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `there.png` exists already

    hint: add --force to overwrite it

    $ haggle workflow generate montage --tasks 14
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: montage has at least 15 tasks; ask for more

    $ haggle workflow generate monatge --tasks 20
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'monatge' for '<SHAPE>'
      [possible values: fork-join, layered, montage, cybershake, epigenomics, inspiral, sipht]

      tip: a similar value exists: 'montage'

    For more information, try '--help'.

    $ haggle workflow generate montage --tasks 20 -o small.json
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `small.json` exists already

    hint: add --force to overwrite it

    $ haggle workflow schedule small.json
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the following required arguments were not provided:
      --resources <NUMBER>

    Usage: haggle workflow schedule --resources <NUMBER> <FILE>

    For more information, try '--help'.

    $ haggle workflow schedule small.json --resources 0
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value '0' for '--resources <NUMBER>': 0 is not in 1..=1000000

    For more information, try '--help'.

    $ haggle workflow schedule small.json --speeds 1,0
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value '0' for '--speeds <SPEEDS>': expected a number above 0

    For more information, try '--help'.

    $ haggle workflow schedule small.json --resources 2 --policy hefft
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'hefft' for '--policy <POLICY>'
      [possible values: heft, cpop, peft, min-min, max-min, sufferage, random]

      tip: a similar value exists: 'heft'

    For more information, try '--help'.

    $ haggle workflow schedule small.json --resources 2 --bandwidth 5
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value '5' for '--bandwidth <RATE>': `5` is not a bandwidth: write a number above 0 and a unit (bit/s, kbit/s, Mbit/s, Gbit/s), such as "100 Mbit/s"

    For more information, try '--help'.
    "#);
    assert_eq!(folder.read("there.png"), "");
}

#[test]
fn figures_are_drawn() {
    let folder = small();
    insta::assert_snapshot!(
        folder.haggle(&["workflow", "inspect", "small.json", "--figure", "graph.svg"])
            .lines().last().unwrap_or_default(), @"drew graph.svg"
    );
    let graph = folder.read("graph.svg");
    for text in ["small: 3 tasks by level", "cut", "join", "critical path", "level"] {
        assert!(graph.contains(text), "{text}");
    }
    let schedule = ["workflow", "schedule", "small.json", "--resources", "2", "--policy"];
    folder.haggle(&[&schedule[..], &["heft,cpop", "--gantt", "gantt.svg"]].concat());
    let gantt = folder.read("gantt.svg");
    for text in ["small on 2 resources", "heft: processor", "cpop: processor", "join"] {
        assert!(gantt.contains(text), "{text}");
    }
    assert_eq!(folder.names(), ["gantt.svg", "graph.svg", "small.json"]);
    let huge = ["workflow", "generate", "fork-join", "--tasks", "30000", "-o", "huge.json"];
    folder.haggle(&huge);
    let drawn = folder.haggle(&["workflow", "inspect", "huge.json", "--figure", "huge.png"]);
    assert!(drawn.starts_with("exit code: 2\n"), "{drawn}");
    assert!(drawn.contains("30000 tasks and 59996 edges cannot be drawn"), "{drawn}");
}

/// Both tasks write a file of one name, and the sizes of one are drawn.
const DRAWN: &str = r#"<adag name="drawn">
  <job id="a" name="make" runtime="10"><uses file="f" link="output" size="100"/></job>
  <job id="b" name="make" runtime="20"><uses file="f" link="output" size="-65.5"/></job>
  <job id="c" name="join" runtime="5"><uses file="f" link="input" size="100"/></job>
  <child ref="c"><parent ref="a"/><parent ref="b"/></child>
</adag>
"#;

#[test]
fn files_of_several_writers_and_negative_values() {
    let scenario = "[[workload]]\nname = \"flows\"\nmodel = \"workflows\"\n\
                    workflows = { count = 1, files = [\"drawn.xml\"], negative-values = \"zero\" }\n\
                    [[provider]]\nname = \"north\"\nprocessors = 4\n\
                    [[user]]\nname = \"u\"\nworkload = \"flows\"\nsubmits-to = \"north\"\n";
    let folder = Folder::with(&[
        ("drawn.xml", DRAWN),
        ("drawn.toml", scenario),
        ("small.json", SMALL),
        ("vain.toml", &scenario.replace("drawn.xml", "small.json")),
    ]);
    insta::assert_snapshot!(folder.haggle(&["workflow", "inspect", "drawn.xml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: drawn.xml:3: task "b": size of file "f" is -65.5; expected bytes, at least 0; the option negative-values = "zero" counts it as 0
    "#);
    let shown = folder.haggle(&["workflow", "inspect", "drawn.xml", "--negative-values", "zero"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(shown.contains("data between tasks   100 B\n"), "{shown}");
    insta::assert_snapshot!(shown.split("----- stderr -----\n").nth(1).unwrap_or_default(), @r#"
    note: 1 file has several writers, such as "f" with 2: a task reads the version of its ancestors
    note: 1 negative value counts as 0, such as the size of file "f" (-65.5)
    "#);
    let run = folder.haggle(&["run", "drawn.toml", "-o", "out", "--check"]);
    assert!(run.starts_with("exit code: 0\n"), "{run}");
    assert!(run.contains("1 file has several writers"), "{run}");
    let vain = folder.haggle(&["validate", "vain.toml"]);
    assert!(vain.contains("`negative-values` of the workflows has no effect"), "{vain}");
}
