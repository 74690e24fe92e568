//! The description of a job for strangers, and the program that goes with it when it is handed over for running.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::iterative::{Behaviour, Communication};
use haggle_model::job::{HiddenRunTime, JobOrigin, Lot};
use haggle_model::progress::Progress;
use haggle_model::reservation::Reservation;
use haggle_model::workflow::{Need, TaskData, WorkflowTask};
use haggle_model::{Initial, Iterative, Job, JobId, JobShape, Phased, Span, Time};
use serde::{Deserialize, Serialize};

use super::forms::{Form, Odd};
use super::kinds::Unsendable;

/// A job without its run time, and without the fields of its log, which tell it as well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// Identifies the job.
    pub id: JobId,
    /// Its workload.
    pub workload: u16,
    /// Its number in that workload.
    pub number: i64,
    /// Key of its draws.
    pub lot: Lot,
    /// Time of its submission.
    pub submit: Time,
    /// Rigid, bag or moldable.
    pub shape: JobShape,
    /// Processors, or tasks of a bag.
    pub processors: u32,
    /// The user's limit.
    pub requested_time: Option<Span>,
    /// Earliest start.
    pub ready: Option<Time>,
    /// Latest completion.
    pub deadline: Option<Time>,
    /// Terms for a reservation.
    pub reservation: Option<Reservation>,
    /// Model of its phases.
    pub phases: Option<Arc<Phased>>,
    /// Model of its processes.
    pub iterative: Option<DescribedIterative>,
    /// Its place in a workflow.
    pub task: Option<DescribedTask>,
    /// Its state at time zero.
    pub initial: Option<Initial>,
    /// Priority key of its user.
    pub key: i64,
    /// Numbers of user, group, executable, queue and partition; -1 = unknown.
    pub origin: [i32; 5],
}

/// An iterative application without its true behaviour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DescribedIterative {
    /// Number of processes of each size.
    pub processes: Vec<u32>,
    /// Iterations of each process.
    pub iterations: u32,
    /// Communication between processes.
    pub communication: Communication,
    /// Time to merge results.
    pub merge: Span,
    /// Time to send results from one site to another.
    pub transfer: Span,
    /// Iterations a second of a process of each size, by the type of machine.
    pub throughputs: BTreeMap<String, Vec<f64>>,
}

/// A task of a workflow without its reports, which are computed from its true length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DescribedTask {
    /// Its workflow.
    pub workflow: u32,
    /// Its number there.
    pub task: u32,
    /// Its data, if they differ from those of its workload.
    pub data: Option<TaskData>,
    /// Inputs that it needs.
    pub needs: Box<[Need]>,
}

/// The program of a job: what its machine runs. Variants are only appended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Program {
    /// Nothing runs, but time passes.
    Pretend {
        /// Time on the reference processor.
        run_time: Span,
        /// True behaviour of its processes, if it is an iterative application.
        behaviour: Option<Behaviour>,
        /// Its reports of progress, if it sends any.
        progress: Option<Progress>,
    },
}

/// The program of one process of an iterative application, for a run on trial. Variants are only appended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Process {
    /// Nothing runs, but time passes.
    Pretend {
        /// Its true behaviour.
        behaviour: Behaviour,
    },
}

impl Program {
    /// A program that takes this run time.
    pub(super) fn pretend(run_time: HiddenRunTime) -> Result<Program, Unsendable> {
        if run_time == HiddenRunTime::UNKNOWN {
            return Err(Unsendable::NoProgram);
        }
        // The sender may be the user's machine or one that passes the program on. Neither looks at it.
        let run_time = run_time.reveal_to_machine();
        Ok(Program::Pretend { run_time, behaviour: None, progress: None })
    }

    /// The run time for the machine, of a program that is nothing else.
    pub(super) fn run_time(self) -> Result<HiddenRunTime, Odd> {
        match self {
            Program::Pretend { run_time, behaviour: None, progress: None } => hidden(run_time),
            Program::Pretend { .. } => Err(Odd),
        }
    }
}

/// A run time from a stranger.
fn hidden(run_time: Span) -> Result<HiddenRunTime, Odd> {
    let is_a_time = (Span::ZERO..=Span::FOREVER).contains(&run_time);
    is_a_time.then_some(HiddenRunTime::new(run_time)).ok_or(Odd)
}

impl DescribedIterative {
    /// The visible part, and the true behaviour.
    pub(super) fn split(application: &Iterative) -> (DescribedIterative, Behaviour) {
        let Iterative {
            processes,
            iterations,
            communication,
            merge,
            transfer,
            throughputs,
            behaviour,
        } = application.clone();
        let seen = DescribedIterative {
            processes,
            iterations,
            communication,
            merge,
            transfer,
            throughputs,
        };
        (seen, behaviour)
    }

    /// The application with this behaviour.
    pub(super) fn joined(self, behaviour: Behaviour) -> Iterative {
        let DescribedIterative {
            processes,
            iterations,
            communication,
            merge,
            transfer,
            throughputs,
        } = self;
        Iterative { processes, iterations, communication, merge, transfer, throughputs, behaviour }
    }
}

impl Described {
    /// The description of a job, and its program. The program has no run time if that is unknown.
    fn split(job: &Job) -> (Described, Hidden) {
        // All fields by name: whether a new one is visible must be decided here.
        let &Job {
            id,
            workload,
            number,
            lot,
            submit,
            shape,
            processors,
            requested_time,
            run_time,
            ready,
            deadline,
            reservation,
            ref phases,
            ref iterative,
            ref task,
            following: _,
            // Live runs of jobs with demands are refused.
            demand: _,
            initial,
            key,
            origin: JobOrigin { user, group, executable, queue, partition, logged: _ },
        } = job;
        let (iterative, behaviour) = iterative.as_deref().map(DescribedIterative::split).unzip();
        let split_task = |it: &WorkflowTask| {
            let &WorkflowTask { workflow, task, data, progress, ref needs } = it;
            (DescribedTask { workflow, task, data, needs: needs.clone() }, progress)
        };
        let (task, progress) = task.as_deref().map(split_task).unzip();
        let described = Described {
            id,
            workload,
            number,
            lot,
            submit,
            shape,
            processors,
            requested_time,
            ready,
            deadline,
            reservation,
            phases: phases.clone(),
            iterative,
            task,
            initial,
            key,
            origin: [user, group, executable, queue, partition],
        };
        (described, Hidden { run_time, behaviour, progress: progress.flatten() })
    }

    fn joined(self, hidden: Hidden) -> Result<Job, Odd> {
        let Hidden { run_time, behaviour, progress } = hidden;
        if self.task.is_none() && progress.is_some() {
            return Err(Odd);
        }
        let iterative = match (self.iterative, behaviour) {
            (Some(seen), Some(behaviour)) => Some(Arc::new(seen.joined(behaviour))),
            (None, None) => None,
            _ => return Err(Odd),
        };
        let task = self.task.map(|DescribedTask { workflow, task, data, needs }| {
            Arc::new(WorkflowTask { workflow, task, data, progress, needs })
        });
        let [user, group, executable, queue, partition] = self.origin;
        Ok(Job {
            id: self.id,
            workload: self.workload,
            number: self.number,
            lot: self.lot,
            submit: self.submit,
            shape: self.shape,
            processors: self.processors,
            requested_time: self.requested_time,
            run_time,
            ready: self.ready,
            deadline: self.deadline,
            reservation: self.reservation,
            phases: self.phases,
            iterative,
            task,
            following: None,
            demand: None,
            initial: self.initial,
            key: self.key,
            origin: JobOrigin { user, group, executable, queue, partition, logged: None },
        })
    }
}

/// The hidden parts of a job.
struct Hidden {
    run_time: HiddenRunTime,
    behaviour: Option<Behaviour>,
    progress: Option<Progress>,
}

/// In messages that do not hand the job over.
impl Form for Described {
    type Of = Arc<Job>;

    fn of(job: Arc<Job>) -> Result<Described, Unsendable> {
        Ok(Described::split(&job).0)
    }

    fn get(self) -> Result<Arc<Job>, Odd> {
        let behaviour = self.iterative.is_some().then_some(Behaviour::UNKNOWN);
        let hidden = Hidden { run_time: HiddenRunTime::UNKNOWN, behaviour, progress: None };
        self.joined(hidden).map(Arc::new)
    }
}

/// A job that is handed over for running.
#[derive(Serialize, Deserialize)]
pub(super) struct Runnable {
    job: Described,
    program: Program,
}

impl Form for Runnable {
    type Of = Arc<Job>;

    fn of(job: Arc<Job>) -> Result<Runnable, Unsendable> {
        let (job, Hidden { run_time, behaviour, progress }) = Described::split(&job);
        let Program::Pretend { run_time, .. } = Program::pretend(run_time)?;
        Ok(Runnable { job, program: Program::Pretend { run_time, behaviour, progress } })
    }

    fn get(self) -> Result<Arc<Job>, Odd> {
        let Program::Pretend { run_time, behaviour, progress } = self.program;
        let hidden = Hidden { run_time: hidden(run_time)?, behaviour, progress };
        self.job.joined(hidden).map(Arc::new)
    }
}
