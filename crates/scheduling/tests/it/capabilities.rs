//! A queue serves the requests that its capabilities name, and refuses all others.

use haggle_model::reservation::Remedy;
use haggle_model::{Amounts, NodeGroup, Nodes, Span, Time};
use haggle_scheduling::reservations::{ReservationConfig, Reserve, Window};
use haggle_scheduling::{
    Award, BagRequest, Capabilities, Compression, EdfConfig, Fractions, Guarantee, Interval,
    LocalScheduler, NodesConfig, Offer, Order, Overlap, Placing, Policy, Request,
    ReschedulingConfig, ReschedulingRule, SchedulerConfig, Scheduling, Shares, Slot,
};

const NOW: Time = Time::from_secs(10);

/// Every kind of queue, by the name of its row in the manual.
fn queues() -> Vec<(&'static str, Scheduling)> {
    let queue = |policy, order, compression| SchedulerConfig {
        policy,
        order,
        compression,
        depth: None,
        window: None,
    };
    let (arrival, by_start) = (Order::Arrival, Compression::ByStart);
    let conservative = queue(Policy::Conservative, arrival, by_start);
    let bags = Scheduling::Bags {
        rescheduling: ReschedulingConfig::from(ReschedulingRule::Coordinated),
        fractions: Fractions::default(),
        shares: Shares::Tasks,
    };
    let edf = Scheduling::Edf(EdfConfig::default());
    vec![
        ("FCFS", queue(Policy::Fcfs, arrival, by_start).into()),
        ("FCFS in another order", queue(Policy::Fcfs, Order::Shortest, by_start).into()),
        ("EASY", queue(Policy::Easy, arrival, by_start).into()),
        ("conservative", conservative.into()),
        ("`replan`", queue(Policy::Conservative, arrival, Compression::Replan).into()),
        (
            "FCFS, with parts",
            Scheduling::from(queue(Policy::Fcfs, arrival, by_start)).around_parts(),
        ),
        (
            "EASY, with parts",
            Scheduling::from(queue(Policy::Easy, arrival, by_start)).around_parts(),
        ),
        ("conservative, with parts", Scheduling::from(conservative).around_parts()),
        (
            "`replan`, with parts",
            Scheduling::from(queue(Policy::Conservative, arrival, Compression::Replan))
                .around_parts(),
        ),
        ("EDF", edf.clone()),
        ("conservative bags", bags.clone()),
        ("EDF, with parts", edf.around_parts()),
        ("conservative bags, with parts", bags.around_parts()),
        ("reservations", Scheduling::Reservations(ReservationConfig::default())),
        ("recorded", Scheduling::Recorded),
        ("FCFS on nodes", on_nodes(queue(Policy::Fcfs, arrival, by_start))),
        ("EASY on nodes", on_nodes(queue(Policy::Easy, arrival, by_start))),
        ("conservative on nodes", on_nodes(conservative)),
    ]
}

fn on_nodes(queue: SchedulerConfig) -> Scheduling {
    let nodes = Nodes::new(&[NodeGroup { count: 2, capacity: Amounts::processors(4) }]);
    Scheduling::Nodes(Box::new(NodesConfig {
        nodes: Some(nodes),
        placing: Placing::Packed,
        queue,
        site: None,
    }))
}

fn services(it: Capabilities) -> [(&'static str, Guarantee); 5] {
    let Capabilities { bags, starts, windows, parts, maintenance } = it;
    [
        ("bags", bags),
        ("starts", starts),
        ("windows", windows),
        ("parts", parts),
        ("maintenance", maintenance),
    ]
}

/// Requests to an idle machine that every queue with the service can serve.
fn are_served(queue: &mut dyn LocalScheduler) -> [bool; 5] {
    let span = Span::from_secs(5);
    let bag = BagRequest { tasks: 2, span, deadline: None, earliest: NOW };
    let award = Award::Offered { tasks: 2, offer: Offer { tasks: 2, completion: NOW + span } };
    let offers = queue.bags().offers(NOW, &bag).len();
    let awarded = queue.bags().award(NOW, Slot(0), &bag, &award);
    assert_eq!(offers > 0, awarded.is_some());
    let estimated = queue.starts().estimate_after(NOW, 1, Some(span), NOW + span);
    let reserve = Reserve {
        slot: Slot(1),
        submitted: NOW,
        processors: 1,
        span,
        window: Window { ready: None, deadline: NOW + span },
        fix_at: None,
        accepts: None,
        remedy: Remedy::Revoke,
    };
    let granted = queue.windows().ask(NOW, &reserve, &[], &mut |_| 0);
    let place = Interval { start: NOW + span, span, processors: 1 };
    let held = queue.parts().hold(NOW, Slot(2), place);
    assert_eq!(queue.parts().planned(Slot(2)), held.then_some(place));
    let announced = queue.maintenance().announce(NOW, 0, place, Overlap::Refuse);
    [awarded.is_some(), estimated.is_some(), granted.is_some(), held, announced]
}

#[test]
fn a_queue_serves_what_its_capabilities_name() {
    for (name, scheduling) in queues() {
        let mut queue = scheduling.build(4);
        let guarantees = services(queue.capabilities());
        for ((service, guarantee), served) in guarantees.into_iter().zip(are_served(&mut **queue)) {
            assert_eq!(served, guarantee.is_ok(), "{name}: {service}");
        }
    }
}

/// A refused request changes nothing.
#[test]
fn a_refusal_leaves_the_queue_as_it_was() {
    for (name, scheduling) in queues() {
        let mut queue = scheduling.build(4);
        let capabilities = queue.capabilities();
        let (span, tasks) = (Span::from_secs(5), 2);
        let request = Request::new(Slot(0), 4, Some(span));
        queue.submit(NOW, request);
        if capabilities.bags.is_err() {
            let bag = BagRequest { tasks, span, deadline: None, earliest: NOW };
            queue.bags().wait_again(NOW, Slot(7), &bag);
            queue.bags().tasks_finished(NOW, Slot(0), 1, NOW);
            queue.bags().reschedule(NOW);
            assert!(!queue.bags().wants_rescheduling() && queue.bags().queue().is_empty());
        }
        if capabilities.starts.is_err() {
            queue.starts().withdraw_all(NOW, &[Slot(0)]);
        }
        if capabilities.parts.is_err() {
            queue.parts().shorten(NOW, Slot(0), NOW);
            queue.parts().catch_up(NOW, &[Slot(0)]);
            queue.parts().turn_into_job(request);
            queue.parts().compress(NOW);
        }
        let mut started = Vec::new();
        queue.start_due(NOW, &mut started);
        assert_eq!(started, [Slot(0)], "{name}");
    }
}

/// The manual has the reasons.
#[test]
fn the_page_on_queues_has_the_capabilities() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/internals/queues.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    for (name, scheduling) in queues() {
        let guarantees = services(scheduling.build(4).capabilities());
        let cells = guarantees.map(|(_, guarantee)| match guarantee {
            Ok(()) => "yes",
            Err(reason) => reason,
        });
        let row = format!("| {name} | {} |", cells.join(" | "));
        assert!(page.contains(&row), "the page lacks:\n{row}");
    }
}
