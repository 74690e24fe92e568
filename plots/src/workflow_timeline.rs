//! A workflow over time. Each provider or resource that ran its tasks has a lane for each task that ran
//! there at the same time.
//!
//! ```text
//!  north  ┌────── 0 ──────┐        ┌── 2 ──┐
//!                         │ ░░░░░░
//!  south                  └───────▶┌────── 1 ──────┐
//! ```
//! An arrow leads from the producer of data to their consumer. The pale bar before a task shows the
//! transfer. Failed attempts are hatched; attempts on the critical path have a thick edge.

mod read;

use crate::attempts::{self, AttemptBar, Lane, Outage};
use crate::axis::Axis;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::{Key, Mark, arrow, outline};
use crate::look::Look;
use crate::palette::{INK, WHITE};
use crate::scene::{Colour, Scene};

pub(crate) use read::asked;
pub use read::workflow_timeline;

/// Colour of data in transit.
const DATA: Colour = Colour(0x9a, 0x9a, 0x9a);

/// A workflow with the places of its tasks; times in seconds from its submission on.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowTimeline {
    /// Title above the figure.
    pub title: String,
    /// Providers or resources that ran its tasks, from top to bottom.
    pub places: Vec<WorkflowPlace>,
    /// Start of the time axis, s; 0 is the submission of the workflow.
    pub from: f64,
    /// End of the time axis, s; without it, the end of the last attempt.
    pub until: Option<f64>,
}

/// A provider or resource that ran some of its tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowPlace {
    /// The provider, or the resource of a grid.
    pub name: String,
    /// Attempts of tasks, in lanes in which none overlap; one at least.
    pub lanes: Vec<Vec<TaskAttempt>>,
    /// Its outages; empty for a provider, whose processors fail one by one.
    pub outages: Vec<Outage>,
}

/// An attempt of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskAttempt {
    /// Bar of the attempt; its label is the task's number.
    pub bar: AttemptBar,
    /// Data from elsewhere for which it had to wait.
    pub inputs: Vec<TaskInput>,
    /// True if it lies on the critical path of the workflow as it ran.
    pub is_critical: bool,
}

/// Data, or a task that moved, in transit to the place of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskInput {
    /// Place and lane of their origin; `None` = the storage.
    pub from: Option<(usize, usize)>,
    /// Time of departure.
    pub sent: f64,
    /// Time of arrival.
    pub arrived: f64,
}

impl WorkflowTimeline {
    fn attempts(&self) -> impl Iterator<Item = &TaskAttempt> + Clone {
        self.places.iter().flat_map(|place| place.lanes.iter().flatten())
    }

    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let bars = || self.attempts().map(|it| &it.bar);
        let last = bars().map(|bar| bar.end).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = (self.from, self.until.unwrap_or(last));
        if self.places.iter().any(|place| place.lanes.is_empty())
            || !bars().any(|bar| bar.dispatched <= high && bar.end >= low)
        {
            let reason = "none of its tasks ran in the time that is drawn";
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let firsts: Vec<usize> = self
            .places
            .iter()
            // The number of lanes before each place.
            .scan(0, |next, place| Some(std::mem::replace(next, *next + place.lanes.len())))
            .collect();
        let count: usize = self.places.iter().map(|place| place.lanes.len()).sum();
        let plan = Plan {
            title: self.title.clone(),
            legend: self.legend(low, high),
            panels: vec![(Axis::lanes("", &self.names(), f64::from(look.size.height) * 0.7), 1.0)],
            ..Plan::default()
        };
        let (left, right) = frame::room(&plan, look);
        let x = Axis::time("time since the workflow was submitted", low, high, right - left);
        let (mut scene, panels) = frame::draw(plan, x, look)?;
        let panel = &panels[0];
        let lane_at = |(place, lane): (usize, usize)| Lane::of(panel, firsts[place] + lane, count);
        for (number, place) in self.places.iter().enumerate() {
            let (first, last) = (lane_at((number, 0)), lane_at((number, place.lanes.len() - 1)));
            let whole = Lane { top: first.top, bottom: last.bottom };
            whole.draw_outages(&mut scene, panel, &place.outages);
            if number > 0 {
                scene.line(vec![(panel.left, first.top), (panel.right, first.top)], INK, 1);
            }
        }
        let all = self.places.iter().enumerate().flat_map(|(number, place)| {
            place.lanes.iter().enumerate().map(move |(lane, attempts)| ((number, lane), attempts))
        });
        for (at, attempts) in all.clone() {
            attempts.iter().for_each(|it| draw_attempt(&mut scene, panel, lane_at(at), it));
        }
        // Arrows are drawn last, so that no bar covers them.
        for (at, attempts) in all {
            let inputs = attempts.iter().flat_map(|it| &it.inputs);
            for (from, input) in inputs.filter_map(|it| Some((it.from?, it))) {
                draw_way(&mut scene, panel, (lane_at(from), lane_at(at)), input);
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    /// The names of lanes: each place is named at its first lane. If lanes are too many for all names, every
    /// lane is named, since the axis leaves some names out.
    fn names(&self) -> Vec<String> {
        const ROOM: usize = 20;
        let count: usize = self.places.iter().map(|place| place.lanes.len()).sum();
        let names = self.places.iter().flat_map(|place| {
            let named = move |lane| lane == 0 || count > ROOM;
            let name = move |lane| if named(lane) { place.name.clone() } else { String::new() };
            (0..place.lanes.len()).map(name)
        });
        names.collect()
    }

    fn legend(&self, low: f64, high: f64) -> Vec<Key> {
        let seen = |it: &Outage| it.from < high && it.until.is_none_or(|until| until > low);
        let outages = self.places.iter().any(|place| place.outages.iter().any(seen));
        let mut legend = attempts::legend(self.attempts().map(|it| &it.bar), outages);
        if self.attempts().any(|it| it.is_critical) {
            legend.push(Key::new("critical path", Mark::Outlined, WHITE));
        }
        let inputs = || self.attempts().flat_map(|it| &it.inputs);
        if inputs().any(|it| it.arrived > it.sent) {
            legend.push(Key::new("data on their way", Mark::Flat, DATA));
        }
        if inputs().any(|it| it.from.is_some()) {
            legend.push(Key::new("from where", Mark::Arrow, INK));
        }
        legend
    }
}

/// Draws an attempt, and before it the transfers for which it waited.
fn draw_attempt(scene: &mut Scene, panel: &Panel, lane: Lane, it: &TaskAttempt) {
    let (top, bottom) = lane.bar();
    let middle = (top + bottom) / 2.0;
    let half = ((bottom - top) / 8.0).clamp(1.5, 5.0);
    for input in it.inputs.iter().filter(|it| it.arrived > it.sent) {
        let (left, right) = (panel.x(input.sent), panel.x(input.arrived));
        // A transfer of less than a pixel is still seen.
        scene.rectangle([left, middle - half, right.max(left + 1.0), middle + half], DATA);
    }
    lane.draw_attempt(scene, panel, &it.bar);
    if it.is_critical {
        let computes = panel.x(it.bar.start.unwrap_or(it.bar.left));
        outline(scene, [computes, top, panel.x(it.bar.left).max(computes + 2.0), bottom]);
    }
}

/// Draws a vertical arrow from the origin of data, at the time of departure.
fn draw_way(scene: &mut Scene, panel: &Panel, (from, to): (Lane, Lane), input: &TaskInput) {
    // Within a lane, the pale bar alone shows the transfer.
    if !panel.shows(input.sent) || from.middle() == to.middle() {
        return;
    }
    let x = panel.x(input.sent);
    let down = to.middle() > from.middle();
    let (start, end) = match down {
        true => (from.bar().1, to.middle() - 6.0),
        false => (from.bar().0, to.middle() + 6.0),
    };
    arrow(scene, &[(x, start), (x, end)], INK);
}
