//! Busy processors and waiting jobs over time.
//!
//! Both are step functions. If steps are too many to be distinguished, time is divided into bins of a
//! round length. Each bin shows its lowest and highest value as a band, so that no peak is hidden. It
//! shows its mean as a line, so that the area below stays correct.

mod nodes;
mod read;

use crate::axis::{Axis, from_zero};
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::{Key, Mark};
use crate::look::Look;
use crate::palette::{BLUE, INK, VERMILION, tint};
use crate::scene::{Colour, Scene};

pub(crate) use nodes::asked as of_nodes;
pub(crate) use read::{asked, compared};
pub use read::{grid_timeline, timeline};

/// Share of the colour in a band.
const BAND: f64 = 0.4;
/// Smallest width of bins, which are visible at half the size then.
const BIN_PIXELS: f64 = 4.0;

/// Utilisation, or waiting jobs, or both, over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Title above the figure.
    pub title: String,
    /// Content of the figure.
    pub shows: Shows,
    /// Label of the utilised amount of parts without one of their own: "busy processors".
    pub held: &'static str,
    /// The parts with panels of their own, from top to bottom.
    pub parts: Vec<TimelinePart>,
    /// Start of the time axis, s; without it, the first job.
    pub from: Option<f64>,
    /// End of the time axis, s; without it, the end of the last job.
    pub until: Option<f64>,
    /// Instants at which settings of the run, or of one of several runs, change, s.
    pub changes: Vec<f64>,
    /// Local time at 0, seconds since 1970-01-01. If present, ticks are dates.
    pub clock: Option<i64>,
    /// True if the panels are of several runs. All panels of waiting jobs have one scale then.
    pub compares: bool,
}

/// Content of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The share in use.
    Utilisation,
    /// The number of waiting jobs.
    Queue,
    /// Both, one above the other.
    Both,
}

/// A provider, or several taken together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelinePart {
    /// Its name.
    pub name: String,
    /// Label of its utilised amount; empty: that of the figure.
    pub label: &'static str,
    /// Its whole capacity, such as its number of processors.
    pub capacity: f64,
    /// Amounts that attempts held, whatever their outcomes.
    pub held: Vec<Held>,
    /// Intervals in which a job waited there, s.
    pub waits: Vec<(f64, f64)>,
}

/// An amount that was held for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// Start, s.
    pub start: f64,
    /// End, s.
    pub end: f64,
    /// Amount, in the unit of the part's capacity.
    pub amount: f64,
}

/// A change of a step function: (time, difference).
type Step = (f64, f64);

impl Timeline {
    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let times: Vec<(f64, f64)> =
            self.parts.iter().flat_map(|part| part.times(self.shows)).collect();
        if times.is_empty() || self.parts.iter().all(|part| part.capacity == 0.0) {
            let reason = match self.shows {
                Shows::Utilisation => "no job ran",
                Shows::Queue | Shows::Both => "no job waited or ran",
            };
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let begun = times.iter().map(|it| it.0).fold(f64::INFINITY, f64::min);
        let last = || times.iter().map(|it| it.1).fold(f64::NEG_INFINITY, f64::max);
        // Of the time before zero, only the jobs of a start state are known.
        let first = || begun.max(self.from.unwrap_or(0.0));
        let is_behind = match self.from {
            Some(from) => from >= last(),
            None => begun < 0.0 && last() <= 0.0,
        };
        if is_behind || self.until.is_some_and(|until| until <= first()) {
            let reason = "no job waited or ran in the time that is drawn";
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let high = self.until.unwrap_or_else(last);
        let low = self.from.unwrap_or_else(|| from_zero(first(), high));
        let curves = self.curves(low, high);
        let changes = frame::within(&self.changes, low, high);
        let change_key = || (!changes.is_empty()).then(frame::change_key);
        let mut plan = Plan {
            title: self.title.clone(),
            legend: change_key().into_iter().collect(),
            panels: curves.iter().map(|curve| (curve.axis.clone(), 1.0)).collect(),
            ..Plan::default()
        };
        let (left, right) = frame::room(&plan, look);
        let a_pixel = (high - low) / (right - left);
        let crowded = |curve: &Curve| curve.is_crowded(2.0 * a_pixel);
        let bin = curves.iter().any(crowded).then(|| bin_length(BIN_PIXELS * a_pixel));
        if let Some(bin) = bin {
            plan.legend = self.legend(bin);
            plan.legend.extend(change_key());
        }
        // Determined again, because the legend takes room.
        let (left, right) = frame::room(&plan, look);
        let x = Axis::of_run(low, high, self.clock, right - left);
        let (mut scene, panels) = frame::draw(plan, x, look)?;
        for (curve, panel) in curves.iter().zip(&panels) {
            match bin {
                Some(bin) => {
                    draw_bins(&mut scene, panel, &bins(&curve.steps, low, high, bin), curve.colour)
                }
                None => draw_steps(&mut scene, panel, &curve.steps, curve.colour),
            }
        }
        frame::draw_changes(&mut scene, &panels, &changes);
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    /// The meaning of band and line for bins of this length.
    fn legend(&self, bin: f64) -> Vec<Key> {
        let colour = match self.shows {
            Shows::Utilisation => BLUE,
            Shows::Queue => VERMILION,
            Shows::Both => INK,
        };
        vec![
            Key::new(&format!("mean of {}", in_words(bin)), Mark::Flat, colour),
            Key::new("min to max", Mark::Box, tint(colour, BAND)),
        ]
    }

    /// A size in which every panel can be read.
    pub(crate) fn size(&self) -> Size {
        let panels = self.parts.len() as u32 * if self.shows == Shows::Both { 2 } else { 1 };
        let height = (170 + 150 * panels).clamp(Size::default().height, 3_000);
        Size { height, ..Size::default() }
    }

    /// A curve for each panel.
    fn curves(&self, low: f64, high: f64) -> Vec<Curve> {
        let mut curves = Vec::new();
        let ticks = if self.parts.len() > 2 { 3 } else { 5 };
        let queue = |part: &TimelinePart| highest(&within(part.waiting(), low, high));
        let most_of_all = self.parts.iter().map(queue).fold(0.0, f64::max);
        for part in &self.parts {
            let name = |what: &str| match self.parts.len() {
                1 => what.to_owned(),
                _ => format!("{}: {what}", part.name),
            };
            if self.shows != Shows::Queue {
                let held = if part.label.is_empty() { self.held } else { part.label };
                let label = name(&format!("{held}, %"));
                let axis = Axis::amounts(&label, 100.0, ticks);
                curves.push(Curve { axis, steps: within(part.busy(), low, high), colour: BLUE });
            }
            if self.shows != Shows::Utilisation {
                let steps = within(part.waiting(), low, high);
                let longest = if self.compares { most_of_all } else { highest(&steps) };
                // A queue of one job needs no ticks at halves of a job.
                let most = (longest as usize).clamp(1, ticks);
                let axis = Axis::amounts(&name("waiting jobs"), longest, most);
                curves.push(Curve { axis, steps, colour: VERMILION });
            }
        }
        curves
    }
}

/// Content of a panel.
struct Curve {
    axis: Axis,
    steps: Vec<Step>,
    colour: Colour,
}

impl Curve {
    /// True if steps are so close that they could not be distinguished.
    fn is_crowded(&self, apart: f64) -> bool {
        self.steps.windows(2).any(|pair| pair[1].0 - pair[0].0 < apart)
    }
}

impl TimelinePart {
    /// The largest amount that was held at a time.
    pub fn most_held(&self) -> f64 {
        highest(&self.busy()) * self.capacity / 100.0
    }

    /// All intervals that are drawn.
    fn times(&self, shows: Shows) -> Vec<(f64, f64)> {
        let held = self.held.iter().map(|it| (it.start, it.end));
        match shows {
            Shows::Utilisation => held.collect(),
            // If any job ran, even an empty queue is drawn.
            Shows::Queue | Shows::Both => held.chain(self.waits.iter().copied()).collect(),
        }
    }

    fn busy(&self) -> Vec<Step> {
        let percent = if self.capacity > 0.0 { 100.0 / self.capacity } else { 0.0 };
        let steps = self.held.iter().map(|it| {
            let share = it.amount * percent;
            [(it.start, share), (it.end, -share)]
        });
        sorted(steps.flatten().collect())
    }

    fn waiting(&self) -> Vec<Step> {
        // A job that starts at once does not wait.
        let waits = self.waits.iter().filter(|(from, until)| until > from);
        sorted(waits.flat_map(|&(from, until)| [(from, 1.0), (until, -1.0)]).collect())
    }
}

/// The steps between two instants. Earlier steps are merged into one, so that the level is correct.
fn within(steps: Vec<Step>, low: f64, high: f64) -> Vec<Step> {
    let (before, after): (Vec<Step>, Vec<Step>) =
        steps.into_iter().partition(|(time, _)| *time <= low);
    let level = before.iter().map(|(_, change)| change).sum();
    let first = std::iter::once((low, level));
    first.chain(after.into_iter().take_while(|(time, _)| *time < high)).collect()
}

/// Steps in order of time, one an instant. A job that starts when another ends then leaves no notch.
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
    let line = corners(panel, steps);
    // The area is filled with one box a step, because a polygon with thousands of corners is slow to fill.
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

/// An interval of time and the levels of a step function in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    from: f64,
    until: f64,
    lowest: f64,
    highest: f64,
    mean: f64,
}

/// The shortest round length of at least `least` seconds.
pub(crate) fn bin_length(least: f64) -> f64 {
    const ROUND: [f64; 20] = [
        1.0, 2.0, 5.0, 10.0, 20.0, 30.0, // s
        60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, // min
        3_600.0, 7_200.0, 14_400.0, 21_600.0, 43_200.0, // h
        86_400.0, 172_800.0, 432_000.0, // d
    ];
    let round = ROUND.into_iter().find(|&length| length >= least);
    round.unwrap_or_else(|| 864_000.0 * (least / 864_000.0).ceil())
}

/// Writes a round length with its unit.
pub(crate) fn in_words(seconds: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min")];
    let unit = UNITS.into_iter().find(|(length, _)| seconds % length == 0.0);
    let (length, unit) = unit.unwrap_or((1.0, "s"));
    format!("{} {unit}", seconds / length)
}

/// The steps, which begin at `low`, in bins of `length` seconds.
fn bins(steps: &[Step], low: f64, high: f64, length: f64) -> Vec<Bin> {
    let count = ((high - low) / length).ceil().max(1.0) as usize;
    let mut bins = Vec::with_capacity(count);
    let mut steps = steps.iter().peekable();
    let mut level = 0.0;
    while let Some((_, change)) = steps.next_if(|step| step.0 <= low) {
        level += change;
    }
    for place in 0..count {
        let from = low + place as f64 * length;
        let until = (from + length).min(high);
        let (mut lowest, mut highest, mut sum, mut at) = (level, level, 0.0, from);
        while let Some((time, change)) = steps.next_if(|step| step.0 < until) {
            sum += level * (time - at);
            level += change;
            (lowest, highest) = (f64::min(lowest, level), f64::max(highest, level));
            at = *time;
        }
        sum += level * (until - at);
        let mean = if until > from { sum / (until - from) } else { level };
        bins.push(Bin { from, until, lowest, highest, mean });
        // A step between two bins belongs to the later one.
        while let Some((_, change)) = steps.next_if(|step| step.0 <= until) {
            level += change;
        }
    }
    bins
}

/// Draws the range as a band, and the mean as a line.
fn draw_bins(scene: &mut Scene, panel: &Panel, bins: &[Bin], colour: Colour) {
    let mut line = Vec::with_capacity(bins.len() * 2);
    for bin in bins {
        let (left, right) = (panel.x(bin.from), panel.x(bin.until));
        let edges = [left, panel.y(bin.highest), right, panel.y(bin.lowest)];
        if bin.highest > bin.lowest {
            scene.rectangle(edges, tint(colour, BAND));
        }
        line.push((left, panel.y(bin.mean)));
        line.push((right, panel.y(bin.mean)));
    }
    scene.line(line, colour, 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One job waits at a time, except for one second in which 400 wait.
    fn peak() -> Vec<Step> {
        let part = TimelinePart {
            waits: (0..1000)
                .map(|i| (f64::from(i) * 100.0, f64::from(i) * 100.0 + 90.0))
                .chain((0..399).map(|_| (50_010.0, 50_011.0)))
                .collect(),
            ..TimelinePart::default()
        };
        within(part.waiting(), 0.0, 100_000.0)
    }

    #[test]
    fn no_bin_hides_a_peak() {
        let steps = peak();
        let bins = bins(&steps, 0.0, 100_000.0, 600.0);
        let highest = bins.iter().map(|bin| bin.highest).fold(0.0, f64::max);
        assert_eq!(highest, super::highest(&steps));
        assert_eq!(highest, 400.0);
        let lowest = bins.iter().map(|bin| bin.lowest).fold(1.0, f64::min);
        assert_eq!(lowest, 0.0);
    }

    #[test]
    fn the_area_under_the_means_is_that_of_the_steps() {
        for length in [7.0, 600.0, 43_200.0, 1e6] {
            let bins = bins(&peak(), 0.0, 100_000.0, length);
            let area: f64 = bins.iter().map(|bin| bin.mean * (bin.until - bin.from)).sum();
            assert!((area - 90_399.0).abs() < 1e-6, "{length}: {area}");
            assert!(bins.iter().all(|bin| bin.lowest <= bin.mean && bin.mean <= bin.highest));
        }
    }

    #[test]
    fn bins_have_round_lengths() {
        assert_eq!(
            [0.3, 61.0, 4000.0, 90_000.0, 500_000.0, 900_000.0].map(bin_length),
            [1.0, 120.0, 7_200.0, 172_800.0, 864_000.0, 1_728_000.0]
        );
        assert_eq!(
            [30.0, 120.0, 7_200.0, 172_800.0].map(in_words),
            ["30 s", "2 min", "2 h", "2 d"]
        );
    }
}
