//! A cluster of machines that are shared with others, with its planner (section 5).

mod glimpse;
mod known;
mod running;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use haggle_model::phased::{IntervalEnd, Move};
use haggle_model::random::Stream;
use haggle_model::shared;
use haggle_model::{ActorId, Job, JobId, Observation, ProcessorSet, ProviderId, Span, Time};
use haggle_planning::multi::Migration;
use haggle_planning::{
    Cluster as Machinery, ClusterError, IntervalOracle, Machines, Method, PlanSearch, Problem,
};

use crate::protocol::planning::{ClusterLoads, IntervalOrder, LinkLoads, Times, TimesRequest};
use crate::protocol::{Message, PlanningMessage, ResourceMessage, RunMessage, Timer};
use crate::{Actor, Outbox, Seats};

use super::PredictionErrors;
use known::{Known, Premises, Proposed};
use running::Running;
use serde::{Deserialize, Serialize};

/// A cluster as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterConfig {
    /// Its number. The numbers of clusters are those of their actors.
    pub id: ProviderId,
    /// The numbers of all clusters.
    pub seats: Seats,
    /// Speed of its processors; 1 = the reference processor.
    pub speed: f64,
    /// Its availability at the start of the run.
    pub loads: ClusterLoads,
    /// Its planner; `None` = applications are not rescheduled.
    pub method: Option<Method>,
    /// Its search for machines.
    pub search: PlanSearch,
    /// An interval that takes this long or shorter is not valid.
    pub threshold: Span,
    /// Costs of moving an application here.
    pub costs: Costs,
    /// Delay with which its monitor reports loads. Plans are made with the reported loads.
    pub monitor_delay: Span,
    /// Factors by which phases take longer or shorter than predicted.
    pub errors: PredictionErrors,
}

/// Costs of moving an application to machines of a cluster: stop and start, and the transfer of its
/// checkpoint over links that it does not share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Time to stop and start it, if it moves within the cluster.
    pub within: Span,
    /// The same if it comes from another cluster.
    pub between: Span,
    /// The size of a checkpoint, Mbit.
    pub checkpoint: f64,
    /// Bandwidth between two machines of the cluster, of which half is available, Mbit/s.
    pub bandwidth: f64,
    /// Bandwidth of the link from each cluster, Mbit/s.
    pub ways: Vec<f64>,
}

/// The available part of the link over which a checkpoint moves within a cluster.
const SHARE_WITHIN: f64 = 0.5;

impl Costs {
    /// Cost of a move within the cluster.
    fn within(&self) -> Span {
        let migration = Migration { fixed: self.within.as_secs_f64(), volume: self.checkpoint };
        migration.over(self.bandwidth, SHARE_WITHIN)
    }

    /// Cost of a move from another cluster, if this part of the link from there is available.
    fn between(&self, from: usize, share: f64) -> Span {
        let migration = Migration { fixed: self.between.as_secs_f64(), volume: self.checkpoint };
        migration.over(self.ways[from], share)
    }
}

/// Availability of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Snapshot {
    #[serde(with = "shared")]
    machines: Arc<Machinery>,
    /// The available part of the link from each cluster.
    ways: Vec<f64>,
}

impl Snapshot {
    /// Available part of its processors, mean over all.
    fn mean_available(&self) -> f64 {
        self.machines.mean_available()
    }

    fn new(speed: f64, loads: &ClusterLoads) -> Result<Snapshot, ClusterError> {
        let ClusterLoads { cpu, links, ways } = loads;
        let machines = match links {
            LinkLoads::Uplinks(uplinks) => {
                Machinery::with_uplinks(speed, cpu.clone(), uplinks.clone())
            }
            LinkLoads::Pairs(pairs) => Machinery::with_links(speed, cpu.clone(), pairs.clone()),
        }?;
        Ok(Snapshot { machines: Arc::new(machines), ways: ways.clone() })
    }
}

/// Plans intervals of applications, and runs them on its machines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cluster {
    config: ClusterConfig,
    draws: Stream,
    /// Present availability.
    now: Snapshot,
    /// Availability as its monitor has reported it.
    seen: Snapshot,
    /// Number of reports since the start of the run.
    reported: u64,
    /// Reports that its monitor will make, with their times.
    reports: VecDeque<(Time, Snapshot)>,
    /// The holder of each machine.
    holders: Vec<Option<JobId>>,
    down: Vec<bool>,
    known: BTreeMap<JobId, Known>,
    running: BTreeMap<JobId, Running>,
    /// Actors that have asked for machines and got none.
    waiting: BTreeSet<ActorId>,
}

impl Cluster {
    /// A cluster without applications. `draws` are for planners that draw.
    ///
    /// # Errors
    /// If the speed or the loads are not valid.
    pub fn new(config: ClusterConfig, draws: Stream) -> Result<Cluster, ClusterError> {
        let now = Snapshot::new(config.speed, &config.loads)?;
        let machines = config.loads.cpu.len();
        Ok(Cluster {
            draws,
            seen: now.clone(),
            reported: 0,
            now,
            reports: VecDeque::new(),
            holders: vec![None; machines],
            down: vec![false; machines],
            known: BTreeMap::new(),
            running: BTreeMap::new(),
            waiting: BTreeSet::new(),
            config,
        })
    }

    fn is_usable(&self, machine: u32) -> bool {
        let machine = machine as usize;
        self.holders[machine].is_none() && !self.down[machine]
    }

    fn are_usable(&self, machines: &Machines) -> bool {
        machines.numbers().iter().all(|&machine| self.is_usable(machine))
    }

    /// Adds an application if it is new, and makes predictions if there is a machine for it. `None`
    /// if the job is not such an application.
    fn know(&mut self, job: &Job) -> Option<&mut Known> {
        if !self.known.contains_key(&job.id) {
            let number = self.config.seats.number(self.config.id)?;
            let known = Known::new(job.phases.as_ref()?, ProviderId(number))?;
            self.known.insert(job.id, known);
        }
        let (holders, down) = (&self.holders, &self.down);
        let may_use = |machine: u32| holders[machine as usize].is_none() && !down[machine as usize];
        let known = self.known.get_mut(&job.id)?;
        if known.oracle.is_none() {
            let (machines, search) = (&self.seen.machines, self.config.search);
            known.oracle = known.program.oracle(machines, search, may_use);
        }
        Some(known)
    }

    /// Drops predictions that are not valid any more.
    fn outdate(&mut self) {
        self.known.values_mut().for_each(|known| known.oracle = None);
    }

    fn on_plan_request(
        &mut self,
        from: ActorId,
        job: &Job,
        first: usize,
        out: &mut Outbox,
    ) -> bool {
        // Phases are numbered from 1.
        let Some(method) = self.config.method.filter(|_| first > 0) else { return false };
        let (rescheduling, threshold) = (self.config.costs.within(), self.config.threshold);
        let machines = (0..self.holders.len() as u32).filter(|&it| self.is_usable(it)).collect();
        let premises = Premises { first, report: self.reported, machines };
        // An application that fails repeatedly would otherwise be planned as often.
        let kept = self.known.get(&job.id).and_then(|known| known.planned(&premises));
        let planned = kept.or_else(|| {
            // A copy, because `know` borrows the whole cluster.
            let mut draws = self.draws.clone();
            let problem = |oracle| Problem { oracle, first, rescheduling, threshold };
            let known = self.know(job);
            let made = known.and_then(|it| it.plan(job.id, premises, method, problem, &mut draws));
            self.draws = draws;
            let (planned, examined) = made?;
            // Only a new plan counts: a kept one costs nothing.
            out.examine(examined);
            Some(planned)
        });
        match planned {
            Some(planned) => out.send(from, PlanningMessage::Plan(Box::new(planned))),
            None => self.have_none(from, job.id, out),
        }
        true
    }

    /// There is no machine for an application. The sender of the request is notified when there is
    /// one.
    fn have_none(&mut self, from: ActorId, job: JobId, out: &mut Outbox) {
        self.waiting.insert(from);
        out.send(from, PlanningMessage::NoMachines { job });
    }

    fn on_times_request(
        &mut self,
        me: ActorId,
        from: ActorId,
        request: &TimesRequest,
        out: &mut Outbox,
    ) -> bool {
        let TimesRequest { job, intervals, from: at } = request;
        // With the reported availability, as all predictions; the move itself takes the present one.
        let moving = self.moving(*at, me, &self.seen);
        let Some(moving) = moving else { return false };
        // The result would borrow the whole cluster, so it is looked up again.
        let _ = self.know(job);
        let known = self.known.get(&job.id);
        if known.is_some_and(|known| intervals.iter().any(|&it| !known.has(it))) {
            return false;
        }
        let Some((known, oracle)) = known.and_then(|it| Some((it, it.oracle.as_ref()?))) else {
            self.have_none(from, job.id, out);
            return true;
        };
        let least = Vec::from_iter(intervals.iter().map(|&it| oracle.least_time(it)));
        let last = known.last.as_ref().filter(|it| *at == Some(me) && self.are_usable(it));
        let program = &known.program;
        let stay = last.map_or_else(Vec::new, |machines| {
            let time = |&it| program.time_on(&self.seen.machines, machines, it);
            intervals.iter().map(time).collect()
        });
        let times = Times { job: job.id, least, stay, moving };
        out.send(from, PlanningMessage::Times(Box::new(times)));
        true
    }

    /// Time of a checkpoint to here; `None` for an unknown cluster.
    fn moving(&self, from: Option<ActorId>, me: ActorId, snapshot: &Snapshot) -> Option<Span> {
        match from {
            None => Some(Span::ZERO),
            Some(from) if from == me => Some(self.config.costs.within()),
            Some(from) => {
                let number = self.config.seats.number(ProviderId(from.0))? as usize;
                let share = *snapshot.ways.get(number)?;
                Some(self.config.costs.between(number, share))
            }
        }
    }

    /// The machines for an interval: those of the last one, or the best ones. The inner `None` = there
    /// are none; the outer one = the job is no application with such an interval.
    fn machines_for(&mut self, order: &IntervalOrder) -> Option<Option<Machines>> {
        let interval = order.interval;
        let known = self.know(&order.job).filter(|it| it.has(interval))?;
        Some(match order.how {
            Move::Stay => known.last.clone(),
            _ => known.oracle.as_ref().map(|oracle| oracle.best_schedule(interval)),
        })
    }

    /// An interval is proposed: its machines are kept in mind, but not taken.
    fn on_proposal(&mut self, owner: ActorId, order: &IntervalOrder, out: &mut Outbox) -> bool {
        let (job, interval) = (order.job.id, order.interval);
        // An interval that the application does not have is refused; machines that are taken only end the proposal.
        let Some(machines) = self.machines_for(order) else { return false };
        let machines = machines.filter(|it| self.are_usable(it));
        let Some(known) = self.known.get_mut(&job) else { return false };
        known.proposed = machines.map(|machines| Proposed { interval, machines, owner });
        if known.proposed.is_none() {
            out.send(owner, PlanningMessage::Lapsed { job });
        }
        true
    }

    /// Some machines are not usable any more: forgets the intervals that were proposed for them, and
    /// notifies the actors that proposed them.
    fn lapse(&mut self, out: &mut Outbox) {
        let (holders, down) = (&self.holders, &self.down);
        let is_taken = |&machine: &u32| {
            let machine = machine as usize;
            holders[machine].is_some() || down[machine]
        };
        for (&job, known) in &mut self.known {
            let lapses = |it: &mut Proposed| it.machines.numbers().iter().any(is_taken);
            if let Some(proposed) = known.proposed.take_if(lapses) {
                out.send(proposed.owner, PlanningMessage::Lapsed { job });
            }
        }
    }

    /// An interval is ordered: its machines are taken, and its checkpoint is fetched.
    fn on_order(
        &mut self,
        now: Time,
        me: ActorId,
        owner: ActorId,
        order: &IntervalOrder,
        out: &mut Outbox,
    ) -> bool {
        let job = order.job.id;
        if self.running.contains_key(&job) {
            // An interval with unknown phases is no interval of this application.
            return false;
        }
        let interval = order.interval;
        // The order ends the proposal in any case, so the machines taken below do not lapse it.
        let proposed = self.known.get_mut(&job).and_then(|known| known.proposed.take());
        let machines = match proposed.filter(|it| it.interval == interval) {
            Some(proposed) => Some(proposed.machines),
            None => match self.machines_for(order) {
                Some(machines) => machines,
                None => return false,
            },
        };
        let Some(machines) = machines.filter(|it| self.are_usable(it)) else {
            out.send(owner, PlanningMessage::NotRun { job });
            return true;
        };
        let stays = order.how == Move::Stay;
        let moving = |snapshot| {
            if stays { Some(Span::ZERO) } else { self.moving(order.from, me, snapshot) }
        };
        // The record compares the move that was predicted from the reported loads with the move under the present ones.
        let (Some(predicted_move), Some(moving)) = (moving(&self.seen), moving(&self.now)) else {
            return false;
        };
        let program = self.known[&job].program.clone();
        let predicted = program.time_on(&self.seen.machines, &machines, interval);
        for &machine in machines.numbers() {
            self.holders[machine as usize] = Some(job);
        }
        if let Some(known) = self.known.get_mut(&job) {
            known.last = Some(machines.clone());
        }
        // Predictions hold for the free machines, which are fewer now.
        self.outdate();
        self.lapse(out);
        let from = order.from.filter(|_| order.how == Move::Between);
        let factors = self.config.errors.factors(job, program.phases());
        let mut running = Running::new(program, machines, factors, order, owner, now);
        running.record.from = from.map(|it| ProviderId(it.0));
        running.record.cluster = self.config.id;
        (running.record.predicted_move, running.record.predicted) = (predicted_move, predicted);
        running.reports_phases = self.config.method.is_none();
        out.send(owner, PlanningMessage::Begun { job });
        if moving > Span::ZERO {
            out.set(now + moving, Timer::IntervalBegins { job });
        } else {
            running.begin(now, &self.now.machines, out);
        }
        self.running.insert(job, running);
        true
    }

    /// The end of a phase that must be reported, or of the whole interval.
    fn on_ends(&mut self, now: Time, job: JobId, out: &mut Outbox) -> bool {
        let Some(running) = self.running.get_mut(&job) else { return false };
        if running.ends(now) {
            let owner = running.owner;
            self.close(now, job, IntervalEnd::Done, out);
            out.send(owner, PlanningMessage::IntervalOver { job });
            self.release(out);
        } else {
            out.send(running.owner, PlanningMessage::PhaseOver { job });
            running.go_on(now, &self.now.machines, out);
        }
        true
    }

    /// Ends an interval, and gives its machines back.
    fn close(&mut self, now: Time, job: JobId, ending: IntervalEnd, out: &mut Outbox) {
        let Some(running) = self.running.remove(&job) else { return };
        for &machine in running.machines.numbers() {
            self.holders[machine as usize] = None;
        }
        self.outdate();
        running.close(now, ending, out);
    }

    /// Machines are free: notifies the actors that wait for some.
    fn release(&mut self, out: &mut Outbox) {
        for actor in std::mem::take(&mut self.waiting) {
            out.send(actor, PlanningMessage::MachinesFree);
        }
    }

    fn on_loads(&mut self, now: Time, loads: &ClusterLoads, out: &mut Outbox) -> bool {
        let count = self.config.loads.cpu.len();
        let ways = self.config.loads.ways.len();
        // The number of machines and of links is fixed, and loads of other numbers would be out of range.
        if loads.cpu.len() != count || loads.ways.len() != ways {
            return false;
        }
        let Ok(snapshot) = Snapshot::new(self.config.speed, loads) else { return false };
        // Running intervals need the availability before the change, too.
        for running in self.running.values_mut() {
            running.change(now, &self.now.machines, &snapshot.machines, out);
        }
        self.now = snapshot.clone();
        if self.config.monitor_delay > Span::ZERO {
            let at = now + self.config.monitor_delay;
            self.reports.push_back((at, snapshot));
            out.wake(at, Timer::LoadsSeen);
        } else {
            self.see(snapshot);
        }
        true
    }

    /// The monitor reports this availability.
    fn see(&mut self, snapshot: Snapshot) {
        self.seen = snapshot;
        self.reported += 1;
        self.outdate();
    }

    /// Reports of the monitor have come.
    fn on_seen(&mut self, now: Time) {
        while self.reports.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, snapshot)) = self.reports.pop_front() else { break };
            self.see(snapshot);
        }
    }

    fn on_failed(&mut self, now: Time, processors: &ProcessorSet, out: &mut Outbox) {
        let hit = |running: &Running| {
            let numbers = running.machines.numbers();
            numbers.iter().any(|&machine| processors.contains(machine))
        };
        let lost = self.running.iter().filter(|(_, running)| hit(running));
        // Collected first, because closing an interval changes the map.
        let lost = Vec::from_iter(
            lost.map(|(&job, running)| (job, running.owner, running.record.start.is_some())),
        );
        for (job, owner, arrived) in lost {
            out.stop(Timer::IntervalBegins { job });
            out.stop(Timer::IntervalEnds { job });
            self.close(now, job, IntervalEnd::Lost, out);
            // The application never ran on these machines, so it cannot stay there.
            if !arrived && let Some(known) = self.known.get_mut(&job) {
                known.last = None;
            }
            out.send(owner, PlanningMessage::IntervalLost { job, arrived });
        }
        self.set_down(processors, true);
        self.lapse(out);
        let (provider, processors) = (self.config.id, processors.clone());
        out.observe(Observation::ProcessorsFailed { provider, processors });
        // Machines of lost intervals that have not failed are free.
        self.release(out);
    }

    fn on_restored(&mut self, processors: &ProcessorSet, out: &mut Outbox) {
        self.set_down(processors, false);
        let (provider, processors) = (self.config.id, processors.clone());
        out.observe(Observation::ProcessorsRestored { provider, processors });
        self.release(out);
    }

    fn set_down(&mut self, processors: &ProcessorSet, down: bool) {
        for &(first, last) in processors.intervals() {
            let end = self.down.len().min(last as usize + 1);
            self.down[end.min(first as usize)..end].fill(down);
        }
        self.outdate();
    }

    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        for job in Vec::from_iter(self.running.keys().copied()) {
            self.close(now, job, IntervalEnd::Open, out);
        }
    }
}

impl Actor for Cluster {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let me = ActorId(self.config.id.0);
        let expected = match message {
            Message::Planning(message) => match message {
                PlanningMessage::PlanRequest { job, first } => {
                    self.on_plan_request(from, &job, first as usize, out)
                }
                PlanningMessage::TimesRequest(request) => {
                    self.on_times_request(me, from, &request, out)
                }
                PlanningMessage::Propose(order) => self.on_proposal(from, &order, out),
                PlanningMessage::RunInterval(order) => self.on_order(now, me, from, &order, out),
                PlanningMessage::Forget { job } => {
                    if !self.running.contains_key(&job) {
                        self.known.remove(&job);
                    }
                    true
                }
                PlanningMessage::Loads(loads) => self.on_loads(now, &loads, out),
                _ => false,
            },
            Message::Wake(Timer::IntervalBegins { job }) => {
                self.running.get_mut(&job).is_some_and(|running| {
                    // A running interval has begun already, and its timer does not belong to this order.
                    let begins = running.record.start.is_none();
                    if begins {
                        running.begin(now, &self.now.machines, out);
                    }
                    begins
                })
            }
            Message::Wake(Timer::IntervalEnds { job }) => self.on_ends(now, job, out),
            Message::Wake(Timer::LoadsSeen) => {
                self.on_seen(now);
                true
            }
            Message::Resource(ResourceMessage::Failed { processors }) => {
                self.on_failed(now, &processors, out);
                true
            }
            Message::Resource(ResourceMessage::Restored { processors }) => {
                self.on_restored(&processors, out);
                true
            }
            Message::Run(RunMessage::RunOver) => {
                self.on_run_over(now, out);
                true
            }
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
    }
}
