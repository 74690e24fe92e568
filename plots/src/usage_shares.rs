//! Shares of usage over time against target shares: a line for each account or user, and its target as a dashed line
//! of the same colour.
//!
//! Lines are unbroken, and differ by their marks where colours are not printed. Equal targets share one dashed line,
//! whose strokes have their colours in turn.

mod read;
mod tree;

use crate::axis::{Axis, from_zero};
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::{Key, Mark};
use crate::look::Look;
use crate::palette::{INK, WHITE, series};
use crate::scene::Scene;
use crate::strokes;

pub(crate) use read::asked;

/// Shares of usage over time.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageShares {
    /// Title above the figure.
    pub title: String,
    /// Label of the legend: "account" or "user".
    pub owner: &'static str,
    /// The providers, from top to bottom.
    pub parts: Vec<UsagePart>,
    /// Instants at which settings of the run change, s.
    pub changes: Vec<f64>,
    /// Local time at 0, seconds since 1970-01-01. If present, ticks are dates.
    pub clock: Option<i64>,
}

/// The owners of a provider's jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct UsagePart {
    /// Name of the provider.
    pub name: String,
    /// Its accounts or users that are drawn.
    pub lines: Vec<UsageLine>,
    /// Number of all of them.
    pub all: usize,
}

/// Share of one account or user.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageLine {
    /// Its name.
    pub name: String,
    /// Its target share, 0 to 1.
    pub target: f64,
    /// Its share of the usage so far, 0 to 1, at these instants, s, in their order.
    pub points: Vec<(f64, f64)>,
}

/// Distance between the marks of a line, pixels.
const MARKS_APART: f64 = 220.0;
/// Length of a stroke of a target, and of the gap behind it, pixels.
const STROKE: (f64, f64) = (16.0, 9.0);
/// Number of the series that has dashes like those of targets.
const DASHED: usize = 1;
/// Distance between the marks at the end of equal targets, pixels.
const ENDS_APART: f64 = 26.0;
/// Shares that differ less than this are drawn as one.
const EQUAL: f64 = 1e-9;

impl UsageShares {
    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let lines = || self.parts.iter().flat_map(|it| &it.lines);
        let points = || lines().flat_map(|it| &it.points);
        let (low, high) = points().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| {
            (low.min(it.0), high.max(it.0))
        });
        if low > high {
            let reason = "no job ran in the time that is drawn";
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let low = from_zero(low, high);
        let names = self.names();
        let key = |(i, name): (usize, &&str)| Key::new(name, Mark::Solid(i), series(i));
        let mut legend = Vec::from_iter(names.iter().enumerate().map(key));
        legend.push(Key::new("target share", Mark::Dash(DASHED), INK));
        let changes = frame::within(&self.changes, low, high);
        legend.extend((!changes.is_empty()).then(frame::change_key));
        let most = lines().map(|it| it.target).chain(points().map(|it| it.1)).fold(0.0, f64::max);
        let ticks = if self.parts.len() > 2 { 3 } else { 5 };
        let panel = |part: &UsagePart| {
            let label = match self.parts.len() {
                1 => "share of usage, %".to_owned(),
                _ => format!("{}: share of usage, %", part.name),
            };
            (Axis::amounts(&label, 100.0 * most, ticks), 1.0)
        };
        let (all, drawn) = (self.parts.iter().map(|it| it.all).sum::<usize>(), lines().count());
        let plan = Plan {
            title: self.title.clone(),
            legend,
            legend_label: self.owner.to_owned(),
            panels: self.parts.iter().map(panel).collect(),
            note: match drawn < all {
                true => format!("{drawn} of {all} drawn, those with the most usage"),
                false => String::new(),
            },
            ..Plan::default()
        };
        let (left, right) = frame::room(&plan, look);
        let x = Axis::of_run(low, high, self.clock, right - left);
        let (mut scene, panels) = frame::draw(plan, x, look)?;
        for (part, panel) in self.parts.iter().zip(&panels) {
            let number =
                |it: &UsageLine| names.iter().position(|name| *name == it.name).unwrap_or(0);
            let lines = Vec::from_iter(part.lines.iter().map(|it| (number(it), it)));
            draw_targets(&mut scene, panel, &lines);
            for &(number, line) in &lines {
                draw_line(&mut scene, panel, number, names.len(), line);
            }
        }
        frame::draw_changes(&mut scene, &panels, &changes);
        frame::close(&mut scene, &panels);
        Ok(scene)
    }

    /// A size in which every panel can be read.
    pub(crate) fn size(&self) -> Size {
        let height = (170 + 300 * self.parts.len() as u32).clamp(Size::default().height, 3_000);
        Size { height, ..Size::default() }
    }

    /// The names of all lines, each once, so that a name has one colour at all providers.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for line in self.parts.iter().flat_map(|it| &it.lines) {
            if !names.contains(&line.name.as_str()) {
                names.push(&line.name);
            }
        }
        names
    }
}

/// Draws the targets. Equal ones share one line.
fn draw_targets(scene: &mut Scene, panel: &Panel, lines: &[(usize, &UsageLine)]) {
    let mut left = lines.to_vec();
    while let Some(&(_, first)) = left.first() {
        let is_equal = |it: &(usize, &UsageLine)| (it.1.target - first.target).abs() < EQUAL;
        let (equal, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_equal);
        left = others;
        let y = panel.y(100.0 * first.target);
        let (mut x, mut turns) = (panel.left, equal.iter().cycle());
        while let Some(&(number, _)) = turns.next().filter(|_| x < panel.right) {
            scene.line(vec![(x, y), ((x + STROKE.0).min(panel.right), y)], series(number), 3);
            x += STROKE.0 + STROKE.1;
        }
        for (place, &(number, _)) in equal.iter().rev().enumerate() {
            mark(scene, number, (panel.right - 14.0 - ENDS_APART * place as f64, y));
        }
    }
}

/// Draws the share of usage over time, with marks at distances that differ from those of the other lines.
fn draw_line(scene: &mut Scene, panel: &Panel, number: usize, of: usize, line: &UsageLine) {
    let points: Vec<(f64, f64)> =
        line.points.iter().map(|&(time, share)| (panel.x(time), panel.y(100.0 * share))).collect();
    scene.line(points.clone(), series(number), 3);
    let mut next = panel.left + MARKS_APART * (number as f64 + 0.5) / of as f64;
    for &(x, y) in points.iter() {
        if x >= next {
            mark(scene, number, (x, y));
            next += MARKS_APART * ((x - next) / MARKS_APART).floor().max(0.0) + MARKS_APART;
        }
    }
}

/// A mark with a white edge, which separates it from other lines.
fn mark(scene: &mut Scene, number: usize, at: (f64, f64)) {
    scene.dot(at, 10.0, WHITE);
    strokes::mark(scene, number, at, series(number));
}
