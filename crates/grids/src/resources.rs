//! The resources known to a scheduler, filed by the criteria of policies, so that no policy must examine
//! all of them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, btree_set};
use std::fmt;
use std::iter::Rev;

use super::on_demand::OnDemand;
use super::rank_set::RankSet;
use haggle_model::work::{EffectiveSpeed, Speed};
use serde::{Deserialize, Serialize};

/// A resource: dense from 0, in the order in which the scenario names them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct ResourceId(pub u32);

/// A site, whose resources share a network: dense from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct SiteId(pub u32);

impl ResourceId {
    /// The number as an index into a vector.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SiteId {
    /// The number as an index into a vector.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "resource#{}", self.0)
    }
}

impl fmt::Debug for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "site#{}", self.0)
    }
}

impl fmt::Debug for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A resource as the scheduler knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Its site.
    pub site: SiteId,
    /// True if it works.
    pub up: bool,
    /// Speed that the background load leaves.
    pub avail: Speed,
    /// Jobs that may hold a slot at the same time, n_max.
    pub slots: u32,
    /// Jobs that hold a slot, n_res.
    pub held: u32,
}

impl Resource {
    /// Returns whether it works and has a free slot.
    pub const fn is_available(&self) -> bool {
        self.up && self.held < self.slots
    }

    /// Its computing power, micro-MIPS; zero while it is down.
    const fn power(&self) -> u64 {
        if self.up { self.avail.as_micro_mips() } else { 0 }
    }

    /// Speed of one more job, avail/(n_res + 1).
    pub const fn effective_speed(&self) -> EffectiveSpeed {
        EffectiveSpeed::shared(self.avail, self.held as u64 + 1)
    }
}

haggle_model::words! {
    /// Ranking of the resources for a job.
    #[derive(Default)]
    pub enum Preference {
        // The larger avail/(n_res + 1); then more speed left, then the one named first.
        /// The resource on which one more job would compute fastest.
        #[default]
        EffectiveSpeed = "effective-speed",
        // The larger avail: "highest MIPS and fewest jobs" to the letter.
        /// The fastest resource; of equals, the one with the fewest jobs.
        SpeedThenLoad = "speed-then-load",
    }
}

haggle_model::words! {
    // CA of load-dependent replication.
    /// Unit of the room for the next job.
    #[derive(Default)]
    pub enum LoadUnit {
        /// Resources that work and have a free slot.
        #[default]
        Resources = "resources",
        /// Free slots of resources that work.
        Slots = "slots",
    }
}

/// All resources. A change costs O(log n), and so does a query, except for the first one of its kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Resources {
    all: Vec<Resource>,
    preference: Preference,
    available: RankSet,
    /// Available resources, the one with the largest effective speed last.
    fastest: OnDemand<BTreeSet<Rank>>,
    /// Available resources in the order of [`Preference::SpeedThenLoad`].
    speediest: OnDemand<BTreeSet<Rank>>,
    sites: OnDemand<Sites>,
    /// Available speed of all working resources, micro-MIPS.
    power: OnDemand<u64>,
    free_slots: u64,
}

/// The working resources, by site.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Sites {
    all: Vec<Site>,
    /// Sites with an available resource, the most powerful last.
    powerful: BTreeSet<SiteRank>,
}

/// Greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Rank {
    speed: EffectiveSpeed,
    avail: Speed,
    held: Reverse<u32>,
    id: Reverse<ResourceId>,
}

type SiteRank = (EffectiveSpeed, Reverse<SiteId>);

/// The working resources of a site.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Site {
    avail: u64,
    held: u64,
    /// The available ones, the fastest last.
    fastest: BTreeSet<Rank>,
}

/// MIPS_S: the available speed, divided by the number of jobs plus one (equation 4.3).
const fn power(avail: u64, held: u64) -> EffectiveSpeed {
    EffectiveSpeed::shared(Speed::from_micro_mips(avail), held + 1)
}

impl Resources {
    /// No resources.
    pub fn new(preference: Preference) -> Resources {
        Resources { preference, ..Resources::default() }
    }

    /// Adds a resource under the next number.
    pub fn add(&mut self, resource: Resource) -> ResourceId {
        let id = ResourceId(self.all.len() as u32);
        self.all.push(resource);
        self.file(id);
        id
    }

    /// Changes a resource; its site must not change.
    pub fn change(&mut self, id: ResourceId, change: impl FnOnce(&mut Resource)) {
        // Ranks are removed with the values under which they were inserted.
        self.unfile(id);
        let site = self.all[id.index()].site;
        change(&mut self.all[id.index()]);
        assert_eq!(self.all[id.index()].site, site, "{id} does not move");
        self.file(id);
    }

    /// Number of resources.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there are no resources.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// One resource.
    pub fn get(&self, id: ResourceId) -> &Resource {
        &self.all[id.index()]
    }

    /// CA: the room for the next job.
    pub fn free(&self, unit: LoadUnit) -> u64 {
        match unit {
            LoadUnit::Resources => self.available.len() as u64,
            LoadUnit::Slots => self.free_slots,
        }
    }

    /// Computing power of all working resources together.
    pub fn power(&self) -> Speed {
        Speed::from_micro_mips(*self.power.get(|| self.all.iter().map(Resource::power).sum()))
    }

    /// Returns whether any resource is available.
    pub fn any_available(&self) -> bool {
        !self.available.is_empty()
    }

    /// The available resource that is preferred for one more job.
    pub fn fastest(&self) -> Option<ResourceId> {
        self.preferred().next().map(|rank| rank.id.0)
    }

    /// The available resources, the one with the largest effective speed first.
    pub fn by_effective_speed(&self) -> impl Iterator<Item = ResourceId> {
        self.by(Preference::EffectiveSpeed).iter().rev().map(|rank| rank.id.0)
    }

    /// Ranks of the available resources for one more job, the preferred one first.
    pub(super) fn preferred(&self) -> Rev<btree_set::Iter<'_, Rank>> {
        self.by(self.preference).iter().rev()
    }

    /// Rank of a resource for one more job, if it were in this state.
    pub(super) fn rank(&self, id: ResourceId, state: &Resource) -> Rank {
        Rank::new(id, state, self.preference)
    }

    /// The available resources, the preferred one last.
    fn by(&self, preference: Preference) -> &BTreeSet<Rank> {
        let order = match preference {
            Preference::EffectiveSpeed => &self.fastest,
            Preference::SpeedThenLoad => &self.speediest,
        };
        order.get(|| self.ranked().map(|(id, it)| Rank::new(id, it, preference)).collect())
    }

    fn sites(&self) -> &Sites {
        self.sites.get(|| {
            let mut sites = Sites::default();
            let all = self.all.iter().enumerate().map(|(id, it)| (ResourceId(id as u32), it));
            all.for_each(|(id, resource)| sites.file(id, resource));
            sites
        })
    }

    /// An available resource not in `except`, drawn uniformly.
    pub fn random(
        &self,
        except: &[ResourceId],
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<ResourceId> {
        self.available.draw_except(except.iter().map(|id| id.0), draw).map(ResourceId)
    }

    /// Place of the next replica of a job that has replicas on `copies` (Chtepen 2011, section 4.4.1). The
    /// site is the one with the fewest copies, then with the largest power of equation 4.3 without the
    /// resources with a copy, then with the lowest number. The resource is the available one of that site
    /// with the largest effective speed. `None` if all available resources have a copy.
    pub fn place(&self, copies: &[ResourceId]) -> Option<ResourceId> {
        let has_copy = |site| copies.iter().any(|&id| self.get(id).site == site);
        // The sites without a copy are ranked already; only sites with copies are computed.
        let (_, Reverse(site)) =
            // These ranks hold for sites without copies only: they include all resources of a site.
            match self.sites().powerful.iter().rev().find(|rank| !has_copy(rank.1.0)) {
                Some(&rank) => rank,
                None => self.best_with_copies(copies)?,
            };
        self.best_of(site, copies)
    }

    /// The best site among the sites with copies.
    fn best_with_copies(&self, copies: &[ResourceId]) -> Option<SiteRank> {
        let sites = copies.iter().map(|&id| self.get(id).site);
        let candidates = sites.filter(|&site| self.best_of(site, copies).is_some());
        let rank = |site: SiteId| {
            let Site { mut avail, mut held, .. } = self.sites().all[site.index()];
            let mut count = 0_u32;
            for copy in copies.iter().map(|&id| self.get(id)).filter(|copy| copy.site == site) {
                count += 1;
                // A resource that is down is not in the sums of its site.
                if copy.up {
                    avail -= copy.avail.as_micro_mips();
                    held -= u64::from(copy.held);
                }
            }
            // Fewest copies first, then the power, then the lowest number.
            (Reverse(count), (power(avail, held), Reverse(site)))
        };
        candidates.map(rank).max().map(|(_, rank)| rank)
    }

    /// The available resource of a site with the largest effective speed, except `copies`.
    fn best_of(&self, site: SiteId, copies: &[ResourceId]) -> Option<ResourceId> {
        let mut best = self.sites().all[site.index()].fastest.iter().rev().map(|rank| rank.id.0);
        best.find(|id| !copies.contains(id))
    }

    /// The available resources.
    fn ranked(&self) -> impl Iterator<Item = (ResourceId, &Resource)> {
        let all = self.all.iter().enumerate().map(|(id, it)| (ResourceId(id as u32), it));
        all.filter(|(_, resource)| resource.is_available())
    }

    fn file(&mut self, id: ResourceId) {
        let resource = &self.all[id.index()];
        self.sites.keep(|sites| sites.file(id, resource));
        self.power.keep(|power| *power += resource.power());
        if resource.is_available() {
            self.free_slots += u64::from(resource.slots - resource.held);
            self.available.insert(id.0);
            let rank = |preference| Rank::new(id, resource, preference);
            self.fastest.keep(|ranks| _ = ranks.insert(rank(Preference::EffectiveSpeed)));
            self.speediest.keep(|ranks| _ = ranks.insert(rank(Preference::SpeedThenLoad)));
        }
    }

    fn unfile(&mut self, id: ResourceId) {
        let resource = &self.all[id.index()];
        self.sites.keep(|sites| sites.unfile(id, resource));
        self.power.keep(|power| *power -= resource.power());
        if resource.is_available() {
            self.free_slots -= u64::from(resource.slots - resource.held);
            self.available.remove(id.0);
            let rank = |preference| Rank::new(id, resource, preference);
            self.fastest.keep(|ranks| _ = ranks.remove(&rank(Preference::EffectiveSpeed)));
            self.speediest.keep(|ranks| _ = ranks.remove(&rank(Preference::SpeedThenLoad)));
        }
    }
}

impl Rank {
    /// The ranked resource.
    pub(super) const fn resource(self) -> ResourceId {
        self.id.0
    }

    fn new(id: ResourceId, resource: &Resource, preference: Preference) -> Rank {
        let (speed, held) = match preference {
            // The number of jobs is part of the speed already.
            Preference::EffectiveSpeed => (resource.effective_speed(), 0),
            Preference::SpeedThenLoad => (EffectiveSpeed::shared(resource.avail, 1), resource.held),
        };
        Rank { speed, avail: resource.avail, held: Reverse(held), id: Reverse(id) }
    }
}

impl Sites {
    fn file(&mut self, id: ResourceId, resource: &Resource) {
        // A site needs an entry even if all its resources are down.
        let sites = self.all.len().max(resource.site.index() + 1);
        self.all.resize_with(sites, Site::default);
        if !resource.up {
            return;
        }
        self.change(resource.site, |site| {
            site.avail += resource.avail.as_micro_mips();
            site.held += u64::from(resource.held);
            if resource.is_available() {
                site.fastest.insert(Rank::new(id, resource, Preference::EffectiveSpeed));
            }
        });
    }

    fn unfile(&mut self, id: ResourceId, resource: &Resource) {
        if !resource.up {
            return;
        }
        self.change(resource.site, |site| {
            site.avail -= resource.avail.as_micro_mips();
            site.held -= u64::from(resource.held);
            site.fastest.remove(&Rank::new(id, resource, Preference::EffectiveSpeed));
        });
    }

    fn change(&mut self, id: SiteId, change: impl FnOnce(&mut Site)) {
        let site = &mut self.all[id.index()];
        self.powerful.remove(&(power(site.avail, site.held), Reverse(id)));
        change(site);
        // A site without an available resource cannot take a replica.
        if !site.fastest.is_empty() {
            self.powerful.insert((power(site.avail, site.held), Reverse(id)));
        }
    }
}
