//! The results of a sweep as one table: a row for each point and metric, over all replications.

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

/// Averages over the runs that share a point. Rows come in the order in which points
/// and metrics first appear; values that are not finite are left out.
///
/// Runs that are equal in everything are one run, copied: they have no confidence interval.
pub fn aggregate(runs: &[SweepRun]) -> Vec<SweepRow> {
    let mut copies = std::collections::BTreeMap::new();
    for run in runs {
        let (first, equal) = copies.entry(run.point.as_slice()).or_insert((run, true));
        *equal &= first.metrics == run.metrics;
    }
    let mut samples: Vec<(&[String], &str, Vec<f64>)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for run in runs {
        for (metric, value) in &run.metrics {
            let key = (run.point.as_slice(), metric.as_str());
            let place = *places.entry(key).or_insert_with(|| {
                samples.push((key.0, key.1, Vec::new()));
                samples.len() - 1
            });
            if value.is_finite() {
                samples[place].2.push(*value);
            }
        }
    }
    let row = |(point, metric, values): &(&[String], &str, Vec<f64>)| {
        let mut estimate = Estimate::of(values)?;
        if copies[point].1 {
            estimate.half_width = None;
        }
        let (point, metric) = (point.to_vec(), (*metric).to_owned());
        Some(SweepRow { point, metric, estimate, values: values.clone() })
    };
    samples.iter().filter_map(row).collect()
}

/// The table as CSV: a column for each axis, then `metric,n,mean,std,ci95`, where `ci95` is
/// half the width of the 95 % confidence interval; empty where one run has no spread, or all are equal.
pub fn to_csv(axes: &[String], rows: &[SweepRow]) -> String {
    let mut lines = Vec::with_capacity(rows.len() + 1);
    let header = axes.iter().map(|axis| quoted(axis));
    let fixed = ["metric", "n", "mean", "std", "ci95"].map(str::to_owned);
    lines.push(header.chain(fixed).collect::<Vec<_>>().join(","));
    let optional =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
    for row in rows {
        let it = &row.estimate;
        let point = row.point.iter().map(|value| quoted(value));
        let values = [
            quoted(&row.metric),
            it.n.to_string(),
            format!("{:?}", it.mean),
            optional(it.std),
            optional(it.half_width),
        ];
        lines.push(point.chain(values).collect::<Vec<_>>().join(","));
    }
    lines.join("\n") + "\n"
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
        let rows = aggregate(&[run("0.9", 3.0), run("0.5", 1.0), run("0.9", 5.0)]);
        let csv = to_csv(&["load".to_owned()], &rows);
        let mut lines = csv.lines();
        assert_eq!(lines.next(), Some("load,metric,n,mean,std,ci95"));
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
        let halves = |runs: &[SweepRun]| -> Vec<Option<f64>> {
            aggregate(runs).iter().map(|row| row.estimate.half_width).collect()
        };
        assert_eq!(halves(&[run(3.0, 7.0), run(3.0, 7.0)]), [None, None]);
        let differ = halves(&[run(3.0, 7.0), run(5.0, 7.0)]);
        assert!(differ[0].is_some_and(|half| half > 0.0));
        assert_eq!(differ[1], Some(0.0), "a quantity that never varies");
    }
}
