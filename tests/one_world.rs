//! Jobs that may run at providers and on a grid: a metascheduler that uses both, and a grid that
//! passes jobs on.

use std::collections::BTreeMap;

use crate::command::Folder;

/// Two providers, one of which is busy until 100 s, and an idle grid of two machines.
const BOTH: &str = r#"
[results]
format = "csv"
messages = "all"

[[workload]]
name = "before"
jobs = [{ submit = "0s", processors = 2, run = "100s", requested = "100s" }]

[[workload]]
name = "jobs"
jobs = [
    { submit = "1s", processors = 1, run = "40s", requested = "60s" },
    { submit = "2s", processors = 1, run = "40s", requested = "60s" },
    { submit = "3s", processors = 2, run = "10s", requested = "10s" },
    { submit = "4s", processors = 1, run = "10s", requested = "10s" },
    { submit = "200s", processors = 1, run = "10s", requested = "10s" },
]

[[provider]]
name = "north"
processors = 2
policy = "fcfs"
disclosure = "load"

[grid]
name = "desktops"
policy = "fjbcr"
period = "0s"
disclosure = "load"

[[grid.site]]
name = "campus"
resources = 2
mips = 1.0
slots = 1

[[metascheduler]]
name = "broker"
placement = "least-loaded"
providers = ["desktops", "north"]

[[user]]
name = "early"
workload = "before"
submits-to = "north"

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"
"#;

/// One machine, and a provider that receives jobs after a wait of 50 s.
const OVERFLOW: &str = r#"
[results]
format = "csv"
messages = "all"

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 1, run = "100s", requested = "100s" },
    { submit = "1s", processors = 1, run = "100s", requested = "100s" },
    { submit = "2s", processors = 1, run = "100s", requested = "100s" },
    { submit = "90s", processors = 1, run = "10s", requested = "10s" },
    { submit = "95s", processors = 2, run = "10s", requested = "10s" },
]

[[provider]]
name = "north"
processors = 1
policy = "fcfs"

[grid]
name = "desktops"
policy = "fjbcr"
period = "0s"
overflow = { to = "north", after = "50s" }

[[grid.site]]
name = "campus"
resources = 1
mips = 1.0
slots = 1

[[user]]
name = "users"
workload = "jobs"
submits-to = "desktops"
"#;

fn run(scenario: &str, driver: &str) -> Folder {
    let folder = Folder::with(&[("world.toml", scenario)]);
    let shown =
        folder.haggle(&["run", "world.toml", "--output", "out", "--check", "--driver", driver]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    folder
}

/// Place and times of each job of workload `jobs`, or its outcome if it did not run.
fn stories(folder: &Folder) -> Vec<String> {
    let text = folder.read("out/jobs.csv");
    let mut lines = text.lines();
    let header = Vec::from_iter(lines.next().expect("a header").split(','));
    let mut stories = BTreeMap::new();
    for line in lines {
        let cells = Vec::from_iter(line.split(','));
        let cell = |name: &str| cells[header.iter().position(|it| *it == name).expect("a column")];
        if cell("workload_name") == "jobs" {
            let story = match cell("starting_time") {
                "" => cell("outcome").to_owned(),
                start => format!("{} {start} {}", cell("provider"), cell("finish_time")),
            };
            stories.insert(cell("job_id").parse::<u32>().expect("a number"), story);
        }
    }
    stories.into_values().collect()
}

/// Provider north has 200 processor-seconds on two processors. Remaining work of jobs on the grid
/// counts in full: at 3 s, 120 s for two machines. So job 3, which is two processors wide, is sent
/// to the grid first, since north needs 97 s, and comes back. Job 4 sees 60 s there and 106 s at
/// north. At 200 s both are idle, and providers come first.
#[test]
fn the_least_loaded_may_be_a_grid() {
    for driver in ["sequential", "actix"] {
        let folder = run(BOTH, driver);
        assert_eq!(
            stories(&folder),
            [
                "campus-1 1.0 41.0",
                "campus-2 2.0 42.0",
                "north 100.0 110.0",
                "campus-1 41.0 51.0",
                "north 200.0 210.0",
            ]
        );
        let summary = folder.summary("out");
        assert_eq!(summary["grid"]["jobs"], 3, "{summary}");
        assert_eq!(summary["nb_jobs_success"], 6);
        // Disclosures of a grid are recorded like those of a provider.
        let told = folder.read("out/disclosures.csv");
        let loads =
            |by: &str| told.lines().filter(|it| it.contains(by) && it.contains(",load,")).count();
        assert_eq!((loads(",desktops,"), loads(",north,")), (5, 5), "{told}");
    }
}

/// If jobs are placed by their start or end, job 2, which is two processors wide, does not fit the
/// grid. At 4 s the machines are taken until 61 s and 62 s as far as the grid knows, and north
/// until 110 s. At 200 s both are idle, and providers come first; "next-fit" then does not ask the
/// grid.
#[test]
fn a_grid_says_when_a_job_would_start() {
    for (placement, asked) in [("minimum-completion-time", 4), ("next-fit", 3)] {
        let scenario = BOTH.replace("least-loaded", placement);
        for driver in ["sequential", "actix"] {
            let folder = run(&scenario, driver);
            assert_eq!(
                stories(&folder),
                [
                    "campus-1 1.0 41.0",
                    "campus-2 2.0 42.0",
                    "north 100.0 110.0",
                    "campus-1 41.0 51.0",
                    "north 200.0 210.0",
                ]
            );
            let told = folder.read("out/disclosures.csv");
            let told = |what: &str| {
                let is_it = |line: &&str| line.contains(",desktops,") && line.contains(what);
                told.lines().filter(is_it).count()
            };
            assert_eq!((told(",estimate,"), told(",refusal,")), (asked, 1));
        }
    }
}

/// While a site is down, its return is unknown, so jobs are sent to north. After the grid's
/// scheduler has learned of the return, jobs are sent there again, because its machines are twice
/// as fast.
#[test]
fn a_grid_that_is_down_comes_last() {
    let down = "[[failures]]\nof = [\"campus\"]\n\
                outages = [[\"0s\", \"100s\"]]\n";
    let scenario = BOTH
        .replace("least-loaded", "minimum-completion-time")
        .replace("mips = 1.0", "mips = 2.0")
        .replace("submit = \"200s\"", "submit = \"500s\"");
    let scenario = format!("[scenario]\nhorizon = \"1000s\"\n{scenario}{down}");
    for driver in ["sequential", "actix"] {
        let folder = run(&scenario, driver);
        let places = Vec::from_iter(
            stories(&folder).iter().map(|it| it.split(' ').next().expect("a place").to_owned()),
        );
        assert_eq!(places, ["north", "north", "north", "north", "campus-1"]);
    }
}

/// Jobs 2 and 3 find the machine taken at 51 and 52 s and are sent to north, one after the other.
/// Job 4 waits 10 s. A grid accepts no wide job.
#[test]
fn jobs_that_wait_too_long_go_to_a_provider() {
    for driver in ["sequential", "actix"] {
        let folder = run(OVERFLOW, driver);
        assert_eq!(
            stories(&folder),
            [
                "campus-1 0.0 100.0",
                "north 51.0 151.0",
                "north 151.0 251.0",
                "campus-1 100.0 110.0",
                "rejected",
            ]
        );
    }
}

/// If no job waits for so long, the run ends with its last job, at 310 s, and not at the limit.
#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let folder = run(&OVERFLOW.replace("after = \"50s\"", "after = \"1h\""), "sequential");
    assert_eq!(stories(&folder)[3], "campus-1 300.0 310.0");
    let summary = folder.summary("out");
    assert_eq!((&summary["time_computing"], &summary["time_idle"]), (&310.0.into(), &310.0.into()));
}

/// A metascheduler receives such jobs like a provider. The withdrawal of an impatient user is
/// passed on. At the horizon, each job is in the table once.
#[test]
fn what_was_passed_on_is_followed_to_its_end() {
    let broker =
        "[[metascheduler]]\nname = \"broker\"\n\n[[provider]]\nname = \"south\"\nprocessors = 1\n";
    let scenario = OVERFLOW.replace("to = \"north\"", "to = \"broker\"") + broker;
    let folder = run(&scenario, "sequential");
    let there = Vec::from_iter(stories(&folder).into_iter().skip(1).take(2));
    assert_eq!(there, ["north 51.0 151.0", "south 52.0 152.0"]);
    // Job 3 is queued at north at 52 s, and withdrawn there 90 s after its submission.
    let patient = OVERFLOW
        .replace("submits-to = \"desktops\"", "submits-to = \"desktops\"\npatience = \"90s\"");
    let folder = run(&patient, "sequential");
    assert_eq!(stories(&folder)[2], "cancelled");
    let stopped = format!("[scenario]\nhorizon = \"70s\"\n{OVERFLOW}");
    let folder = run(&stopped, "sequential");
    assert_eq!(stories(&folder).len(), 3);
    assert_eq!(stories(&folder)[2], "unfinished");
}

/// Settings that contradict each other are refused, with a remedy.
#[test]
fn what_a_grid_cannot_do_for_a_metascheduler_is_refused() {
    let cases = [
        (
            BOTH,
            "period = \"0s\"\ndisclosure = \"load\"",
            "period = \"0s\"",
            "grid \"desktops\" discloses only \"offers\"",
        ),
        (
            BOTH,
            "placement = \"least-loaded\"",
            "coallocation = { policy = \"rigid\" }",
            "grid \"desktops\" promises none",
        ),
        (BOTH, "\"desktops\", \"north\"", "\"desktop\", \"north\"", "did you mean \"desktops\"?"),
        (
            BOTH,
            "period = \"0s\"\n",
            "period = \"0s\"\noverflow = { to = \"broker\", after = \"1h\" }\n",
            "jobs would come back",
        ),
        (OVERFLOW, "to = \"north\"", "to = \"nort\"", "did you mean \"north\"?"),
        (OVERFLOW, "after = \"50s\"", "after = \"0s\"", "must be above zero"),
        (
            OVERFLOW,
            "[grid]\n",
            "[network]\nloss = \"1%\"\n\n[grid]\n",
            "the grid passes jobs on, and would lose jobs by messages that are lost",
        ),
    ];
    for (scenario, from, to, expected) in cases {
        assert!(scenario.contains(from), "{from}");
        let folder = Folder::with(&[("world.toml", &scenario.replace(from, to))]);
        let shown = folder.haggle(&["validate", "world.toml"]);
        assert!(shown.starts_with("exit code: 3"), "{expected}: {shown}");
        let line = shown.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(line.contains(expected), "{expected}: {shown}");
    }
}
