//! Small texts that request unbounded work, files that a terminal or a spreadsheet would interpret,
//! and folders that lead to other places. Each is refused, warned about or made harmless.

use std::fs;
use std::os::unix::fs::symlink;

use haggle::scenario::{Experiment, Logs, Source};

use crate::cli_ends_pipes::make_pipe;
use crate::command::{Folder, VALID, json_of, stderr_of, stdout_of};

/// Providers, and a metascheduler that books the parts of jobs by a protocol.
const PARTS: &str = r#"
[[workload]]
name = "w"
jobs = [{ submit = "0s", processors = 4, run = "10s", requested = "10s" }]
[[provider]]
name = "p"
count = 100
processors = 4
policy = "conservative"
[[metascheduler]]
name = "m"
[metascheduler.coallocation]
policy = "rigid"
COALLOCATION
[[user]]
name = "u"
workload = "w"
submits-to = "m"
"#;

/// Problems of a scenario, or its warnings.
fn said(text: &str) -> String {
    match Experiment::read(Source::new("s.toml", text), Logs::MustExist) {
        Ok(experiment) => {
            let warnings =
                experiment.warnings.found.iter().map(|it| format!("warning: {}\n", it.message));
            warnings.collect()
        }
        Err(invalid) => {
            let problems = invalid.problems.iter();
            problems
                .map(|it| format!("error: {}; {}\n", it.message, it.help.as_deref().unwrap_or("-")))
                .collect()
        }
    }
}

#[test]
fn failures_without_end_are_counted() {
    let of = |up: &str, horizon: &str, keys: &str| {
        said(&format!(
            "[scenario]\nhorizon = \"{horizon}\"\n{VALID}\n[[failures]]\n{keys}\n[failures.law]\n\
             up = {{ law = \"exponential\", mean = \"{up}\" }}\ndown = {{ law = \"constant\", value = \"{up}\" }}\n"
        ))
    };
    let short = of("1us", "1000d", "");
    assert!(
        short.contains("is too short for an event that recurs during the whole run"),
        "{short}"
    );
    let many = of("1s", "36500d", "");
    assert!(
        many.contains("error: nodes fail about 13,000,000,000 times until the horizon"),
        "{many}"
    );
    assert!(many.contains("shorten `horizon`"), "{many}");
    let long = of("100s", "1000d", "");
    assert!(!long.contains("error"), "{long}");
    let some = of("30s", "1000d", "");
    assert!(some.contains("warning: nodes fail about 12,000,000 times"), "{some}");
    let crashes = of("1s", "36500d", "actors = [\"north\"]");
    assert!(crashes.contains("actors crash about 1,600,000,000 times"), "{crashes}");
    assert_eq!(of("1h", "365d", ""), "");
}

#[test]
fn windows_of_maintenance_are_counted_over_all_providers() {
    let closed = |times: u32, count: u32| {
        let text = VALID.replace("processors = 8", &format!("processors = 8\ncount = {count}"));
        let text = text.replace("submits-to = \"north\"", "submits-to = \"north-1\"");
        said(&format!(
            "{text}\n[[maintenance]]\nfrom = \"1h\"\nuntil = \"2h\"\nevery = \"1d\"\ntimes = {times}\n"
        ))
    };
    let many = closed(10_000, 1000);
    let expected = "error: 10000000 windows of maintenance, 10000 at each of 1000 providers here";
    assert!(many.contains(expected), "{many}");
    assert!(many.contains("lower `times`"), "{many}");
    assert!(!closed(10, 1000).contains("error"));
}

#[test]
fn messages_without_end_are_counted() {
    let parts = |network: &str, keys: &str| {
        said(&format!("{network}\n{}", PARTS.replace("COALLOCATION", keys)))
    };
    let short = parts("", "protocol = \"two-phase\"\nretry = \"1us\"");
    assert!(short.contains("error: 1us is too short for an event that recurs"), "{short}");
    let partition = "[scenario]\nhorizon = \"900d\"\n[network]\nlatency = \"1ms\"\n[[network.partition]]\nbetween = [[\"m\"], [\"p-1\"]]\nfrom = \"0s\"\nuntil = \"900d\"\n";
    let parted = parts(partition, "protocol = \"two-phase\"\nretry = \"10ms\"");
    assert!(parted.contains("messages are lost in a partition of 900d"), "{parted}");
    assert!(parted.contains("set a longer `retry`"), "{parted}");
    let lossy = "[network]\nloss = \"90%\"\n";
    let keys = "protocol = { name = \"paxos\", acceptors = 31 }\nretry = \"1s\"\ntrials = 1000";
    let tries = parts(lossy, keys);
    assert!(tries.contains("takes about 31,000,000 messages: 1000 trials"), "{tries}");
}

#[test]
fn plans_that_take_long_are_counted() {
    let plans = |keys: &str, machines: u32, phases: u32| {
        said(&format!(
            "[[workload]]\nname = \"w\"\nmodel = \"applications\"\napplications = {{ like = \"md\", count = {phases} }}\n\
             [plans]\n{keys}\n[[plans.cluster]]\nname = \"c\"\nmachines = {machines}\n\
             [[user]]\nname = \"u\"\nworkload = \"w\"\nsubmits-to = \"plans\"\n"
        ))
    };
    let scan = plans("method = \"incremental\"\nsearch = \"scan\"", 10_000, 1_000);
    assert!(scan.contains("examines about 200,000,000,000 sets"), "{scan}");
    let genetic = "method = \"genetic\"\ngenetic = { generations = 10000, population = 10000 }";
    let genetic = plans(genetic, 16, 100);
    assert!(genetic.contains("examines about 10,000,000,000 sets"), "{genetic}");
    let plain = plans("method = \"division\"", 64, 50);
    assert!(!plain.contains("looks at"), "{plain}");
}

#[test]
fn tasks_do_not_report_all_the_time() {
    let text = |step: &str| {
        said(&format!(
            "[[workload]]\nname = \"w\"\nworkflows = {{ count = 2, width = 4, work = \"1h\", progress = {{ step = \"{step}\" }} }}\nmodel = \"workflows\"\n\
             [grid]\npolicy = \"workflow\"\n[[grid.site]]\nname = \"s\"\nresources = 4\n\
             [[user]]\nname = \"u\"\nworkload = \"w\"\nsubmits-to = \"grid\"\n"
        ))
    };
    let often = text("0.0000001%");
    assert!(
        often.contains("a task would report 1000000000 times; write at least \"0.01%\""),
        "{often}"
    );
    assert!(!text("0.01%").contains("report"), "{}", text("0.01%"));
}

#[test]
fn what_files_say_reaches_no_terminal_as_a_command() {
    let log = "; Computer: \u{1b}[31mEVIL\u{1b}]0;title\u{7}\n; MaxProcs: 4\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n";
    let workflow = r#"{"name":"n\u001b[31mX","schemaVersion":"1.5","workflow":{"specification":{"tasks":[{"name":"a\u001b[31m","id":"a","children":[],"parents":[]}]},"execution":{"tasks":[{"id":"a","runtimeInSeconds":1}]}}}"#;
    let quoted = "[scenario]\nname = \"a\u{1b}[31m\"\n";
    let axis = format!(
        "{VALID}\n[sweep]\n[[sweep.axis]]\npath = \"scenario.description\"\nvalues = [\"a\\u001b[31m\", \"b\"]\n"
    );
    let files = [("e.swf", log), ("wf.json", workflow), ("e.toml", quoted), ("axis.toml", &axis)];
    let folder = Folder::with(&files);
    for arguments in [
        &["workload", "inspect", "e.swf"][..],
        &["workflow", "inspect", "wf.json"],
        &["validate", "e.toml"],
        &["sweep", "axis.toml", "-o", "out"],
        &["show", "--runs", "axis.toml"],
    ] {
        let shown = folder.haggle(arguments);
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown}");
        assert!(shown.contains("\\u001b"), "{arguments:?} shows what is there: {shown}");
    }
    // The place is that in the file, although the shown text before it is longer.
    let shown = folder.haggle(&["validate", "e.toml"]);
    assert!(shown.contains("[e.toml:2:10]"), "{shown}");
}

#[test]
fn spreadsheets_compute_nothing_of_an_axis() {
    let axis = format!(
        "{VALID}\n[sweep]\n[[sweep.axis]]\npath = \"scenario.description\"\nvalues = [\"=1+1\", \"plain\"]\n"
    );
    let folder = Folder::with(&[("axis.toml", &axis)]);
    let shown = folder.haggle(&["sweep", "axis.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    for table in ["out/runs.csv", "out/aggregate.csv"] {
        let text = folder.read(table);
        assert!(text.contains("'=1+1,") && text.contains("plain,"), "{table}: {text}");
        assert!(!text.contains(",=") && !text.contains("\n="), "{table}: {text}");
    }
}

#[test]
fn a_sweep_writes_through_no_link() {
    let axis = format!(
        "{VALID}\n[sweep]\n[[sweep.axis]]\npath = \"provider.north.policy\"\nvalues = [\"fcfs\", \"easy\"]\n"
    );
    let folder = Folder::with(&[("sweep.toml", &axis)]);
    let at = |path: &str| folder.path().join(path);
    for made in ["out", "elsewhere/seed=1"] {
        fs::create_dir_all(at(made)).expect("it can be made");
    }
    fs::write(at("elsewhere/seed=1/own.txt"), "mine").expect("it can be written");
    symlink(at("elsewhere"), at("out/policy=easy")).expect("it can be linked");
    for more in [&[][..], &["--force"]] {
        let shown = folder.haggle(&[&["sweep", "sweep.toml", "-o", "out"], more].concat());
        assert!(shown.starts_with("exit code: 4\n"), "{shown}");
        assert!(stderr_of(&shown).contains("hint: "), "{shown}");
        assert_eq!(folder.names_in("elsewhere"), ["seed=1"]);
        assert_eq!(folder.names_in("elsewhere/seed=1"), ["own.txt"]);
    }
    fs::remove_dir_all(at("elsewhere/seed=1")).expect("it is there");
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    assert!(shown.contains("`out/policy=easy` is a symbolic link"), "{shown}");
    assert_eq!(folder.names_in("elsewhere"), [""; 0]);
}

#[test]
fn a_link_to_nothing_is_found_before_the_run() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    symlink("nowhere", folder.path().join("out")).expect("it can be linked");
    for more in [&[][..], &["--force"]] {
        let shown = folder.haggle(&[&["run", "valid.toml", "-o", "out"], more].concat());
        assert!(shown.starts_with("exit code: 4\n"), "{shown}");
        assert!(stderr_of(&shown).contains("`out` is a link to a missing file"), "{shown}");
    }
    assert_eq!(folder.names(), ["out", "valid.toml"]);
}

#[test]
fn tables_that_are_no_files_are_not_read() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    assert!(folder.haggle(&["run", "valid.toml", "-o", "out"]).starts_with("exit code: 0\n"));
    let table = folder.path().join("out/jobs.parquet");
    for replace in
        [&|| symlink("/dev/zero", &table).expect("linked"), &|| make_pipe(&table)] as [&dyn Fn(); 2]
    {
        fs::remove_file(&table).expect("it is there");
        replace();
        let shown = folder.haggle(&["verify", "out"]);
        assert!(shown.starts_with("exit code: 3\n"), "{shown}");
        assert!(
            stderr_of(&shown).contains("jobs.parquet` is damaged: it is no regular file"),
            "{shown}"
        );
    }
}

#[test]
fn hints_name_what_is_meant() {
    let axis = format!(
        "{VALID}\n[sweep]\n[[sweep.axis]]\npath = \"provider.north.policy\"\nvalues = [\"fcfs\", \"easy\"]\n"
    );
    let folder = Folder::with(&[("valid.toml", VALID), ("sweep.toml", &axis)]);
    let shown = folder.haggle(&["validate", "--json", "valid.toml"]);
    assert!(stdout_of(&shown).contains("\"valid\": true"), "{shown}");
    let shown = folder.haggle(&["run", "valid.toml", "--set", "policy=easy", "-o", "out"]);
    assert!(shown.contains("help: write \"provider.*.policy\""), "{shown}");
    let step = "\n[[workload.step]]\nkind = \"first\"\njobs = 1\n";
    let one = VALID.replace("\n[[provider]]", &format!("{step}\n[[provider]]"));
    let one =
        format!("{one}\n[set]\n\"workload.jobs.step.2\" = {{ kind = \"first\", jobs = 1 }}\n");
    let said = said(&one);
    assert!(
        said.contains(
            "there is 1 element after `step`: write a number from 1 to 1, or set the whole list"
        ),
        "{said}"
    );
    assert!(folder.haggle(&["sweep", "sweep.toml", "-o", "runs"]).starts_with("exit code: 0\n"));
    for command in [&["explain", "runs", "0"][..], &["verify", "runs"]] {
        let shown = folder.haggle(command);
        assert!(shown.starts_with("exit code: 2\n"), "{shown}");
        assert!(
            shown.contains(
                "hint: name the folder of one of its runs, such as runs/policy=fcfs/seed=1"
            ),
            "{shown}"
        );
    }
}

#[test]
fn variants_have_names_that_people_read() {
    let text = format!(
        "{VALID}\n[sweep]\n[[sweep.axis]]\nname = \"queue\"\n\
         [[sweep.axis.variant]]\nname = \"EASY, as published\"\nset = {{ \"provider.north.policy\" = \"easy\" }}\n\
         [[sweep.axis.variant]]\nname = \"first come\"\nset = {{ \"provider.north.policy\" = \"fcfs\" }}\n"
    );
    let folder = Folder::with(&[("sweep.toml", &text)]);
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out"]);
    assert!(stdout_of(&shown).contains("EASY, as published"), "{shown}");
    assert!(folder.read("out/runs.csv").contains("\"EASY, as published\""));
    assert_eq!(folder.names_in("out/queue=EASY%2C%20as%20published"), ["seed=1"]);
    let wrong = said(&text.replace("first come", " first\\n"));
    assert!(wrong.contains("cannot be a title"), "{wrong}");
}

#[test]
fn shells_complete_metrics_and_keys() {
    let folder = Folder::with(&[]);
    let script = folder.haggle(&["completions", "bash"]);
    for word in [
        "mean_waiting_time",
        "provider.*.policy=",
        "metascheduler.*.coallocation.trials=",
        "provider.policy.order",
        "network.link.*.latency=",
    ] {
        assert!(script.contains(word), "{word}");
    }
    // Unknown values are still accepted, and the help is no longer for completion.
    assert!(!folder.haggle(&["plot", "--help"]).contains("mean_waiting_time, "));
}

#[test]
fn a_reproduction_in_brief_is_a_line_a_claim() {
    let folder = Folder::with(&[]);
    let arguments = ["reproduce", "chtepen-t3.1", "--quick", "--quiet"];
    let whole = folder.haggle(&arguments);
    let brief = folder.haggle(&[&arguments[..], &["--brief"]].concat());
    assert!(whole.contains("came out") && !brief.contains("came out"), "{brief}");
    let (whole, brief) = (stdout_of(&whole).lines(), stdout_of(&brief).lines());
    assert!(2 * brief.clone().count() < whole.clone().count(), "a table and numbers are left out");
    assert_eq!(whole.last(), brief.last(), "the score");
}

#[test]
fn examples_of_the_program_have_no_warnings() {
    let folder = Folder::with(&[]);
    let list = folder.haggle(&["list", "examples", "--json"]);
    let list = json_of(&list);
    let names: Vec<&str> =
        list.as_array().expect("a list").iter().filter_map(|it| it["word"].as_str()).collect();
    assert!(names.len() > 10, "{list}");
    for name in names {
        let file = format!("{name}.toml");
        assert!(folder.haggle(&["new", &file, "--example", name]).starts_with("exit code: 0\n"));
        let shown = folder.haggle(&["validate", &file]);
        assert!(!stderr_of(&shown).contains("warning"), "{name}: {shown}");
    }
}

/// The scenario in a folder of results can be run again.
#[test]
fn seeds_of_options_have_the_bound_of_the_key() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    let highest = "9000000000000000";
    let shown = folder.haggle(&["run", "valid.toml", "--seed", highest, "-q", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let again = folder.haggle(&["run", "out/scenario.toml", "-q", "-o", "again"]);
    assert!(again.starts_with("exit code: 0\n"), "{again}");
    for command in [
        &["run", "valid.toml", "-o", "more"][..],
        &["replay", "log.swf"],
        &["workload", "generate", "--jobs", "5", "--processors", "8", "w.swf"],
        &["workflow", "generate", "epigenomics", "--tasks", "50"],
        &["workflow", "schedule", "workflow.json"],
    ] {
        let shown = folder.haggle(&[command, &["--seed", "9000000000000001"]].concat());
        assert!(shown.starts_with("exit code: 2\n"), "{shown}");
        let bound = "9000000000000001 is not in 0..=9000000000000000";
        assert!(shown.contains(bound), "{shown}");
    }
}

/// The largest seed is followed by 0, so that the scenario in each folder of results can be run again.
#[test]
fn seeds_after_the_largest_one_begin_at_zero() {
    const HIGHEST: &str = "9000000000000000";
    let drawn = VALID.replace("[scenario]", &format!("[scenario]\nseed = {HIGHEST}"));
    let drawn = if drawn.contains(HIGHEST) {
        drawn
    } else {
        format!("[scenario]\nseed = {HIGHEST}\n{VALID}")
    };
    let sweep = format!("{drawn}\n[sweep]\nreplications = 3\n");
    let change = format!("{drawn}\n[[change]]\nat = \"1s\"\nseed = 3\n");
    let folder =
        Folder::with(&[("run.toml", &drawn), ("sweep.toml", &sweep), ("change.toml", &change)]);
    for arguments in [
        &["sweep", "sweep.toml", "-o", "sweep", "-q"][..],
        &["branch", "run.toml", "--at", "1s", "--runs", "2", "-o", "futures", "-q"],
        &["run", "change.toml", "-o", "change", "-q", "--seed", "1"],
    ] {
        let shown = folder.haggle(arguments);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    }
    assert_eq!(
        folder.names_in("sweep").iter().filter(|it| it.starts_with("seed=")).collect::<Vec<_>>(),
        ["seed=0", "seed=1", "seed=9000000000000000"]
    );
    for run in ["sweep/seed=1", "futures/future=1/seed=9000000000000000", "change"] {
        let again = folder.haggle(&[
            "run",
            &format!("{run}/scenario.toml"),
            "-q",
            "-o",
            "again",
            "--force",
        ]);
        assert!(again.starts_with("exit code: 0\n"), "{run}: {again}");
    }
    // The distance between the two seeds stays.
    let scenario = folder.read("change/scenario.toml");
    assert!(scenario.contains("\nseed = 1\n") && scenario.contains("\nseed = 5\n"), "{scenario}");
}

/// A log that is written can be read.
#[test]
fn gaps_of_a_log_are_stretched_within_bounds() {
    let log = "1 0 -1 1 1 -1 -1 1 10 -1 1 1 1 1 1 -1 -1 -1\n\
               2 99000000 -1 1 1 -1 -1 1 10 -1 1 1 1 1 1 -1 -1 -1\n";
    let folder = Folder::with(&[("log.swf", log)]);
    for (option, value, said) in [
        ("--load", "1e-12", "expected a number from 1e-6 to 1e6"),
        ("--load", "1e7", "expected a number from 1e-6 to 1e6"),
        ("--stretch", "1e7", "expected a number up to 1e6"),
        ("--stretch", "1e6", "job 2 would be submitted behind the longest time"),
    ] {
        let shown = folder.haggle(&["workload", "scale", "log.swf", "out.swf", option, value]);
        assert!(shown.starts_with("exit code: 2\n") && shown.contains(said), "{shown}");
        assert!(!folder.path().join("out.swf").exists(), "{shown}");
    }
    let shown = folder.haggle(&["workload", "scale", "log.swf", "out.swf", "--load", "1e-4"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let shown = folder.haggle(&["workload", "inspect", "out.swf"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn checkpoints_that_go_over_the_network_are_counted() {
    let scenario = |run: &str| {
        format!(
            "[[workload]]\nname = \"w\"\n\
             jobs = [{{ submit = \"0s\", processors = 1, run = \"{run}\", requested = \"{run}\" }}]\n\
             [[provider]]\nname = \"m\"\nprocessors = 1\non-failure = \"resume\"\n\
             checkpoints = {{ interval = \"1ms\", size = \"1 B\", store = \"s\" }}\n\
             [network]\nbandwidth = \"1 Gbit/s\"\nsharing = \"max-min\"\nstores = [\"s\"]\n\
             [[user]]\nname = \"u\"\nworkload = \"w\"\nsubmits-to = \"m\"\n\
             [[failures]]\noutages = [[\"9d\", \"217h\"]]\n"
        )
    };
    let long = said(&scenario("10d"));
    let count = "about 860,000,000 checkpoints go to \"s\": listed jobs compute for 10d, and write one every 1ms";
    assert!(long.contains(&format!("warning: {count}")), "{long}");
    let longer = said(&scenario("100d"));
    assert!(
        longer.contains("about 8,600,000,000 checkpoints") && !longer.contains("warning"),
        "{longer}"
    );
    assert!(!said(&scenario("1h")).contains("checkpoints go to"));
}

#[test]
fn values_that_cannot_be_meant_are_named() {
    let failing = |outages: &str| format!("{VALID}\n[[failures]]\noutages = {outages}\n");
    let never = said(&failing("[[\"5s\"], [\"6s\", \"7s\"]]"));
    let reason = "outage 2 starts at 6 s, and the one before it is never restored";
    assert!(never.contains(reason), "{never}");
    let long = said(&VALID.replace("run = \"80s\"", "run = \"26690000d\""));
    assert!(long.contains("`26690000d` is longer than the longest time, 26687997d"), "{long}");
    let none = said(&VALID.replace("run = \"80s\"", "run = \"26690000 days of rest\""));
    assert!(none.contains("is not a length of time"), "{none}");
    let figure = "\n[[figure]]\nkind = \"gantt\"\njobs = [\"job!1\", \"jobs!1\", \"1\"]\n";
    let marked = said(&format!("{VALID}{figure}"));
    let wanted = "warning: the figure is left out: no workload is called \"job\"\n";
    assert_eq!(marked, wanted);
    let folder = Folder::with(&[
        ("valid.toml", VALID),
        ("nodes.csv", "node,start,end\na,150,160\n"),
        (
            "recorded.toml",
            &format!(
                "{VALID}\n[[failures]]\nprocessors-per-node = 8\n\
                 recorded = {{ format = \"csv\", log = \"nodes.csv\", sites = [\"zz\"] }}\n"
            ),
        ),
    ]);
    let set = ["run", "valid.toml", "--set", "scenario.seed=2", "--set", "scenario.seed=3"];
    let twice = folder.haggle(&set);
    assert!(twice.starts_with("exit code: 2\n"), "{twice}");
    assert!(twice.contains("--set scenario.seed is given twice"), "{twice}");
    let shown = folder.haggle(&["run", "recorded.toml", "-q", "-o", "out"]);
    assert!(shown.contains("nodes.csv: its nodes have no sites"), "{shown}");
}
