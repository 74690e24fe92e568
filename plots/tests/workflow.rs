//! The timeline of a workflow, from the tables of a run.

use std::path::Path;
use std::sync::Arc;

use haggle_model::AttemptOutcome;
use haggle_model::workflow::{Input, Need, Staged, Transfer, WorkflowTask};
use haggle_model::{
    ActorId, ActorInfo, ActorKind, Cast, Job, JobClass, JobId, JobOutcome, JobRecord, LostRun,
    ProcessorSet, ProviderId, ProviderInfo, Span, Time,
};
use haggle_plots::load::{Part, Tables};
use haggle_plots::{Figure, Size, workflow_timeline};
use haggle_results::{RunReader, RunWriter, WriteOptions};

const PROVIDERS: [&str; 2] = ["north", "south"];

/// Task 0 runs on the first provider, task 1 on the second, where it fails once; task 2 beside task 1,
/// on the first.
fn run(folder: &Path) -> RunReader {
    let actor = |name: &str| ActorInfo { name: name.to_owned(), kind: ActorKind::Provider };
    let provider = |(number, name): (u32, &str)| ProviderInfo {
        name: name.to_owned(),
        processors: 4,
        first_processor: 4 * number,
        speed: 1.0,
        scheduler: "fcfs".to_owned(),
        may_fail: false,
        may_preempt: false,
        nodes: None,
    };
    let cast = Cast {
        actors: PROVIDERS.map(actor).to_vec(),
        providers: (0..).zip(PROVIDERS).map(provider).collect(),
        workloads: vec!["flows".to_owned()],
        ..Cast::default()
    };
    let mut writer = RunWriter::create(&folder.join("run"), cast, WriteOptions::default())
        .expect("the folder is new");
    let second = Time::from_secs;
    let need = Need { made_by: Some(0), bytes: 8 };
    let lost = LostRun {
        stopped_for: None,
        cancelled: false,
        provider: ProviderId(1),
        start: second(160),
        end: second(200),
        processors: ProcessorSet::range(0, 1),
        saved: Span::ZERO,
        checkpointing: Span::ZERO,
        checkpoints: Vec::new(),
    };
    for (number, provider, (start, end), lost) in
        [(0, 0, (0, 100), vec![]), (2, 0, (100, 300), vec![]), (1, 1, (250, 400), vec![lost])]
    {
        let needs: Box<[Need]> = if number == 0 { [].into() } else { [need].into() };
        let at = ActorId(provider);
        let transfer = Transfer { sent: second(110), arrived: Some(second(150)) };
        let moved = (provider == 1).then_some(transfer);
        let inputs = needs.iter().map(|&need| Input { need, from: ActorId(0), moved }).collect();
        writer.staged(&Staged { job: JobId(number), at, inputs }).expect("it is written");
        let task = WorkflowTask { workflow: 0, task: number, data: None, progress: None, needs };
        let job = Job::new(number, Time::ZERO, 1, Span::from_secs(end - start));
        let job = Job { task: Some(Arc::new(task)), ..job };
        let class = JobClass::External;
        let record = JobRecord {
            provider: Some(ProviderId(provider)),
            queued: Some(second(start.min(150))),
            start: Some(second(start)),
            processors: ProcessorSet::range(0, 1),
            lost,
            ..JobRecord::never_queued(job, class, JobOutcome::Completed, second(end))
        };
        writer.job_over(&record).expect("it is written");
    }
    writer.finish().expect("it is written").publish().expect("it gets its name");
    RunReader::open(&folder.join("run")).expect("it is there")
}

#[test]
fn attempts_lie_where_they_ran_and_data_come_from_where_they_were_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path());
    let tables = Tables::new(&run);
    let title = |what: &str| what.to_owned();
    let figure = workflow_timeline::workflow_timeline(&tables, title, &Part::default(), Some(2))
        .expect("a workflow");
    assert_eq!(figure.title, "workflow 0 of flows");
    let lanes: Vec<(&str, usize)> =
        figure.places.iter().map(|it| (it.name.as_str(), it.lanes.len())).collect();
    assert_eq!(lanes, [("north", 1), ("south", 1)]);
    let south = &figure.places[1].lanes[0];
    let outcomes: Vec<AttemptOutcome> = south.iter().map(|it| it.bar.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Failed, AttemptOutcome::Completed]);
    assert_eq!(south[0].bar.label, "1");
    let [input] = south[0].inputs[..] else { panic!("{:?}", south[0].inputs) };
    assert_eq!((input.from, input.sent, input.arrived), (Some((0, 0)), 110.0, 150.0));
    assert!(south[1].inputs.is_empty() && figure.places[0].lanes[0][1].inputs.is_empty());
    let scene = Figure::WorkflowTimeline(figure).scene(Size::default()).expect("a scene");
    let texts = format!("{:?}", scene.shapes);
    for legend in ["completed", "failed", "data on their way", "from where"] {
        assert!(texts.contains(&format!("{legend:?}")), "{legend}");
    }
}

#[test]
fn a_job_that_is_no_task_has_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path());
    let tables = Tables::new(&run);
    let asked =
        workflow_timeline::workflow_timeline(&tables, str::to_owned, &Part::default(), Some(9));
    assert!(asked.expect_err("no such job").to_string().contains("no job 9"));
    let before = Part { until: Some(-1.0), ..Part::default() };
    let none = workflow_timeline::workflow_timeline(&tables, str::to_owned, &before, None);
    assert!(none.expect_err("nothing ran then").to_string().contains("none of its tasks"));
}
