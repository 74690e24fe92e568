//! What must hold at every instant, checked job by job as they end.

use haggle_model::{Cast, JobId, JobRecord, ProcessorSet, ProviderId, TaskRun, Time};

/// Remembers until when each processor was held.
pub struct Check {
    held_until: Vec<Vec<Time>>,
}

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Two jobs on one processor at one time.
    #[error(
        "job {job} started at {start} s on processor {processor}, held by another until {until} s"
    )]
    HeldTwice {
        /// The job's number in its workload.
        job: i64,
        /// Its start.
        start: Time,
        /// The provider's number of the processor.
        processor: u32,
        /// The end of the job before.
        until: Time,
    },
    /// A job got another number of processors than it asked for.
    #[error("job {job} asked for {asked} processors and got {got}")]
    WrongWidth {
        /// The job's number in its workload.
        job: i64,
        /// Processors it needs.
        asked: u32,
        /// Processors it ran on.
        got: u32,
    },
    /// A job started before its submission.
    #[error("job {job} started at {start} s, before its submission")]
    TooEarly {
        /// The job's number in its workload.
        job: i64,
        /// Its start.
        start: Time,
    },
    /// Of a bag, more or fewer tasks ran than it has.
    #[error("bag {job} has {asked} tasks, and {got} ran")]
    TasksLost {
        /// The job's number in its workload.
        job: i64,
        /// Tasks it has.
        asked: u32,
        /// Tasks that ran.
        got: u32,
    },
}

impl Check {
    /// All processors of `cast`, never held so far.
    pub fn new(cast: &Cast) -> Check {
        let processors = cast.providers.iter().map(|it| it.processors as usize);
        Check { held_until: processors.map(|count| vec![Time::ZERO; count]).collect() }
    }

    /// Takes in a job that is over. Jobs come in order of their ends, so that a
    /// job overlaps with one before it only if it started before that one ended.
    ///
    /// # Errors
    /// What is violated.
    pub fn job_over(&mut self, record: &JobRecord) -> Result<(), Violation> {
        let (job, asked) = (record.job.number, record.job.processors);
        if let Some(start) = record.start.filter(|&start| start < record.job.submit) {
            return Err(Violation::TooEarly { job, start });
        }
        if let Some(bag) = &record.bag {
            // When and where each of its tasks ran was checked then.
            let runs = bag.shares.iter().flat_map(|share| &share.runs);
            let got = runs.map(|run| run.processors.count()).sum();
            if got != asked && record.start.is_some() {
                return Err(Violation::TasksLost { job, asked, got });
            }
            return Ok(());
        }
        let (Some(provider), Some(start)) = (record.provider, record.start) else { return Ok(()) };
        let got = record.processors.count();
        if got != asked {
            return Err(Violation::WrongWidth { job, asked, got });
        }
        self.hold(job, provider, start, record.end, &record.processors)
    }

    /// Takes in tasks of a bag that are over, in order of their ends like jobs.
    ///
    /// # Errors
    /// What is violated.
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
        let held = &mut self.held_until[provider.index()];
        for &(first, last) in processors.intervals() {
            for processor in first..=last {
                let until = std::mem::replace(&mut held[processor as usize], end);
                if start < until {
                    return Err(Violation::HeldTwice { job, start, processor, until });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::{Job, JobClass, JobOutcome, ProcessorSet, ProviderId, ProviderInfo, Span};

    use super::*;

    fn record(number: u32, start: i64, end: i64, first: u32) -> JobRecord {
        let start = Time::from_secs(start);
        JobRecord {
            job: Job::new(number, Time::ZERO, 2, Span::from_secs(1)),
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
        }
    }

    #[test]
    fn a_processor_held_twice_is_found() {
        let provider = ProviderInfo {
            name: "a".to_owned(),
            processors: 4,
            first_processor: 0,
            speed: 1.0,
            scheduler: String::new(),
        };
        let mut check = Check::new(&Cast { providers: vec![provider], ..Cast::default() });
        assert_eq!(check.job_over(&record(0, 0, 10, 0)), Ok(()));
        assert_eq!(check.job_over(&record(1, 10, 20, 0)), Ok(()));
        assert_eq!(check.job_over(&record(2, 5, 21, 2)), Ok(()));
        let violation = check.job_over(&record(3, 19, 30, 1)).expect_err("processor 1 is held");
        assert_eq!(
            violation.to_string(),
            "job 4 started at 19 s on processor 1, held by another until 20 s"
        );
    }
}
