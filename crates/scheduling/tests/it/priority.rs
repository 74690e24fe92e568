//! Priorities and limits for random trees, jobs and limits.

use haggle_model::{Span, Time};
use haggle_scheduling::priority::limits::{Alone, Caps, Together};
use haggle_scheduling::priority::{
    Association, AssociationLimits, Billing, Claim, FairShare, Ledger, Machine, Multifactor,
    Partition, PerResource, PriorityConfig, PriorityJob, QosLimits, Resets, Shares, Totals, Tree,
    Usage, Weights, classic, fair_tree,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::obvious_priority::{self, Counted};

/// Members of a tree: the number of their parent among the accounts before them, user or account, shares.
type Members = Vec<(usize, bool, Option<u32>)>;

fn members() -> impl Strategy<Value = Members> {
    // Few shares, so that many levels are tied.
    vec((0_usize..100, prop::bool::weighted(0.6), option::weighted(0.85, 0_u32..3)), 1..25)
}

fn plant(members: &Members) -> Tree {
    let mut tree = Tree::new();
    let mut accounts = vec![Association::ROOT];
    for &(parent, is_user, shares) in members {
        let parent = accounts[parent % accounts.len()];
        let shares = shares.map_or(Shares::Parent, Shares::Of);
        if is_user {
            tree.user(parent, shares).unwrap();
        } else {
            accounts.push(tree.account(parent, shares).unwrap());
        }
    }
    tree
}

/// Usage of all associations, from that of users.
fn sums(tree: &Tree, used: &[u32]) -> Vec<f64> {
    let mut raw = vec![0.0; tree.len()];
    for user in tree.associations().filter(|&at| tree.is_user(at)) {
        let used = f64::from(used[user.index() % used.len()]);
        tree.path(user).for_each(|above| raw[above.index()] += used);
    }
    raw
}

fn caps(cap: impl Strategy<Value = Option<u64>> + Clone) -> impl Strategy<Value = Caps> {
    [cap.clone(), cap.clone(), cap.clone(), cap]
        .prop_map(|[processors, memory, nodes, gpus]| Caps { processors, memory, nodes, gpus })
}

fn together() -> impl Strategy<Value = Together> {
    let count = || option::weighted(0.2, 0_u32..5);
    (count(), count(), caps(option::weighted(0.2, 0_u64..12)))
        .prop_map(|(running, submitted, amounts)| Together { running, submitted, amounts })
}

fn alone() -> impl Strategy<Value = Alone> {
    let time = option::weighted(0.1, (1_i64..4).prop_map(Span::from_secs));
    (caps(option::weighted(0.1, 2_u64..5)), time)
        .prop_map(|(amounts, time)| Alone { amounts, time })
}

fn association_limits() -> impl Strategy<Value = AssociationLimits> {
    let count = || option::weighted(0.2, 0_u32..4);
    (together(), count(), count(), alone()).prop_map(|(group, running, submitted, job)| {
        AssociationLimits { group, running, submitted, job }
    })
}

fn qos_limits() -> impl Strategy<Value = QosLimits> {
    let least = [0_u64..2, 0_u64..2, 0_u64..2, 0_u64..2].prop_map(obvious_priority::amounts);
    (together(), together(), together(), alone(), least).prop_map(
        |(group, account, person, job, least)| QosLimits { group, account, person, job, least },
    )
}

/// A job: its user, its QOS, its amounts and its time. A step of a history is a job and a choice.
type Step = (usize, [Option<u32>; 2], [u64; 4], Option<i64>, usize);

fn step() -> impl Strategy<Value = Step> {
    let qos = [option::weighted(0.4, 0_u32..3), option::weighted(0.8, 0_u32..3)];
    let amounts = [0_u64..5, 0_u64..5, 0_u64..5, 0_u64..5];
    (0_usize..100, qos, amounts, option::weighted(0.9, 1_i64..5), 0_usize..100)
}

proptest! {
    #[test]
    fn fair_tree_is_that_of_its_definition(members in members(), used in vec(0_u32..3, 1..25)) {
        let tree = plant(&members);
        let raw = sums(&tree, &used);
        prop_assert_eq!(fair_tree::standing(&tree, &raw).factor, obvious_priority::fair_tree(&tree, &raw));
    }

    #[test]
    fn factors_are_between_0_and_1_and_the_best_user_has_1(
        members in members(),
        used in vec(0_u32..1000, 1..25),
    ) {
        let tree = plant(&members);
        let raw = sums(&tree, &used);
        let factor = fair_tree::standing(&tree, &raw).factor;
        let classic = classic::factors(&tree, &raw, 1.0);
        prop_assert!(factor.iter().chain(&classic).all(|factor| (0.0..=1.0).contains(factor)));
        if tree.users() > 0 {
            prop_assert_eq!(factor.into_iter().fold(0.0, f64::max), 1.0);
        }
    }

    /// More usage of a user never gives it a better rank.
    #[test]
    fn usage_never_helps_its_user(members in members(), used in vec(0_u32..9, 25), more in 1_u32..9) {
        let tree = plant(&members);
        let raw = sums(&tree, &used);
        let before = fair_tree::standing(&tree, &raw).factor;
        for user in tree.associations().filter(|&at| tree.is_user(at)) {
            let mut used = used.clone();
            used[user.index() % 25] += more;
            let after = fair_tree::standing(&tree, &sums(&tree, &used)).factor;
            prop_assert!(after[user.index()] <= before[user.index()]);
        }
    }

    /// The usage in closed form is the sum over short steps, by the rule for each step.
    #[test]
    fn usage_is_the_sum_over_all_seconds(
        half_life in option::weighted(0.8, 100_i64..5_000),
        jobs in vec((0_i64..1_000, 1_i64..1_000, 1_u32..9), 1..8),
        at in 0_i64..2_000,
    ) {
        let mut tree = Tree::new();
        let user = tree.user(Association::ROOT, Shares::Of(1)).unwrap();
        let mut usage = Usage::new(&tree, half_life.map(Span::from_secs), Resets::default());
        let mut events: Vec<(i64, bool, f64)> = Vec::new();
        for &(start, length, width) in &jobs {
            events.push((start, true, f64::from(width)));
            events.push((start + length, false, f64::from(width)));
        }
        events.retain(|&(time, ..)| time <= at);
        events.sort_by_key(|&(time, starts, _)| (time, !starts));
        for (time, starts, width) in events {
            let (now, billing) = (Time::from_secs(time), Billing::of(width));
            if starts { usage.start(user, billing, now) } else { usage.end(user, billing, now) }
        }
        let found = usage.raw(&tree, Time::from_secs(at))[user.index()];
        let mut sum = 0.0;
        for second in 0..at {
            let middle = second as f64 + 0.5;
            let decay = half_life.map_or(1.0, |half| (-(at as f64 - middle) / half as f64).exp2());
            let running = jobs.iter().filter(|&&(start, length, _)| (start..start + length).contains(&second));
            sum += running.map(|&(.., width)| f64::from(width) * decay).sum::<f64>();
        }
        prop_assert!((found - sum).abs() <= 1e-4 * sum, "{} by steps {}", found, sum);
    }

    /// A ledger answers as a count of all jobs does.
    #[test]
    fn a_ledger_agrees_with_a_count_of_all_jobs(
        members in members(),
        limits in vec(association_limits(), 30),
        qos in vec(qos_limits(), 3),
        steps in vec(step(), 1..40),
    ) {
        let tree = plant(&members);
        let users: Vec<Association> = tree.associations().filter(|&at| tree.is_user(at)).collect();
        prop_assume!(!users.is_empty());
        let mut ledger = Ledger::new(&tree, limits[..tree.len()].to_vec(), qos.clone());
        let mut counted = Counted { tree: &tree, associations: &limits, qos: &qos, jobs: Vec::new() };
        for (user, qos, amounts, time, choice) in steps {
            let user = users[user % users.len()];
            let (amounts, time) = (obvious_priority::amounts(amounts), time.map(Span::from_secs));
            let claim = Claim { user, person: user.0 % 3, qos, amounts, time };
            let answer = ledger.may_submit(&claim);
            let reasons = counted.keep_from_submission(&claim);
            prop_assert!(obvious_priority::agrees(answer, &reasons), "{:?} of {:?}", answer, reasons);
            let answer = ledger.may_start(&claim);
            let reasons = counted.keep_from_start(&claim);
            prop_assert!(obvious_priority::agrees(answer, &reasons), "{:?} of {:?}", answer, reasons);
            // Limits may be exceeded by jobs that were there before, so a refused job may run as well.
            ledger.submit(&claim);
            counted.jobs.push((claim, false));
            let at = choice % counted.jobs.len();
            let (other, runs) = counted.jobs[at];
            match (runs, choice % 3) {
                (false, 0) => {
                    ledger.withdraw(&other);
                    counted.jobs.swap_remove(at);
                }
                (false, _) => {
                    ledger.start(&other);
                    counted.jobs[at].1 = true;
                }
                (true, 0) => {
                    ledger.end(&other);
                    counted.jobs.swap_remove(at);
                }
                (true, _) => {
                    ledger.stop(&other);
                    counted.jobs[at].1 = false;
                }
            }
        }
    }
}

/// Priorities and shares that Slurm 22.05.8 gave on a machine of two nodes with four processors each. Accounts a, b and c
/// have 3, 1 and 2 shares. Slurm started 14 seconds before the first jobs, and calculates once a minute.
#[test]
fn priorities_are_those_of_a_real_slurm() {
    let mut tree = Tree::new();
    let root = tree.user(Association::ROOT, Shares::Of(1)).unwrap();
    let [a, b, c] =
        [3, 1, 2].map(|shares| tree.account(Association::ROOT, Shares::Of(shares)).unwrap());
    let mut user = |account, shares| tree.user(account, shares).unwrap();
    let (bin, games) = (user(a, Shares::Of(1)), user(a, Shares::Of(1)));
    let (man, mail) = (user(b, Shares::Of(2)), user(b, Shares::Of(1)));
    let news = user(c, Shares::Parent);

    let minute = Span::from_secs(60);
    let amounts = Totals { processors: 8, nodes: 2, ..Totals::default() };
    let mut config = PriorityConfig::new(Machine { processors: 8, nodes: 2 });
    config.weights = Weights {
        age: 1000,
        fair_share: 10_000,
        job_size: 1000,
        partition: 1000,
        qos: 500,
        resources: PerResource { processors: 2000.0, ..PerResource::default() },
        ..Weights::default()
    };
    config.max_age = minute * 10;
    config.half_life = Some(minute * 60);
    config.calculation_period = minute;
    config.partitions = [10, 40].map(|priority| Partition { priority, amounts }).to_vec();
    let (normal, fast, small) = (0, 1, 2);
    config.qos = vec![10, 40, 0];
    let mut priorities = Multifactor::new(config, tree).unwrap();

    let ran = [
        (bin, 3, 14, 54),
        (games, 1, 14, 54),
        (man, 2, 14, 55),
        (mail, 1, 14, 55),
        (news, 1, 14, 55),
    ];
    for (user, width, start, _) in ran {
        priorities.start(user, Billing::of(f64::from(width)), Time::from_secs(start));
    }
    for (user, width, _, end) in ran {
        priorities.end(user, Billing::of(f64::from(width)), Time::from_secs(end));
    }
    priorities.start(bin, Billing::of(8.0), Time::from_secs(55));
    let now = Time::ZERO + minute;
    assert!(priorities.calculate(now));

    // User, QOS, partition, processors, nodes, submission, nice, and the priority by `sprio`.
    let waits = [
        (bin, fast, 1, 4, 1, 30, 0, 8050),
        (games, normal, 0, 2, 1, 30, 0, 7966),
        (man, normal, 1, 6, 2, 30, 100, 6783),
        (mail, small, 0, 1, 1, 31, 0, 4194),
        (news, normal, 0, 2, 1, 31, 0, 9631),
        (news, normal, 0, 3, 1, 31, 0, 9944),
    ];
    for (user, qos, partition, processors, nodes, submitted, nice, expected) in waits {
        let asked = Totals { processors, nodes, ..Totals::default() };
        let eligible = Time::from_secs(submitted);
        let (partition, qos, limit, site) = (Some(partition), Some(qos), None, 0);
        let job = PriorityJob { user, eligible, asked, limit, partition, qos, site, nice };
        assert_eq!(priorities.breakdown(&job, now).priority(), expected);
    }

    let factor = |user: Association| priorities.standing().factor[user.index()];
    let ranks = [root, news, games, bin, mail, man].map(|user| factor(user) * 6.0);
    for (rank, by_sshare) in ranks.into_iter().zip([6.0, 5.0, 4.0, 3.0, 2.0, 2.0]) {
        assert!((rank - by_sshare).abs() < 1e-9, "{rank}");
    }
    // Slurm rounds down, and decays usage by up to two whole minutes too much: each is 1.1 % of a half-life of an hour.
    let raw = priorities.usage().raw(priorities.tree(), now);
    for (association, by_sshare) in
        [(Association::ROOT, 357.0), (a, 196.0), (bin, 157.0), (games, 39.0), (man, 80.0)]
    {
        let usage = raw[association.index()];
        assert!(usage >= by_sshare && usage < 1.015 * (by_sshare + 1.0), "{usage} for {by_sshare}");
    }
    for (association, by_sshare) in
        [(a, 0.778640), (bin, 0.624426), (games, 2.509229), (b, 0.423667), (c, 2.542)]
    {
        let level = priorities.standing().level[association.index()].unwrap();
        assert!((level / by_sshare - 1.0).abs() < 0.01, "{level} for {by_sshare}");
    }
}

/// Parts of all usage, and factors, by `sshare` of Slurm 22.05.8 with `PriorityFlags=NO_FAIR_TREE`.
#[test]
fn classic_factors_are_those_of_a_real_slurm() {
    let mut tree = Tree::new();
    let root = Association::ROOT;
    let of = Shares::Of;
    let [a, b, c, d] = [3, 1, 2, 0].map(|shares| tree.account(root, of(shares)).unwrap());
    let users = [
        (root, of(1), 0.0, 1.0),
        (a, of(1), 0.456617, 0.196570),
        (a, of(1), 0.092573, 0.354179),
        (b, of(1), 0.092708, 0.077609),
        (b, of(2), 0.248682, 0.104378),
        (c, Shares::Parent, 0.093313, 0.797417),
        (d, of(1), 0.016107, 0.0),
        (d, of(1), 0.0, 0.0),
    ];
    let all = users.map(|(account, shares, ..)| tree.user(account, shares).unwrap());
    let mut raw = vec![0.0; tree.len()];
    for (user, (_, _, used, _)) in all.iter().zip(users) {
        tree.path(*user).for_each(|above| raw[above.index()] += used);
    }
    let factors = classic::factors(&tree, &raw, 1.0);
    let accounts = [(a, 0.411383), (b, 0.190818), (c, 0.797417), (d, 0.0)];
    let expected = users.map(|(.., expected)| expected);
    for (association, expected) in all.into_iter().zip(expected).chain(accounts) {
        let factor = factors[association.index()];
        assert!((factor - expected).abs() < 2e-6, "{factor} for {expected}");
    }
}

/// A saved state continues as the state itself.
#[test]
fn a_saved_state_continues() {
    let mut tree = Tree::new();
    let account = tree.account(Association::ROOT, Shares::Of(2)).unwrap();
    let user = tree.user(account, Shares::Of(1)).unwrap();
    let mut config = PriorityConfig::new(Machine { processors: 8, nodes: 1 });
    config.weights = Weights { fair_share: 1_000_000, ..Weights::default() };
    config.fair_share = FairShare::Classic(1.0);
    let mut priorities = Multifactor::new(config, tree).unwrap();
    priorities.start(user, Billing::of(3.7), Time::from_secs(11));
    let saved = postcard::to_stdvec(&priorities).unwrap();
    let mut again: Multifactor = postcard::from_bytes(&saved).unwrap();
    for seconds in [299, 300, 100_000] {
        let now = Time::from_secs(seconds);
        assert_eq!(again.calculate(now), priorities.calculate(now));
        assert_eq!(again.standing().factor, priorities.standing().factor);
    }
}
