//! The queue in which a rigid job waited: jobs ahead of it, holders of processors, and jobs that
//! passed it.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::AttemptRow;
use haggle_results::{JobRow, PlacementRow, ResourceRow};
use serde::Serialize;

use super::line::{Held, Line, Queued};
use super::supply::Free;

/// Events at the provider while the job waited there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wait {
    /// Intervals in which it waited, s; several if attempts were lost.
    pub stretches: Vec<(f64, f64)>,
    /// Processors of the provider.
    pub processors: i64,
    /// Its local scheduler.
    pub scheduler: String,
    /// Jobs that were before it when it came, in this order. If the tables do not show the order of
    /// the queue: all jobs that waited there.
    pub ahead: Vec<Queued>,
    /// Numbers of the jobs in `ahead` that still waited at its last start, or when it left.
    pub passed: Vec<i64>,
    /// Reason why it did not start in the longest stretch with enough free processors, if known.
    pub held: Option<Held>,
    /// Fewest free processors.
    pub free_min: i64,
    /// Most free processors.
    pub free_max: i64,
    /// Mean of the free processors over time.
    pub free_mean: f64,
    /// Time in which at least its own number of processors were free, s.
    pub enough: f64,
    /// The longest stretch with enough free processors.
    pub longest_enough: Option<(f64, f64)>,
    /// Jobs that gave back processors at the instant of its last start, by number.
    pub freed_by: Vec<i64>,
    /// Processors that these gave back.
    pub freed_at_start: i64,
    /// Holders of processors during the wait, most processor-seconds first.
    pub holders: Vec<Holder>,
    /// Jobs that were queued later there and started earlier, in order of start.
    pub overtakers: Vec<Overtaker>,
}

/// A job that held processors while the other waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Holder {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Most processors that it held at a time.
    pub processors: i64,
    /// When it began to hold some.
    pub start: f64,
    /// When it gave back the last.
    pub end: f64,
    /// Processor-seconds within the wait.
    pub held: f64,
}

/// A job that was queued later and started earlier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overtaker {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Its processors; of a bag, its tasks there.
    pub processors: i64,
    /// Its user's limit, s.
    pub requested_time: Option<f64>,
    /// When it was queued.
    pub queued: f64,
    /// When it started.
    pub start: f64,
}

/// A provider's tables, of all jobs but the one that is explained.
pub(super) struct Others<'a> {
    pub(super) resource: &'a ResourceRow,
    pub(super) jobs: BTreeMap<i64, &'a JobRow>,
    pub(super) attempts: Vec<&'a AttemptRow>,
    pub(super) placements: Vec<&'a PlacementRow>,
    /// Jobs that wait for other nodes than this one.
    pub(super) elsewhere: BTreeSet<i64>,
    /// Its queue, if it is a plain queue.
    pub(super) line: Option<Line<'a>>,
}

impl Others<'_> {
    /// Events at the provider while `job` waited.
    pub(super) fn during(
        &self,
        job: &JobRow,
        stretches: Vec<(f64, f64)>,
        free: &Free,
    ) -> Option<Wait> {
        let (came, &(_, until)) = (job.queued?, stretches.last()?);
        let (free_min, free_max) = free.range?;
        let line = self.line.as_ref();
        let ahead = line.and_then(|it| it.ahead(job.job)).unwrap_or_else(|| self.waiting_at(came));
        let waits = |it: &&Queued| {
            // A job that never started waited until it left.
            it.start.is_none_or(|start| start > until) && {
                let left = self.jobs.get(&it.job).map_or(f64::INFINITY, |job| job.left);
                it.start.is_some() || left > until
            }
        };
        let passed = ahead.iter().filter(waits).map(|it| it.job).collect();
        let held = free.longest().and_then(|(from, _)| line?.held(job.job, from));
        let freed_by = job.start.map(|start| self.freed_at(start)).unwrap_or_default();
        Some(Wait {
            processors: self.resource.processors,
            scheduler: self.resource.scheduler.clone(),
            ahead,
            passed,
            held,
            free_min,
            free_max,
            free_mean: free.mean(),
            enough: free.enough(),
            longest_enough: free.longest(),
            freed_at_start: freed_by.values().sum(),
            freed_by: freed_by.into_keys().collect(),
            holders: self.holders(&stretches),
            overtakers: self.overtakers(came, &stretches),
            stretches,
        })
    }

    /// The jobs that gave back processors at an instant, with the numbers. Work that also began at
    /// this instant is left out: it may have come later than the job that started then.
    pub(super) fn freed_at(&self, at: f64) -> BTreeMap<i64, i64> {
        let mut freed: BTreeMap<i64, i64> = BTreeMap::new();
        for it in self.placements.iter().filter(|it| it.start < at && it.end == at) {
            *freed.entry(it.job).or_default() += it.last - it.first + 1;
        }
        freed
    }

    /// Jobs that waited here at an instant, in order of queueing. For jobs that came at one
    /// instant, tables do not show the order.
    fn waiting_at(&self, came: f64) -> Vec<Queued> {
        let mut stays: BTreeMap<i64, Queued> = BTreeMap::new();
        for it in self.rivals() {
            let (Some(queued), Some(job)) = (it.queued, self.jobs.get(&it.job)) else { continue };
            let stay = stays.entry(it.job).or_insert_with(|| Queued {
                job: it.job,
                workload: job.workload.clone(),
                job_id: job.job_id,
                processors: it.processors,
                limit: job.walltime,
                queued,
                start: it.start,
            });
            stay.queued = stay.queued.min(queued);
            // The earliest start of several attempts or parts.
            stay.start = [stay.start, it.start].into_iter().flatten().reduce(f64::min);
        }
        let left = |it: &Queued| self.jobs.get(&it.job).map_or(f64::INFINITY, |job| job.left);
        stays.retain(|_, it| it.queued < came && it.start.unwrap_or_else(|| left(it)) > came);
        let mut waiting = Vec::from_iter(stays.into_values());
        waiting.sort_by(|a, b| a.queued.total_cmp(&b.queued).then(a.job.cmp(&b.job)));
        waiting
    }

    /// The attempts of jobs that wait for the same nodes.
    fn rivals(&self) -> impl Iterator<Item = &AttemptRow> {
        self.attempts.iter().copied().filter(|it| !self.elsewhere.contains(&it.job))
    }

    fn holders(&self, stretches: &[(f64, f64)]) -> Vec<Holder> {
        let mut holders: BTreeMap<i64, (Holder, Vec<(f64, i64)>)> = BTreeMap::new();
        for it in &self.placements {
            let overlap =
                |&(from, until): &(f64, f64)| (it.end.min(until) - it.start.max(from)).max(0.0);
            let time: f64 = stretches.iter().map(overlap).sum();
            // A holder outside of the wait took nothing from this job.
            let Some(job) = self.jobs.get(&it.job).filter(|_| time > 0.0) else { continue };
            let count = it.last - it.first + 1;
            let (holder, steps) = holders.entry(it.job).or_insert_with(|| {
                let (start, end) = (it.start, it.end);
                let (workload, job_id) = (job.workload.clone(), job.job_id);
                let none =
                    Holder { job: it.job, workload, job_id, processors: 0, start, end, held: 0.0 };
                (none, Vec::new())
            });
            holder.start = holder.start.min(it.start);
            holder.end = holder.end.max(it.end);
            holder.held += time * count as f64;
            steps.extend([(it.start, count), (it.end, -count)]);
        }
        let widest = |(mut holder, steps): (Holder, Vec<(f64, i64)>)| {
            holder.processors = peak(steps);
            holder
        };
        let mut holders: Vec<Holder> = holders.into_values().map(widest).collect();
        // Of equal holders the lower number first, so that the order is the same in every run.
        holders.sort_by(|a, b| b.held.total_cmp(&a.held).then(a.job.cmp(&b.job)));
        holders
    }

    fn overtakers(&self, came: f64, stretches: &[(f64, f64)]) -> Vec<Overtaker> {
        let mut overtakers: BTreeMap<i64, Overtaker> = BTreeMap::new();
        for it in self.rivals() {
            let (Some(queued), Some(start)) = (it.queued, it.start) else { continue };
            let meanwhile = stretches.iter().any(|&(from, until)| start >= from && start < until);
            let Some(job) = self.jobs.get(&it.job).filter(|_| meanwhile && queued > came) else {
                continue;
            };
            let overtaker = overtakers.entry(it.job).or_insert_with(|| Overtaker {
                job: it.job,
                workload: job.workload.clone(),
                job_id: job.job_id,
                processors: it.processors,
                requested_time: job.limit(),
                queued,
                start,
            });
            // Only its first start passed this job.
            overtaker.start = overtaker.start.min(start);
        }
        let mut overtakers: Vec<Overtaker> = overtakers.into_values().collect();
        overtakers.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.job.cmp(&b.job)));
        overtakers
    }
}

/// The highest level of steps; at one instant, ends precede starts.
fn peak(mut steps: Vec<(f64, i64)>) -> i64 {
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let level = |level: &mut i64, (_, step): (f64, i64)| {
        *level += step;
        Some(*level)
    };
    steps.into_iter().scan(0, level).max().unwrap_or(0)
}
