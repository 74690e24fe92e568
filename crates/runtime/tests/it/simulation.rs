//! A run step by step is the same as the run in one go, and its listeners receive the same.

use std::sync::atomic::{AtomicBool, Ordering};

use haggle_agents::Message;
use haggle_model::{ActorId, Observation, Span, Time};
use haggle_runtime::{
    Driver, OutsideError, RunError, RunStats, Simulation, Sink, Step, World, run,
};
use haggle_scheduling::Policy;
use haggle_scheduling::placement::Placement;

use crate::setup::{Setup, job};

/// A line for each event.
#[derive(Default)]
struct Lines(Vec<String>);

impl Sink for Lines {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        self.0.push(format!("{now} {from} -> {to}: {message:?}"));
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        self.0.push(format!("{now} {actor}: {observation:?}"));
        Ok(())
    }

    fn over(&mut self, stats: &RunStats) -> Result<(), OutsideError> {
        self.0.push(format!("over: {stats:?}"));
        Ok(())
    }
}

fn setup() -> Setup {
    let jobs = (1..30).map(|n| job(n, 7 * n, 60, 40 + n, 1 + (n % 4) as u32)).collect();
    let mut setup = Setup::default()
        .provider(4, Policy::Easy)
        .provider(4, Policy::Conservative)
        .metascheduler(Placement::MinimumCompletionTime)
        .user(2, jobs);
    setup.latency = Span::from_secs(1);
    setup.jitter = Span::from_secs(3);
    setup
}

fn in_one_go(world: World) -> Vec<String> {
    let mut lines = Lines::default();
    run(world, Driver::Sequential, &mut lines, &AtomicBool::new(false)).expect("to the end");
    lines.0
}

#[test]
fn steps_are_the_run_on_both_drivers() {
    for horizon in [None, Some(Time::from_secs(150))] {
        let mut setup = setup();
        setup.horizon = horizon;
        let expected = in_one_go(setup.world());
        for driver in [Driver::Sequential, Driver::Actix] {
            let mut lines = Lines::default();
            let mut simulation = Simulation::new(setup.world(), driver).expect("good jobs");
            simulation.listen(&mut lines);
            let mut last = Time::ZERO;
            loop {
                let next = simulation.peek().expect("it goes on");
                let Some(Step { time, .. }) = simulation.step().expect("it goes on") else { break };
                assert_eq!((next, simulation.now()), (Some(time), time));
                assert!(last <= time);
                last = time;
            }
            assert_eq!(simulation.peek().expect("over"), None);
            assert_eq!(simulation.step().expect("over"), None);
            drop(simulation);
            assert_eq!(lines.0, expected, "{driver:?}");
        }
    }
}

#[test]
fn stretches_of_time_are_the_run() {
    for seconds in [1, 10, 97, 10_000] {
        let mut lines = Lines::default();
        let mut simulation =
            Simulation::new(setup().world(), Driver::Sequential).expect("good jobs");
        simulation.listen(&mut lines);
        let mut time = Time::ZERO;
        while simulation.peek().expect("it goes on").is_some() {
            simulation.step_until(time).expect("it goes on");
            assert!(simulation.now() <= time);
            assert!(simulation.peek().expect("it goes on").is_none_or(|next| next > time));
            time += Span::from_secs(seconds);
        }
        drop(simulation);
        assert_eq!(lines.0, in_one_go(setup().world()), "{seconds} s");
    }
}

#[test]
fn two_simulations_over_actix_go_on_beside_each_other() {
    let expected = in_one_go(setup().world());
    let (mut a, mut b) = (Lines::default(), Lines::default());
    let simulation = |lines| {
        let mut simulation = Simulation::new(setup().world(), Driver::Actix).expect("good jobs");
        simulation.listen(lines);
        simulation
    };
    let (mut first, mut second) = (simulation(&mut a), simulation(&mut b));
    while first.step().expect("it goes on").is_some() {
        second.step().expect("it goes on");
    }
    assert_eq!(second.step().expect("over"), None);
    drop((first, second));
    assert_eq!((&a.0, &b.0), (&expected, &expected));
}

#[test]
fn what_is_stopped_can_go_on() {
    let (stop, mut lines) = (AtomicBool::new(true), Lines::default());
    let mut simulation = Simulation::new(setup().world(), Driver::Sequential).expect("good jobs");
    simulation.listen(&mut lines);
    simulation.stop_on(&stop);
    assert!(matches!(simulation.step(), Err(RunError::Interrupted)));
    assert_eq!(simulation.stats().messages, 0);
    stop.store(false, Ordering::Relaxed);
    simulation.run().expect("to the end");
    drop(simulation);
    assert_eq!(lines.0, in_one_go(setup().world()));
}

/// Returns an error for one kind of event.
struct Fussy(&'static str);

impl Fussy {
    fn say(&self, what: &str) -> Result<(), OutsideError> {
        if self.0 == what { Err(what.into()) } else { Ok(()) }
    }
}

impl Sink for Fussy {
    fn delivered(
        &mut self,
        _: Time,
        _: ActorId,
        _: ActorId,
        _: &Message,
    ) -> Result<(), OutsideError> {
        self.say("delivered")
    }

    fn observed(&mut self, _: Time, _: ActorId, _: &Observation) -> Result<(), OutsideError> {
        self.say("observed")
    }

    fn over(&mut self, _: &RunStats) -> Result<(), OutsideError> {
        self.say("over")
    }
}

#[test]
fn whoever_listens_may_end_the_run() {
    for what in ["delivered", "observed", "over"] {
        let (mut fussy, mut behind) = (Fussy(what), Lines::default());
        let mut simulation =
            Simulation::new(setup().world(), Driver::Sequential).expect("good jobs");
        simulation.listen(&mut fussy);
        simulation.listen(&mut behind);
        let error = simulation.run().expect_err("somebody finds fault");
        assert!(matches!(error, RunError::Record(error) if error.to_string() == what));
        drop(simulation);
        let last = in_one_go(setup().world()).len() - 1;
        assert_eq!(behind.0.len() == last, what == "over", "those behind hear no more");
    }
}
