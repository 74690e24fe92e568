//! Cells as CSV, and as the rows of a table.

use haggle_results::metrics::percentile;
use haggle_results::stats::Estimate;

use super::{Shown, Spread};
use crate::catalogue::DrawKind;
use haggle_script::quantity::number;

/// The CSV file: a row for each cell, in full precision.
pub(super) fn csv(shown: &Shown<'_>) -> String {
    let scatter = shown.draw.kind == DrawKind::Scatter;
    let head: &[&str] = match (scatter, shown.draw.measures_x()) {
        (true, _) => {
            &["panel", "series", "n", "x_mean", "x_std", "x_ci95", "y_mean", "y_std", "y_ci95"]
        }
        (_, true) => {
            &["panel", "series", "x", "n", "x_mean", "x_std", "x_ci95", "mean", "std", "ci95"]
        }
        _ if shown.draw.shows_spread() => &[
            "panel", "series", "x", "n", "mean", "std", "ci95", "min", "q1", "median", "q3", "max",
        ],
        _ => &["panel", "series", "x", "n", "mean", "std", "ci95"],
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(head).expect("writing to memory cannot fail");
    for cell in &shown.cells {
        let mut row =
            vec![shown.panels[cell.panel].name.clone(), shown.series[cell.series].name.clone()];
        if !scatter {
            row.push(shown.x[cell.x].name.clone());
        }
        row.push(cell.value.n.to_string());
        if let Some(across) = &cell.across {
            row.extend(numbers(across));
        }
        row.extend(numbers(&cell.value));
        if shown.draw.shows_spread() {
            let mut sorted = cell.values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| percentile(&sorted, share));
            row.extend(quantiles.map(optional));
        }
        writer.write_record(&row).expect("every row has a cell for each column");
    }
    let bytes = writer.into_inner().expect("flushing to memory cannot fail");
    String::from_utf8(bytes).expect("made of strings")
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, |it| format!("{it:?}"))
}

fn numbers(estimate: &Estimate) -> [String; 3] {
    [format!("{:?}", estimate.mean), optional(estimate.std), optional(estimate.half_width)]
}

/// A table for readers: a row for each x, below its panel's name if there are several panels.
pub(super) fn rows(shown: &Shown<'_>) -> Vec<Vec<String>> {
    let mut head = vec![shown.x_label()];
    head.extend(shown.series.iter().map(|series| match series.name.as_str() {
        "" => shown.draw.label.clone().unwrap_or_else(|| "mean".to_owned()),
        name => name.to_owned(),
    }));
    let mut rows = vec![head];
    for (p, panel) in shown.panels.iter().enumerate() {
        if !panel.name.is_empty() {
            rows.push(vec![panel.name.clone()]);
        }
        for (i, x) in shown.x.iter().enumerate() {
            let cells = (0..shown.series.len()).map(|s| match shown.cell(p, s, i) {
                Some(cell) => text(&cell.value, shown.draw.bars),
                None => "-".to_owned(),
            });
            rows.push(std::iter::once(x.name.clone()).chain(cells).collect());
        }
    }
    rows
}

fn text(estimate: &Estimate, spread: Spread) -> String {
    let half = match spread {
        Spread::Sd => estimate.std,
        Spread::Ci95 => estimate.half_width,
        Spread::None => None,
    };
    match half {
        Some(half) => format!("{} ± {}", number(estimate.mean), number(half)),
        None => number(estimate.mean),
    }
}
