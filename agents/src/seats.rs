//! The numbers that the actors of one part of a world get.

use haggle_model::{ActorId, ProviderId};

/// Where the actors of a grid, or of clusters that plan, stand among all actors.
///
/// Everybody whose processors run jobs comes first, so that the number of a place
/// ([`ProviderId`]) is that of its actor: providers, clusters and the resources of a grid can stand in one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Seats {
    /// The number of the first place of theirs.
    pub first_place: u32,
    /// How many places they have.
    pub places: u32,
    /// The number of the first actor that serves them, behind all places of the world.
    pub first_service: u32,
}

impl Seats {
    /// In a world of so many places and no others.
    pub fn alone(places: u32) -> Seats {
        Seats { first_place: 0, places, first_service: places }
    }

    /// The actor of one of their places, counted from 0.
    pub fn place(self, number: u32) -> ActorId {
        ActorId(self.first_place + number)
    }

    /// One of those that serve them, counted from 0.
    pub fn service(self, number: u32) -> ActorId {
        ActorId(self.first_service + number)
    }

    /// Which of their places this is, counted from 0; `None` = it is somebody else's.
    pub fn number(self, place: ProviderId) -> Option<u32> {
        place.0.checked_sub(self.first_place).filter(|&number| number < self.places)
    }
}
