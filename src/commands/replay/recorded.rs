//! The recorded run of a replay's jobs on the machine of the log. It has the same figures by the
//! log's own waiting times (field 3), as a baseline for the policies.

use haggle_model::Job;
use haggle_model::job::Recorded;
use serde::Serialize;

use super::text::Fact;

/// Shorter run times count as this in bounded slowdowns, as in replays.
const THRESHOLD: f64 = 10.0;

/// The figures of a replay, as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Baseline {
    /// Jobs of the replay with a waiting time in the log.
    pub(super) jobs: u64,
    /// Means and maxima over these, s; the bounded slowdown has no unit.
    mean_waiting_time: f64,
    max_waiting_time: f64,
    mean_bounded_slowdown: f64,
    /// Time from the first submission to the last end, s.
    makespan: f64,
    /// Utilisation of the replay's machine over that time.
    utilisation: f64,
}

impl Baseline {
    /// The figures in the form of a replay's facts.
    pub(super) fn facts(&self) -> Vec<Fact> {
        vec![
            ("jobs", self.jobs.to_string(), ""),
            ("mean waiting time", format!("{:.2}", self.mean_waiting_time), "s"),
            ("largest waiting time", format!("{:.0}", self.max_waiting_time), "s"),
            (
                "mean bounded slowdown",
                format!("{:.3}", self.mean_bounded_slowdown),
                "threshold 10 s",
            ),
            ("makespan", format!("{:.0}", self.makespan), "s"),
            ("utilisation", format!("{:.4}", self.utilisation), ""),
        ]
    }
}

/// Sums over the jobs of a replay.
pub(super) struct Totals {
    machine: u32,
    jobs: u64,
    wait: f64,
    longest: f64,
    slowdown: f64,
    work: f64,
    first: f64,
    last: f64,
}

impl Totals {
    /// Sums without jobs, for a machine with `machine` processors.
    pub(super) fn new(machine: u32) -> Totals {
        // Neutral for the minimum and the maximum.
        let (first, last) = (f64::INFINITY, f64::NEG_INFINITY);
        Totals { machine, jobs: 0, wait: 0.0, longest: 0.0, slowdown: 0.0, work: 0.0, first, last }
    }

    /// Adds a job that the machine can run, if the log records its run.
    pub(super) fn add(&mut self, job: &Job) {
        let Some(Recorded { wait, run_time }) = job.origin.logged().recorded() else { return };
        // The replay rejects it, so its policies do not have it either.
        if job.processors > self.machine {
            return;
        }
        let (submit, wait) = (job.submit.as_secs_f64(), wait.as_secs_f64());
        let run = run_time.reveal_to_machine().as_secs_f64();
        self.jobs += 1;
        self.wait += wait;
        self.longest = self.longest.max(wait);
        // A short job without a wait would have a slowdown below 1.
        self.slowdown += ((wait + run) / run.max(THRESHOLD)).max(1.0);
        self.work += run * f64::from(job.processors);
        self.first = self.first.min(submit);
        self.last = self.last.max(submit + wait + run);
    }

    /// The figures of these sums; `None` if the log records no run.
    pub(super) fn baseline(&self) -> Option<Baseline> {
        let jobs = self.jobs as f64;
        let makespan = self.last - self.first;
        (self.jobs > 0).then(|| Baseline {
            jobs: self.jobs,
            mean_waiting_time: self.wait / jobs,
            max_waiting_time: self.longest,
            mean_bounded_slowdown: self.slowdown / jobs,
            makespan,
            // Jobs without run time at one instant have no makespan.
            utilisation: if makespan > 0.0 {
                self.work / (makespan * f64::from(self.machine))
            } else {
                0.0
            },
        })
    }
}
