//! Sessions on a grid: their shares, the sites that reserve them, and limits.

use super::Check;
use super::exclusions::SITES;
use super::rule::{Refusal, item, refuse};
use crate::file::{Grid, GridPolicy, LightSessions, Workload};
use crate::quantity::{Share, TimeSpan};
use haggle_config::document::Path;

/// Smallest share that can be reserved, in percent.
const LEAST: f64 = 0.01;

/// Workloads; the fact is true for sessions.
#[rustfmt::skip] // a table
const SESSIONS: &[Refusal<Workload, bool>] = &[
    refuse("", |it, &sessions| it.share.is_none() && sessions && it.merge.is_none(),
        "the share of a resource that these sessions request is missing", "`share` is missing here",
        "add a share, such as `share = \"10%\"`"),
];

#[rustfmt::skip] // a table
const SHARES: &[Refusal<Share>] = &[
    refuse("", |it, ()| is_too_small(*it), "a share is 0.01% or more", "too small", "write percent of a resource, such as \"10%\""),
];

/// Loads for which Erlang's formula is not defined.
#[rustfmt::skip] // a table
const LIMITS: &[Refusal<LightSessions>] = &[
    refuse("blocking", |it, ()| is_too_small(it.blocking), "some sessions are blocked, however much room is kept for them", "too few",
        "write 0.01% or more, such as \"5%\""),
    refuse("between", |it, ()| it.between == TimeSpan::ZERO, "the time between sessions must be above zero", "no time",
        "write a length of time above zero, such as \"5min\""),
];

fn is_too_small(share: Share) -> bool {
    share.fraction() * 100.0 < LEAST
}

impl Check<'_> {
    pub(super) fn check_sessions(&mut self) {
        let grid = self.scenario.grid.as_ref();
        let sessions = grid.is_some_and(|grid| grid.policy.takes_sessions());
        for (index, workload) in self.scenario.workloads.iter().enumerate() {
            let path = item("workload", index);
            let key = path.key("share");
            let sessions = sessions && self.directory.runs_on_grid(workload);
            if !self.is_replaced(&key) {
                self.refuse(SESSIONS, &path, (workload, &sessions), &[]);
            }
            // Shares of other workloads are refused.
            if sessions && workload.merge.is_none() {
                self.check_share(&key, workload.share);
            }
        }
        let Some(grid) = grid else { return };
        let path = Path::root().key("grid");
        for (index, site) in grid.sites.iter().enumerate() {
            self.refuse(SITES, &path.key("site").index(index), (site, &sessions), &[]);
        }
        self.check_limits(&path.key("policy"), grid);
    }

    /// Reports a share that is too small to be reserved.
    fn check_share(&mut self, path: &Path, share: Option<Share>) {
        if let Some(share) = share {
            self.refuse(SHARES, path, (&share, &()), &[]);
        }
    }

    fn check_limits(&mut self, path: &Path, grid: &Grid) {
        match &grid.policy {
            GridPolicy::WithLimit { limit } => self.check_share(&path.key("limit"), Some(*limit)),
            GridPolicy::WithDynamicLimit(limits) => {
                self.check_share(&path.key("light"), Some(limits.light));
                self.check_share(&path.key("share"), limits.share);
                self.refuse(LIMITS, path, (limits, &()), &[]);
            }
            _ => {}
        }
    }
}
