//! The rules of a site, applied to its jobs.

use std::collections::BTreeMap;

use haggle_model::{Amounts, Demand, JobPriority, Time};
use serde::{Deserialize, Serialize};

use super::config::{AccountConfig, Preemption, QosConfig, QueueConfig, QueueNumber, SiteConfig};
use super::member::{Class, Entry, Member, Owner};
use crate::nodes::NodeSet;
use crate::priority::{
    Association, AssociationLimits, Claim, Ledger, Machine, Multifactor, Partition, PriorityConfig,
    Reason, Shares, Totals, Tree,
};
use crate::scheduler::Slot;

/// The reason why a site takes a job in no case, or not now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// No queue has the number of the job.
    NoQueue,
    /// The queue of this index is not open to the owner of the job.
    NoAccess(u32),
    /// No quality of service has the number of the job.
    NoQos,
    /// The quality of service of this index is not open to the owner of the job.
    NoQosAccess(u32),
    /// The idle nodes of the queue of this index never have the resources of the job.
    NeverFits(u32),
    /// A limit that it exceeds even alone, or a limit on waiting jobs.
    Limit(Reason),
}

/// Members, limits and priorities of a site.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Site {
    queues: Vec<QueueConfig>,
    queues_by: QueueNumber,
    qos: Vec<QosConfig>,
    accounts: Vec<(Association, AccountConfig)>,
    has_priority: bool,
    preempts: bool,
    multifactor: Multifactor,
    ledger: Ledger,
    /// The same limits without jobs: a job that it refuses can never run.
    idle: Ledger,
    users: BTreeMap<(Association, i32), Association>,
    /// Jobs that are accepted, and not in the queue yet.
    accepted: BTreeMap<Slot, Member>,
    members: BTreeMap<Slot, Member>,
    /// Instant of the calculation by which the waiting jobs are in order; `None` if a user was added since.
    ordered: Option<Time>,
    /// Of each node.
    capacities: Vec<Amounts>,
    /// False if the machine counts processors only, each of them as a node.
    has_nodes: bool,
}

impl Site {
    /// The rules for a machine with nodes of these capacities. If the machine counts processors only, it is one node.
    ///
    /// # Panics
    /// If the calculation period or the dampening factor of priorities is not positive, if an account stands before the
    /// one above it, or if a machine has no processors.
    pub fn new(config: &SiteConfig, capacities: &[Amounts], has_nodes: bool) -> Site {
        let mut tree = Tree::new();
        let mut accounts: Vec<(Association, AccountConfig)> = Vec::new();
        let mut limits = vec![AssociationLimits::default()];
        for account in &config.accounts {
            let parent = account.parent.map_or(Association::ROOT, |it| accounts[it as usize].0);
            let added = tree.account(parent, account.shares).expect("its parent is an account");
            accounts.push((added, account.clone()));
            limits.push(account.limits);
        }
        // The ledger knows a queue as the QOS of a partition.
        let of_queues = config.queues.iter().map(|it| it.limits);
        let qos = of_queues.chain(config.qos.iter().map(|it| it.limits)).collect();
        let ledger = Ledger::new(&tree, limits, qos);
        let all = total(capacities.iter());
        let processors = u32::try_from(all.processors).unwrap_or(u32::MAX);
        let nodes = if has_nodes { capacities.len() as u32 } else { processors };
        let mut rules = PriorityConfig::new(Machine { processors, nodes });
        let partition = |it: &QueueConfig| {
            let own = capacities.iter().zip(0..).filter(|&(_, node)| it.has(node));
            Partition { priority: it.priority, amounts: total(own.map(|it| it.0)) }
        };
        rules.partitions = config.queues.iter().map(partition).collect();
        rules.qos = config.qos.iter().map(|it| it.priority).collect();
        if let Some(priority) = &config.priority {
            priority.put_into(&mut rules);
        }
        Site {
            queues: config.queues.clone(),
            queues_by: config.queues_by,
            qos: config.qos.clone(),
            accounts,
            has_priority: config.priority.is_some(),
            preempts: config.preempts(),
            multifactor: Multifactor::new(rules, tree).expect("checked settings"),
            idle: ledger.clone(),
            ledger,
            users: BTreeMap::new(),
            accepted: BTreeMap::new(),
            members: BTreeMap::new(),
            ordered: None,
            capacities: capacities.to_vec(),
            has_nodes,
        }
    }

    /// The queues.
    pub fn queues(&self) -> &[QueueConfig] {
        &self.queues
    }

    /// The number of a job that says its queue.
    pub fn queues_by(&self) -> QueueNumber {
        self.queues_by
    }

    /// The qualities of service.
    pub fn qos(&self) -> &[QosConfig] {
        &self.qos
    }

    /// Accepts a job, or says why not. An accepted job counts as submitted until it [leaves](Site::leave) or
    /// [ends](Site::end).
    ///
    /// # Errors
    /// If it can never run, or if its owner has too many jobs.
    pub fn accept(&mut self, now: Time, slot: Slot, entry: &Entry) -> Result<(), Denied> {
        let class = self.class_of(entry.owner)?;
        if let Some(queue) = class.queue.filter(|&queue| !self.holds(queue, &entry.demand)) {
            return Err(Denied::NeverFits(queue));
        }
        let member = self.member(now, class, entry);
        self.idle.may_start(&member.claim).map_err(Denied::Limit)?;
        self.ledger.may_submit(&member.claim).map_err(Denied::Limit)?;
        self.ledger.submit(&member.claim);
        self.accepted.insert(slot, member);
        Ok(())
    }

    /// A job joins the queue. One that was not [accepted](Site::accept), because it ran before, counts from now on.
    pub fn join(&mut self, now: Time, slot: Slot, entry: &Entry) {
        let member = match self.accepted.remove(&slot) {
            Some(member) => member,
            None => {
                let class = self.class_of(entry.owner).unwrap_or_default();
                self.submitted(now, class, entry)
            }
        };
        self.members.insert(slot, member);
    }

    /// A job joins the queue that ran before time zero. It counts for limits, and no limit or queue keeps it from its start.
    pub(crate) fn join_running(&mut self, now: Time, slot: Slot, entry: &Entry) {
        let member = self.submitted(now, Class::default(), entry);
        self.members.insert(slot, Member { ran_before: true, ..member });
    }

    fn submitted(&mut self, now: Time, class: Class, entry: &Entry) -> Member {
        let member = self.member(now, class, entry);
        self.ledger.submit(&member.claim);
        member
    }

    /// A job goes away without a start.
    pub fn leave(&mut self, slot: Slot) {
        let left = self.accepted.remove(&slot).or_else(|| self.members.remove(&slot));
        if let Some(left) = left {
            self.ledger.withdraw(&left.claim);
        }
    }

    /// Limits permit a job of the queue to start.
    ///
    /// # Errors
    /// The first limit that it would exceed.
    pub fn may_start(&self, slot: Slot) -> Result<(), Reason> {
        let member = self.members.get(&slot).filter(|it| !it.ran_before);
        member.map_or(Ok(()), |it| self.ledger.may_start(&it.claim))
    }

    /// A job of the queue starts: its resources are counted, and its user is charged.
    pub fn start(&mut self, now: Time, slot: Slot) {
        let Some(member) = self.members.get_mut(&slot).filter(|it| !it.holds) else { return };
        member.holds = true;
        self.ledger.start(&member.claim);
        self.multifactor.start(member.claim.user, member.billing(), now);
    }

    /// A start of this instant is taken back.
    pub fn stop(&mut self, now: Time, slot: Slot) {
        let Some(member) = self.members.get_mut(&slot).filter(|it| it.holds) else { return };
        member.holds = false;
        self.ledger.stop(&member.claim);
        self.multifactor.end(member.claim.user, member.billing(), now);
    }

    /// A running job ends.
    pub fn end(&mut self, now: Time, slot: Slot) {
        self.stop(now, slot);
        self.leave(slot);
    }

    /// Counts the resources of a waiting job for as long as a plan is made.
    pub(crate) fn hold(&mut self, slot: Slot) {
        if let Some(member) = self.members.get(&slot) {
            self.ledger.start(&member.claim);
        }
    }

    /// Ends [`Site::hold`].
    pub(crate) fn let_go(&mut self, slot: Slot) {
        if let Some(member) = self.members.get(&slot) {
            self.ledger.stop(&member.claim);
        }
    }

    /// Renews the priorities if a calculation is due. Returns whether the order of waiting jobs may have changed.
    pub fn calculate(&mut self, now: Time) -> bool {
        self.multifactor.calculate(now);
        let before = self.ordered.replace(self.multifactor.calculated());
        self.has_priority && before != self.ordered
    }

    /// Instant of the next calculation of priorities that may change the order of waiting jobs; `None` if there is none.
    ///
    /// While no job runs, all usage decays alike. Then only ages change the order, until all have reached their maximum.
    pub fn next_calculation(&self) -> Option<Time> {
        let may_change = |it: &Member| it.holds || self.multifactor.may_age(it.since);
        let changes = self.has_priority && self.members.values().any(may_change);
        changes.then(|| self.multifactor.next_calculation())
    }

    /// The place of a job of the queue, smallest first: by its tier, then by its priority, if there are priorities.
    pub fn rank(&self, slot: Slot) -> (i64, Option<i64>) {
        let Some(member) = self.members.get(&slot) else { return (0, None) };
        let key = || self.multifactor.key(&member.priority_job(), self.multifactor.calculated());
        let tier = member.class.queue.map_or(0, |queue| self.queues[queue as usize].tier);
        (-i64::from(tier), self.has_priority.then(key))
    }

    /// True if priorities decide the order of waiting jobs.
    pub fn has_priority(&self) -> bool {
        self.has_priority
    }

    /// The priority of a job of the queue at the last calculation; `None` without priorities.
    pub fn priority(&self, slot: Slot) -> Option<JobPriority> {
        let member = self.members.get(&slot).filter(|it| self.has_priority && !it.ran_before)?;
        let at = self.multifactor.calculated();
        let parts = self.multifactor.breakdown(&member.priority_job(), at);
        let weights = self.multifactor.weights();
        let of = |weight: u32, part| (weight > 0).then_some(part);
        Some(JobPriority {
            sum: parts.priority(),
            age: of(weights.age, parts.age),
            fair_share: of(weights.fair_share, parts.fair_share),
            size: of(weights.job_size, parts.job_size),
            queue: of(weights.partition, parts.partition),
            qos: of(weights.qos, parts.qos),
        })
    }

    /// The queue of a job, by its index.
    pub fn queue(&self, slot: Slot) -> Option<u32> {
        self.members.get(&slot)?.class.queue
    }

    /// True if running jobs may be stopped for others.
    pub(crate) fn preempts(&self) -> bool {
        self.preempts
    }

    /// True if running jobs may be stopped for a waiting one.
    pub(crate) fn may_stop_others(&self, slot: Slot) -> bool {
        let Some(class) = self.members.get(&slot).map(|it| it.class) else { return false };
        self.preemption_of(class).into_iter().flatten().any(|it| !it.1.stops.is_empty())
    }

    /// True if a running job may be stopped for some other one.
    pub(crate) fn may_be_stopped(&self, slot: Slot) -> bool {
        let Some(Class { queue, qos }) = self.members.get(&slot).map(|it| it.class) else {
            return false;
        };
        let stops = |it: &Preemption, place: u32| it.stops.contains(&place);
        queue.is_some_and(|place| self.queues.iter().any(|it| stops(&it.preemption, place)))
            || qos.is_some_and(|place| self.qos.iter().any(|it| stops(&it.preemption, place)))
    }

    /// The rules by which a running job is stopped for a waiting one; `None` if it is not.
    pub(crate) fn stops(&self, waiting: Slot, running: Slot) -> Option<&Preemption> {
        let class = |slot| self.members.get(&slot).map(|it: &Member| it.class);
        let (own, others) = (class(waiting)?, class(running)?);
        let pairs = self.preemption_of(own).into_iter().zip(self.preemption_of(others));
        let mut stopped = pairs.filter_map(|(own, other)| {
            let ((_, own), (place, other)) = own.zip(other)?;
            own.stops.contains(&place).then_some(other)
        });
        stopped.next()
    }

    /// The rules of preemption of a queue and of a QOS, each with its index.
    fn preemption_of(&self, Class { queue, qos }: Class) -> [Option<(u32, &Preemption)>; 2] {
        [
            queue.map(|it| (it, &self.queues[it as usize].preemption)),
            qos.map(|it| (it, &self.qos[it as usize].preemption)),
        ]
    }

    /// The nodes on which a job of the queue may run; `None` = all.
    pub fn nodes(&self, slot: Slot) -> Option<&NodeSet> {
        self.queues[self.queue(slot)? as usize].nodes.as_ref()
    }

    /// Queue and quality of service of an owner's jobs. A job without a number goes to the first queue, and has no QOS.
    ///
    /// # Errors
    /// If there are queues or QOS, and none of them has the number of the job, or it is not open to the owner.
    pub fn class_of(&self, owner: Owner) -> Result<Class, Denied> {
        Ok(Class { queue: self.queue_of(owner)?, qos: self.qos_of(owner)? })
    }

    fn qos_of(&self, owner: Owner) -> Result<Option<u32>, Denied> {
        if self.qos.is_empty() || owner.queue < 0 {
            return Ok(None);
        }
        let place = self.qos.iter().position(|it| it.number == owner.queue);
        let place = place.ok_or(Denied::NoQos)?;
        let qos = &self.qos[place];
        match is_open(&qos.users, &qos.groups, owner) {
            true => Ok(Some(place as u32)),
            false => Err(Denied::NoQosAccess(place as u32)),
        }
    }

    fn queue_of(&self, owner: Owner) -> Result<Option<u32>, Denied> {
        if self.queues.is_empty() {
            return Ok(None);
        }
        let number = match self.queues_by {
            QueueNumber::Queue => owner.queue,
            QueueNumber::Partition => owner.partition,
        };
        let place = match number {
            ..0 => Some(0),
            number => self.queues.iter().position(|it| it.number == number),
        };
        let place = place.ok_or(Denied::NoQueue)?;
        let queue = &self.queues[place];
        match is_open(&queue.users, &queue.groups, owner) {
            true => Ok(Some(place as u32)),
            false => Err(Denied::NoAccess(place as u32)),
        }
    }

    /// The name of the account of an owner's jobs; `None` = they are beside all accounts.
    pub fn account_of(&self, owner: Owner) -> Option<&str> {
        Some(self.account(owner)?.1.name.as_str())
    }

    /// True if a node belongs to both queues.
    pub fn share_nodes(&self, one: u32, other: u32) -> bool {
        let (one, other) = (&self.queues[one as usize], &self.queues[other as usize]);
        (0..).zip(&self.capacities).any(|(node, _)| one.has(node) && other.has(node))
    }

    /// True if the idle nodes of a queue have room for a demand.
    fn holds(&self, queue: u32, demand: &Demand) -> bool {
        let queue = &self.queues[queue as usize];
        let own = (0..).zip(&self.capacities).filter(|it| queue.has(it.0));
        let fits = own.map(|(_, it)| u64::from(demand.fits(it, it)));
        fits.sum::<u64>() >= u64::from(demand.chunks)
    }

    fn member(&mut self, now: Time, class: Class, entry: &Entry) -> Member {
        let Entry { owner, demand, limit } = entry;
        let (user, amounts) = (self.user(now, *owner), self.amounts(demand));
        let person = owner.user.cast_unsigned();
        let claim = Claim { user, person, qos: self.limits_of(class), amounts, time: *limit };
        Member { claim, class, since: now, holds: false, ran_before: false }
    }

    /// The numbers of a queue and of a QOS in the ledger, in the order in which their limits hold.
    fn limits_of(&self, Class { queue, qos }: Class) -> [Option<u32>; 2] {
        let own = qos.map(|it| self.queues.len() as u32 + it);
        match qos.is_some_and(|it| self.qos[it as usize].over_queue) {
            true => [own, queue],
            false => [queue, own],
        }
    }

    /// The totals of a demand. Without a number of nodes, they are the fewest that can hold its processors.
    fn amounts(&self, demand: &Demand) -> Totals {
        let total = demand.total();
        let nodes = match self.has_nodes {
            false => total.processors,
            true if demand.apart => demand.chunks,
            true => {
                let most = self.capacities.iter().map(|it| it.processors).max();
                total.processors.div_ceil(most.unwrap_or(1).max(1))
            }
        };
        Totals {
            processors: u64::from(total.processors),
            memory: total.memory,
            nodes: u64::from(nodes),
            gpus: u64::from(total.gpus),
        }
    }

    /// The account that has the group of an owner. Without a group, it is the first account that lists the user.
    fn account(&self, owner: Owner) -> Option<&(Association, AccountConfig)> {
        let lists = |it: &&(Association, AccountConfig)| match owner.group {
            ..0 => it.1.users.iter().any(|it| it.0 == owner.user),
            group => it.1.groups.contains(&group),
        };
        self.accounts.iter().find(lists)
    }

    /// The association of an owner: a user of its account, or of the root account.
    fn user(&mut self, now: Time, owner: Owner) -> Association {
        let (account, users) =
            self.account(owner).map_or((Association::ROOT, &[][..]), |it| (it.0, &it.1.users));
        if let Some(&user) = self.users.get(&(account, owner.user)) {
            return user;
        }
        let shares = users.iter().find(|it| it.0 == owner.user).map_or(Shares::Of(1), |it| it.1);
        let user = self.multifactor.user(account, shares, now).expect("an account");
        self.ledger.user(account);
        self.idle.user(account);
        self.users.insert((account, owner.user), user);
        self.ordered = None;
        user
    }
}

/// True if these lists have an owner; `None` = all.
fn is_open(users: &Option<Vec<i32>>, groups: &Option<Vec<i32>>, owner: Owner) -> bool {
    let has = |list: &Option<Vec<i32>>, number| list.as_ref().is_none_or(|it| it.contains(&number));
    has(users, owner.user) && has(groups, owner.group)
}

impl QueueConfig {
    /// True if a node belongs to it.
    pub fn has(&self, node: u32) -> bool {
        self.nodes.as_ref().is_none_or(|it| it.has(node))
    }
}

fn total<'a>(capacities: impl Iterator<Item = &'a Amounts>) -> Totals {
    let mut all = Totals::default();
    for it in capacities {
        all.processors += u64::from(it.processors);
        all.memory = all.memory.saturating_add(it.memory);
        all.gpus += u64::from(it.gpus);
        all.nodes += 1;
    }
    all
}
