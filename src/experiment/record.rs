//! Takes down a run: tables if there is a folder, metrics in any case.

mod grid;

use haggle_agents::Message;
use haggle_agents::protocol::Parties;
use haggle_model::{
    ActorId, ActorKind, Cast, JobOutcome, JobRecord, JobStories, Observation, ProcessorSet,
    ProviderId, Refusal, Time,
};
use haggle_results::{Availability, Loss, Metrics, MetricsOptions, ResultsError, RunWriter};
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
    /// Messages that have been delivered.
    messages: u64,
    /// Messages that somebody did not expect.
    refused: u64,
    /// By actor.
    kinds: Vec<ActorKind>,
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
            messages: 0,
            refused: 0,
            kinds: cast.actors.iter().map(|actor| actor.kind).collect(),
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

    /// Counts a message; a run may go on for long without any job that is over.
    fn count_message(&mut self, now: Time) {
        self.messages += 1;
        if self.messages.is_multiple_of(PROGRESS_INTERVAL) {
            self.watch.progress(self.jobs_over, self.messages, now);
        }
    }

    /// Takes down what a message tells its receiver about its sender.
    fn disclose(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let (metrics, writer) = (&mut self.metrics, &mut self.writer);
        let mut written = Ok(());
        let between = Parties { from: self.kinds[from.index()], to: self.kinds[to.index()] };
        message.disclose(between, &mut |item, count| {
            metrics.disclosed(from, to, item, count);
            if let Some(writer) = writer
                && written.is_ok()
            {
                let job = message.job();
                written = writer.disclosed(now, from, to, item, count, job).map_err(boxed);
            }
        });
        written
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

/// How often the watch hears of progress, in messages.
const PROGRESS_INTERVAL: u64 = 8_192;

impl Recorder for Record<'_> {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        self.count_message(now);
        // What an actor says to itself tells nobody anything.
        if from == to {
            return Ok(());
        }
        if let Some(writer) = &mut self.writer {
            writer.message(now, from, to, message.kind(), message.job()).map_err(boxed)?;
        }
        self.disclose(now, from, to, message)
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
                    writer.attempt_lost(run.provider, job, Some(Loss::from(&run)));
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
                // Of a grid, those that were over before stand before it.
                self.settle(now)?;
                self.stories.complete(&mut record);
                self.metrics.job_over(&record);
                self.count_too_wide(record.outcome);
                if let Some(check) = &mut self.check {
                    check.job_over(&record)?;
                }
                self.jobs_over += 1;
                match &mut self.writer {
                    Some(writer) => writer.job_over(&record).map_err(boxed),
                    None => Ok(()),
                }
            }
            Observation::MessageRefused { .. } => {
                self.refused += 1;
                Ok(())
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
