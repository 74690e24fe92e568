//! Takes down a run: tables if there is a folder, metrics in any case.

mod grid;

use haggle_agents::Message;
use haggle_model::{
    ActorId, Cast, JobOutcome, JobRecord, JobStories, Observation, ProcessorSet, ProviderId,
    Refusal, Time,
};
use haggle_results::{Availability, Metrics, MetricsOptions, ResultsError, RunWriter};
use haggle_runtime::Recorder;
use haggle_runtime::world::OutsideError;

use super::check::Check;
use super::run::{Conduct, Watch};

/// What a run leaves in memory and, if asked for, on disk.
pub(super) struct Record<'a> {
    pub(super) writer: Option<RunWriter>,
    pub(super) metrics: Metrics,
    /// Jobs that are over.
    pub(super) jobs_over: u64,
    /// Those of them that no provider could ever run.
    pub(super) too_wide: u64,
    stories: JobStories,
    check: Option<Check>,
    watch: &'a dyn Watch,
    in_grid: bool,
}

impl Record<'_> {
    pub(super) fn new<'a>(
        cast: &Cast,
        options: MetricsOptions,
        writer: Option<RunWriter>,
        conduct: &Conduct<'a>,
    ) -> Record<'a> {
        Record {
            writer,
            metrics: Metrics::new(cast, options),
            jobs_over: 0,
            too_wide: 0,
            stories: JobStories::default(),
            check: conduct.check.then(|| Check::new(cast)),
            watch: conduct.watch,
            in_grid: !cast.sites.is_empty(),
        }
    }

    /// Nothing more happens.
    pub(super) fn run_over(&mut self, now: Time) -> Result<(), OutsideError> {
        self.grid_over(now)?;
        self.metrics.run_over(now);
        match &self.check {
            Some(check) => Ok(check.run_over(self.metrics.work())?),
            None => Ok(()),
        }
    }

    /// Counts a job that is over in whatever way.
    fn count(&mut self, now: Time) {
        self.jobs_over += 1;
        if self.jobs_over.is_multiple_of(PROGRESS_INTERVAL) {
            self.watch.progress(self.jobs_over, now);
        }
    }

    /// A provider refuses only what it could never run, a metascheduler what all do.
    fn count_too_wide(&mut self, outcome: JobOutcome) {
        let too_wide =
            matches!(outcome, JobOutcome::Rejected(Refusal::TooWide | Refusal::NoProvider));
        self.too_wide += u64::from(too_wide);
    }

    fn processors_changed(
        &mut self,
        now: Time,
        provider: ProviderId,
        processors: &ProcessorSet,
        change: Availability,
    ) -> Result<(), OutsideError> {
        let count = processors.count();
        match change {
            Availability::Failed => self.metrics.processors_failed(now, provider, count),
            Availability::Restored => self.metrics.processors_restored(now, provider, count),
        }
        if let Some(check) = &mut self.check {
            check.processors_changed(now, provider, processors, change);
        }
        match &mut self.writer {
            Some(writer) => {
                writer.processors_changed(now, provider, processors, change).map_err(boxed)
            }
            None => Ok(()),
        }
    }
}

/// How often the watch hears of progress, in jobs.
const PROGRESS_INTERVAL: u64 = 1_000;

impl Recorder for Record<'_> {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        // What an actor says to itself tells nobody anything.
        if let Some(writer) = &mut self.writer
            && from != to
        {
            writer.message(now, from, to, message.kind(), message.job()).map_err(boxed)?;
        }
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: Observation,
    ) -> Result<(), OutsideError> {
        match observation {
            Observation::TasksOver { job, provider, run } => {
                if let Some(check) = &mut self.check {
                    check.tasks_over(job, provider, &run)?;
                }
                self.stories.tasks_over(job, provider, run);
                Ok(())
            }
            Observation::ShareOver(share) => {
                self.stories.share_over(*share);
                Ok(())
            }
            Observation::RunLost { job, run } => {
                if let Some(check) = &mut self.check {
                    check.run_lost(job, &run)?;
                }
                if let Some(writer) = &mut self.writer {
                    writer.run_lost(job, &run);
                }
                self.stories.run_lost(job, run);
                Ok(())
            }
            Observation::TryOver(record) => self.try_over(now, *record),
            Observation::GridJobOver(record) => self.grid_job_over(now, *record),
            Observation::ResourceAccount(account) => self.resource_account(account),
            Observation::RoundsAccount(account) => {
                self.metrics.rounds_account(account);
                Ok(())
            }
            Observation::StorageAccount(account) => {
                self.metrics.storage_account(account);
                Ok(())
            }
            Observation::ProcessorsFailed { provider, processors } => {
                self.processors_changed(now, provider, &processors, Availability::Failed)
            }
            Observation::ProcessorsRestored { provider, processors } => {
                self.processors_changed(now, provider, &processors, Availability::Restored)
            }
            Observation::OffersMade(answer) => {
                self.metrics.offers_made(now, actor, &answer);
                match &mut self.writer {
                    Some(writer) => writer.offers_made(now, actor, &answer).map_err(boxed),
                    None => Ok(()),
                }
            }
            Observation::JobOver(record) if self.in_grid && is_unfinished(&record) => {
                self.never_sent(now, *record)
            }
            Observation::JobOver(mut record) => {
                self.stories.complete(&mut record);
                self.metrics.job_over(&record);
                self.count_too_wide(record.outcome);
                if let Some(check) = &mut self.check {
                    check.job_over(&record)?;
                }
                self.count(now);
                match &mut self.writer {
                    Some(writer) => writer.job_over(&record).map_err(boxed),
                    None => Ok(()),
                }
            }
            Observation::Disclosed { to, item, count, job } => {
                self.metrics.disclosed(actor, to, item, count);
                match &mut self.writer {
                    Some(writer) => {
                        writer.disclosed(now, actor, to, item, count, job).map_err(boxed)
                    }
                    None => Ok(()),
                }
            }
        }
    }
}

fn is_unfinished(record: &JobRecord) -> bool {
    record.outcome == JobOutcome::Unfinished
}

fn boxed(error: ResultsError) -> OutsideError {
    Box::new(error)
}
