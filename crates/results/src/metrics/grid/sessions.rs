//! Sessions, which reserve a share of a resource: the key `grid.sessions` of `summary.json`.

use haggle_model::grid::AttemptRecord;
use haggle_model::work::Fraction;
use serde::{Deserialize, Serialize};

use super::accounts::Accounts;
use super::summary::{Came, ratio};

/// Parts per million in a whole.
pub(super) const PPM: f64 = Fraction::ONE.as_ppm() as f64;

/// Sums over the sessions that were accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SessionTotals {
    accepted: u64,
    /// Σ share, parts per million.
    share: u64,
    /// Σ time × share, microseconds × parts per million.
    pub(super) reserved: u128,
}

impl SessionTotals {
    /// Records a session and its attempts.
    pub(super) fn accepted<'a>(
        &mut self,
        share: Fraction,
        attempts: impl Iterator<Item = &'a AttemptRecord>,
    ) {
        self.accepted += 1;
        self.share += u64::from(share.as_ppm());
        let held: i128 = attempts.map(|it| i128::from(it.held().as_micros())).sum();
        self.reserved += held.unsigned_abs() * u128::from(share.as_ppm());
    }

    /// Sums up the sessions; `None` if resources are shared equally.
    pub(super) fn sum_up(&self, came: &Came, accounts: &Accounts) -> Option<GridSessions> {
        let reserved = accounts.reserved?;
        let (accepted, rejected) = (self.accepted, came.rejected);
        let time = accounts.time() as f64;
        Some(GridSessions {
            accepted,
            rejected,
            accepted_percent: ratio(100.0 * accepted as f64, (accepted + rejected) as f64),
            mean_share: ratio(self.share as f64 / PPM, accepted as f64),
            reserved: ratio(reserved as f64 / PPM, time),
            per_resource: ratio(accounts.held as f64, time),
        })
    }
}

/// Sessions in numbers (Chtepen 2011, section 2.2). The outcomes of a workload's sessions are in its group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridSessions {
    /// Sessions that were placed.
    pub accepted: u64,
    /// Sessions that were rejected.
    pub rejected: u64,
    /// 100 × `accepted` / (`accepted` + `rejected`).
    pub accepted_percent: Option<f64>,
    /// Share that an accepted session requested, mean, 0 to 1.
    pub mean_share: Option<f64>,
    /// Share of a resource that is reserved, mean over time and resources, 0 to 1.
    pub reserved: Option<f64>,
    /// Sessions on a resource, mean over time and resources.
    pub per_resource: Option<f64>,
}
