//! `haggle live status`: the states of nodes.

use std::path::PathBuf;

use haggle_live::keys::certificate_of;
use haggle_live::node::Status;
use haggle_live::status::{Answer, Beginning, Silent, ask, silent};
use indicatif::HumanCount;
use serde::Serialize;

use super::super::table::{lines, row};
use super::super::{Error, print};
use super::LiveError;
use super::folder::{LiveFolder, NODE, NodeSettings, parse};
use crate::exit::Exit;

/// Show the states of the nodes of a live run on this machine
///
/// A node answers at the address `status` of its node.toml, which also has /metrics for Prometheus and /health.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  # after haggle live init: haggle live status nodes")]
pub(crate) struct Args {
    /// Folder of the live run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print all facts as JSON
    #[arg(long)]
    json: bool,
}

/// A node, as JSON.
#[derive(Serialize)]
struct Facts<'a> {
    node: &'a str,
    state: String,
    /// The answer of a node that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Box<Status>>,
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let folder = LiveFolder::open(&args.folder)?;
    if folder.facts.nodes.is_empty() {
        return Err(LiveError::Threads(folder.path).into());
    }
    let mut rows = vec![row([
        "node",
        "state",
        "time (s)",
        "jobs over",
        "arrived",
        "peers",
        "waiting",
        "records",
        "starts",
    ])];
    let mut all = Vec::new();
    for node in &folder.facts.nodes {
        let own = folder.path.join(&node.name);
        // The folders of nodes on other machines are there.
        let settings = own.join(NODE);
        let settings = settings.exists().then(|| parse::<NodeSettings>(&settings)).transpose()?;
        // Without its certificate, the node cannot be told from others.
        let asked = |address: &str| {
            let certificate = certificate_of(&own).map_err(|error| error.to_string())?;
            ask(address, certificate.fingerprint)
        };
        let state = match settings {
            None => "elsewhere".to_owned(),
            Some(NodeSettings { status: None, .. }) => "no status address".to_owned(),
            Some(NodeSettings { status: Some(address), .. }) => match asked(&address) {
                Ok(Answer::Runs(status)) => {
                    let state = if status.is_over { "over" } else { "running" };
                    rows.push(shown(&status, state));
                    all.push(Facts { node: &node.name, state: state.into(), status: Some(status) });
                    continue;
                }
                Ok(Answer::Begins(Beginning { waits_for })) if waits_for.is_empty() => {
                    "repeats its journal".to_owned()
                }
                Ok(Answer::Begins(Beginning { waits_for })) => {
                    format!("waits for {}", waits_for.join(", "))
                }
                // A process of another run may have the address.
                Ok(Answer::Other) | Err(_) => match silent(&own) {
                    Ok(Silent::NotBegun) => "not begun".to_owned(),
                    Ok(Silent::Down) => "down".to_owned(),
                    Ok(Silent::Over) => "over".to_owned(),
                    Err(_) => "no answer".to_owned(),
                },
            },
        };
        rows.push(row([&*node.name, &state, "", "", "", "", "", "", ""]));
        all.push(Facts { node: &node.name, state, status: None });
    }
    if args.json {
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        print(&format!("{text}\n"))?;
    } else {
        print(&lines(&rows, &[0, 1]))?;
    }
    Ok(Exit::Success)
}

fn shown(status: &Status, state: &str) -> Vec<String> {
    let count = |it: u64| HumanCount(it).to_string();
    let connected = status.peers.values().filter(|it| **it).count();
    row([
        &status.node,
        state,
        &format!("{:.0}", status.time),
        &count(status.progress.over),
        &count(status.progress.jobs),
        &format!("{connected} of {}", status.peers.len()),
        &count(status.waiting),
        &count(status.records),
        &status.incarnation.to_string(),
    ])
}
