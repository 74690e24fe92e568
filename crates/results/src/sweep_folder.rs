//! The runs of a sweep, each in a folder of its own or in packs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::pack::Pack;
use crate::{ResultsError, RunReader};

/// The folder of a run relative to its sweep: `seed=…` within the folder of its variant, if there are
/// variants.
pub fn folder_of_run(variant: &str, seed: u64) -> String {
    let slash = if variant.is_empty() { "" } else { "/" };
    format!("{variant}{slash}seed={seed}")
}

/// The folder of a sweep.
#[derive(Debug)]
pub struct SweepFolder {
    folder: PathBuf,
    /// By the number of the first run.
    packs: BTreeMap<usize, PathBuf>,
    /// Most recently read packs, the last one first.
    open: RefCell<Vec<(usize, Arc<Pack>)>>,
}

/// Maximum number of packs in memory: the pack of the run being read, and that of the run it is
/// compared with.
const OPEN: usize = 2;

impl SweepFolder {
    /// Opens the folder of a sweep. It need not exist yet.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(folder: &Path) -> Result<SweepFolder, ResultsError> {
        let packs = Pack::all_in(folder)?;
        Ok(SweepFolder { folder: folder.to_owned(), packs, open: RefCell::new(Vec::new()) })
    }

    /// The run of this number; `name` is the folder of a run outside packs. `None` if it does not exist.
    ///
    /// # Errors
    /// If it exists and cannot be read.
    pub fn run(&self, number: usize, name: &Path) -> Result<Option<RunReader>, ResultsError> {
        let folder = self.folder.join(name);
        // Packs are known by their first runs, so only the last one that begins before this run may have it.
        if let Some((&first, path)) = self.packs.range(..=number).next_back() {
            let pack = self.pack(first, path)?;
            // The pack need not have all runs behind its first one.
            if let Ok(at) = pack.runs().binary_search_by_key(&number, |run| run.run) {
                return Ok(Some(RunReader::packed(folder, pack, at)));
            }
        }
        if folder.exists() { RunReader::open(&folder).map(Some) } else { Ok(None) }
    }

    fn pack(&self, first: usize, path: &Path) -> Result<Arc<Pack>, ResultsError> {
        let mut open = self.open.borrow_mut();
        if let Some(at) = open.iter().position(|(known, _)| *known == first) {
            let found = open.remove(at);
            open.insert(0, found);
        } else {
            let pack = Arc::new(Pack::open(path)?);
            // The pack used last is the first one here, so the one that has not been used for longest is
            // closed.
            open.insert(0, (first, pack));
            open.truncate(OPEN);
        }
        Ok(Arc::clone(&open[0].1))
    }
}
