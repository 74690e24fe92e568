//! The tables of a grid: `tries`, `checkpoints`, `transfers`, and its rows in `jobs` and `resources`.

use std::collections::BTreeMap;

use haggle_model::Cast;
use haggle_model::grid::{Carried, DataFlow, Place, ResourceAccount, TryEnd, TryRecord};

use super::{RunWriter, Story, TableFile, micros};
use crate::ResultsError;
use crate::buffer::NO_INTEGER;
use crate::columns::Table;
use crate::metrics::SettledJob;

/// Tables that only runs of a grid have.
pub(super) struct GridTables {
    tries: TableFile,
    checkpoints: TableFile,
    transfers: TableFile,
    ways: Ways,
}

impl GridTables {
    pub(super) fn into_tables(mut self) -> [TableFile; 3] {
        for ((from, to), carried) in self.ways.carried {
            let mut row = self.transfers.buffer.row();
            row.code(from).code(to).integer(carried.transfers as i64);
            row.integer(carried.bytes as i64).done();
        }
        [self.tries, self.checkpoints, self.transfers]
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
                tries: open(Table::Tries)?,
                checkpoints: open(Table::Checkpoints)?,
                transfers: open(Table::Transfers)?,
                ways: Ways::new(&self.cast),
            });
        }
        Ok(self.grid.as_mut().expect("it has just been seen to"))
    }

    /// Records that a try of a job on a time-shared resource is over: its rows in `tries`
    /// and `checkpoints`.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn try_over(&mut self, record: &TryRecord) -> Result<(), ResultsError> {
        self.usage.jobs[record.resource.index()] += i64::from(record.started.is_some());
        if record.ending == TryEnd::Failed {
            self.attempt_lost(record.resource, record.job, None);
        }
        let (job, number) = (i64::from(record.job.0), i64::from(record.number));
        let GridTables { tries, checkpoints, .. } = self.grid_tables()?;
        let mut row = tries.buffer.row();
        row.integer(job).integer(number).code(record.resource.0);
        row.integer(record.parent.map_or(NO_INTEGER, i64::from));
        row.micros(record.dispatched.as_micros()).micros(micros(record.started));
        row.micros(record.left.as_micros()).micros(record.end.as_micros());
        row.word(record.ending.name());
        row.real(record.from.as_mi_f64()).real(record.done.as_mi_f64());
        row.micros(record.computing.as_micros()).micros(record.writing.as_micros());
        row.micros(record.waiting().as_micros());
        row.integer(i64::from(record.written)).integer(i64::from(record.omitted)).done();
        for (place, checkpoint) in (1..).zip(&record.checkpoints) {
            let mut row = checkpoints.buffer.row();
            row.integer(job).integer(number).integer(place).code(record.resource.0);
            row.micros(checkpoint.requested.as_micros()).micros(micros(checkpoint.written));
            row.micros(micros(checkpoint.available)).real(checkpoint.done.as_mi_f64());
            row.micros(checkpoint.computing.as_micros()).done();
            checkpoints.flush_if_full()?;
        }
        tries.flush_if_full()
    }

    /// Records that a job of a grid is over: its row in `jobs`.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn grid_job_over(&mut self, job: &SettledJob) -> Result<(), ResultsError> {
        let story = Story::new(&job.record, &self.cast);
        self.write_job(&job.record, &story, i64::from(job.tries), i64::from(job.resources))
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
