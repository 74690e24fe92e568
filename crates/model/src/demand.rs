//! Amounts of the resources of nodes, and the demand of a job for them.

use std::fmt;
use std::ops::{AddAssign, SubAssign};

use serde::{Deserialize, Serialize};

crate::words! {
    /// A resource that nodes have.
    pub enum Resource {
        /// Processors.
        Processors = "processors",
        /// Memory.
        Memory = "memory",
        /// Accelerators.
        Gpus = "gpus",
    }
}

/// Amounts of each resource: of a node, of its free part, or of a piece of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Amounts {
    /// Number of processors.
    pub processors: u32,
    /// Number of accelerators.
    pub gpus: u32,
    /// Memory (B).
    pub memory: u64,
}

impl Amounts {
    /// Processors, and nothing else.
    pub const fn processors(processors: u32) -> Amounts {
        Amounts { processors, gpus: 0, memory: 0 }
    }

    /// The amount of one resource; memory in bytes.
    pub const fn of(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Processors => self.processors as u64,
            Resource::Memory => self.memory,
            Resource::Gpus => self.gpus as u64,
        }
    }

    /// So many times these amounts.
    pub fn times(&self, count: u32) -> Amounts {
        Amounts {
            processors: self.processors.saturating_mul(count),
            gpus: self.gpus.saturating_mul(count),
            memory: self.memory.saturating_mul(u64::from(count)),
        }
    }

    /// The smaller amount of each resource.
    pub fn min(&self, other: &Amounts) -> Amounts {
        Amounts {
            processors: self.processors.min(other.processors),
            gpus: self.gpus.min(other.gpus),
            memory: self.memory.min(other.memory),
        }
    }

    /// True if all of `part` is in these amounts.
    pub fn hold(&self, part: &Amounts) -> bool {
        self.processors >= part.processors && self.gpus >= part.gpus && self.memory >= part.memory
    }

    /// Number of times that `part` is in these amounts; `u32::MAX` if `part` is nothing.
    pub fn count_of(&self, part: &Amounts) -> u32 {
        Resource::ALL
            .into_iter()
            .filter_map(|it| self.of(it).checked_div(part.of(it)))
            .min()
            .map_or(u32::MAX, |times| u32::try_from(times).unwrap_or(u32::MAX))
    }

    /// The resource of which these amounts hold the fewest copies of `part`. Of equals, the first in the order of
    /// [`Resource`].
    pub fn scarcest(&self, part: &Amounts) -> Option<Resource> {
        let needed = Resource::ALL.into_iter().filter(|&it| part.of(it) > 0);
        needed.min_by_key(|&it| self.of(it) / part.of(it))
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Amounts) {
        self.processors += other.processors;
        self.gpus += other.gpus;
        self.memory += other.memory;
    }
}

impl SubAssign for Amounts {
    fn sub_assign(&mut self, other: Amounts) {
        self.processors -= other.processors;
        self.gpus -= other.gpus;
        self.memory -= other.memory;
    }
}

/// Such as `4 processors, 1 gpu, 16 GB`; amounts of nothing are left out.
impl fmt::Display for Amounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Counted(self.processors, "processor"))?;
        if self.gpus > 0 {
            write!(f, ", {}", Counted(self.gpus, "gpu"))?;
        }
        if self.memory > 0 {
            write!(f, ", {}", Memory(self.memory))?;
        }
        Ok(())
    }
}

/// A number of things, in the singular or in the plural.
struct Counted(u32, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted(count, thing) = self;
        write!(f, "{count} {thing}{}", if *count == 1 { "" } else { "s" })
    }
}

/// An amount of memory (B), written with the largest decimal unit that keeps it exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub u64);

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
        match units.into_iter().find(|(size, _)| self.0 > 0 && self.0.is_multiple_of(*size)) {
            Some((size, unit)) => write!(f, "{} {unit}", self.0 / size),
            None => write!(f, "{} B", self.0),
        }
    }
}

/// The demand of a job: equal chunks, each of them on one node.
///
/// ```text
///   32 processors, 4 GB each          32 chunks of 1 processor and 4 GB
///   2 nodes, 16 processors, 8 gpus     2 chunks of 8 processors and 4 gpus, each on a node of its own
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Demand {
    /// Number of chunks, at least one.
    pub chunks: u32,
    /// A chunk; it has at least one processor.
    pub chunk: Amounts,
    /// True if each chunk needs a node of its own.
    pub apart: bool,
    /// True if the job shares its nodes with no other job.
    pub exclusive: bool,
}

/// The wishes of a user beside processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Number of nodes, with an equal part of the job on each; `None` = any nodes.
    pub nodes: Option<u32>,
    /// Accelerators of the whole job.
    pub gpus: u32,
    /// Memory (B).
    pub memory: Option<MemoryWish>,
    /// True if the job shares its nodes with no other job.
    pub exclusive: bool,
}

/// Memory (B) that a user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryWish {
    /// For the whole job, in equal parts for its chunks.
    Job(u64),
    /// For each processor.
    Processor(u64),
    /// On each node; goes with a number of nodes.
    Node(u64),
}

/// Error for wishes that cannot be divided into equal chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnequalChunks {
    /// A number of nodes that does not divide the processors.
    #[error("{processors} processors are no equal parts of {nodes} nodes")]
    Processors {
        /// Of the job.
        processors: u32,
        /// Of the job.
        nodes: u32,
    },
    /// A number of nodes that does not divide the accelerators.
    #[error("{gpus} gpus are no equal parts of {nodes} nodes")]
    Gpus {
        /// Of the job.
        gpus: u32,
        /// Of the job.
        nodes: u32,
    },
    /// Memory of each node without a number of nodes.
    #[error("memory of each node goes with a number of nodes")]
    NoNodes,
}

impl Demand {
    /// The demand of a job of so many processors, at least one, with these wishes.
    ///
    /// A job with a number of nodes has a chunk on each of them. Otherwise, a job with accelerators has as many chunks
    /// as are equal, and one without has a chunk for each processor. Memory is rounded up to whole bytes of a chunk.
    ///
    /// # Errors
    /// If the wishes cannot be divided.
    pub fn new(processors: u32, wishes: Wishes) -> Result<Demand, UnequalChunks> {
        let Wishes { nodes, gpus, memory, exclusive } = wishes;
        let chunks = match nodes {
            Some(nodes) if nodes == 0 || !processors.is_multiple_of(nodes) => {
                return Err(UnequalChunks::Processors { processors, nodes });
            }
            Some(nodes) if !gpus.is_multiple_of(nodes) => {
                return Err(UnequalChunks::Gpus { gpus, nodes });
            }
            Some(nodes) => nodes,
            None => common_divisor(processors, gpus),
        };
        let each = processors / chunks;
        let memory = match memory {
            None => 0,
            Some(MemoryWish::Job(memory)) => memory.div_ceil(u64::from(chunks)),
            Some(MemoryWish::Processor(memory)) => memory.saturating_mul(u64::from(each)),
            Some(MemoryWish::Node(memory)) if nodes.is_some() => memory,
            Some(MemoryWish::Node(_)) => return Err(UnequalChunks::NoNodes),
        };
        let chunk = Amounts { processors: each, gpus: gpus / chunks, memory };
        Ok(Demand { chunks, chunk, apart: nodes.is_some(), exclusive })
    }

    /// Processors anywhere, and nothing else.
    pub const fn processors(processors: u32) -> Demand {
        let chunk = Amounts::processors(1);
        Demand { chunks: processors, chunk, apart: false, exclusive: false }
    }

    /// True if this may be the demand of a job of so many processors.
    pub fn is_of(&self, processors: u32) -> bool {
        let total = self.chunk.processors.checked_mul(self.chunks);
        processors > 0 && total == Some(processors)
    }

    /// The amounts of all chunks.
    pub fn total(&self) -> Amounts {
        self.chunk.times(self.chunks)
    }

    /// Number of chunks that a node can take whose free part is `free` of `capacity`.
    pub fn fits(&self, free: &Amounts, capacity: &Amounts) -> u32 {
        if self.exclusive && free != capacity {
            return 0;
        }
        let most = if self.apart { 1 } else { self.chunks };
        free.count_of(&self.chunk).min(most)
    }

    /// The amounts that so many chunks take of a node of this capacity.
    pub fn takes(&self, chunks: u32, capacity: &Amounts) -> Amounts {
        if self.exclusive { *capacity } else { self.chunk.times(chunks) }
    }
}

/// Such as `2 nodes with 8 processors, 4 gpus each`.
impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.apart {
            true => write!(f, "{} with {} each", Counted(self.chunks, "node"), self.chunk)?,
            false if self.chunks == 1 => write!(f, "{} on one node", self.chunk)?,
            false => write!(f, "{} times {}", self.chunks, self.chunk)?,
        }
        f.write_str(if self.exclusive { ", exclusively" } else { "" })
    }
}

/// The greatest number that divides both; the first one if the second one is 0.
fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_become_equal_chunks() {
        let demand = |processors, wishes| Demand::new(processors, wishes);
        let plain = Wishes::default();
        assert_eq!(demand(6, plain), Ok(Demand::processors(6)));
        let gpus = Wishes { gpus: 4, memory: Some(MemoryWish::Job(10)), ..plain };
        let chunk = Amounts { processors: 3, gpus: 2, memory: 5 };
        assert_eq!(
            demand(6, gpus).map(|it| (it.chunks, it.chunk, it.apart)),
            Ok((2, chunk, false))
        );
        let memory = Some(MemoryWish::Processor(7));
        let nodes = Wishes { nodes: Some(2), memory, exclusive: true, ..plain };
        let chunk = Amounts { processors: 3, gpus: 0, memory: 21 };
        assert_eq!(demand(6, nodes), Ok(Demand { chunks: 2, chunk, apart: true, exclusive: true }));
        let refused = UnequalChunks::Processors { processors: 6, nodes: 4 };
        assert_eq!(demand(6, Wishes { nodes: Some(4), ..plain }), Err(refused));
        let refused = UnequalChunks::Gpus { gpus: 3, nodes: 2 };
        assert_eq!(demand(6, Wishes { nodes: Some(2), gpus: 3, ..plain }), Err(refused));
        let memory = Some(MemoryWish::Node(8));
        assert_eq!(demand(6, Wishes { memory, ..plain }), Err(UnequalChunks::NoNodes));
    }

    const NODE: Amounts = Amounts { processors: 16, gpus: 2, memory: 64_000_000_000 };

    #[test]
    fn the_scarcest_resource_limits_the_number_of_chunks() {
        let chunk = Amounts { processors: 2, gpus: 0, memory: 20_000_000_000 };
        assert_eq!((NODE.count_of(&chunk), NODE.scarcest(&chunk)), (3, Some(Resource::Memory)));
        let chunk = Amounts { processors: 2, gpus: 1, memory: 0 };
        assert_eq!((NODE.count_of(&chunk), NODE.scarcest(&chunk)), (2, Some(Resource::Gpus)));
        assert_eq!(NODE.count_of(&Amounts::default()), u32::MAX);
    }

    #[test]
    fn exclusive_jobs_need_idle_nodes_and_take_all_of_them() {
        let demand = Demand { exclusive: true, ..Demand::processors(20) };
        let busy = Amounts { processors: 15, ..NODE };
        assert_eq!((demand.fits(&busy, &NODE), demand.fits(&NODE, &NODE)), (0, 16));
        assert_eq!(demand.takes(4, &NODE), NODE);
        assert_eq!(Demand::processors(20).takes(4, &NODE), Amounts::processors(4));
    }

    #[test]
    fn demands_are_written_in_words() {
        let chunk = Amounts { processors: 8, gpus: 1, memory: 1_500_000 };
        let demand = Demand { chunks: 2, chunk, apart: true, exclusive: true };
        let text = "2 nodes with 8 processors, 1 gpu, 1500 kB each, exclusively";
        assert_eq!(demand.to_string(), text);
        assert_eq!(Demand::processors(3).to_string(), "3 times 1 processor");
        assert_eq!(Memory(0).to_string(), "0 B");
    }
}
