//! A live run on disk: its scenario, its pace and its journals, in a folder beside its results.

use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::Duration;

use haggle_live::clock::Pace;
use haggle_live::core::Known;
use haggle_live::node::Run as RunFacts;
use haggle_live::parts::Parts;
use haggle_live::run::{Plan, node_names};
use haggle_live::wire::Limits;
use haggle_model::Time;
use haggle_results::sha256;
use serde::{Deserialize, Serialize};

use super::LiveError;
use crate::experiment::run::BUILD;
use crate::experiment::world::Stage;
use crate::scenario::Scenario;

/// Version of the file `live.toml`.
const FORMAT: u32 = 1;

/// The file `live.toml`: the facts that all nodes share.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Facts {
    format: u32,
    /// The build of haggle, whose states and journals no other build reads.
    build: String,
    /// Time zero, microseconds since 1970.
    epoch: i64,
    /// Seconds of the run in a second of real time.
    pub(super) scale: f64,
    /// Path of the scenario's folder, from which its relative paths start.
    folder: PathBuf,
    /// Folder of the results.
    pub(super) results: PathBuf,
}

impl Facts {
    /// Checks that this build can read the journals.
    pub(super) fn check(&self) -> Result<(), LiveError> {
        match self.format == FORMAT && self.build == BUILD {
            true => Ok(()),
            false => Err(LiveError::OtherBuild),
        }
    }
}

/// A live run on disk.
pub(super) struct Started {
    pub(super) folder: PathBuf,
    pub(super) facts: Facts,
    pub(super) scenario: Scenario,
}

/// Folder of a live run whose results are in another one.
pub(super) fn beside(results: &Path) -> PathBuf {
    let mut name = results.file_name().unwrap_or_default().to_owned();
    name.push(".live");
    results.with_file_name(name)
}

impl Started {
    /// Begins a live run: makes its folder.
    pub(super) fn begin(
        scenario: Scenario,
        scenario_folder: &Path,
        results: &Path,
        scale: f64,
    ) -> Result<Started, LiveError> {
        let folder = beside(results);
        if folder.exists() {
            return Err(LiveError::Exists(folder));
        }
        let pace = Pace::beginning(Duration::from_millis(500), scale)?;
        let whole = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned());
        let facts = Facts {
            format: FORMAT,
            build: BUILD.to_owned(),
            epoch: pace.epoch,
            scale,
            folder: whole(scenario_folder),
            results: whole(results),
        };
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| LiveError::Write { path, error }
        };
        std::fs::create_dir_all(folder.join("journals")).map_err(failed(&folder))?;
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(failed(&path))
        };
        write("scenario.toml", scenario.to_toml())?;
        write(
            "live.toml",
            toml::to_string(&facts).map_err(|error| LiveError::Facts(error.to_string()))?,
        )?;
        Ok(Started { folder, facts, scenario })
    }

    /// The folder from which relative paths of the scenario start.
    pub(super) fn scenario_folder(&self) -> &Path {
        &self.facts.folder
    }

    /// The plan of its nodes.
    pub(super) fn plan(&self) -> Result<(Plan, haggle_model::Cast), LiveError> {
        let stage = Stage::set(&self.scenario, &self.facts.folder)?;
        let cast = stage.cast;
        let parts = Parts::of(&stage.world.actors);
        let kinds = cast.actors.iter().map(|it| it.kind).collect();
        let limits = Limits {
            actors: cast.actors.len() as u32,
            providers: cast.providers.len() as u32,
            ..Limits::default()
        };
        let pace = Pace { epoch: self.facts.epoch, scale: self.facts.scale };
        let digest = sha256(format!("{}\n{BUILD}", self.scenario.to_toml()).as_bytes());
        let names = Vec::from_iter(cast.actors.iter().map(|it| it.name.clone()));
        let nodes = node_names(&parts, &names);
        let horizon = self.scenario.scenario.horizon.map(|it| Time::ZERO + it.0);
        let (scenario, folder) = (self.scenario.clone(), self.facts.folder.clone());
        let make = move || {
            let stage = Stage::set(&scenario, &folder).map_err(|error| error.to_string())?;
            Ok(stage.world)
        };
        let plan = Plan {
            known: Arc::new(Known { parts, kinds, limits }),
            run: Arc::new(RunFacts::new(bytes(&digest), pace, names, nodes)),
            make: Arc::new(make),
            journals: self.folder.join("journals"),
            horizon,
        };
        Ok((plan, cast))
    }
}

/// The bytes of a digest in hexadecimal digits.
fn bytes(digest: &str) -> [u8; 32] {
    let digit =
        |at: usize| digest.get(2 * at..2 * at + 2).and_then(|it| u8::from_str_radix(it, 16).ok());
    std::array::from_fn(|at| digit(at).unwrap_or_default())
}
