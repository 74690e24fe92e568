//! One sweep: who beats whom, and by how much.

use haggle::experiment::compare::within::{AgainstError, AgainstRow, compare_within};
use serde_json::json;

use super::Args;
use super::sweep::{SHOWN, experiment, signed, width};
use crate::commands::plot::is_sweep;
use crate::commands::table::{lines, number};
use crate::commands::{Error, print};
use crate::exit::Exit;

/// An axis and one of its values, as typed.
pub(super) fn axis_value(text: &str) -> Result<(String, String), String> {
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
            hint: format!("`haggle show --runs {}` lists its runs", args.a.display()),
        },
    })?;
    let asked = |row: &AgainstRow| match args.metrics.is_empty() {
        true => args.json || SHOWN.contains(&row.metric.as_str()),
        false => args.metrics.contains(&row.metric),
    };
    if let Some(metric) = args.metrics.iter().find(|it| !rows.iter().any(|row| row.metric == **it))
    {
        return Err(Error::Unfit {
            message: format!("no metric \"{metric}\" in these runs"),
            hint: "metrics are the columns of runs.csv behind the axes".to_owned(),
        });
    }
    rows.retain(asked);
    print(&if args.json { format!("{:#}\n", json!(rows)) } else { as_text(axis, value, &rows) })?;
    Ok(Exit::Success)
}

fn as_text(axis: &str, value: &str, rows: &[AgainstRow]) -> String {
    let mut table = Vec::new();
    for row in rows {
        if table.is_empty() {
            let axes = row.point.iter().map(|(axis, _)| axis.clone());
            let rest = [
                "metric",
                axis,
                "seeds",
                value,
                "mean",
                "difference",
                "95 % of it",
                "lower",
                "higher",
            ];
            table.push(axes.chain(rest.map(str::to_owned)).collect());
        }
        let point = row.point.iter().map(|(_, value)| value.clone());
        let rest = [
            row.metric.clone(),
            row.variant.clone(),
            row.difference.n.to_string(),
            number(row.base),
            number(row.mean),
            signed(row.difference.mean),
            width(row.difference.half_width),
            row.lower.to_string(),
            row.higher.to_string(),
        ];
        table.push(point.chain(rest).collect());
    }
    let left: Vec<usize> = (0..rows.first().map_or(0, |row| row.point.len()) + 2).collect();
    format!("against {axis} = {value}, seed by seed\n{}", lines(&table, &left))
}
