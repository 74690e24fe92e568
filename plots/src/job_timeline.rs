//! A job of a grid across its attempts: a lane for each attempt, below a lane for the whole job.
//!
//! An arrow leads from a checkpoint to the attempt that continued from it.

mod read;

use crate::attempts::{self, AttemptBar, Lane, Outage};
use crate::axis::Axis;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::{Key, Mark, arrow};
use crate::look::Look;
use crate::palette::INK;
use crate::scene::{Anchor, Colour, Scene};
use crate::type_face::width;

pub(crate) use read::asked;
pub use read::job_timeline;

const GUIDE: Colour = Colour(0x99, 0x99, 0x99);
const NOTE_SIZE: f64 = 22.0;

/// One job from its submission to its end; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTimeline {
    /// Title above the figure.
    pub title: String,
    /// Name of the job.
    pub job: String,
    /// Time of its submission.
    pub submitted: f64,
    /// Time at which it left the system, or the run ended.
    pub left: f64,
    /// Outcome of the job.
    pub outcome: String,
    /// Its attempts, from top to bottom.
    pub attempts: Vec<JobAttempt>,
    /// Start of the time axis; without it, shortly before the submission.
    pub from: Option<f64>,
    /// End of the time axis; without it, shortly after the job's end.
    pub until: Option<f64>,
}

/// An attempt of the job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobAttempt {
    /// The name of its lane.
    pub name: String,
    /// Bar of the attempt.
    pub bar: AttemptBar,
    /// Checkpoint from which it continued: the place of an attempt in [`JobTimeline::attempts`], and of
    /// a checkpoint among its own.
    pub origin: Option<(usize, usize)>,
    /// Outages of its resource.
    pub outages: Vec<Outage>,
}

impl JobTimeline {
    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let bars = || self.attempts.iter().map(|it| &it.bar);
        let last = bars().map(|bar| bar.end).fold(self.left, f64::max);
        // Room at both ends, so that the marks there are complete.
        let edge = (last - self.submitted) * 0.02;
        let low = self.from.unwrap_or_else(|| (self.submitted - edge).max(0.0));
        let high = self.until.unwrap_or(last + edge);
        if !bars().any(|bar| bar.dispatched <= high && bar.end >= low) {
            let reason = match (self.from, self.until) {
                (None, None) => "the job was never sent to a resource",
                _ => "the job was at no resource in the time that is drawn",
            };
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let whole = std::iter::once("whole job".to_owned());
        let names: Vec<String> =
            whole.chain(self.attempts.iter().map(|it| it.name.clone())).collect();
        let room = f64::from(look.size.height) * 0.7;
        let seen =
            |outage: &Outage| outage.from < high && outage.until.is_none_or(|until| until > low);
        let outages = self.attempts.iter().any(|it| it.outages.iter().any(seen));
        let mut legend = attempts::legend(bars(), outages);
        if bars().any(|bar| bar.checkpoints.iter().any(|it| it.available.is_some())) {
            legend.push(Key::new("checkpoint usable", Mark::Dot, INK));
        }
        if self.attempts.iter().any(|it| it.origin.is_some()) {
            legend.push(Key::new("goes on from", Mark::Arrow, INK));
        }
        let plan = Plan {
            title: self.title.clone(),
            legend,
            legend_label: String::new(),
            panels: vec![(Axis::lanes(&self.job, &names, room), 1.0)],
            ..Plan::default()
        };
        let (left, right) = frame::room(&plan, look);
        let x = Axis::time("time", low, high, right - left);
        let (mut scene, panels) = frame::draw(plan, x, look)?;
        let panel = &panels[0];
        let lane = |place| Lane::of(panel, place, names.len());
        // Outages lie behind all bars, and arrows before them.
        for (place, it) in (1..).zip(&self.attempts) {
            lane(place).draw_outages(&mut scene, panel, &it.outages);
        }
        self.draw_whole(&mut scene, panel, lane(0));
        for (place, it) in (1..).zip(&self.attempts) {
            lane(place).draw_attempt(&mut scene, panel, &it.bar);
            lane(place).draw_available(&mut scene, panel, &it.bar);
        }
        for (place, it) in (1..).zip(&self.attempts) {
            if let Some((parent, checkpoint)) = it.origin {
                let available = self.attempts[parent].bar.checkpoints[checkpoint].available;
                let points =
                    available.map(|time| way(panel, lane(parent + 1), time, lane(place), &it.bar));
                points.into_iter().for_each(|points| arrow(&mut scene, &points, INK));
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    /// Draws the interval in which the job was in the system.
    fn draw_whole(&self, scene: &mut Scene, panel: &Panel, lane: Lane) {
        let (left, right) = (panel.x(self.submitted), panel.x(self.left));
        let y = lane.middle();
        scene.line(vec![(left, y), (right, y)], INK, 3);
        let mut free_from = f64::MIN;
        let ends = [(self.submitted, "submitted"), (self.left, self.outcome.as_str())];
        for (time, note) in ends.into_iter().filter(|(time, _)| panel.shows(*time)) {
            let x = panel.x(time);
            scene.line(vec![(x, y), (x, panel.bottom)], GUIDE, 1);
            scene.dot((x, y), 7.0, INK);
            let wide = width(note, NOTE_SIZE);
            // The text is above the line, as near to its end as the panel allows.
            let start = (x - wide / 2.0).min(panel.right - wide).max(panel.left + 4.0);
            if start > free_from && lane.bottom - lane.top >= 2.0 * (NOTE_SIZE + 8.0) {
                let at = (start, y - NOTE_SIZE / 2.0 - 10.0);
                scene.text(at, note, NOTE_SIZE, INK, Anchor::Start);
                free_from = start + wide + 12.0;
            }
        }
    }
}

/// The arrow from a checkpoint that was usable at `time` to the attempt that continued from it. It ends
/// at the attempt's beginning, or at the time at which the attempt was waiting for the checkpoint.
fn way(panel: &Panel, from: Lane, time: f64, to: Lane, bar: &AttemptBar) -> Vec<(f64, f64)> {
    let x = panel.x(time);
    let start = (x, from.available_y());
    let arrives = panel.x(bar.dispatched);
    // Less has no room for an arrowhead from the side, so the arrow comes from above or below.
    if arrives - x >= 12.0 {
        return vec![start, (x, to.middle()), (arrives, to.middle())];
    }
    let (top, bottom) = to.bar();
    let quarter = (bottom - top) / 4.0;
    let edge = if to.top > from.top { top + quarter } else { bottom - quarter };
    let x = x.max(arrives);
    vec![(x, start.1), (x, edge)]
}
