//! Data that have arrived at a resource, and from it elsewhere.

use std::collections::BTreeMap;

use haggle_model::ProviderId;
use haggle_model::grid::{Carried, DataFlow, DataMoved, Place};
use serde::{Deserialize, Serialize};

use super::JobData;

/// Counts arrived data by kind and by route.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Deliveries {
    input: Carried,
    output: Carried,
    /// In a box, because it stays empty if jobs neither save their progress nor move.
    saved: Option<Box<SavedData>>,
}

/// Arrived data of saved progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct SavedData {
    checkpoints: Carried,
    recovery: Carried,
    /// Jobs that have moved here, by the resource from which they came.
    moves: BTreeMap<ProviderId, Carried>,
    /// The data that came with them.
    moved: DataMoved,
}

impl Deliveries {
    /// A job's input is here.
    pub(super) fn input(&mut self, bytes: u64) {
        self.input.add(1, bytes);
    }

    /// A job's output has arrived at the storage.
    pub(super) fn output(&mut self, bytes: u64) {
        self.output.add(1, bytes);
    }

    /// So many checkpoints have arrived at their server. Checkpoints without bytes are no
    /// transfers.
    pub(super) fn checkpoints(&mut self, count: u64, bytes: u64) {
        self.saved().checkpoints.add(if bytes > 0 { count } else { 0 }, bytes);
    }

    /// The checkpoint from which a job goes on is here.
    pub(super) fn recovery(&mut self, bytes: u64) {
        self.saved().recovery.add(1, bytes);
    }

    /// Input and checkpoint of a job that has moved are here.
    pub(super) fn moved(&mut self, from: ProviderId, data: JobData) {
        let saved = self.saved();
        saved.moved.input += data.input;
        saved.moved.recovery += data.checkpoint;
        saved.moves.entry(from).or_default().add(1, data.input + data.checkpoint);
    }

    /// All of them by kind.
    pub(super) fn data(&self) -> DataMoved {
        let (input, output) = (self.input.bytes, self.output.bytes);
        let mut data = DataMoved { input, output, ..DataMoved::default() };
        if let Some(saved) = &self.saved {
            data += saved.moved;
            data.checkpoints += saved.checkpoints.bytes;
            data.recovery += saved.recovery.bytes;
        }
        data
    }

    fn saved(&mut self) -> &mut SavedData {
        self.saved.get_or_insert_default()
    }

    /// All of them by route.
    pub(super) fn flows(&self, resource: ProviderId) -> Box<[DataFlow]> {
        let here = Place::Resource(resource);
        let users = [(Place::Storage, here, self.input), (here, Place::Storage, self.output)];
        let saved = self.saved.iter().flat_map(|saved| {
            let server = [
                (here, Place::Checkpoints, saved.checkpoints),
                (Place::Checkpoints, here, saved.recovery),
            ];
            let moves = saved.moves.iter().map(|(&from, &it)| (Place::Resource(from), here, it));
            server.into_iter().chain(moves)
        });
        // Routes without transfers are no rows of the table.
        let flows = users.into_iter().chain(saved).filter(|(_, _, it)| it.transfers > 0);
        flows.map(|(from, to, carried)| DataFlow { from, to, carried }).collect()
    }
}
