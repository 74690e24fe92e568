//! Identifiers. Each kind is its own type, and prints as users write it.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
        )]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into a vector.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id! {
    /// An actor of a run: dense from 0, in the order in which the scenario names them.
    ActorId, "actor#"
}
id! {
    /// A provider: dense from 0, in the order in which the scenario names them.
    ProviderId, "provider#"
}
id! {
    /// A job of a run: dense from 0, in order of (submission, workload, line).
    JobId, "job#"
}
