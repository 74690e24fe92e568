//! Features that can meet in a scenario: the rows and columns of the table of crossings.

use std::collections::BTreeSet;

use haggle_scenario::Scenario;
use haggle_scenario::file::{self, FigureKind, GridPolicy, OnFailure, Role, Transport};
use haggle_scenario::quantity::TimeSpan;

/// Tests of a case besides its run.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// True if it ran on all drivers.
    pub drivers: bool,
    /// True if it ran as a base and an extension.
    pub extends: bool,
    /// True if it is a sweep.
    pub sweep: bool,
    /// True if the sweep was resumed.
    pub resume: bool,
    /// True if a job was explained.
    pub explain: bool,
    /// True if it was continued from a snapshot.
    pub snapshot: bool,
    /// True if the run was compared.
    pub compare: bool,
    /// True if the tables were checked.
    pub tables: bool,
    /// Kinds of figures that were drawn.
    pub figures: BTreeSet<&'static str>,
}

/// Tells if a scenario, or a test of it, has a feature.
type Has = fn(&Scenario, &Done) -> bool;

/// Name of each feature, and the condition for it. Every kind of figure is a feature too.
const FEATURES: [(&str, Has); 44] = [
    ("providers", |scenario, _| !scenario.providers.is_empty()),
    ("rigid", |scenario, _| rigid(scenario)),
    ("bags", |scenario, _| bags(scenario)),
    ("metascheduler", |scenario, _| !scenario.metaschedulers.is_empty()),
    ("composition", |scenario, _| compositions(scenario).next().is_some()),
    ("late offers", |scenario, _| late_offers(scenario)),
    ("co-allocation", |scenario, _| role(scenario, |it| matches!(it, Role::Spreads(_)))),
    ("transactions", |scenario, _| {
        scenario.metaschedulers.iter().any(|it| it.transaction().is_some())
    }),
    ("reallocation", |scenario, _| role(scenario, |it| matches!(it, Role::Moves(_)))),
    ("mapping", |scenario, _| role(scenario, |it| matches!(it, Role::Maps(_)))),
    ("reservations", |scenario, _| reservations(scenario)),
    ("recorded starts", |scenario, _| {
        scenario.providers.iter().any(|it| it.policy.starts_as_recorded())
    }),
    ("maintenance", |scenario, _| !scenario.maintenance.is_empty()),
    ("passes at intervals", |scenario, _| {
        scenario.providers.iter().any(|it| it.interval.is_some())
    }),
    ("nodes", |scenario, _| scenario.providers.iter().any(|it| scenario.places_on_nodes(it))),
    ("queues and priorities", |scenario, _| scenario.providers.iter().any(|it| it.has_rules())),
    ("preemption", |scenario, _| scenario.providers.iter().any(|it| it.may_preempt())),
    ("latency", |scenario, _| latency(scenario)),
    ("network faults", |scenario, _| network_faults(scenario)),
    ("reliable transport", |scenario, _| scenario.network.transport == Transport::Reliable),
    ("shared links", |scenario, _| scenario.link_sharing().is_some()),
    ("grid", |scenario, _| scenario.grid.as_ref().is_some_and(|it| !it.policy.takes_sessions())),
    ("tasks on a grid", |scenario, _| {
        scenario.workloads.iter().any(|it| flows(scenario, it, true))
    }),
    ("tasks on providers", |scenario, _| {
        scenario.workloads.iter().any(|it| flows(scenario, it, false))
    }),
    ("static schedules", |scenario, _| {
        scenario
            .grid
            .as_ref()
            .is_some_and(|it| matches!(it.policy, GridPolicy::StaticWorkflow { .. }))
    }),
    ("replicas", |scenario, _| scenario.grid.as_ref().is_some_and(|it| it.policy.replicates())),
    ("sessions", |scenario, _| scenario.grid.as_ref().is_some_and(|it| it.policy.takes_sessions())),
    ("plans", |scenario, _| scenario.plans.is_some()),
    ("failures", |scenario, _| scenario.processor_failures().next().is_some()),
    ("crashes of actors", |scenario, _| scenario.crashing().next().is_some()),
    ("checkpoints", |scenario, _| checkpoints(scenario)),
    ("horizon", |scenario, _| scenario.scenario.horizon.is_some()),
    ("patience", |scenario, _| scenario.users.iter().any(|user| user.patience.is_some())),
    ("logs", |scenario, _| scenario.workloads.iter().any(|it| it.log.is_some())),
    ("changes", |scenario, _| !scenario.changes.is_empty() || !scenario.branches.is_empty()),
    ("start state", |scenario, _| scenario.start_state_owners().next().is_some()),
    ("sweep", |_, done| done.sweep),
    ("resume", |_, done| done.resume),
    ("extends", |_, done| done.extends),
    ("drivers", |_, done| done.drivers),
    ("explain", |_, done| done.explain),
    ("compare", |_, done| done.compare),
    ("tables", |_, done| done.tables),
    ("snapshot", |_, done| done.snapshot),
];

/// The names of all features, in the order of the table.
pub fn names() -> Vec<&'static str> {
    let figures = FigureKind::ALL.into_iter().map(FigureKind::name);
    FEATURES.iter().map(|(name, _)| *name).chain(figures).collect()
}

/// The names of the features that a case has.
pub fn of(scenario: &Scenario, done: &Done) -> BTreeSet<String> {
    let had = FEATURES.iter().filter(|(_, has)| has(scenario, done)).map(|(name, _)| *name);
    had.chain(done.figures.iter().copied()).map(str::to_owned).collect()
}

fn bags(scenario: &Scenario) -> bool {
    scenario.workloads.iter().any(are_bags)
}

fn are_bags(workload: &file::Workload) -> bool {
    workload.steps.iter().any(|step| matches!(step, file::Step::Bags {}))
}

/// True if a user submits jobs other than bags, and not to a grid or to plans alone.
fn rigid(scenario: &Scenario) -> bool {
    let directory = scenario.directory();
    let is_rigid = |user: &file::User| {
        let to = user.submits_to.as_str();
        // A prefix, because the copies of a provider begin with its name.
        let meets = directory.metascheduler(to).is_some()
            || scenario.providers.iter().any(|it| to.starts_with(it.name.as_str()));
        let of = |place: usize| !are_bags(&scenario.workloads[place]);
        meets && directory.sources(user.workload.as_str()).into_iter().any(of)
    };
    scenario.users.iter().any(is_rigid)
}

/// True if a workload has workflows whose tasks run on a grid, or on providers if not `on_grid`.
fn flows(scenario: &Scenario, workload: &file::Workload, on_grid: bool) -> bool {
    let directory = scenario.directory();
    let is_submitted = |it: &&file::User| {
        let mut sources = directory.sources(it.workload.as_str()).into_iter();
        sources.any(|place| scenario.workloads[place].name == workload.name)
    };
    workload.model == Some(file::Model::Workflows)
        && scenario.users.iter().any(|user| is_submitted(&user))
        && directory.runs_on_grid(workload) == on_grid
}

fn compositions(scenario: &Scenario) -> impl Iterator<Item = &file::Metascheduler> {
    scenario.metaschedulers.iter().filter(|it| it.composition.is_some())
}

/// True if a metascheduler has this role.
fn role(scenario: &Scenario, is: fn(&Role<'_>) -> bool) -> bool {
    scenario.metaschedulers.iter().any(|it| is(&it.role()))
}

/// True if a provider has a queue of reservations, or its users ask it for reservations.
fn reservations(scenario: &Scenario) -> bool {
    scenario.providers.iter().any(|it| it.policy.reserving().is_some())
        || !scenario.directory().asked_for_windows().is_empty()
}

/// True if offers can be late, stale or not awaited.
fn late_offers(scenario: &Scenario) -> bool {
    let slow =
        |offers: &file::Offers| offers.delay > TimeSpan::ZERO || offers.padding.fraction() > 0.0;
    let hasty = |it: &file::Metascheduler| it.negotiation.is_some_and(|it| it.wait.is_some());
    compositions(scenario).next().is_some()
        && (scenario.providers.iter().any(|it| it.policy.offers().is_some_and(slow))
            || scenario.metaschedulers.iter().any(hasty))
}

/// True if messages take time.
fn latency(scenario: &Scenario) -> bool {
    let network = &scenario.network;
    let slow = [network.latency, network.jitter].iter().any(|time| *time > TimeSpan::ZERO);
    slow || !network.links.is_empty()
}

/// True if messages may be lost, duplicated or overtake each other.
fn network_faults(scenario: &Scenario) -> bool {
    let network = &scenario.network;
    let hit = [network.loss, network.duplication].iter().any(|share| !share.is_zero());
    hit || network.reordering || !network.partitions.is_empty()
}

fn checkpoints(scenario: &Scenario) -> bool {
    let rigid =
        |it: &file::Provider| it.checkpoints.is_some() && it.on_failure == Some(OnFailure::Resume);
    scenario.providers.iter().any(rigid)
        || scenario.grid.as_ref().is_some_and(|it| {
            it.checkpoints.is_some() && it.policy.takes_checkpoints(&scenario.own)
        })
}
