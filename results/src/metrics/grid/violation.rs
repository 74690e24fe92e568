//! What must not be in the books of a grid.

/// Attempts and resources of a grid tell different stories.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridViolation {
    /// Slots were held for another time than all categories have.
    #[error("slots were held for {held} us, and the attempts of all jobs have {summed} us")]
    SlotTime {
        /// What the categories have, microseconds.
        summed: i128,
        /// What the resources have, microseconds.
        held: i128,
    },
    /// More or less was computed than all categories have.
    #[error(
        "resources computed {processed} parts of work, and the attempts of all jobs have {summed} parts"
    )]
    Work {
        /// What the categories have, parts of [`haggle_model::work::Work`].
        summed: u128,
        /// What the resources have, parts.
        processed: u128,
    },
    /// Shares were reserved for more or less than the sessions that came.
    #[error(
        "resources reserved {reserved} us x ppm of shares, and the attempts of all sessions have {summed}"
    )]
    Reserved {
        /// What the attempts of sessions have, microseconds x parts per million.
        summed: u128,
        /// What the resources have.
        reserved: u128,
    },
    /// More or less data have arrived than took any way.
    #[error("{arrived} bytes have arrived at resources and from them, and {carried} on their ways")]
    Data {
        /// What has arrived by what it was, bytes.
        arrived: u64,
        /// What has arrived by the way it took, bytes.
        carried: u64,
    },
    /// More or less data have arrived than for attempts, or from them.
    #[error("{arrived} bytes have arrived at resources and from them, and {summed} for attempts")]
    DataOfAttempts {
        /// What has arrived in all, bytes.
        arrived: u64,
        /// What has arrived for attempts, bytes.
        summed: u64,
    },
}
