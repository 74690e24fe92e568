//! An actor may receive any message from any sender at any time. It refuses an unexpected message and goes on.
//!
//! The messages are those of real runs, shuffled, doubled and from wrong senders. Timers go off when they are due.

use haggle_agents::protocol::{ReallocationMessage, ReservationMessage, SubmissionMessage};
use haggle_agents::{
    Actor, AnyActor, Effect, Message, Outbox, RunMessage, Timer, Transaction, TransactorConfig,
};
use haggle_agreements::back_off::BackOff;
use haggle_model::job::Logged;
use haggle_model::observation::Observation;
use haggle_model::random::{Stream, stream};
use haggle_model::{
    ActorId, Disclosure, Initial, Job, JobId, JobShape, ProcessorSet, Span, Speedup, Time,
};
use haggle_runtime::{Driver, OutsideError, Sink, World, run};
use haggle_scheduling::coallocation::{AsksFor, CoallocationPolicy};
use haggle_scheduling::composition::CompositionPolicy;
use haggle_scheduling::placement::Placement;
use haggle_scheduling::reallocation::{Algorithm, ReallocationHeuristic, Rule, Tuning};
use haggle_scheduling::{
    EdfConfig, Fractions, Policy, ReschedulingConfig, ReschedulingRule, Scheduling, Shares,
};
use rand::RngExt;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::flows::contending;
use crate::grid_invariants::grid;
use crate::mapping::world as mapped;
use crate::planning::plans_of;
use crate::reserving::reserving;
use crate::setup::{Setup, job};
use crate::transactions::protocols;

/// All messages between actors of a run, and all arrivals of jobs.
#[derive(Default)]
pub(crate) struct Pool(pub(crate) Vec<(ActorId, Message)>);

impl Sink for Pool {
    fn delivered(
        &mut self,
        _: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let is_said = from != to || matches!(message, Message::Run(RunMessage::JobDue(_)));
        self.0.extend(is_said.then(|| (from, message.clone())));
        Ok(())
    }
}

fn bag(number: i64, submit: i64, requested: i64, tasks: u32) -> Job {
    Job { shape: JobShape::Bag, ..job(number, submit, requested, requested - 2, tasks) }
}

fn bargaining(policy: CompositionPolicy, retry: Option<Span>) -> World {
    let rescheduling = ReschedulingConfig::from(ReschedulingRule::Coordinated);
    let bags =
        Scheduling::Bags { rescheduling, fractions: Fractions::default(), shares: Shares::Tasks };
    let edf = Scheduling::Edf(EdfConfig::default());
    let mut setup = Setup::default();
    for scheduler in [bags, edf] {
        setup = setup.provider(4, Policy::Fcfs).change(|it| {
            (it.scheduler, it.disclosure) = (scheduler, Disclosure::Queue);
            it.bargaining.validity = Span::from_secs(4);
        });
    }
    setup.latency = Span::from_secs(1);
    setup.failing = vec![(0, ProcessorSet::range(0, 2), vec![(20, 30), (50, 60)])];
    setup
        .negotiator(policy)
        .change_negotiator(|it| (it.coordinated, it.retry) = (true, retry))
        .user_with_patience(
            2,
            Some(Span::from_secs(9)),
            (0..12).map(|it| bag(it, 4 * it, 9, 5)).collect(),
        )
        .user(0, (0..6).map(|it| job(20 + it, 7 * it, 12, 8, 2)).collect())
        .world()
}

fn coallocating(moves: CoallocationPolicy) -> World {
    let mut setup = Setup::default().coallocating(4).coallocating(3).coallocating(2);
    setup.latency = Span::from_secs(1);
    setup
        .coallocator(moves, 20)
        .user_with_patience(
            3,
            Some(Span::from_secs(15)),
            (0..12).map(|it| job(it, 4 * it, 12, 5 + it % 8, 2 + it as u32 % 7)).collect(),
        )
        .user(0, (0..8).map(|it| job(20 + it, 5 * it, 12, 3, 2)).collect())
        .user(1, (0..8).map(|it| job(30 + it, 6 * it, 15, 4, 3)).collect())
        .world()
}

fn transacting(protocol: usize) -> World {
    let mut setup = Setup::default().coallocating(4).coallocating(3).coallocating(2);
    setup.latency = Span::from_micros(200_000);
    let placeholder = protocols(&Setup::default(), None)[0].clone();
    let setup = setup.transactor(placeholder.clone()).transactor(placeholder).acceptors(4);
    let retry = Some(Span::from_secs(3));
    let mut transaction = protocols(&setup, retry)[protocol].clone();
    if let Transaction::Ordered(rules) = &mut transaction {
        rules.patience = Some(Span::from_secs(60));
    }
    let change = |it: &mut TransactorConfig| {
        (it.transaction, it.trials) = (transaction.clone(), 3);
        it.back_off = BackOff::Fixed(Span::from_secs(5));
    };
    let patience = Some(Span::from_secs(15));
    setup
        .change_transactor_at(0, change)
        .change_transactor_at(1, change)
        .user_with_patience(3, patience, (0..8).map(|it| job(it, 6 * it, 12, 9, 5)).collect())
        .user(4, (0..8).map(|it| job(40 + it, 7 * it, 12, 5, 2 + it as u32 % 7)).collect())
        .user(0, (0..8).map(|it| job(20 + it, 5 * it, 12, 3, 2)).collect())
        .world()
}

fn placing(placement: Placement, policy: Policy) -> World {
    let mut setup = Setup::default().provider(4, policy).provider(3, policy);
    for provider in &mut setup.providers {
        provider.disclosure = Disclosure::Load;
    }
    setup.latency = Span::from_secs(1);
    setup.failing = vec![(1, ProcessorSet::range(0, 2), vec![(20, 30)])];
    setup
        .metascheduler(placement)
        .user_with_patience(
            2,
            Some(Span::from_secs(15)),
            (0..12).map(|it| job(it, 3 * it, 12, 8, 1 + it as u32 % 5)).collect(),
        )
        .user(0, (0..6).map(|it| job(20 + it, 5 * it, 12, 8, 2)).collect())
        .world()
}

fn reallocating(algorithm: Algorithm, heuristic: ReallocationHeuristic, policy: Policy) -> World {
    let mut setup = Setup::default().provider(4, policy).provider(3, Policy::Conservative);
    setup.latency = Span::from_secs(1);
    setup.failing = vec![(1, ProcessorSet::range(0, 2), vec![(20, 30)])];
    let threshold = Span::from_secs(1);
    let rule = Rule { algorithm, heuristic, threshold, window: 3, resizes: true };
    let speedup = Speedup::new(0.8, 3).expect("a speedup");
    let moldable = |it: i64| Job {
        shape: JobShape::Moldable(speedup),
        ..job(it, it, 40, 2 + 18 * (it % 3), 1 + it as u32 % 5)
    };
    setup
        .reallocator(Tuning::Binary, Some((Span::from_secs(10), rule)))
        .user_with_patience(2, Some(Span::from_secs(90)), (0..30).map(moldable).collect())
        .user(0, (0..6).map(|it| job(30 + it, 5 * it, 12, 8, 2)).collect())
        .world()
}

/// A provider on which jobs run and wait at time zero, and fail later.
fn starting(policy: Policy) -> World {
    let mut setup = Setup::default().provider(6, policy);
    setup.failing = vec![(0, ProcessorSet::range(0, 2), vec![(20, 30)])];
    let running = |number, submit: i64, start: i64, run: i64, processors| Job {
        initial: Some(Initial::Running(Time::from_secs(start))),
        ..job(number, submit, run, run, processors)
    };
    let waiting = |number, submit: i64, processors| Job {
        initial: Some(Initial::Waiting),
        ..job(number, submit, 12, 8, processors)
    };
    let state = vec![
        running(0, -40, -30, 45, 2),
        running(1, -35, -35, 60, 1),
        waiting(2, -20, 4),
        waiting(3, -10, 2),
        waiting(4, 0, 1),
    ];
    setup.user(0, state).user(0, (0..6).map(|it| job(5 + it, 5 * it, 12, 8, 2)).collect()).world()
}

/// Providers that start jobs as recorded, one of them fails. Some jobs have no recorded start.
fn as_recorded() -> World {
    let mut setup = Setup::default().provider(4, Policy::Fcfs).provider(3, Policy::Fcfs);
    for provider in &mut setup.providers {
        (provider.scheduler, provider.disclosure) = (Scheduling::Recorded, Disclosure::Load);
    }
    setup.latency = Span::from_secs(1);
    setup.failing = vec![(1, ProcessorSet::range(0, 2), vec![(20, 30)])];
    let logged = |it: i64| {
        let mut job = job(it, 3 * it, 12, 8, 1 + it as u32 % 3);
        let wait = Span::from_secs(if it % 4 == 3 { -1 } else { 5 * (it % 7) });
        job.origin.logged = Some(Box::new(Logged { wait, ..Logged::UNKNOWN }));
        job
    };
    let patience = Some(Span::from_secs(25));
    setup
        .metascheduler(Placement::MinimumCompletionTime)
        .user_with_patience(2, patience, (0..12).map(logged).collect())
        .user(0, (20..26).map(logged).collect())
        .world()
}

/// Makes a world anew.
pub(crate) type Make = Box<dyn Fn() -> World>;

pub(crate) fn worlds() -> Vec<(String, Make)> {
    let mut worlds = live_worlds();
    worlds.push(("as recorded".to_owned(), Box::new(as_recorded)));
    worlds
}

/// Worlds that can be live: messages between their parts have all that the receivers need.
pub(crate) fn live_worlds() -> Vec<(String, Make)> {
    let mut worlds: Vec<(String, Make)> = Vec::new();
    for policy in CompositionPolicy::ALL {
        for retry in [None, Some(Span::from_secs(3))] {
            let name = format!("{policy:?}, {retry:?}");
            worlds.push((name, Box::new(move || bargaining(policy, retry))));
        }
    }
    for policy in Policy::ALL {
        worlds.push((format!("start state {policy:?}"), Box::new(move || starting(policy))));
    }
    for placement in Placement::ALL {
        for policy in Policy::ALL {
            let name = format!("{placement:?} {policy:?}");
            worlds.push((name, Box::new(move || placing(placement, policy))));
        }
    }
    for seed in 0..5 {
        let name = format!("reserving {seed}");
        worlds.push((name, Box::new(move || reserving(40, seed).world())));
    }
    for moves in CoallocationPolicy::ALL {
        worlds.push((format!("{moves:?}"), Box::new(move || coallocating(moves))));
    }
    for asks in AsksFor::ALL {
        worlds.push((format!("{asks:?}"), Box::new(move || mapped(asks).world())));
    }
    // The last one is Paxos commit, which needs acceptors.
    for protocol in 0..=protocols(&Setup::default(), None).len() {
        let name = format!("protocol {protocol}");
        worlds.push((name, Box::new(move || transacting(protocol))));
    }
    worlds.push(("flows".to_owned(), Box::new(contending)));
    for algorithm in Algorithm::ALL {
        for heuristic in [ReallocationHeuristic::Mct, ReallocationHeuristic::MaxGain] {
            for policy in [Policy::Fcfs, Policy::Easy] {
                let name = format!("{algorithm:?} {heuristic:?} {policy:?}");
                let world = move || reallocating(algorithm, heuristic, policy);
                worlds.push((name, Box::new(world)));
            }
        }
    }
    for seed in 0..20 {
        worlds.push((format!("grid {seed}"), Box::new(move || grid(seed).world())));
    }
    for seed in 0..8 {
        worlds.push((format!("plans {seed}"), Box::new(move || plans_of(seed).world())));
    }
    worlds
}

/// Results of random messages to an actor.
#[derive(Default)]
struct Told {
    /// Times it refused a message.
    refused: u64,
    /// Number of times that it accepted each job.
    accepted: BTreeMap<JobId, u32>,
    /// Number of times that it reported each job as over.
    over: BTreeMap<JobId, u32>,
    /// Jobs that it accepted ahead of their data, whose arrival has not been reported to it; with their submitters.
    expected: BTreeMap<JobId, ActorId>,
}

/// Sends random messages to one actor, and at last the end of the run.
fn tell(actor: &mut AnyActor, me: ActorId, pool: &[(ActorId, Message)], dice: &mut Stream) -> Told {
    let mut wakes: BTreeMap<(Time, u64), Timer> = BTreeMap::new();
    let mut told = Told::default();
    let mut now = Time::ZERO;
    let mut sequence = 0;
    let mut deliver = |actor: &mut AnyActor, now, from, message, wakes: &mut BTreeMap<_, Timer>| {
        let mut out = Outbox::default();
        let ahead = match &message {
            Message::Submission(SubmissionMessage::SubmitAhead(it)) => Some(it.job.id),
            &Message::Submission(SubmissionMessage::DataArrived { job }) => {
                told.expected.retain(|&it, &mut submitter| it != job || submitter != from);
                None
            }
            _ => None,
        };
        actor.on_message(now, from, message, &mut out);
        for effect in out.effects {
            match effect {
                Effect::Wake { at, timer } => {
                    sequence += 1;
                    wakes.insert((at, sequence), timer);
                }
                Effect::Set { at, timer } => {
                    sequence += 1;
                    wakes.retain(|_, it| *it != timer);
                    wakes.insert((at, sequence), timer);
                }
                Effect::Stop { timer } => wakes.retain(|_, it| *it != timer),
                Effect::Send {
                    message:
                        Message::Submission(SubmissionMessage::Accepted { job })
                        | Message::Reservation(ReservationMessage::Granted { job, .. }),
                    ..
                } => {
                    *told.accepted.entry(job).or_default() += 1;
                    told.expected.extend((ahead == Some(job)).then_some((job, from)));
                }
                // A job that is given back is over for this provider.
                Effect::Send {
                    message: Message::Reallocation(ReallocationMessage::Back { jobs }),
                    ..
                } => jobs.into_iter().for_each(|job| *told.over.entry(job).or_default() += 1),
                Effect::Send { .. } => {}
            }
        }
        for observation in out.observations {
            match observation {
                Observation::MessageRefused { .. } => told.refused += 1,
                Observation::JobOver(record) => {
                    *told.over.entry(record.job.id).or_default() += 1;
                    told.expected.remove(&record.job.id);
                }
                Observation::GridJobOver(record) => {
                    *told.over.entry(record.job.id).or_default() += 1;
                }
                _ => {}
            }
        }
    };
    for _ in 0..400 {
        now += Span::from_micros(dice.random_range(0..3_000_000));
        while let Some(entry) = wakes.first_entry().filter(|it| it.key().0 <= now) {
            let at = entry.key().0;
            let timer = entry.remove();
            deliver(actor, at, me, timer.into(), &mut wakes);
        }
        let (mut from, message) = pool[dice.random_range(0..pool.len())].clone();
        if dice.random_range(0..4) == 0 {
            from = ActorId(dice.random_range(0..6));
        }
        deliver(actor, now, from, message, &mut wakes);
    }
    deliver(actor, now, me, Message::Run(RunMessage::RunOver), &mut wakes);
    // The users of these jobs report them as unfinished.
    for job in told.expected.keys() {
        *told.over.entry(*job).or_default() += 1;
    }
    told
}

#[test]
fn any_actor_can_be_told_anything() {
    let mut pool = Pool::default();
    let worlds = worlds();
    for (name, world) in &worlds {
        let end = run(world(), Driver::Sequential, &mut pool, &AtomicBool::new(false));
        end.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // Each kind is as frequent as any other.
    let mut by_kind: BTreeMap<&str, Vec<&(ActorId, Message)>> = BTreeMap::new();
    for said in &pool.0 {
        by_kind.entry(said.1.kind()).or_default().push(said);
    }
    let mut dice = stream(1, "any", "message");
    let even: Vec<(ActorId, Message)> = (0..6_000)
        .map(|at| {
            let of_kind = by_kind.values().nth(at % by_kind.len()).expect("a kind");
            of_kind[dice.random_range(0..of_kind.len())].clone()
        })
        .collect();
    let mut refused = 0;
    let rounds = std::env::var("HAGGLE_CASES").ok().and_then(|cases| cases.parse().ok());
    for round in 0..rounds.unwrap_or(12) {
        for (name, world) in &worlds {
            for (index, mut actor) in world().actors.into_iter().enumerate() {
                let mut dice = stream(round, name, &index.to_string());
                let told = tell(&mut actor, ActorId(index as u32), &even, &mut dice);
                assert!(told.refused > 0, "{name}, actor {index}: it expects everything");
                if matches!(actor, AnyActor::Provider(_)) {
                    assert_eq!(told.accepted, told.over, "{name}, actor {index}");
                }
                refused += told.refused;
            }
        }
    }
    assert!(refused > 10_000, "{refused}");
    let kinds: Vec<&&str> = by_kind.keys().collect();
    assert!(kinds.len() >= 73, "{}: {kinds:?}", kinds.len());
}
