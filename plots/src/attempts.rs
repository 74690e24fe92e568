//! Attempts of jobs, as bars of phases in a lane. At a provider, there is only the middle phase.
//!
//! ```text
//!        dispatched   start             left     end
//!            ░░░░░░░░░░█████████████████████
//!            ░░░░░░░░░░████╷█████████╷██████░░░░░     ╷ checkpoints
//!         waits for data    computes          output
//! ```
//! The colour of an attempt shows its outcome; failed attempts are pale and hatched.

mod read;

use haggle_model::AttemptOutcome;
use haggle_results::reader::AttemptRow;

use crate::frame::Panel;
use crate::legend::{Key, Mark};
use crate::palette::{INK, WHITE, on, series, tint};
use crate::pattern;
use crate::scene::{Anchor, Colour, Scene};
use crate::type_face::width;

pub(crate) use read::{checkpoints, outages};

/// Maximum height of bars: higher ones are not easier to read.
const BAR_MAX: f64 = 120.0;
/// Share of the colour in phases without computing.
const PALE: f64 = 0.4;
/// Colour of times in which a resource is down.
pub(crate) const OUTAGE: Colour = Colour(0xcc, 0xcc, 0xcc);
/// Smallest distance between marks of checkpoints, pixels; closer marks would merge.
const MARKS_APART: f64 = 4.0;

/// An attempt of a job on one resource; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptBar {
    /// Text on the bar, if there is room.
    pub label: String,
    /// Time at which it got its slot, or started at a provider.
    pub dispatched: f64,
    /// Time at which it began to compute, if it did.
    pub start: Option<f64>,
    /// Time at which it released its slot.
    pub left: f64,
    /// End of the transfer of its output.
    pub end: f64,
    /// Outcome of the attempt.
    pub outcome: AttemptOutcome,
    /// Its checkpoints, in order.
    pub checkpoints: Vec<CheckpointMark>,
}

impl AttemptBar {
    /// The bar of an attempt; `None` if it never ran or held a slot.
    pub(crate) fn of(
        row: &AttemptRow,
        label: String,
        checkpoints: Vec<CheckpointMark>,
    ) -> Option<AttemptBar> {
        // At a provider, an attempt has no slot.
        let (dispatched, left) = row.slot().or(row.start.zip(row.end))?;
        Some(AttemptBar {
            label,
            dispatched,
            start: row.start,
            left,
            end: row.end.unwrap_or(left),
            outcome: row.outcome,
            checkpoints,
        })
    }
}

/// A checkpoint of an attempt; times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointMark {
    /// Time at which the job stopped to write it.
    pub requested: f64,
    /// Time at which it was written; `None` if it was interrupted.
    pub written: Option<f64>,
    /// Time from which it was usable, if ever.
    pub available: Option<f64>,
}

/// An interval in which a resource was down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// Start of the interval, s.
    pub from: f64,
    /// End of the interval, s; `None` = after the time that is drawn.
    pub until: Option<f64>,
}

/// Smallest readable label, pixels.
const LABEL_LEAST: f64 = 18.0;

/// A horizontal strip of a panel, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// Upper edge.
    pub(crate) top: f64,
    /// Lower edge.
    pub(crate) bottom: f64,
}

impl Lane {
    /// Lane `place` of `count` in a panel, counted from the top.
    pub(crate) fn of(panel: &Panel, place: usize, count: usize) -> Lane {
        let edge = |place: usize| panel.y(count as f64 - place as f64);
        Lane { top: edge(place), bottom: edge(place + 1) }
    }

    pub(crate) fn middle(self) -> f64 {
        (self.top + self.bottom) / 2.0
    }

    /// Upper and lower edge of the bars in it.
    pub(crate) fn bar(self) -> (f64, f64) {
        let half = ((self.bottom - self.top) * 0.7).min(BAR_MAX) / 2.0;
        (self.middle() - half, self.middle() + half)
    }

    /// Shades the intervals in which its resource was down.
    pub(crate) fn draw_outages(self, scene: &mut Scene, panel: &Panel, outages: &[Outage]) {
        for outage in outages {
            let left = panel.x(outage.from);
            let right = outage.until.map_or(panel.right, |until| panel.x(until));
            if right > left {
                scene.rectangle([left, self.top, right, self.bottom], OUTAGE);
            }
        }
    }

    /// Draws an attempt in it.
    pub(crate) fn draw_attempt(self, scene: &mut Scene, panel: &Panel, bar: &AttemptBar) {
        let (top, bottom) = self.bar();
        let quarter = (bottom - top) / 4.0;
        let colour = outcome_colour(bar.outcome);
        let pale = tint(colour, PALE);
        let computes = bar.start.unwrap_or(bar.left);
        for (from, until) in [(bar.dispatched, computes), (bar.left, bar.end)] {
            if until > from {
                let (left, right) = span(panel, from, until);
                scene.rectangle([left, top + quarter, right, bottom - quarter], pale);
            }
        }
        let (left, right) = span(panel, computes, bar.left);
        if bar.left > computes {
            match bar.outcome {
                AttemptOutcome::Failed => {
                    pattern::failed(scene, [left, top, right, bottom], colour)
                }
                _ => scene.rectangle([left, top, right, bottom], colour),
            }
            draw_checkpoints(scene, panel, bar, (bottom - (bottom - top) * 0.4, bottom));
        }
        // A white seam separates neighbours of one colour, if there is room for it.
        if right - left >= 6.0 && bar.end <= bar.left {
            scene.rectangle([right - 1.0, top, right, bottom], WHITE);
        }
        let (size, long) = (self.label_size(), width(&bar.label, self.label_size()));
        if size >= LABEL_LEAST && long + 8.0 <= right - left {
            let (x, y) = ((left + right) / 2.0, self.label_y(bar));
            let ground = ground(bar.outcome);
            if bar.outcome == AttemptOutcome::Failed {
                // The pattern is covered, so that the label is readable.
                let (wide, high) = (long / 2.0 + 2.0, size * 0.45);
                scene.rectangle([x - wide, y - high, x + wide, y + high], ground);
            }
            scene.text((x, y), &bar.label, size, on(ground), Anchor::Middle);
        }
    }

    /// Height of the middle of a label: above the checkpoints, if there are any.
    fn label_y(self, bar: &AttemptBar) -> f64 {
        let (top, bottom) = self.bar();
        top + (bottom - top) * if bar.checkpoints.is_empty() { 0.5 } else { 0.3 }
    }

    fn label_size(self) -> f64 {
        let (top, bottom) = self.bar();
        ((bottom - top) * 0.55).min(24.0)
    }

    /// Writes the label of an attempt behind its bar if it does not fit on it, and if there is room
    /// before the next attempt.
    pub(crate) fn label_beside(
        self,
        scene: &mut Scene,
        panel: &Panel,
        bar: &AttemptBar,
        next: f64,
    ) {
        let (left, right) = span(panel, bar.start.unwrap_or(bar.left), bar.left);
        let (size, from) = (self.label_size(), right.max(panel.x(bar.end)) + 5.0);
        let long = width(&bar.label, size);
        let fits_in = long + 8.0 <= right - left;
        if size >= LABEL_LEAST && !fits_in && from + long + 5.0 <= panel.x(next) {
            let (y, high) = (self.label_y(bar), size * 0.45);
            // An outage may be drawn there already.
            scene.wash([from - 2.0, y - high, from + long + 2.0, y + high], WHITE, 0.8);
            scene.text((from, y), &bar.label, size, INK, Anchor::Start);
        }
    }

    /// Draws dots below an attempt's bar at times from which its checkpoints were usable.
    pub(crate) fn draw_available(self, scene: &mut Scene, panel: &Panel, bar: &AttemptBar) {
        let y = self.available_y();
        for time in bar.checkpoints.iter().filter_map(|it| it.available) {
            if panel.shows(time) {
                scene.dot((panel.x(time), y), 4.0, INK);
            }
        }
    }

    /// The height at which checkpoints become available.
    pub(crate) fn available_y(self) -> f64 {
        (self.bar().1 + 8.0).min(self.bottom - 2.0)
    }
}

/// Marks the times in which checkpoints stopped the job.
fn draw_checkpoints(scene: &mut Scene, panel: &Panel, bar: &AttemptBar, (top, bottom): (f64, f64)) {
    let ink = on(ground(bar.outcome));
    let mut free_from = f64::MIN;
    for checkpoint in &bar.checkpoints {
        let until = checkpoint.written.unwrap_or(bar.left);
        let (left, right) = (panel.x(checkpoint.requested), panel.x(until));
        if left >= free_from && panel.shows(checkpoint.requested) {
            let right = right.max(left + 2.0);
            scene.rectangle([left, top, right, bottom], ink);
            free_from = right + MARKS_APART;
        }
    }
}

/// Left and right end of a span; a span of no length is still visible.
fn span(panel: &Panel, from: f64, until: f64) -> (f64, f64) {
    let left = panel.x(from);
    (left, panel.x(until).max(left + 1.0))
}

/// The background of an attempt's labels and checkpoints.
fn ground(outcome: AttemptOutcome) -> Colour {
    match outcome {
        AttemptOutcome::Failed => pattern::pale(outcome_colour(outcome)),
        _ => outcome_colour(outcome),
    }
}

fn outcome_colour(outcome: AttemptOutcome) -> Colour {
    series(match outcome {
        AttemptOutcome::Completed => 0,
        AttemptOutcome::Failed => 1,
        AttemptOutcome::Moved => 2,
        AttemptOutcome::Cancelled | AttemptOutcome::WalltimeReached => 3,
        AttemptOutcome::Unfinished => 4,
        // Jobs at providers are not stranded. Only parts of jobs are given up, and no parts are stopped for other jobs.
        AttemptOutcome::Stranded | AttemptOutcome::GivenUp | AttemptOutcome::Preempted => 5,
    })
}

/// The legend of some attempts: their outcomes, and other marks that they have.
pub(crate) fn legend<'a>(
    bars: impl Iterator<Item = &'a AttemptBar> + Clone,
    outages: bool,
) -> Vec<Key> {
    let found = |outcome: AttemptOutcome| bars.clone().any(|bar| bar.outcome == outcome);
    let outcomes: Vec<AttemptOutcome> =
        AttemptOutcome::ALL.into_iter().filter(|&outcome| found(outcome)).collect();
    let word = |outcome: AttemptOutcome| match outcome {
        AttemptOutcome::Unfinished => "still running".to_owned(),
        outcome => outcome.name().replace('_', " "),
    };
    let key = |&outcome: &AttemptOutcome| {
        let mark = if outcome == AttemptOutcome::Failed { Mark::Hatched } else { Mark::Box };
        Key::new(&word(outcome), mark, outcome_colour(outcome))
    };
    let mut legend: Vec<Key> = outcomes.iter().map(key).collect();
    let first = outcomes.first().copied().map_or(INK, outcome_colour);
    let waits = |bar: &AttemptBar| bar.start != Some(bar.dispatched) || bar.end > bar.left;
    if bars.clone().any(waits) {
        legend.push(Key::new("data under way", Mark::Flat, tint(first, PALE)));
    }
    if bars.clone().any(|bar| !bar.checkpoints.is_empty()) {
        legend.push(Key::new("checkpoint", Mark::Notch, first));
    }
    if outages {
        legend.push(Key::new("outage", Mark::Box, OUTAGE));
    }
    legend
}
