//! Where waiting work may find an earlier place because something was given back.
//!
//! In the literature each waiting job is lifted out after every end and put back at its earliest
//! fit. Nearly all of them land where they were. A place that is earlier is of one of two kinds.
//! It overlaps or touches the one that the job has, as nearly all of them do: then as many
//! processors as it needs are free just before it starts, which the profile tells at a glance.
//! Or the whole of it is elsewhere: then some part of it has been given back since the job was
//! last looked at. For these the openings keep, for each class of widths, the *hulls* of the
//! stretches around what was given back in which enough are free, if they are long enough for
//! anybody who waits.
//!
//! A hull is as it was when last measured. What moves since then can only make it smaller, and
//! what it leaves behind opens a hull of its own, so that a hull is too large at worst; one that
//! promised a place which was not there is measured again, stretch by stretch.

mod class;

use haggle_model::{Span, Time};

use self::class::{Class, Hull};
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

/// Before all that is given back.
const BEFORE_ALL: Time = Time::from_micros(i64::MIN);

/// What is open, by class of widths.
#[derive(Clone, Debug)]
pub(crate) struct Openings {
    /// Time given back that waiting work has not been tried on yet.
    noted: Vec<Region>,
    classes: Vec<Class>,
    /// How often something has moved, to know which hulls may be too large.
    moves: u64,
    passes: u64,
    /// Whether something has been left behind in this pass that others are to be tried on in
    /// the next one.
    left_behind: bool,
    /// Nothing was given back from here on, in the last pass and in this one.
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

    /// Whether waiting work is to be tried once more.
    pub(crate) fn has_new(&self) -> bool {
        self.left_behind || !self.noted.is_empty()
    }

    /// Waiting work need not be tried on what has been noted or left behind.
    pub(crate) fn forget(&mut self) {
        self.noted.clear();
        self.left_behind = false;
        self.until = [BEFORE_ALL; 2];
        self.classes.iter_mut().for_each(Class::clear);
    }

    /// A pass begins: closes what all have been tried on and opens what has been noted, as of
    /// `now`, to `jobs` of so many processors and so much time.
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
        for class in self.classes.iter_mut().rev() {
            shortest = shortest.min(class.shortest);
            class.shortest_from_here = shortest;
        }
        for region in std::mem::take(&mut self.noted) {
            self.open(profile, region, now, self.passes);
        }
    }

    /// Opens what `region` has given back, as of `now`, until a pass is over.
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
                let in_vain = None;
                class.insert(Hull { left, right, start, end, width, pass, measured, in_vain });
            }
            // What is wider has no more room.
            room >= class.shortest_from_here
        });
    }

    /// Something has moved: what it left behind is opened to those that come later in this pass,
    /// and if some have had their turn already, to them in the next.
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

    /// No place before `limit` that is open has more room, by class of widths.
    pub(crate) fn longest_before(&self, limit: Time) -> Vec<Span> {
        let longest = |class: &Class| {
            let hulls = class.hulls().iter().take_while(|hull| hull.left < limit);
            hulls.map(Hull::room).max().unwrap_or(Span::ZERO)
        };
        self.classes.iter().map(longest).collect()
    }

    /// The earliest place before `booked` for a job that is booked there and may start from `from`
    /// on, which is `now` or later, if there is one.
    ///
    /// It is either in front of the job's own place, so that the two overlap or touch, which the
    /// profile tells at a glance; or the whole of it is in a hull.
    pub(crate) fn earlier_fit(
        &mut self,
        profile: &Profile,
        processors: u32,
        span: Span,
        booked: Time,
        from: Time,
        now: Time,
    ) -> Option<Time> {
        // What was too full just before its place still is where nothing has been given back.
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
            if hull.is_vain(processors, span) {
                continue;
            }
            let latest = (hull.right - span).min(before - Span::TICK);
            let far = profile.earliest_fit_by(processors, span, hull.left.max(from), latest);
            if far.is_some() {
                return far;
            }
            // Another one may start earlier than this one.
            if latest + span >= hull.right && from <= hull.left.max(now) {
                class.is_in_vain(at, processors, span);
            }
            if hull.measured < moves {
                behind = behind + class.measure(at, profile, now, moves) - 1;
                next = at;
            }
        }
        near
    }
}
