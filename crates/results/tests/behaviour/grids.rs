//! Results of a grid's run: its own tables, and its rows in the tables of all runs.

use std::sync::Arc;

use haggle_model::grid::{
    AttemptRecord, Carried, CheckpointRecord, DataFlow, DataMoved, JobFate, Place, Reach,
    ResourceAccount,
};
use haggle_model::work::Work;
use haggle_model::workflow::WorkflowTask;
use haggle_model::{
    AttemptOutcome, Job, JobClass, JobId, JobOutcome, JobRecord, ProcessorSet, ProviderId,
    SiteInfo, Span, Time,
};
use haggle_results::critical::critical_path;
use haggle_results::reader::Rows;
use haggle_results::{
    Format, JobRow, Metrics, MetricsOptions, Provenance, RunReader, RunWriter, SettledAttempt,
    SettledJob, Summary, Table, WriteOptions, sha256,
};
use haggle_testing::at;

use crate::made_up;

/// A job of 100 MI that saves 60, fails, and completes on another resource (example M-1).
fn attempts() -> [AttemptRecord; 2] {
    let saved = CheckpointRecord {
        requested: at(62),
        done: Work::from_mi(60),
        computing: Span::from_secs(60),
        written: Some(at(64)),
        available: Some(at(67)),
    };
    let cut_off = CheckpointRecord {
        requested: at(74),
        done: Work::from_mi(70),
        computing: Span::from_secs(70),
        written: None,
        available: None,
    };
    let first = AttemptRecord {
        job: JobId(0),
        number: 1,
        resource: ProviderId(0),
        from: Work::ZERO,
        parent: None,
        dispatched: at(0),
        started: Some(at(2)),
        left: at(75),
        end: at(75),
        outcome: AttemptOutcome::Failed,
        done: Work::from_mi(70),
        computing: Span::from_secs(70),
        writing: Span::from_secs(3),
        written: 1,
        available: 1,
        checkpoints: Box::new([saved, cut_off]),
        omitted: 1,
        kept: None,
        data: DataMoved { input: 5, output: 7, checkpoints: 11, recovery: 13 },
    };
    let second = AttemptRecord {
        number: 2,
        resource: ProviderId(1),
        from: Work::from_mi(60),
        parent: Some(1),
        dispatched: at(80),
        started: Some(at(85)),
        left: at(125),
        end: at(130),
        outcome: AttemptOutcome::Completed,
        done: Work::from_mi(100),
        computing: Span::from_secs(40),
        writing: Span::ZERO,
        written: 0,
        available: 0,
        checkpoints: Box::default(),
        omitted: 0,
        ..first.clone()
    };
    [first, second]
}

/// Of 36 bytes, 15 belong to jobs that move from the first resource to the second.
fn flows(resource: ProviderId) -> Box<[DataFlow]> {
    let here = Place::Resource(resource);
    let flow = |from, to, transfers, bytes| {
        let carried = Carried { transfers, bytes };
        DataFlow { from, to, carried }
    };
    let from = match resource {
        ProviderId(0) => Place::Storage,
        _ => Place::Resource(ProviderId(0)),
    };
    [
        flow(from, here, 2, 15),
        flow(Place::Checkpoints, here, 1, 3),
        flow(here, Place::Storage, 1, 7),
        flow(here, Place::Checkpoints, 3, 11),
    ]
    .into()
}

fn written(format: Format) -> (tempfile::TempDir, RunReader, Summary) {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    let options = WriteOptions { format, ..WriteOptions::default() };
    let mut cast = made_up::cast();
    cast.providers.iter_mut().for_each(|it| (it.processors, it.may_fail) = (1, true));
    cast.providers[1].first_processor = 1;
    let site = |name: &str| SiteInfo {
        name: name.to_owned(),
        resources: 1,
        slots: Some(2),
        reserved: false,
    };
    cast.sites = vec![site("alpha"), site("beta")];
    cast.on_grid = (0..).take(cast.workloads.len()).collect();
    let mut metrics = Metrics::new(cast.clone(), MetricsOptions::default());
    let mut writer = RunWriter::create(&folder, cast, options).expect("a new folder");
    for record in attempts() {
        writer.attempt_over(&record).expect("room");
        metrics.attempt_over(&record);
    }
    let job = Job::new(0, Time::ZERO, 1, Span::from_secs(100));
    // The saved work of the first attempt counts, and all work of the second.
    let reach = Reach { done: Work::from_mi(60), computing: Span::from_secs(60) };
    let counts = |it: &AttemptRecord| if it.number == 1 { reach } else { Reach::end(it) };
    let settled =
        |it: AttemptRecord| SettledAttempt { counts: Some(counts(&it)), record: it.into() };
    let class = JobClass::External;
    let job = SettledJob {
        record: JobRecord {
            provider: Some(ProviderId(1)),
            queued: Some(at(80)),
            start: Some(at(2)),
            ..JobRecord::never_queued(job, class, JobOutcome::Completed, at(130))
        },
        attempts: attempts().map(settled).into(),
        resources: 2,
        fate: Some(JobFate::Done),
        winner: Some(2),
        length: Work::from_mi(100),
        share: None,
        space: None,
    };
    let accounts = attempts().map(|it| ResourceAccount {
        resource: it.resource,
        down: Span::from_secs(50),
        failures: 1,
        busy: it.held(),
        full: Span::ZERO,
        held: it.held(),
        reserved: None,
        processed: it.computed(),
        attempts: 1,
        data: DataMoved { input: 5, output: 7, checkpoints: 11, recovery: 13 },
        flows: flows(it.resource),
    });
    for account in accounts {
        writer.resource_account(&account).expect("room");
        metrics.resource_account(account);
    }
    writer.grid_job_over(&job).expect("room");
    metrics.job_settled(&job);
    metrics.run_over(at(200)).expect("good books");
    let run = writer.finish().expect("room");
    let summary = metrics.summarise();
    run.write_summary(&summary).expect("room");
    run.write_provenance(&Provenance {
        about: haggle_results::About::default(),
        format: haggle_results::provenance::FORMAT,
        version: "0.1.0".to_owned(),
        build: "0".to_owned(),
        scenario_sha256: sha256(b"made up"),
        seed: 1,
        inputs: Vec::new(),
        own_rules: Vec::new(),
        local_time_at_zero: None,
        digest: run.digest().clone(),
        tables: run.table_sizes().expect("it can be read"),
    })
    .expect("room");
    run.publish().expect("room");
    let reader = RunReader::open(&folder).expect("the run was published");
    (place, reader, summary)
}

#[test]
fn attempts_checkpoints_and_transfers_are_told() {
    for format in [Format::Parquet, Format::Csv] {
        let (_place, run, _) = written(format);
        let attempts = run.columns(
            Table::Attempts,
            &["parent", "starting_time", "outcome", "work_at_start", "work_at_end", "data_time"],
        );
        let attempts = attempts.expect("readable");
        let real = |name: &str| attempts.real(name).expect("a float").to_vec();
        assert_eq!(attempts.integer("parent").expect("an integer").to_vec(), [None, Some(1)]);
        assert_eq!(real("starting_time"), [Some(2.0), Some(85.0)]);
        assert_eq!(real("work_at_start"), [Some(0.0), Some(60.0)]);
        assert_eq!(real("work_at_end"), [Some(70.0), Some(100.0)]);
        assert_eq!(real("data_time"), [Some(2.0), Some(5.0)]);
        assert_eq!(attempts.text("outcome").expect("a text").at(0), Some("failed"));
        let checkpoints = run.columns(Table::Checkpoints, &["checkpoint", "available_time"]);
        let available = checkpoints.expect("readable");
        let available = available.real("available_time").expect("a float").to_vec();
        assert_eq!(available, [Some(67.0), None]);
        let transfers = run.columns(Table::Transfers, &["from", "to", "transfers", "bytes"]);
        let transfers = transfers.expect("readable");
        let number = |name: &str| transfers.integer(name).expect("an integer").to_vec();
        let word = |name: &str, row| transfers.text(name).expect("a text").at(row);
        let ways: Vec<_> = (0..8).map(|row| (word("from", row), word("to", row))).collect();
        let way = |from, to| (Some(from), Some(to));
        let expected = [
            way("alpha", "beta"),
            way("alpha", "(storage)"),
            way("alpha", "(checkpoints)"),
            way("beta", "(storage)"),
            way("beta", "(checkpoints)"),
            way("(storage)", "alpha"),
            way("(checkpoints)", "alpha"),
            way("(checkpoints)", "beta"),
        ];
        assert_eq!(ways, expected);
        assert_eq!(number("transfers"), [2, 1, 3, 1, 3, 2, 1, 1].map(Some));
        assert_eq!(number("bytes"), [15, 7, 11, 7, 11, 15, 3, 3].map(Some));
        let [first, second] = &run.attempts().expect("readable")[..] else { panic!("two") };
        assert_eq!((first.slot(), first.start), (Some((0.0, 75.0)), Some(2.0)));
        assert!(first.has_failed() && first.saved.is_none());
        assert_eq!((first.checkpointing, first.checkpoints), (3.0, Some(1)));
        assert_eq!((second.slot(), second.end), (Some((80.0, 125.0)), Some(130.0)));
        assert_eq!(second.allocated.as_ref().map(ToString::to_string).as_deref(), Some("1"));
        assert!(run.placements().expect("readable").is_empty());
    }
}

#[test]
fn a_job_of_a_grid_has_a_row_like_others() {
    let (_place, run, _) = written(Format::Csv);
    let jobs = run.jobs().expect("readable");
    assert_eq!(jobs.len(), 1);
    assert_eq!((jobs[0].outcome.as_str(), jobs[0].start), ("completed", Some(2.0)));
    assert_eq!((jobs[0].left, jobs[0].queued), (130.0, Some(80.0)));
    assert_eq!(jobs[0].provider.as_deref(), Some("south, \"big\""));
    assert!(jobs[0].allocated.is_none());
    let data = run.columns(Table::Jobs, &["attempts", "providers_used"]).expect("readable");
    assert_eq!(data.integer("attempts").expect("an integer").to_vec(), [Some(2)]);
    assert_eq!(data.integer("providers_used").expect("an integer").to_vec(), [Some(2)]);
    let resources = run.resources().expect("readable");
    assert_eq!((resources[0].jobs, resources[0].busy_time), (1, 75.0));
    assert_eq!(resources[0].utilisation, None);
}

#[test]
fn a_summary_of_a_grid_claims_nothing_of_processors() {
    let (_place, run, summary) = written(Format::Csv);
    assert_eq!(run.summary().expect("readable"), summary);
    assert_eq!((summary.utilisation, summary.failures.is_none()), (None, true));
    assert_eq!((summary.time_computing, summary.time_idle), (120.0, 280.0));
    assert_eq!(summary.mean_waiting_time, Some(2.0));
    assert_eq!(summary.mean_turnaround_time, Some(130.0));
    assert_eq!(summary.all.average_weighted_response_time, None);
    let text = summary.to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let grid = summary.grid.expect("a grid");
    assert_eq!((grid.jobs, grid.done, grid.attempts), (1, 1, 2));
    assert_eq!((grid.work.useful, grid.work.lost), (100.0, 10.0));
    assert_eq!((grid.availability, grid.busy), (Some(0.75), Some(0.3)));
    assert_eq!(grid.resources[1].name, "south, \"big\"");
    assert!(text.contains("90.91 % useful, 9.09 % lost"), "{text}");
}

#[test]
fn runs_without_a_grid_have_no_tables_of_it() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    let (summary, _) =
        made_up::write(&folder, WriteOptions::default(), &made_up::records(3), 0).expect("room");
    let run = RunReader::open(&folder).expect("the run was published");
    let own = [Table::Checkpoints, Table::Transfers];
    assert!(own.into_iter().all(|table| !run.has(table)));
    assert!(summary.grid.is_none());
}

/// Both tasks begin and end at 10 s, so each of them ended when the other one was ready.
#[test]
fn the_critical_path_of_tasks_without_length_ends() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    let mut writer = RunWriter::create(&folder, made_up::cast(), WriteOptions::default())
        .expect("the folder is new");
    for number in 0..2 {
        let needs = [].into();
        let task = WorkflowTask { workflow: 0, task: number, data: None, progress: None, needs };
        let job = Job {
            task: Some(Arc::new(task)),
            ready: Some(at(10)),
            ..Job::new(number, at(0), 1, Span::ZERO)
        };
        let record = JobRecord {
            provider: Some(ProviderId(0)),
            queued: Some(at(10)),
            start: Some(at(10)),
            processors: ProcessorSet::range(0, 1),
            ..JobRecord::never_queued(job, JobClass::External, JobOutcome::Completed, at(10))
        };
        writer.job_over(&record).expect("there is room");
    }
    let finished = writer.finish().expect("there is room");
    let run = RunReader::open(&finished.publish().expect("the name is free")).expect("published");
    let tasks = JobRow::some(&run, &Rows::all()).expect("readable");
    let path = critical_path(&tasks.iter().collect::<Vec<_>>(), &[], |_| true);
    assert_eq!(path.iter().map(|it| it.task).collect::<Vec<_>>(), [Some(0), Some(1)]);
}
