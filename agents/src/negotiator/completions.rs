//! The table of completions: the expected completions of whole bags, for providers that reschedule
//! in step (Netto 2009, section 7.3).

use haggle_model::{ActorId, JobId, ProviderId, Time};
use haggle_scheduling::bag_table::Change;

use super::Negotiator;
use crate::Outbox;
use crate::protocol::ShareMessage;

impl Negotiator {
    /// Records the expected completion of a provider's share of a bag.
    pub(super) fn expect(&mut self, job: JobId, provider: ActorId, completion: Time) {
        self.table.commit(job, at(self.places[&provider]), completion);
    }

    pub(super) fn on_new_completion_times(
        &mut self,
        from: ActorId,
        entries: Vec<(JobId, Time)>,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        for (job, completion) in entries {
            if let Change::Global { completion } = self.table.report(job, at(place), completion) {
                for (place, _) in self.table.providers(job) {
                    let to = self.config.providers[place.index()];
                    out.send(to, ShareMessage::BagCompletion { job, completion });
                }
            }
        }
        true
    }
}

/// A provider's position in the list, as the key of the table.
fn at(place: usize) -> ProviderId {
    ProviderId(place as u32)
}
