//! An obvious version of the rules of a site: all is counted anew from the history of the jobs.

use std::collections::BTreeMap;

use haggle_model::{Amounts, Span};
use haggle_scheduling::Slot;
use haggle_scheduling::priority::{
    Association, Factors, Machine, Shares, Tree, factors, fair_tree,
};
use haggle_scheduling::site::{Owner, QueueConfig, QueueNumber, SiteConfig};

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
        queues.iter().find(|it| it.number == number).expect("a queue of the test")
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
        let limit = queue.limits.job.time.is_none_or(|limit| span <= seconds(limit));
        let within = limit && most.is_none_or(|it| u64::from(processors) <= it);
        if !open || processors > room {
            return false;
        }
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
        let same =
            |it: &&Job| it.owner.user == job.owner.user && self.queue(it.owner).number == queue;
        let running = others.iter().filter(same).count();
        let limit = self.queue(job.owner).limits.person.running;
        let account = self.account(job.owner);
        let used = others.iter().filter(|it| self.account(it.owner) == account);
        let used: u32 = used.map(|it| it.processors).sum();
        let most = account.and_then(|it| self.config.accounts[it].limits.group.amounts.processors);
        limit.is_none_or(|limit| running < limit as usize)
            && most.is_none_or(|most| u64::from(used + job.processors) <= most)
    }

    /// The nodes of a job's queue.
    pub(crate) fn may_use(&self, slot: Slot, node: u32) -> bool {
        self.queue(self.jobs[&slot].owner).has(node)
    }

    /// The place of a job in the order, smallest first.
    pub(crate) fn rank(&self, now: i64, slot: Slot) -> (i64, i64) {
        let job = self.jobs[&slot];
        let queue = self.queue(job.owner);
        let Some(rules) = &self.config.priority else { return (-i64::from(queue.tier), 0) };
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
        let factors = Factors {
            age: factors::age_factor(Span::from_secs(calculated - job.submit), rules.max_age),
            fair_share: fair_tree::standing(&tree, &raw).factor[own],
            job_size: rules.size.factor(machine, job.processors, nodes, span),
            partition: factors::normalized(queue.priority, highest),
            ..Factors::default()
        };
        let priority = factors.weighted(&rules.weights, 0, 0).priority();
        (-i64::from(queue.tier), -i64::from(priority))
    }
}
