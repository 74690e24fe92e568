//! Reserved time that jobs give back by ending early, and its use by other jobs.

use serde::{Deserialize, Serialize};

use super::{Metrics, summary};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Reserved time that jobs gave back because they ended before their plan, over the time of
/// `utilisation_in_window`.
///
/// At each instant, processors that were given back count as used again if they outnumber the idle
/// processors; the surplus is used. Processors that have failed or are closed count as idle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenBack {
    /// Time between the ends of jobs and the ends of their reserved time, processor-seconds.
    pub work: f64,
    /// Of that, time used by other jobs, processor-seconds.
    pub used_again: f64,
    /// 100 `used_again` / `work`.
    pub used_again_percent: f64,
}

impl GivenBack {
    /// Sums up the time between two instants, in microseconds; `None` if nothing was given back then.
    pub(super) fn of(metrics: &Metrics, (from, until): (i64, i64)) -> Option<GivenBack> {
        if metrics.jobs.iter().all(|job| job.granted().is_none()) {
            return None;
        }
        // (provider, instant, change of busy processors, change of processors given back)
        let mut changes: Vec<(u32, i64, i64, i64)> = Vec::new();
        let mut change = |provider, (start, end): (i64, i64), busy: i64, back: i64| {
            let (start, end) = (start.max(from), end.min(until));
            if start < end {
                changes.push((provider, start, busy, back));
                changes.push((provider, end, -busy, -back));
            }
        };
        for job in metrics.jobs.iter().filter(|job| job.processors > 0) {
            let Some((provider, (start, end))) = job.provider.get().zip(job.ran()) else {
                continue;
            };
            let processors = i64::from(job.processors);
            change(provider, (start, end), processors, 0);
            if let Some(granted) = job.granted().filter(|_| job.is_done()) {
                // A displaced reservation gives back the rest of its last place.
                let span = granted.displaced.last().map_or(granted.span, |it| it.span);
                change(provider, (end, start + span.as_micros()), 0, processors);
            }
        }
        changes.sort_unstable();
        let (mut work, mut again) = (0_i128, 0_i128);
        for changes in changes.chunk_by(|a, b| a.0 == b.0) {
            let processors = i64::from(metrics.cast.providers[changes[0].0 as usize].processors);
            let (mut busy, mut back, mut since) = (0, 0, from);
            for &(_, at, more_busy, more_back) in changes {
                let lasted = i128::from(at - since);
                work += lasted * i128::from(back);
                again += lasted * i128::from((back - (processors - busy)).max(0));
                (busy, back, since) = (busy + more_busy, back + more_back, at);
            }
        }
        let used_again_percent = summary::ratio(100.0 * again as f64, work as f64)?;
        let (work, used_again) = (work as f64 / SECOND, again as f64 / SECOND);
        Some(GivenBack { work, used_again, used_again_percent })
    }
}
