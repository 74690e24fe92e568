//! Rigid jobs while there are no shares. Returned time is noted for them, and their last orders are kept,
//! because the next orders hardly differ.

use haggle_model::Time;

use super::entry::Kind;
use super::{ConservativeBags, ReschedulingRule};
use crate::not_before::NotBefore;
use crate::plan::openings::Region;
use crate::plan::pass::Pass;
use crate::plan::waiting::{Entry, Waiting};
use crate::scheduler::Slot;

impl ConservativeBags {
    /// Returns whether returned time is noted. While there are shares it is not: nearly all of their tasks move
    /// when something does, so noting costs more than it saves.
    pub(super) fn keeps_books(&mut self, now: Time) -> bool {
        let shares = self.entries.has_shares();
        let nobody_knows = std::mem::replace(&mut self.all_open, shares);
        if shares {
            self.openings.forget();
        } else if nobody_knows {
            // Nothing was noted while there were shares, so all time counts as given back.
            let everything = Region::everything(self.plan.profile(), now);
            self.openings.note_region(Some(everything));
            self.line_up();
        }
        !shares
    }

    /// Builds the orders of the jobs again.
    fn line_up(&mut self) {
        let jobs = self.entries.iter().map(|(slot, entry)| in_line(slot, entry));
        let mut line = Waiting::default();
        jobs.for_each(|job| line.insert(job));
        self.lines = [line.clone(), line];
    }

    /// A job has been queued.
    pub(super) fn join_lines(&mut self, slot: Slot) {
        let entry = Some(self.entries.in_use(slot));
        // While there are shares, the orders are not kept.
        let job = entry.filter(|it| it.kind == Kind::Job && !self.all_open);
        if let Some(job) = job.map(|entry| in_line(slot, entry)) {
            self.lines.iter_mut().for_each(|line| line.insert(job));
        }
    }

    /// Moves one job after the other to its earliest fit, by start or by completion.
    pub(super) fn move_jobs_up(&mut self, now: Time, by_start: bool) {
        let shorter_first = self.rescheduling.rule != ReschedulingRule::Compress;
        let ConservativeBags { plan, openings, entries, lines, effort, .. } = self;
        let line = &mut lines[usize::from(by_start)];
        line.renew(|&job| {
            let Entry { slot, key: (.., sequence), span, .. } = job;
            let booked = entries.planned(slot, sequence)?;
            let key = match by_start {
                true if shorter_first => (booked.as_micros(), span.as_micros(), sequence),
                true => (booked.as_micros(), 0, sequence),
                false => ((booked + span).as_micros(), 0, sequence),
            };
            Some(Entry { key, booked, ..job })
        });
        let ends = plan.ends();
        let not_before = &NotBefore::default();
        let pass = Pass { plan, openings, not_before, untried: &[], now };
        let list = line.list_mut();
        let moved = if by_start { pass.by_start(list, ends) } else { pass.one_by_one(list) };
        let tail = moved.tail..list.len();
        let moves = (moved.places.len() + tail.len()) as u64;
        effort.turns += list.len() as u64;
        effort.searches += moved.tail as u64;
        effort.moves += moves;
        effort.moved += moves;
        for place in moved.places.into_iter().chain(tail) {
            let Entry { slot, booked, .. } = list[place];
            entries.plan_job(slot, booked);
        }
    }
}

/// A job by its planned start.
fn in_line(slot: Slot, entry: &super::Entry) -> Entry {
    let booked = entry.waiting.first().map_or(Time::ZERO, |batch| batch.start);
    let key = (booked.as_micros(), 0, entry.sequence as u32);
    Entry { key, booked, span: entry.span, slot, processors: entry.width }
}
