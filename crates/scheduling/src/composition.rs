//! Composition of the offers of several providers so that a whole bag meets its deadline, or gets the
//! earliest possible one (Netto 2009, chapter 6).
//!
//! A policy is a pure function of the bag, of the facts that providers disclosed, and of the number of the
//! bag. Its type limits what it may read, see [`view`].

pub mod view;

mod dplb;
mod free_time_slots;
mod no_lb;
mod offers;
mod plb;

use haggle_model::{Disclosure, Span, Time};
use serde::{Deserialize, Serialize};

use crate::bags::{Award, Offer};

pub use dplb::{Dplb, DplbV2, WeightRule};
pub use free_time_slots::FreeTimeSlots;
pub use no_lb::NoLb;
pub use plb::Plb;
pub use view::{AnyView, Facts, FreeTime, Includes, Level, QueueEntry, View, level};

/// A bag as the metascheduler sees it when it composes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BagCall {
    /// Its tasks, at least one.
    pub tasks: u32,
    /// Planned time of a task on the reference processor.
    pub span: Span,
    /// Completion that its user wishes; `None` = as early as possible.
    pub deadline: Option<Time>,
    /// The present.
    pub now: Time,
}

/// A bag distributed over providers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Composition {
    /// Completion of the bag: the deadline, or the latest part if that is later or there is no deadline.
    pub completion: Time,
    /// By provider; the tasks of all parts are those of the bag.
    pub parts: Vec<Part>,
    /// True if the offers that meet the deadline sufficed and the load was balanced over them. Otherwise
    /// the earliest composite was used, or slots.
    pub balanced: bool,
    /// Number of different sizes of the offers over which the load was balanced.
    pub sizes: usize,
}

/// The part of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its index among the views.
    pub provider: usize,
    /// The award to it.
    pub award: Award,
    /// Its offer, if offers were requested. Differs from the offer in the award if the composite is
    /// relaxed.
    pub offer: Option<Offer>,
}

impl Part {
    /// Tasks of the part.
    pub fn tasks(&self) -> u32 {
        match &self.award {
            Award::Offered { tasks, .. } => *tasks,
            Award::Placed { batches, .. } => batches.iter().map(|batch| batch.tasks).sum(),
        }
    }
}

/// A composition policy.
pub trait Composer {
    /// The disclosure level that it needs of each provider; it can read no more.
    type Needs: Level;

    /// True if it requests offers. A policy that uses free time only does not, which spares providers the
    /// work.
    const ASKS_FOR_OFFERS: bool = true;

    /// Distributes a bag over providers, one view each; ties go to the provider named first. `turn` counts
    /// the bags from 0. Returns `None` if the providers together do not accept the whole bag.
    fn compose(&self, bag: &BagCall, views: &[View<Self::Needs>], turn: u64)
    -> Option<Composition>;
}

/// Calls a policy with views narrowed to its needs.
fn with<C: Composer>(
    policy: C,
    bag: &BagCall,
    views: &[AnyView],
    turn: u64,
) -> Option<Composition> {
    let views: Option<Vec<View<C::Needs>>> = views.iter().map(AnyView::narrow).collect();
    policy.compose(bag, &views?, turn)
}

/// A composition of one's own. It is made of a [`Composer`] only, so it reads no more than that declares.
///
/// ```
/// use haggle_scheduling::composition::{BagCall, Composer, Composition, OwnComposition, Part, View, level};
/// use haggle_scheduling::Award;
///
/// /// The whole bag to the provider that has it done first.
/// #[derive(Default)]
/// struct Undivided;
///
/// impl Composer for Undivided {
///     type Needs = level::Offers;
///
///     fn compose(&self, bag: &BagCall, views: &[View<level::Offers>], _: u64) -> Option<Composition> {
///         let whole = views.iter().enumerate().flat_map(|(provider, view)| {
///             let offers = view.offers().iter().filter(|offer| offer.tasks >= bag.tasks);
///             offers.map(move |&offer| (offer.completion, provider, offer))
///         });
///         let (completion, provider, offer) = whole.min()?;
///         let award = Award::Offered { tasks: bag.tasks, offer };
///         let part = Part { provider, award, offer: Some(offer) };
///         Some(Composition { completion, parts: vec![part], balanced: false, sizes: 1 })
///     }
/// }
///
/// let undivided = OwnComposition::of::<Undivided>();
/// assert_eq!(undivided.needs(), haggle_model::Disclosure::Offers);
/// ```
///
/// A composer that needs offers cannot read power:
///
/// ```compile_fail,E0277
/// use haggle_scheduling::composition::{BagCall, Composer, Composition, View, level};
///
/// struct Curious;
///
/// impl Composer for Curious {
///     type Needs = level::Offers;
///
///     fn compose(&self, _: &BagCall, views: &[View<level::Offers>], _: u64) -> Option<Composition> {
///         let _ = views[0].power();
///         None
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OwnComposition {
    needs: Disclosure,
    asks_for_offers: bool,
    compose: fn(&BagCall, &[AnyView], u64) -> Option<Composition>,
}

impl OwnComposition {
    /// The policy of this type, which is created for every bag. Its result is ignored unless the parts go
    /// to different providers and have all tasks of the bag.
    pub const fn of<C: Composer + Default>() -> OwnComposition {
        OwnComposition {
            needs: C::Needs::DISCLOSURE,
            asks_for_offers: C::ASKS_FOR_OFFERS,
            compose: |bag, views, turn| {
                let composed = with(C::default(), bag, views, turn)?;
                composed.is_of(bag, views.len()).then_some(composed)
            },
        }
    }

    /// The level of disclosure that providers must have.
    pub const fn needs(self) -> Disclosure {
        self.needs
    }

    /// Returns whether providers are asked for offers.
    pub const fn asks_for_offers(self) -> bool {
        self.asks_for_offers
    }
}

impl Composition {
    /// Returns whether the parts hold all tasks of a bag, at different ones of `providers` providers.
    fn is_of(&self, bag: &BagCall, providers: usize) -> bool {
        let mut taken = vec![false; providers];
        let mut tasks = 0_u64;
        for part in &self.parts {
            match taken.get_mut(part.provider) {
                Some(taken) if !*taken && part.tasks() > 0 => *taken = true,
                _ => return false,
            }
            tasks += u64::from(part.tasks());
        }
        tasks == u64::from(bag.tasks)
    }
}

/// Variants of the policies, for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CompositionOptions {
    /// Every part of a composite is awarded with the completion of the latest part, not with that of its
    /// own offer. A provider may have to refuse that, because other work is placed before it then; the
    /// original offer still holds.
    pub relax_to_composite: bool,
    /// Weights of offers for balancing by load.
    pub load_weights: WeightRule,
    /// For bags without a deadline: whether the load is balanced over all
    /// offers that are as early as the earliest composite.
    pub balance_without_deadline: bool,
}

crate::words_or_own! {
    /// Rule by which a metascheduler composes a bag of tasks from the answers of providers.
    pub enum CompositionPolicy of OwnComposition as "Composition" {
        /// The offers with the earliest completion of the bag, largest first.
        OffersNoLb = "offers-no-lb",
        /// Tasks in proportion to the sizes of the offers that meet the deadline.
        OffersPlb = "offers-plb",
        /// As offers-plb; offers of one size share by computing power; needs disclosure "power".
        OffersDplb = "offers-dplb",
        /// As offers-dplb, with the computing power that is left before the deadline; needs disclosure "load".
        OffersDplbV2 = "offers-dplb-v2",
        /// The earliest free time slots of all providers; needs disclosure "slots".
        FreeTimeSlots = "free-time-slots",
    }
}

impl CompositionPolicy {
    /// The level of disclosure that providers must have.
    pub const fn needs(self) -> Disclosure {
        const fn of<C: Composer>() -> Disclosure {
            C::Needs::DISCLOSURE
        }
        match self {
            CompositionPolicy::OffersNoLb => of::<NoLb>(),
            CompositionPolicy::OffersPlb => of::<Plb>(),
            CompositionPolicy::OffersDplb => of::<Dplb>(),
            CompositionPolicy::OffersDplbV2 => of::<DplbV2>(),
            CompositionPolicy::FreeTimeSlots => of::<FreeTimeSlots>(),
            CompositionPolicy::Own(own) => own.rule.needs,
        }
    }

    /// Returns whether providers are asked for offers.
    pub const fn asks_for_offers(self) -> bool {
        match self {
            CompositionPolicy::FreeTimeSlots => FreeTimeSlots::ASKS_FOR_OFFERS,
            CompositionPolicy::Own(own) => own.rule.asks_for_offers,
            _ => true,
        }
    }

    /// As [`Composer::compose`] of this policy, with views narrowed to its needs. Returns `None` also if a
    /// view holds less.
    pub fn compose(
        self,
        bag: &BagCall,
        views: &[AnyView],
        options: CompositionOptions,
        turn: u64,
    ) -> Option<Composition> {
        match self {
            CompositionPolicy::OffersNoLb => with(NoLb { options }, bag, views, turn),
            CompositionPolicy::OffersPlb => with(Plb { options }, bag, views, turn),
            CompositionPolicy::OffersDplb => with(Dplb { options }, bag, views, turn),
            CompositionPolicy::OffersDplbV2 => with(DplbV2 { options }, bag, views, turn),
            CompositionPolicy::FreeTimeSlots => with(FreeTimeSlots, bag, views, turn),
            CompositionPolicy::Own(own) => (own.rule.compose)(bag, views, turn),
        }
    }
}
