//! What a cluster knows of an application, for as long as that holds.

use haggle_model::random::Stream;
use haggle_model::{JobId, Phased, ProviderId};
use haggle_planning::{
    Interval, IntervalOracle, Machines, Method, Problem, Program, ProgramOracle,
};

use crate::protocol::planning::Planned;

/// What is kept of an application as long as it is not over.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) program: Program,
    /// Until loads change, or which machines are free.
    pub(super) oracle: Option<ProgramOracle>,
    /// The machines of its last interval, if that was here.
    pub(super) last: Option<Machines>,
    /// The last plan, with what it was made of.
    plan: Option<(Premises, Planned)>,
}

/// What a plan is made of: with the same, the same plan is made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Premises {
    /// The first phase that is not over.
    pub(super) first: usize,
    /// Which report of the monitor it was, from 0.
    pub(super) report: u64,
    /// The machines that were free.
    pub(super) machines: Vec<u32>,
}

impl Known {
    /// An application of which nothing has run; `None` if it is none.
    pub(super) fn new(phased: &Phased, cluster: ProviderId) -> Option<Known> {
        let program = Program::new(phased, cluster).ok()?;
        Some(Known { program, oracle: None, last: None, plan: None })
    }

    /// Whether it has the phases of an interval.
    pub(super) fn has(&self, interval: Interval) -> bool {
        (1..=interval.last).contains(&interval.first) && interval.last <= self.program.phases()
    }

    /// The plan that was made of this, if it was the last one.
    pub(super) fn planned(&self, premises: &Premises) -> Option<Planned> {
        self.plan.as_ref().filter(|(it, _)| it == premises).map(|(_, planned)| *planned)
    }

    /// Plans what is left, with `problem` for an oracle, and keeps the plan; also what was
    /// examined to make it. `None` without predictions, or with no phase left.
    pub(super) fn plan<'a>(
        &'a mut self,
        job: JobId,
        premises: Premises,
        method: Method,
        problem: impl FnOnce(&'a ProgramOracle) -> Problem<'a, ProgramOracle>,
        draws: &mut Stream,
    ) -> Option<(Planned, u64)> {
        let oracle = self.oracle.as_ref().filter(|it| premises.first <= it.phases())?;
        let before = oracle.searches();
        let plan = method.plan(&problem(oracle), draws);
        let interval = plan.parts.first()?.interval;
        let planned = Planned { job, interval, remaining: plan.cost };
        self.plan = Some((premises, planned));
        Some((planned, plan.examined + oracle.searches() - before))
    }
}
