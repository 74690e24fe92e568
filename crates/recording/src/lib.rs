//! Records a run: tables if there is a folder, metrics in any case.
//!
//! ```text
//! Simulation ──> Books: GridJobs, which puts jobs of a grid together ──> Metrics, TooWide, Check, RunWriter
//! ```

pub mod check;
mod event;
mod grid;
mod journal;
mod late;
mod listeners;
mod state_file;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use haggle_agents::protocol::Parties;
use haggle_agents::{Message, RunMessage};
use haggle_model::grid::{AttemptRecord, GridJobRecord, GridOutcome};
use haggle_model::observation::DisclosedItem;
use haggle_model::{
    ActorId, ActorKind, Cast, Job, JobId, JobOutcome, JobRecord, MessageFault, Observation,
    ShareRecord, Time,
};
use haggle_results::SettledJob;
use haggle_runtime::{OutsideError, RunStats, Sink};

use check::Violation;
use event::Event;
use late::LateParts;

pub use event::Faulty;
pub use grid::{GridError, GridJobs};
pub use journal::{Extent, Journal, JournalError};
pub use listeners::{Listeners, TooWide};
pub use state_file::StateFile;

/// An event of a run, with complete data.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// A message was delivered.
    Message {
        /// Sender of the message.
        from: ActorId,
        /// Receiver of the message.
        to: ActorId,
        /// Its kind, a word of the table `messages`.
        kind: &'static str,
        /// The job it is about.
        job: Option<JobId>,
    },
    /// A delivered message discloses items about its sender.
    Disclosed {
        /// Actor that the items are about.
        from: ActorId,
        /// Actor that received them.
        to: ActorId,
        /// Kind of the items.
        item: DisclosedItem,
        /// Number of the items.
        count: u32,
        /// The job they are about.
        job: Option<JobId>,
    },
    /// A message was lost, doubled or refused.
    Fault(Faulty),
    /// An actor has crashed.
    Crashed(ActorId),
    /// A crashed actor has restarted.
    Restarted(ActorId),
    /// An actor has reported an observation.
    Observed {
        /// The actor.
        actor: ActorId,
        /// Its observation.
        observation: &'a Observation,
    },
    /// A part of a job has ended that was over before.
    LatePart {
        /// The job.
        job: &'a Job,
        /// Number of the attempt.
        attempt: i64,
        /// The part.
        part: &'a ShareRecord,
    },
    /// A job of a grid was over before now, and all of its attempts are known.
    Settled(&'a SettledJob),
    /// At the end of the run: an attempt on a grid that belongs to no job.
    Left(&'a AttemptRecord),
    /// The run is over.
    Over,
}

/// Records the events of interest.
pub trait Listener {
    /// True if the listener needs messages. Most listeners do not, and messages are many.
    fn hears_messages(&self) -> bool {
        false
    }

    /// Records an event that has happened, or is known, by `now`.
    ///
    /// # Errors
    /// If the event violates an invariant, or cannot be recorded.
    fn hear(&mut self, now: Time, fact: Fact<'_>) -> Result<(), OutsideError>;
}

/// Number of jobs of a grid that are settled at a time when the run is over.
const SETTLED_AT_ONCE: usize = 4_096;

/// Combines records of a grid's jobs and passes all events on to the listener, which may be [`Listeners`].
#[derive(Clone, Debug)]
pub struct Books<L> {
    grid: GridJobs,
    late: LateParts,
    in_grid: bool,
    /// Workloads whose jobs run on a grid only.
    on_grid: Arc<BTreeSet<u16>>,
    /// Kind of each actor.
    kinds: Arc<[ActorKind]>,
    listener: L,
    /// True if the listener needs messages.
    hears_messages: bool,
    /// Kind and job of the last delivered message: the observation of a refusal does not contain them.
    /// Unset without a listener that needs messages.
    arrived: Option<(&'static str, Option<JobId>)>,
    journal: Option<Journal>,
}

impl<L: Listener> Books<L> {
    /// Books of a run with these actors, for this listener.
    pub fn new(cast: &Cast, listener: L) -> Books<L> {
        let (in_grid, on_grid) = (!cast.sites.is_empty(), Arc::new(cast.on_grid.clone()));
        let kinds = cast.actors.iter().map(|actor| actor.kind).collect();
        let hears_messages = listener.hears_messages();
        Books {
            grid: GridJobs::default(),
            late: LateParts::default(),
            in_grid,
            on_grid,
            kinds,
            listener,
            hears_messages,
            arrived: None,
            journal: None,
        }
    }

    /// The listener.
    pub fn listener(&self) -> &L {
        &self.listener
    }

    /// The listener, which may change.
    pub fn listener_mut(&mut self) -> &mut L {
        &mut self.listener
    }

    /// Writes all events into `journal`, too.
    pub fn journal(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// Takes the events in the first `length` bytes of the journal of a run of the same world.
    ///
    /// # Errors
    /// If the journal cannot be read, or a listener fails.
    pub fn repeat(&mut self, journal: &Path, length: u64) -> Result<(), OutsideError> {
        journal::read(journal, length, |now, event| self.take(now, &event))
    }

    /// Writes an event down, and takes it.
    fn note(&mut self, now: Time, event: &Event<'_>) -> Result<(), OutsideError> {
        if let Some(journal) = &self.journal {
            journal.add(now, event)?;
        }
        self.take(now, event)
    }

    fn take(&mut self, now: Time, event: &Event<'_>) -> Result<(), OutsideError> {
        match *event {
            Event::Message { from, to, kind, job } => {
                self.arrived = Some((kind, job));
                self.tell(now, Fact::Message { from, to, kind, job })
            }
            Event::Disclosed { from, to, item, count, job } => {
                self.tell(now, Fact::Disclosed { from, to, item, count, job })
            }
            Event::Crashed(actor) => self.tell(now, Fact::Crashed(actor)),
            Event::Restarted(actor) => self.tell(now, Fact::Restarted(actor)),
            Event::Fault(faulty) => self.tell(now, Fact::Fault(faulty)),
            Event::Observed { actor, ref observation } => self.observe(now, actor, observation),
            Event::Over(ref stats) => self.close(stats),
        }
    }

    fn observe(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        if let Observation::MessageRefused { from } = *observation {
            return self.refused(now, from, actor);
        }
        if let Some(stopped) = self.late.stopped(observation) {
            return stopped.iter().try_for_each(|it| self.observe(now, actor, it));
        }
        let is_story = matches!(
            observation,
            Observation::AttemptOver(_) | Observation::GridJobOver(_) | Observation::JobOver(_)
        );
        if is_story {
            // Jobs of a grid that ended earlier must come before this event.
            self.settle(now, |grid| grid.settle(now))?;
        }
        let never_sent = never_sent(observation, &self.on_grid);
        let observation = never_sent.as_ref().unwrap_or(observation);
        match observation {
            Observation::AttemptOver(record) if self.in_grid => {
                self.grid.attempt_over(Arc::clone(record));
            }
            Observation::GridJobOver(record) if self.in_grid => {
                self.grid.job_over(now, Arc::clone(record));
            }
            _ => {}
        }
        self.tell(now, Fact::Observed { actor, observation })?;
        if let Observation::JobOver(record) = observation {
            self.late.job_over(record);
        }
        match self.late.ended(observation) {
            Some((job, attempt, part)) => {
                self.tell(now, Fact::LatePart { job: &job, attempt, part })
            }
            None => Ok(()),
        }
    }

    fn close(&mut self, stats: &RunStats) -> Result<(), OutsideError> {
        // Settled in portions, because a run that stops at its horizon can leave a million jobs.
        while self.settle(stats.end, |grid| grid.settle_some(SETTLED_AT_ONCE))? > 0 {}
        // All jobs are settled now, so the attempts that are left belong to none.
        let left = self.grid.take_left();
        left.iter().try_for_each(|record| self.tell(stats.end, Fact::Left(record)))?;
        self.tell(stats.end, Fact::Over)
    }

    fn tell(&mut self, now: Time, fact: Fact<'_>) -> Result<(), OutsideError> {
        self.listener.hear(now, fact)
    }

    /// Reports that the last delivered message was refused. Messages of an actor to itself are not reported.
    fn refused(&mut self, now: Time, from: ActorId, to: ActorId) -> Result<(), OutsideError> {
        if from == to {
            return Ok(());
        }
        let (kind, job) = self.arrived.unwrap_or_default();
        let fault = MessageFault::Refused;
        self.tell(now, Fact::Fault(Faulty { from, to, kind, job, fault, resent: 0 }))
    }

    /// Lets `settle` settle jobs, passes them on to the listeners, and returns their number.
    fn settle(
        &mut self,
        now: Time,
        settle: impl FnOnce(&mut GridJobs) -> Result<Vec<SettledJob>, GridError>,
    ) -> Result<usize, OutsideError> {
        let settled = settle(&mut self.grid).map_err(Violation::GridJob)?;
        settled.iter().try_for_each(|job| self.tell(now, Fact::Settled(job)))?;
        Ok(settled.len())
    }
}

impl<L: Listener> Sink for Books<L> {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        // Timers of an actor are messages to itself and disclose nothing.
        if from == to {
            return match message {
                Message::Run(RunMessage::Crashed) => self.note(now, &Event::Crashed(to)),
                Message::Run(RunMessage::Restarted) => self.note(now, &Event::Restarted(to)),
                _ => Ok(()),
            };
        }
        if self.hears_messages {
            let (kind, job) = (message.kind(), message.job());
            self.note(now, &Event::Message { from, to, kind, job })?;
        }
        let between = Parties { from: self.kinds[from.index()], to: self.kinds[to.index()] };
        // The closure cannot return an error, so the first one is kept here.
        let mut told = Ok(());
        message.disclose(between, &mut |item, count| {
            if told.is_ok() {
                let job = message.discloses_about();
                told = self.note(now, &Event::Disclosed { from, to, item, count, job });
            }
        });
        told
    }

    fn fault(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
        fault: MessageFault,
        resent: u64,
    ) -> Result<(), OutsideError> {
        let (kind, job) = (message.kind(), message.job());
        self.note(now, &Event::Fault(Faulty { from, to, kind, job, fault, resent }))
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let observation = Cow::Borrowed(observation);
        self.note(now, &Event::Observed { actor, observation })
    }

    fn over(&mut self, stats: &RunStats) -> Result<(), OutsideError> {
        self.note(stats.end, &Event::Over(*stats))
    }
}

/// The grid's record of a job that its user still had when the run stopped. Such a job counts as waiting.
fn never_sent(observation: &Observation, on_grid: &BTreeSet<u16>) -> Option<Observation> {
    let Observation::JobOver(record) = observation else { return None };
    if record.outcome != JobOutcome::Unfinished || !on_grid.contains(&record.job.workload) {
        return None;
    }
    let JobRecord { job, class, end, .. } = JobRecord::clone(record);
    let outcome = GridOutcome::Open { end, wanted: 1, replaced: Vec::new() };
    Some(Observation::GridJobOver(Arc::new(GridJobRecord { job, class, share: None, outcome })))
}

#[cfg(test)]
mod tests {
    use haggle_agents::protocol::QueryMessage;
    use haggle_model::ActorInfo;
    use haggle_results::{Existing, Messages, Metrics, MetricsOptions, RunWriter, WriteOptions};

    use super::*;

    /// A refused message is listed by its kind and counted. A refused message of an actor to itself is not.
    #[test]
    fn refused_messages_are_told_by_kind() {
        let actor = |name: &str, kind| ActorInfo { name: name.to_owned(), kind };
        let actors =
            vec![actor("broker", ActorKind::Metascheduler), actor("north", ActorKind::Provider)];
        let cast = Cast { actors, ..Cast::default() };
        let folder = tempfile::tempdir().expect("a folder");
        let options = WriteOptions {
            format: haggle_results::Format::Csv,
            messages: Messages::All,
            existing: Existing::default(),
            ..WriteOptions::default()
        };
        let written = folder.path().join("out");
        let mut writer = RunWriter::create(&written, cast.clone(), options).expect("a writer");
        let mut metrics = Metrics::new(cast.clone(), MetricsOptions::default());
        let listeners = Listeners::new(vec![&mut metrics, &mut writer]);
        let mut books = Books::new(&cast, listeners);
        let (broker, north, now) = (ActorId(0), ActorId(1), Time::from_secs(7));
        let load = Message::from(QueryMessage::LoadRequest { job: JobId(3) });
        books.delivered(now, broker, north, &load).expect("taken down");
        for from in [broker, north] {
            let refused = Observation::MessageRefused { from };
            books.observed(now, north, &refused).expect("taken down");
        }
        drop(books);
        let faults = metrics.summarise().message_faults.expect("some");
        assert_eq!((faults.refused, faults.resent, faults.lost), (1, 0, 0));
        let tables = writer.finish().expect("written");
        let listed = std::fs::read_to_string(tables.folder().join("message_faults.csv"));
        let rows = "time,sender,receiver,kind,job,fault,resent\n7.0,broker,north,load_request,3,refused,0\n";
        assert_eq!(listed.expect("the table is there"), rows);
    }
}
