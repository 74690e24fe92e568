//! Glimpses of all kinds of actors: they agree with the run, and have no fact that the actor does not know.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use haggle_agents::Message;
use haggle_agents::glimpse::{
    Census, FactKind, Glimpse, Machine, Promise, PromiseKind, Stage, Work,
};
use haggle_model::job::HiddenRunTime;
use haggle_model::{ActorId, Job, JobId, JobShape, ProcessorSet, Span, Time};
use haggle_runtime::{Driver, OutsideError, Simulation, Sink, World};
use haggle_scheduling::Policy;
use haggle_scheduling::placement::Placement;

use crate::any_message::worlds;
use crate::setup::{Setup, job};

fn start(world: World, driver: Driver) -> Simulation<'static> {
    Simulation::new(world, driver).expect("good jobs")
}

fn all(simulation: &Simulation<'_>) -> Vec<Option<Glimpse>> {
    let actors = (0..).map(ActorId).map(|actor| simulation.glimpse(actor));
    // Every world has fewer actors.
    actors.take(60).collect()
}

/// Uses of processors that a glimpse shows.
fn used(glimpse: &Glimpse) -> u32 {
    let holds = |work: &&Work| matches!(work.stage, Stage::Running | Stage::Occupying);
    glimpse.jobs.iter().filter(holds).map(|work| work.processors).sum()
}

#[test]
fn glimpses_of_all_actors_agree_with_their_machines_on_both_drivers() {
    let (mut stages, mut promises, mut facts) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (name, world) in worlds() {
        let grid = name.starts_with("grid");
        let mut simulation = start(world(), Driver::Sequential);
        let mut hosted = start(world(), Driver::Actix);
        for turn in 0.. {
            let glimpses = all(&simulation);
            for (actor, glimpse) in glimpses.iter().enumerate() {
                let Some(glimpse) = glimpse else { continue };
                let place = format!("{name}, actor {actor}: {glimpse:?}");
                if let Some(machine) = glimpse.machine.filter(|_| !grid) {
                    let Machine { processors, free, failed, closed } = machine;
                    assert!(used(glimpse) + free <= processors, "{place}");
                    assert!(used(glimpse) + free + failed + closed >= processors, "{place}");
                }
                for work in glimpse.jobs.iter().filter(|work| !work.held.is_empty()) {
                    assert!(matches!(work.stage, Stage::Running | Stage::Occupying), "{place}");
                    assert_eq!(work.held.count(), work.processors, "{place}");
                }
                let census = simulation.census(ActorId(actor as u32));
                assert_eq!(census.is_some(), glimpse.machine.is_some(), "{place}");
                if let Some(Census { machine, running }) = census {
                    assert_eq!(Some(machine), glimpse.machine, "{place}");
                    let rows = glimpse.jobs.iter().filter(|it| it.stage == Stage::Running);
                    assert_eq!(
                        BTreeSet::from_iter(running),
                        rows.map(|it| it.job).collect(),
                        "{place}"
                    );
                }
                let written = postcard::to_stdvec(glimpse).expect("it can be written");
                assert_eq!(postcard::from_bytes::<Glimpse>(&written).as_ref(), Ok(glimpse));
                stages.extend(glimpse.jobs.iter().map(|it| it.stage));
                promises.extend(glimpse.promises.iter().map(|it| it.kind));
                facts.extend(glimpse.facts.iter().map(|it| it.kind));
            }
            // The second driver copies each actor, so it is compared less often.
            if turn % 40 == 0 {
                assert_eq!(all(&hosted), glimpses, "{name}");
            }
            let goes_on = simulation.advance(13).expect("it ends");
            hosted.advance(13).expect("it ends");
            if !goes_on {
                break;
            }
        }
    }
    // Between a failure and the end of its instant only.
    stages.remove(&Stage::Lost);
    let expected = [
        Stage::Running,
        Stage::Occupying,
        Stage::Waiting,
        Stage::Held,
        Stage::Expected,
        Stage::Blocked,
        Stage::Asking,
        Stage::Agreeing,
        Stage::Sent,
        Stage::Placed,
    ];
    assert_eq!(stages, BTreeSet::from(expected));
    let expected = [
        PromiseKind::Window,
        PromiseKind::Offer,
        PromiseKind::Hold,
        PromiseKind::Booking,
        PromiseKind::Notice,
        PromiseKind::Vote,
        PromiseKind::Maintenance,
    ];
    assert_eq!(promises, BTreeSet::from(expected));
    for kind in [
        FactKind::EstimatedStart,
        FactKind::EstimatedCompletion,
        FactKind::Load,
        FactKind::Awaited,
        FactKind::Processors,
        FactKind::FreeProcessors,
        FactKind::UsedSlots,
        FactKind::Up,
        FactKind::Speed,
        FactKind::AvailablePart,
        FactKind::WaitingJobs,
        FactKind::CheckpointSize,
        FactKind::UsedRoom,
        FactKind::Capacity,
        FactKind::Moved,
        FactKind::Changes,
    ] {
        assert!(facts.contains(&kind), "{kind:?} is in none of {facts:?}");
    }
}

/// The same world, in which every program runs for a little longer. No actor knows that before the end.
fn with_longer_programs(mut world: World) -> World {
    let longer = |job: Job| Job {
        run_time: HiddenRunTime::new(job.run_time.reveal_to_machine() + Span::TICK),
        ..job
    };
    for (_, jobs) in &mut world.arrivals {
        let same = std::mem::replace(jobs, Box::new(std::iter::empty()));
        *jobs = Box::new(same.map(move |job| job.map(longer)));
    }
    world
}

/// The last message, without run times.
#[derive(Clone, Default)]
struct Last(Rc<RefCell<String>>);

impl Last {
    fn take(&mut self) -> String {
        self.0.take()
    }
}

impl Sink for Last {
    fn delivered(
        &mut self,
        _: Time,
        _: ActorId,
        _: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let text = format!("{message:?}");
        // A job that is submitted has its run time with it, for the machine.
        let is_public = !text.contains("HiddenRunTime");
        *self.0.borrow_mut() = if is_public { text } else { message.kind().to_owned() };
        Ok(())
    }
}

#[test]
fn no_actor_knows_the_run_time_of_a_program_before_its_end() {
    let mut compared = 0;
    for (name, world) in worlds() {
        let (mut said, mut repeated) = (Last::default(), Last::default());
        let mut one = start(world(), Driver::Sequential);
        let mut other = start(with_longer_programs(world()), Driver::Sequential);
        one.listen(said.clone());
        other.listen(repeated.clone());
        // As long as the same messages are delivered, no program has ended at another time.
        loop {
            let (step, same) = (one.step().expect("it ends"), other.step().expect("it ends"));
            if step != same || step.is_none() || said.take() != repeated.take() {
                break;
            }
            for (actor, (mine, its)) in all(&one).iter().zip(&all(&other)).enumerate() {
                assert_eq!(mine, its, "{name}, actor {actor}, {step:?}");
            }
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn no_actor_knows_the_load_of_another_one_without_an_answer() {
    let world = |elsewhere: Vec<Job>| {
        Setup::default()
            .provider(4, Policy::Conservative)
            .provider(4, Policy::Conservative)
            .metascheduler(Placement::RoundRobin)
            .user(2, vec![job(1, 0, 50, 40, 2), job(2, 0, 50, 40, 2)])
            .user(1, elsewhere)
            .world()
    };
    let idle = &mut start(world(Vec::new()), Driver::Sequential);
    let busy = &mut start(world(vec![job(9, 1, 90, 80, 2)]), Driver::Sequential);
    for simulation in [&mut *idle, &mut *busy] {
        simulation.step_until(Time::from_secs(5)).expect("it ends");
    }
    let at = |simulation: &Simulation<'_>, actor| simulation.glimpse(ActorId(actor));
    assert_ne!(at(idle, 1), at(busy, 1), "the other provider has one more job");
    assert_eq!(at(idle, 0), at(busy, 0));
    assert_eq!(at(idle, 2), at(busy, 2));
}

#[test]
fn a_glimpse_has_the_queue_in_order_with_its_planned_starts() {
    let jobs = vec![
        job(1, 0, 30, 10, 4),
        job(2, 1, 20, 20, 3),
        job(3, 2, 10, 10, 4),
        job(4, 3, 15, 15, 1),
    ];
    let glimpse = |policy| {
        let world = Setup::default().provider(4, policy).user(0, jobs.clone()).world();
        let mut simulation = start(world, Driver::Sequential);
        simulation.step_until(Time::from_secs(5)).expect("it ends");
        simulation.glimpse(ActorId(0)).expect("it is there")
    };
    let at = |second| Some(Time::from_secs(second));
    let work = |job, stage, processors, (since, start, end)| Work {
        since: at(since),
        start,
        end,
        promised_end: None,
        ..Work::new(JobId(job), stage, processors, ActorId(1))
    };
    let unpromised = |glimpse: Glimpse| {
        let jobs = glimpse.jobs.into_iter();
        Vec::from_iter(jobs.map(|work| Work { promised_end: None, ..work }))
    };
    let planned = glimpse(Policy::Conservative);
    let machine = Machine { processors: 4, free: 0, failed: 0, closed: 0 };
    assert_eq!(planned.machine, Some(machine));
    // The first job ends at 10 s. Its provider knows the request only.
    let running = work(0, Stage::Running, 4, (0, at(0), at(30)));
    let running = Work { held: ProcessorSet::range(0, 4), ..running };
    let expected = vec![
        running.clone(),
        work(1, Stage::Waiting, 3, (1, at(30), at(50))),
        work(2, Stage::Waiting, 4, (2, at(50), at(60))),
        work(3, Stage::Waiting, 1, (3, at(30), at(45))),
    ];
    assert_eq!(unpromised(planned), expected);
    // EASY plans no starts.
    let expected = expected.into_iter().map(|it| match it.stage {
        Stage::Waiting => Work { start: None, end: None, ..it },
        _ => it,
    });
    assert_eq!(unpromised(glimpse(Policy::Easy)), Vec::from_iter(expected));
}

#[test]
fn a_glimpse_of_a_metascheduler_has_its_questions_and_the_answers() {
    let mut setup = Setup::default().provider(4, Policy::Fcfs).provider(2, Policy::Fcfs);
    setup.latency = Span::from_secs(1);
    setup.failing = vec![(0, ProcessorSet::range(0, 1), vec![(100, 200)])];
    let setup = setup.metascheduler(Placement::MinimumCompletionTime).user(
        2,
        vec![job(1, 0, 30, 10, 2), Job { shape: JobShape::Rigid, ..job(2, 0, 20, 20, 1) }],
    );
    let mut simulation = start(setup.world(), Driver::Sequential);
    let mut seen: BTreeMap<Stage, Vec<FactKind>> = BTreeMap::new();
    while simulation.now() < Time::from_secs(9) && simulation.step().expect("it ends").is_some() {
        let glimpse = simulation.glimpse(ActorId(2)).expect("it is there");
        let Some(first) = glimpse.jobs.first().filter(|it| it.job == JobId(0)) else { continue };
        let known = seen.entry(first.stage).or_default();
        known.extend(glimpse.facts.iter().filter(|it| it.job == Some(JobId(0))).map(|it| it.kind));
        known.sort_unstable();
        known.dedup();
    }
    let answers = vec![FactKind::EstimatedStart, FactKind::EstimatedCompletion, FactKind::Awaited];
    assert_eq!(seen.get(&Stage::Asking), Some(&answers));
    assert!(seen.contains_key(&Stage::Sent) && seen.contains_key(&Stage::Placed), "{seen:?}");
    assert_eq!(seen.get(&Stage::Placed), Some(&Vec::new()), "it forgets the answers");
}

#[test]
fn a_glimpse_of_a_provider_has_the_promised_maintenance() {
    use haggle_agents::Maintenance;
    use haggle_scheduling::{Interval, Overlap};
    let at = Time::from_secs;
    let window = Interval { start: at(100), span: Span::from_secs(50), processors: 3 };
    let announced = Maintenance { announced: at(10), window, overlap: Overlap::Refuse };
    let setup = Setup::default()
        .provider(4, Policy::Conservative)
        .change(|it| it.maintenance = vec![announced])
        .user(0, vec![job(1, 0, 200, 160, 1)]);
    let mut simulation = start(setup.world(), Driver::Sequential);
    let mut at_second = |second| {
        simulation.step_until(at(second)).expect("it ends");
        let Glimpse { machine, promises, .. } = simulation.glimpse(ActorId(0)).expect("there");
        (machine.expect("it has one").closed, promises)
    };
    assert_eq!(at_second(5), (0, Vec::new()), "it was not told");
    let promise = Promise {
        start: Some(at(100)),
        end: Some(at(150)),
        ..Promise::new(PromiseKind::Maintenance, 3)
    };
    assert_eq!(at_second(20), (0, vec![promise.clone()]));
    assert_eq!(at_second(120), (3, vec![promise]));
    assert_eq!(at_second(155), (0, Vec::new()));
}
