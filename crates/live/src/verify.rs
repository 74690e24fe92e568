//! A live run, repeated from its journals.
//!
//! Each journal is repeated by a core of its own, which must send the same messages. The times at which these messages
//! were delivered make the [`Replay`]: a simulation of the whole world with these times is the same run. A simulation
//! with these latencies, later by some time, is a run like it ([`Spread`]).

mod spread;

use std::collections::{BTreeMap, BTreeSet};

use haggle_journal::{FileSystem, Reader, Storage};
use haggle_model::{ActorId, JobId, Span, Time};
use haggle_runtime::World;
use haggle_runtime::network::{Crashes, EVERYWHERE, Network, Recorded};
use haggle_workloads::failures::Outage;
use thiserror::Error;

use spread::Passage;

pub use spread::Spread;

use crate::core::{Core, Effect, Input, Known, Left, Letter, Report, WorkEnd};
use crate::keeper::{Entry, KeeperError};
use crate::parts::PartId;
use crate::run::Plan;
use crate::session::Number;

/// Reason why a journal is not the journal of a run.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// It cannot be read.
    #[error(transparent)]
    Journal(#[from] haggle_journal::Error),
    /// It does not repeat.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// Its first records are gone, because a snapshot made them unnecessary.
    #[error("the journal begins at record {first}: its earlier records were removed")]
    Begun {
        /// The first record.
        first: u64,
    },
}

/// A message by its sender's part, its receiver's part and its number.
type Address = (PartId, PartId, Number);

/// Letters and crashes of all parts.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// Messages that left, in order, by sender and receiver.
    sent: BTreeMap<(ActorId, ActorId), Vec<Address>>,
    /// Times of delivery, by parts and number; `None` = refused.
    delivered: BTreeMap<Address, Option<Time>>,
    /// Messages that were delivered.
    passages: Vec<Passage>,
    /// Crashes and restarts of parts.
    crashes: Vec<(PartId, Time, Time)>,
    /// Messages of real machines.
    reports: Vec<Report>,
    /// Jobs whose programs failed.
    failed: BTreeSet<JobId>,
    /// Time up to which the events of each part took place.
    ends: BTreeMap<PartId, Time>,
    /// Parts whose journals have no end of the run.
    open: usize,
    /// Inputs of all parts.
    pub inputs: u64,
}

impl Replay {
    /// Repeats the journal of a part of a run, which must send the same messages as it did. `core` is the core before
    /// its first input.
    ///
    /// # Errors
    /// If the journal cannot be read or does not repeat.
    pub fn repeat(&mut self, plan: &Plan, core: &mut Core<'_>) -> Result<(), VerifyError> {
        // It is only read, so a file system without locks is good enough.
        let storage = FileSystem::open(&plan.journal(core.part()), haggle_journal::Network::Allow)?;
        self.read(&storage, &plan.known, core)
    }

    /// As [`Replay::repeat`], from any storage.
    ///
    /// # Errors
    /// If the journal cannot be read or does not repeat.
    pub fn read<S: Storage>(
        &mut self,
        storage: &S,
        known: &Known,
        core: &mut Core<'_>,
    ) -> Result<(), VerifyError> {
        let part = core.part();
        let (mut end, mut is_over) = (Time::ZERO, false);
        let reader = Reader::open(storage)?;
        if let Some(snapshot) = reader.snapshot {
            return Err(VerifyError::Begun { first: snapshot.number + 1 });
        }
        for record in reader.records {
            let record = record?;
            let number = record.number;
            match Entry::of(record)? {
                Entry::Beginning(_) => {}
                Entry::End => is_over = true,
                Entry::Input(input) => {
                    self.inputs += 1;
                    self.note_failed(&input);
                    end = end.max(input.present());
                    let taken = core.take(&input).map_err(KeeperError::from)?;
                    for Left { part: to_part, number, from, to, .. } in taken.left {
                        self.sent.entry((from, to)).or_default().push((part, to_part, number));
                    }
                    match (taken.effect, input) {
                        (Effect::Restarted { crashed, at, reports }, _) => {
                            self.crashes.push((part, crashed, at));
                            self.reports.extend(reports);
                        }
                        (Effect::Worked { reports }, _) => self.reports.extend(reports),
                        (Effect::Delivered { at }, Input::Letter { number, letter, .. }) => {
                            self.pass(known, part, &letter, at);
                            self.note(known, part, letter.from, number, Some(at));
                        }
                        (Effect::Refused(_), Input::Letter { number, letter, .. }) => {
                            self.note(known, part, letter.from, number, None);
                        }
                        _ => {}
                    }
                }
                Entry::Digest(digest) if digest != core.digest() => {
                    return Err(KeeperError::Differs { number }.into());
                }
                Entry::Digest(_) => {}
            }
        }
        self.ends.insert(part, end);
        self.open += usize::from(!is_over);
        Ok(())
    }

    fn note_failed(&mut self, input: &Input) {
        let failed = |end: &WorkEnd| end.failed.then_some(end.key.job);
        match input {
            Input::Work { end, .. } => self.failed.extend(failed(end)),
            Input::Restart { work, .. } => {
                self.failed.extend(work.iter().filter_map(|(_, end)| failed(end)));
            }
            Input::Advance { .. } | Input::Letter { .. } => {}
        }
    }

    fn note(&mut self, known: &Known, to: PartId, from: ActorId, number: Number, at: Option<Time>) {
        if let Some(from) = known.parts.of_actor(from) {
            self.delivered.insert((from, to, number), at);
        }
    }

    fn pass(&mut self, known: &Known, to: PartId, letter: &Letter, at: Time) {
        if let Some(from) = known.parts.of_actor(letter.from) {
            self.passages.push(Passage { from, to, sent: letter.sent, at });
        }
    }

    /// Number of messages between parts.
    pub fn messages(&self) -> usize {
        self.delivered.len()
    }

    /// The latency of messages at a share of them, such as 0.5 for the median; zero without messages.
    pub fn latency(&self, share: f64) -> Span {
        let mut sorted = Vec::from_iter(self.passages.iter().map(Passage::latency));
        sorted.sort_unstable();
        let place = (share * (sorted.len().max(1) - 1) as f64).round() as usize;
        sorted.get(place).copied().unwrap_or(Span::ZERO)
    }

    /// Number of messages that their receivers refused.
    pub fn refused(&self) -> usize {
        self.delivered.values().filter(|it| it.is_none()).count()
    }

    /// Jobs whose programs failed on real machines. They count as done.
    pub fn failed_programs(&self) -> &BTreeSet<JobId> {
        &self.failed
    }

    /// Number of crashes of parts.
    pub fn crashes(&self) -> usize {
        self.crashes.len()
    }

    /// Messages that were delivered, although their senders forgot them in a crash: they were questions or answers that
    /// promise nothing.
    pub fn forgotten(&self) -> usize {
        let sent: BTreeSet<_> = self.sent.values().flatten().collect();
        self.delivered.keys().filter(|it| !sent.contains(it)).count()
    }

    /// Number of parts whose journals have no end of the run.
    pub fn open(&self) -> usize {
        self.open
    }

    /// The last time at which all parts took their events.
    pub fn end(&self) -> Time {
        self.ends.values().min().copied().unwrap_or(Time::ZERO)
    }

    /// Lets a world be this run up to the returned time, also after the last job: its horizon, or the time at which
    /// all nodes have taken their events. At that time itself, the actors of a simulation alone report unfinished jobs.
    pub fn put_whole_into(&self, world: &mut World, known: &Known) -> Time {
        self.put_into(world, known);
        let end = world.horizon.map_or(self.end(), |horizon| horizon.min(self.end()));
        world.horizon = Some(end);
        end
    }

    /// The time at which jobs that are not over count as unfinished, if some nodes have not ended. Their later events are
    /// not known.
    pub fn cut(&self) -> Option<Time> {
        (self.open > 0).then(|| self.end())
    }

    /// Lets a world be this run: each message between parts takes its time, parts crash as they did, and
    /// programs of real machines end when they did.
    pub fn put_into(&self, world: &mut World, known: &Known) {
        // An error would have ended the repetition of the journals.
        let _ = known.equip(world);
        let mut recorded = Recorded::new(known.parts.by_actor().to_vec());
        for (&(from, to), letters) in &self.sent {
            for letter in letters {
                recorded.push(from, to, self.delivered.get(letter).copied().flatten());
            }
        }
        self.part_into(world, known);
        world.network.replay(recorded);
        let reports = self.reports.iter().cloned();
        world.initial.extend(reports.map(|Report { at, to, message }| (at, to, message)));
    }

    /// Lets the parts of a world be those of this run, and crash as they did.
    fn part_into(&self, world: &mut World, known: &Known) {
        // Within a part, messages take no time, and wait for a receiver that is down.
        let sites = known.parts.by_actor().iter().map(|part| part.unwrap_or(EVERYWHERE));
        world.network = Network::new(Span::ZERO, sites.collect());
        // The state of an actor survives in its journal.
        world.blueprints.clear();
        let mut crashes = Vec::new();
        for &(part, fail, restore) in &self.crashes {
            let outage = Outage { fail, restore };
            crashes.extend(known.parts.members(part).iter().map(|&actor| (actor, outage)));
        }
        if !crashes.is_empty() {
            crashes.sort_by_key(|(actor, outage)| (outage.fail, *actor));
            world
                .network
                .crashes(Crashes::new(known.kinds.len() as u64, Box::new(crashes.into_iter())));
        }
    }
}
