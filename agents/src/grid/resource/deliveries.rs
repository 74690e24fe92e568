//! What data have arrived at a resource, and from it elsewhere.

use std::collections::BTreeMap;

use haggle_model::ProviderId;
use haggle_model::grid::{Carried, DataFlow, DataMoved, Place};

use super::JobData;

/// Counts what has arrived by what it was, and by the way that it took.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    moved: DataMoved,
    input: Carried,
    output: Carried,
    checkpoints: Carried,
    recovery: Carried,
    /// Jobs that have moved here, by where they come from.
    moves: BTreeMap<ProviderId, Carried>,
}

impl Deliveries {
    /// A job's input is here.
    pub(super) fn input(&mut self, bytes: u64) {
        self.moved.input += bytes;
        self.input.add(1, bytes);
    }

    /// A job's output has arrived at the storage.
    pub(super) fn output(&mut self, bytes: u64) {
        self.moved.output += bytes;
        self.output.add(1, bytes);
    }

    /// So many checkpoints have arrived at their server. Without data there is nothing to transfer.
    pub(super) fn checkpoints(&mut self, count: u64, bytes: u64) {
        self.moved.checkpoints += count * bytes;
        self.checkpoints.add(if bytes > 0 { count } else { 0 }, bytes);
    }

    /// The checkpoint from which a job goes on is here.
    pub(super) fn recovery(&mut self, bytes: u64) {
        self.moved.recovery += bytes;
        self.recovery.add(1, bytes);
    }

    /// Input and checkpoint of a job that has moved are here.
    pub(super) fn moved(&mut self, from: ProviderId, data: JobData) {
        self.moved.input += data.input;
        self.moved.recovery += data.checkpoint;
        self.moves.entry(from).or_default().add(1, data.input + data.checkpoint);
    }

    /// All of it by what it was.
    pub(super) fn data(&self) -> DataMoved {
        self.moved
    }

    /// All of it by its ways.
    pub(super) fn flows(&self, resource: ProviderId) -> Box<[DataFlow]> {
        let here = Place::Resource(resource);
        let services = [
            (Place::Storage, here, self.input),
            (here, Place::Storage, self.output),
            (here, Place::Checkpoints, self.checkpoints),
            (Place::Checkpoints, here, self.recovery),
        ];
        let moves = self.moves.iter().map(|(&from, &it)| (Place::Resource(from), here, it));
        let flows = services.into_iter().chain(moves).filter(|(_, _, it)| it.transfers > 0);
        flows.map(|(from, to, carried)| DataFlow { from, to, carried }).collect()
    }
}
