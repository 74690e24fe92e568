//! The earliest-deadline-first queue: worked examples.

use haggle_model::{Span, Time};
use haggle_scheduling::{
    Award, BagRequest, Bargainer, Batch, Edf, EdfConfig, FreeSlot, Late, LocalScheduler, Offer,
    Request, Slot,
};
use haggle_testing::at;

pub(crate) fn edf(processors: u32) -> Edf {
    Edf::new(processors, EdfConfig::default())
}

fn strict(processors: u32) -> Edf {
    Edf::new(processors, EdfConfig { mode: Late::Strict, ..EdfConfig::default() })
}

/// Submits a rigid job at time zero and returns the promise in seconds.
fn submit(edf: &mut Edf, slot: u32, processors: u32, span: i64, deadline: i64) -> i64 {
    let request = Request {
        deadline: Some(at(deadline)),
        ..Request::new(Slot(slot), processors, Some(Span::from_secs(span)))
    };
    let promise = edf.submit(Time::ZERO, request).expect("a deadline is promised");
    promise.as_micros() / 1_000_000
}

pub(crate) fn bag(tasks: u32, span: i64, deadline: i64) -> BagRequest {
    let (span, deadline) = (Span::from_secs(span), Some(at(deadline)));
    BagRequest { tasks, span, deadline, earliest: Time::ZERO }
}

fn offers(edf: &mut Edf, bag: BagRequest) -> Vec<(u32, i64)> {
    let offers = edf.offers(Time::ZERO, &bag);
    offers.iter().map(|offer| (offer.tasks, offer.completion.as_micros() / 1_000_000)).collect()
}

/// (start in seconds, processors) of the waiting work of a slot.
fn planned(edf: &Edf, slot: u32) -> Vec<(i64, u32)> {
    let batches = edf.planned(Slot(slot));
    batches.iter().map(|batch| (batch.start.as_micros() / 1_000_000, batch.tasks)).collect()
}

#[test]
fn ox_2_acceptance_and_feedback() {
    let mut edf = edf(1);
    assert_eq!(submit(&mut edf, 0, 1, 10, 12), 12);
    assert_eq!(submit(&mut edf, 1, 1, 10, 40), 40);
    assert_eq!(submit(&mut edf, 2, 1, 5, 10), 15);
    assert_eq!(edf.stats().probes, 4);
    assert_eq!(planned(&edf, 0), [(0, 1)]);
    assert_eq!(planned(&edf, 2), [(10, 1)]);
    assert_eq!(planned(&edf, 1), [(15, 1)]);
}

#[test]
fn ox_3_repair_and_strict() {
    let accepted = |mut edf: Edf| {
        submit(&mut edf, 0, 2, 4, 9);
        submit(&mut edf, 1, 1, 16, 20);
        edf
    };
    let mut repair = accepted(edf(2));
    assert_eq!(submit(&mut repair, 2, 1, 4, 8), 8);
    assert_eq!(planned(&repair, 0), [(0, 2)]);
    assert_eq!(planned(&repair, 1), [(4, 1)]);
    assert_eq!(planned(&repair, 2), [(4, 1)]);
    assert_eq!(repair.stats().repairs, 1);

    let mut strict = accepted(strict(2));
    assert_eq!(submit(&mut strict, 2, 1, 4, 8), 9);
    assert_eq!(strict.stats().probes, 3);
    assert_eq!(strict.latest_completion(Slot(2)), Some(at(8)));
}

#[test]
fn ox_4_offers() {
    let mut edf = edf(4);
    submit(&mut edf, 0, 2, 6, 6);
    edf.start_due(Time::ZERO, &mut Vec::new());
    submit(&mut edf, 1, 2, 4, 10);
    assert_eq!(planned(&edf, 1), [(0, 2)]);
    assert_eq!(offers(&mut edf, bag(12, 3, 9)), [(6, 9), (9, 13), (12, 15)]);
    assert_eq!(offers(&mut edf, bag(10, 3, 9)), [(5, 9), (7, 12), (10, 13)]);
    assert_eq!(offers(&mut edf, bag(10, 3, 7)), [(2, 7), (5, 9), (7, 12), (10, 13)]);
    let award = Award::Offered { tasks: 9, offer: Offer { tasks: 9, completion: at(13) } };
    assert_eq!(edf.award(Time::ZERO, Slot(2), &bag(12, 3, 9), &award), Some(at(13)));
    assert_eq!(planned(&edf, 2), [(4, 2), (6, 2), (7, 2), (9, 2), (10, 1)]);
}

#[test]
fn ox_5_dominated_offer_and_shrinking_award() {
    let accepted = |mut edf: Edf| {
        submit(&mut edf, 0, 1, 5, 5);
        submit(&mut edf, 1, 2, 1, 4);
        edf
    };
    for mut edf in [accepted(edf(3)), accepted(strict(3))] {
        assert_eq!(offers(&mut edf, bag(2, 3, 3)), [(2, 3)]);
        let offer = Offer { tasks: 2, completion: at(3) };
        let award = Award::Offered { tasks: 1, offer };
        assert_eq!(edf.award(Time::ZERO, Slot(2), &bag(2, 3, 3), &award), Some(at(3)));
        assert_eq!(planned(&edf, 2), [(0, 1)]);
        assert_eq!(planned(&edf, 1), [(3, 2)]);
        assert_eq!(planned(&edf, 0), [(0, 1)]);
    }
    assert_eq!(offers(&mut accepted(edf(3)), bag(1, 3, 3)), [(1, 4)]);
    assert_eq!(offers(&mut accepted(strict(3)), bag(1, 3, 3)), [(1, 5)]);
}

#[test]
fn ox_8_offers_of_empty_clusters() {
    assert_eq!(offers(&mut edf(4), bag(8, 3, 6)), [(8, 6)]);
    assert_eq!(offers(&mut edf(2), bag(8, 3, 6)), [(4, 6), (6, 9), (8, 12)]);
}

/// Checks the placements only; metrics count the value of a delay.
#[test]
fn ox_10b_free_slots_delay_where_offers_do_not() {
    let mut edf = edf(1);
    submit(&mut edf, 0, 1, 10, 40);
    let slots = edf.free_slots(Time::ZERO);
    assert_eq!(slots, [FreeSlot { start: at(10), end: Time::FOREVER }]);
    let bag = bag(1, 5, 8);
    let mut with_slots = edf.clone();
    let placed =
        Award::Placed { batches: vec![Batch { start: at(10), tasks: 1 }], deadline: at(15) };
    assert_eq!(with_slots.award(Time::ZERO, Slot(1), &bag, &placed), Some(at(15)));
    assert_eq!(planned(&with_slots, 0), [(0, 1)]);

    assert_eq!(offers(&mut edf, bag), [(1, 8)]);
    let offered = Award::Offered { tasks: 1, offer: Offer { tasks: 1, completion: at(8) } };
    assert_eq!(edf.award(Time::ZERO, Slot(1), &bag, &offered), Some(at(5)));
    assert_eq!(planned(&edf, 1), [(0, 1)]);
    assert_eq!(planned(&edf, 0), [(5, 1)]);
}

#[test]
fn ox_10c_free_slots_keep_long_windows_whole() {
    let mut edf = edf(4);
    // Free: 2 on [0, 5), 1 on [5, 8), 3 on [8, 12), 4 after.
    for (slot, processors, start, span) in [(0, 1, 0, 12), (1, 1, 0, 8), (2, 1, 5, 3)] {
        let batches = vec![Batch { start: at(start), tasks: processors }];
        let award = Award::Placed { batches, deadline: at(100) };
        let bag = bag(processors, span, 100);
        assert!(edf.award(Time::ZERO, Slot(slot), &bag, &award).is_some());
    }
    let slots = edf.free_slots(Time::ZERO);
    let seconds = |slot: &FreeSlot| {
        let end = (slot.end < Time::FOREVER).then(|| slot.end.as_micros() / 1_000_000);
        (slot.start.as_micros() / 1_000_000, end)
    };
    let slots: Vec<_> = slots.iter().map(seconds).collect();
    assert_eq!(slots, [(0, None), (0, Some(5)), (8, None), (8, None), (12, None)]);
}

#[test]
fn a_pinned_share_stays_where_it_was_put() {
    for pinned in [false, true] {
        let mut edf = Edf::new(1, EdfConfig { pinned, ..EdfConfig::default() });
        let batches = vec![Batch { start: at(0), tasks: 1 }];
        let award = Award::Placed { batches, deadline: at(50) };
        edf.award(Time::ZERO, Slot(0), &bag(1, 10, 50), &award).expect("it is free");
        let promise = submit(&mut edf, 1, 1, 5, 5);
        assert_eq!(promise, if pinned { 15 } else { 5 });
        assert_eq!(planned(&edf, 0), [(if pinned { 0 } else { 5 }, 1)]);
    }
}

#[test]
fn slots_that_are_taken_are_refused() {
    let mut edf = edf(2);
    submit(&mut edf, 0, 1, 10, 40);
    let placed = |start, tasks| Award::Placed {
        batches: vec![Batch { start: at(start), tasks }],
        deadline: at(100),
    };
    for award in [placed(0, 2), placed(-5, 1), placed(98, 1), placed(20, 0)] {
        assert_eq!(edf.award(Time::ZERO, Slot(1), &bag(2, 5, 100), &award), None);
    }
    assert_eq!(edf.queue_length(), 1);
    assert_eq!(edf.award(Time::ZERO, Slot(1), &bag(2, 5, 100), &placed(95, 2)), Some(at(100)));
}

#[test]
fn jobs_without_deadline_or_limit_are_promised_nothing_and_delay_no_promise() {
    let mut edf = edf(2);
    let request = |slot, span: Option<i64>, deadline: Option<i64>| Request {
        deadline: deadline.map(at),
        ..Request::new(Slot(slot), 2, span.map(Span::from_secs))
    };
    assert_eq!(edf.submit(at(0), request(0, Some(10), None)), None);
    assert_eq!(edf.submit(at(0), request(1, None, Some(5))), None);
    assert_eq!(edf.submit(at(0), request(2, None, None)), None);
    assert_eq!(edf.submit(at(0), request(3, None, None)), None);
    assert_eq!(edf.submit(at(0), request(4, Some(7), Some(20))), Some(at(20)));
    assert_eq!(planned(&edf, 4), [(0, 2)]);
    assert_eq!(planned(&edf, 0), [(7, 2)]);
    assert_eq!(planned(&edf, 1), [(17, 2)]);
    // Behind a job without a limit there is no planned start, but promises go first.
    assert_eq!(edf.submit(at(0), request(5, Some(7), Some(3))), Some(at(7)));
    let mut started = Vec::new();
    edf.start_due(at(0), &mut started);
    assert_eq!(started, [Slot(5)]);
    assert_eq!(edf.next_start(), Some(at(7)));
    let slots = edf.free_slots(at(0));
    assert!(slots.len() <= 4);
    // The job without a limit starts, and ends at last.
    for (slot, now) in [(5, 7), (4, 14), (0, 24)] {
        edf.finished(at(now), Slot(slot));
        edf.start_due(at(now), &mut started);
    }
    assert_eq!(started, [Slot(5), Slot(4), Slot(0), Slot(1)]);
    assert_eq!(edf.submit(at(30), request(6, Some(7), Some(40))), None);
    edf.finished(at(50), Slot(1));
    edf.start_due(at(50), &mut started);
    assert_eq!(started[4..], [Slot(2)]);
}

#[test]
fn an_overrun_pushes_later_work_back_and_nobody_shares_processors() {
    let mut edf = edf(2);
    submit(&mut edf, 0, 2, 10, 10);
    let mut started = Vec::new();
    edf.start_due(at(0), &mut started);
    assert_eq!(submit(&mut edf, 1, 1, 5, 15), 15);
    let share = bag(4, 5, 40);
    let offer = edf.offers(at(0), &share)[0];
    let award = Award::Offered { tasks: 4, offer };
    edf.award(at(0), Slot(2), &share, &award).expect("as offered");
    edf.overran(at(10), Slot(0), at(20));
    assert_eq!(planned(&edf, 1), [(20, 1)]);
    assert_eq!(edf.next_start(), Some(at(20)));
    // A promise that is broken already must not cause refusals for ever.
    assert_eq!(submit(&mut edf, 3, 1, 5, 60), 60);
    edf.finished(at(12), Slot(0));
    edf.start_due(at(12), &mut started);
    assert_eq!(started, [Slot(0), Slot(1)]);
    let mut tasks = Vec::new();
    edf.tasks_due(at(12), &mut tasks);
    assert_eq!(tasks, [(Slot(2), 1)]);
}

#[test]
fn waiting_work_can_be_withdrawn_and_started_shares_cannot() {
    let mut edf = edf(1);
    let share = bag(2, 5, 40);
    for slot in 0..2 {
        let offer = *edf.offers(at(0), &share).last().expect("the whole bag is offered");
        let award = Award::Offered { tasks: 2, offer };
        assert!(edf.award(at(0), Slot(slot), &share, &award).is_some());
    }
    let mut tasks = Vec::new();
    edf.start_due(at(0), &mut Vec::new());
    edf.tasks_due(at(0), &mut tasks);
    assert_eq!(tasks, [(Slot(0), 1)]);
    assert!(!edf.withdraw(at(1), Slot(0)));
    assert!(edf.withdraw(at(1), Slot(1)));
    assert!(!edf.withdraw(at(1), Slot(1)));
    assert!(!edf.withdraw(at(1), Slot(9)));
    assert_eq!(edf.remaining_work(at(1)), 9_000_000);
    edf.tasks_finished(at(5), Slot(0), 1, at(5));
    assert_eq!(edf.latest_completion(Slot(0)), Some(at(10)));
    edf.start_due(at(5), &mut Vec::new());
    edf.tasks_due(at(5), &mut tasks);
    edf.tasks_finished(at(8), Slot(0), 1, at(10));
    assert_eq!(edf.latest_completion(Slot(0)), None, "it is forgotten");
    assert_eq!(edf.queue_length(), 0);
}
