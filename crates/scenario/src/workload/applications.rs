//! The model of applications of many phases, alone or as tasks of workflows.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::phased::{Measured, Phase, Speedup, Term};
use haggle_model::random::stream;
use haggle_model::workflow::WorkflowTask;
use haggle_model::{Job, Phased, ProviderId, Span, Time};
use haggle_planning::Application;
use haggle_workflows::ledger::WorkflowId;
use haggle_workflows::shapes::ShapeError;
use haggle_workflows::{Builder, GraphError, Task, TaskId, Workflow};
use rand::RngExt;

use super::WorkflowsError;
use crate::file;
use crate::quantity::{Name, TimeSpan};

impl file::Applications {
    /// Phases or measured times of each application. `clusters` are numbered by their place. A description that a
    /// check would refuse (not like a published one, without phases, not measured) gives no phases.
    pub fn phased(&self, clusters: &[Name]) -> Phased {
        if let Some(rows) = &self.measured {
            return Phased::Measured(self.measured(rows, clusters));
        }
        let (phases, size) = match (self.like, &self.phases) {
            (Some(like), _) => {
                let count = self.count.map_or(like.phases(), |count| count as usize);
                (like.draw_phases(self.seed.unwrap_or(1), count), self.size.unwrap_or(1.0))
            }
            (None, phases) => (phases.iter().flatten().map(phase).collect(), 1.0),
        };
        Phased::Modelled { phases, size, merged: self.merge }
    }

    /// Measured times; `merge` consecutive phases count as one.
    fn measured(&self, rows: &[file::MeasuredTimes], clusters: &[Name]) -> Vec<Measured> {
        let merged = |times: &[TimeSpan]| times.iter().map(|time| time.0).sum();
        let row = |it: &file::MeasuredTimes| {
            let place = clusters.iter().position(|name| *name == it.cluster)?;
            // `chunks` panics on zero.
            let times = it.times.chunks(self.merge.max(1) as usize).map(merged).collect();
            Some(Measured { cluster: ProviderId(place as u32), machines: it.machines, times })
        };
        rows.iter().filter_map(row).collect()
    }

    /// Problem of an application with modelled phases, if any.
    pub(crate) fn problem(&self) -> Option<String> {
        // Measured times have no model that could be invalid.
        let Phased::Modelled { phases, size, .. } = self.phased(&[]) else { return None };
        Application::new(&phases, size).err().map(|error| error.to_string())
    }

    /// True if the applications are tasks of workflows.
    pub fn is_workflows(&self) -> bool {
        self.shape.is_some() || self.graph.is_some()
    }

    /// Largest number of applications of a workflow; 1 without workflows.
    pub(crate) fn tasks_most(&self) -> u64 {
        match (&self.graph, self.shape) {
            (Some(graph), _) => graph.len() as u64,
            (None, Some(shape)) => self.tasks.map_or(shape.tasks_min() as u64, u64::from),
            (None, None) => 1,
        }
    }

    /// Applications of the workload of this name, in the order of submission. All applications of a workflow are
    /// submitted together.
    ///
    /// # Errors
    /// If a workflow cannot be drawn.
    pub fn to_jobs(
        &self,
        clusters: &[Name],
        workload: &str,
        seed: u64,
    ) -> Result<Vec<Job>, WorkflowsError> {
        let phases = Arc::new(self.phased(clusters));
        let (mut submit, mut jobs) = (Time::ZERO, Vec::new());
        for number in 0..self.jobs {
            let mut add = |phases, task| {
                let job = Job::new(jobs.len() as u32, submit, 1, Span::ZERO);
                jobs.push(Job { phases: Some(phases), requested_time: None, task, ..job });
            };
            match self.flow(workload, seed, number)? {
                None => add(Arc::clone(&phases), None),
                Some(flow) => {
                    for (task, &length) in (0..).zip(&flow.lengths) {
                        let task = WorkflowTask {
                            workflow: number,
                            task,
                            data: None,
                            progress: None,
                            needs: Box::default(),
                        };
                        add(scaled(&phases, length), Some(Arc::new(task)));
                    }
                }
            }
            submit += self.between.0;
        }
        Ok(jobs)
    }

    /// Graphs of all workflows of the workload of this name, which has this place in the scenario. Their tasks have
    /// no length: the time of an application depends on its machines.
    ///
    /// # Errors
    /// If a workflow cannot be drawn.
    pub fn graphs(
        &self,
        workload: &str,
        place: u16,
        seed: u64,
    ) -> Result<BTreeMap<WorkflowId, Arc<Workflow>>, WorkflowsError> {
        let mut graphs = BTreeMap::new();
        for number in 0..self.jobs {
            if let Some(flow) = self.flow(workload, seed, number)? {
                graphs.insert(WorkflowId { workload: place, number }, Arc::new(flow.graph));
            }
        }
        Ok(graphs)
    }

    /// A workflow; `None` if the applications are no tasks.
    fn flow(&self, workload: &str, seed: u64, number: u32) -> Result<Option<Flow>, WorkflowsError> {
        let name = format!("workflow {number} of {workload}");
        if let Some(listed) = &self.graph {
            let needs = (0..).zip(listed);
            let needs = needs.flat_map(|(child, it)| it.needs.iter().map(move |&it| (it, child)));
            let graph = graph(&name, listed.len(), needs)?;
            return Ok(Some(Flow { graph, lengths: listed.iter().map(|it| it.length).collect() }));
        }
        let Some(shape) = self.shape else { return Ok(None) };
        let tasks = self.tasks.map_or(shape.tasks_min(), |tasks| tasks as usize);
        // Each workflow has a stream of its own, so `to_jobs` and `graphs` get the same one.
        Ok(Some(drawn(&name, shape, tasks, stream(seed, &name, "shape").random())?))
    }
}

/// A workflow of applications before a run.
struct Flow {
    graph: Workflow,
    /// Factor of the times of each application.
    lengths: Vec<f64>,
}

fn drawn(
    name: &str,
    shape: file::WorkflowShape,
    tasks: usize,
    seed: u64,
) -> Result<Flow, ShapeError> {
    let drawn = shape.generate(tasks, seed)?;
    let works = Vec::from_iter(drawn.tasks().iter().map(|task| task.work.as_secs_f64()));
    // Lengths are relative to the mean, so that phases keep their sizes on average.
    let mean = works.iter().sum::<f64>() / works.len() as f64;
    let edges = drawn.edges().map(|edge| (edge.parent.0, edge.child.0));
    let graph = graph(name, works.len(), edges)?;
    Ok(Flow { graph, lengths: works.iter().map(|work| work / mean).collect() })
}

/// A graph of tasks without length and data.
fn graph(
    name: &str,
    tasks: usize,
    edges: impl Iterator<Item = (u32, u32)>,
) -> Result<Workflow, GraphError> {
    let mut builder = Builder::new(name);
    for task in 0..tasks {
        builder.task(Task::new(task.to_string(), Span::ZERO))?;
    }
    for (parent, child) in edges {
        builder.edge(TaskId(parent), TaskId(child), 0)?;
    }
    builder.build()
}

/// The same phases, each of which takes `length` times its time.
fn scaled(phased: &Arc<Phased>, length: f64) -> Arc<Phased> {
    let longer = |term: Term| Term { coefficient: term.coefficient * length, ..term };
    let phase = |it: &Phase| Phase {
        computation: longer(it.computation),
        communication: longer(it.communication),
    };
    let times = |times: &[Span]| {
        times.iter().map(|time| Span::from_secs_f64(time.as_secs_f64() * length)).collect()
    };
    Arc::new(match &**phased {
        // Most applications share one description, which need not be copied.
        _ if length == 1.0 => return Arc::clone(phased),
        Phased::Modelled { phases, size, merged } => Phased::Modelled {
            phases: phases.iter().map(phase).collect(),
            size: *size,
            merged: *merged,
        },
        Phased::Measured(rows) => Phased::Measured(
            rows.iter().map(|it| Measured { times: times(&it.times), ..it.clone() }).collect(),
        ),
    })
}

fn phase(it: &file::ApplicationPhase) -> Phase {
    let term = |span: Span, exponent| Term {
        coefficient: span.as_secs_f64(),
        size: 1.0,
        load: 1.0,
        speedup: Speedup::Power(exponent),
    };
    Phase {
        computation: term(it.computing.0, it.speedup),
        communication: term(it.communicating.0, it.spread),
    }
}
