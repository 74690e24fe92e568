//! Preemption: running jobs are stopped for a waiting one.
//!
//! The queue decides on this before each pass, so that no job behind the first one takes a place that preemption gives to
//! that one. The first waiting job of some nodes that no limit keeps from its start may stop others there, if its queue or
//! its quality of service names theirs. The jobs that started last are stopped first. Jobs among them that the waiting job
//! does not need are left alone, and so are all of them if it could not start earlier without them. From then on the
//! waiting job goes ahead of all others, so that none of them takes its place. It stops no further jobs until these have
//! ended.

use std::cmp::Reverse;

use haggle_model::Time;

use super::{NodeQueue, Place, Plan, Waiting, is_free, own_nodes};
use crate::index::FIRST;
use crate::nodes::Preempted;
use crate::nodes::set::{Among, Taken};
use crate::scheduler::Slot;
use crate::site::Site;

/// A running job that may be stopped.
struct Victim {
    preempted: Preempted,
    start: Time,
    /// Its planned end, if it is not stopped.
    end: Time,
}

impl NodeQueue {
    /// Stops running jobs for the first waiting one that starts earlier without them.
    pub(super) fn stop_for_waiting(&mut self, now: Time) -> Vec<Preempted> {
        if !self.site.as_deref().is_some_and(Site::preempts) {
            return Vec::new();
        }
        self.plan.forget_before(now);
        self.set_priorities(now);
        let NodeQueue { site, waiting, plan, stopping, .. } = self;
        let Some(site) = site.as_deref_mut() else { return Vec::new() };
        let may_stop = waiting.values().any(|it| site.may_stop_others(it.slot));
        if !may_stop || !plan.all_running().any(|it| site.may_be_stopped(it.0)) {
            return Vec::new();
        }
        let mut plan = plan.clone();
        for place in waiting.values().filter_map(|it| it.place.as_ref()) {
            plan.release(now, place);
        }
        let (mut stopped, mut starting, mut taken) = (Vec::new(), Vec::new(), Taken::None);
        for waiting in waiting.values() {
            if matches!(taken, Taken::All) {
                break;
            }
            let own = own_nodes(Some(&*site), waiting.slot);
            if !is_free(Some(&*site), waiting.slot) || taken.covers(own) {
                continue;
            }
            let among = Among::from(own);
            let place = plan.earliest(&waiting.demand, waiting.span, now, Time::FOREVER, among);
            let start = place.as_ref().map_or(Time::FOREVER, |it| it.start);
            let is_awaiting = stopping.values().any(|&it| it == waiting.slot);
            if start > now && !is_awaiting && site.may_stop_others(waiting.slot) {
                stopped = victims(site, &plan, waiting, (now, start));
                if !stopped.is_empty() {
                    break;
                }
            }
            // The jobs behind it leave it its place.
            if let Some(place) = &place {
                plan.book(place);
            }
            if start > now {
                taken.add(own);
            } else {
                site.hold(waiting.slot);
                starting.push(waiting.slot);
            }
        }
        starting.into_iter().for_each(|slot| site.let_go(slot));
        for it in &stopped {
            self.plan.replan(now, it.slot, it.end);
            self.stopping.insert(it.slot, it.waiting);
        }
        if let Some(waiting) = stopped.first().map(|it| it.waiting) {
            self.put_ahead(waiting);
            self.note_given_back(Time::FOREVER);
        }
        stopped
    }

    /// Puts a waiting job ahead of all that wait, behind others that went ahead before.
    fn put_ahead(&mut self, slot: Slot) {
        let Some(key) = self.keys.get(&slot).copied() else { return };
        let Some(waiting) = self.waiting.remove(&key) else { return };
        let ahead = (FIRST.0, FIRST.1, key.2);
        self.keys.insert(slot, ahead);
        self.waiting.insert(ahead, waiting);
    }
}

/// The jobs that are stopped for a waiting one, which would start at `start` beside them.
fn victims(
    site: &Site,
    plan: &Plan,
    waiting: &Waiting,
    (now, start): (Time, Time),
) -> Vec<Preempted> {
    let own = own_nodes(Some(site), waiting.slot);
    let is_there =
        |it: &Place| own.is_none_or(|own| it.pieces.iter().any(|piece| own.has(piece.node)));
    let victim = |(slot, place): (Slot, &Place)| {
        let rules = site.stops(waiting.slot, slot)?;
        let end = now + rules.grace;
        let preempted = Preempted { slot, waiting: waiting.slot, end, then: rules.then };
        // A job that has to end by then anyway brings nothing, and neither does one that is stopped too late.
        let helps = end < place.end && end < start;
        helps.then_some(Victim { preempted, start: place.start, end: place.end })
    };
    let running = plan.all_running().filter(|it| is_there(it.1));
    let mut all = Vec::from_iter(running.filter_map(victim));
    all.sort_by_key(|it| Reverse((it.start, it.preempted.slot)));
    let mut trial = plan.clone();
    let fits = |trial: &Plan, chosen: &[Victim]| {
        let end = chosen.iter().map(|it| it.preempted.end).max().unwrap_or(now);
        trial.at(&waiting.demand, waiting.span, end, Among::from(own)).is_some()
    };
    let mut chosen = Vec::new();
    for victim in all {
        trial.replan(now, victim.preempted.slot, victim.preempted.end);
        chosen.push(victim);
        if fits(&trial, &chosen) {
            return needed(now, trial, chosen, fits);
        }
    }
    Vec::new()
}

/// The chosen jobs without those that the waiting job does not need, the oldest ones first.
fn needed(
    now: Time,
    mut trial: Plan,
    mut chosen: Vec<Victim>,
    fits: impl Fn(&Plan, &[Victim]) -> bool,
) -> Vec<Preempted> {
    for place in (0..chosen.len()).rev() {
        let victim = chosen.remove(place);
        trial.replan(now, victim.preempted.slot, victim.end);
        if !fits(&trial, &chosen) {
            trial.replan(now, victim.preempted.slot, victim.preempted.end);
            chosen.insert(place, victim);
        }
    }
    chosen.into_iter().map(|it| it.preempted).collect()
}
