//! Questions about the queue and the load of a provider.

use haggle_model::{ActorId, Disclosure, JobId, Refusal, Span, Time};

use super::Provider;
use crate::Outbox;
use crate::protocol::QueryMessage;

impl Provider {
    pub(super) fn on_query(
        &mut self,
        now: Time,
        from: ActorId,
        message: QueryMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            QueryMessage::EstimateRequest { job, processors, requested_time } => {
                self.on_estimate_requested(now, from, job, processors, requested_time, out);
            }
            QueryMessage::LoadRequest { job } => self.on_load_requested(now, from, job, out),
            _ => return false,
        }
        true
    }

    pub(super) fn on_estimate_requested(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        processors: u32,
        requested_time: Option<Span>,
        out: &mut Outbox,
    ) {
        let walltime = requested_time.map(|time| time.at_speed(self.config.speed));
        let on_failure = self.config.on_failure;
        let span = walltime.map(|walltime| on_failure.planned(processors, walltime));
        let Some(start) = self.outlook(now).estimate_start(now, processors, span) else {
            out.send(from, QueryMessage::NoAnswer { job, reason: Refusal::TooWide });
            return;
        };
        let completion = start + span.unwrap_or(Span::FOREVER);
        out.send(from, QueryMessage::Estimate { job, start, completion });
    }

    pub(super) fn on_load_requested(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        out: &mut Outbox,
    ) {
        if self.config.disclosure < Disclosure::Load {
            out.send(from, QueryMessage::NoAnswer { job, reason: Refusal::NotDisclosed });
            return;
        }
        let drain_time = self.load.drain_time(now, &self.machine);
        out.send(from, QueryMessage::Load { job, drain_time });
    }
}
