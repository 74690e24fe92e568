//! The results of a sweep as one table: a row for each point and metric, over all replications.

use std::collections::BTreeMap;

use crate::stats::Estimate;

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRun {
    /// Its value on each axis, as written in the scenario, in the order of the axes.
    pub point: Vec<String>,
    /// What came out: (metric, value), in any order.
    pub metrics: Vec<(String, f64)>,
}

/// A metric at a point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// The value on each axis.
    pub point: Vec<String>,
    /// The metric.
    pub metric: String,
    /// Its mean over the replications.
    pub estimate: Estimate,
    /// Its values, in the order of the runs.
    pub values: Vec<f64>,
}

/// Averages over the runs of a point, which are told one after the other: what is in memory is one
/// point, however many there are.
///
/// Metrics come in the order in which they first appear; values that are not finite are left out.
/// Runs that are equal in everything are one run, copied: they have no confidence interval.
#[derive(Debug, Default)]
pub struct Points {
    point: Option<Vec<String>>,
    /// Each metric with its values.
    samples: Vec<(String, Vec<f64>)>,
    places: BTreeMap<String, usize>,
    /// What the first run of the point has, as long as all others have the same.
    copied: Option<Vec<(String, f64)>>,
}

impl Points {
    /// Adds a run, and gives the rows of the point before if this run is at another one.
    pub fn add(&mut self, run: SweepRun) -> Vec<SweepRow> {
        let SweepRun { point, metrics } = run;
        let mut rows = Vec::new();
        if self.point.as_ref() == Some(&point) {
            self.copied = self.copied.take().filter(|first| *first == metrics);
        } else {
            rows = self.finish();
            self.point = Some(point);
            self.copied = Some(metrics.clone());
        }
        for (metric, value) in metrics {
            let place = match self.places.get(&metric) {
                Some(&place) => place,
                None => {
                    self.samples.push((metric.clone(), Vec::new()));
                    self.places.insert(metric, self.samples.len() - 1);
                    self.samples.len() - 1
                }
            };
            if value.is_finite() {
                self.samples[place].1.push(value);
            }
        }
        rows
    }

    /// The rows of the last point.
    pub fn finish(&mut self) -> Vec<SweepRow> {
        let Points { point, samples, copied, .. } = std::mem::take(self);
        let Some(point) = point else { return Vec::new() };
        let row = |(metric, values): (String, Vec<f64>)| {
            let mut estimate = Estimate::of(&values)?;
            if copied.is_some() {
                estimate.half_width = None;
            }
            Some(SweepRow { point: point.clone(), metric, estimate, values })
        };
        samples.into_iter().filter_map(row).collect()
    }
}

/// The rows of all points, whose runs come one after the other.
pub fn aggregate(runs: impl IntoIterator<Item = SweepRun>) -> Vec<SweepRow> {
    let mut points = Points::default();
    let mut rows: Vec<SweepRow> = runs.into_iter().flat_map(|run| points.add(run)).collect();
    rows.extend(points.finish());
    rows
}

/// The head of the table as CSV: a column for each axis, then `metric,n,mean,std,ci95`.
pub fn csv_head(axes: &[String]) -> String {
    let fixed = ["metric", "n", "mean", "std", "ci95"].map(str::to_owned);
    axes.iter().map(|axis| quoted(axis)).chain(fixed).collect::<Vec<_>>().join(",") + "\n"
}

/// A row of the table as CSV; `ci95` is half the width of the 95 % confidence interval, empty where one
/// run has no spread, or all are equal.
pub fn csv_row(row: &SweepRow) -> String {
    let optional =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
    let it = &row.estimate;
    let values = [
        quoted(&row.metric),
        it.n.to_string(),
        format!("{:?}", it.mean),
        optional(it.std),
        optional(it.half_width),
    ];
    row.point.iter().map(|value| quoted(value)).chain(values).collect::<Vec<_>>().join(",") + "\n"
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replications_of_a_point_become_one_row() {
        let run = |load: &str, wait: f64| SweepRun {
            point: vec![load.to_owned()],
            metrics: vec![("wait, s".to_owned(), wait)],
        };
        let rows = aggregate([run("0.9", 3.0), run("0.9", 5.0), run("0.5", 1.0)]);
        let csv: String = rows.iter().map(csv_row).collect();
        let mut lines = csv.lines();
        assert_eq!(csv_head(&["load".to_owned()]), "load,metric,n,mean,std,ci95\n");
        let first = lines.next().expect("two rows");
        assert!(first.starts_with("0.9,\"wait, s\",2,4.0,1.414"), "{first}");
        assert_eq!(lines.next(), Some("0.5,\"wait, s\",1,1.0,,"));
    }

    #[test]
    fn copies_of_one_run_have_no_interval() {
        let run = |wait: f64, jobs: f64| SweepRun {
            point: Vec::new(),
            metrics: vec![("wait".to_owned(), wait), ("jobs".to_owned(), jobs)],
        };
        let halves = |runs: [SweepRun; 2]| -> Vec<Option<f64>> {
            aggregate(runs).iter().map(|row| row.estimate.half_width).collect()
        };
        assert_eq!(halves([run(3.0, 7.0), run(3.0, 7.0)]), [None, None]);
        let differ = halves([run(3.0, 7.0), run(5.0, 7.0)]);
        assert!(differ[0].is_some_and(|half| half > 0.0));
        assert_eq!(differ[1], Some(0.0), "a quantity that never varies");
    }
}
