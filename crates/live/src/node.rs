//! A node: an actix actor that gives its core the inputs of the clock and of other nodes, and sends what leaves.
//!
//! ```text
//!   connection ── frames ──▶ node ── input ──▶ journal ──▶ core ──▶ messages that leave
//!   timer ───────────────────▲  │                                        │
//!                               └── once per batch: sync, then send ◀────┘
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, Handler, SpawnHandle};
use haggle_journal::FileSystem;
use haggle_model::{ActorId, Time};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tracing::{debug, info, warn};

use crate::clock::{Clock, Pace};
use crate::core::{Effect, Input, Letter, Taken};
use crate::hello::{ACKNOWLEDGE, Hello, control};
use crate::keeper::{Keeper, KeeperError};
use crate::keys::{Identity, NodeName, Peer, Refusal};
use crate::link::{Link, LinkError, PATIENCE};
use crate::parts::PartId;
use crate::session::{Arrival, Number};
use crate::wire::{Complaint, Envelope, Frame, Problem, name_hash};

/// Messages to a peer on their way without an acknowledgement.
const WINDOW: usize = 4_096;
/// Longest time that an acknowledgement waits for messages in the other direction.
const LATEST: Duration = Duration::from_millis(20);
/// Waiting times before a peer is called again: doubled each time, up to the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Facts about a run that all of its nodes know.
#[derive(Clone, Debug)]
pub struct Run {
    /// Digest of everything that must be the same at all nodes.
    pub digest: [u8; 32],
    /// Time zero and scale.
    pub pace: Pace,
    /// Names of all actors.
    pub names: Vec<String>,
    /// Names of all nodes in their certificates, by part.
    pub nodes: Vec<NodeName>,
    /// Actors by the number of their name.
    by_hash: BTreeMap<u64, ActorId>,
}

impl Run {
    /// The facts about a run with actors and nodes of these names.
    pub fn new(digest: [u8; 32], pace: Pace, names: Vec<String>, nodes: Vec<NodeName>) -> Run {
        let by_hash = (0..).map(ActorId).zip(&names).map(|(it, name)| (name_hash(name), it));
        Run { by_hash: by_hash.collect(), digest, pace, names, nodes }
    }
}

/// Jobs of a node. A job may arrive at one node, and be over at another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Jobs that have arrived.
    pub jobs: u64,
    /// Jobs that are over.
    pub over: u64,
    /// True if further jobs will arrive.
    pub awaits: bool,
}

/// An event of a node, for the process around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Jobs have arrived, or are over.
    Progress {
        /// Its part.
        part: PartId,
        /// Its jobs.
        progress: Progress,
    },
    /// It has ended as asked, and everything is durable.
    Ended,
    /// It cannot continue.
    Failed {
        /// Its part.
        part: PartId,
        /// The reason.
        error: String,
    },
}

/// A connection to a peer, as its node sees it.
struct Connection {
    /// Its number among all connections of this node.
    id: u64,
    /// The node that called.
    caller: PartId,
    /// Incarnation of the peer.
    incarnation: u32,
    /// Its name, and the messages that it may send.
    peer: Peer,
    leave: mpsc::UnboundedSender<Vec<Frame>>,
    /// The last message that was sent over it.
    sent: Number,
    /// The last message of the peer that was acknowledged over it.
    told: Number,
}

/// A node.
pub struct Node {
    keeper: Keeper<'static, FileSystem>,
    part: PartId,
    identity: Arc<Identity>,
    run: Arc<Run>,
    clock: Clock,
    addresses: Arc<BTreeMap<PartId, SocketAddr>>,
    connections: BTreeMap<PartId, Connection>,
    /// Peers that are being called.
    calling: BTreeSet<PartId>,
    /// Messages of peers whose clocks are ahead of this one.
    early: BTreeMap<PartId, VecDeque<(Number, Letter)>>,
    /// The timer for the next own event or early message.
    alarm: Option<(Time, SpawnHandle)>,
    /// True if a flush is under way to this actor.
    flushes: bool,
    /// True if a late acknowledgement is due.
    owes: bool,
    progress: Option<Progress>,
    next_id: u64,
    events: mpsc::UnboundedSender<Event>,
}

impl Node {
    /// A node whose journal is open.
    pub fn new(
        keeper: Keeper<'static, FileSystem>,
        identity: Arc<Identity>,
        run: Arc<Run>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Node {
        let part = keeper.core().part();
        Node {
            keeper,
            part,
            identity,
            clock: Clock::new(run.pace),
            run,
            addresses: Arc::default(),
            connections: BTreeMap::new(),
            calling: BTreeSet::new(),
            early: BTreeMap::new(),
            alarm: None,
            flushes: false,
            owes: false,
            progress: None,
            next_id: 0,
            events,
        }
    }

    /// The introduction for a peer.
    fn hello(&self, peer: PartId) -> Hello {
        Hello {
            run: self.run.digest,
            pace: self.run.pace,
            part: self.part,
            incarnation: self.keeper.incarnation(),
            taken: self.keeper.core().session().taken(peer),
        }
    }

    /// Takes an input.
    fn take(&mut self, input: &Input, context: &mut Context<Self>) -> Result<Taken, KeeperError> {
        let taken = self.keeper.take(input)?;
        if !self.flushes {
            self.flushes = true;
            context.notify(Flush);
        }
        Ok(taken)
    }

    /// Lets own events and early messages take place up to the present, and sets the alarm for the next ones.
    fn catch_up(&mut self, context: &mut Context<Self>) -> Result<(), KeeperError> {
        loop {
            let present = self.clock.now();
            let event = self.keeper.core_mut().next_event()?;
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
                _ if event.is_some_and(|event| event <= present) => {
                    self.take(&Input::Advance { present }, context)?;
                }
                early => {
                    let early = early.map(|it| it.0 + haggle_model::Span::TICK);
                    self.set_alarm(early.into_iter().chain(event).min(), context);
                    return Ok(());
                }
            }
        }
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
        let present = self.clock.now();
        match self.keeper.core().arrival(peer, number) {
            Arrival::Copy => Ok(()),
            Arrival::Gap => {
                warn!(part = self.part, peer, "messages are missing: the connection is made anew");
                self.connections.remove(&peer);
                self.early.remove(&peer);
                Ok(())
            }
            Arrival::Next => {
                let kind = letter.kind;
                let taken = self.take(&Input::Letter { present, number, letter }, context)?;
                if let Effect::Refused(refusal) = &taken.effect {
                    warn!(part = self.part, peer, kind, %refusal, "a message is refused");
                    let complaint = match refusal {
                        crate::core::Refusal::Unread(unread) => {
                            Complaint::about(number.sequence, kind, unread)
                        }
                        _ => Complaint {
                            sequence: number.sequence,
                            kind,
                            problem: Problem::NotAllowed,
                        },
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
        if self.keeper.must_sync() {
            self.keeper.sync()?;
        }
        self.send_all(context);
        self.report();
        if self.keeper.has_unacknowledged() && !self.owes {
            self.owes = true;
            context.run_later(LATEST, |node, context| {
                node.owes = false;
                node.attempt(context, |node, context| {
                    node.keeper.sync()?;
                    node.send_all(context);
                    Ok(())
                });
            });
        }
        Ok(())
    }

    fn send_all(&mut self, context: &mut Context<Self>) {
        let peers = Vec::from_iter(self.keeper.core().session().peers());
        for peer in peers {
            if self.connections.contains_key(&peer) {
                self.send_to(peer);
            } else if self.keeper.core().session().waiting(peer) > 0 {
                self.call(peer, RETRY.0, context);
            }
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

    /// Reports arrivals and ends of jobs.
    fn report(&mut self) {
        let host = self.keeper.core().host();
        let (stats, awaits) = (host.stats(), host.awaits_jobs());
        let progress = Progress { jobs: stats.jobs, over: stats.jobs_over, awaits };
        if self.progress != Some(progress) {
            self.progress = Some(progress);
            // Without a process around it, nothing depends on the report.
            let _ = self.events.send(Event::Progress { part: self.part, progress });
        }
    }

    /// Calls a peer, now and again until there is a connection.
    fn call(&mut self, peer: PartId, wait: Duration, context: &mut Context<Self>) {
        let Some(&address) = self.addresses.get(&peer) else { return };
        if !self.calling.insert(peer) {
            return;
        }
        let (node, own) = (context.address(), self.part);
        let (identity, run) = (Arc::clone(&self.identity), Arc::clone(&self.run));
        actix::spawn(async move {
            let called = async {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                let name = run.nodes[peer as usize].as_str();
                let secure = tokio::time::timeout(PATIENCE, identity.connect(name, stream));
                let (stream, known) = secure.await.map_err(|_| LinkError::Silent)??;
                connect(stream, node.clone(), known.clone(), peer, own).await
            };
            if let Err(error) = called.await {
                debug!(part = own, peer, %error, "no connection");
            }
            node.do_send(CallEnded { peer, wait });
        });
    }

    /// Does something, and ends the node if it fails.
    fn attempt(
        &mut self,
        context: &mut Context<Self>,
        work: impl FnOnce(&mut Self, &mut Context<Self>) -> Result<(), KeeperError>,
    ) {
        if let Err(error) = work(self, context) {
            let _ = self.events.send(Event::Failed { part: self.part, error: error.to_string() });
            actix::ActorContext::stop(context);
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

/// Takes a connection from a peer, and exchanges frames until it ends.
///
/// # Errors
/// If the peer is no node of this run, or the connection breaks.
pub async fn accept(
    stream: TcpStream,
    node: actix::Addr<Node>,
    identity: &Identity,
    run: &Run,
) -> Result<(), LinkError> {
    stream.set_nodelay(true)?;
    let secure = tokio::time::timeout(PATIENCE, identity.accept(stream));
    let (stream, known) = secure.await.map_err(|_| LinkError::Silent)??;
    let Some(peer) = run.nodes.iter().position(|it| *it == known.name) else {
        return Err(Refusal::NotCalled(known.name.to_string()).into());
    };
    let peer = peer as PartId;
    connect(stream, node, known.clone(), peer, peer).await
}

/// Introduces a node to its peer, and exchanges frames until the connection ends.
async fn connect<T: AsyncRead + AsyncWrite + Unpin>(
    stream: T,
    node: actix::Addr<Node>,
    known: Peer,
    peer: PartId,
    caller: PartId,
) -> Result<(), LinkError> {
    let Ok(own) = node.send(Introduce { peer }).await else { return Ok(()) };
    let link = Link::greet(stream, &own, peer).await?;
    let (leave, leaving) = mpsc::unbounded_channel();
    let connected = Connected { hello: link.peer.clone(), known, caller, leave };
    let Ok(Some(id)) = node.send(connected).await else { return Ok(()) };
    let take = async |frames| node.send(Arrived { peer, id, frames }).await.unwrap_or(false);
    let ended = link.exchange(leaving, take).await;
    node.do_send(Disconnected { peer, id });
    ended
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
    /// Addresses of all nodes, by part.
    pub addresses: Arc<BTreeMap<PartId, SocketAddr>>,
}

impl Handler<Begin> for Node {
    type Result = ();

    fn handle(&mut self, begin: Begin, context: &mut Context<Self>) {
        self.addresses = begin.addresses;
        self.attempt(context, |node, context| {
            if node.keeper.is_restart() {
                let incarnation = node.keeper.incarnation();
                let present = node.clock.now();
                node.take(&Input::Restart { present, incarnation }, context)?;
            }
            node.catch_up(context)?;
            node.flush(context)
        });
    }
}

/// Asks for the introduction for a peer.
#[derive(actix::Message)]
#[rtype(result = "Hello")]
struct Introduce {
    peer: PartId,
}

impl Handler<Introduce> for Node {
    type Result = actix::MessageResult<Introduce>;

    fn handle(&mut self, introduce: Introduce, _: &mut Context<Self>) -> Self::Result {
        actix::MessageResult(self.hello(introduce.peer))
    }
}

/// A connection begins. The answer is its number; `None` = another one is better.
#[derive(actix::Message)]
#[rtype(result = "Option<u64>")]
struct Connected {
    hello: Hello,
    known: Peer,
    caller: PartId,
    leave: mpsc::UnboundedSender<Vec<Frame>>,
}

impl Handler<Connected> for Node {
    type Result = Option<u64>;

    fn handle(&mut self, connected: Connected, context: &mut Context<Self>) -> Option<u64> {
        let Connected { hello, known, caller, leave } = connected;
        let peer = hello.part;
        // If both nodes call each other at once, both keep the call of the smaller number.
        if self.connections.get(&peer).is_some_and(|it| it.caller < caller) {
            return None;
        }
        self.next_id += 1;
        let id = self.next_id;
        self.keeper.core_mut().acknowledge(peer, hello.taken);
        let connection = Connection {
            id,
            caller,
            incarnation: hello.incarnation,
            peer: known,
            leave,
            sent: hello.taken,
            told: Number::default(),
        };
        // Its task ends when the last one that sends to it goes.
        self.connections.insert(peer, connection);
        // They are sent again.
        self.early.remove(&peer);
        info!(part = self.part, peer, incarnation = hello.incarnation, "connected");
        self.attempt(context, Node::flush);
        Some(id)
    }
}

/// A connection has ended.
#[derive(actix::Message)]
#[rtype(result = "()")]
struct Disconnected {
    peer: PartId,
    id: u64,
}

impl Handler<Disconnected> for Node {
    type Result = ();

    fn handle(&mut self, ended: Disconnected, context: &mut Context<Self>) {
        if self.connections.get(&ended.peer).is_some_and(|it| it.id == ended.id) {
            self.connections.remove(&ended.peer);
            info!(part = self.part, peer = ended.peer, "disconnected");
            self.send_all(context);
        }
    }
}

/// A call has failed, or its connection has ended.
#[derive(actix::Message)]
#[rtype(result = "()")]
struct CallEnded {
    peer: PartId,
    wait: Duration,
}

impl Handler<CallEnded> for Node {
    type Result = ();

    fn handle(&mut self, CallEnded { peer, wait }: CallEnded, context: &mut Context<Self>) {
        context.run_later(wait, move |node, context| {
            node.calling.remove(&peer);
            let waits = node.keeper.core().session().waiting(peer) > 0;
            if waits && !node.connections.contains_key(&peer) {
                node.call(peer, (2 * wait).min(RETRY.1), context);
            }
        });
    }
}

/// Frames of a peer. The answer is false if the connection must end.
#[derive(actix::Message)]
#[rtype(result = "bool")]
struct Arrived {
    peer: PartId,
    id: u64,
    frames: Vec<Frame>,
}

impl Handler<Arrived> for Node {
    type Result = bool;

    fn handle(&mut self, arrived: Arrived, context: &mut Context<Self>) -> bool {
        let Arrived { peer, id, frames } = arrived;
        let is_present = |node: &Self| node.connections.get(&peer).is_some_and(|it| it.id == id);
        for Frame { envelope, body } in frames {
            if !is_present(self) {
                return false;
            }
            match envelope.kind {
                Complaint::KIND => {
                    let complaint = Complaint::decode(&body);
                    warn!(part = self.part, peer, ?complaint, "the peer refuses a message");
                    continue;
                }
                Hello::KIND => return false,
                _ => {}
            }
            if envelope.acknowledged > 0 {
                let incarnation = self.keeper.incarnation();
                let up_to = Number { incarnation, sequence: envelope.acknowledged };
                self.keeper.core_mut().acknowledge(peer, up_to);
            }
            if envelope.kind == ACKNOWLEDGE {
                self.send_to(peer);
                continue;
            }
            let may_send = |it: &Connection| it.peer.may_send(envelope.kind);
            if !self.connections.get(&peer).is_some_and(may_send) {
                warn!(
                    part = self.part,
                    peer,
                    kind = envelope.kind,
                    "the peer may not send this kind"
                );
                let (sequence, kind) = (envelope.sequence, envelope.kind);
                let complaint = Complaint { sequence, kind, problem: Problem::NotAllowed };
                self.send_control(peer, control(Complaint::KIND, complaint.encode()));
                return false;
            }
            let sender = self.run.by_hash.get(&envelope.sender).copied();
            let Some(from) = sender.filter(|&it| self.keeper.core().part_of(it) == Some(peer))
            else {
                warn!(part = self.part, peer, "a message of an actor that is not at this peer");
                return false;
            };
            let Envelope { kind, incarnation, sequence, receiver: to, time: sent, .. } = envelope;
            let number = Number { incarnation, sequence };
            let letter = Letter { sent, from, to, kind, body: body.to_vec() };
            let waits = self.early.get(&peer).is_some_and(|it| !it.is_empty());
            if waits || sent >= self.clock.now() {
                self.early.entry(peer).or_default().push_back((number, letter));
            } else {
                self.attempt(context, |node, context| node.receive(peer, number, letter, context));
            }
        }
        self.attempt(context, Node::catch_up);
        is_present(self)
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
            node.flush(context)?;
            node.catch_up(context)
        });
    }
}

/// Ends a node: it takes no further input, and everything becomes durable.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub struct End;

impl Handler<End> for Node {
    type Result = ();

    fn handle(&mut self, _: End, context: &mut Context<Self>) {
        self.attempt(context, |node, context| {
            let present = node.clock.now();
            node.take(&Input::Advance { present }, context)?;
            node.keeper.sync()?;
            // Without a process around it, nothing depends on the report.
            let _ = node.events.send(Event::Ended);
            actix::ActorContext::stop(context);
            Ok(())
        });
    }
}
