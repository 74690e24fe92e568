//! The tables of a grid: `checkpoints`, `transfers`, and its rows in `jobs`, `attempts` and `resources`.

use std::collections::BTreeMap;

use haggle_model::grid::{AttemptRecord, Carried, DataFlow, Place, ResourceAccount};
use haggle_model::{AttemptOutcome, Cast, ProcessorSet, Time};

use super::{RunWriter, Story, TableFile};
use crate::ResultsError;
use crate::columns::Table;
use crate::metrics::SettledJob;
use crate::tables::{AttemptCells, CheckpointCells};

/// Tables that only runs of a grid have.
pub(super) struct GridTables {
    checkpoints: TableFile,
    transfers: TableFile,
    ways: Ways,
}

impl GridTables {
    pub(super) fn into_tables(mut self) -> [TableFile; 2] {
        for ((from, to), carried) in self.ways.carried {
            let mut row = self.transfers.buffer.row();
            row.code(from).code(to).integer(carried.transfers as i64);
            row.integer(carried.bytes as i64).done();
        }
        [self.checkpoints, self.transfers]
    }
}

/// What data took which way. Ends of ways are counted as in [`places`].
struct Ways {
    /// The first resource that is not of a site or of those before it, by site.
    ends: Vec<u32>,
    carried: BTreeMap<(u32, u32), Carried>,
}

impl Ways {
    fn new(cast: &Cast) -> Ways {
        let sizes = cast.sites.iter().map(|site| site.resources);
        let first = cast.whole_places() as u32;
        let ends = sizes.scan(first, |end, size| {
            *end += size;
            Some(*end)
        });
        Ways { ends: ends.collect(), carried: BTreeMap::new() }
    }

    fn add(&mut self, flow: &DataFlow) {
        let way = (self.code(flow.from), self.code(flow.to));
        *self.carried.entry(way).or_default() += flow.carried;
    }

    fn code(&self, place: Place) -> u32 {
        let services = self.ends.len() as u32;
        match place {
            Place::Resource(resource) => self.ends.partition_point(|&end| end <= resource.0) as u32,
            Place::Storage => services,
            Place::Checkpoints => services + 1,
        }
    }
}

/// The sites, then the services: between these data flow.
pub(super) fn places(cast: &Cast) -> Vec<String> {
    let sites = cast.sites.iter().map(|site| site.name.as_str());
    sites.chain(["(storage)", "(checkpoints)"]).map(str::to_owned).collect()
}

impl RunWriter {
    fn grid_tables(&mut self) -> Result<&mut GridTables, ResultsError> {
        if self.grid.is_none() {
            let (folder, format) = (self.folder.path(), self.options.format);
            let open = |table| TableFile::create(folder, table, &self.cast, format);
            self.grid = Some(GridTables {
                checkpoints: open(Table::Checkpoints)?,
                transfers: open(Table::Transfers)?,
                ways: Ways::new(&self.cast),
            });
        }
        Ok(self.grid.as_mut().expect("it has just been seen to"))
    }

    /// Records that an attempt of a job on a time-shared resource is over: its rows in
    /// `checkpoints`. It has one in `attempts` when its job is over.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn attempt_over(&mut self, record: &AttemptRecord) -> Result<(), ResultsError> {
        self.usage.jobs[record.resource.index()] += i64::from(record.started.is_some());
        if record.outcome == AttemptOutcome::Failed {
            self.attempt_lost(record.resource, record.job, None);
        }
        let GridTables { checkpoints, .. } = self.grid_tables()?;
        for (place, checkpoint) in (1..).zip(&record.checkpoints) {
            let cells = CheckpointCells {
                job: i64::from(record.job.0),
                attempt: i64::from(record.number),
                checkpoint: place,
                provider: record.resource.0,
                requested: checkpoint.requested.as_micros(),
                written: checkpoint.written.map(Time::as_micros),
                available: checkpoint.available.map(Time::as_micros),
                work_saved: checkpoint.done.as_mi_f64(),
                computing: checkpoint.computing.as_micros(),
            };
            cells.give(&mut checkpoints.buffer);
            checkpoints.flush_if_full()?;
        }
        Ok(())
    }

    /// Records that a job of a grid is over: its rows in `jobs` and `attempts`.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn grid_job_over(&mut self, job: &SettledJob) -> Result<(), ResultsError> {
        let SettledJob { record, attempts, resources } = job;
        let story = Story::new(record, &self.cast);
        self.write_job(record, &story, attempts.len() as i64, i64::from(*resources))?;
        for attempt in attempts {
            let resource = &self.cast.providers[attempt.resource.index()];
            let whole = ProcessorSet::range(0, resource.processors);
            let shared = attempt.started.map(|_| (&whole, resource.first_processor));
            self.write_attempt(AttemptCells {
                queued: Some(attempt.dispatched.as_micros()),
                start: attempt.started.map(Time::as_micros),
                end: Some(attempt.end.as_micros()),
                allocated: shared,
                checkpointing: attempt.writing.as_micros(),
                parent: attempt.parent.map(i64::from),
                left: Some(attempt.left.as_micros()),
                work_at_start: Some(attempt.from.as_mi_f64()),
                work_at_end: Some(attempt.done.as_mi_f64()),
                computing: Some(attempt.computing.as_micros()),
                data: Some(attempt.waiting().as_micros()),
                checkpoints: Some(i64::from(attempt.written)),
                checkpoints_omitted: Some(i64::from(attempt.omitted)),
                ..AttemptCells::new(
                    &record.job,
                    i64::from(attempt.number),
                    attempt.resource,
                    attempt.outcome,
                )
            })?;
        }
        Ok(())
    }

    /// Records what a time-shared resource has done in the whole run, and what data it got and
    /// sent: its part in `transfers`.
    ///
    /// # Errors
    /// If the tables of a grid cannot be opened.
    pub fn resource_account(&mut self, account: &ResourceAccount) -> Result<(), ResultsError> {
        let at = account.resource.index();
        self.usage.busy[at] = i128::from(account.busy.as_micros());
        self.usage.shared[at] = true;
        // A grid in which nothing happened has its tables as well.
        let ways = &mut self.grid_tables()?.ways;
        account.flows.iter().for_each(|flow| ways.add(flow));
        Ok(())
    }
}
