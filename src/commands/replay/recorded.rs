//! What became of the jobs of a replay on the machine whose log it is: the same numbers by the log's own
//! waiting times (field 3), as a baseline beside those of policies.

use std::collections::BTreeMap;
use std::path::Path;

use crate::experiment::ExperimentError;
use crate::experiment::workload::Workloads;
use crate::experiment::world::StageError;
use crate::scenario::Scenario;
use haggle_model::Span;
use haggle_model::workload::swf::{self, Malformed};
use serde::Serialize;

use super::Error;
use super::text::Fact;

/// Run times below this count as this in bounded slowdowns, as in replays.
const THRESHOLD: f64 = 10.0;

/// The numbers of a replay, as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Recorded {
    /// Jobs of the replay of which the log has a waiting time.
    pub(super) jobs: u64,
    /// Means and maxima over these, s; the bounded slowdown has no unit.
    mean_waiting_time: f64,
    max_waiting_time: f64,
    mean_bounded_slowdown: f64,
    /// From the first submission to the last end, s.
    makespan: f64,
    /// Of the machine of the replay, over that time.
    utilisation: f64,
}

impl Recorded {
    /// Those of the jobs of `scenario`, which has one workload, read from `log`, and one machine; `None`
    /// if the log has no waiting time of any.
    pub(super) fn read(scenario: &Scenario, log: &Path) -> Result<Option<Recorded>, Error> {
        let waits = waits(log)?;
        let [workload] = scenario.workloads.as_slice() else { return Ok(None) };
        let machine = scenario.providers.first().map_or(0, |machine| machine.processors);
        let workloads = Workloads::new(scenario, Path::new(""), scenario.scenario.seed);
        let open = workloads.and_then(|it| it.open(workload.name.as_str()));
        let open = open.map_err(|error| ExperimentError::Stage(StageError::from(error)))?;
        let mut all = Totals::default();
        for job in open.jobs {
            let job = job.map_err(Error::Workload)?;
            if let Some(&(wait, run)) = waits.get(&job.number)
                && job.processors <= machine
            {
                let submit = job.submit.as_secs_f64();
                all.add(submit, wait.as_secs_f64(), run.as_secs_f64(), job.processors);
            }
        }
        Ok(all.over(machine))
    }

    /// As facts of a replay are told.
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

/// How long each job of a log waited and ran, by its number.
fn waits(log: &Path) -> Result<BTreeMap<i64, (Span, Span)>, Error> {
    let mut waits = BTreeMap::new();
    let reader = swf::open(log, Malformed::Skip).map_err(|error| Error::Workload(error.into()))?;
    for record in reader {
        let record = record.map_err(|error| Error::Workload(error.into()))?;
        if record.wait >= Span::ZERO && record.run_time >= Span::ZERO {
            waits.insert(record.number, (record.wait, record.run_time));
        }
    }
    Ok(waits)
}

/// Sums over jobs.
struct Totals {
    jobs: u64,
    wait: f64,
    longest: f64,
    slowdown: f64,
    work: f64,
    first: f64,
    last: f64,
}

impl Default for Totals {
    fn default() -> Totals {
        let (first, last) = (f64::INFINITY, f64::NEG_INFINITY);
        Totals { jobs: 0, wait: 0.0, longest: 0.0, slowdown: 0.0, work: 0.0, first, last }
    }
}

impl Totals {
    fn add(&mut self, submit: f64, wait: f64, run: f64, processors: u32) {
        self.jobs += 1;
        self.wait += wait;
        self.longest = self.longest.max(wait);
        self.slowdown += ((wait + run) / run.max(THRESHOLD)).max(1.0);
        self.work += run * f64::from(processors);
        self.first = self.first.min(submit);
        self.last = self.last.max(submit + wait + run);
    }

    fn over(self, machine: u32) -> Option<Recorded> {
        let jobs = self.jobs as f64;
        let makespan = self.last - self.first;
        (self.jobs > 0).then(|| Recorded {
            jobs: self.jobs,
            mean_waiting_time: self.wait / jobs,
            max_waiting_time: self.longest,
            mean_bounded_slowdown: self.slowdown / jobs,
            makespan,
            utilisation: if makespan > 0.0 {
                self.work / (makespan * f64::from(machine))
            } else {
                0.0
            },
        })
    }
}
