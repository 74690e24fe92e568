//! What happens to waiting work when something ends early.

use std::fmt;

use haggle_model::Time;

use super::ConservativeBags;
use super::entry::{Entry, Kind};
use crate::bags::Batch;
use crate::placing::place;
use crate::scheduler::Slot;

/// In which order waiting work is moved up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Rescheduling {
    /// By expected completion, of the *whole bag* for a task and its own for a
    /// rigid job: a bag that is done late elsewhere gains nothing from running
    /// early here (Netto 2009, section 7.3.2, Algorithm 7).
    #[default]
    Coordinated,
    /// The same by own completion: what a provider does that knows its share only.
    Uncoordinated,
    /// One pass by planned start (Mu'alem and Feitelson 2001).
    Compress,
    /// Nothing moves.
    None,
}

impl Rescheduling {
    /// All rules, in the order of the manual.
    pub const ALL: [Rescheduling; 4] = [
        Rescheduling::Coordinated,
        Rescheduling::Uncoordinated,
        Rescheduling::Compress,
        Rescheduling::None,
    ];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Rescheduling::Coordinated => "coordinated",
            Rescheduling::Uncoordinated => "uncoordinated",
            Rescheduling::Compress => "compress",
            Rescheduling::None => "none",
        }
    }
}

/// A rule with its variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReschedulingConfig {
    /// The order of the first pass.
    pub rule: Rescheduling,
    /// Whether a second pass, by planned start, fills what the first one opened.
    /// [`Rescheduling::Compress`] has none.
    pub second_pass: bool,
    /// Whether the first pass drops the whole plan and makes it anew in its
    /// order, instead of moving one task after the other. The old plan stays
    /// if the new one would keep a job beyond its promise, or a task beyond
    /// the expected completion of its bag.
    pub rebuild: bool,
}

/// The rule as published: two passes, in place.
impl From<Rescheduling> for ReschedulingConfig {
    fn from(rule: Rescheduling) -> ReschedulingConfig {
        ReschedulingConfig { rule, second_pass: true, rebuild: false }
    }
}

impl Default for ReschedulingConfig {
    fn default() -> ReschedulingConfig {
        Rescheduling::default().into()
    }
}

/// Such as `coordinated` or `coordinated, one pass, rebuilt`.
impl fmt::Display for ReschedulingConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule.name())?;
        if !self.second_pass {
            f.write_str(", one pass")?;
        }
        if self.rebuild {
            f.write_str(", rebuilt")?;
        }
        Ok(())
    }
}

/// What rescheduling has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// How often waiting work was looked at because something had ended early.
    pub reschedules: u64,
    /// Turns that were looked at.
    pub turns: u64,
    /// Searches of the profile for an earlier place.
    pub searches: u64,
    /// Moves; tasks that go from one place to the same other one move at once.
    pub moves: u64,
    /// Tasks and jobs that got another start, counted anew in every pass.
    pub moved: u64,
}

/// Tasks of one entry that wait for the same start, and what decides their turn.
///
/// Tasks of one entry with the same start are interchangeable, and within an
/// entry every order goes by start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    keys: (Time, Time),
    sequence: u64,
    start: Time,
    slot: Slot,
    tasks: u32,
}

impl ConservativeBags {
    /// The passes of the rule over all that waits.
    pub(super) fn reschedule(&mut self, now: Time) {
        let ReschedulingConfig { rule, second_pass, rebuild } = self.rescheduling;
        if rule == Rescheduling::None {
            return;
        }
        self.effort.reschedules += 1;
        let turns = self.turns(|entry, start| {
            let key = match (rule, entry.kind) {
                (Rescheduling::Compress | Rescheduling::None, _) => start,
                (Rescheduling::Coordinated, Kind::Share) => {
                    entry.bag_expected.unwrap_or(entry.latest_completion())
                }
                (Rescheduling::Coordinated | Rescheduling::Uncoordinated, _) => start + entry.span,
            };
            (key, Time::ZERO)
        });
        if rebuild {
            self.rebuild(now, &turns);
        } else {
            self.move_up(now, &turns);
        }
        if second_pass && rule != Rescheduling::Compress {
            let turns = self.turns(|entry, start| (start, start + entry.span));
            self.move_up(now, &turns);
        }
    }

    /// All that waits, ordered by `keys`, then arrival, then start.
    pub(super) fn turns(&self, keys: impl Fn(&Entry, Time) -> (Time, Time)) -> Vec<Turn> {
        let mut turns = Vec::new();
        for (slot, entry) in self.in_slots() {
            let sequence = entry.sequence;
            turns.extend(entry.waiting.iter().map(|&Batch { start, tasks }| Turn {
                keys: keys(entry, start),
                sequence,
                start,
                slot,
                tasks,
            }));
        }
        turns.sort_unstable();
        turns
    }

    /// Puts one task after the other to its earliest fit, all others staying in place.
    ///
    /// A task that moves from s to t needs the time from t to s only, for from
    /// s on it has its own place, and it leaves nothing behind before s. So the
    /// next one finds the same t until that time is full, and as many as fit
    /// there move together.
    fn move_up(&mut self, now: Time, turns: &[Turn]) {
        for &Turn { start, slot, tasks, .. } in turns {
            let entry = self.entries[slot.index()].as_mut().expect("what waits has an entry");
            let (width, span) = (entry.width, entry.span);
            let from = now.max(entry.earliest);
            let mut left = tasks;
            self.effort.turns += 1;
            while left > 0 && start > from {
                self.effort.searches += 1;
                let earlier = self.profile.earlier_fit(width, span, from, start);
                let Some(earlier) = earlier else { break };
                debug_assert!(earlier < start, "a planned start has grown");
                let room = self.profile.min_free(earlier, (earlier + span).min(start));
                let moving = left.min(room / width);
                // What both places have in common stays booked.
                let (freed, booked) = ((earlier + span).max(start), (earlier + span).min(start));
                self.profile.add(earlier, booked, moving * width);
                self.profile.remove(freed, start + span, moving * width);
                entry.take(start, moving);
                entry.put(earlier, moving);
                self.effort.moved += u64::from(moving);
                self.effort.moves += 1;
                left -= moving;
            }
        }
    }

    /// Drops the plan and makes it anew in the order of `turns`, unless that
    /// breaks what has been promised.
    fn rebuild(&mut self, now: Time, turns: &[Turn]) {
        let mut rebuilt = self.clone();
        rebuilt.drop_plan(turns);
        rebuilt.plan_anew(now, turns);
        for (old, new) in self.entries.iter().zip(&rebuilt.entries) {
            let (Some(old), Some(new)) = (old, new) else { continue };
            let promised = new.bag_expected.unwrap_or(new.promised);
            // What runs over its plan breaks promises that no order can mend.
            if new.latest_completion() > promised.max(old.latest_completion()) {
                return;
            }
            rebuilt.effort.moved += tasks_moved(&old.waiting, &new.waiting);
        }
        *self = rebuilt;
    }

    /// Takes all that waits out of the plan.
    pub(super) fn drop_plan(&mut self, turns: &[Turn]) {
        for &Turn { start, slot, tasks, .. } in turns {
            let entry = self.entry(slot);
            entry.take(start, tasks);
            let (end, processors) = (start + entry.span, tasks * entry.width);
            self.profile.remove(start, end, processors);
        }
    }

    /// Plans what was dropped, in the order of `turns`.
    pub(super) fn plan_anew(&mut self, now: Time, turns: &[Turn]) {
        for &Turn { slot, tasks, .. } in turns {
            let entry = self.entries[slot.index()].as_mut().expect("what waits has an entry");
            let from = now.max(entry.earliest);
            for batch in place(&mut self.profile, entry.width, entry.span, tasks, from) {
                entry.put(batch.start, batch.tasks);
            }
        }
    }
}

/// Tasks of one entry that have another start now.
fn tasks_moved(old: &[Batch], new: &[Batch]) -> u64 {
    let stays = |batch: &Batch| {
        let at = new.binary_search_by_key(&batch.start, |other| other.start);
        at.map_or(0, |at| new[at].tasks.min(batch.tasks))
    };
    old.iter().map(|batch| u64::from(batch.tasks - stays(batch))).sum()
}
