//! Protocols by which parts of jobs are got: times that fit each other and the network, and what has
//! to be there when something fails.

use haggle_model::Span;

use super::Check;
use super::names::Names;
use crate::file::{
    BackOffRule, CoallocationPolicy, InDoubtRule, Metascheduler, OrderRule, Protocol, Transaction,
};
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

/// Those that not every protocol reads.
const PARAMETERS: [&str; 15] = [
    "patience",
    "lease",
    "in-doubt",
    "inquiry",
    "sequential",
    "interval",
    "acceptors",
    "tolerance",
    "window",
    "rounds",
    "scan",
    "claims",
    "urgent",
    "order",
    "subscription",
];

impl Check<'_> {
    /// A metascheduler that gets parts of jobs by a protocol.
    pub(super) fn check_transaction(
        &mut self,
        path: &Path,
        metascheduler: &Metascheduler,
        names: &Names,
    ) {
        let Some((protocol, transaction)) = metascheduler.transaction() else { return };
        let name = &metascheduler.name;
        let coallocation = path.key("coallocation");
        let policy = metascheduler.coallocation.as_ref().map(|it| it.policy);
        if policy != Some(CoallocationPolicy::Rigid) {
            self.report(
                &coallocation.key("protocol"),
                format!("protocol \"{}\" moves no job that is agreed on", protocol.name()),
                "what is agreed on stays",
                "set `policy = \"rigid\"`, or remove `protocol`".to_owned(),
            );
        }
        self.check_retry(path, metascheduler, transaction, names);
        let at = path.key("transaction");
        let waits_for_ever = protocol == Protocol::Ordered
            && transaction.order == OrderRule::InTurn
            && transaction.patience.is_none();
        if waits_for_ever && self.scenario.scenario.horizon.is_none() {
            self.report(
                &at,
                "jobs that ask for processors in turn may wait for each other for ever".to_owned(),
                "no end",
                "set `patience`, choose another `order`, or set `horizon` in [scenario]".to_owned(),
            );
        }
        let round_trip = TimeSpan(self.latency_max() + self.latency_max());
        let waits = protocol.reads("patience")
            && (protocol != Protocol::Ordered || transaction.patience.is_some());
        if waits && transaction.patience() < round_trip {
            self.report(
                &at.key("patience"),
                format!(
                    "metascheduler \"{name}\" waits {} for an answer, and a message and its answer may \
                     take {round_trip}",
                    transaction.patience()
                ),
                "every try is given up",
                format!("set `patience` to {round_trip} at least"),
            );
        }
        self.check_lease(&at, protocol, transaction);
        let positive = [
            ("interval", transaction.interval),
            ("inquiry", transaction.inquiry),
            ("scan", transaction.scan),
            ("subscription", transaction.subscription),
        ];
        for (key, _) in positive.into_iter().filter(|(_, span)| *span == TimeSpan::ZERO) {
            self.report(
                &at.key(key),
                format!("`{key}` is 0s, needs more"),
                "at once, for ever",
                "write a length of time above zero, such as \"1s\"".to_owned(),
            );
        }
        if transaction.retry.is_some_and(|retry| retry < round_trip || retry == TimeSpan::ZERO) {
            self.report(
                &at.key("retry"),
                format!(
                    "`retry` is shorter than a message and its answer take, {round_trip}, or 0s"
                ),
                "said again while the answer is under way",
                format!("set it to more than {round_trip}"),
            );
        }
        if transaction.acceptors.is_multiple_of(2) {
            self.report(
                &at.key("acceptors"),
                format!(
                    "{} acceptors have no more than half for two decisions",
                    transaction.acceptors
                ),
                "an even number",
                "write an odd number, 2 F + 1 for F that may be down".to_owned(),
            );
        }
    }

    /// A commit has to be under way before the first lease ends.
    fn check_lease(&mut self, at: &Path, protocol: Protocol, transaction: Transaction) {
        let leased = protocol.reads("lease")
            && (protocol != Protocol::TwoPhase || transaction.in_doubt == InDoubtRule::Release);
        let phases =
            if protocol == Protocol::Probing { Span::ZERO } else { transaction.patience().0 };
        let needed = TimeSpan(phases + self.latency_max() + self.latency_max());
        if leased && transaction.lease < needed {
            self.report(
                &at.key("lease"),
                format!(
                    "a part is held for {}, and votes and a commit may take {needed}",
                    transaction.lease
                ),
                "ends before the commit is there",
                format!("set `lease` to {needed} at least, or shorten `patience`"),
            );
        }
    }

    /// Parameters that the protocol does not read.
    pub(super) fn transaction_effects(&mut self, path: &Path, metascheduler: &Metascheduler) {
        let owner = format!("metascheduler \"{}\"", metascheduler.name);
        let at = path.key("transaction");
        let Some((protocol, transaction)) = metascheduler.transaction() else {
            let why = "only a metascheduler whose `coallocation` has a `protocol` reads it";
            return self.uses(&at, false, &owner, why, "remove it, or choose a `protocol`");
        };
        let owner = format!("the transactions of {owner}");
        let why = format!("protocol \"{}\" does not read it", protocol.name());
        for key in PARAMETERS {
            self.uses(&at.key(key), protocol.reads(key), &owner, &why, "remove it");
        }
        let inquires = transaction.in_doubt == InDoubtRule::Inquire;
        if protocol == Protocol::TwoPhase {
            let why = "under `in-doubt = \"release\"` nobody asks";
            self.uses(&at.key("inquiry"), inquires, &owner, why, "remove it");
        }
        let waits = transaction.back_off != BackOffRule::None;
        let why = "without a back-off there is no wait";
        self.uses(&at.key("wait"), waits, &owner, why, "remove it, or choose a `back-off`");
        let doubles = transaction.back_off == BackOffRule::Exponential;
        let why = "only \"exponential\" waits grow";
        self.uses(&at.key("wait-max"), doubles, &owner, why, "remove it");
    }

    /// What is lost with a message or an actor has to be said again.
    fn check_retry(
        &mut self,
        path: &Path,
        metascheduler: &Metascheduler,
        transaction: Transaction,
        names: &Names,
    ) {
        let meant = names.copies_meant(&metascheduler.providers);
        let concerned = |name: &&str| {
            *name == metascheduler.name.as_str() || meant.iter().any(|it| it.as_str() == *name)
        };
        let mut crashing = self.scenario.crashing().map(|it| it.as_str());
        let Some(who) = crashing.find(|name| concerned(name)) else { return };
        let who = who.to_owned();
        if transaction.retry.is_none() {
            self.report(
                &path.key("transaction"),
                format!(
                    "\"{who}\" crashes, and metascheduler \"{}\" says nothing again that is lost with it",
                    metascheduler.name
                ),
                "no `retry`",
                "set `retry = \"1s\"`, or take it out of `actors` of [[failures]]".to_owned(),
            );
        }
    }

    /// How long a message takes at most that is not lost.
    fn latency_max(&self) -> Span {
        let network = &self.scenario.network;
        let links = network.links.iter().map(|link| link.latency.0);
        links.fold(network.latency.0, Span::max) + network.jitter.0
    }
}
