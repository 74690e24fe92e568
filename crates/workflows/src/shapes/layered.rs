//! Random layers, with our own numbers: about as many layers as tasks in a layer, and one to three parents
//! in the layer above. Run times are between 10 and 1000 s, with 1 to 100 MB over each edge.

use super::draw::{Draw, Stored};
use crate::{GraphError, TaskId};

pub(super) fn draw(draw: &mut Draw, tasks: usize) -> Result<(), GraphError> {
    let layers = (tasks as f64).sqrt().round() as usize;
    // Every layer has at least one task.
    let mut widths = vec![1; layers];
    for _ in layers..tasks {
        let layer = draw.below(layers);
        widths[layer] += 1;
    }
    let mut above: Vec<TaskId> = Vec::new();
    for width in widths {
        let mut layer = Vec::with_capacity(width);
        for _ in 0..width {
            let seconds = draw.seconds(10.0, 1_000.0);
            let task = draw.task("layered", seconds, Stored::NOTHING)?;
            let mut parents: Vec<TaskId> = Vec::new();
            let wanted = if above.is_empty() { 0 } else { 1 + draw.below(3) };
            for _ in 0..wanted {
                let parent = above[draw.below(above.len())];
                // A parent that is drawn twice is one parent.
                if !parents.contains(&parent) {
                    parents.push(parent);
                }
            }
            for parent in parents {
                let bytes = draw.size_between(1e6, 1e8);
                draw.edge(parent, task, bytes)?;
            }
            layer.push(task);
        }
        above = layer;
    }
    Ok(())
}
