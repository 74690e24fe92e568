//! Series of a run: waiting jobs and busy processors, of each chart and of all.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use haggle_results::ResultsError;

use super::{Data, Kept, lock};
use crate::Refusal;
use crate::clock::clamped;
use crate::scene::Chart;
use crate::series::Steps;
use crate::view::{SeriesAnswer, SeriesQuery};

/// Most bytes of series in memory, unless a single one is larger.
const BYTES_MAX: usize = 64 << 20;

/// Series in memory, the last used one first.
#[derive(Default)]
pub(super) struct Cache {
    kept: Mutex<Vec<Kept<Steps>>>,
    /// Held while series are made: they need much memory, and a second request must not make the same ones.
    making: Mutex<()>,
}

/// Values of series.
pub(super) fn answer(data: &Data, query: &SeriesQuery) -> Result<SeriesAnswer, Refusal> {
    let mut answer =
        SeriesAnswer { from: query.from, to: query.to, columns: query.columns, series: vec![] };
    for id in &query.ids {
        let steps = steps(data, id)?;
        answer.series.push(steps.columns(id, (query.from, query.to), query.columns));
    }
    Ok(answer)
}

/// A series, from memory or from its tables.
fn steps(data: &Data, id: &str) -> Result<Arc<Steps>, Refusal> {
    let series = Series::read(data, id)?;
    let found = || series.found(data);
    if let Some(found) = found() {
        return Ok(found);
    }
    let _making = lock(&data.series.making);
    if let Some(found) = found() {
        return Ok(found);
    }
    let version = series.version(data);
    let made = series.made(data).map_err(|error| Data::refusal(&error))?;
    let mut all = lock(&data.series.kept);
    all.retain(|it| made.iter().all(|new| new.0.name() != it.0.0));
    all.splice(0..0, made.into_iter().map(|(it, steps)| ((it.name(), version), Arc::new(steps))));
    // The asked one is the last to go.
    all.sort_by_key(|it| it.0.0 != series.name());
    let new = all.first().map(|it| Arc::clone(&it.1)).unwrap_or_default();
    let mut bytes = 0;
    let kept = all.iter().take_while(|it| {
        bytes += it.1.bytes();
        bytes <= BYTES_MAX
    });
    let kept = kept.count().max(1);
    all.truncate(kept);
    Ok(new)
}

/// A series of a chart, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Series {
    Busy(Option<usize>),
    Queue(Option<usize>),
}

impl Series {
    fn read(data: &Data, id: &str) -> Result<Series, Refusal> {
        let unknown = || Refusal::missing(format!("there is no series `{id}`"));
        let (kind, place) = id.split_once(':').ok_or_else(unknown)?;
        let count = count(data);
        let chart = match place {
            // The sum of one chart is the chart.
            "all" => (count == 1).then_some(0),
            place => Some(place.parse::<usize>().map_err(|_| unknown())?),
        };
        if chart.is_some_and(|it| it >= count) {
            return Err(unknown());
        }
        match kind {
            "busy" => Ok(Series::Busy(chart)),
            "queue" => Ok(Series::Queue(chart)),
            _ => Err(unknown()),
        }
    }

    fn name(self) -> String {
        format!("{self:?}")
    }

    /// Version of the data of which it is made: of bars, or of tables, which stay as they are.
    fn version(self, data: &Data) -> u64 {
        match self {
            Series::Busy(_) => data.bars.load(Ordering::Acquire),
            Series::Queue(_) => 0,
        }
    }

    fn found(self, data: &Data) -> Option<Arc<Steps>> {
        let name = (self.name(), self.version(data));
        let mut all = lock(&data.series.kept);
        let at = all.iter().position(|it| it.0 == name)?;
        let found = all.remove(at);
        all.insert(0, found);
        Some(Arc::clone(&all[0].1))
    }

    /// The series, and all others that the same pass over the tables gives.
    fn made(self, data: &Data) -> Result<Vec<(Series, Steps)>, ResultsError> {
        match self {
            Series::Busy(chart) => Ok(vec![(self, Steps::of(busy(data, chart)))]),
            Series::Queue(_) => queues(data),
        }
    }
}

/// Number of charts.
fn count(data: &Data) -> usize {
    data.scene.read().unwrap_or_else(PoisonError::into_inner).charts.len()
}

/// Changes of the number of busy rows.
fn busy(data: &Data, chart: Option<usize>) -> Vec<(i64, i32)> {
    let scene = data.scene.read().unwrap_or_else(PoisonError::into_inner);
    let charts = scene.charts.iter().enumerate();
    let charts = charts.filter(|it| chart.is_none_or(|asked| asked == it.0)).map(|it| it.1);
    let mut changes =
        Vec::with_capacity(2 * charts.clone().map(|it| it.bars().count()).sum::<usize>());
    for chart in charts {
        busy_of(chart, &mut changes);
    }
    changes
}

fn busy_of(chart: &Chart, changes: &mut Vec<(i64, i32)>) {
    for bar in chart.bars().filter(|bar| bar.end > bar.start) {
        let rows = i32::try_from(bar.rows).unwrap_or(i32::MAX);
        changes.extend([(bar.start, rows), (bar.end, -rows)]);
    }
}

/// Numbers of waiting jobs, of each chart and of all.
fn queues(data: &Data) -> Result<Vec<(Series, Steps)>, ResultsError> {
    let mut of_charts: Vec<Vec<(i64, i32)>> = vec![Vec::new(); count(data)];
    if let (Ok(run), Some(places)) = (data.run(), data.places.get()) {
        let grid = places.grid();
        run.each_wait(|provider, from, until| {
            let place = match provider {
                Some(name) => places.place(name).filter(|it| it.band.is_none()).map(|it| it.chart),
                None => grid,
            };
            if let Some(changes) = place.and_then(|it| of_charts.get_mut(it))
                && from < until
            {
                changes.extend([(clamped(from.as_micros()), 1), (clamped(until.as_micros()), -1)]);
            }
        })?;
    }
    let mut made = Vec::new();
    if of_charts.len() != 1 {
        made.push((Series::Queue(None), Steps::of(of_charts.concat())));
    }
    let each = of_charts.into_iter().enumerate();
    made.extend(each.map(|(chart, it)| (Series::Queue(Some(chart)), Steps::of(it))));
    Ok(made)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    use haggle_experiment::{Conduct, Destination, Figures, Keep, run};
    use haggle_results::Existing;
    use haggle_scenario::{Experiment, Logs, Source};

    use super::super::RunView;
    use super::*;

    /// A view of the first run of an example, whose tables have been read.
    fn view(name: &str, folder: &Path) -> RunView {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let source = Source::read(&scenarios.join(format!("{name}.toml"))).expect("a scenario");
        let experiment = Experiment::read(source, Logs::MustExist).expect("it is valid");
        let scenario = experiment.runs().next().expect("a run").scenario();
        let destination = Destination {
            folder: folder.join("run"),
            end: None,
            existing: Existing::Keep,
            keep: Keep::Tables,
            figures: Figures::Skip,
        };
        run(&scenario, &scenarios, Some(&destination), &Conduct::plain())
            .expect("it is carried out");
        let view = RunView::new(&destination.folder, name.to_owned());
        while !view.is_read() {
            thread::sleep(Duration::from_millis(5));
        }
        view
    }

    fn same(view: &RunView, one: &str, other: &str) -> bool {
        let get = |id| steps(&view.data, id).expect("a series");
        Arc::ptr_eq(&get(one), &get(other))
    }

    #[test]
    fn a_series_is_made_again_only_if_its_data_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let view = view("side-by-side", folder.path());
        let get = |id| steps(&view.data, id).expect("a series");
        let before = ["busy:0", "queue:1", "busy:all"].map(get);
        // Another table was checked.
        view.data.changed();
        let after = ["busy:0", "queue:1", "busy:all"].map(get);
        assert!(before.iter().zip(&after).all(|(a, b)| Arc::ptr_eq(a, b)));
        view.data.bars.fetch_add(1, Ordering::Release);
        assert!(!Arc::ptr_eq(&before[0], &get("busy:0")));
        assert!(Arc::ptr_eq(&before[1], &get("queue:1")));
        assert!(!same(&view, "busy:0", "busy:all"));
    }

    #[test]
    fn the_sum_of_one_chart_is_the_chart() {
        let folder = tempfile::tempdir().expect("a folder");
        let view = view("reservations", folder.path());
        assert!(same(&view, "busy:0", "busy:all"));
        assert!(same(&view, "queue:0", "queue:all"));
    }

    #[test]
    fn requests_at_once_make_a_series_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let view = view("side-by-side", folder.path());
        let barrier = Barrier::new(4);
        let ask = || {
            barrier.wait();
            steps(&view.data, "queue:all").expect("a series")
        };
        let all = thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(ask));
            threads.map(|it| it.join().expect("an answer"))
        });
        assert!(all.iter().all(|it| Arc::ptr_eq(it, &all[0])));
    }
}
