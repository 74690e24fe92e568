//! The table of outages: processors that failed together, the time of their repair, and the losses.
//!
//! Attempts at providers and on resources of a grid are lost by the same call. The loss of an attempt
//! on a grid is known only when its job is over, because another attempt may continue from its saved
//! state. An outage therefore waits here until it is over and all of its losses are known.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use haggle_model::work::Work;
use haggle_model::{JobId, LostRun, ProcessorSet, ProviderId, Time};
use slab::Slab;

use super::{Availability, Files, MICROS};
use crate::ResultsError;
use crate::tables::OutageCells;

/// Work that was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Time of processors that one job holds, processor-microseconds.
    time: i128,
    /// Work on resources that jobs share.
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
///
/// A grid has hundreds of thousands of them: some losses are known only when the run is over. An outage
/// is therefore small, and is found by its first processor.
#[derive(Default)]
pub(super) struct Outages {
    /// Losses of the next failure of a provider's processors.
    failing: BTreeMap<ProviderId, Lost>,
    open: Slab<Outage>,
    /// For each processor, the last outage that began with it, in the run's numbering. Processors that
    /// fail together are restored together, so no other open outage begins there.
    last: Vec<Link>,
}

/// Losses with an outage.
#[derive(Default)]
struct Lost {
    /// Jobs that lost attempts, each once per attempt, in no order.
    jobs: Vec<JobId>,
    loss: Loss,
    /// Attempts whose loss is not known yet.
    unsettled: u32,
}

/// The place of an outage among the open ones.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Link(u32);

impl Link {
    const NONE: Link = Link(u32::MAX);

    fn place(self) -> Option<usize> {
        (self != Link::NONE).then_some(self.0 as usize)
    }
}

struct Outage {
    provider: ProviderId,
    failure: Time,
    processors: ProcessorSet,
    restoration: Option<Time>,
    /// Number of jobs that lost attempts.
    jobs: u32,
    /// Attempts whose loss is not known yet.
    unsettled: u32,
    /// Boxed, because mostly it is unknown or zero.
    loss: Option<Box<Loss>>,
    /// The previous outage that began with the same processor.
    before: Link,
}

impl Outages {
    pub(super) fn attempt_lost(&mut self, provider: ProviderId, job: JobId, loss: Option<Loss>) {
        // Losses are recorded before the failure itself, which collects them, see `changed`.
        let lost = self.failing.entry(provider).or_default();
        lost.jobs.push(job);
        match loss {
            Some(loss) => lost.loss += loss,
            None => lost.unsettled += 1,
        }
    }

    /// Adds a loss that is known now. `first` is the outage's first processor, in the run's numbering.
    pub(super) fn settled(
        &mut self,
        first: u32,
        failure: Time,
        loss: Loss,
        files: &mut Files,
    ) -> Result<(), ResultsError> {
        // The loss may belong to an earlier outage, since a later one may have begun with the same processor.
        let mut next = self.last.get(first as usize).copied().unwrap_or(Link::NONE);
        while let Some(place) = next.place() {
            let outage = &mut self.open[place];
            if outage.failure == failure && outage.unsettled > 0 {
                outage.unsettled -= 1;
                **outage.loss.get_or_insert_default() += loss;
                return self.write_if_whole(first, place, files);
            }
            next = outage.before;
        }
        Ok(())
    }

    /// Records a failure or repair of `processors`, in the run's numbering.
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
                if self.last.len() <= first as usize {
                    self.last.resize(first as usize + 1, Link::NONE);
                }
                let Lost { mut jobs, loss, unsettled } =
                    self.failing.remove(&provider).unwrap_or_default();
                // A job that lost several attempts counts once.
                jobs.sort_unstable();
                jobs.dedup();
                let outage = Outage {
                    provider,
                    failure: time,
                    processors,
                    restoration: None,
                    jobs: jobs.len() as u32,
                    unsettled,
                    // A box only where there is a loss: it keeps outages small.
                    loss: (loss != Loss::default()).then(|| Box::new(loss)),
                    before: self.last[first as usize],
                };
                self.last[first as usize] = Link(self.open.insert(outage) as u32);
                Ok(())
            }
            Availability::Restored => {
                let last = self.last.get(first as usize).and_then(|last| last.place());
                // A last outage that is over only waits for its losses, so this repair ends nothing.
                let Some(place) = last.filter(|&at| self.open[at].restoration.is_none()) else {
                    return Ok(());
                };
                self.open[place].restoration = Some(time);
                self.write_if_whole(first, place, files)
            }
        }
    }

    /// Writes an outage once its end and all of its losses are known.
    fn write_if_whole(
        &mut self,
        first: u32,
        place: usize,
        files: &mut Files,
    ) -> Result<(), ResultsError> {
        let outage = &self.open[place];
        if outage.restoration.is_none() || outage.unsettled > 0 {
            return Ok(());
        }
        let outage = self.open.remove(place);
        // Takes the outage out of the list of outages that began with this processor.
        let mut link = &mut self.last[first as usize];
        while let Some(other) = link.place().filter(|&other| other != place) {
            link = &mut self.open[other].before;
        }
        *link = outage.before;
        outage.write(files)
    }

    /// Writes the outages that are not over.
    pub(super) fn close(self, files: &mut Files) -> Result<(), ResultsError> {
        let mut left: Vec<Outage> = self.open.into_iter().map(|(_, outage)| outage).collect();
        // Places in the slab are used again, so they are in no order of time.
        left.sort_unstable_by_key(|it| {
            (it.provider, it.failure, it.processors.intervals().first().copied())
        });
        left.into_iter().try_for_each(|outage| outage.write(files))
    }
}

impl Outage {
    fn write(&self, files: &mut Files) -> Result<(), ResultsError> {
        let loss = self.loss.as_deref().copied().unwrap_or_default();
        let cost = loss.time as f64 / MICROS as f64 + loss.work.as_mi_f64();
        // A node's processors are adjacent, so that an outage mostly has one interval.
        files.put_all(self.processors.intervals().iter().map(|&(first, last)| OutageCells {
            provider: self.provider,
            first: i64::from(first),
            last: i64::from(last),
            failed: self.failure.as_micros(),
            restored: self.restoration.map(Time::as_micros),
            jobs_lost: i64::from(self.jobs),
            work_lost: cost,
        }))
    }
}
