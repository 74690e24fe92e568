//! Advance reservations in a queue that keeps parts: they are intervals on the same plan.
//!
//! A reservation is granted where parts are offered time, at the first start in its window. So it delays no job that
//! a part would not delay. It moves up within its window when time is given back, and never for another request.

use haggle_model::Time;

use super::CoallocationQueue;
use super::keeping::KeepsParts;
use crate::reservations::{Alternative, Displaced, Granted, Granting, Reserve, Size};
use crate::scheduler::Slot;

/// A reservation has a place on the plan.
fn granted<Q>(queue: &mut CoallocationQueue<Q>, slot: Slot, start: Time) -> Granted {
    queue.single.insert(slot);
    Granted { start, alternative: None }
}

impl<Q: KeepsParts> Granting for CoallocationQueue<Q> {
    fn ask(
        &mut self,
        now: Time,
        request: &Reserve,
        _sizes: &[Size],
        _draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        // Waiting jobs move up before an answer, because returned time that they will use is not free.
        self.queue.jobs_move_up_if_due(now);
        let start = request.first_fit(&self.queue.offered(now), now)?;
        let place = request.interval(start);
        let number = self.queue.next_number();
        self.queue.take_offered(|copy| copy.add(place.start, place.end(), place.processors));
        self.queue.plan_mut().reserve(*request, start, number);
        Some(granted(self, request.slot, start))
    }

    fn ask_again(
        &mut self,
        now: Time,
        request: &Reserve,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        if let Some(granted) = self.ask(now, request, &[], draw) {
            return Some(granted);
        }
        // Tried on a copy: if there is no place, jobs must keep their planned starts.
        let (mut anew, mut start) = (self.queue.clone(), None);
        let number = anew.next_number();
        anew.make_way(now, |plan| {
            start = request.first_fit(plan.profile_from(now), now);
            start.iter().for_each(|&start| plan.reserve(*request, start, number));
        });
        let start = start?;
        self.queue = anew;
        Some(granted(self, request.slot, start))
    }

    fn alternatives(
        &mut self,
        _now: Time,
        _request: &Reserve,
        _sizes: &[Size],
        _most: usize,
        _draw: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Alternative> {
        Vec::new()
    }

    fn take(
        &mut self,
        now: Time,
        request: &Reserve,
        alternative: Alternative,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        let granted = self.ask(now, &request.at(alternative), &[], draw)?;
        Some(Granted { alternative: Some(alternative), ..granted })
    }

    fn start_of(&mut self, now: Time, slot: Slot) -> Option<Time> {
        let place = self.queue.plan().fixed(slot);
        let fixed = place.map(|place| place.start);
        fixed.or_else(|| self.queue.starts().planned_start(now, slot))
    }

    fn fix(&mut self, _now: Time, slot: Slot) -> Option<Time> {
        self.queue.plan_mut().fix_start(slot)
    }

    fn fixed(&mut self, _fixed: &mut Vec<(Slot, Time)>) {}

    fn displaced(&mut self, displaced: &mut Vec<(Slot, Displaced)>) {
        let before = displaced.len();
        self.queue.plan_mut().take_fates(displaced);
        for (slot, fate) in &displaced[before..] {
            if let Displaced::Out(_) = fate {
                self.single.remove(slot);
            }
        }
    }
}
