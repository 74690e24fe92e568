//! The scheduler's knowledge of the grid: reports of resources, which may be late, and its own decisions
//! since (Chtepen 2011, section 2.2).
//!
//! The scheduler knows its dispatches and cancels and the ends of jobs immediately. It learns of failures,
//! repairs and load from [`Report`]s. A report covers only replicas dispatched before it was taken; a slot
//! given to a later replica stays taken. Of several reports on a resource the last one counts when the view
//! is [consulted](View::consult) before a round. So an outage that begins and ends between two rounds is
//! not noticed.

use std::collections::BTreeMap;

use haggle_model::{JobId, Span, Time};
use smallvec::SmallVec;

use super::ends::{Ends, Held, Replica};
use super::jobs::{GridJob, Jobs};
use super::on_demand::OnDemand;
use super::resources::{Preference, Resource, ResourceId, Resources, SiteId};
use haggle_model::work::{Speed, Work, span_of};
use serde::{Deserialize, Serialize};

/// Detection of replicas that failed with their resource.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Detection {
    /// No detection.
    #[default]
    None,
    /// It notices a resource that is down, and with it the failure of all replicas that were sent there
    /// before. An outage that no round observes is not noticed (section 4.4.2).
    State,
    /// It also notices replicas that are missing on a resource that works again.
    RestartReport,
}

/// State that was found at a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Time of the observation; a dispatch in transit at that time counts as later.
    pub taken: Time,
    /// True if it works.
    pub up: bool,
    /// Speed that the background load leaves.
    pub avail: Speed,
    /// Jobs that hold a slot or send their output; none if it is down.
    pub jobs: Vec<JobId>,
}

/// A replica whose failure the scheduler has noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// Its resource.
    pub resource: ResourceId,
    /// The job.
    pub job: JobId,
}

/// The grid as its scheduler knows it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct View {
    detection: Detection,
    resources: Resources,
    jobs: Jobs,
    /// Replicas by resource; most resources have one at a time.
    occupants: Vec<SmallVec<[Occupant; 1]>>,
    /// The last report on each resource since the view was consulted.
    reports: BTreeMap<ResourceId, Report>,
    /// Next ends of jobs, without these reports.
    ends: OnDemand<Ends>,
}

/// A replica at a resource.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Occupant {
    job: JobId,
    since: Time,
    stay: Stay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stay {
    /// It holds a slot.
    Slot,
    /// It holds a slot until its checkpoint is written, and continues at another resource.
    Leaving,
    /// It has been computed and sends its output.
    Output,
    /// It has failed, and the scheduler has not noticed.
    Unnoticed,
}

impl Stay {
    const fn holds_slot(self) -> bool {
        matches!(self, Stay::Slot | Stay::Leaving)
    }
}

impl View {
    /// An empty grid.
    pub fn new(detection: Detection, preference: Preference) -> View {
        View { detection, resources: Resources::new(preference), ..View::default() }
    }

    /// Adds a resource without jobs, up or down.
    pub fn add_resource(&mut self, site: SiteId, up: bool, avail: Speed, slots: u32) -> ResourceId {
        self.occupants.push(SmallVec::new());
        self.resources.add(Resource { site, up, avail, slots, held: 0 })
    }

    /// A job has been submitted.
    pub fn submit(&mut self, job: JobId, arrival: Time, length: Work) {
        self.jobs.add(job, arrival, length);
    }

    /// The resources.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The jobs.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Time that all working resources would need for the remaining work of all jobs: their lengths without
    /// saved progress. Rounded up to the next microsecond.
    pub fn drain_time(&self) -> Span {
        match (self.jobs.work_left() * 1_000_000, self.resources.power().as_micro_mips()) {
            // Before the other arm: an empty grid without working resources has nothing to do.
            (0, _) => Span::ZERO,
            (_, 0) => Span::FOREVER,
            (work, power) => span_of(work.div_ceil(u128::from(power))),
        }
    }

    /// A resource as last reported, whether or not the report has been consulted.
    pub(super) fn last_reported(&self, resource: ResourceId) -> Held {
        self.held(resource, self.reports.get(&resource))
    }

    /// Resources with reports since the view was last consulted.
    pub(super) fn reported_anew(&self) -> impl Iterator<Item = ResourceId> {
        self.reports.keys().copied()
    }

    /// Next ends of jobs, from the last consulted state and later decisions.
    pub(super) fn ends(&self) -> &Ends {
        self.ends.get(|| {
            let ids = (0..self.occupants.len() as u32).map(ResourceId);
            let mut ends = Ends::default();
            ids.for_each(|id| ends.file(id, &self.held(id, None), self.is_left(id)));
            ends
        })
    }

    /// A resource with the jobs that hold a slot there and stay, as of this report.
    fn held(&self, resource: ResourceId, report: Option<&Report>) -> Held {
        let known = self.resources.get(resource);
        let (up, avail) =
            report.map_or((known.up, known.avail), |report| (report.up, report.avail));
        let is_there = |it: &&Occupant| {
            // A report does not cover replicas that were sent later.
            let found = |report: &Report| it.since >= report.taken || report.jobs.contains(&it.job);
            // A leaving job counts as gone.
            up && it.stay == Stay::Slot && report.is_none_or(found)
        };
        let there = self.occupants[resource.index()].iter().filter(is_there);
        let replica = |it: &Occupant| Some(Replica::new(it.job, it.since, self.jobs.open(it.job)?));
        let slots = if up { known.slots } else { 0 };
        Held { avail, slots, replicas: there.filter_map(replica).collect() }
    }

    /// Returns whether a leaving job still holds its slot at a resource.
    fn is_left(&self, resource: ResourceId) -> bool {
        self.occupants[resource.index()].iter().any(|it| it.stay == Stay::Leaving)
    }

    /// Files a resource again, after a change there or in the knowledge of it.
    fn refile(&mut self, resource: ResourceId) {
        if self.ends.is_made() {
            let (held, is_left) = (self.held(resource, None), self.is_left(resource));
            self.ends.keep(|ends| ends.file(resource, &held, is_left));
        }
    }

    /// One job, see [`Jobs::get`].
    pub fn job(&self, job: JobId) -> &GridJob {
        self.jobs.get(job)
    }

    /// See [`Jobs::take_changed`].
    pub fn take_changed_jobs(&mut self) -> Vec<JobId> {
        self.jobs.take_changed()
    }

    /// Place of the next replica of a job, see [`Resources::place`].
    pub fn place(&self, job: JobId) -> Option<ResourceId> {
        self.resources.place(&self.jobs.get(job).replicas)
    }

    /// A resource has been observed. The report counts from the next [`View::consult`] on. Resources that
    /// neither failed nor changed their load need no further report.
    pub fn report(&mut self, resource: ResourceId, report: Report) {
        self.reports.insert(resource, report);
    }

    /// Applies the reports before a round; returns the replicas noticed to have failed. They need a
    /// restart, and their jobs are queued again.
    pub fn consult(&mut self) -> Vec<Loss> {
        let mut losses = Vec::new();
        for (resource, report) in std::mem::take(&mut self.reports) {
            self.read(resource, &report, &mut losses);
        }
        losses
    }

    fn read(&mut self, resource: ResourceId, report: &Report, losses: &mut Vec<Loss>) {
        let noticed = match self.detection {
            Detection::None => false,
            Detection::State => !report.up,
            Detection::RestartReport => true,
        };
        // Taken out, because a loss changes the jobs of the view.
        let mut occupants = std::mem::take(&mut self.occupants[resource.index()]);
        let known = losses.len();
        occupants.retain_mut(|occupant| {
            let job = occupant.job;
            let alive = report.up && report.jobs.contains(&job);
            if alive || occupant.since >= report.taken {
                return true;
            }
            // A leaving replica exists at its new resource already.
            if occupant.stay == Stay::Leaving {
                return false;
            }
            if noticed {
                losses.push(Loss { resource, job });
                return false;
            }
            occupant.stay = Stay::Unnoticed;
            // Only another outage can reveal the failure.
            self.detection == Detection::State
        });
        for loss in &losses[known..] {
            self.forget_replica(loss.job, resource);
        }
        // Counted anew: replicas that failed, noticed or not, hold no slot any more.
        let held = occupants.iter().filter(|occupant| occupant.stay.holds_slot()).count() as u32;
        self.occupants[resource.index()] = occupants;
        self.resources.change(resource, |entry| {
            (entry.up, entry.avail, entry.held) = (report.up, report.avail, held);
        });
        self.refile(resource);
    }

    /// Returns whether the failure of a replica at a resource can still be noticed. It cannot once the resource was
    /// seen to work again without it, unless that observation reveals it. (Another outage may still reveal
    /// it by accident.)
    pub fn may_notice(&self, job: JobId, resource: ResourceId) -> bool {
        let expected = |occupant: &Occupant| {
            occupant.job == job && matches!(occupant.stay, Stay::Slot | Stay::Output)
        };
        self.detection != Detection::None && self.occupants[resource.index()].iter().any(expected)
    }

    /// A replica is sent to a resource, which reserves a slot for it.
    ///
    /// # Panics
    /// If the job is done or has a replica there, or the resource is not available.
    pub fn dispatch(&mut self, now: Time, job: JobId, resource: ResourceId) {
        assert!(self.resources.get(resource).is_available(), "{resource} has no slot for {job}");
        let entry = self.jobs.get(job);
        assert!(!entry.replicas.contains(&resource), "{job} is on {resource} already");
        self.jobs.change(job, |job| {
            job.replicas.push(resource);
            job.dispatches += 1;
        });
        self.occupants[resource.index()].push(Occupant { job, since: now, stay: Stay::Slot });
        self.resources.change(resource, |entry| entry.held += 1);
        self.refile(resource);
    }

    /// A resource has refused a replica: the dispatch does not count, and the job is queued again.
    pub fn refuse(&mut self, job: JobId, resource: ResourceId) {
        self.cancel(job, resource);
        self.jobs.change(job, |job| job.dispatches -= 1);
    }

    /// Cancels a replica; its slot counts as free at once.
    pub fn cancel(&mut self, job: JobId, resource: ResourceId) {
        self.forget_replica(job, resource);
        // A leaving replica holds its slot until it has left.
        self.vacate(job, resource, |stay| stay != Stay::Leaving);
    }

    /// A replica moves: it has a slot at `to`, and holds the one at `from` until
    /// it has [left](View::leave).
    ///
    /// # Panics
    /// As [`View::dispatch`].
    pub fn migrate(&mut self, now: Time, job: JobId, from: ResourceId, to: ResourceId) {
        // A replica that failed unnoticed, or sends its output, has no slot to give back.
        self.vacate(job, from, |stay| !stay.holds_slot());
        let mut occupants = self.occupants[from.index()].iter_mut();
        if let Some(occupant) = occupants.find(|occupant| occupant.job == job) {
            occupant.stay = Stay::Leaving;
        }
        self.refile(from);
        // Before the old replica is forgotten, so that the job is never filed as waiting.
        self.dispatch(now, job, to);
        self.forget_replica(job, from);
    }

    /// A moving replica has given its old slot back.
    pub fn leave(&mut self, job: JobId, from: ResourceId) {
        self.vacate(job, from, |stay| stay == Stay::Leaving);
    }

    /// A replica has been computed and has given its slot back; its output is in transit.
    pub fn computed(&mut self, job: JobId, resource: ResourceId) {
        let mut occupants = self.occupants[resource.index()].iter_mut();
        let holds = |occupant: &&mut Occupant| occupant.job == job && occupant.stay == Stay::Slot;
        if let Some(occupant) = occupants.find(holds) {
            occupant.stay = Stay::Output;
            self.resources.change(resource, |entry| entry.held -= 1);
            self.refile(resource);
        }
    }

    /// Returns whether a replica has given its slot back and only sends data: its output, or its checkpoint if it
    /// continues at another resource.
    pub fn has_computed(&self, job: JobId, resource: ResourceId) -> bool {
        let sends = |occupant: &Occupant| occupant.job == job && occupant.stay == Stay::Output;
        self.occupants[resource.index()].iter().any(sends)
    }

    /// A replica on `resource` has completed its job: the slots of all replicas are free at once. Returns
    /// the resources where the other replicas must be cancelled.
    pub fn complete(&mut self, job: JobId, resource: ResourceId) -> Vec<ResourceId> {
        let mut copies = self.jobs.close(job).map_or_else(Vec::new, |job| job.replicas.into_vec());
        for &copy in &copies {
            self.vacate(job, copy, |_| true);
        }
        copies.retain(|&copy| copy != resource);
        copies
    }

    /// Withdraws a job without replicas.
    pub fn withdraw(&mut self, job: JobId) {
        self.jobs.close(job);
    }

    /// A checkpoint with this progress is available from `now` on; older ones that arrive
    /// later do not count.
    pub fn save(&mut self, now: Time, job: JobId, progress: Work) {
        self.jobs.save(now, job, progress);
        // Saved progress may bring the ends of its replicas forward.
        if let Some(job) = self.jobs.open(job).filter(|_| self.ends.is_made()) {
            job.replicas.clone().into_iter().for_each(|resource| self.refile(resource));
        }
    }

    /// The replicas of a job begin or cease to write checkpoints.
    pub fn set_checkpointing(&mut self, job: JobId, on: bool) {
        self.jobs.change(job, |job| job.checkpointing = on);
    }

    fn forget_replica(&mut self, job: JobId, resource: ResourceId) {
        self.jobs.change(job, |job| job.replicas.retain(|copy| *copy != resource));
    }

    /// Forgets the entry of a job at a resource, if `which` applies.
    fn vacate(&mut self, job: JobId, resource: ResourceId, which: impl Fn(Stay) -> bool) {
        let occupants = &mut self.occupants[resource.index()];
        let Some(index) =
            occupants.iter().position(|occupant| occupant.job == job && which(occupant.stay))
        else {
            return;
        };
        if occupants.remove(index).stay.holds_slot() {
            self.resources.change(resource, |entry| entry.held -= 1);
            self.refile(resource);
        }
    }
}
