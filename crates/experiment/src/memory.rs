//! Tests whether the memory suffices for a scenario that requests much by one number. The test
//! precedes the allocation: a program that gets no memory later cannot report an error.

use std::hint::black_box;

/// Memory of a resource of a grid, from its actor to its row in the results.
pub(super) const RESOURCE_BYTES: usize = 2_500;

/// Memory of a node that fails by itself.
pub(super) const NODE_BYTES: usize = 1_100;

/// The memory does not suffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{count} {what} take about {megabytes} MB of memory, which are not available: take fewer, or \
     raise the limit (`ulimit -v`)"
)]
pub struct NoRoom {
    count: usize,
    what: &'static str,
    megabytes: usize,
}

/// Tests whether there is memory for `count` items of `bytes` each.
pub(super) fn room_for(count: usize, what: &'static str, bytes: usize) -> Result<(), NoRoom> {
    // Saturating: a request beyond the address space fails as it should.
    let bytes = count.saturating_mul(bytes);
    let mut room: Vec<u8> = Vec::new();
    let found = room.try_reserve_exact(bytes);
    // Without this use, the compiler could remove the allocation.
    black_box(&room);
    found.map_err(|_| NoRoom { count, what, megabytes: bytes / 1_000_000 })
}
