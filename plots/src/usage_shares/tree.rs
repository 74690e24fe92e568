//! Accounts and users of a provider: their target shares, and their usage, which decays.

use std::collections::BTreeMap;
use std::f64::consts::LN_2;

use haggle_results::about::SiteInfo;

/// A user in an account; without an account, at the top.
pub(super) type User = (Option<usize>, i64);

/// Accounts and users of a provider.
pub(super) struct Tree<'a> {
    site: &'a SiteInfo,
    users: BTreeMap<User, Used>,
}

/// Usage of a user.
#[derive(Clone, Copy, Default)]
struct Used {
    /// Processor-seconds at `at`.
    amount: f64,
    at: f64,
    /// Processors of running jobs.
    processors: f64,
}

impl<'a> Tree<'a> {
    /// Accounts with these users, none of whom has used anything.
    pub(super) fn new(site: &'a SiteInfo, users: impl Iterator<Item = User>) -> Tree<'a> {
        Tree { site, users: users.map(|user| (user, Used::default())).collect() }
    }

    /// The users, by account.
    pub(super) fn users(&self) -> impl Iterator<Item = User> {
        self.users.keys().copied()
    }

    /// The account of a user or account, and all accounts above it.
    fn upwards(&self, account: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(account, |&it| self.above(it))
    }

    /// The account above an account, which stands before it.
    fn above(&self, account: usize) -> Option<usize> {
        self.site.accounts[account].parent.filter(|&it| it < account)
    }

    /// Target share of a user: its shares divided by those of all accounts and users beside it, times the target of
    /// its account.
    pub(super) fn target_of_user(&self, (account, user): User) -> f64 {
        let own = self.shares_of_user((account, user));
        divided(own, self.shares_below(account)) * account.map_or(1.0, |it| self.target(it))
    }

    /// Target share of an account.
    pub(super) fn target(&self, account: usize) -> f64 {
        let share = |it: usize| {
            let own = f64::from(self.site.accounts[it].shares);
            divided(own, self.shares_below(self.above(it)))
        };
        self.upwards(Some(account)).map(share).product()
    }

    fn shares_of_user(&self, (account, user): User) -> f64 {
        let listed = account
            .and_then(|it| self.site.accounts[it].users.iter().find(|listed| listed.0 == user));
        listed.map_or(1.0, |it| f64::from(it.1))
    }

    /// Shares of all accounts and users directly below an account, or at the top.
    fn shares_below(&self, account: Option<usize>) -> f64 {
        let accounts = (0..self.site.accounts.len()).filter(|&it| self.above(it) == account);
        let accounts = accounts.map(|it| f64::from(self.site.accounts[it].shares));
        let users = self.users().filter(|it| it.0 == account).map(|it| self.shares_of_user(it));
        accounts.chain(users).sum()
    }

    /// Jobs of a user start or end at this time, and change its processors in use.
    pub(super) fn change(&mut self, user: User, processors: f64, time: f64) {
        let half_life = self.site.half_life;
        if let Some(used) = self.users.get_mut(&user) {
            *used = Used { amount: used.until(time, half_life), at: time, ..*used };
            used.processors += processors;
        }
    }

    /// Share of each user in the usage at a time; `None` if there is no usage.
    pub(super) fn usage(&self, time: f64) -> Option<BTreeMap<User, f64>> {
        let amount = |it: &Used| it.until(time, self.site.half_life);
        let all: f64 = self.users.values().map(amount).sum();
        let share = |(&user, used): (&User, &Used)| (user, amount(used) / all);
        (all > 0.0).then(|| self.users.iter().map(share).collect())
    }

    /// Share of an account in the usage, with all accounts below it.
    pub(super) fn of_account(&self, usage: &BTreeMap<User, f64>, account: usize) -> f64 {
        let is_below = |it: &&User| self.upwards(it.0).any(|above| above == account);
        usage.keys().filter(is_below).map(|it| usage[it]).sum()
    }
}

impl Used {
    /// Amount at a later time: as in `haggle_scheduling::priority`, it decays at each instant.
    fn until(&self, time: f64, half_life: Option<f64>) -> f64 {
        let seconds = (time - self.at).max(0.0);
        let Some(half_life) = half_life else { return self.amount + self.processors * seconds };
        let decay = LN_2 / half_life;
        let lost = -(-decay * seconds).exp_m1();
        self.amount * (1.0 - lost) + self.processors * (lost / decay)
    }
}

fn divided(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use haggle_results::about::AccountInfo;

    use super::*;

    fn account(parent: Option<usize>, shares: u32, users: &[(i64, u32)]) -> AccountInfo {
        let (name, groups) = (String::new(), Vec::new());
        AccountInfo { name, parent, groups, shares, users: users.to_vec() }
    }

    /// Science has 3 of 4 shares. Below it, physics has 1 share, and user 7 itself has 2.
    fn site(half_life: Option<f64>) -> SiteInfo {
        let accounts =
            vec![account(None, 3, &[(7, 2)]), account(Some(0), 1, &[]), account(None, 1, &[])];
        SiteInfo { accounts, half_life, ..SiteInfo::default() }
    }

    #[test]
    fn targets_multiply_along_the_tree() {
        let site = site(None);
        let tree = Tree::new(&site, [(Some(0), 7), (Some(1), 1), (Some(1), 2)].into_iter());
        assert_eq!([0, 1, 2].map(|it| tree.target(it)), [0.75, 0.25, 0.25]);
        let users = [(Some(0), 7), (Some(1), 1)].map(|it| tree.target_of_user(it));
        assert_eq!(users, [0.5, 0.125]);
        // A user outside of accounts is beside those at the top.
        let tree = Tree::new(&site, [(None, 1)].into_iter());
        assert_eq!(tree.target(2), 0.2);
        assert_eq!(tree.target_of_user((None, 1)), 0.2);
    }

    #[test]
    fn usage_counts_half_after_the_half_life() {
        let (physicist, other) = ((Some(1), 1), (Some(2), 2));
        for (half_life, share) in [(None, 0.5), (Some(100.0), 1.0 / 3.0)] {
            let site = site(half_life);
            let mut tree = Tree::new(&site, [physicist, other].into_iter());
            assert_eq!(tree.usage(0.0), None);
            // The one runs for 100 s, and then the other one.
            tree.change(physicist, 4.0, 0.0);
            tree.change(physicist, -4.0, 100.0);
            tree.change(other, 4.0, 100.0);
            let usage = tree.usage(200.0).expect("there is some");
            assert!((usage[&physicist] - share).abs() < 1e-12, "{usage:?}");
            assert!((tree.of_account(&usage, 0) - share).abs() < 1e-12, "{usage:?}");
        }
    }
}
