//! `haggle export`: traces for Perfetto.

use std::collections::BTreeMap;
use std::fs;

use haggle::results::RunReader;
use haggle_perfetto::proto::{Data, EventType, Trace, TrackDescriptor, TrackEvent};
use prost::Message;

use crate::command::{Folder, stderr_of, unwrapped};

/// The cells of a column.
fn cells(csv: &str, name: &str) -> Vec<String> {
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned));
    let at = lines.next().expect("a header").position(|it| it == name).expect(name);
    lines.filter_map(|mut line| line.nth(at)).collect()
}

/// The tracks, and the events of each track in the order of the file.
struct Read {
    tracks: BTreeMap<u64, TrackDescriptor>,
    events: BTreeMap<u64, Vec<(u64, TrackEvent)>>,
}

fn read(bytes: &[u8]) -> Read {
    let trace = Trace::decode(bytes).expect("a trace");
    let mut read = Read { tracks: BTreeMap::new(), events: BTreeMap::new() };
    for packet in trace.packet {
        match packet.data.expect("data") {
            Data::TrackDescriptor(track) => {
                let parent = track.parent_uuid;
                assert!(parent.is_none_or(|it| read.tracks.contains_key(&it)), "{track:?}");
                assert!(read.tracks.insert(track.uuid(), track).is_none());
            }
            Data::TrackEvent(event) => {
                let track = event.track_uuid.expect("a track");
                assert!(read.tracks.contains_key(&track), "{event:?}");
                let time = packet.timestamp.expect("a time");
                read.events.entry(track).or_default().push((time, event));
            }
        }
    }
    read
}

/// The intervals of a track, which must not overlap.
fn slices(events: &[(u64, TrackEvent)]) -> Vec<(u64, u64, String)> {
    let mut slices = Vec::new();
    for pair in events.chunks(2) {
        let [(from, begin), (to, end)] = pair else { panic!("an interval without an end") };
        assert_eq!((begin.r#type(), end.r#type()), (EventType::SliceBegin, EventType::SliceEnd));
        slices.push((*from, *to, begin.name().to_owned()));
    }
    for two in slices.windows(2) {
        assert!(two[0].0 <= two[0].1 && two[0].1 <= two[1].0, "{two:?}");
    }
    slices
}

impl Read {
    fn name(&self, track: u64) -> &str {
        self.tracks[&track].name()
    }

    /// Events of all tracks of this name.
    fn of(&self, name: &str) -> impl Iterator<Item = (u64, &Vec<(u64, TrackEvent)>)> {
        let events = self.events.iter().filter(move |(track, _)| self.name(**track) == name);
        events.map(|(&track, events)| (track, events))
    }
}

fn exported(scenario: &str, folder: &Folder) -> Read {
    let shown = folder.haggle(&["run", scenario, "-o", "out"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let shown = folder.haggle(&["export", "perfetto", "out", "-o", "out.pftrace"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    read(&fs::read(folder.path().join("out.pftrace")).expect("a file"))
}

#[test]
fn a_trace_has_the_attempts_outages_and_messages_of_the_run() {
    let folder = Folder::with(&[(
        "world.toml",
        r#"
[scenario]
seed = 3
horizon = "2d"
[results]
format = "csv"
[[workload]]
name = "day"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 8 }
[[user]]
name = "people"
workload = "day"
submits-to = "broker"
[[metascheduler]]
name = "broker"
[[provider]]
name = "north"
processors = 8
policy = "easy"
on-failure = "requeue"
[[provider]]
name = "south"
processors = 8
[[failures]]
of = ["north"]
law = { up = { law = "exponential", mean = "4h" }, down = { law = "constant", value = "30min" } }
"#,
    )]);
    let trace = exported("world.toml", &folder);
    let table = |name: &str| {
        fs::read_to_string(folder.path().join(format!("out/{name}.csv"))).expect("a table")
    };
    let starts = cells(&table("attempts"), "starting_time");
    let started = starts.iter().filter(|it| !it.is_empty()).count();
    let drawn: usize = trace.of("jobs").map(|(_, events)| slices(events).len()).sum();
    assert_eq!(drawn, started);
    let down: usize = trace.of("failures").map(|(_, events)| slices(events).len()).sum();
    assert_eq!(down, cells(&table("outages"), "failure_time").len());
    assert!(down > 0 && started > 60);
    // Each message leaves its sender and arrives at its receiver, joined by one number.
    let flows = |name: &str, of: fn(&TrackEvent) -> &Vec<u64>| {
        let mut all = Vec::new();
        for (track, events) in trace.of(name) {
            let actor = trace.tracks[&track].parent_uuid.expect("an actor");
            for (_, event) in events {
                all.extend(of(event).iter().map(|&it| (it, trace.name(actor).to_owned())));
            }
        }
        all.sort();
        all
    };
    let (sent, received) =
        (flows("sent", |it| &it.flow_ids), flows("received", |it| &it.terminating_flow_ids));
    let messages = table("messages");
    let names = |flows: &[(u64, String)]| Vec::from_iter(flows.iter().map(|it| it.1.clone()));
    assert_eq!(names(&sent), cells(&messages, "sender"));
    assert_eq!(names(&received), cells(&messages, "receiver"));
    // Counters begin and end at zero, and processors are never more than there are.
    for (_, events) in trace.of("busy processors") {
        let values = Vec::from_iter(events.iter().map(|(_, it)| it.counter_value()));
        assert!(values.iter().all(|it| (0..=8).contains(it)), "{values:?}");
        assert_eq!(values.last(), Some(&0));
    }
    // A job that a failure sent back to its queue waits once, and not while it runs.
    let mut waited = 0_i128;
    let run = RunReader::open(&folder.path().join("out")).expect("a run");
    run.each_wait(|_, from, until| waited += i128::from((until - from).as_micros()))
        .expect("tables");
    let mut counted = 0;
    for (_, events) in trace.of("waiting jobs") {
        for two in events.windows(2) {
            counted += i128::from(two[1].0 - two[0].0) * i128::from(two[0].1.counter_value());
        }
    }
    assert!(started > cells(&table("jobs"), "job").len() && waited > 0);
    assert_eq!(counted, waited * 1_000);
}

#[test]
fn times_before_zero_come_first_and_files_are_not_replaced() {
    let folder = Folder::with(&[(
        "state.toml",
        r#"
[[provider]]
name = "north"
processors = 2
policy = "conservative"
initial = [
    { processors = 2, run = "2h", started-ago = "1h", requested = "3h" },
    { processors = 1, run = "1h", requested = "2h" },
]
[results]
format = "csv"
"#,
    )]);
    let trace = exported("state.toml", &folder);
    let (_, events) = trace.of("jobs").next().expect("a job");
    let hour = 3_600_000_000_000;
    let names = ["north-initial!1", "north-initial!2"].map(str::to_owned);
    let [first, second] = names.clone();
    assert_eq!(slices(events), [(0, 2 * hour, first), (2 * hour, 3 * hour, second)]);
    let (_, promises) = trace.of("promises").next().expect("a promise");
    let kept = Vec::from_iter(promises.iter().map(|(at, it)| (*at / hour, it.name())));
    assert_eq!(kept, [(3, "north-initial!1 kept"), (5, "north-initial!2 kept")]);
    let again = folder.haggle(&["export", "perfetto", "out", "-o", "out.pftrace"]);
    assert!(again.contains("exists already"), "{again}");
    let none = folder.haggle(&["export", "perfetto", "state.toml", "-o", "other.pftrace"]);
    assert!(!none.starts_with("exit code: 0"), "{none}");
    assert!(!folder.path().join("other.pftrace").exists());
}

#[test]
fn a_run_with_impossible_values_is_refused() {
    let folder = Folder::with(&[]);
    let shown =
        folder.haggle(&["run", "--example", "failing-sites", "-o", "out", "--format", "csv"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let export = || folder.haggle(&["export", "perfetto", "out", "-o", "out.pftrace", "--force"]);
    assert!(export().starts_with("exit code: 0"));
    for (table, column, value) in [
        ("attempts", "queued_time", "1e308"),
        ("attempts", "finish_time", "-1"),
        ("attempts", "requested_number_of_resources", "0"),
        ("attempts", "promised_finish_time", "nan"),
        ("jobs", "left_time", "1e308"),
        ("placements", "first_resource", "-1"),
        ("placements", "last_resource", "9223372036854775807"),
        ("outages", "failure_time", "-1"),
        ("messages", "time", "inf"),
        ("messages", "job", "-1"),
    ] {
        let path = folder.path().join("out").join(format!("{table}.csv"));
        let before = fs::read_to_string(&path).expect("a table");
        let names = before.lines().next().expect("a header").split(',');
        let at = names.into_iter().position(|it| it == column).expect(column);
        let change = |(number, line): (usize, &str)| match number {
            // The line of the third row.
            3 => {
                let mut cells = Vec::from_iter(line.split(','));
                cells[at] = value;
                cells.join(",") + "\n"
            }
            _ => format!("{line}\n"),
        };
        let changed = String::from_iter(before.lines().enumerate().map(change));
        fs::write(&path, changed).expect("it can be written");
        let shown = export();
        assert!(shown.starts_with("exit code: 3"), "{column} {value}: {shown}");
        let told = unwrapped(stderr_of(&shown));
        for part in [format!("{table}.csv"), format!("row 3, column `{column}`")] {
            assert!(told.contains(&part), "{column} {value}: {shown}");
        }
        fs::write(&path, before).expect("it can be written");
    }
    // A run without its provenance is no sweep.
    fs::remove_file(folder.path().join("out/provenance.json")).expect("it is there");
    let told = export();
    assert!(told.starts_with("exit code: 2"), "{told}");
    let told = unwrapped(stderr_of(&told));
    assert!(told.contains("`out` is the folder of a run without its provenance.json"), "{told}");
    assert!(!told.contains("sweep"), "{told}");
}
