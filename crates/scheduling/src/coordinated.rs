//! Conservative backfilling of bags, with rescheduling that considers the whole bag.
//!
//! Every waiting task and job has a planned start; new work gets its earliest fit around all planned work.
//! When something ends before its planned end, waiting work is moved up. The order in which it is examined
//! determines who gets the time. *Coordinated* rescheduling orders by the completion of the whole bag,
//! which the metascheduler reports. Tasks of a bag whose last task runs late elsewhere step back, so the
//! tasks of a bag do not drift apart (Netto 2009, chapter 7, Algorithm 7).
//!
//! An early end is only noted. The passes run once, in the next [`Bargainer::reschedule`], or at the latest
//! in [`LocalScheduler::start_due`], before any start. So a provider reports all ends of an instant first,
//! then has waiting work moved up, and then places the new work of that instant. A newcomer gets no time
//! that waiting work needs.

mod blocks;
mod entries;
mod entry;
mod jobs;
mod order;
mod parts;
mod relay;
mod rescheduling;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

pub use self::blocks::Shares;
pub use self::rescheduling::{Effort, ReschedulingConfig, ReschedulingRule};

use self::entries::Entries;
use self::entry::{Entry, Kind};
use self::relay::Relay;
use crate::bags::{Award, BagRequest, Bargainer, Batch, Fractions, FreeSlot, Offer, merge};
use crate::composition::QueueEntry;
use crate::maintenance::OnPlan;
use crate::placing::{free_slots, place};
use crate::plan::openings::Openings;
use crate::plan::waiting::Waiting;
use crate::plan::{Part, Plan};
use crate::scheduler::{BEYOND_ALL_LIMITS, Killed, LocalScheduler, Request, Slot, promise};
use crate::{Capabilities, Interval, Maintaining, Overlap};

/// A queue of rigid jobs and shares of bags, first come first served, with
/// conservative backfilling.
///
/// Ties go to the entry that was submitted or awarded *here* first. [`BagRequest::deadline`] is ignored:
/// offers contain the earliest completion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConservativeBags {
    rescheduling: ReschedulingConfig,
    fractions: Fractions,
    shares: Shares,
    /// Running and planned work.
    plan: Plan,
    entries: Entries,
    /// Entries accepted so far.
    accepted: u64,
    /// True if something has ended early since the last rescheduling.
    ended_early: bool,
    /// True if returned time is unknown since waiting work was last tried.
    all_open: bool,
    openings: Openings,
    /// Rigid jobs in the order of the first and of the second pass, while there are no shares.
    lines: [Waiting; 2],
    /// Buffer for tasks that move up one after the other.
    relay: Relay,
    effort: Effort,
}

impl ConservativeBags {
    /// For a machine of `processors`; `fractions` are the sizes of its offers.
    pub fn new(
        processors: u32,
        rescheduling: ReschedulingConfig,
        fractions: Fractions,
    ) -> ConservativeBags {
        ConservativeBags {
            rescheduling,
            fractions,
            shares: Shares::default(),
            plan: Plan::new(processors),
            entries: Entries::default(),
            accepted: 0,
            ended_early: false,
            all_open: false,
            openings: Openings::new(processors),
            lines: Default::default(),
            relay: Relay::default(),
            effort: Effort::default(),
        }
    }

    /// The same queue, with shares planned in this way.
    pub fn with_shares(self, shares: Shares) -> ConservativeBags {
        ConservativeBags { shares, ..self }
    }

    /// Planned batches of the waiting tasks of a share or job, in order of start.
    pub fn planned(&self, slot: Slot) -> &[Batch] {
        self.entries.get(slot).map_or(&[], |entry| &entry.waiting)
    }

    /// Effort of rescheduling so far.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Queues work that is already in `profile` and returns its planned completion.
    fn accept(
        &mut self,
        slot: Slot,
        kind: Kind,
        width: u32,
        span: Span,
        earliest: Time,
        batches: &[Batch],
    ) -> Time {
        let entry = Entry::new(kind, self.accepted, width, span, earliest, batches);
        self.accepted += 1;
        let completion = entry.promised;
        self.entries.insert(slot, entry);
        self.join_lines(slot);
        completion
    }

    /// Notes that processors have been given back; waiting work has not been tried there yet.
    fn note(&mut self, start: Time, end: Time, processors: u32) {
        if !self.all_open {
            self.openings.note(self.plan.profile(), start, end, processors);
        }
    }

    /// Latest completion of its tasks: the planned one, or the end of those that have ended.
    fn completion(&self, slot: Slot, entry: &Entry) -> Time {
        let tasks = entry.latest_planned().max(self.plan.latest_end(slot));
        tasks.expect("an entry without tasks is forgotten")
    }

    /// Starts the due work of one kind.
    fn start(&mut self, now: Time, kind: Kind, mut started: impl FnMut(Slot, u32)) {
        let mut due = Vec::new();
        for (slot, entry) in self.entries.due(now).filter(|(_, entry)| entry.kind == kind) {
            let batches = entry.waiting.iter().take_while(|batch| batch.start <= now);
            due.extend(batches.map(|batch| (batch.start, entry.sequence, slot, batch.tasks)));
        }
        due.sort_unstable();
        for (start, _, slot, tasks) in due {
            let free = self.plan.free();
            let &Entry { width, span, .. } = self.entries.in_use(slot);
            let processors = tasks * width;
            // Work that ends at this very instant may not have given its processors back yet; its end
            // brings the next call.
            if processors > free {
                continue;
            }
            self.entries.change(slot, |entry| entry.take(start, tasks));
            self.plan.start(slot, processors, start + span);
            started(slot, tasks);
        }
    }

    /// A part of an entry has ended.
    fn end(&mut self, now: Time, slot: Slot, part: Part) {
        let ended = self.plan.end(now, slot, part);
        let Part { processors, planned_end } = ended.expect("only what runs ends");
        self.plan.complete_windows(now);
        self.note(now, planned_end, processors);
        self.ended_early |= now < planned_end;
        // A part has no entry.
        if self.entries.get(slot).is_none() {
            if !self.plan.runs(slot) {
                self.plan.forget(slot);
            }
            return;
        }
        if self.entries.in_use(slot).waiting.is_empty() && !self.plan.runs(slot) {
            self.entries.remove(slot);
            self.plan.forget(slot);
        }
    }
}

impl LocalScheduler for ConservativeBags {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.plan.profile_from(now);
        let span = request.planned_span();
        let batches = place(self.plan.profile_mut(), request.processors, span, 1, now);
        let completion =
            self.accept(request.slot, Kind::Job, request.processors, span, now, &batches);
        promise(completion)
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        let part = self.plan.only(slot).expect("only a running job ends");
        self.end(now, slot, part);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        // The job takes time that may be planned for other work.
        self.make_way(now, |plan| plan.overran(now, slot, end));
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        for &Killed { slot, processors, planned_end } in killed {
            self.end(now, slot, Part { processors, planned_end });
        }
        // The killed work has ended above.
        self.make_way(now, |plan| plan.failed(now, processors, &[]));
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.plan.restored(now, processors);
        self.plan.complete_windows(now);
        self.given_back(now, Time::FOREVER, processors);
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        if self.plan.has_started(slot) {
            return false;
        }
        let Some(entry) = self.entries.remove(slot) else {
            return false;
        };
        // No work moves up, but work behind an endless job had no planned start and may get one.
        self.ended_early |= entry.latest_planned().and_then(promise).is_none();
        self.plan.profile_from(now);
        for Batch { start, tasks } in entry.waiting {
            let (end, processors) = (start + entry.span, tasks * entry.width);
            self.plan.profile_mut().remove(start, end, processors);
            self.note(start, end, processors);
        }
        true
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.reschedule(now);
        self.plan.start_fixed(now, started);
        self.start(now, Kind::Job, |slot, _| started.push(slot));
    }

    fn next_start(&self) -> Option<Time> {
        self.entries.next_start().filter(|&start| start < BEYOND_ALL_LIMITS)
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.plan.profile().earliest_or_never(processors, span.unwrap_or(Span::FOREVER), now)
    }

    fn queue_length(&self) -> usize {
        self.entries.waiting()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            bags: Ok(()),
            ..Capabilities::without_parts(
                "rescheduling moves work within the completion of its bag",
            )
        }
    }

    fn bags(&mut self) -> &mut dyn Bargainer {
        self
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl OnPlan for ConservativeBags {
    fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    fn make_way(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        self.plan_anew_around(now, change);
    }

    fn given_back(&mut self, now: Time, until: Time, processors: u32) {
        self.note(now, until, processors);
        self.ended_early = true;
    }

    fn announce_within_promises(&mut self, now: Time, number: u32, window: Interval) -> bool {
        // Tried on a copy, because a broken promise makes the window refused.
        let (mut anew, mut has_room) = (self.clone(), false);
        anew.make_way(now, |plan| {
            has_room = plan.announce(now, number, window, Overlap::Refuse);
        });
        has_room &= self.keeps_promises_as(&anew);
        if has_room {
            *self = anew;
        }
        has_room
    }
}

impl Bargainer for ConservativeBags {
    fn offers(&mut self, now: Time, bag: &BagRequest) -> Vec<Offer> {
        if self.shares == Shares::Blocks {
            return self.offer_blocks(now, bag);
        }
        let mut profile = self.plan.profile().clone();
        let mut offers = Vec::new();
        let (mut placed, mut completion) = (0, now);
        for tasks in self.fractions.sizes(bag.tasks) {
            // The first tasks of a larger share get the places of a smaller share.
            for batch in place(&mut profile, 1, bag.span, tasks - placed, now.max(bag.earliest)) {
                completion = batch.start + bag.span;
            }
            placed = tasks;
            let completion = promise(completion).unwrap_or(Time::FOREVER);
            merge(&mut offers, Offer { tasks, completion });
        }
        offers
    }

    fn award(&mut self, now: Time, slot: Slot, bag: &BagRequest, award: &Award) -> Option<Time> {
        // On a copy, so that a refused award changes nothing.
        let mut profile = self.plan.profile_from(now).clone();
        let (batches, latest) = match award {
            Award::Offered { tasks, offer } => {
                let earliest = now.max(bag.earliest);
                (self.shares.place(&mut profile, bag.span, *tasks, earliest), offer.completion)
            }
            Award::Placed { batches, deadline } => {
                for &Batch { start, tasks } in batches {
                    if start < now || profile.min_free(start, start + bag.span) < tasks {
                        return None;
                    }
                    profile.add(start, start + bag.span, tasks);
                }
                (batches.clone(), *deadline)
            }
        };
        let completion = batches.iter().map(|batch| batch.start + bag.span).max()?;
        if completion > latest {
            return None;
        }
        *self.plan.profile_mut() = profile;
        let completion = self.accept(slot, Kind::Share, 1, bag.span, bag.earliest, &batches);
        Some(promise(completion).unwrap_or(Time::FOREVER))
    }

    fn free_slots(&mut self, now: Time) -> Vec<FreeSlot> {
        free_slots(self.plan.profile().steps(), now)
    }

    fn tasks_due(&mut self, now: Time, started: &mut Vec<(Slot, u32)>) {
        self.start(now, Kind::Share, |slot, tasks| started.push((slot, tasks)));
    }

    fn tasks_finished(&mut self, now: Time, slot: Slot, tasks: u32, planned_end: Time) {
        let processors = tasks * self.entries.in_use(slot).width;
        self.end(now, slot, Part { processors, planned_end });
    }

    fn wait_again(&mut self, now: Time, slot: Slot, tasks: &BagRequest) {
        self.plan.profile_from(now);
        let earliest = now.max(tasks.earliest);
        let profile = self.plan.profile_mut();
        let batches = self.shares.place(profile, tasks.span, tasks.tasks, earliest);
        let known = self.entries.change_any(slot, |entry| {
            batches.iter().for_each(|batch| entry.put(batch.start, batch.tasks));
        });
        // The share had no other task left and was forgotten.
        if known.is_none() {
            self.accept(slot, Kind::Share, 1, tasks.span, tasks.earliest, &batches);
        }
    }

    fn bag_expected(&mut self, slot: Slot, completion: Time) {
        // The message may arrive when all tasks here have ended.
        self.entries.change_any(slot, |entry| {
            // Messages may overtake each other: an older, later completion must not raise it.
            let earlier = entry.bag_expected.unwrap_or(completion);
            entry.bag_expected = Some(earlier.min(completion));
        });
    }

    fn wants_rescheduling(&self) -> bool {
        self.ended_early
    }

    fn reschedule(&mut self, now: Time) {
        self.plan.profile_from(now);
        if std::mem::take(&mut self.ended_early) {
            self.passes(now);
        }
    }

    fn queue(&self) -> Vec<QueueEntry> {
        let entries = self.entries.iter();
        let mut waiting: Vec<(Time, u64, QueueEntry)> = entries
            .flat_map(|(_, entry)| {
                entry.waiting.iter().map(move |batch| {
                    let processors = batch.tasks * entry.width;
                    let promise = batch.start + entry.span;
                    (batch.start, entry.sequence, QueueEntry { processors, promise })
                })
            })
            .collect();
        waiting.sort_unstable_by_key(|&(start, sequence, _)| (start, sequence));
        waiting.into_iter().map(|(_, _, entry)| entry).collect()
    }

    fn latest_completion(&self, slot: Slot) -> Option<Time> {
        self.entries.get(slot).map(|entry| self.completion(slot, entry))
    }
}
