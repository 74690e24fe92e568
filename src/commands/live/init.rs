//! `haggle live init`: keys and settings of nodes that are processes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, TcpListener};
use std::num::NonZeroU16;
use std::path::PathBuf;

use haggle_live::keys;
use haggle_live::run::Plan;
use haggle_model::Cast;

use super::super::example::Given;
use super::super::run::quoted;
use super::super::{Error, print, seeds};
use super::LiveError;
use super::folder::{LiveFolder, NODE, NodeFacts, NodeSettings, Wanted, write_toml};
use super::run::checked;
use crate::exit::Exit;

/// Make keys and settings for nodes on several machines
///
/// Each node gets a folder with a key, a list of peers and settings. Copy DIR without the folders of other nodes and
/// without authority.key to the machine of a node. Prints the commands that start the nodes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle live init --example quickstart --scale 500000 -o nodes
  haggle live init --example quickstart -o sites --host north=node1.example.org")]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// Folder that is made
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Seconds of the run in a second of real time
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    scale: f64,
    /// Master seed, instead of the scenario's
    #[arg(long, value_name = "NUMBER", value_parser = seeds())]
    seed: Option<u64>,
    /// Host of a node; may be given several times. Other nodes are on this machine
    #[arg(long, value_name = "NODE=HOST", value_parser = host)]
    host: Vec<(String, String)>,
    /// Port of the first node; each further node has the next one
    #[arg(long, value_name = "PORT", default_value_t = 7100, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Port of the state of the first node, on the loopback device of its machine
    #[arg(long, value_name = "PORT", default_value_t = 7500, value_parser = clap::value_parser!(u16).range(1..))]
    status_port: u16,
    /// Actors that share a node; may be given several times
    #[arg(long, value_name = "ACTOR,ACTOR", value_parser = names)]
    together: Vec<Names>,
    /// Days that the certificates are valid
    #[arg(long, value_name = "N", default_value = "365")]
    days: NonZeroU16,
}

/// Names of actors.
#[derive(Clone, Debug)]
struct Names(Vec<String>);

fn names(text: &str) -> Result<Names, String> {
    let names = Vec::from_iter(text.split(',').map(|it| it.trim().to_owned()));
    let different = BTreeSet::from_iter(&names);
    match different.len() < 2 || different.len() < names.len() || names.iter().any(String::is_empty)
    {
        true => Err("name at least two different actors, such as users,broker".to_owned()),
        false => Ok(Names(names)),
    }
}

/// True if a text can be the name or the address of a machine.
fn is_host(text: &str) -> bool {
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_');
    text.parse::<IpAddr>().is_ok() || (!text.is_empty() && text.chars().all(is_name))
}

fn host(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((_, host)) if !is_host(host) => {
            Err(format!("\"{host}\" is no name or address of a machine; its port is set by --port"))
        }
        Some((node, host)) if !node.is_empty() => Ok((node.to_owned(), host.to_owned())),
        _ => Err("write it as NODE=HOST, such as north=node1.example.org".to_owned()),
    }
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let (scenario, folder, _) = checked(&args.given, args.seed, false)?;
    let wanted = Wanted {
        scenario,
        scenario_folder: &folder,
        results: None,
        scale: args.scale,
        shared: args.together.iter().map(|it| it.0.clone()).collect(),
    };
    let mut made = LiveFolder::make(args.output.clone(), wanted, None)?;
    let (plan, cast) = made.plan()?;
    let equipped = sites(args, &plan).map_err(Error::from);
    let equipped = equipped.and_then(|sites| equip(&mut made, &plan, &cast, &sites, args.days));
    if equipped.is_err() {
        // Half of a folder is of no use. An error of its removal is less important than the first one.
        let _ = std::fs::remove_dir_all(&made.path);
    }
    equipped?;
    let nodes = || plan.run.nodes.iter().map(|it| it.as_str());
    let shown = quoted(&made.path);
    print(&format!("{} nodes in {shown}; start each on its machine:\n", plan.run.nodes.len()))?;
    for node in nodes() {
        print(&format!("  haggle live node {}\n", quoted(&made.path.join(node))))?;
    }
    print(&format!(
        "their states:  haggle live status {shown}\nafter the end: haggle live results {shown}\n"
    ))?;
    Ok(Exit::Success)
}

/// The places of all nodes, as the command line says.
fn sites(args: &Args, plan: &Plan) -> Result<Vec<Site>, LiveError> {
    let hosts = BTreeMap::from_iter(args.host.iter().map(|it| (it.0.as_str(), it.1.as_str())));
    let nodes = || plan.run.nodes.iter().map(|it| it.as_str());
    if hosts.len() < args.host.len() {
        let mut all = args.host.iter().map(|it| &it.0);
        let again = all.find(|node| args.host.iter().filter(|it| it.0 == **node).count() > 1);
        return Err(LiveError::HostTwice(again.cloned().unwrap_or_default()));
    }
    if let Some(unknown) = hosts.keys().find(|it| !nodes().any(|node| node == **it)) {
        let (name, all) = ((*unknown).to_owned(), nodes().map(str::to_owned).collect());
        return Err(LiveError::NoNode { name, all });
    }
    let site = |(place, node): (usize, &str)| {
        let port = |first: u16| u16::try_from(usize::from(first) + place).ok();
        Some(Site {
            host: hosts.get(node).map_or("127.0.0.1", |it| it).to_owned(),
            port: port(args.port)?,
            status: port(args.status_port)?,
        })
    };
    let sites =
        nodes().enumerate().map(site).collect::<Option<Vec<_>>>().ok_or(LiveError::Ports)?;
    // Several nodes may be on one machine, under several names of it.
    let ports = BTreeSet::from_iter(sites.iter().flat_map(|it| [it.port, it.status]));
    match ports.len() < 2 * sites.len() {
        true => Err(LiveError::SamePorts { nodes: sites.len() }),
        false => Ok(sites),
    }
}

/// The place of a node that is a process.
pub(super) struct Site {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) status: u16,
}

/// Makes keys and settings of all nodes of a live run.
pub(super) fn equip(
    folder: &mut LiveFolder,
    plan: &Plan,
    cast: &Cast,
    sites: &[Site],
    days: NonZeroU16,
) -> Result<(), Error> {
    keys::equip(&folder.path, &plan.run.nodes, days)?;
    for (part, (name, Site { host, port, status })) in (0..).zip(plan.run.nodes.iter().zip(sites)) {
        let members = plan.known.parts.members(part).iter();
        folder.facts.nodes.push(NodeFacts {
            name: name.to_string(),
            address: match host.parse::<IpAddr>() {
                Ok(IpAddr::V6(host)) => format!("[{host}]:{port}"),
                _ => format!("{host}:{port}"),
            },
            actors: members.map(|it| cast.actors[it.index()].name.clone()).collect(),
        });
        let listen = match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(here)) if here.is_loopback() => format!("[{here}]:{port}"),
            Ok(IpAddr::V4(here)) if here.is_loopback() => format!("{here}:{port}"),
            Ok(IpAddr::V6(_)) => format!("[::]:{port}"),
            _ => format!("0.0.0.0:{port}"),
        };
        let settings = NodeSettings {
            listen,
            status: Some(format!("127.0.0.1:{status}")),
            snapshot_every: None,
            addresses: BTreeMap::new(),
            machine: None,
        };
        let comment = "\
# Settings of this node, for its owner.
# listen           address at which the node takes connections
# status           address of /status, /metrics and /health; without it, the node has none
# snapshot-every   records after which the node writes its state down and removes older records
# [addresses]      NODE = \"HOST:PORT\" of nodes that are not where live.toml says
# [machine]        real machine of a provider; without it, jobs do not run and their time passes\n\n";
        write_toml(&folder.path.join(name.as_str()).join(NODE), comment, &settings)?;
    }
    Ok(folder.save()?)
}

/// Ports on the loopback device that are free now, two for each node.
pub(super) fn free_sites(count: usize) -> Result<Vec<Site>, LiveError> {
    let listen = || {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(LiveError::Port)?;
        let port = listener.local_addr().map_err(LiveError::Port)?.port();
        Ok::<_, LiveError>((listener, port))
    };
    // All stay open until the last is known, so no port is given twice.
    let pairs = (0..count).map(|_| Ok((listen()?, listen()?)));
    let pairs = pairs.collect::<Result<Vec<_>, LiveError>>()?;
    let site = |((_, port), (_, status)): &((_, u16), (_, u16))| Site {
        host: "127.0.0.1".to_owned(),
        port: *port,
        status: *status,
    };
    Ok(pairs.iter().map(site).collect())
}
