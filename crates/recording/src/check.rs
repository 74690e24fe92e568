//! Invariants of a run, checked for each job when it ends.

mod flows;
mod held;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use haggle_model::grid::{GridJobRecord, GridOutcome};
use haggle_model::phased::{IntervalEnd, IntervalRecord};
use haggle_model::reservation::GrantedWindow;
use haggle_model::{
    BagRecord, Cast, Coallocated, JobId, JobOutcome, JobRecord, LostRun, MaintenanceRecord,
    Moldable, ProcessorSet, ProviderId, Span, StageIn, TaskRun, Time,
};
use haggle_results::{Availability, GridViolation, SettledJob};
use haggle_scheduling::coallocation::with_overhead;

use crate::GridError;
use flows::Flows;
use held::{Processor, Processors};

/// State of every processor: the end of its last use, and the time since when it has been up or down.
pub struct Check {
    processors: Vec<Processors>,
    /// Speed of each provider.
    speeds: Vec<f64>,
    /// Processor-microseconds held.
    held: i128,
    /// Jobs of a grid that are done.
    done: BTreeSet<JobId>,
    /// The number of phases that each application has done.
    phases: BTreeMap<JobId, u32>,
    /// The stage-in of jobs that have moved, at their current provider.
    staged: BTreeMap<JobId, StageIn>,
    /// The inputs of tasks of workflows, at their current provider.
    pub(crate) flows: Flows,
}

/// Violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Two jobs on one processor at one time.
    #[error(
        "job {job} started at {start} s on processor {processor}, held by another until {until} s"
    )]
    HeldTwice {
        /// The job's number in the run.
        job: i64,
        /// Its start.
        start: Time,
        /// The provider's number of the processor.
        processor: u32,
        /// The end of the job before.
        until: Time,
    },
    /// A job on a processor that was down.
    #[error("job {job} ran from {start} s to {end} s on processor {processor}, which was down")]
    Down {
        /// The job's number in the run.
        job: i64,
        /// Its start.
        start: Time,
        /// Its end.
        end: Time,
        /// The provider's number of the processor.
        processor: u32,
    },
    /// A job on a processor that was in maintenance.
    #[error(
        "job {job} ran from {start} s to {end} s on processor {processor}, which was in maintenance"
    )]
    Closed {
        /// The job's number in the run.
        job: i64,
        /// Its start.
        start: Time,
        /// Its end.
        end: Time,
        /// The provider's number of the processor.
        processor: u32,
    },
    /// The work in the summary differs from the work of all jobs.
    #[error("processors were held for {held} us, and the summary has {summed} us")]
    WorkLost {
        /// Processor-microseconds of all jobs and tasks.
        held: i128,
        /// Work in the summary, processor-microseconds.
        summed: i128,
    },
    /// A job got another number of processors than it requested.
    #[error("job {job} asked for {asked} processors and got {got}")]
    WrongWidth {
        /// The job's number in the run.
        job: i64,
        /// Processors it needs.
        asked: u32,
        /// Processors it ran on.
        got: u32,
    },
    /// The computing of a job's attempts, without lost work, differs from its run time.
    #[error("job {job} computes for {asked} s, and its attempts computed for {computed} s")]
    WrongLength {
        /// The job's number in the run.
        job: i64,
        /// Its run time on these processors, or its limit if it reached that.
        asked: Span,
        /// Computing that failures did not undo.
        computed: Span,
    },
    /// A job started before its submission, or before it was ready.
    #[error("job {job} started at {start} s, before it was submitted and ready")]
    TooEarly {
        /// The job's number in the run.
        job: i64,
        /// Its start.
        start: Time,
    },
    /// A moved job started before its data had arrived.
    #[error("job {job} started at {start} s, and its data came at {ready} s")]
    WithoutData {
        /// The job's number in the run.
        job: i64,
        /// Its start.
        start: Time,
        /// Time at which its data arrived.
        ready: Time,
    },
    /// A task of a workflow started without one of its inputs.
    #[error("task {job} started at {start} s, and its input of {bytes} bytes was not there")]
    WithoutInput {
        /// The job's number in the run.
        job: i64,
        /// Its start.
        start: Time,
        /// Size of the missing input.
        bytes: u64,
    },
    /// A moved job computed before its start-up was over.
    #[error("job {job} needs a start-up of {start_up} s, and spent {spent} s on it at most")]
    NotStartedUp {
        /// The job's number in the run.
        job: i64,
        /// Time for which it had to hold its processors before it computed.
        start_up: Span,
        /// Time for which it did not compute.
        spent: Span,
    },
    /// A reservation started outside its granted window, and was not reported as broken.
    #[error("job {job} started at {start} s, outside the window that was granted to it")]
    OutsideWindow {
        /// The job's number in the run.
        job: i64,
        /// Its start.
        start: Time,
    },
    /// A reservation never started, and was neither withdrawn nor given back.
    #[error("job {job} never started, and the end of its window is not recorded")]
    Forgotten {
        /// The job's number in the run.
        job: i64,
    },
    /// The parts of a rigid job did not run together.
    #[error("the parts of job {job} did not start and end together")]
    TornApart {
        /// The job's number in the run.
        job: i64,
    },
    /// The number of tasks that ran differs from the size of the bag.
    #[error("bag {job} has {asked} tasks, and {got} ran")]
    TasksLost {
        /// The job's number in the run.
        job: i64,
        /// Tasks it has.
        asked: u32,
        /// Tasks that ran.
        got: u32,
    },
    /// An application ran an interval that was not the next one.
    #[error("application {job} had done {done} phases, and ran phases {first} to {last} next")]
    PhasesOutOfOrder {
        /// The job's number in the run.
        job: u32,
        /// Phases that were done.
        done: u32,
        /// The first phase of the interval.
        first: u32,
        /// Its last phase.
        last: u32,
    },
    /// An application was completed before all of its phases, or all phases were done without its completion.
    #[error("application {job} has {phases} phases, had done {done}, and was {outcome}")]
    PhasesLost {
        /// The job's number in the run.
        job: i64,
        /// Its phases.
        phases: u32,
        /// Phases that were done.
        done: u32,
        /// Its outcome.
        outcome: &'static str,
    },
    /// A job of a grid was done twice.
    #[error("job {job} was done twice")]
    DoneTwice {
        /// The job's number in the run.
        job: i64,
    },
    /// The accounts of a grid do not balance. This is checked in every run.
    #[error(transparent)]
    Grid(#[from] GridViolation),
    /// The attempts of a job of a grid do not add up to it.
    #[error(transparent)]
    GridJob(#[from] GridError),
}

/// The number of a job in the run, by which all messages name it.
fn number(record: &JobRecord) -> i64 {
    i64::from(record.job.id.0)
}

impl Check {
    /// Starts with all processors of `cast` up and never held.
    pub fn new(cast: &Cast) -> Check {
        Check {
            processors: cast.providers.iter().map(|it| Processors::new(it.processors)).collect(),
            speeds: cast.providers.iter().map(|it| it.speed).collect(),
            held: 0,
            done: BTreeSet::new(),
            phases: BTreeMap::new(),
            staged: BTreeMap::new(),
            flows: Flows::default(),
        }
    }

    /// Records the stage-in of a job at the provider to which it has been submitted.
    pub fn staged(&mut self, job: JobId, stage_in: StageIn) {
        if stage_in == StageIn::NOTHING {
            self.staged.remove(&job);
        } else {
            self.staged.insert(job, stage_in);
        }
    }

    /// A moved job must not start before its data have arrived, and must not compute during its
    /// start-up. All of its attempts were at the last provider.
    fn has_staged_in(&mut self, record: &JobRecord) -> Result<(), Violation> {
        let Some(stage_in) = self.staged.remove(&record.job.id) else { return Ok(()) };
        let (job, StageIn { ready, start_up }) = (number(record), stage_in);
        let lost = record.lost.iter().map(|run| (run.start, run.end, run.checkpointing));
        let last = record.start.map(|start| (start, record.end, record.checkpointing));
        for (start, end, spent) in lost.chain(last) {
            if start < ready {
                return Err(Violation::WithoutData { job, start, ready });
            }
            // An attempt may also end during its start-up.
            if spent < start_up.min(end - start) {
                return Err(Violation::NotStartedUp { job, start_up, spent });
            }
        }
        Ok(())
    }

    /// Records that processors have failed or have been restored. Attempts lost with them must have
    /// been recorded before.
    pub fn processors_changed(
        &mut self,
        now: Time,
        provider: ProviderId,
        processors: &ProcessorSet,
        change: Availability,
    ) {
        let all = &mut self.processors[provider.index()];
        for &interval in processors.intervals() {
            let Ok(()) = all.change(interval, |_, processor| {
                (processor.state, processor.since) = (change, now);
                Ok::<(), Infallible>(())
            });
        }
    }

    /// Records that processors are closed for maintenance. Attempts that ended earlier must have been
    /// recorded before.
    pub fn maintenance(&mut self, record: &MaintenanceRecord) {
        let all = &mut self.processors[record.provider.index()];
        for &interval in record.closed().iter().flat_map(|it| it.intervals()) {
            let Ok(()) = all.change(interval, |_, processor| {
                processor.closed = (record.start, record.end);
                Ok::<(), Infallible>(())
            });
        }
    }

    /// Records an attempt on processors that failed.
    ///
    /// # Errors
    /// If an invariant is violated.
    pub fn run_lost(&mut self, job: JobId, run: &LostRun) -> Result<(), Violation> {
        self.hold(i64::from(job.0), run.provider, run.start, run.end, &run.processors)
    }

    /// The parts of a rigid job must start and end together, and take the expected time.
    fn runs_whole(
        &self,
        record: &JobRecord,
        bag: &BagRecord,
        placed: &Coallocated,
    ) -> Result<(), Violation> {
        let job = number(record);
        let mut runs = bag.shares.iter().flat_map(|share| &share.runs);
        let Some(first) = runs.next() else { return Ok(()) };
        // Under an agreement, the end of the run may come before a provider hears that its part may begin.
        let fewest = match (record.outcome, placed.agreement) {
            // A part that lost its processors has no run; the lost attempt was recorded.
            (JobOutcome::Unfinished | JobOutcome::Failed, Some(_)) => 0,
            _ => 1,
        };
        if bag.shares.iter().any(|share| !(fewest..=1).contains(&share.runs.len()))
            || placed.agreement.is_none()
                && runs.any(|run| (run.start, run.end) != (first.start, first.end))
        {
            return Err(Violation::TornApart { job });
        }
        let computed = first.end - first.start;
        // All parts run on processors of one speed.
        let speed = bag.shares.first().map_or(1.0, |share| self.speeds[share.provider.index()]);
        let overhead = if bag.shares.len() > 1 { placed.overhead } else { 0 };
        let asked = match record.outcome {
            JobOutcome::Completed => match placed.run_time {
                Some(there) => there.reveal_to_machine(),
                None => {
                    with_overhead(record.job.run_time.reveal_to_machine().at_speed(speed), overhead)
                }
            },
            JobOutcome::WalltimeReached => record.walltime.unwrap_or(computed),
            // Other outcomes may end a job at any point.
            _ => computed,
        };
        if computed == asked {
            Ok(())
        } else {
            Err(Violation::WrongLength { job, asked, computed })
        }
    }

    /// Ends the run; `summed` is the work in its summary, processor-microseconds.
    ///
    /// # Errors
    /// If both sums of work differ.
    pub fn run_over(&self, summed: i128) -> Result<(), Violation> {
        let held = self.held;
        if held == summed { Ok(()) } else { Err(Violation::WorkLost { held, summed }) }
    }

    /// Records a job that is over. Jobs come in the order of their ends. A job therefore overlaps with
    /// an earlier one only if it started before the end of that one.
    ///
    /// # Errors
    /// If an invariant is violated.
    pub fn job_over(&mut self, record: &JobRecord) -> Result<(), Violation> {
        let (job, asked) = (number(record), record.job.processors);
        not_too_early(record)?;
        not_forgotten(record)?;
        self.has_staged_in(record)?;
        self.flows.job_over(record)?;
        if let Some(bag) = &record.bag {
            // Times and processors of its tasks have been checked in [`Check::tasks_over`].
            let runs = bag.shares.iter().flat_map(|share| &share.runs);
            let got = runs.map(|run| run.processors.count()).sum();
            if bag.phased {
                return self.all_phases(record);
            }
            // A bag that failed, or that the end of the run cut off, has not run all of its tasks.
            let whole = !matches!(record.outcome, JobOutcome::Failed | JobOutcome::Unfinished);
            if got != asked && record.start.is_some() && whole {
                return Err(Violation::TasksLost { job, asked, got });
            }
            return match bag.coallocated {
                Some(placed) => self.runs_whole(record, bag, &placed),
                None => Ok(()),
            };
        }
        let (Some(provider), Some(start)) = (record.provider, record.start) else { return Ok(()) };
        let got = record.processors.count();
        let moldable = Moldable::of(&record.job);
        // A job that shares its nodes with no other one gets all of their processors.
        let whole_nodes = record.job.demand.as_ref().is_some_and(|it| it.exclusive);
        let all = got == asked || whole_nodes && got > asked;
        // A moldable job may get any number of processors up to its limit.
        if !all && moldable.is_none_or(|it| got == 0 || got > it.widest(u32::MAX)) {
            return Err(Violation::WrongWidth { job, asked, got });
        }
        let ran = record.run_time().unwrap_or(Span::ZERO);
        let computed = ran - record.checkpointing;
        let speed = self.speeds[provider.index()];
        let long = record.job.run_time.reveal_to_machine().at_speed(speed);
        // A provider without support for moldable jobs runs this job as a rigid one.
        let molded = moldable.map(|it| it.run_time(&record.job, got, speed));
        let asked = match record.outcome {
            JobOutcome::Completed => molded.filter(|&it| it == computed).unwrap_or(long),
            JobOutcome::WalltimeReached => record.walltime.unwrap_or(computed),
            _ => computed,
        };
        if computed != asked {
            return Err(Violation::WrongLength { job, asked, computed });
        }
        self.hold(job, provider, start, record.end, &record.processors)
    }

    /// Records an interval of an application. It must continue where the last completed interval ended.
    ///
    /// # Errors
    /// If an invariant is violated.
    pub fn interval_over(&mut self, it: &IntervalRecord) -> Result<(), Violation> {
        let done = self.phases.entry(it.job).or_default();
        let (job, first, last) = (it.job.0, it.first, it.last);
        if first != *done + 1 || last < first {
            return Err(Violation::PhasesOutOfOrder { job, done: *done, first, last });
        }
        // Phases of an interval that was lost must run again.
        if it.ending == IntervalEnd::Done {
            *done = last;
        }
        Ok(())
    }

    /// An application must be completed exactly if all of its phases are done.
    fn all_phases(&mut self, record: &JobRecord) -> Result<(), Violation> {
        let phases = record.job.phases.as_ref().map_or(0, |it| it.phases()) as u32;
        let done = self.phases.remove(&record.job.id).unwrap_or(0);
        if (done == phases) == (record.outcome == JobOutcome::Completed) {
            return Ok(());
        }
        let (job, outcome) = (number(record), record.outcome.name());
        Err(Violation::PhasesLost { job, phases, done, outcome })
    }

    /// Records a job of a grid that is over.
    ///
    /// # Errors
    /// If the job was done before.
    pub fn grid_job_over(&mut self, record: &GridJobRecord) -> Result<(), Violation> {
        let is_done = matches!(record.outcome, GridOutcome::Done { .. });
        if is_done && !self.done.insert(record.job.id) {
            return Err(Violation::DoneTwice { job: i64::from(record.job.id.0) });
        }
        Ok(())
    }

    /// Checks a job of a grid whose attempts are all known.
    ///
    /// # Errors
    /// If an invariant is violated.
    pub fn settled(&self, job: &SettledJob) -> Result<(), Violation> {
        not_too_early(&job.record)
    }

    /// Records tasks of a bag that are over, in the order of their ends like jobs.
    ///
    /// # Errors
    /// If an invariant is violated.
    pub fn tasks_over(
        &mut self,
        job: JobId,
        provider: ProviderId,
        run: &TaskRun,
    ) -> Result<(), Violation> {
        self.hold(i64::from(job.0), provider, run.start, run.end, &run.processors)
    }

    fn hold(
        &mut self,
        job: i64,
        provider: ProviderId,
        start: Time,
        end: Time,
        processors: &ProcessorSet,
    ) -> Result<(), Violation> {
        self.held += i128::from((end - start).as_micros()) * i128::from(processors.count());
        let all = &mut self.processors[provider.index()];
        for &interval in processors.intervals() {
            all.change(interval, |processor, it| {
                let Processor { held_until, state, since, closed } = it;
                let until = std::mem::replace(held_until, end);
                if start < until {
                    return Err(Violation::HeldTwice { job, start, processor, until });
                }
                // Attempts are recorded at their ends, so the last change of the processor is the
                // relevant one.
                let was_up = match state {
                    Availability::Restored => *since <= start,
                    Availability::Failed => false,
                };
                if !was_up {
                    return Err(Violation::Down { job, start, end, processor });
                }
                if start < closed.1 && closed.0 < end {
                    return Err(Violation::Closed { job, start, end, processor });
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The granted window counts, because the user may have accepted another one than requested.
fn not_too_early(record: &JobRecord) -> Result<(), Violation> {
    let job = number(record);
    let Some(start) = record.start else { return Ok(()) };
    let granted = record.granted.as_ref();
    let ready = granted.map_or(record.job.ready, |granted| granted.ready);
    let ready = ready.map_or(record.job.submit, |ready| ready.max(record.job.submit));
    // A job of a start state started before time zero, at a stated time, or from then on.
    let due = record.job.initial.map_or(ready, |initial| initial.due());
    if start < ready.max(due) {
        return Err(Violation::TooEarly { job, start });
    }
    match granted.filter(|granted| !granted.is_broken() && !granted.holds(start)) {
        Some(_) => Err(Violation::OutsideWindow { job, start }),
        None => Ok(()),
    }
}

/// A granted reservation must have started, or the reason why not must be known.
fn not_forgotten(record: &JobRecord) -> Result<(), Violation> {
    let waits = matches!(record.outcome, JobOutcome::Cancelled | JobOutcome::Unfinished);
    let kept = |granted: &GrantedWindow| waits || record.start.is_some() || granted.is_revoked();
    match record.granted.as_ref().is_none_or(|granted| kept(granted)) {
        true => Ok(()),
        false => Err(Violation::Forgotten { job: number(record) }),
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::reservation::{Answer, Cause, Displacement};
    use haggle_model::{
        Job, JobClass, JobOutcome, ProcessorSet, ProviderId, ProviderInfo, Span, WindowFate,
    };

    use super::*;

    fn record(number: u32, start: i64, end: i64, first: u32) -> JobRecord {
        let start = Time::from_secs(start);
        JobRecord {
            job: Job::new(number, Time::ZERO, 2, Span::from_secs(end) - (start - Time::ZERO))
                .into(),
            class: JobClass::Local,
            outcome: JobOutcome::Completed,
            provider: Some(ProviderId(0)),
            queued: Some(Time::ZERO),
            start: Some(start),
            end: Time::from_secs(end),
            walltime: None,
            promised_end: None,
            processors: ProcessorSet::range(first, 2),
            bag: None,
            lost: Vec::new(),
            given_up: Vec::new(),
            checkpointing: Span::ZERO,
            checkpoints: Vec::new(),
            granted: None,
            alternative: None,
            recorded: None,
            priority: None,
        }
    }

    fn four_processors() -> Check {
        let provider = ProviderInfo {
            name: "a".to_owned(),
            processors: 4,
            first_processor: 0,
            speed: 1.0,
            scheduler: String::new(),
            may_preempt: false,
            may_fail: false,
            nodes: None,
        };
        Check::new(&Cast { providers: vec![provider], ..Cast::default() })
    }

    /// Task 1 needs the output of task 0, which was sent at 12 s and arrived at 15 s.
    #[test]
    fn a_task_without_its_input_is_found() {
        use haggle_model::workflow::{Input, Need, Staged, Transfer, WorkflowTask};
        let need = Need { made_by: Some(0), bytes: 7 };
        let task = |number, needs: &[Need]| WorkflowTask {
            workflow: 3,
            task: number,
            data: None,
            progress: None,
            needs: needs.into(),
        };
        let of = |record: JobRecord, task: WorkflowTask| {
            let job = Job { task: Some(task.into()), ..Job::clone(&record.job) };
            JobRecord { job: job.into(), ..record }
        };
        let times = |sent, arrived| {
            let arrived = Some(Time::from_secs(arrived));
            Some(Transfer { sent: Time::from_secs(sent), arrived })
        };
        let checked = |moved, start: i64, done: bool| {
            let mut check = four_processors();
            if done {
                check.job_over(&of(record(0, 0, 10, 0), task(0, &[]))).expect("it may");
            }
            let input = Input { need, from: haggle_model::ActorId(0), moved };
            let at = haggle_model::ActorId(1);
            check.flows.staged(&Staged { job: JobId(1), at, inputs: vec![input] });
            check.job_over(&of(record(1, start, start + 5, 2), task(1, &[need])))
        };
        assert_eq!(checked(times(12, 15), 15, true), Ok(()));
        assert_eq!(checked(None, 10, true), Ok(()));
        for (moved, start, done) in
            [(times(12, 15), 14, true), (times(9, 12), 20, true), (None, 20, false)]
        {
            let found = checked(moved, start, done);
            let start = Time::from_secs(start);
            assert_eq!(found, Err(Violation::WithoutInput { job: 1, start, bytes: 7 }));
        }
    }

    #[test]
    fn a_processor_held_twice_is_found() {
        let mut check = four_processors();
        assert_eq!(check.job_over(&record(0, 0, 10, 0)), Ok(()));
        assert_eq!(check.job_over(&record(1, 10, 20, 0)), Ok(()));
        assert_eq!(check.job_over(&record(2, 5, 21, 2)), Ok(()));
        let violation = check.job_over(&record(3, 19, 30, 1)).expect_err("processor 1 is held");
        assert_eq!(
            violation.to_string(),
            "job 3 started at 19 s on processor 1, held by another until 20 s"
        );
    }

    #[test]
    fn a_job_on_processors_in_maintenance_is_found() {
        let window = MaintenanceRecord {
            provider: ProviderId(0),
            number: 0,
            announced: Time::ZERO,
            start: Time::from_secs(10),
            end: Time::from_secs(20),
            processors: 2,
            fate: WindowFate::Begun(ProcessorSet::range(1, 2)),
        };
        let ran = |start: i64, end: i64, first| {
            let mut check = four_processors();
            check.maintenance(&window);
            check.job_over(&record(0, start, end, first)).map_err(|it| it.to_string())
        };
        assert_eq!(ran(0, 10, 1), Ok(()));
        assert_eq!(ran(20, 30, 1), Ok(()));
        let text = "which was in maintenance";
        assert_eq!(
            ran(9, 11, 0),
            Err(format!("job 0 ran from 9 s to 11 s on processor 1, {text}"))
        );
        assert_eq!(
            ran(19, 25, 2),
            Err(format!("job 0 ran from 19 s to 25 s on processor 2, {text}"))
        );
    }

    #[test]
    fn a_reservation_outside_its_window_is_found() {
        let (at, span) = (Time::ZERO, Span::from_secs(10));
        let granted = GrantedWindow {
            at,
            ready: Some(Time::from_secs(5)),
            deadline: Time::from_secs(20),
            asked: 2,
            processors: 2,
            span,
            planned: Time::from_secs(5),
            distance: None,
            fixed: None,
            displaced: Vec::new(),
        };
        let displaced = |answer, span| Displacement {
            at,
            cause: Cause::Failure,
            answer,
            processors: 2,
            span,
            start: None,
        };
        let postponed = displaced(Answer::Postponed, span);
        let started = |start: i64, broken| {
            let displaced = if broken { vec![postponed] } else { Vec::new() };
            let granted = Some(Box::new(GrantedWindow { displaced, ..granted.clone() }));
            let record = JobRecord { granted, ..record(0, start, start + 10, 0) };
            four_processors().job_over(&record)
        };
        let (job, start) = (0, Time::from_secs(11));
        assert_eq!(started(10, false), Ok(()));
        assert_eq!(started(11, false), Err(Violation::OutsideWindow { job, start }));
        assert_eq!(started(11, true), Ok(()), "it has been said");
        let start = Time::from_secs(4);
        assert_eq!(started(4, true), Err(Violation::TooEarly { job, start }));
        let failed = |displaced| {
            let granted = Some(Box::new(GrantedWindow { displaced, ..granted.clone() }));
            let record = record(0, 5, 15, 0);
            let record = JobRecord { granted, start: None, outcome: JobOutcome::Failed, ..record };
            four_processors().job_over(&record)
        };
        assert_eq!(failed(Vec::new()), Err(Violation::Forgotten { job }));
        assert_eq!(failed(vec![displaced(Answer::Revoked, span)]), Ok(()));
    }

    #[test]
    fn a_job_that_has_moved_without_paying_is_found() {
        let seconds = Span::from_secs;
        let moved = |start: i64, start_up: i64, spent: i64| {
            let mut check = four_processors();
            let stage_in = StageIn { ready: Time::from_secs(5), start_up: seconds(start_up) };
            check.staged(JobId(0), stage_in);
            let mut record = record(0, start, start + 10, 0);
            record.checkpointing = seconds(spent);
            record.job = Job::new(0, Time::ZERO, 2, seconds(10 - spent)).into();
            check.job_over(&record)
        };
        assert_eq!(moved(5, 3, 3), Ok(()));
        let (job, start, ready) = (0, Time::from_secs(4), Time::from_secs(5));
        assert_eq!(moved(4, 3, 3), Err(Violation::WithoutData { job, start, ready }));
        let (start_up, spent) = (seconds(3), seconds(2));
        assert_eq!(moved(5, 3, 2), Err(Violation::NotStartedUp { job, start_up, spent }));
    }

    #[test]
    fn a_job_that_is_too_short_is_found() {
        let mut check = four_processors();
        let mut resumed = record(0, 20, 30, 0);
        let (saved, checkpointing) = (Span::from_secs(4), Span::from_secs(1));
        let (start, end) = (Time::ZERO, Time::from_secs(9));
        let processors = ProcessorSet::range(0, 2);
        let provider = ProviderId(0);
        resumed.lost = vec![LostRun {
            stopped_for: None,
            cancelled: false,
            provider,
            start,
            end,
            processors,
            saved,
            checkpointing,
            checkpoints: Vec::new(),
        }];
        resumed.checkpointing = Span::from_secs(3);
        let violation = check.job_over(&resumed).expect_err("it has done 1 s too much");
        assert_eq!(
            violation.to_string(),
            "job 0 computes for 10 s, and its attempts computed for 11 s"
        );
    }

    #[test]
    fn a_job_that_is_done_twice_is_found() {
        let (job, now) = (Job::new(0, Time::ZERO, 1, Span::from_secs(1)), Time::from_secs(1));
        let outcome = GridOutcome::Done { winner: 1, computed: now, end: now };
        let over =
            GridJobRecord { job: job.into(), class: JobClass::External, share: None, outcome };
        let mut check = Check::new(&Cast::default());
        assert_eq!(check.grid_job_over(&over), Ok(()));
        assert_eq!(check.grid_job_over(&over), Err(Violation::DoneTwice { job: 0 }));
    }
}
