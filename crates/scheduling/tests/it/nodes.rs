//! Queues on nodes: against a search node by node, against queues that count processors, and by hand.

use std::collections::BTreeMap;

use haggle_model::{Amounts, Demand, NodeGroup, Nodes, Span, Time};
use haggle_scheduling::site::{OnPreemption, Owner};
use haggle_scheduling::{
    Compression, Killed, LocalScheduler, NodesConfig, Order, Placing, Policy, Request,
    SchedulerConfig, Scheduling, Slot,
};
use proptest::prelude::*;

use crate::obvious::Obvious;
use crate::obvious_nodes::ObviousNodes;
use crate::replay::{TestJob, replay};

pub(crate) fn config(policy: Policy, compression: Compression) -> SchedulerConfig {
    SchedulerConfig { policy, order: Order::Arrival, compression, depth: None, window: None }
}

fn configs() -> Vec<SchedulerConfig> {
    let conservative = Compression::ALL.map(|it| config(Policy::Conservative, it));
    let others = [Policy::Fcfs, Policy::Easy].map(|it| config(it, Compression::None));
    others.into_iter().chain(conservative).collect()
}

/// Conservative backfilling of which some jobs have no reservations.
pub(crate) fn partly() -> Vec<SchedulerConfig> {
    let of = |(depth, window): (Option<u32>, Option<i64>)| SchedulerConfig {
        depth,
        window: window.map(Span::from_secs),
        ..config(Policy::Conservative, Compression::Replan)
    };
    [(Some(2), None), (None, Some(15)), (Some(1), Some(20)), (None, Some(0))].map(of).to_vec()
}

pub(crate) fn groups(groups: &[(u32, Amounts)]) -> Nodes {
    let group = |&(count, capacity): &(u32, Amounts)| NodeGroup { count, capacity };
    Nodes::new(&Vec::from_iter(groups.iter().map(group)))
}

pub(crate) fn amounts(processors: u32, gpus: u32, memory: u64) -> Amounts {
    Amounts { processors, gpus, memory }
}

/// A job of a test, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) submit: i64,
    pub(crate) requested: i64,
    pub(crate) run: i64,
    pub(crate) demand: Demand,
    pub(crate) owner: Owner,
}

/// (node, fails at, back after, processors).
pub(crate) type Failure = (u32, i64, i64, u32);

/// Three kinds of nodes.
fn site() -> Nodes {
    groups(&[(2, amounts(4, 0, 8)), (1, amounts(4, 2, 8)), (1, amounts(8, 0, 32))])
}

fn demands() -> impl Strategy<Value = Demand> {
    let chunk = (1..=4_u32, prop_oneof![4 => Just(0_u32), 1 => Just(1)], 0..=4_u64);
    let shape = (1..=6_u32, any::<bool>(), prop_oneof![4 => Just(false), 1 => Just(true)]);
    (chunk, shape).prop_filter_map("it never fits", |((processors, gpus, memory), shape)| {
        let (chunks, apart, exclusive) = shape;
        let demand = Demand { chunks, chunk: amounts(processors, gpus, memory), apart, exclusive };
        site().lacks(&demand).is_none().then_some(demand)
    })
}

fn works() -> impl Strategy<Value = Vec<Work>> {
    let job = (0..8_i64, 1..=20_i64, 1..=100_i64, demands());
    prop::collection::vec(job, 1..30).prop_map(|drawn| {
        let mut submit = 0;
        let job = |(gap, requested, percent, demand): (i64, i64, i64, Demand)| {
            submit += gap;
            let (run, owner) = ((requested * percent / 100).max(1), Owner::UNKNOWN);
            Work { submit, requested, run, demand, owner }
        };
        drawn.into_iter().map(job).collect()
    })
}

pub(crate) fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let failure = (0..4_u32, 0..60_i64, 1..20_i64, 1..=4_u32);
    // At most one failure of each node, so that no processor fails twice.
    prop::collection::vec(failure, 0..4).prop_map(|mut all| {
        all.sort();
        all.dedup_by_key(|it| it.0);
        all
    })
}

/// A start: its second, the job, its nodes and processors, and its priority.
type Start = (i64, usize, Vec<(u32, u32)>, Option<u32>);

/// All starts, with the promised ends of all jobs.
pub(crate) type Log = (Vec<Start>, Vec<Option<Time>>);

/// Runs jobs second by second: ends, failures and repairs, submissions, passes until no more jobs are stopped for others.
pub(crate) fn run(queue: &mut dyn LocalScheduler, works: &[Work], failures: &[Failure]) -> Log {
    let (mut log, mut promises) = (Vec::new(), Vec::new());
    // (end, planned end, job)
    let mut running: Vec<(i64, i64, usize)> = Vec::new();
    // Running jobs that are stopped for others at their end.
    let mut stopped: BTreeMap<usize, OnPreemption> = BTreeMap::new();
    let (mut started, mut next, mut done, mut second) = (Vec::new(), 0, 0, 0);
    while done < works.len() {
        assert!(second < 3_000, "all jobs end");
        let now = Time::from_secs(second);
        for &(_, end, job) in running.iter().filter(|it| it.0 == second) {
            match stopped.remove(&job) {
                Some(then) => done += stop(queue, now, (job, end), &works[job], then),
                None => {
                    queue.finished(now, Slot(job as u32));
                    done += 1;
                }
            }
        }
        running.retain(|it| it.0 != second);
        let back = failures.iter().filter(|it| it.1 + it.2 == second);
        let back = Vec::from_iter(back.map(|it| (it.0, it.3)));
        if !back.is_empty() {
            queue.nodes().restored_on(now, &back);
        }
        let lost =
            Vec::from_iter(failures.iter().filter(|it| it.1 == second).map(|it| (it.0, it.3)));
        if !lost.is_empty() {
            // All jobs on the node are killed, so that its processors are idle.
            let is_hit = |&&(_, _, job): &&(i64, i64, usize)| {
                let places = queue.nodes().places(Slot(job as u32));
                places.iter().any(|place| lost.iter().any(|it| it.0 == place.0))
            };
            let hit = Vec::from_iter(running.iter().filter(is_hit).copied());
            running.retain(|it| !hit.contains(it));
            let killed = |&(_, end, job): &(i64, i64, usize)| {
                let (slot, planned_end) = (Slot(job as u32), Time::from_secs(end));
                Killed { slot, processors: 0, planned_end }
            };
            let killed = Vec::from_iter(hit.iter().map(killed));
            queue.nodes().failed_on(now, &lost, &killed);
            for &(_, _, job) in &hit {
                stopped.remove(&job);
                submit(queue, now, job, &works[job], true);
            }
        }
        while let Some(work) = works.get(next).filter(|it| it.submit == second) {
            let is_accepted = queue.nodes().accept(now, &request(next, work)).is_ok();
            promises.push(match is_accepted {
                true => submit(queue, now, next, work, false),
                false => Some(Time::PAST),
            });
            done += usize::from(!is_accepted);
            next += 1;
        }
        loop {
            let mut preempted = Vec::new();
            loop {
                let more = queue.nodes().preempt(now);
                if more.is_empty() {
                    break;
                }
                preempted.extend(more);
            }
            queue.start_due(now, &mut started);
            for slot in started.drain(..) {
                let job = slot.index();
                let priority = queue.nodes().priority(slot).map(|it| it.sum);
                log.push((second, job, queue.nodes().places(slot), priority));
                running.push((second + works[job].run, second + works[job].requested, job));
            }
            let mut is_over = true;
            for it in preempted {
                let (job, end) = (it.slot.index(), it.end.as_micros() / 1_000_000);
                let place = running.iter().position(|it| it.2 == job).expect("it runs");
                if end <= second {
                    is_over = false;
                    let (_, planned_end, _) = running.remove(place);
                    done += stop(queue, now, (job, planned_end), &works[job], it.then);
                } else if end < running[place].0 {
                    running[place].0 = end;
                    stopped.insert(job, it.then);
                }
            }
            if is_over {
                break;
            }
        }
        second += 1;
    }
    assert_eq!(queue.queue_length(), 0);
    (log, promises)
}

/// A job is stopped for another one; returns the number of jobs that are over.
fn stop(
    queue: &mut dyn LocalScheduler,
    now: Time,
    (job, planned_end): (usize, i64),
    work: &Work,
    then: OnPreemption,
) -> usize {
    let (slot, planned_end) = (Slot(job as u32), Time::from_secs(planned_end));
    queue.nodes().failed_on(now, &[], &[Killed { slot, processors: 0, planned_end }]);
    if then == OnPreemption::Cancel {
        return 1;
    }
    submit(queue, now, job, work, false);
    0
}

fn submit(
    queue: &mut dyn LocalScheduler,
    now: Time,
    job: usize,
    work: &Work,
    ahead: bool,
) -> Option<Time> {
    queue.submit(now, Request { ahead, ..request(job, work) })
}

fn request(job: usize, work: &Work) -> Request {
    let (slot, span) = (Slot(job as u32), Some(Span::from_secs(work.requested)));
    let (demand, processors) = (Some(work.demand), work.demand.total().processors);
    Request { demand, owner: work.owner, ..Request::new(slot, processors, span) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn jobs_start_where_a_search_node_by_node_puts_them(works in works(), failures in failures()) {
        for placing in Placing::ALL {
            for queue in configs().into_iter().chain(partly()) {
                let config = NodesConfig { nodes: Some(site()), placing, queue, site: None };
                let mut fast = Scheduling::Nodes(Box::new(config.clone())).build(20);
                let fast = run(&mut **fast, &works, &failures);
                let expected = run(&mut ObviousNodes::new(&config), &works, &failures);
                prop_assert_eq!(fast, expected, "{} {}", queue, placing.name());
            }
        }
    }

    #[test]
    fn one_node_is_a_machine_of_processors(works in works()) {
        let jobs = works.iter().map(|it| {
            let processors = it.demand.total().processors.min(8);
            TestJob::new(it.submit, it.requested, it.run, processors)
        });
        let jobs = Vec::from_iter(jobs);
        let nodes = groups(&[(1, Amounts::processors(8))]);
        for order in Order::ALL {
            for queue in configs() {
                for depth in [None, Some(2)].into_iter().take(1 + usize::from(queue.policy == Policy::Easy)) {
                    let queue = SchedulerConfig { order, depth, ..queue };
                    let (nodes, placing) = (Some(nodes.clone()), Placing::Packed);
                    let config = NodesConfig { nodes, placing, queue, site: None };
                    let mut fast = Scheduling::Nodes(Box::new(config)).build(8);
                    let obvious = Obvious::new(8, queue.policy, order, queue.compression);
                    let mut obvious = obvious.with_depth(depth.map_or(usize::MAX, |it| it as usize));
                    let expected = replay(&mut obvious, 8, &jobs);
                    prop_assert_eq!(replay(&mut **fast, 8, &jobs), expected, "{}", queue);
                }
            }
        }
    }

    #[test]
    fn no_promise_is_broken_without_failures(works in works()) {
        for compression in [Compression::ByStart, Compression::JobByJob, Compression::None] {
            let queue = config(Policy::Conservative, compression);
            let (nodes, placing) = (Some(site()), Placing::Packed);
            let config = NodesConfig { nodes, placing, queue, site: None };
            let (log, promises) = run(&mut **Scheduling::Nodes(Box::new(config)).build(20), &works, &[]);
            for (start, job, ..) in log {
                let end = Time::from_secs(start + works[job].run);
                prop_assert!(Some(end) <= promises[job], "job {} ends at {}", job, end);
            }
        }
    }
}

/// Two nodes of 4 processors and 8 units of memory. The second job has processors, but no memory.
#[test]
fn a_job_waits_for_memory_and_another_passes_it() {
    let work = |submit, requested, processors, memory, chunks| Work {
        submit,
        requested,
        run: requested,
        demand: Demand {
            chunks,
            chunk: amounts(processors, 0, memory),
            apart: false,
            exclusive: false,
        },
        owner: Owner::UNKNOWN,
    };
    let works =
        [work(0, 10, 1, 6, 2), work(1, 5, 1, 4, 1), work(2, 8, 1, 1, 4), work(3, 9, 2, 2, 1)];
    let starts = |policy| {
        let queue = config(policy, Compression::ByStart);
        let (nodes, placing) = (Some(groups(&[(2, amounts(4, 0, 8))])), Placing::Packed);
        let config = NodesConfig { nodes, placing, queue, site: None };
        let (mut log, _) = run(&mut **Scheduling::Nodes(Box::new(config)).build(8), &works, &[]);
        log.sort_by_key(|start| start.1);
        log.into_iter().map(|(start, ..)| start).collect::<Vec<_>>()
    };
    assert_eq!(starts(Policy::Fcfs), [0, 10, 10, 10]);
    // The third job takes the last memory until 10, when the second one is planned to start.
    assert_eq!(starts(Policy::Easy), [0, 10, 2, 10]);
    assert_eq!(starts(Policy::Conservative), [0, 10, 2, 10]);
}
