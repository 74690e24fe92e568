//! The priority of each waiting job at an instant.
//!
//! A queue uses it as follows:
//!
//! 1. [`Multifactor::start`] and [`Multifactor::end`] charge the user of each job that starts or ends.
//! 2. At a scheduling pass, [`Multifactor::calculate`] renews the fair share of all users, at most once in a
//!    calculation period.
//! 3. [`Multifactor::key`] is the place of a waiting job, smallest first. [`Multifactor::breakdown`] explains it.
//!
//! The fair share is that of the last multiple of the calculation period, so it does not depend on the instants
//! of passes. The age is that of the instant itself; Slurm renews it only once in a period, too.

use std::fmt;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::classic;
use super::factors::{
    Breakdown, Factors, Machine, SizeRule, Weights, age_factor, normalized, resource_factors,
};
use super::fair_tree::{self, Standing};
use super::resets::Resets;
use super::resources::{Billing, Totals};
use super::tree::{Association, Shares, Tree, TreeError};
use super::usage::Usage;

/// Definition of the fair-share factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum FairShare {
    /// [`fair_tree`].
    #[default]
    FairTree,
    /// [`classic`], with its dampening factor, which is positive.
    Classic(f64),
}

/// A partition as its jobs' priorities depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// `PriorityJobFactor`.
    pub priority: u32,
    /// All that it has, for the factors of resources.
    pub amounts: Totals,
}

/// Configuration of priorities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorityConfig {
    /// The weight of each factor.
    pub weights: Weights,
    /// Age at which the factor is 1 (`PriorityMaxAge`).
    pub max_age: Span,
    /// Which jobs are favoured by their size.
    pub size: SizeRule,
    /// Machine that sizes are compared with.
    pub machine: Machine,
    /// Definition of fair share.
    pub fair_share: FairShare,
    /// Time after which past usage counts half (`PriorityDecayHalfLife`); `None`: always in full.
    pub half_life: Option<Span>,
    /// Instants at which usage begins again at zero (`PriorityUsageResetPeriod`).
    pub resets: Resets,
    /// Time between two calculations of fair share (`PriorityCalcPeriod`), positive.
    pub calculation_period: Span,
    /// The partitions, by number.
    pub partitions: Vec<Partition>,
    /// Priority of each QOS, by number.
    pub qos: Vec<u32>,
    /// Priority of each association, by number; those that are missing have 0.
    pub associations: Vec<u32>,
}

impl PriorityConfig {
    /// Slurm's defaults for this machine: no weights, 7 days of age and half-life, fair tree every 5 minutes.
    pub fn new(machine: Machine) -> PriorityConfig {
        let week = Span::from_secs(7 * 24 * 3600);
        PriorityConfig {
            weights: Weights::default(),
            max_age: week,
            size: SizeRule::default(),
            machine,
            fair_share: FairShare::default(),
            half_life: Some(week),
            resets: Resets::default(),
            calculation_period: Span::from_secs(5 * 60),
            partitions: Vec::new(),
            qos: Vec::new(),
            associations: Vec::new(),
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityError {
    /// The calculation period is not positive.
    CalculationPeriod,
    /// The dampening factor is not positive.
    Dampening,
    /// The machine has no processors or no nodes.
    Machine,
}

impl fmt::Display for PriorityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PriorityError::CalculationPeriod => {
                "the calculation period is not positive: fair share needs a time between two calculations"
            }
            PriorityError::Dampening => "the dampening factor is not positive: 1 has no effect",
            PriorityError::Machine => {
                "the machine is empty: sizes of jobs need processors and nodes to compare with"
            }
        })
    }
}

impl std::error::Error for PriorityError {}

/// A waiting job as its priority depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityJob {
    /// The user whose fair share counts.
    pub user: Association,
    /// Instant from which it could have started, at its submission or later.
    pub eligible: Time,
    /// Totals that it asks for.
    pub asked: Totals,
    /// Its time limit, or that of the partition.
    pub limit: Option<Span>,
    /// Number of its partition; `None` without partitions.
    pub partition: Option<u32>,
    /// Number of its QOS.
    pub qos: Option<u32>,
    /// Added to the priority (`site_factor`).
    pub site: i64,
    /// Subtracted from the priority (`--nice`).
    pub nice: i64,
}

/// Priorities of a provider's waiting jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Multifactor {
    config: PriorityConfig,
    tree: Tree,
    usage: Usage,
    standing: Standing,
    /// Instant of the standing.
    calculated: Time,
    highest_partition: u32,
    highest_qos: u32,
    highest_association: u32,
}

impl Multifactor {
    /// Priorities without usage.
    ///
    /// # Errors
    /// If a setting cannot be used.
    pub fn new(config: PriorityConfig, tree: Tree) -> Result<Multifactor, PriorityError> {
        if config.calculation_period <= Span::ZERO {
            return Err(PriorityError::CalculationPeriod);
        }
        if matches!(config.fair_share, FairShare::Classic(dampening) if dampening.is_nan() || dampening <= 0.0)
        {
            return Err(PriorityError::Dampening);
        }
        if config.machine.processors == 0 || config.machine.nodes == 0 {
            return Err(PriorityError::Machine);
        }
        let highest = |priorities: &[u32]| priorities.iter().copied().max().unwrap_or(0);
        let partitions = config.partitions.iter().map(|partition| partition.priority);
        let mut multifactor = Multifactor {
            usage: Usage::new(&tree, config.half_life, config.resets),
            standing: Standing::default(),
            calculated: Time::PAST,
            highest_partition: partitions.max().unwrap_or(0),
            highest_qos: highest(&config.qos),
            highest_association: highest(&config.associations),
            config,
            tree,
        };
        multifactor.renew(Time::PAST);
        Ok(multifactor)
    }

    /// Adds a user to an account. The ranks of all users are renewed, as the new user is one of them; their usage is
    /// that of this instant.
    ///
    /// # Errors
    /// If the account is not an account of the tree.
    pub fn user(
        &mut self,
        account: Association,
        shares: Shares,
        now: Time,
    ) -> Result<Association, TreeError> {
        self.calculate(now);
        let user = self.tree.user(account, shares)?;
        self.usage.grow(&self.tree);
        self.rank(now);
        Ok(user)
    }

    /// Instant of the last calculation of fair share; [`Time::PAST`] before the first one.
    pub fn calculated(&self) -> Time {
        self.calculated
    }

    /// True if the age factor of a job that could start from this instant on still grows after the last calculation.
    pub fn may_age(&self, eligible: Time) -> bool {
        self.config.weights.age > 0 && self.calculated - eligible < self.config.max_age
    }

    /// Instant of the next calculation of fair share.
    pub fn next_calculation(&self) -> Time {
        match self.calculated {
            Time::PAST => Time::ZERO,
            calculated => calculated + self.config.calculation_period,
        }
    }

    /// The weight of each factor.
    pub fn weights(&self) -> &Weights {
        &self.config.weights
    }

    /// The associations.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The usage.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The fair share of each association at the last calculation.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// A user has usage of the past, in processor-seconds as of this instant. It counts from the next calculation on.
    pub fn add(&mut self, user: Association, processor_seconds: f64, now: Time) {
        self.calculate(now);
        self.usage.add(user, processor_seconds, now);
    }

    /// A job of this user starts.
    pub fn start(&mut self, user: Association, billing: Billing, now: Time) {
        self.calculate(now);
        self.usage.start(user, billing, now);
    }

    /// A job of this user ends.
    pub fn end(&mut self, user: Association, billing: Billing, now: Time) {
        self.calculate(now);
        self.usage.end(user, billing, now);
    }

    /// Renews the fair share if a calculation period has ended. Returns whether it was renewed.
    pub fn calculate(&mut self, now: Time) -> bool {
        let period = self.config.calculation_period.as_micros();
        let due = Time::from_micros(now.as_micros().div_euclid(period) * period);
        let renews = due > self.calculated;
        if renews {
            // Jobs that start or end call this first, so usage has not changed since the due instant.
            self.renew(due);
        }
        renews
    }

    fn renew(&mut self, at: Time) {
        self.calculated = at;
        self.rank(at);
    }

    fn rank(&mut self, at: Time) {
        let raw = self.usage.raw(&self.tree, at);
        self.standing = fair_tree::standing(&self.tree, &raw);
        if let FairShare::Classic(dampening) = self.config.fair_share {
            self.standing.factor = classic::factors(&self.tree, &raw, dampening);
        }
    }

    /// The factors of a job, each from 0 to 1.
    ///
    /// # Panics
    /// If its user, its partition or its QOS has no such number.
    pub fn factors(&self, job: &PriorityJob, now: Time) -> Factors {
        let config = &self.config;
        let partition = job.partition.map(|partition| config.partitions[partition as usize]);
        let association = config.associations.get(job.user.index()).copied().unwrap_or(0);
        let count = |amount: u64| u32::try_from(amount).unwrap_or(u32::MAX);
        let (processors, nodes) = (count(job.asked.processors), count(job.asked.nodes));
        Factors {
            age: age_factor(now - job.eligible, config.max_age),
            association: normalized(association, self.highest_association),
            fair_share: self.standing.factor[job.user.index()],
            job_size: config.size.factor(config.machine, processors, nodes, job.limit),
            partition: partition
                .map_or(0.0, |partition| normalized(partition.priority, self.highest_partition)),
            qos: job.qos.map_or(0.0, |qos| normalized(config.qos[qos as usize], self.highest_qos)),
            resources: partition
                .map(|partition| resource_factors(job.asked, partition.amounts))
                .unwrap_or_default(),
        }
    }

    /// The contribution of each factor to the priority of a job.
    ///
    /// # Panics
    /// As [`Multifactor::factors`].
    pub fn breakdown(&self, job: &PriorityJob, now: Time) -> Breakdown {
        self.factors(job, now).weighted(&self.config.weights, job.site, job.nice)
    }

    /// The place of a job among waiting jobs, smallest first: its negative priority. Jobs with the same key stay
    /// in the order of their submission.
    ///
    /// # Panics
    /// As [`Multifactor::factors`].
    pub fn key(&self, job: &PriorityJob, now: Time) -> i64 {
        -i64::from(self.breakdown(job, now).priority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { processors: 100, nodes: 100 };
    const HOUR: Span = Span::from_secs(3600);

    fn job(user: Association, eligible: Time) -> PriorityJob {
        let asked = Totals { processors: 10, nodes: 10, ..Totals::default() };
        let (partition, qos) = (None, None);
        PriorityJob { user, eligible, asked, limit: None, partition, qos, site: 0, nice: 0 }
    }

    /// Two users with equal shares. Both are first until the first one has run for a period of 5 minutes.
    #[test]
    fn usage_lowers_a_user_from_the_next_calculation_on() {
        let mut tree = Tree::new();
        let users = [0, 1].map(|_| tree.user(Association::ROOT, Shares::Of(1)).unwrap());
        let mut config = PriorityConfig::new(MACHINE);
        config.weights = Weights { fair_share: 1000, age: 7 * 24, ..Weights::default() };
        let mut priorities = Multifactor::new(config, tree).unwrap();
        priorities.start(users[0], Billing::of(10.0), Time::ZERO);
        let keys = |priorities: &Multifactor, now| {
            users.map(|user| priorities.key(&job(user, Time::ZERO), now))
        };
        let soon = Time::from_secs(299);
        assert!(!priorities.calculate(soon));
        assert_eq!(keys(&priorities, soon), [-1000, -1000]);
        let later = Time::ZERO + HOUR;
        assert!(priorities.calculate(later));
        // An hour is 1/168 of the greatest age.
        assert_eq!(keys(&priorities, later), [-501, -1001]);
        assert!(!priorities.calculate(later));
    }

    /// A calculation that no pass asked for is made up before usage changes.
    #[test]
    fn passes_do_not_change_the_fair_share() {
        let mut tree = Tree::new();
        let users = [0, 1].map(|_| tree.user(Association::ROOT, Shares::Of(1)).unwrap());
        let often = Multifactor::new(PriorityConfig::new(MACHINE), tree).unwrap();
        let (mut often, mut seldom) = (often.clone(), often);
        for (at, user, runs) in [(10, 0, true), (700, 0, false), (701, 1, true), (1400, 1, false)] {
            let now = Time::from_secs(at);
            for second in 0..at {
                often.calculate(Time::from_secs(second));
            }
            for priorities in [&mut often, &mut seldom] {
                match runs {
                    true => priorities.start(users[user], Billing::of(1.0), now),
                    false => priorities.end(users[user], Billing::of(1.0), now),
                }
            }
            assert_eq!(often.standing(), seldom.standing());
        }
    }

    /// After a day, the 1000 processor-seconds of the first user count 500, less than the 600 of the second user.
    #[test]
    fn usage_of_the_past_counts() {
        let mut tree = Tree::new();
        let users = [0, 1].map(|_| tree.user(Association::ROOT, Shares::Of(1)).unwrap());
        let mut config = PriorityConfig::new(MACHINE);
        config.half_life = Some(HOUR * 24);
        config.calculation_period = HOUR;
        let mut priorities = Multifactor::new(config, tree).unwrap();
        let day = |days: i64| Time::ZERO + HOUR * 24 * days;
        priorities.add(users[0], 1000.0, day(-1));
        priorities.calculate(day(0));
        assert_eq!(priorities.standing().factor, [0.0, 0.5, 1.0]);
        priorities.add(users[1], 600.0, day(0));
        priorities.calculate(day(1));
        assert_eq!(priorities.standing().factor, [0.0, 1.0, 0.5]);
        assert!((priorities.usage().raw(priorities.tree(), day(1))[0] - 550.0).abs() < 1e-9);
    }

    #[test]
    fn all_factors_add_up() {
        let mut tree = Tree::new();
        let user = tree.user(Association::ROOT, Shares::Of(1)).unwrap();
        let mut config = PriorityConfig::new(MACHINE);
        config.weights = Weights {
            age: 100,
            association: 200,
            fair_share: 300,
            job_size: 400,
            partition: 500,
            qos: 600,
            resources: super::super::PerResource { processors: 700.0, ..Default::default() },
        };
        let amounts = Totals { processors: 50, ..Totals::default() };
        config.partitions =
            vec![Partition { priority: 10, amounts }, Partition { priority: 40, amounts }];
        config.qos = vec![0, 3, 4];
        config.associations = vec![8, 2];
        let priorities = Multifactor::new(config, tree).unwrap();
        let waits = PriorityJob {
            partition: Some(0),
            qos: Some(1),
            site: 1000,
            nice: 30,
            ..job(user, Time::ZERO)
        };
        let breakdown = priorities.breakdown(&waits, Time::ZERO + HOUR * 84);
        let expected = Breakdown {
            age: 50.0,
            association: 50.0,
            fair_share: 300.0,
            job_size: 40.0,
            partition: 125.0,
            qos: 450.0,
            resources: super::super::PerResource { processors: 140.0, ..Default::default() },
            site: 1000,
            nice: 30,
        };
        assert_eq!(breakdown, expected);
        assert_eq!(breakdown.priority(), 2125);
    }

    #[test]
    fn settings_that_cannot_be_used() {
        let refused = |change: fn(&mut PriorityConfig)| {
            let mut config = PriorityConfig::new(MACHINE);
            change(&mut config);
            Multifactor::new(config, Tree::new()).expect_err("refused")
        };
        let period = refused(|config| config.calculation_period = Span::ZERO);
        assert_eq!(period, PriorityError::CalculationPeriod);
        let dampening = refused(|config| config.fair_share = FairShare::Classic(f64::NAN));
        assert_eq!(dampening, PriorityError::Dampening);
        assert_eq!(refused(|config| config.machine.nodes = 0), PriorityError::Machine);
    }
}
