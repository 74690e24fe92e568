//! `protocol` of `[metascheduler.coallocation]`: by what parts of jobs are got, with the keys that each protocol has
//! of its own.

use haggle_agreements::ordered::LockOrder;
use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words_alone;
use crate::quantity::TimeSpan;

/// Protocol by which a metascheduler obtains the parts of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum Protocol {
    /// All providers hold their parts, then all commit.
    TwoPhase(TwoPhase),
    /// All providers book their parts at once; if one has no room, the others delete theirs.
    OnePhase(OnePhase),
    /// Two phases; the metascheduler polls for the answers.
    Polling(Polling),
    /// Two phases; acceptors remember the decision, so that it survives a crash of the metascheduler.
    Paxos(Paxos),
    /// Providers propose later starts, until they have one in common.
    Negotiation(StartNegotiation),
    /// Processors are claimed immediately, at one provider after the other as they have room.
    Claiming(Claiming),
    /// Processors are requested immediately, in an order; requests wait at providers without room.
    Ordered(Ordered),
    /// Providers notify subscribers when their room changes, and hold the selected parts.
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

    /// True if a try may be abandoned because an answer has not arrived.
    pub const fn has_patience(&self) -> bool {
        !matches!(self, Protocol::Claiming(_))
    }

    /// Time for which a part is held without a further message, if it is then given back.
    pub const fn lease(&self) -> Option<TimeSpan> {
        match self {
            Protocol::TwoPhase(TwoPhase { lease, in_doubt: InDoubt::Release {} }) => Some(*lease),
            Protocol::Polling(Polling { lease, .. }) | Protocol::Probing(Probing { lease, .. }) => {
                Some(*lease)
            }
            _ => None,
        }
    }

    /// Highest priority key of urgent jobs, if there can be any.
    pub const fn urgent(&self) -> Option<i64> {
        match self {
            Protocol::Claiming(it) => it.urgent,
            _ => None,
        }
    }

    /// Largest distance of a start from the first possible one, if a common start is searched.
    pub const fn window(&self) -> TimeSpan {
        match self {
            Protocol::Negotiation(it) => it.window,
            _ => TimeSpan::ZERO,
        }
    }

    /// Times of the protocol that must not be zero, by key: each of them separates repeated actions.
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
    /// Time for which a provider holds a part without a further message.
    pub lease: TimeSpan,
    /// Action of a provider that holds a part without a known decision when its lease ends.
    pub in_doubt: InDoubt,
}

impl Default for TwoPhase {
    fn default() -> TwoPhase {
        TwoPhase { lease: LEASE, in_doubt: InDoubt::default() }
    }
}

/// Action of a provider that holds a part without a known decision when its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum InDoubt {
    /// It gives the part back: a commit may come too late.
    Release {},
    /// It keeps the part and inquires until it gets an answer: the part may be held for ever.
    Inquire(Inquire),
}

impl Default for InDoubt {
    fn default() -> InDoubt {
        InDoubt::Release {}
    }
}

/// Inquiry of a provider for the decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Inquire {
    /// Time between two inquiries.
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
    /// True if providers are asked one after the other, and no more of them after a refusal.
    pub sequential: bool,
}

/// The keys of protocol "polling".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Polling {
    /// Time for which a provider holds a part without a further message.
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
    /// Number of acceptors that remember votes: an odd number, of which less than half may be down. A separate leader
    /// sends to them.
    #[schemars(range(min = 1, max = 31))]
    pub acceptors: u32,
    /// Time between two inquiries of a provider for the decision.
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
    /// Largest difference between the starts of the parts.
    pub tolerance: TimeSpan,
    /// Largest distance of a start from the first possible one.
    pub window: TimeSpan,
    /// Number of rounds of starts after which a try is abandoned.
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
    /// Time between an unsuccessful claim and the next one for the same part.
    pub scan: TimeSpan,
    /// Number of unsuccessful claims of a part before all parts are released.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub claims: u32,
    /// Highest priority key of urgent jobs. For their claims, providers take back claims of jobs with higher keys that
    /// have not started; without it, no job is urgent.
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
    /// Order in which processors are requested.
    pub order: OrderRule,
}

/// Order in which processors are requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrderRule {
    /// One provider after the other; each metascheduler and job begins with the next provider. Jobs may wait for each
    /// other for ever.
    InTurn,
    /// One provider after the other in the order of the scenario.
    #[default]
    Ascending,
    /// All at once; a job that has obtained processors out of the order of the scenario gives way.
    Parallel,
}

impl OrderRule {
    /// The order that the word stands for.
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
    /// Time for which a provider holds a part without a further message.
    pub lease: TimeSpan,
    /// Duration of a subscription to changes.
    pub subscription: TimeSpan,
}

impl Default for Probing {
    fn default() -> Probing {
        Probing { lease: LEASE, subscription: TimeSpan(Span::from_secs(30)) }
    }
}
