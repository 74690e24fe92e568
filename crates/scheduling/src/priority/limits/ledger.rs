//! The ledger: who has submitted and who runs how much.

use std::collections::BTreeMap;

use haggle_model::Span;
use serde::{Deserialize, Serialize};

use super::reason::{
    ASSOC_GROUP, ASSOC_JOB, QOS_ACCOUNT, QOS_GROUP, QOS_JOB, QOS_LEAST, QOS_PERSON,
};
use super::reason::{Reason, Reasons};
use super::{Alone, AssociationLimits, Caps, Claim, QosLimits, Together};
use crate::priority::resources::{PerResource, Totals};
use crate::priority::tree::{Association, Tree};

/// Jobs that are counted against limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Used {
    running: u32,
    submitted: u32,
    /// Of running jobs.
    amounts: Totals,
}

/// Jobs of one QOS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct QosUsed {
    group: Used,
    accounts: BTreeMap<Association, Used>,
    people: BTreeMap<u32, Used>,
}

/// Counts submitted and running jobs, and decides whether limits permit one more.
///
/// Each job is [submitted](Ledger::submit) once. It then [starts](Ledger::start) and [ends](Ledger::end),
/// or it is [withdrawn](Ledger::withdraw). A claim must be the same in all of these calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The account above each association.
    parents: Vec<Association>,
    /// By association; users have inherited the limits of their own jobs.
    associations: Vec<AssociationLimits>,
    qos: Vec<QosLimits>,
    by_association: Vec<Used>,
    by_qos: Vec<QosUsed>,
}

/// The limits on one job: those of each QOS that no QOS before it defines, and all that any QOS defines.
struct Rules {
    by_qos: [Option<(usize, QosLimits)>; 2],
    defined: QosLimits,
}

impl Ledger {
    /// An empty ledger. Limits are given by number of association and of QOS. Associations without an entry have
    /// no limits of their own.
    pub fn new(
        tree: &Tree,
        mut associations: Vec<AssociationLimits>,
        qos: Vec<QosLimits>,
    ) -> Ledger {
        associations.resize(tree.len(), AssociationLimits::default());
        // Parents come first, so they have inherited already.
        for association in tree.associations().skip(1) {
            let above = associations[tree.parent(association).index()];
            associations[association.index()].inherit(&above);
        }
        Ledger {
            parents: tree.associations().map(|association| tree.parent(association)).collect(),
            associations,
            by_association: vec![Used::default(); tree.len()],
            by_qos: vec![QosUsed::default(); qos.len()],
            qos,
        }
    }

    /// Adds the user that was added last to the tree. It has no limits of its own.
    pub fn user(&mut self, account: Association) {
        let mut limits = AssociationLimits::default();
        limits.inherit(&self.associations[account.index()]);
        self.associations.push(limits);
        self.parents.push(account);
        self.by_association.push(Used::default());
    }

    /// Limits permit the submission of a job.
    ///
    /// # Errors
    /// The first limit that it exceeds.
    ///
    /// # Panics
    /// As all functions of the ledger, if the user or a QOS of the claim has no such number.
    pub fn may_submit(&self, claim: &Claim) -> Result<(), Reason> {
        let submitted = |limits: Together, used: Used, reasons: &Reasons| {
            count(limits.submitted, used.submitted, reasons.submitted)
        };
        let rules = self.rules(claim);
        for (qos, limits) in rules.by_qos.iter().flatten() {
            self.each_group(*qos, limits, claim, submitted)?;
        }
        let free = rules.defined.account.submitted.or(rules.defined.person.submitted).is_none();
        for account in self.path(claim.user) {
            let (limits, used) = self.at(account);
            submitted(limits.group.without(rules.defined.group), used, &ASSOC_GROUP)?;
            if account == claim.user && free {
                count(limits.submitted, used.submitted, Reason::AssocMaxSubmit)?;
            }
        }
        Ok(())
    }

    /// Limits permit a submitted job to start.
    ///
    /// # Errors
    /// The first limit that it exceeds.
    pub fn may_start(&self, claim: &Claim) -> Result<(), Reason> {
        let rules = self.rules(claim);
        self.may_run(claim, &rules)?;
        self.may_hold(claim, &rules)
    }

    /// Limits on counts of jobs, and on time.
    fn may_run(&self, claim: &Claim, rules: &Rules) -> Result<(), Reason> {
        let running = |limits: Together, used: Used, reasons: &Reasons| {
            count(limits.running, used.running, reasons.running)
        };
        for (qos, limits) in rules.by_qos.iter().flatten() {
            self.each_group(*qos, limits, claim, running)?;
            time(limits.job, claim, Reason::QosJobTime)?;
        }
        let free = rules.defined.account.running.or(rules.defined.person.running).is_none();
        for account in self.path(claim.user) {
            let (limits, used) = self.at(account);
            running(limits.group.without(rules.defined.group), used, &ASSOC_GROUP)?;
            if account == claim.user {
                if free {
                    count(limits.running, used.running, Reason::AssocMaxJobs)?;
                }
                time(limits.job.without(rules.defined.job), claim, Reason::AssocJobTime)?;
            }
        }
        Ok(())
    }

    /// Limits on resources.
    fn may_hold(&self, claim: &Claim, rules: &Rules) -> Result<(), Reason> {
        let asked = claim.amounts;
        for (qos, limits) in rules.by_qos.iter().flatten() {
            let used = &self.by_qos[*qos];
            amounts(limits.group.amounts, used.group.amounts, asked, QOS_GROUP.amounts)?;
            amounts(limits.job.amounts, Totals::default(), asked, QOS_JOB)?;
            least(limits.least, asked)?;
            let account = self.in_account(used, claim).amounts;
            amounts(limits.account.amounts, account, asked, QOS_ACCOUNT.amounts)?;
            let person = used.people.get(&claim.person).copied().unwrap_or_default().amounts;
            amounts(limits.person.amounts, person, asked, QOS_PERSON.amounts)?;
        }
        for account in self.path(claim.user) {
            let (limits, used) = self.at(account);
            let group = limits.group.without(rules.defined.group).amounts;
            amounts(group, used.amounts, asked, ASSOC_GROUP.amounts)?;
            if account == claim.user {
                let job = limits.job.without(rules.defined.job).amounts;
                amounts(job, Totals::default(), asked, ASSOC_JOB)?;
            }
        }
        Ok(())
    }

    /// Applies a check to the three groups of a QOS that a job belongs to.
    fn each_group(
        &self,
        qos: usize,
        limits: &QosLimits,
        claim: &Claim,
        check: impl Fn(Together, Used, &Reasons) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let used = &self.by_qos[qos];
        check(limits.group, used.group, &QOS_GROUP)?;
        check(limits.account, self.in_account(used, claim), &QOS_ACCOUNT)?;
        let person = used.people.get(&claim.person).copied().unwrap_or_default();
        check(limits.person, person, &QOS_PERSON)
    }

    /// The jobs of a QOS in the account of a claim.
    fn in_account(&self, used: &QosUsed, claim: &Claim) -> Used {
        let account = self.parents[claim.user.index()];
        used.accounts.get(&account).copied().unwrap_or_default()
    }

    fn rules(&self, claim: &Claim) -> Rules {
        let mut defined = QosLimits::default();
        let by_qos = claim.qos.map(|qos| {
            let limits = self.qos[qos? as usize].without(&defined);
            defined = defined.or(&limits);
            Some((qos? as usize, limits))
        });
        Rules { by_qos, defined }
    }

    /// The user and the accounts above.
    fn path(&self, user: Association) -> impl Iterator<Item = Association> {
        let above = |&at: &Association| (at != Association::ROOT).then(|| self.parents[at.index()]);
        std::iter::successors(Some(user), above)
    }

    fn at(&self, association: Association) -> (&AssociationLimits, Used) {
        (&self.associations[association.index()], self.by_association[association.index()])
    }

    /// A job is submitted.
    pub fn submit(&mut self, claim: &Claim) {
        self.count(claim, |used| used.submitted += 1);
    }

    /// A waiting job goes away without a start.
    pub fn withdraw(&mut self, claim: &Claim) {
        self.count(claim, |used| used.submitted -= 1);
    }

    /// A submitted job starts.
    pub fn start(&mut self, claim: &Claim) {
        self.count(claim, |used| {
            used.running += 1;
            used.amounts = used.amounts.zip(claim.amounts, |used, held| used + held);
        });
    }

    /// A running job ends.
    pub fn end(&mut self, claim: &Claim) {
        self.stop(claim);
        self.withdraw(claim);
    }

    /// A running job waits again.
    pub fn stop(&mut self, claim: &Claim) {
        self.count(claim, |used| {
            used.running -= 1;
            used.amounts = used.amounts.zip(claim.amounts, |used, held| used - held);
        });
    }

    /// Applies a change to all counts that a job belongs to. The two QOS of a job may be one and the same,
    /// which counts it once.
    fn count(&mut self, claim: &Claim, mut change: impl FnMut(&mut Used)) {
        let path: Vec<Association> = self.path(claim.user).collect();
        path.iter().for_each(|at| change(&mut self.by_association[at.index()]));
        let [first, second] = claim.qos;
        let account = self.parents[claim.user.index()];
        for qos in first.into_iter().chain(second.filter(|_| second != first)) {
            let used = &mut self.by_qos[qos as usize];
            change(&mut used.group);
            change(used.accounts.entry(account).or_default());
            change(used.people.entry(claim.person).or_default());
        }
    }
}

/// Refuses one more job than the limit.
fn count(limit: Option<u32>, used: u32, reason: Reason) -> Result<(), Reason> {
    if limit.is_some_and(|limit| used >= limit) { Err(reason) } else { Ok(()) }
}

/// Refuses a longer time limit.
fn time(limits: Alone, claim: &Claim, reason: Reason) -> Result<(), Reason> {
    let asked = claim.time.unwrap_or(Span::FOREVER);
    if limits.time.is_some_and(|limit| asked > limit) { Err(reason) } else { Ok(()) }
}

/// Refuses more than the limits together with the amounts used. A resource that a job does not ask for keeps it
/// from nothing.
fn amounts(
    caps: Caps,
    used: Totals,
    asked: Totals,
    reasons: PerResource<Reason>,
) -> Result<(), Reason> {
    let sum =
        used.zip(asked, |used, asked| if asked == 0 { 0 } else { used.saturating_add(asked) });
    let exceeded = caps.zip(sum, |cap, sum| cap.is_some_and(|cap| sum > cap));
    first(exceeded, reasons)
}

/// Refuses less than the least amounts.
fn least(least: Totals, asked: Totals) -> Result<(), Reason> {
    first(asked.zip(least, |asked, least| asked < least), QOS_LEAST)
}

/// The reason of the first resource that is refused.
fn first(refused: PerResource<bool>, reasons: PerResource<Reason>) -> Result<(), Reason> {
    let mut pairs = refused.values().into_iter().zip(reasons.values());
    pairs.find(|&(refused, _)| refused).map_or(Ok(()), |(_, reason)| Err(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::tree::Shares;

    /// Account A with users a1 and a2, and account B with user b1. a1 and b1 are the same person, 1; a2 is 2.
    struct Example {
        tree: Tree,
        accounts: [Association; 2],
        users: [Association; 3],
        associations: Vec<AssociationLimits>,
        qos: QosLimits,
    }

    const PEOPLE: [u32; 3] = [1, 2, 1];
    const HOUR: Span = Span::from_secs(3600);

    impl Example {
        fn new() -> Example {
            let mut tree = Tree::new();
            let accounts = [0, 1].map(|_| tree.account(Association::ROOT, Shares::Of(1)).unwrap());
            let users = [0, 0, 1].map(|at| tree.user(accounts[at], Shares::Of(1)).unwrap());
            let associations = vec![AssociationLimits::default(); tree.len()];
            Example { tree, accounts, users, associations, qos: QosLimits::default() }
        }

        fn limits(&mut self, association: Association) -> &mut AssociationLimits {
            &mut self.associations[association.index()]
        }

        /// A ledger with two QOS: 0 with the limits of the example, and 1 without limits.
        fn ledger(&self) -> Ledger {
            let qos = vec![self.qos, QosLimits::default()];
            Ledger::new(&self.tree, self.associations.clone(), qos)
        }

        /// A job of a user with a number of processors.
        fn job(&self, user: usize, processors: u64) -> Claim {
            let amounts = Totals { processors, nodes: 1, ..Totals::default() };
            let (person, qos) = (PEOPLE[user], [None, Some(0)]);
            Claim { user: self.users[user], person, qos, amounts, time: Some(HOUR) }
        }
    }

    fn run(ledger: &mut Ledger, claim: &Claim) {
        ledger.submit(claim);
        ledger.start(claim);
    }

    #[test]
    fn processors_of_an_account_are_those_of_all_its_users() {
        let mut example = Example::new();
        let account = example.accounts[0];
        example.limits(account).group.amounts.processors = Some(10);
        let mut ledger = example.ledger();
        run(&mut ledger, &example.job(0, 6));
        assert_eq!(ledger.may_start(&example.job(1, 4)), Ok(()));
        let refused = ledger.may_start(&example.job(1, 5)).unwrap_err();
        assert_eq!(refused.name(), "AssocGrpCpuLimit");
        assert_eq!(ledger.may_start(&example.job(2, 100)), Ok(()), "another account");
        ledger.end(&example.job(0, 6));
        assert_eq!(ledger.may_start(&example.job(1, 10)), Ok(()));
        assert_eq!(ledger.may_start(&example.job(1, 11)), Err(Reason::AssocGrpProcessors));
        assert_eq!(ledger.may_start(&example.job(1, 0)), Ok(()), "asks for none");
    }

    #[test]
    fn each_user_inherits_the_limits_of_the_nearest_account() {
        let mut example = Example::new();
        let [account, _] = example.accounts;
        let second = example.users[1];
        example.limits(Association::ROOT).running = Some(3);
        example.limits(account).running = Some(1);
        example.limits(account).job.time = Some(HOUR);
        example.limits(second).running = Some(2);
        let mut ledger = example.ledger();
        for user in 0..3 {
            run(&mut ledger, &example.job(user, 1));
        }
        let answers = [0, 1, 2].map(|user| ledger.may_start(&example.job(user, 1)));
        assert_eq!(answers, [Err(Reason::AssocMaxJobs), Ok(()), Ok(())]);
        let long = Claim { time: Some(HOUR * 2), ..example.job(1, 1) };
        assert_eq!(ledger.may_start(&long), Err(Reason::AssocJobTime));
        let unlimited = Claim { time: None, ..long };
        assert_eq!(ledger.may_start(&unlimited), Err(Reason::AssocJobTime));
    }

    #[test]
    fn a_qos_counts_a_person_over_all_accounts() {
        let mut example = Example::new();
        example.qos.person.running = Some(2);
        example.qos.account.submitted = Some(3);
        let mut ledger = example.ledger();
        run(&mut ledger, &example.job(0, 1));
        run(&mut ledger, &example.job(2, 1));
        let refused = ledger.may_start(&example.job(0, 1)).unwrap_err();
        assert_eq!(refused.name(), "QOSMaxJobsPerUserLimit");
        assert_eq!(ledger.may_start(&example.job(1, 1)), Ok(()));
        ledger.submit(&example.job(1, 1));
        ledger.submit(&example.job(1, 1));
        assert_eq!(ledger.may_submit(&example.job(1, 1)), Err(Reason::QosAccountSubmit));
        assert_eq!(ledger.may_submit(&example.job(2, 1)), Ok(()));
        ledger.withdraw(&example.job(1, 1));
        assert_eq!(ledger.may_submit(&example.job(1, 1)), Ok(()));
    }

    /// Each user may run one job, but the QOS permits two: the first place that defines a limit holds.
    #[test]
    fn a_limit_of_a_qos_replaces_that_of_the_association() {
        let mut example = Example::new();
        example.limits(Association::ROOT).running = Some(1);
        example.limits(Association::ROOT).group.amounts.processors = Some(8);
        example.qos.person.running = Some(2);
        example.qos.group.amounts.processors = Some(16);
        let mut ledger = example.ledger();
        run(&mut ledger, &example.job(0, 8));
        assert_eq!(ledger.may_start(&example.job(0, 8)), Ok(()));
        assert_eq!(ledger.may_start(&example.job(0, 9)), Err(Reason::QosGrpProcessors));
        let other = Claim { qos: [None, Some(1)], ..example.job(0, 1) };
        assert_eq!(ledger.may_start(&other), Err(Reason::AssocMaxJobs));
    }

    /// The QOS of the partition comes first. It defines no limit of time, so that of the job's own QOS holds.
    #[test]
    fn the_first_of_two_qos_that_defines_a_limit_holds() {
        let mut example = Example::new();
        example.qos.job.amounts.processors = Some(4);
        example.qos.job.time = Some(HOUR);
        let partition = QosLimits {
            job: Alone { amounts: Caps { processors: Some(8), ..Caps::default() }, time: None },
            least: Totals { processors: 2, ..Totals::default() },
            ..QosLimits::default()
        };
        let qos = vec![example.qos, partition];
        let ledger = Ledger::new(&example.tree, Vec::new(), qos);
        let job = |processors| Claim { qos: [Some(1), Some(0)], ..example.job(0, processors) };
        assert_eq!(ledger.may_start(&job(8)), Ok(()));
        assert_eq!(ledger.may_start(&job(9)), Err(Reason::QosJobProcessors));
        assert_eq!(ledger.may_start(&job(1)), Err(Reason::QosMinProcessors));
        let long = Claim { time: Some(HOUR * 2), ..job(8) };
        assert_eq!(ledger.may_start(&long), Err(Reason::QosJobTime));
    }

    #[test]
    fn a_job_counts_once_if_both_qos_are_the_same() {
        let mut example = Example::new();
        example.qos.group.running = Some(2);
        let mut ledger = example.ledger();
        let job = Claim { qos: [Some(0), Some(0)], ..example.job(0, 1) };
        run(&mut ledger, &job);
        assert_eq!(ledger.may_start(&job), Ok(()));
        run(&mut ledger, &job);
        assert_eq!(ledger.may_start(&job), Err(Reason::QosGrpJobs));
    }

    #[test]
    fn an_empty_ledger_remains_when_all_jobs_have_ended() {
        let example = Example::new();
        let mut ledger = example.ledger();
        let job = example.job(0, 3);
        run(&mut ledger, &job);
        ledger.stop(&job);
        ledger.start(&job);
        ledger.end(&job);
        let used: Vec<Used> = ledger.by_association.clone();
        assert_eq!(used, vec![Used::default(); used.len()]);
        assert_eq!(ledger.by_qos[0].people[&1], Used::default());
    }
}
