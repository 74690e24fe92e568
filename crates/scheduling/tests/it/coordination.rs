//! Providers and a metascheduler that track the expected completion of bags.

use std::collections::BTreeMap;

use haggle_model::{JobId, ProviderId, Span, Time};
use haggle_scheduling::{BagRequest, ReschedulingRule, Slot};
use haggle_testing::at_micros;
use proptest::prelude::*;

use crate::system::{Message, System};

const A: JobId = JobId(0);
const B: JobId = JobId(1);

fn bag(tasks: u32, span: i64) -> BagRequest {
    BagRequest { tasks, span: Span::from_micros(span), deadline: None, earliest: Time::ZERO }
}

/// CX-3 as far as the first early end: r ends at 4, q at `end_of_q`.
fn two_providers(rule: ReschedulingRule, end_of_q: i64) -> System {
    let mut system = System::new(&[1, 1], rule, true);
    system.submit(0, 1, 10, 4);
    system.submit(1, 1, 20, end_of_q);
    system.award(A, &bag(2, 10), 10, &[(0, 1), (1, 1)]);
    system.award(B, &bag(1, 5), 5, &[(0, 1)]);
    system.settle();
    let planned = |bag, site| system.table.providers(bag).nth(site).map(|(_, time)| time);
    assert_eq!((planned(A, 0), planned(A, 1)), (Some(at_micros(20)), Some(at_micros(30))));
    assert_eq!(planned(B, 0), Some(at_micros(25)));
    system
}

/// End of the task of A at each provider, and of B.
fn ends(system: &System) -> [i64; 3] {
    let end = |site, slot| {
        let of = system.ends.iter().find(|&&(s, n, _)| (s, n) == (site, Slot(slot)));
        of.expect("it has ended").2
    };
    [end(0, 1), end(1, 1), end(0, 2)]
}

#[test]
fn cx_3_a_last_task_moves_and_its_bag_is_told() {
    let mut system = two_providers(ReschedulingRule::Coordinated, 12);
    system.run_out();
    assert_eq!(ends(&system), [19, 22, 9]);
    let told = [
        (4, Message::Report(0, B, at_micros(9))),
        (4, Message::BagCompletion(0, B, at_micros(9))),
        (12, Message::Report(1, A, at_micros(22))),
        (12, Message::BagCompletion(0, A, at_micros(22))),
        (12, Message::BagCompletion(1, A, at_micros(22))),
    ];
    assert_eq!(system.told, told);
    let table: Vec<_> = system.table.providers(A).collect();
    assert_eq!(table, [(ProviderId(0), at_micros(20)), (ProviderId(1), at_micros(22))]);

    for rule in [ReschedulingRule::Uncoordinated, ReschedulingRule::Local] {
        let mut uncoordinated = two_providers(rule, 12);
        uncoordinated.run_out();
        assert_eq!(ends(&uncoordinated), [14, 22, 19]);
        assert_eq!(uncoordinated.told, []);
    }
}

#[test]
fn cx_4_a_provider_that_is_last_now_catches_up() {
    let mut system = two_providers(ReschedulingRule::Coordinated, 5);
    system.run_to(5);
    system.settle();
    let told: Vec<_> =
        system.told.iter().filter(|(now, _)| *now == 5).map(|&(_, message)| message).collect();
    let expected = [
        Message::Report(1, A, at_micros(15)),
        Message::BagCompletion(0, A, at_micros(20)),
        Message::BagCompletion(1, A, at_micros(20)),
        Message::Report(0, A, at_micros(19)),
        Message::BagCompletion(0, A, at_micros(19)),
        Message::BagCompletion(1, A, at_micros(19)),
    ];
    assert_eq!(told, expected);
    let table: Vec<_> = system.table.providers(A).collect();
    assert_eq!(table, [(ProviderId(0), at_micros(19)), (ProviderId(1), at_micros(15))]);
    assert_eq!(
        system.known(),
        [((A, 0), at_micros(19)), ((A, 1), at_micros(19)), ((B, 0), at_micros(9))]
    );
    system.run_out();
    assert_eq!(system.told.len(), 8);
}

#[test]
fn cx_6_one_of_several_last_tasks_is_no_news() {
    let mut system = System::new(&[2], ReschedulingRule::Coordinated, true);
    system.submit(0, 1, 10, 10);
    system.submit(0, 1, 10, 4);
    let g = JobId(3);
    system.award(g, &bag(2, 10), 10, &[(0, 2)]);
    system.settle();
    system.run_to(4);
    system.settle();
    assert_eq!(system.latest(g, 0), at_micros(20));
    assert_eq!(system.told, []);
    system.run_out();
    let ends: Vec<i64> = system.ends.iter().filter(|e| e.1 == Slot(2)).map(|e| e.2).collect();
    assert_eq!(ends, [14, 20]);
}

#[test]
fn cx_6_a_holder_among_several_is_no_news_for_the_others() {
    // Both providers are done with A at 20; the first one improves to 14.
    let mut system = System::new(&[1, 1], ReschedulingRule::Coordinated, true);
    system.submit(0, 1, 10, 4);
    system.submit(1, 1, 10, 10);
    system.award(A, &bag(2, 10), 10, &[(0, 1), (1, 1)]);
    system.settle();
    system.run_to(4);
    system.settle();
    assert_eq!(system.told, [(4, Message::Report(0, A, at_micros(14)))]);
    assert_eq!(system.table.completion(A), Some(at_micros(20)));
}

#[derive(Clone, Debug)]
struct Arrival {
    gap: i64,
    bag: bool,
    /// Tasks of a bag, or processors of a job at `site`.
    size: u32,
    site: usize,
    span: i64,
    run: i64,
    /// Offers of the providers by which the bag is divided.
    choices: [usize; 3],
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let one =
        (0..5_i64, prop::bool::weighted(0.8), 1..=12_u32, 0..3_usize, 1..=30_i64, 20..=100_i64);
    let one = (one, prop::array::uniform3(0..6_usize));
    prop::collection::vec(one, 1..20).prop_map(|drawn| {
        let arrival =
            |((gap, bag, size, site, span, percent), choices): ((_, _, u32, _, _, _), _)| {
                let run = i64::max(1, span * percent / 100);
                let size = if bag { size } else { size.div_ceil(6) };
                Arrival { gap, bag, size, site, span, run, choices }
            };
        drawn.into_iter().map(arrival).collect()
    })
}

/// Submits a job, or divides a bag over the providers from `site` on. Each gets the size of one of its offers, and
/// the last one gets the rest.
fn arrive(system: &mut System, number: usize, arrival: &Arrival) {
    let sites = system.sites.len();
    if !arrival.bag {
        system.submit(arrival.site % sites, arrival.size, arrival.span, arrival.run);
        return;
    }
    let request = bag(arrival.size, arrival.span);
    let (mut left, mut parts) = (arrival.size, Vec::new());
    for turn in 0..sites {
        let site = (arrival.site + turn) % sites;
        let offers = system.offers(site, &request);
        let choice = arrival.choices[turn];
        // Some providers get no part.
        let chosen = choice.checked_sub(1).map_or(0, |at| offers[at.min(offers.len() - 1)].tasks);
        let tasks = if turn + 1 == sites { left } else { chosen.min(left) };
        left -= tasks;
        if tasks > 0 {
            parts.push((site, tasks));
        }
    }
    system.award(JobId(number as u32), &request, arrival.run, &parts);
}

/// Runs a system through the arrivals and examines it whenever no message is under way.
fn live(system: &mut System, arrivals: &[Arrival], mut look: impl FnMut(&System)) {
    for (number, arrival) in arrivals.iter().enumerate() {
        let until = system.now + arrival.gap;
        while system.now < until {
            system.run_to(system.now + 1);
            system.settle();
            look(system);
        }
        arrive(system, number, arrival);
        system.settle();
        look(system);
    }
    for _ in 0..600 {
        system.run_to(system.now + 1);
        system.settle();
        look(system);
    }
}

/// Returns whether the completion of the bag as a whole is right in the table.
fn is_right(system: &System, bag: JobId) -> bool {
    let sites = system.table.providers(bag).map(|(site, _)| site.index());
    let truth = sites.map(|site| system.latest(bag, site)).max();
    system.table.completion(bag) == truth
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// J3 and J4.
    #[test]
    fn the_table_is_right_and_nothing_in_it_grows(
        arrivals in arrivals(),
        machines in prop::array::uniform3(2..5_u32),
    ) {
        let mut system = System::new(&machines, ReschedulingRule::Coordinated, true);
        let mut known = BTreeMap::new();
        live(&mut system, &arrivals, |system| {
            for ((bag, site), now_known) in system.known() {
                let entries: Vec<_> = system.table.providers(bag).collect();
                let entry = entries.iter().find(|entry| entry.0.index() == site);
                assert!(entry.is_some_and(|entry| entry.1 >= system.latest(bag, site)));
                assert!(is_right(system, bag), "{bag}: {entries:?}");
                let before = known.insert((bag, site), now_known);
                assert!(before.is_none_or(|before| now_known <= before));
                assert_eq!(Some(now_known), system.table.completion(bag));
            }
        });
    }

    /// J5: messages overtake each other, and the table comes out the same.
    #[test]
    fn the_order_of_messages_does_not_matter(
        arrivals in arrivals(),
        machines in prop::array::uniform3(2..5_u32),
        lots in prop::collection::vec(any::<prop::sample::Index>(), 64),
    ) {
        let mut system = System::new(&machines, ReschedulingRule::Coordinated, true);
        for (number, arrival) in arrivals.iter().enumerate() {
            for _ in 0..arrival.gap + 5 {
                system.run_to(system.now + 1);
                let mut shuffled = system.clone();
                let mut queue = shuffled.revise();
                let mut lots = lots.iter().cycle();
                while !queue.is_empty() {
                    let lot = lots.next().expect("a cycle").index(queue.len());
                    let message = queue.swap_remove(lot);
                    queue.extend(shuffled.deliver(message));
                }
                system.settle();
                prop_assert_eq!(&system.table, &shuffled.table);
                prop_assert_eq!(system.known(), shuffled.known());
            }
            arrive(&mut system, number, arrival);
            system.settle();
        }
    }

    /// J7.
    #[test]
    fn one_provider_with_bags_of_one_task_needs_no_coordination(
        mut arrivals in arrivals(),
        machine in 2..5_u32,
    ) {
        for arrival in arrivals.iter_mut().filter(|arrival| arrival.bag) {
            arrival.size = 1;
        }
        let ends = |rule| {
            let mut system = System::new(&[machine], rule, true);
            live(&mut system, &arrivals, |_| {});
            system.ends
        };
        prop_assert_eq!(ends(ReschedulingRule::Coordinated), ends(ReschedulingRule::Uncoordinated));
    }
}

/// Without catching up, the table keeps completions that were improved long ago.
#[test]
fn without_catching_up_the_table_goes_stale() {
    let run = |catches_up| {
        let mut system = System::new(&[1, 1], ReschedulingRule::Coordinated, catches_up);
        system.submit(0, 1, 10, 4);
        system.submit(1, 1, 20, 5);
        system.award(A, &bag(2, 10), 10, &[(0, 1), (1, 1)]);
        system.settle();
        system.run_to(5);
        system.settle();
        (system.table.completion(A), is_right(&system, A))
    };
    assert_eq!(run(true), (Some(at_micros(15)), true));
    assert_eq!(run(false), (Some(Time::from_micros(20)), false));
}
