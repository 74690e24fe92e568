//! A run that is written down and read again between two messages goes on as if nothing had happened.

use haggle_agents::Message;
use haggle_model::{ActorId, MessageFault, Observation, Time};
use haggle_runtime::{Driver, OutsideError, RunStats, Simulation, Sink, Snapshot, World};

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
        let written = postcard::to_stdvec(&simulation.snapshot()).expect("it can be written");
        drop(simulation);
        if !goes_on {
            return log;
        }
        let read: Snapshot = postcard::from_bytes(&written).expect("it can be read");
        simulation = Simulation::restore(world(), next(), read).expect("its own world");
    }
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
