//! The queue of a provider, rebuilt from the tables: the jobs before another one at its start, and
//! the reason why it passed them.
//!
//! Tables have the rule of a queue, not the order in which it considered jobs. Jobs that came at
//! one instant count in the order of their numbers. The place of a job that has lost an attempt is
//! unknown.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::{AttemptRow, MaintenanceRow, OutageRow};
use haggle_results::{JobRow, ResourceRow};
use serde::Serialize;

use super::spent::{micros, seconds};
use crate::cast::{CHANGED, interval};

/// A job of a queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Queued {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Its processors.
    pub processors: i64,
    /// Its limit at this provider, s; `None` = no limit.
    pub limit: Option<f64>,
    /// When it was queued.
    pub queued: f64,
    /// When it started; `None` = it left without a start.
    pub start: Option<f64>,
}

/// A job that started although others were before it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Backfilled {
    /// The first of these.
    pub head: Queued,
    /// Number of jobs before it.
    pub passed: usize,
    /// Start of the head by the limits of running jobs; `None` if unknown.
    pub head_start: Option<f64>,
    /// Processors that the head leaves free then.
    pub left_free: Option<i64>,
    /// Test that allowed its start; `None` if the tables do not show it.
    pub test: Option<Test>,
}

/// A test of EASY backfilling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// It ends, by its limit, before the head can start.
    EndsBefore,
    /// It needs no more processors than the head leaves free when it can start.
    LeavesRoom,
}

/// Reason why a job did not start while enough processors were free.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Held {
    /// Its own booking was later and did not move.
    ByBooking(HeldByBooking),
    /// Jobs were before it.
    ByOthers(HeldByOthers),
    /// It was the first one, and would have run into the time of a part or of a reservation.
    ByPart(HeldByPart),
}

/// A job waited for its own booking, since reservations never move up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldByBooking {
    /// The instant that is examined: the beginning of the longest stretch.
    pub time: f64,
    /// Its booked start.
    pub booked: f64,
}

/// The head of a queue waited for a part of a job on several providers, or for a reservation, which was booked ahead.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldByPart {
    /// The instant that is examined: the beginning of the longest stretch.
    pub time: f64,
    /// The part or reservation, with its processors and its start.
    pub part: Queued,
    /// True if it is a reservation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_reservation: bool,
}

/// Jobs that were before another one delayed it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldByOthers {
    /// The instant that is examined: the beginning of the longest stretch.
    pub time: f64,
    /// The first of the jobs before it.
    pub head: Queued,
    /// Number of jobs before it.
    pub before: usize,
    /// Start of the head by the limits of running jobs.
    pub head_start: Option<f64>,
    /// Rule of the queue.
    pub rule: Rule,
    /// Number of jobs behind the head that a pass examines, if this job stood further back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<usize>,
}

/// The rule by which a queue lets jobs pass others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// No job passes others.
    Fcfs,
    /// A job passes if it does not delay the head.
    Easy,
    /// A job passes if it delays no booking.
    Conservative,
}

/// The start that a provider had booked for a job when it queued it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BookedStart {
    /// That start.
    pub start: f64,
    /// True if another job ended early meanwhile, for a job that started before its booking.
    pub others_ended_early: bool,
    /// Jobs that held processors at that start without a plan for it; empty if the job had started
    /// by then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub displaced_by: Vec<Displacer>,
    /// Processors that were down at that start.
    pub down: i64,
}

/// A job that held processors which had been booked for another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Displacer {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Its processors.
    pub processors: i64,
    /// Reason why it held them.
    pub how: How,
}

/// Reason why a job held processors that had been booked for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It ran past its limit.
    Overran,
    /// It ran again, after an attempt that failed.
    RanAgain,
    /// It was queued later.
    QueuedLater,
}

/// One stay in the queue: it waited from `from` to `start` and ran until `end`.
#[derive(Clone, Copy)]
struct Stay<'a> {
    job: &'a JobRow,
    attempt: &'a AttemptRow,
    from: i64,
    start: i64,
    end: i64,
    /// Planned duration; `i64::MAX` = no limit.
    span: i64,
    key: (i64, i64, i64),
    /// True if it runs again, after an attempt that failed.
    again: bool,
    /// True if its provider planned with its span.
    is_plain: bool,
    /// True if it has a place of its own: it is a part, or the first attempt in a window.
    is_booked: bool,
}

/// The queue of a provider, and its running jobs.
pub(super) struct Line<'a> {
    rule: Rule,
    /// Order of the queue; `None` if unknown.
    order: Option<Order>,
    /// True if reservations keep their places when jobs end early.
    never_compresses: bool,
    /// Number of jobs behind the head that a pass examines; `None` = all.
    depth: Option<usize>,
    /// True if the scheduler decides at multiples of an interval only.
    is_periodic: bool,
    processors: i64,
    stays: Vec<Stay<'a>>,
    /// Processors that are down: from, until, number.
    down: Vec<(i64, i64, i64)>,
    has_maintenance: bool,
}

#[derive(Clone, Copy)]
enum Order {
    Arrival,
    Shortest,
    Largest,
    Key,
}

impl<'a> Line<'a> {
    /// The queue of a provider, from its attempts; `None` if it is no plain queue.
    pub(super) fn of(
        resource: &ResourceRow,
        attempts: impl Iterator<Item = &'a AttemptRow>,
        (jobs, reserved): (&BTreeMap<i64, &'a JobRow>, &BTreeSet<i64>),
        outages: &[OutageRow],
        maintenance: &[MaintenanceRow],
    ) -> Option<Line<'a>> {
        // Rules hold for a part of the run only, and the tables do not have the plan between them.
        if resource.scheduler.contains(CHANGED) {
            return None;
        }
        let mut words = resource.scheduler.split(", ");
        let depth = words.clone().find_map(|word| word.strip_prefix("depth ")?.parse().ok());
        let rule = match words.next()? {
            "fcfs" => Rule::Fcfs,
            "easy" => Rule::Easy,
            "conservative" => Rule::Conservative,
            _ => return None,
        };
        let order = match words.next()?.strip_suffix(" order") {
            Some("arrival") => Some(Order::Arrival),
            Some("shortest") => Some(Order::Shortest),
            Some("largest") => Some(Order::Largest),
            Some("key") => Some(Order::Key),
            _ => None,
        };
        let never_compresses = words.next() == Some("none compression");
        let mine = |name: &String| *name == resource.provider;
        let down = outages.iter().filter(|it| mine(&it.provider)).map(|it| {
            let until = it.restored.map_or(i64::MAX, micros);
            (micros(it.failed), until, it.last - it.first + 1)
        });
        let mut line = Line {
            rule,
            order,
            never_compresses,
            depth,
            is_periodic: interval(&resource.scheduler).is_some(),
            processors: resource.processors,
            stays: Vec::new(),
            down: down.collect(),
            has_maintenance: maintenance.iter().any(|it| mine(&it.provider)),
        };
        let mut before: BTreeMap<i64, i64> = BTreeMap::new();
        for attempt in attempts.filter(|it| mine(&it.provider)) {
            let (Some(job), Some(queued)) = (jobs.get(&attempt.job), attempt.queued) else {
                continue;
            };
            let end = attempt.end.map_or(i64::MAX, micros);
            // Attempts of a job come in the order of their numbers, so this is the end of the one before.
            // Jobs of a start state were queued before time zero.
            let lost = before.insert(attempt.job, end).unwrap_or(i64::MIN);
            // A repeated attempt begins to wait when the one before it is lost. Parts of a job wait
            // and run at the same time.
            let from = if has_attempts(job) { lost.max(micros(queued)) } else { micros(queued) };
            let is_reserved = reserved.contains(&attempt.job);
            line.stays.push(line.stay((job, is_reserved), attempt, from, end));
        }
        Some(line)
    }

    fn stay(
        &self,
        (job, is_reserved): (&'a JobRow, bool),
        attempt: &'a AttemptRow,
        from: i64,
        end: i64,
    ) -> Stay<'a> {
        let span = job.walltime.map_or(i64::MAX, micros);
        let primary = match self.order {
            None | Some(Order::Arrival) => 0,
            Some(Order::Shortest) => span,
            // Negative, because the smallest key is first.
            Some(Order::Largest) => -attempt.processors,
            Some(Order::Key) => job.priority_key,
        };
        let start = attempt.start.map_or(i64::MAX, micros);
        // An attempt that never started holds no processors, so its end must not free any.
        let end = if attempt.start.is_some() { end } else { i64::MAX };
        // A stay without a start waits until the job leaves.
        let start = if start == i64::MAX { micros(job.left) } else { start };
        let key = (primary, micros(attempt.queued.unwrap_or_default()), job.job);
        let again = has_attempts(job) && attempt.attempt > 1;
        let is_plain = has_attempts(job) && !again && attempt.checkpointing == 0.0;
        let is_booked = !has_attempts(job) || is_reserved && !again;
        Stay { job, attempt, from, start, end, span, key, again, is_plain, is_booked }
    }

    /// True if the queue treats a job as any other.
    pub(super) fn is_for(&self, job: &JobRow) -> bool {
        has_attempts(job) && !self.stays.iter().any(|it| it.job.job == job.job && it.is_booked)
    }

    /// The last stay of a job.
    fn last(&self, job: i64) -> Option<&Stay<'a>> {
        self.stays.iter().filter(|it| it.job.job == job).max_by_key(|it| it.attempt.attempt)
    }

    /// The stay of an attempt of a job.
    fn of_attempt(&self, job: i64, attempt: i64) -> Option<&Stay<'a>> {
        self.stays.iter().find(|it| it.job.job == job && it.attempt.attempt == attempt)
    }

    /// The stays that wait before `own` at an instant, the first one first; `None` if the order is
    /// unknown. Parts and reservations have bookings, and do not stand in a queue without bookings.
    fn before(&self, own: &Stay<'_>, at: i64) -> Option<Vec<&Stay<'a>>> {
        self.order?;
        let waits = |it: &&Stay<'_>| {
            let stands = self.rule == Rule::Conservative || !it.is_booked;
            stands
                && it.from <= at
                && at < it.start
                && it.key < own.key
                && it.job.job != own.job.job
        };
        let mut before = Vec::from_iter(self.stays.iter().filter(waits));
        before.sort_by_key(|it| it.key);
        Some(before)
    }

    /// The parts and reservations that wait at an instant and start before another one, the first one first.
    fn parts_ahead(&self, at: i64, until: i64) -> Vec<&Stay<'a>> {
        let is_ahead =
            |it: &&Stay<'_>| it.is_booked && it.from <= at && at < it.start && it.start < until;
        let mut ahead = Vec::from_iter(self.stays.iter().filter(is_ahead));
        ahead.sort_by_key(|it| (it.start, it.key));
        ahead
    }

    /// The jobs that stood before a job when it was queued there.
    pub(super) fn ahead(&self, job: i64) -> Option<Vec<Queued>> {
        let own = self.last(job)?;
        let came = micros(own.attempt.queued?);
        Some(self.before(own, came)?.into_iter().map(queued).collect())
    }

    /// The jobs that an attempt passed when it started, if any.
    pub(super) fn backfilled(&self, job: i64, attempt: i64) -> Option<Backfilled> {
        let own = self.of_attempt(job, attempt).filter(|it| it.attempt.start.is_some())?;
        // In order of arrival no job passes another, and the place of a repeated attempt is unknown.
        if self.rule == Rule::Fcfs || own.again {
            return None;
        }
        let before = self.before(own, own.start)?;
        let head = before.first()?;
        let started_too = |it: &Stay<'_>| it.start == own.start && it.key < own.key;
        // Such a job may have started in an earlier pass than this one, so it is unknown who was before whom.
        if self.has_several_passes(own, own.start) && self.stays.iter().any(started_too) {
            return None;
        }
        let plan = self.plan(head, own, own.start).filter(|_| self.rule == Rule::Easy);
        let test = plan.and_then(|(start, left_free)| {
            if own.start.saturating_add(own.span) <= start {
                return Some(Test::EndsBefore);
            }
            (own.attempt.processors <= left_free).then_some(Test::LeavesRoom)
        });
        // If the plan would not have allowed the start, the scheduler had another plan.
        let plan = plan.filter(|_| test.is_some());
        Some(Backfilled {
            head: queued(head),
            passed: before.len(),
            head_start: plan.map(|it| seconds(it.0)),
            left_free: plan.map(|it| it.1),
            test,
        })
    }

    /// Reason why a job did not start at an instant, although enough processors were free.
    pub(super) fn held(&self, job: i64, at: f64) -> Option<Held> {
        let (own, time) = (self.last(job)?, micros(at));
        let booked = self
            .booked(job, own.attempt.attempt)
            // With compression, a booking may have moved up since.
            .filter(|it| self.never_compresses && at < it.start);
        // A job that started before its booking did not wait for it.
        if let Some(it) = booked.filter(|it| micros(it.start) <= own.start) {
            return Some(Held::ByBooking(HeldByBooking { time: at, booked: it.start }));
        }
        let before = self.before(own, time)?;
        let parts = self.parts_ahead(time, time.saturating_add(own.span));
        let Some(head) = before.first() else {
            let part = parts.first().filter(|_| self.rule != Rule::Conservative)?;
            let is_reservation = has_attempts(part.job);
            return Some(Held::ByPart(HeldByPart { time: at, part: queued(part), is_reservation }));
        };
        if self.rule == Rule::Easy && !parts.is_empty() {
            // Tables do not show whether the part or the head was in the way.
            return None;
        }
        let start = match self.rule {
            Rule::Easy => self.plan(head, own, time).map(|it| it.0),
            // Only EASY backfilling plans a start for the head alone.
            Rule::Fcfs | Rule::Conservative => None,
        };
        Some(Held::ByOthers(HeldByOthers {
            time: at,
            head: queued(head),
            before: before.len(),
            head_start: start.map(seconds),
            rule: self.rule,
            beyond: self.depth.filter(|&depth| before.len() > depth),
        }))
    }

    /// Start of the head of the queue by the limits of running jobs, and the processors that it
    /// then leaves free. `None` if the scheduler's plan does not follow from the tables.
    fn plan(&self, head: &Stay<'_>, own: &Stay<'_>, at: i64) -> Option<(i64, i64)> {
        let runs = |it: &&Stay<'_>| {
            let begun = it.start < at || it.start == at && it.key < own.key;
            it.attempt.start.is_some() && begun && at < it.end && it.job.job != own.job.job
        };
        let running = Vec::from_iter(self.stays.iter().filter(runs));
        let planned = |it: &&Stay<'_>| it.start.saturating_add(it.span) >= at;
        let known = running.iter().copied().chain([head, own]).all(|it| it.is_plain);
        // With an interval, the scheduler plans other ends than the limits, and is late to know of ends.
        let known = known && !self.is_periodic && !self.has_several_passes(own, at);
        // Windows, parts, checkpoints and overrun limits change plans in ways that no table shows.
        let has_parts = !self.parts_ahead(at, i64::MAX).is_empty();
        if self.has_maintenance || has_parts || !known || !running.iter().all(planned) {
            return None;
        }
        let held: i64 = running.iter().map(|it| it.attempt.processors).sum();
        let mut free = self.processors - self.down_at(at) - held;
        let mut ends = Vec::from_iter(
            running.iter().map(|it| (it.start.saturating_add(it.span), it.attempt.processors)),
        );
        ends.sort_unstable();
        let mut ends = ends.into_iter().peekable();
        let mut start = at;
        while free < head.attempt.processors {
            // Behind a job without a limit no start is known.
            let (end, processors) = ends.next().filter(|it| it.0 < i64::MAX)?;
            (start, free) = (end, free + processors);
        }
        // Processors of further ends at that instant are free, too.
        while let Some((_, processors)) = ends.next_if(|it| it.0 <= start) {
            free += processors;
        }
        Some((start, free - head.attempt.processors))
    }

    /// True if another job started and ended at an instant. Then the queue was examined more than
    /// once at it, and tables do not show the pass in which an attempt started.
    fn has_several_passes(&self, own: &Stay<'_>, at: i64) -> bool {
        let is_brief = |it: &Stay<'_>| it.attempt.start.is_some() && it.start == at && it.end == at;
        self.stays.iter().any(|it| is_brief(it) && it.job.job != own.job.job)
    }

    fn down_at(&self, at: i64) -> i64 {
        self.down.iter().filter(|it| it.0 <= at && at < it.1).map(|it| it.2).sum()
    }

    /// The start that conservative backfilling booked for an attempt when the job was queued, and
    /// the jobs that held its processors then.
    pub(super) fn booked(&self, job: i64, attempt: i64) -> Option<BookedStart> {
        let own = self
            .of_attempt(job, attempt)
            .filter(|it| self.rule == Rule::Conservative && it.is_plain && it.span < i64::MAX)?;
        let start = micros(own.job.promised_end?) - own.span;
        let is_late = start < own.start;
        let ended_early = |it: &Stay<'_>| {
            let meanwhile = own.from <= it.end && it.end <= own.start && it.job.job != own.job.job;
            let by_itself = it.is_plain && it.attempt.start.is_some() && !it.attempt.is_lost();
            meanwhile && by_itself && it.end < it.start.saturating_add(it.span)
        };
        let holds = |it: &&Stay<'_>| {
            is_late && it.start <= start && start < it.end && it.attempt.start.is_some()
        };
        let how = |it: &Stay<'_>| {
            if it.again {
                Some(How::RanAgain)
            } else if it.start.saturating_add(it.span) <= start {
                Some(How::Overran)
            } else {
                ((it.from, it.key) > (own.from, own.key)).then_some(How::QueuedLater)
            }
        };
        let displaced_by = self.stays.iter().filter(holds).filter_map(|it| {
            let Queued { job, workload, job_id, processors, .. } = queued(it);
            Some(Displacer { job, workload, job_id, processors, how: how(it)? })
        });
        Some(BookedStart {
            start: seconds(start),
            // A job moves up only if another one ends before its limit.
            others_ended_early: own.start < start && self.stays.iter().any(ended_early),
            displaced_by: displaced_by.collect(),
            down: if is_late { self.down_at(start) } else { 0 },
        })
    }
}

/// True if its attempts follow each other. Otherwise, they are parts or shares.
fn has_attempts(job: &JobRow) -> bool {
    ["rigid", "moldable"].contains(&job.shape.as_str())
}

fn queued(it: &Stay<'_>) -> Queued {
    Queued {
        job: it.job.job,
        workload: it.job.workload.clone(),
        job_id: it.job.job_id,
        processors: it.attempt.processors,
        limit: it.job.walltime,
        queued: it.attempt.queued.unwrap_or_default(),
        start: it.attempt.start,
    }
}
