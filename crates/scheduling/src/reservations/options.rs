//! Alternative intervals for a reservation without a place in its window.
//!
//! The best places touch the bookings around the window: just before the first start, or just after the
//! latest end (Netto 2009, section 3.3.2, the list Psi). Moldable work is tried on each possible number of
//! processors, in the window first. There may be room for fewer processors, or for more that finish sooner.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::request::{Percent, Reserve, Size};
use crate::Profile;

/// An interval outside the window, or in it on another number of processors. Ordered by distance, then by
/// completion, then by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Alternative {
    /// Distance from the window.
    pub distance: Span,
    /// End of the interval, which is as long as the work.
    pub completion: Time,
    /// Processors.
    pub processors: u32,
    /// Its start.
    pub start: Time,
}

impl Alternative {
    /// Time that the work takes.
    pub fn span(&self) -> Span {
        self.completion - self.start
    }

    /// Returns whether its distance is at most `threshold` hundredths of `span`, the time that the work takes on
    /// the requested processors.
    pub fn is_within(&self, threshold: Percent, span: Span) -> bool {
        let wide = |span: Span| i128::from(span.as_micros());
        wide(self.distance) * 100 <= wide(span) * i128::from(threshold)
    }

    /// The distance as a share of this time; for output only.
    pub fn phi(&self, span: Span) -> f64 {
        self.distance.as_secs_f64() / span.as_secs_f64()
    }
}

haggle_model::words! {
    /// Beginning of an interval behind a waiting reservation.
    #[derive(Default)]
    pub enum AfterAnchor {
        /// At its deadline: it cannot overlap the interval wherever it moves.
        #[default]
        Deadline = "deadline",
        /// At its planned completion.
        Completion = "completion",
    }
}

/// A booking around a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub(super) start: Time,
    pub(super) completion: Time,
    /// Time from which on it is out of the way.
    pub(super) after: Time,
}

/// Alternatives to `request` no farther than `threshold`, nearest first: beside `anchors`, and for each of
/// the other `sizes` also at the first fit in the window. `free` is the availability that the other
/// bookings leave.
pub(super) fn alternatives(
    request: &Reserve,
    sizes: &[Size],
    now: Time,
    free: &Profile,
    anchors: &[Anchor],
    threshold: Percent,
) -> Vec<Alternative> {
    let mut found: Vec<Alternative> = Vec::new();
    for &size in sizes {
        let (from, latest) = (request.window.earliest(now), request.window.latest_start(size.span));
        let start = free.earliest_fit_by(size.processors, size.span, from, latest);
        found.extend(start.map(|start| request.beside(size, start)));
    }
    for &size in [request.size()].iter().chain(sizes) {
        found.extend(touching(request, size, now, anchors));
    }
    found.retain(|it| it.start < Time::FOREVER && it.is_within(threshold, request.span));
    found.sort_unstable();
    found.dedup();
    found
}

/// The intervals outside the window that touch bookings around it.
fn touching(
    request: &Reserve,
    size: Size,
    now: Time,
    anchors: &[Anchor],
) -> impl Iterator<Item = Alternative> {
    let Reserve { window, submitted, .. } = *request;
    let ready = window.ready.unwrap_or(submitted);
    let latest = window.latest_start(size.span);
    let around = anchors
        .iter()
        .filter(move |it| it.start < window.deadline && window.earliest(now) < it.completion);
    around
        .flat_map(move |it| [it.start - size.span, it.after])
        // Starts in the window have been tried.
        .filter(move |&start| start >= now && (start < ready || latest < start))
        .map(move |start| request.beside(size, start))
}
