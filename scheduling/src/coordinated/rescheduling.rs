//! What happens to waiting work when something ends early.

use std::fmt;

use haggle_model::{Span, Time};

use super::ConservativeBags;
use super::entry::{Entry, Kind};
use crate::bags::Batch;
use crate::placing::place;
use crate::profile::Fit;
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

/// Tasks of one entry that wait for the same start.
///
/// They are interchangeable, and within an entry every order goes by start.
#[derive(Clone, Copy, Debug)]
struct Turn {
    slot: Slot,
    tasks: u32,
    width: u32,
    start: Time,
    /// They do not start before.
    earliest: Time,
    span: Span,
}

/// All that waits, in the order in which it is looked at.
#[derive(Debug)]
struct Turns {
    turns: Vec<Turn>,
    /// What a turn is sorted by in the upper half, its index in `turns` in the
    /// lower one: whole numbers sort several times faster than turns.
    order: Vec<u128>,
}

impl Turns {
    fn iter(&self) -> impl Iterator<Item = Turn> {
        self.order.iter().map(|&key| self.turns[key as u64 as usize])
    }
}

impl ConservativeBags {
    /// The passes of the rule over all that waits.
    pub(super) fn reschedule(&mut self, now: Time) {
        let ReschedulingConfig { rule, second_pass, rebuild } = self.rescheduling;
        if rule == Rescheduling::None {
            return;
        }
        self.effort.reschedules += 1;
        let turns = self.turns(
            // What starts now has its processors, unless all is planned anew.
            (!rebuild).then_some(now),
            |entry, start| match (rule, entry.kind) {
                (Rescheduling::Compress | Rescheduling::None, _) => start,
                (Rescheduling::Coordinated, Kind::Share) => {
                    entry.bag_expected.unwrap_or(entry.latest_completion())
                }
                (Rescheduling::Coordinated | Rescheduling::Uncoordinated, _) => start + entry.span,
            },
            |entry| (Span::ZERO, entry.sequence),
        );
        if rebuild {
            self.rebuild(now, &turns);
        } else {
            self.move_up(now, &turns);
        }
        if second_pass && rule != Rescheduling::Compress {
            let open = self.profile.first_free(now);
            let turns =
                self.turns(Some(open), |_, start| start, |entry| (entry.span, entry.sequence));
            self.move_up(now, &turns);
        }
    }

    /// All that waits to start after `after`, ordered by `key`, then by `tie`, then by start.
    fn turns(
        &self,
        after: Option<Time>,
        key: impl Fn(&Entry, Time) -> Time,
        tie: impl Fn(&Entry) -> (Span, u64),
    ) -> Turns {
        let waits = self.in_slots().filter(|(_, entry)| !entry.waiting.is_empty());
        let mut entries: Vec<_> = waits.map(|(slot, entry)| (tie(entry), slot, entry)).collect();
        entries.sort_unstable_by_key(|&(tie, ..)| tie);
        let (mut turns, mut order) = (Vec::new(), Vec::new());
        for (_, slot, entry) in entries {
            let &Entry { width, span, earliest, .. } = entry;
            let first = entry.waiting.partition_point(|batch| Some(batch.start) <= after);
            for &Batch { start, tasks } in &entry.waiting[first..] {
                // Negative times sort before others.
                let key = key(entry, start).as_micros() as u64 ^ (1 << 63);
                order.push(u128::from(key) << 64 | turns.len() as u128);
                turns.push(Turn { slot, tasks, width, start, earliest, span });
            }
        }
        order.sort_unstable();
        Turns { turns, order }
    }

    /// Puts one task after the other to its earliest fit, all others staying in place.
    ///
    /// A task that moves from s to t needs the time from t to s only, for from
    /// s on it has its own place, and it leaves nothing behind before s. So the
    /// next one finds the same t until that time is full, and as many as fit
    /// there move together.
    fn move_up(&mut self, now: Time, turns: &Turns) {
        // Nothing is free before this: moves fill what they find and leave holes
        // behind it only. Most that waits is planned without a gap before it.
        let mut open = self.profile.first_free(now);
        for Turn { slot, tasks, width, start, earliest, span } in turns.iter() {
            let from = now.max(earliest);
            let mut left = tasks;
            self.effort.turns += 1;
            while left > 0 && start > from.max(open) {
                self.effort.searches += 1;
                let fit = self.profile.earlier_fit(width, span, from, start);
                let Some(Fit { start: earlier, free }) = fit else { break };
                debug_assert!(earlier < start, "a planned start has grown");
                let moving = left.min(free / width);
                let fills = earlier == open;
                // What both places have in common stays booked.
                let (freed, booked) = ((earlier + span).max(start), (earlier + span).min(start));
                self.profile.add(earlier, booked, moving * width);
                self.profile.remove(freed, start + span, moving * width);
                let entry = self.entry(slot);
                entry.take(start, moving);
                entry.put(earlier, moving);
                self.effort.moved += u64::from(moving);
                self.effort.moves += 1;
                left -= moving;
                if fills {
                    open = self.profile.first_free(earlier);
                }
                debug_assert_eq!(open, self.profile.first_free(now), "a hole before all others");
            }
        }
    }

    /// Drops the plan and makes it anew in the order of `turns`, unless that
    /// breaks what has been promised.
    fn rebuild(&mut self, now: Time, turns: &Turns) {
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

    /// Takes all that waits out of the plan, makes a `change` and plans it anew,
    /// first come, first served.
    pub(super) fn plan_anew_around(
        &mut self,
        now: Time,
        change: impl FnOnce(&mut ConservativeBags),
    ) {
        let turns = self.turns(None, |_, _| Time::ZERO, |entry| (Span::ZERO, entry.sequence));
        self.drop_plan(&turns);
        change(self);
        self.plan_anew(now, &turns);
    }

    /// Takes all that waits out of the plan.
    fn drop_plan(&mut self, turns: &Turns) {
        for Turn { slot, tasks, width, start, span, .. } in turns.iter() {
            self.entry(slot).take(start, tasks);
            self.profile.remove(start, start + span, tasks * width);
        }
    }

    /// Plans what was dropped, in the order of `turns`.
    fn plan_anew(&mut self, now: Time, turns: &Turns) {
        for Turn { slot, tasks, width, earliest, span, .. } in turns.iter() {
            for batch in place(&mut self.profile, width, span, tasks, now.max(earliest)) {
                self.entry(slot).put(batch.start, batch.tasks);
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
