//! Description of a run in its folder, so that readers of the results do not need the scenario.

use haggle_results::About;
use haggle_results::about::{
    AccountInfo, DataLinkInfo, DataNetworkInfo, LearnsOf, NodeGroupInfo, QueueInfo, RunsOnGrid,
    SiteInfo, StoreInfo, UserInfo, WorkloadInfo,
};
use haggle_scenario::file::{
    Grid, GridPolicy, InformationMode, Metascheduler, Network, Outages, Protocol, Workload,
};
use haggle_scenario::quantity::{Bandwidth, Name, TimeSpan};
use haggle_scenario::{Scenario, file, initial_name};

use super::cast::{SUBMITTED, submits};

/// Facts about a run of `scenario` that are in none of its tables.
pub fn about(scenario: &Scenario) -> About {
    let directory = scenario.directory();
    let plays = |it: &Workload| WorkloadInfo {
        name: it.name.to_string(),
        users: directory.submitters(it.name.as_str()).map(user).collect(),
        on_grid: match (directory.may_run_on_grid(it), directory.runs_on_grid(it)) {
            (false, _) => RunsOnGrid::Never,
            (true, false) => RunsOnGrid::Sometimes,
            (true, true) => RunsOnGrid::Always,
        },
        share: it.share.map(|share| share.fraction()),
    };
    let horizon = scenario.scenario.horizon;
    let outages = scenario.grid.as_ref().and_then(|grid| match grid.policy {
        GridPolicy::StaticWorkflow { outages, .. } => Some(outages),
        _ => None,
    });
    About {
        name: scenario.scenario.name.as_ref().map(ToString::to_string),
        workloads: scenario
            .workloads
            .iter()
            .map(plays)
            .chain(start_states(scenario))
            .chain(submitted(scenario))
            .collect(),
        horizon: horizon.map(|it| it.0.as_secs_f64()),
        changes: scenario.changes.iter().map(|it| it.at.0.as_secs_f64()).collect(),
        // Any key of the network may delay messages.
        instant_messages: scenario.network == Network::default(),
        static_schedules: outages.is_some(),
        schedules_anew: outages == Some(Outages::Replan),
        information: outages.and(scenario.grid.as_ref()).and_then(learns_of),
        tolerances: scenario.metaschedulers.iter().filter_map(tolerance).collect(),
        data_network: (scenario.moves_data() || scenario.carries_checkpoints())
            .then(|| data_network(scenario)),
        rules: scenario.providers.iter().filter_map(rules).collect(),
        sites: scenario.providers.iter().filter_map(site).collect(),
        figures: scenario.figures.iter().map(declared).collect(),
    }
}

/// The queues, qualities of service, accounts and priorities of a provider, by its name.
fn rules(provider: &file::Provider) -> Option<(String, serde_json::Value)> {
    let rules = serde_json::to_value(provider.rules()?).ok()?;
    Some((provider.name.to_string(), rules))
}

/// Names of nodes, queues and accounts of a provider, if it has any, by its name.
fn site(provider: &file::Provider) -> Option<(String, SiteInfo)> {
    let is_named = provider.nodes.iter().any(|it| it.name.is_some());
    if !is_named && !provider.has_rules() {
        return None;
    }
    let group = |it: &file::Node| NodeGroupInfo {
        name: it.name.as_ref().map(ToString::to_string),
        count: it.count,
    };
    let queue = |it: &file::Queue| QueueInfo {
        name: it.name.to_string(),
        number: it.number.map(i64::from),
        partition: it.partition.map(i64::from),
    };
    let place = |name: &Name| provider.accounts.iter().position(|it| it.name == *name);
    let account = |it: &file::Account| AccountInfo {
        name: it.name.to_string(),
        parent: it.parent.as_ref().and_then(place),
        groups: it.groups.iter().map(|&group| group.into()).collect(),
        shares: it.shares,
        users: it.users.iter().map(|it| (it.user.into(), it.shares)).collect(),
    };
    let half_life = provider.priority.as_ref().map(|it| it.half_life.0.as_secs_f64());
    let site = SiteInfo {
        nodes: if is_named { provider.nodes.iter().map(group).collect() } else { Vec::new() },
        queues: provider.queues.iter().map(queue).collect(),
        accounts: provider.accounts.iter().map(account).collect(),
        half_life: half_life.filter(|&it| it > 0.0),
    };
    Some((provider.name.to_string(), site))
}

/// The workloads of jobs that run or wait at time zero.
fn start_states(scenario: &Scenario) -> impl Iterator<Item = WorkloadInfo> {
    scenario.start_state_owners().map(|owner| {
        let name = initial_name(owner.as_str());
        let grid = scenario.grid.as_ref().filter(|grid| grid.name == *owner);
        WorkloadInfo {
            users: vec![UserInfo { name: name.clone(), submits_to: owner.to_string() }],
            name,
            on_grid: match grid.map(|grid| grid.overflow.is_some()) {
                None => RunsOnGrid::Never,
                Some(false) => RunsOnGrid::Always,
                Some(true) => RunsOnGrid::Sometimes,
            },
            share: None,
        }
    })
}

/// The workload of jobs that changes submit.
fn submitted(scenario: &Scenario) -> Option<WorkloadInfo> {
    let by = |user: &&file::User| {
        let mut submitted = scenario.changes.iter().flat_map(|change| &change.submit);
        submitted.any(|it| it.user == user.name)
    };
    submits(scenario).then(|| WorkloadInfo {
        name: SUBMITTED.to_owned(),
        users: scenario.users.iter().filter(by).map(user).collect(),
        on_grid: scenario.grid.as_ref().map_or(RunsOnGrid::Never, |_| RunsOnGrid::Sometimes),
        share: None,
    })
}

/// Delay after which the scheduler of a grid learns of failures and repairs.
fn learns_of(grid: &Grid) -> Option<LearnsOf> {
    let delay = grid.information.delay.0.as_secs_f64();
    match grid.information.mode {
        // Without a delay, all modes are alike.
        _ if delay == 0.0 => None,
        InformationMode::Immediate => None,
        InformationMode::Periodic => Some(LearnsOf::Periodic(delay)),
        InformationMode::Delayed => Some(LearnsOf::Within(delay)),
    }
}

fn user(it: &file::User) -> UserInfo {
    UserInfo { name: it.name.to_string(), submits_to: it.submits_to.to_string() }
}

fn data_network(scenario: &Scenario) -> DataNetworkInfo {
    let link = |latency: TimeSpan, Bandwidth(bandwidth)| DataLinkInfo {
        latency: latency.0.as_secs_f64(),
        bandwidth,
    };
    let network = &scenario.network;
    let directory = scenario.directory();
    let own = |it: &file::Link| {
        let ends = it.between.each_ref().map(|end| directory.site_of(end.as_str()).to_owned());
        (ends, link(it.latency, it.bandwidth.unwrap_or(network.bandwidth())))
    };
    DataNetworkInfo {
        shared: scenario.link_sharing().is_some(),
        usual: link(network.latency, network.bandwidth()),
        own: network.links.iter().map(own).collect(),
        stores: scenario.providers.iter().filter_map(|it| store(scenario, it)).collect(),
    }
}

fn store(scenario: &Scenario, provider: &file::Provider) -> Option<StoreInfo> {
    let (store, checkpoints) = scenario.store_of(provider).zip(provider.checkpoints.as_ref())?;
    Some(StoreInfo {
        provider: provider.name.to_string(),
        store: store.to_string(),
        cost: checkpoints.cost.map_or(0.0, |cost| cost.0.as_secs_f64()),
        size: checkpoints.size.map_or(0, |size| size.0),
    })
}

/// Largest difference between the starts of parts that a negotiating metascheduler accepts, s.
fn tolerance(it: &Metascheduler) -> Option<(String, f64)> {
    match it.transaction()? {
        (Protocol::Negotiation(rules), _) => {
            Some((it.name.to_string(), rules.tolerance.0.as_secs_f64()))
        }
        _ => None,
    }
}

/// A figure in the form for readers without scenarios.
fn declared(figure: &file::Figure) -> serde_json::Value {
    serde_json::to_value(figure).expect("a figure has texts, numbers and lists only")
}
