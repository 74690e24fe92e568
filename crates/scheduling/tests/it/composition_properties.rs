//! Composing offers: invariants for random ones.

use haggle_model::Disclosure;
use haggle_scheduling::{Award, Composition, CompositionOptions, CompositionPolicy};
use haggle_testing::at;
use proptest::prelude::*;

use CompositionPolicy::{FreeTimeSlots, OffersDplb, OffersDplbV2, OffersNoLb, OffersPlb};

use crate::composition::{World, call, shares, views};

/// Offers as a provider makes them, with the whole bag among them or not.
fn offers(tasks: u32) -> impl Strategy<Value = Vec<(u32, i64)>> {
    let offer = (1..=tasks, 0_i64..12);
    prop::collection::vec(offer, 0..5).prop_map(|mut offers| {
        offers.sort_unstable();
        let mut rising: Vec<(u32, i64)> = Vec::new();
        for (size, time) in offers {
            if rising.last().is_none_or(|last| last.0 < size) {
                let earliest = rising.last().map_or(time, |last| time.max(last.1 + 1));
                rising.push((size, earliest));
            }
        }
        rising
    })
}

const TASKS: u32 = 12;

fn world() -> impl Strategy<Value = World> {
    let slot = (0_i64..20, prop::option::weighted(0.7, 1_i64..20));
    let slots = prop::collection::vec(slot, 0..6).prop_map(|slots| {
        let end = |(start, length): (i64, Option<i64>)| (start, length.map(|l| start + l));
        slots.into_iter().map(end).collect()
    });
    (offers(TASKS), 0_u64..9, 0_u64..60, slots, 1_i64..6, prop::collection::vec(0_i64..50, 0..4))
        .prop_map(|(offers, power, load, slots, task, promises)| World {
            offers,
            power,
            load,
            slots,
            task,
            promises,
        })
}

fn worlds() -> impl Strategy<Value = Vec<World>> {
    prop::collection::vec(world(), 1..6)
}

fn deadline() -> impl Strategy<Value = Option<i64>> {
    prop::option::weighted(0.8, 0_i64..15)
}

fn most_by(worlds: &[World], time: i64) -> u32 {
    let most =
        |world: &World| world.offers.iter().filter(|o| o.1 <= time).map(|o| o.0).max().unwrap_or(0);
    worlds.iter().map(most).sum()
}

fn try_compose(
    policy: CompositionPolicy,
    deadline: Option<i64>,
    worlds: &[World],
) -> Option<Composition> {
    let views = views(worlds, policy.needs());
    policy.compose(&call(TASKS, deadline), &views, CompositionOptions::default(), 0)
}

const WITH_OFFERS: [CompositionPolicy; 4] = [OffersNoLb, OffersPlb, OffersDplb, OffersDplbV2];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// I3 and I4, I10 and I11.
    #[test]
    fn a_composition_has_all_tasks_and_is_done_first(worlds in worlds(), deadline in deadline()) {
        let earliest = (deadline.unwrap_or(i64::MIN)..).take(1).chain(0..200)
            .find(|&time| time >= deadline.unwrap_or(i64::MIN) && most_by(&worlds, time) >= TASKS);
        for policy in WITH_OFFERS {
            let composition = try_compose(policy, deadline, &worlds);
            prop_assert_eq!(composition.as_ref().map(|c| c.completion), earliest.map(at), "I10");
            let Some(composition) = composition else { continue };
            let shares = shares(&composition, worlds.len());
            prop_assert_eq!(shares.iter().sum::<u32>(), TASKS, "I3");
            for part in &composition.parts {
                let offer = part.offer.expect("an offer was taken");
                prop_assert!(part.tasks() <= offer.tasks, "I3");
                prop_assert!(offer.completion <= composition.completion);
                prop_assert_eq!(&part.award, &Award::Offered { tasks: part.tasks(), offer });
            }
            if let Some(deadline) = deadline {
                let on_time = most_by(&worlds, deadline) >= TASKS;
                prop_assert!(composition.completion >= at(deadline), "I11");
                prop_assert_eq!(composition.completion == at(deadline), on_time, "I11");
                prop_assert_eq!(composition.balanced, on_time && policy != OffersNoLb);
            }
        }
    }

    /// I5: the order of providers only matters for ties.
    #[test]
    fn providers_in_another_order_get_the_same(
        worlds in worlds(),
        deadline in deadline(),
        rotation in 0_usize..5,
    ) {
        let mut rotated = worlds.clone();
        rotated.rotate_left(rotation % worlds.len());
        for policy in WITH_OFFERS {
            let (here, there) =
                (try_compose(policy, deadline, &worlds), try_compose(policy, deadline, &rotated));
            prop_assert_eq!(
                here.as_ref().map(|c| (c.completion, c.balanced, c.sizes)),
                there.as_ref().map(|c| (c.completion, c.balanced, c.sizes))
            );
            let (Some(here), Some(there)) = (here, there) else { continue };
            if policy == OffersPlb && here.balanced {
                let sorted = |composition: &Composition| {
                    let mut parts: Vec<_> =
                        composition.parts.iter().map(|p| (p.offer.map(|o| o.tasks), p.tasks())).collect();
                    parts.sort_unstable();
                    parts
                };
                prop_assert_eq!(sorted(&here), sorted(&there));
            }
        }
    }

    /// I6: only the ratio of powers matters.
    #[test]
    fn scaling_all_powers_changes_nothing(
        worlds in worlds(),
        deadline in deadline(),
        factor in 1_u64..1_000_000,
    ) {
        let mut scaled = worlds.clone();
        for world in &mut scaled {
            world.power *= factor;
        }
        let compose = |worlds: &[World]| try_compose(OffersDplb, deadline, worlds);
        prop_assert_eq!(compose(&worlds), compose(&scaled));
    }

    /// I7: without load, both policies do the same.
    #[test]
    fn no_load_is_no_difference(mut worlds in worlds(), deadline in 1_i64..15) {
        for world in &mut worlds {
            world.load = 0;
        }
        let compose = |policy| try_compose(policy, Some(deadline), &worlds);
        prop_assert_eq!(compose(OffersDplbV2), compose(OffersDplb));
    }

    /// T2: facts that a policy does not need have no effect on it, even if the views hold them.
    #[test]
    fn hidden_state_does_not_matter(
        pairs in prop::collection::vec((world(), world()), 1..6),
        deadline in deadline(),
    ) {
        let options = CompositionOptions::default();
        for policy in CompositionPolicy::ALL {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            for (world, hidden) in &pairs {
                let mut changed = hidden.clone();
                changed.offers.clone_from(&world.offers);
                if policy.needs() >= Disclosure::Power {
                    changed.power = world.power;
                }
                if policy.needs() >= Disclosure::Load {
                    changed.load = world.load;
                }
                if policy.needs() >= Disclosure::Slots {
                    changed.slots.clone_from(&world.slots);
                    changed.task = world.task;
                }
                one.push(world.clone());
                other.push(changed);
            }
            let call = call(TASKS, deadline);
            let compose = |worlds: &[World], level| {
                policy.compose(&call, &views(worlds, level), options, 3)
            };
            prop_assert_eq!(views(&one, policy.needs()), views(&other, policy.needs()));
            let expected = compose(&one, policy.needs());
            prop_assert_eq!(&compose(&other, policy.needs()), &expected);
            prop_assert_eq!(&compose(&one, Disclosure::Queue), &expected);
            prop_assert_eq!(&compose(&other, Disclosure::Queue), &expected);
        }
    }

    /// Every task goes to the earliest start that is still free.
    #[test]
    fn slots_are_filled_earliest_first(worlds in worlds(), deadline in deadline(), tasks in 1_u32..12) {
        let views = views(&worlds, Disclosure::Slots);
        let options = CompositionOptions::default();
        let composition = FreeTimeSlots.compose(&call(tasks, deadline), &views, options, 0);
        // The obvious version: second by second, task by task.
        let mut slots: Vec<Vec<(i64, Option<i64>)>> =
            worlds.iter().map(|world| world.slots.clone()).collect();
        let open = |slots: &[(i64, Option<i64>)], time: i64| {
            slots.iter().filter(|s| s.0 <= time && s.1.is_none_or(|end| time < end)).count()
        };
        let mut used: Vec<Vec<i64>> = vec![Vec::new(); worlds.len()];
        let fits = |used: &[i64], slots: &[(i64, Option<i64>)], start: i64, task: i64| {
            (start..start + task).all(|time| {
                let busy = used.iter().filter(|&&s| s <= time && time < s + task).count();
                open(slots, time) > busy
            })
        };
        let mut starts = vec![Vec::new(); worlds.len()];
        for slots in &mut slots {
            slots.sort_unstable();
        }
        let mut completion = deadline.unwrap_or(0);
        let mut complete = true;
        for _ in 0..tasks {
            let earliest = |p: usize, used: &[Vec<i64>]| {
                (0..200).find(|&start| fits(&used[p], &slots[p], start, worlds[p].task))
            };
            let best = (0..worlds.len())
                .filter_map(|p| earliest(p, &used).map(|start| (start, p)))
                .min_by_key(|&(start, _)| start);
            let Some((start, _)) = best else { complete = false; break };
            // Equal starts may differ in the provider; the sums by start must agree.
            let provider = (0..worlds.len())
                .filter(|&p| earliest(p, &used) == Some(start))
                .max_by_key(|&p| {
                    let room = |p: usize| {
                        let mut used = used[p].clone();
                        let mut room = 0;
                        while fits(&used, &slots[p], start, worlds[p].task) {
                            used.push(start);
                            room += 1;
                        }
                        room
                    };
                    // A batch is filled before the next provider gets a task.
                    (starts[p].last() == Some(&start), room(p), std::cmp::Reverse(p))
                })
                .expect("one is the best");
            used[provider].push(start);
            starts[provider].push(start);
            completion = completion.max(start + worlds[provider].task);
        }
        prop_assert_eq!(composition.is_some(), complete);
        let Some(composition) = composition else { return Ok(()) };
        prop_assert_eq!(composition.completion, at(completion));
        for part in &composition.parts {
            let Award::Placed { batches, .. } = &part.award else { panic!("slots were asked for") };
            let each = |b: &haggle_scheduling::Batch| {
                std::iter::repeat_n(b.start.as_micros() / 1_000_000, b.tasks as usize)
            };
            let placed: Vec<i64> = batches.iter().flat_map(each).collect();
            prop_assert_eq!(&placed, &starts[part.provider]);
        }
        let total: u32 = composition.parts.iter().map(|part| part.tasks()).sum();
        prop_assert_eq!(total, tasks);
    }
}
