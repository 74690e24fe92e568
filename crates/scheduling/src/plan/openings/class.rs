//! Hulls for jobs of one class of widths.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::Profile;

/// The hulls, and the shortest job that may fit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Class {
    /// From left to right; no two overlap.
    hulls: Vec<Hull>,
    /// Lengths of the hulls; kept apart because searches pass over most hulls.
    rooms: Vec<Span>,
    /// No hull has more room.
    longest: Span,
    /// No waiting job of this class takes less time.
    pub(super) shortest: Span,
    /// No waiting job of this or a wider class takes less time.
    pub(super) shortest_from_here: Span,
}

/// A time in which some stretch has free processors.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Hull {
    pub(super) left: Time,
    pub(super) right: Time,
    /// The region that was given back.
    pub(super) start: Time,
    pub(super) end: Time,
    /// Processors that are free in it.
    pub(super) width: u32,
    /// The last pass in which it is open.
    pub(super) pass: u64,
    /// Number of moves when it was measured.
    pub(super) measured: u64,
    /// Width and span of a job that found no place in it.
    pub(super) too_large: Option<(u32, Span)>,
}

impl Hull {
    pub(super) fn room(&self) -> Span {
        self.right - self.left
    }

    /// Returns whether a job of at most this size has found no place in it.
    pub(super) fn is_too_large(&self, processors: u32, span: Span) -> bool {
        self.too_large.is_some_and(|(width, time)| width <= processors && time <= span)
    }
}

impl Class {
    /// Closes all hulls.
    pub(super) fn clear(&mut self) {
        self.hulls.clear();
        self.rooms.clear();
    }

    /// Closes all other hulls, and forgets the waiting jobs.
    pub(super) fn retain(&mut self, is_open: impl FnMut(&Hull) -> bool) {
        self.hulls.retain(is_open);
        self.rooms.clear();
        self.rooms.extend(self.hulls.iter().map(Hull::room));
        self.find_longest();
        self.shortest = Span::FOREVER;
    }

    /// All hulls, from left to right.
    pub(super) fn hulls(&self) -> &[Hull] {
        &self.hulls
    }

    /// Returns whether a hull has room for `span`.
    pub(super) fn has_room(&self, span: Span) -> bool {
        span <= self.longest
    }

    /// The first hull with room for `span`, from place `from` on and before `behind`.
    pub(super) fn next(&self, from: usize, behind: usize, span: Span) -> Option<usize> {
        let rooms = self.rooms.get(from..behind)?;
        rooms.iter().position(|&room| room >= span).map(|at| from + at)
    }

    /// Number of hulls that begin before `time`.
    pub(super) fn before(&self, time: Time) -> usize {
        self.hulls.partition_point(|hull| hull.left < time)
    }

    fn find_longest(&mut self) {
        self.longest = self.rooms.iter().copied().max().unwrap_or(Span::ZERO);
    }

    /// Notes that a job of this size has no place in the hull.
    pub(super) fn set_too_large(&mut self, at: usize, processors: u32, span: Span) {
        self.hulls[at].too_large = Some((processors, span));
    }

    /// Replaces a hull by its present stretches that are long enough for a waiting job, and returns their
    /// number. Time that was given back since has a hull of its own.
    pub(super) fn measure(&mut self, at: usize, profile: &Profile, now: Time, moves: u64) -> usize {
        let hull = self.hulls[at];
        let mut parts = Vec::new();
        let (start, end) = (hull.start.max(now), hull.end);
        profile.stretches(hull.width, start, end, now, |left, right| {
            let (left, right) = (left.max(hull.left), right.min(hull.right));
            if right - left >= self.shortest {
                parts.push(Hull { left, right, measured: moves, ..hull });
            }
        });
        let count = parts.len();
        self.rooms.splice(at..=at, parts.iter().map(Hull::room));
        self.hulls.splice(at..=at, parts);
        // The stretches of a hull are no longer than the hull itself.
        if hull.room() == self.longest {
            self.find_longest();
        }
        count
    }

    /// Adds a hull, joined with all hulls that it overlaps.
    pub(super) fn insert(&mut self, mut hull: Hull) {
        let from = self.hulls.partition_point(|other| other.right <= hull.left);
        let mut to = from;
        while let Some(other) = self.hulls.get(to).filter(|other| other.left < hull.right) {
            hull.left = hull.left.min(other.left);
            hull.right = hull.right.max(other.right);
            hull.start = hull.start.min(other.start);
            hull.end = hull.end.max(other.end);
            hull.width = hull.width.min(other.width);
            hull.pass = hull.pass.max(other.pass);
            hull.measured = hull.measured.min(other.measured);
            to += 1;
        }
        self.longest = hull.room().max(self.longest);
        self.hulls.splice(from..to, [hull]);
        self.rooms.splice(from..to, [hull.room()]);
    }
}
