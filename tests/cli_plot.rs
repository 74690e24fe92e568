//! `haggle plot` and `haggle show` of results.

use crate::command::Folder;
use crate::small_runs::runs;

#[test]
fn figures_are_drawn_where_they_are_wanted() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "gantt", "--kind", "queue-length", "-o", "out"]), @r#"
    exit code: 0
    ----- stdout -----
    out/gantt.png
    out/queue-length.png
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "silent", "--kind", "waiting-ecdf", "-o", "both.svg"]), @r#"
    exit code: 0
    ----- stdout -----
    both.svg
    ----- stderr -----
    "#);
    let starts = [("out/gantt.png", b"\x89PNG"), ("both.svg", b"<svg")];
    for (file, start) in starts {
        let bytes = std::fs::read(folder.path().join(file)).expect("it was drawn");
        assert!(bytes.starts_with(start), "{file} does not start with {start:?}");
    }
}

#[test]
fn a_figure_for_a_column_of_a_paper_is_a_page_of_its_size() {
    let folder = runs();
    let column = ["plot", "easy", "--kind", "waiting-ecdf", "--size", "88x60mm", "--title", ""];
    folder.haggle(&[&column[..], &["-o", "column.pdf"]].concat());
    let page = std::fs::read(folder.path().join("column.pdf")).expect("it was drawn");
    let page = String::from_utf8_lossy(&page);
    // 88 x 60 mm in points, rounded to a pixel.
    assert!(page.contains("/MediaBox [0 0 249.375 170.25]"), "{page}");
    folder.haggle(&[&column[..], &["-o", "column.svg"]].concat());
    let drawn = folder.read("column.svg");
    assert!(drawn.contains("waiting time") && !drawn.contains("easy: waiting"), "{drawn}");
    insta::assert_snapshot!(
        folder.haggle(&["plot", "easy", "--kind", "gantt", "--size", "88x60", "-o", "out"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value '88x60' for '--size <SIZE>': `88x60` is not the size of a picture: write width x height from 53x40mm to 1300x1300mm, or from 400x300px to 10000x10000px, such as "88x60mm"

    For more information, try '--help'.
    "#
    );
}

#[test]
fn axes_have_the_ends_and_scales_that_are_asked_for() {
    let folder = runs();
    let plot = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        folder.haggle(&[&["plot"], arguments.as_slice(), &["-o", "it.svg", "--force"]].concat())
    };
    for (arguments, wanted) in [
        ("easy --kind waiting-ecdf --complement", "share of jobs that waited longer, %"),
        ("easy --kind waiting-ecdf --y-range 88%..100%", ">88<"),
        ("easy --kind waiting-ecdf --x-range 5s..5min", ">5 s<"),
        ("easy silent --kind bounded-slowdown-ecdf --complement", "slowed down more, %"),
        ("easy --kind bars --metric mean-waiting-time --y-scale log", ">20<"),
        ("easy --kind box --metric mean-waiting-time --y-range 10s..50s", ">50<"),
    ] {
        let shown = plot(arguments);
        assert!(shown.starts_with("exit code: 0\n"), "{arguments}: {shown}");
        let drawn = folder.read("it.svg").replace('\n', "");
        assert!(drawn.contains(wanted), "{arguments}: {wanted} is not in {drawn}");
    }
    for (arguments, wanted) in [
        ("easy --kind gantt --complement", "\"gantt\" does not use --complement"),
        ("easy --kind waiting-ecdf --provider north --job 3", "does not use --job"),
        ("easy --kind bars --x policy", "--x names an axis of a sweep, and this is one run"),
        ("easy --kind waiting-ecdf --y-range 1min..1h", "has another unit than the axis"),
        ("easy --kind waiting-ecdf --complement --y-range 0%..10%", "is not above 0"),
        ("easy --kind bars --metric utilisation --y-range 50%..60%", "bars begin at 0"),
        ("easy --kind waiting-ecdf --y-range 5%..3%", "is not the range of an axis"),
    ] {
        let shown = plot(arguments);
        assert!(shown.starts_with("exit code: 2\n"), "{arguments}: {shown}");
        assert!(shown.contains(wanted), "{arguments}: {shown}");
    }
}

#[test]
fn nothing_is_overwritten_without_being_told() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "bars", "-o", "bars.png"]), @r#"
    exit code: 0
    ----- stdout -----
    bars.png
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "bars", "-o", "bars.png"]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `bars.png` exists already

    hint: add --force to overwrite it
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "bars", "-o", "bars.png", "--force"]), @r#"
    exit code: 0
    ----- stdout -----
    bars.png
    ----- stderr -----
    "#);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["plot", "easy"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the scenario declares no figures to draw here

    hint: name a kind, such as --kind gantt; `haggle list kinds` lists all kinds
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "gant"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'gant' for '--kind <KIND>'
      [possible values: gantt, utilisation, node-utilisation, usage-shares, queue-length, waiting-ecdf, bounded-slowdown-ecdf, agreement-ecdf, bars, stacked-bars, box, letter-values, lines, resource-timeline, job-timeline, workflow-timeline, sequence]

      tip: a similar value exists: 'gantt'

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "gantt", "--provider", "nort"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: there is no provider "nort"

    hint: did you mean "north"?
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "lines"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: figure "lines": "lines" shows a sweep, and this is one run: use "bars"
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "fcfs", "--kind", "bars"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: figure "bars": "bars" cannot show several runs: use gantt, utilisation, queue-length, waiting-ecdf, bounded-slowdown-ecdf or agreement-ecdf
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "silent"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: several runs can be drawn only into figures that compare them

    hint: add --kind gantt, utilisation, queue-length, waiting-ecdf, bounded-slowdown-ecdf or agreement-ecdf
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "gantt", "--from", "1h", "--until", "1min"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the figure ends at 1min, but starts at 1h

    hint: swap --from and --until
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "gantt", "--kind", "bars", "-o", "one.png"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: 2 figures do not fit into one file, `one.png`

    hint: name a folder with -o, or choose one figure with --kind
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "gantt", "-o", "one.eps"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `one.eps` cannot be drawn: figures are .png, .svg or .pdf

    hint: draw a .svg, which other programs convert to other formats
    "#);
    assert!(!folder.path().join("one.eps").exists());
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "gantt", "--from", "1h"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: figure "gantt": "easy: schedule" cannot be drawn: no job ran in the time that is drawn
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "utilisation", "--from", "500d"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: figure "utilisation": "easy: utilisation" cannot be drawn: no job waited or ran in the time that is drawn
    "#);
    // Mistakes of one kind have one exit code.
    for (kind, more, said) in [
        ("workflow-timeline", [].as_slice(), "cannot be drawn"),
        ("job-timeline", &[], "shows"),
        ("gantt", &["--dates"], "the run has no dates"),
        (
            "gantt",
            &["--group-by", "nosuch"],
            "use provider, user, class, workload, queue, account or job",
        ),
    ] {
        let shown = folder.haggle(&[&["plot", "easy", "--kind", kind], more].concat());
        assert!(shown.starts_with("exit code: 2\n") && shown.contains(said), "{shown}");
    }
    insta::assert_snapshot!(folder.haggle(&["plot", "easy", "--kind", "bars", "--metric", "makespan", "--group-by", "class"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: figure "bars": "makespan" belongs to the whole run, not to a class: remove `group-by`
    "#);
}

#[test]
fn folders_and_tables_that_are_damaged_are_named() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["plot", "nowhere"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cannot read `nowhere`: No such file or directory (os error 2)
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "."]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `.` holds no results: there is no provenance.json in it

    hint: `haggle run SCENARIO -o DIR` makes such a folder
    "#);
    std::fs::write(folder.path().join("fcfs/jobs.csv"), "job\n1\n").expect("it can be written");
    insta::assert_snapshot!(folder.haggle(&["plot", "fcfs", "--kind", "gantt"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: figure "gantt": `fcfs/jobs.csv` has no column `job_id`
    "#);
    insta::assert_snapshot!(folder.haggle(&["explain", "fcfs", "1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `fcfs/jobs.csv` has no column `job_id`
    "#);
}

#[test]
fn a_sweep_is_drawn_over_its_axes() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["sweep", "sweep.toml", "-o", "sweep", "--quiet"]), @r#"
    exit code: 0
    ----- stdout -----
    8 runs

    mean of the runs at each point, ± half its 95 % confidence interval
      policy  speed  runs  mean_waiting_time  mean_bounded_slowdown  utilisation
      easy    1         2              22.50                   1.45       0.6111
      easy    2         2                 10                   1.40       0.6333
      fcfs    1         2                 55                   2.53       0.5093
      fcfs    2         2              23.75                   2.32       0.5278

    runs       sweep/runs.csv
    aggregate  sweep/aggregate.csv
    figure     sweep/lines.png
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "sweep"]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `sweep/lines.png` exists already

    hint: add --force to overwrite it
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "sweep", "--force"]), @r#"
    exit code: 0
    ----- stdout -----
    sweep/lines.png
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "sweep", "--kind", "bars", "--group-by", "policy", "--metric", "utilisation", "-o", "more"]), @r#"
    exit code: 0
    ----- stdout -----
    more/bars.png
    ----- stderr -----
    "#);
    let first = folder.haggle(&["plot", "sweep", "--kind", "bars", "-o", "first.svg"]);
    assert!(first.starts_with("exit code: 0"), "{first}");
    assert!(folder.read("first.svg").contains("mean bounded slowdown over policy"));
    insta::assert_snapshot!(folder.haggle(&["plot", "sweep", "--kind", "lines", "--x", "sped", "-o", "more"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: figure "lines": the sweep has no axis "sped": it has policy, speed
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "sweep", "--kind", "sequence"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: figure "sequence": "sequence" shows one run: name the folder of one
    "#);
    insta::assert_snapshot!(folder.haggle(&["show", "sweep"]), @r#"
    exit code: 0
    ----- stdout -----
      policy  speed  metric                 runs    mean  std  95 % of it
      easy    1      utilisation               2  0.6111    0           -
      easy    1      mean_waiting_time         2   22.50    0           -
      easy    1      mean_bounded_slowdown     2    1.45    0           -
      easy    2      utilisation               2  0.6333    0           -
      easy    2      mean_waiting_time         2      10    0           -
      easy    2      mean_bounded_slowdown     2    1.40    0           -
      fcfs    1      utilisation               2  0.5093    0           -
      fcfs    1      mean_waiting_time         2      55    0           -
      fcfs    1      mean_bounded_slowdown     2    2.53    0           -
      fcfs    2      utilisation               2  0.5278    0           -
      fcfs    2      mean_waiting_time         2   23.75    0           -
      fcfs    2      mean_bounded_slowdown     2    2.32    0           -

    192 metrics more are in sweep/aggregate.csv; --json prints all
    ----- stderr -----
    "#);
    let json = folder.haggle(&["show", "sweep", "--json"]);
    assert!(json.contains("\"policy\": \"fcfs\""), "{json}");
}

#[test]
fn differences_to_a_variant_of_a_sweep_are_drawn() {
    let folder = runs();
    folder.haggle(&["sweep", "sweep.toml", "-o", "sweep", "--quiet"]);
    let plot = |more: &[&str]| {
        folder.haggle(
            &[&["plot", "sweep", "--metric", "mean-waiting-time", "--force"], more].concat(),
        )
    };
    let drawn = plot(&["-k", "lines", "--x", "speed", "--against", "policy=easy", "-o", "it.svg"]);
    assert!(drawn.starts_with("exit code: 0"), "{drawn}");
    // Replications of a log are copies, so their differences have no interval.
    assert!(folder.read("it.svg").contains("difference of mean waiting time of fcfs to easy, s\n"));
    for (wrong, said) in [
        ("policy=eazy", "the axis \"policy\" has no value \"eazy\": it has easy, fcfs"),
        ("polcy=easy", "the sweep has no axis \"polcy\": it has policy, speed"),
        ("easy", "write AXIS=VALUE, such as policy=easy"),
    ] {
        let refused = plot(&["-k", "bars", "--x", "policy", "--against", wrong]);
        assert!(refused.starts_with("exit code: 2") && refused.contains(said), "{refused}");
    }
    let refused = folder.haggle(&["plot", "easy", "-k", "bars", "--against", "policy=easy"]);
    insta::assert_snapshot!(refused, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: --against compares the variants of a sweep with one of them

    hint: name the folder of a sweep
    "#);
}

/// The texts of a figure.
fn texts(folder: &Folder, file: &str) -> Vec<String> {
    let drawn = folder.read(file);
    let texts = drawn.split("<text").skip(1).filter_map(|it| it.split_once('>'));
    texts.map(|(_, text)| text.split('<').next().unwrap_or("").trim().to_owned()).collect()
}

#[test]
fn runs_are_panels_on_one_axis_of_time() {
    let folder = runs();
    let plot = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let shown = folder
            .haggle(&[&["plot"], arguments.as_slice(), &["-o", "it.svg", "--force"]].concat());
        assert!(shown.starts_with("exit code: 0\n"), "{arguments:?}: {shown}");
        texts(&folder, "it.svg")
    };
    let has = |texts: &[String], wanted: &str| texts.iter().filter(|it| *it == wanted).count();
    let both = plot("easy fcfs --kind gantt");
    assert_eq!(has(&both, "easy, fcfs: schedules"), 1, "{both:?}");
    for panel in ["easy, north", "easy, south", "fcfs, north", "fcfs, south"] {
        assert_eq!(has(&both, &format!("{panel}: processor")), 1, "{panel}: {both:?}");
    }
    // The panels share one axis of time and one legend.
    assert_eq!(has(&both, "time, s"), 1, "{both:?}");
    assert_eq!((has(&both, "local"), has(&both, "external")), (1, 1), "{both:?}");
    let north = plot("easy fcfs --kind gantt --provider north --no-legend");
    assert_eq!((has(&north, "easy: processor"), has(&north, "local")), (1, 0), "{north:?}");
    let used = plot("easy fcfs --kind utilisation");
    assert_eq!(has(&used, "fcfs, south: busy processors, %"), 1, "{used:?}");
    let queues = plot("easy fcfs --kind queue-length --provider north");
    assert_eq!(has(&queues, "easy: waiting jobs"), 1, "{queues:?}");
    folder.haggle(&["sweep", "sweep.toml", "-o", "sweep", "--quiet"]);
    let variants = plot("sweep --kind queue-length --provider north");
    for panel in ["easy, speed 1", "easy, speed 2", "fcfs, speed 1", "fcfs, speed 2"] {
        assert_eq!(has(&variants, &format!("{panel}: waiting jobs")), 1, "{panel}: {variants:?}");
    }
    assert!(variants[0].contains("the first of 2 runs each"), "{variants:?}");
    let variants = plot("sweep --kind gantt --provider north");
    assert_eq!(has(&variants, "fcfs, speed 2: processor"), 1, "{variants:?}");
}

#[test]
fn bars_of_a_gantt_chart_tell_what_is_asked_for() {
    let folder = runs();
    let plot = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let all = [&["plot", "easy", "--kind", "gantt"], arguments.as_slice()].concat();
        let shown = folder.haggle(&[&all[..], &["-o", "it.svg", "--force"]].concat());
        (shown, texts(&folder, "it.svg"))
    };
    let has = |texts: &[String], wanted: &str| texts.iter().any(|it| it == wanted);
    let jobs = folder.read("easy/jobs.csv");
    let rows: Vec<&str> =
        jobs.lines().filter(|row| row.contains(",local,") && row.contains(",COMPLETED_")).collect();
    let number = rows[0].split(',').next().expect("a number");
    let (_, by_number) = plot("--labels job_id");
    assert!(has(&by_number, number), "{number} is not in {by_number:?}");
    let (_, by_name) = plot("--labels name");
    assert!(has(&by_name, &format!("local!{number}")), "{by_name:?}");
    let (_, none) = plot("--labels none");
    assert!(!has(&none, &format!("local!{number}")), "{none:?}");
    let (_, marked) = plot(&format!("--job local!{number} --job local!{number}"));
    assert!(has(&marked, &format!("local!{number}")), "{marked:?}");
    let (_, by_job) = plot("--group-by job");
    assert!(!has(&by_job, "local") && has(&by_job, number), "{by_job:?}");
    for (arguments, wanted) in [
        ("--job local!99", "the run has no job local!99"),
        ("--job 99", "the run has no job 99"),
        ("--job one", "`one` is no job"),
        ("--label wait", "does not use --label"),
    ] {
        let (shown, _) = plot(arguments);
        assert!(shown.starts_with("exit code: 2\n") && shown.contains(wanted), "{shown}");
    }
    let two = folder.haggle(&["plot", "easy", "-k", "job-timeline", "--job", "1", "--job", "2"]);
    assert!(two.contains("a figure shows one job, and 2 are named"), "{two}");
}

#[test]
fn metrics_have_the_label_and_the_scale_that_are_asked_for() {
    let folder = runs();
    let plot = |arguments: &[&str]| {
        let all = [&["plot", "easy", "-o", "it.svg", "--force"], arguments].concat();
        (folder.haggle(&all), texts(&folder, "it.svg"))
    };
    let has = |texts: &[String], wanted: &str| texts.iter().any(|it| it == wanted);
    let waits = ["--kind", "bars", "--metric", "mean-waiting-time", "--group-by", "class"];
    let (_, plain) = plot(&waits);
    assert!(has(&plain, "mean waiting time, s") && has(&plain, "30.00"), "{plain:?}");
    let (_, named) = plot(&[&waits[..], &["--label", "mean wait"]].concat());
    assert!(has(&named, "mean wait, s") && has(&named, "30.00"), "{named:?}");
    let scale = ["--label", "mean wait, half minutes", "--scale", "0.0333333333333"];
    let (_, scaled) = plot(&[&waits[..], &scale].concat());
    assert!(has(&scaled, "mean wait, half minutes") && has(&scaled, "1.00"), "{scaled:?}");
    let (refused, _) = plot(&[&waits[..], &["--scale", "2"]].concat());
    assert!(refused.contains("`scale` makes another unit, whose name is missing"), "{refused}");
    let metrics = "mean-waiting-time,mean-turnaround-time";
    let stacked = ["--kind", "stacked-bars", "--group-by", "class", "--metrics"];
    let (shown, sum) = plot(&[&stacked[..], &[metrics]].concat());
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    assert!(has(&sum, "mean waiting time + mean turnaround time, s"), "{sum:?}");
    let (refused, _) = plot(&[&stacked[..], &["mean-waiting-time,utilisation"]].concat());
    assert!(refused.contains("have different units, and do not add up"), "{refused}");
    for (metrics, both) in [
        ("useful-work,wasted-work,checkpoint-work", "\"wasted_work\" includes \"checkpoint_work\""),
        ("rejected-jobs,jobs", "\"jobs\" includes \"rejected_jobs\""),
        ("jobs,jobs", "\"jobs\" includes \"jobs\""),
    ] {
        let (refused, _) = plot(&["--kind", "stacked-bars", "--metrics", metrics]);
        assert!(refused.starts_with("exit code: 2") && refused.contains(both), "{refused}");
    }
    let (refused, _) = plot(&["--kind", "stacked-bars"]);
    assert!(refused.contains("\"stacked-bars\" needs metrics that add up"), "{refused}");
    folder.haggle(&["sweep", "sweep.toml", "-o", "sweep", "--quiet"]);
    let drawn = folder.haggle(&[
        "plot",
        "sweep",
        "-k",
        "stacked-bars",
        "--metrics",
        metrics,
        "-o",
        "sweep.svg",
    ]);
    assert!(drawn.starts_with("exit code: 0"), "{drawn}");
    let bars = texts(&folder, "sweep.svg");
    assert!(has(&bars, "easy, speed 1") && has(&bars, "fcfs, speed 2"), "{bars:?}");
}

/// A log that begins on 1996-06-25 at 20:00, cut at its second hour.
#[test]
fn an_axis_of_time_has_the_dates_of_the_log() {
    let job = |number: u32, hours: u32| {
        format!("{number} {} -1 7000 3 -1 -1 3 7200 -1 1 1 1 1 1 -1 -1 -1\n", hours * 3600)
    };
    let log = format!(
        "; UnixStartTime: 835740000\n; TimeZone: -7200\n{}{}{}",
        job(1, 0),
        job(2, 2),
        job(3, 5)
    );
    let scenario = |start: &str| {
        format!(
            "[[workload]]\nname = \"jobs\"\nlog = \"it.swf\"\n[[workload.step]]\nkind = \"window\"\nfrom = \"2h\"\n\
             start = \"{start}\"\n[[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"north\"\n\
             [[provider]]\nname = \"north\"\nprocessors = 4\n"
        )
    };
    let folder = Folder::with(&[
        ("it.swf", &log),
        ("kept.toml", &scenario("window-is-zero")),
        ("lost.toml", &scenario("first-job-is-zero")),
    ]);
    for name in ["kept", "lost"] {
        folder.haggle(&["run", &format!("{name}.toml"), "-o", name, "--quiet"]);
    }
    let plot = |run: &str, kind: &str| {
        folder.haggle(&["plot", run, "--kind", kind, "--dates", "-o", "it.svg", "--force"])
    };
    for kind in ["gantt", "utilisation", "queue-length"] {
        let drawn = plot("kept", kind);
        assert!(drawn.starts_with("exit code: 0"), "{drawn}");
        let drawn = folder.read("it.svg");
        assert!(drawn.contains("local time, 1996-06-25 to 1996-06-26\n"), "{drawn}");
        assert!(drawn.contains("23:00\n") && drawn.contains("26 Jun\n"), "{drawn}");
    }
    let refused = plot("lost", "gantt");
    assert!(refused.starts_with("exit code: 2") && refused.contains("has no dates"), "{refused}");
}

#[test]
fn a_run_is_shown_as_it_was_when_it_ended() {
    let folder = runs();
    insta::assert_snapshot!(folder.haggle(&["show", "easy"]), @r#"
    exit code: 0
    ----- stdout -----
    5 jobs on 6 processors of 2 providers
      4 completed, 1 rejected (1 too wide)
      makespan 150 s (0.0 days), utilisation 61.11 %

                                      mean         std      median        95 %         max
    waiting time, s                  22.50       45.00        0.00       76.50       90.00
    turnaround time, s               70.00       60.55       65.00      134.00      140.00
    slowdown                          1.45        0.90        1.00        2.53        2.80
    bounded slowdown (10 s)           1.45        0.90        1.00        2.53        2.80
      turnaround, weighted, s       107.45   by processor-seconds

                                                                        waiting time, s  mean bounded
    class                  jobs  completed  rejected  utilisation       mean       95 %      slowdown
    local                     4          3         1      58.89 %      30.00      81.00          1.60
    external                  1          1         0       2.22 %       0.00       0.00          1.00

                                                                        waiting time, s  mean bounded
    provider               jobs  completed  rejected  utilisation       mean       95 %      slowdown
    north                     3          3         0      88.33 %      30.00      81.00          1.60
    south                     1          1         0       6.67 %       0.00       0.00          1.00

                                                                        waiting time, s  mean bounded
    workload               jobs  completed  rejected  utilisation       mean       95 %      slowdown
    local                     4          3         1      58.89 %      30.00      81.00          1.60
    external                  1          1         0       2.22 %       0.00       0.00          1.00
    ----- stderr -----
    "#);
    insta::assert_snapshot!(folder.haggle(&["show", "."]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `.` holds no results: there is no provenance.json in it

    hint: `haggle run SCENARIO -o DIR` makes such a folder
    "#);
    insta::assert_snapshot!(folder.haggle(&["show", "easy", "--runs"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `easy` is a folder of results, which has no runs to list

    hint: name its scenario: easy/scenario.toml
    "#);
}
