//! What runs under each slot, and what of it has ended.

use haggle_model::Time;

use crate::scheduler::Slot;

/// Accepted work by slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Works(Vec<Option<Work>>);

#[derive(Clone, Debug, Default)]
struct Work {
    /// (planned end, processors) of what runs, in order of starting.
    running: Vec<(Time, u32)>,
    /// Latest end of what is over.
    ended: Option<Time>,
}

impl Works {
    pub(super) fn open(&mut self, slot: Slot) {
        if slot.index() >= self.0.len() {
            self.0.resize(slot.index() + 1, None);
        }
        self.0[slot.index()] = Some(Work::default());
    }

    pub(super) fn is_open(&self, slot: Slot) -> bool {
        self.get(slot).is_some()
    }

    pub(super) fn close(&mut self, slot: Slot) {
        self.0[slot.index()] = None;
    }

    fn get(&self, slot: Slot) -> Option<&Work> {
        self.0.get(slot.index())?.as_ref()
    }

    fn get_mut(&mut self, slot: Slot) -> Option<&mut Work> {
        self.0.get_mut(slot.index())?.as_mut()
    }

    pub(super) fn start(&mut self, slot: Slot, end: Time, processors: u32) {
        let work = self.get_mut(slot).expect("what starts has been accepted");
        match work.running.iter_mut().find(|(planned, _)| *planned == end) {
            Some((_, together)) => *together += processors,
            None => work.running.push((end, processors)),
        }
    }

    /// Takes `tasks` that have ended out of what runs: (planned end, how many).
    ///
    /// What has overrun goes by a later end than the one it was started with,
    /// so if none has `planned_end` it is the batch that was started first.
    pub(super) fn end(
        &mut self,
        now: Time,
        slot: Slot,
        tasks: u32,
        planned_end: Time,
    ) -> Option<(Time, u32)> {
        let work = self.get_mut(slot)?;
        let place = work.running.iter().position(|&(end, _)| end == planned_end).unwrap_or(0);
        let (end, running) = work.running.get_mut(place)?;
        let ended = (*end, tasks.min(*running));
        *running -= ended.1;
        if *running == 0 {
            work.running.remove(place);
        }
        work.ended = work.ended.max(Some(now));
        Some(ended)
    }

    /// (planned end, processors) of a running rigid job.
    pub(super) fn only_running(&self, slot: Slot) -> Option<(Time, u32)> {
        self.get(slot)?.running.first().copied()
    }

    /// Lets what was to have ended by `now` run until `end`, and says what that was.
    pub(super) fn extend(&mut self, slot: Slot, now: Time, end: Time) -> Vec<(Time, u32)> {
        let Some(work) = self.get_mut(slot) else { return Vec::new() };
        let over = work.running.iter_mut().filter(|(planned, _)| *planned <= now);
        over.map(|running| {
            let before = *running;
            running.0 = end;
            before
        })
        .collect()
    }

    pub(super) fn runs(&self, slot: Slot) -> bool {
        self.get(slot).is_some_and(|work| !work.running.is_empty())
    }

    pub(super) fn has_started(&self, slot: Slot) -> bool {
        self.get(slot).is_some_and(|work| work.ended.is_some() || !work.running.is_empty())
    }

    /// Latest end of what runs or is over.
    pub(super) fn latest_end(&self, slot: Slot) -> Option<Time> {
        let work = self.get(slot)?;
        work.running.iter().map(|&(end, _)| end).max().max(work.ended)
    }

    /// Processor-microseconds until the planned ends of what runs.
    pub(super) fn running_work(&self, now: Time) -> u128 {
        let running = self.0.iter().flatten().flat_map(|work| &work.running);
        running
            .map(|&(end, processors)| {
                u128::from(processors) * (end - now).as_micros().max(0) as u128
            })
            .sum()
    }
}
