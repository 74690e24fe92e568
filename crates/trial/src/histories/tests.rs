//! The search finds the defects of actors that are defective on purpose, by histories that are as small as possible.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use haggle_agents::protocol::SubmissionMessage;
use haggle_agents::{
    Actor, AnyActor, Message, OtherActor, Outbox, Provider, ProviderConfig, Submission, Timer,
    User, UserConfig,
};
use haggle_model::random::stream;
use haggle_model::{
    ActorId, ActorInfo, ActorKind, Cast, Job, JobClass, JobId, ProviderId, ProviderInfo, Span, Time,
};
use haggle_runtime::{Driver, Network, Simulation, World as Start};
use haggle_scenario::{Experiment, Logs, Source};
use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig};
use serde::{Deserialize, Serialize};

use super::{Bounds, Choice, Deviation, Report, World, examples, replay, search};

const PROVIDERS: [ActorId; 2] = [ActorId(0), ActorId(1)];
const BROKER: ActorId = ActorId(2);

/// Submits a job to the second provider if the first one has not reported its start in time. The first provider
/// may run it all the same.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Hasty {
    waiting: BTreeMap<JobId, Submission>,
    users: BTreeMap<JobId, ActorId>,
}

#[typetag::serde]
impl OtherActor for Hasty {}

impl Actor for Hasty {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Submission(SubmissionMessage::Submit(submission)) => {
                let job = submission.job.id;
                self.waiting.insert(job, submission.clone());
                self.users.insert(job, from);
                out.wake(now + Span::from_secs(2), Timer::Other(job.0.into()));
                out.send(PROVIDERS[0], SubmissionMessage::Submit(submission));
            }
            Message::Submission(SubmissionMessage::Started { job }) => {
                self.waiting.remove(&job);
            }
            Message::Submission(SubmissionMessage::Finished { job, outcome }) => {
                if let Some(user) = self.users.remove(&job) {
                    out.send(user, SubmissionMessage::Finished { job, outcome });
                }
            }
            Message::Wake(Timer::Other(job)) => {
                if let Some(submission) = self.waiting.remove(&JobId(job as u32)) {
                    out.send(PROVIDERS[1], SubmissionMessage::Submit(submission));
                }
            }
            _ => {}
        }
    }
}

/// Forgets a job that comes from a user behind the last one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Orderly {
    last: ActorId,
    users: BTreeMap<JobId, ActorId>,
}

#[typetag::serde]
impl OtherActor for Orderly {}

impl Actor for Orderly {
    type Message = Message;

    fn on_message(&mut self, _now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Submission(SubmissionMessage::Submit(submission)) if from > self.last => {
                self.last = from;
                self.users.insert(submission.job.id, from);
                out.send(PROVIDERS[0], SubmissionMessage::Submit(submission));
            }
            Message::Submission(SubmissionMessage::Finished { job, outcome }) => {
                if let Some(user) = self.users.remove(&job) {
                    out.send(user, SubmissionMessage::Finished { job, outcome });
                }
            }
            _ => {}
        }
    }
}

/// Two providers, a broker, and two users that submit a job each at the same instant.
fn world(broker: impl OtherActor + 'static, may_lose: bool) -> World {
    let (policy, order, compression) = (Policy::Fcfs, Order::Arrival, Compression::ByStart);
    let scheduler = SchedulerConfig { policy, order, compression, depth: None, window: None };
    let provider = |id: u32| {
        let config = ProviderConfig::new(ProviderId(id), 4, scheduler.into());
        AnyActor::Provider(Box::new(Provider::new(config, stream(1, "p", "orders"))))
    };
    let user = |id: u32| {
        let config = UserConfig::new(ActorId(id), BROKER, JobClass::External);
        AnyActor::User(Box::new(User::new(config)))
    };
    let broker = AnyActor::Other(Box::new(broker));
    let jobs = |user: u32| {
        let job = Job::new(user, Time::ZERO, 2, Span::from_secs(10));
        (ActorId(user), Box::new(std::iter::once(Ok(job))) as haggle_runtime::Arrivals)
    };
    let start = Start {
        actors: vec![provider(0), provider(1), broker, user(3), user(4)],
        arrivals: vec![jobs(3), jobs(4)],
        network: Network::new(Span::from_micros(50_000), vec![0, 1, 2, 2, 2]),
        ..Start::default()
    };
    let start = Simulation::new(start, Driver::Sequential).expect("good jobs");
    let actor = |name: &str, kind| ActorInfo { name: name.to_owned(), kind };
    let place = |name: &str, first_processor| ProviderInfo {
        name: name.to_owned(),
        processors: 4,
        first_processor,
        speed: 1.0,
        scheduler: "fcfs".to_owned(),
        may_preempt: false,
        may_fail: false,
        nodes: None,
    };
    let cast = Cast {
        actors: vec![
            actor("north", ActorKind::Provider),
            actor("south", ActorKind::Provider),
            actor("broker", ActorKind::Metascheduler),
            actor("ann", ActorKind::User),
            actor("bob", ActorKind::User),
        ],
        providers: vec![place("north", 0), place("south", 4)],
        workloads: vec!["jobs".to_owned()],
        ..Cast::default()
    };
    World::by_hand(cast, start, may_lose, Vec::new())
}

fn searched(world: &World, deviations: u32) -> Report {
    let bounds = Bounds { deviations, ..Bounds::default() };
    search(world, bounds, &AtomicBool::new(false), &mut |_| ()).expect("it can be branched")
}

#[test]
fn a_job_that_runs_twice_after_a_loss_is_found_by_a_single_loss() {
    let world = world(Hasty::default(), true);
    // Without a loss, the defect does not appear in any order of messages.
    let lossless = World { may_lose: false, ..self::world(Hasty::default(), true) };
    let report = searched(&lossless, 2);
    assert!(report.found.is_none() && report.complete, "{report:?}");
    let report = searched(&world, 2);
    let found = report.found.expect("a history");
    let [Choice { deviation: Deviation::Lose, .. }] = found.history[..] else {
        panic!("{:?}", found.history)
    };
    assert!(found.violation.contains("over twice"), "{}", found.violation);
    let lost = found.messages.iter().filter(|line| line.contains("LOST"));
    let lost = Vec::from_iter(lost);
    assert!(matches!(lost[..], [line] if line.contains("north -> broker: started")), "{lost:?}");
    // The same history again has the same messages and the same violation.
    let (messages, violation) = replay(&world, &found.history).expect("it is possible");
    assert_eq!((messages, violation), (found.messages, Some(found.violation)));
}

#[test]
fn a_job_that_is_forgotten_in_another_order_is_found_by_two_delays() {
    let world = world(Orderly::default(), false);
    let report = searched(&world, 1);
    assert!(report.found.is_none() && report.complete, "{report:?}");
    // The first job is submitted before the second one has come, so it must be delayed behind its arrival first.
    let found = searched(&world, 3).found.expect("a history");
    let deviations = Vec::from_iter(found.history.iter().map(|choice| choice.deviation));
    assert_eq!(deviations, [Deviation::Delay; 2], "{found:#?}");
    assert!(found.violation.contains("2 jobs, 1"), "{}", found.violation);
    let (_, violation) = replay(&world, &[]).expect("it ends");
    assert_eq!(violation, None, "the run itself is without a violation");
}

#[test]
fn a_history_that_is_not_possible_is_refused() {
    let world = world(Orderly::default(), false);
    for (at, deviation) in [(0, Deviation::Lose), (0, Deviation::Crash), (999, Deviation::Delay)] {
        let error = replay(&world, &[Choice { at, deviation }]).expect_err("it is not possible");
        assert!(error.to_string().contains("is not possible"), "{error}");
    }
}

#[test]
fn a_bound_cuts_a_search_short() {
    let bounds = Bounds { states: 10, ..Bounds::default() };
    let world = world(Hasty::default(), true);
    let report = search(&world, bounds, &AtomicBool::new(false), &mut |_| ()).expect("it runs");
    assert!(!report.complete && report.found.is_none() && report.states == 10, "{report:?}");
}

fn built_in(name: &str) -> World {
    let example = examples().into_iter().find(|it| it.name == name).expect("a built-in world");
    let source = Source::new("world.toml", example.scenario.as_str());
    let experiment = Experiment::read(source, Logs::MustExist).expect("a scenario");
    let scenario = &experiment.variants[0].scenario;
    World::of(scenario, ".".as_ref(), Span::from_secs(5)).expect("a small world")
}

/// Searches the histories of all built-in worlds within bounds.
fn satisfy(bounds: Bounds) {
    for example in examples() {
        let (world, never) = (built_in(example.name), AtomicBool::new(false));
        let report = search(&world, bounds, &never, &mut |_| ()).expect("it can be branched");
        assert!(report.found.is_none(), "{}: {:#?}", example.name, report.found);
        assert!(report.states > 50, "{}: {report:?}", example.name);
    }
}

#[test]
fn the_first_histories_of_the_built_in_worlds_satisfy_the_invariants() {
    satisfy(Bounds { deviations: 1, states: 900, ..Bounds::default() });
}

/// Minutes of computing.
#[test]
#[ignore = "takes minutes"]
fn the_built_in_worlds_satisfy_the_invariants_at_length() {
    satisfy(Bounds { deviations: 2, states: 40_000, ..Bounds::default() });
}
