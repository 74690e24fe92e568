//! Settings of a provider that change while it works.

use haggle_scheduling::Scheduling;

use super::{HeldJob, Services};
use crate::provider::core::{Able, Core, Kind, Turn};
use crate::provider::{OnFailure, Provider, ProviderConfig};
use crate::{AnyActor, Settings};

impl Services {
    /// Takes over the settings that may change. They hold for decisions, answers and attempts that begin from now on.
    pub(super) fn on_changed(&mut self, turn: &mut Turn<'_>, settings: Settings) -> bool {
        let AnyActor::Provider(anew) = settings.actor else { return false };
        let Provider { core: Core { config: new, .. }, services } = *anew;
        if settings.reseeded {
            self.jobs.reseed(services.jobs);
        }
        let ProviderConfig { scheduler, overrun, on_failure, max_attempts, .. } = new;
        let ProviderConfig { disclosure, bargaining, publishes, .. } = new;
        let config = &mut turn.core.config;
        config.overrun = overrun;
        config.max_attempts = max_attempts;
        config.disclosure = disclosure;
        config.bargaining = bargaining;
        config.publishes = publishes;
        // Attempts that write checkpoints go on by the rule with which they began.
        if !matches!(
            (config.on_failure, on_failure),
            (OnFailure::Resume(_), _) | (_, OnFailure::Resume(_))
        ) {
            config.on_failure = on_failure;
        }
        // Other queues hold more than rigid jobs. Scenarios in which they would have to change are refused.
        let plain = config.scheduler.has_only_jobs() && scheduler.has_only_jobs();
        if config.scheduler != scheduler && plain {
            turn.change_queue(scheduler);
        }
        true
    }
}

impl Turn<'_> {
    /// Replaces the queue by one of another policy: running jobs keep their processors, and waiting jobs join the new
    /// queue in order of their submission. Jobs that go ahead of others still do.
    fn change_queue(&mut self, scheduler: Scheduling) {
        let Turn { core, now, .. } = self;
        let mut queue = scheduler.build(core.config.processors);
        core.config.scheduler = scheduler;
        let down = core.machine.unavailable();
        if down > 0 {
            queue.failed(*now, down, &[]);
        }
        let held = core.pieces.iter().filter_map(|(slot, it)| Some((slot, HeldJob::of(it)?)));
        let jobs = Vec::from_iter(held);
        for (slot, job) in &jobs {
            if let Some(request) = job.request_to_go_on(*slot, *now, &core.config) {
                queue.submit(*now, request);
            }
        }
        // Running jobs fit together, so all of them start before any other job is queued.
        let mut started = Vec::new();
        queue.start_due(*now, &mut started);
        let mut waiting = Vec::from_iter(jobs.into_iter().filter(|(_, job)| job.run.is_none()));
        waiting.sort_unstable_by_key(|(_, job)| job.place());
        for (slot, job) in waiting {
            let ahead = core.config.on_failure != OnFailure::Requeue && job.was_lost();
            let request = job.request(slot, ahead, &core.config);
            // Promises stay: if the new policy breaks them, the record must show that.
            match job.ready() {
                ready if ready > *now => queue.submit_after(*now, request, ready),
                _ => queue.submit(*now, request),
            };
        }
        core.able = Able::from(queue.capabilities());
        core.scheduler = queue;
        self.plan_changed();
    }
}
