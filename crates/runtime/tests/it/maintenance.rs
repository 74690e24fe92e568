//! Providers that close processors for maintenance: messages and invariants.

use haggle_agents::Maintenance;
use haggle_model::{JobOutcome, ProcessorSet, Span, Time, WindowFate};
use haggle_runtime::Driver;
use haggle_scheduling::coallocation::CoallocationPolicy;
use haggle_scheduling::{
    Compression, Interval, Overlap, Overrun, Policy, SchedulerConfig, Scheduling,
};
use proptest::prelude::*;

use crate::invariants::{assert_processors_are_held_once, drawn, setup};
use crate::reserving::{assert_kept_or_answered, reserving};
use crate::setup::{Ran, Setup, job};
use crate::trouble::trouble;

fn window(announced: i64, from: i64, lasts: i64, processors: u32, overlap: Overlap) -> Maintenance {
    let window =
        Interval { start: Time::from_secs(from), span: Span::from_secs(lasts), processors };
    Maintenance { announced: Time::from_secs(announced), window, overlap }
}

/// Times at which processors were closed, with these processors.
fn closed(ran: &Ran) -> Vec<(i64, String)> {
    let seconds = |time: Time| time.as_micros() / 1_000_000;
    let fate = |it: &WindowFate| match it {
        WindowFate::Begun(closed) => closed.to_string(),
        WindowFate::Ahead => "ahead".to_owned(),
        WindowFate::Refused { .. } => "refused".to_owned(),
    };
    ran.windows.iter().map(|it| (seconds(it.start), fate(&it.fate))).collect()
}

/// The whole machine is closed twice. A job that would overlap a window waits, and the next one is short enough to
/// pass it.
#[test]
fn jobs_wait_for_the_end_of_maintenance() {
    let all = |from| window(0, from, 5, 2, Overlap::Refuse);
    let ran = Setup::default()
        .provider(2, Policy::Easy)
        .change(|it| it.maintenance = vec![all(10), all(20)])
        .user(0, vec![job(1, 1, 12, 12, 2), job(2, 2, 8, 8, 1)])
        .run_on_both();
    assert_eq!(ran.starts(), [Some(25), Some(2)]);
    let lines: Vec<&str> = ran.log.lines().filter(|line| line.contains(['|', '-'])).collect();
    assert_eq!(
        lines,
        [
            "0 0>0 wake -",
            "0 0>0 wake -",
            "1 0>0 wake -",
            "2 0>0 wake -",
            "10 0>0 wake -",
            "10 0 | 2 completed [0]",
            "10 0>0 wake -",
            "10 0 | closes [0-1]",
            "10 0>0 wake -",
            "15 0>0 wake -",
            "15 0>0 wake -",
            "20 0>0 wake -",
            "20 0 | closes [0-1]",
            "20 0>0 wake -",
            "25 0>0 wake -",
            "25 0>0 wake -",
            "37 0>0 wake -",
            "37 0 | 1 completed [0-1]",
        ]
    );
}

/// A window that is announced late is refused if a promise is in the way, or the promise is broken.
#[test]
fn a_promise_in_the_way_is_kept_or_seen_to_be_broken() {
    for (overlap, start, has) in [(Overlap::Refuse, 10, "refused"), (Overlap::Break, 25, "0-1")] {
        let ran = Setup::default()
            .provider(2, Policy::Conservative)
            .change(|it| it.maintenance = vec![window(5, 15, 10, 2, overlap)])
            .user(0, vec![job(1, 0, 10, 10, 2), job(2, 1, 10, 10, 1)])
            .run_on_both();
        assert_eq!(ran.starts(), [Some(0), Some(start)], "{overlap:?}");
        assert_eq!(closed(&ran), [(15, has.to_owned())]);
        let late = ran.records.iter().filter(|it| it.promised_end.is_some_and(|by| it.end > by));
        assert_eq!(late.count(), usize::from(overlap == Overlap::Break));
    }
}

/// Processors that fail while they are closed are down when they are opened. An outage that ends within a window has
/// no effect after it.
#[test]
fn what_fails_while_it_is_closed_is_down_when_it_is_opened() {
    for (outage, start) in [((12, 14), 20), ((12, 30), 30), ((5, 12), 20), ((5, 25), 25)] {
        let mut setup = Setup::default()
            .provider(2, Policy::Fcfs)
            .change(|it| it.maintenance = vec![window(0, 10, 10, 2, Overlap::Refuse)])
            .user(0, vec![job(1, 11, 4, 4, 2)]);
        setup.failing = vec![(0, ProcessorSet::range(1, 1), vec![outage])];
        let ran = setup.run_on_both();
        assert_eq!(ran.starts(), [Some(start)], "{outage:?}");
        let has = if outage.0 < 10 { "0" } else { "0-1" };
        assert_eq!(closed(&ran), [(10, has.to_owned())]);
    }
}

/// Processors of a job that overruns are not closed; processors that come back before a window begins are.
#[test]
fn a_window_gets_what_is_there_when_it_begins() {
    for (run, has) in [(6, "0-3"), (13, "2-3")] {
        let ran = Setup::default()
            .provider(4, Policy::Conservative)
            .change(|it| {
                it.overrun = Overrun::Extend;
                it.maintenance = vec![window(0, 10, 10, 4, Overlap::Refuse)];
            })
            .user(0, vec![job(1, 0, 5, run, 2), job(2, 1, 5, 5, 1), job(3, 40, 5, 5, 1)])
            .run_on_both();
        assert_eq!(closed(&ran), [(10, has.to_owned())], "{run}");
    }
}

/// While its scheduler is down, the machine is closed all the same. The scheduler knows that when it restarts.
#[test]
fn a_scheduler_that_was_down_knows_of_maintenance() {
    let crash = |from, until| crate::trouble::Trouble {
        datagram: false,
        timeout: 1,
        loss: 0.0,
        duplication: 0.0,
        partitions: Vec::new(),
        crashes: vec![(0, from, until)],
        recovers: true,
        seed: 1,
    };
    for (down, expected) in [((8, 12), 20), ((12, 25), 25), ((8, 25), 25)] {
        let mut setup = Setup::default()
            .provider(2, Policy::Conservative)
            .change(|it| it.maintenance = vec![window(0, 10, 10, 2, Overlap::Refuse)])
            .user(0, vec![job(1, 1, 12, 12, 2), job(2, 2, 3, 3, 1)]);
        setup.trouble = Some(crash(down.0, down.1));
        let ran = setup.run_on_both();
        assert_eq!(ran.starts(), [Some(expected), Some(2)], "{down:?}");
        assert_eq!(closed(&ran), [(10, "0-1".to_owned())]);
        setup.assert_recovery(&ran.log);
    }
}

/// A part of a job on two providers is never moved for maintenance.
#[test]
fn maintenance_goes_around_parts_of_jobs() {
    for (overlap, has) in [(Overlap::Refuse, "refused"), (Overlap::Break, "2-3")] {
        let ran = Setup::default()
            .coallocating(4)
            .coallocating(4)
            .change(|it| it.maintenance = vec![window(5, 12, 10, 4, overlap)])
            .coallocator(CoallocationPolicy::ShiftRemap, 0)
            .user(0, vec![job(1, 0, 10, 10, 4)])
            .user(1, vec![job(2, 0, 10, 10, 4)])
            .user(2, vec![job(3, 1, 20, 20, 6)])
            .run_on_both();
        let both = ran.records.iter().find(|it| it.job.number == 3).expect("it is over");
        assert_eq!(both.start, Some(Time::from_secs(10)));
        assert_eq!(closed(&ran), [(12, has.to_owned())]);
    }
}

/// Windows of a provider that follow each other: gap, notice, length, processors, whether they break promises.
type Drawn = (i64, i64, i64, u32, bool);

fn windows(drawn: &[Drawn], processors: u32) -> Vec<Maintenance> {
    let mut free = 0;
    let one = |&(gap, notice, lasts, wanted, breaks): &Drawn| {
        let from = free + gap;
        free = from + lasts;
        let overlap = if breaks { Overlap::Break } else { Overlap::Refuse };
        window((from - notice).max(0), from, lasts, wanted.min(processors), overlap)
    };
    drawn.iter().map(one).collect()
}

/// Checks that nothing runs on a processor while it is closed.
fn assert_closed(ran: &Ran) {
    let held = ran
        .records
        .iter()
        .filter_map(|it| Some((it.provider?.0, it.start?, it.end, &it.processors)));
    let lost = ran.lost.iter().map(|(provider, start, end, it)| (*provider, *start, *end, it));
    for (provider, start, end, processors) in held.chain(lost) {
        for window in ran.windows.iter().filter(|it| it.provider.0 == provider) {
            let Some(closed) = window.closed() else { continue };
            let at_once = start < window.end && window.start < end;
            assert!(!at_once || !closed.intersects(processors), "{window:?}: {start} to {end}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_runs_on_what_is_closed(
        drawn in drawn(),
        drawn_windows in prop::collection::vec(
            prop::collection::vec((0..30_i64, 0..40_i64, 1..20_i64, 1..=8_u32, any::<bool>()), 0..4),
            3,
        ),
        failing in prop::collection::vec((0..8_u32, 0..80_i64, 1..30_i64), 0..3),
        trouble in trouble(),
    ) {
        let mut setup = setup(&drawn);
        for (provider, drawn) in setup.providers.iter_mut().zip(&drawn_windows) {
            provider.maintenance = windows(drawn, provider.processors);
        }
        let first = setup.providers[0].processors;
        setup.failing = failing
            .into_iter()
            .enumerate()
            .map(|(place, (processor, from, lasts))| {
                let processor = (processor + place as u32) % first;
                (0, ProcessorSet::range(processor, 1), vec![(from, from + lasts)])
            })
            .collect();
        setup.trouble = trouble;
        let ran = setup.run(Driver::Sequential);
        let actix = setup.run(Driver::Actix);
        prop_assert_eq!(&ran.log, &actix.log);
        setup.assert_recovery(&ran.log);
        let stats = *ran.result.as_ref().expect("the run ends");
        prop_assert_eq!(stats.jobs as usize, ran.records.len());
        assert_processors_are_held_once(&ran.records);
        assert_closed(&ran);
        let calm = setup.failing.is_empty() && !setup.provider_crashes();
        for window in &ran.windows {
            let provider = &setup.providers[window.provider.index()];
            let kills = provider.overrun == Overrun::Kill;
            let refuses = provider.maintenance[window.number as usize].overlap == Overlap::Refuse;
            if calm && kills && refuses && window.closed().is_some() {
                prop_assert_eq!(window.held(), window.processors, "it gets all or is refused");
            }
        }
        // If nothing else breaks promises, only windows with that permission may.
        for record in ran.records.iter().filter(|it| it.outcome == JobOutcome::Completed) {
            let Some((id, promised)) = record.provider.zip(record.promised_end) else { continue };
            let provider = &setup.providers[id.index()];
            let breaks = provider.maintenance.iter().any(|it| it.overlap == Overlap::Break);
            let replans = matches!(
                provider.scheduler,
                Scheduling::Queue(SchedulerConfig { compression: Compression::Replan, .. })
            );
            if calm && provider.overrun == Overrun::Kill && !breaks && !replans {
                prop_assert!(record.end <= promised, "{record:?}");
            }
        }
    }

    /// Reservations among windows, failures and jobs that overrun.
    #[test]
    fn reservations_are_granted_around_maintenance(
        seed in 0..400_u64,
        drawn in prop::collection::vec((0..15_i64, 0..20_i64, 1..10_i64, 1..=4_u32, any::<bool>()), 0..4),
    ) {
        let mut setup = reserving(25, seed);
        for provider in &mut setup.providers {
            provider.maintenance = windows(&drawn, provider.processors);
        }
        let ran = setup.run_on_both();
        assert_closed(&ran);
        assert_processors_are_held_once(&ran.records);
        assert_kept_or_answered(&ran.records);
        for record in &ran.records {
            let (Some(granted), Some(start)) = (&record.granted, record.start) else { continue };
            prop_assert!(granted.is_broken() || granted.holds(start), "{record:?}");
        }
    }
}
