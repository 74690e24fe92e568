//! Two sweeps, run by run.

use std::collections::BTreeSet;
use std::path::Path;

use crate::command::own_rules;
use crate::experiment::compare::sweep::{SweepComparison, VariantMetric, compare_sweeps};
use crate::experiment::sweep::USUAL;
use crate::scenario::{Experiment, Logs, Source};
use serde_json::json;

use super::{Args, asked, changed, signed, width};
use crate::commands::table::{alike, count, lines, row};
use crate::commands::{Error, print};
use crate::exit::Exit;

/// Compares two sweeps.
pub(super) fn run(args: &Args, other: &Path) -> Result<Exit, Error> {
    let (a, b) = (experiment(&args.a)?, experiment(other)?);
    let comparison = compare_sweeps((&a, &args.a), (&b, other))?;
    // Without common runs, every requested metric would be called unknown.
    let asked = match comparison.runs.is_empty() {
        true => BTreeSet::new(),
        false => asked(&args.metrics, comparison.metrics.iter().map(|it| &*it.metric))?,
    };
    print(&if args.json {
        format!("{:#}\n", json!(comparison))
    } else {
        as_text(args, other, &comparison, &asked)
    })?;
    Ok(if comparison.identical { Exit::Success } else { Exit::Differs })
}

/// The sweep whose results are in a folder.
pub(super) fn experiment(folder: &Path) -> Result<Experiment, Error> {
    let source = Source::read(&folder.join("scenario.toml"))?;
    Ok(Experiment::read_with(source, Logs::Ignore, own_rules())?)
}

fn as_text(
    args: &Args,
    other: &Path,
    comparison: &SweepComparison,
    asked: &BTreeSet<String>,
) -> String {
    let runs = &comparison.runs;
    let same = runs.iter().filter(|it| it.identical).count();
    let mut text = format!(
        "A  {}\nB  {}\n\n{} in both: {same} identical, {} different\n",
        args.a.display(),
        other.display(),
        count(runs.len(), "run"),
        runs.len() - same
    );
    for (side, only) in [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)] {
        if !only.is_empty() {
            text.push_str(&format!("{} only in {side}\n", count(only.len(), "run")));
            text.extend(only.iter().map(|folder| format!("  {folder}\n")));
        }
    }
    for it in runs {
        let changed = changed(&it.changed.0, &it.changed.1);
        text.extend(changed.lines().map(|line| format!("{}: {line}\n", it.folder)));
    }
    let shown = |it: &&VariantMetric| match asked.is_empty() {
        true => USUAL.contains(&it.metric.as_str()),
        false => asked.contains(&it.metric),
    };
    let mut rows = vec![row(["variant", "metric", "seeds", "A", "B", "B - A", "95 % of it"])];
    rows.extend(comparison.metrics.iter().filter(shown).map(metric_row));
    // If all runs are identical, so are their means.
    if same < runs.len() && rows.len() > 1 {
        text.push_str(&format!("\nmeans, and differences seed by seed\n{}", lines(&rows, &[0, 1])));
    }
    text
}

fn metric_row(it: &VariantMetric) -> Vec<String> {
    let (difference, half) = (it.difference.mean, it.difference.half_width);
    let [a, b, written, half_written] = alike([Some(it.a), Some(it.b), Some(difference), half]);
    vec![
        it.variant.clone(),
        it.metric.clone(),
        it.difference.n.to_string(),
        a,
        b,
        signed(Some(difference), written),
        width(half, half_written),
    ]
}
