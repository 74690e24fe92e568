//! The knowledge of a metascheduler: its jobs, and the answers of providers about the job in turn.

use haggle_model::JobId;
use haggle_scheduling::placement::{Answer, Question};

use super::{Metascheduler, Open, Stage};
use crate::desk::Entry;
use crate::glimpse::{self, Fact, FactKind, Glimpse};

impl Metascheduler {
    /// Its jobs, and the answers to its open questions.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let jobs = self.desk.glimpse(|_, Entry { at, stage, .. }| {
            let stage = match stage {
                Stage::Backlog => glimpse::Stage::Waiting,
                Stage::Open(Open { tried: Some(tried), .. }) => {
                    return (glimpse::Stage::Sent, vec![*tried]);
                }
                Stage::Open(_) => glimpse::Stage::Asking,
                Stage::Staging(_) => glimpse::Stage::Expected,
                Stage::Placed => glimpse::Stage::Placed,
            };
            (stage, at.iter().copied().collect())
        });
        let open = jobs.iter().filter_map(|work| match &self.desk.get(work.job)?.stage {
            Stage::Open(open) => Some((work.job, open)),
            _ => None,
        });
        let facts = open.flat_map(|(job, open)| self.answers(job, open)).collect();
        Glimpse { jobs, facts, ..Glimpse::default() }
    }

    fn answers(&self, job: JobId, open: &Open) -> Vec<Fact> {
        // Providers that are asked one after the other answer in the order of asking.
        let providers = &self.config.providers;
        let question = self.config.placement.question();
        let first = if question == Question::EstimateOneByOne { open.turn } else { 0 };
        let in_turn = providers.iter().cycle().skip(first);
        let mut facts = Vec::new();
        for (&about, answer) in in_turn.zip(&open.answers) {
            let mut add = |kind, value| {
                facts.push(Fact { job: Some(job), ..Fact::about(about, kind, value) });
            };
            match answer {
                Some(Answer::Estimate { start, completion }) => {
                    add(FactKind::EstimatedStart, start.as_secs_f64());
                    add(FactKind::EstimatedCompletion, completion.as_secs_f64());
                }
                Some(Answer::Load(span)) => add(FactKind::Load, span.as_secs_f64()),
                Some(Answer::Refused) => add(FactKind::Refuses, 1.0),
                None => add(FactKind::Awaited, 1.0),
            }
        }
        facts
    }
}
