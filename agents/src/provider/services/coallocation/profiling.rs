//! A provider measures iterative applications: processes run on an idle core until their throughput
//! is steady (Netto 2009, section 5.3.1). This takes time, but no room in the plan.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Iterative, JobId, Span};
use haggle_planning::iterative::{PROFILED_ITERATIONS, profile};
use serde::{Deserialize, Serialize};

use super::Coallocation;
use crate::protocol::{CoallocationMessage, Timer};
use crate::provider::core::Turn;

/// Jobs whose applications are being measured, with the receivers and the results.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Profiling(BTreeMap<JobId, (ActorId, Vec<f64>)>);

impl Coallocation {
    /// Runs a process of each size, one after the other. An application that cannot run here has no
    /// throughput.
    pub(super) fn profile(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        (job, application, tolerance): (JobId, &Iterative, f64),
    ) -> bool {
        if self.profiling.0.contains_key(&job) {
            return false;
        }
        let rates = application.throughputs.get(&turn.core.config.machine);
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
        turn.out.set(turn.now + Span::from_secs_f64(takes), Timer::ThroughputSteady { job });
        true
    }

    pub(in crate::provider::services) fn on_steady(&mut self, turn: &mut Turn<'_>, job: JobId) {
        if let Some((to, rates)) = self.profiling.0.remove(&job) {
            turn.out.send(to, CoallocationMessage::Throughput { job, rates });
        }
    }
}
