//! `haggle live status`: the states of nodes.

use std::path::PathBuf;

use haggle_live::node::Status;
use haggle_live::status::ask;
use indicatif::HumanCount;

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
        let settings = folder.path.join(&node.name).join(NODE);
        // The folders of nodes on other machines are there.
        let answer =
            match settings.exists().then(|| parse::<NodeSettings>(&settings)).transpose()? {
                None => Err("elsewhere".to_owned()),
                Some(NodeSettings { status: None, .. }) => Err("no status address".to_owned()),
                Some(NodeSettings { status: Some(address), .. }) => {
                    ask(&address).map_err(|_| "no answer".to_owned())
                }
            };
        rows.push(match &answer {
            Ok(status) => shown(status),
            Err(state) => row([&*node.name, state, "", "", "", "", "", "", ""]),
        });
        all.extend(answer);
    }
    if args.json {
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        print(&format!("{text}\n"))?;
    } else {
        print(&lines(&rows, &[0, 1]))?;
    }
    Ok(Exit::Success)
}

fn shown(status: &Status) -> Vec<String> {
    let count = |it: u64| HumanCount(it).to_string();
    let connected = status.peers.values().filter(|it| **it).count();
    row([
        &status.node,
        if status.is_over { "over" } else { "running" },
        &format!("{:.0}", status.time),
        &count(status.progress.over),
        &count(status.progress.jobs),
        &format!("{connected} of {}", status.peers.len()),
        &count(status.waiting),
        &count(status.records),
        &status.incarnation.to_string(),
    ])
}
