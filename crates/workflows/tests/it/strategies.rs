//! Random workflows.

use haggle_model::Span;
use haggle_workflows::{Builder, Task, TaskId, Workflow};
use proptest::prelude::*;

/// A workflow of up to so many tasks, with edges between any two of them.
pub(crate) fn workflows(tasks_max: usize) -> impl Strategy<Value = Workflow> {
    (1..=tasks_max).prop_flat_map(|tasks| {
        let task = (0_i64..20_000_000, 0_usize..4, 1_u32..9, 0_u64..3, 0_u64..3, 0_u64..3);
        let edges = tasks * (tasks - 1) / 2;
        // Half of the graphs are sparse.
        let present = prop_oneof![Just(0.1_f64), Just(0.4)].prop_flat_map(move |share| {
            let edge = proptest::option::weighted(share, 0_u64..20);
            proptest::collection::vec(edge, edges)
        });
        (proptest::collection::vec(task, tasks), present).prop_map(|(tasks, edges)| {
            let mut builder = Builder::new("random");
            for (number, (micros, kind, processors, input, output, checkpoint)) in
                tasks.iter().copied().enumerate()
            {
                let work = Span::from_micros(micros);
                let kind = ["a", "b", "c"].get(kind).map(|&kind| kind.into());
                let task = Task::new(format!("task-{number}"), work);
                let task = Task { kind, processors, input, output, checkpoint, ..task };
                builder.task(task).expect("a good task");
            }
            let pairs = (0..tasks.len() as u32)
                .flat_map(|child| (0..child).map(move |parent| (TaskId(parent), TaskId(child))));
            for ((parent, child), bytes) in pairs.zip(edges) {
                if let Some(bytes) = bytes {
                    builder.edge(parent, child, bytes).expect("a good edge");
                }
            }
            builder.build().expect("edges go up")
        })
    })
}
