//! What a message says of itself, stated once with its variant: what it is called, which job it is
//! about, when in an instant it is delivered, and what it discloses about its sender.
//!
//! ```text
//! protocol! {
//!     /// What is said about the weather.
//!     #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
//!     pub enum WeatherMessage {
//!         /// Anybody to the observatory: will it rain on this job?
//!         RainRequest {
//!             /// The job.
//!             job: JobId,
//!         } => said("rain_request").of(job),
//!         /// The observatory's answer. Discloses the load of its clouds.
//!         Rain(rain: Box<Rain>) => said("rain").of(&rain.job).tells(DisclosedItem::Load),
//!     }
//! }
//! ```
//!
//! What stands behind the arrow sees the fields by reference, and may look into them. What is
//! carried in parentheses needs a name for that.

use haggle_model::JobId;
use haggle_model::observation::DisclosedItem;

use super::bargain::Answer;
use super::{Parties, Phase, Tell};

/// What a message says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    /// The word used in the table of messages.
    pub(crate) kind: &'static str,
    /// The job it is about, if it is about one.
    pub(crate) job: Option<JobId>,
    /// The job that what it discloses is about, if it is about one.
    pub(crate) discloses_about: Option<JobId>,
    /// When in an instant it is delivered.
    pub(crate) phase: Phase,
    tells: Tells<'a>,
}

/// What a message discloses about its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tells<'a> {
    /// Nothing.
    Nothing,
    /// One item.
    One(DisclosedItem),
    /// So many of an item.
    Many(DisclosedItem, usize),
    /// One item, unless a user says or hears it: between users and those they submit to, what
    /// becomes of their own jobs is no news of anybody else.
    UnlessUser(DisclosedItem),
    /// Offers, and what the level asked for adds.
    Offers(&'a Answer),
}

/// A message of this kind: about no job, part of the conversation, and without news of its sender.
#[inline(always)]
pub(crate) const fn said<'a>(kind: &'static str) -> Said<'a> {
    let phase = Phase::Conversation;
    Said { kind, job: None, discloses_about: None, phase, tells: Tells::Nothing }
}

impl<'a> Said<'a> {
    /// About this job, and so is what it discloses.
    #[inline(always)]
    pub(crate) fn of(self, &job: &JobId) -> Said<'a> {
        Said { job: Some(job), discloses_about: Some(job), ..self }
    }

    /// About no job, though what it discloses may be.
    #[inline(always)]
    pub(crate) fn discloses_about(self, job: Option<JobId>) -> Said<'a> {
        Said { discloses_about: job, ..self }
    }

    /// Delivered in this part of an instant.
    #[inline(always)]
    pub(crate) fn during(self, phase: Phase) -> Said<'a> {
        Said { phase, ..self }
    }

    /// Discloses this about its sender.
    #[inline(always)]
    pub(crate) fn tells(self, tells: impl Into<Tells<'a>>) -> Said<'a> {
        Said { tells: tells.into(), ..self }
    }

    /// Tells what its receiver learns of its sender.
    pub(crate) fn disclose(self, between: Parties, tell: &mut Tell<'_>) {
        match self.tells {
            Tells::One(item) => tell(item, 1),
            Tells::Many(item, count) if count > 0 => {
                tell(item, u32::try_from(count).unwrap_or(u32::MAX));
            }
            Tells::UnlessUser(item) if !between.with_user() => tell(item, 1),
            Tells::Offers(answer) => answer.disclose(tell),
            Tells::UnlessUser(_) | Tells::Many(..) | Tells::Nothing => {}
        }
    }
}

impl From<DisclosedItem> for Tells<'_> {
    #[inline(always)]
    fn from(item: DisclosedItem) -> Self {
        Tells::One(item)
    }
}

/// Makes the enum of a protocol, and `said` of what is stated with each variant.
macro_rules! protocol {
    ($(#[$meta:meta])* $vis:vis enum $Protocol:ident {
        $($(#[$doc:meta])* $Variant:ident
            $({ $($(#[$about:meta])* $field:ident: $is:ty,)* })?
            $(($carried:ident: $what:ty))?
        => $said:expr,)*
    }) => {
        $(#[$meta])*
        $vis enum $Protocol {
            $($(#[$doc])* $Variant $({ $($(#[$about])* $field: $is,)* })? $(($what))?,)*
        }

        impl $Protocol {
            /// What it says of itself.
            // Always inlined: of what it says, only what a caller reads is looked up.
            #[inline(always)]
            #[allow(unused_variables)]
            pub(crate) fn said(&self) -> $crate::protocol::said::Said<'_> {
                match self {
                    $(Self::$Variant $({ $($field),* })? $(($carried))? => $said,)*
                }
            }
        }
    };
}
pub(crate) use protocol;
