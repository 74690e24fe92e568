//! Facts about a message, defined with its variant. They are its name in tables, the job it is
//! about, the phase of its delivery, and the items that it discloses about its sender.
//!
//! ```text
//! protocol! {
//!     /// Messages about the weather.
//!     #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
//!     pub enum WeatherMessage {
//!         /// Any actor to the observatory: will it rain on this job?
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
//! The expression behind the arrow sees the fields by reference, and may examine them. A value in
//! parentheses needs a name for that.

use haggle_model::JobId;
use haggle_model::observation::DisclosedItem;

use super::bargain::Answer;
use super::{Parties, Phase, Tell};

/// Facts about a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    /// The word used in the table of messages.
    pub(crate) kind: &'static str,
    /// The job it is about, if any.
    pub(crate) job: Option<JobId>,
    /// The job about which it discloses something, if any.
    pub(crate) discloses_about: Option<JobId>,
    /// Phase of an instant in which it is delivered.
    pub(crate) phase: Phase,
    tells: Tells<'a>,
}

/// Facts that a message discloses about its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tells<'a> {
    /// Nothing.
    Nothing,
    /// One item.
    One(DisclosedItem),
    /// So many of an item.
    Many(DisclosedItem, usize),
    /// One item, unless the sender or the receiver is a user: the state of a user's own job
    /// discloses nothing about others.
    UnlessUser(DisclosedItem),
    /// Offers, and the facts that the requested level adds.
    Offers(&'a Answer),
}

/// A message of this kind: about no job, part of the conversation, and without facts about its
/// sender.
#[inline(always)]
pub(crate) const fn said<'a>(kind: &'static str) -> Said<'a> {
    let phase = Phase::Conversation;
    Said { kind, job: None, discloses_about: None, phase, tells: Tells::Nothing }
}

impl<'a> Said<'a> {
    /// About this job, and so is all that it discloses.
    #[inline(always)]
    pub(crate) fn of(self, &job: &JobId) -> Said<'a> {
        Said { job: Some(job), discloses_about: Some(job), ..self }
    }

    /// About no job, but its disclosure may be about one.
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

    /// Reports the facts about its sender that its receiver learns.
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

/// Makes the enum of a protocol, and `said` from the expressions of its variants.
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
            /// Facts about it.
            // Always inlined: then only the facts that a caller reads are computed.
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
