//! Listeners and the events that each of them needs.

use haggle_model::grid::ResourceAccount;
use haggle_model::{JobOutcome, Observation, Refusal, Time};
use haggle_results::{Availability, Loss, Metrics, Preceding, RunWriter};
use haggle_runtime::OutsideError;

use crate::check::{Check, Violation};
use crate::{Fact, Faulty, Listener};

/// Several listeners.
pub struct Listeners<'a> {
    all: Vec<&'a mut dyn Listener>,
    /// The places of listeners that need messages.
    hear_messages: Vec<usize>,
}

impl<'a> Listeners<'a> {
    /// These listeners, each of which receives all events that it needs.
    pub fn new(all: Vec<&'a mut dyn Listener>) -> Listeners<'a> {
        let hears = |(place, listener): (usize, &&mut dyn Listener)| {
            listener.hears_messages().then_some(place)
        };
        let hear_messages = all.iter().enumerate().filter_map(hears).collect();
        Listeners { all, hear_messages }
    }
}

impl Listener for Listeners<'_> {
    fn hears_messages(&self) -> bool {
        !self.hear_messages.is_empty()
    }

    fn hear(&mut self, now: Time, fact: Fact<'_>) -> Result<(), OutsideError> {
        if let Fact::Message { .. } = fact {
            let mut places = self.hear_messages.iter();
            return places.try_for_each(|&place| self.all[place].hear(now, fact));
        }
        self.all.iter_mut().try_for_each(|listener| listener.hear(now, fact))
    }
}

/// Counts jobs that no provider could ever run.
#[derive(Clone, Copy, Debug)]
pub struct TooWide {
    /// Number of these jobs.
    pub jobs: u64,
    /// Number of jobs that need fewer processors than their parts take.
    pub narrow: u64,
    /// True if providers are chosen by external rules, which may leave out providers that could run a job.
    choosy: bool,
}

impl TooWide {
    /// Starts with none; `choosy` if providers are chosen by external rules.
    pub fn new(choosy: bool) -> TooWide {
        TooWide { jobs: 0, narrow: 0, choosy }
    }

    /// A provider refuses a job as too wide only if it could never run it. A metascheduler finds no
    /// provider only if all refuse.
    fn count(&mut self, outcome: JobOutcome) {
        let too_wide = match outcome {
            JobOutcome::Rejected(Refusal::TooWide) => true,
            // External rules may have left out a provider that could run the job.
            JobOutcome::Rejected(Refusal::NoProvider) => !self.choosy,
            _ => false,
        };
        self.jobs += u64::from(too_wide);
        self.narrow += u64::from(outcome == JobOutcome::Rejected(Refusal::TooNarrow));
    }
}

impl Listener for TooWide {
    fn hear(&mut self, _now: Time, fact: Fact<'_>) -> Result<(), OutsideError> {
        match fact {
            Fact::Observed { observation: Observation::JobOver(record), .. } => {
                self.count(record.outcome);
            }
            Fact::Settled(job) => self.count(job.record.outcome),
            _ => {}
        }
        Ok(())
    }
}

impl Listener for Metrics {
    fn hear(&mut self, now: Time, fact: Fact<'_>) -> Result<(), OutsideError> {
        match fact {
            Fact::Observed { actor, observation } => match observation {
                Observation::JobOver(record) => self.job_over(record),
                Observation::WorkflowCame(came) => self.workflow_came(now, *came),
                Observation::Staged(staged) => self.staged(staged),
                Observation::IntervalOver(record) => self.interval_over(record),
                Observation::JobMoved { job, from, to } => self.moved(now, *job, *from, *to),
                Observation::JobSized { job, sizing, stage_in } => {
                    self.sized(*job, *sizing, *stage_in);
                }
                Observation::WaitingReviewed(review) => self.reviewed(review),
                Observation::JobFollows { held, .. } => self.follows(*held),
                Observation::Agreement { id, job, event } => {
                    self.agreement(now, actor, *id, *job, event);
                }
                Observation::Waiting(waits) => self.waiting(now, actor, waits),
                // Only parts of transactions come with their runs. Runs of other shares are in the record of the job.
                Observation::ShareOver(share) if !share.runs.is_empty() => {
                    self.part_over(share);
                }
                Observation::OffersMade(answer) => self.offers_made(now, actor, answer),
                Observation::ProcessorsFailed { provider, processors } => {
                    self.processors_failed(now, *provider, processors.count());
                }
                Observation::ProcessorsRestored { provider, processors } => {
                    self.processors_restored(now, *provider, processors.count());
                }
                Observation::Maintenance(record) => self.maintenance(record),
                Observation::AttemptOver(record) => self.attempt_over(record),
                Observation::ResourceAccount(account) => {
                    self.resource_account(ResourceAccount::clone(account));
                }
                Observation::RoundsAccount(account) => self.rounds_account(*account),
                Observation::StorageAccount(account) => self.storage_account(*account),
                _ => {}
            },
            Fact::Disclosed { from, to, item, count, .. } => self.disclosed(from, to, item, count),
            Fact::Settled(job) => self.job_settled(job),
            Fact::Left(record) => self.attempt_left(record),
            Fact::Fault(it) => self.message_fault(it.fault, it.resent),
            Fact::Over => self.run_over(now).map_err(Violation::Grid)?,
            Fact::Crashed(actor) => self.crashed(now, actor),
            // The end of the part was observed before.
            Fact::Message { .. } | Fact::LatePart { .. } | Fact::Restarted(_) => {}
        }
        Ok(())
    }
}

impl Listener for Check {
    fn hear(&mut self, now: Time, fact: Fact<'_>) -> Result<(), OutsideError> {
        match fact {
            Fact::Observed { observation, .. } => match observation {
                Observation::TasksOver { job, provider, run } => {
                    self.tasks_over(*job, *provider, run)?;
                }
                Observation::RunLost { job, run } => self.run_lost(*job, run)?,
                Observation::IntervalOver(record) => self.interval_over(record)?,
                Observation::JobSized { job, stage_in, .. } => self.staged(*job, *stage_in),
                Observation::Staged(staged) => self.flows.staged(staged),
                Observation::JobOver(record) => self.job_over(record)?,
                Observation::GridJobOver(record) => self.grid_job_over(record)?,
                Observation::ProcessorsFailed { provider, processors } => {
                    self.processors_changed(now, *provider, processors, Availability::Failed);
                }
                Observation::ProcessorsRestored { provider, processors } => {
                    self.processors_changed(now, *provider, processors, Availability::Restored);
                }
                Observation::Maintenance(record) => self.maintenance(record),
                _ => {}
            },
            Fact::Settled(job) => self.settled(job)?,
            Fact::Message { .. }
            | Fact::LatePart { .. }
            | Fact::Disclosed { .. }
            | Fact::Fault(_)
            | Fact::Crashed(_)
            | Fact::Restarted(_)
            | Fact::Left(_)
            | Fact::Over => {}
        }
        Ok(())
    }
}

impl Listener for RunWriter {
    fn hears_messages(&self) -> bool {
        true
    }

    fn hear(&mut self, now: Time, fact: Fact<'_>) -> Result<(), OutsideError> {
        match fact {
            Fact::Message { from, to, kind, job } => self.message(now, from, to, kind, job)?,
            Fact::Disclosed { from, to, item, count, job } => {
                self.disclosed(now, from, to, item, count, job)?;
            }
            Fact::Fault(Faulty { from, to, kind, job, fault, resent }) => {
                self.message_fault(now, (from, to), kind, job, (fault, resent))?;
            }
            Fact::Observed { actor, observation } => match observation {
                // Work that is stopped for another job is lost in no outage.
                Observation::RunLost { job, run } if run.stopped_for.is_none() => {
                    self.attempt_lost(run.provider, *job, Some(Loss::from(run)));
                }
                Observation::Staged(staged) => self.staged(staged)?,
                Observation::AttemptOver(record) => self.attempt_over(record)?,
                Observation::ResourceAccount(account) => self.resource_account(account)?,
                Observation::JobOver(record) => self.job_over(record)?,
                Observation::IntervalOver(record) => self.interval_over(record)?,
                Observation::OffersMade(answer) => self.offers_made(now, actor, answer)?,
                Observation::JobFollows { job, after: number, held: is_held } => {
                    self.follows(*job, Preceding { number: *number, is_held: *is_held });
                }
                Observation::JobSized { job, sizing, stage_in } => {
                    self.sized(*job, *sizing, *stage_in);
                }
                Observation::JobMoved { job, from, to } => {
                    self.moved(now, actor, *job, (*from, *to))?;
                }
                Observation::Agreement { id, job, event } => {
                    self.agreement(now, actor, *id, *job, event)?;
                }
                Observation::ProcessorsFailed { provider, processors } => {
                    self.processors_changed(now, *provider, processors, Availability::Failed)?;
                }
                Observation::ProcessorsRestored { provider, processors } => {
                    self.processors_changed(now, *provider, processors, Availability::Restored)?;
                }
                Observation::Maintenance(record) => self.maintenance(record)?,
                _ => {}
            },
            Fact::LatePart { job, attempt, part } => self.part_given_up(job, attempt, part)?,
            Fact::Settled(job) => self.grid_job_over(job)?,
            Fact::Left(record) => self.attempt_left(record)?,
            Fact::Crashed(actor) => self.crash(now, actor, false)?,
            Fact::Restarted(actor) => self.crash(now, actor, true)?,
            Fact::Over => {}
        }
        Ok(())
    }
}
