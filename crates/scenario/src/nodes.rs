//! Providers that place jobs on nodes.

use haggle_scheduling::own::NoSuchRule;
use haggle_scheduling::{NodesConfig, Scheduling};

use super::Scenario;
use super::file::{InlineJob, Provider, Step, Workload};

impl Workload {
    /// True if its jobs may ask for more than processors.
    pub fn has_demands(&self) -> bool {
        let mut listed = self.jobs.iter().flatten();
        listed.any(|job| InlineJob::wishes(job).is_some())
            || !self.reading.demands.is_empty()
            || self.steps.iter().any(|step| matches!(step, Step::Demand { .. }))
    }
}

impl Scenario {
    /// Counts the processors of providers that state their nodes only.
    pub(crate) fn count_processors(mut self) -> Scenario {
        for provider in self.providers.iter_mut().filter(|it| it.processors == 0) {
            let processors: u64 = provider.nodes.iter().map(|it| it.processors()).sum();
            // A check refuses too many.
            provider.processors = u32::try_from(processors).unwrap_or(u32::MAX);
        }
        self
    }

    /// True if jobs may ask for more than processors.
    pub fn has_demands(&self) -> bool {
        self.workloads.iter().any(Workload::has_demands)
    }

    /// True if a provider places jobs on nodes. Otherwise, it counts processors.
    pub fn places_on_nodes(&self, provider: &Provider) -> bool {
        let has_own = provider.queues.iter().any(|queue| queue.nodes.is_some());
        !provider.nodes.is_empty() && (has_own || self.has_demands())
    }

    /// The local scheduler of a provider.
    ///
    /// # Errors
    /// If it names a rule of one's own that is not there.
    pub fn scheduling_of(&self, provider: &Provider) -> Result<Scheduling, NoSuchRule> {
        let on_nodes = self.places_on_nodes(provider);
        Ok(match provider.policy.scheduling(&self.own)? {
            Scheduling::Queue(queue)
                if on_nodes || provider.has_rules() || queue.plans_partly() =>
            {
                Scheduling::Nodes(Box::new(NodesConfig {
                    nodes: on_nodes.then(|| provider.nodes_to_model()),
                    placing: provider.placing.unwrap_or_default(),
                    queue,
                    site: provider.rules(),
                }))
            }
            other => other,
        })
    }
}
