//! Free times of a provider, for metaschedulers that search for a common start.

use haggle_model::{ActorId, Disclosure, JobId, Refusal, Time};
use haggle_scheduling::coallocation::FreeTimes;

use super::{Coallocation, queue};
use crate::protocol::{CoallocationMessage, QueryMessage};
use crate::provider::core::Turn;

impl Coallocation {
    pub(super) fn tell_slots(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) {
        if turn.core.config.disclosure < Disclosure::Slots {
            let reason = Refusal::NotDisclosed;
            return turn.out.send(from, QueryMessage::NoAnswer { job, reason });
        }
        let publishes = turn.core.config.publishes;
        let (begin, end) = self.untold(turn, from).unwrap_or_default();
        let own = self.own_part(turn.core, from, job);
        let queue = queue(turn.core);
        let changed = Box::new(queue.free_during(turn.now, begin, end).published(publishes));
        let own = own.map(|slot| queue.free_around(turn.now, slot).published(publishes));
        let own = Box::new(own.unwrap_or_default());
        turn.out.send(from, CoallocationMessage::Slots { job, changed, own });
    }

    /// The stretch of free times that a metascheduler does not know yet. It counts as known from now on.
    pub(super) fn untold(
        &mut self,
        turn: &mut Turn<'_>,
        metascheduler: ActorId,
    ) -> Option<(Time, Time)> {
        self.note_changes(turn);
        // A metascheduler that asks for the first time gets all free times.
        self.told.insert(metascheduler, None).unwrap_or(Some((Time::ZERO, Time::FOREVER)))
    }

    /// Adds the latest changes to the stretch that each metascheduler does not know.
    pub(super) fn note_changes(&mut self, turn: &mut Turn<'_>) {
        if let Some((begin, end)) = queue(turn.core).take_changed(turn.now) {
            for untold in self.told.values_mut() {
                let (from, until) = untold.get_or_insert((begin, end));
                (*from, *until) = (begin.min(*from), end.max(*until));
            }
        }
    }

    /// A job of a metascheduler has found no room.
    pub(super) fn on_await_room(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) {
        self.note_changes(turn);
        // The metascheduler decided with the times that it knows, which may be older.
        if self.told.get(&from).is_some_and(|untold| untold.is_some()) {
            return turn.out.send(from, CoallocationMessage::RoomGrew { job });
        }
        let free = queue(turn.core).free_for_ever(turn.now);
        self.awaiting.insert(from, (job, free));
    }

    /// Notifies the metaschedulers with jobs that await room, if there is more of it.
    pub(super) fn tell_room(&mut self, turn: &mut Turn<'_>) {
        if self.awaiting.is_empty() {
            return;
        }
        let free = queue(turn.core).free_for_ever(turn.now);
        self.awaiting.retain(|&metascheduler, &mut (job, before)| {
            let grew = free > before;
            if grew {
                turn.out.send(metascheduler, CoallocationMessage::RoomGrew { job });
            }
            !grew
        });
    }

    /// Free times for a job; its part here counts as free.
    pub(super) fn free_for(
        &mut self,
        turn: &mut Turn<'_>,
        metascheduler: ActorId,
        job: JobId,
    ) -> FreeTimes {
        let own = self.own_part(turn.core, metascheduler, job);
        let publishes = turn.core.config.publishes;
        queue(turn.core).free_times(turn.now, own).published(publishes)
    }

    /// Reports the processors that are available first, and nothing of the plan behind them.
    pub(super) fn tell_machines(
        &mut self,
        turn: &mut Turn<'_>,
        to: ActorId,
        (job, machines, from): (JobId, u32, Time),
    ) {
        let free = self.free_for(turn, to, job);
        let available = Box::new(free.available(machines, from.max(turn.now)));
        turn.out.send(to, CoallocationMessage::Machines { job, available });
    }
}
