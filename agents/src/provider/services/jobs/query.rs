//! Questions about the queue and the load of a provider.

use haggle_model::{ActorId, Disclosure, JobId, Refusal, Span};
use haggle_scheduling::{Request, Slot};

use super::Jobs;
use super::submission::never_fits;
use crate::protocol::QueryMessage;
use crate::provider::core::Turn;

impl Jobs {
    pub(in crate::provider::services) fn on_query(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: QueryMessage,
    ) -> bool {
        match message {
            QueryMessage::EstimateRequest { job, processors, requested_time, demand } => {
                let demand = demand.as_deref().copied();
                let request =
                    Request { demand, ..Request::new(Slot(0), processors, requested_time) };
                self.on_estimate_requested(turn, from, job, &request);
            }
            QueryMessage::LoadRequest { job } => self.on_load_requested(turn, from, job),
            _ => return false,
        }
        true
    }

    pub(super) fn on_estimate_requested(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        job: JobId,
        &Request { processors, span, demand, .. }: &Request,
    ) {
        let walltime = span.map(|time| time.at_speed(turn.core.config.speed));
        let on_failure = turn.core.config.on_failure;
        let span = walltime.map(|walltime| on_failure.planned(processors, walltime));
        if let Some(reason) = never_fits(turn.core, processors, demand.as_ref()) {
            turn.out.send(from, QueryMessage::NoAnswer { job, reason });
            return;
        }
        let places = turn.core.config.scheduler.nodes().is_some();
        let pass = turn.pass();
        let queue = self.expected.outlook(turn.core, pass);
        let start = match demand.filter(|_| places) {
            Some(demand) => queue.nodes().estimate(pass, &demand, span),
            None => queue.estimate_start(pass, processors, span),
        };
        let Some(start) = start else {
            turn.out.send(from, QueryMessage::NoAnswer { job, reason: Refusal::TooWide });
            return;
        };
        let completion = start + span.unwrap_or(Span::FOREVER);
        turn.out.send(from, QueryMessage::Estimate { job, start, completion });
    }

    pub(super) fn on_load_requested(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) {
        if turn.core.config.disclosure < Disclosure::Load {
            turn.out.send(from, QueryMessage::NoAnswer { job, reason: Refusal::NotDisclosed });
            return;
        }
        let drain_time = turn.core.load.drain_time(turn.now, &turn.core.machine);
        turn.out.send(from, QueryMessage::Load { job, drain_time });
    }
}
