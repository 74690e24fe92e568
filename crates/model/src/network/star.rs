//! Sites as stars, with a link between any two of them.

use serde::{Deserialize, Serialize};

use super::error::NetworkError;
use super::link::{Capacity, Link, LinkId, Network};
use super::path::Path;
use crate::law::Law;
use crate::random::stream;
use crate::{ActorId, Span};

/// Parameters of a [`Star`]. The defaults are those of Chtepen 2011, sections 4.3.4 and 5.6.1.
#[derive(Clone, Debug, PartialEq)]
pub struct StarParameters {
    /// Number of resources of each site.
    pub sites: Vec<usize>,
    /// Number of services (scheduler, storage, ...). They form one additional site.
    pub services: usize,
    /// Capacity of a resource's link to the switch of its site: 1 Gbit/s.
    pub lan_capacity: Capacity,
    /// Capacity of a service's link. Unlimited by default: all input and output goes over these links,
    /// so finite ones would dominate all results.
    pub service_capacity: Capacity,
    /// Latency of the links of resources and services: 1 ms.
    pub lan_latency: Span,
    /// Capacity of a link between two sites: 5 Mbit/s for every flow.
    pub wan_capacity: Capacity,
    /// Latency of a link between two sites, seconds, drawn once for each: U(0.003, 0.010).
    pub wan_latency: Law,
}

impl Default for StarParameters {
    fn default() -> StarParameters {
        StarParameters {
            sites: Vec::new(),
            services: 1,
            lan_capacity: Capacity::Shared(1e9),
            service_capacity: Capacity::Unlimited,
            lan_latency: Span::from_micros(1000),
            wan_capacity: Capacity::PerFlow(5e6),
            wan_latency: Law::Uniform { low: 0.003, high: 0.010 },
        }
    }
}

/// A source or destination of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Node {
    /// A resource, counted from 0 over all sites in their order.
    Resource(usize),
    /// A service, counted from 0.
    Service(usize),
    /// The site of an actor outside grids.
    Site(ActorId),
    /// A storage beside the sites of actors, counted from 0.
    Store(u32),
}

/// Sites in which each node has a link to a switch, and a link between the
/// switches of any two sites; the services are a site of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Star {
    network: Network,
    /// The site of each resource.
    site_of: Vec<usize>,
    services: usize,
    /// Sites, the service site included; it is the last.
    sites: usize,
}

impl Star {
    /// Builds the network. Latencies between sites depend only on the run's master `seed` and the two sites.
    pub fn new(parameters: &StarParameters, seed: u64) -> Result<Star, NetworkError> {
        let sites = parameters.sites.len() + 1;
        let site_of: Vec<usize> = (0..)
            .zip(&parameters.sites)
            .flat_map(|(site, &count)| std::iter::repeat_n(site, count))
            .collect();
        let latency = parameters.lan_latency;
        let lan = Link { capacity: parameters.lan_capacity, latency };
        let service = Link { capacity: parameters.service_capacity, latency };
        let mut links = vec![lan; site_of.len()];
        links.resize(site_of.len() + parameters.services, service);
        let wan_latency = parameters.wan_latency.sampler()?;
        // In the order in which `wan` counts.
        for far in 1..sites {
            for near in 0..far {
                let mut draws = stream(seed, &format!("sites {near} and {far}"), "latency");
                let drawn = wan_latency.sample(&mut draws);
                // A drawn latency may be below zero and is then cut off; a given one must not be.
                let seconds = match parameters.wan_latency {
                    Law::Constant(_) => drawn,
                    _ => drawn.max(0.0),
                };
                let latency = Span::from_secs_f64(seconds);
                links.push(Link { capacity: parameters.wan_capacity, latency });
            }
        }
        let network = Network::new(links)?;
        Ok(Star { network, site_of, services: parameters.services, sites })
    }

    /// The links: first those of the resources, then those of the services, then
    /// those between sites.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The same star with only one resource, which becomes its first. It has all links that data
    /// between this resource and the services cross.
    ///
    /// # Panics
    ///
    /// If there is no such resource.
    pub fn spoke(&self, resource: usize) -> Star {
        let links = self.network.links();
        let (own, others) = (links[resource], &links[self.site_of.len()..]);
        // The other links keep their order, from which `place` and `wan` compute their places.
        let links = std::iter::once(own).chain(others.iter().copied()).collect();
        let network = Network::new(links).expect("they were good before");
        Star { network, site_of: vec![self.site_of[resource]], ..*self }
    }

    /// Number of sites, without that of the services.
    pub fn sites(&self) -> usize {
        self.sites - 1
    }

    /// The links from one node to another: none within a node, two inside a site, and between two sites
    /// additionally the link that joins them.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn route(&self, from: Node, to: Node) -> Vec<LinkId> {
        if from == to {
            return Vec::new();
        }
        let ((near, first), (far, last)) = (self.place(from), self.place(to));
        if near == far { vec![first, last] } else { vec![first, self.wan(near, far), last] }
    }

    /// The path from one node to another.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn path(&self, from: Node, to: Node) -> Path {
        self.network.path(&self.route(from, to)).expect("a route has links of its own network")
    }

    /// True if there is such a node.
    pub fn has(&self, node: Node) -> bool {
        match node {
            Node::Resource(index) => index < self.site_of.len(),
            Node::Service(index) => index < self.services,
            Node::Site(_) | Node::Store(_) => false,
        }
    }

    /// The link of a node to the switch of its site.
    pub fn link_of(&self, node: Node) -> LinkId {
        self.place(node).1
    }

    /// Site and link of a node.
    fn place(&self, node: Node) -> (usize, LinkId) {
        match node {
            Node::Resource(index) => (self.site_of[index], LinkId(index)),
            Node::Service(index) => {
                assert!(index < self.services, "there are {} services, not {index}", self.services);
                (self.sites - 1, LinkId(self.site_of.len() + index))
            }
            Node::Site(_) | Node::Store(_) => panic!("{node:?} is no node of a star"),
        }
    }

    /// The link between two sites. Pairs are counted 0-1, 0-2, 1-2, 0-3, ...
    fn wan(&self, one: usize, other: usize) -> LinkId {
        let (near, far) = (one.min(other), one.max(other));
        LinkId(self.site_of.len() + self.services + far * (far - 1) / 2 + near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn star(sites: &[usize], seed: u64) -> Star {
        let parameters =
            StarParameters { sites: sites.to_vec(), services: 2, ..StarParameters::default() };
        Star::new(&parameters, seed).expect("good parameters")
    }

    #[test]
    fn routes_cross_two_links_in_a_site_and_three_between_sites() {
        let star = star(&[2, 1, 3], 0);
        let route =
            |from, to| star.route(from, to).into_iter().map(|link| link.0).collect::<Vec<_>>();
        let (resource, service) = (Node::Resource, Node::Service);
        assert!(route(resource(1), resource(1)).is_empty());
        assert_eq!(route(resource(0), resource(1)), [0, 1]);
        // Links: 6 resources, 2 services, then the pairs 0-1, 0-2, 1-2, 0-s, 1-s, 2-s.
        assert_eq!(route(resource(0), resource(2)), [0, 8, 2]);
        assert_eq!(route(resource(5), resource(2)), [5, 10, 2]);
        assert_eq!(route(resource(5), service(1)), [5, 13, 7]);
        assert_eq!(route(service(0), service(1)), [6, 7]);
        assert_eq!((star.network().links().len(), star.sites()), (14, 3));
    }

    #[test]
    fn latencies_between_sites_depend_on_seed_and_sites_only() {
        let latency = |star: &Star| star.path(Node::Resource(0), Node::Resource(1)).latency();
        let (small, large) = (star(&[1, 1], 3), star(&[1, 1, 4], 3));
        assert_eq!(latency(&small), latency(&large));
        assert_ne!(latency(&small), latency(&star(&[1, 1], 4)));
        let millis = latency(&small).as_secs_f64() * 1000.0;
        assert!((5.0..12.0).contains(&millis), "{millis}");
    }

    #[test]
    fn what_is_no_network_is_refused() {
        let message = |parameters: StarParameters| {
            let parameters = StarParameters { sites: vec![1, 1], ..parameters };
            Star::new(&parameters, 0).expect_err("wrong").to_string()
        };
        let rest = StarParameters::default;
        assert_eq!(
            message(StarParameters { lan_capacity: Capacity::Shared(0.0), ..rest() }),
            "link 0: 0 bit/s, expected a finite number above 0"
        );
        assert_eq!(
            message(StarParameters { wan_latency: Law::Constant(-0.5), ..rest() }),
            "link 3: latency is -0.5 s, expected at least 0"
        );
        let normal = Law::Normal { mean: -1.0, standard_deviation: 0.1 };
        let below_zero = StarParameters { wan_latency: normal, ..rest() };
        assert_eq!(Star::new(&below_zero, 1).err(), None);
        let network = star(&[1], 0);
        assert_eq!(
            network.network().path(&[LinkId(9)]).expect_err("wrong").to_string(),
            "there is no link 9, only 0 to 3"
        );
    }
}
