//! The jobs of a dump: their number, the first submission, and names that the site no longer has.

use std::path::Path;

use haggle_model::{Span, Time};
use haggle_scenario::file::{LogReading, ProcessorsFrom, Rules, SubmitOrder};
use haggle_workloads::{Source, Workload, WorkloadError};

use super::ImportError;
use super::numbers::{Listed, Numbers};
use crate::{Remarks, dump};

/// Facts about the jobs.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    /// Number of the jobs that the rules keep.
    pub(super) count: u64,
    /// Time zero of the scenario, since 1970.
    pub(super) zero: Time,
}

/// Rules for the log. Whole nodes may be allocated to a job that asked for some of their processors. The runs of a requeued
/// job stand together, although they were submitted at different times.
pub(super) fn rules() -> Rules {
    Rules {
        processors_from: Some(ProcessorsFrom::AllocatedThenRequested),
        order: Some(SubmitOrder::Sort),
        ..Rules::default()
    }
}

impl Jobs {
    pub(super) fn read(
        log: &Path,
        reading: &LogReading,
        numbers: &Numbers,
        remarks: &mut Remarks,
    ) -> Result<Jobs, ImportError> {
        if !dump::first_line(log)?.contains('|') {
            let problem = "no line of names with `|` between them, as `sacct -P` writes it";
            return Err(ImportError::Unfit { file: log.to_owned(), problem: problem.to_owned() });
        }
        let options = reading.to_model(None).map_err(WorkloadError::Log)?;
        let source = Source::Log {
            path: log.to_owned(),
            options: Box::new(options),
            rules: rules().to_model(),
        };
        let mut open = Workload::new("jobs", source).open()?;
        let (mut count, mut lost_partitions, mut lost_qualities) = (0, 0_u64, 0_u64);
        let above = |number: i32, names: &Listed| {
            usize::try_from(number).is_ok_and(|number| number > names.len())
        };
        for job in open.jobs.by_ref() {
            let job = job?;
            count += 1;
            lost_partitions += u64::from(above(job.origin.partition, &numbers.partitions));
            lost_qualities += u64::from(above(job.origin.queue, &numbers.qualities));
        }
        if lost_partitions > 0 {
            remarks.add(format!("{lost_partitions} jobs of partitions that are not in partitions.txt will be refused"), "");
        }
        if lost_qualities > 0 && numbers.qualities.len() > 0 {
            remarks.add(
                format!("{lost_qualities} jobs of QOS that are not in qos.txt will be refused"),
                "",
            );
        }
        let report = open.report.snapshot();
        Ok(Jobs { count, zero: Time::ZERO + Span::from_micros(report.shift_us) })
    }
}
