//! The workflow of 17 tasks that explains parent sets (Chtepen 2011, figures 5.2 and 6.1), read like
//! any other file of a workflow.

use haggle_workflows::files;

use super::STUDY;
use crate::Library;
use crate::data::Data;
use crate::study::{Compute, Effort};

/// The study: a row for each pair of tasks.
///
/// `edge` is 1 if the second task needs the first. Other values are properties of the second task: its
/// `level` from 0, the number of its parent `set` from 1 (0 for a root) and the `size` of this set.
/// `sets` is the number of all sets.
pub(in crate::study) struct WorkflowExample;

impl Compute for WorkflowExample {
    fn name(&self) -> &'static str {
        "workflow-example"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let file = Library::Embedded.read(STUDY, "example.json");
        let file = file.map_err(|error| error.to_string())?;
        let graph = files::parse_bytes(file.text.as_bytes()).map_err(|error| error.to_string())?;
        let sets = graph.parent_sets();
        let mut data = Data::table(self.name(), &["parent", "child"]);
        for parent in graph.ids() {
            for child in graph.ids() {
                let edge = graph.parents(child).iter().any(|link| link.task == parent);
                let set = sets.of(child);
                let values = [
                    ("edge", f64::from(u8::from(edge))),
                    ("level", graph.level(child) as f64),
                    ("set", set.map_or(0.0, |set| set as f64 + 1.0)),
                    ("size", set.map_or(0.0, |set| sets.parents(set).len() as f64)),
                    ("sets", sets.len() as f64),
                ];
                let name = |task| &*graph.task(task).name;
                data.push(&[name(parent), name(child)], 1, &values);
            }
        }
        Ok(data)
    }
}
