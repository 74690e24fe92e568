//! The resources of nodes that a job asked for.

use haggle_model::{Demand, MemoryWish, Wishes};

use super::super::LoggedDemand;
use super::super::notes::{NoteKind, Notes};
use super::{Memory, SlurmJob};

/// Bytes of a unit of memory.
const UNIT: u64 = 1_024;

/// Resources that a job got beside processors, or asked for if it got nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    nodes: Option<u32>,
    gpus: u32,
    memory: Option<Memory>,
    /// Nodes for which the memory of a node counts.
    allocated: u32,
}

impl Asked {
    /// The number of nodes is the fewest that its user asked for, if that is above one. A job that ran on one node needs
    /// one: its record does not say whether it could be spread.
    pub(super) fn of(job: &SlurmJob<'_>, demands: &[LoggedDemand]) -> Asked {
        let asks = |it| demands.contains(&it);
        let small = |count: i64| u32::try_from(count).ok().filter(|&count| count > 0);
        let (least, ran_on) = (job.least_nodes.and_then(small), job.nodes.and_then(small));
        let nodes = match (least, ran_on) {
            (Some(least), _) if least > 1 => Some(least),
            (_, Some(1)) => Some(1),
            (None, some) => some,
            (Some(_), _) => None,
        };
        let gpus = job.gpus.and_then(small).unwrap_or(0);
        Asked {
            nodes: nodes.filter(|_| asks(LoggedDemand::Nodes)),
            gpus: if asks(LoggedDemand::Gpus) { gpus } else { 0 },
            memory: job.allocated_memory.or(job.memory).filter(|_| asks(LoggedDemand::Memory)),
            allocated: ran_on.or(least).unwrap_or(1),
        }
    }

    /// `None` if it asks for processors only.
    pub(super) fn demand(&self, processors: u32, notes: &mut Notes, line: u64) -> Option<Demand> {
        if processors == 0 {
            return None;
        }
        let equal =
            |nodes: &u32| processors.is_multiple_of(*nodes) && self.gpus.is_multiple_of(*nodes);
        let nodes = self.nodes.filter(equal);
        if nodes != self.nodes {
            let fact = "nodes that do not divide processors and accelerators: any nodes";
            notes.add(NoteKind::Changed, fact, line);
        }
        let bytes = |amount: i64| u64::try_from(amount).unwrap_or(0).saturating_mul(UNIT);
        let memory = self.memory.map(|it| match it {
            Memory::Processor(amount) => MemoryWish::Processor(bytes(amount)),
            Memory::Node(amount) if nodes.is_some() => MemoryWish::Node(bytes(amount)),
            Memory::Node(amount) => {
                MemoryWish::Job(bytes(amount).saturating_mul(u64::from(self.allocated)))
            }
            Memory::Job(amount) => MemoryWish::Job(bytes(amount)),
        });
        // An amount of zero asks for all memory of the nodes, whose size the record does not have.
        let memory = memory.filter(|it| {
            let (MemoryWish::Job(bytes) | MemoryWish::Processor(bytes) | MemoryWish::Node(bytes)) =
                *it;
            bytes > 0
        });
        let wishes = Wishes { nodes, gpus: self.gpus, memory, exclusive: false };
        let asks = wishes != Wishes::default();
        asks.then(|| Demand::new(processors, wishes).expect("nodes divide the job"))
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::Amounts;

    use super::*;

    fn demand(job: &SlurmJob<'_>, processors: u32) -> (Option<Demand>, usize) {
        let mut notes = Notes::default();
        let demand = Asked::of(job, &LoggedDemand::ALL).demand(processors, &mut notes, 1);
        (demand, notes.as_slice().len())
    }

    fn chunks(chunks: u32, processors: u32, gpus: u32, memory: u64) -> Demand {
        let chunk = Amounts { processors, gpus, memory };
        Demand { chunks, chunk, apart: true, exclusive: false }
    }

    #[test]
    fn a_job_asks_for_the_nodes_that_its_user_named() {
        let job =
            SlurmJob { least_nodes: Some(2), nodes: Some(2), gpus: Some(4), ..SlurmJob::default() };
        assert_eq!(demand(&job, 8), (Some(chunks(2, 4, 2, 0)), 0));
        // Nine processors are no equal parts of two nodes; then they are anywhere.
        let any = Demand::new(9, Wishes { gpus: 4, ..Wishes::default() }).ok();
        assert_eq!(demand(&job, 9), (any, 1));
    }

    #[test]
    fn a_job_that_ran_on_one_node_needs_one() {
        let memory = Some(Memory::Job(1 << 20));
        let job = SlurmJob { least_nodes: Some(1), nodes: Some(1), memory, ..SlurmJob::default() };
        assert_eq!(demand(&job, 4), (Some(chunks(1, 4, 0, 1 << 30)), 0));
        let any = Asked::of(&job, &[LoggedDemand::Memory]).demand(4, &mut Notes::default(), 1);
        assert_eq!(
            any.map(|it| (it.chunks, it.apart, it.total().memory)),
            Some((4, false, 1 << 30))
        );
        // It ran on three nodes, and its user did not ask for them.
        let job = SlurmJob { nodes: Some(3), ..job };
        assert_eq!(demand(&job, 4).0.map(|it| (it.chunks, it.apart)), Some((4, false)));
    }

    #[test]
    fn memory_of_a_node_counts_for_each_node() {
        let memory = Some(Memory::Node(1 << 20));
        let job = SlurmJob { least_nodes: Some(2), nodes: Some(2), memory, ..SlurmJob::default() };
        assert_eq!(demand(&job, 8), (Some(chunks(2, 4, 0, 1 << 30)), 0));
        let unequal =
            Demand::new(7, Wishes { memory: Some(MemoryWish::Job(2 << 30)), ..Wishes::default() });
        assert_eq!(demand(&job, 7), (unequal.ok(), 1));
    }

    #[test]
    fn allocated_memory_counts_before_requested_memory() {
        let (memory, allocated_memory) = (Some(Memory::Job(1 << 10)), Some(Memory::Job(1 << 20)));
        let job = SlurmJob { nodes: Some(1), memory, allocated_memory, ..SlurmJob::default() };
        assert_eq!(demand(&job, 4), (Some(chunks(1, 4, 0, 1 << 30)), 0));
    }

    #[test]
    fn a_job_without_requests_asks_for_processors_only() {
        assert_eq!(demand(&SlurmJob::default(), 4), (None, 0));
        let zero = SlurmJob { memory: Some(Memory::Node(0)), ..SlurmJob::default() };
        assert_eq!(demand(&zero, 4), (None, 0));
    }
}
