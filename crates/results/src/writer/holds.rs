//! The table of holds: the parts that providers held for transactions, with their intervals.

use std::collections::BTreeMap;

use haggle_model::{ActorId, AgreementEvent, AgreementId, JobId, Time};

use super::{Files, RunWriter, number};
use crate::ResultsError;
use crate::tables::HoldCells;

/// Parts that are held.
#[derive(Default)]
pub(super) struct Holds {
    /// By agreement and holder.
    open: BTreeMap<(AgreementId, ActorId), Hold>,
}

/// A part that is held.
#[derive(Clone, Copy)]
struct Hold {
    job: JobId,
    processors: u32,
    since: Time,
    start: Time,
    finish: Option<Time>,
    lease_end: Option<Time>,
    carried_out: Option<Time>,
    occupied: Option<Time>,
}

impl RunWriter {
    /// Records an event of a part that a provider holds for a transaction. Events of other actors are
    /// in `transactions`.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn agreement(
        &mut self,
        now: Time,
        actor: ActorId,
        id: AgreementId,
        job: JobId,
        event: &AgreementEvent,
    ) -> Result<(), ResultsError> {
        match *event {
            AgreementEvent::Held { processors, start, end, lease_end } => {
                let hold = Hold {
                    job,
                    processors,
                    since: now,
                    start,
                    finish: end,
                    lease_end,
                    carried_out: None,
                    occupied: None,
                };
                // A new hold of the same part replaces an earlier one, which then has its row.
                let replaced = self.holds.end((id, actor), Some(now), "given_up", &mut self.files);
                self.holds.open.insert((id, actor), hold);
                replaced
            }
            AgreementEvent::CarriedOut { end } => {
                // Only a part that is still held changes. One that was given up is not opened again.
                self.holds.open.entry((id, actor)).and_modify(|it| {
                    (it.carried_out, it.finish) = (Some(now), Some(end));
                });
                Ok(())
            }
            AgreementEvent::Occupied => {
                self.holds.open.entry((id, actor)).and_modify(|it| it.occupied = Some(now));
                Ok(())
            }
            AgreementEvent::GivenUp => {
                self.holds.end((id, actor), Some(now), "given_up", &mut self.files)
            }
            AgreementEvent::PartOver => {
                self.holds.end((id, actor), Some(now), "over", &mut self.files)
            }
            AgreementEvent::PartFailed => {
                self.holds.end((id, actor), Some(now), "failed", &mut self.files)
            }
            AgreementEvent::Opened { .. }
            | AgreementEvent::Decided
            | AgreementEvent::Agreed { .. }
            | AgreementEvent::Failed
            | AgreementEvent::Broken
            | AgreementEvent::Sent(_) => Ok(()),
        }
    }
}

impl Holds {
    /// Writes the parts that are held when the run is over.
    pub(super) fn left(&mut self, files: &mut Files) -> Result<(), ResultsError> {
        // Copied, because `end` takes parts out of the map.
        let left: Vec<(AgreementId, ActorId)> = self.open.keys().copied().collect();
        left.into_iter().try_for_each(|key| self.end(key, None, "open", files))
    }

    fn end(
        &mut self,
        (id, holder): (AgreementId, ActorId),
        end: Option<Time>,
        outcome: &'static str,
        files: &mut Files,
    ) -> Result<(), ResultsError> {
        let Some(hold) = self.open.remove(&(id, holder)) else { return Ok(()) };
        files.put(HoldCells {
            job: number(hold.job),
            actor: id.coordinator,
            agreement: id.number as i64,
            holder,
            processors: i64::from(hold.processors),
            since: hold.since.as_micros(),
            planned: hold.start.as_micros(),
            planned_finish: hold.finish.map(Time::as_micros),
            lease_end: hold.lease_end.map(Time::as_micros),
            carried_out: hold.carried_out.map(Time::as_micros),
            started: hold.occupied.map(Time::as_micros),
            end: end.map(Time::as_micros),
            outcome,
        })
    }
}
