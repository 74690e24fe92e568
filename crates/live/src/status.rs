//! The state of a node over HTTP: `/status` as JSON, `/metrics` for Prometheus, `/health`.

use std::convert::identity;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use actix::Addr;
use actix_web::middleware::DefaultHeaders;
use actix_web::web::{Data, get};
use actix_web::{App, HttpResponse, HttpServer};
use haggle_journal::{FileSystem, Network, Reader};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use serde::{Deserialize, Serialize};

use crate::keeper::{END, KeeperError};
use crate::keys::Fingerprint;
use crate::node::{Ask, Node, Status};

/// The present work of a process, which its status shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board(Arc<Mutex<Phase>>);

/// Work of a process.
#[derive(Clone, Debug)]
enum Phase {
    /// It waits for the beginning, or repeats its journal.
    Begins(Beginning),
    /// Its node runs.
    Runs(Addr<Node>),
}

impl Default for Phase {
    fn default() -> Phase {
        Phase::Begins(Beginning::default())
    }
}

/// The state of a process whose node does not run yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    /// Names of the nodes for which it waits; none = it repeats its journal.
    pub waits_for: Vec<String>,
}

impl Board {
    /// The process waits for these nodes.
    pub(crate) fn waits_for(&self, nodes: Vec<String>) {
        self.put(Phase::Begins(Beginning { waits_for: nodes }));
    }

    /// The node runs.
    pub(crate) fn runs(&self, node: Addr<Node>) {
        self.put(Phase::Runs(node));
    }

    fn put(&self, phase: Phase) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    fn phase(&self) -> Phase {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The state of the node, or the answer without one.
    async fn ask(&self) -> Result<Status, HttpResponse> {
        match self.phase() {
            Phase::Begins(beginning) => Err(HttpResponse::ServiceUnavailable().json(beginning)),
            Phase::Runs(node) => node
                .send(Ask)
                .await
                .map_err(|_| HttpResponse::ServiceUnavailable().body("the node has ended\n")),
        }
    }
}

/// Header of all answers: the fingerprint of the certificate of the node. Names of nodes of other runs may be equal.
const CERTIFICATE: &str = "haggle-certificate";

/// Serves the state of a process at an address until the process ends.
///
/// # Errors
/// If the address cannot be had.
pub(crate) fn serve(address: &str, board: Board, certificate: Fingerprint) -> io::Result<()> {
    let board = Data::new(board);
    let app = move || {
        App::new()
            .wrap(DefaultHeaders::new().add((CERTIFICATE, certificate.to_string())))
            .app_data(Data::clone(&board))
            .route("/status", get().to(status))
            .route("/metrics", get().to(metrics))
            .route("/health", get().to(health))
    };
    let server = HttpServer::new(app).workers(1).disable_signals().bind(address)?;
    actix::spawn(server.run());
    Ok(())
}

/// The answer of a process.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Its node runs, or has ended its run and says farewell.
    Runs(Box<Status>),
    /// Its node does not run yet.
    Begins(Beginning),
    /// It is no process of the node.
    Other,
}

/// Asks the process at an address for the state of the node with a certificate. The error is in words.
///
/// # Errors
/// If there is no answer within two seconds.
pub fn ask(address: &str, certificate: Fingerprint) -> Result<Answer, String> {
    let answer = minreq::get(format!("http://{address}/status")).with_timeout(2).send();
    let answer = answer.map_err(|error| error.to_string())?;
    let found = answer.headers.get(CERTIFICATE).and_then(|it| it.parse().ok());
    if found != Some(certificate) {
        return Ok(Answer::Other);
    }
    let bytes = answer.as_bytes();
    serde_json::from_slice(bytes).map(|it| Answer::Runs(Box::new(it))).or_else(|error| {
        serde_json::from_slice(bytes).map(Answer::Begins).map_err(|_| error.to_string())
    })
}

/// The state of a node whose process does not answer, by its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silent {
    /// It has not begun.
    NotBegun,
    /// It has begun, and its run is not over.
    Down,
    /// Its run is over.
    Over,
}

/// Reads the state of a node without a process from its folder.
///
/// # Errors
/// If its journal cannot be read.
pub fn silent(folder: &Path) -> Result<Silent, KeeperError> {
    let journal = folder.join("journal");
    if !journal.exists() {
        return Ok(Silent::NotBegun);
    }
    // It is only read, so a file system without locks is good enough.
    let reader = Reader::open(&FileSystem::open(&journal, Network::Allow)?)?;
    let mut is_over = false;
    for record in reader.records {
        is_over |= record?.kind == END;
    }
    Ok(if is_over { Silent::Over } else { Silent::Down })
}

async fn status(board: Data<Board>) -> HttpResponse {
    board.ask().await.map_or_else(identity, |status| HttpResponse::Ok().json(status))
}

/// A process is in good health as long as it answers, also before its node runs.
async fn health(board: Data<Board>) -> HttpResponse {
    match (board.phase(), board.ask().await) {
        (Phase::Runs(_), Err(ended)) => ended,
        _ => HttpResponse::Ok().body("ok\n"),
    }
}

async fn metrics(board: Data<Board>) -> HttpResponse {
    board.ask().await.map_or_else(identity, |status| {
        HttpResponse::Ok()
            .content_type("application/openmetrics-text; version=1.0.0; charset=utf-8")
            .body(text(&status))
    })
}

/// The state of a node in the text format of Prometheus. Names of nodes have no character that needs an escape.
fn text(status: &Status) -> String {
    let mut all = Registry::with_prefix("haggle");
    let registry = all.sub_registry_with_label(("node".into(), status.node.clone().into()));
    let mut add = |name: &str, help: &str, unit: Option<Unit>, value: f64| {
        let gauge = Gauge::<f64, AtomicU64>::default();
        gauge.set(value);
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, gauge),
            None => registry.register(name, help, gauge),
        }
    };
    let (progress, counts) = (&status.progress, &status.counts);
    let connected = status.peers.values().filter(|it| **it).count();
    let micros = |it: u64| it as f64 / 1e6;
    add("time", "Time of the run", Some(Unit::Seconds), status.time);
    add("scale", "Seconds of the run in a second", None, status.scale);
    add("over", "1 if the run is over", None, f64::from(u8::from(status.is_over)));
    add("incarnation", "Number of this process", None, f64::from(status.incarnation));
    add("jobs_arrived", "Jobs that users of this node have submitted", None, progress.jobs as f64);
    add("jobs_over", "Jobs whose end is reported at this node", None, progress.over as f64);
    add("peers", "Other nodes", None, status.peers.len() as f64);
    add("peers_connected", "Other nodes with a connection", None, connected as f64);
    add("messages_waiting", "Messages without an acknowledgement", None, status.waiting as f64);
    add(
        "messages_early",
        "Messages of nodes whose clocks are ahead: they wait for the clock of this one",
        None,
        status.early as f64,
    );
    add("journal_records", "Records of the journal", None, status.records as f64);
    let longest = micros(counts.longest_sync_micros);
    add("journal_sync_longest", "Time of the longest sync", Some(Unit::Seconds), longest);
    if let Some(machine) = &status.machine {
        let running = machine.running as f64;
        add("machine_running", "Programs that run, or are handed over", None, running);
    }
    // They begin again at 0 with each process, as Prometheus expects.
    let mut total = |name: &str, help: &str, value: u64| {
        let counter = Counter::<u64>::default();
        counter.inc_by(value);
        registry.register(name, help, counter);
    };
    total("messages_taken", "Messages taken by this process", counts.taken);
    total("messages_refused", "Messages refused by this process", counts.refused);
    total("messages_sent", "Messages sent by this process", counts.sent);
    total("inputs", "Inputs of this process", counts.inputs);
    total("journal_syncs", "Syncs by this process", counts.syncs);
    if let Some(machine) = &status.machine {
        total("machine_ended", "Programs that ended under this process", machine.ended);
        total("machine_failed", "Programs that failed under this process", machine.failed);
        total("machine_lost", "Programs lost under this process", machine.lost);
        let help = "Requests of this process that the machine did not carry out";
        total("machine_errors", help, machine.errors);
    }
    let seconds = Counter::<f64, AtomicU64>::default();
    seconds.inc_by(micros(counts.sync_micros));
    let help = "Time of all syncs by this process";
    registry.register_with_unit("journal_sync", help, Unit::Seconds, seconds);
    let mut text = String::new();
    encode(&mut text, &all).expect("memory takes it");
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ending::Progress;
    use crate::machine::Tally;
    use crate::node::Counts;

    #[test]
    fn a_state_is_metrics() {
        let status = Status {
            node: "north".to_owned(),
            actors: Vec::new(),
            time: 1.5,
            scale: 1000.0,
            incarnation: 2,
            progress: Progress { jobs: 3, over: 1, awaits: true },
            is_over: false,
            peers: BTreeMap::from([("a".to_owned(), true), ("b".to_owned(), false)]),
            waiting: 4,
            early: 0,
            records: 17,
            counts: Counts { syncs: 2, sync_micros: 5_000, ..Counts::default() },
            machine: Some(Tally { running: 3, ..Tally::default() }),
        };
        let text = text(&status);
        for line in [
            "# UNIT haggle_time_seconds seconds",
            "haggle_time_seconds{node=\"north\"} 1.5",
            "haggle_peers_connected{node=\"north\"} 1.0",
            "haggle_journal_sync_seconds_total{node=\"north\"} 0.005",
            "haggle_journal_syncs_total{node=\"north\"} 2",
            "haggle_machine_running{node=\"north\"} 3.0",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is missing in\n{text}");
        }
    }
}
