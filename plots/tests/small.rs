//! Figures of the size of a paper's column: all that is written can be read.

use haggle_plots::{
    BarChart, BarSeries, Figure, Held, Limits, Shows, Size, Timeline, TimelinePart, YScale,
};

/// In a column of a paper a label has several lines, instead of no end.
#[test]
fn labels_of_small_figures_are_whole() {
    let size = Size::on_paper(88.0, 60.0);
    let label =
        "difference of mean turnaround time of easy to fcfs, h (paired by seed, 95 % interval)";
    let chart = BarChart {
        stacked: false,
        title: "a title that is wider than the picture of a column".to_owned(),
        x_label: "policy".to_owned(),
        y_label: label.to_owned(),
        legend_label: String::new(),
        categories: vec!["easy".to_owned()],
        differences: true,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        series: vec![BarSeries { name: "one".to_owned(), values: vec![Some((-3.0, Some(1.0)))] }],
    };
    let scene = Figure::Bars(chart).scene(size).expect("there is data");
    let texts: Vec<&str> = scene.texts().into_iter().map(|(text, _)| text).collect();
    assert!(texts.join(" ").contains(label), "{texts:?}");
    assert!(texts.iter().all(|text| !text.ends_with('…')), "{texts:?}");
    let edges: Vec<[f64; 4]> = scene.texts().into_iter().map(|(_, edges)| edges).collect();
    assert!(edges.iter().all(|[_, _, right, _]| *right <= f64::from(size.width)), "{edges:?}");
}

/// Three panels of a column: their ticks do not cover each other.
#[test]
fn ticks_of_flat_panels_are_apart() {
    let part = |name: &str| TimelinePart {
        name: name.to_owned(),
        label: "",
        capacity: 4.0,
        held: vec![Held { start: 0.0, end: 50.0, amount: 2.0 }],
        waits: (0..60).map(|i| (f64::from(i), 70.0)).collect(),
    };
    let timeline = Timeline {
        title: "made up".to_owned(),
        shows: Shows::Queue,
        held: "busy processors",
        parts: ["north", "east", "west"].map(part).to_vec(),
        from: None,
        until: None,
        changes: Vec::new(),
        clock: None,
        compares: false,
    };
    let scene = Figure::Timeline(timeline).scene(Size::on_paper(88.0, 60.0)).expect("jobs wait");
    let texts = scene.texts();
    let ticks: Vec<_> = texts.iter().filter(|(text, _)| text.parse::<f64>().is_ok()).collect();
    for (i, (text, [left, top, right, bottom])) in ticks.iter().enumerate() {
        for (other, [left2, top2, right2, bottom2]) in &ticks[i + 1..] {
            let apart = right < left2 || right2 < left || bottom < top2 || bottom2 < top;
            assert!(apart, "`{text}` and `{other}` overlap");
        }
    }
}
