//! A node: an actix actor that gives its core the inputs of the clock and of other nodes, and sends what leaves.
//!
//! ```text
//!   connection ── frames ──▶ node ── input ──▶ journal ──▶ core ──▶ messages that leave
//!   timer ───────────────────▲  │                                        │
//!                               └── once per batch: sync, then send ◀────┘
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, SpawnHandle};
use haggle_journal::FileSystem;
use haggle_model::{ActorId, Span, Time};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::warn;

use crate::clock::Clock;
use crate::core::{Effect, Input, Letter, Refusal, Taken};
use crate::ending::{Agreement, COORDINATOR, Progress};
use crate::hello::{ACKNOWLEDGE, control};
use crate::keeper::{Keeper, KeeperError};
use crate::keys::{Identity, NodeName};
use crate::parts::PartId;
use crate::run::{Ended, Own};
use crate::session::{Arrival, Number};
use crate::wire::{Complaint, Envelope, Frame, Problem, name_hash};

mod connections;
mod ending;
mod real;
mod status;
mod time;

pub use connections::accept;
use connections::{Connection, RETRY};
pub(crate) use connections::{called, secured, tell_of_failure, tell_time};
pub use ending::Stop;
pub use real::Real;
pub use status::{Ask, Counts, Status};
pub(crate) use time::Steer;

/// Messages to a peer on their way without an acknowledgement.
const WINDOW: usize = 4_096;
/// Inputs that a node takes before it sends and reads again.
const MOST_AT_ONCE: usize = 256;
/// The same of a node that is late: messages that have arrived may make some of its timers unnecessary.
const MOST_WHEN_LATE: usize = 8;
/// Real time of own events that are one input.
const SLICE: Duration = Duration::from_millis(10);
/// Messages to a peer without a connection of which the log warns.
const MANY: usize = 10_000;
/// Longest time that an acknowledgement waits for messages in the other direction.
const LATEST: Duration = Duration::from_millis(20);

/// Facts about a run that all of its nodes know.
#[derive(Clone, Debug)]
pub struct Run {
    /// Digest of everything that must be the same at all nodes.
    pub digest: [u8; 32],
    /// Seconds of the run in a second of real time.
    pub scale: f64,
    /// Time at which the run ends at the latest.
    pub horizon: Option<Time>,
    /// Names of all actors.
    pub names: Vec<String>,
    /// Names of all nodes in their certificates, by part.
    pub nodes: Vec<NodeName>,
    /// Actors by the number of their name.
    by_hash: BTreeMap<u64, ActorId>,
}

impl Run {
    /// The facts about a run with actors and nodes of these names.
    pub fn new(
        digest: [u8; 32],
        scale: f64,
        horizon: Option<Time>,
        names: Vec<String>,
        nodes: Vec<NodeName>,
    ) -> Run {
        let by_hash = (0..).map(ActorId).zip(&names).map(|(it, name)| (name_hash(name), it));
        Run { by_hash: by_hash.collect(), digest, scale, horizon, names, nodes }
    }
}

/// An event of a node, for the process around it.
#[derive(Debug)]
pub enum Event {
    /// Jobs have arrived, or are over.
    Progress {
        /// Its part.
        part: PartId,
        /// Its jobs.
        progress: Progress,
    },
    /// It has ended, and everything is durable.
    Ended(Ended),
    /// It cannot continue.
    Failed {
        /// Its part.
        part: PartId,
        /// The reason.
        error: KeeperError,
    },
}

/// A node.
pub struct Node {
    keeper: Keeper<'static, FileSystem>,
    part: PartId,
    identity: Arc<Identity>,
    run: Arc<Run>,
    clock: Clock,
    /// Host and port of each node, by part.
    addresses: Arc<BTreeMap<PartId, String>>,
    connections: BTreeMap<PartId, Connection>,
    /// Peers that are being called.
    calling: BTreeSet<PartId>,
    /// Calls of a peer that have failed since its last connection.
    failed_calls: BTreeMap<PartId, u32>,
    /// Number of messages to a peer without a connection above which the next warning comes.
    many: BTreeMap<PartId, usize>,
    /// Messages of peers whose clocks are ahead of this one.
    early: BTreeMap<PartId, VecDeque<(Number, Letter)>>,
    /// The timer for the next own event or early message.
    alarm: Option<(Time, SpawnHandle)>,
    /// True if a flush is under way to this actor.
    flushes: bool,
    /// True if a late acknowledgement or report is due.
    owes: bool,
    /// The last progress that the process around the node got.
    progress: Option<Progress>,
    /// The last progress that the coordinator got over the present connection.
    reported: Option<Progress>,
    /// The knowledge of the coordinator; `None` at the other nodes.
    agreement: Option<Agreement>,
    next_id: u64,
    counts: Counts,
    /// Records after which the state is written down, and older records go; `None` = all records stay.
    snapshot_every: Option<NonZeroU64>,
    /// The real machine of its providers.
    real: Option<Real>,
    events: mpsc::UnboundedSender<Event>,
}

impl Node {
    /// A node whose journal is open.
    pub fn new(
        keeper: Keeper<'static, FileSystem>,
        identity: Arc<Identity>,
        run: Arc<Run>,
        clock: Clock,
        events: mpsc::UnboundedSender<Event>,
    ) -> Node {
        let part = keeper.core().part();
        let agreement = (part == COORDINATOR).then(|| Agreement::new(run.nodes.len()));
        Node {
            keeper,
            part,
            identity,
            clock,
            run,
            addresses: Arc::default(),
            connections: BTreeMap::new(),
            calling: BTreeSet::new(),
            failed_calls: BTreeMap::new(),
            many: BTreeMap::new(),
            early: BTreeMap::new(),
            alarm: None,
            flushes: false,
            owes: false,
            progress: None,
            reported: None,
            agreement,
            next_id: 0,
            counts: Counts::default(),
            snapshot_every: None,
            real: None,
            events,
        }
    }

    /// Gives a node the settings that no other node knows.
    #[must_use]
    pub(crate) fn with(self, own: Own) -> Node {
        Node { snapshot_every: own.snapshot_every, real: own.real, ..self }
    }

    /// Takes an input.
    fn take(&mut self, input: &Input, context: &mut Context<Self>) -> Result<Taken, KeeperError> {
        let taken = self.keeper.take(input)?;
        self.counts.inputs += 1;
        self.counts.sent += taken.left.len() as u64;
        match taken.effect {
            Effect::Delivered { .. } => self.counts.taken += 1,
            Effect::Refused(_) => self.counts.refused += 1,
            Effect::Advanced | Effect::Restarted { .. } | Effect::Worked { .. } => {}
        }
        if !self.flushes {
            self.flushes = true;
            context.notify(Flush);
        }
        Ok(taken)
    }

    /// The time at which the next input is taken: that of the clock, or of the next own event if the node is late. So a
    /// node that was stopped for a while takes the messages of that time before timers that were due later.
    fn present(&mut self) -> Result<Time, KeeperError> {
        let event = self.keeper.core_mut().next_event()?;
        let clock = self.clock.now();
        Ok(event.map_or(clock, |event| event.min(clock)))
    }

    /// Lets own events and early messages take place up to the present, and sets the alarm for the next ones.
    fn catch_up(&mut self, context: &mut Context<Self>) -> Result<(), KeeperError> {
        if self.keeper.is_over() {
            return Ok(());
        }
        let slice = Span::from_secs_f64(self.run.scale * SLICE.as_secs_f64());
        // Where events come faster than they can be taken, the loop alone would never end. The next flush goes on.
        for taken in 0..MOST_AT_ONCE {
            let present = self.clock.now();
            let event = self.keeper.core_mut().next_event()?;
            let is_late = event.is_some_and(|event| event + slice < present);
            if is_late && taken >= MOST_WHEN_LATE {
                break;
            }
            let early =
                self.early.iter().filter_map(|(&peer, it)| Some((it.front()?.1.sent, peer)));
            match early.min() {
                Some((sent, peer)) if sent < present && event.is_none_or(|event| sent < event) => {
                    let letters = self.early.get_mut(&peer);
                    let Some((number, letter)) = letters.and_then(VecDeque::pop_front) else {
                        continue;
                    };
                    self.receive(peer, number, letter, context)?;
                }
                _ if let Some(event) = event.filter(|event| *event <= present) => {
                    let present = present.min(event + slice);
                    self.take(&Input::Advance { present }, context)?;
                }
                early => {
                    let early = early.map(|it| it.0 + Span::TICK);
                    self.set_alarm(early.into_iter().chain(event).min(), context);
                    return Ok(());
                }
            }
        }
        if !self.flushes {
            self.flushes = true;
            context.notify(Flush);
        }
        Ok(())
    }

    fn set_alarm(&mut self, due: Option<Time>, context: &mut Context<Self>) {
        if self.alarm.map(|it| it.0) == due {
            return;
        }
        if let Some((_, handle)) = self.alarm.take() {
            context.cancel_future(handle);
        }
        self.alarm = due.map(|due| {
            let ring = |node: &mut Self, context: &mut Context<Self>| {
                node.alarm = None;
                node.attempt(context, Node::catch_up);
            };
            (due, context.run_later(self.clock.until(due), ring))
        });
    }

    /// Takes the next message of a peer.
    fn receive(
        &mut self,
        peer: PartId,
        number: Number,
        letter: Letter,
        context: &mut Context<Self>,
    ) -> Result<(), KeeperError> {
        let present = self.present()?;
        match self.keeper.core().arrival(peer, number) {
            Arrival::Copy => Ok(()),
            Arrival::Gap => {
                warn!(
                    peer = self.name_of(peer),
                    "messages are missing: the connection is made anew"
                );
                self.connections.remove(&peer);
                self.early.remove(&peer);
                Ok(())
            }
            Arrival::Next => {
                let kind = letter.kind;
                let taken = self.take(&Input::Letter { present, number, letter }, context)?;
                if let Effect::Refused(refusal) = &taken.effect {
                    warn!(peer = self.name_of(peer), kind, %refusal, "a message is refused");
                    let sequence = number.sequence;
                    let complaint = match refusal {
                        Refusal::Unread(unread) => Complaint::about(sequence, kind, unread),
                        _ => Complaint { sequence, kind, problem: Problem::NotAllowed },
                    };
                    self.send_control(peer, control(Complaint::KIND, complaint.encode()));
                }
                Ok(())
            }
        }
    }

    fn send_control(&mut self, peer: PartId, frame: Frame) {
        if let Some(connection) = self.connections.get(&peer) {
            // A connection that has ended is reported by its own task.
            let _ = connection.leave.send(vec![frame]);
        }
    }

    /// Makes inputs durable if their consequences need it, then sends all messages that may leave.
    fn flush(&mut self, context: &mut Context<Self>) -> Result<(), KeeperError> {
        self.flushes = false;
        let work = self.work_to_run();
        if self.keeper.must_sync() || work.is_some() {
            self.sync()?;
        } else {
            self.keeper.hand_over()?;
        }
        if let Some(work) = work {
            self.let_run(work);
        }
        self.send_all(context);
        self.note_progress();
        if (self.keeper.has_unacknowledged() || self.reported != self.progress) && !self.owes {
            self.owes = true;
            context.run_later(LATEST, |node, context| {
                node.owes = false;
                node.attempt(context, |node, context| {
                    if node.keeper.is_over() {
                        return Ok(());
                    }
                    node.sync()?;
                    node.send_all(context);
                    node.report(context)
                });
            });
        }
        Ok(())
    }

    /// Makes all inputs durable. After many records, the state is written down, too.
    fn sync(&mut self) -> Result<(), KeeperError> {
        let begun = Instant::now();
        match self.snapshot_every {
            Some(every) if self.keeper.since_snapshot() >= every.get() => self.keeper.snapshot()?,
            _ => self.keeper.sync()?,
        }
        self.counts.synced(begun.elapsed());
        Ok(())
    }

    fn send_all(&mut self, context: &mut Context<Self>) {
        let peers = Vec::from_iter(self.keeper.core().session().peers());
        for peer in peers {
            if self.connections.contains_key(&peer) {
                self.send_to(peer);
            } else if let waiting @ 1.. = self.keeper.core().session().waiting(peer) {
                self.call(peer, RETRY.0, context);
                self.warn_of_many(peer, waiting);
            }
        }
    }

    /// Warns of messages to a peer that does not take them, and again when their number has doubled.
    fn warn_of_many(&mut self, peer: PartId, waiting: usize) {
        let limit = self.many.entry(peer).or_insert(MANY);
        if waiting >= *limit {
            *limit = 2 * waiting;
            let peer = self.name_of(peer);
            warn!(peer, waiting, "messages wait in memory for a node without a connection");
        }
    }

    /// Sends messages that have not been sent over the present connection, and the acknowledgement.
    fn send_to(&mut self, peer: PartId) {
        let safe = self.keeper.safe(peer);
        let Some(connection) = self.connections.get_mut(&peer) else { return };
        let session = self.keeper.core().session();
        let under_way =
            session.waiting(peer) - session.unacknowledged(peer, connection.sent).count();
        // An acknowledgement is of the peer's present incarnation; its greeting has those of earlier ones.
        let acknowledged = match safe.incarnation == connection.incarnation {
            true => safe.sequence,
            false => 0,
        };
        let letters = session.unacknowledged(peer, connection.sent);
        let frames: Vec<Frame> = letters
            .take(WINDOW.saturating_sub(under_way))
            .map(|(number, letter)| {
                connection.sent = number;
                frame(&self.run, number, letter, acknowledged)
            })
            .collect();
        let frames = match frames.is_empty() {
            true if connection.told == safe => return,
            true => {
                let mut frame = control(ACKNOWLEDGE, Vec::new());
                frame.envelope.acknowledged = acknowledged;
                vec![frame]
            }
            false => frames,
        };
        connection.told = safe;
        // A connection that has ended is reported by its own task.
        let _ = connection.leave.send(frames);
    }

    /// The name of a node, for the log.
    fn name_of(&self, part: PartId) -> &str {
        self.run.nodes.get(part as usize).map_or("", NodeName::as_str)
    }

    /// Does something, and ends the node if it fails.
    fn attempt(
        &mut self,
        context: &mut Context<Self>,
        work: impl FnOnce(&mut Self, &mut Context<Self>) -> Result<(), KeeperError>,
    ) {
        if let Err(error) = work(self, context) {
            let _ = self.events.send(Event::Failed { part: self.part, error });
            context.stop();
        }
    }
}

/// A message as a frame.
fn frame(run: &Run, number: Number, letter: &Letter, acknowledged: u64) -> Frame {
    let &Letter { sent, from, to, kind, ref body } = letter;
    let envelope = Envelope {
        kind,
        sender: name_hash(&run.names[from.index()]),
        incarnation: number.incarnation,
        sequence: number.sequence,
        acknowledged,
        receiver: to,
        time: sent,
    };
    Frame { envelope, body: body.clone().into() }
}

impl Actor for Node {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        // Nothing is lost if the inbox is long: each connection waits for an answer before it sends again.
        context.set_mailbox_capacity(4_096);
    }
}

/// Starts the events of a node, after it got the addresses of all nodes.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub struct Begin {
    /// Host and port of each node, by part.
    pub addresses: Arc<BTreeMap<PartId, String>>,
}

impl Handler<Begin> for Node {
    type Result = ();

    fn handle(&mut self, begin: Begin, context: &mut Context<Self>) {
        self.addresses = begin.addresses;
        self.attempt(context, |node, context| {
            if node.keeper.is_over() {
                node.attend(context)?;
                node.dismiss();
                return node.conclude(context);
            }
            if node.keeper.is_restart() {
                let incarnation = node.keeper.incarnation();
                let work = node.ended_meanwhile();
                let present = node.clock.now();
                node.take(&Input::Restart { present, incarnation, work }, context)?;
            }
            node.attend(context)?;
            node.catch_up(context)?;
            node.wait_for_horizon(context);
            node.flush(context)
        });
        self.call(COORDINATOR, RETRY.0, context);
    }
}

/// Makes everything durable that must be, and sends.
#[derive(actix::Message)]
#[rtype(result = "()")]
struct Flush;

impl Handler<Flush> for Node {
    type Result = ();

    fn handle(&mut self, _: Flush, context: &mut Context<Self>) {
        self.attempt(context, |node, context| {
            if node.keeper.is_over() {
                return Ok(());
            }
            node.flush(context)?;
            node.catch_up(context)
        });
    }
}
