//! Composing offers: worked examples.

use haggle_model::{Disclosure, Span, Time};
use haggle_scheduling::composition::{AnyView, Facts, FreeTime, QueueEntry, WeightRule};
use haggle_scheduling::{
    Award, BagCall, BagRequest, Bargainer, Composition, CompositionOptions, CompositionPolicy, Edf,
    EdfConfig, FreeSlot, Offer,
};
use haggle_testing::at;

use CompositionPolicy::{FreeTimeSlots, OffersDplb, OffersDplbV2, OffersNoLb, OffersPlb};

/// All facts about a provider, in seconds and whole processors.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) offers: Vec<(u32, i64)>,
    pub(crate) power: u64,
    pub(crate) load: u64,
    /// The end is `None` for a slot that stays open.
    pub(crate) slots: Vec<(i64, Option<i64>)>,
    pub(crate) task: i64,
    pub(crate) promises: Vec<i64>,
}

impl Facts for World {
    fn offers(&mut self) -> Vec<Offer> {
        let offer = |&(tasks, completion)| Offer { tasks, completion: at(completion) };
        self.offers.iter().map(offer).collect()
    }

    fn power(&mut self) -> u64 {
        self.power * 1_000
    }

    fn load(&mut self) -> u128 {
        u128::from(self.load) * 1_000_000_000
    }

    fn free_time(&mut self) -> FreeTime {
        let slot = |&(start, end): &(i64, Option<i64>)| FreeSlot {
            start: at(start),
            end: end.map_or(Time::FOREVER, at),
        };
        let slots = self.slots.iter().map(slot).collect();
        FreeTime { slots, task: Span::from_secs(self.task) }
    }

    fn queue(&mut self) -> Vec<QueueEntry> {
        let entry = |&promise| QueueEntry { processors: 1, promise: at(promise) };
        self.promises.iter().map(entry).collect()
    }
}

fn offering(offers: &[(u32, i64)]) -> World {
    World { offers: offers.to_vec(), ..World::default() }
}

pub(crate) fn views(worlds: &[World], level: Disclosure) -> Vec<AnyView> {
    worlds.iter().map(|world| AnyView::disclose(level, &mut world.clone())).collect()
}

pub(crate) fn call(tasks: u32, deadline: Option<i64>) -> BagCall {
    let (span, now) = (Span::from_secs(1), Time::ZERO);
    BagCall { tasks, span, deadline: deadline.map(at), now }
}

fn compose(policy: CompositionPolicy, bag: BagCall, worlds: &[World]) -> Composition {
    let views = views(worlds, policy.needs());
    policy.compose(&bag, &views, CompositionOptions::default(), 0).expect("it can be composed")
}

/// (provider from 1 on, tasks, completion in seconds) of each part, and that of the whole.
fn parts(composition: &Composition) -> (Vec<(usize, u32, i64)>, i64) {
    let seconds = |time: Time| time.as_micros() / 1_000_000;
    let part = |part: &haggle_scheduling::composition::Part| match &part.award {
        Award::Offered { tasks, offer } => (part.provider + 1, *tasks, seconds(offer.completion)),
        Award::Placed { .. } => panic!("no slots were asked for"),
    };
    (composition.parts.iter().map(part).collect(), seconds(composition.completion))
}

/// Tasks for each provider.
pub(crate) fn shares(composition: &Composition, providers: usize) -> Vec<u32> {
    let mut shares = vec![0; providers];
    for part in &composition.parts {
        assert_eq!(shares[part.provider], 0, "I4: one offer a provider");
        assert!(part.tasks() > 0, "an empty part");
        shares[part.provider] = part.tasks();
    }
    shares
}

#[test]
fn policies_need_what_the_ladder_says() {
    let needs: Vec<_> = CompositionPolicy::ALL.iter().map(|p| (p.name(), p.needs())).collect();
    let ladder = [
        ("offers-no-lb", Disclosure::Offers),
        ("offers-plb", Disclosure::Offers),
        ("offers-dplb", Disclosure::Power),
        ("offers-dplb-v2", Disclosure::Load),
        ("free-time-slots", Disclosure::Slots),
    ];
    assert_eq!(needs, ladder);
    let worlds = [World { slots: vec![(0, None)], task: 1, ..offering(&[(1, 1)]) }];
    for policy in CompositionPolicy::ALL {
        for level in Disclosure::ALL {
            let views = views(&worlds, level);
            assert!(views.iter().all(|view| view.disclosure() == level));
            let composed =
                policy.compose(&call(1, Some(1)), &views, CompositionOptions::default(), 0);
            assert_eq!(composed.is_some(), level >= policy.needs(), "{} {level:?}", policy.name());
        }
    }
}

#[test]
fn ox_6_table_6_1() {
    let worlds = [
        offering(&[(256, 40), (512, 100)]),
        offering(&[(128, 40), (512, 200)]),
        offering(&[(64, 40), (512, 200)]),
    ];
    for policy in [OffersNoLb, OffersPlb, OffersDplb, OffersDplbV2] {
        let composition = compose(policy, call(512, Some(40)), &worlds);
        assert_eq!(parts(&composition), (vec![(1, 320, 100), (2, 128, 40), (3, 64, 40)], 100));
        assert!(!composition.balanced);
    }
    // With 256 tasks by 40 at the first provider, the rest is not done before 200.
    let forced = [offering(&[(256, 40)]), worlds[1].clone(), worlds[2].clone()];
    assert_eq!(compose(OffersNoLb, call(512, Some(40)), &forced).completion, at(200));
}

#[test]
fn ox_7_branching() {
    let worlds = [
        offering(&[(30, 20), (60, 50), (100, 90)]),
        offering(&[(25, 20), (75, 60), (100, 80)]),
        offering(&[(10, 20), (50, 50), (100, 120)]),
    ];
    let composition = compose(OffersNoLb, call(100, Some(20)), &worlds);
    assert_eq!(parts(&composition), (vec![(1, 30, 20), (2, 25, 20), (3, 45, 50)], 50));
}

#[test]
fn ox_7_relaxed_every_part_gets_the_completion_of_the_latest() {
    let worlds = [offering(&[(30, 20), (60, 50)]), offering(&[(40, 20)])];
    let options = CompositionOptions { relax_to_composite: true, ..Default::default() };
    let views = views(&worlds, Disclosure::Offers);
    let composition = OffersPlb.compose(&call(100, Some(20)), &views, options, 0).expect("enough");
    assert_eq!(parts(&composition), (vec![(1, 60, 50), (2, 40, 50)], 50));
    assert_eq!(composition.parts[1].offer, Some(Offer { tasks: 40, completion: at(20) }));
}

#[test]
fn ox_8_proportional_load_balancing() {
    let plb = |tasks, sizes: &[u32]| {
        let worlds: Vec<World> = sizes.iter().map(|&size| offering(&[(size, 10)])).collect();
        let composition = compose(OffersPlb, call(tasks, Some(10)), &worlds);
        assert!(composition.balanced && composition.completion == at(10));
        shares(&composition, sizes.len())
    };
    assert_eq!(plb(512, &[512, 256, 128]), [293, 146, 73]);
    assert_eq!(plb(10, &[10, 7, 5]), [5, 3, 2]);
    assert_eq!(plb(10, &[5, 5, 5]), [4, 3, 3]);
    assert_eq!(plb(1, &[3, 4, 4]), [0, 1, 0]);
}

#[test]
fn ox_8_end_to_end() {
    let bag = BagRequest {
        tasks: 8,
        span: Span::from_secs(3),
        deadline: Some(at(6)),
        earliest: Time::ZERO,
    };
    let offers = |processors| {
        let mut edf = Edf::new(processors, EdfConfig::default());
        let offers = edf.offers(Time::ZERO, &bag);
        offering(
            &offers
                .iter()
                .map(|o| (o.tasks, o.completion.as_micros() / 1_000_000))
                .collect::<Vec<_>>(),
        )
    };
    let worlds = [offers(4), offers(2)];
    let composition = compose(OffersPlb, call(8, Some(6)), &worlds);
    assert_eq!(shares(&composition, 2), [5, 3]);
}

fn with_power(sizes: &[u32], powers: &[u64]) -> Vec<World> {
    let world = |(&size, &power)| World { power, ..offering(&[(size, 10)]) };
    sizes.iter().zip(powers).map(world).collect()
}

#[test]
fn ox_9_double_proportional_load_balancing() {
    let dplb = |tasks, sizes: &[u32], powers: &[u64]| {
        let composition = compose(OffersDplb, call(tasks, Some(10)), &with_power(sizes, powers));
        shares(&composition, sizes.len())
    };
    assert_eq!(dplb(10, &[10, 10, 5, 5], &[430, 240, 240, 128]), [4, 3, 2, 1]);
    let (sizes, powers) = ([512, 512, 256, 256, 256], [430, 240, 240, 128, 140]);
    assert_eq!(dplb(512, &sizes, &powers), [188, 105, 103, 56, 60]);
    assert_eq!(dplb(240, &[100, 100, 100], &[8, 1, 1]), [100, 40, 100]);
    assert_eq!(dplb(300, &[100, 100, 100], &[8, 1, 1]), [100, 100, 100]);
    assert_eq!(dplb(7, &[5, 5, 5], &[0, 0, 0]), [2, 2, 3], "no power at all: even shares");
}

#[test]
fn ox_10a_load_decides_among_equal_offers() {
    let mut worlds = with_power(&[20, 20, 20], &[8, 4, 4]);
    for (world, load) in worlds.iter_mut().zip([48, 8, 40]) {
        world.load = load;
    }
    let shares = |policy| shares(&compose(policy, call(20, Some(10)), &worlds), 3);
    assert_eq!(shares(OffersPlb), [7, 7, 6]);
    assert_eq!(shares(OffersDplb), [10, 5, 5]);
    assert_eq!(shares(OffersDplbV2), [10, 10, 0]);
    let options = CompositionOptions { load_weights: WeightRule::DrainTime, ..Default::default() };
    let composition = OffersDplbV2
        .compose(&call(20, Some(10)), &views(&worlds, Disclosure::Load), options, 0)
        .expect("enough");
    // 64 / 56 : 16 / 12 : 16 / 44 = 1.143 : 1.333 : 0.364
    assert_eq!(self::shares(&composition, 3), [8, 9, 3]);
}

#[test]
fn ox_10d_free_time_slots() {
    let worlds = [
        World { slots: vec![(3, None), (7, None)], task: 3, ..World::default() },
        World { slots: vec![(0, Some(4)), (9, None)], task: 3, ..World::default() },
    ];
    let composition = compose(FreeTimeSlots, call(4, Some(8)), &worlds);
    assert_eq!(composition.completion, at(10));
    let placed: Vec<_> = composition
        .parts
        .iter()
        .map(|part| match &part.award {
            Award::Placed { batches, deadline } => {
                assert_eq!(*deadline, at(10));
                let starts = batches.iter().map(|b| (b.start.as_micros() / 1_000_000, b.tasks));
                (part.provider + 1, starts.collect::<Vec<_>>())
            }
            Award::Offered { .. } => panic!("no offers were asked for"),
        })
        .collect();
    assert_eq!(placed, [(1, vec![(3, 1), (6, 1), (7, 1)]), (2, vec![(0, 1)])]);
    assert_eq!(compose(FreeTimeSlots, call(4, Some(15)), &worlds).completion, at(15));
    let full = views(&[World { task: 3, ..World::default() }], Disclosure::Slots);
    let options = CompositionOptions::default();
    assert_eq!(FreeTimeSlots.compose(&call(1, Some(8)), &full, options, 0), None);
}

/// CX-2 of the bags without deadlines.
#[test]
fn cx_2_without_a_deadline_the_earliest_composite_is_taken() {
    let worlds = [offering(&[(1, 5), (2, 10), (4, 19)]), offering(&[(2, 7), (4, 12)])];
    for policy in [OffersNoLb, OffersPlb] {
        let composition = compose(policy, call(4, None), &worlds);
        assert_eq!(parts(&composition), (vec![(1, 2, 10), (2, 2, 7)], 10));
    }
}

#[test]
fn without_a_deadline_equal_offers_take_turns() {
    let worlds = [offering(&[(4, 10)]), offering(&[(4, 10)]), offering(&[(4, 10)])];
    let views = views(&worlds, Disclosure::Offers);
    let compose = |turn, balance_without_deadline| {
        let options = CompositionOptions { balance_without_deadline, ..Default::default() };
        let composition = OffersNoLb.compose(&call(4, None), &views, options, turn);
        shares(&composition.expect("enough"), 3)
    };
    for (turn, expected) in [(0, [4, 0, 0]), (1, [0, 4, 0]), (2, [0, 0, 4]), (3, [4, 0, 0])] {
        assert_eq!(compose(turn, false), expected);
    }
    assert_eq!(compose(1, true), [2, 1, 1]);
}

#[test]
fn too_few_tasks_are_no_composition() {
    let views = views(&[offering(&[(3, 5)]), offering(&[])], Disclosure::Offers);
    let options = CompositionOptions::default();
    for policy in [OffersNoLb, OffersPlb] {
        for deadline in [None, Some(5), Some(1)] {
            assert_eq!(policy.compose(&call(4, deadline), &views, options, 0), None);
        }
        assert_eq!(policy.compose(&call(3, Some(5)), &[], options, 0), None);
    }
}
