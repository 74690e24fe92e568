//! A run that is written down and read again between two messages goes on as if nothing had happened.

use haggle_agents::Message;
use haggle_model::{ActorId, MessageFault, Observation, Span, Time};
use haggle_runtime::{
    Change, ChangeError, Driver, OutsideError, RunStats, Simulation, Sink, Snapshot, World,
};

use crate::any_message::worlds;

/// Events of a run, word for word.
#[derive(Default)]
struct Log(Vec<String>);

impl Sink for Log {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        self.0.push(format!("{now} {from}>{to} {message:?}"));
        Ok(())
    }

    fn fault(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
        fault: MessageFault,
        resent: u64,
    ) -> Result<(), OutsideError> {
        self.0.push(format!("{now} {from}>{to} {message:?} {fault:?} {resent}"));
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        self.0.push(format!("{now} {actor} {observation:?}"));
        Ok(())
    }

    fn over(&mut self, stats: &RunStats) -> Result<(), OutsideError> {
        self.0.push(format!("{stats:?}"));
        Ok(())
    }
}

fn uninterrupted(world: World) -> Log {
    let mut log = Log::default();
    let mut simulation = Simulation::new(world, Driver::Sequential).expect("good jobs");
    simulation.listen(&mut log);
    simulation.run().expect("it ends");
    drop(simulation);
    log
}

/// The log of a run that is written and read after every `messages` messages, by drivers in turn.
fn in_parts(world: &dyn Fn() -> World, messages: u64, drivers: &[Driver]) -> Log {
    let mut log = Log::default();
    let mut drivers = drivers.iter().cycle();
    let mut next = || *drivers.next().expect("one at least");
    let mut simulation = Simulation::new(world(), next()).expect("good jobs");
    loop {
        simulation.listen(&mut log);
        let goes_on = simulation.advance(messages).expect("it ends");
        let written = simulation.snapshot().to_bytes().expect("it can be written");
        drop(simulation);
        if !goes_on {
            return log;
        }
        let read = Snapshot::from_bytes(&written).expect("it can be read");
        simulation = Simulation::restore(world(), next(), read).expect("its own world");
    }
}

/// The log of a run of which copies go on for a while at several instants, each with the same log up to there.
fn with_copies(world: &dyn Fn() -> World, messages: u64) -> Log {
    let mut log = Log::default();
    let mut simulation = Simulation::new(world(), Driver::Sequential).expect("good jobs");
    simulation.listen(&mut log);
    while simulation.advance(messages).expect("it ends") {
        // In memory, a copy shares values with the run.
        let mut copy = Simulation::restore(world(), Driver::Sequential, simulation.snapshot());
        let copy = copy.as_mut().expect("its own world");
        copy.advance(2 * messages).expect("it ends");
    }
    drop(simulation);
    log
}

/// A change at an instant that leaves everything as it is.
fn no_change(world: World, at: Time) -> Change {
    let World { horizon, network, .. } = world;
    Change {
        at,
        actors: Vec::new(),
        reseeded: false,
        horizon,
        network,
        arrivals: None,
        outages: None,
    }
}

#[test]
fn a_run_does_not_notice_its_copies() {
    for (name, world) in worlds() {
        assert_eq!(uninterrupted(world()).0, with_copies(&*world, 499).0, "{name}");
    }
}

#[test]
fn a_change_that_changes_nothing_is_not_noticed() {
    for (name, world) in worlds() {
        let itself = uninterrupted(world());
        let last = itself.0.last().and_then(|line| line.rsplit_once("end: Time(")).map(|it| it.1);
        let digits: String = last.unwrap_or("0").chars().take_while(char::is_ascii_digit).collect();
        let end: i64 = digits.parse().expect("the end of the run");
        // A change after the end of all jobs keeps a run going, so the instants are in its first half.
        let instants = [end / 7, end / 3, end / 2].map(Time::from_micros);
        let mut changed = world();
        changed.changes = instants.into_iter().map(|at| no_change(world(), at)).collect();
        assert_eq!(itself.0, uninterrupted(changed).0, "{name}");
    }
}

#[test]
fn a_change_cannot_come_too_late() {
    let (_, world) = worlds().into_iter().next().expect("a world");
    let mut simulation = Simulation::new(world(), Driver::Sequential).expect("good jobs");
    simulation.advance(100).expect("it ends");
    let now = simulation.now();
    let error = simulation.change(no_change(world(), now)).expect_err("it is past");
    assert!(matches!(error, ChangeError::TooLate { .. }), "{error}");
    let at = now + Span::from_secs(1_000_000);
    simulation.change(no_change(world(), at)).expect("it is ahead");
    let error = simulation.change(no_change(world(), at)).expect_err("there is one");
    assert!(matches!(error, ChangeError::Taken { .. }), "{error}");
}

/// A snapshot in memory and its run have the jobs that were read ahead in common.
#[test]
fn a_run_and_its_snapshot_in_memory_go_on_beside_each_other() {
    let (_, world) = worlds().swap_remove(0);
    let (mut itself, mut copied) = (Log::default(), Log::default());
    let mut simulation = Simulation::new(world(), Driver::Sequential).expect("good jobs");
    let snapshot = simulation.snapshot();
    simulation.listen(&mut itself);
    let copy = Simulation::restore(world(), Driver::Sequential, snapshot.clone());
    let mut copy = copy.expect("its own world");
    copy.listen(&mut copied);
    let goes_on = |simulation: &mut Simulation<'_>| simulation.step().expect("it ends").is_some();
    while goes_on(&mut simulation) && goes_on(&mut copy) {}
    assert!(!goes_on(&mut copy));
    drop((simulation, copy, snapshot));
    assert_eq!(itself.0, copied.0);
}

#[test]
fn a_run_in_parts_goes_as_the_run_itself() {
    for (name, world) in worlds() {
        let itself = uninterrupted(world());
        for (messages, drivers) in
            [(97, &[Driver::Sequential][..]), (1_009, &[Driver::Actix, Driver::Sequential])]
        {
            let parts = in_parts(&*world, messages, drivers);
            for (one, other) in itself.0.iter().zip(&parts.0) {
                assert_eq!(one, other, "{name}, {messages}");
            }
            assert_eq!(itself.0.len(), parts.0.len(), "{name}");
        }
    }
}
