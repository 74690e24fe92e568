//! A provider measures iterative applications: processes run on an idle core until their throughput
//! is steady (Netto 2009, section 5.3.1). This takes time, but no room in the plan.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Iterative, JobId, Span, Time};
use haggle_planning::iterative::{PROFILED_ITERATIONS, profile};

use super::Provider;
use crate::Outbox;
use crate::protocol::{CoallocationMessage, Timer};

/// Jobs whose applications are being measured, with the receivers and the results.
#[derive(Debug, Default)]
pub(super) struct Profiling(BTreeMap<JobId, (ActorId, Vec<f64>)>);

impl Provider {
    /// Runs a process of each size, one after the other. An application that cannot run here has no
    /// throughput.
    pub(super) fn profile(
        &mut self,
        now: Time,
        from: ActorId,
        (job, application, tolerance): (JobId, &Iterative, f64),
        out: &mut Outbox,
    ) -> bool {
        if self.profiling.0.contains_key(&job) {
            return false;
        }
        let rates = application.throughputs.get(&self.config.machine);
        let mut found = Vec::new();
        let mut takes = 0.0;
        for &rate in rates.into_iter().flatten() {
            let behaviour = &application.behaviour;
            let course = |iterations| behaviour.reveal_to_machine(rate, iterations);
            let Some(steady) = profile(&PROFILED_ITERATIONS, tolerance, course) else { continue };
            found.push(steady.throughput);
            takes += steady.seconds;
        }
        self.profiling.0.insert(job, (from, found));
        out.set(now + Span::from_secs_f64(takes), Timer::ThroughputSteady { job });
        true
    }

    pub(super) fn on_steady(&mut self, job: JobId, out: &mut Outbox) {
        if let Some((to, rates)) = self.profiling.0.remove(&job) {
            out.send(to, CoallocationMessage::Throughput { job, rates });
        }
    }
}
