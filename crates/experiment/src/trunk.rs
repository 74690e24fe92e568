//! The common beginning of runs that differ only from an instant on.
//!
//! The first of these runs writes its events to a journal, and keeps a snapshot at each instant at which another run
//! branches off. The others read the events up to their instant again, and go on from the snapshot.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use haggle_agents::AnyActor;
use haggle_model::Time;
use haggle_recording::{Journal, JournalError};
use haggle_runtime::{Simulation, Snapshot};

use super::changes::prints;

/// Makes the trunk while the first run goes on.
pub(super) struct Maker {
    path: PathBuf,
    /// Instants that have not been reached.
    left: BTreeSet<Time>,
    /// `None` before the run begins.
    begun: Option<Begun>,
    states: Vec<State>,
}

/// The first run, which has begun.
struct Begun {
    /// Digests of the actors before their first messages.
    actors: Vec<String>,
    journal: Journal,
}

/// An instant, the state just before it, and the length of the journal then.
type State = (Time, Snapshot, u64);

/// The common beginning of runs.
pub(super) struct Trunk {
    path: PathBuf,
    actors: Vec<String>,
    /// In order of time. Snapshots may contain actors that threads cannot share.
    states: Mutex<Vec<State>>,
}

impl Maker {
    /// A maker for branches at these instants, with the journal at `path`.
    pub(super) fn new(path: PathBuf, instants: BTreeSet<Time>) -> Maker {
        Maker { path, left: instants, begun: None, states: Vec::new() }
    }

    /// The run of these actors begins. Its events go into the journal.
    pub(super) fn begin(&mut self, actors: &[AnyActor]) -> Result<Journal, JournalError> {
        if let Some(folder) = self.path.parent() {
            let made = fs::create_dir_all(folder);
            made.map_err(|error| JournalError { path: folder.to_owned(), error })?;
        }
        let journal = Journal::create(&self.path)?;
        self.begun = Some(Begun { actors: prints(actors), journal: journal.clone() });
        Ok(journal)
    }

    /// The next instant that the run has to reach.
    pub(super) fn next(&self) -> Option<Time> {
        self.left.first().copied()
    }

    /// Keeps the state just before the instant `at`. A run that is over has no other future.
    pub(super) fn save(
        &mut self,
        at: Time,
        simulation: &Simulation<'_>,
    ) -> Result<(), JournalError> {
        self.left.remove(&at);
        if let Some(begun) = self.begun.as_mut().filter(|_| simulation.has_jobs()) {
            let length = begun.journal.sync()?.length;
            self.states.push((at, simulation.snapshot(), length));
        }
        Ok(())
    }

    /// The trunk, after the run.
    pub(super) fn finish(self) -> Trunk {
        let Maker { path, begun, states, .. } = self;
        let actors = begun.map(|begun| begun.actors).unwrap_or_default();
        Trunk { path, actors, states: Mutex::new(states) }
    }
}

impl Trunk {
    /// The journal.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The last state before the instant `first` of a run of these actors, with the length of the journal then.
    pub(super) fn state(
        &self,
        actors: &[AnyActor],
        first: Option<Time>,
    ) -> Option<(Snapshot, u64)> {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let before = |at: Time| first.is_none_or(|first| at <= first);
        let (_, snapshot, length) = states.iter().rev().find(|(at, ..)| before(*at))?;
        // A run in which other processors may fail has other actors from the start.
        (self.actors == prints(actors)).then(|| (snapshot.clone(), *length))
    }
}

impl Drop for Trunk {
    fn drop(&mut self) {
        // A journal that stays is replaced by the next run of the sweep.
        let _ = fs::remove_file(&self.path);
        // The folder of the last one.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}
