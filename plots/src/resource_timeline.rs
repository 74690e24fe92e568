//! Resources of a grid over time: a panel for each, with a lane for each of its slots.

mod read;

use crate::attempts::{self, AttemptBar, Lane, Outage};
use crate::axis::Axis;
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Plan};
use crate::look::Look;
use crate::scene::Scene;

pub(crate) use read::asked;
pub use read::resource_timeline;

/// The slots of some resources over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceTimeline {
    /// Title above the figure.
    pub title: String,
    /// The resources, from top to bottom.
    pub resources: Vec<ResourceLanes>,
    /// Start of the time axis, s; without it, the start of the run.
    pub from: Option<f64>,
    /// End of the time axis, s; without it, the end of the last attempt.
    pub until: Option<f64>,
}

/// A resource's panel.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceLanes {
    /// Its name.
    pub name: String,
    /// Attempts in each of its slots, in order of time.
    pub slots: Vec<Vec<AttemptBar>>,
    /// Its outages.
    pub outages: Vec<Outage>,
}

impl ResourceTimeline {
    /// A size in which lanes are hardly higher than their bars.
    pub(crate) fn size(&self) -> Size {
        const LANE: usize = 150;
        // Room for the title, the labels of panels and the axis of time.
        let around = 160 + 60 * self.resources.len();
        let lanes: usize = self.resources.iter().map(|resource| resource.slots.len()).sum();
        let least = 400_u32;
        let height = u32::try_from(around + LANE * lanes).unwrap_or(u32::MAX);
        Size { height: height.clamp(least, Size::default().height), ..Size::default() }
    }

    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let bars = || self.resources.iter().flat_map(|resource| resource.slots.iter().flatten());
        if bars().next().is_none() {
            let reason = match (self.from, self.until) {
                (None, None) => "no job was sent there",
                _ => "no job was there in the time that is drawn",
            };
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let outages = || self.resources.iter().flat_map(|resource| &resource.outages);
        let ends = bars().map(|bar| bar.end);
        let last = ends.chain(outages().filter_map(|it| it.until)).fold(0.0, f64::max);
        let lanes: usize = self.resources.iter().map(|resource| resource.slots.len()).sum();
        let room = f64::from(look.size.height) * 0.7 / lanes.max(1) as f64;
        let panel = |resource: &ResourceLanes| {
            let count = resource.slots.len();
            let names: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
            let label = format!("{}: slot", resource.name);
            (Axis::lanes(&label, &names, room * count as f64), count as f64)
        };
        let plan = Plan {
            title: self.title.clone(),
            legend: attempts::legend(bars(), outages().next().is_some()),
            panels: self.resources.iter().map(panel).collect(),
            ..Plan::default()
        };
        let (left, right) = frame::room(&plan, look);
        let (low, high) = (self.from.unwrap_or(0.0), self.until.unwrap_or(last));
        let x = Axis::time("time", low, high, right - left);
        let (mut scene, panels) = frame::draw(plan, x, look)?;
        for (resource, panel) in self.resources.iter().zip(&panels) {
            let whole = Lane { top: panel.top, bottom: panel.bottom };
            whole.draw_outages(&mut scene, panel, &resource.outages);
            for (place, slot) in resource.slots.iter().enumerate() {
                let lane = Lane::of(panel, place, resource.slots.len());
                let next = slot.iter().skip(1).map(|bar| bar.dispatched);
                for (bar, next) in slot.iter().zip(next.chain([f64::INFINITY])) {
                    lane.draw_attempt(&mut scene, panel, bar);
                    lane.label_beside(&mut scene, panel, bar, next);
                }
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }
}
