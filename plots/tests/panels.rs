//! Panels beside each other: what they share and what stands at each.

use haggle_plots::{
    BarChart, BarSeries, Figure, Limits, PanelCharts, Panels, PlotError, ScatterChart,
    ScatterPoint, Scene, YScale,
};

fn chart(title: &str, y_label: &str, values: [Option<f64>; 2]) -> BarChart {
    let bars = |name: &str, factor: f64| BarSeries {
        name: name.to_owned(),
        values: values.map(|value| value.map(|value| (value * factor, Some(1.0)))).to_vec(),
    };
    BarChart {
        stacked: false,
        title: title.to_owned(),
        x_label: "deadlines".to_owned(),
        y_label: y_label.to_owned(),
        legend_label: String::new(),
        differences: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        categories: ["relaxed", "tight"].map(str::to_owned).to_vec(),
        series: vec![bars("offers", 1.0), bars("slots", 1.5)],
    }
}

fn drawn(charts: Vec<BarChart>, own_scales: bool) -> Result<Scene, PlotError> {
    let charts = PanelCharts::Bars(charts);
    let panels = Panels { title: "Delays".to_owned(), charts, own_scales };
    let size = panels.size();
    Figure::Panels(panels).scene(size)
}

/// How often a text stands in the figure.
fn count(scene: &Scene, text: &str) -> usize {
    scene.texts().iter().filter(|(other, _)| *other == text).count()
}

fn two(label: &str) -> Vec<BarChart> {
    vec![
        chart("local", "delayed, %", [Some(1.0), Some(2.0)]),
        chart("external", label, [Some(40.0), Some(60.0)]),
    ]
}

#[test]
fn panels_that_measure_the_same_share_axis_label_and_legend() {
    let scene = drawn(two("delayed, %"), false).expect("there is data");
    for text in ["Delays", "local", "external", "offers", "slots", "delayed, %", "deadlines", "80"]
    {
        assert_eq!(count(&scene, text), 1, "{text}");
    }
    assert_eq!(count(&scene, "tight"), 2);
}

#[test]
fn panels_can_have_scales_of_their_own() {
    let scene = drawn(two("delayed, %"), true).expect("there is data");
    assert_eq!((count(&scene, "delayed, %"), count(&scene, "0")), (1, 2));
}

#[test]
fn panels_that_measure_something_else_say_so() {
    let scene = drawn(two("delay, h"), false).expect("there is data");
    assert_eq!((count(&scene, "delayed, %"), count(&scene, "delay, h")), (1, 1));
    assert_eq!(count(&scene, "0"), 2);
    assert_eq!(count(&scene, "offers"), 1);
}

#[test]
fn a_panel_without_data_keeps_its_place() {
    let mut charts = two("delayed, %");
    charts[0] = chart("local", "delayed, %", [None, None]);
    let scene = drawn(charts.clone(), false).expect("one panel has data");
    assert_eq!((count(&scene, "local"), count(&scene, "external")), (1, 1));
    charts[1] = charts[0].clone();
    let error = drawn(charts, false).expect_err("no panel has data").to_string();
    assert_eq!(error, "\"Delays\" cannot be drawn: no category has a value");
    assert!(drawn(Vec::new(), false).is_err());
}

#[test]
fn names_of_points_do_not_cover_each_other() {
    let points = (0..6).map(|i| ScatterPoint {
        name: format!("policy number {i}"),
        x: (10.0 + f64::from(i % 2), None),
        y: (5.0, None),
    });
    let figure = Figure::Scatter(ScatterChart {
        x_log: false,
        title: "Price".to_owned(),
        x_label: "items".to_owned(),
        y_label: "delay".to_owned(),
        points: points.collect(),
    });
    let scene = figure.scene(haggle_plots::Size::default()).expect("there is data");
    let names: Vec<[f64; 4]> = scene
        .texts()
        .into_iter()
        .filter(|(text, _)| text.starts_with("policy"))
        .map(|(_, edges)| edges)
        .collect();
    assert_eq!(names.len(), 6);
    for (i, a) in names.iter().enumerate() {
        for b in &names[i + 1..] {
            let apart = a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
            assert!(apart, "{a:?} {b:?}");
        }
    }
}
