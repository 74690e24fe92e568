//! A provider: its core, and the services that its queue supports.

use std::sync::Arc;

use haggle_agents::protocol::coallocation::{Parts, Place, Program, Want};
use haggle_agents::protocol::{
    BargainMessage, CoallocationMessage, QueryMessage, ResourceMessage, SubmissionMessage,
};
use haggle_agents::{Actor, Effect, Message, Outbox, Provider, ProviderConfig, Submission, Timer};
use haggle_agreements::{AgreementId, InDoubt, Instruction, ToParticipant};
use haggle_model::job::HiddenRunTime;
use haggle_model::random::stream;
use haggle_model::{
    ActorId, Disclosure, Job, JobClass, JobId, JobOutcome, Observation, ProcessorSet, ProviderId,
    Span, Time,
};
use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig, Scheduling};

const ME: ActorId = ActorId(0);
const OTHER: ActorId = ActorId(7);

/// A provider of 4 processors, and its timers.
struct Alone {
    provider: Provider,
    timers: Vec<(Time, Timer)>,
    sent: Vec<Message>,
    observed: Vec<Observation>,
}

impl Alone {
    fn new(scheduler: Scheduling) -> Alone {
        let config = ProviderConfig {
            disclosure: Disclosure::Slots,
            ..ProviderConfig::new(ProviderId(0), 4, scheduler)
        };
        let provider = Provider::new(config, stream(1, "alone", "windows"));
        Alone { provider, timers: Vec::new(), sent: Vec::new(), observed: Vec::new() }
    }

    /// Delivers a message, and then each timer that is due by `now`.
    fn tell(&mut self, now: i64, message: impl Into<Message>) -> Vec<Message> {
        self.deliver(Time::from_secs(now), OTHER, message.into());
        self.advance(now)
    }

    /// Delivers the timers that are due by `now`, in order.
    fn advance(&mut self, now: i64) -> Vec<Message> {
        let until = Time::from_secs(now);
        loop {
            let due = self.timers.iter().filter(|it| it.0 <= until).map(|it| it.0).min();
            let Some(at) = due else { break };
            let place = self.timers.iter().position(|it| it.0 == at).expect("it is due");
            let (at, timer) = self.timers.remove(place);
            self.deliver(at, ME, Message::Wake(timer));
        }
        std::mem::take(&mut self.sent)
    }

    fn deliver(&mut self, now: Time, from: ActorId, message: Message) {
        let mut out = Outbox::default();
        self.provider.on_message(now, from, message, &mut out);
        for effect in out.effects {
            match effect {
                Effect::Send { message, .. } => self.sent.push(message),
                Effect::Wake { at, timer } => self.timers.push((at, timer)),
                Effect::Set { at, timer } => {
                    self.timers.retain(|it| it.1 != timer);
                    self.timers.push((at, timer));
                }
                Effect::Stop { timer } => self.timers.retain(|it| it.1 != timer),
            }
        }
        self.observed.extend(out.observations);
    }

    fn refused(&self) -> usize {
        let is_refusal = |it: &&Observation| matches!(it, Observation::MessageRefused { .. });
        self.observed.iter().filter(is_refusal).count()
    }
}

fn queue() -> SchedulerConfig {
    let (policy, order) = (Policy::Conservative, Order::Arrival);
    SchedulerConfig { policy, order, compression: Compression::ByStart, depth: None, window: None }
}

fn submit(id: u32, processors: u32, seconds: i64) -> SubmissionMessage {
    let span = Span::from_secs(seconds);
    let mut job = Job::new(id, Time::ZERO, processors, span);
    job.requested_time = Some(span);
    let (job, class) = (Arc::new(job), JobClass::Local);
    SubmissionMessage::Submit(Submission { job, class, user: OTHER })
}

fn instruct(number: u64, instruction: Instruction<Parts>) -> CoallocationMessage {
    let id = AgreementId { coordinator: OTHER, number };
    let message = Box::new(ToParticipant { id, settled: 0, instruction });
    CoallocationMessage::Instruct { job: JobId(9), message }
}

/// A request for a part of two processors from 10 s to 30 s.
fn prepare(number: u64) -> CoallocationMessage {
    let place = Place {
        start: Time::from_secs(10),
        span: Span::from_secs(20),
        processors: 2,
        alone: false,
        run_time: HiddenRunTime::new(Span::from_secs(20)),
    };
    let program = Program { overhead: 0, key: 0, moves: false, negotiates: false, may_break: true };
    let request = Want::Reserve(place, program);
    let (lease, in_doubt) = (Span::from_secs(10), InDoubt::Release);
    instruct(number, Instruction::Prepare { request, lease, in_doubt })
}

/// The kinds of messages, as event logs have them.
fn kinds(messages: &[Message]) -> Vec<&'static str> {
    messages.iter().map(Message::kind).collect()
}

#[test]
fn a_job_is_accepted_and_starts_at_the_end_of_the_instant() {
    let mut alone = Alone::new(Scheduling::Queue(queue()));
    assert_eq!(kinds(&alone.tell(0, submit(1, 3, 60))), ["accepted", "started"]);
    assert_eq!(kinds(&alone.tell(5, submit(2, 2, 60))), ["accepted"], "there is no room yet");
    assert_eq!(kinds(&alone.advance(60)), ["finished", "started"]);
    assert_eq!(kinds(&alone.advance(120)), ["finished"]);
    let over = alone.observed.iter().filter_map(|it| match it {
        Observation::JobOver(record) => Some((record.job.id.0, record.outcome)),
        _ => None,
    });
    let over = Vec::from_iter(over);
    assert_eq!(over, [(1, JobOutcome::Completed), (2, JobOutcome::Completed)]);
}

#[test]
fn a_provider_has_the_services_that_its_queue_supports() {
    let mut alone = Alone::new(Scheduling::Queue(queue()));
    let asks = CoallocationMessage::GetSlots { job: JobId(1) };
    assert!(alone.tell(0, asks.clone()).is_empty());
    assert!(alone.tell(0, BargainMessage::Refresh { job: JobId(1) }).is_empty());
    assert_eq!(alone.refused(), 2, "it takes no parts, and does not bargain");
    let mut alone = Alone::new(Scheduling::from(queue()).around_parts());
    assert_eq!(kinds(&alone.tell(0, asks)), ["slots"]);
    assert_eq!(alone.refused(), 0);
}

#[test]
fn load_counts_work_that_waits_and_work_that_runs() {
    let mut alone = Alone::new(Scheduling::Queue(queue()));
    alone.tell(0, submit(1, 4, 60));
    alone.tell(0, submit(2, 2, 30));
    let load = |alone: &mut Alone, now| match &alone
        .tell(now, QueryMessage::LoadRequest { job: JobId(3) })[..]
    {
        [Message::Query(QueryMessage::Load { drain_time, .. })] => *drain_time,
        other => panic!("{other:?}"),
    };
    assert_eq!(load(&mut alone, 20), Span::from_secs(40 + 15));
    alone.advance(60);
    assert_eq!(load(&mut alone, 70), Span::from_secs(10), "2 processors for 20 s are left");
}

#[test]
fn a_part_whose_processors_fail_is_broken_and_its_job_placed_elsewhere() {
    let mut alone = Alone::new(Scheduling::from(queue()).around_parts());
    assert_eq!(kinds(&alone.tell(0, prepare(1))), ["part_ready"]);
    assert_eq!(kinds(&alone.tell(1, instruct(1, Instruction::Commit(())))), ["part_committed"]);
    assert_eq!(kinds(&alone.advance(10)), ["part_started"]);
    let failed = ResourceMessage::Failed { processors: ProcessorSet::range(1, 1) };
    assert_eq!(kinds(&alone.tell(15, failed)), ["part_broken"]);
    let lost = alone.observed.iter().find_map(|it| match it {
        Observation::RunLost { run, .. } => Some((run.start, run.end, run.processors.count())),
        _ => None,
    });
    assert_eq!(lost, Some((Time::from_secs(10), Time::from_secs(15), 2)));
    // The room of the part is free again, except the failed processor.
    assert_eq!(kinds(&alone.tell(16, submit(1, 3, 5))), ["accepted", "started"]);
    assert_eq!(alone.refused(), 0);
}

#[test]
fn a_hold_that_loses_its_place_is_answered_when_its_commit_arrives() {
    let mut alone = Alone::new(Scheduling::from(queue()).around_parts());
    alone.tell(0, prepare(1));
    let failed = ResourceMessage::Failed { processors: ProcessorSet::range(0, 3) };
    assert!(alone.tell(2, failed).is_empty(), "its metascheduler learns of it from the answer");
    let answer = alone.tell(3, instruct(1, Instruction::Commit(())));
    assert_eq!(kinds(&answer), ["part_expired"]);
    assert!(alone.advance(40).is_empty(), "it never starts");
    assert_eq!(alone.refused(), 0);
}

#[test]
fn a_part_is_given_up_even_if_it_runs() {
    let mut alone = Alone::new(Scheduling::from(queue()).around_parts());
    alone.tell(0, prepare(1));
    alone.tell(1, instruct(1, Instruction::Commit(())));
    alone.advance(12);
    let id = AgreementId { coordinator: OTHER, number: 1 };
    alone.tell(14, CoallocationMessage::GiveUp { job: JobId(9), id });
    // All processors are free again.
    assert_eq!(kinds(&alone.tell(15, submit(1, 4, 5))), ["accepted", "started"]);
    assert!(!kinds(&alone.advance(40)).contains(&"part_finished"));
}
