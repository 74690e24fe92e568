//! Clusters, a metascheduler that maps and reallocates moldable jobs, and local users. Messages take no time. At each
//! instant ends come first, then starts, then submissions, then reallocation; both are followed by starts.

use std::collections::BTreeMap;

use haggle_model::{Job, JobId, Moldable, Sizing, Span, StageIn, Time};
use haggle_scheduling::reallocation::{
    Clusters, Reallocated, Rule, Tuning, Waiting, first_done, reallocate,
};
use haggle_scheduling::{Conservative, LocalQueue, Request, Slot};
use haggle_testing::at;

use super::obvious;

pub(super) fn seconds(time: Time) -> i64 {
    assert_eq!(time.as_micros() % 1_000_000, 0, "all times are whole seconds");
    time.as_micros() / 1_000_000
}

/// Functions of a cluster's queue that are tested.
pub(super) trait Queue {
    fn earliest(&mut self, now: Time, processors: u32, span: Span, ready: Time) -> Time;
    fn submit(&mut self, now: Time, slot: Slot, processors: u32, span: Span, ready: Time);
    fn cancel(&mut self, now: Time, slots: &[Slot]);
    fn start(&mut self, now: Time, slot: Slot) -> Option<Time>;
    fn end(&mut self, now: Time, slot: Slot);
    fn due(&mut self, now: Time) -> Vec<Slot>;
    fn next(&self) -> Option<Time>;
}

impl Queue for Box<LocalQueue> {
    fn earliest(&mut self, now: Time, processors: u32, span: Span, ready: Time) -> Time {
        self.starts().estimate_after(now, processors, Some(span), ready).expect("it fits")
    }

    fn submit(&mut self, now: Time, slot: Slot, processors: u32, span: Span, ready: Time) {
        let (span, key, deadline, ahead) = (Some(span), 0, None, false);
        self.submit_after(
            now,
            Request { key, deadline, ahead, ..Request::new(slot, processors, span) },
            ready,
        );
    }

    fn cancel(&mut self, now: Time, slots: &[Slot]) {
        self.starts().withdraw_all(now, slots);
    }

    fn start(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.starts().planned_start(now, slot)
    }

    fn end(&mut self, now: Time, slot: Slot) {
        self.finished(now, slot);
    }

    fn due(&mut self, now: Time) -> Vec<Slot> {
        let mut started = Vec::new();
        self.start_due(now, &mut started);
        started
    }

    fn next(&self) -> Option<Time> {
        self.next_start()
    }
}

struct Machine {
    processors: u32,
    speed: f64,
    tuning: Tuning,
}

struct Site<Q> {
    queue: Q,
    machine: Machine,
}

/// A job and the site to which its user sends it; `None` = to the metascheduler.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) job: Job,
    pub(super) site: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Placed {
    site: usize,
    processors: u32,
    requested: Span,
    runs: bool,
    stage_in: StageIn,
}

pub(super) struct World<Q> {
    pub(super) now: Time,
    sites: Vec<Site<Q>>,
    /// By number.
    jobs: Vec<Sent>,
    placed: BTreeMap<JobId, Placed>,
    /// (end, number)
    running: Vec<(Time, JobId)>,
    pub(super) completions: BTreeMap<JobId, i64>,
    pub(super) estimates: usize,
    /// Time for which the data of a moving job are under way, and time of its start-up.
    pub(super) cost: (i64, i64),
    /// Site of each job's last submission, and its data there.
    staged: BTreeMap<JobId, (usize, StageIn)>,
}

/// How jobs are reallocated in a run, if they are.
pub(super) type Every = (i64, Rule);

impl<Q: Queue> World<Q> {
    /// For each site its queue, processors and speed.
    pub(super) fn new(sites: Vec<(Q, u32, f64)>, tuning: Tuning) -> World<Q> {
        let site = |(queue, processors, speed)| Site {
            queue,
            machine: Machine { processors, speed, tuning },
        };
        World {
            now: Time::ZERO,
            sites: sites.into_iter().map(site).collect(),
            jobs: Vec::new(),
            placed: BTreeMap::new(),
            running: Vec::new(),
            completions: BTreeMap::new(),
            estimates: 0,
            cost: (0, 0),
            staged: BTreeMap::new(),
        }
    }

    /// Submits a job. A job without a site is mapped.
    pub(super) fn add(&mut self, sent: Sent) -> JobId {
        let site = sent.site;
        let id = self.note(sent);
        let site = site.unwrap_or_else(|| {
            let all = 0..self.sites.len();
            let said: Vec<_> = all.map(|site| (site, self.size(site, id))).collect();
            first_done(said.into_iter()).expect("there is a site").0
        });
        self.submit(site, id);
        id
    }

    /// Submits a job to this site for the metascheduler.
    pub(super) fn put(&mut self, site: usize, sent: Sent) -> JobId {
        let id = self.note(sent);
        self.submit(site, id);
        id
    }

    fn note(&mut self, mut sent: Sent) -> JobId {
        let id = JobId(self.jobs.len() as u32);
        sent.job.id = id;
        self.jobs.push(sent);
        id
    }

    /// The size and place that a job would get: its own if it is rigid.
    pub(super) fn size(&mut self, site: usize, job: JobId) -> Sizing {
        self.estimates += 1;
        let StageIn { ready, start_up } = self.stage_in(site, job);
        let Site { queue, machine } = &mut self.sites[site];
        let job = &self.jobs[job.index()].job;
        match Moldable::of(job) {
            Some(moldable) => {
                let evaluate = |processors| {
                    let planned = start_up + moldable.requested(processors, machine.speed);
                    let start = queue.earliest(self.now, processors, planned, ready);
                    Some(Sizing { processors, start, planned })
                };
                machine.tuning.best(moldable.widest(machine.processors), evaluate).expect("a size")
            }
            None => {
                let planned = start_up + job.requested_time.expect("it has a limit");
                let start = queue.earliest(self.now, job.processors, planned, ready);
                Sizing { processors: job.processors, start, planned }
            }
        }
    }

    /// A job that moves once more waits until its data have arrived.
    fn stage_in(&self, site: usize, job: JobId) -> StageIn {
        let (transfer, start_up) = (Span::from_secs(self.cost.0), Span::from_secs(self.cost.1));
        match self.staged.get(&job) {
            None => StageIn::NOTHING,
            Some(&(there, stage_in)) if there == site => stage_in,
            Some((_, before)) => StageIn { ready: self.now.max(before.ready) + transfer, start_up },
        }
    }

    fn pass(&mut self, site: usize) {
        for slot in self.sites[site].queue.due(self.now) {
            let id = JobId(slot.0);
            let placed = self.placed.get_mut(&id).expect("who starts has been placed");
            assert!(!std::mem::replace(&mut placed.runs, true), "it starts once");
            assert_eq!(placed.site, site);
            let StageIn { ready, start_up } = placed.stage_in;
            assert!(ready <= self.now, "its data have come");
            let limit = placed.requested - start_up;
            let job = &self.jobs[id.index()].job;
            let run = match Moldable::of(job) {
                Some(it) => {
                    let speed = self.sites[site].machine.speed;
                    it.run_time(job, placed.processors, speed).min(limit)
                }
                None => job.run_time.reveal_to_machine().min(limit),
            };
            self.running.push((self.now + start_up + run, id));
        }
        let runs = self.placed.values().filter(|it| it.runs && it.site == site);
        let used: u32 = runs.map(|it| it.processors).sum();
        assert!(used <= self.sites[site].machine.processors);
    }

    /// Runs until all jobs are done, or up to but without `until`. Jobs come in order.
    pub(super) fn run(&mut self, coming: &[Sent], every: Option<Every>, how: How) {
        let mut coming = coming.iter().peekable();
        let mut event = 1;
        loop {
            let is_over = coming.peek().is_none() && self.placed.is_empty();
            let ends = self.running.iter().map(|&(end, _)| end).min();
            let comes = coming.peek().map(|it| it.job.submit);
            let starts = self.sites.iter().filter_map(|site| site.queue.next()).min();
            let reallocates = every.filter(|_| !is_over).map(|(period, _)| at(period * event));
            let Some(now) = [ends, comes, starts, reallocates].into_iter().flatten().min() else {
                break;
            };
            self.now = now;
            self.running.sort_unstable();
            let ended = self.running.partition_point(|&(end, _)| end <= now);
            for (_, id) in Vec::from_iter(self.running.drain(..ended)) {
                let placed = self.placed.remove(&id).expect("it ran");
                assert!(self.completions.insert(id, seconds(now)).is_none(), "it ends once");
                self.sites[placed.site].queue.end(now, Slot(id.0));
            }
            (0..self.sites.len()).for_each(|site| self.pass(site));
            while let Some(sent) = coming.next_if(|it| it.job.submit == now) {
                self.add(sent.clone());
            }
            if let Some((_, rule)) = every.filter(|_| reallocates == Some(now)) {
                self.reallocate(rule, how);
                event += 1;
                assert!(event < 10_000, "jobs go round for ever");
            }
        }
    }

    pub(super) fn reallocate(&mut self, rule: Rule, how: How) -> Vec<Reallocated> {
        match how {
            How::Fast => reallocate(rule, self),
            How::Obvious => obvious::reallocate(rule, self),
        }
    }

    /// Completions of all waiting jobs under the present plan.
    pub(super) fn planned(&mut self) -> BTreeMap<JobId, i64> {
        let ids = Vec::from_iter(self.placed.keys().copied());
        let completion = |id: JobId| {
            let Placed { site, requested, .. } = self.placed[&id];
            let start = self.sites[site].queue.start(self.now, Slot(id.0))?;
            Some((id, seconds(start + requested)))
        };
        ids.into_iter().filter_map(completion).collect()
    }

    /// Site of a job, and its number of processors.
    pub(super) fn place(&self, job: JobId) -> (usize, u32) {
        let Placed { site, processors, .. } = self.placed[&job];
        (site, processors)
    }

    pub(super) fn runs(&self, job: JobId) -> bool {
        self.placed[&job].runs
    }
}

/// Version that is used.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Fast,
    Obvious,
}

impl<Q: Queue> Clusters for World<Q> {
    fn count(&self) -> usize {
        self.sites.len()
    }

    fn waiting(&mut self, cluster: usize) -> Vec<Waiting> {
        let theirs = |(id, it): (&JobId, &Placed)| {
            let waits = !it.runs && it.stage_in.ready <= self.now;
            let moved = it.site == cluster && waits && self.jobs[id.index()].site.is_none();
            moved.then_some((*id, *it))
        };
        let waiting = Vec::from_iter(self.placed.iter().filter_map(theirs));
        let queue = &mut self.sites[cluster].queue;
        let waiting = waiting.into_iter().map(|(job, Placed { requested, .. })| {
            let start = queue.start(self.now, Slot(job.0)).expect("it waits");
            Waiting { job, completion: start + requested }
        });
        waiting.collect()
    }

    fn estimate(&mut self, cluster: usize, job: JobId) -> Option<Sizing> {
        Some(self.size(cluster, job))
    }

    fn submit(&mut self, cluster: usize, job: JobId) {
        let Sizing { processors, planned: requested, .. } = self.size(cluster, job);
        let stage_in = self.stage_in(cluster, job);
        self.staged.insert(job, (cluster, stage_in));
        let placed = Placed { site: cluster, processors, requested, runs: false, stage_in };
        assert!(self.placed.insert(job, placed).is_none(), "a job is in one place");
        let queue = &mut self.sites[cluster].queue;
        queue.submit(self.now, Slot(job.0), processors, requested, stage_in.ready);
        self.pass(cluster);
    }

    fn cancel(&mut self, cluster: usize, jobs: &[JobId]) -> Vec<JobId> {
        let waits = |job: &&JobId| self.placed.get(job).is_some_and(|it| !it.runs);
        let back = Vec::from_iter(jobs.iter().filter(waits).copied());
        let slots = Vec::from_iter(back.iter().map(|job| Slot(job.0)));
        self.placed.retain(|job, _| !back.contains(job));
        self.sites[cluster].queue.cancel(self.now, &slots);
        self.pass(cluster);
        back
    }

    fn completion(&mut self, cluster: usize, job: JobId) -> Option<Time> {
        let placed = self.placed.get(&job).filter(|it| !it.runs)?;
        let start = self.sites[cluster].queue.start(self.now, Slot(job.0))?;
        Some(start + placed.requested)
    }
}

/// A queue with conservative backfilling that compresses in the order of the queue.
pub(super) fn conservative(processors: u32) -> Box<LocalQueue> {
    use haggle_scheduling::{Compression, Order};
    Box::new(LocalQueue::Conservative(Conservative::new(
        processors,
        Order::Arrival,
        Compression::JobByJob,
    )))
}
