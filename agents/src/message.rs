//! Every message there is: all causes of change on one screen.

use haggle_model::job::{HiddenRunTime, Lot};
use haggle_model::{
    ActorId, Disclosure, Job, JobClass, JobId, JobOutcome, JobRecord, Observation, ProcessorSet,
    Refusal, Span, Time,
};
use haggle_scheduling::Award;
use haggle_scheduling::composition::AnyView;

use crate::grid::{GridMessage, GridTimer};

/// What one actor says to another, or to itself later.
///
/// Grouped by protocol. Each variant says who sends it and what it discloses
/// about the sender; jobs travel in a box that is handed on, never copied.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    // Submission.
    /// Workload to user: it is time to submit this job.
    JobDue(Box<Job>),
    /// User to provider (local) or metascheduler (external), metascheduler to
    /// provider: run this job. Discloses the job, but not its run time.
    Submit(Box<Submission>),
    /// Provider, metascheduler or dispatcher to submitter: the job is queued, or has its place
    /// where jobs do not wait. Discloses nothing else.
    Accepted {
        /// The job.
        job: JobId,
    },
    /// Provider or metascheduler to submitter: the job is not taken, here it is
    /// back. Discloses the reason.
    Refused {
        /// The job, unchanged.
        submission: Box<Submission>,
        /// Why.
        reason: Refusal,
    },
    /// User to where it submitted, metascheduler to provider: take the job out of the queue.
    Withdraw {
        /// The job.
        job: JobId,
    },
    /// Answer to [`Message::Withdraw`]: too late, the job has started or is over.
    NotWithdrawn {
        /// The job.
        job: JobId,
    },

    // Information.
    /// Metascheduler to provider: when would such a job end, were it submitted now?
    EstimateRequest {
        /// The job it is about.
        job: JobId,
        /// Processors it needs.
        processors: u32,
        /// Its requested time on the reference processor.
        requested_time: Option<Span>,
    },
    /// Provider to metascheduler: the start and end of that job as the queue
    /// stands. Discloses these two times.
    Estimate {
        /// The job it is about.
        job: JobId,
        /// Estimated start.
        start: Time,
        /// Estimated completion, at the requested time on this provider's processors.
        completion: Time,
    },
    /// Metascheduler to provider: how loaded are you?
    LoadRequest {
        /// The job it is asked for.
        job: JobId,
    },
    /// Provider to metascheduler: how long it would take to work off all it
    /// has, on all its processors. Discloses that one number.
    Load {
        /// The job it was asked for.
        job: JobId,
        /// Remaining planned work / (processors x speed).
        drain_time: Span,
    },
    /// Provider to metascheduler: no answer to a request. Discloses the reason.
    NoAnswer {
        /// The job it was asked for.
        job: JobId,
        /// Why.
        reason: Refusal,
    },

    // Negotiation over bags of tasks.
    /// Metascheduler to provider: what would you do of this bag? Discloses the
    /// bag as its user describes it.
    Call(Box<Call>),
    /// Provider to metascheduler: its offers, and what the level asked for adds.
    Offers {
        /// The bag.
        job: JobId,
        /// Which of the answers to this call it is, counted from 1. How often the plan has
        /// changed is nobody's business.
        answer: u32,
        /// When they were made, and until when they can be taken up.
        valid: (Time, Time),
        /// Offers, and whatever else the level includes.
        view: Box<AnyView>,
    },
    /// Provider to metascheduler: its plan has changed since it made offers for
    /// this bag. Discloses that it did.
    Probe {
        /// The bag.
        job: JobId,
        /// The answer with these offers; all before it are stale, too.
        answer: u32,
    },
    /// Metascheduler to provider: make your offers for this bag anew.
    Refresh {
        /// The bag.
        job: JobId,
    },
    /// Metascheduler to provider: hold this part of the bag for me. Discloses
    /// what of the offer is wanted.
    Prepare {
        /// The bag.
        job: JobId,
        /// What is wanted of it.
        award: Box<Award>,
    },
    /// Provider to metascheduler: the part is held. Discloses its planned completion.
    Ready {
        /// The bag.
        job: JobId,
        /// Planned completion, not later than offered.
        completion: Time,
    },
    /// Provider to metascheduler: that is no longer possible, this is.
    NotReady {
        /// The bag.
        job: JobId,
        /// Which of the answers to this call it is.
        answer: u32,
        /// When the new offers were made, and until when they can be taken up.
        valid: (Time, Time),
        /// New offers.
        view: Box<AnyView>,
    },
    /// Metascheduler to provider: run what you hold. Discloses when the whole bag
    /// is expected to be done, if providers are to coordinate.
    Commit {
        /// The bag.
        job: JobId,
        /// Completion of the whole bag.
        expected: Option<Time>,
        /// Tasks to run where nothing is held: as many as that, whenever they fit.
        unheld: u32,
    },
    /// Provider to metascheduler: its share of the bag is queued. If nothing was held, or no
    /// more, discloses its planned completion; otherwise that is as it was.
    Committed {
        /// The bag.
        job: JobId,
        /// Planned completion of what was not held; [`Time::FOREVER`] = nobody can say.
        completion: Option<Time>,
    },
    /// Metascheduler to provider: give up what you hold; another round follows.
    Abort {
        /// The bag.
        job: JobId,
    },
    /// Metascheduler to provider: forget the bag, it goes elsewhere.
    Release {
        /// The bag.
        job: JobId,
    },
    /// Metascheduler to user, when all providers have committed: the whole bag will be done then.
    Promise {
        /// The bag.
        job: JobId,
        /// Its deadline, or the earliest completion there is.
        completion: Time,
    },

    // Rescheduling.
    /// Provider to metascheduler: bags of which it held the last task will be
    /// done there earlier. Discloses these times.
    NewCompletionTimes {
        /// (bag, expected completion at this provider).
        entries: Vec<(JobId, Time)>,
    },
    /// Metascheduler to provider: the whole bag is expected to be done then.
    BagCompletion {
        /// The bag.
        job: JobId,
        /// Its expected completion.
        completion: Time,
    },

    // Resources.
    /// The failures of a run to nature: this resource fails, and is back then.
    OutageDue {
        /// Its number in nature's list.
        resource: u32,
        /// When it is back; [`Time::FOREVER`] = never.
        restore: Time,
    },
    /// Nature to provider: processors of yours fail now.
    Failed {
        /// The provider's own numbers.
        processors: ProcessorSet,
    },
    /// Nature to provider: processors of yours are back.
    Restored {
        /// The provider's own numbers.
        processors: ProcessorSet,
    },

    // The run.
    /// The clock to everybody: the run stops now. What you hold is unfinished.
    RunOver,

    // Execution.
    /// Provider to metascheduler: the first tasks of its share have started.
    ShareStarted {
        /// The bag.
        job: JobId,
    },
    /// Provider to metascheduler: all tasks of its share are over.
    ShareFinished {
        /// The bag.
        job: JobId,
        /// How they ended; the worst of them.
        outcome: JobOutcome,
    },
    /// Provider to submitter, metascheduler to user: the job has started.
    Started {
        /// The job.
        job: JobId,
    },
    /// Provider to submitter, metascheduler to user: the job is over.
    Finished {
        /// The job.
        job: JobId,
        /// How it ended.
        outcome: JobOutcome,
    },

    /// Between the actors of a grid.
    Grid(GridMessage),

    /// An actor to itself.
    Wake(Timer),
}

/// Why an actor wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Provider: the job in this slot has run to its end or to its limit.
    RunEnds {
        /// The slot of the provider.
        slot: u32,
    },
    /// Provider: the job in this slot has used up its planned time and goes on.
    PlanEnds {
        /// The slot of the provider.
        slot: u32,
    },
    /// Provider: something has ended early in this instant, and all else that ends in it has.
    Reschedule,
    /// Provider: a reservation of the plan is due.
    PlanDue,
    /// Provider: tasks of a share that run together have come to their end.
    TasksEnd {
        /// The slot of the share.
        slot: u32,
        /// Which of the share's runs.
        run: u32,
    },
    /// Provider: tasks of a share that run together have used up their planned time and go on.
    TasksPlanEnds {
        /// The slot of the share.
        slot: u32,
        /// Which of the share's runs.
        run: u32,
    },
    /// Provider: the run time estimate of this bag is ready.
    EstimateReady {
        /// The bag.
        job: JobId,
    },
    /// User: the job has waited as long as the user will wait.
    PatienceOver {
        /// The job.
        job: JobId,
    },
    /// Metascheduler: this bag has waited for offers as long as its user will wait.
    OffersDue {
        /// The bag.
        job: JobId,
    },
    /// Metascheduler: this instant's messages are delivered, the next bag can be taken up.
    NextBag,
    /// Nature: this resource is back.
    RestoreDue {
        /// Its number in nature's list.
        resource: u32,
    },
    /// An actor of a grid.
    Grid(GridTimer),
    /// An actor of somebody else's: whatever it has in mind.
    Other(u64),
}

/// A metascheduler's call for offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The bag.
    pub job: JobId,
    /// Its tasks, each on one processor.
    pub tasks: u32,
    /// The user's estimate for one task on the reference processor.
    pub task_time: Span,
    /// The program itself: a provider that profiles runs it, and its machine will.
    pub program: HiddenRunTime,
    /// By what is drawn for the program, wherever it is run.
    pub lot: Lot,
    /// When the user wants it done; `None` = as early as possible.
    pub deadline: Option<Time>,
    /// What the provider is asked to disclose.
    pub asks: Disclosure,
    /// Whether offers are wanted: a policy that places tasks in free time slots needs none.
    pub wants_offers: bool,
}

/// A job on its way to a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The job.
    pub job: Job,
    /// Who places it.
    pub class: JobClass,
    /// Who submitted it first.
    pub user: ActorId,
}

impl Submission {
    /// The run stops before any provider has queued the job.
    pub fn unfinished(self, now: Time) -> Observation {
        let Submission { job, class, .. } = self;
        let record = JobRecord::never_queued(job, class, JobOutcome::Unfinished, now);
        Observation::JobOver(Box::new(record))
    }
}

/// The part of an instant in which a message is delivered.
///
/// At one instant all submissions come first, then completions, then waiting work moves
/// up where something ended early, then come other messages, then decisions; a run may let
/// completions, and what moves up after them, come before submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Resources fail and come back.
    Resource = 0,
    /// Jobs are submitted.
    Submission = 1,
    /// Jobs end, and the news of when bags will: what one provider has to tell
    /// is heard before the next one reschedules.
    Completion = 2,
    /// Waiting work moves up, before a newcomer is offered what has become free.
    Rescheduling = 3,
    /// Everything else that is said.
    Conversation = 4,
    /// Plans and patience are due.
    Decision = 5,
}

impl Phase {
    /// Number of phases.
    pub const COUNT: usize = 6;
}

impl From<GridMessage> for Message {
    fn from(message: GridMessage) -> Message {
        Message::Grid(message)
    }
}

impl Message {
    /// Whether it would come again for ever, whatever becomes of the jobs: what fails
    /// and comes back, and the rounds of a scheduler.
    pub fn recurs(&self) -> bool {
        self.phase() == Phase::Resource
            || matches!(self, Message::Wake(Timer::Grid(GridTimer::Round)))
    }

    /// When in an instant it is delivered.
    pub fn phase(&self) -> Phase {
        match self {
            Message::OutageDue { .. }
            | Message::Failed { .. }
            | Message::Restored { .. }
            | Message::Wake(Timer::RestoreDue { .. }) => Phase::Resource,
            Message::JobDue(_) | Message::Submit(_) => Phase::Submission,
            Message::Wake(Timer::RunEnds { .. } | Timer::TasksEnd { .. })
            | Message::NewCompletionTimes { .. }
            | Message::BagCompletion { .. } => Phase::Completion,
            Message::Wake(Timer::Reschedule) => Phase::Rescheduling,
            Message::Wake(Timer::EstimateReady { .. } | Timer::OffersDue { .. }) => {
                Phase::Conversation
            }
            Message::Grid(message) => message.phase(),
            Message::Wake(Timer::Grid(timer)) => timer.phase(),
            Message::Wake(_) => Phase::Decision,
            _ => Phase::Conversation,
        }
    }

    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::JobDue(_) => "job_due",
            Message::Submit(_) => "submit",
            Message::Accepted { .. } => "accepted",
            Message::Refused { reason, .. } => match reason {
                Refusal::TooWide => "refused_too_wide",
                Refusal::NotDisclosed => "refused_not_disclosed",
                Refusal::NoProvider => "refused_no_provider",
                Refusal::WrongShape => "refused_wrong_shape",
                Refusal::NoLimit => "refused_no_limit",
                Refusal::NoRoom => "refused_no_room",
            },
            Message::Withdraw { .. } => "withdraw",
            Message::NotWithdrawn { .. } => "not_withdrawn",
            Message::EstimateRequest { .. } => "estimate_request",
            Message::Estimate { .. } => "estimate",
            Message::LoadRequest { .. } => "load_request",
            Message::Load { .. } => "load",
            Message::NoAnswer { reason, .. } => match reason {
                Refusal::TooWide => "no_answer_too_wide",
                Refusal::NotDisclosed => "no_answer_not_disclosed",
                Refusal::NoProvider => "no_answer_no_provider",
                Refusal::WrongShape => "no_answer_wrong_shape",
                Refusal::NoLimit => "no_answer_no_limit",
                Refusal::NoRoom => "no_answer_no_room",
            },
            Message::Call(_) => "call",
            Message::Offers { .. } => "offers",
            Message::Probe { .. } => "probe",
            Message::Refresh { .. } => "refresh",
            Message::Prepare { .. } => "prepare",
            Message::Ready { .. } => "ready",
            Message::NotReady { .. } => "not_ready",
            Message::Commit { .. } => "commit",
            Message::Committed { .. } => "committed",
            Message::Abort { .. } => "abort",
            Message::Release { .. } => "release",
            Message::Promise { .. } => "promise",
            Message::NewCompletionTimes { .. } => "new_completion_times",
            Message::BagCompletion { .. } => "bag_completion",
            Message::ShareStarted { .. } => "share_started",
            Message::ShareFinished { .. } => "share_finished",
            Message::OutageDue { .. } => "outage_due",
            Message::Failed { .. } => "failed",
            Message::Restored { .. } => "restored",
            Message::Started { .. } => "started",
            Message::Finished { .. } => "finished",
            Message::Grid(message) => message.kind(),
            Message::RunOver => "run_over",
            Message::Wake(_) => "wake",
        }
    }

    /// The job it is about, if any.
    pub fn job(&self) -> Option<JobId> {
        match self {
            Message::JobDue(job) => Some(job.id),
            Message::Submit(submission) | Message::Refused { submission, .. } => {
                Some(submission.job.id)
            }
            Message::Accepted { job }
            | Message::Withdraw { job }
            | Message::NotWithdrawn { job }
            | Message::EstimateRequest { job, .. }
            | Message::Estimate { job, .. }
            | Message::LoadRequest { job }
            | Message::Load { job, .. }
            | Message::NoAnswer { job, .. }
            | Message::Offers { job, .. }
            | Message::Probe { job, .. }
            | Message::Refresh { job }
            | Message::Prepare { job, .. }
            | Message::Ready { job, .. }
            | Message::NotReady { job, .. }
            | Message::Commit { job, .. }
            | Message::Committed { job, .. }
            | Message::Abort { job }
            | Message::Release { job }
            | Message::Promise { job, .. }
            | Message::BagCompletion { job, .. }
            | Message::ShareStarted { job }
            | Message::ShareFinished { job, .. }
            | Message::Started { job }
            | Message::Finished { job, .. }
            | Message::Wake(
                Timer::PatienceOver { job }
                | Timer::EstimateReady { job }
                | Timer::OffersDue { job },
            ) => Some(*job),
            Message::Call(call) => Some(call.job),
            Message::NewCompletionTimes { .. }
            | Message::OutageDue { .. }
            | Message::Failed { .. }
            | Message::Restored { .. }
            | Message::RunOver
            | Message::Wake(_) => None,
            Message::Grid(message) => message.job(),
        }
    }
}
