//! Facts for the overview that are in small files and tables.

use std::collections::BTreeSet;

use haggle_results::metrics::named::{Unit, of_run, title_and_unit};
use haggle_results::{RunReader, Table};

use super::places::Places;
use crate::clock::micros;
use crate::scene::Chart;
use crate::shown::shown;
use crate::view::{ActorEntry, MessagesKept, MetricEntry, SeriesEntry, TableEntry};

/// Facts about a run.
pub(super) struct Facts {
    pub(super) seed: Option<u64>,
    pub(super) actors: Vec<ActorEntry>,
    pub(super) metrics: Vec<MetricEntry>,
    pub(super) tables: Vec<TableEntry>,
    pub(super) messages: MessagesKept,
    pub(super) pictures: Vec<&'static str>,
    /// Warnings of the run itself.
    pub(super) warnings: Vec<String>,
    horizon: Option<i64>,
    makespan: Option<i64>,
}

impl Default for Facts {
    fn default() -> Facts {
        Facts {
            seed: None,
            actors: Vec::new(),
            metrics: Vec::new(),
            tables: Vec::new(),
            messages: MessagesKept::None,
            pictures: Vec::new(),
            warnings: Vec::new(),
            horizon: None,
            makespan: None,
        }
    }
}

impl Facts {
    /// Reads the facts. Problems are added to `problems`.
    pub(super) fn read(run: &RunReader, places: &Places, problems: &mut Vec<String>) -> Facts {
        let mut facts = Facts::default();
        match run.summary() {
            Ok(summary) => {
                facts.makespan = summary.makespan.and_then(micros);
                let metric = |(name, value): (String, f64)| {
                    let (title, unit) = title_and_unit(&name);
                    // A metric without a title has the name of its place in the summary.
                    let title = match title == name {
                        true => name.replace(['.', '_'], " "),
                        false => title,
                    };
                    MetricEntry { name, title, unit: word(unit).to_owned(), value }
                };
                facts.metrics = of_run(&summary).into_iter().map(metric).collect();
                facts.warnings = summary.warnings;
            }
            Err(error) => problems.push(error.to_string()),
        }
        match run.provenance() {
            Ok(provenance) => {
                facts.seed = Some(provenance.seed);
                facts.horizon = provenance.about.horizon.and_then(micros);
                facts.actors = actors(&provenance.about, places);
            }
            Err(error) => problems.push(error.to_string()),
        }
        let there = Table::ALL.into_iter().filter(|table| run.has(*table));
        facts.tables = there.map(|it| TableEntry { name: it.name(), rows: None }).collect();
        facts.pictures = super::picture::kinds(run);
        facts.messages = match (run.has(Table::Messages), run.has(Table::MessageCounts)) {
            (true, _) => MessagesKept::All,
            (_, true) => MessagesKept::Counts,
            _ => MessagesKept::None,
        };
        facts
    }

    /// First and last time of the run.
    pub(super) fn time(&self, span: Option<(i64, i64)>) -> (i64, i64) {
        let (from, until) = span.unwrap_or((0, 0));
        let known =
            self.horizon.filter(|_| span.is_some()).or(self.makespan.filter(|_| span.is_none()));
        (from.min(0), until.max(known.unwrap_or(0)).max(1))
    }

    /// Series of these charts.
    pub(super) fn series(&self, charts: &[Chart]) -> Vec<SeriesEntry> {
        let of = |chart: Option<usize>, name: Option<&str>| {
            let place = chart.map_or_else(|| "all".to_owned(), |it| it.to_string());
            let behind = name.map_or_else(String::new, |it| format!(", {}", shown(it)));
            [("queue", "waiting jobs", "jobs"), ("busy", "busy processors", "processors")].map(
                |(id, title, unit)| SeriesEntry {
                    id: format!("{id}:{place}"),
                    title: format!("{title}{behind}"),
                    unit,
                    chart,
                },
            )
        };
        let each = charts.iter().enumerate().flat_map(|(id, it)| of(Some(id), Some(&it.name)));
        of(None, None).into_iter().chain(each).collect()
    }
}

/// The actors of a run, as far as its description has them.
fn actors(about: &haggle_results::About, places: &Places) -> Vec<ActorEntry> {
    let mut actors: Vec<(String, &'static str)> = Vec::new();
    for chart in places.charts() {
        let kind = match chart.kind {
            crate::scene::ChartKind::Grid => "grid",
            _ => "provider",
        };
        actors.push((chart.name.clone(), kind));
    }
    let known = |actors: &[(String, &str)], name: &str| actors.iter().any(|it| it.0 == name);
    let users = || about.workloads.iter().flat_map(|it| &it.users);
    let receivers: BTreeSet<&String> = users().map(|it| &it.submits_to).collect();
    for name in receivers {
        if !known(&actors, name) {
            actors.push((name.clone(), "metascheduler"));
        }
    }
    let names: BTreeSet<&String> = users().map(|it| &it.name).collect();
    for name in names {
        if !known(&actors, name) {
            actors.push((name.clone(), "user"));
        }
    }
    let entry = |(id, (name, kind)): (usize, (String, &'static str))| ActorEntry {
        id,
        name: shown(&name),
        kind,
    };
    actors.into_iter().enumerate().map(entry).collect()
}

fn word(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "s",
        Unit::Percent => "%",
        Unit::Share | Unit::Number => "",
    }
}
