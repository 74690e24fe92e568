//! `haggle replay`: one log under one policy or several, without a scenario.

use serde_json::{Value, json};

use crate::command::{Folder, json_of, stderr_of, stdout_of};

/// A wide job that waits for the first one, a narrow one that fits beside it, and one that is too
/// wide.
const LOG: &str = "\
; Computer: Test machine
; MaxProcs: 8
1 0 -1 100 6 -1 -1 6 200 -1 1 1 -1 -1 1 -1 -1 -1
2 10 -1 100 8 -1 -1 8 100 -1 1 2 -1 -1 1 -1 -1 -1
3 20 -1 50 2 -1 -1 2 60 -1 1 2 -1 -1 1 -1 -1 -1
";

const WIDE: &str = "4 30 -1 50 9 -1 -1 9 60 -1 1 2 -1 -1 1 -1 -1 -1\n";

#[test]
fn a_replay_is_a_table() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    insta::assert_snapshot!(folder.haggle(&["replay", "log.swf", "--policy", "fcfs"]), @r#"
    exit code: 0
    ----- stdout -----
    jobs                                   3
    mean waiting time                  90.00  s
    largest waiting time                 180  s
    mean bounded slowdown              2.500  threshold 10 s
    makespan                             250  s
    utilisation                       0.7500
    rules for the log                careful
    ----- stderr -----
    note: the log has no waiting times (field 3) to compare with
    "#);
    assert_eq!(folder.names(), ["log.swf"]);
}

/// The same jobs, with waits of 200 s and 40 s for the second and the third on their machine. The
/// fourth is wider than the machine, and the fifth has no recorded wait.
#[test]
fn what_the_log_has_recorded_stands_beside_the_policies() {
    let log = LOG
        .replace("2 10 -1 100", "2 10 200 100")
        .replace("3 20 -1 50", "3 20 40 50")
        .replace("1 0 -1 100", "1 0 0 100");
    let unknown = "5 40 -1 10 1 -1 -1 1 60 -1 1 3 -1 -1 1 -1 -1 -1\n";
    let log = format!("{log}{}{unknown}", WIDE.replace("4 30 -1", "4 30 7000"));
    let folder = Folder::with(&[("log.swf", &log)]);
    insta::assert_snapshot!(folder.haggle(&["replay", "log.swf", "--quiet"]), @r#"
    exit code: 0
    ----- stdout -----
                                               easy  as recorded
      jobs                                        5            3
      mean waiting time, s                    30.00        80.00
      largest waiting time, s                    90          200
      mean bounded slowdown, threshold 10 s   1.975        1.933
      makespan, s                               200          310
      utilisation                            0.9437       0.6048
      rejected, jobs                              1            -
      rules for the log: careful
    ----- stderr -----
    "#);
    // 0, 200 and 40 s; (0 + 100) / 100, 300 / 100 and 90 / 50; from 0 to 310 s.
    let expected = [
        ("jobs", 3.0),
        ("mean_waiting_time", 80.0),
        ("max_waiting_time", 200.0),
        ("mean_bounded_slowdown", 5.8 / 3.0),
        ("makespan", 310.0),
        ("utilisation", 1500.0 / (310.0 * 8.0)),
    ];
    for policy in ["easy", "fcfs,easy"] {
        let shown = json_of(&folder.haggle(&["replay", "log.swf", "--policy", policy, "--json"]));
        for (key, value) in expected {
            let found = shown["as_recorded"][key].as_f64().expect("a number");
            assert!((found - value).abs() < 1e-9, "{key}: {found}, not {value}");
        }
    }
    let of_one = folder.haggle(&["replay", "log.swf", "--user", "1", "--json"]);
    assert_eq!(json_of(&of_one)["as_recorded"]["jobs"], 1, "of the jobs that are replayed");
}

/// The example of docs/policies.md: the second job is in conflict with the first one, and the fifth has no waiting time.
const RECORDED: &str = include_str!("every_column/recorded.swf");

#[test]
fn jobs_start_as_recorded_beside_a_policy() {
    let folder = Folder::with(&[("log.swf", RECORDED)]);
    let both =
        ["replay", "log.swf", "--policy", "recorded,easy", "--json", "-o", "both", "--check"];
    let shown = json_of(&folder.haggle(&both));
    // The second job starts 5 s later, and the fifth has no recorded start.
    let recorded = json!({
        "jobs": 4, "later_jobs": 1, "mean_delay": 1.25, "max_delay": 5.0, "unknown_jobs": 1
    });
    assert_eq!(shown["recorded"]["all"]["recorded"], recorded);
    assert_eq!(shown["easy"]["all"]["recorded"], Value::Null, "only where the policy is used");
    // Starts at 5, 15, 11, 30 and 4 s, after submissions at 0 to 4 s.
    assert_eq!(shown["recorded"]["mean_waiting_time"], (5.0 + 14.0 + 9.0 + 27.0 + 0.0) / 5.0);
    let text = folder.haggle(&["replay", "log.swf", "--policy", "recorded"]);
    for counted in ["later than recorded", "without a recorded wait"] {
        let line = text.lines().find(|line| line.trim_start().starts_with(counted));
        assert!(line.is_some_and(|line| line.split_whitespace().any(|word| word == "1")), "{text}");
    }
}

/// Waits by the log: 5, 9, 9 and 27 s, with run times of 10, 10, 4 and 5 s; under EASY 0, 9, 0 and 17 s.
#[test]
fn any_policy_has_the_log_beside_it() {
    let folder = Folder::with(&[("log.swf", RECORDED)]);
    folder.haggle(&["replay", "log.swf", "-o", "easy", "--check"]);
    let shown = json_of(&folder.haggle(&["replay", "log.swf", "--json"]));
    let beside = &shown["all"]["as_recorded"];
    assert_eq!(beside["jobs"], 4);
    assert_eq!(
        (&beside["mean_waiting_time"], &beside["median_waiting_time"]),
        (&json!(12.5), &json!(9.0))
    );
    let (mut waits, mut differences) = (Vec::new(), Vec::new());
    let columns = "waiting_time,recorded_waiting_time";
    let jobs = json_of(&folder.haggle(&["jobs", "easy", "--columns", columns, "--json"]));
    for job in jobs.as_array().expect("a list of jobs") {
        let number = |column: &str| job[column].as_f64();
        if let Some((wait, recorded)) = number("waiting_time").zip(number("recorded_waiting_time"))
        {
            waits.push(wait);
            differences.push(wait - recorded);
        }
    }
    assert_eq!(waits.len(), 4);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / 4.0;
    assert_eq!((mean(&waits), mean(&differences)), (6.5, -6.0));
    assert_eq!(beside["simulated"]["mean_waiting_time"], mean(&waits));
    assert_eq!(beside["mean_difference"], mean(&differences));
    let absolute = Vec::from_iter(differences.iter().map(|it| it.abs()));
    assert_eq!(beside["mean_absolute_difference"], mean(&absolute));
    assert!(mean(&absolute) > 0.0);
    let compared = json_of(&folder.haggle(&["compare", "easy", "--recorded", "--json"]));
    assert_eq!((&compared["jobs"], &compared["unknown"]), (&json!(4), &json!(1)));
    assert_eq!(compared["difference"]["mean"], mean(&differences));
    assert_eq!(compared["difference"]["half_width"], Value::Null, "all jobs are of one week");
    // Blocks of a second have one job each.
    let blocks = ["compare", "easy", "--recorded", "--block", "1s", "--json"];
    assert_eq!(json_of(&folder.haggle(&blocks))["difference"]["n"], 4);
    // Blocks of two jobs have sums of -5 and -19: deviations of 3.5 from the mean, and t(1) = 12.706.
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "--recorded", "--block", "2s"]), @"
    exit code: 0
    ----- stdout -----
    4 jobs with recorded starts: 3 started earlier than recorded, 0 later, 1 as recorded
    1 more without a recorded start

      mean waiting time, s   mean  95 % of it  blocks
      as recorded           12.50     ± 69.88       2
      in the run             6.50     ± 25.41       2
      difference               -6     ± 44.47       2
      absolute difference       6     ± 44.47       2
    a block has the jobs that were submitted within 2s

      largest differences  processors  recorded, s  start, s  later, s  provider
      log!4                         4           30        20       -10  machine
      log!3                         1           11         2        -9  machine
      log!1                         3            5         0        -5  machine
    ----- stderr -----
    ");
    let plot = ["plot", "easy", "--kind", "waiting-ecdf", "--recorded", "-o", "it.svg"];
    let plotted = folder.haggle(&plot);
    assert!(plotted.starts_with("exit code: 0\n"), "{plotted}");
    assert!(folder.read("it.svg").contains("as recorded"));
}

#[test]
fn a_run_without_recorded_times_has_no_log_beside_it() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    folder.haggle(&["replay", "log.swf", "-o", "easy", "--quiet"]);
    for (arguments, wanted) in [
        ("compare easy --recorded", "no job of `easy` has a recorded start"),
        ("compare easy --recorded --block 0s", "a block of no time has no jobs"),
        ("compare easy easy --recorded", "cannot be used with"),
        ("plot easy --kind waiting-ecdf --recorded", "no job has recorded times"),
        ("plot easy --kind utilisation --recorded", "\"utilisation\" does not use --recorded"),
    ] {
        let shown = folder.haggle(&Vec::from_iter(arguments.split(' ')));
        assert!(
            !shown.starts_with("exit code: 0") && shown.contains(wanted),
            "{arguments}: {shown}"
        );
    }
    let shown = json_of(&folder.haggle(&["replay", "log.swf", "--json"]));
    assert_eq!(shown["all"]["as_recorded"], Value::Null);
}

#[test]
fn recorded_starts_are_explained() {
    let folder = Folder::with(&[("log.swf", RECORDED)]);
    folder.haggle(&["replay", "log.swf", "--policy", "recorded,easy", "-o", "both"]);
    let starts = folder.haggle(&["explain", "both/recorded", "--starts"]);
    assert_eq!(starts.matches("at the time recorded in its log").count(), 3, "{starts}");
    let explains = |job: &str, words: &str| {
        let shown = folder.haggle(&["explain", "both/recorded", job]);
        assert!(stdout_of(&shown).contains(words), "{shown}");
    };
    explains("log!4", "It started at the time recorded in its log: at 30 s.");
    explains("log!4", "before the start recorded in its log");
    explains("log!2", "Its log has recorded a start at 10 s; it started 5 s later.");
    explains("log!2", "too few processors free");
    explains("log!5", "Its log has no waiting time");
    let compare = ["compare", "both/recorded", "both/easy", "--metric", "mean_waiting_time"];
    let compared = folder.haggle(&compare);
    assert!(compared.contains("mean_waiting_time"), "{compared}");
}

/// The waiting times of a feasible schedule: those of LOG under EASY, and of a wide job that waits for no reason.
#[test]
fn a_feasible_log_has_its_own_figures_under_policy_recorded() {
    let log = LOG
        .replace("1 0 -1 100", "1 0 0 100")
        .replace("2 10 -1 100", "2 10 90 100")
        .replace("3 20 -1 50", "3 20 7 50");
    let log = format!("{log}4 30 370 20 8 -1 -1 8 60 -1 1 2 -1 -1 1 -1 -1 -1\n");
    let folder = Folder::with(&[("log.swf", &log)]);
    let shown = json_of(&folder.haggle(&["replay", "log.swf", "--policy", "recorded", "--json"]));
    let keys = [
        "mean_waiting_time",
        "max_waiting_time",
        "mean_bounded_slowdown",
        "makespan",
        "utilisation",
    ];
    for key in keys {
        let (found, recorded) = (shown[key].as_f64(), shown["as_recorded"][key].as_f64());
        let (found, recorded) = (found.expect("a number"), recorded.expect("a number"));
        assert!((found - recorded).abs() < 1e-9, "{key}: {found} and {recorded}");
    }
    assert_eq!(shown["mean_waiting_time"], (90.0 + 7.0 + 370.0) / 4.0);
    let recorded = json!({
        "jobs": 4, "later_jobs": 0, "mean_delay": 0.0, "max_delay": 0.0, "unknown_jobs": 0
    });
    assert_eq!(shown["all"]["recorded"], recorded);
}

#[test]
fn an_order_has_no_effect_on_recorded_starts() {
    let folder = Folder::with(&[("log.swf", RECORDED)]);
    let replay = ["replay", "log.swf", "--policy", "recorded", "--order", "shortest"];
    let shown = folder.haggle(&replay);
    let warning = "`--order` has no effect: policy \"recorded\" starts jobs as in the log";
    assert!(shown.contains(warning), "{shown}");
}

#[test]
fn a_replay_can_be_json() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let shown = json_of(&folder.haggle(&["replay", "log.swf", "--policy", "easy", "--json"]));
    let expected = [
        ("jobs", json!(3)),
        ("nb_jobs_success", json!(3)),
        ("nb_jobs_rejected", json!(0)),
        ("mean_waiting_time", json!(30.0)),
        ("mean_bounded_slowdown", json!(1.3)),
        ("makespan", json!(200.0)),
        ("utilisation", json!(0.9375)),
        ("rules", json!({ "log": "careful" })),
    ];
    for (key, value) in expected {
        assert_eq!(shown[key], value, "{key}");
    }
    assert_eq!(shown["all"]["outcomes"]["walltime_reached"], 0);
}

#[test]
fn a_replay_and_a_run_of_the_same_say_the_same() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let replay = ["replay", "log.swf", "--policy", "easy", "--json", "-o", "first"];
    let first = json_of(&folder.haggle(&replay));
    let second = json_of(&folder.haggle(&["run", "first/scenario.toml", "--json", "-o", "second"]));
    let without_folder = |mut it: Value| {
        it.as_object_mut().expect("an object").remove("folder").expect("a folder");
        it
    };
    assert_eq!(without_folder(first), without_folder(second));
}

#[test]
fn the_rules_are_told_and_can_be_chosen() {
    let missing = "4 30 -1 50 2 -1 -1 2 -1 -1 1 2 -1 -1 1 -1 -1 -1\n";
    let folder = Folder::with(&[("log.swf", &format!("{LOG}{missing}"))]);
    let jobs = |more: &[&str]| {
        let replay = ["replay", "log.swf", "--policy", "easy", "--json"];
        let shown = json_of(&folder.haggle(&[&replay[..], more].concat()));
        (shown["jobs"].as_u64().expect("a number"), shown["rules"]["log"].clone())
    };
    assert_eq!(jobs(&[]), (4, json!("careful")));
    assert_eq!(jobs(&["--rules", "canonical"]), (3, json!("canonical")));
    assert_eq!(jobs(&["--first", "2"]), (2, json!("careful, but lines = 2")));
}

#[test]
fn policies_differ() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let wait = |policy| {
        let shown = folder.haggle(&["replay", "log.swf", "--policy", policy, "--json"]);
        json_of(&shown)["mean_waiting_time"].as_f64().expect("a number")
    };
    // First come, first served: 0, 90 and 180 s. Otherwise the third job passes the second.
    assert_eq!([wait("fcfs"), wait("easy"), wait("conservative")], [90.0, 30.0, 30.0]);
}

#[test]
fn without_a_policy_it_is_easy() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let easy = folder.haggle(&["replay", "log.swf", "--policy", "easy"]);
    assert_eq!(folder.haggle(&["replay", "log.swf"]), easy);
}

/// Logs have no keys, and no option sets any.
#[test]
fn an_order_by_keys_that_no_job_has_is_warned_about() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let warned =
        "warning: `order = \"key\"` of provider \"machine\" has no effect: no job has a key";
    let replay = ["replay", "log.swf", "--order"];
    let said = |order| stderr_of(&folder.haggle(&[&replay[..], &[order]].concat())).to_owned();
    assert!(said("key").contains(warned), "{}", said("key"));
    assert!(!said("shortest").contains("has no effect"), "{}", said("shortest"));
}

#[test]
fn several_policies_stand_side_by_side() {
    let folder = Folder::with(&[("log.swf", &format!("{LOG}{WIDE}"))]);
    let several = ["replay", "log.swf", "--policy", "fcfs,easy", "--compression", "none"];
    insta::assert_snapshot!(folder.haggle(&[&several[..], &["-o", "both"]].concat()), @r#"
    exit code: 0
    ----- stdout -----
                                               fcfs    easy
      jobs                                        4       4
      mean waiting time, s                    90.00   30.00
      largest waiting time, s                   180      90
      mean bounded slowdown, threshold 10 s   2.500   1.300
      makespan, s                               250     200
      utilisation                            0.7500  0.9375
      rejected, jobs                              1       1
      rules for the log: careful
    results in both/fcfs
    results in both/easy
    ----- stderr -----
    workload log:
            4  job lines read
            1  wider than the machine: kept
            4  jobs kept

    note: 1 job needs more processors than its receiver has, and was rejected
    warning: `--compression` has no effect: only policy "conservative" reads it
    note: the log has no waiting times (field 3) to compare with
    "#);
    assert_eq!(folder.names_in("both"), ["easy", "fcfs"]);
    let shown = json_of(&folder.haggle(&[&several[..], &["--json"]].concat()));
    assert_eq!(shown["fcfs"]["mean_waiting_time"], 90.0);
    assert_eq!(shown["easy"]["mean_waiting_time"], 30.0);
    insta::assert_snapshot!(
        folder.haggle(&["replay", "log.swf", "--policy", "easy,fcfs,easy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: policy "easy" is there twice

    hint: name each policy once
    "#
    );
    insta::assert_snapshot!(
        folder.haggle_reading(LOG, &["replay", "-", "--policy", "easy,fcfs"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: a log that comes through a pipe can be read only once

    hint: write it into a file, or name one policy
    "#
    );
}

#[test]
fn only_jobs_of_some_are_replayed() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let jobs = |args: &[&str]| {
        let shown = folder.haggle(&[&["replay", "log.swf", "--json"], args].concat());
        json_of(&shown)["jobs"].as_u64().expect("a number")
    };
    assert_eq!(jobs(&["--user", "2"]), 2);
    assert_eq!(jobs(&["--user", "1,2", "--queue", "1"]), 3);
    assert_eq!(jobs(&["--group", "-1", "--user", "1"]), 1);
    let none = folder.haggle(&["replay", "log.swf", "--partition", "4"]);
    assert!(
        stderr_of(&none).contains("warning: no job is of these users, groups, queues and"),
        "{none}"
    );
}

#[test]
fn words_are_checked_with_a_suggestion() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    insta::assert_snapshot!(folder.haggle(&["replay", "log.swf", "--policy", "eazy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'eazy' for '--policy <POLICY>'
      [possible values: fcfs, easy, conservative, recorded]

      tip: a similar value exists: 'easy'

    For more information, try '--help'.
    "#);
    let compression = ["replay", "log.swf", "--policy", "conservative", "--compression", "by-job"];
    insta::assert_snapshot!(folder.haggle(&compression), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'by-job' for '--compression <RULE>'
      [possible values: by-start, job-by-job, replan, none]

      tip: a similar value exists: 'job-by-job'

    For more information, try '--help'.
    "#);
    let estimates = ["replay", "log.swf", "--policy", "easy", "--estimates", "exakt"];
    insta::assert_snapshot!(folder.haggle(&estimates), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'exakt' for '--estimates <RULE>': `exakt` is not a rule for estimates: write trace, exact, no-limit, factor:2 (twice the run time), over:50% (half as much again), uniform:5 (between once and five times) or precision:+20 (20 points more precise, to 100% at most); factors are at least 1

    For more information, try '--help'.
    "#);
}

#[test]
fn only_the_first_lines_are_read() {
    let folder = Folder::with(&[("log.swf", &format!("{LOG}damaged\n"))]);
    let first = ["replay", "log.swf", "--policy", "easy", "--json", "--first"];
    assert_eq!(json_of(&folder.haggle(&[&first[..], &["2"]].concat()))["jobs"], 2);
    let none = folder.haggle(&[&first[..], &["0"]].concat());
    assert!(none.starts_with("exit code: 2\n"), "{none}");
}

#[test]
fn what_users_ask_for_can_be_chosen() {
    // The second run exceeds its request, and the third has none.
    let log = LOG.replace(" 8 100 -1 1", " 8 40 -1 1").replace(" 2 60 -1 1", " 2 -1 -1 1");
    let folder = Folder::with(&[("log.swf", &log)]);
    let replay = ["replay", "log.swf", "--policy", "easy", "--json"];
    let count = |more: &[&str], key: &str| {
        json_of(&folder.haggle(&[&replay[..], more].concat()))[key].as_f64().expect("a number")
    };
    assert_eq!(count(&["--rules", "canonical"], "jobs"), 2.0);
    // With exact requests, all three are kept.
    assert_eq!(count(&["--estimates", "exact"], "jobs"), 3.0);
    assert_eq!(count(&["--estimates", "exact"], "makespan"), 140.0);
}

#[test]
fn malformed_lines_are_refused_or_left_out() {
    let log = LOG.replace("\n2 10 -1 100 8", "\n2 10 -1 1oo 8");
    let folder = Folder::with(&[("log.swf", &log)]);
    let replay = ["replay", "log.swf", "--policy", "easy"];
    insta::assert_snapshot!(folder.haggle(&replay), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf:4:9: field 4 (run time): expected a number, found "1oo"

    hint: replay with --lenient, or set `malformed = "skip"` in the workload's rules, to leave such lines out and count them
    "#);
    let lenient = folder.haggle(&[&replay[..], &["--lenient"]].concat());
    assert!(
        stdout_of(&lenient).starts_with("jobs                                   2"),
        "{lenient}"
    );
    insta::assert_snapshot!(stderr_of(&lenient), @r#"
    workload log:
            3  job lines read
            1  malformed line: skipped
               log.swf:4:9: field 4 (run time): expected a number, found "1oo"
            2  jobs kept

    note: the log has no waiting times (field 3) to compare with
    "#);
}

#[test]
fn a_job_wider_than_the_machine_is_rejected_and_noted() {
    let folder = Folder::with(&[("log.swf", &format!("{LOG}{WIDE}"))]);
    let shown = folder.haggle(&["replay", "log.swf", "--policy", "fcfs"]);
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    jobs                                   4
    mean waiting time                  90.00  s
    largest waiting time                 180  s
    mean bounded slowdown              2.500  threshold 10 s
    makespan                             250  s
    utilisation                       0.7500
    rules for the log                careful
    rejected                               1  jobs
    ----- stderr -----
    workload log:
            4  job lines read
            1  wider than the machine: kept
            4  jobs kept

    note: 1 job needs more processors than its receiver has, and was rejected
    note: the log has no waiting times (field 3) to compare with
    "#);
    let shown = folder.haggle(&["replay", "log.swf", "--policy", "fcfs", "--processors", "5"]);
    insta::assert_snapshot!(stderr_of(&shown), @r#"
    workload log:
            4  job lines read
            3  wider than the machine: kept
            4  jobs kept

    note: 3 jobs need more processors than their receivers have, and were rejected
    note: the log has no waiting times (field 3) to compare with
    "#);
    let quiet = folder.haggle(&["replay", "log.swf", "--policy", "fcfs", "--quiet"]);
    assert_eq!(stderr_of(&quiet), "");
}

#[test]
fn logs_come_through_pipes() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let easy = ["--policy", "easy", "--processors", "8"];
    let piped = folder.haggle_reading(LOG, &[&["replay", "-"], &easy[..]].concat());
    assert!(piped.starts_with("exit code: 0\n"), "{piped}");
    let read = folder.haggle(&[&["replay", "log.swf"], &easy[..]].concat());
    assert_eq!(stdout_of(&piped), stdout_of(&read));
    let waited = LOG.replace(" -1 100 ", " 5 100 ");
    assert_ne!(waited, LOG);
    let piped = folder.haggle_reading(&waited, &[&["replay", "-"], &easy[..]].concat());
    assert!(piped.contains("as recorded"), "{piped}");
    let written = folder.haggle_reading(LOG, &[&["replay", "-", "-o", "out"], &easy[..]].concat());
    assert!(written.starts_with("exit code: 0\n"), "{written}");
    insta::assert_snapshot!(folder.haggle_reading(LOG, &["replay", "-", "--policy", "easy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: a log from standard input does not contain the number of processors of its machine

    hint: add --processors N
    "#);
    let empty = folder.haggle_reading("", &[&["replay", "-"], &easy[..]].concat());
    insta::assert_snapshot!(empty, @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: <stdin>: log holds no jobs
    "#);
}

#[test]
fn a_log_that_does_not_know_its_machine_needs_an_option() {
    let unknown = LOG.replace("; MaxProcs: 8\n", "");
    let folder = Folder::with(&[("log.swf", &unknown)]);
    insta::assert_snapshot!(folder.haggle(&["replay", "log.swf", "--policy", "easy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `log.swf` does not contain the number of processors of its machine

    hint: add --processors N
    "#);
    for (size, exit) in [("8", "exit code: 0\n"), ("0", "exit code: 2\n")] {
        let replay = ["replay", "log.swf", "--policy", "easy", "--processors", size];
        let shown = folder.haggle(&replay);
        assert!(shown.starts_with(exit), "{shown}");
    }
}

#[test]
fn logs_that_are_none_are_refused() {
    let folder = Folder::with(&[
        ("empty.swf", ""),
        ("garbage.swf", "\u{1}\u{2}\u{3} PNG \u{0}\n\u{7f}\n"),
        ("unsorted.swf", &LOG.replace("\n3 20 ", "\n3 5 ")),
    ]);
    let shown: String = ["missing.swf", "empty.swf", "garbage.swf", "unsorted.swf", "."]
        .iter()
        .map(|log| folder.haggle(&["replay", log, "--policy", "easy", "--processors", "8"]))
        .collect();
    insta::assert_snapshot!(shown, @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: workload "missing": missing.swf: cannot open the log: No such file or directory (os error 2)

    hint: logs are in the Parallel Workloads Archive (https://www.cs.huji.ac.il/labs/parallel/workload/); `haggle workload generate --jobs 2000 --processors 64 log.swf.gz` generates one
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: empty.swf: log holds no jobs
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: garbage.swf:1: expected 18 fields, found 3

    hint: replay with --lenient, or set `malformed = "skip"` in the workload's rules, to leave such lines out and count them
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: unsorted.swf:5: job 3 was submitted at 5 s, before the job above it (10 s); set the order rule to sort

    hint: set `order = "sort"` in the workload's rules, or sort the log first: `haggle workload convert --order sort LOG SORTED`
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: workload "scenario": .: cannot open the log: it is a folder, and not a file
    "#);
    insta::assert_snapshot!(folder.haggle(&["replay", "missing.swf", "--policy", "easy"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: missing.swf: cannot open the log: No such file or directory (os error 2)

    hint: logs are in the Parallel Workloads Archive (https://www.cs.huji.ac.il/labs/parallel/workload/); `haggle workload generate --jobs 2000 --processors 64 log.swf.gz` generates one
    "#);
}

#[test]
fn passes_other_than_the_default_are_told() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let replay = |more: &[&str]| folder.haggle(&[&["replay", "log.swf"], more].concat());
    assert!(!replay(&["--passes", "instant"]).contains("passes"));
    let one = replay(&["--passes", "event"]);
    assert!(one.contains("passes") && one.contains("event"), "{one}");
    let several = replay(&["--passes", "event", "--policy", "fcfs,easy"]);
    assert!(several.contains("  passes of the scheduler: event\n"), "{several}");
}

#[test]
fn results_are_written_where_asked_for() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let replay = ["replay", "log.swf", "--policy", "easy", "-o", "out"];
    insta::assert_snapshot!(folder.haggle(&replay), @r#"
    exit code: 0
    ----- stdout -----
    jobs                                   3
    mean waiting time                  30.00  s
    largest waiting time                  90  s
    mean bounded slowdown              1.300  threshold 10 s
    makespan                             200  s
    utilisation                       0.9375
    rules for the log                careful
    results in out
    ----- stderr -----
    note: the log has no waiting times (field 3) to compare with
    `haggle plot out --kind waiting-ecdf` draws waiting times
    "#);
    let hinted = folder.haggle(&["plot", "out", "--kind", "waiting-ecdf", "-o", "plot.png"]);
    assert!(hinted.starts_with("exit code: 0\n"), "{hinted}");
    let before = folder.tree("out");
    insta::assert_snapshot!(folder.haggle(&replay), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `out` exists already and stays as it is: name another folder, or replace it with --force
    "#);
    assert_eq!(folder.tree("out"), before);
    let fcfs = ["replay", "log.swf", "--policy", "fcfs", "-o", "out", "--force"];
    let forced = folder.haggle(&fcfs);
    assert!(forced.starts_with("exit code: 0\n"), "{forced}");
    assert_ne!(folder.tree("out")["jobs.parquet"], before["jobs.parquet"]);
    // The scenario among the results gives them again.
    let again = folder.haggle(&["run", "out/scenario.toml", "-o", "again", "--no-figures"]);
    assert!(again.starts_with("exit code: 0\n"), "{again}");
    assert_eq!(folder.tree("out")["jobs.parquet"], folder.tree("again")["jobs.parquet"]);
    insta::assert_snapshot!(folder.haggle(&["replay", "log.swf", "--policy", "easy", "--force"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the following required arguments were not provided:
      --output <DIR>

    Usage: haggle replay --output <DIR> --policy <POLICY> --force <LOG>

    For more information, try '--help'.
    "#);
}

#[test]
fn both_drivers_give_the_same() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let digest = |driver: &str| {
        let replay = ["replay", "log.swf", "--policy", "easy", "--check", "--json"];
        let shown = folder.haggle(&[&replay[..], &["--driver", driver, "-o", driver]].concat());
        json_of(&shown)["digest"].as_str().expect("a text").to_owned()
    };
    assert_eq!(digest("sequential"), digest("actix"));
}

/// Two jobs end at 20 s, long before their requests; the third one needs both processors.
#[test]
fn a_replay_decides_once_an_instant_or_after_each_event() {
    let log = "\
; MaxProcs: 2
1 0 -1 20 1 -1 -1 1 100 -1 1 1 1 -1 1 1 -1 -1
2 0 -1 20 1 -1 -1 1 100 -1 1 1 1 -1 1 1 -1 -1
3 1 -1 50 2 -1 -1 2 50 -1 1 1 1 -1 1 1 -1 -1
4 2 -1 30 1 -1 -1 1 80 -1 1 1 1 -1 1 1 -1 -1
";
    let folder = Folder::with(&[("log.swf", log)]);
    for (passes, wait) in [("instant", 21.75), ("event", 16.75)] {
        let shown = folder.haggle(&["replay", "log.swf", "--passes", passes, "--json", "--quiet"]);
        let found = json_of(&shown)["mean_waiting_time"].as_f64();
        assert_eq!(found, Some(wait), "{shown}");
    }
}

/// A job that ran for 400 s with a request of 300 s, and one that needs the whole machine.
const OVERRUN: &str = "\
; MaxProcs: 2
1 0 -1 400 1 -1 -1 1 300 -1 1 1 1 -1 1 1 -1 -1
2 10 -1 50 2 -1 -1 2 60 -1 1 2 1 -1 1 1 -1 -1
";

#[test]
fn jobs_run_past_their_request_if_told_so() {
    let folder = Folder::with(&[("log.swf", OVERRUN)]);
    let replay = |options: &[&str]| {
        let common = ["replay", "log.swf", "--policy", "fcfs", "--check", "--json"];
        json_of(&folder.haggle(&[&common[..], options].concat()))
    };
    let wait = |told: &Value| told["max_waiting_time"].as_f64();
    let stopped = |told: &Value| told["all"]["outcomes"]["walltime_reached"].as_u64();
    let cut = replay(&[]);
    assert_eq!((wait(&cut), stopped(&cut)), (Some(290.0), Some(0)));
    for rules in ["careful", "canonical"] {
        let extended = replay(&["--overrun", "extend", "--rules", rules]);
        assert_eq!((wait(&extended), stopped(&extended)), (Some(390.0), Some(0)));
        let killed = replay(&["--overrun", "kill", "--rules", rules]);
        assert_eq!((wait(&killed), stopped(&killed)), (Some(290.0), Some(1)));
    }
    let vain = folder.haggle(&["replay", "log.swf", "--overrun", "kill", "--estimates", "exact"]);
    assert!(vain.contains("`--overrun` has no effect"), "{vain}");
}

#[test]
fn a_policy_that_is_an_order_is_answered_with_the_option() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    insta::assert_snapshot!(folder.haggle(&["replay", "log.swf", "--policy", "sjf"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: "sjf" is an order of the queue, and no policy: write `--order shortest` beside `--policy fcfs`, `easy` or `conservative`
    "#);
    let wrong = folder.haggle(&["replay", "log.swf", "--policy", "esy"]);
    assert!(wrong.contains("possible values: fcfs, easy, conservative"), "{wrong}");
}
