//! Busy processors and waiting jobs over time.
//!
//! Both are step functions. Where a pixel holds several steps, their mean over the
//! pixel's time is drawn, so that the area under the curve stays right.

use crate::axis::{Axis, from_zero};
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::palette::{BLUE, VERMILION};
use crate::scene::{Colour, Scene};

/// Busy processors or waiting jobs over time, or both, for some providers.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Above the figure.
    pub title: String,
    /// What is drawn.
    pub shows: Shows,
    /// What gets panels of its own, from top to bottom.
    pub parts: Vec<TimelinePart>,
    /// Start of the time axis, s; without it, the first job.
    pub from: Option<f64>,
    /// End of the time axis, s; without it, the end of the last job.
    pub until: Option<f64>,
}

/// What a timeline draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The share of busy processors.
    Utilisation,
    /// The number of waiting jobs.
    Queue,
    /// Both, one above the other.
    Both,
}

/// A provider, or several taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelinePart {
    /// Its name.
    pub name: String,
    /// All its processors.
    pub processors: u64,
    /// All jobs that were queued there.
    pub jobs: Vec<TimelineJob>,
}

/// A job's times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineJob {
    /// When it began to wait.
    pub queued: f64,
    /// When it started, if it did.
    pub start: Option<f64>,
    /// When it left.
    pub end: f64,
    /// Processors it held.
    pub processors: u32,
}

/// A change of a step function: (when, by how much).
type Step = (f64, f64);

impl Timeline {
    pub(crate) fn scene(&self, size: Size) -> Result<Scene, PlotError> {
        let jobs = || self.parts.iter().flat_map(|part| &part.jobs);
        if jobs().next().is_none() || self.parts.iter().all(|part| part.processors == 0) {
            return Err(PlotError::NoData {
                title: self.title.clone(),
                reason: "no job was queued",
            });
        }
        let first = || jobs().map(|job| job.queued).fold(f64::INFINITY, f64::min);
        let last = || jobs().map(|job| job.end).fold(f64::NEG_INFINITY, f64::max);
        let high = self.until.unwrap_or_else(last);
        let low = self.from.unwrap_or_else(|| from_zero(first(), high));
        let curves = self.curves(low, high);
        let plan = Plan {
            title: self.title.clone(),
            legend: Vec::new(),
            panels: curves.iter().map(|curve| (curve.axis.clone(), 1.0)).collect(),
        };
        let (left, right) = frame::room(&plan, size);
        let x = Axis::time("time", low, high, right - left);
        let (mut scene, panels) = frame::draw(plan, x, size)?;
        for (curve, panel) in curves.iter().zip(&panels) {
            draw_steps(&mut scene, panel, &curve.steps, curve.colour);
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    /// A curve for each panel.
    fn curves(&self, low: f64, high: f64) -> Vec<Curve> {
        let mut curves = Vec::new();
        let ticks = if self.parts.len() > 2 { 3 } else { 5 };
        for part in &self.parts {
            let name = |what: &str| match self.parts.len() {
                1 => what.to_owned(),
                _ => format!("{}: {what}", part.name),
            };
            if self.shows != Shows::Queue {
                let axis = Axis::amounts(&name("busy processors, %"), 100.0, ticks);
                curves.push(Curve { axis, steps: within(part.busy(), low, high), colour: BLUE });
            }
            if self.shows != Shows::Utilisation {
                let steps = within(part.waiting(), low, high);
                // A queue of one job is no reason for ticks at halves of a job.
                let most = (highest(&steps) as usize).clamp(1, ticks);
                let axis = Axis::amounts(&name("waiting jobs"), highest(&steps), most);
                curves.push(Curve { axis, steps, colour: VERMILION });
            }
        }
        curves
    }
}

/// What a panel shows.
struct Curve {
    axis: Axis,
    steps: Vec<Step>,
    colour: Colour,
}

impl TimelinePart {
    fn busy(&self) -> Vec<Step> {
        let percent = 100.0 / self.processors.max(1) as f64;
        let steps = self.jobs.iter().filter_map(|job| {
            let share = f64::from(job.processors) * percent;
            job.start.map(|start| [(start, share), (job.end, -share)])
        });
        sorted(steps.flatten().collect())
    }

    fn waiting(&self) -> Vec<Step> {
        let steps = self.jobs.iter().filter(|job| job.start.unwrap_or(job.end) > job.queued);
        let steps = steps.map(|job| [(job.queued, 1.0), (job.start.unwrap_or(job.end), -1.0)]);
        sorted(steps.flatten().collect())
    }
}

/// The steps between two instants; those before become one, so that the level is right.
fn within(steps: Vec<Step>, low: f64, high: f64) -> Vec<Step> {
    let (before, after): (Vec<Step>, Vec<Step>) =
        steps.into_iter().partition(|(time, _)| *time <= low);
    let level = before.iter().map(|(_, change)| change).sum();
    let first = std::iter::once((low, level));
    first.chain(after.into_iter().take_while(|(time, _)| *time < high)).collect()
}

/// In order of time, with one step an instant: a job that takes over from another leaves no notch.
fn sorted(mut steps: Vec<Step>) -> Vec<Step> {
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    steps.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
    steps
}

fn highest(steps: &[Step]) -> f64 {
    let mut level = 0.0;
    steps.iter().fold(0.0, |most, (_, change)| {
        level += change;
        f64::max(most, level)
    })
}

fn draw_steps(scene: &mut Scene, panel: &Panel, steps: &[Step], colour: Colour) {
    // Steps within a pixel would pile up to needles that say nothing.
    let crowded = steps.windows(2).any(|pair| panel.x(pair[1].0) - panel.x(pair[0].0) < 2.0);
    let line = if crowded { means(panel, steps) } else { corners(panel, steps) };
    // The area goes as one box a step: a polygon with thousands of corners is slow to fill.
    for pair in line.windows(2) {
        let ((from, y), (to, _)) = (pair[0], pair[1]);
        if to > from && y < panel.bottom - 0.5 {
            scene.wash([from, y, to, panel.bottom], colour, 0.3);
        }
    }
    scene.line(line, colour, 2);
}

fn corners(panel: &Panel, steps: &[Step]) -> Vec<(f64, f64)> {
    let mut level = 0.0;
    let mut line = vec![(panel.left, panel.bottom)];
    for (time, change) in steps {
        let x = panel.x(*time);
        line.push((x, panel.y(level)));
        level += change;
        line.push((x, panel.y(level)));
    }
    line.push((panel.right, panel.y(level)));
    line
}

/// The mean of the step function over each two pixels.
fn means(panel: &Panel, steps: &[Step]) -> Vec<(f64, f64)> {
    const PIXELS: f64 = 2.0;
    let columns = ((panel.right - panel.left) / PIXELS) as usize;
    let mut sums = vec![0.0; columns + 1];
    let mut level = 0.0;
    let mut before = 0.0;
    let last = ((panel.right - panel.left) / PIXELS, 0.0);
    let places =
        steps.iter().map(|(time, change)| ((panel.x(*time) - panel.left) / PIXELS, *change));
    for (place, change) in places.chain([last]) {
        let mut at: f64 = before;
        while at < place {
            let end = (at.floor() + 1.0).min(place);
            sums[(at as usize).min(columns)] += level * (end - at);
            at = end;
        }
        level += change;
        before = place;
    }
    let mut line = Vec::with_capacity(columns * 2);
    for (i, mean) in sums.iter().take(columns).enumerate() {
        let left = panel.left + i as f64 * PIXELS;
        line.push((left, panel.y(*mean)));
        line.push((left + PIXELS, panel.y(*mean)));
    }
    line
}
