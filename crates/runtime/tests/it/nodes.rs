//! Nodes with journals, whose processes and disks fail, are a run of the whole world in which each message takes a
//! certain time and actors crash.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use haggle_agents::AnyActor;
use haggle_journal::testing::{Disk, DiskFolder, Loss};
use haggle_live::core::{Core, Input, Known, Letter, WorkEnd, WorkKey};
use haggle_live::decisions::Decisions;
use haggle_live::keeper::{Keeper, KeeperError};
use haggle_live::parts::{PartId, Parts};
use haggle_live::session::{Arrival, Number};
use haggle_live::verify::Replay;
use haggle_live::wire::Limits;
use haggle_model::random::{Stream, stream};
use haggle_model::{ActorId, Span, Time};
use haggle_runtime::{Driver, Simulation};
use rand::RngExt;

use crate::any_message::{Make, live_worlds};
use crate::setup::kind;

/// A node, its disk, and the messages on their way to it.
struct Node {
    disk: Disk,
    /// `None` = the process has ended.
    keeper: Option<Keeper<'static, DiskFolder>>,
    /// The last message that was sent over the present connection, by receiver.
    sent: BTreeMap<PartId, Number>,
    /// Messages on their way, by sender, with the times of their arrival.
    way: BTreeMap<PartId, VecDeque<(Time, Number, Letter)>>,
}

/// Chances of faults in a step of a node.
#[derive(Clone, Copy)]
struct Faults {
    /// The process ends in one of the next operations of its disk.
    crash: f64,
    /// A connection breaks.
    cut: f64,
    /// A program on a real machine is lost. If it is 0, machines are not real.
    lost: f64,
}

const NONE: Faults = Faults { crash: 0.0, cut: 0.0, lost: 0.0 };

/// The providers of a world that can have real machines.
fn real_ones(make: &Make) -> BTreeSet<ActorId> {
    let mut world = make();
    if world.outages.is_some() {
        return BTreeSet::new();
    }
    let actors = (0..).map(ActorId).zip(&mut world.actors);
    let real = actors.filter_map(|(id, actor)| match actor {
        AnyActor::Provider(provider) => provider.put_before_real_machine().ok().map(|()| id),
        _ => None,
    });
    real.collect()
}

struct Nodes<'a> {
    make: &'a Make,
    known: Arc<Known>,
    nodes: Vec<Node>,
    dice: Stream,
    faults: Faults,
    crashes: usize,
    /// Programs that real machines have run: the end of each, or the time at which it is lost.
    programs: BTreeMap<WorkKey, (Time, bool)>,
}

impl<'a> Nodes<'a> {
    fn new(name: &str, make: &'a Make, faults: Faults) -> Nodes<'a> {
        let actors = make().actors;
        let known = Arc::new(Known {
            parts: Parts::of(&actors),
            kinds: actors.iter().map(kind).collect(),
            limits: Limits::default(),
            real: if faults.lost > 0.0 { real_ones(make) } else { BTreeSet::new() },
        });
        let dice = stream(7, name, "nodes");
        let node = |part: usize| Node {
            disk: Disk::new(part as u64),
            keeper: None,
            sent: BTreeMap::new(),
            way: BTreeMap::new(),
        };
        let nodes = (0..known.parts.count()).map(node).collect();
        let programs = BTreeMap::new();
        let mut all = Nodes { make, known, nodes, dice, faults, crashes: 0, programs };
        for part in 0..all.known.parts.count() {
            all.open(part, Time::ZERO).expect("an empty disk is good");
        }
        all
    }

    fn core(&self, part: usize) -> Core<'static> {
        Core::new(Arc::clone(&self.known), part as PartId, (self.make)()).expect("good jobs")
    }

    /// Starts the process of a node.
    fn open(&mut self, part: usize, present: Time) -> Result<(), KeeperError> {
        let core = self.core(part);
        let folder = self.nodes[part].disk.folder();
        let make = |state: Option<&[u8]>| match state {
            Some(state) => {
                Core::from_bytes(Arc::clone(&self.known), part as PartId, (self.make)(), state)
            }
            None => Ok(core),
        };
        let (mut keeper, _) = Keeper::open(folder, "node", b"a run", make)?;
        if keeper.is_restart() {
            let incarnation = keeper.incarnation();
            let wanted = keeper.core().real_work();
            let ended = self.programs.iter().filter(|it| wanted.contains_key(it.0));
            let ended = ended.filter(|it| it.1.0 <= present);
            let mut work = Vec::from_iter(
                ended.map(|(&key, &(at, lost))| (at, WorkEnd { key, lost, failed: false })),
            );
            work.sort_by_key(|(at, end)| (*at, end.key));
            keeper.take(&Input::Restart { present, incarnation, work })?;
            keeper.sync()?;
        }
        self.nodes[part].keeper = Some(keeper);
        for peer in (0..self.nodes.len()).filter(|&peer| peer != part) {
            self.connect(part, peer);
        }
        Ok(())
    }

    /// Connects two nodes anew: each learns which of its messages the other one has taken.
    fn connect(&mut self, a: usize, b: usize) {
        for (from, to) in [(a, b), (b, a)] {
            let (sender, receiver) = (from as PartId, to as PartId);
            let Some(keeper) = &self.nodes[to].keeper else { continue };
            let taken = keeper.core().session().taken(sender);
            self.nodes[to].way.remove(&sender);
            let Some(keeper) = &mut self.nodes[from].keeper else { continue };
            keeper.core_mut().acknowledge(receiver, taken);
            self.nodes[from].sent.insert(receiver, taken);
        }
    }

    /// A step of a node at the present time.
    fn step(&mut self, part: usize, present: Time) -> Result<(), KeeperError> {
        let Node { disk, keeper, way, .. } = &mut self.nodes[part];
        let Some(keeper) = keeper else { return Ok(()) };
        if self.dice.random_bool(self.faults.crash) {
            disk.end_after(self.dice.random_range(0..6));
        }
        if keeper.core_mut().next_event()?.is_some_and(|next| next <= present) {
            keeper.take(&Input::Advance { present })?;
        }
        for (&peer, way) in way.iter_mut() {
            let has_arrived = |it: &&(Time, Number, Letter)| it.0 <= present && it.2.sent < present;
            while way.front().as_ref().is_some_and(has_arrived) {
                let Some((_, number, letter)) = way.pop_front() else { break };
                if keeper.core().arrival(peer, number) == Arrival::Next {
                    keeper.take(&Input::Letter { present, number, letter })?;
                }
            }
        }
        keeper.sync()?;
        // The machine has what is durable, and runs each attempt once.
        for key in keeper.core().real_work().into_keys() {
            let takes = Span::from_micros(self.dice.random_range(1..200_000_000));
            let lost = self.dice.random_bool(self.faults.lost);
            let (at, lost) = *self.programs.entry(key).or_insert((present + takes, lost));
            if at <= present {
                keeper.take(&Input::Work { present, end: WorkEnd { key, lost, failed: false } })?;
            }
        }
        keeper.sync()?;
        self.send(part, present);
        Ok(())
    }

    /// Sends and acknowledges all messages of a node.
    fn send(&mut self, part: usize, present: Time) {
        let own = part as PartId;
        for peer in (0..self.nodes.len()).filter(|&peer| peer != part) {
            let Some(keeper) = &self.nodes[part].keeper else { return };
            let safe = keeper.safe(peer as PartId);
            let after = self.nodes[part].sent.get(&(peer as PartId)).copied().unwrap_or_default();
            let letters = keeper.core().session().unacknowledged(peer as PartId, after);
            let letters = Vec::from_iter(letters.map(|(number, letter)| (number, letter.clone())));
            let Some(receiver) = &mut self.nodes[peer].keeper else { continue };
            receiver.core_mut().acknowledge(own, safe);
            let way = self.nodes[peer].way.entry(own).or_default();
            let mut last = way.back().map_or(present, |it| it.0);
            let sent = letters.last().map_or(after, |it| it.0);
            for (number, letter) in letters {
                last = last.max(present + Span::from_micros(self.dice.random_range(0..2_000_000)));
                way.push_back((last, number, letter));
            }
            self.nodes[part].sent.insert(peer as PartId, sent);
        }
    }

    /// Lets real time pass.
    fn tick(&mut self, present: Time) {
        for part in 0..self.nodes.len() {
            let stepped = match self.nodes[part].keeper {
                Some(_) if self.dice.random_bool(0.3) => continue,
                Some(_) => self.step(part, present),
                None if self.dice.random_bool(0.5) => continue,
                None => self.open(part, present),
            };
            if let Err(error) = stepped {
                assert!(matches!(error, KeeperError::Journal(_)), "{error}");
                self.crash(part);
            }
            if self.dice.random_bool(self.faults.cut) {
                let peer = self.dice.random_range(0..self.nodes.len());
                if peer != part {
                    self.connect(part, peer);
                }
            }
        }
    }

    /// Ends the process of a node, or the machine below it.
    fn crash(&mut self, part: usize) {
        self.crashes += 1;
        self.nodes[part].keeper = None;
        let loss = if self.dice.random_bool(0.5) { Loss::Power } else { Loss::Process };
        self.nodes[part].disk.restart(loss);
    }

    /// Lets a node reach the present, without messages.
    fn rest(&mut self, part: usize, present: Time) -> Result<(), KeeperError> {
        if self.nodes[part].keeper.is_none() {
            self.open(part, present)?;
        }
        let keeper = self.nodes[part].keeper.as_mut().expect("it is open");
        keeper.take(&Input::Advance { present })?;
        keeper.sync()
    }

    /// True if all jobs are over, and no message is under way.
    fn is_over(&self) -> bool {
        let all = self.nodes.iter().map(|node| {
            let keeper = node.keeper.as_ref()?;
            let (host, way) = (keeper.core().host(), &node.way);
            let stats = host.stats();
            let rests = !host.awaits_jobs() && way.values().all(VecDeque::is_empty);
            rests.then_some((stats.jobs, stats.jobs_over))
        });
        let Some(all) = all.collect::<Option<Vec<_>>>() else { return false };
        all.iter().map(|it| it.0).sum::<u64>() == all.iter().map(|it| it.1).sum::<u64>()
    }
}

/// Runs a world on nodes, repeats their journals, and compares all decisions with a simulation. Returns the numbers of
/// events, crashes and messages.
fn compared(name: &str, make: &Make, faults: Faults) -> (usize, usize, usize) {
    let (events, live, replay) = compare(name, make, faults);
    (events, live.crashes, replay.messages())
}

/// As [`compared`]; the last number is that of programs on real machines.
fn compared_with_programs(name: &str, make: &Make, faults: Faults) -> (usize, usize, usize) {
    let (events, live, _) = compare(name, make, faults);
    (events, live.crashes, live.programs.len())
}

fn compare<'a>(name: &str, make: &'a Make, faults: Faults) -> (usize, Nodes<'a>, Replay) {
    let mut live = Nodes::new(name, make, faults);
    let mut now = Time::ZERO;
    for _ in 0..3_000 {
        now += Span::from_micros(live.dice.random_range(0..1_500_000));
        live.tick(now);
        if live.is_over() {
            break;
        }
    }
    live.faults = Faults { crash: 0.0, cut: 0.0, ..live.faults };
    // All nodes reach the same time, and no message that is still under way arrives before it.
    for part in 0..live.nodes.len() {
        // A fault that was asked for may still come.
        while live.rest(part, now).is_err() {
            live.crash(part);
            live.open(part, now).expect("the disk is good again");
        }
    }
    let (mut replay, mut lived) = (Replay::default(), Vec::new());
    for (part, node) in live.nodes.iter().enumerate() {
        let mut core = live.core(part);
        let decisions = Decisions::of(live.known.parts.members(part as PartId).clone());
        core.host_mut().listen(decisions.clone());
        let read = replay.read(&node.disk.folder(), &live.known, &mut core);
        read.unwrap_or_else(|error| panic!("{name}: node {part}: {error}"));
        lived.push(decisions);
    }
    assert_eq!(replay.forgotten(), 0, "{name}: all inputs are synced before messages leave");
    let mut world = make();
    let end = replay.put_whole_into(&mut world, &live.known);
    let simulated = Decisions::default();
    let mut simulation = Simulation::new(world, Driver::Sequential).expect("good jobs");
    simulation.listen(simulated.clone());
    simulation.step_until(end).unwrap_or_else(|error| panic!("{name}: {error}"));
    for decisions in &lived {
        if let Some((actor, live, simulated)) = decisions.difference(&simulated, end) {
            panic!("{name}: {actor} up to {end}: live {live:#?}, simulated {simulated:#?}");
        }
    }
    let events = lived.iter().map(Decisions::count).sum();
    (events, live, replay)
}

/// Worlds with more than one part.
fn worlds_of_parts() -> Vec<(String, Make)> {
    let has_parts = |make: &Make| Parts::of(&make().actors).count() > 1;
    live_worlds().into_iter().filter(|(_, make)| has_parts(make)).collect()
}

#[test]
fn nodes_are_a_run_with_recorded_latencies() {
    let worlds = worlds_of_parts();
    let mut sum = (0, 0);
    for (name, make) in &worlds {
        let (events, _, messages) = compared(name, make, Faults { cut: 0.01, ..NONE });
        sum = (sum.0 + events, sum.1 + messages);
    }
    assert!(
        worlds.len() > 50 && sum.0 > 20_000 && sum.1 > 5_000,
        "{} worlds, {sum:?}",
        worlds.len()
    );
}

#[test]
fn nodes_that_crash_are_a_run_with_crashes() {
    let mut sum = (0, 0);
    for (name, make) in worlds_of_parts() {
        // Other actors of a world without retry wait for ever for an actor that was down: nothing is lost, though.
        let (events, crashes, _) =
            compared(&name, &make, Faults { crash: 0.02, cut: 0.02, ..NONE });
        sum = (sum.0 + events, sum.1 + crashes);
    }
    assert!(sum.1 > 100, "{sum:?} events and crashes");
}

/// Programs on real machines end when they like, are lost, and go on while the processes of nodes have ended.
#[test]
fn nodes_with_real_machines_are_a_run_with_their_ends() {
    let (mut events, mut crashes, mut programs) = (0, 0, 0);
    for (name, make) in worlds_of_parts() {
        if real_ones(&make).is_empty() {
            continue;
        }
        for crash in [0.0, 0.02, 0.05] {
            let faults = Faults { crash, cut: 0.02, lost: 0.05 };
            let (some, crashed, ran) = compared_with_programs(&name, &make, faults);
            (events, crashes, programs) = (events + some, crashes + crashed, programs + ran);
        }
    }
    assert!(
        events > 2_000 && crashes > 20 && programs > 100,
        "{events} events, {crashes} crashes, {programs} programs"
    );
}

/// A snapshot makes all records before it unnecessary.
#[test]
fn a_node_goes_on_from_its_snapshot() {
    let mut count = 0;
    for (name, make) in worlds_of_parts().iter().step_by(4) {
        let mut live = Nodes::new(name, make, NONE);
        let mut now = Time::ZERO;
        for _ in 0..40 {
            now += Span::from_micros(live.dice.random_range(0..1_500_000));
            live.tick(now);
        }
        let later = Input::Advance { present: now + Span::from_secs(1_000) };
        for part in 0..live.nodes.len() {
            let mut keeper = live.nodes[part].keeper.take().expect("it is open");
            keeper.snapshot().expect("the disk is good");
            let taken = keeper.core().session().clone();
            // The journal does not have this input.
            let left = keeper.core_mut().take(&later).expect("it goes on").left;
            let digest = keeper.core().digest();
            drop(keeper);
            live.nodes[part].disk.restart(Loss::Power);
            let make = |state: Option<&[u8]>| {
                let state = state.expect("there is a snapshot");
                Core::from_bytes(Arc::clone(&live.known), part as PartId, (live.make)(), state)
            };
            let folder = live.nodes[part].disk.folder();
            let (mut keeper, opening) =
                Keeper::open(folder, "node", b"a run", make).expect("the disk is good");
            assert_eq!(opening.repeated, 0, "{name}: node {part}");
            assert_eq!(*keeper.core().session(), taken, "{name}: node {part}");
            assert_eq!(keeper.take(&later).expect("it goes on").left, left, "{name}: node {part}");
            assert_eq!(keeper.core().digest(), digest, "{name}: node {part}");
            count += left.len();
        }
    }
    assert!(count > 20, "{count} messages after the snapshots");
}

#[test]
fn actors_of_one_machine_are_one_part() {
    for (name, make) in live_worlds() {
        let actors = make().actors;
        let parts = Parts::of(&actors);
        let is_nature = |actor: &AnyActor| matches!(actor, AnyActor::Nature(_));
        let alone = actors.iter().filter(|it| !is_nature(it)).count();
        assert!(parts.count() <= alone && parts.count() > 0, "{name}");
    }
}
