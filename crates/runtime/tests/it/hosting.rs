//! Hosts with clocks of their own are a run of the whole world in which each message takes the time that it took.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use haggle_agents::protocol::SubmissionMessage;
use haggle_agents::{AnyActor, Message, RunMessage};
use haggle_model::random::{Stream, stream};
use haggle_model::{ActorId, JobId, Observation, Span, Time};
use haggle_runtime::network::{Network, Recorded};
use haggle_runtime::{
    Driver, Host, HostError, Leaving, OutsideError, Simulation, Sink, Snapshot, World,
};
use rand::RngExt;

use crate::any_message::{Make, worlds};

/// The events of each actor, with their times.
#[derive(Clone, Debug, Default)]
struct Log(Rc<RefCell<Events>>);

#[derive(Debug, Default)]
struct Events {
    by_actor: BTreeMap<ActorId, Vec<(Time, String)>>,
    over: BTreeMap<JobId, Time>,
}

impl Sink for Log {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let event = (now, format!("{now} {from}>{to} {message:?}"));
        self.0.borrow_mut().by_actor.entry(to).or_default().push(event);
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let mut events = self.0.borrow_mut();
        // The record of a job is complete only where all of its observations are.
        let event = match observation {
            Observation::JobOver(record) => {
                events.over.entry(record.job.id).or_insert(now);
                format!("{now} {} {:?}", record.job.id, record.outcome)
            }
            observation => format!("{now} {observation:?}"),
        };
        events.by_actor.entry(actor).or_default().push((now, event));
        Ok(())
    }
}

impl Log {
    /// The events of an actor before `end`.
    fn of(&self, actor: ActorId, end: Time) -> Vec<String> {
        let events = self.0.borrow();
        let of_actor = events.by_actor.get(&actor).into_iter().flatten();
        of_actor.filter(|it| it.0 < end).map(|it| it.1.clone()).collect()
    }

    fn jobs_over(&self) -> usize {
        self.0.borrow().over.len()
    }
}

/// A message on its way between two hosts.
struct OnItsWay {
    arrives: Time,
    /// Its place among the messages from its sender to its receiver.
    place: usize,
    message: Leaving,
}

/// A world on hosts, one for each actor. Nature is on all of them.
struct Live<'a> {
    make: &'a Make,
    log: Log,
    hosts: Vec<Option<Host<'static>>>,
    here: Vec<BTreeSet<ActorId>>,
    way: Vec<OnItsWay>,
    /// Arrivals of all messages.
    arrivals: BTreeMap<(ActorId, ActorId), Vec<Option<Time>>>,
    dice: Stream,
}

impl<'a> Live<'a> {
    fn new(name: &str, make: &'a Make) -> Live<'a> {
        let actors = make().actors;
        let numbered = || (0..).map(ActorId).zip(&actors);
        let is_nature = |actor: &AnyActor| matches!(actor, AnyActor::Nature(_));
        let natures = BTreeSet::from_iter(
            numbered().filter(|(_, actor)| is_nature(actor)).map(|(number, _)| number),
        );
        let with_nature = |number| natures.iter().copied().chain([number]).collect();
        let here: Vec<BTreeSet<ActorId>> =
            numbered().map(|(number, _)| with_nature(number)).collect();
        let log = Log::default();
        let hosts = numbered().zip(&here).map(|((_, actor), here)| {
            let mut host = Host::new(make(), here.clone()).expect("good jobs");
            host.listen(Filtered { log: log.clone(), natures: natures.clone() });
            (!is_nature(actor)).then_some(host)
        });
        let hosts = hosts.collect();
        let dice = stream(7, name, "live");
        Live { make, log, hosts, here, way: vec![], arrivals: BTreeMap::new(), dice }
    }

    fn send(&mut self, number: usize, now: Time) {
        let Some(host) = &mut self.hosts[number] else { return };
        for message in host.take_leaving() {
            // Messages that arrive at one instant are delivered a microsecond after each other.
            assert!(message.sent < now + Span::from_micros(1_000), "nothing is sent in the future");
            let arrivals = self.arrivals.entry((message.from, message.to)).or_default();
            arrivals.push(None);
            let place = arrivals.len() - 1;
            let arrives = now + Span::from_micros(self.dice.random_range(0..2_000_000));
            self.way.push(OnItsWay { arrives, place, message });
        }
    }

    /// Lets real time pass: some hosts look at their clocks, and messages arrive.
    fn tick(&mut self, now: Time) {
        for number in 0..self.hosts.len() {
            if self.dice.random_bool(0.7)
                && let Some(host) = &mut self.hosts[number]
            {
                host.advance(now).expect("it goes on");
                self.send(number, now);
            }
        }
        let (arrived, way) =
            std::mem::take(&mut self.way).into_iter().partition(|it| it.arrives <= now);
        self.way = way;
        let arrived: Vec<OnItsWay> = arrived;
        for OnItsWay { place, message, .. } in arrived {
            let (from, to) = (message.from, message.to);
            let host = self.hosts[to.index()].as_mut().expect("nature gets no message of others");
            let at = host.receive(now, message).expect("it goes on").expect("a good message");
            self.arrivals.get_mut(&(from, to)).expect("it was sent")[place] = Some(at);
            self.send(to.index(), now);
        }
    }

    /// Writes a host down and reads it again.
    fn restore(&mut self, number: usize) {
        let Some(host) = self.hosts[number].take() else { return };
        let written = host.snapshot().to_bytes().expect("it can be written");
        drop(host);
        let read = Snapshot::from_bytes(&written).expect("it can be read");
        let mut host = Host::restore((self.make)(), read).expect("its own world");
        let natures = self.here[number].iter().copied();
        let natures = natures.filter(|it| it.index() != number).collect();
        host.listen(Filtered { log: self.log.clone(), natures });
        self.hosts[number] = Some(host);
    }

    /// The arrivals as a simulation takes them.
    fn recorded(&self) -> Recorded {
        let is_nature = |number: usize| self.hosts[number].is_none();
        let part = |number: usize| (!is_nature(number)).then_some(number as u32);
        let mut recorded = Recorded::new((0..self.hosts.len()).map(part).collect());
        for (&(from, to), arrivals) in &self.arrivals {
            arrivals.iter().for_each(|&arrival| recorded.push(from, to, arrival));
        }
        recorded
    }
}

/// Only the events of the actor itself: those of nature are on every host.
struct Filtered {
    log: Log,
    natures: BTreeSet<ActorId>,
}

impl Sink for Filtered {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let is_own = !self.natures.contains(&to);
        if is_own { self.log.delivered(now, from, to, message) } else { Ok(()) }
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let is_own = !self.natures.contains(&actor);
        if is_own { self.log.observed(now, actor, observation) } else { Ok(()) }
    }
}

/// True if actors of the world are parts of one machine, which must be on one host.
fn is_one_machine(world: &World) -> bool {
    let is_of_machine = |actor: &AnyActor| {
        !matches!(
            actor,
            AnyActor::User(_)
                | AnyActor::Provider(_)
                | AnyActor::Metascheduler(_)
                | AnyActor::Negotiator(_)
                | AnyActor::Coallocator(_)
                | AnyActor::Transactor(_)
                | AnyActor::Acceptor(_)
                | AnyActor::Reallocator(_)
                | AnyActor::Nature(_)
        )
    };
    world.actors.iter().any(is_of_machine)
}

/// Runs a world on hosts and in a simulation. Returns the number of compared events.
fn compared(name: &str, make: &Make, restores: bool) -> usize {
    let world = make();
    let jobs: usize = world.arrivals.into_iter().map(|(_, jobs)| jobs.count()).sum();
    let mut live = Live::new(name, make);
    let mut now = Time::ZERO;
    for tick in 0..4_000 {
        now += Span::from_micros(live.dice.random_range(0..1_500_000));
        live.tick(now);
        if restores && tick % 5 == 0 {
            let number = live.dice.random_range(0..live.hosts.len());
            live.restore(number);
        }
        if live.log.jobs_over() == jobs && live.way.is_empty() {
            break;
        }
    }
    // All hosts reach the same instant, and no message that is still under way arrives before it.
    for host in live.hosts.iter_mut().flatten() {
        host.advance(now).expect("it goes on");
    }
    let mut world = make();
    world.network = Network::default();
    world.network.replay(live.recorded());
    let log = Log::default();
    let mut simulation = Simulation::new(world, Driver::Sequential).expect("good jobs");
    simulation.listen(log.clone());
    simulation.step_until(now).unwrap_or_else(|error| panic!("{name}: {error}"));
    let all_over = log.jobs_over() == jobs;
    // Recurring events stop with the last job in a simulation alone.
    let last = log.0.borrow().over.values().max().copied().unwrap_or(Time::ZERO);
    let end = if all_over { last } else { now };
    assert_eq!(log.0.borrow().over, live.log.0.borrow().over, "{name}: ends of jobs");
    let mut count = 0;
    for number in (0..live.hosts.len()).filter(|it| live.hosts[*it].is_some()) {
        let actor = ActorId(number as u32);
        let (simulated, lived) = (log.of(actor, end), live.log.of(actor, end));
        count += simulated.len();
        for (number, (one, other)) in simulated.iter().zip(&lived).enumerate() {
            let around = number.saturating_sub(25)..;
            assert!(
                one == other,
                "{name}: event {number} of {actor} in a simulation and on a host: {:#?}\n{:#?}",
                simulated[around.clone()].iter().take(30).collect::<Vec<_>>(),
                lived[around].iter().take(30).collect::<Vec<_>>(),
            );
        }
        assert_eq!(simulated.len(), lived.len(), "{name}: events of {actor}");
    }
    count
}

#[test]
fn hosts_are_a_run_with_recorded_latencies() {
    let (mut count, mut compared_worlds) = (0, 0);
    for (name, make) in worlds() {
        if !is_one_machine(&make()) {
            count += compared(&name, &make, false);
            compared_worlds += 1;
        }
    }
    assert!(compared_worlds > 50 && count > 20_000, "{compared_worlds} worlds, {count} events");
}

#[test]
fn a_host_that_is_written_and_read_goes_on() {
    for (name, make) in worlds().into_iter().step_by(4) {
        if !is_one_machine(&make()) {
            compared(&name, &make, true);
        }
    }
}

#[test]
fn a_host_takes_no_message_that_is_not_sent_to_it() {
    let (_, make) = &worlds()[0];
    let world = make();
    let provider = ActorId(world.actors.iter().position(is_provider).expect("a provider") as u32);
    let user = world.actors.iter().position(|it| matches!(it, AnyActor::User(_)));
    let user = ActorId(user.expect("a user") as u32);
    let nobody = ActorId(world.actors.len() as u32);
    let mut host = Host::new(world, [provider].into()).expect("good jobs");
    let said = Message::from(SubmissionMessage::Started { job: JobId(0) });
    let mut refusal = |sent: Time, from: ActorId, to: ActorId, message: &Message| {
        let message = Leaving { sent, from, to, message: message.clone() };
        host.receive(Time::from_secs(1), message).expect("it goes on").err()
    };
    let now = Time::ZERO;
    assert_eq!(refusal(now, provider, user, &said), Some(HostError::NotHere { to: user }));
    assert_eq!(refusal(now, user, nobody, &said), Some(HostError::NotHere { to: nobody }));
    let own = HostError::NotFromOutside { from: provider };
    assert_eq!(refusal(now, provider, provider, &said), Some(own));
    let from_nobody = HostError::NotFromOutside { from: nobody };
    assert_eq!(refusal(now, nobody, provider, &said), Some(from_nobody));
    let of_world = Message::from(RunMessage::Crashed);
    let not_sent = HostError::NotSent { kind: "crashed" };
    assert_eq!(refusal(now, user, provider, &of_world), Some(not_sent));
    let never = HostError::NoTime { sent: Time::FOREVER };
    assert_eq!(refusal(Time::FOREVER, user, provider, &said), Some(never));
    assert_eq!(refusal(now, user, provider, &said), None, "the actor itself refuses it");
    assert_eq!(host.stats().refused, 1);
}

fn is_provider(actor: &AnyActor) -> bool {
    matches!(actor, AnyActor::Provider(_))
}
