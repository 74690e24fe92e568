//! Gantt charts: the jobs on processors over time, with a panel for each provider of each run.
//!
//! Few jobs are drawn as bars with their numbers. Colours and patterns stand for groups of jobs. Failed
//! attempts and parts that were given up are pale and hatched. Parts of one job at several providers are joined by a line.
//! Processors are counted from 0 in each panel. If bars would be too thin, the chart shows the
//! utilisation of spots instead, (a round length of time) × (some processors). This is fast and correct
//! for any number of jobs.

mod labels;
mod nodes;
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

/// Maximum number of bars. Above it, the chart shows utilisation instead.
pub const BARS_MAX: usize = 1500;
const SHADES: usize = 8;
/// Smallest width and height of the spots of such a chart, pixels.
const SPOT: (f64, f64) = (4.0, 5.0);
/// Colours of processors closed for maintenance, and of the lines over them.
const MAINTENANCE: Colour = Colour(0xf3, 0xe9, 0xc6);
const HATCH: Colour = Colour(0xb5, 0x9a, 0x4a);
/// Share of the colour in unmarked jobs beside marked ones.
const FADED: f64 = 0.35;
/// Height of a panel below which panels are lanes.
const PANEL_LEAST: f64 = 50.0;

haggle_model::words! {
    /// Text on the bars of a Gantt chart.
    #[derive(Default)]
    pub enum BarLabels {
        /// The number of the job in its workload.
        #[default]
        JobId = "job_id",
        /// The user by the number in the log, or by the name in the scenario.
        User = "user",
        /// The name of a task of a workflow in its file; for other jobs, the workload and the number of the job in it.
        Name = "name",
        /// No text.
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
    /// Label of the groups, such as `class`.
    pub group_label: String,
    /// Start of the time axis, s; without it, the first job.
    pub from: Option<f64>,
    /// End of the time axis, s; without it, the end of the last job.
    pub until: Option<f64>,
    /// Instants at which settings of the run, or of one of several runs, change, s.
    pub changes: Vec<f64>,
    /// Local time at 0, seconds since 1970-01-01. If present, ticks are dates.
    pub clock: Option<i64>,
    /// True if each group is one job. Colours repeat then and have no entry in the legend.
    pub by_job: bool,
    /// The names of marked jobs. If there are any, other jobs are pale.
    pub marked: Vec<String>,
}

/// A provider's panel.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttProvider {
    /// Its name.
    pub name: String,
    /// Number of its run, if there are several: parts of a job are joined within a run.
    pub run: usize,
    /// Number of its first processor.
    pub first: u32,
    /// Number of its processors.
    pub processors: u32,
    /// Its nodes, in the order of their processors; none if jobs are not placed on nodes.
    pub nodes: Vec<GanttNode>,
    /// Jobs that ran there.
    pub bars: Vec<GanttBar>,
    /// Outages of its processors.
    pub outages: Vec<GanttOutage>,
    /// Maintenance of its processors.
    pub maintenance: Vec<GanttOutage>,
}

/// A node of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GanttNode {
    /// Name of its group; empty if it has none.
    pub group: String,
    /// Its number at the provider.
    pub number: u32,
    /// First processor.
    pub first: u32,
    /// Last processor, included.
    pub last: u32,
}

/// An interval of time in which contiguous processors were down, or closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GanttOutage {
    /// First processor.
    pub first: u32,
    /// Last processor, included.
    pub last: u32,
    /// The interval.
    pub time: Outage,
}

/// Contiguous processors that a job held for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttBar {
    /// Text on the bar, if there is room.
    pub label: String,
    /// Number of the job. Its parts at several providers are joined.
    pub job: i64,
    /// True if it is a task of a bag. Tasks are not joined.
    pub is_task: bool,
    /// True if its job is marked.
    pub is_marked: bool,
    /// Place in [`Gantt::groups`].
    pub group: usize,
    /// First processor.
    pub first: u32,
    /// Last processor, included.
    pub last: u32,
    /// Start, s.
    pub start: f64,
    /// End, s.
    pub end: f64,
    /// How its work was lost, if it was.
    pub lost: Option<GanttLoss>,
}

/// The way in which the work of a bar was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GanttLoss {
    /// Its processors failed.
    Failed,
    /// It was stopped for another job.
    Preempted,
    /// It is a part that was given up.
    GivenUp,
}

impl GanttLoss {
    const ALL: [(GanttLoss, &str); 3] = [
        (GanttLoss::Failed, "failed"),
        (GanttLoss::Preempted, "preempted"),
        (GanttLoss::GivenUp, "given up"),
    ];
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
        // The spots are wide enough to be seen, and of a round length, which the legend shows.
        let a_pixel = (high - low) / f64::from(look.size.width);
        let bin = bin_length(SPOT.0 * a_pixel);
        let changes = frame::within(&self.changes, low, high);
        let (plan, drawn) = self.plan(look, dense.then_some(bin), !changes.is_empty());
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
        // Marked bars are drawn again, after the lines and all other bars, which would cover them.
        for (provider, panel) in drawn.iter().zip(&panels) {
            let marked = provider.bars.iter().filter(|bar| bar.is_marked);
            for bar in marked {
                self.draw_bar(&mut scene, panel, provider, bar);
                outline(&mut scene, provider.edges(panel, bar));
            }
            nodes::divide(&mut scene, panel, provider);
            labels::write(&mut scene, self, (provider, panel), dense);
        }
        frame::draw_changes(&mut scene, &panels, &changes);
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    /// The surroundings, and the providers that are drawn. Panels that would be too flat for their
    /// labels become lanes. If there are too many lanes, some are left out.
    fn plan(&self, look: Look, bin: Option<f64>, changes: bool) -> (Plan, &[GanttProvider]) {
        let legend = |drawn: &[GanttProvider]| {
            let mut legend = self.legend(drawn, bin.is_some());
            legend.extend(changes.then(frame::change_key));
            legend
        };
        let count = self.providers.len();
        let mut plan = Plan {
            title: self.title.clone(),
            legend_label: match bin {
                Some(bin) => format!("mean of {}", in_words(bin)),
                None if self.by_job => String::new(),
                None => self.group_label.clone(),
            },
            legend: legend(&self.providers),
            ..Plan::default()
        };
        plan.lanes = plan.height_of_each(count, look) - LABEL_ROOM < PANEL_LEAST;
        let mut drawn = count;
        if plan.lanes && plan.height_of_each(count, look) < LANE_LEAST {
            // The note takes room, so fewer lanes fit.
            plan.note = "…".to_owned();
            let fits = |&it: &usize| plan.height_of_each(it, look) >= LANE_LEAST;
            drawn = (1..count).rev().find(fits).unwrap_or(1);
            plan.note = format!("{drawn} of {count} drawn; make it higher for more");
        }
        let drawn = &self.providers[..drawn];
        // Groups that only occur in providers left out have no entry.
        plan.legend = legend(drawn);
        // With heights in proportion, a small provider beside a large one would be invisible.
        let part = |it: &GanttProvider| f64::from(it.processors).max(1.0).sqrt();
        let panels = plan.height_of_each(1, look) - LABEL_ROOM * drawn.len() as f64;
        let each = panels / drawn.iter().map(part).sum::<f64>();
        let panel = |provider: &GanttProvider| {
            let count = f64::from(provider.processors);
            let label = match plan.lanes {
                true => provider.name.clone(),
                false if provider.nodes.is_empty() => format!("{}: processor", provider.name),
                false => format!("{}: node", provider.name),
            };
            if !provider.nodes.is_empty() {
                let room = (f64::from(look.size.width), each * part(provider));
                return (nodes::axis(&label, provider, room), part(provider));
            }
            let ticks = (provider.processors as usize).clamp(1, 4);
            (Axis::linear(&label, 0.0, count, ticks), part(provider))
        };
        plan.panels = drawn.iter().map(panel).collect();
        (plan, drawn)
    }

    fn legend(&self, drawn: &[GanttProvider], dense: bool) -> Vec<Key> {
        let bars = || drawn.iter().flat_map(|provider| &provider.bars);
        let mut legend: Vec<Key> = Vec::new();
        if dense {
            // Idle spots are white and need no entry.
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
            let lost = GanttLoss::ALL
                .into_iter()
                .filter(|(loss, _)| bars().any(|bar| bar.lost == Some(*loss)));
            let words = Vec::from_iter(lost.map(|(_, word)| word));
            if !words.is_empty() {
                legend.push(Key::new(&words.join(", "), Mark::Hatched, group(0)));
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

    /// True if colours and patterns stand for groups.
    fn has_groups(&self) -> bool {
        self.groups.len() > 1 && !self.by_job
    }

    fn draw_bar(&self, scene: &mut Scene, panel: &Panel, provider: &GanttProvider, bar: &GanttBar) {
        let [left, top, right, bottom] = provider.edges(panel, bar);
        // A white seam separates neighbours of one colour, if there is room for it.
        let seam = |span: f64| match span {
            wide if wide >= 12.0 => 2.0,
            narrow if narrow >= 6.0 => 1.0,
            _ => 0.0,
        };
        let (across, up) = (seam(right - left), seam(bottom - top));
        let edges = [left, top + up, right - across, bottom];
        // White ground, which shows at the seam and below patterns.
        scene.rectangle([left, top, right, bottom], WHITE);
        if bar.lost.is_some() {
            pattern::failed(scene, edges, self.colour(bar));
        } else {
            scene.rectangle(edges, self.ground(bar));
            if self.has_pattern(bar) {
                pattern::over(scene, edges, bar.group, self.colour(bar));
            }
        }
    }

    /// True if the bar has a pattern.
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

    /// The background of its label.
    fn ground(&self, bar: &GanttBar) -> Colour {
        let colour = self.colour(bar);
        if bar.lost.is_some() { pattern::pale(colour) } else { colour }
    }
}

impl GanttProvider {
    /// Edges of a bar in the panel: left, top, right, bottom.
    fn edges(&self, panel: &Panel, bar: &GanttBar) -> [f64; 4] {
        let left = panel.x(bar.start);
        let (top, bottom) = (self.y(panel, bar.last + 1), self.y(panel, bar.first));
        [left, top, panel.x(bar.end).max(left + 1.0), bottom]
    }

    /// The place of the lower edge of a processor in the panel.
    fn y(&self, panel: &Panel, processor: u32) -> f64 {
        panel.y(f64::from(processor.saturating_sub(self.first)))
    }
}

/// Shades outages or maintenance, below all bars. Maintenance is hatched, so that both differ without
/// their colours.
fn draw_spans(scene: &mut Scene, panel: &Panel, lowest: u32, spans: &[GanttOutage], closed: bool) {
    for &GanttOutage { first, last, time } in spans {
        // A window may begin before all jobs, and end after them.
        let left = panel.x(time.from).max(panel.left);
        let right = time.until.map_or(panel.right, |until| panel.x(until).min(panel.right));
        // A short interval is still visible.
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

/// Draws the utilisation of each spot. `wide` is the number of columns, of which the last one may be
/// incomplete.
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
            // Neighbours of one shade are one rectangle, because an SVG with a shape for every spot
            // would be huge.
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
    // The smallest utilisation is still visible.
    if busy <= 0.0 { 0 } else { ((busy * SHADES as f64).round() as usize).clamp(1, SHADES) }
}

/// Utilisation of each spot, row by row from the lowest processor.
fn busy_spots(
    panel: &Panel,
    provider: &GanttProvider,
    (columns, wide): (usize, f64),
    rows: usize,
) -> Vec<f64> {
    let mut spots = vec![0.0; columns * rows];
    let per_row = f64::from(provider.processors.max(1)) / rows as f64;
    // The part of the last column that is within the panel: its utilisation refers to that part.
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
