//! The optimiser that stands for EMO: DTLZ6 at known points, graphs, and runs that are small.

use haggle_model::Span;
use haggle_planning::iterative::case_study::{
    CLUSTERS, RANDOM, REGULAR, SCALE_FREE, SMALL_WORLD, TOPOLOGIES, application,
};
use haggle_planning::iterative::optimiser::{
    Islands, OBJECTIVES, Topology, TopologyError, VARIABLES, dominates, dtlz6, front,
};
use haggle_planning::iterative::{Core, Epsilon, Merge};
use haggle_planning::synthetic::Draws;

#[test]
fn dtlz6_on_its_front_and_off() {
    // On the front all angles but the first are a quarter of a circle's half; each halves the square of what is left.
    let mut variables = [0.0; VARIABLES];
    variables[1] = 0.7; // says nothing there
    let half: f64 = 0.5;
    let mut expected = Vec::from_iter((1..=8).rev().map(|power| half.powi(power).sqrt()));
    expected.insert(0, expected[0]);
    expected.push(0.0);
    let close = |found: &[f64], expected: &[f64]| {
        let far = found.iter().zip(expected).map(|(one, two)| (one - two).abs());
        far.fold(0.0, f64::max) < 1e-12
    };
    assert!(close(&dtlz6(&variables), &expected), "{:?}", dtlz6(&variables));
    // The other end: all of it is the last objective.
    variables[0] = 1.0;
    let mut end = [0.0; OBJECTIVES];
    end[OBJECTIVES - 1] = 1.0;
    assert!(close(&dtlz6(&variables), &end));
    // As far from it as can be, g is 10, and the sum of squares the square of 11.
    let far = dtlz6(&[1.0; VARIABLES]);
    assert!((far.iter().map(|it| it * it).sum::<f64>() - 121.0).abs() < 1e-9);
    assert!(far[OBJECTIVES - 1] > 10.999);
}

#[test]
fn the_front_is_a_curve_that_nobody_dominates() {
    let front = front(11);
    assert_eq!(front.len(), 11);
    for point in &front {
        assert!((point.iter().map(|it| it * it).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(front.iter().all(|other| !dominates(other, point)));
    }
    let mut epsilon = Epsilon::new(&front);
    assert_eq!(epsilon.value(), f64::INFINITY);
    epsilon.add(&[[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]);
    // 1 in the third objective, which is nought at the end of the front.
    assert!((epsilon.value() - 1.0).abs() < 1e-12);
    epsilon.add(&front);
    assert_eq!(epsilon.value(), 0.0);
}

fn topologies(side: usize, seed: u64) -> Vec<Topology> {
    let mut draws = Draws::new(seed);
    let of = |size| Topology::of_case_study(size, side, &mut draws).expect("there is room");
    (0..TOPOLOGIES.len()).map(of).collect()
}

#[test]
fn topologies_have_their_degrees_and_are_in_one_piece() {
    for side in [6, 16, 32] {
        let all = topologies(side, side as u64);
        let nodes = side * side;
        for topology in &all {
            assert_eq!(topology.nodes(), nodes);
            assert!(topology.path_length().is_some());
            for node in 0..nodes {
                let neighbours = topology.neighbours(node);
                assert!(!neighbours.is_empty() && !neighbours.contains(&node));
                for &other in neighbours {
                    assert!(topology.neighbours(other).contains(&node));
                    assert_eq!(neighbours.iter().filter(|&&it| it == other).count(), 1);
                }
            }
        }
        let grid = &all[REGULAR];
        assert!((0..nodes).all(|node| grid.neighbours(node).len() == 4));
        // On a ring of even length it is a quarter of it on average, itself included; a grid has two.
        let expected = (side / 2 * nodes) as f64 / (nodes - 1) as f64;
        assert!((grid.path_length().expect("one piece") - expected).abs() < 1e-9);
        // A triangle, and two links of each newcomer.
        let links = 3 + 2 * (nodes - 3);
        assert_eq!(all[SCALE_FREE].degree(), 2.0 * links as f64 / nodes as f64);
        assert!((0..nodes).all(|node| all[SCALE_FREE].neighbours(node).len() >= 2));
        assert_eq!(all[SMALL_WORLD].degree(), 12.0);
        assert_eq!(all[RANDOM].degree(), 13.0);
    }
    let hub = |topology: &Topology| (0..1024).map(|it| topology.neighbours(it).len()).max();
    let large = topologies(32, 1);
    assert!(hub(&large[SCALE_FREE]) > hub(&large[RANDOM]));
    let few = Topology::of_case_study(RANDOM, 5, &mut Draws::new(1));
    assert_eq!(few, Err(TopologyError::TooFew { side: 5 }));
    let unknown = Topology::of_case_study(4, 6, &mut Draws::new(1));
    assert_eq!(unknown, Err(TopologyError::Unknown { size: 4 }));
}

#[test]
fn paths_are_short_where_links_lead_anywhere() {
    let all = topologies(32, 1);
    let path = |size: usize| all[size].path_length().expect("one piece");
    assert!(path(REGULAR) > 16.0);
    assert!([SCALE_FREE, SMALL_WORLD].into_iter().all(|it| path(it) < path(REGULAR) / 3.0));
    assert!(path(RANDOM) < path(SMALL_WORLD) && path(RANDOM) < path(SCALE_FREE));
}

#[test]
fn both_models_get_better_and_work_as_much() {
    let topologies = topologies(6, 1);
    let reference = front(21);
    let islands = Islands { topologies: &topologies, reference: &reference };
    let application = application([4; 4]);
    let cores = [0, 0, 4, 4].map(|kind| Core { kind, site: CLUSTERS[kind].site });
    let merge = Merge { transfer: Span::from_secs(1), transfers: 2, fixed: Span::ZERO };
    let synchronous = application.synchronous(&cores, merge, false).expect("cores");
    let asynchronous = application.asynchronous(&cores, Span::ZERO).expect("cores");
    let run = |seed| {
        let one = islands.synchronous(&synchronous, merge.time(&cores), &mut Draws::new(seed));
        [one, islands.asynchronous(&asynchronous, &mut Draws::new(seed))]
    };
    let courses = run(1);
    for (course, run_time) in courses.iter().zip([synchronous.run_time, asynchronous.run_time]) {
        assert_eq!(course.evaluations, 16 * 200 * 36);
        let tick = Span::TICK;
        assert_eq!(course.at(run_time), course.last());
        assert!(course.at(run_time - tick) >= course.last());
        assert!(course.last() < 0.8 * course.at(Span::ZERO), "{course:?}");
        assert!(course.last() > 0.0);
        let ever = Vec::from_iter((0..=200).map(|part| course.at(Span::from_secs(part))));
        assert!(ever.is_sorted_by(|before, after| before >= after));
    }
    // They begin with the same individuals, and nothing is known before the first process has ended.
    assert_eq!(courses[0].at(Span::ZERO), courses[1].at(Span::ZERO));
    let first = synchronous.stages[0].iter().map(|process| process.end).max().expect("a stage");
    assert_eq!(courses[0].at(first + Span::from_secs(1)), courses[0].at(Span::ZERO));
    assert_ne!(courses[0].at(first + Span::from_secs(2)), courses[0].at(Span::ZERO));
    assert_eq!(run(1), courses);
    assert_ne!(run(2), courses);
}

/// 3.56, and the same bits on every machine: all that it computes is portable.
#[test]
fn a_run_to_the_last_bit() {
    let topologies = topologies(6, 1);
    let reference = front(21);
    let islands = Islands { topologies: &topologies, reference: &reference };
    let cores = [Core { kind: 0, site: 0 }; 2];
    let map = application([1; 4]).asynchronous(&cores, Span::ZERO).expect("cores");
    let course = islands.asynchronous(&map, &mut Draws::new(1));
    assert_eq!(course.last().to_bits(), 4_615_201_829_267_139_378);
}
