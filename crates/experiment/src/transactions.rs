//! From the words of `[metascheduler.coallocation]` to the rules of a protocol.

use haggle_agents::Transaction;
use haggle_agents::provider::Transacting;
use haggle_agreements::claiming::ClaimingRules;
use haggle_agreements::negotiation::NegotiationRules;
use haggle_agreements::one_phase::OnePhaseRules;
use haggle_agreements::ordered::OrderedRules;
use haggle_agreements::paxos::PaxosRules;
use haggle_agreements::polling::PollingRules;
use haggle_agreements::probing::ProbingRules;
use haggle_agreements::watch::WatchRules;
use haggle_agreements::{InDoubt, Rules};
use haggle_model::{ActorId, Span};

use haggle_scenario::{Scenario, file};

use super::world::resends;

/// An acceptor: its name, and the index of its metascheduler.
pub(super) struct Acceptor {
    pub(super) name: String,
    pub(super) metascheduler: usize,
}

/// The acceptors of all metaschedulers; their numbers follow those of the metaschedulers. The first
/// of each is the leader, which counts the votes. A scenario cannot use their names.
pub(super) fn acceptors(scenario: &Scenario) -> Vec<Acceptor> {
    let mut acceptors = Vec::new();
    for (metascheduler, it) in scenario.metaschedulers.iter().enumerate() {
        let Some((file::Protocol::Paxos(rules), _)) = it.transaction() else { continue };
        let one =
            |what: String| Acceptor { name: format!("({what} of {})", it.name), metascheduler };
        acceptors.push(one("leader".to_owned()));
        acceptors.extend((1..=rules.acceptors).map(|it| one(format!("acceptor {it}"))));
    }
    acceptors
}

/// The protocol of each metascheduler, if it has one.
pub fn transactions(scenario: &Scenario, latency_max: Span) -> Vec<Option<Transaction>> {
    // Acceptors are numbered behind all metaschedulers, as in `cast`.
    let first = scenario.places() as usize + scenario.metaschedulers.len();
    let acceptors = acceptors(scenario);
    let metaschedulers = scenario.metaschedulers.iter().enumerate();
    metaschedulers
        .map(|(place, it)| {
            let how = it.transaction()?;
            let own = (first..).zip(&acceptors).filter(|(_, it)| it.metascheduler == place);
            let own = own.map(|(id, _)| ActorId(id as u32)).collect();
            Some(transaction(how, own, (latency_max, resends(scenario))))
        })
        .collect()
}

/// Protocols in which a provider takes part. Metaschedulers with equal parameters share one entry.
pub(super) fn transacting(
    me: ActorId,
    provider: &file::Provider,
    scenario: &Scenario,
    transactions: &[Option<Transaction>],
) -> Vec<Transacting> {
    let first = scenario.places() as usize;
    let mut all: Vec<Transacting> = Vec::new();
    for (place, (it, transaction)) in scenario.metaschedulers.iter().zip(transactions).enumerate() {
        let Some(transaction) =
            transaction.as_ref().filter(|_| it.providers.contains(&provider.name))
        else {
            continue;
        };
        let metascheduler = ActorId((first + place) as u32);
        match all.iter_mut().find(|it| it.transaction == *transaction) {
            Some(it) => it.metaschedulers.push(metascheduler),
            None => all.push(Transacting {
                me,
                transaction: transaction.clone(),
                metaschedulers: vec![metascheduler],
            }),
        }
    }
    all
}

fn transaction(
    (protocol, coallocation): (&file::Protocol, &file::Coallocation),
    acceptors: Vec<ActorId>,
    (latency_max, resends): (Span, bool),
) -> Transaction {
    let patience = coallocation.patience().0;
    let retry = coallocation.retry.filter(|_| resends).map(|retry| retry.0);
    // The votes may take the patience; the remainder of the shortest lease is for the commit.
    let margin = |lease: Span| lease - patience.min(lease);
    match protocol {
        file::Protocol::TwoPhase(it) => Transaction::TwoPhase(Rules {
            lease: it.lease.0,
            margin: margin(it.lease.0),
            in_doubt: match it.in_doubt {
                file::InDoubt::Release {} => InDoubt::Release,
                file::InDoubt::Inquire(it) => InDoubt::Inquire { every: it.inquiry.0 },
            },
            retry,
            hears_all: true,
        }),
        file::Protocol::OnePhase(it) => {
            Transaction::OnePhase(OnePhaseRules { sequential: it.sequential, patience, retry })
        }
        file::Protocol::Polling(it) => Transaction::Polling(PollingRules {
            lease: it.lease.0,
            margin: margin(it.lease.0),
            interval: it.interval.0,
            retry,
        }),
        file::Protocol::Paxos(it) => {
            let mut acceptors = acceptors.into_iter();
            Transaction::Paxos(PaxosRules {
                // The first one, as in `acceptors`.
                leader: acceptors.next().expect("a metascheduler with \"paxos\" has acceptors"),
                acceptors: acceptors.collect(),
                economical: false,
                patience,
                doubt: it.inquiry.0,
                retry,
            })
        }
        file::Protocol::Negotiation(it) => Transaction::Negotiation(NegotiationRules {
            tolerance: it.tolerance.0,
            rounds: it.rounds,
            patience,
            retry,
        }),
        file::Protocol::Claiming(it) => {
            Transaction::Claiming(ClaimingRules { scan: it.scan.0, trials: Some(it.claims), retry })
        }
        file::Protocol::Ordered(it) => Transaction::Ordered(OrderedRules {
            order: it.order.order(),
            patience: coallocation.patience.map(|patience| patience.0),
            retry,
        }),
        file::Protocol::Probing(it) => Transaction::Probing(ProbingRules {
            needed: None,
            patience,
            lease: it.lease.0,
            margin: latency_max,
            subscription: it.subscription.0,
            retry,
        }),
        file::Protocol::Watch {} => Transaction::Watch(WatchRules { patience, retry }),
    }
}
