//! A run in numbers: `summary.json`.

use std::collections::BTreeMap;

use haggle_model::{JobClass, JobOutcome};
use serde::{Deserialize, Serialize};

use super::{Cut, Distribution, Extent, Metrics, Sample, bounded_slowdown};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// A run in numbers. The first fields are the keys of Batsim's `schedule.json`; unlike
/// there, means are divided by the jobs they are taken over, those that started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Last end - first submission, s; missing if no job ran.
    pub makespan: Option<f64>,
    /// Largest slowdown.
    pub max_slowdown: Option<f64>,
    /// Largest turnaround time, s.
    pub max_turnaround_time: Option<f64>,
    /// Largest waiting time, s.
    pub max_waiting_time: Option<f64>,
    /// Mean bounded slowdown.
    pub mean_bounded_slowdown: Option<f64>,
    /// Mean slowdown.
    pub mean_slowdown: Option<f64>,
    /// Mean turnaround time, s.
    pub mean_turnaround_time: Option<f64>,
    /// Mean waiting time, s.
    pub mean_waiting_time: Option<f64>,
    /// Processors of all providers.
    pub nb_computing_machines: u64,
    /// Jobs.
    pub nb_jobs: u64,
    /// Jobs that were not rejected.
    pub nb_jobs_finished: u64,
    /// Jobs that were withdrawn or stopped at their limit.
    pub nb_jobs_killed: u64,
    /// Jobs that were refused.
    pub nb_jobs_rejected: u64,
    /// Jobs that ran to their end.
    pub nb_jobs_success: u64,
    /// nb_jobs_success / nb_jobs; missing if there was no job.
    pub success_rate: Option<f64>,
    /// Σ run time × processors over the whole run, processor-seconds.
    pub time_computing: f64,
    /// nb_computing_machines × makespan - time_computing, processor-seconds.
    pub time_idle: f64,

    /// time_computing / (nb_computing_machines × makespan).
    pub utilisation: Option<f64>,
    /// Share of processor time used between the ends of the cut; without a cut, the utilisation.
    pub utilisation_in_window: Option<f64>,
    /// T in the definition of the bounded slowdown, s.
    pub bounded_slowdown_threshold: f64,
    /// Which jobs were left out of counts and distributions.
    pub cut: Cut,
    /// How many jobs were left out.
    pub jobs_cut: u64,
    /// All jobs.
    pub all: Group,
    /// By who placed them.
    pub classes: Vec<Group>,
    /// By the provider that ran them or queued them last.
    pub providers: Vec<Group>,
    /// By workload.
    pub workloads: Vec<Group>,
}

/// Some of a run's jobs in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// Processors of the provider, or of all for other groups.
    pub processors: u64,
    /// How they ended.
    pub outcomes: Outcomes,
    /// Σ run time × processors, processor-seconds. Cut jobs do not count.
    pub processor_seconds: f64,
    /// Σ run time × processors / (processors × makespan of the run), cut jobs included;
    /// for classes and workloads their share of it, so that shares add up.
    pub utilisation: Option<f64>,
    /// Start - submission, s.
    pub waiting_time: Option<Distribution>,
    /// End - submission, s.
    pub turnaround_time: Option<Distribution>,
    /// Turnaround / run time.
    pub slowdown: Option<Distribution>,
    /// max(1, turnaround / max(run time, T)).
    pub bounded_slowdown: Option<Distribution>,
    /// Mean turnaround weighted by run time × processors, s.
    pub average_weighted_response_time: Option<f64>,
}

/// How many jobs ended how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// All of them.
    pub jobs: u64,
    /// Ran to their end.
    pub completed: u64,
    /// Stopped when their requested time was over.
    pub walltime_reached: u64,
    /// Withdrawn while they waited.
    pub cancelled: u64,
    /// Refused.
    pub rejected: u64,
    /// Refused, by reason.
    pub refusals: BTreeMap<String, u64>,
    /// Jobs whose completion was promised.
    pub promises: u64,
    /// Completed jobs that ended later than promised.
    pub promises_broken: u64,
}

pub(super) fn summarise(metrics: &Metrics) -> Summary {
    let span = run_span(&metrics.jobs);
    let machines: u64 = metrics.providers.iter().map(|(_, size)| u64::from(*size)).sum();
    let window = window(metrics, span);
    let (first, last) = window.submissions;
    let kept: Vec<&Sample> = window.kept.iter().map(|&i| &metrics.jobs[i]).collect();

    let makespan = span.map(|(first, last)| (last - first) as f64 / SECOND);
    let used =
        |busy: f64, processors: u64| ratio(busy, processors as f64 * makespan.unwrap_or(0.0));
    let share = used(busy(metrics.jobs.iter(), i64::MIN, i64::MAX), machines);
    let all = describe(metrics, "all", machines, share, kept.iter().copied());
    // One pass over the jobs however many groups there are.
    let groups = |named: Vec<(&str, u64)>, group_of: &dyn Fn(&Sample) -> Option<usize>| {
        let mut members: Vec<Vec<&Sample>> = vec![Vec::new(); named.len()];
        let mut work = vec![0_i128; named.len()];
        for job in &kept {
            if let Some(group) = group_of(job) {
                members[group].push(job);
            }
        }
        for job in &metrics.jobs {
            if let Some(group) = group_of(job) {
                work[group] += job_work(job, i64::MIN, i64::MAX);
            }
        }
        let describe =
            |((name, processors), (members, work)): ((&str, u64), (Vec<&Sample>, i128))| {
                let utilisation = used(work as f64 / SECOND, processors);
                if members.len() == kept.len() {
                    // One workload or one provider is the usual case: sorting everything again is not.
                    let name = name.to_owned();
                    return Group { name, processors, utilisation, ..all.clone() };
                }
                describe(metrics, name, processors, utilisation, members.into_iter())
            };
        named.into_iter().zip(members.into_iter().zip(work)).map(describe).collect::<Vec<_>>()
    };
    let classes = [JobClass::Local, JobClass::External];
    let classes = groups(classes.map(|class| (class.name(), machines)).to_vec(), &|job| {
        classes.iter().position(|&class| class == job.class)
    });
    let named = metrics.providers.iter().map(|(name, size)| (name.as_str(), u64::from(*size)));
    let providers = groups(named.collect(), &|job| job.provider.map(|it| it as usize));
    let named = metrics.workloads.iter().map(|name| (name.as_str(), machines));
    let workloads = groups(named.collect(), &|job| Some(usize::from(job.workload)));

    let computing = busy(metrics.jobs.iter(), i64::MIN, i64::MAX);
    let capacity = machines as f64 * makespan.unwrap_or(0.0);
    let in_window = busy(metrics.jobs.iter(), first, last);
    let counts = &all.outcomes;
    Summary {
        makespan,
        max_slowdown: all.slowdown.map(|it| it.max),
        max_turnaround_time: all.turnaround_time.map(|it| it.max),
        max_waiting_time: all.waiting_time.map(|it| it.max),
        mean_bounded_slowdown: all.bounded_slowdown.map(|it| it.mean),
        mean_slowdown: all.slowdown.map(|it| it.mean),
        mean_turnaround_time: all.turnaround_time.map(|it| it.mean),
        mean_waiting_time: all.waiting_time.map(|it| it.mean),
        nb_computing_machines: machines,
        nb_jobs: counts.jobs,
        nb_jobs_finished: counts.jobs - counts.rejected,
        nb_jobs_killed: counts.cancelled + counts.walltime_reached,
        nb_jobs_rejected: counts.rejected,
        nb_jobs_success: counts.completed,
        success_rate: ratio(counts.completed as f64, counts.jobs as f64),
        time_computing: computing,
        time_idle: capacity - computing,
        utilisation: ratio(computing, capacity),
        utilisation_in_window: ratio(
            in_window,
            machines as f64 * (last.saturating_sub(first) as f64 / SECOND),
        ),
        bounded_slowdown_threshold: metrics.options.bounded_slowdown_threshold.as_secs_f64(),
        cut: metrics.options.cut,
        jobs_cut: (metrics.jobs.len() - kept.len()) as u64,
        classes: classes.into_iter().filter(|group| group.outcomes.jobs > 0).collect(),
        providers,
        workloads,
        all: all.clone(),
    }
}

/// First submission of any job and last end of those that ran; `None` if none did.
fn run_span(jobs: &[Sample]) -> Option<(i64, i64)> {
    let first = jobs.iter().map(|job| job.submit).min()?;
    let last = jobs.iter().filter_map(|job| job.ran()).map(|(_, end)| end).max()?;
    Some((first, last))
}

struct Window {
    /// From when to when `utilisation_in_window` is taken.
    submissions: (i64, i64),
    /// Places of the jobs that are left.
    kept: Vec<usize>,
}

fn window(metrics: &Metrics, span: Option<(i64, i64)>) -> Window {
    let jobs = &metrics.jobs;
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&i| jobs[i].submit);
    let (Some(&first), Some(&last)) = (order.first(), order.last()) else {
        return Window { submissions: (0, 0), kept: order };
    };
    let mut from = 0;
    let mut to = jobs.len();
    let (mut begin, mut end) = span.unwrap_or((jobs[first].submit, jobs[last].submit));
    match metrics.options.cut.warm_up {
        Extent::Nothing => {}
        Extent::Seconds(seconds) => {
            begin = jobs[first].submit.saturating_add((seconds * SECOND) as i64);
            from = order.partition_point(|&i| jobs[i].submit < begin);
        }
        Extent::Share(share) => {
            from = ((share * jobs.len() as f64) as usize).min(jobs.len());
            begin = order.get(from).map_or(end, |&i| jobs[i].submit);
        }
    }
    match metrics.options.cut.cool_down {
        Extent::Nothing => {}
        Extent::Seconds(seconds) => {
            end = jobs[last].submit.saturating_sub((seconds * SECOND) as i64);
            to = order.partition_point(|&i| jobs[i].submit <= end);
        }
        Extent::Share(share) => {
            to -= ((share * jobs.len() as f64) as usize).min(jobs.len());
            end = to.checked_sub(1).map_or(begin, |i| jobs[order[i]].submit);
        }
    }
    let kept = order.get(from..to).unwrap_or(&[]).to_vec();
    Window { submissions: (begin, end.max(begin)), kept }
}

/// Processor-seconds used between two instants.
fn busy<'a>(jobs: impl Iterator<Item = &'a Sample>, from: i64, to: i64) -> f64 {
    // Summed as integers, so that the order does not matter.
    jobs.map(|job| job_work(job, from, to)).sum::<i128>() as f64 / SECOND
}

/// Processor-microseconds a job used between two instants.
fn job_work(job: &Sample, from: i64, to: i64) -> i128 {
    let Some((start, end)) = job.ran() else { return 0 };
    let span = end.min(to).saturating_sub(start.max(from)).max(0);
    i128::from(span) * i128::from(job.processors)
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn describe<'a>(
    metrics: &Metrics,
    name: &str,
    processors: u64,
    utilisation: Option<f64>,
    jobs: impl Iterator<Item = &'a Sample>,
) -> Group {
    let threshold = metrics.options.bounded_slowdown_threshold.as_micros();
    let mut outcomes = Outcomes::default();
    let mut waiting = Vec::new();
    let mut turnaround = Vec::new();
    let mut slowdown = Vec::new();
    let mut bounded = Vec::new();
    let (mut weight, mut weighted) = (0_i128, 0.0);
    for job in jobs {
        outcomes.count(job);
        let Some((start, end)) = job.ran() else {
            continue;
        };
        let (run, total) = (end - start, end - job.submit);
        waiting.push((start - job.submit) as f64 / SECOND);
        turnaround.push(total as f64 / SECOND);
        if run > 0 {
            slowdown.push(total as f64 / run as f64);
        }
        bounded.push(bounded_slowdown(total, run, threshold));
        let area = i128::from(run) * i128::from(job.processors);
        weight += area;
        weighted += area as f64 * (total as f64 / SECOND);
    }
    Group {
        name: name.to_owned(),
        processors,
        outcomes,
        processor_seconds: weight as f64 / SECOND,
        utilisation,
        waiting_time: Distribution::of(waiting),
        turnaround_time: Distribution::of(turnaround),
        slowdown: Distribution::of(slowdown),
        bounded_slowdown: Distribution::of(bounded),
        average_weighted_response_time: ratio(weighted, weight as f64),
    }
}

impl Outcomes {
    fn count(&mut self, job: &Sample) {
        self.jobs += 1;
        match job.outcome {
            JobOutcome::Completed => self.completed += 1,
            JobOutcome::WalltimeReached => self.walltime_reached += 1,
            JobOutcome::Cancelled => self.cancelled += 1,
            JobOutcome::Rejected(refusal) => {
                self.rejected += 1;
                *self.refusals.entry(refusal.name().to_owned()).or_default() += 1;
            }
        }
        if let Some(promised) = job.promised_end {
            self.promises += 1;
            let broken = job.outcome == JobOutcome::Completed && job.end > promised;
            self.promises_broken += u64::from(broken);
        }
    }
}
