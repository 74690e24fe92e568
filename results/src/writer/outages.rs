//! The table of outages: what failed together, until when, and what was lost with it.
//!
//! Attempts at providers and on resources of a grid are lost by the same call. What one of
//! a grid cost is known only when its job is over: another one may go on from what it saved. So an
//! outage waits here until it is over and all that it cost is known.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use haggle_model::work::Work;
use haggle_model::{JobId, LostRun, ProcessorSet, ProviderId, Time};

use super::{Availability, MICROS, TableFile};
use crate::ResultsError;
use crate::tables::OutageCells;

/// What was computed in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// On processors that one job holds, processor-microseconds.
    time: i128,
    /// On resources that jobs share.
    work: Work,
}

impl From<&LostRun> for Loss {
    fn from(run: &LostRun) -> Loss {
        let undone = i128::from(run.undone().as_micros());
        Loss { time: undone * i128::from(run.processors.count()), ..Loss::default() }
    }
}

impl From<Work> for Loss {
    fn from(work: Work) -> Loss {
        Loss { work, ..Loss::default() }
    }
}

impl AddAssign for Loss {
    fn add_assign(&mut self, other: Loss) {
        self.time += other.time;
        self.work += other.work;
    }
}

/// The table, and the outages that are not in it yet.
pub(super) struct Outages {
    file: TableFile,
    /// What is lost with the processors of a provider that fail next.
    failing: BTreeMap<ProviderId, Lost>,
    /// By provider, failure and first processor.
    open: BTreeMap<(ProviderId, Time, u32), Outage>,
    /// Since when it has been down, by first processor: what fails together comes back together.
    down: BTreeMap<(ProviderId, u32), Time>,
}

#[derive(Default)]
struct Lost {
    jobs: BTreeSet<JobId>,
    loss: Loss,
    /// Attempts of which nobody knows yet what they cost.
    unsettled: usize,
}

struct Outage {
    processors: ProcessorSet,
    restoration: Option<Time>,
    lost: Lost,
}

impl Outages {
    pub(super) fn new(file: TableFile) -> Outages {
        Outages { file, failing: BTreeMap::new(), open: BTreeMap::new(), down: BTreeMap::new() }
    }

    pub(super) fn attempt_lost(&mut self, provider: ProviderId, job: JobId, loss: Option<Loss>) {
        let lost = self.failing.entry(provider).or_default();
        lost.jobs.insert(job);
        match loss {
            Some(loss) => lost.loss += loss,
            None => lost.unsettled += 1,
        }
    }

    pub(super) fn settled(
        &mut self,
        provider: ProviderId,
        failure: Time,
        loss: Loss,
    ) -> Result<(), ResultsError> {
        let outages = self.open.range_mut((provider, failure, 0)..=(provider, failure, u32::MAX));
        for (&key, outage) in outages {
            if outage.lost.unsettled > 0 {
                outage.lost.unsettled -= 1;
                outage.lost.loss += loss;
                return self.write_if_whole(key);
            }
        }
        Ok(())
    }

    /// `processors` are in the run's numbering.
    pub(super) fn changed(
        &mut self,
        time: Time,
        provider: ProviderId,
        processors: ProcessorSet,
        change: Availability,
    ) -> Result<(), ResultsError> {
        let Some(&(first, _)) = processors.intervals().first() else { return Ok(()) };
        match change {
            Availability::Failed => {
                let lost = self.failing.remove(&provider).unwrap_or_default();
                let outage = Outage { processors, restoration: None, lost };
                self.open.insert((provider, time, first), outage);
                self.down.insert((provider, first), time);
                Ok(())
            }
            Availability::Restored => {
                let Some(failure) = self.down.remove(&(provider, first)) else { return Ok(()) };
                let key = (provider, failure, first);
                if let Some(outage) = self.open.get_mut(&key) {
                    outage.restoration = Some(time);
                }
                self.write_if_whole(key)
            }
        }
    }

    fn write_if_whole(&mut self, key: (ProviderId, Time, u32)) -> Result<(), ResultsError> {
        let is_whole = |it: &Outage| it.restoration.is_some() && it.lost.unsettled == 0;
        if !self.open.get(&key).is_some_and(is_whole) {
            return Ok(());
        }
        match self.open.remove(&key) {
            Some(outage) => self.write(key, &outage),
            None => Ok(()),
        }
    }

    fn write(
        &mut self,
        (provider, failure, _): (ProviderId, Time, u32),
        outage: &Outage,
    ) -> Result<(), ResultsError> {
        let Outage { processors, restoration, lost } = outage;
        let cost = lost.loss.time as f64 / MICROS as f64 + lost.loss.work.as_mi_f64();
        // A node's processors are next to each other, so that one interval is the rule.
        for &(first, last) in processors.intervals() {
            let cells = OutageCells {
                provider: provider.0,
                first: i64::from(first),
                last: i64::from(last),
                failed: failure.as_micros(),
                restored: restoration.map(Time::as_micros),
                jobs_lost: lost.jobs.len() as i64,
                work_lost: cost,
            };
            cells.give(&mut self.file.buffer);
        }
        self.file.flush_if_full()
    }

    /// The file, when those that are not over are in it too.
    pub(super) fn close(mut self) -> Result<TableFile, ResultsError> {
        for (key, outage) in std::mem::take(&mut self.open) {
            self.write(key, &outage)?;
        }
        Ok(self.file)
    }
}
