//! Which jobs of two runs are the same: workload, number, submission, processors, request, and
//! run time as far as the tables tell it.

use std::collections::BTreeMap;

use haggle_model::AttemptOutcome;
use haggle_results::{JobRow, ResultsError, RunReader};

/// The jobs of two runs, side by side.
pub(super) struct Pairs<'a> {
    /// The same job in both.
    pub(super) same: Vec<(&'a JobRow, &'a JobRow)>,
    /// One number, but two jobs.
    pub(super) other: Vec<&'a JobRow>,
    pub(super) only_in_a: Vec<&'a JobRow>,
    pub(super) only_in_b: Vec<&'a JobRow>,
}

/// Pairs the jobs of two runs by workload and number in it.
pub(super) fn pairs<'a>(
    (run_a, a): (&RunReader, &'a [JobRow]),
    (run_b, b): (&RunReader, &'a [JobRow]),
) -> Result<Pairs<'a>, ResultsError> {
    let (times_a, times_b) = (run_times(run_a, a)?, run_times(run_b, b)?);
    let key = |job: &'a JobRow| ((job.workload.as_str(), job.job_id), job);
    let in_a: BTreeMap<_, &JobRow> = a.iter().map(key).collect();
    let in_b: BTreeMap<_, &JobRow> = b.iter().map(key).collect();
    let only_in_b = in_b.iter().filter(|(key, _)| !in_a.contains_key(*key));
    let only_in_b = only_in_b.map(|(_, job)| *job).collect();
    let mut pairs = Pairs { same: Vec::new(), other: Vec::new(), only_in_a: Vec::new(), only_in_b };
    for (key, a) in in_a {
        match in_b.get(&key) {
            None => pairs.only_in_a.push(a),
            Some(b) if is_same(a, b) && times_a.of(a).may_be(times_b.of(b)) => {
                pairs.same.push((a, b));
            }
            Some(_) => pairs.other.push(a),
        }
    }
    Ok(pairs)
}

/// Whether two jobs were submitted as one would be.
fn is_same(a: &JobRow, b: &JobRow) -> bool {
    a.submit == b.submit
        && a.processors == b.processors
        && a.requested_time == b.requested_time
        && a.shape == b.shape
}

/// A run time on the reference processor, s, as far as it is known.
#[derive(Clone, Copy)]
struct RunTime {
    low: f64,
    high: f64,
}

impl RunTime {
    const UNKNOWN: RunTime = RunTime { low: 0.0, high: f64::INFINITY };

    /// What took so long at a provider of this speed, where times are rounded up to a microsecond;
    /// each attempt may have been.
    fn rounded(seconds: f64, speed: f64, attempts: i64) -> RunTime {
        let microseconds = (attempts + 1) as f64 * 1e-6;
        RunTime { low: (seconds - microseconds) * speed, high: (seconds + microseconds) * speed }
    }

    fn may_be(self, other: RunTime) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

struct RunTimes(BTreeMap<i64, RunTime>);

impl RunTimes {
    fn of(&self, job: &JobRow) -> RunTime {
        self.0.get(&job.job).copied().unwrap_or(RunTime::UNKNOWN)
    }
}

/// The run times of rigid jobs that came to an end of their own: what they computed in all attempts, or
/// what one on a grid had done.
fn run_times(run: &RunReader, jobs: &[JobRow]) -> Result<RunTimes, ResultsError> {
    let resources = run.resources()?.into_iter();
    let speeds: BTreeMap<String, f64> = resources.map(|it| (it.provider, it.speed)).collect();
    let mut computed: BTreeMap<i64, f64> = BTreeMap::new();
    let mut times: BTreeMap<i64, RunTime> = BTreeMap::new();
    for it in run.attempts()? {
        let done = it.work_at_end.filter(|_| it.outcome == AttemptOutcome::Completed);
        if let Some(done) = done {
            times.insert(it.job, RunTime { low: done, high: done });
        } else if let (None, Some(start), Some(end)) = (it.slot(), it.start, it.end) {
            let seconds = match it.saved.filter(|_| it.has_failed()) {
                Some(saved) => saved,
                None => end - start - it.checkpointing,
            };
            *computed.entry(it.job).or_default() += seconds;
        }
    }
    for job in jobs.iter().filter(|it| it.outcome == "completed" && it.shape == "rigid") {
        let speed = job.provider.as_ref().and_then(|provider| speeds.get(provider));
        if let (Some(&seconds), Some(&speed)) = (computed.get(&job.job), speed) {
            times.insert(job.job, RunTime::rounded(seconds, speed, job.attempts));
        }
    }
    Ok(RunTimes(times))
}
