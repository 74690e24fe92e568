//! Rescheduling of waiting work when something ends early.

use std::fmt;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::ConservativeBags;
use super::entry::{Entry, Kind};
use super::order::{Key, Order};
use super::relay::Relay;
use crate::bags::Batch;
use crate::placing::place;
use crate::plan::Plan;
use crate::scheduler::{BEYOND_ALL_LIMITS, Slot};

haggle_model::words! {
    /// Task that moves first when a job or task ends early.
    #[derive(Default)]
    pub enum ReschedulingRule {
        /// The task whose whole bag is expected to complete first. A bag that completes late elsewhere gains nothing
        /// from an early run here (Netto 2009, 7.3.2, Algorithm 7).
        #[default]
        Coordinated = "coordinated",
        /// The task that is itself expected to complete first.
        Uncoordinated = "uncoordinated",
        /// The task whose share of the bag at this provider is expected to complete first.
        Local = "local",
        /// The task that is planned to start first, in one pass (Mu'alem and Feitelson 2001).
        Compress = "compress",
        /// No task moves.
        None = "none",
    }
}

/// A rule with its variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReschedulingConfig {
    /// The order of the first pass.
    pub rule: ReschedulingRule,
    /// True if a second pass, by planned start, fills the gaps that the first one opened.
    /// [`ReschedulingRule::Compress`] has none.
    pub second_pass: bool,
    /// True if the first pass drops the whole plan and makes it again in its order, instead of moving one
    /// task after the other. The old plan stays if the new one would exceed the promise of a job or the
    /// expected completion of a bag.
    pub rebuild: bool,
}

/// The rule as published: two passes, in place.
impl From<ReschedulingRule> for ReschedulingConfig {
    fn from(rule: ReschedulingRule) -> ReschedulingConfig {
        ReschedulingConfig { rule, second_pass: true, rebuild: false }
    }
}

impl Default for ReschedulingConfig {
    fn default() -> ReschedulingConfig {
        ReschedulingRule::default().into()
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

/// Counts of the work of rescheduling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Number of times that waiting work was examined after an early end.
    pub reschedules: u64,
    /// Turns that were examined.
    pub turns: u64,
    /// Searches for an earlier place, including checks of the place that the last task left.
    pub searches: u64,
    /// Moves; tasks that move together between the same two places count once.
    pub moves: u64,
    /// Tasks and jobs that got another start, counted again in every pass.
    pub moved: u64,
}

/// Before all planned starts.
const BEFORE_ALL: Time = Time::from_micros(i64::MIN);

/// Waiting tasks of one entry with the same planned start.
///
/// They are interchangeable, and every order sorts the tasks of an entry by start.
#[derive(Clone, Copy, Debug)]
struct Turn {
    slot: Slot,
    batch: Batch,
}

impl ConservativeBags {
    /// Runs the passes of the rule over all waiting work.
    pub(super) fn passes(&mut self, now: Time) {
        let ReschedulingConfig { rule, second_pass, rebuild } = self.rescheduling;
        if rule == ReschedulingRule::None {
            self.plan_the_rest(now);
            self.openings.forget();
            return;
        }
        self.effort.reschedules += 1;
        if rebuild {
            self.rebuild(now, &self.turns(self.first_order(BEFORE_ALL)));
        } else if self.keeps_books(now) {
            self.move_jobs_up(now, rule == ReschedulingRule::Compress);
        } else {
            // Work that starts now has its processors already.
            self.move_up(now, self.first_order(now));
        }
        if !second_pass || rule == ReschedulingRule::Compress {
            return;
        }
        if self.keeps_books(now) {
            self.move_jobs_up(now, true);
        } else {
            let open = self.plan.profile().first_free(now);
            let order = self.order(
                open,
                |_, _| Key::AfterStart(Span::ZERO),
                |entry| (entry.span, entry.sequence),
            );
            self.move_up(now, order);
        }
    }

    /// The order of the first pass over all work planned to start after `after`.
    fn first_order(&self, after: Time) -> Order {
        let key = |slot, entry: &Entry| match (self.rescheduling.rule, entry.kind) {
            (ReschedulingRule::Compress | ReschedulingRule::None, _) => Key::AfterStart(Span::ZERO),
            (ReschedulingRule::Coordinated, Kind::Share) => {
                let expected = entry.bag_expected;
                Key::Fixed(expected.unwrap_or_else(|| self.completion(slot, entry)))
            }
            (ReschedulingRule::Local, Kind::Share) => Key::Fixed(self.completion(slot, entry)),
            (
                ReschedulingRule::Coordinated
                | ReschedulingRule::Uncoordinated
                | ReschedulingRule::Local,
                _,
            ) => Key::AfterStart(entry.span),
        };
        self.order(after, key, |entry| (Span::ZERO, entry.sequence))
    }

    /// All work planned to start after `after`, ordered by `key`, then by `tie`, then by start.
    fn order(
        &self,
        after: Time,
        key: impl Fn(Slot, &Entry) -> Key,
        tie: impl Fn(&Entry) -> (Span, u64),
    ) -> Order {
        let mut entries = Vec::with_capacity(self.entries.slots());
        entries.extend(self.entries.iter().filter(|(_, entry)| !entry.waiting.is_empty()));
        entries.sort_unstable_by_key(|(_, entry)| tie(entry));
        let entries = entries.into_iter().map(|(slot, entry)| (slot, key(slot, entry), entry));
        Order::new(entries, after)
    }

    /// All turns of `order`.
    fn turns(&self, mut order: Order) -> Vec<Turn> {
        let mut turns = Vec::new();
        while let Some((slot, run)) = order.next(&self.entries, BEFORE_ALL) {
            let entry = self.entries.in_use(slot);
            turns.extend(entry.waiting[run].iter().map(|&batch| Turn { slot, batch }));
        }
        turns
    }

    /// Moves one task after the other to its earliest fit, while all others keep their places.
    fn move_up(&mut self, now: Time, mut order: Order) {
        // No processor is free before `open`: moves fill the earliest free time and leave holes only behind
        // it. Most work is planned without a gap before it.
        let mut open = self.plan.profile().first_free(now);
        let mut batches = Vec::new();
        let mut relay = std::mem::take(&mut self.relay);
        while let Some((slot, run)) = order.next(&self.entries, open) {
            batches.clear();
            batches.extend_from_slice(&self.entries.in_use(slot).waiting[run]);
            self.effort.turns += batches.len() as u64;
            let moves = self.effort.moves;
            if self.is_in_blocks(slot) {
                self.move_blocks_up(open, slot, &batches);
            } else {
                self.move_entry_up(open, slot, &mut batches, &mut relay);
            }
            // Only a move can change the first free time.
            if self.effort.moves > moves {
                open = self.plan.profile().first_free(open);
            }
            debug_assert_eq!(open, self.plan.profile().first_free(now), "a hole before all others");
        }
        self.relay = relay;
    }

    /// Moves batches of one entry up, in order of start; no processor is free before `open`.
    ///
    /// A task that moves from s to t needs only the time from t to s, because from s on it has its own
    /// place. It leaves no room before s. So the next task finds the same t until that time is full, and as
    /// many tasks as fit there move together. A task planned later finds no place before t. If there was no
    /// such t, it finds none before s.
    fn move_entry_up(&mut self, open: Time, slot: Slot, batches: &mut [Batch], relay: &mut Relay) {
        let &Entry { width, span, earliest, .. } = self.entries.in_use(slot);
        let (mut from, mut at) = (open.max(earliest), 0);
        loop {
            at += batches[at..].partition_point(|batch| batch.start <= from);
            let Some(&mut Batch { start, ref mut tasks }) = batches.get_mut(at) else { return };
            self.effort.searches += 1;
            match self.plan.profile().earlier_fit(width, span, from, start) {
                None => {
                    at += 1;
                    if at == batches.len() {
                        return;
                    }
                    // The next task finds no place before a processor is free again, either.
                    let free = self.plan.profile().earliest_fit(width, Span::TICK, start);
                    from = free.unwrap_or(Time::FOREVER);
                }
                // The new place ends before the old one begins, so the whole old place is given back.
                Some(fit) if fit.start + span < start => {
                    let moving = u32::min(*tasks, fit.free / width);
                    *tasks -= moving;
                    at += usize::from(*tasks == 0);
                    self.entries.change(slot, |entry| entry.move_up(start, fit.start, moving));
                    let profile = self.plan.profile_mut();
                    profile.add(fit.start, fit.start + span, moving * width);
                    profile.remove(start, start + span, moving * width);
                    self.effort.moves += 1;
                    self.effort.moved += u64::from(moving);
                    from = fit.start;
                }
                Some(fit) => {
                    let overlaps = |batch: &&Batch| batch.start <= fit.start + span;
                    let near = batches[at..].iter().take_while(overlaps).count();
                    from = self.relay(slot, fit.start, &batches[at..at + near], relay);
                    at += near;
                }
            }
        }
    }

    /// As [`Self::move_entry_up`], where all places overlap with one at `from`. Returns the time from which
    /// on the next task could find a place.
    fn relay(&mut self, slot: Slot, mut from: Time, batches: &[Batch], relay: &mut Relay) -> Time {
        let &Entry { width, span, .. } = self.entries.in_use(slot);
        let mut steps = self.plan.profile().steps_from(from).peekable();
        let (_, free) = steps.next().expect("a profile covers all time");
        relay.begin(width, from, free);
        for &Batch { start, tasks } in batches {
            relay.reach(start, &mut steps);
            let mut left = tasks;
            while left > 0 {
                self.effort.searches += 1;
                let Some((earlier, room)) = relay.place() else { break };
                let moving = left.min(room);
                relay.move_up(earlier, moving);
                self.effort.moves += 1;
                self.effort.moved += u64::from(moving);
                from = earlier;
                left -= moving;
            }
            if left > 0 {
                from = start;
            }
        }
        drop(steps);
        self.entries.change(slot, |entry| {
            relay.finish(|start, earlier, tasks| entry.move_up(start, earlier, tasks));
        });
        // Tasks end earlier by as much as they start earlier.
        let (bends, width) = (relay.bends(), width as i32);
        let profile = self.plan.profile_mut();
        profile.change_course(bends.iter().map(|&(time, by)| (time, by * width)));
        profile.change_course(bends.iter().map(|&(time, by)| (time + span, -by * width)));
        from
    }

    /// Drops the plan and makes it again in the order of `turns`, unless that breaks a promise.
    fn rebuild(&mut self, now: Time, turns: &[Turn]) {
        let mut rebuilt = self.clone();
        rebuilt.drop_plan(now, turns);
        rebuilt.plan_anew(now, turns);
        if !self.keeps_promises_as(&rebuilt) {
            return;
        }
        let both = self.entries.iter().zip(rebuilt.entries.iter());
        let moved: u64 =
            both.map(|((_, old), (_, new))| tasks_moved(&old.waiting, &new.waiting)).sum();
        // All entries are at their first fits.
        rebuilt.effort.moved += moved;
        rebuilt.openings.forget();
        *self = rebuilt;
    }

    /// Returns whether another plan for the same entries keeps jobs within their promises, and tasks within the
    /// expected completions of their bags.
    pub(super) fn keeps_promises_as(&self, anew: &ConservativeBags) -> bool {
        let mut both = self.entries.iter().zip(anew.entries.iter());
        both.all(|((slot, old), (_, new))| {
            let promised = new.bag_expected.unwrap_or(new.promised);
            // A job that runs over its plan breaks promises that no order can repair.
            anew.completion(slot, new) <= promised.max(self.completion(slot, old))
        })
    }

    /// Takes all waiting work out of the plan, makes a `change` and plans the work again, first come, first
    /// served.
    pub(super) fn plan_anew_around(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        self.plan.profile_from(now);
        let turns = self.turns(self.first_come(BEFORE_ALL));
        self.drop_plan(now, &turns);
        change(&mut self.plan);
        self.plan_anew(now, &turns);
        self.openings.forget();
    }

    /// Planned work keeps its places. Work behind a job without a limit or behind failed processors has
    /// none; it may get a place now.
    fn plan_the_rest(&mut self, now: Time) {
        let rest = self.turns(self.first_come(BEYOND_ALL_LIMITS - Span::TICK));
        self.drop_plan(now, &rest);
        self.plan_anew(now, &rest);
    }

    /// All work planned to start after `after`, first come, first served.
    fn first_come(&self, after: Time) -> Order {
        let tie = |entry: &Entry| (Span::ZERO, entry.sequence);
        self.order(after, |_, _| Key::Fixed(Time::ZERO), tie)
    }

    /// Takes waiting work out of the plan; of work planned before `now`, only the rest is given back.
    fn drop_plan(&mut self, now: Time, turns: &[Turn]) {
        for &Turn { slot, batch: Batch { start, tasks } } in turns {
            self.entries.change(slot, |entry| entry.take(start, tasks));
            let &Entry { width, span, .. } = self.entries.in_use(slot);
            self.plan.profile_mut().remove(start.max(now), start + span, tasks * width);
        }
    }

    /// Plans the dropped work, in the order of `turns`.
    fn plan_anew(&mut self, now: Time, turns: &[Turn]) {
        for &Turn { slot, batch } in turns {
            let &Entry { kind, width, span, earliest, .. } = self.entries.in_use(slot);
            let (profile, from) = (self.plan.profile_mut(), now.max(earliest));
            let batches = match kind {
                Kind::Job => place(profile, width, span, batch.tasks, from),
                Kind::Share => self.shares.place(profile, span, batch.tasks, from),
            };
            self.entries.change(slot, |entry| {
                batches.iter().for_each(|batch| entry.put(batch.start, batch.tasks));
            });
        }
    }
}

/// Number of tasks of one entry that have another start now.
fn tasks_moved(old: &[Batch], new: &[Batch]) -> u64 {
    let stays = |batch: &Batch| {
        let at = new.binary_search_by_key(&batch.start, |other| other.start);
        at.map_or(0, |at| new[at].tasks.min(batch.tasks))
    };
    old.iter().map(|batch| u64::from(batch.tasks - stays(batch))).sum()
}
