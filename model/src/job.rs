//! A job, as a workload brings it and as its user describes it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::random::{self, Stream};
use crate::reservation::Reservation;
use crate::workflow::WorkflowTask;
use crate::{Iterative, JobId, Phased, Span, Speedup, Time};

/// Whether a provider's own users sent a job or a metascheduler did.
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

/// Whether a job needs its processors all at once.
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
    /// All at once, on one provider, which may choose another number of processors. Who does
    /// not takes it as rigid.
    Moldable(Speedup),
}

/// What only the machine that runs a job finds out: how long it really takes.
///
/// No scheduler and no policy reads it; the provider's machine does, when it
/// starts the job. The field is private so that a reader has to say
/// [`HiddenRunTime::reveal_to_machine`], which is easy to search for.
///
/// In a simulation it stands for the program: it goes with every description of the job, also where
/// that is written down and read again, for the machine that gets the job has to run it. Live, the
/// program itself goes there, and nobody's messages have a run time: the machine finds it out by
/// running the program, and a provider that profiles runs it, too.
///
/// ```compile_fail,E0616
/// let hidden = haggle_model::job::HiddenRunTime::new(haggle_model::Span::from_secs(60));
/// let run_time = hidden.0;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HiddenRunTime(Span);

impl HiddenRunTime {
    /// Hides a run time.
    pub const fn new(run_time: Span) -> HiddenRunTime {
        HiddenRunTime(run_time)
    }

    /// The run time on the reference processor: for workload transformations
    /// before a run and for the machine during it.
    pub const fn reveal_to_machine(self) -> Span {
        self.0
    }

    /// What a profiler finds out that errs by a part of what the user's `estimate`
    /// errs by: run time + a/b x (estimate - run time) for `error` = (a, b), to the
    /// nearest microsecond, halves up (Netto 2009, section 7.4). 0 is a perfect
    /// estimate, 1 the user's.
    ///
    /// # Panics
    /// If b is 0.
    pub fn profiled(self, estimate: Span, error: (u32, u32)) -> Span {
        let (numerator, denominator) = (i128::from(error.0), i128::from(error.1));
        let distance = i128::from((estimate - self.0).as_micros());
        let scaled = (2 * distance * numerator + denominator).div_euclid(2 * denominator);
        let micros = i128::from(self.0.as_micros()) + scaled;
        let forever = i128::from(Span::FOREVER.as_micros());
        Span::from_micros(micros.clamp(0, forever) as i64)
    }
}

/// What all draws for a job in a run begin with: its workload's name and its number there. So
/// they are the same whatever else is submitted anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lot(u64);

impl Lot {
    /// That of the job with this number in the workload of this name.
    pub fn new(workload: &str, number: i64) -> Lot {
        Lot(random::splitmix(random::hash(workload.bytes()) ^ random::splitmix(number as u64)))
    }

    /// The job's stream for a purpose, under the run's `seed`.
    pub fn stream(self, seed: u64, purpose: &str) -> Stream {
        random::stream(seed, &format!("job {:016x}", self.0), purpose)
    }
}

/// A job. Times are those of a reference processor (speed 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Identifies the job in this run.
    pub id: JobId,
    /// Which workload of the scenario it came from (index into the scenario's list).
    pub workload: u16,
    /// Its number in that workload, as the log's authors wrote it.
    pub number: i64,
    /// By what is drawn for it during the run.
    pub lot: Lot,
    /// When its user submits it.
    pub submit: Time,
    /// Whether it needs its processors all at once.
    pub shape: JobShape,
    /// Processors it needs; of a bag, its tasks.
    pub processors: u32,
    /// The user's estimate and limit (walltime); `None` = the user gave no limit.
    pub requested_time: Option<Span>,
    /// How long it really runs.
    pub run_time: HiddenRunTime,
    /// Earliest start the user allows; nobody gets the job before.
    pub ready: Option<Time>,
    /// Latest completion the user wishes.
    pub deadline: Option<Time>,
    /// What its user says of the window between the two, if it is to be reserved in advance.
    pub reservation: Option<Reservation>,
    /// What is known of its phases, if it is an application that may be rescheduled between them.
    pub phases: Option<Arc<Phased>>,
    /// What is known of its processes, if it is an iterative application: how long it takes depends on its
    /// cores.
    pub iterative: Option<Arc<Iterative>>,
    /// Its place in a workflow, if it is a task of one: it starts when its parents are done.
    pub task: Option<Arc<WorkflowTask>>,
    /// User-supplied priority key: smaller goes first where a provider orders by it.
    pub key: i64,
    /// Numbers the log carries along; nothing in the engine reads them.
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
    /// What else the log says of it. Jobs of models have no log, and a large run keeps a million.
    pub logged: Option<Box<Logged>>,
}

/// Fields of a log that change nothing in a simulation; -1 = unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// How long it waited on the machine of the log.
    pub wait: Span,
    /// How long it ran there, as it stands in the log.
    pub run_time: HiddenRunTime,
    /// Processors that it had there.
    pub allocated_processors: i32,
    /// Processor time that it used there, per processor.
    pub average_cpu_time: Span,
    /// How it ended there: 0 failed, 1 completed, 5 cancelled; 2 to 4 for parts of a job.
    pub status: i32,
    /// Requested memory per processor, KB.
    pub requested_memory: i64,
    /// Used memory per processor, KB.
    pub used_memory: i64,
    /// Number of the job this one waits for in the log.
    pub preceding_job: i64,
    /// Time between the end of that job and this submission.
    pub think_time: Span,
}

/// How a job went where it ran when its log was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// How long it waited.
    pub wait: Span,
    /// How long it ran, as it stands in the log.
    pub run_time: HiddenRunTime,
}

impl JobOrigin {
    /// Nothing known.
    pub const UNKNOWN: JobOrigin =
        JobOrigin { user: -1, group: -1, executable: -1, queue: -1, partition: -1, logged: None };

    /// What else the log says.
    pub fn logged(&self) -> Logged {
        self.logged.as_deref().copied().unwrap_or(Logged::UNKNOWN)
    }
}

impl Logged {
    /// Nothing known.
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

    /// How the job went on the machine of the log, if that says so.
    pub fn recorded(&self) -> Option<Recorded> {
        let Logged { wait, run_time, .. } = *self;
        let is_known = wait >= Span::ZERO && run_time.reveal_to_machine() >= Span::ZERO;
        is_known.then_some(Recorded { wait, run_time })
    }
}

impl Job {
    /// A job that needs `processors` for exactly `run_time`, with an exact
    /// request; for examples and tests, which then change what matters.
    pub fn new(id: u32, submit: Time, processors: u32, run_time: Span) -> Job {
        Job {
            id: JobId(id),
            workload: 0,
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
