//! One node in a process of its own, on any machine.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix::System;
use haggle_journal::FileSystem;
use haggle_model::Time;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::clock::{Clock, Pace};
use crate::durable::write_whole;
use crate::ending::{COORDINATOR, Progress};
use crate::join::Joining;
use crate::keeper::Keeper;
use crate::keys::Identity;
use crate::machine::{Attendant, MachineError, Programs, Site};
use crate::node::{Begin, Real, tell_time};
use crate::parts::PartId;
use crate::run::{Ended, LiveError, Own, Plan, begin, open_keeper, wait};
use crate::status::Board;
use crate::{machine, status};

/// Everything about a node that is its owner's.
pub struct Place {
    /// Its key and its peers.
    pub identity: Identity,
    /// Address at which it takes connections.
    pub listen: String,
    /// Host and port of each node, by part, as this node reaches them.
    pub addresses: BTreeMap<PartId, String>,
    /// Address of its state over HTTP.
    pub status: Option<String>,
    /// Records after which its state is written down, and older records go; `None` = all records stay.
    pub snapshot_every: Option<NonZeroU64>,
    /// The real machine of its providers; `None` = jobs do not run, and their time passes.
    pub machine: Option<(machine::Settings, Programs)>,
    /// Command that supervises a program: [`machine::supervise`] of the folder that follows.
    pub supervisor: Vec<String>,
}

/// Runs the node of a part until all nodes agree that the run is over, or `stop` is raised. `watch` gets the time and
/// the progress of this node now and then.
///
/// # Errors
/// If the node cannot begin or continue. Its journal then has everything up to there.
pub fn run_node(
    plan: &Plan,
    part: PartId,
    place: Place,
    stop: &AtomicBool,
    watch: impl Fn(Time, Progress),
) -> Result<Ended, LiveError> {
    System::new().block_on(async {
        let system = |error| LiveError::System { node: plan.node(part), error };
        let Place { identity, listen, addresses, status, snapshot_every, machine, supervisor } =
            place;
        let farewell = plan.node_folder(part).join("over");
        if farewell.exists() {
            if let Some((settings, _)) = &machine {
                // It may still hold something for the run.
                let keeper = open_keeper(plan, part)?;
                let mark = mark(plan, part, &identity)?;
                let site = site(plan, part, mark, supervisor, &keeper, stop);
                if let Ok(machine) = settings.open(&site) {
                    Attendant::start(settings.kind(), machine, |_| ()).close();
                }
            }
            return Ok(Ended::Complete);
        }
        let taken = |address: &str, error| {
            let address = address.to_owned();
            LiveError::Address { node: plan.node(part), address, error }
        };
        let listener = TcpListener::bind(&listen).await.map_err(|error| taken(&listen, error))?;
        let board = Board::default();
        if let Some(address) = status {
            status::serve(&address, board.clone(), identity.certificate().fingerprint).map_err(|error| taken(&address, error))?;
        }
        let (identity, addresses) = (Arc::new(identity), Arc::new(addresses));
        let joining = Joining {
            part,
            identity: Arc::clone(&identity),
            run: Arc::clone(&plan.run),
            addresses: Arc::clone(&addresses),
            board: board.clone(),
        };
        let clock_file = plan.node_folder(part).join("clock");
        let known = read_epoch(&clock_file).map_err(system)?;
        let join = async {
            match known {
                Some(epoch) => {
                    let known = Pace { epoch, scale: plan.run.scale };
                    Ok((joining.again(known).await?, BTreeMap::new()))
                }
                None => joining.first(&listener).await,
            }
        };
        let (learnt, waiting) = tokio::select! {
            joined = join => joined.map_err(|error| LiveError::Join { node: plan.node(part), error })?,
            () = raised(stop) => return Ok(Ended::Stopped),
        };
        board.waits_for(Vec::new());
        let scale = plan.run.scale;
        let clock = Clock::new(learnt.time, scale);
        write_epoch(&clock_file, clock.pace().epoch).map_err(system)?;
        if let Some(round_trip) = learnt.round_trip {
            judge(plan, round_trip);
        }
        let keeper = open_keeper(plan, part)?;
        // If all nodes were down, the clock of this machine may be late.
        let clock = clock.not_before(keeper.core().host().now());
        let real = match machine {
            Some((settings, programs)) => {
                let mark = mark(plan, part, &identity)?;
                let site = site(plan, part, mark, supervisor, &keeper, stop);
                match settings.open(&site) {
                    Ok(machine) => Some(Real::new(settings.kind(), machine, programs)),
                    Err(MachineError::Stopped) => return Ok(Ended::Stopped),
                    Err(error) => return Err(LiveError::Machine { node: plan.node(part), error }),
                }
            }
            None => None,
        };
        tracing::info!(time = %clock.now(), scale, "the node begins");
        let waiting = joining.tell(waiting, Some(clock)).await;
        let (events, mut happened) = mpsc::unbounded_channel();
        let own = Own { snapshot_every, real };
        let node = begin(plan, own, keeper, identity, clock, listener, events);
        board.runs(node.clone());
        for link in waiting.into_values() {
            actix::spawn(tell_time(link, node.clone()));
        }
        node.do_send(Begin { addresses });
        if part != COORDINATOR {
            actix::spawn(joining.steer(node.clone()));
        }
        let ended = wait(plan, clock, stop, &[node], &mut happened, watch).await?;
        if ended == Ended::Complete {
            write_whole(&farewell, b"").map_err(system)?;
        }
        Ok(ended)
    })
}

/// The node of a real machine.
fn site<'s>(
    plan: &Plan,
    part: PartId,
    mark: String,
    supervisor: Vec<String>,
    keeper: &Keeper<'static, FileSystem>,
    stop: &'s AtomicBool,
) -> Site<'s> {
    Site {
        folder: plan.node_folder(part).join("work"),
        mark,
        supervisor,
        processors: processors(keeper),
        is_over: keeper.is_over(),
        stop,
    }
}

/// The name of a run and a node for a real machine: no other run has it, also of the same scenario.
fn mark(plan: &Plan, part: PartId, identity: &Identity) -> Result<String, LiveError> {
    let path = plan.node_folder(part).join("mark");
    let system = |error| LiveError::System { node: plan.node(part), error };
    match fs::read_to_string(&path) {
        Ok(text) => return Ok(text.trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(system(error)),
    }
    // A later certificate of the node does not change it.
    let first: String = identity.certificate().fingerprint.to_string();
    let first: String = first.trim_start_matches("sha256:").chars().take(12).collect();
    let mark = format!("{first}-{}", plan.run.nodes[part as usize]);
    write_whole(&path, format!("{mark}\n").as_bytes()).map_err(system)?;
    Ok(mark)
}

/// Number of processors of the providers of a node.
fn processors(keeper: &Keeper<'static, FileSystem>) -> u32 {
    let core = keeper.core();
    let machines = core.members().iter().filter_map(|&it| core.host().glimpse(it)?.machine);
    machines.map(|it| it.processors).sum()
}

/// Warns if messages take too long for the shortest hold of the run.
fn judge(plan: &Plan, round_trip: Duration) {
    let milliseconds = 1e3 * round_trip.as_secs_f64();
    match plan.largest_scale(round_trip) {
        Some(largest) if largest < plan.run.scale => tracing::warn!(
            scale = plan.run.scale,
            largest,
            round_trip_ms = milliseconds,
            "a round trip takes more than a tenth of the shortest hold: promises may end too early"
        ),
        largest => tracing::info!(round_trip_ms = milliseconds, ?largest, "the time is known"),
    }
}

async fn raised(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Time zero of the run by the clock of this machine, if the node has begun before.
fn read_epoch(path: &Path) -> io::Result<Option<i64>> {
    match fs::read_to_string(path) {
        Ok(text) => text.trim().parse().map(Some).map_err(|_| {
            let text = format!("{} has no time in microseconds since 1970", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_epoch(path: &Path, epoch: i64) -> io::Result<()> {
    write_whole(path, format!("{epoch}\n").as_bytes())
}
