//! The results of a sweep as one table: a row for each point and metric, over all replications.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::metrics::named::{Named, of_which_group};
use crate::stats::{Estimate, paired_difference};

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRun {
    /// Its value on each axis as in the scenario, in the order of the axes.
    pub point: Vec<String>,
    /// Its results: (metric, value), in any order.
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

/// Averages over the runs of a point. Runs are added point by point, so that only one point is in memory.
///
/// Metrics keep the order in which they first appear. Values that are not finite are left out. If all
/// runs of a point are equal, they are copies of one run and have no confidence interval.
#[derive(Debug, Default)]
pub struct Points {
    point: Option<Vec<String>>,
    /// Each metric with its values.
    samples: Vec<(String, Vec<f64>)>,
    places: BTreeMap<String, usize>,
    /// Metrics of the first run of the point, as long as all others have the same.
    copied: Option<Vec<(String, f64)>>,
}

impl Points {
    /// Adds a run. If it begins a new point, returns the rows of the previous one.
    pub fn add(&mut self, run: SweepRun) -> Vec<SweepRow> {
        let SweepRun { point, metrics } = run;
        let mut rows = Vec::new();
        if self.point.as_ref() == Some(&point) {
            // One different run is enough: from then on, there is nothing with which others would be
            // compared.
            self.copied = self.copied.take().filter(|first| are_equal(first, &metrics));
        } else {
            rows = self.finish();
            self.point = Some(point);
            self.copied = Some(metrics.clone());
        }
        for (metric, value) in metrics {
            // A metric gets its place even if its first value is not finite.
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

/// True if two runs have equal results. A metric without a value, which is NaN, equals itself.
fn are_equal(a: &[(String, f64)], b: &[(String, f64)]) -> bool {
    let equal = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && equal(a.1, b.1))
}

/// The rows of all points. The runs of a point must follow one another.
pub fn aggregate(runs: impl IntoIterator<Item = SweepRun>) -> Vec<SweepRow> {
    let mut points = Points::default();
    let mut rows: Vec<SweepRow> = runs.into_iter().flat_map(|run| points.add(run)).collect();
    rows.extend(points.finish());
    rows
}

/// A metric at a point of a sweep and at the base point with which it is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedRow {
    /// The value on each axis.
    pub point: Vec<String>,
    /// The metric.
    pub metric: String,
    /// Values at the base point, in the order of the runs.
    pub base: Vec<f64>,
    /// Values at this point, with the same seeds.
    pub values: Vec<f64>,
    /// This point - base point, paired by seed.
    pub difference: Estimate,
}

/// A point and a metric, with its values at the base and at the point.
type Pairs<'a> = (&'a [String], &'a str, Vec<f64>, Vec<f64>);

/// Compares each run with the base run of the same seed. The base run has the values `at`, each (axis,
/// value), and otherwise the same values on all axes. Runs without a base run and values that are not
/// finite are left out. Rows are ordered as in [`aggregate`].
///
/// If no value varies over the seeds, the runs are copies and their difference has no confidence interval.
pub fn against(runs: &[SweepRun], seeds: &[u64], at: &[(usize, String)]) -> Vec<PairedRow> {
    let base = |run: &SweepRun| {
        let mut point = run.point.clone();
        at.iter().for_each(|(axis, value)| point[*axis].clone_from(value));
        point
    };
    let all = || runs.iter().zip(seeds);
    let is_base = |run: &SweepRun| base(run) == run.point;
    let bases: BTreeMap<(Vec<String>, u64), &SweepRun> = all()
        .filter(|(run, _)| is_base(run))
        .map(|(run, &seed)| ((run.point.clone(), seed), run))
        .collect();
    let mut samples: Vec<Pairs<'_>> = Vec::new();
    // The list keeps the order of first appearance. The map only finds places in it.
    let mut places = BTreeMap::new();
    for (run, &seed) in all().filter(|(run, _)| !is_base(run)) {
        let Some(other) = bases.get(&(base(run), seed)) else { continue };
        let theirs: BTreeMap<&str, f64> =
            other.metrics.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        for (metric, mine) in &run.metrics {
            // A metric that one of the two runs lacks cannot be compared.
            let Some(&theirs) = theirs.get(metric.as_str()) else { continue };
            let key = (run.point.as_slice(), metric.as_str());
            let place = *places.entry(key).or_insert_with(|| {
                samples.push((key.0, key.1, Vec::new(), Vec::new()));
                samples.len() - 1
            });
            // Left out in pairs, because equal places of both lists are one seed.
            if mine.is_finite() && theirs.is_finite() {
                samples[place].2.push(theirs);
                samples[place].3.push(*mine);
            }
        }
    }
    let constant = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
    let mut copies = BTreeMap::new();
    for (point, _, base, values) in &samples {
        // One metric that varies shows that the runs of the point are no copies.
        *copies.entry(*point).or_insert(true) &= constant(base) && constant(values);
    }
    let row = |(point, metric, base, values): Pairs<'_>| {
        let mut difference = paired_difference(&values, &base)?;
        if copies[point] {
            difference.half_width = None;
        }
        let (point, metric) = (point.to_vec(), metric.to_owned());
        Some(PairedRow { point, metric, base, values, difference })
    };
    samples.into_iter().filter_map(row).collect()
}

/// The first columns of the tables with one row a run.
pub const OF_RUN: [&str; 2] = ["run", "seed"];

/// The column of the table of failed runs that says why each failed.
pub const MESSAGE: &str = "message";

/// The columns of means, behind those of the axes.
const OF_MEANS: [&str; 8] =
    ["metric", "n", "mean", "std", "ci95", "group_kind", "group", "quantity"];

/// The column of an axis in the tables of a sweep: `axis.NAME` if these have another column called so, such as a metric.
pub fn axis_column(axis: &str) -> String {
    let taken = OF_RUN.contains(&axis)
        || OF_MEANS.contains(&axis)
        || axis == MESSAGE
        || Named::of(axis).is_some();
    if taken { format!("axis.{axis}") } else { axis.to_owned() }
}

/// The head of the table as CSV: a column for each axis, then `metric,n,mean,std,ci95` and
/// `group_kind,group,quantity`.
pub fn csv_head(axes: &[String]) -> String {
    let fixed = OF_MEANS.map(str::to_owned);
    axes.iter().map(|axis| quoted(axis)).chain(fixed).collect::<Vec<_>>().join(",") + "\n"
}

/// A row of the table as CSV. `ci95` is half the width of the 95 % confidence interval, empty if there
/// is one run or all runs are equal.
///
/// A metric of a group is repeated in `group_kind,group,quantity`, in which the metric of the whole run
/// has no group. Groups of users have no row: tables name workloads only, so that users would have the
/// same values.
pub fn csv_row(row: &SweepRow) -> String {
    let optional =
        // `{:?}` writes as many digits as are needed to read back the same float.
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
    let it = &row.estimate;
    let (kind, group, quantity) = of_which_group(&row.metric).unwrap_or(("", "", &row.metric));
    if kind == "user" {
        return String::new();
    }
    let values = [
        quoted(&row.metric),
        it.n.to_string(),
        format!("{:?}", it.mean),
        optional(it.std),
        optional(it.half_width),
        quoted(kind),
        quoted(group),
        quoted(quantity),
    ];
    let point = row.point.iter().map(|value| quoted(&text_cell(value)));
    point.chain(values).collect::<Vec<_>>().join(",") + "\n"
}

/// A text as a cell of CSV. Spreadsheets evaluate a text that begins like a formula, so such a text is
/// marked by a `'`. Numbers stay as they are.
pub fn text_cell(text: &str) -> Cow<'_, str> {
    let computes = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    match computes && text.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
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
            metrics: vec![
                ("wait, s".to_owned(), wait),
                ("provider.north-1.deadlines.delayed".to_owned(), 7.0),
                ("user.guests.jobs".to_owned(), 7.0),
            ],
        };
        let rows = aggregate([run("0.9", 3.0), run("0.9", 5.0), run("0.5", 1.0)]);
        let csv: String = rows.iter().map(csv_row).collect();
        let mut lines = csv.lines();
        let head = "load,metric,n,mean,std,ci95,group_kind,group,quantity\n";
        assert_eq!(csv_head(&["load".to_owned()]), head);
        let first = lines.next().expect("four rows");
        assert!(first.starts_with("0.9,\"wait, s\",2,4.0,1.414"), "{first}");
        assert!(first.ends_with(",,,\"wait, s\""), "{first}");
        let of_group = "0.9,provider.north-1.deadlines.delayed,2,7.0,0.0,0.0,provider,north-1,\
                        deadlines.delayed";
        assert_eq!(lines.next(), Some(of_group));
        assert_eq!(lines.next(), Some("0.5,\"wait, s\",1,1.0,,,,,\"wait, s\""));
        assert_eq!(lines.count(), 1, "users have the values of their workload");
    }

    #[test]
    fn texts_are_no_formulas_for_spreadsheets() {
        for text in ["=1+1", "=HYPERLINK(\"x\")", "+1+1", "-cmd", "@SUM(A1)", "\t=1"] {
            assert_eq!(text_cell(text), format!("'{text}"));
        }
        for text in ["easy", "-5", "+0.5", "-1e3", "", "1=1"] {
            assert_eq!(text_cell(text), text);
        }
    }

    /// Two queues under two loads; one seed of the base is missing at the higher load.
    #[test]
    fn runs_are_held_against_those_of_their_seed() {
        let mut runs = Vec::new();
        let mut seeds = Vec::new();
        let mut add = |policy: &str, load: &str, seed: u64, wait: f64| {
            let metrics = vec![("wait".to_owned(), wait), ("jobs".to_owned(), 9.0)];
            runs.push(SweepRun { point: vec![policy.to_owned(), load.to_owned()], metrics });
            seeds.push(seed);
        };
        for (seed, easy) in [(1, 10.0), (2, 30.0)] {
            add("fcfs", "0.5", seed, easy + 4.0 + seed as f64);
            add("easy", "0.5", seed, easy);
        }
        add("fcfs", "0.9", 1, 70.0);
        add("fcfs", "0.9", 2, 90.0);
        add("easy", "0.9", 2, 60.0);
        let rows = against(&runs, &seeds, &[(0, "easy".to_owned())]);
        let shown: Vec<(&str, &str, f64, u64)> = rows
            .iter()
            .map(|it| (&*it.point[1], &*it.metric, it.difference.mean, it.difference.n))
            .collect();
        let expected = [
            ("0.5", "wait", 5.5, 2),
            ("0.5", "jobs", 0.0, 2),
            ("0.9", "wait", 30.0, 1),
            ("0.9", "jobs", 0.0, 1),
        ];
        assert_eq!(shown, expected);
        // t(1, 0.975) = 12.706, s = 0.7071, n = 2; the waits themselves differ by 20 and more.
        let half = rows[0].difference.half_width.expect("two seeds");
        assert!((half - 6.353).abs() < 1e-3, "{half}");
        assert_eq!(rows[1].difference.half_width, Some(0.0));
        assert_eq!((&*rows[0].base, &*rows[0].values), (&[10.0, 30.0][..], &[15.0, 36.0][..]));
        let both = against(&runs, &seeds, &[(0, "easy".to_owned()), (1, "0.5".to_owned())]);
        assert_eq!(both.iter().filter(|it| it.metric == "wait").count(), 3);
        assert!(against(&runs, &seeds, &[(0, "replan".to_owned())]).is_empty());
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
        assert_eq!(halves([run(3.0, f64::NAN), run(3.0, f64::NAN)]), [None]);
        let differ = halves([run(3.0, 7.0), run(5.0, 7.0)]);
        assert!(differ[0].is_some_and(|half| half > 0.0));
        assert_eq!(differ[1], Some(0.0), "a quantity that never varies");
    }
}
