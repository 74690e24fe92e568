//! The search that examines all sets that could be best: the reference for the others.

use super::map::{Map, Uplinks};
use super::space::{Space, Work};
use super::{Incumbent, Point};

pub(super) fn scan(space: &Space, work: &Work) -> Incumbent {
    match &space.map {
        Map::Uplinks(uplinks) => scan_uplinks(space, work, uplinks),
        Map::Pairs(_) => scan_points(space, work),
    }
}

/// For each level of CPU and each n: the n machines with the most bandwidth among those with at least
/// as much CPU. More CPU or bandwidth never increases a time, so one of these sets is the best.
fn scan_uplinks(space: &Space, work: &Work, uplinks: &Uplinks) -> Incumbent {
    let mut incumbent = Incumbent::default();
    // Number of machines so far with each level of bandwidth.
    let mut having = vec![0_u32; space.map.bandwidth_levels().len()];
    let machines: Vec<(u32, u32)> = uplinks.machines().collect();
    for group in machines.chunk_by(|one, two| one.0 == two.0) {
        let cpu = group[0].0;
        group.iter().for_each(|&(_, bandwidth)| having[bandwidth as usize] += 1);
        let mut processors = 0;
        // From the most bandwidth on: the n-th machine has the least bandwidth of the best n.
        for (bandwidth, &count) in having.iter().enumerate().rev() {
            for _ in 0..count {
                processors += 1;
                let bandwidth = bandwidth as u32;
                let real = space.map.rid_of_links(Point { cpu, bandwidth, processors });
                space.offer(work, real, &mut incumbent);
            }
        }
    }
    incumbent
}

/// Examines every point.
fn scan_points(space: &Space, work: &Work) -> Incumbent {
    let mut incumbent = Incumbent::default();
    let (low, high) = space.corners();
    for cpu in low.cpu..=high.cpu {
        for bandwidth in low.bandwidth..=high.bandwidth {
            for processors in low.processors..=high.processors {
                let asked = Point { cpu, bandwidth, processors };
                // If there are too few machines, larger sets do not exist either.
                if !space.try_point(work, asked, &mut incumbent) {
                    break;
                }
            }
        }
    }
    incumbent
}
