//! Gantt charts: which job held which processors when, a panel for each provider of each run.
//!
//! Few jobs are drawn as bars with their numbers. Colours and patterns stand for groups of jobs; what failed is
//! pale and hatched; parts of one job at several providers are joined by a line.
//! Processors are counted from 0 in each panel. Where bars would be thinner than
//! can be told apart, the chart shows instead how busy each spot of (a round length
//! of time) × (some processors) was, which stays fast and true for any number.

mod labels;
mod parts;
mod read;

use crate::attempts::{OUTAGE, Outage};
use crate::axis::{Axis, from_zero};
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, LABEL_ROOM, LANE_LEAST, Panel, Plan};
use crate::legend::{Key, Mark, outline};
use crate::look::Look;
use crate::palette::{INK, WHITE, group, shade, tint};
use crate::pattern::{self, hatch};
use crate::scene::{Colour, Scene};
use crate::timeline::{bin_length, in_words};

pub(crate) use parts::joint;
pub(crate) use read::{asked, compared};
pub use read::{differ_by, gantt};

/// Above this many bars the chart shows how busy processors were instead.
pub const BARS_MAX: usize = 1500;
const SHADES: usize = 8;
/// Width and height of the spots of such a chart, at least, pixels.
const SPOT: (f64, f64) = (4.0, 5.0);
/// What is closed for maintenance, and the lines over it.
const MAINTENANCE: Colour = Colour(0xf3, 0xe9, 0xc6);
const HATCH: Colour = Colour(0xb5, 0x9a, 0x4a);
/// How much of their colours is left in jobs beside those that are marked.
const FADED: f64 = 0.35;
/// Height of a panel below which panels are lanes.
const PANEL_LEAST: f64 = 50.0;

haggle_model::words! {
    /// What is written on the bars of a Gantt chart.
    #[derive(Default)]
    pub enum BarLabels {
        /// The number of the job in its workload.
        #[default]
        JobId = "job_id",
        /// The user by the number in the log, or by the name in the scenario.
        User = "user",
        /// What its file calls a task of a workflow, else the workload and the number of the job in it.
        Name = "name",
        /// Nothing.
        None = "none",
    }
}

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
    /// Whether groups have colours in turn and no place in the legend: each is one job.
    pub by_job: bool,
    /// The names of jobs that are marked; the others are pale then.
    pub marked: Vec<String>,
}

/// A provider's panel.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttProvider {
    /// Its name.
    pub name: String,
    /// Which of several runs it is of: parts of a job are joined within a run.
    pub run: usize,
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
    /// Number of the job: its parts at several providers at once are joined.
    pub job: i64,
    /// Whether it is a task of a bag: tasks are not joined.
    pub is_task: bool,
    /// Whether its job is marked.
    pub is_marked: bool,
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
    /// A size in which every panel can be read.
    pub(crate) fn size(&self) -> Size {
        let count = self.providers.len() as u32;
        let (around, each) = if count <= 6 { (170, 150) } else { (170, 90) };
        let height = (around + each * count).clamp(Size::default().height, 3_000);
        Size { height, ..Size::default() }
    }

    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
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
        let a_pixel = (high - low) / f64::from(look.size.width);
        let bin = bin_length(SPOT.0 * a_pixel);
        let (plan, drawn) = self.plan(look, dense.then_some(bin));
        let (left, right) = frame::room(&plan, look);
        let x = Axis::of_run(low, high, self.clock, right - left);
        let (mut scene, panels) = frame::draw(plan, x, look)?;
        for (provider, panel) in drawn.iter().zip(&panels) {
            draw_spans(&mut scene, panel, provider.first, &provider.outages, false);
            draw_spans(&mut scene, panel, provider.first, &provider.maintenance, true);
            if dense {
                draw_density(&mut scene, panel, provider, (high - low) / bin);
            } else {
                provider
                    .bars
                    .iter()
                    .for_each(|bar| self.draw_bar(&mut scene, panel, provider, bar));
            }
        }
        if !dense {
            parts::draw(&mut scene, drawn, &panels, !self.marked.is_empty());
        }
        for (provider, panel) in drawn.iter().zip(&panels) {
            let marked = provider.bars.iter().filter(|bar| bar.is_marked);
            for bar in marked {
                self.draw_bar(&mut scene, panel, provider, bar);
                outline(&mut scene, provider.edges(panel, bar));
            }
            labels::write(&mut scene, self, (provider, panel), dense);
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    /// What surrounds the bars, and the providers that are drawn: panels that would be too flat for their labels are
    /// lanes, and of more lanes than there is room for, some are left out.
    fn plan(&self, look: Look, bin: Option<f64>) -> (Plan, &[GanttProvider]) {
        let count = self.providers.len();
        let mut plan = Plan {
            title: self.title.clone(),
            legend_label: match bin {
                Some(bin) => format!("mean of {}", in_words(bin)),
                None if self.by_job => String::new(),
                None => self.group_label.clone(),
            },
            legend: self.legend(&self.providers, bin.is_some()),
            ..Plan::default()
        };
        plan.lanes = plan.height_of_each(count, look) - LABEL_ROOM < PANEL_LEAST;
        let mut drawn = count;
        if plan.lanes && plan.height_of_each(count, look) < LANE_LEAST {
            // With the note in its place, fewer lanes fit.
            plan.note = "…".to_owned();
            let fits = |&it: &usize| plan.height_of_each(it, look) >= LANE_LEAST;
            drawn = (1..count).rev().find(fits).unwrap_or(1);
            plan.note = format!("{drawn} of {count} drawn; make it higher for more");
        }
        let drawn = &self.providers[..drawn];
        plan.legend = self.legend(drawn, bin.is_some());
        let panel = |provider: &GanttProvider| {
            let count = f64::from(provider.processors);
            let label = match plan.lanes {
                true => provider.name.clone(),
                false => format!("{}: processor", provider.name),
            };
            // Widths as they are would hide a small provider beside a large one.
            let ticks = (provider.processors as usize).clamp(1, 4);
            (Axis::linear(&label, 0.0, count, ticks), count.max(1.0).sqrt())
        };
        plan.panels = drawn.iter().map(panel).collect();
        (plan, drawn)
    }

    fn legend(&self, drawn: &[GanttProvider], dense: bool) -> Vec<Key> {
        let bars = || drawn.iter().flat_map(|provider| &provider.bars);
        let mut legend: Vec<Key> = Vec::new();
        if dense {
            // The legend shows all three: nothing, some, all.
            legend.push(Key::from(("100 % busy".to_owned(), shade(1.0))));
            legend.push(Key::from(("50 % busy".to_owned(), shade(0.5))));
        } else {
            let is_drawn = |number: usize| bars().any(|bar| bar.group == number);
            let key = |(number, name): (usize, &String)| {
                Key::new(name, Mark::Patterned(number), group(number))
            };
            if self.has_groups() {
                let groups = self.groups.iter().enumerate().filter(|(number, _)| is_drawn(*number));
                legend.extend(groups.map(key));
            }
            if bars().any(|bar| bar.failed) {
                legend.push(Key::new("failed", Mark::Hatched, group(0)));
            }
            if parts::any(drawn, !self.marked.is_empty()) {
                legend.push(Key::new("parts of one job", Mark::Joint, INK));
            }
        }
        if bars().any(|bar| bar.is_marked) {
            legend.push(Key::new(&self.marked.join(", "), Mark::Outlined, WHITE));
        }
        if drawn.iter().any(|provider| !provider.outages.is_empty()) {
            legend.push(Key::from(("outage".to_owned(), OUTAGE)));
        }
        if drawn.iter().any(|provider| !provider.maintenance.is_empty()) {
            legend.push(Key::from(("maintenance".to_owned(), MAINTENANCE)));
        }
        legend
    }

    fn bars(&self) -> impl Iterator<Item = &GanttBar> {
        self.providers.iter().flat_map(|provider| &provider.bars)
    }

    /// Whether colours and patterns stand for groups.
    fn has_groups(&self) -> bool {
        self.groups.len() > 1 && !self.by_job
    }

    fn draw_bar(&self, scene: &mut Scene, panel: &Panel, provider: &GanttProvider, bar: &GanttBar) {
        let [left, top, right, bottom] = provider.edges(panel, bar);
        // A white seam tells neighbours of one colour apart, where there is room for it.
        let seam = |span: f64| match span {
            wide if wide >= 12.0 => 2.0,
            narrow if narrow >= 6.0 => 1.0,
            _ => 0.0,
        };
        let (across, up) = (seam(right - left), seam(bottom - top));
        let edges = [left, top + up, right - across, bottom];
        scene.rectangle([left, top, right, bottom], WHITE);
        if bar.failed {
            pattern::failed(scene, edges, self.colour(bar));
        } else {
            scene.rectangle(edges, self.ground(bar));
            if self.has_pattern(bar) {
                pattern::over(scene, edges, bar.group, self.colour(bar));
            }
        }
    }

    /// Whether lines lie over its colour.
    fn has_pattern(&self, bar: &GanttBar) -> bool {
        self.has_groups() && bar.group > 0 && !self.is_faded(bar)
    }

    fn is_faded(&self, bar: &GanttBar) -> bool {
        !self.marked.is_empty() && !bar.is_marked
    }

    /// The colour of a bar's group.
    fn colour(&self, bar: &GanttBar) -> Colour {
        let colour = group(if self.groups.len() > 1 || self.by_job { bar.group } else { 0 });
        if self.is_faded(bar) { tint(colour, FADED) } else { colour }
    }

    /// The colour on which its number stands.
    fn ground(&self, bar: &GanttBar) -> Colour {
        let colour = self.colour(bar);
        if bar.failed { pattern::pale(colour) } else { colour }
    }
}

impl GanttProvider {
    /// Where a bar lies in the panel: left, top, right, bottom.
    fn edges(&self, panel: &Panel, bar: &GanttBar) -> [f64; 4] {
        let y = |processor: u32| panel.y(f64::from(processor.saturating_sub(self.first)));
        let left = panel.x(bar.start);
        [left, y(bar.last + 1), panel.x(bar.end).max(left + 1.0), y(bar.first)]
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
