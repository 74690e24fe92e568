//! Metrics of failures, and of running jobs that are stopped for others.

use haggle_model::{JobOutcome, LostRun, ProviderId, Span, Time};
use serde::{Deserialize, Serialize};

use super::{Metrics, summary};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Failures in numbers, over the whole run: a cut has no effect here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureMetrics {
    /// Failures of processors. Processors that fail together count once.
    pub outages: u64,
    /// Processor time up / processor time, from time zero to the end of the run, 0 to 1.
    /// Missing if no time went by.
    pub availability: Option<f64>,
    /// Attempts that were lost. An attempt is a rigid job, or tasks of a bag that had started together.
    pub attempts_lost: u64,
    /// All work: `work_useful` + `work_lost` + `work_checkpoints` + `work_unfinished`, processor-seconds. Where running jobs
    /// are stopped for others, it includes `work_preempted`.
    pub work: f64,
    /// Work of runs to their end or limit, including work saved in checkpoints, processor-seconds.
    pub work_useful: f64,
    /// Work that was not saved when processors failed, or that was saved for a job without result,
    /// processor-seconds. It includes parts that were given up because other parts of their jobs could not run.
    pub work_lost: f64,
    /// Reading and writing of checkpoints, processor-seconds.
    pub work_checkpoints: f64,
    /// Work that was running, or had been saved, when the run stopped, processor-seconds.
    pub work_unfinished: f64,
    /// 100 × `work_lost` / `work`: the metric `lost_work`.
    pub lost_percent_of_work: Option<f64>,
    /// Jobs that were over, or unfinished, later than promised, and jobs that failed although their
    /// completion was promised.
    pub promises_broken: u64,
    /// Broken promises of jobs that lost an attempt themselves. The other jobs had to wait for such
    /// jobs, or for processors.
    pub promises_broken_by_loss: u64,
    /// By provider.
    pub providers: Vec<ProviderFailures>,
}

/// Failures of one provider in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderFailures {
    /// Its name.
    pub name: String,
    /// Failures of its processors.
    pub outages: u64,
    /// Processor time up / processor time, 0 to 1.
    pub availability: Option<f64>,
    /// Attempts that were lost there.
    pub attempts_lost: u64,
    /// Unsaved work of these attempts, processor-seconds.
    pub work_lost: f64,
}

/// Running jobs that were stopped for others, over the whole run: a cut has no effect here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreemptionMetrics {
    /// Attempts that were stopped.
    pub attempts_preempted: u64,
    /// Unsaved work of these attempts, and saved work of jobs without result, processor-seconds.
    pub work_preempted: f64,
    /// 100 × `work_preempted` / all work: the metric `preempted_work`.
    pub preempted_percent_of_work: Option<f64>,
}

/// Data on failures so far.
#[derive(Clone, Debug)]
pub(super) struct FailureLog {
    providers: Vec<ProviderLog>,
    end: Time,
}

/// Times in microseconds, work in processor-microseconds.
#[derive(Clone, Debug, Default)]
struct ProviderLog {
    outages: u64,
    down: i64,
    /// Time up to which `down_time` has been counted.
    counted: Time,
    down_time: i128,
    attempts_lost: u64,
    work_lost: i128,
    /// Checkpoints of the attempts that were lost or stopped.
    work_checkpoints: i128,
    attempts_preempted: u64,
    work_preempted: i128,
}

impl ProviderLog {
    fn count_to(&mut self, now: Time) {
        let span = (now - self.counted).as_micros();
        self.down_time += i128::from(self.down) * i128::from(span);
        self.counted = now;
    }
}

impl FailureLog {
    /// No processor of the first `providers` providers has failed yet. The other providers are not recorded.
    pub(super) fn new(providers: usize) -> FailureLog {
        FailureLog { providers: vec![ProviderLog::default(); providers], end: Time::ZERO }
    }

    pub(super) fn failed(&mut self, now: Time, provider: ProviderId, processors: u32) {
        let Some(log) = self.providers.get_mut(provider.index()) else { return };
        // The time so far counts with the processors that were down until now.
        log.count_to(now);
        log.outages += 1;
        log.down += i64::from(processors);
    }

    pub(super) fn restored(&mut self, now: Time, provider: ProviderId, processors: u32) {
        let Some(log) = self.providers.get_mut(provider.index()) else { return };
        log.count_to(now);
        log.down -= i64::from(processors);
    }

    /// Records an attempt that was lost, or stopped for another job. With `saved_in_vain`, its saved work counts as lost, too.
    pub(super) fn run_lost(&mut self, run: &LostRun, saved_in_vain: bool) {
        let log = &mut self.providers[run.provider.index()];
        let work = |span: Span| i128::from(span.as_micros()) * i128::from(run.processors.count());
        let mut in_vain = work(run.undone());
        if saved_in_vain {
            in_vain += work(run.saved);
        }
        let (attempts, sum) = match run.stopped_for {
            Some(_) => (&mut log.attempts_preempted, &mut log.work_preempted),
            None => (&mut log.attempts_lost, &mut log.work_lost),
        };
        *attempts += 1;
        *sum += in_vain;
        log.work_checkpoints += work(run.checkpointing);
    }

    /// End of the run.
    pub(super) fn end(&self) -> Time {
        self.end
    }

    pub(super) fn run_over(&mut self, now: Time) {
        self.providers.iter_mut().for_each(|log| log.count_to(now));
        self.end = now;
    }

    /// Processor-microseconds of wasted work.
    fn work_lost(&self) -> i128 {
        self.providers.iter().map(|log| log.work_lost).sum()
    }

    fn work_checkpoints(&self) -> i128 {
        self.providers.iter().map(|log| log.work_checkpoints).sum()
    }

    /// Processor-microseconds of attempts that were stopped for other jobs.
    fn work_preempted(&self) -> i128 {
        self.providers.iter().map(|log| log.work_preempted).sum()
    }

    /// Processor-microseconds of lost and stopped attempts, without saved work.
    pub(super) fn work(&self) -> i128 {
        self.work_lost() + self.work_preempted() + self.work_checkpoints()
    }
}

/// The jobs that were stopped for others; `None` if no provider may stop any.
pub(super) fn preemptions(metrics: &Metrics) -> Option<PreemptionMetrics> {
    let providers = &metrics.cast.providers[..metrics.whole];
    if !providers.iter().any(|it| it.may_preempt) {
        return None;
    }
    let log = &metrics.failures;
    let seconds = |work: i128| work as f64 / SECOND;
    let work_preempted = seconds(log.work_preempted());
    Some(PreemptionMetrics {
        attempts_preempted: log.providers.iter().map(|log| log.attempts_preempted).sum(),
        work_preempted,
        preempted_percent_of_work: summary::ratio(100.0 * work_preempted, seconds(metrics.work())),
    })
}

pub(super) fn sum_up(metrics: &Metrics) -> Option<FailureMetrics> {
    // Failures of grids are in the summary of the grid.
    if !metrics.may_fail {
        return None;
    }
    let log = &metrics.failures;
    let seconds = |work: i128| work as f64 / SECOND;
    let time = |processors: u64| i128::from(processors) * i128::from(log.end.as_micros());
    let availability = |down: i128, processors: u64| {
        let whole = time(processors);
        (whole > 0).then(|| (whole - down) as f64 / whole as f64)
    };
    let (places, logs) = (&metrics.cast.providers[..metrics.whole], &log.providers);
    let machines = places.iter().map(|it| u64::from(it.processors)).sum();
    let down = logs.iter().map(|log| log.down_time).sum();
    let done = summary::work_done(&metrics.jobs);
    let work_lost = log.work_lost() + metrics.given_up();
    // A job that its user withdrew breaks no promise.
    let broken = metrics.jobs.iter().filter(|job| {
        let promised = job.promised_end.get();
        promised.is_some_and(|promised| job.outcome == JobOutcome::Failed || job.end > promised)
            && job.outcome != JobOutcome::Cancelled
    });
    let providers = places.iter().zip(logs);
    Some(FailureMetrics {
        outages: logs.iter().map(|log| log.outages).sum(),
        availability: availability(down, machines),
        attempts_lost: logs.iter().map(|log| log.attempts_lost).sum(),
        lost_percent_of_work: summary::ratio(100.0 * seconds(work_lost), seconds(metrics.work())),
        work: seconds(metrics.work()),
        work_useful: seconds(done.useful),
        work_lost: seconds(work_lost),
        work_checkpoints: seconds(log.work_checkpoints() + done.checkpoints),
        work_unfinished: seconds(done.unfinished),
        promises_broken: broken.clone().count() as u64,
        promises_broken_by_loss: broken.filter(|job| job.lost).count() as u64,
        providers: providers
            .map(|(place, log)| ProviderFailures {
                name: place.name.clone(),
                outages: log.outages,
                availability: availability(log.down_time, u64::from(place.processors)),
                attempts_lost: log.attempts_lost,
                work_lost: seconds(log.work_lost),
            })
            .collect(),
    })
}
