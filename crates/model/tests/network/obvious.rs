//! The same model by its definition: everything is computed again at every event.

use haggle_model::network::{Capacity, Link, LinkSharing};
use haggle_model::{Span, Time};

/// A transfer to be made.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) start: Time,
    pub(crate) route: Vec<usize>,
    pub(crate) bytes: u64,
    /// It is aborted then, if it is still under way.
    pub(crate) abort: Option<Time>,
}

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Completed(Time),
    Aborted { moved: f64 },
}

struct Flow {
    transfer: usize,
    flows_from: Time,
    left_bits: f64,
}

pub(crate) fn run(links: &[Link], sharing: LinkSharing, transfers: &[Transfer]) -> Vec<End> {
    let mut ends: Vec<Option<End>> = vec![None; transfers.len()];
    let mut flows: Vec<Flow> = Vec::new();
    for (transfer, Transfer { start, route, bytes, .. }) in transfers.iter().enumerate() {
        if *bytes == 0 || route.is_empty() {
            ends[transfer] = Some(End::Completed(*start));
            continue;
        }
        let latency: Span = route.iter().map(|&link| links[link].latency).sum();
        flows.push(Flow { transfer, flows_from: *start + latency, left_bits: 8.0 * *bytes as f64 });
    }
    let mut now = Time::ZERO;
    while !flows.is_empty() {
        let active: Vec<usize> =
            (0..flows.len()).filter(|&flow| flows[flow].flows_from <= now).collect();
        let routes: Vec<&[usize]> =
            active.iter().map(|&flow| &transfers[flows[flow].transfer].route[..]).collect();
        let rates = rates(links, sharing, &routes);
        let due =
            |(&flow, rate): (&usize, &f64)| now + Span::from_secs_f64(flows[flow].left_bits / rate);
        let completions: Vec<Time> = active.iter().zip(&rates).map(due).collect();
        let beginnings = flows.iter().map(|flow| flow.flows_from).filter(|&at| at > now);
        let aborts = flows.iter().filter_map(|flow| transfers[flow.transfer].abort);
        let next = completions.iter().copied().chain(beginnings).chain(aborts).min();
        let next = next.expect("a flow is under way");
        let passed = (next - now).as_secs_f64();
        for ((&flow, rate), &due) in active.iter().zip(&rates).zip(&completions) {
            let flow = &mut flows[flow];
            flow.left_bits = if rate.is_infinite() { 0.0 } else { flow.left_bits - rate * passed };
            if due == next {
                ends[flow.transfer] = Some(End::Completed(next));
            }
        }
        for flow in &flows {
            let Transfer { bytes, abort, .. } = transfers[flow.transfer];
            if abort == Some(next) && ends[flow.transfer].is_none() {
                let moved = bytes as f64 - flow.left_bits / 8.0;
                ends[flow.transfer] = Some(End::Aborted { moved });
            }
        }
        flows.retain(|flow| ends[flow.transfer].is_none());
        now = next;
    }
    ends.into_iter().map(|end| end.expect("every transfer ends")).collect()
}

/// The rates of flows over these routes.
pub(crate) fn rates(links: &[Link], sharing: LinkSharing, routes: &[&[usize]]) -> Vec<f64> {
    let weight = |route: &[usize]| {
        let latency: f64 = route.iter().map(|&link| links[link].latency.as_secs_f64()).sum();
        1.0 / latency.max(1e-9)
    };
    let highest = |route: &[usize]| {
        route.iter().fold(f64::INFINITY, |rate, &link| match links[link].capacity {
            Capacity::PerFlow(highest) => rate.min(highest),
            _ => rate,
        })
    };
    let capacity = |link: usize| match links[link].capacity {
        Capacity::Shared(capacity) => capacity,
        _ => f64::INFINITY,
    };
    let crosses = |flow: usize, link: usize| routes[flow].contains(&link);
    let all = 0..routes.len();
    match sharing {
        LinkSharing::Literal => routes
            .iter()
            .map(|route| {
                route.iter().fold(highest(route), |rate, &link| {
                    let sum: f64 =
                        all.clone().filter(|&f| crosses(f, link)).map(|f| weight(routes[f])).sum();
                    rate.min(capacity(link) * weight(route) / sum)
                })
            })
            .collect(),
        LinkSharing::MaxMin => {
            // Raise the level to the next full link or highest rate, fix who is there, go on.
            let mut rates: Vec<Option<f64>> = vec![None; routes.len()];
            while rates.contains(&None) {
                let mut stop = (f64::INFINITY, Vec::new());
                for link in 0..links.len() {
                    let on: Vec<usize> = all.clone().filter(|&f| crosses(f, link)).collect();
                    let used: f64 = on.iter().filter_map(|&f| rates[f]).sum();
                    let open: Vec<usize> = on.into_iter().filter(|&f| rates[f].is_none()).collect();
                    let sum: f64 = open.iter().map(|&f| weight(routes[f])).sum();
                    let level = (capacity(link) - used).max(0.0) / sum;
                    if !open.is_empty() && level < stop.0 {
                        stop = (level, open);
                    }
                }
                for flow in all.clone().filter(|&f| rates[f].is_none()) {
                    let level = highest(routes[flow]) / weight(routes[flow]);
                    if level < stop.0 {
                        stop = (level, vec![flow]);
                    }
                }
                if stop.1.is_empty() {
                    rates.iter_mut().for_each(|rate| *rate = rate.or(Some(f64::INFINITY)));
                }
                for flow in stop.1 {
                    rates[flow] = Some(stop.0 * weight(routes[flow]));
                }
            }
            rates.into_iter().flatten().collect()
        }
    }
}
