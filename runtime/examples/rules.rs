//! Rules of one's own in a world of our actors: a queue in the order of areas, and a metascheduler that asks for
//! loads and takes the provider with the least, but none that has work for more than a minute.
//!
//! `cargo run -p haggle-runtime --example rules`

use std::error::Error;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use haggle_agents::{
    AnyActor, Metascheduler, MetaschedulerConfig, Provider, ProviderConfig, User, UserConfig,
};
use haggle_model::random::stream;
use haggle_model::{
    ActorId, Disclosure, Job, JobClass, JobOutcome, Observation, ProviderId, Span, Time,
};
use haggle_runtime::{Driver, OutsideError, Sink, World, run};
use haggle_scheduling::placement::{Answer, OwnPlacement, Placement, Question};
use haggle_scheduling::{Compression, Order, Own, Policy, Request, SchedulerConfig};

const NAMES: [&str; 2] = ["north", "south"];

/// Smallest area first: processors × requested time.
fn area(request: &Request, span: Span) -> i64 {
    i64::from(request.processors).saturating_mul(span.as_micros())
}

/// By the load that is left; nobody who is busy for longer than a minute.
fn light(answer: &Answer) -> Option<i64> {
    match answer {
        Answer::Load(load) if *load <= Span::from_secs(60) => Some(load.as_micros()),
        _ => None,
    }
}

/// A provider of four processors and one of two.
fn world() -> World {
    let order = Order::Own(Own { name: "smallest-area", rule: area });
    let scheduler =
        SchedulerConfig { policy: Policy::Fcfs, order, compression: Compression::ByStart };
    let rule = OwnPlacement { question: Question::LoadOfAll, merit: light };
    let placement = Placement::Own(Own { name: "light", rule });
    let (broker, users, local) = (ActorId(2), ActorId(3), ActorId(4));
    let provider = |place: u32, processors| {
        let mut config = ProviderConfig::new(ProviderId(place), processors, scheduler.into());
        config.disclosure = Disclosure::Load;
        let stream = stream(1, NAMES[place as usize], "offers");
        AnyActor::Provider(Box::new(Provider::new(config, stream)))
    };
    let brokers = MetaschedulerConfig::new(broker, placement, vec![ActorId(0), ActorId(1)]);
    let job = |id: u32, at, processors, seconds| {
        Job::new(id, Time::from_secs(at), processors, Span::from_secs(seconds))
    };
    // Four local jobs of areas 400, 300, 80 and 120; and five that the broker places.
    let here = [job(0, 0, 4, 100), job(1, 1, 3, 100), job(2, 2, 2, 40), job(3, 3, 4, 30)];
    let sent = (0..5).map(move |it| job(4 + it, 4 + i64::from(it), 1, 50));
    World {
        actors: vec![
            provider(0, 4),
            provider(1, 2),
            AnyActor::Metascheduler(Box::new(Metascheduler::new(
                brokers,
                stream(1, "broker", "placement"),
            ))),
            AnyActor::User(User::new(UserConfig::new(users, broker, JobClass::External))),
            AnyActor::User(User::new(UserConfig::new(local, ActorId(0), JobClass::Local))),
        ],
        arrivals: vec![
            (users, Box::new(sent.map(Ok))),
            (local, Box::new(here.into_iter().map(Ok))),
        ],
        ..World::default()
    }
}

/// Prints what becomes of every job.
struct Print<W>(W);

impl<W: Write> Sink for Print<W> {
    fn observed(
        &mut self,
        _now: Time,
        _actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let Observation::JobOver(record) = observation else { return Ok(()) };
        let number = record.job.number;
        match (record.provider, record.start) {
            (Some(provider), Some(start)) if record.outcome == JobOutcome::Completed => {
                let name = NAMES[provider.index()];
                Ok(writeln!(self.0, "job {number} ran on {name} from {start} to {}", record.end)?)
            }
            _ => Ok(writeln!(
                self.0,
                "job {number} was {} at {}",
                record.outcome.name(),
                record.end
            )?),
        }
    }
}

/// Writes to `out` what happens.
///
/// # Errors
/// If the run does not reach its end.
pub(crate) fn tell(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    run(world(), Driver::Sequential, &mut Print(&mut *out), &AtomicBool::new(false))?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tell(&mut std::io::stdout())
}
