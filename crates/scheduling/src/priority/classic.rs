//! Fair-share factors by the classic algorithm (`PriorityFlags=NO_FAIR_TREE`): F = 2^(-UE / S / d).
//!
//! S is the part of all shares that the association has, the product of its parts at each level. d is a
//! dampening factor. UE is its effective usage. With UA, its part of all usage:
//!
//! - at the first level, UE = UA,
//! - below, UE = UA + (UE of the parent - UA) × shares / shares of all siblings.
//!
//! An association with [`Shares::Parent`] has the S and UE of the account above that has shares of its own.

use super::tree::{Association, Shares, Tree};

/// The fair-share factor of each association, from 0 to 1, whose usage, by number, is `raw`. `dampening`
/// (`FairShareDampeningFactor`) is positive.
pub fn factors(tree: &Tree, raw: &[f64], dampening: f64) -> Vec<f64> {
    let all = raw[Association::ROOT.index()];
    // The root account has all shares and all usage.
    let (mut shares, mut effective) = (vec![1.0; tree.len()], vec![1.0; tree.len()]);
    for association in tree.associations().skip(1) {
        let (at, above) = (association.index(), tree.fair_parent(association).index());
        let actual = if all > 0.0 { raw[at] / all } else { 0.0 };
        let siblings = tree.shares_below(tree.fair_parent(association));
        (shares[at], effective[at]) = match (tree.shares(association), above) {
            (Shares::Parent, _) => (shares[above], effective[above]),
            (Shares::Of(_), _) if siblings == 0 => (0.0, actual),
            (Shares::Of(own), above) => {
                let part = f64::from(own) / siblings as f64;
                let toward = if above == 0 { actual } else { effective[above] };
                (shares[above] * part, actual + (toward - actual) * part)
            }
        };
    }
    let factor = |(&shares, &effective): (&f64, &f64)| {
        if shares > 0.0 { libm::exp2(-effective / shares / dampening) } else { 0.0 }
    };
    shares.iter().zip(&effective).map(factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the manual. A has 40 shares, of which B has 30 and C 10. D has 60 shares, of which E has 25
    /// and F 35. User 1 is in B, users 2 and 3 are in C, user 4 is in E, and user 5 is in F.
    #[test]
    fn the_published_example() {
        let mut tree = Tree::new();
        let mut account = |parent, shares| tree.account(parent, Shares::Of(shares)).unwrap();
        let (a, d) = (account(Association::ROOT, 40), account(Association::ROOT, 60));
        let accounts = [account(a, 30), account(a, 10), account(d, 25), account(d, 35)];
        let [b, c, e, f] = accounts;
        let users = [b, c, c, e, f].map(|account| tree.user(account, Shares::Of(1)).unwrap());
        let mut raw = vec![0.0; tree.len()];
        for (user, used) in users.iter().zip([20.0, 25.0, 0.0, 25.0, 0.0]) {
            tree.path(*user).for_each(|above| raw[above.index()] += used);
        }
        // The rest of the machine was used by the root account itself.
        raw[0] = 100.0;
        let factors = factors(&tree, &raw, 1.0);
        let published = [0.408479, 0.022097, 0.125, 0.5, 0.749154];
        for (user, published) in users.iter().zip(published) {
            let factor = factors[user.index()];
            // The manual rounds the effective usage of user 5 to four places.
            assert!((factor - published).abs() < 1e-4, "{factor} for {published}");
        }
    }

    #[test]
    fn a_user_with_the_shares_of_its_account_has_the_factor_of_the_account() {
        let mut tree = Tree::new();
        let account = tree.account(Association::ROOT, Shares::Of(1)).unwrap();
        let other = tree.account(Association::ROOT, Shares::Of(3)).unwrap();
        let users = [0, 1].map(|_| tree.user(account, Shares::Parent).unwrap());
        let none = tree.user(other, Shares::Of(0)).unwrap();
        let raw = [8.0, 4.0, 4.0, 4.0, 0.0, 4.0];
        let factors = factors(&tree, &raw, 1.0);
        assert_eq!(users.map(|user| factors[user.index()]), [0.25, 0.25]);
        assert_eq!(factors[none.index()], 0.0, "without shares");
        let dampened = super::factors(&tree, &raw, 2.0);
        assert_eq!(dampened[users[0].index()], 0.5);
    }
}
