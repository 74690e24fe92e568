//! Epigenomics: each lane of a sequencer is split into chunks, which pass through four programs one
//! after the other. Maps are merged by lane and then all together. Our own assumptions: one lane for
//! every 40 tasks, at least two and at most eight, and one lane more if that comes closer to the number
//! of tasks. Below 40 tasks, there are up to three lanes. The numbers of chunks of lanes differ by at
//! most one.

use super::draw::{Draw, Stored, parts};
use crate::{GraphError, TaskId};

const LANE: (f64, f64) = (351_024_865.91, 21_874_201_834_298_820.0);
/// 4 GiB.
const REFERENCE: f64 = 4_294_967_296.0;
const LANES_MAX: usize = 8;
const TASKS_PER_LANE: usize = 40;

const SPLIT_RATE: (f64, f64) = (7_663_927.38, 5_641_093_085_489.23);
const FILTER_RATE: (f64, f64) = (8_474_776.63, 25_021_537_629_225.05);
const SANGER_RATE: (f64, f64) = (15_073_990.10, 12_645_616_180_851.43);
const BFQ_RATE: (f64, f64) = (6_797_390.86, 1_232_900_899_482.26);
const MAP_RATE: (f64, f64) = (369_551.55, 13_049_619_575.46);
const MERGE_RATE: (f64, f64) = (2_267_233.18, 108_246_136_965.12);
const INDEX_RATE: (f64, f64) = (17_679_204.35, 22_320_561_695_167.98);
const PILEUP_RATE: (f64, f64) = (881_356.45, 8_956_444_331.45);

/// A rate is at least this part of its mean, because some rates are drawn near zero.
const LEAST_RATE: f64 = 0.1;

pub(super) fn draw(draw: &mut Draw, tasks: usize) -> Result<(), GraphError> {
    let (lanes, chunks) = lanes_and_chunks(tasks);
    let mut maps = Vec::with_capacity(lanes);
    for chunks in parts(chunks, lanes) {
        maps.push(lane(draw, chunks)?);
    }
    // The chunks of a single lane are merged already.
    let (map, bytes) = match maps.as_slice() {
        &[lane] => lane,
        lanes => merge(draw, lanes)?,
    };
    let indexed = bytes / 64.25;
    let seconds = seconds(draw, indexed, INDEX_RATE);
    let index = draw.task("maqIndex", seconds, Stored::NOTHING)?;
    draw.edge(map, index, bytes)?;
    let output = indexed * draw.size_between(0.0, 10.0);
    let seconds = self::seconds(draw, REFERENCE, PILEUP_RATE);
    let stored = Stored { output, ..Stored::input(REFERENCE) };
    let pileup = draw.task("pileup", seconds, stored)?;
    draw.edge(index, pileup, indexed)
}

/// A lane has two tasks and four for each chunk. Two more tasks follow all lanes, and a merge of
/// several lanes is one.
fn lanes_and_chunks(tasks: usize) -> (usize, usize) {
    let lanes = (tasks / TASKS_PER_LANE).clamp(2, LANES_MAX);
    let several = |lanes: usize| {
        let chunks = tasks.checked_sub(3 + 2 * lanes)? / 4;
        (chunks >= lanes).then_some((3 + 2 * lanes + 4 * chunks, lanes, chunks))
    };
    let single = (tasks >= 8).then(|| (4 + 4 * ((tasks - 4) / 4), 1, (tasks - 4) / 4));
    // One lane more or fewer can give numbers of tasks that this one cannot. Small workflows have one lane.
    let candidates = match tasks < TASKS_PER_LANE {
        true => [single, several(2), several(3)],
        false => [several(lanes), several(lanes + 1), None],
    };
    let mut best = (0, 1, 1);
    for candidate in candidates.into_iter().flatten() {
        // Of equally large workflows, the first candidate wins.
        if candidate.0 > best.0 {
            best = candidate;
        }
    }
    (best.1, best.2)
}

fn seconds(draw: &mut Draw, bytes: f64, rate: (f64, f64)) -> f64 {
    bytes / draw.rate(rate).max(LEAST_RATE * rate.0)
}

/// Draws a lane up to its map.
fn lane(draw: &mut Draw, chunks: usize) -> Result<(TaskId, f64), GraphError> {
    let bytes = draw.size(LANE);
    let split = seconds(draw, bytes, SPLIT_RATE);
    let split = draw.task("fastqSplit", split, Stored::input(bytes))?;
    let chunk = bytes / chunks as f64;
    let mut maps = Vec::with_capacity(chunks);
    for _ in 0..chunks {
        // Half of it is free of contaminants.
        let filter = seconds(draw, chunk, FILTER_RATE);
        let filter = draw.task("filterContams", filter, Stored::output(chunk / 2.0))?;
        draw.edge(split, filter, chunk)?;
        let clean = chunk / 2.0;
        let sanger = seconds(draw, clean, SANGER_RATE);
        let sanger = draw.task("sol2sanger", sanger, Stored::NOTHING)?;
        draw.edge(filter, sanger, clean)?;
        let converted = clean / 1.32;
        let bfq = seconds(draw, converted, BFQ_RATE);
        let bfq = draw.task("fastq2bfq", bfq, Stored::NOTHING)?;
        draw.edge(sanger, bfq, converted)?;
        let binary = converted / 4.24;
        let map = seconds(draw, REFERENCE, MAP_RATE);
        let map = draw.task("map", map, Stored::input(REFERENCE))?;
        draw.edge(bfq, map, binary)?;
        maps.push((map, binary / 0.92));
    }
    merge(draw, &maps)
}

fn merge(draw: &mut Draw, maps: &[(TaskId, f64)]) -> Result<(TaskId, f64), GraphError> {
    let bytes: f64 = maps.iter().map(|&(_, bytes)| bytes).sum();
    let merge = seconds(draw, bytes, MERGE_RATE);
    let merge = draw.task("mapMerge", merge, Stored::NOTHING)?;
    for &(map, bytes) in maps {
        draw.edge(map, merge, bytes)?;
    }
    Ok((merge, bytes / 1.06))
}
