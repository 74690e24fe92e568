//! Every kind of figure, drawn from real and from awkward data.

use std::io::Cursor;
use std::path::Path;

use haggle_model::{
    ActorInfo, ActorKind, BagRecord, Cast, Job, JobClass, JobId, JobOutcome, JobRecord, JobShape,
    LostRun, ProcessorSet, ProviderId, ProviderInfo, Refusal, ShareRecord, Span, TaskRun, Time,
};
use haggle_plots::load::{By, Part, Tables};
use haggle_plots::scene::{Colour, Shape};
use haggle_plots::{
    BarChart, BarSeries, Figure, Gantt, GanttOutage, Histogram, Limits, LineAxis, LineChart,
    LineSeries, Outage, PanelCharts, Panels, PlotError, Quantity, ScatterChart, ScatterPoint,
    Shows, Size, SweepPoint, YScale, distribution, gantt, timeline,
};
use haggle_results::{RunReader, RunWriter, WriteOptions};

/// A run of `jobs` jobs on one provider of 16 processors, all refused or all run one after the other.
fn run(folder: &Path, jobs: u32, rejected: bool) -> RunReader {
    let cast = Cast {
        actors: vec![ActorInfo { name: "north".to_owned(), kind: ActorKind::Provider }],
        providers: vec![ProviderInfo {
            name: "north".to_owned(),
            processors: 16,
            first_processor: 0,
            speed: 1.0,
            scheduler: "first come, first served".to_owned(),
            may_fail: false,
            may_preempt: false,
            nodes: None,
        }],
        workloads: vec!["made up".to_owned()],
        ..Cast::default()
    };
    let folder = folder.join("run");
    let mut writer =
        RunWriter::create(&folder, cast, WriteOptions::default()).expect("the folder is new");
    for id in 0..jobs {
        let submit = Time::from_secs(i64::from(id) * 90);
        let end = submit + Span::from_secs(160);
        let ran = (!rejected).then_some(());
        let width = 1 + id % 8;
        let record = JobRecord {
            job: Job::new(id, submit, width, Span::from_secs(100)).into(),
            class: if id % 3 == 0 { JobClass::External } else { JobClass::Local },
            outcome: match ran {
                Some(()) => JobOutcome::Completed,
                None => JobOutcome::Rejected(Refusal::TooWide),
            },
            provider: ran.map(|()| ProviderId(0)),
            queued: ran.map(|()| submit),
            start: ran.map(|()| submit + Span::from_secs(60)),
            end,
            walltime: ran.map(|()| Span::from_secs(100)),
            promised_end: None,
            processors: ProcessorSet::range(8 * (id % 2), if rejected { 0 } else { width }),
            bag: None,
            lost: Vec::new(),
            given_up: Vec::new(),
            checkpointing: Span::ZERO,
            checkpoints: Vec::new(),
            granted: None,
            alternative: None,
            recorded: None,
            priority: None,
        };
        writer.job_over(&record).expect("there is room");
    }
    let finished = writer.finish().expect("there is room");
    RunReader::open(&finished.publish().expect("the name is free")).expect("published")
}

fn figures_of(run: &RunReader) -> Vec<(Figure, &'static [&'static str])> {
    let run = &Tables::new(run);
    let all = Part::default();
    let north = Part { providers: vec!["north".to_owned()], ..Part::default() };
    let waiting =
        distribution::distribution(run, "Waiting", &all, Quantity::WaitingTime, By::Class);
    let slowdown = distribution::distribution(
        run,
        "Slowdown",
        &north,
        Quantity::BoundedSlowdown,
        By::Provider,
    );
    let timeline = |shows| {
        Figure::Timeline(timeline::timeline(run, "Timeline", &north, shows).expect("readable"))
    };
    vec![
        (
            Figure::Gantt(gantt::gantt(run, "Gantt", &all, By::Class).expect("readable")),
            &["north: processor", "time, "],
        ),
        (timeline(Shows::Both), &["busy processors, %", "waiting jobs", "time, "]),
        (timeline(Shows::Queue), &["waiting jobs", "time, "]),
        (Figure::Distribution(waiting.expect("readable")), &["waiting time", "share of jobs, %"]),
        (
            Figure::Distribution(slowdown.expect("readable")),
            &["bounded slowdown", "share of jobs, %"],
        ),
    ]
}

fn sweep_figures() -> Vec<(Figure, &'static [&'static str])> {
    let point = |x: f64| SweepPoint { x, mean: x * 100.0 - 120.0, half_width: Some(15.0) };
    let lines = LineChart {
        title: "Lines".to_owned(),
        x_label: "load".to_owned(),
        x_axis: LineAxis::Numbers,
        x_log: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        differences: false,
        joins_names: false,
        band: false,
        y_label: "gain, s".to_owned(),
        legend_label: String::new(),
        series: ["one", "a name that is far too long to be shown whole in any legend"]
            .map(|name| LineSeries {
                name: name.to_owned(),
                points: [1.0, 2.0, 4.0].map(point).to_vec(),
            })
            .to_vec(),
    };
    let bars = BarChart {
        stacked: false,
        title: "Bars".to_owned(),
        x_label: "policy".to_owned(),
        y_label: "wait, s".to_owned(),
        legend_label: String::new(),
        differences: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        categories: (0..30).map(|i| format!("policy number {i}")).collect(),
        series: vec![BarSeries {
            name: "one".to_owned(),
            values: (0..30).map(|i| (i % 7 != 0).then_some((f64::from(i), Some(40.0)))).collect(),
        }],
    };
    let small = |title: &str, y_label: &str| BarChart {
        stacked: false,
        title: title.to_owned(),
        x_label: "deadlines".to_owned(),
        y_label: y_label.to_owned(),
        legend_label: String::new(),
        differences: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        categories: ["relaxed", "tight"].map(str::to_owned).to_vec(),
        series: ["offers only", "computing power", "free time slots"]
            .map(|name| BarSeries {
                name: name.to_owned(),
                values: vec![Some((3.0, Some(0.5))), Some((8.0, None))],
            })
            .to_vec(),
    };
    let panels = |names: [&str; 5], labels: [&str; 5]| {
        let charts = names.iter().zip(labels).map(|(name, label)| small(name, label)).collect();
        let charts = PanelCharts::Bars(charts);
        Figure::Panels(Panels { title: "Panels".to_owned(), charts, own_scales: false })
    };
    let names =
        ["local", "external", "a name that is too long for its panel, however wide", "d", "e"];
    let spot = |name: &str, x: f64, y: f64| ScatterPoint {
        name: name.to_owned(),
        x: (x, Some(20.0)),
        y: (y, Some(0.4)),
    };
    let scatter = ScatterChart {
        x_log: true,
        title: "Scatter".to_owned(),
        x_label: "disclosed items".to_owned(),
        y_label: "delayed jobs, %".to_owned(),
        points: vec![
            spot("offers only", 100.0, 5.0),
            spot("rough load", 110.0, 5.1),
            spot("computing power", 105.0, 4.9),
            spot("free time slots", 900.0, 3.0),
        ],
    };
    let curves = LineChart {
        x_axis: LineAxis::Names(vec!["one".to_owned(), "two".to_owned(), "three".to_owned()]),
        x_log: false,
        y_scale: YScale::LogTime,
        y_limits: Limits::NONE,
        differences: false,
        joins_names: false,
        band: true,
        series: vec![LineSeries {
            name: "sorted".to_owned(),
            points: [0.0, 1.0, 2.0]
                .map(|x| SweepPoint { x, mean: 10_f64.powf(x), half_width: Some(0.5) })
                .to_vec(),
        }],
        ..lines.clone()
    };
    let histogram = Histogram {
        title: "Histogram".to_owned(),
        x_label: "processors".to_owned(),
        y_label: "jobs".to_owned(),
        bins: (0..200).map(|i| (format!("{i}"), (i * 7919) % 1000)).collect(),
    };
    vec![
        (Figure::Lines(lines), &["load", "gain, s"]),
        (Figure::Bars(bars), &["policy", "wait, s"]),
        (panels(names, ["wait, s"; 5]), &["deadlines", "wait, s", "local", "external"]),
        (panels(names, ["wait, s", "run, s", "a", "b", "c"]), &["deadlines", "run, s", "external"]),
        (Figure::Scatter(scatter), &["disclosed items", "delayed jobs, %", "rough load"]),
        (Figure::Lines(curves), &["load", "gain, s", "10 s"]),
        (Figure::Histogram(histogram), &["processors", "jobs"]),
    ]
}

fn all_figures(place: &Path) -> Vec<(Figure, &'static [&'static str])> {
    let mut figures = figures_of(&run(place, 40, false));
    figures.extend(sweep_figures());
    figures
}

#[test]
fn png_has_its_size_and_is_not_blank() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for (figure, _) in all_figures(place.path()) {
        let bytes = figure.png(Size::default()).expect("there is data");
        let decoder = png::Decoder::new(Cursor::new(bytes.as_slice()));
        let mut reader = decoder.read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("a PNG");
        assert_eq!((info.width, info.height), (1600, 900));
        let ink = pixels.iter().filter(|&&channel| channel != 255).count();
        assert!(ink > 10_000, "{ink} channels are not white in {figure:?}");
        assert_eq!(bytes, figure.png(Size::default()).expect("there is data"));
    }
}

#[test]
fn pdf_is_one_whole_page() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for (figure, _) in all_figures(place.path()) {
        let bytes = figure.pdf(Size::default()).expect("there is data");
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("%PDF-"), "{text}");
        assert!(text.contains("/MediaBox [0 0 600 337.5]"), "{text}");
        assert!(text.trim_end().ends_with("%%EOF"), "{text}");
        // Every graphics state that the page sets has a definition: an opacity.
        let head = text.split("stream").next().unwrap_or_default();
        let states = head.matches("/ca ").count();
        assert!(states < 20, "{states} opacities");
        // Letters are those of a font, of which the page has what it needs.
        assert!(text.contains("/BaseFont /HAGGLE+DejaVuSans") && text.contains("/FontFile2"));
        assert!(text.contains("/ToUnicode") && text.contains("beginbfchar"), "letters have names");
        assert_eq!(bytes, figure.pdf(Size::default()).expect("there is data"));
    }
}

/// Whoever asks for a small picture gets it, or is told why not.
#[test]
fn small_sizes_are_drawn_or_refused() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for (figure, _) in all_figures(place.path()) {
        for (width, height) in [(400, 300), (400, 2_000), (2_000, 300), (665, 454)] {
            let drawn = figure.svg(Size { width, height });
            assert!(matches!(drawn, Ok(_) | Err(PlotError::NoData { .. })), "{drawn:?}");
        }
    }
}

/// Names may have any characters, and XML does not.
#[test]
fn svg_is_xml_whatever_names_hold() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let mut figure =
        gantt::gantt(&Tables::new(&run(place.path(), 3, false)), "", &Part::default(), By::Nothing)
            .expect("readable");
    figure.title =
        (0..32_u8).map(char::from).collect::<String>() + "a\u{7f}<&\"\u{fffe}\u{ffff}\u{202e}b";
    let svg = Figure::Gantt(figure).svg(Size::default()).expect("there is data");
    let allowed = |letter: char| {
        (!letter.is_control() || letter == '\n')
            && !matches!(letter, '\u{fffe}' | '\u{ffff}' | '\u{202e}')
    };
    assert!(svg.chars().all(allowed), "{svg}");
    assert!(svg.contains("a\u{fffd}&lt;&amp;"), "{svg}");
}

#[test]
fn svg_names_its_axes() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for (figure, labels) in all_figures(place.path()) {
        let svg = figure.svg(Size::default()).expect("there is data");
        for label in labels {
            assert!(svg.contains(label), "no `{label}` in {svg}");
        }
    }
}

#[test]
fn labels_are_whole_large_enough_and_apart() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for (figure, _) in all_figures(place.path()) {
        let scene = figure.scene(Size::default()).expect("there is data");
        let texts = scene.texts();
        for (i, (text, edges)) in texts.iter().enumerate() {
            let [left, top, right, bottom] = *edges;
            let inside = left >= 0.0 && top >= 0.0 && right <= 1600.0 && bottom <= 900.0;
            assert!(inside, "`{text}` leaves the canvas: {edges:?}");
            for (other, [left2, top2, right2, bottom2]) in &texts[i + 1..] {
                let apart = right < *left2 || *right2 < left || bottom < *top2 || *bottom2 < top;
                assert!(apart, "`{text}` and `{other}` overlap");
            }
        }
    }
}

#[test]
fn runs_without_started_jobs_are_a_clear_error() {
    for (jobs, rejected) in [(0, false), (5, true)] {
        let place = tempfile::tempdir().expect("a temporary folder");
        for (figure, _) in figures_of(&run(place.path(), jobs, rejected)) {
            let error = figure.png(Size::default()).expect_err("there is nothing to draw");
            assert!(matches!(error, PlotError::NoData { .. }), "{error}");
            assert!(error.to_string().contains("cannot be drawn"), "{error}");
        }
    }
}

#[test]
fn one_job_is_enough() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for (figure, _) in figures_of(&run(place.path(), 1, false)) {
        figure.png(Size::default()).expect("there is a job");
        figure.svg(Size::default()).expect("there is a job");
    }
}

#[test]
fn many_jobs_become_a_density() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = run(place.path(), 20_000, false);
    let figure = Figure::Gantt(
        gantt::gantt(&Tables::new(&run), "Gantt", &Part::default(), By::Class).expect("readable"),
    );
    let svg = figure.svg(Size::default()).expect("there is data");
    assert!(svg.contains("100 % busy") && svg.contains("mean of "), "the bin is named");
}

#[test]
fn processors_that_were_down_are_shaded() {
    for jobs in [3, 2_000] {
        let place = tempfile::tempdir().expect("a temporary folder");
        let run = run(place.path(), jobs, false);
        let mut gantt = gantt::gantt(&Tables::new(&run), "Gantt", &Part::default(), By::Class);
        let provider = &mut gantt.as_mut().expect("readable").providers[0];
        let grey = |gantt: Gantt| {
            let scene = Figure::Gantt(gantt).scene(Size::default()).expect("there is data");
            let named = scene.texts().iter().any(|(text, _)| *text == "outage");
            let shade = |shape: &&Shape| {
                matches!(shape, Shape::Box { colour: Colour(0xcc, 0xcc, 0xcc), .. })
            };
            (named, scene.shapes.iter().filter(shade).count())
        };
        provider.outages = vec![
            GanttOutage { first: 0, last: 3, time: Outage { from: 30.0, until: Some(90.0) } },
            GanttOutage { first: 15, last: 15, time: Outage { from: 100.0, until: None } },
        ];
        // The key of the legend is the third one.
        assert_eq!(grey(gantt.expect("readable")), (true, 3), "{jobs} jobs");
    }
}

/// What is closed is hatched, below all that ran, and not drawn beside the chart.
#[test]
fn a_gantt_chart_shows_maintenance() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = run(place.path(), 4, false);
    let mut gantt =
        gantt::gantt(&Tables::new(&run), "Gantt", &Part::default(), By::Class).expect("readable");
    gantt.until = Some(100.0);
    let closed =
        |from, until| GanttOutage { first: 0, last: 3, time: Outage { from, until: Some(until) } };
    gantt.providers[0].maintenance = vec![closed(30.0, 900.0), closed(200.0, 300.0)];
    let scene = Figure::Gantt(gantt).scene(Size::default()).expect("there is data");
    assert!(scene.texts().iter().any(|(text, _)| *text == "maintenance"));
    let sand = Colour(0xf3, 0xe9, 0xc6);
    let right = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Box { colour, edges, .. } if *colour == sand => Some(edges[2]),
        _ => None,
    });
    let right: Vec<f64> = right.collect();
    // The key of the legend, and one window.
    assert_eq!(right.len(), 2, "{right:?}");
    assert!(right.iter().all(|&right| right <= f64::from(Size::default().width)), "{right:?}");
    let lines = scene
        .shapes
        .iter()
        .filter(|shape| matches!(shape, Shape::Line { colour: Colour(0xb5, 0x9a, 0x4a), .. }));
    assert!(lines.count() > 10);
}

#[test]
fn file_endings_say_how_to_draw() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let (figure, _) = sweep_figures().remove(0);
    let draw = |name: &str| figure.draw(&place.path().join(name), Size::default());
    draw("a.png").expect("known");
    draw("a.svg").expect("known");
    draw("a.pdf").expect("known");
    let error = draw("a.jpg").expect_err("unknown").to_string();
    assert!(error.contains(".png, .svg or .pdf"), "{error}");
    let small = Size { width: 10, height: 10 };
    assert!(matches!(figure.png(small), Err(PlotError::BadSize { .. })));
}

/// A bag of three tasks of 100 s on the two processors of a provider, and a run of one that was lost.
fn run_of_a_bag(folder: &Path) -> RunReader {
    let cast = Cast {
        actors: vec![ActorInfo { name: "north".to_owned(), kind: ActorKind::Provider }],
        providers: vec![ProviderInfo {
            name: "north".to_owned(),
            processors: 2,
            first_processor: 0,
            speed: 1.0,
            scheduler: "bags".to_owned(),
            may_fail: false,
            may_preempt: false,
            nodes: None,
        }],
        workloads: vec!["made up".to_owned()],
        ..Cast::default()
    };
    let at = Time::from_secs;
    let run = |start, end, processors| TaskRun {
        start: at(start),
        end: at(end),
        outcome: JobOutcome::Completed,
        processors,
    };
    let share = ShareRecord {
        job: JobId(0),
        provider: ProviderId(0),
        tasks: 3,
        queued: at(10),
        walltime: Span::from_secs(100),
        promised_end: Some(at(400)),
        agreement: None,
        runs: vec![
            run(50, 150, ProcessorSet::range(0, 1)),
            run(150, 250, ProcessorSet::range(0, 1)),
            run(200, 300, ProcessorSet::range(1, 1)),
        ],
    };
    let lost = LostRun {
        stopped_for: None,
        cancelled: false,
        provider: ProviderId(0),
        start: at(50),
        end: at(90),
        processors: ProcessorSet::range(1, 1),
        saved: Span::ZERO,
        checkpointing: Span::ZERO,
        checkpoints: Vec::new(),
    };
    let bag = BagRecord { shares: vec![share], ..BagRecord::default() };
    let mut job = Job::new(0, Time::ZERO, 3, Span::from_secs(100));
    job.shape = JobShape::Bag;
    let record = JobRecord {
        provider: Some(ProviderId(0)),
        queued: Some(at(10)),
        start: Some(at(50)),
        bag: Some(Box::new(bag)),
        lost: vec![lost],
        ..JobRecord::never_queued(job, JobClass::External, JobOutcome::Completed, at(300))
    };
    let folder = folder.join("bag");
    let mut writer =
        RunWriter::create(&folder, cast, WriteOptions::default()).expect("the folder is new");
    writer.job_over(&record).expect("there is room");
    let finished = writer.finish().expect("there is room");
    RunReader::open(&finished.publish().expect("the name is free")).expect("published")
}

#[test]
fn a_bag_holds_what_its_tasks_hold_and_what_it_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_of_a_bag(folder.path());
    let timeline = timeline::timeline(&Tables::new(&run), "Bag", &Part::default(), Shows::Both);
    let parts = timeline.expect("readable").parts;
    let part = &parts[0];
    assert_eq!((part.most_held(), part.capacity), (2.0, 2.0));
    let area: f64 = part.held.iter().map(|it| it.amount * (it.end - it.start)).sum();
    assert_eq!(area, 340.0);
    assert_eq!(part.waits, [(10.0, 50.0)]);
}

/// Two commands may draw `gantt.png` and `gantt.svg` at the same time.
#[test]
fn figures_of_two_formats_have_files_of_their_own_while_they_are_drawn() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = run(place.path(), 3, false);
    let figure = gantt::gantt(&Tables::new(&run), "Gantt", &Part::default(), By::Nothing);
    let other = place.path().join("gantt.partial");
    std::fs::write(&other, "half of another figure").expect("written");
    let figure = Figure::Gantt(figure.expect("readable"));
    figure.draw(&place.path().join("gantt.svg"), Size::default()).expect("drawn");
    assert_eq!(std::fs::read_to_string(&other).expect("it is there"), "half of another figure");
}
