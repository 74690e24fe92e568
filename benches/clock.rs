//! Cost of a message: small actors send small messages over the sequential clock. A checksum is printed beside the
//! time of each case, so that a faster wrong version is detected.
//!
//! `phold`: E actors, K messages under way. Each delivered message mixes the actor's state and causes one message to
//! a pseudo-random actor at a pseudo-random later time (the usual benchmark of the field). `ring`: the same without
//! time passing, as in a negotiation.

#![expect(clippy::print_stdout, reason = "a checksum stands beside each time")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use haggle_agents::{Actor, Effect, Outbox, Phase, Timer};
use haggle_model::{ActorId, EventsOrder, Span, Time};
use haggle_runtime::Network;
use haggle_runtime::clock::{Clock, Delivery, Origin};
use haggle_runtime::network::Fate;

const MESSAGES: u64 = 1_000_000;

/// A message of about the size of most messages of actors.
#[derive(Clone, Copy, Debug)]
enum Small {
    Work(u64),
    Other(u32, u32),
}

struct Mixer {
    state: u64,
    actors: u32,
    later: bool,
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Actor for Mixer {
    type Message = Small;

    fn on_message(&mut self, now: Time, from: ActorId, message: Small, out: &mut Outbox<Small>) {
        let word = match message {
            Small::Work(word) => word,
            Small::Other(a, b) => u64::from(a) << 32 | u64::from(b),
        };
        self.state = mix(self.state ^ word ^ u64::from(from.0));
        let to = ActorId((self.state % u64::from(self.actors)) as u32);
        if self.later {
            // Messages take no time here, so an actor that sends later wakes itself.
            let at = now + Span::from_micros((self.state >> 40) as i64 + 1);
            out.wake(at, Timer::Other(self.state));
        } else {
            out.send(to, Small::Other(self.state as u32, to.0));
        }
    }
}

/// Delivers `messages` and returns a checksum over all actors.
fn drive(actors: u32, in_flight: u32, later: bool, messages: u64) -> u64 {
    let mut mixers: Vec<Mixer> =
        (0..actors).map(|i| Mixer { state: u64::from(i) + 1, actors, later }).collect();
    let mut network = Network::default();
    let mut clock = Clock::new(EventsOrder::SubmissionsFirst);
    for i in 0..in_flight {
        let first = Delivery::first(ActorId(i % actors), Small::Work(u64::from(i)));
        let delivery = Delivery { from: ActorId(0), ..first };
        clock.schedule(Time::from_micros(i64::from(i)), Phase::Conversation, delivery);
    }
    let mut out = Outbox::default();
    for _ in 0..messages {
        let key = clock.next_due().expect("always one");
        let Delivery { from, to, hops, message, .. } = clock.take(key);
        let now = clock.now();
        mixers[to.index()].on_message(now, from, message, &mut out);
        for effect in out.effects.drain(..) {
            let (at, addressee, message) = match effect {
                Effect::Send { to: other, message } => match network.fate(now, to, other) {
                    Fate::Arrives(at) => (at, other, message),
                    Fate::Hit(_) | Fate::Leaves => continue,
                },
                Effect::Wake { at, timer: Timer::Other(word) } => {
                    (at, ActorId((word % u64::from(actors)) as u32), Small::Work(word))
                }
                Effect::Wake { .. } | Effect::Set { .. } | Effect::Stop { .. } => continue,
            };
            let delivery =
                Delivery { from: to, to: addressee, hops: hops + 1, origin: Origin::Run, message };
            clock.schedule(at, Phase::Conversation, delivery);
        }
    }
    mixers.iter().fold(0, |sum, mixer| sum ^ mixer.state)
}

fn messages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("message");
    group.throughput(Throughput::Elements(MESSAGES)).sample_size(10);
    for (name, actors, in_flight, later) in [
        ("ring", 2, 1, false),
        ("ring", 1000, 1000, false),
        ("phold", 100, 100, true),
        ("phold", 1000, 10_000, true),
    ] {
        let case = format!("{actors} actors, {in_flight} in flight");
        let checksum = drive(actors, in_flight, later, MESSAGES);
        println!("{name}, {case}: checksum {checksum:016x}");
        let id = BenchmarkId::new(name, case);
        group.bench_function(id, |bencher| {
            bencher.iter(|| black_box(drive(actors, in_flight, later, MESSAGES)));
        });
    }
}

criterion_group!(benches, messages);
criterion_main!(benches);
