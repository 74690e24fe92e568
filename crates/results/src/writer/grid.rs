//! The tables of a grid: `checkpoints`, `transfers`, and its rows in `jobs`, `attempts` and `resources`.

use std::collections::BTreeMap;

use haggle_model::grid::{AttemptRecord, Carried, DataFlow, Place, ResourceAccount};
use haggle_model::{AttemptOutcome, Cast, ProcessorSet, Time};

use super::{RunWriter, Story, number};
use crate::ResultsError;
use crate::columns::Table;
use crate::metrics::{AttemptLoss, SettledJob};
use crate::tables::{AttemptCells, CheckpointCells, TransferCells};

/// Data carried on each route: the rows of `transfers`. Ends of routes are numbered like their names in
/// the table.
pub(super) struct Ways {
    /// For each site, the number of the first resource behind it.
    ends: Vec<u32>,
    carried: BTreeMap<(u32, u32), Carried>,
}

impl Ways {
    fn new(cast: &Cast) -> Ways {
        let sizes = cast.sites.iter().map(|site| site.resources);
        // Resources of sites are numbered after the places that give whole processors.
        let first = cast.whole_places() as u32;
        let ends = sizes.scan(first, |end, size| {
            *end += size;
            Some(*end)
        });
        Ways { ends: ends.collect(), carried: BTreeMap::new() }
    }

    pub(super) fn rows(self) -> impl Iterator<Item = TransferCells<'static>> {
        self.carried.into_iter().map(|((from, to), carried)| TransferCells {
            from,
            to,
            transfers: carried.transfers as i64,
            bytes: carried.bytes as i64,
        })
    }

    fn add(&mut self, flow: &DataFlow) {
        let way = (self.code(flow.from), self.code(flow.to));
        *self.carried.entry(way).or_default() += flow.carried;
    }

    fn code(&self, place: Place) -> u32 {
        let services = self.ends.len() as u32;
        match place {
            // The first site that ends behind the resource has it.
            Place::Resource(resource) => self.ends.partition_point(|&end| end <= resource.0) as u32,
            Place::Storage => services,
            Place::Checkpoints => services + 1,
        }
    }
}

impl RunWriter {
    /// Opens the tables that only runs of a grid have.
    fn ways(&mut self) -> Result<&mut Ways, ResultsError> {
        match &mut self.grid {
            Some(ways) => Ok(ways),
            // All runs of a grid have both tables, even without any row.
            none => {
                self.files.open(Table::Checkpoints)?;
                self.files.open(Table::Transfers)?;
                Ok(none.insert(Ways::new(&self.cast)))
            }
        }
    }

    /// Records that an attempt of a job on a time-shared resource is over: its rows in `checkpoints`.
    /// Its row in `attempts` is written when its job is over.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn attempt_over(&mut self, record: &AttemptRecord) -> Result<(), ResultsError> {
        self.usage.jobs[record.resource.index()] += i64::from(record.started.is_some());
        if record.outcome == AttemptOutcome::Failed {
            // The loss is known when the job is settled, see [`RunWriter::grid_job_over`].
            self.attempt_lost(record.resource, record.job, None);
        }
        self.ways()?;
        for (place, checkpoint) in (1..).zip(&record.checkpoints) {
            self.files.put(CheckpointCells {
                job: number(record.job),
                attempt: i64::from(record.number),
                checkpoint: place,
                provider: record.resource,
                requested: checkpoint.requested.as_micros(),
                written: checkpoint.written.map(Time::as_micros),
                available: checkpoint.available.map(Time::as_micros),
                work_saved: checkpoint.done.as_mi_f64(),
                computing: checkpoint.computing.as_micros(),
            })?;
        }
        Ok(())
    }

    /// Records that a job of a grid is over: its rows in `jobs` and `attempts`.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn grid_job_over(&mut self, job: &SettledJob) -> Result<(), ResultsError> {
        let SettledJob { record, attempts, resources, .. } = job;
        let story = Story::new(record, &self.cast);
        self.write_job(record, &story, attempts.len() as i64, i64::from(*resources))?;
        for attempt in attempts.iter().map(|it| &it.record) {
            let resource = &self.cast.providers[attempt.resource.index()];
            // Jobs share the resource, so each of them is allocated all of it.
            let whole = ProcessorSet::range(0, resource.processors);
            let shared = attempt.started.map(|_| (&whole, resource.first_processor));
            self.files.put(AttemptCells {
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
        job.losses().try_for_each(|loss| self.loss_settled(loss))
    }

    /// Records an attempt on a grid that belongs to no job.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn attempt_left(&mut self, record: &AttemptRecord) -> Result<(), ResultsError> {
        AttemptLoss::of(record, None).map_or(Ok(()), |loss| self.loss_settled(loss))
    }

    /// Adds the loss of an attempt to the outage that caused it.
    fn loss_settled(&mut self, loss: AttemptLoss) -> Result<(), ResultsError> {
        let AttemptLoss { resource, failure, work } = loss;
        match &mut self.outages {
            Some(outages) => {
                let first = self.first_processors[resource.index()];
                outages.settled(first, failure, work.into(), &mut self.files)
            }
            None => Ok(()),
        }
    }

    /// Records the account of a time-shared resource over the whole run, and its data in `transfers`.
    ///
    /// # Errors
    /// If the tables of a grid cannot be opened.
    pub fn resource_account(&mut self, account: &ResourceAccount) -> Result<(), ResultsError> {
        let at = account.resource.index();
        self.usage.busy[at] = i128::from(account.busy.as_micros());
        self.usage.shared[at] = true;
        // A grid without any event has these tables as well.
        let ways = self.ways()?;
        account.flows.iter().for_each(|flow| ways.add(flow));
        Ok(())
    }
}
