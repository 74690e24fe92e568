//! Builds small grids, runs them on both drivers, and checks that everything adds up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use haggle_agents::grid::{GridPlan, JobData, PlannedResource};
use haggle_agents::protocol::QueryMessage;
use haggle_agents::{
    AnyActor, Message, Metascheduler, MetaschedulerConfig, Routes, Seats, User, UserConfig,
};
use haggle_grids::{CancelMode, GridPolicy, Share, Sharing, SiteId};
use haggle_model::AttemptOutcome;
use haggle_model::grid::{
    AttemptRecord, DataFlow, GridJobRecord, GridOutcome, Place, ResourceAccount, RoundsAccount,
    StorageAccount,
};
use haggle_model::network::Path;
use haggle_model::random::stream;
use haggle_model::work::{Speed, Work};
use haggle_model::{ActorId, Cast, Job, JobClass, JobId, JobRecord, Observation, Span, Time};
use haggle_recording::{GridError, GridJobs};
use haggle_results::{Metrics, MetricsOptions, SettledJob};
use haggle_runtime::{
    Driver, EXAMINED_MAX, NO_PROGRESS_MAX, Network, Outages, OutsideError, RunError, Sink, World,
    run,
};
use haggle_scheduling::placement::Placement;
use haggle_workloads::failures::{Cause, Failures, OutageList, Resource};

/// A grid, its jobs and its failures.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) plan: GridPlan,
    pub(crate) jobs: Vec<Job>,
    /// Outages, by resource.
    pub(crate) outages: BTreeMap<usize, OutageList>,
    pub(crate) horizon: Option<Time>,
    /// Time for which the user waits for a job to start.
    pub(crate) patience: Option<Span>,
    /// Messages that are there when the run begins.
    pub(crate) initial: Vec<(Time, ActorId, Message)>,
    pub(crate) no_progress_max: u64,
    /// Placement of a metascheduler between the user and the grid, if there is one.
    pub(crate) placement: Option<Placement>,
}

/// Results of a run of a grid.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct GridRan {
    pub(crate) attempts: Vec<AttemptRecord>,
    pub(crate) jobs: Vec<GridJobRecord>,
    /// Jobs that were not taken.
    pub(crate) rejected: Vec<JobRecord>,
    pub(crate) accounts: Vec<ResourceAccount>,
    pub(crate) storage: Option<StorageAccount>,
    pub(crate) rounds: RoundsAccount,
    /// Estimates of start and completion: time of the message, job, both times.
    pub(crate) estimates: Vec<(Time, JobId, [Time; 2])>,
    /// Observations from which the books are kept, each with its time.
    observed: Vec<(Time, Observation)>,
    /// (when, from, to, kind, job) of every message.
    pub(crate) log: Vec<String>,
}

/// A span, in seconds.
pub(crate) fn secs(seconds: f64) -> Span {
    Span::from_secs_f64(seconds)
}

/// An instant, in seconds.
pub(crate) fn at(seconds: f64) -> Time {
    Time::ZERO + secs(seconds)
}

/// A network on which `bytes` take `bytes` microseconds: 8 Mbit/s without latency.
pub(crate) fn constant() -> Routes {
    Routes::Constant(Path::constant(8e6, Span::ZERO).expect("a good rate"))
}

impl Grid {
    pub(crate) fn new(policy: GridPolicy) -> Grid {
        Grid {
            plan: GridPlan::simple(policy, constant()),
            jobs: Vec::new(),
            outages: BTreeMap::new(),
            horizon: None,
            patience: None,
            initial: Vec::new(),
            no_progress_max: NO_PROGRESS_MAX,
            placement: None,
        }
    }

    pub(crate) fn resource(self, mips: u64, slots: u32) -> Grid {
        self.resource_at(0, mips, slots)
    }

    pub(crate) fn resource_at(mut self, site: u32, mips: u64, slots: u32) -> Grid {
        let name = format!("r{}", self.plan.resources.len());
        self.plan.resources.push(PlannedResource {
            name,
            site: SiteId(site),
            capacity: Speed::from_mips(mips),
            sharing: Sharing::Equal { slots },
            up: true,
            load: None,
        });
        self
    }

    /// A resource that reserves shares.
    pub(crate) fn reserving(mut self, mips: u64, slots: Option<u32>) -> Grid {
        self = self.resource(mips, 1);
        let resource = self.plan.resources.last_mut().expect("it was added just now");
        resource.sharing = Sharing::Reserved { slots };
        self
    }

    /// A session of `mi` MI. Sessions of one share are a workload.
    pub(crate) fn session(mut self, submit: i64, user: i32, percent: u32, mi: i64) -> Grid {
        let share = Share::from_percent(percent);
        let data = &mut self.plan.data;
        let workload = data.iter().position(|it| it.share == share).unwrap_or(data.len());
        if workload == data.len() {
            data.push(JobData { share, ..data[0] });
        }
        self = self.job(submit, mi);
        let job = self.jobs.last_mut().expect("it was added just now");
        (job.workload, job.origin.user) = (workload as u16, user);
        self
    }

    /// A job of `mi` MI.
    pub(crate) fn job(mut self, submit: i64, mi: i64) -> Grid {
        let id = self.jobs.len() as u32;
        self.jobs.push(Job::new(id, Time::from_secs(submit), 1, Span::from_secs(mi)));
        self
    }

    /// Outages of a resource, in seconds.
    pub(crate) fn fails(mut self, resource: usize, outages: &[(f64, f64)]) -> Grid {
        let outage = |&(fail, restore): &(f64, f64)| haggle_workloads::failures::Outage {
            fail: at(fail),
            restore: if restore.is_finite() { at(restore) } else { Time::FOREVER },
        };
        let list = OutageList::new(outages.iter().map(outage).collect()).expect("in order");
        self.outages.insert(resource, list);
        self
    }

    pub(crate) fn change(mut self, change: impl FnOnce(&mut GridPlan)) -> Grid {
        change(&mut self.plan);
        self
    }

    pub(crate) fn until(mut self, seconds: f64) -> Grid {
        self.horizon = Some(at(seconds));
        self
    }

    pub(crate) fn world(&self) -> World {
        let built = self.plan.actors(Seats::alone(self.plan.resources.len() as u32));
        let mut actors = built.places;
        actors.extend(built.services);
        let me = ActorId(actors.len() as u32);
        let asker = ActorId(me.0 + 1);
        let target = self.placement.map_or(built.dispatcher, |_| asker);
        actors.push(AnyActor::User(Box::new(User::new(UserConfig {
            patience: self.patience,
            ..UserConfig::new(me, target, JobClass::External)
        }))));
        if let Some(placement) = self.placement {
            let config = MetaschedulerConfig::new(asker, placement, vec![built.dispatcher]);
            let draws = stream(self.plan.seed, "metascheduler", "places");
            actors.push(AnyActor::Metascheduler(Box::new(Metascheduler::new(config, draws))));
        }
        let nature = ActorId(actors.len() as u32);
        actors.push(self.plan.nature());
        let resource = |(place, planned): (usize, &PlannedResource)| Resource {
            name: planned.name.clone(),
            cause: self.outages.get(&place).map_or(Cause::None, |list| Cause::List(list.clone())),
        };
        let failures = Failures {
            seed: self.plan.seed,
            resources: self.plan.resources.iter().enumerate().map(resource).collect(),
            correlations: Vec::new(),
        };
        let due = Box::new(failures.outages().expect("good failures"));
        let mut jobs = self.jobs.clone();
        jobs.sort_by_key(|job| job.submit);
        World {
            actors,
            arrivals: vec![(me, Box::new(jobs.into_iter().map(Ok)))],
            outages: Some(Outages { nature, resources: self.plan.resources.len() as u64, due }),
            network: Network::default(),
            initial: self.initial.clone(),
            horizon: self.horizon,
            order: Default::default(),
            blueprints: Default::default(),
            changes: Vec::new(),
            no_progress_max: self.no_progress_max,
            examined_max: EXAMINED_MAX,
        }
    }

    /// Runs it on one driver and checks that everything adds up.
    pub(crate) fn run(&self) -> GridRan {
        self.run_on(Driver::Sequential)
    }

    /// Runs it on both drivers, which must not differ.
    pub(crate) fn run_on_both(&self) -> GridRan {
        let ran = self.run_on(Driver::Sequential);
        assert_eq!(ran, self.run_on(Driver::Actix));
        ran
    }

    /// Runs it on both drivers, which fail in the same way.
    pub(crate) fn fail(&self) -> RunError {
        let fail = |driver| {
            let stop = AtomicBool::new(false);
            run(self.world(), driver, &mut GridRan::default(), &stop).expect_err("it fails")
        };
        let error = fail(Driver::Sequential);
        assert_eq!(error.to_string(), fail(Driver::Actix).to_string());
        error
    }

    fn run_on(&self, driver: Driver) -> GridRan {
        let mut ran = GridRan::default();
        let stats = run(self.world(), driver, &mut ran, &AtomicBool::new(false)).expect("it ends");
        let told = (ran.jobs.len() + ran.rejected.len()) as u64;
        assert_eq!(told, stats.jobs, "every job that came is over, or open");
        self.audit(&ran);
        self.audit_books(&ran, stats.end);
        ran
    }

    /// Checks that the uses of all work add up to the work that was done.
    fn audit_books(&self, ran: &GridRan, end: Time) {
        let (mut jobs, mut metrics) =
            (GridJobs::default(), Metrics::new(Cast::default(), MetricsOptions::default()));
        let settle = |settled: Result<Vec<SettledJob>, GridError>, metrics: &mut Metrics| {
            settled.expect("attempts add up to jobs").iter().for_each(|it| metrics.job_settled(it));
        };
        for (now, observation) in &ran.observed {
            match observation.clone() {
                Observation::AttemptOver(record) => {
                    settle(jobs.settle(*now), &mut metrics);
                    metrics.attempt_over(&record);
                    jobs.attempt_over(record);
                }
                Observation::GridJobOver(record) => {
                    settle(jobs.settle(*now), &mut metrics);
                    jobs.job_over(*now, record);
                }
                Observation::ResourceAccount(account) => metrics.resource_account(*account),
                _ => {}
            }
        }
        settle(jobs.settle_some(usize::MAX), &mut metrics);
        jobs.take_left().iter().for_each(|it| metrics.attempt_left(it));
        metrics.run_over(end).expect("the books balance");
    }

    /// Time that a round takes.
    fn takes(&self) -> Span {
        self.plan.query + self.plan.schedule
    }

    /// Invariants of every run.
    fn audit(&self, ran: &GridRan) {
        self.audit_rounds(ran);
        for account in &ran.accounts {
            let here = || ran.attempts.iter().filter(|it| it.resource == account.resource);
            let held: i64 = here().map(|it| it.held().as_micros()).sum();
            assert_eq!(held, account.held.as_micros(), "slot time of {}", account.resource);
            let computed: Work = here().map(AttemptRecord::computed).sum();
            assert_eq!(computed, account.processed, "work of {}", account.resource);
            self.audit_transfers(account, &here().collect::<Vec<_>>());
            self.audit_resource(ran, account.resource.index());
        }
        for record in &ran.jobs {
            let attempts: Vec<_> =
                ran.attempts.iter().filter(|it| it.job == record.job.id).collect();
            let mut numbers: Vec<_> = attempts.iter().map(|it| it.number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), attempts.len(), "{:?}", record.job.id);
            if let GridOutcome::Done { winner, computed, end } = record.outcome {
                let winner =
                    attempts.iter().find(|it| it.number == winner).expect("who won has run");
                let length = Speed::from_mips(1).over(record.job.run_time.reveal_to_machine());
                assert_eq!((winner.outcome, winner.done), (AttemptOutcome::Completed, length));
                assert!(computed <= end && winner.left <= computed);
                let cancelled = match self.plan.cancel_mode {
                    CancelMode::Immediate => computed,
                    CancelMode::NextRound => computed + self.plan.period + self.takes(),
                };
                for other in &attempts {
                    assert!(other.left <= cancelled, "{other:?} went on after {winner:?}");
                }
            }
            for it in &attempts {
                assert!(it.waiting() >= Span::ZERO && it.done >= it.from, "{it:?}");
                let parent =
                    it.parent.and_then(|number| attempts.iter().find(|it| it.number == number));
                if let Some(parent) = parent {
                    let saved = |checkpoint: &haggle_model::grid::CheckpointRecord| {
                        checkpoint.done == it.from && checkpoint.available.is_some()
                    };
                    assert!(parent.checkpoints.iter().any(saved), "{it:?} from {parent:?}");
                } else {
                    assert_eq!(it.from, Work::ZERO);
                }
            }
        }
    }

    /// Checks that jobs are sent at the end of a round, and that each round begins after the one before it.
    fn audit_rounds(&self, ran: &GridRan) {
        let mut sent: Vec<Time> = ran.attempts.iter().map(|it| it.dispatched).collect();
        sent.sort_unstable();
        sent.dedup();
        for &at in &sent {
            let begun = at - self.takes();
            assert!(begun >= Time::ZERO, "sent at {at}");
            assert_eq!(begun.next_multiple_of(self.plan.period), begun, "sent at {at}");
        }
        for pair in sent.windows(2) {
            assert!(pair[1] - pair[0] >= self.takes(), "{pair:?} are of rounds at the same time");
        }
    }

    /// Checks the arrived transfers against the attempts, for one workload whose jobs bring the same data.
    fn audit_transfers(&self, account: &ResourceAccount, attempts: &[&AttemptRecord]) {
        let [data] = self.plan.data[..] else { return };
        let brings_own = |job: &Job| job.task.as_ref().is_some_and(|task| task.data.is_some());
        if self.jobs.iter().any(brings_own) {
            return;
        }
        let here = Place::Resource(account.resource);
        let is_between =
            |from: Place, to: Place| move |flow: &&DataFlow| (flow.from, flow.to) == (from, to);
        let carried = |from, to| account.flows.iter().find(is_between(from, to));
        let arrived = |from, to| carried(from, to).map_or(0, |flow| flow.carried.transfers);
        let sent = |bytes: u64, count: usize| if bytes > 0 { count as u64 } else { 0 };
        let ended = |end: AttemptOutcome| attempts.iter().filter(|it| it.outcome == end).count();
        // A checkpoint of a job that moves away stays here, and its next resource requests it.
        let saved = attempts.iter().map(|it| it.available as usize).sum::<usize>();
        let saved = sent(data.checkpoint, saved - ended(AttemptOutcome::Moved));
        assert_eq!(
            arrived(here, Place::Storage),
            sent(data.output, ended(AttemptOutcome::Completed))
        );
        assert_eq!(arrived(here, Place::Checkpoints), saved);
        for (from, bytes) in [(Place::Storage, data.input), (Place::Checkpoints, data.checkpoint)] {
            assert!(arrived(from, here) <= attempts.len() as u64);
            assert_eq!(
                carried(from, here).map_or(0, |it| it.carried.bytes),
                arrived(from, here) * bytes
            );
        }
        let total: u64 = account.flows.iter().map(|flow| flow.carried.bytes).sum();
        assert_eq!(total, account.data.total(), "bytes of {}", account.resource);
    }

    /// Share that a session requests.
    pub(crate) fn share_of(&self, job: JobId) -> Share {
        self.plan.data[usize::from(self.jobs[job.index()].workload)].share
    }

    /// Checks that no slot is given twice, and that none is held while its resource is down.
    fn audit_resource(&self, ran: &GridRan, resource: usize) {
        let here: Vec<_> =
            ran.attempts.iter().filter(|it| it.resource.index() == resource).collect();
        let slots = match self.plan.resources[resource].sharing {
            Sharing::Equal { slots } => slots as usize,
            Sharing::Reserved { slots } => slots.map_or(usize::MAX, |slots| slots as usize),
        };
        for it in &here {
            let since = it.dispatched;
            let others = || here.iter().filter(|o| o.dispatched <= since && since < o.left);
            assert!(others().count() <= slots, "too many at {since} on {resource}");
            if let Sharing::Reserved { .. } = self.plan.resources[resource].sharing {
                let shares: u32 = others().map(|it| self.share_of(it.job).0).sum();
                assert!(shares <= Share::WHOLE.0, "{shares} at {since} on {resource}");
            }
        }
        let Some(outages) = self.outages.get(&resource) else { return };
        for outage in outages.as_slice() {
            for it in &here {
                let overlaps = it.dispatched.max(outage.fail) < it.left.min(outage.restore);
                assert!(!overlaps, "{it:?} ran during {outage:?}");
            }
        }
    }
}

impl GridRan {
    /// The attempts of a job, in order of their numbers.
    pub(crate) fn attempts_of(&self, job: u32) -> Vec<&AttemptRecord> {
        let mut attempts: Vec<_> = self.attempts.iter().filter(|it| it.job.0 == job).collect();
        attempts.sort_by_key(|it| it.number);
        attempts
    }

    /// Time at which a job was done, in seconds; `None` if it was not.
    pub(crate) fn done(&self, job: u32) -> Option<f64> {
        let record = self.jobs.iter().find(|it| it.job.id.0 == job)?;
        match record.outcome {
            GridOutcome::Done { end, .. } => Some(end.as_secs_f64()),
            _ => None,
        }
    }

    /// Times at which all jobs were done.
    pub(crate) fn all_done(&self) -> Vec<Option<f64>> {
        (0..self.jobs.len() as u32).map(|job| self.done(job)).collect()
    }
}

impl Sink for GridRan {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        if let Message::Query(QueryMessage::Estimate { job, start, completion }) = *message {
            self.estimates.push((now, job, [start, completion]));
        }
        let (now, kind, job) = (now.as_secs_f64(), message.kind(), message.job());
        self.log.push(format!("{now} {}>{} {kind} {job:?}", from.0, to.0));
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        self.observed.push((now, observation.clone()));
        match observation.clone() {
            Observation::AttemptOver(record) => self.attempts.push(Arc::unwrap_or_clone(record)),
            Observation::GridJobOver(record) => self.jobs.push(Arc::unwrap_or_clone(record)),
            Observation::JobOver(record) => self.rejected.push(*record),
            Observation::ResourceAccount(account) => self.accounts.push(*account),
            Observation::StorageAccount(account) => self.storage = Some(account),
            Observation::MessageRefused { from } => {
                let told = self.log.last().map_or("nothing", String::as_str);
                return Err(format!("{actor} does not expect this of {from}: {told}").into());
            }
            Observation::RoundsAccount(account) => self.rounds = account,
            _ => {}
        }
        Ok(())
    }
}
