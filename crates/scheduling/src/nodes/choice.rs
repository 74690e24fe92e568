//! The choice among nodes that are free.

use std::cmp::Reverse;

use haggle_model::{Amounts, Demand};

use super::Piece;

haggle_model::words! {
    /// Choice among nodes that are free for a job. Nodes with accelerators come last for a job that needs none.
    #[derive(Default)]
    pub enum Placing {
        /// The fewest nodes. A node that can take all of the rest is the one with the least room.
        #[default]
        Packed = "packed",
        /// The most nodes: each has at most one chunk more than another one that has room.
        Spread = "spread",
    }
}

impl Placing {
    /// Chooses nodes for a demand. `room` has each node that can take chunks, with their number and with the resources
    /// of the node, in the order of the nodes. Returns `None` if they are too few.
    pub(super) fn choose(self, demand: &Demand, room: Vec<(Piece, Amounts)>) -> Option<Vec<Piece>> {
        let total: u64 = room.iter().map(|(piece, _)| u64::from(piece.chunks)).sum();
        if total < u64::from(demand.chunks) {
            return None;
        }
        let wasted = |capacity: &Amounts| if demand.chunk.gpus == 0 { capacity.gpus } else { 0 };
        let mut kinds: Vec<(u32, Piece)> =
            room.into_iter().map(|(piece, capacity)| (wasted(&capacity), piece)).collect();
        kinds.sort_by_key(|&(wasted, piece)| (wasted, Reverse(piece.chunks), piece.node));
        let mut left = demand.chunks;
        let mut chosen = Vec::new();
        for kind in kinds.chunk_by(|a, b| a.0 == b.0) {
            let nodes = Vec::from_iter(kind.iter().map(|&(_, piece)| piece));
            match self {
                Placing::Packed => pack(&nodes, &mut left, &mut chosen),
                Placing::Spread => spread(&nodes, &mut left, &mut chosen),
            }
        }
        chosen.sort_unstable_by_key(|piece| piece.node);
        Some(chosen)
    }
}

/// Takes the nodes with the most room, until the one with the least room can take all of the rest. `nodes` are in
/// descending order of their room.
fn pack(nodes: &[Piece], left: &mut u32, chosen: &mut Vec<Piece>) {
    let mut first = 0;
    while *left > 0 && first < nodes.len() {
        let enough = nodes[first..].partition_point(|it| it.chunks >= *left);
        let taken = match enough.checked_sub(1) {
            // Of equal nodes the first one is taken.
            Some(last) => {
                let least = nodes[first + last].chunks;
                let place = nodes[first..].partition_point(|it| it.chunks > least);
                Piece { chunks: *left, ..nodes[first + place] }
            }
            None => nodes[first],
        };
        *left -= taken.chunks;
        chosen.push(taken);
        first += 1;
    }
}

/// Gives each node one chunk in turn.
fn spread(nodes: &[Piece], left: &mut u32, chosen: &mut Vec<Piece>) {
    let room =
        |level: u32| nodes.iter().map(move |it| u64::from(it.chunks.min(level))).sum::<u64>();
    let most = nodes.first().map_or(0, |it| it.chunks);
    // All nodes get chunks up to a level, and the first ones with more room get one more.
    let (mut level, mut above) = (0, most + 1);
    while above - level > 1 {
        let middle = level + (above - level) / 2;
        if room(middle) <= u64::from(*left) { level = middle } else { above = middle }
    }
    let mut more = *left - u32::try_from(room(level)).unwrap_or(*left);
    for it in nodes {
        let extra = u32::from(it.chunks > level && more > 0);
        more -= extra;
        let chunks = it.chunks.min(level) + extra;
        if chunks > 0 {
            chosen.push(Piece { chunks, ..*it });
            *left -= chunks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(placing: Placing, chunks: u32, room: &[u32]) -> Option<Vec<(u32, u32)>> {
        let room = (0..).zip(room).filter(|it| *it.1 > 0);
        let room = room.map(|(node, &chunks)| (Piece { node, chunks }, Amounts::processors(9)));
        let chosen = placing.choose(&Demand::processors(chunks), room.collect())?;
        Some(chosen.into_iter().map(|it| (it.node, it.chunks)).collect())
    }

    #[test]
    fn packed_jobs_have_few_nodes_and_leave_large_rooms_whole() {
        let packed = |chunks, room: &[u32]| choose(Placing::Packed, chunks, room);
        assert_eq!(packed(2, &[4, 3, 2, 1]), Some(vec![(2, 2)]));
        assert_eq!(packed(2, &[4, 3, 3, 1]), Some(vec![(1, 2)]), "the first of equals");
        assert_eq!(packed(6, &[4, 3, 2, 1]), Some(vec![(0, 4), (2, 2)]));
        assert_eq!(packed(10, &[4, 3, 2, 1]), Some(vec![(0, 4), (1, 3), (2, 2), (3, 1)]));
        assert_eq!(packed(11, &[4, 3, 2, 1]), None);
    }

    #[test]
    fn spread_jobs_have_many_nodes() {
        let spread = |chunks, room: &[u32]| choose(Placing::Spread, chunks, room);
        assert_eq!(spread(2, &[1, 3, 0, 2]), Some(vec![(1, 1), (3, 1)]));
        assert_eq!(spread(4, &[1, 3, 0, 2]), Some(vec![(0, 1), (1, 2), (3, 1)]));
        assert_eq!(spread(6, &[1, 3, 0, 2]), Some(vec![(0, 1), (1, 3), (3, 2)]));
        assert_eq!(spread(7, &[1, 3, 0, 2]), None);
    }

    #[test]
    fn accelerators_are_left_to_jobs_that_need_them() {
        let gpus = Amounts { processors: 4, gpus: 1, memory: 0 };
        let room = |node, chunks, capacity| (Piece { node, chunks }, capacity);
        let room = vec![room(0, 4, gpus), room(1, 4, Amounts::processors(4))];
        let chosen = |chunks, placing: Placing| {
            placing.choose(&Demand::processors(chunks), room.clone()).map(|it| it[0])
        };
        for placing in Placing::ALL {
            assert_eq!(chosen(3, placing), Some(Piece { node: 1, chunks: 3 }), "{placing:?}");
            assert_eq!(chosen(5, placing), Some(Piece { node: 0, chunks: 1 }), "{placing:?}");
        }
    }
}
