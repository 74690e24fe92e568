//! The table of outages: what failed together, until when, and what was lost with it.
//!
//! Attempts at providers and on resources of a grid are lost by the same call. What one of
//! a grid cost is known only when its job is over: another one may go on from what it saved. So an
//! outage waits here until it is over and all that it cost is known.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use haggle_model::work::Work;
use haggle_model::{JobId, LostRun, ProcessorSet, ProviderId, Time};
use smallvec::SmallVec;

use super::{Availability, Files, MICROS};
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

/// The outages that are not in the table yet.
#[derive(Default)]
pub(super) struct Outages {
    /// What is lost with the processors of a provider that fail next.
    failing: BTreeMap<ProviderId, Lost>,
    /// By provider, failure and first processor.
    open: BTreeMap<(ProviderId, Time, u32), Outage>,
    /// Since when it has been down, by first processor: what fails together comes back together.
    down: BTreeMap<(ProviderId, u32), Time>,
}

#[derive(Default)]
struct Lost {
    /// A job once for each attempt, in no order.
    jobs: SmallVec<[JobId; 4]>,
    /// In a box, for outages wait here by the hundred thousand until somebody knows that they cost anything.
    loss: Option<Box<Loss>>,
    /// Attempts of which nobody knows yet what they cost.
    unsettled: u32,
}

impl Lost {
    fn add(&mut self, loss: Loss) {
        **self.loss.get_or_insert_default() += loss;
    }
}

struct Outage {
    processors: ProcessorSet,
    restoration: Option<Time>,
    lost: Lost,
}

impl Outages {
    pub(super) fn attempt_lost(&mut self, provider: ProviderId, job: JobId, loss: Option<Loss>) {
        let lost = self.failing.entry(provider).or_default();
        lost.jobs.push(job);
        match loss {
            Some(loss) => lost.add(loss),
            None => lost.unsettled += 1,
        }
    }

    pub(super) fn settled(
        &mut self,
        provider: ProviderId,
        failure: Time,
        loss: Loss,
        files: &mut Files,
    ) -> Result<(), ResultsError> {
        let outages = self.open.range_mut((provider, failure, 0)..=(provider, failure, u32::MAX));
        for (&key, outage) in outages {
            if outage.lost.unsettled > 0 {
                outage.lost.unsettled -= 1;
                outage.lost.add(loss);
                return self.write_if_whole(key, files);
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
        files: &mut Files,
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
                self.write_if_whole(key, files)
            }
        }
    }

    fn write_if_whole(
        &mut self,
        key: (ProviderId, Time, u32),
        files: &mut Files,
    ) -> Result<(), ResultsError> {
        let is_whole = |it: &Outage| it.restoration.is_some() && it.lost.unsettled == 0;
        if !self.open.get(&key).is_some_and(is_whole) {
            return Ok(());
        }
        match self.open.remove(&key) {
            Some(outage) => outage.write(key, files),
            None => Ok(()),
        }
    }

    /// Adds those that are not over.
    pub(super) fn close(self, files: &mut Files) -> Result<(), ResultsError> {
        self.open.into_iter().try_for_each(|(key, outage)| outage.write(key, files))
    }
}

impl Outage {
    fn write(
        &self,
        (provider, failure, _): (ProviderId, Time, u32),
        files: &mut Files,
    ) -> Result<(), ResultsError> {
        let Outage { processors, restoration, lost } = self;
        let mut jobs = lost.jobs.clone();
        jobs.sort_unstable();
        jobs.dedup();
        let loss = lost.loss.as_deref().copied().unwrap_or_default();
        let cost = loss.time as f64 / MICROS as f64 + loss.work.as_mi_f64();
        // A node's processors are next to each other, so that one interval is the rule.
        files.put_all(processors.intervals().iter().map(|&(first, last)| OutageCells {
            provider,
            first: i64::from(first),
            last: i64::from(last),
            failed: failure.as_micros(),
            restored: restoration.map(Time::as_micros),
            jobs_lost: jobs.len() as i64,
            work_lost: cost,
        }))
    }
}
