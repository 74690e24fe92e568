//! Sites with one access link each, and direct links between some of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::NetworkError;
use super::link::{Capacity, Link, LinkId, Network};
use super::path::Path;
use super::star::Node;
use crate::Span;

/// Sites of actors, and storages beside them. All data that a site sends or receives go over its access
/// link. Two transfers therefore meet where they have a site in common. Between two sites, there may be
/// a direct link, which their transfers take instead of both access links. A path has its latency once.
///
/// ```text
///   a ──access──┐      ┌──access── c
///               ├──────┤
///   b ──access──┘      └──access── d
///   └──────── own link ───────────┘
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sites {
    /// Access links first; their latency is that of the paths.
    network: Network,
    access: BTreeMap<Node, LinkId>,
    latency: Span,
    /// Direct links by their two ends, the smaller one first; in order.
    own: Vec<([Node; 2], LinkId)>,
}

impl Sites {
    /// Sites whose access links carry `rate` bit/s, with `latency` between any two.
    ///
    /// # Errors
    /// If a rate is not above 0, or a latency is negative.
    pub fn new(
        sites: impl IntoIterator<Item = Node>,
        rate: f64,
        latency: Span,
    ) -> Result<Sites, NetworkError> {
        let link = Link { capacity: Capacity::Shared(rate), latency };
        let access: BTreeMap<Node, LinkId> = sites.into_iter().zip((0..).map(LinkId)).collect();
        let network = Network::new(vec![link; access.len()])?;
        Ok(Sites { network, access, latency, own: Vec::new() })
    }

    /// The same sites with a direct link between two of them, in both directions. It replaces an earlier one.
    ///
    /// # Errors
    /// As [`Sites::new`].
    pub fn joined(
        mut self,
        a: Node,
        b: Node,
        rate: f64,
        latency: Span,
    ) -> Result<Sites, NetworkError> {
        let mut links = self.network.links().to_vec();
        // Links have no direction.
        let (ends, id) = ([a.min(b), a.max(b)], LinkId(links.len()));
        links.push(Link { capacity: Capacity::Shared(rate), latency });
        self.network = Network::new(links)?;
        match self.place(ends) {
            // An earlier link between the two stays in the list, but no path takes it.
            Ok(place) => self.own[place].1 = id,
            Err(place) => self.own.insert(place, (ends, id)),
        }
        Ok(self)
    }

    /// All links.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// True if `node` is one of the sites.
    pub fn has(&self, node: Node) -> bool {
        self.access.contains_key(&node)
    }

    /// The path from one site to another.
    ///
    /// # Panics
    ///
    /// If one of them is not a site.
    pub fn path(&self, from: Node, to: Node) -> Path {
        if from == to {
            return Path::local();
        }
        let (route, latency) = match self.place([from.min(to), from.max(to)]) {
            Ok(place) => {
                let link = self.own[place].1;
                (vec![link], self.network.links()[link.0].latency)
            }
            Err(_) => (vec![self.access[&from], self.access[&to]], self.latency),
        };
        // Each access link has the latency of a whole path, which must count once.
        let path = self.network.path(&route).expect("a route has links of its own network");
        path.taking(latency)
    }

    fn place(&self, ends: [Node; 2]) -> Result<usize, usize> {
        self.own.binary_search_by_key(&ends, |(ends, _)| *ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ActorId;

    fn site(number: u32) -> Node {
        Node::Site(ActorId(number))
    }

    fn sites() -> Sites {
        let all = [site(2), site(5), site(7), Node::Store(0)];
        let sites = Sites::new(all, 8e6, Span::from_secs(1)).expect("good links");
        sites.joined(site(7), site(2), 1e6, Span::from_secs(3)).expect("a good link")
    }

    fn path(sites: &Sites, from: u32, to: u32) -> (Vec<usize>, Span) {
        let path = sites.path(site(from), site(to));
        (path.shared().iter().map(|link| link.0).collect(), path.latency())
    }

    #[test]
    fn paths_cross_both_access_links_or_the_own_one_and_have_their_latency_once() {
        let sites = sites();
        let seconds = Span::from_secs;
        assert_eq!(path(&sites, 2, 5), (vec![0, 1], seconds(1)));
        assert_eq!(path(&sites, 7, 5), (vec![2, 1], seconds(1)));
        assert_eq!(path(&sites, 2, 7), (vec![4], seconds(3)));
        assert_eq!(path(&sites, 7, 2), (vec![4], seconds(3)));
        assert!(sites.path(site(5), site(5)).is_local());
        let again = sites.joined(site(2), site(7), 2e6, seconds(4)).expect("a good link");
        assert_eq!(path(&again, 2, 7), (vec![5], seconds(4)));
    }

    #[test]
    fn who_is_no_site_is_not_there() {
        let sites = sites();
        let has = [site(5), site(3), Node::Resource(5), Node::Store(0), Node::Store(1)];
        assert_eq!(has.map(|node| sites.has(node)), [true, false, false, true, false]);
    }

    #[test]
    fn what_is_no_link_is_refused() {
        let none = Sites::new([site(0)], 0.0, Span::ZERO).expect_err("no rate");
        assert_eq!(none.to_string(), "link 0: 0 bit/s, expected a finite number above 0");
    }
}
