//! Reservations with windows, from the user to the start: messages and invariants.

use haggle_agents::protocol::{Message, ReservationMessage, SubmissionMessage};
use haggle_agents::{Maintenance, OnFailure};
use haggle_model::random::stream;
use haggle_model::reservation::{Answer, Cause, Remedy, Reservation};
use haggle_model::{
    EventsOrder, Job, JobOutcome, JobRecord, JobShape, ProcessorSet, Refusal, Span, Speedup,
};
use haggle_runtime::Driver;
use haggle_scheduling::reservations::{Criterion, ReservationConfig};
use haggle_scheduling::{CheckpointRule, Interval, Overlap, Overrun, Policy, Scheduling};
use haggle_testing::at;
use proptest::prelude::*;
use rand::RngExt;

use crate::setup::{Setup, job};
use crate::trouble::trouble;

fn provider(processors: u32, criterion: Criterion, threshold: Option<u32>) -> Setup {
    let config = ReservationConfig { criterion, threshold, ..ReservationConfig::default() };
    let setup = Setup::default().provider(processors, Policy::Fcfs);
    setup.change(|it| it.scheduler = Scheduling::Reservations(config))
}

/// A job that requests a window: number, submission, processors, time, ready time, deadline.
fn asks(number: i64, submit: i64, work: (u32, i64), window: (i64, i64)) -> Job {
    Job {
        ready: Some(at(window.0)),
        deadline: Some(at(window.1)),
        reservation: Some(Reservation::default()),
        ..job(number, submit, work.1, work.1, work.0)
    }
}

fn accepts(percent: u32, job: Job) -> Job {
    let reservation = job.reservation.unwrap_or_default();
    Job { reservation: Some(Reservation { accepts: Some(percent), ..reservation }), ..job }
}

/// Jobs with and without windows, too many for all to have room, with failures and overruns.
pub(crate) fn reserving(jobs: i64, seed: u64) -> Setup {
    let setup = provider(4, Criterion::ALL[(seed % 5) as usize], Some(200));
    let mut setup = setup.change(|it| {
        it.overrun = if seed.is_multiple_of(2) { Overrun::Kill } else { Overrun::Extend };
        it.reserving.fix_at = [None, Some(0), Some(50)][(seed % 3) as usize];
        it.reserving.alternatives = 1 + (seed % 4) as u32;
        it.on_failure = match seed / 5 % 4 {
            0 => OnFailure::Requeue,
            1 => {
                let (interval, free) = (Span::from_secs(2), Span::ZERO);
                OnFailure::Resume(CheckpointRule::every(interval, free, free))
            }
            _ => OnFailure::Restart,
        };
        let closes = |announced, start, overlap| Maintenance {
            announced: at(announced),
            window: Interval { start: at(start), span: Span::from_secs(5), processors: 3 },
            overlap,
        };
        if seed % 4 == 3 {
            it.maintenance =
                vec![closes(0, 12, Overlap::Refuse), closes(seed as i64 % 20, 25, Overlap::Break)];
        }
    });
    let patience = seed.is_multiple_of(7).then(|| Span::from_secs(10));
    setup = setup.user_with_patience(0, patience, drawn(jobs, seed));
    setup.order = [EventsOrder::default(), EventsOrder::CompletionsFirst][(seed / 2 % 2) as usize];
    if seed % 3 == 1 {
        setup.failing = vec![(0, ProcessorSet::range(0, 2), vec![(9, 15), (30, 31)])];
    }
    setup
}

/// Requests of users.
fn drawn(jobs: i64, seed: u64) -> Vec<Job> {
    let mut dice = stream(seed, "reserving", "jobs");
    let mut submit = 0;
    let mut list = Vec::new();
    for number in 1..=jobs {
        submit += dice.random_range(0..4);
        let (processors, time) = (dice.random_range(1..=5), dice.random_range(1..12));
        let ready = submit + dice.random_range(0..20);
        let by = ready + time + dice.random_range(0..8);
        let mut job = asks(number, submit, (processors, time), (ready, by));
        match dice.random_range(0..8) {
            0 => job = Job { reservation: None, ..job },
            1 => job.deadline = None,
            2 => job.ready = None,
            _ => {}
        }
        if job.reservation.is_some() && dice.random_range(0..2) == 0 {
            job = accepts(dice.random_range(0..200), job);
        }
        if let Some(reservation) = &mut job.reservation {
            reservation.remedy = Remedy::ALL[dice.random_range(0..Remedy::ALL.len())];
            reservation.sizes = (dice.random_range(1..=100), dice.random_range(100..=200));
            if dice.random_range(0..2) == 0 {
                job.shape = JobShape::Moldable(Speedup::new(0.9, 4).expect("a speedup"));
            }
        }
        // Some jobs run on past their plan, and some end early.
        let ran = Span::from_secs((time * dice.random_range(1..12)) / 10);
        job.run_time = haggle_model::job::HiddenRunTime::new(ran);
        list.push(job);
    }
    list
}

/// The example of a new job that moves back behind a job that it would displace.
#[test]
fn what_is_granted_moves_nobody_out_of_its_window() {
    let jobs = vec![
        asks(1, 0, (2, 14), (21, 35)),
        asks(2, 1, (2, 6), (11, 35)),
        asks(3, 5, (2, 3), (14, 21)),
    ];
    let ran = provider(2, Criterion::Edf, None).user(0, jobs).run_on_both();
    assert_eq!(ran.starts(), [Some(21), Some(11), Some(17)]);
    let granted: Vec<_> =
        ran.records.iter().map(|it| it.granted.as_ref().map(|it| it.planned)).collect();
    assert_eq!(granted, [Some(at(11)), Some(at(17)), Some(at(21))], "in the order of their ends");
    let said: Vec<&str> = ran.messages.iter().map(|it| it.3.kind()).collect();
    assert_eq!(said[..4], ["reserve", "granted", "reserve", "granted"]);
    ran.assert_disclosures();
}

/// Only the user knows which alternatives are acceptable; the provider offers all that are near enough.
#[test]
fn users_take_the_nearest_alternative_that_will_do() {
    for (percent, start, said) in [
        (None, None, "reserve alternatives"),
        (Some(99), None, "reserve alternatives"),
        (Some(100), Some(7), "reserve alternatives take granted started finished"),
    ] {
        let second = asks(2, 4, (2, 5), (12, 24));
        let second = percent.map_or(second.clone(), |percent| accepts(percent, second));
        let jobs = vec![asks(1, 0, (2, 10), (12, 26)), second];
        let ran = provider(2, Criterion::Edf, Some(150)).user(0, jobs).run_on_both();
        assert_eq!(ran.starts(), [Some(12), start]);
        let all = ran.messages.iter().filter(|it| it.3.job().is_some_and(|job| job.0 == 1));
        let kinds: Vec<&str> = all.clone().map(|it| it.3.kind()).collect();
        assert_eq!(kinds.join(" "), said);
        let offered = all.clone().find_map(|it| match &it.3 {
            Message::Reservation(ReservationMessage::Alternatives { others, .. }) => Some(others),
            _ => None,
        });
        let offered = offered.expect("some").iter().map(|it| it.start);
        assert_eq!(offered.collect::<Vec<_>>(), [at(7), at(26)]);
        let second = ran.records.iter().find(|it| it.job.number == 2).expect("it is over");
        let distance = second.granted.as_ref().and_then(|it| it.distance);
        assert_eq!(distance, start.map(|_| Span::from_secs(5)));
        let refused = JobOutcome::Rejected(Refusal::NoWindow);
        assert_eq!(second.outcome, if start.is_some() { JobOutcome::Completed } else { refused });
    }
}

/// An alternative that is no longer free cannot be taken. The next acceptable one is taken.
#[test]
fn an_alternative_that_has_gone_is_not_taken() {
    let setup = || {
        let asked = |number| accepts(400, asks(number, 4, (2, 5), (12, 17)));
        let jobs = vec![asks(1, 0, (2, 10), (12, 22)), asked(2), asked(3)];
        provider(2, Criterion::Fifo, Some(400)).user(0, jobs)
    };
    let ran = setup().run_on_both();
    assert_eq!(ran.starts(), [Some(12), Some(7), Some(22)]);
    let count = |kind: &str| ran.messages.iter().filter(|it| it.3.kind() == kind).count();
    assert_eq!([count("take"), count("expired"), count("granted")], [3, 1, 3]);
    ran.assert_disclosures();
}

/// A start is fixed after its share of the waiting time, and the user is notified.
#[test]
fn users_are_told_when_their_start_is_fixed() {
    let jobs = vec![
        asks(1, 0, (1, 10), (0, 10)),
        asks(2, 0, (1, 5), (0, 30)),
        asks(3, 6, (1, 5), (6, 15)),
    ];
    let fixing = |share| provider(1, Criterion::Edf, None).change(|it| it.reserving.fix_at = share);
    let ran = fixing(Some(50)).user(0, jobs.clone()).run_on_both();
    assert_eq!(ran.starts(), [Some(0), Some(10), None], "fixed after 5 s");
    let fixed: Vec<_> = ran.messages.iter().filter(|it| it.3.kind() == "fixed").collect();
    assert_eq!(fixed.iter().map(|it| it.0).collect::<Vec<_>>(), [at(5)]);
    let second = ran.records.iter().find(|it| it.job.number == 2).expect("it is over");
    assert_eq!(second.granted.as_ref().and_then(|it| it.fixed), Some((at(5), at(10))));
    let ran = fixing(Some(75)).user(0, jobs).run_on_both();
    assert_eq!(ran.starts(), [Some(0), Some(15), Some(10)], "not before 7.5 s");
}

/// The patience of a user does not begin before the window of the job.
#[test]
fn patience_begins_when_the_window_does() {
    let jobs = vec![asks(1, 0, (1, 40), (0, 40)), asks(2, 0, (1, 5), (20, 60))];
    let setup = provider(1, Criterion::Edf, None);
    let ran = setup.user_with_patience(0, Some(Span::from_secs(10)), jobs).run_on_both();
    assert_eq!(ran.outcomes(), [JobOutcome::Completed, JobOutcome::Cancelled]);
    let withdrawn = ran
        .messages
        .iter()
        .find(|it| matches!(it.3, Message::Submission(SubmissionMessage::Withdraw { .. })));
    assert_eq!(withdrawn.map(|it| it.0), Some(at(30)));
}

/// Checks that each job with a granted window has started in it, was withdrawn by its user, or was answered as its
/// user wished.
pub(crate) fn assert_kept_or_answered(records: &[JobRecord]) {
    for record in records {
        let Some(granted) = &record.granted else { continue };
        let reservation = record.job.reservation.expect("it was to be reserved");
        let waits = matches!(record.outcome, JobOutcome::Cancelled | JobOutcome::Unfinished);
        assert!(record.start.is_some() || waits || granted.is_revoked(), "{record:?}");
        assert_eq!(granted.is_revoked(), record.outcome == JobOutcome::Failed, "{record:?}");
        let (fewest, most) = reservation.range(record.job.processors);
        let sizes = granted.displaced.iter().map(|it| it.processors).chain([granted.processors]);
        for processors in sizes {
            assert!((fewest..=most).contains(&processors), "{record:?}");
        }
        for it in &granted.displaced {
            let wanted = match it.answer {
                Answer::Postponed => reservation.remedy == Remedy::Postpone,
                Answer::Shrunk => reservation.remedy == Remedy::Shrink,
                Answer::Moved => it.cause != Cause::Failure || reservation.remedy != Remedy::Revoke,
                Answer::Revoked => reservation.remedy != Remedy::Postpone,
                // No job keeps checkpoints over links here.
                Answer::Late => false,
            };
            assert!(wanted, "{it:?}: {record:?}");
        }
    }
}

/// The second of two processors fails at 5 s for 20 s, under a job that waits for both or runs on both. The job gets
/// the remedy that it requested.
#[test]
fn who_loses_its_processors_is_answered_as_it_wishes() {
    let speedup = JobShape::Moldable(Speedup::new(1.0, 8).expect("a speedup"));
    let wishes = [
        (Remedy::Postpone, "broken", Some(25)),
        (Remedy::Substitute, "revoked", None),
        (Remedy::Shrink, "shrunk", Some(10)),
        (Remedy::Revoke, "revoked", None),
    ];
    for ((remedy, said, start), early) in wishes.into_iter().flat_map(|it| [(it, 0), (it, 1)]) {
        let reservation = Reservation { remedy, sizes: (50, 100), ..Reservation::default() };
        let ready = if early == 1 { 2 } else { 10 };
        let job = asks(1, 0, (2, 8), (ready, 30));
        let job = Job { reservation: Some(reservation), shape: speedup, ..job };
        let mut setup = provider(2, Criterion::Edf, None).user(0, vec![job]);
        setup.failing = vec![(0, ProcessorSet::range(1, 1), vec![(5, 25)])];
        let ran = setup.run_on_both();
        // A running job is lost and starts again at once.
        let start =
            if early == 1 { start.map(|start| if start == 10 { 5 } else { start }) } else { start };
        assert_eq!(ran.starts(), [start], "{remedy:?}");
        let told = ran.messages.iter().filter(|it| it.3.kind() == said).map(|it| it.0);
        // A job that has run and may be late waits as any other job.
        let waits = remedy == Remedy::Postpone && early == 1;
        assert_eq!(
            told.collect::<Vec<_>>(),
            if waits { vec![] } else { vec![at(5)] },
            "{remedy:?}"
        );
        ran.assert_disclosures();
        assert_kept_or_answered(&ran.records);
        let record = &ran.records[0];
        let end = if remedy == Remedy::Shrink {
            start.map(|it| at(it + 16))
        } else {
            start.map(|it| at(it + 8))
        };
        assert_eq!(record.end, end.unwrap_or(at(5)), "{remedy:?}");
        assert_eq!(record.lost.len(), early, "{remedy:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every job with a granted window starts in it, whatever others request.
    #[test]
    fn windows_are_kept(
        jobs in 1..40_i64,
        seed in any::<u64>(),
        horizon in prop::option::weighted(0.2, 1..60_i64),
        trouble in trouble(),
    ) {
        let mut setup = reserving(jobs, seed);
        let would_take = |number: i64| {
            let asked = drawn(jobs, seed).into_iter().find(|job| job.number == number);
            asked.and_then(|job| job.reservation?.accepts).unwrap_or(0)
        };
        setup.horizon = horizon.map(at);
        setup.trouble = trouble;
        let ran = setup.run(Driver::Sequential);
        prop_assert_eq!(&ran.log, &setup.run(Driver::Actix).log);
        setup.assert_recovery(&ran.log);
        let stats = ran.result.as_ref().expect("the run ends");
        prop_assert_eq!(stats.jobs as usize, ran.records.len(), "{}", ran.log);
        ran.assert_disclosures();
        let breaks = !setup.failing.is_empty()
            || !setup.providers[0].maintenance.is_empty()
            || setup.providers[0].overrun == Overrun::Extend
            || setup.provider_crashes();
        let told = ran.messages.iter().filter_map(|it| match &it.3 {
            Message::Reservation(ReservationMessage::Reserve(it)) => it.job.reservation,
            Message::Reservation(ReservationMessage::Take { submission, .. }) => {
                submission.job.reservation
            }
            _ => None,
        });
        for reservation in told {
            prop_assert_eq!(reservation.accepts, None, "what a user would take is its own");
        }
        assert_kept_or_answered(&ran.records);
        for record in &ran.records {
            let Some(granted) = &record.granted else { continue };
            prop_assert!(granted.displaced.is_empty() || breaks, "{record:?}");
            prop_assert!(!granted.is_broken() || breaks, "{record:?}");
            let Some(start) = record.start else { continue };
            prop_assert!(granted.ready.is_none_or(|ready| ready <= start), "{record:?}");
            prop_assert!(granted.is_broken() || granted.holds(start), "{record:?}");
            if let Some((_, fixed)) = granted.fixed.filter(|_| !granted.is_broken() && !breaks) {
                prop_assert_eq!(fixed, start, "what is fixed moves no more: {:?}", record);
            }
            let asked = &record.job;
            match granted.distance {
                None if granted.asked == granted.processors => {
                    prop_assert!(granted.ready == asked.ready);
                }
                None => prop_assert!(granted.ready >= asked.ready),
                Some(distance) => {
                    let most = would_take(asked.number);
                    let time = asked.requested_time.expect("it has a limit");
                    let near =
                        distance.as_micros() * 100 <= time.as_micros() * i64::from(most);
                    prop_assert!(near, "farther than {most} %: {record:?}");
                }
            }
        }
    }
}
