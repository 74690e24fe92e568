//! Other intervals for a reservation that does not find a place in its window.
//!
//! The best places are those that touch what is booked around the window: just before it starts,
//! or just after it must have ended (Netto 2009, section 3.3.2, the list Psi).

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::request::{Percent, Reserve, Window};

/// An interval outside the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Alternative {
    /// How far from the window it is.
    pub distance: Span,
    /// Start of the interval, which is no longer than the work.
    pub start: Time,
}

impl Alternative {
    /// Whether it is no farther than so many hundredths of the time `span` that the work takes.
    pub fn is_within(&self, threshold: Percent, span: Span) -> bool {
        let wide = |span: Span| i128::from(span.as_micros());
        wide(self.distance) * 100 <= wide(span) * i128::from(threshold)
    }

    /// The distance as a share of the time `span` that the work takes; for output only.
    pub fn phi(&self, span: Span) -> f64 {
        self.distance.as_secs_f64() / span.as_secs_f64()
    }
}

/// Where an alternative behind a waiting reservation starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum After {
    /// At its deadline, where it is out of the way wherever it moves.
    #[default]
    Deadline,
    /// At its planned completion.
    Completion,
}

/// Something that is booked around a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub(super) start: Time,
    pub(super) completion: Time,
    /// When it will be out of the way.
    pub(super) after: Time,
}

/// Alternatives to `request` beside `anchors` no farther than `threshold`, nearest first.
pub(super) fn alternatives(
    request: &Reserve,
    now: Time,
    anchors: impl Iterator<Item = Anchor>,
    threshold: Percent,
) -> Vec<Alternative> {
    let Reserve { window, span, submitted, .. } = *request;
    let ready = window.ready.unwrap_or(submitted);
    let latest = window.latest_start(span);
    let around =
        anchors.filter(|it| it.start < window.deadline && window.earliest(now) < it.completion);
    let mut found: Vec<Alternative> = around
        .flat_map(|it| {
            let before = it.start - span;
            let before = Alternative { distance: ready - before, start: before };
            let after =
                Alternative { distance: it.after + span - window.deadline, start: it.after };
            [before, after]
        })
        // What lies in the window has been tried.
        .filter(|it| it.start >= now && (it.start < ready || latest < it.start))
        .filter(|it| it.start < Time::FOREVER && it.is_within(threshold, span))
        .collect();
    found.sort_unstable();
    // The nearest of those that start together comes first.
    let mut kept: Vec<Alternative> = Vec::with_capacity(found.len());
    for alternative in found {
        if kept.iter().all(|other| other.start != alternative.start) {
            kept.push(alternative);
        }
    }
    kept
}

impl From<(&Reserve, Alternative)> for Window {
    fn from((request, alternative): (&Reserve, Alternative)) -> Window {
        Window::strict(alternative.start, request.span)
    }
}
