//! All nodes of a run on this machine, each on a thread of its own, over connections of the loopback device.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix::{Actor, Addr, Arbiter, System};
use haggle_journal::{FileSystem, Network};
use haggle_model::{ActorId, Span, Time};
use haggle_runtime::World;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use crate::clock::{Clock, Pace, Reading};
use crate::core::{Core, CoreError, Known};
use crate::ending::{Agreement, Progress};
use crate::join::JoinError;
use crate::keeper::{Keeper, KeeperError};
use crate::keys::{Identity, KeyError, NodeName};
use crate::machine::MachineError;
use crate::node::{Begin, Event, Node, Real, Run, Stop, accept};
use crate::parts::{PartId, Parts};

/// Makes the world of the run, once for each node. An error is in words.
pub type MakeWorld = Arc<dyn Fn() -> Result<World, String> + Send + Sync>;

/// A live run, before it begins.
#[derive(Clone)]
pub struct Plan {
    /// Facts about its world.
    pub known: Arc<Known>,
    /// Facts about the run.
    pub run: Arc<Run>,
    /// Makes the world of each node.
    pub make: MakeWorld,
    /// Shortest time for which an actor holds something for another one, or waits for it; `None` = without end.
    pub shortest_hold: Option<Span>,
    /// Folder with a folder for each node.
    pub folder: PathBuf,
}

/// The contents of the first record of each journal.
#[derive(Debug, Serialize, Deserialize)]
struct Beginning {
    version: u16,
    run: [u8; 32],
    part: PartId,
    /// Providers of the part with a real machine.
    real: Vec<ActorId>,
}

/// Version of the records of a node.
const RECORDS: u16 = 1;

/// Reason why a live run ends early.
#[derive(Debug, Error)]
pub enum LiveError {
    /// A world cannot be made.
    #[error("{0}")]
    World(String),
    /// A node cannot begin or continue.
    #[error("node {node}: {error}")]
    Keeper {
        /// Its name.
        node: NodeName,
        /// The reason.
        #[source]
        error: KeeperError,
    },
    /// A node cannot agree with the others on the clock of the run.
    #[error("node {node}: {error}")]
    Join {
        /// Its name.
        node: NodeName,
        /// The reason.
        #[source]
        error: JoinError,
    },
    /// The system gives no port or no thread.
    #[error("node {node}: {error}")]
    System {
        /// Its name.
        node: NodeName,
        /// The reason.
        error: std::io::Error,
    },
    /// An address for connections cannot be had.
    #[error("node {node} cannot listen at {address}: {error}")]
    Address {
        /// Its name.
        node: NodeName,
        /// The address.
        address: String,
        /// The reason.
        error: std::io::Error,
    },
    /// Its real machine does not answer.
    #[error("node {node}: {error}")]
    Machine {
        /// Its name.
        node: NodeName,
        /// The reason.
        #[source]
        error: MachineError,
    },
    /// There are no keys for its nodes.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// A thread ended without a reason: a bug of ours.
    #[error("a node ended without a reason: please report this scenario as a bug")]
    Silent,
}

/// The end of a live run, or of a node. Later ones are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// All jobs are over, or the horizon is reached, and all nodes know it.
    Complete,
    /// The same, but not all nodes have confirmed it.
    Unconfirmed,
    /// It was stopped before.
    Stopped,
}

/// Name of the folder with the results of a run, beside the folders of its nodes.
pub const RESULTS: &str = "results";

/// The names of nodes in certificates and folders: those of their first actors, as far as these are harmless.
pub fn node_names(parts: &Parts, actors: &[String]) -> Vec<NodeName> {
    let mut taken = BTreeSet::new();
    let name = |part: PartId| {
        let first = parts.members(part).first();
        let actor = first.and_then(|it| actors.get(it.index())).map_or("", String::as_str);
        // A name is data: only its harmless characters are part of a path.
        let is_harmless = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
        let harmless = |it: char| if is_harmless(it) { it } else { '_' };
        let plain = actor.chars().map(harmless).take(40).collect::<String>();
        let plain = if plain.starts_with('-') { format!("_{plain}") } else { plain };
        let with_part = || format!("{plain}-{part}");
        // Results of the run are in a folder beside those of nodes.
        let is_taken = plain.is_empty() || plain == RESULTS || taken.contains(&plain);
        let name = if is_taken { with_part() } else { plain };
        taken.insert(name.clone());
        name.parse().unwrap_or_else(|_| format!("node-{part}").parse().expect("it is harmless"))
    };
    (0..parts.count() as PartId).map(name).collect()
}

impl Plan {
    /// The largest scale at which a round trip takes at most a tenth of the shortest hold; `None` = any.
    pub fn largest_scale(&self, round_trip: Duration) -> Option<f64> {
        let tenth = self.shortest_hold?.as_secs_f64() / 10.0;
        Some(tenth / round_trip.as_secs_f64().max(1e-6))
    }

    /// The name of a node: that of its first actor.
    pub fn node_name(&self, part: PartId) -> &str {
        let first = self.known.parts.members(part).first();
        first.and_then(|it| self.run.names.get(it.index())).map_or("", String::as_str)
    }

    /// The name of the node of a part in its certificate and folder.
    pub(crate) fn node(&self, part: PartId) -> NodeName {
        self.run.nodes[part as usize].clone()
    }

    /// The folder of the node of a part.
    pub fn node_folder(&self, part: PartId) -> PathBuf {
        self.folder.join(self.node(part).as_str())
    }

    /// The folder of the journal of a part.
    pub fn journal(&self, part: PartId) -> PathBuf {
        self.node_folder(part).join("journal")
    }
}

/// Opens the journal of a part.
///
/// # Errors
/// If it is busy, damaged or one of another run.
pub fn open_keeper(plan: &Plan, part: PartId) -> Result<Keeper<'static, FileSystem>, LiveError> {
    let failed = |error: KeeperError| LiveError::Keeper { node: plan.node(part), error };
    let storage = FileSystem::open(&plan.journal(part), Network::Refuse);
    let storage = storage.map_err(|error| failed(error.into()))?;
    let real = plan.known.real.iter().filter(|&&it| plan.known.parts.of_actor(it) == Some(part));
    let real = real.copied().collect();
    let beginning = Beginning { version: RECORDS, run: plan.run.digest, part, real };
    let beginning = postcard::to_stdvec(&beginning).expect("memory takes it");
    let world = (plan.make)().map_err(LiveError::World)?;
    let known = Arc::clone(&plan.known);
    let make = move |state: Option<&[u8]>| -> Result<Core<'static>, CoreError> {
        match state {
            Some(state) => Core::from_bytes(known, part, world, state),
            None => Core::new(known, part, world),
        }
    };
    let name = plan.node_name(part);
    let key: String = format!("{part} {name}").chars().take(100).collect();
    let (keeper, opening) = Keeper::open(storage, &key, &beginning, make).map_err(failed)?;
    if let Some(cut) = opening.cut {
        tracing::warn!(node = %name, ?cut, "the torn end of the journal was cut");
    }
    for error in opening.damaged {
        tracing::warn!(node = %name, %error, "a snapshot is damaged; an older one is taken");
    }
    if keeper.is_restart() {
        tracing::info!(node = %name, inputs = opening.repeated, "the journal was repeated");
    }
    Ok(keeper)
}

/// The settings of a node that no other node knows.
#[derive(Default)]
pub(crate) struct Own {
    /// Records after which its state is written down, and older records go; `None` = all records stay.
    pub(crate) snapshot_every: Option<NonZeroU64>,
    /// Its real machine.
    pub(crate) real: Option<Real>,
}

/// Starts the node of a part on this thread. It begins with [`Begin`].
pub(crate) fn begin(
    plan: &Plan,
    own: Own,
    keeper: Keeper<'static, FileSystem>,
    identity: Arc<Identity>,
    clock: Clock,
    listener: TcpListener,
    events: mpsc::UnboundedSender<Event>,
) -> Addr<Node> {
    let (to_node, run) = (Arc::clone(&identity), Arc::clone(&plan.run));
    let node = Node::new(keeper, to_node, Arc::clone(&run), clock, events);
    let node = node.with(own).start();
    actix::spawn(listen(listener, node.clone(), identity, run));
    node
}

/// Takes connections until the node ends.
async fn listen(listener: TcpListener, node: Addr<Node>, identity: Arc<Identity>, run: Arc<Run>) {
    while node.connected() {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (node, run) = (node.clone(), Arc::clone(&run));
                let identity = Arc::clone(&identity);
                actix::spawn(async move {
                    if let Err(error) = accept(stream, node, &identity, &run).await {
                        tracing::debug!(node = %identity.name(), %error, "connection ended");
                    }
                });
            }
            Err(error) => {
                // Such as too many open files: others may close.
                tracing::warn!(node = %identity.name(), %error, "no connection is taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A node that is ready, but has not begun.
struct Ready {
    node: Addr<Node>,
    address: String,
}

/// Starts a node on a thread of its own.
fn start(
    plan: &Plan,
    part: PartId,
    identity: Identity,
    clock: Clock,
    events: mpsc::UnboundedSender<Event>,
) -> (Arbiter, oneshot::Receiver<Result<Ready, LiveError>>) {
    let arbiter = Arbiter::new();
    let (tell, told) = oneshot::channel();
    let plan = plan.clone();
    // The node stays on its thread, so its future is made there.
    let make = move || async move {
        let begun = async {
            let keeper = open_keeper(&plan, part)?;
            let system = |error| LiveError::System { node: plan.node(part), error };
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(system)?;
            let address = listener.local_addr().map_err(system)?.to_string();
            let node =
                begin(&plan, Own::default(), keeper, Arc::new(identity), clock, listener, events);
            Ok(Ready { node, address })
        };
        // Without a receiver, the run has ended already.
        let _ = tell.send(begun.await);
    };
    arbiter.spawn_fn(|| {
        actix::spawn(make());
    });
    (arbiter, told)
}

/// Runs all nodes of a plan, each on a thread of its own, until they agree that the run is over or `stop` is raised.
/// `watch` gets the time and the progress now and then.
///
/// # Errors
/// If a node cannot begin or continue. The journals then have everything up to there.
pub fn run(
    plan: &Plan,
    pace: Pace,
    stop: &AtomicBool,
    watch: impl Fn(Time, Progress),
) -> Result<Ended, LiveError> {
    System::new().block_on(all(plan, pace, stop, watch))
}

async fn all(
    plan: &Plan,
    pace: Pace,
    stop: &AtomicBool,
    watch: impl Fn(Time, Progress),
) -> Result<Ended, LiveError> {
    let (events, mut happened) = mpsc::unbounded_channel();
    let clock = Clock::new(Reading::of(pace), pace.scale);
    let parts = plan.known.parts.count() as PartId;
    let identities = Identity::pretend(&plan.run.nodes)?;
    let begun = (0..parts).zip(identities);
    let begun = begun.map(|(part, it)| start(plan, part, it, clock, events.clone()));
    let (arbiters, told): (Vec<_>, Vec<_>) = begun.unzip();
    drop(events);
    let mut nodes = Vec::new();
    let mut addresses = BTreeMap::new();
    let mut failed = None;
    for (part, told) in (0..).zip(told) {
        match told.await.unwrap_or(Err(LiveError::Silent)) {
            Ok(Ready { node, address }) => {
                addresses.insert(part, address);
                nodes.push(node);
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let ended = match failed {
        Some(error) => Err(error),
        None => {
            let addresses = Arc::new(addresses);
            let begin =
                |node: &Addr<Node>| node.do_send(Begin { addresses: Arc::clone(&addresses) });
            nodes.iter().for_each(begin);
            wait(plan, clock, stop, &nodes, &mut happened, watch).await
        }
    };
    drop(nodes);
    for arbiter in arbiters {
        arbiter.stop();
        // A thread that panicked has said so itself.
        let _ = arbiter.join();
    }
    ended
}

/// Waits until all nodes of this process have ended. If `stop` is raised, it stops them.
pub(crate) async fn wait(
    plan: &Plan,
    clock: Clock,
    stop: &AtomicBool,
    nodes: &[Addr<Node>],
    happened: &mut mpsc::UnboundedReceiver<Event>,
    watch: impl Fn(Time, Progress),
) -> Result<Ended, LiveError> {
    let mut known = Agreement::new(nodes.len());
    let (mut ends, mut ended, mut stops) = (0, Ended::Complete, false);
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    loop {
        let event = tokio::select! {
            event = happened.recv() => Some(event.ok_or(LiveError::Silent)?),
            _ = tick.tick() => None,
        };
        match event {
            Some(Event::Progress { part, progress }) => known.report(part, progress),
            Some(Event::Ended(how)) => {
                ends += 1;
                ended = ended.max(how);
            }
            Some(Event::Failed { part, error }) => {
                return Err(LiveError::Keeper { node: plan.node(part), error });
            }
            None => watch(clock.now(), known.sum()),
        }
        if ends == nodes.len() {
            return Ok(ended);
        }
        // A thread that panicked sends no event, and the others go on.
        let gone = nodes.iter().filter(|node| !node.connected()).count();
        if gone > ends && happened.is_empty() {
            return Err(LiveError::Silent);
        }
        if !stops && stop.load(Ordering::Relaxed) {
            stops = true;
            nodes.iter().for_each(|node| node.do_send(Stop));
        }
    }
}
