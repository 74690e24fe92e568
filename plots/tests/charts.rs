//! What charts of lines and bars do with numbers, shares and names.

use haggle_plots::scene::{Colour, Scene, Shape};
use haggle_plots::{
    BarChart, BarSeries, DistributionFigure, Figure, Limits, LineAxis, LineChart, LineSeries,
    Quantity, Sample, Size, SweepPoint, YScale,
};

fn lines(x_axis: LineAxis) -> Scene {
    Figure::Lines(line_chart(x_axis)).scene(Size::default()).expect("there is data")
}

fn line_chart(x_axis: LineAxis) -> LineChart {
    let line = |name: &str| LineSeries {
        name: name.to_owned(),
        points: [0.0, 1.0, 2.0]
            .map(|x| SweepPoint { x, mean: 3.0 + x, half_width: Some(1.0) })
            .to_vec(),
    };
    LineChart {
        title: "Waits".to_owned(),
        x_label: "load".to_owned(),
        y_label: "wait, s".to_owned(),
        legend_label: "policy".to_owned(),
        x_axis,
        x_log: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        differences: false,
        joins_names: false,
        band: false,
        series: ["easy", "fcfs"].map(line).to_vec(),
    }
}

/// The thick lines of a scene, which are those of series.
fn thick(scene: &Scene) -> Vec<Vec<(f64, f64)>> {
    let points = |shape: &Shape| match shape {
        Shape::Line { points, width: 3, .. } => Some(points.clone()),
        _ => None,
    };
    scene.shapes.iter().filter_map(points).collect()
}

#[test]
fn names_are_not_joined_by_a_line() {
    let names = ["low", "middle", "high"].map(str::to_owned).to_vec();
    assert!(thick(&lines(LineAxis::Names(names))).is_empty());
    assert!(!thick(&lines(LineAxis::Numbers)).is_empty());
}

#[test]
fn what_lies_beyond_the_ends_that_were_chosen_is_not_drawn() {
    let dots =
        |scene: &Scene| scene.shapes.iter().filter(|it| matches!(it, Shape::Dot { .. })).count();
    let chart =
        |low, high| LineChart { y_limits: Limits { low, high }, ..line_chart(LineAxis::Numbers) };
    let drawn =
        |low, high| Figure::Lines(chart(low, high)).scene(Size::default()).expect("there is data");
    // Means are 3, 4 and 5; a dot stands in the legend, too.
    assert_eq!(dots(&drawn(None, None)), 4);
    assert_eq!(dots(&drawn(Some(3.5), Some(4.5))), 2);
    let cut = drawn(Some(3.5), Some(4.5));
    let ends: Vec<f64> = thick(&cut).into_iter().flatten().map(|(_, y)| y).collect();
    let (top, bottom) =
        (ends.iter().copied().fold(f64::MAX, f64::min), ends.iter().copied().fold(0.0, f64::max));
    let panel = cut.shapes.iter().find_map(|shape| match shape {
        Shape::Line { points, width: 2, .. } if points.len() == 3 => {
            Some((points[0].1, points[1].1))
        }
        _ => None,
    });
    let (panel_top, panel_bottom) = panel.expect("axes are drawn");
    assert!(top >= panel_top - 1e-6 && bottom <= panel_bottom + 1e-6, "{top} {bottom} {panel:?}");
    // Half of the way up lies between the ends: the line goes from edge to edge.
    assert!(top < panel_top + 1.0 && bottom > panel_bottom - 1.0, "{top} {bottom} {panel:?}");
}

#[test]
fn bars_by_their_logarithms_begin_at_a_power_of_ten() {
    let values = [27.8, 84.3, 1970.0, 0.0].map(|mean| Some((mean, None))).to_vec();
    let chart = BarChart {
        title: "Waits".to_owned(),
        x_label: "provider".to_owned(),
        y_label: "wait, s".to_owned(),
        legend_label: String::new(),
        differences: false,
        y_scale: YScale::Log,
        y_limits: Limits::NONE,
        categories: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
        series: vec![BarSeries { name: String::new(), values }],
    };
    let scene = Figure::Bars(chart).scene(Size::default()).expect("there is data");
    let ticks: Vec<&str> = scene.texts().into_iter().map(|(text, _)| text).collect();
    for tick in ["10", "100", "1000"] {
        assert!(ticks.contains(&tick), "{tick} in {ticks:?}");
    }
}

/// Of 1,000 jobs one waited for a day: its share is 0.1 %.
#[test]
fn the_complement_shows_the_tail() {
    let values = (0..999).map(f64::from).chain([86_400.0]).collect();
    let samples = vec![Sample::new("all jobs".to_owned(), values)];
    let figure = DistributionFigure {
        complement: true,
        ..DistributionFigure::new("Waits", Quantity::WaitingTime, samples)
    };
    let scene = Figure::Distribution(figure.clone()).scene(Size::default()).expect("data");
    let ticks: Vec<&str> = scene.texts().into_iter().map(|(text, _)| text).collect();
    assert!(ticks.contains(&"0.1") && ticks.contains(&"100"), "{ticks:?}");
    assert!(ticks.contains(&"share of jobs that waited longer, %"), "{ticks:?}");
    let curve = thick(&scene).concat();
    // It only falls, and downwards y grows.
    assert!(curve.windows(2).all(|pair| pair[1].1 >= pair[0].1), "it rises");
    let plain = DistributionFigure {
        complement: false,
        y_limits: Limits { low: Some(99.0), high: None },
        ..figure
    };
    let scene = Figure::Distribution(plain).scene(Size::default()).expect("data");
    let ticks: Vec<&str> = scene.texts().into_iter().map(|(text, _)| text).collect();
    assert!(ticks.contains(&"99.0") && ticks.contains(&"100.0"), "{ticks:?}");
}

/// Two of four jobs never came to it: their share is left.
#[test]
fn jobs_without_a_value_keep_the_curve_below_the_top() {
    let sample = |without| Sample { without, ..Sample::new("m".to_owned(), vec![1.0, 2.0]) };
    let ends = |complement, without| {
        let samples = vec![sample(without)];
        let figure = DistributionFigure {
            complement,
            ..DistributionFigure::new("Agreed", Quantity::TimeToAgreement, samples)
        };
        let scene = Figure::Distribution(figure).scene(Size::default()).expect("data");
        thick(&scene).concat().last().expect("a curve").1
    };
    let (all, half) = (ends(false, 0), ends(false, 2));
    let bottom = Figure::Distribution(DistributionFigure::new(
        "Agreed",
        Quantity::TimeToAgreement,
        vec![sample(0)],
    ));
    let bottom = thick(&bottom.scene(Size::default()).expect("data")).concat()[0].1;
    assert!((half - (all + bottom) / 2.0).abs() < 1.5, "{half} between {all} and {bottom}");
    // The complement of what never comes never ends.
    assert!(ends(true, 2) < ends(true, 0));
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
            y_scale: YScale::Linear,
            y_limits: Limits::NONE,
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
