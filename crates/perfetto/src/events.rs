//! From the tables of a run to tracks and events.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::Write;

use haggle_results::RunReader;
use haggle_results::about::RunsOnGrid;
use haggle_results::columns::Table;
use haggle_results::reader::{Rows, TableData};

use crate::TraceError;
use crate::proto::Value;
use crate::tracks::{Packets, Track, event, fact};

/// Numbers of things in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Attempts of jobs, as intervals.
    pub attempts: u64,
    /// Outages of processors or resources, as intervals.
    pub outages: u64,
    /// Messages, as pairs of instants.
    pub messages: u64,
}

/// Writes a run as a trace, and counts its contents. Tables that a run does not have are left out.
///
/// # Errors
/// If a table is damaged, or has a number that no run has, the run has no `attempts`, or `out` fails.
pub fn write(run: &RunReader, out: impl Write) -> Result<Counts, TraceError> {
    refuse_damaged(run)?;
    let attempts = Attempt::all(run)?;
    let outages = Outage::all(run)?;
    let held = Held::all(run)?;
    let firsts = attempts.iter().filter_map(|it| it.queued.or(it.start));
    let firsts = firsts.chain(outages.iter().map(|it| it.from));
    let origin = firsts.fold(0.0, f64::min);
    let mut out = Packets::new(out, origin);
    let mut actors = Actors::default();

    let mut of_provider: BTreeMap<&str, Vec<&Attempt>> = BTreeMap::new();
    for attempt in &attempts {
        of_provider.entry(&attempt.provider).or_default().push(attempt);
    }
    let mut down: BTreeMap<&str, Vec<&Outage>> = BTreeMap::new();
    for outage in &outages {
        down.entry(&outage.provider).or_default().push(outage);
    }
    for name in Vec::from_iter(of_provider.keys().chain(down.keys()).copied()) {
        actors.track(name, &mut out)?;
    }
    let mut counts = Counts::default();
    let mut waits = waits(run)?;
    for (name, attempts) in of_provider {
        let parent = actors.track(name, &mut out)?;
        counts.attempts += jobs(&attempts, parent, &mut out)?;
        busy(&attempts, held.get(name).map(Vec::as_slice), parent, &mut out)?;
        if let Some(waits) = waits.remove(name) {
            counter(WAITING, "jobs", waits, parent, &mut out)?;
        }
        promises(&attempts, parent, &mut out)?;
    }
    for (name, waits) in waits {
        let parent = actors.track(&name, &mut out)?;
        counter(WAITING, "jobs", waits, parent, &mut out)?;
    }
    for (name, outages) in down {
        let parent = actors.track(name, &mut out)?;
        let end = attempts.iter().filter_map(|it| it.end).fold(0.0, f64::max);
        let spans = outages.iter().map(|it| ((it.from, it.to.unwrap_or(end)), *it));
        counts.outages += lanes("failures", spans.collect(), parent, &mut out, |it| {
            let size = it.last - it.first + 1;
            let facts = vec![fact("processors", Value::Int(size))];
            TrackEventWith(event("down", "failure"), facts)
        })?;
    }
    counts.messages = messages(run, &mut actors, &mut out)?;
    Ok(counts)
}

/// Refuses tables with rows that no run has, before anything is written.
fn refuse_damaged(run: &RunReader) -> Result<(), TraceError> {
    let tables = [Table::Jobs, Table::Attempts, Table::Placements, Table::Outages, Table::Messages];
    for table in tables.into_iter().filter(|it| run.has(*it)) {
        run.check(table, &|| false, &mut |data| data.refuse_impossible(table))?;
    }
    Ok(())
}

/// A row of `attempts`.
struct Attempt {
    job: i64,
    label: String,
    attempt: i64,
    provider: String,
    outcome: String,
    processors: i64,
    queued: Option<f64>,
    start: Option<f64>,
    end: Option<f64>,
    promised: Option<f64>,
}

impl Attempt {
    fn all(run: &RunReader) -> Result<Vec<Attempt>, TraceError> {
        const COLUMNS: [&str; 11] = [
            "job",
            "job_id",
            "workload_name",
            "attempt",
            "provider",
            "outcome",
            "requested_number_of_resources",
            "queued_time",
            "starting_time",
            "finish_time",
            "promised_finish_time",
        ];
        let mut all = Vec::new();
        run.in_batches(Table::Attempts, &COLUMNS, &Rows::all(), |data| {
            for row in 0..data.rows() {
                let text = |name| text(&data, name, row);
                let (real, integer) =
                    (|name| real(&data, name, row), |name| integer(&data, name, row));
                all.push(Attempt {
                    job: integer("job").unwrap_or(-1),
                    label: format!("{}!{}", text("workload_name"), integer("job_id").unwrap_or(-1)),
                    attempt: integer("attempt").unwrap_or(-1),
                    provider: text("provider"),
                    outcome: text("outcome"),
                    processors: integer("requested_number_of_resources").unwrap_or(0),
                    queued: real("queued_time"),
                    start: real("starting_time"),
                    end: real("finish_time"),
                    promised: real("promised_finish_time"),
                });
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// The time for which it held processors or a slot.
    fn held(&self) -> Option<(f64, f64)> {
        Some((self.start?, self.end?))
    }
}

/// A row of `outages`.
struct Outage {
    provider: String,
    first: i64,
    last: i64,
    from: f64,
    /// `None` = not in this run.
    to: Option<f64>,
}

impl Outage {
    fn all(run: &RunReader) -> Result<Vec<Outage>, TraceError> {
        const COLUMNS: [&str; 5] =
            ["provider", "first_resource", "last_resource", "failure_time", "restoration_time"];
        let mut all = Vec::new();
        if !run.has(Table::Outages) {
            return Ok(all);
        }
        run.in_batches(Table::Outages, &COLUMNS, &Rows::all(), |data| {
            for row in 0..data.rows() {
                let Some(from) = real(&data, "failure_time", row) else { continue };
                all.push(Outage {
                    provider: text(&data, "provider", row),
                    first: integer(&data, "first_resource", row).unwrap_or(0),
                    last: integer(&data, "last_resource", row).unwrap_or(0),
                    from,
                    to: real(&data, "restoration_time", row),
                });
            }
            Ok(())
        })?;
        Ok(all)
    }
}

/// Processors of a provider that a job holds alone.
struct Held {
    from: f64,
    to: f64,
    processors: i64,
}

impl Held {
    /// By provider.
    fn all(run: &RunReader) -> Result<BTreeMap<String, Vec<Held>>, TraceError> {
        const COLUMNS: [&str; 5] =
            ["provider", "first_resource", "last_resource", "starting_time", "finish_time"];
        let mut all: BTreeMap<String, Vec<Held>> = BTreeMap::new();
        if !run.has(Table::Placements) {
            return Ok(all);
        }
        run.in_batches(Table::Placements, &COLUMNS, &Rows::all(), |data| {
            for row in 0..data.rows() {
                let (real, integer) =
                    (|name| real(&data, name, row), |name| integer(&data, name, row));
                let (Some(from), Some(to)) = (real("starting_time"), real("finish_time")) else {
                    continue;
                };
                let (Some(first), Some(last)) =
                    (integer("first_resource"), integer("last_resource"))
                else {
                    continue;
                };
                let held = Held { from, to, processors: last - first + 1 };
                let provider = text(&data, "provider", row);
                all.entry(provider).or_default().push(held);
            }
            Ok(())
        })?;
        Ok(all)
    }
}

/// The tracks of actors by name, in the order in which they are first named.
#[derive(Default)]
struct Actors {
    tracks: BTreeMap<String, Track>,
}

impl Actors {
    fn track<W: Write>(&mut self, name: &str, out: &mut Packets<W>) -> Result<Track, TraceError> {
        if let Some(&track) = self.tracks.get(name) {
            return Ok(track);
        }
        let track = out.track(name, None)?;
        self.tracks.insert(name.to_owned(), track);
        Ok(track)
    }
}

/// An event, and facts about it.
struct TrackEventWith(crate::proto::TrackEvent, Vec<crate::proto::DebugAnnotation>);

/// The attempts that held processors, in lanes; their number.
fn jobs<W: Write>(
    attempts: &[&Attempt],
    parent: Track,
    out: &mut Packets<W>,
) -> Result<u64, TraceError> {
    let spans = attempts.iter().filter_map(|it| Some((it.held()?, *it)));
    lanes("jobs", spans.collect(), parent, out, |it| {
        let mut facts = vec![
            fact("job", Value::Int(it.job)),
            fact("attempt", Value::Int(it.attempt)),
            fact("processors", Value::Int(it.processors)),
            fact("outcome", Value::Text(it.outcome.clone())),
        ];
        let times = [("queued, s", it.queued), ("promised end, s", it.promised)];
        let times = times.into_iter().filter_map(|(name, time)| Some((name, time?)));
        facts.extend(times.map(|(name, time)| fact(name, Value::Double(time))));
        TrackEventWith(event(it.label.clone(), &it.outcome), facts)
    })
}

/// A time in order.
#[derive(Clone, Copy, PartialEq)]
struct Instant(f64);

impl Eq for Instant {}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Instant) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Instant {
    fn cmp(&self, other: &Instant) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Writes intervals to as few tracks as hold them without overlaps, and returns their number.
fn lanes<T, W: Write>(
    name: &str,
    mut spans: Vec<((f64, f64), T)>,
    parent: Track,
    out: &mut Packets<W>,
    describe: impl Fn(&T) -> TrackEventWith,
) -> Result<u64, TraceError> {
    // Stable: intervals of one beginning keep the order of their table.
    spans.sort_by(|((a, _), _), ((b, _), _)| a.total_cmp(b));
    // Tracks by the end of their last interval.
    let mut free: BTreeMap<(Instant, usize), Track> = BTreeMap::new();
    let mut number = 0;
    for ((from, to), thing) in &spans {
        // The track that has been free for the longest time; one that is not free yet stays.
        let first = free.first_key_value().filter(|((end, _), _)| *end <= Instant(*from));
        let (lane, track) = match first.map(|(key, track)| (*key, *track)) {
            Some((key, track)) => {
                free.remove(&key);
                (key.1, track)
            }
            None => {
                number += 1;
                (number, out.track(name, Some(parent))?)
            }
        };
        let TrackEventWith(event, facts) = describe(thing);
        let event = crate::proto::TrackEvent { debug_annotations: facts, ..event };
        out.slice(track, (*from, *to), event)?;
        free.insert((Instant(to.max(*from)), lane), track);
    }
    Ok(spans.len() as u64)
}

/// Intervals, each with the number that it adds to a counter.
type Changes = Vec<(f64, f64, i64)>;

/// Name of the counter of waiting jobs.
const WAITING: &str = "waiting jobs";

/// Intervals in which jobs waited, by provider. Intervals before a slot on a grid have the name of the grid.
fn waits(run: &RunReader) -> Result<BTreeMap<String, Changes>, TraceError> {
    let about = run.about().unwrap_or_default();
    let on_grid = about.workloads.iter().filter(|it| it.on_grid == RunsOnGrid::Always);
    let grid = on_grid.flat_map(|it| &it.users).next().map_or("grid", |it| &it.submits_to);
    let mut waits: BTreeMap<String, Changes> = BTreeMap::new();
    run.each_wait(|provider, from, until| {
        let wait = (from.as_secs_f64(), until.as_secs_f64(), 1);
        let name = provider.unwrap_or(grid);
        match waits.get_mut(name) {
            Some(all) => all.push(wait),
            None => {
                waits.insert(name.to_owned(), vec![wait]);
            }
        }
    })?;
    Ok(waits)
}

/// Busy processors, or running attempts where processors are shared.
fn busy<W: Write>(
    attempts: &[&Attempt],
    held: Option<&[Held]>,
    parent: Track,
    out: &mut Packets<W>,
) -> Result<(), TraceError> {
    match held {
        Some(held) => {
            let busy = held.iter().map(|it| (it.from, it.to, it.processors));
            counter("busy processors", "processors", busy.collect(), parent, out)
        }
        None => {
            let busy = attempts.iter().filter_map(|it| it.held()).map(|(from, to)| (from, to, 1));
            counter("running jobs", "jobs", busy.collect(), parent, out)
        }
    }
}

fn counter<W: Write>(
    name: &str,
    unit: &str,
    spans: Changes,
    parent: Track,
    out: &mut Packets<W>,
) -> Result<(), TraceError> {
    let mut changes: Vec<(f64, i64)> = Vec::new();
    for (from, to, size) in spans {
        changes.extend([(from, size), (to.max(from), -size)]);
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let track = out.counter(name, unit, parent)?;
    let mut value = 0;
    for same in changes.chunk_by(|a, b| a.0 == b.0) {
        let change: i64 = same.iter().map(|it| it.1).sum();
        value += change;
        if change != 0 {
            out.count(track, same[0].0, value)?;
        }
    }
    Ok(())
}

/// An instant for each promised completion.
fn promises<W: Write>(
    attempts: &[&Attempt],
    parent: Track,
    out: &mut Packets<W>,
) -> Result<(), TraceError> {
    let promised = attempts.iter().filter_map(|it| Some((it.promised?, *it)));
    let mut promised = Vec::from_iter(promised);
    promised.sort_by(|a, b| a.0.total_cmp(&b.0));
    if promised.is_empty() {
        return Ok(());
    }
    let track = out.track("promises", Some(parent))?;
    for (at, attempt) in promised {
        let is_kept = attempt.outcome == "completed" && attempt.end.is_some_and(|end| end <= at);
        let kind = if is_kept { "kept" } else { "broken" };
        let event = event(format!("{} {kind}", attempt.label), kind);
        out.instant(track, at, event)?;
    }
    Ok(())
}

/// Instants at senders and receivers, joined by arrows; their number.
fn messages<W: Write>(
    run: &RunReader,
    actors: &mut Actors,
    out: &mut Packets<W>,
) -> Result<u64, TraceError> {
    if !run.has(Table::Messages) {
        return Ok(0);
    }
    let mut number = 0;
    let mut tracks: BTreeMap<(String, bool), Track> = BTreeMap::new();
    let mut trouble = None;
    let mut one = |data: &TableData, row: usize| -> Result<(), TraceError> {
        let Some(at) = real(data, "time", row) else { return Ok(()) };
        number += 1;
        for (column, is_sender) in [("sender", true), ("receiver", false)] {
            let key = (text(data, column, row), is_sender);
            let track = match tracks.get(&key) {
                Some(&track) => track,
                None => {
                    let parent = actors.track(&key.0, out)?;
                    let name = if is_sender { "sent" } else { "received" };
                    let track = out.track(name, Some(parent))?;
                    tracks.insert(key, track);
                    track
                }
            };
            let mut event = event(text(data, "kind", row), "message");
            let job = integer(data, "job", row);
            event.debug_annotations.extend(job.map(|job| fact("job", Value::Int(job))));
            match is_sender {
                true => event.flow_ids.push(number),
                false => event.terminating_flow_ids.push(number),
            }
            out.instant(track, at, event)?;
        }
        Ok(())
    };
    let columns = ["time", "sender", "receiver", "kind", "job"];
    run.in_batches(Table::Messages, &columns, &Rows::all(), |data| {
        for row in 0..data.rows() {
            if trouble.is_none() {
                trouble = one(&data, row).err();
            }
        }
        Ok(())
    })?;
    trouble.map_or(Ok(number), Err)
}

fn text(data: &TableData, name: &str, row: usize) -> String {
    data.text(name).ok().and_then(|it| it.at(row)).unwrap_or_default().to_owned()
}

fn real(data: &TableData, name: &str, row: usize) -> Option<f64> {
    *data.real(name).ok()?.get(row)?
}

fn integer(data: &TableData, name: &str, row: usize) -> Option<i64> {
    *data.integer(name).ok()?.get(row)?
}
