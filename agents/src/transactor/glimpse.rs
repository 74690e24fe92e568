//! The knowledge of a metascheduler that follows a protocol: its jobs and their agreements.

use super::Transactor;
use crate::glimpse::{self, Glimpse, known};

impl Transactor {
    /// Its jobs, and the parts that are asked for or agreed on.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let mut jobs = self.desk.glimpse(|_, entry| match &entry.stage.place {
            None => (glimpse::Stage::Waiting, Vec::new()),
            Some(placed) if placed.agreed => (glimpse::Stage::Placed, placed.providers().to_vec()),
            Some(placed) => (glimpse::Stage::Agreeing, placed.providers().to_vec()),
        });
        let mut promises = Vec::new();
        for work in &mut jobs {
            let place = self.desk.get(work.job).and_then(|entry| entry.stage.place.as_ref());
            let Some(placed) = place else { continue };
            work.start = known(placed.start());
            promises.extend(placed.promises(work.job));
        }
        Glimpse { jobs, promises, ..Glimpse::default() }
    }
}
