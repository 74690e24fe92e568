//! Connections of a node: it takes them and makes them, and exchanges frames over them.

use std::io;
use std::time::Duration;

use actix::{AsyncContext, Context, Handler};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsStream;
use tracing::{debug, error, info, warn};

use super::{Node, Run, WINDOW};
use crate::core::Letter;
use crate::ending::COORDINATOR;
use crate::hello::{ACKNOWLEDGE, END, ENDED, Hello, PROGRESS, control};
use crate::keeper::KeeperError;
use crate::keys::{Identity, NodeName, Peer, Refusal};
use crate::link::{Link, LinkError, PATIENCE};
use crate::parts::PartId;
use crate::run::Ended;
use crate::session::Number;
use crate::wire::{self, Complaint, Envelope, Frame, Limits, Problem};

/// Waiting times before a peer is called again: doubled each time, up to the longest.
pub(super) const RETRY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// A connection to a peer, as its node sees it.
pub(super) struct Connection {
    /// Its number among all connections of this node.
    id: u64,
    /// The node that called.
    caller: PartId,
    /// Incarnation of the peer.
    pub(super) incarnation: u32,
    /// Its name, and the messages that it may send.
    peer: Peer,
    pub(super) leave: mpsc::UnboundedSender<Vec<Frame>>,
    /// The last message that was sent over it.
    pub(super) sent: Number,
    /// The last message of the peer that was acknowledged over it.
    pub(super) told: Number,
}

impl Connection {
    /// True if the peer may send the message. A numbered message counts as its contents.
    fn may_send(&self, kind: u16, body: &[u8], limits: &Limits) -> bool {
        if self.peer.may_send_all() || kind == Complaint::KIND {
            return true;
        }
        match wire::decode(kind, body, limits) {
            Ok(message) => self.peer.may_send_message(&message),
            // It is refused for that reason.
            Err(_) => self.peer.may_send(kind),
        }
    }
}

impl Node {
    /// Calls a peer, now and again until there is a connection.
    pub(super) fn call(&mut self, peer: PartId, wait: Duration, context: &mut Context<Self>) {
        let Some(address) = self.addresses.get(&peer).cloned() else { return };
        if peer == self.part || self.connections.contains_key(&peer) || !self.calling.insert(peer) {
            return;
        }
        let (node, own) = (context.address(), self.part);
        let (identity, run) = (self.identity.clone(), self.run.clone());
        actix::spawn(async move {
            let exchanged = async {
                let name = &run.nodes[peer as usize];
                let (stream, known) = called(&address, &identity, name).await?;
                connect(stream, node.clone(), known, peer, own).await
            };
            let ended = exchanged.await;
            node.do_send(CallEnded { peer, wait, error: ended.err() });
        });
    }
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
    let (stream, known, peer) = secured(stream, identity, &run.nodes).await?;
    connect(stream, node, known, peer, peer).await
}

/// Checks the certificate of a peer that calls.
///
/// # Errors
/// If it is no node of this run.
pub(crate) async fn secured(
    stream: TcpStream,
    identity: &Identity,
    nodes: &[NodeName],
) -> Result<(TlsStream<TcpStream>, Peer, PartId), LinkError> {
    prepare(&stream)?;
    let secure = tokio::time::timeout(PATIENCE, identity.accept(stream));
    let (stream, known) = secure.await.map_err(|_| LinkError::Silent)??;
    match nodes.iter().position(|it| *it == known.name) {
        Some(peer) => Ok((stream, known.clone(), peer as PartId)),
        None => Err(Refusal::NotCalled(known.name.to_string()).into()),
    }
}

/// Calls a peer, and checks its certificate.
///
/// # Errors
/// If it does not answer, or is another one.
pub(crate) async fn called(
    address: &str,
    identity: &Identity,
    name: &NodeName,
) -> Result<(TlsStream<TcpStream>, Peer), LinkError> {
    let stream = tokio::time::timeout(PATIENCE, TcpStream::connect(address));
    let stream = stream.await.map_err(|_| LinkError::Silent)??;
    prepare(&stream)?;
    let secure = tokio::time::timeout(PATIENCE, identity.connect(name.as_str(), stream));
    let (stream, known) = secure.await.map_err(|_| LinkError::Silent)??;
    Ok((stream, known.clone()))
}

/// Small messages leave at once, and a peer whose machine is gone is found within half a minute.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new().with_time(Duration::from_secs(10));
    let probes = probes.with_interval(Duration::from_secs(5)).with_retries(3);
    socket.set_tcp_keepalive(&probes)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(Duration::from_secs(30)))?;
    Ok(())
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
    if link.peer.now.is_none() {
        tell_time(link, node).await;
        return Ok(());
    }
    let (leave, leaving) = mpsc::unbounded_channel();
    let connected = Connected { hello: link.peer.clone(), known, caller, leave };
    let Ok(Some(id)) = node.send(connected).await else { return Ok(()) };
    let take = async |frames| node.send(Arrived { peer, id, frames }).await.unwrap_or(false);
    let ended = link.exchange(leaving, take).await;
    let reason = match &ended {
        Ok(()) => "closed by this node".to_owned(),
        Err(error) if error.is_end_of_peer() => "closed by the peer".to_owned(),
        Err(error) => error.to_string(),
    };
    node.do_send(Disconnected { peer, id, reason });
    ended
}

/// Answers a peer that asks for the time of the run, again and again, until it has heard enough.
pub(crate) async fn tell_time<T: AsyncRead + AsyncWrite + Unpin>(
    mut link: Link<T>,
    node: actix::Addr<Node>,
) {
    let peer = link.peer.part;
    while link.hear().await.is_ok() {
        let Ok(own) = node.send(Introduce { peer }).await else { return };
        if link.tell(&own).await.is_err() {
            return;
        }
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
        actix::MessageResult(Hello {
            run: self.run.digest,
            scale: self.run.scale,
            now: Some(self.clock.now()),
            part: self.part,
            incarnation: self.keeper.incarnation(),
            taken: self.keeper.safe(introduce.peer),
            acknowledged: self.keeper.core().session().acknowledged(introduce.peer),
        })
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
        // If both nodes call each other at once, both keep the call of the smaller number. A connection to an earlier
        // process of the peer has ended, also if nothing has told so.
        let is_better = |it: &Connection| it.caller < caller && it.incarnation >= hello.incarnation;
        if self.connections.get(&peer).is_some_and(is_better) {
            return None;
        }
        let session = self.keeper.core().session();
        if hello.acknowledged > session.taken(peer) || !session.may_have_sent(peer, hello.taken) {
            let lost = KeeperError::Lost { peer: self.name_of(peer).to_owned() };
            self.attempt(context, |_, _| Err(lost));
            return None;
        }
        // If both nodes call each other, the introduction over the second connection may be older than what was taken
        // over the first one.
        let is_known = |it: &Connection| it.incarnation == hello.incarnation;
        if session.acknowledged(peer) > hello.taken
            && !self.connections.get(&peer).is_some_and(is_known)
        {
            error!(
                peer = self.name_of(peer),
                "the journal of the peer lacks messages that it had acknowledged"
            );
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
        self.failed_calls.remove(&peer);
        // Its task ends when the last one that sends to it goes.
        self.connections.insert(peer, connection);
        // They are sent again.
        self.early.remove(&peer);
        info!(peer = self.name_of(peer), incarnation = hello.incarnation, "connected");
        self.attempt(context, |node, context| {
            node.greet_for_end(peer, context);
            match node.keeper.is_over() {
                true => Ok(()),
                false => node.flush(context),
            }
        });
        Some(id)
    }
}

/// A connection has ended.
#[derive(actix::Message)]
#[rtype(result = "()")]
struct Disconnected {
    peer: PartId,
    id: u64,
    reason: String,
}

impl Handler<Disconnected> for Node {
    type Result = ();

    fn handle(&mut self, ended: Disconnected, context: &mut Context<Self>) {
        if self.connections.get(&ended.peer).is_some_and(|it| it.id == ended.id) {
            self.connections.remove(&ended.peer);
            info!(peer = self.name_of(ended.peer), reason = ended.reason, "disconnected");
            if !self.keeper.is_over() {
                self.send_all(context);
            }
            self.call(COORDINATOR, RETRY.0, context);
        }
    }
}

/// A call has failed, or its connection has ended.
#[derive(actix::Message)]
#[rtype(result = "()")]
struct CallEnded {
    peer: PartId,
    wait: Duration,
    error: Option<LinkError>,
}

impl Handler<CallEnded> for Node {
    type Result = ();

    fn handle(&mut self, ended: CallEnded, context: &mut Context<Self>) {
        let CallEnded { peer, wait, error } = ended;
        if let Some(error) = error.filter(|_| !self.connections.contains_key(&peer)) {
            let failed = self.failed_calls.entry(peer).or_default();
            *failed += 1;
            let address = self.addresses.get(&peer).map_or("", String::as_str);
            tell_of_failure(*failed, &self.run.nodes[peer as usize], address, &error);
            // Nothing more can be told. The peer may not have ended, so nothing is confirmed either.
            if error.is_refusal_of_system() && self.keeper.is_over() && peer == COORDINATOR {
                self.finish(Ended::Unconfirmed, context);
            }
        }
        context.run_later(wait, move |node, context| {
            node.calling.remove(&peer);
            let waits = node.keeper.core().session().waiting(peer) > 0 && !node.keeper.is_over();
            if (waits || peer == COORDINATOR) && !node.connections.contains_key(&peer) {
                node.call(peer, (2 * wait).min(RETRY.1), context);
            }
        });
    }
}

/// Logs that a call of a peer has failed: with patience, because the peer may start at any time, and never in a flood.
pub(crate) fn tell_of_failure(failed: u32, peer: &NodeName, address: &str, error: &LinkError) {
    // The first calls follow each other within some seconds, later ones every second or two. Another peer than the
    // expected one does not become the right one.
    let is_other = failed == 1 && matches!(error, LinkError::Refused(_));
    if is_other || failed == 8 || failed.is_multiple_of(60) {
        warn!(%peer, %address, %error, "no connection; calls go on");
    } else {
        debug!(%peer, %address, %error, "no connection");
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
                    warn!(peer = self.name_of(peer), ?complaint, "the peer refuses a message");
                    continue;
                }
                Hello::KIND => return false,
                PROGRESS | END | ENDED => {
                    self.attempt(context, |node, context| {
                        node.take_ending(peer, envelope.kind, &body, context)
                    });
                    continue;
                }
                // Messages of other nodes are of no use any more.
                _ if self.keeper.is_over() => continue,
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
            let limits = self.keeper.core().limits();
            let may_send = |it: &Connection| it.may_send(envelope.kind, &body, limits);
            if !self.connections.get(&peer).is_some_and(may_send) {
                warn!(
                    peer = self.name_of(peer),
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
                warn!(peer = self.name_of(peer), "a message of an actor that is not at this peer");
                return false;
            };
            let Envelope { kind, incarnation, sequence, receiver: to, time: sent, .. } = envelope;
            let number = Number { incarnation, sequence };
            let letter = Letter { sent, from, to, kind, body: body.to_vec() };
            let mut has_room = true;
            self.attempt(context, |node, context| {
                let waits = node.early.get(&peer).is_some_and(|it| !it.is_empty());
                if !waits && sent < node.present()? {
                    return node.receive(peer, number, letter, context);
                }
                let early = node.early.entry(peer).or_default();
                has_room = early.len() <= 2 * WINDOW;
                if has_room {
                    early.push_back((number, letter));
                }
                Ok(())
            });
            if !has_room {
                warn!(peer = self.name_of(peer), "the peer sends more than it may");
                return false;
            }
        }
        self.attempt(context, Node::catch_up);
        is_present(self)
    }
}
