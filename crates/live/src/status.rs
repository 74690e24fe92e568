//! The state of a node over HTTP: `/status` as JSON, `/metrics` for Prometheus, `/health`.

use std::io;

use actix::Addr;
use actix_web::web::{Data, get};
use actix_web::{App, HttpResponse, HttpServer};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::sync::atomic::AtomicU64;

use crate::node::{Ask, Node, Status};

/// Serves the state of a node at an address until the process ends.
///
/// # Errors
/// If the address cannot be had.
pub(crate) fn serve(address: &str, node: Addr<Node>) -> io::Result<()> {
    let node = Data::new(node);
    let app = move || {
        App::new()
            .app_data(Data::clone(&node))
            .route("/status", get().to(status))
            .route("/metrics", get().to(metrics))
            .route("/health", get().to(health))
    };
    let server = HttpServer::new(app).workers(1).disable_signals().bind(address)?;
    actix::spawn(server.run());
    Ok(())
}

/// Asks the node at an address for its state. The error is in words.
///
/// # Errors
/// If there is no answer within two seconds.
pub fn ask(address: &str) -> Result<Status, String> {
    let answer = minreq::get(format!("http://{address}/status")).with_timeout(2).send();
    let answer = answer.map_err(|error| error.to_string())?;
    serde_json::from_slice(answer.as_bytes()).map_err(|error| error.to_string())
}

async fn status(node: Data<Addr<Node>>) -> HttpResponse {
    match node.send(Ask).await {
        Ok(status) => HttpResponse::Ok().json(status),
        Err(_) => HttpResponse::ServiceUnavailable().body("the node has ended\n"),
    }
}

async fn health(node: Data<Addr<Node>>) -> HttpResponse {
    match node.send(Ask).await {
        Ok(_) => HttpResponse::Ok().body("ok\n"),
        Err(_) => HttpResponse::ServiceUnavailable().body("the node has ended\n"),
    }
}

async fn metrics(node: Data<Addr<Node>>) -> HttpResponse {
    match node.send(Ask).await {
        Ok(status) => HttpResponse::Ok()
            .content_type("application/openmetrics-text; version=1.0.0; charset=utf-8")
            .body(text(&status)),
        Err(_) => HttpResponse::ServiceUnavailable().body("the node has ended\n"),
    }
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
    add("jobs_arrived", "Jobs that have arrived here", None, progress.jobs as f64);
    add("jobs_over", "Jobs that are over here", None, progress.over as f64);
    add("peers", "Other nodes", None, status.peers.len() as f64);
    add("peers_connected", "Other nodes with a connection", None, connected as f64);
    add("messages_waiting", "Messages without an acknowledgement", None, status.waiting as f64);
    add("messages_early", "Messages of clocks that are ahead", None, status.early as f64);
    add("messages_taken", "Messages taken by this process", None, counts.taken as f64);
    add("messages_refused", "Messages refused by this process", None, counts.refused as f64);
    add("messages_sent", "Messages sent by this process", None, counts.sent as f64);
    add("inputs", "Inputs of this process", None, counts.inputs as f64);
    add("journal_records", "Records of the journal", None, status.records as f64);
    add("journal_syncs", "Syncs by this process", None, counts.syncs as f64);
    let (all_syncs, longest) = (micros(counts.sync_micros), micros(counts.longest_sync_micros));
    add("journal_sync", "Time of all syncs", Some(Unit::Seconds), all_syncs);
    add("journal_sync_longest", "Time of the longest sync", Some(Unit::Seconds), longest);
    if let Some(machine) = &status.machine {
        let mut add = |name: &str, help: &str, value: u64| add(name, help, None, value as f64);
        add("machine_running", "Programs that run, or are handed over", machine.running);
        add("machine_ended", "Programs that ended under this process", machine.ended);
        add("machine_failed", "Programs that failed under this process", machine.failed);
        add("machine_lost", "Programs lost under this process", machine.lost);
        add(
            "machine_errors",
            "Requests of this process that the machine did not carry out",
            machine.errors,
        );
    }
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
            "haggle_journal_sync_seconds{node=\"north\"} 0.005",
            "haggle_machine_running{node=\"north\"} 3.0",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is missing in\n{text}");
        }
    }
}
