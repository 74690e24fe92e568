//! Places where jobs run: charts, their bands, and their names.

use std::collections::HashMap;

use haggle_results::about::{RunsOnGrid, WorkloadInfo};
use haggle_results::{ResourceRow, RunReader};

use crate::scene::{Band, Chart, ChartKind};

/// Most rows of a chart. A damaged table may state any number.
const ROWS_MAX: i64 = 1 << 30;

/// Charts without bars, and the places of names.
#[derive(Default)]
pub(super) struct Places {
    charts: Vec<Chart>,
    by_name: HashMap<String, Place>,
}

/// A place of bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) chart: usize,
    /// Band of a grid.
    pub(super) band: Option<usize>,
}

impl Places {
    /// The charts of these resources. Resources of a grid are bands of one chart. Problems are added to `problems`.
    pub(super) fn of(
        resources: &[ResourceRow],
        run: &RunReader,
        problems: &mut Vec<String>,
    ) -> Places {
        let mut places = Places::default();
        let mut grid: Option<usize> = None;
        let mut odd = 0;
        for row in resources {
            let is_possible = (0..=ROWS_MAX).contains(&row.processors)
                && row.first.checked_add(row.processors - 1) == Some(row.last);
            odd += usize::from(!row.is_shared() && !is_possible);
            if !row.is_shared() {
                places.add_provider(row);
                continue;
            }
            let chart = *grid.get_or_insert_with(|| {
                places.charts.push(Chart::new(grid_name(run), ChartKind::Grid));
                places.charts.len() - 1
            });
            places.add_resource(chart, row);
        }
        if odd > 0 {
            problems
                .push(format!("`resources`: {odd} rows have an impossible number of processors"));
        }
        places
    }

    fn add_provider(&mut self, row: &ResourceRow) {
        // The schedulers of clusters of plans share their processors over time.
        let is_cluster = row.scheduler.starts_with("time-shared");
        let kind = if is_cluster { ChartKind::Cluster } else { ChartKind::Provider };
        let mut chart = Chart::new(row.provider.clone(), kind);
        chart.rows = row.processors.clamp(0, ROWS_MAX) as u32;
        chart.first_number = row.first;
        chart.scheduler = row.scheduler.clone();
        chart.speed = Some(row.speed);
        chart.utilisation = row.utilisation;
        chart.jobs = row.jobs;
        let (name, rows) = (row.provider.clone(), chart.rows);
        chart.bands.push(Band { name: name.clone(), site: None, first_row: 0, rows });
        self.by_name.insert(name, Place { chart: self.charts.len(), band: None });
        self.charts.push(chart);
    }

    fn add_resource(&mut self, chart: usize, row: &ResourceRow) {
        let place = &mut self.charts[chart];
        let band = place.bands.len();
        let (name, site) = (row.provider.clone(), row.site.clone());
        // The number of slots in use follows from the attempts.
        place.bands.push(Band { name: name.clone(), site, first_row: place.rows, rows: 1 });
        place.rows = place.rows.saturating_add(1);
        place.jobs = place.jobs.saturating_add(row.jobs);
        if place.scheduler.is_empty() {
            place.scheduler = row.scheduler.clone();
        }
        self.by_name.insert(name, Place { chart, band: Some(band) });
    }

    pub(super) fn charts(&self) -> &[Chart] {
        &self.charts
    }

    pub(super) fn take_charts(&mut self) -> Vec<Chart> {
        std::mem::take(&mut self.charts)
    }

    /// The chart of the grid.
    pub(super) fn grid(&self) -> Option<usize> {
        self.by_name.values().find(|it| it.band.is_some()).map(|it| it.chart)
    }

    pub(super) fn any_provider(&self) -> bool {
        self.by_name.values().any(|it| it.band.is_none())
    }

    pub(super) fn any_resource(&self) -> bool {
        self.by_name.values().any(|it| it.band.is_some())
    }

    pub(super) fn place(&self, name: &str) -> Option<Place> {
        self.by_name.get(name).copied()
    }
}

/// The name of the grid: from the scenario, or else the actor to which users of its workloads submit.
fn grid_name(run: &RunReader) -> String {
    let scenario = run.scenario().ok().flatten().and_then(|it| it.parse::<toml::Table>().ok());
    let name = scenario.as_ref().and_then(|it| it.get("grid")?.get("name")?.as_str());
    let about = run.about().unwrap_or_default();
    let on_grid = |it: &&WorkloadInfo| it.on_grid == RunsOnGrid::Always;
    let mut users = about.workloads.iter().filter(on_grid).flat_map(|it| &it.users);
    let receiver = || Some(users.next()?.submits_to.as_str());
    name.or_else(receiver).unwrap_or("grid").to_owned()
}
