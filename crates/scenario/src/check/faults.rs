//! Faults of the network that jobs do not survive, by the protocol of their metascheduler. The page docs/exclusions.md
//! is made from this table, too.

use crate::file::{Coallocation, Metascheduler, Role, Transport};

/// Fault of the network that a message may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Loss,
    Duplication,
    Reordering,
    Partition,
}

impl Fault {
    pub(super) const ALL: [Fault; 4] =
        [Fault::Loss, Fault::Duplication, Fault::Reordering, Fault::Partition];

    /// Key of the scenario that switches the fault on.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Fault::Loss => "loss",
            Fault::Duplication => "duplication",
            Fault::Reordering => "reordering",
            Fault::Partition => "partition",
        }
    }

    /// Words for its effect, to be put behind "messages that".
    pub(super) const fn does(self) -> &'static str {
        match self {
            Fault::Loss => "are lost",
            Fault::Duplication => "arrive twice",
            Fault::Reordering => "overtake each other",
            Fault::Partition => "are lost while actors are parted",
        }
    }
}

/// Transports over which every job reaches its end in spite of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// Any transport.
    Any,
    /// Only a reliable one: it delivers every message once, so the fault only delays messages.
    Reliable,
    /// None.
    None,
}

/// Talk between a metascheduler and its providers.
pub(super) struct Talk {
    /// Name of the feature.
    pub(super) name: &'static str,
    /// Words for the metascheduler's work, to be put behind its name.
    talks: &'static str,
    /// Transports over which jobs survive each fault, in the order of [`Fault::ALL`].
    over: [Over; 4],
    /// Ways to avoid each fault, for a line of help.
    remedies: [&'static str; 4],
}

use Over::{Any, None as Never, Reliable};

const LOSS: &str = "set `transport = \"reliable\"` or `loss = \"0%\"`";
const DUPLICATION: &str = "set `transport = \"reliable\"` or `duplication = \"0%\"`";
const REORDERING: &str = "set `reordering = false`";
const PARTITION: &str =
    "set `transport = \"reliable\"`, part actors that send each other no messages";
const RETRY: &str = "set `retry` of its [metascheduler.coallocation]";
const RETRY_BARGAINING: &str = "set `retry` of its [metascheduler.negotiation]";

// The columns are loss, duplication, reordering and partition.

/// An actor sends messages about a job only after it has received the job, so messages may overtake each other.
#[rustfmt::skip] // a table
pub(super) const PLACEMENT: Talk = Talk {
    name: "placement", talks: "places jobs",
    over: [Reliable, Reliable, Any, Reliable],
    remedies: [LOSS, DUPLICATION, REORDERING, PARTITION],
};

/// An actor that waits for an answer does nothing else, and has one request open at a time.
#[rustfmt::skip] // a table
const REALLOCATION: Talk = Talk {
    name: "reallocation", talks: "moves moldable jobs",
    over: [Reliable, Reliable, Any, Reliable],
    remedies: [LOSS, DUPLICATION, REORDERING, PARTITION],
};

/// A probe is useless if it arrives before the offers that it is about.
#[rustfmt::skip] // a table
const BARGAINING: Talk = Talk {
    name: "composition without `retry`", talks: "bargains over bags",
    over: [Reliable, Reliable, Never, Reliable],
    remedies: [RETRY_BARGAINING; 4],
};

/// Parts start at their booked times even if a commit is late, and no commit is undone. So no message may take longer
/// than planned. A receiver has at most one message of a part under way, and a late message is about a part that is
/// over.
#[rustfmt::skip] // a table
const COALLOCATION: Talk = Talk {
    name: "co-allocation without `retry`", talks: "starts jobs on several providers at once",
    over: [Never, Reliable, Any, Never],
    remedies: [RETRY, DUPLICATION, REORDERING, RETRY],
};

/// As co-allocation, without a way to repeat messages.
#[rustfmt::skip] // a table
const MAPPING: Talk = Talk {
    name: "mapping", talks: "starts jobs on several providers at once",
    over: [Never, Reliable, Any, Never],
    remedies: ["set `loss = \"0%\"`", DUPLICATION, REORDERING, "part actors that send each other no messages"],
};

/// A receiver answers each copy of a message.
#[rustfmt::skip] // a table
const TRANSACTION: Talk = Talk {
    name: "co-allocation with a `protocol`, without `retry`", talks: "gets parts of jobs from several providers",
    over: [Reliable, Any, Any, Reliable],
    remedies: [RETRY, DUPLICATION, REORDERING, RETRY],
};

/// Messages are repeated until an answer arrives. A commit that is late is undone, and the job is tried again.
#[rustfmt::skip] // a table
const REPEATED: Talk = Talk {
    name: "composition, co-allocation with `retry`", talks: "repeats messages",
    over: [Any; 4],
    remedies: [RETRY; 4],
};

/// All talks.
pub(super) const TALKS: [Talk; 7] =
    [PLACEMENT, BARGAINING, COALLOCATION, TRANSACTION, REPEATED, REALLOCATION, MAPPING];

impl Talk {
    /// The talk of a metascheduler.
    pub(super) fn of(metascheduler: &Metascheduler) -> Talk {
        match metascheduler.role() {
            _ if metascheduler.retry().is_some() => REPEATED,
            Role::Places(_) => PLACEMENT,
            Role::Composes(_) => BARGAINING,
            Role::Spreads(Coallocation { protocol: Some(_), .. }) => TRANSACTION,
            Role::Spreads(_) => COALLOCATION,
            Role::Maps(_) => MAPPING,
            Role::Moves(_) => REALLOCATION,
        }
    }

    /// Transports over which jobs survive a fault.
    pub(super) const fn over(&self, fault: Fault) -> Over {
        self.over[fault as usize]
    }

    /// True if every job reaches its end in spite of a fault.
    pub(super) fn survives(&self, fault: Fault, transport: Transport) -> bool {
        match self.over(fault) {
            Over::Any => true,
            Over::Reliable => transport == Transport::Reliable,
            Over::None => false,
        }
    }

    /// Way to avoid a fault.
    pub(super) const fn remedy(&self, fault: Fault) -> &'static str {
        self.remedies[fault as usize]
    }

    /// Message about a metascheduler and messages that a fault `does` something to.
    pub(super) fn message(&self, name: &str, does: &str) -> String {
        let talks = self.talks;
        format!("metascheduler \"{name}\" {talks}, and would lose jobs by messages that {does}")
    }
}

/// Message about a grid that sends each message about jobs that it passes on once.
pub(super) fn overflow_message(does: &str) -> String {
    format!("the grid passes jobs on, and would lose jobs by messages that {does}")
}
