//! Warns of a time-out that is shorter than a round trip: a real transport would send messages again while they
//! are under way.

use std::collections::BTreeMap;

use haggle_model::Span;

use super::flow::Flow;
use crate::check::Check;
use crate::check::names::Names;
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

/// Mean time of a message and its answer, the actors between which they go, and the key that sets the time.
struct RoundTrip {
    takes: Span,
    between: [String; 2],
    said: Path,
}

impl Check<'_> {
    /// Warns of a time-out that is shorter than the longest round trip.
    pub(super) fn doubt_timeout(&mut self, flow: &Flow, names: &Names) {
        let network = &self.scenario.network;
        let Some(trip) = self.longest_round_trip(flow, names) else { return };
        let timeout = network.timeout();
        if trip.takes <= timeout.0 {
            return;
        }
        let at = Path::root().key("network").key("retransmission-timeout");
        let (at, by_default) = match network.retransmission_timeout {
            Some(_) => (at, ""),
            None => (trip.said, " if it is not given"),
        };
        let takes = TimeSpan(trip.takes);
        let [a, b] = trip.between;
        self.doubt(
            &at,
            format!(
                "`retransmission-timeout` is {timeout}{by_default}, and a message between \"{a}\" \
                 and \"{b}\" and its answer take {takes} in the mean"
            ),
            "sent again while still under way",
            format!("set `retransmission-timeout` to {takes} at least"),
        );
    }

    fn longest_round_trip(&self, flow: &Flow, names: &Names) -> Option<RoundTrip> {
        let scenario = self.scenario;
        let talkers = scenario.metaschedulers.iter().zip(&flow.metaschedulers);
        let pairs = talkers.filter(|(_, used)| **used).flat_map(|(talker, _)| {
            let copies = names.copies_meant(&talker.providers);
            copies.into_iter().map(|provider| [talker.name.to_string(), provider])
        });
        let links = self.own_links();
        let trips = pairs.map(|between| self.round_trip(between, &links));
        trips.reduce(|longest, trip| if trip.takes > longest.takes { trip } else { longest })
    }

    /// Last link between two places, which are in the order of their names.
    fn own_links(&self) -> BTreeMap<[&str; 2], usize> {
        let links = self.scenario.network.links.iter().enumerate();
        let ends = links.map(|(index, link)| {
            let ends = link.between.each_ref().map(|end| self.directory.site_of(end.as_str()));
            (in_order(ends), index)
        });
        ends.collect()
    }

    fn round_trip(&self, between: [String; 2], links: &BTreeMap<[&str; 2], usize>) -> RoundTrip {
        let network = &self.scenario.network;
        let own = links.get(&in_order(between.each_ref().map(String::as_str)));
        let own = own.map(|&index| (index, &network.links[index]));
        let path = Path::root().key("network");
        let (latency, said) = match own {
            Some((index, link)) => (link.latency, path.key("link").index(index).key("latency")),
            None if network.latency > TimeSpan::ZERO => (network.latency, path.key("latency")),
            None => (network.latency, path.key("jitter")),
        };
        // Each of the two messages has half of the jitter in the mean.
        RoundTrip { takes: latency.0 + latency.0 + network.jitter.0, between, said }
    }
}

fn in_order([a, b]: [&str; 2]) -> [&str; 2] {
    if b < a { [b, a] } else { [a, b] }
}
