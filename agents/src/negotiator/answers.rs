//! Collection of answers: offers arrive, become stale, and are requested anew, until all are there.

use haggle_model::{ActorId, JobId, Time};
use haggle_scheduling::composition::AnyView;
use serde::{Deserialize, Serialize};

use super::{Bargain, Negotiator};
use crate::Outbox;
use crate::desk::Entry;
use crate::protocol::{self, BargainMessage};

/// Answer of a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Nothing yet.
    Awaited,
    /// No answer yet: the last one is not valid any more. The new one is awaited without a limit.
    Refreshed,
    Offers {
        /// The number of the answer.
        answer: u32,
        /// Time by which an award must be sent to arrive in time.
        reply_by: Time,
        view: AnyView,
    },
    /// The provider has changed its plan after its answer.
    Stale,
    None,
}

impl Answer {
    /// The offers of an answer that comes now.
    pub(super) fn offers(now: Time, answer: protocol::bargain::Answer) -> Answer {
        let protocol::bargain::Answer { answer, valid: (made, until), view, .. } = answer;
        // The way back is assumed to take as long as the way here.
        Answer::Offers { answer, reply_by: until - (now - made), view }
    }
}

impl Negotiator {
    /// Handles an awaited answer.
    pub(super) fn on_answer(
        &mut self,
        now: Time,
        from: ActorId,
        id: JobId,
        answer: Answer,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        let Some(bargain) = self.bargain(id) else { return true };
        // A provider of which a part is requested has answered before.
        if bargain.preparing.as_ref().is_some_and(|it| it.part_of(place).is_some()) {
            return false;
        }
        bargain.answers[place] = answer;
        self.compose_if_complete(now, id, out);
        true
    }

    /// The wait for offers is over.
    pub(super) fn on_offers_due(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        if let Some(bargain) = self.bargain(id) {
            bargain.due = true;
            self.compose_if_complete(now, id, out);
        }
    }

    pub(super) fn on_probe(&mut self, from: ActorId, id: JobId, stale: u32) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        // The message may arrive after the bag was placed.
        let Some(bargain) = self.bargain(id) else { return true };
        if matches!(bargain.answers[place], Answer::Offers { answer, .. } if answer <= stale) {
            bargain.answers[place] = Answer::Stale;
        }
        true
    }

    /// Composes the bag if every answer has arrived and none is stale.
    pub(super) fn compose_if_complete(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.desk.get_mut(id).and_then(Entry::open) else { return };
        if bargain.preparing.is_some() || bargain.awaits_answers() {
            return;
        }
        // If offers never last as long as an agreement takes, the requests must end.
        let asks = bargain.refreshed < self.config.rounds;
        let mut refreshed = false;
        for (answer, &provider) in bargain.answers.iter_mut().zip(&self.config.providers) {
            let stale = match answer {
                Answer::Stale => true,
                // An award that is sent now would arrive after the end of the offers.
                Answer::Offers { reply_by, .. } => asks && now > *reply_by,
                Answer::Awaited | Answer::Refreshed | Answer::None => false,
            };
            if stale {
                *answer = Answer::Refreshed;
                refreshed = true;
                out.send(provider, BargainMessage::Refresh { job: id });
            }
        }
        if refreshed {
            bargain.refreshed += 1;
        } else {
            self.compose(now, id, out);
        }
    }
}

impl Bargain {
    fn awaits_answers(&self) -> bool {
        self.answers.iter().any(|answer| match answer {
            // After the limit the bag is composed without this provider. A refreshed answer is awaited in any case.
            Answer::Awaited => !self.due,
            answer => matches!(answer, Answer::Refreshed),
        })
    }
}
