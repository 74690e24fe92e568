//! What must not be in the books of a grid.

/// Attempts, jobs and resources of a grid tell different stories.
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
    /// An attempt started from a checkpoint that is not on record.
    #[error("an attempt of job {job} started from a checkpoint that nobody has written")]
    NoCheckpoint {
        /// The job's number in its workload.
        job: i64,
    },
    /// A job is done by an attempt that is not on record.
    #[error("job {job} is done, and the attempt that did it is not on record")]
    NoWinner {
        /// The job's number in its workload.
        job: i64,
    },
    /// The attempts by which a job is done computed another length than it has.
    #[error(
        "job {job} is {length} parts of work long, and the attempts it was done by have {useful}"
    )]
    Length {
        /// The job's number in its workload.
        job: i64,
        /// Its length, parts of [`haggle_model::work::Work`].
        length: u128,
        /// What they computed, parts.
        useful: u128,
    },
}
