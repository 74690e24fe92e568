//! A custom actor in a world: a cloud that has room for every job, beside a provider with a queue. A metascheduler
//! sends jobs to both in turn.
//!
//! `cargo run -p haggle-runtime --example actor`

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use haggle_agents::protocol::SubmissionMessage;
use haggle_agents::{
    Actor, AnyActor, Message, Metascheduler, MetaschedulerConfig, OtherActor, Outbox, Provider,
    ProviderConfig, RunMessage, Submission, Timer, User, UserConfig,
};
use haggle_model::random::stream;
use haggle_model::{
    ActorId, Job, JobClass, JobOutcome, JobRecord, Observation, ProviderId, Span, Time,
};
use haggle_runtime::{Driver, OutsideError, Sink, World, run};
use haggle_scheduling::placement::Placement;
use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig};
use serde::{Deserialize, Serialize};

const NAMES: [&str; 2] = ["north", "cloud"];

/// Starts every job at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cloud {
    id: ProviderId,
    /// Submitter, start and job, by number.
    running: BTreeMap<u64, (ActorId, Time, Submission)>,
}

impl Cloud {
    fn start(&mut self, now: Time, from: ActorId, submission: Submission, out: &mut Outbox) {
        let job = submission.job.id;
        let number = u64::from(job.0);
        let end = now + submission.job.run_time.reveal_to_machine();
        out.send(from, SubmissionMessage::Accepted { job });
        out.send(from, SubmissionMessage::Started { job });
        out.wake(end, Timer::Other(number));
        self.running.insert(number, (from, now, submission));
    }

    fn end(&mut self, now: Time, number: u64, out: &mut Outbox) {
        let Some((from, start, submission)) = self.running.remove(&number) else { return };
        let (Submission { job, class, .. }, outcome) = (submission, JobOutcome::Completed);
        out.send(from, SubmissionMessage::Finished { job: job.id, outcome });
        let never_queued = JobRecord::never_queued(job, class, outcome, now);
        let (provider, start) = (Some(self.id), Some(start));
        out.observe(Observation::JobOver(Box::new(JobRecord { provider, start, ..never_queued })));
    }
}

#[typetag::serde]
impl OtherActor for Cloud {}

impl Actor for Cloud {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Submission(SubmissionMessage::Submit(submission)) => {
                self.start(now, from, submission, out);
            }
            Message::Wake(Timer::Other(number)) => self.end(now, number, out),
            // Users still have all of its jobs and report them, so it reports nothing at the end.
            Message::Run(RunMessage::RunOver) => {}
            _ => out.refuse(from),
        }
    }
}

fn world() -> World {
    let (order, compression) = (Order::Arrival, Compression::ByStart);
    let scheduler =
        SchedulerConfig { policy: Policy::Fcfs, order, compression, depth: None, window: None };
    let config = ProviderConfig::new(ProviderId(0), 1, scheduler.into());
    let provider = Provider::new(config, stream(1, NAMES[0], "offers"));
    let cloud = Cloud { id: ProviderId(1), running: BTreeMap::new() };
    let providers = vec![ActorId(0), ActorId(1)];
    let (broker, users) = (ActorId(2), ActorId(3));
    let config = MetaschedulerConfig::new(broker, Placement::RoundRobin, providers);
    let metascheduler = Metascheduler::new(config, stream(1, "broker", "placement"));
    let user = UserConfig::new(users, broker, JobClass::External);
    let jobs = (0..6).map(|id| Job::new(id, Time::ZERO, 1, Span::from_secs(60)));
    World {
        actors: vec![
            AnyActor::Provider(Box::new(provider)),
            AnyActor::Other(Box::new(cloud)),
            AnyActor::Metascheduler(Box::new(metascheduler)),
            AnyActor::User(Box::new(User::new(user))),
        ],
        arrivals: vec![(users, Box::new(jobs.map(Ok)))],
        ..World::default()
    }
}

/// Prints where every job ran.
struct Print<W>(W);

impl<W: Write> Sink for Print<W> {
    fn observed(
        &mut self,
        _now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let Observation::JobOver(record) = observation else { return Ok(()) };
        let (number, end, place) = (record.job.number, record.end, NAMES[actor.index()]);
        let waited = record.waiting_time().unwrap_or(Span::ZERO);
        Ok(writeln!(self.0, "job {number} waited {waited} and ended at {end} on {place}")?)
    }
}

/// Runs the world and writes its events to `out`.
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
