//! The availability profile: how many processors are free, from now to forever.
//!
//! A step function `time -> free processors`, kept as breakpoints in blocks of
//! a few dozen. Each block knows the smallest and the largest value in it. So a
//! search skips whole blocks that are too full, or that have enough free
//! processors throughout:
//!
//! ```text
//! blocks   [first, min, max]   [first, min, max]   [first, min, max]
//!            |                   |                   |
//! times    0  4  9 12          20 25 31 40         55 60 71 90 -> forever
//! free     3  0  2  1           0  0  1  0          4  8  2 16
//! ```
//!
//! With n breakpoints a change costs O(√n) in practice, a search O(blocks +
//! breakpoints examined). The obvious version, one sorted vector, is the
//! oracle of the tests.

use std::cell::Cell;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

/// Breakpoints in a block before it is split in two.
const BLOCK_CAPACITY: usize = 32;

/// The availability of one machine over time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profile {
    capacity: i32,
    /// Parallel to `blocks`; kept apart so that a search reads nothing else.
    summaries: Vec<Summary>,
    /// Never empty; each block holds at least one breakpoint.
    blocks: Vec<Block>,
    /// The block found last; as a rule the next search ends in it, too.
    finger: Cell<usize>,
    /// The stretch outside which nothing has changed since the last [`Profile::take_changed`].
    changed: Option<(i64, i64)>,
    /// Number of blocks that searches have examined.
    #[cfg(test)]
    looks: Cell<u64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Summary {
    first: i64,
    min: i32,
    max: i32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Block {
    times: Vec<i64>,
    /// Free processors from `times[i]` on, less `pending`.
    free: Vec<i32>,
    /// To be added to every value of `free`: changes that covered the whole block.
    pending: i32,
    /// True if its summary dates from before the present change.
    changed: bool,
}

/// A place for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// When it would start.
    pub start: Time,
    /// Processors that are free there during the whole stay.
    pub free: u32,
}

impl Fit {
    fn new(start: i64, free: i32) -> Fit {
        Fit { start: Time::from_micros(start), free: free.max(0) as u32 }
    }
}

/// A place in the profile: block and breakpoint inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    block: usize,
    entry: usize,
}

/// Splits off the values from `half` on, with capacity for a full block.
fn upper<T>(values: &mut Vec<T>, half: usize) -> Vec<T> {
    let mut upper = Vec::with_capacity(2 * BLOCK_CAPACITY);
    upper.extend(values.drain(half..));
    upper
}

impl Profile {
    /// A machine of `capacity` processors, all free for ever.
    ///
    /// # Panics
    /// If `capacity` is over 2^31 - 1.
    pub fn new(capacity: u32) -> Profile {
        let capacity = i32::try_from(capacity).expect("a machine has fewer than 2^31 processors");
        let block =
            Block { times: vec![i64::MIN], free: vec![capacity], pending: 0, changed: false };
        Profile {
            capacity,
            summaries: vec![Summary { first: i64::MIN, min: capacity, max: capacity }],
            blocks: vec![block],
            finger: Cell::new(0),
            changed: None,
            #[cfg(test)]
            looks: Cell::new(0),
        }
    }

    /// Counts a block that a search examines, in tests.
    fn look(&self) {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
    }

    /// Number of blocks that searches have examined.
    #[cfg(test)]
    pub(crate) fn looks(&self) -> u64 {
        self.looks.get()
    }

    /// An empty course, with no free processors, to which others can be added.
    pub(crate) fn of_none() -> Profile {
        let mut profile = Profile::new(i32::MAX as u32);
        profile.blocks[0].free[0] = 0;
        profile.summarise(0);
        profile
    }

    /// Processors of the machine.
    pub fn capacity(&self) -> u32 {
        self.capacity as u32
    }

    /// Number of breakpoints.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.times.len()).sum()
    }

    /// Returns whether nothing is booked.
    pub fn is_empty(&self) -> bool {
        self.len() == 1 && self.summaries[0].min == self.capacity
    }

    /// Books `processors` during `[start, end)`; an end at [`Time::FOREVER`] or
    /// later means that they never come back.
    ///
    /// The caller makes sure that they are free; the check is a debug assertion.
    pub fn add(&mut self, start: Time, end: Time, processors: u32) {
        self.change(start.as_micros(), end.as_micros(), -(processors as i32));
    }

    /// Books `processors` during `[start, end)` if they are free; otherwise returns `false`.
    pub fn add_if_free(&mut self, start: Time, end: Time, processors: u32) -> bool {
        let are_free = processors <= self.min_free(start, end);
        if are_free {
            self.add(start, end, processors);
        }
        are_free
    }

    /// Gives back `processors` during `[start, end)`.
    pub fn remove(&mut self, start: Time, end: Time, processors: u32) {
        self.change(start.as_micros(), end.as_micros(), processors as i32);
    }

    /// Books and gives back together. Each bend (time, by) adds `by` to the free
    /// processors from its time on. The times ascend, and the sum of all `by` is
    /// zero.
    pub fn change_course(&mut self, bends: impl Iterator<Item = (Time, i32)>) {
        self.bend(bends.map(|(time, by)| (time.as_micros(), by)));
    }

    /// Cuts the time `[start, end)` out: all later breakpoints become earlier by its length.
    pub fn cut(&mut self, start: Time, end: Time) {
        let (start, end) = (start.as_micros(), end.as_micros());
        if start >= end {
            return;
        }
        self.note_change(start, i64::MAX);
        let (from, to) = (self.find(start), self.find(end));
        let free = self.value(to);
        let kept = from.entry + usize::from(self.blocks[from.block].times[from.entry] < start);
        let mut behind = to.entry + 1;
        for block in &mut self.blocks[to.block..] {
            block.times[behind..].iter_mut().for_each(|time| *time -= end - start);
            behind = 0;
        }
        for summary in &mut self.summaries[to.block + 1..] {
            summary.first -= end - start;
        }
        let last = &mut self.blocks[to.block];
        let gone = if from.block == to.block { kept } else { 0 }..=to.entry;
        last.times.drain(gone.clone());
        last.free.drain(gone);
        if from.block < to.block {
            let first = &mut self.blocks[from.block];
            first.times.truncate(kept);
            first.free.truncate(kept);
        }
        let place = Place { block: from.block, entry: kept };
        // No breakpoint between equal values.
        if self.value_before(place) != Some(free) {
            let block = &mut self.blocks[from.block];
            block.times.insert(kept, start);
            block.free.insert(kept, free - block.pending);
        }
        if from.block < to.block {
            // The last block first, so that the indices before it stay valid.
            self.tidy(to.block);
            self.blocks.drain(from.block + 1..to.block);
            self.summaries.drain(from.block + 1..to.block);
        }
        self.tidy(from.block);
    }

    /// Free processors at `time`.
    pub fn free_at(&self, time: Time) -> u32 {
        let place = self.find(time.as_micros());
        self.value(place).max(0) as u32
    }

    /// The first instant from `from` on at which a processor is free;
    /// [`Time::FOREVER`] if there is none.
    pub fn first_free(&self, from: Time) -> Time {
        self.earliest_fit(1, Span::TICK, from).unwrap_or(Time::FOREVER)
    }

    /// Fewest and most free processors during `[start, end)`, which is not empty.
    pub fn bounds(&self, start: Time, end: Time) -> (u32, u32) {
        let (mut min, mut max) = (self.capacity, 0);
        self.visit(start.as_micros(), end.as_micros(), |low, high| {
            min = min.min(low);
            max = max.max(high);
        });
        (min.max(0) as u32, max as u32)
    }

    /// Fewest free processors during `[start, end)`; the capacity if that is empty.
    pub fn min_free(&self, start: Time, end: Time) -> u32 {
        let mut min = self.capacity;
        self.visit(start.as_micros(), end.as_micros(), |low, _| min = min.min(low));
        min.max(0) as u32
    }

    /// Earliest start at `from` or later for `processors` during `span`; `None`
    /// if there is none because the machine is too small or booked for ever.
    ///
    /// Only `from` and the breakpoints after it need to be tried, for free
    /// capacity can rise at a breakpoint only.
    pub fn earliest_fit(&self, processors: u32, span: Span, from: Time) -> Option<Time> {
        self.search(processors, span, from, Time::FOREVER, i64::MAX).map(|fit| fit.start)
    }

    /// As [`Profile::earliest_fit`], if it starts by `latest`.
    pub fn earliest_fit_by(
        &self,
        processors: u32,
        span: Span,
        from: Time,
        latest: Time,
    ) -> Option<Time> {
        self.search(processors, span, from, latest, i64::MAX).map(|fit| fit.start)
    }

    /// As [`Profile::earliest_fit`], but [`Time::FOREVER`] where the machine is large enough and jobs
    /// without a limit hold it for ever.
    pub fn earliest_or_never(&self, processors: u32, span: Span, from: Time) -> Option<Time> {
        let large_enough = processors <= self.capacity();
        let never = large_enough.then_some(Time::FOREVER);
        self.earliest_fit(processors, span, from).or(never)
    }

    /// Earliest start in `[from, booked)` for a job that is booked here at
    /// `booked` with the same `processors` and `span`. Also the processors that
    /// are free there until `booked` or its end.
    ///
    /// From `booked` on the job can use its own place, so only the time before it must be free. The job
    /// need not be taken out to find that it cannot move.
    pub fn earlier_fit(
        &self,
        processors: u32,
        span: Span,
        from: Time,
        booked: Time,
    ) -> Option<Fit> {
        self.search(processors, span, from, booked - Span::TICK, booked.as_micros())
    }

    /// Returns whether `processors` are free for `span`, or until `end` if that is earlier, from a start between
    /// `from` and `latest`.
    pub(crate) fn fits_by(
        &self,
        processors: u32,
        span: Span,
        from: Time,
        latest: Time,
        end: Time,
    ) -> bool {
        self.search(processors, span, from, latest, end.as_micros()).is_some()
    }

    fn search(
        &self,
        processors: u32,
        span: Span,
        from: Time,
        latest: Time,
        own_place: i64,
    ) -> Option<Fit> {
        let wanted = i32::try_from(processors).ok()?;
        let (from, span, latest) = (from.as_micros(), span.as_micros(), latest.as_micros());
        let mut place = self.find(from);
        loop {
            place = self.next_free(wanted, place)?;
            let start = self.blocks[place.block].times[place.entry].max(from);
            if start > latest {
                return None;
            }
            // Behind its own place the job needs no other processors.
            match self.fewest_until(wanted, place, own_place.min(start.saturating_add(span))) {
                Ok(free) => return Some(Fit::new(start, free)),
                Err(full) => place = full,
            }
        }
    }

    /// The first step from `place` on with at least `wanted` free.
    fn next_free(&self, wanted: i32, place: Place) -> Option<Place> {
        let mut first = place.entry;
        for index in place.block..self.blocks.len() {
            self.look();
            if self.summaries[index].max >= wanted {
                let block = &self.blocks[index];
                let threshold = wanted - block.pending;
                let found = block.free[first..].iter().position(|&free| free >= threshold);
                if let Some(at) = found {
                    return Some(Place { block: index, entry: first + at });
                }
            }
            first = 0;
        }
        None
    }

    /// Fewest free processors from `place` until `end`, or the first step with fewer than `wanted`.
    fn fewest_until(&self, wanted: i32, place: Place, end: i64) -> Result<i32, Place> {
        let mut fewest = i32::MAX;
        let mut first = place.entry;
        for index in place.block..self.blocks.len() {
            self.look();
            let summary = self.summaries[index];
            if summary.first >= end && first == 0 {
                break;
            }
            let following = self.summaries.get(index + 1);
            // A block that ends by `end` is judged by its summary alone.
            let whole = first == 0 && following.is_some_and(|following| following.first <= end);
            if whole && summary.min >= wanted {
                fewest = fewest.min(summary.min);
                continue;
            }
            let block = &self.blocks[index];
            let threshold = wanted - block.pending;
            let steps = block.times[first..].iter().zip(&block.free[first..]);
            for (at, (&time, &free)) in steps.enumerate() {
                // The first step covers the beginning however early it starts.
                if time >= end && (index, at) != (place.block, 0) {
                    return Ok(fewest);
                }
                if free < threshold {
                    return Err(Place { block: index, entry: first + at });
                }
                fewest = fewest.min(free + block.pending);
            }
            first = 0;
        }
        Ok(fewest)
    }

    /// The hull of all stretches that touch `[start, end)` and in which at
    /// least `processors` are free all the time, cut off at `from`. `None` if
    /// there is no such stretch.
    ///
    /// If `[start, end)` has just been given back, a job of that width can profit from it inside this hull
    /// only.
    pub fn reach(
        &self,
        processors: u32,
        start: Time,
        end: Time,
        from: Time,
    ) -> Option<(Time, Time)> {
        let mut hull = None;
        self.reaches(start, end, from, [processors], |_, left, right| {
            hull = Some((left, right));
            true
        });
        hull
    }

    /// [`Profile::reach`] for several widths, in ascending order. Calls `see(width, left, right)` for each
    /// width that has a hull, until `see` returns `false`. `[start, end)` is not empty.
    pub(crate) fn reaches(
        &self,
        start: Time,
        end: Time,
        from: Time,
        widths: impl IntoIterator<Item = u32>,
        mut see: impl FnMut(u32, Time, Time) -> bool,
    ) {
        let mut first = self.find(start.as_micros());
        let mut last = self.find(end.as_micros() - 1);
        for width in widths {
            let Ok(wanted) = i32::try_from(width) else { return };
            // Too few processors for one width are too few for all wider ones.
            match self.next_free(wanted, first) {
                Some(place) if place <= last => first = place,
                _ => return,
            }
            last = self.last_free(wanted, last);
            let left = self.extend_left(wanted, first, from.as_micros()).max(from.as_micros());
            let right = self.extend_right(wanted, last);
            if left < right && !see(width, Time::from_micros(left), Time::from_micros(right)) {
                return;
            }
        }
    }

    /// Calls `see(left, right)` for all stretches in which at least `processors` are free and which
    /// touch `[start, end)`, which is not empty, cut off at `from`.
    pub(crate) fn stretches(
        &self,
        processors: u32,
        start: Time,
        end: Time,
        from: Time,
        mut see: impl FnMut(Time, Time),
    ) {
        let Ok(wanted) = i32::try_from(processors) else { return };
        let (end, from) = (end.as_micros(), from.as_micros());
        let mut next = self.next_free(wanted, self.find(start.as_micros()));
        while let Some(place) = next
            && self.blocks[place.block].times[place.entry] < end
        {
            let left = self.extend_left(wanted, place, from).max(from);
            let right = self.extend_right(wanted, place);
            if left < right {
                see(Time::from_micros(left), Time::from_micros(right));
            }
            if right >= end {
                return;
            }
            next = self.next_free(wanted, self.find(right));
        }
    }

    /// The last step up to `place` with at least `wanted` free; there must be one.
    fn last_free(&self, wanted: i32, place: Place) -> Place {
        let mut behind = place.entry + 1;
        for index in (0..=place.block).rev() {
            let block = &self.blocks[index];
            if self.summaries[index].max >= wanted {
                let threshold = wanted - block.pending;
                let found = block.free[..behind].iter().rposition(|&free| free >= threshold);
                if let Some(entry) = found {
                    return Place { block: index, entry };
                }
            }
            behind = index.checked_sub(1).map_or(0, |before| self.blocks[before].free.len());
        }
        place
    }

    fn extend_left(&self, wanted: i32, place: Place, from: i64) -> i64 {
        let mut time = self.blocks[place.block].times[place.entry];
        let mut entry = place.entry;
        for index in (0..=place.block).rev() {
            // The stretch is cut off there, so the time before does not matter.
            if time <= from {
                break;
            }
            let block = &self.blocks[index];
            if index < place.block {
                if self.summaries[index].min >= wanted {
                    time = self.summaries[index].first;
                    continue;
                }
                entry = block.times.len();
            }
            let threshold = wanted - block.pending;
            for i in (0..entry).rev() {
                if block.free[i] < threshold {
                    return time;
                }
                time = block.times[i];
            }
        }
        time
    }

    fn extend_right(&self, wanted: i32, place: Place) -> i64 {
        let mut entry = place.entry + 1;
        for index in place.block..self.blocks.len() {
            if index > place.block && self.summaries[index].min >= wanted {
                continue;
            }
            let block = &self.blocks[index];
            let threshold = wanted - block.pending;
            for i in entry..block.times.len() {
                if block.free[i] < threshold {
                    return block.times[i];
                }
            }
            entry = 0;
        }
        Time::FOREVER.as_micros()
    }

    /// Forgets the steps that end at or before `now`.
    pub fn forget_before(&mut self, now: Time) {
        let place = self.find(now.as_micros());
        if place == (Place { block: 0, entry: 0 }) {
            return;
        }
        if place.block > 0 {
            self.blocks.drain(..place.block);
            self.summaries.drain(..place.block);
        }
        if place.entry > 0 {
            let block = &mut self.blocks[0];
            block.times.drain(..place.entry);
            block.free.drain(..place.entry);
        }
        // The oldest step stands for all time before it.
        self.blocks[0].times[0] = i64::MIN;
        self.summarise(0);
    }

    /// The stretch outside which nothing has changed since the last call.
    pub fn take_changed(&mut self) -> Option<(Time, Time)> {
        let (start, end) = self.changed.take()?;
        Some((Time::from_micros(start), Time::from_micros(end)))
    }

    fn note_change(&mut self, start: i64, end: i64) {
        let (from, to) = self.changed.get_or_insert((start, end));
        (*from, *to) = (start.min(*from), end.max(*to));
    }

    /// The steps as (start, free processors), oldest first; for pictures and tests.
    pub fn steps(&self) -> impl Iterator<Item = (Time, u32)> + '_ {
        self.steps_from(Time::from_micros(i64::MIN))
    }

    /// As [`Profile::steps`], from the one that covers `time` on.
    pub fn steps_from(&self, time: Time) -> impl Iterator<Item = (Time, u32)> + '_ {
        let Place { block, mut entry } = self.find(time.as_micros());
        self.blocks[block..].iter().flat_map(move |block| {
            let first = std::mem::take(&mut entry);
            let steps = block.times[first..].iter().zip(&block.free[first..]);
            steps.map(|(&time, &free)| {
                (Time::from_micros(time), (free + block.pending).max(0) as u32)
            })
        })
    }

    /// The first breakpoint after a time.
    pub(crate) fn next_step(&self, after: Time) -> Option<Time> {
        let Place { block, entry } = self.find(after.as_micros());
        let next = self.blocks[block].times.get(entry + 1);
        let next = next.or_else(|| self.blocks.get(block + 1)?.times.first());
        next.map(|&time| Time::from_micros(time))
    }

    /// Start of the time during which `processors` are free until `time`, cut off at `from`; `None` if they
    /// are not free just before `time`.
    pub(crate) fn free_since(&self, processors: u32, time: Time, from: Time) -> Option<Time> {
        let wanted = i32::try_from(processors).ok()?;
        let place = self.find(time.as_micros() - 1);
        if time <= from || self.value(place) < wanted {
            return None;
        }
        let since = self.extend_left(wanted, place, from.as_micros());
        Some(Time::from_micros(since).max(from))
    }

    /// Calls `see(min, max)` for pieces that together cover `[start, end)`.
    fn visit(&self, start: i64, end: i64, mut see: impl FnMut(i32, i32)) {
        if start >= end {
            return;
        }
        let from = self.find(start);
        let mut entry = from.entry;
        for index in from.block..self.blocks.len() {
            let summary = self.summaries[index];
            if entry == 0 && summary.first >= end {
                return;
            }
            let whole = entry == 0
                && self.summaries.get(index + 1).is_some_and(|following| following.first <= end);
            if whole {
                see(summary.min, summary.max);
                continue;
            }
            let block = &self.blocks[index];
            for i in entry..block.times.len() {
                if block.times[i] >= end {
                    return;
                }
                let free = block.free[i] + block.pending;
                see(free, free);
            }
            entry = 0;
        }
    }

    /// Adds `delta` to the free processors from `start` until `end`.
    fn change(&mut self, start: i64, end: i64, delta: i32) {
        let end = end.min(Time::FOREVER.as_micros());
        if start < end && delta != 0 {
            self.bend([(start, delta), (end, -delta)].into_iter());
        }
    }

    /// As [`Profile::change_course`]; blocks are tidied once in the end.
    fn bend(&mut self, bends: impl Iterator<Item = (i64, i32)>) {
        let mut bends = bends.peekable();
        let Some(&(start, _)) = bends.peek() else { return };
        let Place { block: first, mut entry } = self.find(start);
        let (mut index, mut delta) = (first, 0);
        let mut end = start;
        for (time, by) in bends {
            end = time;
            debug_assert_ne!(by, 0, "no bend");
            while self.summaries.get(index + 1).is_some_and(|following| following.first <= time) {
                self.change_to_end(index, entry, delta);
                (index, entry) = (index + 1, 0);
            }
            // The next bend is near as a rule: bookings are short beside the profile.
            let block = &mut self.blocks[index];
            while entry < block.times.len() && block.times[entry] < time {
                block.free[entry] += delta;
                entry += 1;
            }
            block.changed = true;
            // No breakpoint at the end of all time: nothing is given back there.
            if time < Time::FOREVER.as_micros() {
                self.bend_at(Place { block: index, entry }, time, delta, by);
            }
            delta += by;
        }
        self.note_change(start, end);
        // From the last block to the first: tidying a block changes the indices behind it.
        for index in (first..=index).rev() {
            if std::mem::take(&mut self.blocks[index].changed) {
                self.tidy(index);
            }
        }
    }

    /// Turns a change of `delta` into one of `delta + by` at `time`. `place` is the first breakpoint at
    /// `time` or later, and all steps before it have changed. If the steps on both sides of `time` become
    /// equal, the breakpoint is removed.
    fn bend_at(&mut self, place: Place, time: i64, delta: i32, by: i32) {
        let before = self.value_before(place);
        let Block { times, free, pending, .. } = &mut self.blocks[place.block];
        if times.get(place.entry) != Some(&time) {
            let before = before.expect("the first breakpoint is before all time");
            times.insert(place.entry, time);
            free.insert(place.entry, before - delta - *pending);
        } else if before == Some(free[place.entry] + *pending + delta + by) {
            times.remove(place.entry);
            free.remove(place.entry);
        }
    }

    /// Changes all steps of a block from `entry` on.
    fn change_to_end(&mut self, index: usize, entry: usize, delta: i32) {
        let block = &mut self.blocks[index];
        if entry == 0 {
            // A change of a whole block is only noted.
            block.pending += delta;
            let summary = &mut self.summaries[index];
            summary.min += delta;
            summary.max += delta;
        } else {
            for free in &mut block.free[entry..] {
                *free += delta;
            }
        }
    }

    /// Brings a block that has changed back to a size between the bounds, and sums it up.
    fn tidy(&mut self, index: usize) {
        let block = &mut self.blocks[index];
        if block.times.is_empty() {
            self.blocks.remove(index);
            self.summaries.remove(index);
            return;
        }
        if block.times.len() <= BLOCK_CAPACITY {
            self.merge_small(index);
        }
        while let block = &mut self.blocks[index]
            && block.times.len() > BLOCK_CAPACITY
        {
            let half = block.times.len() - BLOCK_CAPACITY / 2;
            let upper = Block {
                times: upper(&mut block.times, half),
                free: upper(&mut block.free, half),
                ..*block
            };
            self.blocks.insert(index + 1, upper);
            self.summaries.insert(index + 1, Summary { first: 0, min: 0, max: 0 });
            self.summarise(index + 1);
        }
        self.summarise(index);
    }

    /// Value of the step before the one at `place`.
    fn value_before(&self, place: Place) -> Option<i32> {
        let block = &self.blocks[place.block];
        match place.entry.checked_sub(1) {
            Some(entry) => Some(block.free[entry] + block.pending),
            // Blocks may be empty before they are tidied.
            None => self.blocks[..place.block]
                .iter()
                .rev()
                .find_map(|block| block.free.last().map(|free| free + block.pending)),
        }
    }

    /// Joins a block that has become small with the one behind it, so that the
    /// number of blocks follows the number of breakpoints down again.
    fn merge_small(&mut self, index: usize) {
        let Some(following) = self.blocks.get(index + 1) else {
            return;
        };
        if self.blocks[index].times.len() + following.times.len() > BLOCK_CAPACITY / 2 {
            return;
        }
        let upper = self.blocks.remove(index + 1);
        self.summaries.remove(index + 1);
        let block = &mut self.blocks[index];
        let shift = upper.pending - block.pending;
        block.times.extend(upper.times);
        block.free.extend(upper.free.iter().map(|free| free + shift));
    }

    fn summarise(&mut self, index: usize) {
        let block = &self.blocks[index];
        let mut min = i32::MAX;
        let mut max = i32::MIN;
        // `free` of a block excludes its `pending`, so the other block's values are converted to this
        // one's.
        for &free in &block.free {
            min = min.min(free);
            max = max.max(free);
        }
        let (min, max) = (min + block.pending, max + block.pending);
        debug_assert!(
            min >= 0 && max <= self.capacity,
            "booked more than the machine has, or gave back more than was booked"
        );
        self.summaries[index] = Summary { first: block.times[0], min, max };
    }

    /// The step that covers `time`.
    fn find(&self, time: i64) -> Place {
        // Most searches begin now or at the first free time, and the profile begins with both.
        if let [_, second, third, ..] = *self.blocks[0].times
            && time < third
        {
            return Place { block: 0, entry: usize::from(second <= time) };
        }
        let block = self.block_of(time);
        let entry = self.blocks[block].times.partition_point(|&start| start <= time) - 1;
        Place { block, entry }
    }

    /// The block that covers `time`.
    fn block_of(&self, time: i64) -> usize {
        let finger = self.finger.get();
        let begins = |block| self.summaries.get(block).map(|it: &Summary| it.first <= time);
        if begins(finger) == Some(true) && begins(finger + 1) != Some(true) {
            return finger;
        }
        let block = self.summaries.partition_point(|summary| summary.first <= time) - 1;
        self.finger.set(block);
        block
    }

    fn value(&self, place: Place) -> i32 {
        let block = &self.blocks[place.block];
        block.free[place.entry] + block.pending
    }
}
