//! Where waiting work may find an earlier place because something was given back.
//!
//! In the literature each waiting job is lifted out after every end and put back at its earliest
//! fit. Nearly all of them land where they were: a job can only move if some part of the window
//! that it would move to has been given back since it was last looked at. So it is enough to try
//! the jobs that fit into the *reach* of what was given back: the hull of the stretches around it
//! in which as many processors are free as the job needs. For each class of widths the hulls are
//! kept here, and a glance at them tells nearly every job that cannot move from those that can.
//!
//! A hull is as it was when last measured. What moves since then can only make it smaller, and
//! what it leaves behind opens a hull of its own, so that a hull is too large at worst; the ones
//! that promised a place which was not there are measured again.

use haggle_model::{Span, Time};

use crate::Profile;
use crate::index::class_of;

/// A time in which processors were given back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) start: Time,
    pub(crate) end: Time,
    /// Narrowest job that can profit: a narrower one could have used what was free there before.
    narrowest: u32,
    /// Widest job that can profit: a wider one finds too few processors even now.
    widest: u32,
}

impl Region {
    /// What is left where `processors` have just been given back, if anything.
    pub(crate) fn new(
        profile: &Profile,
        start: Time,
        end: Time,
        processors: u32,
    ) -> Option<Region> {
        // Nothing comes back at the end of all time.
        let end = end.min(Time::FOREVER);
        (start < end).then(|| {
            let (min, widest) = profile.bounds(start, end);
            Region { start, end, narrowest: min.saturating_sub(processors) + 1, widest }
        })
    }
}

impl Region {
    /// All time from `now` on.
    pub(crate) fn everything(profile: &Profile, now: Time) -> Region {
        Region { start: now, end: Time::FOREVER, narrowest: 1, widest: profile.capacity() }
    }
}

/// What is open, by class of widths.
#[derive(Clone, Debug)]
pub(crate) struct Openings {
    /// Time given back that waiting work has not been tried on yet.
    noted: Vec<Region>,
    classes: Vec<Class>,
    /// How often something has moved, to know which hulls may be too large.
    moves: u32,
}

#[derive(Clone, Debug)]
struct Class {
    /// From left to right; no two overlap.
    hulls: Vec<Hull>,
    /// No hull has more room.
    longest: Span,
}

#[derive(Clone, Copy, Debug)]
struct Hull {
    left: Time,
    right: Time,
    /// What was given back.
    start: Time,
    end: Time,
    /// Processors that are free in it.
    width: u32,
    /// How often something had moved when it was measured.
    measured: u32,
}

impl Hull {
    fn room(&self) -> Span {
        self.right - self.left
    }

    /// Whether a job of that span booked at `booked` could move into it.
    fn admits(&self, span: Span, booked: Time) -> bool {
        booked > self.left && (booked <= self.right || span <= self.room())
    }
}

impl Openings {
    /// For jobs of up to `widest` processors.
    pub(crate) fn new(widest: u32) -> Openings {
        let class = Class { hulls: Vec::new(), longest: Span::ZERO };
        Openings { noted: Vec::new(), classes: vec![class; class_of(widest) + 1], moves: 0 }
    }

    /// Notes that `processors` have been given back, to be opened later.
    pub(crate) fn note(&mut self, profile: &Profile, start: Time, end: Time, processors: u32) {
        self.noted.extend(Region::new(profile, start, end, processors));
    }

    /// The same of a region.
    pub(crate) fn note_region(&mut self, region: Option<Region>) {
        self.noted.extend(region);
    }

    /// What has been noted since it was last opened or forgotten.
    pub(crate) fn noted(&self) -> &[Region] {
        &self.noted
    }

    /// Waiting work need not be tried on what has been noted.
    pub(crate) fn forget_noted(&mut self) {
        self.noted.clear();
    }

    /// Closes what is open and opens what has been noted, as of `now`.
    pub(crate) fn open_noted(&mut self, profile: &Profile, now: Time) {
        self.close();
        for region in std::mem::take(&mut self.noted) {
            self.open(profile, region, now);
        }
    }

    /// Nothing is open any more.
    pub(crate) fn close(&mut self) {
        self.moves = 0;
        for class in &mut self.classes {
            class.hulls.clear();
            class.longest = Span::ZERO;
        }
    }

    /// Opens what `region` has given back, as of `now`.
    fn open(&mut self, profile: &Profile, region: Region, now: Time) {
        let Region { end, narrowest, widest, .. } = region;
        let start = region.start.max(now);
        if start >= end || narrowest > widest {
            return;
        }
        let (narrow, wide) = (class_of(narrowest), class_of(widest));
        let widths = (narrow..=wide).map(|class| narrowest.max(1 << class));
        let Openings { classes, moves, .. } = self;
        profile.reaches(start, end, now, widths, |width, left, right| {
            let hull = Hull { left, right, start, end, width, measured: *moves };
            classes[class_of(width)].insert(hull);
        });
    }

    /// Something has moved: what it left behind is opened, and hulls may have become smaller.
    pub(crate) fn moved(&mut self, profile: &Profile, left_behind: Option<Region>, now: Time) {
        self.moves += 1;
        if let Some(region) = left_behind {
            self.open(profile, region, now);
        }
    }

    /// From when on to look for a place earlier than `booked`, if there may be one.
    pub(crate) fn admits(&self, processors: u32, span: Span, booked: Time) -> Option<Time> {
        let class = &self.classes[class_of(processors)];
        if span <= class.longest {
            return class.hulls.iter().find(|hull| hull.admits(span, booked)).map(|hull| hull.left);
        }
        let before = class.hulls.partition_point(|hull| hull.left < booked);
        let around = &class.hulls[before.checked_sub(1)?];
        (booked <= around.right).then_some(around.left)
    }

    /// There was no place after all.
    pub(crate) fn missed(
        &mut self,
        profile: &Profile,
        processors: u32,
        span: Span,
        booked: Time,
        now: Time,
    ) {
        let moves = self.moves;
        let class = &mut self.classes[class_of(processors)];
        class.hulls.retain_mut(|hull| {
            if hull.measured == moves || !hull.admits(span, booked) {
                return true;
            }
            let again = hull.measure(profile, now, moves);
            again.inspect(|again| *hull = *again).is_some()
        });
        class.longest = class.hulls.iter().map(Hull::room).max().unwrap_or(Span::ZERO);
    }
}

impl Hull {
    /// As it is now; what has grown has done so by a hull of its own.
    fn measure(self, profile: &Profile, now: Time, moves: u32) -> Option<Hull> {
        let (left, right) = profile.reach(self.width, self.start.max(now), self.end, now)?;
        let (left, right) = (left.max(self.left), right.min(self.right));
        (left < right).then_some(Hull { left, right, measured: moves, ..self })
    }
}

impl Class {
    /// Adds a hull, with all that it overlaps.
    fn insert(&mut self, mut hull: Hull) {
        let from = self.hulls.partition_point(|other| other.right <= hull.left);
        let mut to = from;
        while let Some(other) = self.hulls.get(to).filter(|other| other.left < hull.right) {
            hull.left = hull.left.min(other.left);
            hull.right = hull.right.max(other.right);
            hull.start = hull.start.min(other.start);
            hull.end = hull.end.max(other.end);
            hull.width = hull.width.min(other.width);
            hull.measured = hull.measured.min(other.measured);
            to += 1;
        }
        self.longest = hull.room().max(self.longest);
        self.hulls.splice(from..to, [hull]);
    }
}
