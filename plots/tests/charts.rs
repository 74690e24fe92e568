//! What charts of lines and bars do with numbers, shares and names.

use haggle_plots::scene::{Colour, Scene, Shape};
use haggle_plots::{
    BarChart, BarSeries, Figure, LineAxis, LineChart, LineSeries, Size, SweepPoint, YScale,
};

fn lines(x_axis: LineAxis) -> Scene {
    let line = |name: &str| LineSeries {
        name: name.to_owned(),
        points: [0.0, 1.0, 2.0]
            .map(|x| SweepPoint { x, mean: 3.0 + x, half_width: Some(1.0) })
            .to_vec(),
    };
    let chart = LineChart {
        title: "Waits".to_owned(),
        x_label: "load".to_owned(),
        y_label: "wait, s".to_owned(),
        legend_label: "policy".to_owned(),
        x_axis,
        x_log: false,
        y_scale: YScale::Linear,
        differences: false,
        band: false,
        series: ["easy", "fcfs"].map(line).to_vec(),
    };
    Figure::Lines(chart).scene(Size::default()).expect("there is data")
}

/// Upright lines in the colour of a series, at their x.
fn whiskers(scene: &Scene) -> Vec<f64> {
    let coloured = |Colour(red, green, blue): Colour| red != green || green != blue;
    let upright = |shape: &Shape| match shape {
        &Shape::Line { ref points, width: 2, colour } if coloured(colour) => match points[..] {
            [(a, top), (b, bottom)] if a == b && top != bottom => Some(a),
            _ => None,
        },
        _ => None,
    };
    scene.shapes.iter().filter_map(upright).collect()
}

#[test]
fn points_stand_over_their_numbers_and_beside_each_other_over_names() {
    let apart = |x_axis| {
        let mut found = whiskers(&lines(x_axis));
        found.sort_by(f64::total_cmp);
        found.dedup();
        found.len()
    };
    let names = ["low", "middle", "high"].map(str::to_owned).to_vec();
    // Two lines of three points.
    assert_eq!(apart(LineAxis::Names(names)), 6);
    assert_eq!(apart(LineAxis::Numbers), 3);
}

#[test]
fn lines_differ_by_dashes_and_marks_and_the_legend_has_a_label() {
    let scene = lines(LineAxis::Numbers);
    let dots = scene.shapes.iter().filter(|it| matches!(it, Shape::Dot { .. })).count();
    let areas = scene.shapes.iter().filter(|it| matches!(it, Shape::Area { .. })).count();
    // Three points, and one in the legend.
    assert_eq!((dots, areas), (4, 4));
    let strokes = |shape: &&Shape| matches!(shape, Shape::Line { width: 3, .. });
    assert!(scene.shapes.iter().filter(strokes).count() > 20, "the second line has gaps");
    assert!(scene.texts().iter().any(|(text, _)| *text == "policy"));
}

#[test]
fn parts_of_a_whole_end_at_100_percent() {
    let ticks = |y_label: &str, mean: f64, half: f64| {
        let chart = BarChart {
            title: "Work".to_owned(),
            x_label: "tasks".to_owned(),
            y_label: y_label.to_owned(),
            legend_label: String::new(),
            differences: false,
            categories: vec!["2".to_owned()],
            series: vec![BarSeries { name: String::new(), values: vec![Some((mean, Some(half)))] }],
        };
        let scene = Figure::Bars(chart).scene(Size::default()).expect("there is data");
        let numbers = scene.texts().into_iter().filter_map(|(text, _)| text.parse::<f64>().ok());
        numbers.fold(0.0, f64::max)
    };
    assert_eq!(ticks("of all work, %", 99.0, 3.0), 100.0);
    assert_eq!(ticks("change, %", 103.0, 3.0), 120.0, "some are above");
    assert_eq!(ticks("work, s", 99.0, 3.0), 120.0, "no shares");
    assert_eq!(ticks("work, s (95 % confidence interval)", 99.0, 3.0), 120.0, "no shares either");
}
