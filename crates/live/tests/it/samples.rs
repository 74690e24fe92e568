//! Messages that the runs of `crates/runtime/tests/it/wire_bodies.rs` lack, and a job with all that a job can have.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_agents::Message;
use haggle_agents::protocol::planning::IntervalOrder;
use haggle_agents::protocol::transaction::Spoken;
use haggle_agents::protocol::{
    AgreementMessage, CoallocationMessage, DispatchMessage, PlanningMessage, QueryMessage,
    ReservationMessage, Submission, SubmissionMessage, TransactionMessage,
};
use haggle_agreements::booking::Booking;
use haggle_agreements::locking::Locking;
use haggle_agreements::paxos::{Ballot, Choice};
use haggle_agreements::protocol::Said;
use haggle_agreements::two_phase::Wire;
use haggle_agreements::{
    AgreementId, Answer, InDoubt, Instruction, Subject, ToCoordinator, ToParticipant,
};
use haggle_model::iterative::{Behaviour, Communication};
use haggle_model::job::{HiddenRunTime, JobOrigin, Logged, Lot};
use haggle_model::phased::{Move, Phase, Term};
use haggle_model::progress::{EstimateError, Progress, Side};
use haggle_model::reservation::{Remedy, Reservation};
use haggle_model::workflow::{Need, TaskData, WorkflowTask};
use haggle_model::{
    ActorId, Initial, Iterative, Job, JobClass, JobId, JobShape, Phased, Refusal, Span, Speedup,
    Time,
};
use haggle_planning::Interval;

const JOB: JobId = JobId(3);
const ID: AgreementId = AgreementId { coordinator: ActorId(2), number: 300 };

fn seconds(seconds: i64) -> Span {
    Span::from_secs(seconds)
}

/// A job with a value in each field, whose hidden parts depend on `secret`.
fn full_job(secret: i64) -> Job {
    let term = |coefficient| {
        let speedup = haggle_model::phased::Speedup::Power(0.5);
        Term { coefficient, size: 2.0, load: 1.0, speedup }
    };
    let phase = Phase { computation: term(0.25), communication: term(0.125) };
    let error = EstimateError {
        side: Side::Fluctuating { up: true, period: 288.0, shift: 27.0 },
        amplitude: secret as f64,
        decay: 0.1,
        noise: 0.5,
        floor: 0.02,
    };
    Job {
        workload: 1,
        number: 17,
        lot: Lot::new("log", 17),
        shape: JobShape::Moldable(Speedup::new(0.9, 96).expect("a speedup")),
        requested_time: Some(seconds(7_200)),
        run_time: HiddenRunTime::new(seconds(secret)),
        ready: Some(Time::from_secs(20)),
        deadline: Some(Time::from_secs(90_000)),
        reservation: Some(Reservation {
            accepts: Some(50),
            sizes: (50, 200),
            remedy: Remedy::Shrink,
        }),
        phases: Some(Arc::new(Phased::Modelled { phases: vec![phase; 3], size: 4.0, merged: 1 })),
        iterative: Some(Arc::new(Iterative {
            processes: vec![4, 2],
            iterations: 1_000,
            communication: Communication::Asynchronous,
            merge: seconds(3),
            transfer: seconds(2),
            throughputs: BTreeMap::from([("xeon".to_owned(), vec![2.5, 1.25])]),
            behaviour: Behaviour::new(seconds(secret), secret as f64),
        })),
        task: Some(Arc::new(WorkflowTask {
            workflow: 5,
            task: 2,
            data: Some(TaskData { input: 1_000, output: 2_000, checkpoint: 3_000 }),
            progress: Some(Progress::new(error, 3_600.0 + secret as f64, 360.0, secret as u64)),
            needs: Box::new([
                Need { made_by: Some(1), bytes: 700 },
                Need { made_by: None, bytes: 300 },
            ]),
        })),
        initial: Some(Initial::Running(Time::from_secs(-30))),
        key: -9,
        origin: JobOrigin {
            user: 11,
            group: 12,
            executable: 13,
            queue: 14,
            partition: 15,
            logged: Some(Box::new(Logged {
                run_time: HiddenRunTime::new(seconds(secret)),
                average_cpu_time: seconds(secret),
                ..Logged::UNKNOWN
            })),
        },
        ..Job::new(JOB.0, Time::from_secs(10), 8, seconds(1))
    }
}

fn order(secret: i64, interval: Interval) -> Box<IntervalOrder> {
    let job = Arc::new(full_job(secret));
    Box::new(IntervalOrder { job, interval, number: 2, how: Move::Between, from: Some(ActorId(4)) })
}

fn submission(secret: i64) -> Submission {
    Submission { job: Arc::new(full_job(secret)), class: JobClass::External, user: ActorId(6) }
}

/// An instruction of a subject without a request.
fn down<S: Subject>(instruction: Instruction<S>) -> Box<ToParticipant<S>> {
    Box::new(ToParticipant { id: ID, settled: 299, instruction })
}

fn up<S: Subject>(answer: Answer<S>) -> Box<ToCoordinator<S>> {
    Box::new(ToCoordinator { id: ID, answer })
}

fn spoken(spoken: impl Into<Spoken>) -> Message {
    TransactionMessage::Said { job: JOB, message: Box::new(spoken.into()) }.into()
}

fn said<B: haggle_agreements::protocol::Body>(body: B) -> Message
where
    Spoken: From<Said<B>>,
{
    spoken(Said { id: ID, settled: 299, body })
}

fn refusals() -> [Refusal; 12] {
    [
        Refusal::TooWide,
        Refusal::TooNarrow,
        Refusal::NotDisclosed,
        Refusal::NoProvider,
        Refusal::WrongShape,
        Refusal::NoLimit,
        Refusal::NoRoom,
        Refusal::NoWindow,
        Refusal::NoAgreement,
        Refusal::ParentFailed,
        Refusal::TooDemanding,
        Refusal::NotPermitted,
    ]
}

pub(crate) fn samples() -> Vec<Message> {
    use haggle_agents::protocol::coallocation::Want;
    let (job, id) = (JOB, ID);
    let at = Time::from_secs(40);
    let leave = Instruction::Prepare {
        request: Want::Leave,
        lease: seconds(9),
        in_doubt: InDoubt::Inquire { every: seconds(5) },
    };
    let votes = |choice: Choice<_>| BTreeMap::from([(ActorId(1), choice)]);
    let mut samples: Vec<Message> = vec![
        SubmissionMessage::Submit(submission(100)).into(),
        ReservationMessage::Expired { job }.into(),
        ReservationMessage::Shrunk { job, processors: 2, start: at, completion: at + seconds(5) }
            .into(),
        AgreementMessage::Instruct { job, message: down(Instruction::Undo) }.into(),
        AgreementMessage::Answer { job, message: up(Answer::Expired) }.into(),
        AgreementMessage::Answer { job, message: up(Answer::Undone) }.into(),
        AgreementMessage::Answer { job, message: up(Answer::Inquire) }.into(),
        CoallocationMessage::Instruct { job, message: down(leave) }.into(),
        CoallocationMessage::Instruct { job, message: down(Instruction::Undo) }.into(),
        CoallocationMessage::Answer { job, message: up(Answer::NotReady(None)) }.into(),
        CoallocationMessage::Answer { job, message: up(Answer::Expired) }.into(),
        CoallocationMessage::Answer { job, message: up(Answer::Undone) }.into(),
        CoallocationMessage::Answer { job, message: up(Answer::Inquire) }.into(),
        CoallocationMessage::Broken { job, id }.into(),
        CoallocationMessage::AwaitRoom { job }.into(),
        CoallocationMessage::RoomGrew { job }.into(),
        CoallocationMessage::GiveUp { job, id }.into(),
        spoken(Wire::Down(*down(Instruction::Undo))),
        spoken(Wire::Up(*up(Answer::Expired))),
        spoken(Wire::Up(*up(Answer::Undone))),
        spoken(Wire::Up(*up(Answer::Inquire))),
        said(Booking::Over { round: 1, terms: at }),
        said(Locking::Yield { epoch: 7 }),
        said(Ballot::Ask { ballot: 5 }),
        said(Ballot::Promised {
            ballot: 5,
            accepted: BTreeMap::from([(ActorId(1), (4, Choice::Aborted(None)))]),
        }),
        said(Ballot::Outbid { ballot: 6 }),
        said(Ballot::Propose { ballot: 5, choices: votes(Choice::Prepared(at)) }),
        PlanningMessage::Propose(order(100, Interval::new(2, 3))).into(),
        PlanningMessage::Lapsed { job }.into(),
        PlanningMessage::NotRun { job }.into(),
        DispatchMessage::Leave { job, to: Some(ActorId(5)) }.into(),
        DispatchMessage::Suspended { job }.into(),
        DispatchMessage::Stranded { job }.into(),
    ];
    for reason in refusals() {
        samples.push(SubmissionMessage::Refused { job, reason }.into());
        samples.push(QueryMessage::NoAnswer { job, reason }.into());
    }
    samples
}

/// A proposal of an interval, for a job with these hidden parts.
pub(crate) fn proposal(secret: i64) -> Message {
    PlanningMessage::Propose(order(secret, Interval::new(2, 3))).into()
}

/// A submission of a job with these hidden parts.
pub(crate) fn submit(secret: i64) -> Message {
    SubmissionMessage::Submit(submission(secret)).into()
}

/// An order to run the phases of an interval, of an application with three.
pub(crate) fn run_interval(interval: Interval) -> Message {
    PlanningMessage::RunInterval(order(100, interval)).into()
}
