//! What happens to waiting work when something ends early.

use std::fmt;

use haggle_model::{Span, Time};

use super::ConservativeBags;
use super::entry::{Entry, Kind};
use super::relay::Relay;
use crate::bags::Batch;
use crate::placing::place;
use crate::profile::Profile;
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
    /// Searches for an earlier place, and looks at the place the last task left.
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

impl ConservativeBags {
    /// The passes of the rule over all that waits.
    pub(super) fn reschedule(&mut self, now: Time) {
        let ReschedulingConfig { rule, second_pass, rebuild } = self.rescheduling;
        if rule == Rescheduling::None {
            return;
        }
        self.effort.reschedules += 1;
        let mut turns = self.turns(
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
            self.move_up(now, &mut turns);
        }
        if second_pass && rule != Rescheduling::Compress {
            let open = self.profile.first_free(now);
            let mut turns =
                self.turns(Some(open), |_, start| start, |entry| (entry.span, entry.sequence));
            self.move_up(now, &mut turns);
        }
    }

    /// All that waits to start after `after`, ordered by `key`, then by `tie`, then by start.
    fn turns(
        &self,
        after: Option<Time>,
        key: impl Fn(&Entry, Time) -> Time,
        tie: impl Fn(&Entry) -> (Span, u64),
    ) -> Vec<Turn> {
        let waits = self.in_slots().filter(|(_, entry)| !entry.waiting.is_empty());
        let mut entries: Vec<_> = waits.map(|(slot, entry)| (tie(entry), slot, entry)).collect();
        entries.sort_unstable_by_key(|&(tie, ..)| tie);
        // What a turn is sorted by in the upper half, its index in `turns` in the
        // lower one: whole numbers sort several times faster than turns.
        let most = entries.iter().map(|(.., entry)| entry.waiting.len()).sum();
        let mut turns = Vec::with_capacity(most);
        let mut order: Vec<u128> = Vec::with_capacity(most);
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
        // Stable, for that is fast where the turns of an entry are in order already.
        order.sort();
        order.into_iter().map(|key| turns[key as u64 as usize]).collect()
    }

    /// Puts one task after the other to its earliest fit, all others staying in place.
    fn move_up(&mut self, now: Time, turns: &mut [Turn]) {
        // What waits comes back in its turn.
        for turn in turns.iter().rev() {
            let batch = self.entry(turn.slot).waiting.pop();
            debug_assert_eq!(batch.map(|batch| batch.start), Some(turn.start));
        }
        // Nothing is free before this: moves fill what they find and leave holes
        // behind it only. Most that waits is planned without a gap before it.
        let mut open = self.profile.first_free(now);
        self.effort.turns += turns.len() as u64;
        let mut relay = Relay::default();
        for turns in turns.chunk_by_mut(|turn, next| turn.slot == next.slot) {
            let moves = self.effort.moves;
            self.move_entry_up(open, turns, &mut relay);
            if self.effort.moves > moves {
                open = self.profile.first_free(open);
            }
            debug_assert_eq!(open, self.profile.first_free(now), "a hole before all others");
        }
    }

    /// The turns of one entry, in order of start, where nothing is free before `open`.
    ///
    /// A task that moves from s to t needs the time from t to s only, for from
    /// s on it has its own place, and it leaves nothing behind before s. So the
    /// next one finds the same t until that time is full, and as many as fit
    /// there move together. And one that is planned later finds no place before
    /// t, nor before s if there was no such t.
    fn move_entry_up(&mut self, open: Time, turns: &mut [Turn], relay: &mut Relay) {
        let (mut from, mut at) = (open, 0);
        while let Some(turn) = turns.get_mut(at) {
            let &mut Turn { slot, tasks, width, start, earliest, span } = turn;
            from = from.max(earliest);
            if start <= from {
                self.entry(slot).put(start, tasks);
                at += 1;
                continue;
            }
            self.effort.searches += 1;
            match self.profile.earlier_fit(width, span, from, start) {
                None => {
                    self.entry(slot).put(start, tasks);
                    (from, at) = (start, at + 1);
                }
                Some(fit) if fit.start + span < start => {
                    let moving = tasks.min(fit.free / width);
                    self.entry(slot).put(fit.start, moving);
                    rebook(&mut self.profile, span, start, fit.start, moving * width);
                    self.effort.moves += 1;
                    self.effort.moved += u64::from(moving);
                    turn.tasks -= moving;
                    from = fit.start;
                    at += usize::from(turn.tasks == 0);
                    continue;
                }
                Some(fit) => from = fit.start,
            }
            let near = turns[at..].partition_point(|turn| turn.start <= from + span);
            from = self.relay(from, &turns[at..at + near], relay);
            at += near;
        }
    }

    /// The same where all overlap with a place at `from`, so that no two places
    /// are apart. Says from when on the next one could find one.
    fn relay(&mut self, mut from: Time, turns: &[Turn], relay: &mut Relay) -> Time {
        let [Turn { slot, width, span, .. }, ..] = *turns else { return from };
        let entry = self.entries[slot.index()].as_mut().expect("a slot in use has an entry");
        let mut steps = self.profile.steps_from(from).peekable();
        let (_, free) = steps.next().expect("a profile covers all time");
        relay.begin(width, from, free);
        for &Turn { start, tasks, .. } in turns {
            relay.reach(start, &mut steps);
            let mut left = tasks;
            while left > 0 {
                self.effort.searches += 1;
                let Some((earlier, room)) = relay.place() else { break };
                let moving = left.min(room);
                relay.move_up(earlier, moving);
                entry.put(earlier, moving);
                self.effort.moves += 1;
                self.effort.moved += u64::from(moving);
                from = earlier;
                left -= moving;
            }
            if left > 0 {
                entry.put(start, left);
                from = start;
            }
        }
        drop(steps);
        relay.finish(|start, earlier, tasks| {
            rebook(&mut self.profile, span, start, earlier, tasks * width);
        });
        from
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
    fn drop_plan(&mut self, turns: &[Turn]) {
        for &Turn { slot, tasks, width, start, span, .. } in turns {
            self.entry(slot).take(start, tasks);
            self.profile.remove(start, start + span, tasks * width);
        }
    }

    /// Plans what was dropped, in the order of `turns`.
    fn plan_anew(&mut self, now: Time, turns: &[Turn]) {
        for &Turn { slot, tasks, width, earliest, span, .. } in turns {
            for batch in place(&mut self.profile, width, span, tasks, now.max(earliest)) {
                self.entry(slot).put(batch.start, batch.tasks);
            }
        }
    }
}

/// Changes a profile for a booking that goes to an earlier start. What both
/// places have in common stays booked.
fn rebook(profile: &mut Profile, span: Span, start: Time, earlier: Time, processors: u32) {
    profile.add(earlier, start.min(earlier + span), processors);
    profile.remove(start.max(earlier + span), start + span, processors);
}

/// Tasks of one entry that have another start now.
fn tasks_moved(old: &[Batch], new: &[Batch]) -> u64 {
    let stays = |batch: &Batch| {
        let at = new.binary_search_by_key(&batch.start, |other| other.start);
        at.map_or(0, |at| new[at].tasks.min(batch.tasks))
    };
    old.iter().map(|batch| u64::from(batch.tasks - stays(batch))).sum()
}
