//! The queue of bags against its definition, and the worked cases on one provider.

use haggle_model::{Span, Time};
use haggle_scheduling::{
    Award, BagRequest, Bargainer, Batch, ConservativeBags, Fractions, LocalScheduler, Offer,
    Request, ReschedulingConfig, ReschedulingRule, Shares, Slot,
};
use haggle_testing::at_micros;
use proptest::prelude::*;

use crate::one_by_one::OneByOne;

/// An arrival, and reports at the same time.
#[derive(Clone, Debug)]
struct Arrival {
    at: i64,
    bag: bool,
    /// Processors of a job, or tasks of a bag.
    size: u32,
    span: i64,
    run: i64,
    /// Number of the offer that is awarded.
    choice: usize,
    /// Time from the completion of the share to that of the whole bag.
    later: i64,
    /// An earlier share whose bag is reported to complete earlier, and by how much.
    lowered: (usize, i64),
    /// An earlier entry that is withdrawn if it waits.
    withdrawn: Option<usize>,
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let one = (
        (0..5_i64, any::<bool>(), 1..=12_u32, 1..=30_i64, 20..=100_i64),
        (0..5_usize, 0..40_i64, (0..20_usize, 0..20_i64), prop::option::weighted(0.1, 0..20_usize)),
    );
    prop::collection::vec(one, 1..25).prop_map(|drawn| {
        let mut at = 0;
        drawn
            .into_iter()
            .map(|((gap, bag, size, span, percent), (choice, later, lowered, withdrawn))| {
                at += gap;
                let size = if bag { size } else { size.div_ceil(3) };
                let run = i64::max(1, span * percent / 100);
                Arrival { at, bag, size, span, run, choice, later, lowered, withdrawn }
            })
            .collect()
    })
}

fn configs() -> Vec<ReschedulingConfig> {
    let mut configs = Vec::new();
    for rule in ReschedulingRule::ALL {
        for (second_pass, rebuild) in [(true, false), (false, false), (true, true), (false, true)] {
            configs.push(ReschedulingConfig { rule, second_pass, rebuild });
        }
    }
    configs
}

fn bag(tasks: u32, span: i64) -> BagRequest {
    BagRequest { tasks, span: Span::from_micros(span), deadline: None, earliest: Time::ZERO }
}

fn job(slot: Slot, processors: u32, span: i64) -> Request {
    let span = Some(Span::from_micros(span));
    Request::new(slot, processors, span)
}

fn planned(queue: &ConservativeBags, slot: u32) -> Vec<(i64, u32)> {
    let batches = queue.planned(Slot(slot));
    batches.iter().map(|batch| (batch.start.as_micros(), batch.tasks)).collect()
}

/// Answers and starts of a queue, in order.
#[derive(Clone, Debug, PartialEq)]
enum Word {
    Offers(Vec<Offer>),
    Promise(Slot, Option<Time>),
    Withdrawn(Slot, bool),
    Start(i64, Slot, u32),
    End(i64, Slot),
    Latest(i64, Slot, Option<Time>),
}

/// Runs a queue through the arrivals as a provider does.
fn replay(queue: &mut dyn LocalScheduler, arrivals: &[Arrival]) -> Vec<Word> {
    let mut said = Vec::new();
    // (end, slot, tasks, planned end)
    let mut running: Vec<(i64, Slot, u32, i64)> = Vec::new();
    let mut expected: Vec<i64> = Vec::new();
    let mut coming = arrivals.iter().enumerate().peekable();
    loop {
        let arrival = coming.peek().map(|(_, arrival)| arrival.at);
        let end = running.iter().map(|run| run.0).min();
        let start = queue.next_start().map(Time::as_micros);
        let Some(now) = [arrival, end, start].into_iter().flatten().min() else { break };
        running.sort_unstable();
        let still = running.partition_point(|run| run.0 <= now);
        for (_, slot, tasks, planned_end) in running.drain(..still) {
            if arrivals[slot.index()].bag {
                queue.bags().tasks_finished(at_micros(now), slot, tasks, at_micros(planned_end));
            } else {
                queue.finished(at_micros(now), slot);
            }
            said.push(Word::End(now, slot));
        }
        while let Some((number, arrival)) = coming.next_if(|(_, arrival)| arrival.at == now) {
            let slot = Slot(number as u32);
            if let Some(other) = arrival.withdrawn {
                let other = Slot(other as u32);
                said.push(Word::Withdrawn(other, queue.withdraw(at_micros(now), other)));
            }
            let promise = if arrival.bag {
                let request = bag(arrival.size, arrival.span);
                let offers = queue.bags().offers(at_micros(now), &request);
                let offer = offers[arrival.choice.min(offers.len() - 1)];
                said.push(Word::Offers(offers));
                let tasks = offer.tasks - (arrival.choice as u32 / 3).min(offer.tasks - 1);
                queue.bags().award(at_micros(now), slot, &request, &Award::Offered { tasks, offer })
            } else {
                queue.submit(at_micros(now), job(slot, arrival.size, arrival.span))
            };
            said.push(Word::Promise(slot, promise));
            expected.push(promise.expect("nothing is refused here").as_micros() + arrival.later);
            queue.bags().bag_expected(slot, at_micros(expected[number]));
            let (other, by) = arrival.lowered;
            if other < number && arrivals[other].bag {
                // Not below the completion of the provider itself: a bag is not done before its share.
                let own =
                    queue.bags().latest_completion(Slot(other as u32)).map_or(0, Time::as_micros);
                let lower = i64::max(expected[other] - by, own);
                queue.bags().bag_expected(Slot(other as u32), at_micros(lower));
            }
        }
        let mut started = Vec::new();
        let mut tasks_started = Vec::new();
        queue.start_due(at_micros(now), &mut started);
        queue.bags().tasks_due(at_micros(now), &mut tasks_started);
        tasks_started.extend(started.into_iter().map(|slot| (slot, 1)));
        for (slot, tasks) in tasks_started {
            let Arrival { run, span, .. } = arrivals[slot.index()];
            running.push((now + run, slot, tasks, now + span));
            said.push(Word::Start(now, slot, tasks));
        }
        for slot in (0..arrivals.len() as u32).map(Slot) {
            said.push(Word::Latest(now, slot, queue.bags().latest_completion(slot)));
        }
    }
    said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// J10 and J8.
    #[test]
    fn batches_do_what_their_tasks_would_one_by_one(
        arrivals in arrivals(),
        shares in prop_oneof![Just(Shares::Tasks), Just(Shares::Blocks)],
    ) {
        for config in configs() {
            let queue = ConservativeBags::new(4, config, Fractions::default());
            let found = replay(&mut queue.with_shares(shares), &arrivals);
            let expected = replay(&mut OneByOne::new(4, config, shares), &arrivals);
            prop_assert_eq!(&found, &expected, "{}", config);
            if config.rebuild {
                continue;
            }
            let mut promises = vec![None; arrivals.len()];
            for word in found {
                match word {
                    Word::Promise(slot, promise) => promises[slot.index()] = promise,
                    Word::End(end, slot) => prop_assert!(Some(at_micros(end)) <= promises[slot.index()]),
                    _ => {}
                }
            }
        }
    }

    /// J1.
    #[test]
    fn planned_completions_never_grow(arrivals in arrivals()) {
        for config in configs().into_iter().filter(|config| !config.rebuild) {
            let mut queue = ConservativeBags::new(4, config, Fractions::default());
            let mut latest = vec![Time::FOREVER; arrivals.len()];
            for word in replay(&mut queue, &arrivals) {
                if let Word::Latest(_, slot, Some(completion)) = word {
                    prop_assert!(completion <= latest[slot.index()], "{}", config);
                    latest[slot.index()] = completion;
                }
            }
        }
    }

    /// J2.
    #[test]
    fn exact_estimates_leave_nothing_to_reschedule(mut arrivals in arrivals()) {
        for arrival in &mut arrivals {
            arrival.run = arrival.span;
        }
        let run = |rule: ReschedulingRule| {
            let mut queue = ConservativeBags::new(4, rule.into(), Fractions::default());
            let said = replay(&mut queue, &arrivals);
            (said, queue.effort().reschedules)
        };
        let (coordinated, reschedules) = run(ReschedulingRule::Coordinated);
        prop_assert_eq!(reschedules, 0);
        prop_assert_eq!(coordinated, run(ReschedulingRule::Uncoordinated).0);
    }
}

/// CX-2, the providers' part.
#[test]
fn cx_2_offers_say_the_expected_completion() {
    let fractions = Fractions::new(vec![(1, 4), (1, 2), (3, 4)]);
    let offers = |queue: &mut ConservativeBags| {
        let offers = queue.offers(at_micros(0), &bag(4, 5));
        offers.iter().map(|offer| (offer.tasks, offer.completion.as_micros())).collect::<Vec<_>>()
    };
    let mut first = ConservativeBags::new(2, ReschedulingRule::None.into(), fractions.clone());
    first.submit(at_micros(0), job(Slot(0), 1, 6));
    let whole = Award::Placed {
        batches: vec![Batch { start: at_micros(10), tasks: 2 }],
        deadline: at_micros(14),
    };
    assert_eq!(first.award(at_micros(0), Slot(1), &bag(2, 4), &whole), Some(at_micros(14)));
    assert_eq!(offers(&mut first), [(1, 5), (2, 10), (4, 19)]);
    let mut second = ConservativeBags::new(2, ReschedulingRule::None.into(), fractions);
    second.submit(at_micros(0), job(Slot(0), 2, 2));
    assert_eq!(offers(&mut second), [(2, 7), (4, 12)]);
}

/// CX-5.
#[test]
fn cx_5_a_second_pass_fills_what_the_first_has_opened() {
    let plan = |config: ReschedulingConfig| {
        let mut queue = ConservativeBags::new(1, config, Fractions::default());
        let (early, y, x) = (Slot(0), Slot(1), Slot(2));
        queue.submit(at_micros(-4), job(early, 1, 8));
        queue.start_due(at_micros(-4), &mut Vec::new());
        let placed = Award::Placed {
            batches: vec![Batch { start: at_micros(4), tasks: 1 }],
            deadline: at_micros(40),
        };
        assert_eq!(queue.award(at_micros(-4), y, &bag(1, 4), &placed), Some(at_micros(8)));
        queue.bag_expected(y, at_micros(40));
        assert_eq!(queue.submit(at_micros(-4), job(x, 1, 6)), Some(at_micros(14)));
        queue.finished(at_micros(0), early);
        queue.start_due(at_micros(0), &mut Vec::new());
        (planned(&queue, 1), planned(&queue, 2))
    };
    let config = ReschedulingConfig::default();
    assert_eq!(plan(config), (vec![(0, 1)], vec![(4, 1)]));
    let once = ReschedulingConfig { second_pass: false, ..config };
    assert_eq!(plan(once), (vec![(0, 1)], vec![(8, 1)]));
}

/// By its own completion, the first task of the bag goes before the job and the last one behind it. By the completion
/// of the share, all of them go behind it.
#[test]
fn a_share_can_be_ordered_by_its_last_task() {
    let planned_at_4 = |rule: ReschedulingRule| {
        let mut queue = ConservativeBags::new(2, rule.into(), Fractions::default());
        queue.submit(at_micros(0), job(Slot(0), 1, 10));
        queue.submit(at_micros(0), job(Slot(1), 1, 24));
        queue.start_due(at_micros(0), &mut Vec::new());
        let share = bag(2, 10);
        let offer = *queue.offers(at_micros(0), &share).last().expect("the whole bag");
        let award = Award::Offered { tasks: 2, offer };
        assert_eq!(queue.award(at_micros(0), Slot(2), &share, &award), Some(at_micros(30)));
        assert_eq!(queue.submit(at_micros(0), job(Slot(3), 1, 5)), Some(at_micros(29)));
        queue.finished(at_micros(4), Slot(0));
        queue.start_due(at_micros(4), &mut Vec::new());
        // The job may have started.
        (planned(&queue, 2), planned(&queue, 3))
    };
    assert_eq!(
        planned_at_4(ReschedulingRule::Uncoordinated),
        (vec![(4, 1), (19, 1)], vec![(14, 1)])
    );
    assert_eq!(planned_at_4(ReschedulingRule::Local), (vec![(9, 1), (19, 1)], vec![]));
}

/// Four tasks find a processor at 0 and two more from 6 on; a block of them waits until 9.
#[test]
fn a_block_is_offered_moved_and_started_as_one() {
    let config = ReschedulingConfig::default();
    let mut queue = ConservativeBags::new(4, config, Fractions::default());
    queue = queue.with_shares(Shares::Blocks);
    queue.submit(at_micros(0), job(Slot(0), 2, 6));
    queue.submit(at_micros(0), job(Slot(1), 1, 9));
    queue.start_due(at_micros(0), &mut Vec::new());
    let request = bag(4, 5);
    let offers = queue.offers(at_micros(0), &request);
    let told: Vec<_> = offers.iter().map(|it| (it.tasks, it.completion.as_micros())).collect();
    assert_eq!(told, [(1, 5), (3, 11), (4, 14)]);
    let award = Award::Offered { tasks: 4, offer: offers[2] };
    assert_eq!(queue.award(at_micros(0), Slot(2), &request, &award), Some(at_micros(14)));
    assert_eq!(planned(&queue, 2), [(9, 4)]);
    // At 3 three are free, at 7 all.
    for (now, slot, expected) in [(3, Slot(0), vec![(9, 4)]), (7, Slot(1), vec![(7, 4)])] {
        queue.finished(at_micros(now), slot);
        queue.start_due(at_micros(now), &mut Vec::new());
        assert_eq!(planned(&queue, 2), expected, "at {now}");
    }
    let mut started = Vec::new();
    queue.tasks_due(at_micros(7), &mut started);
    assert_eq!(started, [(Slot(2), 4)]);
}

/// Blocks that wait for failed processors have no start, and are split again.
#[test]
fn a_share_wider_than_the_machine_is_several_blocks() {
    for rule in ReschedulingRule::ALL {
        let queue = ConservativeBags::new(2, rule.into(), Fractions::default());
        let mut queue = queue.with_shares(Shares::Blocks);
        let request = bag(5, 10);
        let offer = *queue.offers(at_micros(0), &request).last().expect("the whole bag");
        let award = Award::Offered { tasks: 5, offer };
        assert_eq!(queue.award(at_micros(0), Slot(0), &request, &award), Some(at_micros(30)));
        assert_eq!(planned(&queue, 0), [(0, 2), (10, 2), (20, 1)]);
        queue.failed(at_micros(0), 1, &[]);
        assert_eq!(queue.next_start(), Some(at_micros(0)));
        assert_eq!(planned(&queue, 0)[0], (0, 1));
        queue.restored(at_micros(4), 1);
        queue.start_due(at_micros(4), &mut Vec::new());
        assert_eq!(planned(&queue, 0).iter().map(|it| it.1).sum::<u32>(), 5);
        assert!(planned(&queue, 0).iter().all(|it| it.1 <= 2 && it.0 <= 30), "{rule:?}");
    }
}

#[test]
fn a_hold_that_is_given_back_moves_nothing() {
    let mut queue =
        ConservativeBags::new(2, ReschedulingRule::Coordinated.into(), Fractions::default());
    let held = bag(3, 10);
    let offer = *queue.offers(at_micros(0), &held).last().expect("the whole bag");
    let award = Award::Offered { tasks: 3, offer };
    assert_eq!(queue.award(at_micros(0), Slot(0), &held, &award), Some(at_micros(20)));
    assert_eq!(queue.submit(at_micros(0), job(Slot(1), 2, 5)), Some(at_micros(25)));
    assert!(queue.withdraw(at_micros(0), Slot(0)));
    assert!(!queue.withdraw(at_micros(0), Slot(0)));
    queue.start_due(at_micros(0), &mut Vec::new());
    assert_eq!(planned(&queue, 1), [(20, 1)]);
    assert_eq!(queue.queue_length(), 1);
    // The room is free again for others.
    assert_eq!(queue.award(at_micros(0), Slot(0), &held, &award), Some(at_micros(20)));
    let mut started = Vec::new();
    queue.tasks_due(at_micros(0), &mut started);
    assert_eq!(started, [(Slot(0), 2)]);
    assert!(!queue.withdraw(at_micros(0), Slot(0)), "two tasks run");
}

#[test]
fn nothing_moves_before_its_earliest_start() {
    for (free, earliest, expected) in [(10, 6, 6), (6, 6, 6), (6, 7, 7), (20, 6, 6), (20, 25, 25)] {
        let mut queue =
            ConservativeBags::new(2, ReschedulingRule::Uncoordinated.into(), Fractions::default());
        queue.submit(at_micros(0), job(Slot(0), 2, 20));
        queue.submit(at_micros(0), job(Slot(1), 1, free));
        queue.start_due(at_micros(0), &mut Vec::new());
        let request = BagRequest { earliest: at_micros(earliest), ..bag(1, 5) };
        let offer = *queue.offers(at_micros(0), &request).last().expect("the whole bag");
        queue.award(at_micros(0), Slot(2), &request, &Award::Offered { tasks: 1, offer });
        queue.finished(at_micros(3), Slot(0));
        queue.start_due(at_micros(3), &mut Vec::new());
        assert_eq!(planned(&queue, 2), [(expected, 1)], "{free}, {earliest}");
    }
}

#[test]
fn an_award_that_does_not_fit_changes_nothing() {
    let mut queue =
        ConservativeBags::new(2, ReschedulingRule::Coordinated.into(), Fractions::default());
    let request = bag(2, 10);
    let offer = *queue.offers(at_micros(0), &request).last().expect("the whole bag");
    queue.submit(at_micros(0), job(Slot(0), 2, 5));
    let before = queue.free_slots(at_micros(0));
    let award = Award::Offered { tasks: 2, offer };
    assert_eq!(queue.award(at_micros(0), Slot(1), &request, &award), None);
    for (start, tasks, deadline) in [(4, 1, 99), (5, 3, 99), (5, 2, 14), (-1, 1, 99)] {
        let batches = vec![Batch { start: at_micros(start), tasks }];
        let award = Award::Placed { batches, deadline: at_micros(deadline) };
        assert_eq!(queue.award(at_micros(0), Slot(1), &request, &award), None, "at {start}");
    }
    assert_eq!(queue.free_slots(at_micros(0)), before);
    assert_eq!(queue.queue_length(), 1);
}

#[test]
fn an_overrunning_job_pushes_bags_back_in_order_of_arrival() {
    let mut queue =
        ConservativeBags::new(1, ReschedulingRule::Coordinated.into(), Fractions::default());
    queue.submit(at_micros(0), job(Slot(0), 1, 10));
    queue.start_due(at_micros(0), &mut Vec::new());
    for (slot, tasks) in [(1, 2), (2, 1)] {
        let request = bag(tasks, 5);
        let offer = *queue.offers(at_micros(0), &request).last().expect("the whole bag");
        queue.award(at_micros(0), Slot(slot), &request, &Award::Offered { tasks, offer });
    }
    queue.overran(at_micros(10), Slot(0), at_micros(12));
    assert_eq!((planned(&queue, 1), planned(&queue, 2)), (vec![(12, 1), (17, 1)], vec![(22, 1)]));
    queue.finished(at_micros(11), Slot(0));
    queue.start_due(at_micros(11), &mut Vec::new());
    let mut started = Vec::new();
    queue.tasks_due(at_micros(11), &mut started);
    assert_eq!(started, [(Slot(1), 1)]);
    assert_eq!(planned(&queue, 2), [(21, 1)]);
}

#[test]
fn work_behind_a_job_without_a_limit_starts_when_that_ends() {
    let mut queue =
        ConservativeBags::new(2, ReschedulingRule::Coordinated.into(), Fractions::default());
    let endless = Request { span: None, ..job(Slot(0), 2, 1) };
    assert_eq!(queue.submit(at_micros(0), endless), None);
    queue.start_due(at_micros(0), &mut Vec::new());
    let request = bag(3, 5);
    let offer = *queue.offers(at_micros(0), &request).last().expect("the whole bag");
    assert!(offer.completion > at_micros(0) + Span::FOREVER);
    assert!(
        queue.award(at_micros(0), Slot(1), &request, &Award::Offered { tasks: 3, offer }).is_some()
    );
    assert_eq!(queue.next_start(), None);
    queue.finished(at_micros(7), Slot(0));
    queue.start_due(at_micros(7), &mut Vec::new());
    assert_eq!(planned(&queue, 1), [(7, 2), (12, 1)]);
    assert_eq!(queue.effort().moved, 3);
}
