//! `haggle compare`: what differs between two runs.

use std::path::PathBuf;

use haggle::experiment::compare::{Comparison, JobDifferences, JobPair, MetricPair, compare};
use serde_json::json;

use super::table::{count, lines, number, row, seconds};
use super::{Error, open_run, print};
use crate::exit::Exit;

/// Compare two runs: their scenarios, their metrics and when each job started
///
/// Exits with 0 if the tables that both have and the summary are the same, else with 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle compare runs/first runs/second  # exit code 1: they differ
  haggle compare runs/first runs/second --json | jq .jobs.earlier")]
pub(crate) struct Args {
    /// Folder of the first run
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Folder of the second run
    #[arg(value_name = "B")]
    b: PathBuf,
    /// How many of the jobs whose starts differ most are listed
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    jobs: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Compares.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let (a, b) = (open_run(&args.a)?, open_run(&args.b)?);
    let comparison = compare(&a, &b, args.jobs)?;
    print(&if args.json {
        format!("{:#}\n", json!(comparison))
    } else {
        as_text(args, &comparison)
    })?;
    Ok(if comparison.identical { Exit::Success } else { Exit::Differs })
}

fn as_text(args: &Args, comparison: &Comparison) -> String {
    let mut text = format!("A  {}\nB  {}\n\n", args.a.display(), args.b.display());
    text.push_str(&verdict(comparison));
    if !comparison.inputs.is_empty() {
        text.push_str(&format!("other contents of {}\n", comparison.inputs.join(", ")));
    }
    if comparison.scenario.is_empty() {
        text.push_str("\nthe scenarios are the same\n");
    } else {
        let absent = || "-".to_owned();
        let mut rows = vec![row(["scenario", "A", "B"])];
        for key in &comparison.scenario {
            let (a, b) = (key.a.clone(), key.b.clone());
            rows.push(vec![key.key.clone(), a.unwrap_or_else(absent), b.unwrap_or_else(absent)]);
        }
        text.push_str(&format!("\n{}", lines(&rows, &[0, 1, 2])));
    }
    if comparison.identical {
        return text;
    }
    let mut rows = vec![row(["metric", "A", "B", "B - A", "%"])];
    rows.extend(comparison.metrics.iter().map(metric_row));
    text.push_str(&format!("\n{}", lines(&rows, &[0])));
    text.push_str(&format!("\n{}", jobs(&comparison.jobs)));
    text
}

fn verdict(comparison: &Comparison) -> String {
    let mut text = match comparison.identical {
        true if comparison.tables_of_one.is_empty() => {
            "identical: all tables and the summary are the same\n".to_owned()
        }
        true => "identical: the tables that both have and the summary are the same\n".to_owned(),
        false if comparison.tables.is_empty() => {
            "different summaries of the same tables\n".to_owned()
        }
        false => format!("different: {}\n", comparison.tables.join(", ")),
    };
    if !comparison.tables_of_one.is_empty() {
        text.push_str(&format!("only one has {}\n", comparison.tables_of_one.join(", ")));
    }
    text
}

fn metric_row(pair: &MetricPair) -> Vec<String> {
    let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
    let signed = |value: Option<f64>| match value {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(value) if value > 0.0 => format!("+{}", number(value)),
        Some(value) => number(value),
    };
    let percent = match pair.share() {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(share) => format!("{:+.2}", share * 100.0),
    };
    vec![
        pair.metric.clone(),
        optional(pair.a),
        optional(pair.b),
        signed(pair.difference()),
        percent,
    ]
}

fn jobs(jobs: &JobDifferences) -> String {
    let mut text = format!(
        "{} in both: {} start earlier in B, {} later, {} at the same time\n",
        count(jobs.in_both, "job"),
        jobs.earlier,
        jobs.later,
        jobs.same
    );
    let moved = jobs.started_in_neither;
    for (number, what) in [
        (jobs.started_only_in_a, "of them started only in A"),
        (jobs.started_only_in_b, "of them started only in B"),
        (moved, "of them started in neither"),
        (jobs.other_provider, "of them went to another provider"),
        (jobs.only_in_a, "others are only in A"),
        (jobs.only_in_b, "others are only in B"),
    ] {
        if number > 0 {
            text.push_str(&format!("{number} {what}\n"));
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

fn job_row(pair: &JobPair) -> Vec<String> {
    let name = |provider: &Option<String>| provider.clone().unwrap_or_else(|| "-".to_owned());
    let (a, b) = (name(&pair.provider_a), name(&pair.provider_b));
    let later = pair.later();
    vec![
        format!("{}!{}", pair.workload, pair.job_id),
        pair.processors.to_string(),
        seconds(pair.start_a),
        seconds(pair.start_b),
        format!("{}{}", if later > 0.0 { "+" } else { "" }, seconds(later)),
        if a == b { a } else { format!("{a} -> {b}") },
    ]
}
