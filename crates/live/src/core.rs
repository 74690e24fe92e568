//! A node without its clock, its connections and its files: the host of a part, and the messages to and from others.
//!
//! The state depends on the inputs alone, so a journal of the inputs is a journal of the node. The digest of all
//! messages that left shows whether a program that repeats the inputs does the same again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use haggle_agents::protocol::ResourceMessage;
use haggle_agents::{AnyActor, Message, RealWork, RunMessage};
use haggle_model::{ActorId, ActorKind, JobId, Time};
use haggle_runtime::{Host, HostError, Leaving, OtherWorld, RunError, Snapshot, World};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

use crate::parts::{PartId, Parts};
use crate::session::{Arrival, Number, Session};
use crate::wire::{self, Kind, Limits, Unread, Unsendable};

/// A message between two parts, with its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Time at which it was sent.
    pub sent: Time,
    /// Its sender.
    pub from: ActorId,
    /// Its receiver.
    pub to: ActorId,
    /// Number of its kind.
    pub kind: u16,
    /// Its body, see [`wire::decode`].
    pub body: Vec<u8>,
}

impl Letter {
    /// True if it promises something, or leaves something behind.
    pub fn is_durable(&self) -> bool {
        Kind::numbered(self.kind).is_none_or(|kind| kind.durable)
    }
}

/// An input of a node, as its journal has it. Variants are only appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Own events up to the present take place.
    Advance {
        /// The present.
        present: Time,
    },
    /// A message of another part arrives.
    Letter {
        /// The present.
        present: Time,
        /// Its number among those of its sender's part.
        number: Number,
        /// The message.
        letter: Letter,
    },
    /// The process has begun again.
    Restart {
        /// The present.
        present: Time,
        /// Incarnation of the process.
        incarnation: u32,
        /// Programs that ended while no process was there, each at the time of its end.
        work: Vec<(Time, WorkEnd)>,
    },
    /// A program on a real machine has ended.
    Work {
        /// The present.
        present: Time,
        /// The end.
        end: WorkEnd,
    },
}

/// The end of a program on a real machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkEnd {
    /// The attempt that it was.
    pub key: WorkKey,
    /// True if the machine lost it: its processors failed, or its end is unknown.
    pub lost: bool,
    /// True if its program ended by itself with another exit code than 0, or by a signal. Its job counts as done.
    pub failed: bool,
}

/// An attempt of a job at a provider with a real machine. A machine runs it at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorkKey {
    /// The provider.
    pub provider: ActorId,
    /// The job.
    pub job: JobId,
    /// Start of the attempt.
    pub start: Time,
}

impl Input {
    /// The present at which it came.
    pub fn present(&self) -> Time {
        match *self {
            Input::Advance { present }
            | Input::Letter { present, .. }
            | Input::Restart { present, .. }
            | Input::Work { present, .. } => present,
        }
    }
}

/// The consequence of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The consequence for the host.
    pub effect: Effect,
    /// Numbers of the messages that leave, with their receivers' parts.
    pub left: Vec<Left>,
}

/// The consequence of an input for the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Own events took place.
    Advanced,
    /// The message was delivered.
    Delivered {
        /// Time of its delivery.
        at: Time,
    },
    /// The message was not taken. It counts as one that arrived and is not sent again.
    Refused(Refusal),
    /// All actors crashed, and restarted.
    Restarted {
        /// Time of the crash.
        crashed: Time,
        /// Time of the restart.
        at: Time,
        /// Messages of real machines in between.
        reports: Vec<Report>,
    },
    /// A program ended.
    Worked {
        /// Messages of the machine; none if the attempt was over already.
        reports: Vec<Report>,
    },
}

/// A message of a real machine to its provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Time of its delivery.
    pub at: Time,
    /// The provider.
    pub to: ActorId,
    /// The message.
    pub message: Message,
}

/// A message that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Part of its receiver.
    pub part: PartId,
    /// Its number among the messages to that part.
    pub number: Number,
    /// Its sender.
    pub from: ActorId,
    /// Its receiver.
    pub to: ActorId,
    /// Number of its kind.
    pub kind: u16,
    /// The job it is about, if any.
    pub job: Option<JobId>,
}

/// Reason why a message is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Its body cannot be read.
    #[error(transparent)]
    Unread(#[from] Unread),
    /// Its sender or receiver is another one.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Its sender may not send such a message to its receiver.
    #[error("{from} may not send this kind to {to}")]
    Route {
        /// The sender.
        from: ActorId,
        /// The receiver.
        to: ActorId,
    },
}

/// Reason why a node cannot continue.
#[derive(Debug, Error)]
pub enum CoreError {
    /// The run cannot continue.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An actor sends a message to another part that cannot leave.
    #[error(
        "{from} sends `{kind}` to {to}, which is on another node: {reason}; please report this scenario as a bug"
    )]
    Unsendable {
        /// The sender.
        from: ActorId,
        /// The receiver.
        to: ActorId,
        /// Kind of the message.
        kind: &'static str,
        /// The reason.
        reason: Unsendable,
    },
    /// An actor sends a message to an actor that does not exist.
    #[error(
        "{from} sends a message to {to}, which does not exist; please report this scenario as a bug"
    )]
    NoActor {
        /// The sender.
        from: ActorId,
        /// The receiver.
        to: ActorId,
    },
    /// A provider cannot have a real machine.
    #[error(transparent)]
    NotReal(#[from] NotReal),
    /// The state is one of another program.
    #[error("the state is one of another version of haggle")]
    OtherProgram,
    /// The state is one of another world.
    #[error(transparent)]
    OtherWorld(#[from] OtherWorld),
    /// An actor of another program cannot be written.
    #[error("the state of an actor cannot be written")]
    Unwritten,
}

/// Reason why a provider cannot have a real machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{provider} cannot have a real machine: {reason}")]
pub struct NotReal {
    /// The provider.
    pub provider: ActorId,
    /// The setting in the way, and the remedy.
    pub reason: &'static str,
}

/// Facts about a world that all of its nodes know.
#[derive(Clone, Debug)]
pub struct Known {
    /// The part of each actor.
    pub parts: Parts,
    /// The kind of each actor.
    pub kinds: Vec<ActorKind>,
    /// Bounds of numbers in messages.
    pub limits: Limits,
    /// Providers with a real machine.
    pub real: BTreeSet<ActorId>,
}

impl Known {
    /// Puts the providers of a world that have a real machine before it.
    ///
    /// # Errors
    /// If one of them cannot be.
    pub fn equip(&self, world: &mut World) -> Result<(), NotReal> {
        for &provider in &self.real {
            let reason = match world.actors.get_mut(provider.index()) {
                _ if world.outages.is_some() => {
                    Err("its scenario has simulated failures; leave `[failures]` out")
                }
                Some(AnyActor::Provider(provider)) => provider.put_before_real_machine(),
                _ => Err("it is no provider"),
            };
            reason.map_err(|reason| NotReal { provider, reason })?;
        }
        Ok(())
    }
}

/// The host of a part, and the messages to and from other parts.
pub struct Core<'a> {
    known: Arc<Known>,
    part: PartId,
    host: Host<'a>,
    session: Session<Letter>,
    /// Digest of all messages that left.
    digest: u64,
}

/// The state of a core, as a snapshot has it.
#[derive(Serialize, Deserialize)]
struct State {
    part: PartId,
    host: Vec<u8>,
    session: Session<Letter>,
    digest: u64,
}

impl<'a> Core<'a> {
    /// The core of a part before its first input.
    ///
    /// # Errors
    /// If the first job of a workload cannot be read, or a provider cannot have a real machine.
    pub fn new(known: Arc<Known>, part: PartId, mut world: World) -> Result<Core<'a>, CoreError> {
        known.equip(&mut world)?;
        let host = Host::new(world, known.parts.here(part))?;
        Ok(Core { known, part, host, session: Session::new(), digest: 0 })
    }

    /// The core that [`Core::to_bytes`] has written.
    ///
    /// # Errors
    /// If it is one of another program, world or part.
    pub fn from_bytes(
        known: Arc<Known>,
        part: PartId,
        world: World,
        bytes: &[u8],
    ) -> Result<Core<'a>, CoreError> {
        let state: State = postcard::from_bytes(bytes).map_err(|_| CoreError::OtherProgram)?;
        if state.part != part {
            return Err(CoreError::OtherWorld(OtherWorld));
        }
        let snapshot = Snapshot::from_bytes(&state.host).ok_or(CoreError::OtherProgram)?;
        let host = Host::restore(world, snapshot)?;
        Ok(Core { known, part, host, session: state.session, digest: state.digest })
    }

    /// Its state, which only this build reads.
    ///
    /// # Errors
    /// If an actor of another program cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CoreError> {
        let host = self.host.snapshot().to_bytes().ok_or(CoreError::Unwritten)?;
        let state =
            State { part: self.part, host, session: self.session.clone(), digest: self.digest };
        postcard::to_stdvec(&state).map_err(|_| CoreError::Unwritten)
    }

    /// The host of its actors.
    pub fn host(&self) -> &Host<'a> {
        &self.host
    }

    /// The host of its actors, to observe it.
    pub fn host_mut(&mut self) -> &mut Host<'a> {
        &mut self.host
    }

    /// The messages to and from other parts.
    pub fn session(&self) -> &Session<Letter> {
        &self.session
    }

    /// The part of an actor; `None` if it is in every part, or does not exist.
    pub fn part_of(&self, actor: ActorId) -> Option<PartId> {
        self.known.parts.of_actor(actor)
    }

    /// Its actors, without those that are in every part.
    pub fn members(&self) -> &BTreeSet<ActorId> {
        self.known.parts.members(self.part)
    }

    /// Bounds of numbers in messages.
    pub fn limits(&self) -> &Limits {
        &self.known.limits
    }

    /// Its part.
    pub fn part(&self) -> PartId {
        self.part
    }

    /// Digest of all messages that left.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Time of the next own event; `None` if there is none.
    ///
    /// # Errors
    /// If the run cannot continue.
    pub fn next_event(&mut self) -> Result<Option<Time>, CoreError> {
        Ok(self.host.next_event()?)
    }

    /// The fate of a message that arrives now. Nothing changes.
    pub fn arrival(&self, part: PartId, number: Number) -> Arrival {
        self.session.arrival(part, number)
    }

    /// Forgets the messages to a part up to a number.
    pub fn acknowledge(&mut self, by: PartId, up_to: Number) {
        self.session.acknowledge(by, up_to);
    }

    /// Takes an input. A message must be the next one of its part, see [`Core::arrival`].
    ///
    /// # Errors
    /// If the node cannot continue.
    pub fn take(&mut self, input: &Input) -> Result<Taken, CoreError> {
        let mut left = Vec::new();
        let effect = match input {
            Input::Advance { present } => {
                self.host.advance(*present)?;
                Effect::Advanced
            }
            Input::Letter { present, number, letter } => {
                // The sender is not of this world if it has no part: then the host refuses the message.
                if let Some(part) = self.known.parts.of_actor(letter.from) {
                    self.session.take(part, *number);
                }
                match self.opened(letter) {
                    Ok(message) => match self.host.receive(*present, message)? {
                        Ok(at) => Effect::Delivered { at },
                        Err(error) => Effect::Refused(error.into()),
                    },
                    Err(refusal) => Effect::Refused(refusal),
                }
            }
            Input::Restart { present, incarnation, work } => {
                let crashed = self.host.crash()?;
                // Messages of the time before the crash keep their numbers.
                self.post(&mut left)?;
                self.session.begin(*incarnation);
                let mut reports = Vec::new();
                for &(at, end) in work {
                    reports.extend(self.work_over(at.min(*present), end)?);
                }
                let at = self.host.restart(*present)?;
                Effect::Restarted { crashed, at, reports }
            }
            Input::Work { present, end } => {
                Effect::Worked { reports: self.work_over(*present, *end)? }
            }
        };
        self.post(&mut left)?;
        Ok(Taken { effect, left })
    }

    /// A program has ended. A lost one was on processors that fail, and are back at once.
    fn work_over(&mut self, present: Time, end: WorkEnd) -> Result<Vec<Report>, CoreError> {
        let WorkEnd { key: WorkKey { provider, job, start }, lost, .. } = end;
        // Own events up to the present may have ended it, such as its limit.
        let Some(work) = self.host.real_attempt(provider, job, start) else {
            return Ok(Vec::new());
        };
        let processors = work.processors;
        let messages: Vec<Message> = match lost {
            false => vec![RunMessage::WorkOver { job, start }.into()],
            true => vec![
                ResourceMessage::Failed { processors: processors.clone() }.into(),
                ResourceMessage::Restored { processors }.into(),
            ],
        };
        let report = |message: Message| {
            let at = self.host.report(present, provider, message.clone())?;
            Ok(Report { at, to: provider, message })
        };
        messages.into_iter().map(report).collect()
    }

    /// Number of starts and ends of attempts on real machines of this part.
    pub fn real_changes(&self) -> u64 {
        self.known.real.iter().map(|&it| self.host.real_changes(it)).sum()
    }

    /// The attempts that real machines of this part have to run.
    pub fn real_work(&self) -> BTreeMap<WorkKey, RealWork> {
        let of_provider = |&provider: &ActorId| {
            let work = self.host.real_work(provider).into_iter();
            work.map(move |it| (WorkKey { provider, job: it.job.id, start: it.start }, it))
        };
        self.known.real.iter().flat_map(of_provider).collect()
    }

    fn opened(&self, letter: &Letter) -> Result<Leaving, Refusal> {
        let &Letter { sent, from, to, kind, ref body } = letter;
        let message = wire::decode(kind, body, &self.known.limits)?;
        let kind = |actor: ActorId| self.known.kinds.get(actor.index()).copied();
        let (Some(of_sender), Some(of_receiver)) = (kind(from), kind(to)) else {
            return Err(HostError::NotFromOutside { from }.into());
        };
        if !wire::may_send(&message, of_sender, of_receiver) {
            return Err(Refusal::Route { from, to });
        }
        Ok(Leaving { sent, from, to, message })
    }

    /// Numbers the messages that leave.
    fn post(&mut self, left: &mut Vec<Left>) -> Result<(), CoreError> {
        if !self.host.has_leaving() {
            return Ok(());
        }
        for Leaving { sent, from, to, message } in self.host.take_leaving() {
            let part = self.known.parts.of_actor(to).ok_or(CoreError::NoActor { from, to })?;
            let (word, job) = (message.kind(), message.job());
            let unsendable = |reason| CoreError::Unsendable { from, to, kind: word, reason };
            let (kind, body) = wire::encode(message).map_err(unsendable)?;
            let letter = Letter { sent, from, to, kind, body };
            self.digest = digest_with(self.digest, &letter);
            let number = self.session.send(part, letter);
            left.push(Left { part, number, from, to, kind, job });
        }
        Ok(())
    }
}

/// Digest of a message, and of all before it.
fn digest_with(digest: u64, letter: &Letter) -> u64 {
    let &Letter { sent, from, to, kind, ref body } = letter;
    let mut hasher = Xxh3::with_seed(digest);
    hasher.update(&sent.as_micros().to_le_bytes());
    hasher.update(&from.0.to_le_bytes());
    hasher.update(&to.0.to_le_bytes());
    hasher.update(&kind.to_le_bytes());
    hasher.update(body);
    hasher.digest()
}
