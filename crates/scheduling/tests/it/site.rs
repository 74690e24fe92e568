//! Rules of sites: against a version that counts all anew, and by hand.

use haggle_model::{Amounts, Demand, Nodes, Span};
use haggle_scheduling::priority::{
    AssociationLimits, Caps, FairShare, QosLimits, Resets, Shares, SizeRule, Weights,
};
use haggle_scheduling::site::{
    AccountConfig, OnPreemption, Owner, Preemption, PriorityRules, QosConfig, QueueConfig,
    QueueNumber, SiteConfig,
};
use haggle_scheduling::{Compression, NodeSet, NodesConfig, Placing, Policy, Scheduling};
use proptest::prelude::*;

use crate::nodes::{Work, config, failures, groups, partly, run};
use crate::obvious_nodes::ObviousNodes;

/// Nodes 0 and 1 have 4 processors, nodes 2 and 3 have 2.
fn machine() -> Nodes {
    groups(&[(2, Amounts::processors(4)), (2, Amounts::processors(2))])
}

fn priority() -> PriorityRules {
    PriorityRules {
        weights: Weights::default(),
        max_age: Span::from_secs(50),
        size: SizeRule::Large,
        fair_share: FairShare::FairTree,
        half_life: None,
        resets: Resets::default(),
        calculation_period: Span::from_secs(7),
    }
}

fn queue(number: i32) -> QueueConfig {
    QueueConfig {
        preemption: Preemption::default(),
        name: format!("queue {number}"),
        number,
        tier: 1,
        priority: 0,
        nodes: None,
        groups: None,
        users: None,
        limits: QosLimits::default(),
    }
}

fn qos(number: i32) -> QosConfig {
    QosConfig {
        preemption: Preemption::default(),
        name: format!("quality {number}"),
        number,
        priority: 0,
        groups: None,
        users: None,
        limits: QosLimits::default(),
        over_queue: false,
    }
}

fn account(group: i32, shares: u32) -> AccountConfig {
    AccountConfig {
        name: format!("account {group}"),
        parent: None,
        groups: vec![group],
        shares: Shares::Of(shares),
        limits: AssociationLimits::default(),
        users: Vec::new(),
    }
}

fn policies() -> [haggle_scheduling::SchedulerConfig; 3] {
    [
        config(Policy::Fcfs, Compression::None),
        config(Policy::Easy, Compression::None),
        config(Policy::Conservative, Compression::Replan),
    ]
}

fn sites() -> impl Strategy<Value = SiteConfig> {
    let weights = (0..3_u32, 0..3_u32, 0..3_u32, 0..3_u32, 0..3_u32);
    let queues = (1..3_u32, 0..5_u32, prop::option::of(1..3_u32), prop::option::of(5..20_i64));
    let queues = prop::collection::vec(queues, 3);
    let accounts = prop::collection::vec((0..4_u32, prop::option::of(3..9_u64)), 2);
    let limits = (prop::option::of(1..3_u32), prop::option::of(5..20_i64));
    let limits = (limits, prop::option::of(3..9_u64), any::<bool>(), 0..5_u32);
    // Queues and qualities of service go by different numbers.
    let quality = prop::option::of(prop::collection::vec(limits, 0..=3));
    // Queues and QOS of higher numbers stop those of lower numbers, so that there is no circle.
    let then = prop_oneof![3 => Just(OnPreemption::Requeue), 1 => Just(OnPreemption::Cancel)];
    let preemption = prop::collection::vec((0..3_u32, then, 0..4_i64), 3);
    let preemption = (preemption, 0..3_u32);
    (prop::option::of(weights), queues, accounts, quality, preemption).prop_map(
        |(weights, queues, accounts, quality, (preemption, kind))| {
            let preemption = |number: i32, of: u32| match kind == of {
                false => Preemption::default(),
                true => {
                    let (stops, then, grace) = preemption[number as usize - 1];
                    let stops = (0..number as u32 - 1).filter(|it| *it <= stops).collect();
                    Preemption { stops, then, grace: Span::from_secs(grace) }
                }
            };
            let weigh = |(age, fair_share, job_size, partition, qos)| PriorityRules {
                weights: Weights {
                    age: age * 100,
                    fair_share: fair_share * 100,
                    job_size: job_size * 100,
                    partition: partition * 100,
                    qos: qos * 100,
                    ..Weights::default()
                },
                ..priority()
            };
            // The queues overlap on node 1.
            let own = [vec![0, 1], vec![1, 2, 3], vec![0, 1, 2, 3]];
            let queues = (1..).zip(queues).zip(own);
            let queues = queues.map(|((number, (tier, priority, running, time)), own)| {
                let mut limits = QosLimits::default();
                limits.person.running = running;
                limits.job.time = time.map(Span::from_secs);
                let nodes = (number < 3).then(|| NodeSet::new(4, own));
                let users = (number == 3).then(|| vec![0, 1, 2]);
                let preemption = preemption(number, 1);
                QueueConfig { tier, priority, nodes, users, limits, preemption, ..queue(number) }
            });
            let accounts = (0..).zip(accounts).map(|(group, (shares, most))| {
                let mut it = account(group, shares);
                it.limits.group.amounts = Caps { processors: most, ..Caps::default() };
                it.users = vec![(1, Shares::Of(3)), (2, Shares::Parent)];
                it
            });
            let by = if quality.is_some() { QueueNumber::Partition } else { QueueNumber::Queue };
            let quality = (1..).zip(quality.into_iter().flatten());
            let quality = quality.map(|(number, ((running, time), most, over_queue, priority))| {
                let mut limits = QosLimits::default();
                limits.person.running = running;
                limits.job.time = time.map(Span::from_secs);
                limits.group.amounts.processors = most;
                let users = (number == 2).then(|| vec![0, 1, 2]);
                let preemption = preemption(number, 2);
                QosConfig { priority, users, limits, over_queue, preemption, ..qos(number) }
            });
            SiteConfig {
                accounts: accounts.collect(),
                queues: queues.collect(),
                queues_by: by,
                qos: quality.collect(),
                priority: weights.map(weigh),
            }
        },
    )
}

fn works() -> impl Strategy<Value = Vec<Work>> {
    let number = || prop::sample::select(vec![-1, 1, 2, 3]);
    let owner = (0..4_i32, 0..3_i32, number(), number());
    let job = (0..6_i64, 1..=25_i64, 1..=100_i64, 1..=8_u32, owner);
    prop::collection::vec(job, 1..30).prop_map(|drawn| {
        let mut submit = 0;
        let job = |(gap, requested, percent, processors, owner): (_, i64, i64, _, _)| {
            submit += gap;
            let (user, group, queue, partition) = owner;
            Work {
                submit,
                requested,
                run: (requested * percent / 100).max(1),
                demand: Demand::processors(processors),
                owner: Owner { user, group, queue, partition },
            }
        };
        drawn.into_iter().map(job).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn jobs_start_as_the_rules_counted_anew_say(
        works in works(),
        site in sites(),
        failures in failures(),
    ) {
        // The smallest node has two processors.
        let failures = Vec::from_iter(failures.into_iter().map(|it| (it.0, it.1, it.2, it.3.min(2))));
        for queue in policies().into_iter().chain(partly()) {
            let config = NodesConfig {
                nodes: Some(machine()),
                placing: Placing::Packed,
                queue,
                site: Some(site.clone()),
            };
            let fast = run(&mut **Scheduling::Nodes(Box::new(config.clone())).build(12), &works, &failures);
            let expected = run(&mut ObviousNodes::new(&config), &works, &failures);
            prop_assert_eq!(fast, expected, "{}", queue);
        }
    }
}

/// One machine of 4 processors without nodes.
fn four(policy: Policy, site: SiteConfig) -> NodesConfig {
    let compression = match policy {
        Policy::Conservative => Compression::Replan,
        _ => Compression::None,
    };
    NodesConfig {
        nodes: None,
        placing: Placing::Packed,
        queue: config(policy, compression),
        site: Some(site),
    }
}

/// A job of (submission, requested time, processors, user, queue), in seconds.
fn work(&(submit, requested, processors, user, queue): &(i64, i64, u32, i32, i32)) -> Work {
    Work {
        submit,
        requested,
        run: requested,
        demand: Demand::processors(processors),
        owner: Owner { user, group: -1, queue, partition: -1 },
    }
}

/// The starts of such jobs, in seconds; `None` = refused.
fn starts(config: &NodesConfig, jobs: &[(i64, i64, u32, i32, i32)]) -> Vec<Option<i64>> {
    let works = Vec::from_iter(jobs.iter().map(work));
    let (log, _) = run(&mut **Scheduling::Nodes(Box::new(config.clone())).build(4), &works, &[]);
    let start = |job| log.iter().find(|it| it.1 == job).map(|it| it.0);
    (0..jobs.len()).map(start).collect()
}

/// A user may run one job. Its second job waits, and is no head of the queue: later jobs pass it.
#[test]
fn a_job_that_a_limit_keeps_waits_and_keeps_no_other_job() {
    let mut only = queue(1);
    only.limits.person.running = Some(1);
    let site = SiteConfig { queues: vec![only], ..SiteConfig::default() };
    let jobs = [(0, 10, 1, 7, 1), (0, 10, 1, 7, 1), (1, 5, 4, 8, 1), (2, 5, 1, 9, 1)];
    let of = |policy| starts(&four(policy, site.clone()), &jobs);
    // The third job needs all processors. Under first come first served the fourth waits for it. When the first one ends,
    // the second one is first again.
    assert_eq!(of(Policy::Fcfs), [0, 10, 20, 25].map(Some));
    assert_eq!(of(Policy::Easy), [0, 10, 20, 2].map(Some));
    assert_eq!(of(Policy::Conservative), [0, 10, 20, 2].map(Some));
}

/// The second user has used nothing, so its job goes first at the first calculation.
#[test]
fn fair_share_puts_the_user_with_less_usage_first() {
    let mut rules = priority();
    rules.weights.fair_share = 1_000;
    let site = SiteConfig { priority: Some(rules), ..SiteConfig::default() };
    let jobs = [(0, 10, 4, 1, -1), (1, 10, 4, 1, -1), (2, 10, 4, 2, -1)];
    for policy in Policy::ALL {
        assert_eq!(starts(&four(policy, site.clone()), &jobs), [0, 20, 10].map(Some), "{policy:?}");
    }
}

#[test]
fn jobs_that_no_queue_takes_are_refused() {
    let mut short = queue(1);
    short.limits.job.time = Some(Span::from_secs(10));
    let mut own = queue(2);
    own.users = Some(vec![5]);
    own.limits.group.submitted = Some(1);
    let site = SiteConfig { queues: vec![short, own], ..SiteConfig::default() };
    let jobs = [
        (0, 10, 1, 1, 1),
        (0, 11, 1, 1, 1),
        // Without a number, in the first queue.
        (0, 9, 1, 1, -1),
        (0, 9, 1, 1, 3),
        (0, 9, 1, 1, 2),
        (0, 9, 1, 5, 2),
        (8, 9, 1, 5, 2),
        (9, 9, 1, 5, 2),
    ];
    let expected = [Some(0), None, Some(0), None, None, Some(0), None, Some(9)];
    assert_eq!(starts(&four(Policy::Easy, site), &jobs), expected);
}

/// The queue lets a user run two jobs, and the quality of service one, in eight processors for all.
#[test]
fn the_queue_and_the_quality_of_service_limit_jobs() {
    let (mut only, mut low, mut high) = (queue(1), qos(1), qos(2));
    only.limits.person.running = Some(2);
    low.limits.person.running = Some(1);
    low.limits.group.amounts.processors = Some(2);
    high.limits = low.limits;
    high.over_queue = true;
    let (queues, qos) = (vec![only], vec![low, high]);
    let queues_by = QueueNumber::Partition;
    let site = SiteConfig { queues, queues_by, qos, ..SiteConfig::default() };
    let config = four(Policy::Easy, site);
    // In the first one, the limit of the queue replaces its own limit on jobs, and not that on processors.
    let jobs = [(0, 10, 1, 5, 1), (0, 10, 1, 5, 1), (0, 10, 1, 6, 1), (0, 10, 1, 5, -1)];
    assert_eq!(starts(&config, &jobs), [0, 0, 10, 10].map(Some));
    let jobs = [(0, 10, 1, 5, 2), (0, 10, 1, 5, 2), (0, 10, 1, 6, 2), (0, 10, 3, 6, 2)];
    assert_eq!(starts(&config, &jobs), [Some(0), Some(10), Some(0), None]);
    // No quality of service has the number.
    assert_eq!(starts(&config, &[(0, 10, 1, 5, 3)]), [None]);
}

/// The job of the second queue is behind one of the first queue that waits for all nodes of that queue.
#[test]
fn each_queue_has_a_head_of_its_own() {
    let own = |number, nodes: [u32; 2]| QueueConfig {
        nodes: Some(NodeSet::new(4, nodes)),
        ..queue(number)
    };
    let site = SiteConfig { queues: vec![own(1, [0, 1]), own(2, [2, 3])], ..SiteConfig::default() };
    let jobs = [(0, 10, 1, 1, 1), (1, 10, 8, 1, 1), (2, 5, 4, 1, 2), (3, 5, 1, 1, 2)];
    for policy in Policy::ALL {
        let nodes = Some(machine());
        let config = NodesConfig { nodes, ..four(policy, site.clone()) };
        assert_eq!(starts(&config, &jobs), [0, 10, 2, 7].map(Some), "{policy:?}");
    }
}

/// Of three jobs of the first queue, the job of the second queue needs the processors of two. The third one started last, and is
/// too small, so that the second one is stopped, too. The third one is then not needed.
#[test]
fn jobs_that_started_last_are_stopped_if_they_are_needed() {
    let mut low = queue(1);
    low.preemption.grace = Span::from_secs(2);
    let high = QueueConfig {
        tier: 2,
        preemption: Preemption { stops: vec![0], ..Preemption::default() },
        ..queue(2)
    };
    let site = SiteConfig { queues: vec![low, high], ..SiteConfig::default() };
    let jobs =
        [(0, 20, 1, 1, 1), (1, 20, 2, 1, 1), (2, 20, 1, 1, 1), (5, 10, 2, 2, 2), (6, 1, 1, 2, 1)];
    for policy in Policy::ALL {
        let config = four(policy, site.clone());
        let works = Vec::from_iter(jobs.iter().map(work));
        let mut queue = Scheduling::Nodes(Box::new(config)).build(4);
        let (log, _) = run(&mut **queue, &works, &[]);
        let starts = Vec::from_iter(log.iter().map(|it| (it.0, it.1)));
        // The stopped job waits behind the short one, which came a second before its end.
        let expected = [(0, 0), (1, 1), (2, 2), (7, 3), (17, 4), (18, 1)];
        assert_eq!(starts, expected, "{policy:?}");
    }
}
