//! The options with which commands read a log, and their checks.

use std::path::Path;

use crate::scenario::file::{self, LogFormat, LogReading, Malformed, Rules};
use haggle_workloads::WorkloadError;
use haggle_workloads::logs::Options;

use super::Error;

/// The format of a log, and the treatment of its malformed lines.
#[derive(Debug, clap::Args)]
pub(crate) struct Reading {
    /// Leave out malformed lines and report their number
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    log: LogReading,
}

impl Reading {
    /// True if an option was given.
    pub(crate) fn is_given(&self) -> bool {
        self.lenient || !self.log.is_empty()
    }

    /// The way in which the log is read, checked.
    pub(crate) fn options(&self) -> Result<Options, Error> {
        let options = options(&self.log)?;
        check_columns(&self.log)?;
        Ok(options)
    }

    /// Puts the options into a workload, which has `rules` besides.
    pub(crate) fn set(&self, workload: &mut file::Workload, rules: Rules) {
        workload.reading = self.log.clone();
        workload.rules = Rules { malformed: self.malformed(), ..rules };
    }

    /// The format, as the key `reading` of a workload.
    pub(crate) fn log(&self) -> &LogReading {
        &self.log
    }

    /// The rule for malformed lines, if it is not that of the set.
    pub(crate) fn malformed(&self) -> Option<Malformed> {
        self.lenient.then_some(Malformed::Skip)
    }
}

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
