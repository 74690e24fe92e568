//! What transactions on parts of jobs cost, what became of them, and where they got stuck.

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::account::Account;
use haggle_agreements::contention::{Contention, Finding};
use haggle_model::{ActorId, AgreementEvent, AgreementId, JobId, Time};
use serde::{Deserialize, Serialize};

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

/// Takes down what happens in transactions.
#[derive(Clone, Debug)]
pub(super) struct TransactionLog {
    account: Account,
    contention: Contention<JobId>,
    groups: BTreeMap<AgreementId, Group>,
    /// Who asks whom, of the jobs that have got nothing yet, and since when.
    seeking: BTreeMap<JobId, (Time, BTreeSet<ActorId>)>,
    /// By participant, who waits for whom.
    waits: BTreeMap<ActorId, Vec<(JobId, JobId)>>,
    jobs: BTreeSet<JobId>,
    served: BTreeSet<JobId>,
    /// Sum of the times from first try to agreement, in microseconds.
    seeking_time: i128,
    found: Transactions,
    /// Processor-microseconds of what ran in vain.
    vain_runs: i128,
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
            seeking: BTreeMap::new(),
            waits: BTreeMap::new(),
            jobs: BTreeSet::new(),
            served: BTreeSet::new(),
            seeking_time: 0,
            found: Transactions::default(),
            vain_runs: 0,
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
                self.jobs.insert(job);
                self.seeking.entry(job).or_insert_with(|| (now, asked.clone()));
                self.account.opened(now, id, asked.clone());
                self.groups.insert(id, Group { asked, ..Group::default() });
            }
            AgreementEvent::Decided => self.account.decided(now, id),
            AgreementEvent::Agreed { parts } => {
                self.account.agreed(now, id);
                self.contention.succeeded(job);
                if let Some((since, _)) = self.seeking.remove(&job) {
                    self.seeking_time += i128::from((now - since).as_micros());
                }
                self.served.insert(job);
                if let Some(group) = self.groups.get_mut(&id) {
                    group.asked = parts.iter().copied().collect();
                    (group.settled, group.agreed) = (true, true);
                }
                self.look_at(id);
            }
            AgreementEvent::Failed | AgreementEvent::Broken => {
                self.account.failed(id);
                let asked = self.groups.get(&id).map(|it| it.asked.clone()).unwrap_or_default();
                let meets = |other: &BTreeSet<ActorId>| !other.is_disjoint(&asked);
                let rivals = self.seeking.iter().filter(|(it, (_, it2))| **it != job && meets(it2));
                let rivals: Vec<JobId> = rivals.map(|(&it, _)| it).collect();
                let works = |group: &Group| {
                    group.agreed && group.parts.keys().any(|who| asked.contains(who))
                };
                let finding = match self.groups.values().any(works) {
                    true => self.contention.refused(now, job, &rivals),
                    false => self.contention.failed(now, job, &rivals),
                };
                self.find(finding);
                if let Some(group) = self.groups.get_mut(&id) {
                    group.settled = true;
                }
                self.look_at(id);
            }
            AgreementEvent::Sent(kind) => self.account.sent(kind),
            AgreementEvent::Held(processors) => {
                self.account.held(now, actor, id, *processors);
                let group = self.groups.entry(id).or_default();
                group.parts.insert(actor, (*processors, None));
            }
            AgreementEvent::CarriedOut => {
                self.account.started(now, actor, id);
                let group = self.groups.entry(id).or_default();
                group.begun.insert(actor);
                if let Some((_, since)) = group.parts.get_mut(&actor) {
                    *since = Some(now);
                }
            }
            AgreementEvent::GivenUp => {
                self.account.given_up(now, actor, id);
                if let Some(group) = self.groups.get_mut(&id) {
                    group.parts.remove(&actor);
                }
                self.look_at(id);
            }
            AgreementEvent::PartOver => {
                self.account.ended(actor, id);
                if let Some(group) = self.groups.get_mut(&id)
                    && let Some((processors, since)) = group.parts.remove(&actor)
                {
                    let ran = since.map_or(0, |since| (now - since).as_micros());
                    group.over += 1;
                    group.ran += i128::from(ran) * i128::from(processors);
                }
                self.look_at(id);
            }
        }
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
        if !group.agreed {
            self.found.orphans += group.over;
            self.vain_runs += group.ran;
        }
    }

    /// Takes in who waits for whom at a participant.
    pub(super) fn waiting(&mut self, now: Time, actor: ActorId, waits: &[(JobId, JobId)]) {
        self.waits.insert(actor, waits.to_vec());
        let edges: Vec<(JobId, JobId)> = self.waits.values().flatten().copied().collect();
        let finding = self.contention.waits(now, edges);
        self.find(finding);
    }

    /// Takes in that a job got no parts and is given back.
    pub(super) fn given_back(&mut self, job: JobId) {
        self.seeking.remove(&job);
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

    pub(super) fn summarise(&self) -> Transactions {
        let mut end = self.clone();
        let open: Vec<AgreementId> = end.groups.keys().copied().collect();
        open.into_iter().for_each(|id| end.close(id));
        let TransactionLog { account, found, jobs, served, vain_runs, .. } = end;
        let agreed = account.agreed;
        let each = |sum: f64| (agreed > 0).then(|| sum / agreed as f64);
        let decided = agreed + account.broken;
        Transactions {
            jobs: jobs.len() as u64,
            success_percent: (!jobs.is_empty())
                .then(|| 100.0 * served.len() as f64 / jobs.len() as f64),
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
                .then(|| self.seeking_time as f64 / SECOND / served.len() as f64),
            in_doubt: account.in_doubt.as_secs_f64(),
            held_in_vain: account.held_in_vain as f64 / SECOND,
            orphan_work: vain_runs as f64 / SECOND,
            ..found
        }
    }
}
