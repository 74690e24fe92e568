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
        stacked: false,
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
            stacked: false,
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

fn bars(names: &[&str], values: &[(f64, Option<f64>)], stacked: bool) -> BarChart {
    BarChart {
        stacked,
        title: String::new(),
        x_label: String::new(),
        y_label: "work, h".to_owned(),
        legend_label: String::new(),
        differences: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        categories: vec!["easy".to_owned()],
        series: names
            .iter()
            .zip(values)
            .map(|(name, &value)| BarSeries { name: (*name).to_owned(), values: vec![Some(value)] })
            .collect(),
    }
}

/// The boxes of a colour that are bars, and no keys: left, top, right, bottom.
fn boxes(scene: &Scene, sought: Colour) -> Vec<[f64; 4]> {
    let edges = |shape: &Shape| match shape {
        Shape::Box { edges, colour, .. } if *colour == sought && edges[2] - edges[0] > 30.0 => {
            Some(*edges)
        }
        _ => None,
    };
    scene.shapes.iter().filter_map(edges).collect()
}

const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
const VERMILION: Colour = Colour(0xd5, 0x5e, 0x00);
const WHITE: Colour = Colour(255, 255, 255);

#[test]
fn stacked_bars_stand_on_one_another() {
    let chart = bars(&["useful", "lost"], &[(30.0, None), (10.0, None)], true);
    let scene = Figure::Bars(chart).scene(Size::default()).expect("there is data");
    let ([useful], [lost]) = (&boxes(&scene, BLUE)[..], &boxes(&scene, VERMILION)[..]) else {
        panic!("each has a bar: {scene:?}");
    };
    assert_eq!((useful[0], useful[2], useful[1]), (lost[0], lost[2], lost[3]));
    let high = |edges: &[f64; 4]| edges[3] - edges[1];
    assert!((high(useful) - 3.0 * high(lost)).abs() < 1e-6, "{useful:?} {lost:?}");
    // Their sum stands above, and the axis has room for it.
    let texts: Vec<&str> = scene.texts().into_iter().map(|(text, _)| text).collect();
    assert!(texts.contains(&"40.00") && texts.contains(&"50"), "{texts:?}");
}

/// In grey, blue and vermilion are alike: the second series has lines, and so has its key.
#[test]
fn bars_are_told_apart_without_colours() {
    let lines = |names: &[&str]| {
        let chart = bars(names, &[(30.0, Some(1.0)), (30.0, Some(1.0))], false);
        let scene = Figure::Bars(chart).scene(Size::default()).expect("there is data");
        let slanted = |shape: &&Shape| match shape {
            Shape::Line { points, .. } => points[0].0 != points[1].0 && points[0].1 != points[1].1,
            _ => false,
        };
        scene.shapes.iter().filter(slanted).count()
    };
    assert_eq!(lines(&["one"]), 0);
    assert!(lines(&["one", "two"]) > 20);
}

/// Around a whisker, nothing white lies beyond its bar or beyond its lower end.
#[test]
fn whiskers_have_no_spur() {
    let chart = bars(&["one"], &[(30.0, Some(5.0))], false);
    let scene = Figure::Bars(chart).scene(Size::default()).expect("there is data");
    let [bar] = boxes(&scene, BLUE)[..] else { panic!("one bar: {scene:?}") };
    let whisker = scene.shapes.iter().find_map(|shape| match shape {
        Shape::Line { points, width: 2, .. } if points.len() == 2 && points[0].0 == points[1].0 => {
            // It begins above the bar.
            let ends = [points[0].1, points[1].1];
            (points[0].0 > bar[0] && points[0].0 < bar[2] && ends[0] < bar[1]).then_some(ends)
        }
        _ => None,
    });
    let [_, low] = whisker.expect("it is drawn");
    let white = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Line { points, colour, width: 6 } if *colour == WHITE => {
            Some((points[0].1, points[1].1))
        }
        _ => None,
    });
    let white: Vec<(f64, f64)> = white.collect();
    assert_eq!(white, [(bar[1], low)]);
}

/// Where labels of an axis of logarithms would touch, powers of ten stay.
#[test]
fn powers_of_ten_keep_their_labels() {
    let mut chart = line_chart(LineAxis::Numbers);
    for line in &mut chart.series {
        for (point, mean) in line.points.iter_mut().zip([25.0, 300.0, 1_900.0]) {
            (point.mean, point.half_width) = (mean, None);
        }
    }
    chart.y_scale = YScale::Log;
    for size in [Size::default(), Size::on_paper(88.0, 60.0)] {
        let scene = Figure::Lines(chart.clone()).scene(size).expect("there is data");
        let texts: Vec<&str> = scene.texts().into_iter().map(|(text, _)| text).collect();
        assert!(texts.contains(&"100") && texts.contains(&"1000"), "{size:?}: {texts:?}");
    }
}

/// Names that do not fit side by side take turns in rows, and keep what tells them apart.
#[test]
fn names_of_many_bars_can_be_told_apart() {
    let mut chart = bars(&["one"], &[(30.0, None)], false);
    chart.categories =
        (0..12).map(|i| format!("cluster-of-the-department-of-physics-{i:02}")).collect();
    chart.series[0].values = vec![Some((30.0, None)); 12];
    for size in [Size::default(), Size::on_paper(88.0, 60.0)] {
        let scene = Figure::Bars(chart.clone()).scene(size).expect("there is data");
        let texts = scene.texts();
        for i in 0..12 {
            let end = format!("{i:02}");
            let is = |text: &str| text.starts_with('c') && text.ends_with(&end);
            assert_eq!(texts.iter().filter(|(text, _)| is(text)).count(), 1, "{end} {texts:?}");
        }
    }
}

#[test]
fn a_legend_stands_above_where_it_would_take_the_width() {
    let at = |size: Size| {
        let mut chart = line_chart(LineAxis::Numbers);
        chart.series[0].name = "conservative backfilling".to_owned();
        let scene = Figure::Lines(chart).scene(size).expect("there is data");
        let place = |sought: &str| {
            let texts = scene.texts();
            let found = texts.iter().find(|(text, _)| *text == sought).map(|(_, edges)| edges[1]);
            found.expect("it is drawn")
        };
        place("fcfs") < place("wait, s")
    };
    assert!(at(Size::on_paper(88.0, 60.0)));
    assert!(!at(Size { width: 3_200, height: 900 }));
}
