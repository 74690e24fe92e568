//! An ordered index of waiting jobs that finds the next one small enough.
//!
//! Backfilling repeats one search: the next job in the queue's order that needs at most `processors` and at
//! most `span`. Jobs are kept in classes by the power of two of their width. Each class is in order, in
//! blocks that know their shortest job. A search skips classes that are too wide and blocks in which every
//! job is too long. So its cost follows the jobs that fit, not the length of the queue.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::Profile;
use crate::scheduler::{BEYOND_ALL_LIMITS, Slot};

/// Jobs in a block before it is split in two.
const BLOCK_CAPACITY: usize = 64;

/// Place of a job in the order; compared as a whole, smallest first.
pub type Key = (i64, i64, u32);

/// The key before all others.
pub const FIRST: Key = (i64::MIN, i64::MIN, 0);

/// A waiting job in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the order; unique.
    pub key: Key,
    /// The slot of the job.
    pub slot: Slot,
    /// Processors it needs.
    pub processors: u32,
    /// Time it requests.
    pub span: Span,
}

impl Entry {
    /// Returns whether it has its processors during its whole time if it starts now.
    pub fn fits(&self, profile: &Profile, now: Time) -> bool {
        profile.min_free(now, now + self.span) >= self.processors
    }
}

/// Bounds on all jobs of a block, known without examining them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Bounds {
    /// The shortest span.
    pub shortest: Span,
}

/// Size of a job that fits: at most `processors`, and at most `span` unless the job needs at most
/// `any_span_up_to` processors.
#[derive(Clone, Copy, Debug)]
pub struct Fits {
    /// Most processors.
    pub processors: u32,
    /// Longest span.
    pub span: Span,
    /// Jobs of at most this width may be of any length.
    pub any_span_up_to: u32,
}

impl Fits {
    fn admits(&self, entry: &Entry) -> bool {
        entry.processors <= self.processors
            && (entry.span <= self.span || entry.processors <= self.any_span_up_to)
    }

    /// Returns whether a class whose narrowest jobs are `narrowest` wide may hold an admitted job.
    fn may_admit(&self, narrowest: u32, bounds: &Bounds) -> bool {
        bounds.shortest <= self.span || narrowest <= self.any_span_up_to
    }
}

/// The waiting jobs of one provider in one order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Index {
    classes: Vec<Class>,
    len: usize,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Class {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Block {
    first: Key,
    bounds: Bounds,
    entries: Vec<Entry>,
}

/// The class of jobs `processors` wide: the power of two at or below it.
pub fn class_of(processors: u32) -> usize {
    processors.max(1).ilog2() as usize
}

impl Index {
    /// An empty index for jobs of up to `widest` processors.
    pub fn new(widest: u32) -> Index {
        Index { classes: vec![Class::default(); class_of(widest) + 1], len: 0 }
    }

    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a job.
    pub fn insert(&mut self, entry: Entry) {
        self.classes[class_of(entry.processors)].insert(entry);
        self.len += 1;
    }

    /// Takes the job at `key` out; `processors` is its width.
    ///
    /// # Panics
    /// If there is none: an index that disagrees with its queue is a bug.
    pub fn remove(&mut self, key: Key, processors: u32) {
        self.classes[class_of(processors)].remove(key);
        self.len -= 1;
    }

    /// The first job of the whole order.
    pub fn first(&self) -> Option<&Entry> {
        let firsts = self.classes.iter().filter_map(|class| class.blocks.first());
        firsts.map(|block| &block.entries[0]).min_by_key(|entry| entry.key)
    }

    /// The next job after `key` in `class` that `admits` accepts. Blocks whose bounds `may_admit` refuses
    /// are skipped.
    pub fn next_in_class(
        &self,
        class: usize,
        key: Key,
        may_admit: impl Fn(&Bounds) -> bool,
        admits: impl Fn(&Entry) -> bool,
    ) -> Option<&Entry> {
        self.classes[class].next(key, may_admit, admits)
    }

    /// The next job after `key` that `fits`, over all classes.
    pub fn next(&self, key: Key, fits: Fits) -> Option<&Entry> {
        let reachable = (class_of(fits.processors) + 1).min(self.classes.len());
        let next = |class: usize| {
            let narrowest = 1 << class;
            self.next_in_class(
                class,
                key,
                |bounds| fits.may_admit(narrowest, bounds),
                |entry| fits.admits(entry),
            )
        };
        (0..reachable).filter_map(next).min_by_key(|entry| entry.key)
    }

    /// The first job behind `after` that needs at most `widest` processors, and has them in `profile` during its
    /// whole time if it starts now.
    pub fn next_beside(
        &self,
        profile: &Profile,
        now: Time,
        widest: u32,
        after: Key,
    ) -> Option<&Entry> {
        let mut next: Option<&Entry> = None;
        let narrowest = (0..=class_of(widest)).map(|class| 1 << class);
        profile.reaches(now, now + Span::TICK, now, narrowest, |width, _, until| {
            // No job of this class is narrower, so none of them can be longer.
            let may_fit =
                |bounds: &Bounds| until >= BEYOND_ALL_LIMITS || bounds.shortest <= until - now;
            let fits = |entry: &Entry| entry.processors <= widest && entry.fits(profile, now);
            let found = self.next_in_class(class_of(width), after, may_fit, fits);
            next = next.into_iter().chain(found).min_by_key(|entry| entry.key);
            true
        });
        next
    }

    /// All jobs in order; sorts, so not for the hot path.
    pub fn sorted(&self) -> Vec<Entry> {
        let blocks = self.classes.iter().flat_map(|class| &class.blocks);
        let mut all: Vec<Entry> = blocks.flat_map(|block| block.entries.iter().copied()).collect();
        all.sort_unstable_by_key(|entry| entry.key);
        all
    }
}

impl Class {
    fn insert(&mut self, entry: Entry) {
        if self.blocks.is_empty() {
            self.blocks.push(Block::of(vec![entry]));
            return;
        }
        // A job before all blocks goes into the first one.
        let index = self.blocks.partition_point(|block| block.first <= entry.key).max(1) - 1;
        let block = &mut self.blocks[index];
        let at = block.entries.partition_point(|other| other.key < entry.key);
        block.entries.insert(at, entry);
        block.first = block.entries[0].key;
        block.bounds.shortest = block.bounds.shortest.min(entry.span);
        if block.entries.len() > BLOCK_CAPACITY {
            let upper = block.entries.split_off(BLOCK_CAPACITY / 2);
            block.summarise();
            self.blocks.insert(index + 1, Block::of(upper));
        }
    }

    fn remove(&mut self, key: Key) {
        let (index, at) = self.find(key);
        // The span of the removed job may have been the block's shortest.
        let block = &mut self.blocks[index];
        block.entries.remove(at);
        if block.entries.is_empty() {
            self.blocks.remove(index);
        } else {
            block.summarise();
        }
    }

    fn find(&self, key: Key) -> (usize, usize) {
        let index = self.blocks.partition_point(|block| block.first <= key) - 1;
        let at = self.blocks[index].entries.binary_search_by_key(&key, |entry| entry.key);
        (index, at.expect("a waiting job is in its index"))
    }

    fn next(
        &self,
        key: Key,
        may_admit: impl Fn(&Bounds) -> bool,
        admits: impl Fn(&Entry) -> bool,
    ) -> Option<&Entry> {
        // The block that begins before `key` may hold later jobs, too.
        let start = self.blocks.partition_point(|block| block.first <= key).saturating_sub(1);
        for (index, block) in self.blocks.iter().enumerate().skip(start) {
            if !may_admit(&block.bounds) {
                continue;
            }
            let after =
                if index == start { block.entries.partition_point(|e| e.key <= key) } else { 0 };
            if let Some(entry) = block.entries[after..].iter().find(|entry| admits(entry)) {
                return Some(entry);
            }
        }
        None
    }
}

impl Block {
    fn of(entries: Vec<Entry>) -> Block {
        let bounds = Bounds { shortest: Span::ZERO };
        let mut block = Block { first: FIRST, bounds, entries };
        block.summarise();
        block
    }

    fn summarise(&mut self) {
        self.first = self.entries[0].key;
        self.bounds = Bounds { shortest: Span::FOREVER };
        for entry in &self.entries {
            self.bounds.shortest = self.bounds.shortest.min(entry.span);
        }
    }
}
