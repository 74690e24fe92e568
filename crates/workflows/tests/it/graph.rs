//! The graph: its answers and its errors, and that size does not break it.

use std::collections::BTreeSet;

use haggle_testing::secs;
use haggle_workflows::{Builder, GraphError, Task, TaskId, Workflow};
use proptest::prelude::*;

/// Tasks named by their numbers.
fn graph(work: &[i64], edges: &[(u32, u32, u64)]) -> Result<Workflow, GraphError> {
    let mut builder = Builder::new("test");
    for (number, &work) in work.iter().enumerate() {
        builder.task(Task::new(number.to_string(), secs(work)))?;
    }
    for &(parent, child, bytes) in edges {
        builder.edge(TaskId(parent), TaskId(child), bytes)?;
    }
    builder.build()
}

fn numbers(tasks: &[TaskId]) -> Vec<u32> {
    tasks.iter().map(|task| task.0).collect()
}

/// The example of section 5.4.1 of Chtepen (2011).
#[test]
fn parent_sets_of_the_published_example() {
    let rows: &[(&[u32], &[u32])] = &[
        (&[0], &[1, 2, 3, 4]),
        (&[1], &[5, 6, 7, 8]),
        (&[2, 3, 4], &[9]),
        (&[4], &[10, 11]),
        (&[6, 7, 8], &[12]),
        (&[9, 10], &[13, 14]),
        (&[11], &[15]),
        (&[5, 12, 13, 14, 15], &[16]),
    ];
    let pairs = |(parents, children): &(&'static [u32], &'static [u32])| {
        let (parents, children) = (*parents, *children);
        parents
            .iter()
            .flat_map(move |&parent| children.iter().map(move |&child| (parent, child, 0)))
    };
    let edges: Vec<_> = rows.iter().flat_map(pairs).collect();
    let workflow = graph(&[1; 17], &edges).expect("a workflow");
    assert_eq!((workflow.tasks().len(), workflow.edge_count()), (17, 26));
    assert_eq!(workflow.levels().len(), 5);
    let sets = workflow.parent_sets();
    let found: Vec<_> =
        sets.iter().map(|(members, children)| (numbers(members), numbers(children))).collect();
    let expected: Vec<_> =
        rows.iter().map(|(members, children)| (members.to_vec(), children.to_vec())).collect();
    assert_eq!(found, expected);
    assert_eq!((sets.len(), sets.of(TaskId(0)), sets.of(TaskId(14))), (8, None, Some(5)));
}

#[test]
fn a_diamond_with_a_shortcut() {
    let edges = [(0, 1, 10), (0, 2, 20), (1, 3, 5), (2, 3, 5), (0, 3, 1)];
    let workflow = graph(&[3, 5, 2, 1], &edges).expect("a workflow");
    let levels: Vec<_> = workflow.levels().map(numbers).collect();
    assert_eq!(levels, [vec![0], vec![1, 2], vec![3]]);
    assert_eq!(workflow.width(), 2);
    assert_eq!(numbers(&workflow.roots().collect::<Vec<_>>()), [0]);
    assert_eq!(numbers(&workflow.finals().collect::<Vec<_>>()), [3]);
    let path = workflow.critical_path_by_work();
    assert_eq!((numbers(&path.tasks), path.length), (vec![0, 1, 3], secs(9)));
    // A second a byte: the other way is longer now.
    let work = |task| workflow.task(task).work;
    let path = workflow.critical_path(work, |bytes| secs(bytes as i64));
    assert_eq!((numbers(&path.tasks), path.length), (vec![0, 2, 3], secs(31)));
    assert_eq!(workflow.average_parallelism(), 11.0 / 9.0);
    assert_eq!((workflow.work(), workflow.edge_bytes()), (secs(11), 41));
}

#[test]
fn what_is_no_workflow_is_refused() {
    let message = |work: &[i64], edges: &[(u32, u32, u64)]| {
        graph(work, edges).expect_err("it is no workflow").to_string()
    };
    assert_eq!(message(&[], &[]), "no task; a workflow has at least one");
    assert_eq!(message(&[1, -1], &[]), "task \"1\": work is negative");
    assert_eq!(message(&[1], &[(0, 1, 0)]), "there is no task 1");
    assert_eq!(message(&[1], &[(0, 0, 0)]), "task \"0\" is its own parent");
    assert_eq!(
        message(&[1, 1], &[(0, 1, 0), (0, 1, 4)]),
        "there are two edges from \"0\" to \"1\"; give one, with the sum of bytes"
    );
    // 0 leads into the cycle, and 4 out of it.
    let cycle = [(0, 2, 0), (2, 3, 0), (3, 1, 0), (1, 2, 0), (1, 4, 0)];
    assert_eq!(
        message(&[1; 5], &cycle),
        "cycle: \"1\" -> \"2\" -> \"3\" -> \"1\"; remove one of these edges"
    );
    let ring: Vec<_> = (0..20).map(|task| (task, (task + 1) % 20, 0)).collect();
    assert_eq!(
        message(&[1; 20], &ring),
        "cycle: \"0\" -> \"1\" -> \"2\" -> \"3\" -> \"4\" -> \"5\" -> \"6\" -> \"7\" -> \
         12 more tasks -> \"0\"; remove one of these edges"
    );
    let years = 73_000 * 365 * 86_400;
    assert_eq!(
        message(&[years / 2, years / 2, years / 2], &[]),
        "task \"2\": with it, the workflow has more work than 73,000 years"
    );
    assert_eq!(
        message(&[1, 1], &[(0, 1, u64::MAX)]),
        "task \"1\": with it, the workflow has more data than 4.6e18 bytes"
    );
    let mut builder = Builder::new("test");
    let task = Task { processors: 0, ..Task::new("a", secs(1)) };
    let error = builder.task(task).expect_err("it has no processor").to_string();
    assert_eq!(error, "task \"a\" needs no processor; at least 1 is expected");
    builder.task(Task::new("a", secs(1))).expect("a task");
    let error = builder.task(Task::new("a", secs(2))).expect_err("it is there").to_string();
    assert_eq!(error, "task \"a\" exists already; names are unique");
}

/// A chain, and as many levels of a hundred tasks: neither depth nor size uses the stack.
#[test]
fn a_million_tasks() {
    let chain: Vec<_> = (1..1_000_000).map(|task| (task - 1, task, 1)).collect();
    let chain = graph(&vec![1; 1_000_000], &chain).expect("a workflow");
    assert_eq!(chain.levels().len(), 1_000_000);
    assert_eq!(chain.critical_path_by_work().length, secs(1_000_000));
    assert_eq!(chain.parent_sets().len(), 999_999);
    // Of the level above: the task at its place, and the last one.
    let parents = |task: u32| BTreeSet::from([task - 100, task / 100 * 100 - 1]);
    let wide: Vec<_> = (100..1_000_000)
        .flat_map(|task| parents(task).into_iter().map(move |parent| (parent, task, 1)))
        .collect();
    let wide = graph(&vec![1; 1_000_000], &wide).expect("a workflow");
    assert_eq!((wide.levels().len(), wide.width()), (10_000, 100));
    let mut ring: Vec<_> = (1..1_000_000).map(|task| (task - 1, task, 1)).collect();
    ring.push((999_999, 0, 1));
    let error = graph(&vec![1; 1_000_000], &ring).expect_err("it is a ring");
    assert!(matches!(error, GraphError::Cycle { tasks } if tasks.len() == 1_000_000));
}

/// Edges in any direction among a few tasks.
fn edges() -> impl Strategy<Value = (usize, BTreeSet<(u32, u32)>)> {
    (2_u32..12).prop_flat_map(|tasks| {
        let ends = (0..tasks, 0..tasks).prop_filter("no self edge", |(from, to)| from != to);
        (Just(tasks as usize), proptest::collection::btree_set(ends, 0..16))
    })
}

proptest! {
    /// Levels, cycles and neighbours as a closure over all paths gives them.
    #[test]
    fn as_a_closure_says((tasks, edges) in edges()) {
        let mut reaches = vec![vec![false; tasks]; tasks];
        for &(from, to) in &edges {
            reaches[from as usize][to as usize] = true;
        }
        for middle in 0..tasks {
            for from in 0..tasks {
                for to in 0..tasks {
                    reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
                }
            }
        }
        let listed: Vec<_> = edges.iter().map(|&(from, to)| (from, to, 0)).collect();
        let built = graph(&vec![1; tasks], &listed);
        if (0..tasks).any(|task| reaches[task][task]) {
            let Err(GraphError::Cycle { tasks }) = built else { panic!("there is a cycle") };
            let number = |name: &str| name.parse::<u32>().expect("a number");
            for place in 0..tasks.len() {
                let [from, to] = [place, (place + 1) % tasks.len()].map(|at| number(&tasks[at]));
                prop_assert!(edges.contains(&(from, to)));
            }
            return Ok(());
        }
        let workflow = built.expect("a workflow");
        let found: BTreeSet<_> = workflow.edges().map(|edge| (edge.parent.0, edge.child.0)).collect();
        prop_assert_eq!(&found, &edges);
        for child in workflow.ids() {
            let parents: Vec<u32> = edges.iter().filter(|edge| edge.1 == child.0).map(|edge| edge.0).collect();
            prop_assert_eq!(workflow.parents(child).iter().map(|link| link.task.0).collect::<Vec<_>>(), &parents[..]);
            let above = parents.iter().map(|&parent| workflow.level(TaskId(parent)) + 1);
            prop_assert_eq!(workflow.level(child), above.max().unwrap_or(0));
        }
        let longest = workflow.critical_path_by_work();
        prop_assert_eq!(longest.length, secs(workflow.levels().len() as i64));
        prop_assert_eq!(longest.tasks.len(), workflow.levels().len());
    }
}
