//! The knowledge of a metascheduler of bags: its bags, the offers for them, and its agreements.

use haggle_agreements::AgreementId;
use haggle_model::{ActorId, JobId};

use super::answers::Answer;
use super::{Bargain, Negotiator, Stage};
use crate::desk::Entry;
use crate::glimpse::{self, Fact, FactKind, Glimpse, Promise, PromiseKind, known};

impl Negotiator {
    /// Its bags, and the offers that it has received.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let mut jobs = self.desk.glimpse(|_, Entry { stage, .. }| match stage {
            Stage::Backlog => (glimpse::Stage::Waiting, Vec::new()),
            Stage::Open(bargain) if bargain.preparing.is_some() => {
                (glimpse::Stage::Agreeing, Vec::new())
            }
            Stage::Open(_) => (glimpse::Stage::Asking, Vec::new()),
            Stage::Placed(placed) => (glimpse::Stage::Placed, placed.left().collect()),
        });
        let mut seen = Glimpse::default();
        for work in &mut jobs {
            match self.desk.get(work.job).map(|entry| &entry.stage) {
                Some(Stage::Open(bargain)) => self.offers(work.job, bargain, &mut seen),
                Some(Stage::Placed(placed)) => {
                    work.promised_end = placed.promised_end.and_then(known);
                }
                Some(Stage::Backlog) | None => {}
            }
        }
        Glimpse { jobs, ..seen }
    }

    fn offers(&self, job: JobId, bargain: &Bargain, seen: &mut Glimpse) {
        for (&provider, answer) in self.config.providers.iter().zip(&bargain.answers) {
            let mut fact = |kind| {
                seen.facts.push(Fact { job: Some(job), ..Fact::about(provider, kind, 1.0) });
            };
            match answer {
                Answer::Awaited | Answer::Refreshed | Answer::Stale => fact(FactKind::Awaited),
                Answer::None => fact(FactKind::Refuses),
                Answer::Offers { reply_by, view, .. } => {
                    seen.promises.extend(view.offers().iter().map(|offer| Promise {
                        job: Some(job),
                        with: Some(provider),
                        end: known(offer.completion),
                        until: known(*reply_by),
                        ..Promise::new(PromiseKind::Offer, offer.tasks)
                    }));
                }
            }
        }
        let Some(preparing) = &bargain.preparing else { return };
        let id = AgreementId { coordinator: self.config.me, number: preparing.agreement };
        let with = |place: usize| -> Option<ActorId> { self.config.providers.get(place).copied() };
        seen.promises.extend(preparing.composition.parts.iter().map(|part| Promise {
            job: Some(job),
            with: with(part.provider),
            agreement: Some(id),
            end: part.offer.and_then(|offer| known(offer.completion)),
            ..Promise::new(PromiseKind::Hold, part.tasks())
        }));
    }
}
