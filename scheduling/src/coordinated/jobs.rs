//! Rigid jobs while there are no shares: what has been given back is kept for them.

use haggle_model::Time;

use super::ConservativeBags;
use super::entry::Kind;
use crate::plan::openings::Region;
use crate::plan::pass::Pass;
use crate::plan::waiting::Entry;

impl ConservativeBags {
    /// Whether books are kept of what has been given back: not while there are shares, for nearly
    /// all of their tasks move when something does, and books of that cost more than they save.
    pub(super) fn keeps_books(&mut self, now: Time) -> bool {
        let shares = self.entries.iter().flatten().any(|entry| entry.kind == Kind::Share);
        let nobody_knows = std::mem::replace(&mut self.all_open, shares);
        if shares {
            self.openings.forget();
        } else if nobody_knows {
            let everything = Region::everything(self.plan.profile(), now);
            self.openings.note_region(Some(everything));
        }
        !shares
    }

    /// Puts one job after the other to its earliest fit, by start or by completion.
    pub(super) fn move_jobs_up(&mut self, now: Time, by_start: bool) {
        let second = self.rescheduling.rule != super::Rescheduling::Compress;
        let mut list: Vec<Entry> = self
            .in_slots()
            .filter_map(|(slot, entry)| {
                let booked = entry.waiting.first()?.start;
                let (span, sequence) = (entry.span, entry.sequence as u32);
                // At one start, the second pass takes the shorter first.
                let key = match (by_start, second) {
                    (true, true) => (booked.as_micros(), span.as_micros(), sequence),
                    (true, false) => (booked.as_micros(), 0, sequence),
                    (false, _) => ((booked + span).as_micros(), 0, sequence),
                };
                Some(Entry { key, booked, span, slot, processors: entry.width })
            })
            .collect();
        list.sort_unstable_by_key(|entry| entry.key);
        let ConservativeBags { plan, openings, .. } = self;
        let ends = plan.ends();
        let pass = Pass { plan, openings, now };
        let moved =
            if by_start { pass.by_start(&mut list, ends) } else { pass.one_by_one(&mut list) };
        let tail = moved.tail..list.len();
        self.effort.turns += list.len() as u64;
        self.effort.searches += moved.tail as u64;
        let moves = (moved.places.len() + tail.len()) as u64;
        self.effort.moves += moves;
        self.effort.moved += moves;
        for place in moved.places.into_iter().chain(tail) {
            let Entry { slot, booked, .. } = list[place];
            self.entry(slot).waiting[0].start = booked;
        }
    }
}
