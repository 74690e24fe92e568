//! Workflows in runs: from files and in the shapes of applications.

use haggle::scenario::file::{StaticAlgorithm, WorkflowShape};

use crate::command::{Folder, json_of};

/// A root from which two tasks read, and a task that reads from both.
const DIAMOND: &str = r#"{
  "name": "diamond", "schemaVersion": "1.4",
  "workflow": {
    "tasks": [
      {"name": "a", "type": "compute", "runtimeInSeconds": 100, "parents": [],
       "files": [{"link": "input", "name": "raw", "sizeInBytes": 3000000},
                 {"link": "output", "name": "one", "sizeInBytes": 1000000},
                 {"link": "output", "name": "two", "sizeInBytes": 2000000}]},
      {"name": "b", "type": "compute", "runtimeInSeconds": 200, "parents": ["a"],
       "files": [{"link": "input", "name": "one", "sizeInBytes": 1000000},
                 {"link": "output", "name": "three", "sizeInBytes": 4000000}]},
      {"name": "c", "type": "compute", "runtimeInSeconds": 400, "parents": ["a"],
       "files": [{"link": "input", "name": "two", "sizeInBytes": 2000000},
                 {"link": "output", "name": "four", "sizeInBytes": 1000000}]},
      {"name": "d", "type": "compute", "runtimeInSeconds": 50, "parents": ["b", "c"],
       "files": [{"link": "input", "name": "three", "sizeInBytes": 4000000},
                 {"link": "input", "name": "four", "sizeInBytes": 1000000},
                 {"link": "output", "name": "end", "sizeInBytes": 6000000}]}
    ]
  }
}"#;

/// A task that needs one task of a set whose tasks do not run together.
const UNEVEN: &str = r#"<adag name="uneven">
  <job id="a" name="a" runtime="60"/>
  <job id="b" name="b" runtime="900"/>
  <job id="c" name="c" runtime="900"/>
  <job id="d" name="d" runtime="300"/>
  <job id="e" name="e" runtime="60"/>
  <child ref="b"><parent ref="a"/></child>
  <child ref="c"><parent ref="a"/></child>
  <child ref="d"><parent ref="b"/></child>
  <child ref="e"><parent ref="c"/><parent ref="d"/></child>
</adag>
"#;

/// A grid of two resources of 2 MIPS, 8 Mbit/s away from the storage.
fn world(workflows: &str, policy: &str) -> String {
    format!(
        r#"
[[workload]]
name = "flows"
model = "workflows"

[workload.workflows]
{workflows}

[[user]]
name = "users"
workload = "flows"
submits-to = "grid"

[grid]
policy = {{ name = "{policy}" }}
period = "0s"
information = {{ mode = "immediate" }}
network = {{ model = "constant", bandwidth = "8 Mbit/s", latency = "0s" }}

[[grid.site]]
name = "alpha"
resources = 2
mips = 2
slots = 1

[results]
format = "csv"
messages = "none"
"#
    )
}

/// The network is reported with its defaults, and data take the time of the critical path that
/// `explain` shows. A horizon of a week does not lower the share of the makespan in which resources
/// are busy.
#[test]
fn a_network_that_decides_is_named() {
    let text = world("count = 1\nfiles = [\"diamond.json\"]", "workflow")
        .replace("information = { mode = \"immediate\" }\n", "")
        .replace(
            "network = { model = \"constant\", bandwidth = \"8 Mbit/s\", latency = \"0s\" }\n",
            "",
        );
    let text = format!("{text}\n[scenario]\nhorizon = \"7d\"\n");
    let folder = Folder::with(&[("world.toml", &text), ("diamond.json", DIAMOND)]);
    let shown = run(&folder);
    let network = "  network: 1 Gbit/s in sites, 5 Mbit/s between them (defaults); data took ";
    let known = "  the scheduler knows resources as they were up to 300 s ago (default)\n";
    assert!(shown.contains(network) && shown.contains(known), "{shown}");
    assert!(shown.contains(" of the makespan;"), "{shown}");
    let summary = folder.summary("out");
    let share = summary["grid"]["workflows"]["data_of_critical_path"].as_f64().expect("a share");
    let told = folder.haggle(&["explain", "out", "3", "--json"]);
    let told = json_of(&told);
    let path = told["workflow"]["path"].as_array().expect("a way");
    let part = |part: &serde_json::Value| {
        let time = |column: &str| part[column].as_f64().unwrap_or_default();
        (part["part"] == "transfers", time("waiting") + time("running"))
    };
    let parts = path.iter().flat_map(|step| step["parts"].as_array().expect("parts")).map(part);
    let (mut data, mut all) = (0.0, 0.0);
    for (is_data, time) in parts {
        all += time;
        data += if is_data { time } else { 0.0 };
    }
    assert!(data > 0.0 && (share - data / all).abs() < 1e-6, "{share}, {data} of {all}");
    let makespan = summary["makespan"].as_f64().expect("a time");
    let grid = |key: &str| summary["grid"][key].as_f64().expect("a share");
    let week = 7.0 * 86_400.0;
    assert!((grid("busy_of_makespan") * makespan - grid("busy") * week).abs() < 1e-3, "{summary}");
}

fn run(folder: &Folder) -> String {
    folder.haggle(&["run", "world.toml", "-o", "out", "--check", "--quiet", "--no-figures"])
}

fn columns(text: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let place = |name: &&str| header.iter().position(|it| it == name).expect("a column");
    let places: Vec<usize> = names.iter().map(place).collect();
    let cells = |line: &str| -> Vec<String> {
        let cells: Vec<&str> = line.split(',').collect();
        places.iter().map(|&place| cells[place].to_owned()).collect()
    };
    lines.map(cells).collect()
}

/// By hand, 1 MB takes 1 s, and a MIPS does 1 MI/s. Task a: 3 s for its input, 100 × 4 / 2 s, 3 s
/// for its outputs. Then tasks b and c begin. Task c takes 2 + 800 + 1 s, and b ends before. Task
/// d: 5 + 100 + 6 s.
#[test]
fn tasks_of_files_move_their_data_and_take_their_recorded_times() {
    let text = world("count = 1\nfiles = [\"diamond.json\"]\nrecorded-mips = 4", "workflow");
    let folder = Folder::with(&[("world.toml", &text), ("diamond.json", DIAMOND)]);
    assert!(run(&folder).starts_with("exit code: 0\n"));
    let names = ["tasks", "complete", "makespan", "work", "critical_path", "data", "attempts"];
    let found = columns(&folder.read("out/workflows.csv"), &names);
    // 206 + 803 + 111 s; the data are the inputs, 11 MB, and the outputs, 14 MB.
    assert_eq!(found, [["4", "1", "1120.0", "3000.0", "2200.0", "25000000", "4"]]);
    let ratio = columns(&folder.read("out/workflows.csv"), &["schedule_length_ratio"]);
    assert_eq!(ratio[0][0].parse::<f64>(), Ok(1120.0 / (2200.0 / 2.0)));
    let tasks = columns(&folder.read("out/jobs.csv"), &["workflow", "task", "execution_time"]);
    assert_eq!(
        tasks,
        [["0", "0", "203.0"], ["0", "1", "404.0"], ["0", "2", "801.0"], ["0", "3", "106.0"]]
    );
}

/// Task b is not on the path: task d waited for task c.
#[test]
fn the_critical_path_as_it_was_is_told() {
    let text = world("count = 1\nfiles = [\"diamond.json\"]\nrecorded-mips = 4", "workflow");
    let folder = Folder::with(&[("world.toml", &text), ("diamond.json", DIAMOND)]);
    assert!(run(&folder).starts_with("exit code: 0\n"));
    let told = |job: &str| {
        let shown = folder.haggle(&["explain", "out", job]);
        let from = shown.find("The way to it").expect("a way");
        shown[from..].replace("\n----- stderr -----\n", "")
    };
    insta::assert_snapshot!(told("flows!4"), @"
    The way to it, task 3 of workflow 0 of flows: each task waited for the one above it, the last of its parents to be done.

      task  job      may start, s  waiting, s  data, s  computing, s  done, s
         0  flows!1         63378           0        6           200    63584
         2  flows!3         63584           0        3           800    64387
         3  flows!4         64387           0       11           100    64498
       all                                  0       20          1100

    It was the last task of the workflow: this is the actual critical path.
    ");
    insta::assert_snapshot!(told("flows!2"), @"
    The way to it, task 1 of workflow 0 of flows: each task waited for the one above it, the last of its parents to be done.

      task  job      may start, s  waiting, s  data, s  computing, s  done, s
         0  flows!1         63378           0        6           200    63584
         1  flows!2         63584           0        5           400    63989
       all                                  0       11           600

    The workflow was done at 64498 s, by task 3; the explanation of flows!4 has its actual critical path.
    ");
}

/// A parent set stays unchanged if one of its tasks runs while another still waits for its own
/// parent.
#[test]
fn sets_whose_tasks_are_not_ready_together_can_be_balanced() {
    let progress = "progress = { estimates = \"fluctuating\" }";
    for policy in ["workflow", "balanced-workflow", "rescheduling", "fcfs"] {
        let text = world(&format!("count = 3\nfiles = [\"uneven.dax\"]\n{progress}"), policy);
        let folder = Folder::with(&[("world.toml", &text), ("uneven.dax", UNEVEN)]);
        let shown = run(&folder);
        assert!(shown.starts_with("exit code: 0\n"), "{policy}: {shown}");
        let done = columns(&folder.read("out/workflows.csv"), &["tasks_done"]);
        assert_eq!(done, [["5"], ["5"], ["5"]], "{policy}");
    }
}

#[test]
fn every_shape_runs_to_its_end_under_every_driver() {
    for shape in WorkflowShape::ALL.map(WorkflowShape::name) {
        let flows = format!("count = 2\nshape = \"{shape}\"\ntasks = 25\nrecorded-mips = 0.1");
        let folder = Folder::with(&[("world.toml", &world(&flows, "balanced-workflow"))]);
        let shown = run(&folder);
        assert!(shown.starts_with("exit code: 0\n"), "{shape}: {shown}");
        let complete = columns(&folder.read("out/workflows.csv"), &["complete"]);
        assert_eq!(complete, [["1"], ["1"]], "{shape}");
        let verified = folder.haggle(&["verify", "world.toml"]);
        assert!(verified.starts_with("exit code: 0\n"), "{shape}: {verified}");
    }
}

#[test]
fn what_is_no_workflow_is_refused_before_the_run() {
    let cycle = DIAMOND.replace("\"parents\": []", "\"parents\": [\"d\"]");
    let files =
        [("cycle.json", cycle.as_str()), ("log.swf", "; MaxProcs: 8\n"), ("good.json", DIAMOND)];
    let shown = |text: &str| {
        let all = [&[("world.toml", text)][..], &files[..]].concat();
        Folder::with(&all).haggle(&["validate", "world.toml"])
    };
    let help = "`haggle workflow inspect` reads the same files";
    for (flows, problems, said) in [
        (
            "count = 1\nfiles = [\"none.json\", \"cycle.json\", \"log.swf\"]",
            3,
            &[
                "`none.json` is not there",
                "cycle: \"a\" -> \"b\" -> \"d\" -> \"a\"",
                "expected WfFormat",
                help,
            ][..],
        ),
        ("count = 1\nfiles = []", 1, &["`files` has 0 elements"]),
        ("count = 1", 1, &["neither `width` nor `shape` nor `files`"]),
        ("count = 1\nwidth = 3\nshape = \"montage\"", 1, &["has both `width` and `shape`"]),
        ("count = 1\nwidth = 3", 1, &["the length of a task is missing", "add `work = \"1h\"`"]),
        ("count = 1\nshape = \"montage\"", 1, &["add `tasks = 50`"]),
        (
            "count = 1\nshape = \"montage\"\ntasks = 14",
            1,
            &["shape `montage` has at least 15 tasks"],
        ),
        ("count = 1\nshape = \"montaeg\"\ntasks = 15", 1, &["did you mean \"montage\"?"]),
        (
            "count = 1\nfiles = [\"good.json\"]\ntasks = 15\nwork = \"1h\"",
            2,
            &[
                "`tasks` goes with `shape`, not with `files`",
                "`work` goes with `width`, not with `files`",
            ],
        ),
        (
            "count = 1\nwidth = 3\nwork = \"1h\"\nrecorded-mips = 2",
            1,
            &["`recorded-mips` goes with `shape` or `files`, not with `width`"],
        ),
        (
            "count = 1\nwidth = 3\nwork = \"1h\"\nprogress = { estimates = \"over\", amplitude = 0.5 }",
            1,
            &[
                "the largest estimate is at least the length, and 0.5 lengths are less",
                "write 1 or more, or set `amplitude-of = \"error\"`",
            ],
        ),
        (
            "count = 1\nwidth = 3\nwork = \"1h\"\nprogress = { estimates = \"under\", amplitude-of = \"error\" }",
            1,
            &["no estimate is too large, and none swings"],
        ),
    ] {
        let shown = shown(&world(flows, "workflow"));
        let count = if problems == 1 { "1 problem\n" } else { &format!("{problems} problems\n") };
        assert!(shown.starts_with("exit code: 3\n") && shown.contains(count), "{shown}");
        said.iter().for_each(|text| assert!(shown.contains(text), "{text}: {shown}"));
    }
    let twice = "\n[[user]]\nname = \"others\"\nworkload = \"flows\"\nsubmits-to = \"grid\"\n";
    let twice = shown(&(world("count = 1\nfiles = [\"good.json\"]", "workflow") + twice));
    assert!(twice.contains("the workflows of \"flows\" are submitted twice"), "{twice}");
    let merger =
        |name: &str, of: &str| format!("\n[[workload]]\nname = \"{name}\"\nmerge = [\"{of}\"]\n");
    let merged = [merger("once", "flows"), merger("again", "once")].concat();
    let user = "\n[[user]]\nname = \"others\"\nworkload = \"again\"\nsubmits-to = \"grid\"\n";
    let good = world("count = 1\nfiles = [\"good.json\"]", "workflow");
    let twice = shown(&format!("{good}{merged}{user}"));
    assert!(twice.contains("the workflows of \"flows\" are submitted twice"), "{twice}");
    let text = world("count = 1\nfiles = [\"good.json\"]", "workflow")
        .replace("model = \"workflows\"", "model = \"workflows\"\ndata = { input = \"1 MB\" }");
    assert!(shown(&text).contains("the workflow of a task gives its input"));
}

/// On one resource, task c holds the slot for 802 of the 1207 s between the earliest start of b and
/// its end.
#[test]
fn what_tasks_wait_for_a_resource_is_summed_up() {
    let text = world("count = 1\nfiles = [\"diamond.json\"]\nrecorded-mips = 4", "workflow");
    let text = text.replace("resources = 2", "resources = 1");
    let folder = Folder::with(&[("world.toml", &text), ("diamond.json", DIAMOND)]);
    let shown = run(&folder);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let summary = folder.summary("out");
    let waiting = summary["grid"]["workflows"]["waiting_percent"].as_f64().expect("a number");
    let lasted = [206.0, 803.0, 1207.0, 111.0].iter().sum::<f64>();
    assert!((waiting - 100.0 * 802.0 / lasted).abs() < 1e-6, "{waiting}");
}

/// A static schedule that is impossible, and keys that it does not need, are refused with a remedy.
#[test]
fn what_static_schedules_do_not_need_is_refused() {
    let shown = |text: &str| {
        let folder = Folder::with(&[("world.toml", text), ("diamond.json", DIAMOND)]);
        folder.haggle(&["validate", "world.toml"])
    };
    let flows = "count = 1\nfiles = [\"diamond.json\"]";
    let by = "static-workflow\", algorithm = \"cpop";
    let good = world(flows, by).replace("slots = 1\n", "");
    assert!(shown(&good).starts_with("exit code: 0\n"), "{}", shown(&good));
    let silent =
        world(&format!("{flows}\nprogress = {{ a-priori = false, estimates = \"over\" }}"), by);
    let jobs = good.replace(
        "model = \"workflows\"",
        "jobs = [{ submit = \"0s\", processors = 1, run = \"1h\" }]",
    );
    let jobs = jobs.replace(&format!("[workload.workflows]\n{flows}"), "");
    let copied = good.replace("[[grid.site]]", "replicas = { max = 2 }\n\n[[grid.site]]");
    for (text, said) in [
        (&silent, "static schedules are made from task lengths that users state in advance"),
        (&silent, "remove it, or choose a policy that decides in rounds"),
        (&jobs, "no workload of this grid has any"),
        (&jobs, "add a workload with `model = \"workflows\"`"),
        (&copied, "[grid] has no key `replicas`"),
        (&world(flows, "workflow\", outages = \"wait"), "it is a key of \"static-workflow\""),
        (&world(flows, "workflow\", algorithm = \"heft"), "it is a key of \"static-workflow\""),
    ] {
        let shown = shown(text);
        assert!(shown.starts_with("exit code: 3\n") && shown.contains("1 problem\n"), "{shown}");
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let idle = good.replace("mips = 2", "mips = 2\nslots = 2");
    let warned = shown(&idle.replace("algorithm", "outages = \"replan\", algorithm"));
    for text in
        ["under this policy a resource has one task at a time", "none of its resources fails"]
    {
        assert!(warned.starts_with("exit code: 0\n") && warned.contains(text), "{text}: {warned}");
    }
}

/// The example of `tasks_of_files_move_their_data_and_take_their_recorded_times`. With one task at
/// a time, b and c run in parallel. So all times are equal to those of that test, under every
/// algorithm that does not put both on one resource.
#[test]
fn every_static_schedule_of_a_scenario_is_carried_out_under_every_driver() {
    for by in StaticAlgorithm::ALL.map(StaticAlgorithm::name) {
        let policy = format!("static-workflow\", algorithm = \"{by}");
        let text = world("count = 1\nfiles = [\"diamond.json\"]\nrecorded-mips = 4", &policy);
        let text = text.replace("slots = 1\n", "");
        let folder = Folder::with(&[("world.toml", &text), ("diamond.json", DIAMOND)]);
        assert!(run(&folder).starts_with("exit code: 0\n"), "{by}");
        let found = columns(&folder.read("out/workflows.csv"), &["makespan"]);
        if by != "random" {
            assert_eq!(found, [["1120.0"]], "{by}");
        }
        let verified = folder.haggle(&["verify", "world.toml"]);
        assert!(verified.starts_with("exit code: 0\n"), "{by}: {verified}");
    }
}
