//! The disclosure ladder: how much a provider tells others about itself.

use serde::{Deserialize, Serialize};

/// How much a provider tells: each level includes those before it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub enum Disclosure {
    /// Answers to concrete requests only.
    #[default]
    Offers,
    /// And its total computing power.
    Power,
    /// And a rough load: one number.
    Load,
    /// And its free time slots.
    Slots,
    /// And its whole queue.
    Queue,
}

impl Disclosure {
    /// All levels, from the most private on.
    pub const ALL: [Disclosure; 5] = [
        Disclosure::Offers,
        Disclosure::Power,
        Disclosure::Load,
        Disclosure::Slots,
        Disclosure::Queue,
    ];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Disclosure::Offers => "offers",
            Disclosure::Power => "power",
            Disclosure::Load => "load",
            Disclosure::Slots => "slots",
            Disclosure::Queue => "queue",
        }
    }
}
