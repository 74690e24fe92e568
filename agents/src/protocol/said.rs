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
//! The facts behind the arrow see the fields by reference, and may examine them. A value in
//! parentheses needs a name for that. Where the name in tables depends on a value, a function made by
//! `said_by!` stands in the place of `said`. So the names of all messages are known (`kinds`).

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

/// Makes the enum of a protocol, and `said` and `kinds` from the facts behind its variants.
macro_rules! protocol {
    ($(#[$meta:meta])* $vis:vis enum $Protocol:ident {
        $($(#[$doc:meta])* $Variant:ident
            $({ $($(#[$about:meta])* $field:ident: $is:ty,)* })?
            $(($carried:ident: $what:ty))?
        => $by:ident($($known:tt)*) $(.$method:ident($($argument:tt)*))*,)*
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
                    $(Self::$Variant $({ $($field),* })? $(($carried))? => {
                        $by($($known)*) $(.$method($($argument)*))*
                    })*
                }
            }

            /// The kinds of its messages.
            pub(crate) fn kinds() -> Vec<&'static str> {
                [$($crate::protocol::said::kinds!($by, $($known)*)),*].concat()
            }
        }
    };
}
pub(crate) use protocol;

/// The kinds of a message with these facts.
macro_rules! kinds {
    (said, $kind:literal) => {
        vec![$kind]
    };
    ($by:ident, $($known:tt)*) => {
        $by::kinds()
    };
}
pub(crate) use kinds;

/// Makes a function that gives the facts about a message with a value, and a module of the same name with all
/// of their kinds.
macro_rules! said_by {
    ($(#[$doc:meta])* fn $name:ident($value:ident: $of:ty) -> Said<$life:lifetime> {
        $($case:pat => said($kind:literal) $(.$method:ident($($argument:tt)*))*,)*
    }) => {
        $(#[$doc])*
        #[inline(always)]
        fn $name($value: $of) -> $crate::protocol::said::Said<$life> {
            match $value {
                $($case => said($kind) $(.$method($($argument)*))*,)*
            }
        }

        mod $name {
            pub(super) fn kinds() -> Vec<&'static str> {
                vec![$($kind),*]
            }
        }
    };
}
pub(crate) use said_by;
