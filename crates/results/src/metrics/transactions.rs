//! Costs and outcomes of transactions on parts of jobs, and their deadlocks and livelocks.

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::account::{Account, Cost};
use haggle_agreements::contention::{Contention, Finding};
use haggle_model::{ActorId, AgreementEvent, AgreementId, JobId, Span, Time};
use serde::{Deserialize, Serialize};

use super::Distribution;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Costs and outcomes of transactions on parts of jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    /// Jobs that were tried.
    pub jobs: u64,
    /// Jobs whose parts were agreed on, in percent of these.
    pub success_percent: Option<f64>,
    /// Transactions. A job may need several.
    pub tries: u64,
    /// Transactions that reached an agreement.
    pub agreed: u64,
    /// Transactions that failed before a decision.
    pub aborted: u64,
    /// Transactions that were decided, but a participant could not carry out its part any more.
    pub broken: u64,
    /// tries / agreed.
    pub tries_per_agreement: Option<f64>,
    /// Messages of the protocol, including those to and from acceptors.
    pub messages: u64,
    /// messages / agreed.
    pub messages_per_agreement: Option<f64>,
    /// Messages by kind.
    pub messages_by_kind: BTreeMap<String, u64>,
    /// From the beginning of the try to the decision, mean, s.
    pub time_to_decision: Option<f64>,
    /// From the first try of a job to its agreement, mean, s.
    pub time_to_agreement: Option<f64>,
    /// Distribution of these times, s.
    pub times_to_agreement: Option<Distribution>,
    /// Part-seconds in which parts were held while their metascheduler was down, or after a crash of
    /// their provider.
    pub in_doubt: f64,
    /// Processor-seconds of parts that were held or ran, and were given up.
    pub held_in_vain: f64,
    /// Parts that ran to their end although their group was not agreed on.
    pub orphans: u64,
    /// Processor-seconds that orphans took.
    pub orphan_work: f64,
    /// Transactions of which some parts ran, if only for a while, and others did not.
    pub partial: u64,
    /// Cycles of jobs in which each held a part and waited for the next job.
    pub deadlocks: u64,
    /// Time of the first deadlock, s.
    pub first_deadlock: Option<f64>,
    /// Sets of jobs that failed ten times each since one of them last succeeded.
    pub livelocks: u64,
    /// Jobs that were given back while other jobs got their parts.
    pub starved: u64,
}

/// One transaction: a try to get all parts of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct TransactionRecord {
    /// Its coordinator, and its number there.
    pub id: AgreementId,
    /// The job.
    pub job: JobId,
    /// Number of this try for the job, from 1.
    pub number: u32,
    /// Its cost.
    pub cost: Cost,
    /// Time from the first try of the job to this agreement, if it is one.
    pub to_agreement: Option<Span>,
    /// True if some parts ran, if only for a while, and others did not.
    pub partial: bool,
    /// Parts that ran to their end although the transaction was not agreed on.
    pub orphans: u64,
    /// Processor-microseconds that orphans took.
    pub orphan_work: i128,
}

/// Records the events of transactions.
#[derive(Clone, Debug)]
pub(super) struct TransactionLog {
    account: Account,
    contention: Contention<JobId>,
    tries: BTreeMap<AgreementId, Try>,
    /// Number of parts of agreed jobs that each provider holds or runs.
    working: BTreeMap<ActorId, u32>,
    /// Number of tries of each job, and the time of the first.
    tried: BTreeMap<JobId, (u32, Time)>,
    served: BTreeSet<JobId>,
    found: Transactions,
}

/// A transaction, without its costs. A late message can book a part of a transaction that failed long
/// ago, so all stay open until the run is over.
#[derive(Clone, Debug)]
struct Try {
    job: JobId,
    number: u32,
    to_agreement: Option<Span>,
    /// Number of parts that were agreed on.
    agreed: Option<usize>,
    /// Parts that are held or run.
    parts: BTreeMap<ActorId, Part>,
    /// Providers whose part ran, if only for a while.
    ran: BTreeSet<ActorId>,
    /// Parts that ran to their end, and their processor-microseconds.
    over: u64,
    work: i128,
}

/// A part that is held. Its program starts when the part has its processors and is permitted to begin.
#[derive(Clone, Copy, Debug)]
struct Part {
    processors: u32,
    is_occupied: bool,
    may_begin: bool,
    since: Option<Time>,
}

impl Try {
    /// Records that a part has got its processors, or is permitted to begin.
    fn goes_on(&mut self, now: Time, who: ActorId, change: fn(&mut Part)) {
        let Some(part) = self.parts.get_mut(&who) else { return };
        change(part);
        if part.is_occupied && part.may_begin {
            part.since.get_or_insert(now);
            self.ran.insert(who);
        }
    }

    /// Parts that ran to their end without an agreement, and their processor-microseconds.
    fn orphans(&self) -> (u64, i128) {
        if self.agreed.is_some() { (0, 0) } else { (self.over, self.work) }
    }

    /// True if some of the parts ran, and others did not; `asked` is their number before an agreement.
    fn is_partial(&self, asked: usize) -> bool {
        !self.ran.is_empty() && self.ran.len() < self.agreed.unwrap_or(asked)
    }
}

impl TransactionLog {
    /// `trials` is the maximum number of tries for a job.
    pub(super) fn new(trials: u32) -> TransactionLog {
        TransactionLog {
            account: Account::default(),
            contention: Contention::new(trials),
            tries: BTreeMap::new(),
            working: BTreeMap::new(),
            tried: BTreeMap::new(),
            served: BTreeSet::new(),
            found: Transactions::default(),
        }
    }

    /// Records an event of a transaction on the parts of a job, observed by `actor`.
    pub(super) fn hear(
        &mut self,
        now: Time,
        actor: ActorId,
        id: AgreementId,
        job: JobId,
        event: &AgreementEvent,
    ) {
        match event {
            AgreementEvent::Opened { asked } => {
                self.opened(now, id, job, asked.iter().copied().collect());
            }
            AgreementEvent::Decided => self.account.decided(now, id),
            AgreementEvent::Agreed { parts } => self.agreed(now, id, job, parts.len()),
            AgreementEvent::Failed | AgreementEvent::Broken => {
                self.account.failed(now, id);
                // A provider that works for an agreed job will be free again, so such a failure is no livelock.
                let works = |who: &ActorId| self.working.get(who).is_some_and(|&parts| parts > 0);
                let asked = self.account.costs.get(&id).map(|cost| &cost.asked);
                let finding = match asked.is_some_and(|asked| asked.iter().any(works)) {
                    true => self.contention.refused(now, job),
                    false => self.contention.failed(now, job),
                };
                self.find(finding);
            }
            AgreementEvent::Sent(kind) => self.account.sent(id, kind),
            &AgreementEvent::Held { processors, .. } => {
                self.account.held(now, actor, id, processors);
                let Some(it) = self.tries.get_mut(&id) else { return };
                let part = Part { processors, is_occupied: false, may_begin: false, since: None };
                // A part may be reported as held more than once, but counts once.
                let is_new = it.parts.insert(actor, part).is_none();
                // The agreement may be known before this part is reported as held.
                if is_new && it.agreed.is_some() {
                    *self.working.entry(actor).or_default() += 1;
                }
            }
            AgreementEvent::CarriedOut { .. } => {
                self.account.started(now, actor, id);
                if let Some(it) = self.tries.get_mut(&id) {
                    it.goes_on(now, actor, |part| part.may_begin = true);
                }
            }
            AgreementEvent::Occupied => {
                if let Some(it) = self.tries.get_mut(&id) {
                    it.goes_on(now, actor, |part| part.is_occupied = true);
                }
            }
            AgreementEvent::GivenUp => {
                self.account.given_up(now, actor, id);
                self.leaves(id, actor);
            }
            // A failed part is over, but it is no orphan: nothing of it is left to run.
            AgreementEvent::PartFailed => {
                self.account.ended(actor, id);
                self.leaves(id, actor);
            }
            AgreementEvent::PartOver => {
                self.account.ended(actor, id);
                if let Some(Part { processors, since, .. }) = self.leaves(id, actor)
                    && let Some(it) = self.tries.get_mut(&id)
                {
                    let took = since.map_or(0, |since| (now - since).as_micros());
                    it.over += 1;
                    it.work += i128::from(took) * i128::from(processors);
                }
            }
        }
    }

    fn opened(&mut self, now: Time, id: AgreementId, job: JobId, asked: BTreeSet<ActorId>) {
        let (number, _) = self.tried.entry(job).or_insert((0, now));
        *number += 1;
        let number = *number;
        self.contention.begins(job, asked.clone());
        self.account.opened(now, id, asked);
        let new = Try {
            job,
            number,
            to_agreement: None,
            agreed: None,
            parts: BTreeMap::new(),
            ran: BTreeSet::new(),
            over: 0,
            work: 0,
        };
        self.tries.insert(id, new);
    }

    fn agreed(&mut self, now: Time, id: AgreementId, job: JobId, parts: usize) {
        self.account.agreed(now, id);
        self.contention.succeeded(job);
        let is_first = self.served.insert(job);
        let Some(it) = self.tries.get_mut(&id) else { return };
        // Only the first agreement of a job ends its search for parts.
        if is_first {
            it.to_agreement = self.tried.get(&job).map(|&(_, first)| now - first);
        }
        // A repeated notice of the agreement counts no part twice.
        if it.agreed.replace(parts).is_none() {
            it.parts.keys().for_each(|&who| *self.working.entry(who).or_default() += 1);
        }
    }

    /// Records that a part is over, or given up.
    fn leaves(&mut self, id: AgreementId, who: ActorId) -> Option<Part> {
        let it = self.tries.get_mut(&id)?;
        let part = it.parts.remove(&who)?;
        // Parts without an agreement were never counted as working.
        if it.agreed.is_some()
            && let Some(working) = self.working.get_mut(&who)
        {
            *working -= 1;
        }
        Some(part)
    }

    /// Records which jobs wait for which others at a participant.
    pub(super) fn waiting(&mut self, now: Time, actor: ActorId, waits: &[(JobId, JobId)]) {
        let found = self.contention.waits(now, actor, waits.iter().copied());
        found.into_iter().for_each(|finding| self.find(Some(finding)));
    }

    /// Records that a job got no parts and is given back.
    pub(super) fn given_back(&mut self, job: JobId) {
        self.contention.gives_up(job);
    }

    pub(super) fn run_over(&mut self, now: Time) {
        self.account.over(now);
    }

    pub(super) fn crashed(&mut self, now: Time, actor: ActorId) {
        self.account.crashed(now, actor);
    }

    fn find(&mut self, finding: Option<Finding<JobId>>) {
        match finding {
            Some(Finding::Deadlock { at, .. }) => {
                self.found.deadlocks += 1;
                self.found.first_deadlock.get_or_insert(at.as_secs_f64());
            }
            Some(Finding::Livelock { .. }) => self.found.livelocks += 1,
            Some(Finding::Starvation { .. }) => self.found.starved += 1,
            None => {}
        }
    }

    /// Each transaction, in the order in which they were opened.
    pub(super) fn records(&self) -> Vec<TransactionRecord> {
        let record = |(&id, it): (&AgreementId, &Try)| {
            let cost = self.account.costs.get(&id)?.clone();
            let partial = it.is_partial(cost.asked.len());
            let (orphans, orphan_work) = it.orphans();
            let &Try { job, number, to_agreement, .. } = it;
            Some(TransactionRecord {
                id,
                job,
                number,
                cost,
                to_agreement,
                partial,
                orphans,
                orphan_work,
            })
        };
        let mut records: Vec<TransactionRecord> = self.tries.iter().filter_map(record).collect();
        // Identifiers begin with the coordinator, so the map is not in order of time.
        records.sort_by_key(|it| (it.cost.opened, it.id));
        records
    }

    pub(super) fn summarise(&self) -> Transactions {
        let TransactionLog { account, found, tried, served, tries, .. } = self;
        let agreed = account.agreed;
        let each = |sum: f64| (agreed > 0).then(|| sum / agreed as f64);
        let decided = agreed + account.broken;
        let times: Vec<Span> = tries.values().filter_map(|it| it.to_agreement).collect();
        let seeking: i128 = times.iter().map(|it| i128::from(it.as_micros())).sum();
        let orphans = tries.values().map(Try::orphans);
        let (orphans, orphan_work) = orphans.fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1));
        let is_partial = |(id, it): &(&AgreementId, &Try)| {
            account.costs.get(id).is_some_and(|cost| it.is_partial(cost.asked.len()))
        };
        let partial = tries.iter().filter(is_partial).count() as u64;
        Transactions {
            jobs: tried.len() as u64,
            success_percent: (!tried.is_empty())
                .then(|| 100.0 * served.len() as f64 / tried.len() as f64),
            tries: account.tries,
            agreed,
            aborted: account.aborts,
            broken: account.broken,
            tries_per_agreement: each(account.tries as f64),
            messages: account.messages(),
            messages_per_agreement: each(account.messages() as f64),
            messages_by_kind: account
                .messages
                .iter()
                .map(|(&kind, &count)| (kind.to_owned(), count))
                .collect(),
            time_to_decision: (decided > 0)
                .then(|| account.deciding.as_secs_f64() / decided as f64),
            time_to_agreement: (!served.is_empty())
                .then(|| seeking as f64 / SECOND / served.len() as f64),
            times_to_agreement: Distribution::of(
                times.into_iter().map(Span::as_secs_f64).collect(),
            ),
            in_doubt: account.in_doubt.as_secs_f64(),
            held_in_vain: account.held_in_vain as f64 / SECOND,
            orphans,
            orphan_work: orphan_work as f64 / SECOND,
            partial,
            ..found.clone()
        }
    }
}
