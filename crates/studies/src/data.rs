//! The runs of a sweep, or the rows of a study, as data of expressions: values by name and point of the axes.
//!
//! Names of values are the words of scenarios (`mean-waiting-time`) or the keys of `summary.json` with
//! dots (`waiting_time.p95`, `outcomes.rejected`). All numbers of a summary can therefore be drawn and
//! used in claims. An object with a `mean` is replaced by its mean.

mod by_base;
mod impact;

use std::path::{Path, PathBuf};

use haggle_results::metrics::named::{self, NAMED, Named};
use haggle_results::{ResultsError, RunReader, SweepFolder};
use serde_json::{Value as Json, json};

use super::quick::Cuts;
use haggle_experiment::figures::messages;
use haggle_scenario::{Experiment, nearest};
use haggle_script::{Absent, Point, Sample, Source};

/// Runs with their places on some axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Its name: the sweep's file without its ending, or the study.
    pub name: String,
    /// The axes.
    pub axes: Vec<AxisValues>,
    /// The runs, in any order.
    pub runs: Vec<DataRun>,
    /// Data that a quick reproduction has left out.
    pub cuts: Cuts,
    /// Point of the runs with which others are compared, unless an expression gives another point.
    reference: Option<Point>,
    /// Cache of comparisons between runs.
    known: impact::Known,
}

/// An axis with its values as texts, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisValues {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
}

/// A run, or a row.
#[derive(Clone, Debug, PartialEq)]
pub struct DataRun {
    /// Its value on each axis.
    pub point: Vec<String>,
    /// Its replication of the point.
    pub seed: u64,
    /// All its values.
    pub values: Json,
    /// The folder of its results; a row of a study has none.
    pub folder: Option<PathBuf>,
}

impl Data {
    /// An empty table with these axes. Studies add a row for each point.
    pub fn table(name: &str, axes: &[&str]) -> Data {
        let axis = |name: &&str| AxisValues { name: (*name).to_owned(), values: Vec::new() };
        let axes = axes.iter().map(axis).collect();
        Data {
            name: name.to_owned(),
            axes,
            runs: Vec::new(),
            cuts: Cuts::default(),
            reference: None,
            known: impact::Known::default(),
        }
    }

    /// Adds a row: its value on each axis, its replication, and its results.
    pub fn push(&mut self, point: &[&str], seed: u64, values: &[(&str, f64)]) {
        for (axis, value) in self.axes.iter_mut().zip(point) {
            if !axis.values.iter().any(|it| it == value) {
                axis.values.push((*value).to_owned());
            }
        }
        let point = point.iter().map(|it| (*it).to_owned()).collect();
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        let values = Json::Object(values.collect());
        self.runs.push(DataRun { point, seed, values, folder: None });
    }

    /// Reads the summaries of all runs of `experiment`, whose results are in `folder`.
    ///
    /// # Errors
    /// If one of them is missing or damaged.
    pub fn of_sweep(
        name: &str,
        experiment: &Experiment,
        folder: &Path,
    ) -> Result<Data, ResultsError> {
        let settings = experiment.variants.first().map(|it| it.settings.as_slice());
        let names = settings.unwrap_or_default().iter().map(|setting| setting.axis.as_str());
        let mut data = Data::table(name, &names.collect::<Vec<_>>());
        data.reference = experiment.reference();
        let there = SweepFolder::open(folder)?;
        for run in experiment.runs() {
            let name = run.folder();
            let folder = folder.join(&name);
            let reader = match there.run(run.number, &name)? {
                Some(reader) => reader,
                // `open` reports the missing folder.
                None => RunReader::open(&folder)?,
            };
            let mut values = reader.summary_value()?;
            if let (Json::Object(object), Some(count)) = (&mut values, messages(&reader)?) {
                object.insert("messages".to_owned(), json!(count));
            }
            let point: Vec<String> = run.variant.settings.iter().map(|it| it.text()).collect();
            let texts: Vec<&str> = point.iter().map(String::as_str).collect();
            data.push(&texts, run.seed, &[]);
            if let Some(last) = data.runs.last_mut() {
                last.values = values;
                last.folder = Some(folder);
            }
        }
        Ok(data)
    }

    /// The values of an axis.
    ///
    /// # Errors
    /// If there is no such axis.
    pub fn axis(&self, name: &str) -> Result<&AxisValues, Absent> {
        self.axes.iter().find(|axis| axis.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
            unknown(&format!("{} has no axis \"{name}\"", self.name), name, &names)
        })
    }

    /// A value over the replications of a point, of all jobs or of a group of them.
    ///
    /// # Errors
    /// If there is no such point, the point is ambiguous, or a run has no such value.
    pub fn sample(&self, metric: &str, group: Option<&str>, at: &Point) -> Result<Sample, Absent> {
        if impact::name(metric).map_err(Absent::Unknown)?.is_some() {
            let Some(reference) = &self.reference else {
                let what = format!("\"{metric}\" is relative to other runs of {}", self.name);
                let way = "give their point behind this one, or the sweep a `reference`";
                return Err(Absent::Unknown(format!("{what}: {way}")));
            };
            // The reference replaces the values of this point on its own axes only.
            let mut base = at.clone();
            base.extend(reference.clone());
            return self.sample_by(metric, group.unwrap_or_default(), at, &base);
        }
        let runs = self.runs_at(at)?;
        let mut pairs = Vec::with_capacity(runs.len());
        for run in runs {
            let value = look_up(&run.values, metric, group).map_err(|problem| {
                let place: Vec<String> = self
                    .axes
                    .iter()
                    .zip(&run.point)
                    .map(|(a, v)| format!("{} {v}", a.name))
                    .collect();
                let place = if place.is_empty() { String::new() } else { place.join(", ") + ", " };
                Absent::Unknown(format!("{problem} in {} ({place}seed {})", self.name, run.seed))
            })?;
            pairs.push((run.seed, value));
        }
        Ok(Sample::new(pairs))
    }

    /// Effects on jobs relative to the run at `base` of the same replication (`impact.…`), or a mean
    /// over jobs or workflows that both runs share. For bags, these are the bags that ran on one
    /// provider, or on several, at `base`. For workflows, these are done in both runs.
    ///
    /// # Errors
    /// If one of the points does not exist or is ambiguous, or has no such bags.
    pub fn sample_by(
        &self,
        metric: &str,
        group: &str,
        at: &Point,
        base: &Point,
    ) -> Result<Sample, Absent> {
        let measure = Measure::of(metric, group).map_err(Absent::Unknown)?;
        let bases = self.runs_at(base)?;
        let mut pairs = Vec::with_capacity(bases.len());
        for run in self.runs_at(at)? {
            let what = || format!("\"{group}\" in {} (seed {})", self.name, run.seed);
            let none = || Absent::Unknown(format!("there are no runs to compare for {}", what()));
            let same = bases.iter().find(|base| base.seed == run.seed).ok_or_else(none)?;
            let (Some(folder), Some(base)) = (&run.folder, &same.folder) else {
                return Err(none());
            };
            let value = match measure {
                Measure::Mean(mean) => mean.value(folder, base).map_err(|it| it.to_string()),
                Measure::Impact(name) => self.known.value(folder, base, group, name),
            };
            let value = value.map_err(|error| Absent::Unknown(format!("{}: {error}", what())))?;
            // An effect without any job has no value. The other replications are still used.
            match (value, measure) {
                (Some(value), _) => pairs.push((run.seed, value)),
                (None, Measure::Impact(_)) => {}
                (None, Measure::Mean(_)) => {
                    return Err(Absent::Unknown(format!("there is no {}", what())));
                }
            }
        }
        Ok(Sample::new(pairs))
    }

    /// Values of an axis that a quick reproduction leaves out.
    pub fn cut_values(&self, axis: &str) -> impl Iterator<Item = &String> {
        let cut = self.cuts.axes.iter().filter(move |cut| cut.name == axis);
        cut.flat_map(|cut| &cut.cut)
    }

    /// The folder of the first run of a point.
    ///
    /// # Errors
    /// If there is no such point, the point is ambiguous, or the data are not those of a sweep.
    pub fn folder_at(&self, at: &Point) -> Result<&Path, Absent> {
        // Runs may be in any order.
        let first = self.runs_at(at)?.into_iter().min_by_key(|run| run.seed);
        let folder = first.and_then(|run| run.folder.as_deref());
        folder.ok_or_else(|| Absent::Unknown(format!("{} has no runs", self.name)))
    }

    /// The runs of a point, which must be unambiguous.
    fn runs_at(&self, at: &Point) -> Result<Vec<&DataRun>, Absent> {
        for (name, value) in at {
            let axis = self.axis(name)?;
            if axis.values.iter().any(|it| same(it, value)) {
                continue;
            }
            if self.cut_values(name).any(|it| same(it, value)) {
                return Err(Absent::Cut { axis: name.clone(), value: value.clone() });
            }
            let all = axis.values.iter().chain(self.cut_values(name));
            let known: Vec<&str> = all.map(String::as_str).collect();
            let what = format!("{} has no {name} = {value}", self.name);
            return Err(unknown(&what, value, &known));
        }
        // A point may leave out axes with a single value.
        if let Some(open) =
            self.axes.iter().find(|axis| axis.values.len() > 1 && !at.contains_key(&axis.name))
        {
            let values = open.values.join(", ");
            let name = &open.name;
            return Err(Absent::Unknown(format!(
                "say which {name} is meant: {} has {values}",
                self.name
            )));
        }
        let runs: Vec<&DataRun> = self
            .runs
            .iter()
            .filter(|run| {
                let mut axes = self.axes.iter().zip(&run.point);
                axes.all(|(axis, value)| at.get(&axis.name).is_none_or(|it| same(it, value)))
            })
            .collect();
        if runs.is_empty() {
            return Err(Absent::Unknown(format!("{} has no run there", self.name)));
        }
        Ok(runs)
    }
}

impl Source for Data {
    fn name(&self) -> &str {
        &self.name
    }

    fn axis(&self, name: &str) -> Result<&[String], Absent> {
        self.axis(name).map(|axis| axis.values.as_slice())
    }

    fn sample(&self, metric: &str, group: Option<&str>, at: &Point) -> Result<Sample, Absent> {
        self.sample(metric, group, at)
    }

    fn sample_by(
        &self,
        metric: &str,
        group: &str,
        at: &Point,
        base: &Point,
    ) -> Result<Sample, Absent> {
        self.sample_by(metric, group, at, base)
    }

    fn lacks_replications(&self) -> bool {
        self.cuts.replications.is_some()
    }

    fn lacks_values(&self, axis: &str) -> bool {
        self.cut_values(axis).next().is_some()
    }
}

/// Measure of a run relative to another.
#[derive(Clone, Copy, Debug)]
enum Measure<'a> {
    Mean(by_base::Mean),
    Impact(&'a str),
}

impl Measure<'_> {
    fn of<'a>(metric: &'a str, group: &str) -> Result<Measure<'a>, String> {
        if let Some(name) = impact::name(metric)? {
            return Ok(Measure::Impact(name));
        }
        Ok(Measure::Mean(by_base::Mean::of(metric, group)?))
    }
}

/// True if two texts mean the same value, such as 0.5 and .50.
pub(super) fn same(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

fn unknown(what: &str, typed: &str, known: &[&str]) -> Absent {
    let way = match nearest(typed, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "there is none".to_owned(),
        None => format!("there is {}", known.join(", ")),
    };
    Absent::Unknown(format!("{what}: {way}"))
}

/// A value of a run by its name, of all jobs or of a group of them.
fn look_up(values: &Json, metric: &str, group: Option<&str>) -> Result<f64, String> {
    let path = &place_of(metric);
    let places: Vec<&Json> = match group {
        None => {
            // The first place that has the value counts: the summary itself comes before its parts.
            let parts = ["all", "failures", "grid"].map(|part| values.get(part));
            std::iter::once(Some(values)).chain(parts).flatten().collect()
        }
        Some("all" | "global") => [values.get("all"), Some(values)].into_iter().flatten().collect(),
        Some(name) => vec![member(values, name)?],
    };
    let found = places.iter().find_map(|place| walk(place, path));
    let of = group.map(|group| format!(" of \"{group}\"")).unwrap_or_default();
    match found {
        Some(Json::Null) => Err(format!("\"{metric}\"{of} has no value")),
        Some(value) => {
            let number = value.as_f64().or_else(|| value.get("mean")?.as_f64());
            number.ok_or_else(|| format!("\"{metric}\"{of} is not a number"))
        }
        None => {
            let mut known: Vec<&str> = places.iter().flat_map(|place| keys(place)).collect();
            known.extend(NAMED.iter().map(|it| it.name));
            let near = nearest(metric, known.iter().copied());
            let hint = near.map(|near| format!(", did you mean \"{near}\"?"));
            Err(format!("there is no \"{metric}\"{of}{}", hint.unwrap_or_default()))
        }
    }
}

/// The place in a summary for a word of scenarios; any other name is its own place.
fn place_of(metric: &str) -> String {
    let name = named::spelling(metric);
    let outcome = name.strip_suffix("_jobs").filter(|_| Named::of(&name).is_some());
    // `bounded_slowdown` comes before its own ending `slowdown`.
    let distribution = ["waiting_time", "turnaround_time", "bounded_slowdown", "slowdown"];
    let of = |of: &&str| Some(format!("{of}.{}", name.strip_suffix(*of)?.strip_suffix('_')?));
    match (name.as_str(), outcome) {
        ("lost_work", _) => "lost_percent_of_work".to_owned(),
        (_, Some(outcome)) => format!("outcomes.{outcome}"),
        (named, _) if Named::of(named).is_some() => {
            distribution.iter().find_map(of).unwrap_or(name)
        }
        _ => metric.to_owned(),
    }
}

/// The group of this name in any list of groups.
fn member<'a>(values: &'a Json, name: &str) -> Result<&'a Json, String> {
    let lists =
        || values.as_object().into_iter().flat_map(|it| it.values()).filter_map(Json::as_array);
    let named = |item: &&Json| item["name"] == name;
    let known: Vec<&str> = lists().flatten().filter_map(|item| item["name"].as_str()).collect();
    lists().flatten().find(named).ok_or_else(|| {
        match unknown(&format!("there is no group \"{name}\""), name, &known) {
            Absent::Unknown(text) => text,
            cut @ Absent::Cut { .. } => cut.to_string(),
        }
    })
}

/// Follows a path from a place: keys, and names or numbers (from 0) of list members.
fn walk<'a>(place: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(place, |place, key| match place {
        Json::Array(items) => {
            let place = key.parse::<usize>().ok();
            let named = items.iter().find(|item| item["name"] == key);
            // The name of a member may be a number.
            named.or_else(|| items.get(place?))
        }
        place => place.get(key),
    })
}

fn keys(place: &Json) -> impl Iterator<Item = &str> {
    place.as_object().into_iter().flat_map(|it| it.keys().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick::CutAxis;

    fn data() -> Data {
        let mut data = Data::table("made-up", &["policy", "load"]);
        for (policy, wait) in [("fcfs", 10.0), ("easy", 5.0)] {
            for seed in [1, 2] {
                data.push(&[policy, "0.5"], seed, &[]);
                data.runs.last_mut().expect("pushed").values = json!({
                    "makespan": wait,
                    "utilisation": null,
                    "all": { "waiting_time": { "mean": wait + seed as f64, "max": 99 } },
                    "classes": [{ "name": "local", "waiting_time": { "mean": 1.5 } }],
                    "providers": [{ "name": "north", "outcomes": { "jobs": 3 } }],
                });
            }
        }
        data
    }

    fn value(metric: &str, group: Option<&str>, at: &[(&str, &str)]) -> Result<Vec<f64>, String> {
        let at = at.iter().map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()));
        let sample = data().sample(metric, group, &at.collect());
        sample.map(|it| it.values().to_vec()).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_found_by_word_and_by_path() {
        let fcfs = [("policy", "fcfs")];
        for metric in ["mean-waiting-time", "waiting_time.mean", "waiting_time", "all.waiting_time"]
        {
            assert_eq!(value(metric, None, &fcfs), Ok(vec![11.0, 12.0]), "{metric}");
        }
        assert_eq!(value("makespan", Some("global"), &fcfs), Ok(vec![10.0, 10.0]));
        assert_eq!(value("mean-waiting-time", Some("local"), &fcfs), Ok(vec![1.5, 1.5]));
        assert_eq!(value("outcomes.jobs", Some("north"), &fcfs), Ok(vec![3.0, 3.0]));
        assert_eq!(value("classes.local.waiting_time", None, &fcfs), Ok(vec![1.5, 1.5]));
        assert_eq!(
            value("makespan", None, &[("policy", "easy"), ("load", ".50")]),
            Ok(vec![5.0; 2])
        );
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let problem = |metric, group, at| value(metric, group, at).unwrap_err();
        let fcfs = [("policy", "fcfs")];
        insta::assert_snapshot!(problem("makespam", None, &fcfs), @r#"there is no "makespam", did you mean "makespan"? in made-up (policy fcfs, load 0.5, seed 1)"#);
        insta::assert_snapshot!(problem("utilisation", None, &fcfs), @r#""utilisation" has no value in made-up (policy fcfs, load 0.5, seed 1)"#);
        insta::assert_snapshot!(problem("classes", None, &fcfs), @r#""classes" is not a number in made-up (policy fcfs, load 0.5, seed 1)"#);
        insta::assert_snapshot!(problem("waiting_time", Some("lokal"), &fcfs), @r#"there is no group "lokal": did you mean "local"? in made-up (policy fcfs, load 0.5, seed 1)"#);
        insta::assert_snapshot!(problem("makespan", None, &[("polcy", "fcfs")]), @r#"made-up has no axis "polcy": did you mean "policy"?"#);
        insta::assert_snapshot!(problem("makespan", None, &[("policy", "fifo")]), @"made-up has no policy = fifo: there is fcfs, easy");
        insta::assert_snapshot!(problem("makespan", None, &[]), @"say which policy is meant: made-up has fcfs, easy");
    }

    #[test]
    fn what_was_cut_is_told_from_what_never_was() {
        let mut data = data();
        data.cuts.axes.push(CutAxis {
            name: "load".to_owned(),
            left: 1,
            cut: vec!["0.9".to_owned()],
        });
        let at = [("policy", "fcfs"), ("load", "0.90")];
        let at = at.map(|(axis, value)| (axis.to_owned(), value.to_owned())).into();
        let error = data.sample("makespan", None, &at).unwrap_err();
        assert_eq!(error.to_string(), "it needs load = 0.90, which --quick leaves out");
    }
}
