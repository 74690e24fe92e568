//! Messages from outside of a run: their checks, their effects, and their place in snapshots.

use std::sync::Arc;

use haggle_agents::{Message, RunMessage, Timer};
use haggle_model::{ActorId, Job, JobId, Observation, ProcessorSet, Time};
use haggle_runtime::{Driver, InjectError, OutsideError, Simulation, Sink, Snapshot, World};
use haggle_scheduling::Policy;
use haggle_workloads::failures::Outage;

use crate::setup::{Setup, job};

const PROVIDER: ActorId = ActorId(0);
const USER: ActorId = ActorId(1);
const NATURE: ActorId = ActorId(2);

/// Events of a run, word for word.
#[derive(Default)]
struct Log(Vec<String>);

impl Sink for Log {
    fn delivered(
        &mut self,
        now: Time,
        _: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        self.0.push(format!("{now} {to} {message:?}"));
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        self.0.push(format!("{now} {actor} {observation:?}"));
        Ok(())
    }
}

fn at(second: i64) -> Time {
    Time::from_secs(second)
}

fn world(jobs: Vec<Job>) -> World {
    let mut setup = Setup::default().provider(4, Policy::Conservative).user(0, jobs);
    setup.failing = vec![(0, ProcessorSet::range(0, 2), vec![(500, 600)])];
    setup.world()
}

fn base() -> Vec<Job> {
    vec![job(1, 0, 50, 40, 4), job(2, 30, 50, 40, 2), job(3, 60, 50, 40, 4)]
}

fn start(jobs: Vec<Job>, driver: Driver) -> Simulation<'static> {
    Simulation::new(world(jobs), driver).expect("good jobs")
}

fn outage(fail: i64, restore: i64) -> Outage {
    Outage { fail: at(fail), restore: at(restore) }
}

#[test]
fn a_message_that_cannot_come_from_outside_changes_nothing() {
    let mut simulation = start(base(), Driver::Sequential);
    simulation.step_until(at(20)).expect("it goes on");
    let before = simulation.snapshot().to_bytes().expect("it can be written");
    let now = simulation.now();
    let due = |second| job(9, second, 5, 5, 1);
    let unnumbered = |second| Message::Run(RunMessage::JobDue(Arc::new(due(second))));
    let mut refused = |to, second, message| {
        simulation.inject(at(second), to, message).expect_err("it is refused")
    };
    assert_eq!(refused(USER, -1, unnumbered(-1)), InjectError::Past { at: at(-1), now });
    let nobody = ActorId(99);
    assert_eq!(refused(nobody, 30, unnumbered(30)), InjectError::NoActor { actor: nobody });
    let refusal = |actor, kind| InjectError::NotFromOutside { actor, kind };
    assert_eq!(refused(PROVIDER, 30, unnumbered(30)), refusal(PROVIDER, "job_due"));
    assert_eq!(refused(USER, 30, RunMessage::RunOver.into()), refusal(USER, "run_over"));
    let crash = RunMessage::Crashed.into();
    assert_eq!(refused(PROVIDER, 30, crash), refusal(PROVIDER, "crashed"));
    let wake = Message::Wake(Timer::PlanDue);
    assert_eq!(refused(PROVIDER, 30, wake), refusal(PROVIDER, "wake"));
    let narrow = Job { processors: 0, ..due(30) };
    assert_eq!(simulation.submit(USER, narrow), Err(InjectError::NoProcessors));
    let (fail, restore) = (at(40), at(39));
    let backwards = simulation.fail(NATURE, 0, Outage { fail, restore });
    assert_eq!(backwards, Err(InjectError::Backwards { fail, restore }));
    assert_eq!(simulation.snapshot().to_bytes().expect("as before"), before);
    simulation.run().expect("it ends");
    assert_eq!(simulation.submit(USER, due(900)), Err(InjectError::Over));
    let mut setup = Setup::default().provider(4, Policy::Fcfs).user(0, base());
    setup.horizon = Some(at(70));
    let mut simulation = Simulation::new(setup.world(), Driver::Sequential).expect("good jobs");
    let late = InjectError::AfterEnd { at: at(71), end: at(70) };
    assert_eq!(simulation.submit(USER, due(71)), Err(late));
    assert_eq!(simulation.submit(USER, due(70)), Ok(JobId(1)));
}

/// The records of jobs: their numbers in the workload, starts and ends.
fn records(log: &Log) -> Vec<String> {
    let over = log.0.iter().filter(|line| line.contains("JobOver"));
    let field = |line: &str, name: &str| {
        let value = line.split(name).nth(1).and_then(|rest| rest.split(", ").next());
        value.unwrap_or_default().to_owned()
    };
    let mut rows = Vec::from_iter(over.map(|line| {
        format!(
            "{}: {} {}",
            field(line, " number: "),
            field(line, " start: "),
            field(line, " end: ")
        )
    }));
    rows.sort();
    rows
}

#[test]
fn a_job_from_outside_runs_as_one_of_the_workload() {
    let further = job(9, 20, 30, 25, 2);
    let mut all = base();
    all.insert(1, further.clone());
    let expected = {
        let mut log = Log::default();
        let mut simulation = start(all, Driver::Sequential);
        simulation.listen(&mut log);
        simulation.run().expect("it ends");
        drop(simulation);
        records(&log)
    };
    assert_eq!(expected.len(), 4);
    for driver in [Driver::Sequential, Driver::Actix] {
        for second in [0, 10, 20] {
            let mut log = Log::default();
            let mut simulation = start(base(), driver);
            simulation.listen(&mut log);
            // The clock has gone ahead to the next message at 30 s.
            simulation.step_until(at(second)).expect("it goes on");
            assert!(simulation.peek().expect("it goes on").is_some());
            // One job has been read ahead, so the next number is 2.
            assert_eq!(simulation.submit(USER, further.clone()), Ok(JobId(2)));
            let stats = simulation.run().expect("it ends");
            assert_eq!((stats.jobs, stats.jobs_over, stats.refused), (4, 4, 0));
            drop(simulation);
            assert_eq!(records(&log), expected, "{driver:?}, {second} s");
        }
    }
}

#[test]
fn a_peek_before_a_message_from_outside_changes_nothing() {
    let run = |peeks: bool| {
        let mut log = Log::default();
        let mut simulation = start(base(), Driver::Sequential);
        simulation.listen(&mut log);
        for second in 0..200 {
            simulation.advance_until(at(second), 1_000).expect("it goes on");
            if peeks {
                simulation.peek().expect("it goes on");
            }
            if second % 40 == 5 {
                simulation.submit(USER, job(50 + second, second, 9, 7, 1)).expect("it comes");
                simulation.fail(NATURE, 0, outage(second + 1, second + 3)).expect("it comes");
            }
        }
        simulation.run().expect("it ends");
        drop(simulation);
        log.0
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn a_failure_from_outside_hits_running_jobs_and_the_later_ones_still_come() {
    let mut log = Log::default();
    let mut simulation = start(vec![job(1, 0, 900, 800, 4)], Driver::Sequential);
    simulation.listen(&mut log);
    simulation.fail(NATURE, 0, outage(100, 110)).expect("it comes");
    // The resource does not exist, and nature refuses the message.
    simulation.fail(NATURE, 1, outage(120, 130)).expect("it comes");
    let stats = simulation.run().expect("it ends");
    assert_eq!(stats.refused, 1);
    drop(simulation);
    let lost = log.0.iter().filter(|line| line.contains("RunLost")).count();
    assert_eq!(lost, 2, "at 100 s from outside, and at 500 s of the world");
}

#[test]
fn the_patience_of_a_user_may_end_from_outside() {
    let mut log = Log::default();
    let mut simulation = start(base(), Driver::Sequential);
    simulation.step_until(at(35)).expect("it goes on");
    let over = Timer::PatienceOver { job: JobId(1) };
    simulation.inject(at(36), USER, Message::Wake(over)).expect("it comes");
    simulation.listen(&mut log);
    simulation.run().expect("it ends");
    drop(simulation);
    let cancelled = log.0.iter().filter(|line| line.contains("JobOver"));
    let cancelled = cancelled.filter(|line| line.contains("Cancelled")).count();
    assert_eq!(cancelled, 1);
}

#[test]
fn snapshots_have_the_messages_from_outside_on_both_drivers() {
    let script = |second: i64, simulation: &mut Simulation<'_>| {
        if second % 30 == 10 {
            let further = job(50 + second, second + 15, 20, 18, 1 + (second % 4) as u32);
            simulation.submit(USER, further).expect("it comes");
            simulation.fail(NATURE, 0, outage(second + 7, second + 9)).expect("it comes");
        }
    };
    let mut itself = Log::default();
    let mut simulation = start(base(), Driver::Sequential);
    simulation.listen(&mut itself);
    for second in 0..100 {
        simulation.step_until(at(second)).expect("it goes on");
        script(second, &mut simulation);
    }
    simulation.run().expect("it ends");
    drop(simulation);

    let mut parts = Log::default();
    let mut simulation = start(base(), Driver::Actix);
    for second in 0..100 {
        simulation.listen(&mut parts);
        simulation.step_until(at(second)).expect("it goes on");
        script(second, &mut simulation);
        let written = simulation.snapshot().to_bytes().expect("it can be written");
        drop(simulation);
        let read = Snapshot::from_bytes(&written).expect("it can be read");
        let driver = if second % 2 == 0 { Driver::Sequential } else { Driver::Actix };
        simulation = Simulation::restore(world(base()), driver, read).expect("its own world");
    }
    simulation.listen(&mut parts);
    simulation.run().expect("it ends");
    drop(simulation);
    assert_eq!(parts.0, itself.0);
}
