//! Whether there is memory for what a scenario asks for by one number: asked before any of it is
//! made, for a program that gets none later can say nothing any more.

use std::hint::black_box;

/// What a resource of a grid takes, from its actor to its row in the results.
pub(super) const RESOURCE_BYTES: usize = 2_500;

/// What a node takes that fails by itself.
pub(super) const NODE_BYTES: usize = 1_100;

/// There is not.
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

/// Looks whether there is room for so many things, each of so many bytes.
pub(super) fn room_for(count: usize, what: &'static str, bytes: usize) -> Result<(), NoRoom> {
    let bytes = count.saturating_mul(bytes);
    let mut room: Vec<u8> = Vec::new();
    let found = room.try_reserve_exact(bytes);
    // What nobody looks at might not be asked for.
    black_box(&room);
    found.map_err(|_| NoRoom { count, what, megabytes: bytes / 1_000_000 })
}
