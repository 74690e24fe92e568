//! Fair-share factors by fair tree, the default of Slurm since 19.05.
//!
//! Each association has a level fair share among its siblings: LF = S / U. S is its part of the shares of all
//! siblings, and U its part of the usage of their common account. An association without shares has an LF of
//! 0. One with shares and without usage has an infinite LF, and so has a user with the shares of its parent.
//!
//! The tree is walked in depth-first order, siblings with a larger LF first. Users are ranked as they are
//! found. The factor of a user is its rank, counted from the last user, divided by the number of users. Ties:
//!
//! - Sibling users with the same LF have the same rank.
//! - A user and a sibling account with the same LF: the user has the rank of the first user of the account.
//! - Sibling accounts with the same LF: their children are ranked together, each with the LF that it has in
//!   its own account.
//!
//! Accounts without users are skipped, so they cannot separate a user from a tie.
//!
//! The manual of Slurm states these rules. Slurm 22.05 deviates from the last one: it ranks tied accounts one after
//! the other. The first user of each of them has the last rank of the account before it.

use serde::{Deserialize, Serialize};

use super::tree::{Association, Tree};

/// The fair share of each association, by number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Level fair share (`Level FS` of `sshare`), from 0 to infinity; `None` for the root account and for an
    /// account with [`Shares::Parent`](super::tree::Shares::Parent), which have no siblings.
    pub level: Vec<Option<f64>>,
    /// Fair-share factor of users, from 0 to 1; 0 for accounts.
    pub factor: Vec<f64>,
}

/// The fair share of all associations whose usage, by number, is `raw`.
pub fn standing(tree: &Tree, raw: &[f64]) -> Standing {
    let level: Vec<Option<f64>> =
        tree.associations().map(|association| level(tree, raw, association)).collect();
    let factor = vec![0.0; tree.len()];
    let mut walk = Walk { tree, level: &level, factor, rank: tree.users(), unranked: tree.users() };
    walk.rank_below(&[Association::ROOT], false);
    Standing { factor: walk.factor, level }
}

/// Level fair share of one association.
fn level(tree: &Tree, raw: &[f64], association: Association) -> Option<f64> {
    if association == Association::ROOT {
        return None;
    }
    let Some(shares) = tree.normalized_shares(association) else {
        return tree.is_user(association).then_some(f64::INFINITY);
    };
    let (own, all) = (raw[association.index()], raw[tree.fair_parent(association).index()]);
    Some(match shares {
        0.0 => 0.0,
        _ if own == 0.0 => f64::INFINITY,
        _ => shares / (own / all),
    })
}

struct Walk<'a> {
    tree: &'a Tree,
    level: &'a [Option<f64>],
    factor: Vec<f64>,
    /// Rank of the last user that was found.
    rank: u32,
    /// Users that are not ranked yet.
    unranked: u32,
}

impl Walk<'_> {
    /// Ranks all users below accounts that are tied. If `tied`, the first of them has the last rank again.
    fn rank_below(&mut self, accounts: &[Association], mut tied: bool) {
        let tree = self.tree;
        let levels = self.level;
        let level = |association: Association| {
            levels[association.index()].expect("competitors have a level")
        };
        let below = accounts.iter().flat_map(|&account| tree.competitors(account).iter().copied());
        let mut siblings: Vec<Association> = below
            .filter(|&sibling| tree.is_user(sibling) || tree.users_below(sibling) > 0)
            .collect();
        // Users come before accounts with the same level, because they take the rank of the first user there.
        siblings.sort_by(|&one, &other| {
            let levels = level(other).total_cmp(&level(one));
            levels.then_with(|| tree.is_user(other).cmp(&tree.is_user(one)))
        });
        for group in siblings.chunk_by(|&one, &other| level(one) == level(other)) {
            let users = group.iter().take_while(|&&sibling| tree.is_user(sibling)).count();
            for &user in &group[..users] {
                self.rank_user(user, tied);
                tied = true;
            }
            if users < group.len() {
                self.rank_below(&group[users..], tied);
            }
            tied = false;
        }
    }

    fn rank_user(&mut self, user: Association, tied: bool) {
        if !tied {
            self.rank = self.unranked;
        }
        self.factor[user.index()] = f64::from(self.rank) / f64::from(self.tree.users());
        self.unranked -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::Shares;
    use super::*;

    /// A tree of accounts A and B with 2 shares each and their users, with the usage of users.
    struct Example {
        tree: Tree,
        raw: Vec<f64>,
    }

    impl Example {
        fn new() -> Example {
            Example { tree: Tree::new(), raw: vec![0.0] }
        }

        fn account(&mut self, parent: Association, shares: Shares) -> Association {
            self.raw.push(0.0);
            self.tree.account(parent, shares).unwrap()
        }

        fn user(&mut self, account: Association, shares: Shares, raw: f64) -> Association {
            let user = self.tree.user(account, shares).unwrap();
            self.raw.push(0.0);
            self.tree.path(user).for_each(|above| self.raw[above.index()] += raw);
            user
        }

        fn standing(&self) -> Standing {
            standing(&self.tree, &self.raw)
        }

        fn factors<const N: usize>(&self, users: [Association; N]) -> [f64; N] {
            users.map(|user| self.standing().factor[user.index()])
        }
    }

    const ROOT: Association = Association::ROOT;

    /// A used 30 of 40 with half of the shares, so LF = 0.5 / 0.75 = 2/3. B used 10: 0.5 / 0.25 = 2. Within A,
    /// a1 used 10 of 30 with half of the shares: 1.5, and a2 20 of 30: 0.75. Within B, b2 used all with 3
    /// of 4 shares: 0.75, and b1 nothing: infinite. The order is b1, b2, a1, a2.
    #[test]
    fn users_of_the_account_with_the_larger_level_come_first() {
        let mut example = Example::new();
        let [a, b] = [2, 2].map(|shares| example.account(ROOT, Shares::Of(shares)));
        let a1 = example.user(a, Shares::Of(1), 10.0);
        let a2 = example.user(a, Shares::Of(1), 20.0);
        let b1 = example.user(b, Shares::Of(1), 0.0);
        let b2 = example.user(b, Shares::Of(3), 10.0);
        let levels = [a, b, a1, a2, b1, b2].map(|at| example.standing().level[at.index()]);
        assert_eq!(levels, [0.5 / 0.75, 2.0, 1.5, 0.75, f64::INFINITY, 0.75].map(Some));
        assert_eq!(example.factors([a1, a2, b1, b2]), [0.5, 0.25, 1.0, 0.75]);
    }

    #[test]
    fn sibling_users_with_the_same_level_have_the_same_rank() {
        let mut example = Example::new();
        let users = [10.0, 20.0, 20.0, 40.0].map(|raw| example.user(ROOT, Shares::Of(1), raw));
        assert_eq!(example.factors(users), [1.0, 0.75, 0.75, 0.25]);
    }

    /// Without usage, all levels are infinite.
    #[test]
    fn all_users_of_an_empty_machine_are_first() {
        let mut example = Example::new();
        let a = example.account(ROOT, Shares::Of(7));
        let users = [a, ROOT, a].map(|account| example.user(account, Shares::Of(2), 0.0));
        assert_eq!(example.factors(users), [1.0; 3]);
    }

    /// A and B have the same shares and the same usage. Their users are ranked together: b1 with LF = 2 is
    /// first, a1 and a2 with LF = 1 are tied, and b2 with LF = 2/3 is last.
    #[test]
    fn children_of_tied_accounts_are_ranked_together() {
        let mut example = Example::new();
        let [a, b] = [1, 1].map(|shares| example.account(ROOT, Shares::Of(shares)));
        let a1 = example.user(a, Shares::Of(1), 20.0);
        let a2 = example.user(a, Shares::Of(1), 20.0);
        let b1 = example.user(b, Shares::Of(1), 10.0);
        let b2 = example.user(b, Shares::Of(1), 30.0);
        assert_eq!(example.factors([a1, a2, b1, b2]), [0.75, 0.75, 1.0, 0.25]);
    }

    /// User x and account A have the same shares and the same usage. So x has the rank of the first user of A,
    /// behind an account without users.
    #[test]
    fn a_user_that_is_tied_with_an_account_has_the_rank_of_its_first_user() {
        let mut example = Example::new();
        let a = example.account(ROOT, Shares::Of(1));
        let empty = example.account(a, Shares::Of(5));
        let x = example.user(ROOT, Shares::Of(1), 30.0);
        let a1 = example.user(a, Shares::Of(1), 10.0);
        let a2 = example.user(a, Shares::Of(1), 20.0);
        assert_eq!(example.standing().level[empty.index()], Some(f64::INFINITY));
        assert_eq!(example.factors([x, a1, a2]), [1.0, 1.0, 1.0 / 3.0]);
    }

    #[test]
    fn users_without_shares_come_last_and_are_tied() {
        let mut example = Example::new();
        let used = example.user(ROOT, Shares::Of(0), 30.0);
        let unused = example.user(ROOT, Shares::Of(0), 0.0);
        let other = example.user(ROOT, Shares::Of(1), 1e9);
        assert_eq!(example.factors([used, unused, other]), [2.0 / 3.0, 2.0 / 3.0, 1.0]);
    }

    /// In A, all users have the shares of A, so their usage makes no difference. Account P passes its user up:
    /// p1 competes with A at the root, where it used 10 of 40 with a quarter of the shares (LF = 1). A used 30
    /// of 40 with three quarters (LF = 1). So p1 is tied with A and its users.
    #[test]
    fn shares_of_the_parent() {
        let mut example = Example::new();
        let a = example.account(ROOT, Shares::Of(3));
        let passing = example.account(ROOT, Shares::Parent);
        let a1 = example.user(a, Shares::Parent, 29.0);
        let a2 = example.user(a, Shares::Parent, 1.0);
        let p1 = example.user(passing, Shares::Of(1), 10.0);
        let standing = example.standing();
        assert_eq!([a, p1].map(|at| standing.level[at.index()]), [Some(1.0), Some(1.0)]);
        assert_eq!(standing.level[passing.index()], None);
        assert_eq!(example.factors([a1, a2, p1]), [1.0; 3]);
    }
}
