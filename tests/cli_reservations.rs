//! Windows reserved in advance: asked for, granted or offered beside, fixed, and told of.

use crate::command::Folder;

/// The second job has no room in its window and takes what is before it; the third takes nothing that far.
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
policy = "reservations"
reservations = { threshold = 150, fix-at = "50%" }

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
    job,provider,granted_time,ready_time,deadline,planned_time,planned_starting_time,distance_time,fixed_time,fixed_starting_time,broken
    1,north,4.0,7.0,12.0,5.0,7.0,5.0,,,0
    0,north,0.0,12.0,26.0,10.0,12.0,,6.0,12.0,0
    ");
    // Nothing is said of the first job when it is asked for the second.
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
       4 s  north had no room in the window, and told users of 2 intervals beside it
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
fn only_providers_that_can_are_asked_to_reserve() {
    let queue = WINDOWS.replace(
        "policy = \"reservations\"\nreservations = { threshold = 150, fix-at = \"50%\" }",
        "policy = \"easy\"",
    );
    let folder = Folder::with(&[("queue.toml", &queue)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "queue.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × the jobs of "jobs" are to be reserved, and "north" reserves none
        ╭─[queue.toml:29:14]
     29 │ submits-to = "north"
        ·              ───┬───
        ·                 ╰── reserves none
        ╰────
      help: set `policy = "reservations"` for provider "north", or remove step "reservations"

    error: queue.toml has 1 problem
    "#);
}

/// What nobody reads is warned about.
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
    assert!(
        shown.contains("`after` of the reservations of provider \"north\" has no effect"),
        "{shown}"
    );
    assert!(
        shown.contains("`accepts` of step \"reservations\" of workload \"jobs\" has no effect"),
        "{shown}"
    );
    let shown = said("kind = \"reservations\"\naccepts = 100", "kind = \"run-times-as-requested\"");
    assert!(
        shown.contains("`fix-at` of the reservations of provider \"north\" has no effect"),
        "{shown}"
    );
}
