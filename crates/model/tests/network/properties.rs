//! Properties that hold for all flows.

use haggle_model::network::{
    Capacity, FlowId, Flows, Link, LinkId, LinkSharing, Network, Node, Star, StarParameters,
};
use haggle_model::{Span, Time};
use proptest::prelude::*;

use crate::obvious::{self, End, Transfer};

fn links() -> impl Strategy<Value = Vec<Link>> {
    let capacity = prop_oneof![
        5 => (1.0..1000.0).prop_map(|rate| Capacity::Shared(rate * 1e6)),
        2 => (1.0..100.0).prop_map(|rate| Capacity::PerFlow(rate * 1e6)),
        1 => Just(Capacity::Unlimited),
    ];
    let latency = prop_oneof![Just(0_i64), 1..20_000_i64];
    let link = (capacity, latency)
        .prop_map(|(capacity, micros)| Link { capacity, latency: Span::from_micros(micros) });
    prop::collection::vec(link, 1..7)
}

fn transfers(links: usize) -> impl Strategy<Value = Vec<Transfer>> {
    // Whole seconds now and then, so that flows also start and end at the same instant.
    let start = prop_oneof![
        (0..5_i64).prop_map(Time::from_secs),
        (0..5_000_000_i64).prop_map(Time::from_micros)
    ];
    let route = prop::collection::vec(any::<bool>(), links)
        .prop_map(|on| (0..on.len()).filter(|&link| on[link]).collect::<Vec<_>>());
    let bytes = prop_oneof![1 => Just(0), 9 => 1..100_000_000_u64];
    let abort = prop::option::weighted(0.3, 0..6_000_000_i64);
    let transfer = (start, route, bytes, abort).prop_map(|(start, route, bytes, abort)| Transfer {
        start,
        route,
        bytes,
        abort: abort.map(|after| start + Span::from_micros(after)),
    });
    prop::collection::vec(transfer, 1..12)
}

fn case() -> impl Strategy<Value = (Vec<Link>, Vec<Transfer>, LinkSharing)> {
    let sharing = prop::sample::select(&LinkSharing::ALL[..]);
    links().prop_flat_map(move |links| {
        let count = links.len();
        (Just(links), transfers(count), sharing.clone())
    })
}

/// Drives flows as a simulation would: from event to event, checking at each.
fn driven(
    links: &[Link],
    sharing: LinkSharing,
    transfers: &[Transfer],
    check: impl Fn(&Flows, &[(usize, FlowId)]),
) -> Vec<End> {
    let network = Network::new(links.to_vec()).expect("good links");
    let mut flows = Flows::new(&network, sharing);
    let mut ids: Vec<(usize, FlowId)> = Vec::new();
    let mut ends: Vec<Option<End>> = vec![None; transfers.len()];
    let mut waiting: Vec<usize> = (0..transfers.len()).collect();
    loop {
        let starts = waiting.iter().map(|&transfer| transfers[transfer].start);
        let aborts = ids.iter().filter_map(|&(transfer, _)| transfers[transfer].abort);
        let Some(now) = flows.next_event().into_iter().chain(starts).chain(aborts).min() else {
            break;
        };
        for done in flows.advance(now) {
            let at = ids.iter().position(|&(_, id)| id == done.flow).expect("it was started");
            let (transfer, _) = ids.swap_remove(at);
            ends[transfer] = Some(End::Completed(done.at));
        }
        waiting.retain(|&transfer| {
            let is_later = transfers[transfer].start > now;
            if !is_later {
                let route: Vec<LinkId> =
                    transfers[transfer].route.iter().map(|&link| LinkId(link)).collect();
                let path = network.path(&route).expect("links of the network");
                ids.push((transfer, flows.start(now, path, transfers[transfer].bytes)));
            }
            is_later
        });
        ids.retain(|&(transfer, id)| {
            let is_aborted = transfers[transfer].abort == Some(now);
            let moved = if is_aborted { flows.abort(now, id) } else { None };
            if let Some(moved) = moved {
                ends[transfer] = Some(End::Aborted { moved: moved as f64 });
            }
            moved.is_none()
        });
        // Flows that were completed by the starts and aborts of this instant are reported at once.
        for done in flows.advance(now) {
            ids.retain(|&(transfer, id)| {
                let is_done = id == done.flow;
                if is_done {
                    ends[transfer] = Some(End::Completed(done.at));
                }
                !is_done
            });
        }
        check(&flows, &ids);
    }
    assert!(flows.is_empty());
    ends.into_iter().map(|end| end.expect("every transfer ends")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn flows_move_as_if_everything_was_computed_at_every_event((links, transfers, sharing) in case()) {
        let fast = driven(&links, sharing, &transfers, |_, _| {});
        let obvious = obvious::run(&links, sharing, &transfers);
        for (transfer, (fast, obvious)) in fast.into_iter().zip(obvious).enumerate() {
            let is_same = match (fast, obvious) {
                // Sums in another order differ in their last bits, and so in a microsecond.
                (End::Completed(fast), End::Completed(obvious)) =>
                    (fast - obvious).as_micros().abs() <= 3,
                (End::Aborted { moved: fast }, End::Aborted { moved: obvious }) =>
                    (fast - obvious).abs() <= 1000.0,
                // Aborted in the very microsecond of its completion, or not quite.
                (End::Completed(at), End::Aborted { moved }) | (End::Aborted { moved }, End::Completed(at)) => {
                    let Transfer { abort, bytes, .. } = transfers[transfer];
                    abort.is_some_and(|abort| (abort - at).as_micros().abs() <= 3)
                        && bytes as f64 - moved < 1000.0
                }
            };
            prop_assert!(is_same, "{transfer}: {fast:?} is not {obvious:?}");
        }
    }

    #[test]
    fn no_link_carries_more_than_it_can_and_max_min_leaves_nothing_unused((links, transfers, sharing) in case()) {
        driven(&links, sharing, &transfers, |flows, ids| {
            let rate = |id: FlowId| flows.rate(id).expect("under way");
            let flowing: Vec<(usize, f64)> =
                ids.iter().map(|&(t, id)| (t, rate(id))).filter(|&(_, rate)| rate > 0.0).collect();
            let mut is_full = vec![false; links.len()];
            for (link, Link { capacity, .. }) in links.iter().enumerate() {
                let on = || flowing.iter().filter(|&&(t, _)| transfers[t].route.contains(&link));
                match *capacity {
                    Capacity::Shared(capacity) => {
                        let used: f64 = on().map(|&(_, rate)| rate).sum();
                        assert!(used <= capacity * (1.0 + 1e-9), "{used} over {capacity}");
                        is_full[link] = used >= capacity * (1.0 - 1e-9);
                    }
                    Capacity::PerFlow(highest) => assert!(on().all(|&(_, rate)| rate <= highest)),
                    Capacity::Unlimited => {}
                }
            }
            if sharing == LinkSharing::MaxMin {
                for &(transfer, rate) in &flowing {
                    let is_stopped = transfers[transfer].route.iter().any(|&link| {
                        is_full[link] || matches!(links[link].capacity, Capacity::PerFlow(highest) if rate >= highest)
                    });
                    assert!(is_stopped, "{transfer} could have more than {rate}");
                }
            }
        });
    }

    /// Also after it has travelled, and it does not tell how many flows there have been.
    #[test]
    fn a_picture_predicts_what_the_flows_do((links, transfers, sharing) in case()) {
        let network = Network::new(links.clone()).expect("good links");
        let path = |transfer: &Transfer| {
            let route: Vec<LinkId> = transfer.route.iter().map(|&link| LinkId(link)).collect();
            network.path(&route).expect("links of the network")
        };
        let paths: Vec<_> = transfers.iter().map(path).collect();
        driven(&links, sharing, &transfers, |flows, ids| {
            let said = serde_json::to_string(&flows.picture()).expect("it can be written");
            let heard: Flows = serde_json::from_str(&said).expect("it can be read");
            for path in &paths {
                assert_eq!(heard.predicted(path, 1_000_000), flows.predicted(path, 1_000_000));
            }
            let flowing = ids.iter().filter(|&&(_, id)| flows.completion(id).is_some());
            assert_eq!(heard.len(), flowing.count());
            assert!(ids.iter().all(|&(_, id)| heard.moved(id, Time::ZERO).is_none_or(|it| it == 0)));
        });
    }

    #[test]
    fn a_prediction_comes_true_while_nothing_else_happens(
        (links, transfers, sharing) in case(),
        bytes in 1..100_000_000_u64,
    ) {
        // All have begun to move data, and have much to move.
        let network = Network::new(links.clone()).expect("good links");
        let path = |transfer: &Transfer| {
            let route: Vec<LinkId> = transfer.route.iter().map(|&link| LinkId(link)).collect();
            network.path(&route).expect("links of the network")
        };
        let mut flows = Flows::new(&network, sharing);
        for transfer in &transfers[1..] {
            flows.start(Time::ZERO, path(transfer), 1 << 50);
        }
        let now = Time::from_secs(1);
        flows.advance(now);
        let predicted = flows.predicted(&path(&transfers[0]), bytes);
        let path = path(&transfers[0]);
        let flow = flows.start(now, path.clone(), bytes);
        let done = flows.advance(now + path.latency());
        let completion = match done.iter().find(|done| done.flow == flow) {
            Some(done) => Some(done.at),
            None => flows.completion(flow),
        };
        prop_assert_eq!(completion, Some(now + predicted));
    }
}

#[test]
fn thousands_of_flows_touch_few_others() {
    const RESOURCES: usize = 2000;
    const FLOWS: usize = 20_000;
    let parameters =
        StarParameters { sites: vec![RESOURCES / 10; 10], ..StarParameters::default() };
    let star = Star::new(&parameters, 0).expect("good parameters");
    for sharing in LinkSharing::ALL {
        let mut flows = Flows::new(star.network(), sharing);
        let mut done = 0;
        for number in 0..FLOWS {
            let now = Time::from_micros(number as i64 * 100);
            let to = Node::Resource(number * 7919 % RESOURCES);
            flows.start(now, star.path(Node::Service(0), to), 1_000_000 + number as u64);
            done += flows.advance(now).len();
        }
        assert!(flows.len() > 10_000, "{}", flows.len());
        while let Some(at) = flows.next_event() {
            done += flows.advance(at).len();
        }
        assert_eq!(done, FLOWS);
    }
}
