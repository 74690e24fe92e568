//! Settings without effect cause warnings: at their place, or after the run.

use crate::command::{Folder, VALID, stderr_of, unwrapped};

/// Three jobs of which the second waits for the first.
const QUEUE: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 4, run = "60s", requested = "100s" },
    { submit = "10s", processors = 4, run = "30s", requested = "50s" },
]

[[provider]]
name = "north"
processors = 4
max-attempts = 3

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

fn digest(folder: &Folder, name: &str) -> serde_json::Value {
    folder.json(&format!("{name}/provenance.json"))["digest"].clone()
}

fn warnings(folder: &Folder, name: &str) -> Vec<String> {
    let summary = folder.summary(name);
    let texts = summary["warnings"].as_array().expect("a list");
    texts.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn a_key_that_nothing_reads_is_shown_where_it_stands() {
    let plain = QUEUE.replace("max-attempts = 3\n", "");
    let folder = Folder::with(&[("vain.toml", QUEUE), ("plain.toml", &plain)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "vain.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
      ⚠ `max-attempts` of provider "north" has no effect: no job is started again here
        ╭─[vain.toml:12:16]
     12 │ max-attempts = 3
        ·                ┬
        ·                ╰── not used
        ╰────
      help: remove it, or add [[failures]] of this provider that jobs survive

    vain.toml: 1 warning
    vain.toml: valid, 1 provider, 1 workload, 1 run
    "#);
    let text = "`max-attempts` of provider \"north\" has no effect: no job is started again here";
    let shown = folder.haggle(&["run", "vain.toml", "-o", "vain"]);
    assert!(shown.starts_with("exit code: 0") && stderr_of(&shown).contains(text), "{shown}");
    let shown = folder.haggle(&["verify", "vain.toml"]);
    assert!(stderr_of(&shown).contains(text), "{shown}");
    assert_eq!(warnings(&folder, "vain"), [text]);
    folder.haggle(&["run", "plain.toml", "-o", "plain"]);
    assert_eq!(digest(&folder, "vain"), digest(&folder, "plain"), "warnings change nothing");
    assert!(warnings(&folder, "plain").is_empty());
    let shown = folder.haggle(&["run", "vain.toml", "-o", "quiet", "--quiet"]);
    assert_eq!(stderr_of(&shown), "");
    assert_eq!(warnings(&folder, "quiet"), [text]);
    // The scenario of a run can be run again, with the same warnings.
    folder.haggle(&["run", "vain/scenario.toml", "-o", "again"]);
    assert_eq!(warnings(&folder, "again"), [text]);
}

#[test]
fn a_sweep_warns_only_about_what_no_variant_reads() {
    let broker = QUEUE.replace("max-attempts = 3", "disclosure = \"load\"").replace(
        "submits-to = \"north\"",
        "submits-to = \"broker\"\n[[metascheduler]]\nname = \"broker\"",
    );
    let axis = |values: &str| {
        format!(
            "{broker}\n[sweep]\nreplications = 2\n[[sweep.axis]]\n\
             path = \"metascheduler.broker.placement\"\nvalues = [{values}]\n"
        )
    };
    let some = axis("\"round-robin\", \"least-loaded\"");
    let none = axis("\"round-robin\", \"minimum-completion-time\"");
    let folder = Folder::with(&[("some.toml", &some), ("none.toml", &none)]);
    let shown = folder.haggle(&["sweep", "some.toml", "-o", "some"]);
    let said = stderr_of(&shown);
    assert!(!said.contains("disclosure"), "{said}");
    assert!(said.contains("`replications` of the sweep has no effect"), "{said}");
    assert!(
        said.contains("warning: the replications are copies of one run at 2 of 2 points"),
        "{said}"
    );
    let aggregate = folder.read("some/aggregate.csv");
    let rows: Vec<&str> = aggregate.lines().skip(1).collect();
    assert!(rows.iter().all(|row| row.contains(",0.0,,")), "no interval of copies: {aggregate}");
    let shown = folder.haggle(&["validate", "none.toml"]);
    assert!(stderr_of(&shown).contains("`disclosure` of provider \"north\""), "{shown}");
}

#[test]
fn an_order_by_keys_needs_keys() {
    let plain = QUEUE.replace("max-attempts = 3", "policy = { name = \"easy\", order = \"key\" }");
    let keyed = plain.replacen("run = \"60s\"", "run = \"60s\", key = 2", 1);
    let step = plain.replacen(
        "[[provider]]",
        "[[workload.step]]\nstep = \"key\"\nby = \"user\"\n\n[[provider]]",
        1,
    );
    let folder =
        Folder::with(&[("plain.toml", &plain), ("keyed.toml", &keyed), ("step.toml", &step)]);
    let said = |name| stderr_of(&folder.haggle(&["validate", name])).to_owned();
    let warned = "`order = \"key\"` of provider \"north\" has no effect: no job has a key";
    assert!(said("plain.toml").contains(warned), "{}", said("plain.toml"));
    for name in ["keyed.toml", "step.toml"] {
        assert!(!said(name).contains("has no effect"), "{}", said(name));
    }
}

#[test]
fn disclosure_that_nobody_asks_for_is_warned_about() {
    let scenario = |level: &str| {
        QUEUE.replace("max-attempts = 3", &format!("disclosure = \"{level}\"")).replace(
            "submits-to = \"north\"",
            "submits-to = \"broker\"\n[[metascheduler]]\nname = \"broker\"\n\
             placement = \"least-loaded\"",
        )
    };
    let (asked, unasked) = (scenario("load"), scenario("queue"));
    let folder = Folder::with(&[("asked.toml", &asked), ("unasked.toml", &unasked)]);
    let shown = folder.haggle(&["validate", "asked.toml"]);
    assert_eq!(stderr_of(&shown), "asked.toml: valid, 1 provider, 1 workload, 1 run\n");
    let shown = folder.haggle(&["validate", "unasked.toml"]);
    let text =
        "`disclosure` of provider \"north\" has no effect: it may disclose \"queue\", and its";
    assert!(stderr_of(&shown).contains(text), "{shown}");
}

#[test]
fn steps_fields_and_failures_without_effect_are_told_after_the_run() {
    let log = "; MaxProcs: 4\n1 0 -1 60 4 -1 -1 4 90 -1 1 1 1 1 1 1 -1 -1\n\
               2 5 -1 20 4 -1 -1 4 30 -1 1 1 1 1 1 1 1 10\n";
    let scenario = "[[workload]]\nname = \"log\"\nlog = \"log.swf\"\n\
                    [[workload.step]]\nkind = \"filter\"\nprocessors-max = 4\n\
                    [[provider]]\nname = \"north\"\nprocessors = 4\n\
                    [[user]]\nname = \"users\"\nworkload = \"log\"\nsubmits-to = \"north\"\n\
                    [[failures]]\noutages = [[\"10d\", \"11d\"]]\n";
    let folder = Folder::with(&[("log.swf", log), ("log.toml", scenario)]);
    let told = [
        "step 1 (\"filter\") of workload \"log\" has no effect: it changed none of the jobs",
        "workload \"log\": 1 job names a preceding job (field 17 of the log), which is not read: it \
         arrives when it did in the log, unless a step \"dependencies\" reads it",
        "failures have no effect: no node was down in the time of the run",
    ];
    let shown = folder.haggle(&["run", "log.toml", "-o", "out"]);
    assert_eq!(warnings(&folder, "out"), told, "{shown}");
    for text in told {
        assert!(stderr_of(&shown).contains(&format!("warning: {text}\n")), "{shown}");
    }
    let shown = folder.haggle(&["replay", "log.swf", "--policy", "easy"]);
    assert!(stderr_of(&shown).contains("1 job names a preceding job"), "{shown}");
    let shown =
        folder.haggle(&["replay", "log.swf", "--policy", "easy", "--compression", "replan"]);
    assert!(stderr_of(&shown).contains("`--compression` has no effect"), "{shown}");
    let shown = folder.haggle(&["workload", "inspect", "log.swf"]);
    assert!(
        shown.contains("after a preceding job (fields 17 and 18), for the step `dependencies`"),
        "{shown}"
    );
}

#[test]
fn little_that_is_up_is_told_after_the_run() {
    let scenario = format!(
        "[scenario]\nhorizon = \"1000s\"\n{}[[failures]]\noutages = [[\"0s\", \"990s\"]]\n",
        QUEUE.replace("max-attempts = 3\n", "")
    );
    let folder = Folder::with(&[("down.toml", &scenario)]);
    folder.haggle(&["run", "down.toml", "-o", "out"]);
    let text = "failures leave little to run on: 1.00 % of the time, all nodes together, were up";
    assert_eq!(warnings(&folder, "out"), [text]);
}

/// A failure in the last instant of a run causes no downtime, but its work is lost.
#[test]
fn a_failure_that_ends_the_run_is_no_failure_of_nothing() {
    let failing = |outage: &str| {
        let north = "processors = 8\non-failure = \"fail\"\n";
        let text = VALID.replace("processors = 8\n", north);
        format!("{text}[[failures]]\noutages = [{outage}]\n")
    };
    let nothing = ["failures have no effect: no node was down in the time of the run"];
    for (outage, outcome, told) in [
        (r#"["60s", "70s"]"#, "1 failed", &[][..]),
        (r#"["79s", "90s"]"#, "1 failed", &[]),
        // Completions come before failures.
        (r#"["80s", "90s"]"#, "1 completed", &[]),
        (r#"["81s", "90s"]"#, "1 completed", &nothing),
    ] {
        let folder = Folder::with(&[("fails.toml", &failing(outage))]);
        let shown = folder.haggle(&["run", "fails.toml", "-o", "out", "--check"]);
        assert!(shown.contains(outcome), "{outage}: {shown}");
        assert_eq!(warnings(&folder, "out"), told, "{outage}");
    }
}

/// The start of each job, by the table.
fn starts(folder: &Folder, name: &str) -> Vec<String> {
    let table = folder.read(&format!("{name}/jobs.csv"));
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let of = |column: &str| header.iter().position(|it| *it == column).expect("a column");
    let (submit, start) = (of("submission_time"), of("starting_time"));
    let mut rows: Vec<(String, String)> =
        lines.map(|row| (row[submit].to_owned(), row[start].to_owned())).collect();
    rows.sort();
    rows.into_iter().map(|(_, start)| start).collect()
}

#[test]
fn no_job_starts_before_it_is_ready() {
    let jobs = "jobs = [\n\
                { submit = \"1s\", processors = 4, run = \"10s\", requested = \"10s\", ready = \"100s\" },\n\
                { submit = \"2s\", processors = 4, run = \"10s\", requested = \"10s\" },\n]";
    let user = "[[user]]\nname = \"users\"\nworkload = \"jobs\"\n";
    let results = "[results]\nformat = \"csv\"\n";
    let queue = |policy: &str| {
        format!(
            "[[workload]]\nname = \"jobs\"\n{jobs}\n{user}submits-to = \"north\"\n\
             patience = \"20s\"\n[[provider]]\nname = \"north\"\nprocessors = 4\n\
             policy = \"{policy}\"\n{results}"
        )
    };
    let bags = format!(
        "[[workload]]\nname = \"jobs\"\n{jobs}\n[[workload.step]]\nkind = \"bags\"\n\
         {user}submits-to = \"broker\"\n[[provider]]\nname = \"north\"\nprocessors = 4\n\
         policy = \"bags\"\n[[metascheduler]]\nname = \"broker\"\n\
         composition = \"offers-plb\"\n{results}"
    );
    let grid = format!(
        "[scenario]\nhorizon = \"1h\"\n[[workload]]\nname = \"jobs\"\n{jobs}\n\
         {user}submits-to = \"grid\"\n[grid]\npolicy = \"fjbcr\"\nperiod = \"0s\"\n\
         [[grid.site]]\nname = \"north\"\nresources = 1\n{results}"
    );
    let grid = grid.replace("processors = 4", "processors = 1");
    let policies = ["fcfs", "easy", "conservative", "edf", "bags", "reservations"].map(queue);
    for scenario in policies.iter().chain([&bags, &grid]) {
        let folder = Folder::with(&[("ready.toml", scenario)]);
        for driver in ["sequential", "actix"] {
            let shown = folder.haggle(&[
                "run",
                "ready.toml",
                "-o",
                driver,
                "--driver",
                driver,
                "--check",
                "--quiet",
            ]);
            assert!(shown.starts_with("exit code: 0"), "{shown}");
            assert_eq!(starts(&folder, driver), ["100.0", "2.0"], "{scenario}");
        }
        assert_eq!(digest(&folder, "sequential"), digest(&folder, "actix"));
    }
}

/// A job that its user still holds when the run stops is unfinished, on a grid as well.
#[test]
fn jobs_that_are_not_ready_when_the_run_stops_are_unfinished() {
    let jobs = "jobs = [{ submit = \"1s\", processors = 1, run = \"10s\", ready = \"100s\" }]";
    let user = "[[user]]\nname = \"users\"\nworkload = \"jobs\"\n";
    let queue = format!(
        "[scenario]\nhorizon = \"50s\"\n[[workload]]\nname = \"jobs\"\n{jobs}\n\
         {user}submits-to = \"north\"\n[[provider]]\nname = \"north\"\nprocessors = 4\n"
    );
    let grid = format!(
        "[scenario]\nhorizon = \"50s\"\n[[workload]]\nname = \"jobs\"\n{jobs}\n\
         {user}submits-to = \"grid\"\n[grid]\npolicy = \"fjbcr\"\n\
         [[grid.site]]\nname = \"north\"\nresources = 1\n"
    );
    for scenario in [queue, grid] {
        let folder = Folder::with(&[("ready.toml", &scenario)]);
        let shown = folder.haggle(&["run", "ready.toml", "-o", "out", "--check"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        assert!(shown.contains("1 still waiting"), "{shown}");
    }
}

/// The first line of each problem.
fn problems(scenario: &str) -> Vec<String> {
    let folder =
        Folder::with(&[("wrong.toml", scenario), ("log.dax", "<?xml version=\"1.0\"?>\n")]);
    std::fs::create_dir(folder.path().join("logs")).expect("a folder");
    let shown = folder.haggle(&["validate", "wrong.toml"]);
    let lines = stderr_of(&shown).lines();
    let said = lines.filter(|line| line.contains(" × ") || line.contains("help:"));
    said.map(|line| line.trim().trim_start_matches("× ").to_owned()).collect()
}

#[test]
fn common_mistakes_are_called_by_their_name() {
    let with = |from: &str, to: &str| problems(&VALID.replace(from, to));
    let slack = format!(
        "{VALID}\n[[workload]]\nname = \"late\"\nmerge = [\"jobs\"]\n\
         [[workload.step]]\nkind = \"deadlines\"\nslack = \"12h\"\n"
    );
    assert_eq!(
        problems(&slack),
        [
            "`slack` must be a table, not a string",
            "help: write `slack = { law = \"constant\", value = \"12h\" }`"
        ]
    );
    let jobs = VALID.lines().find(|line| line.starts_with("jobs = ")).expect("a list of jobs");
    let folder = with(jobs, "log = \"logs\"");
    assert_eq!(folder, ["log `logs` is a folder", "help: name a file in it"]);
    let user = with("submit = \"0s\"", "user = 4294967295, submit = \"0s\"");
    assert_eq!(user[0], "`user` is 4294967295, needs at most 2147483647");
    let set = problems(&format!("{VALID}\n[set]\n\"set.x\" = 1\n"));
    assert_eq!(set[0], "path \"set.x\" matches no key of the scenario");
    let figure = "\n[[figure]]\nkind = \"gantt\"\n\
                  [[sweep.axis]]\npath = \"figure.1.kind\"\nvalues = [\"lines\"]\n";
    let varied = problems(&format!("{VALID}{figure}"));
    assert_eq!(varied[0], "axis \"kind\" varies a figure, which all runs share");
    let twice = "\n[[workload]]\nname = \"b\"\nlog = \"$NO_SUCH_FOLDER/b.swf\"\n\
                 [[workload]]\nname = \"c\"\nlog = \"$NO_SUCH_FOLDER/c.swf\"\n";
    let unset = problems(&format!("{VALID}{twice}"));
    assert_eq!(unset.len(), 2, "one variable, one problem: {unset:?}");
    let failing = problems(&format!("{VALID}\n[[failures]]\nrecorded = \"x.tab\"\n"));
    assert_eq!(failing[1], "help: write a table with `log`, `format`");
}

#[test]
fn what_is_no_log_is_said_to_be_none() {
    let texts = [
        ("<?xml version=\"1.0\"?>\n<adag>\n", "XML, such as a DAX; `haggle workflow inspect`"),
        ("{\n \"jobs\": []\n}\n", "JSON; `haggle workflow inspect`"),
        ("[[workload]]\nname = \"a\"\n", "TOML or JSON; `haggle run`"),
        ("name = \"a\"\n", "TOML or JSON; `haggle run`"),
        ("JobID|User\n1|a\n", "output of sacct; the format `sacct` reads it"),
        ("job,user,submit\n1,a,b\n", "a table with named columns; write a line of 18 numbers"),
        (
            "# event_id\tcomponent_id\tnode_id\tplatform_id\tnode_name\tevent_type\n",
            "an event table of the Failure Trace Archive; `haggle failures inspect` reads it",
        ),
        (
            "0\t0\t1\t1\tn1\t0\t1000\t1500\tNULL\n",
            "an event table of the Failure Trace Archive; `haggle failures inspect` reads it",
        ),
        ("# a comment\n", "a format whose comments begin with #; comments of a log begin with `;`"),
    ];
    for (text, kind) in texts {
        let folder = Folder::with(&[("log", text)]);
        let shown = folder.haggle(&["replay", "log", "--policy", "easy"]);
        let said = "not a log in Standard Workload Format: this looks like";
        assert!(shown.starts_with("exit code: 3"), "{shown}");
        assert!(shown.contains(&format!("{said} {kind}")), "{shown}");
    }
}

#[test]
fn disclosures_are_listed_with_those_who_ask_for_them() {
    let folder = Folder::with(&[]);
    let listed = folder.haggle(&["list", "disclosures"]);
    let line = |level: &str| {
        let mut lines = listed.lines();
        lines.find(|line| line.trim_start().starts_with(level)).expect("a line for each level")
    };
    assert!(line("power").ends_with("composition offers-dplb"), "{listed}");
    assert!(
        line("load").ends_with("placement least-loaded; composition offers-dplb-v2"),
        "{listed}"
    );
    assert!(line("slots").ends_with("coallocation without a protocol; mapping slots"), "{listed}");
    assert!(line("offers").contains("; protocol two-phase, one-phase, "), "{listed}");
    assert!(line("queue").ends_with("none"), "{listed}");
}

#[test]
fn a_grid_has_an_order_of_events_of_its_own() {
    let scenario = "[scenario]\nevents-order = \"completions-first\"\n[[workload]]\nname = \"jobs\"\n\
                    jobs = [{ submit = \"1s\", processors = 1, run = \"10s\" }]\n\
                    [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"grid\"\n\
                    [grid]\npolicy = \"fjbcr\"\n[[grid.site]]\nname = \"north\"\nresources = 1\n";
    let said = problems(scenario);
    let text = "in a grid, ends come before arrivals and failures, and a round comes last";
    assert_eq!(said[0], text);
}

/// A job that goes through a broker to one of two providers, over a network that loses messages.
const NETWORK: &str = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 4, run = "60s", requested = "100s" }]

[[provider]]
name = "north"
processors = 4
disclosure = "load"

[[provider]]
name = "south"
processors = 4

[[metascheduler]]
name = "broker"
placement = "least-loaded"
providers = ["north"]

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"

[[network.link]]
between = ["broker", "north"]
latency = "2s"

[network]
jitter = "1s"
transport = "reliable"
"#;

#[test]
fn crashes_of_those_to_whom_no_job_comes_are_warned_about() {
    let used = NETWORK.replace("jitter", "retransmission-timeout = \"5s\"\njitter");
    let crash = |text: &str, of: &str| {
        format!("{text}\n[[failures]]\nactors = [{of}]\noutages = [[\"5s\", \"10s\"]]\n")
    };
    let vain = crash(&used, "\"broker\", \"south\", \"users\"");
    let folder = Folder::with(&[("vain.toml", &vain), ("used.toml", &crash(&used, "\"broker\""))]);
    let text = "crashing \"south\" has no effect: no job comes to it";
    let shown = folder.haggle(&["run", "vain.toml", "-o", "vain"]);
    assert!(stderr_of(&shown).contains(text), "{shown}");
    assert!(warnings(&folder, "vain").contains(&text.to_owned()), "{shown}");
    folder.haggle(&["run", "used.toml", "-o", "used"]);
    assert!(warnings(&folder, "used").iter().all(|it| !it.contains("crashing")));
}

#[test]
fn a_timeout_that_is_shorter_than_a_round_trip_is_warned_about() {
    let lossy =
        |timeout: &str| NETWORK.replace("jitter", &format!("loss = \"1%\"\n{timeout}jitter"));
    let timeout = "retransmission-timeout = \"4900ms\"\n";
    let enough = lossy("retransmission-timeout = \"5s\"\n");
    let folder = Folder::with(&[
        ("default.toml", &lossy("")),
        ("short.toml", &lossy(timeout)),
        ("enough.toml", &enough),
    ]);
    let said = |name: &str| stderr_of(&folder.haggle(&["validate", name])).to_owned();
    insta::assert_snapshot!(said("short.toml"), @r#"
      ⚠ `retransmission-timeout` is 4900ms, and a message between "broker" and "north" and its answer
      │ take 5s in the mean
        ╭─[short.toml:31:26]
     31 │ retransmission-timeout = "4900ms"
        ·                          ────┬───
        ·                              ╰── sent again while still under way
        ╰────
      help: set `retransmission-timeout` to 5s at least

    short.toml: 1 warning
    short.toml: valid, 2 providers, 1 workload, 1 run
    "#);
    insta::assert_snapshot!(said("default.toml"), @r#"
      ⚠ `retransmission-timeout` is 1s if it is not given, and a message between "broker" and "north"
      │ and its answer take 5s in the mean
        ╭─[default.toml:27:11]
     27 │ latency = "2s"
        ·           ──┬─
        ·             ╰── sent again while still under way
        ╰────
      help: set `retransmission-timeout` to 5s at least

    default.toml: 1 warning
    default.toml: valid, 2 providers, 1 workload, 1 run
    "#);
    assert!(!said("enough.toml").contains("retransmission-timeout"), "{}", said("enough.toml"));
    let shown = folder.haggle(&["run", "short.toml", "-o", "short"]);
    assert!(
        warnings(&folder, "short")[0].starts_with("`retransmission-timeout` is 4900ms"),
        "{shown}"
    );
}

#[test]
fn a_storage_that_keeps_more_than_it_holds_is_warned_about_and_ends_the_run() {
    let grid = |storage: &str| {
        format!(
            "[[workload]]\nname = \"jobs\"\ndata = {{ output = \"5 GB\" }}\njobs = [\n\
             {{ submit = \"0s\", processors = 1, run = \"60s\" }},\n\
             {{ submit = \"10s\", processors = 1, run = \"60s\" }},\n\
             {{ submit = \"20s\", processors = 1, run = \"60s\" }},\n]\n\
             [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"grid\"\n\
             [grid]\npolicy = \"fjbcr\"\n{storage}\n[[grid.site]]\nname = \"alpha\"\nresources = 2\n"
        )
    };
    let full = grid("storage = { capacity = \"10 GB\" }");
    let fetched = grid("storage = { capacity = \"10 GB\", kept = \"1h\" }");
    let folder = Folder::with(&[
        ("full.toml", &full),
        ("fetched.toml", &fetched),
        ("large.toml", &grid("storage = { capacity = \"15 GB\" }")),
    ]);
    let before =
        "the storage holds 10 GB and keeps all outputs, but those of all listed jobs are 15 GB";
    let after = "the storage was full for good: 1 jobs were computed, and their outputs waited for \
                 room until the run was over; `kept` limits how long outputs stay";
    for driver in ["sequential", "actix"] {
        let shown =
            folder.haggle(&["run", "full.toml", "-o", driver, "--driver", driver, "--check"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        assert!(shown.contains("2 completed, 1 still running"), "{shown}");
        assert_eq!(warnings(&folder, driver), [before, after]);
    }
    assert_eq!(digest(&folder, "sequential"), digest(&folder, "actix"));
    for name in ["fetched", "large"] {
        let shown = folder.haggle(&["run", &format!("{name}.toml"), "-o", name]);
        assert!(shown.contains("3 completed"), "{shown}");
        assert!(warnings(&folder, name).is_empty());
    }
}

/// Two workflows whose tasks report their progress.
const FLOWS: &str = r#"
[[workload]]
name = "flows"
model = "workflows"

[workload.workflows]
count = 2
width = 2
work = "10min"
progress = { estimates = "over", amplitude = 1.0, amplitude-max = 3.0, amplitude-of = "error", floor = "5%", decay = 0.5, noise = "5%", step = "2%", a-priori = false }

[[user]]
name = "users"
workload = "flows"
submits-to = "grid"

[grid]
policy = "POLICY"

[[grid.site]]
name = "alpha"
resources = 2
"#;

#[test]
fn progress_that_no_policy_reads_is_warned_about() {
    let with = |policy: &str| FLOWS.replace("POLICY", policy);
    let told = with("workflow").replace(", a-priori = false", "");
    let balanced = with("balanced-workflow");
    let silent = balanced.replace("progress = {", "# ");
    let keys = "\", prediction = \"average\", bound = 3.0, estimate = \"literal\", counts-checkpoint = false }";
    let silent = silent.replace(
        "policy = \"balanced-workflow\"",
        &format!("policy = {{ name = \"balanced-workflow{keys}"),
    );
    let folder = Folder::with(&[
        ("unread.toml", &with("workflow")),
        ("told.toml", &told),
        ("balanced.toml", &balanced),
        ("silent.toml", &silent),
    ]);
    let keys = |name: &str| {
        folder.haggle(&["run", &format!("{name}.toml"), "-o", name, "--quiet"]);
        let texts = warnings(&folder, name);
        let keys = texts.iter().filter_map(|text| text.split('`').nth(1).map(str::to_owned));
        keys.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys("unread"), "noise step amplitude amplitude-max amplitude-of floor decay");
    assert_eq!(keys("told"), "noise step");
    assert_eq!(keys("balanced"), "");
    assert_eq!(keys("silent"), "prediction bound estimate counts-checkpoint");
}

/// A decision at the end of an instant knows its completions and submissions, in any order.
#[test]
fn an_order_of_events_that_no_decision_sees_is_shown() {
    let scenario = format!("[scenario]\nevents-order = \"completions-first\"\n{VALID}");
    let said = problems_and_warnings(&scenario);
    let text = "`events-order` of the scenario has no effect: each provider decides at the end of an instant";
    assert!(said.contains(text), "{said}");
    let failures = "[[failures]]\nof = [\"north\"]\noutages = [[\"1s\", \"2s\"]]\n";
    for key in ["policy = \"easy\"\npasses = \"event\"", "policy = \"bags\""] {
        let to = format!("processors = 8\n{key}\n");
        let said = problems_and_warnings(&scenario.replace("processors = 8\n", &to));
        assert!(!said.contains("events-order"), "{key}: {said}");
    }
    let said = problems_and_warnings(&format!("{scenario}\n{failures}"));
    assert!(!said.contains("events-order"), "{said}");
    let usual = scenario.replace("completions-first", "submissions-first");
    assert!(!problems_and_warnings(&usual).contains("events-order"));
}

/// Output of `validate` for a scenario, in one line.
fn problems_and_warnings(scenario: &str) -> String {
    let folder = Folder::with(&[("it.toml", scenario)]);
    unwrapped(&folder.haggle(&["validate", "it.toml"]))
}
