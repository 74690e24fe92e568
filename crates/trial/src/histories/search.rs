//! Breadth-first search of histories by their number of deviations.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use haggle_model::MessageFault;
use haggle_runtime::{Ahead, Simulation, Step};
use serde::Serialize;

use super::choice::{Choice, Deviation};
use super::record::{Event, Record, Recorder};
use super::{HistoriesError, World, invariants};

/// Bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most deviations in a history.
    pub deviations: u32,
    /// Most different states.
    pub states: u64,
    /// Most messages in a history, before it counts as endless.
    pub messages: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { deviations: 2, states: 1_000_000, messages: 20_000 }
    }
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Different states.
    pub states: u64,
    /// Transitions between states: delivered messages and deviations.
    pub transitions: u64,
    /// Histories that came to a state which was met before.
    pub duplicates: u64,
    /// Histories that came to their end and were judged.
    pub judged: u64,
    /// Most messages and deviations in a history.
    pub depth: u64,
    /// Most deviations in the histories that were searched.
    pub deviations: u32,
    /// True if no bound but the number of deviations has cut the search short.
    pub complete: bool,
    /// One of the smallest histories that violate an invariant.
    pub found: Option<Found>,
}

/// A history that violates an invariant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Its deviations.
    pub history: Vec<Choice>,
    /// The violation.
    pub violation: String,
    /// All of its messages, a line each.
    pub messages: Vec<String>,
}

/// A history up to some message.
struct Branch {
    simulation: Simulation<'static>,
    record: Record,
    history: Vec<Choice>,
    /// Messages and deviations so far.
    events: u64,
    /// Number of its own messages that lead to new states.
    own: u64,
}

/// The end of a branch.
enum End {
    /// It came to a state that was met before.
    Met,
    /// It satisfies all invariants.
    Fine,
    /// It violates one.
    Violation(String),
    /// A bound was reached.
    Cut,
}

struct Search<'a> {
    world: &'a World,
    bounds: Bounds,
    stop: &'a AtomicBool,
    met: HashSet<u64>,
    report: Report,
}

/// Searches the histories of a world, until one violates an invariant or a bound is reached. `progress` gets the
/// report from time to time.
///
/// # Errors
/// If the world cannot be branched.
pub fn search(
    world: &World,
    bounds: Bounds,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Report),
) -> Result<Report, HistoriesError> {
    let report = Report { complete: true, ..Report::default() };
    let mut search = Search { world, bounds, stop, met: HashSet::new(), report };
    search.all(progress)?;
    Ok(search.report)
}

impl Search<'_> {
    fn all(&mut self, progress: &mut dyn FnMut(&Report)) -> Result<(), HistoriesError> {
        let simulation = self.world.start.branch()?;
        let (record, history) = (Record::default(), Vec::new());
        let mut root = Branch { simulation, record, history, events: 0, own: 0 };
        if self.judge(&mut root)? {
            return Ok(());
        }
        let mut level = VecDeque::from([root]);
        for deviations in 1..=self.bounds.deviations {
            self.report.deviations = deviations;
            let is_last = deviations == self.bounds.deviations;
            let mut next = VecDeque::new();
            while let Some(branch) = level.pop_front() {
                progress(&self.report);
                if self.expand(branch, is_last, &mut next)? {
                    return Ok(());
                }
            }
            level = next;
        }
        Ok(())
    }

    /// Runs a branch to its end and judges it. Returns true if the search is over.
    fn judge(&mut self, branch: &mut Branch) -> Result<bool, HistoriesError> {
        let simulation = branch.simulation.branch()?;
        let recorder = Recorder::from(branch.record.clone());
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.run(simulation, &recorder, branch.events, &mut branch.own)
        }));
        let end = ended.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
            End::Violation(format!("an actor panicked: {}", text.unwrap_or_default()))
        });
        match end {
            End::Met => self.report.duplicates += 1,
            End::Fine => self.report.judged += 1,
            End::Cut => {
                self.report.complete = false;
                return Ok(true);
            }
            End::Violation(violation) => {
                self.report.judged += 1;
                self.report.complete = false;
                let messages = lines(self.world, &recorder.record());
                let history = branch.history.clone();
                self.report.found = Some(Found { history, violation, messages });
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn run(
        &mut self,
        mut simulation: Simulation<'static>,
        recorder: &Recorder,
        before: u64,
        own: &mut u64,
    ) -> End {
        simulation.listen(recorder.clone());
        let mut events = before;
        loop {
            match simulation.next_message() {
                Err(error) => return End::Violation(error.to_string()),
                Ok(None) => break,
                Ok(Some(_)) => {}
            }
            if !self.is_new(&simulation, recorder) {
                return End::Met;
            }
            if self.is_cut() {
                return End::Cut;
            }
            if events - before > self.bounds.messages {
                return End::Violation(format!("{} messages led to no end", self.bounds.messages));
            }
            if let Err(error) = simulation.step() {
                return End::Violation(error.to_string());
            }
            *own += 1;
            events += 1;
            self.report.transitions += 1;
            self.report.depth = self.report.depth.max(events);
        }
        let stats = simulation.stats();
        // Jobs that are left at a horizon are found as unfinished.
        let idle = match stats.jobs == stats.jobs_over {
            true => invariants::idle(&simulation, &self.world.cast),
            false => Ok(()),
        };
        let judged = idle.and_then(|()| match simulation.run() {
            Ok(stats) => invariants::whole(&recorder.record(), &stats, self.world),
            Err(error) => Err(error.to_string()),
        });
        judged.map_or_else(End::Violation, |()| End::Fine)
    }

    fn is_new(&mut self, simulation: &Simulation<'_>, recorder: &Recorder) -> bool {
        let mut hasher = DefaultHasher::new();
        (simulation.fingerprint(), recorder.observed()).hash(&mut hasher);
        let is_new = self.met.insert(hasher.finish());
        self.report.states += u64::from(is_new);
        is_new
    }

    fn is_cut(&self) -> bool {
        self.report.states >= self.bounds.states || self.stop.load(Ordering::Relaxed)
    }

    /// Goes through the own messages of a branch, and lets a new branch deviate at each. Returns true if the search
    /// is over.
    fn expand(
        &mut self,
        branch: Branch,
        is_last: bool,
        next: &mut VecDeque<Branch>,
    ) -> Result<bool, HistoriesError> {
        let Branch { mut simulation, record, history, mut events, own } = branch;
        let recorder = Recorder::from(record);
        simulation.listen(recorder.clone());
        for _ in 0..own {
            let Some(ahead) = simulation.next_message()? else { break };
            for deviation in possible(self.world, &ahead) {
                let mut history = history.clone();
                history.push(Choice { at: events, deviation });
                let deviating = Recorder::from(recorder.record());
                let simulation = deviate(self.world, &simulation, &deviating, &ahead, deviation)?;
                let record = deviating.record();
                let mut child = Branch { simulation, record, history, events: events + 1, own: 0 };
                self.report.transitions += 1;
                if self.judge(&mut child)? {
                    return Ok(true);
                }
                if !is_last && child.own > 0 {
                    next.push_back(child);
                }
            }
            simulation.step()?;
            events += 1;
        }
        Ok(false)
    }
}

/// The deviations that may happen at a message.
fn possible(world: &World, ahead: &Ahead) -> Vec<Deviation> {
    let is_possible = |deviation: &Deviation| match deviation {
        Deviation::Delay => ahead.may_be_delayed,
        Deviation::Lose => world.may_lose && ahead.may_be_lost,
        Deviation::Crash => ahead.may_find_crash && world.crashing.contains(&ahead.step.to),
    };
    Deviation::ALL.into_iter().filter(is_possible).collect()
}

/// A copy of a run in which a message meets a deviation. The copy has no sink.
fn deviate(
    world: &World,
    simulation: &Simulation<'_>,
    recorder: &Recorder,
    ahead: &Ahead,
    deviation: Deviation,
) -> Result<Simulation<'static>, HistoriesError> {
    let mut branch = simulation.branch()?;
    branch.listen(recorder.clone());
    match deviation {
        Deviation::Delay => {
            let Step { time, from, to, kind, .. } = ahead.step;
            recorder.push(Event::Delayed(time, from, to, kind));
            branch.delay_next()?;
        }
        Deviation::Lose => branch.lose_next()?,
        Deviation::Crash => branch.crash_next(world.down)?,
    }
    Ok(branch.branch()?)
}

/// Repeats a history. Returns its messages, and the violation if there is one.
///
/// # Errors
/// If a deviation is not possible at its message.
pub fn replay(
    world: &World,
    history: &[Choice],
) -> Result<(Vec<String>, Option<String>), HistoriesError> {
    let mut simulation = world.start.branch()?;
    let recorder = Recorder::default();
    simulation.listen(recorder.clone());
    let mut events = 0;
    for &choice in history {
        let impossible = |reason| HistoriesError::Impossible { choice, reason };
        while events < choice.at {
            simulation.step()?.ok_or_else(|| impossible("the run ends before"))?;
            events += 1;
        }
        let ahead = simulation.next_message()?;
        let ahead = ahead.ok_or_else(|| impossible("the run ends before"))?;
        if choice.at != events || !possible(world, &ahead).contains(&choice.deviation) {
            return Err(impossible("the message there does not permit it"));
        }
        simulation = deviate(world, &simulation, &recorder, &ahead, choice.deviation)?;
        simulation.listen(recorder.clone());
        events += 1;
    }
    let bounds = Bounds { states: u64::MAX, ..Bounds::default() };
    let never = AtomicBool::new(false);
    let (met, report) = (HashSet::new(), Report::default());
    let mut search = Search { world, bounds, stop: &never, met, report };
    // The recorder listens already.
    let end = search.run(simulation.branch()?, &recorder, events, &mut 0);
    let violation = match end {
        End::Violation(violation) => Some(violation),
        End::Met => Some("the run goes in a circle".to_owned()),
        End::Fine | End::Cut => None,
    };
    Ok((lines(world, &recorder.record()), violation))
}

/// The messages of a history with its deviations, a line each. The number of a line is that by which a [`Choice`] names
/// the message.
fn lines(world: &World, record: &Record) -> Vec<String> {
    let line = |event: &Event| match event {
        Event::Delivered(now, from, to, message) => {
            let job = message.job().map(|job| format!(" {job}")).unwrap_or_default();
            let sender = (from != to).then(|| format!("{} -> ", world.name(*from)));
            let sender = sender.unwrap_or_default();
            Some(format!("{now} s  {sender}{}: {}{job}", world.name(*to), message.kind()))
        }
        Event::Fault(now, from, to, message, fault) if *fault != MessageFault::Doubled => {
            let (from, to) = (world.name(*from), world.name(*to));
            Some(format!("{now} s  {from} -> {to}: {} is LOST", message.kind()))
        }
        Event::Delayed(now, from, to, kind) => {
            let (from, to) = (world.name(*from), world.name(*to));
            Some(format!("{now} s  {from} -> {to}: {kind} is DELAYED"))
        }
        Event::Fault(..) | Event::Observed(..) => None,
    };
    let lines = record.events().filter_map(line).enumerate();
    lines.map(|(number, line)| format!("{number:>4}  {line}")).collect()
}
