//! A time-shared resource in its published cases, and against a recomputation step by step.

use haggle_grids::{Share, Sharing, Speed, TimeShared, Work};
use haggle_model::{JobId, Span, Time};
use haggle_testing::at;
use proptest::prelude::*;

fn equal(mips: u64, slots: u32) -> TimeShared {
    TimeShared::new(Speed::from_mips(mips), Sharing::Equal { slots })
}

fn submit(resource: &mut TimeShared, now: Time, job: u32, mi: u64, share: Share) {
    resource.reserve(now, JobId(job), Work::from_mi(mi), Work::ZERO, share).expect("has room");
    resource.start(now, JobId(job));
}

/// Runs to the end and returns the end of each job.
fn ends(resource: &mut TimeShared) -> Vec<(u32, Time)> {
    let mut ends = Vec::new();
    while let Some(now) = resource.next_completion() {
        let mut completed = Vec::new();
        resource.take_completed(now, &mut completed);
        assert!(!completed.is_empty(), "a job ends when it was said to");
        ends.extend(completed.into_iter().map(|job| (job.0, now)));
    }
    ends
}

#[test]
fn gm_m1_equal_shares_change_as_jobs_come_and_go() {
    let mut cr = equal(1, 3);
    submit(&mut cr, at(0), 1, 6, Share::WHOLE);
    submit(&mut cr, at(2), 2, 5, Share::WHOLE);
    submit(&mut cr, at(4), 3, 6, Share::WHOLE);
    let left = [(1, 3), (2, 4), (3, 6)];
    for ((job, left), length) in left.into_iter().zip([6, 5, 6]) {
        let done = cr.progress(at(4), JobId(job)).expect("it is here");
        assert_eq!(Work::from_mi(length) - done, Work::from_mi(left));
    }
    assert_eq!(ends(&mut cr), [(1, at(13)), (2, at(15)), (3, at(17))]);
    let usage = cr.usage(at(20));
    assert_eq!((usage.busy, usage.full), (Span::from_secs(17), Span::from_secs(9)));
    assert_eq!(usage.processed, Work::from_mi(17));
}

#[test]
fn gm_m2_input_holds_a_slot_without_computing() {
    let mut cr = equal(1, 2);
    let reserve = |cr: &mut TimeShared, now, job, mi| {
        cr.reserve(now, JobId(job), Work::from_mi(mi), Work::ZERO, Share::WHOLE)
    };
    assert_eq!(reserve(&mut cr, at(0), 1, 4), Ok(()));
    assert_eq!(reserve(&mut cr, at(0), 2, 2), Ok(()));
    assert!(reserve(&mut cr, at(0), 3, 3).is_err());
    cr.start(at(1), JobId(1));
    cr.start(at(1), JobId(2));
    assert_eq!(cr.next_completion(), Some(at(5)));
    let mut completed = Vec::new();
    cr.take_completed(at(5), &mut completed);
    assert_eq!(completed, [JobId(2)]);
    assert_eq!(reserve(&mut cr, at(5), 3, 3), Ok(()));
    // J1 has the processor to itself while J3's input is under way.
    cr.start(at(6), JobId(3));
    assert_eq!(ends(&mut cr), [(1, at(8)), (3, at(10))]);
}

#[test]
fn gm_m3_background_load_takes_from_all() {
    let mut cr = equal(4, 2);
    cr.set_background(at(0), Speed::from_mips(1));
    submit(&mut cr, at(0), 1, 12, Share::WHOLE);
    cr.set_background(at(2), Speed::from_mips(3));
    assert_eq!(ends(&mut cr), [(1, at(8))]);

    let mut cr = equal(4, 2);
    cr.set_background(at(0), Speed::from_mips(1));
    submit(&mut cr, at(0), 1, 12, Share::WHOLE);
    submit(&mut cr, at(1), 2, 6, Share::WHOLE);
    assert_eq!(ends(&mut cr), [(2, at(5)), (1, at(6))]);
}

#[test]
fn gm_m4_reserved_shares_are_constant() {
    let mut cr = TimeShared::new(Speed::from_mips(10), Sharing::Reserved { slots: None });
    submit(&mut cr, at(0), 1, 40, Share::from_percent(40));
    submit(&mut cr, at(0), 2, 35, Share::from_percent(35));
    assert!(cr.admits(Share::from_percent(30)).is_err());
    assert_eq!(ends(&mut cr), [(1, at(10)), (2, at(10))]);
    submit(&mut cr, at(10), 3, 30, Share::from_percent(30));
    assert_eq!(ends(&mut cr), [(3, at(20))]);
}

/// A resource that reserves shares is full if no share or no slot of it is left.
#[test]
fn what_takes_a_small_share_is_not_full() {
    let full = |slots, last| {
        let mut cr = TimeShared::new(Speed::from_mips(10), Sharing::Reserved { slots });
        submit(&mut cr, at(0), 1, 100, Share::from_percent(99));
        submit(&mut cr, at(2), 2, 100, last);
        cr.usage(at(5)).full
    };
    assert_eq!(full(None, Share(99)), Span::ZERO);
    assert_eq!(full(None, Share(100)), Span::from_secs(3));
    assert_eq!(full(Some(2), Share(99)), Span::from_secs(3));
}

#[test]
fn background_load_leaves_less_to_reserve() {
    let mut cr = TimeShared::new(Speed::from_mips(10), Sharing::Reserved { slots: Some(2) });
    cr.set_background(at(0), Speed::from_mips(3));
    assert!(cr.admits(Share(7_001)).is_err());
    submit(&mut cr, at(0), 1, 40, Share(6_000));
    submit(&mut cr, at(0), 2, 40, Share(500));
    assert!(cr.admits(Share(500)).is_err(), "both slots are taken");
}

#[test]
fn a_job_that_writes_a_checkpoint_holds_its_share() {
    let mut cr = equal(1, 2);
    submit(&mut cr, at(0), 1, 10, Share::WHOLE);
    submit(&mut cr, at(0), 2, 10, Share::WHOLE);
    assert_eq!(cr.pause(at(4), JobId(1)), Work::from_mi(2));
    assert_eq!(cr.progress(at(8), JobId(2)), Some(Work::from_mi(4)));
    cr.resume(at(8), JobId(1));
    assert_eq!(ends(&mut cr), [(2, at(20)), (1, at(22))]);
    assert_eq!(cr.usage(at(22)).busy, Span::from_secs(22));
    assert_eq!(cr.usage(at(22)).processed, Work::from_mi(20));
}

/// As before, but at 4 s the first job gives its slot back, and at 8 s its share.
#[test]
fn a_job_that_writes_its_last_checkpoint_holds_its_share_without_a_slot() {
    let mut cr = equal(1, 2);
    submit(&mut cr, at(0), 1, 10, Share::WHOLE);
    submit(&mut cr, at(0), 2, 10, Share::WHOLE);
    assert!(cr.admits(Share::WHOLE).is_err());
    assert_eq!(cr.pause(at(4), JobId(1)), Work::from_mi(2));
    cr.vacate(at(4), JobId(1));
    assert_eq!((cr.holders(), cr.sharers()), (1, 2));
    assert_eq!(cr.admits(Share::WHOLE), Ok(()));
    assert_eq!(cr.progress(at(8), JobId(1)), Some(Work::from_mi(2)));
    assert_eq!(cr.progress(at(8), JobId(2)), Some(Work::from_mi(4)));
    assert_eq!(cr.release(at(8), JobId(1)), Some(Work::from_mi(2)));
    assert_eq!(ends(&mut cr), [(2, at(14))]);
    let usage = cr.usage(at(14));
    assert_eq!((usage.held, usage.full), (Span::from_secs(18), Span::from_secs(4)));
    // The reserved share becomes free with the slot, and is not given back twice.
    let mut cr = TimeShared::new(Speed::from_mips(10), Sharing::Reserved { slots: None });
    submit(&mut cr, at(0), 1, 40, Share::from_percent(60));
    cr.pause(at(1), JobId(1));
    cr.vacate(at(1), JobId(1));
    assert_eq!(cr.admits(Share::WHOLE), Ok(()));
    cr.release(at(2), JobId(1));
    submit(&mut cr, at(2), 2, 40, Share::WHOLE);
    assert!(cr.admits(Share(1)).is_err());
}

#[test]
fn a_failure_ends_everything_and_says_what_was_done() {
    let mut cr = equal(1, 3);
    submit(&mut cr, at(0), 5, 10, Share::WHOLE);
    submit(&mut cr, at(2), 3, 10, Share::WHOLE);
    let waiting = cr.reserve(at(3), JobId(4), Work::from_mi(9), Work::from_mi(6), Share::WHOLE);
    assert_eq!(waiting, Ok(()));
    let mut lost = Vec::new();
    cr.fail(at(6), &mut lost);
    let done = [(3, 2), (4, 6), (5, 4)].map(|(job, mi)| (JobId(job), Work::from_mi(mi)));
    assert_eq!(lost, done);
    assert!(cr.admits(Share::WHOLE).is_err() && cr.next_completion().is_none());
    cr.restore(at(9));
    submit(&mut cr, at(9), 1, 1, Share::WHOLE);
    assert_eq!(ends(&mut cr), [(1, at(10))]);
    assert_eq!(cr.usage(at(10)).processed, Work::from_mi(7), "what was done before does not count");
}

#[test]
fn jobs_that_end_at_the_same_instant_end_by_number_and_without_speed_never() {
    let mut cr = equal(2, 3);
    for job in [2, 0, 1] {
        submit(&mut cr, at(0), job, 4, Share::WHOLE);
    }
    assert_eq!(cr.next_completion(), Some(at(6)));
    cr.set_background(at(3), Speed::from_mips(2));
    assert_eq!(cr.next_completion(), None);
    cr.set_background(at(5), Speed::ZERO);
    assert_eq!(ends(&mut cr), [(0, at(8)), (1, at(8)), (2, at(8))]);
}

#[test]
fn ends_are_rounded_up_to_the_next_microsecond() {
    let mut cr = equal(3, 2);
    submit(&mut cr, at(0), 1, 10, Share::WHOLE);
    assert_eq!(ends(&mut cr), [(1, Time::from_micros(3_333_334))]);
    assert_eq!(cr.usage(at(4)).processed, Work::from_mi(10));
}

/// A history of one resource.
#[derive(Clone, Debug)]
enum Step {
    Submit { length: u64 },
    Start { which: usize },
    Pause { which: usize },
    Resume { which: usize },
    Release { which: usize },
    Background { micro_mips: u64 },
    Fail,
    Restore,
}

fn histories() -> impl Strategy<Value = Vec<(i64, Step)>> {
    let step = prop_oneof![
        6 => (0..60_u64).prop_map(|length| Step::Submit { length }),
        6 => any::<usize>().prop_map(|which| Step::Start { which }),
        2 => any::<usize>().prop_map(|which| Step::Pause { which }),
        3 => any::<usize>().prop_map(|which| Step::Resume { which }),
        1 => any::<usize>().prop_map(|which| Step::Release { which }),
        1 => (0..=3_u64).prop_map(|micro_mips| Step::Background { micro_mips }),
        1 => Just(Step::Fail),
        2 => Just(Step::Restore),
    ];
    prop::collection::vec((0..12_i64, step), 1..120)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Reserved,
    Computing,
    Paused,
}

/// The same resource, computed microsecond by microsecond in fractions with one denominator: 3 micro-MIPS divided
/// among up to `slots` jobs.
struct Obvious {
    slots: usize,
    avail: u64,
    up: bool,
    /// Job, state, remaining work and completed work.
    jobs: Vec<(JobId, State, i128, i128)>,
    processed: i128,
}

impl Obvious {
    /// Parts of a micro-MIPS in a microsecond: divisible by all numbers of jobs.
    const PARTS: i128 = 5 * 4 * 3;

    /// Computes one microsecond and returns the jobs that have ended.
    fn tick(&mut self) -> Vec<JobId> {
        let sharers = self.jobs.iter().filter(|job| job.1 != State::Reserved).count() as i128;
        for job in self.jobs.iter_mut().filter(|job| job.1 == State::Computing) {
            let done = (i128::from(self.avail) * Obvious::PARTS / sharers).min(job.2);
            job.2 -= done;
            job.3 += done;
            self.processed += done;
        }
        self.ended()
    }

    fn ended(&mut self) -> Vec<JobId> {
        let is_over = |job: &(JobId, State, i128, i128)| job.1 == State::Computing && job.2 == 0;
        let ended = self.jobs.iter().filter(|job| is_over(job)).map(|job| job.0).collect();
        self.jobs.retain(|job| !is_over(job));
        ended
    }

    fn pick(&self, which: usize, state: State) -> Option<JobId> {
        let jobs: Vec<_> = self.jobs.iter().filter(|job| job.1 == state).collect();
        (!jobs.is_empty()).then(|| jobs[which % jobs.len()].0)
    }

    fn set(&mut self, id: JobId, state: State) {
        self.jobs.iter_mut().find(|job| job.0 == id).expect("picked").1 = state;
    }
}

fn parts(work: Work) -> i128 {
    (work.as_parts() * Obvious::PARTS as u128 / Work::PER_MICRO) as i128
}

proptest! {
    #[test]
    fn every_end_and_all_progress_is_that_of_a_step_by_step_recomputation(
        slots in 1..=5_u32,
        history in histories(),
    ) {
        let capacity = Speed::from_micro_mips(3);
        let mut fast = TimeShared::new(capacity, Sharing::Equal { slots });
        let mut obvious =
            Obvious { slots: slots as usize, avail: 3, up: true, jobs: Vec::new(), processed: 0 };
        let mut now = Time::ZERO;
        for (number, (wait, step)) in history.into_iter().enumerate() {
            for _ in 0..wait {
                let due = fast.next_completion();
                now += Span::TICK;
                let mut ended = obvious.tick();
                ended.sort_unstable();
                let mut completed = Vec::new();
                if due == Some(now) {
                    fast.take_completed(now, &mut completed);
                }
                completed.sort_unstable();
                prop_assert_eq!(&completed, &ended);
            }
            match step {
                Step::Submit { length } => {
                    let job = JobId(number as u32);
                    let length = Work::from_parts(u128::from(length) * Work::PER_MICRO);
                    let fits = obvious.up && obvious.jobs.len() < obvious.slots;
                    let reserved = fast.reserve(now, job, length, Work::ZERO, Share::WHOLE);
                    prop_assert_eq!(reserved.is_ok(), fits);
                    if fits {
                        obvious.jobs.push((job, State::Reserved, parts(length), 0));
                        obvious.jobs.sort_unstable_by_key(|job| job.0);
                    }
                }
                Step::Start { which } => {
                    if let Some(job) = obvious.pick(which, State::Reserved) {
                        obvious.set(job, State::Computing);
                        fast.start(now, job);
                    }
                }
                Step::Pause { which } => {
                    if let Some(job) = obvious.pick(which, State::Computing) {
                        obvious.set(job, State::Paused);
                        let done = fast.pause(now, job);
                        let known = obvious.jobs.iter().find(|entry| entry.0 == job);
                        prop_assert_eq!(parts(done), known.expect("picked").3);
                    }
                }
                Step::Resume { which } => {
                    if let Some(job) = obvious.pick(which, State::Paused) {
                        obvious.set(job, State::Computing);
                        fast.resume(now, job);
                    }
                }
                Step::Release { which } => {
                    if !obvious.jobs.is_empty() {
                        let index = which % obvious.jobs.len();
                        let (job, _, _, done) = obvious.jobs.remove(index);
                        prop_assert_eq!(fast.release(now, job).map(parts), Some(done));
                    }
                }
                Step::Background { micro_mips } => {
                    obvious.avail = 3 - micro_mips;
                    fast.set_background(now, Speed::from_micro_mips(micro_mips));
                }
                Step::Fail => {
                    let mut lost = Vec::new();
                    fast.fail(now, &mut lost);
                    let lost: Vec<_> = lost.into_iter().map(|(job, done)| (job, parts(done))).collect();
                    let known: Vec<_> = obvious.jobs.drain(..).map(|job| (job.0, job.3)).collect();
                    prop_assert_eq!(lost, known);
                    obvious.up = false;
                }
                Step::Restore => {
                    fast.restore(now);
                    obvious.up = true;
                }
            }
            // A job without length ends where it starts.
            let mut completed = Vec::new();
            fast.take_completed(now, &mut completed);
            completed.sort_unstable();
            prop_assert_eq!(completed, obvious.ended());
            for job in &obvious.jobs {
                prop_assert_eq!(fast.progress(now, job.0).map(parts), Some(job.3));
            }
            prop_assert_eq!(parts(fast.usage(now).processed), obvious.processed);
            prop_assert!(fast.holders() <= slots);
        }
    }

    /// Beyond 22 jobs, shares are not whole parts; still, every part that is given is counted once.
    #[test]
    fn what_all_jobs_have_done_is_what_the_resource_has_processed(
        slots in 20..60_u32,
        lengths in prop::collection::vec((1..5_000_u64, 0..40_i64), 1..120),
    ) {
        let mut cr = TimeShared::new(Speed::from_micro_mips(7), Sharing::Equal { slots });
        let (mut now, mut finished) = (Time::ZERO, 0);
        let mut all = 0;
        for (number, (length, wait)) in lengths.into_iter().enumerate() {
            let until = now + Span::from_micros(wait);
            while let Some(end) = cr.next_completion().filter(|&end| end <= until) {
                let mut completed = Vec::new();
                cr.take_completed(end, &mut completed);
                prop_assert!(!completed.is_empty());
                finished += completed.len();
            }
            now = until;
            let work = Work::from_parts(u128::from(length) * Work::PER_MICRO + 1);
            let job = JobId(number as u32);
            if cr.reserve(now, job, work, Work::ZERO, Share::WHOLE).is_ok() {
                cr.start(now, job);
                all += work.as_parts();
            }
        }
        let jobs = finished + cr.jobs().count();
        prop_assert_eq!(finished + ends(&mut cr).len(), jobs);
        prop_assert_eq!(cr.usage(now + Span::from_secs(1)).processed.as_parts(), all);
    }

    /// A reserved share is the same whichever other jobs come and go.
    #[test]
    fn reserved_shares_do_not_depend_on_the_others(
        jobs in prop::collection::vec((0..50_i64, 1..5_001_u32, 0..5_000_u128), 1..40),
    ) {
        let capacity = Speed::from_micro_mips(3);
        let mut cr = TimeShared::new(capacity, Sharing::Reserved { slots: None });
        let (mut now, mut found, mut expected, mut all) = (Time::ZERO, Vec::new(), Vec::new(), 0);
        for (number, (wait, share, length)) in (0..).zip(jobs) {
            let until = now + Span::from_micros(wait);
            while let Some(end) = cr.next_completion().filter(|&end| end <= until) {
                let mut completed = Vec::new();
                cr.take_completed(end, &mut completed);
                found.extend(completed.into_iter().map(|job| (job.0, end)));
            }
            now = until;
            let work = Work::from_parts(length * Work::PER_MICRO / 7);
            let given: u32 = expected.iter().filter(|&&(_, end, _)| end > now).map(|job| job.2).sum();
            let reserved = cr.reserve(now, JobId(number), work, Work::ZERO, Share(share));
            prop_assert_eq!(reserved.is_ok(), given + share <= 10_000);
            if reserved.is_ok() {
                cr.start(now, JobId(number));
                let rate = 3 * u128::from(share) * (Work::PER_MICRO / 10_000);
                let micros = work.as_parts().div_ceil(rate) as i64;
                expected.push((number, now + Span::from_micros(micros), share));
                all += work.as_parts();
                // Jobs without length end at once.
                let mut completed = Vec::new();
                cr.take_completed(now, &mut completed);
                found.extend(completed.into_iter().map(|job| (job.0, now)));
            }
        }
        found.extend(ends(&mut cr));
        found.sort_unstable();
        let expected: Vec<_> = expected.into_iter().map(|(job, end, _)| (job, end)).collect();
        prop_assert_eq!(found, expected);
        let end = now + Span::from_secs(1_000);
        prop_assert_eq!(cr.usage(end).processed.as_parts(), all);
    }
}

/// Parts of work are so small that up to 22 jobs share them evenly.
#[test]
fn shares_of_more_than_22_jobs_may_not_be_whole() {
    let mut cr = equal(1, 23);
    for job in 0..22 {
        submit(&mut cr, at(0), job, 100, Share::WHOLE);
        assert!(cr.shares_are_whole(), "{} jobs", job + 1);
    }
    submit(&mut cr, at(0), 22, 100, Share::WHOLE);
    assert!(!cr.shares_are_whole());
}
