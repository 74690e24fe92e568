//! Fork-join: a root, parallel tasks and a final task, with our own numbers. Parallel tasks take
//! between 0.2 and 1.8 h, root and final task half an hour. Each task reads and writes 1 GB in storage
//! and has checkpoints of 1 GB, as in the experiments of Chtepen (2011, table 5.2).

use super::draw::{Draw, Stored};
use crate::GraphError;

const HOUR: f64 = 3_600.0;
const STORED: Stored = Stored { input: 1e9, output: 1e9, checkpoint: 1e9 };

pub(super) fn draw(draw: &mut Draw, tasks: usize) -> Result<(), GraphError> {
    let root = draw.task("root", 0.5 * HOUR, STORED)?;
    let mut parallel = Vec::new();
    for _ in 2..tasks {
        let seconds = draw.seconds(0.2 * HOUR, 1.8 * HOUR);
        let task = draw.task("parallel", seconds, STORED)?;
        draw.edge(root, task, 0.0)?;
        parallel.push(task);
    }
    let last = draw.task("final", 0.5 * HOUR, STORED)?;
    for task in parallel {
        draw.edge(task, last, 0.0)?;
    }
    Ok(())
}
