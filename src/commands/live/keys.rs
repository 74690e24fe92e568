//! `haggle live keys`: the authority of a world, and the keys of its nodes.

use std::num::NonZeroU16;
use std::path::PathBuf;

use haggle_live::keys::{self, Certificate, Changes, Existing, NodeName};

use crate::commands::table::{lines, row};
use crate::commands::{Error, print};
use crate::exit::Exit;
use crate::report::say;

/// Make and list keys of nodes
///
/// A folder has a private authority, and a folder for each node. A node has a key, a certificate and a list of peers
/// (docs/live-keys.md).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Init(Init),
    Add(Add),
    Show(Show),
}

/// Make an authority and the keys of its nodes
///
/// Each node lists all others as peers that may send it all kinds of messages. The certificate of the authority is valid
/// for ten years at least. Prints the fingerprints of the nodes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle live keys init keys --node north south broker
  haggle live keys init trial-keys --node north --node south --days 30")]
struct Init {
    /// Folder of the authority, which is made
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Names of the nodes: letters, digits, `-`, `_` and `.`
    #[arg(long = "node", value_name = "NAME", required = true, num_args = 1..)]
    nodes: Vec<NodeName>,
    #[command(flatten)]
    made: Made,
}

/// Add a node, or renew its keys
///
/// A new node lists all others, and they list it. With --force the node gets a new key and a new certificate. All lists
/// in DIR that have its name get the new fingerprint. Copies at other sites need it, too. Prints the fingerprint.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle live keys add keys west
  haggle live keys add keys north --days 90 --force  # renew the keys of `north`")]
struct Add {
    /// Folder of the authority
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Name of the node: letters, digits, `-`, `_` and `.`
    #[arg(value_name = "NAME")]
    node: NodeName,
    #[command(flatten)]
    made: Made,
}

/// List nodes, with the fingerprints and last days of their certificates
///
/// Keys are not read.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle live keys show keys
  haggle live keys show keys --peers  # entries for the list of another owner")]
struct Show {
    /// Folder of the authority
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print the nodes as entries of `peers.toml`
    #[arg(long)]
    peers: bool,
}

/// Keys that are made.
#[derive(Debug, clap::Args)]
struct Made {
    /// Days that certificates of nodes are valid
    #[arg(long, value_name = "N", default_value = "365")]
    days: NonZeroU16,
    /// Replace keys that exist
    #[arg(long)]
    force: bool,
}

impl Made {
    fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Keep }
    }
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::Init(Init { folder, nodes, made }) => {
            made_ones(keys::init(folder, nodes, made.days, made.existing())?)
        }
        Command::Add(Add { folder, node, made }) => {
            made_ones(keys::add(folder, node, made.days, made.existing())?)
        }
        Command::Show(Show { folder, peers: false }) => {
            let listing = keys::list(folder)?;
            let nodes = listing.nodes.iter().map(|(name, it)| (name.as_str(), it));
            shown([("(authority)", &listing.authority)].into_iter().chain(nodes))
        }
        Command::Show(Show { folder, peers: true }) => {
            let nodes = keys::list(folder)?.nodes.into_iter();
            let entries = nodes.map(|(name, it)| keys::entry(&name, it.fingerprint));
            print(&entries.collect::<Vec<_>>().join("\n"))?;
            Ok(Exit::Success)
        }
    }
}

/// Prints new certificates, and notes which lists have changed.
fn made_ones(changes: Changes) -> Result<Exit, Error> {
    for list in &changes.lists {
        say(&format!("wrote {}\n", list.display()));
    }
    shown(changes.issued.iter().map(|(name, it)| (name.as_str(), it)))
}

/// Prints certificates as a table.
fn shown<'c>(
    certificates: impl Iterator<Item = (&'c str, &'c Certificate)>,
) -> Result<Exit, Error> {
    let mut rows = vec![row(["node", "last day", "", "fingerprint"])];
    for (name, certificate) in certificates {
        let state = if certificate.is_expired() { "expired" } else { "" };
        let (day, print) = (certificate.last_day(), certificate.fingerprint);
        rows.push(row([name, &day.to_string(), state, &print.to_string()]));
    }
    print(&lines(&rows, &[0, 1, 2, 3]))?;
    Ok(Exit::Success)
}
