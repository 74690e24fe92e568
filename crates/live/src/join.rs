//! The beginning of a node: it learns the time of the run from the others.
//!
//! ```text
//!   first start                                   later start
//!   north ── greeting without a time ──▶ users    north ── greeting without a time ──▶ users
//!   south ── greeting without a time ──▶ users    north ◀── greeting with the time ─── users
//!   all   ◀── greeting with the time ─── users
//! ```
//!
//! The coordinator waits until all nodes have called, then begins. So clocks of machines need not agree: the time of a
//! node differs from that of the coordinator by at most half of a round trip. Each later start asks again, and takes
//! the clock of its machine only if no other node answers. Clocks drift apart, by some seconds a day, so each node asks
//! the coordinator now and again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use haggle_model::Time;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsStream;
use tracing::{info, warn};

use crate::clock::{Clock, Pace, Reading, ScaleError};
use crate::ending::COORDINATOR;
use crate::hello::{Hello, HelloError};
use crate::keys::Identity;
use crate::link::{Link, LinkError};
use crate::node::{Node, Run, Steer, called, secured, tell_of_failure};
use crate::parts::PartId;
use crate::session::Number;
use crate::status::Board;

/// Time within which another node must tell the time at a later start.
const ANSWER: Duration = Duration::from_secs(2);
/// Questions for the time.
const QUESTIONS: usize = 5;
/// Time between two calls of the coordinator, and between two words of it to nodes that wait.
const AGAIN: Duration = Duration::from_secs(1);
/// Time between two lines in the log about nodes that are missing.
const REMINDER: Duration = Duration::from_secs(30);
/// Time between two questions of a node that runs.
const STEERED: Duration = Duration::from_secs(60);

/// Reason why a node does not begin.
#[derive(Debug, Error)]
pub enum JoinError {
    /// It is no node of the run of the others.
    #[error("{peer}: {error}")]
    Other {
        /// The peer.
        peer: String,
        /// The reason.
        error: HelloError,
    },
    /// The run has begun, and this node has nothing of it.
    #[error(
        "{peer} has begun this run already, and the folder of this node has no clock of it: restore its files, or \
         begin a run in another folder"
    )]
    Begun {
        /// The peer.
        peer: String,
    },
    /// The scale is out of its bounds.
    #[error(transparent)]
    Scale(#[from] ScaleError),
}

/// A node that joins a run.
pub(crate) struct Joining {
    pub(crate) part: PartId,
    pub(crate) identity: Arc<Identity>,
    pub(crate) run: Arc<Run>,
    /// Host and port of each node, by part.
    pub(crate) addresses: Arc<BTreeMap<PartId, String>>,
    /// It shows for which nodes this one waits.
    pub(crate) board: Board,
}

/// The time of the run, as a node has learnt it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Learnt {
    pub(crate) time: Reading,
    /// Time from a question to its answer; `None` if no other node was asked.
    pub(crate) round_trip: Option<Duration>,
}

/// Nodes that wait for the time of the run, with their connections.
pub(crate) type Waiting = BTreeMap<PartId, Link<TlsStream<TcpStream>>>;

impl Joining {
    fn hello(&self, now: Option<Time>) -> Hello {
        let (run, scale) = (self.run.digest, self.run.scale);
        // Only the time is exchanged, so the numbers of messages play no part.
        Hello {
            run,
            scale,
            now,
            part: self.part,
            incarnation: 0,
            taken: Number::default(),
            acknowledged: Number::default(),
        }
    }

    fn name(&self, peer: PartId) -> String {
        self.run.nodes[peer as usize].to_string()
    }

    /// The pace of the run at the first start of this node.
    pub(crate) async fn first(
        &self,
        listener: &TcpListener,
    ) -> Result<(Learnt, Waiting), JoinError> {
        match self.part {
            COORDINATOR => {
                let waiting = self.gather(listener).await?;
                let pace = Pace::beginning(Duration::from_millis(500), self.run.scale)?;
                Ok((Learnt { time: Reading::of(pace), round_trip: None }, waiting))
            }
            _ => Ok((self.wait_for_coordinator().await?, Waiting::new())),
        }
    }

    /// The pace of the run at a later start: `known` by the clock of this machine.
    pub(crate) async fn again(&self, known: Pace) -> Result<Learnt, JoinError> {
        for &peer in self.addresses.keys().filter(|it| **it != self.part) {
            match timeout(ANSWER, self.ask(peer)).await {
                Ok(Ok(learnt)) => return Ok(learnt),
                Ok(Err(error)) => self.check(peer, error, 1)?,
                Err(_) => {}
            }
        }
        warn!("no other node tells the time: the clock of this machine is taken");
        Ok(Learnt { time: Reading::of(known), round_trip: None })
    }

    /// Asks the coordinator for the time again and again, and tells a node of the answers.
    pub(crate) async fn steer(self, node: actix::Addr<Node>) {
        loop {
            tokio::time::sleep(STEERED).await;
            let Ok(Ok(learnt)) = timeout(ANSWER, self.ask(COORDINATOR)).await else { continue };
            let (told, round_trip) = (learnt.time, learnt.round_trip.unwrap_or(ANSWER));
            if node.send(Steer { told, round_trip }).await.is_err() {
                return;
            }
        }
    }

    /// Asks a peer for the time, and waits until it knows it.
    async fn ask(&self, peer: PartId) -> Result<Learnt, LinkError> {
        let name = &self.run.nodes[peer as usize];
        let (stream, _) = called(&self.addresses[&peer], &self.identity, name).await?;
        let mut link = Link::greet(stream, &self.hello(None), peer).await?;
        let mut now = link.peer.now;
        while now.is_none() {
            now = link.hear().await?.now;
        }
        // The shortest of some round trips tells the time best: it was read somewhere in between.
        let mut best: Option<(Duration, Reading)> = None;
        for _ in 0..QUESTIONS {
            let begun = Instant::now();
            link.tell(&self.hello(None)).await?;
            let time = link.hear().await?.now.ok_or(LinkError::Silent)?;
            let took = begun.elapsed();
            if best.is_none_or(|it| took < it.0) {
                best = Some((took, Reading { at: begun + took / 2, time }));
            }
        }
        let (round_trip, time) = best.ok_or(LinkError::Silent)?;
        Ok(Learnt { time, round_trip: Some(round_trip) })
    }

    async fn wait_for_coordinator(&self) -> Result<Learnt, JoinError> {
        let address = &self.addresses[&COORDINATOR];
        info!(coordinator = self.name(COORDINATOR), %address, "waiting for the beginning");
        self.board.waits_for(vec![self.name(COORDINATOR)]);
        let mut failed = 0_u32;
        loop {
            match self.ask(COORDINATOR).await {
                Ok(learnt) => return Ok(learnt),
                Err(error) => {
                    failed = failed.saturating_add(1);
                    self.check(COORDINATOR, error, failed)?;
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// A peer that cannot be reached may be later. One of another run will not change.
    fn check(&self, peer: PartId, error: LinkError, failed: u32) -> Result<(), JoinError> {
        match error {
            LinkError::Hello(error @ (HelloError::OtherRun | HelloError::OtherScale { .. })) => {
                Err(JoinError::Other { peer: self.name(peer), error })
            }
            error => {
                let (name, address) = (&self.run.nodes[peer as usize], &self.addresses[&peer]);
                tell_of_failure(failed, name, address, &error);
                Ok(())
            }
        }
    }

    /// Waits until all other nodes have called.
    async fn gather(&self, listener: &TcpListener) -> Result<Waiting, JoinError> {
        let mut waiting = Waiting::new();
        let (arrive, mut arrived) = mpsc::channel(1);
        let mut tick = tokio::time::interval(AGAIN);
        let mut reminder = tokio::time::interval(REMINDER);
        let others = self.run.nodes.len() - 1;
        while waiting.len() < others {
            let missing = || {
                let parts = 0..self.run.nodes.len() as PartId;
                let missing = parts.filter(|it| *it != self.part && !waiting.contains_key(it));
                Vec::from_iter(missing.map(|it| self.name(it)))
            };
            self.board.waits_for(missing());
            tokio::select! {
                _ = reminder.tick() => info!(nodes = missing().join(", "), "waiting for other nodes"),
                taken = listener.accept() => {
                    let Ok((stream, _)) = taken else { continue };
                    let (own, arrive) = (self.hello(None), arrive.clone());
                    let (identity, run) = (Arc::clone(&self.identity), Arc::clone(&self.run));
                    actix::spawn(async move {
                        let greeted = async {
                            let (stream, _, peer) = secured(stream, &identity, &run.nodes).await?;
                            Link::greet(stream, &own, peer).await
                        };
                        match greeted.await {
                            // Without a receiver, the run has begun, and the peer calls again.
                            Ok(link) => drop(arrive.send(link).await),
                            Err(error) => warn!(%error, "no connection"),
                        }
                    });
                }
                Some(link) = arrived.recv() => {
                    let peer = link.peer.part;
                    if link.peer.now.is_some() {
                        return Err(JoinError::Begun { peer: self.name(peer) });
                    }
                    waiting.insert(peer, link);
                    info!(peer = self.name(peer), missing = others - waiting.len(), "ready");
                }
                // A node that ended is noticed, and those that wait know that this one lives.
                _ = tick.tick() => waiting = self.tell(waiting, None).await,
            }
        }
        Ok(waiting)
    }

    /// Tells nodes that wait the time. Returns those that are still there.
    pub(crate) async fn tell(&self, waiting: Waiting, clock: Option<Clock>) -> Waiting {
        let mut still = Waiting::new();
        for (peer, mut link) in waiting {
            match link.tell(&self.hello(clock.map(|it| it.now()))).await {
                Ok(()) => drop(still.insert(peer, link)),
                Err(error) => warn!(peer = self.name(peer), %error, "disconnected"),
            }
        }
        still
    }
}
