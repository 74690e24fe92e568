//! Checks of the options with which commands read a log.

use std::path::Path;

use crate::scenario::file::{LogFormat, LogReading};
use haggle_workloads::WorkloadError;
use haggle_workloads::logs::Options;

use super::Error;

/// The way in which a log is read.
pub(crate) fn options(reading: &LogReading) -> Result<Options, Error> {
    let mapping = reading.mapping.as_deref().map(Path::new);
    let tables = [LogFormat::Csv, LogFormat::Parquet];
    let is_other = reading.format.is_some_and(|format| !tables.contains(&format));
    if mapping.is_some() && is_other {
        return Err(Error::Unfit {
            message: "--mapping is for tables of jobs".to_owned(),
            hint: "remove it, or write --log-format csv or parquet".to_owned(),
        });
    }
    Ok(reading.to_model(mapping).map_err(WorkloadError::Log)?)
}

/// Refuses names of columns that no job has.
pub(crate) fn check_columns(reading: &LogReading) -> Result<(), Error> {
    if reading.columns.is_empty() || reading.format == Some(LogFormat::Sacct) {
        return Ok(());
    }
    Err(Error::Unfit {
        message: "--columns names the fields of a log of sacct without a line of names".to_owned(),
        hint: "add --log-format sacct, or remove --columns".to_owned(),
    })
}
