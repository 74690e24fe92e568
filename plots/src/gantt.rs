//! Gantt charts: which job held which processors when, a panel for each provider.
//!
//! Few jobs are drawn as bars with their numbers in the run. Colours stand for groups of jobs; what failed is
//! pale and hatched; processors of one job that do not lie side by side are joined by a line.
//! Processors are counted from 0 in each panel. Where bars would be thinner than
//! can be told apart, the chart shows instead how busy each spot of (a round length
//! of time) × (some processors) was, which stays fast and true for any number.

mod read;

use crate::attempts::{OUTAGE, Outage};
use crate::axis::{Axis, from_zero};
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::{Key, Mark};
use crate::palette::{INK, WHITE, group, on, shade, tint};
use crate::scene::{Anchor, Colour, Scene};
use crate::timeline::{bin_length, in_words};
use crate::type_face::width;

pub(crate) use read::asked;
pub use read::{differ_by, gantt};

/// Above this many bars the chart shows how busy processors were instead.
pub const BARS_MAX: usize = 1500;
const SHADES: usize = 8;
/// Width and height of the spots of such a chart, at least, pixels.
const SPOT: (f64, f64) = (4.0, 5.0);
/// What is closed for maintenance, and the lines over it.
const MAINTENANCE: Colour = Colour(0xf3, 0xe9, 0xc6);
const HATCH: Colour = Colour(0xb5, 0x9a, 0x4a);
/// Pixels from one line to the next.
const HATCH_STEP: f64 = 12.0;
/// How much of its colour is left in what failed.
const PALE: f64 = 0.3;

/// A Gantt chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Gantt {
    /// Above the chart.
    pub title: String,
    /// The providers, from top to bottom.
    pub providers: Vec<GanttProvider>,
    /// Names of the groups that colours stand for; with one or none, all jobs have one colour.
    pub groups: Vec<String>,
    /// What the groups are, such as `class`.
    pub group_label: String,
    /// Start of the time axis, s; without it, the first job.
    pub from: Option<f64>,
    /// End of the time axis, s; without it, the end of the last job.
    pub until: Option<f64>,
    /// What a clock on the wall showed at 0, seconds since 1970-01-01: ticks are dates then.
    pub clock: Option<i64>,
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
    /// Number of the job: its bars that start together are joined.
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
    /// Whether a failure ended it.
    pub failed: bool,
}

impl Gantt {
    pub(crate) fn scene(&self, size: Size) -> Result<Scene, PlotError> {
        let bars = || self.bars();
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
        // As wide as can be seen, and of a round length, which the legend says.
        let a_pixel = (high - low) / f64::from(size.width);
        let bin = bin_length(SPOT.0 * a_pixel);
        let panel = |provider: &GanttProvider| {
            let count = f64::from(provider.processors);
            let label = format!("{}: processor", provider.name);
            // Widths as they are would hide a small provider beside a large one.
            (Axis::linear(&label, 0.0, count, 4), count.max(1.0).sqrt())
        };
        let plan = Plan {
            title: self.title.clone(),
            legend_label: match dense {
                true => format!("mean of {}", in_words(bin)),
                false => self.group_label.clone(),
            },
            legend: self.legend(dense),
            panels: self.providers.iter().map(panel).collect(),
        };
        let (left, right) = frame::room(&plan, size);
        let x = Axis::of_run(low, high, self.clock, right - left);
        let (mut scene, panels) = frame::draw(plan, x, size)?;
        for (provider, panel) in self.providers.iter().zip(&panels) {
            draw_spans(&mut scene, panel, provider.first, &provider.outages, false);
            draw_spans(&mut scene, panel, provider.first, &provider.maintenance, true);
            if dense {
                draw_density(&mut scene, panel, provider, (high - low) / bin);
            } else {
                self.draw_bars(&mut scene, panel, provider);
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    fn legend(&self, dense: bool) -> Vec<Key> {
        let mut legend: Vec<Key> = Vec::new();
        if dense {
            let step = |percent: u32| {
                Key::from((format!("{percent} % busy"), shade(f64::from(percent) / 100.0)))
            };
            legend.extend([100, 75, 50, 25].map(step));
        } else {
            if self.groups.len() > 1 {
                legend.extend(self.groups.iter().cloned().zip((0..).map(group)).map(Key::from));
            }
            if self.bars().any(|bar| bar.failed) {
                legend.push(Key::new("failed", Mark::Hatched, group(0)));
            }
            if self.providers.iter().any(|provider| !joints(&provider.bars).is_empty()) {
                legend.push(Key::new("parts of one job", Mark::Joint, INK));
            }
        }
        if self.providers.iter().any(|provider| !provider.outages.is_empty()) {
            legend.push(Key::from(("outage".to_owned(), OUTAGE)));
        }
        if self.providers.iter().any(|provider| !provider.maintenance.is_empty()) {
            legend.push(Key::from(("maintenance".to_owned(), MAINTENANCE)));
        }
        legend
    }

    fn bars(&self) -> impl Iterator<Item = &GanttBar> {
        self.providers.iter().flat_map(|provider| &provider.bars)
    }

    fn draw_bars(&self, scene: &mut Scene, panel: &Panel, provider: &GanttProvider) {
        let y = |processor: u32| panel.y(f64::from(processor.saturating_sub(provider.first)));
        for bar in &provider.bars {
            let (left, right) =
                (panel.x(bar.start), panel.x(bar.end).max(panel.x(bar.start) + 1.0));
            let (top, bottom) = (y(bar.last + 1), y(bar.first));
            // A white seam tells neighbours of one colour apart, where there is room for it.
            let seam = |span: f64| if span >= 6.0 { 1.0 } else { 0.0 };
            let (across, up) = (seam(right - left), seam(bottom - top));
            let edges = [left, top + up, right - across, bottom];
            scene.rectangle([left, top, right, bottom], WHITE);
            scene.rectangle(edges, self.ground(bar));
            if bar.failed {
                hatch(scene, edges, self.colour(bar));
            }
        }
        for [lower, upper] in joints(&provider.bars) {
            // Where both are: they start together, and a part that a failure ended is shorter.
            let x = panel.x(lower.start) + JOINT_INDENT;
            if panel.x(lower.end.min(upper.end)) > x + JOINT_INDENT {
                joint(scene, x, [y(upper.first), y(lower.last + 1)], INK);
            }
        }
        for bar in &provider.bars {
            let edges = [panel.x(bar.start), y(bar.last + 1), panel.x(bar.end), y(bar.first)];
            write_number(scene, bar, edges, self.ground(bar));
        }
    }

    /// The colour of a bar's group.
    fn colour(&self, bar: &GanttBar) -> Colour {
        group(if self.groups.len() > 1 { bar.group } else { 0 })
    }

    /// The colour on which its number stands.
    fn ground(&self, bar: &GanttBar) -> Colour {
        let colour = self.colour(bar);
        if bar.failed { tint(colour, PALE) } else { colour }
    }
}

/// Writes the number of a job on its bar, where there is room.
fn write_number(
    scene: &mut Scene,
    bar: &GanttBar,
    [left, top, right, bottom]: [f64; 4],
    ground: Colour,
) {
    let size = (bottom - top - 4.0).min(24.0);
    let long = width(&bar.label, size) + 8.0;
    // Smaller numbers could not be read on a page.
    if size < 18.0 || long > right - left {
        return;
    }
    let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
    if bar.failed {
        // Numbers are not hatched.
        let (wide, high) = (long / 2.0 - 2.0, size * 0.45);
        scene.rectangle([x - wide, y - high, x + wide, y + high], ground);
    }
    scene.text((x, y), &bar.label, size, on(ground), Anchor::Middle);
}

/// How far behind the start of a job the line stands that joins its bars, pixels.
const JOINT_INDENT: f64 = 4.0;

/// Pairs of neighbouring bars of one job that start together and do not touch, the lower one first.
fn joints(bars: &[GanttBar]) -> Vec<[&GanttBar; 2]> {
    let mut sorted: Vec<&GanttBar> = bars.iter().collect();
    let place = |bar: &GanttBar| (bar.job, bar.first);
    sorted.sort_by(|a, b| a.start.total_cmp(&b.start).then(place(a).cmp(&place(b))));
    let joined = |pair: &&[&GanttBar]| {
        let (lower, upper) = (pair[0], pair[1]);
        (lower.job, lower.start) == (upper.job, upper.start) && upper.first > lower.last + 1
    };
    sorted.windows(2).filter(joined).map(|pair| [pair[0], pair[1]]).collect()
}

/// A line from a bar to the next one of its job, with an end in each.
pub(crate) fn joint(scene: &mut Scene, x: f64, [top, bottom]: [f64; 2], colour: Colour) {
    scene.line(vec![(x, top), (x, bottom)], colour, 1);
    for y in [top - 2.0, bottom + 2.0] {
        scene.dot((x, y), 3.0, colour);
    }
}

/// Shades what was down or closed, below all that ran. What was closed is hatched, so that the two
/// can be told apart without their colours.
fn draw_spans(scene: &mut Scene, panel: &Panel, lowest: u32, spans: &[GanttOutage], closed: bool) {
    for &GanttOutage { first, last, time } in spans {
        // A window may begin before all jobs, and end after them.
        let left = panel.x(time.from).max(panel.left);
        let right = time.until.map_or(panel.right, |until| panel.x(until).min(panel.right));
        // A short one is still seen.
        let right = right.max((left + 1.0).min(panel.right));
        if left >= panel.right || right <= panel.left {
            continue;
        }
        let y = |processor: u32| panel.y(f64::from(processor.saturating_sub(lowest)));
        let (top, bottom) = (y(last + 1), y(first));
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

/// Draws how busy each spot was, in so many columns, of which the last may be a part of one.
fn draw_density(scene: &mut Scene, panel: &Panel, provider: &GanttProvider, wide: f64) {
    let columns = (wide.ceil() as usize).max(1);
    let rows =
        ((panel.bottom - panel.top) / SPOT.1).max(1.0).min(f64::from(provider.processors.max(1)));
    let rows = rows as usize;
    let across = (panel.right - panel.left) / wide;
    let spots = busy_spots(panel, provider, (columns, across), rows);
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
                let right = (left + same as f64 * across).min(panel.right);
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
fn busy_spots(
    panel: &Panel,
    provider: &GanttProvider,
    (columns, wide): (usize, f64),
    rows: usize,
) -> Vec<f64> {
    let mut spots = vec![0.0; columns * rows];
    let per_row = f64::from(provider.processors.max(1)) / rows as f64;
    let last = (panel.right - panel.left) / wide - (columns as f64 - 1.0);
    for bar in &provider.bars {
        let from = (panel.x(bar.start) - panel.left) / wide;
        let to = (panel.x(bar.end) - panel.left) / wide;
        let low = f64::from(bar.first.saturating_sub(provider.first)) / per_row;
        let high = (f64::from(bar.last.saturating_sub(provider.first)) + 1.0) / per_row;
        for row in cells(low, high, rows) {
            let part = overlap(low, high, row);
            for column in cells(from, to, columns) {
                let whole = if column + 1 == columns { last } else { 1.0 };
                spots[row * columns + column] += part * overlap(from, to, column) / whole;
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
