//! From the words of a scenario to the windows of one provider.

use haggle_agents::Maintenance;
use haggle_model::Time;
use haggle_scheduling::Interval;

use haggle_scenario::Scenario;
use haggle_scenario::file::{self, Provider};

/// Windows in which a provider closes processors, in the order of the tables.
pub(super) fn maintenance(scenario: &Scenario, provider: &Provider) -> Vec<Maintenance> {
    let tables = scenario.maintenance.iter().filter(|it| it.of.contains(&provider.name));
    tables.flat_map(|table| windows(table, provider)).collect()
}

fn windows<'a>(
    table: &'a file::Maintenance,
    provider: &'a Provider,
) -> impl Iterator<Item = Maintenance> + 'a {
    let processors = table.processors.unwrap_or(provider.processors);
    let overlap = table.overlap;
    table.windows().map(move |(from, until)| {
        let start = Time::ZERO + from;
        let announced = table.notice.map_or(Time::ZERO, |notice| start - notice.0);
        let window = Interval { start, span: until - from, processors };
        // A notice that is longer than the time to the window begins with the run.
        Maintenance { announced: announced.max(Time::ZERO), window, overlap }
    })
}
