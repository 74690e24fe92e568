//! `haggle compare`: the differences between two runs, or between two sweeps.

mod owners;
mod recorded;
mod sweep;
mod within;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::experiment::compare::owners::of_runs;
use crate::experiment::compare::{
    AttemptDifferences, Comparison, Impact, JobDifferences, JobPair, KeyDifference, MetricPair,
    compare, metrics_of_groups,
};
use crate::scenario::quantity::TimeSpan;
use clap::builder::StringValueParser;
use haggle_model::Span;
use haggle_results::metrics::named::spelling;
use serde_json::json;

pub(crate) use within::axis_value;

use super::plot::is_sweep;
use super::table::{alike, count, exact_seconds, lines, number, row};
use super::{Error, complete, open_run, print};
use crate::exit::Exit;

/// Compare two runs, two sweeps, the variants of one sweep, or a run and its log
///
/// Jobs are compared one by one if both runs had them with the same workload, number, submission, processors, request
/// and run time. Of sweeps, runs of one variant and seed are compared. All tables are read and checked against the
/// digest that was written with them. Exits with 0 if the common tables and the summary are the same, else with 1.
///
/// With --against, each other value of an axis of one sweep is compared with the given value, seed by seed. All
/// variants draw the same random numbers, so these differences are known more precisely than the means.
///
/// With --recorded, the starts of one run are compared with those in the log of its jobs. Jobs of one time wait in one
/// queue, so the intervals count blocks of time, not jobs, as independent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle compare runs/first runs/second  # exit code 1: they differ
  haggle compare runs/first runs/second --json | jq .jobs.earlier
  haggle compare sweeps/monday sweeps/tuesday --metric mean_waiting_time
  haggle compare sweeps/monday --against policy=easy  # policies that are better, and by how much
  haggle compare runs/of-log --recorded  # starts beside those in the log
  haggle compare runs/of-log --recorded --block 1d --json
  haggle compare runs/first runs/second --by user  # exit code 1: hours of each user")]
pub(crate) struct Args {
    /// Folder of the first run, or sweep
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Folder of the second run, or sweep
    #[arg(value_name = "B", required_unless_present_any = ["against", "recorded"])]
    b: Option<PathBuf>,
    /// Compare all other values of an axis of one sweep with this one
    #[arg(long, value_name = "AXIS=VALUE", value_parser = within::axis_value, conflicts_with = "b")]
    against: Option<(String, String)>,
    /// Compare the starts of one run with those in the log of its jobs
    #[arg(long, conflicts_with_all = ["b", "against", "metrics"])]
    recorded: bool,
    /// Length of the blocks of time that count as independent
    #[arg(long, value_name = "TIME", default_value = "1w")]
    block: TimeSpan,
    /// Sum up waiting times by this number of jobs, with intervals: hours that each user, group, queue or partition saved
    #[arg(long, value_name = "OWNER", conflicts_with = "against")]
    by: Option<owners::By>,
    /// Number of listed jobs, of those whose starts differ most
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    jobs: usize,
    /// Show this metric in place of the default ones: any of `runs.csv`, `aggregate.csv` and figures, such as
    /// class.external.mean_waiting_time; may be given several times
    #[arg(short, long = "metric", value_name = "METRIC", hide_possible_values = true,
        value_parser = complete::metrics(StringValueParser::new()))]
    metrics: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Compares.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if args.block.0 <= Span::ZERO {
        return Err(Error::Unfit {
            message: "a block of no time has no jobs".to_owned(),
            hint: "write --block with a time above 0, such as 1d or 1w".to_owned(),
        });
    }
    if args.recorded {
        return recorded::run(args);
    }
    let Some(b) = &args.b else { return within::run(args) };
    match (is_sweep(&args.a), is_sweep(b)) {
        (true, true) if args.by.is_some() => {
            return Err(Error::Unfit {
                message: "--by sums up the jobs of two runs, and these are sweeps".to_owned(),
                hint: "name two runs of them, or leave out --by".to_owned(),
            });
        }
        (true, true) => return sweep::run(args, b),
        (false, false) => {}
        (true, false) => return Err(a_run_of(&args.a)),
        (false, true) => return Err(a_run_of(b)),
    }
    let runs = (open_run(&args.a)?, open_run(b)?);
    let mut comparison = compare(&runs.0, &runs.1, args.jobs)?;
    if let Some(by) = args.by {
        comparison.owners =
            Some(of_runs((&runs.0, &runs.1), by.to_model(), args.block.0.as_secs_f64())?);
    }
    if !args.metrics.is_empty() {
        // Groups have too many metrics to be listed without a request.
        comparison.metrics.extend(metrics_of_groups(&runs.0, &runs.1)?);
        let asked = asked(&args.metrics, comparison.metrics.iter().map(|it| &*it.metric))?;
        comparison.metrics.retain(|it| asked.contains(&it.metric));
    }
    print(&if args.json {
        format!("{:#}\n", json!(comparison))
    } else {
        as_text(&args.a, b, &comparison, !args.metrics.is_empty())
    })?;
    Ok(if comparison.identical { Exit::Success } else { Exit::Differs })
}

/// Two folders as words of a shell.
pub(crate) fn words(a: &Path, b: &Path) -> String {
    let word = |path: &Path| crate::shell::quoted(&path.to_string_lossy());
    format!("{} {}", word(a), word(b))
}

/// The requested metrics, in the spelling of the results.
fn asked<'n>(
    metrics: &[String],
    known: impl Iterator<Item = &'n str> + Clone,
) -> Result<BTreeSet<String>, Error> {
    let found = |metric: &String| {
        let name = spelling(metric);
        let is_known = known.clone().any(|it| it == name);
        is_known.then_some(name).ok_or_else(|| Error::Unfit {
            message: format!("no metric \"{metric}\" in these runs"),
            hint: "metrics are the columns of runs.csv behind the axes, and the metrics of groups \
                   in aggregate.csv"
                .to_owned(),
        })
    };
    metrics.iter().map(found).collect()
}

/// The error for a comparison of a sweep with a run.
fn a_run_of(sweep: &Path) -> Error {
    Error::Unfit {
        message: format!("`{}` is a sweep, and the other folder is not", sweep.display()),
        hint: format!(
            "name one of its runs: `haggle show --runs {}` lists their folders",
            sweep.join("scenario.toml").display()
        ),
    }
}

fn as_text(a: &Path, b: &Path, comparison: &Comparison, are_asked: bool) -> String {
    let mut text = format!("A  {}\nB  {}\n\n", a.display(), b.display());
    text.push_str(&verdict(comparison));
    if !comparison.inputs.is_empty() {
        text.push_str(&format!("inputs with other contents: {}\n", comparison.inputs.join(", ")));
    }
    text.push('\n');
    // Of identical runs as well: different scenarios may have the same results.
    text.push_str(&scenarios(comparison.scenario.as_deref()));
    // Equal tables have neither metrics nor jobs that differ.
    if comparison.identical {
        return text;
    }
    // Requested metrics are printed even if they are the same.
    if are_asked || comparison.metrics.iter().any(|it| it.a != it.b) {
        let mut rows = vec![row(["metric", "A", "B", "B - A", "%"])];
        rows.extend(comparison.metrics.iter().map(metric_row));
        text.push_str(&format!("\n{}", lines(&rows, &[0])));
    } else {
        text.push_str(&format!("\nall {} metrics are the same\n", comparison.metrics.len()));
    }
    text.push_str(&format!("\n{}", jobs(&comparison.jobs, comparison.seeds, &comparison.impact)));
    text.push_str(&attempts(&comparison.attempts));
    if let Some(waits) = &comparison.owners {
        text.push_str(&owners::as_text(waits, ["A", "B", "B - A"]));
    }
    text
}

/// Differences between the scenarios.
fn scenarios(keys: Option<&[KeyDifference]>) -> String {
    match keys {
        None => "the scenarios are not the same; their keys are not compared, for a folder has no \
                 scenario.toml\n"
            .to_owned(),
        Some([]) => "the scenarios are the same\n".to_owned(),
        Some(keys) => {
            let absent = || "-".to_owned();
            let mut rows = vec![row(["scenario", "A", "B"])];
            rows.extend(keys.iter().map(|key| {
                let (a, b) = (key.a.clone(), key.b.clone());
                vec![key.key.clone(), a.unwrap_or_else(absent), b.unwrap_or_else(absent)]
            }));
            lines(&rows, &[0, 1, 2])
        }
    }
}

fn verdict(comparison: &Comparison) -> String {
    let mut text = changed(&comparison.changed_a, &comparison.changed_b);
    text.push_str(&match comparison.identical {
        true if comparison.tables_of_one.is_empty() => {
            "identical: all tables and the summary are the same\n".to_owned()
        }
        true => "identical: the common tables and the summary are the same\n".to_owned(),
        // Their digests differ, but the tables were changed in the same way.
        false if comparison.tables.is_empty() && !text.is_empty() => {
            "both have the same tables now\n".to_owned()
        }
        false if comparison.tables.is_empty() => {
            "different summaries of the same tables\n".to_owned()
        }
        false => format!("different: {}\n", comparison.tables.join(", ")),
    });
    if !comparison.reordered.is_empty() {
        let tables = comparison.reordered.join(", ");
        text.push_str(&format!("same rows in another order: {tables}\n"));
    }
    if !comparison.tables_of_one.is_empty() {
        text.push_str(&format!("only one has {}\n", comparison.tables_of_one.join(", ")));
    }
    text
}

/// Tables that were changed after their run.
fn changed(a: &[String], b: &[String]) -> String {
    let mut text = String::new();
    for (side, tables) in [("A", a), ("B", b)] {
        if !tables.is_empty() {
            text.push_str(&format!(
                "{side} was changed after its run: {} not as in provenance.json\n",
                tables.join(", ")
            ));
        }
    }
    text
}

fn metric_row(pair: &MetricPair) -> Vec<String> {
    let percent = match pair.share() {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(share) => format!("{:+.2}", share * 100.0),
    };
    // In one form, so that A, B and their difference can be compared by eye.
    let [a, b, difference] = alike([pair.a, pair.b, pair.difference()]);
    vec![pair.metric.clone(), a, b, signed(pair.difference(), difference), percent]
}

/// A difference with its sign; `written` is its text without one.
fn signed(value: Option<f64>, written: String) -> String {
    match value {
        Some(value) if value > 0.0 => format!("+{written}"),
        _ => written,
    }
}

/// Half the width of a confidence interval; `written` is its text.
fn width(half: Option<f64>, written: String) -> String {
    half.map_or(written.clone(), |_| format!("± {written}"))
}

fn jobs(jobs: &JobDifferences, seeds: (u64, u64), impact: &Impact) -> String {
    let (starts, mut text) = (&jobs.starts, other_jobs(jobs, seeds));
    // If all jobs are others, a line of zeros would say nothing.
    if starts.in_both > 0 || jobs.other == 0 {
        text.push_str(&format!(
            "{} in both: {} started earlier in B, {} later, {} at the same time\n",
            count(starts.in_both, "job"),
            starts.earlier,
            starts.later,
            starts.same
        ));
    }
    for (number, what) in [
        (starts.started_only_in_a, "of them started only in A"),
        (starts.started_only_in_b, "of them started only in B"),
        (starts.started_in_neither, "of them started in neither"),
        (starts.other_provider, "of them went to another provider"),
    ] {
        if number > 0 {
            text.push_str(&format!("{number} {what}\n"));
        }
    }
    for (number, side) in [(jobs.only_in_a, "A"), (jobs.only_in_b, "B")] {
        if number > 0 {
            text.push_str(&format!("{} only in {side}\n", count(number, "other job")));
        }
    }
    for change in &jobs.outcomes {
        text.push_str(&format!(
            "{}: {} in A, {} in B\n",
            count(change.jobs, "job"),
            change.a,
            change.b
        ));
    }
    if impact.impacted > 0 {
        text.push_str(&format!(
            "{} ended in both; {} ended at another time in B ({} earlier, {} later), with a mean turnaround time \
             {} times that in A\n",
            count(impact.jobs as usize, "job"),
            impact.impacted,
            impact.earlier,
            impact.impacted - impact.earlier,
            number(impact.response_ratio())
        ));
    }
    if !jobs.largest.is_empty() {
        let mut rows = vec![row([
            "largest differences",
            "processors",
            "start in A, s",
            "start in B, s",
            "B - A, s",
            "provider",
        ])];
        rows.extend(jobs.largest.iter().map(job_row));
        text.push_str(&format!("\n{}", lines(&rows, &[0, 5])));
    }
    text
}

/// Jobs with one number that are not the same. Random numbers differ from seed to seed.
fn other_jobs(jobs: &JobDifferences, (a, b): (u64, u64)) -> String {
    if jobs.other == 0 {
        return String::new();
    }
    let mut text = format!(
        "{} with the same number in both, but another submission, width, request or run time\n",
        count(jobs.other, "job")
    );
    for pair in &jobs.workloads {
        let (workload, all) = (&pair.workload, pair.same + pair.other);
        text.push_str(&format!("  {workload}: {} of {all} are the same\n", pair.same));
    }
    if a != b {
        text.push_str(&format!(
            "  the seeds are {a} and {b}, so the draws of workloads differ: only the metrics \
             above\n  \
             compare the runs as a whole\n"
        ));
    }
    text
}

/// How attempts ended.
fn attempts(attempts: &AttemptDifferences) -> String {
    // Sums may agree although single jobs had more attempts, or fewer.
    if attempts.outcomes.iter().all(|it| it.a == it.b) && attempts.more + attempts.fewer == 0 {
        return String::new();
    }
    let mut rows = vec![row(["attempts", "A", "B"])];
    rows.extend(
        attempts
            .outcomes
            .iter()
            .map(|it| vec![it.outcome.replace('_', " "), it.a.to_string(), it.b.to_string()]),
    );
    let mut text = format!("\n{}", lines(&rows, &[0]));
    for (number, what) in [(attempts.more, "more"), (attempts.fewer, "fewer")] {
        if number > 0 {
            text.push_str(&format!("{} had {what} of them in B\n", count(number, "job")));
        }
    }
    text
}

fn job_row(pair: &JobPair) -> Vec<String> {
    let name = |provider: &Option<String>| provider.clone().unwrap_or_else(|| "-".to_owned());
    let (a, b) = (name(&pair.provider_a), name(&pair.provider_b));
    let later = pair.later();
    vec![
        format!("{}!{}", pair.workload, pair.job_id),
        pair.processors.to_string(),
        exact_seconds(pair.start_a),
        exact_seconds(pair.start_b),
        format!("{}{}", if later > 0.0 { "+" } else { "" }, exact_seconds(later)),
        if a == b { a } else { format!("{a} -> {b}") },
    ]
}
