//! `protocol` of `[metascheduler.coallocation]`: by what parts of jobs are got, with the keys that each protocol has
//! of its own.

use haggle_agreements::ordered::LockOrder;
use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words_alone;
use crate::quantity::TimeSpan;

/// By what protocol a metascheduler gets the parts of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum Protocol {
    /// All providers hold their parts, then all commit.
    TwoPhase(TwoPhase),
    /// All providers book their parts at once; if one has no room, the others delete theirs.
    OnePhase(OnePhase),
    /// Two phases whose answers the metascheduler fetches.
    Polling(Polling),
    /// Two phases whose decision acceptors remember, so that it outlives the metascheduler.
    Paxos(Paxos),
    /// Providers propose later starts, until they have one in common.
    Negotiation(StartNegotiation),
    /// Processors are claimed now, one provider after the other as they have room.
    Claiming(Claiming),
    /// Processors are asked for now, in an order; who has no room lets others wait.
    Ordered(Ordered),
    /// Providers tell who is interested when their room changes, and hold what is selected.
    Probing(Probing),
    /// The metascheduler waits until all providers have room, and books then.
    Watch {},
}

impl Protocol {
    /// The word in scenarios.
    pub const fn name(&self) -> &'static str {
        match self {
            Protocol::TwoPhase(_) => "two-phase",
            Protocol::OnePhase(_) => "one-phase",
            Protocol::Polling(_) => "polling",
            Protocol::Paxos(_) => "paxos",
            Protocol::Negotiation(_) => "negotiation",
            Protocol::Claiming(_) => "claiming",
            Protocol::Ordered(_) => "ordered",
            Protocol::Probing(_) => "probing",
            Protocol::Watch {} => "watch",
        }
    }

    /// Whether it may give a try up since an answer has not come.
    pub const fn has_patience(&self) -> bool {
        !matches!(self, Protocol::Claiming(_))
    }

    /// For how long a part is held without hearing more, where it is given back then.
    pub const fn lease(&self) -> Option<TimeSpan> {
        match self {
            Protocol::TwoPhase(TwoPhase { lease, in_doubt: InDoubt::Release {} }) => Some(*lease),
            Protocol::Polling(Polling { lease, .. }) | Protocol::Probing(Probing { lease, .. }) => {
                Some(*lease)
            }
            _ => None,
        }
    }

    /// Up to which priority key jobs are urgent, if any may be.
    pub const fn urgent(&self) -> Option<i64> {
        match self {
            Protocol::Claiming(it) => it.urgent,
            _ => None,
        }
    }

    /// How far behind the first possible start a start may be, where a common one is looked for.
    pub const fn window(&self) -> TimeSpan {
        match self {
            Protocol::Negotiation(it) => it.window,
            _ => TimeSpan::ZERO,
        }
    }

    /// Its times that must not be zero, by key: after each of them something is done once more.
    pub fn periods(&self) -> Vec<(&'static str, TimeSpan)> {
        match self {
            Protocol::TwoPhase(TwoPhase { in_doubt: InDoubt::Inquire(it), .. }) => {
                vec![("in-doubt.inquiry", it.inquiry)]
            }
            Protocol::Polling(it) => vec![("interval", it.interval)],
            Protocol::Paxos(it) => vec![("inquiry", it.inquiry)],
            Protocol::Claiming(it) => vec![("scan", it.scan)],
            Protocol::Probing(it) => vec![("subscription", it.subscription)],
            _ => Vec::new(),
        }
    }
}

const LEASE: TimeSpan = TimeSpan(Span::from_secs(5));
const INQUIRY: TimeSpan = TimeSpan(Span::from_secs(1));

/// The keys of protocol "two-phase".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TwoPhase {
    /// For how long a provider holds a part without hearing more.
    pub lease: TimeSpan,
    /// What a provider does that holds a part and knows no decision when its lease ends.
    pub in_doubt: InDoubt,
}

impl Default for TwoPhase {
    fn default() -> TwoPhase {
        TwoPhase { lease: LEASE, in_doubt: InDoubt::default() }
    }
}

/// What a provider does that holds a part and knows no decision when its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum InDoubt {
    /// It gives the part back: a commit may come too late.
    Release {},
    /// It keeps the part and asks until it is answered: the part may be held for ever.
    Inquire(Inquire),
}

impl Default for InDoubt {
    fn default() -> InDoubt {
        InDoubt::Release {}
    }
}

/// How a provider asks what was decided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Inquire {
    /// Time between two questions.
    pub inquiry: TimeSpan,
}

impl Default for Inquire {
    fn default() -> Inquire {
        Inquire { inquiry: INQUIRY }
    }
}

/// The key of protocol "one-phase".
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct OnePhase {
    /// Whether one provider is asked after the other, and nobody after a refusal.
    pub sequential: bool,
}

/// The keys of protocol "polling".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Polling {
    /// For how long a provider holds a part without hearing more.
    pub lease: TimeSpan,
    /// Time between an answer and the next poll.
    pub interval: TimeSpan,
}

impl Default for Polling {
    fn default() -> Polling {
        Polling { lease: LEASE, interval: TimeSpan(Span::from_micros(500_000)) }
    }
}

/// The keys of protocol "paxos".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Paxos {
    /// How many acceptors remember votes: an odd number, of which less than half may be down. They
    /// are told by a leader of their own.
    #[schemars(range(min = 1, max = 31))]
    pub acceptors: u32,
    /// Time between two questions of a provider what was decided.
    pub inquiry: TimeSpan,
}

impl Default for Paxos {
    fn default() -> Paxos {
        Paxos { acceptors: 3, inquiry: INQUIRY }
    }
}

/// The keys of protocol "negotiation".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StartNegotiation {
    /// By how much the starts of the parts may differ.
    pub tolerance: TimeSpan,
    /// How far behind the first possible start a start may be.
    pub window: TimeSpan,
    /// After how many rounds of starts a try is given up.
    #[schemars(range(min = 1, max = 1000))]
    pub rounds: u32,
}

impl Default for StartNegotiation {
    fn default() -> StartNegotiation {
        let window = TimeSpan(Span::from_secs(86_400));
        StartNegotiation { tolerance: TimeSpan::ZERO, window, rounds: 10 }
    }
}

/// The keys of protocol "claiming".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Claiming {
    /// Time between a claim in vain and the next one for the same part.
    pub scan: TimeSpan,
    /// How often a part is claimed in vain before all parts are released.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub claims: u32,
    /// The highest priority key of jobs for whose claims providers take back what others have claimed
    /// and not started, whose keys are higher; without it, no job is so urgent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urgent: Option<i64>,
}

impl Default for Claiming {
    fn default() -> Claiming {
        Claiming { scan: TimeSpan(Span::from_secs(10)), claims: 10, urgent: None }
    }
}

/// The key of protocol "ordered".
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Ordered {
    /// In which order processors are asked for.
    pub order: OrderRule,
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

/// The keys of protocol "probing".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Probing {
    /// For how long a provider holds a part without hearing more.
    pub lease: TimeSpan,
    /// For how long a provider tells of changes.
    pub subscription: TimeSpan,
}

impl Default for Probing {
    fn default() -> Probing {
        Probing { lease: LEASE, subscription: TimeSpan(Span::from_secs(30)) }
    }
}
