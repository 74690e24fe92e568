//! Jobs of a grid: their attempts on time-shared resources, and the checkpoints between these.

use haggle_model::AttemptOutcome;
use haggle_results::reader::{AttemptRow, CheckpointRow, OutageRow};
use haggle_results::{About, JobRow, ResourceRow};
use serde::Serialize;

use super::spent::{Column, Ledger, Part, Spent, micros};
use super::statics::{Place, Statics};
use super::supply::{Market, NO_LIMIT, Waiting};
use super::{Attempt, Chronicle, Story};

/// Fields that only an attempt on a resource of a grid has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OnGrid {
    /// The attempt whose checkpoint it started from.
    pub parent: Option<i64>,
    /// When it gave its slot back.
    pub slot_left: f64,
    /// Work of the job that was done when it began, MI.
    pub work_at_start: f64,
    /// Work that was done when it ended, MI.
    pub work_at_end: f64,
    /// Slot time in which it computed, s.
    pub computing: f64,
    /// Checkpoints that were written.
    pub checkpoints: i64,
    /// Work that its newest usable checkpoint holds, MI.
    pub work_saved: Option<f64>,
    /// True if the job was, or may yet be, completed by this attempt or from its checkpoint.
    pub counts: bool,
}

/// An attempt that counts, and the checkpoint from which the next one started; `None` for the last.
type Link<'a> = (&'a AttemptRow, Option<&'a CheckpointRow>);

/// Completes the story of a job of a grid.
pub(super) fn tell(mut story: Story, all: &Chronicle, job: &JobRow) -> Story {
    let (own, checkpoints) = rows(all, job);
    let chain = chain(job, &own, &checkpoints);
    story.parts = spent(all, job, &own, &chain, &mut story.statics);
    let counts = |it: &AttemptRow| chain.iter().any(|(link, _)| link.attempt == it.attempt);
    let told = |it: &&AttemptRow| attempt(it, counts(it), &checkpoints, &all.outages);
    story.attempts = own.iter().map(told).collect();
    story
}

/// Parts of the time of a job on a grid.
pub(super) fn parts(all: &Chronicle, job: &JobRow) -> Vec<Spent> {
    let (own, checkpoints) = rows(all, job);
    spent(all, job, &own, &chain(job, &own, &checkpoints), &mut None)
}

/// Its attempts, and their checkpoints.
fn rows<'a>(all: &'a Chronicle, job: &JobRow) -> (Vec<&'a AttemptRow>, Vec<&'a CheckpointRow>) {
    let checkpoints = all.checkpoints.iter().filter(|it| it.job == job.job);
    let mut own: Vec<&AttemptRow> = all.attempts.iter().filter(|it| it.job == job.job).collect();
    own.sort_by_key(|it| it.attempt);
    (own, checkpoints.collect())
}

fn spent(
    all: &Chronicle,
    job: &JobRow,
    own: &[&AttemptRow],
    chain: &[Link<'_>],
    statics: &mut Option<Statics>,
) -> Vec<Spent> {
    let mut ledger = Ledger::new(job);
    // In a static schedule, a task waits for its turn on its own resource, even if others are free.
    let can_start = if all.about.static_schedules { Part::Order } else { Part::Round };
    let mut anywhere = Waiting::new(all.grid_market.supply_anywhere(1), job.ready, can_start);
    let mut waiting =
        |ledger: &mut Ledger, until: i64| match Place::of(all, job, own, ledger.told()) {
            Some(place) => place.tell(ledger, until, statics),
            None => anywhere.until(ledger, until),
        };
    for (at, &(it, checkpoint)) in chain.iter().enumerate() {
        let Some((dispatched, left)) = it.slot() else { continue };
        idle(&mut ledger, &mut waiting, own, micros(dispatched));
        // An attempt that never computed waited for data until it left.
        ledger.until(micros(it.start.unwrap_or(left)), Part::Transfers);
        let next = chain.get(at + 1).and_then(|(next, _)| next.queued);
        computed(&mut ledger, (it, left), checkpoint, next);
    }
    idle(&mut ledger, &mut waiting, own, micros(job.left));
    ledger.spent()
}

/// An attempt that counts has begun to compute. It computes up to its end, or up to the checkpoint
/// that counts; the rest is lost.
fn computed(
    ledger: &mut Ledger,
    (it, left): (&AttemptRow, f64),
    checkpoint: Option<&CheckpointRow>,
    next: Option<f64>,
) {
    let running = Column::Running;
    let Some(checkpoint) = checkpoint else {
        let known = [
            (Part::Computing, running, micros(it.computing.unwrap_or_default())),
            (Part::Checkpoints, running, micros(it.checkpointing)),
        ];
        ledger.mixed(micros(left), &known, (Part::Transfers, running));
        return ledger.until(micros(it.end.unwrap_or(left)), Part::Transfers);
    };
    let known = [(Part::Computing, running, micros(checkpoint.computing))];
    let saved = checkpoint.written.unwrap_or(checkpoint.requested);
    ledger.mixed(micros(saved), &known, (Part::Checkpoints, running));
    // From the start of the next attempt on, that one counts, even if this one still ran.
    let left = next.map_or(left, |next| next.min(left));
    ledger.until(micros(left), Part::Lost);
}

/// No attempt that counts has a slot. The time counts as `Lost` while another attempt computes, as
/// `Transfers` while one waits for data, and otherwise as a wait at the scheduler.
fn idle(
    ledger: &mut Ledger,
    waiting: &mut impl FnMut(&mut Ledger, i64),
    attempts: &[&AttemptRow],
    until: i64,
) {
    let times = |it: &&AttemptRow| {
        let (dispatched, left) = it.slot()?;
        Some([dispatched, it.start.unwrap_or(left), left].map(micros))
    };
    let attempts: Vec<[i64; 3]> = attempts.iter().filter_map(times).collect();
    let mut times: Vec<i64> = attempts.iter().flatten().copied().filter(|&it| it < until).collect();
    times.push(until);
    times.sort_unstable();
    for time in times {
        let now = ledger.told();
        if time <= now {
            continue;
        }
        // Computing comes before transfers: of several attempts, the most advanced one gives the reason.
        if attempts.iter().any(|&[_, start, left]| start <= now && now < left) {
            ledger.until(time, Part::Lost);
        } else if attempts.iter().any(|&[dispatched, start, _]| dispatched <= now && now < start) {
            ledger.until(time, Part::Transfers);
        } else {
            waiting(ledger, time);
        }
    }
}

/// The slots of all resources, the attempts that held them, and the outages.
pub(super) fn market(
    resources: &[&ResourceRow],
    about: &About,
    attempts: &[AttemptRow],
    outages: &[OutageRow],
) -> Market {
    let places = resources.iter().map(|it| {
        // A static schedule gives a resource one task at a time.
        let slots = if about.static_schedules { 1 } else { it.slots.unwrap_or(NO_LIMIT) };
        (it.provider.clone(), slots, slots)
    });
    let held = attempts.iter().filter_map(|it| {
        let (from, until) = it.slot()?;
        Some((it.provider.as_str(), from, until, 1))
    });
    // Actors of grids do not crash, and only providers have maintenance.
    Market::new(places, held, outages, &[], &[])
}

/// The attempts by which the job was, or may yet be, completed, in order. Each started from a
/// checkpoint of the one before it.
fn chain<'a>(
    job: &JobRow,
    attempts: &[&'a AttemptRow],
    checkpoints: &[&'a CheckpointRow],
) -> Vec<Link<'a>> {
    let alive = |it: &&&AttemptRow| match job.outcome.as_str() {
        "completed" => it.outcome == AttemptOutcome::Completed,
        "unfinished" => {
            matches!(it.outcome, AttemptOutcome::Completed | AttemptOutcome::Unfinished)
        }
        _ => false,
    };
    // Copies may be alive side by side; the one whose chain begins with the job's start is shown.
    let tips = attempts.iter().filter(alive);
    let mut tips = tips.map(|tip| back_from((*tip, None), attempts, checkpoints));
    let shown =
        |links: &Vec<Link<'_>>| links.first().and_then(|(first, _)| first.start) == job.start;
    if let Some(links) = tips.find(shown) {
        return links;
    }
    if job.outcome != "unfinished" {
        return Vec::new();
    }
    // The job waits for a restart from its newest usable checkpoint.
    let usable = checkpoints.iter().filter(|it| it.available.is_some());
    let rank = |it: &CheckpointRow| [it.work_saved, it.available.unwrap_or_default()].map(micros);
    let Some(newest) = usable.max_by_key(|it| rank(it)) else { return Vec::new() };
    let tip = attempts.iter().find(|it| it.attempt == newest.attempt);
    tip.map_or_else(Vec::new, |tip| back_from((*tip, Some(*newest)), attempts, checkpoints))
}

fn back_from<'a>(
    tip: Link<'a>,
    attempts: &[&'a AttemptRow],
    checkpoints: &[&'a CheckpointRow],
) -> Vec<Link<'a>> {
    let mut links = vec![tip];
    let mut child = tip.0;
    while let Some(parent) = child.parent {
        let parent = attempts.iter().find(|it| it.attempt == parent);
        let is_it = |it: &&&CheckpointRow| {
            Some(it.attempt) == child.parent && Some(it.work_saved) == child.work_at_start
        };
        let (Some(parent), Some(checkpoint)) = (parent, checkpoints.iter().find(is_it)) else {
            break;
        };
        links.push((parent, Some(checkpoint)));
        child = parent;
    }
    links.reverse();
    links
}

fn attempt(
    it: &AttemptRow,
    counts: bool,
    checkpoints: &[&CheckpointRow],
    outages: &[OutageRow],
) -> Attempt {
    let usable = checkpoints.iter().filter(|c| c.attempt == it.attempt && c.available.is_some());
    let failed =
        |outage: &&OutageRow| outage.provider == it.provider && Some(outage.failed) == it.end;
    let outage = outages.iter().find(failed);
    let on_grid = OnGrid {
        parent: it.parent,
        slot_left: it.left.unwrap_or_default(),
        work_at_start: it.work_at_start.unwrap_or_default(),
        work_at_end: it.work_at_end.unwrap_or_default(),
        computing: it.computing.unwrap_or_default(),
        checkpoints: it.checkpoints.unwrap_or_default(),
        work_saved: usable.map(|c| c.work_saved).max_by(f64::total_cmp),
        counts,
    };
    Attempt {
        on_grid: Some(on_grid),
        ..Attempt::new(it, outage.and_then(|outage| outage.restored))
    }
}
