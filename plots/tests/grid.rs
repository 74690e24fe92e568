//! Timelines of a grid, from the tables of a run.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use haggle_model::AttemptOutcome;
use haggle_model::grid::{AttemptRecord, CheckpointRecord, JobFate, Reach};
use haggle_model::work::Work;
use haggle_model::{
    ActorInfo, ActorKind, Cast, Job, JobClass, JobId, JobOutcome, JobRecord, ProviderId,
    ProviderInfo, SiteInfo, Span, Time,
};
use haggle_plots::load::{Part, Tables};
use haggle_plots::{Figure, PlotError, Size, job_timeline, resource_timeline};
use haggle_results::{Format, RunReader, RunWriter, SettledAttempt, SettledJob, WriteOptions};

const RESOURCES: [&str; 2] = ["alpha-1", "alpha-2"];

/// A grid of two resources: job 0 fails on the second one, whose only checkpoint it goes on from
/// on the first one; job 1 is computed beside its first attempt.
fn run(folder: &Path) -> RunReader {
    run_with(folder, 2, WriteOptions::default())
}

/// The same, of resources with so many slots.
fn run_with(folder: &Path, slots: u32, options: WriteOptions) -> RunReader {
    let actor = |name: &str| ActorInfo { name: name.to_owned(), kind: ActorKind::Provider };
    let provider = |(number, name): (u32, &str)| ProviderInfo {
        name: name.to_owned(),
        processors: 1,
        first_processor: number,
        speed: 1.0,
        scheduler: "migration".to_owned(),
        may_fail: false,
        may_preempt: false,
        nodes: None,
    };
    let cast = Cast {
        actors: RESOURCES.map(actor).to_vec(),
        providers: (0..).zip(RESOURCES).map(provider).collect(),
        workloads: vec!["jobs".to_owned()],
        sites: vec![SiteInfo {
            name: "alpha".to_owned(),
            resources: RESOURCES.len() as u32,
            slots: Some(slots),
            reserved: false,
        }],
        ..Cast::default()
    };
    let mut writer =
        RunWriter::create(&folder.join("run"), cast, options).expect("the folder is new");
    let second = Time::from_secs;
    let checkpoint = CheckpointRecord {
        requested: second(300),
        done: Work::from_mi(180),
        computing: Span::from_secs(180),
        written: Some(second(320)),
        available: Some(second(400)),
    };
    let failed = AttemptRecord {
        job: JobId(0),
        number: 1,
        resource: ProviderId(1),
        from: Work::ZERO,
        parent: None,
        dispatched: second(100),
        started: Some(second(120)),
        left: second(600),
        end: second(600),
        outcome: AttemptOutcome::Failed,
        done: Work::from_mi(460),
        computing: Span::from_secs(460),
        writing: Span::from_secs(20),
        written: 1,
        available: 1,
        checkpoints: Box::new([checkpoint]),
        omitted: 0,
        kept: None,
        data: haggle_model::grid::DataMoved::default(),
    };
    let again = AttemptRecord {
        number: 2,
        resource: ProviderId(0),
        from: Work::from_mi(180),
        parent: Some(1),
        dispatched: second(700),
        started: Some(second(760)),
        left: second(1_000),
        end: second(1_040),
        outcome: AttemptOutcome::Completed,
        done: Work::from_mi(420),
        computing: Span::from_secs(240),
        writing: Span::ZERO,
        written: 0,
        available: 0,
        checkpoints: Box::default(),
        ..failed.clone()
    };
    let other = AttemptRecord {
        job: JobId(1),
        number: 1,
        resource: ProviderId(1),
        dispatched: second(200),
        started: Some(second(210)),
        left: second(500),
        end: second(510),
        outcome: AttemptOutcome::Completed,
        checkpoints: Box::default(),
        ..failed.clone()
    };
    for record in [&other, &failed, &again] {
        writer.attempt_over(record).expect("there is room");
    }
    for (id, end, attempts) in [(1, 510, vec![other]), (0, 1_040, vec![failed, again])] {
        let job = Job::new(id, second(50), 1, Span::from_secs(400));
        let class = JobClass::External;
        let record = JobRecord {
            provider: Some(ProviderId(0)),
            queued: Some(second(100)),
            start: Some(second(120)),
            ..JobRecord::never_queued(job, class, JobOutcome::Completed, second(end))
        };
        let resources = attempts.len() as u32;
        let whole = |it: AttemptRecord| SettledAttempt {
            counts: Some(Reach::end(&it)),
            record: Arc::new(it),
        };
        let settled = SettledJob {
            winner: attempts.last().map(|it| it.number),
            record,
            attempts: attempts.into_iter().map(whole).collect(),
            resources,
            fate: Some(JobFate::Done),
            length: Work::from_mi(400),
            share: None,
            space: None,
        };
        writer.grid_job_over(&settled).expect("there is room");
    }
    let finished = writer.finish().expect("there is room");
    RunReader::open(&finished.publish().expect("the name is free")).expect("published")
}

#[test]
fn attempts_that_overlap_have_lanes_of_their_own() {
    let part = Part { providers: vec!["alpha-2".to_owned()], ..Part::default() };
    for least in [1, 2, 3] {
        let place = tempfile::tempdir().expect("a temporary folder");
        let run = run_with(place.path(), least, WriteOptions::default());
        let figure = resource_timeline::resource_timeline(&Tables::new(&run), "Slots", &part);
        let resources = figure.expect("readable").resources;
        let labels = |lane: &Vec<_>| -> Vec<String> {
            lane.iter().map(|bar: &haggle_plots::AttemptBar| bar.label.clone()).collect()
        };
        let lanes: Vec<_> = resources[0].slots.iter().map(labels).collect();
        assert_eq!(lanes[..2], [["0"], ["1"]], "at least {least}");
        assert_eq!(lanes.len(), least.max(2) as usize);
        assert!(lanes[2..].iter().all(Vec::is_empty));
    }
}

#[test]
fn without_a_name_the_first_resource_with_attempts_is_drawn() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = run(place.path());
    let figure =
        resource_timeline::resource_timeline(&Tables::new(&run), "Slots", &Part::default());
    let resources = figure.expect("readable").resources;
    assert_eq!(resources.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["alpha-1"]);
}

#[test]
fn a_try_goes_on_from_a_checkpoint_of_another() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = run(place.path());
    let tables = Tables::new(&run);
    let job = |number| job_timeline::job_timeline(&tables, "Job", &Part::default(), number);
    let figure = job(None).expect("readable");
    assert_eq!(figure.job, "job 0 of the run, jobs!1");
    assert_eq!(figure.outcome, "completed");
    let attempts: Vec<_> = figure.attempts.iter().map(|it| (it.name.as_str(), it.origin)).collect();
    assert_eq!(attempts, [("attempt 1, alpha-2", None), ("attempt 2, alpha-1", Some((0, 0)))]);
    assert_eq!(job(Some(1)).expect("readable").attempts.len(), 1);
    let error = job(Some(7)).expect_err("there is none");
    assert_eq!(error.to_string(), "the run has no job 7");
}

/// The table was edited: the first attempt of job 0 has lost the times of its slot.
#[test]
fn an_attempt_without_times_gets_no_bar_and_no_arrow() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let options = WriteOptions { format: Format::Csv, ..WriteOptions::default() };
    let folder = run_with(place.path(), 2, options).folder().to_owned();
    let path = folder.join("attempts.csv");
    let table = fs::read_to_string(&path).expect("a table");
    let header: Vec<&str> = table.lines().take(1).flat_map(|it| it.split(',')).collect();
    let without_times = |row: &str| {
        let cells = header.iter().zip(row.split(','));
        let kept = cells.map(|(name, cell)| match *name {
            "queued_time" | "starting_time" => "",
            _ => cell,
        });
        kept.collect::<Vec<_>>().join(",")
    };
    let mut edited: Vec<String> = table.lines().map(str::to_owned).collect();
    edited[2] = without_times(&edited[2]);
    fs::write(&path, edited.join("\n") + "\n").expect("written");
    let run = RunReader::open(&folder).expect("it is there");
    let figure = job_timeline::job_timeline(&Tables::new(&run), "Job", &Part::default(), Some(0))
        .expect("readable");
    let attempts: Vec<_> = figure.attempts.iter().map(|it| (it.name.as_str(), it.origin)).collect();
    assert_eq!(attempts, [("attempt 2, alpha-1", None)]);
    Figure::JobTimeline(figure).scene(Size::default()).expect("it has a bar");
}

#[test]
fn timelines_are_drawn_with_whole_labels_apart() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = run(place.path());
    let tables = &Tables::new(&run);
    let both = Part { providers: RESOURCES.map(str::to_owned).to_vec(), ..Part::default() };
    let late = Part { from: Some(350.0), until: Some(900.0), ..Part::default() };
    let resources =
        |part| resource_timeline::resource_timeline(tables, "Slots", part).expect("readable");
    let job = |part| job_timeline::job_timeline(tables, "Job", part, None).expect("readable");
    for (figure, words) in [
        (Figure::ResourceTimeline(resources(&both)), ["alpha-2: slot", "failed", "checkpoint"]),
        (Figure::ResourceTimeline(resources(&late)), ["alpha-1: slot", "time, s", "completed"]),
        (Figure::JobTimeline(job(&both)), ["submitted", "completed", "goes on from"]),
        (Figure::JobTimeline(job(&late)), ["attempt 2, alpha-1", "checkpoint usable", "time, s"]),
    ] {
        let scene = figure.scene(Size::default()).expect("there is data");
        let texts = scene.texts();
        for word in words {
            assert!(texts.iter().any(|(text, _)| *text == word), "no `{word}` in {texts:?}");
        }
        for (i, (text, [left, top, right, bottom])) in texts.iter().enumerate() {
            let inside = *left >= 0.0 && *top >= 0.0 && *right <= 1600.0 && *bottom <= 900.0;
            assert!(inside, "`{text}` leaves the canvas");
            for (other, [left2, top2, right2, bottom2]) in &texts[i + 1..] {
                let apart = right < left2 || right2 < left || bottom < top2 || bottom2 < top;
                assert!(apart, "`{text}` and `{other}` overlap");
            }
        }
        assert_eq!(figure.png(Size::default()).ok(), figure.png(Size::default()).ok());
    }
}

#[test]
fn a_note_wider_than_the_panel_is_no_reason_to_fail() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = run(place.path());
    let both = Part { providers: RESOURCES.map(str::to_owned).to_vec(), ..Part::default() };
    let mut job =
        job_timeline::job_timeline(&Tables::new(&run), "Job", &both, None).expect("readable");
    job.outcome = "a word for what became of it that is very long".to_owned();
    let small = Figure::JobTimeline(job).svg(Size { width: 600, height: 400 });
    assert!(matches!(small, Ok(_) | Err(PlotError::NoData { .. })), "{small:?}");
}

#[test]
fn times_without_tries_are_a_clear_error() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = run(place.path());
    let tables = &Tables::new(&run);
    let part = Part { from: Some(2_000.0), until: Some(3_000.0), ..Part::default() };
    let resources = resource_timeline::resource_timeline(tables, "Slots", &part).expect("readable");
    let job = job_timeline::job_timeline(tables, "Job", &part, None).expect("readable");
    for figure in [Figure::ResourceTimeline(resources), Figure::JobTimeline(job)] {
        let error = figure.scene(Size::default()).expect_err("there is nothing to draw");
        assert!(matches!(error, PlotError::NoData { .. }), "{error}");
        assert!(error.to_string().ends_with("in the time that is drawn"), "{error}");
    }
}
