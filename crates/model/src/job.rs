//! A job as a workload supplies it and its user describes it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::random::{self, Stream};
use crate::reservation::Reservation;
use crate::workflow::WorkflowTask;
use crate::{Demand, Following, Iterative, JobId, Phased, Span, Speedup, Time};

/// Origin of a job: a provider's own users, or a metascheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum JobClass {
    /// Submitted straight to one provider by its own users.
    Local,
    /// Placed by a metascheduler.
    External,
}

impl JobClass {
    /// The word used in tables, scenarios and messages.
    pub const fn name(self) -> &'static str {
        match self {
            JobClass::Local => "local",
            JobClass::External => "external",
        }
    }
}

/// Shape of a job: whether it needs all of its processors at the same time.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum JobShape {
    /// All at once, on one provider.
    #[default]
    Rigid,
    /// A bag: as many independent tasks as it has processors, each on one
    /// processor for the job's time, anywhere and at any time.
    Bag,
    /// All at once, on one provider, which may choose another number of processors. A provider that
    /// does not mold jobs treats it as rigid.
    Moldable(Speedup),
}

/// True run time of a job, known only to the machine that runs it.
///
/// No scheduler and no policy reads it; the provider's machine does, when it starts the job. The field
/// is private so that a reader must call [`HiddenRunTime::reveal_to_machine`], which is easy to search
/// for.
///
/// In a simulation it stands for the program. Every description of the job carries it, also in files
/// and messages, because the machine that gets the job must run it. In live operation the program
/// itself is sent, and messages carry no run time. A machine or a profiling provider then measures the
/// run time by running the program.
///
/// ```compile_fail,E0616
/// let hidden = haggle_model::job::HiddenRunTime::new(haggle_model::Span::from_secs(60));
/// let run_time = hidden.0;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HiddenRunTime(Span);

impl HiddenRunTime {
    /// No run time: the description of a job that came without its program. It appears nowhere else. A
    /// machine never gets such a job, because a message that hands a job over has its program.
    pub const UNKNOWN: HiddenRunTime = HiddenRunTime(Span::from_micros(i64::MAX));

    /// Hides a run time.
    pub const fn new(run_time: Span) -> HiddenRunTime {
        HiddenRunTime(run_time)
    }

    /// The run time on the reference processor. Workload transformations read it before a run, and the
    /// machine reads it during the run.
    pub const fn reveal_to_machine(self) -> Span {
        self.0
    }

    /// Estimate of a profiler. Its error is a part of the error of the user's `estimate`: run time +
    /// a/b x (estimate - run time) for `error` = (a, b). It is rounded to the nearest microsecond, halves
    /// up (Netto 2009, section 7.4). An `error` of 0 gives a perfect estimate, 1 the user's.
    ///
    /// # Panics
    /// If b is 0.
    pub fn profiled(self, estimate: Span, error: (u32, u32)) -> Span {
        let (numerator, denominator) = (i128::from(error.0), i128::from(error.1));
        let distance = i128::from((estimate - self.0).as_micros());
        // Half the divisor is added before rounding down, which rounds halves up.
        let scaled = (2 * distance * numerator + denominator).div_euclid(2 * denominator);
        let micros = i128::from(self.0.as_micros()) + scaled;
        let forever = i128::from(Span::FOREVER.as_micros());
        // An error above 1 may lead below 0.
        Span::from_micros(micros.clamp(0, forever) as i64)
    }
}

/// Key of all draws for a job in a run: a hash of its workload's name and its number there. The draws
/// therefore do not depend on other jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lot(u64);

impl Lot {
    /// The lot of job `number` of the workload of this name.
    pub fn new(workload: &str, number: i64) -> Lot {
        // Numbers of jobs differ in few bits, so they are mixed before they are combined with the hash.
        Lot(random::splitmix(random::hash(workload.bytes()) ^ random::splitmix(number as u64)))
    }

    /// The job's stream for a purpose, under the run's `seed`.
    pub fn stream(self, seed: u64, purpose: &str) -> Stream {
        random::stream(seed, &format!("job {:016x}", self.0), purpose)
    }
}

/// State of a job at time zero, if the run begins with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Initial {
    /// It waits.
    Waiting,
    /// It runs, and has started at this time, which is before time zero.
    Running(Time),
}

impl Initial {
    /// Time from which its provider may start it.
    pub fn due(self) -> Time {
        match self {
            Initial::Waiting => Time::ZERO,
            Initial::Running(start) => start,
        }
    }

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Initial::Waiting => "waiting",
            Initial::Running(_) => "running",
        }
    }
}

/// A job. Times are those of a reference processor (speed 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Identifies the job in this run.
    pub id: JobId,
    /// Workload it came from (index into the scenario's list).
    pub workload: u16,
    /// Its number in that workload, as the log's authors wrote it.
    pub number: i64,
    /// Key of its draws during the run.
    pub lot: Lot,
    /// Time at which its user submits it.
    pub submit: Time,
    /// Shape: rigid, bag or moldable.
    pub shape: JobShape,
    /// Processors it needs; for a bag, the number of its tasks.
    pub processors: u32,
    /// The user's estimate and limit (walltime); `None` = the user gave no limit.
    pub requested_time: Option<Span>,
    /// True run time.
    pub run_time: HiddenRunTime,
    /// Earliest start the user allows. No scheduler receives the job before.
    pub ready: Option<Time>,
    /// Latest completion the user wishes.
    pub deadline: Option<Time>,
    /// The user's terms for a reservation in the window between the two; `None` = no reservation is requested.
    pub reservation: Option<Reservation>,
    /// Model of its phases, if it is an application that may be rescheduled between them.
    pub phases: Option<Arc<Phased>>,
    /// Model of its processes, if it is an iterative application: its run time depends on its cores.
    pub iterative: Option<Arc<Iterative>>,
    /// Its place in a workflow, if it is a task of one: it starts when its parents are done.
    pub task: Option<Arc<WorkflowTask>>,
    /// The jobs after which it is submitted, and the number of those after it. Only its user knows them: `None` in all
    /// submissions.
    pub following: Option<Arc<Following>>,
    /// Its demand for resources of nodes, if it needs more than processors anywhere. Providers without nodes take no
    /// account of it.
    pub demand: Option<Box<Demand>>,
    /// Its state at time zero, if it was submitted before. Its submission is then before time zero, or at it.
    pub initial: Option<Initial>,
    /// User-supplied priority key. Where a provider orders by it, smaller keys go first.
    pub key: i64,
    /// Fields that the log carries along. The engine reads none of them but the waiting time, for providers that start
    /// jobs as recorded.
    pub origin: JobOrigin,
}

/// The log's fields that describe a job without changing how it is scheduled; -1 = unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOrigin {
    /// User number.
    pub user: i32,
    /// Group number.
    pub group: i32,
    /// Executable (application) number.
    pub executable: i32,
    /// Queue number.
    pub queue: i32,
    /// Partition number.
    pub partition: i32,
    /// Further fields of the log. Boxed: jobs of models have no log, and a large run keeps a million jobs.
    pub logged: Option<Box<Logged>>,
}

/// Fields of a log that do not describe the job; -1 = unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// Waiting time on the machine of the log.
    pub wait: Span,
    /// Run time there, as the log records it.
    pub run_time: HiddenRunTime,
    /// Processors allocated there.
    pub allocated_processors: i32,
    /// Processor time used there, per processor.
    pub average_cpu_time: Span,
    /// Status there: 0 failed, 1 completed, 5 cancelled; 2 to 4 for parts of a job.
    pub status: i32,
    /// Requested memory per processor, KB.
    pub requested_memory: i64,
    /// Used memory per processor, KB.
    pub used_memory: i64,
    /// Number of the job that this one waits for in the log.
    pub preceding_job: i64,
    /// Time between the end of that job and this submission.
    pub think_time: Span,
}

/// Waiting time and run time of a job on the machine of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Waiting time.
    pub wait: Span,
    /// Run time, as the log records it.
    pub run_time: HiddenRunTime,
}

impl JobOrigin {
    /// All fields unknown.
    pub const UNKNOWN: JobOrigin =
        JobOrigin { user: -1, group: -1, executable: -1, queue: -1, partition: -1, logged: None };

    /// Further fields of the log.
    pub fn logged(&self) -> Logged {
        self.logged.as_deref().copied().unwrap_or(Logged::UNKNOWN)
    }
}

impl Logged {
    /// All fields unknown.
    pub const UNKNOWN: Logged = Logged {
        wait: Span::from_secs(-1),
        run_time: HiddenRunTime::new(Span::from_secs(-1)),
        allocated_processors: -1,
        average_cpu_time: Span::from_secs(-1),
        status: -1,
        requested_memory: -1,
        used_memory: -1,
        preceding_job: -1,
        think_time: Span::from_secs(-1),
    };

    /// Times of the job on the machine of the log, if the log has both.
    pub fn recorded(&self) -> Option<Recorded> {
        let Logged { wait, run_time, .. } = *self;
        let is_known = wait >= Span::ZERO && run_time.reveal_to_machine() >= Span::ZERO;
        is_known.then_some(Recorded { wait, run_time })
    }
}

impl Job {
    /// Its start on the machine of its log, in the time of the run: its waiting time there after its submission. `None`
    /// if the log has no waiting time.
    pub fn recorded_start(&self) -> Option<Time> {
        let wait = self.origin.logged.as_ref()?.wait;
        (wait >= Span::ZERO).then(|| self.submit + wait)
    }

    /// Its demand for resources of nodes.
    pub fn demand(&self) -> Demand {
        self.demand.as_deref().copied().unwrap_or(Demand::processors(self.processors))
    }

    /// Moves its submission, and its ready time and its deadline with it.
    pub fn move_to(&mut self, submit: Time) {
        let by = submit - self.submit;
        self.submit = submit;
        self.ready = self.ready.map(|ready| ready + by);
        self.deadline = self.deadline.map(|deadline| deadline + by);
    }

    /// A job that needs `processors` for exactly `run_time`, with an exact request. Examples and tests
    /// start from it and change the fields that matter.
    pub fn new(id: u32, submit: Time, processors: u32, run_time: Span) -> Job {
        Job {
            id: JobId(id),
            workload: 0,
            // Logs number their jobs from 1.
            number: i64::from(id) + 1,
            lot: Lot::default(),
            submit,
            shape: JobShape::Rigid,
            processors,
            requested_time: Some(run_time),
            run_time: HiddenRunTime::new(run_time),
            ready: None,
            deadline: None,
            reservation: None,
            phases: None,
            iterative: None,
            task: None,
            following: None,
            demand: None,
            initial: None,
            key: 0,
            origin: JobOrigin::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CX-1.
    #[test]
    fn a_profiled_estimate_is_off_by_a_part_of_the_users_error() {
        let truth = HiddenRunTime::new(Span::from_secs(1_000));
        for (user, half, fifth) in
            [(1_500, 1_250, 1_100), (2_000, 1_500, 1_200), (2_500, 1_750, 1_300)]
        {
            let profiled = |error| truth.profiled(Span::from_secs(user), error);
            assert_eq!(profiled((1, 2)), Span::from_secs(half));
            assert_eq!(profiled((200_000, 1_000_000)), Span::from_secs(fifth));
            assert_eq!(profiled((0, 1)), Span::from_secs(1_000));
            assert_eq!(profiled((1, 1)), Span::from_secs(user));
        }
        let truth = HiddenRunTime::new(Span::from_micros(10));
        let odd = |user| truth.profiled(Span::from_micros(user), (1, 2));
        assert_eq!((odd(13), odd(7)), (Span::from_micros(12), Span::from_micros(9)));
        assert_eq!(truth.profiled(Span::FOREVER, (3, 1)), Span::FOREVER);
    }

    /// The other half of CX-1: 3,600 and 5,400 s on processors 1.2 and 1.5 times as fast.
    #[test]
    fn a_faster_processor_takes_less_time() {
        let at = |seconds, speed| Span::from_secs(seconds).at_speed(speed);
        assert_eq!(
            (at(3_600, 1.2), at(3_600, 1.5)),
            (Span::from_secs(3_000), Span::from_secs(2_400))
        );
        assert_eq!(
            (at(5_400, 1.2), at(5_400, 1.5)),
            (Span::from_secs(4_500), Span::from_secs(3_600))
        );
    }
}
