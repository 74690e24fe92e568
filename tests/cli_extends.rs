//! Scenarios that extend another one.

use crate::command::{Folder, VALID};

/// Two runs of the small scenario.
fn base() -> String {
    format!("{VALID}\n[sweep]\nreplications = 2\n")
}

#[test]
fn what_is_not_said_is_inherited() {
    let derived = "[scenario]\nextends = \"base.toml\"\nseed = 7\n\n[set]\n\"provider.north.policy\" = \"fcfs\"\n\n\
                   [network]\nlatency = \"2s\"\n";
    let folder = Folder::with(&[("base.toml", &base()), ("derived.toml", derived)]);
    insta::assert_snapshot!(folder.haggle(&["show", "derived.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    [scenario]
    name = "derived"
    seed = 7
    events-order = "submissions-first"

    [[workload]]
    name = "jobs"

    [[workload.jobs]]
    submit = "0s"
    processors = 4
    run = "80s"
    requested = "100s"

    [[provider]]
    name = "north"
    processors = 8
    speed = 1.0
    passes = "instant"
    overrun = "kill"
    disclosure = "offers"

    [provider.policy]
    name = "fcfs"
    order = "arrival"

    [[user]]
    name = "users"
    workload = "jobs"
    submits-to = "north"

    [network]
    latency = "2s"
    jitter = "0s"

    [results]
    warm-up = "0s"
    cool-down = "0s"
    bounded-slowdown-threshold = "10s"
    format = "parquet"
    messages = "all"

    [sweep]
    replications = 2
    max-runs = 1000
    axis = []
    ----- stderr -----
    "#);
}

/// A value set by the first scenario holds for it, and the second one may override it.
#[test]
fn what_is_set_below_gives_way() {
    let middle = "[scenario]\nextends = \"base.toml\"\n\n[set]\n\"network.latency\" = \"5s\"\n\
                  \"provider.north.policy\" = \"fcfs\"\n";
    let top = "[scenario]\nextends = \"middle.toml\"\n\n[network]\nlatency = \"1s\"\n";
    let folder =
        Folder::with(&[("base.toml", &*base()), ("middle.toml", middle), ("top.toml", top)]);
    let shown = folder.haggle(&["show", "top.toml"]);
    assert!(shown.contains("latency = \"1s\""), "{shown}");
    assert!(shown.contains("[provider.policy]\nname = \"fcfs\""), "{shown}");
}

#[test]
fn lists_and_sweeps_are_replaced_as_a_whole() {
    let derived = "[scenario]\nextends = \"base.toml\"\n\n[[provider]]\nname = \"south\"\nprocessors = 4\n\n\
                   [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"south\"\n\n\
                   [[sweep.axis]]\npath = \"provider.*.policy\"\nvalues = [\"fcfs\", \"easy\"]\n";
    let further = "[scenario]\nextends = \"derived.toml\"\n";
    let files = [("base.toml", &*base()), ("derived.toml", derived), ("further.toml", further)];
    let folder = Folder::with(&files);
    insta::assert_snapshot!(folder.haggle(&["show", "--runs", "further.toml"]), @"
    exit code: 0
    ----- stdout -----
    run	seed	folder	policy
    0	1	policy=fcfs/seed=1	fcfs
    1	1	policy=easy/seed=1	easy
    ----- stderr -----
    ");
}

#[test]
fn mistakes_in_what_is_set_are_shown_there() {
    let derived = "[scenario]\nextends = \"base.toml\"\n\n[set]\n\"provider.nroth.policy\" = \"fcfs\"\n\
                   \"provider.north.speed\" = \"fast\"\n";
    let folder = Folder::with(&[("base.toml", &base()), ("derived.toml", derived)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "derived.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × path "provider.nroth.policy" matches no key of the scenario
       ╭─[derived.toml:5:1]
     5 │ "provider.nroth.policy" = "fcfs"
       · ───────────┬───────────
       ·            ╰── leads nowhere
       ╰────
      help: did you mean "north"?

      × `speed` must be a number, not a string
       ╭─[derived.toml:6:26]
     6 │ "provider.north.speed" = "fast"
       ·                          ───┬──
       ·                             ╰── a string
       ╰────
      help: `speed`: Speed of its processors; 1 is the reference processor, 2 halves run times

    error: derived.toml has 2 problems
    "#);
}

#[test]
fn mistakes_in_what_is_extended_are_shown_where_it_is_named() {
    let wrong = VALID.replace("processors = 8", "processors = 8\ncolour = \"red\"");
    let files = [
        ("wrong.toml", &*wrong),
        ("not-toml.toml", "[provider"),
        ("a.toml", "[scenario]\nextends = \"wrong.toml\"\n"),
        ("b.toml", "[scenario]\nextends = \"not-toml.toml\"\n"),
        ("c.toml", "[scenario]\nextends = \"../elsewhere.toml\"\n"),
    ];
    let folder = Folder::with(&files);
    insta::assert_snapshot!(folder.haggle(&["validate", "a.toml", "b.toml", "c.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × the extended scenario has a problem: [[provider]] has no key `colour`
       ╭─[a.toml:2:11]
     2 │ extends = "wrong.toml"
       ·           ──────┬─────
       ·                 ╰── in this file
       ╰────
      help: `haggle validate wrong.toml` shows where

    error: a.toml has 1 problem
      × the extended scenario has a problem: not TOML: unclosed table, expected `]`
       ╭─[b.toml:2:11]
     2 │ extends = "not-toml.toml"
       ·           ───────┬───────
       ·                  ╰── in this file
       ╰────
      help: `haggle validate not-toml.toml` shows where

    error: b.toml has 1 problem
      × `extends` names a file in the same folder
       ╭─[c.toml:2:11]
     2 │ extends = "../elsewhere.toml"
       ·           ─────────┬─────────
       ·                    ╰── not the name of a file here
       ╰────
      help: write its name without a folder, such as "policies.toml"

    error: c.toml has 1 problem
    "#);
}

#[test]
fn files_that_are_missing_or_extend_themselves_are_named() {
    let files = [
        ("lost.toml", "[scenario]\nextends = \"missing.toml\"\n"),
        ("circle.toml", "[scenario]\nextends = \"circle.toml\"\n"),
        ("one.toml", "[scenario]\nextends = \"other.toml\"\n"),
        ("other.toml", "[scenario]\nname = \"other\"\nextends = \"one.toml\"\n"),
    ];
    let folder = Folder::with(&files);
    insta::assert_snapshot!(folder.haggle(&["validate", "lost.toml", "circle.toml", "one.toml"]), @"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cannot read `missing.toml`: No such file or directory (os error 2); `lost.toml` extends it
    error: cannot read `circle.toml`: it extends itself: remove `extends` in line 2 of `circle.toml`
    error: cannot read `one.toml`: it extends itself: remove `extends` in line 3 of `other.toml`
    ");
}
