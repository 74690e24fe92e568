//! A live run on disk, in a folder.
//!
//! ```text
//! run.live/
//!   live.toml            facts that all nodes share
//!   scenario.toml        the scenario, with all settings
//!   authority.crt, .key  authority of the keys      ┐
//!   north/               folder of the node north   │
//!     node.toml          settings of its owner      │ only if nodes are processes
//!     node.key ...       its key and its peers      ┘
//!     clock              time zero of the run
//!     work/              programs of its real machine
//!     journal/           its journal
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::Duration;

use haggle_live::clock::Pace;
use haggle_live::core::Known;
use haggle_live::keys::NodeName;
use haggle_live::machine;
use haggle_live::node::Run as RunFacts;
use haggle_live::parts::{PartId, Parts};
use haggle_live::run::{Plan, RESULTS, node_names};
use haggle_live::wire::Limits;
use haggle_model::{ActorId, ActorKind, Cast, Time};
use haggle_results::{Input, sha256};
use serde::{Deserialize, Serialize};

use super::super::Error;
use super::super::run::single;
use super::LiveError;
use crate::command::own_rules;
use crate::experiment::run::BUILD;
use crate::experiment::world::Stage;
use crate::scenario::{Experiment, Logs, Scenario, Source};

/// Version of the file `live.toml`.
const FORMAT: u32 = 2;
/// File with the facts that all nodes share.
const FACTS: &str = "live.toml";
const SCENARIO: &str = "scenario.toml";
/// File with the settings of a node.
pub(super) const NODE: &str = "node.toml";

/// The file `live.toml`: the facts that all nodes share.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Facts {
    format: u32,
    /// The build of haggle, whose states and journals no other build reads.
    build: String,
    /// Time zero, microseconds since 1970; `None` = the nodes agree on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epoch: Option<i64>,
    /// Seconds of the run in a second of real time.
    pub(super) scale: f64,
    /// Folder from which relative paths of the scenario start.
    folder: PathBuf,
    /// Folder of the results; `None` = `results` beside this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    results: Option<PathBuf>,
    /// Lists of actors that share a node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shared: Vec<Vec<String>>,
    /// Nodes that are processes; empty = all nodes are threads of one process.
    #[serde(default, rename = "node", skip_serializing_if = "Vec::is_empty")]
    pub(super) nodes: Vec<NodeFacts>,
}

/// A node that is a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct NodeFacts {
    /// Name of the node, of its folder and in its certificate.
    pub(super) name: String,
    /// Host and port at which others reach it.
    pub(super) address: String,
    /// Its actors.
    pub(super) actors: Vec<String>,
}

/// The file `node.toml`: the settings of a node, which are its owner's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct NodeSettings {
    /// Address at which it takes connections.
    pub(super) listen: String,
    /// Address of its state over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<String>,
    /// Records after which its state is written down, and older records go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) snapshot_every: Option<NonZeroU64>,
    /// Addresses of other nodes that differ from those in `live.toml`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) addresses: BTreeMap<String, String>,
    /// The real machine of its providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) machine: Option<machine::Settings>,
}

/// A live run that is to be made.
pub(super) struct Wanted<'w> {
    pub(super) scenario: Scenario,
    pub(super) scenario_folder: &'w Path,
    /// Folder of the results; `None` = `results` in the folder of the run.
    pub(super) results: Option<&'w Path>,
    pub(super) scale: f64,
    pub(super) shared: Vec<Vec<String>>,
}

/// A live run on disk.
pub(super) struct LiveFolder {
    pub(super) path: PathBuf,
    pub(super) facts: Facts,
    pub(super) scenario: Scenario,
}

/// Folder of a live run whose results are in another one.
pub(super) fn beside(results: &Path) -> PathBuf {
    let mut name = results.file_name().unwrap_or_default().to_owned();
    name.push(".live");
    results.with_file_name(name)
}

/// Writes a file of a live run.
pub(super) fn write(path: &Path, text: &str) -> Result<(), LiveError> {
    let failed = |error| LiveError::Write { path: path.to_owned(), error };
    std::fs::write(path, text).map_err(failed)
}

/// Reads a file of a live run.
fn read(path: &Path) -> Result<String, LiveError> {
    let failed = |error| LiveError::Read { path: path.to_owned(), error };
    std::fs::read_to_string(path).map_err(failed)
}

/// Reads a TOML file of a live run.
pub(super) fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, LiveError> {
    let failed = |error: toml::de::Error| LiveError::Facts {
        path: path.to_owned(),
        error: error.to_string(),
    };
    toml::from_str(&read(path)?).map_err(failed)
}

/// Writes a TOML file of a live run, below a comment.
pub(super) fn write_toml(
    path: &Path,
    comment: &str,
    value: &impl Serialize,
) -> Result<(), LiveError> {
    let text = toml::to_string(value);
    let failed = |error: toml::ser::Error| LiveError::Facts {
        path: path.to_owned(),
        error: error.to_string(),
    };
    write(path, &format!("{comment}{}", text.map_err(failed)?))
}

impl LiveFolder {
    /// True if a path is the folder of a live run.
    pub(super) fn is_there(path: &Path) -> bool {
        path.join(FACTS).is_file()
    }

    /// Makes the folder of a live run. With `begins`, the run begins so long from now; otherwise its nodes agree on its
    /// beginning.
    pub(super) fn make(
        path: PathBuf,
        wanted: Wanted<'_>,
        begins: Option<Duration>,
    ) -> Result<LiveFolder, LiveError> {
        if path.exists() {
            return Err(LiveError::Exists(path));
        }
        let Wanted { scenario, scenario_folder, results, scale, shared } = wanted;
        let pace = Pace::beginning(begins.unwrap_or_default(), scale)?;
        // The path of a file in the present folder has no folder.
        let whole = |path: &Path| {
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            absolute(path).unwrap_or_else(|_| path.to_owned())
        };
        let facts = Facts {
            format: FORMAT,
            build: BUILD.to_owned(),
            epoch: begins.map(|_| pace.epoch),
            scale,
            folder: whole(scenario_folder),
            results: results.map(whole),
            shared,
            nodes: Vec::new(),
        };
        let folder = LiveFolder { path, facts, scenario };
        let (plan, _) = folder.plan()?;
        for part in 0..plan.known.parts.count() as PartId {
            let of_node = plan.node_folder(part);
            std::fs::create_dir_all(&of_node)
                .map_err(|error| LiveError::Write { path: of_node, error })?;
        }
        write(&folder.path.join(SCENARIO), &folder.scenario.to_toml())?;
        folder.save()?;
        Ok(folder)
    }

    /// Opens the folder of a live run.
    pub(super) fn open(path: &Path) -> Result<LiveFolder, Error> {
        let facts: Facts = parse(&path.join(FACTS))?;
        if facts.format != FORMAT || facts.build != BUILD {
            return Err(LiveError::OtherBuild.into());
        }
        let source = path.join(SCENARIO);
        let source = Source::new(source.clone(), read(&source)?);
        let (scenario, _) = single(Experiment::read_with(source, Logs::Ignore, own_rules())?)?;
        Ok(LiveFolder { path: path.to_owned(), facts, scenario })
    }

    /// Writes the facts that all nodes share.
    pub(super) fn save(&self) -> Result<(), LiveError> {
        let comment = "# A live run. All of its nodes have this file and scenario.toml.\n\n";
        write_toml(&self.path.join(FACTS), comment, &self.facts)
    }

    /// Folder of the results.
    pub(super) fn results(&self) -> PathBuf {
        self.facts.results.clone().unwrap_or_else(|| self.path.join(RESULTS))
    }

    /// The folder from which relative paths of the scenario start.
    pub(super) fn scenario_folder(&self) -> &Path {
        &self.facts.folder
    }

    /// The pace of a run whose nodes are threads of one process.
    pub(super) fn pace(&self) -> Option<Pace> {
        Some(Pace { epoch: self.facts.epoch?, scale: self.facts.scale })
    }

    /// The plan of its nodes.
    pub(super) fn plan(&self) -> Result<(Plan, Cast), LiveError> {
        let stage = Stage::set(&self.scenario, &self.facts.folder)?;
        let Stage { cast, mut world, inputs, .. } = stage;
        let shared = self.facts.shared.iter().map(|names| numbers(names, &cast));
        let shared = shared.collect::<Result<Vec<_>, _>>()?;
        let parts = Parts::with(&world.actors, &shared);
        let kinds = Vec::from_iter(cast.actors.iter().map(|it| it.kind));
        let limits = Limits {
            actors: cast.actors.len() as u32,
            providers: cast.providers.len() as u32,
            ..Limits::default()
        };
        let (scale, shared) = (self.facts.scale, &self.facts.shared);
        let mut same = format!("{}\n{BUILD}\n{scale}\n{shared:?}", self.scenario.to_toml());
        for (name, path) in &inputs {
            same.push_str(&Input::of_file(path, name)?.sha256);
        }
        let digest = bytes(&sha256(same.as_bytes()));
        let names = Vec::from_iter(cast.actors.iter().map(|it| it.name.clone()));
        let nodes = node_names(&parts, &names);
        let listed = || self.facts.nodes.iter().map(|it| it.name.as_str());
        if listed().next().is_some() && !listed().eq(nodes.iter().map(NodeName::as_str)) {
            let nodes = Vec::from_iter(nodes.iter().map(NodeName::as_str)).join(", ");
            return Err(LiveError::Facts {
                path: self.path.join(FACTS),
                error: format!("the nodes of this scenario are {nodes}, in this order"),
            });
        }
        let real = self.real(&parts, &nodes, &kinds)?;
        let horizon = self.scenario.scenario.horizon.map(|it| Time::ZERO + it.0);
        let (scenario, folder) = (self.scenario.clone(), self.facts.folder.clone());
        let make = move || {
            let stage = Stage::set(&scenario, &folder).map_err(|error| error.to_string())?;
            Ok(stage.world)
        };
        let known = Known { parts, kinds, limits, real };
        known.equip(&mut world).map_err(|error| {
            let provider = &cast.actors[error.provider.index()].name;
            LiveError::NotReal { provider: provider.clone(), reason: error.reason }
        })?;
        let plan = Plan {
            known: Arc::new(known),
            run: Arc::new(RunFacts::new(digest, scale, horizon, names, nodes)),
            make: Arc::new(make),
            shortest_hold: self.scenario.shortest_hold(),
            folder: self.path.clone(),
        };
        Ok((plan, cast))
    }

    /// The providers that have a real machine, as the settings of those nodes say whose folders are here.
    fn real(
        &self,
        parts: &Parts,
        nodes: &[NodeName],
        kinds: &[ActorKind],
    ) -> Result<BTreeSet<ActorId>, LiveError> {
        let mut real = BTreeSet::new();
        for (part, name) in (0..).zip(nodes) {
            let path = self.path.join(name.as_str()).join(NODE);
            if !path.exists() || parse::<NodeSettings>(&path)?.machine.is_none() {
                continue;
            }
            let members = parts.members(part).iter().copied();
            let providers = members.filter(|it| kinds[it.index()] == ActorKind::Provider);
            let before = real.len();
            real.extend(providers);
            if real.len() == before {
                return Err(LiveError::NoProvider { path });
            }
        }
        Ok(real)
    }

    /// The part of a node, and the names of all nodes.
    pub(super) fn part_of(plan: &Plan, name: &str) -> Option<PartId> {
        let place = plan.run.nodes.iter().position(|it: &NodeName| it.as_str() == name)?;
        Some(place as PartId)
    }
}

/// The numbers of actors with these names.
fn numbers(names: &[String], cast: &Cast) -> Result<Vec<ActorId>, LiveError> {
    let number = |name: &String| {
        let place = cast.actors.iter().position(|it| it.name == *name);
        let all = || cast.actors.iter().map(|it| it.name.clone()).collect();
        place
            .map(|it| ActorId(it as u32))
            .ok_or_else(|| LiveError::NoActor { name: name.clone(), all: all() })
    };
    names.iter().map(number).collect()
}

/// The bytes of a digest in hexadecimal digits.
fn bytes(digest: &str) -> [u8; 32] {
    let digit =
        |at: usize| digest.get(2 * at..2 * at + 2).and_then(|it| u8::from_str_radix(it, 16).ok());
    std::array::from_fn(|at| digit(at).unwrap_or_default())
}
