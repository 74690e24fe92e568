//! The model of workflows whose tasks report their progress.
//!
//! What is drawn for a workflow depends on the seed, the workload and the workflow's number, for
//! each purpose by itself: workflows of another width, or with other estimates, come at the same
//! times.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::progress::{EstimateError, Progress, Side, WorkflowTask};
use haggle_model::random::{Stream, stream};
use haggle_model::{Job, Span, Time};
use haggle_scheduling::grid::workflows::WorkflowId;
use haggle_workflows::{Builder, GraphError, Task, Workflow};
use rand::RngExt;

use crate::scenario::file::{self, TaskEstimates, Underestimate};

const HOUR: f64 = 3_600.0;

/// A workflow before a run.
struct Drawn {
    submit: Time,
    tasks: Vec<DrawnTask>,
}

struct DrawnTask {
    run: Span,
    progress: Option<Progress>,
}

impl file::Workflows {
    /// The tasks of all workflows as jobs, in the order in which they are submitted.
    pub fn to_jobs(&self, workload: &str, seed: u64) -> Vec<Job> {
        let mut drawn: Vec<(u32, Drawn)> =
            (0..self.count).map(|number| (number, self.draw(workload, seed, number))).collect();
        drawn.sort_by_key(|(_, workflow)| workflow.submit);
        let mut jobs = Vec::new();
        for (workflow, Drawn { submit, tasks }) in drawn {
            for (task, DrawnTask { run, progress }) in (0..).zip(tasks) {
                let told = self.progress.is_none_or(|it| it.a_priori);
                let length = progress.map_or(run, |it| Span::from_secs_f64(it.a_priori()));
                jobs.push(Job {
                    requested_time: told.then_some(length),
                    task: Some(Arc::new(WorkflowTask { workflow, task, progress })),
                    ..Job::new(jobs.len() as u32, submit, 1, run)
                });
            }
        }
        jobs
    }

    /// The graphs of all workflows of the workload with this number in the scenario.
    ///
    /// # Errors
    /// If a workflow is too long to be counted.
    pub fn graphs(
        &self,
        (place, workload): (u16, &str),
        seed: u64,
    ) -> Result<BTreeMap<WorkflowId, Arc<Workflow>>, GraphError> {
        let graph = |number| {
            let Drawn { tasks, .. } = self.draw(workload, seed, number);
            let graph = fork_join(&format!("{workload} {number}"), &tasks)?;
            Ok((WorkflowId { workload: place, number }, Arc::new(graph)))
        };
        (0..self.count).map(graph).collect()
    }

    fn draw(&self, workload: &str, seed: u64, number: u32) -> Drawn {
        let name = format!("workflow {number} of {workload}");
        let draws = |purpose: &str| stream(seed, &name, purpose);
        let widths = self.width..=self.width_max.unwrap_or(self.width).max(self.width);
        let width = draws("width").random_range(widths);
        let (mut lengths, mut estimates) = (draws("lengths"), draws("estimates"));
        let mean = self.work.0.as_secs_f64();
        let spread = self.spread.fraction();
        let ends = mean * self.ends.fraction();
        let middle: Vec<f64> =
            (0..width).map(|_| mean * lengths.random_range(1.0 - spread..=1.0 + spread)).collect();
        let all = [ends].into_iter().chain(middle).chain([ends]);
        let task = |length: f64| match &self.progress {
            None => DrawnTask { run: span(length), progress: None },
            Some(progress) => progress.draw(length, &mut estimates),
        };
        Drawn { submit: self.arrival(&mut draws("arrival")), tasks: all.map(task).collect() }
    }

    fn arrival(&self, draws: &mut Stream) -> Time {
        let day = f64::from(draws.random_range(0..self.days));
        let even = vec![1.0; 24];
        let hours = self.hours.as_ref().unwrap_or(&even);
        let mut left = draws.random_range(0.0..1.0) * hours.iter().sum::<f64>();
        let mut hour = 0;
        while hour < 23 && left >= hours[hour] {
            left -= hours[hour];
            hour += 1;
        }
        let within: f64 = draws.random_range(0.0..1.0);
        Time::ZERO + Span::from_secs_f64((day * 24.0 + hour as f64 + within) * HOUR)
    }
}

impl file::TaskProgress {
    /// A task of this drawn length, s.
    fn draw(&self, length: f64, draws: &mut Stream) -> DrawnTask {
        let estimates = match self.estimates {
            TaskEstimates::Mixed => match draws.random_range(0..3) {
                0 => TaskEstimates::Over,
                1 => TaskEstimates::Under,
                _ => TaskEstimates::Fluctuating,
            },
            one => one,
        };
        let amplitude = draws.random_range(self.amplitude..=self.amplitude_max.max(self.amplitude));
        // A task that is as long as its largest estimate takes that for its length in the end.
        let (run, largest) = match (estimates, self.under) {
            (TaskEstimates::Under, Underestimate::Longer) => {
                (length * amplitude, length * amplitude)
            }
            (TaskEstimates::Under, Underestimate::Less) => (length, 0.9 * length),
            _ => (length, length * amplitude),
        };
        let run = span(run);
        let actual = run.as_secs_f64();
        let part = |draws: &mut Stream| draws.random_range(0.0..1.0);
        let (first, decay) = (part(draws), part(draws));
        let (up, period) = (draws.random_bool(0.5), draws.random_range(0.05..=0.1) * actual);
        let shift = draws.random_range(0.01..=0.02) * actual * part(draws);
        let side = match estimates {
            TaskEstimates::Under => Side::Under,
            TaskEstimates::Fluctuating => Side::Fluctuating { up, period, shift },
            TaskEstimates::Over | TaskEstimates::Mixed => Side::Over,
        };
        let noise = self.noise.fraction() * largest;
        let error = EstimateError { side, amplitude: first * largest, decay, noise };
        let step = self.step.fraction() * actual;
        let progress = Progress::new(error, actual, step, draws.random());
        DrawnTask { run, progress: Some(progress) }
    }
}

/// A task takes some time.
fn span(seconds: f64) -> Span {
    Span::from_secs_f64(seconds).max(Span::TICK)
}

/// The first task, those side by side, and the last one.
fn fork_join(name: &str, tasks: &[DrawnTask]) -> Result<Workflow, GraphError> {
    let mut builder = Builder::new(name);
    let mut ids = Vec::with_capacity(tasks.len());
    for (number, task) in tasks.iter().enumerate() {
        ids.push(builder.task(Task::new(number.to_string(), task.run))?);
    }
    if let [root, middle @ .., last] = &ids[..] {
        for &task in middle {
            builder.edge(*root, task, 0)?;
            builder.edge(task, *last, 0)?;
        }
    }
    builder.build()
}
