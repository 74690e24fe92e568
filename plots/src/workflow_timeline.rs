//! A workflow over time: for each provider or resource that ran its tasks, a lane for each of those that
//! ran there at one time.
//!
//! ```text
//!  north  ┌────── 0 ──────┐        ┌── 2 ──┐
//!                         │ ░░░░░░
//!  south                  └───────▶┌────── 1 ──────┐
//! ```
//! An arrow leads from where data were made to where they are needed; they are on their way in the pale
//! bar before the task. Attempts that failed are hatched; those of the critical path have a thick edge.

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

/// Data on their way.
const DATA: Colour = Colour(0x9a, 0x9a, 0x9a);

/// What became of a workflow when, and where; times in seconds from its submission on.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowTimeline {
    /// Above the figure.
    pub title: String,
    /// Who ran its tasks, from top to bottom.
    pub places: Vec<WorkflowPlace>,
    /// Start of the time axis, s; 0 is when the workflow was submitted.
    pub from: f64,
    /// End of the time axis, s; without it, the end of what is drawn.
    pub until: Option<f64>,
}

/// Who ran some of its tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowPlace {
    /// The provider, or the resource of a grid.
    pub name: String,
    /// Attempts of tasks, in lanes in which none overlap; one at least.
    pub lanes: Vec<Vec<TaskAttempt>>,
    /// When it was down; of a provider, whose processors fail one by one, nothing.
    pub outages: Vec<Outage>,
}

/// An attempt of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskAttempt {
    /// What it did; its label is the task's number.
    pub bar: AttemptBar,
    /// What it had to wait for from elsewhere.
    pub inputs: Vec<TaskInput>,
    /// True if it lies on the critical path of the workflow as it was.
    pub is_critical: bool,
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
        for (at, attempts) in all {
            let inputs = attempts.iter().flat_map(|it| &it.inputs);
            for (from, input) in inputs.filter_map(|it| Some((it.from?, it))) {
                draw_way(&mut scene, panel, (lane_at(from), lane_at(at)), input);
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    /// What lanes are called: by their place, each once where there is room for all.
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

/// Draws an attempt, with what it waited for before it.
fn draw_attempt(scene: &mut Scene, panel: &Panel, lane: Lane, it: &TaskAttempt) {
    let (top, bottom) = lane.bar();
    let middle = (top + bottom) / 2.0;
    let half = ((bottom - top) / 8.0).clamp(1.5, 5.0);
    for input in it.inputs.iter().filter(|it| it.arrived > it.sent) {
        let (left, right) = (panel.x(input.sent), panel.x(input.arrived));
        scene.rectangle([left, middle - half, right.max(left + 1.0), middle + half], DATA);
    }
    lane.draw_attempt(scene, panel, &it.bar);
    if it.is_critical {
        let computes = panel.x(it.bar.start.unwrap_or(it.bar.left));
        outline(scene, [computes, top, panel.x(it.bar.left).max(computes + 2.0), bottom]);
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
