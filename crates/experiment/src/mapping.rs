//! The metaschedulers that map iterative applications, and the providers as they see them.

use haggle_agents::CoallocatorConfig;
use haggle_agents::coallocator::mapping::{MappingConfig, TOLERANCE};
use haggle_model::law::Law;
use haggle_model::{ActorId, Span};
use haggle_scheduling::MAX_ATTEMPTS;
use haggle_scheduling::coallocation::{CoallocationPolicy, FillRule, RemapRule, RequestOrder};

use haggle_scenario::{Scenario, file};

/// Type of the machines of a provider.
pub(super) fn machine(provider: &file::Provider) -> String {
    provider.machine.as_ref().unwrap_or(&provider.name).to_string()
}

/// Site of a provider.
fn site(provider: &file::Provider) -> &str {
    provider.site.as_ref().unwrap_or(&provider.name).as_str()
}

/// Configuration by which a metascheduler maps applications to its providers.
pub(super) fn mapped(
    mapping: &file::Mapping,
    metascheduler: &file::Metascheduler,
    scenario: &Scenario,
) -> MappingConfig {
    let of = |name: &file::Name| scenario.providers.iter().find(|it| it.name == *name);
    // In the order of the metascheduler's list, by which it numbers its providers.
    let providers = Vec::from_iter(metascheduler.providers.iter().filter_map(of));
    // The number of a site is that of its first provider.
    let first = |at: &str| providers.iter().position(|other| site(other) == at);
    MappingConfig {
        asks: mapping.asks_for,
        machines: providers.iter().map(|it| machine(it)).collect(),
        sites: providers.iter().map(|it| first(site(it)).unwrap_or_default()).collect(),
        tolerance: mapping
            .profiling
            .then(|| mapping.tolerance.map_or(TOLERANCE, |share| share.fraction())),
    }
}

/// The metascheduler. Applications have no overhead, and each may run at any provider.
pub(super) fn mapper(
    me: ActorId,
    (mapping, mapped): (&file::Mapping, MappingConfig),
    providers: Vec<ActorId>,
    latency_max: Span,
    seed: u64,
) -> CoallocatorConfig {
    CoallocatorConfig {
        me,
        providers,
        moves: if mapping.reschedules {
            CoallocationPolicy::ShiftRemap
        } else {
            CoallocationPolicy::Rigid
        },
        remappable: 0,
        fill: FillRule::default(),
        choice: RemapRule::default(),
        requests: RequestOrder::default(),
        part_min: 1,
        parts: None,
        overhead: Law::Constant(0.0),
        overhead_max: 0,
        trials: mapping.trials,
        retry: None,
        resends: true,
        may_break: false,
        max_attempts: MAX_ATTEMPTS,
        // The throughputs of its machines contain their speed.
        speed: 1.0,
        latency_max,
        seed,
        mapping: Some(mapped),
    }
}
