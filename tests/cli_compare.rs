//! `haggle compare`: the differences between two runs.

use crate::cli_explain::SAVING;
use crate::command::{Folder, json_of, succeeds};
use crate::small_runs::runs;

#[test]
fn a_run_is_identical_with_itself() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "easy"]), @r#"
    exit code: 0
    ----- stdout -----
    A  easy
    B  easy

    identical: all tables and the summary are the same

    the scenarios are the same
    ----- stderr -----
    "#);
}

#[test]
fn messages_that_only_one_run_kept_are_no_difference() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "silent"]), @r#"
    exit code: 0
    ----- stdout -----
    A  easy
    B  silent

    identical: the common tables and the summary are the same
    only one has messages

      scenario          A       B
      results.messages  "all"   "none"
      scenario.name     "easy"  "silent"
    ----- stderr -----
    "#);
}

#[test]
fn another_policy_moves_jobs() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "fcfs", "--jobs", "1"]), @r#"
    exit code: 1
    ----- stdout -----
    A  easy
    B  fcfs

    different: attempts, jobs, messages, placements, resources

      scenario                    A       B
      provider.north.policy.name  "easy"  "fcfs"
      scenario.name               "easy"  "fcfs"

      metric                               A       B    B - A        %
      makespan                           150     180      +30   +20.00
      utilisation                     0.6111  0.5093  -0.1019   -16.67
      utilisation_in_window           0.6111  0.5093  -0.1019   -16.67
      average_weighted_response_time  107.45  114.55    +7.09    +6.60
      mean_waiting_time                22.50      55   +32.50  +144.44
      median_waiting_time                  0      45      +45        -
      p95_waiting_time                 76.50  124.00   +47.50   +62.09
      max_waiting_time                    90     130      +40   +44.44
      mean_turnaround_time                70  102.50   +32.50   +46.43
      median_turnaround_time              65     120      +55   +84.62
      p95_turnaround_time                134     157      +23   +17.16
      max_turnaround_time                140     160      +20   +14.29
      mean_slowdown                     1.45    2.53    +1.08   +74.71
      median_slowdown                      1    1.90  +0.9000   +90.00
      p95_slowdown                      2.53    4.95    +2.42   +95.78
      max_slowdown                      2.80    5.33    +2.53   +90.48
      mean_bounded_slowdown             1.45    2.53    +1.08   +74.71
      median_bounded_slowdown              1    1.90  +0.9000   +90.00
      p95_bounded_slowdown              2.53    4.95    +2.42   +95.78
      max_bounded_slowdown              2.80    5.33    +2.53   +90.48
      jobs                                 5       5        0        0
      completed_jobs                       4       4        0        0
      walltime_reached_jobs                0       0        0        -
      cancelled_jobs                       0       0        0        -
      failed_jobs                          0       0        0        -
      rejected_jobs                        1       1        0        0
      unfinished_jobs                      0       0        0        -
      promises_broken                      0       0        0        -
      items_disclosed                      2       2        0        0
      disclosed.estimate                   2       2        0        0
      disclosed.job                        3       3        0        0
      disclosed.job_status                 2       2        0        0
      disclosed.refusal                    1       1        0        0

    5 jobs in both: 0 started earlier in B, 1 later, 3 at the same time
    1 of them started in neither
    4 jobs ended in both; 1 ended at another time in B (0 earlier, 1 later), with a mean turnaround time 5.33 times that in A

      largest differences  processors  start in A, s  start in B, s  B - A, s  provider
      local!3                       1             20            150      +130  north
    ----- stderr -----
    "#);
}

#[test]
fn a_comparison_as_json_has_the_same_facts() {
    let folder = runs();
    let said = folder.haggle(&["compare", "easy", "fcfs", "--json"]);
    for fact in ["exit code: 1", "\"identical\": false", "\"later\": 1", "\"start_b\": 150.0"] {
        assert!(said.contains(fact), "{fact} is not in {said}");
    }
}

/// Two users with one workload have two jobs with each number.
#[test]
fn jobs_of_users_with_one_workload_are_all_compared() {
    let user = |name: &str| {
        format!("[[user]]\nname = \"{name}\"\nworkload = \"w\"\nsubmits-to = \"north\"\n")
    };
    let scenario = |policy: &str| {
        let users = [user("a"), user("b")].concat();
        format!(
            "[[workload]]\nname = \"w\"\njobs = [{{ submit = \"0s\", run = \"60s\", processors = 4 }}]\n{users}\
             [[provider]]\nname = \"north\"\nprocessors = 4\npolicy = \"{policy}\"\n"
        )
    };
    let folder = Folder::with(&[("a.toml", &scenario("easy")), ("b.toml", &scenario("fcfs"))]);
    succeeds(&folder, &["run", "a.toml", "-o", "a"]);
    succeeds(&folder, &["run", "b.toml", "-o", "b"]);
    let said = folder.haggle(&["compare", "a", "b"]);
    let starts = "2 jobs in both: 0 started earlier in B, 0 later, 2 at the same time";
    assert!(said.contains(starts), "{said}");
}

/// Adds a draw: equal job numbers under two seeds are different jobs.
#[test]
fn jobs_that_are_drawn_anew_are_not_paired() {
    let drawn = r#"
[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 20, processors = 8, load = 0.7 }

[[workload]]
name = "listed"
jobs = [{ submit = "0s", processors = 4, requested = "100s", run = "80s" }]

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[user]]
name = "others"
workload = "listed"
submits-to = "north"
"#;
    let folder = Folder::with(&[("it.toml", drawn)]);
    for (seed, output) in [("1", "one"), ("7", "seven")] {
        let said = folder.haggle(&["run", "it.toml", "--seed", seed, "-o", output, "--quiet"]);
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    let said = folder.haggle(&["compare", "one", "seven"]);
    let from = said.find("20 jobs with").expect("the jobs are told");
    insta::assert_snapshot!(&said[from..], @r#"
    20 jobs with the same number in both, but another submission, width, request or run time
      jobs: 0 of 20 are the same
      the seeds are 1 and 7, so the draws of workloads differ: only the metrics above
      compare the runs as a whole
    1 job in both: 0 started earlier in B, 0 later, 1 at the same time
    ----- stderr -----
    "#);
}

#[test]
fn a_folder_whose_tables_were_cut_is_not_what_was_written() {
    let folder = runs();
    let jobs = folder.read("easy/jobs.csv");
    let cut: Vec<&str> = jobs.lines().take(3).collect();
    std::fs::create_dir(folder.path().join("cut")).expect("it can be made");
    for name in folder.names_in("easy") {
        let from = folder.path().join("easy").join(&name);
        std::fs::copy(from, folder.path().join("cut").join(&name)).expect("it can be copied");
    }
    assert!(folder.haggle(&["compare", "easy", "cut"]).starts_with("exit code: 0\n"));
    let path = folder.path().join("cut/jobs.csv");
    std::fs::write(&path, cut.join("\n") + "\n").expect("it can be written");
    let said = folder.haggle(&["compare", "easy", "cut", "-j", "0"]);
    let until = said.find("\nall ").expect("equal metrics come next");
    insta::assert_snapshot!(&said[..until], @r#"
    exit code: 1
    ----- stdout -----
    A  easy
    B  cut

    B was changed after its run: jobs not as in provenance.json
    different: jobs

    the scenarios are the same
    "#);
    insta::assert_snapshot!(folder.haggle(&["verify", "easy"]), @r#"
    exit code: 0
    ----- stdout -----
    easy: all tables are unchanged
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["verify", "cut"]), @r#"
    exit code: 1
    ----- stdout -----
    cut: changed after its run: jobs.csv
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["verify", "cut", "--variants", "2"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `cut` is a folder of results, which has no variants

    hint: remove --variants, or name a scenario
    "#);
    let both = folder.haggle(&["compare", "cut", "cut"]);
    insta::assert_snapshot!(both, @r#"
    exit code: 1
    ----- stdout -----
    A  cut
    B  cut

    A was changed after its run: jobs not as in provenance.json
    B was changed after its run: jobs not as in provenance.json
    both have the same tables now

    the scenarios are the same

    all 33 metrics are the same

    2 jobs in both: 0 started earlier in B, 0 later, 1 at the same time
    1 of them started in neither
    ----- stderr -----
    "#);
}

#[test]
fn grids_and_providers_differ_in_attempts() {
    let folder = Folder::with(&[
        ("one.toml", crate::cli_explain::GRID),
        ("two.toml", &crate::cli_explain::GRID.replace("migration", "fjbcr").replace(SAVING, "")),
        ("three.toml", crate::cli_explain::MAINTENANCE),
        (
            "four.toml",
            &crate::cli_explain::MAINTENANCE.replace("\"3h\"]]", "\"3h\"], [\"4h\", \"5h\"]]"),
        ),
    ]);
    for name in ["one", "two", "three", "four"] {
        let said = folder.haggle(&["run", &format!("{name}.toml"), "-o", name, "--quiet"]);
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    let from = |said: &str| {
        let at = said.find(" in both:").expect("the jobs are told");
        let line = said[..at].rfind('\n').map_or(0, |end| end + 1);
        said[line..].to_owned()
    };
    insta::assert_snapshot!(from(&folder.haggle(&["compare", "one", "two"])), @r#"
    4 jobs in both: 1 started earlier in B, 0 later, 2 at the same time
    1 of them started only in A
    2 of them went to another provider
    1 job: completed in A, failed in B
    3 jobs ended in both; 3 ended at another time in B (2 earlier, 1 later), with a mean turnaround time 1.36 times that in A

      largest differences  processors  start in A, s  start in B, s  B - A, s  provider
      jobs!3                        1           4860           4260      -600  alpha-1 -> beta-1

      attempts    A  B
      completed   3  2
      failed      1  1
      unfinished  1  1
    1 job had fewer of them in B
    ----- stderr -----
    "#);
    insta::assert_snapshot!(from(&folder.haggle(&["compare", "three", "four"])), @r#"
    1 job in both: 0 started earlier in B, 1 later, 0 at the same time
    1 job ended in both; 1 ended at another time in B (0 earlier, 1 later), with a mean turnaround time 1.25 times that in A

      largest differences  processors  start in A, s  start in B, s  B - A, s  provider
      jobs!1                        8          10800          18000     +7200  north

      attempts   A  B
      completed  1  1
      failed     1  2
    1 job had more of them in B
    ----- stderr -----
    "#);
}

#[test]
fn sweeps_are_paired_by_variant_and_seed() {
    let folder = runs();
    let sweep = folder.read("sweep.toml");
    let fewer = sweep.replace("replications = 2", "replications = 1");
    let other = sweep.replacen("processors = 2\n", "processors = 3\n", 1);
    for (name, text) in [("fewer", &fewer), ("other", &other), ("again", &sweep)] {
        let file = format!("{name}.toml");
        std::fs::write(folder.path().join(&file), text).expect("it can be written");
        let said = folder.haggle(&["sweep", &file, "-o", name, "--quiet"]);
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    insta::assert_snapshot!(folder.haggle(&["compare", "again", "again"]), @r#"
    exit code: 0
    ----- stdout -----
    A  again
    B  again

    8 runs in both: 8 identical, 0 different
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["compare", "again", "fewer"]), @r#"
    exit code: 1
    ----- stdout -----
    A  again
    B  fewer

    4 runs in both: 4 identical, 0 different
    4 runs only in A
      policy=easy/speed=1/seed=2
      policy=easy/speed=2/seed=2
      policy=fcfs/speed=1/seed=2
      policy=fcfs/speed=2/seed=2
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["compare", "again", "other", "--metric", "makespan"]), @r#"
    exit code: 1
    ----- stdout -----
    A  again
    B  other

    8 runs in both: 0 identical, 8 different

    means, and differences seed by seed
      variant              metric    seeds    A    B  B - A  95 % of it
      policy=easy/speed=1  makespan      2  150  150      0           -
      policy=easy/speed=2  makespan      2   75   75      0           -
      policy=fcfs/speed=1  makespan      2  180  180      0           -
      policy=fcfs/speed=2  makespan      2   90   90      0           -
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["compare", "again", "other", "--metric", "span"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: no metric "span" in these runs

    hint: metrics are the columns of runs.csv behind the axes, and the metrics of groups in aggregate.csv
    "#);
    // Names in figures and aggregate.csv are accepted here too, in any spelling.
    let group = "class.external.mean-turnaround-time";
    let sweeps = folder.haggle(&["compare", "again", "other", "--metric", group]);
    assert!(
        sweeps.contains("  policy=easy/speed=1  class.external.mean_turnaround_time"),
        "{sweeps}"
    );
    let against = ["compare", "again", "--against", "policy=easy", "--metric", group];
    let against = folder.haggle(&against);
    assert!(against.contains("  class.external.mean_turnaround_time  1"), "{against}");
    let runs =
        ["compare", "easy", "fcfs", "--jobs", "0", "--metric", group, "--metric", "makespan"];
    let shown = folder.haggle(&runs);
    assert!(shown.contains("class.external.mean_turnaround_time"), "{shown}");
    assert!(shown.contains("makespan") && !shown.contains("utilisation"), "{shown}");
    insta::assert_snapshot!(folder.haggle(&["compare", "again", "easy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `again` is a sweep, and the other folder is not

    hint: name one of its runs: `haggle show --runs again/scenario.toml` lists their folders
    "#);
}

#[test]
fn folders_that_are_no_runs_are_refused() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "."]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `.` holds no results: there is no provenance.json in it

    hint: `haggle run SCENARIO -o DIR` makes such a folder
    "#);
    insta::assert_snapshot!(folder.haggle(&["compare", "nowhere", "easy"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cannot read `nowhere`: No such file or directory (os error 2)
    "#);
}

/// Tables hold seconds as floats, which cannot distinguish all microseconds of centuries.
#[test]
fn a_run_of_centuries_is_as_it_was_written() {
    let job = |number: u32| {
        let submit = u64::from(number) * 100_000_007;
        format!("{number} {submit} -1 {number} 1 -1 -1 1 100 -1 1 1 1 1 1 -1 -1 -1\n")
    };
    let log: String = (0..90).map(job).collect();
    for format in ["csv", "parquet"] {
        let scenario = format!(
            "[[workload]]\nname = \"w\"\nlog = \"w.swf\"\n\
             [[user]]\nname = \"u\"\nworkload = \"w\"\nsubmits-to = \"p\"\n\
             [[provider]]\nname = \"p\"\nprocessors = 1\nspeed = 1.3\npolicy = \"easy\"\n\
             [results]\nformat = \"{format}\"\n"
        );
        let folder = Folder::with(&[("w.swf", log.as_str()), ("it.toml", scenario.as_str())]);
        for name in ["a", "b"] {
            let shown = folder.haggle(&["run", "it.toml", "--quiet", "--check", "-o", name]);
            assert!(shown.starts_with("exit code: 0"), "{shown}");
        }
        let shown = folder.haggle(&["verify", "a"]);
        assert!(shown.contains("all tables are unchanged"), "{shown}");
        let shown = folder.haggle(&["compare", "a", "b"]);
        assert!(shown.contains("identical"), "{shown}");
    }
}

/// Readers use one of two formats, but the other one belongs to the user too.
#[test]
fn tables_of_both_formats_are_verified() {
    let scenario = "[[workload]]\nname = \"w\"\njobs = [{ submit = \"0s\", processors = 1, run = \"7s\" }]\n\
                    [[user]]\nname = \"u\"\nworkload = \"w\"\nsubmits-to = \"p\"\n\
                    [[provider]]\nname = \"p\"\nprocessors = 1\n";
    let folder = Folder::with(&[("it.toml", scenario)]);
    let run = ["run", "it.toml", "--format", "both", "--quiet", "-o", "out"];
    assert!(folder.haggle(&run).starts_with("exit code: 0"));
    let verified = || folder.haggle(&["verify", "out"]);
    assert!(verified().contains("out: all tables are unchanged"), "{}", verified());
    let file = |name: &str| folder.path().join("out").join(name);
    let attempts = folder.read("out/attempts.csv");
    // The size stays equal, so that only the values differ.
    std::fs::write(file("attempts.csv"), attempts.replace('7', "8")).expect("it can be written");
    std::fs::remove_file(file("jobs.csv")).expect("it is there");
    let jobs = std::fs::read(file("resources.parquet")).expect("it is there");
    std::fs::write(file("resources.parquet"), &jobs[..jobs.len() / 2]).expect("it can be written");
    insta::assert_snapshot!(verified(), @r#"
    exit code: 1
    ----- stdout -----
    out: changed after its run: jobs.csv, attempts.csv, resources.parquet
    ----- stderr -----
    "#);
    // A reader would take a table that the run did not write in place of its own.
    let run = ["run", "it.toml", "--format", "csv", "--quiet", "-o", "csv"];
    assert!(folder.haggle(&run).starts_with("exit code: 0"));
    let added = folder.path().join("csv/jobs.parquet");
    std::fs::copy(file("jobs.parquet"), added).expect("it can be copied");
    let verified = folder.haggle(&["verify", "csv"]);
    assert!(verified.contains("csv: changed after its run: jobs.parquet\n"), "{verified}");
}

#[test]
fn variants_of_a_sweep_are_held_against_one_of_them() {
    let folder = runs();
    folder.haggle(&["sweep", "sweep.toml", "-o", "sweep", "--quiet"]);
    // The replications of a log are copies, and their differences have no interval.
    insta::assert_snapshot!(folder.haggle(&["compare", "sweep", "--against", "policy=easy"]), @r#"
    exit code: 0
    ----- stdout -----
    against policy = easy: differences seed by seed, and with how many seeds the value is lower and higher

      metric                 speed  policy  seeds    mean  of easy  difference  95 % of it  lower  higher
      mean_waiting_time      1      fcfs        2      55    22.50      +32.50           -      0       2
      mean_waiting_time      2      fcfs        2   23.75       10      +13.75           -      0       2
      mean_bounded_slowdown  1      fcfs        2    2.53     1.45       +1.08           -      0       2
      mean_bounded_slowdown  2      fcfs        2    2.32     1.40     +0.9167           -      0       2
      utilisation            1      fcfs        2  0.5093   0.6111     -0.1019           -      2       0
      utilisation            2      fcfs        2  0.5278   0.6333     -0.1056           -      2       0
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["compare", "sweep", "--against", "policy=eazy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the axis "policy" has no value "eazy": it has easy, fcfs

    hint: `haggle show --runs sweep/scenario.toml` lists its runs
    "#);
    insta::assert_snapshot!(folder.haggle(&["compare", "easy", "--against", "policy=easy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `easy` is no sweep

    hint: --against compares the variants of a sweep: name the folder of one
    "#);
    insta::assert_snapshot!(folder.haggle(&["compare", "sweep"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the following required arguments were not provided:
      <B>

    Usage: haggle compare <A> <B>

    For more information, try '--help'.
    "#);
    let json = folder.haggle(&[
        "compare",
        "sweep",
        "--against",
        "policy=easy",
        "--metric",
        "makespan",
        "--json",
    ]);
    insta::assert_snapshot!(json, @r#"
    exit code: 0
    ----- stdout -----
    [
      {
        "base": 150.0,
        "difference": {
          "half_width": null,
          "mean": 30.0,
          "n": 2,
          "std": 0.0
        },
        "higher": 2,
        "lower": 0,
        "mean": 180.0,
        "metric": "makespan",
        "point": [
          [
            "speed",
            "1"
          ]
        ],
        "variant": "fcfs"
      },
      {
        "base": 75.0,
        "difference": {
          "half_width": null,
          "mean": 15.0,
          "n": 2,
          "std": 0.0
        },
        "higher": 2,
        "lower": 0,
        "mean": 90.0,
        "metric": "makespan",
        "point": [
          [
            "speed",
            "2"
          ]
        ],
        "variant": "fcfs"
      }
    ]
    ----- stderr -----
    "#);
}

/// Requests of providers are served in another order, and come to the same.
#[test]
fn rows_in_another_order_are_told_from_other_rows() {
    let folder = Folder::with(&[]);
    let order = "metascheduler.broker.coallocation.requests=by-provider";
    folder.haggle(&["run", "--example", "coallocation", "--no-figures", "-o", "turns"]);
    folder.haggle(&[
        "run",
        "--example",
        "coallocation",
        "--no-figures",
        "-o",
        "by",
        "--set",
        order,
    ]);
    let shown = folder.haggle(&["compare", "turns", "by"]);
    assert!(shown.starts_with("exit code: 1\n"), "{shown}");
    assert!(shown.contains("\ndifferent: disclosures, messages\n"), "{shown}");
    assert!(shown.contains("\nsame rows in another order: messages, disclosures\n"), "{shown}");
    assert!(shown.contains(" metrics are the same\n") && !shown.contains("B - A"), "{shown}");
    let asked = folder.haggle(&["compare", "turns", "by", "--metric", "makespan"]);
    assert!(asked.contains("B - A"), "{asked}");
    let other = ["compare", "turns", "other"];
    let policy = "provider.north.policy=fcfs";
    folder.haggle(&["run", "--example", "quickstart", "--no-figures", "-o", "turns", "--force"]);
    folder.haggle(&[
        "run",
        "--example",
        "quickstart",
        "--no-figures",
        "-o",
        "other",
        "--set",
        policy,
    ]);
    let shown = folder.haggle(&other);
    assert!(!shown.contains("another order"), "{shown}");
}

#[test]
fn hours_of_waiting_are_summed_up_by_owner() {
    let folder = runs();
    let told = folder.haggle(&["compare", "easy", "fcfs", "--by", "user"]);
    assert!(told.contains("hours of waiting by user"), "{told}");
    let compared = json_of(&folder.haggle(&["compare", "easy", "fcfs", "--by", "user", "--json"]));
    let owners = &compared["owners"];
    let all = owners["all"]["jobs"].as_u64().expect("a number");
    let of_each = owners["owners"].as_array().expect("owners").iter();
    assert_eq!(of_each.map(|it| it["jobs"].as_u64().expect("a number")).sum::<u64>(), all);
    assert!(all > 0);
    let none = folder.haggle(&["compare", "easy", "fcfs", "--by", "user", "--block", "0s"]);
    assert!(none.contains("a block of no time"), "{none}");
}
