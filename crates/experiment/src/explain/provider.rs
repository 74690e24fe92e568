//! Jobs of providers: rigid ones with successive attempts, and bags with their shares.

use std::collections::BTreeMap;

use haggle_model::{AttemptOutcome, Span};
use haggle_results::reader::{AttemptRow, CrashRow, MaintenanceRow, OutageRow};
use haggle_results::{JobRow, PlacementRow, ResourceRow};
use haggle_scheduling::Scheduling;
use serde::Serialize;

use super::line::Line;
use super::queue::Others;
use super::spent::{Column, Ledger, Part, Spent, micros, seconds};
use super::starts::AttemptStart;
use super::supply::{Market, Supply, Waiting};
use super::{Chronicle, Crash, Maintained, OnGrid, Story, nodes, rules, together, workflow};
use crate::cast;

/// An attempt to run a rigid job, or a job of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempt {
    /// Its number, from 1.
    pub attempt: i64,
    /// Its provider or resource.
    pub provider: String,
    /// Its processors, held or planned.
    pub processors: i64,
    /// When it was queued there; on a grid, when it got its slot.
    pub queued: Option<f64>,
    /// When it started; `None` = it still waited.
    pub start: Option<f64>,
    /// When it ended, output included.
    pub end: Option<f64>,
    /// Its outcome, a word of the table `attempts`.
    pub outcome: String,
    /// Computing that a checkpoint saved from a lost attempt at a provider, s.
    pub saved: f64,
    /// Time in which it read or wrote checkpoints, s.
    pub checkpointing: f64,
    /// Return of the processors that failed under it; `None` = not in this run, or none failed.
    pub restored: Option<f64>,
    /// The job for which it was stopped; `None` = it was not stopped for another job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_for: Option<OtherJob>,
    /// Its fields on a grid.
    #[serde(flatten)]
    pub on_grid: Option<OnGrid>,
}

/// Another job of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OtherJob {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
}

/// A running job that was stopped for another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stopped {
    /// It.
    #[serde(flatten)]
    pub other: OtherJob,
    /// Number of its attempt.
    pub attempt: i64,
    /// Its provider.
    pub provider: String,
    /// Its processors.
    pub processors: i64,
    /// End of the attempt, s.
    pub end: f64,
    /// Work that was lost with it: its time without what checkpoints saved, x processors, processor-seconds.
    pub work_lost: f64,
}

/// The attempts that were stopped for a job, in the order of their ends.
fn stopped_for(all: &Chronicle, job: i64) -> Vec<Stopped> {
    let stopped = |it: &AttemptRow| {
        let (start, end) = it.start.zip(it.end)?;
        let lost = end - start - it.saved.unwrap_or_default() - it.checkpointing;
        Some(Stopped {
            other: OtherJob::find(all, it.job)?,
            attempt: it.attempt,
            provider: it.provider.clone(),
            processors: it.processors,
            end,
            work_lost: lost * it.processors as f64,
        })
    };
    let mine = all.attempts.iter().filter(|it| it.stopped_for == Some(job));
    let mut all = Vec::from_iter(mine.filter_map(stopped));
    all.sort_by(|a, b| a.end.total_cmp(&b.end).then(a.other.job.cmp(&b.other.job)));
    all
}

impl OtherJob {
    fn find(all: &Chronicle, job: i64) -> Option<OtherJob> {
        let it = all.jobs.iter().find(|it| it.job == job)?;
        Some(OtherJob { job, workload: it.workload.clone(), job_id: it.job_id })
    }
}

impl Attempt {
    /// An attempt; if processors failed under it, they were back at `restored`.
    pub(super) fn new(row: &AttemptRow, restored: Option<f64>) -> Attempt {
        Attempt {
            attempt: row.attempt,
            provider: row.provider.clone(),
            processors: row.processors,
            queued: row.queued,
            start: row.start,
            end: row.end,
            outcome: row.outcome.name().to_owned(),
            saved: row.saved.unwrap_or_default(),
            checkpointing: row.checkpointing,
            restored: restored.filter(|_| row.has_failed()),
            stopped_for: None,
            on_grid: None,
        }
    }
}

/// Start of a job on the machine of its log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Recorded {
    /// That start, in the time of the run; `None` if the log has no waiting time.
    pub start: Option<f64>,
}

/// A share of a bag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Provider of the share.
    pub provider: String,
    /// Its tasks.
    pub tasks: i64,
    /// When it was queued.
    pub queued: Option<f64>,
    /// When the first of its tasks that came to its end had started.
    pub start: Option<f64>,
    /// When the last of its tasks ended.
    pub end: Option<f64>,
    /// Its outcome.
    pub outcome: String,
    /// Completion promised for it.
    pub promised_end: Option<f64>,
    /// For a part that started together with others: time of their wait in which its provider had
    /// too few free processors, or could not start it, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short: Option<f64>,
    /// End of the last such time; `None` = never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_until: Option<f64>,
}

/// Tasks of a bag that ran together when their processors failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LostTasks {
    /// Provider of the tasks.
    pub provider: String,
    /// Number of tasks.
    pub tasks: i64,
    /// When they had started.
    pub start: f64,
    /// When their processors failed.
    pub end: f64,
    /// Return of these processors; `None` = not in this run.
    pub restored: Option<f64>,
}

/// A part of a job on several providers that ran although the job did not run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LostPart {
    /// Provider of the part.
    pub provider: String,
    /// Its processors.
    pub processors: i64,
    /// When it started.
    pub start: f64,
    /// When its processors failed, or when it was given up or ended.
    pub end: f64,
    /// `failed` or `given_up`.
    pub outcome: String,
    /// Return of the processors that failed under it; `None` = not in this run, or none failed.
    pub restored: Option<f64>,
}

/// Completes the story of a job of providers.
pub(super) fn tell(mut story: Story, all: &Chronicle, job: &JobRow) -> Story {
    let rows = all.resources.iter();
    story.sizes = rows.map(|it| (it.provider.clone(), it.processors)).collect();
    story.recorded = recorded(all, job);
    story.not_permitted = rules::refused(all, job);
    story.stopped = stopped_for(all, job.job);
    let mut own: Vec<&AttemptRow> = all.attempts.iter().filter(|it| it.job == job.job).collect();
    own.sort_by_key(|it| it.attempt);
    let held: Vec<&PlacementRow> = all.placements.iter().filter(|it| it.job == job.job).collect();
    let restored = |it: &AttemptRow| back(&held, it, &all.outages);
    let mut ledger = Ledger::new(job);
    let is_spread = ["spread", "iterative"].contains(&story.shape.as_str());
    let is_lost = |it: &&AttemptRow| {
        it.outcome == AttemptOutcome::GivenUp || is_spread && it.has_failed() && it.start.is_some()
    };
    let lost: Vec<&AttemptRow>;
    (lost, own) = own.into_iter().partition(is_lost);
    story.lost_parts = lost.iter().filter_map(|it| lost_part(it, restored(it))).collect();
    // The parts of a rigid job, or of an application, run together.
    if is_spread {
        story.shares = own.iter().copied().map(share).collect();
        // Without a part that counts, it waited for the places that it had last.
        let last = lost.iter().filter_map(|it| it.start).map(micros).max();
        let lasts = lost.iter().filter(|it| it.start.map(micros) == last);
        let rows = if own.is_empty() { lasts.copied().collect() } else { own.clone() };
        let parts = Vec::from_iter(rows.iter().map(|it| (it.provider.as_str(), it.processors)));
        let supply = all.market.supply(1, parts.iter().map(|&(provider, _)| provider));
        let queued = micros(job.queued.unwrap_or(job.left));
        let lost = intervals(&story.lost_parts);
        // Parts may have run before its last place was sought.
        for &(from, until) in &lost {
            tell_placing(&mut ledger, queued.min(from), &story.crashes);
            ledger.until(queued.min(until), Part::Lost);
        }
        tell_placing(&mut ledger, queued, &story.crashes);
        let start = own.first().and_then(|it| it.start).map_or(i64::MAX, micros);
        let short = together::tell(&mut ledger, &all.market, &parts, (job.ready, start), &lost);
        for (share, short) in story.shares.iter_mut().zip(short) {
            (share.short, share.short_until) = (Some(short.time()), short.until());
        }
        let waiting = Waiting::new(supply, job.ready, Part::Order);
        // All parts run at the same time, so the first one stands for all.
        tell_rigid(&mut ledger, job, waiting, &own[..own.len().min(1)], 0, |_, _| {});
    } else if story.shape == "bag" {
        // Lost attempts of a bag are numbered after its shares.
        let (shares, lost) = own.split_at(own.len().min(job.providers_used as usize));
        story.shares = shares.iter().copied().map(share).collect();
        story.lost_tasks = lost.iter().filter_map(|it| lost_tasks(it, restored(it))).collect();
        let supply = all.market.supply(1, shares.iter().map(|it| it.provider.as_str()));
        // With latency, a task may start before its metascheduler learns that the bag is placed.
        let placed = job.queued.unwrap_or(job.left).min(job.start.unwrap_or(job.left));
        tell_placing(&mut ledger, micros(placed), &story.crashes);
        tell_bag(&mut ledger, job, supply, &held);
    } else {
        let attempt = |it: &&AttemptRow| Attempt {
            stopped_for: it.stopped_for.and_then(|job| OtherJob::find(all, job)),
            ..Attempt::new(it, restored(it))
        };
        story.attempts = own.iter().map(attempt).collect();
        // A moldable job waits for the number of processors that its provider chose.
        let processors = story.size();
        let supply = all.market.supply(processors, job.provider.as_deref().into_iter());
        let queued = micros(job.queued.unwrap_or(job.left));
        // A job of a start state waited before the run began, and the tables do not have the reasons.
        ledger.until(micros(job.start.unwrap_or(job.left)).min(0), Part::Before);
        // The user keeps a task until it is ready; then its inputs are sent to its provider.
        if job.task.is_some() {
            // Never beyond the time of queueing, from which on the provider's state gives the reason.
            ledger.until(queued.min(job.ready.map_or(0, micros)), Part::NotReady);
            for (sent, arrived) in workflow::transfers(all, job) {
                tell_placing(&mut ledger, queued.min(sent), &story.crashes);
                ledger.until(queued.min(arrived), Part::Transfers);
            }
        }
        tell_placing(&mut ledger, queued, &story.crashes);
        // The last move counts: earlier places have been left.
        let moved = story.moves.last();
        // A reservation may have taken an interval before the window that its user asked for.
        let ready = story.granted.as_ref().map_or(job.ready, |granted| granted.ready);
        let mut waiting =
            Waiting::new(supply, ready, Part::Order).for_data(moved.and_then(|moved| moved.data));
        story.rules = rules::under(all, job);
        story.limits = rules::kept(all, job);
        waiting = waiting.recorded(job.recorded_start).on_nodes(nodes::missing(all, job));
        waiting = waiting.until_passes(interval(all, job));
        waiting = waiting.limited(rules::intervals(&story.limits));
        let start_up = moved.map_or(0, |moved| micros(moved.start_up));
        // The planned duration of a moldable job is unknown.
        if story.shape == "rigid" {
            let planned = planned(all, job);
            let here =
                all.maintenance.iter().filter(|it| Some(&it.provider) == job.provider.as_ref());
            waiting = waiting.before_windows(planned, here);
            story.maintenance = maintenance(all, job, planned);
        }
        let others = others(all, job);
        let mut from = micros(job.submit);
        let waiting = tell_rigid(&mut ledger, job, waiting, &own, start_up, |it, parts| {
            let start = started(job, it, from, parts, others.as_ref());
            story.starts.extend(start);
            // The next attempt begins to wait when this one ends.
            from = it.end.map_or(from, micros);
        });
        if let Some(others) = others {
            let line = others.line.as_ref();
            let last = own.last().map(|it| it.attempt).zip(line);
            story.backfilled = last.and_then(|(last, it)| it.backfilled(job.job, last));
            story.booked = last.and_then(|(last, it)| it.booked(job.job, last));
            // A job that never waited has nothing to explain.
            if !waiting.stretches.is_empty() {
                story.wait = others.during(job, waiting.stretches, &waiting.free);
            }
        }
    }
    story.parts = ledger.spent();
    story
}

/// Providers and their processors, the attempts that held these, and the outages.
pub(super) fn market(
    resources: &[ResourceRow],
    placements: &[PlacementRow],
    outages: &[OutageRow],
    crashes: &[CrashRow],
    maintenance: &[MaintenanceRow],
) -> Market {
    let places = resources.iter().map(|it| (it.provider.clone(), it.processors, 1));
    let held = placements.iter().map(|it| {
        let processors = it.last - it.first + 1;
        (it.provider.as_str(), it.start, it.end, processors)
    });
    Market::new(places, held, outages, crashes, maintenance)
}

/// Duration that the provider planned for it, s; `None` = no limit.
fn planned(all: &Chronicle, job: &JobRow) -> Option<f64> {
    let resource = all.resources.iter().find(|it| Some(&it.provider) == job.provider.as_ref());
    Some(job.limit()? / resource?.speed)
}

/// Time between the passes of its provider's scheduler, if that does not decide at each event.
fn interval(all: &Chronicle, job: &JobRow) -> Option<Span> {
    let resource = all.resources.iter().find(|it| Some(&it.provider) == job.provider.as_ref())?;
    cast::interval(&resource.scheduler)
}

/// Its start by its log, if its provider starts jobs as recorded.
fn recorded(all: &Chronicle, job: &JobRow) -> Option<Recorded> {
    let resource = all.resources.iter().find(|it| Some(&it.provider) == job.provider.as_ref())?;
    let is_recorded = resource.scheduler == Scheduling::Recorded.to_string();
    (is_recorded || job.recorded_start.is_some()).then_some(Recorded { start: job.recorded_start })
}

/// Windows of maintenance at its provider during its wait, or within its limit if it had started.
fn maintenance(all: &Chronicle, job: &JobRow, planned: Option<f64>) -> Vec<Maintained> {
    let Some((provider, queued)) = job.provider.as_ref().zip(job.queued) else { return Vec::new() };
    let until = job.start.unwrap_or(job.left);
    let ahead = planned.map_or(f64::INFINITY, |planned| until + planned);
    let met = all.maintenance.iter().filter(|it| {
        let waits = it.provider == *provider && queued < until && it.announced < until;
        waits && queued < it.end && it.start < ahead
    });
    let mut windows: Vec<Maintained> = Vec::new();
    for it in met {
        // A window has a row for each interval of processors.
        if windows.last().is_none_or(|last| last.window != it.window) {
            windows.push(Maintained {
                window: it.window,
                announced: it.announced,
                from: it.start,
                until: it.end,
                processors: it.kept(),
                refused: it.outcome == "refused",
                is_ahead: it.is_ahead(),
                possible: it.possible,
            });
        }
    }
    windows
}

/// Time before a job is queued. A crash of its holder, or of its next holder, counts as
/// `SchedulerDown`.
fn tell_placing(ledger: &mut Ledger, queued: i64, crashes: &[Crash]) {
    for crash in crashes {
        ledger.until(queued.min(micros(crash.from)), Part::Placing);
        let restart = crash.until.map_or(queued, micros);
        ledger.until(queued.min(restart), Part::SchedulerDown);
    }
    ledger.until(queued, Part::Placing);
}

/// The start of an attempt that waited from an instant on; `parts` are the parts of its wait.
fn started(
    job: &JobRow,
    it: &AttemptRow,
    from: i64,
    parts: Vec<Spent>,
    others: Option<&Others<'_>>,
) -> Option<AttemptStart> {
    let start = it.start?;
    let line = others.and_then(|others| others.line.as_ref());
    // An attempt that started when it was queued did not wait for processors.
    let queued = it.queued.is_some_and(|queued| micros(queued).max(from) < micros(start));
    let freed = others.filter(|_| queued).map(|others| others.freed_at(start));
    Some(AttemptStart {
        attempt: it.attempt,
        provider: it.provider.clone(),
        processors: it.processors,
        from,
        start,
        parts,
        freed_by: freed.into_iter().flat_map(BTreeMap::into_keys).collect(),
        backfilled: line.and_then(|line| line.backfilled(job.job, it.attempt)),
        booked: line.and_then(|line| line.booked(job.job, it.attempt)),
        is_recorded: job.recorded_start == Some(start),
    })
}

/// The time of each part that `after` adds to `before`.
fn added(before: &[Spent], after: &[Spent]) -> Vec<Spent> {
    let added = |it: &Spent| {
        let known = before.iter().find(|known| known.part == it.part);
        let less = |whole: f64, known: Option<f64>| {
            seconds(micros(whole) - micros(known.unwrap_or_default()))
        };
        let waiting = less(it.waiting, known.map(|known| known.waiting));
        let running = less(it.running, known.map(|known| known.running));
        Spent { part: it.part, waiting, running }
    };
    after.iter().map(added).collect()
}

/// A rigid job: time outside of its attempts is waiting. Each attempt begins with its start-up.
/// `starts` receives the parts of each attempt's wait.
fn tell_rigid<'a>(
    ledger: &mut Ledger,
    job: &JobRow,
    mut waiting: Waiting<'a>,
    attempts: &[&AttemptRow],
    start_up: i64,
    mut starts: impl FnMut(&AttemptRow, Vec<Spent>),
) -> Waiting<'a> {
    let mut before = Vec::new();
    for attempt in attempts {
        let (Some(start), Some(end)) = (attempt.start, attempt.end) else { continue };
        waiting.until(ledger, micros(start));
        starts(attempt, added(&before, &ledger.spent()));
        // The time for checkpoints includes the start-up.
        let start_up = start_up.min(micros(attempt.checkpointing));
        let checkpoints = micros(attempt.checkpointing) - start_up;
        // Of a lost attempt, only the saved computing is run time.
        if attempt.is_lost() {
            let known = [
                (Part::StartUp, Column::Waiting, start_up),
                (Part::Computing, Column::Running, micros(attempt.saved.unwrap_or_default())),
                (Part::Checkpoints, Column::Waiting, checkpoints),
            ];
            ledger.mixed(micros(end), &known, (Part::Lost, Column::Waiting));
        } else {
            let known = [
                (Part::StartUp, Column::Running, start_up),
                (Part::Checkpoints, Column::Running, checkpoints),
            ];
            ledger.mixed(micros(end), &known, (Part::Computing, Column::Running));
        }
        before = ledger.spent();
    }
    waiting.until(ledger, micros(job.left));
    waiting
}

/// A bag: it computes while a task runs that ends. Otherwise its time is lost while a task runs
/// that is lost, or it waits at the providers of its shares.
fn tell_bag(ledger: &mut Ledger, job: &JobRow, supply: Supply<'_>, held: &[&PlacementRow]) {
    let mut waiting = Waiting::new(supply, job.ready, Part::Order);
    let mut changes: Vec<(i64, bool, i64)> = Vec::new();
    for it in held {
        // Attempts behind the shares are lost tasks.
        let counts = it.attempt <= job.providers_used;
        changes.extend([(micros(it.start), counts, 1), (micros(it.end), counts, -1)]);
    }
    // At one instant an end comes before a start of the same kind, because its step is negative.
    changes.sort_unstable();
    let (mut kept, mut lost) = (0, 0);
    for (time, counts, step) in changes {
        match (kept, lost) {
            (0, 0) => waiting.until(ledger, time),
            (0, _) => ledger.until(time, Part::Lost),
            // While a task that counts runs, lost ones beside it cost the bag no time.
            _ => ledger.until(time, Part::Computing),
        }
        *(if counts { &mut kept } else { &mut lost }) += step;
    }
    waiting.until(ledger, micros(job.left));
}

/// Rows about other jobs at the job's provider.
fn others<'a>(all: &'a Chronicle, job: &JobRow) -> Option<Others<'a>> {
    let provider = job.provider.as_ref()?;
    let here = || all.attempts.iter().filter(|it| it.provider == *provider);
    let placements = all.placements.iter();
    let resource = all.resources.iter().find(|it| it.provider == *provider)?;
    let jobs = all.jobs.iter().map(|it| (it.job, it)).collect();
    // A part that was given up never waited in the queue.
    let queued = here().filter(|it| it.outcome != AttemptOutcome::GivenUp);
    let reserved = all.reservations.iter().map(|it| it.job).collect();
    let line = Line::of(resource, queued, (&jobs, &reserved), &all.outages, &all.maintenance);
    Some(Others {
        resource,
        attempts: here().filter(|it| it.job != job.job).collect(),
        elsewhere: rules::elsewhere(all, job),
        placements: placements.filter(|it| it.provider == *provider && it.job != job.job).collect(),
        // The tests of a line count processors only, in the order of the policy.
        line: line.filter(|it| {
            let has_rules = all.about.rules.contains_key(provider);
            it.is_for(job) && !has_rules && !all.sites.contains_key(provider)
        }),
        jobs,
    })
}

fn share(row: &AttemptRow) -> Share {
    Share {
        provider: row.provider.clone(),
        tasks: row.processors,
        queued: row.queued,
        start: row.start,
        end: row.end,
        outcome: row.outcome.name().to_owned(),
        promised_end: row.promised_end,
        short: None,
        short_until: None,
    }
}

fn lost_part(row: &AttemptRow, restored: Option<f64>) -> Option<LostPart> {
    Some(LostPart {
        provider: row.provider.clone(),
        processors: row.processors,
        start: row.start?,
        end: row.end?,
        outcome: row.outcome.name().to_owned(),
        restored: restored.filter(|_| row.has_failed()),
    })
}

/// The intervals in which parts ran in vain, in order of their starts.
fn intervals(parts: &[LostPart]) -> Vec<(i64, i64)> {
    let interval = |it: &LostPart| (micros(it.start), micros(it.end));
    let mut intervals = Vec::from_iter(parts.iter().map(interval));
    intervals.sort_unstable();
    intervals
}

fn lost_tasks(row: &AttemptRow, restored: Option<f64>) -> Option<LostTasks> {
    Some(LostTasks {
        provider: row.provider.clone(),
        tasks: row.processors,
        start: row.start?,
        end: row.end?,
        restored,
    })
}

/// When all processors that failed under an attempt had returned.
fn back(held: &[&PlacementRow], attempt: &AttemptRow, outages: &[OutageRow]) -> Option<f64> {
    let failed = outages.iter().filter(|outage| {
        let mut mine = held.iter().filter(|it| it.attempt == attempt.attempt);
        Some(outage.failed) == attempt.end
            && mine.any(|it| it.first <= outage.last && outage.first <= it.last)
    });
    // `None` if one of them did not return in this run.
    let restored: Option<Vec<f64>> = failed.map(|outage| outage.restored).collect();
    restored?.into_iter().max_by(f64::total_cmp)
}
