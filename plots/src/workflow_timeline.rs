//! A workflow over time: a panel for each provider or resource that ran its tasks, a lane for each of
//! those that ran there at one time.
//!
//! ```text
//!  north  ┌────── 0 ──────┐        ┌── 2 ──┐
//!                         │ ░░░░░░
//!  south                  └───────▶┌────── 1 ──────┐
//! ```
//! An arrow leads from where data were made to where they are needed; they are on their way in the pale
//! bar before the task. Tries that failed are hatched.

use crate::axis::Axis;
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::gantt::hatch;
use crate::legend::{Key, Mark, arrow};
use crate::palette::{INK, WHITE};
use crate::scene::{Colour, Scene};
use crate::tries::{self, Lane, Outage, TryBar};
use haggle_model::grid::TryEnd;

/// Data on their way.
const DATA: Colour = Colour(0x9a, 0x9a, 0x9a);

/// What became of a workflow when, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowTimeline {
    /// Above the figure.
    pub title: String,
    /// Who ran its tasks, from top to bottom.
    pub places: Vec<WorkflowPlace>,
    /// Start of the time axis, s; without it, when the workflow was submitted.
    pub from: f64,
    /// End of the time axis, s; without it, the end of what is drawn.
    pub until: Option<f64>,
}

/// A panel.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowPlace {
    /// The provider, or the resource of a grid.
    pub name: String,
    /// Tries of tasks, in lanes in which none overlap.
    pub lanes: Vec<Vec<TaskTry>>,
    /// When it, or a part of it, was down.
    pub outages: Vec<Outage>,
}

/// A try of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskTry {
    /// What it did; its label is the task's number.
    pub bar: TryBar,
    /// What it had to wait for from elsewhere.
    pub inputs: Vec<TaskInput>,
}

/// Data, or a task that moved, on the way to where a task runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskInput {
    /// Place and lane of what it came from; `None` = the storage.
    pub from: Option<(usize, usize)>,
    /// When it left.
    pub sent: f64,
    /// When it arrived.
    pub arrived: f64,
}

impl WorkflowTimeline {
    fn tries(&self) -> impl Iterator<Item = &TaskTry> + Clone {
        self.places.iter().flat_map(|place| place.lanes.iter().flatten())
    }

    pub(crate) fn scene(&self, size: Size) -> Result<Scene, PlotError> {
        let bars = || self.tries().map(|it| &it.bar);
        let last = bars().map(|bar| bar.end).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = (self.from, self.until.unwrap_or(last));
        if !bars().any(|bar| bar.dispatched <= high && bar.end >= low) {
            let reason = "none of its tasks ran in the time that is drawn";
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let lanes: usize = self.places.iter().map(|place| place.lanes.len()).sum();
        let room = f64::from(size.height) * 0.7 / lanes.max(1) as f64;
        let panel = |place: &WorkflowPlace| {
            let count = place.lanes.len();
            let names = vec![String::new(); count];
            (Axis::lanes(&place.name, &names, room * count as f64), count as f64)
        };
        let plan = Plan {
            title: self.title.clone(),
            legend: self.legend(low, high),
            panels: self.places.iter().map(panel).collect(),
        };
        let (left, right) = frame::room(&plan, size);
        let x = Axis::time("time", low, high, right - left);
        let (mut scene, panels) = frame::draw(plan, x, size)?;
        for (place, panel) in self.places.iter().zip(&panels) {
            let whole = Lane { top: panel.top, bottom: panel.bottom };
            whole.draw_outages(&mut scene, panel, &place.outages);
        }
        for (place, panel) in self.places.iter().zip(&panels) {
            for (number, lane) in place.lanes.iter().enumerate() {
                let at = Lane::of(panel, number, place.lanes.len());
                lane.iter().for_each(|it| draw_try(&mut scene, panel, at, it));
            }
        }
        for (place, panel) in self.places.iter().zip(&panels) {
            for (number, lane) in place.lanes.iter().enumerate() {
                let to = Lane::of(panel, number, place.lanes.len());
                let inputs = lane.iter().flat_map(|it| &it.inputs);
                for (from, input) in inputs.filter_map(|it| Some((it.from?, it))) {
                    let (place, number) = from;
                    let from = Lane::of(&panels[place], number, self.places[place].lanes.len());
                    draw_way(&mut scene, panel, (from, to), input);
                }
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    fn legend(&self, low: f64, high: f64) -> Vec<Key> {
        let seen = |it: &Outage| it.from < high && it.until.is_none_or(|until| until > low);
        let outages = self.places.iter().any(|place| place.outages.iter().any(seen));
        let mut legend = tries::legend(self.tries().map(|it| &it.bar), outages);
        let inputs = || self.tries().flat_map(|it| &it.inputs);
        if inputs().any(|it| it.arrived > it.sent) {
            legend.push(Key::new("data on their way", Mark::Flat, DATA));
        }
        if inputs().any(|it| it.from.is_some()) {
            legend.push(Key::new("from where", Mark::Arrow, INK));
        }
        legend
    }
}

/// Draws a try, with what it waited for before it.
fn draw_try(scene: &mut Scene, panel: &Panel, lane: Lane, it: &TaskTry) {
    let (top, bottom) = lane.bar();
    let middle = (top + bottom) / 2.0;
    let half = ((bottom - top) / 8.0).clamp(1.5, 5.0);
    for input in it.inputs.iter().filter(|it| it.arrived > it.sent) {
        let (left, right) = (panel.x(input.sent), panel.x(input.arrived));
        scene.rectangle([left, middle - half, right.max(left + 1.0), middle + half], DATA);
    }
    lane.draw_try(scene, panel, &it.bar);
    if it.bar.ending == TryEnd::Failed {
        let computes = it.bar.start.unwrap_or(it.bar.left);
        let edges = [panel.x(computes), top, panel.x(it.bar.left), bottom];
        hatch(scene, edges, WHITE);
    }
}

/// Draws from where something came: straight down or up, when it left.
fn draw_way(scene: &mut Scene, panel: &Panel, (from, to): (Lane, Lane), input: &TaskInput) {
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
