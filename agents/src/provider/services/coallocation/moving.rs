//! Requests of an idle provider to move the parts that wait here (Netto 2009, Algorithm 3).

use haggle_model::JobId;
use haggle_scheduling::coallocation::Rounds;

use super::{Coallocation, Part, queue};
use crate::protocol::CoallocationMessage;
use crate::provider::core::{Core, Turn};

/// Returns whether the metascheduler of a part is asked to move it.
pub(super) fn may_move(part: &Part) -> bool {
    part.waits() && part.program.moves && !part.place.alone
}

impl Coallocation {
    /// Moves jobs up first; parts may use the room that is left.
    pub(in crate::provider::services) fn on_room(&mut self, turn: &mut Turn<'_>) {
        queue(turn.core).compress(turn.now);
        self.rounds = Rounds::new(Rounds::<JobId>::MOST);
        self.ask_next(turn);
    }

    pub(super) fn ask_next(&mut self, turn: &mut Turn<'_>) {
        while self.asked.is_none() {
            let mut rounds = std::mem::replace(&mut self.rounds, Rounds::new(0));
            let is_idle = queue(turn.core).is_idle(turn.now);
            let next = rounds.next(|| is_idle, || self.to_ask(turn.core));
            self.rounds = rounds;
            let Some(job) = next else { return };
            // A part that was here at the beginning of the round may have moved away since.
            let Some((_, part)) = self.part(turn.core, job).filter(|(_, part)| may_move(part))
            else {
                continue;
            };
            turn.out.send(part.metascheduler, CoallocationMessage::RescheduleRequest { job });
            self.asked = Some(job);
        }
    }

    /// Jobs whose metaschedulers are asked for a move, in the order of planned starts.
    pub(super) fn to_ask(&self, core: &Core) -> Vec<JobId> {
        let parts = self.parts.keys().filter_map(|&job| {
            let (_, part) = self.part(core, job)?;
            may_move(part).then_some((part.place.start, job))
        });
        let mut parts = Vec::from_iter(parts);
        parts.sort_unstable();
        parts.into_iter().map(|(_, job)| job).collect()
    }
}
