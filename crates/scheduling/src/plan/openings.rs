//! Places to which waiting jobs may move up because processors were given back.
//!
//! In the literature, after every end each waiting job is taken out and put back at its earliest fit.
//! Nearly all of them land where they were. An earlier place is of one of two kinds.
//!
//! - It overlaps or touches the job's present place, as nearly all do. Then as many processors as the job
//!   needs are free just before its start, which the profile shows at once.
//! - It lies wholly elsewhere. Then a part of it has been given back since the job was last examined.
//!
//! For the second kind the openings keep *hulls* for each class of widths. A hull covers the stretches
//! around a returned region in which enough processors are free. It is kept if it is long enough for any
//! waiting job.
//!
//! A hull keeps the size at which it was measured. Later moves can only make it smaller, and the region
//! that a move leaves opens a hull of its own. So a hull is at worst too large. If a search in it fails, it
//! is measured again, stretch by stretch.

mod class;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use self::class::{Class, Hull};
use crate::Profile;
use crate::index::class_of;

/// A time in which processors were given back.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Region {
    pub(crate) start: Time,
    pub(crate) end: Time,
    /// Narrowest job that can profit: a narrower one could have run there before.
    narrowest: u32,
    /// Widest job that can profit: a wider one finds too few processors even now.
    widest: u32,
}

impl Region {
    /// The part of a region that is usable where `processors` have just been given back, if any.
    pub(crate) fn new(
        profile: &Profile,
        start: Time,
        end: Time,
        processors: u32,
    ) -> Option<Region> {
        // No processors are given back at the end of all time.
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

/// Before every region.
const BEFORE_ALL: Time = Time::from_micros(i64::MIN);

/// Open hulls, by class of widths.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Openings {
    /// Regions given back on which waiting jobs have not been tried yet.
    noted: Vec<Region>,
    classes: Vec<Class>,
    /// Number of moves so far, to know which hulls may be too large.
    moves: u64,
    passes: u64,
    /// True if a move in this pass has left a region on which earlier jobs must be tried in the next pass.
    left_behind: bool,
    /// Latest ends of the regions given back, in the last pass and in this one.
    until: [Time; 2],
}

impl Openings {
    /// For jobs of up to `widest` processors.
    pub(crate) fn new(widest: u32) -> Openings {
        let class = Class::default();
        let classes = vec![class; class_of(widest) + 1];
        let until = [BEFORE_ALL; 2];
        Openings { noted: Vec::new(), classes, moves: 0, passes: 0, left_behind: false, until }
    }

    /// Notes that `processors` have been given back; the next pass opens the region.
    pub(crate) fn note(&mut self, profile: &Profile, start: Time, end: Time, processors: u32) {
        self.noted.extend(Region::new(profile, start, end, processors));
    }

    /// As [`Openings::note`], of a region.
    pub(crate) fn note_region(&mut self, region: Option<Region>) {
        self.noted.extend(region);
    }

    /// Regions noted since they were last opened or forgotten.
    pub(crate) fn noted(&self) -> &[Region] {
        &self.noted
    }

    /// Returns whether waiting jobs must be tried once more.
    pub(crate) fn has_new(&self) -> bool {
        self.left_behind || !self.noted.is_empty()
    }

    /// Drops all regions: waiting jobs need not be tried on them.
    pub(crate) fn forget(&mut self) {
        self.noted.clear();
        self.left_behind = false;
        self.until = [BEFORE_ALL; 2];
        self.classes.iter_mut().for_each(Class::clear);
    }

    /// Begins a pass: closes the hulls on which all jobs have been tried. Opens the noted regions, as of
    /// `now`, for `jobs` of these widths and spans.
    pub(crate) fn begin_pass(
        &mut self,
        profile: &Profile,
        now: Time,
        jobs: impl Iterator<Item = (u32, Span)>,
    ) {
        self.passes += 1;
        self.left_behind = false;
        self.until = [self.until[1], BEFORE_ALL];
        for class in &mut self.classes {
            let is_open = |hull: &Hull| hull.pass >= self.passes && hull.end > now;
            class.retain(is_open);
        }
        for (processors, span) in jobs {
            let class = &mut self.classes[class_of(processors)];
            class.shortest = class.shortest.min(span);
        }
        let mut shortest = Span::FOREVER;
        // From the widest class on, because each class counts all wider ones, too.
        for class in self.classes.iter_mut().rev() {
            shortest = shortest.min(class.shortest);
            class.shortest_from_here = shortest;
        }
        for region in std::mem::take(&mut self.noted) {
            self.open(profile, region, now, self.passes);
        }
    }

    /// Opens `region`, as of `now`, until a pass is over.
    fn open(&mut self, profile: &Profile, region: Region, now: Time, pass: u64) {
        let Region { end, narrowest, widest, .. } = region;
        self.until[1] = self.until[1].max(end);
        let start = region.start.max(now);
        if start >= end || narrowest > widest {
            return;
        }
        let (narrow, wide) = (class_of(narrowest), class_of(widest));
        let widths = (narrow..=wide).map(|class| narrowest.max(1 << class));
        let Openings { classes, moves, .. } = self;
        profile.reaches(start, end, now, widths, |width, left, right| {
            let class = &mut classes[class_of(width)];
            let room = right - left;
            if room >= class.shortest {
                let measured = *moves;
                let too_large = None;
                class.insert(Hull { left, right, start, end, width, pass, measured, too_large });
            }
            // Wider jobs have no more room.
            room >= class.shortest_from_here
        });
    }

    /// Something has moved. The region it left is opened to later jobs in this pass. With `in_next_pass` it
    /// stays open in the next pass, for the jobs before.
    pub(crate) fn moved(
        &mut self,
        profile: &Profile,
        left_behind: Option<Region>,
        now: Time,
        in_next_pass: bool,
    ) {
        self.moves += 1;
        if let Some(region) = left_behind {
            self.left_behind |= in_next_pass;
            self.open(profile, region, now, self.passes + u64::from(in_next_pass));
        }
    }

    /// The most room of an open hull that begins before `limit`, by class of widths.
    pub(crate) fn longest_before(&self, limit: Time) -> Vec<Span> {
        let longest = |class: &Class| {
            let hulls = class.hulls().iter().take_while(|hull| hull.left < limit);
            hulls.map(Hull::room).max().unwrap_or(Span::ZERO)
        };
        self.classes.iter().map(longest).collect()
    }

    /// The earliest place before `booked` for a job that is booked there. The job may start from `from` on,
    /// which is `now` or later.
    ///
    /// The place either overlaps or touches the job's own from the front, which the profile shows at once;
    /// or it lies wholly in a hull.
    pub(crate) fn earlier_fit(
        &mut self,
        profile: &Profile,
        processors: u32,
        span: Span,
        booked: Time,
        from: Time,
        now: Time,
    ) -> Option<Time> {
        // Where nothing was given back, the time just before the job's place is still too full.
        let is_near = self.until.iter().any(|&until| booked <= until);
        let near = is_near.then(|| profile.free_since(processors, booked, from)).flatten();
        let before = near.unwrap_or(booked);
        let moves = self.moves;
        let class = &mut self.classes[class_of(processors)];
        if !class.has_room(span) {
            return near;
        }
        let (mut next, mut behind) = (0, class.before(before));
        while let Some(at) = class.next(next, behind, span) {
            next = at + 1;
            let hull = class.hulls()[at];
            if hull.is_too_large(processors, span) {
                continue;
            }
            let latest = (hull.right - span).min(before - Span::TICK);
            let far = profile.earliest_fit_by(processors, span, hull.left.max(from), latest);
            if far.is_some() {
                return far;
            }
            // Only a search of the whole hull proves that it has no place for such a job.
            if latest + span >= hull.right && from <= hull.left.max(now) {
                class.set_too_large(at, processors, span);
            }
            if hull.measured < moves {
                // The hull was replaced by its present stretches, which are searched next.
                behind = behind + class.measure(at, profile, now, moves) - 1;
                next = at;
            }
        }
        near
    }
}
