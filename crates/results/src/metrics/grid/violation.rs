//! Contradictions in the accounts of a grid.

/// The accounts of resources contradict those of attempts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridViolation {
    /// The time for which slots were held differs from the sum over all categories.
    #[error("slots were held for {held} us, and the attempts of all jobs have {summed} us")]
    SlotTime {
        /// Sum over all categories, microseconds.
        summed: i128,
        /// Sum over all resources, microseconds.
        held: i128,
    },
    /// The computed work differs from the sum over all categories.
    #[error(
        "resources computed {processed} parts of work, and the attempts of all jobs have {summed} parts"
    )]
    Work {
        /// Sum over all categories, parts of [`haggle_model::work::Work`].
        summed: u128,
        /// Sum over all resources, parts.
        processed: u128,
    },
    /// The reserved shares differ from those of the sessions that were accepted.
    #[error(
        "resources reserved {reserved} us x ppm of shares, and the attempts of all sessions have {summed}"
    )]
    Reserved {
        /// Sum over attempts of sessions, microseconds x parts per million.
        summed: u128,
        /// Sum over all resources.
        reserved: u128,
    },
    /// The data that arrived differ from the data that routes carried.
    #[error("{arrived} bytes have arrived at resources and from them, and {carried} on their ways")]
    Data {
        /// Sum over kinds of data, bytes.
        arrived: u64,
        /// Sum over routes, bytes.
        carried: u64,
    },
    /// The data that arrived differ from the data of attempts.
    #[error("{arrived} bytes have arrived at resources and from them, and {summed} for attempts")]
    DataOfAttempts {
        /// Data that arrived in all, bytes.
        arrived: u64,
        /// Data that arrived for attempts or from them, bytes.
        summed: u64,
    },
}
