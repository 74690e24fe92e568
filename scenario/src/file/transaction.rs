//! `[metascheduler.transaction]`: the parameters of the protocol by which parts of jobs are got.

use haggle_agreements::back_off::BackOff as Model;
use haggle_agreements::ordered::LockOrder;
use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::TimeSpan;

/// By what protocol a metascheduler gets the parts of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// All providers hold their parts, then all commit.
    TwoPhase,
    /// All providers book their parts at once; if one has no room, the others delete theirs.
    OnePhase,
    /// Two phases whose answers the metascheduler fetches.
    Polling,
    /// Two phases whose decision acceptors remember, so that it outlives the metascheduler.
    Paxos,
    /// Providers propose later starts, until they have one in common.
    Negotiation,
    /// Processors are claimed now, one provider after the other as they have room.
    Claiming,
    /// Processors are asked for now, in an order; who has no room lets others wait.
    Ordered,
    /// Providers tell who is interested when their room changes, and hold what is selected.
    Probing,
    /// The metascheduler waits until all providers have room, and books then.
    Watch,
}

impl Protocol {
    /// The word in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::TwoPhase => "two-phase",
            Protocol::OnePhase => "one-phase",
            Protocol::Polling => "polling",
            Protocol::Paxos => "paxos",
            Protocol::Negotiation => "negotiation",
            Protocol::Claiming => "claiming",
            Protocol::Ordered => "ordered",
            Protocol::Probing => "probing",
            Protocol::Watch => "watch",
        }
    }

    /// Whether it reads this parameter.
    pub fn reads(self, key: &str) -> bool {
        use Protocol::{
            Claiming, Negotiation, OnePhase, Ordered, Paxos, Polling, Probing, TwoPhase,
        };
        match key {
            "patience" => self != Claiming,
            "lease" => matches!(self, TwoPhase | Polling | Probing),
            "in-doubt" => self == TwoPhase,
            "inquiry" => matches!(self, TwoPhase | Paxos),
            "sequential" => self == OnePhase,
            "interval" => self == Polling,
            "acceptors" => self == Paxos,
            "tolerance" | "window" | "rounds" => self == Negotiation,
            "scan" | "claims" | "urgent" => self == Claiming,
            "order" => self == Ordered,
            "subscription" => self == Probing,
            _ => true,
        }
    }
}

/// The parameters of a protocol, which reads some of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Transaction {
    /// For how long answers are awaited before a try is given up, "1s" if not given; under "ordered",
    /// for ever if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<TimeSpan>,
    /// For how long a provider holds a part without hearing more.
    pub lease: TimeSpan,
    /// What a provider does that holds a part when its lease ends.
    pub in_doubt: InDoubtRule,
    /// Time between two questions of a provider what was decided.
    pub inquiry: TimeSpan,
    /// Whether one provider is asked after the other, and nobody after a refusal.
    pub sequential: bool,
    /// Time between an answer and the next poll.
    pub interval: TimeSpan,
    /// How many acceptors remember votes: an odd number, of which less than half may be down. They
    /// are told by a leader of their own.
    #[schemars(range(min = 1, max = 31))]
    pub acceptors: u32,
    /// By how much the starts of the parts may differ.
    pub tolerance: TimeSpan,
    /// How far behind the first possible start a start may be.
    pub window: TimeSpan,
    /// After how many rounds of starts a try is given up.
    #[schemars(range(min = 1, max = 1000))]
    pub rounds: u32,
    /// Time between a claim in vain and the next one for the same part.
    pub scan: TimeSpan,
    /// How often a part is claimed in vain before all parts are released.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub claims: u32,
    /// The highest priority key of jobs for whose claims providers take back what others have claimed
    /// and not started, whose keys are higher; without it, no job is so urgent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urgent: Option<i64>,
    /// In which order processors are asked for.
    pub order: OrderRule,
    /// For how long a provider tells of changes.
    pub subscription: TimeSpan,
    /// Time after which what is not answered is said again; without it, nothing is: then no message
    /// may be lost, and nobody may crash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<TimeSpan>,
    /// What lies between two tries of a job.
    pub back_off: BackOffRule,
    /// The wait under "fixed"; under "exponential", what the first one is drawn below.
    pub wait: TimeSpan,
    /// Under "exponential", the most that a wait is drawn below.
    pub wait_max: TimeSpan,
}

impl Default for Transaction {
    fn default() -> Transaction {
        let span = |millis: i64| TimeSpan(Span::from_micros(1000 * millis));
        Transaction {
            patience: None,
            lease: span(5_000),
            in_doubt: InDoubtRule::default(),
            inquiry: span(1_000),
            sequential: false,
            interval: span(500),
            acceptors: 3,
            tolerance: TimeSpan::ZERO,
            window: span(86_400_000),
            rounds: 10,
            scan: span(10_000),
            claims: 10,
            urgent: None,
            order: OrderRule::default(),
            subscription: span(30_000),
            retry: None,
            back_off: BackOffRule::default(),
            wait: span(100),
            wait_max: span(60_000),
        }
    }
}

impl Transaction {
    /// For how long answers are awaited.
    pub fn patience(&self) -> TimeSpan {
        self.patience.unwrap_or(TimeSpan(Span::from_secs(1)))
    }

    /// What lies between two tries.
    pub fn back_off(&self) -> Model {
        match self.back_off {
            BackOffRule::None => Model::None,
            BackOffRule::Fixed => Model::Fixed(self.wait.0),
            BackOffRule::Exponential => {
                Model::Exponential { first: self.wait.0, cap: self.wait_max.0 }
            }
        }
    }
}

/// What a provider does that holds a part and knows no decision when its lease ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InDoubtRule {
    /// It gives the part back: a commit may come too late.
    #[default]
    Release,
    /// It keeps the part and asks until it is answered: the part may be held for ever.
    Inquire,
}

/// In which order processors are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrderRule {
    /// One provider after the other, beginning one further with every metascheduler and job: jobs
    /// may wait for each other for ever.
    InTurn,
    /// One provider after the other in the order of the scenario.
    #[default]
    Ascending,
    /// All at once; who has got some out of the order of the scenario gives way.
    Parallel,
}

impl OrderRule {
    /// What it names.
    pub const fn order(self) -> LockOrder {
        match self {
            OrderRule::InTurn => LockOrder::Given,
            OrderRule::Ascending => LockOrder::Ascending,
            OrderRule::Parallel => LockOrder::Parallel,
        }
    }
}

/// What lies between two tries of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackOffRule {
    /// Nothing.
    None,
    /// Always the same wait.
    Fixed,
    /// A wait that is drawn from a range which doubles with each try.
    #[default]
    Exponential,
}
