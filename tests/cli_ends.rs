//! Inputs that once caused endless runs, silent ends or mixed results. Each now ends in bounded
//! time with an error and a hint.

use std::fs;
use std::io::{BufRead, BufReader};

use crate::cli_run::{LONG, wait_for};
use crate::command::{Folder, VALID, ended, stderr_of, stdout_of, unwrapped};

/// Two runs of jobs from a log.
const OF_A_LOG: &str = r#"
[[workload]]
name = "jobs"
log = "log.swf"

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[sweep]
[[sweep.axis]]
path = "provider.north.policy"
values = ["fcfs", "easy"]
"#;

/// A log with this number of jobs.
fn log(jobs: u32, run_time: u32) -> String {
    let line = |number| {
        format!("{number} {} 0 {run_time} 1 -1 -1 1 600 -1 1 1 1 1 1 -1 -1 -1\n", number * 60)
    };
    (1..=jobs).map(line).collect()
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let folder = Folder::with(&[("long.toml", LONG), ("valid.toml", VALID)]);
    let mut first = folder.start(&["run", "long.toml", "-o", "out"]);
    let lock = folder.path().join(".out.partial/jobs.parquet");
    wait_for(|| lock.exists());
    insta::assert_snapshot!(folder.haggle(&["run", "valid.toml", "-o", "out"]), @"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: another run is writing `out` now: wait until it has ended, or name another folder
    ");
    assert!(lock.exists(), "the first one goes on");
    first.kill().expect("it runs");
    first.wait().expect("it has ended");
    let shown = folder.haggle(&["run", "valid.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    insta::assert_snapshot!(stderr_of(&shown), @"note: removed `.out.partial`, left by a run that was killed");
    assert_eq!(folder.names(), ["long.toml", "out", "valid.toml"]);
    assert!(!folder.names_in("out").contains(&".lock".to_owned()));
}

#[test]
fn a_sweep_does_not_go_on_with_another_log() {
    let folder = Folder::with(&[("sweep.toml", OF_A_LOG), ("log.swf", &log(50, 100))]);
    let sweep = ["sweep", "sweep.toml", "-o", "out"];
    assert!(folder.haggle(&sweep).starts_with("exit code: 0\n"));
    let before = folder.tree("out");
    let replace = |text: &str| {
        fs::write(folder.path().join("log.swf"), text).expect("it can be written");
        folder.haggle(&sweep)
    };
    insta::assert_snapshot!(replace(&log(5, 100)), @"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `out/policy=fcfs/seed=1` holds results of another `log.swf`: that file has changed since

    hint: name another folder with -o, or remove this one; `haggle sweep` does such runs again with --force
    ");
    // The new log has the same size as before.
    assert!(replace(&log(50, 101)).starts_with("exit code: 4\n"));
    assert_eq!(folder.tree("out"), before);
    assert!(replace(&log(50, 100)).starts_with("exit code: 0\n"));
}

#[test]
fn a_sweep_does_not_go_on_with_another_build() {
    let folder = Folder::with(&[("sweep.toml", OF_A_LOG), ("log.swf", &log(50, 100))]);
    let sweep = ["sweep", "sweep.toml", "-o", "out"];
    assert!(folder.haggle(&sweep).starts_with("exit code: 0\n"));
    let path = folder.path().join("out/policy=fcfs/seed=1/provenance.json");
    let text = fs::read_to_string(&path).expect("it is there");
    let build = text.split("\"build\": \"").nth(1).and_then(|rest| rest.get(..16));
    let build = build.expect("it has 16 digits");
    fs::write(&path, text.replace(build, "0123456789abcdef")).expect("it can be written");
    let shown = folder.haggle(&sweep).replace(build, "BUILD");
    insta::assert_snapshot!(shown, @"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `out/policy=fcfs/seed=1` holds results of another build of haggle 0.2.0 (0123456789abcdef, this one is BUILD)

    hint: name another folder with -o, remove this one, or add --any-build to count such runs as done
    ");
    let shown = folder.haggle(&[&sweep[..], &["--any-build"]].concat());
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert_eq!(stderr_of(&shown), "2 of 2 runs are done already\n");
}

#[test]
fn a_sweep_starts_no_more_threads_than_it_has_runs() {
    let sweep = format!("{VALID}\n[sweep]\nreplications = 2\n");
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    // A million threads would not fit into the memory.
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--jobs", "1000000"]);
    assert!(stdout_of(&shown).starts_with("2 runs\n"), "{shown}");
}

#[test]
fn random_scenarios_start_no_more_threads_than_there_are_cases() {
    let folder = Folder::with(&[]);
    let many = ["verify", "--random", "--cases", "1", "--jobs", "1000000", "--quiet"];
    let shown = folder.haggle(&many);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn a_little_stack_is_enough() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    let shown = folder.haggle_under("ulimit -s 64", &["run", "valid.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn a_limit_of_file_sizes_is_an_error() {
    let long = LONG.replace("5000000", "50000") + "\n[results]\nformat = \"csv\"\n";
    let folder = Folder::with(&[("long.toml", &long)]);
    let run = ["run", "long.toml", "-o", "out"];
    insta::assert_snapshot!(folder.haggle_under("ulimit -f 64", &run), @"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `.out.partial/messages.csv` has reached the limit of file sizes (`ulimit -f`): raise it, or write less (no messages, one format)
    ");
    assert_eq!(folder.names(), ["long.toml"]);
    let generate = ["workload", "generate", "--jobs", "50000", "--processors", "8", "jobs.swf"];
    insta::assert_snapshot!(folder.haggle_under("ulimit -f 64", &generate), @"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: cannot write `jobs.swf`: File too large (os error 27)
    ");
    assert_eq!(folder.names(), ["long.toml"]);
}

#[test]
fn the_end_of_a_batch_job_is_a_clean_one() {
    let folder = Folder::with(&[("long.toml", LONG)]);
    let child = folder.start(&["run", "long.toml", "-o", "out"]);
    wait_for(|| folder.names().contains(&".out.partial".to_owned()));
    crate::command::signal(&child, "TERM");
    insta::assert_snapshot!(ended(child), @"
    exit code: 143
    ----- stdout -----
    ----- stderr -----
    stopping because of SIGTERM
    interrupted: no results were written
    ");
    assert_eq!(folder.names(), ["long.toml"]);
}

#[test]
fn writing_a_log_can_be_interrupted() {
    let folder = Folder::with(&[]);
    let generate =
        ["workload", "generate", "--jobs", "100000000", "--processors", "128", "jobs.swf"];
    let child = folder.start(&generate);
    wait_for(|| !folder.names().is_empty());
    crate::command::interrupt(&child);
    insta::assert_snapshot!(ended(child), @"
    exit code: 130
    ----- stdout -----
    ----- stderr -----
    interrupted: no results were written
    ");
    assert_eq!(folder.names(), [""; 0]);
}

/// One job on a grid; `grid` and `site` are added keys.
fn grid(grid: &str, site: &str) -> String {
    format!(
        r#"
[scenario]
horizon = "1d"

[[workload]]
name = "jobs"
jobs = [{{ submit = "0s", processors = 1, requested = "10h", run = "10h" }}]

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"

[grid]
policy = "migration"
{grid}

[[grid.site]]
name = "alpha"
{site}
"#
    )
}

#[test]
fn what_would_recur_all_the_time_is_refused() {
    let folder = Folder::with(&[("period.toml", &grid("period = \"1us\"", "resources = 1"))]);
    insta::assert_snapshot!(folder.haggle(&["validate", "period.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × 1us is too short for an event that recurs during the whole run
        ╭─[period.toml:16:10]
     16 │ period = "1us"
        ·          ──┬──
        ·            ╰── less than 1ms
        ╰────
      help: write at least "1ms"

    error: period.toml has 1 problem
    "#);
    let provider = VALID.replace(
        "processors = 8",
        "processors = 8\non-failure = \"resume\"\ncheckpoints = { interval = \"1us\", cost = \"1s\" }",
    );
    let checkpoints = |of: &str| grid(&format!("checkpoints = {{ {of} }}"), "resources = 1");
    let too_short = "is too short for an event that recurs during the whole run";
    for (scenario, problem) in [
        (provider, too_short),
        (checkpoints("rule = \"periodic\", interval = \"1us\""), too_short),
        (checkpoints("rule = \"last-failure\", interval = \"999us\""), too_short),
        (checkpoints("rule = \"young\", mtbf = \"0s\""), "fail all the time complete no job"),
        (checkpoints("rule = \"daly\", mtbf = \"0s\""), "fail all the time complete no job"),
        (grid("", "resources = 1\nload = { initial-max = \"50%\", period = \"1us\" }"), too_short),
    ] {
        fs::write(folder.path().join("it.toml"), &scenario).expect("it can be written");
        let shown = folder.haggle(&["validate", "it.toml"]);
        assert!(shown.starts_with("exit code: 3\n"), "{shown}");
        assert!(stderr_of(&shown).contains(problem), "{shown}");
        assert!(stderr_of(&shown).contains("help: "), "{shown}");
    }
}

#[test]
fn what_takes_all_memory_is_refused() {
    let failing = VALID.replace("processors = 8", "processors = 100000000")
        + "\n[[failures]]\nnominal = 50\n";
    let large = "resources = 2000000\n[[grid.site]]\nname = \"beta\"\nresources = 1";
    let files = [("failing.toml", failing.as_str()), ("large.toml", &grid("", large))];
    let folder = Folder::with(&files);
    insta::assert_snapshot!(folder.haggle(&["validate", "failing.toml"]), @r"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × 100000000 nodes may fail, and at most 2000000 can, for each takes some kilobytes
        ╭─[failing.toml:15:1]
     15 │ [[failures]]
        · ──────┬─────
        ·       ╰── one too many from here on
        ╰────
      help: let fewer `nodes` fail, or more `processors-per-node` as one

    error: failing.toml has 1 problem
    ");
    insta::assert_snapshot!(folder.haggle(&["validate", "large.toml"]), @r"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × a grid has at most 2000000 resources, for each takes some kilobytes
        ╭─[large.toml:23:13]
     23 │ resources = 1
        ·             ┬
        ·             ╰── one too many from here on
        ╰────
      help: lower `resources`

    error: large.toml has 1 problem
    ");
}

/// A workload that would fill the memory or never end is reported with its size before the work
/// begins.
#[test]
fn workloads_of_too_many_jobs_are_refused_or_warned_about() {
    let of = |workload: &str| {
        let jobs =
            "jobs = [{ submit = \"0s\", processors = 4, requested = \"100s\", run = \"80s\" }]";
        VALID.replace(jobs, workload)
    };
    let independent = of(
        "model = \"independent-jobs\"\nindependent-jobs = { length = \"1d\", between = { law = \"constant\", value = \"1us\" }, \
         run = { law = \"constant\", value = \"1h\" } }",
    );
    let per_day = of(
        "model = \"independent-jobs\"\nindependent-jobs = { days = 20000, per-day = { law = \"constant\", value = 10000 }, \
         run = { law = \"constant\", value = \"1h\" } }",
    );
    let workflows = of(
        "model = \"workflows\"\nworkflows = { count = 100000, shape = \"layered\", tasks = 1000000 }",
    );
    let month = of(
        "model = \"synthetic-month\"\nsynthetic-month = { days = 30, load = 0.8, sites = [{ jobs = 10000000, processors = 64 }] }",
    );
    let folder = Folder::with(&[
        ("independent.toml", &independent),
        ("per-day.toml", &per_day),
        ("workflows.toml", &workflows),
        ("month.toml", &month),
    ]);
    for (name, code, said) in [
        ("independent.toml", 3, "makes about 86400000000 jobs, expected 100000000 at most"),
        ("per-day.toml", 3, "makes about 200000000 jobs"),
        ("workflows.toml", 3, "up to 100000000000 tasks together"),
        ("month.toml", 0, "has about 10000000 jobs"),
    ] {
        let shown = unwrapped(&folder.haggle(&["validate", name]));
        assert!(shown.starts_with(&format!("exit code: {code}\n")), "{shown}");
        assert!(shown.contains(said), "{shown}");
    }
    let line = |number: u32| {
        format!("{number} {} -1 60 1 -1 -1 1 90 -1 1 {number} 1 1 1 1 -1 -1\n", 600 * number)
    };
    let log: String = (1..=1_000).map(line).collect();
    let resample = of("log = \"log.swf\"\nstep = [{ kind = \"resample\", weeks = 100000 }]");
    let folder = Folder::with(&[("log.swf", &log), ("resample.toml", &resample)]);
    let shown = folder.haggle(&["run", "resample.toml"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    assert!(
        shown.contains("make about 100000000 jobs, expected 10000000 at most; lower weeks"),
        "{shown}"
    );
}

#[test]
fn memory_that_is_not_there_is_named() {
    let failing =
        VALID.replace("processors = 8", "processors = 1000000") + "\n[[failures]]\nnominal = 50\n";
    let large = grid("", "resources = 1000000");
    let folder = Folder::with(&[("failing.toml", &failing), ("large.toml", &large)]);
    let run = |name| folder.haggle_under("ulimit -v 600000", &["run", name, "-o", "out"]);
    insta::assert_snapshot!(run("failing.toml"), @"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: 1000000 nodes that fail take about 1100 MB of memory, which are not available: take fewer, or raise the limit (`ulimit -v`)
    ");
    insta::assert_snapshot!(run("large.toml"), @"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: 1000000 resources take about 2500 MB of memory, which are not available: take fewer, or raise the limit (`ulimit -v`)
    ");
}

#[test]
fn a_check_takes_no_memory_for_processors_that_do_the_same() {
    let many = VALID.replace("processors = 8", "processors = 100000000\ncount = 42");
    let many = many.replace("submits-to = \"north\"", "submits-to = \"north-7\"");
    let folder = Folder::with(&[("many.toml", &many)]);
    let run = ["run", "many.toml", "-o", "out", "--check"];
    let shown = folder.haggle_under("ulimit -v 600000", &run);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn what_is_no_text_is_no_log() {
    let folder = Folder::with(&[]);
    insta::assert_snapshot!(folder.haggle(&["workload", "inspect", "/dev/zero"]), @"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: /dev/zero: cannot open the log: it is a device, and not a file
    ");
    let shown = folder.haggle_under("true", &["validate", "/dev/zero"]);
    assert!(shown.contains("it is a device, and not a file"), "{shown}");
}

#[test]
fn a_pipe_without_a_writer_is_waited_for() {
    let folder = Folder::with(&[]);
    make_pipe(&folder);
    let pipe = folder.path().join("pipe");
    let replay = ["replay", "pipe", "--processors", "8", "--policy", "easy", "--quiet"];
    let child = folder.start(&replay);
    fs::write(&pipe, log(5, 100)).expect("somebody reads");
    let shown = ended(child);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let said = stderr_of(&shown);
    assert!(said.contains("waiting for a writer of the pipe `pipe`\n"), "{said}");
}

#[test]
fn a_text_in_a_figure_has_an_end() {
    let folder = Folder::with(&[]);
    let study = folder.path().join("studies/mine");
    fs::create_dir_all(&study).expect("it can be made");
    let sweep = VALID.to_owned()
        + "[sweep]\n[[sweep.axis]]\npath = \"provider.north.policy\"\nvalues = [\"fcfs\"]\n";
    let figures = r#"
[[figure]]
name = "mine-1"
about = "x"
sweeps = ["sweep.toml"]
[[figure.draw]]
kind = "bars"
metric = "mean-waiting-time"
x = { axis = "policy" }
label = ""#
        .to_owned();
    let figures = format!("{figures}{}\"\n", "long ".repeat(61));
    for (name, text) in [("sweep.toml", &sweep), ("figures.toml", &figures)] {
        fs::write(study.join(name), text).expect("it can be written");
    }
    let shown = folder.haggle(&["reproduce", "mine-1", "--scenarios", "studies", "-o", "out"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    assert!(shown.contains("305 characters, at most 300 are drawn"), "{shown}");
}

fn make_pipe(folder: &Folder) {
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
    assert!(made.is_ok_and(|made| made.success()), "a pipe can be made");
}

#[test]
fn who_waits_for_a_pipe_ends_at_the_first_signal() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let folder = Folder::with(&[]);
        make_pipe(&folder);
        let mut child = folder.start(&["workload", "convert", "pipe", "out.swf"]);
        let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it can be read");
        assert!(line.starts_with("waiting for a writer"), "{line}");
        crate::command::signal(&child, name);
        assert_eq!(child.wait().expect("it ends").code(), Some(code));
        assert_eq!(folder.names(), ["pipe"]);
    }
}

/// Standard input or a pipe that a process holds open without writing.
#[test]
fn who_reads_a_quiet_pipe_ends_at_the_first_signal() {
    let commands: [&[&str]; 5] = [
        &["replay", "-", "--processors", "8", "-o", "out"],
        &["replay", "pipe", "--processors", "8"],
        &["validate", "-"],
        &["validate", "pipe"],
        &["run", "pipe", "-o", "out"],
    ];
    for (number, arguments) in commands.into_iter().enumerate() {
        let (name, code) = [("INT", 130), ("TERM", 143)][number % 2];
        let folder = Folder::with(&[]);
        make_pipe(&folder);
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("haggle"))
            .current_dir(folder.path())
            .args(arguments)
            .stdin(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("it can be started");
        let input = child.stdin.take();
        std::thread::sleep(std::time::Duration::from_millis(400));
        crate::command::signal(&child, name);
        let shown = ended(child);
        assert!(shown.starts_with(&format!("exit code: {code}\n")), "{arguments:?}: {shown}");
        assert!(shown.ends_with("interrupted: no results were written\n"), "{shown}");
        assert_eq!(folder.names(), ["pipe"]);
        drop(input);
    }
}

#[test]
fn a_scenario_may_come_from_standard_input() {
    let folder = Folder::with(&[]);
    let shown = folder.haggle_reading(VALID, &["run", "-", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(folder.names_in("out").contains(&"summary.json".to_owned()));
    let shown = folder.haggle_reading(VALID, &["validate", "-"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let wrong =
        folder.haggle_reading(&VALID.replace("processors = 8", "processors = 0"), &["show", "-"]);
    assert!(wrong.starts_with("exit code: 3\n") && wrong.contains("stdin.toml"), "{wrong}");
    let shown = folder.haggle_reading(VALID, &["sweep", "-", "--slurm", "-o", "out"]);
    assert!(shown.contains("write it into a file"), "{shown}");
}

#[test]
fn results_that_are_pipes_or_devices_are_refused() {
    let folder = Folder::with(&[("valid.toml", VALID)]);
    folder.haggle(&["run", "valid.toml", "-o", "out"]);
    let table = folder.path().join("out/jobs.parquet");
    fs::remove_file(&table).expect("it is there");
    make_pipe(&folder);
    for target in ["../pipe", "/dev/zero"] {
        std::os::unix::fs::symlink(target, &table).expect("it can be made");
        let shown = folder.haggle(&["verify", "out"]);
        assert!(shown.starts_with("exit code: 3\n"), "{shown}");
        for command in ["plot", "explain"] {
            let more: &[&str] =
                if command == "explain" { &["0"] } else { &["--kind", "gantt", "-o", "g.svg"] };
            let shown = folder.haggle(&[&[command, "out"], more].concat());
            assert!(shown.contains("it is no regular file"), "{command}: {shown}");
        }
        fs::remove_file(&table).expect("it is there");
    }
}

#[test]
fn a_scenario_reads_no_pipe() {
    let jobs = "jobs = [{ submit = \"0s\", processors = 4, requested = \"100s\", run = \"80s\" }]";
    let sweep = VALID.replace(jobs, "log = \"pipe\"") + "[sweep]\nreplications = 2\n";
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    make_pipe(&folder);
    let shown = folder.haggle(&["sweep", "sweep.toml"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    assert!(shown.contains("log `pipe` is a pipe or a device"), "{shown}");
}

/// The processes that check cases end with the process that started them.
#[test]
#[cfg(target_os = "linux")]
fn random_scenarios_can_be_interrupted() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let folder = Folder::with(&[]);
        let child = folder.start(&["verify", "--random", "--cases", "100000"]);
        let begun = || {
            let tasks = fs::read_dir(format!("/proc/{}/task", child.id()));
            let children = |task: std::io::Result<fs::DirEntry>| {
                fs::read_to_string(task.ok()?.path().join("children")).ok()
            };
            tasks.into_iter().flatten().filter_map(children).collect::<String>()
        };
        wait_for(|| !begun().is_empty());
        crate::command::signal(&child, name);
        let shown = ended(child);
        assert!(shown.starts_with(&format!("exit code: {code}\n")), "{shown}");
        assert_eq!(folder.names(), [""; 0]);
    }
}

#[test]
fn an_interval_that_may_shrink_to_none_is_refused() {
    let rule = |least: &str| {
        let rule = "rule = \"mean-failure\", interval = \"1h\", first = \"0s\", cost = \"0s\"";
        grid(&format!("checkpoints = {{ {rule}, interval-min = \"{least}\" }}"), "resources = 1")
    };
    for (least, is_valid) in [("0s", false), ("0%", false), ("1us", false), ("1min", true)] {
        let folder = Folder::with(&[("grid.toml", &rule(least))]);
        let shown = folder.haggle(&["validate", "grid.toml"]);
        assert_eq!(shown.starts_with("exit code: 0\n"), is_valid, "{shown}");
        assert_eq!(!shown.contains("the interval may shrink to zero"), is_valid, "{shown}");
    }
}

/// Each of these was once accepted and ended the run: at its beginning, or after all computing.
#[test]
fn what_would_end_a_run_is_refused_before_it() {
    let latency = "network = { wan-latency = { law = \"uniform\", low = \"1s\", high = \"0s\" } }";
    let figure = "[[figure]]\nkind = \"bars\"\nmetric = \"lost-work\"\ngroup-by = \"workload\"\n";
    for (scenario, said) in [
        (grid(latency, "resources = 1"), "uniform law: high is 0, expected at least low"),
        (VALID.to_owned() + figure, "\"lost_work\" belongs to the whole run, not to a workload"),
    ] {
        let folder = Folder::with(&[("wrong.toml", &scenario)]);
        let shown = folder.haggle(&["validate", "wrong.toml"]);
        assert!(shown.starts_with("exit code: 3\n") && shown.contains(said), "{shown}");
    }
}

/// A figure of a missing job is left out, and nothing else is affected.
#[test]
fn the_timeline_of_a_job_that_is_not_there_is_left_out() {
    let figure = "\n[[figure]]\nkind = \"job-timeline\"\njob = 9\n";
    let scenario = grid("", "resources = 1") + figure;
    let folder = Folder::with(&[("grid.toml", &scenario)]);
    let shown = folder.haggle(&["run", "grid.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let reason = "figure left out: job-timeline.png: the run has no job 9\n";
    assert!(shown.contains(reason), "{shown}");
    // A requested figure is missing, so a quiet run reports it too.
    let shown = folder.haggle(&["run", "grid.toml", "-q", "-o", "quiet"]);
    assert_eq!(stderr_of(&shown), reason);
}

#[test]
fn jobs_behind_the_horizon_are_not_passed_over_in_silence() {
    let scenario = |later: &str| {
        format!(
            r#"
scenario.horizon = "1h"

[[workload]]
name = "jobs"
jobs = [
    {{ submit = "0s", processors = 1, run = "1min" }},
    {{ submit = "{later}", processors = 1, run = "1min" }},
]

[[provider]]
name = "north"
processors = 1

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#
        )
    };
    let folder =
        Folder::with(&[("cut.toml", &scenario("61min")), ("whole.toml", &scenario("59min"))]);
    let line = "\n  stopped before all jobs had arrived: later jobs are not counted\n";
    for (name, cut) in [("cut", true), ("whole", false)] {
        let shown = folder.haggle(&["run", &format!("{name}.toml"), "-o", name]);
        assert_eq!(shown.contains(line), cut, "{shown}");
        let json = format!("\"cut_off\": {cut}");
        let shown =
            folder.haggle(&["run", &format!("{name}.toml"), "-o", name, "--force", "--json"]);
        assert!(shown.contains(&json), "{shown}");
    }
}
