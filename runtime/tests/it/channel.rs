//! What a network does to messages, seen by actors that only talk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use haggle_agents::protocol::{ResourceMessage, SubmissionMessage};
use haggle_agents::{Actor, AnyActor, Message, Outbox, Timer};
use haggle_model::random::stream;
use haggle_model::{ActorId, Job, JobId, MessageFault, ProcessorSet, Span, Time};
use haggle_runtime::network::Partition;
use haggle_runtime::{Driver, Network, OutsideError, RunStats, Sink, World, run};
use proptest::prelude::*;

/// Says its numbers to everybody else, one every second, and may echo what it hears from others
/// for the first time.
struct Talker {
    me: u32,
    actors: u32,
    count: u64,
    echoes: bool,
    heard: BTreeSet<(ActorId, JobId)>,
}

impl Actor for Talker {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Wake(Timer::Other(number)) if number < self.count => {
                for to in (0..self.actors).filter(|&to| to != self.me) {
                    out.send(
                        ActorId(to),
                        SubmissionMessage::Withdraw { job: JobId(number as u32) },
                    );
                }
                out.wake(now + Span::from_secs(1), Timer::Other(number + 1));
            }
            Message::Submission(SubmissionMessage::Withdraw { job })
                if self.echoes && self.heard.insert((from, job)) =>
            {
                out.send(from, SubmissionMessage::NotWithdrawn { job });
            }
            _ => {}
        }
    }
}

/// Whom it is from and to, its kind, and its number: every message there is one of.
type Name = (u32, u32, &'static str, u32);

/// What became of messages between actors.
#[derive(Clone, Debug, Default, PartialEq)]
struct Heard {
    /// When each arrived, in order.
    arrivals: BTreeMap<Name, Vec<Time>>,
    /// What arrived at whom from whom, in order.
    order: BTreeMap<(u32, u32, &'static str), Vec<u32>>,
    /// What went wrong with each, and when it was sent.
    faults: BTreeMap<Name, (Time, MessageFault)>,
    wakes: u64,
    others: Vec<&'static str>,
    stats: RunStats,
}

impl Heard {
    fn of(&self, fault: MessageFault) -> BTreeSet<Name> {
        let of = self.faults.iter().filter(|(_, it)| it.1 == fault);
        of.map(|(&name, _)| name).collect()
    }
}

fn name(from: ActorId, to: ActorId, message: &Message) -> Option<Name> {
    let (kind, job) = (message.kind(), message.job()?);
    ["withdraw", "not_withdrawn"].contains(&kind).then_some((from.0, to.0, kind, job.0))
}

impl Sink for Heard {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        match name(from, to, message) {
            Some(name) => {
                self.arrivals.entry(name).or_default().push(now);
                self.order.entry((from.0, to.0, name.2)).or_default().push(name.3);
            }
            None if matches!(message, Message::Wake(_)) => self.wakes += 1,
            None => self.others.push(message.kind()),
        }
        Ok(())
    }

    fn fault(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
        fault: MessageFault,
    ) -> Result<(), OutsideError> {
        let name = name(from, to, message).expect("only what is said can be lost");
        assert_eq!(self.faults.insert(name, (now, fault)), None);
        Ok(())
    }

    fn over(&mut self, stats: &RunStats) -> Result<(), OutsideError> {
        self.stats = *stats;
        Ok(())
    }
}

/// A network between talkers.
#[derive(Clone, Debug)]
struct Talk {
    sites: Vec<u32>,
    count: u64,
    echoes: bool,
    latency: i64,
    jitter: i64,
    reordering: bool,
    loss: f64,
    duplication: f64,
    partitions: Vec<(Vec<Vec<u32>>, i64, i64)>,
    seed: u64,
}

/// Two actors, each at a site of its own, on a network without faults.
fn talk(count: u64) -> Talk {
    Talk {
        sites: vec![0, 1],
        count,
        echoes: true,
        latency: 2,
        jitter: 5,
        reordering: false,
        loss: 0.0,
        duplication: 0.0,
        partitions: Vec::new(),
        seed: 1,
    }
}

impl Talk {
    fn network(&self) -> Network {
        let streams = |purpose: &str| {
            let actors = 0..self.sites.len();
            actors.map(|it| stream(self.seed, &it.to_string(), purpose)).collect()
        };
        let mut network = Network::new(Span::from_secs(self.latency), self.sites.clone());
        network.jitter(Span::from_secs(self.jitter), streams("jitter"));
        network.loss(self.loss, streams("loss"));
        network.duplication(self.duplication, streams("duplication"), streams("copies"));
        if self.reordering {
            network.reordering();
        }
        for (groups, from, until) in &self.partitions {
            let (from, until) = (Time::from_secs(*from), Time::from_secs(*until));
            network.part(Partition::new(groups, from, until));
        }
        network
    }

    fn world(&self) -> World {
        let actors = self.sites.len() as u32;
        let talker = |me| {
            let heard = BTreeSet::new();
            Talker { me, actors, count: self.count, echoes: self.echoes, heard }
        };
        let wake = |me| (Time::ZERO, ActorId(me), Message::Wake(Timer::Other(0)));
        World {
            actors: (0..actors).map(|me| AnyActor::Other(Box::new(talker(me)))).collect(),
            initial: (0..actors).map(wake).collect(),
            network: self.network(),
            ..World::default()
        }
    }

    fn hear(&self, driver: Driver) -> Heard {
        let mut heard = Heard::default();
        run(self.world(), driver, &mut heard, &AtomicBool::new(false)).expect("to the end");
        heard
    }

    fn heard(&self) -> Heard {
        self.hear(Driver::Sequential)
    }
}

/// Whether so many of `all` is about a share of them: within five standard deviations.
fn is_about(share: f64, count: usize, all: usize) -> bool {
    let all = all as f64;
    (count as f64 - share * all).abs() <= 5.0 * (all * share * (1.0 - share)).sqrt()
}

#[test]
fn so_many_are_lost_or_doubled_as_was_asked_for() {
    let talk = Talk { loss: 0.1, duplication: 0.04, ..talk(20_000) };
    let heard = talk.heard();
    let (lost, doubled) = (heard.of(MessageFault::Lost), heard.of(MessageFault::Doubled));
    let sent = heard.arrivals.len() + lost.len();
    assert!(is_about(0.1, lost.len(), sent), "{} of {sent}", lost.len());
    assert!(is_about(0.04 * 0.9, doubled.len(), sent), "{} of {sent}", doubled.len());
    let counted = (lost.len() as u64, doubled.len() as u64);
    assert_eq!((heard.stats.lost, heard.stats.doubled), counted);
    let arrived: usize = heard.arrivals.values().map(Vec::len).sum();
    // Each talker is woken once more than it talks.
    assert_eq!(heard.stats.messages, arrived as u64 + 2 * 20_001);
}

#[test]
fn a_fault_changes_nothing_about_what_it_does_not_hit() {
    for reordering in [false, true] {
        let plain = Talk { reordering, echoes: false, sites: vec![0, 1, 2], ..talk(2_000) };
        let before = plain.heard().arrivals;
        for (loss, duplication, parts) in
            [(0.2, 0.0, false), (0.0, 0.2, false), (0.0, 0.0, true), (0.3, 0.3, true)]
        {
            let partition = (vec![vec![0], vec![1]], 500, 700);
            let partitions = parts.then_some(partition).into_iter().collect();
            let after = Talk { loss, duplication, partitions, ..plain.clone() }.heard().arrivals;
            for (name, times) in &after {
                assert!(times.contains(&before[name][0]), "{name:?}: {times:?}");
            }
            assert_eq!(after.len() < before.len(), loss > 0.0 || parts);
        }
    }
}

#[test]
fn who_loses_more_loses_the_same_and_more() {
    let lost = |loss, duplication| {
        let talk = Talk { loss, duplication, echoes: false, ..talk(2_000) };
        talk.heard().of(MessageFault::Lost)
    };
    let (few, many) = (lost(0.05, 0.0), lost(0.2, 0.0));
    assert!(!few.is_empty() && few.len() < many.len());
    assert!(few.is_subset(&many));
    assert_eq!(few, lost(0.05, 0.5), "what is doubled draws from another stream");
}

#[test]
fn messages_stay_in_order_unless_they_may_overtake() {
    for duplication in [0.0, 0.3] {
        let talk = Talk { duplication, ..talk(2_000) };
        let in_order = |heard: &Heard| heard.order.values().all(|it| it.is_sorted());
        assert!(in_order(&talk.heard()));
        let overtaken = Talk { reordering: true, ..talk.clone() }.heard();
        assert!(!in_order(&overtaken));
        for (&(_, _, kind, number), times) in &overtaken.arrivals {
            let sent = Time::from_secs(number.into());
            let (earliest, latest) = (sent + Span::from_secs(2), sent + Span::from_secs(7));
            assert!(kind != "withdraw" || times.iter().all(|it| (earliest..=latest).contains(it)));
        }
        // Without jitter all take the same time, and nothing can overtake.
        assert!(in_order(&Talk { reordering: true, jitter: 0, ..talk }.heard()));
    }
}

#[test]
fn what_is_under_way_between_parted_sites_is_lost() {
    let partitions = vec![(vec![vec![0], vec![1, 2]], 10, 20)];
    let sites = vec![0, 1, 2, 3];
    let heard = Talk { partitions, sites, jitter: 0, ..talk(30) }.heard();
    let said: BTreeSet<Name> =
        heard.of(MessageFault::Parted).into_iter().filter(|it| it.2 == "withdraw").collect();
    // Sent from 8 s on, they would arrive from 10 s on.
    let pairs = [(0, 1), (0, 2), (1, 0), (2, 0)];
    let expected = pairs.iter().flat_map(|&(a, b)| (8..20).map(move |n| (a, b, "withdraw", n)));
    assert_eq!(said, expected.collect());
    assert_eq!(heard.stats.lost as usize, heard.of(MessageFault::Parted).len());
}

#[test]
fn what_needs_no_network_is_never_lost() {
    let talk = Talk { loss: 1.0, partitions: vec![(vec![vec![0], vec![1]], 0, 1_000)], ..talk(10) };
    let together = Talk { sites: vec![0, 0, 1], ..talk.clone() }.heard();
    let both: Vec<Name> = together.arrivals.into_keys().collect();
    assert!(both.iter().all(|&(from, to, ..)| from < 2 && to < 2), "{both:?}");
    assert_eq!(both.len(), 2 * 10 * 2, "each says ten numbers and echoes ten");
    assert_eq!(together.wakes, 3 * 11);
    // Jobs come from nowhere, and nature is everywhere.
    let mut world = talk.world();
    let failed =
        Message::Resource(ResourceMessage::Failed { processors: ProcessorSet::range(0, 1) });
    world.initial.push((Time::ZERO, ActorId(1), failed));
    let job = Job::new(0, Time::from_secs(1), 1, Span::from_secs(1));
    world.arrivals.push((ActorId(0), Box::new(std::iter::once(Ok(job)))));
    let mut heard = Heard::default();
    run(world, Driver::Sequential, &mut heard, &AtomicBool::new(false)).expect("to the end");
    assert_eq!(heard.others, ["failed", "job_due"]);
    assert!(heard.arrivals.is_empty());
}

fn talks() -> impl Strategy<Value = Talk> {
    let sites = prop::collection::vec(0_u32..4, 2..5);
    let partition = (0_u32..4, 0_i64..20, 1_i64..20).prop_map(|(alone, from, lasts)| {
        (vec![vec![alone], (0..4).filter(|&it| it != alone).collect()], from, from + lasts)
    });
    let partitions = prop::collection::vec(partition, 0..3);
    let share = prop::sample::select(vec![0.0, 0.1, 0.5, 1.0]);
    (sites, 0_i64..4, 0_i64..6, any::<bool>(), share.clone(), share, partitions, any::<u64>())
        .prop_map(|(sites, latency, jitter, reordering, loss, duplication, partitions, seed)| {
            Talk {
                sites,
                count: 25,
                echoes: true,
                latency,
                jitter,
                reordering,
                loss,
                duplication,
                partitions,
                seed,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Every message comes once, unless it is said what went wrong; and so on either driver.
    #[test]
    fn nothing_is_lost_or_doubled_in_silence(talk in talks()) {
        let heard = talk.heard();
        prop_assert_eq!(&heard, &talk.hear(Driver::Actix));
        let mut said = heard.faults.clone();
        for (name, times) in &heard.arrivals {
            let expected = match said.remove(name) {
                None => 1,
                Some((_, MessageFault::Doubled)) => 2,
                Some((_, MessageFault::Lost | MessageFault::Parted)) => 0,
            };
            prop_assert_eq!(times.len(), expected, "{:?}: {:?}", name, times);
        }
        prop_assert!(said.values().all(|it| it.1 != MessageFault::Doubled));
        let site = |actor: u32| talk.sites[actor as usize];
        for (&(from, to, ..), &(sent, fault)) in &heard.faults {
            prop_assert!(site(from) != site(to));
            let parted = talk.partitions.iter().any(|(groups, from_time, until)| {
                let apart = groups[0].contains(&site(from)) != groups[0].contains(&site(to));
                let latest = sent + Span::from_secs(talk.latency + talk.jitter);
                apart && sent < Time::from_secs(*until) && Time::from_secs(*from_time) <= latest
            });
            prop_assert!(fault != MessageFault::Parted || parted);
        }
        prop_assert!(talk.reordering || heard.order.values().all(|it| it.is_sorted()));
    }
}
