//! Cells as bars, lines and points.

use haggle_plots::{
    BarChart, BarSeries, BoxChart, BoxSeries, BoxStyle, Figure as Drawing, Limits, LineAxis,
    LineChart, LineSeries, PanelCharts, Panels, ScatterChart, ScatterPoint, SweepPoint, YScale,
};

use super::{Named, Shown, graph};
use crate::catalogue::{self, DrawKind};
use haggle_experiment::figures::sweep::places;
use haggle_scenario::file::Whiskers;

/// All cells as one drawing: a chart, or panels of them.
pub(super) fn drawing(shown: &Shown<'_>) -> Drawing {
    let panels = shown.panels.iter().enumerate();
    let mut charts = match shown.draw.kind {
        DrawKind::Box | DrawKind::LetterValues => {
            PanelCharts::Boxes(panels.map(|it| boxes(shown, it)).collect())
        }
        DrawKind::Lines => PanelCharts::Lines(panels.map(|it| lines(shown, it)).collect()),
        DrawKind::Scatter => PanelCharts::Scatter(panels.map(|it| scatter(shown, it)).collect()),
        DrawKind::Graph => return graph::drawing(shown),
        DrawKind::Bars | DrawKind::Table | DrawKind::Run => {
            PanelCharts::Bars(panels.map(|it| bars(shown, it)).collect())
        }
    };
    let alone = shown.panels.len() == 1 && shown.panels[0].name.is_empty();
    let single = match &mut charts {
        PanelCharts::Bars(charts) if alone => charts.pop().map(Drawing::Bars),
        PanelCharts::Boxes(charts) if alone => charts.pop().map(Drawing::Boxes),
        PanelCharts::Lines(charts) if alone => charts.pop().map(Drawing::Lines),
        PanelCharts::Scatter(charts) if alone => charts.pop().map(Drawing::Scatter),
        _ => None,
    };
    single.unwrap_or_else(|| {
        let (title, own_scales) = (shown.whole_title(), shown.draw.own_scales);
        Drawing::Panels(Panels { title, charts, own_scales })
    })
}

/// The title of a panel, or of the figure if it has only one.
fn title(shown: &Shown<'_>, panel: &Named) -> String {
    if panel.name.is_empty() { shown.title.clone() } else { panel.name.clone() }
}

fn bars(shown: &Shown<'_>, (p, panel): (usize, &Named)) -> BarChart {
    let value = |s: usize, x: usize| {
        let cell = shown.cell(p, s, x)?;
        Some((cell.value.mean, shown.half(&cell.value)))
    };
    let series = shown.series.iter().enumerate().map(|(s, series)| BarSeries {
        name: series.name.clone(),
        values: (0..shown.x.len()).map(|x| value(s, x)).collect(),
    });
    BarChart {
        stacked: false,
        title: title(shown, panel),
        x_label: shown.x_label(),
        y_label: shown.y_label(panel),
        legend_label: shown.legend_label(),
        differences: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        categories: shown.x.iter().map(|x| x.name.clone()).collect(),
        series: series.collect(),
    }
}

fn boxes(shown: &Shown<'_>, (p, panel): (usize, &Named)) -> BoxChart {
    let values = |s, x| shown.cell(p, s, x).map_or_else(Vec::new, |cell| cell.values.clone());
    let series = shown.series.iter().enumerate().map(|(s, series)| BoxSeries {
        name: series.name.clone(),
        values: (0..shown.x.len()).map(|x| values(s, x)).collect(),
    });
    BoxChart {
        title: title(shown, panel),
        x_label: shown.x_label(),
        y_label: shown.y_label(panel),
        legend_label: shown.legend_label(),
        categories: shown.x.iter().map(|x| x.name.clone()).collect(),
        style: match (shown.draw.kind, shown.draw.whiskers.unwrap_or_default()) {
            (DrawKind::LetterValues, _) => BoxStyle::LetterValues,
            (_, Whiskers::Tukey) => BoxStyle::Tukey,
            (_, Whiskers::Range) => BoxStyle::Range,
        },
        reference: shown.draw.reference,
        y_limits: Limits::NONE,
        series: series.collect(),
    }
}

fn lines(shown: &Shown<'_>, (p, panel): (usize, &Named)) -> LineChart {
    let named = shown.x.iter().any(|x| x.part.name.is_some() || x.raw.is_none());
    let texts = || shown.x.iter().map(|x| x.raw.as_deref().unwrap_or(&x.name));
    let (x_axis, x_label, place) = places(texts(), shown.x_label());
    let x_axis = match named {
        true => LineAxis::Names(shown.x.iter().map(|x| x.name.clone()).collect()),
        false => x_axis,
    };
    // Names have no positions of their own, so they stand at equal distances.
    let place = |x: usize| if named { x as f64 } else { texts().nth(x).map_or(f64::NAN, &place) };
    let measured = shown.draw.measures_x();
    let point = |s: usize, x: usize| {
        let cell = shown.cell(p, s, x)?;
        let half_width = shown.half(&cell.value);
        let x = cell.across.as_ref().map_or_else(|| place(x), |across| across.mean);
        Some(SweepPoint { x, mean: cell.value.mean, half_width })
    };
    let series = shown.series.iter().enumerate().map(|(s, series)| LineSeries {
        name: series.name.clone(),
        points: (0..shown.x.len()).filter_map(|x| point(s, x)).collect(),
    });
    LineChart {
        title: title(shown, panel),
        x_label: if named || measured { shown.x_label() } else { x_label },
        y_label: shown.y_label(panel),
        legend_label: shown.legend_label(),
        x_axis: if measured { LineAxis::Numbers } else { x_axis },
        x_log: shown.draw.x_scale == catalogue::XScale::Log,
        y_scale: match shown.draw.y_scale {
            catalogue::YScale::Linear => YScale::Linear,
            catalogue::YScale::Log => YScale::Log,
            catalogue::YScale::LogTime => YScale::LogTime,
        },
        y_limits: Limits::NONE,
        differences: false,
        joins_names: true,
        band: shown.draw.band,
        series: series.collect(),
    }
}

fn scatter(shown: &Shown<'_>, (p, panel): (usize, &Named)) -> ScatterChart {
    let point = |(s, series): (usize, &Named)| {
        let cell = shown.cell(p, s, 0)?;
        let across = cell.across?;
        Some(ScatterPoint {
            name: series.name.clone(),
            x: (across.mean, shown.half(&across)),
            y: (cell.value.mean, shown.half(&cell.value)),
        })
    };
    ScatterChart {
        title: title(shown, panel),
        x_label: shown.x_label(),
        y_label: shown.y_label(panel),
        x_log: shown.draw.x_scale == catalogue::XScale::Log,
        points: shown.series.iter().enumerate().filter_map(point).collect(),
    }
}
