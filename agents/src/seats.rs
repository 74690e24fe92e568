//! The addresses of the actors of one part of a run.

use haggle_model::{ActorId, ProviderId};
use serde::{Deserialize, Serialize};

/// Addresses of the actors of a grid, or of clusters that plan, among all actors.
///
/// Actors whose processors run jobs come first. So the number of a place ([`ProviderId`]) is the
/// number of its actor, and providers, clusters and resources of a grid can be in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seats {
    /// The number of their first place.
    pub first_place: u32,
    /// Number of their places.
    pub places: u32,
    /// The number of their first service, after all places of the run.
    pub first_service: u32,
}

impl Seats {
    /// For a run with so many places and no others.
    pub fn alone(places: u32) -> Seats {
        Seats { first_place: 0, places, first_service: places }
    }

    /// The actor of one of their places, counted from 0.
    pub fn place(self, number: u32) -> ActorId {
        ActorId(self.first_place + number)
    }

    /// One of their services, counted from 0.
    pub fn service(self, number: u32) -> ActorId {
        ActorId(self.first_service + number)
    }

    /// The index of a place among theirs; `None` = it is not theirs.
    pub fn number(self, place: ProviderId) -> Option<u32> {
        place.0.checked_sub(self.first_place).filter(|&number| number < self.places)
    }
}
