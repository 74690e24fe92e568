//! One sweep: its variants against one of them.

use std::collections::BTreeSet;

use crate::experiment::compare::within::{AgainstError, AgainstRow, compare_within};
use crate::experiment::sweep::USUAL;
use serde_json::json;

use super::sweep::experiment;
use super::{Args, asked, signed, width};
use crate::commands::plot::is_sweep;
use crate::commands::table::{alike, lines};
use crate::commands::{Error, print};
use crate::exit::Exit;

/// An axis and one of its values, from an argument.
pub(crate) fn axis_value(text: &str) -> Result<(String, String), String> {
    let Some((axis, value)) = text.split_once('=') else {
        return Err("write AXIS=VALUE, such as policy=easy".to_owned());
    };
    Ok((axis.trim().to_owned(), value.trim().to_owned()))
}

/// Compares the variants of a sweep with one of them.
pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let Some((axis, value)) = &args.against else {
        unreachable!("a second folder is required without it")
    };
    if !is_sweep(&args.a) {
        return Err(Error::Unfit {
            message: format!("`{}` is no sweep", args.a.display()),
            hint: "--against compares the variants of a sweep: name the folder of one".to_owned(),
        });
    }
    let rows = compare_within(&experiment(&args.a)?, &args.a, axis, value);
    let mut rows = rows.map_err(|error| match error {
        AgainstError::Results(error) => Error::from(error),
        error => Error::Unfit {
            message: error.to_string(),
            hint: format!(
                "`haggle show --runs {}` lists its runs",
                args.a.join("scenario.toml").display()
            ),
        },
    })?;
    // Without rows, every requested metric would be called unknown.
    let asked = match rows.is_empty() {
        true => BTreeSet::new(),
        false => asked(&args.metrics, rows.iter().map(|it| &*it.metric))?,
    };
    rows.retain(|row| match asked.is_empty() {
        true => args.json || USUAL.contains(&row.metric.as_str()),
        false => asked.contains(&row.metric),
    });
    // Stable: points of one metric stay in the order of the sweep.
    rows.sort_by_key(|row| USUAL.iter().position(|metric| *metric == row.metric));
    print(&if args.json { format!("{:#}\n", json!(rows)) } else { as_text(axis, value, &rows) })?;
    Ok(Exit::Success)
}

fn as_text(axis: &str, value: &str, rows: &[AgainstRow]) -> String {
    let Some(first) = rows.first() else {
        return format!("no seed has runs of {axis} = {value} and of another value\n");
    };
    let axes = first.point.iter().map(|(axis, _)| axis.clone());
    let of_base = format!("of {value}");
    let rest = [axis, "seeds", "mean", &of_base, "difference", "95 % of it", "lower", "higher"];
    let heads = ["metric".to_owned()].into_iter().chain(axes).chain(rest.map(str::to_owned));
    let mut table = vec![heads.collect()];
    for row in rows {
        let point = row.point.iter().map(|(_, value)| value.clone());
        let (difference, half) = (row.difference.mean, row.difference.half_width);
        let [mean, base, written, half_written] =
            alike([Some(row.mean), Some(row.base), Some(difference), half]);
        let rest = [
            row.variant.clone(),
            row.difference.n.to_string(),
            mean,
            base,
            signed(Some(difference), written),
            width(half, half_written),
            row.lower.to_string(),
            row.higher.to_string(),
        ];
        table.push([row.metric.clone()].into_iter().chain(point).chain(rest).collect());
    }
    let left: Vec<usize> = (0..first.point.len() + 2).collect();
    format!(
        "against {axis} = {value}: differences seed by seed, and with how many seeds the value is lower and \
         higher\n\n{}",
        lines(&table, &left)
    )
}
