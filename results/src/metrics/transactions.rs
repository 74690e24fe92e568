//! What transactions on parts of jobs cost, what became of them, and where they got stuck.

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::account::{Account, Cost};
use haggle_agreements::contention::{Contention, Finding};
use haggle_model::{ActorId, AgreementEvent, AgreementId, JobId, Span, Time};
use serde::{Deserialize, Serialize};

use super::Distribution;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// What became of transactions on parts of jobs, and what they cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    /// Jobs that were tried.
    pub jobs: u64,
    /// Jobs whose parts were agreed on, in percent of these.
    pub success_percent: Option<f64>,
    /// Transactions: a job is tried several times.
    pub tries: u64,
    /// Those that were agreed on.
    pub agreed: u64,
    /// Those that failed before anything was decided.
    pub aborted: u64,
    /// Those that were decided, and of which somebody could not carry out a part any more.
    pub broken: u64,
    /// tries / agreed.
    pub tries_per_agreement: Option<f64>,
    /// Messages of the protocol, to acceptors and from them too.
    pub messages: u64,
    /// messages / agreed.
    pub messages_per_agreement: Option<f64>,
    /// By the word of the message.
    pub messages_by_kind: BTreeMap<String, u64>,
    /// From the beginning of the try to the decision, mean, s.
    pub time_to_decision: Option<f64>,
    /// From the first try of a job to its agreement, mean, s.
    pub time_to_agreement: Option<f64>,
    /// How these times are spread, s.
    pub times_to_agreement: Option<Distribution>,
    /// Part-seconds in which parts were held while their metascheduler was down, or after their
    /// provider was.
    pub in_doubt: f64,
    /// Processor-seconds that parts held or ran which were given up.
    pub held_in_vain: f64,
    /// Parts that ran to their end although their group was not agreed on.
    pub orphans: u64,
    /// Processor-seconds that these took.
    pub orphan_work: f64,
    /// Transactions of which some parts ran, if only for a while, and others did not.
    pub partial: u64,
    /// Circles of jobs of which each held something and waited for the next.
    pub deadlocks: u64,
    /// When the first was there, s.
    pub first_deadlock: Option<f64>,
    /// Sets of jobs that failed ten times each since one of them last succeeded.
    pub livelocks: u64,
    /// Jobs that were given back while others got what they asked for.
    pub starved: u64,
}

/// One transaction: a try to get all parts of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct TransactionRecord {
    /// Whose it is, and its number there.
    pub id: AgreementId,
    /// The job.
    pub job: JobId,
    /// Which of its tries, from 1.
    pub number: u32,
    /// What it cost.
    pub cost: Cost,
    /// From the first try of the job to this agreement, if it is one.
    pub to_agreement: Option<Span>,
    /// Whether some parts ran, if only for a while, and others did not.
    pub partial: bool,
    /// Parts that ran to their end although it was not agreed on.
    pub orphans: u64,
    /// Processor-microseconds that these took.
    pub orphan_work: i128,
}

/// Takes down what happens in transactions.
#[derive(Clone, Debug)]
pub(super) struct TransactionLog {
    account: Account,
    contention: Contention<JobId>,
    groups: BTreeMap<AgreementId, Group>,
    fates: BTreeMap<AgreementId, Fate>,
    /// How many parts of jobs that were agreed on each provider holds or runs.
    working: BTreeMap<ActorId, u32>,
    /// How often each job was tried, and when first.
    tried: BTreeMap<JobId, (u32, Time)>,
    served: BTreeSet<JobId>,
    found: Transactions,
}

/// What became of a transaction, beside what it cost.
#[derive(Clone, Debug)]
struct Fate {
    job: JobId,
    number: u32,
    to_agreement: Option<Span>,
    partial: bool,
    orphans: u64,
    orphan_work: i128,
}

/// A transaction whose parts are not all over.
#[derive(Clone, Debug, Default)]
struct Group {
    asked: BTreeSet<ActorId>,
    settled: bool,
    agreed: bool,
    /// Who holds how many processors, and since when that runs.
    parts: BTreeMap<ActorId, (u32, Option<Time>)>,
    /// Whose part began.
    begun: BTreeSet<ActorId>,
    /// Parts that ran to their end, and processor-microseconds.
    over: u64,
    ran: i128,
}

impl TransactionLog {
    /// Jobs may be tried so often.
    pub(super) fn new(trials: u32) -> TransactionLog {
        TransactionLog {
            account: Account::default(),
            contention: Contention::new(trials),
            groups: BTreeMap::new(),
            fates: BTreeMap::new(),
            working: BTreeMap::new(),
            tried: BTreeMap::new(),
            served: BTreeSet::new(),
            found: Transactions::default(),
        }
    }

    /// Takes in something that `actor` has observed of a transaction on the parts of a job.
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
                let asked: BTreeSet<ActorId> = asked.iter().copied().collect();
                let (number, _) = self.tried.entry(job).or_insert((0, now));
                *number += 1;
                let fate = Fate {
                    job,
                    number: *number,
                    to_agreement: None,
                    partial: false,
                    orphans: 0,
                    orphan_work: 0,
                };
                self.fates.insert(id, fate);
                self.contention.begins(job, asked.clone());
                self.account.opened(now, id, asked.clone());
                self.groups.insert(id, Group { asked, ..Group::default() });
            }
            AgreementEvent::Decided => self.account.decided(now, id),
            AgreementEvent::Agreed { parts } => {
                self.account.agreed(now, id);
                self.contention.succeeded(job);
                if self.served.insert(job)
                    && let Some(fate) = self.fates.get_mut(&id)
                {
                    fate.to_agreement = self.tried.get(&job).map(|&(_, first)| now - first);
                }
                if let Some(group) = self.groups.get_mut(&id) {
                    group.asked = parts.iter().copied().collect();
                    if !std::mem::replace(&mut group.agreed, true) {
                        group
                            .parts
                            .keys()
                            .for_each(|&who| *self.working.entry(who).or_default() += 1);
                    }
                    group.settled = true;
                }
                self.look_at(id);
            }
            AgreementEvent::Failed | AgreementEvent::Broken => {
                self.account.failed(now, id);
                let works = |who: &ActorId| self.working.get(who).is_some_and(|&parts| parts > 0);
                let finding =
                    match self.groups.get(&id).is_some_and(|it| it.asked.iter().any(works)) {
                        true => self.contention.refused(now, job),
                        false => self.contention.failed(now, job),
                    };
                self.find(finding);
                if let Some(group) = self.groups.get_mut(&id) {
                    group.settled = true;
                }
                self.look_at(id);
            }
            AgreementEvent::Sent(kind) => self.account.sent(id, kind),
            &AgreementEvent::Held { processors, .. } => {
                self.account.held(now, actor, id, processors);
                let group = self.groups.entry(id).or_default();
                let new = group.parts.insert(actor, (processors, None)).is_none();
                if new && group.agreed {
                    *self.working.entry(actor).or_default() += 1;
                }
            }
            AgreementEvent::CarriedOut { .. } => {
                self.account.started(now, actor, id);
                let group = self.groups.entry(id).or_default();
                group.begun.insert(actor);
                if let Some((_, since)) = group.parts.get_mut(&actor) {
                    *since = Some(now);
                }
            }
            AgreementEvent::Occupied => {}
            AgreementEvent::GivenUp => {
                self.account.given_up(now, actor, id);
                self.leaves(id, actor);
                self.look_at(id);
            }
            AgreementEvent::PartOver => {
                self.account.ended(actor, id);
                if let Some((processors, since)) = self.leaves(id, actor)
                    && let Some(group) = self.groups.get_mut(&id)
                {
                    let ran = since.map_or(0, |since| (now - since).as_micros());
                    group.over += 1;
                    group.ran += i128::from(ran) * i128::from(processors);
                }
                self.look_at(id);
            }
        }
    }

    /// A part is over, or given up.
    fn leaves(&mut self, id: AgreementId, who: ActorId) -> Option<(u32, Option<Time>)> {
        let group = self.groups.get_mut(&id)?;
        let part = group.parts.remove(&who)?;
        if group.agreed
            && let Some(working) = self.working.get_mut(&who)
        {
            *working -= 1;
        }
        Some(part)
    }

    /// When nothing more comes of a transaction: whether it was whole.
    fn look_at(&mut self, id: AgreementId) {
        let Some(group) = self.groups.get(&id) else { return };
        if group.settled && group.parts.is_empty() {
            self.close(id);
        }
    }

    fn close(&mut self, id: AgreementId) {
        let Some(group) = self.groups.remove(&id) else { return };
        let whole = group.begun.is_empty() || group.asked.is_subset(&group.begun);
        self.found.partial += u64::from(!whole);
        let Some(fate) = self.fates.get_mut(&id) else { return };
        fate.partial = !whole;
        if !group.agreed {
            self.found.orphans += group.over;
            (fate.orphans, fate.orphan_work) = (group.over, group.ran);
        }
    }

    /// Takes in who waits for whom at a participant.
    pub(super) fn waiting(&mut self, now: Time, actor: ActorId, waits: &[(JobId, JobId)]) {
        let found = self.contention.waits(now, actor, waits.iter().copied());
        found.into_iter().for_each(|finding| self.find(Some(finding)));
    }

    /// Takes in that a job got no parts and is given back.
    pub(super) fn given_back(&mut self, job: JobId) {
        self.contention.gives_up(job);
    }

    pub(super) fn run_over(&mut self, now: Time) {
        self.account.over(now);
        let open: Vec<AgreementId> = self.groups.keys().copied().collect();
        open.into_iter().for_each(|id| self.close(id));
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
        let record = |(&id, fate): (&AgreementId, &Fate)| {
            let &Fate { job, number, to_agreement, partial, orphans, orphan_work } = fate;
            let cost = self.account.costs.get(&id)?.clone();
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
        let mut records: Vec<TransactionRecord> = self.fates.iter().filter_map(record).collect();
        records.sort_by_key(|it| (it.cost.opened, it.id));
        records
    }

    pub(super) fn summarise(&self) -> Transactions {
        let TransactionLog { account, found, tried, served, fates, .. } = self;
        let agreed = account.agreed;
        let each = |sum: f64| (agreed > 0).then(|| sum / agreed as f64);
        let decided = agreed + account.broken;
        let times: Vec<Span> = fates.values().filter_map(|it| it.to_agreement).collect();
        let seeking: i128 = times.iter().map(|it| i128::from(it.as_micros())).sum();
        let orphan_work: i128 = fates.values().map(|it| it.orphan_work).sum();
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
            orphan_work: orphan_work as f64 / SECOND,
            ..found.clone()
        }
    }
}
