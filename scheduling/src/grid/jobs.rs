//! The jobs as a scheduler knows them, filed by how many replicas they have.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;

use haggle_model::{JobId, Time};

use super::rank_set::RankSet;
use super::resources::ResourceId;
use haggle_model::work::Work;

/// The order of every queue: by arrival, then by number.
pub type Turn = (Time, JobId);

/// What is known of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridJob {
    /// When it was submitted.
    pub arrival: Time,
    /// Its length.
    pub length: Work,
    /// What its newest available checkpoint holds.
    pub saved: Work,
    /// Whether its replicas write checkpoints.
    pub checkpointing: bool,
    /// D_J: dispatches so far, without those refused.
    pub dispatches: u32,
    /// Where it has replicas, as far as the scheduler knows: those that died
    /// unnoticed are among them.
    pub replicas: Vec<ResourceId>,
    /// Whether it is completed.
    pub done: bool,
}

/// All jobs. A change costs O(log n), and so do the answers.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    all: Vec<Option<GridJob>>,
    /// Jobs that are not done, by number of replicas, in turn.
    shelves: Vec<BTreeSet<Turn>>,
    /// Jobs without a replica, by length.
    by_length: BTreeSet<(Work, Turn)>,
    /// Jobs with more than one replica.
    replicated: RankSet,
    /// Jobs with one replica that writes no checkpoints, in turn.
    bare: BTreeSet<Turn>,
}

impl Jobs {
    /// A job has been submitted.
    ///
    /// # Panics
    /// If there is one of this number.
    pub fn add(&mut self, id: JobId, arrival: Time, length: Work) {
        if id.index() >= self.all.len() {
            self.all.resize(id.index() + 1, None);
        }
        let job = GridJob {
            arrival,
            length,
            saved: Work::ZERO,
            checkpointing: false,
            dispatches: 0,
            replicas: Vec::new(),
            done: false,
        };
        let before = self.all[id.index()].replace(job);
        assert!(before.is_none(), "{id} is submitted once");
        self.file(id);
    }

    /// A job that has been submitted.
    ///
    /// # Panics
    /// If it has not.
    pub fn get(&self, id: JobId) -> &GridJob {
        let job = self.all.get(id.index()).and_then(Option::as_ref);
        job.unwrap_or_else(|| panic!("{id} has not been submitted"))
    }

    /// Changes a job; its arrival and its length stay.
    pub fn change(&mut self, id: JobId, change: impl FnOnce(&mut GridJob)) {
        self.unfile(id);
        change(self.all[id.index()].as_mut().expect("it was there just now"));
        self.file(id);
    }

    /// A checkpoint with this progress is available; an older one does not count.
    pub fn save(&mut self, id: JobId, progress: Work) {
        let job = self.all[id.index()].as_mut().expect("what saves was submitted");
        job.saved = job.saved.max(progress);
    }

    /// How many have been submitted, if their numbers are dense.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether none has been submitted.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The first job in turn after `after` that is not done and has fewer than `replicas`.
    pub fn next_below(&self, replicas: u32, after: Option<Turn>) -> Option<Turn> {
        self.next_of(0, replicas as usize, after)
    }

    /// The first job in turn after `after` that is not done and has so many replicas.
    pub fn next_with(&self, replicas: u32, after: Option<Turn>) -> Option<Turn> {
        self.next_of(replicas as usize, replicas as usize + 1, after)
    }

    /// The first job in turn after `after` that is not done and has at least so many replicas.
    pub fn next_from(&self, replicas: u32, after: Option<Turn>) -> Option<Turn> {
        self.next_of(replicas as usize, usize::MAX, after)
    }

    /// The first job in turn after `after` with one replica that writes no checkpoints.
    pub fn next_bare(&self, after: Option<Turn>) -> Option<Turn> {
        next(&self.bare, after)
    }

    /// The longest job without a replica, the first in turn of those.
    pub fn longest(&self) -> Option<Turn> {
        let &(length, _) = self.by_length.last()?;
        self.by_length.range((length, (Time::ZERO, JobId(0)))..).next().map(|&(_, turn)| turn)
    }

    /// The shortest job without a replica, the first in turn of those.
    pub fn shortest(&self) -> Option<Turn> {
        self.by_length.first().map(|&(_, turn)| turn)
    }

    /// A job with more than one replica, drawn uniformly.
    pub fn any_replicated(&self, draw: &mut dyn FnMut(usize) -> usize) -> Option<JobId> {
        self.replicated.draw_except([], draw).map(JobId)
    }

    /// Jobs that are not done and have no replica.
    pub fn waiting(&self) -> usize {
        self.shelves.first().map_or(0, BTreeSet::len)
    }

    fn next_of(&self, from: usize, to: usize, after: Option<Turn>) -> Option<Turn> {
        let to = to.min(self.shelves.len());
        let shelves = self.shelves.get(from..to).unwrap_or_default();
        shelves.iter().filter_map(|shelf| next(shelf, after)).min()
    }

    fn file(&mut self, id: JobId) {
        let job = self.all[id.index()].as_ref().expect("it was there just now");
        if job.done {
            return;
        }
        let (turn, replicas) = ((job.arrival, id), job.replicas.len());
        if replicas >= self.shelves.len() {
            self.shelves.resize_with(replicas + 1, BTreeSet::new);
        }
        self.shelves[replicas].insert(turn);
        match replicas {
            0 => {
                self.by_length.insert((job.length, turn));
            }
            1 if !job.checkpointing => {
                self.bare.insert(turn);
            }
            1 => {}
            _ => {
                self.replicated.insert(id.0);
            }
        }
    }

    fn unfile(&mut self, id: JobId) {
        let job = self.get(id);
        if job.done {
            return;
        }
        let (turn, replicas, length) = ((job.arrival, id), job.replicas.len(), job.length);
        self.shelves[replicas].remove(&turn);
        match replicas {
            0 => {
                self.by_length.remove(&(length, turn));
            }
            1 => {
                self.bare.remove(&turn);
            }
            _ => {
                self.replicated.remove(id.0);
            }
        }
    }
}

fn next(set: &BTreeSet<Turn>, after: Option<Turn>) -> Option<Turn> {
    let from = after.map_or(Bound::Unbounded, Bound::Excluded);
    set.range((from, Bound::Unbounded)).next().copied()
}

/// The most advanced of a job's replicas, then the one named first.
pub(crate) fn most_advanced(
    job: &GridJob,
    progress: impl Fn(ResourceId) -> Work,
) -> Option<ResourceId> {
    job.replicas.iter().copied().max_by_key(|&resource| (progress(resource), Reverse(resource)))
}
