//! The table of holds: what providers held for transactions, from when until when.

use std::collections::BTreeMap;

use haggle_model::{ActorId, AgreementEvent, AgreementId, JobId, Time};

use super::{RunWriter, TableFile, micros};
use crate::ResultsError;
use crate::columns::Table;

/// The table, once something was held, and what is held.
#[derive(Default)]
pub(super) struct Holds {
    file: Option<TableFile>,
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
    lease_end: Option<Time>,
    carried_out: Option<Time>,
    occupied: Option<Time>,
}

impl RunWriter {
    /// Records what a provider does with a part that it holds for a transaction; what others
    /// observe of one is in `transactions`.
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
        let open = &mut self.holds.open;
        match *event {
            AgreementEvent::Held { processors, start, lease_end } => {
                let (carried_out, occupied) = (None, None);
                let hold =
                    Hold { job, processors, since: now, start, lease_end, carried_out, occupied };
                open.insert((id, actor), hold);
                Ok(())
            }
            AgreementEvent::CarriedOut => {
                open.entry((id, actor)).and_modify(|it| it.carried_out = Some(now));
                Ok(())
            }
            AgreementEvent::Occupied => {
                open.entry((id, actor)).and_modify(|it| it.occupied = Some(now));
                Ok(())
            }
            AgreementEvent::GivenUp => self.hold_ends((id, actor), Some(now), "given_up"),
            AgreementEvent::PartOver => self.hold_ends((id, actor), Some(now), "over"),
            AgreementEvent::Opened { .. }
            | AgreementEvent::Decided
            | AgreementEvent::Agreed { .. }
            | AgreementEvent::Failed
            | AgreementEvent::Broken
            | AgreementEvent::Sent(_) => Ok(()),
        }
    }

    /// Records what is held when the run is over.
    pub(super) fn holds_left(&mut self) -> Result<(), ResultsError> {
        let left: Vec<(AgreementId, ActorId)> = self.holds.open.keys().copied().collect();
        left.into_iter().try_for_each(|key| self.hold_ends(key, None, "open"))
    }

    fn hold_ends(
        &mut self,
        (id, holder): (AgreementId, ActorId),
        end: Option<Time>,
        outcome: &'static str,
    ) -> Result<(), ResultsError> {
        let Some(hold) = self.holds.open.remove(&(id, holder)) else { return Ok(()) };
        let file = match &mut self.holds.file {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::Holds, &self.cast, format)?)
            }
        };
        let mut row = file.buffer.row();
        row.integer(i64::from(hold.job.0)).code(id.coordinator.0).integer(id.number as i64);
        row.code(holder.0).integer(i64::from(hold.processors));
        row.micros(hold.since.as_micros()).micros(hold.start.as_micros());
        row.micros(micros(hold.lease_end)).micros(micros(hold.carried_out));
        row.micros(micros(hold.occupied)).micros(micros(end)).word(outcome).done();
        file.flush_if_full()
    }
}

impl Holds {
    /// The table, if something was held.
    pub(super) fn into_table(self) -> Option<TableFile> {
        self.file
    }
}
