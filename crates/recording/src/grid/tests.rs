//! Accounts of small grids, calculated by hand.

mod published;

use haggle_model::grid::{
    AttemptRecord, CheckpointRecord, DataMoved, GridJobRecord, GridOutcome, KeptCheckpoint,
    ResourceAccount, RoundsAccount,
};
use haggle_model::work::{Fraction, Work};
use haggle_model::{
    AttemptOutcome, Cast, Job, JobClass, JobId, JobOutcome, JobRecord, ProviderId, ProviderInfo,
    Refusal, SiteInfo, Span, Time,
};
use haggle_results::metrics::{GridSessions, GridSummary};
use haggle_results::{Metrics, MetricsOptions, SettledJob};
use haggle_testing::at;

use super::*;

/// The jobs of a grid of three resources of 1 MIPS, with their metrics.
#[derive(Clone)]
struct Books {
    jobs: GridJobs,
    metrics: Metrics,
}

impl Books {
    fn new() -> Books {
        let resource = |number: u32| ProviderInfo {
            name: format!("r{number}"),
            processors: 1,
            first_processor: number,
            speed: 1.0,
            scheduler: "shared".to_owned(),
            may_fail: false,
            may_preempt: false,
            nodes: None,
        };
        let cast = Cast {
            providers: (0..3).map(resource).collect(),
            sites: vec![SiteInfo {
                name: "site".to_owned(),
                resources: 3,
                slots: Some(2),
                reserved: false,
            }],
            workloads: vec!["jobs".to_owned()],
            on_grid: [0].into(),
            ..Cast::default()
        };
        let metrics = Metrics::new(cast.clone(), MetricsOptions::default());
        Books { jobs: GridJobs::default(), metrics }
    }

    fn attempt_over(&mut self, record: &AttemptRecord) {
        self.metrics.attempt_over(record);
        self.jobs.attempt_over(record.clone());
    }

    fn job_over(&mut self, end: i64, job: GridJobRecord) {
        self.jobs.job_over(at(end), job);
    }

    fn rejected(&mut self) {
        let (class, outcome) = (JobClass::External, JobOutcome::Rejected(Refusal::NoRoom));
        let job = Job::new(9, Time::ZERO, 1, Span::ZERO);
        self.metrics.job_over(&JobRecord::never_queued(job, class, outcome, Time::ZERO));
    }

    fn account(&mut self, account: ResourceAccount) {
        self.metrics.resource_account(account);
    }

    /// Settles all jobs, and returns an error if the accounts do not balance.
    fn run_over(&mut self, end: i64) -> Result<Vec<SettledJob>, String> {
        let settled = self.jobs.settle_some(usize::MAX).map_err(|error| error.to_string())?;
        settled.iter().for_each(|job| self.metrics.job_settled(job));
        self.jobs.take_left().iter().for_each(|it| self.metrics.attempt_left(it));
        self.metrics.run_over(at(end)).map_err(|error| error.to_string())?;
        Ok(settled)
    }

    fn sum_up(&self) -> GridSummary {
        self.metrics.summarise().grid.expect("there is a grid")
    }
}

/// An attempt on a resource of 1 MIPS, which computes from the instant at which it gets its slot.
fn an_attempt(number: u32, (start, end): (i64, i64), outcome: AttemptOutcome) -> AttemptRecord {
    AttemptRecord {
        job: JobId(0),
        number,
        resource: ProviderId(number - 1),
        from: Work::ZERO,
        parent: None,
        dispatched: at(start),
        started: Some(at(start)),
        left: at(end),
        end: at(end),
        outcome,
        done: Work::from_mi((end - start) as u64),
        computing: Span::from_secs(end - start),
        writing: Span::ZERO,
        written: 0,
        available: 0,
        checkpoints: Box::default(),
        omitted: 0,
        kept: None,
        data: haggle_model::grid::DataMoved::default(),
    }
}

/// A checkpoint that was requested at `requested`, after this much work and as many seconds of computing.
fn checkpoint(
    requested: i64,
    done: u64,
    written: Option<i64>,
    available: Option<i64>,
) -> CheckpointRecord {
    CheckpointRecord {
        requested: at(requested),
        done: Work::from_mi(done),
        computing: Span::from_secs(done as i64),
        written: written.map(at),
        available: available.map(at),
    }
}

fn over(length: i64, outcome: GridOutcome) -> GridJobRecord {
    let job = Job::new(0, Time::ZERO, 1, Span::from_secs(length));
    GridJobRecord { job: job.into(), class: JobClass::External, share: None, outcome }
}

fn done(winner: u32, end: i64) -> GridOutcome {
    GridOutcome::Done { winner, computed: at(end), end: at(end) }
}

/// A job that is not done. The attempts in `replaced` are restarted if they have failed.
fn open(end: i64, wanted: u32, replaced: &[u32]) -> GridOutcome {
    GridOutcome::Open { end: at(end), wanted, replaced: replaced.to_vec() }
}

/// The accounts of a grid with one job, in which resources did exactly the work of its attempts.
fn books(end: i64, attempts: &[AttemptRecord], job: GridJobRecord) -> (GridSummary, SettledJob) {
    let mut books = Books::new();
    for record in attempts {
        books.attempt_over(record);
        books.account(account(record));
    }
    books.job_over(end, job);
    let settled = books.run_over(end).unwrap_or_else(|error| panic!("{error}"));
    (books.sum_up(), settled[0].clone())
}

fn account(record: &AttemptRecord) -> ResourceAccount {
    ResourceAccount {
        resource: record.resource,
        down: Span::ZERO,
        failures: u32::from(record.outcome == AttemptOutcome::Failed),
        busy: record.held(),
        full: record.held(),
        held: record.held(),
        reserved: None,
        processed: record.computed(),
        attempts: 1,
        data: DataMoved::default(),
        flows: Box::default(),
    }
}

/// Example M-1: a job of 100 MI, I = 30 s, C = 2 s, L = 3 s, R = 5 s. Its resource fails at 75 s, which is
/// detected at 80 s.
fn restarted() -> [AttemptRecord; 2] {
    let first = AttemptRecord {
        done: Work::from_mi(71),
        computing: Span::from_secs(71),
        writing: Span::from_secs(4),
        written: 2,
        available: 2,
        checkpoints: Box::new([
            checkpoint(30, 30, Some(32), Some(35)),
            checkpoint(62, 60, Some(64), Some(67)),
        ]),
        kept: Some(Box::new(KeptCheckpoint { since: at(35), bytes: 10 })),
        ..an_attempt(1, (0, 75), AttemptOutcome::Failed)
    };
    let second = AttemptRecord {
        from: Work::from_mi(60),
        parent: Some(1),
        started: Some(at(85)),
        done: Work::from_mi(100),
        computing: Span::from_secs(40),
        writing: Span::from_secs(2),
        written: 1,
        available: 1,
        checkpoints: Box::new([CheckpointRecord {
            computing: Span::from_secs(30),
            ..checkpoint(115, 90, Some(117), Some(120))
        }]),
        kept: Some(Box::new(KeptCheckpoint { since: at(120), bytes: 10 })),
        ..an_attempt(2, (80, 127), AttemptOutcome::Completed)
    };
    [first, second]
}

#[test]
fn ft_m1_what_was_done_after_the_last_checkpoint_is_lost() {
    let (grid, job) = books(127, &restarted(), over(100, done(2, 127)));
    assert_eq!((grid.work.useful, grid.work.lost, grid.work.total), (100.0, 11.0, 111.0));
    let time = grid.slot_time;
    assert_eq!((time.useful, time.lost, time.checkpoints, time.transfers), (100.0, 11.0, 6.0, 5.0));
    assert_eq!((time.duplicate, time.in_progress, time.total), (0.0, 0.0, 122.0));
    assert_eq!(grid.lost_percent_of_work, Some(100.0 * 11.0 / 111.0));
    // From the first checkpoint on, a checkpoint is always available.
    assert_eq!(grid.checkpoint_space, Some(10.0 * (127.0 - 35.0) / 127.0));
    assert_eq!(grid.lost_percent_of_jobs, Some(0.0));
    assert_eq!((grid.mean_run_time_win, grid.mean_run_time_first), (Some(127.0), Some(127.0)));
    assert_eq!((grid.checkpoints_written, grid.checkpoints_available), (3, 3));
    assert_eq!(grid.checkpoints_written_per_started_job, Some(3.0));
    assert_eq!((job.attempts.len(), job.resources), (2, 2));
    assert_eq!(job.record.outcome, JobOutcome::Completed);
    assert_eq!((job.record.start, job.record.end), (Some(at(0)), at(127)));
    assert_eq!(job.record.provider, Some(ProviderId(1)));
}

#[test]
fn a_job_that_waits_for_a_restart_keeps_its_newest_checkpoint() {
    let [first, _] = restarted();
    let first = [first];
    let (grid, job) = books(78, &first, over(100, open(78, 1, &[1])));
    assert_eq!((grid.waiting_for_restart, grid.jobs), (1, 1));
    assert_eq!((grid.work.in_progress, grid.work.lost), (60.0, 11.0));
    assert_eq!((grid.slot_time.in_progress, grid.slot_time.checkpoints), (60.0, 4.0));
    assert_eq!((job.record.outcome, job.record.start), (JobOutcome::Unfinished, None));
    // Without a restart, its saved work is not used.
    let (grid, job) = books(78, &first, over(100, open(78, 1, &[])));
    assert_eq!((grid.lost, grid.work.in_progress, grid.work.lost), (1, 0.0, 71.0));
    assert_eq!(grid.mean_length_lost, Some(100.0));
    assert_eq!(job.record.outcome, JobOutcome::Failed);
}

#[test]
fn what_is_computed_when_the_run_ends_is_in_progress_with_all_it_is_built_on() {
    let [first, second] = restarted();
    // 20 s before its end: 30 MI since it was restarted, of which a checkpoint is being written.
    let second = AttemptRecord {
        outcome: AttemptOutcome::Unfinished,
        left: at(116),
        end: at(116),
        done: Work::from_mi(90),
        computing: Span::from_secs(30),
        writing: Span::from_secs(1),
        checkpoints: Box::default(),
        ..second
    };
    let (grid, job) = books(116, &[first, second], over(100, open(116, 1, &[2])));
    assert_eq!((grid.active, grid.work.in_progress, grid.work.lost), (1, 90.0, 11.0));
    assert_eq!((grid.slot_time.in_progress, grid.slot_time.checkpoints), (90.0, 5.0));
    assert_eq!((job.record.outcome, job.record.start), (JobOutcome::Unfinished, Some(at(0))));
}

#[test]
fn copies_of_a_job_are_duplicates_unless_its_winner_started_from_them() {
    // The second copy starts from the checkpoint of the first, on a faster resource, and
    // the third from the beginning.
    let first = AttemptRecord {
        written: 1,
        available: 1,
        checkpoints: Box::new([checkpoint(10, 10, Some(10), Some(12))]),
        ..an_attempt(1, (0, 25), AttemptOutcome::Cancelled)
    };
    let second = AttemptRecord {
        from: Work::from_mi(10),
        parent: Some(1),
        done: Work::from_mi(30),
        computing: Span::from_secs(5),
        ..an_attempt(2, (20, 25), AttemptOutcome::Completed)
    };
    let third = an_attempt(3, (5, 25), AttemptOutcome::Cancelled);
    let (grid, job) = books(25, &[first, second, third], over(30, done(2, 25)));
    assert_eq!((grid.work.useful, grid.work.duplicate, grid.work.lost), (30.0, 35.0, 0.0));
    assert_eq!((grid.slot_time.useful, grid.slot_time.duplicate), (15.0, 35.0));
    assert_eq!((grid.replicas_cancelled, grid.attempts), (2, 3));
    assert_eq!(grid.mean_length, Some(30.0));
    assert_eq!((job.record.start, job.record.queued), (Some(at(0)), Some(at(20))));
}

#[test]
fn run_time_is_that_of_the_winner_or_since_any_try_started() {
    let attempts = [
        an_attempt(1, (0, 10), AttemptOutcome::Failed),
        an_attempt(2, (30, 50), AttemptOutcome::Completed),
    ];
    let (grid, _) = books(50, &attempts, over(20, done(2, 50)));
    assert_eq!((grid.mean_run_time_win, grid.mean_run_time_first), (Some(20.0), Some(50.0)));
    assert_eq!((grid.failures, grid.availability), (1, Some(1.0)));
    assert_eq!((grid.busy, grid.started), (Some(30.0 / 100.0), 1));
}

#[test]
fn a_migration_takes_along_what_was_done() {
    let moved = AttemptRecord {
        done: Work::from_mi(8),
        computing: Span::from_secs(8),
        writing: Span::from_secs(2),
        written: 1,
        available: 1,
        checkpoints: Box::new([checkpoint(8, 8, Some(10), Some(10))]),
        ..an_attempt(1, (0, 10), AttemptOutcome::Moved)
    };
    let second = AttemptRecord {
        from: Work::from_mi(8),
        parent: Some(1),
        dispatched: at(8),
        started: Some(at(13)),
        done: Work::from_mi(20),
        computing: Span::from_secs(12),
        ..an_attempt(2, (8, 25), AttemptOutcome::Completed)
    };
    let (grid, _) = books(25, &[moved, second], over(20, done(2, 25)));
    assert_eq!((grid.migrations, grid.work.useful, grid.work.lost), (1, 20.0, 0.0));
    assert_eq!((grid.slot_time.transfers, grid.slot_time.checkpoints), (5.0, 2.0));
}

#[test]
fn ft_m9_a_job_is_lost_with_its_last_copy() {
    let (one, two) = (
        an_attempt(1, (0, 10), AttemptOutcome::Failed),
        an_attempt(2, (0, 20), AttemptOutcome::Completed),
    );
    let (grid, _) = books(30, &[one.clone(), two.clone()], over(20, done(2, 20)));
    assert_eq!((grid.done, grid.lost), (1, 0));
    let two = AttemptRecord { outcome: AttemptOutcome::Failed, ..two };
    let job = || over(30, open(30, 2, &[]));
    let (grid, _) = books(30, &[one.clone(), two], job());
    assert_eq!((grid.done, grid.lost, grid.lost_percent_of_jobs), (0, 1, Some(100.0)));
    let (grid, job) = books(30, &[one], job());
    assert_eq!((grid.lost, grid.lost_pending), (0, 1));
    assert_eq!(job.record.outcome, JobOutcome::Unfinished);
}

#[test]
fn a_job_waits_for_a_restart_if_any_attempt_is_replaced() {
    let attempts = [
        an_attempt(1, (0, 10), AttemptOutcome::Failed),
        an_attempt(2, (20, 30), AttemptOutcome::Failed),
    ];
    // The first attempt has been replaced. The failure of its replacement will never be detected.
    let (grid, _) = books(40, &attempts, over(50, open(40, 1, &[])));
    assert_eq!((grid.lost, grid.waiting_for_restart), (1, 0));
    // The next round sends a third.
    let (grid, _) = books(40, &attempts, over(50, open(40, 1, &[1, 2])));
    assert_eq!((grid.lost, grid.waiting_for_restart), (0, 1));
}

#[test]
fn jobs_are_settled_when_the_instant_is_over_in_which_they_were_done() {
    let mut jobs = GridJobs::default();
    jobs.attempt_over(an_attempt(1, (0, 10), AttemptOutcome::Completed));
    jobs.job_over(at(10), over(10, done(1, 10)));
    assert_eq!(jobs.settle(at(10)), Ok(Vec::new()));
    // The copy is cancelled at the same instant, after the job was done.
    jobs.attempt_over(an_attempt(2, (0, 10), AttemptOutcome::Cancelled));
    let settled = jobs.settle(at(11)).expect("good books");
    assert_eq!((settled.len(), settled[0].attempts.len()), (1, 2));
    assert!(jobs.attempts.is_empty() && jobs.over.is_empty());
}

/// An attempt that failed counts as lost if its job is missing.
#[test]
fn attempts_that_belong_to_no_job_are_lost() {
    let mut books = Books::new();
    let record = an_attempt(1, (0, 10), AttemptOutcome::Failed);
    books.attempt_over(&record);
    books.account(account(&record));
    assert_eq!(books.run_over(10), Ok(Vec::new()));
    assert_eq!((books.sum_up().work.lost, books.sum_up().work.lost_by_failure), (10.0, 10.0));
}

/// One session of 40 % is done, one of 30 % is lost, two are rejected.
#[test]
fn sessions_reserve_shares_while_they_run() {
    let mut books = Books::new();
    books.metrics.rounds_account(RoundsAccount { rounds: 7, with_queue: 2, evaluations: 0 });
    let session = |percent| Some(Fraction::from_percent(percent));
    let first = an_attempt(1, (0, 10), AttemptOutcome::Completed);
    let second = AttemptRecord {
        job: JobId(1),
        resource: ProviderId(0),
        ..an_attempt(1, (2, 6), AttemptOutcome::Failed)
    };
    for record in [&first, &second] {
        books.attempt_over(record);
    }
    let lost = GridJobRecord {
        job: Job::new(1, Time::ZERO, 1, Span::from_secs(9)).into(),
        share: session(30),
        ..over(9, GridOutcome::Lost(at(6)))
    };
    books.job_over(6, lost);
    books.job_over(10, GridJobRecord { share: session(40), ..over(10, done(1, 10)) });
    books.rejected();
    books.rejected();
    let reserved = (10 * 400_000 + 4 * 300_000) * 1_000_000;
    let whole = |reserved| ResourceAccount {
        held: first.held() + second.held(),
        processed: first.computed() + second.computed(),
        reserved: Some(reserved),
        ..account(&first)
    };
    let mut wrong = books.clone();
    books.account(whole(reserved));
    let settled = books.run_over(20).expect("good books");
    assert_eq!(settled[0].record.outcome, JobOutcome::Failed);
    let summary = books.sum_up();
    assert_eq!((summary.done, summary.lost, summary.never_started), (1, 1, 0));
    assert_eq!((summary.rounds, summary.rounds_with_queue), (7, 2));
    let sessions = GridSessions {
        accepted: 2,
        rejected: 2,
        accepted_percent: Some(50.0),
        mean_share: Some(0.35),
        reserved: Some(0.26),
        per_resource: Some(0.7),
    };
    assert_eq!((summary.sessions, summary.resources[0].reserved), (Some(sessions), Some(0.26)));
    wrong.account(whole(reserved + 1));
    assert_eq!(
        wrong.run_over(20).expect_err("too much"),
        "resources reserved 5200000000001 us x ppm of shares, and the attempts of all sessions have \
         5200000000000"
    );
}

#[test]
fn books_that_do_not_balance_are_found() {
    let ledger = |record: &AttemptRecord, account: ResourceAccount, job| {
        let mut books = Books::new();
        books.attempt_over(record);
        books.account(account);
        books.job_over(10, job);
        books.run_over(10).expect_err("something is wrong")
    };
    let record = an_attempt(1, (0, 10), AttemptOutcome::Completed);
    let job = || over(10, done(1, 10));
    let longer = ResourceAccount { held: Span::from_micros(10_000_001), ..account(&record) };
    assert_eq!(
        ledger(&record, longer, job()),
        "slots were held for 10000001 us, and the attempts of all jobs have 10000000 us"
    );
    let more = ResourceAccount { processed: Work::from_parts(7), ..account(&record) };
    let message = ledger(&record, more, job());
    assert!(
        message.starts_with("resources computed 7 parts of work, and the attempts"),
        "{message}"
    );
    let data = DataMoved { input: 7, ..DataMoved::default() };
    let message = ledger(&record, ResourceAccount { data, ..account(&record) }, job());
    assert_eq!(message, "7 bytes have arrived at resources and from them, and 0 on their ways");
    let message = ledger(&record, account(&record), over(11, done(1, 10)));
    assert!(message.starts_with("job 0 is "), "{message}");
    let message = ledger(&record, account(&record), over(10, done(2, 10)));
    assert_eq!(message, "job 0 is done, and the attempt that did it is not on record");
    let orphan = AttemptRecord { parent: Some(7), ..record };
    assert_eq!(
        ledger(&orphan, account(&orphan), job()),
        "an attempt of job 0 started from a checkpoint that was never written"
    );
}
