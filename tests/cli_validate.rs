//! `haggle validate`: every problem at once, each with its line and a hint.

use crate::command::{Folder, VALID, unwrapped};

#[test]
fn axes_of_figures_fit_what_is_on_them() {
    let sweep = "[sweep]\n[[sweep.axis]]\npath = \"provider.north.policy\"\nvalues = [\"fcfs\", \"easy\"]\n\
                 [[sweep.axis]]\npath = \"provider.north.processors\"\nvalues = [8, 16]\n";
    let said = |figure: &str| {
        let text = format!("{VALID}\n{sweep}\n[[figure]]\n{figure}\n");
        let folder = Folder::with(&[("it.toml", &text)]);
        folder.haggle(&["validate", "it.toml"])
    };
    let measure = "metric = \"mean-waiting-time\"\n";
    for (figure, wanted) in [
        (
            format!("kind = \"lines\"\n{measure}x = \"policy\"\nx-scale = \"log\""),
            "have no logarithms",
        ),
        (format!("kind = \"bars\"\n{measure}x-scale = \"log\""), "\"bars\" does not use `x-scale`"),
        (format!("kind = \"bars\"\n{measure}complement = true"), "does not use `complement`"),
        (
            format!("kind = \"bars\"\n{measure}x = \"policies\""),
            "no sweep axis is called \"policies\"",
        ),
        (format!("kind = \"box\"\n{measure}y-scale = \"log\""), "\"box\" does not use `y-scale`"),
        (
            format!("kind = \"lines\"\n{measure}x = \"policy\"\ny-range = \"1..2\""),
            "another unit than the axis",
        ),
        ("kind = \"gantt\"\ny-range = \"1..2\"".to_owned(), "\"gantt\" does not use `y-range`"),
        ("kind = \"waiting-ecdf\"\nx-range = \"1..2\"".to_owned(), "another unit than the axis"),
        ("kind = \"waiting-ecdf\"\ny-range = \"2..1\"".to_owned(), "is not the range of an axis"),
    ] {
        let shown = said(&figure);
        assert!(shown.starts_with("exit code: 3\n"), "{figure}: {shown}");
        assert!(unwrapped(&shown).contains(wanted), "{figure}: {shown}");
    }
    for figure in [
        format!("kind = \"bars\"\n{measure}x = \"policy\"\ny-scale = \"log\""),
        format!(
            "kind = \"lines\"\n{measure}x = \"processors\"\nx-scale = \"log\"\ny-range = \"..1h\""
        ),
        "kind = \"waiting-ecdf\"\ncomplement = true\nx-range = \"1min..\"".to_owned(),
    ] {
        let shown = said(&figure);
        assert!(shown.starts_with("exit code: 0\n"), "{figure}: {shown}");
    }
}

#[test]
fn valid_scenarios_are_counted() {
    let folder = Folder::with(&[("small.toml", VALID)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "small.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    small.toml: valid, 1 provider, 1 workload, 1 run
    "#);
    insta::assert_snapshot!(folder.haggle(&["validate", "--quiet", "small.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    "#);
}

#[test]
fn one_wrong_scenario_does_not_hide_the_others() {
    let wrong = VALID.replace("processors = 8", "procesors = 8");
    let folder = Folder::with(&[("wrong.toml", &wrong), ("small.toml", VALID)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "wrong.toml", "absent.toml", "small.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × [[provider]] has no key `procesors`
       ╭─[wrong.toml:8:1]
     8 │ procesors = 8
       · ────┬────
       ·     ╰── unknown key
       ╰────
      help: did you mean `processors`?

    error: wrong.toml has 1 problem
    error: cannot read `absent.toml`: No such file or directory (os error 2)
    small.toml: valid, 1 provider, 1 workload, 1 run
    "#);
    insta::assert_snapshot!(folder.haggle(&["validate", "--json", "wrong.toml", "small.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    [
      {
        "file": "wrong.toml",
        "problems": [
          {
            "column": 1,
            "help": "did you mean `processors`?",
            "line": 8,
            "message": "[[provider]] has no key `procesors`",
            "text": "procesors"
          }
        ],
        "runs": null,
        "valid": false,
        "warnings": []
      },
      {
        "file": "small.toml",
        "problems": [],
        "runs": 1,
        "valid": true,
        "warnings": []
      }
    ]
    ----- stderr -----
    "#);
}

#[test]
fn variants_with_bad_names_are_not_also_said_to_share_one() {
    let axis = r#"
[[sweep.axis]]
name = "load"

[[sweep.axis.variant]]
name = " 80 %"
set = { "provider.north.processors" = 4 }

[[sweep.axis.variant]]
name = "90 % "
set = { "provider.north.processors" = 8 }
"#;
    let folder = Folder::with(&[("it.toml", &format!("{VALID}{axis}"))]);
    let told = folder.haggle(&["validate", "it.toml"]);
    assert!(told.contains("\" 80 %\" cannot be a title"), "{told}");
    assert!(told.contains("\"90 % \" cannot be a title"), "{told}");
    assert!(told.contains("it.toml has 2 problems"), "{told}");
    let same = axis.replace(" 80 %", "high").replace("90 % ", "high");
    let folder = Folder::with(&[("it.toml", &format!("{VALID}{same}"))]);
    let told = folder.haggle(&["validate", "it.toml"]);
    assert!(told.contains("two variants are called \"high\""), "{told}");
    assert!(told.contains("it.toml has 1 problem"), "{told}");
}

#[test]
fn an_empty_scenario_says_what_it_needs() {
    let folder = Folder::with(&[("empty.toml", "")]);
    insta::assert_snapshot!(folder.haggle(&["validate", "empty.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × the scenario has no provider
       ╭─[empty.toml:1:1]
       ╰────
      help: add a [[provider]] with a name and processors, or a [grid]

      × the scenario has no user
       ╭─[empty.toml:1:1]
       ╰────
      help: add a [[user]] with a name, a workload and `submits-to`

      × the scenario has no workload
       ╭─[empty.toml:1:1]
       ╰────
      help: add a [[workload]] with a name and a log, a model or jobs

    error: empty.toml has 3 problems
    "#);
}

#[test]
fn every_syntax_error_is_shown() {
    let text = "[scenario]\nname = north\nseed = \n[[provider]\nname = \"a\"\nname = \"b\"\n";
    let folder = Folder::with(&[("syntax.toml", text)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "syntax.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × not TOML: `north` is not a value
       ╭─[syntax.toml:2:8]
     2 │ name = north
       ·        ──┬──
       ·          ╰── needs quotes
       ╰────
      help: write text in quotes: "north"

      × not TOML: string values must be quoted, expected literal string
       ╭─[syntax.toml:3:1]
     3 │ seed = 
       · ───┬──
       ·    ╰── here
       ╰────
      help: write a value after `=`: a text in quotes, a number, true, false, a list or a table

      × not TOML: unclosed array table, expected `]`
       ╭─[syntax.toml:4:1]
     4 │ [[provider]
       · ─────┬─────
       ·      ╰── here
       ╰────
      help: write the name of a table as [name], that of one of several as [[name]]

    error: syntax.toml has 3 problems
    "#);
}

#[test]
fn names_that_are_not_there_are_found_through_a_whole_scenario() {
    let folder = Folder::with(&[("names.toml", NAMES)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "names.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × workload "a" would contain itself
       ╭─[names.toml:4:10]
     4 │ merge = ["b"]
       ·          ─┬─
       ·           ╰── leads back to it
       ╰────
      help: merge only workloads that do not merge this one

      × workload "b" would contain itself
       ╭─[names.toml:8:10]
     8 │ merge = ["a", "c"]
       ·          ─┬─
       ·           ╰── leads back to it
       ╰────
      help: merge only workloads that do not merge this one

      × no workload is called "c"
       ╭─[names.toml:8:15]
     8 │ merge = ["a", "c"]
       ·               ─┬─
       ·                ╰── no such workload
       ╰────
      help: did you mean "a"?

      × workload "local" has no parameters for its model
        ╭─[names.toml:10:1]
     10 │ [[workload]]
        · ──────┬─────
        ·       ╰── `lublin` is missing here
        ╰────
      help: add `lublin = { jobs = 1000, processors = 128 }`

      × placement "least-loaded" needs disclosure "load", provider "north" discloses only "offers"
        ╭─[names.toml:21:13]
     21 │ placement = "least-loaded"
        ·             ───────┬──────
        ·                    ╰── needs "load"
        ╰────
      help: set `disclosure = "load"` for provider "north", or choose another placement

      × no provider is called "north-4"
        ╭─[names.toml:22:23]
     22 │ providers = ["north", "north-4"]
        ·                       ────┬────
        ·                           ╰── no such provider
        ╰────
      help: did you mean "north-1"?

      × two actors are called "grid"
        ╭─[names.toml:25:8]
     25 │ name = "grid"
        ·        ───┬──
        ·           ╰── taken
        ╰────
      help: the metascheduler on line 20 has this name; give one of them another

      × no workload is called "locl"
        ╭─[names.toml:26:12]
     26 │ workload = "locl"
        ·            ───┬──
        ·               ╰── no such workload
        ╰────
      help: did you mean "local"?

      × "north" stands for 3 providers, a user submits to one
        ╭─[names.toml:27:14]
     27 │ submits-to = "north"
        ·              ───┬───
        ·                 ╰── which one?
        ╰────
      help: name one of "north-1", "north-2", "north-3"

      × a link joins "grid" to itself
        ╭─[names.toml:30:11]
     30 │ between = ["grid", "grid"]
        ·           ────────┬───────
        ·                   ╰── the same actor twice
        ╰────
      help: name two actors

      × no sweep axis is called "load"
        ╭─[names.toml:36:5]
     36 │ x = "load"
        ·     ───┬──
        ·        ╰── no such sweep axis
        ╰────
      help: the scenario has "polices", "placement"

      × figure "lines" does not use `until`
        ╭─[names.toml:37:9]
     37 │ until = "0s"
        ·         ──┬─
        ·           ╰── not used
        ╰────
      help: remove `until`

      × the figure ends at 0s, but starts at 0s
        ╭─[names.toml:37:9]
     37 │ until = "0s"
        ·         ──┬─
        ·           ╰── not after `from`
        ╰────
      help: swap `from` and `until`

      × figure "lines" does not use `from`
        ╭─[names.toml:38:8]
     38 │ from = "0s"
        ·        ──┬─
        ·          ╰── not used
        ╰────
      help: remove `from`

      × two figures are called "lines"
        ╭─[names.toml:42:8]
     42 │ name = "lines"
        ·        ───┬───
        ·           ╰── taken
        ╰────
      help: give one of them another `name`

      × figure "utilisation" does not use `group-by`
        ╭─[names.toml:43:12]
     43 │ group-by = "provider"
        ·            ─────┬────
        ·                 ╰── not used
        ╰────
      help: remove `group-by`, or choose the kind "bars" or "lines"

      × [[provider]] has no key `polices`
        ╭─[names.toml:47:8]
     47 │ path = "provider.north.polices"
        ·        ────────────┬───────────
        ·                    ╰── unknown key
        ╰────
      help: did you mean `policy`?

      × path "metascheduler.grids.placement" matches no key of the scenario
        ╭─[names.toml:50:8]
     50 │ path = "metascheduler.grids.placement"
        ·        ───────────────┬───────────────
        ·                       ╰── leads nowhere
        ╰────
      help: did you mean "grid"?

    error: names.toml has 18 problems
    "#);
}

#[test]
fn all_mistakes_are_reported_together() {
    let folder = Folder::with(&[("wrong.toml", WRONG)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "wrong.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × `every mistake` cannot be a name
       ╭─[wrong.toml:2:8]
     2 │ name = "every mistake"
       ·        ───────┬───────
       ·               ╰── cannot be read
       ╰────
      help: use letters, digits, `-` and `_`, such as "north-1"

      × `seed` is -1, needs at least 0
       ╭─[wrong.toml:3:8]
     3 │ seed = -1
       ·        ─┬
       ·         ╰── needs at least 0
       ╰────
      help: `seed`: Master seed of all randomness; replication n uses seed + n

      × `until` must be a string, not an integer
       ╭─[wrong.toml:4:9]
     4 │ until = 30
       ·         ─┬
       ·          ╰── an integer
       ╰────
      help: a length of time: a number and a unit, such as "18h"

      × [scenario] has no key `evnts-order`
       ╭─[wrong.toml:5:1]
     5 │ evnts-order = "submissions-first"
       · ─────┬─────
       ·      ╰── unknown key
       ╰────
      help: did you mean `events-order`?

      × log `$HAGGLE_NO_SUCH_VARIABLE/x.swf.gz` cannot be found: environment variable
      │ `HAGGLE_NO_SUCH_VARIABLE` is not set
       ╭─[wrong.toml:9:7]
     9 │ log = "$HAGGLE_NO_SUCH_VARIABLE/x.swf.gz"
       ·       ─────────────────┬─────────────────
       ·                        ╰── no such variable
       ╰────
      help: set it to the folder that holds the logs, such as HAGGLE_TRACES=~/traces

      × `7` is not a length of time
        ╭─[wrong.toml:13:9]
     13 │ until = "7"
        ·         ─┬─
        ·          ╰── cannot be read
        ╰────
      help: write a number and a unit (us, ms, s, min, h, d, w), such as "18h" or "1h 30min"

      × `kind` cannot be "filtre"
        ╭─[wrong.toml:15:8]
     15 │ kind = "filtre"
        ·        ────┬───
        ·            ╰── no such word
        ╰────
      help: did you mean "filter"? `kind` is one of "window", "random-window", "filter", "first",
            "scale-gaps", "fill-window", "estimates", "deadlines", "ready-times", "reservations",
            "key", "split", "slice", "spread", "fit-load", "shake", "resample", "run-times-as-
            requested", "run-times", "extend-run-times", "bags", "moldable", "scale-times",
            "dependencies" or "demand"

      × there is no part 3 of 2
        ╭─[wrong.toml:18:8]
     18 │ part = 3
        ·        ┬
        ·        ╰── parts count from 0
        ╰────
      help: write a part from 0 to 1

      × workload "model" has no parameters for its model
        ╭─[wrong.toml:21:1]
     21 │ [[workload]]
        · ──────┬─────
        ·       ╰── `lublin` is missing here
        ╰────
      help: add `lublin = { jobs = 1000, processors = 128 }`

      × workload "model" has two sources of jobs, `log` and `model`
        ╭─[wrong.toml:23:9]
     23 │ model = "lublin-feitelson"
        ·         ─────────┬────────
        ·                  ╰── a second source
        ╰────
      help: make two workloads and a third that has both under `merge`

      × log `missing.swf` is not there
        ╭─[wrong.toml:24:7]
     24 │ log = "missing.swf"
        ·       ──────┬──────
        ·             ╰── no such file
        ╰────
      help: paths start from the scenario's folder; the README lists sources of logs

      × `processors` is 0, needs at least 1
        ╭─[wrong.toml:30:33]
     30 │   { submit = "5s", processors = 0, requested = "0s", run = "80s" },
        ·                                 ┬
        ·                                 ╰── needs at least 1
        ╰────
      help: `processors`: Processors that the job needs, all at once

      × `requested` is 0s, needs more
        ╭─[wrong.toml:30:48]
     30 │   { submit = "5s", processors = 0, requested = "0s", run = "80s" },
        ·                                                ──┬─
        ·                                                  ╰── no time to run
        ╰────
      help: remove `requested` for a job without a limit

      × [[workload.jobs]] has no key `procesors`
        ╭─[wrong.toml:31:20]
     31 │   { submit = "9s", procesors = 2, run = "10" },
        ·                    ────┬────
        ·                        ╰── unknown key
        ╰────
      help: did you mean `processors`?

      × `10` is not a length of time
        ╭─[wrong.toml:31:41]
     31 │   { submit = "9s", procesors = 2, run = "10" },
        ·                                         ──┬─
        ·                                           ╰── cannot be read
        ╰────
      help: write a number and a unit (us, ms, s, min, h, d, w), such as "18h" or "1h 30min"

      × two workloads are called "list"
        ╭─[wrong.toml:35:8]
     35 │ name = "list"
        ·        ───┬──
        ·           ╰── taken
        ╰────
      help: the workload on line 27 has this name; give one of them another

      × no workload is called "lists"
        ╭─[wrong.toml:36:19]
     36 │ merge = ["model", "lists"]
        ·                   ───┬───
        ·                      ╰── no such workload
        ╰────
      help: did you mean "list"?

      × `processors` is 0, needs at least 1
        ╭─[wrong.toml:40:14]
     40 │ processors = 0
        ·              ┬
        ·              ╰── needs at least 1
        ╰────
      help: `processors`: Processors the provider owns. Left out with `node`, which gives them

      × [[provider]] has no key `polcy`
        ╭─[wrong.toml:41:1]
     41 │ polcy = "easy"
        · ──┬──
        ·   ╰── unknown key
        ╰────
      help: did you mean `policy`?

      × two providers are called "north"
        ╭─[wrong.toml:44:8]
     44 │ name = "north"
        ·        ───┬───
        ·           ╰── taken
        ╰────
      help: the provider on line 39 has this name; give one of them another

      × `speed` is 0, needs more than 0
        ╭─[wrong.toml:46:9]
     46 │ speed = 0
        ·         ┬
        ·         ╰── needs more than 0
        ╰────
      help: `speed`: Speed of its processors; 1 is the reference processor, 2 halves run times

      × `order` cannot be "shortes"
        ╭─[wrong.toml:47:35]
     47 │ policy = { name = "easy", order = "shortes" }
        ·                                   ────┬────
        ·                                       ╰── no such word
        ╰────
      help: did you mean "shortest"? `order` is one of "arrival", "shortest", "largest" or "key"; or a
            table, `{ own = "…" }`

      × `processors` must be an integer, not a string
        ╭─[wrong.toml:51:14]
     51 │ processors = "many"
        ·              ───┬──
        ·                 ╰── a string
        ╰────
      help: `processors`: Processors the provider owns. Left out with `node`, which gives them

      × [[provider]] has no key `colour`
        ╭─[wrong.toml:53:1]
     53 │ colour = "red"
        · ───┬──
        ·    ╰── unknown key
        ╰────
      help: [[provider]] has `account`, `checkpoints`, `count`, `disclosure`, `initial`, `initial-
            file`, `initial-run`, `initial-use`, `interval`, `machine`, `max-attempts`, `name`,
            `node`, `on-failure`, `overrun`, `passes`, `placing`, `policy`, `priority`, `processors`,
            `publishes`, `qos`, `queue`, `site`, `speed`

      × [[provider]] has no `name`
        ╭─[wrong.toml:55:1]
     55 │ [[provider]]
        · ──────┬─────
        ·       ╰── `name` is missing here
        ╰────
      help: add `name`: Name of the provider, unique among all actors

      × placement "least-loaded" needs disclosure "load", provider "north" discloses only "offers"
        ╭─[wrong.toml:60:13]
     60 │ placement = "least-loaded"
        ·             ───────┬──────
        ·                    ╰── needs "load"
        ╰────
      help: set `disclosure = "load"` for provider "north", or choose another placement

      × placement "least-loaded" needs disclosure "load", provider "south" discloses only "offers"
        ╭─[wrong.toml:60:13]
     60 │ placement = "least-loaded"
        ·             ───────┬──────
        ·                    ╰── needs "load"
        ╰────
      help: set `disclosure = "load"` for provider "south", or choose another placement

      × no provider is called "souht"
        ╭─[wrong.toml:61:23]
     61 │ providers = ["north", "souht", "south"]
        ·                       ───┬───
        ·                          ╰── no such provider
        ╰────
      help: did you mean "south"?

      × no workload is called "lists"
        ╭─[wrong.toml:65:12]
     65 │ workload = "lists"
        ·            ───┬───
        ·               ╰── no such workload
        ╰────
      help: did you mean "list"?

      × "south" stands for 2 providers, a user submits to one
        ╭─[wrong.toml:66:14]
     66 │ submits-to = "south"
        ·              ───┬───
        ·                 ╰── which one?
        ╰────
      help: name one of "south-1", "south-2"

      × `2 fortnights` is not a length of time
        ╭─[wrong.toml:67:12]
     67 │ patience = "2 fortnights"
        ·            ───────┬──────
        ·                   ╰── cannot be read
        ╰────
      help: write a number and a unit (us, ms, s, min, h, d, w), such as "18h" or "1h 30min"

      × two actors are called "grid"
        ╭─[wrong.toml:70:8]
     70 │ name = "grid"
        ·        ───┬──
        ·           ╰── taken
        ╰────
      help: the metascheduler on line 59 has this name; give one of them another

      × no provider or metascheduler is called "gird"
        ╭─[wrong.toml:72:14]
     72 │ submits-to = "gird"
        ·              ───┬──
        ·                 ╰── no such provider or metascheduler
        ╰────
      help: did you mean "grid"?

      × no actor is called "nowhere"
        ╭─[wrong.toml:75:21]
     75 │ between = ["north", "nowhere"]
        ·                     ────┬────
        ·                         ╰── no such actor
        ╰────
      help: the scenario has "north", "south-1", "south-2", "grid", "local", "grid"

      × `50` is not a length of time
        ╭─[wrong.toml:76:11]
     76 │ latency = "50"
        ·           ──┬─
        ·             ╰── cannot be read
        ╰────
      help: write a number and a unit (us, ms, s, min, h, d, w), such as "18h" or "1h 30min"

      × `5 percent` is neither a length of time nor a share
        ╭─[wrong.toml:79:11]
     79 │ warm-up = "5 percent"
        ·           ─────┬─────
        ·                ╰── cannot be read
        ╰────
      help: write time with a unit, such as "2d", or a share in percent, such as "5%"

      × `format` must be a word, not an array
        ╭─[wrong.toml:80:10]
     80 │ format = ["csv"]
        ·          ───┬───
        ·             ╰── an array
        ╰────
      help: write one of "parquet", "csv" or "both"

      × there is no metric "mean-slowdwn"
        ╭─[wrong.toml:84:10]
     84 │ metric = "mean-slowdwn"
        ·          ───────┬──────
        ·                 ╰── cannot be read
        ╰────
      help: did you mean "mean_slowdown"? `haggle list metrics` lists all names

      × no sweep axis is called "load"
        ╭─[wrong.toml:85:5]
     85 │ x = "load"
        ·     ───┬──
        ·        ╰── no such sweep axis
        ╰────
      help: the scenario has "policy", "policy", "speed"

      × figure "gantt" does not use `metric`
        ╭─[wrong.toml:89:10]
     89 │ metric = "makespan"
        ·          ─────┬────
        ·               ╰── not used
        ╰────
      help: remove `metric`, or choose the kind "bars" or "lines"

      × the figure ends at 1d, but starts at 2d
        ╭─[wrong.toml:91:9]
     91 │ until = "1d"
        ·         ──┬─
        ·           ╰── not after `from`
        ╰────
      help: swap `from` and `until`

      × path "provider.east.policy" matches no key of the scenario
        ╭─[wrong.toml:96:8]
     96 │ path = "provider.east.policy"
        ·        ───────────┬──────────
        ·                   ╰── leads nowhere
        ╰────
      help: after `provider` comes `*` or one of north, north, south, north

      × the sweep has 1200 runs, more than 1000
        ╭─[wrong.toml:99:8]
     99 │ path = "provider.south.policy"
        ·        ───────────┬───────────
        ·                   ╰── 2 variants x 600 replications
        ╰────
      help: vary less, or set `max-runs = 1200`

      × `policy` cannot be "fcsf"
         ╭─[wrong.toml:100:19]
     100 │ values = ["easy", "fcsf"]
         ·                   ───┬──
         ·                      ╰── no such word
         ╰────
      help: did you mean "fcfs"? `policy` is one of "fcfs", "easy", "conservative", "edf", "bags",
            "reservations" or "recorded"

      × `values` has 0 elements, needs at least 1
         ╭─[wrong.toml:103:10]
     103 │ values = []
         ·          ─┬
         ·           ╰── needs at least 1
         ╰────
      help: `values`: Values of the axis

    error: wrong.toml has 45 problems
    "#);
}

#[test]
fn steps_and_models_are_checked_as_the_model_does() {
    let folder = Folder::with(&[("steps.toml", &format!("{VALID}{STEPS}"))]);
    insta::assert_snapshot!(folder.haggle(&["validate", "steps.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × workload "steps" has rules for a log, but no log
        ╭─[steps.toml:18:9]
     18 │ rules = { preset = "canonical" }
        ·         ────────────┬───────────
        ·                     ╰── not used
        ╰────
      help: remove them, or put them under the workload that reads the log

      × the step has neither `rule` nor `factor` nor `over`
        ╭─[steps.toml:20:3]
     20 │   { kind = "estimates" },
        ·   ───────────┬──────────
        ·              ╰── one of them is missing here
        ╰────
      help: add `rule` or `factor` or `over`

      × the step has both `rule` and `factor`
        ╭─[steps.toml:21:50]
     21 │   { kind = "estimates", rule = "exact", factor = { law = "constant", value = 2 } },
        ·                                                  ───────────────┬───────────────
        ·                                                                 ╰── the second one
        ╰────
      help: keep one of them, or make two steps

      × `of` goes with `factor`, which is not there
        ╭─[steps.toml:22:46]
     22 │   { kind = "estimates", rule = "exact", of = "run-time" },
        ·                                              ─────┬────
        ·                                                   ╰── not used
        ╰────
      help: remove it, or add `factor`

      × step estimates: uniform law: high is 1, expected at least low
        ╭─[steps.toml:23:3]
     23 │   { kind = "estimates", factor = { law = "uniform", low = 3, high = 1 } },
        ·   ───────────────────────────────────┬───────────────────────────────────
        ·                                      ╰── out of range
        ╰────
      help: `haggle help KEY` explains a key, and docs/scenario.md has all keys

      × step deadlines: exponential law: mean is 0, expected a finite number above 0
        ╭─[steps.toml:24:3]
     24 │   { kind = "deadlines", slack = { law = "exponential", mean = "0s" } },
        ·   ──────────────────────────────────┬─────────────────────────────────
        ·                                     ╰── out of range
        ╰────
      help: `haggle help KEY` explains a key, and docs/scenario.md has all keys

      × `mean` must be a string, not an integer
        ╭─[steps.toml:25:63]
     25 │   { kind = "deadlines", slack = { law = "exponential", mean = 3 } },
        ·                                                               ┬
        ·                                                               ╰── an integer
        ╰────
      help: a length of time: a number and a unit, such as "18h"

      × the law has 2 weights, needs 1
        ╭─[steps.toml:26:80]
     26 │   { kind = "ready-times", delay = { law = "choice", values = ["1h"], weights = [1, 2] } },
        ·                                                                                ───┬──
        ·                                                                                   ╰── not one for each value or bin
        ╰────
      help: give each value, or each bin between two edges, a weight, in the same order

      × `requested-max` is 1h, less than `requested-min`, 2h
        ╭─[steps.toml:27:60]
     27 │   { kind = "filter", requested-min = "2h", requested-max = "1h" },
        ·                                                            ──┬─
        ·                                                              ╰── less than `requested-min`
        ╰────
      help: no job would be kept; the smaller one is the minimum

      × step fill-window: length is not above 0
        ╭─[steps.toml:28:3]
     28 │   { kind = "fill-window", length = "0s", load = 1 },
        ·   ────────────────────────┬────────────────────────
        ·                           ╰── out of range
        ╰────
      help: `haggle help KEY` explains a key, and docs/scenario.md has all keys

      × lublin-feitelson: size-low is 4, expected 0 to size-medium
        ╭─[steps.toml:34:10]
     34 │ lublin = { jobs = 10, processors = 8, batch = { serial = 0.5 }, one = { size-low = 4 } }
        ·          ───────────────────────────────────────┬───────────────────────────────────────
        ·                                                 ╰── out of range
        ╰────
      help: sizes are logarithms (base 2) and grow from `size-low` over `size-medium` to `size-high`

      × `job-types` is "one", which has no class `batch`
        ╭─[steps.toml:34:47]
     34 │ lublin = { jobs = 10, processors = 8, batch = { serial = 0.5 }, one = { size-low = 4 } }
        ·                                               ────────┬───────
        ·                                                       ╰── not used
        ╰────
      help: remove it, or set `job-types = "batch-and-interactive"`

      × workload "model" is listed twice
        ╭─[steps.toml:38:19]
     38 │ merge = ["model", "model"]
        ·                   ───┬───
        ·                      ╰── again
        ╰────
      help: remove one of them, or make a second workload of the same source

    error: steps.toml has 13 problems
    "#);
}

/// Steps and models with one mistake each.
const STEPS: &str = r#"
[[workload]]
name = "steps"
jobs = []
rules = { preset = "canonical" }
step = [
  { kind = "estimates" },
  { kind = "estimates", rule = "exact", factor = { law = "constant", value = 2 } },
  { kind = "estimates", rule = "exact", of = "run-time" },
  { kind = "estimates", factor = { law = "uniform", low = 3, high = 1 } },
  { kind = "deadlines", slack = { law = "exponential", mean = "0s" } },
  { kind = "deadlines", slack = { law = "exponential", mean = 3 } },
  { kind = "ready-times", delay = { law = "choice", values = ["1h"], weights = [1, 2] } },
  { kind = "filter", requested-min = "2h", requested-max = "1h" },
  { kind = "fill-window", length = "0s", load = 1 },
]

[[workload]]
name = "model"
model = "lublin-feitelson"
lublin = { jobs = 10, processors = 8, batch = { serial = 0.5 }, one = { size-low = 4 } }

[[workload]]
name = "twice"
merge = ["model", "model"]
"#;

/// Fits the schema, but its parts contradict each other.
const NAMES: &str = r#"
[[workload]]
name = "a"
merge = ["b"]

[[workload]]
name = "b"
merge = ["a", "c"]

[[workload]]
name = "local"
model = "lublin-feitelson"

[[provider]]
name = "north"
processors = 64
count = 3

[[metascheduler]]
name = "grid"
placement = "least-loaded"
providers = ["north", "north-4"]

[[user]]
name = "grid"
workload = "locl"
submits-to = "north"

[[network.link]]
between = ["grid", "grid"]
latency = "1ms"

[[figure]]
kind = "lines"
metric = "makespan"
x = "load"
until = "0s"
from = "0s"

[[figure]]
kind = "utilisation"
name = "lines"
group-by = "provider"

[sweep]
[[sweep.axis]]
path = "provider.north.polices"
values = ["easy"]
[[sweep.axis]]
path = "metascheduler.grids.placement"
values = ["random"]
"#;

/// Every kind of mistake.
const WRONG: &str = r#"[scenario]
name = "every mistake"
seed = -1
until = 30
evnts-order = "submissions-first"

[[workload]]
name = "logs"
log = "$HAGGLE_NO_SUCH_VARIABLE/x.swf.gz"
[[workload.step]]
kind = "window"
from = "30d"
until = "7"
[[workload.step]]
kind = "filtre"
[[workload.step]]
kind = "split"
part = 3
parts = 2

[[workload]]
name = "model"
model = "lublin-feitelson"
log = "missing.swf"

[[workload]]
name = "list"
jobs = [
  { submit = "0s", processors = 4, requested = "100s", run = "80s" },
  { submit = "5s", processors = 0, requested = "0s", run = "80s" },
  { submit = "9s", procesors = 2, run = "10" },
]

[[workload]]
name = "list"
merge = ["model", "lists"]

[[provider]]
name = "north"
processors = 0
polcy = "easy"

[[provider]]
name = "north"
processors = 64
speed = 0
policy = { name = "easy", order = "shortes" }

[[provider]]
name = "south"
processors = "many"
count = 2
colour = "red"

[[provider]]
processors = 32

[[metascheduler]]
name = "grid"
placement = "least-loaded"
providers = ["north", "souht", "south"]

[[user]]
name = "local"
workload = "lists"
submits-to = "south"
patience = "2 fortnights"

[[user]]
name = "grid"
workload = "list"
submits-to = "gird"

[[network.link]]
between = ["north", "nowhere"]
latency = "50"

[results]
warm-up = "5 percent"
format = ["csv"]

[[figure]]
kind = "lines"
metric = "mean-slowdwn"
x = "load"

[[figure]]
kind = "gantt"
metric = "makespan"
from = "2d"
until = "1d"

[sweep]
replications = 600
[[sweep.axis]]
path = "provider.east.policy"
values = ["easy"]
[[sweep.axis]]
path = "provider.south.policy"
values = ["easy", "fcsf"]
[[sweep.axis]]
path = "provider.*.speed"
values = []
"#;

#[test]
fn what_a_figure_of_differences_is_held_against_is_checked() {
    let sweep =
        "[sweep]\n[[sweep.axis]]\npath = \"provider.*.policy\"\nvalues = [\"easy\", \"fcfs\"]\n";
    let said = |figure: &str| {
        let text = format!(
            "{VALID}\n{sweep}[[figure]]\nkind = \"bars\"\nmetric = \"makespan\"\n{figure}\n"
        );
        Folder::with(&[("a.toml", &text)]).haggle(&["validate", "a.toml"])
    };
    let good = said("group-by = \"policy\"\nagainst = { policy = \"easy\" }");
    assert!(good.starts_with("exit code: 0"), "{good}");
    for (figure, message) in [
        (
            "group-by = \"policy\"\nagainst = { policy = \"eazy\" }",
            "axis \"policy\" has no value eazy",
        ),
        (
            "group-by = \"policy\"\nagainst = { polcy = \"easy\" }",
            "the sweep has no axis \"polcy\"",
        ),
        ("group-by = \"policy\"\nagainst = {}", "every run would be its own reference"),
        ("against = { policy = \"easy\" }", "help: add `group-by`, such as \"policy\""),
    ] {
        let shown = said(figure);
        assert!(shown.starts_with("exit code: 3") && shown.contains(message), "{shown}");
    }
}

#[test]
fn a_percentage_is_turned_into_the_number_that_is_meant() {
    let text = VALID.replace("processors = 8", "processors = 8\nspeed = \"80%\"");
    let folder = Folder::with(&[("a.toml", &text)]);
    let shown = folder.haggle(&["validate", "a.toml"]);
    assert!(shown.contains("help: write `speed = 0.8`"), "{shown}");
}

#[test]
fn a_key_that_stands_for_none_is_refused() {
    let text = |key: i64| {
        format!(
            "[[workload]]\nname = \"w\"\njobs = [{{ submit = \"0s\", processors = 1, run = \"10s\", key = {key} }}]\n\
             [[provider]]\nname = \"p\"\nprocessors = 1\n\
             [[user]]\nname = \"u\"\nworkload = \"w\"\nsubmits-to = \"p\"\n"
        )
    };
    let folder = Folder::with(&[("low.toml", &text(i64::MIN)), ("next.toml", &text(i64::MIN + 1))]);
    let shown = folder.haggle(&["validate", "low.toml"]);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("write -9223372036854775807 or more"), "{shown}");
    let shown = folder.haggle(&["run", "next.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
}

/// Tables that name each other, `count` of each kind: lists of all names, and one table for each
/// name.
fn named_by_each_other(count: usize) -> String {
    let mut text =
        String::from("[scenario]\nhorizon = \"30d\"\n[network]\ntransport = \"reliable\"\n");
    for number in 0..count {
        let merged = (number + 1) % count;
        text += &format!(
            "[[workload]]\nname = \"jobs-{number}\"\n\
             jobs = [{{ submit = \"{number}s\", run = \"10s\", requested = \"20s\", processors = 1 }}]\n\
             [[workload]]\nname = \"all-{number}\"\nmerge = [\"jobs-{number}\", \"jobs-{merged}\"]\n\
             [[workload]]\nname = \"reserved-{number}\"\n\
             jobs = [{{ submit = \"0s\", run = \"10s\", requested = \"20s\", processors = 1 }}]\n\
             [[workload.step]]\nkind = \"reservations\"\nlead = {{ law = \"constant\", value = 10 }}\n\
             [[provider]]\nname = \"north-{number}\"\nprocessors = 4\n\
             [[provider]]\nname = \"south-{number}\"\nprocessors = 4\npolicy = \"reservations\"\n\
             [[metascheduler]]\nname = \"broker-{number}\"\nproviders = [\"north-{number}\"]\n\
             [[user]]\nname = \"users-{number}\"\nworkload = \"jobs-{number}\"\n\
             submits-to = \"broker-{number}\"\n\
             [[user]]\nname = \"planners-{number}\"\nworkload = \"reserved-{number}\"\n\
             submits-to = \"south-{number}\"\n\
             [[failures]]\nof = [\"north-{number}\"]\noutages = [[\"1d\", \"2d\"]]\n\
             [[maintenance]]\nof = [\"south-{number}\"]\nfrom = \"1d\"\nuntil = \"2d\"\n\
             [[network.link]]\nbetween = [\"users-{number}\", \"north-{number}\"]\nlatency = \"1s\"\n"
        );
    }
    let all = |name: &str| {
        let names = (0..count).map(|number| format!("\"{name}-{number}\""));
        names.collect::<Vec<_>>().join(", ")
    };
    let (north, south, brokers) = (all("north"), all("south"), all("broker"));
    text += &format!(
        "[[metascheduler]]\nname = \"everywhere\"\nproviders = [{north}]\n\
         [[user]]\nname = \"others\"\nworkload = \"all-0\"\nsubmits-to = \"everywhere\"\n\
         [[network.partition]]\nfrom = \"1d\"\nuntil = \"2d\"\nbetween = [[{north}], [{brokers}]]\n\
         [[figure]]\nkind = \"gantt\"\nproviders = [{north}, {south}]\n"
    );
    text
}

/// References between tables use one index. Pairwise comparisons would take minutes here.
#[cfg(unix)]
#[test]
fn time_does_not_grow_with_the_square_of_the_tables() {
    let folder = Folder::with(&[("it.toml", &named_by_each_other(4_000))]);
    let shown = folder.haggle_under("ulimit -t 60", &["validate", "it.toml"]);
    assert!(shown.starts_with("exit code: 0\n"), "{}", &shown[..shown.len().min(3_000)]);
    assert!(shown.contains("valid, 8000 providers, 12000 workloads, 1 run"), "{shown}");
}
