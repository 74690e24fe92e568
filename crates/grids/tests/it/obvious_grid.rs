//! Grid policies from their definition, where every job and every resource is examined.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use haggle_grids::{
    Choice, EffectiveSpeed, GridJob, Insight, LoadUnit, Preference, QueueOrder, Replicas, Resource,
    ResourceId, SiteId, Speed, View, Work,
};
use haggle_model::{JobId, Span};
use smallvec::smallvec;

/// Decisions, in the order in which they are made.
#[derive(Debug, PartialEq)]
pub(crate) struct Decisions {
    pub(crate) view: Plain,
    pub(crate) sent: Vec<(JobId, ResourceId)>,
    pub(crate) cancelled: Vec<(JobId, ResourceId)>,
    pub(crate) moved: Vec<(JobId, ResourceId, ResourceId)>,
    pub(crate) switched: Vec<(JobId, bool)>,
}

/// Jobs and resources of a view as plain lists.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plain {
    pub(crate) resources: Vec<Resource>,
    /// Jobs that are not done.
    pub(crate) jobs: BTreeMap<JobId, GridJob>,
}

pub(crate) type Draw<'a> = &'a mut dyn FnMut(usize) -> usize;

impl Plain {
    pub(crate) fn of(view: &View) -> Plain {
        let resources = (0..view.resources().len() as u32).map(ResourceId);
        let jobs = view.jobs().all_open().into_iter();
        Plain {
            resources: resources.map(|id| *view.resources().get(id)).collect(),
            jobs: jobs.map(|id| (id, view.job(id).clone())).collect(),
        }
    }

    fn ids(&self) -> impl Iterator<Item = ResourceId> {
        (0..self.resources.len() as u32).map(ResourceId)
    }

    fn available(&self) -> Vec<ResourceId> {
        self.ids().filter(|id| self.resources[id.index()].is_available()).collect()
    }

    fn free(&self, unit: LoadUnit) -> u64 {
        let free = |resource: &Resource| match unit {
            LoadUnit::Resources => 1,
            LoadUnit::Slots => u64::from(resource.slots - resource.held),
        };
        self.resources.iter().filter(|resource| resource.is_available()).map(free).sum()
    }

    /// Jobs that are not done, in order of arrival, then number.
    fn live(&self) -> Vec<JobId> {
        let mut live: Vec<JobId> = self.jobs.keys().copied().collect();
        live.sort_by_key(|id| (self.jobs[id].arrival, *id));
        live
    }

    fn job(&mut self, job: JobId) -> &mut GridJob {
        self.jobs.get_mut(&job).expect("it is not done")
    }

    fn copies(&self, job: JobId) -> u32 {
        self.jobs[&job].replicas.len() as u32
    }

    fn fastest(&self, preference: Preference) -> Option<ResourceId> {
        self.available().into_iter().max_by_key(|id| {
            let resource = self.resources[id.index()];
            match preference {
                Preference::EffectiveSpeed => {
                    (resource.effective_speed(), resource.avail, Reverse(0), Reverse(*id))
                }
                Preference::SpeedThenLoad => {
                    let speed = EffectiveSpeed::shared(resource.avail, 1);
                    (speed, resource.avail, Reverse(resource.held), Reverse(*id))
                }
            }
        })
    }

    /// The placement rule, step by step as it is published.
    pub(crate) fn place(&self, job: JobId) -> Option<ResourceId> {
        let copies = &self.jobs[&job].replicas;
        let sites = self.resources.iter().map(|resource| resource.site.0).max()? + 1;
        let mut best = None;
        for site in (0..sites).map(SiteId) {
            let here = |id: &ResourceId| self.resources[id.index()].site == site;
            let others: Vec<ResourceId> = self
                .ids()
                .filter(|id| here(id) && self.resources[id.index()].up && !copies.contains(id))
                .collect();
            let mut candidates = others.clone();
            candidates.retain(|id| self.resources[id.index()].is_available());
            if candidates.is_empty() {
                continue;
            }
            let sum = |of: &dyn Fn(&Resource) -> u64| -> u64 {
                others.iter().map(|id| of(&self.resources[id.index()])).sum()
            };
            let avail = Speed::from_micro_mips(sum(&|resource| resource.avail.as_micro_mips()));
            let power = EffectiveSpeed::shared(avail, 1 + sum(&|resource| resource.held.into()));
            let active = copies.iter().filter(|id| here(id)).count();
            let merit = (Reverse(active), power, Reverse(site));
            if best.as_ref().is_none_or(|(most, _)| merit > *most) {
                best = Some((merit, candidates));
            }
        }
        let (_, candidates) = best?;
        candidates.into_iter().max_by_key(|id| {
            let resource = self.resources[id.index()];
            (resource.effective_speed(), resource.avail, Reverse(*id))
        })
    }
}

impl Decisions {
    pub(crate) fn none(view: &View) -> Decisions {
        Decisions {
            view: Plain::of(view),
            sent: Vec::new(),
            cancelled: Vec::new(),
            moved: Vec::new(),
            switched: Vec::new(),
        }
    }

    fn send(&mut self, job: JobId, resource: ResourceId) {
        self.view.resources[resource.index()].held += 1;
        self.view.job(job).replicas.push(resource);
        self.view.job(job).dispatches += 1;
        self.sent.push((job, resource));
    }

    fn switch(&mut self, job: JobId, on: bool) {
        if std::mem::replace(&mut self.view.job(job).checkpointing, on) != on {
            self.switched.push((job, on));
        }
    }

    pub(crate) fn queue(
        mut self,
        order: QueueOrder,
        choice: Choice,
        preference: Preference,
        draw: Draw<'_>,
    ) -> Decisions {
        loop {
            let mut waiting = self.view.live();
            waiting.retain(|&job| self.view.copies(job) == 0);
            let length = |job: &JobId| self.view.jobs[job].length;
            // Of equal ones the first in turn is taken.
            let next = match order {
                QueueOrder::Arrival => waiting.first().copied(),
                QueueOrder::LongestFirst => waiting.iter().copied().rev().max_by_key(length),
                QueueOrder::ShortestFirst => waiting.iter().copied().min_by_key(length),
            };
            let available = self.view.available();
            let (Some(job), false) = (next, available.is_empty()) else { return self };
            let resource = match choice {
                Choice::Random => available[draw(available.len())],
                Choice::Fastest => self.view.fastest(preference).expect("one is available"),
            };
            self.send(job, resource);
        }
    }

    pub(crate) fn replication(mut self, replicas: Replicas) -> Decisions {
        let mut postponed = Vec::new();
        loop {
            let free = self.view.free(replicas.unit);
            let limit = if free >= replicas.room { replicas.max } else { replicas.min };
            let mut jobs = self.view.live();
            jobs.retain(|job| self.view.copies(*job) < limit && !postponed.contains(job));
            let (Some(&job), true) = (jobs.first(), free > 0) else { return self };
            match self.view.place(job) {
                Some(resource) => self.send(job, resource),
                None => postponed.push(job),
            }
        }
    }

    pub(crate) fn wqr(mut self, most: u32, draw: Draw<'_>) -> Decisions {
        let mut passed = Vec::new();
        loop {
            let mut jobs = self.view.live();
            jobs.retain(|job| self.view.copies(*job) < most && !passed.contains(job));
            let next = jobs.iter().copied().min_by_key(|&job| self.view.copies(job));
            let (Some(job), true) = (next, self.view.free(LoadUnit::Resources) > 0) else {
                return self;
            };
            let mut available = self.view.available();
            available.retain(|id| !self.view.jobs[&job].replicas.contains(id));
            if available.is_empty() {
                passed.push(job);
            } else {
                let resource = available[draw(available.len())];
                self.send(job, resource);
            }
        }
    }

    fn reduce(&mut self, job: JobId, insight: &dyn Insight) {
        let copies = self.view.jobs[&job].replicas.clone();
        let merit = |id: &ResourceId| (insight.progress(job, *id), Reverse(*id));
        let kept = copies.iter().copied().max_by_key(merit).expect("it has replicas");
        for copy in copies.into_iter().filter(|&copy| copy != kept) {
            self.cancelled.push((job, copy));
        }
        self.view.job(job).replicas = smallvec![kept];
        self.switch(job, true);
    }

    /// CombinedFT under load. `free` says which cancelled replicas held a slot.
    pub(crate) fn protect(
        mut self,
        insight: &dyn Insight,
        holds_slot: &dyn Fn(JobId, ResourceId) -> bool,
        draw: Draw<'_>,
    ) -> Decisions {
        for job in self.view.live() {
            let already = self.cancelled.len();
            if self.view.copies(job) > 0 {
                self.reduce(job, insight);
            } else if self.view.free(LoadUnit::Slots) == 0 {
                let mut replicated = self.view.live();
                replicated.sort_unstable();
                replicated.retain(|&job| self.view.copies(job) > 1);
                if replicated.is_empty() {
                    return self;
                }
                let unlucky = replicated[draw(replicated.len())];
                self.reduce(unlucky, insight);
            }
            for &(job, resource) in &self.cancelled[already..] {
                let held = u32::from(holds_slot(job, resource));
                self.view.resources[resource.index()].held -= held;
            }
            if self.view.copies(job) == 0 {
                let Some(resource) = self.view.place(job) else { return self };
                self.switch(job, true);
                self.send(job, resource);
            }
        }
        self
    }

    /// CombinedFT while there is room.
    pub(crate) fn replicate(mut self, replicas: Replicas) -> Decisions {
        let mut postponed = Vec::new();
        loop {
            let free = self.view.free(replicas.unit);
            let room = free >= replicas.room;
            let mut jobs = self.view.live();
            let enough = |job| match room {
                true => self.view.copies(job) >= replicas.max,
                false => self.view.copies(job) > 0,
            };
            jobs.retain(|job| !enough(*job) && !postponed.contains(job));
            let (Some(&job), true) = (jobs.first(), free > 0) else { return self };
            match self.view.place(job) {
                Some(resource) => {
                    self.send(job, resource);
                    if !room {
                        self.switch(job, true);
                    } else if self.view.copies(job) >= replicas.max {
                        self.switch(job, false);
                    }
                }
                None => postponed.push(job),
            }
        }
    }

    /// The moves of rescheduling; with them both slots are held.
    pub(crate) fn reschedule(mut self, insight: &dyn Insight, save: bool) -> Decisions {
        for job in self.view.live() {
            let &[current] = &self.view.jobs[&job].replicas[..] else { continue };
            let here = self.view.resources[current.index()];
            if !here.up {
                continue;
            }
            let length = self.view.jobs[&job].length;
            let left = length.saturating_sub(insight.progress(job, current));
            let work: Work = if save { left } else { length };
            let share = EffectiveSpeed::shared(here.avail, u64::from(here.held.max(1)));
            let stay: Span = left.at_effective(share);
            let mut moves = Vec::new();
            for id in self.view.available().into_iter().filter(|&id| id != current) {
                let resource = self.view.resources[id.index()];
                if let Some(pause) = insight.moving_time(job, current, id) {
                    let speed = resource.effective_speed();
                    let moving = pause + work.at_effective(speed);
                    moves.push((moving, Reverse((speed, resource.avail, Reverse(id))), id));
                }
            }
            if let Some((moving, _, to)) = moves.into_iter().min()
                && moving < stay
            {
                self.view.job(job).replicas = smallvec![to];
                self.view.job(job).dispatches += 1;
                self.view.resources[to.index()].held += 1;
                self.moved.push((job, current, to));
            }
        }
        self
    }
}
