//! A world step by step: every message at its delivery, and time in intervals of any length.
//!
//! `cargo run -p haggle-runtime --example step`

use std::error::Error;
use std::io::Write;

use haggle_agents::{
    AnyActor, Metascheduler, MetaschedulerConfig, Provider, ProviderConfig, User, UserConfig,
};
use haggle_model::random::stream;
use haggle_model::{ActorId, Job, JobClass, ProviderId, Span, Time};
use haggle_runtime::{Driver, Network, Simulation, Step, World};
use haggle_scheduling::placement::Placement;
use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig};

const NAMES: [&str; 4] = ["north", "south", "broker", "users"];

/// Two providers, a metascheduler that asks both for the estimated end of a job, and its users. Messages between the
/// metascheduler and the providers take a second.
fn world() -> World {
    let (order, compression) = (Order::Arrival, Compression::ByStart);
    let scheduler = SchedulerConfig {
        policy: Policy::Conservative,
        order,
        compression,
        depth: None,
        window: None,
    };
    let provider = |number, processors| {
        let config = ProviderConfig::new(ProviderId(number), processors, scheduler.into());
        let stream = stream(1, NAMES[number as usize], "offers");
        AnyActor::Provider(Box::new(Provider::new(config, stream)))
    };
    let (broker, users) = (ActorId(2), ActorId(3));
    let providers = vec![ActorId(0), ActorId(1)];
    let config = MetaschedulerConfig::new(broker, Placement::MinimumCompletionTime, providers);
    let metascheduler = Metascheduler::new(config, stream(1, NAMES[2], "placement"));
    let user = UserConfig::new(users, broker, JobClass::External);
    let job =
        |id, processors, seconds| Job::new(id, Time::ZERO, processors, Span::from_secs(seconds));
    let jobs = [job(0, 2, 100), job(1, 4, 60)];
    World {
        actors: vec![
            provider(0, 2),
            provider(1, 4),
            AnyActor::Metascheduler(Box::new(metascheduler)),
            AnyActor::User(Box::new(User::new(user))),
        ],
        arrivals: vec![(users, Box::new(jobs.into_iter().map(Ok)))],
        network: Network::new(Span::from_secs(1), vec![0, 1, 2, 2]),
        ..World::default()
    }
}

/// Steps through the world and writes its events to `out`.
///
/// # Errors
/// If the run does not reach its end.
pub(crate) fn tell(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut simulation = Simulation::new(world(), Driver::Sequential)?;
    writeln!(out, "the first five messages:")?;
    for _ in 0..5 {
        let Some(Step { time, from, to, kind, .. }) = simulation.step()? else { break };
        writeln!(out, "{time} {} -> {}: {kind}", NAMES[from.index()], NAMES[to.index()])?;
    }
    writeln!(out, "every half a minute:")?;
    let (mut time, half_a_minute) = (Time::ZERO, Span::from_secs(30));
    while let Some(next) = simulation.peek()? {
        let messages = simulation.stats().messages;
        writeln!(out, "{time}: {messages} messages so far, the next at {next}")?;
        time += half_a_minute;
        simulation.step_until(time)?;
    }
    Ok(writeln!(out, "over at {}", simulation.now())?)
}

fn main() -> Result<(), Box<dyn Error>> {
    tell(&mut std::io::stdout())
}
