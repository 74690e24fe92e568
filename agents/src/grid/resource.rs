//! A computational resource: runs jobs by shares, saves their progress, fails.
//!
//! ```text
//!  Dispatch ─▶ prepare ─▶ input ─▶ recovery ─▶ compute ⇄ write checkpoint ─▶ output ─▶ Delivered
//!              └───────── slot held, no computing ────┘                     └─ no slot ─┘
//! ```

mod alone;
mod checkpointing;
mod deliveries;
mod end;
mod load;
mod routine;
mod stages;

use std::sync::Arc;

use haggle_model::grid::{CheckpointRecord, DataMoved, KeptCheckpoint};
use haggle_model::job::HiddenRunTime;
use haggle_model::network::Node;
use haggle_model::progress::Progress;
use haggle_model::work::{Speed, Work};
use haggle_model::workflow::TaskData;
use haggle_model::{ActorId, JobId, Observation, ProcessorSet, ProviderId, Span, Time};
use haggle_scheduling::checkpoints::MeanFailure;
use haggle_scheduling::grid::{
    CheckpointCost, FailureHistory, IntervalRule, IntervalState, ResourceId, Rounds, Share,
    Sharing, TimeShared, make_room,
};

use litemap::LiteMap;

use crate::protocol::{
    DataMessage, Dispatch, DispatchMessage, GridTimer, InformationMessage, Message,
    ResourceMessage, RunMessage, Saved, SoFar, Status, Timer,
};
use crate::{Actor, Outbox, Seats};

pub use load::BackgroundLoad;

/// What a job of one workload brings along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobData {
    /// Bytes that have to be there before it computes.
    pub input: u64,
    /// Bytes that have to be sent away before it is done.
    pub output: u64,
    /// Bytes of a checkpoint.
    pub checkpoint: u64,
    /// The part of a resource it asks for, where parts are reserved.
    pub share: Share,
}

impl JobData {
    /// The same of a job of the workload that brings along something else, if it does.
    pub fn of(self, own: Option<TaskData>) -> JobData {
        match own {
            Some(TaskData { input, output, checkpoint }) => {
                JobData { input, output, checkpoint, ..self }
            }
            None => self,
        }
    }
}

impl Default for JobData {
    fn default() -> JobData {
        JobData { input: 0, output: 0, checkpoint: 0, share: Share::WHOLE }
    }
}

/// How jobs save their progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    /// When.
    pub rule: IntervalRule,
    /// C: for how long that stops a job.
    pub cost: CheckpointCost,
    /// R0: how long recovery takes once the checkpoint is there.
    pub recovery: Span,
    /// How a resource estimates its mean time between failures.
    pub mean_failure: MeanFailure,
}

/// Where the others are that a resource talks to.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// The dispatcher.
    pub dispatcher: ActorId,
    /// The information service.
    pub information: ActorId,
    /// The network that carries data.
    pub network: ActorId,
    /// The checkpoint server.
    pub checkpoints: ActorId,
    /// The storage, if it has limits.
    pub storage: Option<ActorId>,
    /// The node of storage and users.
    pub storage_node: Node,
    /// The node of the checkpoint server.
    pub checkpoint_node: Node,
}

/// What all resources of a grid have in common.
#[derive(Clone, Debug)]
pub struct ResourceRules {
    /// The numbers of the grid's actors.
    pub seats: Seats,
    /// Who is where.
    pub home: Home,
    /// By workload.
    pub data: Vec<JobData>,
    /// How jobs save their progress, if any does.
    pub checkpoints: Option<Checkpoints>,
    /// How long a slot is held before the input is asked for.
    pub prepare: Span,
    /// Whether an output arrives though its resource fails meanwhile.
    pub output_survives: bool,
    /// Whether a job that starts from a checkpoint needs its input again.
    pub restart_needs_input: bool,
    /// Whether jobs may move from resource to resource.
    pub moves: bool,
    /// Whether the dispatcher may ask how far they are.
    pub asks_progress: bool,
    /// When the dispatcher decides.
    pub rounds: Rounds,
    /// Whether every checkpoint is taken down, or only those that an attempt may start from.
    pub records_all: bool,
}

/// A resource.
#[derive(Debug)]
pub struct GridResource {
    id: ResourceId,
    rules: Arc<ResourceRules>,
    machine: TimeShared,
    /// Mostly one or two: a list takes a tenth of the room of a tree.
    replicas: LiteMap<JobId, Box<Replica>>,
    transfers: LiteMap<u32, (JobId, Purpose)>,
    transfers_started: u32,
    /// Whether the timer for the next end is set.
    awaits_end: bool,
    history: FailureHistory,
    /// What jobs had done that died here, until the dispatcher knows, if it may ask.
    dead: LiteMap<JobId, Work>,
    down_since: Option<Time>,
    down: Span,
    attempts: u64,
    deliveries: deliveries::Deliveries,
    load: Option<Box<load::Load>>,
    /// What it does by itself between messages; `None` = everything goes over the clock of all.
    alone: Option<Box<alone::Alone>>,
}

/// A job at a resource.
#[derive(Debug)]
struct Replica {
    number: u32,
    parent: Option<u32>,
    data: JobData,
    length: Work,
    progress: Option<Box<Progress>>,
    from: Work,
    dispatched: Time,
    /// When it gave its slot back, while it is leaving.
    left: Option<Time>,
    started: Option<Time>,
    stage: Stage,
    /// When the stage began, or the job last started to compute.
    since: Time,
    computing: Span,
    writing: Span,
    checkpointing: bool,
    /// What the time of its next checkpoint depends on, while it has a timer for that.
    interval: Option<IntervalState>,
    /// How many checkpoints were begun, written, and could be used.
    requested: u32,
    written: u32,
    available: u32,
    /// Whether one is on its way to the server.
    sending: bool,
    /// The number of the newest one written meanwhile, which goes next.
    unsent: Option<u32>,
    /// Those on record, each with its number, in order.
    checkpoints: Vec<(u32, CheckpointRecord)>,
    /// The newest one that can be used, while the dispatcher has not been told of it.
    untold: Option<(u32, Saved)>,
    omitted: u32,
    kept: Option<KeptCheckpoint>,
    /// What has arrived for it, or from it.
    moved: DataMoved,
}

impl Replica {
    /// What has been done of a job that is leaving.
    fn leaving_with(&self) -> Option<Work> {
        let (_, saved) = self.checkpoints.last().filter(|_| self.left.is_some())?;
        Some(saved.done)
    }
}

/// Where a job is on its way through a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It waits to be prepared, for data, or for recovery.
    Waiting,
    /// It waits for the resource it comes from.
    Expected,
    /// It computes.
    Computing,
    /// It writes a checkpoint, and goes elsewhere after that if there is an address.
    Writing(Option<ActorId>),
    /// It has given its slot back, saves its progress, and goes to that address, or else to the
    /// checkpoint server.
    Leaving(Option<ActorId>),
    /// It has been computed and given its slot back, and its output waits or is on its way.
    Output,
}

/// What a transfer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Input,
    Recovery,
    /// The checkpoint of this number.
    Checkpoint(u32),
    Output,
    /// Input and checkpoint of a job that has moved here from that resource.
    Move(ProviderId),
}

impl GridResource {
    /// An idle resource, up or down at time zero.
    pub fn new(
        id: ResourceId,
        rules: Arc<ResourceRules>,
        capacity: Speed,
        sharing: Sharing,
        up: bool,
    ) -> GridResource {
        let mut machine = TimeShared::new(capacity, sharing);
        if !up {
            machine.fail(Time::ZERO, &mut Vec::new());
        }
        GridResource {
            id,
            rules,
            machine,
            replicas: LiteMap::with_capacity(1),
            transfers: LiteMap::with_capacity(1),
            transfers_started: 0,
            awaits_end: false,
            history: FailureHistory::new(Time::ZERO),
            dead: LiteMap::new(),
            down_since: (!up).then_some(Time::ZERO),
            down: Span::ZERO,
            attempts: 0,
            deliveries: deliveries::Deliveries::default(),
            load: None,
            alone: None,
        }
    }

    fn provider(&self) -> ProviderId {
        ProviderId(self.rules.seats.place(self.id.0).0)
    }

    fn node(&self) -> Node {
        Node::Resource(self.id.index())
    }

    fn on_dispatch(&mut self, now: Time, dispatch: &Dispatch, out: &mut Outbox) {
        let Dispatch { job, number, workload, from, .. } = *dispatch;
        let is_meant = self.rules.moves || !dispatch.moves;
        let of_workload = self.rules.data.get(usize::from(workload));
        let Some(data) = of_workload.filter(|_| is_meant && !self.replicas.contains_key(&job))
        else {
            out.refuse(self.rules.home.dispatcher);
            return;
        };
        let data = data.of(dispatch.data);
        let length = work_of(dispatch.run_time);
        let share = data.share;
        // A user may have said less than the job takes: what a checkpoint holds is never more.
        let from = from.min(length);
        if self.machine.reserve(now, job, length, from, share).is_err() {
            out.send(self.rules.home.dispatcher, DispatchMessage::Refused { job, number });
            return;
        }
        self.dead.remove(&job);
        self.attempts += 1;
        let stage = if dispatch.moves { Stage::Expected } else { Stage::Waiting };
        let replica = Replica {
            number,
            parent: dispatch.parent,
            data,
            length,
            progress: dispatch.progress.clone(),
            from,
            dispatched: now,
            left: None,
            started: None,
            stage,
            since: now,
            computing: Span::ZERO,
            writing: Span::ZERO,
            checkpointing: dispatch.checkpointing,
            interval: None,
            requested: 0,
            written: 0,
            available: 0,
            sending: false,
            unsent: None,
            checkpoints: Vec::new(),
            untold: None,
            omitted: 0,
            kept: None,
            moved: DataMoved::default(),
        };
        make_room(&mut self.replicas);
        self.replicas.insert(job, Box::new(replica));
        if stage == Stage::Waiting {
            if self.rules.prepare > Span::ZERO {
                let at = now + self.rules.prepare;
                self.set(at, GridTimer::Prepared { job }, out);
            } else {
                self.fetch_input(now, job, out);
            }
        }
    }

    /// Sets a timer, on an agenda of its own if it has one.
    fn set(&mut self, at: Time, timer: GridTimer, out: &mut Outbox) {
        match &mut self.alone {
            Some(alone) => alone.set(at, timer),
            None => out.set(at, timer),
        }
    }

    fn stop(&mut self, timer: GridTimer, out: &mut Outbox) {
        match &mut self.alone {
            Some(alone) => alone.stop(timer),
            None => out.stop(timer),
        }
    }

    /// Sees to it that the resource wakes up when the next job has been computed.
    fn await_completion(&mut self, out: &mut Outbox) {
        let awaited = std::mem::take(&mut self.awaits_end);
        match self.machine.next_completion() {
            Some(at) => {
                self.awaits_end = true;
                self.set(at, GridTimer::Ends, out);
            }
            None if awaited => self.stop(GridTimer::Ends, out),
            // Most of a grid is idle: nobody has to look whether a timer is set that is not.
            None => {}
        }
    }

    fn on_failed(&mut self, now: Time, out: &mut Outbox) {
        if self.down_since.is_some() {
            // It was down when the run began.
            if now > Time::ZERO || self.history.failures() > 0 {
                return;
            }
        } else {
            self.history.failed(now);
            self.lose_all(now, out);
        }
        self.down_since = Some(now);
        self.observe_outage(true, out);
        self.tell_status(now, out);
    }

    fn on_restored(&mut self, now: Time, out: &mut Outbox) {
        let Some(since) = self.down_since.take() else { return };
        self.down += now - since;
        self.machine.restore(now);
        self.observe_outage(false, out);
        self.tell_status(now, out);
    }

    fn observe_outage(&self, failed: bool, out: &mut Outbox) {
        let (provider, processors) = (self.provider(), ProcessorSet::range(0, 1));
        out.observe(match failed {
            true => Observation::ProcessorsFailed { provider, processors },
            false => Observation::ProcessorsRestored { provider, processors },
        });
    }

    fn tell_status(&self, now: Time, out: &mut Outbox) {
        let jobs = self.replicas.keys().copied().collect();
        let up = self.machine.is_up();
        let status = Status::new(self.id, now, up, self.machine.avail(), jobs);
        out.send(self.rules.home.information, InformationMessage::Status(status));
    }

    fn on_progress_request(&mut self, now: Time, job: JobId, known: u32, out: &mut Outbox) {
        let dead = self.dead.get(&job).copied().unwrap_or(Work::ZERO);
        let (done, computes, computing, progress) = match self.replicas.get(&job) {
            Some(replica) => {
                let saved = || replica.leaving_with().unwrap_or(replica.length);
                let done = self.machine.progress(now, job).unwrap_or_else(saved);
                let computes = replica.stage == Stage::Computing;
                let since = if computes { now - replica.since } else { Span::ZERO };
                (done, computes, replica.computing + since, replica.progress.as_ref())
            }
            None => (dead, false, Span::ZERO, None),
        };
        let reports = progress.map(|it| it.reports(done.as_mi_f64(), known as usize));
        let reports = reports.unwrap_or_default();
        let so_far = Box::new(SoFar { done, computes, computing, reports });
        let answer = DispatchMessage::Progress { job, so_far };
        out.send(self.rules.home.dispatcher, answer);
    }

    fn on_timer(&mut self, now: Time, timer: GridTimer, out: &mut Outbox) -> bool {
        match timer {
            GridTimer::Ends => {
                self.awaits_end = false;
                self.on_ends(now, out);
            }
            GridTimer::Prepared { job } => self.fetch_input(now, job, out),
            GridTimer::Recovered { job } => self.compute(now, job, out),
            GridTimer::CheckpointDue { job } => self.on_checkpoint_due(now, job, out),
            GridTimer::Written { job } => self.on_written(now, job, out),
            GridTimer::LoadChanges => self.on_load_changes(now, out),
            // It has caught up with the others before it looks at any message.
            GridTimer::Seen => {}
            GridTimer::Tell => self.on_tell(out),
            _ => return false,
        }
        true
    }

    fn on_dispatch_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: DispatchMessage,
        out: &mut Outbox,
    ) -> bool {
        let is_order = from == self.rules.home.dispatcher;
        match message {
            // Nobody moves jobs here.
            DispatchMessage::Moved(_)
            | DispatchMessage::Move { .. }
            | DispatchMessage::Leave { .. }
                if !self.rules.moves =>
            {
                return false;
            }
            DispatchMessage::Moved(moved) => self.on_moved(now, &moved, out),
            _ if !is_order => return false,
            DispatchMessage::Dispatch(dispatch) => self.on_dispatch(now, &dispatch, out),
            DispatchMessage::Cancel { job } => self.on_cancel(now, job, out),
            DispatchMessage::Checkpointing { job, on } => self.on_checkpointing(now, job, on, out),
            DispatchMessage::Move { job, to } => self.on_move(now, job, to, out),
            DispatchMessage::Leave { job, to } => self.on_leave(now, job, to, out),
            DispatchMessage::ProgressRequest { job, known } => {
                self.on_progress_request(now, job, known, out);
            }
            _ => return false,
        }
        true
    }

    fn on_data(
        &mut self,
        now: Time,
        from: ActorId,
        message: DataMessage,
        out: &mut Outbox,
    ) -> bool {
        let (of_network, of_storage) =
            (from == self.rules.home.network, Some(from) == self.rules.home.storage);
        match message {
            DataMessage::Transferred { number, .. } if of_network => {
                self.on_transferred(now, number, out);
            }
            DataMessage::TransferAborted { number } if of_network => {
                self.on_stranded(now, number, out);
            }
            DataMessage::Room { job } if of_storage => self.send_output(now, job, out),
            _ => return false,
        }
        true
    }
}

/// A job's length: 1 s on the reference processor is 1 MI.
pub(super) fn work_of(run_time: HiddenRunTime) -> Work {
    Speed::from_mips(1).over(run_time.reveal_to_machine())
}

impl Actor for GridResource {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        self.catch_up(now, message.phase(), out);
        let expected = match message {
            Message::Dispatch(message) => self.on_dispatch_message(now, from, message, out),
            Message::Data(message) => self.on_data(now, from, message, out),
            Message::Wake(Timer::Grid(timer)) => self.on_timer(now, timer, out),
            Message::Resource(ResourceMessage::Failed { .. }) => {
                self.on_failed(now, out);
                true
            }
            Message::Resource(ResourceMessage::Restored { .. }) => {
                self.on_restored(now, out);
                true
            }
            Message::Run(RunMessage::RunOver) => {
                self.on_run_over(now, out);
                true
            }
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
        self.await_completion(out);
        self.await_others(now, out);
    }
}
