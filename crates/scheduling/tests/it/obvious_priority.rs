//! Fair tree and limits again, word for word from their definitions, as slow as they are.

use std::collections::BTreeSet;

use haggle_model::Span;
use haggle_scheduling::priority::limits::{Caps, Together};
use haggle_scheduling::priority::{
    Association, AssociationLimits, Claim, QosLimits, Reason, Shares, Totals, Tree,
};

/// Factors of users by fair tree. Each class is a set of tied users, best first.
pub(crate) fn fair_tree(tree: &Tree, raw: &[f64]) -> Vec<f64> {
    let mut factors = vec![0.0; tree.len()];
    let mut before = 0;
    for class in classes(tree, raw, children(tree, Association::ROOT)) {
        for user in &class {
            let rank = f64::from(tree.users()) - before as f64;
            factors[user.index()] = rank / f64::from(tree.users());
        }
        before += class.len();
    }
    factors
}

/// The members of an account. An account with the shares of its parent is replaced by its members.
fn children(tree: &Tree, account: Association) -> Vec<Association> {
    let members = tree.associations().skip(1).filter(|&member| tree.parent(member) == account);
    let expand = |member: Association| match tree.shares(member) {
        Shares::Parent if !tree.is_user(member) => children(tree, member),
        _ => vec![member],
    };
    members.flat_map(expand).collect()
}

fn classes(tree: &Tree, raw: &[f64], siblings: Vec<Association>) -> Vec<Vec<Association>> {
    let mut levels: Vec<f64> = siblings.iter().map(|&at| level(tree, raw, at)).collect();
    levels.sort_by(|one, other| other.total_cmp(one));
    levels.dedup();
    let mut all = Vec::new();
    for at in levels {
        let tied = siblings.iter().copied().filter(|&sibling| level(tree, raw, sibling) == at);
        let (users, accounts): (Vec<_>, Vec<_>) = tied.partition(|&sibling| tree.is_user(sibling));
        let merged =
            accounts.iter().flat_map(|&account| children(tree, account)).collect::<Vec<_>>();
        let mut below = if merged.is_empty() { Vec::new() } else { classes(tree, raw, merged) };
        if below.is_empty() {
            below.push(Vec::new());
        }
        below[0].extend(users);
        below.retain(|class| !class.is_empty());
        all.extend(below);
    }
    all
}

/// LF = S / U.
fn level(tree: &Tree, raw: &[f64], association: Association) -> f64 {
    let mut account = tree.parent(association);
    while account != Association::ROOT && tree.shares(account) == Shares::Parent {
        account = tree.parent(account);
    }
    let number = |at: Association| match tree.shares(at) {
        Shares::Of(shares) => f64::from(shares),
        Shares::Parent => 0.0,
    };
    let all: f64 = children(tree, account).into_iter().map(number).sum();
    match tree.shares(association) {
        Shares::Parent => f64::INFINITY,
        Shares::Of(0) => 0.0,
        Shares::Of(_) if raw[association.index()] == 0.0 => f64::INFINITY,
        Shares::Of(_) => {
            let used = raw[association.index()] / raw[account.index()];
            number(association) / all / used
        }
    }
}

/// Limits, and all jobs that were submitted; `true` for those that run.
pub(crate) struct Counted<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) associations: &'a [AssociationLimits],
    pub(crate) qos: &'a [QosLimits],
    pub(crate) jobs: Vec<(Claim, bool)>,
}

/// A number of jobs that a QOS may limit.
type Count = fn(&QosLimits) -> Option<u32>;

/// A group of limits of a QOS, the jobs that belong to it, the word for jobs, and the words for resources.
type Scope<'a> =
    (fn(&QosLimits) -> Together, &'a dyn Fn(&Claim) -> bool, &'static str, [&'static str; 4]);

/// A limit in words: the limit, the number of it that is used, the number that the job adds, and the word.
type Rule = (Option<u64>, u64, u64, &'static str);

impl Counted<'_> {
    /// All limits that a job exceeds if it is submitted.
    pub(crate) fn keep_from_submission(&self, claim: &Claim) -> BTreeSet<&'static str> {
        let (mut rules, mut own) = (Vec::new(), true);
        let mut group = true;
        for qos in unique(claim) {
            let first = |of: Count| self.defines_first(claim, qos, |q| of(q).is_some());
            let limits = &self.qos[qos as usize];
            let scopes: [(Count, u64, &str); 3] = [
                (|q| q.group.submitted, self.jobs(|c, _| has(c, qos)), "QOSGrpSubmitJobsLimit"),
                (
                    |q| q.account.submitted,
                    self.jobs(|c, _| has(c, qos) && self.same_account(c, claim)),
                    "MaxSubmitJobsPerAccount",
                ),
                (
                    |q| q.person.submitted,
                    self.jobs(|c, _| has(c, qos) && c.person == claim.person),
                    "QOSMaxSubmitJobPerUserLimit",
                ),
            ];
            for (of, used, word) in scopes {
                if first(of) {
                    rules.push((of(limits).map(u64::from), used, 1, word));
                }
            }
            own &= limits.account.submitted.is_none() && limits.person.submitted.is_none();
            group &= limits.group.submitted.is_none();
        }
        for account in self.tree.path(claim.user).filter(|_| group) {
            let limit = self.associations[account.index()].group.submitted.map(u64::from);
            let used = self.jobs(|c, _| self.tree.path(c.user).any(|at| at == account));
            rules.push((limit, used, 1, "AssocGrpSubmitJobsLimit"));
        }
        if own {
            let limit = self.inherited(claim, |limits| limits.submitted).map(u64::from);
            rules.push((
                limit,
                self.jobs(|c, _| c.user == claim.user),
                1,
                "AssocMaxSubmitJobLimit",
            ));
        }
        exceeded(rules)
    }

    /// All limits that a submitted job exceeds if it starts.
    pub(crate) fn keep_from_start(&self, claim: &Claim) -> BTreeSet<&'static str> {
        let (mut rules, mut own) = (Vec::new(), true);
        for qos in unique(claim) {
            let limits = &self.qos[qos as usize];
            let first = |of: &dyn Fn(&QosLimits) -> bool| self.defines_first(claim, qos, of);
            let group: &dyn Fn(&Claim) -> bool = &|c| has(c, qos);
            let account: &dyn Fn(&Claim) -> bool = &|c| has(c, qos) && self.same_account(c, claim);
            let person: &dyn Fn(&Claim) -> bool = &|c| has(c, qos) && c.person == claim.person;
            let scopes: [Scope; 3] = [
                (
                    |q| q.group,
                    group,
                    "QOSGrpJobsLimit",
                    ["QOSGrpCpuLimit", "QOSGrpMemLimit", "QOSGrpNodeLimit", "QOSGrpGRES"],
                ),
                (
                    |q| q.account,
                    account,
                    "MaxJobsPerAccount",
                    [
                        "MaxCpuPerAccount",
                        "MaxMemoryPerAccount",
                        "MaxNodePerAccount",
                        "MaxGRESPerAccount",
                    ],
                ),
                (
                    |q| q.person,
                    person,
                    "QOSMaxJobsPerUserLimit",
                    [
                        "QOSMaxCpuPerUserLimit",
                        "QOSMaxMemoryPerUser",
                        "QOSMaxNodePerUserLimit",
                        "QOSMaxGRESPerUser",
                    ],
                ),
            ];
            for (of, belongs, word, words) in scopes {
                if first(&|q| of(q).running.is_some()) {
                    let used = self.jobs(|c, runs| runs && belongs(c));
                    rules.push((of(limits).running.map(u64::from), used, 1, word));
                }
                for (at, word) in words.into_iter().enumerate() {
                    if first(&|q| of(q).amounts.values()[at].is_some()) {
                        let used = self.held(at, belongs);
                        rules.push(resource(of(limits).amounts, used, claim, at, word));
                    }
                }
            }
            let words = [
                "QOSMaxCpuPerJobLimit",
                "QOSMaxMemoryPerJob",
                "QOSMaxNodePerJobLimit",
                "QOSMaxGRESPerJob",
            ];
            for (at, word) in words.into_iter().enumerate() {
                if first(&|q| q.job.amounts.values()[at].is_some()) {
                    rules.push(resource(limits.job.amounts, 0, claim, at, word));
                }
            }
            let words = ["QOSMinCpuNotSatisfied", "QOSMinMemory", "QOSMinNode", "QOSMinGRES"];
            for (at, word) in words.into_iter().enumerate() {
                let least = limits.least.values()[at];
                if first(&|q| q.least.values()[at] > 0) {
                    let lacks = u64::from(claim.amounts.values()[at] < least);
                    rules.push((Some(0), 0, lacks, word));
                }
            }
            if first(&|q| q.job.time.is_some()) {
                rules.push(time(limits.job.time, claim, "QOSMaxWallDurationPerJobLimit"));
            }
            own &= limits.account.running.is_none() && limits.person.running.is_none();
        }
        let defined = |of: &dyn Fn(&QosLimits) -> bool| {
            unique(claim).iter().any(|&qos| of(&self.qos[qos as usize]))
        };
        for account in self.tree.path(claim.user) {
            let limits = &self.associations[account.index()].group;
            let belongs = |c: &Claim| self.tree.path(c.user).any(|at| at == account);
            if !defined(&|q| q.group.running.is_some()) {
                let used = self.jobs(|c, runs| runs && belongs(c));
                rules.push((limits.running.map(u64::from), used, 1, "AssocGrpJobsLimit"));
            }
            let words =
                ["AssocGrpCpuLimit", "AssocGrpMemLimit", "AssocGrpNodeLimit", "AssocGrpGRES"];
            for (at, word) in words.into_iter().enumerate() {
                if !defined(&|q| q.group.amounts.values()[at].is_some()) {
                    rules.push(resource(limits.amounts, self.held(at, &belongs), claim, at, word));
                }
            }
        }
        if own {
            let limit = self.inherited(claim, |limits| limits.running).map(u64::from);
            let used = self.jobs(|c, runs| runs && c.user == claim.user);
            rules.push((limit, used, 1, "AssocMaxJobsLimit"));
        }
        let words = [
            "AssocMaxCpuPerJobLimit",
            "AssocMaxMemPerJob",
            "AssocMaxNodePerJobLimit",
            "AssocMaxGRESPerJob",
        ];
        for (at, word) in words.into_iter().enumerate() {
            if !defined(&|q| q.job.amounts.values()[at].is_some()) {
                let limit = self.inherited(claim, |limits| limits.job.amounts.values()[at]);
                rules.push((
                    limit.filter(|_| claim.amounts.values()[at] > 0),
                    0,
                    claim.amounts.values()[at],
                    word,
                ));
            }
        }
        if !defined(&|q| q.job.time.is_some()) {
            let limit = self.inherited(claim, |limits| limits.job.time);
            rules.push(time(limit, claim, "AssocMaxWallDurationPerJobLimit"));
        }
        exceeded(rules)
    }

    /// Whether this QOS of a job is the first that defines a limit.
    fn defines_first(&self, claim: &Claim, qos: u32, defines: impl Fn(&QosLimits) -> bool) -> bool {
        unique(claim).into_iter().find(|&at| defines(&self.qos[at as usize])) == Some(qos)
    }

    /// The limit of the nearest association that defines it.
    fn inherited<T>(
        &self,
        claim: &Claim,
        of: impl Fn(&AssociationLimits) -> Option<T>,
    ) -> Option<T> {
        self.tree.path(claim.user).find_map(|at| of(&self.associations[at.index()]))
    }

    fn same_account(&self, one: &Claim, other: &Claim) -> bool {
        self.tree.parent(one.user) == self.tree.parent(other.user)
    }

    fn jobs(&self, belongs: impl Fn(&Claim, bool) -> bool) -> u64 {
        self.jobs.iter().filter(|(claim, runs)| belongs(claim, *runs)).count() as u64
    }

    fn held(&self, at: usize, belongs: &dyn Fn(&Claim) -> bool) -> u64 {
        let running = self.jobs.iter().filter(|(claim, runs)| *runs && belongs(claim));
        running.map(|(claim, _)| claim.amounts.values()[at]).sum()
    }
}

fn unique(claim: &Claim) -> Vec<u32> {
    let mut all: Vec<u32> = claim.qos.into_iter().flatten().collect();
    all.dedup();
    all
}

fn has(claim: &Claim, qos: u32) -> bool {
    claim.qos.contains(&Some(qos))
}

fn resource(caps: Caps, used: u64, claim: &Claim, at: usize, word: &'static str) -> Rule {
    let asked = claim.amounts.values()[at];
    (caps.values()[at].filter(|_| asked > 0), used, asked, word)
}

fn time(limit: Option<Span>, claim: &Claim, word: &'static str) -> Rule {
    let micros = |span: Span| span.as_micros() as u64;
    (limit.map(micros), 0, micros(claim.time.unwrap_or(Span::FOREVER)), word)
}

fn exceeded(rules: Vec<Rule>) -> BTreeSet<&'static str> {
    let exceeds = |&(limit, used, added, _): &Rule| limit.is_some_and(|limit| used + added > limit);
    rules.into_iter().filter(exceeds).map(|(.., word)| word).collect()
}

/// The answer of a ledger must be one of these reasons, or none.
pub(crate) fn agrees(answer: Result<(), Reason>, reasons: &BTreeSet<&'static str>) -> bool {
    match answer {
        Ok(()) => reasons.is_empty(),
        Err(reason) => reasons.contains(reason.name()),
    }
}

/// A job with these amounts.
pub(crate) fn amounts([processors, memory, nodes, gpus]: [u64; 4]) -> Totals {
    Totals { processors, memory, nodes, gpus }
}
