//! Facts about the sender that each field of each message discloses, or the reason why it discloses none.
//!
//! The table does not compile if a message or a field is missing or named twice. It is compared with the rows that
//! messages really cause.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use haggle_agents::protocol::agreement::{Bags, ShareOrder};
use haggle_agents::protocol::bargain::{Answer, Call};
use haggle_agents::protocol::coallocation::{Parts, Place, Program as PartProgram, Want};
use haggle_agents::protocol::planning::{
    ClusterLoads, IntervalOrder, Planned, Times, TimesRequest,
};
use haggle_agents::protocol::{
    AgreementMessage, BargainMessage, CheckpointMessage, CoallocationMessage, DataMessage,
    Dispatch, DispatchMessage, InformationMessage, Message, Moved, NumberedMessage, Parties,
    PlanningMessage, QueryMessage, ReallocationMessage, ReservationMessage, ResourceMessage,
    RunMessage, Saved, ShareMessage, SizeRequest, SoFar, Status, SubmissionMessage,
    TransactionMessage, Transfer,
};
use haggle_agents::{Submission, Timer};
use haggle_agreements::{AgreementId, Answer as Vote, Instruction, ToCoordinator, ToParticipant};
use haggle_grids::Report;
use haggle_model::observation::DisclosedItem as Item;
use haggle_model::{ActorKind, JobId, Time};
use haggle_runtime::{Driver, run};

use crate::any_message::{Pool, worlds};
use crate::setup::spoken_item;

/// Content of a field, seen as disclosure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// About the sender: a row of this kind each time there is anything to disclose.
    Tells(Item),
    /// About the sender: at most one row of each of these kinds, as far as the question demands it.
    TellsUpTo(&'static [Item]),
    /// Job that the message is about. The receiver knows it, or gets it by another field.
    Names,
    /// A name that the receiver has given, returned to it.
    Returned,
    /// Request to the receiver.
    Asks,
    /// Number of an answer, an order or a try, which the receiver could count itself.
    Counts,
    /// A time of the common clock, which every actor reads.
    Clock,
    /// Data that only machines read, wherever the program goes.
    Program,
    /// No secret: between a user and the actor that serves it, or from nature, the world or the actor itself.
    Public,
}

use Field::{Asks, Clock, Counts, Names, Program, Public, Returned, Tells, TellsUpTo};

type Row = Vec<(&'static str, Field)>;

/// Fields of a message, each with its content. A variant is `Name { field: about }`; a tuple is `Name { 0: about }`.
macro_rules! table {
    ($($row:ident($enum:ident $(<$of:ty>)?) {
        $($variant:ident { $($field:tt: $about:expr),* $(,)? },)*
    })*) => {
        $(fn $row(message: &$enum $(<$of>)?) -> Row {
            match message {
                $($enum::$variant { $($field: _),* } => vec![$((stringify!($field), $about)),*],)*
            }
        })*
    };
}

/// The same for the contents of a message.
macro_rules! contents {
    ($($row:ident($struct:ident $(<$of:ty>)?) { $($field:ident: $about:expr),* $(,)? })*) => {
        $(fn $row(content: &$struct $(<$of>)?) -> Row {
            let $struct { $($field: _),* } = content;
            vec![$((stringify!($field), $about)),*]
        })*
    };
}

table! {
    submission(SubmissionMessage) {
        Submit { 0: Tells(Item::Job) },
        SubmitAhead { 0: Tells(Item::Job) },
        DataArrived { job: Names },
        Accepted { job: Names },
        Refused { job: Names, reason: Tells(Item::Refusal) },
        Withdraw { job: Names },
        NotWithdrawn { job: Names },
        Promise { job: Names, completion: Public },
        Started { job: Tells(Item::JobStatus) },
        Finished { job: Tells(Item::JobStatus), outcome: Tells(Item::JobStatus) },
    }
    reservation(ReservationMessage) {
        Reserve { 0: Tells(Item::Job) },
        Granted { job: Names, start: Tells(Item::Estimate), completion: Tells(Item::Estimate) },
        Alternatives { job: Names, others: Tells(Item::Interval) },
        Take { submission: Tells(Item::Job), start: Returned, processors: Returned },
        Expired { job: Tells(Item::Change) },
        Fixed { job: Names, start: Tells(Item::Estimate) },
        Broken { job: Tells(Item::Change) },
        Shrunk {
            job: Names,
            processors: Tells(Item::Estimate),
            start: Tells(Item::Estimate),
            completion: Tells(Item::Estimate),
        },
        Revoked { job: Tells(Item::Change), cause: Tells(Item::Change) },
    }
    query(QueryMessage) {
        EstimateRequest {
            job: Names, processors: Tells(Item::Job), requested_time: Tells(Item::Job),
            demand: Tells(Item::Job),
        },
        Estimate {
            job: Names, start: Tells(Item::Estimate), completion: Tells(Item::Estimate),
        },
        LoadRequest { job: Names },
        Load { job: Names, drain_time: Tells(Item::Load) },
        NoAnswer { job: Names, reason: Tells(Item::Refusal) },
    }
    reallocation(ReallocationMessage) {
        SizeRequest { 0: Tells(Item::Job) },
        Size { job: Names, sizing: Tells(Item::Estimate) },
        NoSize { job: Names, reason: Tells(Item::Refusal) },
        Submit { submission: Tells(Item::Job), sizes: Tells(Item::Job), stage_in: Tells(Item::Job) },
        WaitingRequest {},
        Waiting { jobs: TellsUpTo(&[Item::ExpectedCompletion]) },
        CompletionRequest { job: Names },
        Completion { job: Names, completion: Tells(Item::ExpectedCompletion) },
        TakeBack { jobs: Asks },
        Back { jobs: TellsUpTo(&[Item::JobStatus]) },
    }
    planning(PlanningMessage) {
        PlanRequest { job: Tells(Item::Job), first: Tells(Item::Job) },
        Plan { 0: Tells(Item::Estimate) },
        NoMachines { job: Tells(Item::Refusal) },
        TimesRequest { 0: Tells(Item::Job) },
        Times { 0: TellsUpTo(&[Item::Estimate]) },
        Propose { 0: Tells(Item::Job) },
        Lapsed { job: Tells(Item::Refusal) },
        RunInterval { 0: Tells(Item::Job) },
        Begun { job: Tells(Item::JobStatus) },
        NotRun { job: Tells(Item::Refusal) },
        PhaseOver { job: Tells(Item::JobStatus) },
        IntervalOver { job: Tells(Item::JobStatus) },
        IntervalLost { job: Tells(Item::JobStatus), arrived: Tells(Item::JobStatus) },
        Forget { job: Names },
        MachinesFree {},
        Redraw {},
        Redrawn {},
        // A cluster reports its loads to itself.
        Loads { 0: Public },
    }
    bargain(BargainMessage) {
        Call { 0: Tells(Item::Bag) },
        Offers { 0: TellsUpTo(&LADDER) },
        Probe { job: Tells(Item::Change), answer: Counts },
        Refresh { job: Names },
    }
    agreement(AgreementMessage) {
        Instruct { job: Names, message: TellsUpTo(&[Item::BagCompletion]) },
        Answer { job: Names, message: TellsUpTo(&VOTE) },
        Release { job: Names },
    }
    instruction(Instruction<Bags>) {
        Prepare { request: Asks, lease: Asks, in_doubt: Asks },
        Commit { 0: TellsUpTo(&[Item::BagCompletion]) },
        Abort {},
        Undo {},
    }
    vote(Vote<Bags>) {
        // The lease follows from the validity of the offers, which was disclosed with them.
        Ready { terms: Tells(Item::Estimate), lease: Clock },
        NotReady { 0: TellsUpTo(&LADDER) },
        Committed { 0: TellsUpTo(&[Item::Estimate]) },
        Expired {},
        Undone {},
        Inquire {},
    }
    coallocation(CoallocationMessage) {
        GetSlots { job: Names },
        Slots { job: Names, changed: TellsUpTo(&[Item::FreeSlots]), own: TellsUpTo(&[Item::FreeSlots]) },
        Profile { job: Names, application: Tells(Item::Job), tolerance: Asks },
        Throughput { job: Names, rates: TellsUpTo(&[Item::Power]) },
        EarliestMachines { job: Names, machines: Asks, from: Asks },
        Machines { job: Names, available: TellsUpTo(&[Item::Estimate]) },
        Instruct { job: Names, message: TellsUpTo(&[Item::Job]) },
        Answer { job: Names, message: TellsUpTo(&[Item::Change, Item::Estimate]) },
        RescheduleRequest { job: Tells(Item::Change) },
        Rescheduled { job: Names, moved: Asks },
        Started { job: Tells(Item::JobStatus), id: Returned },
        Broken { job: Tells(Item::JobStatus), id: Returned },
        AwaitRoom { job: Names },
        RoomGrew { job: Tells(Item::Change) },
        GiveUp { job: Names, id: Returned },
        Finished { job: Tells(Item::JobStatus), id: Returned, outcome: Tells(Item::JobStatus) },
    }
    part_instruction(Instruction<Parts>) {
        Prepare { request: TellsUpTo(&[Item::Job]), lease: Asks, in_doubt: Asks },
        Commit { 0: Asks },
        Abort {},
        Undo {},
    }
    want(Want) {
        Reserve { 0: Tells(Item::Job), 1: Tells(Item::Job) },
        Reconfigure { 0: Asks },
        Leave {},
    }
    part_vote(Vote<Parts>) {
        // The part is held until its start, which was requested.
        Ready { terms: Returned, lease: Returned },
        NotReady { 0: TellsUpTo(&[Item::Change, Item::Estimate]) },
        Committed { 0: Returned },
        Expired {},
        Undone {},
        Inquire {},
    }
    transaction(TransactionMessage) {
        // `spoken` has a table for each kind of message.
        Said { job: Names, message: TellsUpTo(&SPOKEN) },
        TooWide { job: Tells(Item::Refusal), id: Returned },
        Begin { job: Names, id: Counts },
        Begun { job: Tells(Item::JobStatus), id: Returned },
        Over { job: Tells(Item::JobStatus), id: Returned, outcome: Tells(Item::JobStatus) },
        Heard { job: Names, id: Returned },
    }
    numbered(NumberedMessage) {
        Item { number: Counts, message: Public },
        Received { next: Counts },
    }
    share(ShareMessage) {
        Started { job: Tells(Item::JobStatus) },
        Finished { job: Tells(Item::JobStatus), outcome: Tells(Item::JobStatus) },
        NewCompletionTimes { entries: Tells(Item::ExpectedCompletion) },
        BagCompletion { job: Names, completion: Tells(Item::BagCompletion) },
    }
    dispatch(DispatchMessage) {
        Dispatch { 0: Tells(Item::Job) },
        Refused { job: Tells(Item::Refusal), number: Returned },
        Cancel { job: Names },
        Checkpointing { job: Names, on: Asks },
        Move { job: Names, to: Asks },
        Moved { 0: Tells(Item::Job) },
        Leave { job: Names, to: Asks },
        Left { job: Tells(Item::JobStatus) },
        Suspended { job: Tells(Item::JobStatus) },
        Stranded { job: Tells(Item::JobStatus) },
        Computed {
            job: Tells(Item::JobStatus), number: Returned, delivered: Tells(Item::JobStatus),
        },
        Delivered { job: Tells(Item::JobStatus) },
        ProgressRequest { job: Names, known: Asks },
        Progress { job: Names, so_far: Tells(Item::Progress) },
    }
    information(InformationMessage) {
        Status { 0: Tells(Item::ResourceStatus) },
        Report { 0: Tells(Item::ResourceStatus) },
    }
    data(DataMessage) {
        // The network must move the data, so it sees all of them anyway.
        Transfer { 0: Asks },
        Transferred { number: Returned, at: Clock },
        TransferCheckpoint { 0: Asks },
        CheckpointTransferred { number: Returned },
        AbortTransfer { number: Counts },
        NodeFailed { node: Tells(Item::ResourceStatus) },
        TransferAborted { number: Returned },
        TrafficRequest {},
        Traffic { 0: Tells(Item::Traffic) },
        RoomRequest { job: Names, bytes: Asks },
        Room { job: Returned },
        RoomUnused { job: Names, bytes: Asks },
    }
    checkpoint(CheckpointMessage) {
        Saved { 0: Tells(Item::Progress) },
        CheckpointAvailable { 0: Tells(Item::Progress) },
        Forget { job: Names },
    }
    resource(ResourceMessage) {
        Failed { processors: Public },
        Restored { processors: Public },
    }
    world(RunMessage) {
        JobDue { 0: Public },
        OutageDue { resource: Public, restore: Public },
        Crashed {},
        Restarted {},
        Changed { 0: Public },
        WorkOver { job: Public, start: Public },
        RunOver {},
    }
}

contents! {
    planned(Planned) {
        job: Names, interval: Tells(Item::Estimate), remaining: Tells(Item::Estimate),
    }
    times_request(TimesRequest) {
        job: Tells(Item::Job), intervals: Tells(Item::Job), from: Tells(Item::Job),
    }
    times(Times) {
        job: Names,
        least: Tells(Item::Estimate),
        stay: Tells(Item::Estimate),
        moving: Tells(Item::Estimate),
    }
    interval_order(IntervalOrder) {
        job: Tells(Item::Job),
        interval: Tells(Item::Job),
        number: Tells(Item::Job),
        how: Asks,
        from: Tells(Item::Job),
    }
    cluster_loads(ClusterLoads) { cpu: Public, links: Public, ways: Public }
    submitted(Submission) { job: Tells(Item::Job), class: Tells(Item::Job), user: Tells(Item::Job) }
    size_request(SizeRequest) {
        job: Names, shape: Tells(Item::Job), processors: Tells(Item::Job),
        requested_time: Tells(Item::Job), sizes: Tells(Item::Job), stage_in: Tells(Item::Job),
    }
    call(Call) {
        job: Names, tasks: Tells(Item::Bag), task_time: Tells(Item::Bag), program: Program,
        lot: Program, deadline: Tells(Item::Bag), asks: Asks, wants_offers: Asks,
    }
    answer(Answer) { job: Names, answer: Counts, valid: Clock, view: TellsUpTo(&LADDER) }
    order(ShareOrder) { expected: TellsUpTo(&[Item::BagCompletion]), unheld: Asks }
    // The numbers of a metascheduler are instants, so they do not disclose how many agreements lie between them.
    agreement_id(AgreementId) { coordinator: Returned, number: Clock }
    to_participant(ToParticipant<Bags>) {
        id: Clock, settled: Clock, instruction: TellsUpTo(&[Item::BagCompletion]),
    }
    to_coordinator(ToCoordinator<Bags>) { id: Returned, answer: TellsUpTo(&VOTE) }
    place(Place) { start: Asks, span: Asks, processors: Asks, alone: Asks, run_time: Program }
    part_program(PartProgram) {
        overhead: Tells(Item::Job), key: Tells(Item::Job), moves: Asks, negotiates: Asks,
        may_break: Asks,
    }
    to_part_holder(ToParticipant<Parts>) {
        id: Clock, settled: Clock, instruction: TellsUpTo(&[Item::Job]),
    }
    from_part_holder(ToCoordinator<Parts>) {
        id: Returned, answer: TellsUpTo(&[Item::Change, Item::Estimate]),
    }
    dispatched(Dispatch) {
        job: Names, number: Tells(Item::Job), workload: Tells(Item::Job),
        data: Tells(Item::Job), run_time: Program, progress: Program, from: Tells(Item::Job), parent: Tells(Item::Job), checkpointing: Asks,
        moves: Asks, runs: Asks,
    }
    moved(Moved) {
        job: Names, number: Tells(Item::Job), done: Tells(Item::Job), from: Tells(Item::Job),
    }
    so_far(SoFar) {
        done: Tells(Item::Progress), computes: Tells(Item::Progress),
        computing: Tells(Item::Progress), reports: Tells(Item::Progress),
    }
    saved(Saved) {
        job: Names, number: Tells(Item::Progress), done: Tells(Item::Progress), at: Clock,
        bytes: Tells(Item::Progress),
    }
    transfer(Transfer) { number: Counts, from: Asks, to: Asks, bytes: Asks }
    status(Status) { resource: Names, report: Tells(Item::ResourceStatus) }
    report(Report) {
        taken: Clock, up: Tells(Item::ResourceStatus), avail: Tells(Item::ResourceStatus),
        jobs: Tells(Item::ResourceStatus),
    }
}

/// Items that a message of a protocol may disclose: a job, a lack of room, the time when there is room, the end of a
/// part.
const SPOKEN: [Item; 4] = [Item::Job, Item::Change, Item::Estimate, Item::JobStatus];

/// Items that an answer to a call may disclose.
const LADDER: [Item; 5] = [Item::Offer, Item::Power, Item::Load, Item::FreeSlots, Item::Queue];

/// Items that a vote may disclose; a refusal carries new offers.
const VOTE: [Item; 6] =
    [Item::Estimate, Item::Offer, Item::Power, Item::Load, Item::FreeSlots, Item::Queue];

/// All fields of a message, with those of its contents.
fn fields(message: &Message) -> Row {
    match message {
        Message::Submission(it) => {
            let inner = match it {
                SubmissionMessage::Submit(inner) | SubmissionMessage::SubmitAhead(inner) => {
                    submitted(inner)
                }
                _ => Row::new(),
            };
            [submission(it), inner].concat()
        }
        Message::Reservation(it) => {
            let inner = match it {
                ReservationMessage::Reserve(inner)
                | ReservationMessage::Take { submission: inner, .. } => submitted(inner),
                _ => Row::new(),
            };
            [reservation(it), inner].concat()
        }
        Message::Query(it) => query(it),
        Message::Reallocation(it) => {
            let inner = match it {
                ReallocationMessage::SizeRequest(inner) => size_request(inner),
                ReallocationMessage::Submit { submission, .. } => submitted(submission),
                _ => Row::new(),
            };
            [reallocation(it), inner].concat()
        }
        Message::Bargain(it) => {
            let inner = match it {
                BargainMessage::Call(inner) => call(inner),
                BargainMessage::Offers(inner) => answer(inner),
                _ => Row::new(),
            };
            [bargain(it), inner].concat()
        }
        Message::Agreement(it) => {
            let inner = match it {
                AgreementMessage::Instruct { message, .. } => {
                    let order = match &message.instruction {
                        Instruction::Commit(inner) => order(inner),
                        _ => Row::new(),
                    };
                    let id = agreement_id(&message.id);
                    [to_participant(message), id, instruction(&message.instruction), order].concat()
                }
                AgreementMessage::Answer { message, .. } => {
                    let offers = it.new_offers().map(answer).unwrap_or_default();
                    let id = agreement_id(&message.id);
                    [to_coordinator(message), id, vote(&message.answer), offers].concat()
                }
                AgreementMessage::Release { .. } => Row::new(),
            };
            [agreement(it), inner].concat()
        }
        Message::Coallocation(it) => {
            let inner = match it {
                CoallocationMessage::Instruct { message, .. } => {
                    let wanted = match &message.instruction {
                        Instruction::Prepare { request, .. } => {
                            let inner = match request {
                                Want::Reserve(to, program) => {
                                    [place(to), part_program(program)].concat()
                                }
                                Want::Reconfigure(to) => place(to),
                                Want::Leave => Row::new(),
                            };
                            [want(request), inner].concat()
                        }
                        _ => Row::new(),
                    };
                    let id = agreement_id(&message.id);
                    let instruction = part_instruction(&message.instruction);
                    [to_part_holder(message), id, instruction, wanted].concat()
                }
                CoallocationMessage::Answer { message, .. } => {
                    let id = agreement_id(&message.id);
                    [from_part_holder(message), id, part_vote(&message.answer)].concat()
                }
                _ => Row::new(),
            };
            [coallocation(it), inner].concat()
        }
        Message::Transaction(it) => {
            let inner = match it {
                TransactionMessage::Said { message, .. } => {
                    spoken_item(message).map(|item| ("message", Tells(item))).into_iter().collect()
                }
                _ => Row::new(),
            };
            [transaction(it), inner].concat()
        }
        Message::Share(it) => share(it),
        Message::Numbered(it) => {
            let inner = match it {
                NumberedMessage::Item { message, .. } => fields(message),
                NumberedMessage::Received { .. } => Row::new(),
            };
            [numbered(it), inner].concat()
        }
        Message::Planning(it) => {
            let inner = match it {
                PlanningMessage::Plan(inner) => planned(inner),
                PlanningMessage::TimesRequest(inner) => times_request(inner),
                PlanningMessage::Times(inner) => times(inner),
                PlanningMessage::Propose(inner) | PlanningMessage::RunInterval(inner) => {
                    interval_order(inner)
                }
                PlanningMessage::Loads(inner) => cluster_loads(inner),
                PlanningMessage::MachinesFree => vec![("", Tells(Item::Change))],
                _ => Row::new(),
            };
            [planning(it), inner].concat()
        }
        Message::Dispatch(it) => {
            let inner = match it {
                DispatchMessage::Dispatch(inner) => dispatched(inner),
                DispatchMessage::Moved(inner) => moved(inner),
                DispatchMessage::Progress { so_far: inner, .. } => so_far(inner),
                _ => Row::new(),
            };
            [dispatch(it), inner].concat()
        }
        Message::Information(it) => {
            let (InformationMessage::Status(inner) | InformationMessage::Report(inner)) = it;
            [information(it), status(inner), report(&inner.report)].concat()
        }
        Message::Data(it) => {
            let inner = match it {
                DataMessage::Transfer(inner) => transfer(inner),
                _ => Row::new(),
            };
            [data(it), inner].concat()
        }
        Message::Checkpoint(it) => {
            let inner = match it {
                CheckpointMessage::Saved(inner) | CheckpointMessage::CheckpointAvailable(inner) => {
                    saved(inner)
                }
                CheckpointMessage::Forget { .. } => Row::new(),
            };
            [checkpoint(it), inner].concat()
        }
        Message::Resource(it) => resource(it),
        Message::Run(it) => world(it),
        // An actor knows the reasons of its own timers.
        Message::Wake(
            Timer::RunEnds { .. }
            | Timer::PlanEnds { .. }
            | Timer::CheckpointDue { .. }
            | Timer::Settle
            | Timer::Reschedule
            | Timer::PlanDue
            | Timer::TasksEnd { .. }
            | Timer::TasksPlanEnds { .. }
            | Timer::EstimateReady { .. }
            | Timer::ThroughputSteady { .. }
            | Timer::MaintenanceAnnounced { .. }
            | Timer::MaintenanceBegins { .. }
            | Timer::MaintenanceEnds { .. }
            | Timer::JobReady { .. }
            | Timer::InputsArrive { .. }
            | Timer::PatienceOver { .. }
            | Timer::OffersDue { .. }
            | Timer::NextBag
            | Timer::NextTurn
            | Timer::JobsArrived
            | Timer::Reallocate
            | Timer::AgreementDue
            | Timer::RepeatDue
            | Timer::TryAgain { .. }
            | Timer::BeginAgain { .. }
            | Timer::IntervalBegins { .. }
            | Timer::IntervalEnds { .. }
            | Timer::LoadsSeen
            | Timer::LoadsChange
            | Timer::RestoreDue { .. }
            | Timer::DataArrive
            | Timer::Grid(_)
            | Timer::Other(_),
        ) => Row::new(),
    }
}

/// Items that a message always discloses, and all items that it may disclose.
fn expected(message: &Message) -> (BTreeSet<Item>, BTreeSet<Item>) {
    let (mut sure, mut most) = (BTreeSet::new(), BTreeSet::new());
    for (_, field) in fields(message) {
        match field {
            Tells(item) => {
                sure.insert(item);
                most.insert(item);
            }
            TellsUpTo(items) => most.extend(items),
            Names | Returned | Asks | Counts | Clock | Program | Public => {}
        }
    }
    (sure, most)
}

#[test]
fn rows_are_what_the_fields_of_messages_tell() {
    let mut pool = Pool::default();
    for (name, world) in worlds() {
        let end = run(world(), Driver::Sequential, &mut pool, &AtomicBool::new(false));
        end.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // Neither party is a user, because news about its own job discloses nothing to a user.
    let between = Parties { from: ActorKind::Provider, to: ActorKind::Metascheduler };
    let mut told_by: BTreeMap<&str, (BTreeSet<Item>, BTreeSet<Item>)> = BTreeMap::new();
    for (_, message) in &pool.0 {
        let mut told = BTreeSet::new();
        message.disclose(between, &mut |item, count| {
            assert!(count > 0);
            told.insert(item);
        });
        let (sure, most) = expected(message);
        let kind = message.kind();
        assert!(told.is_superset(&sure), "{kind} tells {told:?}, not {sure:?}");
        assert!(told.is_subset(&most), "{kind} tells {told:?}, and not more than {most:?}");
        let all = told_by.entry(kind).or_default();
        all.0.extend(told);
        all.1.extend(most);
    }
    assert!(told_by.len() >= 73, "{}", told_by.len());
    let kinds = Message::kinds();
    assert!(told_by.keys().all(|kind| kinds.contains(kind)) && kinds.len() > told_by.len());
    // Each allowed item must be disclosed at times. The exceptions are the whole queue, which no policy requests, the
    // contents of other instructions and votes, and receipts, because no bag is unheld in these worlds.
    for (kind, (told, most)) in told_by {
        let never: BTreeSet<Item> = most.difference(&told).copied().collect();
        let allowed: &[Item] = match kind {
            "offers" | "not_ready" => &[Item::Estimate, Item::Queue],
            "ready" => &LADDER,
            "committed" => &VOTE,
            "prepare" | "abort" => &[Item::BagCompletion],
            "reconfigure" | "leave" | "commit_part" | "abort_part" => &[Item::Job],
            "part_ready" | "part_committed" | "part_not_ready" | "part_not_before" => {
                &[Item::Change, Item::Estimate]
            }
            // Messages of protocols have a table of their own.
            kind if kind.starts_with("tx_") => &SPOKEN,
            _ => &[],
        };
        assert!(never.iter().all(|item| allowed.contains(item)), "{kind} never tells {never:?}");
    }
}

#[test]
fn news_of_one_bag_is_about_that_bag() {
    let about = |bags: &[u32]| {
        let entries = bags.iter().map(|&bag| (JobId(bag), Time::ZERO)).collect();
        Message::Share(ShareMessage::NewCompletionTimes { entries }).discloses_about()
    };
    assert_eq!(about(&[7]), Some(JobId(7)));
    assert_eq!(about(&[7, 8]), None);
}

#[test]
fn what_a_user_hears_of_its_own_job_is_no_news() {
    let started = Message::Submission(SubmissionMessage::Started { job: JobId(7) });
    let told = |to| {
        let mut told = Vec::new();
        let between = Parties { from: ActorKind::Provider, to };
        started.disclose(between, &mut |item, count| told.push((item, count)));
        told
    };
    assert_eq!(told(ActorKind::Metascheduler), [(Item::JobStatus, 1)]);
    assert_eq!(told(ActorKind::User), []);
}
