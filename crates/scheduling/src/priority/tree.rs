//! The associations of a provider: a tree of accounts, with users as its leaves.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An association: an account, or a user of an account. It is dense from 0, which is the root account, and
/// a parent has a smaller number than its children.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Association(pub u32);

impl Association {
    /// The account above all others.
    pub const ROOT: Association = Association(0);

    /// The number as an index into a vector.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Shares of an association among its siblings (`Fairshare` of `sacctmgr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shares {
    /// A number of shares; with 0 shares, the association comes last.
    Of(u32),
    /// The parent's (`Fairshare=parent`). The children of an account with it compete with the siblings of
    /// the account. A user with it is not measured against the other users of the account.
    Parent,
}

/// The reason why an association cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeError {
    /// Its parent is not in the tree.
    UnknownParent(Association),
    /// Its parent is a user.
    ParentIsUser(Association),
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TreeError::UnknownParent(parent) => {
                write!(f, "association {} is not in the tree: add the parent first", parent.0)
            }
            TreeError::ParentIsUser(parent) => {
                write!(f, "association {} is a user: only accounts have members", parent.0)
            }
        }
    }
}

impl std::error::Error for TreeError {}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Node {
    parent: Association,
    is_user: bool,
    shares: Shares,
    /// The nearest ancestor with shares of its own. Siblings are the associations that have it in common.
    fair_parent: Association,
    /// The accounts and users that compete for the shares of this account.
    competitors: Vec<Association>,
    /// Sum of the shares of [`Node::competitors`].
    shares_below: u64,
    /// Users among the descendants.
    users_below: u32,
}

/// Accounts and users with their shares. It only grows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::new()
    }
}

impl Tree {
    /// The root account alone.
    pub fn new() -> Tree {
        let mut tree = Tree { nodes: Vec::new() };
        tree.push(Association::ROOT, Association::ROOT, false, Shares::Of(1));
        tree
    }

    /// Adds an account.
    ///
    /// # Errors
    /// If the parent is not an account of the tree.
    pub fn account(
        &mut self,
        parent: Association,
        shares: Shares,
    ) -> Result<Association, TreeError> {
        self.add(parent, false, shares)
    }

    /// Adds a user to an account. A person who uses several accounts is a user in each of them.
    ///
    /// # Errors
    /// If the account is not an account of the tree.
    pub fn user(&mut self, account: Association, shares: Shares) -> Result<Association, TreeError> {
        self.add(account, true, shares)
    }

    fn add(
        &mut self,
        parent: Association,
        is_user: bool,
        shares: Shares,
    ) -> Result<Association, TreeError> {
        let above = self.nodes.get(parent.index()).ok_or(TreeError::UnknownParent(parent))?;
        if above.is_user {
            return Err(TreeError::ParentIsUser(parent));
        }
        // The children of an account without shares of its own belong to the account above it.
        let reparented = parent != Association::ROOT && above.shares == Shares::Parent;
        let fair_parent = if reparented { above.fair_parent } else { parent };
        let added = self.push(parent, fair_parent, is_user, shares);
        let level = &mut self.nodes[fair_parent.index()];
        match shares {
            Shares::Of(shares) => {
                level.competitors.push(added);
                level.shares_below += u64::from(shares);
            }
            Shares::Parent if is_user => level.competitors.push(added),
            Shares::Parent => {}
        }
        let mut account = added;
        while is_user && account != Association::ROOT {
            account = self.parent(account);
            self.nodes[account.index()].users_below += 1;
        }
        Ok(added)
    }

    fn push(
        &mut self,
        parent: Association,
        fair_parent: Association,
        is_user: bool,
        shares: Shares,
    ) -> Association {
        let added = Association(self.nodes.len() as u32);
        let (competitors, shares_below, users_below) = (Vec::new(), 0, 0);
        self.nodes.push(Node {
            parent,
            is_user,
            shares,
            fair_parent,
            competitors,
            shares_below,
            users_below,
        });
        added
    }

    /// Associations, with the root account.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// False: a tree has its root account.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Users.
    pub fn users(&self) -> u32 {
        self.nodes[0].users_below
    }

    /// All associations, parents before their children.
    pub fn associations(&self) -> impl DoubleEndedIterator<Item = Association> + use<> {
        (0..self.nodes.len() as u32).map(Association)
    }

    /// The account above; the root account for itself.
    pub fn parent(&self, association: Association) -> Association {
        self.nodes[association.index()].parent
    }

    /// The association and the accounts above it, up to the root account.
    pub fn path(&self, association: Association) -> impl Iterator<Item = Association> {
        let above = move |&at: &Association| (at != Association::ROOT).then(|| self.parent(at));
        std::iter::successors(Some(association), above)
    }

    /// True for a user, false for an account.
    pub fn is_user(&self, association: Association) -> bool {
        self.nodes[association.index()].is_user
    }

    /// Its shares.
    pub fn shares(&self, association: Association) -> Shares {
        self.nodes[association.index()].shares
    }

    /// The nearest account above that has shares of its own.
    pub fn fair_parent(&self, association: Association) -> Association {
        self.nodes[association.index()].fair_parent
    }

    /// The associations that compete for the shares of an account, in the order of their numbers. They are its
    /// children; a child account with [`Shares::Parent`] is replaced by its own children.
    pub fn competitors(&self, account: Association) -> &[Association] {
        &self.nodes[account.index()].competitors
    }

    /// Sum of the shares of [`Tree::competitors`].
    pub fn shares_below(&self, account: Association) -> u64 {
        self.nodes[account.index()].shares_below
    }

    /// Users of an account and of the accounts below it.
    pub fn users_below(&self, account: Association) -> u32 {
        self.nodes[account.index()].users_below
    }

    /// The part of its shares among those of all siblings and itself, from 0 to 1; `None` for
    /// [`Shares::Parent`].
    pub fn normalized_shares(&self, association: Association) -> Option<f64> {
        match (self.shares(association), self.shares_below(self.fair_parent(association))) {
            (Shares::Parent, _) => None,
            (Shares::Of(_), 0) => Some(0.0),
            (Shares::Of(own), all) => Some(f64::from(own) / all as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_an_account_without_shares_compete_one_level_higher() {
        let mut tree = Tree::new();
        let plain = tree.account(Association::ROOT, Shares::Of(3)).unwrap();
        let passing = tree.account(Association::ROOT, Shares::Parent).unwrap();
        let within = tree.account(passing, Shares::Parent).unwrap();
        let user = tree.user(within, Shares::Of(1)).unwrap();
        let free = tree.user(passing, Shares::Parent).unwrap();
        assert_eq!(tree.competitors(Association::ROOT), [plain, user, free]);
        assert_eq!(tree.competitors(passing), []);
        assert_eq!(tree.normalized_shares(user), Some(0.25));
        assert_eq!(tree.normalized_shares(free), None);
        assert_eq!([tree.users(), tree.users_below(within), tree.users_below(plain)], [2, 1, 0]);
        let path: Vec<Association> = tree.path(user).collect();
        assert_eq!(path, [user, within, passing, Association::ROOT]);
    }

    #[test]
    fn a_user_has_no_members() {
        let mut tree = Tree::new();
        let user = tree.user(Association::ROOT, Shares::Of(1)).unwrap();
        assert_eq!(tree.user(user, Shares::Of(1)), Err(TreeError::ParentIsUser(user)));
        let unknown = Association(9);
        assert_eq!(tree.account(unknown, Shares::Of(1)), Err(TreeError::UnknownParent(unknown)));
    }
}
