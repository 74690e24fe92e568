//! Advance reservations: requested, granted or offered beside the window, fixed, and reported.

use crate::command::{Folder, unwrapped};

/// The second job has no room in its window and accepts an earlier place; the third accepts none at
/// that distance.
const WINDOWS: &str = r#"
[scenario]
name = "windows"

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 2, run = "10s", requested = "10s", ready = "12s", deadline = "26s" },
    { submit = "4s", processors = 2, run = "5s", requested = "5s", ready = "12s", deadline = "24s" },
    { submit = "5s", processors = 1, run = "9s", requested = "9s", ready = "8s", deadline = "17s" },
]

[[workload.step]]
kind = "reservations"
accepts = 100

[[workload]]
name = "others"
jobs = [{ submit = "6s", processors = 2, run = "3s", requested = "3s" }]

[[provider]]
name = "north"
processors = 2
policy = { name = "reservations", threshold = 150, fix-at = "50%" }

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[user]]
name = "guests"
workload = "others"
submits-to = "north"

[results]
format = "csv"
"#;

#[test]
fn a_window_without_room_has_others_beside_it() {
    let folder = Folder::with(&[("windows.toml", WINDOWS)]);
    let shown = folder.haggle(&["run", "windows.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let told =
        "2 reservations granted, 1 beside their windows, by 100.0 % of their time in the mean";
    assert!(shown.contains(told), "{shown}");
    assert!(shown.contains("3 completed, 1 rejected (1 no window)"), "{shown}");
    insta::assert_snapshot!(folder.read("out/reservations.csv"), @"
    job,provider,granted_time,ready_time,deadline,processors,planned_time,planned_starting_time,distance_time,fixed_time,fixed_starting_time,broken
    1,north,4.0,7.0,12.0,2,5.0,7.0,5.0,,,0
    0,north,0.0,12.0,26.0,2,10.0,12.0,,6.0,12.0,0
    ");
    // The request for the second job discloses nothing about the first.
    insta::assert_snapshot!(folder.read("out/disclosures.csv"), @"
    time,sender,receiver,item,count,job
    0.0,north,users,estimate,1,0
    4.0,north,users,interval,2,1
    4.0,north,users,estimate,1,1
    5.0,north,users,refusal,1,2
    6.0,north,users,estimate,1,0
    ");
    insta::assert_snapshot!(folder.haggle(&["explain", "out", "1"]), @"
    exit code: 0
    ----- stdout -----
    job 1 of the run, jobs!2: local, 2 processors, at most 5 s

       4 s  submitted by users to north
       4 s  north had no room in the window, and offered users 2 intervals instead
       4 s  queued at north, with a promised completion at 12 s
       4 s  north granted an interval 5 s beside the window, from 7 s to 12 s; planned to start at 7 s
       7 s  may start from now on, says its user
       7 s  started at north, 3 s after its submission
      12 s  completed after running 5 s, as promised

      where its time went        waiting, s    running, s
      before its earliest start           3
      computing                                         5
      all                                 3             5
    ----- stderr -----
    ");
    let shown = folder.haggle(&["explain", "out", "0"]);
    assert!(shown.contains(" 6 s  its start was fixed: 12 s"), "{shown}");
    let shown = folder.haggle(&["verify", "out"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
}

#[test]
fn only_providers_are_asked_to_reserve() {
    let broker = WINDOWS.replace("submits-to = \"north\"", "submits-to = \"broker\"")
        + "[[metascheduler]]\nname = \"broker\"\nplacement = \"random\"\n";
    let folder = Folder::with(&[("broker.toml", &broker)]);
    let said = folder.haggle(&["validate", "broker.toml"]);
    assert!(said.starts_with("exit code: 3"), "{said}");
    let said = unwrapped(&said);
    assert!(said.contains("need reservations, and \"broker\" grants none"), "{said}");
    assert!(said.contains("submit to a provider, or remove step \"reservations\""), "{said}");
}

/// Keys that are never read cause warnings.
#[test]
fn keys_of_reservations_that_nobody_reads_are_named() {
    let said = |from: &str, to: &str| {
        assert!(WINDOWS.contains(from), "{from}");
        let folder = Folder::with(&[("windows.toml", &WINDOWS.replace(from, to))]);
        folder.haggle(&["validate", "windows.toml"])
    };
    let shown = said("accepts = 100", "flexible = \"50%\"");
    assert!(
        shown.contains("`flexible` of step \"reservations\" of workload \"jobs\" has no effect"),
        "{shown}"
    );
    let shown = said("threshold = 150", "after = \"completion\"");
    assert!(shown.contains("`after` of the policy of provider \"north\" has no effect"), "{shown}");
    assert!(
        shown.contains("`accepts` of step \"reservations\" of workload \"jobs\" has no effect"),
        "{shown}"
    );
    let shown = said("kind = \"reservations\"\naccepts = 100", "kind = \"run-times-as-requested\"");
    assert!(
        shown.contains("`fix-at` of the policy of provider \"north\" has no effect"),
        "{shown}"
    );
}

/// A reservation that can never be granted is reported before the run, with a possible one.
#[test]
fn windows_that_nobody_could_ever_grant_are_warned_about() {
    let said = |from: &str, to: &str| {
        let text = WINDOWS.replace("accepts = 100", "").replace("threshold = 150, ", "");
        assert!(text.contains(from), "{from}");
        let folder = Folder::with(&[("windows.toml", &text.replace(from, to))]);
        let shown = folder.haggle(&["validate", "windows.toml"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        let run = folder.haggle(&["run", "windows.toml", "-o", "out", "--check"]);
        let summary = folder.read("out/summary.json");
        assert!(run.contains("rejected"), "{run}");
        assert!(summary.contains("no_window"), "{summary}");
        unwrapped(&shown)
    };
    let shown = said("deadline = \"17s\"", "deadline = \"16s\"");
    let told = "at provider \"north\", from 8s to 16s, is shorter than the 9s that it asks for: it will be rejected";
    assert!(shown.contains(told), "{shown}");
    assert!(shown.contains("write 17s at least"), "{shown}");
    // The processors are closed from 10 s on, which is known, so the window could be after that
    // time.
    let shown = said("[results]", "[[maintenance]]\nfrom = \"10s\"\nuntil = \"16s\"\n\n[results]");
    assert!(
        shown.contains("from 8s to 17s, is closed for maintenance: it will be rejected"),
        "{shown}"
    );
    assert!(shown.contains("write 25s at least"), "{shown}");
    let shown = said(
        "kind = \"reservations\"",
        "kind = \"reservations\"\nlead = { law = \"constant\", value = 2 }",
    );
    assert!(!shown.contains("it will"), "the windows that are listed do not count: {shown}");
    let shown = said(
        "kind = \"reservations\"",
        "kind = \"reservations\"\nlead = { law = \"constant\", value = 2 }\n\n[[provider]]\nname = \"south\"\n\
         processors = 2\nspeed = 0.5\npolicy = \"reservations\"\n\n[[user]]\nname = \"more\"\nworkload = \
         \"jobs\"\nsubmits-to = \"south\"",
    );
    assert!(
        shown.contains("provider \"south\", of speed 0.5, takes longer: it will grant none"),
        "{shown}"
    );
}

/// One processor of four fails at 5 s. The first job runs on it, and the second needs all four.
const FAILS: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 1, run = "10s", requested = "10s", ready = "0s", deadline = "16s" },
    { submit = "1s", processors = 4, run = "10s", requested = "10s", ready = "8s", deadline = "40s" },
]

[[workload.step]]
kind = "moldable"
parallel = 1.0

[[workload.step]]
kind = "reservations"
narrowest = 50
on-failure = "shrink"

[[provider]]
name = "north"
processors = 4
policy = "reservations"

[[failures]]
nodes = 1
outages = [["5s", "60s"]]

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[results]
format = "csv"
"#;

fn run_failing(remedy: &str) -> (Folder, String) {
    let folder = Folder::with(&[("fails.toml", &FAILS.replace("shrink", remedy))]);
    let shown = folder.haggle(&["run", "fails.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let verified = folder.haggle(&["verify", "out"]);
    assert!(verified.starts_with("exit code: 0"), "{verified}");
    (folder, shown)
}

#[test]
fn a_window_whose_processors_fail_is_kept_on_fewer() {
    let (folder, shown) = run_failing("shrink");
    insta::assert_snapshot!(folder.read("out/displacements.csv"), @"
    job,provider,time,cause,answer,processors,planned_time,planned_starting_time
    0,north,5.0,failure,moved,1,10.0,5.0
    1,north,5.0,failure,shrunk,3,13.333334,15.0
    ");
    assert!(shown.contains("2 reservations granted, 1 moved in theirs, 1 shrunk"), "{shown}");
    insta::assert_snapshot!(folder.haggle(&["explain", "out", "1"]), @"
    exit code: 0
    ----- stdout -----
    job 1 of the run, jobs!2: local, 4 processors, at most 10 s

          1 s  submitted by users to north
          1 s  queued at north, with a promised completion at 40 s
          1 s  north granted the window, from 8 s to 40 s; planned to start at 10 s
          5 s  processors failed under its place: it has one in its window on 3 processors; planned to start at 15 s
          8 s  may start from now on, says its user
         15 s  started at north, 14 s after its submission
      28.33 s  completed after running 13.33 s, 11.67 s earlier than promised

      where its time went        waiting, s    running, s
      before its earliest start           7
      processors down                     7
      computing                                     13.33
      all                                14         13.33

    It was in the queue of north (reservations, edf order, 4 processors) for 7 s
      On arrival, no job was ahead of it.
      It needs 3 processors; from 2 to 2 were free, 2 on average.
      There never were enough free.
      At the instant it started, job 0 gave back 1 processor.

    1 job held 7 processor-seconds meanwhile:
      job          processors  from, s  to, s  processor-seconds      %
        0  jobs!1           1        5     15                  7  100.0

    No job that was queued later started before this one started.
    ----- stderr -----
    ");
    let shown = folder.haggle(&["explain", "out", "0"]);
    assert!(shown.contains("it has another one in its window"), "{shown}");
}

#[test]
fn a_window_whose_processors_fail_is_late_or_given_back() {
    for (remedy, counts, displaced) in [
        ("postpone", "2 of their windows broken", "failure,postponed,4"),
        (
            "substitute",
            "1 of their windows broken, 1 moved in theirs, 1 given back",
            "failure,revoked,4",
        ),
        ("revoke", "2 of their windows broken, 2 given back", "failure,revoked,4"),
    ] {
        let (folder, shown) = run_failing(remedy);
        assert!(shown.contains(&format!("2 reservations granted; {counts}\n")), "{shown}");
        assert!(folder.read("out/displacements.csv").contains(displaced), "{remedy}");
    }
    let (folder, _) = run_failing("revoke");
    insta::assert_snapshot!(folder.haggle(&["explain", "out", "1"]), @r"
    exit code: 0
    ----- stdout -----
    job 1 of the run, jobs!2: local, 4 processors, at most 10 s

      1 s  submitted by users to north
      1 s  queued at north, with a promised completion at 40 s
      1 s  north granted the window, from 8 s to 40 s; planned to start at 10 s
      5 s  processors failed under its place: north gave it back
      5 s  given back: it never started

      where its time went        waiting, s    running, s
      before its earliest start           4

    It waited 4 s and never started.
    ----- stderr -----
    ");
}

/// Two processors of five fail at 5 s and at 30 s. So the last job starts after 70 s instead of 50
/// s, too late for its window. Between the failures it has its old place back.
#[test]
fn who_is_late_is_not_said_to_move_in_its_window() {
    let folder = Folder::with(&[(
        "late.toml",
        r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 2, run = "1s", requested = "1s" },
    { submit = "0s", processors = 1, run = "50s", requested = "50s" },
    { submit = "0s", processors = 2, run = "70s", requested = "70s" },
    { submit = "1s", processors = 3, run = "10s", requested = "10s", ready = "8s", deadline = "62s" },
]

[[workload.step]]
kind = "reservations"

[[provider]]
name = "north"
processors = 5
policy = "reservations"

[[failures]]
nodes = 2
outages = [["5s", "20s"], ["30s", "200s"]]

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[results]
format = "csv"
"#,
    )]);
    let shown = folder.haggle(&["run", "late.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    assert!(shown.contains("1 of their windows broken"), "{shown}");
    insta::assert_snapshot!(folder.read("out/displacements.csv"), @r"
    job,provider,time,cause,answer,processors,planned_time,planned_starting_time
    3,north,5.0,failure,postponed,3,10.0,70.0
    3,north,30.0,failure,postponed,3,10.0,70.0
    ");
}

/// A request with an open size is offered other sizes in its window: by 22 s there is no room for
/// four processors, which would be free from 13 s on.
#[test]
fn a_window_without_room_may_have_room_for_fewer() {
    let sizes = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 1, run = "13s", requested = "13s", ready = "0s", deadline = "13s" },
    { submit = "1s", processors = 4, run = "10s", requested = "10s", ready = "8s", deadline = "22s" },
]

[[workload.step]]
kind = "moldable"
parallel = 1.0

[[workload.step]]
kind = "reservations"
narrowest = 25
widest = 200

[[provider]]
name = "north"
processors = 4
policy = { name = "reservations", threshold = 0 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[results]
format = "csv"
"#;
    let folder = Folder::with(&[("sizes.toml", sizes)]);
    let shown = folder.haggle(&["run", "sizes.toml", "-o", "out", "--check"]);
    let told = "2 reservations granted, 1 on another number of processors\n";
    assert!(shown.contains(told), "{shown}");
    insta::assert_snapshot!(folder.read("out/reservations.csv"), @"
    job,provider,granted_time,ready_time,deadline,processors,planned_time,planned_starting_time,distance_time,fixed_time,fixed_starting_time,broken
    0,north,0.0,0.0,13.0,1,13.0,0.0,,,,0
    1,north,1.0,8.0,21.333334,3,13.333334,8.0,,,,0
    ");
    let shown = folder.haggle(&["explain", "out", "1"]);
    let told =
        "north granted the window, from 8 s to 21.33 s, on 3 processors; planned to start at 8 s";
    assert!(shown.contains(told), "{shown}");
}

/// A missing answer to possible failures is reported.
#[test]
fn remedies_that_nothing_asks_for_are_named() {
    let said = |from: &str, to: &str| {
        assert!(FAILS.contains(from), "{from}");
        let folder = Folder::with(&[("fails.toml", &FAILS.replace(from, to))]);
        folder.haggle(&["validate", "fails.toml"])
    };
    let key =
        |key: &str| format!("`{key}` of step \"reservations\" of workload \"jobs\" has no effect");
    let shown = said("[[failures]]\nnodes = 1\noutages = [[\"5s\", \"60s\"]]\n", "");
    assert!(shown.contains(&key("on-failure")) && shown.contains(&key("narrowest")), "{shown}");
    let shown = said("[[workload.step]]\nkind = \"moldable\"\nparallel = 1.0\n", "");
    assert!(shown.contains(&key("on-failure")) && shown.contains(&key("narrowest")), "{shown}");
    let shown = said("narrowest = 50\non-failure = \"shrink\"", "");
    assert!(shown.contains("step \"moldable\" of workload \"jobs\" has no effect"), "{shown}");
}

/// Reservations and failures at other providers do not suppress the warning.
#[test]
fn a_remedy_is_asked_for_where_its_users_submit_to() {
    let elsewhere = r#"
[[workload]]
name = "others"
jobs = [{ submit = "0s", processors = 2, run = "5s", requested = "5s", ready = "2s", deadline = "30s" }]

[[workload.step]]
kind = "reservations"
accepts = 50
narrowest = 50
on-failure = "substitute"

[[provider]]
name = "other"
processors = 4
policy = "reservations"

[[user]]
name = "them"
workload = "others"
submits-to = "other"
"#;
    let both = format!("{FAILS}{elsewhere}");
    let fails = "[[failures]]\nnodes = 1\n";
    assert!(FAILS.contains(fails), "{FAILS}");
    let here = both.replace(fails, "[[failures]]\nof = [\"north\"]\nnodes = 1\n");
    let there = both.replace(fails, "[[failures]]\nof = [\"other\"]\nnodes = 1\n");
    let folder = Folder::with(&[("here.toml", here.as_str()), ("there.toml", &there)]);
    let key = |key: &str, whose: &str| {
        format!("`{key}` of step \"reservations\" of workload \"{whose}\" has no effect")
    };
    let shown = folder.haggle(&["validate", "here.toml"]);
    for named in ["accepts", "narrowest", "on-failure"].map(|it| key(it, "others")) {
        assert!(shown.contains(&named), "{named}: {shown}");
    }
    assert!(!shown.contains(&key("on-failure", "jobs")), "{shown}");
    let shown = folder.haggle(&["validate", "there.toml"]);
    assert!(shown.contains(&key("on-failure", "jobs")), "{shown}");
    assert!(!shown.contains(&key("on-failure", "others")), "{shown}");
}

/// A provider that grants windows makes no offers for bags.
#[test]
fn bags_go_to_other_providers() {
    let bags = r#"
[[workload]]
name = "bags"
jobs = [{ submit = "0s", processors = 2, run = "5s", requested = "5s", deadline = "60s" }]

[[workload.step]]
kind = "bags"

[[metascheduler]]
name = "broker"
composition = "offers-plb"

[[user]]
name = "others"
workload = "bags"
submits-to = "broker"
"#;
    let both = format!("{FAILS}{bags}");
    let folder = Folder::with(&[("both.toml", &both)]);
    let shown = folder.haggle(&["validate", "both.toml"]);
    assert!(shown.contains("needs offers, and provider \"north\" makes none"), "{shown}");
    assert!(shown.contains("which grant windows"), "{shown}");
    let south = "\n[[provider]]\nname = \"south\"\nprocessors = 2\npolicy = \"edf\"\n";
    let apart = both.replace("offers-plb\"", "offers-plb\"\nproviders = [\"south\"]") + south;
    let folder = Folder::with(&[("apart.toml", &apart)]);
    let shown = folder.haggle(&["run", "apart.toml", "-o", "out", "--check"]);
    assert!(
        shown.starts_with("exit code: 0") && shown.contains("1 bag on 1.00 providers"),
        "{shown}"
    );
}

/// The answer to a refused reservation names the earliest possible start, and the tables keep it.
#[test]
fn a_refused_reservation_names_its_earliest_alternative() {
    let picky = WINDOWS.replace("accepts = 100", "accepts = 10");
    let picky = picky.replace("threshold = 150", "threshold = 300");
    let folder = Folder::with(&[("windows.toml", &picky)]);
    let shown = folder.haggle(&["run", "windows.toml", "-o", "out", "--check", "--disclosures"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let jobs = folder.read("out/jobs.csv");
    let mut lines = jobs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = |name: &str| header.iter().position(|it| *it == name).expect("a column");
    let (refusal, alternative) = (place("refusal"), place("alternative_time"));
    let told = Vec::from_iter(lines.map(|row| (row[refusal], row[alternative])));
    // Both processors are held from 12 s to 22 s. 5 s fit directly before that; 9 s do not fit
    // there, but after the window of the job that holds them.
    let refused = told.iter().filter(|(refusal, _)| *refusal == "no_window");
    assert_eq!(Vec::from_iter(refused.map(|it| it.1)), ["7.0", "26.0"]);
    assert!(told.iter().filter(|(refusal, _)| refusal.is_empty()).all(|it| it.1.is_empty()));
    let shown = folder.haggle(&["explain", "out", "jobs!3"]);
    assert!(unwrapped(&shown).contains("from 26 s on at the earliest"), "{shown}");
}

/// The window could never be kept, since it ended before the submission.
#[test]
fn a_window_that_was_over_is_called_so() {
    let over =
        WINDOWS.replace("ready = \"8s\", deadline = \"17s\"", "ready = \"1s\", deadline = \"4s\"");
    assert_ne!(over, WINDOWS);
    let folder = Folder::with(&[("windows.toml", &over)]);
    let shown = folder.haggle(&["run", "windows.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let shown = folder.haggle(&["explain", "out", "jobs!3"]);
    assert!(unwrapped(&shown).contains("was over when it was submitted"), "{shown}");
}

/// The first five jobs start as soon as they can, and the second waits until three others have
/// ended.
const FIXED: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "16s", processors = 3, requested = "496s", run = "156s", deadline = "3272s" },
    { submit = "40s", processors = 6, requested = "532s", run = "412s", deadline = "4128s" },
    { submit = "68s", processors = 2, requested = "296s", run = "264s", deadline = "1312s" },
    { submit = "140s", processors = 1, requested = "344s", run = "268s", deadline = "1172s" },
    { submit = "164s", processors = 2, requested = "180s", run = "168s", deadline = "1064s" },
    { submit = "168s", processors = 3, requested = "240s", run = "192s", ready = "888s", deadline = "1128s" },
]

[[workload.step]]
kind = "reservations"

[[provider]]
name = "north"
processors = 8
policy = { name = "reservations", criterion = "lff", fix-at = "50%" }

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[results]
format = "csv"
"#;

/// Jobs 3 and 5 end at 332 s. If the start of job 2 were fixed after the first of these ends, it
/// would be 344 s.
#[test]
fn a_start_becomes_fixed_after_all_ends_of_an_instant() {
    let folder = Folder::with(&[("fixed.toml", FIXED)]);
    let shown = folder.haggle(&["run", "fixed.toml", "-o", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let reservations = folder.read("out/reservations.csv");
    let second = reservations.lines().find(|line| line.starts_with("1,")).expect("job 2 is there");
    assert!(second.contains(",332.0,332.0,"), "{second}");
}

/// All four processors are requested from 400 to 450 s. Jobs without a window wait, one of them for
/// 300 to 401 s.
const BESIDE_A_QUEUE: &str = r#"
[results]
format = "csv"

[[workload]]
name = "windows"
jobs = [
    { submit = "0s", processors = 4, requested = "100s", run = "100s", ready = "0s", deadline = "100s" },
    { submit = "0s", processors = 4, requested = "100s", run = "100s", ready = "100s", deadline = "200s" },
    { submit = "10s", processors = 4, requested = "50s", run = "50s", ready = "400s", deadline = "450s" },
]

[[workload.step]]
kind = "reservations"

[[workload]]
name = "queue"
jobs = [
    { submit = "0s", processors = 2, requested = "100s", run = "40s" },
    { submit = "5s", processors = 4, requested = "101s", run = "20s" },
]

[[provider]]
name = "north"
processors = 4
policy = { name = "reservations", criterion = "fifo" }

[[user]]
name = "planners"
workload = "windows"
submits-to = "north"

[[user]]
name = "others"
workload = "queue"
submits-to = "north"
"#;

/// The size and the age of such jobs have no effect under any criterion.
#[test]
fn a_job_without_a_window_keeps_no_reservation_out() {
    for criterion in ["shuffle", "fifo", "bjf", "lff", "edf"] {
        let text = BESIDE_A_QUEUE.replace("\"fifo\"", &format!("\"{criterion}\""));
        let folder = Folder::with(&[("queue.toml", &text)]);
        let shown = folder.haggle(&["run", "queue.toml", "--check", "-o", "out"]);
        assert!(shown.contains("5 completed"), "{criterion}: {shown}");
        let jobs = folder.read("out/jobs.csv");
        let mut lines = jobs.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().expect("a header");
        let start = names.iter().position(|it| *it == "starting_time").expect("a column");
        let mut starts: Vec<f64> =
            lines.map(|cells| cells[start].parse().expect("a time")).collect();
        starts.sort_by(f64::total_cmp);
        assert_eq!(starts, [0.0, 100.0, 200.0, 240.0, 400.0], "{criterion}: {jobs}");
    }
}

/// A checkpoint of the reservation shares a link with those of other jobs.
const SHARED_LINK: &str = r#"
[network]
bandwidth = "37 kbit/s"
sharing = "literal"
stores = ["st0", "st1"]
[[provider]]
name = "p0"
processors = 5
policy = "reservations"
on-failure = "resume"
checkpoints = { interval = "191s", cost = "2s", recovery = "0s", size = "45 kB", store = "st1" }
[[workload]]
name = "l0"
jobs = [
    { submit = "2324415685us", processors = 3, run = "681s", requested = "304186423us", ready = "3976637239us", deadline = "4417646442us", user = 3, key = 3 },
]
[[workload.step]]
kind = "reservations"
[[user]]
name = "v0"
workload = "l0"
submits-to = "p0"
[[provider]]
name = "p2"
processors = 8
on-failure = "resume"
checkpoints = { interval = "261s", cost = "10s", recovery = "0s", size = "557 MB", store = "p0" }
[[workload]]
name = "l2"
jobs = [
    { submit = "681s", processors = 1, run = "337s", requested = "623648443us" },
    { submit = "1080912368us", processors = 2, run = "560s", requested = "1883638713us", user = 5, key = 1 },
    { submit = "1736s", processors = 2, run = "712s", requested = "702415549us", key = -1 },
    { submit = "2448s", processors = 1, run = "623s", requested = "2186542415us", user = 4, key = -3 },
]
[[user]]
name = "v2"
workload = "l2"
submits-to = "p2"
"#;

/// The plan expects 31 s for the checkpoint, which takes 146 s, so the job ends after its window.
#[test]
fn a_window_that_its_own_checkpoints_miss_is_broken() {
    for driver in ["sequential", "actix"] {
        let folder = Folder::with(&[("shared.toml", SHARED_LINK)]);
        let flags = ["run", "shared.toml", "--check", "--format", "csv", "-o", "out"];
        let shown = folder.haggle(&[&flags[..], &["--driver", driver]].concat());
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        let granted = folder.read("out/reservations.csv");
        assert!(granted.lines().last().is_some_and(|row| row.ends_with(",1")), "{granted}");
        let lost = folder.read("out/displacements.csv");
        assert_eq!(lost.lines().count(), 2, "{lost}");
        assert!(lost.contains(",checkpoint,late,"), "{lost}");
        let summary = folder.read("out/summary.json");
        let broken = "\"broken\": 1,";
        assert!(summary.contains(broken), "{summary}");
        let told = folder.haggle(&["explain", "out", "l0!1"]);
        assert!(told.contains("it ended behind its window"), "{told}");
        let shown = folder.haggle(&["verify", "out"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
    }
}
