//! What a Gantt chart tells of jobs besides where and when they ran.

use haggle_plots::scene::{Colour, Scene, Shape};
use haggle_plots::{
    Figure, Gantt, GanttBar, GanttLoss, GanttNode, GanttProvider, LegendPlace, Look, Size,
};

fn bar(job: i64, (first, last): (u32, u32), (start, end): (f64, f64)) -> GanttBar {
    GanttBar {
        label: job.to_string(),
        job,
        is_task: false,
        is_marked: false,
        group: 0,
        first,
        last,
        start,
        end,
        lost: None,
    }
}

fn provider(name: &str, bars: Vec<GanttBar>) -> GanttProvider {
    GanttProvider {
        name: name.to_owned(),
        run: 0,
        first: 64,
        processors: 10,
        bars,
        nodes: Vec::new(),
        outages: Vec::new(),
        maintenance: Vec::new(),
    }
}

fn chart(providers: Vec<GanttProvider>) -> Gantt {
    Gantt {
        title: "made up".to_owned(),
        providers,
        groups: Vec::new(),
        group_label: String::new(),
        from: Some(0.0),
        until: None,
        changes: Vec::new(),
        clock: None,
        by_job: false,
        marked: Vec::new(),
    }
}

fn drawn(gantt: &Gantt, look: impl Into<Look>) -> Scene {
    Figure::Gantt(gantt.clone()).scene(look).expect("there are jobs")
}

fn texts(scene: &Scene) -> Vec<&str> {
    scene.texts().into_iter().map(|(text, _)| text).collect()
}

fn boxes(scene: &Scene, sought: Colour) -> usize {
    let is = |shape: &&Shape| matches!(shape, Shape::Box { colour, .. } if *colour == sought);
    scene.shapes.iter().filter(is).count()
}

fn dots(scene: &Scene) -> usize {
    scene.shapes.iter().filter(|shape| matches!(shape, Shape::Dot { .. })).count()
}

const WHOLE: (f64, f64) = (0.0, 100.0);
const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
const VERMILION: Colour = Colour(0xd5, 0x5e, 0x00);

/// A job in strips, and one of another group that fails, with a part that is given up.
#[test]
fn a_gantt_chart_tells_groups_and_failures() {
    let of = |group: usize, lost: Option<GanttLoss>, bar: GanttBar| GanttBar { group, lost, ..bar };
    let mut gantt = chart(vec![provider(
        "north",
        vec![
            bar(7, (64, 65), WHOLE),
            of(1, Some(GanttLoss::Failed), bar(8, (66, 67), WHOLE)),
            bar(7, (68, 68), WHOLE),
            of(1, Some(GanttLoss::GivenUp), bar(8, (70, 71), WHOLE)),
            of(1, None, bar(9, (72, 73), WHOLE)),
        ],
    )]);
    gantt.groups = ["day", "night", "weekend"].map(str::to_owned).to_vec();
    gantt.group_label = "workload".to_owned();
    let scene = drawn(&gantt, Size::default());
    let texts = texts(&scene);
    for text in ["workload", "day", "night", "failed, given up", "0", "10"] {
        assert!(texts.contains(&text), "{text} is not in {texts:?}");
    }
    assert!(!texts.contains(&"64"), "processors are counted from 0: {texts:?}");
    // The legend has what is drawn, and strips of a job at one provider are not joined.
    assert!(!texts.contains(&"weekend") && !texts.contains(&"parts of one job"), "{texts:?}");
    assert_eq!(dots(&scene), 0);
    // Each with the key of its legend: two strips of job 7; job 9, whose label has a ground of its own; and two
    // pale strips of job 8, whose labels have, too.
    assert_eq!(boxes(&scene, BLUE), 3);
    assert_eq!(boxes(&scene, VERMILION), 3);
    assert_eq!(boxes(&scene, Colour(0xf2, 0xcf, 0xb3)), 4);
    // In grey, the second group has lines, black on its colour or white.
    let lines = |colour: Colour| {
        let is = |shape: &&Shape| matches!(shape, Shape::Line { colour: it, .. } if *it == colour);
        scene.shapes.iter().filter(is).count()
    };
    assert!(lines(Colour(255, 255, 255)) > 10);
    gantt.groups.truncate(1);
    let scene = drawn(&gantt, Size::default());
    assert!(scene.texts().iter().all(|(text, _)| *text != "day"), "one group needs no legend");
}

/// A job at two of three providers at once, one that moved from provider to provider, and a bag at two.
#[test]
fn parts_of_one_job_at_several_providers_are_joined() {
    let task = |bar: GanttBar| GanttBar { is_task: true, ..bar };
    let mut gantt = chart(vec![
        provider("a", vec![bar(1, (64, 65), WHOLE), bar(2, (66, 67), (0.0, 40.0))]),
        provider("b", vec![bar(2, (66, 67), (40.0, 90.0)), task(bar(3, (68, 69), WHOLE))]),
        provider("c", vec![bar(1, (64, 64), (10.0, 90.0)), task(bar(3, (68, 69), WHOLE))]),
    ]);
    let joined = drawn(&gantt, Size::default());
    assert!(texts(&joined).contains(&"parts of one job"));
    // Two ends of one line and of its key, each with an edge.
    assert_eq!(dots(&joined), 8);
    // What has the same number in another run is another job.
    gantt.providers[2].run = 1;
    let apart = drawn(&gantt, Size::default());
    assert_eq!((dots(&apart), texts(&apart).contains(&"parts of one job")), (0, false));
}

#[test]
fn jobs_that_are_marked_have_an_edge_and_the_others_are_pale() {
    let mut gantt =
        chart(vec![provider("a", vec![bar(1, (64, 65), WHOLE), bar(2, (66, 67), WHOLE)])]);
    gantt.providers[0].bars[1].is_marked = true;
    gantt.marked = vec!["day!2".to_owned()];
    let scene = drawn(&gantt, Size::default());
    assert!(texts(&scene).contains(&"day!2"));
    let edges =
        |shape: &&Shape| matches!(shape, Shape::Line { width: 4, points, .. } if points.len() == 6);
    assert_eq!(scene.shapes.iter().filter(edges).count(), 2, "the bar and its key");
    assert!(boxes(&scene, BLUE) > 0 && boxes(&scene, Colour(0xa6, 0xce, 0xe4)) == 1, "{scene:?}");
}

/// Labels of narrow bars are smaller, and those of bars that are narrower still stand beside them.
#[test]
fn labels_of_narrow_bars_are_smaller_or_stand_beside_them() {
    let narrow = |end: f64| {
        let gantt = Gantt {
            until: Some(1_000.0),
            ..chart(vec![provider("a", vec![bar(1234, (64, 73), (0.0, end))])])
        };
        let scene = drawn(&gantt, Size::default());
        let found = scene.shapes.iter().find_map(|shape| match shape {
            Shape::Text { text, size, at, .. } if text == "1234" => Some((*size, at.0)),
            _ => None,
        });
        found.expect("it is there")
    };
    let (wide, small, beside) = (narrow(500.0), narrow(35.0), narrow(3.0));
    assert_eq!(wide.0, 24.0);
    assert!((15.0..24.0).contains(&small.0), "{small:?}");
    assert_eq!(beside.0, 18.0);
    assert!(beside.1 > narrow(35.0).1, "it stands behind its bar");
    // A label has no place where other bars are all around.
    let full = (0..200).map(|job| {
        let start = f64::from(job) * 5.0;
        bar(1000 + i64::from(job), (64, 73), (start, start + 5.0))
    });
    let scene = drawn(&chart(vec![provider("a", full.collect())]), Size::default());
    assert!(
        texts(&scene).iter().all(|text| !text.starts_with("10") || text.len() < 4),
        "{:?}",
        texts(&scene)
    );
}

/// Whatever their number and the size, all texts are inside and apart.
#[test]
fn many_providers_are_lanes_and_what_does_not_fit_is_said() {
    let many = |count: usize| {
        let names = (0..count).map(|i| format!("cluster-of-the-department-of-physics-{i:02}"));
        chart(names.map(|name| provider(&name, vec![bar(1, (64, 73), WHOLE)])).collect())
    };
    for (count, size, least) in [
        (2, Size::default(), 2),
        (12, Figure::Gantt(many(12)).size(), 12),
        (12, Size::default(), 12),
        (12, Size::on_paper(88.0, 60.0), 7),
        (40, Size::on_paper(88.0, 60.0), 7),
    ] {
        let scene = drawn(&many(count), size);
        let texts = scene.texts();
        let named = texts.iter().filter(|(text, _)| text.starts_with("clus")).count();
        assert!(named >= least, "{named} of {count} at {size:?}");
        let said = texts.iter().any(|(text, _)| text.contains("make it higher for more"));
        assert_eq!(said, named < count, "{count} at {size:?}: {texts:?}");
        let mut names: Vec<&str> =
            texts.iter().map(|(text, _)| *text).filter(|text| text.starts_with("clus")).collect();
        names.dedup();
        assert_eq!(names.len(), named, "they can be told apart: {texts:?}");
        for (i, (text, [left, top, right, bottom])) in texts.iter().enumerate() {
            let (wide, high) = (f64::from(size.width), f64::from(size.height));
            assert!(*left >= 0.0 && *top >= 0.0 && *right <= wide && *bottom <= high, "{text}");
            for (other, [left2, top2, right2, bottom2]) in &texts[i + 1..] {
                let apart = right < left2 || right2 < left || bottom < top2 || bottom2 < top;
                assert!(apart, "`{text}` and `{other}` overlap at {size:?}");
            }
        }
    }
}

#[test]
fn panels_have_one_width_whatever_is_in_the_legend() {
    let plain = chart(vec![provider("a", vec![bar(1, (64, 65), WHOLE)])]);
    let mut failed = plain.clone();
    failed.providers[0].bars[0].lost = Some(GanttLoss::Failed);
    let right = |gantt: &Gantt, legend| {
        let scene = drawn(gantt, Look { size: Size::default(), legend });
        let ends = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Line { points, width: 2, .. } if points.len() == 3 => Some(points[2].0),
            _ => None,
        });
        ends.fold(0.0, f64::max)
    };
    assert!(right(&failed, Some(LegendPlace::Beside)) < right(&plain, None));
    assert_eq!(right(&failed, Some(LegendPlace::None)), right(&plain, None));
    assert_eq!(right(&failed, Some(LegendPlace::Above)), right(&plain, None));
}

/// Nodes of `size` processors, of which the first `batch` are in a group of their own.
fn with_nodes(count: u32, size: u32, batch: u32) -> Gantt {
    let node = |number: u32| GanttNode {
        group: if number < batch { "batch" } else { "fast" }.to_owned(),
        number,
        first: number * size,
        last: (number + 1) * size - 1,
    };
    let nodes = (0..count).map(node).collect();
    let bars = vec![bar(1, (0, count * size - 1), (0.0, 100.0))];
    let all = GanttProvider { first: 0, processors: count * size, nodes, ..provider("site", bars) };
    chart(vec![all])
}

/// Lines across the whole panel, over the bars.
fn borders(scene: &Scene) -> usize {
    let last_box = scene.shapes.iter().rposition(|it| matches!(it, Shape::Box { .. }));
    let behind = &scene.shapes[last_box.expect("a bar")..];
    let is_flat = |it: &&Shape| {
        let Shape::Line { points, .. } = it else { return false };
        points.len() == 2 && points[0].1 == points[1].1
    };
    behind.iter().filter(is_flat).count()
}

#[test]
fn nodes_have_names_and_borders() {
    let scene = drawn(&with_nodes(3, 4, 2), Size::default());
    let all = texts(&scene);
    for text in ["site: node", "batch 0", "batch 1", "fast 2"] {
        assert!(all.contains(&text), "{all:?}");
    }
    // Two lines between nodes of one group, and one between groups.
    assert_eq!(borders(&scene), 3);
}

#[test]
fn of_many_nodes_some_have_names() {
    let scene = drawn(&with_nodes(1000, 64, 900), Size::default());
    let named = |group: &str| {
        let numbers = texts(&scene).into_iter().filter_map(|it| it.strip_prefix(group));
        Vec::from_iter(numbers.map(|it| it.trim().parse::<u32>().expect("a number")))
    };
    let batch = named("batch");
    assert!(batch.len() > 5 && batch.iter().all(|it| it % 50 == 0), "{batch:?}");
    assert!(named("fast").contains(&900));
    // Only the groups have a border.
    assert_eq!(borders(&scene), 1);
}
