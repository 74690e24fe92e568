//! The attempts of a job that is over, and the processors that each of them held: the rows of `attempts` and
//! `placements`, before they are written.

use haggle_model::{
    AttemptOutcome, JobId, JobOutcome, JobRecord, LostRun, ProcessorSet, ProviderId, ShareRecord,
    Span, TaskRun, Time,
};

/// An attempt of a job, or of a part or share of it, at a provider.
#[derive(Clone, Copy, Debug)]
pub struct AttemptView<'r> {
    /// Number of the attempt, from 1.
    pub number: i64,
    /// Its provider.
    pub provider: ProviderId,
    /// Time at which the provider queued it.
    pub queued: Option<Time>,
    /// Its start; `None` = it never started.
    pub start: Option<Time>,
    /// Its end, or the end of the run; `None` = a share of which no task ran.
    pub end: Option<Time>,
    /// Processors that it needs or got; tasks of a share.
    pub processors: u32,
    /// Its outcome.
    pub outcome: AttemptOutcome,
    /// Completion that was promised for it.
    pub promised_end: Option<Time>,
    /// The job for which it was stopped.
    pub stopped_for: Option<JobId>,
    /// Computing that the next attempt need not repeat.
    pub saved: Span,
    /// Time without computing.
    pub checkpointing: Span,
    /// The processors that it held, and when.
    pub held: Holding<'r>,
}

/// Processors that an attempt held, by the provider's own numbers.
#[derive(Clone, Copy, Debug)]
pub enum Holding<'r> {
    /// The same ones from its start to its end; none if it never started.
    Throughout(&'r ProcessorSet),
    /// On the processors of the tasks of a share, each for its time.
    Tasks(&'r [TaskRun]),
}

impl<'r> AttemptView<'r> {
    /// Calls `take` with each attempt of a job at providers, in the order of the table `attempts`.
    ///
    /// # Errors
    /// The first error of `take`.
    pub fn each<E>(
        record: &'r JobRecord,
        mut take: impl FnMut(AttemptView<'r>) -> Result<(), E>,
    ) -> Result<(), E> {
        let shares = record.bag.as_ref().map_or(&[][..], |bag| &bag.shares);
        for (number, share) in (1..).zip(shares) {
            let outcome = outcome_of(share, record.outcome).into();
            take(AttemptView::of_share(number, share, outcome))?;
        }
        // Lost attempts of a bag are numbered after its shares.
        let lost = (shares.len() as i64 + 1..).zip(&record.lost);
        for (number, run) in lost {
            take(AttemptView::of_lost(number, run, record))?;
        }
        let last = record.provider.filter(|_| record.bag.is_none() && record.has_last_attempt());
        if let Some(provider) = last {
            take(AttemptView::last(record, provider))?;
        }
        let given_up = (record.attempts() as i64 + 1..).zip(&record.given_up);
        for (number, part) in given_up {
            take(AttemptView::given_up(number, part))?;
        }
        Ok(())
    }

    /// A part that ran in vain: its agreement ended without the whole job.
    pub fn given_up(number: i64, part: &'r ShareRecord) -> AttemptView<'r> {
        AttemptView::of_share(number, part, AttemptOutcome::GivenUp)
    }

    /// Calls `take` with each set of processors that it held, with the beginning and the end.
    ///
    /// # Errors
    /// The first error of `take`.
    pub fn each_held<E>(
        &self,
        mut take: impl FnMut(&'r ProcessorSet, Time, Time) -> Result<(), E>,
    ) -> Result<(), E> {
        match (self.held, self.start, self.end) {
            (Holding::Throughout(processors), Some(start), Some(end)) => {
                take(processors, start, end)
            }
            (Holding::Throughout(_), ..) => Ok(()),
            (Holding::Tasks(runs), ..) => {
                runs.iter().try_for_each(|run| take(&run.processors, run.start, run.end))
            }
        }
    }

    /// The attempt of a rigid job that was not lost, or that still waits.
    fn last(record: &'r JobRecord, provider: ProviderId) -> AttemptView<'r> {
        AttemptView {
            number: record.lost.len() as i64 + 1,
            provider,
            queued: record.queued,
            start: record.start,
            end: Some(record.end),
            processors: record.width(),
            outcome: record.outcome.into(),
            promised_end: record.promised_end,
            stopped_for: None,
            saved: Span::ZERO,
            checkpointing: record.checkpointing,
            held: Holding::Throughout(&record.processors),
        }
    }

    /// An attempt that a failure or another job ended.
    fn of_lost(number: i64, run: &'r LostRun, record: &JobRecord) -> AttemptView<'r> {
        AttemptView {
            number,
            provider: run.provider,
            queued: record.queued,
            start: Some(run.start),
            end: Some(run.end),
            processors: run.processors.count(),
            outcome: match run.stopped_for {
                Some(_) => AttemptOutcome::Preempted,
                None => AttemptOutcome::Failed,
            },
            promised_end: record.promised_end,
            stopped_for: run.stopped_for,
            saved: run.saved,
            checkpointing: run.checkpointing,
            held: Holding::Throughout(&run.processors),
        }
    }

    fn of_share(number: i64, share: &'r ShareRecord, outcome: AttemptOutcome) -> AttemptView<'r> {
        AttemptView {
            number,
            provider: share.provider,
            queued: Some(share.queued),
            start: share.runs.iter().map(|run| run.start).min(),
            end: share.runs.iter().map(|run| run.end).max(),
            processors: share.tasks,
            outcome,
            promised_end: share.promised_end,
            stopped_for: None,
            saved: Span::ZERO,
            checkpointing: Span::ZERO,
            held: Holding::Tasks(&share.runs),
        }
    }
}

/// The outcome of a share of a job.
fn outcome_of(share: &ShareRecord, job: JobOutcome) -> JobOutcome {
    let over: u32 = share.runs.iter().map(|run| run.processors.count()).sum();
    match share.runs.iter().find(|run| run.outcome != JobOutcome::Completed) {
        // Some tasks have no end. They failed or still wait, as the job's outcome says.
        _ if over < share.tasks => job,
        Some(run) => run.outcome,
        None => JobOutcome::Completed,
    }
}
