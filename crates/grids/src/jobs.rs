//! The jobs known to a scheduler, filed by their number of replicas.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;

use haggle_model::{ByJob, JobId, Span, Time};
use smallvec::SmallVec;

use super::on_demand::OnDemand;
use super::rank_set::RankSet;
use super::resources::ResourceId;
use haggle_model::work::{Speed, Work};
use serde::{Deserialize, Serialize};

/// The order of every queue: by arrival, then by number.
pub type Turn = (Time, JobId);

/// A job that is not done, as the scheduler knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridJob {
    /// When it was submitted.
    pub arrival: Time,
    /// Its length.
    pub length: Work,
    /// Progress saved in its newest available checkpoint.
    pub saved: Work,
    /// Time since which that has been available.
    pub saved_at: Time,
    /// True if its replicas write checkpoints.
    pub checkpointing: bool,
    /// D_J: dispatches so far, without those refused.
    pub dispatches: u32,
    /// Resources with a replica, as far as the scheduler knows. Replicas that failed unnoticed are
    /// included.
    pub replicas: SmallVec<[ResourceId; 4]>,
}

impl GridJob {
    /// Its work that is not saved, in microseconds on the reference resource. Parts of work are so small
    /// that their sum over a long queue could overflow.
    fn left(&self) -> u128 {
        self.length.saturating_sub(self.saved).as_parts()
            / Speed::from_mips(1).over(Span::TICK).as_parts()
    }
}

/// All jobs. A change costs O(log n), and so does a query, except for the first one of its kind. Of a job
/// that is done, only its submission is remembered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Jobs {
    /// By number, whether a job has been submitted.
    submitted: Vec<bool>,
    /// Jobs that are not done.
    open: ByJob<GridJob>,
    /// Jobs that are not done, by number of replicas, in turn.
    shelves: Vec<BTreeSet<Turn>>,
    /// Jobs without a replica, by length.
    by_length: OnDemand<BTreeSet<(Work, Turn)>>,
    /// Jobs with more than one replica.
    replicated: OnDemand<RankSet>,
    /// Jobs with one replica that writes no checkpoints, in turn.
    bare: OnDemand<BTreeSet<Turn>>,
    /// Jobs that have changed since the last query.
    changed: OnDemand<Vec<JobId>>,
    /// Unsaved work of all jobs that are not done, in microseconds on the reference resource.
    left: OnDemand<u128>,
}

impl Jobs {
    /// A job has been submitted.
    ///
    /// # Panics
    /// If there is a job of this number.
    pub fn add(&mut self, id: JobId, arrival: Time, length: Work) {
        if id.index() >= self.submitted.len() {
            self.submitted.resize(id.index() + 1, false);
        }
        let before = std::mem::replace(&mut self.submitted[id.index()], true);
        assert!(!before, "{id} is submitted once");
        let job = GridJob {
            arrival,
            length,
            saved: Work::ZERO,
            saved_at: arrival,
            checkpointing: false,
            dispatches: 0,
            replicas: SmallVec::new(),
        };
        self.open.insert(id, job);
        self.file(id);
    }

    /// Returns whether a job has been submitted, done or not.
    pub fn has(&self, id: JobId) -> bool {
        self.submitted.get(id.index()).copied().unwrap_or(false)
    }

    /// A job that has been submitted and is not done.
    pub fn open(&self, id: JobId) -> Option<&GridJob> {
        self.open.get(id)
    }

    /// As [`Jobs::open`], of a job that is known to be open.
    ///
    /// # Panics
    /// If it has not been submitted, or is done.
    pub fn get(&self, id: JobId) -> &GridJob {
        self.open(id).unwrap_or_else(|| panic!("{id} is done or has not been submitted"))
    }

    /// All jobs that are not done, by number.
    pub fn all_open(&self) -> Vec<JobId> {
        self.open.jobs()
    }

    /// Changes a job, unless it is done; its arrival and its length must not change.
    pub fn change(&mut self, id: JobId, change: impl FnOnce(&mut GridJob)) {
        if self.open(id).is_none() {
            return;
        }
        // Before the change, because the job is filed by its present state.
        self.unfile(id);
        change(self.open.get_mut(id).expect("it was there just now"));
        self.file(id);
    }

    /// A job is done, or is no longer needed. Returns it, unless it was done already.
    pub fn close(&mut self, id: JobId) -> Option<GridJob> {
        if self.open(id).is_some() {
            self.unfile(id);
            self.changed.keep(|jobs| jobs.push(id));
        }
        self.open.remove(id)
    }

    /// A checkpoint with this progress is available from `now` on. An older checkpoint does not count, nor
    /// does one of a job that is done.
    pub fn save(&mut self, now: Time, id: JobId, progress: Work) {
        let Some(job) = self.open.get_mut(id) else { return };
        // Saved progress decides about no shelf, so the job stays filed.
        let before = job.left();
        if job.saved < progress {
            (job.saved, job.saved_at) = (progress, now);
        }
        // Of the rounded values, so that the sum stays that of all jobs.
        let gained = before - job.left();
        self.left.keep(|left| *left -= gained);
        self.changed.keep(|jobs| jobs.push(id));
    }

    /// Jobs that were submitted or have changed since the last call, by number; the first call returns all
    /// waiting jobs.
    pub fn take_changed(&mut self) -> Vec<JobId> {
        // The first call creates the list; only from then on are changes recorded.
        self.changed.get(|| self.shelf(0).map(|(_, job)| job).collect());
        let mut jobs = Vec::new();
        self.changed.keep(|changed| std::mem::swap(&mut jobs, changed));
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// Returns whether a job has been submitted, is not done and has no replica.
    pub fn waits(&self, id: JobId) -> bool {
        self.open(id).is_some_and(|job| job.replicas.is_empty())
    }

    /// The first job in turn after `after` that is not done and has fewer than `replicas`.
    pub fn next_below(&self, replicas: u32, after: Option<Turn>) -> Option<Turn> {
        self.next_of(0, replicas as usize, after)
    }

    /// The first job in turn after `after` that is not done and has exactly `replicas`.
    pub fn next_with(&self, replicas: u32, after: Option<Turn>) -> Option<Turn> {
        self.next_of(replicas as usize, replicas as usize + 1, after)
    }

    /// The first job in turn after `after` that is not done and has at least `replicas`.
    pub fn next_from(&self, replicas: u32, after: Option<Turn>) -> Option<Turn> {
        self.next_of(replicas as usize, usize::MAX, after)
    }

    /// The first job in turn after `after` with one replica that writes no checkpoints.
    pub fn next_bare(&self, after: Option<Turn>) -> Option<Turn> {
        let is_bare = |turn: &Turn| !self.get(turn.1).checkpointing;
        next(self.bare.get(|| self.shelf(1).filter(is_bare).collect()), after)
    }

    /// The longest job without a replica; among equal ones the first in turn.
    pub fn longest(&self) -> Option<Turn> {
        let &(length, _) = self.by_length().last()?;
        // Of the longest jobs the first in turn, which is not the last of the set.
        self.by_length().range((length, (Time::PAST, JobId(0)))..).next().map(|&(_, turn)| turn)
    }

    /// The shortest job without a replica; among equal ones the first in turn.
    pub fn shortest(&self) -> Option<Turn> {
        self.by_length().first().map(|&(_, turn)| turn)
    }

    fn by_length(&self) -> &BTreeSet<(Work, Turn)> {
        let waiting = self.shelf(0).map(|turn| (self.get(turn.1).length, turn));
        self.by_length.get(|| waiting.collect())
    }

    /// A job with more than one replica, drawn uniformly.
    pub fn any_replicated(&self, draw: &mut dyn FnMut(usize) -> usize) -> Option<JobId> {
        let replicated = self.replicated.get(|| {
            let mut jobs = RankSet::default();
            (2..self.shelves.len()).flat_map(|replicas| self.shelf(replicas)).for_each(|turn| {
                jobs.insert(turn.1.0);
            });
            jobs
        });
        replicated.draw_except([], draw).map(JobId)
    }

    /// Jobs that are not done and have no replica.
    pub fn waiting(&self) -> usize {
        self.shelves.first().map_or(0, BTreeSet::len)
    }

    /// Unsaved work of all jobs that are not done, with the lengths that users gave. Progress of replicas
    /// beyond their checkpoints is unknown. Microseconds on the reference resource.
    pub fn work_left(&self) -> u128 {
        *self.left.get(|| self.open.values().map(GridJob::left).sum())
    }

    /// Jobs that are not done and have exactly `replicas`, in turn.
    pub fn shelf(&self, replicas: usize) -> impl Iterator<Item = Turn> {
        self.shelves.get(replicas).into_iter().flatten().copied()
    }

    fn next_of(&self, from: usize, to: usize, after: Option<Turn>) -> Option<Turn> {
        let to = to.min(self.shelves.len());
        let shelves = self.shelves.get(from..to).unwrap_or_default();
        // The first of each shelf, and of these the first in turn.
        shelves.iter().filter_map(|shelf| next(shelf, after)).min()
    }

    fn file(&mut self, id: JobId) {
        self.changed.keep(|jobs| jobs.push(id));
        let job = self.open.get(id).expect("the caller has looked");
        let (turn, replicas) = ((job.arrival, id), job.replicas.len());
        if replicas >= self.shelves.len() {
            self.shelves.resize_with(replicas + 1, BTreeSet::new);
        }
        self.shelves[replicas].insert(turn);
        let left = job.left();
        self.left.keep(|all| *all += left);
        match replicas {
            0 => self.by_length.keep(|jobs| _ = jobs.insert((job.length, turn))),
            // Only jobs without checkpoints are looked for, so the others are not filed.
            1 if job.checkpointing => {}
            1 => self.bare.keep(|jobs| _ = jobs.insert(turn)),
            _ => self.replicated.keep(|jobs| _ = jobs.insert(id.0)),
        }
    }

    fn unfile(&mut self, id: JobId) {
        let job = self.open.get(id).expect("the caller has looked");
        let (turn, replicas, length) = ((job.arrival, id), job.replicas.len(), job.length);
        let left = job.left();
        self.left.keep(|all| *all -= left);
        self.shelves[replicas].remove(&turn);
        match replicas {
            0 => self.by_length.keep(|jobs| _ = jobs.remove(&(length, turn))),
            // No effect on a job with checkpoints, which is not filed here.
            1 => self.bare.keep(|jobs| _ = jobs.remove(&turn)),
            _ => self.replicated.keep(|jobs| _ = jobs.remove(id.0)),
        }
    }
}

fn next(set: &BTreeSet<Turn>, after: Option<Turn>) -> Option<Turn> {
    let from = after.map_or(Bound::Unbounded, Bound::Excluded);
    set.range((from, Bound::Unbounded)).next().copied()
}

/// The most advanced replica of a job; among equal ones the one named first.
pub(crate) fn most_advanced(
    job: &GridJob,
    progress: impl Fn(ResourceId) -> Work,
) -> Option<ResourceId> {
    job.replicas.iter().copied().max_by_key(|&resource| (progress(resource), Reverse(resource)))
}
