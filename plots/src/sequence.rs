//! Messages between actors about one job: a message sequence chart, with time running down.

mod read;

use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{LABEL_SIZE, MARGIN, TITLE_SIZE};
use crate::legend::arrow;
use crate::look::Look;
use crate::palette::{BLUE, FAINT, INK, VERMILION, WHITE};
use crate::scene::{Anchor, Scene};
use crate::type_face::{fitted, width};

pub(crate) use read::asked;
pub use read::sequence;

const NOTE_SIZE: f64 = 22.0;
/// Smallest distance between two messages, pixels: their kinds are written between them.
const STEP: f64 = 32.0;
/// Maximum number of messages that are drawn. The figure grows with them; later messages are left out.
const MESSAGES_MAX: usize = 280;

/// The messages about one job, in the order in which they arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Title above the figure.
    pub title: String,
    /// Actors, from left to right.
    pub actors: Vec<String>,
    /// Messages, by time.
    pub messages: Vec<SequenceMessage>,
}

/// A message; actors by their places.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceMessage {
    /// Time of its delivery, s; for a lost message, time at which it was sent.
    pub time: f64,
    /// Its sender.
    pub from: usize,
    /// Its receiver.
    pub to: usize,
    /// Its kind.
    pub kind: String,
    /// True if it was lost.
    pub lost: bool,
}

impl Sequence {
    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        if self.messages.is_empty() {
            let reason = "no message is about the job in the time that is drawn";
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        }
        let shown = self.messages.len().min(MESSAGES_MAX);
        let top = MARGIN + TITLE_SIZE + 2.0 * LABEL_SIZE + 24.0;
        let rest = self.messages.len() - shown;
        let needed = top + (shown as f64 + 1.0) * STEP + MARGIN + LABEL_SIZE;
        let height = look.size.height.max(needed.ceil() as u32).min(10_000);
        let mut scene = Scene::new(Size { height, ..look.size })?;
        let wide = f64::from(look.size.width);
        let title = fitted(&self.title, TITLE_SIZE, wide - 2.0 * MARGIN);
        let title_at = (MARGIN, MARGIN + TITLE_SIZE / 2.0);
        scene.text(title_at, &title, TITLE_SIZE, INK, Anchor::Start);
        let clock = |time: f64| format!("{time:.3}");
        let times = self.messages[..shown].iter().map(|it| width(&clock(it.time), NOTE_SIZE));
        let left = MARGIN + times.fold(width("time, s", NOTE_SIZE), f64::max) + 90.0;
        let right = wide - MARGIN - 90.0;
        let between = (right - left) / (self.actors.len().max(2) - 1) as f64;
        let x = |actor: usize| left + between * actor as f64;
        let bottom = f64::from(height) - MARGIN - if rest > 0 { LABEL_SIZE } else { 0.0 };
        for (place, name) in self.actors.iter().enumerate() {
            let name = fitted(name, LABEL_SIZE, between - 12.0);
            let at = (x(place), top - LABEL_SIZE);
            scene.text(at, &name, LABEL_SIZE, INK, Anchor::Middle);
            scene.line(vec![(x(place), top), (x(place), bottom)], FAINT, 3);
        }
        scene.text((MARGIN, top - LABEL_SIZE), "time, s", NOTE_SIZE, INK, Anchor::Start);
        let step = ((bottom - top) / (shown as f64 + 1.0)).min(2.0 * STEP);
        let mut before = None;
        for (number, message) in self.messages[..shown].iter().enumerate() {
            let y = top + step * (number as f64 + 1.0);
            let time = clock(message.time);
            // Messages of one instant share its text.
            if before.as_ref() != Some(&time) {
                scene.text((MARGIN, y), &time, NOTE_SIZE, INK, Anchor::Start);
            }
            before = Some(time);
            draw_message(&mut scene, message, (x(message.from), x(message.to)), y);
        }
        if rest > 0 {
            let text = format!("{rest} more messages: choose a part of the time");
            let at = (MARGIN, f64::from(height) - MARGIN);
            scene.text(at, &text, NOTE_SIZE, INK, Anchor::Start);
        }
        Ok(scene)
    }
}

/// An arrow with its kind beside the sender, on white, so that lines of other messages do not cross the text.
fn draw_message(scene: &mut Scene, message: &SequenceMessage, (from, to): (f64, f64), y: f64) {
    let colour = if message.lost { VERMILION } else { BLUE };
    let forward = if to >= from { 1.0 } else { -1.0 };
    if message.lost {
        // A lost message ends on its way.
        let end = from + (to - from) * 0.8;
        scene.line(vec![(from, y), (end, y)], colour, 2);
        for side in [-1.0, 1.0] {
            scene.line(vec![(end - 8.0, y - 8.0 * side), (end + 8.0, y + 8.0 * side)], colour, 3);
        }
    } else {
        arrow(scene, &[(from, y), (to, y)], colour);
    }
    scene.dot((from, y), 4.0, colour);
    let word = message.kind.replace('_', " ");
    let word = if message.lost { format!("{word} (lost)") } else { word };
    let wide = width(&word, NOTE_SIZE);
    let start = from + forward * 14.0;
    let (start, end) = if forward > 0.0 { (start, start + wide) } else { (start - wide, start) };
    let middle = y - NOTE_SIZE / 2.0 - 1.0;
    scene.rectangle([start - 2.0, middle - 9.0, end + 2.0, middle + 9.0], WHITE);
    scene.text((start, middle), &word, NOTE_SIZE, INK, Anchor::Start);
}
