//! Knowledge of a cluster about an application, for as long as it is valid.

use haggle_model::random::Stream;
use haggle_model::{ActorId, JobId, Phased, ProviderId};
use haggle_planning::{
    Interval, IntervalOracle, Machines, Method, Problem, Program, ProgramOracle,
};
use serde::{Deserialize, Serialize};

use crate::protocol::planning::Planned;

/// State of an application that is not over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) program: Program,
    /// Valid until loads or the free machines change.
    pub(super) oracle: Option<ProgramOracle>,
    /// The machines of its last interval, if that was here.
    pub(super) last: Option<Machines>,
    /// The proposed interval, until it is ordered or its machines are not usable any more.
    pub(super) proposed: Option<Proposed>,
    /// The last plan, with its premises.
    plan: Option<(Premises, Planned)>,
}

/// A proposed interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Proposed {
    pub(super) interval: Interval,
    pub(super) machines: Machines,
    /// Receiver of the message that the proposal has lapsed.
    pub(super) owner: ActorId,
}

/// Premises of a plan: the same premises lead to the same plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Premises {
    /// The first phase that is not over.
    pub(super) first: usize,
    /// The number of the monitor's report, from 0.
    pub(super) report: u64,
    /// The machines that were free.
    pub(super) machines: Vec<u32>,
}

impl Known {
    /// An application of which nothing has run; `None` if it is not valid.
    pub(super) fn new(phased: &Phased, cluster: ProviderId) -> Option<Known> {
        let program = Program::new(phased, cluster).ok()?;
        Some(Known { program, oracle: None, last: None, proposed: None, plan: None })
    }

    /// True if it has the phases of an interval.
    pub(super) fn has(&self, interval: Interval) -> bool {
        (1..=interval.last).contains(&interval.first) && interval.last <= self.program.phases()
    }

    /// The last plan, if it was made from these premises.
    pub(super) fn planned(&self, premises: &Premises) -> Option<Planned> {
        self.plan.as_ref().filter(|(it, _)| it == premises).map(|(_, planned)| *planned)
    }

    /// Plans the remaining phases, with `problem` for an oracle, and keeps the plan. Also returns
    /// how many plans were examined. `None` without predictions, or if no phase remains.
    pub(super) fn plan<'a>(
        &'a mut self,
        job: JobId,
        premises: Premises,
        method: Method,
        problem: impl FnOnce(&'a ProgramOracle) -> Problem<'a, ProgramOracle>,
        draws: &mut Stream,
    ) -> Option<(Planned, u64)> {
        let oracle = self.oracle.as_ref().filter(|it| premises.first <= it.phases())?;
        // The oracle counts over all plans, and only the searches of this one are reported.
        let before = oracle.searches();
        let plan = method.plan(&problem(oracle), draws);
        let interval = plan.parts.first()?.interval;
        let planned = Planned { job, interval, remaining: plan.cost };
        self.plan = Some((premises, planned));
        Some((planned, plan.examined + oracle.searches() - before))
    }
}
