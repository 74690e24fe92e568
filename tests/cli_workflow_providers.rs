//! Workflows whose tasks providers run.

use crate::command::Folder;

/// A root from which two tasks read, and a task that reads from both; the second needs two
/// processors.
const DIAMOND: &str = r#"{
  "name": "diamond", "schemaVersion": "1.4",
  "workflow": {
    "tasks": [
      {"name": "a", "type": "compute", "runtimeInSeconds": 100, "parents": [],
       "files": [{"link": "input", "name": "raw", "sizeInBytes": 3000000},
                 {"link": "output", "name": "one", "sizeInBytes": 1000000},
                 {"link": "output", "name": "two", "sizeInBytes": 2000000}]},
      {"name": "b", "type": "compute", "runtimeInSeconds": 200, "cores": 2, "parents": ["a"],
       "files": [{"link": "input", "name": "one", "sizeInBytes": 1000000},
                 {"link": "output", "name": "three", "sizeInBytes": 4000000}]},
      {"name": "c", "type": "compute", "runtimeInSeconds": 400, "cores": 4, "parents": ["a"],
       "files": [{"link": "input", "name": "two", "sizeInBytes": 2000000},
                 {"link": "output", "name": "four", "sizeInBytes": 1000000}]},
      {"name": "d", "type": "compute", "runtimeInSeconds": 50, "parents": ["b", "c"],
       "files": [{"link": "input", "name": "three", "sizeInBytes": 4000000},
                 {"link": "input", "name": "four", "sizeInBytes": 1000000},
                 {"link": "output", "name": "end", "sizeInBytes": 6000000}]}
    ]
  }
}"#;

/// Two providers of four processors in turn, 1 s and 8 Mbit/s away from all others.
fn world(workflows: &str, more: &str) -> String {
    format!(
        r#"
[network]
latency = "1s"
bandwidth = "8 Mbit/s"

[[workload]]
name = "flows"
model = "workflows"

[workload.workflows]
{workflows}

[[user]]
name = "users"
workload = "flows"
submits-to = "broker"

[[metascheduler]]
name = "broker"
placement = "round-robin"

[[provider]]
name = "north"
processors = 4

[[provider]]
name = "south"
processors = 4

[results]
format = "csv"
{more}
"#
    )
}

fn run(folder: &Folder) -> String {
    folder.haggle(&["run", "world.toml", "-o", "out", "--check", "--quiet", "--no-figures"])
}

/// Cells of some columns, row by row; times since the submission of the only workflow.
fn columns(text: &str, names: &[&str], since: f64) -> Vec<Vec<String>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let place = |name: &&str| header.iter().position(|it| it == name).expect("a column");
    let places: Vec<(usize, bool)> =
        names.iter().map(|name| (place(name), name.ends_with("_time"))).collect();
    let cells = |line: &str| -> Vec<String> {
        let cells: Vec<&str> = line.split(',').collect();
        let shown = |&(place, is_time): &(usize, bool)| match cells[place].parse::<f64>() {
            Ok(time) if is_time => format!("{}", ((time - since) * 1e6).round() / 1e6),
            _ => cells[place].to_owned(),
        };
        places.iter().map(shown).collect()
    };
    lines.map(cells).collect()
}

/// By hand: 1 MB takes 1 s after the latency of 1 s; a message takes 1 s. Task a: 2 s until it is
/// accepted, 4 s for its input, 1 s for the report, 100 s. Its user is notified of its end at 108
/// s. Task b: 2 s, 2 s for 1 MB, and 1 s. Task c runs at the provider of its data. Task d runs at
/// the provider of b and needs 1 MB from c, whose end its user learns at 510 s.
#[test]
fn tasks_run_when_their_data_have_come() {
    let text = world("count = 1\nfiles = [\"diamond.json\"]", "");
    let folder = Folder::with(&[("world.toml", &text), ("diamond.json", DIAMOND)]);
    assert!(run(&folder).starts_with("exit code: 0\n"));
    let flows = folder.read("out/workflows.csv");
    let since = &columns(&flows, &["submission_time"], 0.0)[0][0];
    let since = since.parse::<f64>().expect("a time");
    let names = ["task", "provider", "requested_number_of_resources", "ready_time"];
    let names = [&names[..], &["queued_time", "starting_time", "finish_time"]].concat();
    let mut jobs = columns(&folder.read("out/jobs.csv"), &names, since);
    jobs.sort();
    let expected = [
        ["0", "north", "1", "", "7", "7", "107"],
        ["1", "south", "2", "108", "113", "113", "313"],
        ["2", "north", "4", "108", "109", "109", "509"],
        ["3", "south", "1", "510", "515", "515", "565"],
    ];
    assert_eq!(jobs, expected);
    let names = ["made_by", "bytes", "sender", "receiver", "sent_time", "arrival_time"];
    let inputs = columns(&folder.read("out/inputs.csv"), &names, since);
    let expected = [
        ["", "3000000", "broker", "north", "2", "6"],
        ["0", "2000000", "north", "north", "", ""],
        ["0", "1000000", "north", "south", "110", "112"],
        ["1", "4000000", "south", "south", "", ""],
        ["2", "1000000", "north", "south", "512", "514"],
    ];
    assert_eq!(inputs, expected);
    let names = ["tasks_done", "starting_time", "finish_time", "critical_path", "data", "attempts"];
    let found = columns(&flows, &names, since);
    assert_eq!(found, [["4", "7", "565", "550.0", "5000000", "4"]]);
    let told = folder.haggle(&["explain", "out", "3"]);
    let way = [
        "data, s",
        "It was the last task of the workflow: this is the actual critical path.",
        "before its parents were done",
    ];
    for text in way {
        assert!(told.contains(text), "{text}\n{told}");
    }
}

/// By hand as above, d waits for c, and c for a. Each of them and the key of the legend has an
/// edge, 4 pixels wide, which is doubled in an SVG.
#[test]
fn a_timeline_marks_the_critical_path_and_begins_with_the_workflow() {
    let text = world("count = 1\nfiles = [\"diamond.json\"]", "");
    let folder = Folder::with(&[("world.toml", &text), ("diamond.json", DIAMOND)]);
    assert!(run(&folder).starts_with("exit code: 0\n"));
    let plot = ["plot", "out", "--kind", "workflow-timeline", "-o", "flow.svg"];
    let shown = folder.haggle(&plot);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let drawn = folder.read("flow.svg");
    assert_eq!(drawn.matches("stroke-width=\"8\"").count(), 4, "{drawn}");
    for text in ["critical path\n", "time since the workflow was submitted, s\n", "\n0\n"] {
        assert!(drawn.contains(text), "{text:?} is not in {drawn}");
    }
}

/// Two tasks that read from the storage, and one that reads from both.
const PAIR: &str = r#"{
  "name": "pair", "schemaVersion": "1.4",
  "workflow": {
    "tasks": [
      {"name": "a", "type": "compute", "runtimeInSeconds": 100, "parents": [],
       "files": [{"link": "input", "name": "raw", "sizeInBytes": 2000000},
                 {"link": "output", "name": "one", "sizeInBytes": 1000000}]},
      {"name": "b", "type": "compute", "runtimeInSeconds": 200, "parents": [],
       "files": [{"link": "input", "name": "rare", "sizeInBytes": 4000000},
                 {"link": "output", "name": "two", "sizeInBytes": 1000000}]},
      {"name": "c", "type": "compute", "runtimeInSeconds": 50, "parents": ["a", "b"],
       "files": [{"link": "input", "name": "one", "sizeInBytes": 1000000},
                 {"link": "input", "name": "two", "sizeInBytes": 1000000}]}
    ]
  }
}"#;

/// By hand, 1 MB takes 1 s after the latency of 1 s. Tasks a and b are accepted by a provider each
/// at 2 s, and their inputs leave by the access link of the broker. Each input has half of the link
/// until 7 s. At that time the input of a has arrived, and that of b has 2 MB left. Alone, they
/// would arrive at 5 s and at 7 s. The input of c shares its link with no other.
#[test]
fn data_that_share_a_link_come_later() {
    let text = world("count = 1\nfiles = [\"pair.json\"]", "");
    for (sharing, arrivals) in [("literal", ["7", "9"]), ("max-min", ["7", "9"]), ("", ["5", "7"])]
    {
        let key = format!("[network]\nsharing = \"{sharing}\"");
        let text =
            if sharing.is_empty() { text.clone() } else { text.replacen("[network]", &key, 1) };
        let folder = Folder::with(&[("world.toml", &text), ("pair.json", PAIR)]);
        let ran = run(&folder);
        assert!(ran.starts_with("exit code: 0\n"), "{ran}");
        let flows = folder.read("out/workflows.csv");
        let since = &columns(&flows, &["submission_time"], 0.0)[0][0];
        let since = since.parse::<f64>().expect("a time");
        let names = ["made_by", "bytes", "sender", "receiver", "sent_time", "arrival_time"];
        let inputs = columns(&folder.read("out/inputs.csv"), &names, since);
        let [a, b] = arrivals;
        // Task b ends 200 s after its provider learned that its data had arrived. Its user learns
        // the end 1 s later. Task c is accepted 2 s later.
        let arrived = b.parse::<i64>().expect("seconds");
        let sent = arrived + 204;
        let (sent, came) = (sent.to_string(), (sent + 2).to_string());
        let expected = [
            ["", "2000000", "broker", "north", "2", a],
            ["", "4000000", "broker", "south", "2", b],
            ["0", "1000000", "north", "north", "", ""],
            ["1", "1000000", "south", "north", &sent, &came],
        ];
        assert_eq!(inputs, expected);
        let told = folder.haggle(&["explain", "out", "1"]);
        let transfers = told.lines().find(|line| line.contains("data transfers")).expect("a part");
        let took = (arrived - 2).to_string();
        assert!(transfers.split_whitespace().any(|cell| cell == took), "{told}");
    }
}

/// Twenty tasks of 100 s, each with an input of 1 MB.
fn fan() -> String {
    let task = |number: usize| {
        format!(
            r#"{{"name": "t{number}", "type": "compute", "runtimeInSeconds": 100, "parents": [],
                "files": [{{"link": "input", "name": "in{number}", "sizeInBytes": 1000000}}]}}"#
        )
    };
    let tasks = Vec::from_iter((0..20).map(task)).join(",");
    format!(r#"{{"name": "fan", "schemaVersion": "1.4", "workflow": {{"tasks": [{tasks}]}}}}"#)
}

/// A latency of one second does not double the makespan. Each of two providers of one processor has
/// ten tasks, and the last ends after 1 + 10 x 100 s. The network is reported if it matters: 1 s of
/// the critical path of 1001 s.
#[test]
fn tasks_on_their_way_are_placed_as_if_they_were_there() {
    let text = world("count = 1\nfiles = [\"fan.json\"]", "");
    let text = text.replace("latency = \"1s\"\n", "").replace("processors = 4", "processors = 1");
    for (placement, more) in [
        ("minimum-completion-time", ""),
        ("least-loaded", "disclosure = \"load\"\n"),
        ("next-fit", ""),
        ("round-robin", ""),
    ] {
        let text = text
            .replace("\"round-robin\"", &format!("\"{placement}\""))
            .replace("processors = 1\n", &format!("processors = 1\n{more}"));
        let folder = Folder::with(&[("world.toml", &text), ("fan.json", &fan())]);
        let ran = run(&folder);
        assert!(ran.contains("turnaround time 1001.0 s"), "{placement}: {ran}");
        assert!(
            ran.contains("  network: 8 Mbit/s; data took 0.10 % of the critical paths\n"),
            "{ran}"
        );
        let jobs = columns(&folder.read("out/jobs.csv"), &["provider"], 0.0);
        assert_eq!(jobs.iter().filter(|row| row[0] == "north").count(), 10, "{placement}");
        let verified = folder.haggle(&["verify", "world.toml"]);
        assert!(verified.starts_with("exit code: 0\n"), "{verified}");
    }
    // Without a key, the bandwidth is a default, and the output says so.
    let text = text.replace("bandwidth = \"8 Mbit/s\"\n", "");
    let folder = Folder::with(&[("world.toml", &text), ("fan.json", &fan())]);
    let ran = run(&folder);
    assert!(ran.contains("  network: 1 Gbit/s (default); data took "), "{ran}");
}

/// Metaschedulers may be down while data arrive, and tasks may be withdrawn while their data are in
/// transit. The drivers agree, and so do the tables.
#[test]
fn shared_links_meet_crashes_failures_and_impatience() {
    let more = "[[failures]]\nof = [\"north\"]\nlaw = { up = { law = \"exponential\", mean = \"2h\" }, down = { law = \"exponential\", mean = \"20min\" } }\n\n\
                [[failures]]\nactors = [\"broker\"]\nlaw = { up = { law = \"exponential\", mean = \"5min\" }, down = { law = \"exponential\", mean = \"1min\" } }\n";
    let text = world("count = 4\nshape = \"montage\"\ntasks = 25\nrecorded-mips = 100", more);
    let text =
        text.replacen("[network]", "[network]\nsharing = \"max-min\"\ntransport = \"reliable\"", 1);
    let text =
        text.replacen("submits-to = \"broker\"", "submits-to = \"broker\"\npatience = \"1min\"", 1);
    let folder = Folder::with(&[("world.toml", &text)]);
    let verified = folder.haggle(&["verify", "world.toml"]);
    assert!(verified.starts_with("exit code: 0\n"), "{verified}");
    let ran = run(&folder);
    assert!(ran.starts_with("exit code: 0\n"), "{ran}");
    let inputs = columns(&folder.read("out/inputs.csv"), &["sent_time", "arrival_time"], 0.0);
    assert!(inputs.iter().any(|row| !row[0].is_empty() && row[1].is_empty()), "{inputs:?}");
}

/// The same on another driver, and in a separate run.
#[test]
fn drivers_agree_on_workflows_that_fail() {
    let failures = "[[failures]]\nlaw = { up = { law = \"exponential\", mean = \"2h\" }, down = { law = \"exponential\", mean = \"20min\" } }\n";
    let text = world(
        "count = 4\nshape = \"montage\"\ntasks = 25\nrecorded-mips = 100\nprocessors-max = 4",
        failures,
    );
    let folder = Folder::with(&[("world.toml", &text)]);
    let verified = folder.haggle(&["verify", "world.toml"]);
    assert!(verified.starts_with("exit code: 0\n"), "{verified}");
    assert!(run(&folder).starts_with("exit code: 0\n"));
    let done = columns(&folder.read("out/workflows.csv"), &["complete", "failures"], 0.0);
    assert!(done.iter().all(|row| row[0] == "1"), "{done:?}");
    assert!(done.iter().any(|row| row[1] != "0"), "{done:?}");
}

/// A provider gives failing jobs up; no task that needs them waits for ever.
#[test]
fn what_needs_a_task_that_fails_is_rejected_and_explained() {
    let down = "[[failures]]\nof = [\"north\"]\noutages = [[\"1d\", \"25h\"]]\n";
    let text = world("count = 30\nfiles = [\"diamond.json\"]\ndays = 2\nrecorded-mips = 60", down);
    let text = text.replacen("name = \"north\"\n", "name = \"north\"\non-failure = \"fail\"\n", 1);
    let folder = Folder::with(&[("world.toml", &text), ("diamond.json", DIAMOND)]);
    let ran = run(&folder);
    assert!(ran.starts_with("exit code: 0\n"), "{ran}");
    let jobs = columns(&folder.read("out/jobs.csv"), &["job", "outcome", "refusal"], 0.0);
    let barred = jobs.iter().find(|row| row[2] == "parent_failed").expect("one that is barred");
    assert!(jobs.iter().any(|row| row[1] == "failed"), "{jobs:?}");
    let told = folder.haggle(&["explain", "out", &barred[0]]);
    assert!(told.contains("an earlier task of its workflow was not completed: task"), "{told}");
}

#[test]
fn what_cannot_work_is_refused_with_a_way_out() {
    let valid = world("count = 2\nwidth = 3\nwork = \"1h\"", "");
    let folder = Folder::with(&[("diamond.json", DIAMOND)]);
    let told = |text: &str| {
        std::fs::write(folder.path().join("world.toml"), text).expect("a file");
        folder.haggle(&["validate", "world.toml"])
    };
    assert!(told(&valid).starts_with("exit code: 0\n"), "{}", told(&valid));
    let placement = "placement = \"round-robin\"";
    let refused = [
        (
            placement,
            "coallocation = { policy = \"none\" }",
            "\"broker\" takes no tasks of workflows",
        ),
        (
            placement,
            "reallocation = { algorithm = \"regular\" }",
            "\"broker\" takes no tasks of workflows",
        ),
        (
            "width = 3",
            "width = 3\nprogress = { estimates = \"over\" }",
            "do not report their progress",
        ),
        (
            "width = 3",
            "width = 3\nprocessors = 4\nprocessors-max = 2",
            "is less than `processors`, 4",
        ),
        (
            "width = 3\nwork = \"1h\"",
            "files = [\"diamond.json\"]\nprocessors = 4",
            "`processors` goes with `width` or `shape`, not with `files`",
        ),
    ];
    for (from, to, problem) in refused {
        let told = told(&valid.replacen(from, to, 1));
        assert!(told.contains(problem) && told.starts_with("exit code: 3\n"), "{problem}\n{told}");
    }
    // Tasks without data cause no transfers.
    assert!(told(&valid).contains("`bandwidth` of the network has no effect"), "{}", told(&valid));
    let shared = valid.replacen("[network]", "[network]\nsharing = \"literal\"", 1);
    assert!(told(&shared).contains("`sharing` of the network has no effect"), "{}", told(&shared));
    let crash = "[[failures]]\nactors = [\"users\"]\noutages = [[\"1h\", \"2h\"]]\n";
    let told = told(&format!("{valid}\n{crash}"));
    assert!(told.contains("are lost, and jobs with them"), "{told}");
}
