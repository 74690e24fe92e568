//! Collecting answers: offers come, go stale, and are asked for anew, until all are there.

use haggle_model::{ActorId, JobId, Time};
use haggle_scheduling::composition::AnyView;

use super::{Bargain, Negotiator};
use crate::Outbox;
use crate::desk::Entry;
use crate::protocol::{self, BargainMessage};

/// What a provider has answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// Nothing yet.
    Awaited,
    /// Nothing yet, but an old answer that is no longer good: the new one is
    /// waited for however long that takes.
    Refreshed,
    Offers {
        /// Which of its answers.
        answer: u32,
        /// When they must have been sent back to be in time.
        reply_by: Time,
        view: AnyView,
    },
    /// It changed its plan after it answered.
    Stale,
    None,
}

impl Answer {
    /// The offers of an answer that comes now.
    pub(super) fn offers(now: Time, answer: protocol::bargain::Answer) -> Answer {
        let protocol::bargain::Answer { answer, valid: (made, until), view, .. } = answer;
        // The way back takes as long as the way here.
        Answer::Offers { answer, reply_by: until - (now - made), view }
    }
}

impl Negotiator {
    /// An answer that is awaited.
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
        // Of whom a part is wanted, it has answered.
        if bargain.preparing.as_ref().is_some_and(|it| it.part_of(place).is_some()) {
            return false;
        }
        bargain.answers[place] = answer;
        self.compose_if_complete(now, id, out);
        true
    }

    /// Waiting for offers is over.
    pub(super) fn on_offers_due(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        if let Some(bargain) = self.bargain(id) {
            bargain.due = true;
            self.compose_if_complete(now, id, out);
        }
    }

    pub(super) fn on_probe(&mut self, from: ActorId, id: JobId, stale: u32) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        // It may be late, and the bag placed.
        let Some(bargain) = self.bargain(id) else { return true };
        if matches!(bargain.answers[place], Answer::Offers { answer, .. } if answer <= stale) {
            bargain.answers[place] = Answer::Stale;
        }
        true
    }

    /// Composes once every answer is there and none is stale.
    pub(super) fn compose_if_complete(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.desk.get_mut(id).and_then(Entry::open) else { return };
        if bargain.preparing.is_some() || bargain.awaits_answers() {
            return;
        }
        // Where offers never last as long as an agreement takes, asking has to end.
        let asks = bargain.refreshed < self.config.rounds;
        let mut refreshed = false;
        for (answer, &provider) in bargain.answers.iter_mut().zip(&self.config.providers) {
            let stale = match answer {
                Answer::Stale => true,
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
            Answer::Awaited => !self.due,
            answer => matches!(answer, Answer::Refreshed),
        })
    }
}
