//! Bodies that differ from their messages, because these hide something, or contain another message.
//!
//! | message | hides | its program goes with it, because |
//! |---|---|---|
//! | [`Submission`] | run time, behaviour, reports | the taker runs the job without a further message about it |
//! | [`Call`] | run time | the bag is run from the description in the call; a provider that profiles runs it before |
//! | [`Place`](haggle_agents::protocol::coallocation::Place) | run time | a held part is started without a further message |
//! | [`Ask`](haggle_agents::protocol::transaction::Ask) | run time | the same; not in questions about room (`Watch`, `Query`) |
//! | [`IntervalOrder`] | run time | of an order, not of a proposal |
//! | [`Dispatch`] | run time, reports | the resource runs it |
//! | `Profile` | behaviour | the provider runs a process of each size |
//! | `PlanRequest`, [`TimesRequest`] | run time | it does not |

use std::sync::Arc;

use haggle_agents::Message;
use haggle_agents::protocol::coallocation::{Parts, Want};
use haggle_agents::protocol::planning::{IntervalOrder, TimesRequest};
use haggle_agents::protocol::transaction::{Room, Spoken};
use haggle_agents::protocol::{Call, Dispatch, Submission};
use haggle_agreements::booking::Booking;
use haggle_agreements::claiming::Claim;
use haggle_agreements::locking::Locking;
use haggle_agreements::paxos::Ballot;
use haggle_agreements::polling::Polled;
use haggle_agreements::probing::Probed;
use haggle_agreements::two_phase::Wire;
use haggle_agreements::{Instruction, ToParticipant};
use haggle_model::job::{HiddenRunTime, Lot};
use haggle_model::phased::Move;
use haggle_model::work::Work;
use haggle_model::workflow::TaskData;
use haggle_model::{ActorId, Disclosure, Iterative, Job, JobClass, JobId, Span, Time};
use haggle_planning::Interval;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::described::{Described, DescribedIterative, Process, Program, Runnable};
use super::kinds::{self, Unsendable};

/// The form of a part of a message on the wire.
pub(super) trait Form: Serialize + DeserializeOwned {
    /// The part.
    type Of;

    /// Splits off the hidden parts.
    fn of(value: Self::Of) -> Result<Self, Unsendable>;

    /// Puts it together again.
    fn get(self) -> Result<Self::Of, Odd>;
}

/// A body that has the right form and makes no message.
#[derive(Debug)]
pub(super) struct Odd;

/// A [`Submission`].
#[derive(Serialize, Deserialize)]
pub(super) struct Handed {
    job: Runnable,
    class: JobClass,
    user: ActorId,
}

impl Form for Handed {
    type Of = Submission;

    fn of(Submission { job, class, user }: Submission) -> Result<Handed, Unsendable> {
        Ok(Handed { job: Runnable::of(job)?, class, user })
    }

    fn get(self) -> Result<Submission, Odd> {
        let Handed { job, class, user } = self;
        Ok(Submission { job: job.get()?, class, user })
    }
}

/// A [`Call`].
#[derive(Serialize, Deserialize)]
pub(super) struct Called {
    job: JobId,
    tasks: u32,
    task_time: Span,
    lot: Lot,
    deadline: Option<Time>,
    asks: Disclosure,
    wants_offers: bool,
    program: Program,
}

impl Form for Called {
    type Of = Box<Call>;

    fn of(call: Box<Call>) -> Result<Called, Unsendable> {
        let Call { job, tasks, task_time, program, lot, deadline, asks, wants_offers } = *call;
        let program = Program::pretend(program)?;
        Ok(Called { job, tasks, task_time, lot, deadline, asks, wants_offers, program })
    }

    fn get(self) -> Result<Box<Call>, Odd> {
        let Called { job, tasks, task_time, lot, deadline, asks, wants_offers, program } = self;
        let program = program.run_time()?;
        Ok(Box::new(Call { job, tasks, task_time, program, lot, deadline, asks, wants_offers }))
    }
}

/// An [`IntervalOrder`], with a job as [`Described`] or [`Runnable`].
#[derive(Serialize, Deserialize)]
pub(super) struct Ordered<J> {
    job: J,
    interval: Interval,
    number: u32,
    how: Move,
    from: Option<ActorId>,
}

impl<J: Form<Of = Arc<Job>>> Form for Ordered<J> {
    type Of = Box<IntervalOrder>;

    fn of(order: Box<IntervalOrder>) -> Result<Ordered<J>, Unsendable> {
        let IntervalOrder { job, interval, number, how, from } = *order;
        Ok(Ordered { job: J::of(job)?, interval, number, how, from })
    }

    fn get(self) -> Result<Box<IntervalOrder>, Odd> {
        let Ordered { job, interval, number, how, from } = self;
        Ok(Box::new(IntervalOrder { job: job.get()?, interval, number, how, from }))
    }
}

/// A [`TimesRequest`].
#[derive(Serialize, Deserialize)]
pub(super) struct Timed {
    job: Described,
    intervals: Vec<Interval>,
    from: Option<ActorId>,
}

impl Form for Timed {
    type Of = Box<TimesRequest>;

    fn of(request: Box<TimesRequest>) -> Result<Timed, Unsendable> {
        let TimesRequest { job, intervals, from } = *request;
        Ok(Timed { job: Described::of(job)?, intervals, from })
    }

    fn get(self) -> Result<Box<TimesRequest>, Odd> {
        let Timed { job, intervals, from } = self;
        Ok(Box::new(TimesRequest { job: job.get()?, intervals, from }))
    }
}

/// A [`Dispatch`].
#[derive(Serialize, Deserialize)]
pub(super) struct Dispatched {
    job: JobId,
    number: u32,
    workload: u16,
    data: Option<TaskData>,
    from: Work,
    parent: Option<u32>,
    checkpointing: bool,
    moves: bool,
    runs: bool,
    program: Program,
}

impl Form for Dispatched {
    type Of = Box<Dispatch>;

    fn of(dispatch: Box<Dispatch>) -> Result<Dispatched, Unsendable> {
        let Dispatch {
            job,
            number,
            workload,
            data,
            run_time,
            from,
            parent,
            progress,
            checkpointing,
            moves,
            runs,
        } = *dispatch;
        let Program::Pretend { run_time, behaviour, .. } = Program::pretend(run_time)?;
        let progress = progress.map(|it| *it);
        let program = Program::Pretend { run_time, behaviour, progress };
        Ok(Dispatched {
            job,
            number,
            workload,
            data,
            from,
            parent,
            checkpointing,
            moves,
            runs,
            program,
        })
    }

    fn get(self) -> Result<Box<Dispatch>, Odd> {
        let Dispatched {
            job,
            number,
            workload,
            data,
            from,
            parent,
            checkpointing,
            moves,
            runs,
            program: Program::Pretend { run_time, behaviour, progress },
        } = self;
        let program = Program::Pretend { run_time, behaviour, progress: None };
        Ok(Box::new(Dispatch {
            job,
            number,
            workload,
            data,
            run_time: program.run_time()?,
            from,
            parent,
            progress: progress.map(Box::new),
            checkpointing,
            moves,
            runs,
        }))
    }
}

/// The application of a `Profile`.
#[derive(Serialize, Deserialize)]
pub(super) struct Profiled {
    application: DescribedIterative,
    process: Process,
}

impl Form for Profiled {
    type Of = Arc<Iterative>;

    fn of(application: Arc<Iterative>) -> Result<Profiled, Unsendable> {
        let (application, behaviour) = DescribedIterative::split(&application);
        Ok(Profiled { application, process: Process::Pretend { behaviour } })
    }

    fn get(self) -> Result<Arc<Iterative>, Odd> {
        let Process::Pretend { behaviour } = self.process;
        Ok(Arc::new(self.application.joined(behaviour)))
    }
}

/// A run time within a message of an agreement.
pub(super) struct Slot<'a> {
    run_time: &'a mut HiddenRunTime,
    /// True if the message hands its part over for running.
    hands_over: bool,
}

impl<'a> Slot<'a> {
    fn handed(run_time: &'a mut HiddenRunTime) -> Slot<'a> {
        Slot { run_time, hands_over: true }
    }

    fn asked(run_time: &'a mut HiddenRunTime) -> Slot<'a> {
        Slot { run_time, hands_over: false }
    }
}

/// A message of an agreement, which has run times in many places.
pub(super) trait Hides: Serialize + DeserializeOwned {
    /// All of them, in a fixed order.
    fn slots(&mut self) -> Vec<Slot<'_>>;
}

impl Hides for ToParticipant<Parts> {
    fn slots(&mut self) -> Vec<Slot<'_>> {
        match &mut self.instruction {
            Instruction::Prepare {
                request: Want::Reserve(place, _) | Want::Reconfigure(place),
                ..
            } => vec![Slot::handed(&mut place.run_time)],
            Instruction::Prepare { request: Want::Leave, .. }
            | Instruction::Commit(())
            | Instruction::Abort
            | Instruction::Undo => Vec::new(),
        }
    }
}

fn prepared(instruction: &mut Instruction<Room>) -> Vec<Slot<'_>> {
    match instruction {
        Instruction::Prepare { request, .. } => vec![Slot::handed(&mut request.run_time)],
        Instruction::Commit(()) | Instruction::Abort | Instruction::Undo => Vec::new(),
    }
}

impl Hides for Spoken {
    fn slots(&mut self) -> Vec<Slot<'_>> {
        match self {
            Spoken::TwoPhase(Wire::Down(message)) => prepared(&mut message.instruction),
            Spoken::TwoPhase(Wire::Up(_)) => Vec::new(),
            Spoken::Booking(message) => match &mut message.body {
                Booking::Book { request, .. } => vec![Slot::handed(&mut request.run_time)],
                Booking::Watch { request } => vec![Slot::asked(&mut request.run_time)],
                Booking::Booked { .. }
                | Booking::Refused { .. }
                | Booking::Delete { .. }
                | Booking::Deleted { .. }
                | Booking::Over { .. }
                | Booking::Avail { .. } => Vec::new(),
            },
            Spoken::Polling(message) => match &mut message.body {
                Polled::Start(instruction) => prepared(instruction),
                Polled::Accepted(_) | Polled::Poll(_) | Polled::Status(..) => Vec::new(),
            },
            Spoken::Paxos(message) => match &mut message.body {
                // To a leader, which passes each request on to its participant.
                Ballot::Begin { parts } => {
                    parts.values_mut().map(|it| Slot::handed(&mut it.run_time)).collect()
                }
                Ballot::Prepare { request, .. } => vec![Slot::handed(&mut request.run_time)],
                Ballot::Vote { .. }
                | Ballot::Ask { .. }
                | Ballot::Promised { .. }
                | Ballot::Outbid { .. }
                | Ballot::Propose { .. }
                | Ballot::Accepted { .. }
                | Ballot::Commit
                | Ballot::Abort
                | Ballot::Outcome { .. }
                | Ballot::Inquire { .. }
                | Ballot::Known => Vec::new(),
            },
            Spoken::Claiming(message) => match &mut message.body {
                Claim::Claim(request) => vec![Slot::handed(&mut request.run_time)],
                Claim::Claimed(_)
                | Claim::NotEnough(_)
                | Claim::Start
                | Claim::Started
                | Claim::Preempted
                | Claim::Release
                | Claim::Released => Vec::new(),
            },
            Spoken::Locking(message) => match &mut message.body {
                Locking::Request { request, .. } | Locking::Upgrade { request } => {
                    vec![Slot::handed(&mut request.run_time)]
                }
                Locking::Grant { .. }
                | Locking::Confirm { .. }
                | Locking::YieldAsk { .. }
                | Locking::Yield { .. }
                | Locking::Release { .. }
                | Locking::Released => Vec::new(),
            },
            Spoken::Probing(message) => match &mut message.body {
                Probed::Query(request) => vec![Slot::asked(&mut request.run_time)],
                Probed::Down(instruction) => prepared(instruction),
                Probed::Status(..) | Probed::Probe(..) | Probed::Drop | Probed::Up(_) => Vec::new(),
            },
        }
    }
}

/// A message of an agreement without run times, and the programs of the parts that it hands over.
#[derive(Serialize, Deserialize)]
pub(super) struct Agreed<M> {
    message: M,
    programs: Vec<Program>,
}

impl<M: Hides> Form for Agreed<M> {
    type Of = Box<M>;

    fn of(mut message: Box<M>) -> Result<Agreed<M>, Unsendable> {
        let mut programs = Vec::new();
        for Slot { run_time, hands_over } in message.slots() {
            let hidden = std::mem::replace(run_time, HiddenRunTime::UNKNOWN);
            if hands_over {
                programs.push(Program::pretend(hidden)?);
            }
        }
        Ok(Agreed { message: *message, programs })
    }

    fn get(self) -> Result<Box<M>, Odd> {
        let Agreed { mut message, programs } = self;
        let mut programs = programs.into_iter();
        for Slot { run_time, hands_over } in message.slots() {
            if *run_time != HiddenRunTime::UNKNOWN {
                return Err(Odd);
            }
            if hands_over {
                *run_time = programs.next().ok_or(Odd)?.run_time()?;
            }
        }
        if programs.next().is_some() { Err(Odd) } else { Ok(Box::new(message)) }
    }
}

/// A message within a numbered one: its kind and its body. It contains no further message, so reading it takes
/// no more than one step down.
#[derive(Serialize, Deserialize)]
pub(super) struct Enclosed {
    kind: u16,
    body: Vec<u8>,
}

impl Form for Enclosed {
    type Of = Box<Message>;

    fn of(message: Box<Message>) -> Result<Enclosed, Unsendable> {
        if matches!(*message, Message::Numbered(_)) {
            return Err(Unsendable::Nested);
        }
        let (kind, body) = kinds::encode(*message)?;
        Ok(Enclosed { kind, body })
    }

    fn get(self) -> Result<Box<Message>, Odd> {
        if kinds::is_numbered(self.kind) {
            return Err(Odd);
        }
        kinds::read(self.kind, &self.body).map(Box::new).map_err(|_| Odd)
    }
}
