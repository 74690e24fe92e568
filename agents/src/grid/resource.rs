//! A computational resource: it runs jobs in shares, saves their progress, and fails.
//!
//! ```text
//!  Dispatch ─▶ prepare ─▶ input ─▶ recovery ─▶ compute ⇄ write checkpoint ─▶ output ─▶ Delivered
//!              └───────── slot held, no computing ────┘                     └─ no slot ─┘
//! ```

mod alone;
mod checkpointing;
mod deliveries;
mod end;
mod glimpse;
mod load;
mod routine;
mod stages;

use std::sync::Arc;

use haggle_grids::{
    CheckpointCost, FailureHistory, IntervalRule, IntervalState, ResourceId, Rounds, Share,
    Sharing, TimeShared, make_room,
};
use haggle_model::grid::{CheckpointRecord, DataMoved, KeptCheckpoint};
use haggle_model::job::HiddenRunTime;
use haggle_model::network::Node;
use haggle_model::progress::Progress;
use haggle_model::shared;
use haggle_model::work::{Speed, Work};
use haggle_model::workflow::TaskData;
use haggle_model::{ActorId, JobId, Observation, ProcessorSet, ProviderId, Span, Time};
use haggle_scheduling::checkpoints::MeanFailure;

use litemap::LiteMap;
use serde::{Deserialize, Serialize};

use crate::protocol::{
    DataMessage, Dispatch, DispatchMessage, GridTimer, InformationMessage, Message,
    ResourceMessage, RunMessage, Saved, SoFar, Status, Timer,
};
use crate::{Actor, Outbox, Seats};

pub use load::BackgroundLoad;

/// Data of the jobs of one workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobData {
    /// Bytes that must arrive before it computes.
    pub input: u64,
    /// Bytes that must be sent before it is done.
    pub output: u64,
    /// Bytes of a checkpoint.
    pub checkpoint: u64,
    /// The share of a resource it requests, if shares are reserved.
    pub share: Share,
}

impl JobData {
    /// The data of one job: its own, if it has some, or the same as its workload.
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

/// Rules by which jobs save their progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoints {
    /// Times of checkpoints.
    pub rule: IntervalRule,
    /// C: time for which a checkpoint stops a job.
    pub cost: CheckpointCost,
    /// R0: time of recovery after the checkpoint has arrived.
    pub recovery: Span,
    /// Rule by which a resource estimates its mean time between failures.
    pub mean_failure: MeanFailure,
}

/// Addresses and nodes of the actors with which a resource exchanges messages.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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

/// Rules common to all resources of a grid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResourceRules {
    /// The addresses of the grid's actors.
    pub seats: Seats,
    /// Addresses and nodes of services.
    pub home: Home,
    /// Data of jobs, by workload.
    pub data: Vec<JobData>,
    /// Rules by which jobs save their progress, if they do.
    pub checkpoints: Option<Checkpoints>,
    /// Time for which a slot is held before the input is requested.
    pub prepare: Span,
    /// True if an output arrives even if its resource fails meanwhile.
    pub output_survives: bool,
    /// True if a job that starts from a checkpoint needs its input again.
    pub restart_needs_input: bool,
    /// True if jobs may move from resource to resource.
    pub moves: bool,
    /// True if the dispatcher may ask for their progress.
    pub asks_progress: bool,
    /// Times at which the dispatcher decides.
    pub rounds: Rounds,
    /// True if every checkpoint is recorded; otherwise only checkpoints from which an attempt may
    /// start.
    pub records_all: bool,
}

/// A resource.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GridResource {
    id: ResourceId,
    #[serde(with = "shared")]
    rules: Arc<ResourceRules>,
    machine: TimeShared,
    /// Mostly one or two jobs: a list takes a tenth of the memory of a tree.
    replicas: LiteMap<JobId, Box<Replica>>,
    transfers: LiteMap<u32, (JobId, Purpose)>,
    transfers_started: u32,
    /// True if the timer for the next end is set.
    awaits_end: bool,
    history: FailureHistory,
    /// Progress of jobs that died here, until the dispatcher knows it, if it may ask.
    dead: LiteMap<JobId, Work>,
    down_since: Option<Time>,
    down: Span,
    attempts: u64,
    deliveries: deliveries::Deliveries,
    load: Option<Box<load::Load>>,
    /// Its own agenda between messages; `None` = every event goes over the clock of the run.
    alone: Option<Box<alone::Alone>>,
}

/// A job at a resource.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Replica {
    number: u32,
    parent: Option<u32>,
    data: JobData,
    length: Work,
    progress: Option<Box<Progress>>,
    from: Work,
    dispatched: Time,
    /// Time at which it gave its slot back, while it is leaving.
    left: Option<Time>,
    started: Option<Time>,
    stage: Stage,
    /// Time at which the stage began, or at which the job last started to compute.
    since: Time,
    computing: Span,
    writing: Span,
    checkpointing: bool,
    /// State for the time of its next checkpoint, while it has a timer for that.
    interval: Option<IntervalState>,
    /// Numbers of checkpoints begun, written, and usable.
    requested: u32,
    written: u32,
    available: u32,
    /// True if a checkpoint is on its way to the server.
    sending: bool,
    /// The number of the newest checkpoint written meanwhile, which is sent next.
    unsent: Option<u32>,
    /// Checkpoints on record with their numbers, in order.
    checkpoints: Vec<(u32, CheckpointRecord)>,
    /// The newest usable checkpoint, while the dispatcher has not been notified of it.
    untold: Option<(u32, Saved)>,
    omitted: u32,
    kept: Option<KeptCheckpoint>,
    /// Data that have arrived for it, or from it.
    moved: DataMoved,
}

impl Replica {
    /// Progress of a job that is leaving.
    fn leaving_with(&self) -> Option<Work> {
        let (_, saved) = self.checkpoints.last().filter(|_| self.left.is_some())?;
        Some(saved.done)
    }
}

/// Stage of a job at a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// It waits to be prepared, for data, or for recovery.
    Waiting,
    /// It waits for the resource from which it comes.
    Expected,
    /// It computes.
    Computing,
    /// It writes a checkpoint. Then it goes to this address, if there is one.
    Writing(Option<ActorId>),
    /// It has given its slot back and saves its progress. Then it goes to this address, or else to
    /// the checkpoint server.
    Leaving(Option<ActorId>),
    /// It has been computed and given its slot back, and its output waits or is on its way.
    Output,
}

/// Purpose of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
            // No job is here yet, so the list of lost jobs stays empty.
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
        // A job that should wait for its data from another resource would wait forever if no resource sends any.
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
        // The user may have stated a shorter time than the job takes. A checkpoint never holds more
        // than the whole job.
        let from = from.min(length);
        if self.machine.reserve(now, job, length, from, share).is_err() {
            out.send(self.rules.home.dispatcher, DispatchMessage::Refused { job, number });
            return;
        }
        // The dispatcher knows of the loss if it sends the job again.
        self.dead.remove(&job);
        // Counted after the reservation: a refused attempt has not been here.
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
            if dispatch.runs {
                self.compute(now, job, out);
            } else if self.rules.prepare > Span::ZERO {
                let at = now + self.rules.prepare;
                self.set(at, GridTimer::Prepared { job }, out);
            } else {
                self.fetch_input(now, job, out);
            }
        }
    }

    /// Sets a timer, on the resource's own agenda if it has one.
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

    /// Sets the wake-up for the next end of a job.
    fn await_completion(&mut self, out: &mut Outbox) {
        // The flag is set again if there is a next end.
        let awaited = std::mem::take(&mut self.awaits_end);
        match self.machine.next_completion() {
            Some(at) => {
                self.awaits_end = true;
                self.set(at, GridTimer::Ends, out);
            }
            None if awaited => self.stop(GridTimer::Ends, out),
            // Most resources of a grid are idle, so a timer that is not set is not stopped again.
            None => {}
        }
    }

    fn on_failed(&mut self, now: Time, out: &mut Outbox) {
        if self.down_since.is_some() {
            // A resource that was down at the start reports that once.
            if now > Time::ZERO || self.history.failures() > 0 {
                return;
            }
        } else {
            // Only here: an outage from the start on ends no time between failures.
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
                // A job without a slot on the machine has either left with saved progress or been computed.
                let saved = || replica.leaving_with().unwrap_or(replica.length);
                let done = self.machine.progress(now, job).unwrap_or_else(saved);
                let computes = replica.stage == Stage::Computing;
                // The stretch under way is added to `computing` only at its end.
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
            // The resource has handled the due events before this message.
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
            // The policy of this grid moves no jobs.
            DispatchMessage::Moved(_)
            | DispatchMessage::Move { .. }
            | DispatchMessage::Leave { .. }
                if !self.rules.moves =>
            {
                return false;
            }
            DispatchMessage::Moved(moved) => self.on_moved(now, &moved, out),
            // All other messages must come from the dispatcher.
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
        // Events on the own agenda that are due come before the message.
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
        // Any message may have changed the number of sharers, and with it the next end.
        self.await_completion(out);
        self.await_others(now, out);
    }
}
