//! Gantt charts: which job held which processors when, a panel for each provider.
//!
//! Few jobs are drawn as bars with their numbers. Where bars would be thinner than
//! can be told apart, the chart shows instead how busy each spot of (some pixels
//! of time) × (some processors) was, which stays fast and true for any number.

use crate::axis::{Axis, from_zero};
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::Key;
use crate::palette::{WHITE, on, series, shade};
use crate::scene::{Anchor, Colour, Scene};
use crate::tries::{OUTAGE, Outage};
use crate::type_face::width;

/// Above this many bars the chart shows how busy processors were instead.
pub const BARS_MAX: usize = 1500;
const SHADES: usize = 8;
/// What is closed for maintenance, and the lines over it.
const MAINTENANCE: Colour = Colour(0xf3, 0xe9, 0xc6);
const HATCH: Colour = Colour(0xb5, 0x9a, 0x4a);
/// Pixels from one line to the next.
const HATCH_STEP: f64 = 12.0;

/// A Gantt chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Gantt {
    /// Above the chart.
    pub title: String,
    /// The providers, from top to bottom.
    pub providers: Vec<GanttProvider>,
    /// Names of the groups that colours stand for; with one or none, each job has a colour.
    pub groups: Vec<String>,
    /// Start of the time axis, s; without it, the first job.
    pub from: Option<f64>,
    /// End of the time axis, s; without it, the end of the last job.
    pub until: Option<f64>,
}

/// A provider's panel.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttProvider {
    /// Its name.
    pub name: String,
    /// Number of its first processor.
    pub first: u32,
    /// How many it has.
    pub processors: u32,
    /// What ran there.
    pub bars: Vec<GanttBar>,
    /// When which of its processors were down.
    pub outages: Vec<GanttOutage>,
    /// When which of its processors were in maintenance.
    pub maintenance: Vec<GanttOutage>,
}

/// A time in which a contiguous interval of processors was down, or closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GanttOutage {
    /// First processor.
    pub first: u32,
    /// Last processor, included.
    pub last: u32,
    /// When they were.
    pub time: Outage,
}

/// A contiguous interval of processors held by a job for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttBar {
    /// Written on the bar where there is room.
    pub label: String,
    /// Number of the job; bars of one job share a colour.
    pub job: i64,
    /// Place in [`Gantt::groups`].
    pub group: usize,
    /// First processor.
    pub first: u32,
    /// Last processor, included.
    pub last: u32,
    /// From when, s.
    pub start: f64,
    /// Until when, s.
    pub end: f64,
}

impl Gantt {
    pub(crate) fn scene(&self, size: Size) -> Result<Scene, PlotError> {
        let bars = || self.providers.iter().flat_map(|provider| &provider.bars);
        let count = bars().count();
        if count == 0 {
            let reason = match (self.from, self.until) {
                (None, None) => "no job ran",
                _ => "no job ran in the time that is drawn",
            };
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let first = || bars().map(|bar| bar.start).fold(f64::INFINITY, f64::min);
        let last = || bars().map(|bar| bar.end).fold(f64::NEG_INFINITY, f64::max);
        let high = self.until.unwrap_or_else(last);
        let low = self.from.unwrap_or_else(|| from_zero(first(), high));
        let dense = count > BARS_MAX;
        let panel = |provider: &GanttProvider| {
            let (first, count) = (f64::from(provider.first), f64::from(provider.processors));
            let label = format!("{}: processor", provider.name);
            // Widths as they are would hide a small provider beside a large one.
            (Axis::linear(&label, first, first + count, 4), count.max(1.0).sqrt())
        };
        let plan = Plan {
            title: self.title.clone(),
            legend_label: String::new(),
            legend: self.legend(dense).into_iter().map(Key::from).collect(),
            panels: self.providers.iter().map(panel).collect(),
        };
        let (left, right) = frame::room(&plan, size);
        let x = Axis::time("time", low, high, right - left);
        let (mut scene, panels) = frame::draw(plan, x, size)?;
        for (provider, panel) in self.providers.iter().zip(&panels) {
            draw_spans(&mut scene, panel, &provider.outages, false);
            draw_spans(&mut scene, panel, &provider.maintenance, true);
            if dense {
                draw_density(&mut scene, panel, provider);
            } else {
                self.draw_bars(&mut scene, panel, provider);
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    fn legend(&self, dense: bool) -> Vec<(String, Colour)> {
        let mut legend: Vec<(String, Colour)> = Vec::new();
        if dense {
            let step =
                |percent: u32| (format!("{percent} % busy"), shade(f64::from(percent) / 100.0));
            legend.extend([100, 75, 50, 25].map(step));
        } else if self.groups.len() > 1 {
            legend.extend(self.groups.iter().cloned().zip((0..).map(series)));
        }
        if self.providers.iter().any(|provider| !provider.outages.is_empty()) {
            legend.push(("outage".to_owned(), OUTAGE));
        }
        if self.providers.iter().any(|provider| !provider.maintenance.is_empty()) {
            legend.push(("maintenance".to_owned(), MAINTENANCE));
        }
        legend
    }

    fn draw_bars(&self, scene: &mut Scene, panel: &Panel, provider: &GanttProvider) {
        for bar in &provider.bars {
            let number = match self.groups.len() {
                0 | 1 => bar.job.unsigned_abs() as usize,
                _ => bar.group,
            };
            let colour = series(number);
            let (left, right) =
                (panel.x(bar.start), panel.x(bar.end).max(panel.x(bar.start) + 1.0));
            let (top, bottom) = (panel.y(f64::from(bar.last) + 1.0), panel.y(f64::from(bar.first)));
            // A white seam tells neighbours of one colour apart, where there is room for it.
            let seam = |span: f64| if span >= 6.0 { 1.0 } else { 0.0 };
            let (across, up) = (seam(right - left), seam(bottom - top));
            scene.rectangle([left, top, right, bottom], WHITE);
            scene.rectangle([left, top + up, right - across, bottom], colour);
            let size = (bottom - top - 4.0).min(24.0);
            // Smaller numbers could not be read on a page.
            if size >= 18.0 && width(&bar.label, size) + 8.0 <= right - left {
                let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
                scene.text(middle, &bar.label, size, on(colour), Anchor::Middle);
            }
        }
    }
}

/// Shades what was down or closed, below all that ran. What was closed is hatched, so that the two
/// can be told apart without their colours.
fn draw_spans(scene: &mut Scene, panel: &Panel, spans: &[GanttOutage], closed: bool) {
    for &GanttOutage { first, last, time } in spans {
        // A window may begin before all jobs, and end after them.
        let left = panel.x(time.from).max(panel.left);
        let right = time.until.map_or(panel.right, |until| panel.x(until).min(panel.right));
        // A short one is still seen.
        let right = right.max((left + 1.0).min(panel.right));
        if left >= panel.right || right <= panel.left {
            continue;
        }
        let (top, bottom) = (panel.y(f64::from(last) + 1.0), panel.y(f64::from(first)));
        scene.rectangle([left, top, right, bottom], if closed { MAINTENANCE } else { OUTAGE });
        if closed {
            hatch(scene, [left, top, right, bottom], HATCH);
        }
    }
}

/// Slanted lines over a rectangle.
pub(crate) fn hatch(scene: &mut Scene, [left, top, right, bottom]: [f64; 4], colour: Colour) {
    let height = bottom - top;
    let mut foot = left - height;
    while foot < right {
        // From (foot, bottom) up to the right, as far as it is inside.
        let (from, to) = (foot.max(left), (foot + height).min(right));
        if from < to {
            let line = vec![(from, bottom - (from - foot)), (to, bottom - (to - foot))];
            scene.line(line, colour, 1);
        }
        foot += HATCH_STEP;
    }
}

fn draw_density(scene: &mut Scene, panel: &Panel, provider: &GanttProvider) {
    let columns = (((panel.right - panel.left) / 4.0) as usize).max(1);
    let rows =
        ((panel.bottom - panel.top) / 5.0).max(1.0).min(f64::from(provider.processors.max(1)));
    let rows = rows as usize;
    let spots = busy_spots(panel, provider, columns, rows);
    let across = (panel.right - panel.left) / columns as f64;
    let up = (panel.bottom - panel.top) / rows as f64;
    for row in 0..rows {
        let line = &spots[row * columns..(row + 1) * columns];
        let bottom = panel.bottom - row as f64 * up;
        let mut from = 0;
        while from < columns {
            // Neighbours of one shade are one rectangle: an SVG of every spot would be huge.
            let level = level(line[from]);
            let same = line[from..].iter().take_while(|&&it| self::level(it) == level).count();
            if level > 0 {
                let left = panel.left + from as f64 * across;
                let right = left + same as f64 * across;
                let colour = shade(level as f64 / SHADES as f64);
                scene.rectangle([left, bottom - up, right, bottom], colour);
            }
            from += same;
        }
    }
}

fn level(busy: f64) -> usize {
    // What was used at all is visible.
    if busy <= 0.0 { 0 } else { ((busy * SHADES as f64).round() as usize).clamp(1, SHADES) }
}

/// The share of each spot that was busy, row by row from the lowest processor.
fn busy_spots(panel: &Panel, provider: &GanttProvider, columns: usize, rows: usize) -> Vec<f64> {
    let mut spots = vec![0.0; columns * rows];
    let per_row = f64::from(provider.processors.max(1)) / rows as f64;
    let wide = (panel.right - panel.left) / columns as f64;
    for bar in &provider.bars {
        let from = (panel.x(bar.start) - panel.left) / wide;
        let to = (panel.x(bar.end) - panel.left) / wide;
        let low = f64::from(bar.first.saturating_sub(provider.first)) / per_row;
        let high = (f64::from(bar.last.saturating_sub(provider.first)) + 1.0) / per_row;
        for row in cells(low, high, rows) {
            let part = overlap(low, high, row);
            for column in cells(from, to, columns) {
                spots[row * columns + column] += part * overlap(from, to, column);
            }
        }
    }
    spots
}

fn cells(from: f64, to: f64, count: usize) -> std::ops::Range<usize> {
    (from as usize).min(count)..(to.ceil() as usize).min(count)
}

fn overlap(from: f64, to: f64, cell: usize) -> f64 {
    let cell = cell as f64;
    (to.min(cell + 1.0) - from.max(cell)).max(0.0)
}
