//! The way in which a log is read.

use std::path::Path;

use haggle_workloads::logs::{LogError, Mapping, Numbered, Options};

use crate::file::LogReading;

impl LogReading {
    /// The options of a reader, with the mapping file at `mapping`. No column without a place in a job is kept.
    pub fn to_model(&self, mapping: Option<&Path>) -> Result<Options, LogError> {
        Ok(Options {
            format: self.format,
            zone: self.time_zone.as_ref().map(|zone| zone.0.clone()),
            columns: self.columns.clone(),
            mapping: mapping.map(Mapping::open).transpose()?,
            keep: Vec::new(),
            names: Numbered {
                users: self.names.users.clone(),
                groups: self.names.groups.clone(),
                queues: self.names.queues.clone(),
                partitions: self.names.partitions.clone(),
            },
            demands: self.demands.clone(),
        })
    }
}
