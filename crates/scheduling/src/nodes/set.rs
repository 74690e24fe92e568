//! Sets of nodes on which jobs may be placed.

use serde::{Deserialize, Serialize};

/// Some of the nodes of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSet(Vec<bool>);

impl NodeSet {
    /// The nodes of these indices, of so many nodes.
    pub fn new(nodes: usize, indices: impl IntoIterator<Item = u32>) -> NodeSet {
        let mut all = vec![false; nodes];
        for node in indices {
            all[node as usize] = true;
        }
        NodeSet(all)
    }

    /// True if a node is in it.
    pub fn has(&self, node: u32) -> bool {
        self.0.get(node as usize).is_some_and(|&it| it)
    }
}

/// Nodes that jobs of some queues wait for, and no others may take.
#[derive(Clone, Debug, Default)]
pub(super) enum Taken {
    #[default]
    None,
    Some(Vec<bool>),
    All,
}

/// The nodes among which those of a job are chosen.
#[derive(Clone, Copy)]
pub(super) struct Among<'a> {
    /// Of its queue; `None` = all.
    pub(super) own: Option<&'a NodeSet>,
    /// All but these.
    pub(super) taken: &'a Taken,
}

impl Among<'_> {
    /// All nodes.
    pub(super) const ALL: Among<'static> = Among { own: None, taken: &Taken::None };

    pub(super) fn has(self, node: u32) -> bool {
        let taken = match self.taken {
            Taken::None => false,
            Taken::Some(taken) => taken[node as usize],
            Taken::All => true,
        };
        !taken && self.own.is_none_or(|own| own.has(node))
    }
}

impl<'a> From<Option<&'a NodeSet>> for Among<'a> {
    fn from(own: Option<&'a NodeSet>) -> Among<'a> {
        Among { own, ..Among::ALL }
    }
}

impl Taken {
    /// Adds the nodes of a queue; `None` = all.
    pub(super) fn add(&mut self, own: Option<&NodeSet>) {
        *self = match (std::mem::take(self), own) {
            (_, None) | (Taken::All, _) => Taken::All,
            (Taken::None, Some(own)) => Taken::Some(own.0.clone()),
            (Taken::Some(mut taken), Some(own)) => {
                taken.iter_mut().zip(&own.0).for_each(|(taken, own)| *taken |= own);
                Taken::Some(taken)
            }
        };
    }

    /// True if no node of a queue is left.
    pub(super) fn covers(&self, own: Option<&NodeSet>) -> bool {
        match (self, own) {
            (Taken::All, _) => true,
            (Taken::None, own) => own.is_some_and(|own| own.0.iter().all(|it| !it)),
            (Taken::Some(taken), None) => taken.iter().all(|&it| it),
            (Taken::Some(taken), Some(own)) => {
                own.0.iter().zip(taken).all(|(own, taken)| !own || *taken)
            }
        }
    }
}
