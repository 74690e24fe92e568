//! One job on several providers at once: its common start, and how its start and its parts move while it
//! waits (Netto 2009, chapter 4; Netto and Buyya 2008).
//!
//! A *part* is the work of one provider for such a job. All parts start together and take the same time.
//! The metascheduler that books them sees no queue, only the [free times](FreeTimes) that providers
//! publish:
//!
//! ```text
//!   free times of all ──▶ earliest common start ──▶ parts are held ──▶ a job that waits
//!                                                                          │
//!   something ended early at a provider: local jobs move up,               ▼
//!   a provider still idle asks ([`Rounds`]) ─────────────▶ shift, remap: an earlier completion
//! ```
//!
//! A provider keeps [parts](Parts) in a queue, beside the jobs of its own. A job on one
//! provider only has no part: it has a reservation there, which moves up when time is given back.

mod asking;
mod common_start;
mod difference;
mod dividing;
mod free_times;
mod granting;
mod keeping;
mod moving;
mod news;
mod parts;
mod queue;
mod rounds;
mod together;

use haggle_model::{Span, Time};

pub use asking::{AsksFor, MAPPING_TRIALS, TRIALS};
pub use common_start::{FillRule, earliest_common_start};
pub use dividing::divide;
use dividing::divide_over;
pub use free_times::{FreeTimes, Stretch};
pub(crate) use keeping::KeepsParts;
pub use moving::{CoallocationPolicy, NoImprovement, RemapRule, Search, improve, shift};
pub use news::News;
pub use parts::Parts;
pub use queue::CoallocationQueue;
pub(crate) use queue::around_parts;
pub use rounds::{RequestOrder, Rounds};
use serde::{Deserialize, Serialize};
pub use together::{Put, Together};

/// Requirements of a job that may be spread over providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Processors, all at once, at least one.
    pub processors: u32,
    /// Time that it requests on one provider.
    pub span: Span,
    /// By how many percent it takes longer on several.
    pub overhead: u32,
    /// Fewest processors of a part, where it is spread over several.
    pub part_min: u32,
    /// Number of providers over which it is divided, two or more; `None` = one if one has room, else as
    /// many as needed.
    pub parts: Option<u32>,
    /// Earliest start.
    pub earliest: Time,
    /// Latest completion; `None` = unlimited.
    pub deadline: Option<Time>,
}

impl Demand {
    /// The shortest time that it may be planned to take.
    fn shortest(&self) -> Span {
        self.lasts(self.parts.map_or(1, |parts| parts as usize))
    }

    /// Planned time on this number of providers.
    pub fn lasts(&self, providers: usize) -> Span {
        if providers > 1 { with_overhead(self.span, self.overhead) } else { self.span }
    }
}

/// A time increased by this many percent, rounded up.
pub fn with_overhead(span: Span, percent: u32) -> Span {
    let micros = i128::from(span.as_micros()) * i128::from(100 + u64::from(percent));
    let up = micros.div_euclid(100) + i128::from(micros.rem_euclid(100) > 0);
    Span::from_micros(up.min(i128::from(Span::FOREVER.as_micros())) as i64)
}

/// Places and times at which a job runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// Start of all parts.
    pub start: Time,
    /// Planned time of all parts.
    pub span: Span,
    /// (place of a provider in the list, its processors): at least one processor each, in the order of the
    /// places.
    pub parts: Vec<(usize, u32)>,
}

impl Allocation {
    /// Planned end of all parts.
    pub fn completion(&self) -> Time {
        self.start + self.span
    }

    /// Processors at this provider.
    pub fn at(&self, provider: usize) -> u32 {
        let part = self.parts.iter().find(|&&(place, _)| place == provider);
        part.map_or(0, |&(_, processors)| processors)
    }

    /// Returns whether several providers share it.
    pub fn is_spread(&self) -> bool {
        self.parts.len() > 1
    }
}
