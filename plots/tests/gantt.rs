//! What a Gantt chart tells of jobs besides where and when they ran.

use haggle_plots::scene::{Colour, Shape};
use haggle_plots::{Figure, Gantt, GanttBar, GanttProvider, Size};

/// Two jobs in parts, of which one failed; a third one starts at the same instant.
#[test]
fn a_gantt_chart_tells_groups_failures_and_parts() {
    let bar = |job: i64, group: usize, first: u32, last: u32, failed: bool| GanttBar {
        label: job.to_string(),
        job,
        group,
        first,
        last,
        start: 0.0,
        end: 100.0,
        failed,
    };
    let provider = GanttProvider {
        name: "north".to_owned(),
        first: 64,
        processors: 10,
        bars: vec![
            bar(7, 0, 64, 65, false),
            bar(8, 1, 66, 67, true),
            bar(7, 0, 68, 68, false),
            bar(8, 1, 70, 71, true),
            bar(9, 1, 72, 73, false),
        ],
        outages: Vec::new(),
        maintenance: Vec::new(),
    };
    let mut gantt = Gantt {
        title: "made up".to_owned(),
        providers: vec![provider],
        groups: vec!["day".to_owned(), "night".to_owned()],
        group_label: "workload".to_owned(),
        from: Some(0.0),
        until: None,
        clock: None,
    };
    let scene = Figure::Gantt(gantt.clone()).scene(Size::default()).expect("there are jobs");
    let texts: Vec<&str> = scene.texts().into_iter().map(|(text, _)| text).collect();
    for text in ["workload", "day", "night", "failed", "parts of one job", "0", "10"] {
        assert!(texts.contains(&text), "{text} is not in {texts:?}");
    }
    assert!(!texts.contains(&"64"), "processors are counted from 0: {texts:?}");
    let boxes = |sought: Colour| {
        let is = |shape: &&Shape| matches!(shape, Shape::Box { colour, .. } if *colour == sought);
        scene.shapes.iter().filter(is).count()
    };
    // Each with the key of its legend: two parts of job 7, job 9, and two pale parts of job 8.
    assert_eq!(boxes(Colour(0x00, 0x72, 0xb2)), 3);
    assert_eq!(boxes(Colour(0xd5, 0x5e, 0x00)), 2);
    // Of a failure, the number has a ground of its own.
    assert_eq!(boxes(Colour(0xf2, 0xcf, 0xb3)), 4);
    // Two ends for each of two joints and their key.
    let dots = scene.shapes.iter().filter(|shape| matches!(shape, Shape::Dot { .. })).count();
    assert_eq!(dots, 6);
    gantt.groups.pop();
    let scene = Figure::Gantt(gantt).scene(Size::default()).expect("there are jobs");
    assert!(scene.texts().iter().all(|(text, _)| *text != "day"), "one group needs no legend");
}
