//! Accounts of a grid's resources.

use haggle_model::Time;
use haggle_model::grid::{DataMoved, ResourceAccount, RoundsAccount, StorageAccount};
use haggle_model::work::Work;

/// Maximum number of resources for which a summary lists each.
const RESOURCES_LISTED: u64 = 1_000;

/// The accounts of resources, if they may be listed, and the sums over all of them in microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Accounts {
    pub(super) resources: Vec<ResourceAccount>,
    /// Number of resources.
    pub(super) count: u64,
    /// End of the run.
    pub(super) end: Time,
    pub(super) failures: u64,
    pub(super) down: i128,
    pub(super) busy: i128,
    pub(super) full: i128,
    pub(super) held: i128,
    /// Σ time × share reserved; `None` where shares are equal.
    pub(super) reserved: Option<u128>,
    pub(super) processed: Work,
    pub(super) data: DataMoved,
    /// Σ bytes over the routes of data.
    pub(super) carried: u64,
    /// Account of the scheduler.
    pub(super) rounds: RoundsAccount,
    /// Account of the storage, if it has limits.
    pub(super) storage: Option<StorageAccount>,
}

impl Accounts {
    pub(super) fn add(&mut self, account: ResourceAccount) {
        self.failures += u64::from(account.failures);
        self.down += i128::from(account.down.as_micros());
        self.busy += i128::from(account.busy.as_micros());
        self.full += i128::from(account.full.as_micros());
        self.held += i128::from(account.held.as_micros());
        if let Some(reserved) = account.reserved {
            *self.reserved.get_or_insert(0) += reserved;
        }
        self.processed += account.processed;
        self.data += account.data;
        self.carried += account.flows.iter().map(|flow| flow.carried.bytes).sum::<u64>();
        self.count += 1;
        // The list is dropped as soon as it would be too long.
        if self.is_listed() {
            self.resources.push(account);
        } else {
            self.resources = Vec::new();
        }
    }

    /// True if resources are listed one by one.
    fn is_listed(&self) -> bool {
        self.count <= RESOURCES_LISTED
    }

    /// Σ time over resources, up or down, microseconds.
    pub(super) fn time(&self) -> i128 {
        i128::from(self.count) * i128::from(self.end.as_micros())
    }
}
