//! Gives jobs a demand for resources of nodes.

use haggle_model::{Demand, Job, MemoryWish, Wishes};

use super::step_error;
use crate::{JobStream, WorkloadError};

haggle_model::words! {
    /// Memory of a log by which jobs ask for memory.
    pub enum LoggedMemory {
        /// The requested memory (field 10 of SWF).
        Requested = "requested",
        /// The used memory (field 7 of SWF).
        Used = "used",
    }
}

/// Rules by which jobs get a demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demands {
    /// Memory of each processor.
    pub memory: Option<MemoryRule>,
    /// Accelerators of each job.
    pub gpus: u32,
    /// True if jobs share their nodes with no other job.
    pub exclusive: bool,
}

/// Source of the memory of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryRule {
    /// The same for all jobs (B).
    Alike(u64),
    /// The log, which has it in units of 1,024 bytes. Jobs without it need none.
    Logged(LoggedMemory),
}

/// Bytes of a unit of memory in logs.
const UNIT: u64 = 1_024;

impl Demands {
    pub(super) fn apply(self, jobs: JobStream) -> JobStream {
        Box::new(jobs.map(move |job| self.demand(job?)))
    }

    fn demand(&self, mut job: Job) -> Result<Job, WorkloadError> {
        let memory = self.memory.and_then(|rule| match rule {
            MemoryRule::Alike(bytes) => Some(bytes),
            MemoryRule::Logged(field) => {
                let logged = job.origin.logged();
                let units = match field {
                    LoggedMemory::Requested => logged.requested_memory,
                    LoggedMemory::Used => logged.used_memory,
                };
                u64::try_from(units).ok().map(|units| units.saturating_mul(UNIT))
            }
        });
        let wishes = Wishes {
            nodes: None,
            gpus: self.gpus,
            memory: memory.filter(|&bytes| bytes > 0).map(MemoryWish::Processor),
            exclusive: self.exclusive,
        };
        if wishes != Wishes::default() && job.processors > 0 {
            let demand = Demand::new(job.processors, wishes);
            let demand = demand.map_err(|it| step_error("demand", it.to_string()))?;
            job.demand = Some(Box::new(demand));
        }
        Ok(job)
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::job::Logged;
    use haggle_model::{Amounts, Span, Time};

    use super::*;

    fn demand_of(rule: MemoryRule, requested_memory: i64) -> Option<Amounts> {
        let mut job = Job::new(0, Time::ZERO, 4, Span::from_secs(10));
        let logged = Logged { requested_memory, used_memory: 3, ..Logged::UNKNOWN };
        job.origin.logged = Some(Box::new(logged));
        let demands = Demands { memory: Some(rule), gpus: 0, exclusive: false };
        let mut jobs = demands.apply(Box::new([Ok(job)].into_iter()));
        jobs.next()?.ok()?.demand.map(|it| it.chunk)
    }

    #[test]
    fn memory_is_that_of_the_log_for_each_processor() {
        let chunk = |memory| Some(Amounts { processors: 1, gpus: 0, memory });
        let requested = MemoryRule::Logged(LoggedMemory::Requested);
        assert_eq!(demand_of(requested, 2_000), chunk(2_048_000));
        assert_eq!(demand_of(requested, -1), None, "it is unknown");
        assert_eq!(demand_of(MemoryRule::Logged(LoggedMemory::Used), -1), chunk(3_072));
        assert_eq!(demand_of(MemoryRule::Alike(5), -1), chunk(5));
    }
}
