//! Timers of actors: set, set anew, stopped, on both drivers.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use haggle_agents::{Actor, AnyActor, Message, OtherActor, Outbox, Timer};
use haggle_model::{ActorId, Time};
use haggle_runtime::{Driver, OutsideError, RunStats, Sink, World, run};
use serde::{Deserialize, Serialize};

/// Effects on its timers when a timer of an actor goes off.
type Script = fn(u64, &mut Outbox);

/// An actor that follows its script.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Alarmed {
    #[serde(skip, default = "silence")]
    script: Script,
}

/// The script of an alarmed actor that was read.
fn silence() -> Script {
    |_, _| {}
}

#[typetag::serde]
impl OtherActor for Alarmed {}

impl Actor for Alarmed {
    type Message = Message;

    fn on_message(&mut self, _: Time, _: ActorId, message: Message, out: &mut Outbox) {
        if let Message::Wake(Timer::Other(number)) = message {
            (self.script)(number, out);
        }
    }
}

/// Timers that go off, `time actor:timer`.
#[derive(Default)]
struct Log(String);

impl Sink for Log {
    fn delivered(
        &mut self,
        now: Time,
        _: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        if let Message::Wake(Timer::Other(number)) = message {
            write!(self.0, "{} {}:{number}, ", now.as_secs_f64(), to.0)?;
        }
        Ok(())
    }
}

/// Timers that go off if these actors are woken up at time zero, for 0.
fn log(scripts: &[Script]) -> (String, RunStats) {
    let ran = [Driver::Sequential, Driver::Actix].map(|driver| {
        let actors = scripts.iter().map(|&script| AnyActor::Other(Box::new(Alarmed { script })));
        let first = |me| (Time::ZERO, ActorId(me), Message::Wake(Timer::Other(0)));
        let initial = (0..scripts.len() as u32).map(first).collect();
        let world = World { actors: actors.collect(), initial, ..World::default() };
        let mut log = Log::default();
        let stats = run(world, driver, &mut log, &AtomicBool::new(false)).expect("to the end");
        (log.0, stats)
    });
    assert_eq!(ran[0], ran[1]);
    let [sequential, _] = ran;
    sequential
}

fn set(out: &mut Outbox, at: i64, number: u64) {
    out.set(Time::from_secs(at), Timer::Other(number));
}

#[test]
fn a_timer_goes_off_once_when_it_was_set_to_last() {
    let (log, stats) = log(&[|number, out| match number {
        0 => {
            set(out, 5, 1);
            set(out, 3, 1);
            set(out, 4, 2);
            set(out, 9, 3);
            set(out, 8, 4);
        }
        1 => {
            set(out, 7, 2);
            out.stop(Timer::Other(3));
            out.stop(Timer::Other(3));
            out.stop(Timer::Other(5));
        }
        2 => out.stop(Timer::Other(4)),
        _ => unreachable!("it was stopped"),
    }]);
    assert_eq!(log, "0 0:0, 3 0:1, 7 0:2, ");
    assert_eq!((stats.messages, stats.end), (3, Time::from_secs(7)), "nothing stale is delivered");
}

#[test]
fn a_timer_that_is_set_again_to_an_instant_keeps_its_place_there() {
    let first: Script = |number, out| {
        if number == 0 {
            set(out, 5, 1);
            set(out, 6, 1);
            set(out, 1, 2);
        }
        if number == 2 {
            set(out, 5, 1);
        }
    };
    let second: Script = |number, out| {
        if number == 0 {
            set(out, 5, 1);
        }
    };
    assert_eq!(log(&[first, second]).0, "0 0:0, 0 1:0, 1 0:2, 5 0:1, 5 1:1, ");
    assert_eq!(log(&[second, first]).0, "0 0:0, 0 1:0, 1 1:2, 5 0:1, 5 1:1, ");
}

#[test]
fn a_timer_of_this_instant_is_stopped_and_set_again_and_what_cannot_be_stopped_comes() {
    let (log, _) = log(&[
        |number, out| match number {
            0 => {
                set(out, 0, 1);
                set(out, 0, 2);
                out.stop(Timer::Other(1));
                out.wake(Time::from_secs(2), Timer::Other(3));
                out.stop(Timer::Other(3));
            }
            // It has gone off and is set anew.
            2 => set(out, 1, 2 + 10),
            12 => set(out, 1, 1),
            _ => {}
        },
        |_, _| {},
    ]);
    assert_eq!(log, "0 0:0, 0 1:0, 0 0:2, 1 0:12, 1 0:1, 2 0:3, ");
}
