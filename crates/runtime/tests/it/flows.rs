//! Tasks of workflows that providers run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use haggle_agents::protocol::{DataMessage, Message};
use haggle_agents::{DataPaths, DataWays, ProviderConfig};
use haggle_model::network::{LinkSharing, Node, Path, Sites};
use haggle_model::workflow::{Input, Need, Transfer, WorkflowTask};
use haggle_model::{ActorId, Disclosure, Job, JobId, JobOutcome, JobRecord, Refusal, Span, Time};
use haggle_runtime::World;
use haggle_scheduling::placement::Placement;
use haggle_scheduling::{MAX_ATTEMPTS, Policy};
use haggle_workflows::ledger::WorkflowId;
use haggle_workflows::{Builder, Task, TaskId};
use proptest::prelude::*;

use crate::failures;
use crate::setup::{Ran, Setup, job};
use crate::trouble::{Trouble, trouble};

/// A task: requested and true time (s), processors, bytes from the storage, and its needs of earlier tasks.
#[derive(Clone, Debug)]
struct Drawn {
    requested: i64,
    run: i64,
    processors: u32,
    stored: u64,
    parents: Vec<(u32, u64)>,
}

/// A task whose run time is its requested time.
fn task(run: i64, processors: u32, stored: u64, parents: &[(u32, u64)]) -> Drawn {
    Drawn { requested: run, run, processors, stored, parents: parents.to_vec() }
}

/// Jobs of the workflows of one workload, numbered from `first`; their graphs are added to the setup. Each workflow
/// has a submission time and tasks.
fn submitted(
    setup: &mut Setup,
    workload: u16,
    first: i64,
    flows: &[(i64, Vec<Drawn>)],
) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (workflow, (submit, tasks)) in (0..).zip(flows) {
        let mut builder = Builder::new(workflow.to_string());
        for (number, drawn) in tasks.iter().enumerate() {
            let work = Span::from_secs(drawn.run);
            let id = builder.task(Task::new(number.to_string(), work)).expect("a task");
            for &(parent, bytes) in &drawn.parents {
                builder.edge(TaskId(parent), id, bytes).expect("an edge");
            }
        }
        let graph = Arc::new(builder.build().expect("no cycle"));
        for (number, drawn) in (0..).zip(tasks) {
            let links = graph.parents(TaskId(number)).iter();
            let made = links.map(|link| Need { made_by: Some(link.task.0), bytes: link.bytes });
            let stored = Need { made_by: None, bytes: drawn.stored };
            let needs = made.chain((drawn.stored > 0).then_some(stored)).collect();
            let task = WorkflowTask { workflow, task: number, data: None, progress: None, needs };
            let at = first + jobs.len() as i64;
            let job = job(at, *submit, drawn.requested, drawn.run, drawn.processors);
            jobs.push(Job { workload, task: Some(Arc::new(task)), ..job });
        }
        setup.workflows.insert(WorkflowId { workload, number: workflow }, graph);
    }
    jobs
}

/// 10 MB a second, after a latency of one second.
fn paths() -> DataWays {
    DataWays::Apart(DataPaths::new(Path::constant(80e6, Span::from_secs(1)).expect("a path")))
}

const MB: u64 = 1_000_000;

/// The first so many actors and a storage as sites, each with 10 MB a second, one second from each other.
pub(crate) fn sites(count: u32) -> Sites {
    let nodes = (0..count).map(|it| Node::Site(ActorId(it))).chain([Node::Store(0)]);
    Sites::new(nodes, 80e6, Span::from_secs(1)).expect("good links")
}

/// Providers of four processors that are used in turn, between which data share links.
pub(crate) fn shared(providers: u32) -> Setup {
    let add = |setup: Setup, _| setup.provider(4, Policy::Easy);
    let mut setup = (0..providers).fold(Setup::default(), add).metascheduler(Placement::RoundRobin);
    setup.sites = Some((sites(providers + 1), LinkSharing::MaxMin));
    setup
}

/// Workflows whose data share links; some of them are withdrawn.
pub(crate) fn contending() -> World {
    let mut setup = shared(2);
    let tasks = || {
        let (first, second) = (task(10, 2, 10 * MB, &[]), task(20, 4, 0, &[(0, 100 * MB)]));
        vec![first, second, task(5, 1, 0, &[(0, 50 * MB)]), task(7, 3, 0, &[(1, 0), (2, 25 * MB)])]
    };
    let flows = Vec::from_iter((0..6).map(|it| (4 * it, tasks())));
    let jobs = submitted(&mut setup, 0, 1, &flows);
    setup.user_with_patience(2, Some(Span::from_secs(60)), jobs).world()
}

/// Times at which each input of a job was sent and had arrived, s.
fn arrivals(ran: &Ran, job: u32) -> Vec<(f64, Option<f64>)> {
    let seconds = |time: Time| time.as_micros() as f64 / 1e6;
    let moved = ran.inputs[&JobId(job)].1.inputs.iter().filter_map(|it| it.moved);
    moved.map(|it| (seconds(it.sent), it.arrived.map(seconds))).collect()
}

/// Four tasks in turn on two providers.
fn diamond(tasks: Vec<Drawn>) -> Setup {
    let mut setup = Setup::default()
        .provider(4, Policy::Easy)
        .provider(4, Policy::Fcfs)
        .metascheduler(Placement::RoundRobin);
    setup.ways = paths();
    let jobs = submitted(&mut setup, 0, 1, &[(0, tasks)]);
    setup.user(2, jobs)
}

fn times(ran: &Ran) -> Vec<(Option<f64>, f64)> {
    let mut records: Vec<&JobRecord> = ran.records.iter().collect();
    records.sort_by_key(|record| record.job.number);
    let seconds = |time: Time| time.as_micros() as f64 / 1e6;
    records.iter().map(|it| (it.start.map(seconds), seconds(it.end))).collect()
}

/// The first task has its input from the storage after 1 + 1 s, and runs on the first provider. The second waits 1 +
/// 10 s for its data, and the third runs where its data are. The last one needs the second, but no data of it; its
/// data on the other provider take 1 + 2.5 s from the end of the second.
#[test]
fn a_diamond_on_two_providers() {
    let setup = diamond(vec![
        task(10, 2, 10 * MB, &[]),
        task(20, 4, 0, &[(0, 100 * MB)]),
        task(5, 1, 0, &[(0, 50 * MB)]),
        task(7, 3, 0, &[(1, 0), (2, 25 * MB)]),
    ]);
    let ran = setup.run_on_both();
    let expected = [(2.0, 12.0), (23.0, 43.0), (12.0, 17.0), (46.5, 53.5)];
    assert_eq!(times(&ran), expected.map(|(start, end)| (Some(start), end)));
    assert_eq!(ran.providers(), [Some(0), Some(1), Some(0), Some(1)]);
    let ready: Vec<_> = ran.records.iter().map(|it| (it.job.number, it.job.ready)).collect();
    let at = |seconds| Some(Time::from_secs(seconds));
    assert_eq!(ready, [(1, None), (3, at(12)), (2, at(12)), (4, at(43))]);
    let moved = ran.inputs.values().map(|(_, staged)| staged.bytes_moved() / MB);
    assert_eq!(Vec::from_iter(moved), [10, 100, 0, 25]);
}

/// The same on one provider, to which its user submits: nothing moves.
#[test]
fn a_diamond_on_one_provider() {
    for policy in Policy::ALL {
        let mut setup = Setup::default().provider(4, policy);
        let tasks = vec![
            task(10, 2, 10 * MB, &[]),
            task(20, 4, 0, &[(0, 100 * MB)]),
            task(5, 1, 0, &[(0, 50 * MB)]),
            task(7, 3, 0, &[(1, 0), (2, 25 * MB)]),
        ];
        let jobs = submitted(&mut setup, 0, 1, &[(0, tasks)]);
        setup.ways = paths();
        let ran = setup.user(0, jobs).run_on_both();
        let expected = [(0.0, 10.0), (10.0, 30.0), (30.0, 35.0), (35.0, 42.0)];
        assert_eq!(times(&ran), expected.map(|(start, end)| (Some(start), end)), "{policy:?}");
        assert_eq!(ran.inputs.len(), 4);
        assert!(ran.inputs.values().all(|(_, staged)| staged.bytes_moved() == 0));
    }
}

/// If a task does not complete, the tasks that need it are never submitted.
#[test]
fn what_comes_to_nothing_bars_all_that_need_it() {
    let barred = JobOutcome::Rejected(Refusal::ParentFailed);
    let chain = |second: Drawn| {
        let first = task(10, 1, 0, &[]);
        let others = [task(5, 1, 0, &[(0, 0)]), task(5, 1, 0, &[(1, 0)]), task(5, 1, 0, &[(3, 0)])];
        let [beside, third, fourth] = others;
        diamond(vec![first, second, beside, third, fourth]).run_on_both()
    };
    let killed = Drawn { requested: 3, ..task(9, 1, 0, &[(0, 0)]) };
    for (second, outcome) in [
        (killed, JobOutcome::WalltimeReached),
        (task(5, 5, 0, &[(0, 0)]), JobOutcome::Rejected(Refusal::NoProvider)),
    ] {
        let ran = chain(second);
        let done = JobOutcome::Completed;
        assert_eq!(ran.outcomes(), [done, outcome, done, barred, barred]);
        let over = |number| ran.records.iter().find(|it| it.job.number == number).map(|it| it.end);
        assert_eq!(over(4), over(5));
        assert_eq!(over(4), over(2));
    }
}

/// A task that is withdrawn while its data are under way is never submitted to a provider. Inputs that have not
/// arrived by then, or by the end of the run, never arrive. The input of 20 MB arrives at 10 + 1
/// + 2 s; that of 100 MB would arrive at 10 + 1 + 10 s.
#[test]
fn a_task_may_be_withdrawn_while_its_data_are_on_their_way() {
    let ran_for = |horizon: Option<i64>, patience: Option<i64>| {
        let mut setup = Setup::default()
            .provider(4, Policy::Easy)
            .provider(4, Policy::Fcfs)
            .metascheduler(Placement::RoundRobin);
        setup.ways = paths();
        setup.horizon = horizon.map(Time::from_secs);
        let needs = task(5, 1, 20 * MB, &[(0, 100 * MB)]);
        let jobs = vec![task(10, 1, 0, &[]), needs, task(5, 1, 0, &[(1, 0)])];
        let jobs = submitted(&mut setup, 0, 1, &[(0, jobs)]);
        setup.user_with_patience(2, patience.map(Span::from_secs), jobs).run_on_both()
    };
    let ran = ran_for(None, Some(4));
    let barred = JobOutcome::Rejected(Refusal::ParentFailed);
    assert_eq!(ran.outcomes(), [JobOutcome::Completed, JobOutcome::Cancelled, barred]);
    assert_eq!(times(&ran), [(Some(0.0), 10.0), (None, 14.0), (None, 14.0)]);
    for ran in [ran, ran_for(Some(14), None)] {
        let (at, staged) = &ran.inputs[&JobId(1)];
        let arrived = |input: &Input| (input.need.made_by, input.arrived());
        assert_eq!(*at, Time::from_secs(14));
        assert_eq!(
            Vec::from_iter(staged.inputs.iter().map(arrived)),
            [(Some(0), None), (None, Some(Time::from_secs(13)))]
        );
        assert_eq!((ran.inputs.len(), staged.bytes_moved()), (1, 20 * MB));
    }
}

/// A provider that expects a task when the run ends records nothing of it, because its broker has not reported yet
/// which inputs have arrived. The task is recorded once, after its inputs: 20 MB have arrived, 100 MB have not.
#[test]
fn a_task_whose_data_are_on_their_way_at_the_end_is_over_after_its_inputs() {
    for sharing in [None, Some(LinkSharing::MaxMin)] {
        let mut setup = Setup::default()
            .provider(4, Policy::Easy)
            .provider(4, Policy::Fcfs)
            .metascheduler(Placement::RoundRobin);
        setup.ways = paths();
        setup.sites = sharing.map(|sharing| (sites(3), sharing));
        setup.horizon = Some(Time::from_secs(16));
        let tasks = vec![task(10, 1, 0, &[]), task(5, 1, 20 * MB, &[(0, 100 * MB)])];
        let jobs = submitted(&mut setup, 0, 1, &[(0, tasks)]);
        let ran = setup.user(2, jobs).run_on_both();
        assert_eq!(ran.outcomes(), [JobOutcome::Completed, JobOutcome::Unfinished]);
        let inputs = ran.log.find("| 1 has 20000000 at 1").expect("they are told");
        let over = ran.log.find("| 2 unfinished").expect("it is over");
        assert!(inputs < over, "{sharing:?}\n{}", ran.log);
        assert_eq!(ran.inputs[&JobId(1)].1.bytes_moved(), 20 * MB, "{sharing:?}");
    }
}

/// An expected task has been accepted once, and is not accepted again when its data are there.
#[test]
fn a_task_that_is_submitted_ahead_is_accepted_once() {
    let setup = diamond(vec![task(10, 2, 10 * MB, &[])]);
    let ran = setup.run_on_both();
    assert_eq!(times(&ran), [(Some(2.0), 12.0)]);
    let by_provider = ran.log.matches("0>2 accepted 0").count();
    assert_eq!(by_provider, 1, "{}", ran.log);
}

/// Two inputs from the storage go to one provider over the access links of both. From 1 s on each has 5 MB a second.
/// The first, of 10 MB, is there at 3 s, and the second has 10 MB left for 1 s. The third starts at 3.5 s and flows
/// from 4.5 s on, when nothing else does. Alone they would take 2 s, 3 s and 1.1 s.
#[test]
fn transfers_that_share_a_link_slow_each_other() {
    for sharing in LinkSharing::ALL {
        let mut setup = shared(1);
        setup.sites = Some((sites(2), sharing));
        let flows = [(0, vec![task(5, 1, 10 * MB, &[]), task(5, 1, 20 * MB, &[])])];
        let mut jobs = submitted(&mut setup, 0, 1, &flows);
        let late = submitted(&mut setup, 1, 3, &[(5, vec![task(5, 1, MB, &[])])]);
        jobs.extend(late.into_iter().map(|job| Job { workload: 1, ..job }));
        let ran = setup.user(1, jobs).run_on_both();
        assert_eq!(arrivals(&ran, 0), [(0.0, Some(3.0))], "{sharing:?}");
        assert_eq!(arrivals(&ran, 1), [(0.0, Some(4.0))], "{sharing:?}");
        assert_eq!(arrivals(&ran, 2), [(5.0, Some(6.1))], "{sharing:?}");
        let expected = [(3.0, 8.0), (4.0, 9.0), (6.1, 11.1)];
        assert_eq!(times(&ran), expected.map(|(start, end)| (Some(start), end)));
    }
}

/// The same to two providers: the access link of the storage is shared. A separate link between the storage and the
/// second provider is not shared.
#[test]
fn a_link_of_its_own_is_shared_with_nobody_else() {
    let ran = |own: bool| {
        let mut setup = shared(2);
        if own {
            let joined = sites(3).joined(
                Node::Site(ActorId(1)),
                Node::Site(ActorId(2)),
                40e6,
                Span::from_secs(2),
            );
            setup.sites = Some((joined.expect("a good link"), LinkSharing::Literal));
        }
        let flows = [(0, vec![task(5, 1, 10 * MB, &[]), task(5, 1, 20 * MB, &[])])];
        let jobs = submitted(&mut setup, 0, 1, &flows);
        let ran = setup.user(2, jobs).run_on_both();
        assert_eq!(ran.providers(), [Some(0), Some(1)]);
        [0, 1].map(|job| arrivals(&ran, job)[0].1.expect("it came"))
    };
    assert_eq!(ran(false), [3.0, 4.0]);
    assert_eq!(ran(true), [2.0, 6.0]);
}

/// At 2 s the first task is withdrawn, when 5 MB of its data have arrived. The second has 15 MB left and gets the
/// whole link.
#[test]
fn a_task_that_is_withdrawn_leaves_its_link_to_others() {
    let mut setup = shared(1);
    let first = submitted(&mut setup, 0, 1, &[(0, vec![task(5, 1, 10 * MB, &[])])]);
    let second = submitted(&mut setup, 1, 2, &[(0, vec![task(5, 1, 20 * MB, &[])])]);
    let setup = setup.user_with_patience(1, Some(Span::from_secs(2)), first).user(1, second);
    let ran = setup.run_on_both();
    assert_eq!(ran.outcomes(), [JobOutcome::Cancelled, JobOutcome::Completed]);
    assert_eq!(arrivals(&ran, 0), [(0.0, None)]);
    assert_eq!(arrivals(&ran, 1), [(0.0, Some(3.5))]);
}

/// The actor that places tasks is down from 1 s to 10 s, or until the run ends at 7 s. Data that arrive in the
/// meantime count as arrived then. The actor is notified when it is back.
#[test]
fn what_arrives_while_its_metascheduler_is_down_has_arrived() {
    for (horizon, start) in [(None, Some(10.0)), (Some(7), None)] {
        for recovers in [false, true] {
            let mut setup = shared(1);
            setup.horizon = horizon.map(Time::from_secs);
            setup.trouble = Some(Trouble {
                timeout: 4,
                loss: 0.0,
                duplication: 0.0,
                partitions: Vec::new(),
                crashes: vec![(1, 1, 10)],
                datagram: false,
                recovers,
                seed: 1,
            });
            let jobs = submitted(&mut setup, 0, 1, &[(0, vec![task(5, 1, 10 * MB, &[])])]);
            let ran = setup.user(1, jobs).run_on_both();
            assert_eq!(arrivals(&ran, 0), [(0.0, Some(2.0))]);
            assert_eq!(times(&ran)[0].0, start);
        }
    }
}

/// Tasks of 100 s, each of which needs only 1 MB from the storage, 1.1 s away.
fn fan(setup: &mut Setup, workload: u16, tasks: usize) -> Vec<Job> {
    let flow = (0..tasks).map(|_| task(100, 1, MB, &[])).collect();
    submitted(setup, workload, 1 + 100 * i64::from(workload), &[(0, flow)])
}

/// Two providers of one processor with this policy, which disclose their load.
fn two_of_one(policy: Policy) -> Setup {
    let tells = |provider: &mut ProviderConfig| provider.disclosure = Disclosure::Load;
    let mut setup =
        Setup::default().provider(1, policy).change(tells).provider(1, policy).change(tells);
    setup.ways = paths();
    setup
}

/// Time at which the last job was over, s, and the number of jobs at the first provider.
fn spread(ran: &Ran) -> (f64, usize) {
    let end = times(ran).into_iter().map(|(_, end)| end).fold(0.0, f64::max);
    (end, ran.providers().iter().filter(|it| **it == Some(0)).count())
}

/// Tasks whose data are under way count at the provider that has accepted them, under every policy and for every
/// placement.
#[test]
fn tasks_whose_data_are_on_their_way_count() {
    for (policy, &placement) in
        Policy::ALL.into_iter().flat_map(|policy| Placement::ALL.iter().map(move |it| (policy, it)))
    {
        if placement.draws() {
            continue;
        }
        let mut setup = two_of_one(policy).metascheduler(placement);
        let jobs = fan(&mut setup, 0, 20);
        let ran = setup.user(2, jobs).run_on_both();
        assert_eq!(spread(&ran), (1001.1, 10), "{policy:?}, {placement:?}");
    }
}

/// With shared links, the time at which data arrive is unknown beforehand. 20 MB on a link of 10 MB a second take 3
/// s, and no task of 1 MB has its data before 1.1 s.
#[test]
fn tasks_whose_data_share_links_count() {
    let mut setup = two_of_one(Policy::Easy).metascheduler(Placement::MinimumCompletionTime);
    setup.sites = Some((sites(3), LinkSharing::MaxMin));
    let jobs = fan(&mut setup, 0, 20);
    let ran = setup.user(2, jobs).run_on_both();
    assert_eq!(spread(&ran).1, 10);
}

/// Two brokers know nothing of each other, and both ask at the same instants. An estimate misses at most the one job
/// that the other broker is placing.
#[test]
fn tasks_of_several_brokers_count_while_their_data_are_on_their_way() {
    for latency in [0, 2] {
        let mut setup = two_of_one(Policy::Conservative)
            .metascheduler(Placement::MinimumCompletionTime)
            .metascheduler(Placement::MinimumCompletionTime);
        setup.latency = Span::from_secs(latency);
        let (one, two) = (fan(&mut setup, 0, 20), fan(&mut setup, 1, 20));
        let ran = setup.user(2, one).user(3, two).run_on_both();
        let (_, first) = spread(&ran);
        assert!((19..=21).contains(&first), "{first} of 40");
    }
}

/// A task that is withdrawn while its data are under way no longer counts. The first would have kept the first
/// provider busy until 101.1 s, so the second goes to the other one. The third comes after the first is withdrawn.
#[test]
fn tasks_that_are_withdrawn_count_no_more() {
    let mut setup = two_of_one(Policy::Fcfs).metascheduler(Placement::MinimumCompletionTime);
    let first = submitted(&mut setup, 0, 1, &[(0, vec![task(100, 1, 100 * MB, &[])])]);
    let later = |setup: &mut Setup, workload: u16, at| {
        let flow = (at, vec![task(50, 1, MB, &[])]);
        submitted(setup, workload, 1 + i64::from(workload), &[flow])
    };
    let (second, third) = (later(&mut setup, 1, 1), later(&mut setup, 2, 3));
    let impatient = Some(Span::from_secs(2));
    let ran =
        setup.user_with_patience(2, impatient, first).user(2, second).user(2, third).run_on_both();
    let mut placed: Vec<_> = ran.records.iter().map(|it| (it.job.number, it.provider)).collect();
    placed.sort_by_key(|it| it.0);
    let places = placed.iter().map(|it| it.1.map(|it| it.0));
    assert_eq!(Vec::from_iter(places), [None, Some(1), Some(0)]);
}

/// No data are sent to a provider that refuses the task.
#[test]
fn no_data_go_to_a_provider_that_refuses() {
    let mut setup = Setup::default()
        .provider(2, Policy::Easy)
        .provider(4, Policy::Easy)
        .metascheduler(Placement::RoundRobin);
    setup.ways = paths();
    let jobs = submitted(&mut setup, 0, 1, &[(0, vec![task(5, 3, MB, &[])])]);
    let ran = setup.user(2, jobs).run_on_both();
    assert_eq!(times(&ran), [(Some(1.1), 6.1)]);
    assert_eq!(ran.log.matches("sent").count(), 1, "{}", ran.log);
}

/// Tasks that need up to three earlier ones; some are killed, some are too wide.
fn flow() -> impl Strategy<Value = (i64, Vec<Drawn>)> {
    let bytes = || prop_oneof![Just(0), 1..60 * MB];
    let parents = prop::collection::vec((any::<u32>(), bytes()), 0..4);
    let task = (0..30_i64, 1..=5_u32, bytes(), parents, 0..12_u32).prop_map(
        |(run, processors, stored, parents, kind)| {
            let requested = match kind {
                0 => 0,
                1 => (run / 2).max(1),
                _ => run + 1,
            };
            // Most worlds have only tasks that fit.
            let processors = if kind == 2 { processors } else { processors.min(4) };
            Drawn { requested, run, processors, stored, parents }
        },
    );
    (0..40_i64, prop::collection::vec(task, 1..10)).prop_map(|(submit, mut tasks)| {
        for (number, task) in (0..).zip(&mut tasks) {
            let parents = std::mem::take(&mut task.parents).into_iter().filter(|_| number > 0);
            let earlier = parents.map(|(parent, bytes)| (parent % u32::max(number, 1), bytes));
            task.parents = earlier.collect::<BTreeMap<_, _>>().into_iter().collect();
        }
        (submit, tasks)
    })
}

fn flows() -> impl Strategy<Value = Vec<(i64, Vec<Drawn>)>> {
    let flows = prop::collection::vec(flow(), 0..4);
    flows.prop_map(|mut flows| {
        flows.sort_by_key(|(submit, _)| *submit);
        flows
    })
}

/// Checks that every task that started had all of its inputs where it ran, and in time.
fn assert_inputs_were_there(
    ran: &Ran,
    providers: usize,
    is_shared: bool,
) -> Result<(), TestCaseError> {
    let tasks = ran.records.iter().filter_map(|it| {
        let task = it.job.task.as_ref()?;
        Some(((it.job.workload, task.workflow, task.task), it))
    });
    let tasks: BTreeMap<_, &JobRecord> = tasks.collect();
    for (&(workload, workflow, _), record) in &tasks {
        let task = record.job.task.as_ref().expect("a task");
        let parents = || task.needs.iter().filter_map(|need| need.made_by);
        let parent = |number| tasks[&(workload, workflow, number)];
        let all_done = parents().all(|it| parent(it).outcome == JobOutcome::Completed);
        let barred = record.outcome == JobOutcome::Rejected(Refusal::ParentFailed);
        let unfinished = record.outcome == JobOutcome::Unfinished;
        prop_assert!(unfinished || barred != all_done, "{:?}\n{}", record, ran.log);
        let starts = record.lost.iter().map(|run| run.start).chain(record.start);
        let Some(start) = starts.min() else { continue };
        prop_assert!(all_done, "{:?}\n{}", record, ran.log);
        let provider = record.provider.expect("it ran").0;
        if task.needs.is_empty() {
            continue;
        }
        let (submitted, staged) = &ran.inputs[&record.job.id];
        prop_assert_eq!(staged.at, ActorId(provider));
        let needs = Vec::from_iter(staged.inputs.iter().map(|it| it.need));
        prop_assert_eq!(&needs[..], &task.needs[..]);
        prop_assert!(*submitted <= start);
        for &Input { need, from, moved } in &staged.inputs {
            let made = need.made_by.map(parent);
            let by = made.map(|made| made.provider.expect("it ran").0 as usize);
            // The storage is at the actor to which the user submits: a metascheduler or a provider.
            let at_home = if workload == 1 { providers } else { 0 };
            prop_assert_eq!(from.index(), by.unwrap_or(at_home));
            let ended = made.map_or(Time::ZERO, |made| made.end);
            let Some(Transfer { sent, arrived: Some(arrived) }) = moved else {
                prop_assert!(moved.is_none());
                prop_assert!(need.bytes == 0 || from == staged.at);
                prop_assert!(ended <= start);
                continue;
            };
            prop_assert!(from != staged.at && ended <= sent && arrived <= *submitted);
            let (took, takes) = ((arrived - sent).as_micros(), alone(need.bytes));
            prop_assert!(took == takes || is_shared && took > takes, "{:?}\n{}", moved, ran.log);
        }
    }
    Ok(())
}

/// Time that a transfer takes without others, us.
fn alone(bytes: u64) -> i64 {
    1_000_000 + bytes.div_ceil(10) as i64
}

/// A transfer, put together from its messages.
#[derive(Debug)]
pub(crate) struct Moved {
    pub(crate) sent: Time,
    /// Time at which it arrived, or was not needed any more.
    pub(crate) end: Option<Time>,
    arrived: bool,
    ends: [Node; 2],
    bytes: u64,
}

pub(crate) fn moved(ran: &Ran) -> Vec<Moved> {
    let mut all: BTreeMap<(ActorId, u32), Moved> = BTreeMap::new();
    for (now, from, to, message) in &ran.messages {
        let Message::Data(message) = message else { continue };
        match *message {
            DataMessage::Transfer(ref it) | DataMessage::TransferCheckpoint(ref it) => {
                let (ends, bytes) = ([it.from, it.to], it.bytes);
                let it = Moved { sent: *now, end: None, arrived: false, ends, bytes };
                assert!(all.insert((*from, transfer_number(message)), it).is_none());
            }
            DataMessage::Transferred { number, at } => {
                let it = all.get_mut(&(*to, number)).expect("it was sent");
                (it.end, it.arrived) = (Some(at), true);
            }
            DataMessage::CheckpointTransferred { number } => {
                let it = all.get_mut(&(*to, number)).expect("it was sent");
                (it.end, it.arrived) = (Some(*now), true);
            }
            DataMessage::AbortTransfer { number } => {
                all.get_mut(&(*from, number)).expect("it was sent").end = Some(*now);
            }
            _ => panic!("{message:?}"),
        }
    }
    all.into_values().collect()
}

fn transfer_number(message: &DataMessage) -> u32 {
    match message {
        DataMessage::Transfer(it) | DataMessage::TransferCheckpoint(it) => it.number,
        other => panic!("{other:?}"),
    }
}

/// Checks that no transfer is faster than it would be alone, that a transfer that meets no other takes just as long,
/// and that no access link carries more than it can.
pub(crate) fn assert_links_are_shared(ran: &Ran) -> Result<(), TestCaseError> {
    let all = moved(ran);
    let end = |it: &Moved| it.end.unwrap_or(Time::FOREVER);
    for (place, it) in all.iter().enumerate().filter(|(_, it)| it.arrived) {
        let took = (end(it) - it.sent).as_micros();
        prop_assert!(took >= alone(it.bytes), "{:?}\n{}", it, ran.log);
        let meets = |(other, that): (usize, &Moved)| {
            other != place && that.sent < end(it) && it.sent < end(that)
        };
        if !all.iter().enumerate().any(meets) {
            prop_assert_eq!(took, alone(it.bytes), "{:?}\n{}", it, &ran.log);
        }
    }
    let sites: BTreeSet<Node> = all.iter().flat_map(|it| it.ends).collect();
    for site in sites {
        let at_site = || all.iter().filter(|it| it.arrived && it.ends.contains(&site));
        for (from, until) in at_site().flat_map(|it| at_site().map(|that| (it.sent, end(that)))) {
            let within = at_site().filter(|it| from <= it.sent && end(it) <= until);
            let bytes: u64 = within.clone().map(|it| it.bytes).sum();
            // The first of them waits for its latency, and each is rounded.
            let room = (until - from).as_micros() - 1_000_000 + 1;
            prop_assert!(within.count() == 0 || bytes as i64 <= 10 * room, "{site:?}\n{}", ran.log);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_task_starts_before_what_it_needs_is_there_and_every_workflow_ends(
        drawn in prop::collection::vec(failures::provider(), 1..4),
        external in flows(),
        local in flows(),
        placement in 0..5_usize,
        patience in prop::option::of(0..60_i64),
        latency in prop_oneof![2 => Just(0_i64), 1 => 1_i64..4],
        max_attempts in prop_oneof![Just(MAX_ATTEMPTS), 1_u32..4],
        horizon in prop::option::of(0_i64..200),
        reordering in any::<bool>(),
        trouble in trouble(),
        sharing in prop::option::of(prop::sample::select(&LinkSharing::ALL[..])),
    ) {
        let providers = drawn.len();
        let mut setup = failures::setup(&drawn, &[], latency)
            .metascheduler(Placement::ALL[placement]);
        setup.ways = paths();
        setup.sites = sharing.map(|sharing| (sites(providers as u32 + 1), sharing));
        setup.trouble = trouble;
        setup.jitter = Span::from_secs(i64::from(reordering) * 3);
        setup.reordering = reordering;
        setup.providers.iter_mut().for_each(|provider| provider.max_attempts = max_attempts);
        setup.horizon = horizon.map(Time::from_secs);
        let external = submitted(&mut setup, 1, 1_000, &external);
        let local = submitted(&mut setup, 2, 2_000, &local);
        let patience = patience.map(Span::from_secs);
        let mut setup = setup.user_with_patience(providers, patience, external).user(0, local);
        let ran = setup.run_on_both();
        setup.assert_recovery(&ran.log);
        let jobs = ran.result.as_ref().expect("it ends").jobs;
        prop_assert_eq!(ran.records.len() as u64, jobs);
        let numbers: BTreeSet<_> = ran.records.iter().map(|it| it.job.id).collect();
        prop_assert_eq!(numbers.len(), ran.records.len());
        if setup.horizon.is_none() {
            prop_assert!(ran.records.iter().all(|it| it.outcome != JobOutcome::Unfinished));
        }
        ran.assert_disclosures();
        assert_links_are_shared(&ran)?;
        // Tasks of a workflow that arrived as the run stopped may be missing.
        if setup.horizon.is_none() {
            assert_inputs_were_there(&ran, providers, sharing.is_some())?;
        }
    }
}
