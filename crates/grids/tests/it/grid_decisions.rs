//! Decisions of grid policies in the worked cases of the publication's algorithms.

use haggle_grids::{
    Action, CombinedFt, Detection, Fraction, GridScheduler, Insight, LoadUnit, Preference,
    QueueScheduler, Replicas, Replication, Report, Rescheduling, ResourceId, Round, SiteId, Speed,
    View, Work, Wqr,
};
use haggle_model::{JobId, Span, Time};
use haggle_testing::at;
use proptest::prelude::*;

fn job(number: u32) -> JobId {
    JobId(number)
}

/// Resources of (site, MIPS, slots).
fn grid(policy: &dyn GridScheduler, resources: &[(u32, u64, u32)]) -> View {
    let mut view = View::new(policy.detection(), Preference::EffectiveSpeed);
    for &(site, mips, slots) in resources {
        view.add_resource(SiteId(site), true, Speed::from_mips(mips), slots);
    }
    view
}

fn submit(view: &mut View, now: i64, number: u32, mi: u64) {
    view.submit(job(number), at(now), Work::from_mi(mi));
}

fn decide(
    policy: &mut dyn GridScheduler,
    view: &mut View,
    now: i64,
    insight: &dyn Insight,
) -> Vec<Action> {
    let mut first = |_| 0;
    let mut round = Round::new(at(now), insight, &mut first);
    view.consult();
    policy.round(view, &mut round);
    round.into_actions()
}

/// The dispatches as (job, resource).
fn sent(actions: &[Action]) -> Vec<(u32, u32)> {
    let dispatch = |action: &Action| match *action {
        Action::Dispatch { job, resource, .. } => Some((job.0, resource.0)),
        _ => None,
    };
    actions.iter().filter_map(dispatch).collect()
}

fn cancelled(actions: &[Action]) -> Vec<(u32, u32)> {
    let cancel = |action: &Action| match *action {
        Action::Cancel { job, resource } => Some((job.0, resource.0)),
        _ => None,
    };
    actions.iter().filter_map(cancel).collect()
}

fn down(view: &mut View, resource: u32, taken: i64) {
    let report = Report { taken: at(taken), up: false, avail: Speed::ZERO, jobs: Vec::new() };
    view.report(ResourceId(resource), report);
}

fn up(view: &mut View, resource: u32, taken: i64, jobs: &[u32]) {
    let jobs = jobs.iter().copied().map(JobId).collect();
    let avail = Speed::from_mips(1);
    view.report(ResourceId(resource), Report { taken: at(taken), up: true, avail, jobs });
}

#[test]
fn gm_m11_max_max_and_min_max() {
    let run = |mut policy: QueueScheduler| {
        let mut view = grid(&policy, &[(0, 4, 1), (0, 2, 1), (0, 1, 1)]);
        for (number, mi) in [(0, 10), (1, 30), (2, 20)] {
            submit(&mut view, 0, number, mi);
        }
        sent(&decide(&mut policy, &mut view, 0, &()))
    };
    assert_eq!(run(QueueScheduler::MAX_MAX), [(1, 0), (2, 1), (0, 2)]);
    assert_eq!(run(QueueScheduler::MIN_MAX), [(0, 0), (2, 1), (1, 2)]);
    assert_eq!(run(QueueScheduler::FJBCR), [(0, 0), (1, 1), (2, 2)]);
}

#[test]
fn gm_m11_fjbcr_goes_by_effective_speed_or_to_the_letter() {
    let run = |preference| {
        let mut policy = QueueScheduler::FJBCR;
        let mut view = View::new(Detection::None, preference);
        for mips in [3, 2] {
            view.add_resource(SiteId(0), true, Speed::from_mips(mips), 2);
        }
        submit(&mut view, 0, 0, 10);
        view.dispatch(at(0), job(0), ResourceId(0));
        submit(&mut view, 0, 1, 10);
        sent(&decide(&mut policy, &mut view, 0, &()))
    };
    assert_eq!(run(Preference::EffectiveSpeed), [(1, 1)]);
    assert_eq!(run(Preference::SpeedThenLoad), [(1, 0)]);
}

#[test]
fn ft_m1_m2_a_job_starts_again_from_its_newest_available_checkpoint() {
    let restarted = |available: &[u64]| {
        let mut policy = QueueScheduler::FJBCR.with_recovery(Detection::RestartReport, true);
        let mut view = grid(&policy, &[(0, 1, 2), (0, 1, 2)]);
        submit(&mut view, 0, 0, 100);
        assert_eq!(sent(&decide(&mut policy, &mut view, 0, &())), [(0, 0)]);
        for &mi in available {
            view.save(Time::ZERO, job(0), Work::from_mi(mi));
        }
        down(&mut view, 0, 75);
        decide(&mut policy, &mut view, 80, &())
    };
    let from =
        |mi| Action::Dispatch { job: job(0), resource: ResourceId(1), from: Work::from_mi(mi) };
    assert_eq!(restarted(&[30, 60]), [from(60)]);
    assert_eq!(restarted(&[30]), [from(30)]);
    assert_eq!(restarted(&[]), [from(0)]);
}

#[test]
fn ft_m5_load_dependent_rep_fills_early_jobs_while_there_is_room() {
    for unit in [LoadUnit::Resources, LoadUnit::Slots] {
        let mut policy = Replication::load_dependent(Replicas { min: 1, max: 2, room: 2, unit });
        let mut view = grid(&policy, &[(0, 1, 2), (1, 1, 2)]);
        for number in 1..=4 {
            submit(&mut view, 0, number, 10);
        }
        let first = decide(&mut policy, &mut view, 0, &());
        assert_eq!(sent(&first), [(1, 0), (1, 1), (2, 0), (3, 1)]);
        assert_eq!(view.complete(job(1), ResourceId(0)), [ResourceId(1)]);
        let second = decide(&mut policy, &mut view, 600, &());
        assert_eq!(sent(&second), [(2, 1), (4, 0)]);
    }
}

/// Progress as a table of (job, resource, MI).
struct Progress(Vec<(u32, u32, u64)>);

impl Insight for Progress {
    fn progress(&self, job: JobId, resource: ResourceId) -> Work {
        let known = self.0.iter().find(|entry| (entry.0, entry.1) == (job.0, resource.0));
        known.map_or(Work::ZERO, |entry| Work::from_mi(entry.2))
    }
}

#[test]
fn ft_m6_combined_ft_switches_between_replicas_and_checkpoints() {
    let replicas = Replicas { min: 1, max: 2, room: 2, unit: LoadUnit::Slots };
    let mut policy = CombinedFt::new(replicas);
    let mut view = grid(&policy, &[(0, 1, 2), (1, 1, 2)]);
    submit(&mut view, 0, 1, 100);
    submit(&mut view, 0, 2, 18);
    let actions = decide(&mut policy, &mut view, 0, &());
    assert_eq!(sent(&actions), [(1, 0), (1, 1), (2, 0)]);
    assert!(!view.job(job(1)).checkpointing && !view.job(job(2)).checkpointing);

    submit(&mut view, 10, 3, 16);
    let progress = Progress(vec![(1, 0, 5), (1, 1, 10), (2, 0, 5)]);
    let actions = decide(&mut policy, &mut view, 10, &progress);
    assert_eq!(cancelled(&actions), [(1, 0)]);
    assert_eq!(sent(&actions), [(3, 0)]);
    assert!((1..=3).all(|number| view.job(job(number)).checkpointing));

    submit(&mut view, 20, 4, 100);
    assert_eq!(sent(&decide(&mut policy, &mut view, 20, &progress)), [(4, 1)]);
    submit(&mut view, 30, 5, 50);
    assert_eq!(decide(&mut policy, &mut view, 30, &progress), []);

    assert!(view.complete(job(2), ResourceId(0)).is_empty());
    assert!(view.complete(job(3), ResourceId(0)).is_empty());
    let actions = decide(&mut policy, &mut view, 40, &progress);
    assert_eq!(sent(&actions), [(1, 0), (5, 0)]);
    assert!(!view.job(job(1)).checkpointing && view.job(job(5)).checkpointing);
}

#[test]
fn combined_ft_makes_room_for_a_job_by_ending_a_replica() {
    let replicas = Replicas { min: 1, max: 2, room: 1, unit: LoadUnit::Slots };
    let mut policy = CombinedFt::new(replicas);
    let mut view = grid(&policy, &[(0, 1, 1), (1, 1, 1)]);
    submit(&mut view, 5, 1, 100);
    decide(&mut policy, &mut view, 5, &());
    assert_eq!(view.job(job(1)).replicas.len(), 2);
    // This job is earlier in turn than the replicated one.
    submit(&mut view, 4, 2, 10);
    let actions = decide(&mut policy, &mut view, 10, &Progress(vec![(1, 1, 5)]));
    assert_eq!((cancelled(&actions), sent(&actions)), (vec![(1, 0)], vec![(2, 0)]));
}

#[test]
fn hysteresis_delays_the_return_to_replicas() {
    let replicas = Replicas { min: 1, max: 2, room: 1, unit: LoadUnit::Slots };
    let mut policy = CombinedFt::new(replicas).with_hysteresis(2);
    let mut view = grid(&policy, &[(0, 1, 1), (1, 1, 1), (2, 1, 1)]);
    for number in 1..=3 {
        submit(&mut view, 0, number, 10);
    }
    assert_eq!(sent(&decide(&mut policy, &mut view, 0, &())), [(1, 0), (1, 1), (2, 2)]);
    assert_eq!(cancelled(&decide(&mut policy, &mut view, 1, &())), [(1, 1)]);
    view.complete(job(2), ResourceId(2));
    assert_eq!(sent(&decide(&mut policy, &mut view, 2, &())), []);
    view.complete(job(3), ResourceId(1));
    assert_eq!(sent(&decide(&mut policy, &mut view, 3, &())), [(1, 1)]);
}

#[test]
fn ft_m7_an_outage_is_seen_if_it_is_shown_when_a_round_looks() {
    let seen = |from: i64, to: i64| {
        let mut policy = Replication::with_detection(1);
        let mut view = grid(&policy, &[(0, 1, 1)]);
        submit(&mut view, 0, 0, 1_000_000);
        assert_eq!(sent(&decide(&mut policy, &mut view, 0, &())), [(0, 0)]);
        let mut seen = None;
        for now in (300..=3_000).step_by(300) {
            if (from..to).contains(&now) {
                down(&mut view, 0, now);
            } else {
                up(&mut view, 0, now, if now < from { &[0] } else { &[] });
            }
            if now % 600 == 0 && !view.consult().is_empty() {
                seen = seen.or(Some(now));
            }
        }
        seen
    };
    assert_eq!(seen(610, 1_190), None);
    assert_eq!(seen(1_150, 1_210), Some(1_200));
    assert_eq!(seen(610, 1_510), Some(1_200));
}

proptest! {
    /// Reports are late by up to 300 s, and rounds are every 600 s.
    #[test]
    fn outages_longer_than_both_periods_are_always_seen(
        from in 1..5_000_i64,
        length in 900..4_000_i64,
        delays in (0..=300_i64, 0..=300_i64),
    ) {
        let mut view = View::new(Detection::State, Preference::EffectiveSpeed);
        view.add_resource(SiteId(0), true, Speed::from_mips(1), 1);
        submit(&mut view, 0, 0, 1_000_000);
        view.dispatch(at(0), job(0), ResourceId(0));
        let (shown, hidden) = (from + delays.0, from + length + delays.1);
        let mut seen = 0;
        for round in (0..12_000).step_by(600) {
            // A report that arrives at the instant of a round comes before it.
            if (round - 599..=round).contains(&shown) {
                down(&mut view, 0, from);
            }
            if (round - 599..=round).contains(&hidden) {
                up(&mut view, 0, from + length, &[]);
            }
            seen += view.consult().len();
        }
        prop_assert_eq!(seen, 1);
    }
}

#[test]
fn an_outage_nobody_saw_is_revealed_by_the_next_one_or_by_a_restart_report() {
    let lost = |detection| {
        let mut view = View::new(detection, Preference::EffectiveSpeed);
        view.add_resource(SiteId(0), true, Speed::from_mips(1), 1);
        submit(&mut view, 0, 0, 10);
        view.dispatch(at(0), job(0), ResourceId(0));
        up(&mut view, 0, 300, &[]);
        let before = view.may_notice(job(0), ResourceId(0));
        assert_eq!(before, detection != Detection::None);
        let at_restart = view.consult().len();
        assert!(!view.may_notice(job(0), ResourceId(0)));
        assert!(view.resources().any_available(), "the slot is seen to be free");
        down(&mut view, 0, 900);
        (at_restart, view.consult().len())
    };
    assert_eq!(lost(Detection::None), (0, 0));
    assert_eq!(lost(Detection::State), (0, 1));
    assert_eq!(lost(Detection::RestartReport), (1, 0));
}

#[test]
fn what_was_sent_after_a_report_was_taken_is_not_in_it() {
    let mut view = View::new(Detection::RestartReport, Preference::EffectiveSpeed);
    view.add_resource(SiteId(0), true, Speed::from_mips(1), 2);
    submit(&mut view, 0, 0, 10);
    submit(&mut view, 0, 1, 10);
    view.dispatch(at(0), job(0), ResourceId(0));
    view.dispatch(at(600), job(1), ResourceId(0));
    up(&mut view, 0, 600, &[0]);
    assert!(view.consult().is_empty());
    assert_eq!(view.resources().get(ResourceId(0)).held, 2);
    view.refuse(job(1), ResourceId(0));
    assert_eq!(view.resources().get(ResourceId(0)).held, 1);
    assert_eq!((view.job(job(1)).dispatches, view.jobs().waiting()), (0, 1));
}

#[test]
fn ft_m8_replicas_go_to_the_site_with_the_fewest_then_to_the_most_powerful() {
    let policy = Replication::unconditional(4);
    // a1 and a2 at one site, b1 and b2 at the other.
    let mut view = grid(&policy, &[(0, 1, 2), (0, 1, 2), (1, 2, 2), (1, 1, 2)]);
    for (number, resource) in [(0, 0), (1, 2), (2, 3), (3, 3)] {
        submit(&mut view, 0, number, 10);
        view.dispatch(at(0), job(number), ResourceId(resource));
    }
    submit(&mut view, 0, 4, 10);
    let mut places = Vec::new();
    while let Some(resource) = view.place(job(4)) {
        places.push(resource.0);
        view.dispatch(at(1), job(4), resource);
    }
    assert_eq!(places, [1, 2, 0]);
}

#[test]
fn ft_m10_wqr_copies_what_runs_when_nothing_waits() {
    let mut policy = Wqr::default();
    let mut view = grid(&policy, &[(0, 1, 1), (0, 1, 1), (0, 1, 1)]);
    submit(&mut view, 0, 1, 10);
    submit(&mut view, 0, 2, 20);
    assert_eq!(sent(&decide(&mut policy, &mut view, 0, &())), [(1, 0), (2, 1), (1, 2)]);
    assert_eq!(view.complete(job(1), ResourceId(0)), [ResourceId(2)]);
    assert_eq!(sent(&decide(&mut policy, &mut view, 10, &())), [(2, 0)]);
    assert_eq!(view.complete(job(2), ResourceId(1)), [ResourceId(0)]);
    assert_eq!(view.resources().free(LoadUnit::Slots), 3);
}

/// 400 MI of 1,000 done, a checkpoint of 2 s, 100 Mbit/s and 5 ms.
struct Network {
    bytes: i64,
}

impl Insight for Network {
    fn progress(&self, _job: JobId, _resource: ResourceId) -> Work {
        Work::from_mi(400)
    }

    fn moving_time(&self, _job: JobId, _from: ResourceId, _to: ResourceId) -> Option<Span> {
        Some(Span::from_micros(2_000_000 + self.bytes * 8 / 100 + 5_000))
    }
}

#[test]
fn ft_m11_a_job_moves_if_that_is_faster_than_to_stay() {
    let moved = |bytes, gain| {
        let mut policy =
            Rescheduling { gain, checkpointing: true, detection: Detection::RestartReport };
        let mut view = grid(&policy, &[(0, 1, 1), (0, 4, 2)]);
        for (number, resource) in [(0, 0), (1, 1)] {
            submit(&mut view, 0, number, 1_000);
            view.dispatch(at(0), job(number), ResourceId(resource));
        }
        let actions = decide(&mut policy, &mut view, 600, &Network { bytes });
        assert_eq!(view.job(job(0)).replicas.len(), 1);
        actions.len()
    };
    assert_eq!(moved(20_000_000, Fraction::ZERO), 1);
    assert_eq!(moved(2_000_000_000, Fraction::ZERO), 1);
    assert_eq!(moved(11_000_000_000, Fraction::ZERO), 0);
    assert_eq!(moved(20_000_000, Fraction::from_ppm(493_991)), 1, "303.605 s < 303.6054 s");
    assert_eq!(moved(20_000_000, Fraction::from_ppm(493_992)), 0);
}

#[test]
fn a_job_that_moves_holds_both_slots_until_it_has_left() {
    let mut policy = Rescheduling {
        gain: Fraction::ZERO,
        checkpointing: true,
        detection: Detection::RestartReport,
    };
    let mut view = grid(&policy, &[(0, 1, 1), (0, 4, 1)]);
    submit(&mut view, 0, 0, 1_000);
    view.dispatch(at(0), job(0), ResourceId(0));
    submit(&mut view, 0, 1, 10);
    let network = Network { bytes: 0 };
    let moves = Action::Migrate { job: job(0), from: ResourceId(0), to: ResourceId(1), save: true };
    assert_eq!(decide(&mut policy, &mut view, 600, &network), [moves]);
    view.leave(job(0), ResourceId(0));
    assert_eq!(sent(&decide(&mut policy, &mut view, 1_200, &network)), [(1, 0)]);
}

#[test]
fn a_replica_that_sends_its_output_holds_no_slot_but_can_be_lost() {
    let mut view = View::new(Detection::RestartReport, Preference::EffectiveSpeed);
    view.add_resource(SiteId(0), true, Speed::from_mips(1), 1);
    submit(&mut view, 0, 0, 10);
    view.dispatch(at(0), job(0), ResourceId(0));
    view.computed(job(0), ResourceId(0));
    assert_eq!((view.resources().free(LoadUnit::Slots), view.jobs().waiting()), (1, 0));
    up(&mut view, 0, 300, &[0]);
    assert!(view.consult().is_empty());
    down(&mut view, 0, 400);
    assert_eq!(view.consult().len(), 1);
    assert_eq!(view.jobs().waiting(), 1);
}
