//! Every policy on a grid of the published size, for a week of rounds.

use std::collections::VecDeque;

use haggle_grids::{
    Action, Fraction, GridPolicy, GridScheduler, LoadUnit, Preference, Replicas, Report,
    ResourceId, Round, SiteId, Speed, View, Work,
};
use haggle_model::{JobId, Time};

/// Jobs arrive and end evenly over the rounds. In each round some resources fail, and they work again in the next.
/// Returns the number of completed jobs.
fn run(policy: &mut dyn GridScheduler, resources: u32, jobs: u32, rounds: u32) -> usize {
    let mut view = View::new(policy.detection(), Preference::EffectiveSpeed);
    for number in 0..resources {
        view.add_resource(SiteId(number % 4), true, Speed::from_mips(1), 2);
    }
    let (mut running, mut down) = (VecDeque::new(), Vec::new());
    let (mut submitted, mut completed) = (0, 0);
    let mut count = 0_usize;
    let mut draw = |bound: usize| {
        count += 7_919;
        count % bound
    };
    for number in 0..rounds {
        let now = Time::from_secs(600 * i64::from(number));
        while u64::from(submitted) * u64::from(rounds) < u64::from(jobs) * u64::from(number + 1) {
            view.submit(JobId(submitted), now, Work::from_mi(3_600));
            submitted += 1;
        }
        let report = |view: &mut View, id, up| {
            let report = Report { taken: now, up, avail: Speed::from_mips(1), jobs: Vec::new() };
            view.report(ResourceId(id), report);
        };
        for id in std::mem::take(&mut down) {
            report(&mut view, id, true);
        }
        for failure in 0..resources / 128 {
            let id = (number * 37 + failure * 131) % resources;
            report(&mut view, id, false);
            down.push(id);
        }
        view.consult();
        let mut round = Round::new(now, &(), &mut draw);
        policy.round(&mut view, &mut round);
        for action in round.into_actions() {
            if let Action::Dispatch { job, resource, .. } = action {
                running.push_back((job, resource));
            }
        }
        // As many jobs end as arrive, so that some are always running.
        for _ in 0..(2 * jobs / rounds).min(running.len() as u32) {
            let (job, resource) = running.pop_front().expect("counted");
            if view.jobs().open(job).is_some_and(|it| it.replicas.contains(&resource)) {
                view.complete(job, resource);
                completed += 1;
            }
        }
    }
    completed
}

fn policies() -> Vec<GridPolicy> {
    let replicas = Replicas { min: 1, max: 3, room: 40, unit: LoadUnit::Resources };
    vec![
        GridPolicy::Fcfs,
        GridPolicy::Fjbcr,
        GridPolicy::MaxMax,
        GridPolicy::MinMax,
        GridPolicy::UnconditionalRep(2),
        GridPolicy::Wqr(2),
        GridPolicy::LoadDependentRep(replicas),
        GridPolicy::DetectionAndReplication(2),
        GridPolicy::FailureDependentRep(replicas),
        GridPolicy::CombinedFt { replicas, resume: 60 },
        GridPolicy::Migration { checkpointing: true },
        GridPolicy::Rescheduling { gain: Fraction::ZERO, checkpointing: true },
    ]
}

#[test]
fn a_week_on_the_published_grid_completes_its_jobs() {
    for policy in policies() {
        let completed = run(&mut *policy.build(128), 128, 7_000, 1_008);
        assert!(completed > 5_000, "{policy} completed {completed}");
    }
}
