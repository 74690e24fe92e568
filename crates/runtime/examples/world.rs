//! A world built in code and run to its end: a provider, its users, and the outcomes of their jobs.
//!
//! `cargo run -p haggle-runtime --example world`

use std::error::Error;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use haggle_agents::{AnyActor, Provider, ProviderConfig, User, UserConfig};
use haggle_model::random::stream;
use haggle_model::{ActorId, Job, JobClass, Observation, ProviderId, Span, Time};
use haggle_runtime::{Driver, OutsideError, Sink, World, run};
use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig};

/// Three jobs for four processors: the second waits for the first, the third fits in before it.
fn world() -> World {
    let (order, compression) = (Order::Arrival, Compression::ByStart);
    let scheduler =
        SchedulerConfig { policy: Policy::Easy, order, compression, depth: None, window: None };
    let (north, users) = (ActorId(0), ActorId(1));
    let provider = ProviderConfig::new(ProviderId(0), 4, scheduler.into());
    let user = UserConfig::new(users, north, JobClass::Local);
    let job = |id: u32, processors, seconds| {
        Job::new(id, Time::from_secs(id.into()), processors, Span::from_secs(seconds))
    };
    let jobs = [job(0, 3, 100), job(1, 4, 60), job(2, 1, 50)];
    World {
        actors: vec![
            AnyActor::Provider(Box::new(Provider::new(provider, stream(1, "north", "offers")))),
            AnyActor::User(Box::new(User::new(user))),
        ],
        arrivals: vec![(users, Box::new(jobs.into_iter().map(Ok)))],
        ..World::default()
    }
}

/// Prints the outcome of every job.
struct Print<W>(W);

impl<W: Write> Sink for Print<W> {
    fn observed(
        &mut self,
        _now: Time,
        _actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let Observation::JobOver(record) = observation else { return Ok(()) };
        let (number, submit, end) = (record.job.number, record.job.submit, record.end);
        let (start, outcome) = (record.start.unwrap_or(end), record.outcome.name());
        Ok(writeln!(self.0, "job {number}: submitted {submit}, started {start}, {outcome} {end}")?)
    }
}

/// Runs the world and writes its events to `out`.
///
/// # Errors
/// If the run does not reach its end.
pub(crate) fn tell(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let stats = run(world(), Driver::Sequential, &mut Print(&mut *out), &AtomicBool::new(false))?;
    Ok(writeln!(out, "{} jobs, {} messages, {} s", stats.jobs, stats.messages, stats.end)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    tell(&mut std::io::stdout())
}
