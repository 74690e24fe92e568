//! Branches of a run go on as the run itself, unless a message meets a deviation.

use haggle_model::{ActorId, Span, Time};
use haggle_runtime::{Ahead, Driver, InputsLeft, Simulation};
use haggle_scheduling::Policy;
use haggle_scheduling::placement::Placement;

use crate::any_message::worlds;
use crate::setup::{Setup, job};

#[test]
fn a_branch_goes_on_as_its_run() {
    let mut branches = 0;
    for (name, world) in worlds() {
        let mut simulation = Simulation::new(world(), Driver::Sequential).expect("good jobs");
        let Ok(mut first) = simulation.branch() else { continue };
        let end = first.run().expect("it ends");
        while simulation.advance(101).expect("it ends") {
            let next = simulation.next_message().expect("it goes on");
            let mut branch = simulation.branch().expect("as before");
            assert_eq!(branch.next_message().expect("it goes on"), next, "{name}");
            assert_eq!(branch.fingerprint(), simulation.fingerprint(), "{name}");
            if next.is_some() {
                branch.step().expect("it goes on");
                branch.next_message().expect("it goes on");
                assert_ne!(branch.fingerprint(), simulation.fingerprint(), "{name}, {next:?}");
            }
            assert_eq!(branch.run().expect("it ends"), end, "{name}");
            branches += 1;
        }
        assert_eq!(simulation.stats(), end, "{name}");
    }
    assert!(branches > 50, "{branches}");
}

#[test]
fn a_run_with_failures_by_a_law_or_with_many_jobs_has_no_branch() {
    let many = (0..40).map(|number| job(number, number, 5, 4, 1)).collect();
    let world = Setup::default().provider(4, Policy::Fcfs).user(0, many).world();
    let simulation = Simulation::new(world, Driver::Sequential).expect("good jobs");
    assert_eq!(simulation.branch().err(), Some(InputsLeft));
}

/// Two users, whose jobs come at one instant to one metascheduler.
fn rivals() -> Simulation<'static> {
    let mut setup = Setup::default().provider(4, Policy::Fcfs).provider(4, Policy::Fcfs);
    setup.latency = Span::from_secs(1);
    let world = setup
        .metascheduler(Placement::RoundRobin)
        .user(2, vec![job(1, 0, 9, 7, 4)])
        .user(2, vec![job(2, 0, 9, 7, 4)])
        .world();
    Simulation::new(world, Driver::Sequential).expect("good jobs")
}

/// Steps up to the first message that satisfies `is_it`.
fn up_to(simulation: &mut Simulation<'_>, is_it: impl Fn(&Ahead) -> bool) -> Ahead {
    loop {
        let ahead = simulation.next_message().expect("it goes on").expect("it is there");
        if is_it(&ahead) {
            return ahead;
        }
        simulation.step().expect("it goes on");
    }
}

#[test]
fn a_delayed_message_comes_behind_the_others_of_its_phase_and_instant() {
    let mut simulation = rivals();
    let first = up_to(&mut simulation, |it| it.step.kind == "submit" && it.may_be_delayed).step;
    simulation.delay_next().expect("it goes on");
    let second = simulation.step().expect("it goes on").expect("it is there");
    assert_eq!((second.time, second.kind), (first.time, first.kind));
    assert_ne!(second.from, first.from);
    let ahead = up_to(&mut simulation, |it| it.step.kind == "submit");
    assert_eq!(ahead.step, first);
    assert_eq!(simulation.run().expect("it ends").jobs_over, 2);
}

#[test]
fn a_lost_message_never_arrives() {
    let mut simulation = rivals();
    up_to(&mut simulation, |it| it.step.kind == "finished" && it.may_be_lost);
    let told = simulation.next_message().expect("it goes on").expect("it is there").step;
    simulation.lose_next().expect("it goes on");
    let stats = simulation.run().expect("it ends");
    assert_eq!((stats.lost, stats.jobs_over), (1, 2), "the provider records {:?}", told.job);
}

#[test]
fn a_crashed_receiver_gets_no_message_of_others_until_its_restart() {
    let mut simulation = rivals();
    let provider = ActorId(0);
    let ahead = up_to(&mut simulation, |it| it.step.to == provider && it.may_find_crash);
    let down = Span::from_secs(3);
    simulation.crash_next(down).expect("it goes on");
    let mut restarted = None;
    while let Some(step) = simulation.step().expect("it goes on") {
        if step.to == provider && step.kind == "restarted" {
            restarted = Some(step.time);
        }
        let is_told = step.to == provider && step.from != provider;
        assert!(!is_told || restarted.is_some(), "{step:?}");
    }
    assert_eq!(restarted, Some(ahead.step.time + down));
    assert!(simulation.stats().lost > 0 && simulation.now() > Time::ZERO);
}
