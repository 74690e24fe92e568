//! Sessions on a grid: their shares, the sites that reserve them, and limits.

use super::Check;
use crate::file::{Grid, GridPolicy, Sharing};
use crate::quantity::{Share, TimeSpan};
use haggle_config::document::Path;

/// Smallest share that can be reserved, in percent.
const LEAST: f64 = 0.01;

impl Check<'_> {
    pub(super) fn check_sessions(&mut self) {
        let grid = self.scenario.grid.as_ref();
        let sessions = grid.is_some_and(|grid| grid.policy.takes_sessions());
        self.check_shares(sessions);
        let (Some(grid), path) = (grid, Path::root().key("grid")) else { return };
        self.check_sharing(&path, grid, sessions);
        self.check_limits(&path, grid);
        if !sessions || self.is_replaced(&path.key("policy")) {
            return;
        }
        if grid.period > TimeSpan::ZERO {
            self.report(
                &path.key("period"),
                "sessions are placed when they arrive, not in rounds".to_owned(),
                "`period` is not zero",
                "write `period = \"0s\"` under [grid]".to_owned(),
            );
        }
        for (key, time) in [("query", grid.query), ("schedule", grid.schedule)] {
            if time > TimeSpan::ZERO {
                self.report(
                    &path.key(key),
                    "sessions do not wait: they are placed when they arrive".to_owned(),
                    &format!("`{key}` is not zero"),
                    "remove it; `prepare` is the wait of a session on its resource".to_owned(),
                );
            }
        }
    }

    /// Sessions must ask for a share, and other jobs must not.
    fn check_shares(&mut self, sessions: bool) {
        for (index, workload) in self.scenario.workloads.iter().enumerate() {
            let at = Path::root().key("workload").index(index);
            let key = at.key("share");
            let sessions = sessions && self.directory.runs_on_grid(workload);
            match workload.share {
                Some(_) if sessions && workload.merge.is_some() => self.report(
                    &key,
                    "a merger's jobs ask for the shares of the workloads they are from".to_owned(),
                    "not used",
                    "remove it, and give these workloads a `share`".to_owned(),
                ),
                Some(_) if !sessions => self.report(
                    &key,
                    "only sessions ask for a share of a resource".to_owned(),
                    "not used",
                    "remove it, or choose a policy of a [grid] for sessions, such as \"full-fill\""
                        .to_owned(),
                ),
                None if sessions && workload.merge.is_none() && !self.is_replaced(&key) => {
                    self.report(
                        &at,
                        "the share of a resource that these sessions request is missing".to_owned(),
                        "`share` is missing here",
                        "add a share, such as `share = \"10%\"`".to_owned(),
                    );
                }
                share => self.check_share(&key, share),
            }
        }
    }

    /// Reports a share that is too small to be reserved.
    fn check_share(&mut self, path: &Path, share: Option<Share>) {
        if share.is_some_and(|share| share.fraction() * 100.0 < LEAST) {
            self.report(
                path,
                format!("a share is {LEAST}% or more"),
                "too small",
                "write percent of a resource, such as \"10%\"".to_owned(),
            );
        }
    }

    /// Sites must reserve shares under a policy for sessions, and divide themselves equally under others.
    fn check_sharing(&mut self, path: &Path, grid: &Grid, sessions: bool) {
        for (index, site) in grid.sites.iter().enumerate() {
            let at = path.key("site").index(index);
            match (sessions, site.sharing) {
                (true, Sharing::Equal) => self.report(
                    &at.key("sharing"),
                    "sessions reserve shares, and this site divides its resources equally"
                        .to_owned(),
                    "shares are equal",
                    "write `sharing = \"reserved\"`, or choose a policy for jobs that share \
                     equally (`haggle list grid-policies`)"
                        .to_owned(),
                ),
                (false, Sharing::Reserved) => self.report(
                    &at.key("sharing"),
                    "no job asks for a share under this policy".to_owned(),
                    "shares are reserved",
                    "remove it, or choose a policy for sessions, such as \"full-fill\"".to_owned(),
                ),
                _ => {}
            }
            if site.sharing == Sharing::Reserved && site.load.is_some() {
                self.report(
                    &at.key("load"),
                    "jobs outside the grid would compute on reserved shares".to_owned(),
                    "no room for it",
                    "remove it; resources that reserve shares have no other load".to_owned(),
                );
            }
        }
    }

    /// Reports limits that are too low, and loads for which Erlang's formula is not defined.
    fn check_limits(&mut self, path: &Path, grid: &Grid) {
        let at = path.key("policy");
        if let GridPolicy::WithLimit { limit } = grid.policy {
            self.check_share(&at.key("limit"), Some(limit));
        }
        let GridPolicy::WithDynamicLimit(limits) = &grid.policy else { return };
        self.check_share(&at.key("light"), Some(limits.light));
        self.check_share(&at.key("share"), limits.share);
        if limits.blocking.fraction() * 100.0 < LEAST {
            self.report(
                &at.key("blocking"),
                "some sessions are blocked, however much room is kept for them".to_owned(),
                "too few",
                format!("write {LEAST}% or more, such as \"5%\""),
            );
        }
        if limits.between == TimeSpan::ZERO {
            self.report(
                &at.key("between"),
                "the time between sessions must be above zero".to_owned(),
                "no time",
                "write a length of time above zero, such as \"5min\"".to_owned(),
            );
        }
    }
}
