//! An obvious version of the rules of a site: all is counted anew from the history of the jobs.

use std::collections::BTreeMap;

use haggle_model::{Amounts, Span};
use haggle_scheduling::Slot;
use haggle_scheduling::priority::{
    Association, Factors, Machine, QosLimits, Shares, Tree, factors, fair_tree,
};
use haggle_scheduling::site::{Owner, Preemption, QosConfig, QueueConfig, QueueNumber, SiteConfig};

/// A job; times in seconds.
#[derive(Clone, Copy, Debug)]
struct Job {
    owner: Owner,
    submit: i64,
    processors: u32,
    span: i64,
    start: Option<i64>,
    end: Option<i64>,
}

#[derive(Debug)]
pub(crate) struct ObviousSite {
    config: SiteConfig,
    nodes: Vec<Amounts>,
    jobs: BTreeMap<Slot, Job>,
    /// Attempts that were lost.
    lost: Vec<Job>,
    /// Users by account and number, in the order in which they came.
    users: Vec<(Option<usize>, i32)>,
    /// Time at which the last user came.
    added: i64,
}

fn seconds(span: Span) -> i64 {
    span.as_micros() / 1_000_000
}

impl ObviousSite {
    pub(crate) fn new(config: &SiteConfig, nodes: &[Amounts]) -> ObviousSite {
        ObviousSite {
            config: config.clone(),
            nodes: nodes.to_vec(),
            jobs: BTreeMap::new(),
            lost: Vec::new(),
            users: Vec::new(),
            added: 0,
        }
    }

    fn queue(&self, owner: Owner) -> &QueueConfig {
        let queues = &self.config.queues;
        let number = match self.config.queues_by {
            QueueNumber::Queue => owner.queue,
            QueueNumber::Partition => owner.partition,
        };
        if number < 0 {
            return &queues[0];
        }
        queues.iter().find(|it| it.number == number).expect("a queue of the test")
    }

    /// The quality of service; an error if none has the number.
    fn qos(&self, owner: Owner) -> Result<Option<&QosConfig>, ()> {
        let qos = &self.config.qos;
        if qos.is_empty() || owner.queue < 0 {
            return Ok(None);
        }
        qos.iter().find(|it| it.number == owner.queue).map(Some).ok_or(())
    }

    /// True if a limit of the queue, the quality of service or the account of a job is kept: that of the first of them that has
    /// one, by its number in this order.
    fn keeps(
        &self,
        owner: Owner,
        limit: impl Fn(&QosLimits) -> Option<u64>,
        of_account: Option<u64>,
        needs: impl Fn(usize) -> u64,
    ) -> bool {
        let queue = Some((limit(&self.queue(owner).limits), 0));
        let qos = self.qos(owner).expect("accepted");
        let own = qos.map(|it| (limit(&it.limits), 1));
        let over = qos.is_some_and(|it| it.over_queue);
        let first = if over { [own, queue] } else { [queue, own] };
        let all = first.into_iter().flatten().chain([(of_account, 2)]);
        let first = all.filter_map(|(limit, place)| Some((limit?, place))).next();
        first.is_none_or(|(limit, place)| needs(place) <= limit)
    }

    /// The rules of preemption by which a running job is stopped for a waiting one.
    pub(crate) fn stops(&self, waiting: Slot, running: Slot) -> Option<&Preemption> {
        let (own, other) = (self.jobs[&waiting].owner, self.jobs[&running].owner);
        let place = |name: &str| self.config.queues.iter().position(|it| it.name == name);
        let (queue, stopped) = (self.queue(own), self.queue(other));
        let number = place(&stopped.name).expect("a queue") as u32;
        if queue.preemption.stops.contains(&number) {
            return Some(&stopped.preemption);
        }
        let place = |name: &str| self.config.qos.iter().position(|it| it.name == name);
        let (qos, stopped) = (self.qos(own).ok()??, self.qos(other).ok()??);
        let number = place(&stopped.name).expect("a quality of service") as u32;
        qos.preemption.stops.contains(&number).then_some(&stopped.preemption)
    }

    fn account(&self, owner: Owner) -> Option<usize> {
        self.config.accounts.iter().position(|it| it.groups.contains(&owner.group))
    }

    /// False if a job can never run here. A job that would fit makes its user known, even if a limit refuses it.
    pub(crate) fn accept(&mut self, now: i64, owner: Owner, processors: u32, span: i64) -> bool {
        let queue = self.queue(owner);
        let own = (0..).zip(&self.nodes).filter(|it| queue.has(it.0));
        let room: u32 = own.map(|it| it.1.processors).sum();
        let account = self.account(owner).map(|it| &self.config.accounts[it]);
        let most = account.and_then(|it| it.limits.group.amounts.processors);
        let open = queue.users.as_ref().is_none_or(|it| it.contains(&owner.user));
        let Ok(qos) = self.qos(owner) else { return false };
        let users = qos.and_then(|it| it.users.as_ref());
        if !open || users.is_some_and(|it| !it.contains(&owner.user)) || processors > room {
            return false;
        }
        let time = |it: &QosLimits| it.job.time.map(|it| seconds(it) as u64);
        let within = self.keeps(owner, time, None, |_| span as u64)
            && self.keeps(owner, |it| it.group.amounts.processors, most, |_| u64::from(processors));
        self.know(now, owner);
        within
    }

    fn know(&mut self, now: i64, owner: Owner) {
        let user = (self.account(owner), owner.user);
        if !self.users.contains(&user) {
            self.users.push(user);
            self.added = now;
        }
    }

    pub(crate) fn submit(
        &mut self,
        now: i64,
        slot: Slot,
        owner: Owner,
        processors: u32,
        span: i64,
    ) {
        self.know(now, owner);
        let job = Job { owner, submit: now, processors, span, start: None, end: None };
        self.lost.extend(self.jobs.insert(slot, job));
    }

    pub(crate) fn start(&mut self, now: i64, slot: Slot) {
        self.jobs.get_mut(&slot).expect("submitted").start = Some(now);
    }

    pub(crate) fn end(&mut self, now: i64, slot: Slot) {
        self.jobs.get_mut(&slot).expect("submitted").end = Some(now);
    }

    /// True if limits permit a start beside these jobs.
    pub(crate) fn may_start(&self, slot: Slot, beside: &[Slot]) -> bool {
        let job = self.jobs[&slot];
        let others = Vec::from_iter(beside.iter().map(|it| self.jobs[it]));
        let queue = self.queue(job.owner).number;
        let account = self.account(job.owner);
        // The jobs that the limits of the queue, the quality of service and the account count.
        let counted = |place: usize| {
            others.iter().filter(move |it| match place {
                0 => self.queue(it.owner).number == queue,
                1 => !self.config.qos.is_empty() && it.owner.queue == job.owner.queue,
                _ => self.account(it.owner) == account,
            })
        };
        let running = |place| {
            let same = counted(place).filter(|it| it.owner.user == job.owner.user);
            same.count() as u64 + 1
        };
        let used =
            |place| u64::from(counted(place).map(|it| it.processors).sum::<u32>() + job.processors);
        let most = account.and_then(|it| self.config.accounts[it].limits.group.amounts.processors);
        self.keeps(job.owner, |it| it.person.running.map(u64::from), None, running)
            && self.keeps(job.owner, |it| it.group.amounts.processors, most, used)
    }

    /// The nodes of a job's queue.
    pub(crate) fn may_use(&self, slot: Slot, node: u32) -> bool {
        self.queue(self.jobs[&slot].owner).has(node)
    }

    /// The place of a job in the order, smallest first.
    pub(crate) fn rank(&self, now: i64, slot: Slot) -> (i64, i64) {
        let queue = self.queue(self.jobs[&slot].owner);
        (-i64::from(queue.tier), -self.priority(now, slot).map_or(0, i64::from))
    }

    /// The priority of a job when it started.
    pub(crate) fn priority_at_start(&self, slot: Slot) -> Option<u32> {
        self.priority(self.jobs[&slot].start?, slot)
    }

    fn priority(&self, now: i64, slot: Slot) -> Option<u32> {
        let job = self.jobs[&slot];
        let queue = self.queue(job.owner);
        let rules = self.config.priority.as_ref()?;
        let period = seconds(rules.calculation_period);
        let calculated = now / period * period;
        let at = calculated.max(self.added);
        let (mut tree, mut raw) = (Tree::new(), vec![0.0]);
        for account in &self.config.accounts {
            tree.account(Association::ROOT, account.shares).expect("below the root account");
            raw.push(0.0);
        }
        for &(account, user) in &self.users {
            let above = Association(account.map_or(0, |it| it as u32 + 1));
            let shares = account.map_or(&[][..], |it| &self.config.accounts[it].users);
            let shares = shares.iter().find(|it| it.0 == user).map_or(Shares::Of(1), |it| it.1);
            tree.user(above, shares).expect("an account");
            let own = self
                .jobs
                .values()
                .chain(&self.lost)
                .filter(|it| it.owner.user == user && self.account(it.owner) == account);
            let used = own.filter_map(|it| {
                let start = it.start?;
                Some((it.end.unwrap_or(at).min(at) - start).max(0) * i64::from(it.processors))
            });
            let used = used.sum::<i64>() as f64;
            raw.push(used);
            raw[0] += used;
            if above != Association::ROOT {
                raw[above.index()] += used;
            }
        }
        let own = self.users.iter().position(|it| *it == (self.account(job.owner), job.owner.user));
        let own = 1 + self.config.accounts.len() + own.expect("it came");
        let processors: u32 = self.nodes.iter().map(|it| it.processors).sum();
        let widest = self.nodes.iter().map(|it| it.processors).max().unwrap_or(1);
        let machine = Machine { processors, nodes: self.nodes.len() as u32 };
        let nodes = job.processors.div_ceil(widest);
        let span = Some(Span::from_secs(job.span));
        let highest = self.config.queues.iter().map(|it| it.priority).max().unwrap_or(0);
        let best = self.config.qos.iter().map(|it| it.priority).max().unwrap_or(0);
        let qos = |it: &QosConfig| factors::normalized(it.priority, best);
        let factors = Factors {
            age: factors::age_factor(Span::from_secs(calculated - job.submit), rules.max_age),
            fair_share: fair_tree::standing(&tree, &raw).factor[own],
            job_size: rules.size.factor(machine, job.processors, nodes, span),
            partition: factors::normalized(queue.priority, highest),
            qos: self.qos(job.owner).expect("accepted").map_or(0.0, qos),
            ..Factors::default()
        };
        Some(factors.weighted(&rules.weights, 0, 0).priority())
    }
}
