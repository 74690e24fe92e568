//! Numbers of the sample output in Chtepen 2011, section 2.2, recomputed from accounts with its sums.
//! The sample output truncates numbers instead of rounding them; its work is in MIPS·ms, which are MI here.

use super::*;

/// A number with its first three decimals.
fn cut(value: Option<f64>) -> f64 {
    (value.expect("there is something to divide by") * 1000.0).floor() / 1000.0
}

/// 44,635.515 s of a day. With a second, idle resource the average is half of it.
#[test]
fn gm_2_h_time_that_is_not_idle() {
    let account = |resource, busy| ResourceAccount {
        resource: ProviderId(resource),
        busy,
        held: Span::ZERO,
        processed: Work::ZERO,
        ..account(&an_attempt(1, (0, 0), AttemptOutcome::Completed))
    };
    let mut books = Books::new();
    books.account(account(0, Span::from_micros(44_635_515_000)));
    books.account(account(1, Span::ZERO));
    books.run_over(86_400).expect("good books");
    let grid = books.sum_up();
    let percent = |share: Option<f64>| cut(share.map(|it| 100.0 * it));
    assert_eq!(percent(grid.resources[0].busy), 51.661);
    assert_eq!(percent(grid.busy), 25.830);
    assert_eq!(grid.resources[1].busy, Some(0.0));
}

const DONE: i64 = 6_986;
const BEGUN: i64 = 5;

/// Accounts with done jobs of this total length, s. Other jobs have just begun and make up the rest of
/// all submitted work.
fn sample(done_length: i64, submitted: Span) -> GridSummary {
    let end = 2_000_000;
    let mut books = Books::new();
    let all = ResourceAccount {
        held: Span::from_secs(done_length),
        processed: Work::from_mi(done_length as u64),
        ..account(&an_attempt(1, (0, 0), AttemptOutcome::Completed))
    };
    books.account(all);
    let mut add = |number: i64, record: AttemptRecord, length, outcome| {
        let id = JobId(number as u32);
        books.attempt_over(&AttemptRecord { job: id, ..record });
        let job = Job::new(id.0, Time::ZERO, 1, length);
        books.job_over(end, GridJobRecord { job: job.into(), ..over(0, outcome) });
    };
    for number in 0..DONE {
        let length = done_length / DONE + i64::from(number < done_length % DONE);
        let record = an_attempt(1, (0, length), AttemptOutcome::Completed);
        add(number, record, Span::from_secs(length), done(1, length));
    }
    let begun = (submitted - Span::from_secs(done_length)).as_micros() / BEGUN;
    for number in DONE..DONE + BEGUN {
        let record = an_attempt(1, (end, end), AttemptOutcome::Unfinished);
        add(number, record, Span::from_micros(begun), open(end, 1, &[]));
    }
    books.run_over(end).expect("good books");
    (0..2_733).for_each(|_| books.rejected());
    books.sum_up()
}

const SUBMITTED: Span = Span::from_micros(4_323_751_862_239_000);

#[test]
fn gm_2_j_mean_length_of_done_jobs() {
    let grid = sample(4_315_165_605, SUBMITTED);
    assert_eq!((grid.jobs, grid.done, grid.active, grid.never_started), (9_724, 6_986, 5, 0));
    assert_eq!(cut(grid.mean_length), 617_687.604);
}

/// Computed work is less than submitted work, by the jobs that are not done.
#[test]
fn gm_2_k_work_computed_of_work_submitted() {
    let grid = sample(4_315_162_273, SUBMITTED);
    assert_eq!((grid.work.total, grid.length_submitted), (4_315_162_273.0, 4_323_751_862.239));
    assert_eq!((100.0 * grid.work.total / grid.length_submitted).floor(), 99.0);
}
