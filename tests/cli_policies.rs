//! `policy` is a word, or a table with the keys that this policy has.

use crate::command::{Folder, VALID, json_of, stderr_of, unwrapped};

/// The small scenario with this key added to its provider.
fn with(policy: &str) -> String {
    VALID.replace("processors = 8\n", &format!("processors = 8\n{policy}\n"))
}

/// Output of `validate` for it.
fn said(policy: &str) -> String {
    let folder = Folder::with(&[("it.toml", &with(policy))]);
    stderr_of(&folder.haggle(&["validate", "it.toml"])).to_owned()
}

#[test]
fn a_key_of_another_policy_is_an_unknown_key() {
    insta::assert_snapshot!(said("policy = { name = \"easy\", compression = \"none\" }"), @r#"
      × [provider.policy] with `name = "easy"` has no key `compression`
       ╭─[it.toml:9:27]
     9 │ policy = { name = "easy", compression = "none" }
       ·                           ─────┬─────
       ·                                ╰── unknown key
       ╰────
      help: it is a key of "conservative"; with `name = "easy"` there are `depth`, `name`, `order`

    error: it.toml has 1 problem
    "#);
    let mistyped = said("policy = { name = \"conservative\", compresion = \"none\" }");
    assert!(mistyped.contains("help: did you mean `compression`?"), "{mistyped}");
    let unheard = said("policy = { name = \"conservative\", colour = 3 }");
    let unheard = Vec::from_iter(unheard.split_whitespace()).join(" ");
    let known =
        "with `name = \"conservative\"` has `compression`, `depth`, `name`, `order`, `window`";
    assert!(unheard.contains(known), "{unheard}");
    let nobody = said("policy = { order = \"shortest\" }");
    assert!(nobody.contains("[provider.policy] has no `name`"), "{nobody}");
    assert!(nobody.contains("`name` is one of \"fcfs\", \"easy\""), "{nobody}");
}

#[test]
fn a_key_that_stood_beside_the_policy_is_told_its_place() {
    insta::assert_snapshot!(said("policy = \"conservative\"\norder = \"shortest\""), @r#"
      × [[provider]] has no key `order`
        ╭─[it.toml:10:1]
     10 │ order = "shortest"
        · ──┬──
        ·   ╰── unknown key
        ╰────
      help: it belongs to `policy`: write `policy = { name = "conservative", order = … }`

    error: it.toml has 1 problem
    "#);
    for (key, place) in [
        ("blocks = true", "policy = { name = \"bags\", blocks = … }"),
        ("policy = \"bags\"\noffers = {}", "policy = { name = \"bags\", offers = … }"),
        ("reservations = { threshold = 5 }", "policy = { name = \"reservations\", … }"),
    ] {
        let said = said(key);
        assert!(said.contains(&format!("write `{place}`")), "{said}");
    }
}

/// Equal scenarios in two forms have equal digests.
#[test]
fn a_word_is_short_for_a_table_with_nothing_but_a_name() {
    let folder = Folder::with(&[
        ("word.toml", &with("policy = \"conservative\"")),
        ("table.toml", &with("policy = { name = \"conservative\" }")),
        ("header.toml", &with("[provider.policy]\nname = \"conservative\"\norder = \"arrival\"")),
    ]);
    let shown = |file: &str| folder.haggle(&["show", file]).replace(file, "it");
    let all = ["word", "table", "header"].map(|file| {
        shown(&format!("{file}.toml")).replace(&format!("name = \"{file}\""), "name = \"it\"")
    });
    assert!(all[0].contains("[provider.policy]\nname = \"conservative\"\norder = \"arrival\""));
    assert!(all[0].contains("compression = \"by-start\""), "{}", all[0]);
    assert!(all.iter().all(|it| *it == all[0]), "{all:#?}");
}

#[test]
fn axes_vary_whole_policies_and_keys_of_them() {
    let sweep = "[sweep]\n[[sweep.axis]]\npath = \"provider.*.policy.order\"\n\
                 values = [\"arrival\", \"shortest\"]\n\
                 [[sweep.axis]]\npath = \"provider.*.policy\"\n\
                 values = [\"fcfs\", { name = \"conservative\", compression = \"none\" }]\n";
    let folder = Folder::with(&[("it.toml", &format!("{VALID}{sweep}"))]);
    // A value that one axis sets as a whole keeps the values that the other axis sets in it.
    insta::assert_snapshot!(folder.haggle(&["show", "--runs", "it.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    run	seed	folder	order	policy
    0	1	order=arrival/policy=fcfs/seed=1	arrival	fcfs
    1	1	order=arrival/policy=conservative%20compression%3Dnone/seed=1	arrival	conservative compression=none
    2	1	order=shortest/policy=fcfs/seed=1	shortest	fcfs
    3	1	order=shortest/policy=conservative%20compression%3Dnone/seed=1	shortest	conservative compression=none
    ----- stderr -----
    "#);
    let shown = folder.haggle(&["show", "--run", "2", "it.toml"]);
    assert!(shown.contains("name = \"fcfs\"\norder = \"shortest\""), "{shown}");
    let shown = folder.haggle(&["show", "--run", "3", "it.toml"]);
    let policy = "name = \"conservative\"\norder = \"shortest\"\ncompression = \"none\"";
    assert!(shown.contains(policy), "{shown}");
    let of_none = sweep.replace("\"fcfs\", {", "\"fcfs\", \"edf\", {");
    let folder = Folder::with(&[("it.toml", &format!("{VALID}{of_none}"))]);
    let shown = folder.haggle(&["validate", "it.toml"]);
    let wrong = "[provider.policy] with `name = \"edf\"` has no key `order`";
    assert!(stderr_of(&shown).contains(wrong), "{shown}");
}

#[test]
fn a_key_is_set_below_a_word() {
    let folder = Folder::with(&[
        ("it.toml", &with("policy = \"conservative\"")),
        (
            "derived.toml",
            "[scenario]\nextends = \"it.toml\"\n[set]\n\"provider.north.policy.compression\" = \"none\"\n",
        ),
    ]);
    let shown = folder.haggle(&["show", "derived.toml"]);
    assert!(shown.contains("name = \"conservative\"\norder = \"arrival\"\ncompression = \"none\""));
    let setting = ["run", "it.toml", "--set", "provider.north.policy.blocks=true", "-o", "it"];
    insta::assert_snapshot!(folder.haggle(&setting), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × [provider.policy] with `name = "conservative"` has no key `blocks`
       ╭─[--set:6:1]
     6 │ "provider.north.policy.blocks" = true
       · ───────────────┬──────────────
       ·                ╰── unknown key
       ╰────
      help: it is a key of "bags"; with `name = "conservative"` there are `compression`, `depth`,
            `name`, `order`, `window`

    error: --set has 1 problem
    "#);
}

/// The example of docs/policies.md.
const PASSES: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 3, requested = "5min", run = "2min 10s" },
    { submit = "10s", processors = 4, requested = "1min", run = "1min" },
    { submit = "20s", processors = 2, requested = "30s", run = "30s" },
    { submit = "30s", processors = 1, requested = "1min 30s", run = "50s" },
]

[[provider]]
name = "machine"
processors = 4
policy = { name = "easy" }

[[user]]
name = "users"
workload = "jobs"
submits-to = "machine"
"#;

#[test]
fn passes_at_intervals_start_jobs_as_the_manual_says() {
    let folder = Folder::with(&[("it.toml", PASSES)]);
    let depth = |depth: u32| format!("provider.machine.policy.depth={depth}");
    let interval = "provider.machine.interval=\"1min\"".to_owned();
    for (place, (settings, starts)) in [
        (vec![], [0, 130, 190, 30]),
        (vec![interval.clone()], [0, 180, 240, 60]),
        (vec![interval.clone(), depth(2)], [0, 180, 240, 60]),
        (vec![interval, depth(1)], [0, 180, 240, 240]),
    ]
    .into_iter()
    .enumerate()
    {
        let run = format!("run-{place}");
        let mut arguments = vec!["run", "it.toml", "--check", "-o", &run];
        settings.iter().for_each(|it| arguments.extend(["--set", it]));
        let ran = folder.haggle(&arguments);
        assert!(ran.starts_with("exit code: 0\n"), "{ran}");
        let jobs =
            ["jobs", &run, "--columns", "job_id,starting_time", "--sort", "job_id", "--json"];
        let jobs = json_of(&folder.haggle(&jobs));
        let jobs = jobs.as_array().expect("jobs").iter();
        let found = Vec::from_iter(jobs.map(|it| it["starting_time"].as_f64()));
        assert_eq!(found, starts.map(|it| Some(f64::from(it))), "{settings:?}");
    }
    // The second job could start at 130 s, and the fourth one at 30 s.
    let told = unwrapped(&folder.haggle(&["explain", "run-1", "jobs!2"]));
    assert!(told.contains("enough free: until the next scheduling pass"), "{told}");
    let told = unwrapped(&folder.haggle(&["explain", "run-3", "jobs!4"]));
    assert!(
        told.contains(
            "it stood behind 2 jobs, and a pass examines 1 job behind the head of the queue"
        ),
        "{told}"
    );
}

/// A machine of 4 processors. The second and the third job wait; the fourth and the fifth would fit beside the first one.
const PARTLY: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 3, run = "100s", requested = "100s" },
    { submit = "1s", processors = 4, run = "100s", requested = "100s" },
    { submit = "2s", processors = 4, run = "100s", requested = "100s" },
    { submit = "3s", processors = 1, run = "10s", requested = "10s" },
    { submit = "4s", processors = 1, run = "250s", requested = "250s" },
]

[[provider]]
name = "machine"
processors = 4
policy = { name = "conservative", compression = "replan" }

[[user]]
name = "users"
workload = "jobs"
submits-to = "machine"
"#;

#[test]
fn conservative_backfilling_may_plan_a_part_of_its_queue() {
    let starts = |keys: &str| {
        let policy = format!("compression = \"replan\"{keys} }}");
        let text = PARTLY.replace("compression = \"replan\" }", &policy);
        let folder = Folder::with(&[("it.toml", &text)]);
        for command in [&["run", "it.toml", "-o", "out", "--check"][..], &["verify", "it.toml"]] {
            let told = folder.haggle(command);
            assert!(told.starts_with("exit code: 0"), "{told}");
        }
        let jobs =
            ["jobs", "out", "--columns", "job_id,starting_time", "--sort", "job_id", "--json"];
        let jobs = json_of(&folder.haggle(&jobs));
        let jobs = jobs.as_array().expect("jobs").iter();
        Vec::from_iter(jobs.map(|it| it["starting_time"].as_f64().expect("a start")))
    };
    assert_eq!(starts(""), [0.0, 100.0, 200.0, 3.0, 300.0]);
    // The second job has a reservation; the third one is examined, and the fourth one is not.
    assert_eq!(starts(", depth = 1"), [0.0, 100.0, 200.0, 300.0, 300.0]);
    assert_eq!(starts(", depth = 2"), [0.0, 100.0, 200.0, 3.0, 300.0]);
    // The second and the third job have no reservations, so that the last one starts at once.
    assert_eq!(starts(", window = \"50s\""), [0.0, 263.0, 363.0, 3.0, 13.0]);
    for (policy, expected) in [
        ("{ name = \"conservative\", depth = 3 }", "keeps reservations once they are made"),
        ("{ name = \"easy\", window = \"1h\" }", "has no key `window`"),
    ] {
        let text = PARTLY.replace("{ name = \"conservative\", compression = \"replan\" }", policy);
        let folder = Folder::with(&[("it.toml", &text)]);
        let told = unwrapped(&folder.haggle(&["validate", "it.toml"]));
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn an_interval_is_refused_beside_work_at_any_time() {
    let folder = Folder::with(&[(
        "log.swf",
        "; MaxProcs: 4\n1 0 5 10 3 -1 -1 3 20 -1 1 -1 -1 -1 -1 -1 -1 -1\n",
    )]);
    let told = |text: &str| {
        std::fs::write(folder.path().join("it.toml"), text).expect("it can be written");
        unwrapped(&folder.haggle(&["validate", "it.toml"]))
    };
    let with = |policy: &str| {
        PASSES.replace(
            "policy = { name = \"easy\" }",
            &format!("policy = \"{policy}\"\ninterval = \"1min\""),
        )
    };
    let fine = told(&with("conservative"));
    assert!(fine.starts_with("exit code: 0\n") && !fine.contains("no effect"), "{fine}");
    for (text, wanted) in [
        (with("edf"), "policy \"edf\" of provider \"machine\" answers or starts jobs at any time"),
        (
            with("easy")
                + "[[maintenance]]\nof = [\"machine\"]\nfrom = \"1min\"\nuntil = \"2min\"\n",
            "has maintenance, which begins at any time",
        ),
        (
            with("easy").replace("1min\"\n\n[[user", "1min\"\npasses = \"event\"\n\n[[user"),
            "decides after each event",
        ),
        (
            with("easy").replace("\"1min\"\n\n[[user", "\"0s\"\n\n[[user"),
            "without a time between passes",
        ),
        (
            with("easy")
                + "[[change]]\nat = \"1min\"\nset = { \"provider.machine.policy\" = \"fcfs\" }\n",
            "may replace the queue of provider \"machine\" between two passes",
        ),
    ] {
        let said = told(&text);
        assert!(!said.starts_with("exit code: 0") && said.contains(wanted), "{text}: {said}");
    }
}

/// A provider that starts jobs as recorded plans nothing ahead, and reads the waiting times of logs alone.
#[test]
fn starts_as_recorded_need_a_log_and_nothing_planned_ahead() {
    let warned = said("policy = \"recorded\"");
    let nothing = "`policy` of provider \"north\" has no effect: no job comes here from a log";
    assert!(warned.contains(nothing), "{warned}");
    let folder = Folder::with(&[(
        "log.swf",
        "; MaxProcs: 8\n1 0 5 10 3 -1 -1 3 20 -1 1 -1 -1 -1 -1 -1 -1 -1\n",
    )]);
    let told = |text: &str| {
        std::fs::write(folder.path().join("it.toml"), text).expect("it can be written");
        unwrapped(&folder.haggle(&["validate", "it.toml"]))
    };
    let of_log = "[[workload]]\nname = \"log\"\nlog = \"log.swf\"\n";
    let user = "[[user]]\nname = \"users\"\nworkload = \"log\"\nsubmits-to = \"north\"\n";
    let provider = "[[provider]]\nname = \"north\"\nprocessors = 8\npolicy = \"recorded\"\n";
    let fine = told(&format!("{of_log}{provider}{user}"));
    assert!(fine.starts_with("exit code: 0\n") && !fine.contains("no effect"), "{fine}");
    let window = "[[workload.step]]\nkind = \"reservations\"\nflexibility = { law = \"constant\", value = 2 }\n";
    let reserved = told(&format!("{of_log}{window}{provider}{user}"));
    let reason = "the jobs of \"log\" need reservations, and the jobs of provider \"north\" start when their logs say";
    assert!(reserved.contains(reason), "{reserved}");
    let spread = "[[metascheduler]]\nname = \"meta\"\ncoallocation = {}\n";
    let spread = told(&format!("{of_log}{provider}{spread}{}", user.replace("north", "meta")));
    let reason = "spreads jobs over provider \"north\", whose jobs then start when their logs say";
    assert!(spread.contains(reason), "{spread}");
    let ordered = said("policy = { name = \"recorded\", order = \"shortest\" }");
    assert!(ordered.contains("with `name = \"recorded\"` has no key `order`"), "{ordered}");
}

/// Two parallel tasks on a grid.
const GRID: &str = r#"
[[workload]]
name = "flows"
model = "workflows"
workflows = { count = 1, width = 2, work = "10min" }

[[user]]
name = "users"
workload = "flows"
submits-to = "grid"

[grid]
policy = { name = "balanced-workflow", floor = "4min" }

[[grid.site]]
name = "alpha"
resources = 2
"#;

#[test]
fn a_policy_of_a_grid_may_need_more_than_its_name() {
    let text = GRID.replace("{ name = \"balanced-workflow\", floor = \"4min\" }", "\"with-limit\"");
    let folder = Folder::with(&[("it.toml", &text)]);
    let shown = folder.haggle(&["validate", "it.toml"]);
    assert!(stderr_of(&shown).contains("[grid.policy] has no `limit`"), "{shown}");
    assert!(stderr_of(&shown).contains("add `limit`: Largest share that is accepted"), "{shown}");
    let text = GRID.replace("name = \"balanced-workflow\", floor", "own = \"mine\", floor");
    let folder = Folder::with(&[("it.toml", &text)]);
    let shown = folder.haggle(&["validate", "it.toml"]);
    assert!(stderr_of(&shown).contains("[grid.policy] has no key `floor`"), "{shown}");
    assert!(stderr_of(&shown).contains("has `cancel-mode`, `own`, `prefers`"), "{shown}");
}

/// A key alone extends the policy; another policy replaces it as a whole.
#[test]
fn a_policy_is_extended_by_its_keys_or_as_a_whole() {
    let shown = |policy: &str| {
        let derived = format!("[scenario]\nextends = \"it.toml\"\n[grid]\n{policy}\n");
        let folder = Folder::with(&[("it.toml", GRID), ("derived.toml", &derived)]);
        let shown = folder.haggle(&["show", "derived.toml"]);
        let policy = shown.split("[grid.policy]\n").nth(1).expect("it has one");
        policy.split("\n\n").next().unwrap_or_default().to_owned()
    };
    let joined = shown("policy = { gain = \"5%\" }");
    assert!(joined.contains("name = \"balanced-workflow\"\ngain = \"5%\"\nfloor = \"4min\""));
    assert_eq!(shown("policy = { name = \"workflow\" }"), "name = \"workflow\"");
    assert_eq!(shown("policy = \"workflow\""), "name = \"workflow\"");
    let own = "own = \"mine\"\nprefers = \"effective-speed\"\ncancel-mode = \"immediate\"";
    assert_eq!(shown("policy = { own = \"mine\" }"), own);
}
