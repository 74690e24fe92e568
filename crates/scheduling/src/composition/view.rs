//! The disclosure ladder as types: a policy can read only the level that it declares; other accesses do not
//! compile.
//!
//! Each [`Level`] adds one field. A [`View`] holds the fields of its level, with no access to the provider
//! itself. An accessor exists from the level on that has its field:
//!
//! ```
//! use haggle_scheduling::composition::{View, view::level};
//!
//! fn powers(views: &[View<level::Load>]) -> u64 {
//!     views.iter().map(View::power).sum()
//! }
//! ```
//!
//! Offers disclose no power,
//!
//! ```compile_fail,E0277
//! use haggle_scheduling::composition::{View, view::level};
//!
//! fn peek(view: &View<level::Offers>) -> u64 {
//!     view.power()
//! }
//! ```
//!
//! power no load,
//!
//! ```compile_fail,E0277
//! use haggle_scheduling::composition::{View, view::level};
//!
//! fn peek(view: &View<level::Power>) -> u128 {
//!     view.load()
//! }
//! ```
//!
//! load no slots,
//!
//! ```compile_fail,E0277
//! use haggle_scheduling::composition::{View, view::level};
//!
//! fn peek(view: &View<level::Load>) -> usize {
//!     view.free_time().slots.len()
//! }
//! ```
//!
//! and slots no waiting work:
//!
//! ```compile_fail,E0277
//! use haggle_scheduling::composition::{View, view::level};
//!
//! fn peek(view: &View<level::Slots>) -> usize {
//!     view.queue().len()
//! }
//! ```

use std::fmt;
use std::hash::Hash;

use haggle_model::{Disclosure, Span, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bags::{FreeSlot, Offer};

/// The free time of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FreeTime {
    /// One processor after the other, from now on over the whole plan.
    pub slots: Vec<FreeSlot>,
    /// Planned time of one of the bag's tasks on this machine.
    pub task: Span,
}

/// Waiting work of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct QueueEntry {
    /// Processors of a job, or tasks of a share.
    pub processors: u32,
    /// Promised completion; [`Time::FOREVER`] = none.
    pub promise: Time,
}

/// Source of the facts that a provider may disclose. No fact above the agreed level is requested.
pub trait Facts {
    /// Its offers for the bag.
    fn offers(&mut self) -> Vec<Offer>;
    /// Its total computing power, in thousandths of a reference processor.
    fn power(&mut self) -> u64;
    /// Its remaining work, in thousandths of a reference processor times microseconds, so that load / power
    /// is the time to do it.
    fn load(&mut self) -> u128;
    /// Its free time.
    fn free_time(&mut self) -> FreeTime;
    /// Its waiting work.
    fn queue(&mut self) -> Vec<QueueEntry>;
}

/// The levels.
pub mod level {
    /// Offers only.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Offers;
    /// And total computing power.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Power;
    /// And load, as one number.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Load;
    /// And free time slots.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Slots;
    /// And all waiting work.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Queue;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::level::Offers {}
    impl Sealed for super::level::Power {}
    impl Sealed for super::level::Load {}
    impl Sealed for super::level::Slots {}
    impl Sealed for super::level::Queue {}
}

/// A level of disclosure; [`level`] has all of them.
pub trait Level: sealed::Sealed + Sized {
    /// The field that the level adds to the levels before it.
    type Info;
    /// The fields of a view beside the offers.
    type Extra: Clone + fmt::Debug + PartialEq + Eq + Hash + Serialize + DeserializeOwned;
    /// The same level as a value.
    const DISCLOSURE: Disclosure;

    /// Reads the fields of the level.
    fn look_up(facts: &mut impl Facts) -> Self::Extra;

    /// Takes the fields of this level out of any view; `None` if the view has a lower level.
    fn take(view: &AnyView) -> Option<Self::Extra>;
}

/// A level that includes level `L`.
pub trait Includes<L: Level>: Level {
    /// Returns the field that `L` adds.
    fn get(extra: &Self::Extra) -> &L::Info;
}

impl Level for level::Offers {
    type Info = ();
    type Extra = ();
    const DISCLOSURE: Disclosure = Disclosure::Offers;

    fn look_up(_: &mut impl Facts) {}

    fn take(_: &AnyView) -> Option<()> {
        Some(())
    }
}

impl Level for level::Power {
    type Info = u64;
    type Extra = u64;
    const DISCLOSURE: Disclosure = Disclosure::Power;

    fn look_up(facts: &mut impl Facts) -> u64 {
        facts.power()
    }

    fn take(view: &AnyView) -> Option<u64> {
        view.power()
    }
}

impl Level for level::Load {
    type Info = u128;
    type Extra = (u64, u128);
    const DISCLOSURE: Disclosure = Disclosure::Load;

    fn look_up(facts: &mut impl Facts) -> (u64, u128) {
        (facts.power(), facts.load())
    }

    fn take(view: &AnyView) -> Option<(u64, u128)> {
        Some((view.power()?, view.load()?))
    }
}

impl Level for level::Slots {
    type Info = FreeTime;
    type Extra = (u64, u128, FreeTime);
    const DISCLOSURE: Disclosure = Disclosure::Slots;

    fn look_up(facts: &mut impl Facts) -> (u64, u128, FreeTime) {
        (facts.power(), facts.load(), facts.free_time())
    }

    fn take(view: &AnyView) -> Option<(u64, u128, FreeTime)> {
        Some((view.power()?, view.load()?, view.free_time()?.clone()))
    }
}

impl Level for level::Queue {
    type Info = Vec<QueueEntry>;
    type Extra = (u64, u128, FreeTime, Vec<QueueEntry>);
    const DISCLOSURE: Disclosure = Disclosure::Queue;

    fn look_up(facts: &mut impl Facts) -> Self::Extra {
        (facts.power(), facts.load(), facts.free_time(), facts.queue())
    }

    fn take(view: &AnyView) -> Option<Self::Extra> {
        match view {
            AnyView::Queue(view) => Some(view.extra.clone()),
            _ => None,
        }
    }
}

/// Implements that a level includes another, with the place of its field.
macro_rules! includes {
    ($($upper:ident includes $lower:ident: $extra:ident => $field:expr;)*) => {
        $(impl Includes<level::$lower> for level::$upper {
            fn get($extra: &Self::Extra) -> &<level::$lower as Level>::Info {
                $field
            }
        })*
    };
}

includes! {
    Offers includes Offers: extra => extra;
    Power includes Offers: _extra => &();
    Power includes Power: extra => extra;
    Load includes Offers: _extra => &();
    Load includes Power: extra => &extra.0;
    Load includes Load: extra => &extra.1;
    Slots includes Offers: _extra => &();
    Slots includes Power: extra => &extra.0;
    Slots includes Load: extra => &extra.1;
    Slots includes Slots: extra => &extra.2;
    Queue includes Offers: _extra => &();
    Queue includes Power: extra => &extra.0;
    Queue includes Load: extra => &extra.1;
    Queue includes Slots: extra => &extra.2;
    Queue includes Queue: extra => &extra.3;
}

/// Facts that a provider has disclosed at level `L`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct View<L: Level> {
    offers: Vec<Offer>,
    extra: L::Extra,
}

impl<L: Level> View<L> {
    /// Reads the facts of the level, and no more.
    pub fn disclose(facts: &mut impl Facts) -> View<L> {
        View { offers: facts.offers(), extra: L::look_up(facts) }
    }

    /// Offers for the bag.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Total computing power, in thousandths of a reference processor.
    pub fn power(&self) -> u64
    where
        L: Includes<level::Power>,
    {
        *<L as Includes<level::Power>>::get(&self.extra)
    }

    /// Remaining work, in thousandths of a reference processor times microseconds.
    pub fn load(&self) -> u128
    where
        L: Includes<level::Load>,
    {
        *<L as Includes<level::Load>>::get(&self.extra)
    }

    /// Free time of the whole plan.
    pub fn free_time(&self) -> &FreeTime
    where
        L: Includes<level::Slots>,
    {
        <L as Includes<level::Slots>>::get(&self.extra)
    }

    /// Waiting work.
    pub fn queue(&self) -> &[QueueEntry]
    where
        L: Includes<level::Queue>,
    {
        <L as Includes<level::Queue>>::get(&self.extra)
    }
}

/// A view of any level, as messages carry it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AnyView {
    /// Of level [`Disclosure::Offers`].
    Offers(View<level::Offers>),
    /// Of level [`Disclosure::Power`].
    Power(View<level::Power>),
    /// Of level [`Disclosure::Load`].
    Load(View<level::Load>),
    /// Of level [`Disclosure::Slots`].
    Slots(View<level::Slots>),
    /// Of level [`Disclosure::Queue`].
    Queue(View<level::Queue>),
}

impl AnyView {
    /// Reads the facts of `level`, and no more.
    pub fn disclose(level: Disclosure, facts: &mut impl Facts) -> AnyView {
        match level {
            Disclosure::Offers => AnyView::Offers(View::disclose(facts)),
            Disclosure::Power => AnyView::Power(View::disclose(facts)),
            Disclosure::Load => AnyView::Load(View::disclose(facts)),
            Disclosure::Slots => AnyView::Slots(View::disclose(facts)),
            Disclosure::Queue => AnyView::Queue(View::disclose(facts)),
        }
    }

    /// Its level.
    pub fn disclosure(&self) -> Disclosure {
        match self {
            AnyView::Offers(_) => Disclosure::Offers,
            AnyView::Power(_) => Disclosure::Power,
            AnyView::Load(_) => Disclosure::Load,
            AnyView::Slots(_) => Disclosure::Slots,
            AnyView::Queue(_) => Disclosure::Queue,
        }
    }

    /// Offers for the bag.
    pub fn offers(&self) -> &[Offer] {
        match self {
            AnyView::Offers(view) => view.offers(),
            AnyView::Power(view) => view.offers(),
            AnyView::Load(view) => view.offers(),
            AnyView::Slots(view) => view.offers(),
            AnyView::Queue(view) => view.offers(),
        }
    }

    /// The part of the view at level `L`; `None` if the view has a lower level.
    pub fn narrow<L: Level>(&self) -> Option<View<L>> {
        Some(View { offers: self.offers().to_vec(), extra: L::take(self)? })
    }

    /// Waiting work, if the level discloses it.
    pub fn queue(&self) -> &[QueueEntry] {
        match self {
            AnyView::Queue(view) => view.queue(),
            _ => &[],
        }
    }

    /// Total computing power in thousandths of a reference processor, if the level discloses it.
    pub fn power(&self) -> Option<u64> {
        match self {
            AnyView::Offers(_) => None,
            AnyView::Power(view) => Some(view.power()),
            AnyView::Load(view) => Some(view.power()),
            AnyView::Slots(view) => Some(view.power()),
            AnyView::Queue(view) => Some(view.power()),
        }
    }

    /// Remaining work in thousandths of a reference processor times microseconds, if the level discloses it.
    pub fn load(&self) -> Option<u128> {
        match self {
            AnyView::Offers(_) | AnyView::Power(_) => None,
            AnyView::Load(view) => Some(view.load()),
            AnyView::Slots(view) => Some(view.load()),
            AnyView::Queue(view) => Some(view.load()),
        }
    }

    /// Free time of the whole plan, if the level discloses it.
    pub fn free_time(&self) -> Option<&FreeTime> {
        match self {
            AnyView::Offers(_) | AnyView::Power(_) | AnyView::Load(_) => None,
            AnyView::Slots(view) => Some(view.free_time()),
            AnyView::Queue(view) => Some(view.free_time()),
        }
    }
}
