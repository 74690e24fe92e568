//! Providers with queues, qualities of service, accounts and priorities.

use std::collections::BTreeMap;

use haggle_model::{Span, Time};
use haggle_scheduling::NodeSet;
use haggle_scheduling::priority::{
    Alone, AssociationLimits, Caps, FairShare, QosLimits, Resets, Shares, SizeRule, Together,
    Weights,
};
use haggle_scheduling::site::{
    AccountConfig, OnPreemption, Preemption, PriorityRules, QosConfig, QueueConfig, QueueNumber,
    SiteConfig,
};

use super::file::{
    self, Account, FairShareRule, Favours, Limits, Priority, Provider, Qos, Queue, UserLimits,
};

use crate::quantity::{Name, TimeSpan};

impl Provider {
    /// True if it has queues, qualities of service, accounts or priorities: rules by which jobs are owned, limited and ordered.
    pub fn has_rules(&self) -> bool {
        let has_classes = !self.queues.is_empty() || !self.qos.is_empty();
        has_classes || !self.accounts.is_empty() || self.priority.is_some()
    }

    /// True if its running jobs may be stopped for others.
    pub fn may_preempt(&self) -> bool {
        let of_qos = self.qos.iter().any(|it| !it.preempts.is_empty());
        of_qos || self.queues.iter().any(|it| !it.preempts.is_empty())
    }

    /// Its queues, qualities of service, accounts and priorities; `None` without any. Names that do not exist are left out; a check refuses
    /// them.
    pub fn rules(&self) -> Option<SiteConfig> {
        self.has_rules().then(|| SiteConfig {
            accounts: self.accounts_to_model(),
            queues: self.queues.iter().map(|it| self.queue_to_model(it)).collect(),
            queues_by: self.queues_by(),
            qos: self.qos_to_model(),
            priority: self.priority.as_ref().map(Priority::to_model),
        })
    }

    /// The number by which its queues take jobs. All of them state the same one; a check refuses others.
    pub fn queues_by(&self) -> QueueNumber {
        match self.queues.first().and_then(|it| it.partition) {
            Some(_) => QueueNumber::Partition,
            None => QueueNumber::Queue,
        }
    }

    fn accounts_to_model(&self) -> Vec<AccountConfig> {
        let mut places = BTreeMap::new();
        let mut accounts = Vec::new();
        for (place, it) in (0..).zip(&self.accounts) {
            let parent = it.parent.as_ref().and_then(|name| places.get(name.as_str()).copied());
            accounts.push(it.to_model(parent));
            places.insert(it.name.as_str(), place);
        }
        accounts
    }

    /// A grace time, up to a pass of the scheduler: it stops jobs with its passes only.
    fn grace(&self, grace: Option<TimeSpan>) -> Span {
        let grace = grace.map_or(Span::ZERO, |it| it.0);
        match self.interval {
            Some(interval) => (Time::ZERO + grace).next_multiple_of(interval.0) - Time::ZERO,
            None => grace,
        }
    }

    fn qos_to_model(&self) -> Vec<QosConfig> {
        let names = Vec::from_iter(self.qos.iter().map(|it| &it.name));
        let of =
            |it: &Qos| preemption(&names, &it.preempts, it.on_preemption, self.grace(it.grace));
        self.qos.iter().map(|it| it.to_model(of(it))).collect()
    }

    fn queue_to_model(&self, queue: &Queue) -> QueueConfig {
        let nodes = queue.nodes.as_ref().map(|names| {
            let (mut all, mut own) = (0, Vec::new());
            for group in &self.nodes {
                if group.name.as_ref().is_some_and(|name| names.contains(name)) {
                    own.extend(all..all + group.count);
                }
                all += group.count;
            }
            NodeSet::new(all as usize, own)
        });
        let names = Vec::from_iter(self.queues.iter().map(|it| &it.name));
        QueueConfig {
            preemption: preemption(
                &names,
                &queue.preempts,
                queue.on_preemption,
                self.grace(queue.grace),
            ),
            name: queue.name.to_string(),
            // A check refuses queues without a number.
            number: queue.number.or(queue.partition).unwrap_or_default(),
            tier: queue.tier,
            priority: queue.priority,
            nodes,
            groups: queue.groups.clone(),
            users: queue.users.clone(),
            limits: QosLimits {
                group: queue.limits.to_model(),
                account: queue.account_limits.to_model(),
                person: queue.user_limits.to_model(),
                job: of_job(queue.longest.map(|it| it.0), queue.widest),
                ..QosLimits::default()
            },
        }
    }
}

impl Qos {
    fn to_model(&self, preemption: Preemption) -> QosConfig {
        QosConfig {
            preemption,
            name: self.name.to_string(),
            number: self.number,
            priority: self.priority,
            groups: self.groups.clone(),
            users: self.users.clone(),
            limits: QosLimits {
                group: self.limits.to_model(),
                account: self.account_limits.to_model(),
                person: self.user_limits.to_model(),
                job: of_job(self.longest.map(|it| it.0), self.widest),
                ..QosLimits::default()
            },
            over_queue: self.over_queue,
        }
    }
}

fn preemption(
    names: &[&Name],
    stopped: &[Name],
    then: file::OnPreemption,
    grace: Span,
) -> Preemption {
    let place = |name: &Name| names.iter().position(|it| *it == name);
    Preemption {
        stops: stopped.iter().filter_map(place).map(|it| it as u32).collect(),
        then: match then {
            file::OnPreemption::Requeue => OnPreemption::Requeue,
            file::OnPreemption::Cancel => OnPreemption::Cancel,
        },
        grace,
    }
}

impl Account {
    fn to_model(&self, parent: Option<u32>) -> AccountConfig {
        let UserLimits { running, submitted } = self.user_limits;
        AccountConfig {
            name: self.name.to_string(),
            parent,
            groups: self.groups.clone(),
            shares: Shares::Of(self.shares),
            limits: AssociationLimits {
                group: self.limits.to_model(),
                running,
                submitted,
                job: of_job(self.longest.map(|it| it.0), self.widest),
            },
            users: self.users.iter().map(|it| (it.user, Shares::Of(it.shares))).collect(),
        }
    }
}

impl Limits {
    fn to_model(&self) -> Together {
        let amounts = Caps {
            processors: self.processors.map(u64::from),
            memory: self.memory.map(|it| it.0),
            nodes: self.nodes.map(u64::from),
            gpus: self.gpus.map(u64::from),
        };
        Together { running: self.running, submitted: self.submitted, amounts }
    }
}

fn of_job(longest: Option<Span>, widest: Option<u32>) -> Alone {
    let amounts = Caps { processors: widest.map(u64::from), ..Caps::default() };
    Alone { amounts, time: longest }
}

impl Priority {
    fn to_model(&self) -> PriorityRules {
        let weights = &self.weights;
        PriorityRules {
            weights: Weights {
                age: weights.age,
                fair_share: weights.fair_share,
                job_size: weights.size,
                partition: weights.queue,
                qos: weights.qos,
                ..Weights::default()
            },
            max_age: self.max_age.0,
            size: match self.favours {
                Favours::Large => SizeRule::Large,
                Favours::Small => SizeRule::Small,
                Favours::LargeAndShort => SizeRule::LargeRelativeToTime,
                Favours::SmallAndLong => SizeRule::SmallRelativeToTime,
            },
            fair_share: match self.fair_share {
                FairShareRule::FairTree => FairShare::FairTree,
                FairShareRule::Classic => FairShare::Classic(self.dampening.unwrap_or(1.0)),
            },
            half_life: Some(self.half_life.0).filter(|&it| it > Span::ZERO),
            resets: Resets::default(),
            calculation_period: self.calculation_period.0,
        }
    }
}
