//! Effects of a network on messages: refusals, output and results.

use std::sync::atomic::AtomicBool;

use haggle::experiment::{Conduct, Destination, Figures, Keep, Unwatched, run};
use haggle::scenario::{Experiment, Logs, Source};
use haggle_results::{Existing, MessageFaults};
use haggle_runtime::Driver;

use crate::command::Folder;

/// A metascheduler with a latency of one second to two providers.
const WORLD: &str = r#"[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 4, run = "60s", requested = "100s" },
    { submit = "10s", processors = 4, run = "30s", requested = "50s" },
]

[[provider]]
name = "north"
processors = 4

[[provider]]
name = "south"
processors = 4

[[metascheduler]]
name = "broker"
placement = "round-robin"

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"

[results]
format = "csv"

[network]
latency = "1s"
"#;

fn shown(text: &str) -> String {
    Folder::with(&[("world.toml", text)]).haggle(&["validate", "world.toml"])
}

#[test]
fn what_would_cost_jobs_is_refused() {
    let faults = "loss = \"1%\"\nduplication = \"2%\"\n\n[[network.partition]]\n\
                  between = [[\"users\"], [\"north\"]]\nfrom = \"1h\"\n";
    insta::assert_snapshot!(shown(&format!("{WORLD}{faults}")), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × metascheduler "broker" places jobs, and would lose jobs by messages that are lost
        ╭─[world.toml:30:8]
     30 │ loss = "1%"
        ·        ──┬─
        ·          ╰── not survived
        ╰────
      help: set `transport = "reliable"` or `loss = "0%"`, or let users submit to providers

      × metascheduler "broker" places jobs, and would lose jobs by messages that arrive twice
        ╭─[world.toml:31:15]
     31 │ duplication = "2%"
        ·               ──┬─
        ·                 ╰── not survived
        ╰────
      help: set `transport = "reliable"` or `duplication = "0%"`, or let users submit to providers

      × metascheduler "broker" places jobs, and would lose jobs by messages that are lost while actors
      │ are parted
        ╭─[world.toml:33:1]
     33 │ [[network.partition]]
        · ──────────┬──────────
        ·           ╰── not survived
        ╰────
      help: set `transport = "reliable"`, part actors that send each other no messages, or let users
            submit to providers

    error: world.toml has 3 problems
    "#);
}

#[test]
fn partitions_are_between_groups_of_actors() {
    let wrong = r#"
[[network.partition]]
between = [["broker"], ["users", "noth"]]
from = "1h"
until = "30min"

[[network.partition]]
between = [["north"]]
from = "1h"

[[network.partition]]
between = [["north"], []]
from = "1h"
"#;
    insta::assert_snapshot!(shown(&format!("{WORLD}{wrong}")), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × "users", or an actor at the same place, is in two groups
        ╭─[world.toml:32:25]
     32 │ between = [["broker"], ["users", "noth"]]
        ·                         ───┬───
        ·                            ╰── in another group
        ╰────
      help: name it in one group; users are where they submit to

      × no actor is called "noth"
        ╭─[world.toml:32:34]
     32 │ between = [["broker"], ["users", "noth"]]
        ·                                  ───┬──
        ·                                     ╰── no such actor
        ╰────
      help: did you mean "north"?

      × a partition from 1h until 30min has no duration
        ╭─[world.toml:34:9]
     34 │ until = "30min"
        ·         ───┬───
        ·            ╰── not after `from`
        ╰────
      help: write a later time, or remove it: then they stay parted

      × only one group
        ╭─[world.toml:37:11]
     37 │ between = [["north"]]
        ·           ─────┬─────
        ·                ╰── one group
        ╰────
      help: name two groups, such as `between = [["north"], ["south"]]`

      × an empty group
        ╭─[world.toml:41:23]
     41 │ between = [["north"], []]
        ·                       ─┬
        ·                        ╰── empty
        ╰────
      help: name an actor, or remove the group

    error: world.toml has 5 problems
    "#);
}

#[test]
fn a_reliable_transport_survives_what_ends() {
    let reliable = "transport = \"reliable\"\nretransmission-timeout = \"0s\"\nloss = \"99.5%\"\n\n\
                    [[network.partition]]\nbetween = [[\"users\"], [\"north\"]]\nfrom = \"1h\"\n";
    insta::assert_snapshot!(shown(&format!("{WORLD}{reliable}")), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × `retransmission-timeout` is 0s, needs more
        ╭─[world.toml:31:26]
     31 │ retransmission-timeout = "0s"
        ·                          ──┬─
        ·                            ╰── sent again at once, for ever
        ╰────
      help: write a time longer than a message and its answer take

      × 99.5% of all messages are lost; the maximum is 99%
        ╭─[world.toml:32:8]
     32 │ loss = "99.5%"
        ·        ───┬───
        ·           ╰── sent again more than a hundred times
        ╰────
      help: lower `loss`

      × metascheduler "broker" is parted from providers for ever
        ╭─[world.toml:34:1]
     34 │ [[network.partition]]
        · ──────────┬──────────
        ·           ╰── their messages never arrive
        ╰────
      help: add `until`, or part actors that send each other no messages

    error: world.toml has 3 problems
    "#);
    let good = reliable.replace("\"0s\"", "\"10s\"").replace("99.5%", "99%");
    let good = format!("{WORLD}duplication = \"2%\"\n{good}until = \"2h\"\n");
    assert!(shown(&good).starts_with("exit code: 0"), "{}", shown(&good));
}

#[test]
fn who_crashes_has_a_reliable_transport_and_restarts() {
    let wrong = "\n[[failures]]\nactors = [\"north\", \"noth\"]\nof = [\"south\"]\n\
                 outages = [[\"10s\", \"20s\"], [\"30s\"]]\n\n\
                 [[failures]]\nactors = [\"broker\", \"north\"]\nnominal = 95\nnodes = 1\n";
    insta::assert_snapshot!(shown(&format!("{WORLD}{wrong}")), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × messages to an actor that is down are lost, and jobs with them
        ╭─[world.toml:32:10]
     32 │ actors = ["north", "noth"]
        ·          ────────┬────────
        ·                  ╰── not survived
        ╰────
      help: set `transport = "reliable"` in [network]

      × no actor is called "noth"
        ╭─[world.toml:32:20]
     32 │ actors = ["north", "noth"]
        ·                    ───┬──
        ·                       ╰── no such actor
        ╰────
      help: did you mean "north"?

      × `of` is about processors, and this table about actors
        ╭─[world.toml:33:6]
     33 │ of = ["south"]
        ·      ────┬────
        ·          ╰── not for actors
        ╰────
      help: remove it, or make another [[failures]] for the processors

      × jobs at an actor that never restarts would never end
        ╭─[world.toml:34:28]
     34 │ outages = [["10s", "20s"], ["30s"]]
        ·                            ───┬───
        ·                               ╰── no restart
        ╰────
      help: write [crash, restart]

      × messages to an actor that is down are lost, and jobs with them
        ╭─[world.toml:37:10]
     37 │ actors = ["broker", "north"]
        ·          ─────────┬─────────
        ·                   ╰── not survived
        ╰────
      help: set `transport = "reliable"` in [network]

      × the crashes of "north" are named twice
        ╭─[world.toml:37:21]
     37 │ actors = ["broker", "north"]
        ·                     ───┬───
        ·                        ╰── again
        ╰────
      help: line 32 is about it too; name it once

      × `nodes` is about processors, and this table about actors
        ╭─[world.toml:39:9]
     39 │ nodes = 1
        ·         ┬
        ·         ╰── not for actors
        ╰────
      help: remove it, or make another [[failures]] for the processors

    error: world.toml has 7 problems
    "#);
}

/// North's scheduler is down while its first job ends, and the users are down when the second job
/// comes.
const CRASHES: &str = r#"transport = "reliable"
retransmission-timeout = "3s"

[[failures]]
actors = ["north"]
outages = [["30s", "100s"]]

[[failures]]
actors = ["users"]
outages = [["5s", "15s"]]
"#;

#[test]
fn a_machine_goes_on_while_its_scheduler_is_down() {
    // One more job for north, which waits for its scheduler.
    let third = "{ submit = \"70s\", processors = 4, run = \"20s\", requested = \"50s\" },\n]\n\n";
    let world = WORLD.replacen("]\n\n", third, 1);
    let folder = Folder::with(&[("world.toml", &format!("{world}{CRASHES}"))]);
    for driver in ["sequential", "actix"] {
        let said =
            folder.haggle(&["run", "world.toml", "--check", "--driver", driver, "-o", driver]);
        assert!(said.starts_with("exit code: 0"), "{said}");
        let read = |table: &str| folder.read(&format!("{driver}/{table}.csv"));
        let listed = "actor,crash_time,restart_time\nusers,5.0,15.0\nnorth,30.0,100.0\n";
        assert_eq!(read("crashes"), listed);
        let messages = read("messages");
        // The job of 10 s is submitted when its users are back.
        assert!(messages.contains("\n15.0,users,broker,submit,1\n"), "{messages}");
        // The end at 61 s is reported at 100 s, and the message takes a second.
        assert!(messages.contains("\n101.0,north,broker,finished,0\n"), "{messages}");
        let jobs = read("jobs");
        let ends: Vec<_> = jobs.lines().skip(1).map(|row| row.split(',').nth(10)).collect();
        // Sent at 70, 73, 79, 91 and 115 s, the third begins at 116 s.
        assert_eq!(ends, [Some("46.0"), Some("61.0"), Some("136.0")], "{jobs}");
        assert!(read("message_faults").contains("70.0,broker,north,submit,2,missed,4\n"));
    }
    assert_eq!(folder.read("sequential/messages.csv"), folder.read("actix/messages.csv"));
}

#[test]
fn what_befalls_no_message_is_warned_about() {
    let vain = "reordering = true\ntransport = \"reliable\"\nretransmission-timeout = \"2s\"\n\n[[network.partition]]\n\
                between = [[\"south\"], [\"north\"]]\nfrom = \"1h\"\n";
    insta::assert_snapshot!(shown(&format!("{WORLD}{vain}")), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
      ⚠ `reordering` of the network has no effect: every message takes the same time
        ╭─[world.toml:30:14]
     30 │ reordering = true
        ·              ──┬─
        ·                ╰── not used
        ╰────
      help: remove it, or set `jitter`

      ⚠ `transport` of the network has no effect: no message is lost or doubled
        ╭─[world.toml:31:13]
     31 │ transport = "reliable"
        ·             ─────┬────
        ·                  ╰── not used
        ╰────
      help: remove it, or set `loss`, `duplication` or a `partition`, or let actors crash

      ⚠ `retransmission-timeout` of the network has no effect: no message is lost
        ╭─[world.toml:32:26]
     32 │ retransmission-timeout = "2s"
        ·                          ──┬─
        ·                            ╰── not used
        ╰────
      help: remove it, or set `loss` or a `partition`, or let actors crash

      ⚠ `partition` of the network has no effect: no message uses it: users are at the actor that they
      │ submit to, and providers exchange messages with metaschedulers only
        ╭─[world.toml:34:1]
     34 │ [[network.partition]]
        · ──────────┬──────────
        ·           ╰── not used
        ╰────
      help: remove it, or name other actors

    world.toml: 4 warnings
    world.toml: valid, 2 providers, 1 workload, 1 run
    "#);
}

#[test]
fn what_bargains_does_not_survive_reordering() {
    let bags = WORLD
        .replace("placement = \"round-robin\"", "composition = \"offers-no-lb\"")
        .replace(
            "[[provider]]\nname = \"north\"",
            "[[workload.step]]\nkind = \"bags\"\n\n[[provider]]\nname = \"north\"",
        )
        .replace("processors = 4\n", "processors = 4\npolicy = \"edf\"\n");
    insta::assert_snapshot!(shown(&format!("{bags}jitter = \"2s\"\nreordering = true\n")), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × metascheduler "broker" bargains over bags, and would lose jobs by messages that overtake each
      │ other
        ╭─[world.toml:36:14]
     36 │ reordering = true
        ·              ──┬─
        ·                ╰── not survived
        ╰────
      help: set `retry` of its [metascheduler.negotiation], or let users submit to providers

    error: world.toml has 1 problem
    "#);
}

/// Runs a `change` of the scenario, which may be one that the check would refuse.
fn results(folder: &Folder, change: &str) -> haggle_results::Summary {
    let source = Source::new(folder.path().join("world.toml"), WORLD.to_owned());
    let experiment = Experiment::read(source, Logs::MustExist).expect("a good scenario");
    let mut scenario = experiment.runs().next().expect("a run").scenario().clone();
    scenario.network = toml::from_str(change).expect("a network");
    let stop = AtomicBool::new(false);
    let conduct = Conduct {
        driver: Driver::Sequential,
        stop: &stop,
        watch: &Unwatched,
        check: true,
        warnings: &[],
    };
    let destination = Destination {
        folder: folder.path().join("out"),
        end: None,
        keep: Keep::Tables,
        existing: Existing::Replace,
        figures: Figures::Skip,
    };
    run(&scenario, folder.path(), Some(&destination), &conduct).expect("to its end").summary
}

#[test]
fn what_is_lost_or_doubled_is_counted_and_listed() {
    let folder = Folder::with(&[]);
    // From 50 s on, the reports of providers about ended jobs are lost.
    let parted = "latency = \"1s\"\n[[partition]]\n\
                  between = [[\"broker\"], [\"north\", \"south\"]]\nfrom = \"50s\"\nuntil = \"5min\"\n";
    let summary = results(&folder, parted);
    let counted = MessageFaults { parted: 1, ..MessageFaults::default() };
    assert_eq!(summary.message_faults, Some(counted));
    let said = "1 message lost, 1 of them between parted actors, 0 at actors that were down; 0 sent again; \
                0 doubled; 0 refused";
    assert!(summary.to_string().contains(said));
    let listed =
        "time,sender,receiver,kind,job,fault,resent\n61.0,north,broker,finished,0,parted,0\n";
    assert_eq!(folder.read("out/message_faults.csv"), listed);
    // The message is resent after 2, 6, 14, 30, 62 and 122 s, then every minute, until it arrives.
    let reliable = format!("transport = \"reliable\"\nretransmission-timeout = \"2s\"\n{parted}");
    let summary = results(&folder, &reliable);
    let counted = MessageFaults { parted: 8, resent: 8, ..MessageFaults::default() };
    assert_eq!(summary.message_faults, Some(counted));
    assert!(folder.read("out/message_faults.csv").ends_with("finished,0,parted,8\n"));
    assert!(folder.read("out/messages.csv").contains("304.0,north,broker,finished,0"));
    // A run without faults prints nothing about them.
    let summary = results(&folder, "latency = \"1s\"\nloss = \"0%\"\n");
    assert_eq!(summary.message_faults, None);
    assert!(!folder.path().join("out/message_faults.csv").exists());
}

/// Jobs of two metaschedulers on two providers.
const SPREAD: &str = r#"
[[workload]]
name = "wide"
model = "lublin-feitelson"
lublin = { jobs = 30, processors = 16, load = 0.5 }

[[provider]]
name = "north"
processors = 8
policy = "conservative"
disclosure = "slots"

[[provider]]
name = "south"
processors = 8
policy = "conservative"
disclosure = "slots"

[[metascheduler]]
name = "broker"
coallocation = { policy = "rigid", trials = 50 }

[[user]]
name = "users"
workload = "wide"
submits-to = "broker"

[network]
latency = "1s"
jitter = "2s"
reordering = true
loss = "30%"
duplication = "20%"

[[network.partition]]
between = [["broker"], ["north"]]
from = "6h"
until = "7h"

[[failures]]
actors = ["broker"]
law = { up = { law = "exponential", mean = "3h" }, down = { law = "exponential", mean = "10min" } }
"#;

#[test]
fn jobs_on_several_providers_survive_lost_and_late_messages_if_messages_are_repeated() {
    let reliable = "transport = \"reliable\"\nretransmission-timeout = \"8s\"\nloss";
    for network in ["loss", reliable] {
        let world = SPREAD.replace("loss =", &format!("{network} ="));
        let refused = shown(&world);
        let remedy = "set `retry` of its [metascheduler.coallocation]";
        assert_eq!(refused.matches(remedy).count(), 2, "{refused}");
        assert!(refused.contains("spreads jobs and crashes"), "{refused}");
        let repeats = world.replace("trials = 50", "trials = 50, retry = \"10s\"");
        let folder = Folder::with(&[("world.toml", &repeats)]);
        for driver in ["sequential", "actix"] {
            let arguments =
                ["run", "world.toml", "--check", "--no-figures", "--driver", driver, "-o", driver];
            let said = folder.haggle(&arguments);
            assert!(said.starts_with("exit code: 0"), "{said}");
            assert!(said.contains("30 completed"), "{said}");
        }
        let messages = |driver: &str| folder.read(&format!("{driver}/summary.json"));
        assert_eq!(messages("sequential"), messages("actix"));
    }
}

#[test]
fn a_late_move_cannot_be_undone() {
    let moves = SPREAD.replace("\"rigid\", trials = 50", "\"shift\", retry = \"10s\"");
    let refused = shown(&moves);
    assert!(refused.contains("a move whose commit is late cannot be undone"), "{refused}");
}

/// Jobs for three providers, over a network that loses messages and repeats them late.
const LATE: &str = r#"
[results]
messages = "counts"

[[workload]]
name = "wide"
jobs = [
    { submit = "200s", processors = 10, run = "1s", requested = "10s" },
    { submit = "400s", processors = 2, run = "600s", requested = "1200s" },
    { submit = "400s", processors = 1, run = "30s", requested = "40s" },
]

[[user]]
name = "users"
workload = "wide"
submits-to = "broker"

[[metascheduler]]
name = "broker"
coallocation = { policy = "rigid", trials = 5, retry = "500ms" }

[[provider]]
name = "site"
count = 3
processors = 6
policy = "conservative"
disclosure = "slots"

[network]
transport = "reliable"
retransmission-timeout = "12s"
loss = "30%"
"#;

/// Each try of a job asks each provider once: no copy of a question is under way beside it.
#[test]
fn over_a_reliable_transport_actors_repeat_no_message() {
    let protocol = "policy = \"rigid\", protocol = { name = \"one-phase\", sequential = true }, patience = \"10s\", trials = 100";
    let sequential = LATE.replace("policy = \"rigid\", trials = 5", protocol);
    for (world, questions, tries) in [(LATE, "get_slots", 5), (&sequential, "tx_delete", 100)] {
        let folder = Folder::with(&[("late.toml", world)]);
        let run = ["run", "late.toml", "--check", "--no-figures", "--format", "csv", "-o", "out"];
        let said = folder.haggle(&run);
        assert!(said.starts_with("exit code: 0"), "{said}");
        let counts = folder.read("out/message_counts.csv");
        let count = |line: &str| {
            let mut cells = line.split(',').skip(2);
            (cells.next() == Some(questions)).then(|| cells.next()?.parse::<u64>().ok()).flatten()
        };
        let asked: u64 = counts.lines().filter_map(count).sum();
        assert!(0 < asked && asked <= 3 * 3 * tries, "{asked} {questions}\n{counts}");
    }
    let warned = Folder::with(&[("late.toml", &sequential)]).haggle(&["validate", "late.toml"]);
    assert!(warned.contains("`retry` of the co-allocation of metascheduler"), "{warned}");
}
