//! Metrics by name. One entry has the name of a metric, its unit, its meaning and its place in a
//! summary. `runs.csv`, `aggregate.csv`, figures, comparisons and the manual are made from these
//! entries.
//!
//! Every other number in a summary is a metric, too, named by its place: `grid.done`, `deadlines.delayed`.

use serde::Serialize;
use serde_json::{Value, json};

use super::{FailureMetrics, GridWork, Group, Summary};
use crate::tables::JobTimes;

/// Unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// A share of 1.
    Share,
    /// Percent.
    Percent,
    /// A number of things, or a quotient.
    Number,
}

/// Scope of a metric, and the function that takes it from a summary.
#[derive(Clone, Copy)]
enum Source {
    /// For all jobs and for any group of them.
    Jobs(fn(&Group) -> Option<f64>),
    /// For a run as a whole.
    Run(fn(&Summary) -> Option<f64>),
    /// For a run as a whole, counted in its tables: a summary does not have it.
    Tables,
}

/// Value of each job, of which a metric is the mean or the median.
#[derive(Clone, Copy, Debug)]
pub struct OfEach {
    /// Its title in figures.
    pub title: &'static str,
    /// The value of a job, if it has one.
    pub value: fn(&JobTimes) -> Option<f64>,
}

/// A metric with a name of its own.
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// Its title in figures.
    pub title: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its definition.
    pub meaning: &'static str,
    /// The value of each job, if the distribution can be shown.
    pub of_each: Option<OfEach>,
    source: Source,
}

const fn jobs(
    name: &'static str,
    title: &'static str,
    unit: Unit,
    meaning: &'static str,
    value: fn(&Group) -> Option<f64>,
) -> Named {
    Named { name, title, unit, meaning, of_each: None, source: Source::Jobs(value) }
}

const fn run(
    name: &'static str,
    title: &'static str,
    unit: Unit,
    meaning: &'static str,
    value: fn(&Summary) -> Option<f64>,
) -> Named {
    Named { name, title, unit, meaning, of_each: None, source: Source::Run(value) }
}

use Unit::{Number, Percent, Seconds, Share};

const WAIT: &str = "start - submission";
const TURNAROUND: &str = "end - submission";
const SLOWDOWN: &str = "turnaround / run time";
const BOUNDED: &str = "max(1, turnaround / max(run time, T))";

const EACH_WAIT: OfEach = OfEach { title: "waiting time", value: |job| job.waiting_time };
const EACH_TURNAROUND: OfEach = OfEach {
    title: "turnaround time",
    value: |job| {
        let ended = !matches!(job.outcome.as_str(), "failed" | "unfinished");
        job.start.filter(|_| ended).map(|_| job.left - job.submit)
    },
};
const EACH_BOUNDED: OfEach =
    OfEach { title: "bounded slowdown", value: |job| job.bounded_slowdown };

/// All metrics with names, in the order of their columns in tables.
#[rustfmt::skip] // a table: one line an entry
pub const NAMED: &[Named] = &[
    run("makespan", "makespan", Seconds, "last end - first submission", |it| it.makespan),
    jobs("utilisation", "utilisation", Share, "Σ run time × processors / (processors × makespan)", |it| it.utilisation),
    jobs("utilisation_in_window", "utilisation in the window", Share, "utilisation between the ends of the cut, or over `window`", |it| it.utilisation_in_window),
    jobs("average_weighted_response_time", "average weighted response time", Seconds, "Σ w × turnaround / Σ w, w = run time × processors", |it| it.average_weighted_response_time),
    jobs("mean_waiting_time", "mean waiting time", Seconds, WAIT, |it| Some(it.waiting_time?.mean)).with(EACH_WAIT),
    jobs("median_waiting_time", "median waiting time", Seconds, WAIT, |it| Some(it.waiting_time?.median)).with(EACH_WAIT),
    jobs("p95_waiting_time", "95th percentile of waiting time", Seconds, WAIT, |it| Some(it.waiting_time?.p95)),
    jobs("max_waiting_time", "longest waiting time", Seconds, WAIT, |it| Some(it.waiting_time?.max)),
    jobs("mean_turnaround_time", "mean turnaround time", Seconds, TURNAROUND, |it| Some(it.turnaround_time?.mean)).with(EACH_TURNAROUND),
    jobs("median_turnaround_time", "median turnaround time", Seconds, TURNAROUND, |it| Some(it.turnaround_time?.median)).with(EACH_TURNAROUND),
    jobs("p95_turnaround_time", "95th percentile of turnaround time", Seconds, TURNAROUND, |it| Some(it.turnaround_time?.p95)),
    jobs("max_turnaround_time", "longest turnaround time", Seconds, TURNAROUND, |it| Some(it.turnaround_time?.max)),
    jobs("mean_slowdown", "mean slowdown", Number, SLOWDOWN, |it| Some(it.slowdown?.mean)),
    jobs("median_slowdown", "median slowdown", Number, SLOWDOWN, |it| Some(it.slowdown?.median)),
    jobs("p95_slowdown", "95th percentile of slowdown", Number, SLOWDOWN, |it| Some(it.slowdown?.p95)),
    jobs("max_slowdown", "largest slowdown", Number, SLOWDOWN, |it| Some(it.slowdown?.max)),
    jobs("mean_bounded_slowdown", "mean bounded slowdown", Number, BOUNDED, |it| Some(it.bounded_slowdown?.mean)).with(EACH_BOUNDED),
    jobs("median_bounded_slowdown", "median bounded slowdown", Number, BOUNDED, |it| Some(it.bounded_slowdown?.median)).with(EACH_BOUNDED),
    jobs("p95_bounded_slowdown", "95th percentile of bounded slowdown", Number, BOUNDED, |it| Some(it.bounded_slowdown?.p95)),
    jobs("max_bounded_slowdown", "largest bounded slowdown", Number, BOUNDED, |it| Some(it.bounded_slowdown?.max)),
    jobs("jobs", "jobs", Number, "all jobs", |it| count(it.outcomes.jobs)),
    jobs("completed_jobs", "completed jobs", Number, "jobs that ran to their end", |it| count(it.outcomes.completed)),
    jobs("walltime_reached_jobs", "jobs stopped at their limit", Number, "jobs that were stopped when their requested time was over", |it| count(it.outcomes.walltime_reached)),
    jobs("cancelled_jobs", "cancelled jobs", Number, "jobs that were withdrawn while they waited", |it| count(it.outcomes.cancelled)),
    jobs("failed_jobs", "failed jobs", Number, "jobs ended by failures without another attempt", |it| count(it.outcomes.failed)),
    jobs("rejected_jobs", "rejected jobs", Number, "jobs that were never queued", |it| count(it.outcomes.rejected)),
    jobs("unfinished_jobs", "unfinished jobs", Number, "jobs that ran or waited when the run stopped", |it| count(it.outcomes.running + it.outcomes.waiting)),
    jobs("promises_broken", "broken promises", Number, "completed jobs that ended later than their provider had promised", |it| count(it.outcomes.promises_broken)),
    run("useful_work", "useful work", Percent, "100 × work that ran to its end or limit / all work; all work = useful + lost + checkpoints + unfinished, on a grid useful + lost + duplicate + in progress", |it| match of_work(it)? {
        (Whose::Providers(it), all) => percent(it.work_useful, all),
        (Whose::Grid(it), all) => percent(it.useful, all),
    }),
    run("lost_work", "lost work", Percent, "100 × work lost by failures / all work", |it| match of_work(it)? {
        (Whose::Providers(it), all) => percent(it.work_lost, all),
        (Whose::Grid(it), all) => percent(it.lost, all),
    }),
    run("checkpoint_work", "work on checkpoints", Percent, "100 × processors × time of reading and writing checkpoints / all work; missing on a grid, where they take slot time and no work", |it| {
        let failures = it.failures.as_ref()?;
        percent(failures.work_checkpoints, failures.work)
    }),
    run("wasted_work", "wasted work", Percent, "lost_work + checkpoint_work", |it| {
        let failures = it.failures.as_ref()?;
        percent(failures.work_lost + failures.work_checkpoints, failures.work)
    }),
    run("wasted_hours", "wasted processor hours", Number, "wasted work in processors × hours: node hours where a processor is a node", |it| {
        let failures = it.failures.as_ref()?;
        Some((failures.work_lost + failures.work_checkpoints) / 3600.0)
    }),
    run("preempted_attempts", "preempted attempts", Number, "attempts that were stopped for other jobs", |it| count(it.preemptions?.attempts_preempted)),
    run("preempted_work", "preempted work", Percent, "100 × work of attempts that were stopped for other jobs / all work", |it| it.preemptions?.preempted_percent_of_work),
    run("availability", "availability", Share, "share of the time in which processors, or resources of a grid, were up", |it| match (&it.failures, &it.grid) {
        (Some(failures), _) => failures.availability,
        (None, grid) => grid.as_ref()?.availability,
    }),
    run("items_disclosed", "items disclosed", Number, "items disclosed about resources and plans", |it| count(it.items_disclosed)),
    Named { name: "messages", title: "messages", unit: Number, meaning: "messages between actors, in figures and claims only", of_each: None, source: Source::Tables },
];

/// Owner of the work.
enum Whose<'s> {
    Providers(&'s FailureMetrics),
    Grid(&'s GridWork),
}

/// The work of providers that may fail, otherwise of a grid, and all of it.
fn of_work(summary: &Summary) -> Option<(Whose<'_>, f64)> {
    match (&summary.failures, &summary.grid) {
        (Some(failures), _) => Some((Whose::Providers(failures), failures.work)),
        // Work on a grid is in other units, so both cannot be added.
        (None, Some(grid)) => Some((Whose::Grid(&grid.work), grid.work.total)),
        (None, None) => None,
    }
}

fn percent(part: f64, all: f64) -> Option<f64> {
    (all > 0.0).then(|| 100.0 * part / all)
}

fn count(count: u64) -> Option<f64> {
    Some(count as f64)
}

impl Named {
    /// The same metric with a value for each job.
    const fn with(self, of_each: OfEach) -> Named {
        Named { of_each: Some(of_each), ..self }
    }

    /// The metric of this name.
    pub fn of(name: &str) -> Option<&'static Named> {
        NAMED.iter().find(|it| it.name == name)
    }

    /// True if it exists for the whole run only, not for groups of jobs.
    pub const fn is_whole(&self) -> bool {
        !matches!(self.source, Source::Jobs(_))
    }
}

/// Parts of a group whose metrics are named by their place.
const OF_JOBS: [&str; 6] =
    ["deadlines", "reservations", "recorded", "as_recorded", "bags", "coallocated"];

/// Parts of a summary whose metrics are named by their place.
const OF_RUNS: [&str; 12] = [
    "failures",
    "moves",
    "transactions",
    "grid",
    "maintenance",
    "nodes",
    "given_back",
    "disclosed",
    "eavesdropping",
    "message_faults",
    "plans",
    "workflows",
];

/// Kinds of groups in the names of metrics: `provider.north.mean_waiting_time`.
pub const GROUPINGS: [&str; 4] = ["provider", "class", "workload", "user"];

/// The kind of group, the group and its metric, if a name is that of a group's metric.
pub fn of_which_group(name: &str) -> Option<(&str, &str, &str)> {
    let (grouping, rest) = name.split_once('.')?;
    let (group, metric) = rest.split_once('.')?;
    GROUPINGS.contains(&grouping).then_some((grouping, group, metric))
}

/// The canonical spelling of a name, even if there is no such metric: hyphens become underscores, and
/// `waiting_time.mean` becomes `mean_waiting_time`. The name of a group stays as it is.
pub fn spelling(name: &str) -> String {
    if let Some((grouping, group, metric)) = of_which_group(name) {
        return format!("{grouping}.{group}.{}", spelling(metric));
    }
    // Only now: a group's name may have hyphens of its own.
    let name = name.replace('-', "_");
    let turned = name.split_once('.').map(|(of, statistic)| format!("{statistic}_{of}"));
    turned.filter(|it| Named::of(it).is_some()).unwrap_or(name)
}

/// True if a name in canonical spelling may be that of a metric. The places that a summary has are
/// known only when its run is over.
pub fn may_be(name: &str) -> bool {
    if Named::of(name).is_some() {
        return true;
    }
    let Some((first, rest)) = name.split_once('.') else { return false };
    if GROUPINGS.contains(&first) {
        return rest.split_once('.').is_some_and(|(_, metric)| may_be_of_jobs(metric));
    }
    OF_RUNS.contains(&first) || OF_JOBS.contains(&first) || first == "impact"
}

/// True if groups of jobs may have a metric of this name.
pub fn may_be_of_jobs(name: &str) -> bool {
    let part = name.split_once('.').map(|(part, _)| part);
    match Named::of(name) {
        Some(named) => !named.is_whole(),
        None => part.is_some_and(|part| OF_JOBS.contains(&part)),
    }
}

/// All metrics of a run that its summary has, with their names.
pub fn of_run(summary: &Summary) -> Vec<(String, f64)> {
    let own = NAMED.iter().filter_map(|it| {
        let value = match it.source {
            Source::Jobs(value) => value(&summary.all),
            Source::Run(value) => value(summary),
            Source::Tables => None,
        };
        Some((it.name.to_owned(), value?))
    });
    let mut metrics: Vec<(String, f64)> = own.collect();
    push_parts(&summary.all, &OF_JOBS, &mut metrics);
    push_parts(summary, &OF_RUNS, &mut metrics);
    metrics
}

impl Summary {
    /// A metric of a run by its name, such as `mean_waiting_time` or
    /// `provider.north.mean_waiting_time`, in its own unit. `None` if there is no such metric, or this
    /// run has no value of it.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let name = spelling(name);
        of_run(self).into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// All metrics of some of a run's jobs.
pub fn of_group(group: &Group) -> Vec<(String, f64)> {
    let own = NAMED.iter().filter_map(|it| match it.source {
        Source::Jobs(value) => Some((it.name.to_owned(), value(group)?)),
        Source::Run(_) | Source::Tables => None,
    });
    let mut metrics: Vec<(String, f64)> = own.collect();
    push_parts(group, &OF_JOBS, &mut metrics);
    metrics
}

fn push_parts(of: &impl Serialize, parts: &[&str], metrics: &mut Vec<(String, f64)>) {
    let of = json!(of);
    for part in parts {
        push_numbers(part, &of[part], metrics);
    }
}

/// All numbers below a place in a summary. Members of lists are left out: their names are drawn, and
/// differ from run to run.
fn push_numbers(path: &str, place: &Value, numbers: &mut Vec<(String, f64)>) {
    // A value that a run does not have is null, and gives no metric.
    if let Some(number) = place.as_f64() {
        numbers.push((path.to_owned(), number));
    }
    for (key, value) in place.as_object().into_iter().flatten() {
        push_numbers(&format!("{path}.{key}"), value, numbers);
    }
}

/// Title in figures and unit of a metric.
pub fn title_and_unit(name: &str) -> (String, Unit) {
    if let Some(named) = Named::of(name) {
        return (named.title.to_owned(), named.unit);
    }
    if let Some((_, group, metric)) = of_which_group(name) {
        let (title, unit) = title_and_unit(metric);
        return (format!("{title} of {group}"), unit);
    }
    // Metrics without an entry here have `percent` in their names if they are in percent.
    let unit = if name.contains("percent") { Percent } else { Number };
    (name.to_owned(), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_one_spelling() {
        for name in ["mean-waiting-time", "mean_waiting_time", "waiting_time.mean"] {
            assert_eq!(spelling(name), "mean_waiting_time");
        }
        assert_eq!(
            spelling("provider.north-1.waiting_time.p95"),
            "provider.north-1.p95_waiting_time"
        );
        assert_eq!(spelling("grid.mean_wait"), "grid.mean_wait");
    }

    #[test]
    fn groups_have_what_jobs_have() {
        assert!(may_be("class.local.deadlines.delayed") && may_be("grid.done"));
        assert!(!may_be("class.local.makespan") && !may_be("mean_wait") && !may_be("grd.done"));
        assert!(may_be_of_jobs("utilisation") && !may_be_of_jobs("grid.done"));
    }

    #[test]
    fn names_are_there_once() {
        for (i, it) in NAMED.iter().enumerate() {
            assert!(NAMED[..i].iter().all(|other| other.name != it.name), "{}", it.name);
            assert_eq!(spelling(it.name), it.name);
        }
    }
}
