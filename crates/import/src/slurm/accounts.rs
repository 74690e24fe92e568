//! Accounts with their shares and limits.

use std::collections::{BTreeMap, BTreeSet};

use haggle_scenario::file::{Account, AccountUser, UserLimits};

use super::limits::{self, OF_GROUP};
use super::numbers::Numbers;
use super::{ImportError, Record, Site};
use crate::Remarks;

/// Most shares of an account or a user.
const SHARES_MAX: u64 = 1_000_000;

/// Columns that are read, or have no effect on jobs.
const KNOWN: [&str; 15] = [
    "Cluster",
    "Account",
    "User",
    "Partition",
    "ParentName",
    "Par Name",
    "Share",
    "Priority",
    "QOS",
    "Def QOS",
    "GrpJobs",
    "GrpSubmit",
    "GrpTRES",
    "MaxJobs",
    "MaxSubmit",
];
const OF_JOBS: [&str; 2] = ["MaxWall", "MaxTRES"];

/// Accounts in an order in which parents come first, and their users.
#[derive(Clone, Debug, Default)]
pub(super) struct Associations {
    accounts: Vec<Record>,
    /// Users with their accounts and shares, if these differ from one.
    users: Vec<(String, String, u32)>,
}

/// The account of all others.
const ROOT: &str = "root";

fn parent(record: &Record) -> Option<&str> {
    let parent = record.get("ParentName").or_else(|| record.get("Par Name"));
    parent.filter(|&it| it != ROOT)
}

fn shares(record: &Record, name: &str, remarks: &mut Remarks) -> Result<u32, ImportError> {
    match record.get("Share").or_else(|| record.get("FairShare")) {
        Some("parent") => {
            remarks.add("shares of `parent` are 1", name);
            return Ok(1);
        }
        None => return Ok(1),
        Some(_) => {}
    }
    let shares = record.number("Share")?.unwrap_or(1);
    if shares > SHARES_MAX {
        remarks.add(format!("shares above {SHARES_MAX} are {SHARES_MAX}"), name);
    }
    Ok(shares.min(SHARES_MAX) as u32)
}

impl Associations {
    pub(super) fn of(site: &Site, remarks: &mut Remarks) -> Result<Associations, ImportError> {
        let cluster = site.config.get("ClusterName").unwrap_or_default().to_ascii_lowercase();
        let is_own = |it: &&Record| {
            it.get("Cluster")
                .is_none_or(|it| cluster.is_empty() || it.eq_ignore_ascii_case(&cluster))
        };
        let mut waiting = BTreeMap::new();
        let mut order = Vec::new();
        let mut users = Vec::new();
        for record in site.associations.iter().filter(is_own) {
            let Some(account) = record.get("Account") else { continue };
            let Some(user) = record.get("User") else {
                if account != ROOT {
                    // Of two lines about an account, the last one counts.
                    if waiting.insert(account.to_owned(), record.clone()).is_none() {
                        order.push(account.to_owned());
                    }
                } else {
                    limits::remark_others(record, &KNOWN[..10], "account root", remarks);
                }
                continue;
            };
            if record.get("Partition").is_some() {
                remarks.add("associations for one partition are left out", user);
                continue;
            }
            // Limits of an account stand at its users, too.
            let above = waiting.get(account);
            let inherited = |column: &&str| {
                above.is_some_and(|it: &Record| it.get(column) == record.get(column))
            };
            let known =
                Vec::from_iter(record.known().filter(inherited).chain(KNOWN[..10].iter().copied()));
            limits::remark_others(record, &known, &format!("user {user}"), remarks);
            let shares = shares(record, &format!("user {user}"), remarks)?;
            if shares != 1 && account != ROOT {
                users.push((user.to_owned(), account.to_owned(), shares));
            }
        }
        // Parents first. Slurm refuses circles, so what is left has a parent that the dump does not have.
        let mut accounts: Vec<Record> = Vec::new();
        let mut placed = BTreeSet::new();
        loop {
            let ready = order.iter().position(|name| {
                let above = parent(&waiting[name]);
                above.is_none_or(|it| placed.contains(it))
            });
            let Some(ready) = ready else { break };
            let name = order.remove(ready);
            let record = waiting.remove(&name);
            placed.insert(name);
            accounts.extend(record);
        }
        for name in order {
            remarks.add("accounts whose parent is not in the dump are left out", &name);
        }
        Ok(Associations { accounts, users })
    }

    /// The accounts, parents first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.accounts.iter().filter_map(|it| it.get("Account"))
    }

    /// Users whose shares differ from those of others.
    pub(super) fn users_with_shares(&self) -> Vec<String> {
        let mut names: Vec<String> = self.users.iter().map(|it| it.0.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    pub(super) fn accounts(
        &self,
        site: &Site,
        numbers: &Numbers,
        remarks: &mut Remarks,
    ) -> Result<Vec<Account>, ImportError> {
        let mut accounts = Vec::new();
        if !site.enforced.limits && !self.accounts.is_empty() {
            remarks.add("limits of QOS and accounts are left out, as AccountingStorageEnforce has no `limits`", "");
        }
        for record in &self.accounts {
            let name = record.get("Account").unwrap_or_default();
            let own = self.users.iter().filter(|it| it.1 == name);
            let users = own.filter_map(|(user, _, shares)| {
                let user = numbers.users.number(user)?;
                Some(AccountUser { user, shares: *shares })
            });
            let mut account = Account {
                name: numbers.accounts.written(name),
                parent: parent(record).map(|it| numbers.accounts.written(it)),
                groups: numbers.accounts.number(name).into_iter().collect(),
                shares: shares(record, name, remarks)?,
                users: users.collect(),
                limits: Default::default(),
                user_limits: UserLimits::default(),
                longest: None,
                widest: None,
            };
            if site.enforced.limits {
                account.limits = limits::together(record, OF_GROUP, name, remarks)?;
                let count =
                    |it: Option<u64>| it.and_then(|it| u32::try_from(it).ok()).filter(|&it| it > 0);
                account.user_limits = UserLimits {
                    running: count(record.number("MaxJobs")?),
                    submitted: count(record.number("MaxSubmit")?),
                };
                (account.longest, account.widest) = limits::of_job(record, name, remarks)?;
                let known = Vec::from_iter(KNOWN.into_iter().chain(OF_JOBS));
                limits::remark_others(record, &known, &format!("account {name}"), remarks);
            }
            accounts.push(account);
        }
        Ok(accounts)
    }
}
