//! Effects of a network on messages, seen by actors that only exchange messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use haggle_agents::protocol::{ResourceMessage, SubmissionMessage};
use haggle_agents::{Actor, AnyActor, Message, OtherActor, Outbox, Timer};
use haggle_model::random::stream;
use haggle_model::{ActorId, Job, JobId, MessageFault, ProcessorSet, Span, Time};
use haggle_runtime::network::{Crashes, Partition};
use haggle_runtime::{Driver, Network, OutsideError, RunStats, Sink, World, run};
use haggle_workloads::failures::Outage;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// Sends its numbers to all other actors, one every second. With `echoes`, it answers each message that it receives
/// for the first time.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Talker {
    me: u32,
    actors: u32,
    count: u64,
    echoes: bool,
    heard: BTreeSet<(ActorId, JobId)>,
}

#[typetag::serde]
impl OtherActor for Talker {}

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

/// Sender, receiver, kind and number, which identify a message.
type Name = (u32, u32, &'static str, u32);

/// Arrivals and faults of messages between actors.
#[derive(Clone, Debug, Default, PartialEq)]
struct Heard {
    /// Times at which each message arrived, in order.
    arrivals: BTreeMap<Name, Vec<Time>>,
    /// Numbers that arrived, by sender, receiver and kind, in order.
    order: BTreeMap<(u32, u32, &'static str), Vec<u32>>,
    /// Messages with faults: time at which each was sent, the faults, and how often each was sent again.
    faults: BTreeMap<Name, (Time, BTreeMap<MessageFault, u64>)>,
    wakes: u64,
    others: Vec<&'static str>,
    stats: RunStats,
}

impl Heard {
    fn of(&self, fault: MessageFault) -> BTreeSet<Name> {
        let of = self.faults.iter().filter(|(_, it)| it.1.contains_key(&fault));
        of.map(|(&name, _)| name).collect()
    }

    /// Number of times that a message was sent again.
    fn resent(&self, name: &Name) -> u64 {
        self.faults.get(name).map_or(0, |it| it.1.values().sum())
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
        resent: u64,
    ) -> Result<(), OutsideError> {
        let name = name(from, to, message).expect("only what is said can be lost");
        let faults = self.faults.entry(name).or_insert((now, BTreeMap::new()));
        assert_eq!((faults.0, faults.1.insert(fault, resent)), (now, None));
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
    /// Time-out of a transport that sends lost messages again.
    reliable: Option<i64>,
    /// Actors that are down: actor, begin and end.
    crashes: Vec<(u32, i64, i64)>,
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
        reliable: None,
        crashes: Vec::new(),
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
        if let Some(timeout) = self.reliable {
            network.reliable(Span::from_secs(timeout), streams("retransmission"));
        }
        if !self.crashes.is_empty() {
            let outage = |&(actor, from, until): &(u32, i64, i64)| {
                let (fail, restore) = (Time::from_secs(from), Time::from_secs(until));
                (ActorId(actor), Outage { fail, restore })
            };
            let due = Vec::from_iter(self.crashes.iter().map(outage));
            network.crashes(Crashes::new(2, Box::new(due.into_iter())));
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
            // Without jobs, crashes need a horizon.
            horizon: (!self.crashes.is_empty()).then_some(Time::from_secs(100_000)),
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

/// Returns whether `count` of `all` matches a share, within five standard deviations.
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
    // Each talker wakes once more than it sends.
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
    // New jobs and failures need no network.
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
                reliable: None,
                crashes: Vec::new(),
                seed,
            }
        })
}

#[test]
fn without_faults_any_transport_is_the_same() {
    for reordering in [false, true] {
        let plain = Talk { reordering, ..talk(200) };
        let reliable = Talk { reliable: Some(1), ..plain.clone() };
        assert_eq!(plain.heard(), reliable.heard());
    }
}

#[test]
fn what_is_sent_again_changes_nothing_about_what_is_not() {
    let reliable = Talk {
        reordering: true,
        echoes: false,
        sites: vec![0, 1, 2],
        reliable: Some(3),
        ..talk(2_000)
    };
    let before = reliable.heard().arrivals;
    let partitions = vec![(vec![vec![0], vec![1]], 500, 700)];
    for (loss, partitions) in [(0.2, Vec::new()), (0.0, partitions.clone()), (0.3, partitions)] {
        let heard = Talk { loss, partitions, ..reliable.clone() }.heard();
        assert_eq!((heard.arrivals.len(), heard.stats.lost), (before.len(), 0));
        let mut resent = 0;
        for (name, times) in &heard.arrivals {
            match heard.resent(name) {
                0 => assert_eq!(times, &before[name]),
                more => {
                    // A repeated attempt draws its own time, but leaves no earlier.
                    let sent = Time::from_secs(name.3.into()) + Span::from_secs(3);
                    assert!(times.len() == 1 && times[0] >= sent + Span::from_secs(2));
                    resent += more;
                }
            }
        }
        assert!(resent > 0);
        assert_eq!(resent, heard.stats.resent);
    }
}

#[test]
fn who_loses_more_sends_the_same_again_and_more() {
    let heard = |loss| Talk { loss, reliable: Some(1), echoes: false, ..talk(2_000) }.heard();
    let (few, many) = (heard(0.05), heard(0.4));
    let more = many.arrivals.keys().filter(|it| few.resent(it) < many.resent(it)).count();
    assert!(more > 500 && few.arrivals.keys().all(|it| few.resent(it) <= many.resent(it)));
    // A repeated message may be lost again.
    let again = many.arrivals.keys().filter(|it| many.resent(it) >= 2).count();
    assert!(is_about(0.16, again, 4_000), "{again}");
}

#[test]
fn what_is_parted_arrives_after_the_time_out_at_which_links_are_back() {
    let partitions = vec![(vec![vec![0], vec![1]], 0, 100)];
    let parted = Talk { partitions, reliable: Some(1), jitter: 0, echoes: false, ..talk(1) };
    let heard = parted.heard();
    // Attempts at 0, 1, 3, 7, 15, 31, 63 and 123 s, and two seconds on the way.
    assert!(heard.arrivals.values().all(|it| it == &[Time::from_secs(125)]));
    assert!(heard.arrivals.keys().all(|it| heard.resent(it) == 7));
    let for_ever = Talk { loss: 1.0, ..parted }.heard();
    assert_eq!((for_ever.arrivals.len(), for_ever.stats.lost), (0, 2));
}

#[test]
fn who_is_down_hears_and_says_what_there_is_when_it_is_back() {
    let crashes = vec![(1, 2, 50), (0, 20, 40), (0, 60, 61)];
    for sites in [vec![0, 1], vec![0, 0]] {
        let latency = i64::from(sites[1]);
        let talk = Talk { crashes: crashes.clone(), sites, latency, jitter: 0, ..talk(5) };
        let lost = talk.heard();
        let talk = Talk { reliable: Some(1), ..talk };
        let heard = talk.heard();
        assert_eq!(heard, talk.hear(Driver::Actix));
        let arrival = |name| heard.arrivals[&name][0].as_micros() / 1_000_000;
        // Attempts at 2, 3, 5, 9 and 17 s; 40, 41, 43, 47 and 55 s.
        assert_eq!(arrival((0, 1, "withdraw", 2)), 55 + latency);
        assert_eq!(heard.resent(&(0, 1, "withdraw", 2)), 9);
        // Its own timer of 2 s goes off at 50 s; the wakes after it are on time.
        assert_eq!(arrival((1, 0, "withdraw", 2)), 50 + latency);
        assert_eq!(arrival((1, 0, "withdraw", 4)), 52 + latency);
        assert_eq!((heard.stats.lost, heard.stats.resent > 0), (0, true));
        // Without a reliable transport, a message between sites is lost; at the same site it waits.
        assert_eq!(lost.of(MessageFault::Missed).is_empty(), latency == 0);
        assert_eq!(lost.stats.lost as usize, lost.of(MessageFault::Missed).len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Every message arrives once, unless a fault is recorded. Both drivers agree.
    #[test]
    fn nothing_is_lost_or_doubled_in_silence(talk in talks()) {
        let heard = talk.heard();
        prop_assert_eq!(&heard, &talk.hear(Driver::Actix));
        let mut said = heard.faults.clone();
        for (name, times) in &heard.arrivals {
            let doubled = BTreeMap::from([(MessageFault::Doubled, 0)]);
            let expected = match said.remove(name) {
                None => 1,
                Some((_, faults)) => 2 * usize::from(faults == doubled),
            };
            prop_assert_eq!(times.len(), expected, "{:?}: {:?}", name, times);
        }
        prop_assert!(said.values().all(|it| !it.1.contains_key(&MessageFault::Doubled)));
        let site = |actor: u32| talk.sites[actor as usize];
        for (&(from, to, ..), &(sent, ref faults)) in &heard.faults {
            prop_assert!(faults.len() == 1 && faults.values().all(|&resent| resent == 0));
            prop_assert!(site(from) != site(to));
            let parted = talk.partitions.iter().any(|(groups, from_time, until)| {
                let apart = groups[0].contains(&site(from)) != groups[0].contains(&site(to));
                let latest = sent + Span::from_secs(talk.latency + talk.jitter);
                apart && sent < Time::from_secs(*until) && Time::from_secs(*from_time) <= latest
            });
            prop_assert!(!faults.contains_key(&MessageFault::Parted) || parted);
        }
        prop_assert!(talk.reordering || heard.order.values().all(|it| it.is_sorted()));
    }

    /// Every message is received once, even if attempts are lost or doubled.
    #[test]
    fn a_reliable_transport_brings_every_message_once(
        talk in talks(),
        timeout in 1_i64..8,
        crash in prop::option::of((0_u32..2, 0_i64..30, 1_i64..30)),
    ) {
        let loss = talk.loss.min(0.9);
        let plain = Talk { loss: 0.0, duplication: 0.0, partitions: Vec::new(), ..talk.clone() };
        let crash = crash.map(|(who, from, lasts)| (who, from, from + lasts));
        let crashes = Vec::from_iter(crash);
        let talk = Talk { reliable: Some(timeout), loss, crashes, ..talk };
        let heard = talk.heard();
        prop_assert_eq!(&heard, &talk.hear(Driver::Actix));
        let said = plain.heard();
        prop_assert_eq!(heard.stats.lost, 0);
        prop_assert!(heard.arrivals.keys().eq(said.arrivals.keys()));
        prop_assert!(heard.arrivals.values().all(|times| times.len() == 1));
        for (&(_, to, ..), times) in &heard.arrivals {
            let is_down = |&(who, from, until): &(u32, i64, i64)| {
                who == to && (Time::from_secs(from)..Time::from_secs(until)).contains(&times[0])
            };
            prop_assert!(!talk.crashes.iter().any(is_down), "{:?}", times);
        }
        prop_assert!(talk.reordering || heard.order.values().all(|it| it.is_sorted()));
    }
}
