//! Examples that can be worked out by hand.

use haggle_model::law::Law;
use haggle_model::network::{
    Capacity, Flows, Link, LinkId, LinkSharing, Network, Node, Path, Star, StarParameters,
};
use haggle_model::{Span, Time};

const GIGABYTE: u64 = 1_000_000_000;

fn network(links: &[(Capacity, i64)]) -> Network {
    let link = |&(capacity, millis)| Link { capacity, latency: Span::from_micros(millis * 1000) };
    Network::new(links.iter().map(link).collect()).expect("good links")
}

fn path(network: &Network, route: &[usize]) -> Path {
    let route: Vec<LinkId> = route.iter().map(|&link| LinkId(link)).collect();
    network.path(&route).expect("links of the network")
}

/// Rates in Mbit/s of flows over these routes, once the data of all flow.
fn rates(network: &Network, sharing: LinkSharing, routes: &[&[usize]]) -> Vec<f64> {
    let mut flows = Flows::new(network, sharing);
    let start = |route: &&[usize]| flows.start(Time::ZERO, path(network, route), 1000 * GIGABYTE);
    let ids: Vec<_> = routes.iter().map(start).collect();
    flows.advance(Time::from_secs(1));
    ids.into_iter().map(|id| flows.rate(id).expect("under way") / 1e6).collect()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    let close = |(found, expected): (&f64, &f64)| (found / expected - 1.0).abs() < 1e-12;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(close),
        "{found:?} is not {expected:?}"
    );
}

/// LAN links A, B, C, the WAN link W, and the LAN link U of 4 ms.
fn five_links() -> Network {
    let lan = Capacity::Shared(1000e6);
    network(&[(lan, 1), (lan, 1), (lan, 1), (Capacity::PerFlow(5e6), 3), (lan, 4)])
}

#[test]
fn gm_m5_lan_and_wan_shares() {
    let network = five_links();
    let (r1, r2) = (&[0, 1][..], &[0, 3, 2][..]);
    let literal = rates(&network, LinkSharing::Literal, &[r1, r2]);
    assert_close(&literal, &[1000.0 * 5.0 / 7.0, 5.0]);
    assert_close(&rates(&network, LinkSharing::MaxMin, &[r1, r2]), &[995.0, 5.0]);
    let longer = rates(&network, LinkSharing::Literal, &[r1, &[0, 4, 1]]);
    assert_close(&longer, &[750.0, 250.0]);
}

#[test]
fn gm_m5_a_gigabyte_while_both_flow() {
    let network = five_links();
    let (r1, r2) = (path(&network, &[0, 1]), path(&network, &[0, 3, 2]));
    let mut flows = Flows::new(&network, LinkSharing::Literal);
    let slow = flows.start(Time::ZERO, r2, GIGABYTE);
    assert_eq!(flows.advance(Time::from_secs(1)), []);
    assert_eq!(flows.predicted(&r1, GIGABYTE), Span::from_micros(11_202_000));
    let fast = flows.start(Time::from_secs(1), r1, GIGABYTE);
    let mut ends = Vec::new();
    while let Some(at) = flows.next_event() {
        ends.extend(flows.advance(at).into_iter().map(|done| (done.flow, done.at.as_micros())));
    }
    assert_eq!(ends, [(fast, 12_202_000), (slow, 1_600_005_000)]);
}

#[test]
fn gm_m5_three_flows_on_three_links() {
    let lan = |megabits: f64| (Capacity::Shared(megabits * 1e6), 1);
    let network = network(&[lan(90.0), lan(30.0), lan(1e6)]);
    let routes: [&[usize]; 3] = [&[0, 2], &[0, 1], &[1, 2]];
    assert_close(&rates(&network, LinkSharing::Literal, &routes), &[45.0, 15.0, 15.0]);
    assert_close(&rates(&network, LinkSharing::MaxMin, &routes), &[75.0, 15.0, 15.0]);
}

#[test]
fn gm_m6_fluid_sharing() {
    for sharing in LinkSharing::ALL {
        let network = network(&[(Capacity::Shared(1e9), 0)]);
        let path = path(&network, &[0]);
        let mut flows = Flows::new(&network, sharing);
        let first = flows.start(Time::ZERO, path.clone(), GIGABYTE);
        let second = flows.start(Time::from_secs(4), path, GIGABYTE);
        let ends: Vec<_> = flows
            .advance(Time::from_secs(100))
            .into_iter()
            .map(|done| (done.flow, done.at))
            .collect();
        assert_eq!(ends, [(first, Time::from_secs(12)), (second, Time::from_secs(16))]);
    }
}

#[test]
fn an_aborted_flow_has_moved_what_it_had_time_for() {
    let network = network(&[(Capacity::Shared(1e9), 1000)]);
    let path = path(&network, &[0]);
    let mut flows = Flows::new(&network, LinkSharing::Literal);
    let kept = flows.start(Time::ZERO, path.clone(), GIGABYTE);
    let aborted = flows.start(Time::ZERO, path.clone(), GIGABYTE);
    assert_eq!(flows.moved(aborted, Time::from_micros(500_000)), Some(0));
    // A second of latency, then four at half the link's rate.
    assert_eq!(flows.abort(Time::from_secs(5), aborted), Some(GIGABYTE / 4));
    assert_eq!(flows.abort(Time::from_secs(5), aborted), None);
    assert_eq!(flows.completion(kept), Some(Time::from_secs(11)));
    let early = flows.start(Time::from_secs(5), path, GIGABYTE);
    assert_eq!(flows.abort(Time::from_secs(5), early), Some(0));
    assert_eq!(flows.advance(Time::from_secs(11)).len(), 1);
    assert!(flows.is_empty());
}

#[test]
fn what_completes_when_it_is_aborted_has_completed() {
    let network = network(&[(Capacity::Shared(1e9), 0)]);
    let mut flows = Flows::new(&network, LinkSharing::Literal);
    let flow = flows.start(Time::ZERO, path(&network, &[0]), GIGABYTE);
    assert_eq!(flows.abort(Time::from_secs(8), flow), None);
    assert_eq!(flows.next_event(), Some(Time::from_secs(8)));
    assert_eq!(flows.advance(Time::from_secs(8)).len(), 1);
}

#[test]
fn no_bytes_and_no_way_take_no_time() {
    let star = StarParameters { sites: vec![2], ..StarParameters::default() };
    let star = Star::new(&star, 0).expect("good parameters");
    let mut flows = Flows::new(star.network(), LinkSharing::Literal);
    let (here, there) = (Node::Resource(0), Node::Resource(1));
    let now = Time::from_secs(3);
    for (path, bytes) in [(star.path(here, here), GIGABYTE), (star.path(here, there), 0)] {
        assert_eq!(flows.predicted(&path, bytes), Span::ZERO);
        let flow = flows.start(now, path, bytes);
        assert_eq!(flows.next_event(), Some(now));
        let done = flows.advance(now);
        assert_eq!((done.len(), done[0].flow, done[0].at), (1, flow, now));
    }
}

/// Input and checkpoint of a task that moves, 2 GB: to another site, within its own, and with another such flow
/// over its own link.
#[test]
fn moving_a_task_takes_as_long_as_the_slowest_link() {
    let star = StarParameters {
        sites: vec![2, 1],
        wan_latency: Law::Constant(0.004),
        ..StarParameters::default()
    };
    let star = Star::new(&star, 0).expect("good parameters");
    let path = |to| star.path(Node::Resource(0), Node::Resource(to));
    let mut flows = Flows::new(star.network(), LinkSharing::MaxMin);
    assert_eq!(flows.predicted(&path(2), 2 * GIGABYTE), Span::from_micros(3_200_006_000));
    assert_eq!(flows.predicted(&path(1), 2 * GIGABYTE), Span::from_micros(16_002_000));
    for _ in 0..2 {
        flows.start(Time::ZERO, path(1), 2 * GIGABYTE);
    }
    let done = flows.advance(Time::from_secs(60));
    let ends = done.iter().map(|done| done.at).collect::<Vec<_>>();
    assert_eq!(ends, [Time::from_micros(32_002_000); 2]);
}

#[test]
fn a_constant_network_shares_nothing() {
    let path = Path::constant(100e6, Span::from_micros(10_000)).expect("a good rate");
    let mut flows = Flows::unshared();
    let ends = Time::from_micros(10_000) + Span::from_secs(80);
    for _ in 0..3 {
        flows.start(Time::ZERO, path.clone(), GIGABYTE);
    }
    assert_eq!(flows.predicted(&path, GIGABYTE), ends - Time::ZERO);
    let done = flows.advance(ends);
    assert_eq!(done.iter().map(|done| done.at).collect::<Vec<_>>(), [ends; 3]);
}

#[test]
fn unlimited_services_cost_their_latency_only() {
    let star = StarParameters { sites: vec![1], services: 2, ..StarParameters::default() };
    let star = Star::new(&star, 0).expect("good parameters");
    let mut flows = Flows::new(star.network(), LinkSharing::Literal);
    let path = star.path(Node::Service(0), Node::Service(1));
    assert_eq!(flows.predicted(&path, GIGABYTE), Span::from_micros(2000));
    flows.start(Time::ZERO, path, GIGABYTE);
    assert_eq!(flows.advance(Time::from_secs(1))[0].at, Time::from_micros(2000));
}

/// Three flows over one route, with any times between them: none takes longer than the bound. Flows
/// that start together reach it.
#[test]
fn no_flow_takes_longer_than_as_many_over_its_path_at_most() {
    let network = network(&[(Capacity::Shared(8e6), 1), (Capacity::PerFlow(5e6), 3)]);
    let route = path(&network, &[0, 1]);
    for sharing in LinkSharing::ALL {
        let bound = Flows::new(&network, sharing).longest(&route, 1_000_000, 3);
        for millis in [0, 1, 300, 1_700, 4_000] {
            let mut flows = Flows::new(&network, sharing);
            let start = |flow: i64| Time::from_micros(flow * millis * 1_000);
            let mut lasted = Vec::new();
            let mut take = |flows: &mut Flows, until: Time| {
                while let Some(next) = flows.next_event().filter(|&next| next <= until) {
                    let over = flows.advance(next);
                    lasted.extend(over.iter().map(|it| it.at - start(it.flow.0 as i64)));
                }
            };
            for flow in 0..3 {
                take(&mut flows, start(flow));
                flows.start(start(flow), route.clone(), 1_000_000);
            }
            take(&mut flows, Time::FOREVER);
            let longest = lasted.into_iter().max().expect("all arrive");
            assert!(longest <= bound, "{longest:?} is beyond {bound:?}");
            assert!(millis > 0 || bound - longest < Span::from_micros(10), "{longest:?}");
        }
    }
}
