//! Takes down a run: tables if there is a folder, metrics in any case.

use haggle_agents::Message;
use haggle_model::{ActorId, Cast, JobOutcome, JobStories, Observation, Refusal, Time};
use haggle_results::{Metrics, MetricsOptions, ResultsError, RunWriter};
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
    bags: JobStories,
    check: Option<Check>,
    watch: &'a dyn Watch,
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
            bags: JobStories::default(),
            check: conduct.check.then(|| Check::new(cast)),
            watch: conduct.watch,
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
                self.bags.tasks_over(job, provider, run);
                Ok(())
            }
            Observation::ShareOver(share) => {
                self.bags.share_over(*share);
                Ok(())
            }
            Observation::OffersMade(answer) => {
                self.metrics.offers_made(now, actor, &answer);
                match &mut self.writer {
                    Some(writer) => writer.offers_made(now, actor, &answer).map_err(boxed),
                    None => Ok(()),
                }
            }
            Observation::JobOver(mut record) => {
                self.bags.complete(&mut record);
                self.metrics.job_over(&record);
                self.jobs_over += 1;
                // A provider refuses only what it could never run, a metascheduler what all do.
                self.too_wide += u64::from(matches!(
                    record.outcome,
                    JobOutcome::Rejected(Refusal::TooWide | Refusal::NoProvider)
                ));
                if let Some(check) = &mut self.check {
                    check.job_over(&record)?;
                }
                if self.jobs_over.is_multiple_of(PROGRESS_INTERVAL) {
                    self.watch.progress(self.jobs_over, now);
                }
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

fn boxed(error: ResultsError) -> OutsideError {
    Box::new(error)
}
