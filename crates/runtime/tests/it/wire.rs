//! Every message can be written and read again: a run in which each message is a copy that was made from text is the
//! same as the run itself.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use haggle_agents::{Actor, AnyActor, Message, OtherActor, Outbox, RunMessage};
use haggle_model::{ActorId, Observation, Time};
use haggle_runtime::{Driver, OutsideError, Sink, World, run};
use serde::{Deserialize, Serialize};

use crate::any_message::worlds;

/// An actor that receives every message by wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ByWire(AnyActor);

#[typetag::serde]
impl OtherActor for ByWire {}

impl Actor for ByWire {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        // An actor without accounts does not receive the end of the run. Behind a wire, all actors seem to keep
        // accounts.
        if message == Message::Run(RunMessage::RunOver) && !self.0.keeps_accounts() {
            return;
        }
        let said = serde_json::to_vec(&message).expect("it can be written");
        let heard = serde_json::from_slice(&said).expect("it can be read");
        assert_eq!(message, heard);
        self.0.on_message(now, from, heard, out);
    }
}

/// Events of a run, word for word, and the number of messages of each kind.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
    kinds: BTreeMap<&'static str, u32>,
}

impl Sink for Log {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        if *message != Message::Run(RunMessage::RunOver) {
            self.lines.push(format!("{now} {from}>{to} {message:?}"));
            *self.kinds.entry(message.kind()).or_default() += 1;
        }
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        self.lines.push(format!("{now} {actor} {observation:?}"));
        Ok(())
    }
}

fn log(world: World) -> Log {
    let mut log = Log::default();
    run(world, Driver::Sequential, &mut log, &AtomicBool::new(false)).expect("it runs");
    log
}

#[test]
fn a_run_over_wires_goes_as_the_run_itself() {
    let mut kinds = BTreeMap::new();
    for (name, world) in worlds() {
        let mut wired = world();
        let actors = std::mem::take(&mut wired.actors).into_iter();
        wired.actors = actors.map(|actor| AnyActor::Other(Box::new(ByWire(actor)))).collect();
        let (itself, wired) = (log(world()), log(wired));
        for (one, other) in itself.lines.iter().zip(&wired.lines) {
            assert_eq!(one, other, "{name}");
        }
        assert_eq!(itself.lines.len(), wired.lines.len(), "{name}");
        kinds.extend(wired.kinds);
    }
    assert!(kinds.len() >= 67, "{}: {kinds:?}", kinds.len());
}
