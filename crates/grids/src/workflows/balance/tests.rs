use haggle_model::progress::ProgressReport;
use proptest::prelude::*;

use super::super::prediction::{Extrapolation, History, Predictor};
use super::*;

/// Every move pauses a task for this time; draws are the lowest numbers.
struct Pause(f64);

impl Costs for Pause {
    fn moving(&self, _: usize, _: ResourceId, _: ResourceId) -> f64 {
        self.0
    }

    fn draw(&mut self, _: usize) -> usize {
        0
    }
}

fn places(speeds: &[f64], slots: u32, held: &[u32]) -> Vec<Place> {
    let place =
        |(&avail, &held): (&f64, &u32)| Place { site: SiteId(0), up: true, avail, slots, held };
    speeds.iter().zip(held).map(place).collect()
}

fn task(number: u32, at: u32, left: f64) -> Running {
    Running { job: JobId(number), at: ResourceId(at), left, root: false }
}

const PLAIN: Balance = Balance { floor: 0.0, gain: 0.0, group: 1, evicts: true };

/// Micro-example M-3: 40 % of a task were done in 600 s, in which it had half of 4 - 1 MIPS.
#[test]
fn what_is_left_takes_its_share_of_the_speed() {
    let done = 600.0 * (4.0 - 1.0) / 2.0;
    let reports = [ProgressReport { done, part: 0.4 }];
    let history = History { a_priori: None, reports: &reports, done };
    assert_eq!(Extrapolation.predict(&history), Some(2250.0));
    let left = 2250.0 - done;
    let round = BalancedRound::new(places(&[3.0, 2.0], 2, &[2, 0]), &[], Vec::new());
    assert_eq!(round.computing(left, ResourceId(0), 2), 900.0);
    assert_eq!(round.computing(left, ResourceId(1), 1), 675.0);
}

/// Micro-example M-4 under some rules: the final resources of T1, T2 and T3.
fn balanced(rules: Balance) -> [u32; 3] {
    let tasks = [task(1, 1, 1200.0), task(2, 2, 300.0), task(3, 3, 250.0)];
    let places = places(&[9.0, 1.0, 3.0, 1.0, 0.5, 4.0], 1, &[1, 1, 1, 1, 0, 0]);
    let round = BalancedRound::new(places, &tasks, vec![vec![0, 1, 2]]);
    let mut at = tasks.map(|task| task.at.0);
    for step in round.run(&rules, &mut Pause(20.0)).0 {
        let Move::To(task, to) = step else { panic!("{step:?} is no move") };
        at[task] = to.0;
    }
    at
}

#[test]
fn the_longest_task_goes_first_and_others_give_way() {
    assert_eq!(balanced(PLAIN), [5, 3, 1]);
    assert_eq!(balanced(Balance { gain: 0.5, ..PLAIN }), [5, 1, 3]);
    assert_eq!(balanced(Balance { gain: 0.8, ..PLAIN }), [1, 2, 3]);
    assert_eq!(balanced(Balance { floor: 240.0, ..PLAIN }), [5, 2, 1]);
    assert_eq!(balanced(Balance { floor: 300.0, ..PLAIN }), [5, 2, 3]);
}

/// Micro-example M-5, in which e needs `left`.
fn may_come(left: f64) -> bool {
    let tasks = [task(1, 0, 300.0), task(2, 1, 100.0), task(3, 2, left)];
    let places = places(&[0.1, 1.0, 1.0], 2, &[1, 1, 1]);
    let round = BalancedRound::new(places, &tasks, vec![vec![0], vec![1, 2]]);
    round.delays_nobody(0, ResourceId(1), false, Some((0, 600.0)))
}

#[test]
fn nobody_comes_who_delays_another_set() {
    assert!(!may_come(180.0));
    assert!(may_come(250.0));
}

/// T1 moves to the resource of 4 MIPS, where it needs 100 s. T2 would need 150 s there instead of 300 s,
/// but T1 would then need 200 s.
#[test]
fn who_moved_in_this_round_is_not_delayed() {
    let tasks = [task(1, 0, 400.0), task(2, 1, 300.0)];
    let moves = |sets| {
        let places = places(&[1.0, 1.0, 4.0], 2, &[1, 1, 0]);
        BalancedRound::new(places, &tasks, sets).run(&PLAIN, &mut Pause(0.0)).0
    };
    let fast = ResourceId(2);
    assert_eq!(moves(vec![vec![1]]), [Move::To(1, fast)]);
    assert_eq!(moves(vec![vec![0], vec![1]]), [Move::To(0, fast)]);
}

/// Of the balanced set itself only tasks at the resource count. T2 there may need up to the 150 s that T1
/// will need, but no more, though T3 elsewhere needs 900 s.
#[test]
fn of_the_balanced_set_the_tasks_at_the_resource_count() {
    let delayed = |left: f64| {
        let tasks = [task(1, 0, 150.0), task(2, 1, left), task(3, 2, 900.0)];
        let places = places(&[0.1, 2.0, 1.0], 2, &[1, 1, 1]);
        let round = BalancedRound::new(places, &tasks, vec![vec![0, 1, 2]]);
        !round.delays_nobody(0, ResourceId(1), false, Some((0, 150.0)))
    };
    // Half of 2 MIPS.
    assert!(!delayed(150.0));
    assert!(delayed(151.0));
}

/// Micro-example M-6.
#[test]
fn roots_make_room() {
    let root = |number| Running { root: true, ..task(number, 5, 500.0) };
    let tasks = [task(1, 1, 1200.0), task(2, 2, 300.0), task(3, 3, 250.0), root(8), root(9)];
    let mut places = places(&[9.0, 1.0, 3.0, 1.0, 0.5, 4.0], 1, &[1, 1, 1, 1, 0, 2]);
    places[5].slots = 2;
    let round = BalancedRound::new(places, &tasks, vec![vec![0, 1, 2]]);
    let (moves, ..) = round.run(&PLAIN, &mut Pause(20.0));
    let expected =
        [Move::EvictedTo(3, ResourceId(4)), Move::Evicted(4), Move::To(0, ResourceId(5))];
    assert_eq!(moves[..3], expected);
}

/// A root in the queue is not moved for its former set, whose other task stays.
#[test]
fn who_is_queued_is_in_no_set() {
    let root = |number, at, left| Running { root: true, ..task(number, at, left) };
    let tasks = [task(1, 0, 1200.0), root(2, 2, 500.0), task(3, 1, 400.0)];
    let places = places(&[1.0, 1.0, 4.0], 1, &[1, 1, 1]);
    let round = BalancedRound::new(places, &tasks, vec![vec![0], vec![1, 2]]);
    let (moves, places, _) = round.run(&PLAIN, &mut Pause(20.0));
    assert_eq!(moves, [Move::Evicted(1), Move::To(0, ResourceId(2))]);
    assert_eq!(places.iter().map(|place| place.held).collect::<Vec<_>>(), [0, 1, 1]);
}

/// Micro-example M-7.
#[test]
fn groups_are_cut_by_speed() {
    let speeds = [0.5, 0.6, 1.0, 1.2, 2.0, 2.2, 3.8, 4.0];
    let with = |left: f64, group: usize| {
        let mut all = places(&speeds, 1, &[0; 8]);
        all.push(Place { avail: 3.0, held: 1, ..all[0] });
        let mut round = BalancedRound::new(all, &[task(1, 8, left)], vec![vec![0]]);
        round.groups = (group > 1).then(|| Groups::new(&round.places, group));
        round
    };
    let found = |round: &BalancedRound, leads| {
        let found = round.candidates(0, leads, &PLAIN, &Pause(20.0));
        let x = |it: &Candidate| match *it {
            Candidate::Group { x, .. } | Candidate::Place { x, .. } => (x * 10.0).round() / 10.0,
        };
        found.iter().map(x).collect::<Vec<f64>>()
    };
    assert_eq!(found(&with(1200.0, 4), true), [1020.0, 320.0]);
    assert_eq!(found(&with(300.0, 4), false), [383.6, 120.0]);
    let single = with(300.0, 1);
    let all = single.candidates(0, false, &PLAIN, &Pause(20.0));
    let best = candidates::best(&all, 100.0, Some(320.0)).map(|best| all[best]);
    assert!(matches!(best, Some(Candidate::Place { to: ResourceId(2), .. })), "{best:?}");
}

/// Groups of one resource equal no groups: both searches give the same rounds.
fn run(world: &World, grouped: bool) -> Vec<Move> {
    let (mut round, rules) = world.round();
    if grouped {
        round.groups = Some(Groups::new(&round.places, 1));
    }
    round.run(&rules, &mut Pause(world.pause)).0
}

#[derive(Clone, Debug)]
struct World {
    /// Speed, site and slots of resources.
    resources: Vec<(u32, u32, u32)>,
    /// Resource, work, workflow, and whether it is a root.
    tasks: Vec<(usize, u32, usize, bool)>,
    pause: f64,
    rules: (u32, u32),
}

impl World {
    fn round(&self) -> (BalancedRound, Balance) {
        let place = |&(speed, site, slots): &(u32, u32, u32)| Place {
            site: SiteId(site),
            up: speed % 7 > 0,
            avail: f64::from(speed) / 10.0,
            slots,
            held: 0,
        };
        let mut places: Vec<Place> = self.resources.iter().map(place).collect();
        let (mut tasks, mut sets) = (Vec::new(), vec![Vec::new(); 3]);
        for &(at, left, set, root) in &self.tasks {
            let place = at % places.len();
            if !places[place].is_available() {
                continue;
            }
            places[place].held += 1;
            if !root {
                sets[set].push(tasks.len());
            }
            let number = tasks.len() as u32;
            tasks.push(Running { root, ..task(number, place as u32, f64::from(left)) });
        }
        sets.retain(|set: &Vec<usize>| !set.is_empty());
        sets.sort_by_key(|set| (set.len(), set[0]));
        let (floor, gain) = self.rules;
        let rules = Balance { floor: f64::from(floor), gain: f64::from(gain) / 10.0, ..PLAIN };
        (BalancedRound::new(places, &tasks, sets), rules)
    }
}

fn worlds() -> impl Strategy<Value = World> {
    let resources = prop::collection::vec((1_u32..40, 0_u32..3, 1_u32..4), 1..9);
    let tasks = prop::collection::vec(
        (0_usize..9, 1_u32..2000, 0_usize..3, prop::bool::weighted(0.2)),
        1..12,
    );
    (resources, tasks, 0_u32..200, (0_u32..400, 0_u32..8)).prop_map(
        |(resources, tasks, pause, rules)| World {
            resources,
            tasks,
            pause: f64::from(pause),
            rules,
        },
    )
}

/// The publication's steps again, written as directly as possible: each decision examines all tasks, sets
/// and resources again.
fn obvious(world: &World) -> Vec<Move> {
    let (round, rules) = world.round();
    let BalancedRound { mut places, tasks, sets, .. } = round;
    let mut at: Vec<Option<usize>> = tasks.iter().map(|it| Some(it.running.at.index())).collect();
    let mut pause: Vec<Option<f64>> = vec![None; at.len()];
    let mut moves = Vec::new();
    type At<'a> = &'a [Option<usize>];
    /// Past M, x, evicting, resource.
    type Key = (bool, f64, bool, usize);
    let needs = |places: &[Place], at: At<'_>, pause: &[Option<f64>], task: usize, k: u32| {
        let place = &places[at[task].expect("it runs")];
        tasks[task].running.left * f64::from(k) / place.avail + pause[task].unwrap_or(0.0)
    };
    let held = |places: &[Place], at: At<'_>, task: usize| places[at[task].expect("it runs")].held;
    let roots = |at: At<'_>, pause: &[Option<f64>], c: usize| -> Vec<usize> {
        let is_root = |&t: &usize| at[t] == Some(c) && tasks[t].running.root && pause[t].is_none();
        (0..tasks.len()).filter(is_root).collect()
    };
    let delays = |places: &[Place],
                  at: At<'_>,
                  pause: &[Option<f64>],
                  c: usize,
                  k: u32,
                  own: Option<(usize, f64)>| {
        (0..tasks.len()).filter(|&d| at[d] == Some(c) && !tasks[d].running.root).any(|d| {
            let later = needs(places, at, pause, d, k);
            (0..sets.len()).filter(|&s| sets[s].contains(&d)).any(|s| match own {
                Some((set, bound)) if set == s => later > bound + 1e-9,
                _ => {
                    let now = |&m: &usize| needs(places, at, pause, m, held(places, at, m));
                    later > sets[s].iter().map(now).fold(0.0, f64::max) + 1e-9
                }
            })
        })
    };
    for (s, set) in sets.iter().enumerate() {
        let xi = |&t: &usize| (needs(&places, &at, &pause, t, held(&places, &at, t)), t);
        let mut order: Vec<(f64, usize)> = set.iter().map(xi).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut m: Option<f64> = None;
        for (xi, i) in order {
            let mut new = xi;
            let mut dropped: Vec<(usize, bool)> = Vec::new();
            while xi > rules.floor && pause[i].is_none() {
                let leads = m.is_none_or(|m| xi > m);
                let mut choice: Option<(Key, f64, u32)> = None;
                for (c, place) in places.iter().enumerate() {
                    for evict in [false, true] {
                        let leaving = roots(&at, &pause, c).len() as u32;
                        let k = place.held + 1 - if evict { leaving } else { 0 };
                        let fits = k <= place.slots && (!evict || leaving > 0);
                        if !place.up || Some(c) == at[i] || !fits || dropped.contains(&(c, evict)) {
                            continue;
                        }
                        let x = tasks[i].running.left * f64::from(k) / place.avail + world.pause;
                        let key = match m {
                            Some(m) if x <= m + 1e-9 => (false, (m - x).max(0.0), evict, c),
                            _ if leads => (true, x, evict, c),
                            _ => continue,
                        };
                        if choice.is_none_or(|(best, ..)| key < best) {
                            choice = Some((key, x, k));
                        }
                    }
                }
                let Some(((_, _, evict, c), x, k)) = choice else { break };
                let worth = match m.filter(|_| !leads) {
                    None => x + rules.gain * xi < xi,
                    Some(m) => (m - x).max(0.0) + rules.gain * (m - xi) < m - xi,
                };
                if !worth {
                    break;
                }
                let bound = m.map_or(x, |m: f64| m.max(x));
                if delays(&places, &at, &pause, c, k, Some((s, bound))) {
                    dropped.push((c, evict));
                    continue;
                }
                for root in if evict { roots(&at, &pause, c) } else { Vec::new() } {
                    let free =
                        |&o: &usize| places[o].up && places[o].held < places[o].slots && o != c;
                    let share = |o: usize| places[o].avail / f64::from(places[o].held + 1);
                    let mut others: Vec<usize> = (0..places.len()).filter(free).collect();
                    others.sort_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
                    others.retain(|&o| !delays(&places, &at, &pause, o, places[o].held + 1, None));
                    places[c].held -= 1;
                    at[root] = others.first().copied();
                    match at[root] {
                        Some(o) => {
                            places[o].held += 1;
                            pause[root] = Some(0.0);
                            moves.push(Move::EvictedTo(root, ResourceId(o as u32)));
                        }
                        None => moves.push(Move::Evicted(root)),
                    }
                }
                places[at[i].expect("it runs")].held -= 1;
                places[c].held += 1;
                (at[i], pause[i], new) = (Some(c), Some(world.pause), x);
                moves.push(Move::To(i, ResourceId(c as u32)));
                break;
            }
            m = Some(m.map_or(new, |m| m.max(new)));
        }
    }
    moves
}

proptest! {
    #[test]
    fn one_resource_a_group_is_no_group(world in worlds()) {
        prop_assert_eq!(run(&world, true), run(&world, false));
    }

    #[test]
    fn rounds_are_those_of_the_publication(world in worlds()) {
        prop_assert_eq!(run(&world, false), obvious(&world));
    }

    #[test]
    fn grouping_looks_at_fewer_places(world in worlds()) {
        let count = |group| {
            let (round, rules) = world.round();
            let places = round.places.len() as u64;
            let tasks = round.tasks.len() as u64;
            let all = round.run(&Balance { group, ..rules }, &mut Pause(world.pause)).2;
            prop_assert!(all <= 2 * places * tasks);
            Ok(all)
        };
        count(1)?;
        count(3)?;
    }
}
